
/*
 * POST /v1/intents/{id}/replay.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"


enum {
    NGX_HTTP_SUBMISSION_REPLAY_ID = 0,
    NGX_HTTP_SUBMISSION_REPLAY_CONTRACT,
    NGX_HTTP_SUBMISSION_REPLAY_AGAIN,
    NGX_HTTP_SUBMISSION_REPLAY_FIELDS
};

static const sm_json_field_t  ngx_http_submission_replay_fields[] = {
    { SM_FIELD_ID, SM_JSON_STRING, 0 },
    { "contract", SM_JSON_STRING, 0 },
    { "again", SM_JSON_BOOL, 0 },
    { NULL, 0, 0 }
};


static ngx_int_t
ngx_http_submission_replay_fill(sm_replay_row_t *row,
    const sm_json_value_t *v, sm_json_error_t *err)
{
    const char             *why;
    const sm_json_value_t  *id, *contract;

    id = &v[NGX_HTTP_SUBMISSION_REPLAY_ID];
    contract = &v[NGX_HTTP_SUBMISSION_REPLAY_CONTRACT];

    row->again = sm_json_is_true(&v[NGX_HTTP_SUBMISSION_REPLAY_AGAIN]);

    if (contract->type) {
        row->original = sm_str_eq(contract->text, sm_str_c("original"));

        if (!row->original) {
            return ngx_http_submission_api_check(err, NULL, "contract",
                       "must be \"original\", or not be there");
        }
    }

    if (id->type == 0) {
        return ngx_http_submission_api_check(err, NULL, SM_FIELD_ID,
                   row->again ? "is needed with \"again\": a request that is "
                                "repeated must not make another replay" : NULL);
    }

    row->new_id = sm_trim(id->text);

    why = sm_id_check(row->new_id);

    if (why == NULL && sm_str_eq(row->new_id, row->id)) {
        why = "must not be the id of the intent that is replayed";
    }

    return ngx_http_submission_api_check(err, NULL, SM_FIELD_ID, why);
}


static ngx_int_t
ngx_http_submission_replay_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_replay_row_t  *row = ctx->row;

    sm_json_value_t  v[NGX_HTTP_SUBMISSION_REPLAY_FIELDS];

    if (ngx_http_submission_api_id(ctx, &row->id, err) != NGX_OK
        || ngx_http_submission_body_object(arena, body,
                                           ngx_http_submission_replay_fields,
                                           v, err)
           != NGX_OK
        || ngx_http_submission_replay_fill(row, v, err) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    row->contract = ngx_http_submission_target_contract_thread;
    row->data = ctx->manager->conf;

    if (ngx_http_submission_access_actor(ctx->request, &row->actor) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_submission_trace_read(ctx->request, arena, &row->trace);
}


const ngx_http_submission_input_t  ngx_http_submission_replay_input = {
    .take = ngx_http_submission_replay_take
};


ngx_uint_t
ngx_http_submission_replay_left(const void *data)
{
    const sm_replay_row_t  *row = data;

    return row->outcome == SM_REPLAY_LEFT;
}


static ngx_int_t
ngx_http_submission_replay_no_target(ngx_http_request_t *r,
    const sm_replay_row_t *row)
{
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    if (ngx_http_submission_board_perhaps(ctx->manager->conf, row->target)) {
        return ngx_http_submission_reply_not_yet(r, "target_not_here_yet",
                   "another instance has the target of the intent, and this "
                   "one does not have it yet", NULL);
    }

    return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
               "unknown_target", "the target of the intent is not configured "
               "any more: \"contract\":\"original\" replays it as it was",
               "contract");
}


ngx_int_t
ngx_http_submission_replay_reply(ngx_http_request_t *r, const void *data)
{
    const sm_replay_row_t  *row = data;

    switch (row->outcome) {

    case SM_REPLAY_CREATED:
    case SM_REPLAY_SAME:
        return ngx_http_submission_reply_intent(r, &row->intent,
                                              row->outcome == SM_REPLAY_SAME);

    case SM_REPLAY_CONFLICT:
        return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
                   "idempotency_conflict", "another intent has the id of the "
                   "replay", SM_FIELD_ID);

    case SM_REPLAY_RESERVED:
        return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
                   "reserved_id", NGX_HTTP_SUBMISSION_REPLY_RESERVED,
                   SM_FIELD_ID);

    case SM_REPLAY_ALREADY:
        return ngx_http_submission_reply_already(r, &row->intent);

    case SM_REPLAY_NOT_TERMINAL:
        return ngx_http_submission_reply_status(r, "not_terminal",
                   "the intent has not ended", row->status);

    case SM_REPLAY_STRIPPED:
        return ngx_http_submission_reply_status(r, "payload_stripped",
                   "the payload of the intent is not kept any more",
                   row->status);

    case SM_REPLAY_NO_TARGET:
        return ngx_http_submission_replay_no_target(r, row);

    case SM_REPLAY_TOO_LONG:
        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                   "invalid_request", "\"" SM_FIELD_ID "\" is needed: the id "
                   "that the replay would have is longer than 200 characters",
                   SM_FIELD_ID);

    default: /* SM_REPLAY_NOT_FOUND */
        return ngx_http_submission_reply_not_found(r);
    }
}
