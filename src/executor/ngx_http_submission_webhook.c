
/*
 * What is different if an attempt tells a webhook: where it goes, and how often
 * it is tried, is what the configuration says today, and its body is made of
 * what the store has kept of the intent.
 *
 * The signature is here, too.  Webhooks have one, and targets with keys.
 */

#include "ngx_http_submission_dispatch.h"
#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_sign.h"

#include "sm_webhook.h"


#define NGX_HTTP_SUBMISSION_WEBHOOK_GONE  410


typedef struct {
    ngx_http_submission_task_t       task;
    sm_target_set_t                  row;
} ngx_http_submission_gone_t;


static void ngx_http_submission_webhook_paused(
    ngx_http_submission_task_t *task);


ngx_int_t
ngx_http_submission_webhook_prepare(ngx_http_submission_attempt_t *at)
{
    sm_str_t  facts;

    if (at->target == NULL) {
        at->what = SM_EXCHANGE_UNSENT;
        at->error = sm_str_c("not sent: the webhook is not configured");
        return NGX_DECLINED;
    }

    at->contract = at->target->contract;

    facts = at->payload;

    switch (sm_webhook_body(&at->arena, facts, &at->payload)) {

    case 0:
        ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission: message \"%*s\" bytes:%uz keys:%ui",
                       at->id.len, at->id.data, at->payload.len, at->nkeys);
        return NGX_OK;

    case 1:
        at->what = SM_EXCHANGE_UNSENT;
        at->error = sm_str_c("not sent: what is stored of the event is not "
                             "understood");
        return NGX_DECLINED;

    default:
        at->what = SM_EXCHANGE_SHORT;
        return NGX_DECLINED;
    }
}


/*
 * A receiver that answers 410 does not want any more messages.  Its target is
 * paused, as an operator would do it, until an operator resumes it.
 */

void
ngx_http_submission_webhook_gone(ngx_http_submission_attempt_t *at)
{
    ngx_http_submission_gone_t  *gone;

    if (at->http_status != NGX_HTTP_SUBMISSION_WEBHOOK_GONE) {
        return;
    }

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: webhook gone \"%*s\"",
                   at->contract.target.len, at->contract.target.data);

    gone = ngx_http_submission_task_create(at->manager,
                                           NGX_HTTP_SUBMISSION_OP_WEBHOOK_GONE,
                                           sizeof(ngx_http_submission_gone_t));
    if (gone == NULL) {
        return;
    }

    /* the name belongs to the configuration, which outlives the attempt */

    gone->row.target = at->contract.target;
    gone->row.pause = 1;
    gone->row.known = 1;
    gone->row.reason = sm_str_c("the webhook answered HTTP 410");
    gone->row.actor.name = sm_str_c("executor");
    gone->row.actor.address = sm_str_c("");

    gone->task.done = ngx_http_submission_webhook_paused;

    if (ngx_http_submission_task_post(&gone->task) != NGX_OK) {
        ngx_http_submission_task_free(&gone->task);
    }
}


void
ngx_http_submission_webhook_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_gone_t  *gone = (ngx_http_submission_gone_t *) task;

    (void) sm_store_target_set(&task->manager->store, &task->call, &gone->row,
                               1);
}


static void
ngx_http_submission_webhook_paused(ngx_http_submission_task_t *task)
{
    ngx_http_submission_gone_t  *gone = (ngx_http_submission_gone_t *) task;

    if (task->call.status != SM_STORE_OK
        || gone->row.outcome != SM_TARGET_SET_DONE)
    {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: webhook_gone manager=%V target=\"%*s\": it "
                  "answered HTTP 410 and is paused; its messages wait until "
                  "it is resumed", &task->manager->conf->name,
                  gone->row.target.len, gone->row.target.data);

    if (task->manager->executor->queue) {
        ngx_http_submission_duty_kick(
            &task->manager->executor->duties[NGX_HTTP_SUBMISSION_DUTY_PAUSES]);
    }
}


/* the headers of Standard Webhooks */

ngx_int_t
ngx_http_submission_webhook_headers(ngx_http_request_t *r,
    ngx_http_submission_attempt_t *at)
{
    size_t     len;
    char      *msg, *signatures;
    u_char    *value;
    sm_str_t   lease, id, seconds;

    lease.data = (char *) at->manager->conf->lease_name.data;
    lease.len = at->manager->conf->lease_name.len;

    id = at->contract.gateway_type == SM_GATEWAY_WEBHOOK
         ? sm_webhook_first(at->id) : at->id;

    msg = ngx_pnalloc(r->pool, NGX_HTTP_SUBMISSION_SIGN_ID + 1);
    signatures = ngx_pnalloc(r->pool, NGX_HTTP_SUBMISSION_SIGN_SIZE + 1);
    value = ngx_http_submission_send_int(r, at->started_at / 1000000, &len);

    if (msg == NULL || signatures == NULL || value == NULL
        || !ngx_http_submission_sign_id(lease, id, msg))
    {
        return NGX_ERROR;
    }

    msg[NGX_HTTP_SUBMISSION_SIGN_ID] = '\0';

    id.data = msg;
    id.len = NGX_HTTP_SUBMISSION_SIGN_ID;

    seconds.data = (char *) value;
    seconds.len = len;

    len = ngx_http_submission_sign(at->keys, at->nkeys, id, seconds,
                                   at->payload, signatures);
    if (len == 0) {
        return NGX_ERROR;
    }

    signatures[len] = '\0';

    return ngx_http_submission_send_header(r, "webhook-id", "webhook-id",
                                           (u_char *) id.data, id.len)
           && ngx_http_submission_send_header(r, "webhook-timestamp",
                                              "webhook-timestamp", value,
                                              seconds.len)
           && ngx_http_submission_send_header(r, "webhook-signature",
                                              "webhook-signature",
                                              (u_char *) signatures, len)
           ? NGX_OK : NGX_ERROR;
}
