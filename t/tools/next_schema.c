
/*
 * To be preloaded into nginx: the module is of the made-up version 2 of the schema
 * on SQLite (t/schema), and migrates a file of version 1.  Built with that release's
 * sm_sqlite_sql.h.
 */

#include "sm_sqlite_sql.h"
#include "sm_store_sqlite.h"


static const sm_sqlite_release_t  next_release = {
    2, sm_sqlite_sql_schema, sm_sqlite_sql_migrations
};

const sm_sqlite_release_t  *sm_sqlite_release = &next_release;
