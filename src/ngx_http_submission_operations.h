
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
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_PAGE,
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
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_DROP,
    NGX_HTTP_SUBMISSION_OP_TARGET_SET,
    NGX_HTTP_SUBMISSION_OP_TARGETS_PAUSED,
    NGX_HTTP_SUBMISSION_OP_SCHEDULES_FIRE,
    NGX_HTTP_SUBMISSION_OP_SCHEDULES_LIST,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_GET,    /* as sm_recur_op_e, from here */
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_PUT,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_DELETE,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_PAUSE,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_RESUME,
    NGX_HTTP_SUBMISSION_OP_SCHEDULE_RUN,
    NGX_HTTP_SUBMISSION_OP_WEBHOOKS_RESEND,
    NGX_HTTP_SUBMISSION_OP_WEBHOOK_GONE,
    NGX_HTTP_SUBMISSION_OP_N
} ngx_http_submission_op_e;


typedef struct ngx_http_submission_task_s  ngx_http_submission_task_t;


typedef struct {
    const char    *name;

    unsigned       batched:1;     /* it has rows, and they are counted */
    unsigned       writes:1;      /* it ends in a commit */
    unsigned       wakes:1;       /* the leader has something to look at */
    unsigned       notices:1;     /* and so have those that wait */

    /* in a thread: the whole of it */
    void         (*run)(ngx_http_submission_task_t *task);

    /*
     * Of the API's alone, where each request is a row of a batch.  A row's
     * inputs may point to strings: _own() lists them.  _weight() is what a row
     * may add to the memory of its batch, in bytes.  _call() asks the store,
     * in a thread; _reply() answers the request.  _left() is whether the call
     * has left a row for another one: the row goes back to the queue.  _again()
     * takes from a row of a call that has failed what the next try has to know.
     */
    size_t         row_size;
    ngx_uint_t   (*own)(void *row, sm_str_t **strings);
    size_t       (*weight)(const void *row);
    int          (*call)(sm_store_t *store, sm_call_t *call, void *rows,
                      size_t n);
    ngx_uint_t   (*left)(const void *row);
    ngx_int_t    (*reply)(ngx_http_request_t *r, const void *row);
    void         (*again)(void *row, const void *tried);

    /* the intent of a row that a request may wait for; NULL: it has none */
    sm_intent_t *(*intent)(void *row);
} ngx_http_submission_op_t;


/* strings that a row may own */

#define NGX_HTTP_SUBMISSION_OP_STRINGS  10


extern const ngx_http_submission_op_t  ngx_http_submission_ops[];


#endif /* _NGX_HTTP_SUBMISSION_OPERATIONS_H_INCLUDED_ */
