
/*
 * The intents API: finds what a request wants, checks it, and hands it to the
 * intake.  The location's prefix is the root: with "location /v1/" the
 * intents are at /v1/intents.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"


/* A page has so many rows if the request does not say how many. */

#define NGX_HTTP_SUBMISSION_API_LIMIT  50


static ngx_int_t ngx_http_submission_api_route(ngx_http_submission_ctx_t *ctx);
static ngx_int_t ngx_http_submission_api_row(ngx_http_submission_ctx_t *ctx);


#define ngx_http_submission_route(path, method, level, operation, in, ...)    \
    { .route = { path, SM_ROUTE_##method },                                   \
      .access = NGX_HTTP_SUBMISSION_ACCESS_##level,                           \
      .op = NGX_HTTP_SUBMISSION_OP_##operation,                               \
      .input = &in,                                                           \
      __VA_ARGS__ }


/* A route has a path, a method, a level, an operation, and how it is read. */

static const ngx_http_submission_route_t  ngx_http_submission_routes[] = {

    ngx_http_submission_route("intents", POST, SUBMIT, INTENTS_SUBMIT,
        ngx_http_submission_submit_input),
    ngx_http_submission_route("intents", READ, READ, INTENTS_LIST,
        ngx_http_submission_list_input),
    ngx_http_submission_route("intents/*", READ, READ, INTENTS_GET,
        ngx_http_submission_get_input),
    ngx_http_submission_route("intents/*/history", READ, READ, INTENT_HISTORY,
        ngx_http_submission_history_input),
    ngx_http_submission_route("intents/*/cancel", POST, SUBMIT, INTENTS_CANCEL,
        ngx_http_submission_cancel_input),
    ngx_http_submission_route("intents/*/replay", POST, SUBMIT, INTENTS_REPLAY,
        ngx_http_submission_replay_input),
    ngx_http_submission_route("intents/*/webhooks/resend", POST, SUBMIT,
        WEBHOOKS_RESEND, ngx_http_submission_webhooks_input),
    ngx_http_submission_route("webhooks/*/messages", READ, READ,
        WEBHOOK_MESSAGES, ngx_http_submission_messages_input),
    ngx_http_submission_route("intents/*/payload", READ, OPERATE,
        INTENT_PAYLOAD, ngx_http_submission_payload_input, .payloads = 1),

    ngx_http_submission_route("audit", READ, OPERATE, AUDIT_LIST,
        ngx_http_submission_audit_input),
    ngx_http_submission_route("failures", READ, READ, FAILURES_GET,
        ngx_http_submission_failures_input),

    ngx_http_submission_route("targets", READ, READ, NONE,
        ngx_http_submission_target_list_input),
    ngx_http_submission_route("targets/*", READ, READ, NONE,
        ngx_http_submission_target_list_input),
    ngx_http_submission_route("targets/*/pause", POST, OPERATE, TARGET_SET,
        ngx_http_submission_pause_input, .kind = 1),
    ngx_http_submission_route("targets/*/resume", POST, OPERATE, TARGET_SET,
        ngx_http_submission_pause_input),

    ngx_http_submission_route("cluster", READ, READ, CLUSTER_GET,
        ngx_http_submission_cluster_input),
    ngx_http_submission_route("config", READ, READ, NONE,
        ngx_http_submission_config_input),
    ngx_http_submission_route("overview", READ, READ, NONE,
        ngx_http_submission_overview_input),
    ngx_http_submission_route("stats", READ, READ, NONE,
        ngx_http_submission_stats_input),
    ngx_http_submission_route("events", READ, READ, NONE,
        ngx_http_submission_feed_input),

    ngx_http_submission_route("replays", POST, OPERATE, JOBS_ADD,
        ngx_http_submission_jobs_add_input, .kind = SM_JOB_REPLAY),
    ngx_http_submission_route("replays", READ, READ, JOBS_LIST,
        ngx_http_submission_jobs_list_input, .kind = SM_JOB_REPLAY),
    ngx_http_submission_route("replays/*", READ, READ, JOBS_LIST,
        ngx_http_submission_jobs_get_input, .kind = SM_JOB_REPLAY),
    ngx_http_submission_route("replays/*/stop", POST, OPERATE, JOBS_STOP,
        ngx_http_submission_jobs_stop_input, .kind = SM_JOB_REPLAY),

    ngx_http_submission_route("cancels", POST, OPERATE, JOBS_ADD,
        ngx_http_submission_jobs_add_input, .kind = SM_JOB_CANCEL),
    ngx_http_submission_route("cancels", READ, READ, JOBS_LIST,
        ngx_http_submission_jobs_list_input, .kind = SM_JOB_CANCEL),
    ngx_http_submission_route("cancels/*", READ, READ, JOBS_LIST,
        ngx_http_submission_jobs_get_input, .kind = SM_JOB_CANCEL),
    ngx_http_submission_route("cancels/*/stop", POST, OPERATE, JOBS_STOP,
        ngx_http_submission_jobs_stop_input, .kind = SM_JOB_CANCEL),

    ngx_http_submission_route("schedules", READ, READ, SCHEDULES_LIST,
        ngx_http_submission_schedules_list_input),
    ngx_http_submission_route("schedules/*", READ, READ, SCHEDULE_GET,
        ngx_http_submission_schedules_get_input),
    ngx_http_submission_route("schedules/*", PUT, OPERATE, SCHEDULE_PUT,
        ngx_http_submission_schedules_put_input),
    ngx_http_submission_route("schedules/*", DELETE, OPERATE, SCHEDULE_DELETE,
        ngx_http_submission_schedules_get_input),
    ngx_http_submission_route("schedules/*/pause", POST, OPERATE,
        SCHEDULE_PAUSE, ngx_http_submission_schedules_act_input),
    ngx_http_submission_route("schedules/*/resume", POST, OPERATE,
        SCHEDULE_RESUME, ngx_http_submission_schedules_act_input),
    ngx_http_submission_route("schedules/*/run", POST, OPERATE, SCHEDULE_RUN,
        ngx_http_submission_schedules_act_input),
    ngx_http_submission_route("schedules/*/preview", POST, OPERATE,
        SCHEDULE_PREVIEW, ngx_http_submission_schedules_put_input)
};

static const sm_route_table_t  ngx_http_submission_route_table =
    sm_route_table(ngx_http_submission_routes);


ngx_http_submission_ctx_t *
ngx_http_submission_api_ctx(ngx_http_request_t *r)
{
    ngx_http_submission_ctx_t       *ctx;
    ngx_http_submission_loc_conf_t  *slcf;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    if (ctx) {
        return ctx;
    }

    ctx = ngx_pcalloc(r->pool, sizeof(ngx_http_submission_ctx_t));
    if (ctx == NULL) {
        return NULL;
    }

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    ctx->request = r;
    ctx->manager = slcf->api->manager;
    ngx_queue_init(&ctx->nodes);
    ngx_queue_init(&ctx->waiting);
    ngx_http_set_ctx(r, ctx, ngx_http_submission_module);

    return ctx;
}


ngx_table_elt_t *
ngx_http_submission_api_header(ngx_http_request_t *r, const char *name)
{
    size_t            len;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    len = ngx_strlen(name);

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (h[i].key.len == len
                && ngx_strncasecmp(h[i].key.data, (u_char *) name, len) == 0)
            {
                return &h[i];
            }
        }
    }

    return NULL;
}


ngx_int_t
ngx_http_submission_api_handler(ngx_http_request_t *r)
{
    ngx_int_t                           rc;
    ngx_http_submission_ctx_t          *ctx;
    const ngx_http_submission_input_t  *input;

    rc = ngx_http_submission_origin_host(r);
    if (rc != NGX_DECLINED) {
        return rc;
    }

    ctx = ngx_http_submission_api_ctx(r);
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_http_submission_api_route(ctx);
    if (rc != NGX_DECLINED) {
        return rc;
    }

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: api route:\"%s\" op:%s",
                   ctx->route->route.pattern, ctx->op->name);

    rc = ngx_http_submission_access(ctx);
    if (rc != NGX_DECLINED) {
        return rc;
    }

    rc = ngx_http_submission_origin(ctx);
    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (!ctx->op->writes) {
        rc = ngx_http_submission_reply_unread(r);
        if (rc != NGX_DECLINED) {
            return rc;
        }
    }

    rc = ngx_http_submission_api_row(ctx);
    if (rc != NGX_DECLINED) {
        return rc;
    }

    input = ctx->route->input;

    if (r->method & (NGX_HTTP_POST|NGX_HTTP_PUT)) {
        return input->handler
               ? input->handler(r)
               : ngx_http_submission_body_read(r, ngx_http_submission_api_take,
                                               NGX_HTTP_SUBMISSION_BODY_JSON);
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    return input->handler ? input->handler(r) : ngx_http_submission_api_read(r);
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


static ngx_int_t
ngx_http_submission_api_not_found(ngx_http_request_t *r)
{
    return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_FOUND, "not_found",
                                           "there is nothing at this path",
                                           NULL);
}


static ngx_int_t
ngx_http_submission_api_not_allowed(ngx_http_request_t *r, unsigned methods)
{
    u_char    *allow;
    sm_out_t   out;

    allow = ngx_pcalloc(r->pool, SM_ROUTE_ALLOW + 1);
    if (allow == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sm_out_init(&out, allow, SM_ROUTE_ALLOW);
    sm_route_allow(&out, methods);

    return ngx_http_submission_reply_method(r, (char *) allow);
}


/*
 * An id may hold a slash, as "%2F"; nginx's own r->uri has it decoded, and
 * merged with its neighbours.  So the path is taken as it was sent, unless
 * something needs normalizing or it was rewritten; "rewrite ... break" may have
 * taken it out of its location.
 *
 * Returns NGX_DECLINED if the context has its route now, or else what the
 * request is to be finalized with.
 */

static ngx_int_t
ngx_http_submission_api_route(ngx_http_submission_ctx_t *ctx)
{
    char                            *buf;
    sm_str_t                         uri, prefix, path;
    sm_route_match_t                 match;
    ngx_http_request_t              *r;
    ngx_http_submission_loc_conf_t  *slcf;

    r = ctx->request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    prefix = ngx_http_submission_str(&slcf->prefix);
    uri = ngx_http_submission_str(&r->unparsed_uri);

    if (r->valid_unparsed_uri && sm_route_raw(uri, prefix, &path)) {
        buf = ngx_pnalloc(r->pool, path.len + 1);
        if (buf == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

    } else {
        buf = NULL;

        uri = ngx_http_submission_str(&r->uri);

        if (!sm_route_resolved(uri, prefix, &path)) {
            return ngx_http_submission_api_not_found(r);
        }
    }

    switch (sm_route_find(&ngx_http_submission_route_table,
                          ngx_http_submission_api_method(r), path, buf,
                          &match))
    {

    case SM_ROUTE_FOUND:
        break;

    case SM_ROUTE_NOT_ALLOWED:
        return ngx_http_submission_api_not_allowed(r, match.methods);

    default: /* SM_ROUTE_NOT_FOUND */
        return ngx_http_submission_api_not_found(r);
    }

    ctx->route = match.row;
    ctx->op = &ngx_http_submission_ops[ctx->route->op];

    if (match.n) {
        ctx->id = match.any[0];
    }

    return NGX_DECLINED;
}


/*
 * Makes the row of a request, and takes the arguments into it.  Returns
 * NGX_DECLINED if they are good, or else what the request is to be finalized
 * with.
 */

static ngx_int_t
ngx_http_submission_api_row(ngx_http_submission_ctx_t *ctx)
{
    ngx_http_request_t                 *r;
    ngx_http_submission_args_t          args;
    const ngx_http_submission_input_t  *input;

    r = ctx->request;
    input = ctx->route->input;

    ctx->row = ngx_pcalloc(r->pool, ctx->op->row_size + input->row_size);
    if (ctx->row == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ctx->op->weight_each) {
        *(size_t *) ((char *) ctx->row + ctx->op->limit) =
                                               NGX_HTTP_SUBMISSION_API_LIMIT;
    }

    if (input->init) {
        input->init(ctx);
    }

    switch (ngx_http_submission_args(ctx, &args)) {

    case NGX_OK:
        return NGX_DECLINED;

    case NGX_DECLINED:
        ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                       "submission: api refuses the arguments of op:%s",
                       ctx->op->name);

        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                               "invalid_request", args.message,
                                               args.field);

    default: /* NGX_ERROR */
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


ngx_int_t
ngx_http_submission_api_take(ngx_http_request_t *r, sm_str_t body)
{
    ngx_int_t                           rc;
    sm_arena_t                          arena;
    sm_json_error_t                     err;
    ngx_http_submission_ctx_t          *ctx;
    const ngx_http_submission_input_t  *input;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    input = ctx->route->input;

    ngx_memzero(&arena, sizeof(sm_arena_t));

    err.key = NULL;
    err.code = NULL;
    err.no_memory = 0;

    rc = input->take ? input->take(ctx, &arena, body, &err) : NGX_OK;

    if (rc == NGX_OK) {
        rc = ngx_http_submission_intake_add(ctx, ctx->row, 0);
    }

    switch (rc) {

    case NGX_OK:
        rc = ngx_http_submission_intake(ctx);
        break;

    case NGX_DECLINED:
        ngx_log_debug2(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                       "submission: api refuses op:%s field:\"%s\"",
                       ctx->op->name, err.key ? err.key : "");

        rc = ngx_http_submission_reply_invalid(r, &err);
        break;

    case NGX_AGAIN:
        rc = ngx_http_submission_reply_not_yet(r, err.code, err.message,
                                               err.key);
        break;

    default: /* NGX_ERROR */
        rc = NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sm_arena_free(&arena);

    return rc;
}


ngx_int_t
ngx_http_submission_api_read(ngx_http_request_t *r)
{
    static const sm_str_t  nothing;

    ngx_int_t  rc;

    rc = ngx_http_submission_api_take(r, nothing);
    if (rc == NGX_DONE) {
        r->main->count++;
    }

    return rc;
}


ngx_int_t
ngx_http_submission_api_check(sm_json_error_t *err, const char *what,
    const char *key, const char *why)
{
    if (why == NULL) {
        return NGX_OK;
    }

    err->key = key;
    err->no_memory = 0;

    (void) snprintf(err->message, sizeof(err->message),
                    what ? "%s %s" : "\"%s\" %s", what ? what : key, why);

    return NGX_DECLINED;
}


ngx_int_t
ngx_http_submission_api_id(ngx_http_submission_ctx_t *ctx, sm_str_t *id,
    sm_json_error_t *err)
{
    *id = sm_trim(ctx->id);

    return ngx_http_submission_api_check(err, "the intent id", SM_FIELD_ID,
                                         sm_id_check(*id));
}


ngx_int_t
ngx_http_submission_api_take_id(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_str_t  *id;

    id = (sm_str_t *) ((char *) ctx->row + ctx->op->strings[0]);

    return ngx_http_submission_api_id(ctx, id, err);
}


ngx_int_t
ngx_http_submission_api_clean(ngx_pool_t *pool, sm_str_t text, size_t max,
    sm_str_t *clean)
{
    u_char    *p;
    size_t     size;
    sm_out_t   out;

    size = sm_clean_size(max) + 1;

    p = ngx_pnalloc(pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    sm_out_init(&out, p, size);
    sm_out_clean(&out, text, max);

    clean->data = out.start;
    clean->len = out.last - out.start;

    return NGX_OK;
}
