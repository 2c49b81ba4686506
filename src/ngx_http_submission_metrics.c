
#include "ngx_http_submission.h"


void
ngx_http_submission_count(ngx_http_submission_manager_t *manager,
    ngx_http_submission_counter_e counter, ngx_uint_t n)
{
}


void
ngx_http_submission_count_attempt(ngx_http_submission_manager_t *manager,
    sm_outcome_e outcome, ngx_uint_t n)
{
}


void
ngx_http_submission_count_terminal(ngx_http_submission_manager_t *manager,
    sm_status_e status, sm_exhausted_e reason, int64_t since_created)
{
}


void
ngx_http_submission_gauge(ngx_http_submission_manager_t *manager,
    ngx_http_submission_gauge_e gauge, ngx_uint_t value)
{
}


void
ngx_http_submission_observe(ngx_http_submission_manager_t *manager,
    ngx_http_submission_duration_e duration, int64_t usec)
{
}


void
ngx_http_submission_observe_call(ngx_http_submission_task_t *task,
    ngx_uint_t rows)
{
}
