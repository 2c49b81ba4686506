
/*
 * Where a request comes from, for the API and for the console alike.
 *
 * A page of another site can send requests, too, with the credentials that the
 * browser has for us, or from within a network that nothing else protects.  A
 * browser says so in "Sec-Fetch-Site", or, as over plain HTTP, in "Origin".
 * The scheme is not compared, because TLS often ends before nginx.  A program
 * sends neither header.  A request that changes something through the console
 * must come from its own page, with a body of JSON, which no form can send.
 *
 * An origin that equals the host proves nothing if the host's name belongs to
 * an attacker whose name server gives our address for it.  So the host must be
 * one of this server's names.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"

#include "sm_host.h"


#define NGX_HTTP_SUBMISSION_ORIGIN_MESSAGE  384

/* Messages show so many characters of a header. */

#define NGX_HTTP_SUBMISSION_ORIGIN_SHOWN    64


typedef struct {
    sm_str_t      pattern;
#if (NGX_PCRE)
    ngx_regex_t  *regex;
#endif
} ngx_http_submission_host_t;


typedef enum {
    NGX_HTTP_SUBMISSION_ORIGIN_SILENT = 0,         /* a program */
    NGX_HTTP_SUBMISSION_ORIGIN_SAME,
    NGX_HTTP_SUBMISSION_ORIGIN_USER,               /* no page took part */
    NGX_HTTP_SUBMISSION_ORIGIN_CROSS
} ngx_http_submission_origin_e;


/* hosts=<name>[,<name>...] */

ngx_int_t
ngx_http_submission_origin_hosts(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *value)
{
    u_char                      *p, *last, *comma;
    ngx_http_submission_host_t  *host;

    slcf->hosts = ngx_array_create(cf->pool, 4,
                                   sizeof(ngx_http_submission_host_t));
    if (slcf->hosts == NULL) {
        return NGX_ERROR;
    }

    ngx_strlow(value->data, value->data, value->len);

    last = value->data + value->len;

    for (p = value->data; p <= last; p = comma + 1) {

        comma = ngx_strlchr(p, last, ',');
        comma = comma ? comma : last;

        host = ngx_array_push(slcf->hosts);
        if (host == NULL) {
            return NGX_ERROR;
        }

        ngx_memzero(host, sizeof(ngx_http_submission_host_t));

        host->pattern.data = (char *) p;
        host->pattern.len = comma - p;

        if (sm_host_check(host->pattern)) {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


/* Copies the names of "server_name", because nginx does not keep them. */

ngx_int_t
ngx_http_submission_origin_names(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf)
{
    ngx_uint_t                   i;
    ngx_http_server_name_t      *name;
    ngx_http_core_srv_conf_t    *cscf;
    ngx_http_submission_host_t  *host;

    slcf->host_checked = slcf->hosts || slcf->console_prefix.len
                         || slcf->access == NGX_HTTP_SUBMISSION_ACCESS_OPERATE;

    if (slcf->hosts) {
        return NGX_OK;
    }

    cscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);
    name = cscf->server_names.elts;

    slcf->hosts = ngx_array_create(cf->pool, cscf->server_names.nelts + 1,
                                   sizeof(ngx_http_submission_host_t));
    if (slcf->hosts == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < cscf->server_names.nelts; i++) {
        host = ngx_array_push(slcf->hosts);    /* there is room */

        ngx_memzero(host, sizeof(ngx_http_submission_host_t));

        host->pattern = ngx_http_submission_str(&name[i].name);

#if (NGX_PCRE)
        if (name[i].regex) {
            host->regex = name[i].regex->regex;
        }
#endif
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_http_submission_origin_matches(ngx_http_submission_host_t *host,
    ngx_str_t *name)
{
#if (NGX_PCRE)
    if (host->regex) {
        return ngx_regex_exec(host->regex, name, NULL, 0) >= 0;
    }
#endif

    return sm_host_matches(host->pattern,
                           ngx_http_submission_str(name));
}


/* A browser always sends a host, so a request without one is let through. */

static ngx_uint_t
ngx_http_submission_origin_ours(ngx_http_request_t *r,
    ngx_http_submission_loc_conf_t *slcf)
{
    ngx_str_t                   *name;
    ngx_uint_t                   i;
    ngx_http_submission_host_t  *host;

    name = &r->headers_in.server;

    if (name->len == 0
        || sm_host_is_fixed(ngx_http_submission_str(name)))
    {
        return 1;
    }

    host = slcf->hosts->elts;

    for (i = 0; i < slcf->hosts->nelts; i++) {
        if (ngx_http_submission_origin_matches(&host[i], name)) {
            return 1;
        }
    }

    return 0;
}


/* Finds what the request says of its origin; "header" says it, or is NULL. */

static ngx_http_submission_origin_e
ngx_http_submission_origin_claim(ngx_http_request_t *r,
    ngx_table_elt_t **header)
{
    sm_str_t          value;
    ngx_table_elt_t  *h;

    h = ngx_http_submission_api_header(r, "Sec-Fetch-Site");
    *header = h;

    if (h) {
        value = ngx_http_submission_str(&h->value);

        return sm_str_eq(value, sm_str_c("same-origin"))
               ? NGX_HTTP_SUBMISSION_ORIGIN_SAME
               : sm_str_eq(value, sm_str_c("none"))
               ? NGX_HTTP_SUBMISSION_ORIGIN_USER
               : NGX_HTTP_SUBMISSION_ORIGIN_CROSS;
    }

    h = ngx_http_submission_api_header(r, "Origin");
    *header = h;

    if (h == NULL) {
        return NGX_HTTP_SUBMISSION_ORIGIN_SILENT;
    }

    return r->headers_in.host
           && sm_host_is_origin(
                  ngx_http_submission_str(&r->headers_in.host->value),
                  ngx_http_submission_str(&h->value))
           ? NGX_HTTP_SUBMISSION_ORIGIN_SAME
           : NGX_HTTP_SUBMISSION_ORIGIN_CROSS;
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


static ngx_int_t
ngx_http_submission_origin_refuse(ngx_http_request_t *r, ngx_uint_t status,
    const char *code, const char *reason, const char *message)
{
    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                  "submission: forbidden reason=%s: %s", reason, message);

    return ngx_http_submission_reply_error(r, status, code, message, NULL);
}


static ngx_int_t
ngx_http_submission_origin_misdirected(ngx_http_request_t *r,
    ngx_http_submission_loc_conf_t *slcf)
{
    char      message[NGX_HTTP_SUBMISSION_ORIGIN_MESSAGE];
    sm_out_t  out;

    if (ngx_http_submission_api_ctx(r) == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sm_out_init(&out, message, sizeof(message) - 1);

    sm_out_c(&out, "the host \"");
    sm_out_clean(&out, ngx_http_submission_str(&r->headers_in.server),
                 NGX_HTTP_SUBMISSION_ORIGIN_SHOWN);
    sm_out_c(&out, "\" is not one of this server: \"server_name\", or "
                   "\"hosts=\" of \"");
    sm_out_c(&out, slcf->console_prefix.len ? "submission_console"
                                            : "submission_api");
    sm_out_c(&out, "\", names those that are");

    *out.last = '\0';

    return ngx_http_submission_origin_refuse(r, NGX_HTTP_MISDIRECTED_REQUEST,
                                             "unknown_host", "host", message);
}


ngx_int_t
ngx_http_submission_origin_host(ngx_http_request_t *r)
{
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    return !slcf->host_checked || ngx_http_submission_origin_ours(r, slcf)
           ? NGX_DECLINED : ngx_http_submission_origin_misdirected(r, slcf);
}


static ngx_int_t
ngx_http_submission_origin_console(ngx_http_request_t *r)
{
    ngx_table_elt_t  *header;

    if (ngx_http_submission_origin_claim(r, &header)
        != NGX_HTTP_SUBMISSION_ORIGIN_SAME)
    {
        return ngx_http_submission_origin_refuse(r, NGX_HTTP_FORBIDDEN,
                   "cross_site", "cross_site",
                   "at the console this needs \"Sec-Fetch-Site: same-origin\" "
                   "or an \"Origin\" of this host; programs use "
                   "\"submission_api\"");
    }

    if (!ngx_http_submission_origin_json(r)) {
        return ngx_http_submission_origin_refuse(r, NGX_HTTP_FORBIDDEN,
                   "forbidden", "body",
                   "at the console this needs a body of \"application/json\"");
    }

    return NGX_DECLINED;
}


static ngx_int_t
ngx_http_submission_origin_cross(ngx_http_request_t *r,
    ngx_table_elt_t *header)
{
    char      message[NGX_HTTP_SUBMISSION_ORIGIN_MESSAGE];
    sm_out_t  out;

    sm_out_init(&out, message, sizeof(message) - 1);

    sm_out_c(&out, "a page of another site sent this, as \"");
    sm_out_str(&out, ngx_http_submission_str(&header->key));
    sm_out_c(&out, ": ");
    sm_out_clean(&out, ngx_http_submission_str(&header->value),
                 NGX_HTTP_SUBMISSION_ORIGIN_SHOWN);
    sm_out_c(&out, "\" says: \"cross_site=allow\" of \"submission_api\" would "
                   "permit it");

    *out.last = '\0';

    return ngx_http_submission_origin_refuse(r, NGX_HTTP_FORBIDDEN,
                                             "cross_site", "cross_site",
                                             message);
}


ngx_int_t
ngx_http_submission_origin(ngx_http_submission_ctx_t *ctx)
{
    ngx_table_elt_t                 *header;
    ngx_http_request_t              *r;
    ngx_http_submission_loc_conf_t  *slcf;

    r = ctx->request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    if (r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD) || slcf->cross_site) {
        return NGX_DECLINED;
    }

    if (slcf->console_prefix.len) {
        return ngx_http_submission_origin_console(r);
    }

    switch (ngx_http_submission_origin_claim(r, &header)) {

    case NGX_HTTP_SUBMISSION_ORIGIN_CROSS:
        return ngx_http_submission_origin_cross(r, header);

    case NGX_HTTP_SUBMISSION_ORIGIN_SAME:

        /* the page has the name of this host, which need not be ours */

        if (!ngx_http_submission_origin_ours(r, slcf)) {
            return ngx_http_submission_origin_misdirected(r, slcf);
        }

        /* fall through */

    default: /* SILENT, USER */
        return NGX_DECLINED;
    }
}
