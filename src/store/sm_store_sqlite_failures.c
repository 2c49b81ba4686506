
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
    SM_FAILURES_NEWEST_AT,
    SM_FAILURES_ID,
    SM_FAILURES_SEEN
};


static int
sm_sqlite_failure(sm_call_t *call, sqlite3_stmt *stmt, sm_failure_t *f)
{
    if (f->nids == 0) {
        f->count = sqlite3_column_int64(stmt, SM_FAILURES_COUNT);
        f->newest_at = sqlite3_column_int64(stmt, SM_FAILURES_NEWEST_AT);

        if (sm_sqlite_text(call, stmt, SM_FAILURES_TARGET, &f->target) != 0
            || sm_sqlite_text(call, stmt, SM_FAILURES_STATUS, &f->status) != 0
            || sm_sqlite_text(call, stmt, SM_FAILURES_REASON, &f->reason) != 0
            || sm_sqlite_text(call, stmt, SM_FAILURES_ERROR, &f->last_error)
               != 0)
        {
            return -1;
        }
    }

    return f->nids == SM_FAILURES_IDS
           ? 0 : sm_sqlite_text(call, stmt, SM_FAILURES_ID, &f->ids[f->nids++]);
}


int
sm_sqlite_failures_get(sm_conn_t *conn, sm_call_t *call,
    sm_failures_row_t *row)
{
    int            rc;
    int64_t        last;
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sm_failure_t  *f;
    sqlite3_stmt  *stmt;

    sm_sqlite_start_call(sq);

    row->n = 0;
    row->partial = 0;
    row->failures = sm_arena_calloc(&call->arena, SM_FAILURES_GROUPS,
                                    sizeof(sm_failure_t));
    if (row->failures == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[SM_SQLITE_FAILURES];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":target", row->target);
    sm_sqlite_bind_int(stmt, ":since", row->since);
    sm_sqlite_bind_int(stmt, ":bound", SM_FAILURES_BOUND);
    sm_sqlite_bind_int(stmt, ":groups", SM_FAILURES_GROUPS);

    last = 0;

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {

        if (sqlite3_column_int64(stmt, SM_FAILURES_SEEN) > SM_FAILURES_BOUND) {
            row->partial = 1;
        }

        f = sm_failures_next(row, sqlite3_column_int64(stmt,
                                                       SM_FAILURES_NUMBER),
                             &last);

        if (f && sm_sqlite_failure(call, stmt, f) != 0) {
            break;
        }
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}
