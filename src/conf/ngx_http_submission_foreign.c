
/*
 * What other modules of nginx have made of a configuration.  They are found by
 * their names, because nginx may have been built without them.
 */

#include "ngx_http_submission_directives.h"


/*
 * Returns what the module has in "conf", the configurations of a location or a
 * server.  Returns NULL if there is no such module.
 */

void *
ngx_http_submission_foreign(ngx_conf_t *cf, void **conf, const char *module)
{
    ngx_uint_t      i;
    ngx_module_t  **modules;

    modules = cf->cycle->modules;

    for (i = 0; modules[i]; i++) {
        if (ngx_strcmp(modules[i]->name, module) == 0) {
            return conf[modules[i]->ctx_index];
        }
    }

    return NULL;
}


static ngx_uint_t
ngx_http_submission_foreign_has(ngx_http_conf_addr_t *addr,
    ngx_http_core_srv_conf_t *server)
{
    ngx_uint_t                  i;
    ngx_http_core_srv_conf_t  **servers;

    servers = addr->servers.elts;

    for (i = 0; i < addr->servers.nelts; i++) {
        if (servers[i] == server) {
            return 1;
        }
    }

    return 0;
}


/*
 * Says whether the server, or any server if that is NULL, listens on a TCP
 * port, on any address.
 */

ngx_uint_t
ngx_http_submission_foreign_port(ngx_conf_t *cf, in_port_t port,
    ngx_http_core_srv_conf_t *server)
{
    ngx_uint_t                  i, n;
    ngx_http_conf_addr_t       *addrs;
    ngx_http_conf_port_t       *ports;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    if (cmcf->ports == NULL) {
        return 0;
    }

    ports = cmcf->ports->elts;

    for (i = 0; i < cmcf->ports->nelts; i++) {

        if (ports[i].family == AF_UNIX || ports[i].port != port) {
            continue;
        }

        addrs = ports[i].addrs.elts;

        for (n = 0; n < ports[i].addrs.nelts; n++) {
            if (server == NULL
                || ngx_http_submission_foreign_has(&addrs[n], server))
            {
                return 1;
            }
        }
    }

    return 0;
}


static ngx_uint_t
ngx_http_submission_foreign_loopback(struct sockaddr *sa)
{
    struct sockaddr_in   *sin;
#if (NGX_HAVE_INET6)
    struct sockaddr_in6  *sin6;
#endif

    switch (sa->sa_family) {

#if (NGX_HAVE_INET6)
    case AF_INET6:
        sin6 = (struct sockaddr_in6 *) sa;
        return IN6_IS_ADDR_LOOPBACK(&sin6->sin6_addr) != 0;
#endif

    case AF_UNIX:
        return 1;

    default: /* AF_INET */
        sin = (struct sockaddr_in *) sa;
        return ntohl(sin->sin_addr.s_addr) >> 24 == 127;
    }
}


/* Says whether only processes of this host reach the server. */

ngx_uint_t
ngx_http_submission_foreign_local(ngx_conf_t *cf,
    ngx_http_core_srv_conf_t *server)
{
    ngx_uint_t                  i, n;
    ngx_http_conf_addr_t       *addrs;
    ngx_http_conf_port_t       *ports;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    if (cmcf->ports == NULL) {
        return 1;
    }

    ports = cmcf->ports->elts;

    for (i = 0; i < cmcf->ports->nelts; i++) {
        addrs = ports[i].addrs.elts;

        for (n = 0; n < ports[i].addrs.nelts; n++) {
            if (!ngx_http_submission_foreign_loopback(addrs[n].opt.sockaddr)
                && ngx_http_submission_foreign_has(&addrs[n], server))
            {
                return 0;
            }
        }
    }

    return 1;
}
