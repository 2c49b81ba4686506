
/*
 * GET of an intent, of its history, and of the cluster.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"
#include "ngx_http_submission_status.h"


/* A GET waits for the end of the intent unless it says something else. */

static void
ngx_http_submission_get_init(ngx_http_submission_ctx_t *ctx)
{
    ctx->until = NGX_HTTP_SUBMISSION_UNTIL_TERMINAL;
}


const ngx_http_submission_input_t  ngx_http_submission_get_input = {
    .args = ngx_http_submission_wait_args,
    .init = ngx_http_submission_get_init,
    .take = ngx_http_submission_api_take_id
};


ngx_int_t
ngx_http_submission_get_reply(ngx_http_request_t *r, const void *data)
{
    const sm_get_row_t  *row = data;

    return row->found ? ngx_http_submission_reply_intent(r, &row->intent, 0)
                      : ngx_http_submission_reply_not_found(r);
}


sm_intent_t *
ngx_http_submission_get_intent(void *data)
{
    sm_get_row_t  *row = data;

    return row->found ? &row->intent : NULL;
}


void
ngx_http_submission_get_arrived(void *data)
{
    sm_get_row_t  *row = data;

    row->found = 1;
}


/* A page of a history ends with an attempt, whose number is its "next". */

static ngx_int_t
ngx_http_submission_history_after(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    int64_t  *before = field;

    return sm_parse_uint(value, INT64_MAX, before) != 0 || *before == 0
           ? NGX_DECLINED : NGX_OK;
}


static const ngx_http_submission_arg_t  ngx_http_submission_history_args[] = {

    { "limit", ngx_http_submission_arg_limit,
      offsetof(sm_history_row_t, limit),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_LIMIT },

    { "after", ngx_http_submission_history_after,
      offsetof(sm_history_row_t, before),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_NEXT },

    { NULL, NULL, 0, NULL }
};


const ngx_http_submission_input_t  ngx_http_submission_history_input = {
    .args = ngx_http_submission_history_args,
    .take = ngx_http_submission_api_take_id
};


/*
 * Gateways often answer with what was sent to them, so a client that may not
 * see payloads does not see answers, either.
 */

ngx_int_t
ngx_http_submission_history_reply(ngx_http_request_t *r, const void *data)
{
    const sm_history_row_t  *row = data;

    size_t        i;
    sm_out_t      out;
    ngx_uint_t    answers;
    sm_attempt_t  attempt;

    if (!row->found) {
        return ngx_http_submission_reply_not_found(r);
    }

    answers = ngx_http_submission_access_payloads(r);

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{\"intent\":");
    sm_intent_out(&out, &row->intent);
    sm_out_c(&out, ",\"attempts\":[");

    for (i = 0; i < row->n; i++) {
        attempt = row->attempts[i];

        if (!answers) {
            attempt.answer.len = 0;
        }

        sm_out_c(&out, i ? "," : "");
        sm_attempt_out(&out, &attempt);
    }

    sm_out_c(&out, "],");

    if (row->events.n) {
        ngx_http_submission_webhooks_out(r, &out, &row->events);
        sm_out_c(&out, ",");
    }

    if (row->more) {
        sm_out_c(&out, "\"next\":\"");
        sm_out_int(&out, row->attempts[row->n - 1].number);
        sm_out_c(&out, "\"}\n");

    } else {
        sm_out_c(&out, "\"next\":null}\n");
    }

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


/* The path is all that there is to a request for the cluster. */

const ngx_http_submission_input_t  ngx_http_submission_cluster_input = {
    .take = NULL
};


ngx_int_t
ngx_http_submission_cluster_reply(ngx_http_request_t *r, const void *data)
{
    const sm_cluster_t  *cluster = data;

    sm_beats_t                  due;
    sm_out_t                    out;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    ngx_http_submission_out(&out, r->pool);
    ngx_http_submission_board_beats(ctx->manager->conf, &due);

    sm_cluster_out(&out, cluster,
                   ngx_http_submission_str(&ctx->manager->holder_id),
                   ctx->manager->conf->config.text, &due);
    sm_out_c(&out, "\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
