
/*
 * POST /v1/intents/{id}/webhooks/resend, and how events are shown.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"
#include "ngx_http_submission_sign.h"


static const sm_json_field_t  ngx_http_submission_webhooks_fields[] = {
    { "webhook", SM_JSON_STRING, 0 },
    { NULL, 0, 0 }
};


/* Writes "webhooks":[...]. */

void
ngx_http_submission_webhooks_out(ngx_http_request_t *r, sm_out_t *out,
    const sm_events_row_t *row)
{
    char                             msg[NGX_HTTP_SUBMISSION_SIGN_ID];
    size_t                           i;
    sm_str_t                         lease, message;
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    lease = ngx_http_submission_str(&slcf->api->lease_name);

    sm_out_c(out, "\"webhooks\":[");

    for (i = 0; i < row->n; i++) {
        message.data = msg;
        message.len = ngx_http_submission_sign_id(lease,
                                     sm_webhook_first(row->events[i].id), msg)
                      ? sizeof(msg) : 0;

        sm_out_c(out, i ? "," : "");
        sm_event_out(out, &row->events[i], message);
    }

    sm_out_c(out, "]");
}


static ngx_int_t
ngx_http_submission_webhooks_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_resend_row_t  *row = ctx->row;

    sm_json_value_t  webhook;

    if (ngx_http_submission_api_id(ctx, &row->id, err) != NGX_OK
        || ngx_http_submission_body_object(arena, body,
                                           ngx_http_submission_webhooks_fields,
                                           &webhook, err)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (webhook.type) {
        row->webhook = webhook.text;
    }

    return ngx_http_submission_access_actor(ctx->request, &row->actor);
}


const ngx_http_submission_input_t  ngx_http_submission_webhooks_input = {
    .take = ngx_http_submission_webhooks_take
};


ngx_int_t
ngx_http_submission_webhooks_reply(ngx_http_request_t *r, const void *data)
{
    const sm_resend_row_t  *row = data;

    sm_out_t  out;

    switch (row->outcome) {

    case SM_RESEND_DONE:
        break;

    case SM_RESEND_NOT_TERMINAL:
        return ngx_http_submission_reply_status(r, "not_terminal",
                   "the intent has not ended", row->status);

    case SM_RESEND_NONE:
        return ngx_http_submission_reply_status(r, "not_notified",
                   "no such webhook was told of the intent", row->status);

    case SM_RESEND_STRIPPED:
        return ngx_http_submission_reply_status(r, "payload_stripped",
                   "what the webhook was told is not kept any more",
                   row->status);

    default: /* SM_RESEND_NOT_FOUND */
        return ngx_http_submission_reply_not_found(r);
    }

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{\"" SM_FIELD_ID "\":");
    sm_json_out_str(&out, row->id);
    sm_out_c(&out, ",");
    ngx_http_submission_webhooks_out(r, &out, &row->events);
    sm_out_c(&out, "}\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
