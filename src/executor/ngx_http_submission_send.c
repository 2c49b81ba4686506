
/*
 * Sends an attempt as a request that no client has made.
 *
 * - The connection of such a request has no socket and is never in epoll.  All
 *   of them share one descriptor, so that nginx has a number to show.
 * - The attempt takes the place of nginx's ngx_http_connection_t, by which it
 *   is found from the request: _dispatched().
 * - Once _send_attempt() has returned NGX_OK, nginx owns the request.  Whatever
 *   ends it, two cleanups are called, once and in this order: that of the
 *   request puts the facts together (dispatch_result.c), and that of the
 *   connection's pool hands the attempt back (_attempt_finished()).  That may
 *   happen before _send_attempt() returns.
 */

#include "ngx_http_submission_dispatch.h"


static ngx_socket_t  ngx_http_submission_fd = (ngx_socket_t) -1;


ngx_int_t
ngx_http_submission_send_init(ngx_cycle_t *cycle)
{
    ngx_http_submission_fd = ngx_socket(AF_INET, SOCK_DGRAM, 0);

    if (ngx_http_submission_fd == (ngx_socket_t) -1) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_socket_errno,
                      ngx_socket_n " failed");
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * The functions of a connection without a socket.  The last of them is the mark
 * by which a request is recognized as an attempt.
 */

static ssize_t
ngx_http_submission_no_recv(ngx_connection_t *c, u_char *buf, size_t size)
{
    c->read->eof = 1;

    return 0;
}


static ssize_t
ngx_http_submission_no_recv_chain(ngx_connection_t *c, ngx_chain_t *in,
    off_t limit)
{
    c->read->eof = 1;

    return 0;
}


static ssize_t
ngx_http_submission_no_send(ngx_connection_t *c, u_char *buf, size_t size)
{
    return size;
}


static ngx_chain_t *
ngx_http_submission_no_send_chain(ngx_connection_t *c, ngx_chain_t *in,
    off_t limit)
{
    for ( /* void */ ; in; in = in->next) {
        in->buf->pos = in->buf->last;
        in->buf->file_pos = in->buf->file_last;
    }

    return NULL;
}


ngx_http_submission_attempt_t *
ngx_http_submission_dispatched(ngx_http_request_t *r)
{
    if (r->connection->send_chain != ngx_http_submission_no_send_chain) {
        return NULL;
    }

    return (ngx_http_submission_attempt_t *) r->main->http_connection;
}


static u_char *
ngx_http_submission_send_log(ngx_log_t *log, u_char *buf, size_t len)
{
    u_char                         *p;
    ngx_http_request_t             *r;
    ngx_http_log_ctx_t             *ctx;
    ngx_http_submission_field_t     id;
    ngx_http_submission_attempt_t  *at;

    ctx = log->data;
    r = ctx->request;
    at = r ? ngx_http_submission_dispatched(r) : NULL;

    /* a message of a mirrored request is not about the attempt */

    if (at && ctx->current_request == r) {
        at->message_end = buf;
    }

    if (log->action) {
        p = ngx_snprintf(buf, len, " while %s", log->action);
        len -= p - buf;
        buf = p;
    }

    if (at == NULL) {
        return buf;
    }

    p = ngx_snprintf(buf, len, ", attempt: %L%V", at->number,
                     ngx_http_submission_field(&id, ", intent: ", at->id));
    len -= p - buf;
    buf = p;

    return r->log_handler(r, ctx->current_request, buf, len);
}


static void
ngx_http_submission_send_abort(ngx_http_submission_attempt_t *at)
{
    ngx_connection_t  *c;

    c = at->connection;

    c->close = 1;
    c->error = 1;
    c->read->handler(c->read);
}


static void
ngx_http_submission_send_timeout(ngx_event_t *ev)
{
    ngx_http_submission_attempt_t  *at;

    at = ev->data;

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: timed out \"%*s\" attempt:%L sent:%d",
                   at->id.len, at->id.data, at->number, at->exchange.sent);

    at->exchange.late = 1;

    ngx_http_submission_send_abort(at);
}


/* the connection is closed, and nginx has nothing left of the attempt */

static void
ngx_http_submission_send_finished(void *data)
{
    ngx_http_submission_attempt_t *at = data;

    ngx_http_submission_dispatch_unlisten(at, at->connection->log);

    at->connection = NULL;

    ngx_http_submission_attempt_finished(at);
}


/* closes a connection that has not had a request */

static void
ngx_http_submission_send_close(ngx_connection_t *c)
{
    ngx_pool_t  *pool;

    pool = c->pool;

    ngx_close_connection(c);

    if (pool) {
        ngx_destroy_pool(pool);
    }
}


static ngx_connection_t *
ngx_http_submission_send_connection(ngx_http_submission_attempt_t *at)
{
    ngx_log_t           *log;
    ngx_connection_t    *c;
    struct sockaddr_in  *sin;
    ngx_http_log_ctx_t  *ctx;

    static ngx_str_t  addr = ngx_string("127.0.0.1");

    c = ngx_get_connection(ngx_http_submission_fd, ngx_cycle->log);
    if (c == NULL) {
        return NULL;
    }

    c->shared = 1;

    c->pool = ngx_create_pool(1024, ngx_cycle->log);
    if (c->pool == NULL) {
        goto failed;
    }

    log = ngx_palloc(c->pool, sizeof(ngx_log_t));
    ctx = ngx_pcalloc(c->pool, sizeof(ngx_http_log_ctx_t));
    sin = ngx_pcalloc(c->pool, sizeof(struct sockaddr_in));
    c->buffer = ngx_create_temp_buf(c->pool, 1);

    if (log == NULL || ctx == NULL || sin == NULL || c->buffer == NULL) {
        goto failed;
    }

    sin->sin_family = AF_INET;
    sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    c->sockaddr = (struct sockaddr *) sin;
    c->socklen = sizeof(struct sockaddr_in);
    c->local_sockaddr = c->sockaddr;
    c->local_socklen = c->socklen;
    c->addr_text = addr;

    c->number = ngx_atomic_fetch_add(ngx_connection_counter, 1);
    c->start_time = ngx_current_msec;
    c->type = SOCK_STREAM;
    c->tcp_nodelay = NGX_TCP_NODELAY_DISABLED;
    c->tcp_nopush = NGX_TCP_NOPUSH_DISABLED;

    c->recv = ngx_http_submission_no_recv;
    c->recv_chain = ngx_http_submission_no_recv_chain;
    c->send = ngx_http_submission_no_send;
    c->send_chain = ngx_http_submission_no_send_chain;

    c->read->active = 1;
    c->write->ready = 1;
    c->write->active = (ngx_event_flags & NGX_USE_CLEAR_EVENT) ? 1 : 0;

    ctx->connection = c;

    *log = *ngx_cycle->log;
    log->connection = c->number;
    log->handler = ngx_http_submission_send_log;
    log->data = ctx;
    log->action = "submitting an intent";

    c->log = log;
    c->log_error = NGX_ERROR_INFO;
    c->pool->log = log;
    c->read->log = log;
    c->write->log = log;

    return c;

failed:

    ngx_http_submission_send_close(c);

    return NULL;
}


/* NGX_ERROR: nothing was sent, and no cleanup is called */

ngx_int_t
ngx_http_submission_send_attempt(ngx_http_submission_attempt_t *at)
{
    ngx_connection_t    *c;
    ngx_http_cleanup_t  *cln;
    ngx_pool_cleanup_t  *pcln;
    ngx_http_request_t  *r;

    c = ngx_http_submission_send_connection(at);
    if (c == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(&at->hc, sizeof(ngx_http_connection_t));
    at->hc.conf_ctx = at->manager->conf->dispatch_server->ctx;
    c->data = at;

    pcln = ngx_pool_cleanup_add(c->pool, 0);

    if (pcln == NULL
        || ngx_http_submission_send_url(at, c->pool) != NGX_OK)
    {
        goto failed;
    }

    r = ngx_http_create_request(c);
    if (r == NULL) {
        goto failed;
    }

    c->data = r;

#if (NGX_STAT_STUB)
    (void) ngx_atomic_fetch_add(ngx_stat_active, 1);
#endif

    cln = ngx_http_cleanup_add(r, 0);

    if (cln == NULL
        || ngx_http_submission_send_request(at, r) != NGX_OK)
    {
        ngx_http_free_request(r, 0);
        ngx_http_close_connection(c);

        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_dispatch_result;
    cln->data = at;

    pcln->handler = ngx_http_submission_send_finished;
    pcln->data = at;

    at->connection = c;
    at->request = r;

    at->hook.handler = ngx_http_submission_dispatch_hook;
    at->hook.data = at;
    at->hook.log = c->log;

    at->timeout.handler = ngx_http_submission_send_timeout;
    at->timeout.data = at;
    at->timeout.log = ngx_cycle->log;

    ngx_add_timer(&at->timeout, at->manager->conf->executor_timeout);

    /* the URL is not logged: it may have a secret in it */

    ngx_log_debug6(NGX_LOG_DEBUG_HTTP, c->log, 0,
                   "submission: send \"%*s\" attempt:%L epoch:%L to \"%*s\"",
                   at->id.len, at->id.data, at->number, at->epoch,
                   at->contract.target.len, at->contract.target.data);

    ngx_http_process_request(r);
    ngx_http_run_posted_requests(c);

    return NGX_OK;

failed:

    ngx_http_submission_send_close(c);

    return NGX_ERROR;
}
