
/*
 * The breaker, which keeps requests from waiting for a database server that is
 * out.  It is in the zone, one for all workers of the instance.
 *
 * It opens when the store has answered no call of any worker for as long as a
 * request is tried again ("retry=").  While it is open, API requests are
 * refused at once.  The executor worker goes on asking for its lease, and one
 * worker at a time probes (health.c): the first call that the store answers,
 * well or not, closes the breaker.
 *
 * An error that the server itself returns is an answer: a full disk, a lock
 * that another session has, a deadlock.  A failed login, a lost connection and
 * a connection that was cut after a time-out are none.
 *
 * An embedded store has no breaker: it waits for its lock by itself.
 */

#include "ngx_http_submission_door.h"


#define NGX_HTTP_SUBMISSION_BREAKER_MIN    1000       /* milliseconds */
#define NGX_HTTP_SUBMISSION_BREAKER_BACKOFF      50
#define NGX_HTTP_SUBMISSION_BREAKER_BACKOFF_MAX  1000


static void ngx_http_submission_breaker_close(
    ngx_http_submission_manager_t *manager);
static void ngx_http_submission_breaker_fail(ngx_http_submission_task_t *task);


ngx_uint_t
ngx_http_submission_breaker_open(ngx_http_submission_manager_t *manager)
{
    return manager->conf->retry && manager->sh->health->broken;
}


/* The delay doubles with each failure; a random part of up to a half is off. */

ngx_msec_t
ngx_http_submission_breaker_delay(ngx_uint_t failures)
{
    ngx_msec_t  delay;

    delay = NGX_HTTP_SUBMISSION_BREAKER_BACKOFF;

    while (--failures && delay < NGX_HTTP_SUBMISSION_BREAKER_BACKOFF_MAX) {
        delay *= 2;
    }

    delay = ngx_min(delay, NGX_HTTP_SUBMISSION_BREAKER_BACKOFF_MAX);

    return delay - ngx_random() % (delay / 2);
}


void
ngx_http_submission_breaker_report(ngx_http_submission_task_t *task)
{
    ngx_http_submission_health_shctx_t  *sh;

    sh = task->manager->sh->health;

    if (!task->call.unreached) {
        sh->reached = ngx_current_msec;
    }

    if (task->manager->conf->retry == 0) {
        return;
    }

    if (task->call.unreached) {
        ngx_http_submission_breaker_fail(task);
        return;
    }

    sh->failing = 0;

    ngx_http_submission_breaker_close(task->manager);
}


static void
ngx_http_submission_breaker_close(ngx_http_submission_manager_t *manager)
{
    ngx_atomic_uint_t                    broken;
    ngx_http_submission_health_shctx_t  *sh;

    sh = manager->sh->health;
    broken = sh->broken;

    if (broken && ngx_atomic_cmp_set(&sh->broken, broken, 0)) {
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "submission: breaker_closed manager=%V store=%s "
                      "open_ms=%M",
                      &manager->conf->name,
                      sm_store_ops_name(manager->conf->store_ops),
                      ngx_http_submission_since(broken));
    }
}


static void
ngx_http_submission_breaker_fail(ngx_http_submission_task_t *task)
{
    ngx_msec_t                           failed, bound;
    ngx_atomic_uint_t                    since;
    ngx_http_submission_field_t          error;
    ngx_http_submission_manager_t       *manager;
    ngx_http_submission_health_shctx_t  *sh;

    manager = task->manager;
    sh = manager->sh->health;

    /* a call was answered after this one was posted */

    if ((ngx_msec_int_t) (sh->reached - task->posted) > 0) {
        return;
    }

    (void) ngx_atomic_cmp_set(&sh->failing, 0,
                              ngx_http_submission_stamp(task->posted));

    since = sh->failing;
    failed = ngx_http_submission_since(since);
    bound = ngx_max(manager->conf->retry, NGX_HTTP_SUBMISSION_BREAKER_MIN);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: store not reached op:%s failing:%Mms of %Mms "
                   "open:%d",
                   ngx_http_submission_ops[task->op].name, failed, bound,
                   sh->broken != 0);

    if (since == 0 || failed < bound
        || !ngx_atomic_cmp_set(&sh->broken, 0,
                               ngx_http_submission_stamp(ngx_current_msec)))
    {
        return;
    }

    ngx_http_submission_count(manager, NGX_HTTP_SUBMISSION_CNT_BREAKS, 1);

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "submission: breaker_open manager=%V store=%s op=%s "
                  "failing_ms=%M%V",
                  &manager->conf->name,
                  sm_store_ops_name(manager->conf->store_ops),
                  ngx_http_submission_ops[task->op].name, failed,
                  ngx_http_submission_field(&error, " sql_error=",
                                            sm_str_c(task->call.error)));

    manager->broken(manager);
}
