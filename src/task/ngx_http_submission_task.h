
/*
 * The door to a worker's threads, the store's health, and the worker's
 * connections.
 */

#ifndef _NGX_HTTP_SUBMISSION_TASK_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_TASK_H_INCLUDED_


#include "ngx_http_submission_conf.h"


/*
 * The one door between the event loop and the threads.
 *
 * A task and all that it points to belong to the task alone: the thread may
 * outlive the request that wanted it.  "run" is called in a thread, and uses
 * nothing of the event loop; "done" on the event loop, after which the task is
 * freed.
 *
 * What all tasks need is done here, and not by whoever makes them: each call is
 * counted in the metrics as soon as it has run; and before "done", its outcome
 * is reported to the store's health and breaker, and to the leader if the call
 * was fenced and failed.
 */

struct ngx_http_submission_task_s {
    ngx_thread_task_t                thread;
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_op_e         op;
    ngx_uint_t                       rows;         /* of a batch, when it ran */
    sm_fence_t                       fence;        /* epoch 0: it has none */
    ngx_msec_t                       posted;
    sm_call_t                        call;

    void                           (*run)(ngx_http_submission_task_t *task);
    void                           (*done)(ngx_http_submission_task_t *task);
};


/*
 * task.c.  _run() is for a worker that is being terminated, and has no threads
 * any more: a task is run and done in place.  _settle() is done with one that
 * its thread has run, and that the event loop never heard of; _abandon() is
 * the last part of that.
 */
void *ngx_http_submission_task_create(ngx_http_submission_manager_t *manager,
    ngx_http_submission_op_e op, size_t size);
void ngx_http_submission_task_fence(ngx_http_submission_task_t *task,
    int64_t epoch);
ngx_int_t ngx_http_submission_task_post(ngx_http_submission_task_t *task);
sm_store_class_e ngx_http_submission_task_run(
    ngx_http_submission_task_t *task);
sm_store_class_e ngx_http_submission_task_settle(
    ngx_http_submission_task_t *task);
void ngx_http_submission_task_abandon(ngx_http_submission_task_t *task);
void ngx_http_submission_task_free(ngx_http_submission_task_t *task);
void ngx_http_submission_task_exit(ngx_log_t *log);

/* health.c */
ngx_int_t ngx_http_submission_health_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_health_thread(ngx_http_submission_task_t *task);

/*
 * breaker.c: whether the API may call the store, and how long it waits after so
 * many failures.
 */
ngx_uint_t ngx_http_submission_breaker_open(
    ngx_http_submission_manager_t *manager);
ngx_msec_t ngx_http_submission_breaker_delay(ngx_uint_t failures);

/*
 * reserve.c: the worker's connections.  _open() and _close() say how many
 * attempts may be under way; _take() comes before each is sent, _put() after
 * it has ended, _adjust() now and then.  _room() returns how many attempts may
 * begin, _most() the maximum for a number of connections.  _short() returns
 * how many connections of waiting clients should be freed; 0: there are
 * enough.
 */
void ngx_http_submission_reserve_open(ngx_uint_t attempts);
void ngx_http_submission_reserve_close(ngx_uint_t attempts);
void ngx_http_submission_reserve_take(void);
void ngx_http_submission_reserve_put(void);
void ngx_http_submission_reserve_adjust(void);
ngx_uint_t ngx_http_submission_reserve_room(void);
ngx_uint_t ngx_http_submission_reserve_most(ngx_uint_t connections);
ngx_uint_t ngx_http_submission_reserve_short(void);
ngx_uint_t ngx_http_submission_reserve_waits(void);
void ngx_http_submission_reserve_check(ngx_cycle_t *cycle,
    ngx_http_submission_manager_conf_t *mcf);


#endif /* _NGX_HTTP_SUBMISSION_TASK_H_INCLUDED_ */
