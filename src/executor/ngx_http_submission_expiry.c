
/*
 * Intents whose deadline passed before their first attempt.  They were
 * acknowledged and never sent.  After an outage there may be very many, so
 * they are counted in at most one line a second.
 */

#include "ngx_http_submission_attempt.h"


#define NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL  1000


static void
ngx_http_submission_expiry_handler(ngx_event_t *ev)
{
    ngx_http_submission_expiry_tell(ev->data);
}


void
ngx_http_submission_expiry_init(ngx_http_submission_executor_t *ex)
{
    ex->expiry.handler = ngx_http_submission_expiry_handler;
    ex->expiry.data = ex;
    ex->expiry.log = ngx_cycle->log;
    ex->expiry.cancelable = 1;

    ex->expiry_told = ngx_current_msec - NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL;
}


void
ngx_http_submission_expiry_add(ngx_http_submission_executor_t *ex,
    ngx_uint_t n)
{
    ngx_msec_t  since;

    if (n == 0) {
        return;
    }

    ex->nexpired += n;

    since = ngx_current_msec - ex->expiry_told;

    if (since >= NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL) {
        ngx_http_submission_expiry_tell(ex);

    } else if (!ex->expiry.timer_set) {
        ngx_add_timer(&ex->expiry,
                      NGX_HTTP_SUBMISSION_EXPIRY_INTERVAL - since);
    }
}


void
ngx_http_submission_expiry_tell(ngx_http_submission_executor_t *ex)
{
    if (ex->expiry.timer_set) {
        ngx_del_timer(&ex->expiry);
    }

    if (ex->nexpired == 0) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: expired_unsent manager=%V lease_epoch=%L "
                  "intents=%ui: their deadlines passed before their first "
                  "attempt", &ex->manager->conf->name, ex->epoch, ex->nexpired);

    ex->nexpired = 0;
    ex->expiry_told = ngx_current_msec;
}
