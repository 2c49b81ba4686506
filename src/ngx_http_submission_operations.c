
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
    }
};


_Static_assert(sizeof(ngx_http_submission_ops)
               / sizeof(ngx_http_submission_op_t) == NGX_HTTP_SUBMISSION_OP_N,
               "a row for each operation");
