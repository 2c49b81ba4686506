
/*
 * A turn of the executor: one fenced call to the store, which in one
 * transaction records attempts that have ended and begins those that are due,
 * in batches.
 *
 * - There is one turn at a time: ex->turns->out.
 * - A turn takes its attempts out of ex->ended, and its entries out of what is
 *   due in the queue.  If it cannot be posted, both are put back as they were.
 * - If the call succeeds, each row is taken in once: what was begun is sent,
 *   and what was recorded is booked.  Entries may be used only while the queue
 *   is the one that they were taken from, see _epoch_entry().
 * - If it fails, for whatever reason, the outcomes are kept and tried again
 *   with growing delays, under the epoch that the instance holds or the next
 *   one of this worker.  They are given up when another instance leads, which
 *   has found them in doubt, and when the worker exits and has not succeeded
 *   for the duration of a lease.
 *
 * The executor calls _turn().  The leader calls _flush() when the worker does
 * not lead any more, and _end() is for a worker that is being terminated.
 */

#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_turn.h"
#include "ngx_http_submission_zone.h"


#define NGX_HTTP_SUBMISSION_TURN_RETRY_MAX  5000         /* milliseconds */


typedef struct {
    ngx_http_submission_task_t       task;
    ngx_uint_t                       generation;

    int64_t                          began;        /* usec */

    ngx_queue_t                      attempts;     /* that have ended */
    sm_complete_row_t               *ended;
    size_t                           nended;

    sm_entry_t                     **entries;      /* that are due */
    sm_begin_row_t                  *due;
    size_t                           ndue;
} ngx_http_submission_turn_t;


struct ngx_http_submission_turns_s {
    ngx_http_submission_task_t      *out;
    int64_t                          took;         /* usec, the last turn */
    ngx_msec_t                       retry;        /* not before then */
    int64_t                          gone;         /* an epoch that is lost */
    ngx_uint_t                       failures;     /* in a row */
    ngx_msec_t                       failing;      /* since then */
};


static ngx_int_t ngx_http_submission_turn_ended(
    ngx_http_submission_executor_t *ex, ngx_http_submission_turn_t *turn);
static ngx_int_t ngx_http_submission_turn_due(
    ngx_http_submission_executor_t *ex, ngx_http_submission_turn_t *turn);
static void ngx_http_submission_turn_undo(ngx_http_submission_executor_t *ex,
    ngx_http_submission_turn_t *turn);
static void ngx_http_submission_turn_done(ngx_http_submission_task_t *task);


ngx_int_t
ngx_http_submission_turn_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex)
{
    ex->turns = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_turns_t));

    return ex->turns ? NGX_OK : NGX_ERROR;
}


void
ngx_http_submission_turn_start(ngx_http_submission_executor_t *ex)
{
    ex->turns->retry = ngx_current_msec;
}


ngx_uint_t
ngx_http_submission_turn_out(ngx_http_submission_executor_t *ex)
{
    return ex->turns->out != NULL;
}


/* NGX_DECLINED: there is nothing to record or to begin */

static ngx_int_t
ngx_http_submission_turn_create(ngx_http_submission_executor_t *ex,
    ngx_http_submission_turn_t **turnp)
{
    ngx_http_submission_turn_t  *turn;

    turn = ngx_http_submission_task_create(ex->manager,
                                         NGX_HTTP_SUBMISSION_OP_ATTEMPTS_TURN,
                                         sizeof(ngx_http_submission_turn_t));
    if (turn == NULL) {
        return NGX_ERROR;
    }

    ngx_queue_init(&turn->attempts);

    turn->generation = ex->generation;
    turn->began = ngx_http_submission_usec();

    ngx_http_submission_task_fence(&turn->task,
                                   ex->queue
                                   ? ex->epoch
                                   : (int64_t) ex->manager->sh->held);

    if (ngx_http_submission_turn_ended(ex, turn) != NGX_OK
        || ngx_http_submission_turn_due(ex, turn) != NGX_OK)
    {
        ngx_http_submission_turn_undo(ex, turn);
        ngx_http_submission_task_free(&turn->task);
        return NGX_ERROR;
    }

    if (turn->nended + turn->ndue == 0) {
        ngx_http_submission_task_free(&turn->task);
        return NGX_DECLINED;
    }

    turn->task.rows = turn->nended + turn->ndue;
    turn->task.done = ngx_http_submission_turn_done;

    *turnp = turn;

    return NGX_OK;
}


ngx_int_t
ngx_http_submission_turn(ngx_http_submission_executor_t *ex)
{
    ngx_int_t                    rc;
    ngx_http_submission_turn_t  *turn;

    rc = ngx_http_submission_turn_create(ex, &turn);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? NGX_OK : NGX_ERROR;
    }

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: turn epoch:%L ended:%uz due:%uz sending:%ui "
                   "left:%ui", turn->task.fence.epoch, turn->nended,
                   turn->ndue, ex->nsending, ex->nended);

    if (ngx_http_submission_task_post(&turn->task) != NGX_OK) {
        ngx_http_submission_turn_undo(ex, turn);
        ngx_http_submission_task_free(&turn->task);
        return NGX_ERROR;
    }

    ex->turns->out = &turn->task;

    return NGX_OK;
}


static void
ngx_http_submission_turn_row(ngx_http_submission_attempt_t *at,
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
    row->http_status = at->http_status;
    row->answer = at->kept;
    row->span_id = at->span_id;
    row->status = at->decision.status;
    row->exhausted = at->decision.exhausted;
    row->delay = at->decision.delay;
    row->untold = at->contract.notify.len == 0;
}


static ngx_int_t
ngx_http_submission_turn_ended(ngx_http_submission_executor_t *ex,
    ngx_http_submission_turn_t *turn)
{
    size_t                          max;
    ngx_queue_t                    *q;
    ngx_http_submission_attempt_t  *at;

    if (ex->nended == 0) {
        return NGX_OK;
    }

    if ((ngx_msec_int_t) (ex->turns->retry - ngx_current_msec) > 0) {
        return NGX_ERROR;
    }

    max = ngx_min(ex->nended, (ngx_uint_t) ex->manager->conf->executor_batch);

    turn->ended = sm_arena_calloc(&turn->task.call.arena, max,
                                  sizeof(sm_complete_row_t));
    if (turn->ended == NULL) {
        return NGX_ERROR;
    }

    while (turn->nended < max) {
        q = ngx_queue_head(&ex->ended);
        at = ngx_queue_data(q, ngx_http_submission_attempt_t, queue);

        ngx_queue_remove(q);
        ngx_queue_insert_tail(&turn->attempts, q);
        ex->nended--;

        ngx_http_submission_turn_row(at, &turn->ended[turn->nended++]);
    }

    return NGX_OK;
}


/* whether the gateways took less time than the last turn */

static ngx_uint_t
ngx_http_submission_turn_behind(ngx_http_submission_executor_t *ex,
    ngx_http_submission_turn_t *turn)
{
    size_t   i;
    int64_t  took;

    took = 0;

    for (i = 0; i < turn->nended; i++) {
        took += turn->ended[i].finished_at - turn->ended[i].started_at;
    }

    return turn->nended && took / (int64_t) turn->nended < ex->turns->took;
}


static ngx_int_t
ngx_http_submission_turn_due(ngx_http_submission_executor_t *ex,
    ngx_http_submission_turn_t *turn)
{
    size_t       i;
    int64_t      now;
    ngx_uint_t   max;
    sm_arena_t  *arena;

    if (ex->queue == NULL || ex->leaving
        || !ngx_http_submission_pauses_known(ex)
        || (ngx_msec_int_t) (ngx_current_msec - ex->pause) < 0)
    {
        return NGX_OK;
    }

    now = ngx_http_submission_executor_now(ex);

    if (sm_queue_next(ex->queue) > now) {

        if (!ex->unsent) {
            ex->starved_since = 0;
        }

        return NGX_OK;
    }

    max = ngx_http_submission_executor_room(ex,
                                ngx_http_submission_turn_behind(ex, turn));

    if (max == 0) {
        return NGX_OK;
    }

    arena = &turn->task.call.arena;

    turn->entries = sm_arena_calloc(arena, max, sizeof(sm_entry_t *));
    turn->due = sm_arena_calloc(arena, max, sizeof(sm_begin_row_t));

    if (turn->entries == NULL || turn->due == NULL) {
        return NGX_ERROR;
    }

    turn->ndue = sm_queue_take(ex->queue, now, turn->entries, max);

    for (i = 0; i < turn->ndue; i++) {

        /* the queue may go away while the call is out, and the ids with it */

        if (sm_arena_strdup(arena, &turn->due[i].id,
                            sm_entry_id(turn->entries[i]))
            != 0)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* puts back what the turn has taken, as it was */

static void
ngx_http_submission_turn_undo(ngx_http_submission_executor_t *ex,
    ngx_http_submission_turn_t *turn)
{
    size_t        i;
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&turn->attempts)) {
        q = ngx_queue_last(&turn->attempts);
        ngx_queue_remove(q);
        ngx_queue_insert_head(&ex->ended, q);
        ex->nended++;
    }

    for (i = 0; i < turn->ndue; i++) {
        sm_queue_put(ex->queue, turn->entries[i],
                     sm_entry_due_at(turn->entries[i]));
    }
}


/* how many attempts it has recorded or begun */

static ngx_uint_t
ngx_http_submission_turn_written_thread(ngx_http_submission_turn_t *turn)
{
    ngx_uint_t  i, n;

    n = 0;

    for (i = 0; i < turn->nended; i++) {
        n += turn->ended[i].applied;
    }

    for (i = 0; i < turn->ndue; i++) {
        n += turn->due[i].outcome == SM_BEGIN_BEGUN;
    }

    return n;
}


void
ngx_http_submission_turn_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_turn_t  *turn;

    turn = (ngx_http_submission_turn_t *) task;

    if (sm_store_attempts_turn(&task->manager->store, &task->call, &task->fence,
                               turn->ended, turn->nended, turn->due,
                               turn->ndue)
        == 0)
    {
        task->written = ngx_http_submission_turn_written_thread(turn);
    }
}


static void
ngx_http_submission_turn_begun(ngx_http_submission_turn_t *turn)
{
    size_t                          i;
    sm_entry_t                     *entry;
    sm_begin_row_t                 *row;
    ngx_http_submission_manager_t  *manager;

    manager = turn->task.manager;

    for (i = 0; i < turn->ndue; i++) {
        row = &turn->due[i];

        if (row->outcome == SM_BEGIN_BEGUN) {
            ngx_http_submission_attempt_start(manager, turn->generation,
                                              turn->entries[i], row,
                                              turn->task.fence.epoch,
                                              turn->task.call.now);
            continue;
        }

        /* any of those before may have ended leadership */

        entry = ngx_http_submission_epoch_entry(manager->executor,
                                                turn->generation,
                                                turn->entries[i]);

        ngx_http_submission_turn_not_begun(manager,
                           ngx_http_submission_target(manager->conf,
                                                      row->contract.target),
                                           entry, row, turn->task.fence.epoch,
                                           turn->task.call.now);
    }
}


static void
ngx_http_submission_turn_recorded(ngx_http_submission_turn_t *turn)
{
    size_t                          i;
    ngx_queue_t                    *q;
    ngx_http_submission_attempt_t  *at;

    for (i = 0; i < turn->nended; i++) {
        q = ngx_queue_head(&turn->attempts);
        at = ngx_queue_data(q, ngx_http_submission_attempt_t, queue);
        ngx_queue_remove(q);

        ngx_http_submission_turn_record(at, &turn->ended[i],
                                        turn->task.call.now);
        ngx_http_submission_attempt_free(at);
    }
}


/*
 * Whether an outcome is tried again.  An exiting worker gets no further epoch,
 * and does not wait for ever.
 */

static ngx_uint_t
ngx_http_submission_turn_again(ngx_http_submission_executor_t *ex,
    sm_store_class_e status)
{
    if (!ngx_exiting) {
        return 1;
    }

    return status != SM_STORE_LEASE_LOST
           && ngx_current_msec - ex->turns->failing
              < ex->manager->conf->lease_duration;
}


/*
 * The delay grows with each failure, but not by an error that passes by itself,
 * such as a deadlock.
 */

static void
ngx_http_submission_turn_back_off(ngx_http_submission_executor_t *ex,
    sm_store_class_e status)
{
    ngx_msec_t  wait;

    if (ex->turns->failures++ == 0) {
        ex->turns->failing = ngx_current_msec;
    }

    wait = NGX_HTTP_SUBMISSION_LEADER_RETRY;

    if (status != SM_STORE_TRANSIENT) {
        wait <<= ngx_min(ex->turns->failures - 1, 4);
    }

    ex->turns->retry = ngx_current_msec
                + ngx_min(wait, NGX_HTTP_SUBMISSION_TURN_RETRY_MAX);
}


static void
ngx_http_submission_turn_failed(ngx_http_submission_turn_t *turn)
{
    ngx_queue_t                     *q;
    sm_store_class_e                 status;
    ngx_http_submission_attempt_t   *at;
    ngx_http_submission_executor_t  *ex;

    ex = turn->task.manager->executor;
    status = turn->task.call.status;

    if (status == SM_STORE_LEASE_LOST) {
        ex->turns->gone = turn->task.fence.epoch;

    } else {
        ngx_http_submission_turn_back_off(ex, status);
    }

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: turn failed epoch:%L status:%d failures:%ui "
                   "again in:%M", turn->task.fence.epoch, (int) status,
                   ex->turns->failures, ex->turns->retry - ngx_current_msec);

    while (!ngx_queue_empty(&turn->attempts)) {
        q = ngx_queue_last(&turn->attempts);
        at = ngx_queue_data(q, ngx_http_submission_attempt_t, queue);
        ngx_queue_remove(q);

        if (ngx_http_submission_turn_again(ex, status)) {
            ngx_queue_insert_head(&ex->ended, q);
            ex->nended++;
            continue;
        }

        ngx_http_submission_attempt_drop(at, "not_recorded");
    }
}


static void
ngx_http_submission_turn_done(ngx_http_submission_task_t *task)
{
    ngx_http_submission_turn_t      *turn;
    ngx_http_submission_executor_t  *ex;

    turn = (ngx_http_submission_turn_t *) task;
    ex = task->manager->executor;

    ex->turns->out = NULL;

    if (task->call.status == SM_STORE_OK) {
        ex->turns->failures = 0;
        ex->turns->took = ngx_http_submission_usec() - turn->began;
        ngx_http_submission_executor_time(ex, task->call.now);

        /* sending comes first: booking the outcomes can wait */

        ngx_http_submission_turn_begun(turn);
        ngx_http_submission_turn_recorded(turn);

        if (turn->nended) {
            ngx_http_submission_leader_works(task->manager);
        }

    } else {
        ngx_http_submission_turn_failed(turn);
    }

    ngx_http_submission_executor_wake(ex);
}


/*
 * If the instance holds no epoch, the outcomes are left to the next epoch of
 * this worker.  An exiting worker gets none, and drops them.
 */

ngx_int_t
ngx_http_submission_turn_flush(ngx_http_submission_manager_t *manager)
{
    int64_t                          epoch;
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    if (ex->turns->out) {
        return NGX_AGAIN;
    }

    epoch = manager->sh->held;

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: flush epoch:%L gone:%L ended:%ui", epoch,
                   ex->turns->gone, ex->nended);

    if (epoch == 0 || epoch == ex->turns->gone) {

        if (ngx_exiting) {
            ngx_http_submission_in_hand_recovered(manager, NULL);
        }

        return NGX_OK;
    }

    if (ex->nended == 0) {
        return NGX_OK;
    }

    return ngx_http_submission_turn(ex) == NGX_OK ? NGX_AGAIN : NGX_BUSY;
}


/*
 * What the last turn has begun is given back, because nothing is sent any more.
 * Then the outcomes are recorded in place.
 */

ngx_int_t
ngx_http_submission_turn_end(ngx_http_submission_executor_t *ex,
    ngx_msec_t deadline)
{
    ngx_http_submission_turn_t  *turn;

    if (ex->turns->out
        && ngx_http_submission_task_settle(ex->turns->out) != SM_STORE_OK)
    {
        return NGX_ERROR;
    }

    ex->turns->retry = ngx_current_msec;

    while (ex->nended && ex->manager->sh->held) {

        if ((ngx_msec_int_t) (deadline - ngx_http_submission_msec()) <= 0
            || ngx_http_submission_turn_create(ex, &turn) != NGX_OK
            || ngx_http_submission_task_run(&turn->task) != SM_STORE_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
