
/*
 * What waits for the store: rows of requests, the lanes of operations, and the
 * batches that threads take from them; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_INTAKE_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_INTAKE_H_INCLUDED_


#include "ngx_http_submission_request.h"
#include "ngx_http_submission_task.h"


typedef struct ngx_http_submission_node_s  ngx_http_submission_node_t;


/*
 * A node: a request's row while the intake has it, with its strings, in one
 * piece of memory.
 */

typedef enum {
    NGX_HTTP_SUBMISSION_NODE_NEW = 0,
    NGX_HTTP_SUBMISSION_NODE_WAITING,
    NGX_HTTP_SUBMISSION_NODE_TAKEN                 /* by a batch */
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


/* A lane: rows of one operation in one worker.  The mutex guards what waits. */

struct ngx_http_submission_lane_s {
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_op_e         op;
    ngx_event_t                      start;
    ngx_event_t                      again;        /* after an error */
    ngx_uint_t                       failures;     /* in a row */
    unsigned                         busy:1;       /* a task is out */

    pthread_mutex_t                  mutex;
    ngx_queue_t                      waiting;      /* .._ctx_t, by turns */
    ngx_uint_t                       nwaiting;
    size_t                           bytes;        /* of strings in them */
};


/* Answers that failures.c keeps for a moment. */

#define NGX_HTTP_SUBMISSION_KEPT  8

typedef struct {
    sm_failures_row_t                row;          /* what was asked for */
    ngx_str_t                        body;         /* of the answer */
    ngx_msec_t                       time;
} ngx_http_submission_kept_t;


struct ngx_http_submission_intake_s {
    ngx_http_submission_lane_t       lanes[NGX_HTTP_SUBMISSION_OP_N];
    ngx_http_submission_kept_t       kept[NGX_HTTP_SUBMISSION_KEPT];
    ngx_uint_t                       ncalls;       /* of the API, under way */
};


/* Rows that go to the store in one call. */

typedef struct {
    ngx_http_submission_task_t       task;
    ngx_http_submission_lane_t      *lane;

    ngx_queue_t                      nodes;        /* taken from the lane */
    ngx_uint_t                       n;
    void                            *rows;         /* of the nodes, in a row */
    ngx_atomic_uint_t                notices;      /* before the call */
} ngx_http_submission_batch_t;


/*
 * intake.c.  _add() makes a copy of a row, which belongs to the request.
 * _intake() takes all rows of a request, and returns NGX_DONE: the request is
 * answered later.  Or it takes none of them, because too many wait or the store
 * is down; then it has answered so, and the request is to be finalized with
 * what it returns.  _bulks() returns how many rows of bulk submissions may
 * wait.
 *
 * _put() puts a node into its lane, behind all others or before them, and
 * _get() takes it out, into a batch if there is one.  The caller of these two
 * holds the lane's mutex.
 */
ngx_int_t ngx_http_submission_intake_add(ngx_http_submission_ctx_t *ctx,
    void *row, ngx_uint_t line);
ngx_int_t ngx_http_submission_intake(ngx_http_submission_ctx_t *ctx);
ngx_uint_t ngx_http_submission_intake_bulks(
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_intake_put(ngx_http_submission_lane_t *lane,
    ngx_http_submission_node_t *node, ngx_uint_t first);
void ngx_http_submission_intake_get(ngx_http_submission_lane_t *lane,
    ngx_http_submission_batch_t *batch, ngx_http_submission_node_t *node);

/*
 * lane.c.  _room() tells whether one more call of the API may be made in this
 * worker.  _next() starts the lanes in which rows wait, after a call has ended:
 * those behind "op" first, so that operations take turns where there is no room
 * for all.  _refuse() answers all that wait, because the breaker is open.
 */
ngx_int_t ngx_http_submission_lane_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager, ngx_http_submission_op_e op);
ngx_uint_t ngx_http_submission_lane_room(
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_lane_next(ngx_http_submission_manager_t *manager,
    ngx_uint_t op);
void ngx_http_submission_lane_refuse(ngx_http_submission_manager_t *manager);

/*
 * batch.c.  _take() takes rows that wait into a batch, up to so many; mostly in
 * a thread.  _rows_thread() does so, and lays them out for the store.  _row()
 * returns one of them.
 */

#define NGX_HTTP_SUBMISSION_BATCH_ALL  NGX_MAX_INT_T_VALUE

void ngx_http_submission_batch_take(ngx_http_submission_batch_t *batch,
    ngx_uint_t max);
int ngx_http_submission_batch_rows_thread(ngx_http_submission_batch_t *batch);
void *ngx_http_submission_batch_row(ngx_http_submission_batch_t *batch,
    ngx_uint_t i);

/* retry.c: after a call that has failed, leaves what is to be answered. */
void ngx_http_submission_retry(ngx_http_submission_batch_t *batch);


#endif /* _NGX_HTTP_SUBMISSION_INTAKE_H_INCLUDED_ */
