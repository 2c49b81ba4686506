
/* Answers of the API.  Every body is JSON. */

#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_submit.h"


#define NGX_HTTP_SUBMISSION_REPLY_RETRY_SOON   "1"     /* seconds */
#define NGX_HTTP_SUBMISSION_REPLY_RETRY_LATER  "5"


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


void
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


ngx_buf_t *
ngx_http_submission_reply_buf(ngx_http_request_t *r, const sm_out_t *out)
{
    ngx_buf_t  *b;

    b = ngx_calloc_buf(r->pool);

    if (b == NULL || out->full
        || ngx_http_submission_unread(r->pool, out->end - out->start)
           != NGX_OK)
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
     * An answer has no validator, and a request that was carried out cannot be
     * answered 304 or 412.
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
ngx_http_submission_reply_already(ngx_http_request_t *r,
    const sm_intent_t *intent)
{
    sm_out_t  out;

    ngx_http_submission_out(&out, r->pool);

    ngx_http_submission_reply_error_out(&out, "already_replayed",
        "the intent was replayed before: \"again\":true and an \"intentId\" "
        "replay it once more, "
        "and its gateway may act twice");

    sm_out_c(&out, "\"replayedAs\":");
    sm_out_lines(&out, intent->replayed_as);
    sm_out_c(&out, ",\"replayedCount\":");
    sm_out_int(&out, intent->replay_count);
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
 * so many seconds.  Those that have to do with the load are counted, and so are
 * the intents that were not taken.
 */

static ngx_int_t
ngx_http_submission_reply_later(ngx_http_request_t *r, const char *seconds,
    ngx_uint_t overloaded)
{
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    if (overloaded) {
        ngx_http_submission_count(ctx->manager,
                                  NGX_HTTP_SUBMISSION_CNT_OVERLOADS, 1);
    }

    if (ctx->op == &ngx_http_submission_ops[
                                       NGX_HTTP_SUBMISSION_OP_INTENTS_SUBMIT])
    {
        ngx_http_submission_count(ctx->manager,
                                  NGX_HTTP_SUBMISSION_CNT_NOT_TAKEN,
                                  ctx->bulk
                                  ? ngx_http_submission_bulk_left(ctx->bulk)
                                  : 1);
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
ngx_http_submission_reply_not_yet(ngx_http_request_t *r, const char *code,
    const char *message, const char *field)
{
    if (ngx_http_submission_reply_later(r,
                                        NGX_HTTP_SUBMISSION_REPLY_RETRY_SOON,
                                        0)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_submission_reply_error(r, NGX_HTTP_SERVICE_UNAVAILABLE,
                                           code, message, field);
}


ngx_int_t
ngx_http_submission_reply_unread(ngx_http_request_t *r)
{
    if (!ngx_http_submission_unread_full(r->connection->log)) {
        return NGX_DECLINED;
    }

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
