
/*
 * What is asked of the store.  An operation is one row of a table, in
 * ngx_http_submission_operations.c, and is known by its number in the metrics
 * of the zone: new ones go to the end of the list.
 */

#ifndef _NGX_HTTP_SUBMISSION_OPERATIONS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_OPERATIONS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sm_store.h"


typedef enum {
    NGX_HTTP_SUBMISSION_OP_NONE = 0,        /* the store is not asked */
    NGX_HTTP_SUBMISSION_OP_PING,
    NGX_HTTP_SUBMISSION_OP_INTENTS_SUBMIT,
    NGX_HTTP_SUBMISSION_OP_INTENTS_GET,
    NGX_HTTP_SUBMISSION_OP_INTENT_HISTORY,
    NGX_HTTP_SUBMISSION_OP_INTENTS_LIST,
    NGX_HTTP_SUBMISSION_OP_CLUSTER_GET,
    NGX_HTTP_SUBMISSION_OP_LEASE_ACQUIRE,
    NGX_HTTP_SUBMISSION_OP_LEASE_TAKEOVER,
    NGX_HTTP_SUBMISSION_OP_LEASE_RENEW,
    NGX_HTTP_SUBMISSION_OP_LEASE_RELEASE,
    NGX_HTTP_SUBMISSION_OP_LEASE_WATCH,
    NGX_HTTP_SUBMISSION_OP_QUEUE_PAGE,
    NGX_HTTP_SUBMISSION_OP_ATTEMPTS_TURN,
    NGX_HTTP_SUBMISSION_OP_ATTEMPTS_EXPIRE,
    NGX_HTTP_SUBMISSION_OP_ATTEMPTS_RECOVER,
    NGX_HTTP_SUBMISSION_OP_TIDY,
    NGX_HTTP_SUBMISSION_OP_INTENTS_CANCEL,
    NGX_HTTP_SUBMISSION_OP_INTENTS_REPLAY,
    NGX_HTTP_SUBMISSION_OP_INTENT_PAYLOAD,
    NGX_HTTP_SUBMISSION_OP_AUDIT_LIST,
    NGX_HTTP_SUBMISSION_OP_FAILURES_GET,
    NGX_HTTP_SUBMISSION_OP_INBOX_MOVE,
    NGX_HTTP_SUBMISSION_OP_RETENTION,
    NGX_HTTP_SUBMISSION_OP_STATS_PUT,
    NGX_HTTP_SUBMISSION_OP_STATS_GET,
    NGX_HTTP_SUBMISSION_OP_BACKLOG_GET,
    NGX_HTTP_SUBMISSION_OP_JOBS_ADD,
    NGX_HTTP_SUBMISSION_OP_JOBS_STOP,
    NGX_HTTP_SUBMISSION_OP_JOBS_LIST,
    NGX_HTTP_SUBMISSION_OP_JOB_WORK,
    NGX_HTTP_SUBMISSION_OP_QUEUE_DROP,
    NGX_HTTP_SUBMISSION_OP_TARGET_SET,
    NGX_HTTP_SUBMISSION_OP_TARGETS_PAUSED,
    NGX_HTTP_SUBMISSION_OP_SCHEDULES_FIRE,
    NGX_HTTP_SUBMISSION_OP_SCHEDULES_LIST,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_GET,    /* as sm_schedule_op_e, from here */
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_PUT,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_DELETE,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_PAUSE,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_RESUME,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_RUN,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_PREVIEW,
    NGX_HTTP_SUBMISSION_OP_WEBHOOKS_RESEND,
    NGX_HTTP_SUBMISSION_OP_WEBHOOK_MESSAGES,
    NGX_HTTP_SUBMISSION_OP_WEBHOOK_GONE,
    NGX_HTTP_SUBMISSION_OP_N
} ngx_http_submission_op_e;


struct ngx_http_submission_manager_s;
typedef struct ngx_http_submission_task_s  ngx_http_submission_task_t;


/*
 * Asks the store for all rows of a batch, in a thread.  The store's own
 * functions take rows of a type: operations.c has a function of this type for
 * each that is called as it is.
 */

typedef int (*ngx_http_submission_call_pt)(sm_store_t *store, sm_call_t *call,
    void *rows, size_t n);


typedef struct {
    const char                  *name;

    unsigned                     batched:1;   /* it has rows: count them */
    unsigned                     writes:1;    /* it ends in a commit */
    unsigned                     proves:1;    /* of what it always writes */
    unsigned                     grows:1;     /* it writes intents, attempts */
    unsigned                     wakes:1;     /* the leader is to look */
    unsigned                     notices:1;   /* and so are those that wait */

    /* the whole of it, in a thread */
    void                       (*run)(ngx_http_submission_task_t *task);

    /*
     * The rest is for operations of the API, where each request is a row of a
     * batch.  _reply() answers the request.  _left() tells whether the call has
     * left a row for another one: the row goes back to its lane.  _again()
     * takes from a row of a call that has failed what the next try has to know.
     * _note() tells of what the call has done, whether or not its client is
     * still there.  _intent() is what a request may wait for; NULL: the row has none.  With
     * _arrived(), a request may wait for an intent that does not exist yet,
     * whose id is the first string of the row; it tells the row that the intent
     * has come.
     */

    size_t                       row_size;

    /*
     * The strings of a row's inputs, which go with it: their offsets, and those
     * of an entity in the row, if there is one
     */
    const size_t                *strings;
    ngx_uint_t                   nstrings;
    const sm_field_t            *fields;
    size_t                       entity;      /* offset */

    /*
     * What the answer may take in the memory of the batch: so many bytes, and
     * so many for each of what the row's own limit says, which is a size_t
     */
    size_t                       weight;
    size_t                       weight_each;
    size_t                       limit;       /* offset */

    ngx_http_submission_call_pt  call;
    unsigned                     once:1;      /* for all rows of a batch */
    ngx_uint_t                 (*left)(const void *row);
    ngx_int_t                  (*reply)(ngx_http_request_t *r,
                                     const void *row);
    void                       (*again)(void *row, const void *tried);
    void                       (*note)(
                                  struct ngx_http_submission_manager_s *manager,
                                     const void *row);
    sm_intent_t               *(*intent)(void *row);
    void                       (*arrived)(void *row);
} ngx_http_submission_op_t;


extern const ngx_http_submission_op_t  ngx_http_submission_ops[];

/* the n-th string of a row's inputs; NULL if it has no more */
sm_str_t *ngx_http_submission_op_string(const ngx_http_submission_op_t *op,
    void *row, ngx_uint_t n);


#endif /* _NGX_HTTP_SUBMISSION_OPERATIONS_H_INCLUDED_ */
