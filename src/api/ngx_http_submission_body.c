
/*
 * Reads the whole body of a request into memory.  If nginx has written it to a
 * file, a thread reads the file.
 */

#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_task.h"


typedef struct {
    ngx_http_submission_task_t    task;
    ngx_http_request_t           *request;      /* NULL: it has gone */
    ngx_http_cleanup_t           *cleanup;
    ngx_fd_t                      fd;
    char                         *data;
    size_t                        size;
    ngx_err_t                     err;
} ngx_http_submission_load_t;


static void ngx_http_submission_body_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_submission_body_memory(ngx_http_request_t *r,
    sm_str_t *body);
static ngx_int_t ngx_http_submission_body_load(ngx_http_request_t *r);
static void ngx_http_submission_body_thread(ngx_http_submission_task_t *task);
static void ngx_http_submission_body_done(ngx_http_submission_task_t *task);
static void ngx_http_submission_body_cleanup(void *data);


/*
 * Tells whether a part of the body is still to come, on a connection that no
 * other request uses meanwhile.
 */

static ngx_uint_t
ngx_http_submission_body_missing(ngx_http_request_t *r)
{
#if (NGX_HTTP_V2)
    if (r->stream) {
        return 0;
    }
#endif

    return r->headers_in.chunked
           || r->headers_in.content_length_n
              > r->header_in->last - r->header_in->pos;
}


/* JSON is application/json or application/<any>+json, with any parameters. */

static ngx_uint_t
ngx_http_submission_body_json(ngx_str_t *type)
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


/* Nothing here unpacks a body that a client has compressed. */

static ngx_uint_t
ngx_http_submission_body_encoded(ngx_http_request_t *r)
{
    ngx_table_elt_t  *h;

    h = ngx_http_submission_api_header(r, "Content-Encoding");

    return h && h->value.len
           && (h->value.len != sizeof("identity") - 1
               || ngx_strncasecmp(h->value.data, (u_char *) "identity",
                                  h->value.len)
                  != 0);
}


static ngx_int_t
ngx_http_submission_body_refuse(ngx_http_request_t *r)
{
    if (ngx_http_submission_reply_header(r, "Accept-Encoding", "identity")
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_submission_reply_error(r, NGX_HTTP_UNSUPPORTED_MEDIA_TYPE,
               "unsupported_media_type", "the body must not have a "
               "\"Content-Encoding\" such as gzip", NULL);
}


ngx_int_t
ngx_http_submission_body_read(ngx_http_request_t *r,
    ngx_http_submission_body_pt handler, const char *expected)
{
    ngx_int_t                   rc;
    ngx_table_elt_t            *type;
    ngx_http_submission_ctx_t  *ctx;

    type = r->headers_in.content_type;

    if (expected && type && !ngx_http_submission_body_json(&type->value)) {
        return ngx_http_submission_reply_error(r,
                   NGX_HTTP_UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type",
                   expected, NULL);
    }

    if (ngx_http_submission_body_encoded(r)) {
        return ngx_http_submission_body_refuse(r);
    }

    if (ngx_http_submission_reserve_short()
        && ngx_http_submission_body_missing(r))
    {
        return ngx_http_submission_reply_overloaded(r);
    }

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    ctx->body_handler = handler;

    r->connection->log->action = "reading the body of an intent";

    rc = ngx_http_read_client_request_body(r, ngx_http_submission_body_handler);

    return rc >= NGX_HTTP_SPECIAL_RESPONSE ? rc : NGX_DONE;
}


ngx_int_t
ngx_http_submission_body_object(sm_arena_t *arena, sm_str_t body,
    const sm_json_field_t *fields, sm_json_value_t *values,
    sm_json_error_t *err)
{
    ngx_uint_t  i;

    for (i = 0; fields[i].name; i++) {
        values[i].type = 0;
    }

    if (body.len == 0) {
        return NGX_OK;
    }

    return sm_json_object(arena, body, fields, values, err) == 0
           ? NGX_OK : NGX_DECLINED;
}


ngx_int_t
ngx_http_submission_body_nothing(sm_arena_t *arena, sm_str_t body,
    sm_json_error_t *err)
{
    static const sm_json_field_t  none[] = { { NULL, 0, 0 } };

    sm_json_value_t  value;

    return ngx_http_submission_body_object(arena, body, none, &value, err);
}


static void
ngx_http_submission_body_handler(ngx_http_request_t *r)
{
    ngx_int_t                   rc;
    sm_str_t                    body;
    ngx_http_submission_ctx_t  *ctx;

    if (r->request_body && r->request_body->temp_file) {
        rc = ngx_http_submission_body_load(r);

    } else {
        rc = ngx_http_submission_body_memory(r, &body);

        if (rc == NGX_OK) {
            ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                           "submission: body in memory bytes:%uz", body.len);

            ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
            rc = ctx->body_handler(r, body);
        }
    }

    if (rc != NGX_DONE) {
        ngx_http_finalize_request(r, rc);
    }
}


static ngx_int_t
ngx_http_submission_body_memory(ngx_http_request_t *r, sm_str_t *body)
{
    u_char       *p;
    ngx_buf_t    *b;
    ngx_chain_t  *cl, *bufs;

    /* a subrequest has the body of its parent, or none */

    bufs = r->request_body ? r->request_body->bufs : NULL;

    body->data = NULL;
    body->len = 0;

    if (bufs == NULL) {
        return NGX_OK;
    }

    if (bufs->next == NULL) {
        body->data = (char *) bufs->buf->pos;
        body->len = bufs->buf->last - bufs->buf->pos;
        return NGX_OK;
    }

    for (cl = bufs; cl; cl = cl->next) {
        body->len += ngx_buf_size(cl->buf);
    }

    p = ngx_pnalloc(r->pool, body->len);
    if (p == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    body->data = (char *) p;

    for (cl = bufs; cl; cl = cl->next) {
        b = cl->buf;

        if (b->pos != b->last) {
            p = ngx_cpymem(p, b->pos, b->last - b->pos);
        }
    }

    return NGX_OK;
}


/*
 * The request may close its file while a thread reads it, so the descriptor is
 * duplicated.
 */

static ngx_int_t
ngx_http_submission_body_load(ngx_http_request_t *r)
{
    ngx_file_t                  *file;
    ngx_http_cleanup_t          *cln;
    ngx_http_submission_ctx_t   *ctx;
    ngx_http_submission_load_t  *load;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    cln = ngx_http_cleanup_add(r, 0);
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    load = ngx_http_submission_task_create(ctx->manager,
                                           NGX_HTTP_SUBMISSION_OP_NONE,
                                           sizeof(ngx_http_submission_load_t));
    if (load == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    file = &r->request_body->temp_file->file;

    load->request = r;
    load->size = file->offset;
    load->data = sm_arena_alloc(&load->task.call.arena, load->size);
    load->task.run = ngx_http_submission_body_thread;
    load->task.done = ngx_http_submission_body_done;
    load->fd = load->data ? dup(file->fd) : NGX_INVALID_FILE;

    if (load->fd == NGX_INVALID_FILE) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, ngx_errno,
                      "submission: request body file cannot be read");
        ngx_http_submission_task_free(&load->task);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ngx_http_submission_task_post(&load->task) != NGX_OK) {
        (void) ngx_close_file(load->fd);
        ngx_http_submission_task_free(&load->task);
        return ngx_http_submission_reply_unavailable(r, 1);
    }

    cln->handler = ngx_http_submission_body_cleanup;
    cln->data = load;
    load->cleanup = cln;

    r->read_event_handler = ngx_http_test_reading;

    return NGX_DONE;
}


static void
ngx_http_submission_body_thread(ngx_http_submission_task_t *task)
{
    size_t                       done;
    ssize_t                      n;
    ngx_http_submission_load_t  *load = (ngx_http_submission_load_t *) task;

    for (done = 0; done < load->size; done += n) {
        n = pread(load->fd, load->data + done, load->size - done, done);

        if (n == -1 && ngx_errno == NGX_EINTR) {
            n = 0;
            continue;
        }

        if (n <= 0) {
            load->err = n == -1 ? ngx_errno : EIO;
            break;
        }
    }

    (void) ngx_close_file(load->fd);
}


static void
ngx_http_submission_body_done(ngx_http_submission_task_t *task)
{
    sm_str_t                     body;
    ngx_int_t                    rc;
    ngx_http_request_t          *r;
    ngx_http_submission_ctx_t   *ctx;
    ngx_http_submission_load_t  *load = (ngx_http_submission_load_t *) task;

    r = load->request;

    if (r == NULL) {
        return;
    }

    load->cleanup->handler = NULL;

    ngx_http_set_log_request(r->connection->log, r);

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission: body of a file bytes:%uz err:%d", load->size,
                   load->err);

    if (load->err) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, load->err,
                      "submission: reading the request body file failed");
        rc = NGX_HTTP_INTERNAL_SERVER_ERROR;

    } else {
        body.data = load->data;
        body.len = load->size;

        ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
        rc = ctx->body_handler(r, body);
    }

    if (rc != NGX_DONE) {
        ngx_http_submission_finalize(r, rc);
    }
}


static void
ngx_http_submission_body_cleanup(void *data)
{
    ngx_http_submission_load_t  *load = data;

    load->request = NULL;
}
