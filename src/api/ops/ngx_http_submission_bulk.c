
/*
 * POST /v1/intents as application/x-ndjson: many intents, one on each line.
 *
 * Each line is a row of its own in the intake, and goes through the same lane
 * and batches as a single POST.  The intake takes all of them or none, so that
 * a request that is refused has done nothing.  The request is answered when
 * the last line has an outcome: one line for each, in the order of the body.
 * What is wrong with one line is the answer to that line alone.
 *
 * A line's answer is kept in the request's memory as it will be sent, since
 * the row that it comes from is gone when others are still to come.
 */

#include "ngx_http_submission_intake.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_submit.h"


#define NGX_HTTP_SUBMISSION_BULK_LINES  1000


typedef struct {
    ngx_uint_t                   number;       /* in the body, from 1 */
    ngx_str_t                    answer;
} ngx_http_submission_line_t;


struct ngx_http_submission_bulk_s {
    ngx_http_submission_line_t  *lines;
    ngx_uint_t                   n;
    ngx_uint_t                   left;         /* without an answer */
    sm_out_t                     scratch;      /* for one answer at a time */
    unsigned                     failed:1;     /* one has found no memory */
};


static ngx_int_t ngx_http_submission_bulk_body(ngx_http_request_t *r,
    sm_str_t body);


ngx_uint_t
ngx_http_submission_bulk_type(ngx_str_t *type)
{
    static const char  name[] = "application/x-ndjson";

    size_t  len;

    len = sizeof(name) - 1;

    return type->len >= len
           && ngx_strncasecmp(type->data, (u_char *) name, len) == 0
           && (type->len == len || type->data[len] == ';'
               || type->data[len] == ' ');
}


ngx_int_t
ngx_http_submission_bulk_parse(ngx_http_request_t *r)
{
    ngx_int_t  rc;

    /* the route's arguments are all about waiting */

    if (r->args.len) {
        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                   "invalid_request", "a bulk submission takes no arguments: "
                   "it does not wait for attempts", "waitSeconds");
    }

    /* the answer may be as long as a thousand others */

    rc = ngx_http_submission_reply_unread(r);
    if (rc != NGX_DECLINED) {
        return rc;
    }

    return ngx_http_submission_body_read(r, ngx_http_submission_bulk_body,
                                         NULL);
}


/* Finds the next line that is not blank.  Returns 0 if there is none. */

static ngx_uint_t
ngx_http_submission_bulk_next(sm_str_t *body, sm_str_t *line,
    ngx_uint_t *number)
{
    size_t       i;
    const char  *end;

    while (body->len) {
        end = memchr(body->data, '\n', body->len);

        line->data = body->data;
        line->len = end ? (size_t) (end - body->data) : body->len;

        body->data += line->len + (end ? 1 : 0);
        body->len -= line->len + (end ? 1 : 0);

        (*number)++;

        for (i = 0; i < line->len; i++) {
            if (line->data[i] != ' ' && line->data[i] != '\t'
                && line->data[i] != '\r')
            {
                return 1;
            }
        }
    }

    return 0;
}


/* Counts the lines first, so that no memory is taken if they are too many. */

static ngx_uint_t
ngx_http_submission_bulk_count(sm_str_t body, ngx_uint_t max)
{
    sm_str_t    line;
    ngx_uint_t  n, number;

    n = 0;
    number = 0;

    while (n <= max && ngx_http_submission_bulk_next(&body, &line, &number)) {
        n++;
    }

    return n;
}


static sm_out_t *
ngx_http_submission_bulk_begin(ngx_http_submission_ctx_t *ctx, ngx_uint_t i,
    ngx_uint_t status)
{
    sm_out_t  *out;

    out = &ctx->bulk->scratch;

    sm_out_rewind(out);

    sm_out_c(out, "{\"line\":");
    sm_out_int(out, ctx->bulk->lines[i].number);
    sm_out_c(out, ",\"status\":");
    sm_out_int(out, status);

    return out;
}


static void
ngx_http_submission_bulk_end(ngx_http_submission_ctx_t *ctx, ngx_uint_t i)
{
    sm_str_t                     answer;
    ngx_http_submission_bulk_t  *bulk;

    bulk = ctx->bulk;
    bulk->left--;

    if (sm_out_done(&bulk->scratch, &answer) != 0) {
        bulk->failed = 1;
        return;
    }

    bulk->lines[i].answer.len = answer.len;
    bulk->lines[i].answer.data = ngx_pnalloc(ctx->request->pool, answer.len);

    if (bulk->lines[i].answer.data == NULL) {
        bulk->failed = 1;
        return;
    }

    ngx_memcpy(bulk->lines[i].answer.data, answer.data, answer.len);
}


ngx_uint_t
ngx_http_submission_bulk_left(ngx_http_submission_bulk_t *bulk)
{
    return bulk->left;
}


static void
ngx_http_submission_bulk_error(ngx_http_submission_ctx_t *ctx, ngx_uint_t i,
    ngx_uint_t status, const char *code, const char *message,
    const char *field)
{
    sm_out_t  *out;

    if (status == NGX_HTTP_SERVICE_UNAVAILABLE) {
        ngx_http_submission_count(ctx->manager,
                                  NGX_HTTP_SUBMISSION_CNT_NOT_TAKEN, 1);
    }

    out = ngx_http_submission_bulk_begin(ctx, i, status);

    sm_out_c(out, ",");
    ngx_http_submission_reply_error_key(out, code, message);

    if (field) {
        sm_out_c(out, "\"field\":");
        sm_json_out_str(out, sm_str_c(field));
    }

    sm_out_c(out, "}}}\n");

    ngx_http_submission_bulk_end(ctx, i);
}


static void
ngx_http_submission_bulk_row(ngx_http_submission_ctx_t *ctx, ngx_uint_t i,
    const sm_submit_row_t *row)
{
    sm_out_t    *out;
    ngx_uint_t   status;

    status = ngx_http_submission_submit_status(row);

    out = ngx_http_submission_bulk_begin(ctx, i, status);

    if (status == NGX_HTTP_OK) {
        sm_out_c(out, row->outcome == SM_SUBMIT_SAME
                      ? ",\"replayed\":true,\"intent\":"
                      : ",\"replayed\":false,\"intent\":");
        sm_intent_out(out, &row->intent);

    } else {
        sm_out_c(out, ",");
        ngx_http_submission_submit_error(out, row);
    }

    sm_out_c(out, "}\n");

    ngx_http_submission_bulk_end(ctx, i);
}


static ngx_int_t
ngx_http_submission_bulk_reply(ngx_http_submission_ctx_t *ctx)
{
    sm_out_t                     out;
    ngx_uint_t                   i;
    ngx_http_request_t          *r;
    ngx_http_submission_bulk_t  *bulk;
    ngx_http_submission_line_t  *line;

    r = ctx->request;
    bulk = ctx->bulk;

    /* the client may post again: what was committed is found as a duplicate */

    if (bulk->failed) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_submission_out(&out, r->pool);

    for (i = 0; i < bulk->n; i++) {
        line = &bulk->lines[i];
        sm_out_bytes(&out, (char *) line->answer.data, line->answer.len);
    }

    ctx->lines = 1;

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


ngx_int_t
ngx_http_submission_bulk_outcome(ngx_http_submission_ctx_t *ctx,
    ngx_uint_t line, const sm_submit_row_t *row, ngx_uint_t overloaded)
{
    if (row) {
        ngx_http_submission_bulk_row(ctx, line, row);

    } else {
        ngx_http_submission_bulk_error(ctx, line,
                        NGX_HTTP_SERVICE_UNAVAILABLE, "store_unavailable",
                        ngx_http_submission_reply_unavailable_text(overloaded),
                        NULL);
    }

    return ctx->bulk->left ? NGX_DONE : ngx_http_submission_bulk_reply(ctx);
}


/* Makes a row of a line, or answers the line if it is not valid. */

static ngx_int_t
ngx_http_submission_bulk_line(ngx_http_submission_ctx_t *ctx, ngx_uint_t i,
    sm_str_t text)
{
    ngx_int_t        rc;
    sm_arena_t       arena;
    sm_json_error_t  err;

    ngx_memzero(&arena, sizeof(sm_arena_t));
    ngx_memzero(ctx->row, sizeof(sm_submit_row_t));

    rc = ngx_http_submission_submit_take(ctx, &arena, text, &err);

    if (rc == NGX_OK) {
        rc = ngx_http_submission_intake_add(ctx, ctx->row, i);

    } else if (rc == NGX_AGAIN || (rc == NGX_DECLINED && !err.no_memory)) {
        ngx_http_submission_bulk_error(ctx, i,
                                       rc == NGX_AGAIN
                                       ? NGX_HTTP_SERVICE_UNAVAILABLE
                                       : NGX_HTTP_BAD_REQUEST,
                                       err.code ? err.code
                                                : "invalid_request",
                                       err.message, err.key);
        rc = NGX_OK;
    }

    sm_arena_free(&arena);

    return rc;
}


static ngx_int_t
ngx_http_submission_bulk_body(ngx_http_request_t *r, sm_str_t body)
{
    char                         message[128];
    sm_str_t                     text;
    ngx_uint_t                   i, n, max, number;
    ngx_http_submission_ctx_t   *ctx;
    ngx_http_submission_bulk_t  *bulk;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    /* the lane could never take more than it has room for */

    max = ngx_http_submission_intake_bulks(ctx->manager);
    max = ngx_min(NGX_HTTP_SUBMISSION_BULK_LINES, max);

    n = ngx_http_submission_bulk_count(body, max);

    if (n == 0 || n > max) {
        (void) snprintf(message, sizeof(message),
                        "the body must have between 1 and %d intents, one on "
                        "each line", (int) max);

        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                                               "invalid_request", message,
                                               NULL);
    }

    bulk = ngx_pcalloc(r->pool, sizeof(ngx_http_submission_bulk_t));
    if (bulk == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    bulk->lines = ngx_pcalloc(r->pool, n * sizeof(ngx_http_submission_line_t));
    if (bulk->lines == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    bulk->n = n;
    bulk->left = n;
    ctx->bulk = bulk;

    ngx_http_submission_out(&bulk->scratch, r->pool);

    for (i = 0, number = 0; i < n; i++) {
        (void) ngx_http_submission_bulk_next(&body, &text, &number);

        bulk->lines[i].number = number;

        if (ngx_http_submission_bulk_line(ctx, i, text) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: bulk lines:%ui valid:%ui", n, bulk->left);

    return bulk->left ? ngx_http_submission_intake(ctx)
                      : ngx_http_submission_bulk_reply(ctx);
}
