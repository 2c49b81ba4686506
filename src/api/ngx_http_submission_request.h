
/*
 * A request of the API: its route, its context, its body; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_REQUEST_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_REQUEST_H_INCLUDED_


#include "ngx_http_submission_api.h"
#include "ngx_http_submission_status.h"

#include "sm_action.h"
#include "sm_route.h"


typedef struct ngx_http_submission_arg_s     ngx_http_submission_arg_t;
typedef struct ngx_http_submission_bulk_s    ngx_http_submission_bulk_t;
typedef struct ngx_http_submission_ctx_s     ngx_http_submission_ctx_t;
typedef struct ngx_http_submission_lane_s    ngx_http_submission_lane_t;
typedef struct ngx_http_submission_waiter_s  ngx_http_submission_waiter_t;


static ngx_inline sm_str_t
ngx_http_submission_str(ngx_str_t *s)
{
    sm_str_t  str;

    str.data = (char *) s->data;
    str.len = s->len;

    return str;
}


/*
 * Takes a request with its whole body, which is valid only until the function
 * returns.  NGX_DONE: the request is answered later.  Otherwise the request is
 * to be finalized with the returned code, which may be NGX_AGAIN if the output
 * filters have not sent all of the answer.
 */

typedef ngx_int_t (*ngx_http_submission_body_pt)(ngx_http_request_t *r,
    sm_str_t body);


/*
 * What is at a path, by a method.  "args" ends with a NULL name; without
 * "args" the route takes none.  _init() makes the row what it is without
 * arguments, and may be NULL.  A route with _body() takes a body of JSON, which
 * may be empty; any other has _parse().  Both take what the path says, and go
 * on with the request.
 */

typedef struct {
    sm_route_t                       route;        /* must be first */
    ngx_http_submission_op_e         op;
    ngx_http_submission_access_e     access;       /* that it needs */
    unsigned                         payloads:1;   /* or "payloads=on" */
    unsigned                         kind;         /* for its own functions */
    const ngx_http_submission_arg_t  *args;
    void                           (*init)(ngx_http_submission_ctx_t *ctx);
    ngx_int_t                      (*parse)(ngx_http_request_t *r);
    ngx_http_submission_body_pt      body;
} ngx_http_submission_route_t;


/* what a request with waitSeconds waits for */

typedef enum {
    NGX_HTTP_SUBMISSION_UNTIL_ATTEMPT = 0,         /* the first */
    NGX_HTTP_SUBMISSION_UNTIL_TERMINAL
} ngx_http_submission_until_e;


/* a request; its row is described by its inputs, and answered by the rest */

struct ngx_http_submission_ctx_s {
    ngx_http_request_t              *request;
    ngx_http_submission_manager_t   *manager;
    const ngx_http_submission_route_t  *route;
    const ngx_http_submission_op_t  *op;
    sm_str_t                         id;           /* of the path */
    void                            *row;
    ngx_http_submission_body_pt      body_handler;

    ngx_queue_t                      nodes;        /* .._node_t: of its rows */
    ngx_queue_t                      waiting;      /* those that wait */
    ngx_queue_t                      turn;         /* in the queue, if any do */
    ngx_http_submission_lane_t      *lane;
    ngx_http_submission_bulk_t      *bulk;         /* it has many rows */

    ngx_uint_t                       order;        /* of a list */
    char                             cursor;       /* its kind */

    ngx_msec_t                       wait;         /* for the intent */
    ngx_http_submission_until_e      until;
    ngx_http_submission_waiter_t    *waiter;       /* while it does */

    ngx_buf_t                       *instead;      /* of nginx's error page */
    unsigned                         replaced:1;   /* and of all of it */
    unsigned                         answered:1;
    unsigned                         lines:1;      /* the answer is NDJSON */
};


/*
 * api.c.  _ctx() returns the context of a request, and makes it where there is
 * none; NULL: there is no memory.  _header() is the first of that name, or
 * NULL.  Parsers end with one of these: _enter() hands the row to the intake;
 * _read() does so for a request without a body that matters, _read_id() for one
 * of an intent.
 */
ngx_http_submission_ctx_t *ngx_http_submission_api_ctx(ngx_http_request_t *r);
ngx_table_elt_t *ngx_http_submission_api_header(ngx_http_request_t *r,
    const char *name);
ngx_int_t ngx_http_submission_api_enter(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_api_read(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_api_read_id(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_api_id(ngx_http_request_t *r, sm_str_t *id);

/*
 * body.c: reads the body for the handler.  With "expected" it must be JSON, and
 * that is what a request with a body of another type is answered.
 */

#define NGX_HTTP_SUBMISSION_BODY_JSON  "the body must be \"application/json\""

ngx_int_t ngx_http_submission_body_read(ngx_http_request_t *r,
    ngx_http_submission_body_pt handler, const char *expected);

/*
 * A body of a request that says nothing else yet: there is none, or it is an
 * empty object, and NGX_DECLINED is returned; or what the request is to be
 * finalized with.
 */
ngx_int_t ngx_http_submission_body_nothing(ngx_http_request_t *r,
    sm_str_t body);

/* trace.c: what is valid of it; without memory NGX_ERROR */
ngx_int_t ngx_http_submission_trace_read(ngx_http_request_t *r,
    sm_arena_t *arena, sm_trace_t *trace);


#endif /* _NGX_HTTP_SUBMISSION_REQUEST_H_INCLUDED_ */
