
/*
 * What happened to each target in this epoch and in the last minutes, counted
 * for the leader's numbers; duty/ngx_http_submission_stats.c tells them.
 *
 * - Targets that are not configured any more share the numbers of one that has
 *   no name, the last one.
 * - An epoch begins with what was in doubt: _prepare() comes before that is
 *   settled, and _start() when the epoch is the worker's.
 * - The counts go on with those that the leader before has told: _go_on().  So
 *   what it counted after its last document but one is in the history of every
 *   instance, whoever has read which document.  If nobody else has told of the
 *   lease since this worker led, they go on with its own, all that it knows.
 * - A page of the queue may have been read before an attempt ended, and show
 *   an intent that has ended.  The hashes of the last intents that ended are
 *   remembered, so that such an intent is counted neither as a new one nor as
 *   a canceled one.
 */

#include "ngx_http_submission_stats.h"


#define NGX_HTTP_SUBMISSION_STATS_ENDED   65536
#define NGX_HTTP_SUBMISSION_STATS_ERROR   (4 * SM_STATS_DETAIL)
#define NGX_HTTP_SUBMISSION_STATS_REASON  64        /* characters */


typedef struct {
    int64_t                          counts[SM_STATS_COUNTS];
    int64_t                          before[SM_STATS_COUNTS];
    sm_window_t                     *window;       /* NULL: nothing yet */

    int64_t                          error_at;
    size_t                           reason_len;
    size_t                           detail_len;
    char                             reason[4
                                         * NGX_HTTP_SUBMISSION_STATS_REASON];
    char                            *detail;
} ngx_http_submission_stats_target_t;


struct ngx_http_submission_counts_s {
    unsigned                         led:1;        /* of an epoch that began */
    unsigned                         going:1;      /* on with others before */
    int64_t                          began;        /* monotonic, usec */
    int64_t                          epoch;        /* of "before", */
    int64_t                          told;         /* and whose it went on */
    int64_t                          counted;      /* see sm_stats.h */
    int64_t                          goes_on;
    ngx_uint_t                       n;            /* with the nameless one */
    ngx_http_submission_stats_target_t  *targets;
    ngx_http_submission_stats_target_t   totals;
    uint32_t                         ended[NGX_HTTP_SUBMISSION_STATS_ENDED];
};


/* must be in the order of sm_outcome_e */

static const sm_stats_count_e  ngx_http_submission_stats_outcomes[] = {
    SM_STATS_ATTEMPT_UNKNOWN,                      /* none: not counted */
    SM_STATS_ATTEMPT_ACCEPTED,
    SM_STATS_ATTEMPT_REJECTED,
    SM_STATS_ATTEMPT_ERROR,
    SM_STATS_ATTEMPT_UNKNOWN
};

_Static_assert(sm_nelts(ngx_http_submission_stats_outcomes) == SM_OUTCOMES,
               "a count for each outcome");


static void
ngx_http_submission_stats_free(ngx_http_submission_stats_target_t *t)
{
    ngx_free(t->window);
    ngx_free(t->detail);
}


/* called when the worker exits */

static void
ngx_http_submission_stats_cleanup(void *data)
{
    ngx_http_submission_counts_t *counts = data;

    ngx_uint_t  i;

    for (i = 0; i < counts->n; i++) {
        ngx_http_submission_stats_free(&counts->targets[i]);
    }

    ngx_http_submission_stats_free(&counts->totals);
}


ngx_int_t
ngx_http_submission_stats_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex)
{
    ngx_pool_cleanup_t            *cln;
    ngx_http_submission_counts_t  *counts;

    counts = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_counts_t));
    if (counts == NULL) {
        return NGX_ERROR;
    }

    counts->n = ex->manager->conf->ntargets + 1;

    counts->targets = ngx_pcalloc(cycle->pool,
                                  counts->n
                                  * sizeof(ngx_http_submission_stats_target_t));

    cln = ngx_pool_cleanup_add(cycle->pool, 0);

    if (counts->targets == NULL || cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_stats_cleanup;
    cln->data = counts;

    ex->counts = counts;

    return NGX_OK;
}


static void
ngx_http_submission_stats_reset(ngx_http_submission_stats_target_t *t,
    ngx_uint_t counts)
{
    if (t->window) {
        sm_window_init(t->window, ngx_http_submission_usec());
    }

    if (counts) {
        ngx_memcpy(t->before, t->counts, sizeof(t->counts));
        ngx_memzero(t->counts, sizeof(t->counts));
    }

    t->error_at = 0;
}


/*
 * An epoch begins with what was in doubt: what became of that is the first of
 * its numbers, even if the recovery has to be tried again, in another epoch.
 * Counts of an epoch of which nobody was told go on, too.
 */

void
ngx_http_submission_stats_prepare(ngx_http_submission_executor_t *ex)
{
    ngx_uint_t                     i;
    ngx_http_submission_counts_t  *counts;

    counts = ex->counts;

    if (!counts->led) {
        return;
    }

    counts->led = 0;

    for (i = 0; i < counts->n; i++) {
        ngx_http_submission_stats_reset(&counts->targets[i], counts->going);
    }

    ngx_http_submission_stats_reset(&counts->totals, counts->going);

    counts->going = 0;
}


void
ngx_http_submission_stats_start(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_counts_t  *counts;

    counts = ex->counts;

    counts->led = 1;
    counts->began = ngx_http_submission_usec();
}


static ngx_http_submission_stats_target_t *
ngx_http_submission_stats_target(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target)
{
    ngx_http_submission_counts_t  *counts;

    counts = ex->counts;

    return &counts->targets[target ? target->index : counts->n - 1];
}


static void
ngx_http_submission_stats_plus(int64_t *counts, const int64_t *before)
{
    ngx_uint_t  i;

    for (i = 0; i < SM_STATS_COUNTS; i++) {
        counts[i] += before[i];
    }
}


static void
ngx_http_submission_stats_go_on_own(ngx_http_submission_counts_t *counts)
{
    ngx_uint_t  i;

    for (i = 0; i < counts->n; i++) {
        ngx_http_submission_stats_plus(counts->targets[i].counts,
                                       counts->targets[i].before);
    }

    ngx_http_submission_stats_plus(counts->totals.counts,
                                   counts->totals.before);
}


/* targets that are not configured here are in the totals alone */

static void
ngx_http_submission_stats_go_on_told(ngx_http_submission_executor_t *ex,
    const sm_stats_t *told)
{
    size_t                         i;
    ngx_http_submission_target_t  *target;
    ngx_http_submission_counts_t  *counts;

    counts = ex->counts;

    for (i = 0; i < told->n; i++) {
        target = ngx_http_submission_target(ex->manager->conf,
                                            told->targets[i].name);

        if (target || told->targets[i].name.len == 0) {
            ngx_http_submission_stats_plus(
                         ngx_http_submission_stats_target(ex, target)->counts,
                         told->targets[i].counts);
        }
    }

    ngx_http_submission_stats_plus(counts->totals.counts,
                                   told->totals.counts);
}


void
ngx_http_submission_stats_go_on(ngx_http_submission_executor_t *ex,
    const sm_stats_t *told)
{
    int64_t                        epoch;
    ngx_http_submission_counts_t  *counts;

    counts = ex->counts;

    if (counts->going) {
        return;
    }

    epoch = told ? told->epoch : 0;

    if (counts->epoch && (epoch == counts->epoch || epoch == counts->told)) {
        ngx_http_submission_stats_go_on_own(counts);

    } else if (told) {
        ngx_http_submission_stats_go_on_told(ex, told);
        counts->counted = told->counted;

    } else {
        counts->counted = ex->epoch;
    }

    counts->going = 1;
    counts->epoch = ex->epoch;
    counts->told = epoch;
    counts->goes_on = told ? told->at : 0;
}


/* without memory the numbers of the last minutes are missing */

static sm_window_t *
ngx_http_submission_stats_window(ngx_http_submission_stats_target_t *t,
    int64_t now)
{
    if (t->window == NULL) {
        t->window = ngx_alloc(sizeof(sm_window_t), ngx_cycle->log);

        if (t->window) {
            sm_window_init(t->window, now);
        }
    }

    return t->window;
}


static void
ngx_http_submission_stats_add(ngx_http_submission_stats_target_t *t,
    int64_t now, sm_stats_count_e which, ngx_uint_t n)
{
    sm_window_t  *window;

    t->counts[which] += n;

    window = ngx_http_submission_stats_window(t, now);

    if (window) {
        sm_window_count(window, now, which, n);
    }
}


/* the totals are of intents: messages of webhooks are in their own rows alone */

static ngx_uint_t
ngx_http_submission_stats_in_totals(ngx_http_submission_target_t *target)
{
    return target == NULL
           || target->contract.gateway_type != SM_GATEWAY_WEBHOOK;
}


/* counts it for its target and in the totals */

static void
ngx_http_submission_stats_count(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target, int64_t now, sm_stats_count_e which,
    ngx_uint_t n)
{
    ngx_http_submission_stats_add(ngx_http_submission_stats_target(ex, target),
                                  now, which, n);

    if (ngx_http_submission_stats_in_totals(target)) {
        ngx_http_submission_stats_add(&ex->counts->totals, now, which, n);
    }
}


/* the hash of an id; it is never 0, which is an empty slot */

static uint32_t
ngx_http_submission_stats_hash(sm_str_t id)
{
    uint32_t  hash;

    hash = ngx_murmur_hash2((u_char *) id.data, id.len);

    return hash ? hash : 1;
}


/* the slot has the hash of the last intent that ended, of all with this slot */

static uint32_t *
ngx_http_submission_stats_slot(ngx_http_submission_executor_t *ex,
    uint32_t hash)
{
    return &ex->counts->ended[
                                     hash % NGX_HTTP_SUBMISSION_STATS_ENDED];
}


void
ngx_http_submission_stats_submitted(ngx_http_submission_executor_t *ex,
    sm_str_t id, sm_str_t target)
{
    uint32_t  hash;

    hash = ngx_http_submission_stats_hash(id);

    if (*ngx_http_submission_stats_slot(ex, hash) != hash) {
        ngx_http_submission_stats_count(ex,
                             ngx_http_submission_target(ex->manager->conf,
                                                        target),
                             ngx_http_submission_usec(), SM_STATS_SUBMITTED,
                             1);
    }
}


/* the leader may learn of a cancel twice, by the audit and by a turn */

void
ngx_http_submission_stats_ended(ngx_http_submission_executor_t *ex,
    sm_str_t id, ngx_http_submission_target_t *target, sm_status_e status)
{
    uint32_t  hash, *ended;

    hash = ngx_http_submission_stats_hash(id);
    ended = ngx_http_submission_stats_slot(ex, hash);

    if (status == SM_STATUS_CANCELED && *ended == hash) {
        return;
    }

    *ended = hash;

    ngx_http_submission_stats_count(ex, target, ngx_http_submission_usec(),
                                    SM_STATS_ACCEPTED
                                    + (status - SM_STATUS_ACCEPTED), 1);
}


void
ngx_http_submission_stats_unknown(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target, ngx_uint_t n)
{
    ngx_http_submission_stats_count(ex, target, ngx_http_submission_usec(),
                                    SM_STATS_ATTEMPT_UNKNOWN, n);
}


static void
ngx_http_submission_stats_set_error(ngx_http_submission_stats_target_t *t,
    int64_t when, sm_str_t reason, sm_str_t detail)
{
    sm_out_t  out;

    t->error_at = when;

    sm_out_init(&out, t->reason, sizeof(t->reason));
    sm_out_clip(&out, reason, NGX_HTTP_SUBMISSION_STATS_REASON);
    t->reason_len = out.last - out.start;

    t->detail_len = 0;

    if (t->detail == NULL) {
        t->detail = ngx_alloc(NGX_HTTP_SUBMISSION_STATS_ERROR,
                              ngx_cycle->log);
        if (t->detail == NULL) {
            return;
        }
    }

    sm_out_init(&out, t->detail, NGX_HTTP_SUBMISSION_STATS_ERROR);
    sm_out_clip(&out, detail, SM_STATS_DETAIL);
    t->detail_len = out.last - out.start;
}


static void
ngx_http_submission_stats_error(ngx_http_submission_stats_target_t *t,
    ngx_http_submission_attempt_t *at)
{
    ngx_http_submission_stats_set_error(t, at->finished_at,
                      at->reason.len ? at->reason
                      : at->outcome == SM_OUTCOME_NONE
                        ? sm_str_c("unsent") : sm_outcome_name(at->outcome),
                      at->error);
}


sm_str_t
ngx_http_submission_stats_last_error(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target)
{
    sm_str_t                             error;
    ngx_http_submission_stats_target_t  *t;

    t = ngx_http_submission_stats_target(ex, target);

    error.data = t->detail;
    error.len = t->error_at ? t->detail_len : 0;

    return error;
}


/* what the leader before has told of a target's last error is still true */

void
ngx_http_submission_stats_learn(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target, const sm_stats_target_t *told)
{
    ngx_http_submission_stats_target_t  *t;

    t = ngx_http_submission_stats_target(ex, target);

    if (t->error_at == 0 && told->error_at) {
        ngx_http_submission_stats_set_error(t, told->error_at,
                                            told->error_reason,
                                            told->error_detail);
    }
}


/* an attempt that was not sent shows as the target's last error */

void
ngx_http_submission_stats_unsent(ngx_http_submission_attempt_t *at)
{
    ngx_http_submission_executor_t  *ex;

    ex = at->manager->executor;

    ngx_http_submission_stats_error(
                         ngx_http_submission_stats_target(ex, at->target), at);
}


void
ngx_http_submission_stats_attempt(ngx_http_submission_attempt_t *at)
{
    int64_t                              now;
    ngx_http_submission_executor_t      *ex;
    ngx_http_submission_stats_target_t  *t, *totals;

    ex = at->manager->executor;
    now = ngx_http_submission_usec();
    totals = &ex->counts->totals;
    t = ngx_http_submission_stats_target(ex, at->target);

    ngx_http_submission_stats_count(ex, at->target, now,
                              ngx_http_submission_stats_outcomes[at->outcome],
                              1);

    if (t->window) {
        sm_window_observe(t->window, now, at->took);
    }

    if (totals->window && ngx_http_submission_stats_in_totals(at->target)) {
        sm_window_observe(totals->window, now, at->took);
    }

    if (at->outcome != SM_OUTCOME_ACCEPTED) {
        ngx_http_submission_stats_error(t, at);
    }
}


static ngx_int_t
ngx_http_submission_stats_copy(sm_arena_t *arena,
    ngx_http_submission_stats_target_t *t, sm_stats_target_t *row)
{
    int64_t   now;
    sm_str_t  reason, detail;

    now = ngx_http_submission_usec();

    ngx_memcpy(row->counts, t->counts, sizeof(row->counts));

    if (t->window) {
        sm_window_read(t->window, now, SM_WINDOW_1M,
                       &row->windows[SM_STATS_1M]);
        sm_window_read(t->window, now, SM_WINDOW_5M,
                       &row->windows[SM_STATS_5M]);

    } else {
        row->windows[SM_STATS_1M].p50 = -1;
        row->windows[SM_STATS_1M].p99 = -1;
        row->windows[SM_STATS_5M] = row->windows[SM_STATS_1M];
    }

    if (t->error_at == 0) {
        return NGX_OK;
    }

    row->error_at = t->error_at;

    reason.data = t->reason;
    reason.len = t->reason_len;
    detail.data = t->detail;
    detail.len = t->detail_len;

    return sm_arena_strdup(arena, &row->error_reason, reason) != 0
           || sm_arena_strdup(arena, &row->error_detail, detail) != 0
           ? NGX_ERROR : NGX_OK;
}


ngx_int_t
ngx_http_submission_stats_read(ngx_http_submission_executor_t *ex,
    sm_arena_t *arena, sm_stats_t *stats)
{
    ngx_uint_t                      i;
    ngx_http_submission_counts_t   *counts;
    ngx_http_submission_target_t  **targets;

    counts = ex->counts;
    targets = ex->manager->conf->by_index.elts;

    stats->epoch = ex->epoch;
    stats->began = ngx_http_submission_executor_now(ex)
                   - (ngx_http_submission_usec() - counts->began);
    stats->counted = counts->counted;
    stats->goes_on = counts->goes_on;
    stats->n = counts->n;
    stats->targets = sm_arena_calloc(arena, counts->n,
                                     sizeof(sm_stats_target_t));

    if (stats->targets == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < counts->n; i++) {
        if (ngx_http_submission_stats_copy(arena, &counts->targets[i],
                                           &stats->targets[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (i < counts->n - 1) {
            stats->targets[i].name = targets[i]->contract.target;
        }
    }

    return ngx_http_submission_stats_copy(arena, &counts->totals,
                                          &stats->totals);
}
