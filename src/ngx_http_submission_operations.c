
/*
 * All operations: what is asked of the store, by whom, and what becomes of it.
 */

#include "ngx_http_submission_api.h"
#include "ngx_http_submission_executor.h"
#include "ngx_http_submission_task.h"


const ngx_http_submission_op_t  ngx_http_submission_ops[] = {

    [NGX_HTTP_SUBMISSION_OP_NONE] = {
        .name = "none"
    },

    [NGX_HTTP_SUBMISSION_OP_PING] = {
        .name = "ping",
        .writes = 1,
        .run = ngx_http_submission_health_run
    },

    [NGX_HTTP_SUBMISSION_OP_INTENTS_SUBMIT] = {
        .name = "intents_submit",
        .batched = 1,
        .writes = 1,
        .wakes = 1,
        .run = ngx_http_submission_submit_run,
        .row_size = sizeof(sm_submit_row_t),
        .own = ngx_http_submission_submit_own,
        .reply = ngx_http_submission_submit_reply,
        .intent = ngx_http_submission_submit_intent
    },

    [NGX_HTTP_SUBMISSION_OP_INTENTS_GET] = {
        .name = "intents_get",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_get_row_t),
        .own = ngx_http_submission_get_own,
        .weight = ngx_http_submission_get_weight,
        .call = ngx_http_submission_get_call,
        .reply = ngx_http_submission_get_reply,
        .intent = ngx_http_submission_get_intent
    },

    [NGX_HTTP_SUBMISSION_OP_INTENT_HISTORY] = {
        .name = "intent_history",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_history_row_t),
        .own = ngx_http_submission_history_own,
        .weight = ngx_http_submission_history_weight,
        .call = ngx_http_submission_history_call,
        .reply = ngx_http_submission_history_reply
    },

    [NGX_HTTP_SUBMISSION_OP_INTENTS_LIST] = {
        .name = "intents_list",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_list_row_t),
        .own = ngx_http_submission_list_own,
        .weight = ngx_http_submission_list_weight,
        .call = ngx_http_submission_list_call,
        .reply = ngx_http_submission_list_reply
    },

    [NGX_HTTP_SUBMISSION_OP_CLUSTER_GET] = {
        .name = "cluster_get",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_cluster_t),
        .call = ngx_http_submission_cluster_call,
        .reply = ngx_http_submission_cluster_reply
    },

    [NGX_HTTP_SUBMISSION_OP_LEASE_ACQUIRE] = {
        .name = "lease_acquire",
        .writes = 1,
        .run = ngx_http_submission_lease_run
    },

    [NGX_HTTP_SUBMISSION_OP_LEASE_TAKEOVER] = {
        .name = "lease_takeover",
        .writes = 1,
        .run = ngx_http_submission_lease_run
    },

    [NGX_HTTP_SUBMISSION_OP_LEASE_RENEW] = {
        .name = "lease_renew",
        .writes = 1,
        .run = ngx_http_submission_lease_run
    },

    [NGX_HTTP_SUBMISSION_OP_LEASE_RELEASE] = {
        .name = "lease_release",
        .writes = 1,
        .run = ngx_http_submission_lease_run
    },

    [NGX_HTTP_SUBMISSION_OP_LEASE_WATCH] = {
        .name = "lease_watch",
        .run = ngx_http_submission_lease_run
    },

    [NGX_HTTP_SUBMISSION_OP_SCHEDULE_PAGE] = {
        .name = "schedule_page",
        .batched = 1,
        .run = ngx_http_submission_schedule_run
    },

    [NGX_HTTP_SUBMISSION_OP_ATTEMPTS_TURN] = {
        .name = "attempts_turn",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_turn_run
    },

    [NGX_HTTP_SUBMISSION_OP_ATTEMPTS_EXPIRE] = {
        .name = "attempts_expire",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_expiry_run
    },

    [NGX_HTTP_SUBMISSION_OP_ATTEMPTS_RECOVER] = {
        .name = "attempts_recover",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_lease_run
    },

    [NGX_HTTP_SUBMISSION_OP_TIDY] = {
        .name = "tidy",
        .run = ngx_http_submission_tidy_run
    },

    [NGX_HTTP_SUBMISSION_OP_INTENTS_CANCEL] = {
        .name = "intents_cancel",
        .batched = 1,
        .writes = 1,
        .wakes = 1,
        .notices = 1,
        .run = ngx_http_submission_cancel_run,
        .row_size = sizeof(sm_cancel_row_t),
        .own = ngx_http_submission_cancel_own,
        .weight = ngx_http_submission_cancel_weight,
        .reply = ngx_http_submission_cancel_reply
    },

    [NGX_HTTP_SUBMISSION_OP_INTENTS_REPLAY] = {
        .name = "intents_replay",
        .batched = 1,
        .writes = 1,
        .wakes = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_replay_row_t),
        .own = ngx_http_submission_replay_own,
        .weight = ngx_http_submission_replay_weight,
        .call = ngx_http_submission_replay_call,
        .left = ngx_http_submission_replay_left,
        .reply = ngx_http_submission_replay_reply
    },

    [NGX_HTTP_SUBMISSION_OP_INTENT_PAYLOAD] = {
        .name = "intent_payload",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_payload_row_t),
        .own = ngx_http_submission_payload_own,
        .weight = ngx_http_submission_payload_weight,
        .call = ngx_http_submission_payload_call,
        .reply = ngx_http_submission_payload_reply
    },

    [NGX_HTTP_SUBMISSION_OP_AUDIT_LIST] = {
        .name = "audit_list",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_audit_row_t),
        .own = ngx_http_submission_audit_own,
        .weight = ngx_http_submission_audit_weight,
        .call = ngx_http_submission_audit_call,
        .reply = ngx_http_submission_audit_reply
    },

    [NGX_HTTP_SUBMISSION_OP_FAILURES_GET] = {
        .name = "failures_get",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_failures_row_t),
        .own = ngx_http_submission_failures_own,
        .weight = ngx_http_submission_failures_weight,
        .call = ngx_http_submission_failures_call,
        .left = ngx_http_submission_failures_left,
        .reply = ngx_http_submission_failures_reply
    },

    [NGX_HTTP_SUBMISSION_OP_INBOX_MOVE] = {
        .name = "inbox_move",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_inbox_run
    },

    [NGX_HTTP_SUBMISSION_OP_RETENTION] = {
        .name = "retention",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_retention_run
    },

    [NGX_HTTP_SUBMISSION_OP_STATS_PUT] = {
        .name = "stats_put",
        .writes = 1,
        .run = ngx_http_submission_stats_run
    },

    [NGX_HTTP_SUBMISSION_OP_STATS_GET] = {
        .name = "stats_get",
        .run = ngx_http_submission_fetch_run
    },

    [NGX_HTTP_SUBMISSION_OP_BACKLOG_GET] = {
        .name = "backlog_get",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_backlog_t),
        .call = ngx_http_submission_backlog_call,
        .reply = ngx_http_submission_backlog_reply
    },

    [NGX_HTTP_SUBMISSION_OP_JOBS_ADD] = {
        .name = "jobs_add",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_job_row_t),
        .own = ngx_http_submission_jobs_own,
        .weight = ngx_http_submission_jobs_weight,
        .call = ngx_http_submission_jobs_add_call,
        .reply = ngx_http_submission_jobs_add_reply
    },

    [NGX_HTTP_SUBMISSION_OP_JOBS_STOP] = {
        .name = "jobs_stop",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_job_row_t),
        .own = ngx_http_submission_jobs_own,
        .weight = ngx_http_submission_jobs_weight,
        .call = ngx_http_submission_jobs_stop_call,
        .reply = ngx_http_submission_jobs_stop_reply
    },

    [NGX_HTTP_SUBMISSION_OP_JOBS_LIST] = {
        .name = "jobs_list",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_jobs_row_t),
        .own = ngx_http_submission_jobs_list_own,
        .weight = ngx_http_submission_jobs_list_weight,
        .call = ngx_http_submission_jobs_list_call,
        .reply = ngx_http_submission_jobs_list_reply
    },

    [NGX_HTTP_SUBMISSION_OP_JOB_WORK] = {
        .name = "job_work",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_job_run
    },

    [NGX_HTTP_SUBMISSION_OP_SCHEDULE_DROP] = {
        .name = "schedule_drop",
        .batched = 1,
        .run = ngx_http_submission_drop_run
    },

    [NGX_HTTP_SUBMISSION_OP_TARGET_SET] = {
        .name = "target_set",
        .batched = 1,
        .writes = 1,
        .wakes = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_target_set_t),
        .own = ngx_http_submission_pause_own,
        .weight = ngx_http_submission_pause_weight,
        .call = ngx_http_submission_pause_call,
        .reply = ngx_http_submission_pause_reply
    },

    [NGX_HTTP_SUBMISSION_OP_TARGETS_PAUSED] = {
        .name = "targets_paused",
        .run = ngx_http_submission_pauses_run
    },

    [NGX_HTTP_SUBMISSION_OP_SCHEDULES_FIRE] = {
        .name = "schedules_fire",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_recur_run
    },

    [NGX_HTTP_SUBMISSION_OP_SCHEDULES_LIST] = {
        .name = "schedules_list",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_recur_list_t),
        .own = ngx_http_submission_schedules_list_own,
        .weight = ngx_http_submission_schedules_list_weight,
        .call = ngx_http_submission_schedules_list_call,
        .reply = ngx_http_submission_schedules_list_reply
    },

    [NGX_HTTP_SUBMISSION_OP_SCHEDULE_GET] = {
        .name = "schedule_get",
        .batched = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_recur_row_t),
        .own = ngx_http_submission_schedules_own,
        .weight = ngx_http_submission_schedules_weight,
        .call = ngx_http_submission_schedules_call,
        .reply = ngx_http_submission_schedules_reply
    },

    [NGX_HTTP_SUBMISSION_OP_SCHEDULE_PUT] = {
        .name = "schedule_put",
        .batched = 1,
        .writes = 1,
        .wakes = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_recur_row_t),
        .own = ngx_http_submission_schedules_own,
        .weight = ngx_http_submission_schedules_weight,
        .call = ngx_http_submission_schedules_call,
        .reply = ngx_http_submission_schedules_reply
    },

    [NGX_HTTP_SUBMISSION_OP_SCHEDULE_DELETE] = {
        .name = "schedule_delete",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_recur_row_t),
        .own = ngx_http_submission_schedules_own,
        .weight = ngx_http_submission_schedules_weight,
        .call = ngx_http_submission_schedules_call,
        .reply = ngx_http_submission_schedules_reply
    },

    [NGX_HTTP_SUBMISSION_OP_SCHEDULE_PAUSE] = {
        .name = "schedule_pause",
        .batched = 1,
        .writes = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_recur_row_t),
        .own = ngx_http_submission_schedules_own,
        .weight = ngx_http_submission_schedules_weight,
        .call = ngx_http_submission_schedules_call,
        .reply = ngx_http_submission_schedules_reply
    },

    [NGX_HTTP_SUBMISSION_OP_SCHEDULE_RESUME] = {
        .name = "schedule_resume",
        .batched = 1,
        .writes = 1,
        .wakes = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_recur_row_t),
        .own = ngx_http_submission_schedules_own,
        .weight = ngx_http_submission_schedules_weight,
        .call = ngx_http_submission_schedules_call,
        .reply = ngx_http_submission_schedules_reply
    },

    [NGX_HTTP_SUBMISSION_OP_SCHEDULE_RUN] = {
        .name = "schedule_run",
        .batched = 1,
        .writes = 1,
        .wakes = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_recur_row_t),
        .own = ngx_http_submission_schedules_own,
        .weight = ngx_http_submission_schedules_weight,
        .call = ngx_http_submission_schedules_call,
        .reply = ngx_http_submission_schedules_reply,
        .again = ngx_http_submission_schedules_again
    },

    [NGX_HTTP_SUBMISSION_OP_WEBHOOKS_RESEND] = {
        .name = "webhooks_resend",
        .batched = 1,
        .writes = 1,
        .wakes = 1,
        .run = ngx_http_submission_batch_run,
        .row_size = sizeof(sm_resend_row_t),
        .own = ngx_http_submission_webhooks_own,
        .weight = ngx_http_submission_webhooks_weight,
        .call = ngx_http_submission_webhooks_call,
        .reply = ngx_http_submission_webhooks_reply
    },

    [NGX_HTTP_SUBMISSION_OP_WEBHOOK_GONE] = {
        .name = "webhook_gone",
        .writes = 1,
        .run = ngx_http_submission_webhook_run
    }
};


_Static_assert(sizeof(ngx_http_submission_ops)
               / sizeof(ngx_http_submission_op_t) == NGX_HTTP_SUBMISSION_OP_N,
               "a row for each operation");
