
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

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_int(stmt, ":at", now);
    sm_sqlite_bind_text(stmt, ":actor", actor->name);
    sm_sqlite_bind_text(stmt, ":address", actor->address);
    sm_sqlite_bind_text(stmt, ":action", sm_str_c(action));
    sm_sqlite_bind_text(stmt, ":object", object);
    sm_sqlite_bind_text(stmt, ":detail", detail);

    return sm_sqlite_run(sq, call, SM_SQLITE_AUDIT_ADD);
}
