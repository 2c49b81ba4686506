
/*
 * Reads the trace context of a request: "traceparent" and "tracestate".
 */

#include "ngx_http_submission_request.h"

#include "sm_trace.h"


typedef struct {
    ngx_uint_t   parents;
    sm_str_t     parent;
    ngx_uint_t   states;
    sm_str_t     state;                 /* the first of them */
    size_t       size;                  /* of all of them, with commas */
} ngx_http_submission_trace_t;


static ngx_uint_t
ngx_http_submission_trace_is(ngx_table_elt_t *h, const char *name, size_t len)
{
    return h->key.len == len && h->hash
           && ngx_memcmp(h->lowcase_key, name, len) == 0;
}


static void
ngx_http_submission_trace_header(ngx_http_submission_trace_t *tr,
    ngx_table_elt_t *h)
{
    sm_str_t  value;

    value = ngx_http_submission_str(&h->value);

    if (ngx_http_submission_trace_is(h, "traceparent", 11)) {
        tr->parent = value;
        tr->parents++;

    } else if (ngx_http_submission_trace_is(h, "tracestate", 10)) {

        if (tr->states++ == 0) {
            tr->state = value;
        }

        tr->size += value.len + 1;
    }
}


static ngx_table_elt_t *
ngx_http_submission_trace_next(ngx_list_part_t **part, ngx_uint_t *i)
{
    while (*i >= (*part)->nelts) {

        *part = (*part)->next;
        *i = 0;

        if (*part == NULL) {
            return NULL;
        }
    }

    return (ngx_table_elt_t *) (*part)->elts + (*i)++;
}


/* Joins several "tracestate" headers, which are one list, with commas. */

static ngx_int_t
ngx_http_submission_trace_join(ngx_http_request_t *r, sm_arena_t *arena,
    ngx_http_submission_trace_t *tr)
{
    u_char           *p;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    p = sm_arena_alloc(arena, tr->size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    tr->state.data = (char *) p;
    tr->state.len = tr->size - 1;

    part = &r->headers_in.headers.part;
    i = 0;

    while ((h = ngx_http_submission_trace_next(&part, &i)) != NULL) {

        if (ngx_http_submission_trace_is(h, "tracestate", 10)) {
            p = ngx_cpymem(p, h->value.data, h->value.len);
            *p++ = ',';
        }
    }

    return NGX_OK;
}


/* With two "traceparent" headers, neither can be believed. */

ngx_int_t
ngx_http_submission_trace_read(ngx_http_request_t *r, sm_arena_t *arena,
    sm_trace_t *trace)
{
    ngx_uint_t                    i;
    ngx_list_part_t              *part;
    ngx_table_elt_t              *h;
    ngx_http_submission_trace_t   tr;

    ngx_memzero(&tr, sizeof(ngx_http_submission_trace_t));
    ngx_memzero(trace, sizeof(sm_trace_t));

    part = &r->headers_in.headers.part;
    i = 0;

    while ((h = ngx_http_submission_trace_next(&part, &i)) != NULL) {
        ngx_http_submission_trace_header(&tr, h);
    }

    if (tr.parents != 1) {
        return NGX_OK;
    }

    if (tr.states > 1
        && ngx_http_submission_trace_join(r, arena, &tr) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return sm_trace_read(arena, tr.parent, tr.state, trace) == 0
           ? NGX_OK : NGX_ERROR;
}
