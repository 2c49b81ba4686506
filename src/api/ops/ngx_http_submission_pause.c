
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


/* NGX_DECLINED: it is not good, and the error says why */

static ngx_int_t
ngx_http_submission_pause_reason(ngx_pool_t *pool, sm_arena_t *arena,
    sm_str_t body, sm_str_t *reason, sm_json_error_t *err)
{
    void             *buf;
    sm_out_t          out;
    sm_json_value_t   v;

    if (body.len == 0) {
        return NGX_OK;
    }

    if (sm_json_object(arena, body, ngx_http_submission_pause_fields, &v, err)
        != 0)
    {
        return err->no_memory ? NGX_ERROR : NGX_DECLINED;
    }

    if (!v.type || v.text.len == 0) {
        return NGX_OK;
    }

    if (sm_utf8_length(v.text) > SM_PAUSE_REASON_MAX) {
        err->key = NGX_HTTP_SUBMISSION_PAUSE_REASON;
        (void) snprintf(err->message, sizeof(err->message),
                        "\"" NGX_HTTP_SUBMISSION_PAUSE_REASON "\" must not be "
                        "longer than %d characters", SM_PAUSE_REASON_MAX);
        return NGX_DECLINED;
    }

    buf = ngx_pnalloc(pool, sm_clean_size(SM_PAUSE_REASON_MAX));
    if (buf == NULL) {
        return NGX_ERROR;
    }

    sm_out_init(&out, buf, sm_clean_size(SM_PAUSE_REASON_MAX));
    sm_out_clean(&out, v.text, SM_PAUSE_REASON_MAX);

    if (out.last != out.start) {
        reason->data = out.start;
        reason->len = out.last - out.start;
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_submission_pause_body(ngx_http_request_t *r, sm_str_t body)
{
    ngx_int_t                   rc;
    sm_arena_t                  arena;
    const char                 *why;
    sm_json_error_t             err;
    sm_target_set_t            *row;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    row = ctx->row;

    row->pause = ctx->route->kind;
    row->target = ctx->id;
    row->known = ngx_http_submission_target(ctx->manager->conf, row->target)
                 != NULL;

    why = sm_webhook_target_check(row->target);

    if (why) {
        (void) snprintf(err.message, sizeof(err.message), "the target %s",
                        why);

        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                               "invalid_request", err.message,
                                               "target");
    }

    ngx_memzero(&arena, sizeof(sm_arena_t));

    rc = ngx_http_submission_pause_reason(r->pool, &arena, body, &row->reason,
                                          &err);

    if (rc == NGX_OK) {
        rc = ngx_http_submission_access_actor(r, &row->actor);
    }

    switch (rc) {

    case NGX_OK:
        rc = ngx_http_submission_api_enter(r);
        break;

    case NGX_DECLINED:
        rc = ngx_http_submission_reply_invalid(r, &err);
        break;

    default: /* NGX_ERROR */
        rc = NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sm_arena_free(&arena);

    return rc;
}


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
        && ngx_http_submission_reply_header(r, "Idempotent-Replayed", "true")
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_submission_out(&out, r->pool);

    sm_target_set_out(&out, row);
    sm_out_c(&out, "\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
