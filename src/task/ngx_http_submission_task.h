
/*
 * The door to a worker's threads, the store's health, and the worker's
 * connections.
 */

#ifndef _NGX_HTTP_SUBMISSION_TASK_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_TASK_H_INCLUDED_


#include "ngx_http_submission_conf.h"


/*
 * A call to the store, which runs in a thread.
 *
 * A task and all that it points to belong to the task alone: the thread may
 * outlive the request that wanted it.  "run" is called in a thread, and uses
 * nothing of the event loop.  "done" is called on the event loop; then the task
 * is freed.
 *
 * task.c counts each call in the metrics as soon as it has run.  Before "done"
 * it reports the outcome to the store's health and breaker, and to the leader
 * if the call was fenced and failed.
 */

struct ngx_http_submission_task_s {
    ngx_thread_task_t                thread;
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_op_e         op;
    ngx_uint_t                       rows;         /* of a batch, by run() */
    sm_fence_t                       fence;        /* epoch 0: it has none */
    ngx_msec_t                       posted;
    sm_call_t                        call;
    ngx_uint_t                       written;      /* intents, attempts */

    void                           (*run)(ngx_http_submission_task_t *task);
    void                           (*done)(ngx_http_submission_task_t *task);
};


/*
 * task.c.  _create() returns a task of "size" bytes, whose first member is the
 * ngx_http_submission_task_t, with "run" set as the operation's row says.
 * _post() gives it to a thread.
 *
 * The others are for a worker that is being terminated, and has no threads any
 * more.  _run() runs a task in place, ends and frees it.  _settle() ends a task
 * that a thread has run, but that the event loop never heard of.  _abandon()
 * frees what such a task points to, without ending it.
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

/*
 * health.c.  _error() leaves out the path of a file with which an error of an
 * embedded store begins.
 */
ngx_int_t ngx_http_submission_health_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_health_thread(ngx_http_submission_task_t *task);
sm_str_t ngx_http_submission_health_error(
    ngx_http_submission_manager_conf_t *mcf, sm_str_t error);

/*
 * breaker.c: _open() says whether the API must not call the store.  _delay()
 * returns how long a request waits after so many failures in a row.
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
