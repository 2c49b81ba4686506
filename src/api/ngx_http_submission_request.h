
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
typedef struct ngx_http_submission_input_s   ngx_http_submission_input_t;
typedef struct ngx_http_submission_lane_s    ngx_http_submission_lane_t;
typedef struct ngx_http_submission_waiter_s  ngx_http_submission_waiter_t;


/*
 * Takes a request with its whole body, which is valid only until the function
 * returns.  NGX_DONE: the request is answered later.  Otherwise the request is
 * to be finalized with the returned code, which may be NGX_AGAIN if the output
 * filters have not sent all of the answer.
 */

typedef ngx_int_t (*ngx_http_submission_body_pt)(ngx_http_request_t *r,
    sm_str_t body);


/*
 * Takes the path and the body of a request into its row; without a body, "body"
 * is empty.  Strings of the row may be in the body and in the arena, because
 * the intake copies them.  Returns NGX_DECLINED if the request is answered 400
 * with what the error says, NGX_AGAIN if it is answered 503, because another
 * instance may take it, and NGX_ERROR without memory.
 */

typedef ngx_int_t (*ngx_http_submission_take_pt)(
    ngx_http_submission_ctx_t *ctx, sm_arena_t *arena, sm_str_t body,
    sm_json_error_t *err);


/*
 * How the requests of a route are read.  Without "args" a request may have
 * none; "row_size" is that of a row for them where no operation has one.
 * init() sets what a row has without arguments.  A POST or a PUT has a body of
 * JSON, which may be empty, and take() gets it.  A route that reads requests in
 * a way of its own, or answers them without the store, has a handler.
 */

struct ngx_http_submission_input_s {
    const ngx_http_submission_arg_t  *args;
    size_t                            row_size;
    void                            (*init)(ngx_http_submission_ctx_t *ctx);
    ngx_http_submission_take_pt       take;
    ngx_int_t                       (*handler)(ngx_http_request_t *r);
};


/* What is at a path, by a method. */

typedef struct {
    sm_route_t                         route;      /* must be first */
    ngx_http_submission_op_e           op;
    ngx_http_submission_access_e       access;     /* that it needs */
    unsigned                           payloads:1; /* or "payloads=on" */
    unsigned                           kind;       /* for its own functions */
    const ngx_http_submission_input_t *input;
} ngx_http_submission_route_t;


/* What a request with "waitSeconds" waits for. */

typedef enum {
    NGX_HTTP_SUBMISSION_UNTIL_ATTEMPT = 0,         /* the first */
    NGX_HTTP_SUBMISSION_UNTIL_TERMINAL
} ngx_http_submission_until_e;


/* A request.  Its row has what it asks for, and gets what the store answers. */

struct ngx_http_submission_ctx_s {
    ngx_http_request_t              *request;
    ngx_http_submission_manager_t   *manager;
    const ngx_http_submission_route_t  *route;
    const ngx_http_submission_op_t  *op;
    sm_str_t                         id;           /* of the path */
    void                            *row;
    ngx_http_submission_body_pt      body_handler;

    ngx_queue_t                      nodes;        /* .._node_t: of its rows */
    ngx_queue_t                      waiting;      /* nodes in the lane */
    ngx_queue_t                      turn;         /* in the lane, if any are */
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
 * api.c.  _ctx() returns the context of a request, and makes it if there is
 * none yet; NULL: there is no memory.  _header() returns the first header of
 * that name, or NULL.
 *
 * _take() takes a request with its body into its row, and hands that to the
 * intake.  _read() does so for a request whose body was discarded.
 */
ngx_http_submission_ctx_t *ngx_http_submission_api_ctx(ngx_http_request_t *r);
ngx_table_elt_t *ngx_http_submission_api_header(ngx_http_request_t *r,
    const char *name);
ngx_int_t ngx_http_submission_api_take(ngx_http_request_t *r, sm_str_t body);
ngx_int_t ngx_http_submission_api_read(ngx_http_request_t *r);

/*
 * For what takes requests.  _check() puts "<what> <why>" into the error, or
 * with a NULL "what" the key in quotes and why, and returns NGX_DECLINED; if
 * "why" is NULL, nothing is wrong, and it returns NGX_OK.  _id() takes the id
 * of an intent from the path, _take_id() does so for a row whose first string
 * it is.  _clean() makes a printable copy of up to "max" characters.
 */
ngx_int_t ngx_http_submission_api_check(sm_json_error_t *err, const char *what,
    const char *key, const char *why);
ngx_int_t ngx_http_submission_api_id(ngx_http_submission_ctx_t *ctx,
    sm_str_t *id, sm_json_error_t *err);
ngx_int_t ngx_http_submission_api_take_id(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err);
ngx_int_t ngx_http_submission_api_clean(ngx_pool_t *pool, sm_str_t text,
    size_t max, sm_str_t *clean);

/*
 * body.c: reads the body for the handler.  With "expected" it must be JSON, and
 * a request with a body of another type is answered with that text.
 */

#define NGX_HTTP_SUBMISSION_BODY_JSON  "the body must be \"application/json\""

ngx_int_t ngx_http_submission_body_read(ngx_http_request_t *r,
    ngx_http_submission_body_pt handler, const char *expected);

/*
 * Reads an object whose fields are all optional, as sm_json_object() does; no
 * body is an object without fields.  _nothing() is for a body that may only be
 * such an object.
 */
ngx_int_t ngx_http_submission_body_object(sm_arena_t *arena, sm_str_t body,
    const sm_json_field_t *fields, sm_json_value_t *values,
    sm_json_error_t *err);
ngx_int_t ngx_http_submission_body_nothing(sm_arena_t *arena, sm_str_t body,
    sm_json_error_t *err);

/*
 * trace.c: reads what is valid of the trace context.  Returns NGX_ERROR without
 * memory.
 */
ngx_int_t ngx_http_submission_trace_read(ngx_http_request_t *r,
    sm_arena_t *arena, sm_trace_t *trace);


#endif /* _NGX_HTTP_SUBMISSION_REQUEST_H_INCLUDED_ */
