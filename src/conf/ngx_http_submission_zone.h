
/*
 * The shared memory of an instance: a zone for each manager, which a reload
 * keeps.
 */

#ifndef _NGX_HTTP_SUBMISSION_ZONE_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ZONE_H_INCLUDED_


#include "ngx_http_submission_operations.h"

#include "sm_attempt.h"
#include "sm_bucket.h"
#include "sm_limit.h"
#include "sm_policy.h"
#include "sm_series.h"


typedef enum {
    NGX_HTTP_SUBMISSION_STORE_UNKNOWN = 0,
    NGX_HTTP_SUBMISSION_STORE_UP,
    NGX_HTTP_SUBMISSION_STORE_DOWN,
    NGX_HTTP_SUBMISSION_STORE_SCHEMA
} ngx_http_submission_store_e;


/* The lease of an instance.  Only its executor worker writes it. */

typedef struct {
    ngx_uint_t                       leader;
    ngx_pid_t                        pid;          /* of the executor worker */
    int64_t                          epoch;
    int64_t                          expires_at;   /* store's time, usec */
    ngx_msec_t                       deadline;     /* by .._lease_msec() */
} ngx_http_submission_role_t;


/* The URL that wakes the leader on another instance, see peer.c. */

#define NGX_HTTP_SUBMISSION_URL_MAX  512

typedef struct {
    int64_t                          epoch;        /* 0: nobody leads */
    size_t                           len;          /* 0: it has none */
    u_char                           data[NGX_HTTP_SUBMISSION_URL_MAX];
} ngx_http_submission_peer_url_t;


typedef enum {
    NGX_HTTP_SUBMISSION_QUIT_NO = 0,
    NGX_HTTP_SUBMISSION_QUIT_BEGUN,
    NGX_HTTP_SUBMISSION_QUIT_DONE       /* what was held is released */
} ngx_http_submission_quit_e;


/* Counters, see status/. */

typedef enum {
    NGX_HTTP_SUBMISSION_CNT_CREATED = 0,    /* intents */
    NGX_HTTP_SUBMISSION_CNT_DUPLICATES,
    NGX_HTTP_SUBMISSION_CNT_CONFLICTED,
    NGX_HTTP_SUBMISSION_CNT_RETRIES,        /* attempts to be tried again */
    NGX_HTTP_SUBMISSION_CNT_OVERLOADS,      /* requests that were refused */
    NGX_HTTP_SUBMISSION_CNT_REFUSALS,       /* while the breaker was open */
    NGX_HTTP_SUBMISSION_CNT_STORE_RETRIES,  /* requests tried again */
    NGX_HTTP_SUBMISSION_CNT_BREAKS,         /* the breaker opened */
    NGX_HTTP_SUBMISSION_CNT_IN_DOUBT,       /* attempts of a lost leader */
    NGX_HTTP_SUBMISSION_CNT_WAKES_SENT,     /* to the leader's instance */
    NGX_HTTP_SUBMISSION_CNT_WAKES_FAILED,
    NGX_HTTP_SUBMISSION_CNT_WAKES_RECEIVED, /* from other instances */
    NGX_HTTP_SUBMISSION_CNT_INBOX_MOVED,    /* rows of the inbox */
    NGX_HTTP_SUBMISSION_CNT_INBOX_REFUSED,
    NGX_HTTP_SUBMISSION_CNT_STRIPPED,       /* intents, by retention */
    NGX_HTTP_SUBMISSION_CNT_FORGOTTEN,
    NGX_HTTP_SUBMISSION_CNT_SCHEDULE_FIRED,    /* occurrences of schedules */
    NGX_HTTP_SUBMISSION_CNT_SCHEDULE_SKIPPED,
    NGX_HTTP_SUBMISSION_CNT_SCHEDULE_MISSED,
    NGX_HTTP_SUBMISSION_CNT_N
} ngx_http_submission_counter_e;

typedef enum {
    NGX_HTTP_SUBMISSION_GAUGE_QUEUE_DEPTH = 0,
    NGX_HTTP_SUBMISSION_GAUGE_INFLIGHT,
    NGX_HTTP_SUBMISSION_GAUGE_RETENTION_OVERDUE,    /* seconds */
    NGX_HTTP_SUBMISSION_GAUGE_N
} ngx_http_submission_gauge_e;

typedef enum {
    NGX_HTTP_SUBMISSION_DUR_ATTEMPT = 0,
    NGX_HTTP_SUBMISSION_DUR_QUEUE_DELAY,    /* from due to begun */
    NGX_HTTP_SUBMISSION_DUR_N
} ngx_http_submission_duration_e;


/* Counts microseconds or rows; metrics.c has the bounds of the buckets. */

#define NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS  16

typedef struct {
    ngx_atomic_t              buckets[NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS];
    ngx_atomic_t              sum;
} ngx_http_submission_histogram_t;


/* A gauge of the executor is valid while this instance leads its epoch. */

typedef struct {
    ngx_atomic_t                     value;
    ngx_atomic_t                     epoch;
} ngx_http_submission_gauge_t;


#define NGX_HTTP_SUBMISSION_METRICS_STATUSES  SM_STATUS_COUNT
#define NGX_HTTP_SUBMISSION_METRICS_CLASSES   (SM_STORE_LEASE_LOST + 1)

/* Of a target.  Its gauges are valid in the epoch of .._GAUGE_QUEUE_DEPTH. */

typedef struct {
    ngx_atomic_t                     attempts[SM_OUTCOMES];
    ngx_atomic_t               terminal[NGX_HTTP_SUBMISSION_METRICS_STATUSES];
    ngx_atomic_t                     expired_unsent;
    ngx_atomic_t                     unsent;       /* not attempts */
    ngx_http_submission_histogram_t  durations[NGX_HTTP_SUBMISSION_DUR_N];

    ngx_atomic_t                     due;
    ngx_atomic_t                     waiting;
    ngx_atomic_t                     in_flight;
    ngx_atomic_t                     oldest_due;   /* milliseconds */
    ngx_atomic_t                     state;        /* sm_stats_state_e */
} ngx_http_submission_target_metrics_t;

/*
 * The limits of a target and its bucket, for the next leader of this instance,
 * see limits.c.  Only a leader writes them, and they are being written while
 * "sequence" is odd.
 */

typedef struct {
    ngx_atomic_t                     sequence;     /* 0: never written */
    ngx_uint_t                       tenure;
    int64_t                          epoch;        /* of the last writer */
    ngx_uint_t                       concurrency;
    sm_target_rules_t                rules;
    sm_bucket_t                      bucket;
} ngx_http_submission_limits_t;


/* A target that is configured, or that was. */

typedef struct {
    ngx_str_node_t                   node;         /* must be first */
    ngx_http_submission_target_metrics_t  metrics;
    ngx_http_submission_limits_t     limits;
    u_char                           name[];
} ngx_http_submission_target_node_t;


typedef struct {
    ngx_atomic_t                     counters[NGX_HTTP_SUBMISSION_CNT_N];
    ngx_atomic_t                     exhausted[SM_EXHAUSTED_REASONS];
    ngx_http_submission_gauge_t      gauges[NGX_HTTP_SUBMISSION_GAUGE_N];

    ngx_http_submission_histogram_t
                            to_terminal[NGX_HTTP_SUBMISSION_METRICS_STATUSES];
    ngx_http_submission_histogram_t  calls[NGX_HTTP_SUBMISSION_OP_N];
    ngx_http_submission_histogram_t  rows[NGX_HTTP_SUBMISSION_OP_N];
    ngx_atomic_t                     errors[NGX_HTTP_SUBMISSION_OP_N]
                                       [NGX_HTTP_SUBMISSION_METRICS_CLASSES];

    /* targets that are not configured, or for which there is no room */
    ngx_http_submission_target_metrics_t  others;
} ngx_http_submission_metrics_t;


/* Hashes of the last intents that had an attempt, see notice.c. */

#define NGX_HTTP_SUBMISSION_NOTICE_RING  4096

typedef struct {
    ngx_atomic_t                     until;        /* a client may wait */
    ngx_atomic_t                     n;            /* ever written */
    uint64_t                     hashes[NGX_HTTP_SUBMISSION_NOTICE_RING];
} ngx_http_submission_notices_t;


/* The leader on another instance, and its wakes, see peer.c. */

typedef struct {
    /* "url" is being written while "sequence" is odd */
    ngx_atomic_t                     sequence;
    ngx_http_submission_peer_url_t   url;

    ngx_atomic_t                     tell;         /* a wake is wanted */
    ngx_atomic_t                     claim;        /* a sender's, until then */
    ngx_atomic_t                     told;         /* when the last began */
    ngx_atomic_t                     failed;       /* when the last failed */
    ngx_atomic_t                     failed_epoch;
    ngx_atomic_t                     down;         /* logged as failing */
    ngx_atomic_t                     asked;        /* with "executor off" */
} ngx_http_submission_peer_shctx_t;


/* An instance, as the store lists it. */

#define NGX_HTTP_SUBMISSION_BOARD_INSTANCES  64
#define NGX_HTTP_SUBMISSION_BOARD_NAME       512
#define NGX_HTTP_SUBMISSION_BOARD_VERSION    64

typedef struct {
    int64_t                          heartbeat_at;
    unsigned                         leader:1;
    size_t                           len;
    u_char                           name[NGX_HTTP_SUBMISSION_BOARD_NAME];
    size_t                           vlen;
    u_char                       version[NGX_HTTP_SUBMISSION_BOARD_VERSION];
} ngx_http_submission_instance_t;


/*
 * The board: what every instance tells of the whole cluster, see status/.
 * Times of the store are microseconds since 1970.  The store's time was "now"
 * when ngx_http_submission_usec() was "now_at".
 */

typedef struct {
    ngx_uint_t                       tenure;       /* of the configuration */
    int64_t                          now;          /* 0: not known */
    int64_t                          now_at;

    /* the row of the lease, as a follower has read it */
    int64_t                          epoch;        /* 0: there is none */
    int64_t                          expires_at;
    size_t                           len;
    u_char                           holder[NGX_HTTP_SUBMISSION_BOARD_NAME];

    int64_t                          read_at;      /* of the rest, as now_at */

    void                            *block;        /* of sm_stats_pack() */
    size_t                           size;
    size_t                           allocated;
    int64_t                          stats_epoch;
    int64_t                          stats_at;     /* 0: there is none */

    sm_series_t                     *totals;
    ngx_rbtree_t                     series;       /* of targets */
    ngx_rbtree_node_t                sentinel;
    ngx_uint_t                       nseries;
    ngx_uint_t                       nlost;        /* without room */
    ngx_msec_t                       warned;

    void                            *backlog;      /* packed, of a count */
    size_t                           backlog_size;
    int64_t                          backlog_at;   /* as now_at */

    ngx_uint_t                       ninstances;
    ngx_uint_t                       room;         /* for instances */
    ngx_http_submission_instance_t  *instances;
} ngx_http_submission_board_shctx_t;


/*
 * Each atomic field is written whole and read without a lock; times are
 * monotonic milliseconds, the same in all processes of a host.
 */

typedef struct {
    /* "role" is being written while "sequence" is odd */
    ngx_atomic_t                     sequence;
    ngx_http_submission_role_t       role;

    /*
     * The epoch that the next executor worker of this instance may take over,
     * and until when that is held at least, by the store's time.
     */
    ngx_atomic_t                     held;
    ngx_atomic_t                     held_until;   /* usec */
    ngx_atomic_t                     held_tenure;

    /*
     * These count configurations, so that an old worker notices a reload.  A
     * new tenure begins when the store, the lease_name or the holder_id
     * changes; it takes nothing over from the one before.
     */
    ngx_atomic_t                     generation;
    ngx_atomic_t                     tenure;
    ngx_atomic_t                     quitting;     /* .._QUIT_* */

    ngx_atomic_t                     create;       /* see sm_store_conf_t */

    ngx_atomic_t                     woken;        /* and has not looked yet */
    ngx_http_submission_peer_shctx_t peer;

    ngx_atomic_t                     store;        /* .._STORE_* */
    ngx_atomic_t                     answered;     /* the last commit */
    ngx_atomic_t                     probed;       /* the last probe begun */
    ngx_atomic_t                     probing;      /* it has not ended */

    /* see breaker.c */
    ngx_atomic_t                     reached;      /* the last good answer */
    ngx_atomic_t                     failing;      /* since then, or 0 */
    ngx_atomic_t                     broken;       /* since then; 0: closed */

    /* the start of the instance by the store's time, usec; 0: not known yet */
    ngx_atomic_t                     started_at;

    size_t                           holder_id_len;
    u_char                           holder_id[128];

    ngx_http_submission_metrics_t    metrics;
    ngx_rbtree_t                     targets;      /* .._target_node_t */
    ngx_rbtree_node_t                sentinel;
    ngx_http_submission_notices_t    notices;

    /*
     * The zone's mutex guards the board, which has a slab pool of its own
     * inside the zone.  "board_dirty" is set while the board is being written:
     * a worker that finds it set under the mutex knows that the writer has
     * died, and makes board and pool anew.
     */
    ngx_atomic_t                     board_asked;  /* with "executor off" */
    ngx_atomic_t                     board_dirty;
    ngx_slab_pool_t                 *board_pool;   /* NULL: no room */
    size_t                           board_size;   /* of its memory */
    ngx_http_submission_board_shctx_t  board;
} ngx_http_submission_shctx_t;


void ngx_http_submission_zone_publish(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_role_t *role);
void ngx_http_submission_zone_role(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_role_t *role);
void ngx_http_submission_zone_limits_write(ngx_http_submission_limits_t *to,
    const ngx_http_submission_limits_t *limits);
void ngx_http_submission_zone_limits_spent(ngx_http_submission_limits_t *to,
    int64_t epoch, const sm_bucket_t *bucket);
ngx_int_t ngx_http_submission_zone_limits_read(
    ngx_http_submission_limits_t *from, ngx_http_submission_limits_t *limits);
void ngx_http_submission_zone_peer(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_peer_url_t *url);

/* Empties the board's pool, whatever state it was left in. */
void ngx_http_submission_zone_board(ngx_http_submission_shctx_t *sh);


#endif /* _NGX_HTTP_SUBMISSION_ZONE_H_INCLUDED_ */
