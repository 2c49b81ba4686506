
/*
 * What the back ends of database servers share: each operation is a call of one
 * stored procedure, whose parameters and columns are the same on all of them.
 * A driver carries the calls.
 */

#ifndef SM_STORE_SERVER_H
#define SM_STORE_SERVER_H


#include "sm_store.h"


#define SM_SERVER_PARAMS    8


typedef struct sm_server_s  sm_server_t;


/* must be in the order of sm_procs */

enum {
    SM_PROC_SCHEMA_GET = 0,
    SM_PROC_PING,
    SM_PROC_INTENTS_SUBMIT,
    SM_PROC_INTENTS_GET,
    SM_PROC_INTENT_HISTORY,
    SM_PROC_INTENTS_LIST,
    SM_PROC_LEASE_ACQUIRE,
    SM_PROC_LEASE_RENEW,
    SM_PROC_LEASE_TAKEOVER,
    SM_PROC_LEASE_RELEASE,
    SM_PROC_LEASE_GET,
    SM_PROC_CANDIDATE_HEARTBEAT,
    SM_PROC_CANDIDATE_REMOVE,
    SM_PROC_CLUSTER_GET,
    SM_PROC_SCHEDULE_PAGE,
    SM_PROC_ATTEMPTS_TURN,
    SM_PROC_ATTEMPTS_IN_DOUBT,
    SM_PROCS
};


/* t: text, d: a document, b: bytes, i: an integer of 64 bits */

typedef struct {
    const char               *name;
    const char               *params;
    const char               *columns;
} sm_proc_t;

extern const sm_proc_t  sm_procs[];


typedef struct {
    char                      type;         /* of those */
    unsigned                  null;
    int64_t                   n;
    sm_str_t                  s;
} sm_server_param_t;


/*
 * exec() sends the parameters and waits for the answer; fetch() gives 1 as long
 * as there is a row.  Columns count from 0; NULL is 0, or a string without data.
 * Strings are copied into the call's arena.  end() reads what is left, since an
 * error may stand there; it follows every exec().
 */

typedef struct {
    const char               *name;
    int                     (*exec)(sm_server_t *server, sm_call_t *call);
    int                     (*fetch)(sm_server_t *server, sm_call_t *call);
    int                     (*is_null)(sm_server_t *server, unsigned column);
    int64_t                 (*get_int)(sm_server_t *server, unsigned column);
    int                     (*get_text)(sm_server_t *server, sm_call_t *call,
                                 unsigned column, sm_str_t *s);
    int                     (*get_bytes)(sm_server_t *server, sm_call_t *call,
                                 unsigned column, sm_str_t *s);
    void                    (*end)(sm_server_t *server, sm_call_t *call);
} sm_server_driver_t;


/* what the connections of such back ends begin with */

struct sm_server_s {
    sm_conn_t                 conn;
    const sm_server_driver_t *driver;
    const sm_store_conf_t    *conf;

    /* the call */
    unsigned                  proc;
    int64_t                   timeout;      /* milliseconds */
    unsigned                  active;
    unsigned                  n;
    sm_server_param_t         params[SM_SERVER_PARAMS];
};


/*
 * sm_store_server.c
 *
 * A call: sm_server_start(), the parameters in their order, sm_server_exec(),
 * sm_server_fetch() as long as it gives 1, and sm_server_end() in any case.
 * What fails leaves the call's status, and what follows does nothing then.
 */

void sm_server_start(sm_server_t *sv, unsigned proc);

/* the same, with the time-out of a recovery */
void sm_server_start_recovery(sm_server_t *sv, unsigned proc);

/* a text or document without data is NULL */
void sm_server_put_text(sm_server_t *sv, sm_str_t s);
void sm_server_put_bytes(sm_server_t *sv, sm_str_t s);
void sm_server_put_int(sm_server_t *sv, int64_t value);
void sm_server_put_no_int(sm_server_t *sv);
void sm_server_put_fence(sm_server_t *sv, const sm_fence_t *fence);

int sm_server_exec(sm_server_t *sv, sm_call_t *call);
int sm_server_fetch(sm_server_t *sv, sm_call_t *call);

int sm_server_is_null(sm_server_t *sv, unsigned column);
int64_t sm_server_int(sm_server_t *sv, unsigned column);
int sm_server_text(sm_server_t *sv, sm_call_t *call, unsigned column,
    sm_str_t *s);
int sm_server_bytes(sm_server_t *sv, sm_call_t *call, unsigned column,
    sm_str_t *s);

int sm_server_end(sm_server_t *sv, sm_call_t *call);

/* a call whose rows nobody looks at */
int sm_server_run(sm_server_t *sv, sm_call_t *call);

/* ends a fenced call: says whose fence did not hold */
int sm_server_fenced(sm_server_t *sv, sm_call_t *call,
    const sm_fence_t *fence);

/* whether the schema is of this module's version */
int sm_server_schema(sm_server_t *sv, sm_call_t *call);

int sm_server_no_memory(sm_call_t *call);


/* sm_store_server_doc.c */
int sm_server_submit_doc(sm_arena_t *arena, const sm_submit_row_t *rows,
    size_t n, sm_str_t *doc, sm_str_t *bytes);
int sm_server_begin_doc(sm_arena_t *arena, const sm_begin_row_t *rows,
    size_t n, sm_str_t *doc);
int sm_server_complete_doc(sm_arena_t *arena, const sm_complete_row_t *rows,
    size_t n, sm_str_t *doc);


/* sm_store_server.c */
int sm_server_ping(sm_conn_t *conn, sm_call_t *call);
int sm_server_begin_write(sm_conn_t *conn, sm_call_t *call);
int sm_server_tidy(sm_conn_t *conn, sm_call_t *call);

/* sm_store_server_intents.c */
int sm_server_intents_submit(sm_conn_t *conn, sm_call_t *call,
    sm_submit_row_t *rows, size_t n);
int sm_server_intents_get(sm_conn_t *conn, sm_call_t *call,
    sm_get_row_t *rows, size_t n);
int sm_server_intent_history(sm_conn_t *conn, sm_call_t *call,
    sm_history_row_t *row);
int sm_server_intents_list(sm_conn_t *conn, sm_call_t *call,
    sm_list_row_t *row);

/* sm_store_server_lease.c */
int sm_server_lease_acquire(sm_conn_t *conn, sm_call_t *call, sm_str_t holder,
    int64_t duration, sm_lease_t *lease);
int sm_server_lease_renew(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease);
int sm_server_lease_takeover(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease);
int sm_server_lease_release(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_lease_t *lease);
int sm_server_lease_get(sm_conn_t *conn, sm_call_t *call, sm_lease_t *lease);
int sm_server_candidate_heartbeat(sm_conn_t *conn, sm_call_t *call,
    sm_candidate_t *candidate, int64_t duration);
int sm_server_candidate_remove(sm_conn_t *conn, sm_call_t *call,
    sm_str_t holder);
int sm_server_cluster_get(sm_conn_t *conn, sm_call_t *call,
    sm_cluster_t *cluster);

/* sm_store_server_attempts.c */
int sm_server_schedule_page(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_page_t *page);
int sm_server_attempts_turn(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *ended, size_t nended,
    sm_begin_row_t *due, size_t ndue);
int sm_server_attempts_in_doubt(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, const sm_doubt_row_t *after, size_t limit,
    sm_doubt_row_t **rows, size_t *n);


#endif /* SM_STORE_SERVER_H */
