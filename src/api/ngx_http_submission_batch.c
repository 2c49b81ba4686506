
/*
 * The half of the intake that runs in threads: takes what waits for the store
 * into a batch, and asks the store for it.
 */

#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_zone_signal.h"


/* A batch of more than one row has at most this weight. */

#define NGX_HTTP_SUBMISSION_BATCH_BYTES  (4 * 1024 * 1024)


/* Returns the bytes that a row may take, with its answer, in a batch. */

static size_t
ngx_http_submission_batch_weight(ngx_http_submission_lane_t *lane,
    ngx_http_submission_node_t *node)
{
    size_t                           weight;
    const ngx_http_submission_op_t  *op;

    op = &ngx_http_submission_ops[lane->op];

    weight = node->strings + op->weight;

    if (op->weight_each) {
        weight += op->weight_each
                  * *(size_t *) ((char *) node->row + op->limit);
    }

    return weight;
}


void
ngx_http_submission_batch_take(ngx_http_submission_batch_t *batch,
    ngx_uint_t max)
{
    size_t                        bytes, weight;
    ngx_queue_t                  *q;
    ngx_http_submission_ctx_t    *ctx;
    ngx_http_submission_node_t   *node;
    ngx_http_submission_lane_t   *lane;

    lane = batch->lane;
    bytes = 0;

    (void) pthread_mutex_lock(&lane->mutex);

    while (batch->n < max && !ngx_queue_empty(&lane->waiting)) {

        q = ngx_queue_head(&lane->waiting);
        ctx = ngx_queue_data(q, ngx_http_submission_ctx_t, turn);

        q = ngx_queue_head(&ctx->waiting);
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);

        weight = ngx_http_submission_batch_weight(lane, node);

        if (max != NGX_HTTP_SUBMISSION_BATCH_ALL && batch->n
            && bytes + weight > NGX_HTTP_SUBMISSION_BATCH_BYTES)
        {
            break;
        }

        ngx_http_submission_intake_get(lane, batch, node);
        bytes += weight;

        if (!ngx_queue_empty(&ctx->waiting)) {
            ngx_queue_remove(&ctx->turn);
            ngx_queue_insert_tail(&lane->waiting, &ctx->turn);
        }
    }

    (void) pthread_mutex_unlock(&lane->mutex);
}


void *
ngx_http_submission_batch_row(ngx_http_submission_batch_t *batch, ngx_uint_t i)
{
    return (char *) batch->rows
           + i * ngx_http_submission_ops[batch->lane->op].row_size;
}


int
ngx_http_submission_batch_rows_thread(ngx_http_submission_batch_t *batch)
{
    size_t                       size;
    ngx_uint_t                   i;
    ngx_queue_t                 *q;
    ngx_http_submission_node_t  *node;

    ngx_http_submission_batch_take(batch,
                                   batch->task.manager->conf->intake_batch);

    size = ngx_http_submission_ops[batch->lane->op].row_size;

    batch->task.rows = batch->n;
    batch->rows = sm_arena_calloc(&batch->task.call.arena, batch->n, size);

    if (batch->rows == NULL) {
        return sm_call_no_memory(&batch->task.call);
    }

    for (q = ngx_queue_head(&batch->nodes), i = 0;
         q != ngx_queue_sentinel(&batch->nodes);
         q = ngx_queue_next(q), i++)
    {
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);
        node->nth = i;
        ngx_memcpy(ngx_http_submission_batch_row(batch, i), node->row, size);
    }

    return 0;
}


void
ngx_http_submission_batch_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t *batch = (ngx_http_submission_batch_t *) task;

    ngx_uint_t                       i, n;
    const ngx_http_submission_op_t  *op;

    op = &ngx_http_submission_ops[task->op];

    batch->notices = task->manager->sh->notices->n;

    if (ngx_http_submission_batch_rows_thread(batch) != 0 || batch->n == 0) {
        return;
    }

    n = op->once ? 1 : batch->n;

    if (op->call(&task->manager->store, &task->call, batch->rows, n) != 0) {
        return;
    }

    for (i = n; i < batch->n; i++) {
        ngx_memcpy(ngx_http_submission_batch_row(batch, i), batch->rows,
                   op->row_size);
    }
}
