
#ifndef _NGX_HTTP_SUBMISSION_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sm_answer.h"
#include "sm_cursor.h"
#include "sm_leader.h"
#include "sm_policy.h"
#include "sm_registry.h"
#include "sm_schedule.h"
#include "sm_store.h"


#if !(NGX_THREADS)
#error "ngx_http_submission_module requires nginx built --with-threads"
#endif


/* contexts of directives: a submission_manager block, and a target in it */

#define NGX_HTTP_SUBMISSION_CONF         0x00200000
#define NGX_HTTP_SUBMISSION_TARGET_CONF  0x00400000


typedef struct ngx_http_submission_manager_s  ngx_http_submission_manager_t;
typedef struct ngx_http_submission_task_s     ngx_http_submission_task_t;
typedef struct ngx_http_submission_node_s     ngx_http_submission_node_t;
typedef struct ngx_http_submission_leader_s   ngx_http_submission_leader_t;
typedef struct ngx_http_submission_executor_s ngx_http_submission_executor_t;
typedef struct ngx_http_submission_attempt_s  ngx_http_submission_attempt_t;
typedef struct ngx_http_submission_ctx_s      ngx_http_submission_ctx_t;
typedef struct ngx_http_submission_wait_s     ngx_http_submission_wait_t;
typedef struct ngx_http_submission_waiter_s   ngx_http_submission_waiter_t;


typedef enum {
    NGX_HTTP_SUBMISSION_STORE_UNKNOWN = 0,
    NGX_HTTP_SUBMISSION_STORE_UP,
    NGX_HTTP_SUBMISSION_STORE_DOWN,
    NGX_HTTP_SUBMISSION_STORE_SCHEMA
} ngx_http_submission_store_e;


/* what an instance tells of its lease; written by its executor worker alone */

typedef struct {
    ngx_uint_t                       leader;
    ngx_pid_t                        pid;          /* of the executor worker */
    int64_t                          epoch;
    int64_t                          expires_at;   /* store's time, usec */
    ngx_msec_t                       deadline;     /* by .._lease_msec() */
} ngx_http_submission_role_t;


typedef enum {
    NGX_HTTP_SUBMISSION_STAYING = 0,
    NGX_HTTP_SUBMISSION_QUITTING,
    NGX_HTTP_SUBMISSION_QUIT            /* all that was held is released */
} ngx_http_submission_quit_e;


/* what is counted, see metrics.c */

typedef enum {
    NGX_HTTP_SUBMISSION_CREATED = 0,        /* intents */
    NGX_HTTP_SUBMISSION_REPLAYED,
    NGX_HTTP_SUBMISSION_CONFLICTED,
    NGX_HTTP_SUBMISSION_RETRIES,            /* scheduled */
    NGX_HTTP_SUBMISSION_OVERLOADS,          /* requests that were not taken */
    NGX_HTTP_SUBMISSION_REFUSALS,           /* while the breaker was open */
    NGX_HTTP_SUBMISSION_STORE_RETRIES,      /* requests that were tried again */
    NGX_HTTP_SUBMISSION_BREAKS,             /* the breaker opened */
    NGX_HTTP_SUBMISSION_EXPIRED_UNSENT,     /* intents, never sent */
    NGX_HTTP_SUBMISSION_COUNTERS
} ngx_http_submission_counter_e;

typedef enum {
    NGX_HTTP_SUBMISSION_QUEUE_DEPTH = 0,    /* of the executor, while it is */
    NGX_HTTP_SUBMISSION_INFLIGHT,
    NGX_HTTP_SUBMISSION_GAUGES
} ngx_http_submission_gauge_e;

typedef enum {
    NGX_HTTP_SUBMISSION_ATTEMPT_DURATION = 0,
    NGX_HTTP_SUBMISSION_QUEUE_DELAY,        /* from due to begun */
    NGX_HTTP_SUBMISSION_DURATIONS
} ngx_http_submission_duration_e;


/* what a task asks of the store; must be in the order of _ops[], in task.c */

typedef enum {
    NGX_HTTP_SUBMISSION_OP_NONE = 0,        /* nothing */
    NGX_HTTP_SUBMISSION_OP_PING,
    NGX_HTTP_SUBMISSION_OP_INTENTS_SUBMIT,
    NGX_HTTP_SUBMISSION_OP_INTENTS_GET,
    NGX_HTTP_SUBMISSION_OP_INTENT_HISTORY,
    NGX_HTTP_SUBMISSION_OP_INTENTS_LIST,
    NGX_HTTP_SUBMISSION_OP_CLUSTER_GET,
    NGX_HTTP_SUBMISSION_OP_LEASE_ACQUIRE,
    NGX_HTTP_SUBMISSION_OP_LEASE_TAKEOVER,
    NGX_HTTP_SUBMISSION_OP_LEASE_RENEW,
    NGX_HTTP_SUBMISSION_OP_LEASE_RELEASE,
    NGX_HTTP_SUBMISSION_OP_LEASE_GET,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_PAGE,
    NGX_HTTP_SUBMISSION_OP_ATTEMPTS_TURN,
    NGX_HTTP_SUBMISSION_OP_ATTEMPTS_RECOVER,
    NGX_HTTP_SUBMISSION_OP_TIDY,
    NGX_HTTP_SUBMISSION_OPS
} ngx_http_submission_op_e;

typedef struct {
    const char                      *name;
    ngx_uint_t                       batch;        /* it has rows */
} ngx_http_submission_op_t;


/* of microseconds, or of rows; the bounds of its buckets are in metrics.c */

#define NGX_HTTP_SUBMISSION_BUCKETS  16

typedef struct {
    ngx_atomic_t                     buckets[NGX_HTTP_SUBMISSION_BUCKETS];
    ngx_atomic_t                     sum;
} ngx_http_submission_histogram_t;


/* a gauge of the executor is good while its epoch is led */

typedef struct {
    ngx_atomic_t                     value;
    ngx_atomic_t                     epoch;
} ngx_http_submission_gauge_t;


#define NGX_HTTP_SUBMISSION_STATUSES  (SM_STATUS_EXHAUSTED + 1)
#define NGX_HTTP_SUBMISSION_CLASSES   (SM_STORE_LEASE_LOST + 1)

typedef struct {
    ngx_atomic_t                     counters[NGX_HTTP_SUBMISSION_COUNTERS];
    ngx_atomic_t                     attempts[SM_OUTCOMES];
    ngx_atomic_t                     terminal[NGX_HTTP_SUBMISSION_STATUSES];
    ngx_atomic_t                     exhausted[SM_EXHAUSTED_REASONS];
    ngx_http_submission_gauge_t      gauges[NGX_HTTP_SUBMISSION_GAUGES];

    ngx_http_submission_histogram_t
                                 to_terminal[NGX_HTTP_SUBMISSION_STATUSES];
    ngx_http_submission_histogram_t
                                 durations[NGX_HTTP_SUBMISSION_DURATIONS];

    ngx_http_submission_histogram_t  calls[NGX_HTTP_SUBMISSION_OPS];
    ngx_http_submission_histogram_t  rows[NGX_HTTP_SUBMISSION_OPS];
    ngx_atomic_t                     errors[NGX_HTTP_SUBMISSION_OPS]
                                           [NGX_HTTP_SUBMISSION_CLASSES];
} ngx_http_submission_metrics_t;


/* hashes of intents with a new attempt, the last so many; see notice.c */

#define NGX_HTTP_SUBMISSION_NOTICES  4096

typedef struct {
    ngx_atomic_t                     until;        /* when somebody may wait */
    ngx_atomic_t                     n;            /* of all there ever were */
    uint64_t                         hashes[NGX_HTTP_SUBMISSION_NOTICES];
} ngx_http_submission_notices_t;


/*
 * Shared by all workers, kept across reload.  Each atomic field is written
 * whole and read without a lock; times are monotonic milliseconds, the same
 * in all processes of a host.
 */

typedef struct {
    /* "role" is being written while "sequence" is odd */
    ngx_atomic_t                     sequence;
    ngx_http_submission_role_t       role;

    /*
     * For whoever executes next in this instance: the epoch that it holds or
     * may hold, and until when at least, by the store's time.
     */
    ngx_atomic_t                     held;
    ngx_atomic_t                     held_until;   /* usec */
    ngx_atomic_t                     held_tenure;

    /*
     * Count configurations: at reload there is a newer one than one's own.
     * With another store, lease_name or holder_id another tenure begins, that
     * has nothing of the one before to take over.
     */
    ngx_atomic_t                     generation;
    ngx_atomic_t                     tenure;
    ngx_atomic_t                     quitting;     /* .._STAYING ... _QUIT */

    ngx_atomic_t                     create;       /* see sm_store_conf_t */

    ngx_atomic_t                     woken;        /* and not looked at yet */

    ngx_atomic_t                     store;        /* .._STORE_* */
    ngx_atomic_t                     answered;     /* the last commit */
    ngx_atomic_t                     probed;       /* the last probe begun */
    ngx_atomic_t                     probing;      /* and it has not ended */

    /* see breaker.c */
    ngx_atomic_t                     reached;      /* the last good answer */
    ngx_atomic_t                     failing;      /* since then; 0: is not */
    ngx_atomic_t                     broken;       /* since then; 0: closed */

    /* when the instance started, by the store's time, usec; 0: unknown yet */
    ngx_atomic_t                     started_at;

    size_t                           holder_id_len;
    u_char                           holder_id[128];

    ngx_http_submission_metrics_t    metrics;
    ngx_http_submission_notices_t    notices;
} ngx_http_submission_shctx_t;


#define NGX_HTTP_SUBMISSION_VERSION  "0.1"


/* of the gateway of a target, in the worker that executes; see outage.c */

typedef struct {
    int64_t                          epoch;        /* in which it was seen */
    ngx_uint_t                       errors;       /* in a row; 0: it is up */
    ngx_msec_t                       since;        /* the first of them */
    ngx_msec_t                       told;         /* the last line of it */
    unsigned                         down:1;       /* and that was told */
} ngx_http_submission_outage_t;


typedef struct {
    ngx_str_node_t                   node;
    sm_contract_t                    contract;
    ngx_uint_t                       concurrency;   /* 0: no limit of its own */
    ngx_http_submission_outage_t     outage;
} ngx_http_submission_target_t;


/* what asks the store in batches */

typedef enum {
    NGX_HTTP_SUBMISSION_SUBMIT = 0,
    NGX_HTTP_SUBMISSION_GET,
    NGX_HTTP_SUBMISSION_HISTORY,
    NGX_HTTP_SUBMISSION_LIST,
    NGX_HTTP_SUBMISSION_CLUSTER,
    NGX_HTTP_SUBMISSION_KINDS
} ngx_http_submission_kind_e;


/* a request is described by the inputs of its row, answered by the rest */

typedef union {
    sm_submit_row_t                  submit;
    sm_get_row_t                     get;
    sm_history_row_t                 history;
    sm_list_row_t                    list;
    sm_cluster_t                     cluster;
} ngx_http_submission_row_t;


/* one kind's requests of one worker; the mutex is for what waits */

typedef struct {
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_kind_e       kind;
    ngx_event_t                      start;
    ngx_event_t                      again;        /* after an error */
    ngx_uint_t                       failures;     /* in a row */
    unsigned                         busy:1;       /* a task is out */

    ngx_thread_mutex_t               mutex;
    ngx_queue_t                      waiting;      /* .._node_t */
    ngx_uint_t                       nwaiting;
    size_t                           bytes;        /* of payload in them */
} ngx_http_submission_queue_t;


struct ngx_http_submission_manager_s {
    ngx_str_t                        name;
    u_char                          *file;
    ngx_uint_t                       line;
    unsigned                         defined:1;

    size_t                           zone_size;

    const sm_store_ops_t            *store_ops;
    ngx_str_t                        store_path;
    ngx_msec_t                       busy_timeout;
    ngx_str_t                        connection;   /* of a database server */
    ngx_str_t                        password;
    ngx_msec_t                       login_timeout;
    ngx_msec_t                       query_timeout;
    ngx_msec_t                       retry;        /* 0: the store does it */
    ngx_uint_t                       pool;

    ngx_str_t                        lease_name;
    ngx_msec_t                       lease_duration;
    ngx_msec_t                       renew_interval;
    ngx_msec_t                       acquire_interval;
    ngx_msec_t                       schedule_refresh_interval;
    ngx_str_t                        holder_id;
    ngx_uint_t                       unique;       /* it was made up */
    ngx_flag_t                       release_on_exit;

    ngx_uint_t                       executor_off;
    ngx_uint_t                       executor_given;  /* its concurrency */
    ngx_int_t                        executor_concurrency;
    ngx_int_t                        executor_batch;
    ngx_int_t                        executor_timeout;
    ngx_int_t                        intake_queue;
    ngx_int_t                        intake_batch;

    ngx_str_t                        registry;
    ngx_uint_t                       ntargets;
    ngx_rbtree_t                     targets;      /* .._target_t */
    ngx_rbtree_node_t                sentinel;

    ngx_cycle_t                     *cycle;
    ngx_thread_pool_t               *thread_pool;
    ngx_shm_zone_t                  *shm_zone;
    ngx_http_submission_shctx_t     *sh;
    ngx_uint_t                       generation;   /* see .._shctx_t */
    ngx_uint_t                       tenure;
    unsigned                         new_tenure:1;

    ngx_http_core_loc_conf_t        *dispatch;
    ngx_http_core_srv_conf_t        *dispatch_server;

    /* the same ones in all configurations, as far as they have the manager */
    ngx_fd_t                         lock;         /* of the executor worker */
    ngx_fd_t                         wake;         /* eventfd, of wake.c */
    ngx_fd_t                         notice;       /* eventfd, of notice.c */

    /* of this worker */
    ngx_http_submission_leader_t    *leader;       /* NULL: executor off */
    ngx_http_submission_executor_t  *executor;
    sm_store_t                       store;
    ngx_event_t                      probe;
    ngx_event_t                      tell;
    ngx_event_t                      tidy;
    ngx_http_submission_queue_t      queues[NGX_HTTP_SUBMISSION_KINDS];
    ngx_uint_t                       ncalls;       /* of the API, under way */
    ngx_http_submission_wait_t      *wait;
};


typedef struct {
    ngx_array_t                      managers;     /* .._manager_t * */
} ngx_http_submission_main_conf_t;


typedef struct {
    ngx_http_submission_manager_t   *api;
    ngx_str_t                        prefix;       /* of the API */
    ngx_http_submission_manager_t   *readyz;
    ngx_http_submission_manager_t   *metrics;
} ngx_http_submission_loc_conf_t;


/*
 * The one door between the event loop and the threads.
 *
 * A task and all that it points to belong to the task alone: the thread may
 * outlive the request that wanted it.  "run" is called in a thread and may
 * not use nginx; "done" on the event loop, after which the task is freed.
 * Each task with an "op" is counted in the metrics, as soon as it has run.
 */

struct ngx_http_submission_task_s {
    ngx_thread_task_t                thread;
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_op_e         op;
    ngx_uint_t                       rows;         /* of a batch, when it ran */
    ngx_uint_t                       writes;       /* it ends in a commit */
    ngx_msec_t                       posted;
    sm_call_t                        call;

    void                           (*run)(ngx_http_submission_task_t *task);
    void                           (*done)(ngx_http_submission_task_t *task);
};


/*
 * Takes a request with its whole body, which is there only until it returns:
 * NGX_DONE, it is answered later, or what the request is to be finalized with.
 * That may be NGX_AGAIN: the output filters have not sent all of the answer.
 */

typedef ngx_int_t (*ngx_http_submission_body_pt)(ngx_http_request_t *r,
    sm_str_t body);


/* a request of the API */

struct ngx_http_submission_ctx_s {
    ngx_http_request_t              *request;
    ngx_http_submission_body_pt      body_handler;
    ngx_http_submission_kind_e       kind;
    ngx_http_submission_row_t        row;

    ngx_http_submission_node_t      *node;         /* while it waits */
    ngx_http_submission_queue_t     *queue;

    ngx_msec_t                       wait;         /* for a first attempt */
    ngx_http_submission_waiter_t    *waiter;       /* while it does */

    ngx_buf_t                       *instead;      /* of nginx's error page */
    unsigned                         answered:1;
};


/* a field of a log line, made by ngx_http_submission_field() */

typedef struct {
    ngx_str_t                        text;
    u_char                           data[1024];
} ngx_http_submission_field_t;


/* what is wrong with the arguments of a query, see args.c */

typedef struct {
    char                             message[384];
    const char                      *field;        /* NULL: not a known one */
} ngx_http_submission_args_t;


/* a request's row while the intake has it, see intake.c */

struct ngx_http_submission_node_s {
    ngx_queue_t                   queue;
    ngx_http_submission_ctx_t    *ctx;          /* NULL: it has gone */
    ngx_uint_t                    taken;
    ngx_uint_t                    tries;        /* that failed */
    ngx_msec_t                    entered;
    ngx_http_submission_row_t     row;
    char                          data[];
};


/* those that go in one call */

typedef struct {
    ngx_http_submission_task_t    task;
    ngx_http_submission_queue_t  *queue;

    ngx_queue_t                   nodes;        /* taken from the queue */
    ngx_uint_t                    n;
    void                         *rows;         /* of the nodes, in a row */
    size_t                        row_size;
    ngx_atomic_uint_t             notices;      /* that were before */
} ngx_http_submission_batch_t;


/* leadership of one manager in one worker, see leader.c */

#define NGX_HTTP_SUBMISSION_RETRY  500      /* milliseconds, after an error */
#define NGX_HTTP_SUBMISSION_PAUSE  100      /* when something is short */

/* what comes with an event, as far as the actions of its row need it */

typedef struct {
    ngx_msec_t                       wait;         /* until the next tick */
    const char                      *reason;
    const char                      *sql_error;

    int64_t                          epoch;        /* what was granted */
    int64_t                          expires_at;
    ngx_msec_t                       deadline;
} ngx_http_submission_change_t;


struct ngx_http_submission_leader_s {
    ngx_http_submission_manager_t   *manager;
    sm_leader_state_e                state;

    ngx_event_t                      tick;         /* the next thing to do */
    ngx_event_t                      expiry;       /* the deadline */

    ngx_http_submission_task_t      *call;         /* that is out */

    unsigned                         failing:1;    /* and that was logged */
    unsigned                         released:1;
    unsigned                         flushing:1;   /* the executor records */
    unsigned                         yielding:1;   /* see lease.c */

    ngx_msec_t                       aim;          /* of the next acquire */
    ngx_msec_t                       kept;         /* the last time */
    ngx_msec_t                       yield;        /* to others until then */
    ngx_uint_t                       failures;     /* of an epoch, in a row */

    int64_t                          epoch;
    int64_t                          expires_at;
    ngx_msec_t                       deadline;
};


/* a call to the store about the lease, see lease.c */

typedef enum {
    NGX_HTTP_SUBMISSION_ACQUIRE = 0,
    NGX_HTTP_SUBMISSION_RECOVER,
    NGX_HTTP_SUBMISSION_RENEW,
    NGX_HTTP_SUBMISSION_KEEP,           /* renewed, if nobody else is there */
    NGX_HTTP_SUBMISSION_YIELD,          /* released, for somebody else */
    NGX_HTTP_SUBMISSION_RELEASE,
    NGX_HTTP_SUBMISSION_WATCH
} ngx_http_submission_lease_e;

typedef struct {
    ngx_http_submission_task_t       task;
    ngx_http_submission_lease_e      kind;
    sm_leader_state_e                state;        /* when it was made */

    sm_candidate_t                   candidate;
    int64_t                          ttl;
    sm_fence_t                       fence;        /* epoch 0: none is known */
    int64_t                          held_until;
    int64_t                          duration;
    ngx_uint_t                       release;

    ngx_msec_t                       started;      /* the call that counts */
    sm_lease_t                       lease;
    ngx_uint_t                       look;         /* for others */
    ngx_uint_t                       others;       /* instances that live */

    uint32_t                         random;
    sm_known_row_t                  *known;        /* see executor.c */
    size_t                           nknown;
    sm_recovered_t                   recovered;
} ngx_http_submission_lease_t;


/* a place in the schedule's order, see schedule.c */

typedef struct {
    int64_t                          at;
    size_t                           len;
    u_char                           id[SM_ID_MAX * 4];
} ngx_http_submission_cursor_t;


/* what a worker executes for one manager, see executor.c */

struct ngx_http_submission_executor_s {
    ngx_http_submission_manager_t   *manager;

    sm_schedule_t                   *schedule;     /* NULL: it does not lead */
    int64_t                          epoch;
    ngx_uint_t                       generation;   /* of the schedule */

    /* the store's time, and when it was that */
    int64_t                          now;
    int64_t                          now_at;

    ngx_event_t                      run;
    ngx_event_t                      due;          /* the next one is due */
    ngx_msec_t                       pause;        /* nothing begins before */
    ngx_msec_t                       retry;        /* nor is recorded */
    int64_t                          gone;         /* an epoch, says a fence */
    ngx_uint_t                       failures;     /* of turns, in a row */
    ngx_msec_t                       failing;      /* since then, if any */
    time_t                           warned;       /* of connections */

    /* those whose deadline has passed, since the last line of them */
    ngx_event_t                      expiry;
    ngx_uint_t                       nexpired;
    ngx_msec_t                       expiry_told;

    ngx_http_submission_task_t      *turn;         /* that is out */

    /*
     * Since when what is due could not be sent for lack of connections, in
     * ngx_http_submission_msec(); 0: it can be, or nothing is due.
     */
    ngx_msec_t                       starved_since;

    unsigned                         unsent:1;     /* so the last attempt */
    unsigned                         reserved:1;   /* see reserve.c */
    unsigned                         leaving:1;
    ngx_queue_t                      sending;      /* .._attempt_t */
    ngx_uint_t                       nsending;
    ngx_queue_t                      ended;        /* .._attempt_t */
    ngx_uint_t                       nended;

    /* the schedule's pages */
    ngx_event_t                      refresh;
    ngx_connection_t                *wake;
    unsigned                         paging:1;
    unsigned                         rebuilding:1;
    unsigned                         due_done:1;
    unsigned                         want_window:1;
    unsigned                         want_new:1;
    int64_t                          begun_at;     /* the rebuild */
    int64_t                          window;       /* microseconds */
    int64_t                          widened_at;   /* all of it was read */
    ngx_http_submission_cursor_t     modified;
    ngx_http_submission_cursor_t     retries;
    ngx_http_submission_cursor_t     seen;         /* the last of all */

    ngx_event_t                      sweep;
    unsigned                         sweeping:1;   /* a call is out */
    ngx_http_submission_cursor_t     swept;
};


/* what kept an attempt on this host, before anybody was connected to */

typedef enum {
    NGX_HTTP_SUBMISSION_UNSENT_NOT = 0,     /* nothing, as far as is known */
    NGX_HTTP_SUBMISSION_UNSENT_NAME,        /* of the gateway: no address */
    NGX_HTTP_SUBMISSION_UNSENT_SHORT        /* of connections, or memory */
} ngx_http_submission_unsent_e;


/*
 * An attempt from begin to complete: one piece of memory, with all that it
 * points to, but for what nginx has of it while it is at the gateway.
 */

struct ngx_http_submission_attempt_s {
    ngx_http_connection_t            hc;           /* must be first */

    ngx_queue_t                      queue;
    ngx_http_submission_manager_t   *manager;
    ngx_uint_t                       generation;
    sm_entry_t                      *entry;        /* of that generation */
    ngx_uint_t                       known;        /* see executor.c */

    sm_str_t                         id;
    sm_contract_t                    contract;
    sm_str_t                         payload;
    int64_t                          number;
    int64_t                          epoch;
    int64_t                          created_at;
    int64_t                          due_at;
    int64_t                          started_at;
    int64_t                          finished_at;

    /* at the gateway */
    ngx_connection_t                *connection;
    ngx_http_request_t              *request;
    ngx_event_t                      hook;
    ngx_event_t                      timeout;
    ngx_int_t                      (*create_request)(ngx_http_request_t *r);
    ngx_output_chain_filter_pt       output_filter;
    void                            *output_ctx;
    ngx_atomic_uint_t                peer;         /* number of connection */
    ngx_str_t                        url;
    ngx_str_t                        path;
    int64_t                          left_at;      /* monotonic, usec */

    sm_answer_t                      answer;
    u_char                          *body;
    size_t                           allocated;
    unsigned                         complete:1;
    unsigned                         gated:1;      /* not let out */
    unsigned                         sent:1;       /* some of it, maybe */
    unsigned                         forgotten:1;  /* another settles it */
    ngx_http_submission_unsent_e     unsent;

    /* the end */
    sm_arena_t                       arena;
    sm_outcome_e                     outcome;
    sm_str_t                         reason;
    sm_str_t                         error;
    int64_t                          retry_after;
    sm_policy_out_t                  decision;

    char                             data[];
};


/* an optional "name=value" parameter of a directive */

typedef enum {
    NGX_HTTP_SUBMISSION_NUMBER = 0,
    NGX_HTTP_SUBMISSION_MSEC,
    NGX_HTTP_SUBMISSION_PERCENT         /* written as a fraction: 1.5, 0.2 */
} ngx_http_submission_option_e;

typedef struct {
    const char                      *name;
    ngx_http_submission_option_e     type;
    ngx_int_t                        min;
    ngx_int_t                        max;
    const char                      *expected;
    ngx_int_t                       *value;
} ngx_http_submission_option_t;


/* ngx_conf_post_t of a directive with one time as its argument */

typedef struct {
    ngx_conf_post_handler_pt         post_handler;  /* unused */
    ngx_msec_t                       min;
    ngx_msec_t                       max;
    const char                      *expected;
} ngx_http_submission_msec_bounds_t;


extern ngx_module_t              ngx_http_submission_module;
extern ngx_http_submission_op_t  ngx_http_submission_ops[];


/* conf.c */
char *ngx_http_submission_manager_block(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_http_submission_manager_t *ngx_http_submission_conf_manager(ngx_conf_t *cf,
    ngx_str_t *name);
char *ngx_http_submission_conf_reference(ngx_conf_t *cf,
    ngx_http_submission_manager_t **managerp);
char *ngx_http_submission_conf_nested(ngx_conf_t *cf, ngx_uint_t type,
    void *conf);
char *ngx_http_submission_conf_msec(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_name(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_zone(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_thread_pool(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_store(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_executor(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_intake(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_options(ngx_conf_t *cf, ngx_uint_t first,
    ngx_http_submission_option_t *options);

/* server.c: stores of database servers */
char *ngx_http_submission_server_postgres(ngx_conf_t *cf,
    ngx_http_submission_manager_t *manager);
char *ngx_http_submission_server_odbc(ngx_conf_t *cf,
    ngx_http_submission_manager_t *manager);

/* check.c */
ngx_int_t ngx_http_submission_check(ngx_conf_t *cf);
void ngx_http_submission_check_connections(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);

/* target.c */
char *ngx_http_submission_target_block(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_target_gateway_type(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_submission_target_gateway_url(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_submission_target_policy(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_target_outcomes(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_target_retry_delay(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_submission_targets_file(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_http_submission_target_t *ngx_http_submission_target(
    ngx_http_submission_manager_t *manager, ngx_str_t *name);

/*
 * module.c.  _open() makes what a manager needs outside of nginx.  _keep()
 * closes a descriptor with its configuration; that is in the master alone: a
 * worker has it until it ends.
 */
ngx_int_t ngx_http_submission_open(ngx_http_submission_manager_t *manager);
ngx_int_t ngx_http_submission_keep(ngx_cycle_t *cycle, ngx_fd_t fd,
    u_char *name);

/* zone.c */
ngx_int_t ngx_http_submission_zone_add(ngx_conf_t *cf,
    ngx_http_submission_manager_t *manager);

void ngx_http_submission_zone_holder(ngx_http_submission_manager_t *manager,
    ngx_cycle_t *cycle);

ngx_msec_t ngx_http_submission_msec(void);
ngx_msec_t ngx_http_submission_since(ngx_atomic_uint_t time);
ngx_msec_t ngx_http_submission_lease_msec(void);
int64_t ngx_http_submission_usec(void);
void ngx_http_submission_zone_publish(ngx_http_submission_manager_t *manager,
    ngx_http_submission_role_t *role);
void ngx_http_submission_zone_role(ngx_http_submission_manager_t *manager,
    ngx_http_submission_role_t *role);

/* election.c */
ngx_int_t ngx_http_submission_election_open(
    ngx_http_submission_manager_t *manager,
    ngx_http_submission_manager_t *old);
ngx_int_t ngx_http_submission_election_win(
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_election_resign(
    ngx_http_submission_manager_t *manager);

/* leader.c */
ngx_int_t ngx_http_submission_leader_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_leader_apply(ngx_http_submission_leader_t *ld,
    sm_leader_event_e event, ngx_http_submission_change_t *change);
void ngx_http_submission_leader_event(ngx_http_submission_leader_t *ld,
    sm_leader_event_e event, ngx_msec_t wait, const char *reason,
    const char *sql_error);
void ngx_http_submission_leader_leave(ngx_http_submission_leader_t *ld);
void ngx_http_submission_leader_end(ngx_http_submission_leader_t *ld,
    ngx_msec_t deadline);
ngx_uint_t ngx_http_submission_leader_gate(ngx_http_submission_leader_t *ld,
    int64_t epoch);
ngx_uint_t ngx_http_submission_leader_yields(
    ngx_http_submission_leader_t *ld);
ngx_msec_t ngx_http_submission_leader_back_off(
    ngx_http_submission_leader_t *ld);
void ngx_http_submission_leader_works(ngx_http_submission_leader_t *ld);
void ngx_http_submission_leader_failed(ngx_http_submission_leader_t *ld,
    int64_t epoch, sm_call_t *call);
void ngx_http_submission_leader_no_memory(ngx_http_submission_leader_t *ld,
    int64_t epoch);
void ngx_http_submission_leader_idle(ngx_http_submission_leader_t *ld);
ngx_uint_t ngx_http_submission_leader_late(ngx_http_submission_leader_t *ld);
void ngx_http_submission_leader_log(ngx_http_submission_leader_t *ld,
    ngx_uint_t level, const char *event, const char *reason,
    const char *sql_error);

/* lease.c; NGX_BUSY: a call is out */
ngx_int_t ngx_http_submission_lease_call(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind);
ngx_msec_t ngx_http_submission_lease_wait(ngx_http_submission_leader_t *ld,
    ngx_msec_t deadline);

/*
 * For a worker that is being terminated, in place: _settle() looks at what the
 * last call has left in the row, _end() gives the lease up, first what is in
 * doubt.
 */
void ngx_http_submission_lease_settle(ngx_http_submission_leader_t *ld);
void ngx_http_submission_lease_end(ngx_http_submission_leader_t *ld,
    ngx_uint_t doubt, ngx_msec_t deadline);

/* task.c */
void *ngx_http_submission_task_create(ngx_http_submission_manager_t *manager,
    size_t size);
ngx_int_t ngx_http_submission_task_post(ngx_http_submission_task_t *task);
void ngx_http_submission_task_free(ngx_http_submission_task_t *task);
void ngx_http_submission_task_exit(ngx_log_t *log);

#define NGX_HTTP_SUBMISSION_ALL  NGX_MAX_INT_T_VALUE

/*
 * intake.c.  _refuse() answers all that wait: the breaker is open.  _next()
 * lets the next one ask, after a call of the API has ended.
 */
ngx_int_t ngx_http_submission_intake_init(
    ngx_http_submission_manager_t *manager, ngx_log_t *log);
ngx_int_t ngx_http_submission_intake(ngx_http_submission_manager_t *manager,
    ngx_http_submission_ctx_t *ctx);
void ngx_http_submission_intake_refuse(ngx_http_submission_manager_t *manager);
void ngx_http_submission_intake_next(ngx_http_submission_manager_t *manager,
    ngx_uint_t kind);
size_t ngx_http_submission_intake_payload(ngx_http_submission_node_t *node,
    ngx_http_submission_kind_e kind);
void ngx_http_submission_intake_take(ngx_http_submission_batch_t *batch,
    ngx_uint_t max);
ngx_http_submission_row_t *ngx_http_submission_intake_row(
    ngx_http_submission_batch_t *batch, ngx_uint_t i);

/* call.c: the calls of the kinds, in threads */
void ngx_http_submission_run_submit(ngx_http_submission_task_t *task);
void ngx_http_submission_run_get(ngx_http_submission_task_t *task);
void ngx_http_submission_run_history(ngx_http_submission_task_t *task);
void ngx_http_submission_run_list(ngx_http_submission_task_t *task);
void ngx_http_submission_run_cluster(ngx_http_submission_task_t *task);

/* retry.c: leaves in the batch what is not tried again */
void ngx_http_submission_retry(ngx_http_submission_batch_t *batch);

/*
 * breaker.c: whether the API may call the store, how many times at once in a
 * worker, and how long it waits after so many failures.  _report() has the
 * outcome of any call.
 */
ngx_uint_t ngx_http_submission_breaker_open(
    ngx_http_submission_manager_t *manager);
ngx_uint_t ngx_http_submission_breaker_room(
    ngx_http_submission_manager_t *manager);
ngx_msec_t ngx_http_submission_breaker_delay(ngx_uint_t failures);
void ngx_http_submission_breaker_report(ngx_http_submission_task_t *task);

/* api.c */
ngx_int_t ngx_http_submission_api_handler(ngx_http_request_t *r);

/*
 * args.c: takes the arguments of the query into the row of a request whose kind
 * is known.  NGX_DECLINED: they are not good.
 */
ngx_int_t ngx_http_submission_args(ngx_http_submission_ctx_t *ctx,
    ngx_http_submission_args_t *args);

/* body.c */
ngx_int_t ngx_http_submission_body_read(ngx_http_request_t *r,
    ngx_http_submission_body_pt handler);

/* reply.c */
ngx_int_t ngx_http_submission_reply_init(ngx_conf_t *cf);
ngx_int_t ngx_http_submission_reply(ngx_http_submission_ctx_t *ctx,
    const ngx_http_submission_row_t *row);
ngx_int_t ngx_http_submission_reply_error(ngx_http_request_t *r,
    ngx_uint_t status, const char *code, const char *message,
    const char *field);
ngx_int_t ngx_http_submission_reply_unavailable(ngx_http_request_t *r,
    ngx_uint_t overloaded);
ngx_int_t ngx_http_submission_reply_overloaded(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_reply_method(ngx_http_request_t *r,
    const char *allow);
void ngx_http_submission_finalize(ngx_http_request_t *r, ngx_int_t rc);

/* schedule.c */
void ngx_http_submission_schedule_init(ngx_http_submission_executor_t *ex);
void ngx_http_submission_schedule_start(ngx_http_submission_executor_t *ex);
void ngx_http_submission_schedule_stop(ngx_http_submission_executor_t *ex);

/*
 * executor.c.  _leave() ends it in peace: what is at gateways may finish, and
 * _drained() tells when it has.  _lost() ends it at once.  _known() lists what
 * it has in hand of earlier epochs, and _recovered() is told what is still its
 * own of that: nothing, without a call.
 */
ngx_int_t ngx_http_submission_executor_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_executor_start(
    ngx_http_submission_manager_t *manager, int64_t epoch);
void ngx_http_submission_executor_leave(
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_executor_lost(
    ngx_http_submission_manager_t *manager);
ngx_int_t ngx_http_submission_executor_known(
    ngx_http_submission_manager_t *manager, ngx_http_submission_lease_t *call);
void ngx_http_submission_executor_recovered(
    ngx_http_submission_manager_t *manager, ngx_http_submission_lease_t *call);
ngx_uint_t ngx_http_submission_executor_drained(
    ngx_http_submission_manager_t *manager);
ngx_uint_t ngx_http_submission_executor_room(
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_executor_starved(ngx_http_submission_executor_t *ex);
void ngx_http_submission_executor_wake(ngx_http_submission_executor_t *ex);
void ngx_http_submission_executor_time(ngx_http_submission_executor_t *ex,
    int64_t now);
int64_t ngx_http_submission_executor_now(ngx_http_submission_executor_t *ex);

/*
 * reserve.c: the worker's connections.  _open() while an executor may begin so
 * many attempts, _take() before each is sent, _put() when it has ended, _adjust()
 * now and then.  _room() is how many may begin, _most() how many of so many
 * connections at the most.  _short() is how many of their
 * connections clients should not keep for waiting, 0: there are enough.
 */
void ngx_http_submission_reserve_open(ngx_uint_t attempts);
void ngx_http_submission_reserve_close(ngx_uint_t attempts);
void ngx_http_submission_reserve_take(void);
void ngx_http_submission_reserve_put(void);
void ngx_http_submission_reserve_adjust(void);
ngx_uint_t ngx_http_submission_reserve_room(void);
ngx_uint_t ngx_http_submission_reserve_most(ngx_uint_t connections);
ngx_uint_t ngx_http_submission_reserve_short(void);

/* outage.c: an attempt has ended, or could not be sent */
void ngx_http_submission_outage(ngx_http_submission_attempt_t *at);

/* attempt.c */
void ngx_http_submission_attempt_start(ngx_http_submission_manager_t *manager,
    ngx_uint_t generation, sm_entry_t *entry, sm_begin_row_t *row,
    int64_t epoch, int64_t now);
void ngx_http_submission_attempt_finished(ngx_http_submission_attempt_t *at);
void ngx_http_submission_attempt_drop(ngx_http_submission_attempt_t *at,
    const char *why);
void ngx_http_submission_attempt_free(ngx_http_submission_attempt_t *at);
void ngx_http_submission_attempt_log(ngx_http_submission_attempt_t *at,
    ngx_uint_t level, const char *event, const char *note);

/* expiry.c: intents that were given up before their first attempt */
void ngx_http_submission_expiry_init(ngx_http_submission_executor_t *ex);
void ngx_http_submission_expiry_add(ngx_http_submission_executor_t *ex,
    ngx_uint_t n);
void ngx_http_submission_expiry_tell(ngx_http_submission_executor_t *ex);

/*
 * turn.c: NGX_OK, the call is out, or there is nothing to do; NGX_ERROR, not
 * now.  _flush() records what has ended after the lease was lost, if it can
 * still be: NGX_AGAIN, the leader is told later; NGX_BUSY, it is to be tried
 * again; NGX_OK, there is nothing.  _end() does so in place, for a worker that
 * is being terminated: NGX_OK, all that has ended is recorded.
 */
ngx_int_t ngx_http_submission_turn(ngx_http_submission_executor_t *ex);
ngx_int_t ngx_http_submission_turn_flush(
    ngx_http_submission_manager_t *manager);
ngx_int_t ngx_http_submission_turn_end(ngx_http_submission_manager_t *manager,
    ngx_msec_t deadline);

/* send.c */
ngx_int_t ngx_http_submission_send_init(ngx_cycle_t *cycle);
ngx_int_t ngx_http_submission_send_attempt(ngx_http_submission_attempt_t *at);
ngx_http_submission_attempt_t *ngx_http_submission_dispatched(
    ngx_http_request_t *r);
u_char *ngx_http_submission_send_int(ngx_http_request_t *r, int64_t n,
    size_t *len);

/* wake.c: the executor worker of this instance has something to look at */
ngx_connection_t *ngx_http_submission_wake_listen(
    ngx_http_submission_manager_t *manager, ngx_event_handler_pt handler,
    void *data);
void ngx_http_submission_wake_ignore(ngx_connection_t *c);
void ngx_http_submission_wake(ngx_http_submission_manager_t *manager);

/* notice.c: from the executor worker to all workers of its instance */
ngx_int_t ngx_http_submission_notice_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager, ngx_event_handler_pt handler,
    void *data);
void ngx_http_submission_notice_leave(ngx_connection_t *c);
void ngx_http_submission_notice_expect(ngx_http_submission_manager_t *manager,
    ngx_msec_t time);
void ngx_http_submission_notice(ngx_http_submission_manager_t *manager,
    uint64_t hash);
ngx_int_t ngx_http_submission_notice_next(
    ngx_http_submission_manager_t *manager, ngx_atomic_uint_t *seen,
    uint64_t *hash);

/*
 * wait.c: requests that wait for their intents.  _wait() takes a request whose
 * intent was submitted, and answers it later: NGX_DONE; NGX_DECLINED: there
 * is nothing to wait for.  "since" is the count of notices from before it was
 * submitted.  The executor tells of each attempt that it recorded.
 */
ngx_int_t ngx_http_submission_wait_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);
ngx_int_t ngx_http_submission_wait(ngx_http_submission_ctx_t *ctx,
    const sm_submit_row_t *row, ngx_atomic_uint_t since);
void ngx_http_submission_wait_notify(ngx_http_submission_manager_t *manager,
    sm_str_t id);
void ngx_http_submission_wait_next(ngx_http_submission_manager_t *manager);

/*
 * metrics.c; durations are microseconds, a negative one is not known.  All but
 * the handler and _gauge(), which is for the executor worker, may be called in
 * threads.
 */
ngx_int_t ngx_http_submission_metrics_handler(ngx_http_request_t *r);
void ngx_http_submission_count(ngx_http_submission_manager_t *manager,
    ngx_http_submission_counter_e counter, ngx_uint_t n);
void ngx_http_submission_count_attempt(ngx_http_submission_manager_t *manager,
    sm_outcome_e outcome, ngx_uint_t n);
void ngx_http_submission_count_terminal(ngx_http_submission_manager_t *manager,
    sm_status_e status, sm_exhausted_e reason, int64_t since_created);
void ngx_http_submission_gauge(ngx_http_submission_manager_t *manager,
    ngx_http_submission_gauge_e gauge, ngx_uint_t value);
void ngx_http_submission_observe(ngx_http_submission_manager_t *manager,
    ngx_http_submission_duration_e duration, int64_t usec);
void ngx_http_submission_observe_call(ngx_http_submission_task_t *task,
    int64_t usec);

/*
 * log.c: the name and the value in quotes, for "%V"; nothing where the value is
 * empty.  It is in the memory of "field".
 */
ngx_str_t *ngx_http_submission_field(ngx_http_submission_field_t *field,
    const char *name, sm_str_t value);

/* health.c */
void ngx_http_submission_health_init(ngx_http_submission_manager_t *manager,
    ngx_cycle_t *cycle);
void ngx_http_submission_health_report(ngx_http_submission_task_t *task);

/* tidy.c: after the leader */
void ngx_http_submission_tidy_init(ngx_http_submission_manager_t *manager,
    ngx_cycle_t *cycle);

/* dispatch.c */
char *ngx_http_submission_dispatch(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_int_t ngx_http_submission_dispatch_add_variables(ngx_conf_t *cf);
ngx_int_t ngx_http_submission_dispatch_init(ngx_conf_t *cf);
void ngx_http_submission_dispatch_hook(ngx_event_t *ev);
void ngx_http_submission_dispatch_result(void *data);

/* role.c */
ngx_int_t ngx_http_submission_role_add_variable(ngx_conf_t *cf);
#if (NDK)
char *ngx_http_submission_role_directive(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
#endif

/* ready.c */
ngx_int_t ngx_http_submission_readyz_handler(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SUBMISSION_H_INCLUDED_ */
