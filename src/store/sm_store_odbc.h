
/*
 * Inside the ODBC back end: its connection, and what its operations are
 * written with.  See sm_store_odbc.c.
 */

#ifndef SM_STORE_ODBC_H
#define SM_STORE_ODBC_H


#include <sys/types.h>

#include <sql.h>
#include <sqlext.h>

#include "sm_store.h"


#define SM_ODBC_PARAMS    8
#define SM_ODBC_COLUMNS   24
#define SM_ODBC_TEXT_MAX  2048          /* UTF-16 units of a column */
#define SM_ODBC_LATE      1000          /* ms; so long a server may be late */


/* must be in the order of sm_odbc_procs */

enum {
    SM_ODBC_SCHEMA_VERSION = 0,
    SM_ODBC_PING,
    SM_ODBC_SUBMIT,
    SM_ODBC_GET,
    SM_ODBC_HISTORY,
    SM_ODBC_LIST,
    SM_ODBC_LEASE_ACQUIRE,
    SM_ODBC_LEASE_RENEW,
    SM_ODBC_LEASE_TAKEOVER,
    SM_ODBC_LEASE_RELEASE,
    SM_ODBC_LEASE_GET,
    SM_ODBC_CANDIDATE_HEARTBEAT,
    SM_ODBC_CANDIDATE_REMOVE,
    SM_ODBC_CLUSTER_GET,
    SM_ODBC_SCHEDULE_PAGE,
    SM_ODBC_ATTEMPTS_TURN,
    SM_ODBC_ATTEMPTS_IN_DOUBT,
    SM_ODBC_PROCS
};


typedef enum {
    SM_ODBC_OTHER = 0,
    SM_ODBC_POSTGRES,
    SM_ODBC_MSSQL
} sm_odbc_dialect_e;


/* a procedure, prepared, and the buffers of its columns */

typedef struct {
    SQLHSTMT                stmt;
    unsigned                bound;
    SQLWCHAR               *texts;
    int64_t                 ints[SM_ODBC_COLUMNS];
    SQLLEN                  lens[SM_ODBC_COLUMNS];
} sm_odbc_stmt_t;


/* what ends a call that the driver does not; see sm_store_odbc_watch.c */

#define SM_ODBC_WATCH_OTHERS  32

typedef struct sm_odbc_watch_s  sm_odbc_watch_t;

struct sm_odbc_watch_s {
    sm_odbc_watch_t       **prev;           /* NULL: it is not watched */
    sm_odbc_watch_t        *next;
    unsigned                depth;
    unsigned                port;
    int                     fd;             /* -1: not found yet */
    ino_t                   inode;
    ino_t                   others[SM_ODBC_WATCH_OTHERS];
    unsigned                nothers;
    int64_t                 ms;
    int64_t                 deadline;
    unsigned                cut;            /* it was too late */
};


typedef struct {
    sm_conn_t               conn;
    sm_odbc_watch_t         watch;
    const sm_store_conf_t  *conf;
    SQLHDBC                 dbc;
    unsigned                connected;
    sm_odbc_dialect_e       dialect;

    /* the procedure that is called */

    unsigned                proc;
    unsigned                n;              /* parameters so far */
    int64_t                 ints[SM_ODBC_PARAMS];
    SQLLEN                  lens[SM_ODBC_PARAMS];

    sm_odbc_stmt_t          stmts[SM_ODBC_PROCS];
} sm_odbc_t;


/* sm_store_odbc_error.c */

/* sets the call's error from the handle's, returns -1 */
int sm_odbc_fail(sm_odbc_t *od, sm_call_t *call, SQLSMALLINT type,
    SQLHANDLE handle);
int sm_odbc_no_memory(sm_call_t *call);

/* the class of an error */
sm_store_class_e sm_odbc_class(sm_odbc_dialect_e dialect, const char *state,
    int native);


/*
 * sm_store_odbc_call.c
 *
 * A call: sm_odbc_start(), the parameters in their order, sm_odbc_exec(),
 * sm_odbc_fetch() as long as it gives 1, and sm_odbc_end() in any case.  What
 * fails leaves the call's status, and what follows does nothing then.
 */

void sm_odbc_start(sm_odbc_t *od, sm_call_t *call, unsigned proc);

/* a string without data is NULL */
void sm_odbc_put_text(sm_odbc_t *od, sm_call_t *call, sm_str_t s);
void sm_odbc_put_doc(sm_odbc_t *od, sm_call_t *call, sm_str_t s);
void sm_odbc_put_bytes(sm_odbc_t *od, sm_call_t *call, sm_str_t s);
void sm_odbc_put_int(sm_odbc_t *od, sm_call_t *call, int64_t value);
void sm_odbc_put_no_int(sm_odbc_t *od, sm_call_t *call);
void sm_odbc_put_fence(sm_odbc_t *od, sm_call_t *call,
    const sm_fence_t *fence);

int sm_odbc_exec(sm_odbc_t *od, sm_call_t *call);
int sm_odbc_fetch(sm_odbc_t *od, sm_call_t *call);

/* columns from 0; NULL is 0, or a string without data */
int sm_odbc_is_null(sm_odbc_t *od, unsigned column);
int64_t sm_odbc_int(sm_odbc_t *od, unsigned column);
int sm_odbc_text(sm_odbc_t *od, sm_call_t *call, unsigned column, sm_str_t *s);
int sm_odbc_bytes(sm_odbc_t *od, sm_call_t *call, unsigned column,
    sm_str_t *s);

int sm_odbc_end(sm_odbc_t *od, sm_call_t *call);

/* a call whose rows nobody looks at */
int sm_odbc_run(sm_odbc_t *od, sm_call_t *call);

/* after a fenced call: says whose fence did not hold */
int sm_odbc_fenced(sm_odbc_t *od, sm_call_t *call, const sm_fence_t *fence);

void sm_odbc_free_stmts(sm_odbc_t *od);


/*
 * sm_store_odbc_watch.c: for as long as a connection is there; between _start()
 * and _stop() the driver may take so long, and a second more.  They nest, and
 * the first counts.
 */

void sm_odbc_watch_open(sm_odbc_watch_t *w, sm_str_t connection);
void sm_odbc_watch_close(sm_odbc_watch_t *w);
void sm_odbc_watch_connected(sm_odbc_watch_t *w);
void sm_odbc_watch_start(sm_odbc_watch_t *w, unsigned connected, int64_t ms);
void sm_odbc_watch_stop(sm_odbc_watch_t *w);


/* sm_store_odbc_doc.c */

/* UTF-16 in the arena; what is not UTF-8 becomes U+FFFD */
SQLWCHAR *sm_odbc_utf16(sm_arena_t *arena, sm_str_t s, size_t *len);

/* UTF-8 in the arena, likewise; -1: no memory */
int sm_odbc_utf8(sm_arena_t *arena, const SQLWCHAR *text, size_t len,
    sm_str_t *s);

int sm_odbc_submit_doc(sm_arena_t *arena, const sm_submit_row_t *rows,
    size_t n, sm_str_t *doc, sm_str_t *bytes);
int sm_odbc_begin_doc(sm_arena_t *arena, const sm_begin_row_t *rows, size_t n,
    sm_str_t *doc);
int sm_odbc_complete_doc(sm_arena_t *arena, const sm_complete_row_t *rows,
    size_t n, sm_str_t *doc);


/* sm_store_odbc_intents.c */
int sm_odbc_intents_submit(sm_conn_t *conn, sm_call_t *call,
    sm_submit_row_t *rows, size_t n);
int sm_odbc_intents_get(sm_conn_t *conn, sm_call_t *call, sm_get_row_t *rows,
    size_t n);
int sm_odbc_intent_history(sm_conn_t *conn, sm_call_t *call,
    sm_history_row_t *row);
int sm_odbc_intents_list(sm_conn_t *conn, sm_call_t *call, sm_list_row_t *row);

/* sm_store_odbc_lease.c */
int sm_odbc_lease_acquire(sm_conn_t *conn, sm_call_t *call, sm_str_t holder,
    int64_t duration, sm_lease_t *lease);
int sm_odbc_lease_renew(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease);
int sm_odbc_lease_takeover(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease);
int sm_odbc_lease_release(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_lease_t *lease);
int sm_odbc_lease_get(sm_conn_t *conn, sm_call_t *call, sm_lease_t *lease);
int sm_odbc_candidate_heartbeat(sm_conn_t *conn, sm_call_t *call,
    const sm_candidate_t *candidate, int64_t duration);
int sm_odbc_candidate_remove(sm_conn_t *conn, sm_call_t *call,
    sm_str_t holder);
int sm_odbc_cluster_get(sm_conn_t *conn, sm_call_t *call,
    sm_cluster_t *cluster);

/* sm_store_odbc_attempts.c */
int sm_odbc_schedule_page(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_page_t *page);
int sm_odbc_attempts_turn(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *ended, size_t nended,
    sm_begin_row_t *due, size_t ndue);
int sm_odbc_attempts_in_doubt(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, const sm_doubt_row_t *after, size_t limit,
    sm_doubt_row_t **rows, size_t *n);


#endif /* SM_STORE_ODBC_H */
