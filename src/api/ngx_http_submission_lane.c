
/*
 * Calls to the store, in batches: whatever arrived until the store is ready for
 * a batch goes into it.  Each operation has one call at a time in each worker.
 *
 * Calls of the API are bounded in each worker, so that a store that does not
 * answer leaves threads and connections to the executor: three at a time, and
 * one while a server's calls fail.  Calls that fail may be made again, see
 * retry.c.
 */

#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_signal.h"
#include "ngx_http_submission_submit.h"
#include "ngx_http_submission_wait.h"
#include "ngx_http_submission_zone_health.h"


#define NGX_HTTP_SUBMISSION_LANE_CALLS  3


static void ngx_http_submission_lane_start(ngx_event_t *ev);
static void ngx_http_submission_lane_again(ngx_event_t *ev);
static void ngx_http_submission_lane_done(ngx_http_submission_task_t *task);


ngx_int_t
ngx_http_submission_lane_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager, ngx_http_submission_op_e op)
{
    ngx_http_submission_lane_t  *lane;

    lane = &manager->intake->lanes[op];

    lane->manager = manager;
    lane->op = op;
    lane->start.handler = ngx_http_submission_lane_start;
    lane->start.data = lane;
    lane->start.log = cycle->log;
    lane->again.handler = ngx_http_submission_lane_again;
    lane->again.data = lane;
    lane->again.log = cycle->log;

    ngx_queue_init(&lane->waiting);

    return pthread_mutex_init(&lane->mutex, NULL) == 0 ? NGX_OK : NGX_ERROR;
}


static void
ngx_http_submission_lane_answer(ngx_http_submission_batch_t *batch,
    sm_call_t *call, ngx_http_submission_node_t *node)
{
    void                       *row;
    ngx_int_t                   rc;
    ngx_http_request_t         *r;
    ngx_http_submission_ctx_t  *ctx;

    ctx = node->ctx;
    r = ctx->request;

    ngx_queue_remove(&node->siblings);

    row = call && call->status == SM_STORE_OK
          ? ngx_http_submission_batch_row(batch, node->nth) : NULL;

    ngx_http_set_log_request(r->connection->log, r);

    if (ctx->bulk) {
        rc = ngx_http_submission_bulk_outcome(ctx, node->line, row,
                                              call == NULL);
        if (rc == NGX_DONE) {
            return;
        }

    } else if (row) {

        if (ctx->wait
            && ngx_http_submission_wait(ctx, row, batch->notices) == NGX_DONE)
        {
            return;
        }

        /* other answers may have filled the memory meanwhile */

        rc = ctx->op->writes ? NGX_DECLINED
                             : ngx_http_submission_reply_unread(r);

        if (rc == NGX_DECLINED) {
            rc = ctx->op->reply(r, row);
        }

    } else {
        rc = ngx_http_submission_reply_unavailable(r, call == NULL);
    }

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: answer op:%s tries:%ui status:%ui rc:%i",
                   ctx->op->name, node->tries, r->headers_out.status, rc);

    ngx_http_submission_finalize(r, rc);
}


/*
 * Answers all that a batch has left.  Without a call the store was not asked.
 * An answer may end other requests of the same connection, so each node is
 * looked up in the list when its turn comes.
 */

static void
ngx_http_submission_lane_answer_all(ngx_http_submission_batch_t *batch,
    sm_call_t *call)
{
    ngx_queue_t                 *q;
    ngx_http_submission_node_t  *node;

    while (!ngx_queue_empty(&batch->nodes)) {

        q = ngx_queue_head(&batch->nodes);
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);
        ngx_queue_remove(q);

        if (node->ctx) {
            ngx_http_submission_lane_answer(batch, call, node);
        }

        /* the strings of the row belong to the node until here */

        ngx_free(node);
    }
}


/*
 * Answers all that wait in a lane: that too many do, or that the store has not
 * completed the request.
 */

static void
ngx_http_submission_lane_turn_away(ngx_http_submission_lane_t *lane,
    ngx_uint_t overloaded)
{
    ngx_http_submission_batch_t  refused;

    ngx_memzero(&refused, sizeof(ngx_http_submission_batch_t));

    refused.lane = lane;
    refused.task.call.status = SM_STORE_TRANSIENT;
    ngx_queue_init(&refused.nodes);

    ngx_http_submission_batch_take(&refused, NGX_HTTP_SUBMISSION_BATCH_ALL);

    if (refused.n == 0) {
        return;
    }

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: lane turns away op:%s rows:%ui overloaded:%ui",
                   ngx_http_submission_ops[lane->op].name, refused.n,
                   overloaded);

    if (!overloaded) {
        ngx_http_submission_count(lane->manager,
                                  NGX_HTTP_SUBMISSION_CNT_REFUSALS, refused.n);
    }

    ngx_http_submission_lane_answer_all(&refused, overloaded
                                                  ? NULL : &refused.task.call);
}


static void
ngx_http_submission_lane_start(ngx_event_t *ev)
{
    ngx_http_submission_batch_t  *batch;
    ngx_http_submission_lane_t   *lane;

    lane = ev->data;

    if (lane->busy || lane->again.timer_set
        || !ngx_http_submission_lane_room(lane->manager))
    {
        return;
    }

    batch = ngx_http_submission_task_create(lane->manager, lane->op,
                                          sizeof(ngx_http_submission_batch_t));
    if (batch) {
        batch->lane = lane;
        batch->task.done = ngx_http_submission_lane_done;

        ngx_queue_init(&batch->nodes);

        if (ngx_http_submission_task_post(&batch->task) == NGX_OK) {
            ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ev->log, 0,
                           "submission: lane starts op:%s calls:%ui",
                           ngx_http_submission_ops[lane->op].name,
                           lane->manager->intake->ncalls + 1);

            lane->busy = 1;
            lane->manager->intake->ncalls++;
            return;
        }

        ngx_http_submission_task_free(&batch->task);
    }

    /* there is no memory, or no room in the thread pool */

    ngx_http_submission_lane_turn_away(lane, 1);
}


static ngx_uint_t
ngx_http_submission_lane_waiting(ngx_http_submission_lane_t *lane)
{
    ngx_uint_t  waiting;

    (void) pthread_mutex_lock(&lane->mutex);

    waiting = lane->nwaiting;

    (void) pthread_mutex_unlock(&lane->mutex);

    return waiting;
}


static void
ngx_http_submission_lane_again(ngx_event_t *ev)
{
    ngx_http_submission_lane_t   *lane;

    lane = ev->data;

    if (ngx_http_submission_breaker_open(lane->manager)) {

        /* another worker opened it */

        ngx_http_submission_lane_refuse(lane->manager);
        return;
    }

    if (ngx_http_submission_lane_waiting(lane)) {
        ngx_http_submission_lane_start(&lane->start);
    }
}


ngx_uint_t
ngx_http_submission_lane_room(ngx_http_submission_manager_t *manager)
{
    return manager->intake->ncalls
           < (manager->conf->retry && manager->sh->health->failing
              ? 1 : NGX_HTTP_SUBMISSION_LANE_CALLS);
}


void
ngx_http_submission_lane_next(ngx_http_submission_manager_t *manager,
    ngx_uint_t op)
{
    ngx_uint_t                    i;
    ngx_http_submission_lane_t   *lane;

    for (i = 1; i <= NGX_HTTP_SUBMISSION_OP_N; i++) {
        lane = &manager->intake->lanes[(op + i) % NGX_HTTP_SUBMISSION_OP_N];

        if (ngx_http_submission_ops[lane->op].row_size == 0 || lane->busy) {
            continue;                              /* not the API's, or busy */
        }

        if (ngx_http_submission_lane_waiting(lane)) {
            ngx_http_submission_lane_start(&lane->start);
        }
    }
}


void
ngx_http_submission_lane_refuse(ngx_http_submission_manager_t *manager)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_HTTP_SUBMISSION_OP_N; i++) {
        ngx_http_submission_lane_turn_away(&manager->intake->lanes[i], 0);
    }
}


/* What the call has left for another call waits again, before all others. */

static void
ngx_http_submission_lane_left(ngx_http_submission_batch_t *batch)
{
    ngx_queue_t                     *q, *prev;
    ngx_http_submission_node_t      *node;
    const ngx_http_submission_op_t  *op;

    op = &ngx_http_submission_ops[batch->lane->op];

    if (op->left == NULL || batch->rows == NULL) {
        return;
    }

    (void) pthread_mutex_lock(&batch->lane->mutex);

    for (q = ngx_queue_last(&batch->nodes);
         q != ngx_queue_sentinel(&batch->nodes);
         q = prev)
    {
        prev = ngx_queue_prev(q);
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);

        if (node->ctx
            && op->left(ngx_http_submission_batch_row(batch, node->nth)))
        {
            ngx_queue_remove(q);
            ngx_http_submission_intake_put(batch->lane, node, 1);
            batch->n--;
        }
    }

    (void) pthread_mutex_unlock(&batch->lane->mutex);
}


static void
ngx_http_submission_lane_note(ngx_http_submission_batch_t *batch)
{
    ngx_queue_t                     *q;
    ngx_http_submission_node_t      *node;
    const ngx_http_submission_op_t  *op;

    op = &ngx_http_submission_ops[batch->lane->op];

    if (op->note == NULL || batch->rows == NULL) {
        return;
    }

    for (q = ngx_queue_head(&batch->nodes);
         q != ngx_queue_sentinel(&batch->nodes);
         q = ngx_queue_next(q))
    {
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);

        op->note(batch->lane->manager,
                 ngx_http_submission_batch_row(batch, node->nth));
    }
}


/*
 * The next call starts before this one is answered, so that the store is never
 * idle.
 */

static void
ngx_http_submission_lane_done(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t *batch = (ngx_http_submission_batch_t *) task;

    ngx_http_submission_lane_t      *lane;
    const ngx_http_submission_op_t  *op;

    op = &ngx_http_submission_ops[task->op];

    lane = batch->lane;
    lane->busy = 0;
    lane->manager->intake->ncalls--;

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: batch done op:%s rows:%ui status:%d error:%s",
                   op->name, batch->n, (int) task->call.status,
                   task->call.error);

    if (task->call.status == SM_STORE_OK) {
        lane->failures = 0;
        ngx_http_submission_lane_left(batch);
        ngx_http_submission_lane_note(batch);

    } else {
        ngx_http_submission_retry(batch);
    }

    ngx_http_submission_wait_next(lane->manager);
    ngx_http_submission_lane_next(lane->manager, lane->op);

    if (op->wakes && task->call.status == SM_STORE_OK) {
        ngx_http_submission_wake(lane->manager);
    }

    if (op->notices && task->call.status == SM_STORE_OK) {
        ngx_http_submission_notice_all(lane->manager);
    }

    ngx_http_submission_lane_answer_all(batch, &task->call);
}
