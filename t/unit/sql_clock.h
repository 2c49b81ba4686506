#ifndef SQL_CLOCK_H
#define SQL_CLOCK_H

/*
 * A clock that the test sets, for SQL: all connections that are opened after
 * sql_clock_start() take the time from it, those of the store too.  On a
 * server, all that are made with new_call().
 */

#include "store.h"


#define START   1000000000000LL         /* 2001-09-09T01:46:40Z, in ms */
#define US      1000LL
#define HOUR    3600000


static int64_t  now_ms = START;
static int      sql_clock_opened;       /* so many connections */


static inline void
sql_clock_now(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void) argc;
    (void) argv;

    sqlite3_result_double(context, 2440587.5 + (double) now_ms / 86400000);
}


static inline int
sql_clock_set(sqlite3 *db, char **error, const void *api)
{
    (void) error;
    (void) api;

    sql_clock_opened++;

    return sqlite3_create_function(db, "julianday", -1, SQLITE_UTF8, NULL,
                                   sql_clock_now, NULL, NULL);
}


static inline void
sql_clock_start(void)
{
    must(sqlite3_auto_extension((void (*)(void)) sql_clock_set) == SQLITE_OK);

    server_now_ms = &now_ms;
}


/* a store at START, with "a" as its leader, for so many milliseconds */

static inline void
leader_open(fixture_t *f, int64_t duration)
{
    now_ms = START;
    fixture_open(f);
    lead(f, "a", duration, 1);
}


#endif /* SQL_CLOCK_H */
