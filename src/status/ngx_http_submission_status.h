
/*
 * What is told: readyz, metrics, the role; and what is counted for that.  All
 * of it is in the zone: nothing here asks the store.
 */

#ifndef _NGX_HTTP_SUBMISSION_STATUS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_STATUS_H_INCLUDED_


#include "ngx_http_submission_conf.h"


/* ready.c */
ngx_int_t ngx_http_submission_readyz_handler(ngx_http_request_t *r);

/* role.c */
ngx_int_t ngx_http_submission_role_add_variable(ngx_conf_t *cf);
#if (NDK)
char *ngx_http_submission_role_directive(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
#endif

/*
 * metrics.c; durations are microseconds, a negative one is not known.  All but
 * the handler and _gauge(), which is for the executor worker, may be called in
 * threads.
 */
ngx_int_t ngx_http_submission_metrics_handler(ngx_http_request_t *r);
void ngx_http_submission_count(ngx_http_submission_manager_t *manager,
    ngx_http_submission_counter_e counter, ngx_uint_t n);
void ngx_http_submission_count_attempt(ngx_http_submission_manager_t *manager,
    sm_outcome_e outcome, ngx_uint_t n);
void ngx_http_submission_count_terminal(ngx_http_submission_manager_t *manager,
    sm_status_e status, sm_exhausted_e reason, int64_t since_created);
void ngx_http_submission_count_call(ngx_http_submission_manager_t *manager,
    ngx_http_submission_op_e op, sm_store_class_e class, ngx_uint_t rows,
    int64_t usec);
void ngx_http_submission_gauge(ngx_http_submission_manager_t *manager,
    ngx_http_submission_gauge_e gauge, int64_t epoch, ngx_uint_t value);
void ngx_http_submission_observe(ngx_http_submission_manager_t *manager,
    ngx_http_submission_duration_e duration, int64_t usec);


#endif /* _NGX_HTTP_SUBMISSION_STATUS_H_INCLUDED_ */
