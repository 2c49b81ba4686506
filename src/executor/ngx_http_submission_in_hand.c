
/*
 * Attempts in hand: those that this worker has begun and not recorded yet,
 * whichever epoch they were begun in.
 *
 * They outlive the queue.  After the lease was lost, attempts at gateways may
 * end, and their outcomes are kept.  They are recorded under their own epoch
 * while that is held, or under the next epoch of this worker: they are not in
 * doubt to the worker that has begun them, and they count for the bounds until
 * they end.  As soon as another instance leads, they are in doubt, and that
 * instance records them: here they are dropped.
 */

#include "ngx_http_submission_dispatch.h"
#include "ngx_http_submission_stats.h"
#include "ngx_http_submission_turn.h"


/*
 * Iterates over the attempts in hand: first those at gateways, then those that
 * have ended.  "list" is the one of the two that the attempt is in.
 */

static ngx_http_submission_attempt_t *
ngx_http_submission_in_hand_next(ngx_http_submission_executor_t *ex,
    ngx_http_submission_attempt_t *at, ngx_queue_t **list)
{
    ngx_queue_t  *q;

    if (at == NULL) {
        *list = &ex->sending;
        q = ngx_queue_head(*list);

    } else {
        q = ngx_queue_next(&at->queue);
    }

    if (q == &ex->sending) {
        *list = &ex->ended;
        q = ngx_queue_head(*list);
    }

    return q == &ex->ended ? NULL
           : ngx_queue_data(q, ngx_http_submission_attempt_t, queue);
}


ngx_int_t
ngx_http_submission_in_hand_known(ngx_http_submission_manager_t *manager,
    sm_arena_t *arena, sm_known_row_t **known, size_t *n)
{
    ngx_queue_t                     *list;
    sm_known_row_t                  *rows;
    ngx_http_submission_attempt_t   *at;
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    ngx_http_submission_stats_prepare(ex);

    rows = sm_arena_calloc(arena, ex->nsending + ex->nended + 1,
                           sizeof(sm_known_row_t));
    if (rows == NULL) {
        return NGX_ERROR;
    }

    *known = rows;
    *n = 0;

    for (at = ngx_http_submission_in_hand_next(ex, NULL, &list);
         at;
         at = ngx_http_submission_in_hand_next(ex, at, &list))
    {
        if (at->forgotten) {
            continue;
        }

        if (sm_arena_strdup(arena, &rows[*n].id, at->id) != 0) {
            return NGX_ERROR;
        }

        ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission: in hand \"%*s\" attempt:%L epoch:%L",
                       at->id.len, at->id.data, at->number, at->epoch);

        rows[*n].number = at->number;
        rows[*n].epoch = at->epoch;
        at->known = (*n)++;
    }

    return NGX_OK;
}


static void
ngx_http_submission_in_hand_drop(ngx_http_submission_executor_t *ex,
    ngx_http_submission_attempt_t *at, ngx_queue_t *list)
{
    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: in hand no more \"%*s\" attempt:%L epoch:%L "
                   "sending:%d", at->id.len, at->id.data, at->number,
                   at->epoch, list == &ex->sending);

    if (list == &ex->sending) {

        /* nginx has it, so it is dropped when it ends */

        at->forgotten = 1;
        return;
    }

    ngx_queue_remove(&at->queue);
    ex->nended--;

    ngx_http_submission_attempt_drop(at, "lease_gone");
}


/*
 * An attempt that the store does not have in flight any more was settled by
 * another instance.  Without a list, another instance leads, and has settled or
 * will settle all of them.
 */

void
ngx_http_submission_in_hand_recovered(ngx_http_submission_manager_t *manager,
    sm_known_row_t *known)
{
    ngx_queue_t                     *list, *next;
    ngx_http_submission_attempt_t   *at, *following;
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;
    at = ngx_http_submission_in_hand_next(ex, NULL, &list);

    while (at) {
        next = list;
        following = ngx_http_submission_in_hand_next(ex, at, &next);

        if (known == NULL
            || (!at->forgotten && !known[at->known].in_flight))
        {
            ngx_http_submission_in_hand_drop(ex, at, list);
        }

        at = following;
        list = next;
    }
}


/*
 * Without memory an attempt is not in the queue; its intent is read from the
 * store again after the attempt was recorded.
 */

void
ngx_http_submission_in_hand_adopt(ngx_http_submission_executor_t *ex)
{
    ngx_queue_t                    *list;
    ngx_http_submission_attempt_t  *at;

    for (at = ngx_http_submission_in_hand_next(ex, NULL, &list);
         at;
         at = ngx_http_submission_in_hand_next(ex, at, &list))
    {
        at->entry = at->forgotten
                    ? NULL
                    : sm_queue_hold(ex->queue, at->id,
                                    at->contract.target,
                                    sm_policy_deadline(&at->contract,
                                                       at->created_at));
        if (at->entry == NULL) {
            continue;
        }

        at->generation = ex->generation;

        if (list == &ex->ended) {
            sm_queue_end(ex->queue, at->entry);
        }
    }
}
