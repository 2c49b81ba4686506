
/*
 * Duties: what a leader does on a timer, under its fence.
 *
 * - A duty has one call out at a time: duty->task.  It is made only while this
 *   worker leads and does not leave.
 * - A call that is out when its epoch ends becomes duty->old.  Its answer goes
 *   to _late(), or to nobody.
 * - If a call fails, the duty does nothing more: task.c has told the leader,
 *   who ends the epoch.
 */

#include "ngx_http_submission_duty.h"


static void ngx_http_submission_duty_timer(ngx_event_t *ev);
static void ngx_http_submission_duty_run(ngx_http_submission_duty_t *duty);
static void ngx_http_submission_duty_done(ngx_http_submission_task_t *task);


/* must be in the order of ngx_http_submission_duty_e */

static const ngx_http_submission_duty_row_t  *ngx_http_submission_duties[] = {
    &ngx_http_submission_queue_refresh,
    &ngx_http_submission_queue_sweep,
    &ngx_http_submission_inbox,
    &ngx_http_submission_retention,
    &ngx_http_submission_stats_duty,
    &ngx_http_submission_job,
    &ngx_http_submission_drop,
    &ngx_http_submission_pauses_read,
    &ngx_http_submission_fire
};

_Static_assert(sizeof(ngx_http_submission_duties) / sizeof(void *)
               == NGX_HTTP_SUBMISSION_DUTY_N, "a row for each duty");


ngx_int_t
ngx_http_submission_duty_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex)
{
    ngx_uint_t                   i;
    ngx_http_submission_duty_t  *duty;

    ex->duties = ngx_pcalloc(cycle->pool,
                             NGX_HTTP_SUBMISSION_DUTY_N
                             * sizeof(ngx_http_submission_duty_t));
    if (ex->duties == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_HTTP_SUBMISSION_DUTY_N; i++) {
        duty = &ex->duties[i];

        duty->row = ngx_http_submission_duties[i];
        duty->executor = ex;
        duty->ctx = ngx_pcalloc(cycle->pool, duty->row->ctx);

        if (duty->ctx == NULL
            || (duty->row->init && duty->row->init(cycle, duty) != NGX_OK))
        {
            return NGX_ERROR;
        }

        duty->timer.handler = ngx_http_submission_duty_timer;
        duty->timer.data = duty;
        duty->timer.log = cycle->log;
        duty->timer.cancelable = 1;
    }

    return NGX_OK;
}


void
ngx_http_submission_duty_start(ngx_http_submission_executor_t *ex)
{
    ngx_uint_t                   i;
    ngx_http_submission_duty_t  *duty;

    for (i = 0; i < NGX_HTTP_SUBMISSION_DUTY_N; i++) {
        duty = &ex->duties[i];

        duty->task = NULL;
        duty->due = 0;
        duty->again = 0;
        duty->soon = NGX_TIMER_INFINITE;

        ngx_add_timer(&duty->timer, duty->row->interval(ex));
    }
}


void
ngx_http_submission_duty_stop(ngx_http_submission_executor_t *ex)
{
    ngx_uint_t                   i;
    ngx_http_submission_duty_t  *duty;

    for (i = 0; i < NGX_HTTP_SUBMISSION_DUTY_N; i++) {
        duty = &ex->duties[i];

        if (duty->task) {
            duty->old = duty->task;
            duty->task = NULL;
        }

        if (duty->timer.timer_set) {
            ngx_del_timer(&duty->timer);
        }
    }
}


void
ngx_http_submission_duty_end(ngx_http_submission_executor_t *ex)
{
    ngx_uint_t                   i;
    ngx_http_submission_duty_t  *duty;

    for (i = 0; i < NGX_HTTP_SUBMISSION_DUTY_N; i++) {
        duty = &ex->duties[i];

        if (duty->old && duty->row->late) {
            (void) ngx_http_submission_task_settle(duty->old);
        }
    }
}


ngx_msec_t
ngx_http_submission_duty_interval(ngx_http_submission_executor_t *ex)
{
    return ex->manager->conf->queue_refresh_interval;
}


static void
ngx_http_submission_duty_timer(ngx_event_t *ev)
{
    ngx_http_submission_duty_t  *duty;

    duty = ev->data;

    duty->due = 1;

    ngx_http_submission_duty_run(duty);
}


void
ngx_http_submission_duty_kick(ngx_http_submission_duty_t *duty)
{
    if (duty->task) {
        duty->again = 1;
        return;
    }

    ngx_http_submission_duty_run(duty);
}


void
ngx_http_submission_duty_soon(ngx_http_submission_duty_t *duty,
    ngx_msec_t wait)
{
    if (duty->task) {

        /* the call that is out may have looked too early */

        duty->soon = wait;
        return;
    }

    if (duty->timer.timer_set) {

        if ((ngx_msec_int_t) (duty->timer.timer.key - ngx_current_msec)
            <= (ngx_msec_int_t) wait)
        {
            return;
        }

        ngx_del_timer(&duty->timer);
    }

    ngx_add_timer(&duty->timer, wait);
}


static void
ngx_http_submission_duty_arm(ngx_http_submission_duty_t *duty, ngx_msec_t wait)
{
    if (wait == NGX_HTTP_SUBMISSION_DUTY_INTERVAL) {
        wait = duty->row->interval(duty->executor);
    }

    if (!duty->timer.timer_set) {
        ngx_add_timer(&duty->timer, wait);
    }
}


static void
ngx_http_submission_duty_run(ngx_http_submission_duty_t *duty)
{
    ngx_int_t                        rc;
    ngx_http_submission_task_t      *task;
    ngx_http_submission_executor_t  *ex;

    ex = duty->executor;

    if (ex->queue == NULL || ex->leaving) {
        return;
    }

    if (duty->task) {

        /* its time has come while a call is out */

        duty->again = 1;
        return;
    }

    duty->again = 0;
    duty->soon = NGX_TIMER_INFINITE;

    task = ngx_http_submission_task_create(ex->manager, duty->row->op,
                                           duty->row->size);
    if (task == NULL) {
        ngx_http_submission_duty_arm(duty, NGX_HTTP_SUBMISSION_DUTY_INTERVAL);
        return;
    }

    ngx_http_submission_task_fence(task, ex->epoch);
    task->done = ngx_http_submission_duty_done;

    rc = duty->row->begin(duty, task);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: duty begins op:%s due:%d epoch:%L rc:%i",
                   ngx_http_submission_ops[task->op].name, duty->due,
                   ex->epoch, rc);

    if (rc == NGX_OK) {
        rc = ngx_http_submission_task_post(task);
    }

    if (rc != NGX_OK) {
        ngx_http_submission_task_free(task);
        ngx_http_submission_duty_arm(duty, NGX_HTTP_SUBMISSION_DUTY_INTERVAL);
        return;
    }

    duty->due = 0;
    duty->task = task;
}


/* NULL: the duty has left another call over since the epoch of this one */

static ngx_http_submission_duty_t *
ngx_http_submission_duty_of(ngx_http_submission_task_t *task)
{
    ngx_uint_t                   i;
    ngx_http_submission_duty_t  *duty;

    duty = task->manager->executor->duties;

    for (i = 0; i < NGX_HTTP_SUBMISSION_DUTY_N; i++, duty++) {
        if (duty->task == task || duty->old == task) {
            return duty;
        }
    }

    return NULL;
}


static void
ngx_http_submission_duty_done(ngx_http_submission_task_t *task)
{
    ngx_msec_t                       wait;
    ngx_http_submission_duty_t      *duty;
    ngx_http_submission_executor_t  *ex;

    duty = ngx_http_submission_duty_of(task);

    if (duty == NULL) {
        return;
    }

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: duty done op:%s rows:%ui status:%d old:%d "
                   "again:%d", ngx_http_submission_ops[task->op].name,
                   task->rows, (int) task->call.status, duty->old == task,
                   duty->again);

    if (duty->old == task) {
        duty->old = NULL;

        if (task->call.status == SM_STORE_OK && duty->row->late) {
            duty->row->late(duty, task);
        }

        return;
    }

    ex = duty->executor;
    duty->task = NULL;

    if (task->call.status != SM_STORE_OK) {

        /* this epoch is over */

        return;
    }

    if (task->call.now) {
        ngx_http_submission_executor_time(ex, task->call.now);
    }

    wait = duty->row->done(duty, task);
    wait = ngx_min(wait, duty->soon);

    if (wait == 0 || duty->again) {
        ngx_http_submission_duty_run(duty);
        wait = NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
    }

    if (duty->task == NULL) {
        ngx_http_submission_duty_arm(duty, wait);
    }
}
