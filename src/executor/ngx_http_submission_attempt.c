
/*
 * One attempt, from its begin in the store to the meaning of the gateway's
 * answer.
 *
 * - A row that the store has begun becomes an attempt, whatever happens to the
 *   leader meanwhile, and each attempt ends exactly once: it is recorded with
 *   an outcome, given back without one, or dropped because another instance
 *   settles it.  If there is no memory even to give it back, the lease is given
 *   up, and the next leader finds the attempt in doubt.
 * - An attempt is in one list at a time: ex->sending while nginx has its
 *   request, then ex->ended until a turn takes it.
 * - What it points to is its own or the configuration's.  "entry" is the
 *   queue's, and may only be used as _entry() returns it.
 *
 * All of it runs on the event loop.  _finished() is called from within nginx,
 * while it closes the request's connection, so nothing begins from there: the
 * executor is woken by a posted event.
 */

#include "ngx_http_submission_dispatch.h"
#include "ngx_http_submission_stats.h"
#include "ngx_http_submission_turn.h"


static char *
ngx_http_submission_attempt_copy(char *p, sm_str_t *dst, sm_str_t *src)
{
    dst->data = src->data ? p : NULL;
    dst->len = src->len;

    return src->len ? (char *) ngx_cpymem(p, src->data, src->len) : p;
}


/* each attempt is a span of its own in the trace that the intent came with */

static void
ngx_http_submission_attempt_trace(ngx_http_submission_attempt_t *at, char *p,
    sm_trace_t *trace)
{
    uint64_t  n;

    n = (uint64_t) ngx_random() << 33 ^ (uint64_t) ngx_random() << 11
        ^ (uint64_t) ngx_random();

    sm_trace_span(n, p);

    at->span_id.data = p;
    at->span_id.len = SM_TRACE_SPAN_LEN;

    p += SM_TRACE_SPAN_LEN;

    sm_trace_child(trace->parent, at->span_id.data, p);

    at->trace.parent.data = p;
    at->trace.parent.len = SM_TRACE_PARENT_LEN;

    p += SM_TRACE_PARENT_LEN;

    (void) ngx_http_submission_attempt_copy(p, &at->trace.state,
                                            &trace->state);
}


static ngx_http_submission_attempt_t *
ngx_http_submission_attempt_create(sm_begin_row_t *row)
{
    char                           *p;
    ngx_http_submission_attempt_t  *at;

    at = ngx_alloc(sizeof(ngx_http_submission_attempt_t) + row->id.len
                   + row->payload.len + row->contract.target.len
                   + row->contract.gateway_url.len
                   + row->contract.terminal_outcomes.len
                   + row->contract.retry_schedule.len
                   + row->contract.notify.len + row->refused.len
                   + row->trace.parent.len + row->trace.state.len
                   + SM_TRACE_SPAN_LEN, ngx_cycle->log);
    if (at == NULL) {
        return NULL;
    }

    ngx_memzero(at, sizeof(ngx_http_submission_attempt_t));

    at->number = row->number;
    at->created_at = row->created_at;
    at->due_at = row->due_at;
    at->contract = row->contract;

    p = at->data;
    p = ngx_http_submission_attempt_copy(p, &at->id, &row->id);
    p = ngx_http_submission_attempt_copy(p, &at->payload, &row->payload);
    p = ngx_http_submission_attempt_copy(p, &at->contract.target,
                                         &row->contract.target);
    p = ngx_http_submission_attempt_copy(p, &at->contract.gateway_url,
                                         &row->contract.gateway_url);
    p = ngx_http_submission_attempt_copy(p, &at->contract.terminal_outcomes,
                                         &row->contract.terminal_outcomes);
    p = ngx_http_submission_attempt_copy(p, &at->contract.retry_schedule,
                                         &row->contract.retry_schedule);
    p = ngx_http_submission_attempt_copy(p, &at->contract.notify,
                                         &row->contract.notify);
    p = ngx_http_submission_attempt_copy(p, &at->error, &row->refused);

    if (sm_trace_id(row->trace.parent).len) {
        ngx_http_submission_attempt_trace(at, p, &row->trace);
    }

    return at;
}


void
ngx_http_submission_attempt_free(ngx_http_submission_attempt_t *at)
{
    sm_arena_free(&at->arena);
    ngx_free(at);
}


void
ngx_http_submission_attempt_log(ngx_http_submission_attempt_t *at,
    ngx_uint_t level, const char *event, const char *note)
{
    u_char                       retry[sizeof(" retry_ms=") + NGX_INT64_LEN];
    u_char                      *last;
    const char                  *quote;
    sm_str_t                     outcome, status;
    ngx_http_submission_field_t  id, reason, error, trace;

    /* the name of a webhook's target has a space */

    quote = at->contract.gateway_type == SM_GATEWAY_WEBHOOK ? "\"" : "";

    outcome = sm_outcome_name(at->outcome);
    status = sm_status_name(at->decision.status);
    last = retry;

    if (at->decision.status == SM_STATUS_PENDING) {
        last = ngx_sprintf(retry, " retry_ms=%L", at->decision.delay);
    }

    ngx_log_error(level, ngx_cycle->log, 0,
                  "submission: %s manager=%V%V target=%s%*s%s attempt=%L "
                  "lease_epoch=%L outcome=%*s%V%V status=%*s%*s "
                  "duration_ms=%L%V%s%s",
                  event, &at->manager->conf->name,
                  ngx_http_submission_field(&id, " intent_id=", at->id),
                  quote, at->contract.target.len, at->contract.target.data,
                  quote, at->number, at->epoch,
                  outcome.len ? outcome.len : 4,
                  outcome.len ? outcome.data : "none",
                  ngx_http_submission_field(&reason, " reason=", at->reason),
                  ngx_http_submission_field(&error, " error=", at->error),
                  status.len, status.data, (size_t) (last - retry), retry,
                  (at->finished_at - at->started_at) / 1000,
                  ngx_http_submission_field(&trace, " trace_id=",
                                            sm_trace_id(at->trace.parent)),
                  note ? " note=" : "", note ? note : "");
}


sm_entry_t *
ngx_http_submission_attempt_entry(ngx_http_submission_attempt_t *at)
{
    return ngx_http_submission_epoch_entry(at->manager->executor,
                                           at->generation, at->entry);
}


void
ngx_http_submission_attempt_drop(ngx_http_submission_attempt_t *at,
    const char *why)
{
    ngx_http_submission_attempt_log(at, NGX_LOG_WARN, "attempt_dropped", why);
    ngx_http_submission_attempt_free(at);
}


/*
 * The attempt has ended and waits to be recorded, unless another instance has
 * led since it was begun or the worker has left.
 */

static void
ngx_http_submission_attempt_ended(ngx_http_submission_attempt_t *at)
{
    sm_entry_t                      *entry;
    ngx_http_submission_executor_t  *ex;

    ex = at->manager->executor;
    entry = ngx_http_submission_attempt_entry(at);

    if (entry) {
        sm_queue_end(ex->queue, entry);
    }

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: ended attempt of \"%*s\" attempt:%L "
                   "forgotten:%d queued:%d", at->id.len, at->id.data,
                   at->number, at->forgotten, entry != NULL);

    if (at->forgotten
        || ngx_http_submission_leader_left(at->manager))
    {
        ngx_http_submission_attempt_drop(at, "lease_gone");

    } else {
        ngx_queue_insert_tail(&ex->ended, &at->queue);
        ex->nended++;
    }

    ngx_http_submission_executor_wake(ex);
}


/*
 * The intent stays pending, and the attempt does not count.  "event" is the
 * name of the log line; NULL: there is none.
 */

static void
ngx_http_submission_attempt_give_back(ngx_http_submission_attempt_t *at,
    int64_t delay, ngx_uint_t level, const char *event)
{
    at->outcome = SM_OUTCOME_NONE;
    at->decision.status = SM_STATUS_PENDING;
    at->decision.delay = delay;

    ngx_log_debug6(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: given back \"%*s\" attempt:%L exchange:%d "
                   "gated:%d delay:%L ms", at->id.len, at->id.data, at->number,
                   (int) at->what, at->gated, delay);

    if (event) {
        ngx_http_submission_attempt_log(at, level, event, NULL);
    }

    ngx_http_submission_attempt_ended(at);
}


/*
 * Nothing has left this host, so it does not count as an attempt and is given
 * back for later.  If the worker is exiting there is no delay, because another
 * worker may be able to send it.
 */

static void
ngx_http_submission_attempt_unsent(ngx_http_submission_attempt_t *at)
{
    int64_t                          delay;
    ngx_http_submission_executor_t  *ex;

    ex = at->manager->executor;
    delay = 0;

    if (ngx_exiting) {
        goto done;
    }

    if (at->what == SM_EXCHANGE_SHORT) {
        ex->unsent = 1;
        ex->pause = ngx_current_msec + NGX_HTTP_SUBMISSION_EXECUTOR_PAUSE;
        ngx_http_submission_executor_short(ex);
        ngx_http_submission_outage_short(at);
        ngx_http_submission_stats_unsent(at);

        delay = sm_policy_unsent(&at->contract, 1, (uint32_t) ngx_random());

    } else if (!at->exchange.aborted) {
        ngx_http_submission_outage(at);
        ngx_http_submission_stats_unsent(at);

        delay = ngx_http_submission_outage_unsent(at);
    }

done:

    ngx_http_submission_count_unsent(at->manager, at->target,
                                     at->what == SM_EXCHANGE_SHORT
                                     ? SM_UNSENT_HOST
                                     : sm_exchange_unsent_reason(
                                           &at->exchange));
    ngx_http_submission_attempt_give_back(at, delay, NGX_LOG_INFO,
                                          "attempt_unsent");
}


/* there is no connection, or no memory, to send it with */

static void
ngx_http_submission_attempt_short(ngx_http_submission_attempt_t *at)
{
    at->what = SM_EXCHANGE_SHORT;
    at->error = sm_str_c("not sent: no connection, or no memory, was left");

    ngx_http_submission_attempt_unsent(at);
}


/*
 * The contract is not understood, so nothing can be sent, and nobody knows when
 * to give the intent up.  It waits for somebody who repairs it.
 */

static void
ngx_http_submission_attempt_refused(ngx_http_submission_attempt_t *at)
{
    ngx_http_submission_attempt_give_back(at, SM_REFUSED_DELAY, NGX_LOG_ERR,
                                          "contract_not_understood");
}


/* the attempt was begun and is lost: the next leader finds it in doubt */

static void
ngx_http_submission_attempt_lost(ngx_http_submission_manager_t *manager,
    sm_begin_row_t *row, int64_t epoch)
{
    ngx_http_submission_field_t  id;

    ngx_log_error(NGX_LOG_CRIT, ngx_cycle->log, 0,
                  "submission: no memory for an attempt manager=%V%V",
                  &manager->conf->name,
                  ngx_http_submission_field(&id, " intent_id=", row->id));

    ngx_http_submission_leader_abandon(manager, epoch, "no_memory");
}


static ngx_uint_t
ngx_http_submission_attempt_paused(ngx_http_submission_attempt_t *at)
{
    sm_entry_t  *entry;

    entry = ngx_http_submission_attempt_entry(at);

    return entry && sm_queue_paused(entry);
}


void
ngx_http_submission_attempt_start(ngx_http_submission_manager_t *manager,
    ngx_uint_t generation, sm_entry_t *entry, sm_begin_row_t *row,
    int64_t epoch, int64_t now)
{
    ngx_uint_t                       memory;
    ngx_http_submission_attempt_t   *at;
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    memory = 1;
    at = ngx_http_submission_attempt_create(row);

    if (at == NULL) {

        /* without the payload, memory may suffice to give it back */

        memory = 0;
        ngx_memzero(&row->payload, sizeof(sm_str_t));
        at = ngx_http_submission_attempt_create(row);
    }

    if (at == NULL) {
        ngx_http_submission_attempt_lost(manager, row, epoch);
        return;
    }

    at->manager = manager;
    at->target = ngx_http_submission_target(manager->conf,
                                            at->contract.target);

    if (at->target) {
        at->keys = at->target->keys;
        at->nkeys = at->target->nkeys;
    }

    at->generation = generation;
    at->entry = entry;
    at->epoch = epoch;
    at->started_at = now;
    at->finished_at = now;
    at->left_at = ngx_http_submission_usec();

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: begun \"%*s\" attempt:%L epoch:%L late:%L us",
                   at->id.len, at->id.data, at->number, epoch,
                   now - at->due_at);

    /* its target may have been paused while the store was asked */

    if (ex->leaving
        || !ngx_http_submission_leader_gate(at->manager, at->epoch)
        || ngx_http_submission_attempt_paused(at))
    {
        ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission: not sent \"%*s\": the worker leaves:%d, or "
                       "the gate is shut, or the target is paused",
                       at->id.len, at->id.data, ex->leaving);

        ngx_http_submission_attempt_give_back(at, 0, 0, NULL);
        return;
    }

    if (row->refused.data) {
        ngx_http_submission_attempt_refused(at);
        return;
    }

    if (!memory) {
        ngx_http_submission_attempt_short(at);
        return;
    }

    if (at->contract.gateway_type == SM_GATEWAY_WEBHOOK
        && ngx_http_submission_webhook_prepare(at) != NGX_OK)
    {
        ngx_http_submission_attempt_unsent(at);
        return;
    }

    ngx_http_submission_observe(at->manager, at->target,
                                NGX_HTTP_SUBMISSION_DUR_QUEUE_DELAY,
                                at->started_at - at->due_at);

    ngx_queue_insert_tail(&ex->sending, &at->queue);
    ex->nsending++;

    ngx_http_submission_target_health_begun(ex);
    ngx_http_submission_reserve_take();

    if (ngx_http_submission_send_attempt(at) != NGX_OK) {
        ngx_queue_remove(&at->queue);
        ex->nsending--;
        ngx_http_submission_reserve_put();

        ngx_http_submission_attempt_short(at);
    }
}


/* finds out what the exchange means, for the record */

static void
ngx_http_submission_attempt_read(ngx_http_submission_attempt_t *at)
{
    at->what = sm_exchange(at->contract.gateway_type, &at->exchange);

    if (sm_exchange_read(&at->arena, at->contract.gateway_type, &at->exchange,
                         &at->outcome, &at->reason, &at->error)
        != 0
        && at->outcome != SM_OUTCOME_NONE)
    {
        at->outcome = SM_OUTCOME_UNKNOWN;
        at->reason = sm_str_c("no_memory");
    }

    /* without memory the attempt is recorded without its answer */

    (void) sm_exchange_keep(&at->arena, &at->exchange, &at->http_status,
                            &at->kept);
}


static void
ngx_http_submission_attempt_decide(ngx_http_submission_attempt_t *at)
{
    sm_policy_in_t  in;

    in.contract = &at->contract;
    in.created_at = at->created_at;
    in.number = at->number;
    in.finished_at = at->finished_at;
    in.outcome = at->outcome;
    in.reason = at->reason;
    in.retry_after = at->retry_after;
    in.random = (uint32_t) ngx_random();

    sm_policy(&in, &at->decision);
}


void
ngx_http_submission_attempt_finished(ngx_http_submission_attempt_t *at)
{
    ngx_http_submission_executor_t  *ex;

    ex = at->manager->executor;

    ngx_queue_remove(&at->queue);
    ex->nsending--;
    ngx_http_submission_reserve_put();

    ngx_log_debug6(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: finished \"%*s\" attempt:%L gated:%d sent:%d "
                   "cause:%d", at->id.len, at->id.data, at->number, at->gated,
                   at->exchange.sent, (int) at->exchange.cause.what);

    if (at->gated && !at->exchange.sent) {
        ngx_http_submission_attempt_give_back(at, 0, 0, NULL);
        return;
    }

    at->finished_at = ngx_max(ngx_http_submission_executor_now(ex),
                              at->started_at);

    ngx_http_submission_attempt_read(at);

    if (at->outcome == SM_OUTCOME_NONE) {
        ngx_http_submission_attempt_unsent(at);
        return;
    }

    ex->unsent = 0;
    ex->starved_since = 0;

    ngx_http_submission_attempt_decide(at);

    ngx_log_debug7(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: decided \"%*s\" exchange:%d outcome:%s "
                   "status:%s exhausted:%d delay:%L ms", at->id.len,
                   at->id.data, (int) at->what,
                   sm_outcome_name(at->outcome).data,
                   sm_status_name(at->decision.status).data,
                   (int) at->decision.exhausted, at->decision.delay);

    at->took = ngx_http_submission_usec() - at->left_at;

    ngx_http_submission_outage(at);
    ngx_http_submission_observe(at->manager, at->target,
                                NGX_HTTP_SUBMISSION_DUR_ATTEMPT, at->took);

    ngx_http_submission_attempt_ended(at);
}
