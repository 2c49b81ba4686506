
/*
 * How an executor worker leaves: at reload, at quit, and when it is terminated.
 *
 * - The lease is kept until the attempts at gateways have ended and are
 *   recorded.  Then it is released, or left to the next worker of the instance,
 *   and only then the lock file is given up: two executor workers of an
 *   instance never overlap.
 * - Whichever of the last workers of an instance has the lock releases the
 *   lease: sh->quitting says that the instance quits, and sh->tenure that the
 *   new configuration has another lease.
 * - A worker that is terminated waits for nothing, and does all of that in
 *   place, as far as time allows.
 */

#include "ngx_http_submission_lease.h"
#include "ngx_http_submission_zone_health.h"


/* whether no other worker of the instance will take the lease over */

static ngx_uint_t
ngx_http_submission_leader_last(ngx_http_submission_leader_t *ld)
{
    ngx_http_submission_shctx_t  *sh;

    sh = ld->manager->sh;

    return sh->held_tenure == ld->manager->conf->tenure
           && (sh->quitting == NGX_HTTP_SUBMISSION_QUIT_BEGUN
               || sh->tenure != ld->manager->conf->tenure);
}


ngx_uint_t
ngx_http_submission_leader_ends(ngx_http_submission_manager_t *manager)
{
    return sm_leader_leaving(manager->leader->state)
           && ngx_http_submission_leader_last(manager->leader);
}


void
ngx_http_submission_leader_leave(ngx_http_submission_leader_t *ld)
{
    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: leave manager:%V state:%s epoch:%L call:%d",
                   &ld->manager->conf->name, sm_leader_state_name(ld->state),
                   ld->epoch, ld->call != NULL);

    if (ld->call) {
        return;
    }

    if (ld->handlers->finish(ld->manager) == NGX_AGAIN) {
        ngx_add_timer(&ld->tick,
                      ngx_http_submission_lease_pause(ld, ld->deadline));
        return;
    }

    if (ngx_http_submission_leader_flush(ld) == NGX_AGAIN) {
        return;
    }

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_DRAINED, 0, NULL, NULL);
}


/*
 * At a reload a worker of the new configuration takes the lease over, for
 * which it needs the lock file.  At quit, and if the new configuration has
 * another lease, the worker that holds the lock file releases the lease.  If
 * a reload and a quit happen at once, one of the two workers sees the other:
 * the old one gives the lock up and then checks whether the instance quits, and
 * the new one says that it quits and then tries the lock.
 */

void
ngx_http_submission_leader_release(ngx_http_submission_leader_t *ld)
{
    do {
        if (ngx_http_submission_leader_last(ld) && !ld->released) {
            ld->released = 1;

            if (ngx_http_submission_lease_call(ld,
                                           NGX_HTTP_SUBMISSION_LEASE_RELEASE)
                == NGX_OK)
            {
                return;
            }
        }

        ngx_http_submission_election_resign(ld->manager);
        ngx_memory_barrier();

    } while (ngx_http_submission_leader_last(ld) && !ld->released
             && ngx_http_submission_election_win(ld->manager) == NGX_OK);

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_GONE, 0, NULL, NULL);
}


void
ngx_http_submission_leader_shutdown(ngx_http_submission_leader_t *ld)
{
    ngx_http_submission_shctx_t  *sh;

    sh = ld->manager->sh;

    if (ld->manager->conf->generation == sh->generation
        && sh->quitting == NGX_HTTP_SUBMISSION_QUIT_NO)
    {
        sh->quitting = NGX_HTTP_SUBMISSION_QUIT_BEGUN;
        ngx_memory_barrier();
    }

    if (ld->state == SM_LEADER_ST_STANDBY
        && ngx_http_submission_leader_last(ld)
        && ngx_http_submission_election_win(ld->manager) == NGX_OK)
    {
        ngx_http_submission_leader_event(ld, SM_LEADER_EV_LOCKED, 1,
                                         NULL, NULL);
    }

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_EXIT, 1, "exit",
                                     NULL);

    if (sm_leader_leaving(ld->state)) {
        ngx_http_submission_leader_leave(ld);
    }
}


/* nginx closes idle connections when the worker shuts down */

void
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
 * The worker is being terminated, and its threads have ended.  Known outcomes
 * are recorded, attempts at gateways are given up as in doubt, and then the
 * lease is released.
 */

void
ngx_http_submission_leader_end(ngx_http_submission_manager_t *manager,
    ngx_msec_t deadline)
{
    ngx_uint_t                     doubt;
    ngx_http_submission_leader_t  *ld;

    ld = manager->leader;

    if (!sm_leader_elected(ld->state)) {
        return;
    }

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_EXIT, 1, "exit",
                                     NULL);

    ngx_http_submission_lease_settle(ld);

    if (ld->manager->sh->health->store == SM_STORE_HEALTH_UP) {
        doubt = ld->handlers->end(ld->manager, deadline) != NGX_OK;

        ngx_http_submission_lease_end(ld, doubt, deadline);
    }

    ngx_http_submission_leader_event(ld, SM_LEADER_EV_END, 0, NULL, NULL);
}
