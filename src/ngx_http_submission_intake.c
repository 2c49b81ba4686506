
/*
 * What HTTP asks of the store, in batches: whatever arrived while a batch was
 * in the store goes into the next one.  Each kind has one batch at a time in
 * each worker, and a bounded queue before it.
 *
 * A waiting request is on the queue of its kind; then its row is copied into
 * a batch, and ctx->batch and batch->ctxs[ctx->index] point at each other
 * until the batch is done or the request has gone.
 */

#include "ngx_http_submission.h"


/* a batch with more than one row carries no more payload than this */

#define NGX_HTTP_SUBMISSION_BATCH_BYTES  (4 * 1024 * 1024)


struct ngx_http_submission_batch_s {
    ngx_http_submission_task_t    task;
    ngx_http_submission_queue_t  *queue;

    void                         *rows;
    ngx_uint_t                    n;
    sm_str_t                      bytes;
    ngx_http_submission_ctx_t   **ctxs;
    unsigned                      whole:1;      /* no row is half copied */
};


typedef struct {
    const char                   *op;
    size_t                        size;         /* of a row */
    ngx_int_t                   (*own)(ngx_http_submission_batch_t *batch,
                                       void *row);
    void                        (*run)(ngx_http_submission_task_t *task);
} ngx_http_submission_kind_t;


static ngx_int_t ngx_http_submission_own_submit(
    ngx_http_submission_batch_t *batch, void *data);
static ngx_int_t ngx_http_submission_own_get(
    ngx_http_submission_batch_t *batch, void *data);
static ngx_int_t ngx_http_submission_own_history(
    ngx_http_submission_batch_t *batch, void *data);
static ngx_int_t ngx_http_submission_own_list(
    ngx_http_submission_batch_t *batch, void *data);
static void ngx_http_submission_run_submit(ngx_http_submission_task_t *task);
static void ngx_http_submission_run_get(ngx_http_submission_task_t *task);
static void ngx_http_submission_run_history(ngx_http_submission_task_t *task);
static void ngx_http_submission_run_list(ngx_http_submission_task_t *task);

static void ngx_http_submission_intake_start(ngx_event_t *ev);
static ngx_http_submission_batch_t *ngx_http_submission_intake_batch(
    ngx_http_submission_queue_t *queue);
static void ngx_http_submission_intake_done(ngx_http_submission_task_t *task);
static void ngx_http_submission_intake_cleanup(void *data);


static ngx_http_submission_kind_t  ngx_http_submission_kinds[] = {

    { "intents_submit", sizeof(sm_submit_row_t),
      ngx_http_submission_own_submit, ngx_http_submission_run_submit },

    { "intents_get", sizeof(sm_get_row_t),
      ngx_http_submission_own_get, ngx_http_submission_run_get },

    { "intent_history", sizeof(sm_history_row_t),
      ngx_http_submission_own_history, ngx_http_submission_run_history },

    { "intents_list", sizeof(sm_list_row_t),
      ngx_http_submission_own_list, ngx_http_submission_run_list }
};


void
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

        ngx_queue_init(&queue->waiting);
    }
}


/* NGX_BUSY: the queue is full */

ngx_int_t
ngx_http_submission_intake(ngx_http_submission_manager_t *manager,
    ngx_http_submission_ctx_t *ctx)
{
    ngx_http_cleanup_t           *cln;
    ngx_http_submission_queue_t  *queue;

    queue = &manager->queues[ctx->kind];

    if (queue->nwaiting >= (ngx_uint_t) manager->intake_queue) {
        return NGX_BUSY;
    }

    cln = ngx_http_cleanup_add(ctx->request, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_intake_cleanup;
    cln->data = ctx;

    ngx_queue_insert_tail(&queue->waiting, &ctx->queue);
    queue->nwaiting++;
    ctx->waiting = queue;

    /* not at once: what this turn of the event loop still brings goes along */

    if (!queue->busy) {
        ngx_post_event(&queue->start, &ngx_posted_events);
    }

    return NGX_OK;
}


static void
ngx_http_submission_intake_leave(ngx_http_submission_ctx_t *ctx)
{
    ngx_queue_remove(&ctx->queue);
    ctx->waiting->nwaiting--;
    ctx->waiting = NULL;
}


/* the request goes away, answered or not */

static void
ngx_http_submission_intake_cleanup(void *data)
{
    ngx_http_submission_ctx_t *ctx = data;

    if (ctx->waiting) {
        ngx_http_submission_intake_leave(ctx);
    }

    if (ctx->batch) {
        ctx->batch->ctxs[ctx->index] = NULL;
        ctx->batch = NULL;
    }
}


static void
ngx_http_submission_intake_answer(ngx_http_submission_ctx_t *ctx,
    sm_call_t *call, const ngx_http_submission_row_t *row)
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = ctx->request;
    ctx->batch = NULL;

    ngx_http_set_log_request(r->connection->log, r);

    if (call && call->status == SM_STORE_OK) {
        rc = ngx_http_submission_reply(ctx, row);

    } else {
        rc = ngx_http_submission_reply_unavailable(r, call == NULL);
    }

    ngx_http_submission_finalize(r, rc);
}


static void *
ngx_http_submission_batch_row(ngx_http_submission_batch_t *batch, ngx_uint_t i)
{
    return (u_char *) batch->rows
           + i * ngx_http_submission_kinds[batch->queue->kind].size;
}


/* an answer may end other requests with their connection: look each time */

static void
ngx_http_submission_intake_answer_all(ngx_http_submission_batch_t *batch,
    sm_call_t *call)
{
    ngx_uint_t  i;

    for (i = 0; i < batch->n; i++) {
        if (batch->ctxs[i]) {
            ngx_http_submission_intake_answer(batch->ctxs[i], call,
                                    ngx_http_submission_batch_row(batch, i));
        }
    }
}


static void
ngx_http_submission_intake_start(ngx_event_t *ev)
{
    ngx_queue_t                  *q;
    ngx_http_submission_ctx_t    *ctx;
    ngx_http_submission_batch_t  *batch;
    ngx_http_submission_queue_t  *queue;

    queue = ev->data;

    if (queue->busy || ngx_queue_empty(&queue->waiting)) {
        return;
    }

    batch = ngx_http_submission_intake_batch(queue);

    if (batch && batch->whole
        && ngx_http_submission_task_post(&batch->task) == NGX_OK)
    {
        queue->busy = 1;
        return;
    }

    /* no memory, or no room in the thread pool: nobody waits for nothing */

    if (batch) {
        ngx_http_submission_intake_answer_all(batch, NULL);
        ngx_http_submission_task_free(&batch->task);
    }

    while (!ngx_queue_empty(&queue->waiting)) {
        q = ngx_queue_head(&queue->waiting);
        ctx = ngx_queue_data(q, ngx_http_submission_ctx_t, queue);

        ngx_http_submission_intake_leave(ctx);
        ngx_http_submission_intake_answer(ctx, NULL, NULL);
    }
}


/* moves what waits, up to the bounds of a batch, from the queue */

static ngx_http_submission_batch_t *
ngx_http_submission_intake_batch(ngx_http_submission_queue_t *queue)
{
    void                         *row;
    size_t                        bytes;
    ngx_uint_t                    n;
    ngx_queue_t                  *q;
    sm_arena_t                   *arena;
    ngx_http_submission_ctx_t    *ctx;
    ngx_http_submission_kind_t   *kind;
    ngx_http_submission_batch_t  *batch;

    kind = &ngx_http_submission_kinds[queue->kind];

    batch = ngx_http_submission_task_create(queue->manager,
                                          sizeof(ngx_http_submission_batch_t));
    if (batch == NULL) {
        return NULL;
    }

    batch->queue = queue;
    batch->whole = 1;
    batch->task.op = kind->op;
    batch->task.run = kind->run;
    batch->task.done = ngx_http_submission_intake_done;

    n = 0;
    bytes = 0;

    for (q = ngx_queue_head(&queue->waiting);
         q != ngx_queue_sentinel(&queue->waiting)
         && n < (ngx_uint_t) queue->manager->intake_batch;
         q = ngx_queue_next(q))
    {
        ctx = ngx_queue_data(q, ngx_http_submission_ctx_t, queue);

        if (queue->kind == NGX_HTTP_SUBMISSION_SUBMIT) {

            if (n && bytes + ctx->row.submit.payload.len
                     > NGX_HTTP_SUBMISSION_BATCH_BYTES)
            {
                break;
            }

            bytes += ctx->row.submit.payload.len;
        }

        n++;
    }

    arena = &batch->task.call.arena;

    batch->rows = sm_arena_calloc(arena, n, kind->size);
    batch->ctxs = sm_arena_calloc(arena, n,
                                  sizeof(ngx_http_submission_ctx_t *));
    batch->bytes.data = sm_arena_alloc(arena, bytes);

    if (batch->rows == NULL || batch->ctxs == NULL
        || batch->bytes.data == NULL)
    {
        ngx_http_submission_task_free(&batch->task);
        return NULL;
    }

    while (batch->n < n) {
        q = ngx_queue_head(&queue->waiting);
        ctx = ngx_queue_data(q, ngx_http_submission_ctx_t, queue);

        ngx_http_submission_intake_leave(ctx);

        ctx->batch = batch;
        ctx->index = batch->n;

        row = ngx_http_submission_batch_row(batch, batch->n);
        ngx_memcpy(row, &ctx->row, kind->size);

        batch->ctxs[batch->n++] = ctx;

        if (kind->own(batch, row) != NGX_OK) {
            batch->whole = 0;
        }
    }

    return batch;
}


/* the next batch goes off before this one is answered: the store never idles */

static void
ngx_http_submission_intake_done(ngx_http_submission_task_t *task)
{
    ngx_http_submission_queue_t  *queue;
    ngx_http_submission_batch_t  *batch;

    batch = (ngx_http_submission_batch_t *) task;
    queue = batch->queue;

    ngx_http_submission_health_report(task);

    queue->busy = 0;

    ngx_http_submission_intake_start(&queue->start);

    ngx_http_submission_intake_answer_all(batch, &task->call);
}


/*
 * The kinds: what a row points to must belong to the batch before a thread
 * sees it.
 */

static ngx_int_t
ngx_http_submission_own(ngx_http_submission_batch_t *batch, sm_str_t *s)
{
    return sm_arena_strdup(&batch->task.call.arena, s, *s) == 0 ? NGX_OK
                                                                : NGX_ERROR;
}


static ngx_int_t
ngx_http_submission_own_submit(ngx_http_submission_batch_t *batch, void *data)
{
    sm_submit_row_t *row = data;

    char  *p;

    if (row->payload.len) {
        p = (char *) batch->bytes.data + batch->bytes.len;

        ngx_memcpy(p, row->payload.data, row->payload.len);

        row->payload.data = p;
        batch->bytes.len += row->payload.len;
    }

    return ngx_http_submission_own(batch, &row->id);
}


static ngx_int_t
ngx_http_submission_own_get(ngx_http_submission_batch_t *batch, void *data)
{
    sm_get_row_t *row = data;

    return ngx_http_submission_own(batch, &row->id);
}


static ngx_int_t
ngx_http_submission_own_history(ngx_http_submission_batch_t *batch, void *data)
{
    sm_history_row_t *row = data;

    return ngx_http_submission_own(batch, &row->id);
}


static ngx_int_t
ngx_http_submission_own_list(ngx_http_submission_batch_t *batch, void *data)
{
    sm_list_row_t *row = data;

    if (row->target.data
        && ngx_http_submission_own(batch, &row->target) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (row->after_id.data
        && ngx_http_submission_own(batch, &row->after_id) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_http_submission_run_submit(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    (void) sm_store_intents_submit(&task->manager->store, &task->call,
                                   batch->rows, batch->n, batch->bytes);
}


static void
ngx_http_submission_run_get(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    (void) sm_store_intents_get(&task->manager->store, &task->call,
                                batch->rows, batch->n);
}


static void
ngx_http_submission_run_history(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    (void) sm_store_intent_history(&task->manager->store, &task->call,
                                   batch->rows, batch->n);
}


static void
ngx_http_submission_run_list(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    (void) sm_store_intents_list(&task->manager->store, &task->call,
                                 batch->rows, batch->n);
}
