
/*
 * Answers of the API.  Every body is JSON.  For nginx's own errors a filter
 * replaces the page that nginx would send.
 *
 * An answer stays in memory until the client has read it, or send_timeout is
 * over.  A client of HTTP/2 may ask for many answers on one connection and read
 * none of them.  So a worker counts the bytes of its answers, and beyond a
 * bound it makes no large ones: they are refused until others have been read.
 */

#include "ngx_http_submission_reply.h"


#define NGX_HTTP_SUBMISSION_REPLY_RETRY_SOON   "1"     /* seconds */
#define NGX_HTTP_SUBMISSION_REPLY_RETRY_LATER  "5"

/* of a worker; smaller answers cost no more than their request, not counted */

#define NGX_HTTP_SUBMISSION_REPLY_BYTES  (32 * 1024 * 1024)
#define NGX_HTTP_SUBMISSION_REPLY_SMALL  4096

#define NGX_HTTP_SUBMISSION_REPLY_JSON   "application/json"
#define NGX_HTTP_SUBMISSION_REPLY_LINES  "application/x-ndjson"


typedef struct {
    ngx_uint_t   status;
    const char  *code;
    const char  *message;
} ngx_http_submission_page_t;


static ngx_int_t ngx_http_submission_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_submission_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);


static size_t  ngx_http_submission_reply_bytes;

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
ngx_http_submission_reply_init(ngx_conf_t *cf)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_submission_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_submission_body_filter;

    return NGX_OK;
}


/* for what was answered outside of the request's own events */

void
ngx_http_submission_finalize(ngx_http_request_t *r, ngx_int_t rc)
{
    ngx_connection_t  *c;

    c = r->connection;

    ngx_http_finalize_request(r, rc);
    ngx_http_run_posted_requests(c);
}


ngx_int_t
ngx_http_submission_reply_header(ngx_http_request_t *r, char *key,
    const char *value)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->hash = 1;
    h->key.data = (u_char *) key;
    h->key.len = ngx_strlen(key);
    h->value.data = (u_char *) value;
    h->value.len = ngx_strlen(value);

    return NGX_OK;
}


static void
ngx_http_submission_reply_headers(ngx_http_request_t *r, size_t len,
    const char *type)
{
    r->headers_out.content_type.data = (u_char *) type;
    r->headers_out.content_type.len = ngx_strlen(type);
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->headers_out.content_type_lowcase = NULL;
    ngx_str_null(&r->headers_out.charset);

    ngx_http_clear_content_length(r);
    r->headers_out.content_length_n = len;
}


static void
ngx_http_submission_reply_cleanup(void *data)
{
    size_t  *size = data;

    ngx_http_submission_reply_bytes -= *size;
}


/* counts the memory of an answer until the request's pool is destroyed */

static ngx_int_t
ngx_http_submission_reply_hold(ngx_http_request_t *r, const sm_out_t *out)
{
    size_t               size;
    ngx_pool_cleanup_t  *cln;

    size = out->end - out->start;

    if (size < NGX_HTTP_SUBMISSION_REPLY_SMALL) {
        return NGX_OK;
    }

    cln = ngx_pool_cleanup_add(r->pool, sizeof(size_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_reply_cleanup;
    *(size_t *) cln->data = size;

    ngx_http_submission_reply_bytes += size;

    return NGX_OK;
}


/* a buffer of what was written into the request's pool; NULL: no memory */

static ngx_buf_t *
ngx_http_submission_reply_buf(ngx_http_request_t *r, const sm_out_t *out)
{
    ngx_buf_t  *b;

    b = ngx_calloc_buf(r->pool);

    if (b == NULL || out->full
        || ngx_http_submission_reply_hold(r, out) != NGX_OK)
    {
        return NULL;
    }

    b->pos = (u_char *) out->start;
    b->last = (u_char *) out->last;
    b->memory = 1;
    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    return b;
}


ngx_int_t
ngx_http_submission_reply_send(ngx_http_request_t *r, ngx_uint_t status,
    sm_out_t *out)
{
    ngx_int_t                   rc;
    ngx_buf_t                  *b;
    ngx_chain_t                 chain;
    ngx_http_submission_ctx_t  *ctx;

    b = ngx_http_submission_reply_buf(r, out);
    if (b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    ctx->answered = 1;

    r->connection->log->action = "sending an answer to client";

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: reply %ui, %uz bytes", status,
                   (size_t) (out->last - out->start));

    /*
     * answers have no validator, and a request that was carried out cannot be
     * answered 304 or 412
     */

    r->disable_not_modified = 1;

    r->headers_out.status = status;
    ngx_http_submission_reply_headers(r, out->last - out->start,
                                      ctx->lines
                                      ? NGX_HTTP_SUBMISSION_REPLY_LINES
                                      : NGX_HTTP_SUBMISSION_REPLY_JSON);

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    chain.buf = b;
    chain.next = NULL;

    return ngx_http_output_filter(r, &chain);
}


void
ngx_http_submission_reply_error_out(sm_out_t *out, const char *code,
    const char *message)
{
    sm_out_c(out, "{");
    ngx_http_submission_reply_error_key(out, code, message);
}


/* the same, among other keys of an object */

void
ngx_http_submission_reply_error_key(sm_out_t *out, const char *code,
    const char *message)
{
    sm_out_c(out, "\"error\":{\"code\":\"");
    sm_out_c(out, code);
    sm_out_c(out, "\",\"message\":");
    sm_json_out_str(out, sm_str_c(message));
    sm_out_c(out, ",\"details\":{");
}


static ngx_int_t
ngx_http_submission_send_error(ngx_http_request_t *r, ngx_uint_t status,
    const char *code, const char *message, const char *field)
{
    sm_out_t  out;

    ngx_http_submission_out(&out, r->pool);

    ngx_http_submission_reply_error_out(&out, code, message);

    if (field) {
        sm_out_c(&out, "\"field\":");
        sm_json_out_str(&out, sm_str_c(field));
    }

    sm_out_c(&out, "}}}\n");

    return ngx_http_submission_reply_send(r, status, &out);
}


/* "field": a name of ours, or NULL */

ngx_int_t
ngx_http_submission_reply_error(ngx_http_request_t *r, ngx_uint_t status,
    const char *code, const char *message, const char *field)
{
    ngx_int_t  rc;

    /* what is left of the body must not be taken for the next request */

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_http_submission_send_error(r, status, code, message, field);
}


/* what is wrong with a body */

ngx_int_t
ngx_http_submission_reply_invalid(ngx_http_request_t *r,
    const sm_json_error_t *err)
{
    return err->no_memory
           ? NGX_HTTP_INTERNAL_SERVER_ERROR
           : ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                             err->code ? err->code
                                                       : "invalid_request",
                                             err->message, err->key);
}


ngx_int_t
ngx_http_submission_reply_not_found(ngx_http_request_t *r)
{
    return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_FOUND, "not_found",
                                           "there is no such intent", NULL);
}


/* 409: the intent is not in a state for that */

ngx_int_t
ngx_http_submission_reply_status(ngx_http_request_t *r, const char *code,
    const char *message, sm_status_e status)
{
    sm_out_t  out;

    ngx_http_submission_out(&out, r->pool);

    ngx_http_submission_reply_error_out(&out, code, message);

    sm_out_c(&out, "\"status\":");
    sm_json_out_str(&out, sm_status_name(status));
    sm_out_c(&out, "}}}\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_CONFLICT, &out);
}


ngx_int_t
ngx_http_submission_reply_method(ngx_http_request_t *r, const char *allow)
{
    char  message[64];

    if (ngx_http_submission_reply_header(r, "Allow", allow) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) snprintf(message, sizeof(message), "the method must be one of %s",
                    allow);

    return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_ALLOWED,
                                           "method_not_allowed", message,
                                           NULL);
}


const char *
ngx_http_submission_reply_unavailable_text(ngx_uint_t overloaded)
{
    return overloaded ? "too many requests wait for the store"
                      : "the store did not complete the request";
}


/*
 * A refusal that has nothing to do with the request: it may be made again after
 * so many seconds.  Those that have to do with the load are counted.
 */

static ngx_int_t
ngx_http_submission_reply_later(ngx_http_request_t *r, const char *seconds,
    ngx_uint_t overloaded)
{
    ngx_http_submission_ctx_t  *ctx;

    if (overloaded) {
        ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

        ngx_http_submission_count(ctx->manager,
                                  NGX_HTTP_SUBMISSION_CNT_OVERLOADS, 1);
    }

    return ngx_http_submission_reply_header(r, "Retry-After", seconds);
}


ngx_int_t
ngx_http_submission_reply_unavailable(ngx_http_request_t *r,
    ngx_uint_t overloaded)
{
    if (ngx_http_submission_reply_later(r,
                                       overloaded
                                       ? NGX_HTTP_SUBMISSION_REPLY_RETRY_SOON
                                       : NGX_HTTP_SUBMISSION_REPLY_RETRY_LATER,
                                        overloaded)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_submission_reply_error(r, NGX_HTTP_SERVICE_UNAVAILABLE,
               "store_unavailable",
               ngx_http_submission_reply_unavailable_text(overloaded), NULL);
}


ngx_int_t
ngx_http_submission_reply_unread(ngx_http_request_t *r)
{
    if (ngx_http_submission_reply_bytes < NGX_HTTP_SUBMISSION_REPLY_BYTES) {
        return NGX_DECLINED;
    }

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: %uz bytes of answers are unread",
                   ngx_http_submission_reply_bytes);

    if (ngx_http_submission_reply_later(r,
                                        NGX_HTTP_SUBMISSION_REPLY_RETRY_SOON,
                                        1)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_submission_reply_error(r, NGX_HTTP_SERVICE_UNAVAILABLE,
               "answers_unread", "answers that clients have not read yet fill "
               "the memory that this server has for them", NULL);
}


/*
 * The worker is short of connections, so it does not wait for the body.  The
 * connection is closed after the answer; until the client has noticed, nginx
 * may reuse it for somebody else.
 */

ngx_int_t
ngx_http_submission_reply_overloaded(ngx_http_request_t *r)
{
    if (ngx_http_submission_reply_later(r,
                                        NGX_HTTP_SUBMISSION_REPLY_RETRY_SOON,
                                        1)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    r->keepalive = 0;
    r->lingering_close = 1;

    return ngx_http_submission_send_error(r, NGX_HTTP_SERVICE_UNAVAILABLE,
               "overloaded", "this server has no connection left to wait for "
               "the body with", NULL);
}


ngx_int_t
ngx_http_submission_reply_replayed(ngx_http_request_t *r)
{
    return ngx_http_submission_reply_header(r, "Idempotent-Replayed", "true");
}


ngx_int_t
ngx_http_submission_reply_intent(ngx_http_request_t *r,
    const sm_intent_t *intent, ngx_uint_t replayed)
{
    sm_out_t  out;

    if (replayed && ngx_http_submission_reply_replayed(r) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_submission_out(&out, r->pool);

    sm_intent_out(&out, intent);
    sm_out_c(&out, "\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
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
 * Whatever is said here may be about somebody's money: no browser and no proxy
 * keeps it, or takes it for anything but what it is.  That goes for answers of
 * nginx itself, too, but not for the console's files, which have a tag.
 */

static ngx_int_t
ngx_http_submission_reply_private(ngx_http_request_t *r,
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


/* what was said of the page that is replaced */

static void
ngx_http_submission_reply_clear(ngx_http_request_t *r)
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

    if (ngx_http_submission_reply_private(r, slcf) != NGX_OK) {
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

    ngx_http_submission_reply_clear(r);
    ngx_http_submission_reply_headers(r, out.last - out.start,
                                      NGX_HTTP_SUBMISSION_REPLY_JSON);

    return ngx_http_next_header_filter(r);
}


/*
 * nginx's own page is one chain.  That of another handler, such as "proxy_pass"
 * of an "if", comes in many, and none of it may follow the answer.
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
