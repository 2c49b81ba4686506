
/*
 * Writes batches of rows: submissions of the API, turns of the executor, and
 * the inbox.
 *
 * A batch is one transaction if the store accepts all rows.  If it refuses the
 * data of one, the batch is halved until that row is alone, and only that row
 * fails.
 */

#include <string.h>

#include "sm_store_ops.h"


typedef struct sm_store_batch_s  sm_store_batch_t;

struct sm_store_batch_s {
    const sm_store_ops_t  *ops;
    sm_conn_t             *conn;
    sm_call_t             *call;
    const sm_fence_t      *fence;

    union {
        sm_submit_row_t   *submit;
        sm_begin_row_t    *begin;
        sm_complete_row_t *complete;
        sm_inbox_row_t    *inbox;
    } rows;

    size_t                 max_payload; /* for the inbox */

    int                  (*write)(sm_store_batch_t *batch, size_t first,
                              size_t n);
    void                 (*refuse)(sm_store_batch_t *batch, size_t i);

    unsigned               begun;       /* the first transaction is open */
};


static void
sm_store_batch(sm_store_batch_t *batch, sm_store_t *store, sm_conn_t *conn,
    sm_call_t *call, const sm_fence_t *fence)
{
    memset(batch, 0, sizeof(sm_store_batch_t));

    batch->ops = store->ops;
    batch->conn = conn;
    batch->call = call;
    batch->fence = fence;
}


/* Writes rows [first, first + n), in halves if the store refuses the data. */

static int
sm_store_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    size_t  half;

    if (batch->write(batch, first, n) == 0) {
        return 0;
    }

    if (batch->call->status != SM_STORE_CONSTRAINT) {
        return -1;
    }

    batch->call->status = SM_STORE_OK;

    if (n == 1) {
        batch->refuse(batch, first);
        return batch->call->status == SM_STORE_OK ? 0 : -1;
    }

    half = n / 2;

    if (sm_store_write(batch, first, half) != 0) {
        return -1;
    }

    return sm_store_write(batch, first + half, n - half);
}


static int
sm_store_submit_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    if (!batch->begun && batch->ops->begin_write(batch->conn, batch->call) != 0)
    {
        return -1;
    }

    batch->begun = 0;

    return batch->ops->intents_submit(batch->conn, batch->call,
                                      batch->rows.submit + first, n);
}


static void
sm_store_submit_refuse(sm_store_batch_t *batch, size_t i)
{
    batch->rows.submit[i].outcome = SM_SUBMIT_FAILED;
}


int
sm_store_intents_submit(sm_store_t *store, sm_call_t *call,
    sm_store_take_pt take, void *data)
{
    size_t            n;
    sm_conn_t        *conn;
    sm_store_batch_t  batch;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    sm_store_batch(&batch, store, conn, call, NULL);

    batch.write = sm_store_submit_write;
    batch.refuse = sm_store_submit_refuse;
    batch.begun = 1;

    if (store->ops->begin_write(conn, call) == 0
        && take(data, call, &batch.rows.submit, &n) == 0
        && sm_store_hash(store, call, batch.rows.submit, n) == 0)
    {
        (void) sm_store_write(&batch, 0, n);
    }

    return sm_store_put_conn(store, call, conn);
}


static int
sm_store_begin_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    return batch->ops->attempts_turn(batch->conn, batch->call, batch->fence,
                                     NULL, 0, batch->rows.begin + first, n);
}


static void
sm_store_begin_refuse(sm_store_batch_t *batch, size_t i)
{
    sm_begin_row_t  *row;

    row = &batch->rows.begin[i];

    sm_begin_rows_init(row, 1);

    row->outcome = SM_BEGIN_REFUSED;

    if (sm_arena_strdup(&batch->call->arena, &row->refused,
                        sm_str_c(batch->call->error))
        != 0)
    {
        (void) sm_call_no_memory(batch->call);
    }
}


static int
sm_store_complete_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    return batch->ops->attempts_turn(batch->conn, batch->call, batch->fence,
                                     batch->rows.complete + first, n, NULL, 0);
}


/* Returns 1 if the store refused the data of the row again. */

static int
sm_store_complete_again(sm_store_batch_t *batch, size_t i)
{
    if (sm_store_complete_write(batch, i, 1) == 0
        || batch->call->status != SM_STORE_CONSTRAINT)
    {
        return 0;
    }

    batch->call->status = SM_STORE_OK;

    return 1;
}


/*
 * The outcome of an attempt matters more than what the gateway said: if the
 * store refuses the texts, the attempt is recorded without them.
 */

static void
sm_store_complete_refuse(sm_store_batch_t *batch, size_t i)
{
    sm_complete_row_t  *row;

    row = &batch->rows.complete[i];

    if (row->answer.data || row->error.data) {
        memset(&row->answer, 0, sizeof(sm_str_t));
        row->error = sm_str_c("the store refused the text of this attempt");

        if (!sm_store_complete_again(batch, i)) {
            return;
        }
    }

    if (row->reason.data) {
        row->reason = sm_str_c("not_stored");

        if (!sm_store_complete_again(batch, i)) {
            return;
        }
    }

    row->applied = 0;
    row->next_attempt_at = 0;
}


/*
 * Writes the ended and then the due rows, each in as many transactions as it
 * takes.
 */

static int
sm_store_turn_apart(sm_store_batch_t *batch, sm_complete_row_t *ended,
    size_t nended, sm_begin_row_t *due, size_t ndue)
{
    batch->call->status = SM_STORE_OK;

    if (nended) {
        batch->rows.complete = ended;
        batch->write = sm_store_complete_write;
        batch->refuse = sm_store_complete_refuse;

        if (sm_store_write(batch, 0, nended) != 0) {
            return -1;
        }
    }

    if (ndue == 0) {
        return 0;
    }

    batch->rows.begin = due;
    batch->write = sm_store_begin_write;
    batch->refuse = sm_store_begin_refuse;

    return sm_store_write(batch, 0, ndue);
}


int
sm_store_attempts_turn(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *ended, size_t nended,
    sm_begin_row_t *due, size_t ndue)
{
    sm_conn_t        *conn;
    sm_store_batch_t  batch;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    if (store->ops->attempts_turn(conn, call, fence, ended, nended, due, ndue)
        != 0
        && call->status == SM_STORE_CONSTRAINT)
    {
        sm_store_batch(&batch, store, conn, call, fence);

        (void) sm_store_turn_apart(&batch, ended, nended, due, ndue);
    }

    return sm_store_put_conn(store, call, conn);
}


int
sm_store_attempts_begin(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n)
{
    return sm_store_attempts_turn(store, call, fence, NULL, 0, rows, n);
}


int
sm_store_attempts_complete(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *rows, size_t n)
{
    return sm_store_attempts_turn(store, call, fence, rows, n, NULL, 0);
}


static int
sm_store_expire_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    return batch->ops->attempts_expire(batch->conn, batch->call, batch->fence,
                                       batch->rows.begin + first, n);
}


int
sm_store_attempts_expire(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n)
{
    sm_conn_t        *conn;
    sm_store_batch_t  batch;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    sm_store_batch(&batch, store, conn, call, fence);

    batch.rows.begin = rows;
    batch.write = sm_store_expire_write;
    batch.refuse = sm_store_begin_refuse;

    (void) sm_store_write(&batch, 0, n);

    return sm_store_put_conn(store, call, conn);
}


static int
sm_store_inbox_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    return batch->ops->inbox_move(batch->conn, batch->call, batch->fence,
                                  batch->max_payload,
                                  batch->rows.inbox + first, n);
}


/*
 * Turns the row into a refusal, which does not send its data to the store
 * again.
 */

static void
sm_store_inbox_refuse(sm_store_batch_t *batch, size_t i)
{
    sm_inbox_row_t  *row;

    row = &batch->rows.inbox[i];

    sm_inbox_refuse(row, "internal_error", "the store refused the data");

    if (sm_store_inbox_write(batch, i, 1) != 0
        && batch->call->status == SM_STORE_CONSTRAINT)
    {
        batch->call->status = SM_STORE_OK;
        row->outcome = SM_INBOX_LEFT;
    }
}


int
sm_store_inbox_move(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, size_t max_payload, sm_inbox_row_t *rows,
    size_t n)
{
    size_t            i;
    sm_conn_t        *conn;
    sm_store_batch_t  batch;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    for (i = 0; i < n && call->status == SM_STORE_OK; i++) {
        if (rows[i].reason.data == NULL) {
            (void) sm_store_hash(store, call, &rows[i].submit, 1);
        }
    }

    if (call->status == SM_STORE_OK) {
        sm_store_batch(&batch, store, conn, call, fence);

        batch.rows.inbox = rows;
        batch.max_payload = max_payload;
        batch.write = sm_store_inbox_write;
        batch.refuse = sm_store_inbox_refuse;

        (void) sm_store_write(&batch, 0, n);
    }

    return sm_store_put_conn(store, call, conn);
}
