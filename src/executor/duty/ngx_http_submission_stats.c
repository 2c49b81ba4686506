
/*
 * The leader's numbers, told to the store every few seconds, in one row, for
 * everybody who looks: what stats_count.c has counted, what the queue has
 * (depth.c), and what holds targets back.
 *
 * The last document of an epoch is written when nothing can leave any more, and
 * says so: the next leader goes on with the limits in it, see limits.c, and
 * tells the events in it.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_stats.h"


#define NGX_HTTP_SUBMISSION_STATS_FIRST    500        /* milliseconds */

/* One of so many documents has the history, for instances that are young. */

#define NGX_HTTP_SUBMISSION_STATS_HISTORY  (60 / SM_STATS_INTERVAL)


/* since when a target is in its state, as far as this leader has seen it */

typedef struct {
    sm_stats_state_e                 state;        /* when last looked at */
    int64_t                          since;
} ngx_http_submission_stats_state_t;


typedef struct {
    int64_t                          written;      /* the last epoch */
    int64_t                          left;         /* by its last document */
    unsigned                         leaving:1;    /* which is out */
    int64_t                          epoch;        /* of the rest */
    ngx_uint_t                       documents;
    ngx_uint_t                       n;
    ngx_http_submission_stats_state_t  *states;
} ngx_http_submission_stats_t;


typedef struct {
    ngx_http_submission_task_t       task;
    sm_stats_t                       stats;
    sm_cluster_t                     cluster;
    uint32_t                        *names;        /* of targets elsewhere */
    size_t                           nnames;
    sm_feed_event_t                 *events;       /* of its instances */
    size_t                           nevents;
} ngx_http_submission_stats_task_t;


static ngx_int_t ngx_http_submission_stats_duty_init(ngx_cycle_t *cycle,
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
    .init = ngx_http_submission_stats_duty_init,
    .interval = ngx_http_submission_stats_interval,
    .begin = ngx_http_submission_stats_begin,
    .done = ngx_http_submission_stats_done
};


static ngx_int_t
ngx_http_submission_stats_duty_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty)
{
    ngx_http_submission_stats_t  *st;

    st = duty->ctx;

    st->n = duty->executor->manager->conf->ntargets + 1;
    st->states = ngx_pcalloc(cycle->pool,
                             st->n
                             * sizeof(ngx_http_submission_stats_state_t));

    return st->states ? NGX_OK : NGX_ERROR;
}


static ngx_http_submission_stats_t *
ngx_http_submission_stats_ctx(ngx_http_submission_executor_t *ex)
{
    return ex->duties[NGX_HTTP_SUBMISSION_DUTY_STATS].ctx;
}


static ngx_msec_t
ngx_http_submission_stats_interval(ngx_http_submission_executor_t *ex)
{
    return ngx_http_submission_stats_ctx(ex)->written == ex->epoch
           ? SM_STATS_INTERVAL * 1000 : NGX_HTTP_SUBMISSION_STATS_FIRST;
}


/* adds who has paused the target, and why; without memory these are missing */

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


static void
ngx_http_submission_stats_since(ngx_http_submission_executor_t *ex,
    ngx_http_submission_stats_state_t *state, sm_stats_target_t *row)
{
    if (row->state != state->state) {
        state->state = row->state;
        state->since = ngx_http_submission_executor_now(ex);
    }

    if (row->since == 0) {
        row->since = state->since;
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
    ngx_uint_t                    i;
    sm_stats_t                   *stats;
    sm_arena_t                   *arena;
    ngx_http_submission_stats_t  *st;

    st = ngx_http_submission_stats_ctx(ex);
    stats = &((ngx_http_submission_stats_task_t *) task)->stats;
    arena = &task->call.arena;

    if (ngx_http_submission_stats_read(ex, arena, stats) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_http_submission_depth_read(ex, stats->targets, &stats->totals);

    if (ngx_http_submission_target_health_read(ex, arena, stats->targets)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (st->epoch != ex->epoch) {
        st->epoch = ex->epoch;
        st->documents = 0;
        ngx_memzero(st->states,
                    st->n * sizeof(ngx_http_submission_stats_state_t));
    }

    for (i = 0; i < st->n; i++) {
        ngx_http_submission_stats_paused(ex, arena, &stats->targets[i]);
        ngx_http_submission_stats_since(ex, &st->states[i],
                                        &stats->targets[i]);
    }

    if (st->documents++ % NGX_HTTP_SUBMISSION_STATS_HISTORY == 0) {
        ngx_http_submission_board_history(ex->manager, arena, &stats->history);
    }

    ngx_http_submission_retention_read(ex, &stats->retention);

    ngx_http_submission_events_all(ex->manager, arena, &stats->events,
                                   &stats->nevents);

    return ngx_http_submission_stats_limits(ex, arena, stats);
}


/* the document of the leader before is read first, see pauses.c */

static ngx_int_t
ngx_http_submission_stats_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    if (!ngx_http_submission_pauses_known(duty->executor)) {
        return NGX_DECLINED;
    }

    return ngx_http_submission_stats_make(duty->executor, task);
}


/* also reads the list of live instances */

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
        (void) sm_call_no_memory(&task->call);
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
        stt->cluster.names_hash = task->manager->conf->config.names_hash;

        if (sm_store_cluster_get(&task->manager->store, &task->call,
                                 &stt->cluster)
            == 0)
        {
            stt->names = sm_cluster_names(&task->call.arena, &stt->cluster,
                                          &stt->nnames);
            sm_cluster_events(&task->call.arena, &stt->cluster, &stt->events,
                              &stt->nevents);
        }
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

    ngx_http_submission_events_learn(ex->manager, stt->events, stt->nevents,
                                     NGX_HTTP_SUBMISSION_EVENTS_LED);
    ngx_http_submission_instances(ex->manager, &stt->cluster, 1);

    ngx_http_submission_board_cluster(ex->manager, &stt->cluster, stt->names,
                                      stt->nnames);
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


/*
 * Makes the last document of an epoch, when nothing is sent any more; NULL:
 * there is no memory.
 */

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

    if (ngx_http_submission_leader_ends(ex->manager)) {
        ngx_http_submission_event_left(ex->manager);
    }

    if (ngx_http_submission_stats_make(ex, task) != NGX_OK) {
        ngx_http_submission_task_free(task);
        return NULL;
    }

    return task;
}


/*
 * A leader that leaves waits until the last document is written: the next
 * leader needs it if a target has a rate, and hears from it why this one has
 * left.  It does not wait for a store that has failed.
 */

ngx_int_t
ngx_http_submission_stats_finish(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_task_t   *task;
    ngx_http_submission_stats_t  *st;

    st = ngx_http_submission_stats_ctx(ex);

    if (st->left == ex->epoch) {
        return st->leaving ? NGX_AGAIN : NGX_OK;
    }

    st->left = ex->epoch;

    if (!ngx_http_submission_pauses_known(ex)
        || !ngx_http_submission_leader_gate(ex->manager, ex->epoch))
    {
        return NGX_OK;
    }

    task = ngx_http_submission_stats_last(ex);
    if (task == NULL) {
        return NGX_OK;
    }

    if (ngx_http_submission_task_post(task) != NGX_OK) {
        ngx_http_submission_task_free(task);
        return NGX_OK;
    }

    st->leaving = 1;

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: last stats epoch:%L", ex->epoch);

    return NGX_AGAIN;
}


ngx_uint_t
ngx_http_submission_stats_out(ngx_http_submission_executor_t *ex)
{
    return ngx_http_submission_stats_ctx(ex)->leaving;
}


/* the worker is being terminated, and its threads have ended */

void
ngx_http_submission_stats_tell(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_task_t  *task;

    if (ex->queue == NULL || !ngx_http_submission_pauses_known(ex)) {
        return;
    }

    task = ngx_http_submission_stats_last(ex);

    if (task) {
        (void) ngx_http_submission_task_run(task);
    }
}
