
/*
 * The directives of what comes by the inbox, and of how long it is kept.
 */

#include "ngx_http_submission_conf.h"


#define NGX_HTTP_SUBMISSION_INBOX_MAX  (64 * 1024 * 1024)


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
