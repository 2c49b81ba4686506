
/*
 * The arguments of a query; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_ARGS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ARGS_H_INCLUDED_


#include "ngx_http_submission_request.h"


/* An argument of a query.  Its handler returns NGX_DECLINED for a bad value. */

struct ngx_http_submission_arg_s {
    const char                      *name;
    ngx_int_t                      (*handler)(ngx_http_submission_ctx_t *ctx,
                                         sm_str_t value);
    const char                      *message;
};


/* what "order" asks for; a list has one of its own */

#define NGX_HTTP_SUBMISSION_ORDER_ASC   1
#define NGX_HTTP_SUBMISSION_ORDER_DESC  2


/*
 * args.c: takes the arguments of the query into the row.  NGX_DECLINED: they
 * are not good, and the request is answered; otherwise what it is finalized
 * with.
 */

typedef struct {
    char                             message[384];
    const char                      *field;
    char                             name[200];    /* of one that is unknown */
} ngx_http_submission_args_t;

ngx_int_t ngx_http_submission_args(ngx_http_submission_ctx_t *ctx,
    ngx_http_submission_args_t *args);

extern const ngx_http_submission_arg_t  ngx_http_submission_submit_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_get_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_history_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_list_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_failures_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_audit_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_jobs_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_schedules_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_stats_args[];


#endif /* _NGX_HTTP_SUBMISSION_ARGS_H_INCLUDED_ */
