
/*
 * Sends an attempt as a request that no client has made.
 *
 * The connection of such a request has no socket and is never in epoll.  All
 * of them share one descriptor, so that nginx has a number to show.  The
 * attempt takes the place of nginx's ngx_http_connection_t, which is how it is
 * found from the request.
 */

#include "ngx_http_submission_attempt.h"


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


/* the functions of a connection without a socket, by which it is recognized */

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

    /* what a mirrored request says is not about the attempt */

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


/* the attempt took too long */

static void
ngx_http_submission_send_timeout(ngx_event_t *ev)
{
    ngx_http_submission_attempt_t  *at;

    at = ev->data;

    at->exchange.late = 1;

    ngx_http_submission_send_abort(at);
}


/* the connection ends, and nginx has nothing left of the attempt */

static void
ngx_http_submission_send_finished(void *data)
{
    ngx_http_submission_attempt_t *at = data;

    ngx_http_submission_dispatch_unlisten(at, at->connection->log);

    at->connection = NULL;

    ngx_http_submission_attempt_finished(at);
}


/*
 * The URL of the gateway for the attempt: that of the contract, and the path
 * of the gateway's type.
 */

static ngx_int_t
ngx_http_submission_send_url(ngx_http_submission_attempt_t *at,
    ngx_pool_t *pool)
{
    u_char      *p, *last;
    ngx_str_t    base;
    const char  *path;

    base.data = (u_char *) at->contract.gateway_url.data;
    base.len = at->contract.gateway_url.len;

    path = sm_gateway(at->contract.gateway_type)->path;

    if (*path && base.data[base.len - 1] == '/') {
        base.len--;
    }

    at->url.data = ngx_pnalloc(pool, base.len + ngx_strlen(path) + 1);
    if (at->url.data == NULL) {
        return NGX_ERROR;
    }

    last = ngx_sprintf(at->url.data, "%V%s", &base, path);

    p = ngx_strlchr(at->url.data, last, ':');
    p = ngx_strlchr(p + sizeof("://") - 1, last, '/');

    if (p == NULL) {

        /* nginx would take the request's own URI for that of the gateway */

        *last = '/';
        p = last++;
    }

    at->url.len = last - at->url.data;

    at->path.data = p;
    at->path.len = last - p;

    return NGX_OK;
}


ngx_table_elt_t *
ngx_http_submission_send_header(ngx_http_request_t *r, const char *key,
    const char *lowcase, u_char *value, size_t len)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_in.headers);
    if (h == NULL) {
        return NULL;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->key.data = (u_char *) key;
    h->key.len = ngx_strlen(key);
    h->lowcase_key = (u_char *) lowcase;
    h->hash = ngx_hash_key(h->lowcase_key, h->key.len);
    h->value.data = value;
    h->value.len = len;

    return h;
}


u_char *
ngx_http_submission_send_int(ngx_http_request_t *r, int64_t n, size_t *len)
{
    u_char  *p;

    p = ngx_pnalloc(r->pool, NGX_INT64_LEN + 1);
    if (p == NULL) {
        return NULL;
    }

    *len = ngx_sprintf(p, "%L%Z", n) - p - 1;

    return p;
}


/* the intent's id, as a header may have it; NULL without memory */

static u_char *
ngx_http_submission_send_key(ngx_http_request_t *r, sm_str_t id, size_t *len)
{
    u_char    *p;
    sm_out_t   out;

    p = ngx_pnalloc(r->pool, sm_visible_size(id.len) + 1);
    if (p == NULL) {
        return NULL;
    }

    sm_out_init(&out, p, sm_visible_size(id.len));
    sm_out_visible(&out, id);

    *len = out.last - out.start;
    p[*len] = '\0';

    return p;
}


/* those of the gateway's type */

static ngx_int_t
ngx_http_submission_send_typed(ngx_http_request_t *r,
    ngx_http_submission_attempt_t *at, const sm_gateway_header_t *header)
{
    size_t   len;
    u_char  *value;

    for ( /* void */ ; header->name; header++) {

        switch (header->value) {

        case SM_GATEWAY_VALUE_ID:
            value = ngx_http_submission_send_key(r, at->id, &len);
            break;

        case SM_GATEWAY_VALUE_NUMBER:
            value = ngx_http_submission_send_int(r, at->number, &len);
            break;

        default: /* SM_GATEWAY_VALUE_EPOCH */
            value = ngx_http_submission_send_int(r, at->epoch, &len);
            break;
        }

        if (value == NULL
            || ngx_http_submission_send_header(r, header->name,
                                               header->lowcase, value, len)
               == NULL)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* a header that is there only if it has a value */

static ngx_int_t
ngx_http_submission_send_some(ngx_http_request_t *r, const char *key,
    sm_str_t value)
{
    if (value.len == 0) {
        return NGX_OK;
    }

    return ngx_http_submission_send_header(r, key, key,
                                           (u_char *) value.data, value.len)
           ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_submission_send_headers(ngx_http_request_t *r,
    ngx_http_submission_attempt_t *at)
{
    size_t               len;
    u_char              *value;
    ngx_str_t           *name;
    const sm_gateway_t  *gateway;

    static ngx_str_t  localhost = ngx_string("localhost");

    if (ngx_list_init(&r->headers_in.headers, r->pool, 8,
                      sizeof(ngx_table_elt_t))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    name = &at->manager->conf->dispatch_server->server_name;

    if (name->len == 0) {
        name = &localhost;
    }

    gateway = sm_gateway(at->contract.gateway_type);

    value = ngx_http_submission_send_int(r, at->payload.len, &len);
    if (value == NULL) {
        return NGX_ERROR;
    }

    r->headers_in.host = ngx_http_submission_send_header(r, "Host", "host",
                                                        name->data, name->len);

    r->headers_in.content_type = ngx_http_submission_send_header(r,
                             "Content-Type", "content-type",
                             (u_char *) gateway->content_type,
                             ngx_strlen(gateway->content_type));

    r->headers_in.content_length = ngx_http_submission_send_header(r,
                             "Content-Length", "content-length",
                             value, len);

    if (r->headers_in.host == NULL
        || r->headers_in.content_type == NULL
        || r->headers_in.content_length == NULL
        || ngx_http_submission_send_typed(r, at, gateway->headers) != NGX_OK
        || ngx_http_submission_send_some(r, "traceparent", at->trace.parent)
           != NGX_OK
        || ngx_http_submission_send_some(r, "tracestate", at->trace.state)
           != NGX_OK
        || ngx_http_submission_webhook_headers(r, at) != NGX_OK)
    {
        return NGX_ERROR;
    }

    r->headers_in.server = *name;
    r->headers_in.content_length_n = at->payload.len;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_send_body(ngx_http_request_t *r,
    ngx_http_submission_attempt_t *at)
{
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    r->request_body = ngx_pcalloc(r->pool, sizeof(ngx_http_request_body_t));
    if (r->request_body == NULL) {
        return NGX_ERROR;
    }

    if (at->payload.len == 0) {
        return NGX_OK;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    cl = ngx_alloc_chain_link(r->pool);
    if (cl == NULL) {
        return NGX_ERROR;
    }

    b->start = (u_char *) at->payload.data;
    b->pos = b->start;
    b->last = b->start + at->payload.len;
    b->end = b->last;
    b->memory = 1;
    b->last_buf = 1;

    cl->buf = b;
    cl->next = NULL;

    r->request_body->bufs = cl;

    return NGX_OK;
}


void
ngx_http_submission_send_method(ngx_http_request_t *r)
{
    r->method = NGX_HTTP_POST;
    ngx_str_set(&r->method_name, "POST");
}


static ngx_int_t
ngx_http_submission_send_request(ngx_http_submission_attempt_t *at,
    ngx_http_request_t *r)
{
    ngx_http_submission_send_method(r);

    r->http_version = NGX_HTTP_VERSION_11;
    ngx_str_set(&r->http_protocol, "HTTP/1.1");

    r->uri = at->manager->conf->dispatch->name;
    r->unparsed_uri = at->path;
    r->valid_unparsed_uri = 1;
    r->internal = 1;

    r->request_line.data = ngx_pnalloc(r->pool, sizeof("POST  HTTP/1.1") - 1
                                                + at->path.len);
    if (r->request_line.data == NULL) {
        return NGX_ERROR;
    }

    r->request_line.len = ngx_sprintf(r->request_line.data,
                                      "POST %V HTTP/1.1", &at->path)
                          - r->request_line.data;

    ngx_http_set_exten(r);

    if (ngx_http_submission_send_headers(r, at) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_submission_send_body(r, at);
}


/* a connection that has had no request */

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


/*
 * NGX_OK: it is on its way, and ngx_http_submission_attempt_finished() is
 * called when it has ended, which may be before this returns.  NGX_ERROR:
 * nothing was sent.
 */

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

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, c->log, 0,
                   "submission: send \"%*s\" attempt:%L epoch:%L to \"%V\"",
                   at->id.len, at->id.data, at->number, at->epoch, &at->url);

    ngx_http_process_request(r);
    ngx_http_run_posted_requests(c);

    return NGX_OK;

failed:

    ngx_http_submission_send_close(c);

    return NGX_ERROR;
}
