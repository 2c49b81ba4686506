
/*
 * How the requests of each route are read, and what operations and views use of
 * each other; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_ROUTES_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ROUTES_H_INCLUDED_


#include "ngx_http_submission_args.h"


/* Those of ops/, then those of view/. */

extern const ngx_http_submission_input_t  ngx_http_submission_submit_input;
extern const ngx_http_submission_input_t  ngx_http_submission_list_input;
extern const ngx_http_submission_input_t  ngx_http_submission_get_input;
extern const ngx_http_submission_input_t  ngx_http_submission_history_input;
extern const ngx_http_submission_input_t  ngx_http_submission_cluster_input;
extern const ngx_http_submission_input_t  ngx_http_submission_cancel_input;
extern const ngx_http_submission_input_t  ngx_http_submission_replay_input;
extern const ngx_http_submission_input_t  ngx_http_submission_webhooks_input;
extern const ngx_http_submission_input_t  ngx_http_submission_messages_input;
extern const ngx_http_submission_input_t  ngx_http_submission_payload_input;
extern const ngx_http_submission_input_t  ngx_http_submission_audit_input;
extern const ngx_http_submission_input_t  ngx_http_submission_failures_input;
extern const ngx_http_submission_input_t  ngx_http_submission_pause_input;

extern const ngx_http_submission_input_t  ngx_http_submission_jobs_add_input;
extern const ngx_http_submission_input_t  ngx_http_submission_jobs_list_input;
extern const ngx_http_submission_input_t  ngx_http_submission_jobs_get_input;
extern const ngx_http_submission_input_t  ngx_http_submission_jobs_stop_input;
extern const ngx_http_submission_input_t
    ngx_http_submission_schedules_list_input;
extern const ngx_http_submission_input_t
    ngx_http_submission_schedules_get_input;
extern const ngx_http_submission_input_t
    ngx_http_submission_schedules_put_input;
extern const ngx_http_submission_input_t
    ngx_http_submission_schedules_act_input;

extern const ngx_http_submission_input_t  ngx_http_submission_config_input;
extern const ngx_http_submission_input_t  ngx_http_submission_overview_input;
extern const ngx_http_submission_input_t  ngx_http_submission_stats_input;
extern const ngx_http_submission_input_t  ngx_http_submission_feed_input;
extern const ngx_http_submission_input_t
    ngx_http_submission_target_list_input;

/* webhooks.c: writes the events of an intent, for its history, too. */
void ngx_http_submission_webhooks_out(ngx_http_request_t *r, sm_out_t *out,
    const sm_events_row_t *row);

/*
 * config.c: writes a URL as a string of JSON, without the password in it, and
 * with its path only if that may be seen.
 */
void ngx_http_submission_config_url(sm_out_t *out, sm_str_t url,
    ngx_uint_t path);


#endif /* _NGX_HTTP_SUBMISSION_ROUTES_H_INCLUDED_ */
