
/*
 * POST /v1/targets/{target}/pause and /resume.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"


#define NGX_HTTP_SUBMISSION_PAUSE_REASON  "reason"


static const sm_json_field_t  ngx_http_submission_pause_fields[] = {
    { NGX_HTTP_SUBMISSION_PAUSE_REASON, SM_JSON_STRING, 0 },
    { NULL, 0, 0 }
};


static ngx_int_t
ngx_http_submission_pause_reason(ngx_pool_t *pool, sm_str_t text,
    sm_str_t *reason, sm_json_error_t *err)
{
    sm_str_t  clean;

    if (sm_utf8_length(text) > SM_PAUSE_REASON_MAX) {
        err->key = NGX_HTTP_SUBMISSION_PAUSE_REASON;
        (void) snprintf(err->message, sizeof(err->message),
                        "\"" NGX_HTTP_SUBMISSION_PAUSE_REASON "\" must not be "
                        "longer than %d characters", SM_PAUSE_REASON_MAX);
        return NGX_DECLINED;
    }

    if (ngx_http_submission_api_clean(pool, text, SM_PAUSE_REASON_MAX, &clean)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (clean.len) {
        *reason = clean;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_pause_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_target_set_t  *row = ctx->row;

    ngx_int_t        rc;
    sm_json_value_t  reason;

    row->pause = ctx->route->kind;
    row->target = ctx->id;
    row->known = ngx_http_submission_target(ctx->manager->conf, row->target)
                 != NULL
                 || ngx_http_submission_board_elsewhere(ctx->manager->conf,
                                                        row->target);

    if (ngx_http_submission_api_check(err, "the target", "target",
                                      sm_webhook_target_check(row->target))
        != NGX_OK
        || ngx_http_submission_body_object(arena, body,
                                           ngx_http_submission_pause_fields,
                                           &reason, err)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (reason.type && reason.text.len) {
        rc = ngx_http_submission_pause_reason(ctx->request->pool, reason.text,
                                              &row->reason, err);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return ngx_http_submission_access_actor(ctx->request, &row->actor);
}


const ngx_http_submission_input_t  ngx_http_submission_pause_input = {
    .take = ngx_http_submission_pause_take
};


ngx_int_t
ngx_http_submission_pause_reply(ngx_http_request_t *r, const void *data)
{
    const sm_target_set_t *row = data;

    sm_out_t  out;

    if (row->outcome == SM_TARGET_SET_UNKNOWN) {
        return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_FOUND,
                   "unknown_target", "there is no such target: it is not "
                   "configured, and no intent of it is pending", NULL);
    }

    if (row->outcome == SM_TARGET_SET_SAME
        && ngx_http_submission_reply_replayed(r) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_submission_out(&out, r->pool);

    sm_target_set_out(&out, row);
    sm_out_c(&out, "\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
