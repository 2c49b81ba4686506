
/*
 * The intents API: finds what a request wants, checks it, and hands it to the
 * intake.  The location's prefix is the root: with "location /v1/" the
 * intents are at /v1/intents.
 */

#include "ngx_http_submission.h"


typedef enum {
    NGX_HTTP_SUBMISSION_NOWHERE = 0,
    NGX_HTTP_SUBMISSION_INTENTS,
    NGX_HTTP_SUBMISSION_INTENT,
    NGX_HTTP_SUBMISSION_INTENT_HISTORY,
    NGX_HTTP_SUBMISSION_INSTANCES
} ngx_http_submission_resource_e;


static ngx_http_submission_resource_e ngx_http_submission_api_resource(
    ngx_http_request_t *r, ngx_str_t *id);
static ngx_http_submission_kind_e ngx_http_submission_api_kind(
    ngx_http_submission_resource_e resource, ngx_uint_t post);
static ngx_int_t ngx_http_submission_api_post(ngx_http_request_t *r);
static ngx_int_t ngx_http_submission_api_submit(ngx_http_request_t *r,
    sm_str_t body);
static ngx_int_t ngx_http_submission_api_get(ngx_http_request_t *r,
    ngx_str_t *id);
static ngx_int_t ngx_http_submission_api_enter(ngx_http_request_t *r);
static ngx_int_t ngx_http_submission_api_read(ngx_http_request_t *r);


ngx_int_t
ngx_http_submission_api_handler(ngx_http_request_t *r)
{
    ngx_str_t                        id;
    ngx_uint_t                       get, post;
    ngx_http_submission_ctx_t       *ctx;
    ngx_http_submission_args_t       args;
    ngx_http_submission_resource_e   resource;

    ctx = ngx_pcalloc(r->pool, sizeof(ngx_http_submission_ctx_t));
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx->request = r;
    ngx_http_set_ctx(r, ctx, ngx_http_submission_module);

    resource = ngx_http_submission_api_resource(r, &id);

    if (resource == NGX_HTTP_SUBMISSION_NOWHERE) {
        return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_FOUND,
                   "not_found", "there is nothing at this path", NULL);
    }

    get = r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD);
    post = r->method & NGX_HTTP_POST;

    if (!get && !(post && resource == NGX_HTTP_SUBMISSION_INTENTS)) {
        return ngx_http_submission_reply_method(r,
                                       resource == NGX_HTTP_SUBMISSION_INTENTS
                                       ? "GET, HEAD, POST" : "GET, HEAD");
    }

    ctx->kind = ngx_http_submission_api_kind(resource, post);

    switch (ngx_http_submission_args(ctx, &args)) {

    case NGX_OK:
        break;

    case NGX_DECLINED:
        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                               "invalid_request", args.message,
                                               args.field);

    default: /* NGX_ERROR */
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    switch (ctx->kind) {

    case NGX_HTTP_SUBMISSION_SUBMIT:
        return ngx_http_submission_api_post(r);

    case NGX_HTTP_SUBMISSION_GET:
    case NGX_HTTP_SUBMISSION_HISTORY:
        return ngx_http_submission_api_get(r, &id);

    default: /* NGX_HTTP_SUBMISSION_LIST, NGX_HTTP_SUBMISSION_CLUSTER */
        return ngx_http_submission_api_read(r);
    }
}


static ngx_http_submission_kind_e
ngx_http_submission_api_kind(ngx_http_submission_resource_e resource,
    ngx_uint_t post)
{
    switch (resource) {

    case NGX_HTTP_SUBMISSION_INTENTS:
        return post ? NGX_HTTP_SUBMISSION_SUBMIT : NGX_HTTP_SUBMISSION_LIST;

    case NGX_HTTP_SUBMISSION_INTENT:
        return NGX_HTTP_SUBMISSION_GET;

    case NGX_HTTP_SUBMISSION_INTENT_HISTORY:
        return NGX_HTTP_SUBMISSION_HISTORY;

    default: /* NGX_HTTP_SUBMISSION_INSTANCES */
        return NGX_HTTP_SUBMISSION_CLUSTER;
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


/* the next part of a path, decoded if it is not yet; NGX_DECLINED: none */

static ngx_int_t
ngx_http_submission_api_segment(ngx_http_request_t *r, ngx_str_t *path,
    ngx_uint_t raw, ngx_str_t *segment)
{
    u_char  *src, *dst;
    size_t   len;

    if (path->len && path->data[0] == '/') {
        path->data++;
        path->len--;
    }

    src = path->data;

    for (len = 0; len < path->len && src[len] != '/'; len++) { /* void */ }

    path->data += len;
    path->len -= len;

    segment->data = src;
    segment->len = len;

    if (len == 0) {
        return NGX_DECLINED;
    }

    if (raw) {
        dst = ngx_pnalloc(r->pool, len);
        if (dst == NULL) {
            return NGX_ERROR;
        }

        segment->data = dst;
        ngx_unescape_uri(&dst, &src, len, 0);
        segment->len = dst - segment->data;
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_http_submission_api_is(ngx_str_t *segment, char *word)
{
    return segment->len == ngx_strlen(word)
           && ngx_strncmp(segment->data, word, segment->len) == 0;
}


static ngx_http_submission_resource_e
ngx_http_submission_api_resource(ngx_http_request_t *r, ngx_str_t *id)
{
    ngx_str_t                        path, segment;
    ngx_uint_t                       raw;
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    raw = ngx_http_submission_api_raw(r, &slcf->prefix, &path);

    if (!raw) {

        /* "rewrite ... break" may have taken it out of its location */

        if (!ngx_http_submission_api_under(&r->uri, &slcf->prefix)) {
            return NGX_HTTP_SUBMISSION_NOWHERE;
        }

        path.data = r->uri.data + slcf->prefix.len;
        path.len = r->uri.len - slcf->prefix.len;
    }

    /* "location /v1" has /v1intents, too */

    if (path.len && path.data[0] != '/' && path.data[-1] != '/') {
        return NGX_HTTP_SUBMISSION_NOWHERE;
    }

    if (ngx_http_submission_api_segment(r, &path, raw, &segment) != NGX_OK) {
        return NGX_HTTP_SUBMISSION_NOWHERE;
    }

    if (path.len == 0 && ngx_http_submission_api_is(&segment, "cluster")) {
        return NGX_HTTP_SUBMISSION_INSTANCES;
    }

    if (!ngx_http_submission_api_is(&segment, "intents")) {
        return NGX_HTTP_SUBMISSION_NOWHERE;
    }

    if (path.len == 0) {
        return NGX_HTTP_SUBMISSION_INTENTS;
    }

    if (ngx_http_submission_api_segment(r, &path, raw, id) != NGX_OK) {
        return NGX_HTTP_SUBMISSION_NOWHERE;
    }

    if (path.len == 0) {
        return NGX_HTTP_SUBMISSION_INTENT;
    }

    if (ngx_http_submission_api_segment(r, &path, raw, &segment) == NGX_OK
        && ngx_http_submission_api_is(&segment, "history")
        && path.len == 0)
    {
        return NGX_HTTP_SUBMISSION_INTENT_HISTORY;
    }

    return NGX_HTTP_SUBMISSION_NOWHERE;
}


/* application/json and application/<any>+json, with any parameters */

static ngx_uint_t
ngx_http_submission_api_json_type(ngx_str_t *type)
{
    size_t  len;

    for (len = 0; len < type->len; len++) {
        if (type->data[len] == ';' || type->data[len] == ' ') {
            break;
        }
    }

    if (len < sizeof("application/") - 1 + 4
        || ngx_strncasecmp(type->data, (u_char *) "application/", 12) != 0
        || ngx_strncasecmp(type->data + len - 4, (u_char *) "json", 4) != 0)
    {
        return 0;
    }

    return len == 16 || type->data[len - 5] == '+';
}


static ngx_int_t
ngx_http_submission_api_post(ngx_http_request_t *r)
{
    ngx_table_elt_t  *type;

    type = r->headers_in.content_type;

    if (type && !ngx_http_submission_api_json_type(&type->value)) {
        return ngx_http_submission_reply_error(r,
                   NGX_HTTP_UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type",
                   "the body must be \"application/json\"", NULL);
    }

    return ngx_http_submission_body_read(r, ngx_http_submission_api_submit);
}


static ngx_int_t
ngx_http_submission_api_submit(ngx_http_request_t *r, sm_str_t body)
{
    ngx_int_t                        rc;
    ngx_str_t                        name;
    sm_arena_t                       arena;
    sm_json_error_t                  err;
    sm_intent_request_t              req;
    ngx_http_submission_ctx_t       *ctx;
    ngx_http_submission_target_t    *target;
    ngx_http_submission_loc_conf_t  *slcf;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    ngx_memzero(&arena, sizeof(sm_arena_t));

    if (sm_intent_request_parse(&arena, body, &req, &err) != 0) {

        if (err.no_memory) {
            rc = NGX_HTTP_INTERNAL_SERVER_ERROR;
            goto done;
        }

        rc = ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                             "invalid_request", err.message,
                                             err.key);
        goto done;
    }

    name.data = (u_char *) req.target.data;
    name.len = req.target.len;

    target = ngx_http_submission_target(slcf->api, &name);

    if (target == NULL) {
        rc = ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                       "invalid_request",
                                       "\"" SM_FIELD_TARGET "\" names no "
                                       "target of this manager",
                                       SM_FIELD_TARGET);
        goto done;
    }

    ctx->row.submit.id = req.id;
    ctx->row.submit.contract = &target->contract;
    ctx->row.submit.payload = req.payload;

    rc = ngx_http_submission_api_enter(r);

done:

    sm_arena_free(&arena);

    return rc;
}


static ngx_int_t
ngx_http_submission_api_get(ngx_http_request_t *r, ngx_str_t *id)
{
    char                        message[128];
    sm_str_t                    s;
    const char                 *why;
    ngx_http_submission_ctx_t  *ctx;

    s.data = (char *) id->data;
    s.len = id->len;
    s = sm_trim(s);

    why = sm_id_check(s);

    if (why) {
        (void) snprintf(message, sizeof(message), "the intent id %s", why);

        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                               "invalid_request", message,
                                               SM_FIELD_ID);
    }

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    if (ctx->kind == NGX_HTTP_SUBMISSION_GET) {
        ctx->row.get.id = s;

    } else {
        ctx->row.history.id = s;
    }

    return ngx_http_submission_api_read(r);
}


/* NGX_DONE: the intake has a copy of the row, and answers the request */

static ngx_int_t
ngx_http_submission_api_enter(ngx_http_request_t *r)
{
    ngx_http_submission_ctx_t       *ctx;
    ngx_http_submission_loc_conf_t  *slcf;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    switch (ngx_http_submission_intake(slcf->api, ctx)) {

    case NGX_OK:
        r->read_event_handler = ngx_http_test_reading;
        return NGX_DONE;

    case NGX_BUSY:
        return ngx_http_submission_reply_unavailable(r, 1);

    case NGX_DECLINED:
        ngx_http_submission_count(slcf->api, NGX_HTTP_SUBMISSION_REFUSALS, 1);
        return ngx_http_submission_reply_unavailable(r, 0);

    default: /* NGX_ERROR */
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


/* a request without a body that matters */

static ngx_int_t
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
