
/*
 * The role of this instance, for the rest of the configuration:
 * $submission_role, and "set_submission_role $variable <manager>" of
 * ngx_devel_kit.
 */

#include "ngx_http_submission_directives.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_zone.h"

#if (NDK)

#define NDK_SET_VAR 1
#include <ndk.h>

/*
 * The module also loads without ndk_http_module.so; then only this directive is
 * missing.
 */

#pragma weak ndk_set_var_core

#endif


static ngx_int_t ngx_http_submission_role_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);


static void
ngx_http_submission_role_name(ngx_http_submission_manager_conf_t *mcf,
    ngx_str_t *name)
{
    ngx_http_submission_role_t  role;

    ngx_http_submission_zone_role(mcf->sh, &role);

    if (role.leader) {
        ngx_str_set(name, "leader");

    } else {
        ngx_str_set(name, "follower");
    }
}


ngx_int_t
ngx_http_submission_role_add_variable(ngx_conf_t *cf)
{
    ngx_str_t             name = ngx_string("submission_role");
    ngx_http_variable_t  *var;

    var = ngx_http_add_variable(cf, &name, NGX_HTTP_VAR_NOCACHEABLE);
    if (var == NULL) {
        return NGX_ERROR;
    }

    var->get_handler = ngx_http_submission_role_variable;

    return NGX_OK;
}


/* The variable is not found with several managers: whose role would it be? */

static ngx_int_t
ngx_http_submission_role_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_str_t                             name;
    ngx_http_submission_manager_conf_t  **managers;
    ngx_http_submission_main_conf_t      *smcf;

    smcf = ngx_http_get_module_main_conf(r, ngx_http_submission_module);

    if (smcf->managers.nelts != 1) {
        v->not_found = 1;
        return NGX_OK;
    }

    managers = smcf->managers.elts;

    ngx_http_submission_role_name(managers[0], &name);

    v->len = name.len;
    v->data = name.data;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;

    return NGX_OK;
}


#if (NDK)

static ngx_int_t
ngx_http_submission_role_set(ngx_http_request_t *r, ngx_str_t *val, void *data)
{
    ngx_http_submission_role_name(data, val);

    return NGX_OK;
}


char *
ngx_http_submission_role_directive(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_str_t                           *value;
    ndk_set_var_t                        filter;
    ngx_http_submission_manager_conf_t  *mcf;

    if (ndk_set_var_core == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"set_submission_role\" needs ngx_devel_kit: "
                           "\"load_module modules/ndk_http_module.so\" was "
                           "expected before this module");
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    mcf = ngx_http_submission_conf_manager(cf, &value[2]);
    if (mcf == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&filter, sizeof(ndk_set_var_t));

    filter.type = NDK_SET_VAR_DATA;
    filter.func = (void *) ngx_http_submission_role_set;
    filter.data = mcf;

    return ndk_set_var_core(cf, &value[1], &filter);
}

#endif
