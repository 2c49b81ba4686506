
/*
 * Leadership.
 *
 * One worker of an instance, the one that has the lock file, is its executor
 * worker; the kernel gives the lock to another when that one dies.  It alone
 * asks for the lease, renews it, and executes.
 *
 * - Whoever leads has been granted an epoch by the store, and stops by itself
 *   at a deadline: the moment when the request that got the grant was started,
 *   plus lease_duration, less a margin, by a clock that is never set, and that
 *   goes on while the host is suspended.  That is before the row expires,
 *   whatever the store's clock says.
 * - Any error of the store ends leadership at once.  The row may still be
 *   ours then: the next call takes it over, in a new epoch.
 * - An answer that comes after its state has passed is not looked at.  What it
 *   may have left in the row is taken over or given up, see lease.c.
 * - A leader that has due work and cannot send any of it, for lack of
 *   connections, for as long as a lease lasts, gives it up if another instance
 *   lives.
 * - A follower knows when the lease expires, and tries then; so that it learns
 *   of a release too, it reads the row every now and then.
 * - A new executor worker of the instance does the same, at the epoch that is
 *   in shared memory; the epoch that it gets fences the old one off.
 */

#include "ngx_http_submission.h"


#define NGX_HTTP_SUBMISSION_STANDBY_TICK  100       /* milliseconds */


typedef struct {
    ngx_http_submission_state_e   from;
    ngx_http_submission_event_e   event;
    ngx_http_submission_state_e   to;
} ngx_http_submission_transition_t;


static void ngx_http_submission_leader_tick(ngx_event_t *ev);
static void ngx_http_submission_leader_expiry(ngx_event_t *ev);
static void ngx_http_submission_leader_exit(ngx_event_t *ev);


static ngx_http_submission_transition_t  ngx_http_submission_transitions[] = {

    /* another worker of the instance is the executor worker, or none yet */

    { NGX_HTTP_SUBMISSION_STANDBY, NGX_HTTP_SUBMISSION_LOCKED,
      NGX_HTTP_SUBMISSION_FOLLOWER },
    { NGX_HTTP_SUBMISSION_STANDBY, NGX_HTTP_SUBMISSION_EXIT,
      NGX_HTTP_SUBMISSION_LEFT },

    { NGX_HTTP_SUBMISSION_FOLLOWER, NGX_HTTP_SUBMISSION_GRANTED,
      NGX_HTTP_SUBMISSION_RECOVERING },
    { NGX_HTTP_SUBMISSION_FOLLOWER, NGX_HTTP_SUBMISSION_DENIED,
      NGX_HTTP_SUBMISSION_FOLLOWER },
    { NGX_HTTP_SUBMISSION_FOLLOWER, NGX_HTTP_SUBMISSION_WATCHED,
      NGX_HTTP_SUBMISSION_FOLLOWER },
    { NGX_HTTP_SUBMISSION_FOLLOWER, NGX_HTTP_SUBMISSION_LOST,
      NGX_HTTP_SUBMISSION_FOLLOWER },
    { NGX_HTTP_SUBMISSION_FOLLOWER, NGX_HTTP_SUBMISSION_EXIT,
      NGX_HTTP_SUBMISSION_LEAVING },

    /* the lease is held, and attempts of earlier epochs may be in doubt */

    { NGX_HTTP_SUBMISSION_RECOVERING, NGX_HTTP_SUBMISSION_RECOVERED,
      NGX_HTTP_SUBMISSION_LEADER },
    { NGX_HTTP_SUBMISSION_RECOVERING, NGX_HTTP_SUBMISSION_LOST,
      NGX_HTTP_SUBMISSION_FOLLOWER },
    { NGX_HTTP_SUBMISSION_RECOVERING, NGX_HTTP_SUBMISSION_EXIT,
      NGX_HTTP_SUBMISSION_LEAVING },

    { NGX_HTTP_SUBMISSION_LEADER, NGX_HTTP_SUBMISSION_RENEWED,
      NGX_HTTP_SUBMISSION_LEADER },
    { NGX_HTTP_SUBMISSION_LEADER, NGX_HTTP_SUBMISSION_LOST,
      NGX_HTTP_SUBMISSION_FOLLOWER },
    { NGX_HTTP_SUBMISSION_LEADER, NGX_HTTP_SUBMISSION_EXIT,
      NGX_HTTP_SUBMISSION_LEAVING },

    /* what is at gateways may end, and the lease is kept for that */

    { NGX_HTTP_SUBMISSION_LEAVING, NGX_HTTP_SUBMISSION_GONE,
      NGX_HTTP_SUBMISSION_LEFT }
};


ngx_int_t
ngx_http_submission_leader_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_connection_t              *c;
    ngx_http_submission_leader_t  *ld;

    ld = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_leader_t));
    if (ld == NULL) {
        return NGX_ERROR;
    }

    /* at shutdown nginx closes idle connections: nothing else tells of it */

    c = ngx_get_connection(manager->lock, cycle->log);
    if (c == NULL) {
        return NGX_ERROR;
    }

    c->data = ld;
    c->idle = 1;
    c->read->handler = ngx_http_submission_leader_exit;
    c->read->log = cycle->log;
    c->read->channel = 1;

    ld->manager = manager;

    ld->tick.handler = ngx_http_submission_leader_tick;
    ld->tick.data = ld;
    ld->tick.log = cycle->log;
    ld->tick.cancelable = 1;

    ld->expiry.handler = ngx_http_submission_leader_expiry;
    ld->expiry.data = ld;
    ld->expiry.log = cycle->log;
    ld->expiry.cancelable = 1;

    manager->leader = ld;

    /*
     * An instance that starts workers does not quit, whatever others of them
     * were told: one alone, or all before an upgrade that was taken back.
     */

    if (manager->generation == manager->sh->generation) {
        manager->sh->quitting = NGX_HTTP_SUBMISSION_STAYING;
    }

    ngx_add_timer(&ld->tick, 1);

    return NGX_OK;
}


static void
ngx_http_submission_leader_publish(ngx_http_submission_leader_t *ld)
{
    ngx_http_submission_role_t  role;

    ngx_memzero(&role, sizeof(ngx_http_submission_role_t));

    role.leader = ld->state == NGX_HTTP_SUBMISSION_LEADER;
    role.pid = ngx_pid;
    role.epoch = ld->epoch;
    role.expires_at = ld->expires_at;
    role.deadline = ld->deadline;

    ngx_http_submission_zone_publish(ld->manager, &role);
}


void
ngx_http_submission_leader_log(ngx_http_submission_leader_t *ld,
    ngx_uint_t level, const char *event, const char *reason,
    const char *sql_error)
{
    char                         buf[SM_TIME_LEN];
    sm_str_t                     error;
    sm_out_t                     out;
    ngx_http_submission_field_t  field;

    error = sm_str_c(sql_error ? sql_error : "");

    sm_out_init(&out, buf, sizeof(buf));

    if (ld->expires_at) {
        sm_out_time(&out, ld->expires_at);

    } else {
        sm_out_c(&out, "-");
    }

    ngx_log_error(level, ngx_cycle->log, 0,
                  "submission: %s manager=%V holder_id=%V lease_epoch=%L "
                  "expires_at=%*s%s%s%V",
                  event, &ld->manager->name, &ld->manager->holder_id,
                  ld->epoch, (size_t) (out.last - out.start), out.start,
                  reason ? " reason=" : "", reason ? reason : "",
                  ngx_http_submission_field(&field, " sql_error=", error));
}


/* the deadline stands for a lease that is held */

void
ngx_http_submission_leader_arm(ngx_http_submission_leader_t *ld,
    ngx_msec_t wait)
{
    ngx_msec_int_t  left;

    if (ld->expiry.timer_set) {
        ngx_del_timer(&ld->expiry);
    }

    if (ld->state == NGX_HTTP_SUBMISSION_RECOVERING
        || ld->state == NGX_HTTP_SUBMISSION_LEADER)
    {
        left = (ngx_msec_int_t) (ld->deadline
                                 - ngx_http_submission_lease_msec());
        ngx_add_timer(&ld->expiry, left > 0 ? left : 1);
    }

    if (ld->tick.timer_set) {
        ngx_del_timer(&ld->tick);
    }

    if (ld->state != NGX_HTTP_SUBMISSION_LEFT) {
        ngx_add_timer(&ld->tick, wait);
    }
}


/*
 * All that changes the state goes through here.  "wait" is until the next
 * tick; an event that the state has no transition for is ignored.
 */

void
ngx_http_submission_leader_event(ngx_http_submission_leader_t *ld,
    ngx_http_submission_event_e event, ngx_msec_t wait, const char *reason,
    const char *sql_error)
{
    ngx_uint_t                         i, n;
    ngx_http_submission_state_e        from;
    ngx_http_submission_transition_t  *t;

    t = ngx_http_submission_transitions;
    n = sizeof(ngx_http_submission_transitions)
        / sizeof(ngx_http_submission_transition_t);

    for (i = 0; i < n; i++) {
        if (t[i].from == ld->state && t[i].event == event) {
            break;
        }
    }

    if (i == n) {
        return;
    }

    from = ld->state;
    ld->state = t[i].to;

    switch (event) {

    case NGX_HTTP_SUBMISSION_RECOVERED:
        ngx_http_submission_leader_log(ld, NGX_LOG_NOTICE, "leader_acquired",
                                       NULL, NULL);
        break;

    case NGX_HTTP_SUBMISSION_RENEWED:
        ld->failures = 0;
        ngx_http_submission_leader_log(ld, NGX_LOG_INFO, "leader_renewed",
                                       NULL, NULL);
        break;

    case NGX_HTTP_SUBMISSION_DENIED:
        ngx_http_submission_leader_log(ld, NGX_LOG_INFO,
                                       "leader_acquire_failed", reason, NULL);
        break;

    case NGX_HTTP_SUBMISSION_LOST:
    case NGX_HTTP_SUBMISSION_EXIT:

        if (from == NGX_HTTP_SUBMISSION_LEADER) {
            ngx_http_submission_leader_log(ld,
                                           event == NGX_HTTP_SUBMISSION_LOST
                                           ? NGX_LOG_ERR : NGX_LOG_NOTICE,
                                           "leader_lost", reason, sql_error);

        } else if (event == NGX_HTTP_SUBMISSION_LOST) {

            /* tried again and again: one line is enough */

            ngx_http_submission_leader_log(ld, ld->failing ? NGX_LOG_INFO
                                                           : NGX_LOG_ERR,
                                           "leader_acquire_failed", reason,
                                           sql_error);
            ld->failing = 1;
        }

        if (event == NGX_HTTP_SUBMISSION_EXIT) {

            /*
             * What is at gateways still goes by the lease, and the worker is
             * to stay until it is recorded.
             */

            ld->tick.cancelable = 0;
            break;
        }

        ld->aim = ngx_current_msec;
        ld->epoch = 0;
        ld->expires_at = 0;
        break;

    default:
        break;
    }

    if (from != NGX_HTTP_SUBMISSION_STANDBY
        && ld->state != NGX_HTTP_SUBMISSION_LEFT)
    {
        ngx_http_submission_leader_publish(ld);
    }

    ngx_http_submission_leader_arm(ld, wait);

    switch (event) {

    case NGX_HTTP_SUBMISSION_RECOVERED:
        ngx_http_submission_executor_start(ld->manager, ld->epoch);
        break;

    case NGX_HTTP_SUBMISSION_LOST:
        ngx_http_submission_executor_lost(ld->manager);
        break;

    case NGX_HTTP_SUBMISSION_EXIT:
        ngx_http_submission_executor_leave(ld->manager);
        break;

    default:
        break;
    }
}


/*
 * Whether an attempt that was begun under this epoch may leave right now; not
 * by nginx's time, which stands still between events.
 */

ngx_uint_t
ngx_http_submission_leader_gate(ngx_http_submission_leader_t *ld,
    int64_t epoch)
{
    return (ld->state == NGX_HTTP_SUBMISSION_LEADER
            || ld->state == NGX_HTTP_SUBMISSION_LEAVING)
           && ld->epoch == epoch
           && (ngx_msec_int_t) (ld->deadline
                                - ngx_http_submission_lease_msec()) > 0;
}


/* another is to lead, if one does in time */

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


/* while one epoch after the other fails, the next is waited for longer */

ngx_msec_t
ngx_http_submission_leader_back_off(ngx_http_submission_leader_t *ld)
{
    return (ngx_msec_t) NGX_HTTP_SUBMISSION_RETRY
           << ngx_min(ld->failures++, 3);
}


/* an epoch in which something was recorded has not failed from the start */

void
ngx_http_submission_leader_works(ngx_http_submission_leader_t *ld)
{
    ld->failures = 0;
}


/* a call of the executor under this epoch */

void
ngx_http_submission_leader_failed(ngx_http_submission_leader_t *ld,
    int64_t epoch, sm_call_t *call)
{
    if (ld->epoch != epoch) {
        return;
    }

    ngx_http_submission_leader_event(ld, NGX_HTTP_SUBMISSION_LOST,
                                     call->status == SM_STORE_TRANSIENT
                                     ? NGX_HTTP_SUBMISSION_RETRY
                                     : ngx_http_submission_leader_back_off(ld),
                                     call->status == SM_STORE_LEASE_LOST
                                     ? "lease_lost" : "store_error",
                                     call->error);
}


/* the executor has done what the leader waits for */

void
ngx_http_submission_leader_idle(ngx_http_submission_leader_t *ld)
{
    if (ld->state == NGX_HTTP_SUBMISSION_LEAVING) {
        ngx_http_submission_leader_leave(ld);

    } else if (ld->flushing) {
        ld->flushing = 0;
        ngx_http_submission_leader_arm(ld, 1);
    }
}


/*
 * Outcomes wait for a store that does not take them.  The epoch under which
 * they can be recorded is kept for them, unless another instance could lead:
 * then it runs out.
 */

static void
ngx_http_submission_leader_keep(ngx_http_submission_leader_t *ld)
{
    ngx_msec_t  interval;

    interval = ngx_min(ld->manager->renew_interval,
                       ld->manager->lease_duration / 3);

    if (ld->state == NGX_HTTP_SUBMISSION_FOLLOWER
        && ngx_current_msec - ld->kept >= interval)
    {
        ld->kept = ngx_current_msec;

        if (ngx_http_submission_lease_call(ld, NGX_HTTP_SUBMISSION_KEEP)
            == NGX_OK)
        {
            return;
        }
    }

    ngx_add_timer(&ld->tick, NGX_HTTP_SUBMISSION_RETRY);
}


/* what the attempts of an epoch that was lost have come to is recorded yet */

static ngx_int_t
ngx_http_submission_leader_flush(ngx_http_submission_leader_t *ld)
{
    switch (ngx_http_submission_turn_flush(ld->manager)) {

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
        ngx_add_timer(&ld->tick, NGX_HTTP_SUBMISSION_STANDBY_TICK);
        return;
    }

    sh = ld->manager->sh;

    if (sh->held_tenure != ld->manager->tenure) {

        /* a lease that was not given up can only expire */

        sh->held = 0;
        sh->held_tenure = ld->manager->tenure;
    }

    ngx_http_submission_leader_event(ld, NGX_HTTP_SUBMISSION_LOCKED, 1, NULL,
                                     NULL);
}


/* nobody of the instance is going to take over what this worker may hold */

static ngx_uint_t
ngx_http_submission_leader_last(ngx_http_submission_leader_t *ld)
{
    ngx_http_submission_shctx_t  *sh;

    sh = ld->manager->sh;

    return sh->held_tenure == ld->manager->tenure
           && (sh->quitting == NGX_HTTP_SUBMISSION_QUITTING
               || sh->tenure != ld->manager->tenure);
}


/*
 * At reload a worker of the new configuration takes the lease over, and needs
 * the lock file for that.  At quit, and where the new configuration is about
 * another lease, it is released by whoever has the lock file; and where both
 * come at once, one of the two sees the other: the one leaves and then looks
 * whether the instance quits, the other says that it does and then looks for
 * the lock.
 */

void
ngx_http_submission_leader_leave(ngx_http_submission_leader_t *ld)
{
    if (ld->call) {
        return;
    }

    if (!ngx_http_submission_executor_drained(ld->manager)) {
        ngx_add_timer(&ld->tick, ngx_http_submission_lease_wait(ld));
        return;
    }

    if (ngx_http_submission_leader_flush(ld) == NGX_AGAIN) {
        return;
    }

    ngx_http_submission_executor_lost(ld->manager);

    /* whoever has the lock next publishes, too */

    ld->epoch = 0;
    ld->expires_at = 0;

    ngx_http_submission_leader_publish(ld);

    do {
        if (ngx_http_submission_leader_last(ld) && !ld->released) {
            ld->released = 1;

            if (ngx_http_submission_lease_call(ld, NGX_HTTP_SUBMISSION_RELEASE)
                == NGX_OK)
            {
                return;
            }
        }

        ngx_http_submission_election_resign(ld->manager);
        ngx_memory_barrier();

    } while (ngx_http_submission_leader_last(ld) && !ld->released
             && ngx_http_submission_election_win(ld->manager) == NGX_OK);

    ngx_http_submission_leader_event(ld, NGX_HTTP_SUBMISSION_GONE, 0, NULL,
                                     NULL);
}


/* the worker shuts down */

static void
ngx_http_submission_leader_shutdown(ngx_http_submission_leader_t *ld)
{
    ngx_http_submission_shctx_t  *sh;

    sh = ld->manager->sh;

    if (ld->manager->generation == sh->generation
        && sh->quitting == NGX_HTTP_SUBMISSION_STAYING)
    {
        sh->quitting = NGX_HTTP_SUBMISSION_QUITTING;
        ngx_memory_barrier();
    }

    if (ld->state == NGX_HTTP_SUBMISSION_STANDBY
        && ngx_http_submission_leader_last(ld)
        && ngx_http_submission_election_win(ld->manager) == NGX_OK)
    {
        ngx_http_submission_leader_event(ld, NGX_HTTP_SUBMISSION_LOCKED, 1,
                                         NULL, NULL);
    }

    ngx_http_submission_leader_event(ld, NGX_HTTP_SUBMISSION_EXIT, 1, "exit",
                                     NULL);

    if (ld->state == NGX_HTTP_SUBMISSION_LEAVING) {
        ngx_http_submission_leader_leave(ld);
    }
}


/* its answer arms the next tick; without one, it is tried again */

static void
ngx_http_submission_leader_call(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind)
{
    if (ngx_http_submission_lease_call(ld, kind) == NGX_ERROR) {
        ngx_add_timer(&ld->tick, NGX_HTTP_SUBMISSION_RETRY);
    }
}


static void
ngx_http_submission_leader_tick(ngx_event_t *ev)
{
    ngx_http_submission_lease_e    kind;
    ngx_http_submission_leader_t  *ld;

    ld = ev->data;

    if (ngx_exiting && ld->state != NGX_HTTP_SUBMISSION_LEAVING) {
        ngx_http_submission_leader_shutdown(ld);
        return;
    }

    switch (ld->state) {

    case NGX_HTTP_SUBMISSION_STANDBY:
        ngx_http_submission_leader_standby(ld);
        break;

    case NGX_HTTP_SUBMISSION_FOLLOWER:

        if (ld->manager->sh->held && ngx_http_submission_leader_yields(ld)) {
            kind = NGX_HTTP_SUBMISSION_YIELD;

        } else if ((ngx_msec_int_t) (ld->aim - ngx_current_msec) > 0) {
            kind = NGX_HTTP_SUBMISSION_WATCH;

        } else if (ngx_http_submission_leader_flush(ld) == NGX_AGAIN) {
            break;

        } else {
            kind = NGX_HTTP_SUBMISSION_ACQUIRE;
        }

        ngx_http_submission_leader_call(ld, kind);
        break;

    case NGX_HTTP_SUBMISSION_RECOVERING:
        ngx_http_submission_leader_call(ld, NGX_HTTP_SUBMISSION_RECOVER);
        break;

    case NGX_HTTP_SUBMISSION_LEADER:
        ngx_http_submission_leader_call(ld, NGX_HTTP_SUBMISSION_RENEW);
        break;

    case NGX_HTTP_SUBMISSION_LEAVING:

        if (ngx_http_submission_executor_drained(ld->manager)) {
            ngx_http_submission_leader_leave(ld);
            break;
        }

        ngx_http_submission_leader_call(ld, NGX_HTTP_SUBMISSION_RENEW);
        break;

    default: /* NGX_HTTP_SUBMISSION_LEFT */
        break;
    }
}


static void
ngx_http_submission_leader_expiry(ngx_event_t *ev)
{
    ngx_http_submission_leader_t  *ld;

    ld = ev->data;

    ngx_http_submission_leader_event(ld, NGX_HTTP_SUBMISSION_LOST,
                                     NGX_HTTP_SUBMISSION_RETRY,
                                     "deadline", NULL);
}


/*
 * Whether the deadline has passed.  The timer may not know of it yet: timers
 * stand still while the host is suspended.
 */

ngx_uint_t
ngx_http_submission_leader_late(ngx_http_submission_leader_t *ld)
{
    if (ld->state != NGX_HTTP_SUBMISSION_LEADER
        || (ngx_msec_int_t) (ld->deadline
                             - ngx_http_submission_lease_msec()) > 0)
    {
        return 0;
    }

    ngx_http_submission_leader_expiry(&ld->expiry);

    return 1;
}


/* nginx closes idle connections when the worker shuts down */

static void
ngx_http_submission_leader_exit(ngx_event_t *ev)
{
    ngx_connection_t              *c;
    ngx_http_submission_leader_t  *ld;

    c = ev->data;
    ld = c->data;

    /* not ngx_close_connection(): that would close the lock file */

    ngx_free_connection(c);
    c->fd = (ngx_socket_t) -1;
    c->idle = 0;

    ngx_http_submission_leader_shutdown(ld);
}


/*
 * The worker is being terminated: nothing is waited for, and its threads have
 * ended.  What is known is recorded, what is at gateways is given up as in
 * doubt, and then the lease is released; all of it here, on the way out, as far
 * as there is time.
 */

void
ngx_http_submission_leader_end(ngx_http_submission_leader_t *ld,
    ngx_msec_t deadline)
{
    ngx_uint_t  doubt;

    if (ld->state == NGX_HTTP_SUBMISSION_STANDBY
        || ld->state == NGX_HTTP_SUBMISSION_LEFT)
    {
        return;
    }

    ngx_http_submission_leader_event(ld, NGX_HTTP_SUBMISSION_EXIT, 1, "exit",
                                     NULL);

    ngx_http_submission_lease_settle(ld);

    if (ld->manager->sh->store == NGX_HTTP_SUBMISSION_STORE_UP) {
        doubt = ngx_http_submission_turn_end(ld->manager, deadline) != NGX_OK
                || ld->manager->executor->nsending;

        ngx_http_submission_lease_end(ld, doubt, deadline);
    }

    ngx_http_submission_executor_lost(ld->manager);
}
