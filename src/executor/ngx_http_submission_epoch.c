
/*
 * An epoch of the executor: what begins when this worker is granted the lease,
 * and what ends when it loses the lease or leaves.
 *
 * - ex->queue is there from _start() to _lost(), and belongs to one epoch.
 *   ex->generation changes at both, so that whoever has kept a pointer into a
 *   queue can tell whether that queue is still the one.
 * - When the lease is lost, the queue is dropped at once.  Attempts at
 *   gateways go on, see in_hand.c.
 * - When the worker leaves, nothing new is begun.  The queue, and the lease,
 *   stay until the attempts at gateways have ended and are recorded.
 *
 * The leader calls these functions, through the table of handlers.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_stats.h"
#include "ngx_http_submission_turn.h"
#include "ngx_http_submission_zone.h"

#include "sm_webhook.h"

#include <sys/random.h>


static ngx_int_t ngx_http_submission_epoch_start(
    ngx_http_submission_manager_t *manager, int64_t epoch);
static void ngx_http_submission_epoch_lost(
    ngx_http_submission_manager_t *manager);
static void ngx_http_submission_epoch_leave(
    ngx_http_submission_manager_t *manager);
static ngx_int_t ngx_http_submission_epoch_flush(
    ngx_http_submission_manager_t *manager);
static ngx_int_t ngx_http_submission_epoch_end(
    ngx_http_submission_manager_t *manager, ngx_msec_t deadline);


/* queues of epochs that are over, until their memory is free */

#define NGX_HTTP_SUBMISSION_EPOCH_OLD  8

static sm_queue_t   *ngx_http_submission_epoch_old[
                                              NGX_HTTP_SUBMISSION_EPOCH_OLD];
static ngx_uint_t    ngx_http_submission_epoch_nold;
static ngx_event_t   ngx_http_submission_epoch_freeing;


const ngx_http_submission_leader_handlers_t
    ngx_http_submission_executor_handlers =
{
    .start = ngx_http_submission_epoch_start,
    .lost = ngx_http_submission_epoch_lost,
    .leave = ngx_http_submission_epoch_leave,
    .quiet = ngx_http_submission_epoch_quiet,
    .finish = ngx_http_submission_epoch_finish,
    .known = ngx_http_submission_in_hand_known,
    .recovered = ngx_http_submission_in_hand_recovered,
    .in_doubt = ngx_http_submission_ended_in_doubt,
    .starved = ngx_http_submission_executor_starved,
    .flush = ngx_http_submission_epoch_flush,
    .end = ngx_http_submission_epoch_end
};


/* how many attempts a target may have at once; 0: as many as there may be */

static unsigned
ngx_http_submission_epoch_limit(void *data, sm_str_t name)
{
    ngx_http_submission_manager_t *manager = data;

    ngx_http_submission_target_t  *target;

    target = ngx_http_submission_target(manager->conf, name);

    /*
     * Intents of a target that is no longer configured are sent as their
     * contract says.  Messages of such a webhook have no URL, and wait.
     */

    if (target == NULL) {
        return sm_webhook_name(name).data ? SM_QUEUE_NEVER : 0;
    }

    if (target->concurrency) {
        return target->concurrency;
    }

    /* the only target need not leave anything free for others */

    return manager->conf->ntargets == 1 ? manager->conf->executor_concurrency
                                        : 0;
}


/*
 * The key of the queue's hash.  If the kernel has no random numbers yet, it is
 * made of values that an attacker cannot see.
 */

static void
ngx_http_submission_epoch_key(ngx_http_submission_executor_t *ex,
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


/* the queue knows all configured targets, in the order of their numbers */

static sm_queue_t *
ngx_http_submission_epoch_queue(ngx_http_submission_executor_t *ex)
{
    uint64_t                        key[2];
    ngx_uint_t                      i;
    sm_queue_t                     *s;
    ngx_http_submission_target_t  **targets;

    ngx_http_submission_epoch_key(ex, key);

    s = sm_queue_create(ex->manager->conf->executor_concurrency, key,
                        ngx_http_submission_epoch_limit, ex->manager);
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
ngx_http_submission_epoch_start(ngx_http_submission_manager_t *manager,
    int64_t epoch)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    ex->epoch = epoch;

    ex->queue = ngx_http_submission_epoch_queue(ex);
    if (ex->queue == NULL) {
        return NGX_ERROR;
    }

    ex->generation++;
    ex->leaving = 0;
    ex->unsent = 0;
    ex->starved_since = 0;

    ex->reserved = 1;
    ngx_http_submission_reserve_open(manager->conf->executor_concurrency);

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: executor starts manager:%V epoch:%L "
                   "generation:%ui sending:%ui ended:%ui",
                   &manager->conf->name, epoch, ex->generation, ex->nsending,
                   ex->nended);

    ngx_http_submission_in_hand_adopt(ex);

    ngx_http_submission_turn_start(ex);
    ngx_http_submission_stats_start(ex);
    ngx_http_submission_target_health_start(ex);
    ngx_http_submission_duty_start(ex);
    ngx_http_submission_pauses_start(ex);
    ngx_http_submission_queue_start(ex);

    return NGX_OK;
}


/* from here on nothing more is begun */

static void
ngx_http_submission_epoch_stop(ngx_http_submission_executor_t *ex)
{
    ngx_log_debug6(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: executor stops manager:%V epoch:%L leaving:%d "
                   "turn:%ui sending:%ui ended:%ui",
                   &ex->manager->conf->name, ex->epoch, ex->leaving,
                   ngx_http_submission_turn_out(ex), ex->nsending, ex->nended);

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
 * Frees the memory of queues that nobody uses any more, bit by bit: a queue may
 * have had a million intents.  When the worker exits, the kernel frees the
 * rest.
 */

static void
ngx_http_submission_epoch_free(ngx_event_t *ev)
{
    ngx_uint_t  last;

    last = ngx_http_submission_epoch_nold - 1;

    if (!sm_queue_destroy_some(ngx_http_submission_epoch_old[last],
                               NGX_HTTP_SUBMISSION_EXECUTOR_SLICE))
    {
        ngx_http_submission_epoch_nold = last;
    }

    if (ngx_http_submission_epoch_nold) {
        ngx_post_event(ev, &ngx_posted_next_events);
    }
}


static void
ngx_http_submission_epoch_discard(sm_queue_t *queue)
{
    ngx_event_t  *ev;

    ev = &ngx_http_submission_epoch_freeing;

    if (ngx_http_submission_epoch_nold
        == NGX_HTTP_SUBMISSION_EPOCH_OLD)
    {
        sm_queue_destroy(queue);
        return;
    }

    ngx_http_submission_epoch_old[ngx_http_submission_epoch_nold++]
                                                                   = queue;

    ev->handler = ngx_http_submission_epoch_free;
    ev->log = ngx_cycle->log;

    ngx_post_event(ev, &ngx_posted_next_events);
}


static void
ngx_http_submission_epoch_lost(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    if (ex->queue == NULL) {
        return;
    }

    ngx_http_submission_epoch_stop(ex);

    ngx_http_submission_epoch_discard(ex->queue);
    ex->queue = NULL;
    ex->generation++;

    ngx_http_submission_gauge(manager, NGX_HTTP_SUBMISSION_GAUGE_QUEUE_DEPTH,
                              0, 0);
}


static void
ngx_http_submission_epoch_leave(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    if (ex->queue == NULL) {
        return;
    }

    ex->leaving = 1;

    ngx_http_submission_epoch_stop(ex);

    if (ex->nended) {

        /* the timer that was stopped may have been meant to record them */

        ngx_add_timer(&ex->due, 1);
    }
}


ngx_uint_t
ngx_http_submission_epoch_quiet(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    return ex->queue == NULL
           || (!ngx_http_submission_turn_out(ex)
               && !ngx_http_submission_expiry_out(ex)
               && ex->nsending == 0 && ex->nended == 0);
}


ngx_int_t
ngx_http_submission_epoch_finish(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    if (ex->queue == NULL) {
        return NGX_OK;
    }

    return ngx_http_submission_epoch_quiet(manager)
           ? ngx_http_submission_stats_finish(ex) : NGX_AGAIN;
}


static ngx_int_t
ngx_http_submission_epoch_flush(ngx_http_submission_manager_t *manager)
{
    /* the lease is not released before the last numbers are written */

    if (ngx_http_submission_stats_out(manager->executor)) {
        return NGX_AGAIN;
    }

    return ngx_http_submission_turn_flush(manager);
}


/*
 * The worker is being terminated, and its threads have ended.  They have run
 * the last calls, and nobody has looked at the answers, which is done first.
 */

static ngx_int_t
ngx_http_submission_epoch_end(ngx_http_submission_manager_t *manager,
    ngx_msec_t deadline)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;
    ex->leaving = 1;

    ngx_http_submission_expiry_end(ex);
    ngx_http_submission_duty_end(ex);

    if (ngx_http_submission_turn_end(ex, deadline) != NGX_OK) {
        return NGX_ERROR;
    }

    if (manager->sh->held
        && (ngx_msec_int_t) (deadline - ngx_http_submission_msec()) > 0)
    {
        ngx_http_submission_stats_tell(ex);
    }

    return ex->nsending ? NGX_ERROR : NGX_OK;
}


sm_entry_t *
ngx_http_submission_epoch_entry(ngx_http_submission_executor_t *ex,
    ngx_uint_t generation, sm_entry_t *entry)
{
    return ex->queue && ex->generation == generation ? entry : NULL;
}
