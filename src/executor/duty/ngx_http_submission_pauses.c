
/*
 * Reads the targets that operators have paused: before the first turn of an
 * epoch, with each refresh, and soon after the leader was woken.
 *
 * - Nothing begins before they were read: any target may be paused.
 * - They live as long as the queue: another leader reads them anew.
 * - A wake comes with every submission, so there is a rest between two reads
 *   that wakes cause.
 * - The first read of an epoch also reads what the leader before has told of
 *   the limits of targets, see limits.c.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_stats.h"


#define NGX_HTTP_SUBMISSION_PAUSES_REST  100     /* milliseconds */


typedef struct {
    sm_arena_t                       arena;
    sm_pauses_t                      paused;
    ngx_msec_t                       read;         /* when the last began */
    unsigned                         known:1;
} ngx_http_submission_pauses_t;


typedef struct {
    ngx_http_submission_task_t       task;
    sm_pauses_t                      paused;
    unsigned                         first:1;      /* of an epoch */
    ngx_http_submission_told_t       told;
    ngx_http_submission_paused_t     before;
} ngx_http_submission_pauses_task_t;


static ngx_int_t ngx_http_submission_pauses_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty);
static ngx_int_t ngx_http_submission_pauses_begin(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_pauses_done(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);


const ngx_http_submission_duty_row_t  ngx_http_submission_pauses_read = {
    .op = NGX_HTTP_SUBMISSION_OP_TARGETS_PAUSED,
    .size = sizeof(ngx_http_submission_pauses_task_t),
    .ctx = sizeof(ngx_http_submission_pauses_t),
    .init = ngx_http_submission_pauses_init,
    .interval = ngx_http_submission_duty_interval,
    .begin = ngx_http_submission_pauses_begin,
    .done = ngx_http_submission_pauses_done
};


/* called when the worker exits */

static void
ngx_http_submission_pauses_cleanup(void *data)
{
    ngx_http_submission_pauses_t *ps = data;

    sm_arena_free(&ps->arena);
}


static ngx_int_t
ngx_http_submission_pauses_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty)
{
    ngx_pool_cleanup_t  *cln;

    cln = ngx_pool_cleanup_add(cycle->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_pauses_cleanup;
    cln->data = duty->ctx;

    return NGX_OK;
}


static ngx_http_submission_pauses_t *
ngx_http_submission_pauses_ctx(ngx_http_submission_executor_t *ex)
{
    return ex->duties[NGX_HTTP_SUBMISSION_DUTY_PAUSES].ctx;
}


void
ngx_http_submission_pauses_start(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_pauses_t  *ps;

    ps = ngx_http_submission_pauses_ctx(ex);

    sm_arena_free(&ps->arena);
    ngx_memzero(ps, sizeof(ngx_http_submission_pauses_t));

    ngx_http_submission_duty_kick(
                                 &ex->duties[NGX_HTTP_SUBMISSION_DUTY_PAUSES]);
}


ngx_uint_t
ngx_http_submission_pauses_known(ngx_http_submission_executor_t *ex)
{
    return ngx_http_submission_pauses_ctx(ex)->known;
}


void
ngx_http_submission_pauses_woken(ngx_http_submission_executor_t *ex)
{
    ngx_msec_t                   elapsed;
    ngx_http_submission_duty_t  *duty;

    duty = &ex->duties[NGX_HTTP_SUBMISSION_DUTY_PAUSES];
    elapsed = ngx_current_msec - ngx_http_submission_pauses_ctx(ex)->read;

    if (elapsed >= NGX_HTTP_SUBMISSION_PAUSES_REST) {
        ngx_http_submission_duty_kick(duty);
        return;
    }

    ngx_http_submission_duty_soon(duty, NGX_HTTP_SUBMISSION_PAUSES_REST
                                        - elapsed);
}


const sm_pause_t *
ngx_http_submission_pauses_of(ngx_http_submission_executor_t *ex,
    sm_str_t target)
{
    size_t        i;
    sm_pauses_t  *paused;

    paused = &ngx_http_submission_pauses_ctx(ex)->paused;

    for (i = 0; i < paused->n; i++) {
        if (sm_str_eq(paused->rows[i].target, target)) {
            return &paused->rows[i];
        }
    }

    return NULL;
}


static ngx_int_t
ngx_http_submission_pauses_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_http_submission_pauses_t       *ps;
    ngx_http_submission_pauses_task_t  *pt;

    pt = (ngx_http_submission_pauses_task_t *) task;
    ps = duty->ctx;

    ngx_http_submission_paused_before(&task->call.arena, &pt->before.before,
                                      &ps->paused);

    pt->first = !ps->known;
    ps->read = ngx_current_msec;

    return NGX_OK;
}


void
ngx_http_submission_pauses_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_pauses_task_t  *pt;

    pt = (ngx_http_submission_pauses_task_t *) task;

    if (sm_store_targets_paused(&task->manager->store, &task->call,
                                &task->fence, &pt->paused)
        != 0
        || (pt->first
            && ngx_http_submission_limits_read_thread(task, &pt->told) != 0))
    {
        return;
    }

    (void) ngx_http_submission_paused_thread(task, &pt->before, &pt->paused,
                                             pt->told.known ? &pt->told
                                                            : NULL);
}


static void
ngx_http_submission_pauses_log(ngx_http_submission_executor_t *ex,
    const sm_pause_t *pause, const char *event)
{
    ngx_http_submission_field_t  target, reason, actor;

    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                  "submission: %s manager=%V%V lease_epoch=%L%V%V", event,
                  &ex->manager->conf->name,
                  ngx_http_submission_field(&target, " target=",
                                            pause->target),
                  ex->epoch,
                  ngx_http_submission_field(&actor, " actor=", pause->actor),
                  ngx_http_submission_field(&reason, " reason=",
                                            pause->reason));
}


/* logs the targets that are in one list and not in the other */

static void
ngx_http_submission_pauses_tell(ngx_http_submission_executor_t *ex,
    sm_pauses_t *paused, sm_pauses_t *others, const char *event)
{
    size_t  i, k;

    for (i = 0; i < paused->n; i++) {

        for (k = 0; k < others->n; k++) {
            if (sm_str_eq(others->rows[k].target, paused->rows[i].target)) {
                break;
            }
        }

        if (k == others->n) {
            ngx_http_submission_pauses_log(ex, &paused->rows[i], event);
        }
    }
}


static ngx_int_t
ngx_http_submission_pauses_apply(ngx_http_submission_executor_t *ex,
    sm_arena_t *arena, sm_pauses_t *paused)
{
    size_t     i;
    sm_str_t  *names;

    names = sm_arena_calloc(arena, paused->n + 1, sizeof(sm_str_t));
    if (names == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < paused->n; i++) {
        names[i] = paused->rows[i].target;
    }

    ngx_http_submission_executor_tick(ex);

    return sm_queue_pauses(ex->queue, names, paused->n) == 0 ? NGX_OK
                                                                  : NGX_ERROR;
}


/* Only the last document of the epoch before tells of all that was done. */

static void
ngx_http_submission_pauses_retention(ngx_http_submission_executor_t *ex,
    const ngx_http_submission_told_t *told)
{
    ngx_uint_t  whole;

    whole = told->row.at == 0
            || (told->known && told->stats.last
                && told->row.epoch == ex->epoch - 1);

    ngx_http_submission_retention_learn(ex,
                                        told->known ? &told->stats.retention
                                                    : NULL, whole);
}


static ngx_msec_t
ngx_http_submission_pauses_done(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    sm_pauses_t                         paused;
    sm_arena_t                          arena;
    ngx_http_submission_pauses_t       *ps;
    ngx_http_submission_executor_t     *ex;
    ngx_http_submission_pauses_task_t  *pt;

    pt = (ngx_http_submission_pauses_task_t *) task;
    ex = duty->executor;
    ps = duty->ctx;

    /* the rows are in the memory of the call, which is taken from it */

    paused = pt->paused;
    arena = task->call.arena;
    ngx_memzero(&task->call.arena, sizeof(sm_arena_t));

    if (ngx_http_submission_pauses_apply(ex, &arena, &paused) != NGX_OK
        || ngx_http_submission_limits_learn(ex, &pt->told) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_CRIT, ngx_cycle->log, 0,
                      "submission: no memory for pauses and limits manager=%V: "
                      "nothing begins", &ex->manager->conf->name);

        ps->known = 0;
        sm_arena_free(&arena);
        return NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
    }

    if (pt->told.known) {
        ngx_http_submission_target_health_learn(ex, &pt->told.stats);
    }

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: pauses:%uz before:%uz first:%d limits:%d",
                   paused.n, ps->paused.n, (int) pt->first,
                   (int) pt->told.known);

    ngx_http_submission_pauses_tell(ex, &paused, &ps->paused, "target_paused");
    ngx_http_submission_pauses_tell(ex, &ps->paused, &paused,
                                    "target_resumed");

    if (pt->first) {
        ngx_http_submission_pauses_retention(ex, &pt->told);
        ngx_http_submission_stats_go_on(ex, pt->told.known ? &pt->told.stats
                                                           : NULL);
    }

    if (pt->told.known) {

        /* nobody may have read it yet, and the next document replaces it */

        ngx_http_submission_board_stats(ex->manager, &pt->told.stats);

        ngx_http_submission_events_learn(ex->manager, pt->told.stats.events,
                                         pt->told.stats.nevents,
                                         NGX_HTTP_SUBMISSION_EVENTS_DOC);
        ngx_http_submission_outage_told(ex, &pt->told.stats);
    }

    ngx_http_submission_paused_note(ex, &pt->before, &arena, &paused,
                                    pt->first);

    sm_arena_free(&ps->arena);

    ps->arena = arena;
    ps->paused = paused;
    ps->known = 1;

    ngx_http_submission_executor_wake(ex);

    return NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
}
