
/*
 * Takes in what HTTP asks of the store: the rows of requests wait in the lane
 * of their operation, which is bounded, until a call takes them (lane.c).
 *
 * A node is a row of a request with all that it points to, in one piece of
 * memory of its own.  A request has one node, or many (bulk.c).  While a node
 * waits, the lane's mutex guards it; a thread takes it from there into its
 * batch, and may then read and write the row.  What a node and its request know
 * of each other is otherwise for the event loop alone.
 *
 * Requests take turns: a batch takes a row of each request that waits, then the
 * next row of each, so that one row does not wait for the thousand of another
 * request.  The rows of a request stay in their order.
 */

#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_reply.h"


/* The strings of all rows that wait in a lane may have so many bytes. */

#define NGX_HTTP_SUBMISSION_INTAKE_BYTES  (64 * 1024 * 1024)

/* Bulk submissions leave an eighth of a lane to requests of one row. */

#define NGX_HTTP_SUBMISSION_INTAKE_SINGLES  8


static ngx_http_submission_node_t *ngx_http_submission_intake_node(
    ngx_http_submission_ctx_t *ctx, void *row);
static void ngx_http_submission_intake_cleanup(void *data);


/* The kept answers of failures.c are not in the cycle's pool. */

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
    ngx_uint_t           i;
    ngx_pool_cleanup_t  *cln;

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
        if (ngx_http_submission_lane_init(cycle, manager, i) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    manager->broken = ngx_http_submission_lane_refuse;

    return NGX_OK;
}


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
 * Nodes of a request that is refused, or that ends before it is answered, are
 * freed with it; those that a batch has taken are freed with the batch.
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


/*
 * Puts all rows of a request into the lane, or none of them, and returns
 * NGX_BUSY.  One row may have more bytes than are left.  "waiting" is how many
 * were there before.  The caller holds the lane's mutex.
 */

static ngx_int_t
ngx_http_submission_intake_all(ngx_http_submission_ctx_t *ctx,
    ngx_uint_t *waiting)
{
    size_t                        bytes, max_bytes;
    ngx_uint_t                    n, max;
    ngx_queue_t                  *q;
    ngx_http_submission_node_t   *node;
    ngx_http_submission_lane_t   *lane;

    lane = ctx->lane;
    *waiting = lane->nwaiting;

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
    ngx_uint_t                   n;
    ngx_http_request_t          *r;
    ngx_http_submission_lane_t  *lane;

    r = ctx->request;
    lane = ctx->lane;

    if (ngx_http_submission_breaker_open(ctx->manager)) {
        ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                       "submission: intake op:%s refused, the breaker is open",
                       ctx->op->name);

        ngx_http_submission_intake_cleanup(ctx);
        ngx_http_submission_count(ctx->manager,
                                  NGX_HTTP_SUBMISSION_CNT_REFUSALS, 1);

        return ngx_http_submission_reply_unavailable(r, 0);
    }

    (void) pthread_mutex_lock(&lane->mutex);

    rc = ngx_http_submission_intake_all(ctx, &n);

    (void) pthread_mutex_unlock(&lane->mutex);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: intake op:%s waiting:%ui busy:%d rc:%i",
                   ctx->op->name, n, lane->busy, rc);

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


/* Makes a copy of the row, with its strings behind it. */

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

    size = 0;

    for (i = 0; (s = ngx_http_submission_op_string(op, row, i)) != NULL; i++) {
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

    for (i = 0;
         (s = ngx_http_submission_op_string(op, node->row, i)) != NULL;
         i++)
    {
        if (s->data) {
            ngx_memcpy(p, s->data, s->len);
            s->data = p;
            p += s->len;
        }
    }

    return node;
}


/* The request ends, answered or not. */

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
