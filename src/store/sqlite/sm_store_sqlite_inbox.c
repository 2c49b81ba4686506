
/*
 * The inbox in SQLite.  Applications write to it in their own transactions, so
 * nothing is assumed here about the type or the size of a value.
 */

#include "sm_store_sqlite.h"


/* Creates the intents of rows that are valid and still in the inbox. */

static int
sm_sqlite_inbox_submit(sm_sqlite_t *sq, sm_call_t *call, sm_inbox_row_t *rows,
    size_t n, unsigned char *there)
{
    int               rc;
    size_t            i, k;
    sm_submit_row_t  *submit;

    submit = sm_arena_calloc(&call->arena, n, sizeof(sm_submit_row_t));
    if (submit == NULL) {
        return sm_call_no_memory(call);
    }

    for (i = 0, k = 0; i < n; i++) {

        sm_sqlite_bind_int(sq->stmts[SM_SQLITE_INBOX_HAS], ":seq",
                           rows[i].seq);

        rc = sm_sqlite_has(sq, call, SM_SQLITE_INBOX_HAS);
        if (rc == -1) {
            return -1;
        }

        there[i] = rc;

        if (there[i] && rows[i].reason.data == NULL) {
            submit[k++] = rows[i].submit;
        }
    }

    if (sm_sqlite_submit(sq, call, submit, k) != 0) {
        return -1;
    }

    for (i = 0, k = 0; i < n; i++) {
        if (there[i] && rows[i].reason.data == NULL) {
            rows[i].submit = submit[k++];
        }
    }

    return 0;
}


static int
sm_sqlite_inbox_refuse(sm_sqlite_t *sq, sm_call_t *call, sm_inbox_row_t *row,
    size_t max_payload)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_INBOX_REFUSE];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_int(stmt, ":seq", row->seq);
    sm_sqlite_bind_int(stmt, ":now", call->now);
    sm_sqlite_bind_int(stmt, ":max_payload", max_payload);
    sm_sqlite_bind_text(stmt, ":reason", row->reason);
    sm_sqlite_bind_text(stmt, ":detail", row->detail);

    return sm_sqlite_run(sq, call, SM_SQLITE_INBOX_REFUSE);
}


static int
sm_sqlite_inbox_end(sm_sqlite_t *sq, sm_call_t *call, sm_inbox_row_t *row,
    size_t max_payload)
{
    sqlite3_stmt   *stmt;
    sm_inbox_row_t  refused;

    /*
     * The row itself is not changed, because the batch may be written again,
     * in halves.
     */

    refused = *row;

    if (row->reason.data) {
        row->outcome = SM_INBOX_REFUSED;

    } else if (row->submit.outcome == SM_SUBMIT_CONFLICT) {
        sm_inbox_refuse_conflict(&refused);
        row->outcome = SM_INBOX_REFUSED;

    } else if (row->submit.outcome == SM_SUBMIT_RESERVED) {
        sm_inbox_refuse_reserved(&refused);
        row->outcome = SM_INBOX_REFUSED;

    } else if (row->submit.outcome == SM_SUBMIT_SAME) {
        row->outcome = SM_INBOX_SAME;

    } else if (row->submit.outcome == SM_SUBMIT_CREATED) {
        row->outcome = SM_INBOX_CREATED;

    } else {

        /* The store's clock was set back.  The row stays for the next page. */

        return 0;
    }

    if (row->outcome == SM_INBOX_REFUSED
        && sm_sqlite_inbox_refuse(sq, call, &refused, max_payload) != 0)
    {
        return -1;
    }

    stmt = sq->stmts[SM_SQLITE_INBOX_REMOVE];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_int(stmt, ":seq", row->seq);

    return sm_sqlite_run(sq, call, SM_SQLITE_INBOX_REMOVE);
}


static int
sm_sqlite_inbox_all(sm_sqlite_t *sq, sm_call_t *call, size_t max_payload,
    sm_inbox_row_t *rows, size_t n)
{
    size_t          i;
    unsigned char  *there;

    there = sm_arena_calloc(&call->arena, n, 1);
    if (there == NULL) {
        return sm_call_no_memory(call);
    }

    if (sm_sqlite_inbox_submit(sq, call, rows, n, there) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (there[i]
            && sm_sqlite_inbox_end(sq, call, &rows[i], max_payload) != 0)
        {
            return -1;
        }
    }

    return 0;
}


int
sm_sqlite_inbox_move(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, size_t max_payload, sm_inbox_row_t *rows,
    size_t n)
{
    size_t        i;
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].outcome = SM_INBOX_LEFT;
    }

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if (sm_sqlite_fence(sq, call, fence) != 0
        || sm_sqlite_inbox_all(sq, call, max_payload, rows, n) != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}
