
/*
 * Whether a request that changes something comes from a page of this very
 * origin: a page of another one may send requests too, with the credentials
 * that the browser has for us.
 *
 * A browser says where a request comes from in "Sec-Fetch-Site", and where it
 * does not, as it does over plain HTTP, in "Origin".  The scheme is not
 * compared: TLS often ends before nginx.  A body of JSON is something that no
 * form can send.
 */

#include "ngx_http_submission_intake.h"


static ngx_str_t *
ngx_http_submission_origin_header(ngx_http_request_t *r, const char *name)
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
                return &h[i].value;
            }
        }
    }

    return NULL;
}


static ngx_uint_t
ngx_http_submission_origin_same(ngx_http_request_t *r)
{
    size_t      scheme;
    ngx_str_t  *site, *origin, *host;

    site = ngx_http_submission_origin_header(r, "Sec-Fetch-Site");

    if (site) {
        return site->len == sizeof("same-origin") - 1
               && ngx_strncmp(site->data, "same-origin", site->len) == 0;
    }

    origin = ngx_http_submission_origin_header(r, "Origin");

    if (origin == NULL || r->headers_in.host == NULL) {
        return 0;
    }

    host = &r->headers_in.host->value;

    scheme = ngx_strncmp(origin->data, "https://", 8) == 0 ? 8
             : ngx_strncmp(origin->data, "http://", 7) == 0 ? 7 : 0;

    return scheme
           && origin->len == scheme + host->len
           && ngx_strncasecmp(origin->data + scheme, host->data, host->len)
              == 0;
}


static ngx_uint_t
ngx_http_submission_origin_json(ngx_http_request_t *r)
{
    size_t      len;
    ngx_str_t  *type;

    len = sizeof("application/json") - 1;

    if (r->headers_in.content_type == NULL
        || (r->headers_in.content_length_n <= 0 && !r->headers_in.chunked))
    {
        return 0;
    }

    type = &r->headers_in.content_type->value;

    return type->len >= len
           && ngx_strncasecmp(type->data, (u_char *) "application/json", len)
              == 0
           && (type->len == len || type->data[len] == ';'
               || type->data[len] == ' ');
}


ngx_int_t
ngx_http_submission_origin(ngx_http_submission_ctx_t *ctx)
{
    const char                      *message, *reason;
    ngx_http_request_t              *r;
    ngx_http_submission_loc_conf_t  *slcf;

    r = ctx->request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    if (slcf->console_prefix.len == 0
        || r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))
    {
        return NGX_DECLINED;
    }

    if (!ngx_http_submission_origin_same(r)) {
        reason = "origin";
        message = "at the console this needs \"Sec-Fetch-Site: same-origin\" "
                  "or an \"Origin\" of this host; programs use "
                  "\"submission_api\"";

    } else if (!ngx_http_submission_origin_json(r)) {
        reason = "body";
        message = "at the console this needs a body of \"application/json\"";

    } else {
        return NGX_DECLINED;
    }

    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                  "submission: forbidden reason=%s", reason);

    return ngx_http_submission_reply_error(r, NGX_HTTP_FORBIDDEN, "forbidden",
                                           message, NULL);
}
