
/*
 * The HTTP API: its content handler, what the module starts and configures, and
 * what the table of operations names.
 */

#ifndef _NGX_HTTP_SUBMISSION_API_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_API_H_INCLUDED_


#include "ngx_http_submission_conf.h"


/* api.c */
ngx_int_t ngx_http_submission_api_handler(ngx_http_request_t *r);

/*
 * access.c: takes the parameters of "submission_api", or with "root" those of
 * "submission_console".
 */
char *ngx_http_submission_access_conf(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *root);

/*
 * origin.c.  _hosts() takes the value of "hosts=", and returns NGX_DECLINED if
 * it is not good.  _names() takes those of "server_name" if there is no
 * "hosts=".  _host() returns NGX_DECLINED if the request was sent to one of
 * them, or else what it is to be finalized with.
 */
ngx_int_t ngx_http_submission_origin_hosts(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf, ngx_str_t *value);
ngx_int_t ngx_http_submission_origin_names(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf);
ngx_int_t ngx_http_submission_origin_host(ngx_http_request_t *r);

/* filter.c */
ngx_int_t ngx_http_submission_filter_init(ngx_conf_t *cf);

/* intake.c */
ngx_int_t ngx_http_submission_intake_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);

/* wait.c */
ngx_int_t ngx_http_submission_wait_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);

/*
 * Operations, see ngx_http_submission_op_t: batch.c, submit.c, read.c, list.c
 * and failures.c.
 */
void ngx_http_submission_batch_thread(ngx_http_submission_task_t *task);

void ngx_http_submission_submit_thread(ngx_http_submission_task_t *task);
ngx_int_t ngx_http_submission_submit_reply(ngx_http_request_t *r,
    const void *row);
sm_intent_t *ngx_http_submission_submit_intent(void *row);

ngx_int_t ngx_http_submission_get_reply(ngx_http_request_t *r,
    const void *row);
sm_intent_t *ngx_http_submission_get_intent(void *row);
void ngx_http_submission_get_arrived(void *row);

ngx_int_t ngx_http_submission_history_reply(ngx_http_request_t *r,
    const void *row);

ngx_int_t ngx_http_submission_list_reply(ngx_http_request_t *r,
    const void *row);

ngx_uint_t ngx_http_submission_failures_left(const void *row);
int ngx_http_submission_failures_thread(sm_store_t *store, sm_call_t *call,
    void *rows, size_t n);
ngx_int_t ngx_http_submission_failures_reply(ngx_http_request_t *r,
    const void *row);

ngx_int_t ngx_http_submission_cluster_reply(ngx_http_request_t *r,
    const void *row);

/* cancel.c, webhooks.c, replay.c, audit.c and payload.c */
void ngx_http_submission_cancel_thread(ngx_http_submission_task_t *task);
ngx_int_t ngx_http_submission_cancel_reply(ngx_http_request_t *r,
    const void *row);

ngx_int_t ngx_http_submission_webhooks_reply(ngx_http_request_t *r,
    const void *row);
ngx_int_t ngx_http_submission_messages_reply(ngx_http_request_t *r,
    const void *row);
ngx_uint_t ngx_http_submission_replay_left(const void *row);
ngx_int_t ngx_http_submission_replay_reply(ngx_http_request_t *r,
    const void *row);

ngx_int_t ngx_http_submission_audit_reply(ngx_http_request_t *r,
    const void *row);

ngx_int_t ngx_http_submission_payload_reply(ngx_http_request_t *r,
    const void *row);

/* jobs.c */
int ngx_http_submission_jobs_add_thread(sm_store_t *store, sm_call_t *call,
    void *rows, size_t n);
void ngx_http_submission_jobs_stop_again(void *row, const void *tried);
void ngx_http_submission_jobs_stop_note(ngx_http_submission_manager_t *manager,
    const void *row);
ngx_int_t ngx_http_submission_jobs_reply(ngx_http_request_t *r,
    const void *row);
ngx_int_t ngx_http_submission_jobs_list_reply(ngx_http_request_t *r,
    const void *row);

/* pause.c */
ngx_int_t ngx_http_submission_pause_reply(ngx_http_request_t *r,
    const void *row);

/* schedules.c */
ngx_int_t ngx_http_submission_schedules_reply(ngx_http_request_t *r,
    const void *row);
void ngx_http_submission_schedules_again(void *row, const void *tried);
ngx_int_t ngx_http_submission_schedules_list_reply(ngx_http_request_t *r,
    const void *row);


#endif /* _NGX_HTTP_SUBMISSION_API_H_INCLUDED_ */
