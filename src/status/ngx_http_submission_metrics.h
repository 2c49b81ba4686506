
/*
 * The text of /metrics; for status/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_METRICS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_METRICS_H_INCLUDED_


#include "ngx_http_submission_status.h"
#include "ngx_http_submission_zone_metrics.h"


/* The upper bound of the last bucket. */

#define NGX_HTTP_SUBMISSION_INF    INT64_MAX


typedef struct {
    const char   *name;
    const char   *help;
} ngx_http_submission_metric_t;


/*
 * count.c: upper bounds of buckets, NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS at
 * most.  All but the bounds of rows are microseconds.
 */
extern const int64_t  ngx_http_submission_call_bounds[];
extern const int64_t  ngx_http_submission_duration_bounds[];
extern const int64_t  ngx_http_submission_terminal_bounds[];
extern const int64_t  ngx_http_submission_row_bounds[];

/*
 * metrics_text.c.  _name() begins a sample: it writes the name, and the label
 * if that is not NULL, and leaves its brace open.  _sample() writes a whole
 * sample, _two() one with two labels, and _single() a family of one sample.
 * "unit" is a power of ten by which numbers are divided.
 */
void ngx_http_submission_metrics_family(sm_out_t *out, const char *type,
    const char *name, const char *help);
void ngx_http_submission_metrics_name(sm_out_t *out, const char *name,
    const char *suffix, const char *label, sm_str_t value);
void ngx_http_submission_metrics_sample(sm_out_t *out, const char *name,
    const char *suffix, const char *label, sm_str_t value, int64_t n);
void ngx_http_submission_metrics_two(sm_out_t *out, const char *name,
    const char *label, sm_str_t value, const char *label2, sm_str_t value2,
    int64_t n);
void ngx_http_submission_metrics_single(sm_out_t *out, const char *type,
    const char *name, const char *help, int64_t n);
void ngx_http_submission_metrics_histogram(sm_out_t *out, const char *name,
    const char *label, sm_str_t value, ngx_http_submission_histogram_t *h,
    const int64_t *bounds, int64_t unit);

/*
 * metrics_target.c: the metrics that have a label of their target.  Gauges are
 * 0 unless "executes" is set.
 */
ngx_int_t ngx_http_submission_metrics_targets(ngx_pool_t *pool, sm_out_t *out,
    ngx_http_submission_manager_conf_t *mcf, ngx_uint_t executes);


#endif /* _NGX_HTTP_SUBMISSION_METRICS_H_INCLUDED_ */
