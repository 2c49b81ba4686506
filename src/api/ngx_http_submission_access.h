
/*
 * Who may make a request; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_ACCESS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ACCESS_H_INCLUDED_


#include "ngx_http_submission_request.h"


/*
 * access.c.  _access() checks the level of the location against that of the
 * route, and _origin() (origin.c) that no page of another site has sent the
 * request.  Both return NGX_DECLINED if the request may go on, or else what it
 * is to be finalized with.
 *
 * _actor() copies who makes the request into its memory; NGX_ERROR: there is
 * none.  _name() returns the word for a level.  _payloads() tells whether a
 * client of this location may see payloads and answers of gateways, and
 * _paths() whether it may see the paths of gateways' URLs.
 */
ngx_int_t ngx_http_submission_access(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_access_actor(ngx_http_request_t *r,
    sm_actor_t *actor);
const char *ngx_http_submission_access_name(
    ngx_http_submission_access_e level);
ngx_uint_t ngx_http_submission_access_payloads(ngx_http_request_t *r);
ngx_uint_t ngx_http_submission_access_paths(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_origin(ngx_http_submission_ctx_t *ctx);


#endif /* _NGX_HTTP_SUBMISSION_ACCESS_H_INCLUDED_ */
