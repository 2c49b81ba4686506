
/*
 * POST /v1/intents/{id}/cancel.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"


static ngx_int_t
ngx_http_submission_cancel_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_cancel_row_t  *row = ctx->row;

    if (ngx_http_submission_body_nothing(arena, body, err) != NGX_OK
        || ngx_http_submission_api_id(ctx, &row->id, err) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    return ngx_http_submission_access_actor(ctx->request, &row->actor);
}


const ngx_http_submission_input_t  ngx_http_submission_cancel_input = {
    .take = ngx_http_submission_cancel_take
};


/* What was canceled is counted even if its client has gone. */

void
ngx_http_submission_cancel_thread(ngx_http_submission_task_t *task)
{
    ngx_uint_t                    i;
    sm_cancel_row_t              *rows;
    ngx_http_submission_batch_t  *batch = (ngx_http_submission_batch_t *) task;

    if (ngx_http_submission_batch_rows_thread(batch) != 0 || batch->n == 0) {
        return;
    }

    rows = batch->rows;

    if (sm_store_intents_cancel(&task->manager->store, &task->call, rows,
                                batch->n)
        != 0)
    {
        return;
    }

    for (i = 0; i < batch->n; i++) {
        if (rows[i].outcome == SM_CANCEL_DONE) {
            ngx_http_submission_count_terminal(task->manager,
                          ngx_http_submission_target(task->manager->conf,
                                                     rows[i].intent.target),
                                               SM_STATUS_CANCELED, 0,
                                               rows[i].intent.completed_at
                                               - rows[i].intent.created_at);
        }
    }
}


ngx_int_t
ngx_http_submission_cancel_reply(ngx_http_request_t *r, const void *data)
{
    const sm_cancel_row_t  *row = data;

    switch (row->outcome) {

    case SM_CANCEL_DONE:
    case SM_CANCEL_SAME:
        return ngx_http_submission_reply_intent(r, &row->intent,
                                              row->outcome == SM_CANCEL_SAME);

    case SM_CANCEL_IN_FLIGHT:
        return ngx_http_submission_reply_status(r, "in_flight",
                   "an attempt of the intent is in flight", SM_STATUS_PENDING);

    case SM_CANCEL_TERMINAL:
        return ngx_http_submission_reply_status(r, "already_terminal",
                   "the intent has ended", row->intent.status);

    default: /* SM_CANCEL_NOT_FOUND */
        return ngx_http_submission_reply_not_found(r);
    }
}
