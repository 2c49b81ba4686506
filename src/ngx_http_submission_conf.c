
/*
 * The submission_manager block.  Every refusal names the directive, the value
 * and what was expected; nginx adds the file and the line.
 */

#include "ngx_http_submission.h"


#define NGX_HTTP_SUBMISSION_ZONE_MIN  (64 * 1024)


static char *ngx_http_submission_conf_defaults(ngx_conf_t *cf,
    ngx_http_submission_manager_t *manager);


/* finds a manager, or adds one that is still to be defined */

ngx_http_submission_manager_t *
ngx_http_submission_conf_manager(ngx_conf_t *cf, ngx_str_t *name)
{
    ngx_uint_t                         i;
    ngx_http_submission_manager_t     *manager, **managers;
    ngx_http_submission_main_conf_t   *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    managers = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {
        if (managers[i]->name.len == name->len
            && ngx_strncmp(managers[i]->name.data, name->data, name->len) == 0)
        {
            return managers[i];
        }
    }

    manager = ngx_pcalloc(cf->pool, sizeof(ngx_http_submission_manager_t));
    if (manager == NULL) {
        return NULL;
    }

    managers = ngx_array_push(&smcf->managers);
    if (managers == NULL) {
        return NULL;
    }

    *managers = manager;

    manager->name = *name;
    manager->file = cf->conf_file->file.name.data;
    manager->line = cf->conf_file->line;

    manager->lease_duration = NGX_CONF_UNSET_MSEC;
    manager->renew_interval = NGX_CONF_UNSET_MSEC;
    manager->acquire_interval = NGX_CONF_UNSET_MSEC;
    manager->schedule_refresh_interval = NGX_CONF_UNSET_MSEC;
    manager->release_on_exit = NGX_CONF_UNSET;
    manager->executor_concurrency = NGX_CONF_UNSET;
    manager->executor_batch = NGX_CONF_UNSET;
    manager->executor_timeout = NGX_CONF_UNSET;
    manager->intake_queue = NGX_CONF_UNSET;
    manager->intake_batch = NGX_CONF_UNSET;

    ngx_rbtree_init(&manager->targets, &manager->sentinel,
                    ngx_str_rbtree_insert_value);

    return manager;
}


/* the directive's one argument names a manager, maybe of a later block */

char *
ngx_http_submission_conf_reference(ngx_conf_t *cf,
    ngx_http_submission_manager_t **managerp)
{
    ngx_str_t  *value;

    if (*managerp) {
        return "is duplicate";
    }

    value = cf->args->elts;

    *managerp = ngx_http_submission_conf_manager(cf, &value[1]);

    return *managerp ? NGX_CONF_OK : NGX_CONF_ERROR;
}


char *
ngx_http_submission_conf_nested(ngx_conf_t *cf, ngx_uint_t type, void *conf)
{
    char                 *rv;
    ngx_conf_t            pcf;
    ngx_http_conf_ctx_t   ctx;

    ctx = *(ngx_http_conf_ctx_t *) cf->ctx;

    ctx.loc_conf = ngx_pcalloc(cf->pool, sizeof(void *) * ngx_http_max_module);
    if (ctx.loc_conf == NULL) {
        return NGX_CONF_ERROR;
    }

    ctx.loc_conf[ngx_http_submission_module.ctx_index] = conf;

    pcf = *cf;

    cf->ctx = &ctx;

    /* NGX_MAIN_CONF lets "include" in, and nothing else of http modules */

    cf->cmd_type = type|NGX_MAIN_CONF;

    rv = ngx_conf_parse(cf, NULL);

    *cf = pcf;

    return rv;
}


char *
ngx_http_submission_manager_block(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    char                           *rv;
    ngx_str_t                      *value;
    ngx_http_submission_manager_t  *manager;

    value = cf->args->elts;

    /* it is part of file names */

    if (value[1].len == 0 || ngx_strchr(value[1].data, '/')) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid name \"%V\" of \"submission_manager\": a "
                           "word without slashes was expected", &value[1]);
        return NGX_CONF_ERROR;
    }

    manager = ngx_http_submission_conf_manager(cf, &value[1]);
    if (manager == NULL) {
        return NGX_CONF_ERROR;
    }

    if (manager->defined) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "duplicate submission_manager \"%V\", it is already "
                           "defined in %s:%ui",
                           &value[1], manager->file, manager->line);
        return NGX_CONF_ERROR;
    }

    manager->defined = 1;
    manager->file = cf->conf_file->file.name.data;
    manager->line = cf->conf_file->line;

    rv = ngx_http_submission_conf_nested(cf, NGX_HTTP_SUBMISSION_CONF, manager);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    return ngx_http_submission_conf_defaults(cf, manager);
}


static char *
ngx_http_submission_conf_defaults(ngx_conf_t *cf,
    ngx_http_submission_manager_t *manager)
{
    if (manager->store_ops == NULL) {
        manager->store_ops = &sm_store_sqlite;
        manager->busy_timeout = 5000;
        ngx_str_set(&manager->store_path, "data/submission.db");

        if (ngx_conf_full_name(cf->cycle, &manager->store_path, 0) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    if (manager->lease_name.len == 0) {
        ngx_str_set(&manager->lease_name, "submission-manager-executor");
    }

    if (manager->zone_size == 0) {
        manager->zone_size = 8 * 1024 * 1024;
    }

    ngx_conf_init_msec_value(manager->lease_duration, 60000);
    ngx_conf_init_msec_value(manager->renew_interval, 20000);
    ngx_conf_init_msec_value(manager->acquire_interval, 30000);
    ngx_conf_init_msec_value(manager->schedule_refresh_interval, 1000);
    ngx_conf_init_value(manager->release_on_exit, 1);

    manager->executor_given = manager->executor_concurrency != NGX_CONF_UNSET;

    ngx_conf_init_value(manager->executor_concurrency, 256);
    ngx_conf_init_value(manager->executor_batch, 128);
    ngx_conf_init_value(manager->executor_timeout, 120000);
    ngx_conf_init_value(manager->intake_queue, 4096);
    ngx_conf_init_value(manager->intake_batch, 256);

    if (manager->renew_interval >= manager->lease_duration) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"renew_interval\" of %Mms must be less than "
                           "\"lease_duration\" of %Mms in submission_manager "
                           "\"%V\"", manager->renew_interval,
                           manager->lease_duration, &manager->name);
        return NGX_CONF_ERROR;
    }

    if (manager->ntargets == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "submission_manager \"%V\" has no target: a "
                           "\"target\" block or a \"targets\" file was "
                           "expected", &manager->name);
        return NGX_CONF_ERROR;
    }

    if (manager->thread_pool == NULL) {
        manager->thread_pool = ngx_thread_pool_add(cf, NULL);
        if (manager->thread_pool == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    if (ngx_http_submission_zone_add(cf, manager) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


char *
ngx_http_submission_conf_msec(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char *p = conf;

    ngx_str_t                          *value;
    ngx_msec_t                         *field;
    ngx_http_submission_msec_bounds_t  *bounds;

    field = (ngx_msec_t *) (p + cmd->offset);
    bounds = cmd->post;

    if (*field != NGX_CONF_UNSET_MSEC) {
        return "is duplicate";
    }

    value = cf->args->elts;

    *field = ngx_parse_time(&value[1], 0);

    if (*field == (ngx_msec_t) NGX_ERROR
        || *field < bounds->min || *field > bounds->max)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%V\" of \"%V\": %s was expected",
                           &value[1], &cmd->name, bounds->expected);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/* a word that goes into log lines and SQL keys; cmd->post: most characters */

char *
ngx_http_submission_conf_name(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char *p = conf;

    size_t      i, max;
    ngx_str_t  *value, *field;

    field = (ngx_str_t *) (p + cmd->offset);
    max = (size_t) cmd->post;

    if (field->data) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 0; i < value[1].len; i++) {
        if (value[1].data[i] <= ' ' || value[1].data[i] >= 0x7f) {
            break;
        }
    }

    if (value[1].len == 0 || value[1].len > max || i < value[1].len) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%V\" of \"%V\": 1 to %uz visible "
                           "ASCII characters were expected",
                           &value[1], &cmd->name, max);
        return NGX_CONF_ERROR;
    }

    *field = value[1];

    return NGX_CONF_OK;
}


char *
ngx_http_submission_conf_zone(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_manager_t *manager = conf;

    ssize_t     size;
    ngx_str_t  *value;

    if (manager->zone_size) {
        return "is duplicate";
    }

    value = cf->args->elts;

    size = ngx_parse_size(&value[1]);

    if (size < NGX_HTTP_SUBMISSION_ZONE_MIN) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%V\" of \"zone\": a size of at "
                           "least 64k was expected", &value[1]);
        return NGX_CONF_ERROR;
    }

    manager->zone_size = size;

    return NGX_CONF_OK;
}


/* nginx itself refuses the name of a pool that nobody defines */

char *
ngx_http_submission_conf_thread_pool(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_manager_t *manager = conf;

    ngx_str_t  *value;

    if (manager->thread_pool) {
        return "is duplicate";
    }

    value = cf->args->elts;

    manager->thread_pool = ngx_thread_pool_add(cf, &value[1]);

    return manager->thread_pool ? NGX_CONF_OK : NGX_CONF_ERROR;
}


/*
 * store sqlite <path> [busy_timeout=<time>] [migrate_backup=on|off], and those of
 * server.c
 */

char *
ngx_http_submission_conf_store(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_manager_t *manager = conf;

    char                          *rv;
    ngx_int_t                      busy_timeout, migrate_backup;
    ngx_str_t                     *value;
    ngx_http_submission_option_t   options[] = {
        { "busy_timeout", NGX_HTTP_SUBMISSION_MSEC, 1, 600000,
          "a time between 1ms and 10m", &busy_timeout },
        { "migrate_backup", NGX_HTTP_SUBMISSION_SWITCH, 0, 1,
          "\"on\" or \"off\"", &migrate_backup },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    if (manager->store_ops) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, sm_store_odbc.name) == 0) {
        return ngx_http_submission_server_odbc(cf, manager);
    }

    if (ngx_strcmp(value[1].data, sm_store_postgres.name) == 0) {
        return ngx_http_submission_server_postgres(cf, manager);
    }

    if (ngx_strcmp(value[1].data, sm_store_sqlite.name) != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "unknown store \"%V\": \"sqlite\", \"postgres\" or "
                           "\"odbc\" was expected",
                           &value[1]);
        return NGX_CONF_ERROR;
    }

    if (cf->args->nelts < 3 || value[2].len == 0
        || value[2].data[value[2].len - 1] == '/')
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "no file is given in \"store sqlite\": the path of "
                           "the database was expected");
        return NGX_CONF_ERROR;
    }

    busy_timeout = 5000;
    migrate_backup = 1;

    rv = ngx_http_submission_conf_options(cf, 3, options);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    manager->store_ops = &sm_store_sqlite;
    manager->busy_timeout = busy_timeout;
    manager->migrate_no_copy = !migrate_backup;
    manager->store_path = value[2];

    if (ngx_conf_full_name(cf->cycle, &manager->store_path, 0) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


char *
ngx_http_submission_conf_executor(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_manager_t *manager = conf;

    ngx_str_t                     *value;
    ngx_http_submission_option_t   options[] = {
        { "concurrency", NGX_HTTP_SUBMISSION_NUMBER, 1, 65535,
          "a number between 1 and 65535", &manager->executor_concurrency },
        { "batch", NGX_HTTP_SUBMISSION_NUMBER, 1, 1000,
          "a number between 1 and 1000", &manager->executor_batch },
        { "timeout", NGX_HTTP_SUBMISSION_MSEC, 1, 86400000,
          "a time between 1ms and 1d", &manager->executor_timeout },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    if (manager->executor_concurrency != NGX_CONF_UNSET
        || manager->executor_batch != NGX_CONF_UNSET
        || manager->executor_timeout != NGX_CONF_UNSET
        || manager->executor_off)
    {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        manager->executor_off = 1;
        return NGX_CONF_OK;
    }

    return ngx_http_submission_conf_options(cf, 1, options);
}


char *
ngx_http_submission_conf_intake(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_manager_t *manager = conf;

    ngx_http_submission_option_t  options[] = {
        { "queue", NGX_HTTP_SUBMISSION_NUMBER, 1, 1000000,
          "a number between 1 and 1000000", &manager->intake_queue },
        { "batch", NGX_HTTP_SUBMISSION_NUMBER, 1, 1000,
          "a number between 1 and 1000", &manager->intake_batch },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    if (manager->intake_queue != NGX_CONF_UNSET
        || manager->intake_batch != NGX_CONF_UNSET)
    {
        return "is duplicate";
    }

    return ngx_http_submission_conf_options(cf, 1, options);
}


static ngx_int_t
ngx_http_submission_conf_option(ngx_http_submission_option_t *option,
    ngx_str_t *text)
{
    switch (option->type) {

    case NGX_HTTP_SUBMISSION_MSEC:
        return ngx_parse_time(text, 0);

    case NGX_HTTP_SUBMISSION_SWITCH:
        return text->len == 2 && ngx_strncmp(text->data, "on", 2) == 0 ? 1
               : text->len == 3 && ngx_strncmp(text->data, "off", 3) == 0 ? 0
               : NGX_ERROR;

    case NGX_HTTP_SUBMISSION_PERCENT:
        return ngx_atofp(text->data, text->len, 2);

    default: /* NGX_HTTP_SUBMISSION_NUMBER */
        return ngx_atoi(text->data, text->len);
    }
}


/* "a=", "b=" or "c=" */

static u_char *
ngx_http_submission_conf_expected(ngx_http_submission_option_t *options,
    u_char *buf, size_t size)
{
    u_char                        *p, *last;
    ngx_http_submission_option_t  *option;

    p = buf;
    last = buf + size - 1;

    for (option = options; option->name; option++) {
        p = ngx_slprintf(p, last, "%s\"%s=\"",
                         option == options ? ""
                         : option[1].name ? ", " : " or ", option->name);
    }

    *p = '\0';

    return buf;
}


char *
ngx_http_submission_conf_options(ngx_conf_t *cf, ngx_uint_t first,
    ngx_http_submission_option_t *options)
{
    u_char                         buf[128];
    size_t                         len;
    ngx_int_t                      n;
    ngx_str_t                     *value, text;
    ngx_uint_t                     i, seen;
    ngx_http_submission_option_t  *option;

    value = cf->args->elts;
    seen = 0;

    for (i = first; i < cf->args->nelts; i++) {

        for (option = options; option->name; option++) {
            len = ngx_strlen(option->name);

            if (value[i].len > len && value[i].data[len] == '='
                && ngx_strncmp(value[i].data, option->name, len) == 0)
            {
                break;
            }
        }

        if (option->name == NULL) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid parameter \"%V\" in \"%V\": %s was "
                               "expected", &value[i], &value[0],
                               ngx_http_submission_conf_expected(options, buf,
                                                                 sizeof(buf)));
            return NGX_CONF_ERROR;
        }

        if (seen & (1 << (option - options))) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "duplicate parameter \"%s\" in \"%V\"",
                               option->name, &value[0]);
            return NGX_CONF_ERROR;
        }

        seen |= 1 << (option - options);

        text.data = value[i].data + ngx_strlen(option->name) + 1;
        text.len = value[i].data + value[i].len - text.data;

        n = ngx_http_submission_conf_option(option, &text);

        if (n == NGX_ERROR || n < option->min || n > option->max) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid value \"%V\" of parameter \"%s\" in "
                               "\"%V\": %s was expected",
                               &text, option->name, &value[0],
                               option->expected);
            return NGX_CONF_ERROR;
        }

        *option->value = n;
    }

    return NGX_CONF_OK;
}
