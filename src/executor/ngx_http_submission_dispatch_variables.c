
/* The variables of the dispatch location. */

#include "ngx_http_submission_dispatch.h"


static ngx_int_t ngx_http_submission_dispatch_url(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_submission_dispatch_string(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_submission_dispatch_number(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);


static ngx_http_variable_t  ngx_http_submission_dispatch_variables[] = {

    { ngx_string("submission_gateway_url"), NULL,
      ngx_http_submission_dispatch_url, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("submission_target"), NULL,
      ngx_http_submission_dispatch_string,
      offsetof(ngx_http_submission_attempt_t, contract.target),
      NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("submission_intent_id"), NULL,
      ngx_http_submission_dispatch_string,
      offsetof(ngx_http_submission_attempt_t, id),
      NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("submission_attempt"), NULL,
      ngx_http_submission_dispatch_number,
      offsetof(ngx_http_submission_attempt_t, number),
      NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("submission_traceparent"), NULL,
      ngx_http_submission_dispatch_string,
      offsetof(ngx_http_submission_attempt_t, trace.parent),
      NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("submission_tracestate"), NULL,
      ngx_http_submission_dispatch_string,
      offsetof(ngx_http_submission_attempt_t, trace.state),
      NGX_HTTP_VAR_NOCACHEABLE, 0 },

      ngx_http_null_variable
};


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


/* a request that is not an attempt has none of the variables */

static ngx_int_t
ngx_http_submission_dispatch_value(ngx_http_variable_value_t *v, u_char *data,
    size_t len)
{
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
    v->data = data;
    v->len = len;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_dispatch_url(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatched(r);

    if (at == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    return ngx_http_submission_dispatch_value(v, at->url.data, at->url.len);
}


static ngx_int_t
ngx_http_submission_dispatch_string(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    sm_str_t                       *s;
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatched(r);

    if (at == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    s = (sm_str_t *) ((char *) at + data);

    return ngx_http_submission_dispatch_value(v, (u_char *) s->data, s->len);
}


static ngx_int_t
ngx_http_submission_dispatch_number(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    size_t                          len;
    u_char                         *p;
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatched(r);

    if (at == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    p = ngx_http_submission_send_int(r, *(int64_t *) ((char *) at + data),
                                         &len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_submission_dispatch_value(v, p, len);
}
