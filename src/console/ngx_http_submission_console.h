
/*
 * The console: a page for operators, and the API that it uses.
 */

#ifndef _NGX_HTTP_SUBMISSION_CONSOLE_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_CONSOLE_H_INCLUDED_


#include "ngx_http_submission_conf.h"


/* console.c */
char *ngx_http_submission_console(ngx_conf_t *cf,
    ngx_http_submission_loc_conf_t *slcf);
ngx_int_t ngx_http_submission_console_handler(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SUBMISSION_CONSOLE_H_INCLUDED_ */
