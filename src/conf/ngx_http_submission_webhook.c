
/*
 * Webhooks, "notify", and the files of secrets.
 *
 * A webhook is a target that no client can name, because its name has a space.
 * The master reads secrets with the configuration, and no message has them.
 */

#include "ngx_http_submission_directives.h"

#include "sm_webhook.h"


#define NGX_HTTP_SUBMISSION_SECRET_MAX  4096


/* A "notify" directive. */

typedef struct {
    ngx_str_t    name;
    ngx_uint_t   on;                    /* 0: the events of the webhook */
    u_char      *file;
    ngx_uint_t   line;
} ngx_http_submission_notify_t;


static const sm_status_e  ngx_http_submission_ends[] = {
    SM_STATUS_ACCEPTED, SM_STATUS_REJECTED, SM_STATUS_EXHAUSTED,
    SM_STATUS_CANCELED
};

#define NGX_HTTP_SUBMISSION_ENDS                                              \
    (sizeof(ngx_http_submission_ends) / sizeof(sm_status_e))

#define ngx_http_submission_end(status)  (1u << (status))

#define NGX_HTTP_SUBMISSION_ENDS_ALL                                          \
    (ngx_http_submission_end(SM_STATUS_ACCEPTED)                              \
     | ngx_http_submission_end(SM_STATUS_REJECTED)                            \
     | ngx_http_submission_end(SM_STATUS_EXHAUSTED)                           \
     | ngx_http_submission_end(SM_STATUS_CANCELED))


/* Adds an end to the set.  The caller logs an error. */

static ngx_int_t
ngx_http_submission_webhook_end(u_char *data, size_t len, ngx_uint_t *set)
{
    sm_str_t     name;
    sm_status_e  status;

    name.data = (char *) data;
    name.len = len;

    status = sm_status_by_name(name);

    if (status == SM_STATUS_NONE || status == SM_STATUS_PENDING) {
        return NGX_ERROR;
    }

    *set |= ngx_http_submission_end(status);

    return NGX_OK;
}


/* webhook <name> [concurrency=<n>] { ... } */

char *
ngx_http_submission_webhook_block(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    char                          *rv, why[512];
    u_char                        *p;
    sm_str_t                       name;
    ngx_str_t                     *value, shown;
    const char                    *fault;
    sm_contract_t                 *c;
    ngx_http_submission_target_t  *target;

    value = cf->args->elts;
    shown = value[1];

    name = ngx_http_submission_str(&shown);

    fault = sm_webhook_name_check(name);

    if (fault) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the webhook's name \"%V\" %s", &shown, fault);
        return NGX_CONF_ERROR;
    }

    target = ngx_pcalloc(cf->pool, sizeof(ngx_http_submission_target_t));
    p = ngx_pnalloc(cf->pool, sizeof(SM_WEBHOOK_TARGET) + shown.len);

    if (target == NULL || p == NULL) {
        return NGX_CONF_ERROR;
    }

    c = &target->contract;

    sm_contract_init(c);

    target->webhook = 1;

    c->retry_delay = 0;
    c->gateway_type = SM_GATEWAY_WEBHOOK;
    c->target.data = (char *) p;
    c->target.len = ngx_sprintf(p, SM_WEBHOOK_TARGET "%V", &shown) - p;

    rv = ngx_http_submission_target_limits(cf, target);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    rv = ngx_http_submission_target_add(cf, mcf, target);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    rv = ngx_http_submission_conf_nested(cf, NGX_HTTP_SUBMISSION_WEBHOOK_CONF,
                                         target);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (c->policy == SM_POLICY_NONE) {
        c->policy = SM_POLICY_MAX_ATTEMPTS;
        c->max_attempts = SM_WEBHOOK_ATTEMPTS;
    }

    if (c->retry_delay == 0 && c->retry_schedule.data == NULL) {
        c->retry_schedule = sm_str_c(SM_WEBHOOK_SCHEDULE);
    }

    if (c->retry_delay == 0) {
        c->retry_delay = 5000;
    }

    if (target->events == 0) {
        target->events = NGX_HTTP_SUBMISSION_ENDS_ALL;
    }

    fault = c->gateway_url.data == NULL ? "\"url\" is missing"
            : target->nkeys == 0 ? "\"secret_file\" is missing"
            : c->policy == SM_POLICY_ONE_SHOT
              ? "\"policy one_shot\" would not tell it at least once"
            : sm_contract_terms(c, why, sizeof(why)) != 0 ? why : NULL;

    if (fault) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "webhook \"%V\": %s", &shown,
                           fault);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


char *
ngx_http_submission_webhook_events(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_target_t *target = conf;

    ngx_str_t   *value;
    ngx_uint_t   i;

    if (target->events) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        if (ngx_http_submission_webhook_end(value[i].data, value[i].len,
                                            &target->events)
            != NGX_OK)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid value \"%V\" of \"events\": "
                               NGX_HTTP_SUBMISSION_ENDS_EXPECTED
                               " was expected", &value[i]);
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_submission_webhook_read(ngx_conf_t *cf, ngx_str_t *name,
    const char *directive, ngx_str_t *text)
{
    ssize_t           n;
    ngx_fd_t          fd;
    const char       *why;
    ngx_file_info_t   fi;

    fd = ngx_open_file(name->data, NGX_FILE_RDONLY|NGX_FILE_NONBLOCK,
                       NGX_FILE_OPEN, 0);

    if (fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "%s \"%V\" cannot be opened", directive, name);
        return NGX_ERROR;
    }

    n = -1;
    why = NULL;

    if (ngx_fd_info(fd, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)) {
        why = "is not a file";

    } else if (fi.st_mode & S_IROTH) {
        why = "can be read by everybody: mode 0600 or 0640 was expected";

    } else if (ngx_file_size(&fi) > NGX_HTTP_SUBMISSION_SECRET_MAX) {
        why = "is too long: one secret in each line was expected";

    } else {
        text->data = ngx_pnalloc(cf->temp_pool, NGX_HTTP_SUBMISSION_SECRET_MAX);

        n = text->data ? ngx_read_fd(fd, text->data,
                                     NGX_HTTP_SUBMISSION_SECRET_MAX)
                       : -1;
        why = n == -1 ? "cannot be read" : NULL;
    }

    (void) ngx_close_file(fd);

    if (why) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%s \"%V\" %s", directive,
                           name, why);
        return NGX_ERROR;
    }

    text->len = n;

    return NGX_OK;
}


/* secret_file <file>; sign_secret_file <file> */

char *
ngx_http_submission_webhook_secret(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_target_t *target = conf;

    size_t       i, n;
    u_char      *p;
    sm_str_t     text, keys[SM_WEBHOOK_KEYS];
    ngx_str_t   *value, s;
    sm_arena_t   arena;
    const char  *why;

    if (target->nkeys) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_conf_full_name(cf->cycle, &value[1], 1) != NGX_OK
        || ngx_http_submission_webhook_read(cf, &value[1],
                                            (char *) cmd->name.data, &s)
           != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    text = ngx_http_submission_str(&s);

    ngx_memzero(&arena, sizeof(sm_arena_t));

    why = sm_webhook_keys(&arena, text, keys, &n);

    if (why) {
        sm_arena_free(&arena);
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "a secret in %V \"%V\" %s", &cmd->name, &value[1],
                           why);
        return NGX_CONF_ERROR;
    }

    target->keys = ngx_palloc(cf->pool, n * sizeof(sm_str_t));
    p = ngx_pnalloc(cf->pool, n * SM_WEBHOOK_KEY_MAX);

    if (target->keys == NULL || p == NULL) {
        sm_arena_free(&arena);
        return NGX_CONF_ERROR;
    }

    for (i = 0; i < n; i++) {
        target->keys[i].data = (char *) p;
        target->keys[i].len = keys[i].len;
        p = ngx_cpymem(p, keys[i].data, keys[i].len);
    }

    target->nkeys = n;

    sm_arena_free(&arena);

    return NGX_CONF_OK;
}


/* notify <webhook> [on=<end>[,<end>...]], in a target or in the manager */

static char *
ngx_http_submission_webhook_notify(ngx_conf_t *cf, ngx_array_t **list)
{
    u_char                        *p, *last, *comma;
    ngx_str_t                     *value;
    ngx_http_submission_notify_t  *notify;

    value = cf->args->elts;

    if (*list == NULL) {
        *list = ngx_array_create(cf->pool, 2,
                                 sizeof(ngx_http_submission_notify_t));
        if (*list == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    notify = ngx_array_push(*list);
    if (notify == NULL) {
        return NGX_CONF_ERROR;
    }

    notify->name = value[1];
    notify->on = 0;
    notify->file = cf->conf_file->file.name.data;
    notify->line = cf->conf_file->line;

    if (cf->args->nelts == 2) {
        return NGX_CONF_OK;
    }

    p = value[2].data;
    last = p + value[2].len;

    if (value[2].len < 3 || ngx_strncmp(p, "on=", 3) != 0) {
        goto invalid;
    }

    for (p += 3; ; p = comma + 1) {
        comma = ngx_strlchr(p, last, ',');

        if (ngx_http_submission_webhook_end(p, (comma ? comma : last) - p,
                                            &notify->on)
            != NGX_OK)
        {
            goto invalid;
        }

        if (comma == NULL) {
            return NGX_CONF_OK;
        }
    }

invalid:

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid parameter \"%V\" of \"notify\": \"on=\" and "
                       NGX_HTTP_SUBMISSION_ENDS_EXPECTED ", separated by "
                       "commas, was expected", &value[2]);
    return NGX_CONF_ERROR;
}


char *
ngx_http_submission_webhook_notify_target(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_target_t *target = conf;

    return ngx_http_submission_webhook_notify(cf, &target->notify);
}


char *
ngx_http_submission_webhook_notify_all(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    return ngx_http_submission_webhook_notify(cf, &mcf->notify);
}


/* Fills the ends that each webhook is told, by its index. */

static ngx_int_t
ngx_http_submission_webhook_sets(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf, ngx_array_t *list,
    ngx_uint_t *sets)
{
    u_char                         name[sizeof(SM_WEBHOOK_TARGET)
                                        + SM_WEBHOOK_NAME_MAX];
    sm_str_t                       s;
    ngx_uint_t                     i;
    ngx_http_submission_notify_t  *notify;
    ngx_http_submission_target_t  *webhook;

    notify = list ? list->elts : NULL;

    for (i = 0; list && i < list->nelts; i++) {

        s.data = (char *) name;
        s.len = ngx_snprintf(name, sizeof(name), SM_WEBHOOK_TARGET "%V",
                             &notify[i].name)
                - name;

        webhook = ngx_http_submission_target(mcf, s);

        if (webhook == NULL) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "unknown webhook \"%V\" of \"notify\" in %s:%ui: the "
                          "name of a webhook block of submission_manager "
                          "\"%V\" was expected", &notify[i].name,
                          notify[i].file, notify[i].line, &mcf->name);
            return NGX_ERROR;
        }

        if (notify[i].on & ~webhook->events) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "\"notify %V\" in %s:%ui has an end in \"on=\" that "
                          "is not among the \"events\" of the webhook",
                          &notify[i].name, notify[i].file, notify[i].line);
            return NGX_ERROR;
        }

        sets[webhook->index] |= notify[i].on ? notify[i].on : webhook->events;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_webhook_words(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_target_t *target, ngx_uint_t *sets)
{
    u_char                         *p, *last;
    sm_str_t                        name, end;
    ngx_uint_t                      i, k;
    ngx_http_submission_target_t  **targets;

    p = ngx_pnalloc(cf->pool, SM_NOTIFY_MAX + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    target->contract.notify.data = (char *) p;
    last = p + SM_NOTIFY_MAX + 1;

    targets = mcf->by_index.elts;

    for (i = 0; i < mcf->by_index.nelts; i++) {
        name = sm_webhook_name(targets[i]->contract.target);

        for (k = 0; k < NGX_HTTP_SUBMISSION_ENDS; k++) {

            if (!(sets[i]
                  & ngx_http_submission_end(ngx_http_submission_ends[k])))
            {
                continue;
            }

            end = sm_status_name(ngx_http_submission_ends[k]);

            p = ngx_slprintf(p, last, "%*s:%*s ", end.len, end.data, name.len,
                             name.data);
        }
    }

    if (p == last) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "target \"%V\" of submission_manager \"%V\" in %s:%ui "
                      "notifies too many webhooks", &target->node.str,
                      &mcf->name, mcf->file, mcf->line);
        return NGX_ERROR;
    }

    /* leave out the last space */

    target->contract.notify.len = p - 1
                                  - (u_char *) target->contract.notify.data;

    return NGX_OK;
}


char *
ngx_http_submission_webhook_resolve(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    size_t                          size;
    ngx_uint_t                      i, k, any, *sets;
    ngx_http_submission_target_t  **targets;

    size = mcf->by_index.nelts * sizeof(ngx_uint_t);
    targets = mcf->by_index.elts;

    sets = ngx_palloc(cf->temp_pool, size + 1);
    if (sets == NULL) {
        return NGX_CONF_ERROR;
    }

    for (i = 0; i < mcf->by_index.nelts; i++) {

        if (targets[i]->webhook) {
            continue;
        }

        ngx_memzero(sets, size);

        if (ngx_http_submission_webhook_sets(cf, mcf, mcf->notify, sets)
            != NGX_OK
            || ngx_http_submission_webhook_sets(cf, mcf, targets[i]->notify,
                                                sets)
               != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }

        for (k = 0, any = 0; k < mcf->by_index.nelts; k++) {
            any |= sets[k];
        }

        if (any
            && ngx_http_submission_webhook_words(cf, mcf, targets[i], sets)
               != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}
