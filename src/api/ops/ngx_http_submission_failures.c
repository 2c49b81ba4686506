
/*
 * GET /v1/failures: what has failed lately, in groups.
 *
 * A look reads up to 10,000 failures, so requests share it: those for the same
 * target that come at the same time, whatever their "since", and for a second
 * those that come later.  A call makes one look; requests for other targets are
 * left for the next calls, so that other operations have their turns.
 */

#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"


#define NGX_HTTP_SUBMISSION_FAILURES_KEPT  1000    /* milliseconds */


static ngx_int_t
ngx_http_submission_failures_since(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value)
{
    int64_t  *since = field;

    if (ngx_http_submission_arg_time(ctx, since, value) != NGX_OK) {
        return NGX_DECLINED;
    }

    *since = sm_failures_since(*since);

    return NGX_OK;
}


static const ngx_http_submission_arg_t  ngx_http_submission_failures_args[] = {

    { "since", ngx_http_submission_failures_since,
      offsetof(sm_failures_row_t, since),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_TIME },

    { "target", ngx_http_submission_arg_target,
      offsetof(sm_failures_row_t, target),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_TARGET },

    { NULL, NULL, 0, NULL }
};


/* Returns the kept answer to what a row asks for, or NULL. */

static ngx_http_submission_kept_t *
ngx_http_submission_failures_find(ngx_http_submission_intake_t *intake,
    const sm_failures_row_t *row)
{
    ngx_uint_t                   i;
    ngx_http_submission_kept_t  *kept;

    for (i = 0; i < NGX_HTTP_SUBMISSION_KEPT; i++) {
        kept = &intake->kept[i];

        if (kept->body.data && sm_failures_same(&kept->row, row)
            && ngx_current_msec - kept->time
               < NGX_HTTP_SUBMISSION_FAILURES_KEPT)
        {
            return kept;
        }
    }

    return NULL;
}


/* Keeps an answer in place of the oldest one, or not if there is no memory. */

static void
ngx_http_submission_failures_keep(ngx_http_submission_intake_t *intake,
    const sm_failures_row_t *row, const sm_out_t *out)
{
    u_char                      *p;
    size_t                       len;
    ngx_uint_t                   i;
    ngx_http_submission_kept_t  *kept;

    kept = &intake->kept[0];

    for (i = 1; i < NGX_HTTP_SUBMISSION_KEPT; i++) {
        if ((ngx_msec_int_t) (intake->kept[i].time - kept->time) < 0) {
            kept = &intake->kept[i];
        }
    }

    if (kept->body.data) {
        ngx_free(kept->body.data);
        kept->body.data = NULL;
    }

    len = out->last - out->start;

    p = ngx_alloc(len + row->target.len, ngx_cycle->log);
    if (p == NULL) {
        return;
    }

    kept->body.data = p;
    kept->body.len = len;
    p = ngx_cpymem(p, out->start, len);

    kept->row.since = row->since;
    kept->row.target.data = row->target.data ? (char *) p : NULL;
    kept->row.target.len = row->target.len;
    kept->time = ngx_current_msec;

    if (row->target.len) {
        ngx_memcpy(p, row->target.data, row->target.len);
    }
}


/* Answers with what is kept, or asks the store. */

static ngx_int_t
ngx_http_submission_failures_handler(ngx_http_request_t *r)
{
    sm_out_t                     out;
    ngx_http_submission_ctx_t   *ctx;
    ngx_http_submission_kept_t  *kept;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    kept = ngx_http_submission_failures_find(ctx->manager->intake, ctx->row);

    if (kept == NULL) {
        return ngx_http_submission_api_read(r);
    }

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: failures kept for %M ms",
                   ngx_current_msec - kept->time);

    ngx_http_submission_out(&out, r->pool);

    sm_out_bytes(&out, (char *) kept->body.data, kept->body.len);

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


const ngx_http_submission_input_t  ngx_http_submission_failures_input = {
    .args = ngx_http_submission_failures_args,
    .handler = ngx_http_submission_failures_handler
};


/* Returns the row that asks for the same, or the first free one. */

static sm_failures_row_t *
ngx_http_submission_failures_same_thread(sm_failures_row_t *looks, size_t n,
    const sm_failures_row_t *row)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        if (sm_failures_same(&looks[i], row)) {
            break;
        }
    }

    return &looks[i];
}


int
ngx_http_submission_failures_thread(sm_store_t *store, sm_call_t *call,
    void *data, size_t n)
{
    sm_failures_row_t  *rows = data;

    size_t              i, nlooks;
    int64_t             now;
    sm_failures_row_t  *looks, *look;

    looks = sm_arena_calloc(&call->arena, n, sizeof(sm_failures_row_t));
    if (looks == NULL) {
        return sm_call_no_memory(call);
    }

    now = ngx_http_submission_date_usec();

    for (i = 0, nlooks = 0; i < n; i++) {

        rows[i].as_of = now;
        rows[i].left = !sm_str_eq(rows[i].target, rows[0].target);

        if (rows[i].left) {
            continue;
        }

        look = ngx_http_submission_failures_same_thread(looks, nlooks,
                                                        &rows[i]);

        if (look == &looks[nlooks]) {
            *look = rows[i];
            nlooks++;
        }
    }

    if (sm_store_failures_get(store, call, looks, nlooks) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (!rows[i].left) {
            rows[i] = *ngx_http_submission_failures_same_thread(looks, nlooks,
                                                                &rows[i]);
        }
    }

    return 0;
}


ngx_uint_t
ngx_http_submission_failures_left(const void *data)
{
    const sm_failures_row_t  *row = data;

    return row->left;
}


ngx_int_t
ngx_http_submission_failures_reply(ngx_http_request_t *r, const void *data)
{
    const sm_failures_row_t  *row = data;

    sm_out_t                    out;
    ngx_http_submission_ctx_t  *ctx;

    ngx_http_submission_out(&out, r->pool);

    sm_failures_out(&out, row);
    sm_out_c(&out, "\n");

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    if (!out.full
        && ngx_http_submission_failures_find(ctx->manager->intake, row)
           == NULL)
    {
        ngx_http_submission_failures_keep(ctx->manager->intake, row, &out);
    }

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
