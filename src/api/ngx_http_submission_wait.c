
/*
 * Requests that wait for an intent: for its first attempt, or for its end.  The
 * intents are in the store already, so the requests are answered with the
 * intent whatever happens.
 *
 * A worker asks the store about all intents that its requests wait for in one
 * call: at once if its own instance gives notice, and every 250 ms where
 * another instance executes them.  The leader's instance gives notice of all
 * that it does, and looks by itself only every two seconds, for what others
 * have done, or a worker that has died could not tell any more.
 *
 * There is one call at a time in each worker.  A waiter is in one of three
 * lists: "idle", "marked" to be asked about next, or that of the call.
 *
 * A waiter has a timer.  When it expires, the store is asked a last time, with
 * a limit of one second.  At shutdown the timers of all waiters expire.  They
 * are not cancelable, because the worker has to stay for the answers; the tick
 * is cancelable.
 */

#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_wait.h"
#include "ngx_http_submission_signal.h"


#define NGX_HTTP_SUBMISSION_WAIT_TICK     250       /* milliseconds */
#define NGX_HTTP_SUBMISSION_WAIT_LEADER   8         /* ticks */
#define NGX_HTTP_SUBMISSION_WAIT_GRACE    1000
#define NGX_HTTP_SUBMISSION_WAIT_BUCKETS  1024

/* a worker with waiters says so in each tick, so a dead one is noticed */

#define NGX_HTTP_SUBMISSION_WAIT_UNTIL    (4 * NGX_HTTP_SUBMISSION_WAIT_TICK)


struct ngx_http_submission_waiter_s {
    ngx_queue_t                     queue;      /* of one of the three lists */
    ngx_queue_t                     bucket;
    ngx_http_submission_wait_t     *wait;
    ngx_http_submission_ctx_t      *ctx;
    ngx_event_t                     timer;
    uint64_t                        hash;
    ngx_uint_t                      row;        /* of the call */
    unsigned                        asked:1;    /* it is in the call */
    unsigned                        again:1;    /* a notice came meanwhile */
    unsigned                        last:1;     /* the time is over */
};


typedef struct {
    ngx_http_submission_task_t      task;
    ngx_queue_t                     waiters;
    sm_get_row_t                   *rows;
} ngx_http_submission_look_t;


struct ngx_http_submission_wait_s {
    ngx_http_submission_manager_t  *manager;
    ngx_event_t                     tick;
    ngx_event_t                     ask;

    ngx_queue_t                  idle;       /* .._waiter_t */
    ngx_queue_t                  marked;
    ngx_http_submission_look_t  *look;       /* the call that is out */
    ngx_uint_t                   n;          /* of all waiters */

    int64_t                         epoch;      /* of its own instance */
    ngx_uint_t                      ticks;      /* in that epoch */

    ngx_atomic_uint_t               seen;       /* notices */
    ngx_queue_t                     buckets[NGX_HTTP_SUBMISSION_WAIT_BUCKETS];
};


static void ngx_http_submission_wait_event(ngx_event_t *ev);
static void ngx_http_submission_wait_tick(ngx_event_t *ev);
static void ngx_http_submission_wait_ask(ngx_event_t *ev);
static void ngx_http_submission_wait_thread(ngx_http_submission_task_t *task);
static void ngx_http_submission_wait_done(ngx_http_submission_task_t *task);
static void ngx_http_submission_wait_exit(ngx_http_submission_wait_t *wait);
static void ngx_http_submission_wait_last(ngx_http_submission_waiter_t *waiter);
static void ngx_http_submission_wait_timeout(ngx_event_t *ev);
static void ngx_http_submission_wait_cleanup(void *data);


/* of all managers; many of them may share one connection of HTTP/2 */

static ngx_uint_t  ngx_http_submission_waits;


ngx_int_t
ngx_http_submission_wait_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_uint_t                   i;
    ngx_http_submission_wait_t  *wait;

    wait = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_wait_t));
    if (wait == NULL) {
        return NGX_ERROR;
    }

    wait->manager = manager;

    wait->tick.handler = ngx_http_submission_wait_tick;
    wait->tick.data = wait;
    wait->tick.log = cycle->log;
    wait->tick.cancelable = 1;

    wait->ask.handler = ngx_http_submission_wait_ask;
    wait->ask.data = wait;
    wait->ask.log = cycle->log;

    ngx_queue_init(&wait->idle);
    ngx_queue_init(&wait->marked);

    for (i = 0; i < NGX_HTTP_SUBMISSION_WAIT_BUCKETS; i++) {
        ngx_queue_init(&wait->buckets[i]);
    }

    manager->wait = wait;

    return ngx_http_submission_notice_init(cycle, manager,
                                           ngx_http_submission_wait_event,
                                           wait);
}


static ngx_uint_t
ngx_http_submission_wait_over(ngx_http_submission_ctx_t *ctx,
    const sm_intent_t *intent)
{
    return intent->status != SM_STATUS_PENDING
           || (ctx->until == NGX_HTTP_SUBMISSION_UNTIL_ATTEMPT
               && intent->attempt_count > 0);
}


static sm_str_t
ngx_http_submission_wait_id(ngx_http_submission_ctx_t *ctx)
{
    return ctx->op->intent(ctx->row)->id;
}


static ngx_http_submission_waiter_t *
ngx_http_submission_wait_first(ngx_queue_t *list)
{
    ngx_queue_t  *q;

    if (ngx_queue_empty(list)) {
        return NULL;
    }

    q = ngx_queue_head(list);

    return ngx_queue_data(q, ngx_http_submission_waiter_t, queue);
}


static void
ngx_http_submission_wait_move(ngx_http_submission_waiter_t *waiter,
    ngx_queue_t *list)
{
    ngx_queue_remove(&waiter->queue);
    ngx_queue_insert_tail(list, &waiter->queue);
}


/* all that is marked in a turn of the event loop goes into one call */

static void
ngx_http_submission_wait_mark(ngx_http_submission_waiter_t *waiter)
{
    ngx_http_submission_wait_t  *wait;

    wait = waiter->wait;

    if (waiter->asked) {
        waiter->again = 1;
        return;
    }

    ngx_http_submission_wait_move(waiter, &wait->marked);

    if (wait->look == NULL) {
        ngx_post_event(&wait->ask, &ngx_posted_events);
    }
}


static void
ngx_http_submission_wait_mark_idle(ngx_http_submission_wait_t *wait)
{
    ngx_http_submission_waiter_t  *waiter;

    while ((waiter = ngx_http_submission_wait_first(&wait->idle)) != NULL) {
        ngx_http_submission_wait_mark(waiter);
    }
}


static void
ngx_http_submission_wait_mark_hash(ngx_http_submission_wait_t *wait,
    uint64_t hash)
{
    ngx_queue_t                   *q, *bucket;
    ngx_http_submission_waiter_t  *waiter;

    bucket = &wait->buckets[hash % NGX_HTTP_SUBMISSION_WAIT_BUCKETS];

    for (q = ngx_queue_head(bucket);
         q != ngx_queue_sentinel(bucket);
         q = ngx_queue_next(q))
    {
        waiter = ngx_queue_data(q, ngx_http_submission_waiter_t, bucket);

        if (waiter->hash == hash) {
            ngx_http_submission_wait_mark(waiter);
        }
    }
}


/* it has something to tell */

static void
ngx_http_submission_wait_event(ngx_event_t *ev)
{
    uint64_t                       hash;
    ngx_int_t                      rc;
    ngx_queue_t                   *q;
    ngx_connection_t              *c;
    ngx_http_submission_wait_t    *wait;
    ngx_http_submission_waiter_t  *waiter;

    c = ev->data;
    wait = c->data;

    if (c->close) {
        ngx_http_submission_bell_ignore(c);
        ngx_http_submission_wait_exit(wait);
        return;
    }

    if (wait->n == 0) {
        return;
    }

    do {
        rc = ngx_http_submission_notice_next(wait->manager, &wait->seen, &hash);

        if (rc == NGX_OK) {
            ngx_http_submission_wait_mark_hash(wait, hash);
        }

    } while (rc == NGX_OK);

    if (rc == NGX_DONE) {
        return;
    }

    /* some are lost: any may have changed */

    if (wait->look) {
        for (q = ngx_queue_head(&wait->look->waiters);
             q != ngx_queue_sentinel(&wait->look->waiters);
             q = ngx_queue_next(q))
        {
            waiter = ngx_queue_data(q, ngx_http_submission_waiter_t, queue);
            waiter->again = 1;
        }
    }

    ngx_http_submission_wait_mark_idle(wait);
}


/* the worker shuts down: all are answered with the current state */

static void
ngx_http_submission_wait_exit(ngx_http_submission_wait_t *wait)
{
    ngx_queue_t                   *q;
    ngx_http_submission_waiter_t  *waiter;

    ngx_http_submission_wait_mark_idle(wait);

    for (q = ngx_queue_head(&wait->marked);
         q != ngx_queue_sentinel(&wait->marked);
         q = ngx_queue_next(q))
    {
        waiter = ngx_queue_data(q, ngx_http_submission_waiter_t, queue);
        ngx_http_submission_wait_last(waiter);
    }

    if (wait->look) {
        for (q = ngx_queue_head(&wait->look->waiters);
             q != ngx_queue_sentinel(&wait->look->waiters);
             q = ngx_queue_next(q))
        {
            waiter = ngx_queue_data(q, ngx_http_submission_waiter_t, queue);
            ngx_http_submission_wait_last(waiter);
        }
    }

    /* posted events wait for another one here */

    ngx_http_submission_wait_ask(&wait->ask);
}


/* connections are short, so some waiters are answered early */

static void
ngx_http_submission_wait_yield(ngx_http_submission_wait_t *wait)
{
    ngx_uint_t                     n;
    ngx_queue_t                   *q;
    ngx_http_submission_waiter_t  *waiter;

    n = ngx_http_submission_reserve_short();

    for (q = ngx_queue_head(&wait->marked);
         n && q != ngx_queue_sentinel(&wait->marked);
         q = ngx_queue_next(q))
    {
        waiter = ngx_queue_data(q, ngx_http_submission_waiter_t, queue);

        if (!waiter->last) {
            ngx_http_submission_wait_last(waiter);
        }

        n--;
    }
}


/* whether this instance gives notice, so that the store need not be asked */

static ngx_uint_t
ngx_http_submission_wait_told(ngx_http_submission_wait_t *wait)
{
    ngx_http_submission_role_t  role;

    ngx_http_submission_zone_role(wait->manager->sh, &role);

    if (!role.leader) {
        wait->epoch = 0;
        return 0;
    }

    if (role.epoch != wait->epoch) {
        wait->epoch = role.epoch;
        wait->ticks = 0;
    }

    return wait->ticks++ % NGX_HTTP_SUBMISSION_WAIT_LEADER != 0;
}


static void
ngx_http_submission_wait_tick(ngx_event_t *ev)
{
    ngx_http_submission_wait_t  *wait;

    wait = ev->data;

    ngx_http_submission_notice_expect(wait->manager,
                                      NGX_HTTP_SUBMISSION_WAIT_UNTIL);

    if (!ngx_http_submission_wait_told(wait) && wait->look == NULL) {
        ngx_http_submission_wait_mark_idle(wait);
    }

    ngx_http_submission_wait_yield(wait);

    ngx_add_timer(ev, NGX_HTTP_SUBMISSION_WAIT_TICK);
}


/* it waits no longer */

static void
ngx_http_submission_wait_end(ngx_http_submission_waiter_t *waiter)
{
    ngx_http_submission_wait_t  *wait;

    wait = waiter->wait;

    ngx_queue_remove(&waiter->queue);
    ngx_queue_remove(&waiter->bucket);

    if (waiter->timer.timer_set) {
        ngx_del_timer(&waiter->timer);
    }

    waiter->ctx->waiter = NULL;

    ngx_http_submission_waits--;

    if (--wait->n == 0 && wait->tick.timer_set) {
        ngx_del_timer(&wait->tick);
    }
}


/* without an intent, the state at which it began to wait is the last known */

static void
ngx_http_submission_wait_answer(ngx_http_submission_waiter_t *waiter,
    const sm_intent_t *intent)
{
    ngx_int_t                   rc;
    ngx_http_request_t         *r;
    ngx_http_submission_ctx_t  *ctx;

    ctx = waiter->ctx;
    r = ctx->request;

    ngx_http_submission_wait_end(waiter);

    ngx_http_set_log_request(r->connection->log, r);

    if (intent) {
        *ctx->op->intent(ctx->row) = *intent;
    }

    rc = ctx->op->reply(r, ctx->row);

    ngx_http_submission_finalize(r, rc);
}


static void
ngx_http_submission_wait_cleanup(void *data)
{
    ngx_http_submission_ctx_t *ctx = data;

    if (ctx->waiter) {
        ngx_http_submission_wait_end(ctx->waiter);
    }
}


static void
ngx_http_submission_wait_last(ngx_http_submission_waiter_t *waiter)
{
    waiter->last = 1;

    if (waiter->timer.timer_set) {
        ngx_del_timer(&waiter->timer);
    }

    ngx_add_timer(&waiter->timer, NGX_HTTP_SUBMISSION_WAIT_GRACE);
}


static void
ngx_http_submission_wait_timeout(ngx_event_t *ev)
{
    ngx_http_submission_waiter_t  *waiter;

    waiter = ev->data;

    if (waiter->last) {
        ngx_http_submission_wait_answer(waiter, NULL);
        return;
    }

    ngx_http_submission_wait_last(waiter);
    ngx_http_submission_wait_mark(waiter);
}


static ngx_http_submission_look_t *
ngx_http_submission_wait_look(ngx_http_submission_wait_t *wait)
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

    look->task.run = ngx_http_submission_wait_thread;
    look->task.done = ngx_http_submission_wait_done;

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

        if (sm_arena_strdup(arena, &look->rows[n].id,
                            ngx_http_submission_wait_id(waiter->ctx))
            != 0)
        {
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


static void
ngx_http_submission_wait_ask(ngx_event_t *ev)
{
    ngx_http_submission_wait_t    *wait;
    ngx_http_submission_look_t    *look;
    ngx_http_submission_waiter_t  *waiter;

    wait = ev->data;

    if (wait->look || ngx_queue_empty(&wait->marked)
        || !ngx_http_submission_intake_room(wait->manager))
    {
        return;
    }

    look = ngx_http_submission_breaker_open(wait->manager)
           ? NULL : ngx_http_submission_wait_look(wait);

    if (look == NULL) {

        /* no store, memory, or room for a task: the next tick tries again */

        while ((waiter = ngx_http_submission_wait_first(&wait->marked)) != NULL)
        {
            ngx_http_submission_wait_move(waiter, &wait->idle);
        }

        return;
    }

    wait->look = look;

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: wait asks for:%ui of:%ui", look->task.rows,
                   wait->n);
    wait->manager->intake->ncalls++;

    while ((waiter = ngx_http_submission_wait_first(&wait->marked)) != NULL) {
        ngx_http_submission_wait_move(waiter, &look->waiters);

        waiter->asked = 1;
        waiter->again = 0;
    }
}


static void
ngx_http_submission_wait_thread(ngx_http_submission_task_t *task)
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
 * A failing store does not end a wait early; a server is asked again in the
 * next tick, even if it was the last time.  An answer may end other requests
 * of the same connection, so the list is looked up again.
 */

static void
ngx_http_submission_wait_done(ngx_http_submission_task_t *task)
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

    while ((waiter = ngx_http_submission_wait_first(&look->waiters)) != NULL) {

        row = &look->rows[waiter->row];
        intent = task->call.status == SM_STORE_OK && row->found ? &row->intent
                                                                : NULL;
        waiter->asked = 0;

        if ((waiter->last && !again)
            || (intent && ngx_http_submission_wait_over(waiter->ctx, intent)))
        {
            ngx_http_submission_wait_answer(waiter, intent);
            continue;
        }

        ngx_http_submission_wait_move(waiter, waiter->again ? &wait->marked
                                                            : &wait->idle);
    }

    wait->look = NULL;

    ngx_http_submission_intake_next(wait->manager, 0);
    ngx_http_submission_wait_ask(&wait->ask);
}


void
ngx_http_submission_wait_next(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_wait_ask(&manager->wait->ask);
}


/* The row's strings go with its batch: those of the intent are copied. */

static ngx_int_t
ngx_http_submission_wait_keep(ngx_http_submission_ctx_t *ctx, void *row)
{
    char                            *p;
    ngx_uint_t                       i;
    sm_intent_t                     *intent;
    const ngx_http_submission_op_t  *op;

    op = ctx->op;

    ngx_memcpy(ctx->row, row, op->row_size);

    for (i = 0; i < op->nstrings; i++) {
        ngx_memzero((char *) ctx->row + op->strings[i], sizeof(sm_str_t));
    }

    intent = op->intent(ctx->row);

    p = ngx_pnalloc(ctx->request->pool,
                    sm_fields_size(sm_intent_fields, intent));
    if (p == NULL) {
        return NGX_ERROR;
    }

    sm_fields_own(sm_intent_fields, intent, p);

    return NGX_OK;
}


ngx_int_t
ngx_http_submission_wait(ngx_http_submission_ctx_t *ctx, void *row,
    ngx_atomic_uint_t since)
{
    uint64_t                       hash;
    ngx_int_t                      rc;
    sm_intent_t                   *intent;
    ngx_http_cleanup_t            *cln;
    ngx_http_submission_wait_t    *wait;
    ngx_http_submission_waiter_t  *waiter;

    intent = ctx->op->intent(row);

    if (intent == NULL
        || ngx_http_submission_wait_over(ctx, intent)
        || ngx_http_submission_reserve_short()
        || ngx_http_submission_waits >= ngx_http_submission_reserve_waits()
        || ngx_exiting)
    {
        return NGX_DECLINED;
    }

    /* without memory it is answered now */

    waiter = ngx_pcalloc(ctx->request->pool,
                         sizeof(ngx_http_submission_waiter_t));
    cln = ngx_http_cleanup_add(ctx->request, 0);

    if (waiter == NULL || cln == NULL
        || ngx_http_submission_wait_keep(ctx, row) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    cln->handler = ngx_http_submission_wait_cleanup;
    cln->data = ctx;

    wait = ctx->manager->wait;

    waiter->wait = wait;
    waiter->ctx = ctx;
    waiter->hash = ngx_http_submission_notice_hash(
                                             ngx_http_submission_wait_id(ctx));

    waiter->timer.handler = ngx_http_submission_wait_timeout;
    waiter->timer.data = waiter;
    waiter->timer.log = ctx->request->connection->log;

    ngx_add_timer(&waiter->timer, ctx->wait);

    ngx_queue_insert_tail(&wait->idle, &waiter->queue);
    ngx_queue_insert_tail(&wait->buckets[waiter->hash
                                         % NGX_HTTP_SUBMISSION_WAIT_BUCKETS],
                          &waiter->bucket);

    ctx->waiter = waiter;

    ctx->request->connection->log->action = "waiting for an attempt";

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ctx->request->connection->log, 0,
                   "submission: wait for %M ms, beside:%ui", ctx->wait,
                   wait->n);

    ngx_http_submission_notice_expect(wait->manager,
                                      NGX_HTTP_SUBMISSION_WAIT_UNTIL);

    ngx_http_submission_waits++;

    if (wait->n++ == 0) {
        wait->seen = wait->manager->sh->notices.n;
        ngx_add_timer(&wait->tick, NGX_HTTP_SUBMISSION_WAIT_TICK);
    }

    /* notices that came before it began to wait */

    while ((rc = ngx_http_submission_notice_next(wait->manager, &since, &hash))
           == NGX_OK)
    {
        if (hash == waiter->hash) {
            break;
        }
    }

    if (rc != NGX_DONE) {
        ngx_http_submission_wait_mark(waiter);
    }

    return NGX_DONE;
}
