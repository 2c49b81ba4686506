
/*
 * The location through which attempts go to their gateways.  nginx runs them
 * through it like any other request, and two filters take the answer.
 *
 * - The gate: an attempt may leave only while this worker leads in the epoch
 *   in which the attempt was begun.  The gate is checked when the request
 *   reaches the location, and before each write to the gateway, because a
 *   process may be stopped for a long time between any two of them.
 * - An attempt is sent once.  Before a byte of it has left, nginx may try
 *   other servers and other locations; from then on it tries nothing more.
 * - Only the server that the attempt was sent to can answer it.  A page that
 *   nginx makes itself is not an answer.
 *
 * For all of that, nginx is held up right before it would begin with the
 * upstream: r->aio makes ngx_http_upstream_init() return.  The posted event
 * "hook" prepares the upstream and has nginx begin.
 *
 * nginx calls these functions, as a phase handler, as filters, and as parts of
 * the upstream.  Requests that are not attempts, and subrequests of attempts,
 * pass through untouched.
 */

#include "ngx_http_submission_directives.h"
#include "ngx_http_submission_dispatch.h"
#include "ngx_http_submission_stats.h"


static ngx_int_t ngx_http_submission_dispatch_phase(ngx_http_request_t *r);
static ngx_int_t ngx_http_submission_dispatch_header_filter(
    ngx_http_request_t *r);
static ngx_int_t ngx_http_submission_dispatch_body_filter(
    ngx_http_request_t *r, ngx_chain_t *in);


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;
static ngx_http_output_body_filter_pt    ngx_http_next_body_filter;


char *
ngx_http_submission_dispatch(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char                                *rv;
    ngx_http_core_loc_conf_t            *clcf;
    ngx_http_submission_manager_conf_t  *mcf;

    mcf = NULL;

    rv = ngx_http_submission_conf_reference(cf, &mcf);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (!clcf->exact_match) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"submission_dispatch\" needs a location of its "
                           "own, such as \"location = /_dispatch\", not "
                           "\"%V\"", &clcf->name);
        return NGX_CONF_ERROR;
    }

    if (mcf->dispatch) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "submission_manager \"%V\" already has a "
                           "\"submission_dispatch\" location, \"%V\"",
                           &mcf->name, &mcf->dispatch->name);
        return NGX_CONF_ERROR;
    }

    mcf->dispatch = clcf;
    mcf->dispatch_server =
                 ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);

    return NGX_CONF_OK;
}


ngx_int_t
ngx_http_submission_dispatch_init(ngx_conf_t *cf)
{
    ngx_uint_t                            i;
    ngx_http_handler_pt                  *h;
    ngx_http_core_main_conf_t            *cmcf;
    ngx_http_submission_manager_conf_t  **mcfs;
    ngx_http_submission_main_conf_t      *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    if (smcf->managers.nelts == 0) {
        return NGX_OK;
    }

    mcfs = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {

        /* the size of a payload was checked when the intent was accepted */

        if (mcfs[i]->dispatch) {
            mcfs[i]->dispatch->client_max_body_size = 0;
        }
    }

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    h = ngx_array_push(&cmcf->phases[NGX_HTTP_PRECONTENT_PHASE].handlers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    *h = ngx_http_submission_dispatch_phase;

    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_submission_dispatch_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_submission_dispatch_body_filter;

    return NGX_OK;
}


/*
 * The first byte is on its way: the token of its target is spent, and no error
 * page leads elsewhere any more.
 */

void
ngx_http_submission_dispatch_begun(ngx_http_submission_attempt_t *at)
{
    if (at->exchange.sent) {
        return;
    }

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, at->connection->log, 0,
                   "submission: first byte of \"%*s\" attempt:%L peer:%uA",
                   at->id.len, at->id.data, at->number, at->peer);

    at->exchange.sent = 1;
    at->request->error_page = 1;

    /* a server that was tried before does not matter any more */

    ngx_memzero(&at->exchange.cause, sizeof(sm_cause_t));

    ngx_http_submission_outage_sent(at);
}


/* whether the attempt may go on right now; if not, it is marked as gated */

static ngx_uint_t
ngx_http_submission_dispatch_gate(ngx_http_submission_attempt_t *at)
{
    ngx_uint_t  open;

    open = ngx_http_submission_leader_gate(at->manager, at->epoch);

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, at->connection->log, 0,
                   "submission: gate \"%*s\" epoch:%L open:%ui sent:%d",
                   at->id.len, at->id.data, at->epoch, open,
                   at->exchange.sent);

    if (!open) {
        at->gated = 1;
    }

    return open;
}


#if (NGX_HTTP_SSL)

/*
 * Until when the certificate is valid that the gateway has shown, if any.  With
 * an old session it shows none: the one of that session may have been replaced.
 */

static void
ngx_http_submission_dispatch_certificate(ngx_http_submission_attempt_t *at,
    ngx_connection_t *c)
{
    X509       *cert;
    struct tm   tm;

    if (at->exchange.sent) {
        return;
    }

    /* another target of this gateway may have opened the connection */

    if (c->ssl == NULL) {
        ngx_http_submission_target_health_certificate(at, 0);
        return;
    }

    /* or the handshake was made for an earlier request */

    if (c->requests > 1 || SSL_session_reused(c->ssl->connection)) {
        return;
    }

    cert = SSL_get_peer_certificate(c->ssl->connection);
    if (cert == NULL) {
        return;
    }

    if (ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) == 1) {
        ngx_http_submission_target_health_certificate(at,
                                               (int64_t) timegm(&tm) * 1000000);
    }

    X509_free(cert);
}

#endif


/* every write to the gateway passes through here */

static ngx_int_t
ngx_http_submission_dispatch_output(void *data, ngx_chain_t *in)
{
    ngx_http_submission_attempt_t *at = data;

    ngx_connection_t  *c;

    c = at->request->upstream->peer.connection;

    if (at->exchange.sent && c->number != at->peer) {
        ngx_log_debug2(NGX_LOG_DEBUG_HTTP, at->connection->log, 0,
                       "submission: not sent again, peer:%uA after:%uA",
                       c->number, at->peer);
        return NGX_ERROR;
    }

    if (!ngx_http_submission_dispatch_gate(at)) {
        return NGX_ERROR;
    }

    at->peer = c->number;

#if (NGX_HTTP_SSL)
    ngx_http_submission_dispatch_certificate(at, c);
#endif

    ngx_http_submission_dispatch_begun(at);

    return at->output_filter(at->output_ctx, in);
}


static void
ngx_http_submission_dispatch_filter(ngx_http_submission_attempt_t *at,
    ngx_http_upstream_t *u)
{
    if (u->output.output_filter) {
        at->output_filter = u->output.output_filter;
        at->output_ctx = u->output.filter_ctx;

    } else {

        /* nginx would set these next */

        at->output_filter = ngx_chain_writer;
        at->output_ctx = &u->writer;
    }

    u->output.output_filter = ngx_http_submission_dispatch_output;
    u->output.filter_ctx = at;
}


/* nginx makes the request to the gateway, before it connects */

static ngx_int_t
ngx_http_submission_dispatch_create(ngx_http_request_t *r)
{
    ngx_int_t                       rc;
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatched(r);

    rc = at->create_request(r);

    if (rc == NGX_OK) {
        ngx_http_submission_dispatch_filter(at, r->upstream);
    }

    return rc;
}


/*
 * The configuration of the upstream, for this request alone: what is sent is
 * not sent again, and what the gateway answers is read as it is.
 */

static ngx_int_t
ngx_http_submission_dispatch_conf(ngx_http_submission_attempt_t *at,
    ngx_http_request_t *r, ngx_http_upstream_t *u)
{
    ngx_http_upstream_conf_t  *conf;

    conf = ngx_palloc(r->pool, sizeof(ngx_http_upstream_conf_t));
    if (conf == NULL) {
        return NGX_ERROR;
    }

    *conf = *u->conf;

    conf->next_upstream &= ~NGX_HTTP_UPSTREAM_FT_NON_IDEMPOTENT;
    conf->ignore_headers |= NGX_HTTP_UPSTREAM_IGN_XA_REDIRECT;
    conf->change_buffering = 0;
    conf->intercept_errors = 0;
    conf->intercept_404 = 0;

#if (NGX_HTTP_SSL)

    if (ngx_http_submission_target_health_expiring(at)) {
        conf->ssl_session_reuse = 0;
    }
#endif

    /* parts of an answer come to the filter at once, even if no more comes */

    u->buffering = 0;

#if (NGX_HTTP_CACHE)

    /* a cache would answer, wait, or send the payload in the background */

    conf->cache = 0;
#endif

    u->conf = conf;

    at->read_timeout = ngx_min((ngx_int_t) conf->read_timeout,
                               at->manager->conf->executor_timeout);

    return NGX_OK;
}


/*
 * Called after the location's handler, which was kept from beginning with its
 * upstream, if it has one.
 */

void
ngx_http_submission_dispatch_hook(ngx_event_t *ev)
{
    ngx_connection_t               *c;
    ngx_http_request_t             *r;
    ngx_http_upstream_t            *u;
    ngx_http_submission_attempt_t  *at;

    at = ev->data;
    c = at->connection;
    r = at->request;
    u = r->upstream;

    r->aio = 0;

    /* a subrequest may have run meanwhile */

    ngx_http_set_log_request(c->log, r);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, c->log, 0,
                   "submission: hook \"%*s\" upstream:%p hooked:%p",
                   at->id.len, at->id.data, u, at->upstream);

    if (u == NULL || u == at->upstream || u->create_request == NULL) {
        return;
    }

    at->upstream = u;

    if (ngx_http_submission_dispatch_conf(at, r, u) == NGX_OK) {
        at->create_request = u->create_request;
        u->create_request = ngx_http_submission_dispatch_create;

        ngx_http_upstream_init(r);

    } else {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
    }

    ngx_http_run_posted_requests(c);
}


/* NGX_HTTP_CLOSE ends a request at once, without pages or further actions */

static ngx_int_t
ngx_http_submission_dispatch_phase(ngx_http_request_t *r)
{
    ngx_http_core_loc_conf_t       *clcf;
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatched(r);

    if (at == NULL || r != r->main) {
        return NGX_DECLINED;
    }

    if (!ngx_http_submission_dispatch_gate(at)) {
        return NGX_HTTP_SERVICE_UNAVAILABLE;
    }

    if (r->post_action) {
        return NGX_HTTP_CLOSE;
    }

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    if (clcf->post_action.len) {

        /* nginx would run that location in the gateway's place */

        at->exchange.cause.what = SM_CAUSE_POST_ACTION;
        return NGX_HTTP_CLOSE;
    }

    /* an error page that is a URI has made a GET of the request */

    ngx_http_submission_send_method(r);

    ngx_http_submission_dispatch_listen(at, r->connection->log);

    if (r->content_handler) {
        r->aio = 1;
        ngx_post_event(&at->hook, &ngx_posted_events);
    }

    return NGX_DECLINED;
}


/* whether it is an answer of the gateway, and not one that nginx has made */

static ngx_uint_t
ngx_http_submission_dispatch_answered(ngx_http_request_t *r)
{
    ngx_http_upstream_t  *u;

    u = r->upstream;

    /* while nginx reads from the gateway, the upstream has its cleanup */

    return u && u->cleanup && u->state
           && u->state->header_time != (ngx_msec_t) -1;
}


static ngx_int_t
ngx_http_submission_dispatch_header_filter(ngx_http_request_t *r)
{
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatched(r);

    if (at == NULL || r != r->main) {
        return ngx_http_next_header_filter(r);
    }

    r->header_sent = 1;
    r->filter_need_in_memory = 1;

    if (at->hook.posted) {

        /* the handler has answered by itself and must not be held up */

        ngx_delete_posted_event(&at->hook);
        r->aio = 0;
    }

    /* nginx must not linger for a client */

    r->connection->read->eof = 1;

    if (!ngx_http_submission_dispatch_answered(r)) {
        return NGX_OK;
    }

    at->exchange.status = r->upstream->headers_in.status_n;

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: answered \"%*s\" status:%d",
                   at->id.len, at->id.data, (int) at->exchange.status);

    /* nginx takes what is not HTTP for HTTP/0.9, and would read all of it */

    return at->exchange.status ? NGX_OK : NGX_ERROR;
}


/* NGX_DECLINED: there is more than is kept, so nothing more is read */

static ngx_int_t
ngx_http_submission_dispatch_append(ngx_http_submission_attempt_t *at,
    ngx_buf_t *b)
{
    size_t     len;
    u_char    *p;
    sm_str_t  *body;

    body = &at->exchange.body;
    len = ngx_min((size_t) (b->last - b->pos), SM_ANSWER_MAX - body->len);

    if (body->len + len > at->allocated) {

        at->allocated = ngx_max(2 * at->allocated, body->len + len);

        p = ngx_pnalloc(at->connection->pool, at->allocated);
        if (p == NULL) {
            return NGX_ERROR;
        }

        if (body->len) {
            ngx_memcpy(p, body->data, body->len);
        }

        at->body = p;
        body->data = (char *) p;
    }

    if (len) {
        ngx_memcpy(at->body + body->len, b->pos, len);
    }

    body->len += len;

    return b->pos + len == b->last ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_submission_dispatch_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in)
{
    ngx_int_t                       rc;
    ngx_chain_t                    *cl;
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatched(r);

    if (at == NULL || r != r->main) {
        return ngx_http_next_body_filter(r, in);
    }

    for (cl = in; cl; cl = cl->next) {

        if (at->exchange.status) {
            at->exchange.whole |= cl->buf->last_buf;

            rc = ngx_buf_special(cl->buf)
                 ? NGX_OK : ngx_http_submission_dispatch_append(at, cl->buf);

            if (rc != NGX_OK) {
                at->exchange.large = rc == NGX_DECLINED;
                return NGX_ERROR;
            }
        }

        if (!ngx_buf_special(cl->buf)) {
            cl->buf->pos = cl->buf->last;
        }
    }

    return NGX_OK;
}
