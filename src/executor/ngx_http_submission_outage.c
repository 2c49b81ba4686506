
/*
 * Outages of gateways: what the queue, and the health of the target, learn of
 * each attempt.
 *
 * - There is one log line when a circuit opens, and one when it is closed.
 *   A gateway that comes and goes would tell of nothing else: an opening is told
 *   if the last one that was told is long ago, or as soon as it is and a probe
 *   finds the gateway as it was; it is told how many were left out.  What was not
 *   told to be open is not told to be closed.
 *   That a target is ill is told by target_health.c.
 * - sm_exchange_read() says what an error is: no answer, or one that makes no
 *   sense.  That a target cannot be sent to is an error, too.
 * - Only attempts of the present epoch and queue count: what an attempt of an
 *   earlier epoch says of its gateway is old.
 */

#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_stats.h"


#define NGX_HTTP_SUBMISSION_OUTAGE_REST  30000000      /* usec */


/* how often a target could not be sent to, and what was told of its circuit */

struct ngx_http_submission_outage_s {
    int64_t                          epoch;        /* of what follows */
    ngx_uint_t                       unsent;       /* rounds in a row */
    int64_t                          round;        /* when the next begins */

    int64_t                          opened;       /* when that was told last */
    ngx_uint_t                       left_out;     /* openings since then */
    unsigned                         told:1;       /* that it is open */
};


ngx_int_t
ngx_http_submission_outage_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex)
{
    ex->outages = ngx_pcalloc(cycle->pool,
                              ex->manager->conf->ntargets
                              * sizeof(ngx_http_submission_outage_t));

    return ex->outages ? NGX_OK : NGX_ERROR;
}


void
ngx_http_submission_outage_sent(ngx_http_submission_attempt_t *at)
{
    sm_entry_t                      *entry;
    const sm_bucket_t               *bucket;
    ngx_http_submission_executor_t  *ex;

    ex = at->manager->executor;
    entry = ngx_http_submission_attempt_entry(at);

    if (entry == NULL) {
        return;
    }

    ngx_http_submission_executor_tick(ex);
    sm_queue_sent(ex->queue, entry);

    bucket = sm_entry_bucket(entry);

    if (bucket->rate) {
        ngx_http_submission_limits_spent(at, bucket);
    }
}


/* NULL: the target is not configured */

static ngx_http_submission_outage_t *
ngx_http_submission_outage_of(ngx_http_submission_attempt_t *at,
    sm_entry_t *entry)
{
    int                            i;
    ngx_http_submission_outage_t  *outage;

    i = sm_queue_target_of(entry);
    if (i < 0) {
        return NULL;
    }

    outage = &at->manager->executor->outages[i];

    if (outage->epoch != at->epoch) {

        /* what was seen in another epoch is old */

        ngx_memzero(outage, sizeof(ngx_http_submission_outage_t));
        outage->epoch = at->epoch;
    }

    return outage;
}


/* whether the gateway has said how long it wants to be left alone */

static ngx_uint_t
ngx_http_submission_outage_rests(ngx_http_submission_attempt_t *at)
{
    return at->retry_after
           && (at->exchange.status == NGX_HTTP_TOO_MANY_REQUESTS
               || at->exchange.status == NGX_HTTP_SERVICE_UNAVAILABLE);
}


static ngx_uint_t
ngx_http_submission_outage_learn(ngx_http_submission_attempt_t *at,
    sm_entry_t *entry)
{
    ngx_uint_t      errors;
    sm_queue_t     *queue;

    queue = at->manager->executor->queue;

    if (at->outcome == SM_OUTCOME_ACCEPTED
        || at->outcome == SM_OUTCOME_REJECTED)
    {
        return sm_queue_answer(queue, entry);
    }

    /* the outcome is an error or unknown, or the attempt was not sent */

    errors = sm_queue_error(queue, entry);

    if (ngx_http_submission_outage_rests(at)) {
        sm_queue_rest(queue, entry, at->retry_after * 1000);
    }

    return errors;
}


/* The circuits of targets that are not configured any more are always told. */

static ngx_uint_t
ngx_http_submission_outage_tells(ngx_http_submission_outage_t *outage,
    ngx_uint_t first)
{
    int64_t  now;

    now = ngx_http_submission_usec();

    if (outage->opened
        && now - outage->opened < NGX_HTTP_SUBMISSION_OUTAGE_REST)
    {
        outage->left_out += first;
        return 0;
    }

    outage->opened = now;
    outage->told = 1;

    return 1;
}


static void
ngx_http_submission_outage_event(ngx_http_submission_attempt_t *at,
    ngx_uint_t errors, ngx_uint_t left_out)
{
    u_char  more[sizeof(" It had opened  more times since that was told last.")
                 + NGX_INT_T_LEN], *p;

    p = more;

    if (left_out) {
        p = ngx_snprintf(more, sizeof(more), " It had opened %ui more time%s "
                         "since that was told last.", left_out,
                         left_out == 1 ? "" : "s");
    }

    ngx_http_submission_event(at->manager, SM_FEED_CIRCUIT_OPEN,
                              at->contract.target,
                              "The circuit of %*s is open after %ui errors in "
                              "a row: nothing is sent to it until a probe "
                              "succeeds.%*s", at->contract.target.len,
                              at->contract.target.data, errors,
                              (size_t) (p - more), more);
}


/* A circuit that a probe opens again was open all the time: that is no event. */

static void
ngx_http_submission_outage_open(ngx_http_submission_attempt_t *at,
    ngx_http_submission_outage_t *outage, int64_t before, int64_t until,
    ngx_uint_t errors)
{
    ngx_uint_t  event, left_out;

    event = before == 0;
    left_out = 0;

    if (outage) {

        if (event) {
            outage->told = 0;
        }

        if (!outage->told) {

            /* also one that was left out, and is open still */

            if (!ngx_http_submission_outage_tells(outage, event)) {
                return;
            }

            left_out = outage->left_out;
            left_out -= !event && left_out;         /* it is one of them */
            outage->left_out = 0;
            event = 1;
        }
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: circuit_open manager=%V target=%*s "
                  "lease_epoch=%L errors=%ui ms=%L left_out=%ui: nothing "
                  "begins for that long", &at->manager->conf->name,
                  at->contract.target.len, at->contract.target.data,
                  at->epoch, errors,
                  (until - ngx_http_submission_usec()) / 1000, left_out);

    if (event) {
        ngx_http_submission_outage_event(at, errors, left_out);
    }
}


static void
ngx_http_submission_outage_circuit(ngx_http_submission_attempt_t *at,
    ngx_http_submission_outage_t *outage, int64_t before, int64_t until,
    ngx_uint_t errors)
{
    if (until > before) {
        ngx_http_submission_outage_open(at, outage, before, until, errors);

    } else if (before && until == 0 && (outage == NULL || outage->told)) {

        if (outage) {
            outage->told = 0;
        }

        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "submission: circuit_closed manager=%V target=%*s "
                      "lease_epoch=%L", &at->manager->conf->name,
                      at->contract.target.len, at->contract.target.data,
                      at->epoch);

        ngx_http_submission_event(at->manager, SM_FEED_CIRCUIT_CLOSED,
                                  at->contract.target,
                                  "The circuit of %*s is closed: its gateway "
                                  "has answered, and attempts go on.",
                                  at->contract.target.len,
                                  at->contract.target.data);
    }
}


void
ngx_http_submission_outage(ngx_http_submission_attempt_t *at)
{
    int64_t                          before;
    ngx_uint_t                       errors;
    sm_entry_t                      *entry;
    ngx_http_submission_outage_t    *outage;
    ngx_http_submission_executor_t  *ex;

    ex = at->manager->executor;
    entry = ngx_http_submission_attempt_entry(at);

    if (entry == NULL || at->epoch != ex->epoch
        || at->what == SM_EXCHANGE_SHUTDOWN)
    {
        return;
    }

    ngx_http_submission_executor_tick(ex);

    before = sm_queue_open_until(ex->queue, entry);
    errors = ngx_http_submission_outage_learn(at, entry);

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: target \"%*s\" outcome:%d errors:%ui "
                   "retry after:%L ms", at->contract.target.len,
                   at->contract.target.data, (int) at->outcome, errors,
                   at->retry_after);

    outage = ngx_http_submission_outage_of(at, entry);

    ngx_http_submission_outage_circuit(at, outage, before,
                                       sm_queue_open_until(ex->queue,
                                                           entry),
                                       errors);

    if (outage && at->outcome != SM_OUTCOME_NONE) {
        outage->unsent = 0;
    }

    ngx_http_submission_target_health_attempt(at);
}


/* no gateway is to blame, so the attempt counts for the health alone */

void
ngx_http_submission_outage_short(ngx_http_submission_attempt_t *at)
{
    if (ngx_http_submission_attempt_entry(at)
        && at->epoch == at->manager->executor->epoch)
    {
        ngx_http_submission_target_health_attempt(at);
    }
}


/*
 * A circuit ends with its leader, and the next one tries the gateway.  The feed
 * says so, or nobody would ever call that circuit closed; but not if it calls it
 * closed already, as when this opening was left out.
 */

void
ngx_http_submission_outage_told(ngx_http_submission_executor_t *ex,
    const sm_stats_t *told)
{
    size_t                    i;
    const sm_stats_target_t  *row;

    for (i = 0; i < told->n; i++) {
        row = &told->targets[i];

        if (row->open_until == 0 || row->name.len == 0
            || ngx_http_submission_event_over(ex->manager,
                                              SM_FEED_CIRCUIT_OPEN,
                                              SM_FEED_CIRCUIT_CLOSED,
                                              row->name))
        {
            continue;
        }

        ngx_http_submission_event(ex->manager, SM_FEED_CIRCUIT_CLOSED,
                                  row->name,
                                  "The circuit of %*s is closed: the leader is "
                                  "a new one, and tries its gateway again.",
                                  row->name.len, row->name.data);
    }
}


/*
 * A target that cannot be sent to is tried less and less often, and no other
 * target with it.  The delay grows by rounds: attempts that were begun before
 * half the delay of the first of them has passed are one round, however many
 * they are.  It is half, because the first comes again after the whole delay by
 * the store's clock, which may be a little early.
 */

int64_t
ngx_http_submission_outage_unsent(ngx_http_submission_attempt_t *at)
{
    int64_t                        delay;
    ngx_uint_t                     first;
    sm_entry_t                    *entry;
    ngx_http_submission_outage_t  *outage;

    entry = ngx_http_submission_attempt_entry(at);
    outage = entry ? ngx_http_submission_outage_of(at, entry) : NULL;

    first = outage && (outage->unsent == 0 || at->left_at >= outage->round);

    if (first) {
        outage->unsent++;
    }

    delay = sm_policy_unsent(&at->contract, outage ? outage->unsent : 1,
                             (uint32_t) ngx_random());

    if (first) {
        outage->round = ngx_http_submission_usec() + delay * 1000 / 2;
    }

    return delay;
}
