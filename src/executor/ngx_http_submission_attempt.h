
/*
 * The executor's own; for executor/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_ATTEMPT_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ATTEMPT_H_INCLUDED_


#include "ngx_http_submission_executor.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"

#include "sm_exchange.h"
#include "sm_policy.h"
#include "sm_schedule.h"
#include "sm_stats.h"
#include "sm_trace.h"
#include "sm_webhook.h"


#define NGX_HTTP_SUBMISSION_EXECUTOR_PAUSE  100     /* ms, if short of it */


typedef struct ngx_http_submission_attempt_s  ngx_http_submission_attempt_t;
typedef struct ngx_http_submission_duty_s     ngx_http_submission_duty_t;
typedef struct ngx_http_submission_refresh_s  ngx_http_submission_refresh_t;
typedef struct ngx_http_submission_stats_s    ngx_http_submission_stats_t;
typedef struct ngx_http_submission_pauses_s   ngx_http_submission_pauses_t;
typedef struct ngx_http_submission_retention_s
                                             ngx_http_submission_retention_t;


/*
 * What a leader does on a timer, under its fence: one call to the store at a
 * time, and one more as soon as it has ended if that was wanted meanwhile.
 *
 * _interval() is how long after one the next is due.  _begin() makes what the
 * task needs: NGX_DECLINED, there is nothing to do now.  _done() takes its
 * answer, a good one, and says when to go on: after the interval, or that many
 * milliseconds.
 */

#define NGX_HTTP_SUBMISSION_DUTY_INTERVAL  NGX_TIMER_INFINITE

typedef struct {
    ngx_http_submission_op_e         op;
    size_t                           size;         /* of the task */
    ngx_msec_t                     (*interval)(
                                         ngx_http_submission_executor_t *ex);
    ngx_int_t                      (*begin)(ngx_http_submission_duty_t *duty,
                                         ngx_http_submission_task_t *task);
    ngx_msec_t                     (*done)(ngx_http_submission_duty_t *duty,
                                         ngx_http_submission_task_t *task);
} ngx_http_submission_duty_row_t;

typedef enum {
    NGX_HTTP_SUBMISSION_DUTY_REFRESH = 0,
    NGX_HTTP_SUBMISSION_DUTY_SWEEP,
    NGX_HTTP_SUBMISSION_DUTY_INBOX,
    NGX_HTTP_SUBMISSION_DUTY_RETENTION,
    NGX_HTTP_SUBMISSION_DUTY_STATS,
    NGX_HTTP_SUBMISSION_DUTY_JOB,
    NGX_HTTP_SUBMISSION_DUTY_DROP,
    NGX_HTTP_SUBMISSION_DUTY_PAUSES,
    NGX_HTTP_SUBMISSION_DUTY_RECUR,
    NGX_HTTP_SUBMISSION_DUTY_N
} ngx_http_submission_duty_e;

struct ngx_http_submission_duty_s {
    const ngx_http_submission_duty_row_t  *row;
    ngx_http_submission_executor_t        *executor;
    ngx_event_t                            timer;
    ngx_http_submission_task_t            *task;   /* that is out */
    ngx_msec_t                             soon;   /* after that, if sooner */
    unsigned                               due:1;  /* its time has come */
    unsigned                               again:1;
};


/* of the gateway of a target; see outage.c */

typedef struct {
    int64_t                          epoch;        /* in which it was seen */
    ngx_msec_t                       since;        /* the first error */
    ngx_msec_t                       told;         /* the last line of it */
    ngx_uint_t                       unsent;       /* rounds of them */
    int64_t                          round;        /* the next begins */
    unsigned                         down:1;       /* and that was told */
} ngx_http_submission_outage_t;


/* what a worker executes for one manager, see executor.c */

struct ngx_http_submission_executor_s {
    ngx_http_submission_manager_t   *manager;

    sm_schedule_t                   *schedule;     /* NULL: it does not lead */
    int64_t                          epoch;
    ngx_uint_t                       generation;   /* of the schedule */

    /* the store's time, and when it was that */
    int64_t                          now;
    int64_t                          now_at;

    ngx_event_t                      run;
    ngx_event_t                      due;          /* the next one is due */
    ngx_msec_t                       pause;        /* nothing begins before */
    ngx_msec_t                       retry;        /* nor is recorded */
    int64_t                          gone;         /* an epoch, says a fence */
    ngx_uint_t                       failures;     /* of turns, in a row */
    ngx_msec_t                       failing;      /* since then, if any */
    time_t                           warned;       /* of connections */

    ngx_http_submission_task_t      *expiring;     /* that is out */

    /* those whose deadline has passed, since the last line of them */
    ngx_event_t                      expiry;
    ngx_uint_t                       nexpired;
    ngx_msec_t                       expiry_told;

    /* rows of the inbox that were refused, likewise */
    ngx_uint_t                       nrefused;
    ngx_msec_t                       refused_told;

    ngx_uint_t                       job_limit;    /* of the next batch */
    int64_t                          dropped_at;   /* see drop.c */

    int64_t                          seeded;       /* schedules: the epoch */

    ngx_http_submission_task_t      *turn;         /* that is out */
    int64_t                          turn_took;    /* usec, the last one */

    /*
     * Since when what is due could not be sent for lack of connections, in
     * ngx_http_submission_msec(); 0: it can be, or nothing is due.
     */
    ngx_msec_t                       starved_since;

    unsigned                         unsent:1;     /* so the last attempt */
    unsigned                         reserved:1;   /* see reserve.c */
    unsigned                         leaving:1;
    ngx_queue_t                      sending;      /* .._attempt_t */
    ngx_uint_t                       nsending;
    ngx_queue_t                      ended;        /* .._attempt_t */
    ngx_uint_t                       nended;

    ngx_http_submission_duty_t       duties[NGX_HTTP_SUBMISSION_DUTY_N];
    ngx_http_submission_refresh_t   *refresh;
    ngx_http_submission_retention_t *retention;
    ngx_http_submission_outage_t    *outages;      /* of each target */
    ngx_http_submission_stats_t     *stats;
    ngx_event_t                      depth;        /* see depth.c */
    ngx_msec_t                       depth_wait;
    ngx_http_submission_pauses_t    *pauses;
    ngx_event_t                      tidy;
};


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
    ngx_uint_t                       known;        /* see executor.c */

    sm_str_t                         id;
    ngx_http_submission_target_t    *target;       /* NULL: not configured */
    sm_contract_t                    contract;
    sm_str_t                         payload;
    sm_trace_t                       trace;        /* as it is sent */
    sm_str_t                         span_id;
    sm_str_t                        *keys;         /* to sign with */
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
    ngx_http_upstream_t             *upstream;     /* that is hooked */
    ngx_event_t                      hook;
    ngx_event_t                      timeout;
    ngx_log_t                        log;          /* of its location */
    u_char                          *message_end;  /* in a line of it */
    ngx_int_t                      (*create_request)(ngx_http_request_t *r);
    ngx_output_chain_filter_pt       output_filter;
    void                            *output_ctx;
    ngx_atomic_uint_t                peer;         /* number of connection */
    ngx_str_t                        url;
    ngx_str_t                        path;
    int64_t                          left_at;      /* monotonic, usec */
    int64_t                          took;         /* usec */

    sm_exchange_t                    exchange;
    u_char                          *body;
    size_t                           allocated;
    unsigned                         gated:1;      /* not let out */
    unsigned                         forgotten:1;  /* another settles it */

    /* the end */
    sm_exchange_e                    what;
    sm_arena_t                       arena;
    sm_outcome_e                     outcome;
    sm_str_t                         reason;
    sm_str_t                         error;
    int64_t                          http_status;
    sm_str_t                         kept;         /* of the answer */
    int64_t                          retry_after;
    sm_policy_out_t                  decision;

    char                             data[];
};


/* executor.c */
ngx_uint_t ngx_http_submission_executor_room(
    ngx_http_submission_executor_t *ex, ngx_uint_t behind);
void ngx_http_submission_executor_short(ngx_http_submission_executor_t *ex);
void ngx_http_submission_executor_gone(ngx_http_submission_executor_t *ex,
    sm_entry_t *entry);
void ngx_http_submission_executor_wake(ngx_http_submission_executor_t *ex);
void ngx_http_submission_executor_time(ngx_http_submission_executor_t *ex,
    int64_t now);
int64_t ngx_http_submission_executor_now(ngx_http_submission_executor_t *ex);
void ngx_http_submission_executor_tick(ngx_http_submission_executor_t *ex);
void ngx_http_submission_executor_recovered(
    ngx_http_submission_manager_t *manager, sm_known_row_t *known);

/*
 * duty.c; _kick(): now, and not when it is due; _soon(): in so many ms, or that
 * long after what is out
 */
void ngx_http_submission_duty_init(ngx_http_submission_executor_t *ex);
void ngx_http_submission_duty_start(ngx_http_submission_executor_t *ex);
void ngx_http_submission_duty_stop(ngx_http_submission_executor_t *ex);
void ngx_http_submission_duty_kick(ngx_http_submission_duty_t *duty);
void ngx_http_submission_duty_soon(ngx_http_submission_duty_t *duty,
    ngx_msec_t wait);

/* schedule.c */
ngx_int_t ngx_http_submission_schedule_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_schedule_start(ngx_http_submission_executor_t *ex);
void ngx_http_submission_schedule_stop(ngx_http_submission_executor_t *ex);
void ngx_http_submission_schedule_new(ngx_http_submission_executor_t *ex);

extern const ngx_http_submission_duty_row_t
    ngx_http_submission_schedule_refresh;
extern const ngx_http_submission_duty_row_t
    ngx_http_submission_schedule_sweep;

/* inbox.c */
void ngx_http_submission_inbox_woken(ngx_http_submission_executor_t *ex);

extern const ngx_http_submission_duty_row_t  ngx_http_submission_inbox;

/*
 * stats.c: what happened, for the leader's numbers.  _start() begins a new
 * epoch; _submitted() is called for an intent that the schedule did not have,
 * and _gone() for one that is not pending any more, whoever has ended it.
 * _told() is asked until the last numbers of an epoch are written, and _tell()
 * writes them before it returns.
 */
ngx_int_t ngx_http_submission_stats_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_stats_start(ngx_http_submission_executor_t *ex);
void ngx_http_submission_stats_submitted(ngx_http_submission_executor_t *ex,
    sm_str_t id, sm_str_t target);
void ngx_http_submission_stats_gone(ngx_http_submission_executor_t *ex,
    sm_str_t id, ngx_http_submission_target_t *target);
void ngx_http_submission_stats_attempt(ngx_http_submission_attempt_t *at,
    sm_status_e status);
ngx_uint_t ngx_http_submission_stats_told(ngx_http_submission_executor_t *ex);
void ngx_http_submission_stats_tell(ngx_http_submission_executor_t *ex);
void ngx_http_submission_stats_unsent(ngx_http_submission_attempt_t *at);
void ngx_http_submission_stats_expired(ngx_http_submission_executor_t *ex,
    sm_str_t id, ngx_http_submission_target_t *target);

/* depth.c: the gauges by target; _look() is soon after something happened */
void ngx_http_submission_depth_init(ngx_http_submission_executor_t *ex);
void ngx_http_submission_depth_look(ngx_http_submission_executor_t *ex);
void ngx_http_submission_depth_stop(ngx_http_submission_executor_t *ex);
void ngx_http_submission_depth_read(ngx_http_submission_executor_t *ex,
    sm_stats_target_t *targets, sm_stats_target_t *totals);

extern const ngx_http_submission_duty_row_t  ngx_http_submission_stats_duty;

/* pauses.c */
ngx_int_t ngx_http_submission_pauses_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_pauses_start(ngx_http_submission_executor_t *ex);
ngx_uint_t ngx_http_submission_pauses_known(
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_pauses_woken(ngx_http_submission_executor_t *ex);
const sm_pause_t *ngx_http_submission_pauses_of(
    ngx_http_submission_executor_t *ex, sm_str_t target);

extern const ngx_http_submission_duty_row_t  ngx_http_submission_pauses_read;

/* retention.c */
ngx_int_t ngx_http_submission_retention_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);

extern const ngx_http_submission_duty_row_t  ngx_http_submission_retention;

/* job.c and drop.c */
extern const ngx_http_submission_duty_row_t  ngx_http_submission_job;
extern const ngx_http_submission_duty_row_t  ngx_http_submission_drop;

/* recur.c: schedules of recurring intents */
void ngx_http_submission_recur_woken(ngx_http_submission_executor_t *ex);

extern const ngx_http_submission_duty_row_t  ngx_http_submission_recur;

/*
 * turn.c: NGX_OK, the call is out, or there is nothing to do; NGX_ERROR, not
 * now.  _flush() and _end() are for the leader.
 */
ngx_int_t ngx_http_submission_turn(ngx_http_submission_executor_t *ex);
ngx_int_t ngx_http_submission_turn_flush(
    ngx_http_submission_manager_t *manager);
ngx_int_t ngx_http_submission_turn_end(ngx_http_submission_manager_t *manager,
    ngx_msec_t deadline);

/* attempt.c */
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
 * limits.c: _read() runs in a thread and _learn() takes what it has read, before
 * anything begins; NGX_ERROR: no memory
 */

typedef struct {
    sm_stats_row_t                   row;
    sm_stats_t                       stats;
    unsigned                         known:1;
} ngx_http_submission_told_t;

ngx_int_t ngx_http_submission_limits_start(ngx_http_submission_executor_t *ex,
    sm_schedule_t *s);
ngx_uint_t ngx_http_submission_limits_rated(
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_limits_spent(ngx_http_submission_attempt_t *at,
    const sm_bucket_t *bucket);
int ngx_http_submission_limits_read(ngx_http_submission_task_t *task,
    ngx_http_submission_told_t *told);
ngx_int_t ngx_http_submission_limits_learn(ngx_http_submission_executor_t *ex,
    ngx_http_submission_told_t *told);

/*
 * expiry.c: intents whose deadline has passed before they could be begun.
 * _ended() is for each that the store has ended, with "now" the store's time;
 * without "entry" the schedule is not the one that had it.  _look() has the store
 * end what the schedule has taken out of the way.
 */
void ngx_http_submission_expiry_init(ngx_http_submission_executor_t *ex);
void ngx_http_submission_expiry_ended(ngx_http_submission_manager_t *manager,
    sm_entry_t *entry, sm_begin_row_t *row, int64_t epoch, int64_t now);
void ngx_http_submission_expiry_look(ngx_http_submission_executor_t *ex);
void ngx_http_submission_expiry_tell(ngx_http_submission_executor_t *ex);

/*
 * outage.c: an attempt leaves; has ended, or could not be sent, for which
 * _unsent() says after how many ms it is tried again
 */
void ngx_http_submission_outage_sent(ngx_http_submission_attempt_t *at);
ngx_int_t ngx_http_submission_outage_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_outage(ngx_http_submission_attempt_t *at);
int64_t ngx_http_submission_outage_unsent(ngx_http_submission_attempt_t *at);

/* send.c */
ngx_int_t ngx_http_submission_send_attempt(ngx_http_submission_attempt_t *at);
ngx_http_submission_attempt_t *ngx_http_submission_dispatched(
    ngx_http_request_t *r);
void ngx_http_submission_send_method(ngx_http_request_t *r);
u_char *ngx_http_submission_send_int(ngx_http_request_t *r, int64_t n,
    size_t *len);

ngx_table_elt_t *ngx_http_submission_send_header(ngx_http_request_t *r,
    const char *key, const char *lowcase, u_char *value, size_t len);

/*
 * webhook.c; _prepare(): NGX_DECLINED, it cannot be sent, and "what" and
 * "error" say why
 */
ngx_int_t ngx_http_submission_webhook_prepare(
    ngx_http_submission_attempt_t *at);
void ngx_http_submission_webhook_gone(ngx_http_submission_attempt_t *at);
ngx_int_t ngx_http_submission_webhook_headers(ngx_http_request_t *r,
    ngx_http_submission_attempt_t *at);

/* dispatch.c; _begun(): a byte of the request may leave from now on */
void ngx_http_submission_dispatch_hook(ngx_event_t *ev);
void ngx_http_submission_dispatch_begun(ngx_http_submission_attempt_t *at);

/* dispatch_log.c */
void ngx_http_submission_dispatch_peer(ngx_http_submission_attempt_t *at);
void ngx_http_submission_dispatch_listen(ngx_http_submission_attempt_t *at,
    ngx_log_t *log);
void ngx_http_submission_dispatch_unlisten(ngx_http_submission_attempt_t *at,
    ngx_log_t *log);

/* dispatch_result.c */
void ngx_http_submission_dispatch_result(void *data);


#endif /* _NGX_HTTP_SUBMISSION_ATTEMPT_H_INCLUDED_ */
