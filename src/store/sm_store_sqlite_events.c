
/*
 * The events of an intent, in SQLite.
 */

#include "sm_store_sqlite.h"


int
sm_sqlite_ended(sm_sqlite_t *sq, sm_call_t *call, sm_str_t id)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_INTENT_ENDED];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":intent_id", id);

    return sm_sqlite_run(sq, call, SM_SQLITE_INTENT_ENDED);
}


/* the columns of intent_events.sql */

enum {
    SM_EVENT_COL_ID = 0,
    SM_EVENT_COL_TARGET,
    SM_EVENT_COL_STATUS,
    SM_EVENT_COL_CREATED_AT,
    SM_EVENT_COL_ATTEMPT_COUNT,
    SM_EVENT_COL_NEXT_ATTEMPT_AT,
    SM_EVENT_COL_COMPLETED_AT,
    SM_EVENT_COL_LAST_ERROR
};


static int
sm_sqlite_event(sm_call_t *call, sqlite3_stmt *stmt, sm_event_t *event)
{
    event->status = sm_status_by_name(sm_sqlite_peek(stmt,
                                                     SM_EVENT_COL_STATUS));
    event->created_at = sqlite3_column_int64(stmt, SM_EVENT_COL_CREATED_AT);
    event->attempt_count = sqlite3_column_int64(stmt,
                                                SM_EVENT_COL_ATTEMPT_COUNT);
    event->next_attempt_at = sqlite3_column_int64(stmt,
                                                 SM_EVENT_COL_NEXT_ATTEMPT_AT);
    event->completed_at = sqlite3_column_int64(stmt,
                                               SM_EVENT_COL_COMPLETED_AT);

    if (sm_sqlite_text(call, stmt, SM_EVENT_COL_ID, &event->id) != 0
        || sm_sqlite_text(call, stmt, SM_EVENT_COL_TARGET, &event->target) != 0
        || sm_sqlite_text(call, stmt, SM_EVENT_COL_LAST_ERROR,
                          &event->last_error)
           != 0)
    {
        return -1;
    }

    return 0;
}


int
sm_sqlite_intent_events(sm_conn_t *conn, sm_call_t *call,
    sm_events_row_t *row)
{
    int            rc;
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    sm_sqlite_start_call(sq);

    row->n = 0;

    row->events = sm_arena_calloc(&call->arena, SM_EVENTS_MAX,
                                  sizeof(sm_event_t));
    if (row->events == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[SM_SQLITE_EVENTS];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":intent_id", row->id);
    sm_sqlite_bind_int(stmt, ":limit", SM_EVENTS_MAX);

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (sm_sqlite_event(call, stmt, &row->events[row->n++]) != 0) {
            break;
        }
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}
