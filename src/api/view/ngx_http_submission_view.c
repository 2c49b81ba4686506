
/*
 * Answers from the zone, without the store, however many clients ask.
 *
 * The ETag is a hash of the answer without what changes by itself, such as the
 * time.  The age of the numbers is in it in steps, so that a client that polls
 * hears when the leader has fallen silent, and gets 304 while it has not.
 *
 * What is copied from the zone is much larger than most answers.  It is in a pool
 * of its own, which goes when the answer is rendered: a client that does not read
 * its answer keeps nothing else.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_task.h"
#include "ngx_http_submission_view.h"
#include "ngx_http_submission_zone_health.h"


#define NGX_HTTP_SUBMISSION_VIEW_FRESH  15          /* seconds */
#define NGX_HTTP_SUBMISSION_VIEW_STEP   5
#define NGX_HTTP_SUBMISSION_VIEW_ERROR  20

#define NGX_HTTP_SUBMISSION_VIEW_HASH   8           /* bytes */
#define NGX_HTTP_SUBMISSION_VIEW_ETAG   (sizeof("W/\"\"")                    \
                                         + 2 * NGX_HTTP_SUBMISSION_VIEW_HASH)


void
ngx_http_submission_view_close(ngx_http_submission_view_t *view)
{
    if (view->pool) {
        ngx_destroy_pool(view->pool);
        view->pool = NULL;
    }
}


static void
ngx_http_submission_view_cleanup(void *data)
{
    ngx_http_submission_view_close(data);
}


ngx_http_submission_view_t *
ngx_http_submission_view_init(ngx_http_request_t *r,
    void (*out)(ngx_http_submission_view_t *view, sm_out_t *out))
{
    ngx_pool_cleanup_t          *cln;
    ngx_http_submission_ctx_t   *ctx;
    ngx_http_submission_view_t  *view;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_submission_view_t));
    if (cln == NULL) {
        return NULL;
    }

    view = cln->data;
    ngx_memzero(view, sizeof(ngx_http_submission_view_t));

    cln->handler = ngx_http_submission_view_cleanup;

    view->pool = ngx_create_pool(NGX_DEFAULT_POOL_SIZE, r->connection->log);
    if (view->pool == NULL) {
        return NULL;
    }

    view->request = r;
    view->manager = ctx->manager;
    view->out = out;
    ngx_md5_init(&view->tag);
    view->board = ngx_http_submission_board_read(view->pool,
                                                 ctx->manager->conf);

    return view->board ? view : NULL;
}


void
ngx_http_submission_view_tag(ngx_http_submission_view_t *view, sm_out_t *out)
{
    size_t  len;

    len = out->last - out->start;

    ngx_md5_update(&view->tag, out->start + view->tagged, len - view->tagged);
    view->tagged = len;
}


void
ngx_http_submission_view_untagged(ngx_http_submission_view_t *view,
    sm_out_t *out, int64_t instead)
{
    ngx_md5_update(&view->tag, &instead, sizeof(instead));
    view->tagged = out->last - out->start;
}


static ngx_int_t
ngx_http_submission_view_etag(ngx_http_submission_view_t *view, u_char *etag)
{
    u_char  md5[16], hex[2 * NGX_HTTP_SUBMISSION_VIEW_HASH];

    ngx_md5_final(md5, &view->tag);

    (void) ngx_hex_dump(hex, md5, NGX_HTTP_SUBMISSION_VIEW_HASH);
    (void) ngx_sprintf(etag, "W/\"%*s\"", sizeof(hex), hex);

    return ngx_http_submission_reply_header(view->request, "ETag",
                                            (char *) etag);
}


/* Tells whether the client has an answer with this tag, weakly compared. */

static ngx_uint_t
ngx_http_submission_view_has(ngx_http_request_t *r, u_char *etag)
{
    ngx_str_t  *value;

    if (r->headers_in.if_none_match == NULL) {
        return 0;
    }

    value = &r->headers_in.if_none_match->value;

    if (value->len == 1 && value->data[0] == '*') {
        return 1;
    }

    /* the tag is compared without its "W/" */

    return ngx_strnstr(value->data, (char *) etag + 2, value->len) != NULL;
}


static ngx_int_t
ngx_http_submission_view_not_modified(ngx_http_request_t *r)
{
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    ctx->answered = 1;

    r->disable_not_modified = 1;
    r->header_only = 1;
    r->headers_out.status = NGX_HTTP_NOT_MODIFIED;
    r->headers_out.content_length_n = -1;

    return ngx_http_send_header(r);
}


ngx_int_t
ngx_http_submission_view_send(ngx_http_submission_view_t *view)
{
    u_char              *etag;
    sm_out_t             out;
    ngx_http_request_t  *r;

    r = view->request;

    etag = ngx_pcalloc(r->pool, NGX_HTTP_SUBMISSION_VIEW_ETAG);

    if (etag == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_submission_out(&out, r->pool);

    view->out(view, &out);
    ngx_http_submission_view_tag(view, &out);
    ngx_http_submission_view_close(view);

    if (ngx_http_submission_view_etag(view, etag) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!out.full && ngx_http_submission_view_has(r, etag)) {
        ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                       "submission: view not modified etag:%s", etag);

        return ngx_http_submission_view_not_modified(r);
    }

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


void
ngx_http_submission_view_now(ngx_http_submission_view_t *view, sm_out_t *out)
{
    sm_out_c(out, "\"now\":");
    ngx_http_submission_view_tag(view, out);
    sm_json_out_time(out, view->board->now);
    ngx_http_submission_view_untagged(view, out, 0);
}


void
ngx_http_submission_view_time(sm_out_t *out, int64_t at)
{
    if (at) {
        sm_json_out_time(out, at);

    } else {
        sm_out_c(out, "null");
    }
}


void
ngx_http_submission_view_age(ngx_http_submission_view_t *view, sm_out_t *out)
{
    int64_t                       age;
    ngx_http_submission_board_t  *board;

    board = view->board;

    if (board->stats == NULL) {
        sm_out_c(out, "\"asOf\":null,\"statsAgeSeconds\":null,");
        return;
    }

    age = board->stats_age / 1000000;

    sm_out_c(out, "\"asOf\":");
    ngx_http_submission_view_tag(view, out);
    sm_json_out_time(out, board->stats->at);
    sm_out_c(out, ",\"statsAgeSeconds\":");
    sm_out_int(out, age);
    ngx_http_submission_view_untagged(view, out,
                                      age < NGX_HTTP_SUBMISSION_VIEW_FRESH
                                      ? 0
                                      : age / NGX_HTTP_SUBMISSION_VIEW_STEP);
    sm_out_c(out, ",");
}


/* Whoever may not see the paths of gateways does not see that of a file. */

static sm_str_t
ngx_http_submission_view_store_error(ngx_http_submission_view_t *view,
    ngx_http_submission_store_record_t *record)
{
    sm_str_t  error;

    error.data = (char *) record->error;
    error.len = record->len;

    return ngx_http_submission_access_paths(view->request)
           ? error
           : ngx_http_submission_health_error(view->manager->conf, error);
}


/* Turns a time of this host's uptime into one of the store. */

static int64_t
ngx_http_submission_view_store_time(ngx_http_submission_view_t *view,
    int64_t at)
{
    return at ? view->board->now - (ngx_http_submission_usec() - at) : 0;
}


void
ngx_http_submission_view_store(ngx_http_submission_view_t *view, sm_out_t *out)
{
    char                                 error[SM_STORE_ERROR_SIZE];
    sm_out_t                             clean;
    sm_str_t                             shown;
    ngx_uint_t                           open;
    ngx_http_submission_manager_t       *manager;
    ngx_http_submission_store_record_t   record;

    manager = view->manager;
    open = ngx_http_submission_breaker_open(manager);

    ngx_http_submission_zone_store(manager->sh, &record);

    sm_out_c(out, "\"store\":{\"kind\":");
    sm_json_out_str(out, sm_str_c(sm_store_ops_name(manager->conf->store_ops)));
    sm_out_c(out, record.health.state == SM_STORE_HEALTH_UP
                  ? ",\"up\":true" : ",\"up\":false");
    sm_out_c(out, ",\"state\":");
    sm_json_out_str(out, sm_store_health_name(record.health.state));

    sm_out_c(out, ",\"since\":");
    ngx_http_submission_view_tag(view, out);
    ngx_http_submission_view_time(out,
                 ngx_http_submission_view_store_time(view,
                                                     record.health.since));
    ngx_http_submission_view_untagged(view, out, record.health.since);

    sm_out_c(out, ",\"lastError\":");

    if (record.error_at) {

        /* cleaning makes no text longer */

        sm_out_init(&clean, error, sizeof(error));
        sm_out_clean(&clean, ngx_http_submission_view_store_error(view,
                                                                  &record),
                     sizeof(error));
        (void) sm_out_done(&clean, &shown);
        sm_json_out_str(out, shown);

    } else {
        sm_out_c(out, "null");
    }

    sm_out_c(out, ",\"lastErrorAt\":");
    ngx_http_submission_view_tag(view, out);
    ngx_http_submission_view_time(out,
                 ngx_http_submission_view_store_time(view, record.error_at));
    ngx_http_submission_view_untagged(view, out,
                                      record.error_at / 1000000
                                      / NGX_HTTP_SUBMISSION_VIEW_ERROR);

    sm_out_c(out, ",\"breaker\":\"");
    ngx_http_submission_view_tag(view, out);
    sm_out_c(out, !open ? "closed"
                        : manager->sh->health->probing ? "half_open" : "open");
    ngx_http_submission_view_untagged(view, out, open);
    sm_out_c(out, "\"},");
}


void
ngx_http_submission_view_head(ngx_http_submission_view_t *view, sm_out_t *out)
{
    ngx_http_submission_view_now(view, out);
    sm_out_c(out, ",");
    ngx_http_submission_view_age(view, out);

    sm_out_c(out, "\"leader\":");

    if (view->board->leader.data) {
        sm_json_out_str(out, view->board->leader);

    } else {
        sm_out_c(out, "null");
    }

    sm_out_c(out, ",");
    ngx_http_submission_view_store(view, out);
}


int64_t
ngx_http_submission_view_rate(int64_t n, int64_t span)
{
    return span > 0 ? n * 1000000 / span : 0;
}
