
#include "ngx_http_submission.h"


ngx_int_t
ngx_http_submission_wait_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    return NGX_OK;
}


void
ngx_http_submission_wait_notify(ngx_http_submission_manager_t *manager,
    sm_str_t id)
{
}
