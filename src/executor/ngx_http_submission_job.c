
/*
 * Jobs: many intents that are replayed or canceled at once.
 *
 * The work is done in small batches, of one job after the other.  A batch that
 * took long makes the next one smaller, and after each there is a rest a few
 * times as long, so that turns have room.  What was canceled leaves the
 * schedule, and what was replayed comes into it.
 */

#include "ngx_http_submission_attempt.h"


#define NGX_HTTP_SUBMISSION_JOB_FIRST     100     /* intents */
#define NGX_HTTP_SUBMISSION_JOB_LEAST     10
#define NGX_HTTP_SUBMISSION_JOB_MOST      1000
#define NGX_HTTP_SUBMISSION_JOB_SHORT     10000   /* usec, of a batch */
#define NGX_HTTP_SUBMISSION_JOB_LONG      40000
#define NGX_HTTP_SUBMISSION_JOB_REST      4       /* times that */
#define NGX_HTTP_SUBMISSION_JOB_REST_MIN  5       /* milliseconds */


typedef struct {
    ngx_http_submission_task_t       task;
    sm_job_work_t                    work;
    int64_t                          took;         /* usec */
} ngx_http_submission_job_task_t;


static ngx_msec_t ngx_http_submission_job_interval(
    ngx_http_submission_executor_t *ex);
static ngx_int_t ngx_http_submission_job_begin(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_job_done(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);


const ngx_http_submission_duty_row_t  ngx_http_submission_job = {
    NGX_HTTP_SUBMISSION_OP_JOB_WORK,
    sizeof(ngx_http_submission_job_task_t),
    ngx_http_submission_job_interval,
    ngx_http_submission_job_begin,
    ngx_http_submission_job_done
};


static ngx_msec_t
ngx_http_submission_job_interval(ngx_http_submission_executor_t *ex)
{
    return ex->manager->conf->schedule_refresh_interval;
}


/* in a thread: targets are configured once, and only read afterwards */

static const sm_contract_t *
ngx_http_submission_job_contract(void *data, sm_str_t name)
{
    ngx_http_submission_manager_conf_t  *mcf = data;

    ngx_http_submission_target_t  *target;

    target = ngx_http_submission_target_client(mcf, name);

    return target ? &target->contract : NULL;
}


static ngx_int_t
ngx_http_submission_job_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_http_submission_job_task_t  *jt;

    jt = (ngx_http_submission_job_task_t *) task;

    if (duty->executor->job_limit == 0) {
        duty->executor->job_limit = NGX_HTTP_SUBMISSION_JOB_FIRST;
    }

    jt->work.limit = duty->executor->job_limit;
    jt->work.contract = ngx_http_submission_job_contract;
    jt->work.data = task->manager->conf;

    return NGX_OK;
}


static void
ngx_http_submission_job_count(ngx_http_submission_task_t *task,
    sm_job_work_t *work)
{
    size_t  i;

    if (work->job.kind == SM_JOB_REPLAY) {
        ngx_http_submission_count(task->manager,
                                  NGX_HTTP_SUBMISSION_CNT_CREATED, work->done);
        return;
    }

    for (i = 0; i < work->n; i++) {
        if (work->items[i].done) {
            ngx_http_submission_count_terminal(task->manager,
                          ngx_http_submission_target(task->manager->conf,
                                                     work->items[i].target),
                                               SM_STATUS_CANCELED, 0,
                                               task->call.now
                                               - work->items[i].created_at);
        }
    }
}


void
ngx_http_submission_job_run(ngx_http_submission_task_t *task)
{
    int64_t                          start;
    ngx_http_submission_job_task_t  *jt;

    jt = (ngx_http_submission_job_task_t *) task;

    start = ngx_http_submission_usec();

    if (sm_store_job_work(&task->manager->store, &task->call, &task->fence,
                          &jt->work)
        != 0)
    {
        return;
    }

    jt->took = ngx_http_submission_usec() - start;

    task->rows = jt->work.done + jt->work.skipped;

    ngx_http_submission_job_count(task, &jt->work);
}


static void
ngx_http_submission_job_tell(ngx_http_submission_executor_t *ex,
    sm_job_work_t *work)
{
    ngx_http_submission_field_t  id, error;

    (void) ngx_http_submission_field(&id, " id=", work->job.id);

    if (work->state == SM_JOB_FAILED) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "submission: job_failed manager=%V lease_epoch=%L "
                      "kind=%s%V%V", &ex->manager->conf->name, ex->epoch,
                      sm_job_kind_name(work->job.kind).data, &id.text,
                      ngx_http_submission_field(&error, " error=",
                                                work->job.error));
        return;
    }

    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                  "submission: job_done manager=%V lease_epoch=%L kind=%s%V "
                  "done=%L skipped=%L", &ex->manager->conf->name, ex->epoch,
                  sm_job_kind_name(work->job.kind).data, &id.text,
                  work->job.done, work->job.skipped);
}


/* what it did to the schedule */

static void
ngx_http_submission_job_effect(ngx_http_submission_executor_t *ex,
    sm_job_work_t *work)
{
    size_t  i;

    if (work->done == 0) {
        return;
    }

    if (work->job.kind == SM_JOB_REPLAY) {
        ngx_http_submission_schedule_new(ex);
        return;
    }

    for (i = 0; i < work->n; i++) {
        if (work->items[i].done) {
            ngx_http_submission_stats_gone(ex, work->items[i].id,
                                 ngx_http_submission_target(ex->manager->conf,
                                                     work->items[i].target));
            (void) sm_schedule_remove(ex->schedule, work->items[i].id);
            ngx_http_submission_notice(ex->manager, work->items[i].id);
        }
    }

    ngx_http_submission_executor_wake(ex);
}


static ngx_msec_t
ngx_http_submission_job_done(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_msec_t                       rest;
    ngx_http_submission_executor_t  *ex;
    ngx_http_submission_job_task_t  *jt;

    jt = (ngx_http_submission_job_task_t *) task;
    ex = duty->executor;

    if (jt->work.job.id.data == NULL) {
        return NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
    }

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: job limit:%ui done:%uz skipped:%uz state:%d "
                   "usec:%L", ex->job_limit, jt->work.done, jt->work.skipped,
                   (int) jt->work.state, jt->took);

    ngx_http_submission_job_effect(ex, &jt->work);

    if (jt->work.state == SM_JOB_DONE || jt->work.state == SM_JOB_FAILED) {
        ngx_http_submission_job_tell(ex, &jt->work);
    }

    if (jt->took > NGX_HTTP_SUBMISSION_JOB_LONG) {
        ex->job_limit = ngx_max(ex->job_limit / 2,
                                NGX_HTTP_SUBMISSION_JOB_LEAST);

    } else if (jt->took < NGX_HTTP_SUBMISSION_JOB_SHORT) {
        ex->job_limit = ngx_min(ex->job_limit * 2,
                                NGX_HTTP_SUBMISSION_JOB_MOST);
    }

    rest = (ngx_msec_t) (jt->took * NGX_HTTP_SUBMISSION_JOB_REST / 1000);

    return ngx_max(rest, NGX_HTTP_SUBMISSION_JOB_REST_MIN);
}
