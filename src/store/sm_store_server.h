
/*
 * What the back ends of database servers share: each operation is a call of one
 * stored procedure, whose parameters and columns are the same on all of them.
 * A driver carries the calls.
 */

#ifndef SM_STORE_SERVER_H
#define SM_STORE_SERVER_H


#include "sm_store_ops.h"


#define SM_SERVER_PARAMS    16


typedef struct sm_server_s  sm_server_t;


/*
 * The stored procedures: SM_PROC_<first>, the name, the parameters, and the
 * columns; t: text, d: a document, b: bytes, i: an integer of 64 bits.
 */

#define SM_PROC_INTENT    "tttiiiitttiittit"    /* see intents.c */
#define SM_PROC_LEASE     "iitiiii"             /* see lease.c */
#define SM_PROC_CONTRACT  "ttttiitiiiitt"       /* see attempts.c */
#define SM_PROC_RECUR     "ttttttttiiiiiiiiiiib"  /* see recur.c */

#define SM_PROC_JOB       "tttittiiittiii"      /* see jobs.c */

#define SM_SERVER_PROCS(X)                                                    \
    X(SCHEMA_GET, "schema_get", "", "ii")                                     \
    X(PING, "ping", "", "i")                                                  \
    X(INTENTS_SUBMIT, "intents_submit", "tdbii", "i" SM_PROC_INTENT)          \
    X(INTENTS_GET, "intents_get", "tdi", "i" SM_PROC_INTENT)                  \
    X(INTENT_HISTORY, "intent_history", "ttiii",                              \
      "i" SM_PROC_INTENT "iiitttitti")                                        \
    X(INTENT_EVENTS, "intent_events", "tti", "tttiiiit")                      \
    X(INTENTS_LIST, "intents_list", "tttiiti", "i" SM_PROC_INTENT)            \
    X(LEASE_ACQUIRE, "lease_acquire", "tti", SM_PROC_LEASE)                   \
    X(LEASE_RENEW, "lease_renew", "ttii", SM_PROC_LEASE)                      \
    X(LEASE_TAKEOVER, "lease_takeover", "ttii", SM_PROC_LEASE)                \
    X(LEASE_RELEASE, "lease_release", "tti", SM_PROC_LEASE)                   \
    X(LEASE_WATCH, "lease_watch", "t", SM_PROC_LEASE "t")                     \
    X(CANDIDATE_HEARTBEAT, "candidate_heartbeat", "ttittit", "i")             \
    X(CANDIDATE_REMOVE, "candidate_remove", "tt", "i")                        \
    X(CLUSTER_GET, "cluster_get", "t", SM_PROC_LEASE "tttiii")                \
    X(SCHEDULE_PAGE, "schedule_page", "ttiiitii", "ittiiii")                  \
    X(ATTEMPTS_TURN, "attempts_turn", "ttiddi",                               \
      "iiiiii" SM_PROC_CONTRACT "ittb")                                       \
    X(ATTEMPTS_EXPIRE, "attempts_expire", "ttid", "iiiiiit")                  \
    X(ATTEMPTS_IN_DOUBT, "attempts_in_doubt", "ttiitii",                      \
      "itiitii" SM_PROC_CONTRACT "i")                                         \
    X(INTENT_CANCEL, "intent_cancel", "tttt", "i")                            \
    X(INTENT_REPLAY, "intent_replay", "tttdtttttt", "i")                      \
    X(INTENT_PAYLOAD, "intent_payload", "tti", "itttb")                       \
    X(INTENTS_LENGTH, "intents_length", "td", "ii")                           \
    X(AUDIT_LIST, "audit_list", "tttiiii", "iittttt")                         \
    X(INTENTS_SEARCH, "intents_search", "tttttiitii", "it")                   \
    X(INTENTS_PREFIX, "intents_prefix", "ttttii", "it")                       \
    X(FAILURES_GET, "failures_get", "ttiii", "ittttiiti")                     \
    X(INBOX_PAGE, "inbox_page", "ttiiii", "iittiittb")                         \
    X(INBOX_MOVE, "inbox_move", "ttidbdi", "iii")                             \
    X(RETENTION, "retention", "ttitidiiiti", "iiiiiiitt")                     \
    X(STATS_PUT, "stats_put", "ttib", "i")                                    \
    X(STATS_GET, "stats_get", "ti", "iib")                                    \
    X(BACKLOG_GET, "backlog_get", "tii", "iitiii")                            \
    X(JOB_ADD, "job_add", "ttttittt", "i" SM_PROC_JOB)                        \
    X(JOB_STOP, "job_stop", "ttttt", "i" SM_PROC_JOB)                         \
    X(JOBS_LIST, "jobs_list", "tttiti", "i" SM_PROC_JOB)                      \
    X(JOB_NEXT, "job_next", "tti", "i" SM_PROC_JOB)                           \
    X(JOB_APPLY, "job_apply", "ttittiiitttd", "iii")                          \
    X(TARGET_SET, "target_set", "ttttttti", "ititt")                          \
    X(TARGETS_PAUSED, "targets_paused", "tti", "ititt")                       \
    X(SCHEDULES_GET, "schedules_get", "tttiii", "i" SM_PROC_RECUR)            \
    X(SCHEDULE_WRITE, "schedule_write", "ttittittttibtttt", "ii")             \
    X(SCHEDULES_DUE, "schedules_due", "ttiii", "i" SM_PROC_RECUR)             \
    X(SCHEDULES_FIRE, "schedules_fire", "ttidbdttt", "iiitti")


#define SM_SERVER_ENUM(op, name, params, columns)  SM_PROC_##op,

enum {
    SM_SERVER_PROCS(SM_SERVER_ENUM)
    SM_PROCS
};


/* how many columns each has */

#define SM_SERVER_COLUMNS(op, name, params, columns)                          \
    SM_PROC_COLS_##op = sizeof(columns) - 1,

enum { SM_SERVER_PROCS(SM_SERVER_COLUMNS) };


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
 * as there is a row.  Columns count from 0; NULL is 0, or a string without
 * data.  Strings are copied into the call's arena.  end() reads what is left,
 * since an error may stand there; it follows every exec().
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

/*
 * The next row of its answer with a value in its second column.  0: there are
 * no more, and the time is known; -1: an error.
 */
int sm_server_fenced_fetch(sm_server_t *sv, sm_call_t *call);

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


/* the operations, and the slots of a back end's table */

#define SM_SERVER_FUNCTION(kind, name, ...)                                   \
    int sm_server_##name(sm_conn_t *conn, sm_call_t *call                     \
        SM_STORE_PARAMS(__VA_ARGS__));

#define SM_SERVER_SLOT(kind, op, ...)  .op = sm_server_##op,

SM_STORE_OPS(SM_SERVER_FUNCTION)


#endif /* SM_STORE_SERVER_H */
