
/*
 * The files of the console.  The module has them compressed; a client that
 * does not accept gzip gets them inflated.  With "root=" they are read from a
 * directory instead, for work on the console.
 */

#include "ngx_http_submission_file.h"

#include <zlib.h>

#include "ngx_http_submission_console_files.h"


typedef struct {
    ngx_str_t  ending;
    ngx_str_t  type;
} ngx_http_submission_file_type_t;


static ngx_http_submission_file_type_t  ngx_http_submission_file_types[] = {
    { ngx_string(".html"), ngx_string("text/html; charset=utf-8") },
    { ngx_string(".css"), ngx_string("text/css; charset=utf-8") },
    { ngx_string(".js"), ngx_string("text/javascript; charset=utf-8") },
    { ngx_string(".svg"), ngx_string("image/svg+xml") },
    { ngx_null_string, ngx_string("text/plain; charset=utf-8") }
};


static ngx_table_elt_t *
ngx_http_submission_file_header(ngx_http_request_t *r, char *key,
    ngx_str_t *value)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NULL;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->hash = 1;
    h->key.data = (u_char *) key;
    h->key.len = ngx_strlen(key);
    h->value = *value;

    return h;
}


/*
 * The browser has to ask each time whether a file has changed, because the
 * instances behind a balancer may be of different versions for a while.
 */

static ngx_int_t
ngx_http_submission_file_headers(ngx_http_request_t *r, ngx_str_t *type)
{
    static ngx_str_t  no_cache = ngx_string("no-cache");

    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_type = *type;
    r->headers_out.content_type_len = type->len;
    r->headers_out.content_type_lowcase = NULL;

    return ngx_http_submission_file_header(r, "Cache-Control", &no_cache)
           ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_submission_file_send(ngx_http_request_t *r, ngx_buf_t *b)
{
    ngx_int_t    rc;
    ngx_chain_t  out;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}


/* Tells whether "Accept-Encoding" has gzip, without "q=0". */

static ngx_uint_t
ngx_http_submission_file_gzip(ngx_http_request_t *r)
{
#if (NGX_HTTP_GZIP)

    u_char           *p, *last;
    ngx_table_elt_t  *accept;

    accept = r->headers_in.accept_encoding;

    if (accept == NULL) {
        return 0;
    }

    p = accept->value.data;
    last = p + accept->value.len;

    p = ngx_strlcasestrn(p, last, (u_char *) "gzip", 4 - 1);

    if (p == NULL) {
        return 0;
    }

    for (p += 4; p < last && (*p == ' ' || *p == ';'); p++) { /* void */ }

    if (last - p < 3 || (p[0] | 0x20) != 'q' || p[1] != '=') {
        return 1;
    }

    for (p += 2; p < last && *p != ','; p++) {
        if (*p >= '1' && *p <= '9') {
            return 1;
        }
    }

#endif

    return 0;
}


static ngx_int_t
ngx_http_submission_file_inflate(ngx_http_request_t *r,
    const ngx_http_submission_file_t *file, ngx_buf_t *b)
{
    int       rc;
    z_stream  z;

    ngx_memzero(&z, sizeof(z_stream));

    b->pos = ngx_pnalloc(r->pool, file->size + 1);
    if (b->pos == NULL) {
        return NGX_ERROR;
    }

    /* 16 makes zlib expect the header of gzip */

    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) {
        return NGX_ERROR;
    }

    z.next_in = (u_char *) file->data;
    z.avail_in = file->len;
    z.next_out = b->pos;
    z.avail_out = file->size + 1;

    rc = inflate(&z, Z_FINISH);

    (void) inflateEnd(&z);

    b->last = b->pos + file->size;

    return rc == Z_STREAM_END && z.total_out == file->size ? NGX_OK
                                                           : NGX_ERROR;
}


static const ngx_http_submission_file_t *
ngx_http_submission_file_find(ngx_str_t *name)
{
    ngx_uint_t                         i;
    const ngx_http_submission_file_t  *file;

    for (i = 0;
         i < sizeof(ngx_http_submission_console_files)
             / sizeof(ngx_http_submission_file_t);
         i++)
    {
        file = &ngx_http_submission_console_files[i];

        if (file->name.len == name->len
            && ngx_strncmp(file->name.data, name->data, name->len) == 0)
        {
            return file;
        }
    }

    return NULL;
}


ngx_int_t
ngx_http_submission_file(ngx_http_request_t *r, ngx_str_t *name)
{
    ngx_buf_t                         *b;
    ngx_str_t                          type, etag;
    const ngx_http_submission_file_t  *file;

    static ngx_str_t  gzip = ngx_string("gzip");
    static ngx_str_t  vary = ngx_string("Accept-Encoding");

    file = ngx_http_submission_file_find(name);

    if (file == NULL) {
        return NGX_DECLINED;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b->memory = 1;

    type = file->type;
    etag = file->etag;

    if (ngx_http_submission_file_headers(r, &type) != NGX_OK
        || ngx_http_submission_file_header(r, "Vary", &vary) == NULL)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    r->headers_out.etag = ngx_http_submission_file_header(r, "ETag", &etag);

    if (r->headers_out.etag == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ngx_http_submission_file_gzip(r)) {
        r->headers_out.content_encoding =
                ngx_http_submission_file_header(r, "Content-Encoding", &gzip);

        if (r->headers_out.content_encoding == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        b->pos = (u_char *) file->data;
        b->last = b->pos + file->len;

    } else if (ngx_http_submission_file_inflate(r, file, b) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    r->headers_out.content_length_n = b->last - b->pos;

    return ngx_http_submission_file_send(r, b);
}


/* A name must not lead out of the directory, nor to a hidden file. */

static ngx_uint_t
ngx_http_submission_file_name(ngx_str_t *name)
{
    u_char      c;
    ngx_uint_t  i;

    for (i = 0; i < name->len; i++) {
        c = name->data[i];

        if (c == '.' && (i == 0 || name->data[i - 1] == '/')) {
            return 0;
        }

        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
            && !(c >= '0' && c <= '9')
            && c != '.' && c != '-' && c != '_' && c != '/')
        {
            return 0;
        }
    }

    return name->len != 0;
}


static ngx_str_t *
ngx_http_submission_file_type(ngx_str_t *name)
{
    ngx_str_t                        *ending;
    ngx_http_submission_file_type_t  *type;

    for (type = ngx_http_submission_file_types; type->ending.len; type++) {
        ending = &type->ending;

        if (name->len > ending->len
            && ngx_strncmp(name->data + name->len - ending->len, ending->data,
                           ending->len)
               == 0)
        {
            break;
        }
    }

    return &type->type;
}


ngx_int_t
ngx_http_submission_file_root(ngx_http_request_t *r, ngx_str_t *root,
    ngx_str_t *name)
{
    u_char                    *p;
    ngx_buf_t                 *b;
    ngx_str_t                  path;
    ngx_open_file_info_t       of;
    ngx_http_core_loc_conf_t  *clcf;

    if (!ngx_http_submission_file_name(name)) {
        return NGX_DECLINED;
    }

    path.len = root->len + 1 + name->len;
    path.data = ngx_pnalloc(r->pool, path.len + 1);
    b = ngx_calloc_buf(r->pool);

    if (path.data == NULL || b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    p = ngx_sprintf(path.data, "%V/%V", root, name);
    *p = '\0';

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    ngx_memzero(&of, sizeof(ngx_open_file_info_t));

    of.directio = NGX_OPEN_FILE_DIRECTIO_OFF;
    of.read_ahead = clcf->read_ahead;

    if (ngx_open_cached_file(NULL, &path, &of, r->pool) != NGX_OK
        || !of.is_file)
    {
        return NGX_DECLINED;
    }

    r->headers_out.content_length_n = of.size;
    r->headers_out.last_modified_time = of.mtime;

    if (ngx_http_submission_file_headers(r,
                                         ngx_http_submission_file_type(name))
        != NGX_OK
        || ngx_http_set_etag(r) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b->file = ngx_pcalloc(r->pool, sizeof(ngx_file_t));
    if (b->file == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b->file_last = of.size;
    b->in_file = of.size ? 1 : 0;

    b->file->fd = of.fd;
    b->file->name = path;
    b->file->log = r->connection->log;

    return ngx_http_submission_file_send(r, b);
}
