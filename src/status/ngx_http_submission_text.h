
/*
 * Answers in plain text; for status/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_TEXT_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_TEXT_H_INCLUDED_


#include "ngx_http_submission_status.h"


/* Returns NGX_OK, or the status of an answer to what is no GET or HEAD. */
ngx_int_t ngx_http_submission_text_asked(ngx_http_request_t *r);

/* "type" begins with "text/plain"; the text is in the request's pool. */
ngx_int_t ngx_http_submission_text_send(ngx_http_request_t *r,
    ngx_uint_t status, const char *type, u_char *start, u_char *last);


#endif /* _NGX_HTTP_SUBMISSION_TEXT_H_INCLUDED_ */
