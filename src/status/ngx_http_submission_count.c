
/*
 * Counters, histograms and gauges in the zone.
 *
 * They are changed atomically, by any worker and any thread, so nothing is
 * lost by a reload or with a worker that dies.  A gauge belongs to the
 * executor: it is valid in the epoch in which it was set, while its worker is
 * alive.
 */

#include "ngx_http_submission_metrics.h"


const int64_t  ngx_http_submission_call_bounds[] = {       /* microseconds */
    250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000,
    1000000, 2500000, 5000000, 10000000, NGX_HTTP_SUBMISSION_INF
};

const int64_t  ngx_http_submission_duration_bounds[] = {
    1000, 5000, 10000, 25000, 50000, 100000, 250000, 500000,
    1000000, 2500000, 5000000, 10000000, 30000000, 60000000, 90000000,
    120000000, 180000000, 300000000, 600000000, NGX_HTTP_SUBMISSION_INF
};

const int64_t  ngx_http_submission_terminal_bounds[] = {
    10000, 50000, 100000, 250000, 500000,
    1000000, 5000000, 10000000, 30000000, 60000000, 120000000, 300000000,
    600000000, 900000000, 1800000000, 3600000000, 21600000000, 86400000000,
    NGX_HTTP_SUBMISSION_INF
};

const int64_t  ngx_http_submission_row_bounds[] = {
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, NGX_HTTP_SUBMISSION_INF
};

_Static_assert(sm_nelts(ngx_http_submission_call_bounds)
               <= NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS
               && sm_nelts(ngx_http_submission_duration_bounds)
                  <= NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS
               && sm_nelts(ngx_http_submission_terminal_bounds)
                  <= NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS
               && sm_nelts(ngx_http_submission_row_bounds)
                  <= NGX_HTTP_SUBMISSION_HISTOGRAM_BUCKETS,
               "more bounds than buckets");


void
ngx_http_submission_count(ngx_http_submission_manager_t *manager,
    ngx_http_submission_counter_e counter, ngx_uint_t n)
{
    if (n) {
        (void) ngx_atomic_fetch_add(&manager->sh->metrics->counters[counter],
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


static ngx_http_submission_target_metrics_t *
ngx_http_submission_count_target(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target)
{
    return target && target->metrics ? target->metrics
                                     : &manager->sh->metrics->others;
}


void
ngx_http_submission_count_attempt(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, sm_outcome_e outcome, ngx_uint_t n)
{
    ngx_http_submission_target_metrics_t  *metrics;

    metrics = ngx_http_submission_count_target(manager, target);

    (void) ngx_atomic_fetch_add(&metrics->attempts[outcome], n);
}


void
ngx_http_submission_count_expired(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target)
{
    ngx_http_submission_target_metrics_t  *metrics;

    metrics = ngx_http_submission_count_target(manager, target);

    (void) ngx_atomic_fetch_add(&metrics->expired_unsent, 1);
}


void
ngx_http_submission_count_unsent(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, sm_unsent_e reason)
{
    ngx_http_submission_target_metrics_t  *metrics;

    metrics = ngx_http_submission_count_target(manager, target);

    (void) ngx_atomic_fetch_add(&metrics->unsent[reason], 1);
}


void
ngx_http_submission_count_terminal(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, sm_status_e status,
    sm_exhausted_e reason, int64_t since_created)
{
    ngx_http_submission_metrics_t         *metrics;
    ngx_http_submission_target_metrics_t  *of;

    metrics = manager->sh->metrics;
    of = ngx_http_submission_count_target(manager, target);

    (void) ngx_atomic_fetch_add(&of->terminal[status], 1);

    if (status == SM_STATUS_EXHAUSTED) {
        (void) ngx_atomic_fetch_add(&metrics->exhausted[reason], 1);
    }

    if (since_created >= 0) {
        ngx_http_submission_histogram_add(&metrics->to_terminal[status],
                                          ngx_http_submission_terminal_bounds,
                                          since_created);
    }
}


/*
 * The value is written before the epoch: a new epoch must not show the value of
 * the last one.
 */

void
ngx_http_submission_gauge(ngx_http_submission_manager_t *manager,
    ngx_http_submission_gauge_e gauge, int64_t epoch, ngx_uint_t value)
{
    ngx_http_submission_gauge_t  *g;

    g = &manager->sh->metrics->gauges[gauge];

    g->value = value;
    ngx_memory_barrier();
    g->epoch = epoch;
}


void
ngx_http_submission_observe(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target,
    ngx_http_submission_duration_e duration, int64_t usec)
{
    ngx_http_submission_target_metrics_t  *metrics;

    metrics = ngx_http_submission_count_target(manager, target);

    if (usec >= 0) {
        ngx_http_submission_histogram_add(&metrics->durations[duration],
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

    metrics = manager->sh->metrics;

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


void
ngx_http_submission_depth(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, const sm_stats_target_t *numbers)
{
    ngx_http_submission_target_metrics_t  *metrics;

    metrics = ngx_http_submission_count_target(manager, target);

    metrics->due = numbers->due;
    metrics->waiting = numbers->waiting;
    metrics->in_flight = numbers->in_flight;
    metrics->oldest_due = numbers->oldest_due / 1000;
    metrics->state = numbers->state;
    metrics->health = numbers->health;
    metrics->certificate = numbers->certificate / 1000000;
}
