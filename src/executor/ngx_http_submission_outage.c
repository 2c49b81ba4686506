
/*
 * Outages of gateways: one log line when the attempts of a target begin to
 * fail, with the first error, and one when its gateway answers again.  An
 * error is what sm_answer_read() says is one: no answer, or one that makes no
 * sense.
 *
 * A gateway that fails now and then would cause two lines each time.  So after
 * a line the next outage of the target is logged only some seconds later, if
 * it still lasts.
 */

#include "ngx_http_submission_attempt.h"


#define NGX_HTTP_SUBMISSION_OUTAGE_QUIET  10000     /* milliseconds */


static void
ngx_http_submission_outage_error(ngx_http_submission_attempt_t *at,
    ngx_http_submission_outage_t *outage)
{
    ngx_http_submission_field_t  error;

    if (outage->errors++ == 0) {
        outage->since = ngx_current_msec;
    }

    if (outage->down
        || (outage->told && ngx_current_msec - outage->told
                            < NGX_HTTP_SUBMISSION_OUTAGE_QUIET))
    {
        return;
    }

    outage->down = 1;
    outage->told = ngx_max(ngx_current_msec, 1);

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "submission: target_down manager=%V target=%*s "
                  "lease_epoch=%L errors=%ui%V",
                  &at->manager->conf->name, at->contract.target.len,
                  at->contract.target.data, at->epoch, outage->errors,
                  ngx_http_submission_field(&error, " error=", at->error));
}


static void
ngx_http_submission_outage_answer(ngx_http_submission_attempt_t *at,
    ngx_http_submission_outage_t *outage)
{
    if (outage->down) {
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "submission: target_up manager=%V target=%*s "
                      "lease_epoch=%L down_ms=%M errors=%ui",
                      &at->manager->conf->name, at->contract.target.len,
                      at->contract.target.data, at->epoch,
                      ngx_current_msec - outage->since, outage->errors);
    }

    outage->down = 0;
    outage->errors = 0;
}


ngx_int_t
ngx_http_submission_outage_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex)
{
    ex->outages = ngx_pcalloc(cycle->pool,
                              ex->manager->conf->ntargets
                              * sizeof(ngx_http_submission_outage_t));

    return ex->outages ? NGX_OK : NGX_ERROR;
}


void
ngx_http_submission_outage(ngx_http_submission_attempt_t *at)
{
    ngx_http_submission_target_t    *target;
    ngx_http_submission_outage_t    *outage;
    ngx_http_submission_executor_t  *ex;

    ex = at->manager->executor;
    target = ngx_http_submission_target(at->manager->conf,
                                        at->contract.target);

    if (target == NULL || at->epoch != ex->epoch) {
        return;
    }

    outage = &ex->outages[target->index];

    if (outage->epoch != at->epoch) {

        /* what it was in another epoch is not known any more */

        ngx_memzero(outage, sizeof(ngx_http_submission_outage_t));
        outage->epoch = at->epoch;
    }

    switch (at->outcome) {

    case SM_OUTCOME_ACCEPTED:
    case SM_OUTCOME_REJECTED:
        ngx_http_submission_outage_answer(at, outage);
        break;

    case SM_OUTCOME_UNKNOWN:
        break;

    default: /* SM_OUTCOME_ERROR, and NONE: it was not sent */
        ngx_http_submission_outage_error(at, outage);
    }
}
