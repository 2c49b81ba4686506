
/*
 * What the intake asks of the store: the calls of its kinds, in threads.
 *
 * A submission that is made again may find its own row, of a commit whose
 * answer was lost.  It is a replay only if the intent was there before the
 * request was.
 */

#include "ngx_http_submission.h"


/* in a thread: takes a batch and lays out its rows for the store */

static int
ngx_http_submission_intake_rows(ngx_http_submission_batch_t *batch)
{
    ngx_uint_t                   i;
    ngx_queue_t                 *q;
    ngx_http_submission_node_t  *node;

    ngx_http_submission_intake_take(batch, batch->queue->manager->intake_batch);

    batch->task.rows = batch->n;

    batch->rows = sm_arena_calloc(&batch->task.call.arena, batch->n,
                                  batch->row_size);

    if (batch->rows == NULL) {
        return sm_call_fail(&batch->task.call, SM_STORE_TRANSIENT, 0,
                            "out of memory");
    }

    for (q = ngx_queue_head(&batch->nodes), i = 0;
         q != ngx_queue_sentinel(&batch->nodes);
         q = ngx_queue_next(q), i++)
    {
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);
        ngx_memcpy(ngx_http_submission_intake_row(batch, i), &node->row,
                   batch->row_size);
    }

    return 0;
}


static int
ngx_http_submission_take_submit(void *data, sm_call_t *call,
    sm_submit_row_t **rows, size_t *n)
{
    ngx_http_submission_batch_t *batch = data;

    if (ngx_http_submission_intake_rows(batch) != 0) {
        return -1;
    }

    *rows = batch->rows;
    *n = batch->n;

    return 0;
}


/*
 * What was made again, and was found created since its request came, is of a
 * call before whose answer was lost; or of somebody who sent the same at the
 * same time.  By the store's clock alone.
 */

static void
ngx_http_submission_intake_own(ngx_http_submission_batch_t *batch)
{
    int64_t                      age;
    ngx_uint_t                   i;
    ngx_msec_t                   now;
    ngx_queue_t                 *q;
    sm_submit_row_t             *rows;
    ngx_http_submission_node_t  *node;

    now = ngx_http_submission_msec();
    rows = batch->rows;

    for (q = ngx_queue_head(&batch->nodes), i = 0;
         q != ngx_queue_sentinel(&batch->nodes);
         q = ngx_queue_next(q), i++)
    {
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);

        if (node->tries == 0 || rows[i].outcome != SM_SUBMIT_SAME) {
            continue;
        }

        age = (batch->task.call.now - rows[i].intent.created_at) / 1000;

        if (age <= (int64_t) (now - node->entered)) {
            rows[i].outcome = SM_SUBMIT_CREATED;
        }
    }
}


/* what is committed is counted, whether or not somebody waits for it still */

void
ngx_http_submission_run_submit(ngx_http_submission_task_t *task)
{
    ngx_uint_t                    i, n[SM_SUBMIT_CONFLICT + 1];
    sm_submit_row_t              *rows;
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    batch->notices = task->manager->sh->notices.n;

    if (sm_store_intents_submit(&task->manager->store, &task->call,
                                ngx_http_submission_take_submit, task)
        != 0)
    {
        return;
    }

    ngx_http_submission_intake_own(batch);

    ngx_memzero(n, sizeof(n));

    rows = batch->rows;

    for (i = 0; i < batch->n; i++) {
        n[rows[i].outcome]++;
    }

    ngx_http_submission_count(task->manager, NGX_HTTP_SUBMISSION_CREATED,
                              n[SM_SUBMIT_CREATED]);
    ngx_http_submission_count(task->manager, NGX_HTTP_SUBMISSION_REPLAYED,
                              n[SM_SUBMIT_SAME]);
    ngx_http_submission_count(task->manager, NGX_HTTP_SUBMISSION_CONFLICTED,
                              n[SM_SUBMIT_CONFLICT]);
}


void
ngx_http_submission_run_get(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    if (ngx_http_submission_intake_rows(batch) == 0) {
        (void) sm_store_intents_get(&task->manager->store, &task->call,
                                    batch->rows, batch->n);
    }
}


void
ngx_http_submission_run_history(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    if (ngx_http_submission_intake_rows(batch) == 0) {
        (void) sm_store_intent_history(&task->manager->store, &task->call,
                                       batch->rows, batch->n);
    }
}


void
ngx_http_submission_run_list(ngx_http_submission_task_t *task)
{
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    if (ngx_http_submission_intake_rows(batch) == 0) {
        (void) sm_store_intents_list(&task->manager->store, &task->call,
                                     batch->rows, batch->n);
    }
}


/* one answer for all that ask */

void
ngx_http_submission_run_cluster(ngx_http_submission_task_t *task)
{
    ngx_uint_t                    i;
    sm_cluster_t                 *rows;
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    if (ngx_http_submission_intake_rows(batch) != 0 || batch->n == 0) {
        return;
    }

    rows = batch->rows;

    if (sm_store_cluster_get(&task->manager->store, &task->call, &rows[0])
        != 0)
    {
        return;
    }

    for (i = 1; i < batch->n; i++) {
        rows[i] = rows[0];
    }
}
