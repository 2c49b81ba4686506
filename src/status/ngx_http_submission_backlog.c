
/*
 * The backlog while nobody leads, counted in the store: up to a bound, by one
 * worker, every few seconds while somebody looks.  No request waits for it:
 * whoever looks is shown the last count, and how old that is.
 */

#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"
#include "ngx_http_submission_zone_board.h"
#include "ngx_http_submission_zone_health.h"


#define NGX_HTTP_SUBMISSION_BACKLOG_INTERVAL  5000      /* milliseconds */


typedef struct {
    ngx_http_submission_task_t       task;
    sm_backlog_t                     backlog;
} ngx_http_submission_backlog_task_t;


static void ngx_http_submission_backlog_done(ngx_http_submission_task_t *task);


/* A store that is not up is not asked: its probes say when it is back. */

void
ngx_http_submission_backlog_want(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_backlog_task_t  *bt;

    if (manager->sh->health->store != SM_STORE_HEALTH_UP
        || !ngx_http_submission_once(&manager->sh->board->counted,
                                     NGX_HTTP_SUBMISSION_BACKLOG_INTERVAL))
    {
        return;
    }

    bt = ngx_http_submission_task_create(manager,
                                   NGX_HTTP_SUBMISSION_OP_BACKLOG_GET,
                                   sizeof(ngx_http_submission_backlog_task_t));
    if (bt == NULL) {
        return;
    }

    bt->task.done = ngx_http_submission_backlog_done;

    if (ngx_http_submission_task_post(&bt->task) != NGX_OK) {
        ngx_http_submission_task_free(&bt->task);
    }
}


void
ngx_http_submission_backlog_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_backlog_task_t  *bt;

    bt = (ngx_http_submission_backlog_task_t *) task;

    (void) sm_store_backlog_get(&task->manager->store, &task->call,
                                &bt->backlog);
}


/* Makes stats of a count, in which all other numbers are 0. */

static ngx_int_t
ngx_http_submission_backlog_stats(sm_arena_t *arena,
    const sm_backlog_t *backlog, sm_stats_t *stats)
{
    size_t                i;
    sm_stats_target_t    *t;
    sm_backlog_target_t  *from;

    stats->targets = sm_arena_calloc(arena, backlog->n + 1,
                                     sizeof(sm_stats_target_t));
    if (stats->targets == NULL) {
        return NGX_ERROR;
    }

    stats->at = backlog->now;
    stats->omitted = backlog->partial;
    stats->n = backlog->n;

    for (i = 0; i < backlog->n; i++) {
        t = &stats->targets[i];
        from = &backlog->targets[i];

        t->name = from->target;
        t->due = from->due;
        t->waiting = from->waiting;
        t->oldest_due = from->due ? backlog->now - from->oldest_due_at : 0;
    }

    return NGX_OK;
}


static void
ngx_http_submission_backlog_done(ngx_http_submission_task_t *task)
{
    sm_stats_t                           stats;
    ngx_http_submission_backlog_task_t  *bt;

    bt = (ngx_http_submission_backlog_task_t *) task;

    ngx_memzero(&stats, sizeof(sm_stats_t));

    if (task->call.status == SM_STORE_OK
        && ngx_http_submission_backlog_stats(&task->call.arena, &bt->backlog,
                                             &stats)
           == NGX_OK)
    {
        ngx_http_submission_board_backlog(task->manager, &stats);
    }
}
