
/*
 * Answers from the zone: nothing here asks the store, however many look.
 *
 * The ETag is a hash of the answer without what changes by itself, such as the
 * time.  The age of the numbers is told in steps there, so that whoever polls
 * hears when the leader has fallen silent, and nothing while it has not.
 */

#include "ngx_http_submission_view.h"


#define NGX_HTTP_SUBMISSION_VIEW_FRESH  15          /* seconds */
#define NGX_HTTP_SUBMISSION_VIEW_STEP   5

#define NGX_HTTP_SUBMISSION_VIEW_ETAG   (sizeof("W/\"\"") + 2 * 8)


ngx_http_submission_view_t *
ngx_http_submission_view_init(ngx_http_request_t *r,
    void (*out)(ngx_http_submission_view_t *view, sm_out_t *out))
{
    ngx_http_submission_ctx_t   *ctx;
    ngx_http_submission_view_t  *view;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    view = ngx_pcalloc(r->pool, sizeof(ngx_http_submission_view_t));
    if (view == NULL) {
        return NULL;
    }

    view->request = r;
    view->manager = ctx->manager;
    view->out = out;
    view->board = ngx_http_submission_board_read(r->pool, ctx->manager->conf);

    return view->board ? view : NULL;
}


/* whether one of the tags that the client has is this one, weakly compared */

static ngx_uint_t
ngx_http_submission_view_has(ngx_http_request_t *r, u_char *etag)
{
    ngx_str_t  *value;

    if (r->headers_in.if_none_match == NULL) {
        return 0;
    }

    value = &r->headers_in.if_none_match->value;

    if (value->len == 1 && value->data[0] == '*') {
        return 1;
    }

    /* without its "W/" */

    return ngx_strnstr(value->data, (char *) etag + 2, value->len) != NULL;
}


static ngx_int_t
ngx_http_submission_view_not_modified(ngx_http_request_t *r)
{
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    ctx->answered = 1;

    r->disable_not_modified = 1;
    r->header_only = 1;
    r->headers_out.status = NGX_HTTP_NOT_MODIFIED;
    r->headers_out.content_length_n = -1;

    return ngx_http_send_header(r);
}


ngx_int_t
ngx_http_submission_view_send(ngx_http_submission_view_t *view, size_t size)
{
    size_t               len;
    u_char              *etag, *p;
    sm_out_t             out;
    ngx_http_request_t  *r;

    r = view->request;

    etag = ngx_pcalloc(r->pool, NGX_HTTP_SUBMISSION_VIEW_ETAG);

    if (etag == NULL
        || ngx_http_submission_reply_out(r, &out, size) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    view->stable = 1;
    view->out(view, &out);

    len = out.last - out.start;
    p = (u_char *) out.start;

    (void) ngx_sprintf(etag, "W/\"%08xD%08xD\"", ngx_murmur_hash2(p, len),
                       ngx_crc32_long(p, len));

    if (ngx_http_submission_reply_header(r, "ETag", (char *) etag) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!out.full && ngx_http_submission_view_has(r, etag)) {
        return ngx_http_submission_view_not_modified(r);
    }

    sm_out_init(&out, out.start, size);

    view->stable = 0;
    view->out(view, &out);

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


void
ngx_http_submission_view_age(ngx_http_submission_view_t *view, sm_out_t *out)
{
    int64_t                       age;
    ngx_http_submission_board_t  *board;

    board = view->board;

    sm_out_c(out, "\"statsAgeSeconds\":");

    if (board->stats == NULL) {
        sm_out_c(out, "null,");
        return;
    }

    age = (board->now - board->stats->at) / 1000000;
    age = ngx_max(age, 0);

    if (view->stable) {
        age = age < NGX_HTTP_SUBMISSION_VIEW_FRESH
              ? 0 : age / NGX_HTTP_SUBMISSION_VIEW_STEP;
    }

    sm_out_int(out, age);
    sm_out_c(out, ",");
}


void
ngx_http_submission_view_head(ngx_http_submission_view_t *view, sm_out_t *out)
{
    if (!view->stable) {
        sm_out_c(out, "\"now\":");
        sm_json_out_time(out, view->board->now);
        sm_out_c(out, ",");
    }

    ngx_http_submission_view_age(view, out);

    sm_out_c(out, "\"leader\":");

    if (view->board->leader.data) {
        sm_json_out_str(out, view->board->leader);

    } else {
        sm_out_c(out, "null");
    }

    sm_out_c(out, ",");
}


void
ngx_http_submission_view_decimal(sm_out_t *out, int64_t n, int64_t unit)
{
    sm_out_int(out, n / unit);

    n %= unit;

    if (n) {
        sm_out_c(out, ".");
    }

    while (n) {
        unit /= 10;
        sm_out_int(out, n / unit);
        n %= unit;
    }
}


int64_t
ngx_http_submission_view_rate(int64_t n, int64_t span)
{
    return span > 0 ? n * 1000000 / span : 0;
}
