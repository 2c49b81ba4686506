
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


#define ngx_http_submission_route(path, method, level, operation, ...)        \
    { .route = { path, SM_ROUTE_##method },                                   \
      .access = NGX_HTTP_SUBMISSION_ACCESS_##level,                           \
      .op = NGX_HTTP_SUBMISSION_OP_##operation,                               \
      __VA_ARGS__ }


static const ngx_http_submission_route_t  ngx_http_submission_routes[] = {

    ngx_http_submission_route("intents", POST, SUBMIT, INTENTS_SUBMIT,
        .args = ngx_http_submission_wait_args,
        .parse = ngx_http_submission_submit_parse),

    ngx_http_submission_route("intents", READ, READ, INTENTS_LIST,
        .args = ngx_http_submission_list_args,
        .parse = ngx_http_submission_list_parse),

    ngx_http_submission_route("intents/*", READ, READ, INTENTS_GET,
        .args = ngx_http_submission_wait_args,
        .init = ngx_http_submission_get_init,
        .parse = ngx_http_submission_api_read_id),

    ngx_http_submission_route("intents/*/history", READ, READ, INTENT_HISTORY,
        .args = ngx_http_submission_history_args,
        .parse = ngx_http_submission_api_read_id),

    ngx_http_submission_route("cluster", READ, READ, CLUSTER_GET,
        .parse = ngx_http_submission_api_read),

    ngx_http_submission_route("intents/*/cancel", POST, SUBMIT, INTENTS_CANCEL,
        .body = ngx_http_submission_cancel_body),

    ngx_http_submission_route("intents/*/replay", POST, SUBMIT, INTENTS_REPLAY,
        .body = ngx_http_submission_replay_body),

    ngx_http_submission_route("intents/*/webhooks/resend", POST, SUBMIT,
        WEBHOOKS_RESEND,
        .body = ngx_http_submission_webhooks_body),

    ngx_http_submission_route("intents/*/payload", READ, OPERATE,
        INTENT_PAYLOAD,
        .payloads = 1,
        .parse = ngx_http_submission_api_read_id),

    ngx_http_submission_route("audit", READ, OPERATE, AUDIT_LIST,
        .args = ngx_http_submission_audit_args,
        .parse = ngx_http_submission_audit_parse),

    ngx_http_submission_route("failures", READ, READ, FAILURES_GET,
        .args = ngx_http_submission_failures_args,
        .parse = ngx_http_submission_failures_parse),

    ngx_http_submission_route("targets/*/pause", POST, OPERATE, TARGET_SET,
        .kind = 1,
        .body = ngx_http_submission_pause_body),

    ngx_http_submission_route("targets/*/resume", POST, OPERATE, TARGET_SET,
        .body = ngx_http_submission_pause_body),

    ngx_http_submission_route("config", READ, READ, NONE,
        .parse = ngx_http_submission_config_parse),

    ngx_http_submission_route("overview", READ, READ, NONE,
        .parse = ngx_http_submission_overview_parse),

    ngx_http_submission_route("stats", READ, READ, NONE,
        .args = ngx_http_submission_stats_args,
        .init = ngx_http_submission_stats_init_args,
        .parse = ngx_http_submission_stats_parse),

    ngx_http_submission_route("targets", READ, READ, BACKLOG_GET,
        .parse = ngx_http_submission_target_list_parse),

    ngx_http_submission_route("targets/*", READ, READ, BACKLOG_GET,
        .parse = ngx_http_submission_target_list_parse),

    ngx_http_submission_route("replays", POST, OPERATE, JOBS_ADD,
        .kind = SM_JOB_REPLAY,
        .body = ngx_http_submission_jobs_add_body),

    ngx_http_submission_route("replays", READ, READ, JOBS_LIST,
        .kind = SM_JOB_REPLAY,
        .args = ngx_http_submission_jobs_args,
        .init = ngx_http_submission_jobs_init,
        .parse = ngx_http_submission_api_read),

    ngx_http_submission_route("replays/*", READ, READ, JOBS_LIST,
        .kind = SM_JOB_REPLAY,
        .init = ngx_http_submission_jobs_init,
        .parse = ngx_http_submission_jobs_get_parse),

    ngx_http_submission_route("replays/*/stop", POST, OPERATE, JOBS_STOP,
        .kind = SM_JOB_REPLAY,
        .body = ngx_http_submission_jobs_stop_body),

    ngx_http_submission_route("cancels", POST, OPERATE, JOBS_ADD,
        .kind = SM_JOB_CANCEL,
        .body = ngx_http_submission_jobs_add_body),

    ngx_http_submission_route("cancels", READ, READ, JOBS_LIST,
        .kind = SM_JOB_CANCEL,
        .args = ngx_http_submission_jobs_args,
        .init = ngx_http_submission_jobs_init,
        .parse = ngx_http_submission_api_read),

    ngx_http_submission_route("cancels/*", READ, READ, JOBS_LIST,
        .kind = SM_JOB_CANCEL,
        .init = ngx_http_submission_jobs_init,
        .parse = ngx_http_submission_jobs_get_parse),

    ngx_http_submission_route("cancels/*/stop", POST, OPERATE, JOBS_STOP,
        .kind = SM_JOB_CANCEL,
        .body = ngx_http_submission_jobs_stop_body),

    ngx_http_submission_route("schedules", READ, READ, SCHEDULES_LIST,
        .args = ngx_http_submission_schedules_args,
        .parse = ngx_http_submission_api_read),

    ngx_http_submission_route("schedules/*", READ, READ, SCHEDULE_GET,
        .init = ngx_http_submission_schedules_init,
        .parse = ngx_http_submission_schedules_parse),

    ngx_http_submission_route("schedules/*", PUT, OPERATE, SCHEDULE_PUT,
        .init = ngx_http_submission_schedules_init,
        .body = ngx_http_submission_schedules_put_body),

    ngx_http_submission_route("schedules/*", DELETE, OPERATE, SCHEDULE_DELETE,
        .init = ngx_http_submission_schedules_init,
        .parse = ngx_http_submission_schedules_parse),

    ngx_http_submission_route("schedules/*/pause", POST, OPERATE,
        SCHEDULE_PAUSE,
        .init = ngx_http_submission_schedules_init,
        .body = ngx_http_submission_schedules_act_body),

    ngx_http_submission_route("schedules/*/resume", POST, OPERATE,
        SCHEDULE_RESUME,
        .init = ngx_http_submission_schedules_init,
        .body = ngx_http_submission_schedules_act_body),

    ngx_http_submission_route("schedules/*/run", POST, OPERATE, SCHEDULE_RUN,
        .init = ngx_http_submission_schedules_init,
        .body = ngx_http_submission_schedules_act_body)
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
    ngx_int_t                   rc;
    ngx_http_submission_ctx_t  *ctx;
    ngx_http_submission_args_t  args;

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

    ctx->row = ngx_pcalloc(r->pool, ctx->op->row_size);
    if (ctx->row == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ctx->op->weight_each) {
        *(size_t *) ((char *) ctx->row + ctx->op->limit) =
                                               NGX_HTTP_SUBMISSION_API_LIMIT;
    }

    if (ctx->route->init) {
        ctx->route->init(ctx);
    }

    switch (ngx_http_submission_args(ctx, &args)) {

    case NGX_OK:
        return ctx->route->body
               ? ngx_http_submission_body_read(r, ctx->route->body,
                                               NGX_HTTP_SUBMISSION_BODY_JSON)
               : ctx->route->parse(r);

    case NGX_DECLINED:
        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                               "invalid_request", args.message,
                                               args.field);

    default: /* NGX_ERROR */
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
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
 * NGX_DECLINED, and the context has its route; or what the request is to be
 * finalized with.
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

    prefix.data = (char *) slcf->prefix.data;
    prefix.len = slcf->prefix.len;

    uri.data = (char *) r->unparsed_uri.data;
    uri.len = r->unparsed_uri.len;

    if (r->valid_unparsed_uri && sm_route_raw(uri, prefix, &path)) {
        buf = ngx_pnalloc(r->pool, path.len + 1);
        if (buf == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

    } else {
        buf = NULL;

        uri.data = (char *) r->uri.data;
        uri.len = r->uri.len;

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
 * Reads the id of the path.  Returns NGX_DECLINED if it is one, or else what
 * the request is to be finalized with.
 */

ngx_int_t
ngx_http_submission_api_id(ngx_http_request_t *r, sm_str_t *id)
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

    return NGX_DECLINED;
}


/* Asks for the intent of the path: its id is the first string of the row. */

ngx_int_t
ngx_http_submission_api_read_id(ngx_http_request_t *r)
{
    sm_str_t                   *id;
    ngx_int_t                   rc;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    id = (sm_str_t *) ((char *) ctx->row + ctx->op->strings[0]);

    rc = ngx_http_submission_api_id(r, id);

    return rc == NGX_DECLINED ? ngx_http_submission_api_read(r) : rc;
}


/* Hands a copy of the row to the intake, which answers the request. */

ngx_int_t
ngx_http_submission_api_enter(ngx_http_request_t *r)
{
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    if (ngx_http_submission_intake_add(ctx, ctx->row, 0) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_submission_intake(ctx);
}


/* a request whose body is not used */

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
