
/*
 * What "proxy_pass" of a location was given.
 *
 * nginx compiles the text, and keeps the result to itself.  So while it reads
 * the configuration, the functions that read "proxy_pass" and "set" are called
 * through ngx_http_submission_pass_read(), which writes down what they are
 * given.  The tables of these modules are as they were when the configuration
 * has been read, or was refused.
 */

#include "ngx_http_submission_directives.h"


typedef struct {
    const char                      *module;
    const char                      *directive;
    ngx_command_t                   *command;   /* NULL if it is as it was */
    char                          *(*set)(ngx_conf_t *cf, ngx_command_t *cmd,
                                          void *conf);
} ngx_http_submission_pass_read_t;


static ngx_http_submission_pass_read_t  ngx_http_submission_pass_reads[] = {
    { "ngx_http_proxy_module", "proxy_pass", NULL, NULL },
    { "ngx_http_rewrite_module", "set", NULL, NULL }
};


#define NGX_HTTP_SUBMISSION_PASS_READS                                        \
    (sizeof(ngx_http_submission_pass_reads)                                   \
     / sizeof(ngx_http_submission_pass_read_t))


static ngx_uint_t ngx_http_submission_pass_text_uses(ngx_conf_t *cf,
    ngx_str_t *text, ngx_str_t *variable);


/* The function of nginx comes first: it refuses what is wrong. */

static char *
ngx_http_submission_pass_read(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char                             *rv;
    ngx_str_t                        *value, first, last;
    ngx_uint_t                        i;
    ngx_http_core_loc_conf_t         *clcf;
    ngx_http_submission_pass_t       *pass;
    ngx_http_submission_main_conf_t  *smcf;

    value = cf->args->elts;
    first = value[1];
    last = value[cf->args->nelts - 1];

    for (i = 0; ngx_http_submission_pass_reads[i].command != cmd; i++) {
        /* void */
    }

    rv = ngx_http_submission_pass_reads[i].set(cf, cmd, conf);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    pass = ngx_array_push(&smcf->passes);
    if (pass == NULL) {
        return NGX_CONF_ERROR;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    ngx_memzero(pass, sizeof(ngx_http_submission_pass_t));

    pass->text = last;

    if (i == 0) {
        pass->location = clcf;
        pass->handler = clcf->handler;

    } else {
        pass->variable.data = first.data + 1;       /* "$" */
        pass->variable.len = first.len - 1;
    }

    return NGX_CONF_OK;
}


static void
ngx_http_submission_pass_restore(void *data)
{
    ngx_uint_t                        i;
    ngx_http_submission_pass_read_t  *read;

    read = ngx_http_submission_pass_reads;

    for (i = 0; i < NGX_HTTP_SUBMISSION_PASS_READS; i++) {
        if (read[i].command) {
            read[i].command->set = read[i].set;
            read[i].command = NULL;
        }
    }
}


static ngx_command_t *
ngx_http_submission_pass_command(ngx_conf_t *cf,
    ngx_http_submission_pass_read_t *read)
{
    ngx_uint_t      i;
    ngx_module_t  **modules;
    ngx_command_t  *cmd;

    modules = cf->cycle->modules;

    for (i = 0; modules[i]; i++) {

        if (ngx_strcmp(modules[i]->name, read->module) != 0) {
            continue;
        }

        for (cmd = modules[i]->commands; cmd && cmd->name.len; cmd++) {
            if (ngx_strcmp(cmd->name.data, read->directive) == 0) {
                return cmd;
            }
        }
    }

    return NULL;
}


/* A configuration that is refused ends with its pool, before this module. */

ngx_int_t
ngx_http_submission_pass_begin(ngx_conf_t *cf)
{
    ngx_uint_t                        i;
    ngx_pool_cleanup_t               *cln;
    ngx_http_submission_pass_read_t  *read;

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_pass_restore;

    read = ngx_http_submission_pass_reads;

    for (i = 0; i < NGX_HTTP_SUBMISSION_PASS_READS; i++) {
        read[i].command = ngx_http_submission_pass_command(cf, &read[i]);

        if (read[i].command) {
            read[i].set = read[i].command->set;
            read[i].command->set = ngx_http_submission_pass_read;
        }
    }

    return NGX_OK;
}


void
ngx_http_submission_pass_end(void)
{
    ngx_http_submission_pass_restore(NULL);
}


/* Returns NULL if it is not "proxy_pass" that answers in the location. */

ngx_str_t *
ngx_http_submission_pass(ngx_conf_t *cf, ngx_http_core_loc_conf_t *clcf)
{
    ngx_uint_t                        i;
    ngx_http_submission_pass_t       *pass;
    ngx_http_submission_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    pass = smcf->passes.elts;

    for (i = 0; i < smcf->passes.nelts; i++) {
        if (pass[i].location == clcf && pass[i].handler == clcf->handler) {
            return &pass[i].text;
        }
    }

    return NULL;
}


static ngx_uint_t
ngx_http_submission_pass_same(ngx_str_t *a, ngx_str_t *b)
{
    return a->len == b->len && ngx_strncasecmp(a->data, b->data, a->len) == 0;
}


/* Says whether anything uses the variable, such as a "map". */

static ngx_uint_t
ngx_http_submission_pass_anywhere(ngx_conf_t *cf, ngx_str_t *variable)
{
    ngx_uint_t                  i;
    ngx_http_variable_t        *v;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    v = cmcf->variables.elts;

    for (i = 0; i < cmcf->variables.nelts; i++) {
        if (ngx_http_submission_pass_same(&v[i].name, variable)) {
            return 1;
        }
    }

    return 0;
}


static ngx_http_variable_t *
ngx_http_submission_pass_variable(ngx_conf_t *cf, ngx_str_t *name)
{
    ngx_uint_t                  i;
    ngx_hash_key_t             *key;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    key = cmcf->variables_keys->keys.elts;

    for (i = 0; i < cmcf->variables_keys->keys.nelts; i++) {
        if (ngx_http_submission_pass_same(&key[i].key, name)) {
            return key[i].value;
        }
    }

    return NULL;
}


/*
 * Says whether the value of "name" may depend on "variable".  What "set" gives
 * it is known, and variables of nginx that nobody changes do not.  Of any
 * other, such as that of a "map", all is possible.
 */

static ngx_uint_t
ngx_http_submission_pass_depends(ngx_conf_t *cf, ngx_str_t *name,
    ngx_str_t *variable)
{
    ngx_uint_t                        i, sets, uses;
    ngx_http_variable_t              *v;
    ngx_http_submission_pass_t       *pass;
    ngx_http_submission_main_conf_t  *smcf;

    if (ngx_http_submission_pass_same(name, variable)) {
        return 1;
    }

    v = ngx_http_submission_pass_variable(cf, name);

    if (v && !(v->flags & NGX_HTTP_VAR_CHANGEABLE)) {
        return 0;
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    pass = smcf->passes.elts;
    sets = 0;

    for (i = 0; i < smcf->passes.nelts; i++) {

        if (pass[i].location
            || !ngx_http_submission_pass_same(&pass[i].variable, name))
        {
            continue;
        }

        sets++;

        if (pass[i].open) {
            continue;       /* a circle */
        }

        pass[i].open = 1;
        uses = ngx_http_submission_pass_text_uses(cf, &pass[i].text, variable);
        pass[i].open = 0;

        if (uses) {
            return 1;
        }
    }

    /* "set" alone is weak: a "map" of that name is stronger */

    if (sets && v && (v->flags & NGX_HTTP_VAR_WEAK)) {
        return 0;
    }

    return ngx_http_submission_pass_anywhere(cf, variable);
}


static ngx_uint_t
ngx_http_submission_pass_letter(u_char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_';
}


static ngx_uint_t
ngx_http_submission_pass_text_uses(ngx_conf_t *cf, ngx_str_t *text,
    ngx_str_t *variable)
{
    u_char     *p, *last;
    ngx_str_t   name;

    last = text->data + text->len;

    for (p = text->data; p < last; p++) {

        if (*p != '$') {
            continue;
        }

        name.data = p + 1;

        if (name.data < last && *name.data == '{') {
            name.data++;
        }

        for (p = name.data;
             p < last && ngx_http_submission_pass_letter(*p);
             p++)
        {
            /* void */
        }

        name.len = p-- - name.data;

        if (ngx_http_submission_pass_depends(cf, &name, variable)) {
            return 1;
        }
    }

    return 0;
}


/*
 * Says whether the place to which the location sends may depend on the
 * variable.
 */

ngx_uint_t
ngx_http_submission_pass_uses(ngx_conf_t *cf, ngx_http_core_loc_conf_t *clcf,
    const char *variable)
{
    ngx_str_t  *text, name;

    name.data = (u_char *) variable;
    name.len = ngx_strlen(variable);

    text = ngx_http_submission_pass(cf, clcf);

    return text ? ngx_http_submission_pass_text_uses(cf, text, &name)
                : ngx_http_submission_pass_anywhere(cf, &name);
}
