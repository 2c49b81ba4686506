
/*
 * Requests that wait for an intent: for its first attempt, or for its end.  The
 * intents are in the store already, so the requests are answered with the
 * intent whatever happens.  A GET also waits for an intent that is not there
 * yet, because an application may have put it into the inbox; it costs no more
 * than one that is.
 *
 * A worker asks the store about all intents that its requests wait for in one
 * call (look.c): at once if its own instance gives notice, and every 250 ms
 * where another instance executes them.  The leader's instance gives notice of
 * all that it does, and looks by itself only every two seconds, for what other
 * instances have done, and for what a worker did that died before it told.
 *
 * A waiter has a timer.  When it expires, the store is asked a last time, with
 * a limit of one second.  At shutdown the timers of all waiters expire.  They
 * are not cancelable, because the worker has to stay for the answers; the tick
 * is cancelable.
 */

#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_signal.h"
#include "ngx_http_submission_wait.h"
#include "ngx_http_submission_waiter.h"
#include "ngx_http_submission_zone_signal.h"


#define NGX_HTTP_SUBMISSION_WAIT_TICK     250       /* milliseconds */
#define NGX_HTTP_SUBMISSION_WAIT_LEADER   8         /* ticks */
#define NGX_HTTP_SUBMISSION_WAIT_GRACE    1000

/*
 * A worker with waiters says so in each tick.  One that has died does not, and
 * is given no notice after this time.
 */

#define NGX_HTTP_SUBMISSION_WAIT_UNTIL    (4 * NGX_HTTP_SUBMISSION_WAIT_TICK)


static void ngx_http_submission_wait_event(ngx_event_t *ev);
static void ngx_http_submission_wait_tick(ngx_event_t *ev);
static void ngx_http_submission_wait_exit(ngx_http_submission_wait_t *wait);
static void ngx_http_submission_wait_last(ngx_http_submission_waiter_t *waiter);
static void ngx_http_submission_wait_timeout(ngx_event_t *ev);
static void ngx_http_submission_wait_cleanup(void *data);


/*
 * The waiters of all managers of this worker.  They are counted because many of
 * them may share one connection of HTTP/2.
 */

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

    wait->ask.handler = ngx_http_submission_look;
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


ngx_uint_t
ngx_http_submission_wait_over(ngx_http_submission_ctx_t *ctx,
    const sm_intent_t *intent)
{
    return intent->status != SM_STATUS_PENDING
           || (ctx->until == NGX_HTTP_SUBMISSION_UNTIL_ATTEMPT
               && intent->attempt_count > 0);
}


/* All that is marked in one turn of the event loop goes into one call. */

static void
ngx_http_submission_wait_mark(ngx_http_submission_waiter_t *waiter)
{
    ngx_http_submission_wait_t  *wait;

    wait = waiter->wait;

    if (waiter->asked) {
        waiter->again = 1;
        return;
    }

    ngx_http_submission_waiter_move(waiter, &wait->marked);

    if (wait->look == NULL) {
        ngx_post_event(&wait->ask, &ngx_posted_events);
    }
}


static void
ngx_http_submission_wait_mark_idle(ngx_http_submission_wait_t *wait)
{
    ngx_http_submission_waiter_t  *waiter;

    while ((waiter = ngx_http_submission_waiter_first(&wait->idle)) != NULL) {
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


/* This worker's bell has rung: there are notices, or the worker shuts down. */

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

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: wait has lost notices, waiters:%ui", wait->n);

    /* any intent may have changed */

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


/* The worker shuts down: all waiters are answered with the current state. */

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

    /* a posted event would not run before another event comes */

    ngx_http_submission_look(&wait->ask);
}


/* Returns how many of "n" waiters are still to be answered. */

static ngx_uint_t
ngx_http_submission_wait_yield_list(ngx_queue_t *list, ngx_uint_t n)
{
    ngx_queue_t                   *q;
    ngx_http_submission_waiter_t  *waiter;

    for (q = ngx_queue_head(list);
         n && q != ngx_queue_sentinel(list);
         q = ngx_queue_next(q))
    {
        waiter = ngx_queue_data(q, ngx_http_submission_waiter_t, queue);

        if (!waiter->last) {
            ngx_http_submission_wait_last(waiter);
        }

        n--;
    }

    return n;
}


/*
 * While the worker is short of connections, waiters are answered early.  The
 * store may hang, and the call with it: then those of the call, and those that
 * are idle because of it, are answered with what was known of their intents.
 */

static void
ngx_http_submission_wait_yield(ngx_http_submission_wait_t *wait)
{
    ngx_uint_t  n;

    n = ngx_http_submission_reserve_short();

    n = ngx_http_submission_wait_yield_list(&wait->marked, n);

    if (wait->look) {
        n = ngx_http_submission_wait_yield_list(&wait->look->waiters, n);
        (void) ngx_http_submission_wait_yield_list(&wait->idle, n);
    }
}


/*
 * Returns 1 if this instance gives notice of all that happens, so that the
 * store need not be asked in this tick.
 */

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


void
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
        if (ctx->op->arrived) {
            ctx->op->arrived(ctx->row);
        }

        *ctx->op->intent(ctx->row) = *intent;
    }

    rc = waiter->missed || ctx->op->intent(ctx->row)
         ? ctx->op->reply(r, ctx->row)
         : ngx_http_submission_reply_unavailable(r, 0);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: wait ends known:%d last:%d status:%ui rc:%i",
                   intent != NULL, waiter->last, r->headers_out.status, rc);

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
    waiter->missed = 0;

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


void
ngx_http_submission_wait_next(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_look(&manager->wait->ask);
}


/*
 * Keeps the row in the memory of the request.  Its strings go with its batch,
 * so the id and those of the intent are copied.
 */

static ngx_int_t
ngx_http_submission_wait_keep(ngx_http_submission_waiter_t *waiter, void *row)
{
    char                            *p;
    size_t                           size;
    sm_str_t                        *s, id;
    ngx_uint_t                       i;
    sm_intent_t                     *intent;
    ngx_http_submission_ctx_t       *ctx;
    const ngx_http_submission_op_t  *op;

    ctx = waiter->ctx;
    op = ctx->op;
    intent = op->intent(row);

    id = intent ? intent->id : *ngx_http_submission_op_string(op, row, 0);
    size = intent ? sm_fields_size(sm_intent_fields, intent) : 0;

    p = ngx_pnalloc(ctx->request->pool, id.len + size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    waiter->id.data = p;
    waiter->id.len = id.len;

    ngx_memcpy(p, id.data, id.len);
    ngx_memcpy(ctx->row, row, op->row_size);

    for (i = 0;
         (s = ngx_http_submission_op_string(op, ctx->row, i)) != NULL;
         i++)
    {
        ngx_memzero(s, sizeof(sm_str_t));
    }

    intent = op->intent(ctx->row);

    if (intent) {
        sm_fields_own(sm_intent_fields, intent, p + id.len);
    }

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

    if (intent ? ngx_http_submission_wait_over(ctx, intent)
               : ctx->op->arrived == NULL)
    {
        return NGX_DECLINED;
    }

    if (ngx_http_submission_reserve_short()
        || ngx_http_submission_waits >= ngx_http_submission_reserve_waits()
        || ngx_exiting)
    {
        ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ctx->request->connection->log, 0,
                       "submission: no room to wait, waiters:%ui exiting:%ui",
                       ngx_http_submission_waits, (ngx_uint_t) ngx_exiting);

        return NGX_DECLINED;
    }

    /* without memory, the request is answered now */

    waiter = ngx_pcalloc(ctx->request->pool,
                         sizeof(ngx_http_submission_waiter_t));
    cln = ngx_http_cleanup_add(ctx->request, 0);

    if (waiter == NULL || cln == NULL) {
        return NGX_DECLINED;
    }

    waiter->ctx = ctx;

    if (ngx_http_submission_wait_keep(waiter, row) != NGX_OK) {
        return NGX_DECLINED;
    }

    cln->handler = ngx_http_submission_wait_cleanup;
    cln->data = ctx;

    wait = ctx->manager->wait;

    waiter->wait = wait;
    waiter->hash = ngx_http_submission_notice_hash(waiter->id);

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

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ctx->request->connection->log, 0,
                   "submission: wait for %M ms, until:%d beside:%ui", ctx->wait,
                   (int) ctx->until, wait->n);

    ngx_http_submission_notice_expect(wait->manager,
                                      NGX_HTTP_SUBMISSION_WAIT_UNTIL);

    ngx_http_submission_waits++;

    if (wait->n++ == 0) {
        wait->seen = wait->manager->sh->notices->n;
        ngx_add_timer(&wait->tick, NGX_HTTP_SUBMISSION_WAIT_TICK);
    }

    /* a notice may have come before the request began to wait */

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
