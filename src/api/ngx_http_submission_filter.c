
/*
 * The filters of the API's locations.  What nginx or another handler answers
 * there with an error becomes JSON, too.
 */

#include "ngx_http_submission_reply.h"


typedef struct {
    ngx_uint_t   status;
    const char  *code;
    const char  *message;
} ngx_http_submission_page_t;


static ngx_int_t ngx_http_submission_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_submission_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;
static ngx_http_output_body_filter_pt    ngx_http_next_body_filter;


static ngx_http_submission_page_t  ngx_http_submission_pages[] = {

    { NGX_HTTP_UNAUTHORIZED, "unauthorized",
      "credentials are required" },

    { NGX_HTTP_FORBIDDEN, "forbidden",
      "access is denied" },

    { NGX_HTTP_NOT_FOUND, "not_found",
      "there is nothing at this path" },

    { NGX_HTTP_NOT_ALLOWED, "method_not_allowed",
      "the method is none of those that are allowed here" },

    { NGX_HTTP_REQUEST_TIME_OUT, "request_timeout",
      "the request did not arrive in time" },

    { NGX_HTTP_REQUEST_ENTITY_TOO_LARGE, "payload_too_large",
      "the body is larger than this server takes" },

    { NGX_HTTP_TOO_MANY_REQUESTS, "too_many_requests",
      "there are too many requests" },

    { NGX_HTTP_SERVICE_UNAVAILABLE, "service_unavailable",
      "the service is unavailable" },

    { 0, NULL, NULL }
};


ngx_int_t
ngx_http_submission_filter_init(ngx_conf_t *cf)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_submission_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_submission_body_filter;

    return NGX_OK;
}


static ngx_http_submission_page_t *
ngx_http_submission_page(ngx_uint_t status)
{
    static ngx_http_submission_page_t  client = {
        0, "invalid_request", "the request is not valid"
    };

    static ngx_http_submission_page_t  server = {
        0, "internal_error", "the server failed"
    };

    ngx_http_submission_page_t  *page;

    for (page = ngx_http_submission_pages; page->status; page++) {
        if (page->status == status) {
            return page;
        }
    }

    return status < NGX_HTTP_INTERNAL_SERVER_ERROR ? &client : &server;
}


/*
 * An answer may be about somebody's money: no browser and no proxy may keep it,
 * or take it for another type.  That goes for answers of nginx itself, too, but
 * not for the console's files, which have a tag.
 */

static ngx_int_t
ngx_http_submission_filter_private(ngx_http_request_t *r,
    ngx_http_submission_loc_conf_t *slcf)
{
    if (ngx_http_submission_reply_header(r, "X-Content-Type-Options",
                                         "nosniff")
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (slcf->console_prefix.len
        && r->headers_out.status < NGX_HTTP_BAD_REQUEST
        && ngx_http_get_module_ctx(r, ngx_http_submission_module) == NULL)
    {
        return NGX_OK;
    }

    return ngx_http_submission_reply_header(r, "Cache-Control", "no-store");
}


/* Takes back the headers of the page that is replaced. */

static void
ngx_http_submission_filter_clear(ngx_http_request_t *r)
{
    if (r->headers_out.content_encoding) {
        r->headers_out.content_encoding->hash = 0;
        r->headers_out.content_encoding = NULL;
    }

    ngx_http_clear_accept_ranges(r);
    ngx_http_clear_last_modified(r);
    ngx_http_clear_etag(r);
}


static ngx_int_t
ngx_http_submission_header_filter(ngx_http_request_t *r)
{
    sm_out_t                         out;
    ngx_http_submission_ctx_t       *ctx;
    ngx_http_submission_page_t      *page;
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    if (slcf->api == NULL || r != r->main) {
        return ngx_http_next_header_filter(r);
    }

    if (ngx_http_submission_filter_private(r, slcf) != NGX_OK) {
        return NGX_ERROR;
    }

    if (r->headers_out.status < NGX_HTTP_BAD_REQUEST) {
        return ngx_http_next_header_filter(r);
    }

    ctx = ngx_http_submission_api_ctx(r);
    if (ctx == NULL) {
        return NGX_ERROR;
    }

    if (ctx->answered) {
        return ngx_http_next_header_filter(r);
    }

    page = ngx_http_submission_page(r->headers_out.status);

    ngx_http_submission_out(&out, r->pool);

    ngx_http_submission_reply_error_out(&out, page->code, page->message);
    sm_out_c(&out, "}}}\n");

    ctx->instead = ngx_http_submission_reply_buf(r, &out);
    if (ctx->instead == NULL) {
        return NGX_ERROR;
    }

    ctx->replaced = 1;

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: filter replaces the page of %ui by \"%s\"",
                   r->headers_out.status, page->code);

    ngx_http_submission_filter_clear(r);
    ngx_http_submission_reply_headers(r, out.last - out.start,
                                      NGX_HTTP_SUBMISSION_REPLY_JSON);

    return ngx_http_next_header_filter(r);
}


/*
 * nginx's own page is one chain.  A page of another handler, such as
 * "proxy_pass" of an "if", comes in many, and none may follow the answer.
 */

static ngx_int_t
ngx_http_submission_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_chain_t                 out, *cl;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    if (ctx == NULL || !ctx->replaced || in == NULL) {
        return ngx_http_next_body_filter(r, in);
    }

    for (cl = in; cl; cl = cl->next) {
        cl->buf->pos = cl->buf->last;
        cl->buf->file_pos = cl->buf->file_last;
    }

    if (ctx->instead == NULL) {
        return NGX_OK;
    }

    out.buf = ctx->instead;
    out.next = NULL;

    ctx->instead = NULL;

    return ngx_http_next_body_filter(r, &out);
}
