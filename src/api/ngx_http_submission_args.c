
/*
 * The arguments of a query.  Each route has a table of those that it
 * takes; what is not in it is refused, as an unknown key of a body is: a
 * misspelt filter would otherwise show everything.
 */

#include "ngx_http_submission_args.h"

#include "sm_time.h"


#define NGX_HTTP_SUBMISSION_ARG_LIMIT_MAX  500

#define NGX_HTTP_SUBMISSION_ARG_WAIT_MAX   30       /* seconds */

/* The error shows so many characters of an unknown name. */

#define NGX_HTTP_SUBMISSION_ARG_SHOWN  64


static ngx_int_t ngx_http_submission_arg_wait(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value);
static ngx_int_t ngx_http_submission_arg_until(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value);


const ngx_http_submission_arg_t  ngx_http_submission_wait_args[] = {

    { "waitSeconds", ngx_http_submission_arg_wait, 0,
      "a whole number of seconds, 0 or more" },

    { "until", ngx_http_submission_arg_until, 0,
      "\"attempt\" or \"terminal\"" },

    { NULL, NULL, 0, NULL }
};


static const ngx_http_submission_arg_t  ngx_http_submission_no_args[] = {
    { NULL, NULL, 0, NULL }
};


/* Decodes a part of a query into the request's memory. */

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


/*
 * Takes one argument into the row.  Returns NGX_DECLINED if args->message says
 * what is wrong with it.
 */

static ngx_int_t
ngx_http_submission_arg_take(ngx_http_submission_ctx_t *ctx, sm_str_t name,
    sm_str_t value, ngx_uint_t *seen, ngx_http_submission_args_t *args)
{
    ngx_int_t                         rc;
    ngx_uint_t                        bit;
    const ngx_http_submission_arg_t  *table, *arg;

    table = ctx->route->input->args;

    if (table == NULL) {
        table = ngx_http_submission_no_args;
    }

    for (arg = table; arg->name; arg++) {
        if (sm_str_eq(name, sm_str_c(arg->name))) {
            break;
        }
    }

    if (arg->name == NULL) {
        ngx_http_submission_arg_unknown(table, name, args);
        return NGX_DECLINED;
    }

    args->field = arg->name;
    bit = (ngx_uint_t) 1 << (arg - table);

    if (*seen & bit) {
        (void) snprintf(args->message, sizeof(args->message),
                        "duplicate argument \"%s\"", arg->name);
        return NGX_DECLINED;
    }

    *seen |= bit;

    rc = arg->set(ctx, (char *) ctx->row + arg->offset, value);

    if (rc == NGX_DECLINED) {
        (void) snprintf(args->message, sizeof(args->message),
                        "\"%s\" must be %s", arg->name, arg->expected);
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

    /* try_files redirects without arguments, and sets only their length to 0 */

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
ngx_http_submission_arg_wait(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
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
ngx_http_submission_arg_until(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
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


ngx_int_t
ngx_http_submission_arg_limit(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    size_t  *limit = field;

    int64_t  n;

    if (sm_parse_uint(value, NGX_HTTP_SUBMISSION_ARG_LIMIT_MAX, &n) != 0
        || n == 0)
    {
        return NGX_DECLINED;
    }

    *limit = n;

    return NGX_OK;
}


ngx_int_t
ngx_http_submission_arg_time(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    int64_t  *at = field;

    return sm_time_parse(value, at) ? NGX_DECLINED : NGX_OK;
}


ngx_int_t
ngx_http_submission_arg_target(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    sm_str_t  *target = field;

    *target = value;

    return sm_target_check(value) ? NGX_DECLINED : NGX_OK;
}


ngx_int_t
ngx_http_submission_arg_any_target(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    sm_str_t  *target = field;

    *target = value;

    return sm_webhook_target_check(value) ? NGX_DECLINED : NGX_OK;
}


ngx_int_t
ngx_http_submission_arg_text(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    sm_str_t  *text = field;

    *text = value;

    return sm_id_text_check(value) ? NGX_DECLINED : NGX_OK;
}
