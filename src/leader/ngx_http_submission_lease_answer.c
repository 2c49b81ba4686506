
/*
 * What the answers of the store about the lease mean: each becomes an event of
 * the leader.
 */

#include "ngx_http_submission_lease.h"
#include "ngx_http_submission_signal.h"


#define NGX_HTTP_SUBMISSION_LEASE_WATCH_TICK  700     /* milliseconds */
#define NGX_HTTP_SUBMISSION_LEASE_AIM_JITTER  50
#define NGX_HTTP_SUBMISSION_LEASE_MARGIN_MIN  10
#define NGX_HTTP_SUBMISSION_LEASE_MARGIN_MAX  1000
#define NGX_HTTP_SUBMISSION_LEASE_SHARED_LOG  60000


static ngx_msec_t
ngx_http_submission_lease_margin(ngx_http_submission_manager_t *manager)
{
    ngx_msec_t  margin;

    margin = manager->conf->lease_duration / 20;

    margin = ngx_max(margin, NGX_HTTP_SUBMISSION_LEASE_MARGIN_MIN);

    return ngx_min(margin, NGX_HTTP_SUBMISSION_LEASE_MARGIN_MAX);
}


/* the store has granted or renewed the lease */

static void
ngx_http_submission_lease_grant(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call, sm_leader_event_e event)
{
    ngx_http_submission_change_t    change;
    ngx_http_submission_manager_t  *manager;

    manager = ld->manager;

    ngx_memzero(&change, sizeof(ngx_http_submission_change_t));

    change.epoch = call->lease.epoch;
    change.expires_at = call->lease.expires_at;
    change.deadline = call->started + manager->conf->lease_duration
                      - ngx_http_submission_lease_margin(manager);

    change.wait = event == SM_LEADER_EV_GRANTED
                  ? 1 : ngx_http_submission_lease_pause(ld, change.deadline);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: lease granted epoch:%L asked:%M ms ago "
                   "deadline in:%M ms next tick in:%M ms", change.epoch,
                   ngx_http_submission_lease_msec() - call->started,
                   change.deadline - ngx_http_submission_lease_msec(),
                   change.wait);

    ngx_http_submission_leader_apply(ld, event, &change);
}


/* logged once a minute while it lasts */

static void
ngx_http_submission_lease_shared(ngx_http_submission_leader_t *ld)
{
    if (ld->shared
        && ngx_http_submission_since(ld->shared)
           < NGX_HTTP_SUBMISSION_LEASE_SHARED_LOG)
    {
        return;
    }

    ld->shared = ngx_http_submission_stamp(ngx_current_msec);

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "submission: holder_id_shared manager=%V holder_id=%V: "
                  "another live instance of this lease has the same "
                  "\"holder_id\", so instances cannot be told apart; give each "
                  "instance its own, or remove the directive and reload",
                  &ld->manager->conf->name, &ld->manager->holder_id);
}


void
ngx_http_submission_lease_note(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call)
{
    ngx_http_submission_shctx_t            *sh;
    const ngx_http_submission_lease_row_t  *row;

    sh = ld->manager->sh;
    sh->started_at = call->candidate.started_at;

    if (call->candidate.shared) {
        ngx_http_submission_lease_shared(ld);
    }

    /* the board is about to forget who led */

    if (call->kind == NGX_HTTP_SUBMISSION_LEASE_ACQUIRE && call->lease.held) {
        ngx_http_submission_board_former(ld->manager, &ld->former, ld->name);
    }

    if (call->watched.now && call->task.call.status == SM_STORE_OK) {
        ngx_http_submission_peer_learn(ld->manager, &call->watched,
                                       call->wake_url);
        ngx_http_submission_board_lease(ld->manager, &call->watched);
        ngx_http_submission_fetched(ld->manager, &call->fetch);
    }

    row = &ngx_http_submission_lease_rows[call->kind];

    if (row->note && call->task.call.status == SM_STORE_OK) {
        row->note(sh, call);

        if (call->lease.held) {
            ngx_http_submission_board_lease(ld->manager, &call->lease);
        }
    }
}


void
ngx_http_submission_lease_note_released(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_call_t *call)
{
    sh->held = 0;

    if (sh->quitting == NGX_HTTP_SUBMISSION_QUIT_BEGUN) {
        sh->quitting = NGX_HTTP_SUBMISSION_QUIT_DONE;
    }
}


void
ngx_http_submission_lease_note_yielded(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_call_t *call)
{
    sh->held = 0;
}


void
ngx_http_submission_lease_note_kept(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_call_t *call)
{
    if (call->others == 0) {
        ngx_http_submission_lease_note_held(sh, call);
    }
}


void
ngx_http_submission_lease_note_held(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_call_t *call)
{
    if (call->lease.held) {
        sh->held_until = call->lease.expires_at;
        ngx_memory_barrier();
    }

    sh->held = call->lease.held ? call->lease.epoch : 0;
}


/*
 * The lease must not expire before it is renewed, whatever renew_interval is.
 */

ngx_msec_t
ngx_http_submission_lease_pause(ngx_http_submission_leader_t *ld,
    ngx_msec_t deadline)
{
    ngx_msec_int_t  left;

    left = (ngx_msec_int_t) (deadline - ngx_http_submission_lease_msec());

    if (left <= 0) {
        return NGX_HTTP_SUBMISSION_LEADER_RETRY;
    }

    return ngx_min(ld->manager->conf->renew_interval,
                   (ngx_msec_t) (left > 2 ? left / 2 : 1));
}


/*
 * Plans the next try for the moment when the lease expires.  Returns the time
 * until the row is read again, which is then or earlier.
 */

static ngx_msec_t
ngx_http_submission_lease_aim(ngx_http_submission_leader_t *ld,
    sm_lease_t *lease, ngx_msec_t latest)
{
    int64_t     left;
    ngx_msec_t  wait;

    left = (lease->expires_at - lease->now) / 1000;

    if (left < 0 || !lease->exists) {
        left = 0;
    }

    if (ngx_http_submission_leader_yields(ld)) {
        left = ngx_max(left, (ngx_msec_int_t) (ld->yield - ngx_current_msec));
    }

    left += 1 + ngx_random() % NGX_HTTP_SUBMISSION_LEASE_AIM_JITTER;

    wait = ngx_min((ngx_msec_t) left, latest);

    ld->aim = ngx_current_msec + wait;

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: lease not held epoch:%L exists:%d next try "
                   "in:%M ms yielding:%d", lease->epoch, (int) lease->exists,
                   wait, (int) ld->yielding);

    return ngx_min(wait, NGX_HTTP_SUBMISSION_LEASE_WATCH_TICK);
}


/* a worker that leaves renews the lease while attempts are at gateways */

static void
ngx_http_submission_lease_leaving(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call)
{
    if (call->kind == NGX_HTTP_SUBMISSION_LEASE_RENEW
        && call->task.call.status == SM_STORE_OK)
    {
        if (call->lease.held) {
            ngx_http_submission_lease_grant(ld, call, SM_LEADER_EV_RENEWED);

        } else {
            ngx_http_submission_leader_event(ld, SM_LEADER_EV_NOT_HELD, 0,
                                             NULL, NULL);
        }

    } else if (call->kind == NGX_HTTP_SUBMISSION_LEASE_RENEW) {
        ngx_http_submission_leader_event(ld, SM_LEADER_EV_RENEW_FAILED, 0,
                                         "exit", call->task.call.error);
    }

    ngx_http_submission_leader_leave(ld);
}


/* what was settled is booked even if a later page has failed */

void
ngx_http_submission_lease_recovered(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call)
{
    sm_recovered_t                 *recovered;
    ngx_http_submission_manager_t  *manager;

    manager = ld->manager;
    recovered = &call->recovered;

    if (recovered->attempts == 0) {
        return;
    }

    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                  "submission: attempts_recovered manager=%V lease_epoch=%L "
                  "in_doubt=%uz retried=%uz",
                  &manager->conf->name, call->fence.epoch, recovered->attempts,
                  recovered->retries);

    ngx_http_submission_count(manager, NGX_HTTP_SUBMISSION_CNT_IN_DOUBT,
                              recovered->attempts);
    ngx_http_submission_count(manager, NGX_HTTP_SUBMISSION_CNT_RETRIES,
                              recovered->retries);

    ld->handlers->in_doubt(manager, recovered, call->fence.epoch,
                           call->task.call.now);
}


static void
ngx_http_submission_lease_failed(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call)
{
    ngx_msec_t   wait;
    const char  *error, *reason;

    error = call->task.call.error;

    if (call->kind == NGX_HTTP_SUBMISSION_LEASE_RENEW) {
        ngx_http_submission_leader_event(ld, SM_LEADER_EV_RENEW_FAILED, 0,
                                         NULL, error);
    }

    wait = call->kind == NGX_HTTP_SUBMISSION_LEASE_RECOVER
           ? ngx_http_submission_leader_back_off(ld)
           : NGX_HTTP_SUBMISSION_LEADER_RETRY;

    reason = call->task.call.status == SM_STORE_LEASE_LOST ? "lease_lost"
                                                           : "store_error";

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_LOST, wait, reason,
                                     error);
}


void
ngx_http_submission_lease_renewed(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call)
{
    if (!call->lease.held) {
        ngx_http_submission_leader_event(ld, SM_LEADER_EV_NOT_HELD, 1,
                                         "not_held", NULL);

    } else if (call->others && ngx_http_submission_lease_starved(ld)) {

        /*
         * This worker stops leading first, and releases the lease when the
         * last document, which it makes now, is written.
         */

        (void) ld->handlers->finish(ld->manager);

        ngx_http_submission_leader_event(ld, SM_LEADER_EV_STARVED, 1,
                                         "no_connections", NULL);

    } else {
        ngx_http_submission_lease_grant(ld, call, SM_LEADER_EV_RENEWED);
    }
}


void
ngx_http_submission_lease_acquired(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call)
{
    ngx_msec_t  wait;

    if (call->lease.held) {
        ld->own = call->fence.epoch;
        ngx_http_submission_lease_grant(ld, call, SM_LEADER_EV_GRANTED);
        return;
    }

    if (!sm_str_eq(call->lease.holder, call->fence.holder)) {

        /* another instance leads: to it, the attempts in hand are in doubt */

        ld->handlers->recovered(ld->manager, NULL);
    }

    wait = ngx_http_submission_lease_aim(ld, &call->lease,
                                         ld->manager->conf->acquire_interval);

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_DENIED, wait,
                                     "held_by_another", NULL);
}


void
ngx_http_submission_lease_watched(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call)
{
    ngx_msec_t  wait, latest;

    latest = ld->aim - ngx_current_msec;
    wait = ngx_http_submission_lease_aim(ld, &call->lease,
                            (ngx_msec_int_t) latest > 0 ? latest : 1);

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_WATCHED, wait, NULL,
                                     NULL);
}


void
ngx_http_submission_lease_yielded(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call)
{
    ngx_msec_t  wait;

    wait = ngx_http_submission_lease_aim(ld, &call->lease,
                                         ld->manager->conf->lease_duration);

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_WATCHED, wait, NULL,
                                     NULL);
}


void
ngx_http_submission_lease_kept(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call)
{
    ngx_http_submission_leader_event(ld, SM_LEADER_EV_WATCHED,
                                     NGX_HTTP_SUBMISSION_LEADER_RETRY, NULL,
                                     NULL);
}


/* what was in doubt is recorded, so the executor starts */

void
ngx_http_submission_lease_settled(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call)
{
    ngx_msec_t  wait;

    ld->handlers->recovered(ld->manager, call->known);

    wait = ngx_http_submission_lease_pause(ld, ld->deadline);

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_RECOVERED, wait, NULL,
                                     NULL);
}


void
ngx_http_submission_lease_done(ngx_http_submission_task_t *task)
{
    sm_store_class_e                        status;
    ngx_http_submission_lease_call_t       *call;
    ngx_http_submission_leader_t           *ld;
    const ngx_http_submission_lease_row_t  *row;

    call = (ngx_http_submission_lease_call_t *) task;

    ld = task->manager->leader;
    ld->call = NULL;

    ngx_http_submission_lease_note(ld, call);
    ngx_http_submission_lease_recovered(ld, call);

    status = call->task.call.status;

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: lease answer op:%s status:%d held:%d epoch:%L "
                   "others:%ui", ngx_http_submission_ops[call->task.op].name,
                   (int) status, (int) call->lease.held, call->lease.epoch,
                   call->others);

    if (status == SM_STORE_OK) {
        ld->failing = 0;
    }

    if (sm_leader_leaving(ld->state)) {
        ngx_http_submission_lease_leaving(ld, call);
        return;
    }

    if (call->state != ld->state) {

        /* the state has changed meanwhile: the lease was lost */

        ngx_http_submission_leader_event(ld, SM_LEADER_EV_LATE, 1, NULL, NULL);
        return;
    }

    if (status != SM_STORE_OK) {
        ngx_http_submission_lease_failed(ld, call);
        return;
    }

    row = &ngx_http_submission_lease_rows[call->kind];

    if (row->answer) {
        row->answer(ld, call);
    }
}
