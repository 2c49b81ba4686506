
/* The directives of locations, for the module's table of them. */

#ifndef _NGX_HTTP_SUBMISSION_LOCATION_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_LOCATION_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


void *ngx_http_submission_create_loc_conf(ngx_conf_t *cf);
char *ngx_http_submission_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);

char *ngx_http_submission_api(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_submission_console_location(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_readyz(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_metrics(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_wake_location(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


#endif /* _NGX_HTTP_SUBMISSION_LOCATION_H_INCLUDED_ */
