
/*
 * Bells between the workers of an instance.  A bell is an eventfd that the
 * master has made once; all workers share it, also those of older
 * configurations.  Each ring is an edge-triggered event for every worker that
 * listens, whether anybody reads the eventfd or not: its counter has 64 bits,
 * and does not overflow.
 */

#include "ngx_http_submission_signal.h"


ngx_connection_t *
ngx_http_submission_bell_listen(ngx_fd_t fd, ngx_event_handler_pt handler,
    void *data)
{
    ngx_connection_t  *c;

    c = ngx_get_connection(fd, ngx_cycle->log);
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

    return c;
}


void
ngx_http_submission_bell_ignore(ngx_connection_t *c)
{
    (void) ngx_del_event(c->read, NGX_READ_EVENT, 0);

    if (c->read->posted) {
        ngx_delete_posted_event(c->read);
    }

    /* ngx_close_connection() would close the descriptor, which stays */

    ngx_free_connection(c);
    c->fd = (ngx_socket_t) -1;
    c->idle = 0;
}


void
ngx_http_submission_bell_ring(ngx_fd_t fd)
{
    uint64_t  one;

    one = 1;

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: ring the bell fd:%d", fd);

    if (write(fd, &one, sizeof(one)) == -1) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, ngx_errno,
                      "write() to a submission eventfd failed");
    }
}
