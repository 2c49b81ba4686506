
/*
 * The executor of the leader: when something is begun, and how much of it.
 *
 * due -> begun -> at the gateway -> ended -> recorded -> due again, or done
 *
 * Beginning and recording are one fenced call to the store, a turn.  There is
 * one turn at a time, and whatever comes up meanwhile goes into the next.  The
 * intent stays in the queue, as taken.
 *
 * - Nothing is sent that was not begun in the store, or that the leader's gate
 *   does not let out at that moment.
 * - An attempt that was begun and cannot be sent is given back, in the same
 *   way in which an ended one is recorded.
 *
 * _run() is the one place from which turns and expiries begin while the worker
 * leads.  Whoever has changed something that could let one begin calls
 * _wake(), and never _run() itself.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_stats.h"
#include "ngx_http_submission_turn.h"


static void ngx_http_submission_executor_run(ngx_event_t *ev);


ngx_int_t
ngx_http_submission_executor_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_executor_t  *ex;

    ex = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_executor_t));
    if (ex == NULL) {
        return NGX_ERROR;
    }

    ex->manager = manager;

    ex->run.handler = ngx_http_submission_executor_run;
    ex->run.data = ex;
    ex->run.log = cycle->log;

    ex->due.handler = ngx_http_submission_executor_run;
    ex->due.data = ex;
    ex->due.log = cycle->log;
    ex->due.cancelable = 1;

    ngx_queue_init(&ex->sending);
    ngx_queue_init(&ex->ended);

    manager->executor = ex;

    return ngx_http_submission_turn_init(cycle, ex) == NGX_OK
           && ngx_http_submission_expiry_init(cycle, ex) == NGX_OK
           && ngx_http_submission_stats_init(cycle, ex) == NGX_OK
           && ngx_http_submission_depth_init(cycle, ex) == NGX_OK
           && ngx_http_submission_outage_init(cycle, ex) == NGX_OK
           && ngx_http_submission_target_health_init(cycle, ex) == NGX_OK
           && ngx_http_submission_duty_init(cycle, ex) == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


void
ngx_http_submission_executor_time(ngx_http_submission_executor_t *ex,
    int64_t now)
{
    ex->now = now;
    ex->now_at = ngx_http_submission_usec();
}


/*
 * An estimate of the store's time, a little behind.  It only serves to plan;
 * the one thing that it decides is whether an answer came before the deadline.
 */

int64_t
ngx_http_submission_executor_now(ngx_http_submission_executor_t *ex)
{
    return ex->now + ngx_http_submission_usec() - ex->now_at;
}


void
ngx_http_submission_executor_tick(ngx_http_submission_executor_t *ex)
{
    int64_t  clock;

    clock = ngx_http_submission_usec();

    sm_queue_tick(ex->queue, ex->now + clock - ex->now_at, clock);
}


void
ngx_http_submission_executor_wake(ngx_http_submission_executor_t *ex)
{
    if (!ex->run.posted) {
        ngx_post_event(&ex->run, &ngx_posted_events);
    }
}


ngx_uint_t
ngx_http_submission_executor_starved(ngx_http_submission_manager_t *manager,
    ngx_msec_t time)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    return ex->starved_since
           && ngx_http_submission_msec() - ex->starved_since >= time;
}


void
ngx_http_submission_executor_short(ngx_http_submission_executor_t *ex)
{
    if (ex->queue == NULL) {
        return;
    }

    if (ex->starved_since == 0) {
        ex->starved_since = ngx_max(ngx_http_submission_msec(), 1);
    }

    if (ngx_time() - ex->warned < 60) {
        return;
    }

    ex->warned = ngx_time();

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: attempts_wait manager=%V lease_epoch=%L "
                  "waiting=%uz: no connection is left to send with: %ui "
                  "worker_connections, or the worker's open files, are not "
                  "enough",
                  &ex->manager->conf->name, ex->epoch,
                  sm_queue_waiting(ex->queue),
                  ngx_cycle->connection_n);
}


ngx_uint_t
ngx_http_submission_executor_room(ngx_http_submission_executor_t *ex,
    ngx_uint_t behind)
{
    ngx_uint_t                           n, connections;
    ngx_http_submission_manager_conf_t  *conf;

    conf = ex->manager->conf;

    /* attempts of an earlier epoch may be at gateways, too */

    if (ex->nsending >= (ngx_uint_t) conf->executor_concurrency
        || ex->nended > 2 * (ngx_uint_t) conf->executor_batch)
    {
        return 0;
    }

    n = conf->executor_concurrency - ex->nsending;
    n = ngx_min(n, (ngx_uint_t) conf->executor_batch);

    /*
     * Attempts that are begun together are usually answered together, and
     * would wait for each other at every turn.  So at most a quarter of them
     * is begun at once.  If gateways answer faster than a turn takes, attempts
     * wait for turns, and larger turns take less time for each attempt.
     */

    if (!behind) {
        n = ngx_min(n, (ngx_uint_t) (conf->executor_concurrency + 3) / 4);
    }

    connections = ngx_http_submission_reserve_room();

    if (connections == 0) {
        ngx_http_submission_executor_short(ex);

    } else if (!ex->unsent) {
        ex->starved_since = 0;
    }

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: room for:%ui connections:%ui sending:%ui "
                   "ended:%ui behind:%ui", n, connections, ex->nsending,
                   ex->nended, behind);

    return ngx_min(n, connections);
}


/*
 * Arms the timer for the next intent that becomes due or passes its deadline.
 * Attempts that end wake the executor themselves.
 */

static void
ngx_http_submission_executor_arm(ngx_http_submission_executor_t *ex)
{
    int64_t     next, now;
    ngx_msec_t  wait;

    if (ex->due.timer_set) {
        ngx_del_timer(&ex->due);
    }

    if (ngx_http_submission_turn_out(ex)) {
        return;
    }

    next = ngx_min(sm_queue_next(ex->queue),
                   sm_queue_next_deadline(ex->queue));

    if (next == INT64_MAX) {
        return;
    }

    now = ngx_http_submission_executor_now(ex);

    if (next > now) {
        wait = ngx_min((next - now) / 1000 + 1, 3600 * 1000);

    } else {
        wait = NGX_HTTP_SUBMISSION_EXECUTOR_PAUSE;
    }

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: executor waits:%M ms waiting:%uz", wait,
                   sm_queue_waiting(ex->queue));

    ngx_add_timer(&ex->due, wait);
}


static void
ngx_http_submission_executor_run(ngx_event_t *ev)
{
    ngx_http_submission_executor_t  *ex;

    ex = ev->data;

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: executor run leads:%d turn:%d sending:%ui "
                   "ended:%ui", ex->queue != NULL,
                   (int) ngx_http_submission_turn_out(ex), ex->nsending,
                   ex->nended);

    if (ex->queue == NULL) {

        /* the leader waits for the last turn before it asks for the lease */

        if (!ngx_http_submission_turn_out(ex)) {
            ngx_http_submission_leader_idle(ex->manager);
        }

        return;
    }

    ngx_http_submission_reserve_adjust();

    if (ngx_http_submission_leader_late(ex->manager)) {
        return;
    }

    ngx_http_submission_executor_tick(ex);

    if (sm_queue_expire(ex->queue, NGX_HTTP_SUBMISSION_EXECUTOR_SLICE)) {

        /*
         * There is more to look at.  Nothing begins before that is done, but
         * other events have their turn first.
         */

        ngx_post_event(&ex->run, &ngx_posted_next_events);
    }

    /* intents that can still be sent go before those that have expired */

    if (!ngx_http_submission_turn_out(ex)
        && ngx_http_submission_turn(ex) != NGX_OK)
    {
        ngx_add_timer(&ex->due, NGX_HTTP_SUBMISSION_EXECUTOR_PAUSE);
        return;
    }

    ngx_http_submission_expiry_look(ex);

    if (ex->leaving) {
        if (ngx_http_submission_epoch_finish(ex->manager) == NGX_OK) {
            ngx_http_submission_leader_idle(ex->manager);
        }

        return;
    }

    ngx_http_submission_executor_arm(ex);

    ngx_http_submission_depth_look(ex);
    ngx_http_submission_gauge(ex->manager, NGX_HTTP_SUBMISSION_GAUGE_INFLIGHT,
                              ex->epoch, ex->nsending);
}
