
/*
 * The internal header of the SQLite back end: its connection, and the helpers
 * of its operations.  See sm_store_sqlite.c.
 */

#ifndef SM_STORE_SQLITE_H
#define SM_STORE_SQLITE_H


#include <sys/types.h>

#include <sqlite3.h>

#include "sm_store_sql.h"


/* The statements: each has a constant SM_SQLITE_<name> and a text. */

#define SM_SQLITE_SQL(X)                                                      \
    X(BEGIN, "BEGIN IMMEDIATE")                                               \
    X(BEGIN_READ, "BEGIN")                                                    \
    X(COMMIT, "COMMIT")                                                       \
    X(PING, sm_sqlite_sql_ping)                                               \
    X(NOW, sm_sqlite_sql_now)                                                 \
    X(SUBMIT, sm_sqlite_sql_intents_submit)                                   \
    X(GET, sm_sqlite_sql_intents_get)                                         \
    X(HISTORY, sm_sqlite_sql_intent_history)                                  \
    X(EVENTS, sm_sqlite_sql_intent_events)                                    \
    X(MESSAGES, sm_sqlite_sql_webhook_messages)                               \
    X(LIST, sm_sqlite_sql_intents_list)                                       \
    X(LEASE_ACQUIRE, sm_sqlite_sql_lease_acquire)                             \
    X(LEASE_RENEW, sm_sqlite_sql_lease_renew)                                 \
    X(LEASE_TAKEOVER, sm_sqlite_sql_lease_takeover)                           \
    X(LEASE_RELEASE, sm_sqlite_sql_lease_release)                             \
    X(LEASE_FENCE, sm_sqlite_sql_lease_fence)                                 \
    X(LEASE_GET, sm_sqlite_sql_lease_get)                                     \
    X(LEASE_WATCH, sm_sqlite_sql_lease_watch)                                 \
    X(CANDIDATE_HEARTBEAT, sm_sqlite_sql_candidate_heartbeat)                 \
    X(CANDIDATE_NAMES, sm_sqlite_sql_candidate_names)                         \
    X(CANDIDATE_TOLD, sm_sqlite_sql_candidate_told)                           \
    X(CANDIDATE_PRUNE, sm_sqlite_sql_candidate_prune)                         \
    X(CANDIDATE_FORGET, sm_sqlite_sql_candidate_forget)                       \
    X(CANDIDATE_REMOVE, sm_sqlite_sql_candidate_remove)                       \
    X(CLUSTER_GET, sm_sqlite_sql_cluster_get)                                 \
    X(PAGE_MODIFIED, sm_sqlite_sql_queue_page_modified)                    \
    X(PAGE_DUE, sm_sqlite_sql_queue_page_due)                              \
    X(PAGE_LIVE, sm_sqlite_sql_queue_page_live)                            \
    X(ATTEMPT_GET, sm_sqlite_sql_attempts_begin)                              \
    X(ATTEMPT_MARK, sm_sqlite_sql_attempts_begin_mark)                        \
    X(ATTEMPT_EXPIRE, sm_sqlite_sql_attempts_begin_expire)                    \
    X(ATTEMPT_NOTE, sm_sqlite_sql_attempts_begin_note)                        \
    X(ATTEMPT_COMPLETE, sm_sqlite_sql_attempts_complete)                      \
    X(INTENT_ENDED, sm_sqlite_sql_intent_ended)                               \
    X(ATTEMPT_APPEND, sm_sqlite_sql_attempts_complete_append)                 \
    X(ATTEMPT_RETURN, sm_sqlite_sql_attempts_complete_return)                 \
    X(IN_DOUBT, sm_sqlite_sql_attempts_in_doubt)                              \
    X(CANCEL, sm_sqlite_sql_intents_cancel)                                   \
    X(SOURCE, sm_sqlite_sql_intent_source)                                    \
    X(REPLAYED, sm_sqlite_sql_intent_replayed)                                \
    X(PAYLOAD, sm_sqlite_sql_intent_payload)                                  \
    X(LENGTH, sm_sqlite_sql_intents_length)                                   \
    X(AUDIT_ADD, sm_sqlite_sql_audit_add)                                     \
    X(AUDIT_LIST, sm_sqlite_sql_audit_list)                                   \
    X(AUDIT_ACTOR, sm_sqlite_sql_audit_list_actor)                            \
    X(SEARCH, sm_sqlite_sql_intents_search)                                   \
    X(PREFIX, sm_sqlite_sql_intents_prefix)                                   \
    X(FAILURES, sm_sqlite_sql_failures_get)                                   \
    X(INBOX_PAGE, sm_sqlite_sql_inbox_page)                                   \
    X(INBOX_HAS, sm_sqlite_sql_inbox_has)                                     \
    X(SCHEDULE_HAS, sm_sqlite_sql_schedule_has)                               \
    X(INBOX_REFUSE, sm_sqlite_sql_inbox_refuse)                               \
    X(INBOX_REMOVE, sm_sqlite_sql_inbox_remove)                               \
    X(RETENTION_TARGET, sm_sqlite_sql_retention_target)                       \
    X(RETENTION_OLD, sm_sqlite_sql_retention_old)                             \
    X(RETENTION_ATTEMPTS, sm_sqlite_sql_retention_attempts)                   \
    X(RETENTION_STRIP, sm_sqlite_sql_retention_strip)                         \
    X(RETENTION_FORGET, sm_sqlite_sql_retention_forget)                       \
    X(RETENTION_AUDIT, sm_sqlite_sql_retention_audit)                         \
    X(RETENTION_JOBS, sm_sqlite_sql_retention_jobs)                           \
    X(RETENTION_REFUSED, sm_sqlite_sql_retention_refused)                     \
    X(STATS_PUT, sm_sqlite_sql_stats_put)                                     \
    X(STATS_GET, sm_sqlite_sql_stats_get)                                     \
    X(BACKLOG, sm_sqlite_sql_backlog_get)                                     \
    X(JOB_ADD, sm_sqlite_sql_job_add)                                         \
    X(JOB_STOP, sm_sqlite_sql_job_stop)                                       \
    X(JOB_NEXT, sm_sqlite_sql_job_next)                                       \
    X(JOB_MOVE, sm_sqlite_sql_job_move)                                       \
    X(JOB_COUNT, sm_sqlite_sql_job_count)                                     \
    X(JOBS_LIST, sm_sqlite_sql_jobs_list)                                     \
    X(TARGET_KNOWN, sm_sqlite_sql_target_known)                               \
    X(TARGET_PAUSE, sm_sqlite_sql_target_pause)                               \
    X(TARGET_RESUME, sm_sqlite_sql_target_resume)                             \
    X(TARGETS_PAUSED, sm_sqlite_sql_targets_paused)                           \
    X(SCHEDULES_GET, sm_sqlite_sql_schedules_get)                             \
    X(SCHEDULES_DUE, sm_sqlite_sql_schedules_due)                             \
    X(SCHEDULE_INSERT, sm_sqlite_sql_schedule_insert)                         \
    X(SCHEDULE_UPDATE, sm_sqlite_sql_schedule_update)                         \
    X(SCHEDULE_STATE, sm_sqlite_sql_schedule_state)                           \
    X(SCHEDULE_DELETE, sm_sqlite_sql_schedule_delete)                         \
    X(SCHEDULE_FIRE, sm_sqlite_sql_schedule_fire)


#define SM_SQLITE_NAME(name, text)  SM_SQLITE_##name,

enum {
    SM_SQLITE_SQL(SM_SQLITE_NAME)
    SM_SQLITE_STATEMENTS
};


/* The numbers of a statement's parameters, 0 for those it does not have. */

typedef struct {
    unsigned                known;
    unsigned char           now;
    unsigned char           at[SM_SQL_PARAMS];
} sm_sqlite_names_t;


/* The log, by its files: see sm_store_sqlite_log.c.  No file: all 0. */

typedef struct {
    dev_t                   dev;
    ino_t                   ino;
} sm_sqlite_file_t;

typedef struct {
    sm_sqlite_file_t        wal;
    sm_sqlite_file_t        shm;
} sm_sqlite_log_t;

typedef struct sm_sqlite_db_s  sm_sqlite_db_t;


typedef struct {
    sm_sql_t                sql;
    sqlite3                *db;
    sm_sqlite_db_t         *of;             /* what this process has open */
    sm_sqlite_log_t         log;
    char                   *wal;            /* the names of its files */
    char                   *shm;
    unsigned                create;         /* the file may be created */
    int64_t                 deadline;       /* for waiting for locks */
    sqlite3_stmt           *stmts[SM_SQLITE_STATEMENTS];

    /* For the driver: see sm_store_sqlite_call.c. */
    sqlite3_stmt           *stmt;
    sm_sqlite_names_t       names[SM_SQLITE_STATEMENTS];
} sm_sqlite_t;

extern const sm_sql_driver_t  sm_sqlite_driver;


/* Begins a call, and sets the deadline of its waits for locks. */
void sm_sqlite_start_call(sm_sqlite_t *sq);

/* Sets the call's error from the connection's, and returns -1. */
int sm_sqlite_fail(sm_sqlite_t *sq, sm_call_t *call);

/* Waits for a lock for the n-th time.  Returns 0 after the deadline. */
int sm_sqlite_busy(void *sq, int n);

/* Runs the statements of a text. */
int sm_sqlite_exec(sm_sqlite_t *sq, sm_call_t *call, const char *sql);

/* Runs a statement and ignores its rows. */
int sm_sqlite_run(sm_sqlite_t *sq, sm_call_t *call, unsigned which);

/* Runs a statement.  Returns 1 if it changed a row, 0 if not, or -1. */
int sm_sqlite_change(sm_sqlite_t *sq, sm_call_t *call, unsigned which);

/* Returns 1 if a statement finds a row for the manager, 0 if not, or -1. */
int sm_sqlite_has(sm_sqlite_t *sq, sm_call_t *call, unsigned which);

/* Rolls the transaction back, and returns -1. */
int sm_sqlite_rollback(sm_sqlite_t *sq);
int sm_sqlite_commit(sm_sqlite_t *sq, sm_call_t *call);

int sm_sqlite_now(sm_sqlite_t *sq, sm_call_t *call, int64_t *now);

/*
 * Writes the rows of a batch one by one, in one transaction, with the same
 * time for all.  A row that returns -1 ends the batch, and nothing is written.
 */
typedef int (*sm_sqlite_row_pt)(sm_sqlite_t *sq, sm_call_t *call, void *row,
    int64_t now);

int sm_sqlite_rows(sm_conn_t *conn, sm_call_t *call, void *rows, size_t size,
    size_t n, sm_sqlite_row_pt write);

/* A string without data is bound as NULL. */
void sm_sqlite_bind_nth(sqlite3_stmt *stmt, int n, sm_str_t value);
void sm_sqlite_bind_text(sqlite3_stmt *stmt, const char *name, sm_str_t value);
void sm_sqlite_bind_int(sqlite3_stmt *stmt, const char *name, int64_t value);

/* Gives a column; it is valid until the next step of the statement. */
sm_str_t sm_sqlite_peek(sqlite3_stmt *stmt, int column);

/* Copies a column into the call's arena. */
int sm_sqlite_text(sm_call_t *call, sqlite3_stmt *stmt, int column,
    sm_str_t *s);


/*
 * sm_store_sqlite_schema.c: what a release of the module does to a database.
 * The tests have a release that was never published, as a target of
 * migrations.
 */

typedef struct {
    int                  version;
    const char          *schema;
    const char *const   *migrations;    /* the first goes from 1 to 2 */
} sm_sqlite_release_t;

extern const sm_sqlite_release_t  *sm_sqlite_release;

/* Creates or migrates the schema, or fails with what is wrong with it. */
int sm_sqlite_schema(sm_sqlite_t *sq, sm_call_t *call);

/*
 * sm_store_sqlite_log.c: _enter() is before a connection opens, and fails if it
 * would begin a second log; _note() is when it has opened, and _leave() when it
 * was closed.  _usable() returns whether the log is still there.
 */
int sm_sqlite_log_enter(sm_sqlite_t *sq, sm_call_t *call);
int sm_sqlite_log_note(sm_sqlite_t *sq, sm_call_t *call);
void sm_sqlite_log_leave(sm_sqlite_t *sq);
int sm_sqlite_log_usable(sm_sqlite_t *sq);
int sm_sqlite_log_fail(sm_sqlite_t *sq, sm_call_t *call);

/* sm_store_sqlite_lease.c */
int sm_sqlite_fence(sm_sqlite_t *sq, sm_call_t *call, const sm_fence_t *fence);
int sm_sqlite_fence_read(sm_sqlite_t *sq, sm_call_t *call,
    const sm_fence_t *fence);

/*
 * sm_store_sqlite_events.c: creates the events of an intent that has ended, in
 * the same transaction.
 */
int sm_sqlite_ended(sm_sqlite_t *sq, sm_call_t *call, sm_str_t id);

/*
 * sm_store_sqlite_actions.c: cancels an intent, in the caller's transaction.
 * Returns 1 if it did, 0 if the intent is in flight, has ended or does not
 * exist, or -1.
 */
int sm_sqlite_cancel(sm_sqlite_t *sq, sm_call_t *call, sm_str_t id,
    int64_t now);

/*
 * sm_store_sqlite_audit.c: adds an entry, in the transaction of the action.  A
 * detail without data is left out.
 */

int sm_sqlite_audit(sm_sqlite_t *sq, sm_call_t *call, int64_t now,
    const sm_actor_t *actor, const char *action, sm_str_t object,
    sm_str_t detail);

/*
 * sm_store_sqlite_intents.c: _submit() writes the rows of a batch, in the
 * caller's transaction.  _reserved() returns 1 if an id is reserved for a
 * schedule, 0 if not, or -1.
 */
int sm_sqlite_submit(sm_sqlite_t *sq, sm_call_t *call, sm_submit_row_t *rows,
    size_t n);

/*
 * Copies an intent, in the caller's transaction.  Returns 1 if it did, 0 if
 * the new id exists or if there is nothing to copy, or -1.
 */
int sm_sqlite_replay(sm_sqlite_t *sq, sm_call_t *call,
    const sm_replay_insert_t *row, int64_t now);
int sm_sqlite_reserved(sm_sqlite_t *sq, sm_call_t *call, sm_str_t id);


#define SM_SQLITE_FUNCTION(kind, name, ...)                                   \
    int sm_sqlite_##name(sm_conn_t *conn, sm_call_t *call                     \
        SM_STORE_PARAMS(__VA_ARGS__));

SM_STORE_WRITES(SM_SQLITE_FUNCTION)


#endif /* SM_STORE_SQLITE_H */
