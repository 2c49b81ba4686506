
/*
 * What is read: GET of an intent, of its history, of a list of intents, and of
 * the cluster.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"

#include "sm_cursor.h"
#include "sm_search.h"


#define NGX_HTTP_SUBMISSION_READ_LIMIT  50


/* an intent; who waits for it waits for its end, if nothing else is said */

void
ngx_http_submission_get_init(ngx_http_submission_ctx_t *ctx)
{
    ctx->until = NGX_HTTP_SUBMISSION_UNTIL_TERMINAL;
}


ngx_int_t
ngx_http_submission_get_reply(ngx_http_request_t *r, const void *data)
{
    const sm_get_row_t  *row = data;

    return row->found ? ngx_http_submission_reply_intent(r, &row->intent)
                      : ngx_http_submission_reply_not_found(r);
}


sm_intent_t *
ngx_http_submission_get_intent(void *data)
{
    sm_get_row_t  *row = data;

    return row->found ? &row->intent : NULL;
}


/* a history */

void
ngx_http_submission_history_init(ngx_http_submission_ctx_t *ctx)
{
    sm_history_row_t  *row = ctx->row;

    row->limit = NGX_HTTP_SUBMISSION_READ_LIMIT;
}


/*
 * Gateways answer with what was sent to them: whoever may not read payloads
 * does not read that, either.  "next": the number of the last attempt.
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


/* a list */

void
ngx_http_submission_list_init(ngx_http_submission_ctx_t *ctx)
{
    sm_list_row_t  *row = ctx->row;

    row->limit = NGX_HTTP_SUBMISSION_READ_LIMIT;
}


/* what the arguments are together */

ngx_int_t
ngx_http_submission_list_parse(ngx_http_request_t *r)
{
    const char                 *message, *field;
    sm_list_row_t              *row;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    row = ctx->row;

    message = sm_search_check(row, &field);

    if (row->prefix.data && message == NULL) {
        row->by = SM_LIST_ID;
        row->asc = ctx->order != NGX_HTTP_SUBMISSION_ORDER_DESC;

    } else {
        row->asc = ctx->order == NGX_HTTP_SUBMISSION_ORDER_ASC;
    }

    if (message == NULL && row->after_id.data
        && ctx->cursor != sm_search_kind(row))
    {
        message = "\"after\" must be the \"next\" of an earlier page of a "
                  "list in the same order";
        field = "after";
    }

    if (message) {
        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                               "invalid_request", message,
                                               field);
    }

    return ngx_http_submission_api_read(r);
}


/* "next": the cursor after the last intent */

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


/* the cluster */

ngx_int_t
ngx_http_submission_cluster_reply(ngx_http_request_t *r, const void *data)
{
    const sm_cluster_t  *cluster = data;

    sm_out_t                    out;
    sm_str_t                    self;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    self.data = (char *) ctx->manager->holder_id.data;
    self.len = ctx->manager->holder_id.len;

    ngx_http_submission_out(&out, r->pool);

    sm_cluster_out(&out, cluster, self);
    sm_out_c(&out, "\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
