
/*
 * What holds targets back: pauses, and limits that one leader hands to the
 * next; for executor/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_LIMITS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_LIMITS_H_INCLUDED_


#include "ngx_http_submission_attempt.h"

#include "sm_stats.h"


/*
 * pauses.c.  _start() begins an epoch, of which nothing is known yet.  _known()
 * is whether anything may begin: before the pauses are read, any target may be
 * paused.  _woken() is called at a wake.  _of() is the pause of a target; NULL:
 * it is not paused, as far as is known.
 */
void ngx_http_submission_pauses_start(ngx_http_submission_executor_t *ex);
ngx_uint_t ngx_http_submission_pauses_known(
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_pauses_woken(ngx_http_submission_executor_t *ex);
const sm_pause_t *ngx_http_submission_pauses_of(
    ngx_http_submission_executor_t *ex, sm_str_t target);

/*
 * limits.c.  _start() is called for a new queue that has all configured
 * targets, when ex->epoch is its epoch.  _spent() notes that a token of the
 * attempt's target was spent.
 * _read_thread() reads the last document of the leader before, and _learn()
 * takes it in, before anything begins.  NGX_ERROR: there is no memory.
 */

typedef struct {
    sm_stats_row_t                   row;
    sm_stats_t                       stats;
    unsigned                         known:1;
} ngx_http_submission_told_t;

ngx_int_t ngx_http_submission_limits_start(ngx_http_submission_executor_t *ex,
    sm_queue_t *s);
void ngx_http_submission_limits_spent(ngx_http_submission_attempt_t *at,
    const sm_bucket_t *bucket);
int ngx_http_submission_limits_read_thread(ngx_http_submission_task_t *task,
    ngx_http_submission_told_t *told);
ngx_int_t ngx_http_submission_limits_learn(ngx_http_submission_executor_t *ex,
    ngx_http_submission_told_t *told);

/*
 * paused.c: tells the feed of pauses and resumes.  _before() keeps what was
 * paused before a call, _thread() finds out who has resumed what is not paused
 * any more, and _note() tells.  "told" is the document of the leader before, in
 * the first call of an epoch, or NULL.
 */

typedef struct {
    sm_pauses_t                      before;
    sm_audit_row_t                   resumes;
} ngx_http_submission_paused_t;

void ngx_http_submission_paused_before(sm_arena_t *arena, sm_pauses_t *before,
    const sm_pauses_t *paused);
int ngx_http_submission_paused_thread(ngx_http_submission_task_t *task,
    ngx_http_submission_paused_t *pd, const sm_pauses_t *paused,
    const ngx_http_submission_told_t *told);
void ngx_http_submission_paused_note(ngx_http_submission_executor_t *ex,
    ngx_http_submission_paused_t *pd, sm_arena_t *arena,
    const sm_pauses_t *paused, ngx_uint_t first);


#endif /* _NGX_HTTP_SUBMISSION_LIMITS_H_INCLUDED_ */
