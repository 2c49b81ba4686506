
/*
 * What holds targets back: pauses, and limits that one leader hands to the
 * next; for executor/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_LIMITS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_LIMITS_H_INCLUDED_


#include "ngx_http_submission_attempt.h"

#include "sm_stats.h"


/* pauses.c: _start() begins an epoch, of which nothing is known yet */
void ngx_http_submission_pauses_start(ngx_http_submission_executor_t *ex);
ngx_uint_t ngx_http_submission_pauses_known(
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_pauses_woken(ngx_http_submission_executor_t *ex);
const sm_pause_t *ngx_http_submission_pauses_of(
    ngx_http_submission_executor_t *ex, sm_str_t target);

/*
 * limits.c: _read() runs in a thread and _learn() takes what it has read,
 * before anything begins; NGX_ERROR: no memory
 */

typedef struct {
    sm_stats_row_t                   row;
    sm_stats_t                       stats;
    unsigned                         known:1;
} ngx_http_submission_told_t;

ngx_int_t ngx_http_submission_limits_start(ngx_http_submission_executor_t *ex,
    sm_queue_t *s);
ngx_uint_t ngx_http_submission_limits_rated(
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_limits_spent(ngx_http_submission_attempt_t *at,
    const sm_bucket_t *bucket);
int ngx_http_submission_limits_read_thread(ngx_http_submission_task_t *task,
    ngx_http_submission_told_t *told);
ngx_int_t ngx_http_submission_limits_learn(ngx_http_submission_executor_t *ex,
    ngx_http_submission_told_t *told);


#endif /* _NGX_HTTP_SUBMISSION_LIMITS_H_INCLUDED_ */
