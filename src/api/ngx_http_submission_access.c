
/*
 * Who may do what at a location, and who did it.
 *
 * A level includes those before it.  A route has the level that it needs, and
 * whoever comes to a location has the level of that location.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"


/* UTF-16 units of the actor that are kept, and bytes of the address */

#define NGX_HTTP_SUBMISSION_ACCESS_ACTOR    200
#define NGX_HTTP_SUBMISSION_ACCESS_ADDRESS  64


static const char  *ngx_http_submission_access_names[] = {
    "none", "read", "submit", "operate"
};

_Static_assert(sizeof(ngx_http_submission_access_names) / sizeof(char *)
               == NGX_HTTP_SUBMISSION_ACCESS_N, "a name for each level");


const char *
ngx_http_submission_access_name(ngx_http_submission_access_e level)
{
    return ngx_http_submission_access_names[level];
}


static ngx_int_t
ngx_http_submission_access_level(ngx_str_t *value,
    ngx_http_submission_access_e *level)
{
    ngx_uint_t   i;
    const char  *name;

    for (i = NGX_HTTP_SUBMISSION_ACCESS_READ;
         i < NGX_HTTP_SUBMISSION_ACCESS_N;
         i++)
    {
        name = ngx_http_submission_access_names[i];

        if (value->len == ngx_strlen(name)
            && ngx_strncmp(value->data, name, value->len) == 0)
        {
            *level = i;
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


/* the setters of parameters; NGX_DECLINED: the value is not good */

static ngx_int_t
ngx_http_submission_access_set_level(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *value, ngx_str_t *root)
{
    if (ngx_http_submission_access_level(value, &slcf->access) != NGX_OK) {
        return NGX_DECLINED;
    }

    return root && slcf->access == NGX_HTTP_SUBMISSION_ACCESS_SUBMIT
           ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_http_submission_access_set_payloads(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *value, ngx_str_t *root)
{
    slcf->payloads = ngx_strcmp(value->data, "on") == 0;

    return slcf->payloads || ngx_strcmp(value->data, "off") == 0
           ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_submission_access_set_cross_site(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *value, ngx_str_t *root)
{
    slcf->cross_site = ngx_strcmp(value->data, "allow") == 0;

    return slcf->cross_site || ngx_strcmp(value->data, "deny") == 0
           ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_submission_access_set_hosts(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *value, ngx_str_t *root)
{
    return ngx_http_submission_origin_hosts(cf, slcf, value);
}


static ngx_int_t
ngx_http_submission_access_set_root(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *value, ngx_str_t *root)
{
    *root = *value;

    return root->len ? NGX_OK : NGX_DECLINED;
}


/* what each of the two directives takes */

typedef struct {
    const char   *name;
    ngx_int_t   (*set)(ngx_conf_t *cf, ngx_http_submission_loc_conf_t *slcf,
                     ngx_str_t *value, ngx_str_t *root);
    const char   *expected;
} ngx_http_submission_access_parameter_t;


#define NGX_HTTP_SUBMISSION_ACCESS_BOTH                                       \
                                                                              \
    { "payloads=", ngx_http_submission_access_set_payloads,                   \
      "\"payloads=on\" or \"payloads=off\"" },                                \
                                                                              \
    { "hosts=", ngx_http_submission_access_set_hosts,                         \
      "\"hosts=\" and names without ports, with \",\" between them, such as " \
      "\"a.example\", \"*.a.example\" or \"*\"," }


static const ngx_http_submission_access_parameter_t
    ngx_http_submission_access_api[] = {

    { "access=", ngx_http_submission_access_set_level,
      "\"access=read\", \"access=submit\" or \"access=operate\"" },

    NGX_HTTP_SUBMISSION_ACCESS_BOTH,

    { "cross_site=", ngx_http_submission_access_set_cross_site,
      "\"cross_site=allow\" or \"cross_site=deny\"" },

    { NULL, NULL, "\"access=\", \"payloads=\", \"hosts=\" or "
                  "\"cross_site=\"" }
};


static const ngx_http_submission_access_parameter_t
    ngx_http_submission_access_console[] = {

    { "access=", ngx_http_submission_access_set_level,
      "\"access=read\" or \"access=operate\"" },

    NGX_HTTP_SUBMISSION_ACCESS_BOTH,

    { "root=", ngx_http_submission_access_set_root,
      "\"root=\" and a directory" },

    { NULL, NULL, "\"access=\", \"payloads=\", \"hosts=\" or \"root=\"" }
};


/* NGX_DECLINED: "expected" is what was */

static ngx_int_t
ngx_http_submission_access_parameter(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *value, ngx_str_t *root,
    const char **expected)
{
    size_t                                         len;
    ngx_str_t                                      text;
    const ngx_http_submission_access_parameter_t  *p;

    for (p = root ? ngx_http_submission_access_console
                  : ngx_http_submission_access_api;
         p->name;
         p++)
    {
        len = ngx_strlen(p->name);

        if (ngx_strncmp(value->data, p->name, len) == 0) {
            break;
        }
    }

    *expected = p->expected;

    if (p->name == NULL) {
        return NGX_DECLINED;
    }

    text.data = value->data + len;
    text.len = value->len - len;

    return p->set(cf, slcf, &text, root);
}


/* the part of it up to "=", in a parameter before it */

static ngx_uint_t
ngx_http_submission_access_twice(ngx_str_t *value, ngx_uint_t n)
{
    u_char      *p;
    size_t       len;
    ngx_uint_t   i;

    p = (u_char *) ngx_strchr(value[n].data, '=');
    len = p ? (size_t) (p - value[n].data) + 1 : value[n].len;

    for (i = 2; i < n; i++) {
        if (ngx_strncmp(value[i].data, value[n].data, len) == 0) {
            return len;
        }
    }

    return 0;
}


/*
 * submission_api <manager> [access=...] [payloads=on|off] [hosts=...]
 *     [cross_site=allow|deny]
 * submission_console <manager> [access=...] [payloads=on|off] [hosts=...]
 *     [root=...]
 */

char *
ngx_http_submission_access_conf(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *root)
{
    ngx_int_t    rc;
    ngx_str_t   *value;
    ngx_uint_t   i, len;
    const char  *expected;

    value = cf->args->elts;

    slcf->access = root ? NGX_HTTP_SUBMISSION_ACCESS_READ
                        : NGX_HTTP_SUBMISSION_ACCESS_SUBMIT;

    for (i = 2; i < cf->args->nelts; i++) {

        rc = ngx_http_submission_access_parameter(cf, slcf, &value[i], root,
                                                  &expected);

        if (rc == NGX_ERROR) {
            return NGX_CONF_ERROR;
        }

        if (rc != NGX_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid parameter \"%V\" of \"%V\": %s was "
                               "expected", &value[i], &value[0], expected);
            return NGX_CONF_ERROR;
        }

        len = ngx_http_submission_access_twice(value, i);

        if (len) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" directive has a duplicate \"%*s\"",
                               &value[0], (size_t) len, value[i].data);
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


static ngx_http_submission_access_e
ngx_http_submission_access_needed(ngx_http_submission_loc_conf_t *slcf,
    const ngx_http_submission_route_t *route)
{
    if (route->payloads && slcf->payloads) {
        return NGX_HTTP_SUBMISSION_ACCESS_READ;
    }

    return route->access;
}


ngx_int_t
ngx_http_submission_access(ngx_http_submission_ctx_t *ctx)
{
    sm_out_t                         out;
    ngx_int_t                        rc;
    char                             message[128];
    const char                      *needed;
    ngx_http_request_t              *r;
    ngx_http_submission_access_e     level;
    ngx_http_submission_loc_conf_t  *slcf;

    r = ctx->request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    level = ngx_http_submission_access_needed(slcf, ctx->route);

    if (slcf->access >= level) {
        return NGX_DECLINED;
    }

    needed = ngx_http_submission_access_names[level];

    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                  "submission: forbidden access=%s needed=%s",
                  ngx_http_submission_access_names[slcf->access], needed);

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    ngx_http_submission_out(&out, r->pool);

    (void) snprintf(message, sizeof(message),
                    "this needs the level \"%s\", and this location has "
                    "\"%s\"", needed,
                    ngx_http_submission_access_names[slcf->access]);

    ngx_http_submission_reply_error_out(&out, "forbidden", message);

    sm_out_c(&out, "\"level\":\"");
    sm_out_c(&out, needed);
    sm_out_c(&out, "\"}}}\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_FORBIDDEN, &out);
}


/* whether whoever comes here sees payloads, and what gateways answered */

ngx_uint_t
ngx_http_submission_access_payloads(ngx_http_request_t *r)
{
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    return slcf->payloads || slcf->access == NGX_HTTP_SUBMISSION_ACCESS_OPERATE;
}


/* whether whoever comes here sees the paths of gateways' URLs */

ngx_uint_t
ngx_http_submission_access_paths(ngx_http_request_t *r)
{
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    return slcf->access == NGX_HTTP_SUBMISSION_ACCESS_OPERATE;
}


/*
 * Without "submission_actor" the actor is $remote_user; that is who the client
 * says it is, unless nginx has checked it.
 */

static ngx_int_t
ngx_http_submission_access_user(ngx_http_request_t *r, ngx_str_t *user)
{
    ngx_int_t                        rc;
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    if (slcf->actor) {
        return ngx_http_complex_value(r, slcf->actor, user);
    }

    rc = ngx_http_auth_basic_user(r);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc == NGX_DECLINED) {
        ngx_str_null(user);
        return NGX_OK;
    }

    *user = r->headers_in.user;

    return NGX_OK;
}


ngx_int_t
ngx_http_submission_access_actor(ngx_http_request_t *r, sm_actor_t *actor)
{
    ngx_str_t  user;

    if (ngx_http_submission_access_user(r, &user) != NGX_OK
        || ngx_http_submission_api_clean(r->pool,
                                         ngx_http_submission_str(&user),
                                         NGX_HTTP_SUBMISSION_ACCESS_ACTOR,
                                         &actor->name)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_submission_api_clean(r->pool,
                            ngx_http_submission_str(&r->connection->addr_text),
                                         NGX_HTTP_SUBMISSION_ACCESS_ADDRESS,
                                         &actor->address);
}
