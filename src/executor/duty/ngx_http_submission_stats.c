
/*
 * The leader's numbers: what happened to each target in this epoch and in the
 * last minutes, told to the store every few seconds, in one row, for everybody
 * who looks.
 *
 * Targets that are not configured any more share the numbers of one that has no
 * name.  A page of the queue may have been read before an attempt ended, and
 * show an intent that has ended; the hashes of the last ones are remembered, so
 * that such an intent is neither a new one nor a canceled one.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_stats.h"


#define NGX_HTTP_SUBMISSION_STATS_FIRST  500        /* milliseconds */
#define NGX_HTTP_SUBMISSION_STATS_ENDED  65536
#define NGX_HTTP_SUBMISSION_STATS_ERROR  (4 * SM_STATS_DETAIL)
#define NGX_HTTP_SUBMISSION_STATS_REASON  64        /* characters */


typedef struct {
    int64_t                          counts[SM_STATS_COUNTS];
    sm_window_t                     *window;       /* NULL: nothing yet */

    sm_stats_state_e                 state;        /* when last looked at */
    int64_t                          since;

    int64_t                          error_at;
    size_t                           reason_len;
    size_t                           detail_len;
    char                             reason[4
                                         * NGX_HTTP_SUBMISSION_STATS_REASON];
    char                            *detail;
} ngx_http_submission_stats_target_t;


typedef struct {
    int64_t                          written;      /* an epoch */
    int64_t                          left;         /* likewise, the last one */
    unsigned                         leaving:1;    /* that is out */
    unsigned                         led:1;        /* the numbers are old */
    int64_t                          began;        /* monotonic, usec */
    ngx_uint_t                       n;            /* with the others */
    ngx_http_submission_stats_target_t  *targets;
    ngx_http_submission_stats_target_t   totals;
    uint32_t                         ended[NGX_HTTP_SUBMISSION_STATS_ENDED];
} ngx_http_submission_stats_t;


typedef struct {
    ngx_http_submission_task_t       task;
    sm_stats_t                       stats;
    sm_cluster_t                     cluster;
} ngx_http_submission_stats_task_t;


static ngx_int_t ngx_http_submission_stats_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty);
static ngx_msec_t ngx_http_submission_stats_interval(
    ngx_http_submission_executor_t *ex);
static ngx_int_t ngx_http_submission_stats_begin(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_stats_done(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);


const ngx_http_submission_duty_row_t  ngx_http_submission_stats_duty = {
    .op = NGX_HTTP_SUBMISSION_OP_STATS_PUT,
    .size = sizeof(ngx_http_submission_stats_task_t),
    .ctx = sizeof(ngx_http_submission_stats_t),
    .init = ngx_http_submission_stats_init,
    .interval = ngx_http_submission_stats_interval,
    .begin = ngx_http_submission_stats_begin,
    .done = ngx_http_submission_stats_done
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


/* the worker exits */

static void
ngx_http_submission_stats_cleanup(void *data)
{
    ngx_http_submission_stats_t *st = data;

    ngx_uint_t  i;

    for (i = 0; i < st->n; i++) {
        ngx_http_submission_stats_free(&st->targets[i]);
    }

    ngx_http_submission_stats_free(&st->totals);
}


static ngx_int_t
ngx_http_submission_stats_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty)
{
    ngx_pool_cleanup_t           *cln;
    ngx_http_submission_stats_t  *st;

    st = duty->ctx;
    st->n = duty->executor->manager->conf->ntargets + 1;

    st->targets = ngx_pcalloc(cycle->pool,
                              st->n
                              * sizeof(ngx_http_submission_stats_target_t));

    cln = ngx_pool_cleanup_add(cycle->pool, 0);

    if (st->targets == NULL || cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_stats_cleanup;
    cln->data = st;

    return NGX_OK;
}


static ngx_http_submission_stats_t *
ngx_http_submission_stats_ctx(ngx_http_submission_executor_t *ex)
{
    return ex->duties[NGX_HTTP_SUBMISSION_DUTY_STATS].ctx;
}


static void
ngx_http_submission_stats_reset(ngx_http_submission_stats_target_t *t)
{
    sm_window_t  *window;

    window = t->window;

    if (window) {
        sm_window_init(window, ngx_http_submission_usec());
    }

    ngx_memzero(t->counts, sizeof(t->counts));
    t->error_at = 0;
    t->state = SM_STATS_OPEN;
    t->since = 0;
}


/*
 * An epoch begins with what was in doubt: what became of that is the first of
 * its numbers, even if the recovery has to be tried again, in another epoch.
 */

void
ngx_http_submission_stats_prepare(ngx_http_submission_executor_t *ex)
{
    ngx_uint_t                    i;
    ngx_http_submission_stats_t  *st;

    st = ngx_http_submission_stats_ctx(ex);

    if (!st->led) {
        return;
    }

    st->led = 0;

    for (i = 0; i < st->n; i++) {
        ngx_http_submission_stats_reset(&st->targets[i]);
    }

    ngx_http_submission_stats_reset(&st->totals);
}


void
ngx_http_submission_stats_start(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_stats_t  *st;

    st = ngx_http_submission_stats_ctx(ex);

    st->led = 1;
    st->began = ngx_http_submission_usec();
}


static ngx_http_submission_stats_target_t *
ngx_http_submission_stats_target(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target)
{
    ngx_http_submission_stats_t  *st;

    st = ngx_http_submission_stats_ctx(ex);

    return &st->targets[target ? target->index : st->n - 1];
}


/* without memory the minutes are missing, and the counts are there */

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


static void
ngx_http_submission_stats_count(ngx_http_submission_executor_t *ex,
    ngx_http_submission_stats_target_t *t, int64_t now, sm_stats_count_e which,
    ngx_uint_t n)
{
    ngx_http_submission_stats_add(t, now, which, n);
    ngx_http_submission_stats_add(&ngx_http_submission_stats_ctx(ex)->totals,
                                  now, which, n);
}


/* 0 is a hash that no id has */

static uint32_t
ngx_http_submission_stats_hash(sm_str_t id)
{
    uint32_t  hash;

    hash = ngx_murmur_hash2((u_char *) id.data, id.len);

    return hash ? hash : 1;
}


/* has the hash of the last one of those that has ended */

static uint32_t *
ngx_http_submission_stats_slot(ngx_http_submission_executor_t *ex,
    uint32_t hash)
{
    return &ngx_http_submission_stats_ctx(ex)->ended[
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
                             ngx_http_submission_stats_target(ex,
                                  ngx_http_submission_target(ex->manager->conf,
                                                             target)),
                             ngx_http_submission_usec(), SM_STATS_SUBMITTED,
                             1);
    }
}


/* a cancel may be met again, in the audit or in a turn, and counts once */

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

    ngx_http_submission_stats_count(ex,
                                  ngx_http_submission_stats_target(ex, target),
                                  ngx_http_submission_usec(),
                                  SM_STATS_ACCEPTED
                                  + (status - SM_STATUS_ACCEPTED), 1);
}


void
ngx_http_submission_stats_unknown(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target, ngx_uint_t n)
{
    ngx_http_submission_stats_count(ex,
                                  ngx_http_submission_stats_target(ex, target),
                                  ngx_http_submission_usec(),
                                  SM_STATS_ATTEMPT_UNKNOWN, n);
}


static void
ngx_http_submission_stats_error(ngx_http_submission_stats_target_t *t,
    ngx_http_submission_attempt_t *at)
{
    sm_out_t  out;

    t->error_at = at->finished_at;

    sm_out_init(&out, t->reason, sizeof(t->reason));
    sm_out_clip(&out, at->reason.len ? at->reason
                      : at->outcome == SM_OUTCOME_NONE
                        ? sm_str_c("unsent") : sm_outcome_name(at->outcome),
                NGX_HTTP_SUBMISSION_STATS_REASON);
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
    sm_out_clip(&out, at->error, SM_STATS_DETAIL);
    t->detail_len = out.last - out.start;
}


/* it was not sent: the target's last error says why */

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
    totals = &ngx_http_submission_stats_ctx(ex)->totals;
    t = ngx_http_submission_stats_target(ex, at->target);

    ngx_http_submission_stats_count(ex, t, now,
                              ngx_http_submission_stats_outcomes[at->outcome],
                              1);

    if (t->window && totals->window) {
        sm_window_observe(t->window, now, at->took);
        sm_window_observe(totals->window, now, at->took);
    }

    if (at->outcome != SM_OUTCOME_ACCEPTED) {
        ngx_http_submission_stats_error(t, at);
    }
}


static ngx_msec_t
ngx_http_submission_stats_interval(ngx_http_submission_executor_t *ex)
{
    return ngx_http_submission_stats_ctx(ex)->written == ex->epoch
           ? SM_STATS_INTERVAL * 1000 : NGX_HTTP_SUBMISSION_STATS_FIRST;
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


/* who has paused it, and why; without memory, without that */

static void
ngx_http_submission_stats_paused(ngx_http_submission_executor_t *ex,
    sm_arena_t *arena, sm_stats_target_t *row)
{
    const sm_pause_t  *pause;

    pause = ngx_http_submission_pauses_of(ex, row->name);

    if (pause) {
        row->since = pause->since;
        (void) sm_arena_strdup(arena, &row->pause_reason, pause->reason);
        (void) sm_arena_strdup(arena, &row->pause_actor, pause->actor);
    }
}


/* since when a target is in its state, as far as this leader has seen it */

static void
ngx_http_submission_stats_since(ngx_http_submission_executor_t *ex,
    ngx_http_submission_stats_target_t *t, sm_stats_target_t *row)
{
    if (row->state != t->state) {
        t->state = row->state;
        t->since = ngx_http_submission_executor_now(ex);
    }

    if (row->since == 0) {
        row->since = t->since;
    }
}


static ngx_int_t
ngx_http_submission_stats_limits(ngx_http_submission_executor_t *ex,
    sm_arena_t *arena, sm_stats_t *stats)
{
    size_t  n;

    n = sm_queue_kept(ex->queue);

    stats->limits = sm_arena_calloc(arena, n + 1, sizeof(sm_limit_t));
    if (stats->limits == NULL) {
        return NGX_ERROR;
    }

    stats->nlimits = sm_queue_limits(ex->queue, stats->limits, n);

    for (n = 0; n < stats->nlimits; n++) {
        if (sm_arena_strdup(arena, &stats->limits[n].name,
                            stats->limits[n].name)
            != 0)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_stats_make(ngx_http_submission_executor_t *ex,
    ngx_http_submission_task_t *task)
{
    ngx_uint_t                           i;
    sm_stats_t                          *stats;
    sm_arena_t                          *arena;
    ngx_http_submission_stats_t         *st;
    ngx_http_submission_stats_task_t    *stt;
    ngx_http_submission_target_t       **targets;

    st = ngx_http_submission_stats_ctx(ex);
    stt = (ngx_http_submission_stats_task_t *) task;
    arena = &task->call.arena;
    stats = &stt->stats;
    targets = ex->manager->conf->by_index.elts;

    stats->epoch = ex->epoch;
    stats->began = ngx_http_submission_executor_now(ex)
                   - (ngx_http_submission_usec() - st->began);
    stats->n = st->n;
    stats->targets = sm_arena_calloc(arena, st->n, sizeof(sm_stats_target_t));

    if (stats->targets == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < st->n; i++) {
        if (ngx_http_submission_stats_copy(arena, &st->targets[i],
                                           &stats->targets[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (i < st->n - 1) {
            stats->targets[i].name = targets[i]->contract.target;
        }
    }

    ngx_http_submission_depth_read(ex, stats->targets, &stats->totals);

    for (i = 0; i < st->n; i++) {
        ngx_http_submission_stats_paused(ex, arena, &stats->targets[i]);
        ngx_http_submission_stats_since(ex, &st->targets[i],
                                        &stats->targets[i]);
    }

    if (ngx_http_submission_stats_limits(ex, arena, stats) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_submission_stats_copy(arena, &st->totals, &stats->totals);
}


/* the document of the leader before is read first, with the pauses */

static ngx_int_t
ngx_http_submission_stats_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    if (!ngx_http_submission_pauses_known(duty->executor)) {
        return NGX_DECLINED;
    }

    return ngx_http_submission_stats_make(duty->executor, task);
}


/* in a thread; those who live are read in the same breath */

void
ngx_http_submission_stats_thread(ngx_http_submission_task_t *task)
{
    char                              *buf;
    sm_str_t                           doc;
    sm_out_t                           out;
    ngx_http_submission_stats_task_t  *stt;

    stt = (ngx_http_submission_stats_task_t *) task;

    buf = sm_arena_alloc(&task->call.arena, SM_STATS_MAX);
    if (buf == NULL) {
        (void) sm_call_fail(&task->call, SM_STORE_TRANSIENT, 0,
                            "out of memory");
        return;
    }

    sm_out_init(&out, buf, SM_STATS_MAX);
    sm_stats_out(&out, &stt->stats);

    doc.data = out.start;
    doc.len = out.last - out.start;

    if (sm_store_stats_put(&task->manager->store, &task->call, &task->fence,
                           doc)
        == 0)
    {
        stt->stats.at = task->call.now;
        (void) sm_store_cluster_get(&task->manager->store, &task->call,
                                    &stt->cluster);
    }
}


static ngx_msec_t
ngx_http_submission_stats_done(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_http_submission_executor_t    *ex;
    ngx_http_submission_stats_task_t  *stt;

    ex = duty->executor;
    stt = (ngx_http_submission_stats_task_t *) task;

    ngx_http_submission_stats_ctx(ex)->written = ex->epoch;

    ngx_http_submission_depth_look(ex);

    ngx_http_submission_board_cluster(ex->manager, &stt->cluster);
    ngx_http_submission_board_stats(ex->manager, &stt->stats);

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: stats epoch:%L targets:%uz omitted:%L",
                   stt->stats.epoch, stt->stats.n, stt->stats.omitted);

    return NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
}


static void
ngx_http_submission_stats_left(ngx_http_submission_task_t *task)
{
    ngx_http_submission_executor_t  *ex;

    ex = task->manager->executor;
    ngx_http_submission_stats_ctx(ex)->leaving = 0;

    ngx_http_submission_executor_wake(ex);
}


/* the last ones of an epoch, when nothing is sent any more; NULL: no memory */

static ngx_http_submission_task_t *
ngx_http_submission_stats_last(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_task_t        *task;
    ngx_http_submission_stats_task_t  *stt;

    task = ngx_http_submission_task_create(ex->manager,
                                      NGX_HTTP_SUBMISSION_OP_STATS_PUT,
                                      sizeof(ngx_http_submission_stats_task_t));
    if (task == NULL) {
        return NULL;
    }

    ngx_http_submission_task_fence(task, ex->epoch);
    task->done = ngx_http_submission_stats_left;

    stt = (ngx_http_submission_stats_task_t *) task;
    stt->stats.last = 1;

    if (ngx_http_submission_stats_make(ex, task) != NGX_OK) {
        ngx_http_submission_task_free(task);
        return NULL;
    }

    return task;
}


/*
 * A leader that leaves has told the next one what it needs to know; it does not
 * wait for a store that has failed.
 */

ngx_uint_t
ngx_http_submission_stats_told(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_task_t   *task;
    ngx_http_submission_stats_t  *st;

    st = ngx_http_submission_stats_ctx(ex);

    if (st->left == ex->epoch) {
        return !st->leaving;
    }

    st->left = ex->epoch;

    if (!ngx_http_submission_limits_rated(ex)
        || !ngx_http_submission_pauses_known(ex)
        || !ngx_http_submission_leader_gate(ex->manager, ex->epoch))
    {
        return 1;
    }

    task = ngx_http_submission_stats_last(ex);
    if (task == NULL) {
        return 1;
    }

    if (ngx_http_submission_task_post(task) != NGX_OK) {
        ngx_http_submission_task_free(task);
        return 1;
    }

    st->leaving = 1;

    return 0;
}


/* likewise where the worker is terminated: the threads have ended */

void
ngx_http_submission_stats_tell(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_task_t  *task;

    if (ex->queue == NULL || !ngx_http_submission_limits_rated(ex)
        || !ngx_http_submission_pauses_known(ex))
    {
        return;
    }

    task = ngx_http_submission_stats_last(ex);

    if (task) {
        (void) ngx_http_submission_task_run(task);
    }
}
