
/*
 * GET /v1/targets and /v1/targets/{target}, from the zone.
 *
 * While no instance leads, none keeps the numbers.  Then what the store has
 * counted last is shown, if that is newer; see status/backlog.c.
 */

#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"
#include "ngx_http_submission_view.h"


#define NGX_HTTP_SUBMISSION_TARGET_WEBHOOK  "webhook "


/*
 * Both lists are in the order of a configuration, mostly of the same one: the
 * search begins where the last one ended.
 */

static sm_stats_target_t *
ngx_http_submission_target_find(sm_stats_t *stats, size_t *from, sm_str_t name)
{
    size_t  i, k;

    if (stats == NULL) {
        return NULL;
    }

    for (i = 0; i < stats->n; i++) {
        k = (*from + i) % stats->n;

        if (sm_str_eq(stats->targets[k].name, name)) {
            *from = k + 1;
            return &stats->targets[k];
        }
    }

    return NULL;
}


static ngx_uint_t
ngx_http_submission_target_is_webhook(sm_str_t name)
{
    return name.len >= sizeof(NGX_HTTP_SUBMISSION_TARGET_WEBHOOK) - 1
           && ngx_strncmp(name.data, NGX_HTTP_SUBMISSION_TARGET_WEBHOOK,
                          sizeof(NGX_HTTP_SUBMISSION_TARGET_WEBHOOK) - 1)
              == 0;
}


static void
ngx_http_submission_target_one(ngx_http_submission_view_t *view, sm_out_t *out,
    ngx_uint_t *first, sm_str_t name, ngx_http_submission_target_t *target,
    sm_stats_target_t *stats, sm_stats_target_t *counted)
{
    sm_out_c(out, *first ? "{" : ",{");
    *first = 0;

    ngx_http_submission_target_out(view, out, name, target, stats, counted);

    sm_out_c(out, "}");
}


/*
 * Writes the targets of the configuration, then others that the leader or the
 * store has.
 */

static void
ngx_http_submission_target_all(ngx_http_submission_view_t *view, sm_out_t *out,
    ngx_uint_t webhooks)
{
    size_t                         k, b;
    sm_str_t                       name;
    sm_stats_t                    *other;
    ngx_uint_t                     i, n, first;
    ngx_http_submission_target_t  *target, **targets;

    targets = view->manager->conf->by_index.elts;
    n = view->manager->conf->ntargets;
    first = 1;
    k = 0;
    b = 0;

    for (i = 0; i < n; i++) {
        target = targets[i];
        name = target->contract.target;

        if (ngx_http_submission_target_is_webhook(name) == webhooks) {
            ngx_http_submission_target_one(view, out, &first, name, target,
                 ngx_http_submission_target_find(view->board->stats, &k, name),
                 ngx_http_submission_target_find(view->backlog, &b, name));
        }
    }

    other = view->backlog ? view->backlog : view->board->stats;

    for (i = 0; other && i < other->n; i++) {
        name = other->targets[i].name;

        if (name.len == 0
            || ngx_http_submission_target_is_webhook(name) != webhooks
            || ngx_http_submission_target(view->manager->conf, name))
        {
            continue;
        }

        ngx_http_submission_target_one(view, out, &first, name, NULL,
                 ngx_http_submission_target_find(view->board->stats, &k, name),
                 ngx_http_submission_target_find(view->backlog, &b, name));
    }
}


static void
ngx_http_submission_target_backlog_out(ngx_http_submission_view_t *view,
    sm_out_t *out)
{
    if (view->backlog == NULL) {
        return;
    }

    sm_out_c(out, "\"backlog\":{\"countedAt\":");
    sm_json_out_time(out, view->backlog->at);
    sm_out_c(out, ",\"bound\":");
    sm_out_int(out, SM_BACKLOG_BOUND);
    sm_out_c(out, view->backlog->omitted ? ",\"partial\":true},"
                                         : ",\"partial\":false},");
}


static void
ngx_http_submission_target_list_out(ngx_http_submission_view_t *view,
    sm_out_t *out)
{
    sm_out_c(out, "{");
    ngx_http_submission_view_head(view, out);
    ngx_http_submission_target_backlog_out(view, out);

    if (view->board->stats && view->board->stats->omitted) {
        sm_out_c(out, "\"omitted\":");
        sm_out_int(out, view->board->stats->omitted);
        sm_out_c(out, ",");
    }

    sm_out_c(out, "\"targets\":[");
    ngx_http_submission_target_all(view, out, 0);
    sm_out_c(out, "],\"webhooks\":[");
    ngx_http_submission_target_all(view, out, 1);
    sm_out_c(out, "]}\n");
}


static void
ngx_http_submission_target_get_out(ngx_http_submission_view_t *view,
    sm_out_t *out)
{
    size_t              b;
    sm_str_t            name;
    sm_stats_target_t  *counted;

    b = 0;
    name = view->target ? view->target->contract.target : view->stats->name;
    counted = ngx_http_submission_target_find(view->backlog, &b, name);

    sm_out_c(out, "{");
    ngx_http_submission_view_head(view, out);
    ngx_http_submission_target_backlog_out(view, out);
    ngx_http_submission_target_out(view, out, name, view->target, view->stats,
                                   counted);

    if (view->target) {
        ngx_http_submission_target_contract_out(out, &view->target->contract);
    }

    sm_out_c(out, "}\n");
}


/* Answers 404 if neither this configuration nor the leader knows the target. */

static ngx_int_t
ngx_http_submission_target_get(ngx_http_submission_view_t *view, sm_str_t name)
{
    size_t  k;

    k = 0;

    view->target = ngx_http_submission_target(view->manager->conf, name);
    view->stats = ngx_http_submission_target_find(view->board->stats, &k,
                                                  name);

    if (name.len == 0 || (view->target == NULL && view->stats == NULL)) {
        ngx_http_submission_view_close(view);
        return ngx_http_submission_reply_error(view->request,
                                               NGX_HTTP_NOT_FOUND,
                                               "unknown_target",
                                               "there is no such target",
                                               NULL);
    }

    return ngx_http_submission_view_send(view);
}


static ngx_int_t
ngx_http_submission_target_list_handler(ngx_http_request_t *r)
{
    ngx_http_submission_ctx_t   *ctx;
    ngx_http_submission_view_t  *view;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    view = ngx_http_submission_view_init(r,
                                         ngx_http_submission_target_list_out);
    if (view == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (view->board->leader.data == NULL) {

        if (ngx_http_submission_board_counted(view->pool, view->manager->conf,
                                              &view->backlog)
            == NGX_ERROR)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        ngx_http_submission_backlog_want(view->manager);
    }

    if (ctx->id.data) {
        view->out = ngx_http_submission_target_get_out;
        return ngx_http_submission_target_get(view, ctx->id);
    }

    return ngx_http_submission_view_send(view);
}


const ngx_http_submission_input_t  ngx_http_submission_target_list_input = {
    .handler = ngx_http_submission_target_list_handler
};
