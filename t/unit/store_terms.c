
/*
 * More of contracts and intents, on every store: retry_schedule, whom to
 * notify, and the context of a trace.  Broken by: a column that a submission,
 * the inbox or a replay does not store, or stores as an empty text where there
 * is none; one that an attempt or a recovery does not read; a batch in which
 * one row's goes to another; a duplicate that is refused for its trace, or
 * changes it.
 */

#include "sql_clock.h"


#define TRACE   "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
#define STATE   "a=1,b=x y"
#define NOTIFY  "accepted:ops rejected:ops"

static const sm_fence_t  a1 = { sm_str("a"), 1 };
static const sm_fence_t  a2 = { sm_str("a"), 2 };

static const sm_contract_t  plain = {
    .target = sm_str("plain"), .gateway_type = SM_GATEWAY_HTTP,
    .gateway_url = sm_str("https://pay/v1"), .policy = SM_POLICY_ONE_SHOT,
    .terminal_outcomes = sm_str(""), .retry_delay = 5000, .retry_backoff = 100
};

static const sm_contract_t  rich = {
    .target = sm_str("rich"), .gateway_type = SM_GATEWAY_HTTP,
    .gateway_url = sm_str("https://pay/v1"), .policy = SM_POLICY_ONE_SHOT,
    .terminal_outcomes = sm_str(""), .retry_delay = 5000, .retry_backoff = 100,
    .retry_schedule = sm_str("1 5000 300000"), .notify = sm_str(NOTIFY)
};


static void
is_text(sm_str_t got, const char *expected, const char *what)
{
    is_mem(got.data, got.len, expected, expected ? strlen(expected) : 0, "%s",
           what);
}


/* a row of each: what is stored, with a "-" for NULL */

static const char *
stored(fixture_t *f, const char *id)
{
    return sql_text(f, "SELECT coalesce(retry_schedule, '-') || ' ' "
                    "|| coalesce(notify, '-') || ' ' "
                    "|| coalesce(traceparent, '-') || ' ' "
                    "|| coalesce(tracestate, '-') "
                    "FROM submission_intents WHERE intent_id = '%s'", id);
}


static void
begin(fixture_t *f, sm_begin_row_t *r, size_t n)
{
    must(sm_store_attempts_begin(&f->store, new_call(f), &a1, r, n) == 0);
}


static void
test_submit(void)
{
    fixture_t          f;
    sm_get_row_t       g;
    sm_begin_row_t     b[3];
    sm_submit_row_t    r[3];
    sm_history_row_t   h;
    sm_complete_row_t  c;

    leader_open(&f, 24 * HOUR);

    row(&r[0], "p", &plain, "1");
    row(&r[1], "r", &rich, "2");
    row(&r[2], "t", &plain, "3");
    r[1].trace.parent = sm_str_c(TRACE);
    r[2].trace.parent = sm_str_c(TRACE);
    r[2].trace.state = sm_str_c(STATE);

    is_int(submit(&f, r, 3), 0, "a batch");
    is_str(stored(&f, "p"), "- - - -", "nothing of all that");
    is_str(stored(&f, "r"), "1 5000 300000 " NOTIFY " " TRACE " -",
           "the contract's, and a traceparent alone");
    is_str(stored(&f, "t"), "- - " TRACE " " STATE, "both of the trace");

    row(&r[0], "t", &plain, "3");
    is_int(submit(&f, r, 1), 0, "a duplicate without a trace");
    is_int(r[0].outcome, SM_SUBMIT_SAME, "is the same");
    is_text(r[0].intent.traceparent, TRACE, "and shows the one that is stored");
    is_str(stored(&f, "t"), "- - " TRACE " " STATE, "which stays");

    row(&r[0], "t", &plain, "3");
    row(&r[1], "new", &rich, "3");
    r[1].trace.parent = sm_str_c(TRACE);
    r[1].trace.state = sm_str_c(STATE);
    is_int(submit(&f, r, 2), 0, "one that is there, and one that is not");
    is_str(stored(&f, "new"), "1 5000 300000 " NOTIFY " " TRACE " " STATE,
           "the new one has all");

    memset(&g, 0, sizeof(g));
    g.id = sm_str_c("t");
    must(sm_store_intents_get(&f.store, new_call(&f), &g, 1) == 0 && g.found);
    is_text(g.intent.traceparent, TRACE, "the intent shows it");

    memset(b, 0, sizeof(b));
    b[0].id = sm_str_c("p");
    b[1].id = sm_str_c("r");
    b[2].id = sm_str_c("t");
    begin(&f, b, 3);

    is_int(b[0].outcome, SM_BEGIN_BEGUN, "begun");
    is_text(b[0].contract.retry_schedule, NULL, "no schedule");
    is_text(b[0].contract.notify, NULL, "nobody to notify");
    is_text(b[0].trace.parent, NULL, "no traceparent");
    is_text(b[0].trace.state, NULL, "no tracestate");
    is_text(b[0].payload, "1", "the payload");

    is_int(b[1].outcome, SM_BEGIN_BEGUN, "begun");
    is_text(b[1].contract.retry_schedule, "1 5000 300000", "the schedule");
    is_text(b[1].contract.notify, NOTIFY, "whom to notify");
    is_text(b[1].trace.parent, TRACE, "the traceparent");
    is_text(b[1].trace.state, NULL, "no tracestate");
    is_text(b[1].payload, "2", "the payload");

    is_text(b[2].trace.parent, TRACE, "the traceparent");
    is_text(b[2].trace.state, STATE, "the tracestate");
    is_text(b[2].payload, "3", "the payload");

    memset(&c, 0, sizeof(c));
    c.id = sm_str_c("t");
    c.number = 1;
    c.epoch = a1.epoch;
    c.holder = a1.holder;
    c.started_at = c.finished_at = now_ms * US;
    c.outcome = SM_OUTCOME_ACCEPTED;
    c.status = SM_STATUS_ACCEPTED;
    c.span_id = sm_str_c("0123456789abcdef");
    must(sm_store_attempts_complete(&f.store, new_call(&f), &a1, &c, 1) == 0);
    must(c.applied);

    c.id = sm_str_c("p");
    c.span_id.data = NULL;
    c.span_id.len = 0;
    must(sm_store_attempts_complete(&f.store, new_call(&f), &a1, &c, 1) == 0);
    must(c.applied);

    memset(&h, 0, sizeof(h));
    h.id = sm_str_c("t");
    h.limit = 10;
    must(sm_store_intent_history(&f.store, new_call(&f), &h, 1) == 0);
    must(h.found && h.n == 1);
    is_text(h.attempts[0].span_id, "0123456789abcdef", "the attempt's span");
    is_text(h.intent.traceparent, TRACE, "beside the intent's trace");

    memset(&h, 0, sizeof(h));
    h.id = sm_str_c("p");
    h.limit = 10;
    must(sm_store_intent_history(&f.store, new_call(&f), &h, 1) == 0);
    is_text(h.attempts[0].span_id, NULL, "an attempt without");

    fixture_done(&f);
}


static void
test_doubt(void)
{
    size_t           n;
    fixture_t        f;
    sm_lease_t       lease;
    sm_begin_row_t   b[2];
    sm_doubt_row_t  *rows;
    sm_submit_row_t  r[2];

    leader_open(&f, 24 * HOUR);

    row(&r[0], "a", &rich, "1");
    row(&r[1], "b", &plain, "2");
    must(submit(&f, r, 2) == 0);

    memset(b, 0, sizeof(b));
    b[0].id = sm_str_c("a");
    b[1].id = sm_str_c("b");
    begin(&f, b, 2);

    must(sm_store_lease_takeover(&f.store, new_call(&f), &a1, HOUR, &lease)
         == 0);
    must(lease.epoch == a2.epoch);

    must(sm_store_attempts_in_doubt(&f.store, new_call(&f), &a2, NULL, 10,
                                    &rows, &n)
         == 0);
    must(n == 2);
    is_text(rows[0].contract.retry_schedule, "1 5000 300000",
            "in doubt: its retry_schedule");
    is_text(rows[0].contract.notify, NOTIFY, "in doubt: whom to notify");
    is_text(rows[1].contract.retry_schedule, NULL, "in doubt: no schedule");
    is_text(rows[1].contract.notify, NULL, "in doubt: nobody");

    fixture_done(&f);
}


static const sm_contract_t *
contract_of(void *data, sm_str_t target)
{
    (void) target;

    return data;
}


static int
replay(fixture_t *f, const char *id, const sm_contract_t *contract)
{
    sm_replay_row_t  row;

    memset(&row, 0, sizeof(row));

    row.id = sm_str_c(id);
    row.original = contract == NULL;
    row.actor.name = sm_str_c("ann");
    row.actor.address = sm_str_c("192.0.2.7");
    row.contract = contract_of;
    row.data = (void *) contract;

    must(sm_store_intents_replay(&f->store, new_call(f), &row, 1) == 0);

    return row.outcome;
}


static void
test_replay(void)
{
    fixture_t        f;
    sm_submit_row_t  r[3];

    leader_open(&f, 24 * HOUR);

    row(&r[0], "a", &rich, "1");
    row(&r[1], "b", &plain, "2");
    row(&r[2], "c", &rich, "3");
    r[0].trace.parent = sm_str_c(TRACE);
    r[0].posted.not_before = 1000000;
    must(submit(&f, r, 3) == 0);
    sql(&f, "UPDATE submission_intents SET status = 'exhausted', "
        "completed_at = 5, next_attempt_at = NULL, notify = notify");

    is_int(replay(&f, "a", NULL), SM_REPLAY_CREATED, "with its own contract");
    is_str(stored(&f, "a~1"), "1 5000 300000 " NOTIFY " " TRACE " -",
           "its terms, and its trace");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE not_before IS NOT NULL"), 1,
           "but not the time that it was to wait for");
    is_int(replay(&f, "b", &rich), SM_REPLAY_CREATED, "with today's");
    is_str(stored(&f, "b~1"), "1 5000 300000 " NOTIFY " - -", "today's terms");
    is_int(replay(&f, "c", &plain), SM_REPLAY_CREATED, "the other way round");
    is_str(stored(&f, "c~1"), "- - - -", "today there are none");

    fixture_done(&f);
}


static void
test_inbox(void)
{
    fixture_t        f;
    sm_inbox_page_t  p;

    leader_open(&f, 24 * HOUR);

    sql(&f, "INSERT INTO submission_inbox (seq, lease_name, intent_id, "
        "submission_target, payload, traceparent, tracestate, created_at) "
        "VALUES (1, '%s', 'a', 'rich', '1', '" TRACE "', ' a=1,, b=x y ', 5)",
        f.store.conf.lease_name.data);
    sql(&f, "INSERT INTO submission_inbox (seq, lease_name, intent_id, "
        "submission_target, payload, traceparent, tracestate, created_at) "
        "VALUES (2, '%s', 'b', 'rich', '1', 'nonsense', 'a=1', 5)",
        f.store.conf.lease_name.data);
    sql(&f, "INSERT INTO submission_inbox (seq, lease_name, intent_id, "
        "submission_target, payload, created_at) "
        "VALUES (3, '%s', 'c', 'plain', '1', 5)",
        f.store.conf.lease_name.data);

    memset(&p, 0, sizeof(p));
    p.limit = 10;
    p.bytes = 1000;
    p.max_payload = 100;

    must(sm_store_inbox_page(&f.store, new_call(&f), &a1, &p) == 0);
    must(p.n == 3);

    is_text(p.rows[0].trace.parent, TRACE, "it has come with its traceparent");
    is_text(p.rows[0].trace.state, " a=1,, b=x y ", "and its tracestate");
    is_text(p.rows[1].trace.parent, "nonsense", "whatever it is");
    is_text(p.rows[2].trace.parent, NULL, "or without");

    must(sm_inbox_check(&f.call.arena, &p.rows[0], now_ms * US) == 0);
    must(sm_inbox_check(&f.call.arena, &p.rows[1], now_ms * US) == 0);
    must(sm_inbox_check(&f.call.arena, &p.rows[2], now_ms * US) == 0);
    p.rows[0].submit.contract = p.rows[1].submit.contract = &rich;
    p.rows[2].submit.contract = &plain;

    must(sm_store_inbox_move(&f.store, &f.call, &a1, 100, p.rows, p.n) == 0);

    is_str(stored(&f, "a"), "1 5000 300000 " NOTIFY " " TRACE " " STATE,
           "it is moved with all");
    is_str(stored(&f, "b"), "1 5000 300000 " NOTIFY " - -",
           "without what is not valid");
    is_str(stored(&f, "c"), "- - - -", "without anything");

    fixture_done(&f);
}


int
main(void)
{
    sql_clock_start();

    test_submit();
    test_doubt();
    test_replay();
    test_inbox();

    return done_testing();
}
