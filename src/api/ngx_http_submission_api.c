
/*
 * The intents API: finds what a request wants, checks it, and hands it to the
 * intake.  The location's prefix is the root: with "location /v1/" the
 * intents are at /v1/intents.
 */

#include "ngx_http_submission_intake.h"


#define NGX_HTTP_SUBMISSION_API_SEGMENTS  4

#define NGX_HTTP_SUBMISSION_API_GET       (NGX_HTTP_GET|NGX_HTTP_HEAD)


typedef struct {
    sm_str_t                            segments[
                                            NGX_HTTP_SUBMISSION_API_SEGMENTS];
    ngx_uint_t                          n;
} ngx_http_submission_path_t;


static ngx_int_t ngx_http_submission_api_path(ngx_http_request_t *r,
    ngx_http_submission_path_t *path);
static ngx_int_t ngx_http_submission_api_route(ngx_http_submission_ctx_t *ctx,
    ngx_http_submission_path_t *path);


static const ngx_http_submission_route_t  ngx_http_submission_routes[] = {

    { NGX_HTTP_POST, "intents",
      NGX_HTTP_SUBMISSION_OP_INTENTS_SUBMIT,
      ngx_http_submission_submit_args,
      NULL,
      ngx_http_submission_submit_parse },

    { NGX_HTTP_SUBMISSION_API_GET, "intents",
      NGX_HTTP_SUBMISSION_OP_INTENTS_LIST,
      ngx_http_submission_list_args,
      ngx_http_submission_list_init,
      ngx_http_submission_api_read },

    { NGX_HTTP_SUBMISSION_API_GET, "intents/*",
      NGX_HTTP_SUBMISSION_OP_INTENTS_GET,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_get_parse },

    { NGX_HTTP_SUBMISSION_API_GET, "intents/*/history",
      NGX_HTTP_SUBMISSION_OP_INTENT_HISTORY,
      ngx_http_submission_history_args,
      ngx_http_submission_history_init,
      ngx_http_submission_history_parse },

    { NGX_HTTP_SUBMISSION_API_GET, "cluster",
      NGX_HTTP_SUBMISSION_OP_CLUSTER_GET,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_api_read },

    { 0, NULL, 0, NULL, NULL, NULL }
};


/* in the order in which "Allow" names them */

static const struct {
    ngx_uint_t   method;
    const char  *name;
} ngx_http_submission_methods[] = {
    { NGX_HTTP_GET, "GET" },
    { NGX_HTTP_HEAD, "HEAD" },
    { NGX_HTTP_POST, "POST" },
    { 0, NULL }
};


ngx_int_t
ngx_http_submission_api_handler(ngx_http_request_t *r)
{
    ngx_int_t                        rc;
    ngx_http_submission_ctx_t       *ctx;
    ngx_http_submission_args_t       args;
    ngx_http_submission_path_t       path;
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    ctx = ngx_pcalloc(r->pool, sizeof(ngx_http_submission_ctx_t));
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx->request = r;
    ctx->manager = slcf->api->manager;
    ngx_http_set_ctx(r, ctx, ngx_http_submission_module);

    rc = ngx_http_submission_api_path(r, &path);

    if (rc == NGX_OK) {
        rc = ngx_http_submission_api_route(ctx, &path);
    }

    if (rc == NGX_DECLINED) {
        return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_FOUND,
                   "not_found", "there is nothing at this path", NULL);
    }

    if (rc != NGX_OK || ctx->route == NULL) {
        return rc == NGX_ERROR ? NGX_HTTP_INTERNAL_SERVER_ERROR : rc;
    }

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: api route:\"%s\" op:%s",
                   ctx->route->pattern, ctx->op->name);

    ctx->row = ngx_pcalloc(r->pool, ctx->op->row_size);
    if (ctx->row == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ctx->route->init) {
        ctx->route->init(ctx);
    }

    switch (ngx_http_submission_args(ctx, &args)) {

    case NGX_OK:
        return ctx->route->parse(r);

    case NGX_DECLINED:
        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                               "invalid_request", args.message,
                                               args.field);

    default: /* NGX_ERROR */
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


static ngx_uint_t
ngx_http_submission_api_under(ngx_str_t *uri, ngx_str_t *prefix)
{
    return uri->len >= prefix->len
           && ngx_strncmp(uri->data, prefix->data, prefix->len) == 0;
}


/*
 * An id may hold a slash, as "%2F"; nginx's own r->uri has it decoded, and
 * merged with its neighbours.  So the path is taken as it was sent, unless
 * something needs normalizing or it was rewritten.
 */

static ngx_uint_t
ngx_http_submission_api_raw(ngx_http_request_t *r, ngx_str_t *prefix,
    ngx_str_t *path)
{
    u_char     *p, *last, *segment;
    ngx_str_t   uri;

    uri = r->unparsed_uri;

    if (!r->valid_unparsed_uri
        || !ngx_http_submission_api_under(&uri, prefix))
    {
        return 0;
    }

    last = uri.data + uri.len;

    for (p = uri.data; p < last; p++) {
        if (*p == '?' || *p == '#') {
            last = p;
        }
    }

    /* segments that nginx has merged or resolved: "", "." and ".." */

    segment = uri.data + 1;

    for (p = segment; p <= last; p++) {

        if (p < last && *p != '/') {
            continue;
        }

        if ((p == segment && p < last)
            || (p - segment == 1 && segment[0] == '.')
            || (p - segment == 2 && segment[0] == '.' && segment[1] == '.'))
        {
            return 0;
        }

        segment = p + 1;
    }

    path->data = uri.data + prefix->len;
    path->len = last - path->data;

    return 1;
}


/* the next part of a path, decoded if it is not yet */

static ngx_int_t
ngx_http_submission_api_segment(ngx_http_request_t *r, ngx_str_t *path,
    ngx_uint_t raw, sm_str_t *segment)
{
    u_char  *src, *dst;
    size_t   len;

    src = path->data;

    for (len = 0; len < path->len && src[len] != '/'; len++) { /* void */ }

    path->data += len;
    path->len -= len;

    segment->data = (char *) src;
    segment->len = len;

    if (len == 0) {
        return NGX_DECLINED;
    }

    if (raw) {
        dst = ngx_pnalloc(r->pool, len);
        if (dst == NULL) {
            return NGX_ERROR;
        }

        segment->data = (char *) dst;
        ngx_unescape_uri(&dst, &src, len, 0);
        segment->len = (char *) dst - segment->data;
    }

    return NGX_OK;
}


/* the parts of the path below the location's prefix; NGX_DECLINED: not there */

static ngx_int_t
ngx_http_submission_api_path(ngx_http_request_t *r,
    ngx_http_submission_path_t *path)
{
    ngx_int_t                        rc;
    ngx_str_t                        rest;
    ngx_uint_t                       raw;
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    raw = ngx_http_submission_api_raw(r, &slcf->prefix, &rest);

    if (!raw) {

        /* "rewrite ... break" may have taken it out of its location */

        if (!ngx_http_submission_api_under(&r->uri, &slcf->prefix)) {
            return NGX_DECLINED;
        }

        rest.data = r->uri.data + slcf->prefix.len;
        rest.len = r->uri.len - slcf->prefix.len;
    }

    /* "location /v1" has /v1intents, too */

    if (rest.len && rest.data[0] != '/' && rest.data[-1] != '/') {
        return NGX_DECLINED;
    }

    path->n = 0;

    do {
        if (path->n == NGX_HTTP_SUBMISSION_API_SEGMENTS) {
            return NGX_DECLINED;
        }

        if (rest.len && rest.data[0] == '/') {
            rest.data++;
            rest.len--;
        }

        rc = ngx_http_submission_api_segment(r, &rest, raw,
                                             &path->segments[path->n]);
        if (rc != NGX_OK) {
            return rc;
        }

        path->n++;

    } while (rest.len);

    return NGX_OK;
}


/* "*" of a pattern is any segment */

static ngx_uint_t
ngx_http_submission_api_match(const char *pattern,
    ngx_http_submission_path_t *path)
{
    size_t      len;
    ngx_uint_t  i;

    for (i = 0; i < path->n; i++) {

        len = strcspn(pattern, "/");

        if (pattern[0] != '*'
            && (len != path->segments[i].len
                || ngx_memcmp(pattern, path->segments[i].data, len) != 0))
        {
            return 0;
        }

        pattern += len;

        if (*pattern == '/') {
            pattern++;

        } else {
            return i + 1 == path->n;
        }
    }

    return 0;
}


static ngx_int_t
ngx_http_submission_api_allow(ngx_http_request_t *r, ngx_uint_t allowed)
{
    char        allow[64];
    sm_out_t    out;
    ngx_uint_t  i;

    sm_out_init(&out, allow, sizeof(allow) - 1);

    for (i = 0; ngx_http_submission_methods[i].name; i++) {
        if (allowed & ngx_http_submission_methods[i].method) {
            sm_out_c(&out, out.last == out.start ? "" : ", ");
            sm_out_c(&out, ngx_http_submission_methods[i].name);
        }
    }

    *out.last = '\0';

    return ngx_http_submission_reply_method(r, allow);
}


/*
 * NGX_OK, and the context has its route; NGX_DECLINED: there is none; or what
 * the request is to be finalized with.
 */

static ngx_int_t
ngx_http_submission_api_route(ngx_http_submission_ctx_t *ctx,
    ngx_http_submission_path_t *path)
{
    ngx_uint_t                          allowed;
    const ngx_http_submission_route_t  *route;

    allowed = 0;

    for (route = ngx_http_submission_routes; route->pattern; route++) {

        if (!ngx_http_submission_api_match(route->pattern, path)) {
            continue;
        }

        if (route->method & ctx->request->method) {
            ctx->route = route;
            ctx->op = &ngx_http_submission_ops[route->op];

            if (path->n > 1) {
                ctx->id = path->segments[1];
            }

            return NGX_OK;
        }

        allowed |= route->method;
    }

    return allowed ? ngx_http_submission_api_allow(ctx->request, allowed)
                   : NGX_DECLINED;
}


ngx_int_t
ngx_http_submission_api_read_id(ngx_http_request_t *r, sm_str_t *id)
{
    char                        message[128];
    const char                 *why;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    *id = sm_trim(ctx->id);

    why = sm_id_check(*id);

    if (why) {
        (void) snprintf(message, sizeof(message), "the intent id %s", why);

        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                               "invalid_request", message,
                                               SM_FIELD_ID);
    }

    return ngx_http_submission_api_read(r);
}


/* NGX_DONE: the intake has a copy of the row, and answers the request */

ngx_int_t
ngx_http_submission_api_enter(ngx_http_request_t *r)
{
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    switch (ngx_http_submission_intake(ctx)) {

    case NGX_OK:
        r->read_event_handler = ngx_http_test_reading;
        return NGX_DONE;

    case NGX_BUSY:
        return ngx_http_submission_reply_unavailable(r, 1);

    case NGX_DECLINED:
        ngx_http_submission_count(ctx->manager,
                                  NGX_HTTP_SUBMISSION_CNT_REFUSALS, 1);
        return ngx_http_submission_reply_unavailable(r, 0);

    default: /* NGX_ERROR */
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


/* a request without a body that matters */

ngx_int_t
ngx_http_submission_api_read(ngx_http_request_t *r)
{
    ngx_int_t  rc;

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_http_submission_api_enter(r);
    if (rc == NGX_DONE) {
        r->main->count++;
    }

    return rc;
}
