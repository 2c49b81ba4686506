
/*
 * The directives "inbox_max_payload" and "retention".
 */

#include "ngx_http_submission_directives.h"


#define NGX_HTTP_SUBMISSION_INBOX_MAX  (64 * 1024 * 1024)
#define NGX_HTTP_SUBMISSION_KEEP_MAX   (100 * 366 * 86400L)     /* seconds */


/* inbox_max_payload <size> */

char *
ngx_http_submission_keep_inbox(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    ssize_t     size;
    ngx_str_t  *value;

    if (mcf->inbox_max_payload != NGX_CONF_UNSET_SIZE) {
        return "is duplicate";
    }

    value = cf->args->elts;

    size = ngx_parse_size(&value[1]);

    if (size < 1 || size > NGX_HTTP_SUBMISSION_INBOX_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%V\" of \"inbox_max_payload\": a "
                           "size between 1 and 64m was expected", &value[1]);
        return NGX_CONF_ERROR;
    }

    mcf->inbox_max_payload = size;

    return NGX_CONF_OK;
}


/* Reads a time, or "never", which is 0.  Returns NGX_ERROR otherwise. */

static int64_t
ngx_http_submission_keep_time(u_char *data, size_t len)
{
    time_t     sec;
    ngx_str_t  s;

    s.data = data;
    s.len = len;

    if (len == 5 && ngx_strncmp(data, "never", 5) == 0) {
        return 0;
    }

    sec = ngx_parse_time(&s, 1);

    return sec == (time_t) NGX_ERROR || sec < 1
           || sec > NGX_HTTP_SUBMISSION_KEEP_MAX
           ? NGX_ERROR : (int64_t) sec * 1000000;
}


/* Reads <strip>[:<forget>].  What is not given is that of all statuses. */

static ngx_int_t
ngx_http_submission_keep_rule(sm_retention_rule_t *rule, ngx_str_t *text)
{
    u_char  *colon;

    colon = ngx_strlchr(text->data, text->data + text->len, ':');

    rule->strip = ngx_http_submission_keep_time(text->data,
                                      colon ? (size_t) (colon - text->data)
                                            : text->len);

    if (colon) {
        rule->forget = ngx_http_submission_keep_time(colon + 1,
                                         text->data + text->len - colon - 1);
    }

    return rule->strip == NGX_ERROR || rule->forget == NGX_ERROR ? NGX_ERROR
                                                                 : NGX_OK;
}


static char *
ngx_http_submission_keep_invalid(ngx_conf_t *cf, ngx_str_t *value)
{
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid parameter \"%V\" of \"retention\": "
                       "\"strip=\", \"forget=\", \"audit=\", "
                       "\"refused=\" or \"jobs=\" with a time between 1s and "
                       "100y or \"never\" was expected, or "
                       "\"accepted=\", \"rejected=\", \"exhausted=\" or "
                       "\"canceled=\" with one or two of them, as in "
                       "\"30d:1y\"", value);

    return NGX_CONF_ERROR;
}


static sm_status_e
ngx_http_submission_keep_status(ngx_str_t *name)
{
    sm_status_e  status;

    status = sm_status_by_name(ngx_http_submission_str(name));

    return status == SM_STATUS_PENDING ? SM_STATUS_NONE : status;
}


static char *
ngx_http_submission_keep_check(ngx_conf_t *cf, sm_retention_rules_t *rules)
{
    sm_str_t             name;
    ngx_uint_t           i;
    sm_retention_rule_t  *rule;

    for (i = SM_STATUS_PENDING + 1; i < SM_STATUS_COUNT; i++) {
        rule = &rules->statuses[i];

        if (rule->forget == 0 || rule->forget >= rule->strip) {
            continue;
        }

        name = sm_status_name(i);

        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"retention\" would forget %*s intents after %Ls, "
                           "before they are stripped after %Ls: \"forget\" "
                           "must not be less than \"strip\"", name.len,
                           name.data, rule->forget / 1000000,
                           rule->strip / 1000000);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/*
 * retention [strip=<time>] [forget=<time>] [<status>=<strip>[:<forget>]] ...
 *           [audit=<time>] [refused=<time>] [jobs=<time>]
 */

char *
ngx_http_submission_keep_retention(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    u_char                *eq;
    int64_t                time, *field;
    ngx_str_t             *value, name, text, *given[SM_STATUS_COUNT];
    ngx_uint_t             i, k;
    sm_status_e            status;
    sm_retention_rule_t    all;
    sm_retention_rules_t  *rules;

    static int64_t  unset = -2;

    if (mcf->retention_given) {
        return "is duplicate";
    }

    mcf->retention_given = 1;
    rules = &mcf->retention;

    ngx_memzero(given, sizeof(given));

    all.strip = unset;
    all.forget = unset;
    rules->audit = unset;
    rules->refused = unset;
    rules->jobs = unset;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        eq = ngx_strlchr(value[i].data, value[i].data + value[i].len, '=');

        if (eq == NULL) {
            return ngx_http_submission_keep_invalid(cf, &value[i]);
        }

        name.data = value[i].data;
        name.len = eq - value[i].data;
        text.data = eq + 1;
        text.len = value[i].data + value[i].len - text.data;

        status = ngx_http_submission_keep_status(&name);

        if (status != SM_STATUS_NONE) {
            if (given[status]) {
                return "has a duplicate parameter";
            }

            given[status] = &value[i];
            continue;
        }

        field = name.len == 5 && ngx_strncmp(name.data, "strip", 5) == 0
                ? &all.strip
                : name.len == 6 && ngx_strncmp(name.data, "forget", 6) == 0
                ? &all.forget
                : name.len == 5 && ngx_strncmp(name.data, "audit", 5) == 0
                ? &rules->audit
                : name.len == 7 && ngx_strncmp(name.data, "refused", 7) == 0
                ? &rules->refused
                : name.len == 4 && ngx_strncmp(name.data, "jobs", 4) == 0
                ? &rules->jobs : NULL;

        if (field && *field != unset) {
            return "has a duplicate parameter";
        }

        time = field ? ngx_http_submission_keep_time(text.data, text.len)
                     : NGX_ERROR;

        if (time == NGX_ERROR) {
            return ngx_http_submission_keep_invalid(cf, &value[i]);
        }

        *field = time;
    }

    all.strip = all.strip == unset ? 0 : all.strip;
    all.forget = all.forget == unset ? 0 : all.forget;
    rules->audit = rules->audit == unset ? 0 : rules->audit;
    rules->refused = rules->refused == unset ? 0 : rules->refused;
    rules->jobs = rules->jobs == unset ? 0 : rules->jobs;

    for (k = SM_STATUS_PENDING + 1; k < SM_STATUS_COUNT; k++) {
        rules->statuses[k] = all;

        if (given[k] == NULL) {
            continue;
        }

        text.data = ngx_strlchr(given[k]->data, given[k]->data + given[k]->len,
                                '=') + 1;
        text.len = given[k]->data + given[k]->len - text.data;

        if (ngx_http_submission_keep_rule(&rules->statuses[k], &text)
            != NGX_OK)
        {
            return ngx_http_submission_keep_invalid(cf, given[k]);
        }
    }

    return ngx_http_submission_keep_check(cf, rules);
}
