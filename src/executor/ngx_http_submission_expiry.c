
/*
 * Intents whose deadline has passed before they could be begun.
 *
 * - The queue takes them out of the way, whatever holds their targets, and the
 *   store ends them in calls of their own, one at a time, beside the turns.
 *   Each call is fenced, and decides by the store's clock.  A turn may find
 *   such an intent, too.
 * - Intents that were never tried were acknowledged and never sent, which an
 *   operator wants to know.  After an outage there may be very many, so they
 *   are counted in at most one log line a second.
 */

#include "ngx_http_submission_turn.h"


#define NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL  1000

/* rows of a call; it is small, because a turn may have to wait for it */

#define NGX_HTTP_SUBMISSION_EXPIRY_BATCH     500


typedef struct {
    ngx_http_submission_task_t       task;
    ngx_uint_t                       generation;
    sm_entry_t                      *entries[NGX_HTTP_SUBMISSION_EXPIRY_BATCH];
    ngx_http_submission_target_t   **targets;      /* NULL: not configured */
    sm_begin_row_t                  *rows;
    size_t                           n;
} ngx_http_submission_expiry_t;


struct ngx_http_submission_expiries_s {
    ngx_http_submission_task_t      *out;

    ngx_event_t                      timer;        /* of the next line */
    ngx_uint_t                       n;            /* since the last line */
    ngx_msec_t                       told;
};


static void ngx_http_submission_expiry_done(ngx_http_submission_task_t *task);


static void
ngx_http_submission_expiry_handler(ngx_event_t *ev)
{
    ngx_http_submission_expiry_tell(ev->data);
}


ngx_int_t
ngx_http_submission_expiry_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_expiries_t  *expiries;

    expiries = ngx_pcalloc(cycle->pool,
                           sizeof(ngx_http_submission_expiries_t));
    if (expiries == NULL) {
        return NGX_ERROR;
    }

    expiries->timer.handler = ngx_http_submission_expiry_handler;
    expiries->timer.data = ex;
    expiries->timer.log = cycle->log;
    expiries->timer.cancelable = 1;

    expiries->told = ngx_current_msec - NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL;

    ex->expiries = expiries;

    return NGX_OK;
}


ngx_uint_t
ngx_http_submission_expiry_out(ngx_http_submission_executor_t *ex)
{
    return ex->expiries->out != NULL;
}


static void
ngx_http_submission_expiry_count(ngx_http_submission_expiries_t *expiries)
{
    ngx_msec_t  since;

    expiries->n++;

    since = ngx_current_msec - expiries->told;

    if (!expiries->timer.timer_set) {
        ngx_add_timer(&expiries->timer,
                      since < NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL
                      ? NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL - since : 1);
    }
}


void
ngx_http_submission_expiry_ended(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, sm_entry_t *entry,
    sm_begin_row_t *row, int64_t epoch, int64_t now)
{
    ngx_http_submission_end_t  end;

    ngx_memzero(&end, sizeof(ngx_http_submission_end_t));

    end.id = row->id;
    end.target = target;
    end.entry = entry;
    end.event = "expired";
    end.epoch = epoch;
    end.status = SM_STATUS_EXHAUSTED;
    end.exhausted = SM_EXHAUSTED_DEADLINE;
    end.age = now - row->created_at;
    end.notify = row->contract.notify;

    if (row->number == 1) {
        ngx_http_submission_count_expired(manager, target);
        ngx_http_submission_expiry_count(manager->executor->expiries);
    }

    ngx_http_submission_intent_ended(manager, &end);
}


static ngx_int_t
ngx_http_submission_expiry_fill(ngx_http_submission_executor_t *ex,
    ngx_http_submission_expiry_t *et)
{
    size_t       i;
    sm_arena_t  *arena;

    arena = &et->task.call.arena;

    et->n = sm_queue_take_expired(ex->queue, et->entries,
                                  NGX_HTTP_SUBMISSION_EXPIRY_BATCH);
    et->task.rows = et->n;

    et->targets = sm_arena_calloc(arena, et->n, sizeof(void *));
    et->rows = sm_arena_calloc(arena, et->n, sizeof(sm_begin_row_t));

    if (et->targets == NULL || et->rows == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < et->n; i++) {

        /* the queue may go away while the call is out */

        et->targets[i] = ngx_http_submission_target(ex->manager->conf,
                                             sm_entry_target(et->entries[i]));

        if (sm_arena_strdup(arena, &et->rows[i].id,
                            sm_entry_id(et->entries[i]))
            != 0)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* puts the entries back; the queue finds them again in a second */

static void
ngx_http_submission_expiry_undo(ngx_http_submission_executor_t *ex,
    ngx_http_submission_expiry_t *et)
{
    size_t  i;

    for (i = 0; i < et->n; i++) {
        sm_queue_put(ex->queue, et->entries[i],
                     sm_entry_due_at(et->entries[i]));
    }
}


void
ngx_http_submission_expiry_look(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_expiry_t  *et;

    if (ex->expiries->out || ex->leaving
        || !sm_queue_has_expired(ex->queue))
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

    ex->expiries->out = &et->task;

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: expiry epoch:%L intents:%uz", ex->epoch,
                   et->n);
}


void
ngx_http_submission_expiry_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_expiry_t  *et;

    et = (ngx_http_submission_expiry_t *) task;

    (void) sm_store_attempts_expire(&task->manager->store, &task->call,
                                    &task->fence, et->rows, et->n);
}


/*
 * If the call has failed, task.c has told the leader, who ends the epoch: the
 * next one finds these intents again.
 */

static void
ngx_http_submission_expiry_done(ngx_http_submission_task_t *task)
{
    size_t                           i;
    sm_entry_t                      *entry;
    ngx_http_submission_expiry_t    *et;
    ngx_http_submission_executor_t  *ex;

    et = (ngx_http_submission_expiry_t *) task;
    ex = task->manager->executor;

    ex->expiries->out = NULL;

    if (task->call.status == SM_STORE_OK && ex->queue) {
        ngx_http_submission_executor_time(ex, task->call.now);
        ngx_http_submission_executor_tick(ex);
    }

    for (i = 0; i < et->n && task->call.status == SM_STORE_OK; i++) {

        /* any of those before may have ended leadership */

        entry = ngx_http_submission_epoch_entry(ex, et->generation,
                                                et->entries[i]);

        ngx_http_submission_turn_not_begun(task->manager, et->targets[i],
                                           entry, &et->rows[i],
                                           task->fence.epoch, task->call.now);
    }

    ngx_http_submission_executor_wake(ex);
}


void
ngx_http_submission_expiry_end(ngx_http_submission_executor_t *ex)
{
    if (ex->expiries->out) {
        (void) ngx_http_submission_task_settle(ex->expiries->out);
    }
}


void
ngx_http_submission_expiry_tell(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_expiries_t  *expiries;

    expiries = ex->expiries;

    if (expiries->timer.timer_set) {
        ngx_del_timer(&expiries->timer);
    }

    if (expiries->n == 0) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: expired_unsent manager=%V lease_epoch=%L "
                  "intents=%ui: their deadlines passed before their first "
                  "attempt", &ex->manager->conf->name, ex->epoch, expiries->n);

    expiries->n = 0;
    expiries->told = ngx_current_msec;
}
