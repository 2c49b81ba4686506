
/*
 * POST /v1/intents.
 *
 * A submission that is made again may find its own row, of a commit whose
 * answer was lost.  It is a replay only if the intent was there before the
 * request was.
 */

#include "ngx_http_submission_intake.h"


static ngx_int_t ngx_http_submission_submit_body(ngx_http_request_t *r,
    sm_str_t body);


/* application/json and application/<any>+json, with any parameters */

static ngx_uint_t
ngx_http_submission_submit_json(ngx_str_t *type)
{
    size_t  len;

    for (len = 0; len < type->len; len++) {
        if (type->data[len] == ';' || type->data[len] == ' ') {
            break;
        }
    }

    if (len < sizeof("application/") - 1 + 4
        || ngx_strncasecmp(type->data, (u_char *) "application/", 12) != 0
        || ngx_strncasecmp(type->data + len - 4, (u_char *) "json", 4) != 0)
    {
        return 0;
    }

    return len == 16 || type->data[len - 5] == '+';
}


/* reads a body that is JSON */

ngx_int_t
ngx_http_submission_submit_type(ngx_http_request_t *r,
    ngx_http_submission_body_pt handler)
{
    ngx_table_elt_t  *type;

    type = r->headers_in.content_type;

    if (type && !ngx_http_submission_submit_json(&type->value)) {
        return ngx_http_submission_reply_error(r,
                   NGX_HTTP_UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type",
                   "the body must be \"application/json\"", NULL);
    }

    return ngx_http_submission_body_read(r, handler);
}


ngx_int_t
ngx_http_submission_submit_parse(ngx_http_request_t *r)
{
    return ngx_http_submission_submit_type(r, ngx_http_submission_submit_body);
}


static ngx_int_t
ngx_http_submission_submit_body(ngx_http_request_t *r, sm_str_t body)
{
    ngx_int_t                      rc;
    sm_arena_t                     arena;
    sm_json_error_t                err;
    sm_submit_row_t               *row;
    sm_intent_request_t            req;
    ngx_http_submission_ctx_t     *ctx;
    ngx_http_submission_target_t  *target;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    ngx_memzero(&arena, sizeof(sm_arena_t));

    if (sm_intent_request_parse(&arena, body, &req, &err) != 0) {

        if (err.no_memory) {
            rc = NGX_HTTP_INTERNAL_SERVER_ERROR;
            goto done;
        }

        rc = ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                             "invalid_request", err.message,
                                             err.key);
        goto done;
    }

    target = ngx_http_submission_target(ctx->manager->conf, req.target);

    if (target == NULL) {
        rc = ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                       "invalid_request",
                                       "\"" SM_FIELD_TARGET "\" names no "
                                       "target of this manager",
                                       SM_FIELD_TARGET);
        goto done;
    }

    row = ctx->row;

    row->id = req.id;
    row->contract = &target->contract;
    row->payload = req.payload;

    rc = ngx_http_submission_api_enter(r);

done:

    sm_arena_free(&arena);

    return rc;
}


ngx_uint_t
ngx_http_submission_submit_own(void *data, sm_str_t **strings)
{
    sm_submit_row_t  *row = data;

    strings[0] = &row->id;
    strings[1] = &row->payload;

    return 2;
}


static int
ngx_http_submission_submit_take(void *data, sm_call_t *call,
    sm_submit_row_t **rows, size_t *n)
{
    ngx_http_submission_batch_t  *batch = data;

    if (ngx_http_submission_batch_rows(batch) != 0) {
        return -1;
    }

    *rows = batch->rows;
    *n = batch->n;

    return 0;
}


/*
 * A retried submission whose intent was created after its request came has
 * created it itself, in a call whose answer was lost; or somebody else has
 * posted the same at the same time.  Only the store's clock is used.
 */

static void
ngx_http_submission_submit_ours(ngx_http_submission_batch_t *batch)
{
    int64_t                      age;
    ngx_uint_t                   i;
    ngx_msec_t                   now;
    ngx_queue_t                 *q;
    sm_submit_row_t             *rows;
    ngx_http_submission_node_t  *node;

    now = ngx_http_submission_msec();
    rows = batch->rows;

    for (q = ngx_queue_head(&batch->nodes), i = 0;
         q != ngx_queue_sentinel(&batch->nodes);
         q = ngx_queue_next(q), i++)
    {
        node = ngx_queue_data(q, ngx_http_submission_node_t, queue);

        if (node->tries == 0 || rows[i].outcome != SM_SUBMIT_SAME) {
            continue;
        }

        age = (batch->task.call.now - rows[i].intent.created_at) / 1000;

        if (age <= (int64_t) (now - node->entered)) {
            rows[i].outcome = SM_SUBMIT_CREATED;
        }
    }
}


/* committed rows are counted even if their clients have gone */

void
ngx_http_submission_submit_run(ngx_http_submission_task_t *task)
{
    ngx_uint_t                    i, n[SM_SUBMIT_CONFLICT + 1];
    sm_submit_row_t              *rows;
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    batch->notices = task->manager->sh->notices.n;

    if (sm_store_intents_submit(&task->manager->store, &task->call,
                                ngx_http_submission_submit_take, task)
        != 0)
    {
        return;
    }

    ngx_http_submission_submit_ours(batch);

    ngx_memzero(n, sizeof(n));

    rows = batch->rows;

    for (i = 0; i < batch->n; i++) {
        n[rows[i].outcome]++;
    }

    ngx_http_submission_count(task->manager, NGX_HTTP_SUBMISSION_CNT_CREATED,
                              n[SM_SUBMIT_CREATED]);
    ngx_http_submission_count(task->manager, NGX_HTTP_SUBMISSION_CNT_REPLAYED,
                              n[SM_SUBMIT_SAME]);
    ngx_http_submission_count(task->manager,
                              NGX_HTTP_SUBMISSION_CNT_CONFLICTED,
                              n[SM_SUBMIT_CONFLICT]);
}


static ngx_int_t
ngx_http_submission_submit_conflict(ngx_http_request_t *r,
    const sm_submit_row_t *row)
{
    size_t    size;
    sm_out_t  out;

    size = NGX_HTTP_SUBMISSION_REPLY_ERROR_SIZE
           + sm_json_str_size(row->intent.target.len)
           + sm_json_str_size(row->contract->target.len);

    if (ngx_http_submission_reply_out(r, &out, size) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_submission_reply_error_out(&out, "idempotency_conflict",
                 sm_str_eq(row->intent.target, row->contract->target)
                 ? "the intent exists with another payload"
                 : "the intent exists with another target");

    sm_out_c(&out, "\"existingTarget\":");
    sm_json_out_str(&out, row->intent.target);
    sm_out_c(&out, ",\"incomingTarget\":");
    sm_json_out_str(&out, row->contract->target);
    sm_out_c(&out, "}}}\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_CONFLICT, &out);
}


ngx_int_t
ngx_http_submission_submit_reply(ngx_http_request_t *r, const void *data)
{
    const sm_submit_row_t  *row = data;

    switch (row->outcome) {

    case SM_SUBMIT_SAME:

        if (ngx_http_submission_reply_header(r, "Idempotent-Replayed", "true")
            != NGX_OK)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        /* fall through */

    case SM_SUBMIT_CREATED:
        return ngx_http_submission_reply_intent(r, &row->intent);

    case SM_SUBMIT_CONFLICT:
        return ngx_http_submission_submit_conflict(r, row);

    default: /* SM_SUBMIT_FAILED */
        return ngx_http_submission_reply_error(r,
                   NGX_HTTP_INTERNAL_SERVER_ERROR, "internal_error",
                   "the store refused the intent", NULL);
    }
}
