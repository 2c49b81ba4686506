
/*
 * Where attempts begin and are recorded, and where intents end; for executor/
 * alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_TURN_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_TURN_H_INCLUDED_


#include "ngx_http_submission_executor_ctx.h"


/*
 * queue.c.  _start() and _stop() are for the epoch.  _new() has the queue read
 * what is new in the store: the caller knows that there is something.
 */
void ngx_http_submission_queue_start(ngx_http_submission_executor_t *ex);
void ngx_http_submission_queue_stop(ngx_http_submission_executor_t *ex);
void ngx_http_submission_queue_new(ngx_http_submission_executor_t *ex);

/*
 * turn.c.  _turn() returns NGX_OK if the call is out or there is nothing to do,
 * and NGX_ERROR if it cannot be made now.  _start() begins an epoch, and _out()
 * is whether a call is out.  _flush() is for the leader.  _end() is for a
 * worker that is being terminated: it settles the last turn, and records the
 * outcomes in place; NGX_ERROR: some are left.
 */
ngx_int_t ngx_http_submission_turn_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_turn_start(ngx_http_submission_executor_t *ex);
ngx_uint_t ngx_http_submission_turn_out(ngx_http_submission_executor_t *ex);
ngx_int_t ngx_http_submission_turn(ngx_http_submission_executor_t *ex);
ngx_int_t ngx_http_submission_turn_flush(
    ngx_http_submission_manager_t *manager);
ngx_int_t ngx_http_submission_turn_end(ngx_http_submission_executor_t *ex,
    ngx_msec_t deadline);

/*
 * turn_result.c, with "now" the store's time.  _not_begun() takes in what the
 * store says of an intent that it did not begin: the deadline has passed, the
 * intent is not due yet, the store refused to change it, or it is not there to
 * begin.  Without an entry, the queue that had it is gone.  _record() books an
 * attempt that has ended.
 */
void ngx_http_submission_turn_not_begun(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, sm_entry_t *entry,
    sm_begin_row_t *row, int64_t epoch, int64_t now);
void ngx_http_submission_turn_record(ngx_http_submission_attempt_t *at,
    sm_complete_row_t *row, int64_t now);

/*
 * expiry.c: intents whose deadline has passed before they could be begun.
 * _out() is whether a call is out.  _ended() books one that the store has
 * ended, with "now" the store's time; without "entry", the queue that had it is
 * gone.  _look() has the store end what the queue has taken out of the way.
 * _end() takes the answer of a call that is out when the worker is terminated.
 * _tell() logs how many there were since the last line.
 */
ngx_int_t ngx_http_submission_expiry_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
ngx_uint_t ngx_http_submission_expiry_out(ngx_http_submission_executor_t *ex);
void ngx_http_submission_expiry_ended(ngx_http_submission_manager_t *manager,
    ngx_http_submission_target_t *target, sm_entry_t *entry,
    sm_begin_row_t *row, int64_t epoch, int64_t now);
void ngx_http_submission_expiry_look(ngx_http_submission_executor_t *ex);
void ngx_http_submission_expiry_end(ngx_http_submission_executor_t *ex);
void ngx_http_submission_expiry_tell(ngx_http_submission_executor_t *ex);

/*
 * ended.c: books the end of an intent.  _canceled() is for one that whoever
 * has canceled it has counted, and _in_doubt() for the leader, with "now" the
 * store's time.
 */

typedef struct {
    sm_str_t                         id;
    ngx_http_submission_target_t    *target;       /* NULL: not configured */
    sm_entry_t                      *entry;        /* NULL: found by id */
    const char                      *event;        /* NULL: logged already */
    int64_t                          epoch;
    sm_status_e                      status;
    sm_exhausted_e                   exhausted;
    int64_t                          age;          /* usec, when it ended */
    sm_str_t                         notify;       /* of its contract */
    unsigned                         message:1;    /* it is a webhook's */
    unsigned                         counted:1;    /* in the metrics */
} ngx_http_submission_end_t;

void ngx_http_submission_intent_ended(ngx_http_submission_manager_t *manager,
    const ngx_http_submission_end_t *end);
void ngx_http_submission_ended_canceled(ngx_http_submission_executor_t *ex,
    sm_str_t id, sm_str_t target, sm_entry_t *entry, const char *event,
    int64_t epoch);
void ngx_http_submission_ended_in_doubt(
    ngx_http_submission_manager_t *manager, const sm_recovered_t *recovered,
    int64_t epoch, int64_t now);


#endif /* _NGX_HTTP_SUBMISSION_TURN_H_INCLUDED_ */
