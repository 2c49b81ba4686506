
/*
 * The operations of the executor in SQLite.
 *
 * A write is one transaction that takes the write lock, checks the fence, and
 * then changes rows one by one, so nobody else can acquire the lease before it
 * has committed.  A read sees the fence and the rows as they were at one
 * moment.
 */

#include <stdio.h>

#include "sm_policy.h"
#include "sm_store_sqlite.h"


/* The columns of attempts_begin.sql. */

enum {
    SM_BEGIN_COL_ROWID = 0,
    SM_BEGIN_COL_STATUS,
    SM_BEGIN_COL_NEXT_ATTEMPT_AT,
    SM_BEGIN_COL_INFLIGHT_EPOCH,
    SM_BEGIN_COL_ATTEMPT_COUNT,
    SM_BEGIN_COL_CREATED_AT,        /* or a later not_before */
    SM_BEGIN_COL_PAYLOAD,
    SM_BEGIN_COL_EXPIRED,
    SM_BEGIN_COL_CONTRACT,
    SM_BEGIN_COL_VERSION = SM_BEGIN_COL_CONTRACT + SM_CONTRACT_COLUMNS,
    SM_BEGIN_COL_TRACEPARENT,
    SM_BEGIN_COL_TRACESTATE
};


/* The parameters of attempts_complete.sql, in the order of their appearance. */

enum {
    SM_COMPLETE_PAR_STATUS = 1,
    SM_COMPLETE_PAR_OUTCOME,
    SM_COMPLETE_PAR_REASON,
    SM_COMPLETE_PAR_EXHAUSTED,
    SM_COMPLETE_PAR_ERROR,
    SM_COMPLETE_PAR_NUMBER,
    SM_COMPLETE_PAR_COMPLETED_AT,
    SM_COMPLETE_PAR_NOW,
    SM_COMPLETE_PAR_NEXT_ATTEMPT_AT,
    SM_COMPLETE_PAR_LEASE_NAME,
    SM_COMPLETE_PAR_INTENT_ID,
    SM_COMPLETE_PAR_EPOCH,
    SM_COMPLETE_PAR_HOLDER
};


/* The parameters of attempts_complete_append.sql, in the same way. */

enum {
    SM_APPEND_PAR_LEASE_NAME = 1,
    SM_APPEND_PAR_INTENT_ID,
    SM_APPEND_PAR_NUMBER,
    SM_APPEND_PAR_EPOCH,
    SM_APPEND_PAR_HOLDER,
    SM_APPEND_PAR_STARTED_AT,
    SM_APPEND_PAR_FINISHED_AT,
    SM_APPEND_PAR_OUTCOME,
    SM_APPEND_PAR_REASON,
    SM_APPEND_PAR_ERROR,
    SM_APPEND_PAR_HTTP_STATUS,
    SM_APPEND_PAR_ANSWER,
    SM_APPEND_PAR_SPAN_ID
};


/* Reads the contract, whose columns are in the order of its table. */

static int
sm_sqlite_contract(sm_call_t *call, sqlite3_stmt *stmt, sm_begin_row_t *row)
{
    int                 i;
    char               *p;
    const sm_field_t   *f;
    sm_contract_row_t   stored;

    for (i = SM_BEGIN_COL_CONTRACT, f = sm_contract_fields; f->column; f++, i++)
    {
        p = (char *) &stored + f->offset;

        if (f->type == SM_FIELD_INT) {
            *(int64_t *) p = sqlite3_column_int64(stmt, i);

        } else if (sm_sqlite_text(call, stmt, i, (sm_str_t *) p) != 0) {
            return -1;
        }
    }

    return sm_store_contract(call, &stored, &row->contract, &row->refused);
}


/*
 * Decides what becomes of an intent, and sets the row.  With "expire" no
 * attempt begins: the intent either is past its deadline, even if no attempt
 * is due yet, or is early.
 */

static int
sm_sqlite_begin_look(sm_call_t *call, sqlite3_stmt *stmt, unsigned expire,
    sm_begin_row_t *row)
{
    int64_t   due_at;
    sm_str_t  payload;

    if (sm_status_by_name(sm_sqlite_peek(stmt, SM_BEGIN_COL_STATUS))
        != SM_STATUS_PENDING
        || sqlite3_column_type(stmt, SM_BEGIN_COL_NEXT_ATTEMPT_AT)
           == SQLITE_NULL
        || sqlite3_column_type(stmt, SM_BEGIN_COL_INFLIGHT_EPOCH)
           != SQLITE_NULL)
    {
        return 0;
    }

    due_at = sqlite3_column_int64(stmt, SM_BEGIN_COL_NEXT_ATTEMPT_AT);

    if (due_at > call->now && !expire) {
        row->outcome = SM_BEGIN_EARLY;
        row->due_at = due_at;
        return 0;
    }

    if (sm_sqlite_contract(call, stmt, row) != 0) {
        return -1;
    }

    /*
     * The contract is of a newer version, so the intent is left to a newer
     * module and counts as gone.
     */

    if (sqlite3_column_int64(stmt, SM_BEGIN_COL_VERSION)
        > SM_CONTRACT_VERSION)
    {
        row->newer = 1;
        return 0;
    }

    row->created_at = sqlite3_column_int64(stmt, SM_BEGIN_COL_CREATED_AT);
    row->number = sqlite3_column_int64(stmt, SM_BEGIN_COL_ATTEMPT_COUNT) + 1;

    if (sqlite3_column_int(stmt, SM_BEGIN_COL_EXPIRED)) {
        row->outcome = SM_BEGIN_EXPIRED;
        return 0;
    }

    if (expire) {
        row->outcome = SM_BEGIN_EARLY;
        row->due_at = due_at;
        return 0;
    }

    if (sm_sqlite_text(call, stmt, SM_BEGIN_COL_TRACEPARENT,
                       &row->trace.parent)
        != 0
        || sm_sqlite_text(call, stmt, SM_BEGIN_COL_TRACESTATE,
                          &row->trace.state)
           != 0)
    {
        return -1;
    }

    payload.data = sqlite3_column_blob(stmt, SM_BEGIN_COL_PAYLOAD);
    payload.len = sqlite3_column_bytes(stmt, SM_BEGIN_COL_PAYLOAD);

    if ((payload.data == NULL && payload.len)
        || sm_arena_strdup(&call->arena, &row->payload, payload) != 0)
    {
        return sm_call_no_memory(call);
    }

    row->outcome = SM_BEGIN_BEGUN;
    row->due_at = due_at;

    return 0;
}


static int
sm_sqlite_begin_row(sm_sqlite_t *sq, sm_call_t *call, unsigned expire,
    sm_begin_row_t *row)
{
    int            rc;
    int64_t        rowid;
    unsigned       which;
    sqlite3_stmt  *stmt;

    sm_begin_rows_init(row, 1);

    rowid = 0;
    stmt = sq->stmts[SM_SQLITE_ATTEMPT_GET];

    sm_sqlite_bind_text(stmt, ":intent_id", row->id);

    rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW) {
        rowid = sqlite3_column_int64(stmt, SM_BEGIN_COL_ROWID);
        (void) sm_sqlite_begin_look(call, stmt, expire, row);
    }

    /* The reset also reports errors from reading columns. */

    if (sqlite3_reset(stmt) != SQLITE_OK && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    if (call->status != SM_STORE_OK) {
        return -1;
    }

    switch (row->outcome) {
    case SM_BEGIN_BEGUN:
        which = SM_SQLITE_ATTEMPT_MARK;
        break;
    case SM_BEGIN_EXPIRED:
        which = SM_SQLITE_ATTEMPT_EXPIRE;
        break;
    default:

        if (!row->newer) {
            return 0;
        }

        which = SM_SQLITE_ATTEMPT_NOTE;
        sm_sqlite_bind_text(sq->stmts[which], ":error", row->refused);
    }

    sm_sqlite_bind_int(sq->stmts[which], ":rowid", rowid);

    if (sm_sqlite_run(sq, call, which) != 0) {
        return -1;
    }

    if (which == SM_SQLITE_ATTEMPT_NOTE && sqlite3_changes(sq->db) == 0) {

        /* The reason was noted before, so it is not reported again. */

        memset(&row->refused, 0, sizeof(sm_str_t));
    }

    return row->outcome == SM_BEGIN_EXPIRED && row->contract.notify.len
           ? sm_sqlite_ended(sq, call, row->id) : 0;
}


static int
sm_sqlite_begin(sm_sqlite_t *sq, sm_call_t *call, const sm_fence_t *fence,
    unsigned expire, sm_begin_row_t *rows, size_t n)
{
    size_t         i;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_ATTEMPT_GET];
    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_int(stmt, ":now", call->now);

    stmt = sq->stmts[SM_SQLITE_ATTEMPT_MARK];
    sm_sqlite_bind_int(stmt, ":lease_epoch", fence->epoch);
    sm_sqlite_bind_text(stmt, ":holder_id", fence->holder);
    sm_sqlite_bind_int(stmt, ":now", call->now);

    stmt = sq->stmts[SM_SQLITE_ATTEMPT_EXPIRE];
    sm_sqlite_bind_int(stmt, ":now", call->now);

    for (i = 0; i < n; i++) {
        if (sm_sqlite_begin_row(sq, call, expire, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}


/* Takes an attempt back that was begun but not sent. */

static int
sm_sqlite_return(sm_sqlite_t *sq, sm_call_t *call, sm_complete_row_t *row)
{
    int            rc;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_ATTEMPT_RETURN];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":intent_id", row->id);
    sm_sqlite_bind_int(stmt, ":attempt_number", row->number);
    sm_sqlite_bind_int(stmt, ":lease_epoch", row->epoch);
    sm_sqlite_bind_text(stmt, ":holder_id", row->holder);
    sm_sqlite_bind_int(stmt, ":now", call->now);
    sm_sqlite_bind_int(stmt, ":delay", row->delay * 1000);
    sm_sqlite_bind_text(stmt, ":error", row->error);
    sm_sqlite_bind_int(stmt, ":held", row->held);

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        row->applied = 1;
        row->next_attempt_at = sqlite3_column_int64(stmt, 0);
    }

    if (rc != SQLITE_DONE) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return rc == SQLITE_DONE ? 0 : -1;
}


static int
sm_sqlite_append(sm_sqlite_t *sq, sm_call_t *call, const sm_complete_row_t *row)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_ATTEMPT_APPEND];

    sm_sqlite_bind_nth(stmt, SM_APPEND_PAR_LEASE_NAME,
                       sq->sql.conf->lease_name);
    sm_sqlite_bind_nth(stmt, SM_APPEND_PAR_INTENT_ID, row->id);
    (void) sqlite3_bind_int64(stmt, SM_APPEND_PAR_NUMBER, row->number);
    (void) sqlite3_bind_int64(stmt, SM_APPEND_PAR_EPOCH, row->epoch);
    sm_sqlite_bind_nth(stmt, SM_APPEND_PAR_HOLDER, row->holder);
    (void) sqlite3_bind_int64(stmt, SM_APPEND_PAR_STARTED_AT, row->started_at);
    (void) sqlite3_bind_int64(stmt, SM_APPEND_PAR_FINISHED_AT,
                              row->finished_at);
    sm_sqlite_bind_nth(stmt, SM_APPEND_PAR_OUTCOME,
                       sm_outcome_name(row->outcome));
    sm_sqlite_bind_nth(stmt, SM_APPEND_PAR_REASON, row->reason);
    sm_sqlite_bind_nth(stmt, SM_APPEND_PAR_ERROR, row->error);
    sm_sqlite_bind_nth(stmt, SM_APPEND_PAR_ANSWER, row->answer);
    sm_sqlite_bind_nth(stmt, SM_APPEND_PAR_SPAN_ID, row->span_id);

    if (row->http_status) {
        (void) sqlite3_bind_int64(stmt, SM_APPEND_PAR_HTTP_STATUS,
                                  row->http_status);

    } else {
        (void) sqlite3_bind_null(stmt, SM_APPEND_PAR_HTTP_STATUS);
    }

    return sm_sqlite_run(sq, call, SM_SQLITE_ATTEMPT_APPEND);
}


static int
sm_sqlite_complete_row(sm_sqlite_t *sq, sm_call_t *call,
    sm_complete_row_t *row)
{
    int64_t        next_attempt_at;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_ATTEMPT_COMPLETE];

    sm_sqlite_bind_nth(stmt, SM_COMPLETE_PAR_STATUS,
                       sm_status_name(row->status));
    sm_sqlite_bind_nth(stmt, SM_COMPLETE_PAR_OUTCOME,
                       sm_outcome_name(row->outcome));
    sm_sqlite_bind_nth(stmt, SM_COMPLETE_PAR_REASON, row->reason);
    sm_sqlite_bind_nth(stmt, SM_COMPLETE_PAR_EXHAUSTED,
                       sm_exhausted_name(row->exhausted));
    sm_sqlite_bind_nth(stmt, SM_COMPLETE_PAR_ERROR, row->error);
    (void) sqlite3_bind_int64(stmt, SM_COMPLETE_PAR_NUMBER, row->number);
    (void) sqlite3_bind_int64(stmt, SM_COMPLETE_PAR_NOW, call->now);
    sm_sqlite_bind_nth(stmt, SM_COMPLETE_PAR_LEASE_NAME,
                       sq->sql.conf->lease_name);
    sm_sqlite_bind_nth(stmt, SM_COMPLETE_PAR_INTENT_ID, row->id);
    (void) sqlite3_bind_int64(stmt, SM_COMPLETE_PAR_EPOCH, row->epoch);
    sm_sqlite_bind_nth(stmt, SM_COMPLETE_PAR_HOLDER, row->holder);

    if (row->status == SM_STATUS_PENDING) {
        next_attempt_at = call->now + row->delay * 1000;

        (void) sqlite3_bind_null(stmt, SM_COMPLETE_PAR_COMPLETED_AT);
        (void) sqlite3_bind_int64(stmt, SM_COMPLETE_PAR_NEXT_ATTEMPT_AT,
                                  next_attempt_at);

    } else {
        next_attempt_at = 0;

        (void) sqlite3_bind_int64(stmt, SM_COMPLETE_PAR_COMPLETED_AT,
                                  call->now);
        (void) sqlite3_bind_null(stmt, SM_COMPLETE_PAR_NEXT_ATTEMPT_AT);
    }

    if (sm_sqlite_run(sq, call, SM_SQLITE_ATTEMPT_COMPLETE) != 0) {
        return -1;
    }

    if (sqlite3_changes(sq->db) == 0) {
        return 0;
    }

    row->applied = 1;
    row->next_attempt_at = next_attempt_at;

    if (row->status != SM_STATUS_PENDING && !row->untold
        && sm_sqlite_ended(sq, call, row->id) != 0)
    {
        return -1;
    }

    return sm_sqlite_append(sq, call, row);
}


static int
sm_sqlite_complete(sm_sqlite_t *sq, sm_call_t *call, sm_complete_row_t *rows,
    size_t n)
{
    int     rc;
    size_t  i;

    for (i = 0; i < n; i++) {
        rows[i].applied = 0;
        rows[i].next_attempt_at = 0;

        rc = rows[i].outcome == SM_OUTCOME_NONE
             ? sm_sqlite_return(sq, call, &rows[i])
             : sm_sqlite_complete_row(sq, call, &rows[i]);

        if (rc != 0) {
            return -1;
        }
    }

    return 0;
}


int
sm_sqlite_attempts_turn(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *ended, size_t nended,
    sm_begin_row_t *due, size_t ndue)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if (sm_sqlite_fence(sq, call, fence) != 0
        || sm_sqlite_complete(sq, call, ended, nended) != 0
        || sm_sqlite_begin(sq, call, fence, 0, due, ndue) != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}


int
sm_sqlite_attempts_expire(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if (sm_sqlite_fence(sq, call, fence) != 0
        || sm_sqlite_begin(sq, call, fence, 1, rows, n) != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}
