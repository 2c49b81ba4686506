
/*
 * GET /v1/failures: what has failed lately, in groups.
 */

#include "ngx_http_submission_intake.h"


static ngx_int_t ngx_http_submission_failures_since(
    ngx_http_submission_ctx_t *ctx, sm_str_t value);
static ngx_int_t ngx_http_submission_failures_target(
    ngx_http_submission_ctx_t *ctx, sm_str_t value);


const ngx_http_submission_arg_t  ngx_http_submission_failures_args[] = {

    { "since", ngx_http_submission_failures_since,
      "\"since\" must be a time of RFC 3339, such as "
      "\"2026-02-02T12:00:00Z\"; a \"+\" is \"%2B\" here" },

    { "target", ngx_http_submission_failures_target,
      "\"target\" must be the name of a target" },

    { NULL, NULL, NULL }
};


static ngx_int_t
ngx_http_submission_failures_since(ngx_http_submission_ctx_t *ctx,
    sm_str_t value)
{
    sm_failures_row_t  *row = ctx->row;

    return sm_time_parse(value, &row->since) ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_http_submission_failures_target(ngx_http_submission_ctx_t *ctx,
    sm_str_t value)
{
    sm_failures_row_t  *row = ctx->row;

    row->target = value;

    return sm_target_check(value) ? NGX_DECLINED : NGX_OK;
}


ngx_uint_t
ngx_http_submission_failures_own(void *data, sm_str_t **strings)
{
    sm_failures_row_t  *row = data;

    strings[0] = &row->target;

    return 1;
}


size_t
ngx_http_submission_failures_weight(const void *data)
{
    return SM_FAILURES_MAX;
}


/* those who ask for the same at the same time are answered by one look */

int
ngx_http_submission_failures_call(sm_store_t *store, sm_call_t *call,
    void *data, size_t n)
{
    sm_failures_row_t  *rows = data;

    size_t  i, k;

    for (i = 0; i < n; i++) {

        for (k = 0; k < i; k++) {
            if (rows[k].since == rows[i].since
                && sm_str_eq(rows[k].target, rows[i].target))
            {
                break;
            }
        }

        if (k < i) {
            rows[i] = rows[k];
            continue;
        }

        if (sm_store_failures_get(store, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}


ngx_int_t
ngx_http_submission_failures_reply(ngx_http_request_t *r, const void *data)
{
    const sm_failures_row_t  *row = data;

    sm_out_t  out;

    if (ngx_http_submission_reply_out(r, &out, sm_failures_size(row) + 1)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sm_failures_out(&out, row);
    sm_out_c(&out, "\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
