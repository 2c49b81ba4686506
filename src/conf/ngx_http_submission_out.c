
/*
 * Text that is written into a pool.  What it has outgrown goes back at once, if
 * it was allocated by itself.
 */

#include "ngx_http_submission_tools.h"


/* Most answers to a POST have fewer bytes. */

#define NGX_HTTP_SUBMISSION_OUT_FIRST  512


static void *
ngx_http_submission_out_grow(void *data, void *old, size_t len, size_t size)
{
    void        *p;
    ngx_pool_t  *pool = data;

    p = ngx_pnalloc(pool, size);

    if (p && old) {
        ngx_memcpy(p, old, len);
        (void) ngx_pfree(pool, old);
    }

    return p;
}


void
ngx_http_submission_out(sm_out_t *out, ngx_pool_t *pool)
{
    sm_out_init_grow(out, ngx_http_submission_out_grow, pool);

    /* a failure is seen when something is written */

    (void) sm_out_room(out, NGX_HTTP_SUBMISSION_OUT_FIRST);
}
