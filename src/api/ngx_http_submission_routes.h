
/*
 * What the routes name of all operations and views, and what those use of each
 * other; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_ROUTES_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ROUTES_H_INCLUDED_


#include "ngx_http_submission_args.h"


/* Each _init(), _parse(), _body() and _args is that of a route: request.h. */

extern const ngx_http_submission_arg_t  ngx_http_submission_history_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_list_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_failures_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_audit_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_jobs_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_schedules_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_stats_args[];

/* submit.c and read.c */
ngx_int_t ngx_http_submission_submit_parse(ngx_http_request_t *r);
void ngx_http_submission_get_init(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_list_parse(ngx_http_request_t *r);

/* failures.c: answers from what is kept, or asks the store */
ngx_int_t ngx_http_submission_failures_parse(ngx_http_request_t *r);

/* cancel.c, replay.c and audit.c */
ngx_int_t ngx_http_submission_cancel_body(ngx_http_request_t *r, sm_str_t body);
ngx_int_t ngx_http_submission_replay_body(ngx_http_request_t *r, sm_str_t body);
ngx_int_t ngx_http_submission_audit_parse(ngx_http_request_t *r);

/* webhooks.c: _out() is the events of an intent, for its history, too */
ngx_int_t ngx_http_submission_webhooks_body(ngx_http_request_t *r,
    sm_str_t body);
void ngx_http_submission_webhooks_out(ngx_http_request_t *r, sm_out_t *out,
    const sm_events_row_t *row);

/* config.c: _url() is a URL as a string of JSON, without the password in it */
ngx_int_t ngx_http_submission_config_parse(ngx_http_request_t *r);
void ngx_http_submission_config_url(sm_out_t *out, sm_str_t url,
    ngx_uint_t path);

/* overview.c and target_list.c answer from the zone */
ngx_int_t ngx_http_submission_overview_parse(ngx_http_request_t *r);
void ngx_http_submission_stats_init_args(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_stats_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_target_list_parse(ngx_http_request_t *r);

/* jobs.c serves /v1/replays and /v1/cancels */
void ngx_http_submission_jobs_init(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_jobs_add_body(ngx_http_request_t *r,
    sm_str_t body);
ngx_int_t ngx_http_submission_jobs_get_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_jobs_stop_body(ngx_http_request_t *r,
    sm_str_t body);

/* pause.c serves resumes, too */
ngx_int_t ngx_http_submission_pause_body(ngx_http_request_t *r, sm_str_t body);

/* schedules.c */
void ngx_http_submission_schedules_init(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_schedules_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_schedules_put_body(ngx_http_request_t *r,
    sm_str_t body);
ngx_int_t ngx_http_submission_schedules_act_body(ngx_http_request_t *r,
    sm_str_t body);


#endif /* _NGX_HTTP_SUBMISSION_ROUTES_H_INCLUDED_ */
