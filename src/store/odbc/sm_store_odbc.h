
/*
 * The internal header of the ODBC back end: its connection, and the helpers of
 * its operations.  See sm_store_odbc.c.
 */

#ifndef SM_STORE_ODBC_H
#define SM_STORE_ODBC_H


#include <sys/types.h>

#include <sql.h>
#include <sqlext.h>

#include "sm_store_server.h"


#define SM_ODBC_TEXT_MAX  4000          /* UTF-16 units; the most of NVARCHAR */
#define SM_ODBC_LATE      1000          /* ms that a server may be late */


/* A prepared procedure, and the buffers of its columns. */

typedef struct {
    SQLHSTMT                stmt;
    int64_t                 timeout;        /* milliseconds */
    unsigned                bound;
    SQLWCHAR               *texts;
    SQLWCHAR               *text[SM_SQL_COLUMNS];   /* one buffer per column */
    int64_t                 ints[SM_SQL_COLUMNS];
    SQLLEN                  lens[SM_SQL_COLUMNS];
} sm_odbc_stmt_t;


/* Ends a call that the driver does not end in time: sm_store_odbc_watch.c. */

typedef struct sm_odbc_watch_s  sm_odbc_watch_t;

struct sm_odbc_watch_s {
    sm_odbc_watch_t       **prev;           /* NULL: it is not in the list */
    sm_odbc_watch_t        *next;
    unsigned                depth;
    int                     fd;             /* -1: the socket is not known */
    int64_t                 ms;
    int64_t                 deadline;
    unsigned                cut;            /* the socket was shut down */
};


/* The driver, as named in the connection string. */

typedef enum {
    SM_ODBC_DRIVER_OTHER = 0,
    SM_ODBC_DRIVER_FREETDS,
    SM_ODBC_DRIVER_MICROSOFT,
    SM_ODBC_DRIVER_COUNT
} sm_odbc_driver_e;


typedef struct {
    sm_sql_t             sql;
    sm_odbc_watch_t         watch;
    SQLHDBC                 dbc;
    unsigned                connected;
    unsigned                ready;          /* the schema was checked */

    /* The lengths of the bound parameters. */
    SQLLEN                  lens[SM_SQL_PARAMS];

    sm_odbc_stmt_t          stmts[SM_PROCS];
} sm_odbc_t;


/* sm_store_odbc_error.c */

/* Sets the call's error from the handle's diagnostics, and returns -1. */
int sm_odbc_fail(sm_odbc_t *od, sm_call_t *call, SQLSMALLINT type,
    SQLHANDLE handle);

/*
 * Returns the class of an error.  "ready" says that this connection has found
 * the schema before.
 */
sm_store_class_e sm_odbc_class(const char *state, int native, unsigned ready);


/* sm_store_odbc_call.c */

extern const sm_sql_driver_t  sm_odbc_driver;

void sm_odbc_free_stmts(sm_odbc_t *od);


/*
 * sm_store_odbc_watch.c: a connection is watched from _open() to _close().
 * Between _start() and _stop() the driver may take "ms", and a second more.
 * Pairs may nest; only the outermost _start() counts.
 */

void sm_odbc_watch_open(sm_odbc_watch_t *w);
void sm_odbc_watch_close(sm_odbc_watch_t *w);
void sm_odbc_watch_connected(sm_odbc_watch_t *w, SQLHDBC dbc);
void sm_odbc_watch_start(sm_odbc_watch_t *w, int64_t ms);
void sm_odbc_watch_stop(sm_odbc_watch_t *w);


/* sm_store_odbc_string.c */

sm_odbc_driver_e sm_odbc_driver_of(sm_str_t connection);

/* Returns the connection string with the password, or NULL without memory. */
SQLCHAR *sm_odbc_string(sm_arena_t *arena, const sm_store_conf_t *conf);


/* sm_store_odbc_utf16.c */

/* Allocates UTF-16 in the arena.  Bytes that are not UTF-8 become U+FFFD. */
SQLWCHAR *sm_odbc_utf16(sm_arena_t *arena, sm_str_t s, size_t *len);

/*
 * Allocates UTF-8 in the arena.  Units that are not UTF-16 become U+FFFD.
 * Returns -1 without memory.
 */
int sm_odbc_utf8(sm_arena_t *arena, const SQLWCHAR *text, size_t len,
    sm_str_t *s);


#endif /* SM_STORE_ODBC_H */
