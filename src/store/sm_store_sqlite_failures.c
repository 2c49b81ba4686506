
/*
 * What has failed lately, in SQLite.
 */

#include "sm_store_sqlite.h"


/* the columns of failures_get.sql */

enum {
    SM_FAILURES_NUMBER = 0,
    SM_FAILURES_TARGET,
    SM_FAILURES_STATUS,
    SM_FAILURES_REASON,
    SM_FAILURES_ERROR,
    SM_FAILURES_COUNT,
    SM_FAILURES_AT,
    SM_FAILURES_ID,
    SM_FAILURES_SEEN
};


/* the strings of a group are those of its first piece */

static int
sm_sqlite_failure(sm_call_t *call, sqlite3_stmt *stmt,
    sm_failures_piece_t *piece)
{
    int64_t        number;
    sm_failure_t  *group;

    group = &piece->group;
    group->count = sqlite3_column_int64(stmt, SM_FAILURES_COUNT);

    piece->at = sqlite3_column_int64(stmt, SM_FAILURES_AT);
    piece->seen = sqlite3_column_int64(stmt, SM_FAILURES_SEEN);

    number = sqlite3_column_int64(stmt, SM_FAILURES_NUMBER);

    if (number != piece->number) {
        piece->number = number;

        if (sm_sqlite_text(call, stmt, SM_FAILURES_TARGET, &group->target) != 0
            || sm_sqlite_text(call, stmt, SM_FAILURES_STATUS, &group->status)
               != 0
            || sm_sqlite_text(call, stmt, SM_FAILURES_REASON, &group->reason)
               != 0
            || sm_sqlite_text(call, stmt, SM_FAILURES_ERROR,
                              &group->last_error)
               != 0)
        {
            return -1;
        }
    }

    return sm_sqlite_text(call, stmt, SM_FAILURES_ID, &piece->id);
}


int
sm_sqlite_failures_get(sm_conn_t *conn, sm_call_t *call,
    sm_failures_row_t *rows, size_t n)
{
    int                   rc;
    sm_sqlite_t          *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt         *stmt;
    sm_failures_piece_t   piece;

    sm_sqlite_start_call(sq);

    if (sm_failures_init(rows, n, &call->arena) != 0) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[SM_SQLITE_FAILURES];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":target", rows[0].target);
    sm_sqlite_bind_int(stmt, ":since", sm_failures_earliest(rows, n));
    sm_sqlite_bind_int(stmt, ":bound", SM_FAILURES_BOUND);
    sm_sqlite_bind_int(stmt, ":groups", SM_FAILURES_GROUPS);

    memset(&piece, 0, sizeof(sm_failures_piece_t));

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {

        if (sm_sqlite_failure(call, stmt, &piece) != 0) {
            break;
        }

        sm_failures_add(rows, n, &piece);
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}
