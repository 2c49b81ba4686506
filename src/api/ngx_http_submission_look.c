
/*
 * Asks the store about the intents that requests wait for.
 */

#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_waiter.h"


static void ngx_http_submission_look_thread(ngx_http_submission_task_t *task);
static void ngx_http_submission_look_done(ngx_http_submission_task_t *task);


static ngx_http_submission_look_t *
ngx_http_submission_look_create(ngx_http_submission_wait_t *wait)
{
    ngx_uint_t                     n;
    ngx_queue_t                   *q;
    sm_arena_t                    *arena;
    ngx_http_submission_look_t    *look;
    ngx_http_submission_waiter_t  *waiter;

    look = ngx_http_submission_task_create(wait->manager,
                                           NGX_HTTP_SUBMISSION_OP_INTENTS_GET,
                                           sizeof(ngx_http_submission_look_t));
    if (look == NULL) {
        return NULL;
    }

    look->task.run = ngx_http_submission_look_thread;
    look->task.done = ngx_http_submission_look_done;

    ngx_queue_init(&look->waiters);

    arena = &look->task.call.arena;

    look->rows = sm_arena_calloc(arena, wait->n, sizeof(sm_get_row_t));
    if (look->rows == NULL) {
        goto failed;
    }

    n = 0;

    for (q = ngx_queue_head(&wait->marked);
         q != ngx_queue_sentinel(&wait->marked);
         q = ngx_queue_next(q))
    {
        waiter = ngx_queue_data(q, ngx_http_submission_waiter_t, queue);

        if (sm_arena_strdup(arena, &look->rows[n].id, waiter->id) != 0) {
            goto failed;
        }

        waiter->row = n++;
    }

    look->task.rows = n;

    if (ngx_http_submission_task_post(&look->task) == NGX_OK) {
        return look;
    }

failed:

    ngx_http_submission_task_free(&look->task);

    return NULL;
}


void
ngx_http_submission_look(ngx_event_t *ev)
{
    ngx_http_submission_wait_t    *wait;
    ngx_http_submission_look_t    *look;
    ngx_http_submission_waiter_t  *waiter;

    wait = ev->data;

    if (wait->look || ngx_queue_empty(&wait->marked)
        || !ngx_http_submission_lane_room(wait->manager))
    {
        return;
    }

    look = ngx_http_submission_breaker_open(wait->manager)
           ? NULL : ngx_http_submission_look_create(wait);

    if (look == NULL) {

        /* there is no store, memory or thread: the next tick tries again */

        while ((waiter = ngx_http_submission_waiter_first(&wait->marked))
               != NULL)
        {
            ngx_http_submission_waiter_move(waiter, &wait->idle);
        }

        return;
    }

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: wait asks for:%ui of:%ui", look->task.rows,
                   wait->n);

    wait->look = look;
    wait->manager->intake->ncalls++;

    while ((waiter = ngx_http_submission_waiter_first(&wait->marked)) != NULL) {
        ngx_http_submission_waiter_move(waiter, &look->waiters);

        waiter->asked = 1;
        waiter->again = 0;
    }
}


static void
ngx_http_submission_look_thread(ngx_http_submission_task_t *task)
{
    size_t                       i, n, batch;
    ngx_http_submission_look_t  *look = (ngx_http_submission_look_t *) task;

    batch = task->manager->conf->intake_batch;

    for (i = 0; i < task->rows; i += n) {
        n = ngx_min(task->rows - i, batch);

        if (sm_store_intents_get(&task->manager->store, &task->call,
                                 look->rows + i, n)
            != 0)
        {
            return;
        }
    }
}


/*
 * A failing store does not end a wait early: a server is asked again in the
 * next tick, even about requests whose time is over.  An answer may end other
 * requests of the same connection, so the list is looked up each time.
 */

static void
ngx_http_submission_look_done(ngx_http_submission_task_t *task)
{
    ngx_uint_t                     again;
    sm_get_row_t                  *row;
    sm_intent_t                   *intent;
    ngx_http_submission_wait_t    *wait;
    ngx_http_submission_look_t    *look = (ngx_http_submission_look_t *) task;
    ngx_http_submission_waiter_t  *waiter;

    wait = task->manager->wait;

    wait->manager->intake->ncalls--;

    again = task->call.status == SM_STORE_TRANSIENT
            && task->manager->conf->retry;

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: wait was told of:%ui status:%d again:%ui",
                   task->rows, (int) task->call.status, again);

    while ((waiter = ngx_http_submission_waiter_first(&look->waiters))
           != NULL)
    {
        row = &look->rows[waiter->row];
        intent = task->call.status == SM_STORE_OK && row->found ? &row->intent
                                                                : NULL;
        waiter->asked = 0;
        waiter->missed = task->call.status == SM_STORE_OK && !row->found;

        if ((waiter->last && !again)
            || (intent && ngx_http_submission_wait_over(waiter->ctx, intent)))
        {
            ngx_http_submission_wait_answer(waiter, intent);
            continue;
        }

        ngx_http_submission_waiter_move(waiter, waiter->again ? &wait->marked
                                                            : &wait->idle);
    }

    wait->look = NULL;

    ngx_http_submission_lane_next(wait->manager, 0);
    ngx_http_submission_look(&wait->ask);
}
