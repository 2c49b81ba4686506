
/*
 * POST /v1/intents.
 *
 * A submission that is made again may find its own row, if the answer to the
 * commit was lost.  It is a duplicate only if the intent was there before the
 * request came.
 */

#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"
#include "ngx_http_submission_submit.h"
#include "ngx_http_submission_zone_signal.h"


/* The error shows so many characters of an unknown target. */

#define NGX_HTTP_SUBMISSION_SUBMIT_SHOWN  64


/* No other route takes many intents at once. */

static ngx_int_t
ngx_http_submission_submit_handler(ngx_http_request_t *r)
{
    ngx_table_elt_t  *type;

    type = r->headers_in.content_type;

    if (type && ngx_http_submission_bulk_type(&type->value)) {
        return ngx_http_submission_bulk_parse(r);
    }

    return ngx_http_submission_body_read(r, ngx_http_submission_api_take,
               NGX_HTTP_SUBMISSION_BODY_JSON " or \"application/x-ndjson\"");
}


/* Says that the target is not here, and whether to ask again. */

static ngx_int_t
ngx_http_submission_submit_unknown(ngx_http_submission_ctx_t *ctx,
    sm_str_t name, sm_json_error_t *err)
{
    sm_out_t    out;
    ngx_uint_t  elsewhere;

    elsewhere = ngx_http_submission_board_perhaps(ctx->manager->conf, name);

    err->code = elsewhere ? "target_not_here_yet" : "unknown_target";
    err->key = SM_FIELD_TARGET;
    err->no_memory = 0;

    sm_out_init(&out, err->message, sizeof(err->message) - 1);

    sm_out_c(&out, elsewhere
                   ? "\"" SM_FIELD_TARGET "\" names a target that another "
                     "instance has, and this one does not have yet: \""
                   : "\"" SM_FIELD_TARGET "\" names no target of this "
                     "manager: \"");
    sm_out_clean(&out, name, NGX_HTTP_SUBMISSION_SUBMIT_SHOWN);
    sm_out_c(&out, "\"");

    *out.last = '\0';

    return elsewhere ? NGX_AGAIN : NGX_DECLINED;
}


ngx_int_t
ngx_http_submission_submit_target(ngx_http_submission_ctx_t *ctx,
    sm_str_t name, ngx_http_submission_target_t **target,
    sm_json_error_t *err)
{
    *target = ngx_http_submission_target_client(ctx->manager->conf, name);

    return *target ? NGX_OK
                   : ngx_http_submission_submit_unknown(ctx, name, err);
}


ngx_int_t
ngx_http_submission_submit_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_submit_row_t  *row = ctx->row;

    ngx_int_t                      rc;
    sm_intent_request_t            req;
    ngx_http_submission_target_t  *target;

    if (sm_intent_request_parse(arena, body, &req, err) != 0) {
        return NGX_DECLINED;
    }

    rc = ngx_http_submission_submit_target(ctx, req.target, &target, err);

    if (rc != NGX_OK) {
        return rc;
    }

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ctx->request->connection->log, 0,
                   "submission: posted \"%*s\" target:\"%*s\" payload:%uz",
                   req.id.len, req.id.data, req.target.len, req.target.data,
                   req.payload.len);

    row->id = req.id;
    row->contract = &target->contract;
    row->payload = req.payload;
    row->posted = req.posted;

    return ngx_http_submission_trace_read(ctx->request, arena, &row->trace);
}


const ngx_http_submission_input_t  ngx_http_submission_submit_input = {
    .args = ngx_http_submission_wait_args,
    .take = ngx_http_submission_submit_take,
    .handler = ngx_http_submission_submit_handler
};


/* The store calls this when it can write; whatever waits by then goes along. */

static int
ngx_http_submission_submit_rows_thread(void *data, sm_call_t *call,
    sm_submit_row_t **rows, size_t *n)
{
    ngx_http_submission_batch_t  *batch = data;

    if (ngx_http_submission_batch_rows_thread(batch) != 0) {
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
ngx_http_submission_submit_ours_thread(ngx_http_submission_batch_t *batch)
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


/* Committed rows are counted even if their clients have gone. */

void
ngx_http_submission_submit_thread(ngx_http_submission_task_t *task)
{
    ngx_uint_t                    i, n[SM_SUBMIT_COUNT];
    sm_submit_row_t              *rows;
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    batch->notices = task->manager->sh->notices->n;

    if (sm_store_intents_submit(&task->manager->store, &task->call,
                                ngx_http_submission_submit_rows_thread, task)
        != 0)
    {
        return;
    }

    ngx_http_submission_submit_ours_thread(batch);

    ngx_memzero(n, sizeof(n));

    rows = batch->rows;

    for (i = 0; i < batch->n; i++) {
        n[rows[i].outcome]++;
    }

    task->written = n[SM_SUBMIT_CREATED];

    ngx_http_submission_count(task->manager, NGX_HTTP_SUBMISSION_CNT_CREATED,
                              n[SM_SUBMIT_CREATED]);
    ngx_http_submission_count(task->manager, NGX_HTTP_SUBMISSION_CNT_DUPLICATES,
                              n[SM_SUBMIT_SAME]);
    ngx_http_submission_count(task->manager,
                              NGX_HTTP_SUBMISSION_CNT_CONFLICTED,
                              n[SM_SUBMIT_CONFLICT]);
}


ngx_uint_t
ngx_http_submission_submit_status(const sm_submit_row_t *row)
{
    switch (row->outcome) {

    case SM_SUBMIT_SAME:
    case SM_SUBMIT_CREATED:
        return NGX_HTTP_OK;

    case SM_SUBMIT_CONFLICT:
    case SM_SUBMIT_RESERVED:
        return NGX_HTTP_CONFLICT;

    case SM_SUBMIT_TOO_FAR:
        return NGX_HTTP_BAD_REQUEST;

    default: /* SM_SUBMIT_FAILED */
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


static void
ngx_http_submission_submit_conflict(sm_out_t *out, const sm_submit_row_t *row)
{
    u_char       buf[128];
    const char  *key, *message;

    key = sm_posted_differ(&row->intent.posted, &row->posted);

    if (!sm_str_eq(row->intent.target, row->contract->target)) {
        message = "the intent exists with another target";

    } else if (key) {
        ngx_sprintf(buf, "the intent exists with another \"%s\"%Z", key);
        message = (char *) buf;

    } else {
        message = "the intent exists with another payload";
    }

    ngx_http_submission_reply_error_key(out, "idempotency_conflict", message);

    sm_out_c(out, "\"existingTarget\":");
    sm_json_out_str(out, row->intent.target);
    sm_out_c(out, ",\"incomingTarget\":");
    sm_json_out_str(out, row->contract->target);
    sm_out_c(out, "}}");
}


void
ngx_http_submission_submit_error(sm_out_t *out, const sm_submit_row_t *row)
{
    switch (row->outcome) {

    case SM_SUBMIT_CONFLICT:
        ngx_http_submission_submit_conflict(out, row);
        return;

    case SM_SUBMIT_RESERVED:
        ngx_http_submission_reply_error_key(out, "reserved_id",
                   NGX_HTTP_SUBMISSION_REPLY_RESERVED);
        sm_out_c(out, "\"field\":\"" SM_FIELD_ID "\"}}");
        return;

    case SM_SUBMIT_TOO_FAR:
        ngx_http_submission_reply_error_key(out, "invalid_request",
                                            "\"" SM_FIELD_NOT_BEFORE "\" must "
                                            "be at most 365 days ahead");
        sm_out_c(out, "\"field\":\"" SM_FIELD_NOT_BEFORE "\"}}");
        return;

    default: /* SM_SUBMIT_FAILED */
        ngx_http_submission_reply_error_key(out, "internal_error",
                                            "the store refused the intent");
        sm_out_c(out, "}}");
    }
}


ngx_int_t
ngx_http_submission_submit_reply(ngx_http_request_t *r, const void *data)
{
    const sm_submit_row_t  *row = data;

    sm_out_t    out;
    ngx_uint_t  status;

    status = ngx_http_submission_submit_status(row);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: submitted \"%*s\" outcome:%d attempts:%L",
                   row->intent.id.len, row->intent.id.data, (int) row->outcome,
                   row->intent.attempt_count);

    if (status == NGX_HTTP_OK) {
        return ngx_http_submission_reply_intent(r, &row->intent,
                                              row->outcome == SM_SUBMIT_SAME);
    }

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{");
    ngx_http_submission_submit_error(&out, row);
    sm_out_c(&out, "}\n");

    return ngx_http_submission_reply_send(r, status, &out);
}


sm_intent_t *
ngx_http_submission_submit_intent(void *data)
{
    sm_submit_row_t  *row = data;

    return row->outcome == SM_SUBMIT_CREATED || row->outcome == SM_SUBMIT_SAME
           ? &row->intent : NULL;
}
