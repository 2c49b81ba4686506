
/*
 * Calls of SQL, the same for every store: a procedure of a database server, or
 * a statement of SQLite.  A row of SM_SQL_PROCS says its name, its parameters
 * and its columns; a driver carries the call.
 */

#ifndef SM_STORE_SQL_H
#define SM_STORE_SQL_H


#include "sm_store_ops.h"


#define SM_SQL_PARAMS    16
#define SM_SQL_COLUMNS   28


typedef struct sm_sql_s  sm_sql_t;


/*
 * Types are letters; t: text, d: a document, b: bytes, i: an integer of 64
 * bits.  A row has SM_PROC_<first>; the name; the types of the parameters;
 * their names in the statement of SQLite, if that has the same operation; the
 * types of the columns that are the procedure's own, which come first; and up
 * to two tables of entities, whose columns are found by their names.
 */

#define SM_SQL_PROCS(X)                                                       \
    X(SCHEMA_GET, "schema_get", "", NULL, "ii")                               \
    X(PING, "ping", "", NULL, "i")                                            \
    X(INTENTS_SUBMIT, "intents_submit", "tdbi", NULL, "i", sm_intent_fields)  \
    X(INTENTS_GET, "intents_get", "td", "lease_name doc", "i",                \
      sm_intent_fields)                                                       \
    X(INTENT_HISTORY, "intent_history", "ttii",                               \
      "lease_name intent_id limit before", "i", sm_intent_fields,             \
      sm_attempt_fields)                                                      \
    X(INTENT_EVENTS, "intent_events", "tti", "lease_name intent_id limit", "",\
      sm_event_fields)                                                        \
    X(INTENTS_LIST, "intents_list", "tttiit",                                 \
      "lease_name status target limit created_at intent_id", "i",             \
      sm_intent_fields)                                                       \
    X(LEASE_ACQUIRE, "lease_acquire", "tti", NULL, "ii", sm_lease_fields)     \
    X(LEASE_RENEW, "lease_renew", "ttii", NULL, "ii", sm_lease_fields)        \
    X(LEASE_TAKEOVER, "lease_takeover", "ttii", NULL, "ii", sm_lease_fields)  \
    X(LEASE_RELEASE, "lease_release", "tti", NULL, "ii", sm_lease_fields)     \
    X(LEASE_WATCH, "lease_watch", "t", "lease_name", "ii", sm_lease_fields,   \
      sm_watch_fields)                                                        \
    X(CANDIDATE_HEARTBEAT, "candidate_heartbeat", "ttittit", NULL, "i")       \
    X(CANDIDATE_REMOVE, "candidate_remove", "tt", NULL, "i")                  \
    X(CLUSTER_GET, "cluster_get", "t", "lease_name", "ii", sm_lease_fields,   \
      sm_candidate_fields)                                                    \
    X(QUEUE_PAGE, "queue_page", "ttiiiti",                                    \
      "lease_name holder_id lease_epoch order after_at after_id limit",       \
      "ittiiii")                                                              \
    X(ATTEMPTS_TURN, "attempts_turn", "ttiddi", NULL,                         \
      "iiiiii", sm_contract_fields, sm_begin_fields)                          \
    X(ATTEMPTS_EXPIRE, "attempts_expire", "ttidi", NULL, "iiiiiitt")          \
    X(ATTEMPTS_IN_DOUBT, "attempts_in_doubt", "ttiiti",                       \
      "lease_name holder_id lease_epoch after_at after_id limit", "i",        \
      sm_doubt_fields, sm_contract_fields)                                    \
    X(INTENT_CANCEL, "intent_cancel", "tttt", NULL, "i")                      \
    X(INTENT_REPLAY, "intent_replay", "tttdtttttt", NULL, "i")                \
    X(INTENT_PAYLOAD, "intent_payload", "tti", "lease_name intent_id bare",   \
      "", sm_payload_fields)                                                  \
    X(INTENTS_LENGTH, "intents_length", "td", "lease_name doc", "ii")         \
    X(AUDIT_LIST, "audit_list", "tttiiii",                                    \
      "lease_name actor action from at seq limit", "", sm_audit_fields)       \
    X(INTENTS_SEARCH, "intents_search", "tttttiitii",                         \
      "lease_name by status target reason up at id end limit", "it")          \
    X(INTENTS_PREFIX, "intents_prefix", "ttttii",                             \
      "lease_name low high skip up limit", "it")                              \
    X(FAILURES_GET, "failures_get", "ttiii",                                  \
      "lease_name target since bound groups", "iti", sm_failure_fields,       \
      sm_failure_count_fields)                                                \
    X(INBOX_PAGE, "inbox_page", "ttiiii",                                     \
      "lease_name holder_id lease_epoch limit bytes max_payload", "i",        \
      sm_inbox_fields)                                                        \
    X(INBOX_MOVE, "inbox_move", "ttidbdi", NULL, "iii")                       \
    X(RETENTION, "retention", "ttitidiiiti", NULL, "iiiiiiitt")               \
    X(STATS_PUT, "stats_put", "ttib", NULL, "i")                              \
    X(STATS_GET, "stats_get", "ti", "lease_name seen", "iib")                 \
    X(BACKLOG_GET, "backlog_get", "tii", "lease_name bound groups", "iitiii") \
    X(JOB_ADD, "job_add", "ttttittt", NULL, "i", sm_job_fields)               \
    X(JOB_STOP, "job_stop", "ttttt", NULL, "i", sm_job_fields)                \
    X(JOBS_LIST, "jobs_list", "tttiti", "lease_name kind job_id at id limit", \
      "i", sm_job_fields)                                                     \
    X(JOB_NEXT, "job_next", "tti", "lease_name", "i", sm_job_fields)          \
    X(JOB_APPLY, "job_apply", "ttittiiitttd", NULL, "iii")                    \
    X(TARGET_SET, "target_set", "ttttttti", NULL, "it", sm_pause_fields)      \
    X(TARGETS_PAUSED, "targets_paused", "tti", "lease_name", "i",             \
      sm_pause_fields)                                                        \
    X(SCHEDULES_GET, "schedules_get", "tttiii",                               \
      "lease_name first last limit special payload", "i", sm_schedule_fields) \
    X(SCHEDULE_WRITE, "schedule_write", "ttittittttibtttt", NULL, "ii")       \
    X(SCHEDULES_DUE, "schedules_due", "ttiii",                                \
      "lease_name holder_id lease_epoch limit bytes", "i",                    \
      sm_schedule_fields)                                                     \
    X(SCHEDULES_FIRE, "schedules_fire", "ttidbdttt", NULL, "iiitti")


#define SM_SQL_ENUM(op, ...)  SM_PROC_##op,

enum {
    SM_SQL_PROCS(SM_SQL_ENUM)
    SM_PROCS
};


/* how many columns of its own each has */

#define SM_SQL_OWN(op, name, params, names, own, ...)                         \
    SM_PROC_OWN_##op = sizeof(own) - 1,

enum { SM_SQL_PROCS(SM_SQL_OWN) };


typedef struct {
    const char               *name;
    const char               *params;
    const char               *names;
    const char               *own;
    const sm_field_t         *fields[2];
} sm_proc_t;

extern const sm_proc_t  sm_procs[];


typedef struct {
    char                      type;         /* of those */
    unsigned                  null;
    int64_t                   n;
    sm_str_t                  s;
} sm_sql_param_t;


/*
 * exec() sends the parameters and waits for the answer; fetch() gives 1 as long
 * as there is a row.  column() gives the name of a column of the answer, and -1
 * past the last one; is_type() tells whether it is of the type with this
 * letter.  Columns count from 0; NULL is 0, or a string without data.  A string
 * is copied into the call's arena, but what get_peek() gives may be lost with
 * the next fetch().  end() reads what is left, since an error may stand there;
 * it follows every exec().
 */

typedef struct {
    const char               *name;
    int                     (*exec)(sm_sql_t *sql, sm_call_t *call);
    int                     (*fetch)(sm_sql_t *sql, sm_call_t *call);
    int                     (*column)(sm_sql_t *sql, unsigned column,
                                 char *name, size_t size);
    int                     (*is_type)(sm_sql_t *sql, unsigned column,
                                 char type);
    int                     (*is_null)(sm_sql_t *sql, unsigned column);
    int64_t                 (*get_int)(sm_sql_t *sql, unsigned column);
    int                     (*get_text)(sm_sql_t *sql, sm_call_t *call,
                                 unsigned column, sm_str_t *s);
    int                     (*get_peek)(sm_sql_t *sql, sm_call_t *call,
                                 unsigned column, sm_str_t *s);
    int                     (*get_bytes)(sm_sql_t *sql, sm_call_t *call,
                                 unsigned column, sm_str_t *s);
    void                    (*end)(sm_sql_t *sql, sm_call_t *call);
} sm_sql_driver_t;


/* what the connections of all back ends begin with */

struct sm_sql_s {
    sm_conn_t                 conn;
    const sm_sql_driver_t    *driver;
    const sm_store_conf_t    *conf;

    /* the call */
    unsigned                  proc;
    const sm_fence_t         *fence;        /* NULL: it is not fenced */
    int64_t                   timeout;      /* milliseconds */
    unsigned                  active;
    unsigned                  n;
    sm_sql_param_t            params[SM_SQL_PARAMS];

    /* where the columns of each procedure are in its answer, once known */
    unsigned char             known[SM_PROCS];
    unsigned char             columns[SM_PROCS][SM_SQL_COLUMNS];
};


/*
 * sm_store_sql.c
 *
 * A call: sm_sql_start(), the parameters in their order, sm_sql_exec(),
 * sm_sql_fetch() as long as it gives 1, and sm_sql_end() in any case.
 * What fails leaves the call's status, and what follows does nothing then.
 */

void sm_sql_start(sm_sql_t *sql, unsigned proc);

/* the same, with the time-out of a recovery */
void sm_sql_start_recovery(sm_sql_t *sql, unsigned proc);

/* a text or document without data is NULL */
void sm_sql_put_text(sm_sql_t *sql, sm_str_t s);
void sm_sql_put_bytes(sm_sql_t *sql, sm_str_t s);
void sm_sql_put_int(sm_sql_t *sql, int64_t value);
void sm_sql_put_no_int(sm_sql_t *sql);
void sm_sql_put_some(sm_sql_t *sql, int64_t value);     /* 0 is NULL */
void sm_sql_put_fence(sm_sql_t *sql, const sm_fence_t *fence);

int sm_sql_exec(sm_sql_t *sql, sm_call_t *call);
int sm_sql_fetch(sm_sql_t *sql, sm_call_t *call);

/* a column in the order of the row of SM_SQL_PROCS */
int sm_sql_is_null(sm_sql_t *sql, unsigned column);
int64_t sm_sql_int(sm_sql_t *sql, unsigned column);
int sm_sql_text(sm_sql_t *sql, sm_call_t *call, unsigned column,
    sm_str_t *s);
int sm_sql_peek(sm_sql_t *sql, sm_call_t *call, unsigned column,
    sm_str_t *s);
int sm_sql_bytes(sm_sql_t *sql, sm_call_t *call, unsigned column,
    sm_str_t *s);

int sm_sql_end(sm_sql_t *sql, sm_call_t *call);

/* a call whose rows nobody looks at */
int sm_sql_run(sm_sql_t *sql, sm_call_t *call);

/* ends a fenced call: says whose fence did not hold */
int sm_sql_fenced(sm_sql_t *sql, sm_call_t *call,
    const sm_fence_t *fence);

/*
 * The next row of its answer with a value in its second column.  0: there are
 * no more, and the time is known; -1: an error.
 */
int sm_sql_fenced_fetch(sm_sql_t *sql, sm_call_t *call);

/* whether the schema is of this module's version */
int sm_sql_schema(sm_sql_t *sql, sm_call_t *call);

int sm_sql_no_memory(sm_call_t *call);

/* copies a value into the call's arena; one without data has none then */
int sm_sql_keep(sm_call_t *call, sm_str_t value, sm_str_t *s);


/*
 * sm_store_row.c
 *
 * Finds the columns of the procedure in its answer, when a connection sees the
 * first one; -1: one is missing, or of another type.
 */
int sm_row_columns(sm_sql_t *sql, sm_call_t *call);

/* the type of the n-th column of a procedure; 0: it has no more */
char sm_row_type(const sm_proc_t *proc, unsigned n);

/* whether the row has an entity of that table: its first column is not NULL */
int sm_row_has(sm_sql_t *sql, const sm_field_t *fields);

/* reads the columns of a table of the procedure into the struct */
int sm_row_read(sm_sql_t *sql, sm_call_t *call, const sm_field_t *fields,
    void *row);


/* sm_store_sql_intents.c: the intent of a row */
int sm_sql_intent(sm_sql_t *sql, sm_call_t *call, sm_intent_t *intent);

/* sm_store_sql_attempts.c: the contract of a row; see sm_store_contract() */
int sm_sql_contract(sm_sql_t *sql, sm_call_t *call, sm_contract_t *c,
    sm_str_t *refused);

/* sm_store_sql_lease.c: the lease of a row, and the time */
int sm_sql_lease_row(sm_sql_t *sql, sm_call_t *call, sm_lease_t *lease);


/* sm_store_server_doc.c */
int sm_server_submit_doc(sm_arena_t *arena, const sm_submit_row_t *rows,
    size_t n, sm_str_t *doc, sm_str_t *bytes);
int sm_server_begin_doc(sm_arena_t *arena, const sm_begin_row_t *rows,
    size_t n, sm_str_t *doc);
int sm_server_complete_doc(sm_arena_t *arena, const sm_complete_row_t *rows,
    size_t n, sm_str_t *doc);


/*
 * The operations, and the slots of a back end's table: what reads is the same
 * for all of them.
 */

#define SM_SQL_FUNCTION(kind, name, ...)                                      \
    int sm_sql_##name(sm_conn_t *conn, sm_call_t *call                        \
        SM_STORE_PARAMS(__VA_ARGS__));

#define SM_SERVER_FUNCTION(kind, name, ...)                                   \
    int sm_server_##name(sm_conn_t *conn, sm_call_t *call                     \
        SM_STORE_PARAMS(__VA_ARGS__));

#define SM_SQL_SLOT(kind, op, ...)     .op = sm_sql_##op,
#define SM_SERVER_SLOT(kind, op, ...)  .op = sm_server_##op,

SM_STORE_READS(SM_SQL_FUNCTION)
SM_STORE_WRITES(SM_SERVER_FUNCTION)


#endif /* SM_STORE_SQL_H */
