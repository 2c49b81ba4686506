
/*
 * Fires schedules: what is due becomes intents, on time.
 *
 * The store says when the next schedule is due, and the duty's timer is set for
 * that.  A wake, or the interval, finds schedules that were changed meanwhile.
 * The first look of an epoch comes at once, and also writes the schedules of
 * the configuration into the store.
 *
 * All of it is done in a thread.  What it needs of the configuration does not
 * change.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_turn.h"


#define NGX_HTTP_SUBMISSION_FIRE_ROWS   500
#define NGX_HTTP_SUBMISSION_FIRE_BYTES  (1024 * 1024)
#define NGX_HTTP_SUBMISSION_FIRE_FIRST  10         /* ms, of an epoch */
#define NGX_HTTP_SUBMISSION_FIRE_SOON   100        /* ms, if woken */
#define NGX_HTTP_SUBMISSION_FIRE_LINES  10         /* of one look */


typedef struct {
    int64_t                          seeded;       /* in this epoch */
} ngx_http_submission_fire_ctx_t;


typedef struct {
    ngx_http_submission_task_t       task;
    sm_schedule_tick_t               tick;
    sm_schedule_row_t               *seeds;
    ngx_uint_t                       nseeds;
    ngx_uint_t                       seed;         /* a first look */
} ngx_http_submission_fire_task_t;


static ngx_msec_t ngx_http_submission_fire_interval(
    ngx_http_submission_executor_t *ex);
static ngx_int_t ngx_http_submission_fire_begin(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_fire_done(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);


const ngx_http_submission_duty_row_t  ngx_http_submission_fire = {
    .op = NGX_HTTP_SUBMISSION_OP_SCHEDULES_FIRE,
    .size = sizeof(ngx_http_submission_fire_task_t),
    .ctx = sizeof(ngx_http_submission_fire_ctx_t),
    .interval = ngx_http_submission_fire_interval,
    .begin = ngx_http_submission_fire_begin,
    .done = ngx_http_submission_fire_done
};


static ngx_msec_t
ngx_http_submission_fire_interval(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_fire_ctx_t  *ctx;

    ctx = ex->duties[NGX_HTTP_SUBMISSION_DUTY_FIRE].ctx;

    return ctx->seeded == ex->epoch
           ? ex->manager->conf->queue_refresh_interval
           : NGX_HTTP_SUBMISSION_FIRE_FIRST;
}


/* the duty looks soon, and once, however often it is woken until then */

void
ngx_http_submission_fire_woken(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_duty_soon(
                                 &ex->duties[NGX_HTTP_SUBMISSION_DUTY_FIRE],
                                 NGX_HTTP_SUBMISSION_FIRE_SOON);
}


/* the seeds are copied, because the call writes its answers into them */

static ngx_int_t
ngx_http_submission_fire_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_array_t                      *seeds;
    ngx_http_submission_fire_ctx_t   *ctx;
    ngx_http_submission_fire_task_t  *rt;

    rt = (ngx_http_submission_fire_task_t *) task;
    ctx = duty->ctx;

    rt->tick.contract = ngx_http_submission_target_contract_thread;
    rt->tick.data = task->manager->conf;
    rt->tick.limit = NGX_HTTP_SUBMISSION_FIRE_ROWS;
    rt->tick.bytes = NGX_HTTP_SUBMISSION_FIRE_BYTES;

    if (ctx->seeded == duty->executor->epoch) {
        return NGX_OK;
    }

    seeds = &task->manager->conf->schedules;

    rt->seed = 1;
    rt->nseeds = seeds->nelts;
    rt->seeds = sm_arena_alloc(&task->call.arena,
                               (seeds->nelts + 1) * sizeof(sm_schedule_row_t));
    if (rt->seeds == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(rt->seeds, seeds->elts,
               seeds->nelts * sizeof(sm_schedule_row_t));

    return NGX_OK;
}


void
ngx_http_submission_fire_thread(ngx_http_submission_task_t *task)
{
    sm_schedule_tick_t                *tick;
    ngx_http_submission_fire_task_t  *rt;

    rt = (ngx_http_submission_fire_task_t *) task;
    tick = &rt->tick;

    if (rt->seed
        && sm_store_schedules_seed(&task->manager->store, &task->call,
                                   &task->fence, rt->seeds, rt->nseeds, tick)
           != 0)
    {
        return;
    }

    if (sm_store_schedules_tick(&task->manager->store, &task->call,
                                &task->fence, tick)
        != 0)
    {
        return;
    }

    task->rows = tick->n;

    ngx_http_submission_count(task->manager,
                              NGX_HTTP_SUBMISSION_CNT_SCHEDULE_FIRED,
                              tick->created);
    ngx_http_submission_count(task->manager,
                              NGX_HTTP_SUBMISSION_CNT_SCHEDULE_SKIPPED,
                              tick->skipped);
    ngx_http_submission_count(task->manager,
                              NGX_HTTP_SUBMISSION_CNT_SCHEDULE_MISSED,
                              tick->missed);
    ngx_http_submission_count(task->manager, NGX_HTTP_SUBMISSION_CNT_CREATED,
                              tick->created);
}


/* returns whether it has logged a line */

static ngx_uint_t
ngx_http_submission_fire_tell_one(ngx_http_submission_executor_t *ex,
    sm_schedule_fire_t *row)
{
    size_t                        i;
    ngx_http_submission_field_t   id, target, text;

    (void) ngx_http_submission_field(&id, " schedule=", row->schedule->id);

    if (row->error.data) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "submission: schedule_stopped manager=%V lease_epoch=%L"
                      "%V%V%V: it does not run until that has changed",
                      &ex->manager->conf->name, ex->epoch, &id.text,
                      ngx_http_submission_field(&target, " target=",
                                                row->schedule->target),
                      ngx_http_submission_field(&text, " reason=", row->error));
        return 1;
    }

    if (row->due.cut) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "submission: schedule_cut manager=%V lease_epoch=%L%V "
                      "fired=%uz missed=%L: of the times that have passed, the "
                      "latest 1000 are made", &ex->manager->conf->name,
                      ex->epoch, &id.text, row->due.n + row->due.left,
                      row->due.missed);
        return 1;
    }

    for (i = 0; i < row->due.n; i++) {
        if (row->intents[i].outcome == SM_SUBMIT_CONFLICT) {
            ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                          "submission: schedule_conflict manager=%V "
                          "lease_epoch=%L%V%V: another intent has this id, so "
                          "this occurrence was not made",
                          &ex->manager->conf->name, ex->epoch, &id.text,
                          ngx_http_submission_field(&text, " intentId=",
                                                    row->intents[i].id));
            return 1;
        }
    }

    return 0;
}


static void
ngx_http_submission_fire_tell(ngx_http_submission_executor_t *ex,
    sm_schedule_tick_t *tick)
{
    size_t      i;
    ngx_uint_t  lines;

    for (i = 0, lines = 0;
         i < tick->n && lines < NGX_HTTP_SUBMISSION_FIRE_LINES;
         i++)
    {
        if (tick->rows[i].done) {
            lines += ngx_http_submission_fire_tell_one(ex, &tick->rows[i]);
        }
    }

    if (tick->missed) {
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "submission: schedules_missed manager=%V lease_epoch=%L "
                      "times=%L: they had passed, and their schedules do not "
                      "make them up", &ex->manager->conf->name, ex->epoch,
                      tick->missed);
    }
}


static void
ngx_http_submission_fire_tell_seeds(ngx_http_submission_executor_t *ex,
    ngx_http_submission_fire_task_t *rt)
{
    ngx_uint_t                    i;
    ngx_http_submission_field_t   id;

    for (i = 0; i < rt->nseeds; i++) {

        if (rt->seeds[i].outcome != SM_SCHEDULE_CREATED
            && rt->seeds[i].outcome != SM_SCHEDULE_DONE)
        {
            ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                          "submission: schedule_not_seeded manager=%V "
                          "lease_epoch=%L%V: its time zone is not known here, "
                          "or no time is to come",
                          &ex->manager->conf->name, ex->epoch,
                          ngx_http_submission_field(&id, " schedule=",
                                                    rt->seeds[i].id));
        }
    }
}


static ngx_msec_t
ngx_http_submission_fire_done(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    int64_t                           left;
    ngx_msec_t                        wait;
    sm_schedule_tick_t               *tick;
    ngx_http_submission_executor_t   *ex;
    ngx_http_submission_fire_ctx_t   *ctx;
    ngx_http_submission_fire_task_t  *rt;

    rt = (ngx_http_submission_fire_task_t *) task;
    ctx = duty->ctx;
    ex = duty->executor;
    tick = &rt->tick;

    ngx_log_debug6(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: schedules due:%uz created:%uz skipped:%L "
                   "missed:%L more:%d next:%L", tick->n, tick->created,
                   tick->skipped, tick->missed, (int) tick->more,
                   tick->next_due);

    if (rt->seed) {
        ctx->seeded = ex->epoch;
        ngx_http_submission_fire_tell_seeds(ex, rt);
    }

    ngx_http_submission_fire_tell(ex, tick);

    if (tick->created) {
        ngx_http_submission_queue_new(ex);
    }

    if (tick->n && tick->schedules < tick->n) {

        /* somebody has changed one of them meanwhile: they are read again */

        return tick->schedules ? 1 : NGX_HTTP_SUBMISSION_FIRE_SOON;
    }

    if (tick->more) {
        return 0;
    }

    wait = ngx_http_submission_fire_interval(ex);

    if (tick->next_due) {
        left = tick->next_due - ngx_http_submission_executor_now(ex);
        left = left > 0 ? (left + 999) / 1000 : 1;

        wait = ngx_min(wait, (ngx_msec_t) left);
    }

    return wait;
}
