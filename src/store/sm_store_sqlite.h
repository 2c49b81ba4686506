
/*
 * Inside the SQLite back end: its connection, and what its operations are
 * written with.  See sm_store_sqlite.c.
 */

#ifndef SM_STORE_SQLITE_H
#define SM_STORE_SQLITE_H


#include <sqlite3.h>

#include "sm_store.h"


/* must be in the order of sm_sqlite_texts */

enum {
    SM_SQLITE_BEGIN = 0,
    SM_SQLITE_BEGIN_READ,
    SM_SQLITE_COMMIT,
    SM_SQLITE_PING,
    SM_SQLITE_NOW,
    SM_SQLITE_SUBMIT,
    SM_SQLITE_GET,
    SM_SQLITE_HISTORY,
    SM_SQLITE_LIST,
    SM_SQLITE_LEASE_ACQUIRE,
    SM_SQLITE_LEASE_RENEW,
    SM_SQLITE_LEASE_TAKEOVER,
    SM_SQLITE_LEASE_RELEASE,
    SM_SQLITE_LEASE_FENCE,
    SM_SQLITE_LEASE_GET,
    SM_SQLITE_CANDIDATE_HEARTBEAT,
    SM_SQLITE_CANDIDATE_PRUNE,
    SM_SQLITE_CANDIDATE_REMOVE,
    SM_SQLITE_CLUSTER_GET,
    SM_SQLITE_PAGE_MODIFIED,
    SM_SQLITE_PAGE_DUE,
    SM_SQLITE_ATTEMPT_GET,
    SM_SQLITE_ATTEMPT_MARK,
    SM_SQLITE_ATTEMPT_EXPIRE,
    SM_SQLITE_ATTEMPT_COMPLETE,
    SM_SQLITE_ATTEMPT_APPEND,
    SM_SQLITE_ATTEMPT_RETURN,
    SM_SQLITE_IN_DOUBT,
    SM_SQLITE_STATEMENTS
};


typedef struct {
    sm_conn_t               conn;
    sqlite3                *db;
    const sm_store_conf_t  *conf;
    unsigned                create;         /* the file may be made anew */
    int64_t                 deadline;       /* of waiting for locks */
    sqlite3_stmt           *stmts[SM_SQLITE_STATEMENTS];
} sm_sqlite_t;


/* a call begins: until when it may wait for locks */
void sm_sqlite_start_call(sm_sqlite_t *sq);

/* sets the call's error from the connection's, returns -1 */
int sm_sqlite_fail(sm_sqlite_t *sq, sm_call_t *call);

/* waits for a lock, for the n-th time; 0: no longer */
int sm_sqlite_busy(void *sq, int n);

/* runs statements by their text */
int sm_sqlite_exec(sm_sqlite_t *sq, sm_call_t *call, const char *sql);

/* runs a statement that gives no rows to look at */
int sm_sqlite_run(sm_sqlite_t *sq, sm_call_t *call, unsigned which);

int sm_sqlite_begin_write(sm_conn_t *conn, sm_call_t *call);

/* leaves the connection outside of a transaction, returns -1 */
int sm_sqlite_rollback(sm_sqlite_t *sq);
int sm_sqlite_commit(sm_sqlite_t *sq, sm_call_t *call);

int sm_sqlite_now(sm_sqlite_t *sq, sm_call_t *call, int64_t *now);

/* a string without data binds NULL */
void sm_sqlite_bind_nth(sqlite3_stmt *stmt, int n, sm_str_t value);
void sm_sqlite_bind_text(sqlite3_stmt *stmt, const char *name, sm_str_t value);
void sm_sqlite_bind_int(sqlite3_stmt *stmt, const char *name, int64_t value);

/* a column, until the statement goes on */
sm_str_t sm_sqlite_peek(sqlite3_stmt *stmt, int column);

/* a column, copied into the call's arena */
int sm_sqlite_text(sm_call_t *call, sqlite3_stmt *stmt, int column,
    sm_str_t *s);


/* sm_store_sqlite_schema.c: makes it, migrates it, or says what is wrong */
int sm_sqlite_schema(sm_sqlite_t *sq, sm_call_t *call);

/* sm_store_sqlite_intents.c */
int sm_sqlite_intents_submit(sm_conn_t *conn, sm_call_t *call,
    sm_submit_row_t *rows, size_t n);
int sm_sqlite_intents_get(sm_conn_t *conn, sm_call_t *call,
    sm_get_row_t *rows, size_t n);
int sm_sqlite_intent_history(sm_conn_t *conn, sm_call_t *call,
    sm_history_row_t *row);
int sm_sqlite_intents_list(sm_conn_t *conn, sm_call_t *call,
    sm_list_row_t *row);

/* sm_store_sqlite_lease.c */
int sm_sqlite_fence(sm_sqlite_t *sq, sm_call_t *call, const sm_fence_t *fence);
int sm_sqlite_fence_read(sm_sqlite_t *sq, sm_call_t *call,
    const sm_fence_t *fence);
int sm_sqlite_lease_acquire(sm_conn_t *conn, sm_call_t *call, sm_str_t holder,
    int64_t duration, sm_lease_t *lease);
int sm_sqlite_lease_renew(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease);
int sm_sqlite_lease_takeover(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease);
int sm_sqlite_lease_release(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_lease_t *lease);
int sm_sqlite_lease_get(sm_conn_t *conn, sm_call_t *call, sm_lease_t *lease);
int sm_sqlite_candidate_heartbeat(sm_conn_t *conn, sm_call_t *call,
    sm_candidate_t *candidate, int64_t duration);
int sm_sqlite_candidate_remove(sm_conn_t *conn, sm_call_t *call,
    sm_str_t holder);
int sm_sqlite_cluster_get(sm_conn_t *conn, sm_call_t *call,
    sm_cluster_t *cluster);

/* sm_store_sqlite_schedule.c */
int sm_sqlite_schedule_page(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_page_t *page);

/* sm_store_sqlite_attempts.c */
int sm_sqlite_attempts_turn(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *ended, size_t nended,
    sm_begin_row_t *due, size_t ndue);
int sm_sqlite_attempts_in_doubt(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, const sm_doubt_row_t *after, size_t limit,
    sm_doubt_row_t **rows, size_t *n);


#endif /* SM_STORE_SQLITE_H */
