
/*
 * POST /v1/intents/{id}/replay.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"


enum {
    NGX_HTTP_SUBMISSION_REPLAY_ID = 0,
    NGX_HTTP_SUBMISSION_REPLAY_CONTRACT,
    NGX_HTTP_SUBMISSION_REPLAY_FIELDS
};

static const sm_json_field_t  ngx_http_submission_replay_fields[] = {
    { SM_FIELD_ID, SM_JSON_STRING, 0 },
    { "contract", SM_JSON_STRING, 0 },
    { NULL, 0, 0 }
};


/* NULL, or what is wrong, in "err" */

static ngx_int_t
ngx_http_submission_replay_fill(sm_arena_t *arena, sm_str_t body,
    sm_replay_row_t *row, sm_json_error_t *err)
{
    sm_str_t          original = sm_str("original");
    const char       *fault;
    sm_json_value_t   v[NGX_HTTP_SUBMISSION_REPLAY_FIELDS];

    if (body.len == 0) {
        return NGX_OK;
    }

    if (sm_json_object(arena, body, ngx_http_submission_replay_fields, v, err)
        != 0)
    {
        return NGX_DECLINED;
    }

    err->no_memory = 0;

    if (v[NGX_HTTP_SUBMISSION_REPLAY_CONTRACT].type) {

        if (!sm_str_eq(v[NGX_HTTP_SUBMISSION_REPLAY_CONTRACT].text, original))
        {
            err->key = "contract";
            (void) snprintf(err->message, sizeof(err->message),
                            "\"contract\" must be \"original\", or not be "
                            "there");
            return NGX_DECLINED;
        }

        row->original = 1;
    }

    if (v[NGX_HTTP_SUBMISSION_REPLAY_ID].type) {
        row->new_id = sm_trim(v[NGX_HTTP_SUBMISSION_REPLAY_ID].text);

        fault = sm_id_check(row->new_id);

        if (fault == NULL && sm_str_eq(row->new_id, row->id)) {
            fault = "must not be the id of the intent that is replayed";
        }

        if (fault) {
            err->key = SM_FIELD_ID;
            (void) snprintf(err->message, sizeof(err->message), "\"%s\" %s",
                            err->key, fault);
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_submission_replay_body(ngx_http_request_t *r, sm_str_t body)
{
    ngx_int_t                   rc;
    sm_arena_t                  arena;
    sm_json_error_t             err;
    sm_replay_row_t            *row;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    row = ctx->row;

    rc = ngx_http_submission_api_id(r, &row->id);
    if (rc != NGX_DECLINED) {
        return rc;
    }

    ngx_memzero(&arena, sizeof(sm_arena_t));

    if (ngx_http_submission_replay_fill(&arena, body, row, &err) != NGX_OK) {
        rc = ngx_http_submission_reply_invalid(r, &err);
        goto done;
    }

    if (ngx_http_submission_access_actor(r, &row->actor) != NGX_OK
        || ngx_http_submission_trace_read(r, &arena, &row->trace) != NGX_OK)
    {
        rc = NGX_HTTP_INTERNAL_SERVER_ERROR;
        goto done;
    }

    row->contract = ngx_http_submission_target_contract_thread;
    row->data = ctx->manager->conf;

    rc = ngx_http_submission_api_enter(r);

done:

    sm_arena_free(&arena);

    return rc;
}


ngx_uint_t
ngx_http_submission_replay_left(const void *data)
{
    const sm_replay_row_t  *row = data;

    return row->outcome == SM_REPLAY_LEFT;
}


ngx_int_t
ngx_http_submission_replay_reply(ngx_http_request_t *r, const void *data)
{
    const sm_replay_row_t  *row = data;

    switch (row->outcome) {

    case SM_REPLAY_SAME:

        if (ngx_http_submission_reply_header(r, "Idempotent-Replayed", "true")
            != NGX_OK)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        /* fall through */

    case SM_REPLAY_CREATED:
        return ngx_http_submission_reply_intent(r, &row->intent);

    case SM_REPLAY_CONFLICT:
        return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
                   "idempotency_conflict", "another intent has the id of the "
                   "replay", SM_FIELD_ID);

    case SM_REPLAY_RESERVED:
        return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
                   "reserved_id", NGX_HTTP_SUBMISSION_REPLY_RESERVED,
                   SM_FIELD_ID);

    case SM_REPLAY_NOT_TERMINAL:
        return ngx_http_submission_reply_status(r, "not_terminal",
                   "the intent has not ended", row->status);

    case SM_REPLAY_STRIPPED:
        return ngx_http_submission_reply_status(r, "payload_stripped",
                   "the payload of the intent is not kept any more",
                   row->status);

    case SM_REPLAY_NO_TARGET:
        return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
                   "unknown_target", "the target of the intent is not "
                   "configured any more: \"contract\":\"original\" replays it "
                   "as it was", "contract");

    case SM_REPLAY_TOO_LONG:
        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                   "invalid_request", "\"" SM_FIELD_ID "\" is needed: the id "
                   "that the replay would have is longer than 200 characters",
                   SM_FIELD_ID);

    default: /* SM_REPLAY_NOT_FOUND */
        return ngx_http_submission_reply_not_found(r);
    }
}
