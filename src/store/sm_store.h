
/*
 * The store layer: blocking SQL, for threads.
 *
 * A worker process has one sm_store_t per manager.  Any number of threads may
 * call it at once.  Each call takes an idle connection, or opens one, and
 * returns it unless the call failed, so that a connection which saw an error
 * is never used again.  If the maximum number of connections is open, the call
 * waits for one.
 *
 * A connection that was lost in the middle of a call may have left something at
 * the server that is still at work: a commit that waits for a standby is ended
 * by nothing.  It counts as one of the pool until a later login has learned
 * from the server that it has ended; a login beyond the pool is closed again,
 * and its call fails.  So a server has no more than "pool" of them, and one
 * that asks.
 *
 * After a failed login to a server, one login is tried at a time.  Calls that
 * wait for it fail with it, instead of each finding out that the server is
 * down.
 *
 * Nothing is opened before the first call, because handles do not survive a
 * fork.
 */

#ifndef SM_STORE_H
#define SM_STORE_H


#include <pthread.h>

#include "sm_action.h"
#include "sm_attempt.h"
#include "sm_batch.h"
#include "sm_failures.h"
#include "sm_inbox.h"
#include "sm_job.h"
#include "sm_lease.h"
#include "sm_pause.h"
#include "sm_schedule_row.h"
#include "sm_retention.h"
#include "sm_stats.h"


/*
 * The version that this module is written for.  It works with a newer schema,
 * too, if that says so.
 */

#define SM_SCHEMA_VERSION  1


typedef enum {
    SM_STORE_OK = 0,
    SM_STORE_TRANSIENT,         /* may work when tried again: locked, busy */
    SM_STORE_PERMANENT,         /* will not work until somebody fixes it */
    SM_STORE_SCHEMA,            /* the schema is of another version */
    SM_STORE_CONSTRAINT,        /* the store refused the data, not the call */
    SM_STORE_LEASE_LOST,        /* a fenced call, and the fence did not hold */
    SM_STORE_CLASSES
} sm_store_class_e;


/* one call: what it allocates and how it ended */

#define SM_STORE_ERROR_SIZE  512

typedef struct {
    sm_arena_t             arena;
    sm_store_class_e       status;
    int                    code;        /* native, 0: our own */
    char                   error[SM_STORE_ERROR_SIZE];
    int64_t                now;         /* the store's time, if it was asked */
    unsigned               asked;       /* a connection was wanted */
    unsigned               unreached;   /* there was none, or it was lost */
} sm_call_t;


typedef struct {
    sm_str_t               lease_name;
    const char            *path;
    int64_t                busy_timeout;    /* milliseconds */

    /* a database of an older version is migrated without a copy of it */
    unsigned               migrate_no_copy;

    /*
     * Shared by all processes of the instance: the configuration whose
     * database may be created.  The first connection of that configuration
     * clears it, so that a database which disappears later is an error and not
     * an empty store.  After a reload, a worker of the old configuration, which
     * may have another store, does neither.
     */
    volatile unsigned long  *create;
    unsigned long           generation;     /* this configuration; not 0 */

    /*
     * Of a database server; times are milliseconds.  The password is not in
     * the connection string, and in no message.  Both end with a zero.
     */
    sm_str_t               connection;
    sm_str_t               password;        /* no data: none */
    int64_t                login_timeout;
    int64_t                query_timeout;

    /*
     * The time-out of reads that start from the beginning, for recovery and
     * for the queue.  They may have to pass over many dead rows.  They take
     * no locks, and would never succeed if they were given up each time.  It
     * is at least query_timeout.
     */
    int64_t                recover_timeout;

    unsigned               pool;            /* connections, 0: any number */
} sm_store_conf_t;


/*
 * What became of attempts in doubt: of each target that had some, of each
 * intent that has ended, and of all.  The lists are in the memory of the call.
 */

typedef struct sm_recovered_target_s  sm_recovered_target_t;
typedef struct sm_recovered_end_s     sm_recovered_end_t;

struct sm_recovered_target_s {
    sm_str_t               name;
    size_t                 attempts;
    sm_recovered_target_t *next;
};

struct sm_recovered_end_s {
    sm_str_t               id;
    sm_str_t               target;
    int64_t                created_at;      /* or not_before */
    sm_exhausted_e         exhausted;
    unsigned               message;         /* it was to tell a webhook */
    sm_recovered_end_t    *next;
};

typedef struct {
    size_t                 attempts;
    size_t                 retries;
    sm_recovered_target_t *targets;
    sm_recovered_end_t    *ended;
} sm_recovered_t;


typedef struct sm_store_s       sm_store_t;
typedef struct sm_store_ops_s   sm_store_ops_t;
typedef struct sm_conn_s        sm_conn_t;
typedef struct sm_left_s        sm_left_t;


/*
 * Returns the rows of a batch.  It is called when the store is ready for them,
 * so that rows which arrive while others are writing go along.  -1: it has set
 * the call's status and error.
 */
typedef int (*sm_store_take_pt)(void *data, sm_call_t *call,
    sm_submit_row_t **rows, size_t *n);


struct sm_store_s {
    const sm_store_ops_t  *ops;
    sm_store_conf_t        conf;

    struct evp_md_st      *sha256;      /* OpenSSL's, for sm_store.c alone */
    pthread_mutex_t        mutex;
    pthread_cond_t         cond;        /* a connection is free */

    sm_conn_t             *idle;
    unsigned               open;        /* connections, idle or in use */
    unsigned               live;        /* of these, that are logged in */

    /* calls that were given up, and may still be at work at the server */
    sm_left_t             *left;
    unsigned               nleft;

    /* logins to a server: one at a time, after one that failed */
    pthread_cond_t         login_cond;
    unsigned               logins;      /* that are being tried */
    unsigned               failing;     /* the last one failed */
    unsigned               refused;     /* so many did, the last for this: */
    sm_store_class_e       refusal;
    char                   reason[SM_STORE_ERROR_SIZE];
};


extern const sm_store_ops_t  sm_store_sqlite;
extern const sm_store_ops_t  sm_store_postgres;
extern const sm_store_ops_t  sm_store_odbc;

/* for messages */
const char *sm_store_ops_name(const sm_store_ops_t *ops);

/* whether a password or a payload may cross the network to "host" as it is */
int sm_store_postgres_exposed(const char *connection, char *host, size_t size);

/* NULL, or what is wrong with a connection string of PostgreSQL, in "why" */
const char *sm_store_postgres_check(const char *connection, char *why,
    size_t size);


/* whether the connection string has a value of that name, in any case */
int sm_store_odbc_has_key(sm_str_t connection, const char *key);

/* why a driver cannot be given this password; NULL: it can */
const char *sm_store_odbc_refuses(sm_str_t connection, sm_str_t password);


int sm_store_init(sm_store_t *store, const sm_store_ops_t *ops,
    const sm_store_conf_t *conf);

/* no call takes longer than this from now on; while there is none */
void sm_store_hurry(sm_store_t *store, int64_t ms);

/* after the last call has returned */
void sm_store_done(sm_store_t *store);

int sm_store_ping(sm_store_t *store, sm_call_t *call);
int sm_store_tidy(sm_store_t *store, sm_call_t *call);

/*
 * When it returns 0, all rows have an outcome and are committed; a row that
 * the store refused for its data has failed alone, and "error" says why.
 * When it fails, nothing is known of any row.
 */
int sm_store_intents_submit(sm_store_t *store, sm_call_t *call,
    sm_store_take_pt take, void *data);

int sm_store_intents_get(sm_store_t *store, sm_call_t *call,
    sm_get_row_t *rows, size_t n);
int sm_store_intents_length(sm_store_t *store, sm_call_t *call,
    sm_get_row_t *rows, size_t n);
int sm_store_intent_history(sm_store_t *store, sm_call_t *call,
    sm_history_row_t *rows, size_t n);
int sm_store_intent_events(sm_store_t *store, sm_call_t *call,
    sm_events_row_t *row);
int sm_store_intents_list(sm_store_t *store, sm_call_t *call,
    sm_list_row_t *rows, size_t n);

int sm_store_intents_cancel(sm_store_t *store, sm_call_t *call,
    sm_cancel_row_t *rows, size_t n);
int sm_store_intents_replay(sm_store_t *store, sm_call_t *call,
    sm_replay_row_t *rows, size_t n);
int sm_store_replays_insert(sm_store_t *store, sm_call_t *call,
    sm_replay_insert_t *rows, size_t n);
int sm_store_intent_payload(sm_store_t *store, sm_call_t *call,
    sm_payload_row_t *rows, size_t n);
int sm_store_webhooks_resend(sm_store_t *store, sm_call_t *call,
    sm_resend_row_t *rows, size_t n);
int sm_store_audit_list(sm_store_t *store, sm_call_t *call,
    sm_audit_row_t *rows, size_t n);
int sm_store_failures_get(sm_store_t *store, sm_call_t *call,
    sm_failures_row_t *rows, size_t n);

int sm_store_lease_acquire(sm_store_t *store, sm_call_t *call,
    sm_str_t holder, int64_t duration, sm_lease_t *lease);
int sm_store_lease_renew(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease);
int sm_store_lease_takeover(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease);
int sm_store_lease_release(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_lease_t *lease);
int sm_store_lease_watch(sm_store_t *store, sm_call_t *call,
    sm_lease_t *lease, sm_str_t *wake_url);
int sm_store_candidate_heartbeat(sm_store_t *store, sm_call_t *call,
    sm_candidate_t *candidate, int64_t duration);
int sm_store_candidate_remove(sm_store_t *store, sm_call_t *call,
    sm_str_t holder);
int sm_store_cluster_get(sm_store_t *store, sm_call_t *call,
    sm_cluster_t *cluster);

int sm_store_queue_page(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_page_t *page);

/*
 * A row that the store refused for its data is not applied, or gone, alone; the
 * others are then written in more than one transaction.
 */
int sm_store_attempts_turn(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *ended, size_t nended,
    sm_begin_row_t *due, size_t ndue);

/* ends those whose deadline has passed; a row that the store refused is gone */
int sm_store_attempts_expire(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n);

/* the one or the other alone */
int sm_store_attempts_begin(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n);
int sm_store_attempts_complete(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *rows, size_t n);

int sm_store_attempts_in_doubt(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, const sm_doubt_row_t *after, size_t limit,
    sm_doubt_row_t **rows, size_t *n);

/*
 * Records all attempts in doubt as unknown, "leader_lost", in pages, and lets
 * the contracts decide what becomes of their intents.  Known attempts are not
 * in doubt: they stay in flight, and are marked if they are.  An attempt that
 * cannot be recorded stays as it is, and "error" says why.  There is at least
 * one fenced transaction that writes, so 0 means that the lease was held at
 * its commit.  What was recorded stays recorded even if a later page fails.
 */
int sm_store_attempts_recover(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_known_row_t *known, size_t nknown, size_t page,
    uint32_t random, sm_recovered_t *recovered);

int sm_store_inbox_page(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_inbox_page_t *page);

/*
 * A row that the store refuses for its data becomes a refusal, alone; the
 * others are then written in more than one transaction.
 */
int sm_store_inbox_move(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, size_t max_payload, sm_inbox_row_t *rows,
    size_t n);

int sm_store_retention(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_retention_t *rt);

int sm_store_stats_put(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_str_t doc);
int sm_store_stats_get(sm_store_t *store, sm_call_t *call,
    sm_stats_row_t *row);
int sm_store_backlog_get(sm_store_t *store, sm_call_t *call,
    sm_backlog_t *backlog);
int sm_store_jobs_add(sm_store_t *store, sm_call_t *call, sm_job_row_t *rows,
    size_t n);
int sm_store_jobs_stop(sm_store_t *store, sm_call_t *call, sm_job_row_t *rows,
    size_t n);
int sm_store_jobs_list(sm_store_t *store, sm_call_t *call,
    sm_jobs_row_t *rows, size_t n);
int sm_store_job_next(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_job_t *job);
int sm_store_job_apply(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_job_batch_t *batch);

/* what a job would find, up to SM_JOB_COUNT of them */
int sm_store_job_count(sm_store_t *store, sm_call_t *call, sm_job_row_t *row);


/* the next batch of whichever job is its turn */

typedef struct {
    size_t                 limit;       /* intents */

    /* today's contract of a target; NULL: there is none */
    const sm_contract_t *(*contract)(void *data, sm_str_t target);
    void                  *data;

    sm_job_t               job;         /* as it was; no id: there is none */
    sm_job_state_e         state;       /* as it is */
    size_t                 done;        /* in this batch */
    size_t                 skipped;
    sm_job_item_t         *items;
    size_t                 n;
} sm_job_work_t;

/*
 * An intent that the store refuses for its data is skipped, alone; the others
 * are then written in more than one transaction.
 */
int sm_store_job_work(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_job_work_t *work);

/* the first half of the SHA-256 of a text, in SM_JOB_HASH digits */
int sm_store_text_hash(sm_store_t *store, sm_call_t *call, sm_str_t s,
    char *hash);

int sm_store_target_set(sm_store_t *store, sm_call_t *call,
    sm_target_set_t *rows, size_t n);

int sm_store_targets_paused(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_pauses_t *pauses);

/*
 * Schedules: what is asked for by HTTP, row by row, each in as many
 * transactions as it takes, of which one writes.
 */
int sm_store_schedules(sm_store_t *store, sm_call_t *call,
    sm_schedule_row_t *rows, size_t n);
int sm_store_schedules_list(sm_store_t *store, sm_call_t *call,
    sm_schedule_list_t *rows, size_t n);

/* one each of what these and the following are made of: see sm_store_ops.h */
int sm_store_schedules_get(sm_store_t *store, sm_call_t *call,
    sm_schedule_page_t *page);
int sm_store_schedule_write(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_write_t *write);
int sm_store_schedules_due(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_page_t *page);
int sm_store_schedules_fire(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_fire_t *rows, size_t n);

/*
 * The leader's: _seed() makes the schedules those of the configuration, where
 * they are not, removes what is no longer there, and lets those run again whose
 * target is; _tick() fires what is due.
 */

typedef struct {
    const sm_contract_t  *(*contract)(void *data, sm_str_t target);
    void                 *data;
    size_t                limit;        /* schedules, and */
    size_t                bytes;        /* of payloads, in one transaction */

    size_t                created;      /* intents */
    size_t                found;        /* that were there already */
    size_t                schedules;    /* that were due */
    int64_t               skipped;
    int64_t               missed;
    int64_t               next_due;     /* by the store's clock; 0: none */
    unsigned              more:1;

    sm_schedule_fire_t   *rows;         /* for log lines */
    size_t                n;
} sm_schedule_tick_t;

int sm_store_schedules_seed(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_row_t *seeds, size_t n,
    sm_schedule_tick_t *tick);
int sm_store_schedules_tick(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_tick_t *tick);

/*
 * Returns -1 if there is no time zone of that name, and -2 without memory; it
 * reads ICU's data.
 */
int sm_store_zone_check(sm_str_t name);

/* sets the call's status and error, returns -1 */
int sm_call_fail(sm_call_t *call, sm_store_class_e status, int code,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));


#endif /* SM_STORE_H */
