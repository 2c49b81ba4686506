
/*
 * The bucket against the sentence that it keeps: no window of time sees more
 * than rate * window + burst leave, however long it takes from the decision to
 * the send; and what the rate gives is not held back for longer than it must
 * be.  Broken by: a bucket that begins full, one that is charged when it is
 * decided and not when it is sent, what is reserved and can be had again,
 * rounding.
 *
 * bucket [<seed>]
 */

#include <stdlib.h>
#include <time.h>

#include "sm_bucket.h"
#include "clocks.h"
#include "random.h"
#include "tap.h"


#define ROUNDS  300
#define SENDS   300


/* every window from one send to another */

static unsigned
exceeded(const int64_t *sends, unsigned n, int64_t begun, int64_t rate,
    int64_t burst)
{
    unsigned  i, k, bad;

    bad = 0;

    for (i = 0; i < n; i++) {

        /* from the beginning it is empty: there the burst does not count */

        bad += (__int128) (i + 1) * SM_BUCKET_TOKEN
               > (__int128) rate * (sends[i] - begun);

        for (k = i; k < n; k++) {
            bad += (__int128) (k - i + 1) * SM_BUCKET_TOKEN
                   > (__int128) rate * (sends[k] - sends[i])
                     + (__int128) burst * SM_BUCKET_TOKEN;
        }
    }

    return bad;
}


/* another leader goes on, and what this one has decided is never sent */

static void
hand_over(sm_bucket_t *b, int64_t now)
{
    sm_bucket_t  next;

    sm_bucket_init(&next, b->rate, b->burst, now);
    sm_bucket_go_on(&next, b, now);

    *b = next;
}


/*
 * What is decided is sent after some time, not always in its order, or not at
 * all; and now and then another leader goes on.
 */

static unsigned
play(int64_t rate, int64_t burst, int64_t begun)
{
    int64_t      now, next, sends[SENDS];
    unsigned     n, out, steps, late;
    sm_bucket_t  b;

    now = begun;
    n = 0;
    out = 0;
    late = 0;

    sm_bucket_init(&b, rate, burst, now);

    for (steps = 0; n < SENDS && steps < 100 * SENDS; steps++) {

        next = sm_bucket_next(&b, now);

        if (next <= now && rnd(4)) {
            sm_bucket_reserve(&b);
            out++;

        } else if (rnd(20) == 0) {
            hand_over(&b, now);
            out = 0;

        } else if (out && rnd(3) == 0) {
            sm_bucket_give_back(&b);
            out--;

        } else if (out && rnd(3)) {
            sm_bucket_spend(&b, now);
            sends[n++] = now;
            out--;

        } else if (next != INT64_MAX && rnd(2)) {

            /* one microsecond before its time there is none */

            late += next > now && sm_bucket_next(&b, next - 1) <= next - 1;
            late += next > now && sm_bucket_next(&b, next) > next;
            now = next > now ? next : now;

        } else {
            now += rnd(2) ? rnd(1000) : rnd(100000000);
        }

        late += sm_bucket_tokens(&b, now) > burst;
        late += out > burst;
    }

    return late + exceeded(sends, n, begun, rate, burst);
}


/* sent as soon as it may be, it is the rate: to the last one */

static void
test_greedy(int64_t rate, int64_t burst)
{
    int64_t      now, n;
    sm_bucket_t  b;

    sm_bucket_init(&b, rate, burst, 0);

    for (n = 0, now = 0; n < 100000; n++) {
        now = sm_bucket_next(&b, now);
        sm_bucket_reserve(&b);
        sm_bucket_spend(&b, now);
    }

    ok(now == ((__int128) n * SM_BUCKET_TOKEN + rate - 1) / rate,
       "%" PRId64 " a minute: %" PRId64 " in %" PRId64 " us", rate, n, now);
}


static void
test_simple(void)
{
    unsigned     i;
    sm_bucket_t  b, next;

    sm_bucket_init(&b, 60, 3, 5000);            /* one a second */

    is_int(sm_bucket_next(&b, 5000), 1005000, "it is empty at first");
    is_int(sm_bucket_tokens(&b, 1004999), 0, "a microsecond too early");
    is_int(sm_bucket_tokens(&b, 1005000), 1, "then there is one");
    is_int(sm_bucket_tokens(&b, INT64_MAX), 3, "and never more than the burst");

    for (i = 0; i < 3; i++) {
        is_int(sm_bucket_next(&b, 90000000), 90000000, "reserve");
        sm_bucket_reserve(&b);
    }

    is_int(sm_bucket_next(&b, 90000000), INT64_MAX, "all are reserved");
    is_int(sm_bucket_next(&b, INT64_MAX), INT64_MAX, "time does not help");

    sm_bucket_give_back(&b);
    is_int(sm_bucket_next(&b, 90000000), 90000000, "one is given back");

    sm_bucket_spend(&b, 100000000);
    sm_bucket_spend(&b, 100000000);
    is_int(sm_bucket_tokens(&b, 100000000), 1, "two are spent, when they left");
    is_int(sm_bucket_tokens(&b, 100999999), 1, "and from then on");
    is_int(sm_bucket_tokens(&b, 101000000), 2, "they come again");

    is_int(sm_bucket_units(&b, 100500000), 3 * SM_BUCKET_TOKEN / 2,
           "one and a half");
    hand_over(&b, 100500000);
    is_int(sm_bucket_next(&b, 100500000), 100500000, "another goes on with it");
    is_int(sm_bucket_units(&b, 100500000), 3 * SM_BUCKET_TOKEN / 2, "all of it");

    sm_bucket_init(&next, 60, 1, 100500000);
    sm_bucket_go_on(&next, &b, 100500000);
    is_int(sm_bucket_units(&next, 100500000), SM_BUCKET_TOKEN,
           "but for what its burst does not take");

    sm_bucket_init(&next, 6, 3, 100500000);
    sm_bucket_go_on(&next, &b, 101000000);
    is_int(sm_bucket_units(&next, 101000000), 2 * SM_BUCKET_TOKEN,
           "at the rate of the time when it came");

    sm_bucket_init(&next, 60, 3, 0);
    sm_bucket_go_on(&next, &b, 101000000);
    is_int(sm_bucket_units(&next, 101000000), 3 * SM_BUCKET_TOKEN,
           "and never less than it has itself");

    sm_bucket_init(&b, 0, 0, 0);
    sm_bucket_init(&next, 60, 3, 0);
    sm_bucket_go_on(&next, &b, 0);
    is_int(sm_bucket_units(&next, 0), 0, "no rate before says nothing");
    sm_bucket_go_on(&b, &next, 0);
    is_int(sm_bucket_next(&b, 7), 7, "without a rate there is no limit");
    sm_bucket_reserve(&b);
    sm_bucket_spend(&b, 7);
    is_int(sm_bucket_next(&b, 7), 7, "still not");
}


int
main(int argc, char **argv)
{
    unsigned  i, bad;
    int64_t   rate, burst;

    needs_no_store();

    state = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t) time(NULL);
    diag("seed %" PRIu64, state);
    state = state * 2 + 1;

    test_simple();

    test_greedy(1, 1);
    test_greedy(7, 3);
    test_greedy(3000, 10);
    test_greedy(SM_BUCKET_RATE_MAX, 1);
    test_greedy(SM_BUCKET_RATE_MAX - 1, SM_BUCKET_BURST_MAX);

    for (i = 0, bad = 0; i < ROUNDS; i++) {
        rate = rnd(3) ? 1 + rnd(6000) : 1 + rnd(SM_BUCKET_RATE_MAX);
        burst = rnd(2) ? 1 + rnd(5) : 1 + rnd(SM_BUCKET_BURST_MAX);

        bad += play(rate, burst, clocks[rnd(NCLOCKS)]);
    }

    is_int(bad, 0, "%u rounds of %u sends", ROUNDS, SENDS);

    return done_testing();
}
