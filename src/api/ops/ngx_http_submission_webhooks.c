
/*
 * POST /v1/intents/{id}/webhooks/resend, GET /v1/webhooks/{webhook}/messages,
 * and how events are shown.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"
#include "ngx_http_submission_sign.h"

#include "sm_cursor.h"


#define NGX_HTTP_SUBMISSION_WEBHOOKS_CURSOR  'w'


static const sm_json_field_t  ngx_http_submission_webhooks_fields[] = {
    { "webhook", SM_JSON_STRING, 0 },
    { NULL, 0, 0 }
};


static void
ngx_http_submission_webhooks_list(ngx_http_request_t *r, sm_out_t *out,
    const sm_event_t *events, size_t n)
{
    char                             msg[NGX_HTTP_SUBMISSION_SIGN_ID];
    size_t                           i;
    sm_str_t                         lease, message;
    ngx_http_submission_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);

    lease = ngx_http_submission_str(&slcf->api->lease_name);

    for (i = 0; i < n; i++) {
        message.data = msg;
        message.len = ngx_http_submission_sign_id(lease,
                                          sm_webhook_first(events[i].id), msg)
                      ? sizeof(msg) : 0;

        sm_out_c(out, i ? "," : "");
        sm_event_out(out, &events[i], message);
    }
}


/* Writes "webhooks":[...]. */

void
ngx_http_submission_webhooks_out(ngx_http_request_t *r, sm_out_t *out,
    const sm_events_row_t *row)
{
    sm_out_c(out, "\"webhooks\":[");
    ngx_http_submission_webhooks_list(r, out, row->events, row->n);
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
    sm_out_c(&out, ",\"made\":");
    sm_out_int(&out, (int64_t) row->made);
    sm_out_c(&out, ",");
    ngx_http_submission_webhooks_out(r, &out, &row->events);
    sm_out_c(&out, "}\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


static void
ngx_http_submission_messages_init(ngx_http_submission_ctx_t *ctx)
{
    sm_messages_row_t  *row = ctx->row;

    row->status = SM_STATUS_EXHAUSTED;
}


static ngx_int_t
ngx_http_submission_messages_status(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value)
{
    sm_status_e  *status = field;

    *status = sm_status_by_name(value);

    return *status == SM_STATUS_PENDING || *status == SM_STATUS_ACCEPTED
           || *status == SM_STATUS_EXHAUSTED
           ? NGX_OK : NGX_DECLINED;
}


/* The id of an event begins with a space, and that in a cursor does not. */

static ngx_int_t
ngx_http_submission_messages_after(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value)
{
    sm_messages_row_t  *row = ctx->row;

    char      kind, *buf, *id;
    sm_str_t  rest;

    buf = ngx_pnalloc(ctx->request->pool, 2 * value.len + 2);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    if (sm_cursor_kind_parse(value, buf, &kind, &row->after_at, &rest) != 0
        || kind != NGX_HTTP_SUBMISSION_WEBHOOKS_CURSOR)
    {
        return NGX_DECLINED;
    }

    id = buf + value.len + 1;

    id[0] = ' ';
    ngx_memcpy(id + 1, rest.data, rest.len);

    row->after_id.data = id;
    row->after_id.len = rest.len + 1;

    return NGX_OK;
}


static const ngx_http_submission_arg_t  ngx_http_submission_messages_args[] = {

    { "status", ngx_http_submission_messages_status,
      offsetof(sm_messages_row_t, status),
      "\"pending\", \"accepted\" or \"exhausted\"" },

    { "limit", ngx_http_submission_arg_limit,
      offsetof(sm_messages_row_t, limit),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_LIMIT },

    { "after", ngx_http_submission_messages_after, 0,
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_NEXT },

    { NULL, NULL, 0, NULL }
};


static ngx_int_t
ngx_http_submission_messages_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_messages_row_t  *row = ctx->row;

    sm_out_t  out;

    if (ngx_http_submission_api_check(err, "the name of the webhook",
                                      "webhook",
                                      sm_webhook_name_check(ctx->id))
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, SM_WEBHOOK_TARGET);
    sm_out_str(&out, ctx->id);

    return sm_out_done(&out, &row->target) == 0 ? NGX_OK : NGX_ERROR;
}


const ngx_http_submission_input_t  ngx_http_submission_messages_input = {
    .args = ngx_http_submission_messages_args,
    .init = ngx_http_submission_messages_init,
    .take = ngx_http_submission_messages_take
};


ngx_int_t
ngx_http_submission_messages_reply(ngx_http_request_t *r, const void *data)
{
    const sm_messages_row_t  *row = data;

    sm_out_t  out;
    sm_str_t  id;

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{\"messages\":[");
    ngx_http_submission_webhooks_list(r, &out, row->events, row->n);

    if (row->more) {
        id = row->events[row->n - 1].id;
        id.data++;
        id.len--;

        sm_out_c(&out, "],\"next\":\"");
        sm_cursor_kind_out(&out, NGX_HTTP_SUBMISSION_WEBHOOKS_CURSOR,
                           row->events[row->n - 1].created_at, id);
        sm_out_c(&out, "\"}\n");

    } else {
        sm_out_c(&out, "],\"next\":null}\n");
    }

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
