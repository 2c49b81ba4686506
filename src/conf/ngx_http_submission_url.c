
/*
 * The URL at which an instance is woken.
 *
 * Other instances get a URL with an address: a name is resolved once, when the
 * configuration is read, like that of proxy_pass.  Only http is allowed, since
 * a wake has no content, is only a hint, and stays within the network of the
 * instances.
 */

#include "ngx_http_submission_directives.h"
#include "ngx_http_submission_zone_signal.h"


#define NGX_HTTP_SUBMISSION_URL_SCHEME  (sizeof("http://") - 1)


/*
 * Returns NULL, or what is wrong with the URL.  "u" has an address unless
 * u->no_resolve is set and the host is a name.
 */

const char *
ngx_http_submission_url(ngx_pool_t *pool, ngx_str_t *url, ngx_url_t *u)
{
    size_t  i;

    if (url->len <= NGX_HTTP_SUBMISSION_URL_SCHEME
        || ngx_strncmp(url->data, "http://", NGX_HTTP_SUBMISSION_URL_SCHEME)
           != 0)
    {
        return "must begin with \"http://\"";
    }

    if (url->len > NGX_HTTP_SUBMISSION_URL_MAX) {
        return "is longer than 512 characters";
    }

    for (i = NGX_HTTP_SUBMISSION_URL_SCHEME; i < url->len; i++) {
        if (url->data[i] <= ' ' || url->data[i] >= 0x7f
            || url->data[i] == '#' || url->data[i] == '@')
        {
            return "has a character that is not expected in it";
        }
    }

    u->url.data = url->data + NGX_HTTP_SUBMISSION_URL_SCHEME;
    u->url.len = url->len - NGX_HTTP_SUBMISSION_URL_SCHEME;
    u->default_port = 80;
    u->uri_part = 1;

    if (u->url.len >= 5 && ngx_strncasecmp(u->url.data, (u_char *) "unix:", 5)
                           == 0)
    {
        return "must have a host that other instances can reach";
    }

    if (ngx_parse_url(pool, u) != NGX_OK) {
        return u->err ? u->err : "cannot be read";
    }

    if (u->uri.len && u->uri.data[0] != '/') {
        return "must have a path after the host";
    }

    if (u->naddrs && ngx_inet_wildcard(u->addrs[0].sockaddr)) {
        return "must have a host that other instances can reach";
    }

    return NULL;
}


char *
ngx_http_submission_conf_wake_url(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    ngx_str_t   *value;
    ngx_url_t    u;
    const char  *why;

    if (mcf->wake_url.data) {
        return "is duplicate";
    }

    mcf->wake_url_line = ngx_http_submission_conf_line(cf);

    value = cf->args->elts;

    ngx_memzero(&u, sizeof(ngx_url_t));

    why = ngx_http_submission_url(cf->pool, &value[1], &u);

    if (why) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%*s\" of \"wake_url\": it %s%s",
                           ngx_min(value[1].len, 256), value[1].data,
                           u.err == why ? "names an address that cannot be "
                                          "used, " : "", why);
        return NGX_CONF_ERROR;
    }

    mcf->wake_url.data = ngx_pnalloc(cf->pool, NGX_HTTP_SUBMISSION_URL_SCHEME
                                               + u.addrs[0].name.len
                                               + u.uri.len + 1);
    if (mcf->wake_url.data == NULL) {
        return NGX_CONF_ERROR;
    }

    mcf->wake_url.len = ngx_sprintf(mcf->wake_url.data, "http://%V%V%s",
                                    &u.addrs[0].name, &u.uri,
                                    u.uri.len ? "" : "/")
                        - mcf->wake_url.data;

    if (mcf->wake_url.len > NGX_HTTP_SUBMISSION_URL_MAX) {
        return "is longer than 512 characters with an address in place of its "
               "host name";
    }

    return NGX_CONF_OK;
}
