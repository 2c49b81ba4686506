
/*
 * What HTTP asks of the store, in batches: whatever arrived until the store is
 * ready for a batch goes into it.  Each kind has one task at a time in each
 * worker, and a bounded queue before it.
 *
 * A node is a request's row with all that it points to, in one piece of
 * memory of its own.  While it waits, the queue's mutex guards it; a thread
 * takes it from there into its batch, and may then read and write the row.
 * What a node and its request know of each other is for the event loop alone.
 *
 * Calls that fail may be made again, see retry.c.
 */

#include "ngx_http_submission.h"


/* weight of a batch of more than one row, and payload in all that waits */

#define NGX_HTTP_SUBMISSION_BATCH_BYTES  (4 * 1024 * 1024)
#define NGX_HTTP_SUBMISSION_QUEUE_BYTES  (64 * 1024 * 1024)



typedef struct {
    ngx_http_submission_op_e      op;
    size_t                        row_size;
    void                        (*run)(ngx_http_submission_task_t *task);
} ngx_http_submission_kind_t;


static ngx_http_submission_node_t *ngx_http_submission_intake_node(
    ngx_http_submission_ctx_t *ctx);
static void ngx_http_submission_intake_start(ngx_event_t *ev);
static void ngx_http_submission_intake_again(ngx_event_t *ev);
static void ngx_http_submission_intake_done(ngx_http_submission_task_t *task);
static void ngx_http_submission_intake_cleanup(void *data);


static ngx_http_submission_kind_t  ngx_http_submission_kinds[] = {

    { NGX_HTTP_SUBMISSION_OP_INTENTS_SUBMIT, sizeof(sm_submit_row_t),
      ngx_http_submission_run_submit },

    { NGX_HTTP_SUBMISSION_OP_INTENTS_GET, sizeof(sm_get_row_t),
      ngx_http_submission_run_get },

    { NGX_HTTP_SUBMISSION_OP_INTENT_HISTORY, sizeof(sm_history_row_t),
      ngx_http_submission_run_history },

    { NGX_HTTP_SUBMISSION_OP_INTENTS_LIST, sizeof(sm_list_row_t),
      ngx_http_submission_run_list },

    { NGX_HTTP_SUBMISSION_OP_CLUSTER_GET, sizeof(sm_cluster_t),
      ngx_http_submission_run_cluster }
};


ngx_int_t
ngx_http_submission_intake_init(ngx_http_submission_manager_t *manager,
    ngx_log_t *log)
{
    ngx_uint_t                    i;
    ngx_http_submission_queue_t  *queue;

    for (i = 0; i < NGX_HTTP_SUBMISSION_KINDS; i++) {
        queue = &manager->queues[i];

        queue->manager = manager;
        queue->kind = i;
        queue->start.handler = ngx_http_submission_intake_start;
        queue->start.data = queue;
        queue->start.log = log;
        queue->again.handler = ngx_http_submission_intake_again;
        queue->again.data = queue;
        queue->again.log = log;

        ngx_queue_init(&queue->waiting);

        if (ngx_thread_mutex_create(&queue->mutex, log) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


size_t
ngx_http_submission_intake_payload(ngx_http_submission_node_t *node,
    ngx_http_submission_kind_e kind)
{
    return kind == NGX_HTTP_SUBMISSION_SUBMIT ? node->row.submit.payload.len
                                              : 0;
}


/*
 * What a row adds to its batch, in bytes: a payload, or what the store may give
 * for it, by which the memory and the work of a batch of reads are bounded.
 */

static size_t
ngx_http_submission_intake_weight(ngx_http_submission_node_t *node,
    ngx_http_submission_kind_e kind)
{
    switch (kind) {

    case NGX_HTTP_SUBMISSION_GET:
        return SM_INTENT_MAX;

    case NGX_HTTP_SUBMISSION_HISTORY:
        return SM_INTENT_MAX + node->row.history.limit * SM_ATTEMPT_MAX;

    case NGX_HTTP_SUBMISSION_LIST:
        return node->row.list.limit * SM_INTENT_MAX;

    default: /* NGX_HTTP_SUBMISSION_SUBMIT, NGX_HTTP_SUBMISSION_CLUSTER */
        return ngx_http_submission_intake_payload(node, kind);
    }
}


/* NGX_BUSY: the queue is full; NGX_DECLINED: the store is down */

ngx_int_t
ngx_http_submission_intake(ngx_http_submission_manager_t *manager,
    ngx_http_submission_ctx_t *ctx)
{
    ngx_int_t                     rc;
    ngx_http_cleanup_t           *cln;
    ngx_http_submission_node_t   *node;
    ngx_http_submission_queue_t  *queue;

    if (ngx_http_submission_breaker_open(manager)) {
        return NGX_DECLINED;
    }

    queue = &manager->queues[ctx->kind];

    cln = ngx_http_cleanup_add(ctx->request, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    node = ngx_http_submission_intake_node(ctx);
    if (node == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_thread_mutex_lock(&queue->mutex, ngx_cycle->log);

    if (queue->nwaiting < (ngx_uint_t) manager->intake_queue
        && queue->bytes < NGX_HTTP_SUBMISSION_QUEUE_BYTES)
    {
        ngx_queue_insert_tail(&queue->waiting, &node->queue);
        queue->nwaiting++;
        queue->bytes += ngx_http_submission_intake_payload(node, ctx->kind);
        rc = NGX_OK;

    } else {
        rc = NGX_BUSY;
    }

    (void) ngx_thread_mutex_unlock(&queue->mutex, ngx_cycle->log);

    if (rc != NGX_OK) {
        ngx_free(node);
        return rc;
    }

    ctx->node = node;
    ctx->queue = queue;

    cln->handler = ngx_http_submission_intake_cleanup;
    cln->data = ctx;

    /* not at once: what this turn of the event loop still brings goes along */

    if (!queue->busy && !queue->again.timer_set) {
        ngx_post_event(&queue->start, &ngx_posted_events);
    }

    return NGX_OK;
}


static char *
ngx_http_submission_intake_copy(char *p, sm_str_t *s)
{
    if (s->data) {
        ngx_memcpy(p, s->data, s->len);
        s->data = p;
    }

    return p + s->len;
}


/* a row's inputs, moved from the request's memory to the node's */

static ngx_http_submission_node_t *
ngx_http_submission_intake_node(ngx_http_submission_ctx_t *ctx)
{
    char                        *p;
    size_t                       size;
    sm_str_t                    *a, *b;
    ngx_http_submission_node_t  *node;

    switch (ctx->kind) {

    case NGX_HTTP_SUBMISSION_SUBMIT:
        a = &ctx->row.submit.id;
        b = &ctx->row.submit.payload;
        break;

    case NGX_HTTP_SUBMISSION_GET:
        a = &ctx->row.get.id;
        b = NULL;
        break;

    case NGX_HTTP_SUBMISSION_HISTORY:
        a = &ctx->row.history.id;
        b = NULL;
        break;

    case NGX_HTTP_SUBMISSION_LIST:
        a = &ctx->row.list.target;
        b = &ctx->row.list.after_id;
        break;

    default: /* NGX_HTTP_SUBMISSION_CLUSTER */
        a = NULL;
        b = NULL;
    }

    size = sizeof(ngx_http_submission_node_t) + (a ? a->len : 0)
           + (b ? b->len : 0);

    node = ngx_alloc(size, ctx->request->connection->log);
    if (node == NULL) {
        return NULL;
    }

    p = a ? ngx_http_submission_intake_copy(node->data, a) : node->data;

    if (b) {
        (void) ngx_http_submission_intake_copy(p, b);
    }

    node->ctx = ctx;
    node->taken = 0;
    node->tries = 0;
    node->entered = ngx_current_msec;
    node->row = ctx->row;

    return node;
}


/* the request goes away, answered or not */

static void
ngx_http_submission_intake_cleanup(void *data)
{
    ngx_http_submission_ctx_t *ctx = data;

    ngx_uint_t                    taken;
    ngx_http_submission_node_t   *node;
    ngx_http_submission_queue_t  *queue;

    node = ctx->node;
    queue = ctx->queue;

    if (node == NULL) {
        return;
    }

    ctx->node = NULL;
    node->ctx = NULL;

    (void) ngx_thread_mutex_lock(&queue->mutex, ngx_cycle->log);

    taken = node->taken;

    if (!taken) {
        ngx_queue_remove(&node->queue);
        queue->nwaiting--;
        queue->bytes -= ngx_http_submission_intake_payload(node, queue->kind);
    }

    (void) ngx_thread_mutex_unlock(&queue->mutex, ngx_cycle->log);

    if (!taken) {
        ngx_free(node);
    }
}


/* moves what waits, up to the bounds of a batch; in a thread as a rule */

void
ngx_http_submission_intake_take(ngx_http_submission_batch_t *batch,
    ngx_uint_t max)
{
    size_t                        bytes, weight;
    ngx_queue_t                  *q;
    ngx_http_submission_node_t   *node;
    ngx_http_submission_queue_t  *queue;

    queue = batch->queue;
    bytes = 0;

    (void) ngx_thread_mutex_lock(&queue->mutex, ngx_cycle->log);

    while (batch->n < max && !ngx_queue_empty(&queue->waiting)) {

        q = ngx_queue_head(&queue->waiting);
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);

        weight = ngx_http_submission_intake_weight(node, queue->kind);

        if (max != NGX_HTTP_SUBMISSION_ALL && batch->n
            && bytes + weight > NGX_HTTP_SUBMISSION_BATCH_BYTES)
        {
            break;
        }

        ngx_queue_remove(q);
        ngx_queue_insert_tail(&batch->nodes, q);

        node->taken = 1;
        batch->n++;
        bytes += weight;

        queue->nwaiting--;
        queue->bytes -= ngx_http_submission_intake_payload(node, queue->kind);
    }

    (void) ngx_thread_mutex_unlock(&queue->mutex, ngx_cycle->log);
}


ngx_http_submission_row_t *
ngx_http_submission_intake_row(ngx_http_submission_batch_t *batch, ngx_uint_t i)
{
    return (ngx_http_submission_row_t *) ((char *) batch->rows
                                          + i * batch->row_size);
}


static void
ngx_http_submission_intake_answer(ngx_http_submission_batch_t *batch,
    sm_call_t *call, ngx_http_submission_ctx_t *ctx, ngx_uint_t i)
{
    ngx_int_t                   rc;
    ngx_http_request_t         *r;
    ngx_http_submission_row_t  *row;

    r = ctx->request;

    ngx_http_set_log_request(r->connection->log, r);

    if (call && call->status == SM_STORE_OK) {
        row = ngx_http_submission_intake_row(batch, i);

        if (ctx->wait
            && ngx_http_submission_wait(ctx, &row->submit, batch->notices)
               == NGX_DONE)
        {
            return;
        }

        rc = ngx_http_submission_reply(ctx, row);

    } else {
        rc = ngx_http_submission_reply_unavailable(r, call == NULL);
    }

    ngx_http_submission_finalize(r, rc);
}


/*
 * No call: the store was not asked.  An answer may end other requests, of the
 * same connection: each node is looked at anew.
 */

static void
ngx_http_submission_intake_answer_all(ngx_http_submission_batch_t *batch,
    sm_call_t *call)
{
    ngx_uint_t                   i;
    ngx_queue_t                 *q;
    ngx_http_submission_ctx_t   *ctx;
    ngx_http_submission_node_t  *node;

    for (i = 0; !ngx_queue_empty(&batch->nodes); i++) {

        q = ngx_queue_head(&batch->nodes);
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);
        ngx_queue_remove(q);

        ctx = node->ctx;

        if (ctx) {
            ctx->node = NULL;
            ngx_http_submission_intake_answer(batch, call, ctx, i);
        }

        /* not before: the row's strings are the node's */

        ngx_free(node);
    }
}


static void
ngx_http_submission_intake_start(ngx_event_t *ev)
{
    ngx_http_submission_kind_t   *kind;
    ngx_http_submission_batch_t  *batch, refused;
    ngx_http_submission_queue_t  *queue;

    queue = ev->data;

    if (queue->busy || queue->again.timer_set
        || !ngx_http_submission_breaker_room(queue->manager))
    {
        return;
    }

    kind = &ngx_http_submission_kinds[queue->kind];

    batch = ngx_http_submission_task_create(queue->manager,
                                          sizeof(ngx_http_submission_batch_t));
    if (batch) {
        batch->queue = queue;
        batch->row_size = kind->row_size;
        batch->task.op = kind->op;
        batch->task.writes = queue->kind == NGX_HTTP_SUBMISSION_SUBMIT;
        batch->task.run = kind->run;
        batch->task.done = ngx_http_submission_intake_done;

        ngx_queue_init(&batch->nodes);

        if (ngx_http_submission_task_post(&batch->task) == NGX_OK) {
            queue->busy = 1;
            queue->manager->ncalls++;
            return;
        }

        ngx_http_submission_task_free(&batch->task);
    }

    /* no memory, or no room in the thread pool: nobody waits for nothing */

    ngx_memzero(&refused, sizeof(ngx_http_submission_batch_t));

    refused.queue = queue;
    ngx_queue_init(&refused.nodes);

    ngx_http_submission_intake_take(&refused, NGX_HTTP_SUBMISSION_ALL);
    ngx_http_submission_intake_answer_all(&refused, NULL);
}


static ngx_uint_t
ngx_http_submission_intake_waiting(ngx_http_submission_queue_t *queue)
{
    ngx_uint_t  waiting;

    (void) ngx_thread_mutex_lock(&queue->mutex, ngx_cycle->log);

    waiting = queue->nwaiting;

    (void) ngx_thread_mutex_unlock(&queue->mutex, ngx_cycle->log);

    return waiting;
}


static void
ngx_http_submission_intake_again(ngx_event_t *ev)
{
    ngx_http_submission_queue_t  *queue;

    queue = ev->data;

    if (ngx_http_submission_breaker_open(queue->manager)) {

        /* another worker opened it */

        ngx_http_submission_intake_refuse(queue->manager);
        return;
    }

    if (ngx_http_submission_intake_waiting(queue)) {
        ngx_http_submission_intake_start(&queue->start);
    }
}


/* the kinds take turns, where there is no room for all */

void
ngx_http_submission_intake_next(ngx_http_submission_manager_t *manager,
    ngx_uint_t kind)
{
    ngx_uint_t                    i;
    ngx_http_submission_queue_t  *queue;

    for (i = 1; i <= NGX_HTTP_SUBMISSION_KINDS; i++) {
        queue = &manager->queues[(kind + i) % NGX_HTTP_SUBMISSION_KINDS];

        if (!queue->busy && ngx_http_submission_intake_waiting(queue)) {
            ngx_http_submission_intake_start(&queue->start);
        }
    }
}


void
ngx_http_submission_intake_refuse(ngx_http_submission_manager_t *manager)
{
    ngx_uint_t                    i;
    ngx_http_submission_batch_t   refused;
    ngx_http_submission_queue_t  *queue;

    for (i = 0; i < NGX_HTTP_SUBMISSION_KINDS; i++) {
        queue = &manager->queues[i];

        ngx_memzero(&refused, sizeof(ngx_http_submission_batch_t));

        refused.queue = queue;
        refused.task.call.status = SM_STORE_TRANSIENT;
        ngx_queue_init(&refused.nodes);

        ngx_http_submission_intake_take(&refused, NGX_HTTP_SUBMISSION_ALL);

        ngx_http_submission_count(manager, NGX_HTTP_SUBMISSION_REFUSALS,
                                  refused.n);

        ngx_http_submission_intake_answer_all(&refused, &refused.task.call);
    }
}


/* the next task goes off before this one is answered: the store never idles */

static void
ngx_http_submission_intake_done(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;
    ngx_http_submission_queue_t  *queue;

    queue = batch->queue;
    queue->busy = 0;
    queue->manager->ncalls--;

    ngx_http_submission_health_report(task);

    if (task->call.status == SM_STORE_OK) {
        queue->failures = 0;

    } else {
        ngx_http_submission_retry(batch);
    }

    ngx_http_submission_wait_next(queue->manager);
    ngx_http_submission_intake_next(queue->manager, queue->kind);

    if (queue->kind == NGX_HTTP_SUBMISSION_SUBMIT
        && task->call.status == SM_STORE_OK)
    {
        ngx_http_submission_wake(queue->manager);
    }

    ngx_http_submission_intake_answer_all(batch, &task->call);
}
