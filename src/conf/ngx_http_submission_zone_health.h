
/*
 * The health of the store and the breaker, as all workers of an instance see
 * them.  Times are monotonic milliseconds.
 */

#ifndef _NGX_HTTP_SUBMISSION_ZONE_HEALTH_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ZONE_HEALTH_H_INCLUDED_


#include "ngx_http_submission_zone.h"


typedef enum {
    NGX_HTTP_SUBMISSION_STORE_UNKNOWN = 0,
    NGX_HTTP_SUBMISSION_STORE_UP,
    NGX_HTTP_SUBMISSION_STORE_DOWN,
    NGX_HTTP_SUBMISSION_STORE_SCHEMA
} ngx_http_submission_store_e;


struct ngx_http_submission_health_shctx_s {
    ngx_atomic_t                     store;        /* .._STORE_* */
    ngx_atomic_t                     committed;    /* the last commit */
    ngx_atomic_t                     probed;       /* the last probe begun */
    ngx_atomic_t                     probing;      /* it has not ended */

    /* see breaker.c */
    ngx_atomic_t                     reached;      /* the last answer, good
                                                      or not */
    ngx_atomic_t                     failing;      /* since when, or 0 */
    ngx_atomic_t                     broken;       /* since when; 0: closed */
};


#endif /* _NGX_HTTP_SUBMISSION_ZONE_HEALTH_H_INCLUDED_ */
