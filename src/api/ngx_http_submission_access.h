
/*
 * Who may make a request; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_ACCESS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ACCESS_H_INCLUDED_


#include "ngx_http_submission_request.h"


/*
 * access.c: NGX_DECLINED, and the request may go on; or what it is finalized
 * with.  _actor() is who makes the request, in its memory.
 */
ngx_int_t ngx_http_submission_access(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_access_actor(ngx_http_request_t *r,
    sm_actor_t *actor);
const char *ngx_http_submission_access_name(
    ngx_http_submission_access_e level);
ngx_uint_t ngx_http_submission_access_payloads(ngx_http_request_t *r);
ngx_uint_t ngx_http_submission_access_paths(ngx_http_request_t *r);

/* origin.c: likewise, whether a page has sent it that may */
ngx_int_t ngx_http_submission_origin(ngx_http_submission_ctx_t *ctx);


#endif /* _NGX_HTTP_SUBMISSION_ACCESS_H_INCLUDED_ */
