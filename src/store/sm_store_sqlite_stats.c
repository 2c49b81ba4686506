
/*
 * The leader's numbers in SQLite, and the backlog where there is no leader.
 */

#include "sm_store_sqlite.h"


/* the columns of stats_get.sql */

enum {
    SM_STATS_COL_EPOCH = 0,
    SM_STATS_COL_AT,
    SM_STATS_COL_DOC
};


/* the columns of backlog_get.sql */

enum {
    SM_BACKLOG_COL_SEEN = 0,
    SM_BACKLOG_COL_TARGET,
    SM_BACKLOG_COL_DUE,
    SM_BACKLOG_COL_WAITING,
    SM_BACKLOG_COL_OLDEST
};


int
sm_sqlite_stats_put(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_str_t doc)
{
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if (sm_sqlite_fence(sq, call, fence) != 0) {
        return sm_sqlite_rollback(sq);
    }

    stmt = sq->stmts[SM_SQLITE_STATS_PUT];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_int(stmt, ":lease_epoch", fence->epoch);
    sm_sqlite_bind_int(stmt, ":now", call->now);
    sm_sqlite_bind_text(stmt, ":stats", doc);

    if (sm_sqlite_run(sq, call, SM_SQLITE_STATS_PUT) != 0) {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}


int
sm_sqlite_stats_get(sm_conn_t *conn, sm_call_t *call, sm_stats_row_t *row)
{
    int            rc;
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    row->at = 0;
    row->epoch = 0;
    memset(&row->doc, 0, sizeof(sm_str_t));

    sm_sqlite_start_call(sq);

    stmt = sq->stmts[SM_SQLITE_STATS_GET];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_int(stmt, ":seen", row->seen);

    rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW) {
        row->epoch = sqlite3_column_int64(stmt, SM_STATS_COL_EPOCH);
        row->at = sqlite3_column_int64(stmt, SM_STATS_COL_AT);

        (void) sm_sqlite_text(call, stmt, SM_STATS_COL_DOC, &row->doc);
    }

    /* also what went wrong when a column was read */

    if (sqlite3_reset(stmt) != SQLITE_OK && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    return call->status == SM_STORE_OK ? 0 : -1;
}


static int
sm_sqlite_backlog_row(sm_call_t *call, sqlite3_stmt *stmt,
    sm_backlog_t *backlog)
{
    sm_backlog_target_t  *t;

    if (sqlite3_column_int64(stmt, SM_BACKLOG_COL_SEEN) > SM_BACKLOG_BOUND) {
        backlog->partial = 1;
    }

    t = &backlog->targets[backlog->n];

    t->due = sqlite3_column_int64(stmt, SM_BACKLOG_COL_DUE);
    t->waiting = sqlite3_column_int64(stmt, SM_BACKLOG_COL_WAITING);
    t->oldest_due_at = t->due
                       ? sqlite3_column_int64(stmt, SM_BACKLOG_COL_OLDEST) : 0;

    backlog->n++;

    return sm_sqlite_text(call, stmt, SM_BACKLOG_COL_TARGET, &t->target);
}


int
sm_sqlite_backlog_get(sm_conn_t *conn, sm_call_t *call, sm_backlog_t *backlog)
{
    int            rc;
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    memset(backlog, 0, sizeof(sm_backlog_t));

    sm_sqlite_start_call(sq);

    backlog->targets = sm_arena_calloc(&call->arena, SM_BACKLOG_GROUPS,
                                       sizeof(sm_backlog_target_t));
    if (backlog->targets == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    if (sm_sqlite_now(sq, call, &backlog->now) != 0) {
        return -1;
    }

    stmt = sq->stmts[SM_SQLITE_BACKLOG];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_int(stmt, ":bound", SM_BACKLOG_BOUND);
    sm_sqlite_bind_int(stmt, ":groups", SM_BACKLOG_GROUPS);
    sm_sqlite_bind_int(stmt, ":now", backlog->now);

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (sm_sqlite_backlog_row(call, stmt, backlog) != 0) {
            break;
        }
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}
