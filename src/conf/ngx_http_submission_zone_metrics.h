
/*
 * Metrics in the zone.  Any worker and any thread changes them, atomically.
 */

#ifndef _NGX_HTTP_SUBMISSION_ZONE_METRICS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ZONE_METRICS_H_INCLUDED_


#include "ngx_http_submission_counters.h"
#include "ngx_http_submission_zone.h"

#include "sm_exchange.h"


/* Counts microseconds or rows; count.c has the bounds of the buckets. */

#define NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS  20

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

/*
 * The metrics of a target.  Its gauges, from "due" on, are valid in the epoch
 * of .._GAUGE_QUEUE_DEPTH.
 */

struct ngx_http_submission_target_metrics_s {
    ngx_atomic_t                     attempts[SM_OUTCOMES];
    ngx_atomic_t               terminal[NGX_HTTP_SUBMISSION_METRICS_STATUSES];
    ngx_atomic_t                     expired_unsent;
    ngx_atomic_t                     unsent[SM_UNSENT_REASONS];
    ngx_http_submission_histogram_t  durations[NGX_HTTP_SUBMISSION_DUR_N];

    ngx_atomic_t                     due;
    ngx_atomic_t                     waiting;
    ngx_atomic_t                     in_flight;
    ngx_atomic_t                     oldest_due;   /* milliseconds */
    ngx_atomic_t                     state;        /* sm_stats_state_e */
    ngx_atomic_t                     health;       /* sm_health_e */
    ngx_atomic_t                     certificate;  /* seconds since 1970 */
};


struct ngx_http_submission_metrics_s {
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
};


#endif /* _NGX_HTTP_SUBMISSION_ZONE_METRICS_H_INCLUDED_ */
