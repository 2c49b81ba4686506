
/*
 * What a turn books, one row of its answer after the other: an intent that the
 * store did not begin, and an attempt that has ended.
 *
 * Either comes with the entry that the queue has for the intent, or without one
 * if the queue is not the one that it was taken from.  An intent that is not
 * pending any more leaves the queue by _intent_ended(), which books its end.
 */

#include "ngx_http_submission_dispatch.h"
#include "ngx_http_submission_signal.h"
#include "ngx_http_submission_stats.h"
#include "ngx_http_submission_turn.h"
#include "ngx_http_submission_zone.h"


static void
ngx_http_submission_turn_tell(ngx_http_submission_manager_t *manager,
    const char *event, sm_begin_row_t *row, int64_t epoch)
{
    ngx_http_submission_field_t  id, error;

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "submission: %s manager=%V%V lease_epoch=%L%V", event,
                  &manager->conf->name,
                  ngx_http_submission_field(&id, " intent_id=", row->id),
                  epoch,
                  ngx_http_submission_field(&error, " error=", row->refused));
}


/*
 * The intent is pending, and the store refuses to begin or to end it.  It would
 * do so again at once, so the intent is put aside until its time changes or
 * another epoch begins.
 */

static void
ngx_http_submission_turn_refused(ngx_http_submission_manager_t *manager,
    sm_entry_t *entry, sm_begin_row_t *row, int64_t epoch)
{
    ngx_http_submission_turn_tell(manager, "attempt_not_begun", row, epoch);

    if (entry) {
        sm_queue_aside(manager->executor->queue, entry);
    }
}


/*
 * An intent that the leader has not ended itself, and that is not pending any
 * more, was canceled: nobody else may end it while the lease is held.
 */

static void
ngx_http_submission_turn_gone(ngx_http_submission_manager_t *manager,
    sm_entry_t *entry, sm_begin_row_t *row, int64_t epoch)
{
    if (row->refused.data) {
        ngx_http_submission_turn_tell(manager, "contract_not_understood", row,
                                      epoch);
    }

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: not begun \"%*s\" newer:%d taken:%d",
                   row->id.len, row->id.data, (int) row->newer,
                   entry != NULL);

    if (entry == NULL) {
        return;
    }

    if (row->newer) {
        sm_queue_aside(manager->executor->queue, entry);

    } else {
        ngx_http_submission_ended_canceled(manager->executor,
                                           sm_entry_id(entry),
                                           sm_entry_target(entry), entry,
                                           NULL, epoch);
    }
}


void
ngx_http_submission_turn_not_begun(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, sm_entry_t *entry,
    sm_begin_row_t *row, int64_t epoch, int64_t now)
{
    switch (row->outcome) {

    case SM_BEGIN_EXPIRED:
        ngx_http_submission_expiry_ended(manager, target, entry, row, epoch,
                                         now);
        break;

    case SM_BEGIN_EARLY:
        ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission: too early \"%*s\" due in:%L us queued:%d",
                       row->id.len, row->id.data, row->due_at - now,
                       entry != NULL);

        if (entry) {
            sm_queue_put(manager->executor->queue, entry, row->due_at);
        }

        break;

    case SM_BEGIN_REFUSED:
        ngx_http_submission_turn_refused(manager, entry, row, epoch);
        break;

    default: /* SM_BEGIN_GONE */
        ngx_http_submission_turn_gone(manager, entry, row, epoch);
    }
}


static void
ngx_http_submission_turn_end_intent(ngx_http_submission_attempt_t *at,
    sm_complete_row_t *row, sm_entry_t *entry, int64_t now)
{
    ngx_http_submission_end_t  end;

    ngx_memzero(&end, sizeof(ngx_http_submission_end_t));

    end.id = at->id;
    end.target = at->target;
    end.entry = entry;
    end.epoch = at->epoch;
    end.status = row->status;
    end.exhausted = row->exhausted;
    end.age = now - at->created_at;
    end.notify = at->contract.notify;
    end.message = at->contract.gateway_type == SM_GATEWAY_WEBHOOK;

    ngx_http_submission_intent_ended(at->manager, &end);
}


void
ngx_http_submission_turn_record(ngx_http_submission_attempt_t *at,
    sm_complete_row_t *row, int64_t now)
{
    sm_entry_t     *entry;
    sm_queue_t     *queue;

    entry = ngx_http_submission_attempt_entry(at);
    queue = at->manager->executor->queue;

    ngx_log_debug6(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: recorded \"%*s\" attempt:%L applied:%d "
                   "status:%s queued:%d", at->id.len, at->id.data, at->number,
                   (int) row->applied, sm_status_name(row->status).data,
                   entry != NULL);

    if (!row->applied) {

        /* somebody else has changed the intent, or the store refused the row */

        ngx_http_submission_attempt_log(at, NGX_LOG_ERR,
                                        "attempt_not_recorded", NULL);

        if (entry) {
            sm_queue_drop(queue, entry);
        }

        return;
    }

    if (entry && row->status == SM_STATUS_PENDING) {
        sm_queue_put(queue, entry, row->next_attempt_at);
    }

    if (at->outcome == SM_OUTCOME_NONE) {

        /* the attempt was given back, and the intent stays pending */

        return;
    }

    ngx_http_submission_stats_attempt(at);
    ngx_http_submission_count_attempt(at->manager, at->target, at->outcome,
                                      1);

    ngx_http_submission_attempt_log(at, NGX_LOG_INFO, "attempt", NULL);

    if (row->status == SM_STATUS_PENDING) {
        ngx_http_submission_count(at->manager,
                                  NGX_HTTP_SUBMISSION_CNT_RETRIES, 1);
        ngx_http_submission_notice(at->manager, at->id);

    } else {
        ngx_http_submission_turn_end_intent(at, row, entry, now);
    }

    if (at->contract.gateway_type == SM_GATEWAY_WEBHOOK) {
        ngx_http_submission_webhook_gone(at);
    }
}
