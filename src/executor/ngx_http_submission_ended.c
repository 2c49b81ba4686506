
/*
 * The end of an intent, whoever has ended it: an attempt that was recorded, the
 * recovery of attempts in doubt, a deadline, a job, or a request to cancel.
 *
 * Every end that the leader makes or learns of is booked here, after the store
 * has committed it: in the log, the metrics and the leader's numbers, for
 * clients that wait, for webhooks, and in the queue, which drops the intent.
 */

#include "ngx_http_submission_signal.h"
#include "ngx_http_submission_stats.h"
#include "ngx_http_submission_turn.h"

#include "sm_webhook.h"


static void
ngx_http_submission_ended_log(ngx_http_submission_manager_t *manager,
    const ngx_http_submission_end_t *end)
{
    ngx_uint_t                   exhausted;
    ngx_http_submission_field_t  id;

    exhausted = end->status == SM_STATUS_EXHAUSTED;

    ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                  "submission: %s manager=%V%V lease_epoch=%L status=%s%s%s",
                  end->event, &manager->conf->name,
                  ngx_http_submission_field(&id, " intent_id=", end->id),
                  end->epoch, sm_status_name(end->status).data,
                  exhausted ? " reason=" : "",
                  exhausted ? sm_exhausted_name(end->exhausted).data : "");
}


void
ngx_http_submission_intent_ended(ngx_http_submission_manager_t *manager,
    const ngx_http_submission_end_t *end)
{
    ngx_http_submission_executor_t  *ex;

    ex = manager->executor;

    ngx_log_debug6(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: end of \"%*s\" status:%s taken:%d counted:%d "
                   "message:%d", end->id.len, end->id.data,
                   sm_status_name(end->status).data, end->entry != NULL,
                   (int) end->counted, (int) end->message);

    if (end->event) {
        ngx_http_submission_ended_log(manager, end);
    }

    if (!end->counted && !end->message) {
        ngx_http_submission_count_terminal(manager, end->target, end->status,
                                           end->exhausted, end->age);
    }

    ngx_http_submission_stats_ended(ex, end->id, end->target, end->status);

    ngx_http_submission_notice(manager, end->id);

    if (ex->queue == NULL) {
        return;
    }

    if (sm_webhook_told(end->notify, end->status)) {

        /* the messages to its webhooks are new intents of the store */

        ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission: webhooks are told of \"%*s\"",
                       end->id.len, end->id.data);

        ngx_http_submission_queue_new(ex);
    }

    if (end->entry) {
        sm_queue_drop(ex->queue, end->entry);

    } else {
        (void) sm_queue_remove(ex->queue, end->id);
    }
}


/*
 * The thread that has canceled the intent, of this instance or of another, has
 * counted it in the metrics.
 */

void
ngx_http_submission_ended_canceled(ngx_http_submission_executor_t *ex,
    sm_str_t id, sm_str_t target, sm_entry_t *entry, const char *event,
    int64_t epoch)
{
    ngx_http_submission_end_t  end;

    ngx_memzero(&end, sizeof(ngx_http_submission_end_t));

    end.id = id;
    end.target = ngx_http_submission_target(ex->manager->conf, target);
    end.entry = entry;
    end.event = event;
    end.epoch = epoch;
    end.status = SM_STATUS_CANCELED;
    end.counted = 1;

    if (end.target) {
        end.notify = end.target->contract.notify;
    }

    ngx_http_submission_intent_ended(ex->manager, &end);
}


/*
 * Attempts in doubt were recorded as unknown.  There is no queue yet: what is
 * pending, messages to webhooks included, will be read from the store.
 */

void
ngx_http_submission_ended_in_doubt(ngx_http_submission_manager_t *manager,
    const sm_recovered_t *recovered, int64_t epoch, int64_t now)
{
    sm_recovered_end_t            *row;
    sm_recovered_target_t         *t;
    ngx_http_submission_end_t      end;
    ngx_http_submission_target_t  *target;

    for (t = recovered->targets; t; t = t->next) {
        target = ngx_http_submission_target(manager->conf, t->name);

        ngx_http_submission_count_attempt(manager, target, SM_OUTCOME_UNKNOWN,
                                          t->attempts);
        ngx_http_submission_stats_unknown(manager->executor, target,
                                          t->attempts);
    }

    ngx_memzero(&end, sizeof(ngx_http_submission_end_t));

    end.event = "ended";
    end.epoch = epoch;
    end.status = SM_STATUS_EXHAUSTED;

    for (row = recovered->ended; row; row = row->next) {
        end.id = row->id;
        end.target = ngx_http_submission_target(manager->conf, row->target);
        end.exhausted = row->exhausted;
        end.age = now - row->created_at;
        end.message = row->message;

        ngx_http_submission_intent_ended(manager, &end);
    }
}
