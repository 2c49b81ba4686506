
/*
 * Metrics by target: those that are configured, and "other" for the rest, such
 * as intents of a target that is not configured any more.  The sum over the
 * targets is what an instance has counted at all.
 */

#include "ngx_http_submission_metrics.h"


#define NGX_HTTP_SUBMISSION_METRICS_OTHER  "other"


/* A target; "label" is its name with quotes and backslashes escaped. */

typedef struct {
    sm_str_t                               label;
    ngx_http_submission_target_metrics_t  *metrics;
} ngx_http_submission_metrics_row_t;


typedef struct {
    sm_out_t                              *out;
    ngx_http_submission_metrics_row_t     *rows;
    ngx_uint_t                             n;
    ngx_uint_t                             executes;
} ngx_http_submission_metrics_table_t;


/* must be in the order of ngx_http_submission_duration_e */

static ngx_http_submission_metric_t  ngx_http_submission_durations[] = {

    { "attempt_duration_seconds",
      "From sending an attempt to its outcome." },

    { "queue_delay_seconds",
      "From the time when an attempt was due to its begin." }
};

_Static_assert(sm_nelts(ngx_http_submission_durations)
               == NGX_HTTP_SUBMISSION_DUR_N, "a row for each duration");


/* Writes a name as a label: two characters get a backslash before them. */

static void
ngx_http_submission_metrics_label(sm_out_t *out, sm_str_t name)
{
    size_t  i;

    for (i = 0; i < name.len; i++) {
        if (name.data[i] == '"' || name.data[i] == '\\') {
            sm_out_c(out, "\\");
        }

        sm_out_bytes(out, &name.data[i], 1);
    }
}


/* Targets without room of their own in the zone are counted as "other". */

static ngx_int_t
ngx_http_submission_metrics_rows(ngx_pool_t *pool,
    ngx_http_submission_metrics_table_t *table,
    ngx_http_submission_manager_conf_t *mcf)
{
    size_t                               size;
    u_char                              *p;
    sm_out_t                             out;
    ngx_uint_t                           i;
    ngx_http_submission_target_t       **targets;
    ngx_http_submission_metrics_row_t   *row;

    targets = mcf->by_index.elts;
    size = sizeof(NGX_HTTP_SUBMISSION_METRICS_OTHER);

    for (i = 0; i < mcf->by_index.nelts; i++) {
        size += 2 * targets[i]->contract.target.len;
    }

    p = ngx_pnalloc(pool, size);
    table->rows = ngx_palloc(pool, (mcf->by_index.nelts + 1)
                                   * sizeof(ngx_http_submission_metrics_row_t));

    if (p == NULL || table->rows == NULL) {
        return NGX_ERROR;
    }

    sm_out_init(&out, p, size);

    for (i = 0; i < mcf->by_index.nelts; i++) {
        if (targets[i]->metrics == NULL) {
            continue;
        }

        row = &table->rows[table->n++];

        row->metrics = targets[i]->metrics;
        row->label.data = out.last;
        ngx_http_submission_metrics_label(&out, targets[i]->contract.target);
        row->label.len = out.last - row->label.data;
    }

    row = &table->rows[table->n++];
    row->metrics = &mcf->sh->metrics->others;
    row->label = sm_str_c(NGX_HTTP_SUBMISSION_METRICS_OTHER);

    return NGX_OK;
}


/* A family of counters, one for each target; "offset" is in its metrics. */

static void
ngx_http_submission_metrics_each(ngx_http_submission_metrics_table_t *table,
    const char *name, const char *help, size_t offset)
{
    ngx_uint_t                          i;
    ngx_http_submission_metrics_row_t  *row;

    ngx_http_submission_metrics_family(table->out, "counter", name, help);

    for (i = 0; i < table->n; i++) {
        row = &table->rows[i];

        ngx_http_submission_metrics_sample(table->out, name, "", "target",
                                           row->label,
                                           *(ngx_atomic_t *)
                                           ((char *) row->metrics + offset));
    }
}


static void
ngx_http_submission_metrics_counts(ngx_http_submission_metrics_table_t *table)
{
    ngx_uint_t                          i, k;
    ngx_http_submission_metrics_row_t  *row;

    ngx_http_submission_metrics_family(table->out, "counter", "attempts_total",
                                       "Attempts that were recorded.");

    for (i = 0; i < table->n; i++) {
        row = &table->rows[i];

        for (k = SM_OUTCOME_NONE + 1; k < SM_OUTCOMES; k++) {
            ngx_http_submission_metrics_two(table->out, "attempts_total",
                                            "target", row->label,
                                            "outcome_status",
                                            sm_outcome_name(k),
                                            row->metrics->attempts[k]);
        }
    }

    ngx_http_submission_metrics_family(table->out, "counter",
                                       "intents_terminal_total",
                                       "Intents that came to their end.");

    for (i = 0; i < table->n; i++) {
        row = &table->rows[i];

        for (k = SM_STATUS_PENDING + 1;
             k < NGX_HTTP_SUBMISSION_METRICS_STATUSES;
             k++)
        {
            ngx_http_submission_metrics_two(table->out,
                                            "intents_terminal_total",
                                            "target", row->label, "status",
                                            sm_status_name(k),
                                            row->metrics->terminal[k]);
        }
    }

    ngx_http_submission_metrics_each(table, "expired_unsent_total",
                   "Intents whose deadline passed before their first attempt.",
                   offsetof(ngx_http_submission_target_metrics_t,
                            expired_unsent));

    ngx_http_submission_metrics_family(table->out, "counter",
                                       "attempts_unsent_total",
                   "Attempts that could not leave this host; they count for "
                   "nothing else.");

    for (i = 0; i < table->n; i++) {
        row = &table->rows[i];

        for (k = 0; k < SM_UNSENT_REASONS; k++) {
            ngx_http_submission_metrics_two(table->out,
                                            "attempts_unsent_total", "target",
                                            row->label, "reason",
                                            sm_unsent_name(k),
                                            row->metrics->unsent[k]);
        }
    }
}


static void
ngx_http_submission_metrics_times(ngx_http_submission_metrics_table_t *table)
{
    ngx_uint_t                     i, k;
    ngx_http_submission_metric_t  *m;

    for (k = 0; k < NGX_HTTP_SUBMISSION_DUR_N; k++) {
        m = &ngx_http_submission_durations[k];

        ngx_http_submission_metrics_family(table->out, "histogram", m->name,
                                           m->help);

        for (i = 0; i < table->n; i++) {
            ngx_http_submission_metrics_histogram(table->out, m->name,
                                         "target", table->rows[i].label,
                                         &table->rows[i].metrics->durations[k],
                                         ngx_http_submission_duration_bounds,
                                         1000000);
        }
    }
}


static void
ngx_http_submission_metrics_depth(ngx_http_submission_metrics_table_t *table)
{
    ngx_uint_t                             i, executes;
    ngx_http_submission_metrics_row_t     *row;
    ngx_http_submission_target_metrics_t  *m;

    executes = table->executes;

    ngx_http_submission_metrics_family(table->out, "gauge", "queue_depth",
             "Intents in the queue of this instance, 0 unless it leads.");

    for (i = 0; i < table->n; i++) {
        row = &table->rows[i];
        m = row->metrics;

        ngx_http_submission_metrics_two(table->out, "queue_depth",
                                        "target", row->label,
                                        "state", sm_str_c("due"),
                                        executes ? m->due : 0);
        ngx_http_submission_metrics_two(table->out, "queue_depth",
                                        "target", row->label,
                                        "state", sm_str_c("waiting"),
                                        executes ? m->waiting : 0);
        ngx_http_submission_metrics_two(table->out, "queue_depth",
                                        "target", row->label,
                                        "state", sm_str_c("in_flight"),
                                        executes ? m->in_flight : 0);
    }

    ngx_http_submission_metrics_family(table->out, "gauge",
                                       "oldest_due_seconds",
                        "How late the oldest due intent is, 0 if none is due.");

    for (i = 0; i < table->n; i++) {
        row = &table->rows[i];

        ngx_http_submission_metrics_name(table->out, "oldest_due_seconds", "",
                                         "target", row->label);
        sm_out_c(table->out, "} ");
        sm_out_decimal(table->out, executes ? row->metrics->oldest_due : 0,
                       1000);
        sm_out_c(table->out, "\n");
    }
}


/* Of "other", the last row, there is no health: it is no target. */

static void
ngx_http_submission_metrics_health(ngx_http_submission_metrics_table_t *table)
{
    ngx_uint_t                          i, k;
    ngx_http_submission_metrics_row_t  *row;

    ngx_http_submission_metrics_family(table->out, "gauge", "target_health",
          "1 for the health of a target, by the leader; 0 on other instances.");

    for (i = 0; i < table->n - 1; i++) {
        row = &table->rows[i];

        for (k = 0; k < SM_HEALTH_STATES; k++) {
            ngx_http_submission_metrics_two(table->out, "target_health",
                                            "target", row->label, "state",
                                            sm_health_name(k),
                                            table->executes
                                            && row->metrics->health == k);
        }
    }

    ngx_http_submission_metrics_family(table->out, "gauge",
                                       "gateway_certificate_expiry_seconds",
                "When the certificate of a gateway expires, as a Unix time.");

    for (i = 0; i < table->n; i++) {
        row = &table->rows[i];

        if (table->executes && row->metrics->certificate) {
            ngx_http_submission_metrics_sample(table->out,
                                          "gateway_certificate_expiry_seconds",
                                          "", "target", row->label,
                                          row->metrics->certificate);
        }
    }
}


static void
ngx_http_submission_metrics_state(ngx_http_submission_metrics_table_t *table)
{
    ngx_uint_t                          i, k;
    ngx_http_submission_metrics_row_t  *row;

    ngx_http_submission_metrics_family(table->out, "gauge", "target_state",
           "1 for the state of a target, by the leader; 0 on other instances.");

    for (i = 0; i < table->n; i++) {
        row = &table->rows[i];

        for (k = 0; k < SM_STATS_STATES; k++) {
            ngx_http_submission_metrics_two(table->out, "target_state",
                                            "target", row->label, "state",
                                            sm_stats_state_name(k),
                                            table->executes
                                            && row->metrics->state == k);
        }
    }
}


ngx_int_t
ngx_http_submission_metrics_targets(ngx_pool_t *pool, sm_out_t *out,
    ngx_http_submission_manager_conf_t *mcf, ngx_uint_t executes)
{
    ngx_http_submission_role_t            role;
    ngx_http_submission_metrics_table_t   table;

    ngx_memzero(&table, sizeof(ngx_http_submission_metrics_table_t));

    table.out = out;

    ngx_http_submission_zone_role(mcf->sh, &role);

    table.executes = executes
                     && (int64_t) mcf->sh->metrics->gauges
                              [NGX_HTTP_SUBMISSION_GAUGE_QUEUE_DEPTH].epoch
                        == role.epoch;

    if (ngx_http_submission_metrics_rows(pool, &table, mcf) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_http_submission_metrics_counts(&table);
    ngx_http_submission_metrics_times(&table);
    ngx_http_submission_metrics_depth(&table);
    ngx_http_submission_metrics_state(&table);
    ngx_http_submission_metrics_health(&table);

    return NGX_OK;
}
