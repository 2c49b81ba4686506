
/*
 * Housekeeping of an embedded store, done now and then in a thread by the
 * executor worker of each instance, leader or not.  A server does this itself.
 */

#include "ngx_http_submission_executor_ctx.h"


#define NGX_HTTP_SUBMISSION_TIDY_INTERVAL  5000     /* milliseconds */


typedef struct {
    ngx_http_submission_task_t       task;
    ngx_event_t                     *timer;
} ngx_http_submission_tidy_t;


static void ngx_http_submission_tidy_tick(ngx_event_t *ev);
static void ngx_http_submission_tidy_done(ngx_http_submission_task_t *task);


ngx_int_t
ngx_http_submission_tidy_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_event_t  *ev;

    if (manager->conf->store_path.len == 0) {
        return NGX_OK;
    }

    ev = ngx_pcalloc(cycle->pool, sizeof(ngx_event_t));
    if (ev == NULL) {
        return NGX_ERROR;
    }

    ev->handler = ngx_http_submission_tidy_tick;
    ev->data = manager;
    ev->log = cycle->log;
    ev->cancelable = 1;

    ngx_add_timer(ev, NGX_HTTP_SUBMISSION_TIDY_INTERVAL);

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_tidy_post(ngx_event_t *ev)
{
    ngx_http_submission_tidy_t  *tt;

    tt = ngx_http_submission_task_create(ev->data, NGX_HTTP_SUBMISSION_OP_TIDY,
                                         sizeof(ngx_http_submission_tidy_t));
    if (tt == NULL) {
        return NGX_ERROR;
    }

    tt->timer = ev;
    tt->task.done = ngx_http_submission_tidy_done;

    if (ngx_http_submission_task_post(&tt->task) != NGX_OK) {
        ngx_http_submission_task_free(&tt->task);
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* the timer is set again when the call has ended */

static void
ngx_http_submission_tidy_tick(ngx_event_t *ev)
{
    ngx_http_submission_manager_t  *manager;

    if (ngx_exiting) {
        return;
    }

    manager = ev->data;

    if (ngx_http_submission_leader_elected(manager)
        && ngx_http_submission_tidy_post(ev) == NGX_OK)
    {
        return;
    }

    ngx_add_timer(ev, NGX_HTTP_SUBMISSION_TIDY_INTERVAL);
}


void
ngx_http_submission_tidy_thread(ngx_http_submission_task_t *task)
{
    (void) sm_store_tidy(&task->manager->store, &task->call);
}


static void
ngx_http_submission_tidy_done(ngx_http_submission_task_t *task)
{
    ngx_http_submission_tidy_t  *tt = (ngx_http_submission_tidy_t *) task;

    if (!ngx_exiting) {
        ngx_add_timer(tt->timer, NGX_HTTP_SUBMISSION_TIDY_INTERVAL);
    }
}
