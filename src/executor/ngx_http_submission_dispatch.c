
/*
 * The location through which attempts go to their gateways.  nginx runs them
 * through it like any other request, and two filters take the answer.
 *
 * The gate: an attempt may leave only while this worker leads in the epoch in
 * which the attempt was begun.  The gate is checked before the request is
 * made, when the request reaches the location, and from then on before each
 * write to the gateway, because a process may be stopped for a long time
 * between any two of them.  There is one exception: the write of the
 * location's handler to a kept-alive connection comes right after the second
 * check, without another one.
 *
 * However often the request passes through here (for example because of an
 * error_page), an attempt of which a byte may have left is never taken for one
 * that was not sent, and a one_shot intent is not sent again.
 */

#include "ngx_http_submission_attempt.h"


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

        /* the size of a payload was checked when it was accepted */

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


/* whether the location is about to send a one_shot intent a second time */

static ngx_uint_t
ngx_http_submission_dispatch_again(ngx_http_submission_attempt_t *at)
{
    ngx_http_submission_field_t  id;

    if (!at->sent || at->contract.policy != SM_POLICY_ONE_SHOT) {
        return 0;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: not_sent_again manager=%V%V "
                  "target=%*s: it is one_shot and was sent; an \"error_page\" "
                  "or \"proxy_next_upstream\" of the dispatch location would "
                  "send it a second time", &at->manager->conf->name,
                  ngx_http_submission_field(&id, " intent_id=", at->id),
                  at->contract.target.len, at->contract.target.data);

    return 1;
}


/* the first byte is on its way: its token is spent */

static void
ngx_http_submission_dispatch_begun(ngx_http_submission_attempt_t *at)
{
    if (!at->sent) {
        at->sent = 1;
        ngx_http_submission_outage_sent(at);
    }
}


/* every write to the gateway passes through here */

static ngx_int_t
ngx_http_submission_dispatch_output(void *data, ngx_chain_t *in)
{
    ngx_http_submission_attempt_t *at = data;

    ngx_connection_t  *c;

    if (!ngx_http_submission_leader_gate(at->manager, at->epoch)) {
        ngx_log_debug1(NGX_LOG_DEBUG_HTTP, at->connection->log, 0,
                       "submission: gate closed before a write, epoch:%L",
                       at->epoch);

        at->gated = 1;
        return NGX_ERROR;
    }

    c = at->request->upstream->peer.connection;

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, at->connection->log, 0,
                   "submission: gate open, epoch:%L peer:%uA sent:%d",
                   at->epoch, c->number, at->sent);

    if (c->number != at->peer) {

        if (ngx_http_submission_dispatch_again(at)) {
            return NGX_ERROR;
        }

        at->peer = c->number;
    }

    ngx_http_submission_dispatch_begun(at);

    return at->output_filter(at->output_ctx, in);
}


/*
 * Whether nginx may have sent something by now, as far as it was not hooked: it
 * does so at once where it has a connection to the gateway already.
 */

void
ngx_http_submission_dispatch_sent(ngx_http_submission_attempt_t *at)
{
    ngx_uint_t                  i;
    ngx_http_request_t         *r;
    ngx_http_upstream_t        *u;
    ngx_http_upstream_state_t  *state;

    r = at->request;
    u = r->upstream;

    if (u->request_sent) {
        ngx_http_submission_dispatch_begun(at);
        at->peer = u->peer.connection ? u->peer.connection->number : 0;
    }

    if (r->upstream_states == NULL) {
        return;
    }

    state = r->upstream_states->elts;

    for (i = 0; i < r->upstream_states->nelts; i++) {
        if (state[i].bytes_sent) {
            ngx_http_submission_dispatch_begun(at);
        }
    }
}


static void
ngx_http_submission_dispatch_filter(ngx_http_submission_attempt_t *at,
    ngx_http_upstream_t *u)
{
    if (u->output.output_filter) {
        at->output_filter = u->output.output_filter;
        at->output_ctx = u->output.filter_ctx;

    } else {

        /* what nginx itself would set next */

        at->output_filter = ngx_chain_writer;
        at->output_ctx = &u->writer;
    }

    u->output.output_filter = ngx_http_submission_dispatch_output;
    u->output.filter_ctx = at;
}


/* nginx makes the request to the gateway: it is not connected yet */

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
 * Called after the location's handler.  nginx has either set up its upstream,
 * or it waits for a cache lock first and continues by itself.
 */

void
ngx_http_submission_dispatch_hook(ngx_event_t *ev)
{
    ngx_http_upstream_t            *u;
    ngx_http_submission_attempt_t  *at;

    at = ev->data;
    u = at->request->upstream;

    if (u == NULL
        || u->output.output_filter == ngx_http_submission_dispatch_output)
    {
        return;
    }

    if (u->output.output_filter) {
        ngx_http_submission_dispatch_sent(at);
        ngx_http_submission_dispatch_filter(at, u);
        return;
    }

    if (u->create_request
        && u->create_request != ngx_http_submission_dispatch_create)
    {
        at->create_request = u->create_request;
        u->create_request = ngx_http_submission_dispatch_create;
    }
}


/*
 * nginx's own log lines about one attempt are left out below "info": the
 * outcome is recorded, and an outage has its own lines, see outage.c.
 */

static void
ngx_http_submission_dispatch_quiet(ngx_log_t *log)
{
    if (log->log_level < NGX_LOG_INFO && log->log_level > NGX_LOG_CRIT) {
        log->log_level = NGX_LOG_CRIT;
    }
}


static ngx_int_t
ngx_http_submission_dispatch_phase(ngx_http_request_t *r)
{
    ngx_http_upstream_state_t      *state;
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatched(r);

    if (at == NULL || r != r->main) {
        return NGX_DECLINED;
    }

    if (!ngx_http_submission_leader_gate(at->manager, at->epoch)) {
        ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                       "submission: gate closed before the location, epoch:%L",
                       at->epoch);

        at->gated = 1;
        return NGX_HTTP_SERVICE_UNAVAILABLE;
    }

    if (r->upstream && r->upstream->headers_in.x_accel_redirect) {

        /* a gateway cannot redirect a request or have it repeated */

        ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                      "submission: the gateway answered with "
                      "\"X-Accel-Redirect\", which is not followed");

        return NGX_HTTP_BAD_GATEWAY;
    }

    if (ngx_http_submission_dispatch_again(at)) {
        state = r->upstream ? r->upstream->state : NULL;

        return state && state->status >= NGX_HTTP_SPECIAL_RESPONSE
               ? (ngx_int_t) state->status : NGX_HTTP_BAD_GATEWAY;
    }

    ngx_http_submission_dispatch_quiet(r->connection->log);

    ngx_post_event(&at->hook, &ngx_posted_events);

    return NGX_DECLINED;
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

    /* there is nothing to linger for */

    r->connection->read->eof = 1;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_dispatch_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in)
{
    size_t                          len;
    u_char                         *p;
    ngx_chain_t                    *cl;
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatched(r);

    if (at == NULL || r != r->main) {
        return ngx_http_next_body_filter(r, in);
    }

    for (cl = in; cl; cl = cl->next) {

        if (cl->buf->last_buf) {
            at->complete = 1;
        }

        if (ngx_buf_special(cl->buf)) {
            continue;
        }

        len = cl->buf->last - cl->buf->pos;

        if (at->answer.body.len + len > SM_ANSWER_MAX) {

            if (sm_gateway(at->contract.gateway_type)->read
                != SM_GATEWAY_READ_STATUS)
            {
                at->answer.how = SM_ANSWER_TOO_LARGE;
                return NGX_ERROR;
            }

            /* the status is enough: the rest is read but not kept */

            len = SM_ANSWER_MAX - at->answer.body.len;
        }

        if (at->answer.body.len + len > at->allocated) {

            at->allocated = ngx_max(2 * at->allocated,
                                    at->answer.body.len + len);

            p = ngx_pnalloc(r->connection->pool, at->allocated);
            if (p == NULL) {
                return NGX_ERROR;
            }

            if (at->answer.body.len) {
                ngx_memcpy(p, at->answer.body.data, at->answer.body.len);
            }

            at->body = p;
            at->answer.body.data = (char *) p;
        }

        if (len) {
            ngx_memcpy(at->body + at->answer.body.len, cl->buf->pos, len);
        }

        at->answer.body.len += len;
        cl->buf->pos = cl->buf->last;
    }

    return NGX_OK;
}
