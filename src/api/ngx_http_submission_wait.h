
/*
 * Requests that wait for what becomes of an intent; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_WAIT_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_WAIT_H_INCLUDED_


#include "ngx_http_submission_request.h"


/*
 * wait.c: takes a request whose row has an intent, and answers it later:
 * NGX_DONE; NGX_DECLINED: there is nothing to wait for.  "since" is the count
 * of notices from before the store was asked.
 */
ngx_int_t ngx_http_submission_wait(ngx_http_submission_ctx_t *ctx, void *row,
    ngx_atomic_uint_t since);
void ngx_http_submission_wait_next(ngx_http_submission_manager_t *manager);


#endif /* _NGX_HTTP_SUBMISSION_WAIT_H_INCLUDED_ */
