
/*
 * The location through which attempts leave for their gateways.
 */

#include "ngx_http_submission.h"


static ngx_int_t ngx_http_submission_dispatch_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);


static ngx_http_variable_t  ngx_http_submission_dispatch_variables[] = {

    { ngx_string("submission_gateway_url"), NULL,
      ngx_http_submission_dispatch_variable, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("submission_target"), NULL,
      ngx_http_submission_dispatch_variable, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("submission_intent_id"), NULL,
      ngx_http_submission_dispatch_variable, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("submission_attempt"), NULL,
      ngx_http_submission_dispatch_variable, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

      ngx_http_null_variable
};


char *
ngx_http_submission_dispatch(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char                           *rv;
    ngx_http_core_loc_conf_t       *clcf;
    ngx_http_submission_manager_t  *manager;

    manager = NULL;

    rv = ngx_http_submission_conf_reference(cf, &manager);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (manager->dispatch) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "submission_manager \"%V\" already has a "
                           "\"submission_dispatch\" location, \"%V\"",
                           &manager->name, &manager->dispatch->name);
        return NGX_CONF_ERROR;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    manager->dispatch = clcf;

    return NGX_CONF_OK;
}


ngx_int_t
ngx_http_submission_dispatch_add_variables(ngx_conf_t *cf)
{
    ngx_http_variable_t  *var, *v;

    for (v = ngx_http_submission_dispatch_variables; v->name.len; v++) {
        var = ngx_http_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}


/* a request that is not an attempt has none of them */

static ngx_int_t
ngx_http_submission_dispatch_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    v->not_found = 1;

    return NGX_OK;
}
