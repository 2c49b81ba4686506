
/*
 * The leader's numbers in core: windows of minutes with percentiles, the
 * document, the block of shared memory, and an hour of history.  Broken by: a
 * slot that is not cleared when its time comes again; a percentile that is off
 * by more than an eighth; a host that booted a moment ago, where five minutes
 * ago is before the clock began; a document that grows with the number of targets, or
 * comes back otherwise; counts of an epoch that are taken for those of an
 * interval; a row that is missed, or counted twice.
 */

#include <math.h>

#include "sm_series.h"
#include "clocks.h"
#include "tap.h"


#define SECOND  INT64_C(1000000)
#define BEGIN   (1000 * 15 * SECOND)


static sm_arena_t  arena;


/* windows */


static void
test_windows(void)
{
    int64_t            now;
    sm_window_t        w;
    sm_stats_window_t  out;

    sm_window_init(&w, BEGIN);

    sm_window_read(&w, BEGIN, SM_WINDOW_1M, &out);
    ok(out.p50 == -1 && out.p99 == -1 && out.span == 0, "nothing at first");

    for (now = BEGIN; now < BEGIN + 600 * SECOND; now += SECOND) {
        sm_window_count(&w, now, SM_STATS_SUBMITTED, 2);
        sm_window_count(&w, now, SM_STATS_ATTEMPT_ACCEPTED, 1);
    }

    now = BEGIN + 600 * SECOND;

    sm_window_read(&w, now, SM_WINDOW_1M, &out);
    is_int(out.counts[SM_STATS_ATTEMPT_ACCEPTED], 60, "the last minute");
    is_int(out.span, 60000, "which is a minute long");
    sm_window_read(&w, now, SM_WINDOW_5M, &out);
    is_int(out.counts[SM_STATS_SUBMITTED], 600, "the last five");
    is_int(out.span, 300000, "which are five long");

    sm_window_read(&w, now + 14 * SECOND, SM_WINDOW_1M, &out);
    is_int(out.counts[SM_STATS_ATTEMPT_ACCEPTED], 60,
           "a slot that goes on is in it");
    is_int(out.span, 74000, "and the span says so");

    sm_window_read(&w, now + 90 * SECOND, SM_WINDOW_1M, &out);
    is_int(out.counts[SM_STATS_ATTEMPT_ACCEPTED], 0, "old ones are not");

    sm_window_count(&w, now + 86400 * SECOND, SM_STATS_SUBMITTED, 1);
    sm_window_read(&w, now + 86400 * SECOND, SM_WINDOW_5M, &out);
    is_int(out.counts[SM_STATS_SUBMITTED], 1, "nor after a long rest");

    sm_window_init(&w, BEGIN + 7 * SECOND);
    sm_window_count(&w, BEGIN + 8 * SECOND, SM_STATS_SUBMITTED, 1);
    sm_window_read(&w, BEGIN + 9 * SECOND, SM_WINDOW_5M, &out);
    is_int(out.span, 2000, "a young one is as long as it is old");
}


/*
 * One event each second from the moment on when the window began: a window has
 * those of its slots, and nothing of what lies around it in memory.
 */

static void
test_young(int64_t begin)
{
    size_t              i;
    int64_t             now, from, bad;
    sm_window_t        *w;
    sm_stats_window_t   out;

    static const int64_t  lengths[] = { SM_WINDOW_1M, SM_WINDOW_5M };

    w = malloc(sizeof(sm_window_t));
    if (w == NULL) {
        abort();
    }

    sm_window_init(w, begin);
    bad = 0;

    for (now = begin; now < begin + 700 * SECOND; now += SECOND) {
        sm_window_count(w, now, SM_STATS_SUBMITTED, 1);
        sm_window_observe(w, now, 10000);

        for (i = 0; i < sm_nelts(lengths); i++) {
            from = now / SM_WINDOW_SLOT * SM_WINDOW_SLOT - lengths[i];
            from = from > begin ? from : begin;
            from = (from - begin + SECOND - 1) / SECOND * SECOND + begin;

            sm_window_read(w, now, lengths[i], &out);

            bad += out.counts[SM_STATS_SUBMITTED] != (now - from) / SECOND + 1
                   || out.counts[SM_STATS_ACCEPTED] != 0
                   || out.span > (now - begin) / 1000 || out.span < 0
                   || llabs(out.p50 - 10000) > 1250 || out.p99 != out.p50;
        }
    }

    is_int(bad, 0, "a clock that began %lld s ago",
           (long long) (begin / SECOND));

    free(w);
}


static void
test_percentiles(void)
{
    int                i, n;
    double             worst, off;
    int64_t            usec, wrong;
    sm_window_t        w;
    sm_stats_window_t  out;

    worst = 0;
    wrong = 0;

    for (usec = 1000; usec < 400 * SECOND; usec += usec / 7) {
        sm_window_init(&w, BEGIN);
        sm_window_observe(&w, BEGIN, usec);
        sm_window_read(&w, BEGIN, SM_WINDOW_1M, &out);

        off = fabs((double) out.p50 - usec) / usec;
        worst = off > worst ? off : worst;
        wrong += out.p50 != out.p99;
    }

    ok(worst > 0 && worst <= 0.125, "a percentile is off by %.3f at most",
       worst);
    is_int(wrong, 0, "of one value all percentiles are the same");

    sm_window_init(&w, BEGIN);

    for (i = 0, n = 0; i < 1000; i++) {
        sm_window_observe(&w, BEGIN, i < 980 ? 10000 : 2 * SECOND);
        n++;
    }

    sm_window_read(&w, BEGIN, SM_WINDOW_1M, &out);
    ok(llabs(out.p50 - 10000) <= 1250, "the middle: %lld", (long long) out.p50);
    ok(llabs(out.p99 - 2 * SECOND) <= 250000, "the end: %lld",
       (long long) out.p99);

    sm_window_observe(&w, BEGIN, -5);
    sm_window_observe(&w, BEGIN, INT64_MAX);
    sm_window_read(&w, BEGIN, SM_WINDOW_1M, &out);
    ok(out.p99 > 0, "any value is taken");
}


/* the document */


static sm_stats_target_t
target(const char *name, int seed)
{
    size_t             i;
    sm_stats_target_t  t;

    memset(&t, 0, sizeof(sm_stats_target_t));

    t.name = sm_str_c(name);
    t.due = seed;
    t.waiting = 2 * seed;
    t.in_flight = 3 * seed;
    t.oldest_due = 4 * seed;

    for (i = 0; i < SM_STATS_COUNTS; i++) {
        t.counts[i] = 100 * seed + i;
        t.windows[SM_STATS_1M].counts[i] = 10 * seed + i;
        t.windows[SM_STATS_5M].counts[i] = 50 * seed + i;
    }

    t.windows[SM_STATS_1M].span = 60000;
    t.windows[SM_STATS_1M].p50 = -1;
    t.windows[SM_STATS_1M].p99 = 7;
    t.windows[SM_STATS_5M].span = 300000;

    return t;
}


static sm_str_t
render(sm_stats_t *stats)
{
    static char  buf[SM_STATS_MAX];
    sm_out_t     out;
    sm_str_t     doc;

    sm_out_init(&out, buf, sizeof(buf));
    sm_stats_out(&out, stats);

    doc.data = out.start;
    doc.len = out.full ? 0 : out.last - out.start;

    return doc;
}


static int
same(const sm_stats_target_t *a, const sm_stats_target_t *b)
{
    return sm_str_eq(a->name, b->name) && a->state == b->state
           && a->since == b->since && a->failures == b->failures
           && a->open_until == b->open_until && a->due == b->due
           && a->waiting == b->waiting && a->in_flight == b->in_flight
           && a->oldest_due == b->oldest_due
           && memcmp(a->counts, b->counts, sizeof(a->counts)) == 0
           && memcmp(a->windows, b->windows, sizeof(a->windows)) == 0
           && a->error_at == b->error_at
           && sm_str_eq(a->error_reason, b->error_reason)
           && sm_str_eq(a->error_detail, b->error_detail)
           && a->health == b->health && a->health_since == b->health_since
           && sm_str_eq(a->health_why, b->health_why)
           && a->certificate == b->certificate
           && sm_str_eq(a->pause_reason, b->pause_reason)
           && sm_str_eq(a->pause_actor, b->pause_actor);
}


static void
test_document(void)
{
    void               *block;
    size_t              size;
    sm_str_t            doc;
    sm_stats_t          stats, back, *opened;
    sm_feed_event_t     event;
    sm_stats_target_t   targets[3];

    memset(&stats, 0, sizeof(sm_stats_t));

    targets[0] = target("sms.\"\xc3\xa9\\\"", 1);
    targets[0].state = SM_STATS_PAUSED;
    targets[0].since = 1234;
    targets[0].pause_reason = sm_str_c("say \"no\"\n");
    targets[0].pause_actor = sm_str_c("anna");
    targets[1] = target("idle", 0);
    memset(targets[1].counts, 0, sizeof(targets[1].counts));
    targets[2] = target("push", 7);
    targets[2].state = SM_STATS_CIRCUIT_OPEN;
    targets[2].failures = 5;
    targets[2].open_until = 99;
    targets[2].error_at = 77;
    targets[2].error_reason = sm_str_c("error");
    targets[2].error_detail = sm_str_c("HTTP 503");
    targets[2].health = SM_HEALTH_DOWN;
    targets[2].health_since = 55;
    targets[2].health_why = sm_str_c("the last 3 attempts \"failed\"");
    targets[2].certificate = 88;
    targets[2].usual = 120000;

    stats.began = 42;
    stats.totals = target("", 9);
    stats.targets = targets;
    stats.n = 3;

    ok(sm_stats_idle(&targets[1]) && !sm_stats_idle(&targets[0]), "idle");

    doc = render(&stats);
    ok(doc.len && sm_stats_parse(&arena, doc, &back) == 0, "there and back");
    is_int(back.n, 2, "without what is idle");
    ok(same(&back.totals, &stats.totals), "totals");
    ok(same(&back.targets[0], &targets[2]), "one that is down");
    ok(same(&back.targets[1], &targets[0]), "a paused one");
    ok(back.omitted == 0 && back.began == 42, "all of it");

    ok(back.nevents == 0, "no events");
    ok(back.retention.day == 0, "and no retention");

    stats.retention.day = 20000;
    stats.retention.last = INT64_MAX;
    stats.retention.stripped = 3;
    stats.retention.forgotten = 4;
    stats.retention.unsure = 20001;

    doc = render(&stats);
    ok(sm_stats_parse(&arena, doc, &back) == 0
       && memcmp(&back.retention, &stats.retention, sizeof(stats.retention))
          == 0, "what retention has done");

    memset(&event, 0, sizeof(sm_feed_event_t));
    event.origin = 7;
    event.n = 3;
    event.at = 99;
    event.kind = sm_str_c("job_done");
    event.instance = sm_str_c("i1");
    event.text = sm_str_c("A job is done.");
    stats.events = &event;
    stats.nevents = 1;

    doc = render(&stats);
    ok(sm_stats_parse(&arena, doc, &back) == 0 && back.nevents == 1
       && back.events[0].n == 3 && sm_str_eq(back.events[0].text, event.text),
       "events go with it");

    size = sm_stats_pack_size(&back);
    block = malloc(size);
    sm_stats_pack(block, &back);
    opened = malloc(size);
    memcpy(opened, block, size);
    free(block);
    opened = sm_stats_open(opened);

    ok(opened->n == 2 && same(&opened->totals, &back.totals)
       && same(&opened->targets[0], &back.targets[0])
       && same(&opened->targets[1], &back.targets[1]), "as a block");
    free(opened);

    ok(sm_stats_parse(&arena, sm_str_c("{\"v\":2}"), &back) != 0
       && sm_stats_parse(&arena, sm_str_c("[]"), &back) != 0
       && sm_stats_parse(&arena, sm_str_c(""), &back) != 0
       && sm_stats_parse(&arena, sm_str_c("{\"totals\":{\"t\":\"\",\"s\":[1],"
                         "\"n\":[],\"c\":[],\"m\":[]},\"targets\":[],"
                         "\"omitted\":0,\"began\":0}"), &back) != 0,
       "what is none is refused");
}


/* what the next leader is told, and no other */

static void
test_limits(void)
{
    size_t       i;
    char        *names;
    sm_str_t     doc;
    sm_limit_t  *limits;
    sm_stats_t   stats, back;

    memset(&stats, 0, sizeof(sm_stats_t));
    stats.totals = target("", 9);

    doc = render(&stats);
    ok(sm_stats_parse(&arena, doc, &back) == 0 && back.nlimits == 0
       && !back.last, "no limits, and not the last one");

    limits = calloc(2000, sizeof(sm_limit_t));
    names = calloc(2000, 16);

    for (i = 0; i < 2000; i++) {
        limits[i].name.data = names + 16 * i;
        limits[i].name.len = sprintf(names + 16 * i, "\"%zu", i);
        limits[i].concurrency = i;
        limits[i].rules.rate = 6 + i;
        limits[i].rules.burst = 2;
        limits[i].rules.circuit.failures = 5;
        limits[i].rules.circuit.open = 1000000;
        limits[i].rules.circuit.max_open = 60000000;
        limits[i].units = 120000000 - i;
    }

    stats.limits = limits;
    stats.nlimits = 2;
    stats.last = 1;

    doc = render(&stats);
    ok(sm_stats_parse(&arena, doc, &back) == 0 && back.nlimits == 2
       && back.last, "there and back");
    ok(sm_str_eq(back.limits[1].name, limits[1].name)
       && back.limits[1].concurrency == 1 && back.limits[1].rules.rate == 7
       && back.limits[1].rules.burst == 2
       && back.limits[1].rules.circuit.failures == 5
       && back.limits[1].rules.circuit.open == 1000000
       && back.limits[1].rules.circuit.max_open == 60000000
       && back.limits[1].units == 119999999, "all of it");

    stats.nlimits = 2000;

    doc = render(&stats);
    ok(doc.len <= SM_LIMITS_MAX + 4096
       && sm_stats_parse(&arena, doc, &back) == 0
       && back.nlimits > 100 && back.nlimits < 2000,
       "of 2,000 as many as there is room for: %zu", back.nlimits);

    free(limits);
    free(names);

    ok(sm_stats_parse(&arena, sm_str_c("{\"totals\":{\"t\":\"\"},"
                      "\"targets\":[],\"omitted\":0,\"began\":0,"
                      "\"limits\":[{\"t\":\"x\",\"rate\":-1}]}"), &back)
       != 0, "what is none is refused");
}


static void
test_bound(void)
{
    int                 i;
    static char         names[5000][16];
    sm_str_t            doc;
    sm_stats_t          stats, back;
    sm_stats_target_t  *targets;

    targets = calloc(5000, sizeof(sm_stats_target_t));

    for (i = 0; i < 5000; i++) {
        (void) snprintf(names[i], sizeof(names[i]), "t-%d", i);
        targets[i] = target(names[i], 1000000 + i);
    }

    memset(&stats, 0, sizeof(sm_stats_t));
    stats.totals = target("", 1);
    stats.targets = targets;
    stats.n = 5000;

    doc = render(&stats);
    ok(doc.len > SM_STATS_MAX / 2 && doc.len <= SM_STATS_MAX,
       "5,000 targets are %zu bytes", doc.len);
    ok(sm_stats_parse(&arena, doc, &back) == 0, "which are a document");
    ok(back.n > 200 && back.n + back.omitted == 5000,
       "with %zu of them, and it says how many are missing", back.n);

    targets[4998].health = SM_HEALTH_DEGRADED;
    targets[4998].health_since = 1;
    targets[4999].state = SM_STATS_PAUSED;

    doc = render(&stats);
    ok(sm_stats_parse(&arena, doc, &back) == 0
       && sm_str_eq(back.targets[0].name, targets[4998].name)
       && sm_str_eq(back.targets[1].name, targets[4999].name),
       "what is ill is in it, however many there are");

    /* many are ill: the worst come first, however they are configured */

    for (i = 0; i < 5000; i++) {
        targets[i].state = SM_STATS_PAUSED;
        targets[i].health = i < 4998 ? SM_HEALTH_OK : SM_HEALTH_DEGRADED;
        targets[i].health_since = 1;
    }

    targets[4999].health = SM_HEALTH_DOWN;

    doc = render(&stats);
    ok(sm_stats_parse(&arena, doc, &back) == 0
       && back.omitted
       && sm_str_eq(back.targets[0].name, targets[4999].name)
       && sm_str_eq(back.targets[1].name, targets[4998].name),
       "down comes before degraded, and that before paused");

    free(targets);
}


/* history */


static uint32_t
last(const sm_series_t *s, sm_series_col_e column)
{
    return s->rows[(s->n - 1) % SM_SERIES_ROWS][column];
}


static void
test_series(void)
{
    int                 i;
    char                buf[256];
    size_t              k, n;
    sm_out_t            out;
    sm_str_t            text;
    sm_arena_t          arena = { NULL };
    sm_stats_target_t   t;
    static sm_series_t  s;

    memset(&t, 0, sizeof(sm_stats_target_t));

    t.counts[SM_STATS_ACCEPTED] = 500;
    sm_series_add(&s, 1, 10 * SECOND, &t, 1);
    is_int(last(&s, SM_SERIES_ACCEPTED), 0,
           "what was counted before anybody looked is of no row");

    t.counts[SM_STATS_ACCEPTED] = 510;
    t.counts[SM_STATS_ATTEMPT_ACCEPTED] = 3;
    t.counts[SM_STATS_ATTEMPT_ERROR] = 4;
    t.due = 8;
    t.oldest_due = 9 * SECOND;
    sm_series_add(&s, 1, 15 * SECOND, &t, 0);
    is_int(last(&s, SM_SERIES_ACCEPTED), 10, "what came since");
    is_int(last(&s, SM_SERIES_ATTEMPTS), 7, "attempts");
    is_int(last(&s, SM_SERIES_FAILED), 4, "those that failed");
    is_int(last(&s, SM_SERIES_DUE), 8, "what is due");
    is_int(last(&s, SM_SERIES_OLDEST), 9, "its age");

    t.counts[SM_STATS_ACCEPTED] = 530;
    sm_series_add(&s, 1, 25 * SECOND, &t, 0);
    is_int(last(&s, SM_SERIES_ACCEPTED), 20,
           "a document that nobody has read is in the next");

    memset(&t, 0, sizeof(sm_stats_target_t));
    t.counts[SM_STATS_ACCEPTED] = 4;
    sm_series_add(&s, 2, 30 * SECOND, &t, 0);
    is_int(last(&s, SM_SERIES_ACCEPTED), 4, "another leader counts from 0");

    for (i = 0; i < 2 * SM_SERIES_ROWS; i++) {
        t.counts[SM_STATS_ACCEPTED]++;
        sm_series_add(&s, 2, (100 + i) * SECOND, &t, 0);
    }

    sm_out_init(&out, buf, sizeof(buf));
    sm_series_out(&out, &s, 100 + 2 * SM_SERIES_ROWS - 2);
    is_mem(buf, out.last - buf, "[1538,0,1,0,0,0,0,0,0,0,0,0],"
           "[1539,0,1,0,0,0,0,0,0,0,0,0]", 57, "the newest are at the end");

    for (i = 0; i < SM_SERIES_ROWS - 1; i++) {
        if (sm_series_quiet(&s, 2, (2000 + i) * SECOND)) {
            break;
        }
    }

    is_int(i, SM_SERIES_ROWS - 1, "silent, but for a row of an hour ago");
    is_int(last(&s, SM_SERIES_AT), 2000 + SM_SERIES_ROWS - 2,
           "silence has rows, too");
    is_int(sm_series_quiet(&s, 2, (2000 + i) * SECOND), 1,
           "silent for an hour");
    sm_series_add(&s, 2, 3000 * SECOND, &t, 0);
    is_int(sm_series_quiet(&s, 2, 3001 * SECOND), 0, "not any more");

    sm_out_init_arena(&out, &arena);
    sm_series_out(&out, &s, 0);
    is_int(sm_out_done(&out, &text), 0, "all of it");

    for (k = 0, n = 0; k < text.len; k++) {
        n += text.data[k] == '[';
    }

    is_int(n, SM_SERIES_ROWS, "no more than an hour");
    sm_arena_free(&arena);
}


/* Counts go on from one leader to the next; what is not known begins anew. */

static void
test_series_leaders(void)
{
    sm_stats_target_t   t;
    static sm_series_t  s;

    memset(&t, 0, sizeof(sm_stats_target_t));

    t.counts[SM_STATS_ACCEPTED] = 500;
    sm_series_add(&s, 1, 10 * SECOND, &t, 1);
    t.counts[SM_STATS_ACCEPTED] = 507;
    sm_series_add(&s, 1, 15 * SECOND, &t, 0);
    is_int(last(&s, SM_SERIES_ACCEPTED), 7,
           "a leader that goes on with the counts of the one before");

    t.counts[SM_STATS_ACCEPTED] = 3;
    sm_series_add(&s, 1, 20 * SECOND, &t, 0);
    is_int(last(&s, SM_SERIES_ACCEPTED), 3,
           "one that does not have them of this target");

    (void) sm_series_quiet(&s, 1, 25 * SECOND);
    is_int(last(&s, SM_SERIES_ACCEPTED), 0, "a document without the target");
    t.counts[SM_STATS_ACCEPTED] = 5;
    sm_series_add(&s, 1, 30 * SECOND, &t, 0);
    is_int(last(&s, SM_SERIES_ACCEPTED), 2, "and what came meanwhile");

    (void) sm_series_quiet(&s, 9, 35 * SECOND);
    t.counts[SM_STATS_ACCEPTED] = 6;
    sm_series_add(&s, 9, 40 * SECOND, &t, 0);
    is_int(last(&s, SM_SERIES_ACCEPTED), 6, "counts that began anew");
}


/* A clock that is set back: the last row, or a new history. */

static void
test_series_clock(void)
{
    sm_stats_target_t   t;
    static sm_series_t  s;

    memset(&t, 0, sizeof(sm_stats_target_t));

    t.counts[SM_STATS_ACCEPTED] = 1;
    sm_series_add(&s, 1, 1000 * SECOND, &t, 0);
    t.counts[SM_STATS_ACCEPTED] = 3;
    sm_series_add(&s, 1, 1100 * SECOND, &t, 0);
    t.counts[SM_STATS_ACCEPTED] = 7;
    sm_series_add(&s, 1, 1040 * SECOND, &t, 0);
    ok(s.n == 2 && last(&s, SM_SERIES_AT) == 1100
       && last(&s, SM_SERIES_ACCEPTED) == 6, "set back a little: one row");

    t.counts[SM_STATS_ACCEPTED] = 15;
    sm_series_add(&s, 1, 1039 * SECOND, &t, 0);
    ok(s.n == 1 && s.told == 1 && last(&s, SM_SERIES_AT) == 1039
       && last(&s, SM_SERIES_ACCEPTED) == 8, "by more: it begins anew");

    t.counts[SM_STATS_ACCEPTED] = 16;
    sm_series_add(&s, 1, 1044 * SECOND, &t, 0);
    ok(s.n == 2 && last(&s, SM_SERIES_ACCEPTED) == 1, "and goes on");
}


/* What the store has of the epochs of counts, and what it does not say. */

static void
test_from(void)
{
    sm_str_t        doc;
    sm_stats_t      stats, back;
    sm_stats_row_t  row;

    memset(&stats, 0, sizeof(sm_stats_t));
    memset(&row, 0, sizeof(sm_stats_row_t));

    stats.totals = target("", 9);
    stats.counted = 3;
    stats.goes_on = 1234;

    row.doc = render(&stats);
    row.epoch = 5;
    row.at = 5678;

    ok(sm_stats_read(&arena, &row, &back) == 0 && back.epoch == 5
       && back.at == 5678 && back.counted == 3 && back.goes_on == 1234,
       "the counts began in an epoch before, and go on");

    doc = row.doc;
    memcpy(strstr((char *) doc.data, "\"from\""), "\"more\"", 6);

    ok(sm_stats_read(&arena, &row, &back) == 0 && back.counted == 5
       && back.goes_on == 0, "without a word, they began with the epoch");

    row.doc = sm_str_c("{}");
    is_int(sm_stats_read(&arena, &row, &back), -1, "what is none is refused");
}


int
main(void)
{
    size_t  i;

    needs_no_store();

    test_windows();

    for (i = 0; i < NCLOCKS; i++) {
        test_young(clocks[i]);
    }

    test_percentiles();
    test_document();
    test_limits();
    test_bound();
    test_series();
    test_series_leaders();
    test_series_clock();
    test_from();

    sm_arena_free(&arena);

    return done_testing();
}
