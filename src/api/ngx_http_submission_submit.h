
/*
 * Intents that are posted, one or many in a request; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_SUBMIT_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_SUBMIT_H_INCLUDED_


#include "ngx_http_submission_request.h"


/*
 * submit.c: one intent.  _take() takes one that was posted into the row.
 * _target() finds the target of that name.  If there is none, it returns what
 * take() has to, and the error says why.  _status() is that of the answer, and _error() writes
 * "error":{...} where it is not 200.
 */
ngx_int_t ngx_http_submission_submit_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err);
ngx_int_t ngx_http_submission_submit_target(ngx_http_submission_ctx_t *ctx,
    sm_str_t name, ngx_http_submission_target_t **target,
    sm_json_error_t *err);
ngx_uint_t ngx_http_submission_submit_status(const sm_submit_row_t *row);
void ngx_http_submission_submit_error(sm_out_t *out,
    const sm_submit_row_t *row);

/*
 * bulk.c: many intents in one request.  _type() tells whether a content type is
 * that of such a request, and _parse() takes it.  _outcome() takes the outcome
 * of one line; without a row, the store has failed.  It returns NGX_DONE while
 * other lines have no outcome.  Otherwise the request is answered, and to be
 * finalized with what it returns; that may be NGX_AGAIN, if a part of the
 * answer is still to be sent.  _left() counts the lines without an outcome.
 */
ngx_uint_t ngx_http_submission_bulk_type(ngx_str_t *type);
ngx_int_t ngx_http_submission_bulk_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_bulk_outcome(ngx_http_submission_ctx_t *ctx,
    ngx_uint_t line, const sm_submit_row_t *row, ngx_uint_t overloaded);
ngx_uint_t ngx_http_submission_bulk_left(ngx_http_submission_bulk_t *bulk);


#endif /* _NGX_HTTP_SUBMISSION_SUBMIT_H_INCLUDED_ */
