
/*
 * G16 in the store: whoever ends an intent makes the events of its webhooks in the
 * same transaction, on every path and on every store.  Broken by: a path that ends
 * an intent and tells nobody; an event of one that has not ended, or that another
 * has ended; a second event when the outcome is sent again; an event of an event;
 * one for an end that nobody asked for; a contract that the executor does not
 * understand.
 */

#include "sql_clock.h"

#include "sm_webhook.h"


#define TRACE   "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static const sm_fence_t  a1 = { sm_str("a"), 1 };
static const sm_fence_t  a2 = { sm_str("a"), 2 };

static const sm_contract_t  all = {
    .target = sm_str("t"), .gateway_type = SM_GATEWAY_HTTP,
    .gateway_url = sm_str("https://pay/v1"), .policy = SM_POLICY_DEADLINE,
    .max_acceptance_seconds = 10, .terminal_outcomes = sm_str(""),
    .retry_delay = 5000, .retry_backoff = 100,
    .notify = sm_str("accepted:ops rejected:ops exhausted:ops canceled:ops "
                     "rejected:audit.log")
};

static const sm_contract_t  once = {
    .target = sm_str("o"), .gateway_type = SM_GATEWAY_HTTP,
    .gateway_url = sm_str("https://pay/v1"), .policy = SM_POLICY_ONE_SHOT,
    .terminal_outcomes = sm_str(""), .retry_delay = 5000,
    .retry_backoff = 100, .notify = sm_str("exhausted:ops")
};

static const sm_contract_t  none = {
    .target = sm_str("n"), .gateway_type = SM_GATEWAY_HTTP,
    .gateway_url = sm_str("https://pay/v1"), .policy = SM_POLICY_ONE_SHOT,
    .terminal_outcomes = sm_str(""), .retry_delay = 5000,
    .retry_backoff = 100
};


static void
post(fixture_t *f, const char *id, const sm_contract_t *contract)
{
    must(outcome(f, id, contract, "{}") == SM_SUBMIT_CREATED);
}


static void
begin(fixture_t *f, const sm_fence_t *fence, const char *id, sm_begin_row_t *b)
{
    memset(b, 0, sizeof(sm_begin_row_t));
    b->id = sm_str_c(id);

    must(sm_store_attempts_begin(&f->store, new_call(f), fence, b, 1) == 0);
}


static void
end_row(sm_complete_row_t *r, const char *id, sm_outcome_e outcome,
    sm_status_e status)
{
    memset(r, 0, sizeof(sm_complete_row_t));

    r->id = sm_str_c(id);
    r->number = 1;
    r->epoch = a1.epoch;
    r->holder = a1.holder;
    r->started_at = r->finished_at = now_ms * US;
    r->outcome = outcome;
    r->status = status;
    r->delay = 5000;
}


static unsigned
complete(fixture_t *f, sm_complete_row_t *r)
{
    if (sm_store_attempts_complete(&f->store, new_call(f), &a1, r, 1) != 0) {
        diag("%s", f->call.error);
        must(!"recorded");
    }

    return r->applied;
}


/* the events of an intent: targets, and what is in their columns */

static const char *
events(fixture_t *f, const char *id)
{
    const char  *text;

    text = sql_text(f, "SELECT group_concat(t, ',') FROM (SELECT "
                    "submission_target AS t FROM submission_intents "
                    "WHERE event_of = '%s' ORDER BY submission_target) AS e",
                    id);

    return text ? text : "";
}


static int
count(fixture_t *f)
{
    return atoi(sql_text(f, "SELECT count(*) FROM submission_intents "
                         "WHERE event_of IS NOT NULL"));
}


static void
test_turn(void)
{
    fixture_t          f;
    sm_str_t           body;
    const char        *id;
    sm_begin_row_t     b;
    sm_submit_row_t    r;
    sm_complete_row_t  c;

    leader_open(&f, 24 * HOUR);

    row(&r, "x", &all, "{}");
    r.trace.parent = sm_str_c(TRACE);
    r.posted.not_before = now_ms * 1000;
    must(submit(&f, &r, 1) == 0);

    begin(&f, &a1, "x", &b);
    must(b.outcome == SM_BEGIN_BEGUN);
    is_int(count(&f), 0, "none while it is in flight");

    end_row(&c, "x", SM_OUTCOME_ERROR, SM_STATUS_PENDING);
    c.error = sm_str_c("no \"luck\"");
    must(complete(&f, &c));
    is_int(count(&f), 0, "none while it is pending");

    now_ms += 6000;
    begin(&f, &a1, "x", &b);
    must(b.outcome == SM_BEGIN_BEGUN);

    end_row(&c, "x", SM_OUTCOME_REJECTED, SM_STATUS_REJECTED);
    c.number = 2;
    c.reason = sm_str_c("http_400");
    c.error = sm_str_c("x y");
    must(complete(&f, &c));
    is_str(events(&f, "x"), "webhook audit.log,webhook ops",
           "an event for each that is told of this end");

    is_int(complete(&f, &c), 0, "the same outcome again changes nothing");
    is_int(count(&f), 2, "and tells nobody");

    is_str(sql_text(&f, "SELECT gateway_type || ' ' || policy || ' ' || status "
                    "|| ' ' || attempt_count || ' ' || (next_attempt_at "
                    "= created_at) || ' ' || coalesce(notify, '-') || ' ' "
                    "|| traceparent FROM submission_intents "
                    "WHERE submission_target = 'webhook ops'"),
           on_sqlite() ? "webhook max_attempts pending 0 1 - " TRACE
                       : "webhook max_attempts pending 0 true - " TRACE,
           "it is due at once");

    id = sql_text(&f, "SELECT intent_id FROM submission_intents "
                  "WHERE submission_target = 'webhook ops'");
    is_mem(id, 5, " ops ", 5, "its id begins with a space");
    is_int(strlen(id), 5 + 32, "and has 32 digits");

    begin(&f, &a1, id, &b);
    is_int(b.outcome, SM_BEGIN_BEGUN, "it is begun");
    is_int(b.contract.gateway_type, SM_GATEWAY_WEBHOOK, "as a webhook's");
    is_int(b.number, 1, "for the first time");
    is_mem(b.trace.parent.data, b.trace.parent.len, TRACE, 55,
           "with the trace of the intent");

    is_int(sm_webhook_body(&f.call.arena, b.payload, &body), 0, "its body");
    is_mem(body.data, body.len,
           "{\"type\":\"intent.rejected\","
           "\"timestamp\":\"2001-09-09T01:46:46.000000Z\",\"data\":"
           "{\"intentId\":\"x\",\"submissionTarget\":\"t\","
           "\"createdAt\":\"2001-09-09T01:46:40.000000Z\","
           "\"status\":\"rejected\",\"attemptCount\":2,"
           "\"completedAt\":\"2001-09-09T01:46:46.000000Z\","
           "\"rejectedReason\":\"http_400\","
           "\"notBefore\":\"2001-09-09T01:46:40.000000Z\","
           "\"lastError\":\"x y\","
           "\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\"}}", 371,
           "is the intent as GET shows it");

    b.payload = sm_str_c("{\"id\":\"x\",\"target\":\"t\",\"created\":1,"
                         "\"status\":\"rejected\",\"attempts\":1,"
                         "\"completed\":2,\"before\":\"soon\"}");
    is_int(sm_webhook_body(&f.call.arena, b.payload, &body), 1,
           "what is damaged makes no body");

    end_row(&c, id, SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    must(complete(&f, &c));
    is_int(count(&f), 2, "nobody is told of an event");

    fixture_done(&f);
}


static void
test_ends(void)
{
    fixture_t          f;
    sm_begin_row_t     b;
    sm_complete_row_t  c;

    leader_open(&f, 24 * HOUR);

    post(&f, "n", &none);
    begin(&f, &a1, "n", &b);
    end_row(&c, "n", SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    must(complete(&f, &c));
    is_int(count(&f), 0, "nobody is to be told");

    post(&f, "o", &once);
    begin(&f, &a1, "o", &b);
    end_row(&c, "o", SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    must(complete(&f, &c));
    is_int(count(&f), 0, "not of that end");

    post(&f, "a", &all);
    begin(&f, &a1, "a", &b);
    end_row(&c, "a", SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    must(complete(&f, &c));
    is_str(events(&f, "a"), "webhook ops", "accepted");

    post(&f, "e", &once);
    begin(&f, &a1, "e", &b);
    end_row(&c, "e", SM_OUTCOME_ERROR, SM_STATUS_EXHAUSTED);
    c.exhausted = SM_EXHAUSTED_ONE_SHOT;
    must(complete(&f, &c));
    is_str(events(&f, "e"), "webhook ops", "exhausted");

    post(&f, "d", &all);
    now_ms += 20000;
    begin(&f, &a1, "d", &b);
    is_int(b.outcome, SM_BEGIN_EXPIRED, "past its deadline");
    is_str(events(&f, "d"), "webhook ops", "expired");

    post(&f, "x", &all);
    now_ms += 20000;
    b.id = sm_str_c("x");
    must(sm_store_attempts_expire(&f.store, new_call(&f), &a1, &b, 1) == 0);
    is_int(b.outcome, SM_BEGIN_EXPIRED, "past its deadline, outside of a turn");
    ok(sm_webhook_told(b.contract.notify, SM_STATUS_EXHAUSTED),
       "that somebody is told is known");
    is_str(events(&f, "x"), "webhook ops", "expired");

    fixture_done(&f);
}


static void
cancel(fixture_t *f, const char *id, sm_cancel_row_t *row)
{
    memset(row, 0, sizeof(sm_cancel_row_t));

    row->id = sm_str_c(id);
    row->actor.name = sm_str_c("ann");
    row->actor.address = sm_str_c("192.0.2.7");

    must(sm_store_intents_cancel(&f->store, new_call(f), row, 1) == 0);
}


static void
test_cancel(void)
{
    fixture_t        f;
    sm_cancel_row_t  row;

    leader_open(&f, 24 * HOUR);

    post(&f, "c", &all);
    post(&f, "n", &none);

    cancel(&f, "c", &row);
    is_int(row.outcome, SM_CANCEL_DONE, "canceled");
    is_str(events(&f, "c"), "webhook ops", "its webhook is told");

    cancel(&f, "c", &row);
    is_int(row.outcome, SM_CANCEL_SAME, "again");
    is_int(count(&f), 1, "and is told once");

    cancel(&f, "n", &row);
    is_int(row.outcome, SM_CANCEL_DONE, "one without");
    is_int(count(&f), 1, "tells nobody");

    fixture_done(&f);
}


/*
 * A batch of a job in the same microsecond in which somebody else canceled one of
 * its intents, which clocks that are coarse make likely: that one is not the job's.
 */

static void
test_job_at_the_same_time(void)
{
    fixture_t        f;
    sm_arena_t       arena = { NULL };
    sm_job_row_t     job;
    sm_job_item_t    items[2];
    sm_job_batch_t   batch;
    sm_cancel_row_t  row;
    sm_json_error_t  err;

    leader_open(&f, 24 * HOUR);

    post(&f, "hers", &all);
    post(&f, "its", &all);

    memset(&job, 0, sizeof(job));
    job.request.kind = SM_JOB_CANCEL;
    job.actor.name = sm_str_c("ann");
    job.actor.address = sm_str_c("192.0.2.7");
    must(sm_job_request_parse(&arena, sm_str_c("{\"id\":\"j\",\"filter\":"
                              "{\"status\":\"pending\"}}"), &job.request, &err)
         == 0);
    must(sm_store_jobs_add(&f.store, new_call(&f), &job, 1) == 0);

    cancel(&f, "hers", &row);
    must(row.outcome == SM_CANCEL_DONE);

    memset(items, 0, sizeof(items));
    memset(&batch, 0, sizeof(batch));
    items[0].id = sm_str_c("hers");
    items[1].id = sm_str_c("its");
    batch.kind = SM_JOB_CANCEL;
    batch.id = sm_str_c("j");
    batch.seen_after = 2;
    batch.state = SM_JOB_DONE;
    batch.items = items;
    batch.n = 2;

    is_int(sm_store_job_apply(&f.store, new_call(&f), &a1, &batch), 0,
           "a job's batch: %s", f.call.error);
    is_int(batch.done, 1, "of two, one was canceled before");
    is_int(items[0].done, 0, "which is not the job's");
    is_int(items[1].done, 1, "the other one is");
    is_str(events(&f, "hers"), "webhook ops", "told once");
    is_str(events(&f, "its"), "webhook ops", "and told");

    sm_arena_free(&arena);
    fixture_done(&f);
}


static void
test_recover(void)
{
    fixture_t       f;
    sm_lease_t      lease;
    sm_begin_row_t  b;
    sm_recovered_t  recovered;

    leader_open(&f, 24 * HOUR);

    post(&f, "o", &once);
    post(&f, "a", &all);
    begin(&f, &a1, "o", &b);
    begin(&f, &a1, "a", &b);

    must(sm_store_lease_takeover(&f.store, new_call(&f), &a1, HOUR, &lease)
         == 0);
    must(sm_store_attempts_recover(&f.store, new_call(&f), &a2, NULL, 0, 10, 1,
                                   &recovered)
         == 0);
    is_int(recovered.attempts, 2, "two were in doubt");
    is_str(events(&f, "o"), "webhook ops", "the one that ended is told of");
    is_str(events(&f, "a"), "", "the other one is not");

    fixture_done(&f);
}


/* a batch that is undone tells nobody */

static void
test_undone(void)
{
    fixture_t          f;
    sm_lease_t         lease;
    sm_begin_row_t     b;
    sm_complete_row_t  c;

    leader_open(&f, 24 * HOUR);

    post(&f, "a", &all);
    begin(&f, &a1, "a", &b);

    must(sm_store_lease_takeover(&f.store, new_call(&f), &a1, HOUR, &lease)
         == 0);

    end_row(&c, "a", SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    ok(sm_store_attempts_complete(&f.store, new_call(&f), &a1, &c, 1) != 0,
       "the lease is gone");
    is_int(count(&f), 0, "so nobody is told");
    is_str(sql_text(&f, "SELECT status FROM submission_intents"), "pending",
           "of what did not happen");

    fixture_done(&f);
}


int
main(void)
{
    sql_clock_start();

    test_turn();
    test_ends();
    test_cancel();
    test_job_at_the_same_time();
    test_recover();
    test_undone();

    return done_testing();
}
