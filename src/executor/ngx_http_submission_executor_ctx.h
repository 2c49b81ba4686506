
/*
 * The executor of one manager in one worker; for executor/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_EXECUTOR_CTX_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_EXECUTOR_CTX_H_INCLUDED_


#include "ngx_http_submission_executor.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"

#include "sm_queue_target.h"


/* milliseconds until something is tried again for which there was no room */

#define NGX_HTTP_SUBMISSION_EXECUTOR_PAUSE  100

/* entries that are looked at, or freed, before other events have their turn */

#define NGX_HTTP_SUBMISSION_EXECUTOR_SLICE  2048


typedef struct ngx_http_submission_attempt_s  ngx_http_submission_attempt_t;
typedef struct ngx_http_submission_duty_s     ngx_http_submission_duty_t;
typedef struct ngx_http_submission_turns_s    ngx_http_submission_turns_t;
typedef struct ngx_http_submission_expiries_s ngx_http_submission_expiries_t;
typedef struct ngx_http_submission_counts_s   ngx_http_submission_counts_t;
typedef struct ngx_http_submission_gauges_s   ngx_http_submission_gauges_t;
typedef struct ngx_http_submission_outage_s   ngx_http_submission_outage_t;
typedef struct ngx_http_submission_target_health_s
    ngx_http_submission_target_health_t;


/* what one worker executes for one manager */

struct ngx_http_submission_executor_s {
    ngx_http_submission_manager_t   *manager;

    sm_queue_t                      *queue;     /* NULL: it does not lead */
    int64_t                          epoch;
    ngx_uint_t                       generation;   /* of the queue */

    /* the store's time, as last told, and the monotonic time then */
    int64_t                          now;
    int64_t                          now_at;

    ngx_event_t                      run;          /* posted by _wake() */
    ngx_event_t                      due;          /* the timer of _arm() */
    ngx_event_t                      waits;        /* see target_health.c */
    ngx_msec_t                       pause;        /* nothing begins before */
    time_t                           warned;       /* the last line of that */

    /*
     * Since when no due intent could be sent for lack of connections, in
     * ngx_http_submission_msec(); 0: they can be sent, or nothing is due.
     */
    ngx_msec_t                       starved_since;

    unsigned                         unsent:1;     /* was the last attempt */
    unsigned                         reserved:1;   /* see reserve.c */
    unsigned                         leaving:1;    /* nothing more begins */

    /* attempts in hand: those at gateways, and those to be recorded */
    ngx_queue_t                      sending;
    ngx_uint_t                       nsending;
    ngx_queue_t                      ended;
    ngx_uint_t                       nended;

    /* the state of other files, each known to its own file alone */
    ngx_http_submission_turns_t     *turns;
    ngx_http_submission_expiries_t  *expiries;
    ngx_http_submission_counts_t    *counts;       /* see stats_count.c */
    ngx_http_submission_gauges_t    *gauges;       /* see depth.c */
    ngx_http_submission_outage_t    *outages;      /* of each target */
    ngx_http_submission_target_health_t  *health;  /* of each target */
    ngx_http_submission_duty_t      *duties;
};


/*
 * executor.c.  _room() returns how many intents may be begun now; "behind" says
 * that the store takes longer than the gateways.  _short() is for whoever finds
 * no connection to send with.  _wake() has the executor look for something to
 * do.  _time() takes in the store's time, _now() estimates it, and _tick() sets
 * the queue's clocks, before the queue is asked or told anything.  _starved()
 * is whether nothing could be sent for that long, for lack of connections.
 */
ngx_uint_t ngx_http_submission_executor_room(
    ngx_http_submission_executor_t *ex, ngx_uint_t behind);
void ngx_http_submission_executor_short(ngx_http_submission_executor_t *ex);
void ngx_http_submission_executor_wake(ngx_http_submission_executor_t *ex);
void ngx_http_submission_executor_time(ngx_http_submission_executor_t *ex,
    int64_t now);
int64_t ngx_http_submission_executor_now(ngx_http_submission_executor_t *ex);
void ngx_http_submission_executor_tick(ngx_http_submission_executor_t *ex);
ngx_uint_t ngx_http_submission_executor_starved(
    ngx_http_submission_manager_t *manager, ngx_msec_t time);

/*
 * epoch.c: _quiet() and _finish() are those of the leader's handlers, see
 * leader.h.  _entry() is the entry that was taken from the queue of this
 * generation, or NULL if that queue is gone; whatever may end leadership comes
 * before it is asked again.
 */
ngx_uint_t ngx_http_submission_epoch_quiet(
    ngx_http_submission_manager_t *manager);
ngx_int_t ngx_http_submission_epoch_finish(
    ngx_http_submission_manager_t *manager);
sm_entry_t *ngx_http_submission_epoch_entry(
    ngx_http_submission_executor_t *ex, ngx_uint_t generation,
    sm_entry_t *entry);

/*
 * in_hand.c: _known() lists the attempts in hand for the thread that recovers,
 * and _recovered() drops those that are not in flight any more; all of them,
 * without a list.  _adopt() puts them into the queue of a new epoch.
 */
ngx_int_t ngx_http_submission_in_hand_known(
    ngx_http_submission_manager_t *manager, sm_arena_t *arena,
    sm_known_row_t **known, size_t *n);
void ngx_http_submission_in_hand_recovered(
    ngx_http_submission_manager_t *manager, sm_known_row_t *known);
void ngx_http_submission_in_hand_adopt(ngx_http_submission_executor_t *ex);


#endif /* _NGX_HTTP_SUBMISSION_EXECUTOR_CTX_H_INCLUDED_ */
