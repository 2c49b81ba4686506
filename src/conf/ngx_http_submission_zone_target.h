
/*
 * A target in the zone: its metrics and its limits.  A node outlives
 * configurations without that target.
 */

#ifndef _NGX_HTTP_SUBMISSION_ZONE_TARGET_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ZONE_TARGET_H_INCLUDED_


#include "ngx_http_submission_zone_metrics.h"


/*
 * The limits of a target and its bucket, for the next leader of this instance,
 * see limits.c.  Only a leader writes them, and they are being written while
 * "sequence" is odd.
 */

struct ngx_http_submission_limits_s {
    ngx_atomic_t                     sequence;     /* 0: never written */
    ngx_uint_t                       tenure;
    int64_t                          epoch;        /* of the last writer */
    ngx_uint_t                       concurrency;
    sm_target_rules_t                rules;
    sm_bucket_t                      bucket;
};


/* A target that is configured, or that was. */

struct ngx_http_submission_target_node_s {
    ngx_str_node_t                   node;         /* must be first */
    ngx_http_submission_target_metrics_t  metrics;
    ngx_http_submission_limits_t     limits;
    u_char                           name[];
};


void ngx_http_submission_zone_limits_write(ngx_http_submission_limits_t *to,
    const ngx_http_submission_limits_t *limits);
void ngx_http_submission_zone_limits_spent(ngx_http_submission_limits_t *to,
    int64_t epoch, const sm_bucket_t *bucket);
ngx_int_t ngx_http_submission_zone_limits_read(
    ngx_http_submission_limits_t *from, ngx_http_submission_limits_t *limits);


#endif /* _NGX_HTTP_SUBMISSION_ZONE_TARGET_H_INCLUDED_ */
