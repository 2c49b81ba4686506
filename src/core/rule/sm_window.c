
#include <string.h>

#include "sm_window.h"


/*
 * Below four units, each number of units has its own bucket.  Above that, the
 * two bits after the highest one choose one of the four buckets of a power of
 * two.
 */

static size_t
sm_window_bucket(int64_t usec)
{
    size_t    i, power;
    uint64_t  v;

    v = usec > 0 ? (uint64_t) usec / SM_WINDOW_UNIT : 0;

    if (v < 4) {
        return v;
    }

    power = 63 - __builtin_clzll(v);
    i = 4 * (power - 1) + ((v >> (power - 2)) & 3);

    return i < SM_WINDOW_BUCKETS ? i : SM_WINDOW_BUCKETS - 1;
}


/* Returns the middle of a bucket, in microseconds. */

static int64_t
sm_window_middle(size_t i)
{
    int64_t  low, width;

    if (i < 4) {
        low = i;
        width = 1;

    } else {
        width = (int64_t) 1 << (i / 4 - 1);
        low = (4 + (int64_t) (i % 4)) * width;
    }

    return low * SM_WINDOW_UNIT + width * SM_WINDOW_UNIT / 2;
}


void
sm_window_init(sm_window_t *w, int64_t now)
{
    memset(w, 0, sizeof(sm_window_t));

    w->since = now;
    w->number = now / SM_WINDOW_SLOT;
}


static sm_window_slot_t *
sm_window_slot(sm_window_t *w, int64_t number)
{
    return &w->slots[number % SM_WINDOW_SLOTS];
}


static sm_window_slot_t *
sm_window_current(sm_window_t *w, int64_t now)
{
    int64_t  number;

    number = now / SM_WINDOW_SLOT;

    if (number - w->number >= SM_WINDOW_SLOTS) {
        memset(w->slots, 0, sizeof(w->slots));
        w->number = number;
    }

    while (w->number < number) {
        w->number++;
        memset(sm_window_slot(w, w->number), 0, sizeof(sm_window_slot_t));
    }

    return sm_window_slot(w, w->number);
}


void
sm_window_count(sm_window_t *w, int64_t now, sm_stats_count_e which,
    unsigned n)
{
    sm_window_current(w, now)->counts[which] += n;
}


void
sm_window_observe(sm_window_t *w, int64_t now, int64_t usec)
{
    sm_window_current(w, now)->buckets[sm_window_bucket(usec)]++;
}


static int64_t
sm_window_percentile(const uint64_t *buckets, uint64_t total, unsigned percent)
{
    size_t    i;
    uint64_t  n, rank;

    if (total == 0) {
        return -1;
    }

    rank = (total * percent + 99) / 100;
    n = 0;

    for (i = 0; i < SM_WINDOW_BUCKETS - 1; i++) {
        n += buckets[i];

        if (n >= rank) {
            break;
        }
    }

    return sm_window_middle(i);
}


void
sm_window_read(sm_window_t *w, int64_t now, int64_t length,
    sm_stats_window_t *out)
{
    size_t             i;
    int64_t            number, first, span;
    uint64_t           buckets[SM_WINDOW_BUCKETS], total;
    sm_window_slot_t  *slot;

    memset(out, 0, sizeof(sm_stats_window_t));
    memset(buckets, 0, sizeof(buckets));

    (void) sm_window_current(w, now);

    first = w->number - length / SM_WINDOW_SLOT;
    total = 0;

    /* There are no slots from before the host was started. */

    if (first < 0) {
        first = 0;
    }

    for (number = first; number <= w->number; number++) {
        slot = sm_window_slot(w, number);

        for (i = 0; i < SM_STATS_COUNTS; i++) {
            out->counts[i] += slot->counts[i];
        }

        for (i = 0; i < SM_WINDOW_BUCKETS; i++) {
            buckets[i] += slot->buckets[i];
            total += slot->buckets[i];
        }
    }

    span = now - first * SM_WINDOW_SLOT;

    if (now - w->since < span) {
        span = now - w->since;
    }

    out->span = span / 1000;
    out->p50 = sm_window_percentile(buckets, total, 50);
    out->p99 = sm_window_percentile(buckets, total, 99);
}


int64_t
sm_stats_attempts(const int64_t counts[SM_STATS_COUNTS])
{
    return counts[SM_STATS_ATTEMPT_ACCEPTED] + sm_stats_failed(counts);
}


int64_t
sm_stats_failed(const int64_t counts[SM_STATS_COUNTS])
{
    return counts[SM_STATS_ATTEMPT_REJECTED] + counts[SM_STATS_ATTEMPT_ERROR]
           + counts[SM_STATS_ATTEMPT_UNKNOWN];
}
