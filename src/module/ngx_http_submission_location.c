
/*
 * Locations that answer: the API, the console, readiness, metrics and wakes.
 * The location of attempts is in executor/dispatch.c.
 */

#include "ngx_http_submission_api.h"
#include "ngx_http_submission_console.h"
#include "ngx_http_submission_directives.h"
#include "ngx_http_submission_location.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"
#include "ngx_http_submission_signal.h"


void *
ngx_http_submission_create_loc_conf(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_http_submission_loc_conf_t));
}


static ngx_http_handler_pt
ngx_http_submission_location_handler(ngx_http_submission_loc_conf_t *slcf)
{
    return slcf->console_prefix.len ? ngx_http_submission_console_handler
           : slcf->api ? ngx_http_submission_api_handler
           : slcf->readyz ? ngx_http_submission_readyz_handler
           : slcf->metrics ? ngx_http_submission_metrics_handler
           : slcf->wake ? ngx_http_submission_wake_handler
                        : NULL;
}


/*
 * A nested location does not become an API location because its parent is
 * one.  But an "if" or a "limit_except" belongs to the location that contains
 * it.
 */

char *
ngx_http_submission_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_submission_loc_conf_t *prev = parent;
    ngx_http_submission_loc_conf_t *conf = child;

    ngx_http_handler_pt        handler;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->noname) {
        *conf = *prev;

        /*
         * nginx passes the handler of a location to an "if", but not to a
         * "limit_except"
         */

        if (clcf->lmt_excpt && clcf->handler == NULL) {
            clcf->handler = ngx_http_submission_location_handler(conf);
        }

        return NGX_CONF_OK;
    }

    if (conf->actor == NULL) {
        conf->actor = prev->actor;
    }

    handler = ngx_http_submission_location_handler(conf);

    if (handler && clcf->handler != handler) {

        /* a later directive of the location has replaced the handler */

        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "location \"%V\" has a \"submission_...\" directive and "
                      "another one that answers requests, such as "
                      "\"proxy_pass\": only one of them was expected",
                      &clcf->name);
        return NGX_CONF_ERROR;
    }

    return conf->api == NULL
           || ngx_http_submission_origin_names(cf, conf) == NGX_OK
           ? NGX_CONF_OK : NGX_CONF_ERROR;
}


static char *
ngx_http_submission_location(ngx_conf_t *cf, ngx_http_handler_pt handler,
    ngx_http_submission_manager_conf_t **mcfp)
{
    char                      *rv;
    ngx_http_core_loc_conf_t  *clcf;

    rv = ngx_http_submission_conf_reference(cf, mcfp);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->handler) {
        return "stands beside another directive that answers requests, such "
               "as \"proxy_pass\": only one of them was expected";
    }

    clcf->handler = handler;

    return NGX_CONF_OK;
}


char *
ngx_http_submission_api(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_loc_conf_t *slcf = conf;

    char                      *rv;
    ngx_http_core_loc_conf_t  *clcf;

    if (slcf->api) {
        return "is duplicate";
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->named || clcf->exact_match
#if (NGX_PCRE)
        || clcf->regex
#endif
        )
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"submission_api\" needs a location given by a "
                           "prefix, such as \"location /v1/\", not \"%V\"",
                           &clcf->name);
        return NGX_CONF_ERROR;
    }

    slcf->prefix = clcf->name;

    rv = ngx_http_submission_access_conf(cf, slcf, NULL);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    return ngx_http_submission_location(cf, ngx_http_submission_api_handler,
                                        &slcf->api);
}


/* The console has the API of its location, at a prefix of its own. */

char *
ngx_http_submission_console_location(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_loc_conf_t *slcf = conf;

    char  *rv;

    if (slcf->api) {
        return slcf->console_prefix.len
               ? "is duplicate"
               : "stands beside \"submission_api\": only one of them was "
                 "expected";
    }

    rv = ngx_http_submission_console(cf, slcf);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    return ngx_http_submission_location(cf,
                                        ngx_http_submission_console_handler,
                                        &slcf->api);
}


char *
ngx_http_submission_readyz(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_loc_conf_t *slcf = conf;

    return ngx_http_submission_location(cf, ngx_http_submission_readyz_handler,
                                        &slcf->readyz);
}


char *
ngx_http_submission_metrics(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_loc_conf_t *slcf = conf;

    return ngx_http_submission_location(cf,
                                        ngx_http_submission_metrics_handler,
                                        &slcf->metrics);
}


char *
ngx_http_submission_wake_location(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_loc_conf_t *slcf = conf;

    return ngx_http_submission_location(cf, ngx_http_submission_wake_handler,
                                        &slcf->wake);
}
