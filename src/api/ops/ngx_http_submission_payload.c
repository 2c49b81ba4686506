
/*
 * GET /v1/intents/{id}/payload: the bytes as they were sent.
 */

#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"


const ngx_http_submission_input_t  ngx_http_submission_payload_input = {
    .take = ngx_http_submission_api_take_id
};


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

    ngx_http_submission_out(&out, r->pool);

    sm_out_str(&out, row->payload);

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
