
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
 * What the leader has done by others.
 *
 * _start() begins to execute under an epoch.  _lost() ends that at once.
 * _leave() ends it in good order: attempts at gateways may finish, nothing new
 * is begun.
 *
 * _quiet() is whether nothing is at gateways or has to be recorded.  _finish()
 * is for a leader that leaves, or stops leading right after the call: when all
 * is quiet, it has the last document of the epoch written.  NGX_AGAIN: it has
 * to be asked again, and _leader_idle() is called when it should be; NGX_OK:
 * the lease is not needed any more.
 *
 * _known() lists the attempts in hand, of earlier epochs of this worker, before
 * what is in doubt is settled.  _recovered() is told which of them are still in
 * flight; without a list, none is.  _in_doubt() books what became of those that
 * were in doubt, with the epoch and the store's time.  _starved() is whether no
 * due intent could be sent for that long.
 *
 * _flush() records attempts that have ended after the lease was lost, as far as
 * that is still possible, and waits for the last document.  NGX_AGAIN:
 * _leader_idle() is called when it is done; NGX_BUSY: it has to be tried again;
 * NGX_OK: there is nothing to record.
 * _end() does the same in place, for a worker that is being terminated; NGX_OK:
 * nothing is left that would be in doubt.
 */

typedef struct {
    ngx_int_t    (*start)(ngx_http_submission_manager_t *manager,
                      int64_t epoch);
    void         (*lost)(ngx_http_submission_manager_t *manager);
    void         (*leave)(ngx_http_submission_manager_t *manager);
    ngx_uint_t   (*quiet)(ngx_http_submission_manager_t *manager);
    ngx_int_t    (*finish)(ngx_http_submission_manager_t *manager);

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

/* whether an attempt that was begun in this epoch may leave right now */
ngx_uint_t ngx_http_submission_leader_gate(
    ngx_http_submission_manager_t *manager, int64_t epoch);

/* whether the deadline has passed; if so, the lease is lost by this call */
ngx_uint_t ngx_http_submission_leader_late(
    ngx_http_submission_manager_t *manager);

/* whether this is the executor worker of the instance, and whether it left */
ngx_uint_t ngx_http_submission_leader_elected(
    ngx_http_submission_manager_t *manager);
ngx_uint_t ngx_http_submission_leader_left(
    ngx_http_submission_manager_t *manager);

/* whether no other worker of the instance will lead after this one */
ngx_uint_t ngx_http_submission_leader_ends(
    ngx_http_submission_manager_t *manager);

/* gives the lease up, unless it has another epoch by now */
void ngx_http_submission_leader_abandon(ngx_http_submission_manager_t *manager,
    int64_t epoch, const char *reason);

/*
 * for the executor: _works() says that an outcome was recorded, and _idle()
 * that nothing is left that the leader waits for
 */
void ngx_http_submission_leader_works(ngx_http_submission_manager_t *manager);
void ngx_http_submission_leader_idle(ngx_http_submission_manager_t *manager);

/* lease.c, in threads */
void ngx_http_submission_lease_thread(ngx_http_submission_task_t *task);


#endif /* _NGX_HTTP_SUBMISSION_LEADER_H_INCLUDED_ */
