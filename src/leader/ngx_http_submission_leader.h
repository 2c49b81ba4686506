
/*
 * Leadership: which worker of the instance asks for the lease, and whether it
 * leads.
 */

#ifndef _NGX_HTTP_SUBMISSION_LEADER_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_LEADER_H_INCLUDED_


#include "ngx_http_submission_conf.h"


#define NGX_HTTP_SUBMISSION_LEADER_RETRY      500   /* milliseconds */
#define NGX_HTTP_SUBMISSION_LEADER_DOUBLINGS  3


/*
 * What whoever leads does with it.
 *
 * _start() begins under an epoch; _lost() ends it at once; _leave() ends it in
 * peace: what is at gateways may finish, and _drained() tells when it has.
 *
 * _known() lists what it has in hand of earlier epochs, before what is in
 * doubt is settled, and _recovered() is told what is still its own of that:
 * nothing, without a list.  _in_doubt() books what became of the rest, with
 * the epoch and the store's time.  _starved() is whether what is due could not
 * be sent for that long.
 *
 * _flush() records what has ended after the lease was lost, if it can still be:
 * NGX_AGAIN, the leader is told later; NGX_BUSY, it is to be tried again;
 * NGX_OK, there is nothing.  _end() does so in place, for a worker that is
 * being terminated: NGX_OK, nothing is left that would be in doubt.
 */

typedef struct {
    ngx_int_t    (*start)(ngx_http_submission_manager_t *manager,
                      int64_t epoch);
    void         (*lost)(ngx_http_submission_manager_t *manager);
    void         (*leave)(ngx_http_submission_manager_t *manager);
    ngx_uint_t   (*drained)(ngx_http_submission_manager_t *manager);

    ngx_int_t    (*known)(ngx_http_submission_manager_t *manager,
                      sm_arena_t *arena, sm_known_row_t **known, size_t *n);
    void         (*recovered)(ngx_http_submission_manager_t *manager,
                      sm_known_row_t *known);
    void         (*in_doubt)(ngx_http_submission_manager_t *manager,
                      const sm_recovered_t *recovered, int64_t epoch,
                      int64_t now);
    ngx_uint_t   (*starved)(ngx_http_submission_manager_t *manager,
                      ngx_msec_t time);

    ngx_int_t    (*flush)(ngx_http_submission_manager_t *manager);
    ngx_int_t    (*end)(ngx_http_submission_manager_t *manager,
                      ngx_msec_t deadline);
} ngx_http_submission_leader_handlers_t;


/* leader.c */
ngx_int_t ngx_http_submission_leader_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager,
    const ngx_http_submission_leader_handlers_t *handlers);
void ngx_http_submission_leader_end(ngx_http_submission_manager_t *manager,
    ngx_msec_t deadline);

/* whether an attempt that was begun under this epoch may leave right now */
ngx_uint_t ngx_http_submission_leader_gate(
    ngx_http_submission_manager_t *manager, int64_t epoch);

/* whether the deadline has passed; if it has, the lease is lost */
ngx_uint_t ngx_http_submission_leader_late(
    ngx_http_submission_manager_t *manager);

/* whether this is the executor worker of the instance; has been, and left */
ngx_uint_t ngx_http_submission_leader_elected(
    ngx_http_submission_manager_t *manager);
ngx_uint_t ngx_http_submission_leader_left(
    ngx_http_submission_manager_t *manager);

/* the lease of this epoch is given up: what was begun under it is lost */
void ngx_http_submission_leader_abandon(ngx_http_submission_manager_t *manager,
    int64_t epoch, const char *reason);

/* something was recorded; and: there is nothing left that was waited for */
void ngx_http_submission_leader_works(ngx_http_submission_manager_t *manager);
void ngx_http_submission_leader_idle(ngx_http_submission_manager_t *manager);

/* lease.c, in threads */
void ngx_http_submission_lease_thread(ngx_http_submission_task_t *task);


#endif /* _NGX_HTTP_SUBMISSION_LEADER_H_INCLUDED_ */
