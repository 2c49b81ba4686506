
/*
 * Inside the ODBC back end: its connection, and what its operations are
 * written with.  See sm_store_odbc.c.
 */

#ifndef SM_STORE_ODBC_H
#define SM_STORE_ODBC_H


#include <sys/types.h>

#include <sql.h>
#include <sqlext.h>

#include "sm_store_server.h"


#define SM_ODBC_TEXT_MAX  2048          /* UTF-16 units of a column */
#define SM_ODBC_LATE      1000          /* ms; so long a server may be late */


/* a procedure, prepared, and the buffers of its columns */

typedef struct {
    SQLHSTMT                stmt;
    int64_t                 timeout;        /* milliseconds */
    unsigned                bound;
    SQLWCHAR               *texts;
    SQLWCHAR               *text[SM_SQL_COLUMNS];   /* of the column */
    int64_t                 ints[SM_SQL_COLUMNS];
    SQLLEN                  lens[SM_SQL_COLUMNS];
} sm_odbc_stmt_t;


/* what ends a call that the driver does not; see sm_store_odbc_watch.c */

typedef struct sm_odbc_watch_s  sm_odbc_watch_t;

struct sm_odbc_watch_s {
    sm_odbc_watch_t       **prev;           /* NULL: it is not watched */
    sm_odbc_watch_t        *next;
    unsigned                depth;
    int                     fd;             /* -1: it is not known */
    int64_t                 ms;
    int64_t                 deadline;
    unsigned                cut;            /* it was too late */
};


/* what a driver is by its name in the connection string */

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
    unsigned                ready;          /* the schema is the one */

    /* of the parameters that are bound */
    SQLLEN                  lens[SM_SQL_PARAMS];

    sm_odbc_stmt_t          stmts[SM_PROCS];
} sm_odbc_t;


/* sm_store_odbc_error.c */

/* sets the call's error from the handle's, returns -1 */
int sm_odbc_fail(sm_odbc_t *od, sm_call_t *call, SQLSMALLINT type,
    SQLHANDLE handle);

/* the class of an error; "ready": the schema was there before */
sm_store_class_e sm_odbc_class(const char *state, int native, unsigned ready);


/* sm_store_odbc_call.c */

extern const sm_sql_driver_t  sm_odbc_driver;

void sm_odbc_free_stmts(sm_odbc_t *od);


/*
 * sm_store_odbc_watch.c: for as long as a connection is there; between _start()
 * and _stop() the driver may take so long, and a second more.  They nest, and
 * the first counts.
 */

void sm_odbc_watch_open(sm_odbc_watch_t *w);
void sm_odbc_watch_close(sm_odbc_watch_t *w);
void sm_odbc_watch_connected(sm_odbc_watch_t *w, SQLHDBC dbc);
void sm_odbc_watch_start(sm_odbc_watch_t *w, int64_t ms);
void sm_odbc_watch_stop(sm_odbc_watch_t *w);


/* sm_store_odbc_string.c */

sm_odbc_driver_e sm_odbc_driver_of(sm_str_t connection);

/* the string with the password, in the arena; NULL: no memory */
SQLCHAR *sm_odbc_string(sm_arena_t *arena, const sm_store_conf_t *conf);


/* sm_store_odbc_utf16.c */

/* UTF-16 in the arena; what is not UTF-8 becomes U+FFFD */
SQLWCHAR *sm_odbc_utf16(sm_arena_t *arena, sm_str_t s, size_t *len);

/* UTF-8 in the arena, likewise; -1: no memory */
int sm_odbc_utf8(sm_arena_t *arena, const SQLWCHAR *text, size_t len,
    sm_str_t *s);


#endif /* SM_STORE_ODBC_H */
