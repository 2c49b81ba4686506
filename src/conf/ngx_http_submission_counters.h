
/*
 * What an instance counts, see status/count.c.  The order is that of the tables
 * in status/metrics.c.
 */

#ifndef _NGX_HTTP_SUBMISSION_COUNTERS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_COUNTERS_H_INCLUDED_


#include "ngx_http_submission_conf.h"


typedef enum {
    NGX_HTTP_SUBMISSION_CNT_CREATED = 0,    /* intents */
    NGX_HTTP_SUBMISSION_CNT_DUPLICATES,
    NGX_HTTP_SUBMISSION_CNT_CONFLICTED,
    NGX_HTTP_SUBMISSION_CNT_NOT_TAKEN,      /* they were answered 503 */
    NGX_HTTP_SUBMISSION_CNT_RETRIES,        /* attempts to be tried again */
    NGX_HTTP_SUBMISSION_CNT_OVERLOADS,      /* requests that were refused */
    NGX_HTTP_SUBMISSION_CNT_REFUSALS,       /* while the breaker was open */
    NGX_HTTP_SUBMISSION_CNT_STORE_RETRIES,  /* requests tried again */
    NGX_HTTP_SUBMISSION_CNT_COMMITS_FAILED, /* calls that were to commit */
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


#endif /* _NGX_HTTP_SUBMISSION_COUNTERS_H_INCLUDED_ */
