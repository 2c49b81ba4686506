
/*
 * Writes a target: what is configured here, and what the leader has told of it.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_routes.h"
#include "ngx_http_submission_view.h"


static void
ngx_http_submission_target_time(sm_out_t *out, const char *key, int64_t at)
{
    sm_out_c(out, key);
    ngx_http_submission_view_time(out, at);
}


/* Writes a string, or null if it is empty. */

static void
ngx_http_submission_target_str(sm_out_t *out, const char *key, sm_str_t s)
{
    sm_out_c(out, key);

    if (s.len) {
        sm_json_out_str(out, s);

    } else {
        sm_out_c(out, "null");
    }
}


/*
 * The leader tells nothing of a target that is idle and well.  So nothing is known
 * of one that is not in its numbers if there was no room for it, or if the leader
 * may not have it in its configuration.
 */

static unsigned
ngx_http_submission_target_known(ngx_http_submission_view_t *view,
    sm_stats_target_t *stats)
{
    ngx_http_submission_board_t  *board = view->board;

    return board->stats
           && (stats || (board->stats->omitted == 0
                         && !(board->unlike & (1 << SM_CONFIG_TARGETS))));
}


static void
ngx_http_submission_target_state(ngx_http_submission_view_t *view,
    sm_out_t *out, sm_stats_target_t *stats)
{
    sm_str_t  state;

    state = sm_stats_state_name(stats ? stats->state : SM_STATS_OPEN);

    if (view->board->stats && view->board->stats->omitted
        && !ngx_http_submission_target_known(view, stats))
    {
        state.len = 0;
    }

    ngx_http_submission_target_str(out, ",\"state\":", state);

    ngx_http_submission_target_time(out, ",\"since\":",
                                    stats ? stats->since : 0);

    if (stats && stats->state == SM_STATS_PAUSED) {
        ngx_http_submission_target_str(out, ",\"pause\":{\"reason\":",
                                       stats->pause_reason);
        ngx_http_submission_target_str(out, ",\"actor\":",
                                       stats->pause_actor);
        ngx_http_submission_target_time(out, ",\"at\":", stats->since);
        sm_out_c(out, "}");
    }

    if (stats && (stats->failures || stats->open_until)) {
        sm_out_c(out, ",\"circuit\":{\"failures\":");
        sm_out_int(out, stats->failures);
        ngx_http_submission_target_time(out, ",\"openUntil\":",
                                        stats->open_until);
        sm_out_c(out, "}");
    }
}


static void
ngx_http_submission_target_health(ngx_http_submission_view_t *view,
    sm_out_t *out, sm_stats_target_t *stats)
{
    if (!ngx_http_submission_target_known(view, stats)) {
        sm_out_c(out, ",\"health\":null");
        return;
    }

    sm_out_c(out, ",\"health\":{\"state\":");
    sm_json_out_str(out, sm_health_name(stats ? stats->health
                                              : SM_HEALTH_OK));
    ngx_http_submission_target_time(out, ",\"since\":",
                                    stats ? stats->health_since : 0);
    ngx_http_submission_target_str(out, ",\"why\":",
                                   stats ? stats->health_why
                                         : sm_str_c(""));
    sm_out_c(out, "}");
}


static void
ngx_http_submission_target_conf(ngx_http_submission_view_t *view,
    sm_out_t *out, ngx_http_submission_target_t *target)
{
    unsigned  second;

    sm_out_c(out, ",\"gatewayType\":");
    sm_json_out_str(out, sm_gateway_name(target->contract.gateway_type));
    sm_out_c(out, ",\"gatewayUrl\":");
    ngx_http_submission_config_url(out, target->contract.gateway_url,
                            ngx_http_submission_access_paths(view->request));
    sm_out_c(out, ",\"concurrency\":");

    if (target->concurrency) {
        sm_out_int(out, target->concurrency);

    } else {
        sm_out_c(out, "null");
    }

    if (target->rules.rate) {
        second = target->rules.rate % 60 == 0;

        sm_out_c(out, ",\"rate\":\"");
        sm_out_int(out, second ? target->rules.rate / 60 : target->rules.rate);
        sm_out_c(out, second ? "r/s\",\"burst\":" : "r/m\",\"burst\":");
        sm_out_int(out, target->rules.burst);
    }
}


static void
ngx_http_submission_target_number(sm_out_t *out, const char *key,
    ngx_uint_t known, int64_t n)
{
    sm_out_c(out, key);

    if (known) {
        sm_out_int(out, n);

    } else {
        sm_out_c(out, "null");
    }
}


/* "counted" has only what the store counts. */

static void
ngx_http_submission_target_queue(ngx_http_submission_view_t *view,
    sm_out_t *out, sm_stats_target_t *stats, sm_stats_target_t *counted)
{
    ngx_uint_t          known;
    sm_stats_target_t  *t;

    known = view->backlog || view->board->stats;
    t = view->backlog ? counted : stats;

    ngx_http_submission_target_number(out, ",\"due\":", known,
                                      t ? t->due : 0);
    ngx_http_submission_target_number(out, ",\"waiting\":", known,
                                      t ? t->waiting : 0);
    ngx_http_submission_target_number(out, ",\"inFlight\":",
                                      known && !view->backlog,
                                      t ? t->in_flight : 0);
    ngx_http_submission_target_number(out, ",\"oldestDueSeconds\":",
                                      t && t->due,
                                      t ? t->oldest_due / 1000000 : 0);
}


/* Writes {"1m":n,"5m":n}, with null for a negative number. */

static void
ngx_http_submission_target_pair(sm_out_t *out, const char *key,
    const int64_t n[SM_STATS_WINDOWS], int64_t unit)
{
    size_t  i;

    static const char  *names[] = { "{\"1m\":", ",\"5m\":" };

    sm_out_c(out, key);

    for (i = 0; i < SM_STATS_WINDOWS; i++) {
        sm_out_c(out, names[i]);

        if (n[i] < 0) {
            sm_out_c(out, "null");

        } else {
            sm_out_decimal(out, n[i], unit);
        }
    }

    sm_out_c(out, "}");
}


static void
ngx_http_submission_target_windows(ngx_http_submission_view_t *view,
    sm_out_t *out, sm_stats_target_t *stats)
{
    size_t              i;
    int64_t             attempts, n[4][SM_STATS_WINDOWS];
    sm_stats_window_t  *w;

    for (i = 0; i < SM_STATS_WINDOWS; i++) {
        n[0][i] = view->board->stats && !view->backlog ? 0 : -1;
        n[1][i] = n[2][i] = n[3][i] = -1;

        if (stats == NULL || view->backlog) {
            continue;
        }

        w = &stats->windows[i];
        attempts = sm_stats_attempts(w->counts);

        n[0][i] = ngx_http_submission_view_rate(attempts, w->span);
        n[1][i] = attempts ? w->counts[SM_STATS_ATTEMPT_ACCEPTED] * 10000
                             / attempts
                           : -1;
        n[2][i] = w->p50;
        n[3][i] = w->p99;
    }

    ngx_http_submission_target_pair(out, ",\"perSecond\":", n[0], 1000);
    ngx_http_submission_target_pair(out, ",\"successRatio\":", n[1], 10000);
    ngx_http_submission_target_pair(out, ",\"p50Ms\":", n[2], 1000);
    ngx_http_submission_target_pair(out, ",\"p99Ms\":", n[3], 1000);
}


void
ngx_http_submission_target_out(ngx_http_submission_view_t *view, sm_out_t *out,
    sm_str_t name, ngx_http_submission_target_t *target,
    sm_stats_target_t *stats, sm_stats_target_t *counted)
{
    sm_out_c(out, "\"target\":");
    sm_json_out_str(out, name);

    ngx_http_submission_target_state(view, out, stats);
    ngx_http_submission_target_health(view, out, stats);

    if (target) {
        ngx_http_submission_target_conf(view, out, target);
    }

    ngx_http_submission_target_queue(view, out, stats, counted);
    ngx_http_submission_target_windows(view, out, stats);

    if (stats && stats->certificate) {
        ngx_http_submission_target_time(out, ",\"certificateExpiresAt\":",
                                        stats->certificate);
    }

    if (stats && stats->error_at) {
        ngx_http_submission_target_time(out, ",\"lastError\":{\"at\":",
                                        stats->error_at);
        sm_out_c(out, ",\"reason\":");
        sm_json_out_str(out, stats->error_reason);
        ngx_http_submission_target_str(out, ",\"detail\":",
                                       stats->error_detail);
        sm_out_c(out, "}");
    }
}


void
ngx_http_submission_target_contract_out(sm_out_t *out,
    const sm_contract_t *contract)
{
    int       first;
    sm_str_t  rest, word;

    sm_out_c(out, ",\"contract\":{\"policy\":");
    sm_json_out_str(out, sm_policy_name(contract->policy));

    if (contract->policy == SM_POLICY_DEADLINE) {
        sm_out_c(out, ",\"maxAcceptanceSeconds\":");
        sm_out_int(out, contract->max_acceptance_seconds);
    }

    if (contract->policy == SM_POLICY_MAX_ATTEMPTS) {
        sm_out_c(out, ",\"maxAttempts\":");
        sm_out_int(out, contract->max_attempts);
    }

    sm_out_c(out, ",\"terminalOutcomes\":[");

    rest = contract->terminal_outcomes;
    first = 1;

    while (sm_next_word(&rest, &word)) {
        sm_out_c(out, first ? "" : ",");
        sm_json_out_str(out, word);
        first = 0;
    }

    sm_out_c(out, "],\"retryDelaySeconds\":");
    sm_out_decimal(out, contract->retry_delay, 1000);
    sm_out_c(out, ",\"retryBackoff\":");
    sm_out_decimal(out, contract->retry_backoff, 100);
    sm_out_c(out, ",\"retryMaxSeconds\":");

    if (contract->retry_max) {
        sm_out_decimal(out, contract->retry_max, 1000);

    } else {
        sm_out_c(out, "null");
    }

    sm_out_c(out, ",\"retryJitter\":");
    sm_out_decimal(out, contract->retry_jitter, 100);
    sm_out_c(out, "}");
}
