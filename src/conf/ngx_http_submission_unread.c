
/*
 * The memory of answers that clients have not read yet.
 *
 * An answer stays in memory until the client has read it, or send_timeout is
 * over.  A client of HTTP/2 may ask for many answers on one connection and read
 * none of them.  So a worker counts the bytes of its answers, and beyond a
 * bound it makes no large ones: they are refused until others have been read.
 */

#include "ngx_http_submission_tools.h"


/*
 * The bound of a worker's answers.  Small ones cost no more than their request,
 * and are not counted.
 */

#define NGX_HTTP_SUBMISSION_UNREAD_BYTES  (32 * 1024 * 1024)
#define NGX_HTTP_SUBMISSION_UNREAD_SMALL  4096


static size_t  ngx_http_submission_unread_bytes;


static void
ngx_http_submission_unread_cleanup(void *data)
{
    size_t  *size = data;

    ngx_http_submission_unread_bytes -= *size;
}


ngx_int_t
ngx_http_submission_unread(ngx_pool_t *pool, size_t size)
{
    ngx_pool_cleanup_t  *cln;

    if (size < NGX_HTTP_SUBMISSION_UNREAD_SMALL) {
        return NGX_OK;
    }

    cln = ngx_pool_cleanup_add(pool, sizeof(size_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_unread_cleanup;
    *(size_t *) cln->data = size;

    ngx_http_submission_unread_bytes += size;

    return NGX_OK;
}


ngx_uint_t
ngx_http_submission_unread_full(ngx_log_t *log)
{
    if (ngx_http_submission_unread_bytes < NGX_HTTP_SUBMISSION_UNREAD_BYTES) {
        return 0;
    }

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, log, 0,
                   "submission: %uz bytes of answers are unread",
                   ngx_http_submission_unread_bytes);
    return 1;
}
