
/*
 * The door between the event loop and the threads, see
 * ngx_http_submission_task_t.
 *
 * An exiting worker does not wait for threads by itself, and completions that
 * it did not wait for never run: while tasks are out, a timer that is not
 * cancelable keeps the worker alive.  Every store call has its time-out, so
 * that this ends.
 *
 * The pools end their threads as a worker exits, and do not wait for the last
 * steps of them, in which the libraries of drivers clean up.  A process that
 * exits beside that cleans up the same a second time: it can die of that, as it
 * did in libcrypto.  So the threads that were here are known, and waited
 * for.
 */

#include "ngx_http_submission.h"


#define NGX_HTTP_SUBMISSION_GUARD             60000    /* milliseconds */
#define NGX_HTTP_SUBMISSION_TASK_EXIT_WAIT    1000


typedef struct ngx_http_submission_thread_s  ngx_http_submission_thread_t;

struct ngx_http_submission_thread_s {
    ngx_tid_t                      tid;
    ngx_http_submission_thread_t  *next;
};


static void ngx_http_submission_task_known(ngx_log_t *log);
static void ngx_http_submission_task_thread(void *data, ngx_log_t *log);
static void ngx_http_submission_task_handler(ngx_event_t *ev);
static void ngx_http_submission_task_guard(ngx_event_t *ev);


/* must be in the order of ngx_http_submission_op_e */

ngx_http_submission_op_t  ngx_http_submission_ops[] = {
    { "none", 0 },
    { "ping", 0 },
    { "intents_submit", 1 },
    { "intents_get", 1 },
    { "intent_history", 1 },
    { "intents_list", 1 },
    { "cluster_get", 1 },
    { "lease_acquire", 0 },
    { "lease_takeover", 0 },
    { "lease_renew", 0 },
    { "lease_release", 0 },
    { "lease_get", 0 },
    { "schedule_page", 1 },
    { "attempts_turn", 1 },
    { "attempts_recover", 1 },
    { "tidy", 0 }
};


static ngx_uint_t        ngx_http_submission_ntasks;
static ngx_event_t       ngx_http_submission_guard_event;
static ngx_connection_t  ngx_http_submission_guard_dummy;

static __thread ngx_uint_t            ngx_http_submission_known;
static pthread_mutex_t                ngx_http_submission_threads_mutex =
                                                   PTHREAD_MUTEX_INITIALIZER;
static ngx_http_submission_thread_t  *ngx_http_submission_threads;


void *
ngx_http_submission_task_create(ngx_http_submission_manager_t *manager,
    size_t size)
{
    ngx_http_submission_task_t  *task;

    task = ngx_calloc(size, ngx_cycle->log);
    if (task == NULL) {
        return NULL;
    }

    task->manager = manager;

    return task;
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

    if (ngx_thread_task_post(task->manager->thread_pool, &task->thread)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_http_submission_ntasks++ == 0) {
        ngx_http_submission_guard_event.handler =
                                               ngx_http_submission_task_guard;
        ngx_http_submission_guard_event.log = ngx_cycle->log;

        /* debug lines of timers show a descriptor */

        ngx_http_submission_guard_dummy.fd = (ngx_socket_t) -1;
        ngx_http_submission_guard_event.data =
                                             &ngx_http_submission_guard_dummy;

        ngx_add_timer(&ngx_http_submission_guard_event,
                      NGX_HTTP_SUBMISSION_GUARD);
    }

    return NGX_OK;
}


static void
ngx_http_submission_task_thread(void *data, ngx_log_t *log)
{
    ngx_http_submission_task_t  *task = data;

    int64_t  start;

    if (!ngx_http_submission_known) {
        ngx_http_submission_task_known(log);
    }

    start = ngx_http_submission_usec();

    task->run(task);

    if (task->op != NGX_HTTP_SUBMISSION_OP_NONE) {
        ngx_http_submission_observe_call(task,
                                         ngx_http_submission_usec() - start);
    }
}


static void
ngx_http_submission_task_known(ngx_log_t *log)
{
    ngx_http_submission_thread_t  *thread;

    thread = ngx_alloc(sizeof(ngx_http_submission_thread_t), log);
    if (thread == NULL) {
        return;
    }

    thread->tid = ngx_thread_tid();

    (void) pthread_mutex_lock(&ngx_http_submission_threads_mutex);

    thread->next = ngx_http_submission_threads;
    ngx_http_submission_threads = thread;

    (void) pthread_mutex_unlock(&ngx_http_submission_threads_mutex);

    ngx_http_submission_known = 1;
}


/* in the process' exit, after the pools are gone: it is a matter of moments */

void
ngx_http_submission_task_exit(ngx_log_t *log)
{
    ngx_uint_t                     ms;
    ngx_http_submission_thread_t  *thread;

    ms = 0;

    while ((thread = ngx_http_submission_threads) != NULL) {

        while (syscall(SYS_tgkill, ngx_pid, thread->tid, 0) == 0) {

            if (ms++ == NGX_HTTP_SUBMISSION_TASK_EXIT_WAIT) {
                ngx_log_error(NGX_LOG_WARN, log, 0,
                              "submission: a thread of a thread pool has not "
                              "ended within %d ms, exiting without waiting for "
                              "it",
                              NGX_HTTP_SUBMISSION_TASK_EXIT_WAIT);
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

    task->done(task);

    ngx_http_submission_task_free(task);

    if (--ngx_http_submission_ntasks == 0) {
        ngx_del_timer(&ngx_http_submission_guard_event);
    }
}


static void
ngx_http_submission_task_guard(ngx_event_t *ev)
{
    ngx_add_timer(ev, NGX_HTTP_SUBMISSION_GUARD);
}
