
/*
 * Answers; for api/ alone.
 *
 * Unless it says something else, a function returns what the request is to be
 * finalized with.
 */

#ifndef _NGX_HTTP_SUBMISSION_REPLY_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_REPLY_H_INCLUDED_


#include "ngx_http_submission_request.h"


#define NGX_HTTP_SUBMISSION_REPLY_JSON   "application/json"
#define NGX_HTTP_SUBMISSION_REPLY_LINES  "application/x-ndjson"

/* The message for an id of the form that occurrences of schedules have. */

#define NGX_HTTP_SUBMISSION_REPLY_RESERVED                                    \
    "\"" SM_FIELD_ID "\" belongs to a schedule: only the schedule makes "      \
    "intents with ids of the form \"<schedule>@<time>\""


/*
 * _send() answers with what was written.  _header() adds a header; it returns
 * NGX_ERROR without memory.  _headers() sets those of a body, and _buf() is a
 * buffer of what was written into the request's pool, or NULL without memory.
 */
ngx_int_t ngx_http_submission_reply_send(ngx_http_request_t *r,
    ngx_uint_t status, sm_out_t *out);
ngx_int_t ngx_http_submission_reply_header(ngx_http_request_t *r, char *key,
    const char *value);
void ngx_http_submission_reply_headers(ngx_http_request_t *r, size_t len,
    const char *type);
ngx_buf_t *ngx_http_submission_reply_buf(ngx_http_request_t *r,
    const sm_out_t *out);

/*
 * Answers with an intent.  _replayed() says in a header that what was asked for
 * had been done before; it returns NGX_ERROR without memory.
 */
ngx_int_t ngx_http_submission_reply_intent(ngx_http_request_t *r,
    const sm_intent_t *intent, ngx_uint_t replayed);
ngx_int_t ngx_http_submission_reply_replayed(ngx_http_request_t *r);

/*
 * Errors.  "field" is a name of ours, or NULL.  _invalid() tells what is wrong
 * with a body, _method() which methods are allowed, and _status() that the
 * intent has a status in which that cannot be done.
 */
ngx_int_t ngx_http_submission_reply_error(ngx_http_request_t *r,
    ngx_uint_t status, const char *code, const char *message,
    const char *field);
ngx_int_t ngx_http_submission_reply_invalid(ngx_http_request_t *r,
    const sm_json_error_t *err);
ngx_int_t ngx_http_submission_reply_method(ngx_http_request_t *r,
    const char *allow);
ngx_int_t ngx_http_submission_reply_not_found(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_reply_status(ngx_http_request_t *r,
    const char *code, const char *message, sm_status_e status);
ngx_int_t ngx_http_submission_reply_already(ngx_http_request_t *r,
    const sm_intent_t *intent);

/*
 * Refusals that have nothing to do with the request.  _unavailable(): the store
 * has failed, or too many requests wait for it.  _not_yet(): another instance
 * may take the request, and this one later.  _overloaded(): there is no
 * connection to wait for the body with.  _unread() refuses a request whose
 * answer may be large, and that changes nothing, while there are too many bytes
 * of answers in memory; it returns NGX_DECLINED while there are not.
 */
ngx_int_t ngx_http_submission_reply_unavailable(ngx_http_request_t *r,
    ngx_uint_t overloaded);
const char *ngx_http_submission_reply_unavailable_text(ngx_uint_t overloaded);
ngx_int_t ngx_http_submission_reply_not_yet(ngx_http_request_t *r,
    const char *code, const char *message, const char *field);
ngx_int_t ngx_http_submission_reply_overloaded(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_reply_unread(ngx_http_request_t *r);

/*
 * Write the beginning of an error, up to "details":{, as an object of its own,
 * or as a key of another one.
 */
void ngx_http_submission_reply_error_out(sm_out_t *out, const char *code,
    const char *message);
void ngx_http_submission_reply_error_key(sm_out_t *out, const char *code,
    const char *message);

/* Finalizes a request that was answered outside of its own events. */
void ngx_http_submission_finalize(ngx_http_request_t *r, ngx_int_t rc);


#endif /* _NGX_HTTP_SUBMISSION_REPLY_H_INCLUDED_ */
