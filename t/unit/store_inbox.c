
/*
 * The inbox on every store: what is read, what becomes of each row, and that
 * nothing happens twice.  Broken by: a fence that is not looked at; a row that
 * is moved and not removed, or removed and not moved; a row of another manager;
 * a place that is remembered, so that a late commit is missed; a page without a
 * bound; a payload that is too large and read nevertheless; a conflict that is
 * dropped without a trace; a row that fails others.
 */

#include "sql_clock.h"


static const sm_fence_t  a1 = { sm_str("a"), 1 };
static const sm_fence_t  b1 = { sm_str("b"), 1 };


static void
leave(fixture_t *f, int seq, const char *lease_name, const char *id,
    const char *target, const char *payload, const char *not_before)
{
    sql(f, "INSERT INTO submission_inbox (seq, lease_name, intent_id, "
        "submission_target, payload, not_before, created_at) "
        "VALUES (%d, '%s', '%s', '%s', '%s', %s, 1000000)", seq, lease_name, id,
        target, payload, not_before ? not_before : "NULL");
}


static const char *
inbox(fixture_t *f)
{
    const char  *text;

    text = sql_text(f, "SELECT group_concat(seq, ' ') FROM (SELECT seq FROM "
                    "submission_inbox ORDER BY seq) AS i");

    return text ? text : "";
}


/* seq, reason and payload of each refusal */

static const char *
refused(fixture_t *f)
{
    const char  *text;

    text = sql_text(f, "SELECT group_concat(t, ', ') FROM (SELECT seq || ' ' || "
                    "intent_id || ' ' || reason || ' ' || length(payload) AS t "
                    "FROM submission_inbox_refused ORDER BY seq) AS i");

    return text ? text : "";
}


static const char *
intents(fixture_t *f)
{
    const char  *text;

    text = sql_text(f, "SELECT group_concat(t, ', ') FROM (SELECT intent_id || "
                    "' ' || submission_target || ' ' || status || ' ' || payload "
                    "AS t FROM submission_intents ORDER BY intent_id) AS i");

    return text ? text : "";
}


static void
page(fixture_t *f, sm_inbox_page_t *p, size_t limit, size_t bytes, size_t max)
{
    memset(p, 0, sizeof(sm_inbox_page_t));

    p->from = SM_INBOX_BEGINNING;
    p->limit = limit;
    p->bytes = bytes;
    p->max_payload = max;

    must(sm_store_inbox_page(&f->store, new_call(f), &a1, p) == 0);
}


/* as a worker decides, with two targets */

static void
decide(fixture_t *f, sm_inbox_page_t *p)
{
    size_t           i;
    sm_inbox_row_t  *row;

    for (i = 0; i < p->n; i++) {
        row = &p->rows[i];

        must(sm_inbox_check(&f->call.arena, row, f->call.now) == 0);

        if (row->reason.data) {
            continue;
        }

        if (sm_str_eq(row->target, sms.target)) {
            row->submit.contract = &sms;

        } else if (sm_str_eq(row->target, push.target)) {
            row->submit.contract = &push;

        } else {
            sm_inbox_refuse(row, "invalid_request", "no such target");
        }
    }
}


/* the call keeps its memory, which has the page */

static int
move(fixture_t *f, const sm_fence_t *fence, sm_inbox_page_t *p)
{
    int  rc;

    f->call.error[0] = '\0';

    rc = sm_store_inbox_move(&f->store, &f->call, fence, p->max_payload,
                             p->rows, p->n);
    if (rc != 0) {
        diag("%s", f->call.error);
    }

    return rc;
}


/* the outcomes, a digit each */

static const char *
outcomes(const sm_inbox_page_t *p)
{
    size_t       i;
    static char  text[64];

    for (i = 0; i < p->n; i++) {
        text[i] = '0' + p->rows[i].outcome;
    }

    text[i] = '\0';

    return text;
}


static void
test_rows(void)
{
    fixture_t        f;
    sm_inbox_page_t  p;

    leader_open(&f, HOUR);

    must(outcome(&f, "there", &sms, "{\"a\":1}") == SM_SUBMIT_CREATED);
    must(outcome(&f, "other", &sms, "{\"a\":1}") == SM_SUBMIT_CREATED);

    leave(&f, 1, "main", "new", "sms", " {\"a\": 1} ", NULL);
    leave(&f, 2, "main", "  there ", "sms", "{\"a\":1}", NULL);
    leave(&f, 3, "main", "other", "sms", "{\"a\":2}", NULL);
    leave(&f, 4, "main", "other", "push", "{\"a\":1}", NULL);
    leave(&f, 5, "main", "", "sms", "1", NULL);
    leave(&f, 6, "main", "x", "none", "1", NULL);
    leave(&f, 7, "main", "bad", "sms", "[1,x]", NULL);
    leave(&f, 8, "main", "two", "sms", "1,2", NULL);
    leave(&f, 9, "main", "empty", "push", "", NULL);
    leave(&f, 10, "main", "twice", "sms", "1", NULL);
    leave(&f, 11, "main", "twice", "sms", "1", NULL);
    leave(&f, 12, "main", "twice", "sms", "2", NULL);
    leave(&f, 13, "else", "notmine", "sms", "1", NULL);
    leave(&f, 14, "main", "large", "sms", "\"0123456789012345678901\"", NULL);

    page(&f, &p, 100, 1000, 20);
    is_int(p.n, 13, "all of this manager");
    is_int(p.more, 0, "there are no more");
    is_int(f.call.now, START * 1000, "the time is told");
    is_int(p.rows[0].seq, 1, "the first");
    is_mem(p.rows[0].payload.data, p.rows[0].payload.len, " {\"a\": 1} ", 10,
           "its payload");
    is_int(p.rows[12].too_large, 1, "one is too large");
    is_int(p.rows[12].payload.len, 0, "and its payload is not read");

    decide(&f, &p);
    ok(move(&f, &b1, &p) != 0, "another one cannot move them");
    is_int(f.call.status, SM_STORE_LEASE_LOST, "the lease is not its own");
    is_str(inbox(&f), "1 2 3 4 5 6 7 8 9 10 11 12 13 14", "all is as it was");
    is_str(refused(&f), "", "nothing is refused");

    page(&f, &p, 100, 1000, 20);
    decide(&f, &p);
    ok(move(&f, &a1, &p) == 0, "they are moved");
    is_str(outcomes(&p), "1233333311233", "each has an outcome");
    is_str(inbox(&f), "13", "what is left is another manager's");
    is_str(intents(&f),
         "empty push pending , new sms pending {\"a\": 1}, "
         "other sms pending {\"a\":1}, there sms pending {\"a\":1}, "
         "twice sms pending 1", "the intents");
    is_str(refused(&f),
         "3 other idempotency_conflict 7, "
         "4 other idempotency_conflict 7, 5  invalid_request 1, "
         "6 x invalid_request 1, 7 bad invalid_request 5, "
         "8 two invalid_request 3, 12 twice idempotency_conflict 1, "
         "14 large payload_too_large 20", "the refusals");
    is_str(sql_text(&f, "SELECT detail FROM submission_inbox_refused "
                  "WHERE seq = 7"), "\"payload\" is not JSON: malformed JSON "
           "at byte 4: lexical error: invalid char in json text.",
           "in words, and where");
    is_str(sql_text(&f, "SELECT detail FROM submission_inbox_refused "
                  "WHERE seq = 3"), "the id belongs to another intent",
         "also of a conflict");

    /* what was moved once is gone: the same page again does nothing */

    ok(move(&f, &a1, &p) == 0, "once more");
    is_str(outcomes(&p), "0000000000000", "nothing is there to be moved");
    is_str(sql_text(&f, "SELECT count(*) FROM submission_inbox_refused"), "8",
         "and nothing is refused twice");

    fixture_done(&f);
}


/* an id of an occurrence belongs to the schedule here, too */

static void
test_reserved(void)
{
    fixture_t        f;
    sm_inbox_page_t  p;

    leader_open(&f, HOUR);
    put_schedule(&f, "s");

    leave(&f, 1, "main", "s@2026-01-01T00:00:00Z", "sms", "1", NULL);
    leave(&f, 2, "main", "t@2026-01-01T00:00:00Z", "sms", "1", NULL);
    leave(&f, 3, "main", " s@2026-01-01T00:00:00Z", "sms", "2", NULL);

    page(&f, &p, 100, 1000, 20);
    decide(&f, &p);
    ok(move(&f, &a1, &p) == 0, "they are moved");
    is_str(outcomes(&p), "313", "those of the schedule are refused");
    is_str(intents(&f), "t@2026-01-01T00:00:00Z sms pending 1", "one is there");
    is_str(refused(&f), "1 s@2026-01-01T00:00:00Z reserved_id 1, "
           "3  s@2026-01-01T00:00:00Z reserved_id 1", "with the code of POST");
    is_str(sql_text(&f, "SELECT detail FROM submission_inbox_refused "
                    "WHERE seq = 1"), "the id belongs to a schedule", "in words");

    fixture_done(&f);
}


/* a row with a lower seq that is committed later */

static void
test_late(void)
{
    fixture_t        f;
    sm_inbox_page_t  p;

    leader_open(&f, HOUR);

    leave(&f, 20, "main", "early", "sms", "1", NULL);
    page(&f, &p, 10, 1000, 1000);
    decide(&f, &p);
    must(move(&f, &a1, &p) == 0);

    leave(&f, 10, "main", "late", "sms", "1", NULL);
    page(&f, &p, 10, 1000, 1000);
    is_int(p.n, 1, "it is found");
    decide(&f, &p);
    must(move(&f, &a1, &p) == 0);
    is_str(intents(&f), "early sms pending 1, late sms pending 1", "and moved");

    fixture_done(&f);
}


static void
test_bounds(void)
{
    int              i;
    char             id[16];
    fixture_t        f;
    sm_inbox_page_t  p;

    leader_open(&f, HOUR);

    for (i = 1; i <= 10; i++) {
        (void) snprintf(id, sizeof(id), "r%d", i);
        leave(&f, i, "main", id, "sms", "\"45678901\"", NULL);
    }

    page(&f, &p, 4, 1000, 1000);
    is_int(p.n, 4, "as many rows as are asked for");
    is_int(p.more, 1, "there may be more");

    page(&f, &p, 100, 25, 1000);
    is_int(p.n, 3, "a row that begins after the bytes waits");
    is_int(p.more, 1, "there are more");

    page(&f, &p, 100, 1, 1000);
    is_int(p.n, 1, "there is always one");

    page(&f, &p, 100, 1000, 1000);
    is_int(p.n, 10, "all");
    is_int(p.more, 0, "and no more");

    fixture_done(&f);
}


static void
test_not_before(void)
{
    char             at[32];
    fixture_t        f;
    sm_inbox_page_t  p;

    leader_open(&f, HOUR);

    (void) snprintf(at, sizeof(at), "%lld", (START + 60000) * 1000);
    leave(&f, 1, "main", "later", "sms", "1", at);
    (void) snprintf(at, sizeof(at), "%lld", (START - 60000) * 1000);
    leave(&f, 2, "main", "past", "sms", "1", at);
    (void) snprintf(at, sizeof(at), "%lld",
                    (START + 366 * INT64_C(86400000)) * 1000);
    leave(&f, 3, "main", "far", "sms", "1", at);

    page(&f, &p, 10, 1000, 1000);
    decide(&f, &p);
    must(move(&f, &a1, &p) == 0);

    is_str(outcomes(&p), "113", "a time may not be far ahead");
    is_str(sql_text(&f, "SELECT next_attempt_at / 1000 - %lld FROM "
                  "submission_intents WHERE intent_id = 'later'", START),
         "60000", "it is due then");
    is_str(sql_text(&f, "SELECT next_attempt_at / 1000 - %lld FROM "
                  "submission_intents WHERE intent_id = 'past'", START),
         "0", "it is due now");
    is_str(sql_text(&f, "SELECT not_before / 1000 - %lld FROM "
                  "submission_intents WHERE intent_id = 'past'", START),
         "-60000", "as it was given");

    fixture_done(&f);
}


/* what SQLite lets in: any type in any column, and no encoding at all */

static void
test_poison_sqlite(void)
{
    fixture_t        f;
    sm_inbox_page_t  p;

    leader_open(&f, HOUR);

    sql(&f, "INSERT INTO submission_inbox (lease_name, intent_id, "
        "submission_target, payload, not_before) VALUES "
        "('main', x'ff00fe', 'sms', '1', NULL), "
        "('main', 'bytes', 'sms', x'22ff22', NULL), "
        "('main', 'number', 'sms', 5, NULL), "
        "('main', 'text', 'sms', '\"x\"', NULL), "
        "('main', 'when', 'sms', '1', 'tomorrow'), "
        "('main', 'zero', 'sms', zeroblob(3000000), NULL), "
        "('main', 'long', 'sms', '1', NULL)");
    sql(&f, "UPDATE submission_inbox SET intent_id = hex(zeroblob(100000)) "
        "WHERE intent_id = 'long'");

    page(&f, &p, 100, 1000, 1000);
    is_int(p.n, 7, "all are read");
    decide(&f, &p);
    must(move(&f, &a1, &p) == 0);
    is_str(outcomes(&p), "3311333", "what is valid is moved");
    is_str(intents(&f), "number sms pending 5, text sms pending \"x\"",
         "the intents");
    is_str(inbox(&f), "", "and nothing is left");
    is_str(sql_text(&f, "SELECT max(length(intent_id)) FROM "
                  "submission_inbox_refused"), "200000",
         "a refusal has all of the id");
    is_str(sql_text(&f, "SELECT max(length(payload)) FROM "
                  "submission_inbox_refused"), "3",
         "and nothing of a large payload");

    fixture_done(&f);
}


/* a page behind rows that were left, and one from the beginning */

static void
test_from(void)
{
    fixture_t        f;
    sm_inbox_page_t  p;

    leader_open(&f, HOUR);

    leave(&f, -7, "main", "negative", "sms", "1", NULL);
    leave(&f, 3, "main", "three", "sms", "1", NULL);
    leave(&f, 5, "main", "five", "sms", "1", NULL);

    page(&f, &p, 2, 1000, 1000);
    is_int(p.n, 2, "a page from the beginning");
    is_int(p.rows[0].seq, -7, "has the first row, whatever its seq");
    is_int(p.last, 3, "and says where it ends");
    is_int(p.more, 1, "it is full");

    p.from = p.last + 1;
    must(sm_store_inbox_page(&f.store, new_call(&f), &a1, &p) == 0);
    is_int(p.n, 1, "the next page");
    is_int(p.rows[0].seq, 5, "begins there");
    is_int(p.more, 0, "and is not full");

    fixture_done(&f);
}


/* a row that the store refuses for its data */

static void
test_refused_alone(void)
{
    int              i;
    char             id[16];
    fixture_t        f;
    sm_inbox_page_t  p;

    leader_open(&f, HOUR);

    for (i = 1; i <= 9; i++) {
        (void) snprintf(id, sizeof(id), "r%d", i);
        leave(&f, i, "main", id, "sms", "1", NULL);
    }

    sql_refuse(&f, "bad_inbox", "BEFORE INSERT", "submission_intents",
               "new.intent_id = 'r5'", "not this one");

    page(&f, &p, 100, 1000, 1000);
    decide(&f, &p);
    must(move(&f, &a1, &p) == 0);
    is_str(outcomes(&p), "111131111", "one is refused, and no other");
    is_str(refused(&f), "5 r5 internal_error 1", "with its reason");
    is_str(inbox(&f), "", "and none is left");

    fixture_done(&f);
}


int
main(void)
{
    /* there, tests cannot choose a seq: t/cluster/120-inbox.t is for it */

    if (on_babelfish()) {
        skip_all("the keys of this table are the server's own");
    }

    sql_clock_start();

    test_rows();
    test_reserved();
    test_late();
    test_bounds();
    test_not_before();

    if (on_sqlite()) {
        test_poison_sqlite();
    }

    test_from();
    test_refused_alone();

    return done_testing();
}
