
/*
 * The leader's statistics in SQLite, and the backlog for when there is no
 * leader.
 */

#include "sm_store_sqlite.h"


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

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_int(stmt, ":lease_epoch", fence->epoch);
    sm_sqlite_bind_int(stmt, ":now", call->now);
    sm_sqlite_bind_text(stmt, ":stats", doc);

    if (sm_sqlite_run(sq, call, SM_SQLITE_STATS_PUT) != 0) {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}
