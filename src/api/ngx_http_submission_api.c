
/*
 * The intents API: finds what a request wants, checks it, and hands it to the
 * intake.  The location's prefix is the root: with "location /v1/" the
 * intents are at /v1/intents.
 */

#include "ngx_http_submission_intake.h"


static ngx_int_t ngx_http_submission_api_route(ngx_http_submission_ctx_t *ctx);


static const ngx_http_submission_route_t  ngx_http_submission_routes[] = {

    { { "intents", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_INTENTS_SUBMIT,
      NGX_HTTP_SUBMISSION_ACCESS_SUBMIT, 0,
      ngx_http_submission_submit_args,
      NULL,
      ngx_http_submission_submit_parse },

    { { "intents", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_INTENTS_LIST,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_list_args,
      ngx_http_submission_list_init,
      ngx_http_submission_list_parse },

    { { "intents/*", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_INTENTS_GET,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_get_args,
      ngx_http_submission_get_init,
      ngx_http_submission_get_parse },

    { { "intents/*/history", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_INTENT_HISTORY,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_history_args,
      ngx_http_submission_history_init,
      ngx_http_submission_history_parse },

    { { "cluster", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_CLUSTER_GET,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_api_read },

    { { "intents/*/cancel", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_INTENTS_CANCEL,
      NGX_HTTP_SUBMISSION_ACCESS_SUBMIT, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_cancel_parse },

    { { "intents/*/replay", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_INTENTS_REPLAY,
      NGX_HTTP_SUBMISSION_ACCESS_SUBMIT, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_replay_parse },

    { { "intents/*/webhooks/resend", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_WEBHOOKS_RESEND,
      NGX_HTTP_SUBMISSION_ACCESS_SUBMIT, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_webhooks_parse },

    { { "intents/*/payload", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_INTENT_PAYLOAD,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 1,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_payload_parse },

    { { "audit", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_AUDIT_LIST,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_audit_args,
      ngx_http_submission_audit_init,
      ngx_http_submission_audit_parse },

    { { "failures", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_FAILURES_GET,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_failures_args,
      NULL,
      ngx_http_submission_failures_parse },

    { { "targets/*/pause", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_TARGET_SET,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      ngx_http_submission_pause_init,
      ngx_http_submission_pause_parse },

    { { "targets/*/resume", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_TARGET_SET,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_pause_parse },

    { { "config", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_NONE,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_config_parse },

    { { "overview", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_NONE,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_overview_parse },

    { { "stats", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_NONE,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_stats_args,
      ngx_http_submission_stats_init_args,
      ngx_http_submission_stats_parse },

    { { "targets", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_BACKLOG_GET,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_target_list_parse },

    { { "targets/*", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_BACKLOG_GET,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_target_list_parse },

    { { "replays", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_JOBS_ADD,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_jobs_add_parse },

    { { "replays", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_JOBS_LIST,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_jobs_args,
      ngx_http_submission_jobs_init,
      ngx_http_submission_api_read },

    { { "replays/*", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_JOBS_LIST,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_no_args,
      ngx_http_submission_jobs_init,
      ngx_http_submission_jobs_get_parse },

    { { "replays/*/stop", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_JOBS_STOP,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_jobs_stop_parse },

    { { "cancels", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_JOBS_ADD,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_jobs_add_parse },

    { { "cancels", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_JOBS_LIST,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_jobs_args,
      ngx_http_submission_jobs_init,
      ngx_http_submission_api_read },

    { { "cancels/*", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_JOBS_LIST,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_no_args,
      ngx_http_submission_jobs_init,
      ngx_http_submission_jobs_get_parse },

    { { "cancels/*/stop", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_JOBS_STOP,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      NULL,
      ngx_http_submission_jobs_stop_parse },

    { { "schedules", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_SCHEDULES_LIST,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_schedules_args,
      ngx_http_submission_schedules_list_init,
      ngx_http_submission_api_read },

    { { "schedules/*", SM_ROUTE_READ },
      NGX_HTTP_SUBMISSION_OP_SCHEDULE_GET,
      NGX_HTTP_SUBMISSION_ACCESS_READ, 0,
      ngx_http_submission_no_args,
      ngx_http_submission_schedules_init,
      ngx_http_submission_schedules_parse },

    { { "schedules/*", SM_ROUTE_PUT },
      NGX_HTTP_SUBMISSION_OP_SCHEDULE_PUT,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      ngx_http_submission_schedules_init,
      ngx_http_submission_schedules_put_parse },

    { { "schedules/*", SM_ROUTE_DELETE },
      NGX_HTTP_SUBMISSION_OP_SCHEDULE_DELETE,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      ngx_http_submission_schedules_init,
      ngx_http_submission_schedules_parse },

    { { "schedules/*/pause", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_SCHEDULE_PAUSE,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      ngx_http_submission_schedules_init,
      ngx_http_submission_schedules_act_parse },

    { { "schedules/*/resume", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_SCHEDULE_RESUME,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      ngx_http_submission_schedules_init,
      ngx_http_submission_schedules_act_parse },

    { { "schedules/*/run", SM_ROUTE_POST },
      NGX_HTTP_SUBMISSION_OP_SCHEDULE_RUN,
      NGX_HTTP_SUBMISSION_ACCESS_OPERATE, 0,
      ngx_http_submission_no_args,
      ngx_http_submission_schedules_init,
      ngx_http_submission_schedules_act_parse }
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
 * The id of the path.  NGX_DECLINED: it is one; otherwise what the request is to
 * be finalized with.
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


ngx_int_t
ngx_http_submission_api_read_id(ngx_http_request_t *r, sm_str_t *id)
{
    ngx_int_t  rc;

    rc = ngx_http_submission_api_id(r, id);

    return rc == NGX_DECLINED ? ngx_http_submission_api_read(r) : rc;
}


/* NGX_DONE: the intake has a copy of the row, and answers the request */

ngx_int_t
ngx_http_submission_api_enter(ngx_http_request_t *r)
{
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    if (ngx_http_submission_intake_add(ctx, ctx->row, 0) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_submission_api_enter_all(r);
}


ngx_int_t
ngx_http_submission_api_enter_all(ngx_http_request_t *r)
{
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    switch (ngx_http_submission_intake(ctx)) {

    case NGX_OK:
        r->read_event_handler = ngx_http_test_reading;
        return NGX_DONE;

    case NGX_BUSY:
        return ngx_http_submission_reply_unavailable(r, 1);

    default: /* NGX_DECLINED */
        ngx_http_submission_count(ctx->manager,
                                  NGX_HTTP_SUBMISSION_CNT_REFUSALS, 1);
        return ngx_http_submission_reply_unavailable(r, 0);
    }
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
