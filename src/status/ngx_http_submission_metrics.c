
/*
 * /metrics, in the text format of Prometheus.  Every series exists from the
 * start, so that its first increase is seen.
 */

#include "ngx_http_submission_metrics.h"
#include "ngx_http_submission_text.h"
#include "ngx_http_submission_zone_board.h"
#include "ngx_http_submission_zone_health.h"


/* must be in the order of ngx_http_submission_counter_e */

static ngx_http_submission_metric_t  ngx_http_submission_counters[] = {

    { "intents_created_total",
      "Intents that were taken and committed." },

    { "duplicates_total",
      "Duplicates: POSTs of an intent that was there, with the same content." },

    { "idempotency_conflicts_total",
      "POSTs of an id that was there, with other content." },

    { "intents_not_taken_total",
      "Intents that were answered 503, each line of a bulk by itself." },

    { "retries_total",
      "Attempts after which the intent was to be tried again." },

    { "requests_overloaded_total",
      "API requests refused because too many wait for the store." },

    { "requests_refused_total",
      "API requests refused because the breaker was open." },

    { "store_retries_total",
      "API requests that were tried again after an error of the store." },

    { "store_commits_failed_total",
      "Calls to the store that were to commit and did not." },

    { "store_breaker_opened_total",
      "How often the breaker opened." },

    { "in_doubt_total",
      "Attempts of a leader that was lost, which may have been sent." },

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
      "Intents that retention removed." },

    { "schedule_fired_total",
      "Times of schedules that became intents." },

    { "schedule_skipped_total",
      "Times of schedules that were skipped, as the last intent was pending." },

    { "schedule_missed_total",
      "Times of schedules that had passed, and were not made up." }
};

_Static_assert(sm_nelts(ngx_http_submission_counters)
               == NGX_HTTP_SUBMISSION_CNT_N, "a row for each counter");


/* must be in the order of ngx_http_submission_gauge_e */

static ngx_http_submission_metric_t  ngx_http_submission_gauges[] = {

    { "queue_depth", NULL },                /* by target */

    { "inflight_attempts",
      "Attempts that are being sent by this instance, 0 unless it leads." },

    { "retention_overdue_seconds",
      "By how much the oldest was overdue that retention found in its pass." }
};

_Static_assert(sm_nelts(ngx_http_submission_gauges)
               == NGX_HTTP_SUBMISSION_GAUGE_N, "a row for each gauge");


/* must be in the order of sm_store_class_e */

static const char  *ngx_http_submission_classes[] = {
    "ok", "transient", "permanent", "schema", "constraint", "lease_lost"
};

_Static_assert(sm_nelts(ngx_http_submission_classes)
               == NGX_HTTP_SUBMISSION_METRICS_CLASSES,
               "a name for each class");


/* Counters of the instance, and how intents of all targets ended. */

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

    ngx_http_submission_metrics_family(out, "counter", "exhausted_total",
                                       "Intents that were given up.");

    for (i = SM_EXHAUSTED_NONE + 1; i < SM_EXHAUSTED_REASONS; i++) {
        ngx_http_submission_metrics_sample(out, "exhausted_total", "",
                                           "reason",
                                           sm_exhausted_name(i),
                                           metrics->exhausted[i]);
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
            ngx_http_submission_metrics_two(out, "store_errors_total", "op",
                                     sm_str_c(ngx_http_submission_ops[i].name),
                                     "class",
                                     sm_str_c(ngx_http_submission_classes[k]),
                                     metrics->errors[i][k]);
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


/*
 * Says whether the executor worker leads and is alive.  The zone shows a worker
 * that was killed as the leader until its deadline.
 */

static ngx_uint_t
ngx_http_submission_metrics_executes(ngx_http_submission_manager_conf_t *mcf)
{
    ngx_http_submission_role_t  role;

    ngx_http_submission_zone_role(mcf->sh, &role);

    return role.leader && (kill(role.pid, 0) == 0 || ngx_errno != ESRCH);
}


static void
ngx_http_submission_metrics_board(sm_out_t *out,
    ngx_http_submission_manager_conf_t *mcf)
{
    char                              hash[SM_CONFIG_SHORT];
    sm_out_t                          text;
    ngx_http_submission_board_use_t   use;

    ngx_http_submission_board_use(mcf, &use);

    ngx_http_submission_metrics_single(out, "gauge", "history_targets",
                            "Targets of which the zone has an hour.",
                            use.histories);

    ngx_http_submission_metrics_single(out, "gauge", "history_bytes",
                            "What the zone has for numbers of the cluster.",
                            use.bytes);

    ngx_http_submission_metrics_family(out, "gauge", "stats_age_seconds",
                            "Age of the leader's numbers, if there are any.");

    if (use.age >= 0) {
        sm_out_c(out, "submission_stats_age_seconds ");
        sm_out_decimal(out, use.age / 1000, 1000);
        sm_out_c(out, "\n");
    }

    ngx_http_submission_metrics_single(out, "gauge", "configuration_differs",
                            "Whether another instance has another one.",
                            use.differ != 0);

    ngx_http_submission_metrics_single(out, "gauge", "holder_id_shared",
                            "holder_ids that more than one instance has.",
                            use.shared);

    sm_out_init(&text, hash, sizeof(hash));
    sm_config_short_out(&text, mcf->config.text);

    ngx_http_submission_metrics_family(out, "gauge", "configuration_info",
                            "A hash of the configuration; always 1.");
    ngx_http_submission_metrics_sample(out, "configuration_info", "", "hash",
                                       (sm_str_t) { SM_CONFIG_SHORT, hash },
                                       1);
}


static void
ngx_http_submission_metrics_instance(sm_out_t *out,
    ngx_http_submission_manager_conf_t *mcf, ngx_uint_t executes)
{
    int64_t                        left;
    ngx_uint_t                     i;
    ngx_slab_pool_t               *shpool;
    ngx_http_submission_role_t     role;
    ngx_http_submission_gauge_t   *g;
    ngx_http_submission_shctx_t   *sh;
    ngx_http_submission_metric_t  *m;

    sh = mcf->sh;
    shpool = (ngx_slab_pool_t *) mcf->shm_zone->shm.addr;

    ngx_http_submission_zone_role(mcf->sh, &role);

    for (i = 0; i < NGX_HTTP_SUBMISSION_GAUGE_N; i++) {
        m = &ngx_http_submission_gauges[i];
        g = &sh->metrics->gauges[i];

        if (m->help == NULL) {
            continue;
        }

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
    sm_out_decimal(out, left > 0 ? left : 0, 1000);
    sm_out_c(out, "\n");

    ngx_http_submission_metrics_single(out, "gauge", "store_up",
                            "Whether the store committed when last asked to.",
                            sh->health->store == SM_STORE_HEALTH_UP);

    ngx_http_submission_metrics_family(out, "gauge", "store_state",
                                       "The state of the store: one is 1.");

    for (i = 0; i < SM_STORE_HEALTH_COUNT; i++) {
        ngx_http_submission_metrics_sample(out, "store_state", "", "state",
                                           sm_store_health_name(i),
                                           sh->health->store == i);
    }

    ngx_http_submission_metrics_single(out, "gauge", "store_breaker_open",
                            "Whether API requests are refused at once.",
                            mcf->retry && sh->health->broken);

    ngx_http_submission_metrics_single(out, "gauge", "zone_bytes",
                                       "Size of the shared memory zone.",
                                       mcf->shm_zone->shm.size);

    ngx_http_submission_metrics_single(out, "gauge", "zone_free_bytes",
                                       "Free pages of the zone.",
                                       (shpool->pfree
                                        + (sh->board->pool
                                           ? sh->board->pool->pfree : 0))
                                       * ngx_pagesize);

    ngx_http_submission_metrics_board(out, mcf);

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
    ngx_uint_t                           executes;
    ngx_http_submission_loc_conf_t      *slcf;
    ngx_http_submission_manager_conf_t  *mcf;

    rc = ngx_http_submission_text_asked(r);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_http_submission_unread_full(r->connection->log)) {
        return NGX_HTTP_SERVICE_UNAVAILABLE;
    }

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);
    mcf = slcf->metrics;

    ngx_http_submission_out(&out, r->pool);

    executes = ngx_http_submission_metrics_executes(mcf);

    ngx_http_submission_metrics_intents(&out, mcf->sh->metrics);

    if (ngx_http_submission_metrics_targets(r->pool, &out, mcf, executes)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_submission_metrics_store(&out, mcf->sh->metrics);
    ngx_http_submission_metrics_instance(&out, mcf, executes);

    if (out.full) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_submission_text_send(r, NGX_HTTP_OK,
                                    "text/plain; version=0.0.4; charset=utf-8",
                                    (u_char *) out.start, (u_char *) out.last);
}
