
/*
 * All operations: what is asked of the store, by whom, and what becomes of it.
 */

#include "ngx_http_submission_api.h"
#include "ngx_http_submission_executor.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"


/* A payload may be long, and its length is not known: few go into one call. */

#define NGX_HTTP_SUBMISSION_PAYLOAD_WEIGHT   (1024 * 1024)
#define NGX_HTTP_SUBMISSION_SCHEDULE_WEIGHT  (64 * 1024)


#define ngx_http_submission_op(op, label, ...)                                \
    [NGX_HTTP_SUBMISSION_OP_##op] = { .name = label, __VA_ARGS__ }

#define ngx_http_submission_op_strings(...)                                   \
    .strings = (const size_t []) { __VA_ARGS__ },                             \
    .nstrings = sizeof((const size_t []) { __VA_ARGS__ }) / sizeof(size_t)

/* Requests of the API are rows of this type, and "function" asks for them. */

#define ngx_http_submission_op_api(op, label, type, function, ...)            \
    ngx_http_submission_op(op, label,                                         \
        .batched = 1,                                                         \
        .run = ngx_http_submission_batch_thread,                              \
        .row_size = sizeof(type),                                             \
        .call = function,                                                     \
        __VA_ARGS__)

/* The store finds in the row which of the operations on a schedule it is. */

#define ngx_http_submission_op_schedule(op, label, ...)                       \
    ngx_http_submission_op_api(op, label, sm_schedule_row_t,                  \
        ngx_http_submission_schedules_thread,                                 \
        ngx_http_submission_op_strings(                                       \
            offsetof(sm_schedule_row_t, id),                                  \
            offsetof(sm_schedule_row_t, target),                              \
            offsetof(sm_schedule_row_t, body),                                \
            offsetof(sm_schedule_row_t, payload),                             \
            offsetof(sm_schedule_row_t, reason),                              \
            offsetof(sm_schedule_row_t, actor.name),                          \
            offsetof(sm_schedule_row_t, actor.address),                       \
            offsetof(sm_schedule_row_t, intent_id),                           \
            offsetof(sm_schedule_row_t, if_match),                            \
            offsetof(sm_schedule_row_t, if_none_match)),                      \
        .weight = NGX_HTTP_SUBMISSION_SCHEDULE_WEIGHT,                        \
        .reply = ngx_http_submission_schedules_reply,                         \
        __VA_ARGS__)


/*
 * Makes ngx_http_submission_<function>_thread(), which hands rows of a batch to
 * sm_store_<function>() as rows of their type.
 */

#define ngx_http_submission_op_store(function, type)                          \
                                                                              \
    static int                                                                \
    ngx_http_submission_##function##_thread(sm_store_t *store,                \
        sm_call_t *call, void *rows, size_t n)                                \
    {                                                                         \
        return sm_store_##function(store, call, (type *) rows, n);            \
    }

/* The same for what is asked once, whatever the number of rows. */

#define ngx_http_submission_op_once(function, type)                           \
                                                                              \
    static int                                                                \
    ngx_http_submission_##function##_thread(sm_store_t *store,                \
        sm_call_t *call, void *rows, size_t n)                                \
    {                                                                         \
        return sm_store_##function(store, call, (type *) rows);               \
    }

ngx_http_submission_op_store(intents_get, sm_get_row_t)
ngx_http_submission_op_store(intent_history, sm_history_row_t)
ngx_http_submission_op_store(intents_list, sm_list_row_t)
ngx_http_submission_op_store(intents_replay, sm_replay_row_t)
ngx_http_submission_op_store(intent_payload, sm_payload_row_t)
ngx_http_submission_op_store(audit_list, sm_audit_row_t)
ngx_http_submission_op_store(jobs_stop, sm_job_row_t)
ngx_http_submission_op_store(jobs_list, sm_jobs_row_t)
ngx_http_submission_op_store(target_set, sm_target_set_t)
ngx_http_submission_op_store(schedules_list, sm_schedule_list_t)
ngx_http_submission_op_store(webhooks_resend, sm_resend_row_t)
ngx_http_submission_op_store(webhook_messages, sm_messages_row_t)
ngx_http_submission_op_store(schedules, sm_schedule_row_t)

ngx_http_submission_op_once(cluster_get, sm_cluster_t)


const ngx_http_submission_op_t  ngx_http_submission_ops[] = {

    ngx_http_submission_op(NONE, "none", .run = NULL),

    ngx_http_submission_op(PING, "ping",
        .writes = 1, .proves = 1,
        .run = ngx_http_submission_health_thread),

    ngx_http_submission_op(INTENTS_SUBMIT, "intents_submit",
        .batched = 1, .writes = 1, .grows = 1, .wakes = 1,
        .run = ngx_http_submission_submit_thread,
        .row_size = sizeof(sm_submit_row_t),
        ngx_http_submission_op_strings(
            offsetof(sm_submit_row_t, id),
            offsetof(sm_submit_row_t, payload),
            offsetof(sm_submit_row_t, trace.parent),
            offsetof(sm_submit_row_t, trace.state)),
        .fields = sm_posted_fields,
        .entity = offsetof(sm_submit_row_t, posted),
        .reply = ngx_http_submission_submit_reply,
        .intent = ngx_http_submission_submit_intent),

    ngx_http_submission_op_api(INTENTS_GET, "intents_get",
        sm_get_row_t, ngx_http_submission_intents_get_thread,
        ngx_http_submission_op_strings(
            offsetof(sm_get_row_t, id)),
        .weight = SM_INTENT_MAX,
        .reply = ngx_http_submission_get_reply,
        .intent = ngx_http_submission_get_intent,
        .arrived = ngx_http_submission_get_arrived),

    ngx_http_submission_op_api(INTENT_HISTORY, "intent_history",
        sm_history_row_t, ngx_http_submission_intent_history_thread,
        ngx_http_submission_op_strings(
            offsetof(sm_history_row_t, id)),
        .weight = SM_INTENT_MAX + SM_EVENTS_MAX * SM_EVENT_MAX,
        .weight_each = SM_ATTEMPT_MAX,
        .limit = offsetof(sm_history_row_t, limit),
        .reply = ngx_http_submission_history_reply),

    ngx_http_submission_op_api(INTENTS_LIST, "intents_list",
        sm_list_row_t, ngx_http_submission_intents_list_thread,
        ngx_http_submission_op_strings(
            offsetof(sm_list_row_t, target),
            offsetof(sm_list_row_t, after_id),
            offsetof(sm_list_row_t, reason),
            offsetof(sm_list_row_t, prefix),
            offsetof(sm_list_row_t, prefix_end)),
        .weight_each = SM_INTENT_MAX,
        .limit = offsetof(sm_list_row_t, limit),
        .reply = ngx_http_submission_list_reply),

    ngx_http_submission_op_api(CLUSTER_GET, "cluster_get",
        sm_cluster_t, ngx_http_submission_cluster_get_thread,
        .once = 1,
        .reply = ngx_http_submission_cluster_reply),

    ngx_http_submission_op(LEASE_ACQUIRE, "lease_acquire",
        .writes = 1, .proves = 1,
        .run = ngx_http_submission_lease_thread),

    ngx_http_submission_op(LEASE_TAKEOVER, "lease_takeover",
        .writes = 1, .proves = 1,
        .run = ngx_http_submission_lease_thread),

    ngx_http_submission_op(LEASE_RENEW, "lease_renew",
        .writes = 1, .proves = 1,
        .run = ngx_http_submission_lease_thread),

    ngx_http_submission_op(LEASE_RELEASE, "lease_release",
        .writes = 1,
        .run = ngx_http_submission_lease_thread),

    ngx_http_submission_op(LEASE_WATCH, "lease_watch",
        .run = ngx_http_submission_lease_thread),

    ngx_http_submission_op(QUEUE_PAGE, "queue_page",
        .batched = 1,
        .run = ngx_http_submission_queue_thread),

    ngx_http_submission_op(ATTEMPTS_TURN, "attempts_turn",
        .batched = 1, .writes = 1, .grows = 1,
        .run = ngx_http_submission_turn_thread),

    ngx_http_submission_op(ATTEMPTS_EXPIRE, "attempts_expire",
        .batched = 1, .writes = 1, .grows = 1,
        .run = ngx_http_submission_expiry_thread),

    ngx_http_submission_op(ATTEMPTS_RECOVER, "attempts_recover",
        .batched = 1, .writes = 1, .grows = 1,
        .run = ngx_http_submission_lease_thread),

    ngx_http_submission_op(TIDY, "tidy",
        .run = ngx_http_submission_tidy_thread),

    ngx_http_submission_op(INTENTS_CANCEL, "intents_cancel",
        .batched = 1, .writes = 1, .grows = 1, .wakes = 1, .notices = 1,
        .run = ngx_http_submission_cancel_thread,
        .row_size = sizeof(sm_cancel_row_t),
        ngx_http_submission_op_strings(
            offsetof(sm_cancel_row_t, id),
            offsetof(sm_cancel_row_t, actor.name),
            offsetof(sm_cancel_row_t, actor.address)),
        .weight = SM_INTENT_MAX,
        .reply = ngx_http_submission_cancel_reply),

    ngx_http_submission_op_api(INTENTS_REPLAY, "intents_replay",
        sm_replay_row_t, ngx_http_submission_intents_replay_thread,
        .writes = 1, .grows = 1, .wakes = 1,
        ngx_http_submission_op_strings(
            offsetof(sm_replay_row_t, id),
            offsetof(sm_replay_row_t, new_id),
            offsetof(sm_replay_row_t, actor.name),
            offsetof(sm_replay_row_t, actor.address),
            offsetof(sm_replay_row_t, trace.parent),
            offsetof(sm_replay_row_t, trace.state)),
        .weight = 4 * SM_INTENT_MAX,
        .left = ngx_http_submission_replay_left,
        .reply = ngx_http_submission_replay_reply),

    ngx_http_submission_op_api(INTENT_PAYLOAD, "intent_payload",
        sm_payload_row_t, ngx_http_submission_intent_payload_thread,
        ngx_http_submission_op_strings(
            offsetof(sm_payload_row_t, id)),
        .weight = NGX_HTTP_SUBMISSION_PAYLOAD_WEIGHT,
        .reply = ngx_http_submission_payload_reply),

    ngx_http_submission_op_api(AUDIT_LIST, "audit_list",
        sm_audit_row_t, ngx_http_submission_audit_list_thread,
        ngx_http_submission_op_strings(
            offsetof(sm_audit_row_t, actor),
            offsetof(sm_audit_row_t, action)),
        .weight_each = SM_AUDIT_MAX,
        .limit = offsetof(sm_audit_row_t, limit),
        .reply = ngx_http_submission_audit_reply),

    ngx_http_submission_op_api(FAILURES_GET, "failures_get",
        sm_failures_row_t, ngx_http_submission_failures_thread,
        ngx_http_submission_op_strings(
            offsetof(sm_failures_row_t, target)),
        .weight = SM_FAILURES_MAX,
        .left = ngx_http_submission_failures_left,
        .reply = ngx_http_submission_failures_reply),

    ngx_http_submission_op(INBOX_MOVE, "inbox_move",
        .batched = 1, .writes = 1, .grows = 1,
        .run = ngx_http_submission_inbox_thread),

    ngx_http_submission_op(RETENTION, "retention",
        .batched = 1, .writes = 1,
        .run = ngx_http_submission_retention_thread),

    ngx_http_submission_op(STATS_PUT, "stats_put",
        .writes = 1,
        .run = ngx_http_submission_stats_thread),

    ngx_http_submission_op(STATS_GET, "stats_get",
        .run = ngx_http_submission_fetch_thread),

    ngx_http_submission_op(BACKLOG_GET, "backlog_get",
        .run = ngx_http_submission_backlog_thread),

    ngx_http_submission_op_api(JOBS_ADD, "jobs_add",
        sm_job_row_t, ngx_http_submission_jobs_add_thread,
        .writes = 1,
        ngx_http_submission_op_strings(
            offsetof(sm_job_row_t, request.id),
            offsetof(sm_job_row_t, request.doc),
            offsetof(sm_job_row_t, actor.name),
            offsetof(sm_job_row_t, actor.address)),
        .weight = 2 * SM_JOB_MAX,
        .reply = ngx_http_submission_jobs_reply),

    ngx_http_submission_op_api(JOBS_STOP, "jobs_stop",
        sm_job_row_t, ngx_http_submission_jobs_stop_thread,
        .writes = 1,
        .again = ngx_http_submission_jobs_stop_again,
        .note = ngx_http_submission_jobs_stop_note,
        ngx_http_submission_op_strings(
            offsetof(sm_job_row_t, request.id),
            offsetof(sm_job_row_t, request.doc),
            offsetof(sm_job_row_t, actor.name),
            offsetof(sm_job_row_t, actor.address)),
        .weight = 2 * SM_JOB_MAX,
        .reply = ngx_http_submission_jobs_reply),

    ngx_http_submission_op_api(JOBS_LIST, "jobs_list",
        sm_jobs_row_t, ngx_http_submission_jobs_list_thread,
        ngx_http_submission_op_strings(
            offsetof(sm_jobs_row_t, id),
            offsetof(sm_jobs_row_t, after_id)),
        .weight = SM_JOB_MAX,
        .weight_each = SM_JOB_MAX,
        .limit = offsetof(sm_jobs_row_t, limit),
        .reply = ngx_http_submission_jobs_list_reply),

    ngx_http_submission_op(JOB_WORK, "job_work",
        .batched = 1, .writes = 1, .grows = 1,
        .run = ngx_http_submission_job_thread),

    ngx_http_submission_op(QUEUE_DROP, "queue_drop",
        .batched = 1,
        .run = ngx_http_submission_drop_thread),

    ngx_http_submission_op_api(TARGET_SET, "target_set",
        sm_target_set_t, ngx_http_submission_target_set_thread,
        .writes = 1, .wakes = 1,
        ngx_http_submission_op_strings(
            offsetof(sm_target_set_t, target),
            offsetof(sm_target_set_t, reason),
            offsetof(sm_target_set_t, actor.name),
            offsetof(sm_target_set_t, actor.address)),
        .weight = 8 * SM_PAUSE_REASON_MAX,
        .reply = ngx_http_submission_pause_reply),

    ngx_http_submission_op(TARGETS_PAUSED, "targets_paused",
        .run = ngx_http_submission_pauses_thread),

    ngx_http_submission_op(SCHEDULES_FIRE, "schedules_fire",
        .batched = 1, .writes = 1, .grows = 1,
        .run = ngx_http_submission_fire_thread),

    ngx_http_submission_op_api(SCHEDULES_LIST, "schedules_list",
        sm_schedule_list_t, ngx_http_submission_schedules_list_thread,
        ngx_http_submission_op_strings(
            offsetof(sm_schedule_list_t, after)),
        .weight_each = SM_SCHEDULE_MAX,
        .limit = offsetof(sm_schedule_list_t, limit),
        .reply = ngx_http_submission_schedules_list_reply),

    ngx_http_submission_op_schedule(SCHEDULE_GET, "schedule_get",
        .writes = 0),

    ngx_http_submission_op_schedule(SCHEDULE_PUT, "schedule_put",
        .writes = 1, .wakes = 1),

    ngx_http_submission_op_schedule(SCHEDULE_DELETE, "schedule_delete",
        .writes = 1),

    ngx_http_submission_op_schedule(SCHEDULE_PAUSE, "schedule_pause",
        .writes = 1),

    ngx_http_submission_op_schedule(SCHEDULE_RESUME, "schedule_resume",
        .writes = 1, .wakes = 1),

    ngx_http_submission_op_schedule(SCHEDULE_RUN, "schedule_run",
        .writes = 1, .wakes = 1, .again = ngx_http_submission_schedules_again),

    ngx_http_submission_op_schedule(SCHEDULE_PREVIEW, "schedule_preview",
        .writes = 0),

    ngx_http_submission_op_api(WEBHOOKS_RESEND, "webhooks_resend",
        sm_resend_row_t, ngx_http_submission_webhooks_resend_thread,
        .writes = 1, .wakes = 1,
        ngx_http_submission_op_strings(
            offsetof(sm_resend_row_t, id),
            offsetof(sm_resend_row_t, webhook),
            offsetof(sm_resend_row_t, actor.name),
            offsetof(sm_resend_row_t, actor.address)),
        .weight = SM_INTENT_MAX + 2 * SM_EVENTS_MAX * SM_EVENT_MAX,
        .reply = ngx_http_submission_webhooks_reply),

    ngx_http_submission_op_api(WEBHOOK_MESSAGES, "webhook_messages",
        sm_messages_row_t, ngx_http_submission_webhook_messages_thread,
        ngx_http_submission_op_strings(
            offsetof(sm_messages_row_t, target),
            offsetof(sm_messages_row_t, after_id)),
        .weight_each = SM_EVENT_MAX,
        .limit = offsetof(sm_messages_row_t, limit),
        .reply = ngx_http_submission_messages_reply),

    ngx_http_submission_op(WEBHOOK_GONE, "webhook_gone",
        .writes = 1,
        .run = ngx_http_submission_webhook_thread)
};


_Static_assert(sizeof(ngx_http_submission_ops)
               / sizeof(ngx_http_submission_op_t) == NGX_HTTP_SUBMISSION_OP_N,
               "a row for each operation");


sm_str_t *
ngx_http_submission_op_string(const ngx_http_submission_op_t *op, void *row,
    ngx_uint_t n)
{
    const sm_field_t  *field;

    if (n < op->nstrings) {
        return (sm_str_t *) ((char *) row + op->strings[n]);
    }

    if (op->fields == NULL) {
        return NULL;
    }

    n -= op->nstrings;

    for (field = op->fields; field->column; field++) {
        if (sm_field_is_text(field) && n-- == 0) {
            return (sm_str_t *) ((char *) row + op->entity + field->offset);
        }
    }

    return NULL;
}
