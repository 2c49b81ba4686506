
/*
 * The door between the event loop and the threads, see
 * ngx_http_submission_task_t.
 *
 * An exiting worker does not wait for threads by itself, and the completions
 * of tasks that it did not wait for never run.  So while tasks are out, a
 * timer that is not cancelable keeps the worker alive.  Every call to the
 * store has a time-out, so this ends.
 *
 * When a worker exits, the pools end their threads but do not wait for their
 * last steps, in which the libraries of drivers clean up.  If the process
 * exits at the same time, it cleans up the same things a second time and may
 * crash, as it did in libcrypto.  So the threads that ran here are remembered
 * and waited for.
 */

#include "ngx_http_submission_door.h"


/* milliseconds */

#define NGX_HTTP_SUBMISSION_TASK_GUARD  60000
#define NGX_HTTP_SUBMISSION_TASK_EXIT   1000


typedef struct ngx_http_submission_thread_s  ngx_http_submission_thread_t;

struct ngx_http_submission_thread_s {
    ngx_tid_t                      tid;
    ngx_http_submission_thread_t  *next;
};


static void ngx_http_submission_task_known_thread(ngx_log_t *log);
static void ngx_http_submission_task_thread(void *data, ngx_log_t *log);
static void ngx_http_submission_task_handler(ngx_event_t *ev);
static void ngx_http_submission_task_report(ngx_http_submission_task_t *task);
static void ngx_http_submission_task_guard(ngx_event_t *ev);


static ngx_uint_t        ngx_http_submission_ntasks;
static ngx_event_t       ngx_http_submission_guard_event;
static ngx_connection_t  ngx_http_submission_guard_dummy;

static __thread ngx_uint_t            ngx_http_submission_known;
static pthread_mutex_t                ngx_http_submission_threads_mutex =
                                                   PTHREAD_MUTEX_INITIALIZER;
static ngx_http_submission_thread_t  *ngx_http_submission_threads;


void *
ngx_http_submission_task_create(ngx_http_submission_manager_t *manager,
    ngx_http_submission_op_e op, size_t size)
{
    ngx_http_submission_task_t  *task;

    task = ngx_calloc(size, ngx_cycle->log);
    if (task == NULL) {
        return NULL;
    }

    task->manager = manager;
    task->op = op;
    task->run = ngx_http_submission_ops[op].run;

    return task;
}


/* The store refuses the call unless this instance holds that epoch. */

void
ngx_http_submission_task_fence(ngx_http_submission_task_t *task, int64_t epoch)
{
    task->fence.holder = ngx_http_submission_str(&task->manager->holder_id);
    task->fence.epoch = epoch;
}


void
ngx_http_submission_task_free(ngx_http_submission_task_t *task)
{
    sm_arena_free(&task->call.arena);
    ngx_free(task);
}


ngx_int_t
ngx_http_submission_task_post(ngx_http_submission_task_t *task)
{
    task->posted = ngx_current_msec;

    task->thread.ctx = task;
    task->thread.handler = ngx_http_submission_task_thread;
    task->thread.event.data = task;
    task->thread.event.handler = ngx_http_submission_task_handler;
    task->thread.event.log = ngx_cycle->log;

    if (ngx_thread_task_post(task->manager->conf->thread_pool,
                             &task->thread)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: task posted op:%s epoch:%L out:%ui",
                   ngx_http_submission_ops[task->op].name, task->fence.epoch,
                   ngx_http_submission_ntasks + 1);

    if (ngx_http_submission_ntasks++ == 0) {
        ngx_http_submission_guard_event.handler =
                                               ngx_http_submission_task_guard;
        ngx_http_submission_guard_event.log = ngx_cycle->log;

        /* nginx's debug lines of timers show the descriptor of ev->data */

        ngx_http_submission_guard_dummy.fd = (ngx_socket_t) -1;
        ngx_http_submission_guard_event.data =
                                             &ngx_http_submission_guard_dummy;

        ngx_add_timer(&ngx_http_submission_guard_event,
                      NGX_HTTP_SUBMISSION_TASK_GUARD);
    }

    return NGX_OK;
}


static void
ngx_http_submission_task_thread(void *data, ngx_log_t *log)
{
    ngx_http_submission_task_t  *task = data;

    int64_t           start;
    sm_store_class_e  class;

    if (!ngx_http_submission_known) {
        ngx_http_submission_task_known_thread(log);
    }

    start = ngx_http_submission_usec();

    task->run(task);

    if (task->op == NGX_HTTP_SUBMISSION_OP_NONE || !task->call.asked) {
        return;
    }

    /* a call that succeeded and has an error: the store refused a row */

    class = task->call.status;

    if (class == SM_STORE_OK && task->call.error[0]) {
        class = SM_STORE_CONSTRAINT;
    }

    ngx_http_submission_count_call(task->manager, task->op, class, task->rows,
                                   ngx_http_submission_usec() - start);
}


static void
ngx_http_submission_task_known_thread(ngx_log_t *log)
{
    ngx_tid_t                      tid;
    ngx_http_submission_thread_t  *thread;

    tid = ngx_thread_tid();

    if (tid == ngx_pid) {
        return;                                    /* it is the event loop */
    }

    thread = ngx_alloc(sizeof(ngx_http_submission_thread_t), log);
    if (thread == NULL) {
        return;
    }

    thread->tid = tid;

    (void) pthread_mutex_lock(&ngx_http_submission_threads_mutex);

    thread->next = ngx_http_submission_threads;
    ngx_http_submission_threads = thread;

    (void) pthread_mutex_unlock(&ngx_http_submission_threads_mutex);

    ngx_http_submission_known = 1;
}


/* Called when the process exits, after nginx has ended its thread pools. */

void
ngx_http_submission_task_exit(ngx_log_t *log)
{
    ngx_uint_t                     ms;
    ngx_http_submission_thread_t  *thread;

    ms = 0;

    while ((thread = ngx_http_submission_threads) != NULL) {

        while (syscall(SYS_tgkill, ngx_pid, thread->tid, 0) == 0) {

            if (ms++ == NGX_HTTP_SUBMISSION_TASK_EXIT) {
                ngx_log_error(NGX_LOG_WARN, log, 0,
                              "submission: a thread of a thread pool has not "
                              "ended within %d ms, exiting without waiting for "
                              "it",
                              NGX_HTTP_SUBMISSION_TASK_EXIT);
                return;
            }

            ngx_msleep(1);
        }

        ngx_http_submission_threads = thread->next;
        ngx_free(thread);
    }
}


static void
ngx_http_submission_task_handler(ngx_event_t *ev)
{
    ngx_http_submission_task_t  *task;

    task = ev->data;

    ngx_http_submission_task_report(task);

    task->done(task);

    ngx_http_submission_task_free(task);

    if (--ngx_http_submission_ntasks == 0) {
        ngx_del_timer(&ngx_http_submission_guard_event);
    }
}


/* Reports the outcome to breaker, health and leader, before done(). */

static void
ngx_http_submission_task_report(ngx_http_submission_task_t *task)
{
    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: task done op:%s rows:%ui epoch:%L status:%d "
                   "ms:%M",
                   ngx_http_submission_ops[task->op].name, task->rows,
                   task->fence.epoch, (int) task->call.status,
                   ngx_current_msec - task->posted);

    if (task->op == NGX_HTTP_SUBMISSION_OP_NONE) {
        return;
    }

    /* a task that found nothing to do did not ask the store */

    if (task->call.asked) {
        ngx_http_submission_breaker_report(task);
        ngx_http_submission_health_report(task);
    }

    if (task->fence.epoch && task->call.status != SM_STORE_OK) {
        task->manager->fenced(task->manager, task->fence.epoch, &task->call);
    }
}


sm_store_class_e
ngx_http_submission_task_run(ngx_http_submission_task_t *task)
{
    sm_store_class_e  status;

    task->posted = ngx_current_msec;

    ngx_http_submission_task_thread(task, ngx_cycle->log);

    status = ngx_http_submission_task_settle(task);

    ngx_free(task);

    return status;
}


sm_store_class_e
ngx_http_submission_task_settle(ngx_http_submission_task_t *task)
{
    sm_store_class_e  status;

    ngx_http_submission_task_report(task);

    task->done(task);

    status = task->call.status;

    ngx_http_submission_task_abandon(task);

    return status;
}


/*
 * The task itself is still in nginx's list of completed tasks, so only what it
 * points to is freed.  The event loop does not run any more, and the process
 * ends.
 */

void
ngx_http_submission_task_abandon(ngx_http_submission_task_t *task)
{
    sm_arena_free(&task->call.arena);
}


static void
ngx_http_submission_task_guard(ngx_event_t *ev)
{
    ngx_add_timer(ev, NGX_HTTP_SUBMISSION_TASK_GUARD);
}
