
/*
 * The leader's own; for leader/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_LEASE_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_LEASE_H_INCLUDED_


#include "ngx_http_submission_leader.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"

#include "sm_leader.h"


/* what comes with an event, as far as the actions of its row need it */

typedef struct {
    ngx_msec_t                       wait;         /* until the next tick */
    const char                      *reason;
    const char                      *sql_error;

    int64_t                          epoch;        /* what was granted */
    int64_t                          expires_at;
    ngx_msec_t                       deadline;
} ngx_http_submission_change_t;


/* leadership of one manager in one worker, see leader.c */

struct ngx_http_submission_leader_s {
    ngx_http_submission_manager_t   *manager;
    const ngx_http_submission_leader_handlers_t  *handlers;
    sm_leader_state_e                state;

    ngx_event_t                      tick;         /* the next thing to do */
    ngx_event_t                      expiry;       /* the deadline */

    ngx_http_submission_task_t      *call;         /* that is out */

    unsigned                         failing:1;    /* and that was logged */
    unsigned                         released:1;
    unsigned                         flushing:1;   /* the executor records */
    unsigned                         yielding:1;   /* see lease.c */

    ngx_msec_t                       aim;          /* of the next acquire */
    ngx_msec_t                       kept;         /* the last time */
    ngx_msec_t                       yield;        /* to others until then */
    ngx_uint_t                       failures;     /* of an epoch, in a row */

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

    sm_candidate_t  candidate;
    int64_t         ttl;
    sm_fence_t      fence;        /* epoch 0: none is known */
    int64_t         held_until;
    int64_t         duration;
    ngx_uint_t      release;

    ngx_msec_t  started;      /* the call that counts */
    sm_lease_t  lease;
    sm_lease_t  watched;      /* what was read of another's, and where it is */
    sm_str_t    wake_url;     /* told */
    ngx_uint_t  look;         /* for others */
    ngx_uint_t  others;       /* instances that live */

    ngx_http_submission_fetch_t      fetch;

    uint32_t                         random;
    sm_known_row_t                  *known;        /* of the executor */
    size_t                           nknown;
    sm_recovered_t                   recovered;
} ngx_http_submission_lease_t;


/*
 * What is different in each kind of call.  _run() is called in a thread, after
 * the instance has said that it is alive if "heartbeat" is set.  _note() takes
 * in what a good answer says of the row; NULL: nothing.  _answer() makes an
 * event of a good answer that comes in time; NULL: the worker leaves then, see
 * leave.c.
 */

typedef struct {
    ngx_http_submission_op_e         op;
    ngx_http_submission_op_e         held_op;      /* if an epoch is held */
    const char                      *role;         /* of the candidate */
    unsigned                         heartbeat:1;
    unsigned                         fetches:1;    /* the leader's numbers */
    unsigned                         looks:1;      /* for others, if starved */

    void  (*run)(ngx_http_submission_lease_t *call);
    void  (*note)(ngx_http_submission_shctx_t *sh,
              ngx_http_submission_lease_t *call);
    void  (*answer)(ngx_http_submission_leader_t *ld,
              ngx_http_submission_lease_t *call);
} ngx_http_submission_lease_row_t;

extern const ngx_http_submission_lease_row_t  ngx_http_submission_lease_rows[];


/* election.c */
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

/* leave.c: _leave() is the next step of a worker that exits, if it is due */
void ngx_http_submission_leader_leave(ngx_http_submission_leader_t *ld);
void ngx_http_submission_leader_release(ngx_http_submission_leader_t *ld);
void ngx_http_submission_leader_shutdown(ngx_http_submission_leader_t *ld);
void ngx_http_submission_leader_exit(ngx_event_t *ev);

/* lease.c; NGX_BUSY: a call is out */
ngx_int_t ngx_http_submission_lease_call(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind);
ngx_msec_t ngx_http_submission_lease_pause(ngx_http_submission_leader_t *ld,
    ngx_msec_t deadline);

/*
 * For a worker that is being terminated; both work in place.  _settle() takes
 * in the result of the last call.  _end() records what is in doubt and
 * releases the lease.
 */
void ngx_http_submission_lease_settle(ngx_http_submission_leader_t *ld);
void ngx_http_submission_lease_end(ngx_http_submission_leader_t *ld,
    ngx_uint_t doubt, ngx_msec_t deadline);

ngx_uint_t ngx_http_submission_lease_starved(ngx_http_submission_leader_t *ld);

/*
 * lease_answer.c.  _note() is what is known of the row by an answer,
 * _recovered() counts what was in doubt, both whatever has become of the
 * state.
 */
void ngx_http_submission_lease_done(ngx_http_submission_task_t *task);
void ngx_http_submission_lease_note(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_t *call);
void ngx_http_submission_lease_recovered(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_t *call);

void ngx_http_submission_lease_note_held(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_t *call);
void ngx_http_submission_lease_note_kept(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_t *call);
void ngx_http_submission_lease_note_yielded(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_t *call);
void ngx_http_submission_lease_note_released(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_lease_t *call);

void ngx_http_submission_lease_acquired(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_t *call);
void ngx_http_submission_lease_settled(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_t *call);
void ngx_http_submission_lease_renewed(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_t *call);
void ngx_http_submission_lease_kept(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_t *call);
void ngx_http_submission_lease_yielded(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_t *call);
void ngx_http_submission_lease_watched(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_t *call);


#endif /* _NGX_HTTP_SUBMISSION_LEASE_H_INCLUDED_ */
