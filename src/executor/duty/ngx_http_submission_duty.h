
/*
 * Duties: what a leader does on a timer; for executor/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_DUTY_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_DUTY_H_INCLUDED_


#include "ngx_http_submission_executor_ctx.h"


/*
 * A duty makes one call to the store at a time, under the leader's fence, and
 * one more as soon as that has ended if it was wanted meanwhile.
 *
 * What a duty keeps from one call to the next is its "ctx", which is zeroed
 * when the worker starts, and set up by _init() if there is one.
 *
 * _interval() is the time from one call to the next.  _begin() fills the task
 * in; NGX_DECLINED: there is nothing to do now.  _done() is called if the call
 * succeeded, and returns when to go on: NGX_HTTP_SUBMISSION_DUTY_INTERVAL, or a
 * number of milliseconds.  _late() is called in its place if the epoch is over
 * by then, for duties whose effects have to be booked all the same.
 */

#define NGX_HTTP_SUBMISSION_DUTY_INTERVAL  NGX_TIMER_INFINITE

typedef struct {
    ngx_http_submission_op_e         op;
    size_t                           size;         /* of the task */
    size_t                           ctx;          /* of what it keeps */
    ngx_int_t                      (*init)(ngx_cycle_t *cycle,
                                         ngx_http_submission_duty_t *duty);
    ngx_msec_t                     (*interval)(
                                         ngx_http_submission_executor_t *ex);
    ngx_int_t                      (*begin)(ngx_http_submission_duty_t *duty,
                                         ngx_http_submission_task_t *task);
    ngx_msec_t                     (*done)(ngx_http_submission_duty_t *duty,
                                         ngx_http_submission_task_t *task);
    void                           (*late)(ngx_http_submission_duty_t *duty,
                                         ngx_http_submission_task_t *task);
} ngx_http_submission_duty_row_t;

typedef enum {
    NGX_HTTP_SUBMISSION_DUTY_REFRESH = 0,
    NGX_HTTP_SUBMISSION_DUTY_SWEEP,
    NGX_HTTP_SUBMISSION_DUTY_INBOX,
    NGX_HTTP_SUBMISSION_DUTY_RETENTION,
    NGX_HTTP_SUBMISSION_DUTY_STATS,
    NGX_HTTP_SUBMISSION_DUTY_JOB,
    NGX_HTTP_SUBMISSION_DUTY_DROP,
    NGX_HTTP_SUBMISSION_DUTY_PAUSES,
    NGX_HTTP_SUBMISSION_DUTY_FIRE,
    NGX_HTTP_SUBMISSION_DUTY_N
} ngx_http_submission_duty_e;

struct ngx_http_submission_duty_s {
    const ngx_http_submission_duty_row_t  *row;
    ngx_http_submission_executor_t        *executor;
    void                                  *ctx;
    ngx_event_t                            timer;
    ngx_http_submission_task_t            *task;   /* that is out */
    ngx_http_submission_task_t            *old;    /* of an earlier epoch */
    ngx_msec_t                             soon;   /* ms, after the task */
    unsigned                               due:1;  /* its time has come */
    unsigned                               again:1;
};


/*
 * duty.c.  _kick() runs a duty now, and not when it is due.  _soon() runs it in
 * so many milliseconds, or that long after the call that is out.  _interval()
 * is queue_refresh_interval, which most duties have.  _end() is for a worker
 * that is being terminated, and whose threads have run what is out.
 */
ngx_int_t ngx_http_submission_duty_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_duty_start(ngx_http_submission_executor_t *ex);
void ngx_http_submission_duty_stop(ngx_http_submission_executor_t *ex);
void ngx_http_submission_duty_end(ngx_http_submission_executor_t *ex);
ngx_msec_t ngx_http_submission_duty_interval(
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_duty_kick(ngx_http_submission_duty_t *duty);
void ngx_http_submission_duty_soon(ngx_http_submission_duty_t *duty,
    ngx_msec_t wait);

/* the duties, in the order of ngx_http_submission_duty_e */
extern const ngx_http_submission_duty_row_t  ngx_http_submission_queue_refresh;
extern const ngx_http_submission_duty_row_t  ngx_http_submission_queue_sweep;
extern const ngx_http_submission_duty_row_t  ngx_http_submission_inbox;
extern const ngx_http_submission_duty_row_t  ngx_http_submission_retention;
extern const ngx_http_submission_duty_row_t  ngx_http_submission_stats_duty;
extern const ngx_http_submission_duty_row_t  ngx_http_submission_job;
extern const ngx_http_submission_duty_row_t  ngx_http_submission_drop;
extern const ngx_http_submission_duty_row_t  ngx_http_submission_pauses_read;
extern const ngx_http_submission_duty_row_t  ngx_http_submission_fire;

/* inbox.c and fire.c: a wake may have come for them */
void ngx_http_submission_inbox_woken(ngx_http_submission_executor_t *ex);
void ngx_http_submission_fire_woken(ngx_http_submission_executor_t *ex);


#endif /* _NGX_HTTP_SUBMISSION_DUTY_H_INCLUDED_ */
