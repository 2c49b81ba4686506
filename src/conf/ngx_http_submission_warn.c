
/*
 * Warns of configurations that work, and that are most likely not what was
 * meant.  A warning says where it stands, what will happen, and what was
 * expected.  What cannot be known for certain is not warned of.
 */

#include "ngx_http_submission_directives.h"


static void
ngx_http_submission_warn_store(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    if (mcf->store_line.file) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                  "submission_manager \"%V\" in %s:%ui has no \"store\", so "
                  "intents are kept in the file \"%V\" of this host: \"store "
                  "sqlite\" with a file, \"store postgres\" or \"store "
                  "odbc\" was expected",
                  &mcf->name, mcf->file, mcf->line, &mcf->store_path);
}


static ngx_http_submission_place_t *
ngx_http_submission_warn_place(ngx_conf_t *cf,
    ngx_http_core_loc_conf_t *location)
{
    ngx_http_submission_place_t      *place;
    ngx_http_submission_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    for (place = smcf->places.elts; place->location != location; place++) {
        /* void */
    }

    return place;
}


static ngx_http_submission_loc_conf_t *
ngx_http_submission_warn_conf(ngx_http_submission_place_t *place)
{
    void  **loc_conf;

    loc_conf = place->location->loc_conf;

    return loc_conf[ngx_http_submission_module.ctx_index];
}


static void
ngx_http_submission_warn_internal(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_place_t *place)
{
    if (place->location->internal) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                  "location \"%V\" with \"submission_dispatch %V\" in %s:%ui "
                  "takes requests of clients, too, and passes them to a "
                  "gateway: \"internal\" was expected in it",
                  &place->location->name, &mcf->name, place->line.file,
                  place->line.line);
}


/*
 * Says whether the location has a "proxy_pass" with variables.  nginx makes a
 * TLS context for one, which may be that of another location, too: so no other
 * "..._pass" must be there.
 */

static ngx_uint_t
ngx_http_submission_warn_variable(ngx_conf_t *cf,
    ngx_http_core_loc_conf_t *clcf, ngx_http_upstream_conf_t *ucf)
{
#if (NGX_HTTP_SSL)
    ngx_uint_t                 i;
    ngx_http_upstream_conf_t  *other;

    static const char  *modules[] = {
        "ngx_http_fastcgi_module", "ngx_http_uwsgi_module",
        "ngx_http_scgi_module", "ngx_http_grpc_module",
        "ngx_http_memcached_module"
    };

    if (ucf->upstream || ucf->ssl == NULL || ucf->ssl->ctx == NULL) {
        return 0;
    }

    for (i = 0; i < sm_nelts(modules); i++) {
        other = ngx_http_submission_foreign(cf, clcf->loc_conf, modules[i]);

        if (other && other->upstream) {
            return 0;
        }
    }

    return 1;
#else
    return 0;
#endif
}


static void
ngx_http_submission_warn_pass(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_place_t *place, ngx_http_upstream_conf_t *ucf)
{
    if (ucf->upstream == NULL
        && (!ngx_http_submission_warn_variable(cf, place->location, ucf)
            || ngx_http_submission_check_uses(cf, "submission_gateway_url")
            || ngx_http_submission_check_uses(cf, "submission_target")))
    {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                  "\"proxy_pass\" in location \"%V\" with "
                  "\"submission_dispatch %V\" in %s:%ui sends the attempts "
                  "of all targets to the same place, whatever their "
                  "\"gateway_url\" is: \"proxy_pass $submission_gateway_url\" "
                  "was expected",
                  &place->location->name, &mcf->name, place->line.file,
                  place->line.line);
}


#if (NGX_HTTP_SSL)

/* Returns the first target whose gateway is asked by TLS, or NULL. */

static ngx_http_submission_target_t *
ngx_http_submission_warn_https(ngx_http_submission_manager_conf_t *mcf)
{
    sm_str_t                      *url;
    ngx_rbtree_node_t             *node;
    ngx_http_submission_target_t  *target;

    for (node = ngx_rbtree_min(mcf->targets.root, &mcf->sentinel);
         node;
         node = ngx_rbtree_next(&mcf->targets, node))
    {
        target = (ngx_http_submission_target_t *) node;
        url = &target->contract.gateway_url;

        if (url->len > 8 && ngx_strncmp(url->data, "https://", 8) == 0) {
            return target;
        }
    }

    return NULL;
}


static void
ngx_http_submission_warn_verify(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_place_t *place, ngx_http_upstream_conf_t *ucf)
{
    ngx_str_t                      whose;
    ngx_http_submission_target_t  *target;

    if (ucf->ssl_verify) {
        return;
    }

    if (ucf->upstream) {

        /* nginx makes a context of TLS for "https://" alone */

        if (ucf->ssl == NULL || ucf->ssl->ctx == NULL) {
            return;
        }

        whose = ucf->upstream->host;

    } else {

        if (!ngx_http_submission_warn_variable(cf, place->location, ucf)
            || !ngx_http_submission_check_uses(cf, "submission_gateway_url"))
        {
            return;
        }

        target = ngx_http_submission_warn_https(mcf);

        if (target == NULL) {
            return;
        }

        whose = target->node.str;
    }

    ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                  "location \"%V\" with \"submission_dispatch %V\" in %s:%ui "
                  "does not verify certificates, so anybody may answer for "
                  "the https gateway of \"%V\": \"proxy_ssl_verify on\" and "
                  "\"proxy_ssl_trusted_certificate\" were expected in it",
                  &place->location->name, &mcf->name, place->line.file,
                  place->line.line, &whose);
}

#endif


static void
ngx_http_submission_warn_dispatch(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_http_upstream_conf_t     *ucf;
    ngx_http_submission_place_t  *place;

    if (mcf->dispatch == NULL) {
        return;
    }

    place = ngx_http_submission_warn_place(cf, mcf->dispatch);

    ngx_http_submission_warn_internal(cf, mcf, place);

    /* the configuration of the proxy module begins with its upstream's */

    ucf = ngx_http_submission_foreign(cf, mcf->dispatch->loc_conf,
                                   "ngx_http_proxy_module");
    if (ucf == NULL) {
        return;
    }

    ngx_http_submission_warn_pass(cf, mcf, place, ucf);

#if (NGX_HTTP_SSL)
    ngx_http_submission_warn_verify(cf, mcf, place, ucf);
#endif
}


/* Says whether the location takes this path, as far as that is known. */

static ngx_uint_t
ngx_http_submission_warn_takes(ngx_http_core_loc_conf_t *clcf,
    ngx_str_t *path)
{
#if (NGX_PCRE)
    if (clcf->regex) {
        return 1;
    }
#endif

    if (clcf->exact_match) {
        return path->len == clcf->name.len
               && ngx_strncmp(path->data, clcf->name.data, path->len) == 0;
    }

    return path->len >= clcf->name.len
           && ngx_strncmp(path->data, clcf->name.data, clcf->name.len) == 0;
}


/* Parts of a resolved URL, which has an address, a port and a path. */

static in_port_t
ngx_http_submission_warn_url(ngx_str_t *url, ngx_str_t *path)
{
    u_char  *p, *last;

    last = url->data + url->len;

    path->data = ngx_strlchr(url->data + sizeof("http://") - 1, last, '/');

    for (p = path->data; p < last && *p != '?'; p++) { /* void */ }

    path->len = p - path->data;

    for (p = path->data; p[-1] != ':'; p--) { /* void */ }

    return (in_port_t) ngx_atoi(p, path->data - p);
}


/*
 * The port may be that of a proxy or a container, and then nobody knows here
 * where a wake ends.
 */

static void
ngx_http_submission_warn_wake(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    in_port_t                         port;
    ngx_str_t                         path;
    ngx_uint_t                        i, there;
    ngx_http_submission_place_t      *place;
    ngx_http_submission_loc_conf_t   *slcf;
    ngx_http_submission_main_conf_t  *smcf;

    if (mcf->wake_url.len == 0) {
        return;
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    port = ngx_http_submission_warn_url(&mcf->wake_url, &path);
    place = smcf->places.elts;
    there = 0;

    for (i = 0; i < smcf->places.nelts; i++) {
        slcf = ngx_http_submission_warn_conf(&place[i]);

        if (slcf->wake != mcf) {
            continue;
        }

        there = 1;

        if (ngx_http_submission_warn_takes(place[i].location, &path)
            && ngx_http_submission_foreign_port(cf, port, place[i].server))
        {
            return;
        }
    }

    if (!there) {
        ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                      "nothing answers other instances at the \"wake_url\" "
                      "in %s:%ui: a location with \"submission_wake %V\" was "
                      "expected", mcf->wake_url_line.file,
                      mcf->wake_url_line.line, &mcf->name);

    } else if (ngx_http_submission_foreign_port(cf, port, NULL)) {
        ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                      "the \"wake_url\" in %s:%ui does not lead to a "
                      "\"submission_wake %V\": one was expected in a location "
                      "that takes \"%V\", in a server that listens on port %d",
                      mcf->wake_url_line.file, mcf->wake_url_line.line,
                      &mcf->name, &path, (int) port);
    }
}


static void
ngx_http_submission_warn_access(ngx_conf_t *cf,
    ngx_http_submission_main_conf_t *smcf)
{
    ngx_uint_t                       i;
    ngx_http_submission_place_t     *place;
    ngx_http_submission_loc_conf_t  *slcf;

    place = smcf->places.elts;

    for (i = 0; i < smcf->places.nelts; i++) {
        slcf = ngx_http_submission_warn_conf(&place[i]);

        if (slcf->access == NGX_HTTP_SUBMISSION_ACCESS_OPERATE) {
            ngx_http_submission_guard(cf, &place[i]);
        }
    }
}


void
ngx_http_submission_warn(ngx_conf_t *cf)
{
    ngx_uint_t                            i;
    ngx_http_submission_main_conf_t      *smcf;
    ngx_http_submission_manager_conf_t  **managers;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    managers = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {
        ngx_http_submission_warn_store(cf, managers[i]);
        ngx_http_submission_warn_dispatch(cf, managers[i]);
        ngx_http_submission_warn_wake(cf, managers[i]);
    }

    ngx_http_submission_warn_access(cf, smcf);
}
