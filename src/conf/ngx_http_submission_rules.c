
/*
 * The rate and the circuit of a target, which are not part of its contract, and
 * "retry_schedule", which is.
 */

#include "ngx_http_submission_directives.h"


#define NGX_HTTP_SUBMISSION_RULES_OPEN_MAX  86400000    /* milliseconds */


/* Reads "50r/s" or "30r/m" as a number for each minute. */

ngx_int_t
ngx_http_submission_rules_rate(ngx_str_t *text)
{
    ngx_int_t  n, scale;

    if (text->len < 4) {
        return NGX_ERROR;
    }

    if (ngx_strncmp(text->data + text->len - 3, "r/s", 3) == 0) {
        scale = 60;

    } else if (ngx_strncmp(text->data + text->len - 3, "r/m", 3) == 0) {
        scale = 1;

    } else {
        return NGX_ERROR;
    }

    n = ngx_atoi(text->data, text->len - 3);

    if (n == NGX_ERROR || n > SM_BUCKET_RATE_MAX / scale) {
        return NGX_ERROR;
    }

    return n * scale;
}


/*
 * The default burst is what the rate gives in a tenth of a second, so that the
 * tokens which come during a turn are not lost.
 */

char *
ngx_http_submission_rules_limit(ngx_conf_t *cf,
    ngx_http_submission_target_t *target, ngx_int_t rate, ngx_int_t burst)
{
    if (rate == 0 && burst) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "parameter \"burst\" in \"target\" needs \"rate=\"");
        return NGX_CONF_ERROR;
    }

    if (rate && burst == 0) {
        burst = ngx_max(rate / 600, 1);
    }

    target->rules.rate = rate;
    target->rules.burst = burst;

    return NGX_CONF_OK;
}


/* circuit failures=<n> open=<time> [max_open=<time>] */

char *
ngx_http_submission_rules_circuit(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_target_t *target = conf;

    char                          *rv;
    ngx_int_t                      failures, open, max_open;
    ngx_http_submission_option_t   options[] = {
        { "failures", NGX_HTTP_SUBMISSION_OPT_NUMBER, 1, 1000000,
          "a number between 1 and 1000000", &failures },
        { "open", NGX_HTTP_SUBMISSION_OPT_MSEC, 1,
          NGX_HTTP_SUBMISSION_RULES_OPEN_MAX, "a time between 1ms and 1d",
          &open },
        { "max_open", NGX_HTTP_SUBMISSION_OPT_MSEC, 1,
          NGX_HTTP_SUBMISSION_RULES_OPEN_MAX, "a time between 1ms and 1d",
          &max_open },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    if (target->rules.circuit.failures) {
        return "is duplicate";
    }

    failures = 0;
    open = 0;
    max_open = 0;

    rv = ngx_http_submission_conf_options(cf, 1, options);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (failures == 0 || open == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"circuit\" needs both \"failures=\" and "
                           "\"open=\"");
        return NGX_CONF_ERROR;
    }

    if (max_open == 0) {
        max_open = ngx_min(open * 16, NGX_HTTP_SUBMISSION_RULES_OPEN_MAX);
    }

    if (max_open < open) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"max_open\" in \"circuit\" must not be less than "
                           "\"open\"");
        return NGX_CONF_ERROR;
    }

    target->rules.circuit.failures = failures;
    target->rules.circuit.open = (int64_t) open * 1000;
    target->rules.circuit.max_open = (int64_t) max_open * 1000;

    return NGX_CONF_OK;
}


/* Writes the delays as they are stored: milliseconds, separated by spaces. */

static char *
ngx_http_submission_rules_delays(ngx_conf_t *cf, ngx_uint_t n,
    sm_str_t *schedule)
{
    u_char      *p, *last;
    ngx_int_t    delay;
    ngx_str_t   *value;
    ngx_uint_t   i;

    value = cf->args->elts;

    p = ngx_pnalloc(cf->pool, SM_DELAYS_MAX + NGX_INT64_LEN + 2);
    if (p == NULL) {
        return NGX_CONF_ERROR;
    }

    schedule->data = (char *) p;
    last = p + SM_DELAYS_MAX;

    for (i = 1; i < n; i++) {
        delay = ngx_parse_time(&value[i], 0);

        if (delay < 1 || delay > SM_DELAY_MAX) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid value \"%V\" of \"retry_schedule\": a "
                               "time between 1ms and 1d was expected",
                               &value[i]);
            return NGX_CONF_ERROR;
        }

        p = ngx_sprintf(p, "%s%i", i == 1 ? "" : " ", delay);

        if (p > last) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"retry_schedule\" has too many delays");
            return NGX_CONF_ERROR;
        }
    }

    schedule->len = (char *) p - schedule->data;

    return NGX_CONF_OK;
}


/* retry_schedule <time> ... [jitter=<0..1>] */

char *
ngx_http_submission_rules_schedule(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_submission_target_t *target = conf;

    char                          *rv;
    ngx_int_t                      jitter;
    ngx_str_t                     *value;
    ngx_uint_t                     n;
    ngx_http_submission_option_t   options[] = {
        { "jitter", NGX_HTTP_SUBMISSION_OPT_PERCENT, 0, 100,
          "a fraction between 0 and 1", &jitter },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    if (target->contract.retry_schedule.data) {
        return "is duplicate";
    }

    if (target->contract.retry_delay) {
        return "cannot be used together with \"retry_delay\"";
    }

    value = cf->args->elts;
    n = cf->args->nelts;

    if (n > 2 && ngx_strlchr(value[n - 1].data,
                             value[n - 1].data + value[n - 1].len, '='))
    {
        n--;
    }

    jitter = 0;

    rv = ngx_http_submission_conf_options(cf, n, options);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    target->contract.retry_jitter = jitter;

    return ngx_http_submission_rules_delays(cf, n,
                                            &target->contract.retry_schedule);
}
