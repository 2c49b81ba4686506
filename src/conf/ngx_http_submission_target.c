
/*
 * Targets: blocks in the configuration, and the JSON registry file.
 */

#include "ngx_http_submission_directives.h"

#include "sm_registry.h"


#define NGX_HTTP_SUBMISSION_REGISTRY_MAX  (16 * 1024 * 1024)


char *
ngx_http_submission_target_add(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_target_t *target)
{
    sm_str_t                        name;
    ngx_http_submission_target_t  **slot;

    name = target->contract.target;

    if (ngx_http_submission_target(mcf, name)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "duplicate target \"%*s\"",
                           name.len, name.data);
        return NGX_CONF_ERROR;
    }

    slot = ngx_array_push(&mcf->by_index);
    if (slot == NULL) {
        return NGX_CONF_ERROR;
    }

    *slot = target;

    ngx_http_submission_named_insert(&mcf->targets, &target->node, name);

    target->index = mcf->ntargets++;

    return NGX_CONF_OK;
}


ngx_http_submission_target_t *
ngx_http_submission_target(ngx_http_submission_manager_conf_t *mcf,
    sm_str_t name)
{
    return (ngx_http_submission_target_t *)
               ngx_http_submission_named(&mcf->targets, name);
}


ngx_http_submission_target_t *
ngx_http_submission_target_client(ngx_http_submission_manager_conf_t *mcf,
    sm_str_t name)
{
    ngx_http_submission_target_t  *target;

    target = ngx_http_submission_target(mcf, name);

    return target && !target->webhook ? target : NULL;
}


const sm_contract_t *
ngx_http_submission_target_contract_thread(void *data, sm_str_t name)
{
    ngx_http_submission_target_t  *target;

    target = ngx_http_submission_target_client(data, name);

    return target ? &target->contract : NULL;
}


/* Reads the parameters of a block, which follow its name. */

char *
ngx_http_submission_target_limits(ngx_conf_t *cf,
    ngx_http_submission_target_t *target)
{
    char                          *rv;
    ngx_int_t                      concurrency, rate, burst;
    ngx_http_submission_option_t   options[] = {
        { "concurrency", NGX_HTTP_SUBMISSION_OPT_NUMBER, 1, 65535,
          "a number between 1 and 65535", &concurrency },
        { "rate", NGX_HTTP_SUBMISSION_OPT_RATE, 1, SM_BUCKET_RATE_MAX,
          "a rate such as \"50r/s\" or \"30r/m\"", &rate },
        { "burst", NGX_HTTP_SUBMISSION_OPT_NUMBER, 1, SM_BUCKET_BURST_MAX,
          "a number between 1 and 1000000", &burst },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    concurrency = 0;
    rate = 0;
    burst = 0;

    rv = ngx_http_submission_conf_options(cf, 2, options);

    if (rv == NGX_CONF_OK) {
        rv = ngx_http_submission_rules_limit(cf, target, rate, burst);
    }

    target->concurrency = concurrency;

    return rv;
}


/* target <name> [concurrency=<n>] [rate=<n>r/s|r/m [burst=<n>]] { ... } */

char *
ngx_http_submission_target_block(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    char                          *rv, why[512];
    ngx_str_t                     *value;
    ngx_http_submission_target_t  *target;

    target = ngx_pcalloc(cf->pool, sizeof(ngx_http_submission_target_t));
    if (target == NULL) {
        return NGX_CONF_ERROR;
    }

    rv = ngx_http_submission_target_limits(cf, target);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;

    sm_contract_init(&target->contract);

    target->contract.retry_delay = 0;
    target->contract.target = ngx_http_submission_str(&value[1]);

    rv = ngx_http_submission_target_add(cf, mcf, target);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    rv = ngx_http_submission_conf_nested(cf, NGX_HTTP_SUBMISSION_TARGET_CONF,
                                         target);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (target->contract.retry_delay == 0) {
        target->contract.retry_delay = 5000;
    }

    if (sm_contract_check(&target->contract, why, sizeof(why)) != 0) {

        /* cf->args are not those of the block any more */

        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "target \"%V\": %s",
                           &target->node.str, why);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


char *
ngx_http_submission_target_gateway_type(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_target_t *target = conf;

    ngx_str_t  *value;

    if (target->contract.gateway_type != SM_GATEWAY_NONE) {
        return "is duplicate";
    }

    value = cf->args->elts;

    target->contract.gateway_type =
                       sm_gateway_by_name(ngx_http_submission_str(&value[1]));

    if (target->contract.gateway_type == SM_GATEWAY_NONE
        || target->contract.gateway_type == SM_GATEWAY_WEBHOOK)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%V\" of \"gateway_type\": "
                           SM_GATEWAY_EXPECTED " was expected", &value[1]);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


char *
ngx_http_submission_target_gateway_url(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_target_t *target = conf;

    sm_str_t    *url;
    ngx_str_t   *value;
    const char  *why;

    url = &target->contract.gateway_url;

    if (url->data) {
        return "is duplicate";
    }

    value = cf->args->elts;

    *url = ngx_http_submission_str(&value[1]);

    why = sm_gateway_url_check(*url);

    if (why) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%*s\" of \"%V\": it %s",
                           ngx_min(value[1].len, 256),
                           value[1].data, &cmd->name, why);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/* policy deadline <time> | max_attempts <n> | one_shot */

char *
ngx_http_submission_target_policy(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_target_t *target = conf;

    ngx_int_t       n;
    ngx_str_t      *value;
    ngx_uint_t      args;
    sm_contract_t  *c;

    c = &target->contract;

    if (c->policy != SM_POLICY_NONE) {
        return "is duplicate";
    }

    value = cf->args->elts;
    args = cf->args->nelts - 2;

    c->policy = sm_policy_by_name(ngx_http_submission_str(&value[1]));

    switch (c->policy) {

    case SM_POLICY_DEADLINE:
        n = args == 1 ? ngx_parse_time(&value[2], 1) : NGX_ERROR;

        if (n < 1 || n > SM_ACCEPTANCE_MAX) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"policy deadline\" takes one argument, a time "
                               "of whole seconds between 1s and 365d");
            return NGX_CONF_ERROR;
        }

        c->max_acceptance_seconds = n;
        return NGX_CONF_OK;

    case SM_POLICY_MAX_ATTEMPTS:
        n = args == 1 ? ngx_atoi(value[2].data, value[2].len) : NGX_ERROR;

        if (n < 1 || n > SM_ATTEMPTS_MAX) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"policy max_attempts\" takes one argument, a "
                               "number between 1 and 1000000");
            return NGX_CONF_ERROR;
        }

        c->max_attempts = n;
        return NGX_CONF_OK;

    case SM_POLICY_ONE_SHOT:

        if (args) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"policy one_shot\" takes no argument, but "
                               "\"%V\" is given", &value[2]);
            return NGX_CONF_ERROR;
        }

        return NGX_CONF_OK;

    default: /* SM_POLICY_NONE */

        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "unknown policy \"%V\": \"deadline\", "
                           "\"max_attempts\" or \"one_shot\" was expected",
                           &value[1]);
        return NGX_CONF_ERROR;
    }
}


/* The outcomes are checked later, when the gateway type is known. */

char *
ngx_http_submission_target_outcomes(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_target_t *target = conf;

    size_t       len;
    u_char      *p;
    ngx_str_t   *value;
    ngx_uint_t   i;

    if (target->contract.terminal_outcomes.len) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1, len = 0; i < cf->args->nelts; i++) {
        len += value[i].len + 1;
    }

    p = ngx_pnalloc(cf->pool, len);
    if (p == NULL) {
        return NGX_CONF_ERROR;
    }

    target->contract.terminal_outcomes.data = (char *) p;
    target->contract.terminal_outcomes.len = len - 1;

    for (i = 1; i < cf->args->nelts; i++) {
        p = ngx_cpymem(p, value[i].data, value[i].len);
        *p++ = ' ';
    }

    return NGX_CONF_OK;
}


/* retry_delay <time> [backoff=<factor>] [max=<time>] [jitter=<0..1>] */

char *
ngx_http_submission_target_retry_delay(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_target_t *target = conf;

    char                          *rv;
    ngx_int_t                      delay, backoff, max, jitter;
    ngx_str_t                     *value;
    ngx_http_submission_option_t   options[] = {
        { "backoff", NGX_HTTP_SUBMISSION_OPT_PERCENT, 100, 10000,
          "a factor between 1 and 100", &backoff },
        { "max", NGX_HTTP_SUBMISSION_OPT_MSEC, 1, SM_DELAY_MAX,
          "a time between 1ms and 1d", &max },
        { "jitter", NGX_HTTP_SUBMISSION_OPT_PERCENT, 0, 100,
          "a fraction between 0 and 1", &jitter },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    if (target->contract.retry_delay) {
        return "is duplicate";
    }

    if (target->contract.retry_schedule.data) {
        return "cannot be used together with \"retry_schedule\"";
    }

    value = cf->args->elts;

    delay = ngx_parse_time(&value[1], 0);

    if (delay < 1 || delay > SM_DELAY_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%V\" of \"retry_delay\": a time "
                           "between 1ms and 1d was expected", &value[1]);
        return NGX_CONF_ERROR;
    }

    backoff = 100;
    max = 0;
    jitter = 0;

    rv = ngx_http_submission_conf_options(cf, 2, options);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    target->contract.retry_delay = delay;
    target->contract.retry_backoff = backoff;
    target->contract.retry_max = max;
    target->contract.retry_jitter = jitter;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_submission_registry_read(ngx_conf_t *cf, ngx_str_t *path,
    sm_str_t *text)
{
    char             *p;
    off_t             size;
    ssize_t           n;
    ngx_int_t         rc;
    ngx_file_t        file;
    ngx_file_info_t   fi;

    ngx_memzero(&file, sizeof(ngx_file_t));

    file.name = *path;
    file.log = cf->log;

    file.fd = ngx_open_file(path->data, NGX_FILE_RDONLY, NGX_FILE_OPEN, 0);

    if (file.fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "targets file \"%V\" cannot be opened", path);
        return NGX_ERROR;
    }

    rc = NGX_ERROR;

    if (ngx_fd_info(file.fd, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "targets file \"%V\" is not a file", path);
        goto done;
    }

    size = ngx_file_size(&fi);

    if (size > NGX_HTTP_SUBMISSION_REGISTRY_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "targets file \"%V\" is larger than 16m", path);
        goto done;
    }

    p = ngx_pnalloc(cf->pool, size + 1);
    if (p == NULL) {
        goto done;
    }

    n = ngx_read_file(&file, (u_char *) p, size, 0);

    if (n != (ssize_t) size) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "targets file \"%V\" cannot be read", path);
        goto done;
    }

    text->data = p;
    text->len = size;
    rc = NGX_OK;

done:

    if (ngx_close_file(file.fd) == NGX_FILE_ERROR) {
        ngx_log_error(NGX_LOG_ALERT, cf->log, ngx_errno,
                      ngx_close_file_n " \"%V\" failed", path);
    }

    return rc;
}


static void
ngx_http_submission_registry_cleanup(void *data)
{
    sm_arena_free(data);
}


char *
ngx_http_submission_targets_file(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    char                          *rv;
    size_t                         i;
    sm_str_t                       text;
    ngx_str_t                     *value;
    sm_arena_t                    *arena;
    sm_registry_t                  registry;
    ngx_pool_cleanup_t            *cln;
    ngx_http_submission_target_t  *targets;

    if (mcf->registry.data) {
        return "is duplicate";
    }

    value = cf->args->elts;
    mcf->registry = value[1];

    if (ngx_conf_full_name(cf->cycle, &mcf->registry, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_http_submission_registry_read(cf, &mcf->registry, &text)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    /* the strings of contracts live as long as the configuration */

    cln = ngx_pool_cleanup_add(cf->pool, sizeof(sm_arena_t));
    if (cln == NULL) {
        return NGX_CONF_ERROR;
    }

    arena = cln->data;
    ngx_memzero(arena, sizeof(sm_arena_t));
    cln->handler = ngx_http_submission_registry_cleanup;

    if (sm_registry_parse(arena, text, &registry) != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "targets file \"%V\": %s",
                           &mcf->registry, registry.error);
        return NGX_CONF_ERROR;
    }

    targets = ngx_pcalloc(cf->pool,
                          registry.n * sizeof(ngx_http_submission_target_t));
    if (targets == NULL) {
        return NGX_CONF_ERROR;
    }

    for (i = 0; i < registry.n; i++) {
        targets[i].contract = registry.contracts[i];

        rv = ngx_http_submission_target_add(cf, mcf, &targets[i]);
        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return NGX_CONF_OK;
}
