
/*
 * Answers in plain text: of /readyz and of /metrics.
 */

#include "ngx_http_submission_text.h"


ngx_int_t
ngx_http_submission_text_asked(ngx_http_request_t *r)
{
    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    return ngx_http_discard_request_body(r);
}


ngx_int_t
ngx_http_submission_text_send(ngx_http_request_t *r, ngx_uint_t status,
    const char *type, u_char *start, u_char *last)
{
    ngx_int_t     rc;
    ngx_buf_t    *b;
    ngx_chain_t   out;

    b = ngx_calloc_buf(r->pool);

    if (b == NULL
        || ngx_http_submission_unread(r->pool, last - start) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b->pos = start;
    b->last = last;
    b->memory = 1;
    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    r->disable_not_modified = 1;
    r->headers_out.status = status;
    r->headers_out.content_length_n = last - start;

    /* filters look for the type alone, without its parameters */

    r->headers_out.content_type.data = (u_char *) type;
    r->headers_out.content_type.len = ngx_strlen(type);
    r->headers_out.content_type_len = sizeof("text/plain") - 1;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}
