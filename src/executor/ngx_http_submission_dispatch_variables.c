
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


/* NULL: a request that is not an attempt has none of the variables */

static ngx_http_submission_attempt_t *
ngx_http_submission_dispatch_attempt(ngx_http_request_t *r,
    ngx_http_variable_value_t *v)
{
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatched(r);

    v->valid = at != NULL;
    v->no_cacheable = 0;
    v->not_found = at == NULL;

    return at;
}


static ngx_int_t
ngx_http_submission_dispatch_url(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatch_attempt(r, v);

    if (at) {
        v->data = at->url.data;
        v->len = at->url.len;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_dispatch_string(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    sm_str_t                       *s;
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatch_attempt(r, v);

    if (at) {
        s = (sm_str_t *) ((char *) at + data);

        v->data = (u_char *) s->data;
        v->len = s->len;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_dispatch_number(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    size_t                          len;
    ngx_http_submission_attempt_t  *at;

    at = ngx_http_submission_dispatch_attempt(r, v);

    if (at) {
        v->data = ngx_http_submission_send_int(r,
                                          *(int64_t *) ((char *) at + data),
                                               &len);
        if (v->data == NULL) {
            return NGX_ERROR;
        }

        v->len = len;
    }

    return NGX_OK;
}
