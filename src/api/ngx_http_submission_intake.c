
/*
 * What HTTP asks of the store, in batches: whatever arrived until the store is
 * ready for a batch goes into it.  Each operation has one task at a time in
 * each worker, and a bounded lane before it.
 *
 * A node is a row of a request with all that it points to, in one piece of
 * memory of its own.  A request has one, or many (bulk.c).  While it waits, the
 * lane's mutex guards it; a thread takes it from there into its batch, and may
 * then read and write the row.  Other than that, what a node and its request
 * know of each other is for the event loop alone.
 *
 * Requests take turns: a batch takes a row of each request that waits, then the
 * next row of each, so that one row does not wait for the thousand of another
 * request.  The rows of a request stay in their order.
 *
 * Calls of the API are bounded in each worker, so that a store that does not
 * answer leaves threads and connections to the executor: three at a time, and
 * one while a server's calls fail.  Calls that fail may be made again, see
 * retry.c.
 */

#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_submit.h"
#include "ngx_http_submission_wait.h"
#include "ngx_http_submission_signal.h"


/* of strings in all that waits */

#define NGX_HTTP_SUBMISSION_INTAKE_BYTES  (64 * 1024 * 1024)

/* an eighth of the lane is for requests of one row: bulks leave it free */

#define NGX_HTTP_SUBMISSION_INTAKE_SINGLES  8

#define NGX_HTTP_SUBMISSION_INTAKE_CALLS  3


static ngx_http_submission_node_t *ngx_http_submission_intake_node(
    ngx_http_submission_ctx_t *ctx, void *row);
static void ngx_http_submission_intake_start(ngx_event_t *ev);
static void ngx_http_submission_intake_again(ngx_event_t *ev);
static void ngx_http_submission_intake_done(ngx_http_submission_task_t *task);
static void ngx_http_submission_intake_refuse(
    ngx_http_submission_manager_t *manager);
static void ngx_http_submission_intake_cleanup(void *data);


static void
ngx_http_submission_intake_forget(void *data)
{
    ngx_http_submission_intake_t *intake = data;

    ngx_uint_t  i;

    for (i = 0; i < NGX_HTTP_SUBMISSION_KEPT; i++) {
        if (intake->kept[i].body.data) {
            ngx_free(intake->kept[i].body.data);
        }
    }
}


ngx_int_t
ngx_http_submission_intake_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_uint_t                    i;
    ngx_pool_cleanup_t           *cln;
    ngx_http_submission_lane_t   *lane;

    manager->intake = ngx_pcalloc(cycle->pool,
                                  sizeof(ngx_http_submission_intake_t));
    if (manager->intake == NULL) {
        return NGX_ERROR;
    }

    cln = ngx_pool_cleanup_add(cycle->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_intake_forget;
    cln->data = manager->intake;

    for (i = 0; i < NGX_HTTP_SUBMISSION_OP_N; i++) {
        lane = &manager->intake->lanes[i];

        lane->manager = manager;
        lane->op = i;
        lane->start.handler = ngx_http_submission_intake_start;
        lane->start.data = lane;
        lane->start.log = cycle->log;
        lane->again.handler = ngx_http_submission_intake_again;
        lane->again.data = lane;
        lane->again.log = cycle->log;

        ngx_queue_init(&lane->waiting);

        if (pthread_mutex_init(&lane->mutex, NULL) != 0) {
            return NGX_ERROR;
        }
    }

    manager->broken = ngx_http_submission_intake_refuse;

    return NGX_OK;
}


/* both are called with the lane's mutex */

void
ngx_http_submission_intake_put(ngx_http_submission_lane_t *lane,
    ngx_http_submission_node_t *node, ngx_uint_t first)
{
    ngx_http_submission_ctx_t  *ctx;

    ctx = node->ctx;

    if (first) {
        if (ngx_queue_empty(&ctx->waiting)) {
            ngx_queue_insert_head(&lane->waiting, &ctx->turn);
        }

        ngx_queue_insert_head(&ctx->waiting, &node->queue);

    } else {
        if (ngx_queue_empty(&ctx->waiting)) {
            ngx_queue_insert_tail(&lane->waiting, &ctx->turn);
        }

        ngx_queue_insert_tail(&ctx->waiting, &node->queue);
    }

    node->state = NGX_HTTP_SUBMISSION_NODE_WAITING;

    lane->nwaiting++;
    lane->bytes += node->strings;
}


void
ngx_http_submission_intake_get(ngx_http_submission_lane_t *lane,
    ngx_http_submission_batch_t *batch, ngx_http_submission_node_t *node)
{
    ngx_queue_remove(&node->queue);

    if (ngx_queue_empty(&node->ctx->waiting)) {
        ngx_queue_remove(&node->ctx->turn);
    }

    lane->nwaiting--;
    lane->bytes -= node->strings;

    if (batch) {
        ngx_queue_insert_tail(&batch->nodes, &node->queue);
        node->state = NGX_HTTP_SUBMISSION_NODE_TAKEN;
        batch->n++;
    }
}


/*
 * Nodes of a request that is refused, or that ends before it is answered, go
 * with it; those that a batch has taken are freed with that.
 */

ngx_int_t
ngx_http_submission_intake_add(ngx_http_submission_ctx_t *ctx, void *row,
    ngx_uint_t line)
{
    ngx_http_cleanup_t          *cln;
    ngx_http_submission_node_t  *node;

    if (ctx->lane == NULL) {
        cln = ngx_http_cleanup_add(ctx->request, 0);
        if (cln == NULL) {
            return NGX_ERROR;
        }

        cln->handler = ngx_http_submission_intake_cleanup;
        cln->data = ctx;

        ctx->lane = &ctx->manager->intake->lanes[ctx->route->op];
    }

    node = ngx_http_submission_intake_node(ctx, row);
    if (node == NULL) {
        return NGX_ERROR;
    }

    node->line = line;
    ngx_queue_insert_tail(&ctx->nodes, &node->siblings);

    return NGX_OK;
}


ngx_uint_t
ngx_http_submission_intake_bulks(ngx_http_submission_manager_t *manager)
{
    return manager->conf->intake_queue
           - manager->conf->intake_queue / NGX_HTTP_SUBMISSION_INTAKE_SINGLES;
}


/* called with the lane's mutex; a piece that is too large may go alone */

static ngx_int_t
ngx_http_submission_intake_all(ngx_http_submission_ctx_t *ctx)
{
    size_t                        bytes, max_bytes;
    ngx_uint_t                    n, max;
    ngx_queue_t                  *q;
    ngx_http_submission_node_t   *node;
    ngx_http_submission_lane_t   *lane;

    lane = ctx->lane;
    max = ctx->manager->conf->intake_queue;
    max_bytes = NGX_HTTP_SUBMISSION_INTAKE_BYTES;

    if (ctx->bulk) {
        max = ngx_http_submission_intake_bulks(ctx->manager);
        max_bytes -= max_bytes / NGX_HTTP_SUBMISSION_INTAKE_SINGLES;
    }

    for (q = ngx_queue_head(&ctx->nodes), bytes = 0, n = 0;
         q != ngx_queue_sentinel(&ctx->nodes);
         q = ngx_queue_next(q), n++)
    {
        node = ngx_queue_data(q, ngx_http_submission_node_t, siblings);
        bytes += node->strings;
    }

    if (lane->nwaiting + n > max
        || lane->bytes >= max_bytes
        || (n > 1 && lane->bytes && lane->bytes + bytes > max_bytes))
    {
        return NGX_BUSY;
    }

    for (q = ngx_queue_head(&ctx->nodes);
         q != ngx_queue_sentinel(&ctx->nodes);
         q = ngx_queue_next(q))
    {
        node = ngx_queue_data(q, ngx_http_submission_node_t, siblings);
        ngx_http_submission_intake_put(lane, node, 0);
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_submission_intake(ngx_http_submission_ctx_t *ctx)
{
    ngx_int_t                    rc;
    ngx_http_request_t          *r;
    ngx_http_submission_lane_t  *lane;

    r = ctx->request;
    lane = ctx->lane;

    if (ngx_http_submission_breaker_open(ctx->manager)) {
        ngx_http_submission_intake_cleanup(ctx);
        ngx_http_submission_count(ctx->manager,
                                  NGX_HTTP_SUBMISSION_CNT_REFUSALS, 1);

        return ngx_http_submission_reply_unavailable(r, 0);
    }

    (void) pthread_mutex_lock(&lane->mutex);

    rc = ngx_http_submission_intake_all(ctx);

    (void) pthread_mutex_unlock(&lane->mutex);

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: intake op:%s busy:%d rc:%i",
                   ctx->op->name, lane->busy, rc);

    if (rc != NGX_OK) {
        ngx_http_submission_intake_cleanup(ctx);
        return ngx_http_submission_reply_unavailable(r, 1);
    }

    r->connection->log->action = "waiting for the store";
    r->read_event_handler = ngx_http_test_reading;

    /* not at once, so that requests of this turn of the event loop go along */

    if (!lane->busy && !lane->again.timer_set) {
        ngx_post_event(&lane->start, &ngx_posted_events);
    }

    return NGX_DONE;
}


/* a copy of the row, with its strings behind it */

static ngx_http_submission_node_t *
ngx_http_submission_intake_node(ngx_http_submission_ctx_t *ctx, void *row)
{
    char                            *p;
    size_t                           size;
    sm_str_t                        *s;
    ngx_uint_t                       i;
    ngx_http_submission_node_t      *node;
    const ngx_http_submission_op_t  *op;

    op = ctx->op;

    for (size = 0, i = 0; i < op->nstrings; i++) {
        s = (sm_str_t *) ((char *) row + op->strings[i]);
        size += s->len;
    }

    node = ngx_alloc(sizeof(ngx_http_submission_node_t) + op->row_size + size,
                     ctx->request->connection->log);
    if (node == NULL) {
        return NULL;
    }

    node->ctx = ctx;
    node->state = NGX_HTTP_SUBMISSION_NODE_NEW;
    node->tries = 0;
    node->entered = ngx_current_msec;
    node->strings = size;

    p = (char *) ngx_cpymem(node->row, row, op->row_size);

    for (i = 0; i < op->nstrings; i++) {
        s = (sm_str_t *) ((char *) node->row + op->strings[i]);

        if (s->data) {
            ngx_memcpy(p, s->data, s->len);
            s->data = p;
            p += s->len;
        }
    }

    return node;
}


/* the request ends, answered or not */

static void
ngx_http_submission_intake_cleanup(void *data)
{
    ngx_http_submission_ctx_t *ctx = data;

    ngx_queue_t                  *q;
    ngx_http_submission_node_t   *node;
    ngx_http_submission_lane_t   *lane;

    if (ngx_queue_empty(&ctx->nodes)) {
        return;
    }

    lane = ctx->lane;

    (void) pthread_mutex_lock(&lane->mutex);

    while (!ngx_queue_empty(&ctx->nodes)) {
        q = ngx_queue_head(&ctx->nodes);
        node = ngx_queue_data(q, ngx_http_submission_node_t, siblings);

        ngx_queue_remove(q);

        switch (node->state) {

        case NGX_HTTP_SUBMISSION_NODE_TAKEN:
            node->ctx = NULL;
            break;

        case NGX_HTTP_SUBMISSION_NODE_WAITING:
            ngx_http_submission_intake_get(lane, NULL, node);

            /* fall through */

        default: /* NGX_HTTP_SUBMISSION_NODE_NEW */
            ngx_free(node);
        }
    }

    (void) pthread_mutex_unlock(&lane->mutex);
}


static void
ngx_http_submission_intake_answer(ngx_http_submission_batch_t *batch,
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

        /* others were answered while this one was in the thread */

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
 * Without a call the store was not asked.  An answer may end other requests of
 * the same connection, so each node is looked up again.
 */

static void
ngx_http_submission_intake_answer_all(ngx_http_submission_batch_t *batch,
    sm_call_t *call)
{
    ngx_queue_t                 *q;
    ngx_http_submission_node_t  *node;

    while (!ngx_queue_empty(&batch->nodes)) {

        q = ngx_queue_head(&batch->nodes);
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);
        ngx_queue_remove(q);

        if (node->ctx) {
            ngx_http_submission_intake_answer(batch, call, node);
        }

        /* not earlier, because the strings of the row belong to the node */

        ngx_free(node);
    }
}


static void
ngx_http_submission_intake_start(ngx_event_t *ev)
{
    ngx_http_submission_batch_t  *batch, refused;
    ngx_http_submission_lane_t   *lane;

    lane = ev->data;

    if (lane->busy || lane->again.timer_set
        || !ngx_http_submission_intake_room(lane->manager))
    {
        return;
    }

    batch = ngx_http_submission_task_create(lane->manager, lane->op,
                                          sizeof(ngx_http_submission_batch_t));
    if (batch) {
        batch->lane = lane;
        batch->task.done = ngx_http_submission_intake_done;

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

    /*
     * there is no memory, or no room in the thread pool: the requests are
     * answered now
     */

    ngx_memzero(&refused, sizeof(ngx_http_submission_batch_t));

    refused.lane = lane;
    ngx_queue_init(&refused.nodes);

    ngx_http_submission_batch_take(&refused, NGX_HTTP_SUBMISSION_BATCH_ALL);
    ngx_http_submission_intake_answer_all(&refused, NULL);
}


static ngx_uint_t
ngx_http_submission_intake_waiting(ngx_http_submission_lane_t *lane)
{
    ngx_uint_t  waiting;

    (void) pthread_mutex_lock(&lane->mutex);

    waiting = lane->nwaiting;

    (void) pthread_mutex_unlock(&lane->mutex);

    return waiting;
}


static void
ngx_http_submission_intake_again(ngx_event_t *ev)
{
    ngx_http_submission_lane_t   *lane;

    lane = ev->data;

    if (ngx_http_submission_breaker_open(lane->manager)) {

        /* another worker opened it */

        ngx_http_submission_intake_refuse(lane->manager);
        return;
    }

    if (ngx_http_submission_intake_waiting(lane)) {
        ngx_http_submission_intake_start(&lane->start);
    }
}


ngx_uint_t
ngx_http_submission_intake_room(ngx_http_submission_manager_t *manager)
{
    return manager->intake->ncalls
           < (manager->conf->retry && manager->sh->failing
              ? 1 : NGX_HTTP_SUBMISSION_INTAKE_CALLS);
}


/* the operations take turns, where there is no room for all */

void
ngx_http_submission_intake_next(ngx_http_submission_manager_t *manager,
    ngx_uint_t op)
{
    ngx_uint_t                    i;
    ngx_http_submission_lane_t   *lane;

    for (i = 1; i <= NGX_HTTP_SUBMISSION_OP_N; i++) {
        lane = &manager->intake->lanes[(op + i) % NGX_HTTP_SUBMISSION_OP_N];

        if (ngx_http_submission_ops[lane->op].row_size == 0 || lane->busy) {
            continue;                              /* not of the API, or out */
        }

        if (ngx_http_submission_intake_waiting(lane)) {
            ngx_http_submission_intake_start(&lane->start);
        }
    }
}


/* the breaker is open: all that wait are answered */

static void
ngx_http_submission_intake_refuse(ngx_http_submission_manager_t *manager)
{
    ngx_uint_t                    i;
    ngx_http_submission_batch_t   refused;
    ngx_http_submission_lane_t   *lane;

    for (i = 0; i < NGX_HTTP_SUBMISSION_OP_N; i++) {
        lane = &manager->intake->lanes[i];

        ngx_memzero(&refused, sizeof(ngx_http_submission_batch_t));

        refused.lane = lane;
        refused.task.call.status = SM_STORE_TRANSIENT;
        ngx_queue_init(&refused.nodes);

        ngx_http_submission_batch_take(&refused,
                                       NGX_HTTP_SUBMISSION_BATCH_ALL);

        ngx_http_submission_count(manager, NGX_HTTP_SUBMISSION_CNT_REFUSALS,
                                  refused.n);

        ngx_http_submission_intake_answer_all(&refused, &refused.task.call);
    }
}


/* what the call has left for another one waits again, before all others */

static void
ngx_http_submission_intake_left(ngx_http_submission_batch_t *batch)
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


/*
 * the next task starts before this one is answered, so that the store is never
 * idle
 */

static void
ngx_http_submission_intake_done(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;
    ngx_http_submission_lane_t   *lane;

    lane = batch->lane;
    lane->busy = 0;
    lane->manager->intake->ncalls--;

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: batch done op:%s rows:%ui status:%d error:%s",
                   ngx_http_submission_ops[lane->op].name, batch->n,
                   (int) task->call.status, task->call.error);

    if (task->call.status == SM_STORE_OK) {
        lane->failures = 0;
        ngx_http_submission_intake_left(batch);

    } else {
        ngx_http_submission_retry(batch);
    }

    ngx_http_submission_wait_next(lane->manager);
    ngx_http_submission_intake_next(lane->manager, lane->op);

    if (ngx_http_submission_ops[task->op].wakes
        && task->call.status == SM_STORE_OK)
    {
        ngx_http_submission_wake(lane->manager);
    }

    if (ngx_http_submission_ops[task->op].notices
        && task->call.status == SM_STORE_OK)
    {
        ngx_http_submission_notice_all(lane->manager);
    }

    ngx_http_submission_intake_answer_all(batch, &task->call);
}
