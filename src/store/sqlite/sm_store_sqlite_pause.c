
/*
 * Pauses of targets in SQLite.
 */

#include "sm_store_sqlite.h"


/* Reads the state of a target, and whether the store knows the target. */

static int
sm_sqlite_target_known(sm_sqlite_t *sq, sm_call_t *call, sm_target_set_t *row,
    unsigned *known)
{
    sm_str_t       paused = sm_str("paused");
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_TARGET_KNOWN];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":target", row->target);

    if (sqlite3_step(stmt) != SQLITE_ROW) {
        (void) sm_sqlite_fail(sq, call);
        (void) sqlite3_reset(stmt);
        return -1;
    }

    *known = sqlite3_column_int(stmt, 0) || sqlite3_column_int(stmt, 5);

    row->paused = sm_str_eq(sm_sqlite_peek(stmt, 1), paused);
    row->is.since = sqlite3_column_int64(stmt, 2);

    (void) (sm_sqlite_text(call, stmt, 3, &row->is.reason) == 0
            && sm_sqlite_text(call, stmt, 4, &row->is.actor) == 0);

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


static int
sm_sqlite_target_change(sm_sqlite_t *sq, sm_call_t *call, sm_target_set_t *row,
    int64_t now)
{
    unsigned       which;
    sm_str_t       detail;
    sqlite3_stmt  *stmt;

    which = row->pause ? SM_SQLITE_TARGET_PAUSE : SM_SQLITE_TARGET_RESUME;
    stmt = sq->stmts[which];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":target", row->target);
    sm_sqlite_bind_text(stmt, ":reason", row->reason);
    sm_sqlite_bind_text(stmt, ":actor", row->actor.name);
    sm_sqlite_bind_int(stmt, ":now", now);

    if (sm_sqlite_run(sq, call, which) != 0) {
        return -1;
    }

    row->outcome = sqlite3_changes(sq->db) ? SM_TARGET_SET_DONE
                                           : SM_TARGET_SET_SAME;

    if (row->outcome == SM_TARGET_SET_SAME) {
        return 0;
    }

    if (sm_pause_detail(&call->arena, row->reason, &detail) != 0) {
        return sm_call_no_memory(call);
    }

    return sm_sqlite_audit(sq, call, now, &row->actor,
                           row->pause ? "pause" : "resume", row->target,
                           detail);
}


static int
sm_sqlite_target(sm_sqlite_t *sq, sm_call_t *call, void *data, int64_t now)
{
    unsigned          known;
    sm_target_set_t  *row = data;

    row->outcome = SM_TARGET_SET_UNKNOWN;

    if (sm_sqlite_target_known(sq, call, row, &known) != 0) {
        return -1;
    }

    if (!row->known && !known) {
        return 0;
    }

    if (sm_sqlite_target_change(sq, call, row, now) != 0) {
        return -1;
    }

    return sm_sqlite_target_known(sq, call, row, &known);
}


int
sm_sqlite_target_set(sm_conn_t *conn, sm_call_t *call, sm_target_set_t *rows,
    size_t n)
{
    return sm_sqlite_rows(conn, call, rows, sizeof(sm_target_set_t), n,
                          sm_sqlite_target);
}
