
/*
 * What an embedded store wants to have done for it now and then, by the executor
 * worker of each instance, leader or not, in a thread.  A server looks after
 * itself.
 */

#include "ngx_http_submission.h"


#define NGX_HTTP_SUBMISSION_TIDY  5000      /* milliseconds */


static void ngx_http_submission_tidy_tick(ngx_event_t *ev);
static void ngx_http_submission_tidy_run(ngx_http_submission_task_t *task);
static void ngx_http_submission_tidy_done(ngx_http_submission_task_t *task);


void
ngx_http_submission_tidy_init(ngx_http_submission_manager_t *manager,
    ngx_cycle_t *cycle)
{
    if (manager->store_path.len == 0) {
        return;
    }

    manager->tidy.handler = ngx_http_submission_tidy_tick;
    manager->tidy.data = manager;
    manager->tidy.log = cycle->log;
    manager->tidy.cancelable = 1;

    ngx_add_timer(&manager->tidy, NGX_HTTP_SUBMISSION_TIDY);
}


static ngx_int_t
ngx_http_submission_tidy_post(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_task_t  *task;

    task = ngx_http_submission_task_create(manager,
                                           sizeof(ngx_http_submission_task_t));
    if (task == NULL) {
        return NGX_ERROR;
    }

    task->op = NGX_HTTP_SUBMISSION_OP_TIDY;
    task->run = ngx_http_submission_tidy_run;
    task->done = ngx_http_submission_tidy_done;

    if (ngx_http_submission_task_post(task) != NGX_OK) {
        ngx_http_submission_task_free(task);
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* the next one is after the end of this */

static void
ngx_http_submission_tidy_tick(ngx_event_t *ev)
{
    ngx_http_submission_leader_t   *ld;
    ngx_http_submission_manager_t  *manager;

    if (ngx_exiting) {
        return;
    }

    manager = ev->data;
    ld = manager->leader;

    if (sm_leader_elected(ld->state)
        && ngx_http_submission_tidy_post(manager) == NGX_OK)
    {
        return;
    }

    ngx_add_timer(ev, NGX_HTTP_SUBMISSION_TIDY);
}


static void
ngx_http_submission_tidy_run(ngx_http_submission_task_t *task)
{
    (void) sm_store_tidy(&task->manager->store, &task->call);
}


static void
ngx_http_submission_tidy_done(ngx_http_submission_task_t *task)
{
    ngx_http_submission_health_report(task);

    if (!ngx_exiting) {
        ngx_add_timer(&task->manager->tidy, NGX_HTTP_SUBMISSION_TIDY);
    }
}
