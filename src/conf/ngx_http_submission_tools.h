
/*
 * Small tools of the whole nginx layer, which know nothing of configurations:
 * strings, names, clocks, fields of log lines, text in pools, and the memory of
 * answers.
 */

#ifndef _NGX_HTTP_SUBMISSION_TOOLS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_TOOLS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "sm_out.h"
#include "sm_str.h"


/* A field of a log line, written by ngx_http_submission_field(). */

typedef struct {
    ngx_str_t                        text;
    u_char                           data[1024];
} ngx_http_submission_field_t;


/* A string of nginx's, for core and store; the bytes are not copied. */

static ngx_inline sm_str_t
ngx_http_submission_str(ngx_str_t *s)
{
    sm_str_t  str;

    str.data = (char *) s->data;
    str.len = s->len;

    return str;
}


/*
 * named.c: _named() finds a node by its name, or returns NULL.  _insert() adds
 * one; the bytes of the name are not copied.
 */
ngx_str_node_t *ngx_http_submission_named(ngx_rbtree_t *tree, sm_str_t name);
void ngx_http_submission_named_insert(ngx_rbtree_t *tree, ngx_str_node_t *node,
    sm_str_t name);

/* clock.c */
ngx_msec_t ngx_http_submission_msec(void);
ngx_msec_t ngx_http_submission_since(ngx_atomic_uint_t time);
ngx_atomic_uint_t ngx_http_submission_stamp(ngx_msec_t time);
ngx_uint_t ngx_http_submission_once(ngx_atomic_t *last, ngx_msec_t interval);
ngx_msec_t ngx_http_submission_lease_msec(void);
int64_t ngx_http_submission_usec(void);
int64_t ngx_http_submission_date_usec(void);

/*
 * log.c: returns the name and the quoted value, for "%V", or an empty string
 * if the value is empty.  The text is in "field".
 */
ngx_str_t *ngx_http_submission_field(ngx_http_submission_field_t *field,
    const char *name, sm_str_t value);

/*
 * unread.c: counts the memory of an answer until the pool of its request is
 * destroyed; NGX_ERROR: there is no memory.  _full() says whether there is so
 * much of it that no large answer is to be made.
 */
ngx_int_t ngx_http_submission_unread(ngx_pool_t *pool, size_t size);
ngx_uint_t ngx_http_submission_unread_full(ngx_log_t *log);

/* out.c: begins a text that grows in a pool */
void ngx_http_submission_out(sm_out_t *out, ngx_pool_t *pool);


#endif /* _NGX_HTTP_SUBMISSION_TOOLS_H_INCLUDED_ */
