
/*
 * The health of a target: what makes it ill, what it says of that, and what
 * makes it well again.  Broken by: a bound that is off by one, a state that
 * ends for lack of attempts, a host that has just booted, an answer that does
 * not end a streak, an unsent attempt that does not count; slow answers that
 * become what is usual within the hour, or never; a leader that forgets what is
 * usual, or says that a target works again before something was accepted.
 */

#include "sm_health.h"
#include "clocks.h"
#include "tap.h"


#define SECOND   1000000
#define ENOUGH   (2 * SM_HEALTH_ENOUGH)


/*
 * A script is a row of letters: a accepted, r rejected, f failed, u unsent, "."
 * a second that passes, ":" a tick of five, and "_" a minute.
 */

static int64_t
play(sm_health_t *h, int64_t now, const char *script)
{
    static const char     letters[] = "arfu";
    const char           *p;

    for (p = script; *p; p++) {
        switch (*p) {

        case '.':
            now += SECOND;
            break;

        case ':':
            now += 5 * SECOND;
            break;

        case '_':
            now += 60 * SECOND;
            break;

        default:
            sm_health_count(h, now, strchr(letters, *p) - letters);
        }

        (void) sm_health_judge(h, now, NULL);
    }

    return now;
}


typedef struct {
    const char   *script;
    sm_health_e   state;
    const char   *why;
} row_t;


static const row_t  rows[] = {

    { "", SM_HEALTH_OK, "" },
    { "____", SM_HEALTH_OK, "" },
    { "a", SM_HEALTH_OK, "" },
    { "aaaarrrr", SM_HEALTH_OK, "" },

    /* the first attempts of a target fail */

    { "f", SM_HEALTH_DEGRADED, "the last attempt failed" },
    { "u", SM_HEALTH_DEGRADED, "the last attempt could not be sent" },
    { "ff", SM_HEALTH_DEGRADED, "the last 2 attempts failed" },
    { "fff", SM_HEALTH_DOWN, "the last 3 attempts got no usable answer" },
    { "uuu", SM_HEALTH_DOWN, "the last 3 attempts could not be sent" },
    { "uuf", SM_HEALTH_DOWN, "the last 3 attempts got no usable answer" },
    { "f.....f.....f", SM_HEALTH_DOWN,
      "the last 3 attempts got no usable answer" },
    { "f_f_f", SM_HEALTH_DOWN, "the last 3 attempts got no usable answer" },

    /* a target that worked dies */

    { "aaaaaaaaaaf", SM_HEALTH_OK, "" },
    { "aaaaaaaaaaff", SM_HEALTH_OK, "" },
    { "aaaaaaaafff", SM_HEALTH_DEGRADED, "3 of the last 11 attempts failed" },
    { "aaaaaaaa....fff", SM_HEALTH_DEGRADED,
      "3 of the last 11 attempts failed" },
    { "aaaaaaaa.....fff", SM_HEALTH_DOWN,
      "the last 3 attempts got no usable answer" },
    { "aaaaaaaa.f.f.f..", SM_HEALTH_DOWN,
      "the last 3 attempts got no usable answer" },
    { "a__f", SM_HEALTH_DEGRADED, "the last attempt failed" },
    { "a:::::f", SM_HEALTH_DEGRADED, "the last attempt failed" },
    { "a::.f", SM_HEALTH_DEGRADED, "the last attempt failed" },
    { "a::f", SM_HEALTH_OK, "" },
    { "af::", SM_HEALTH_OK, "" },
    { "af::.", SM_HEALTH_DEGRADED, "the last attempt failed" },
    { "au::.", SM_HEALTH_DEGRADED, "the last attempt could not be sent" },
    { "af::.a::::::", SM_HEALTH_OK, "" },

    /* shares: a fifth of what is recent, a twentieth of a minute */

    { "aaaaff", SM_HEALTH_DEGRADED, "2 of the last 6 attempts failed" },
    { "aaaauu", SM_HEALTH_DEGRADED, "2 of the last 6 attempts failed" },
    { "aaaaaaaaff", SM_HEALTH_DEGRADED, "2 of the last 10 attempts failed" },
    { "aaaaaaaaaff", SM_HEALTH_OK, "" },
    { "aaaaaaaaaaaaaaaaaaaf:aaaaaaaaaaaaaaaaaaaf:aaaaaaaaaaaaaaaaaaf",
      SM_HEALTH_DEGRADED, "3 of the last 59 attempts failed" },
    { "aaaaaaaaaaaaaaaaaaaaaf:aaaaaaaaaaaaaaaaaaaf:aaaaaaaaaaaaaaaaaaaf",
      SM_HEALTH_OK, "" },
    { "aaaaaaaaaaaaaaaaaaaf:aaaaaaaaaaaaaaaaaafa:::::::::::aaaaaaaaaaaaaaf",
      SM_HEALTH_OK, "" },

    /* everything is rejected */

    { "rrrrrrrrr", SM_HEALTH_OK, "" },
    { "rrrrrrrrrr", SM_HEALTH_DEGRADED,
      "the last 10 attempts were all rejected" },
    { "rrrrrarrrrr", SM_HEALTH_OK, "" },
    { "rrrrrrrrrr:::::::r", SM_HEALTH_DEGRADED,
      "the last 11 attempts were all rejected" },
    { "rrrrrrrrrra:::::a", SM_HEALTH_DEGRADED,
      "it has only just begun to work again" },
    { "rrrrrrrrrra::::::a", SM_HEALTH_OK, "" },

    /* a target that rejects now and then gets well all the same */

    { "rrrrrrrrrra:ra:ra:ra:ra:ra:ra", SM_HEALTH_OK, "" },
    { "fff__a:ar:ar:ar:ar:ar:ar", SM_HEALTH_OK, "" },
    { "fff__aaaa:rrrrr:a:rrrrr:a:rrrrr:a", SM_HEALTH_OK, "" },

    /* getting well */

    { "fff_______", SM_HEALTH_DOWN,
      "the last 3 attempts got no usable answer" },
    { "fffa", SM_HEALTH_DOWN, "the last 3 attempts got no usable answer" },
    { "fffaa", SM_HEALTH_DOWN, "the last 3 attempts got no usable answer" },
    { "fffaaa", SM_HEALTH_DEGRADED, "3 of the last 6 attempts failed" },
    { "fffaafaa", SM_HEALTH_DOWN, "the last 3 attempts got no usable answer" },
    { "fffa:", SM_HEALTH_DOWN, "the last 3 attempts got no usable answer" },
    { "fffa::", SM_HEALTH_DEGRADED, "3 of the last 4 attempts failed" },
    { "fffffffaaa::::::::::::", SM_HEALTH_DEGRADED,
      "it has only just begun to work again" },
    { "fffffffaaa:::::::::::::::::", SM_HEALTH_OK, "" },
    { "fff::a", SM_HEALTH_DEGRADED, "3 of the last 4 attempts failed" },
    { "fff__a", SM_HEALTH_DEGRADED,
      "it has only just begun to work again" },
    { "fff__a:::::a", SM_HEALTH_DEGRADED,
      "it has only just begun to work again" },
    { "fff__a::::::a", SM_HEALTH_OK, "" },
    { "fff__a::::::", SM_HEALTH_OK, "" },
    { "fff__a:::f:::::a", SM_HEALTH_DEGRADED,
      "it has only just begun to work again" },
    { "f__________", SM_HEALTH_DEGRADED, "the last attempt failed" },
    { "f_a::::::", SM_HEALTH_OK, "" },

    /* an answer does not change what has failed, or how */

    { "uuua", SM_HEALTH_DOWN, "the last 3 attempts could not be sent" },
    { "fffau", SM_HEALTH_DOWN, "the last 3 attempts got no usable answer" },
    { "ua", SM_HEALTH_DEGRADED, "1 of the last 2 attempts failed" },
    { "ua:a::::a", SM_HEALTH_DEGRADED,
      "it has only just begun to work again" },
    { "fff__af", SM_HEALTH_DEGRADED, "1 of the last 2 attempts failed" },
    { "fff__a__fff", SM_HEALTH_DOWN,
      "the last 3 attempts got no usable answer" }
};


static void
say(const sm_health_t *h, char *buf, size_t size)
{
    sm_out_t  out;

    sm_out_init(&out, buf, size - 1);
    sm_health_out_why(&out, h);
    *out.last = '\0';
}


static void
check(const sm_health_t *h, sm_health_e state, const char *why,
    const char *name)
{
    char  buf[SM_HEALTH_WHY_MAX + 1];

    say(h, buf, sizeof(buf));

    is_str(sm_health_name(h->state).data, sm_health_name(state).data,
           "\"%s\": state", name);
    is_str(buf, why, "\"%s\": why", name);
}


static void
scripts(int64_t now)
{
    size_t       i;
    sm_health_t  h;

    for (i = 0; i < sm_nelts(rows); i++) {
        sm_health_init(&h, now);
        (void) play(&h, now, rows[i].script);
        check(&h, rows[i].state, rows[i].why, rows[i].script);
    }
}


typedef struct {
    sm_health_times_t   times;
    sm_health_e         state;
    const char         *why;
} times_row_t;

#define MS  1000

static const times_row_t  times_rows[] = {

    { { -1, 0, -1, -1, -1, -1 }, SM_HEALTH_OK, "" },
    { { 500 * MS, ENOUGH, 100 * MS, 10000 * MS, -1, -1 }, SM_HEALTH_OK, "" },

    { { 501 * MS, ENOUGH, 100 * MS, 10000 * MS, -1, -1 }, SM_HEALTH_DEGRADED,
      "answers are slow: one in a hundred takes more than 0.501 s; the usual "
      "time is 0.1 s, the time-out 10 s" },

    { { 501 * MS, SM_HEALTH_ENOUGH - 1, 100 * MS, 10000 * MS, -1, -1 },
      SM_HEALTH_OK, "" },
    { { 250 * MS, ENOUGH, 1 * MS, 10000 * MS, -1, -1 }, SM_HEALTH_OK, "" },
    { { 5000 * MS, ENOUGH, 4000 * MS, 10000 * MS, -1, -1 }, SM_HEALTH_OK, "" },

    { { 5001 * MS, ENOUGH, 4000 * MS, 10000 * MS, -1, -1 }, SM_HEALTH_DEGRADED,
      "answers are slow: one in a hundred takes more than 5 s; the usual time "
      "is 4 s, the time-out 10 s" },

    { { 60000 * MS, ENOUGH, -1, -1, -1, -1 }, SM_HEALTH_OK, "" },

    /* a gateway that hangs, before any of its attempts has timed out */

    { { -1, 0, 100 * MS, 60000 * MS, 2999 * MS, -1 }, SM_HEALTH_OK, "" },

    { { -1, 0, 100 * MS, 60000 * MS, 3200 * MS, -1 }, SM_HEALTH_DEGRADED,
      "an attempt has been waiting for its answer for 3.2 s; the usual time is "
      "0.1 s, the time-out 60 s" },

    { { -1, 0, 2000 * MS, 60000 * MS, 9000 * MS, -1 }, SM_HEALTH_OK, "" },
    { { -1, 0, -1, 60000 * MS, 30000 * MS, -1 }, SM_HEALTH_OK, "" },

    { { -1, 0, -1, 60000 * MS, 30001 * MS, -1 }, SM_HEALTH_DEGRADED,
      "an attempt has been waiting for its answer for 30 s; the time-out is "
      "60 s" },

    /* nothing begins */

    { { -1, 0, -1, -1, -1, 2999 * MS }, SM_HEALTH_OK, "" },

    { { -1, 0, -1, -1, -1, 3000 * MS }, SM_HEALTH_DEGRADED,
      "nothing of it can be sent: the leader's host has no connection left" }
};


static void
slowness(int64_t now)
{
    size_t       i;
    sm_health_t  h;

    for (i = 0; i < sm_nelts(times_rows); i++) {
        sm_health_init(&h, now);
        sm_health_count(&h, now, SM_HEALTH_ACCEPTED);

        is_int(sm_health_judge(&h, now, &times_rows[i].times),
               times_rows[i].state != SM_HEALTH_OK, "times %zu", i);
        check(&h, times_rows[i].state, times_rows[i].why, "times");
    }
}


/* a slow target gets well below the lower bounds only */

static void
hysteresis(int64_t now)
{
    int                i;
    sm_health_t        h;
    sm_health_times_t  t = { 600 * MS, ENOUGH, 100 * MS, 10000 * MS, -1,
                              -1 };

    sm_health_init(&h, now);
    sm_health_count(&h, now, SM_HEALTH_ACCEPTED);
    is_int(sm_health_judge(&h, now, &t), 1, "slow");

    t.p99 = 450 * MS;

    for (i = 0; i < 20; i++) {
        now += SM_HEALTH_TICK;
        sm_health_count(&h, now, SM_HEALTH_ACCEPTED);
        (void) sm_health_judge(&h, now, &t);
    }

    is_int(h.state, SM_HEALTH_DEGRADED, "between the bounds it stays");

    t.p99 = 400 * MS;

    for (i = 0; i < SM_HEALTH_CALM; i++) {
        is_int(h.state, SM_HEALTH_DEGRADED, "calm for %d ticks", i);
        now += SM_HEALTH_TICK;
        sm_health_count(&h, now, SM_HEALTH_ACCEPTED);
        (void) sm_health_judge(&h, now, &t);
    }

    is_int(h.state, SM_HEALTH_OK, "then it is well");
}


static void
another_leader(int64_t now)
{
    sm_health_t  h;

    sm_health_init(&h, now);
    sm_health_go_on(&h, SM_HEALTH_DOWN);
    (void) sm_health_judge(&h, now, NULL);
    check(&h, SM_HEALTH_DOWN, "the previous leader reported it, and nothing "
          "was accepted since", "told");

    now = play(&h, now, "____");
    is_int(h.state, SM_HEALTH_DOWN, "it stays so while nothing is sent");

    now = play(&h, now, "f");
    is_int(h.state, SM_HEALTH_DOWN, "and if the first attempt fails");

    now = play(&h, now, "::a");
    check(&h, SM_HEALTH_DEGRADED, "it has only just begun to work again",
          "an answer");

    (void) play(&h, now, "__a::::::a");
    is_int(h.state, SM_HEALTH_OK, "well again");

    sm_health_init(&h, now);
    (void) play(&h, now, "a");
    sm_health_go_on(&h, SM_HEALTH_DOWN);
    is_int(h.state, SM_HEALTH_OK, "what was seen is known better");

    sm_health_init(&h, now);
    (void) play(&h, now, "f");
    sm_health_go_on(&h, SM_HEALTH_DOWN);
    is_int(h.state, SM_HEALTH_DOWN, "a failure does not say otherwise");

    sm_health_init(&h, now);
    sm_health_go_on(&h, SM_HEALTH_DEGRADED);
    (void) play(&h, now, "::::::::::::::::::::");
    is_int(h.state, SM_HEALTH_DEGRADED, "nothing gets well by itself");

    now = play(&h, now, "r::::::r");
    check(&h, SM_HEALTH_DEGRADED, "the previous leader reported it, and nothing "
          "was accepted since", "a rejection does not show that it works");

    now = play(&h, now, "rrrrrrrr");
    check(&h, SM_HEALTH_DEGRADED, "the last 10 attempts were all rejected",
          "many show that it does not");

    now = play(&h, now, "::a");
    check(&h, SM_HEALTH_DEGRADED, "it has only just begun to work again",
          "what is accepted does");

    sm_health_init(&h, now);
    sm_health_go_on(&h, SM_HEALTH_DOWN);
    (void) play(&h, now, "rrr");
    check(&h, SM_HEALTH_DEGRADED, "it has only just begun to work again",
          "what was down answers again");

    sm_health_init(&h, now);
    sm_health_go_on(&h, SM_HEALTH_OK);
    check(&h, SM_HEALTH_OK, "", "told that it is well");
}


/*
 * A gateway that takes so long, for so many seconds, as its leader sees it: it
 * is judged each second by the oldest that waits, and every five by the last
 * minute's answers.  "every" is the time from one request to the next, in
 * milliseconds; each is answered before the next one is sent if that is 0.
 */

typedef struct {
    int64_t             now;
    sm_health_t         h;
    sm_usual_t          u;
    sm_window_t         minute;
    unsigned            changes;
} gateway_t;


static void
gateway_init(gateway_t *g, int64_t now)
{
    g->now = now;
    g->changes = 0;
    sm_health_init(&g->h, now);
    sm_usual_init(&g->u, now);
    sm_window_init(&g->minute, now);
}


static void
gateway_look(gateway_t *g, int64_t waiting)
{
    sm_health_times_t  times;
    sm_stats_window_t  minute;

    times = g->h.times;
    times.timeout = 20 * SECOND;
    times.waiting = waiting;
    times.median = sm_usual_median(&g->u, g->now);

    if (g->now / SECOND % 5 == 0) {
        sm_window_read(&g->minute, g->now, SM_WINDOW_1M, &minute);
        times.p99 = minute.p99;
        times.attempts = sm_stats_attempts(minute.counts);
    }

    g->changes += sm_health_judge(&g->h, g->now, &times);
}


static void
gateway_serve(gateway_t *g, int64_t every, int64_t took, int64_t seconds)
{
    int64_t  end, sent, answered, looked;

    end = g->now + seconds * SECOND;
    sent = g->now;
    looked = g->now;
    every = (every ? every : took) * MS;
    answered = sent + took * MS;

    while (g->now < end) {
        if (looked + SECOND <= answered) {
            looked += SECOND;
            g->now = looked;
            gateway_look(g, answered - took * MS <= g->now
                            ? g->now - (answered - took * MS) : -1);
            continue;
        }

        g->now = answered;
        answered += every;

        sm_health_took(&g->h, &g->u, g->now, took * MS);
        sm_health_count(&g->h, g->now, SM_HEALTH_ACCEPTED);
        sm_window_count(&g->minute, g->now, SM_STATS_ATTEMPT_ACCEPTED, 1);
        sm_window_observe(&g->minute, g->now, took * MS);
        g->changes += sm_health_judge(&g->h, g->now, NULL);
    }
}


/* what was usual: so many answers before; then it is slow, at some pace */

typedef struct {
    const char         *name;
    int64_t             usual;          /* milliseconds */
    int64_t             before;         /* seconds */
    int64_t             took;
    int64_t             every;
} slow_row_t;

static const slow_row_t  slow_rows[] = {
    { "one by one", 1, 60, 8000, 0 },
    { "many", 1, 60, 8000, 10 },
    { "many, after a few", 100, 1, 8000, 10 },
    { "one by one, after one", 1000, 2, 8000, 0 },
    { "one by one, after a few", 100, 2, 8000, 0 },
    { "one a minute", 100, 60, 8000, 60000 },
    { "not very, but many", 100, 600, 900, 20 },
    { "not very, a few", 100, 10, 900, 0 },
    { "not very, six a minute", 100, 60, 2500, 10000 },
    { "not very, one a minute", 100, 60, 2500, 60000 },
    { "by little", 1000, 600, 5500, 100 }
};


static void
stays_slow(int64_t now)
{
    size_t             i;
    gateway_t          g;
    const slow_row_t  *row;

    for (i = 0; i < sm_nelts(slow_rows); i++) {
        row = &slow_rows[i];

        gateway_init(&g, now);
        gateway_serve(&g, row->usual, row->usual, row->before);
        is_int(g.h.state, SM_HEALTH_OK, "%s: it is well", row->name);
        g.changes = 0;

        gateway_serve(&g, row->every, row->took, 300);
        is_int(g.h.state, SM_HEALTH_DEGRADED, "%s: ill", row->name);
        is_int(g.changes, 1, "%s: once", row->name);

        gateway_serve(&g, row->every, row->took, 3000);
        is_int(g.h.state, SM_HEALTH_DEGRADED, "%s: for an hour", row->name);
        is_int(g.changes, 1, "%s: all the time", row->name);
        ok(sm_usual_median(&g.u, g.now) <= row->usual * MS * 9 / 8,
           "%s: what is usual does not move", row->name);

        gateway_serve(&g, row->usual, row->usual, 120);
        is_int(g.h.state, SM_HEALTH_OK, "%s: well", row->name);
        is_int(g.changes, 2, "%s: at the first time", row->name);
    }
}


static void
slower_for_good(int64_t now)
{
    gateway_t  g;

    gateway_init(&g, now);
    gateway_serve(&g, 100, 100, 600);
    gateway_serve(&g, 100, 900, 3590);
    is_int(g.h.state, SM_HEALTH_DEGRADED, "slow for an hour");
    gateway_serve(&g, 100, 900, 120);
    check(&g.h, SM_HEALTH_OK, "", "then that is what is usual");
    is_int(g.changes, 2, "and no sooner");

    gateway_serve(&g, 100, 9000, 120);
    is_int(g.h.state, SM_HEALTH_DEGRADED, "against which it may be slow");

    /* what was slow an hour ago, once, does not count */

    gateway_init(&g, now);
    gateway_serve(&g, 100, 100, 60);
    gateway_serve(&g, 100, 900, 60);
    gateway_serve(&g, 100, 100, 3600);
    is_int(g.h.state, SM_HEALTH_OK, "well meanwhile");
    gateway_serve(&g, 100, 900, 600);
    is_int(g.h.state, SM_HEALTH_DEGRADED, "slow again, not for good");

    /* hours without a request */

    gateway_init(&g, now);
    gateway_serve(&g, 100, 100, 60);
    g.now += 5 * SM_USUAL_HOUR;
    gateway_serve(&g, 0, 8000, 60);
    is_int(g.h.state, SM_HEALTH_DEGRADED, "what was usual is remembered");
}


static void
usual_told(int64_t now)
{
    char               buf[SM_HEALTH_WHY_MAX + 1];
    gateway_t          g;
    sm_health_times_t  times = { -1, 0, -1, 20 * SECOND, -1, -1 };

    gateway_init(&g, now);
    sm_usual_told(&g.u, 0);
    is_int(sm_usual_median(&g.u, now), -1, "nothing was told");
    sm_usual_told(&g.u, 100 * MS);
    sm_health_go_on(&g.h, SM_HEALTH_DEGRADED);
    gateway_serve(&g, 0, 8000, 300);
    is_int(g.h.state, SM_HEALTH_DEGRADED, "another leader: it is still slow");
    is_int(g.changes, 0, "all the time");
    is_int(sm_usual_median(&g.u, g.now), 100 * MS, "what is usual was told");

    gateway_init(&g, now);
    gateway_serve(&g, 100, 100, 60);
    sm_usual_told(&g.u, 8000 * MS);
    ok(sm_usual_median(&g.u, g.now) < 120 * MS,
       "what an epoch before has seen is known better");

    /* an answer that comes when nothing waits any more */

    gateway_init(&g, now);
    gateway_serve(&g, 100, 100, 60);
    times.median = sm_usual_median(&g.u, g.now);
    times.waiting = 8 * SECOND;
    is_int(sm_health_judge(&g.h, g.now, &times), 1, "it waits");
    sm_health_took(&g.h, &g.u, g.now, 8 * SECOND);
    sm_health_count(&g.h, g.now, SM_HEALTH_ACCEPTED);
    times.waiting = -1;
    (void) sm_health_judge(&g.h, g.now, &times);
    say(&g.h, buf, sizeof(buf));
    ok(strncmp(buf, "answers are slow: the last one took 8 s; the usual time is "
               "0.1", 62) == 0 || strstr(buf, "the last one took 8 s"),
       "the last was slow: %s", buf);

    /* without memory */

    sm_health_init(&g.h, g.now);
    sm_health_took(&g.h, NULL, g.now, 8 * SECOND);
    is_int(g.h.slow, 0, "nothing is slow beside nothing");
}


/* nothing was ever sent to it, so no answer is needed for it to get well */

static void
held(int64_t now)
{
    sm_health_t        h;
    sm_health_times_t  t = { -1, 0, -1, -1, -1, 5 * SECOND };

    sm_health_init(&h, now);
    is_int(sm_health_judge(&h, now, &t), 1, "held");

    t.held = -1;
    (void) sm_health_judge(&h, now, &t);
    (void) play(&h, now, ":::::");
    check(&h, SM_HEALTH_DEGRADED, "it has only just begun to work again",
          "held no more");

    (void) play(&h, now, "::::::");
    check(&h, SM_HEALTH_OK, "", "well without an answer");
}


/*
 * A target of which one attempt in thirty fails, for an hour: how often it falls
 * ill, and for how long at least.
 */

typedef struct {
    int64_t             every;          /* milliseconds between attempts */
    int64_t             jitter;         /* by which answers are late, at most */
    unsigned            most;           /* times that it falls ill */
} fails_row_t;

static const fails_row_t  fails_rows[] = {
    { 500, 900, 0 },
    { 1000, 900, 0 },
    { 4000, 900, 0 },
    { 5000, 0, 0 },
    { 5000, 900, 0 },
    { 7000, 0, 18 },
    { 10000, 0, 12 },
    { 30000, 0, 4 },
    { 60000, 0, 2 }
};


static void
fails_now_and_then(int64_t began)
{
    size_t              i;
    int64_t             now, end, next, n, ill, least;
    unsigned            times;
    sm_health_t         h;
    const fails_row_t  *row;

    for (i = 0; i < sm_nelts(fails_rows); i++) {
        row = &fails_rows[i];

        sm_health_init(&h, began);
        sm_health_count(&h, began, SM_HEALTH_ACCEPTED);

        end = began + 3600 * (int64_t) SECOND;
        next = began + row->every * MS;
        times = 0;
        ill = 0;
        least = INT64_MAX;
        n = 1;

        for (now = began; now < end; now += 100 * MS) {

            if (now >= next + (n % 4 ? 0 : row->jitter * MS)) {
                sm_health_count(&h, now, n % 30 == 7 ? SM_HEALTH_FAILED
                                                     : SM_HEALTH_ACCEPTED);
                n++;
                next += row->every * MS;

            } else if ((now - began) % SECOND) {
                continue;
            }

            if (!sm_health_judge(&h, now, NULL)) {
                continue;
            }

            if (h.state == SM_HEALTH_OK) {
                least = now - ill < least ? now - ill : least;

            } else {
                times++;
                ill = now;
            }
        }

        ok(times <= row->most, "one in thirty every %d ms: ill %u times",
           (int) row->every, times);
        ok(least >= (SM_HEALTH_CALM - 1) * SM_HEALTH_TICK,
           "one in thirty every %d ms: for half a minute at least",
           (int) row->every);
    }
}


static void
all(int64_t now)
{
    scripts(now);
    fails_now_and_then(now);
    held(now);
    slowness(now);
    hysteresis(now);
    another_leader(now);
    stays_slow(now);
    slower_for_good(now);
    usual_told(now);
}


int
main(void)
{
    size_t  i;

    needs_no_store();

    for (i = 0; i < NCLOCKS; i++) {
        all(clocks[i]);
    }

    return done_testing();
}
