
/*
 * Warns of a location with "access=operate" that everybody who reaches it may
 * use.
 *
 * Other modules keep to themselves what they have read, so this looks at the
 * first members of three of their configurations, which are the same in every
 * release of nginx since 1.14.  Whatever may be a guard counts as one: an "if"
 * or another directive of the rewrite module in the location or its server,
 * "limit_except", and any module of others that takes part in the access phase
 * or has a directive with "auth" or "access_by" in its name.  A server that
 * listens on loopback addresses and UNIX sockets alone needs no guard.
 */

#include "ngx_http_submission_directives.h"


typedef struct {
    const char  *module;
    ngx_uint_t   words;     /* at the beginning, 0 if nothing is configured */
} ngx_http_submission_guard_t;


/* "allow" and "deny" by kinds of addresses, and the URI of "auth_request" */

static ngx_http_submission_guard_t  ngx_http_submission_guards[] = {
    { "ngx_http_access_module", 1 + NGX_HAVE_INET6 + NGX_HAVE_UNIX_DOMAIN },
    { "ngx_http_auth_request_module", 1 },
    { "ngx_http_rewrite_module", 1 }
};


#define NGX_HTTP_SUBMISSION_GUARDS                                            \
    (sizeof(ngx_http_submission_guards)                                       \
     / sizeof(ngx_http_submission_guard_t))


static ngx_uint_t
ngx_http_submission_guard_basic(ngx_conf_t *cf, void **loc_conf)
{
    ngx_http_complex_value_t  **realm;

    realm = ngx_http_submission_foreign(cf, loc_conf,
                                     "ngx_http_auth_basic_module");

    if (realm == NULL || *realm == NULL) {
        return 0;
    }

    return (*realm)->lengths
           || (*realm)->value.len != 3
           || ngx_strncmp((*realm)->value.data, "off", 3) != 0;
}


static ngx_uint_t
ngx_http_submission_guard_location(ngx_conf_t *cf, void **loc_conf)
{
    uintptr_t                    *word;
    ngx_uint_t                    i, n;
    ngx_http_submission_guard_t  *guard;

    guard = ngx_http_submission_guards;

    for (i = 0; i < NGX_HTTP_SUBMISSION_GUARDS; i++) {
        word = ngx_http_submission_foreign(cf, loc_conf, guard[i].module);

        for (n = 0; word && n < guard[i].words; n++) {
            if (word[n]) {
                return 1;
            }
        }
    }

    return ngx_http_submission_guard_basic(cf, loc_conf);
}


static ngx_uint_t
ngx_http_submission_guard_server(ngx_conf_t *cf,
    ngx_http_core_srv_conf_t *server)
{
    ngx_array_t              **codes;
#if (NGX_HTTP_SSL)
    ngx_http_ssl_srv_conf_t   *sscf;

    sscf = ngx_http_submission_foreign(cf, server->ctx->srv_conf,
                                    "ngx_http_ssl_module");

    if (sscf && sscf->verify == 1) {
        return 1;
    }
#endif

    codes = ngx_http_submission_foreign(cf, server->ctx->loc_conf,
                                     "ngx_http_rewrite_module");

    return codes && *codes;
}


/* Says whether a module that nobody knows here may guard locations. */

static ngx_uint_t
ngx_http_submission_guard_other(ngx_conf_t *cf)
{
    u_char                     *name;
    ngx_uint_t                  i, known;
    ngx_module_t              **modules;
    ngx_command_t              *cmd;
    ngx_http_core_main_conf_t  *cmcf;

    modules = cf->cycle->modules;
    known = 0;

    for (i = 0; modules[i]; i++) {

        if (modules[i]->type != NGX_HTTP_MODULE) {
            continue;
        }

        name = (u_char *) modules[i]->name;

        if (ngx_strcmp(name, "ngx_http_access_module") == 0
            || ngx_strcmp(name, "ngx_http_auth_basic_module") == 0
            || ngx_strcmp(name, "ngx_http_auth_request_module") == 0)
        {
            known++;
            continue;
        }

        if (modules[i] == &ngx_http_core_module) {
            continue;       /* it has "auth_delay" */
        }

        for (cmd = modules[i]->commands; cmd && cmd->name.len; cmd++) {
            if (ngx_strstr(cmd->name.data, "auth")
                || ngx_strstr(cmd->name.data, "access_by"))
            {
                return 1;
            }
        }
    }

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    return cmcf->phases[NGX_HTTP_ACCESS_PHASE].handlers.nelts > known;
}


void
ngx_http_submission_guard(ngx_conf_t *cf, ngx_http_submission_place_t *place)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = place->location;

    if (clcf->internal
        || clcf->limit_except
        || ngx_http_submission_foreign_local(cf, place->server)
        || ngx_http_submission_guard_location(cf, clcf->loc_conf)
        || ngx_http_submission_guard_server(cf, place->server)
        || ngx_http_submission_guard_other(cf))
    {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                  "location \"%V\" lets everybody who reaches it cancel, "
                  "replay and pause, because nothing guards its "
                  "\"access=operate\" in %s:%ui: \"auth_basic\", "
                  "\"auth_request\", \"allow\" and \"deny\", or "
                  "\"ssl_verify_client on\" was expected",
                  &clcf->name, place->line.file, place->line.line);
}
