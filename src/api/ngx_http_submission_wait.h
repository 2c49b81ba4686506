
/*
 * Requests that wait for what becomes of an intent; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_WAIT_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_WAIT_H_INCLUDED_


#include "ngx_http_submission_request.h"


/*
 * wait.c.  _wait() takes a request whose row has an intent, or asks for one
 * that may come yet, and returns NGX_DONE: the request is answered later.  It
 * returns NGX_DECLINED if there is nothing to wait for, or no room to wait.
 * "since" is the count of notices from before the store was asked.  _next()
 * asks the store about those that wait, after another call has ended.
 */
ngx_int_t ngx_http_submission_wait(ngx_http_submission_ctx_t *ctx, void *row,
    ngx_atomic_uint_t since);
void ngx_http_submission_wait_next(ngx_http_submission_manager_t *manager);


#endif /* _NGX_HTTP_SUBMISSION_WAIT_H_INCLUDED_ */
