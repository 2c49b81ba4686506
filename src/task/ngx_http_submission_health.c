
/*
 * The state of the store, in the zone.  Any failed call shows that the store
 * is down, but only a commit shows that it is up, because a store with a full
 * disk can still be read.  The executor worker commits a heartbeat at least
 * every acquire_interval.  If nothing was committed for twice that (for a
 * second while the store is down), one worker of the instance probes the
 * store, and no other does until it has an answer.  Each change is one log
 * line.
 */

#include "ngx_http_submission_door.h"


/* milliseconds */

#define NGX_HTTP_SUBMISSION_HEALTH_PROBE_DOWN  1000
#define NGX_HTTP_SUBMISSION_HEALTH_PROBE_LATE  5000


struct ngx_http_submission_health_s {
    ngx_event_t                      probe;
};


static void ngx_http_submission_health_tick(ngx_event_t *ev);
static void ngx_http_submission_health_done(ngx_http_submission_task_t *task);


/* While the store is up, a tick only looks at shared memory. */

static ngx_msec_t
ngx_http_submission_health_tick_period(ngx_http_submission_manager_t *manager)
{
    return ngx_min(manager->conf->acquire_interval,
                   NGX_HTTP_SUBMISSION_HEALTH_PROBE_DOWN);
}


static ngx_msec_t
ngx_http_submission_health_period(ngx_http_submission_manager_t *manager)
{
    if (manager->sh->health->store == NGX_HTTP_SUBMISSION_STORE_UP
        && !ngx_http_submission_breaker_open(manager))
    {
        return 2 * manager->conf->acquire_interval;
    }

    return ngx_http_submission_health_tick_period(manager);
}


/* Says whether another worker is probing, and has not died meanwhile. */

static ngx_uint_t
ngx_http_submission_health_probing(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_health_shctx_t  *sh;

    sh = manager->sh->health;

    return sh->probing
           && ngx_http_submission_since(sh->probed)
              < manager->conf->busy_timeout + manager->conf->login_timeout
                + manager->conf->query_timeout
                + NGX_HTTP_SUBMISSION_HEALTH_PROBE_LATE;
}


ngx_int_t
ngx_http_submission_health_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_event_t  *ev;

    manager->health = ngx_pcalloc(cycle->pool,
                                  sizeof(ngx_http_submission_health_t));
    if (manager->health == NULL) {
        return NGX_ERROR;
    }

    ev = &manager->health->probe;

    ev->handler = ngx_http_submission_health_tick;
    ev->data = manager;
    ev->log = cycle->log;
    ev->cancelable = 1;

    /* the first worker to run asks at once */

    ngx_add_timer(ev, 1);

    return NGX_OK;
}


static void
ngx_http_submission_health_probe(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_task_t  *task;

    task = ngx_http_submission_task_create(manager,
                                           NGX_HTTP_SUBMISSION_OP_PING,
                                           sizeof(ngx_http_submission_task_t));
    if (task == NULL) {
        return;
    }

    task->done = ngx_http_submission_health_done;

    manager->sh->health->probing = 1;

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: probe of the store, state:%uA",
                   manager->sh->health->store);

    if (ngx_http_submission_task_post(task) != NGX_OK) {
        ngx_http_submission_task_free(task);
        manager->sh->health->probing = 0;
    }
}


static void
ngx_http_submission_health_tick(ngx_event_t *ev)
{
    ngx_msec_t                           period;
    ngx_atomic_uint_t                    probed;
    ngx_http_submission_manager_t       *manager;
    ngx_http_submission_health_shctx_t  *sh;

    if (ngx_exiting) {
        return;
    }

    manager = ev->data;
    sh = manager->sh->health;

    if (ngx_http_submission_breaker_open(manager)) {

        /* another worker opened it */

        manager->broken(manager);
    }

    period = ngx_http_submission_health_period(manager);
    probed = sh->probed;

    if (!ngx_http_submission_health_probing(manager)
        && (sh->store == NGX_HTTP_SUBMISSION_STORE_UNKNOWN
            || (ngx_http_submission_since(probed) >= period
                && ngx_http_submission_since(sh->committed) >= period))
        && ngx_atomic_cmp_set(&sh->probed, probed, ngx_current_msec))
    {
        ngx_http_submission_health_probe(manager);
    }

    ngx_add_timer(ev, ngx_http_submission_health_tick_period(manager));
}


void
ngx_http_submission_health_thread(ngx_http_submission_task_t *task)
{
    (void) sm_store_ping(&task->manager->store, &task->call);
}


static void
ngx_http_submission_health_done(ngx_http_submission_task_t *task)
{
    task->manager->sh->health->probing = 0;
}


/* Takes the outcome of a call to the store. */

void
ngx_http_submission_health_report(ngx_http_submission_task_t *task)
{
    sm_call_t                           *call;
    ngx_atomic_uint_t                    old, now;
    ngx_http_submission_field_t          error;
    ngx_http_submission_health_shctx_t  *sh;

    sh = task->manager->sh->health;
    call = &task->call;
    old = sh->store;

    if (call->status == SM_STORE_OK || call->status == SM_STORE_LEASE_LOST) {

        if (call->status == SM_STORE_OK && call->error[0]) {
            ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                          "submission: store_refused manager=%V op=%s%V",
                          &task->manager->conf->name,
                          ngx_http_submission_ops[task->op].name,
                          ngx_http_submission_field(&error, " sql_error=",
                                                    sm_str_c(call->error)));
        }

        if (!ngx_http_submission_ops[task->op].writes) {
            return;
        }

        sh->committed = ngx_current_msec;

        if (old != NGX_HTTP_SUBMISSION_STORE_UP
            && ngx_atomic_cmp_set(&sh->store, old,
                                  NGX_HTTP_SUBMISSION_STORE_UP))
        {
            ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                          "submission: store_up manager=%V store=%s",
                          &task->manager->conf->name,
                          sm_store_ops_name(task->manager->conf->store_ops));
        }

        return;
    }

    /* something was committed after this call was posted */

    if ((ngx_msec_int_t) (sh->committed - task->posted) > 0) {
        return;
    }

    now = call->status == SM_STORE_SCHEMA ? NGX_HTTP_SUBMISSION_STORE_SCHEMA
                                          : NGX_HTTP_SUBMISSION_STORE_DOWN;

    /* one line, no matter how many requests fail */

    if (old != now && ngx_atomic_cmp_set(&sh->store, old, now)) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "submission: store_down manager=%V store=%s op=%s%V",
                      &task->manager->conf->name,
                      sm_store_ops_name(task->manager->conf->store_ops),
                      ngx_http_submission_ops[task->op].name,
                      ngx_http_submission_field(&error, " sql_error=",
                                                sm_str_c(call->error)));
    }
}
