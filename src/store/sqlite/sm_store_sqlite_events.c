
/* The events of webhooks in SQLite. */

#include "sm_store_sqlite.h"


int
sm_sqlite_ended(sm_sqlite_t *sq, sm_call_t *call, sm_str_t id)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_INTENT_ENDED];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":intent_id", id);

    return sm_sqlite_run(sq, call, SM_SQLITE_INTENT_ENDED);
}
