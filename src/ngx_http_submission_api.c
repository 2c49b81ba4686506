
/*
 * The intents API: finds what a request wants, checks it, and hands it to the
 * intake.  The location's prefix is the root: with "location /v1/" the
 * intents are at /v1/intents.
 */

#include "ngx_http_submission.h"


typedef struct {
    sm_route_t                   route;
    ngx_http_submission_kind_e   kind;
} ngx_http_submission_route_t;


static ngx_int_t ngx_http_submission_api_route(ngx_http_request_t *r,
    sm_route_match_t *match);
static ngx_int_t ngx_http_submission_api_post(ngx_http_request_t *r);
static ngx_int_t ngx_http_submission_api_submit(ngx_http_request_t *r,
    sm_str_t body);
static ngx_int_t ngx_http_submission_api_get(ngx_http_request_t *r,
    sm_str_t id);
static ngx_int_t ngx_http_submission_api_enter(ngx_http_request_t *r);
static ngx_int_t ngx_http_submission_api_read(ngx_http_request_t *r);


static const ngx_http_submission_route_t  ngx_http_submission_routes[] = {
    { { "intents", SM_ROUTE_READ }, NGX_HTTP_SUBMISSION_LIST },
    { { "intents", SM_ROUTE_POST }, NGX_HTTP_SUBMISSION_SUBMIT },
    { { "intents/*", SM_ROUTE_READ }, NGX_HTTP_SUBMISSION_GET },
    { { "intents/*/history", SM_ROUTE_READ }, NGX_HTTP_SUBMISSION_HISTORY },
    { { "cluster", SM_ROUTE_READ }, NGX_HTTP_SUBMISSION_CLUSTER }
};

static const sm_route_table_t  ngx_http_submission_route_table =
    sm_route_table(ngx_http_submission_routes);


ngx_int_t
ngx_http_submission_api_handler(ngx_http_request_t *r)
{
    ngx_int_t                           rc;
    sm_route_match_t                    match;
    ngx_http_submission_ctx_t          *ctx;
    ngx_http_submission_args_t          args;
    const ngx_http_submission_route_t  *route;

    ctx = ngx_pcalloc(r->pool, sizeof(ngx_http_submission_ctx_t));
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx->request = r;
    ngx_http_set_ctx(r, ctx, ngx_http_submission_module);

    rc = ngx_http_submission_api_route(r, &match);

    route = match.row;

    if (route == NULL) {
        return rc;
    }

    ctx->kind = route->kind;

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
        return ngx_http_submission_api_get(r, match.any[0]);

    default: /* NGX_HTTP_SUBMISSION_LIST, NGX_HTTP_SUBMISSION_CLUSTER */
        return ngx_http_submission_api_read(r);
    }
}


static unsigned
ngx_http_submission_api_method(ngx_http_request_t *r)
{
    switch (r->method) {
    case NGX_HTTP_GET:
        return SM_ROUTE_GET;
    case NGX_HTTP_HEAD:
        return SM_ROUTE_HEAD;
    case NGX_HTTP_POST:
        return SM_ROUTE_POST;
    case NGX_HTTP_PUT:
        return SM_ROUTE_PUT;
    case NGX_HTTP_DELETE:
        return SM_ROUTE_DELETE;
    default:
        return 0;
    }
}


/*
 * Finds the row of the request, or answers it: then there is no row.
 *
 * An id may hold a slash, as "%2F"; nginx's own r->uri has it decoded, and
 * merged with its neighbours.  So the path is taken as it was sent, unless
 * something needs normalizing or it was rewritten.
 */

static ngx_int_t
ngx_http_submission_api_route(ngx_http_request_t *r, sm_route_match_t *match)
{
    char                            *buf, *allow;
    sm_str_t                         uri, prefix, path;
    sm_out_t                         out;
    sm_route_e                       rc;
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    prefix.data = (char *) slcf->prefix.data;
    prefix.len = slcf->prefix.len;

    uri.data = (char *) r->unparsed_uri.data;
    uri.len = r->unparsed_uri.len;

    buf = NULL;
    match->row = NULL;

    if (r->valid_unparsed_uri && sm_route_raw(uri, prefix, &path)) {

        buf = ngx_pnalloc(r->pool, path.len + 1);
        if (buf == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

    } else {
        uri.data = (char *) r->uri.data;
        uri.len = r->uri.len;

        /* "rewrite ... break" may have taken it out of its location */

        if (!sm_route_resolved(uri, prefix, &path)) {
            path.data = "";
            path.len = 0;
        }
    }

    rc = sm_route_find(&ngx_http_submission_route_table,
                       ngx_http_submission_api_method(r), path, buf, match);

    if (rc == SM_ROUTE_FOUND) {
        return NGX_OK;
    }

    if (rc == SM_ROUTE_NOT_FOUND) {
        return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_FOUND,
                   "not_found", "there is nothing at this path", NULL);
    }

    allow = ngx_pnalloc(r->pool, SM_ROUTE_ALLOW);
    if (allow == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sm_out_init(&out, allow, SM_ROUTE_ALLOW);
    sm_route_allow(&out, match->methods);
    sm_out_bytes(&out, "", 1);

    return ngx_http_submission_reply_method(r, allow);
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
ngx_http_submission_api_get(ngx_http_request_t *r, sm_str_t id)
{
    char                        message[128];
    const char                 *why;
    ngx_http_submission_ctx_t  *ctx;

    id = sm_trim(id);

    why = sm_id_check(id);

    if (why) {
        (void) snprintf(message, sizeof(message), "the intent id %s", why);

        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                               "invalid_request", message,
                                               SM_FIELD_ID);
    }

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    if (ctx->kind == NGX_HTTP_SUBMISSION_GET) {
        ctx->row.get.id = id;

    } else {
        ctx->row.history.id = id;
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
