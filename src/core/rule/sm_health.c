
#include <string.h>

#include "sm_health.h"


/* What makes a target ill, and below what it may get well. */

typedef struct {
    uint32_t   recent_percent;
    uint32_t   recent_least;
    uint32_t   minute_percent;
    uint32_t   minute_least;
    int64_t    medians;         /* percent of the hour's median */
    int64_t    timeouts;        /* percent of the time-out */
} sm_health_bounds_t;

static const sm_health_bounds_t  sm_health_ill = {
    20, 2, 5, 3, 500, 50
};
static const sm_health_bounds_t  sm_health_well = {
    10, 1, 2, 2, 400, 40
};


typedef struct {
    sm_health_e         state;
    sm_health_why_e     why;
    int64_t             n;
    int64_t             of;
} sm_health_finding_t;


typedef struct {
    uint64_t            answered;
    uint64_t            failed;         /* or unsent */
} sm_health_sum_t;


static const char  *sm_health_names[] = { "ok", "degraded", "down" };

_Static_assert(sm_nelts(sm_health_names) == SM_HEALTH_STATES,
               "a name for each state");


sm_str_t
sm_health_name(sm_health_e state)
{
    return sm_str_c(sm_health_names[state < SM_HEALTH_STATES ? state : 0]);
}


int
sm_health_fears(const sm_health_t *h)
{
    return h->state == SM_HEALTH_OK && h->streak;
}


void
sm_health_init(sm_health_t *h, int64_t now)
{
    memset(h, 0, sizeof(sm_health_t));

    h->number = now / SM_HEALTH_TICK;
    h->calm = h->number;
    h->times = (sm_health_times_t) { -1, 0, -1, -1, -1, -1 };
}


void
sm_health_go_on(sm_health_t *h, sm_health_e state)
{
    if (!h->answered && state > h->state) {
        h->state = state;
        h->why = SM_HEALTH_TOLD;
        h->told = 1;
    }
}


static void
sm_health_advance(sm_health_t *h, int64_t now)
{
    int64_t  number;

    number = now / SM_HEALTH_TICK;

    if (number - h->number >= SM_HEALTH_TICKS) {
        memset(h->ticks, 0, sizeof(h->ticks));
        h->number = number;
    }

    while (h->number < number) {
        h->number++;
        memset(h->ticks[h->number % SM_HEALTH_TICKS], 0,
               sizeof(h->ticks[0]));
    }
}


void
sm_health_count(sm_health_t *h, int64_t now, sm_health_event_e event)
{
    sm_health_advance(h, now);

    h->ticks[h->number % SM_HEALTH_TICKS][event]++;

    if (event == SM_HEALTH_ACCEPTED || event == SM_HEALTH_REJECTED) {
        h->rejects = event == SM_HEALTH_REJECTED ? h->rejects + 1 : 0;
        h->told = h->told && h->rejects;
        h->streak = 0;
        h->streak_unsent = 0;
        h->good++;
        h->answered = 1;
        h->answered_at = now;
        return;
    }

    h->good = 0;
    h->streak++;
    h->streak_unsent += event == SM_HEALTH_UNSENT;
}


/* There are no ticks from before the host was started. */

static void
sm_health_sum(const sm_health_t *h, int64_t n, sm_health_sum_t *sum)
{
    int64_t          number;
    const uint32_t  *tick;

    sum->answered = 0;
    sum->failed = 0;

    for (number = h->number;
         number >= 0 && number > h->number - n;
         number--)
    {
        tick = h->ticks[number % SM_HEALTH_TICKS];

        sum->answered += tick[SM_HEALTH_ACCEPTED]
                         + tick[SM_HEALTH_REJECTED];
        sum->failed += tick[SM_HEALTH_FAILED] + tick[SM_HEALTH_UNSENT];
    }
}


static int
sm_health_share(sm_health_finding_t *f, const sm_health_sum_t *sum,
    uint32_t percent, uint32_t least)
{
    uint64_t  all;

    all = sum->answered + sum->failed;

    if (sum->failed < least || sum->failed * 100 < all * percent) {
        return 0;
    }

    *f = (sm_health_finding_t) { SM_HEALTH_DEGRADED, SM_HEALTH_SHARE,
                                 (int64_t) sum->failed, (int64_t) all };
    return 1;
}


/* Says whether a time is too long beside what is usual. */

static int
sm_health_unusual(int64_t median, const sm_health_bounds_t *b, int64_t usec)
{
    return median > 0 && usec > median * b->medians / 100;
}


/* Says whether a time is too long beside that, or beside the time-out. */

static int
sm_health_long(const sm_health_times_t *t, const sm_health_bounds_t *b,
    int64_t usec)
{
    return sm_health_unusual(t->median, b, usec)
           || (t->timeout > 0 && usec > t->timeout * b->timeouts / 100);
}


static int
sm_health_is_slow(const sm_health_t *h)
{
    return h->why == SM_HEALTH_SLOW || h->why == SM_HEALTH_WAITING
           || h->why == SM_HEALTH_SLOW_LAST;
}


/* The first answers of a target say what is usual, unless one was awaited. */

void
sm_health_took(sm_health_t *h, sm_usual_t *u, int64_t now, int64_t usec)
{
    int                        slow;
    const sm_health_bounds_t  *b;

    b = h->state == SM_HEALTH_OK ? &sm_health_ill : &sm_health_well;
    slow = 0;

    if (u) {
        h->times.median = sm_usual_median(u, now);

        slow = usec > SM_HEALTH_QUICK
               && sm_health_unusual(h->times.median, b, usec)
               && (sm_usual_firm(u) || sm_health_is_slow(h));

        if (h->state == SM_HEALTH_OK && !slow) {
            sm_usual_well(u);
        }

        sm_usual_answer(u, now, usec, slow);
        h->times.median = sm_usual_median(u, now);
    }

    h->slow = usec > SM_HEALTH_QUICK && sm_health_long(&h->times, b, usec)
              ? usec : 0;
    h->slows = h->slow ? h->slows + 1 : 0;
}


static int
sm_health_slow(const sm_health_t *h, const sm_health_bounds_t *b,
    sm_health_finding_t *f)
{
    const sm_health_times_t  *t;

    t = &h->times;

    if (t->waiting >= SM_HEALTH_WAITS && sm_health_long(t, b, t->waiting)) {
        *f = (sm_health_finding_t) { SM_HEALTH_DEGRADED, SM_HEALTH_WAITING,
                                     0, 0 };
        return 1;
    }

    if (t->attempts >= SM_HEALTH_ENOUGH && t->p99 > SM_HEALTH_QUICK
        && sm_health_long(t, b, t->p99))
    {
        *f = (sm_health_finding_t) { SM_HEALTH_DEGRADED, SM_HEALTH_SLOW, 0,
                                     0 };
        return 1;
    }

    if (t->attempts < SM_HEALTH_ENOUGH && h->slows >= SM_HEALTH_IN_ROW) {
        *f = (sm_health_finding_t) { SM_HEALTH_DEGRADED, SM_HEALTH_SLOW_LAST,
                                     0, 0 };
        return 1;
    }

    return 0;
}


/* Finds the worst that is wrong by these bounds; it is well if nothing is. */

static void
sm_health_find(const sm_health_t *h, int64_t now, const sm_health_bounds_t *b,
    sm_health_finding_t *f)
{
    sm_health_sum_t  recent, minute;

    if (h->streak >= SM_HEALTH_IN_ROW
        && (!h->answered || now - h->answered_at >= SM_HEALTH_TICK))
    {
        *f = (sm_health_finding_t) { SM_HEALTH_DOWN, SM_HEALTH_IS_DOWN,
                                     (int64_t) h->streak, 0 };
        return;
    }

    if (h->times.held >= SM_HEALTH_WAITS) {
        *f = (sm_health_finding_t) { SM_HEALTH_DEGRADED, SM_HEALTH_HELD, 0,
                                     0 };
        return;
    }

    sm_health_sum(h, SM_HEALTH_RECENT, &recent);
    sm_health_sum(h, SM_HEALTH_TICKS, &minute);

    if (h->streak
        && (!h->answered || now - h->answered_at > SM_HEALTH_SILENT))
    {
        *f = (sm_health_finding_t) { SM_HEALTH_DEGRADED,
                                     SM_HEALTH_LAST_FAILED,
                                     (int64_t) h->streak, 0 };
        return;
    }

    if (h->rejects >= SM_HEALTH_REJECTS) {
        *f = (sm_health_finding_t) { SM_HEALTH_DEGRADED,
                                     SM_HEALTH_REJECTS_ALL,
                                     (int64_t) h->rejects, 0 };
        return;
    }

    if (sm_health_share(f, &recent, b->recent_percent, b->recent_least)
        || sm_health_share(f, &minute, b->minute_percent, b->minute_least)
        || sm_health_slow(h, b, f))
    {
        return;
    }

    *f = (sm_health_finding_t) { SM_HEALTH_OK, SM_HEALTH_WELL, 0, 0 };
}


static void
sm_health_set(sm_health_t *h, const sm_health_finding_t *f)
{
    h->state = f->state;
    h->why = f->why;
    h->n = f->n;
    h->of = f->of;
    h->unsent = h->streak && h->streak == h->streak_unsent;
}


/* A target that was degraded gets well when it has been calm for a while. */

static void
sm_health_recover(sm_health_t *h, int64_t now)
{
    sm_health_finding_t  f;

    sm_health_find(h, now, &sm_health_well, &f);

    if (f.state != SM_HEALTH_OK) {
        sm_health_set(h, &f);
        h->calm = h->number;
        return;
    }

    if (h->streak || h->told) {
        return;
    }

    if (h->slow) {
        f.state = SM_HEALTH_DEGRADED;
        f.why = SM_HEALTH_SLOW_LAST;

        /* with enough of them one in a hundred may be slow */

        if (h->times.attempts < SM_HEALTH_ENOUGH) {
            h->calm = h->number;
        }

    } else if (h->number - h->calm < SM_HEALTH_CALM) {
        f.state = SM_HEALTH_DEGRADED;
        f.why = SM_HEALTH_RECOVERS;
    }

    sm_health_set(h, &f);
}


unsigned
sm_health_judge(sm_health_t *h, int64_t now, const sm_health_times_t *times)
{
    sm_health_e          before;
    sm_health_sum_t      recent;
    sm_health_finding_t  f;

    before = h->state;

    sm_health_advance(h, now);

    if (times) {
        h->times = *times;
    }

    sm_health_find(h, now, &sm_health_ill, &f);

    if (before == SM_HEALTH_DOWN && f.state != SM_HEALTH_DOWN) {
        sm_health_sum(h, SM_HEALTH_RECENT, &recent);

        if (h->good < SM_HEALTH_IN_ROW
            && (h->good == 0 || recent.failed))
        {
            return 0;
        }

        h->told = 0;

        if (f.state == SM_HEALTH_OK) {
            f.state = SM_HEALTH_DEGRADED;
            f.why = SM_HEALTH_RECOVERS;
        }
    }

    if (f.state != SM_HEALTH_OK) {
        sm_health_set(h, &f);
        h->calm = h->number;

    } else if (before == SM_HEALTH_DEGRADED) {
        sm_health_recover(h, now);
    }

    return h->state != before;
}


static void
sm_health_out_last(sm_out_t *out, int64_t n)
{
    if (n == 1) {
        sm_out_c(out, "the last attempt ");
        return;
    }

    sm_out_c(out, "the last ");
    sm_out_int(out, n);
    sm_out_c(out, " attempts ");
}


/*
 * Writes a number of microseconds as seconds, to a tenth or to a thousandth, of
 * which there is one at least.
 */

static void
sm_health_out_seconds(sm_out_t *out, int64_t usec)
{
    if (usec >= 1000000) {
        sm_out_decimal(out, usec / 100000, 10);

    } else {
        sm_out_decimal(out, usec >= 2000 ? usec / 1000 : 1, 1000);
    }

    sm_out_c(out, " s");
}


/* What slow is compared with, as far as it is known. */

static void
sm_health_out_usual(sm_out_t *out, const sm_health_times_t *t)
{
    if (t->median > 0) {
        sm_out_c(out, "; the usual time is ");
        sm_health_out_seconds(out, t->median);
    }

    if (t->timeout > 0) {
        sm_out_c(out, t->median > 0 ? ", the time-out " : "; the time-out is ");
        sm_health_out_seconds(out, t->timeout);
    }
}


void
sm_health_out_why(sm_out_t *out, const sm_health_t *h)
{
    switch (h->why) {

    case SM_HEALTH_WELL:
        break;

    case SM_HEALTH_IS_DOWN:
        sm_health_out_last(out, h->n);
        sm_out_c(out, h->unsent ? "could not be sent"
                                : "got no usable answer");
        break;

    case SM_HEALTH_LAST_FAILED:
        sm_health_out_last(out, h->n);
        sm_out_c(out, h->unsent ? "could not be sent" : "failed");
        break;

    case SM_HEALTH_SHARE:
        sm_out_int(out, h->n);
        sm_out_c(out, " of the last ");
        sm_out_int(out, h->of);
        sm_out_c(out, " attempts failed");
        break;

    case SM_HEALTH_REJECTS_ALL:
        sm_health_out_last(out, h->n);
        sm_out_c(out, "were all rejected");
        break;

    case SM_HEALTH_SLOW:
        sm_out_c(out, "answers are slow: one in a hundred takes more than ");
        sm_health_out_seconds(out, h->times.p99);
        sm_health_out_usual(out, &h->times);
        break;

    case SM_HEALTH_WAITING:
        sm_out_c(out, "an attempt has been waiting for its answer for ");
        sm_health_out_seconds(out, h->times.waiting);
        sm_health_out_usual(out, &h->times);
        break;

    case SM_HEALTH_SLOW_LAST:
        sm_out_c(out, "answers are slow: the last one took ");
        sm_health_out_seconds(out, h->slow);
        sm_health_out_usual(out, &h->times);
        break;

    case SM_HEALTH_HELD:
        sm_out_c(out, "nothing of it can be sent: the leader's host has no "
                      "connection left");
        break;

    case SM_HEALTH_RECOVERS:
        sm_out_c(out, "it has only just begun to work again");
        break;

    case SM_HEALTH_TOLD:
        sm_out_c(out, "the previous leader reported it, and nothing was "
                      "accepted since");
        break;
    }
}
