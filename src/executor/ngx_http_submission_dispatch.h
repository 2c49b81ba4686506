
/*
 * The way of an attempt through nginx; for executor/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_DISPATCH_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_DISPATCH_H_INCLUDED_


#include "ngx_http_submission_attempt.h"


/*
 * send.c.  _send_attempt() has nginx send it.  _dispatched() is the attempt of
 * a request, or of its main request; NULL: it is another request.
 */
ngx_int_t ngx_http_submission_send_attempt(ngx_http_submission_attempt_t *at);
ngx_http_submission_attempt_t *ngx_http_submission_dispatched(
    ngx_http_request_t *r);

/*
 * send_request.c.  _url() sets the URL of the attempt, and _request() makes the
 * request what a client would have sent.  _method() makes it a POST again.
 * _int() writes a number into the request's pool, and _header() adds a header;
 * NULL: there is no memory.
 */
ngx_int_t ngx_http_submission_send_url(ngx_http_submission_attempt_t *at,
    ngx_pool_t *pool);
ngx_int_t ngx_http_submission_send_request(ngx_http_submission_attempt_t *at,
    ngx_http_request_t *r);
void ngx_http_submission_send_method(ngx_http_request_t *r);
u_char *ngx_http_submission_send_int(ngx_http_request_t *r, int64_t n,
    size_t *len);
ngx_table_elt_t *ngx_http_submission_send_header(ngx_http_request_t *r,
    const char *key, const char *lowcase, u_char *value, size_t len);

/*
 * webhook.c, for attempts that tell a webhook.  _prepare() makes the message;
 * NGX_DECLINED: it cannot be sent, and "what" and "error" say why.  _gone()
 * pauses the webhook if it has answered that it is gone.  _headers() signs, for
 * whatever has keys.
 */
ngx_int_t ngx_http_submission_webhook_prepare(
    ngx_http_submission_attempt_t *at);
void ngx_http_submission_webhook_gone(ngx_http_submission_attempt_t *at);
ngx_int_t ngx_http_submission_webhook_headers(ngx_http_request_t *r,
    ngx_http_submission_attempt_t *at);

/*
 * dispatch.c.  _hook() has nginx begin with the upstream.  _begun() notes that
 * a byte of the request may have left.
 */
void ngx_http_submission_dispatch_hook(ngx_event_t *ev);
void ngx_http_submission_dispatch_begun(ngx_http_submission_attempt_t *at);

/*
 * dispatch_log.c.  _listen() and _unlisten() begin and end the reading of what
 * nginx logs about the attempt.  _peer() notes the server.
 */
void ngx_http_submission_dispatch_peer(ngx_http_submission_attempt_t *at);
void ngx_http_submission_dispatch_listen(ngx_http_submission_attempt_t *at,
    ngx_log_t *log);
void ngx_http_submission_dispatch_unlisten(ngx_http_submission_attempt_t *at,
    ngx_log_t *log);

/* dispatch_result.c */
void ngx_http_submission_dispatch_result(void *data);


#endif /* _NGX_HTTP_SUBMISSION_DISPATCH_H_INCLUDED_ */
