
/*
 * The arguments of a query.  Each route has a table of those that it
 * takes; what is not in it is refused, as an unknown key of a body is: a filter
 * that is misspelt would else show everything.
 */

#include "ngx_http_submission_args.h"

#include "sm_cursor.h"
#include "sm_search.h"
#include "sm_time.h"


#define NGX_HTTP_SUBMISSION_ARG_LIMIT_MAX  500

#define NGX_HTTP_SUBMISSION_ARG_WAIT_MAX   30       /* seconds */

/* characters of an unknown name that the error shows */

#define NGX_HTTP_SUBMISSION_ARG_SHOWN  64


static ngx_int_t ngx_http_submission_arg_wait(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_until(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_status(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_target(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_list_limit(
    ngx_http_submission_ctx_t *ctx, sm_str_t value);
static ngx_int_t ngx_http_submission_arg_history_limit(
    ngx_http_submission_ctx_t *ctx, sm_str_t value);
static ngx_int_t ngx_http_submission_arg_after(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_reason(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_from(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_to(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_by(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_prefix(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_order(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);
static ngx_int_t ngx_http_submission_arg_before(ngx_http_submission_ctx_t *ctx,
    sm_str_t value);


#define NGX_HTTP_SUBMISSION_ARGS_WAIT                                         \
                                                                              \
    { "waitSeconds", ngx_http_submission_arg_wait,                            \
      "\"waitSeconds\" must be a whole number of seconds, 0 or more" },       \
                                                                              \
    { "until", ngx_http_submission_arg_until,                                 \
      "\"until\" must be \"attempt\" or \"terminal\"" }


const ngx_http_submission_arg_t  ngx_http_submission_submit_args[] = {

    NGX_HTTP_SUBMISSION_ARGS_WAIT,

    { NULL, NULL, NULL }
};


const ngx_http_submission_arg_t  ngx_http_submission_get_args[] = {

    NGX_HTTP_SUBMISSION_ARGS_WAIT,

    { NULL, NULL, NULL }
};


const ngx_http_submission_arg_t  ngx_http_submission_history_args[] = {

    { "limit", ngx_http_submission_arg_history_limit,
      "\"limit\" must be a number between 1 and 500" },

    { "after", ngx_http_submission_arg_before,
      "\"after\" must be the \"next\" of an earlier page" },

    { NULL, NULL, NULL }
};


const ngx_http_submission_arg_t  ngx_http_submission_list_args[] = {

    { "status", ngx_http_submission_arg_status,
      "\"status\" must be \"pending\", \"accepted\", \"rejected\", "
      "\"exhausted\" or \"canceled\"" },

    { "target", ngx_http_submission_arg_target,
      "\"target\" must be the name of a target" },

    { "limit", ngx_http_submission_arg_list_limit,
      "\"limit\" must be a number between 1 and 500" },

    { "after", ngx_http_submission_arg_after,
      "\"after\" must be the \"next\" of an earlier page" },

    { "reason", ngx_http_submission_arg_reason,
      "\"reason\" must be that of a rejection or of an exhaustion" },

    { "from", ngx_http_submission_arg_from,
      "\"from\" must be a time of RFC 3339, such as "
      "\"2026-02-02T12:00:00Z\"; a \"+\" is \"%2B\" here" },

    { "to", ngx_http_submission_arg_to,
      "\"to\" must be a time of RFC 3339, such as "
      "\"2026-02-02T12:00:00Z\"; a \"+\" is \"%2B\" here" },

    { "by", ngx_http_submission_arg_by,
      "\"by\" must be \"created\" or \"completed\"" },

    { "idPrefix", ngx_http_submission_arg_prefix,
      "\"idPrefix\" must be what ids begin with: up to 200 characters, none "
      "of them a control character, and no space at its beginning" },

    { "order", ngx_http_submission_arg_order,
      "\"order\" must be \"asc\" or \"desc\"" },

    { NULL, NULL, NULL }
};


static const ngx_http_submission_arg_t  ngx_http_submission_no_args[] = {
    { NULL, NULL, NULL }
};


/* the decoded part of a query, in the request's memory */

static ngx_int_t
ngx_http_submission_arg_decode(ngx_pool_t *pool, u_char *src, size_t len,
    sm_str_t *value)
{
    u_char  *dst;

    dst = ngx_pnalloc(pool, len + 1);
    if (dst == NULL) {
        return NGX_ERROR;
    }

    value->data = (char *) dst;

    ngx_unescape_uri(&dst, &src, len, 0);

    value->len = (char *) dst - value->data;

    return NGX_OK;
}


static void
ngx_http_submission_arg_unknown(const ngx_http_submission_arg_t *table,
    sm_str_t name, ngx_http_submission_args_t *args)
{
    sm_out_t  out;

    sm_out_init(&out, args->name, sizeof(args->name) - 1);
    sm_out_clean(&out, name, NGX_HTTP_SUBMISSION_ARG_SHOWN);
    *out.last = '\0';

    args->field = args->name[0] ? args->name : NULL;

    sm_out_init(&out, args->message, sizeof(args->message) - 1);

    sm_out_c(&out, "unknown argument \"");
    sm_out_c(&out, args->name);
    sm_out_c(&out, "\": ");

    if (table->name == NULL) {
        sm_out_c(&out, "none");
    }

    for ( /* void */ ; table->name; table++) {
        sm_out_c(&out, "\"");
        sm_out_c(&out, table->name);
        sm_out_c(&out, table[1].name == NULL ? "\""
                       : table[2].name == NULL ? "\" or " : "\", ");
    }

    sm_out_c(&out, " was expected");

    *out.last = '\0';
}


/* takes one into the row; NGX_DECLINED: args->message says what is wrong */

static ngx_int_t
ngx_http_submission_arg_take(ngx_http_submission_ctx_t *ctx, sm_str_t name,
    sm_str_t value, ngx_uint_t *seen, ngx_http_submission_args_t *args)
{
    ngx_int_t                         rc;
    ngx_uint_t                        bit;
    const char                       *why;
    const ngx_http_submission_arg_t  *table, *arg;

    table = ctx->route->args ? ctx->route->args : ngx_http_submission_no_args;

    for (arg = table; arg->name; arg++) {
        if (sm_str_eq(name, sm_str_c(arg->name))) {
            break;
        }
    }

    if (arg->name == NULL) {
        ngx_http_submission_arg_unknown(table, name, args);
        return NGX_DECLINED;
    }

    bit = (ngx_uint_t) 1 << (arg - table);

    if (*seen & bit) {
        rc = NGX_DECLINED;
        why = NULL;

    } else {
        rc = arg->handler(ctx, value);
        why = arg->message;
    }

    *seen |= bit;

    if (rc == NGX_DECLINED) {
        (void) snprintf(args->message, sizeof(args->message),
                        why ? "%s" : "duplicate argument \"%s\"",
                        why ? why : arg->name);
        args->field = arg->name;
    }

    return rc;
}


ngx_int_t
ngx_http_submission_args(ngx_http_submission_ctx_t *ctx,
    ngx_http_submission_args_t *args)
{
    u_char      *p, *end, *last, *equals;
    sm_str_t     name, value;
    ngx_int_t    rc;
    ngx_str_t   *query;
    ngx_uint_t   seen;
    ngx_pool_t  *pool;

    pool = ctx->request->pool;
    query = &ctx->request->args;

    /* try_files redirects without arguments, and then sets their length only */

    if (query->len == 0) {
        return NGX_OK;
    }

    last = query->data + query->len;
    seen = 0;

    for (p = query->data; p < last; p = end + 1) {

        end = ngx_strlchr(p, last, '&');
        end = end ? end : last;

        if (p == end) {
            continue;
        }

        equals = ngx_strlchr(p, end, '=');
        equals = equals ? equals : end;

        if (ngx_http_submission_arg_decode(pool, p, equals - p, &name)
            != NGX_OK
            || ngx_http_submission_arg_decode(pool, ngx_min(equals + 1, end),
                                              end - ngx_min(equals + 1, end),
                                              &value)
               != NGX_OK)
        {
            return NGX_ERROR;
        }

        rc = ngx_http_submission_arg_take(ctx, name, value, &seen, args);

        if (rc != NGX_OK) {
            return rc;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_arg_wait(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    size_t      i;
    ngx_msec_t  seconds;

    seconds = 0;

    for (i = 0; i < value.len; i++) {

        if (value.data[i] < '0' || value.data[i] > '9') {
            return NGX_DECLINED;
        }

        seconds = ngx_min(seconds * 10 + (value.data[i] - '0'),
                          NGX_HTTP_SUBMISSION_ARG_WAIT_MAX);
    }

    ctx->wait = seconds * 1000;

    return value.len ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_submission_arg_until(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    static const sm_str_t  attempt = sm_str("attempt");
    static const sm_str_t  terminal = sm_str("terminal");

    if (sm_str_eq(value, attempt)) {
        ctx->until = NGX_HTTP_SUBMISSION_UNTIL_ATTEMPT;
        return NGX_OK;
    }

    ctx->until = NGX_HTTP_SUBMISSION_UNTIL_TERMINAL;

    return sm_str_eq(value, terminal) ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_submission_arg_status(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    row->status = sm_status_by_name(value);

    return row->status == SM_STATUS_NONE ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_http_submission_arg_target(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    row->target = value;

    return sm_target_check(value) ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_http_submission_arg_limit(sm_str_t value, size_t *limit)
{
    int64_t  n;

    if (sm_parse_uint(value, NGX_HTTP_SUBMISSION_ARG_LIMIT_MAX, &n) != 0
        || n == 0)
    {
        return NGX_DECLINED;
    }

    *limit = n;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_arg_list_limit(ngx_http_submission_ctx_t *ctx,
    sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    return ngx_http_submission_arg_limit(value, &row->limit);
}


static ngx_int_t
ngx_http_submission_arg_history_limit(ngx_http_submission_ctx_t *ctx,
    sm_str_t value)
{
    sm_history_row_t  *row = ctx->row;

    return ngx_http_submission_arg_limit(value, &row->limit);
}


/* what "next" of a list gave, see ngx_http_submission_reply_list() */

static ngx_int_t
ngx_http_submission_arg_after(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    char           *buf;
    sm_list_row_t  *row;

    row = ctx->row;

    buf = ngx_pnalloc(ctx->request->pool, value.len + 1);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    return sm_cursor_kind_parse(value, buf, &ctx->cursor, &row->after_at,
                                &row->after_id)
           == 0 ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_submission_arg_reason(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    row->reason = value;

    return sm_id_text_check(value) ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_http_submission_arg_from(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    return sm_time_parse(value, &row->from) ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_http_submission_arg_to(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    return sm_time_parse(value, &row->to) ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_http_submission_arg_by(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    sm_list_row_t  *row = ctx->row;

    if (sm_str_eq(value, sm_str_c("completed"))) {
        row->by = SM_LIST_COMPLETED;
        return NGX_OK;
    }

    return sm_str_eq(value, sm_str_c("created")) ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_submission_arg_prefix(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    char           *buf;
    sm_list_row_t  *row;

    row = ctx->row;

    buf = ngx_pnalloc(ctx->request->pool, SM_SEARCH_PREFIX(value.len));
    if (buf == NULL) {
        return NGX_ERROR;
    }

    return sm_search_prefix(row, value, buf) ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_http_submission_arg_order(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    if (sm_str_eq(value, sm_str_c("asc"))) {
        ctx->order = NGX_HTTP_SUBMISSION_ORDER_ASC;

    } else if (sm_str_eq(value, sm_str_c("desc"))) {
        ctx->order = NGX_HTTP_SUBMISSION_ORDER_DESC;
    }

    return ctx->order ? NGX_OK : NGX_DECLINED;
}


/* what "next" of a history gave: the number of its last attempt */

static ngx_int_t
ngx_http_submission_arg_before(ngx_http_submission_ctx_t *ctx, sm_str_t value)
{
    sm_history_row_t  *row = ctx->row;

    int64_t  n;

    if (sm_parse_uint(value, INT64_MAX, &n) != 0 || n == 0) {
        return NGX_DECLINED;
    }

    row->before = n;

    return NGX_OK;
}
