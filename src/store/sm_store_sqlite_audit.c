
/*
 * The audit in SQLite.
 */

#include "sm_store_sqlite.h"


int
sm_sqlite_audit(sm_sqlite_t *sq, sm_call_t *call, int64_t now,
    const sm_actor_t *actor, const char *action, sm_str_t object,
    sm_str_t detail)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_AUDIT_ADD];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_int(stmt, ":at", now);
    sm_sqlite_bind_text(stmt, ":actor", actor->name);
    sm_sqlite_bind_text(stmt, ":address", actor->address);
    sm_sqlite_bind_text(stmt, ":action", sm_str_c(action));
    sm_sqlite_bind_text(stmt, ":object", object);
    sm_sqlite_bind_text(stmt, ":detail", detail);

    return sm_sqlite_run(sq, call, SM_SQLITE_AUDIT_ADD);
}


static int
sm_sqlite_audit_entry(sm_call_t *call, sqlite3_stmt *stmt, sm_audit_t *entry)
{
    entry->seq = sqlite3_column_int64(stmt, 0);
    entry->at = sqlite3_column_int64(stmt, 1);

    if (sm_sqlite_text(call, stmt, 2, &entry->actor) != 0
        || sm_sqlite_text(call, stmt, 3, &entry->address) != 0
        || sm_sqlite_text(call, stmt, 4, &entry->action) != 0
        || sm_sqlite_text(call, stmt, 5, &entry->object) != 0
        || sm_sqlite_text(call, stmt, 6, &entry->detail) != 0)
    {
        return -1;
    }

    return 0;
}


/*
 * With an actor and without an action, the pages of all actions of the actor
 * are merged; otherwise there is an index in the order of the page.
 */

static int
sm_sqlite_audit_page(sm_sqlite_t *sq, sm_call_t *call, sm_audit_row_t *row)
{
    int            rc;
    sqlite3_stmt  *stmt;

    row->n = 0;
    row->more = 0;

    row->entries = sm_arena_calloc(&call->arena, row->limit,
                                   sizeof(sm_audit_t));
    if (row->entries == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[row->actor.data ? SM_SQLITE_AUDIT_ACTOR
                                     : SM_SQLITE_AUDIT_LIST];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":action", row->action);
    sm_sqlite_bind_int(stmt, ":from", row->from);
    sm_sqlite_bind_int(stmt, ":to", row->to ? row->to : INT64_MAX);
    sm_sqlite_bind_int(stmt, ":at", row->after_seq ? row->after_at
                                                   : INT64_MAX);
    sm_sqlite_bind_int(stmt, ":seq", row->after_seq);
    sm_sqlite_bind_int(stmt, ":limit", row->limit + 1);

    if (row->actor.data) {
        sm_sqlite_bind_text(stmt, ":actor", row->actor);
    }

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {

        if (row->n == row->limit) {
            row->more = 1;
            rc = SQLITE_DONE;
            break;
        }

        if (sm_sqlite_audit_entry(call, stmt, &row->entries[row->n++]) != 0) {
            break;
        }
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


int
sm_sqlite_audit_list(sm_conn_t *conn, sm_call_t *call, sm_audit_row_t *rows,
    size_t n)
{
    size_t        i;
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    sm_sqlite_start_call(sq);

    for (i = 0; i < n; i++) {
        if (sm_sqlite_audit_page(sq, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}
