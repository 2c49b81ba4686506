
/*
 * GET /v1/overview and /v1/stats, from the zone.
 */

#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"
#include "ngx_http_submission_view.h"


#define NGX_HTTP_SUBMISSION_OVERVIEW_WINDOW  3600   /* seconds */
#define NGX_HTTP_SUBMISSION_OVERVIEW_STEP    20     /* of ages in the ETag */


/* What GET /v1/stats asks for. */

typedef struct {
    int64_t                          window;       /* seconds */
    sm_str_t                         target;
} ngx_http_submission_stats_row_t;


/* Writes "holder", "epoch" and "since" of the lease, and leaves it open. */

static void
ngx_http_submission_overview_lease(ngx_http_submission_board_t *board,
    sm_out_t *out, const char *key)
{
    sm_out_c(out, key);
    sm_out_c(out, "{\"holder\":");
    sm_json_out_str(out, board->holder);
    sm_out_c(out, ",\"epoch\":");
    sm_out_int(out, board->epoch);
    sm_out_c(out, ",\"since\":");
    ngx_http_submission_view_time(out, board->acquired_at);
}


/*
 * Writes how long ago somebody was heard of, by which the ETag changes in steps
 * of so many seconds.
 */

static void
ngx_http_submission_overview_ago(ngx_http_submission_view_t *view,
    sm_out_t *out, const char *key, int64_t at, int64_t step)
{
    int64_t  age;

    age = ngx_max((view->board->now - at) / 1000, 0);

    sm_out_c(out, key);
    ngx_http_submission_view_tag(view, out);
    sm_out_int(out, age);
    ngx_http_submission_view_untagged(view, out, age / 1000 / step);
}


/*
 * While nobody leads, also writes who led last, and until when it is known to
 * have led.  How long ago a leader was heard of is news once it is silent.
 */

static void
ngx_http_submission_overview_leader(ngx_http_submission_view_t *view,
    sm_out_t *out)
{
    ngx_http_submission_board_t  *board;

    board = view->board;

    if (board->leader.data) {
        ngx_http_submission_overview_lease(board, out, ",\"leader\":");
        sm_out_c(out, ",\"leaseRemainingMs\":");
        ngx_http_submission_view_tag(view, out);
        sm_out_int(out, board->left > 0 ? board->left / 1000 : 0);
        ngx_http_submission_view_untagged(view, out, 0);
        ngx_http_submission_overview_ago(view, out, ",\"heardAgeMs\":",
                                 board->heard_at,
                                 board->silent
                                 ? 1 : NGX_HTTP_SUBMISSION_OVERVIEW_STEP);
        sm_out_c(out, board->silent ? ",\"silent\":true}"
                                    : ",\"silent\":false}");
        sm_out_c(out, ",\"lastLeader\":null");
        return;
    }

    sm_out_c(out, ",\"leader\":null");

    if (board->epoch == 0) {
        sm_out_c(out, ",\"lastLeader\":null");
        return;
    }

    ngx_http_submission_overview_lease(board, out, ",\"lastLeader\":");
    sm_out_c(out, ",\"until\":");
    ngx_http_submission_view_time(out, board->until);
    sm_out_c(out, "}");
}


/*
 * Writes the clocks by which a page finds out whose is off.  The store's is not
 * known before the first answer; "hostMovedMs" is by how much that of this host
 * was set since nginx was started.
 */

static void
ngx_http_submission_overview_clocks(ngx_http_submission_view_t *view,
    sm_out_t *out)
{
    sm_out_c(out, ",\"clocks\":{\"host\":");
    ngx_http_submission_view_tag(view, out);
    sm_json_out_time(out, view->board->host);
    sm_out_c(out, ",\"store\":");
    ngx_http_submission_view_time(out, view->board->known ? view->board->now
                                                          : 0);
    sm_out_c(out, ",\"hostMovedMs\":");
    sm_out_int(out, view->board->moved / 1000);
    ngx_http_submission_view_untagged(view, out,
                                      view->board->moved / 1000000);
    sm_out_c(out, "}");
}


/* What a silent instance is, nobody knows, unless it has the lease. */

static void
ngx_http_submission_overview_instance(ngx_http_submission_view_t *view,
    sm_out_t *out, ngx_http_submission_instance_t *instance)
{
    sm_str_t    s;
    ngx_uint_t  leads, silent;

    s.data = (char *) instance->name;
    s.len = instance->len;

    leads = view->board->leader.data && sm_str_eq(s, view->board->leader);
    silent = leads ? view->board->silent : instance->silent;

    sm_out_c(out, "{\"id\":");
    sm_json_out_str(out, s);

    sm_out_c(out, leads ? ",\"role\":\"leader\""
                        : silent ? ",\"role\":null"
                                 : ",\"role\":\"follower\"");

    ngx_http_submission_overview_ago(view, out, ",\"heartbeatAgeMs\":",
                                     instance->heartbeat_at,
                                     NGX_HTTP_SUBMISSION_OVERVIEW_STEP);

    sm_out_c(out, silent ? ",\"silent\":true" : ",\"silent\":false");
    sm_out_c(out, ",\"version\":");
    s.data = (char *) instance->version;
    s.len = instance->vlen;
    sm_json_out_str(out, s);
    sm_out_c(out, instance->shared ? ",\"holderIdShared\":true}"
                                   : ",\"holderIdShared\":false}");
}


static void
ngx_http_submission_overview_instances(ngx_http_submission_view_t *view,
    sm_out_t *out)
{
    ngx_uint_t  i;

    sm_out_c(out, ",\"instances\":[");

    for (i = 0; i < view->board->ninstances; i++) {
        sm_out_c(out, i ? "," : "");
        ngx_http_submission_overview_instance(view, out,
                                              &view->board->instances[i]);
    }

    sm_out_c(out, "]");
}


static void
ngx_http_submission_overview_config(ngx_http_submission_view_t *view,
    sm_out_t *out)
{
    sm_out_c(out, view->board->differ ? ",\"configuration\":{\"same\":false"
                                      : ",\"configuration\":{\"same\":true");
    sm_out_c(out, ",\"differs\":[");
    sm_config_parts_out(out, view->board->differ);
    sm_out_c(out, "]}");
}


static void
ngx_http_submission_overview_rate(sm_out_t *out, const char *key,
    sm_stats_window_t *w, sm_stats_count_e which)
{
    sm_out_c(out, key);
    sm_out_decimal(out,
                   ngx_http_submission_view_rate(w->counts[which], w->span),
                   1000);
}


static void
ngx_http_submission_overview_totals(ngx_http_submission_view_t *view,
    sm_out_t *out)
{
    sm_stats_target_t  *t;
    sm_stats_window_t  *w;

    if (view->board->stats == NULL) {
        sm_out_c(out, "\"totals\":null");
        return;
    }

    t = &view->board->stats->totals;
    w = &t->windows[SM_STATS_1M];

    sm_out_c(out, "\"totals\":{\"due\":");
    sm_out_int(out, t->due);
    sm_out_c(out, ",\"waiting\":");
    sm_out_int(out, t->waiting);
    sm_out_c(out, ",\"inFlight\":");
    sm_out_int(out, t->in_flight);
    sm_out_c(out, ",\"oldestDueSeconds\":");

    if (t->due) {
        sm_out_int(out, t->oldest_due / 1000000);

    } else {
        sm_out_c(out, "null");
    }

    ngx_http_submission_overview_rate(out, ",\"submittedPerSecond\":", w,
                                      SM_STATS_SUBMITTED);
    ngx_http_submission_overview_rate(out,
                                  ",\"attemptsPerSecond\":{\"accepted\":", w,
                                  SM_STATS_ATTEMPT_ACCEPTED);
    ngx_http_submission_overview_rate(out, ",\"rejected\":", w,
                                      SM_STATS_ATTEMPT_REJECTED);
    ngx_http_submission_overview_rate(out, ",\"error\":", w,
                                      SM_STATS_ATTEMPT_ERROR);
    ngx_http_submission_overview_rate(out, ",\"unknown\":", w,
                                      SM_STATS_ATTEMPT_UNKNOWN);
    sm_out_c(out, "}}");
}


static void
ngx_http_submission_overview_out(ngx_http_submission_view_t *view,
    sm_out_t *out)
{
    sm_out_c(out, "{\"instance\":");
    sm_json_out_str(out, ngx_http_submission_str(&view->manager->holder_id));
    sm_out_c(out, view->board->leads ? ",\"role\":\"leader\""
                                     : ",\"role\":\"follower\"");

    sm_out_c(out, ",");
    ngx_http_submission_view_now(view, out);
    ngx_http_submission_overview_clocks(view, out);
    ngx_http_submission_overview_leader(view, out);
    ngx_http_submission_overview_instances(view, out);
    ngx_http_submission_overview_config(view, out);
    sm_out_c(out, ",");
    ngx_http_submission_view_store(view, out);
    ngx_http_submission_view_age(view, out);
    ngx_http_submission_overview_totals(view, out);

    sm_out_c(out, "}\n");
}


static ngx_int_t
ngx_http_submission_overview_handler(ngx_http_request_t *r)
{
    ngx_http_submission_view_t  *view;

    view = ngx_http_submission_view_init(r, ngx_http_submission_overview_out);
    if (view == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_submission_view_send(view);
}


const ngx_http_submission_input_t  ngx_http_submission_overview_input = {
    .handler = ngx_http_submission_overview_handler
};


static void
ngx_http_submission_stats_init_row(ngx_http_submission_ctx_t *ctx)
{
    ngx_http_submission_stats_row_t  *row = ctx->row;

    row->window = NGX_HTTP_SUBMISSION_OVERVIEW_WINDOW;
}


static ngx_int_t
ngx_http_submission_stats_window_arg(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value)
{
    int64_t  *window = field;

    return sm_parse_uint(value, NGX_HTTP_SUBMISSION_OVERVIEW_WINDOW, window)
           != 0 || *window == 0
           ? NGX_DECLINED : NGX_OK;
}


static const ngx_http_submission_arg_t  ngx_http_submission_stats_args[] = {

    { "window", ngx_http_submission_stats_window_arg,
      offsetof(ngx_http_submission_stats_row_t, window),
      "a number of seconds from 1 to 3600" },

    { "target", ngx_http_submission_arg_any_target,
      offsetof(ngx_http_submission_stats_row_t, target),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_TARGET },

    { NULL, NULL, 0, NULL }
};


static void
ngx_http_submission_stats_out(ngx_http_submission_view_t *view, sm_out_t *out)
{
    sm_out_c(out, "{");
    ngx_http_submission_view_head(view, out);
    sm_out_c(out, "\"interval\":");
    sm_out_int(out, SM_STATS_INTERVAL);
    sm_out_c(out, ",\"columns\":[");
    sm_series_out_columns(out);
    sm_out_c(out, "],\"rows\":[");

    if (view->series) {
        sm_series_out(out, view->series, view->since);
    }

    sm_out_c(out, "]}\n");
}


static ngx_int_t
ngx_http_submission_stats_handler(ngx_http_request_t *r)
{
    ngx_int_t                         rc;
    ngx_http_submission_ctx_t        *ctx;
    ngx_http_submission_view_t       *view;
    ngx_http_submission_stats_row_t  *row;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    row = ctx->row;
    view = ngx_http_submission_view_init(r, ngx_http_submission_stats_out);

    if (view == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    view->series = ngx_http_submission_board_series(view->pool,
                                                    ctx->manager->conf,
                                                    row->target, &rc);
    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (view->series == NULL && row->target.len
        && ngx_http_submission_target(ctx->manager->conf, row->target)
           == NULL)
    {
        ngx_http_submission_view_close(view);
        return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_FOUND,
                                               "not_found",
                                               "there is no such target",
                                               NULL);
    }

    /* whole rows, so that the answer stays the same until there is a new one */

    view->since = (view->board->stats ? view->board->stats->at / 1000000 : 0)
                  - row->window + 1;

    return ngx_http_submission_view_send(view);
}


const ngx_http_submission_input_t  ngx_http_submission_stats_input = {
    .args = ngx_http_submission_stats_args,
    .row_size = sizeof(ngx_http_submission_stats_row_t),
    .init = ngx_http_submission_stats_init_row,
    .handler = ngx_http_submission_stats_handler
};
