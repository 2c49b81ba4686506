
/*
 * What is read: GET of an intent, of its history, of a list of intents, and of
 * the cluster.
 */

#include "ngx_http_submission_intake.h"


#define NGX_HTTP_SUBMISSION_READ_LIMIT  50


/* an intent; who waits for it waits for its end, if nothing else is said */

void
ngx_http_submission_get_init(ngx_http_submission_ctx_t *ctx)
{
    ctx->until = NGX_HTTP_SUBMISSION_UNTIL_TERMINAL;
}


ngx_int_t
ngx_http_submission_get_parse(ngx_http_request_t *r)
{
    sm_get_row_t               *row;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    row = ctx->row;

    return ngx_http_submission_api_read_id(r, &row->id);
}


ngx_uint_t
ngx_http_submission_get_own(void *data, sm_str_t **strings)
{
    sm_get_row_t  *row = data;

    strings[0] = &row->id;

    return 1;
}


size_t
ngx_http_submission_get_weight(const void *data)
{
    return SM_INTENT_MAX;
}


int
ngx_http_submission_get_call(sm_store_t *store, sm_call_t *call, void *rows,
    size_t n)
{
    return sm_store_intents_get(store, call, rows, n);
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


ngx_int_t
ngx_http_submission_history_parse(ngx_http_request_t *r)
{
    sm_history_row_t           *row;
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    row = ctx->row;

    return ngx_http_submission_api_read_id(r, &row->id);
}


ngx_uint_t
ngx_http_submission_history_own(void *data, sm_str_t **strings)
{
    sm_history_row_t  *row = data;

    strings[0] = &row->id;

    return 1;
}


size_t
ngx_http_submission_history_weight(const void *data)
{
    const sm_history_row_t  *row = data;

    return SM_INTENT_MAX + row->limit * SM_ATTEMPT_MAX
           + SM_EVENTS_MAX * SM_EVENT_MAX;
}


int
ngx_http_submission_history_call(sm_store_t *store, sm_call_t *call,
    void *rows, size_t n)
{
    return sm_store_intent_history(store, call, rows, n);
}


/*
 * Gateways answer with what was sent to them: whoever may not read payloads
 * does not read that, either.  "next": the number of the last attempt.
 */

ngx_int_t
ngx_http_submission_history_reply(ngx_http_request_t *r, const void *data)
{
    const sm_history_row_t  *row = data;

    size_t        i, size;
    sm_out_t      out;
    ngx_uint_t    answers;
    sm_attempt_t  attempt;

    if (!row->found) {
        return ngx_http_submission_reply_not_found(r);
    }

    answers = ngx_http_submission_access_payloads(r);

    size = sizeof("{\"intent\":,\"attempts\":[],\"next\":\"\"}\n")
           + NGX_INT64_LEN + sm_intent_size(&row->intent)
           + ngx_http_submission_webhooks_size(&row->events);

    for (i = 0; i < row->n; i++) {
        size += sm_attempt_size(&row->attempts[i]) + 1;
    }

    if (ngx_http_submission_reply_out(r, &out, size) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

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


ngx_uint_t
ngx_http_submission_list_own(void *data, sm_str_t **strings)
{
    sm_list_row_t  *row = data;

    strings[0] = &row->target;
    strings[1] = &row->after_id;
    strings[2] = &row->reason;
    strings[3] = &row->prefix;
    strings[4] = &row->prefix_end;

    return 5;
}


size_t
ngx_http_submission_list_weight(const void *data)
{
    const sm_list_row_t  *row = data;

    return row->limit * SM_INTENT_MAX;
}


int
ngx_http_submission_list_call(sm_store_t *store, sm_call_t *call, void *rows,
    size_t n)
{
    return sm_store_intents_list(store, call, rows, n);
}


/* "next": the cursor after the last intent */

ngx_int_t
ngx_http_submission_list_reply(ngx_http_request_t *r, const void *data)
{
    const sm_list_row_t  *row = data;

    size_t    i, size;
    sm_out_t  out;

    size = sizeof("{\"intents\":[],\"next\":null}\n");

    if (row->more) {
        size += sm_cursor_size(row->next_id.len);
    }

    for (i = 0; i < row->n; i++) {
        size += sm_intent_size(&row->intents[i]) + 1;
    }

    if (ngx_http_submission_reply_out(r, &out, size) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

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


/* the cluster: one answer for all that ask */

int
ngx_http_submission_cluster_call(sm_store_t *store, sm_call_t *call,
    void *data, size_t n)
{
    sm_cluster_t  *rows = data;

    size_t  i;

    if (sm_store_cluster_get(store, call, &rows[0]) != 0) {
        return -1;
    }

    for (i = 1; i < n; i++) {
        rows[i] = rows[0];
    }

    return 0;
}


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

    if (ngx_http_submission_reply_out(r, &out,
                                      sm_cluster_size(cluster, self) + 1)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sm_cluster_out(&out, cluster, self);
    sm_out_c(&out, "\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
