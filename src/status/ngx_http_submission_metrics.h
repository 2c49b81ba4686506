
/*
 * The text of /metrics; for status/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_METRICS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_METRICS_H_INCLUDED_


#include "ngx_http_submission_status.h"
#include "ngx_http_submission_zone_metrics.h"


/* the upper bound of a last bucket */

#define NGX_HTTP_SUBMISSION_INF    INT64_MAX


typedef struct {
    const char   *name;
    const char   *help;
} ngx_http_submission_metric_t;


/*
 * count.c: upper bounds of buckets, NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS at
 * most; microseconds, but rows.
 */
extern const int64_t  ngx_http_submission_call_bounds[];
extern const int64_t  ngx_http_submission_duration_bounds[];
extern const int64_t  ngx_http_submission_terminal_bounds[];
extern const int64_t  ngx_http_submission_row_bounds[];

/*
 * metrics_text.c.  _name() is a sample's name, with a label if there is one;
 * more is to follow.  "unit" is a power of ten: how many are one of what is
 * told.
 */
void ngx_http_submission_metrics_family(sm_out_t *out, const char *type,
    const char *name, const char *help);
void ngx_http_submission_metrics_name(sm_out_t *out, const char *name,
    const char *suffix, const char *label, sm_str_t value);
void ngx_http_submission_metrics_sample(sm_out_t *out, const char *name,
    const char *suffix, const char *label, sm_str_t value, int64_t n);
void ngx_http_submission_metrics_single(sm_out_t *out, const char *type,
    const char *name, const char *help, int64_t n);
void ngx_http_submission_metrics_histogram(sm_out_t *out, const char *name,
    const char *label, sm_str_t value, ngx_http_submission_histogram_t *h,
    const int64_t *bounds, int64_t unit);

/*
 * metrics_target.c: what is told by target.  "executes": whether the gauges are
 * good.
 */
ngx_int_t ngx_http_submission_metrics_targets(ngx_pool_t *pool, sm_out_t *out,
    ngx_http_submission_manager_conf_t *mcf, ngx_uint_t executes);


#endif /* _NGX_HTTP_SUBMISSION_METRICS_H_INCLUDED_ */
