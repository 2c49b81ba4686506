
/*
 * Answers; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_REPLY_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_REPLY_H_INCLUDED_


#include "ngx_http_submission_request.h"


/* reply.c */
ngx_int_t ngx_http_submission_reply_send(ngx_http_request_t *r,
    ngx_uint_t status, sm_out_t *out);
ngx_int_t ngx_http_submission_reply_header(ngx_http_request_t *r, char *key,
    const char *value);
ngx_int_t ngx_http_submission_reply_error(ngx_http_request_t *r,
    ngx_uint_t status, const char *code, const char *message,
    const char *field);
ngx_int_t ngx_http_submission_reply_invalid(ngx_http_request_t *r,
    const sm_json_error_t *err);
ngx_int_t ngx_http_submission_reply_not_found(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_reply_status(ngx_http_request_t *r,
    const char *code, const char *message, sm_status_e status);
ngx_int_t ngx_http_submission_reply_unavailable(ngx_http_request_t *r,
    ngx_uint_t overloaded);

/*
 * Refuses a request whose answer may be large, and that changes nothing, while
 * there are too many bytes of answers in memory.  NGX_DECLINED: there are not.
 */
ngx_int_t ngx_http_submission_reply_unread(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_reply_overloaded(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_reply_method(ngx_http_request_t *r,
    const char *allow);

/*
 * _replayed() says in a header that what was asked for had been done before,
 * and _intent() says so, too, if it is.
 */
ngx_int_t ngx_http_submission_reply_replayed(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_reply_intent(ngx_http_request_t *r,
    const sm_intent_t *intent, ngx_uint_t replayed);

void ngx_http_submission_reply_error_out(sm_out_t *out, const char *code,
    const char *message);
void ngx_http_submission_reply_error_key(sm_out_t *out, const char *code,
    const char *message);
const char *ngx_http_submission_reply_unavailable_text(ngx_uint_t overloaded);
void ngx_http_submission_finalize(ngx_http_request_t *r, ngx_int_t rc);

/* what is said of an id of the form of an occurrence's */

#define NGX_HTTP_SUBMISSION_REPLY_RESERVED                                    \
    "\"" SM_FIELD_ID "\" belongs to a schedule: only the schedule makes "      \
    "intents with ids of the form \"<schedule>@<time>\""


#endif /* _NGX_HTTP_SUBMISSION_REPLY_H_INCLUDED_ */
