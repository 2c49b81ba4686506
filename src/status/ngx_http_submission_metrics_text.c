
/*
 * The text format of Prometheus.
 */

#include "ngx_http_submission_metrics.h"


void
ngx_http_submission_metrics_family(sm_out_t *out, const char *type,
    const char *name, const char *help)
{
    sm_out_c(out, "# HELP submission_");
    sm_out_c(out, name);
    sm_out_c(out, " ");
    sm_out_c(out, help);
    sm_out_c(out, "\n# TYPE submission_");
    sm_out_c(out, name);
    sm_out_c(out, " ");
    sm_out_c(out, type);
    sm_out_c(out, "\n");
}


void
ngx_http_submission_metrics_name(sm_out_t *out, const char *name,
    const char *suffix, const char *label, sm_str_t value)
{
    sm_out_c(out, "submission_");
    sm_out_c(out, name);
    sm_out_c(out, suffix);

    if (label) {
        sm_out_c(out, "{");
        sm_out_c(out, label);
        sm_out_c(out, "=\"");
        sm_out_str(out, value);
        sm_out_c(out, "\"");
    }
}


void
ngx_http_submission_metrics_sample(sm_out_t *out, const char *name,
    const char *suffix, const char *label, sm_str_t value, int64_t n)
{
    ngx_http_submission_metrics_name(out, name, suffix, label, value);
    sm_out_c(out, label ? "} " : " ");
    sm_out_int(out, n);
    sm_out_c(out, "\n");
}


void
ngx_http_submission_metrics_two(sm_out_t *out, const char *name,
    const char *label, sm_str_t value, const char *label2, sm_str_t value2,
    int64_t n)
{
    ngx_http_submission_metrics_name(out, name, "", label, value);
    sm_out_c(out, ",");
    sm_out_c(out, label2);
    sm_out_c(out, "=\"");
    sm_out_str(out, value2);
    sm_out_c(out, "\"} ");
    sm_out_int(out, n);
    sm_out_c(out, "\n");
}


void
ngx_http_submission_metrics_single(sm_out_t *out, const char *type,
    const char *name, const char *help, int64_t n)
{
    ngx_http_submission_metrics_family(out, type, name, help);
    ngx_http_submission_metrics_sample(out, name, "", NULL, sm_str_c(""), n);
}


/* Each bucket is read once, so that "_count" equals the last bucket. */

void
ngx_http_submission_metrics_histogram(sm_out_t *out, const char *name,
    const char *label, sm_str_t value, ngx_http_submission_histogram_t *h,
    const int64_t *bounds, int64_t unit)
{
    int64_t     n, sum;
    ngx_uint_t  i;

    n = 0;
    sum = h->sum;

    for (i = 0; /* void */ ; i++) {
        n += h->buckets[i];

        ngx_http_submission_metrics_name(out, name, "_bucket", label, value);
        sm_out_c(out, label ? ",le=\"" : "{le=\"");

        if (bounds[i] == NGX_HTTP_SUBMISSION_INF) {
            break;
        }

        sm_out_decimal(out, bounds[i], unit);
        sm_out_c(out, "\"} ");
        sm_out_int(out, n);
        sm_out_c(out, "\n");
    }

    sm_out_c(out, "+Inf\"} ");
    sm_out_int(out, n);
    sm_out_c(out, "\n");

    ngx_http_submission_metrics_name(out, name, "_sum", label, value);
    sm_out_c(out, label ? "} " : " ");
    sm_out_decimal(out, sum, unit);
    sm_out_c(out, "\n");

    ngx_http_submission_metrics_sample(out, name, "_count", label, value, n);
}
