
/*
 * GET /v1/audit: who did what, newest first.
 */

#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"

#include "sm_cursor.h"


#define NGX_HTTP_SUBMISSION_AUDIT_NAME  32       /* bytes of an action */

#define NGX_HTTP_SUBMISSION_AUDIT_TIME                                        \
    "a time such as 2026-02-02T12:00:00Z"


static ngx_int_t
ngx_http_submission_audit_action(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    sm_str_t  *action = field;

    size_t  i;

    for (i = 0; i < value.len; i++) {
        if ((value.data[i] < 'a' || value.data[i] > 'z')
            && value.data[i] != '_')
        {
            return NGX_DECLINED;
        }
    }

    *action = value;

    return value.len && value.len <= NGX_HTTP_SUBMISSION_AUDIT_NAME
           ? NGX_OK : NGX_DECLINED;
}


/* A cursor is the time and the number of the last entry. */

static ngx_int_t
ngx_http_submission_audit_after(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    sm_audit_row_t  *row = ctx->row;

    char      *buf;
    sm_str_t   seq;

    buf = ngx_pnalloc(ctx->request->pool, value.len + 1);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    if (sm_cursor_parse(value, buf, &row->after_at, &seq) != 0
        || sm_parse_uint(seq, INT64_MAX, &row->after_seq) != 0
        || row->after_seq == 0)
    {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static const ngx_http_submission_arg_t  ngx_http_submission_audit_args[] = {

    { "from", ngx_http_submission_arg_time,
      offsetof(sm_audit_row_t, from), NGX_HTTP_SUBMISSION_AUDIT_TIME },

    { "to", ngx_http_submission_arg_time,
      offsetof(sm_audit_row_t, to), NGX_HTTP_SUBMISSION_AUDIT_TIME },

    { "actor", ngx_http_submission_arg_text,
      offsetof(sm_audit_row_t, actor), "the name of somebody" },

    { "action", ngx_http_submission_audit_action,
      offsetof(sm_audit_row_t, action),
      "a word such as \"cancel\" or \"replay\"" },

    { "limit", ngx_http_submission_arg_limit,
      offsetof(sm_audit_row_t, limit),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_LIMIT },

    { "after", ngx_http_submission_audit_after, 0,
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_NEXT },

    { NULL, NULL, 0, NULL }
};


static ngx_int_t
ngx_http_submission_audit_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_audit_row_t  *row = ctx->row;

    return ngx_http_submission_api_check(err, NULL, "from",
               row->from && row->to && row->from >= row->to
               ? "must be before \"to\"" : NULL);
}


const ngx_http_submission_input_t  ngx_http_submission_audit_input = {
    .args = ngx_http_submission_audit_args,
    .take = ngx_http_submission_audit_take
};


ngx_int_t
ngx_http_submission_audit_reply(ngx_http_request_t *r, const void *data)
{
    const sm_audit_row_t  *row = data;

    char               seq[NGX_INT64_LEN];
    size_t             i;
    sm_out_t           out, number;
    sm_str_t           s;
    const sm_audit_t  *last;

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{\"entries\":[");

    for (i = 0; i < row->n; i++) {
        sm_out_c(&out, i ? "," : "");
        sm_audit_out(&out, &row->entries[i]);
    }

    if (row->more) {
        last = &row->entries[row->n - 1];

        sm_out_init(&number, seq, sizeof(seq));
        sm_out_int(&number, last->seq);

        s.data = number.start;
        s.len = number.last - number.start;

        sm_out_c(&out, "],\"next\":\"");
        sm_cursor_out(&out, last->at, s);
        sm_out_c(&out, "\"}\n");

    } else {
        sm_out_c(&out, "],\"next\":null}\n");
    }

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
