
/*
 * What the queue has of each target, for the leader's numbers and for the
 * gauges by target.
 *
 * Counting what is due takes time if much is due.  So the gauges are set a
 * moment after something has happened, and the longer that takes, the less
 * often; but so often that with the next document, which asks for them, too,
 * they are never older than five seconds.
 *
 * There are none before it is known what the leader before has told: until then
 * any target may be paused, or ill.
 */

#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_stats.h"


#define NGX_HTTP_SUBMISSION_DEPTH_WAIT   100        /* milliseconds */
#define NGX_HTTP_SUBMISSION_DEPTH_SHARE  200        /* 1/200 of the time */
#define NGX_HTTP_SUBMISSION_DEPTH_MOST   4000       /* milliseconds */


/* must be in the order of sm_target_state_e */

static const sm_stats_state_e  ngx_http_submission_depth_states[] = {
    SM_STATS_OPEN, SM_STATS_PAUSED, SM_STATS_CIRCUIT_OPEN
};

_Static_assert(sm_nelts(ngx_http_submission_depth_states) == SM_TARGET_STATES,
               "a state for each of the queue's");


struct ngx_http_submission_gauges_s {
    ngx_event_t                      timer;
    ngx_msec_t                       wait;         /* until the next look */
};


static void ngx_http_submission_depth_timer(ngx_event_t *ev);


ngx_int_t
ngx_http_submission_depth_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_gauges_t  *gauges;

    gauges = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_gauges_t));
    if (gauges == NULL) {
        return NGX_ERROR;
    }

    gauges->timer.handler = ngx_http_submission_depth_timer;
    gauges->timer.data = ex;
    gauges->timer.log = cycle->log;
    gauges->timer.cancelable = 1;

    ex->gauges = gauges;

    return NGX_OK;
}


void
ngx_http_submission_depth_look(ngx_http_submission_executor_t *ex)
{
    if (!ex->gauges->timer.timer_set) {
        ngx_add_timer(&ex->gauges->timer,
                      ngx_max(ex->gauges->wait,
                              NGX_HTTP_SUBMISSION_DEPTH_WAIT));
    }
}


void
ngx_http_submission_depth_stop(ngx_http_submission_executor_t *ex)
{
    if (ex->gauges->timer.timer_set) {
        ngx_del_timer(&ex->gauges->timer);
    }
}


static void
ngx_http_submission_depth_target(ngx_http_submission_executor_t *ex,
    ngx_uint_t i, int64_t now, sm_stats_target_t *row)
{
    sm_target_state_t  state;

    sm_queue_target_state(ex->queue, i, &state);

    row->state = ngx_http_submission_depth_states[state.state];
    row->failures = state.failures;
    row->open_until = state.circuit_open_until
                      ? now + state.circuit_open_until
                        - ngx_http_submission_usec()
                      : 0;
    row->health = ngx_http_submission_target_health_state(ex, i);
    row->certificate = ngx_http_submission_target_health_expires(ex, i);
    row->due = state.due;
    row->waiting = state.waiting;
    row->in_flight = state.in_flight;
    row->oldest_due = state.due ? ngx_max(now - state.oldest_due, 0) : 0;
}


/*
 * "targets" has one element more than there are configured targets: the last
 * has what belongs to no configured target, and whether that is due is not
 * looked at.  The totals are of intents, without the messages of webhooks.
 */

void
ngx_http_submission_depth_read(ngx_http_submission_executor_t *ex,
    sm_stats_target_t *targets, sm_stats_target_t *totals)
{
    int64_t                         now, began, queued, taken;
    ngx_uint_t                      i, n;
    ngx_msec_t                      wait;
    sm_stats_target_t              *t;
    ngx_http_submission_target_t  **configured;

    began = ngx_http_submission_usec();
    n = ex->manager->conf->by_index.nelts;
    configured = ex->manager->conf->by_index.elts;

    ngx_http_submission_executor_tick(ex);

    now = ngx_http_submission_executor_now(ex);
    queued = 0;
    taken = 0;

    for (i = 0; i < n; i++) {
        t = &targets[i];

        ngx_http_submission_depth_target(ex, i, now, t);

        queued += t->due + t->waiting;
        taken += t->in_flight;

        if (configured[i]->contract.gateway_type == SM_GATEWAY_WEBHOOK) {
            continue;
        }

        totals->due += t->due;
        totals->waiting += t->waiting;
        totals->in_flight += t->in_flight;
        totals->oldest_due = ngx_max(totals->oldest_due, t->oldest_due);
    }

    t = &targets[n];

    t->waiting = ngx_max((int64_t) sm_queue_waiting(ex->queue) - queued, 0);
    t->in_flight = ngx_max((int64_t) sm_queue_taken(ex->queue) - taken, 0);

    totals->waiting += t->waiting;
    totals->in_flight += t->in_flight;

    wait = (ngx_msec_t) ((ngx_http_submission_usec() - began)
                         * NGX_HTTP_SUBMISSION_DEPTH_SHARE / 1000);

    ex->gauges->wait = ngx_min(wait, NGX_HTTP_SUBMISSION_DEPTH_MOST);
}


static void
ngx_http_submission_depth_timer(ngx_event_t *ev)
{
    ngx_uint_t                       i, n;
    sm_stats_target_t               *rows, totals;
    ngx_http_submission_target_t   **targets;
    ngx_http_submission_executor_t  *ex;

    ex = ev->data;

    if (ex->queue == NULL || !ngx_http_submission_pauses_known(ex)) {
        return;
    }

    targets = ex->manager->conf->by_index.elts;
    n = ex->manager->conf->by_index.nelts;

    rows = ngx_calloc((n + 1) * sizeof(sm_stats_target_t), ev->log);
    if (rows == NULL) {
        return;
    }

    ngx_memzero(&totals, sizeof(sm_stats_target_t));

    ngx_http_submission_depth_read(ex, rows, &totals);

    for (i = 0; i <= n; i++) {
        if (i == n || targets[i]->metrics) {
            ngx_http_submission_depth(ex->manager, i < n ? targets[i] : NULL,
                                      &rows[i]);
        }
    }

    /* with the first value of an epoch its gauges are valid */

    ngx_http_submission_gauge(ex->manager,
                              NGX_HTTP_SUBMISSION_GAUGE_QUEUE_DEPTH,
                              ex->epoch, sm_queue_waiting(ex->queue));

    ngx_free(rows);
}
