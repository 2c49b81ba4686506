
/*
 * Recording what attempts have come to, in batches, one call at a time.
 *
 * While the lease by which they were begun may be held, outcomes are kept and
 * recorded as soon as the store answers.  Those that it will not take, or not
 * before the worker ends, are given up: the next leader finds them in doubt.
 */

#include "ngx_http_submission.h"


#define NGX_HTTP_SUBMISSION_TRIES  4


typedef struct {
    ngx_http_submission_task_t       task;
    sm_fence_t                       fence;

    ngx_queue_t                      attempts;
    sm_complete_row_t               *rows;
    size_t                           n;
} ngx_http_submission_complete_t;


static void ngx_http_submission_complete_run(ngx_http_submission_task_t *task);
static void ngx_http_submission_complete_done(
    ngx_http_submission_task_t *task);


/* its entry, unless the schedule that has it is gone */

static sm_entry_t *
ngx_http_submission_attempt_entry(ngx_http_submission_attempt_t *at)
{
    ngx_http_submission_executor_t  *ex;

    ex = at->manager->executor;

    return ex->schedule && ex->generation == at->generation ? at->entry : NULL;
}


static void
ngx_http_submission_complete_row(ngx_http_submission_attempt_t *at,
    sm_complete_row_t *row)
{
    row->id = at->id;
    row->number = at->number;
    row->epoch = at->epoch;
    row->holder.data = (char *) at->manager->holder_id.data;
    row->holder.len = at->manager->holder_id.len;
    row->started_at = at->started_at;
    row->finished_at = at->finished_at;
    row->outcome = at->outcome;
    row->reason = at->reason;
    row->error = at->error;
    row->status = at->decision.status;
    row->exhausted = at->decision.exhausted;
    row->delay = at->decision.delay;
}


/* NGX_OK: the call is out; NGX_ERROR: it cannot be made now */

ngx_int_t
ngx_http_submission_complete(ngx_http_submission_executor_t *ex)
{
    size_t                           i, max;
    ngx_queue_t                     *q;
    ngx_http_submission_attempt_t   *at;
    ngx_http_submission_complete_t  *complete;

    if ((ngx_msec_int_t) (ex->retry - ngx_current_msec) > 0) {
        return NGX_ERROR;
    }

    max = ngx_min(ex->nended, (ngx_uint_t) ex->manager->executor_batch);

    complete = ngx_http_submission_task_create(ex->manager,
                                       sizeof(ngx_http_submission_complete_t));
    if (complete == NULL) {
        return NGX_ERROR;
    }

    complete->rows = sm_arena_calloc(&complete->task.call.arena, max,
                                     sizeof(sm_complete_row_t));
    if (complete->rows == NULL) {
        ngx_http_submission_task_free(&complete->task);
        return NGX_ERROR;
    }

    ngx_queue_init(&complete->attempts);

    for (i = 0; i < max; i++) {
        q = ngx_queue_head(&ex->ended);
        at = ngx_queue_data(q, ngx_http_submission_attempt_t, queue);

        if (i && at->epoch != complete->fence.epoch) {
            break;
        }

        ngx_queue_remove(q);
        ngx_queue_insert_tail(&complete->attempts, q);

        ngx_http_submission_complete_row(at, &complete->rows[i]);

        complete->fence.holder = complete->rows[i].holder;
        complete->fence.epoch = at->epoch;
    }

    complete->n = i;

    complete->task.op = NGX_HTTP_SUBMISSION_OP_ATTEMPTS_COMPLETE;
    complete->task.writes = 1;
    complete->task.rows = complete->n;
    complete->task.run = ngx_http_submission_complete_run;
    complete->task.done = ngx_http_submission_complete_done;

    if (ngx_http_submission_task_post(&complete->task) != NGX_OK) {

        while (!ngx_queue_empty(&complete->attempts)) {
            q = ngx_queue_last(&complete->attempts);
            ngx_queue_remove(q);
            ngx_queue_insert_head(&ex->ended, q);
        }

        ngx_http_submission_task_free(&complete->task);
        return NGX_ERROR;
    }

    ex->nended -= complete->n;
    ex->completing = 1;

    return NGX_OK;
}


static void
ngx_http_submission_complete_run(ngx_http_submission_task_t *task)
{
    ngx_http_submission_complete_t  *complete;

    complete = (ngx_http_submission_complete_t *) task;

    (void) sm_store_attempts_complete(&task->manager->store, &task->call,
                                      &complete->fence, complete->rows,
                                      complete->n);
}


static void
ngx_http_submission_attempt_recorded(ngx_http_submission_attempt_t *at,
    sm_complete_row_t *row, int64_t now)
{
    sm_entry_t     *entry;
    sm_schedule_t  *schedule;

    entry = ngx_http_submission_attempt_entry(at);
    schedule = at->manager->executor->schedule;

    if (!row->applied) {

        /* of another one's doing, or data that the store does not take */

        ngx_http_submission_attempt_log(at, NGX_LOG_ERR,
                                        "attempt_not_recorded", NULL);

        if (entry) {
            sm_schedule_drop(schedule, entry);
        }

        return;
    }

    if (entry) {
        if (row->status == SM_STATUS_PENDING) {
            sm_schedule_put(schedule, entry, row->next_attempt_at);

        } else {
            sm_schedule_drop(schedule, entry);
        }
    }

    if (at->outcome == SM_OUTCOME_NONE) {
        return;
    }

    ngx_http_submission_count_attempt(at->manager, at->outcome, 1);

    if (row->status == SM_STATUS_PENDING) {
        ngx_http_submission_count(at->manager, NGX_HTTP_SUBMISSION_RETRIES, 1);

    } else {
        ngx_http_submission_count_terminal(at->manager, row->status,
                                           row->exhausted,
                                           now - at->created_at);
    }

    ngx_http_submission_attempt_log(at, NGX_LOG_INFO, "attempt", NULL);

    ngx_http_submission_wait_notify(at->manager, at->id);
}


/*
 * An error that may pass is waited for, as long as the store does not say that
 * the lease is gone; any other, and any while the worker ends, not for long.
 */

static ngx_uint_t
ngx_http_submission_complete_again(ngx_http_submission_attempt_t *at,
    sm_store_class_e status)
{
    if (status == SM_STORE_LEASE_LOST) {
        return 0;
    }

    return ++at->tried < NGX_HTTP_SUBMISSION_TRIES
           || (status == SM_STORE_TRANSIENT && !ngx_exiting);
}


static void
ngx_http_submission_complete_failed(ngx_http_submission_complete_t *complete)
{
    ngx_queue_t                     *q;
    ngx_http_submission_attempt_t   *at;
    ngx_http_submission_executor_t  *ex;

    ex = complete->task.manager->executor;

    while (!ngx_queue_empty(&complete->attempts)) {
        q = ngx_queue_last(&complete->attempts);
        at = ngx_queue_data(q, ngx_http_submission_attempt_t, queue);
        ngx_queue_remove(q);

        if (ngx_http_submission_complete_again(at,
                                               complete->task.call.status))
        {
            ngx_queue_insert_head(&ex->ended, q);
            ex->nended++;
            continue;
        }

        ngx_http_submission_attempt_log(at, NGX_LOG_WARN, "attempt_dropped",
                                        "not_recorded");
        ngx_http_submission_attempt_free(at);
    }

    if (complete->task.call.status != SM_STORE_LEASE_LOST) {
        ex->retry = ngx_current_msec + NGX_HTTP_SUBMISSION_RETRY;
    }
}


static void
ngx_http_submission_complete_done(ngx_http_submission_task_t *task)
{
    size_t                           i;
    ngx_queue_t                     *q;
    ngx_http_submission_attempt_t   *at;
    ngx_http_submission_executor_t  *ex;
    ngx_http_submission_complete_t  *complete;

    complete = (ngx_http_submission_complete_t *) task;
    ex = task->manager->executor;

    ex->completing = 0;

    ngx_http_submission_health_report(task);

    if (task->call.status == SM_STORE_OK) {
        ngx_http_submission_executor_time(ex, task->call.now);

        for (i = 0; i < complete->n; i++) {
            q = ngx_queue_head(&complete->attempts);
            at = ngx_queue_data(q, ngx_http_submission_attempt_t, queue);
            ngx_queue_remove(q);

            ngx_http_submission_attempt_recorded(at, &complete->rows[i],
                                                 task->call.now);
            ngx_http_submission_attempt_free(at);
        }

    } else {
        ngx_http_submission_complete_failed(complete);
        ngx_http_submission_leader_failed(task->manager->leader,
                                          complete->fence.epoch, &task->call);
    }

    ngx_http_submission_executor_wake(ex);
}


/* what was begun by a lease that the instance does not hold any more */

static void
ngx_http_submission_complete_drop(ngx_http_submission_executor_t *ex)
{
    ngx_queue_t                    *q, *next;
    ngx_http_submission_attempt_t  *at;

    for (q = ngx_queue_head(&ex->ended);
         q != ngx_queue_sentinel(&ex->ended);
         q = next)
    {
        next = ngx_queue_next(q);
        at = ngx_queue_data(q, ngx_http_submission_attempt_t, queue);

        if (ex->manager->sh->held == (ngx_atomic_uint_t) at->epoch) {
            continue;
        }

        ngx_queue_remove(q);
        ex->nended--;

        ngx_http_submission_attempt_log(at, NGX_LOG_WARN, "attempt_dropped",
                                        "lease_gone");
        ngx_http_submission_attempt_free(at);
    }
}


ngx_int_t
ngx_http_submission_complete_flush(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    if (ex->beginning || ex->completing) {
        return NGX_AGAIN;
    }

    ngx_http_submission_complete_drop(ex);

    if (ex->nended == 0) {
        return NGX_OK;
    }

    return ngx_http_submission_complete(ex) == NGX_OK ? NGX_AGAIN : NGX_BUSY;
}
