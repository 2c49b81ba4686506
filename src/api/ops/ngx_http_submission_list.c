
/*
 * GET /v1/intents: a list, by what the arguments say.
 */

#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"

#include "sm_cursor.h"
#include "sm_search.h"


#define NGX_HTTP_SUBMISSION_LIST_ASC   1
#define NGX_HTTP_SUBMISSION_LIST_DESC  2


static ngx_int_t
ngx_http_submission_list_status(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    row->status = sm_status_by_name(value);

    return row->status == SM_STATUS_NONE ? NGX_DECLINED : NGX_OK;
}


/* A cursor tells of which kind of list it is. */

static ngx_int_t
ngx_http_submission_list_after(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    char  *buf;

    buf = ngx_pnalloc(ctx->request->pool, value.len + 1);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    return sm_cursor_kind_parse(value, buf, &ctx->cursor, &row->after_at,
                                &row->after_id)
           == 0 ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_submission_list_by(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    if (sm_str_eq(value, sm_str_c("completed"))) {
        row->by = SM_LIST_COMPLETED;
        return NGX_OK;
    }

    return sm_str_eq(value, sm_str_c("created")) ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_submission_list_prefix(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    char  *buf;

    buf = ngx_pnalloc(ctx->request->pool, SM_SEARCH_PREFIX(value.len));
    if (buf == NULL) {
        return NGX_ERROR;
    }

    return sm_search_prefix(row, value, buf) ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_http_submission_list_order(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    if (sm_str_eq(value, sm_str_c("asc"))) {
        ctx->order = NGX_HTTP_SUBMISSION_LIST_ASC;

    } else if (sm_str_eq(value, sm_str_c("desc"))) {
        ctx->order = NGX_HTTP_SUBMISSION_LIST_DESC;
    }

    return ctx->order ? NGX_OK : NGX_DECLINED;
}


static const ngx_http_submission_arg_t  ngx_http_submission_list_args[] = {

    { "status", ngx_http_submission_list_status, 0,
      "\"pending\", \"accepted\", \"rejected\", \"exhausted\" or "
      "\"canceled\"" },

    { "target", ngx_http_submission_arg_target,
      offsetof(sm_list_row_t, target),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_TARGET },

    { "limit", ngx_http_submission_arg_limit,
      offsetof(sm_list_row_t, limit),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_LIMIT },

    { "after", ngx_http_submission_list_after, 0,
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_NEXT },

    { "reason", ngx_http_submission_arg_text,
      offsetof(sm_list_row_t, reason),
      "that of a rejection or of an exhaustion" },

    { "from", ngx_http_submission_arg_time,
      offsetof(sm_list_row_t, from),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_TIME },

    { "to", ngx_http_submission_arg_time,
      offsetof(sm_list_row_t, to),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_TIME },

    { "by", ngx_http_submission_list_by, 0,
      "\"created\" or \"completed\"" },

    { "idPrefix", ngx_http_submission_list_prefix, 0,
      "what ids begin with: up to 200 characters, none of them a control "
      "character, and no space at its beginning" },

    { "order", ngx_http_submission_list_order, 0,
      "\"asc\" or \"desc\"" },

    { NULL, NULL, 0, NULL }
};


/* Checks the arguments together, and settles the order. */

static ngx_int_t
ngx_http_submission_list_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_list_row_t  *row = ctx->row;

    const char  *message;

    message = sm_search_check(row, &err->key);

    if (message) {
        (void) snprintf(err->message, sizeof(err->message), "%s", message);
        return NGX_DECLINED;
    }

    if (row->prefix.data) {
        row->by = SM_LIST_ID;
        row->asc = ctx->order != NGX_HTTP_SUBMISSION_LIST_DESC;

    } else {
        row->asc = ctx->order == NGX_HTTP_SUBMISSION_LIST_ASC;
    }

    return ngx_http_submission_api_check(err, NULL, "after",
               row->after_id.data && ctx->cursor != sm_search_kind(row)
               ? "must be the \"next\" of an earlier page of a list in the "
                 "same order"
               : NULL);
}


const ngx_http_submission_input_t  ngx_http_submission_list_input = {
    .args = ngx_http_submission_list_args,
    .take = ngx_http_submission_list_take
};


/* The cursor after the last intent is the "next" of the answer. */

ngx_int_t
ngx_http_submission_list_reply(ngx_http_request_t *r, const void *data)
{
    const sm_list_row_t  *row = data;

    size_t    i;
    sm_out_t  out;

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{\"intents\":[");

    for (i = 0; i < row->n; i++) {
        sm_out_c(&out, i ? "," : "");
        sm_intent_out(&out, &row->intents[i]);
    }

    if (row->more) {
        sm_out_c(&out, "],\"next\":\"");
        sm_cursor_kind_out(&out, sm_search_kind(row), row->next_at,
                           row->next_id);
        sm_out_c(&out, "\"}\n");

    } else {
        sm_out_c(&out, "],\"next\":null}\n");
    }

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
