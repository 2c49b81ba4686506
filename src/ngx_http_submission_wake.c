
/*
 * Waking the executor worker of the instance: an intent that any worker has
 * accepted is looked at now, and not at the next refresh.
 *
 * The eventfd is made by the master once, and is the same one for all workers,
 * those of older configurations too.  Many that call while nobody
 * has looked yet are one.
 */

#include "ngx_http_submission.h"


ngx_connection_t *
ngx_http_submission_wake_listen(ngx_http_submission_manager_t *manager,
    ngx_event_handler_pt handler, void *data)
{
    ngx_connection_t  *c;

    c = ngx_get_connection(manager->wake, ngx_cycle->log);
    if (c == NULL) {
        return NULL;
    }

    c->data = data;
    c->read->handler = handler;
    c->read->log = ngx_cycle->log;
    c->read->channel = 1;

    if (ngx_add_event(c->read, NGX_READ_EVENT, NGX_CLEAR_EVENT) != NGX_OK) {
        ngx_free_connection(c);
        c->fd = (ngx_socket_t) -1;
        return NULL;
    }

    /* one who died may have left it so, and nobody would call again */

    manager->sh->woken = 0;

    return c;
}


void
ngx_http_submission_wake_ignore(ngx_connection_t *c)
{
    (void) ngx_del_event(c->read, NGX_READ_EVENT, 0);

    /* not ngx_close_connection(): the descriptor stays */

    ngx_free_connection(c);
    c->fd = (ngx_socket_t) -1;
}


void
ngx_http_submission_wake(ngx_http_submission_manager_t *manager)
{
    uint64_t                      one;
    ngx_http_submission_role_t    role;
    ngx_http_submission_shctx_t  *sh;

    sh = manager->sh;

    if (sh->woken) {
        return;
    }

    ngx_http_submission_zone_role(manager, &role);

    if (!role.leader || !ngx_atomic_cmp_set(&sh->woken, 0, 1)) {
        return;
    }

    one = 1;

    if (write(manager->wake, &one, sizeof(one)) == -1) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, ngx_errno,
                      "write() to a submission eventfd failed");
    }
}
