
/*
 * What task.c reports of every call to the store; for task/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_DOOR_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_DOOR_H_INCLUDED_


#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"
#include "ngx_http_submission_zone_health.h"


void ngx_http_submission_health_report(ngx_http_submission_task_t *task);
void ngx_http_submission_breaker_report(ngx_http_submission_task_t *task);


#endif /* _NGX_HTTP_SUBMISSION_DOOR_H_INCLUDED_ */
