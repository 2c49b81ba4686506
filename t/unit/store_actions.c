
/*
 * What people do to intents: cancel, replay, the payload and the audit, each
 * outcome of each, and a turn that meets a cancel at the same row.  Broken by:
 * a cancel of what is in flight or has ended; a turn that begins what was
 * canceled after it had looked; a change without its entry in the audit, or an
 * entry without a change; a replay that is made twice, also by two at once, or
 * that has other bytes; an intent that does not tell how it was replayed; a
 * page of the audit that skips or repeats.
 */

#include <stdatomic.h>

#include "real_time.h"
#include "store.h"


static const sm_fence_t  a1 = { sm_str("a"), 1 };

static const sm_actor_t  ann = { sm_str("ann"), sm_str("192.0.2.7") };
static const sm_actor_t  nobody = { sm_str(""), sm_str("") };


/* ids of 200 characters, the longest that there are */

static char  longest[201];


static void
open_leader(fixture_t *f)
{
    fixture_open(f);
    lead(f, "a", 3600000, 1);
}


static void
put(fixture_t *f, const char *id, const sm_contract_t *contract)
{
    must(outcome(f, id, contract, id) == SM_SUBMIT_CREATED);
}


static void
end(fixture_t *f, const char *id, const char *status)
{
    sql(f, "UPDATE submission_intents SET status = '%s', "
        "completed_at = created_at, next_attempt_at = NULL, "
        "inflight_epoch = NULL, inflight_holder = NULL, inflight_at = NULL "
        "WHERE intent_id = '%s'", status, id);
}


static sm_begin_e
begin(fixture_t *f, const char *id)
{
    sm_begin_row_t  b;

    memset(&b, 0, sizeof(b));
    b.id = sm_str_c(id);

    must(sm_store_attempts_begin(&f->store, new_call(f), &a1, &b, 1) == 0);

    return b.outcome;
}


static void
cancel_row(sm_cancel_row_t *row, const char *id, const sm_actor_t *actor)
{
    memset(row, 0, sizeof(sm_cancel_row_t));

    row->id = sm_str_c(id);
    row->actor = *actor;
}


static int
cancel(fixture_t *f, const char *id, sm_cancel_row_t *row)
{
    cancel_row(row, id, &ann);

    return sm_store_intents_cancel(&f->store, new_call(f), row, 1) == 0
           ? (int) row->outcome : -1;
}


static const char *
state(fixture_t *f, const char *id)
{
    return sql_text(f, "SELECT status || ' ' || attempt_count || ' ' || "
                    "coalesce(inflight_holder, '-') || ' ' || "
                    "CASE WHEN next_attempt_at IS NULL THEN '-' "
                    "ELSE 'due' END || ' ' || "
                    "CASE WHEN completed_at IS NULL THEN '-' "
                    "WHEN completed_at - last_modified_at < 1000 "
                    "AND last_modified_at - completed_at < 1000 THEN 'now' "
                    "ELSE 'then' END "
                    "FROM submission_intents WHERE intent_id = '%s'", id);
}


static void
test_cancel(void)
{
    fixture_t        f;
    sm_page_t        page;
    sm_cancel_row_t  row, rows[4];

    open_leader(&f);

    put(&f, "x", &sms);

    is_int(cancel(&f, "none", &row), SM_CANCEL_NOT_FOUND, "there is none");
    is_int(cancel(&f, "x", &row), SM_CANCEL_DONE, "a pending one");
    is_int(row.intent.status, SM_STATUS_CANCELED, "as it is then");
    ok(row.intent.completed_at >= row.intent.created_at
       && row.intent.next_attempt_at == 0, "it has ended");
    is_str(state(&f, "x"), "canceled 0 - - now", "in the store");
    is_int(begin(&f, "x"), SM_BEGIN_GONE, "no attempt of it begins");

    memset(&page, 0, sizeof(page));
    page.order = SM_PAGE_MODIFIED;
    page.limit = 10;
    must(sm_store_queue_page(&f.store, new_call(&f), &a1, &page) == 0);
    is_int(page.n, 0, "the queue does not have it");

    is_int(cancel(&f, "x", &row), SM_CANCEL_SAME, "again");
    is_int(row.intent.status, SM_STATUS_CANCELED, "and it is the same");

    put(&f, "y", &sms);
    is_int(begin(&f, "y"), SM_BEGIN_BEGUN, "another is begun");
    is_int(cancel(&f, "y", &row), SM_CANCEL_IN_FLIGHT, "and in flight");
    is_int(row.intent.status, SM_STATUS_PENDING, "it is pending");
    is_str(state(&f, "y"), "pending 0 a - -", "as it was");

    end(&f, "y", "accepted");
    is_int(cancel(&f, "y", &row), SM_CANCEL_TERMINAL, "it has ended");
    is_int(row.intent.status, SM_STATUS_ACCEPTED, "how");

    is_str(audit_text(&f), "ann 192.0.2.7 cancel x -",
           "what was changed is in the audit, once");

    put(&f, "z", &sms);
    put(&f, "w", &push);

    cancel_row(&rows[0], "w", &nobody);
    cancel_row(&rows[1], "none", &nobody);
    cancel_row(&rows[2], "w", &nobody);
    cancel_row(&rows[3], "z", &nobody);

    must(sm_store_intents_cancel(&f.store, new_call(&f), rows, 4) == 0);
    is_int(rows[0].outcome, SM_CANCEL_DONE, "the first of a batch");
    is_int(rows[1].outcome, SM_CANCEL_NOT_FOUND, "one that is not there");
    ok(rows[2].outcome != SM_CANCEL_IN_FLIGHT
       && rows[2].outcome != SM_CANCEL_TERMINAL
       && rows[2].intent.status == SM_STATUS_CANCELED, "the same again");
    is_int(rows[3].outcome, SM_CANCEL_DONE, "the last");
    is_mem(rows[3].intent.id.data, rows[3].intent.id.len, "z", 1, "its own");

    is_str(audit_text(&f),
           "ann 192.0.2.7 cancel x -,   cancel w -,   cancel z -",
           "each is in the audit");

    /* of another manager */

    sql(&f, "UPDATE submission_intents SET lease_name = 'other', "
        "status = 'pending' WHERE intent_id = 'z'");
    is_int(cancel(&f, "z", &row), SM_CANCEL_NOT_FOUND, "of another manager");

    fixture_done(&f);
}


/* the one is not there without the other */

static void
test_together(void)
{
    fixture_t        f;
    sm_cancel_row_t  row;

    open_leader(&f);

    put(&f, "x", &sms);
    sql_refuse(&f, "no_audit", "BEFORE INSERT", "submission_audit",
               "new.object = 'x'", "no room in the audit");

    is_int(cancel(&f, "x", &row), -1, "without an audit there is no cancel");
    is_str(state(&f, "x"), "pending 0 - due -", "it is as it was");
    is_int(begin(&f, "x"), SM_BEGIN_BEGUN, "and is sent");
    is_str(audit_text(&f), "", "the audit is empty");

    fixture_done(&f);
}


/*
 * A turn or a cancel, beside another transaction that has the row.  A turn on
 * PostgreSQL does not wait for what it would begin: it is early.
 */

#define on_postgres()  (!on_babelfish())


typedef struct {
    fixture_t        *f;
    atomic_uint       over;
    sm_call_t         call;
    int               rc;
    sm_begin_row_t    begin[2];
    sm_complete_row_t ended;
    size_t            nended;
    sm_cancel_row_t   cancel;
    unsigned          cancels;
} beside_t;


static void *
beside_thread(void *data)
{
    beside_t  *b = data;

    b->rc = b->cancels
            ? sm_store_intents_cancel(&b->f->store, &b->call, &b->cancel, 1)
            : sm_store_attempts_turn(&b->f->store, &b->call, &a1, &b->ended,
                                     b->nended, b->begin, 2);

    atomic_store(&b->over, 1);

    return NULL;
}


static void
wait_until_it_waits(fixture_t *f, beside_t *b)
{
    int  i;

    for (i = 0; i < 1500; i++) {
        if (atomic_load(&b->over)
            || sql_int(f, "SELECT count(*) FROM pg_stat_activity "
                       "WHERE datname = current_database() "
                       "AND wait_event_type = 'Lock'") > 0)
        {
            return;
        }

        nap_us(20000);
    }

    must(!"it waits");
}


static void
beside(beside_t *b, fixture_t *f, const char *first, const char *last)
{
    pthread_t   thread;
    sql_conn_t  c;

    memset(&b->call, 0, sizeof(sm_call_t));
    b->f = f;

    c = sql_open(f);
    sql_run(c, "BEGIN");
    sql_run(c, first);

    must(pthread_create(&thread, NULL, beside_thread, b) == 0);
    wait_until_it_waits(f, b);

    ok(!atomic_load(&b->over) == (b->cancels || !on_postgres()),
       "a cancel waits for the row, and a turn on PostgreSQL does not");

    sql_run(c, last);
    sql_close(c);

    must(pthread_join(thread, NULL) == 0);
}


/* what a turn was told of one that was locked, if need be by the next turn */

static sm_begin_e
told(beside_t *b, fixture_t *f)
{
    if (!on_postgres()) {
        return b->begin[0].outcome;
    }

    is_int(b->begin[0].outcome, SM_BEGIN_EARLY, "it is early");
    is_int(b->begin[0].due_at, b->call.now + 1000000, "by a second");

    return begin(f, "x");
}


#define CANCELED                                                              \
    "UPDATE submission_intents SET status = 'canceled', "                     \
    "next_attempt_at = NULL WHERE intent_id = 'x'"

#define BEGUN                                                                 \
    "UPDATE submission_intents SET inflight_epoch = 1, "                      \
    "inflight_holder = 'a', inflight_at = created_at, "                       \
    "next_attempt_at = NULL WHERE intent_id = 'x'"


static void
test_beside(void)
{
    beside_t   b;
    fixture_t  f;

    if (on_sqlite()) {
        ok(1, "# SKIP there is one writer");
        return;
    }

    open_leader(&f);

    /* G13: what was due when the turn looked */

    put(&f, "x", &sms);
    put(&f, "y", &sms);

    memset(&b, 0, sizeof(b));
    b.begin[0].id = sm_str_c("x");
    b.begin[1].id = sm_str_c("y");

    beside(&b, &f, CANCELED, "COMMIT");

    is_int(b.rc, 0, "a turn, while one is being canceled");
    is_int(told(&b, &f), SM_BEGIN_GONE, "is not told to send it");
    is_int(b.begin[1].outcome, SM_BEGIN_BEGUN, "but the other one");
    is_str(state(&f, "x"), "canceled 0 - - -", "and has not marked it");
    sm_arena_free(&b.call.arena);

    /* the same, of one that is past its deadline */

    sql(&f, "UPDATE submission_intents SET status = 'pending', "
        "next_attempt_at = created_at, created_at = created_at - 100000000 "
        "WHERE intent_id = 'x'");

    memset(&b, 0, sizeof(b));
    b.begin[0].id = sm_str_c("x");
    b.begin[1].id = sm_str_c("y");

    beside(&b, &f, CANCELED, "COMMIT");

    is_int(told(&b, &f), SM_BEGIN_GONE, "it has not expired");
    is_str(state(&f, "x"), "canceled 0 - - -", "it was canceled");
    sm_arena_free(&b.call.arena);

    /* a cancel waits for the turn that begins it */

    sql(&f, "UPDATE submission_intents SET status = 'pending', "
        "next_attempt_at = created_at WHERE intent_id = 'x'");

    memset(&b, 0, sizeof(b));
    b.cancels = 1;
    cancel_row(&b.cancel, "x", &ann);

    beside(&b, &f, BEGUN, "COMMIT");

    is_int(b.cancel.outcome, SM_CANCEL_IN_FLIGHT, "a cancel, while it begins");
    is_str(state(&f, "x"), "pending 0 a - -", "it is in flight");
    is_str(audit_text(&f), "", "and not in the audit");
    sm_arena_free(&b.call.arena);

    sql(&f, "UPDATE submission_intents SET inflight_epoch = NULL, "
        "inflight_holder = NULL, inflight_at = NULL, "
        "next_attempt_at = created_at WHERE intent_id = 'x'");

    memset(&b, 0, sizeof(b));
    b.cancels = 1;
    cancel_row(&b.cancel, "x", &ann);

    beside(&b, &f, BEGUN, "ROLLBACK");

    is_int(b.cancel.outcome, SM_CANCEL_DONE, "it did not begin");
    is_str(audit_text(&f), "ann 192.0.2.7 cancel x -", "and is in the audit");
    sm_arena_free(&b.call.arena);

    fixture_done(&f);
}


static const sm_contract_t *
contract_of(void *data, sm_str_t target)
{
    const sm_contract_t  *c = data;

    return sm_str_eq(target, c->target) ? c : NULL;
}


static const sm_contract_t  today = {
    .target = sm_str("sms"), .gateway_type = SM_GATEWAY_HTTP,
    .gateway_url = sm_str("https://today/x"),
    .policy = SM_POLICY_MAX_ATTEMPTS,
    .max_attempts = 7, .terminal_outcomes = sm_str("http_400 http_422"),
    .retry_delay = 1234, .retry_max = 60000, .retry_backoff = 250,
    .retry_jitter = 20
};


static void
replay_row(sm_replay_row_t *row, const char *id, const char *new_id,
    unsigned original)
{
    memset(row, 0, sizeof(sm_replay_row_t));

    row->id = sm_str_c(id);
    row->actor = ann;
    row->original = original;
    row->contract = contract_of;
    row->data = (void *) &today;

    if (new_id) {
        row->new_id = sm_str_c(new_id);
    }
}


static int
replay_one(fixture_t *f, sm_replay_row_t *row)
{
    if (sm_store_intents_replay(&f->store, new_call(f), row, 1) == 0) {
        return row->outcome;
    }

    diag("%s", f->call.error);

    return -1;
}


static int
replay(fixture_t *f, sm_replay_row_t *row, const char *id, const char *new_id,
    unsigned original)
{
    replay_row(row, id, new_id, original);

    return replay_one(f, row);
}


static int
replay_again(fixture_t *f, sm_replay_row_t *row, const char *id,
    const char *new_id, unsigned original)
{
    replay_row(row, id, new_id, original);
    row->again = 1;

    return replay_one(f, row);
}


static const char *
contract(fixture_t *f, const char *id)
{
    return sql_text(f, "SELECT gateway_type || ' ' || gateway_url || ' ' || "
                    "policy || ' ' || coalesce(max_acceptance_seconds, 0) "
                    "|| ' ' || coalesce(max_attempts, 0) || ' ' || "
                    "terminal_outcomes || ' ' || retry_delay_ms || ' ' || "
                    "retry_max_ms || ' ' || retry_backoff_pct || ' ' || "
                    "retry_jitter_pct "
                    "FROM submission_intents WHERE intent_id = '%s'", id);
}


static void
is_id(sm_replay_row_t *row, const char *id)
{
    is_mem(row->intent.id.data, row->intent.id.len, id, strlen(id),
           "its id is %s", id);
}


static void
test_replay(void)
{
    fixture_t        f;
    sm_replay_row_t  row, rows[3];

    open_leader(&f);

    put(&f, "x", &sms);

    is_int(replay(&f, &row, "none", NULL, 0), SM_REPLAY_NOT_FOUND, "none");
    is_int(replay(&f, &row, "x", NULL, 0), SM_REPLAY_NOT_TERMINAL,
           "one that has not ended");

    end(&f, "x", "exhausted");

    is_int(replay(&f, &row, "x", NULL, 0), SM_REPLAY_CREATED, "it has ended");
    is_id(&row, "x~1");
    is_int(row.intent.status, SM_STATUS_PENDING, "it is pending");
    is_mem(row.intent.replay_of.data, row.intent.replay_of.len, "x", 1,
           "and knows what it replays");
    is_str(state(&f, "x~1"), "pending 0 - due -", "and is due");
    is_str(state(&f, "x"), "exhausted 0 - - now", "the first is as it was");
    is_str(contract(&f, "x~1"), "http https://today/x max_attempts 0 7 "
           "http_400 http_422 1234 60000 250 20", "with today's contract");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents AS a, "
                   "submission_intents AS b WHERE a.intent_id = 'x' "
                   "AND b.intent_id = 'x~1' AND a.payload = b.payload "
                   "AND a.payload_hash = b.payload_hash "
                   "AND b.replay_of = 'x'"), 1, "and the same payload");
    is_str(audit_text(&f), "ann 192.0.2.7 replay x {\"intentId\":\"x~1\"}",
           "it is in the audit");

    is_int(replay(&f, &row, "x", NULL, 0), SM_REPLAY_SAME, "again");
    is_id(&row, "x~1");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 2,
           "nothing is new");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_audit"), 1,
           "in the audit neither");

    end(&f, "x~1", "rejected");
    is_int(replay(&f, &row, "x", NULL, 0), SM_REPLAY_SAME, "after it ended");
    is_int(replay(&f, &row, "x~1", NULL, 0), SM_REPLAY_CREATED,
           "the replay is replayed");
    is_id(&row, "x~2");

    is_int(replay_again(&f, &row, "x", "mine", 1), SM_REPLAY_CREATED,
           "under an id of one's own, with the contract that it had");
    is_id(&row, "mine");
    is_str(contract(&f, "mine"), "sms http://sms deadline 30 0 "
           "invalid_request invalid_message 5000 0 100 0", "the same one");
    is_int(replay(&f, &row, "x", "mine", 0), SM_REPLAY_SAME, "again");
    is_int(replay(&f, &row, "x~1", "mine", 0), SM_REPLAY_CONFLICT,
           "it replays another one");
    is_id(&row, "mine");

    put(&f, "taken", &sms);
    is_int(replay(&f, &row, "x", "taken", 0), SM_REPLAY_CONFLICT,
           "an id that is taken");

    /* the number of an id that is no replay is part of it */

    put(&f, "x~7", &sms);
    end(&f, "x~7", "accepted");
    is_int(replay(&f, &row, "x~7", NULL, 0), SM_REPLAY_CREATED, "x~7");
    is_id(&row, "x~7~1");

    put(&f, "p", &push);
    end(&f, "p", "canceled");
    is_int(replay(&f, &row, "p", NULL, 0), SM_REPLAY_NO_TARGET,
           "a target that is not there any more");
    is_int(replay(&f, &row, "p", NULL, 1), SM_REPLAY_CREATED,
           "with the contract that it had");
    is_int(replay(&f, &row, "p", NULL, 0), SM_REPLAY_SAME,
           "and what is made is the same");

    put(&f, "s", &sms);
    end(&f, "s", "exhausted");
    is_int(replay(&f, &row, "s", NULL, 0), SM_REPLAY_CREATED, "before");
    sql(&f, "UPDATE submission_intents SET payload = '', stripped_at = 1 "
        "WHERE intent_id = 's'");
    is_int(replay(&f, &row, "s", NULL, 0), SM_REPLAY_SAME,
           "what was made before it was stripped is still the same");
    is_int(replay(&f, &row, "s", "s-2", 0), SM_REPLAY_STRIPPED,
           "but another one cannot be made");

    memset(longest, 'l', 200);
    put(&f, longest, &sms);
    end(&f, longest, "exhausted");
    is_int(replay(&f, &row, longest, NULL, 0), SM_REPLAY_TOO_LONG,
           "an id that has no room for a number");

    put_schedule(&f, "n");
    is_int(replay_again(&f, &row, "x~7", "n@2026-01-01T00:00:00Z", 0),
           SM_REPLAY_RESERVED, "an id that belongs to a schedule");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents WHERE intent_id "
                   "= 'n@2026-01-01T00:00:00Z'"), 0, "is not made");
    is_int(replay_again(&f, &row, "x~7", "m@2026-01-01T00:00:00Z", 0),
           SM_REPLAY_CREATED, "one of no schedule is");

    /* a batch */

    replay_row(&rows[0], "x~7", "b-1", 0);
    replay_row(&rows[1], "none", NULL, 0);
    replay_row(&rows[2], "x~7", "b-1", 1);
    rows[0].again = 1;

    must(sm_store_intents_replay(&f.store, new_call(&f), rows, 3) == 0);
    is_int(rows[0].outcome, SM_REPLAY_CREATED, "the first of a batch");
    is_int(rows[1].outcome, SM_REPLAY_NOT_FOUND, "one that is not there");
    is_int(rows[2].outcome, SM_REPLAY_SAME, "the same again");

    fixture_done(&f);
}


/* The ids that an intent was replayed as, as the store gives them. */

static const char *
replayed_as(fixture_t *f, const char *id)
{
    size_t        i;
    sm_get_row_t  row;
    static char   text[2048];

    memset(&row, 0, sizeof(row));
    row.id = sm_str_c(id);

    must(sm_store_intents_get(&f->store, new_call(f), &row, 1) == 0);
    must(row.found);

    (void) snprintf(text, sizeof(text), "%d:%.*s",
                    (int) row.intent.replay_count,
                    (int) row.intent.replayed_as.len,
                    row.intent.replayed_as.data ? row.intent.replayed_as.data
                                                : "");

    for (i = 0; text[i]; i++) {
        text[i] = text[i] == '\n' ? ' ' : text[i];
    }

    return text;
}


static void
test_again(void)
{
    int              i;
    char             id[256], ids[600];
    fixture_t        f;
    sm_replay_row_t  row, rows[2];

    open_leader(&f);

    put(&f, "x", &sms);
    end(&f, "x", "exhausted");

    is_str(replayed_as(&f, "x"), "0:", "it was never replayed");
    is_int(replay(&f, &row, "x", "one", 0), SM_REPLAY_CREATED, "it is now");
    is_str(replayed_as(&f, "x"), "1:one ", "and knows as what");
    is_int(replay(&f, &row, "x", "two", 0), SM_REPLAY_ALREADY,
           "under another id it is not replayed again");
    is_mem(row.intent.replayed_as.data, row.intent.replayed_as.len, "one\n", 4,
           "and that says as what it was");
    is_int(replay(&f, &row, "x", NULL, 0), SM_REPLAY_ALREADY, "without an id");
    is_int(replay(&f, &row, "x", "one", 0), SM_REPLAY_SAME, "the same id");
    is_str(replayed_as(&f, "x"), "1:one ", "counts once");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 2,
           "there is one replay");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_audit"), 1,
           "and one entry of the audit");

    is_int(replay_again(&f, &row, "x", "two", 0), SM_REPLAY_CREATED,
           "on purpose it is");
    is_int(replay_again(&f, &row, "x", "two", 0), SM_REPLAY_SAME,
           "and repeated, it is the same");
    is_str(replayed_as(&f, "x"), "2:two one ", "the newest comes first");

    /* a number that nobody has */

    is_int(replay_again(&f, &row, "x", "x~1", 0), SM_REPLAY_CREATED,
           "as the number that it would have had");
    is_str(replayed_as(&f, "x"), "3:x~1 two one ", "all are there");
    is_int(replay(&f, &row, "x", NULL, 0), SM_REPLAY_SAME,
           "a request that is repeated finds the first");
    is_id(&row, "x~1");

    end(&f, "x~1", "rejected");
    put(&f, "x~2", &sms);
    is_int(replay(&f, &row, "x~1", NULL, 0), SM_REPLAY_CREATED,
           "the next number is that of something else");
    is_id(&row, "x~3");
    is_int(replay(&f, &row, "x~1", NULL, 0), SM_REPLAY_SAME, "again");
    is_id(&row, "x~3");

    /* what a replay is copied from is not copied into it */

    is_str(replayed_as(&f, "x~1"), "1:x~3 ", "the replay has its own replays");
    is_str(replayed_as(&f, "x~3"), "0:", "and the copy has none");

    /* in one call */

    put(&f, "y", &sms);
    end(&f, "y", "exhausted");
    replay_row(&rows[0], "y", "y-1", 0);
    replay_row(&rows[1], "y", "y-2", 0);
    must(sm_store_intents_replay(&f.store, new_call(&f), rows, 2) == 0);
    is_int(rows[0].outcome, SM_REPLAY_CREATED, "the first of two");
    is_int(rows[1].outcome, SM_REPLAY_ALREADY, "and the second");
    is_mem(rows[1].intent.replayed_as.data, rows[1].intent.replayed_as.len,
           "y-1\n", 4, "which is told of the first");

    /* the oldest ids go when there is no room */

    memset(id, 'r', 199);
    id[200] = '\0';

    for (i = 0; i < 4; i++) {
        id[199] = (char) ('a' + i);
        must(replay_again(&f, &row, "y", id, 0) == SM_REPLAY_CREATED);
    }

    id[199] = 'd';
    (void) snprintf(ids, sizeof(ids), "5:%s ", id);
    id[199] = 'c';
    (void) strcat(strcat(ids, id), " ");
    is_int(strncmp(replayed_as(&f, "y"), ids, strlen(ids)), 0,
           "at least the two newest are there");
    is_int(strlen(replayed_as(&f, "y")) <= 502, 1, "in 500 characters");

    fixture_done(&f);
}


/*
 * G9: of those who replay an intent at the same time, each under an id of its
 * own, one makes a replay, and the others are told of it.
 */

#define REPLAYERS  6
#define REPLAYED   20

typedef struct {
    fixture_t          *f;
    pthread_barrier_t  *start;
    int                 number;
    unsigned            outcomes[SM_REPLAY_OUTCOMES];
    unsigned            failed;
} replayer_t;


static void *
replayer_thread(void *data)
{
    int              i;
    char             id[16], new_id[32];
    sm_call_t        call;
    replayer_t      *r = data;
    sm_replay_row_t  row;

    for (i = 0; i < REPLAYED; i++) {
        (void) snprintf(id, sizeof(id), "r%d", i);
        (void) snprintf(new_id, sizeof(new_id), "r%d-%d", i, r->number);

        memset(&call, 0, sizeof(sm_call_t));
        replay_row(&row, id, new_id, 0);

        (void) pthread_barrier_wait(r->start);

        if (sm_store_intents_replay(&r->f->store, &call, &row, 1) == 0) {
            r->outcomes[row.outcome]++;

        } else {
            r->failed++;
        }

        sm_arena_free(&call.arena);
    }

    return NULL;
}


static void
test_replay_race(void)
{
    int                i, j;
    char               id[16];
    unsigned           outcomes[SM_REPLAY_OUTCOMES], failed;
    fixture_t          f;
    pthread_t          threads[REPLAYERS];
    replayer_t         replayers[REPLAYERS];
    pthread_barrier_t  start;

    open_leader(&f);

    for (i = 0; i < REPLAYED; i++) {
        (void) snprintf(id, sizeof(id), "r%d", i);
        put(&f, id, &sms);
        end(&f, id, "exhausted");
    }

    must(pthread_barrier_init(&start, NULL, REPLAYERS) == 0);
    memset(replayers, 0, sizeof(replayers));
    memset(outcomes, 0, sizeof(outcomes));
    failed = 0;

    for (i = 0; i < REPLAYERS; i++) {
        replayers[i].f = &f;
        replayers[i].start = &start;
        replayers[i].number = i;
        must(pthread_create(&threads[i], NULL, replayer_thread, &replayers[i])
             == 0);
    }

    for (i = 0; i < REPLAYERS; i++) {
        must(pthread_join(threads[i], NULL) == 0);
        failed += replayers[i].failed;

        for (j = 0; j < SM_REPLAY_OUTCOMES; j++) {
            outcomes[j] += replayers[i].outcomes[j];
        }
    }

    (void) pthread_barrier_destroy(&start);

    is_int(failed, 0, "no call failed");
    is_int(outcomes[SM_REPLAY_CREATED], REPLAYED, "each was replayed once");
    is_int(outcomes[SM_REPLAY_ALREADY], REPLAYED * (REPLAYERS - 1),
           "and the others were told");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE replay_of IS NOT NULL"), REPLAYED, "in the store");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE replay_count = 1"), REPLAYED, "as the first know");

    fixture_done(&f);
}


/*
 * A call copies 4 MB of payloads, and one of any length: the others are left
 * for another call.
 */

static void
test_replay_bound(void)
{
    size_t            i;
    char             *bytes;
    fixture_t         f;
    sm_submit_row_t   r;
    sm_replay_row_t   rows[6];

    static const char        *ids[] = { "m0", "m1", "m2", "m3", "m4", "m5" };
    static const size_t       lengths[] = { 5, 3, 1, 1, 0, 1 };
    static const sm_replay_e  first[] = {
        SM_REPLAY_CREATED, SM_REPLAY_LEFT, SM_REPLAY_LEFT, SM_REPLAY_LEFT,
        SM_REPLAY_LEFT, SM_REPLAY_LEFT
    };
    static const sm_replay_e  second[] = {
        SM_REPLAY_CREATED, SM_REPLAY_CREATED, SM_REPLAY_LEFT, SM_REPLAY_LEFT,
        SM_REPLAY_LEFT
    };

    fixture_open(&f);

    bytes = malloc(5 * 1024 * 1024);
    must(bytes != NULL);
    memset(bytes, '7', 5 * 1024 * 1024);

    for (i = 0; i < 6; i++) {
        row_bytes(&r, ids[i], &sms, bytes, lengths[i] * 1024 * 1024);
        must(submit(&f, &r, 1) == 0 && r.outcome == SM_SUBMIT_CREATED);
        end(&f, ids[i], "accepted");
    }

    for (i = 0; i < 6; i++) {
        replay_row(&rows[i], ids[i], NULL, 0);
    }

    must(sm_store_intents_replay(&f.store, new_call(&f), rows, 6) == 0);

    for (i = 0; i < 6; i++) {
        is_int(rows[i].outcome, first[i], "first call: %s", ids[i]);
    }

    must(sm_store_intents_replay(&f.store, new_call(&f), rows + 1, 5) == 0);

    for (i = 0; i < 5; i++) {
        is_int(rows[i + 1].outcome, second[i], "second call: %s", ids[i + 1]);
    }

    must(sm_store_intents_replay(&f.store, new_call(&f), rows + 3, 3) == 0);

    for (i = 3; i < 6; i++) {
        is_int(rows[i].outcome, SM_REPLAY_CREATED, "third call: %s", ids[i]);
    }

    free(bytes);
    fixture_done(&f);
}


static void
test_payload(void)
{
    fixture_t         f;
    sm_submit_row_t   r;
    sm_payload_row_t  rows[3];

    static const char  bytes[] = "{\"a\" : \"\303\244\\u0000\"}\n ";

    fixture_open(&f);

    row_bytes(&r, "x", &sms, bytes, sizeof(bytes) - 1);
    must(submit(&f, &r, 1) == 0);
    must(outcome(&f, "empty", &push, "") == SM_SUBMIT_CREATED);

    memset(rows, 0, sizeof(rows));
    rows[0].id = sm_str_c("x");
    rows[1].id = sm_str_c("none");
    rows[2].id = sm_str_c("empty");

    must(sm_store_intent_payload(&f.store, new_call(&f), rows, 3) == 0);
    is_mem(rows[0].payload.data, rows[0].payload.len, bytes,
           sizeof(bytes) - 1, "the bytes as they were sent");
    is_int(rows[0].status, SM_STATUS_PENDING, "and its status");
    ok(rows[0].found && !rows[0].stripped && rows[0].replay_of.len == 0,
       "it is there");
    ok(!rows[1].found, "another is not");
    ok(rows[2].found && rows[2].payload.len == 0, "one without a payload");

    rows[0].bare = 1;
    must(sm_store_intent_payload(&f.store, new_call(&f), rows, 1) == 0);
    ok(rows[0].found && rows[0].payload.len == 0, "without its payload");

    rows[0].bare = 0;
    sql(&f, "UPDATE submission_intents SET payload = '', stripped_at = 1 "
        "WHERE intent_id = 'x'");
    must(sm_store_intent_payload(&f.store, new_call(&f), rows, 1) == 0);
    ok(rows[0].stripped, "it was stripped");

    fixture_done(&f);
}


/* the objects of a page, and a "+" where there are more */

static const char *
page(fixture_t *f, sm_audit_row_t *row)
{
    size_t       i, len;
    static char  text[512];

    must(sm_store_audit_list(&f->store, new_call(f), row, 1) == 0);

    for (i = 0, len = 0; i < row->n; i++) {
        len += snprintf(text + len, sizeof(text) - len, "%.*s ",
                        (int) row->entries[i].object.len,
                        row->entries[i].object.data);
    }

    (void) snprintf(text + len, sizeof(text) - len, "%s",
                    row->more ? "+" : ".");

    return text;
}


/* what was really done: on every store */

static void
test_audit_done(void)
{
    int              i;
    char             id[16];
    int64_t          at, seq;
    fixture_t        f;
    sm_audit_row_t   row;
    sm_cancel_row_t  c;
    sm_replay_row_t  r;

    static const sm_actor_t  bob = { sm_str("bob"), sm_str("::1") };

    fixture_open(&f);

    for (i = 1; i <= 5; i++) {
        (void) snprintf(id, sizeof(id), "o%d", i);
        put(&f, id, &sms);
        cancel_row(&c, id, i % 2 ? &ann : &bob);
        must(sm_store_intents_cancel(&f.store, new_call(&f), &c, 1) == 0);
        nap_us(3000);       /* SQLite's clock has milliseconds */
    }

    must(replay(&f, &r, "o2", NULL, 0) == SM_REPLAY_CREATED);

    memset(&row, 0, sizeof(row));
    row.limit = 3;
    is_str(page(&f, &row), "o2 o5 o4 +", "what was done last comes first");
    is_mem(row.entries[0].detail.data, row.entries[0].detail.len,
           "{\"intentId\":\"o2~1\"}", 19, "a detail");
    ok(row.entries[1].detail.len == 0, "none");
    is_mem(row.entries[2].address.data, row.entries[2].address.len, "::1", 3,
           "from where");

    at = row.entries[2].at;
    seq = row.entries[2].seq;

    row.after_at = at;
    row.after_seq = seq;
    is_str(page(&f, &row), "o3 o2 o1 .", "the rest");

    memset(&row, 0, sizeof(row));
    row.limit = 2;
    row.actor = sm_str_c("ann");
    is_str(page(&f, &row), "o2 o5 +", "of somebody");
    row.action = sm_str_c("cancel");
    is_str(page(&f, &row), "o5 o3 +", "and an action");
    row.actor.data = NULL;
    row.actor.len = 0;
    is_str(page(&f, &row), "o5 o4 +", "of an action");

    memset(&row, 0, sizeof(row));
    row.limit = 9;
    row.from = at;
    is_str(page(&f, &row), "o2 o5 o4 .", "from then on");
    row.from = 0;
    row.to = at;
    is_str(page(&f, &row), "o3 o2 o1 .", "before then");
    row.actor = sm_str_c("bob");
    is_str(page(&f, &row), "o2 .", "of somebody");

    fixture_done(&f);
}


static void
entry(fixture_t *f, int64_t seq, int64_t at, const char *actor,
    const char *action)
{
    sql(f, "INSERT INTO submission_audit (seq, lease_name, at, actor, address, "
        "action, object, detail) VALUES (%lld, 'main', %lld, '%s', '', '%s', "
        "'o%lld', NULL)", (long long) seq, (long long) at, actor, action,
        (long long) seq);
}


static void
test_audit(void)
{
    fixture_t       f;
    sm_audit_row_t  row;

    fixture_open(&f);

    memset(&row, 0, sizeof(row));
    row.limit = 3;
    is_str(page(&f, &row), ".", "an empty audit");

    if (on_babelfish()) {

        /* numbers cannot be written there */

        fixture_done(&f);
        return;
    }

    /* 3 and 4 are of one time */

    entry(&f, 1, 1000000, "ann", "cancel");
    entry(&f, 2, 2000000, "bob", "replay");
    entry(&f, 3, 3000000, "ann", "replay");
    entry(&f, 4, 3000000, "ann", "cancel");
    entry(&f, 5, 4000000, "", "pause");
    entry(&f, 6, 5000000, "bob", "cancel");

    is_str(page(&f, &row), "o6 o5 o4 +", "newest first");
    is_int(row.entries[0].at, 5000000, "with its time");
    is_mem(row.entries[0].actor.data, row.entries[0].actor.len, "bob", 3,
           "who");
    is_mem(row.entries[0].action.data, row.entries[0].action.len, "cancel", 6,
           "what");

    row.after_at = 3000000;
    row.after_seq = 4;
    is_str(page(&f, &row), "o3 o2 o1 .", "after one of the same time");

    row.after_seq = 3;
    is_str(page(&f, &row), "o2 o1 .", "after the other one");

    memset(&row, 0, sizeof(row));
    row.limit = 2;
    row.action = sm_str_c("cancel");
    is_str(page(&f, &row), "o6 o4 +", "of an action");
    row.after_at = 3000000;
    row.after_seq = 4;
    is_str(page(&f, &row), "o1 .", "the rest");

    memset(&row, 0, sizeof(row));
    row.limit = 2;
    row.actor = sm_str_c("ann");
    is_str(page(&f, &row), "o4 o3 +", "of somebody: all actions, merged");
    row.after_at = 3000000;
    row.after_seq = 3;
    is_str(page(&f, &row), "o1 .", "the rest");

    memset(&row, 0, sizeof(row));
    row.limit = 5;
    row.actor = sm_str_c("ann");
    row.action = sm_str_c("cancel");
    is_str(page(&f, &row), "o4 o1 .", "of somebody, and an action");
    row.actor = sm_str_c("eve");
    is_str(page(&f, &row), ".", "of nobody");

    memset(&row, 0, sizeof(row));
    row.limit = 5;
    row.from = 2000000;
    row.to = 4000000;
    is_str(page(&f, &row), "o4 o3 o2 .", "from, and to, which is not in it");
    row.actor = sm_str_c("ann");
    is_str(page(&f, &row), "o4 o3 .", "of somebody");
    row.actor.data = NULL;
    row.action = sm_str_c("replay");
    is_str(page(&f, &row), "o3 o2 .", "of an action");

    fixture_done(&f);
}


int
main(void)
{
    test_cancel();
    test_together();
    test_beside();
    test_replay();
    test_again();
    test_replay_race();
    test_replay_bound();
    test_payload();
    test_audit_done();
    test_audit();

    return done_testing();
}
