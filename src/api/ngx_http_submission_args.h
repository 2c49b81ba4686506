
/*
 * The arguments of a query; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_ARGS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ARGS_H_INCLUDED_


#include "ngx_http_submission_request.h"


/*
 * An argument of a query.  set() takes its value into "field", which is at
 * "offset" in the row of the request.  It returns NGX_DECLINED for a bad value;
 * then the client is told that the argument must be what was "expected".
 * Without memory it returns NGX_ERROR.  A table ends with a NULL name.
 */

struct ngx_http_submission_arg_s {
    const char                      *name;
    ngx_int_t                      (*set)(ngx_http_submission_ctx_t *ctx,
                                         void *field, sm_str_t value);
    size_t                           offset;
    const char                      *expected;
};


/* What several tables expect. */

#define NGX_HTTP_SUBMISSION_ARG_EXPECTED_LIMIT                                \
    "a number between 1 and 500"

#define NGX_HTTP_SUBMISSION_ARG_EXPECTED_NEXT                                 \
    "the \"next\" of an earlier page"

#define NGX_HTTP_SUBMISSION_ARG_EXPECTED_TARGET                               \
    "the name of a target"

#define NGX_HTTP_SUBMISSION_ARG_EXPECTED_TIME                                 \
    "a time of RFC 3339, such as \"2026-02-02T12:00:00Z\"; a \"+\" is "       \
    "\"%2B\" here"


/*
 * Setters of fields: a size_t, an int64_t in microseconds, and three sm_str_t;
 * a webhook is a target of its own kind, which _any_target() takes, too.
 */
ngx_int_t ngx_http_submission_arg_limit(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value);
ngx_int_t ngx_http_submission_arg_time(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value);
ngx_int_t ngx_http_submission_arg_target(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value);
ngx_int_t ngx_http_submission_arg_any_target(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value);
ngx_int_t ngx_http_submission_arg_text(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value);


/* How long a request waits for its intent, and until what has happened. */

extern const ngx_http_submission_arg_t  ngx_http_submission_wait_args[];


/*
 * Takes the arguments of the query into the row.  Returns NGX_DECLINED if one
 * of them is not good; then "message" says why, and "field" is its name.
 * Returns NGX_ERROR without memory.
 */

typedef struct {
    char                             message[384];
    const char                      *field;
    char                             name[200];    /* of one that is unknown */
} ngx_http_submission_args_t;

ngx_int_t ngx_http_submission_args(ngx_http_submission_ctx_t *ctx,
    ngx_http_submission_args_t *args);


#endif /* _NGX_HTTP_SUBMISSION_ARGS_H_INCLUDED_ */
