
/*
 * A file of the console, as the generator has put it into the module.  Only
 * src/console includes this header.
 */

#ifndef _NGX_HTTP_SUBMISSION_FILE_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_FILE_H_INCLUDED_


#include "ngx_http_submission_conf.h"


typedef struct {
    ngx_str_t                        name;
    ngx_str_t                        type;
    ngx_str_t                        etag;
    size_t                           size;         /* uncompressed */
    const u_char                    *data;         /* gzip */
    size_t                           len;
} ngx_http_submission_file_t;


/*
 * file.c: both return NGX_DECLINED if there is no such file.  _root() reads
 * it from a directory.
 */
ngx_int_t ngx_http_submission_file(ngx_http_request_t *r, ngx_str_t *name);
ngx_int_t ngx_http_submission_file_root(ngx_http_request_t *r,
    ngx_str_t *root, ngx_str_t *name);


#endif /* _NGX_HTTP_SUBMISSION_FILE_H_INCLUDED_ */
