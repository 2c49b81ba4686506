
/*
 * The waiters of a worker, and the call that asks the store about them; for
 * wait.c and look.c.
 *
 * There is one call at a time.  A waiter is in one of three lists: "idle",
 * "marked" to be asked about next, or that of the call.
 */

#ifndef _NGX_HTTP_SUBMISSION_WAITER_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_WAITER_H_INCLUDED_


#include "ngx_http_submission_request.h"
#include "ngx_http_submission_task.h"


#define NGX_HTTP_SUBMISSION_WAIT_BUCKETS  1024


typedef struct ngx_http_submission_look_s  ngx_http_submission_look_t;


struct ngx_http_submission_waiter_s {
    ngx_queue_t                     queue;      /* of one of the three lists */
    ngx_queue_t                     bucket;
    ngx_http_submission_wait_t     *wait;
    ngx_http_submission_ctx_t      *ctx;
    ngx_event_t                     timer;
    sm_str_t                        id;
    uint64_t                        hash;
    ngx_uint_t                      row;        /* of the call */
    unsigned                        asked:1;    /* it is in the call */
    unsigned                        again:1;    /* a notice came meanwhile */
    unsigned                        last:1;     /* the time is over */
    unsigned                        missed:1;   /* the store does not have it */
};


struct ngx_http_submission_look_s {
    ngx_http_submission_task_t      task;
    ngx_queue_t                     waiters;
    sm_get_row_t                   *rows;
};


struct ngx_http_submission_wait_s {
    ngx_http_submission_manager_t  *manager;
    ngx_event_t                     tick;
    ngx_event_t                     ask;

    ngx_queue_t                     idle;       /* .._waiter_t */
    ngx_queue_t                     marked;
    ngx_http_submission_look_t     *look;       /* the call that is out */
    ngx_uint_t                      n;          /* of all waiters */

    int64_t                         epoch;      /* of its own instance */
    ngx_uint_t                      ticks;      /* in that epoch */

    ngx_atomic_uint_t               seen;       /* notices */
    ngx_queue_t                     buckets[NGX_HTTP_SUBMISSION_WAIT_BUCKETS];
};


static ngx_inline ngx_http_submission_waiter_t *
ngx_http_submission_waiter_first(ngx_queue_t *list)
{
    ngx_queue_t  *q;

    if (ngx_queue_empty(list)) {
        return NULL;
    }

    q = ngx_queue_head(list);

    return ngx_queue_data(q, ngx_http_submission_waiter_t, queue);
}


static ngx_inline void
ngx_http_submission_waiter_move(ngx_http_submission_waiter_t *waiter,
    ngx_queue_t *list)
{
    ngx_queue_remove(&waiter->queue);
    ngx_queue_insert_tail(list, &waiter->queue);
}


/*
 * wait.c.  _over() tells whether what the request waits for has happened.
 * _answer() answers it; without an intent, with the state in which the intent
 * was when the request began to wait.  If there was none then, and the store
 * could not be asked since, nobody knows, and the store is unavailable.
 */
ngx_uint_t ngx_http_submission_wait_over(ngx_http_submission_ctx_t *ctx,
    const sm_intent_t *intent);
void ngx_http_submission_wait_answer(ngx_http_submission_waiter_t *waiter,
    const sm_intent_t *intent);

/*
 * look.c: the handler of "ask".  Makes a call for all that are marked, unless
 * one is out.
 */
void ngx_http_submission_look(ngx_event_t *ev);


#endif /* _NGX_HTTP_SUBMISSION_WAITER_H_INCLUDED_ */
