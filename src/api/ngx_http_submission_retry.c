
/*
 * Calls of the intake that have failed.
 *
 * If a call to a database server fails and may succeed when it is repeated,
 * its nodes go back to the head of the lane, which starts again after a
 * delay.  A request is retried until it is older than "retry" of the store;
 * then it is answered.  A call that is out is always waited for, because it has
 * time-outs of its own.
 */

#include "ngx_http_submission_intake.h"


/*
 * Puts nodes of a batch that have time left back into the lane, and returns how
 * many; the others stay in the batch.
 */

static ngx_uint_t
ngx_http_submission_retry_return(ngx_http_submission_batch_t *batch,
    ngx_msec_t delay)
{
    ngx_uint_t                       i, n;
    ngx_msec_t                       time;
    ngx_queue_t                     *q, *prev;
    ngx_http_submission_node_t      *node;
    ngx_http_submission_lane_t      *lane;
    const ngx_http_submission_op_t  *op;

    n = 0;
    i = batch->n;
    lane = batch->lane;
    op = &ngx_http_submission_ops[lane->op];

    (void) pthread_mutex_lock(&lane->mutex);

    for (q = ngx_queue_last(&batch->nodes);
         q != ngx_queue_sentinel(&batch->nodes);
         q = prev)
    {
        i--;
        prev = ngx_queue_prev(q);
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);

        time = ngx_current_msec + delay - node->entered;

        if (node->ctx == NULL || time > lane->manager->conf->retry) {
            continue;
        }

        if (op->again && batch->rows) {
            op->again(node->row, ngx_http_submission_batch_row(batch, i));
        }

        ngx_queue_remove(q);
        ngx_http_submission_intake_put(lane, node, 1);

        node->tries++;
        batch->n--;
        n++;
    }

    (void) pthread_mutex_unlock(&lane->mutex);

    return n;
}


static void
ngx_http_submission_retry_expire_one(ngx_http_submission_batch_t *batch,
    ngx_http_submission_ctx_t *ctx, ngx_msec_t delay)
{
    ngx_msec_t                   time;
    ngx_queue_t                 *q, *next;
    ngx_http_submission_node_t  *node;

    for (q = ngx_queue_head(&ctx->waiting);
         q != ngx_queue_sentinel(&ctx->waiting);
         q = next)
    {
        next = ngx_queue_next(q);
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);

        time = ngx_current_msec + delay - node->entered;

        if (time > ctx->manager->conf->retry) {
            ngx_http_submission_intake_get(batch->lane, batch, node);
        }
    }
}


/* Takes those that wait and have no time left into the batch. */

static void
ngx_http_submission_retry_expire(ngx_http_submission_batch_t *batch,
    ngx_msec_t delay)
{
    ngx_queue_t                  *q, *next;
    ngx_http_submission_ctx_t    *ctx;
    ngx_http_submission_lane_t   *lane;

    lane = batch->lane;

    (void) pthread_mutex_lock(&lane->mutex);

    for (q = ngx_queue_head(&lane->waiting);
         q != ngx_queue_sentinel(&lane->waiting);
         q = next)
    {
        next = ngx_queue_next(q);
        ctx = ngx_queue_data(q, ngx_http_submission_ctx_t, turn);

        ngx_http_submission_retry_expire_one(batch, ctx, delay);
    }

    (void) pthread_mutex_unlock(&lane->mutex);
}


void
ngx_http_submission_retry(ngx_http_submission_batch_t *batch)
{
    ngx_uint_t                      n;
    ngx_msec_t                      delay;
    ngx_http_submission_lane_t     *lane;
    ngx_http_submission_manager_t  *manager;

    lane = batch->lane;
    manager = lane->manager;

    lane->failures++;

    if (batch->task.call.status == SM_STORE_TRANSIENT && manager->conf->retry
        && !ngx_http_submission_breaker_open(manager))
    {
        delay = ngx_http_submission_breaker_delay(lane->failures);

        n = ngx_http_submission_retry_return(batch, delay);

        ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission: retry op:%s failures:%ui returned:%ui "
                       "delay:%M", ngx_http_submission_ops[lane->op].name,
                       lane->failures, n, delay);

        if (n) {
            ngx_http_submission_count(manager,
                                      NGX_HTTP_SUBMISSION_CNT_STORE_RETRIES, n);
        }

        ngx_http_submission_retry_expire(batch, delay);

        /* it is not cancelable: an exiting worker answers its requests */

        ngx_add_timer(&lane->again, delay);
        return;
    }

    if (batch->n == 0 || ngx_http_submission_breaker_open(manager)) {

        /* the store takes nothing: all that wait are answered, too */

        ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission: retry gives up op:%s failures:%ui rows:%ui",
                       ngx_http_submission_ops[lane->op].name, lane->failures,
                       batch->n);

        ngx_http_submission_batch_take(batch, NGX_HTTP_SUBMISSION_BATCH_ALL);
    }
}
