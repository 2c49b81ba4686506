
/*
 * "submission_console" serves the files of the console at the location's
 * prefix, and below "api/v1/" the API with the access level of the location.
 *
 * The page loads nothing from other hosts, and its headers forbid it to.
 */

#include "ngx_http_submission_console.h"

#include "ngx_http_submission_api.h"
#include "ngx_http_submission_file.h"


#define NGX_HTTP_SUBMISSION_CONSOLE_API  "api/v1/"

#define NGX_HTTP_SUBMISSION_CONSOLE_CSP                                       \
    "default-src 'none'; script-src 'self'; style-src 'self'; "               \
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "             \
    "form-action 'none'; frame-ancestors 'none'"


typedef struct {
    ngx_str_t  key;
    ngx_str_t  value;
} ngx_http_submission_console_header_t;


static ngx_http_submission_console_header_t
    ngx_http_submission_console_headers[] = {

    { ngx_string("Content-Security-Policy"),
      ngx_string(NGX_HTTP_SUBMISSION_CONSOLE_CSP) },

    { ngx_string("Referrer-Policy"), ngx_string("no-referrer") }
};

static ngx_http_submission_console_header_t
    ngx_http_submission_console_allow = {
    ngx_string("Allow"), ngx_string("GET, HEAD")
};


/* The location ends with a slash, because links of the page are relative. */

char *
ngx_http_submission_console(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf)
{
    u_char                    *p;
    ngx_str_t                 *name, root;
    char                      *rv;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    name = &clcf->name;

    if (clcf->named || clcf->exact_match || clcf->noname
#if (NGX_PCRE)
        || clcf->regex
#endif
        || name->len == 0 || name->data[name->len - 1] != '/')
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"submission_console\" needs a location given by "
                           "a prefix that ends with a slash, such as "
                           "\"location /console/\", not \"%V\"", name);
        return NGX_CONF_ERROR;
    }

    /* a request without the slash is redirected */

    clcf->auto_redirect = 1;

    ngx_str_null(&root);

    rv = ngx_http_submission_access_conf(cf, slcf, &root);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (root.len && ngx_conf_full_name(cf->cycle, &root, 0) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    slcf->console_root = root;
    slcf->console_prefix = *name;

    slcf->prefix.len = name->len + sizeof(NGX_HTTP_SUBMISSION_CONSOLE_API) - 1;

    p = ngx_pnalloc(cf->pool, slcf->prefix.len);
    if (p == NULL) {
        return NGX_CONF_ERROR;
    }

    slcf->prefix.data = p;

    p = ngx_cpymem(p, name->data, name->len);
    ngx_memcpy(p, NGX_HTTP_SUBMISSION_CONSOLE_API,
               sizeof(NGX_HTTP_SUBMISSION_CONSOLE_API) - 1);

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_submission_console_header(ngx_http_request_t *r,
    ngx_http_submission_console_header_t *header)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->hash = 1;
    h->key = header->key;
    h->value = header->value;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_console_send_headers(ngx_http_request_t *r)
{
    ngx_uint_t                             i;
    ngx_http_submission_console_header_t  *header;

    header = ngx_http_submission_console_headers;

    for (i = 0;
         i < sizeof(ngx_http_submission_console_headers)
             / sizeof(ngx_http_submission_console_header_t);
         i++)
    {
        if (ngx_http_submission_console_header(r, &header[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_submission_console_handler(ngx_http_request_t *r)
{
    size_t                           len;
    ngx_int_t                        rc;
    ngx_str_t                        name;
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    if (ngx_http_submission_console_send_headers(r) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    len = ngx_min(slcf->prefix.len, r->uri.len);

    if (ngx_strncmp(r->uri.data, slcf->prefix.data, len) == 0
        && len == slcf->prefix.len)
    {
        return ngx_http_submission_api_handler(r);
    }

    rc = ngx_http_submission_origin_host(r);
    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return ngx_http_submission_console_header(r,
                                          &ngx_http_submission_console_allow)
               == NGX_OK ? NGX_HTTP_NOT_ALLOWED
                         : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    /* "rewrite ... break" may have taken the request out of its location */

    len = slcf->console_prefix.len;

    if (r->uri.len < len
        || ngx_strncmp(r->uri.data, slcf->console_prefix.data, len) != 0)
    {
        return NGX_HTTP_NOT_FOUND;
    }

    name.data = r->uri.data + len;
    name.len = r->uri.len - len;

    if (name.len == 0) {
        ngx_str_set(&name, "index.html");
    }

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: console file:\"%V\"", &name);

    rc = slcf->console_root.len
         ? ngx_http_submission_file_root(r, &slcf->console_root, &name)
         : ngx_http_submission_file(r, &name);

    return rc == NGX_DECLINED ? NGX_HTTP_NOT_FOUND : rc;
}
