
/*
 * An attempt, and what the queue learns of its gateway; for executor/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_ATTEMPT_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ATTEMPT_H_INCLUDED_


#include "ngx_http_submission_executor_ctx.h"

#include "sm_exchange.h"
#include "sm_policy.h"
#include "sm_trace.h"


/*
 * An attempt, from begin to complete, in one piece of memory with everything
 * that it points to, except for what nginx allocates while the attempt is at
 * the gateway.
 */

struct ngx_http_submission_attempt_s {
    ngx_http_connection_t            hc;           /* must be first */

    ngx_queue_t                      queue;
    ngx_http_submission_manager_t   *manager;
    ngx_uint_t                       generation;
    sm_entry_t                      *entry;        /* of that generation */
    ngx_uint_t                       known;        /* see in_hand.c */

    sm_str_t                         id;
    ngx_http_submission_target_t    *target;       /* NULL: not configured */
    sm_contract_t                    contract;
    sm_str_t                         payload;
    sm_trace_t                       trace;        /* as it is sent */
    sm_str_t                         span_id;
    sm_str_t                        *keys;         /* that sign it */
    ngx_uint_t                       nkeys;
    int64_t                          number;
    int64_t                          epoch;
    int64_t                          created_at;   /* or not_before */
    int64_t                          due_at;
    int64_t                          started_at;
    int64_t                          finished_at;

    /* at the gateway */
    ngx_connection_t                *connection;
    ngx_http_request_t              *request;
    ngx_http_upstream_t             *upstream;     /* see dispatch.c */
    ngx_event_t                      hook;
    ngx_event_t                      timeout;
    ngx_log_t                        log;          /* of its location */
    u_char                          *message_end;  /* of a log line */
    ngx_int_t                      (*create_request)(ngx_http_request_t *r);
    ngx_output_chain_filter_pt       output_filter;
    void                            *output_ctx;
    ngx_atomic_uint_t                peer;         /* its connection */
    ngx_str_t                        url;
    ngx_str_t                        path;
    int64_t                          left_at;      /* monotonic, usec */
    int64_t                          took;         /* usec */
    int64_t                          read_timeout; /* msec; 0: not known */

    sm_exchange_t                    exchange;
    u_char                          *body;
    size_t                           allocated;
    unsigned                         gated:1;      /* the gate was shut */
    unsigned                         forgotten:1;  /* see in_hand.c */

    /* the end */
    sm_exchange_e                    what;
    sm_arena_t                       arena;
    sm_outcome_e                     outcome;
    sm_str_t                         reason;
    sm_str_t                         error;
    int64_t                          http_status;
    sm_str_t                         kept;         /* part of the answer */
    int64_t                          retry_after;
    sm_policy_out_t                  decision;

    char                             data[];
};


/*
 * attempt.c.  _start() takes over a row that was begun in this epoch at this
 * time.  _finished() is called when nginx has finished its request.  _entry()
 * is NULL if the queue that had it is gone.  _drop() gives it up unrecorded.
 */
void ngx_http_submission_attempt_start(ngx_http_submission_manager_t *manager,
    ngx_uint_t generation, sm_entry_t *entry, sm_begin_row_t *row,
    int64_t epoch, int64_t now);
void ngx_http_submission_attempt_finished(ngx_http_submission_attempt_t *at);
void ngx_http_submission_attempt_drop(ngx_http_submission_attempt_t *at,
    const char *why);
void ngx_http_submission_attempt_free(ngx_http_submission_attempt_t *at);
sm_entry_t *ngx_http_submission_attempt_entry(
    ngx_http_submission_attempt_t *at);
void ngx_http_submission_attempt_log(ngx_http_submission_attempt_t *at,
    ngx_uint_t level, const char *event, const char *note);

/*
 * outage.c.  _sent() is called when the first byte leaves, and _outage() when
 * the attempt has ended or could not be sent; _short() is called in its place
 * if this host had no connection or memory left.  _unsent() returns after how
 * many milliseconds what could not be sent is tried again.
 */
void ngx_http_submission_outage_sent(ngx_http_submission_attempt_t *at);
ngx_int_t ngx_http_submission_outage_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_outage(ngx_http_submission_attempt_t *at);
void ngx_http_submission_outage_short(ngx_http_submission_attempt_t *at);
int64_t ngx_http_submission_outage_unsent(ngx_http_submission_attempt_t *at);


#endif /* _NGX_HTTP_SUBMISSION_ATTEMPT_H_INCLUDED_ */
