
/*
 * Intents whose deadline has passed before they could be begun.
 *
 * The schedule takes them out of the way, whatever holds their targets, and the
 * store ends them in calls of their own, one at a time, beside the turns: each is
 * fenced, and decides by the store's clock.  A turn may find one, too.  Those
 * that were never tried were acknowledged and never sent.  After an outage there
 * may be very many, so they are counted in at most one line a second.
 */

#include "ngx_http_submission_attempt.h"


#define NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL  1000

/* rows of a call: a turn may have to wait for it */

#define NGX_HTTP_SUBMISSION_EXPIRY_BATCH     500


typedef struct {
    ngx_http_submission_task_t       task;
    ngx_uint_t                       generation;
    sm_entry_t                      *entries[NGX_HTTP_SUBMISSION_EXPIRY_BATCH];
    sm_begin_row_t                  *rows;
    size_t                           n;
} ngx_http_submission_expiry_t;


static void ngx_http_submission_expiry_done(ngx_http_submission_task_t *task);


static void
ngx_http_submission_expiry_handler(ngx_event_t *ev)
{
    ngx_http_submission_expiry_tell(ev->data);
}


void
ngx_http_submission_expiry_init(ngx_http_submission_executor_t *ex)
{
    ex->expiry.handler = ngx_http_submission_expiry_handler;
    ex->expiry.data = ex;
    ex->expiry.log = ngx_cycle->log;
    ex->expiry.cancelable = 1;

    ex->expiry_told = ngx_current_msec - NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL;
}


static void
ngx_http_submission_expiry_count(ngx_http_submission_executor_t *ex)
{
    ngx_msec_t  since;

    ex->nexpired++;

    since = ngx_current_msec - ex->expiry_told;

    if (!ex->expiry.timer_set) {
        ngx_add_timer(&ex->expiry,
                      since < NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL
                      ? NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL - since : 1);
    }
}


void
ngx_http_submission_expiry_ended(ngx_http_submission_manager_t *manager,
    sm_entry_t *entry, sm_begin_row_t *row, int64_t epoch, int64_t now)
{
    ngx_http_submission_field_t      id;
    ngx_http_submission_target_t    *target;
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    target = entry ? ngx_http_submission_target(manager->conf,
                                                sm_entry_target(entry))
                   : NULL;

    ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                  "submission: expired manager=%V%V lease_epoch=%L "
                  "status=exhausted reason=deadline_exceeded",
                  &manager->conf->name,
                  ngx_http_submission_field(&id, " intent_id=", row->id),
                  epoch);

    ngx_http_submission_count_terminal(manager, target, SM_STATUS_EXHAUSTED,
                                       SM_EXHAUSTED_DEADLINE,
                                       now - row->created_at);

    if (row->number == 1) {
        ngx_http_submission_count_expired(manager, target);
        ngx_http_submission_expiry_count(ex);
    }

    ngx_http_submission_notice(manager, row->id);

    if (ex->schedule
        && sm_webhook_told(row->contract.notify, SM_STATUS_EXHAUSTED))
    {
        ngx_http_submission_schedule_new(ex);
    }

    if (entry) {
        ngx_http_submission_stats_expired(ex, row->id, target);
        sm_schedule_drop(ex->schedule, entry);
    }
}


static ngx_int_t
ngx_http_submission_expiry_fill(ngx_http_submission_executor_t *ex,
    ngx_http_submission_expiry_t *et)
{
    size_t       i;
    sm_arena_t  *arena;

    arena = &et->task.call.arena;

    et->n = sm_schedule_take_expired(ex->schedule, et->entries,
                                     NGX_HTTP_SUBMISSION_EXPIRY_BATCH);
    et->task.rows = et->n;

    et->rows = sm_arena_calloc(arena, et->n, sizeof(sm_begin_row_t));
    if (et->rows == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < et->n; i++) {

        /* a copy: the schedule may go away meanwhile */

        if (sm_arena_strdup(arena, &et->rows[i].id,
                            sm_entry_id(et->entries[i]))
            != 0)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* all are as they were, and are looked at again in a second */

static void
ngx_http_submission_expiry_undo(ngx_http_submission_executor_t *ex,
    ngx_http_submission_expiry_t *et)
{
    size_t  i;

    for (i = 0; i < et->n; i++) {
        sm_schedule_put(ex->schedule, et->entries[i],
                        sm_entry_due_at(et->entries[i]));
    }
}


void
ngx_http_submission_expiry_look(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_expiry_t  *et;

    if (ex->expiring || ex->leaving
        || !sm_schedule_has_expired(ex->schedule))
    {
        return;
    }

    et = ngx_http_submission_task_create(ex->manager,
                                       NGX_HTTP_SUBMISSION_OP_ATTEMPTS_EXPIRE,
                                       sizeof(ngx_http_submission_expiry_t));
    if (et == NULL) {
        return;
    }

    et->generation = ex->generation;
    et->task.done = ngx_http_submission_expiry_done;

    ngx_http_submission_task_fence(&et->task, ex->epoch);

    if (ngx_http_submission_expiry_fill(ex, et) != NGX_OK
        || ngx_http_submission_task_post(&et->task) != NGX_OK)
    {
        ngx_http_submission_expiry_undo(ex, et);
        ngx_http_submission_task_free(&et->task);
        return;
    }

    ex->expiring = &et->task;
}


void
ngx_http_submission_expiry_run(ngx_http_submission_task_t *task)
{
    ngx_http_submission_expiry_t  *et;

    et = (ngx_http_submission_expiry_t *) task;

    (void) sm_store_attempts_expire(&task->manager->store, &task->call,
                                    &task->fence, et->rows, et->n);
}


/* the store has not ended it: it is in flight, has ended, or has still time */

static void
ngx_http_submission_expiry_left(ngx_http_submission_executor_t *ex,
    sm_entry_t *entry, sm_begin_row_t *row)
{
    if (row->outcome == SM_BEGIN_EARLY) {
        sm_schedule_put(ex->schedule, entry, row->due_at);
        return;
    }

    ngx_http_submission_executor_gone(ex, entry);
}


/*
 * After an error the door has told the leader: this epoch is over, and the
 * schedule with it.
 */

static void
ngx_http_submission_expiry_done(ngx_http_submission_task_t *task)
{
    size_t                           i;
    ngx_uint_t                       current;
    ngx_http_submission_expiry_t    *et;
    ngx_http_submission_executor_t  *ex;

    et = (ngx_http_submission_expiry_t *) task;
    ex = task->manager->executor;

    ex->expiring = NULL;

    if (task->call.status == SM_STORE_OK && ex->schedule) {
        ngx_http_submission_executor_time(ex, task->call.now);
        ngx_http_submission_executor_tick(ex);
    }

    for (i = 0; i < et->n && task->call.status == SM_STORE_OK; i++) {

        /* any of these may end leadership */

        current = ex->schedule && ex->generation == et->generation;

        if (et->rows[i].outcome == SM_BEGIN_EXPIRED) {
            ngx_http_submission_expiry_ended(task->manager,
                                             current ? et->entries[i] : NULL,
                                             &et->rows[i], task->fence.epoch,
                                             task->call.now);

        } else if (current) {
            ngx_http_submission_expiry_left(ex, et->entries[i], &et->rows[i]);
        }
    }

    ngx_http_submission_executor_wake(ex);
}


void
ngx_http_submission_expiry_tell(ngx_http_submission_executor_t *ex)
{
    if (ex->expiry.timer_set) {
        ngx_del_timer(&ex->expiry);
    }

    if (ex->nexpired == 0) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: expired_unsent manager=%V lease_epoch=%L "
                  "intents=%ui: their deadlines passed before their first "
                  "attempt", &ex->manager->conf->name, ex->epoch, ex->nexpired);

    ex->nexpired = 0;
    ex->expiry_told = ngx_current_msec;
}
