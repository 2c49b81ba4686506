
/*
 * Jobs: many intents that are replayed or canceled at once.
 *
 * The work is done in small batches, of one job after the other.  A batch that
 * took long makes the next one smaller, and after each there is a rest a few
 * times as long, so that turns have room.  What was canceled leaves the
 * queue, and what was replayed comes into it.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_turn.h"


#define NGX_HTTP_SUBMISSION_JOB_FIRST     100     /* intents */
#define NGX_HTTP_SUBMISSION_JOB_LEAST     10
#define NGX_HTTP_SUBMISSION_JOB_MOST      1000
#define NGX_HTTP_SUBMISSION_JOB_SHORT     10000   /* usec, of a batch */
#define NGX_HTTP_SUBMISSION_JOB_LONG      40000
#define NGX_HTTP_SUBMISSION_JOB_REST      4       /* times that */
#define NGX_HTTP_SUBMISSION_JOB_REST_MIN  5       /* milliseconds */
#define NGX_HTTP_SUBMISSION_JOB_WAIT      500     /* for another instance */
#define NGX_HTTP_SUBMISSION_JOB_WAIT_TELL 60000


typedef struct {
    ngx_uint_t                       limit;        /* of the next batch */
    ngx_msec_t                       told;         /* that a job waits */
    unsigned                         waited:1;
} ngx_http_submission_job_ctx_t;


typedef struct {
    ngx_http_submission_task_t       task;
    sm_job_work_t                    work;
    int64_t                          took;         /* usec */
} ngx_http_submission_job_task_t;


static ngx_int_t ngx_http_submission_job_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty);
static ngx_int_t ngx_http_submission_job_begin(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_job_done(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static void ngx_http_submission_job_late(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task);


const ngx_http_submission_duty_row_t  ngx_http_submission_job = {
    .op = NGX_HTTP_SUBMISSION_OP_JOB_WORK,
    .size = sizeof(ngx_http_submission_job_task_t),
    .ctx = sizeof(ngx_http_submission_job_ctx_t),
    .init = ngx_http_submission_job_init,
    .interval = ngx_http_submission_duty_interval,
    .begin = ngx_http_submission_job_begin,
    .done = ngx_http_submission_job_done,
    .late = ngx_http_submission_job_late
};


static ngx_int_t
ngx_http_submission_job_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty)
{
    ngx_http_submission_job_ctx_t  *ctx;

    ctx = duty->ctx;
    ctx->limit = NGX_HTTP_SUBMISSION_JOB_FIRST;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_job_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_http_submission_job_ctx_t   *ctx;
    ngx_http_submission_job_task_t  *jt;

    jt = (ngx_http_submission_job_task_t *) task;
    ctx = duty->ctx;

    jt->work.limit = ctx->limit;
    jt->work.contract = ngx_http_submission_target_contract_thread;
    jt->work.data = task->manager->conf;
    jt->work.elsewhere.names_hash = task->manager->conf->config.names_hash;

    return NGX_OK;
}


static void
ngx_http_submission_job_count_thread(ngx_http_submission_task_t *task,
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
ngx_http_submission_job_thread(ngx_http_submission_task_t *task)
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

    ngx_http_submission_job_count_thread(task, &jt->work);
}


static void
ngx_http_submission_job_note(ngx_http_submission_executor_t *ex,
    sm_job_work_t *work)
{
    sm_str_t  kind;

    static const sm_str_t  none;

    kind = sm_job_kind_name(work->job.kind);

    if (work->first && work->state != SM_JOB_NONE) {
        ngx_http_submission_event(ex->manager, SM_FEED_JOB_BEGUN, none,
                                  "The %*s job %*s%s%*s has begun.", kind.len,
                                  kind.data, work->job.id.len,
                                  work->job.id.data,
                                  work->job.actor.len ? " of " : "",
                                  work->job.actor.len, work->job.actor.data);
    }

    if (work->state == SM_JOB_DONE) {
        ngx_http_submission_event(ex->manager, SM_FEED_JOB_DONE, none,
                                  "The %*s job %*s is done: %L intent%s, and "
                                  "%L %s skipped.", kind.len, kind.data,
                                  work->job.id.len, work->job.id.data,
                                  work->job.done,
                                  work->job.done == 1 ? "" : "s",
                                  work->job.skipped,
                                  work->job.skipped == 1 ? "was" : "were");

    } else if (work->state == SM_JOB_FAILED) {
        ngx_http_submission_event(ex->manager, SM_FEED_JOB_FAILED, none,
                                  "The %*s job %*s has failed: %*s.", kind.len,
                                  kind.data, work->job.id.len,
                                  work->job.id.data, work->job.error.len,
                                  work->job.error.data);
    }
}


static void
ngx_http_submission_job_tell(ngx_http_submission_executor_t *ex,
    sm_job_work_t *work, int64_t epoch)
{
    ngx_http_submission_field_t  id, error;

    ngx_http_submission_job_note(ex, work);

    if (work->state != SM_JOB_DONE && work->state != SM_JOB_FAILED) {
        return;
    }

    (void) ngx_http_submission_field(&id, " id=", work->job.id);

    if (work->state == SM_JOB_FAILED) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "submission: job_failed manager=%V lease_epoch=%L "
                      "kind=%s%V%V", &ex->manager->conf->name, epoch,
                      sm_job_kind_name(work->job.kind).data, &id.text,
                      ngx_http_submission_field(&error, " error=",
                                                work->job.error));
        return;
    }

    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                  "submission: job_done manager=%V lease_epoch=%L kind=%s%V "
                  "done=%L skipped=%L", &ex->manager->conf->name, epoch,
                  sm_job_kind_name(work->job.kind).data, &id.text,
                  work->job.done, work->job.skipped);
}


/* books what the call has done, in this epoch or an earlier one */

static void
ngx_http_submission_job_effect(ngx_http_submission_executor_t *ex,
    sm_job_work_t *work, int64_t epoch)
{
    size_t  i;

    if (work->done == 0) {
        return;
    }

    if (work->job.kind == SM_JOB_REPLAY) {
        ngx_http_submission_queue_new(ex);
        return;
    }

    for (i = 0; i < work->n; i++) {
        if (work->items[i].done) {
            ngx_http_submission_ended_canceled(ex, work->items[i].id,
                                               work->items[i].target, NULL,
                                               "ended", epoch);
        }
    }

    ngx_http_submission_executor_wake(ex);
}


/* logs once a minute that a job waits for a roll of the configuration */

static void
ngx_http_submission_job_waits(ngx_http_submission_executor_t *ex,
    ngx_http_submission_job_ctx_t *ctx, sm_job_work_t *work)
{
    ngx_http_submission_field_t  id;

    if (ctx->waited
        && ngx_current_msec - ctx->told < NGX_HTTP_SUBMISSION_JOB_WAIT_TELL)
    {
        return;
    }

    ctx->waited = 1;
    ctx->told = ngx_current_msec;

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: job_waits manager=%V lease_epoch=%L kind=%s%V: "
                  "the target of its next intent is configured on another "
                  "instance, and not here yet", &ex->manager->conf->name,
                  ex->epoch, sm_job_kind_name(work->job.kind).data,
                  ngx_http_submission_field(&id, " id=", work->job.id));
}


/* the job goes on in the next epoch, after what this call has done */

static void
ngx_http_submission_job_late(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_http_submission_job_task_t  *jt;

    jt = (ngx_http_submission_job_task_t *) task;

    if (jt->work.job.id.data) {
        ngx_http_submission_job_effect(duty->executor, &jt->work,
                                       task->fence.epoch);
        ngx_http_submission_job_tell(duty->executor, &jt->work,
                                     task->fence.epoch);
    }
}


static ngx_msec_t
ngx_http_submission_job_done(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_msec_t                       rest;
    ngx_http_submission_job_ctx_t   *ctx;
    ngx_http_submission_executor_t  *ex;
    ngx_http_submission_job_task_t  *jt;

    jt = (ngx_http_submission_job_task_t *) task;
    ex = duty->executor;
    ctx = duty->ctx;

    if (jt->work.job.id.data == NULL) {
        return NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
    }

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: job limit:%ui done:%uz skipped:%uz state:%d "
                   "usec:%L", ctx->limit, jt->work.done, jt->work.skipped,
                   (int) jt->work.state, jt->took);

    ngx_http_submission_job_effect(ex, &jt->work, ex->epoch);
    ngx_http_submission_job_tell(ex, &jt->work, ex->epoch);

    if (jt->took > NGX_HTTP_SUBMISSION_JOB_LONG) {
        ctx->limit = ngx_max(ctx->limit / 2, NGX_HTTP_SUBMISSION_JOB_LEAST);

    } else if (jt->took < NGX_HTTP_SUBMISSION_JOB_SHORT) {
        ctx->limit = ngx_min(ctx->limit * 2, NGX_HTTP_SUBMISSION_JOB_MOST);
    }

    if (jt->work.waits) {
        ngx_http_submission_job_waits(ex, ctx, &jt->work);
        return NGX_HTTP_SUBMISSION_JOB_WAIT;
    }

    rest = (ngx_msec_t) (jt->took * NGX_HTTP_SUBMISSION_JOB_REST / 1000);

    return ngx_max(rest, NGX_HTTP_SUBMISSION_JOB_REST_MIN);
}
