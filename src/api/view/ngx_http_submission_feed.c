
/*
 * GET /v1/events, from the zone: what has happened to the system, newest first.
 */

#include "ngx_http_submission_routes.h"
#include "ngx_http_submission_view.h"


#define NGX_HTTP_SUBMISSION_FEED_LIMIT  100
#define NGX_HTTP_SUBMISSION_FEED_STEP   20          /* seconds, in the ETag */


/* What a request asks for, and then what it gets. */

typedef struct {
    sm_feed_page_t                   page;
    sm_feed_event_t                 *events;
    int64_t                          heard;
} ngx_http_submission_feed_row_t;


static void
ngx_http_submission_feed_init(ngx_http_submission_ctx_t *ctx)
{
    ngx_http_submission_feed_row_t  *row = ctx->row;

    row->page.limit = NGX_HTTP_SUBMISSION_FEED_LIMIT;
}


static ngx_int_t
ngx_http_submission_feed_after_arg(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value)
{
    sm_feed_page_t  *page = field;

    page->after = 1;

    return sm_feed_cursor_parse(value, &page->cursor) != 0 ? NGX_DECLINED
                                                           : NGX_OK;
}


static ngx_int_t
ngx_http_submission_feed_kind_arg(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value)
{
    sm_str_t  *kind = field;

    *kind = value;

    return sm_feed_kind(value) < 0 ? NGX_DECLINED : NGX_OK;
}


static const ngx_http_submission_arg_t  ngx_http_submission_feed_args[] = {

    { "after", ngx_http_submission_feed_after_arg,
      offsetof(ngx_http_submission_feed_row_t, page),
      "the \"next\" of an earlier answer" },

    { "limit", ngx_http_submission_arg_limit,
      offsetof(ngx_http_submission_feed_row_t, page.limit),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_LIMIT },

    { "kind", ngx_http_submission_feed_kind_arg,
      offsetof(ngx_http_submission_feed_row_t, page.kind),
      "the kind of an event, such as \"leader_acquired\"" },

    { "target", ngx_http_submission_arg_any_target,
      offsetof(ngx_http_submission_feed_row_t, page.target),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_TARGET },

    { NULL, NULL, 0, NULL }
};


/* "asOf" is until when the events of other instances are known. */

static void
ngx_http_submission_feed_age(ngx_http_submission_view_t *view, sm_out_t *out,
    int64_t heard)
{
    int64_t  age;

    if (heard == 0) {
        sm_out_c(out, ",\"asOf\":null,\"ageSeconds\":null");
        return;
    }

    age = ngx_max((view->board->now - heard) / 1000000, 0);

    ngx_http_submission_view_tag(view, out);
    sm_out_c(out, ",\"asOf\":");
    sm_json_out_time(out, heard);
    sm_out_c(out, ",\"ageSeconds\":");
    sm_out_int(out, age);
    ngx_http_submission_view_untagged(view, out,
                                      age / NGX_HTTP_SUBMISSION_FEED_STEP);
}


static void
ngx_http_submission_feed_out(ngx_http_submission_view_t *view, sm_out_t *out)
{
    size_t                           i;
    ngx_http_submission_ctx_t       *ctx;
    ngx_http_submission_feed_row_t  *row;

    ctx = ngx_http_get_module_ctx(view->request, ngx_http_submission_module);
    row = ctx->row;

    sm_out_c(out, "{");
    ngx_http_submission_view_now(view, out);
    ngx_http_submission_feed_age(view, out, row->heard);
    sm_out_c(out, ",\"events\":[");

    for (i = row->page.n; i; i--) {
        if (i < row->page.n) {
            sm_out_c(out, ",");
        }

        sm_feed_event_out(out, &row->events[i - 1]);
    }

    sm_out_c(out, "],\"next\":\"");
    sm_feed_cursor_out(out, &row->page.cursor);
    sm_out_c(out, row->page.more ? "\",\"more\":true" : "\",\"more\":false");
    sm_out_c(out, ",\"missed\":");
    sm_out_int(out, (int64_t) row->page.missed);
    sm_out_c(out, "}\n");
}


static ngx_int_t
ngx_http_submission_feed_handler(ngx_http_request_t *r)
{
    void                            *buf;
    size_t                           n;
    ngx_http_submission_ctx_t       *ctx;
    ngx_http_submission_view_t      *view;
    ngx_http_submission_feed_row_t  *row;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    row = ctx->row;

    view = ngx_http_submission_view_init(r, ngx_http_submission_feed_out);
    if (view == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    buf = ngx_palloc(view->pool,
                     ngx_http_submission_events_size(ctx->manager->conf) + 1);
    if (buf == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    n = ngx_http_submission_events(ctx->manager->conf, buf, &row->events,
                                   &row->heard);

    sm_feed_page(&row->page, row->events, n);

    return ngx_http_submission_view_send(view);
}


const ngx_http_submission_input_t  ngx_http_submission_feed_input = {
    .args = ngx_http_submission_feed_args,
    .row_size = sizeof(ngx_http_submission_feed_row_t),
    .init = ngx_http_submission_feed_init,
    .handler = ngx_http_submission_feed_handler
};
