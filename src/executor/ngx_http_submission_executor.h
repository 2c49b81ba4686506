
/*
 * The executor: what the leader sends to gateways, and its other duties.
 */

#ifndef _NGX_HTTP_SUBMISSION_EXECUTOR_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_EXECUTOR_H_INCLUDED_


#include "ngx_http_submission_leader.h"


/* executor.c, epoch.c: the handlers are what the leader calls */
ngx_int_t ngx_http_submission_executor_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);

extern const ngx_http_submission_leader_handlers_t
    ngx_http_submission_executor_handlers;

/* send.c */
ngx_int_t ngx_http_submission_send_init(ngx_cycle_t *cycle);

/* dispatch.c, dispatch_variables.c */
char *ngx_http_submission_dispatch(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_int_t ngx_http_submission_dispatch_add_variables(ngx_conf_t *cf);
ngx_int_t ngx_http_submission_dispatch_init(ngx_conf_t *cf);

/* tidy.c: is initialized after the leader */
ngx_int_t ngx_http_submission_tidy_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);

/* in threads */
void ngx_http_submission_queue_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_turn_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_expiry_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_tidy_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_webhook_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_inbox_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_retention_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_stats_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_job_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_drop_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_pauses_thread(ngx_http_submission_task_t *task);
void ngx_http_submission_fire_thread(ngx_http_submission_task_t *task);


#endif /* _NGX_HTTP_SUBMISSION_EXECUTOR_H_INCLUDED_ */
