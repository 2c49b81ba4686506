
/*
 * Leadership: what the executor worker of an instance does next about the
 * lease, and what others may ask of it.
 *
 * One worker of an instance, the one that holds the lock file, is its executor
 * worker.  When it dies, the kernel lets another one have the lock.  Only the
 * executor worker asks for the lease, renews it, and executes.
 *
 * - The store grants an epoch, and its leader stops by itself at a deadline:
 *   the start of the request that got the grant, plus lease_duration, less a
 *   margin.  The clock is one that nobody sets and that goes on while the host
 *   is suspended.  The deadline is always before the row expires, whatever the
 *   store's clock says.
 * - Any error of the store ends leadership at once.  The row may still be ours
 *   then: the next call takes it over, in a new epoch.
 * - An answer that comes when the state has changed is ignored.  What its call
 *   may have left in the row is taken over or released, see lease.c.
 * - A leader that cannot send any due intent for lack of connections, for as
 *   long as a lease lasts, releases the lease if another instance is alive.
 * - A follower knows when the lease expires, and tries then.  It also reads
 *   the row now and then, to notice a release.
 * - A new executor worker of the instance takes over the epoch in shared
 *   memory; its new epoch fences the old worker off.
 */

#include "ngx_http_submission_lease.h"


#define NGX_HTTP_SUBMISSION_LEADER_STANDBY_TICK  100       /* milliseconds */


static void ngx_http_submission_leader_failed(
    ngx_http_submission_manager_t *manager, int64_t epoch, sm_call_t *call);
static void ngx_http_submission_leader_tick(ngx_event_t *ev);
static void ngx_http_submission_leader_expiry(ngx_event_t *ev);


ngx_int_t
ngx_http_submission_leader_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager,
    const ngx_http_submission_leader_handlers_t *handlers)
{
    ngx_connection_t              *c;
    ngx_http_submission_leader_t  *ld;

    ld = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_leader_t));
    if (ld == NULL) {
        return NGX_ERROR;
    }

    /* at shutdown nginx closes idle connections; there is no other signal */

    c = ngx_get_connection(manager->conf->lock, cycle->log);
    if (c == NULL) {
        return NGX_ERROR;
    }

    c->data = ld;
    c->idle = 1;
    c->read->handler = ngx_http_submission_leader_exit;
    c->read->log = cycle->log;
    c->read->channel = 1;

    ld->manager = manager;
    ld->handlers = handlers;

    ld->tick.handler = ngx_http_submission_leader_tick;
    ld->tick.data = ld;
    ld->tick.log = cycle->log;
    ld->tick.cancelable = 1;

    ld->expiry.handler = ngx_http_submission_leader_expiry;
    ld->expiry.data = ld;
    ld->expiry.log = cycle->log;
    ld->expiry.cancelable = 1;

    manager->leader = ld;
    manager->fenced = ngx_http_submission_leader_failed;

    /*
     * An instance that starts workers does not quit, whatever other workers
     * were told: one of them alone, or all of them before an upgrade that was
     * undone.
     */

    if (manager->conf->generation == manager->sh->generation) {
        manager->sh->quitting = NGX_HTTP_SUBMISSION_QUIT_NO;
    }

    ngx_add_timer(&ld->tick, 1);

    return NGX_OK;
}


/* nginx's own time is not used, because it stands still between events */

ngx_uint_t
ngx_http_submission_leader_gate(ngx_http_submission_manager_t *manager,
    int64_t epoch)
{
    ngx_http_submission_leader_t  *ld;

    ld = manager->leader;

    return sm_leader_sends(ld->state)
           && ld->epoch == epoch
           && (ngx_msec_int_t) (ld->deadline
                                - ngx_http_submission_lease_msec()) > 0;
}


/* whether this instance still waits for another one to lead */

ngx_uint_t
ngx_http_submission_leader_yields(ngx_http_submission_leader_t *ld)
{
    if (ld->yielding
        && (ngx_msec_int_t) (ld->yield - ngx_current_msec) <= 0)
    {
        ld->yielding = 0;
    }

    return ld->yielding;
}


/* the delay before the next epoch, which grows while epochs fail */

ngx_msec_t
ngx_http_submission_leader_back_off(ngx_http_submission_leader_t *ld)
{
    ngx_uint_t  n;

    n = ngx_min(ld->failures, NGX_HTTP_SUBMISSION_LEADER_DOUBLINGS);
    ld->failures++;

    return (ngx_msec_t) NGX_HTTP_SUBMISSION_LEADER_RETRY << n;
}


/* an epoch in which an outcome was recorded has not failed */

void
ngx_http_submission_leader_works(ngx_http_submission_manager_t *manager)
{
    manager->leader->failures = 0;
}


/* task.c calls this for a call that was fenced by this epoch and failed */

static void
ngx_http_submission_leader_failed(ngx_http_submission_manager_t *manager,
    int64_t epoch, sm_call_t *call)
{
    ngx_http_submission_leader_t  *ld;

    ld = manager->leader;

    if (ld->epoch != epoch) {
        return;
    }

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_LOST,
                                     call->status == SM_STORE_TRANSIENT
                                     ? NGX_HTTP_SUBMISSION_LEADER_RETRY
                                     : ngx_http_submission_leader_back_off(ld),
                                     call->status == SM_STORE_LEASE_LOST
                                     ? "lease_lost" : "store_error",
                                     call->error);
}


void
ngx_http_submission_leader_abandon(ngx_http_submission_manager_t *manager,
    int64_t epoch, const char *reason)
{
    ngx_http_submission_leader_t  *ld;

    ld = manager->leader;

    if (ld->epoch == epoch) {
        ngx_http_submission_leader_event(ld, SM_LEADER_EV_LOST,
                                         NGX_HTTP_SUBMISSION_LEADER_RETRY,
                                         reason, NULL);
    }
}


ngx_uint_t
ngx_http_submission_leader_elected(ngx_http_submission_manager_t *manager)
{
    return sm_leader_elected(manager->leader->state);
}


ngx_uint_t
ngx_http_submission_leader_left(ngx_http_submission_manager_t *manager)
{
    return manager->leader->state == SM_LEADER_ST_LEFT;
}


void
ngx_http_submission_leader_idle(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_leader_t  *ld;

    ld = manager->leader;

    if (sm_leader_leaving(ld->state)) {
        ngx_http_submission_leader_leave(ld);

    } else if (ld->flushing) {
        ld->flushing = 0;
        ngx_http_submission_leader_event(ld, SM_LEADER_EV_FLUSHED, 1, NULL,
                                         NULL);
    }
}


/*
 * Outcomes wait because the store does not take them.  Their epoch is renewed,
 * so that they stay in hand, unless another instance could lead: then the epoch
 * is left to expire.
 */

static void
ngx_http_submission_leader_keep(ngx_http_submission_leader_t *ld)
{
    ngx_msec_t  interval;

    interval = ngx_min(ld->manager->conf->renew_interval,
                       ld->manager->conf->lease_duration / 3);

    if (ld->state == SM_LEADER_ST_FOLLOWER
        && ngx_current_msec - ld->kept >= interval)
    {
        ld->kept = ngx_current_msec;

        if (ngx_http_submission_lease_call(ld, NGX_HTTP_SUBMISSION_LEASE_KEEP)
            == NGX_OK)
        {
            return;
        }
    }

    ngx_add_timer(&ld->tick, NGX_HTTP_SUBMISSION_LEADER_RETRY);
}


ngx_int_t
ngx_http_submission_leader_flush(ngx_http_submission_leader_t *ld)
{
    switch (ld->handlers->flush(ld->manager)) {

    case NGX_OK:
        return NGX_OK;

    case NGX_AGAIN:
        ld->flushing = 1;
        return NGX_AGAIN;

    default: /* NGX_BUSY */
        ngx_http_submission_leader_keep(ld);
        return NGX_AGAIN;
    }
}


static void
ngx_http_submission_leader_standby(ngx_http_submission_leader_t *ld)
{
    ngx_http_submission_shctx_t  *sh;

    if (ngx_http_submission_election_win(ld->manager) != NGX_OK) {
        ngx_add_timer(&ld->tick, NGX_HTTP_SUBMISSION_LEADER_STANDBY_TICK);
        return;
    }

    sh = ld->manager->sh;

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: lock won manager:%V held:%L same lease:%d",
                   &ld->manager->conf->name, (int64_t) sh->held,
                   sh->held_tenure == ld->manager->conf->tenure);

    if (sh->held_tenure != ld->manager->conf->tenure) {

        /* what is held belongs to another lease, which can only expire */

        sh->held = 0;
        sh->held_tenure = ld->manager->conf->tenure;
    }

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_LOCKED, 1, NULL,
                                     NULL);
}


/* the answer arms the next tick; a call that cannot be made is tried again */

static void
ngx_http_submission_leader_call(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind)
{
    if (ngx_http_submission_lease_call(ld, kind) == NGX_ERROR) {
        ngx_add_timer(&ld->tick, NGX_HTTP_SUBMISSION_LEADER_RETRY);
    }
}


static void
ngx_http_submission_leader_tick(ngx_event_t *ev)
{
    ngx_http_submission_lease_e    kind;
    ngx_http_submission_leader_t  *ld;

    ld = ev->data;

    if (ngx_exiting && !sm_leader_leaving(ld->state)) {
        ngx_http_submission_leader_shutdown(ld);
        return;
    }

    switch (ld->state) {

    case SM_LEADER_ST_STANDBY:
        ngx_http_submission_leader_standby(ld);
        break;

    case SM_LEADER_ST_FOLLOWER:

        if (ld->manager->sh->held && ngx_http_submission_leader_yields(ld)) {
            kind = NGX_HTTP_SUBMISSION_LEASE_YIELD;

        } else if ((ngx_msec_int_t) (ld->aim - ngx_current_msec) > 0) {
            kind = NGX_HTTP_SUBMISSION_LEASE_WATCH;

        } else {
            kind = NGX_HTTP_SUBMISSION_LEASE_ACQUIRE;
        }

        if (kind != NGX_HTTP_SUBMISSION_LEASE_WATCH
            && ngx_http_submission_leader_flush(ld) == NGX_AGAIN)
        {
            break;
        }

        ngx_http_submission_leader_call(ld, kind);
        break;

    case SM_LEADER_ST_RECOVERING:
        ngx_http_submission_leader_call(ld, NGX_HTTP_SUBMISSION_LEASE_RECOVER);
        break;

    case SM_LEADER_ST_LEADER:
        ngx_http_submission_leader_call(ld, NGX_HTTP_SUBMISSION_LEASE_RENEW);
        break;

    case SM_LEADER_ST_DRAINING:
    case SM_LEADER_ST_RELEASING:

        if (ld->handlers->finish(ld->manager) == NGX_OK) {
            ngx_http_submission_leader_leave(ld);
            break;
        }

        ngx_http_submission_leader_call(ld, NGX_HTTP_SUBMISSION_LEASE_RENEW);
        break;

    default: /* SM_LEADER_ST_LEFT */
        break;
    }
}


static void
ngx_http_submission_leader_expiry(ngx_event_t *ev)
{
    ngx_http_submission_leader_t  *ld;

    ld = ev->data;

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_LOST,
                                     NGX_HTTP_SUBMISSION_LEADER_RETRY,
                                     "deadline", NULL);
}


/*
 * The timer of the deadline may be late: timers stand still while the host is
 * suspended.
 */

ngx_uint_t
ngx_http_submission_leader_late(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_leader_t  *ld;

    ld = manager->leader;

    if (ld->state != SM_LEADER_ST_LEADER
        || (ngx_msec_int_t) (ld->deadline
                             - ngx_http_submission_lease_msec()) > 0)
    {
        return 0;
    }

    ngx_http_submission_leader_expiry(&ld->expiry);

    return 1;
}
