
/*
 * The leader's history, told by the minute and put before what a young instance
 * has seen itself.  Broken by: a count that is lost or told twice, rows that are
 * out of order or of one time, what happened in the meantime and is overwritten,
 * a gap that becomes shorter, a ring that has more than an hour.
 */

#include "sm_history.h"
#include "tap.h"


#define START    1770033600u            /* a whole minute */
#define SECOND   1000000


static sm_series_t   leader, young;
static sm_history_t  history;


/* a document of the leader, in which so many were submitted so far */

static void
add(sm_series_t *s, uint32_t at, int64_t submitted, int64_t due, unsigned first)
{
    sm_stats_target_t  t;

    memset(&t, 0, sizeof(t));

    t.counts[SM_STATS_SUBMITTED] = submitted;
    t.due = due;

    sm_series_add(s, 1, (int64_t) at * SECOND, &t, first);
}


static uint64_t
sum(const sm_series_t *s, uint32_t from, uint32_t to)
{
    uint64_t         n, total;
    const uint32_t  *row;

    total = 0;

    for (n = s->n > SM_SERIES_ROWS ? s->n - SM_SERIES_ROWS : 0; n < s->n; n++) {
        row = s->rows[n % SM_SERIES_ROWS];

        if (row[SM_SERIES_AT] >= from && row[SM_SERIES_AT] < to) {
            total += row[SM_SERIES_SUBMITTED];
        }
    }

    return total;
}


static int
ordered(const sm_series_t *s)
{
    uint64_t  n;

    for (n = 1; n < s->n; n++) {
        if (s->rows[n][SM_SERIES_AT] <= s->rows[n - 1][SM_SERIES_AT]) {
            return 0;
        }
    }

    return 1;
}


/* what is told and read again */

static void
told(sm_str_t name, size_t size, const char *why)
{
    char          *buf;
    size_t         n;
    sm_out_t       out;
    sm_str_t       text;
    sm_arena_t     arena;
    sm_history_t  *histories;

    memset(&arena, 0, sizeof(arena));

    buf = malloc(SM_HISTORY_MAX);
    sm_out_init(&out, buf, size);
    history.name = name;

    sm_out_c(&out, "[");
    sm_history_out(&out, &history);
    sm_out_c(&out, "]");

    text.data = out.start;
    text.len = out.last - out.start;

    is_int(sm_history_parse(&arena, text, &histories, &n), 0, "%s: read", why);

    if (size < SM_HISTORY_MAX || history.n == 0) {
        is_int(n, 0, "%s: nothing", why);

    } else {
        is_int(n, 1, "%s: one", why);
        ok(sm_str_eq(histories[0].name, name), "%s: its name", why);
        is_int(histories[0].from, history.from, "%s: from", why);
        is_int(histories[0].n, history.n, "%s: minutes", why);
        is_mem((char *) histories[0].rows,
               history.n * sizeof(history.rows[0]), (char *) history.rows,
               history.n * sizeof(history.rows[0]), "%s: rows", why);
    }

    sm_arena_free(&arena);
    free(buf);
}


static void
refused(const char *text)
{
    size_t         n;
    sm_arena_t     arena;
    sm_history_t  *histories;

    memset(&arena, 0, sizeof(arena));
    is_int(sm_history_parse(&arena, sm_str_c(text), &histories, &n), -1,
           "refused: %s", text);
    sm_arena_free(&arena);
}


int
main(void)
{
    uint32_t  at;

    static const char  *wrong[] = {
        "", "{}", "[1]", "[{}]", "[{\"target\":\"a\",\"from\":-1,\"rows\":[]}]",
        "[{\"target\":\"a\",\"from\":1,\"rows\":[[1]]}]",
        "[{\"target\":\"a\",\"from\":1,\"rows\":[\"x\"]}]",
        "[{\"target\":\"a\",\"from\":1,\"rows\":[[1,2,3,4,5,6,7,8,9,10,-1]]}]",
        "[{\"target\":\"a\",\"from\":1,\"rows\":[[1,2,3,4,5,6,7,8,9,10,11,4096]"
        "]}]"
    };

    needs_no_store();

    /* ten minutes, three of which are empty */

    for (at = START; at < START + 600; at += 5) {
        add(&leader, at, at < START + 300 || at >= START + 480
                         ? (at - START) / 5 * 7 : 60 * 7,
            at < START + 300 ? 3 : 0, 0);
    }

    memset(&history, 0xff, sizeof(history));
    sm_history_sum(&history, &leader);

    is_int(history.from, START, "the first minute");
    is_int(history.n, 10, "ten minutes");
    is_int(history.rows[0][SM_SERIES_SUBMITTED], 11 * 7, "counts are added");
    is_int(history.rows[1][SM_SERIES_SUBMITTED], 12 * 7, "each once");
    is_int(history.rows[1][SM_SERIES_DUE], 3, "others are not");
    is_int(history.rows[6][SM_SERIES_SUBMITTED], 0, "nothing happened");

    told(sm_str_c(""), SM_HISTORY_MAX, "all");
    told(sm_str_c("a\"b\\\xc3\xa9"), SM_HISTORY_MAX, "a target");
    told(sm_str_c("b"), 100, "no room");

    /* an instance that has seen the last half minute */

    for (at = START + 570; at < START + 600; at += 5) {
        add(&young, at, (at - START) / 5 * 7, 9, at == START + 570);
    }

    sm_history_inherit(&young, &history, (int64_t) (START + 595) * SECOND);

    ok(ordered(&young), "in the order of time");
    is_int(young.n, 120, "a row every five seconds");
    is_int(young.told, young.n, "with news up to the last one");
    is_int(young.rows[0][SM_SERIES_AT], START, "from the beginning");
    is_int(sum(&young, START, START + 600), sum(&leader, START, START + 600),
           "nothing is lost, and nothing told twice");
    is_int(sum(&young, START, START + 540), sum(&leader, START, START + 540),
           "also before the minute in which it began");
    is_int(sum(&young, START + 575, START + 600), 5 * 7,
           "what it has seen is what it was");
    is_int(young.rows[119][SM_SERIES_DUE], 9, "to the last row");
    is_int(young.rows[30][SM_SERIES_DUE], 3, "and what the leader saw");
    is_int(young.rows[80][SM_SERIES_SUBMITTED], 0, "a gap stays one");

    add(&young, START + 600, 120 * 7 + 5, 1, 0);
    is_int(young.rows[120][SM_SERIES_SUBMITTED], 7 + 5, "it goes on");

    /* what the leader does not know is told, and is no row */

    memset(&leader, 0, sizeof(leader));
    memset(&young, 0, sizeof(young));

    for (at = START; at < START + 600; at += 5) {
        if (at < START + 80 || at >= START + 290) {
            add(&leader, at, (at - START) / 5 * 7, 3, at == START + 290);
        }
    }

    memset(&history, 0xff, sizeof(history));
    sm_history_sum(&history, &leader);
    told(sm_str_c(""), SM_HISTORY_MAX, "an outage");

    sm_history_inherit(&young, &history, (int64_t) (START + 600) * SECOND);

    ok(ordered(&young), "an outage: in order");
    is_int(young.n, 16 + 61, "an outage: as many rows as there were");
    is_int(young.rows[15][SM_SERIES_AT], START + 75, "the last one before");
    is_int(young.rows[16][SM_SERIES_AT], START + 295, "the first one after");
    is_int(sum(&young, START + 60, START + 80),
           sum(&leader, START + 60, START + 80), "before it");
    is_int(sum(&young, START + 290, START + 300),
           sum(&leader, START + 290, START + 300), "and after it");

    /* a document that was late, and one that was missed */

    memset(&leader, 0, sizeof(leader));
    memset(&young, 0, sizeof(young));

    for (at = START; at < START + 64; at += at == START + 24 ? 12 : 6) {
        add(&leader, at, (at - START) * 7, 3, 0);
    }

    sm_history_sum(&history, &leader);
    is_int(history.rows[0][SM_SERIES_AT], 0xfff, "nothing is missing");

    /* an instance has missed the document before a minute ends */

    memset(&leader, 0, sizeof(leader));
    memset(&young, 0, sizeof(young));

    for (at = START; at < START + 100; at += 5) {
        add(&leader, at, (at - START) / 5 * 7, 3, 0);

        if (at >= START + 30 && at != START + 55) {
            add(&young, at, (at - START) / 5 * 7, 3, at == START + 30);
        }
    }

    sm_history_sum(&history, &leader);
    sm_history_inherit(&young, &history, (int64_t) (START + 95) * SECOND);

    is_int(sum(&young, START, START + 100), sum(&leader, START, START + 100),
           "missed: nothing is told twice");
    ok(ordered(&young), "missed: in order");

    /* two documents of one second */

    memset(&young, 0, sizeof(young));

    add(&young, START, 7, 3, 0);
    add(&young, START + 5, 14, 3, 0);
    add(&young, START + 5, 16, 5, 0);

    is_int(young.n, 2, "one second is one row");
    is_int(young.rows[1][SM_SERIES_SUBMITTED], 9, "with what both have counted");
    is_int(young.rows[1][SM_SERIES_DUE], 5, "and what was there in the end");

    /* a full ring */

    memset(&leader, 0, sizeof(leader));
    memset(&young, 0, sizeof(young));

    for (at = START; at < START + 4500; at += 5) {
        add(&leader, at, at, 1, at == START);
    }

    add(&young, at - 5, 100, 1, 1);
    sm_history_sum(&history, &leader);
    ok(history.n <= SM_HISTORY_MINUTES, "at most an hour");
    told(sm_str_c(""), SM_HISTORY_MAX, "an hour");

    sm_history_inherit(&young, &history, (int64_t) (at - 5) * SECOND);
    ok(young.n > SM_SERIES_ROWS - 12 && young.n <= SM_SERIES_ROWS,
       "an hour is there: %d", (int) young.n);
    ok(ordered(&young), "in order");
    is_int(sum(&young, START + 1200, START + 4200),
           sum(&leader, START + 1200, START + 4200), "all of it");

    young.n = SM_SERIES_ROWS;
    at = young.rows[0][SM_SERIES_AT];
    sm_history_inherit(&young, &history, (int64_t) (START + 4495) * SECOND);
    is_int(young.rows[0][SM_SERIES_AT], at, "who has an hour takes nothing");

    /* nothing at all */

    memset(&leader, 0, sizeof(leader));
    memset(&young, 0, sizeof(young));
    sm_history_sum(&history, &leader);
    told(sm_str_c(""), SM_HISTORY_MAX, "none");
    sm_history_inherit(&young, &history, (int64_t) START * SECOND);
    is_int(young.n, 0, "nothing to take");

    for (at = 0; at < sm_nelts(wrong); at++) {
        refused(wrong[at]);
    }

    return done_testing();
}
