
/*
 * The leader's state, and its calls to the store; for leader/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_LEASE_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_LEASE_H_INCLUDED_


#include "ngx_http_submission_leader.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"
#include "ngx_http_submission_zone.h"

#include "sm_leader.h"


/* what an event brings for the actions of its row */

typedef struct {
    ngx_msec_t                       wait;         /* until the next tick */
    const char                      *reason;
    const char                      *sql_error;

    int64_t                          epoch;        /* what was granted */
    int64_t                          expires_at;
    ngx_msec_t                       deadline;
} ngx_http_submission_change_t;


/* leadership of one manager in one worker */

struct ngx_http_submission_leader_s {
    ngx_http_submission_manager_t   *manager;
    const ngx_http_submission_leader_handlers_t  *handlers;
    sm_leader_state_e                state;

    ngx_event_t                      tick;         /* the next step */
    ngx_event_t                      expiry;       /* the deadline */

    ngx_http_submission_task_t      *call;         /* that is out */

    unsigned                         failing:1;    /* and it was logged */
    unsigned                         released:1;   /* that was tried */
    unsigned                         flushing:1;   /* see _flush() */
    unsigned                         yielding:1;   /* so that others lead */

    ngx_msec_t                       aim;          /* when to acquire next */
    ngx_msec_t                       kept;         /* the last KEEP */
    ngx_msec_t                       shared;       /* logged; 0: never */
    ngx_msec_t                       yield;        /* it yields until then */
    ngx_uint_t                       failures;     /* epochs in a row */

    int64_t                          own;          /* epoch that it took over */
    sm_lease_t                       former;       /* until it was granted */
    u_char                           name[NGX_HTTP_SUBMISSION_BOARD_NAME];
    int64_t                          epoch;
    int64_t                          expires_at;
    ngx_msec_t                       deadline;
};


/* a call to the store about the lease, see lease.c */

typedef enum {
    NGX_HTTP_SUBMISSION_LEASE_ACQUIRE = 0,
    NGX_HTTP_SUBMISSION_LEASE_RECOVER,
    NGX_HTTP_SUBMISSION_LEASE_RENEW,
    NGX_HTTP_SUBMISSION_LEASE_KEEP,     /* renewed, if nobody else is there */
    NGX_HTTP_SUBMISSION_LEASE_YIELD,    /* released, for somebody else */
    NGX_HTTP_SUBMISSION_LEASE_RELEASE,
    NGX_HTTP_SUBMISSION_LEASE_WATCH,
    NGX_HTTP_SUBMISSION_LEASE_N
} ngx_http_submission_lease_e;

typedef struct {
    ngx_http_submission_task_t       task;
    ngx_http_submission_lease_e      kind;
    sm_leader_state_e                state;        /* when it was made */

    sm_candidate_t                   candidate;
    int64_t                          ttl;          /* of the candidate */
    sm_fence_t                       fence;        /* epoch 0: none is known */
    int64_t                          held_until;
    int64_t                          duration;
    ngx_uint_t                       release;      /* release_on_exit */

    ngx_msec_t                       started;      /* see lease.c */
    sm_lease_t                       lease;        /* the answer */
    sm_lease_t                       watched;      /* another's lease */
    sm_str_t                         wake_url;     /* of its holder */
    ngx_uint_t                       look;         /* count the others */
    ngx_uint_t                       others;       /* instances alive */

    ngx_http_submission_fetch_t      fetch;

    uint32_t                         random;
    sm_known_row_t                  *known;        /* the attempts in hand */
    size_t                           nknown;
    sm_recovered_t                   recovered;
} ngx_http_submission_lease_call_t;


/*
 * What is different in each kind of call.  _run() is called in a thread; if
 * "heartbeat" is set, the instance has told the store before that it is alive.
 * _note() takes in what the answer of a call that succeeded says about the row
 * of the lease; NULL: nothing.  _answer() makes an event of such an answer if
 * it comes in time; NULL: only a worker that leaves makes the call, see
 * leave.c.
 */

typedef struct {
    ngx_http_submission_op_e         op;
    ngx_http_submission_op_e         held_op;      /* if an epoch is held */
    const char                      *role;         /* of the candidate */
    unsigned                         heartbeat:1;
    unsigned                         fetches:1;    /* the leader's numbers */
    unsigned                         looks:1;      /* for others, if starved */

    void  (*run)(ngx_http_submission_lease_call_t *call);
    void  (*note)(ngx_http_submission_shctx_t *sh,
              ngx_http_submission_lease_call_t *call);
    void  (*answer)(ngx_http_submission_leader_t *ld,
              ngx_http_submission_lease_call_t *call);
} ngx_http_submission_lease_row_t;

extern const ngx_http_submission_lease_row_t  ngx_http_submission_lease_rows[];


/* election.c: _win() returns NGX_DECLINED if another worker has the lock */
ngx_int_t ngx_http_submission_election_win(
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_election_resign(
    ngx_http_submission_manager_t *manager);

/* leader_state.c: _event() is _apply() for what has no grant to bring */
void ngx_http_submission_leader_apply(ngx_http_submission_leader_t *ld,
    sm_leader_event_e event, ngx_http_submission_change_t *change);
void ngx_http_submission_leader_event(ngx_http_submission_leader_t *ld,
    sm_leader_event_e event, ngx_msec_t wait, const char *reason,
    const char *sql_error);
void ngx_http_submission_leader_log(ngx_http_submission_leader_t *ld,
    ngx_uint_t level, const char *event, const char *reason,
    const char *sql_error);

/*
 * leader.c: _flush() has the executor record the outcomes of a lost epoch;
 * NGX_AGAIN: that is under way, or is tried again at the next tick
 */
ngx_int_t ngx_http_submission_leader_flush(ngx_http_submission_leader_t *ld);
ngx_uint_t ngx_http_submission_leader_yields(
    ngx_http_submission_leader_t *ld);
ngx_msec_t ngx_http_submission_leader_back_off(
    ngx_http_submission_leader_t *ld);

/*
 * leave.c.  _shutdown() begins to leave.  _leave() takes the next step if it is
 * due, and is called whenever it may be.  _release() gives the lease and the
 * lock away.  _exit() is called by nginx when the worker shuts down.
 */
void ngx_http_submission_leader_leave(ngx_http_submission_leader_t *ld);
void ngx_http_submission_leader_release(ngx_http_submission_leader_t *ld);
void ngx_http_submission_leader_shutdown(ngx_http_submission_leader_t *ld);
void ngx_http_submission_leader_exit(ngx_event_t *ev);

/*
 * lease.c.  _call() makes a call; NGX_BUSY: another one is out.  _pause() is
 * the time until the next renewal.
 */
ngx_int_t ngx_http_submission_lease_call(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind);
ngx_msec_t ngx_http_submission_lease_pause(ngx_http_submission_leader_t *ld,
    ngx_msec_t deadline);

/*
 * For a worker that is being terminated; both work in place.  _settle() takes
 * in the answer of the last call.  _end() records what is in doubt and releases
 * the lease.
 */
void ngx_http_submission_lease_settle(ngx_http_submission_leader_t *ld);
void ngx_http_submission_lease_end(ngx_http_submission_leader_t *ld,
    ngx_uint_t doubt, ngx_msec_t deadline);

ngx_uint_t ngx_http_submission_lease_starved(ngx_http_submission_leader_t *ld);

/*
 * lease_answer.c.  _note() takes in what an answer says about the row of the
 * lease, and _recovered() books what was in doubt, both whatever the state is
 * by now.
 */
void ngx_http_submission_lease_done(ngx_http_submission_task_t *task);
void ngx_http_submission_lease_note(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call);
void ngx_http_submission_lease_recovered(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call);

void ngx_http_submission_lease_note_held(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_call_t *call);
void ngx_http_submission_lease_note_kept(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_call_t *call);
void ngx_http_submission_lease_note_yielded(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_call_t *call);
void ngx_http_submission_lease_note_released(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_call_t *call);

void ngx_http_submission_lease_acquired(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call);
void ngx_http_submission_lease_settled(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call);
void ngx_http_submission_lease_renewed(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call);
void ngx_http_submission_lease_kept(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call);
void ngx_http_submission_lease_yielded(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call);
void ngx_http_submission_lease_watched(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_call_t *call);


#endif /* _NGX_HTTP_SUBMISSION_LEASE_H_INCLUDED_ */
