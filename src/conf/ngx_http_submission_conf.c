
/*
 * The submission_manager block.  Every refusal names the directive, the value
 * and what was expected; nginx adds the file and the line.
 */

#include "ngx_http_submission_directives.h"


#define NGX_HTTP_SUBMISSION_ZONE_MIN  (128 * 1024)


static char *ngx_http_submission_conf_defaults(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);


/* Finds a manager by its name, or adds one that a later block may define. */

ngx_http_submission_manager_conf_t *
ngx_http_submission_conf_manager(ngx_conf_t *cf, ngx_str_t *name)
{
    ngx_uint_t                           i;
    ngx_http_submission_manager_conf_t  *mcf, **managers;
    ngx_http_submission_main_conf_t     *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    managers = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {
        if (managers[i]->name.len == name->len
            && ngx_strncmp(managers[i]->name.data, name->data, name->len) == 0)
        {
            return managers[i];
        }
    }

    mcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_submission_manager_conf_t));
    if (mcf == NULL) {
        return NULL;
    }

    managers = ngx_array_push(&smcf->managers);
    if (managers == NULL) {
        return NULL;
    }

    *managers = mcf;

    mcf->name = *name;
    mcf->file = cf->conf_file->file.name.data;
    mcf->line = cf->conf_file->line;

    mcf->lease_duration = NGX_CONF_UNSET_MSEC;
    mcf->renew_interval = NGX_CONF_UNSET_MSEC;
    mcf->acquire_interval = NGX_CONF_UNSET_MSEC;
    mcf->queue_refresh_interval = NGX_CONF_UNSET_MSEC;
    mcf->release_on_exit = NGX_CONF_UNSET;
    mcf->executor_concurrency = NGX_CONF_UNSET;
    mcf->executor_batch = NGX_CONF_UNSET;
    mcf->executor_timeout = NGX_CONF_UNSET;
    mcf->intake_queue = NGX_CONF_UNSET;
    mcf->intake_batch = NGX_CONF_UNSET;
    mcf->inbox_max_payload = NGX_CONF_UNSET_SIZE;

    ngx_rbtree_init(&mcf->targets, &mcf->sentinel,
                    ngx_str_rbtree_insert_value);

    if (ngx_array_init(&mcf->former, cf->pool, 1,
                       sizeof(ngx_http_submission_target_node_t *))
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (ngx_array_init(&mcf->by_index, cf->pool, 8,
                       sizeof(ngx_http_submission_target_t *))
        != NGX_OK
        || ngx_array_init(&mcf->schedules, cf->pool, 1,
                          sizeof(sm_schedule_row_t))
           != NGX_OK)
    {
        return NULL;
    }

    return mcf;
}


ngx_http_submission_conf_line_t
ngx_http_submission_conf_line(ngx_conf_t *cf)
{
    ngx_http_submission_conf_line_t  line;

    line.file = cf->conf_file->file.name.data;
    line.line = cf->conf_file->line;

    return line;
}


/*
 * The argument of a location's directive names a manager, which a later block
 * may define.
 */

char *
ngx_http_submission_conf_reference(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t **mcfp)
{
    ngx_str_t                        *value;
    ngx_http_submission_place_t      *place;
    ngx_http_submission_main_conf_t  *smcf;

    if (*mcfp) {
        return "is duplicate";
    }

    value = cf->args->elts;

    *mcfp = ngx_http_submission_conf_manager(cf, &value[1]);

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    place = ngx_array_push(&smcf->places);

    if (*mcfp == NULL || place == NULL) {
        return NGX_CONF_ERROR;
    }

    place->location = ngx_http_conf_get_module_loc_conf(cf,
                                                        ngx_http_core_module);
    place->server = ngx_http_conf_get_module_srv_conf(cf,
                                                      ngx_http_core_module);
    place->line = ngx_http_submission_conf_line(cf);

    return NGX_CONF_OK;
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

    /* NGX_MAIN_CONF allows "include", but no directive of http modules */

    cf->cmd_type = type|NGX_MAIN_CONF;

    rv = ngx_conf_parse(cf, NULL);

    *cf = pcf;

    return rv;
}


char *
ngx_http_submission_manager_block(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    char                                *rv;
    ngx_str_t                           *value;
    ngx_http_submission_manager_conf_t  *mcf;

    value = cf->args->elts;

    /* the name is part of file names */

    if (value[1].len == 0 || ngx_strchr(value[1].data, '/')) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid name \"%V\" of \"submission_manager\": a "
                           "word without slashes was expected", &value[1]);
        return NGX_CONF_ERROR;
    }

    mcf = ngx_http_submission_conf_manager(cf, &value[1]);
    if (mcf == NULL) {
        return NGX_CONF_ERROR;
    }

    if (mcf->defined) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "duplicate submission_manager \"%V\", it is already "
                           "defined in %s:%ui",
                           &value[1], mcf->file, mcf->line);
        return NGX_CONF_ERROR;
    }

    mcf->defined = 1;
    mcf->file = cf->conf_file->file.name.data;
    mcf->line = cf->conf_file->line;

    rv = ngx_http_submission_conf_nested(cf, NGX_HTTP_SUBMISSION_CONF, mcf);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    rv = ngx_http_submission_webhook_resolve(cf, mcf);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    return ngx_http_submission_conf_defaults(cf, mcf);
}


static char *
ngx_http_submission_conf_defaults(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    if (mcf->store_ops == NULL) {
        mcf->store_ops = &sm_store_sqlite;
        mcf->busy_timeout = 5000;
        ngx_str_set(&mcf->store_path, "data/submission.db");

        if (ngx_conf_full_name(cf->cycle, &mcf->store_path, 0) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    if (mcf->lease_name.len == 0) {
        ngx_str_set(&mcf->lease_name, "submission-manager-executor");
    }

    if (mcf->zone_size == 0) {
        mcf->zone_size = 8 * 1024 * 1024;
    }

    ngx_conf_init_msec_value(mcf->lease_duration, 60000);
    ngx_conf_init_msec_value(mcf->renew_interval, 20000);
    ngx_conf_init_msec_value(mcf->acquire_interval, 30000);
    ngx_conf_init_msec_value(mcf->queue_refresh_interval, 1000);
    ngx_conf_init_value(mcf->release_on_exit, 1);

    mcf->executor_given = mcf->executor_concurrency != NGX_CONF_UNSET;

    ngx_conf_init_value(mcf->executor_concurrency, 256);
    ngx_conf_init_value(mcf->executor_batch, 128);
    ngx_conf_init_value(mcf->executor_timeout, 120000);
    ngx_conf_init_value(mcf->intake_queue, 4096);
    ngx_conf_init_value(mcf->intake_batch, 256);
    ngx_conf_init_size_value(mcf->inbox_max_payload, 1024 * 1024);

    if (mcf->renew_interval >= mcf->lease_duration) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"renew_interval\" of %Mms must be less than "
                           "\"lease_duration\" of %Mms in submission_manager "
                           "\"%V\"", mcf->renew_interval,
                           mcf->lease_duration, &mcf->name);
        return NGX_CONF_ERROR;
    }

    if (mcf->ntargets == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "submission_manager \"%V\" has no target: a "
                           "\"target\" block or a \"targets\" file was "
                           "expected", &mcf->name);
        return NGX_CONF_ERROR;
    }

    if (mcf->thread_pool == NULL) {
        mcf->thread_pool = ngx_thread_pool_add(cf, NULL);
        if (mcf->thread_pool == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    if (ngx_http_submission_zone_add(cf, mcf) != NGX_OK) {
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


/* The word goes into log lines and SQL keys; cmd->post is its length limit. */

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
    ngx_http_submission_manager_conf_t *mcf = conf;

    ssize_t     size;
    ngx_str_t  *value;

    if (mcf->zone_size) {
        return "is duplicate";
    }

    value = cf->args->elts;

    size = ngx_parse_size(&value[1]);

    if (size < NGX_HTTP_SUBMISSION_ZONE_MIN) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%V\" of \"zone\": a size of at "
                           "least 128k was expected", &value[1]);
        return NGX_CONF_ERROR;
    }

    mcf->zone_size = size;

    return NGX_CONF_OK;
}


/* nginx itself refuses a pool that is not defined. */

char *
ngx_http_submission_conf_thread_pool(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    ngx_str_t  *value;

    if (mcf->thread_pool) {
        return "is duplicate";
    }

    value = cf->args->elts;

    mcf->thread_pool = ngx_thread_pool_add(cf, &value[1]);

    return mcf->thread_pool ? NGX_CONF_OK : NGX_CONF_ERROR;
}


/*
 * store sqlite <path> [busy_timeout=<time>] [migrate_backup=on|off]
 *
 * server.c has the other stores.
 */

char *
ngx_http_submission_conf_store(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    char                          *rv;
    ngx_int_t                      busy_timeout, migrate_backup;
    ngx_str_t                     *value;
    ngx_http_submission_option_t   options[] = {
        { "busy_timeout", NGX_HTTP_SUBMISSION_OPT_MSEC, 1, 600000,
          "a time between 1ms and 10m", &busy_timeout },
        { "migrate_backup", NGX_HTTP_SUBMISSION_OPT_SWITCH, 0, 1,
          "\"on\" or \"off\"", &migrate_backup },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    if (mcf->store_ops) {
        return "is duplicate";
    }

    mcf->store_line = ngx_http_submission_conf_line(cf);

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, sm_store_ops_name(&sm_store_odbc)) == 0) {
        return ngx_http_submission_server_odbc(cf, mcf);
    }

    if (ngx_strcmp(value[1].data, sm_store_ops_name(&sm_store_postgres)) == 0) {
        return ngx_http_submission_server_postgres(cf, mcf);
    }

    if (ngx_strcmp(value[1].data, sm_store_ops_name(&sm_store_sqlite)) != 0) {
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

    mcf->store_ops = &sm_store_sqlite;
    mcf->busy_timeout = busy_timeout;
    mcf->migrate_no_copy = !migrate_backup;
    mcf->store_path = value[2];

    if (ngx_conf_full_name(cf->cycle, &mcf->store_path, 0) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


char *
ngx_http_submission_conf_executor(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    ngx_str_t                     *value;
    ngx_http_submission_option_t   options[] = {
        { "concurrency", NGX_HTTP_SUBMISSION_OPT_NUMBER, 1, 65535,
          "a number between 1 and 65535", &mcf->executor_concurrency },
        { "batch", NGX_HTTP_SUBMISSION_OPT_NUMBER, 1, 1000,
          "a number between 1 and 1000", &mcf->executor_batch },
        { "timeout", NGX_HTTP_SUBMISSION_OPT_MSEC, 1, 86400000,
          "a time between 1ms and 1d", &mcf->executor_timeout },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    if (mcf->executor_concurrency != NGX_CONF_UNSET
        || mcf->executor_batch != NGX_CONF_UNSET
        || mcf->executor_timeout != NGX_CONF_UNSET
        || mcf->executor_off)
    {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        mcf->executor_off = 1;
        return NGX_CONF_OK;
    }

    return ngx_http_submission_conf_options(cf, 1, options);
}


char *
ngx_http_submission_conf_intake(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    ngx_http_submission_option_t  options[] = {
        { "queue", NGX_HTTP_SUBMISSION_OPT_NUMBER, 1, 1000000,
          "a number between 1 and 1000000", &mcf->intake_queue },
        { "batch", NGX_HTTP_SUBMISSION_OPT_NUMBER, 1, 1000,
          "a number between 1 and 1000", &mcf->intake_batch },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    if (mcf->intake_queue != NGX_CONF_UNSET
        || mcf->intake_batch != NGX_CONF_UNSET)
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

    case NGX_HTTP_SUBMISSION_OPT_MSEC:
        return ngx_parse_time(text, 0);

    case NGX_HTTP_SUBMISSION_OPT_SWITCH:
        return text->len == 2 && ngx_strncmp(text->data, "on", 2) == 0 ? 1
               : text->len == 3 && ngx_strncmp(text->data, "off", 3) == 0 ? 0
               : NGX_ERROR;

    case NGX_HTTP_SUBMISSION_OPT_PERCENT:
        return ngx_atofp(text->data, text->len, 2);

    case NGX_HTTP_SUBMISSION_OPT_RATE:
        return ngx_http_submission_rules_rate(text);

    default: /* NGX_HTTP_SUBMISSION_OPT_NUMBER */
        return ngx_atoi(text->data, text->len);
    }
}


/* Writes "a=", "b=" or "c=", for a message. */

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
