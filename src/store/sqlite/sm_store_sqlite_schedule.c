
/*
 * Schedules in SQLite.
 */

#include "sm_store_sqlite.h"


static unsigned
sm_sqlite_schedule_statement(const sm_schedule_write_t *write)
{
    switch (write->action) {

    case SM_SCHEDULE_PUT:
        return write->revision ? SM_SQLITE_SCHEDULE_UPDATE
                               : SM_SQLITE_SCHEDULE_INSERT;

    case SM_SCHEDULE_DELETE:
        return SM_SQLITE_SCHEDULE_DELETE;

    default:
        return SM_SQLITE_SCHEDULE_STATE;
    }
}


static void
sm_sqlite_bind_some(sqlite3_stmt *stmt, const char *name, int64_t value)
{
    if (value) {
        sm_sqlite_bind_int(stmt, name, value);

    } else {
        (void) sqlite3_bind_null(stmt,
                                 sqlite3_bind_parameter_index(stmt, name));
    }
}


/*
 * Binds all parameters by name.  A parameter that the statement does not have
 * gets the index 0, and binding that has no effect.
 */

static int
sm_sqlite_schedule_change(sm_sqlite_t *sq, sm_call_t *call,
    sm_schedule_write_t *write)
{
    int                   n;
    unsigned              which;
    sqlite3_stmt         *stmt;
    const sm_schedule_t  *schedule;

    schedule = write->schedule;
    which = sm_sqlite_schedule_statement(write);
    stmt = sq->stmts[which];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":schedule_id", schedule->id);
    sm_sqlite_bind_int(stmt, ":revision", write->revision);
    sm_sqlite_bind_int(stmt, ":now", call->now);
    sm_sqlite_bind_text(stmt, ":action",
                        sm_store_schedule_action(write->action));
    sm_sqlite_bind_text(stmt, ":submission_target", schedule->target);
    sm_sqlite_bind_text(stmt, ":body", schedule->body);
    sm_sqlite_bind_text(stmt, ":payload_hash", schedule->hash);
    sm_sqlite_bind_text(stmt, ":source",
                        sm_str_c(schedule->configured ? "configuration"
                                                      : "api"));
    sm_sqlite_bind_some(stmt, ":next_run_at", schedule->next_run_at);
    sm_sqlite_bind_text(stmt, ":reason", schedule->pause_reason);
    sm_sqlite_bind_text(stmt, ":actor", write->actor->name);

    n = sqlite3_bind_parameter_index(stmt, ":payload");

    if (n) {
        (void) sqlite3_bind_blob64(stmt, n,
                                   schedule->payload.len
                                   ? schedule->payload.data : "",
                                   schedule->payload.len, SQLITE_STATIC);
    }

    if (sm_sqlite_run(sq, call, which) != 0) {
        return -1;
    }

    write->done = sqlite3_changes(sq->db) != 0;

    if (!write->done || write->action == SM_SCHEDULE_RETRY) {
        return 0;
    }

    return sm_sqlite_audit(sq, call, call->now, write->actor,
                           sm_store_schedule_audit(write->action), schedule->id,
                           write->detail);
}


/*
 * Begins a transaction, and checks the fence if there is one.  The call's time
 * is read in the transaction.
 */

static int
sm_sqlite_schedule_begin(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if ((fence ? sm_sqlite_fence(sq, call, fence)
               : sm_sqlite_now(sq, call, &call->now))
        != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return 0;
}


int
sm_sqlite_schedule_write(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_write_t *write)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    write->done = 0;

    if (sm_sqlite_schedule_begin(conn, call, fence) != 0) {
        return -1;
    }

    if (sm_sqlite_schedule_change(sq, call, write) != 0) {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}


static int
sm_sqlite_schedule_fire(sm_sqlite_t *sq, sm_call_t *call,
    sm_schedule_fire_t *row)
{
    sqlite3_stmt         *stmt;
    const sm_schedule_t  *schedule;

    schedule = row->schedule;
    stmt = sq->stmts[SM_SQLITE_SCHEDULE_FIRE];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":schedule_id", schedule->id);
    sm_sqlite_bind_int(stmt, ":revision", schedule->revision);
    sm_sqlite_bind_int(stmt, ":now", call->now);
    sm_sqlite_bind_some(stmt, ":planned",
                        row->actor ? 0 : schedule->next_run_at);
    sm_sqlite_bind_some(stmt, ":next", row->due.next * 1000000);
    sm_sqlite_bind_some(stmt, ":last", row->last * 1000000);
    sm_sqlite_bind_text(stmt, ":last_intent", row->last_intent);
    sm_sqlite_bind_int(stmt, ":fired", row->due.n);
    sm_sqlite_bind_int(stmt, ":skipped", row->due.skipped);
    sm_sqlite_bind_int(stmt, ":missed", row->due.missed);
    sm_sqlite_bind_text(stmt, ":error", row->error);

    if (sm_sqlite_run(sq, call, SM_SQLITE_SCHEDULE_FIRE) != 0) {
        return -1;
    }

    row->done = sqlite3_changes(sq->db) != 0;

    if (!row->done) {
        return 0;
    }

    if (row->due.n && sm_sqlite_submit(sq, call, row->intents, row->due.n) != 0)
    {
        return -1;
    }

    return row->actor
           ? sm_sqlite_audit(sq, call, call->now, row->actor, "schedule_run",
                             schedule->id, row->detail)
           : 0;
}


int
sm_sqlite_schedules_fire(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_fire_t *rows, size_t n)
{
    size_t        i;
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].done = 0;
    }

    if (sm_sqlite_schedule_begin(conn, call, fence) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (sm_sqlite_schedule_fire(sq, call, &rows[i]) != 0) {
            return sm_sqlite_rollback(sq);
        }
    }

    return sm_sqlite_commit(sq, call);
}
