
/*
 * The executor of the leader.
 *
 * due -> begun -> at the gateway -> ended -> recorded -> due again, or done
 *
 * Beginning and recording are one fenced call to the store, a turn.  There is
 * one turn at a time, and whatever comes up meanwhile goes into the next.  The
 * intent stays in the queue, as taken.
 *
 * - Nothing is sent that was not begun in the store, or that the leader's gate
 *   does not let out at that moment.
 * - An attempt that was begun and cannot be sent is given back, in the same
 *   way in which an ended one is recorded.
 * - When the lease is lost, the queue is dropped at once.  Attempts at
 *   gateways may end, and their outcomes are kept.  They are recorded under
 *   their own epoch while that is held, or under the next epoch of this
 *   worker: they are not in doubt to the worker that has begun them, and they
 *   count for the bounds until they end.  As soon as another instance leads,
 *   they are in doubt, and that instance records them.
 * - When the worker exits gracefully, nothing new is begun, and the lease is
 *   kept until the attempts at gateways have ended and are recorded.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_stats.h"
#include "ngx_http_submission_turn.h"

#include "sm_webhook.h"

#include <sys/random.h>


static ngx_int_t ngx_http_submission_executor_start(
    ngx_http_submission_manager_t *manager, int64_t epoch);
static void ngx_http_submission_executor_lost(
    ngx_http_submission_manager_t *manager);
static void ngx_http_submission_executor_leave(
    ngx_http_submission_manager_t *manager);
static ngx_uint_t ngx_http_submission_executor_drained(
    ngx_http_submission_manager_t *manager);
static ngx_int_t ngx_http_submission_executor_known(
    ngx_http_submission_manager_t *manager, sm_arena_t *arena,
    sm_known_row_t **known, size_t *n);
static ngx_uint_t ngx_http_submission_executor_starved(
    ngx_http_submission_manager_t *manager, ngx_msec_t time);
static void ngx_http_submission_executor_run(ngx_event_t *ev);
static void ngx_http_submission_executor_free(ngx_event_t *ev);


/* entries that are looked at, or freed, before other events have their turn */

#define NGX_HTTP_SUBMISSION_EXECUTOR_SLICE  2048

/* Queues of epochs that are over, until their memory is free. */

#define NGX_HTTP_SUBMISSION_EXECUTOR_OLD    8

static sm_queue_t
    *ngx_http_submission_executor_old[NGX_HTTP_SUBMISSION_EXECUTOR_OLD];
static ngx_uint_t   ngx_http_submission_executor_nold;
static ngx_event_t  ngx_http_submission_executor_freeing;


const ngx_http_submission_leader_handlers_t
    ngx_http_submission_executor_handlers =
{
    ngx_http_submission_executor_start,
    ngx_http_submission_executor_lost,
    ngx_http_submission_executor_leave,
    ngx_http_submission_executor_drained,
    ngx_http_submission_executor_known,
    ngx_http_submission_executor_recovered,
    ngx_http_submission_ended_in_doubt,
    ngx_http_submission_executor_starved,
    ngx_http_submission_turn_flush,
    ngx_http_submission_turn_end
};


ngx_int_t
ngx_http_submission_executor_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_executor_t  *ex;

    ex = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_executor_t));
    if (ex == NULL) {
        return NGX_ERROR;
    }

    ex->manager = manager;

    ex->run.handler = ngx_http_submission_executor_run;
    ex->run.data = ex;
    ex->run.log = cycle->log;

    ex->due.handler = ngx_http_submission_executor_run;
    ex->due.data = ex;
    ex->due.log = cycle->log;
    ex->due.cancelable = 1;

    ngx_queue_init(&ex->sending);
    ngx_queue_init(&ex->ended);

    manager->executor = ex;

    return ngx_http_submission_turn_init(cycle, ex) == NGX_OK
           && ngx_http_submission_expiry_init(cycle, ex) == NGX_OK
           && ngx_http_submission_depth_init(cycle, ex) == NGX_OK
           && ngx_http_submission_outage_init(cycle, ex) == NGX_OK
           && ngx_http_submission_duty_init(cycle, ex) == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


void
ngx_http_submission_executor_time(ngx_http_submission_executor_t *ex,
    int64_t now)
{
    ex->now = now;
    ex->now_at = ngx_http_submission_usec();
}


/*
 * An estimate of the store's time, a little behind.  It only serves to plan;
 * the one thing that it decides is whether an answer came before the deadline.
 */

int64_t
ngx_http_submission_executor_now(ngx_http_submission_executor_t *ex)
{
    return ex->now + ngx_http_submission_usec() - ex->now_at;
}


/* the queue's time, before it is asked or told something */

void
ngx_http_submission_executor_tick(ngx_http_submission_executor_t *ex)
{
    int64_t  clock;

    clock = ngx_http_submission_usec();

    sm_queue_tick(ex->queue, ex->now + clock - ex->now_at, clock);
}


static unsigned
ngx_http_submission_executor_limit(void *data, sm_str_t name)
{
    ngx_http_submission_manager_t *manager = data;

    ngx_http_submission_target_t  *target;

    target = ngx_http_submission_target(manager->conf, name);

    /*
     * Intents may be left of a target that is no longer configured, and are
     * sent as their contract says.  Messages of a webhook have none.
     */

    if (target == NULL) {
        return sm_webhook_name(name).data ? SM_QUEUE_NEVER : 0;
    }

    if (target->concurrency) {
        return target->concurrency;
    }

    /* the only target leaves nothing free for others */

    return manager->conf->ntargets == 1 ? manager->conf->executor_concurrency
                                        : 0;
}


/*
 * iterates over the attempts in hand: first those at gateways, then those that
 * have ended
 */

static ngx_http_submission_attempt_t *
ngx_http_submission_executor_next(ngx_http_submission_executor_t *ex,
    ngx_http_submission_attempt_t *at, ngx_queue_t **list)
{
    ngx_queue_t  *q;

    if (at == NULL) {
        *list = &ex->sending;
        q = ngx_queue_head(*list);

    } else {
        q = ngx_queue_next(&at->queue);
    }

    if (q == &ex->sending) {
        *list = &ex->ended;
        q = ngx_queue_head(*list);
    }

    return q == &ex->ended ? NULL
           : ngx_queue_data(q, ngx_http_submission_attempt_t, queue);
}


/* copies of the attempts in hand, for the thread that recovers */

static ngx_int_t
ngx_http_submission_executor_known(ngx_http_submission_manager_t *manager,
    sm_arena_t *arena, sm_known_row_t **known, size_t *n)
{
    ngx_queue_t                     *list;
    sm_known_row_t                  *rows;
    ngx_http_submission_attempt_t   *at;
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    ngx_http_submission_stats_prepare(ex);

    rows = sm_arena_calloc(arena, ex->nsending + ex->nended + 1,
                           sizeof(sm_known_row_t));
    if (rows == NULL) {
        return NGX_ERROR;
    }

    *known = rows;
    *n = 0;

    for (at = ngx_http_submission_executor_next(ex, NULL, &list);
         at;
         at = ngx_http_submission_executor_next(ex, at, &list))
    {
        if (at->forgotten) {
            continue;
        }

        if (sm_arena_strdup(arena, &rows[*n].id, at->id) != 0) {
            return NGX_ERROR;
        }

        rows[*n].number = at->number;
        rows[*n].epoch = at->epoch;
        at->known = (*n)++;
    }

    return NGX_OK;
}


static void
ngx_http_submission_executor_drop(ngx_http_submission_executor_t *ex,
    ngx_http_submission_attempt_t *at, ngx_queue_t *list)
{
    if (list == &ex->sending) {

        /* nginx has it: until it ends */

        at->forgotten = 1;
        return;
    }

    ngx_queue_remove(&at->queue);
    ex->nended--;

    ngx_http_submission_attempt_drop(at, "lease_gone");
}


/*
 * What is not in flight any more has been settled by another; without a list,
 * all has, or will be.
 */

void
ngx_http_submission_executor_recovered(ngx_http_submission_manager_t *manager,
    sm_known_row_t *known)
{
    ngx_queue_t                     *list, *next;
    ngx_http_submission_attempt_t   *at, *following;
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;
    at = ngx_http_submission_executor_next(ex, NULL, &list);

    while (at) {
        next = list;
        following = ngx_http_submission_executor_next(ex, at, &next);

        if (known == NULL
            || (!at->forgotten && !known[at->known].in_flight))
        {
            ngx_http_submission_executor_drop(ex, at, list);
        }

        at = following;
        list = next;
    }
}


/* without memory it is not in the queue, and is refreshed when it ended */

static void
ngx_http_submission_executor_adopt(ngx_http_submission_executor_t *ex)
{
    ngx_queue_t                    *list;
    ngx_http_submission_attempt_t  *at;

    for (at = ngx_http_submission_executor_next(ex, NULL, &list);
         at;
         at = ngx_http_submission_executor_next(ex, at, &list))
    {
        at->entry = at->forgotten
                    ? NULL
                    : sm_queue_hold(ex->queue, at->id,
                                    at->contract.target,
                                    sm_policy_deadline(&at->contract,
                                                       at->created_at));
        if (at->entry == NULL) {
            continue;
        }

        at->generation = ex->generation;

        if (list == &ex->ended) {
            sm_queue_end(ex->queue, at->entry);
        }
    }
}


/* without the kernel's random numbers, a value that an attacker cannot see */

static void
ngx_http_submission_executor_key(ngx_http_submission_executor_t *ex,
    uint64_t key[2])
{
    struct timespec  ts;

    if (getrandom(key, 2 * sizeof(uint64_t), GRND_NONBLOCK)
        == 2 * sizeof(uint64_t))
    {
        return;
    }

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    key[0] = (uint64_t) ts.tv_nsec << 32 ^ (uint64_t) ts.tv_sec;
    key[1] = (uintptr_t) ex;
}


/* with all targets that are configured, in the order of their numbers */

static sm_queue_t *
ngx_http_submission_executor_queue(ngx_http_submission_executor_t *ex)
{
    uint64_t                        key[2];
    ngx_uint_t                      i;
    sm_queue_t                     *s;
    ngx_http_submission_target_t  **targets;

    ngx_http_submission_executor_key(ex, key);

    s = sm_queue_create(ex->manager->conf->executor_concurrency, key,
                        ngx_http_submission_executor_limit, ex->manager);
    if (s == NULL) {
        return NULL;
    }

    sm_queue_tick(s, 0, ngx_http_submission_usec());

    targets = ex->manager->conf->by_index.elts;

    for (i = 0; i < ex->manager->conf->by_index.nelts; i++) {
        if (sm_queue_keep(s, targets[i]->contract.target,
                          &targets[i]->rules)
            != 0)
        {
            sm_queue_destroy(s);
            return NULL;
        }
    }

    if (ngx_http_submission_limits_start(ex, s) != NGX_OK) {
        sm_queue_destroy(s);
        return NULL;
    }

    return s;
}


static ngx_int_t
ngx_http_submission_executor_start(ngx_http_submission_manager_t *manager,
    int64_t epoch)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    ex->epoch = epoch;

    ex->queue = ngx_http_submission_executor_queue(ex);
    if (ex->queue == NULL) {
        return NGX_ERROR;
    }

    ex->generation++;
    ex->leaving = 0;
    ex->unsent = 0;
    ex->starved_since = 0;

    ex->reserved = 1;
    ngx_http_submission_reserve_open(manager->conf->executor_concurrency);

    ngx_http_submission_executor_adopt(ex);

    ngx_http_submission_turn_start(ex);
    ngx_http_submission_stats_start(ex);
    ngx_http_submission_duty_start(ex);
    ngx_http_submission_pauses_start(ex);
    ngx_http_submission_queue_start(ex);

    return NGX_OK;
}


/* nothing more is begun */

static void
ngx_http_submission_executor_stop(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_duty_stop(ex);
    ngx_http_submission_depth_stop(ex);
    ngx_http_submission_queue_stop(ex);
    ngx_http_submission_expiry_tell(ex);

    if (ex->due.timer_set) {
        ngx_del_timer(&ex->due);
    }

    ex->starved_since = 0;

    if (ex->reserved) {
        ex->reserved = 0;
        ngx_http_submission_reserve_close(
                                     ex->manager->conf->executor_concurrency);
    }
}


/*
 * The memory of a queue that nobody uses any more is freed bit by bit: it may
 * have been of a million intents.  At the exit of the worker what is left is
 * the kernel's.
 */

static void
ngx_http_submission_executor_free(ngx_event_t *ev)
{
    ngx_uint_t  last;

    last = ngx_http_submission_executor_nold - 1;

    if (!sm_queue_destroy_some(ngx_http_submission_executor_old[last],
                               NGX_HTTP_SUBMISSION_EXECUTOR_SLICE))
    {
        ngx_http_submission_executor_nold = last;
    }

    if (ngx_http_submission_executor_nold) {
        ngx_post_event(ev, &ngx_posted_next_events);
    }
}


static void
ngx_http_submission_executor_discard(sm_queue_t *queue)
{
    ngx_event_t  *ev;

    ev = &ngx_http_submission_executor_freeing;

    if (ngx_http_submission_executor_nold
        == NGX_HTTP_SUBMISSION_EXECUTOR_OLD)
    {
        sm_queue_destroy(queue);
        return;
    }

    ngx_http_submission_executor_old[ngx_http_submission_executor_nold++]
                                                                   = queue;

    ev->handler = ngx_http_submission_executor_free;
    ev->log = ngx_cycle->log;

    ngx_post_event(ev, &ngx_posted_next_events);
}


static void
ngx_http_submission_executor_lost(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    if (ex->queue == NULL) {
        return;
    }

    ngx_http_submission_executor_stop(ex);

    ngx_http_submission_executor_discard(ex->queue);
    ex->queue = NULL;
    ex->generation++;

    ngx_http_submission_gauge(manager, NGX_HTTP_SUBMISSION_GAUGE_QUEUE_DEPTH,
                              0, 0);
}


static void
ngx_http_submission_executor_leave(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    if (ex->queue == NULL) {
        return;
    }

    ex->leaving = 1;

    ngx_http_submission_executor_stop(ex);

    if (ex->nended) {

        /* the stopped timer may have been the one that was to record them */

        ngx_add_timer(&ex->due, 1);
    }
}


static ngx_uint_t
ngx_http_submission_executor_drained(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    return ex->queue == NULL
           || (!ngx_http_submission_turn_out(ex)
               && !ngx_http_submission_expiry_out(ex)
               && ex->nsending == 0 && ex->nended == 0
               && ngx_http_submission_stats_told(ex));
}


void
ngx_http_submission_executor_wake(ngx_http_submission_executor_t *ex)
{
    if (!ex->run.posted) {
        ngx_post_event(&ex->run, &ngx_posted_events);
    }
}


static ngx_uint_t
ngx_http_submission_executor_starved(ngx_http_submission_manager_t *manager,
    ngx_msec_t time)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    return ex->starved_since
           && ngx_http_submission_msec() - ex->starved_since >= time;
}


/* something is due, and there is no connection to send it with */

void
ngx_http_submission_executor_short(ngx_http_submission_executor_t *ex)
{
    if (ex->queue == NULL) {
        return;
    }

    if (ex->starved_since == 0) {
        ex->starved_since = ngx_max(ngx_http_submission_msec(), 1);
    }

    if (ngx_time() - ex->warned < 60) {
        return;
    }

    ex->warned = ngx_time();

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: attempts_wait manager=%V lease_epoch=%L "
                  "waiting=%uz: no connection is left to send with: %ui "
                  "worker_connections, or the worker's open files, are not "
                  "enough",
                  &ex->manager->conf->name, ex->epoch,
                  sm_queue_waiting(ex->queue),
                  ngx_cycle->connection_n);
}


/* how many may be begun now, of what is due; "behind": the store is slow */

ngx_uint_t
ngx_http_submission_executor_room(ngx_http_submission_executor_t *ex,
    ngx_uint_t behind)
{
    ngx_uint_t                           n, connections;
    ngx_http_submission_manager_conf_t  *conf;

    conf = ex->manager->conf;

    /* some may have been sent by an earlier queue */

    if (ex->nsending >= (ngx_uint_t) conf->executor_concurrency
        || ex->nended > 2 * (ngx_uint_t) conf->executor_batch)
    {
        return 0;
    }

    n = conf->executor_concurrency - ex->nsending;
    n = ngx_min(n, (ngx_uint_t) conf->executor_batch);

    /*
     * Attempts that are begun together are usually answered together, and
     * would wait for each other at every turn.  So at most a quarter is begun
     * at once, unless they are answered before a turn is over: then it is the
     * turns that are waited for, and larger ones take less time for each.
     */

    if (!behind) {
        n = ngx_min(n, (ngx_uint_t) (conf->executor_concurrency + 3) / 4);
    }

    connections = ngx_http_submission_reserve_room();

    if (connections == 0) {
        ngx_http_submission_executor_short(ex);

    } else if (!ex->unsent) {
        ex->starved_since = 0;
    }

    return ngx_min(n, connections);
}


/*
 * arms the timer for the next due intent; ended attempts wake the executor
 * themselves
 */

static void
ngx_http_submission_executor_arm(ngx_http_submission_executor_t *ex)
{
    int64_t     next, now;
    ngx_msec_t  wait;

    if (ex->due.timer_set) {
        ngx_del_timer(&ex->due);
    }

    if (ngx_http_submission_turn_out(ex)) {
        return;
    }

    next = ngx_min(sm_queue_next(ex->queue),
                   sm_queue_next_deadline(ex->queue));

    if (next == INT64_MAX) {
        return;
    }

    now = ngx_http_submission_executor_now(ex);

    if (next > now) {
        wait = ngx_min((next - now) / 1000 + 1, 3600 * 1000);

    } else {
        wait = NGX_HTTP_SUBMISSION_EXECUTOR_PAUSE;
    }

    ngx_add_timer(&ex->due, wait);
}


static void
ngx_http_submission_executor_run(ngx_event_t *ev)
{
    ngx_http_submission_executor_t  *ex;

    ex = ev->data;

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: executor run leads:%d turn:%d sending:%ui "
                   "ended:%ui", ex->queue != NULL,
                   (int) ngx_http_submission_turn_out(ex), ex->nsending,
                   ex->nended);

    if (ex->queue == NULL) {

        /* the leader waits for it before it asks for the lease again */

        if (!ngx_http_submission_turn_out(ex)) {
            ngx_http_submission_leader_idle(ex->manager);
        }

        return;
    }

    ngx_http_submission_reserve_adjust();

    if (ngx_http_submission_leader_late(ex->manager)) {
        return;
    }

    ngx_http_submission_executor_tick(ex);

    if (sm_queue_expire(ex->queue, NGX_HTTP_SUBMISSION_EXECUTOR_SLICE)) {

        /* nothing begins before the others are found; other events go on */

        ngx_post_event(&ex->run, &ngx_posted_next_events);
    }

    /* what is alive goes first */

    if (!ngx_http_submission_turn_out(ex)
        && ngx_http_submission_turn(ex) != NGX_OK)
    {
        ngx_add_timer(&ex->due, NGX_HTTP_SUBMISSION_EXECUTOR_PAUSE);
        return;
    }

    ngx_http_submission_expiry_look(ex);

    if (ex->leaving) {
        if (ngx_http_submission_executor_drained(ex->manager)) {
            ngx_http_submission_leader_idle(ex->manager);
        }

        return;
    }

    ngx_http_submission_executor_arm(ex);

    ngx_http_submission_depth_look(ex);
    ngx_http_submission_gauge(ex->manager, NGX_HTTP_SUBMISSION_GAUGE_INFLIGHT,
                              ex->epoch, ex->nsending);
}
