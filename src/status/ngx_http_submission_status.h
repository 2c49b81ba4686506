
/*
 * The state of an instance and of the cluster: readyz, metrics, the role, the
 * board, and the counters.  All of it is in the zone.  Only fetch.c asks the
 * store, in one worker, so that no request has to.
 */

#ifndef _NGX_HTTP_SUBMISSION_STATUS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_STATUS_H_INCLUDED_


#include "ngx_http_submission_events.h"

#include "sm_exchange.h"
#include "sm_history.h"


/* An instance, as the store lists it. */

#define NGX_HTTP_SUBMISSION_BOARD_INSTANCES  64
#define NGX_HTTP_SUBMISSION_BOARD_NAME       512
#define NGX_HTTP_SUBMISSION_BOARD_VERSION    64

typedef struct {
    int64_t                          heartbeat_at;
    unsigned                         shared:1;     /* two have this name */
    unsigned                         silent:1;     /* its heartbeat is late */
    ngx_uint_t                       differ;       /* parts, from those here */
    size_t                           len;
    u_char                           name[NGX_HTTP_SUBMISSION_BOARD_NAME];
    size_t                           vlen;
    u_char                       version[NGX_HTTP_SUBMISSION_BOARD_VERSION];
} ngx_http_submission_instance_t;


/* A copy of the board, in the pool of a request. */

typedef struct {
    int64_t                          now;          /* the store's time */
    unsigned                         known:1;      /* 0: "now" is this host's */

    int64_t                          host;         /* this host's time */
    int64_t                          moved;        /* by which it was set */

    unsigned                         leads:1;      /* this instance */
    sm_str_t                         leader;       /* NULL: nobody leads */
    int64_t                          left;         /* of the lease, usec */

    /* of the lease, also if it is over; epoch 0: nothing is known of it */
    sm_str_t                         holder;
    int64_t                          epoch;
    int64_t                          acquired_at;  /* 0: not known */
    int64_t                          expires_at;
    int64_t                          heard_at;     /* the last of its holder */
    int64_t                          until;        /* it is known to have led */
    unsigned                         silent:1;     /* its holder is overdue */

    sm_stats_t                      *stats;        /* NULL: there are none */
    int64_t                          stats_age;    /* usec */

    ngx_uint_t                       differ;       /* parts, see sm_config.h */
    ngx_uint_t                       unlike;       /* in the leader's */

    ngx_uint_t                       ninstances;
    ngx_http_submission_instance_t  *instances;
} ngx_http_submission_board_t;


/* What the metrics show of the board. */

typedef struct {
    int64_t                          age;          /* usec; -1: no numbers */
    ngx_uint_t                       histories;
    ngx_uint_t                       bytes;
    ngx_uint_t                       differ;
    ngx_uint_t                       shared;       /* names of instances */
} ngx_http_submission_board_use_t;


/* What a follower reads of the leader's numbers, see fetch.c. */

typedef struct {
    unsigned                         wanted:1;     /* it is time to read */
    unsigned                         young:1;      /* it has no history */
    unsigned                         fetched:1;
    sm_stats_row_t                   row;
    sm_stats_t                       stats;        /* at 0: nothing new */
    sm_history_t                    *histories;    /* NULL: there are none */
    size_t                           nhistories;
    sm_cluster_t                     cluster;
    uint32_t                        *names;        /* of targets elsewhere */
    size_t                           nnames;
    sm_feed_event_t                 *events;       /* of the instances */
    size_t                           nevents;
} ngx_http_submission_fetch_t;


/* ready.c */
ngx_int_t ngx_http_submission_readyz_handler(ngx_http_request_t *r);

/* role.c */
ngx_int_t ngx_http_submission_role_add_variable(ngx_conf_t *cf);
#if (NDK)
char *ngx_http_submission_role_directive(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
#endif

/*
 * board.c.  _lease() writes what was read or granted of the lease, _stats()
 * the numbers that the leader has written or a follower has read, and
 * _cluster() the instances, and the names of targets that they have.  _seen()
 * returns the time of the numbers that are there; "age" is how long ago they
 * were last asked for, in milliseconds.  _left() returns how long the lease
 * still lasts, as it was read, in microseconds.  _former() gives
 * the lease as it was read last: its epoch, when it expired, whether that was
 * because it was given up ("held" is 0), and its holder, whose name is in
 * "buf".  _beats() says how often an instance is to be heard of.
 */
void ngx_http_submission_board_beats(ngx_http_submission_manager_conf_t *mcf,
    sm_beats_t *due);
void ngx_http_submission_board_lease(ngx_http_submission_manager_t *manager,
    sm_lease_t *lease);
void ngx_http_submission_board_stats(ngx_http_submission_manager_t *manager,
    sm_stats_t *stats);
void ngx_http_submission_board_cluster(ngx_http_submission_manager_t *manager,
    sm_cluster_t *cluster, const uint32_t *names, size_t n);
int64_t ngx_http_submission_board_seen(ngx_http_submission_manager_t *manager,
    ngx_msec_t *age);
int64_t ngx_http_submission_board_left(ngx_http_submission_manager_t *manager);
void ngx_http_submission_board_former(ngx_http_submission_manager_t *manager,
    sm_lease_t *lease, u_char buf[NGX_HTTP_SUBMISSION_BOARD_NAME]);

/*
 * board_history.c.  _history() writes the history of the board, in the arena,
 * for instances that have none; the text is empty without memory.  _young()
 * says whether this instance is one, and _inherit() puts what the leader has
 * told "at" that time before what is there.
 */
void ngx_http_submission_board_history(ngx_http_submission_manager_t *manager,
    sm_arena_t *arena, sm_str_t *text);
ngx_uint_t ngx_http_submission_board_young(
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_board_inherit(ngx_http_submission_manager_t *manager,
    const sm_history_t *histories, size_t n, int64_t at);

/*
 * board_read.c.  _read() returns NULL without memory.  _series() returns an
 * hour of a target, or of all targets if the name is empty; if it returns NULL
 * and "rc" is NGX_OK, there is none.  _backlog() keeps a count of the backlog,
 * and _counted() gives it back; it returns NGX_DECLINED if there is none, or
 * if the leader's numbers are newer.  _use() is for the metrics; "age" is
 * microseconds, or -1 if there are no numbers.  _elsewhere() says whether
 * another instance that is alive has a target of that name, as far as the board
 * knows.  _perhaps() is also true if this instance was started while the store
 * was away, so that it could not look yet: then nothing is refused for good.
 */
ngx_http_submission_board_t *ngx_http_submission_board_read(ngx_pool_t *pool,
    ngx_http_submission_manager_conf_t *mcf);
sm_series_t *ngx_http_submission_board_series(ngx_pool_t *pool,
    ngx_http_submission_manager_conf_t *mcf, sm_str_t name, ngx_int_t *rc);
ngx_int_t ngx_http_submission_board_counted(ngx_pool_t *pool,
    ngx_http_submission_manager_conf_t *mcf, sm_stats_t **backlog);
void ngx_http_submission_board_backlog(ngx_http_submission_manager_t *manager,
    sm_stats_t *backlog);
void ngx_http_submission_board_use(ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_board_use_t *use);
ngx_uint_t ngx_http_submission_board_elsewhere(
    ngx_http_submission_manager_conf_t *mcf, sm_str_t name);
ngx_uint_t ngx_http_submission_board_perhaps(
    ngx_http_submission_manager_conf_t *mcf, sm_str_t name);

/*
 * fetch.c.  _plan() decides whether it is time to read the leader's numbers;
 * _read_thread() reads them after a watch over the lease; _fetched() puts
 * them on the board.  _init() starts the timer of an instance with "executor
 * off", and _thread() is its call.
 */
void ngx_http_submission_fetch_plan(ngx_http_submission_manager_t *manager,
    ngx_http_submission_fetch_t *fetch);
void ngx_http_submission_fetch_read_thread(sm_store_t *store, sm_call_t *call,
    ngx_http_submission_fetch_t *fetch);
void ngx_http_submission_fetched(ngx_http_submission_manager_t *manager,
    ngx_http_submission_fetch_t *fetch);
ngx_int_t ngx_http_submission_fetch_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_fetch_thread(ngx_http_submission_task_t *task);

/*
 * backlog.c.  _want() has the backlog counted, if it is time, and does not wait
 * for it; _thread() is the call.
 */
void ngx_http_submission_backlog_want(ngx_http_submission_manager_t *manager);
void ngx_http_submission_backlog_thread(ngx_http_submission_task_t *task);

/* metrics.c */
ngx_int_t ngx_http_submission_metrics_handler(ngx_http_request_t *r);

/*
 * count.c.  Durations are microseconds; a negative one is not known.  "target"
 * is NULL for one that is not configured.  Threads may call all of these but
 * _gauge() and _depth(), which are for the executor worker.
 */
void ngx_http_submission_count(ngx_http_submission_manager_t *manager,
    ngx_http_submission_counter_e counter, ngx_uint_t n);
void ngx_http_submission_count_attempt(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, sm_outcome_e outcome, ngx_uint_t n);
void ngx_http_submission_count_expired(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target);
void ngx_http_submission_count_unsent(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, sm_unsent_e reason);
void ngx_http_submission_count_terminal(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, sm_status_e status,
    sm_exhausted_e reason, int64_t since_created);
void ngx_http_submission_count_call(ngx_http_submission_manager_t *manager,
    ngx_http_submission_op_e op, sm_store_class_e class, ngx_uint_t rows,
    int64_t usec);
void ngx_http_submission_gauge(ngx_http_submission_manager_t *manager,
    ngx_http_submission_gauge_e gauge, int64_t epoch, ngx_uint_t value);
void ngx_http_submission_depth(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, const sm_stats_target_t *numbers);
void ngx_http_submission_observe(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target,
    ngx_http_submission_duration_e duration, int64_t usec);


#endif /* _NGX_HTTP_SUBMISSION_STATUS_H_INCLUDED_ */
