
/*
 * Counters, histograms and gauges in the zone, and /metrics, which shows them
 * in the text format of Prometheus.
 *
 * They are changed atomically, by any worker and any thread, so nothing is
 * lost by a reload or with a worker that dies.  A gauge belongs to the
 * executor: it is valid in the epoch in which it was set, while its worker is
 * alive.  Every series exists from the start, so that its first increase is
 * seen.
 */

#include "ngx_http_submission_status.h"


/* as long as a line gets, names of a histogram and two labels included */

#define NGX_HTTP_SUBMISSION_LINE   128

/* lines of a histogram, with its "_sum" and "_count" */

#define NGX_HTTP_SUBMISSION_LINES  (NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS + 2)

#define NGX_HTTP_SUBMISSION_METRICS_SIZE                                      \
    (NGX_HTTP_SUBMISSION_LINE                                                 \
     * (120                                                                   \
        + (NGX_HTTP_SUBMISSION_METRICS_STATUSES + NGX_HTTP_SUBMISSION_DUR_N   \
           + 2 * NGX_HTTP_SUBMISSION_OP_N) * NGX_HTTP_SUBMISSION_LINES        \
        + NGX_HTTP_SUBMISSION_OP_N * NGX_HTTP_SUBMISSION_METRICS_CLASSES))


typedef struct {
    const char   *name;
    const char   *help;
} ngx_http_submission_metric_t;


/* upper bounds of buckets, NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS at most */

#define NGX_HTTP_SUBMISSION_INF  INT64_MAX

static int64_t  ngx_http_submission_call_bounds[] = {       /* microseconds */
    250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000,
    1000000, 2500000, 5000000, 10000000, NGX_HTTP_SUBMISSION_INF
};

static int64_t  ngx_http_submission_duration_bounds[] = {
    1000, 5000, 10000, 25000, 50000, 100000, 250000, 500000,
    1000000, 2500000, 5000000, 10000000, 30000000, 60000000, 300000000,
    NGX_HTTP_SUBMISSION_INF
};

static int64_t  ngx_http_submission_terminal_bounds[] = {
    10000, 50000, 100000, 250000, 500000,
    1000000, 5000000, 10000000, 30000000, 60000000, 300000000, 900000000,
    3600000000, 21600000000, 86400000000, NGX_HTTP_SUBMISSION_INF
};

static int64_t  ngx_http_submission_row_bounds[] = {
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, NGX_HTTP_SUBMISSION_INF
};


/* must be in the order of ngx_http_submission_counter_e */

static ngx_http_submission_metric_t  ngx_http_submission_counters[] = {

    { "intents_created_total",
      "Intents that were taken and committed." },

    { "idempotent_hits_total",
      "Submissions of an intent that was there already, the same." },

    { "idempotency_conflicts_total",
      "Submissions of an intent that was there already, another one." },

    { "retries_scheduled_total",
      "Attempts that were followed by the schedule of another." },

    { "requests_overloaded_total",
      "API requests refused because too many wait for the store." },

    { "requests_refused_total",
      "API requests refused because the breaker was open." },

    { "store_retries_total",
      "API requests that were tried again after an error of the store." },

    { "store_breaker_opened_total",
      "How often the breaker opened." },

    { "expired_unsent_total",
      "Intents whose deadline passed before their first attempt." },

    { "wakes_sent_total",
      "Hints to the leader on another instance that it has answered." },

    { "wakes_failed_total",
      "Hints to the leader on another instance that failed." },

    { "wakes_received_total",
      "Hints from other instances." },

    { "inbox_moved_total",
      "Rows of the inbox that became intents, or that were intents already." },

    { "inbox_refused_total",
      "Rows of the inbox that were refused." },

    { "intents_stripped_total",
      "Intents that lost their payload and attempts by retention." },

    { "intents_forgotten_total",
      "Intents that retention removed." }
};


/* must be in the order of ngx_http_submission_gauge_e */

static ngx_http_submission_metric_t  ngx_http_submission_gauges[] = {

    { "queue_depth",
      "Intents in the schedule of this instance, 0 unless it leads." },

    { "inflight_attempts",
      "Attempts that are being sent by this instance, 0 unless it leads." },

    { "retention_overdue_seconds",
      "By how much the oldest was overdue that retention found in its pass." }
};


/* must be in the order of ngx_http_submission_duration_e */

static ngx_http_submission_metric_t  ngx_http_submission_durations[] = {

    { "attempt_duration_seconds",
      "From sending an attempt to its outcome." },

    { "queue_delay_seconds",
      "From the time when an attempt was due to its begin." }
};


/* must be in the order of sm_store_class_e */

static const char  *ngx_http_submission_classes[] = {
    "ok", "transient", "permanent", "schema", "constraint", "lease_lost"
};


void
ngx_http_submission_count(ngx_http_submission_manager_t *manager,
    ngx_http_submission_counter_e counter, ngx_uint_t n)
{
    if (n) {
        (void) ngx_atomic_fetch_add(&manager->sh->metrics.counters[counter],
                                    n);
    }
}


static void
ngx_http_submission_histogram_add(ngx_http_submission_histogram_t *h,
    const int64_t *bounds, int64_t value)
{
    ngx_uint_t  i;

    for (i = 0; value > bounds[i]; i++) { /* void */ }

    (void) ngx_atomic_fetch_add(&h->sum, value);
    (void) ngx_atomic_fetch_add(&h->buckets[i], 1);
}


void
ngx_http_submission_count_attempt(ngx_http_submission_manager_t *manager,
    sm_outcome_e outcome, ngx_uint_t n)
{
    (void) ngx_atomic_fetch_add(&manager->sh->metrics.attempts[outcome], n);
}


void
ngx_http_submission_count_terminal(ngx_http_submission_manager_t *manager,
    sm_status_e status, sm_exhausted_e reason, int64_t since_created)
{
    ngx_http_submission_metrics_t  *metrics;

    metrics = &manager->sh->metrics;

    (void) ngx_atomic_fetch_add(&metrics->terminal[status], 1);

    if (status == SM_STATUS_EXHAUSTED) {
        (void) ngx_atomic_fetch_add(&metrics->exhausted[reason], 1);
    }

    if (since_created >= 0) {
        ngx_http_submission_histogram_add(&metrics->to_terminal[status],
                                          ngx_http_submission_terminal_bounds,
                                          since_created);
    }
}


/* the value first: a new epoch must not show what was set in the last one */

void
ngx_http_submission_gauge(ngx_http_submission_manager_t *manager,
    ngx_http_submission_gauge_e gauge, int64_t epoch, ngx_uint_t value)
{
    ngx_http_submission_gauge_t  *g;

    g = &manager->sh->metrics.gauges[gauge];

    g->value = value;
    ngx_memory_barrier();
    g->epoch = epoch;
}


void
ngx_http_submission_observe(ngx_http_submission_manager_t *manager,
    ngx_http_submission_duration_e duration, int64_t usec)
{
    if (usec >= 0) {
        ngx_http_submission_histogram_add(
                                     &manager->sh->metrics.durations[duration],
                                     ngx_http_submission_duration_bounds,
                                     usec);
    }
}


void
ngx_http_submission_count_call(ngx_http_submission_manager_t *manager,
    ngx_http_submission_op_e op, sm_store_class_e class, ngx_uint_t rows,
    int64_t usec)
{
    ngx_http_submission_metrics_t  *metrics;

    metrics = &manager->sh->metrics;

    ngx_http_submission_histogram_add(&metrics->calls[op],
                                      ngx_http_submission_call_bounds, usec);

    if (rows) {
        ngx_http_submission_histogram_add(&metrics->rows[op],
                                          ngx_http_submission_row_bounds,
                                          rows);
    }

    if (class != SM_STORE_OK) {
        (void) ngx_atomic_fetch_add(&metrics->errors[op][class], 1);
    }
}


/* the text */


static void
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


/* a sample's name, with a label if there is one; more is to follow */

static void
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


static void
ngx_http_submission_metrics_sample(sm_out_t *out, const char *name,
    const char *suffix, const char *label, sm_str_t value, int64_t n)
{
    ngx_http_submission_metrics_name(out, name, suffix, label, value);
    sm_out_c(out, label ? "} " : " ");
    sm_out_int(out, n);
    sm_out_c(out, "\n");
}


static void
ngx_http_submission_metrics_single(sm_out_t *out, const char *type,
    const char *name, const char *help, int64_t n)
{
    ngx_http_submission_metrics_family(out, type, name, help);
    ngx_http_submission_metrics_sample(out, name, "", NULL, sm_str_c(""), n);
}


/* "unit" is a power of ten: how many are one of what is told */

static void
ngx_http_submission_metrics_decimal(sm_out_t *out, int64_t n, int64_t unit)
{
    sm_out_int(out, n / unit);

    n %= unit;

    if (n) {
        sm_out_c(out, ".");
    }

    while (n) {
        unit /= 10;
        sm_out_int(out, n / unit);
        n %= unit;
    }
}


/* each bucket is read once, so that "_count" is what is in the last one */

static void
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

        ngx_http_submission_metrics_decimal(out, bounds[i], unit);
        sm_out_c(out, "\"} ");
        sm_out_int(out, n);
        sm_out_c(out, "\n");
    }

    sm_out_c(out, "+Inf\"} ");
    sm_out_int(out, n);
    sm_out_c(out, "\n");

    ngx_http_submission_metrics_name(out, name, "_sum", label, value);
    sm_out_c(out, label ? "} " : " ");
    ngx_http_submission_metrics_decimal(out, sum, unit);
    sm_out_c(out, "\n");

    ngx_http_submission_metrics_sample(out, name, "_count", label, value, n);
}


/* how intents and attempts ended */

static void
ngx_http_submission_metrics_intents(sm_out_t *out,
    ngx_http_submission_metrics_t *metrics)
{
    ngx_uint_t                     i;
    ngx_http_submission_metric_t  *m;

    for (i = 0; i < NGX_HTTP_SUBMISSION_CNT_N; i++) {
        m = &ngx_http_submission_counters[i];
        ngx_http_submission_metrics_single(out, "counter", m->name, m->help,
                                           metrics->counters[i]);
    }

    ngx_http_submission_metrics_family(out, "counter", "intents_terminal_total",
                                       "Intents that came to their end.");

    for (i = SM_STATUS_PENDING + 1;
         i < NGX_HTTP_SUBMISSION_METRICS_STATUSES;
         i++)
    {
        ngx_http_submission_metrics_sample(out, "intents_terminal_total", "",
                                           "status", sm_status_name(i),
                                           metrics->terminal[i]);
    }

    ngx_http_submission_metrics_family(out, "counter", "exhausted_total",
                                       "Intents that were given up.");

    for (i = SM_EXHAUSTED_NONE + 1; i < SM_EXHAUSTED_REASONS; i++) {
        ngx_http_submission_metrics_sample(out, "exhausted_total", "",
                                           "reason",
                                           sm_exhausted_name(i),
                                           metrics->exhausted[i]);
    }

    ngx_http_submission_metrics_family(out, "counter", "attempts_total",
                                       "Attempts that were recorded.");

    for (i = SM_OUTCOME_NONE + 1; i < SM_OUTCOMES; i++) {
        ngx_http_submission_metrics_sample(out, "attempts_total", "",
                                           "outcome_status",
                                           sm_outcome_name(i),
                                           metrics->attempts[i]);
    }

    ngx_http_submission_metrics_family(out, "histogram",
                                       "intent_time_to_terminal_seconds",
                                       "From taking an intent to its end.");

    for (i = SM_STATUS_PENDING + 1;
         i < NGX_HTTP_SUBMISSION_METRICS_STATUSES;
         i++)
    {
        ngx_http_submission_metrics_histogram(out,
                                         "intent_time_to_terminal_seconds",
                                         "status", sm_status_name(i),
                                         &metrics->to_terminal[i],
                                         ngx_http_submission_terminal_bounds,
                                         1000000);
    }

    for (i = 0; i < NGX_HTTP_SUBMISSION_DUR_N; i++) {
        m = &ngx_http_submission_durations[i];

        ngx_http_submission_metrics_family(out, "histogram", m->name, m->help);
        ngx_http_submission_metrics_histogram(out, m->name, NULL,
                                         sm_str_c(""), &metrics->durations[i],
                                         ngx_http_submission_duration_bounds,
                                         1000000);
    }
}


static void
ngx_http_submission_metrics_store(sm_out_t *out,
    ngx_http_submission_metrics_t *metrics)
{
    ngx_uint_t  i, k;

    ngx_http_submission_metrics_family(out, "histogram", "store_call_seconds",
                                       "Calls to the store, in a thread.");

    for (i = NGX_HTTP_SUBMISSION_OP_NONE + 1; i < NGX_HTTP_SUBMISSION_OP_N; i++)
    {
        ngx_http_submission_metrics_histogram(out, "store_call_seconds", "op",
                                     sm_str_c(ngx_http_submission_ops[i].name),
                                     &metrics->calls[i],
                                     ngx_http_submission_call_bounds, 1000000);
    }

    ngx_http_submission_metrics_family(out, "counter", "store_errors_total",
                                       "Calls to the store that failed.");

    for (i = NGX_HTTP_SUBMISSION_OP_NONE + 1; i < NGX_HTTP_SUBMISSION_OP_N; i++)
    {
        for (k = SM_STORE_OK + 1;
             k < NGX_HTTP_SUBMISSION_METRICS_CLASSES;
             k++)
        {
            ngx_http_submission_metrics_name(out, "store_errors_total", "",
                                    "op",
                                    sm_str_c(ngx_http_submission_ops[i].name));
            sm_out_c(out, ",class=\"");
            sm_out_c(out, ngx_http_submission_classes[k]);
            sm_out_c(out, "\"} ");
            sm_out_int(out, metrics->errors[i][k]);
            sm_out_c(out, "\n");
        }
    }

    ngx_http_submission_metrics_family(out, "histogram", "batch_rows",
                                       "Rows of a call to the store.");

    for (i = NGX_HTTP_SUBMISSION_OP_NONE + 1; i < NGX_HTTP_SUBMISSION_OP_N; i++)
    {
        if (ngx_http_submission_ops[i].batched) {
            ngx_http_submission_metrics_histogram(out, "batch_rows", "op",
                                     sm_str_c(ngx_http_submission_ops[i].name),
                                     &metrics->rows[i],
                                     ngx_http_submission_row_bounds, 1);
        }
    }
}


/* in shared memory a killed worker leads until the next one does */

static ngx_uint_t
ngx_http_submission_metrics_executes(ngx_http_submission_role_t *role)
{
    return role->leader && (kill(role->pid, 0) == 0 || ngx_errno != ESRCH);
}


static void
ngx_http_submission_metrics_instance(sm_out_t *out,
    ngx_http_submission_manager_conf_t *mcf)
{
    int64_t                        left;
    ngx_uint_t                     i, executes;
    ngx_slab_pool_t               *shpool;
    ngx_http_submission_role_t     role;
    ngx_http_submission_gauge_t   *g;
    ngx_http_submission_shctx_t   *sh;
    ngx_http_submission_metric_t  *m;

    sh = mcf->sh;
    shpool = (ngx_slab_pool_t *) mcf->shm_zone->shm.addr;

    ngx_http_submission_zone_role(mcf->sh, &role);

    executes = ngx_http_submission_metrics_executes(&role);

    for (i = 0; i < NGX_HTTP_SUBMISSION_GAUGE_N; i++) {
        m = &ngx_http_submission_gauges[i];
        g = &sh->metrics.gauges[i];

        ngx_http_submission_metrics_single(out, "gauge", m->name, m->help,
                            executes && (int64_t) g->epoch == role.epoch
                            ? (int64_t) g->value : 0);
    }

    ngx_http_submission_metrics_single(out, "gauge", "leader",
                                       "Whether this instance leads.",
                                       role.leader);

    ngx_http_submission_metrics_single(out, "gauge", "lease_epoch",
                            "The epoch that it leads in, 0 if it does not.",
                            role.leader ? role.epoch : 0);

    left = role.leader ? (ngx_msec_int_t) (role.deadline
                                           - ngx_http_submission_lease_msec())
                       : 0;

    ngx_http_submission_metrics_family(out, "gauge", "lease_remaining_seconds",
                            "How long it will lead without a renewal.");
    sm_out_c(out, "submission_lease_remaining_seconds ");
    ngx_http_submission_metrics_decimal(out, left > 0 ? left : 0, 1000);
    sm_out_c(out, "\n");

    ngx_http_submission_metrics_single(out, "gauge", "store_up",
                            "Whether the store committed when last asked to.",
                            sh->store == NGX_HTTP_SUBMISSION_STORE_UP);

    ngx_http_submission_metrics_single(out, "gauge", "store_breaker_open",
                            "Whether API requests are refused at once.",
                            mcf->retry && sh->broken);

    ngx_http_submission_metrics_single(out, "gauge", "zone_bytes",
                                       "Size of the shared memory zone.",
                                       mcf->shm_zone->shm.size);

    ngx_http_submission_metrics_single(out, "gauge", "zone_free_bytes",
                                       "Free pages of the zone.",
                                       shpool->pfree * ngx_pagesize);

    ngx_http_submission_metrics_family(out, "gauge", "build_info",
                                       "The version of the module; always 1.");
    ngx_http_submission_metrics_sample(out, "build_info", "",
                                           "version",
                                       sm_str_c(NGX_HTTP_SUBMISSION_VERSION),
                                       1);
}


ngx_int_t
ngx_http_submission_metrics_handler(ngx_http_request_t *r)
{
    sm_out_t                             out;
    ngx_int_t                            rc;
    ngx_buf_t                           *b;
    ngx_chain_t                          chain;
    ngx_http_submission_manager_conf_t  *mcf;
    ngx_http_submission_loc_conf_t      *slcf;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);
    mcf = slcf->metrics;

    b = ngx_create_temp_buf(r->pool, NGX_HTTP_SUBMISSION_METRICS_SIZE);
    if (b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sm_out_init(&out, b->pos, NGX_HTTP_SUBMISSION_METRICS_SIZE);

    ngx_http_submission_metrics_intents(&out, &mcf->sh->metrics);
    ngx_http_submission_metrics_store(&out, &mcf->sh->metrics);
    ngx_http_submission_metrics_instance(&out, mcf);

    if (out.full) {
        ngx_log_error(NGX_LOG_ALERT, r->connection->log, 0,
                      "submission: the metrics did not fit into %uz bytes",
                      (size_t) NGX_HTTP_SUBMISSION_METRICS_SIZE);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b->last = (u_char *) out.last;
    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    r->disable_not_modified = 1;
    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = b->last - b->pos;

    /* for filters it is text/plain, and complete */

    ngx_str_set(&r->headers_out.content_type,
                "text/plain; version=0.0.4; charset=utf-8");
    r->headers_out.content_type_len = sizeof("text/plain") - 1;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    chain.buf = b;
    chain.next = NULL;

    return ngx_http_output_filter(r, &chain);
}
