
/*
 * GET /v1/intents/{id}/payload: the bytes as they were sent.
 */

#include "ngx_http_submission_intake.h"


/* a payload may be long, and how long is not known: few go into one call */

#define NGX_HTTP_SUBMISSION_PAYLOAD_WEIGHT  (1024 * 1024)


ngx_int_t
ngx_http_submission_payload_parse(ngx_http_request_t *r)
{
    sm_payload_row_t           *row;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    row = ctx->row;

    return ngx_http_submission_api_read_id(r, &row->id);
}


ngx_uint_t
ngx_http_submission_payload_own(void *data, sm_str_t **strings)
{
    sm_payload_row_t  *row = data;

    strings[0] = &row->id;

    return 1;
}


size_t
ngx_http_submission_payload_weight(const void *data)
{
    return NGX_HTTP_SUBMISSION_PAYLOAD_WEIGHT;
}


int
ngx_http_submission_payload_call(sm_store_t *store, sm_call_t *call,
    void *rows, size_t n)
{
    return sm_store_intent_payload(store, call, rows, n);
}


ngx_int_t
ngx_http_submission_payload_reply(ngx_http_request_t *r, const void *data)
{
    const sm_payload_row_t  *row = data;

    sm_out_t  out;

    if (!row->found) {
        return ngx_http_submission_reply_not_found(r);
    }

    if (row->stripped) {
        return ngx_http_submission_reply_status(r, "payload_stripped",
                   "the payload of the intent is not kept any more",
                   row->status);
    }

    if (row->payload.len == 0) {
        return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_FOUND,
                   "no_payload", "the intent was sent without a payload",
                   SM_FIELD_PAYLOAD);
    }

    if (ngx_http_submission_reply_out(r, &out, row->payload.len) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sm_out_str(&out, row->payload);

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
