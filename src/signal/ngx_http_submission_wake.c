
/*
 * Wakes the leader, so that it looks at a new intent now, and not at its next
 * refresh.  If the leader is the executor worker of this instance, a bell is
 * rung, once until the executor worker has heard it.  peer.c wakes a leader on
 * another instance.
 */

#include "ngx_http_submission_signal.h"
#include "ngx_http_submission_zone.h"


ngx_connection_t *
ngx_http_submission_wake_listen(ngx_http_submission_manager_t *manager,
    ngx_event_handler_pt handler, void *data)
{
    ngx_connection_t  *c;

    c = ngx_http_submission_bell_listen(manager->conf->wake, handler, data);

    if (c) {

        /*
         * an executor worker that died before it heard the bell has left
         * "woken" set, and nobody would ring again
         */

        manager->sh->woken = 0;
    }

    return c;
}


void
ngx_http_submission_wake_heard(ngx_http_submission_manager_t *manager,
    ngx_connection_t *c)
{
    uint64_t  n;

    n = 0;

    manager->sh->woken = 0;
    ngx_memory_barrier();

    (void) read(c->fd, &n, sizeof(n));

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: bell heard, rung:%uL", n);
}


/*
 * The executor worker looks without having been woken.  A worker that died
 * before it rang has left "woken" set, and nobody would ring any more.
 */

void
ngx_http_submission_wake_again(ngx_http_submission_manager_t *manager)
{
    manager->sh->woken = 0;
}


ngx_int_t
ngx_http_submission_wake_here(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_role_t  role;

    ngx_http_submission_zone_role(manager->sh, &role);

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: wake leader:%ui epoch:%L woken:%uA",
                   role.leader, role.epoch, manager->sh->woken);

    if (!role.leader) {
        return NGX_DECLINED;
    }

    if (manager->sh->woken == 0
        && ngx_atomic_cmp_set(&manager->sh->woken, 0, 1))
    {
        ngx_http_submission_bell_ring(manager->conf->wake);
    }

    return NGX_OK;
}


void
ngx_http_submission_wake(ngx_http_submission_manager_t *manager)
{
    if (ngx_http_submission_wake_here(manager) != NGX_OK) {
        ngx_http_submission_peer_tell(manager);
    }
}
