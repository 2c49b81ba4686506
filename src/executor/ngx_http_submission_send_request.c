
/*
 * The request of an attempt, as a client would have sent it: its URL, its
 * headers and its body.
 */

#include "ngx_http_submission_dispatch.h"


/*
 * The URL of the gateway for the attempt: that of the contract, and the path
 * of the gateway's type.
 */

ngx_int_t
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

        /* without a path nginx would send the request's own URI */

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


/* the intent's id in characters that a header may have; NULL: no memory */

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


/* adds the headers of the gateway's type */

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


/* adds a header if it has a value */

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
        || (at->nkeys
            && ngx_http_submission_webhook_headers(r, at) != NGX_OK))
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


ngx_int_t
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
