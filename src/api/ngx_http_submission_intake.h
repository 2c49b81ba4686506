
/*
 * A request of the API, from its route to its answer; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_INTAKE_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_INTAKE_H_INCLUDED_


#include "ngx_http_submission_api.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"

#include "sm_action.h"
#include "sm_cursor.h"
#include "sm_route.h"
#include "sm_search.h"
#include "sm_time.h"


typedef struct ngx_http_submission_bulk_s    ngx_http_submission_bulk_t;
typedef struct ngx_http_submission_ctx_s     ngx_http_submission_ctx_t;
typedef struct ngx_http_submission_node_s    ngx_http_submission_node_t;
typedef struct ngx_http_submission_queue_s   ngx_http_submission_queue_t;
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


/* an argument of a query; the handler's NGX_DECLINED: not a good value */

typedef struct {
    const char                      *name;
    ngx_int_t                      (*handler)(ngx_http_submission_ctx_t *ctx,
                                         sm_str_t value);
    const char                      *message;
} ngx_http_submission_arg_t;


/*
 * What is at a path, by a method.  "args" ends with a NULL name.  _init() makes
 * the row what it is without arguments, and _parse() takes what the path says,
 * and goes on with the request: both may be NULL.
 */

typedef struct {
    sm_route_t                       route;        /* must be first */
    ngx_http_submission_op_e         op;
    ngx_http_submission_access_e     access;       /* that it needs */
    unsigned                         payloads:1;   /* or "payloads=on" */
    const ngx_http_submission_arg_t  *args;
    void                           (*init)(ngx_http_submission_ctx_t *ctx);
    ngx_int_t                      (*parse)(ngx_http_request_t *r);
} ngx_http_submission_route_t;


/* what a request with waitSeconds waits for */

typedef enum {
    NGX_HTTP_SUBMISSION_UNTIL_ATTEMPT = 0,         /* the first */
    NGX_HTTP_SUBMISSION_UNTIL_TERMINAL
} ngx_http_submission_until_e;

/* what "order" asks for; a list has one of its own */

#define NGX_HTTP_SUBMISSION_ORDER_ASC   1
#define NGX_HTTP_SUBMISSION_ORDER_DESC  2


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
    ngx_http_submission_queue_t     *queue;
    ngx_http_submission_bulk_t      *bulk;         /* it has many rows */

    ngx_uint_t                       order;        /* of a list */
    char                             cursor;       /* its kind */

    ngx_msec_t                       wait;         /* for the intent */
    ngx_http_submission_until_e      until;
    ngx_http_submission_waiter_t    *waiter;       /* while it does */

    ngx_buf_t                       *instead;      /* of nginx's error page */
    unsigned                         answered:1;
};


/*
 * A request's row while the intake has it, see intake.c: with its strings, in
 * one piece of memory.
 */

typedef enum {
    NGX_HTTP_SUBMISSION_NODE_NEW = 0,
    NGX_HTTP_SUBMISSION_NODE_WAITING,
    NGX_HTTP_SUBMISSION_NODE_TAKEN                 /* it is a batch's */
} ngx_http_submission_node_e;

struct ngx_http_submission_node_s {
    ngx_queue_t                      queue;        /* of its request or batch */
    ngx_queue_t                      siblings;     /* of the same request */
    ngx_http_submission_ctx_t       *ctx;          /* NULL: it has gone */
    ngx_uint_t                       line;         /* of a bulk submission */
    ngx_uint_t                       nth;          /* row of its batch */
    ngx_http_submission_node_e       state;
    ngx_uint_t                       tries;        /* that failed */
    ngx_msec_t                       entered;
    size_t                           strings;      /* bytes of them */
    uint64_t                         row[];
};


/* one operation's requests of one worker; the mutex is for what waits */

struct ngx_http_submission_queue_s {
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_op_e         op;
    ngx_event_t                      start;
    ngx_event_t                      again;        /* after an error */
    ngx_uint_t                       failures;     /* in a row */
    unsigned                         busy:1;       /* a task is out */

    pthread_mutex_t                  mutex;
    ngx_queue_t                      waiting;      /* .._ctx_t: whose turn is */
    ngx_uint_t                       nwaiting;
    size_t                           bytes;        /* of strings in them */
};


/* answers of failures.c, for a moment */

#define NGX_HTTP_SUBMISSION_KEPT  8

typedef struct {
    sm_failures_row_t                row;          /* what was asked for */
    ngx_str_t                        body;         /* of the answer */
    ngx_msec_t                       time;
} ngx_http_submission_kept_t;


struct ngx_http_submission_intake_s {
    ngx_http_submission_queue_t      queues[NGX_HTTP_SUBMISSION_OP_N];
    ngx_http_submission_kept_t       kept[NGX_HTTP_SUBMISSION_KEPT];
    ngx_uint_t                       ncalls;       /* of the API, under way */
};


/* those that go in one call */

typedef struct {
    ngx_http_submission_task_t       task;
    ngx_http_submission_queue_t     *queue;

    ngx_queue_t                      nodes;        /* taken from the queue */
    ngx_uint_t                       n;
    void                            *rows;         /* of the nodes, in a row */
    ngx_atomic_uint_t                notices;      /* that were before */
} ngx_http_submission_batch_t;


/*
 * intake.c.  _add() makes a copy of a row, which belongs to the request;
 * _intake() takes all rows of a request, and answers it: NGX_OK; or takes none
 * of them.  NGX_BUSY: too many wait; NGX_DECLINED: the store is down.
 * _bulks() is how many rows of bulk submissions may wait.
 * _room() is whether one more call of the API may be made in this worker, and
 * _calls() counts them.  _next() lets the next one ask, after a call has
 * ended.
 */
ngx_int_t ngx_http_submission_intake_add(ngx_http_submission_ctx_t *ctx,
    void *row, ngx_uint_t line);
ngx_int_t ngx_http_submission_intake(ngx_http_submission_ctx_t *ctx);
ngx_uint_t ngx_http_submission_intake_bulks(
    ngx_http_submission_manager_t *manager);
ngx_uint_t ngx_http_submission_intake_room(
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_intake_calls(ngx_http_submission_manager_t *manager,
    ngx_int_t n);
void ngx_http_submission_intake_next(ngx_http_submission_manager_t *manager,
    ngx_uint_t op);
void ngx_http_submission_intake_put(ngx_http_submission_queue_t *queue,
    ngx_http_submission_node_t *node, ngx_uint_t first);
void ngx_http_submission_intake_get(ngx_http_submission_queue_t *queue,
    ngx_http_submission_batch_t *batch, ngx_http_submission_node_t *node);

/* batch.c: takes what waits into a batch, up to so many; in a thread mostly */

#define NGX_HTTP_SUBMISSION_BATCH_ALL  NGX_MAX_INT_T_VALUE

void ngx_http_submission_batch_take(ngx_http_submission_batch_t *batch,
    ngx_uint_t max);
int ngx_http_submission_batch_rows(ngx_http_submission_batch_t *batch);
void *ngx_http_submission_batch_row(ngx_http_submission_batch_t *batch,
    ngx_uint_t i);

/* retry.c: leaves in the batch what is not tried again */
void ngx_http_submission_retry(ngx_http_submission_batch_t *batch);

/*
 * args.c: takes the arguments of the query into the row.  NGX_DECLINED: they
 * are not good, and the request is answered; otherwise what it is finalized
 * with.
 */

typedef struct {
    char                             message[384];
    const char                      *field;
    char                             name[200];    /* of one that is unknown */
} ngx_http_submission_args_t;

ngx_int_t ngx_http_submission_args(ngx_http_submission_ctx_t *ctx,
    ngx_http_submission_args_t *args);

extern const ngx_http_submission_arg_t  ngx_http_submission_submit_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_get_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_history_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_list_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_failures_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_no_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_audit_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_jobs_args[];
extern const ngx_http_submission_arg_t  ngx_http_submission_schedules_args[];

/*
 * api.c.  _ctx() is the context of a request, which is made where there is none;
 * NULL: there is no memory.  _header() is the first of that name, or NULL.
 * What parsers end with: _enter() hands the row to the intake, and
 * _enter_all() the rows that were added; _read()
 * does so for a request without a body that matters, _read_id() for one of an
 * intent.
 */
ngx_http_submission_ctx_t *ngx_http_submission_api_ctx(ngx_http_request_t *r);
ngx_table_elt_t *ngx_http_submission_api_header(ngx_http_request_t *r,
    const char *name);
ngx_int_t ngx_http_submission_api_enter(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_api_enter_all(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_api_read(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_api_read_id(ngx_http_request_t *r, sm_str_t *id);
ngx_int_t ngx_http_submission_api_id(ngx_http_request_t *r, sm_str_t *id);

/*
 * access.c: NGX_DECLINED, and the request may go on; or what it is finalized
 * with.  _actor() is who makes the request, in its memory.
 */
ngx_int_t ngx_http_submission_access(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_access_actor(ngx_http_request_t *r,
    sm_actor_t *actor);
const char *ngx_http_submission_access_name(
    ngx_http_submission_access_e level);
ngx_uint_t ngx_http_submission_access_payloads(ngx_http_request_t *r);
ngx_uint_t ngx_http_submission_access_paths(ngx_http_request_t *r);

/* origin.c: likewise, whether a page has sent it that may */
ngx_int_t ngx_http_submission_origin(ngx_http_submission_ctx_t *ctx);

/* config.c */
ngx_int_t ngx_http_submission_config_parse(ngx_http_request_t *r);

/* trace.c: what is valid of it; without memory NGX_ERROR */
ngx_int_t ngx_http_submission_trace_read(ngx_http_request_t *r,
    sm_arena_t *arena, sm_trace_t *trace);

/* submit.c and read.c: what the routes name */
ngx_int_t ngx_http_submission_submit_type(ngx_http_request_t *r,
    ngx_http_submission_body_pt handler);
ngx_int_t ngx_http_submission_submit_parse(ngx_http_request_t *r);
void ngx_http_submission_get_init(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_get_parse(ngx_http_request_t *r);
void ngx_http_submission_history_init(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_history_parse(ngx_http_request_t *r);
void ngx_http_submission_list_init(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_list_parse(ngx_http_request_t *r);

/*
 * submit.c: one intent.  _row() reads what was posted: NGX_DECLINED: it is not
 * good, and the error says why.  _status(), _size() and _out() are what becomes
 * of it: "intent":{...} or "error":{...}.
 */
ngx_int_t ngx_http_submission_submit_row(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_submit_row_t *row,
    sm_json_error_t *err);
ngx_http_submission_target_t *ngx_http_submission_submit_target(
    ngx_http_submission_ctx_t *ctx, sm_str_t name, sm_json_error_t *err);
ngx_uint_t ngx_http_submission_submit_status(const sm_submit_row_t *row);
size_t ngx_http_submission_submit_size(const sm_submit_row_t *row);
void ngx_http_submission_submit_error(sm_out_t *out,
    const sm_submit_row_t *row);

/*
 * bulk.c: many intents in one request.  _outcome() takes that of one line;
 * without a row the store has failed.  NGX_DONE: others are to come; otherwise
 * the request is answered, and to be finalized, with NGX_AGAIN, too: then the
 * rest of the answer is still to be sent.
 */
ngx_uint_t ngx_http_submission_bulk_type(ngx_str_t *type);
ngx_int_t ngx_http_submission_bulk_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_bulk_outcome(ngx_http_submission_ctx_t *ctx,
    ngx_uint_t line, const sm_submit_row_t *row, ngx_uint_t overloaded);

/* failures.c: answers from what is kept, or asks the store */
ngx_int_t ngx_http_submission_failures_parse(ngx_http_request_t *r);

/* cancel.c, replay.c, audit.c and payload.c: likewise */
ngx_int_t ngx_http_submission_cancel_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_replay_parse(ngx_http_request_t *r);

/* webhooks.c */
ngx_int_t ngx_http_submission_webhooks_parse(ngx_http_request_t *r);
size_t ngx_http_submission_webhooks_size(const sm_events_row_t *row);
void ngx_http_submission_webhooks_out(ngx_http_request_t *r, sm_out_t *out,
    const sm_events_row_t *row);
ngx_int_t ngx_http_submission_payload_parse(ngx_http_request_t *r);
void ngx_http_submission_audit_init(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_audit_parse(ngx_http_request_t *r);

/* config.c: a URL as a string of JSON, without the password in it */
void ngx_http_submission_config_url(sm_out_t *out, sm_str_t url,
    ngx_uint_t path);

/* overview.c and target_list.c: likewise, from the zone */
ngx_int_t ngx_http_submission_overview_parse(ngx_http_request_t *r);
void ngx_http_submission_stats_init_args(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_stats_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_target_list_parse(ngx_http_request_t *r);

extern const ngx_http_submission_arg_t  ngx_http_submission_stats_args[];
/* jobs.c: likewise, of /v1/replays and of /v1/cancels */
void ngx_http_submission_jobs_init(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_jobs_add_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_jobs_get_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_jobs_stop_parse(ngx_http_request_t *r);

/* pause.c: likewise, and it serves resumes */
void ngx_http_submission_pause_init(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_pause_parse(ngx_http_request_t *r);

/* schedules.c: likewise */
void ngx_http_submission_schedules_init(ngx_http_submission_ctx_t *ctx);
void ngx_http_submission_schedules_list_init(ngx_http_submission_ctx_t *ctx);
ngx_int_t ngx_http_submission_schedules_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_schedules_put_parse(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_schedules_act_parse(ngx_http_request_t *r);

/* body.c */
ngx_int_t ngx_http_submission_body_read(ngx_http_request_t *r,
    ngx_http_submission_body_pt handler);

/* reply.c */
ngx_int_t ngx_http_submission_reply_out(ngx_http_request_t *r, sm_out_t *out,
    size_t size);
ngx_int_t ngx_http_submission_reply_send(ngx_http_request_t *r,
    ngx_uint_t status, sm_out_t *out);
ngx_int_t ngx_http_submission_reply_lines(ngx_http_request_t *r,
    sm_out_t *out);
ngx_int_t ngx_http_submission_reply_header(ngx_http_request_t *r, char *key,
    const char *value);
ngx_int_t ngx_http_submission_reply_error(ngx_http_request_t *r,
    ngx_uint_t status, const char *code, const char *message,
    const char *field);
ngx_int_t ngx_http_submission_reply_invalid(ngx_http_request_t *r,
    const sm_json_error_t *err);
ngx_int_t ngx_http_submission_reply_not_found(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_reply_status(ngx_http_request_t *r,
    const char *code, const char *message, sm_status_e status);
ngx_int_t ngx_http_submission_reply_unavailable(ngx_http_request_t *r,
    ngx_uint_t overloaded);

/*
 * Refuses a request whose answer may be large, and that changes nothing, while
 * there are too many bytes of answers in memory.  NGX_DECLINED: there are not.
 */
ngx_int_t ngx_http_submission_reply_unread(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_reply_overloaded(ngx_http_request_t *r);
ngx_int_t ngx_http_submission_reply_method(ngx_http_request_t *r,
    const char *allow);
ngx_int_t ngx_http_submission_reply_intent(ngx_http_request_t *r,
    const sm_intent_t *intent);
void ngx_http_submission_reply_error_out(sm_out_t *out, const char *code,
    const char *message);
void ngx_http_submission_reply_error_key(sm_out_t *out, const char *code,
    const char *message);
const char *ngx_http_submission_reply_unavailable_text(ngx_uint_t overloaded);
void ngx_http_submission_finalize(ngx_http_request_t *r, ngx_int_t rc);

#define NGX_HTTP_SUBMISSION_REPLY_ERROR_SIZE  2048

/* what is said of an id of the form of an occurrence's */

#define NGX_HTTP_SUBMISSION_REPLY_RESERVED                                    \
    "\"" SM_FIELD_ID "\" belongs to a schedule: only the schedule makes "      \
    "intents with ids of the form \"<schedule>@<time>\""

/*
 * wait.c: takes a request whose row has an intent, and answers it later:
 * NGX_DONE; NGX_DECLINED: there is nothing to wait for.  "since" is the count
 * of notices from before the store was asked.
 */
ngx_int_t ngx_http_submission_wait(ngx_http_submission_ctx_t *ctx, void *row,
    ngx_atomic_uint_t since);
void ngx_http_submission_wait_next(ngx_http_submission_manager_t *manager);


#endif /* _NGX_HTTP_SUBMISSION_INTAKE_H_INCLUDED_ */
