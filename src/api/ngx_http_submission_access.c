
/*
 * Who may do what at a location, and who did it.
 *
 * A level includes those before it.  A route has the level that it needs, and
 * whoever comes to a location has the level of that location.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"


/* So many UTF-16 units of the actor are kept, and bytes of the address. */

#define NGX_HTTP_SUBMISSION_ACCESS_ACTOR    200
#define NGX_HTTP_SUBMISSION_ACCESS_ADDRESS  64


static const char  *ngx_http_submission_access_names[] = {
    "none", "read", "submit", "operate", NULL
};

_Static_assert(sizeof(ngx_http_submission_access_names) / sizeof(char *)
               == NGX_HTTP_SUBMISSION_ACCESS_N + 1, "a name for each level");


const char *
ngx_http_submission_access_name(ngx_http_submission_access_e level)
{
    return ngx_http_submission_access_names[level];
}


/*
 * Setters of parameters.  "n" is the place of the value among the words of the
 * parameter, if it has words.  They return NGX_DECLINED for a bad value.
 */

static ngx_int_t
ngx_http_submission_access_set_level(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_uint_t n, ngx_str_t *value,
    ngx_str_t *root)
{
    slcf->access = n;

    return n == NGX_HTTP_SUBMISSION_ACCESS_NONE
           || (root && n == NGX_HTTP_SUBMISSION_ACCESS_SUBMIT)
           ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_http_submission_access_set_payloads(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_uint_t n, ngx_str_t *value,
    ngx_str_t *root)
{
    slcf->payloads = n;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_access_set_cross_site(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_uint_t n, ngx_str_t *value,
    ngx_str_t *root)
{
    slcf->cross_site = n;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_access_set_hosts(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_uint_t n, ngx_str_t *value,
    ngx_str_t *root)
{
    return ngx_http_submission_origin_hosts(cf, slcf, value);
}


static ngx_int_t
ngx_http_submission_access_set_root(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_uint_t n, ngx_str_t *value,
    ngx_str_t *root)
{
    *root = *value;

    return root->len ? NGX_OK : NGX_DECLINED;
}


typedef struct {
    const char   *name;
    ngx_int_t   (*set)(ngx_conf_t *cf, ngx_http_submission_loc_conf_t *slcf,
                     ngx_uint_t n, ngx_str_t *value, ngx_str_t *root);
    const char  **words;            /* NULL: any value */
    const char   *expected;
} ngx_http_submission_access_parameter_t;


static const char  *ngx_http_submission_access_off_on[] = {
    "off", "on", NULL
};

static const char  *ngx_http_submission_access_deny_allow[] = {
    "deny", "allow", NULL
};


#define NGX_HTTP_SUBMISSION_ACCESS_BOTH                                       \
                                                                              \
    { "payloads=", ngx_http_submission_access_set_payloads,                   \
      ngx_http_submission_access_off_on,                                      \
      "\"payloads=on\" or \"payloads=off\"" },                                \
                                                                              \
    { "hosts=", ngx_http_submission_access_set_hosts, NULL,                   \
      "\"hosts=\" and names without ports, with \",\" between them, such as " \
      "\"a.example\", \"*.a.example\" or \"*\"," }


static const ngx_http_submission_access_parameter_t
    ngx_http_submission_access_api[] = {

    { "access=", ngx_http_submission_access_set_level,
      ngx_http_submission_access_names,
      "\"access=read\", \"access=submit\" or \"access=operate\"" },

    NGX_HTTP_SUBMISSION_ACCESS_BOTH,

    { "cross_site=", ngx_http_submission_access_set_cross_site,
      ngx_http_submission_access_deny_allow,
      "\"cross_site=allow\" or \"cross_site=deny\"" },

    { NULL, NULL, NULL,
      "\"access=\", \"payloads=\", \"hosts=\" or \"cross_site=\"" }
};


static const ngx_http_submission_access_parameter_t
    ngx_http_submission_access_console[] = {

    { "access=", ngx_http_submission_access_set_level,
      ngx_http_submission_access_names,
      "\"access=read\" or \"access=operate\"" },

    NGX_HTTP_SUBMISSION_ACCESS_BOTH,

    { "root=", ngx_http_submission_access_set_root, NULL,
      "\"root=\" and a directory" },

    { NULL, NULL, NULL,
      "\"access=\", \"payloads=\", \"hosts=\" or \"root=\"" }
};


/*
 * Takes one parameter.  Returns NGX_DECLINED if it is not good; "expected" says
 * what would be.
 */

static ngx_int_t
ngx_http_submission_access_parameter(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *value, ngx_str_t *root,
    const char **expected)
{
    size_t                                         len;
    ngx_str_t                                      text;
    ngx_uint_t                                     n;
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

    for (n = 0; p->words && ngx_strcmp(text.data, p->words[n]) != 0; n++) {
        if (p->words[n + 1] == NULL) {
            return NGX_DECLINED;
        }
    }

    return p->set(cf, slcf, n, &text, root);
}


/*
 * Returns the length of the parameter's name if one before it has that name,
 * too, and 0 otherwise.
 */

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

    level = ctx->route->payloads && slcf->payloads
            ? NGX_HTTP_SUBMISSION_ACCESS_READ : ctx->route->access;

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


ngx_uint_t
ngx_http_submission_access_payloads(ngx_http_request_t *r)
{
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    return slcf->payloads || slcf->access == NGX_HTTP_SUBMISSION_ACCESS_OPERATE;
}


ngx_uint_t
ngx_http_submission_access_paths(ngx_http_request_t *r)
{
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    return slcf->access == NGX_HTTP_SUBMISSION_ACCESS_OPERATE;
}


/*
 * Without "submission_actor" the actor is $remote_user, which is only what the
 * client claims, unless nginx has checked it.
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
