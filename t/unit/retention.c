
/*
 * The pace of retention: turns keep their share, and there is an end.  Broken
 * by: a rest without a bound, a batch that shrinks because the machine is busy,
 * one slow call that counts for all, a rest that does not grow with the work.
 * And what is told of a day, by whoever leads: broken by a leader that counts
 * anew, or that takes what it does not know for nothing.
 */

#include "sm_retention.h"
#include "tap.h"


/* passes of so many batches, each of which takes "took" and "more" for a row */

static int64_t
rows_in(int64_t seconds, int64_t took, int64_t more, unsigned busy,
    int64_t *work)
{
    size_t               limit;
    int64_t              at, rows;
    sm_retention_pace_t  pace = { 0 };

    for (at = 0, rows = 0, *work = 0; at < seconds * 1000000; ) {
        limit = sm_retention_limit(&pace);
        rows += limit;
        *work += limit * more;
        at += took + limit * more;
        at += sm_retention_rest(&pace, limit, took + limit * more, busy) * 1000;
    }

    return rows / seconds;
}


static void
test_bounds(void)
{
    int64_t              rest, i;
    sm_retention_pace_t  pace = { 0 };

    is_int(sm_retention_limit(&pace), SM_RETENTION_LEAST, "the first batch");

    rest = sm_retention_rest(&pace, 250, 5000, 1);
    is_int(rest, 500, "100 times what it took");
    is_int(sm_retention_rest(&pace, 250, 5000, 0), 50, "10 times, when idle");
    is_int(sm_retention_limit(&pace), 500, "20 us a row: 500 are 10 ms");

    is_int(sm_retention_rest(&pace, 0, 5000, 1), 500, "so it is without rows");
    is_int(sm_retention_rest(&pace, 0, 0, 1), SM_RETENTION_REST_MIN,
           "the shortest rest");
    is_int(sm_retention_rest(&pace, 0, INT64_MAX, 1), SM_RETENTION_REST_MAX,
           "the longest rest");
    is_int(sm_retention_limit(&pace), 500, "which says nothing of rows");

    /* one slow call */

    rest = sm_retention_rest(&pace, 400, 2000000, 1);
    is_int(rest, 850, "a slow call raises the rest by a sixteenth");
    is_int(sm_retention_limit(&pace), 470, "and the batch is hardly smaller");
    is_int(sm_retention_rest(&pace, 470, 9400, 1), 940,
           "a quick one counts at once");

    /* slow for good */

    for (i = 0; i < 100; i++) {
        rest = sm_retention_rest(&pace, sm_retention_limit(&pace), 3000000, 1);
    }

    is_int(rest, SM_RETENTION_REST_MAX, "if all are slow, the rest is as long "
           "as it can be");
    is_int(sm_retention_limit(&pace), SM_RETENTION_LEAST,
           "and the batch as small");

    /* fast for good */

    for (i = 0; i < 100; i++) {
        rest = sm_retention_rest(&pace, sm_retention_limit(&pace), 1, 1);
    }

    is_int(rest, SM_RETENTION_REST_MIN, "if all are fast, the rest is as short "
           "as it can be");
    is_int(sm_retention_limit(&pace), SM_RETENTION_MOST,
           "and the batch as large");

    is_int(sm_retention_rest(&pace, 1, -5, 1), SM_RETENTION_REST_MIN,
           "a clock that goes back");
}


static void
test_rates(void)
{
    int64_t  rows, work;

    rows = rows_in(100, 500, 40, 1, &work);
    ok(rows > 230, "a quiet server, attempts under way: %lld rows/s",
       (long long) rows);
    ok(work < 3000000, "%lld ms of 100 s", (long long) work / 1000);

    rows = rows_in(100, 500, 40, 0, &work);
    ok(rows > 1800, "the same, idle: %lld rows/s", (long long) rows);

    rows = rows_in(100, 280000, 40, 1, &work);
    ok(rows > 180, "a call waits 280 ms: %lld rows/s", (long long) rows);
    ok(work < 3000000, "%lld ms of 100 s", (long long) work / 1000);

    rows = rows_in(100, 1000000, 40, 1, &work);
    ok(rows > 115, "a call waits a second: %lld rows/s", (long long) rows);

    rows = rows_in(100, 1000, 150, 1, &work);
    ok(work < 5000000, "a slow store is busy with it for %lld ms of 100 s",
       (long long) work / 1000);
    ok(rows > 200, "and does %lld rows/s", (long long) rows);
}


/* a pass strips, the next one forgets: only then the next need not look back */

static void
test_passes(void)
{
    sm_retention_passes_t  p = { 0 };

    sm_retention_passed(&p, 1000, 0);
    sm_retention_passed(&p, 1500, 1);
    is_int(p.since, 0, "the second pass looks at all");

    sm_retention_passed(&p, 2000, 1);
    is_int(p.since, 1000, "the third from the beginning of the first");

    sm_retention_passed(&p, 3000, 0);
    is_int(p.since, 1000, "in all its batches");
    sm_retention_passed(&p, 3500, 1);
    is_int(p.since, 2000, "the fourth from that of the second");

    sm_retention_passed(&p, 2000 + SM_RETENTION_WHOLE, 1);
    is_int(p.since, 0, "after an hour one looks at all again");

    sm_retention_passed(&p, 9000, 1);
    sm_retention_passed(&p, 9001, 1);
    is_int(p.since, 9000, "and so on");
    sm_retention_passed(&p, 9002, 0);
    sm_retention_passed(&p, 8000, 1);
    is_int(p.since, 0, "and if the clock is set back");
}


static void
test_days(void)
{
    int64_t             noon;
    sm_retention_t      none = { 0 }, some = { 0 };
    sm_retention_day_t  d = { 0 }, told;

    noon = 20000 * SM_RETENTION_DAY + SM_RETENTION_DAY / 2;
    some.stripped = 3;
    some.forgotten = 1;

    is_int(sm_retention_day_over(&d, noon), 0, "nothing is over at first");
    is_int(sm_retention_day_add(&d, &none, noon), 0, "nothing is no batch");
    is_int(sm_retention_day_add(&d, &some, noon), 1, "the first of a day");
    is_int(sm_retention_day_add(&d, &some, noon + 5), 0, "another one");
    is_int(sm_retention_day_over(&d, noon + 6), 0, "the day goes on");
    is_int(sm_retention_day_unsure(&d), 0, "all is known");

    /* another leader */

    told = d;
    memset(&d, 0, sizeof(d));
    sm_retention_day_learn(&d, &told, 1, noon + 7);
    is_int(sm_retention_day_add(&d, &some, noon + 8), 0,
           "the next leader goes on");
    ok(d.stripped == 9 && d.forgotten == 3, "with what was done");
    is_int(sm_retention_day_unsure(&d), 0, "which is all");
    is_int(sm_retention_day_over(&d, noon + SM_RETENTION_DAY), 1,
           "the day is over");
    is_int(d.last, noon + 8, "its last batch");

    is_int(sm_retention_day_add(&d, &some, noon + SM_RETENTION_DAY), 1,
           "the first of the next one");
    ok(d.day == 20001 && d.stripped == 3, "begins anew");

    /* one that was killed */

    told = d;
    memset(&d, 0, sizeof(d));
    sm_retention_day_learn(&d, &told, 0, noon + SM_RETENTION_DAY + 1);
    ok(d.stripped == 3 && sm_retention_day_unsure(&d),
       "of a leader that was killed not all is known");
    told = d;
    sm_retention_day_learn(&d, &told, 1, noon + SM_RETENTION_DAY + 2);
    is_int(sm_retention_day_unsure(&d), 1, "nor by the one after that");
    is_int(sm_retention_day_add(&d, &some, noon + 2 * SM_RETENTION_DAY), 1,
           "the day after");
    is_int(sm_retention_day_unsure(&d), 0, "is known again");

    sm_retention_day_learn(&d, NULL, 0, noon);
    is_int(sm_retention_day_over(&d, noon + SM_RETENTION_DAY), 0,
           "without a document there is nothing to tell");
    (void) sm_retention_day_add(&d, &some, noon);
    is_int(sm_retention_day_unsure(&d), 1, "and today is not known");

    sm_retention_day_learn(&d, NULL, 1, noon);
    (void) sm_retention_day_add(&d, &some, noon);
    is_int(sm_retention_day_unsure(&d), 0, "unless nobody has led before");
}


int
main(void)
{
    needs_no_store();

    test_bounds();
    test_rates();
    test_passes();
    test_days();

    return done_testing();
}
