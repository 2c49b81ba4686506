
/*
 * How workers and instances tell each other that there is something to look at.
 */

#ifndef _NGX_HTTP_SUBMISSION_SIGNAL_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_SIGNAL_H_INCLUDED_


#include "ngx_http_submission_conf.h"


/*
 * bell.c: an eventfd that the master made, the same one for all workers and all
 * configurations.  Whoever listens is called when another rings.
 */
ngx_connection_t *ngx_http_submission_bell_listen(ngx_fd_t fd,
    ngx_event_handler_pt handler, void *data);
void ngx_http_submission_bell_ignore(ngx_connection_t *c);
void ngx_http_submission_bell_ring(ngx_fd_t fd);

/*
 * wake.c: the leader has something to look at.  _here() wakes the executor
 * worker of this instance alone: NGX_DECLINED, it does not lead.  _heard() is
 * for that one: whoever has something from now on rings again.
 */
ngx_connection_t *ngx_http_submission_wake_listen(
    ngx_http_submission_manager_t *manager, ngx_event_handler_pt handler,
    void *data);
void ngx_http_submission_wake_heard(ngx_http_submission_manager_t *manager,
    ngx_connection_t *c);
void ngx_http_submission_wake_again(ngx_http_submission_manager_t *manager);
ngx_int_t ngx_http_submission_wake_here(
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_wake(ngx_http_submission_manager_t *manager);

/*
 * peer.c: the same for the leader on another instance.  _learn() is told what
 * the lease's row says, and _tell() that there is something to look at.  The
 * handler is the other end, in a location.
 */
ngx_int_t ngx_http_submission_peer_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_peer_learn(ngx_http_submission_manager_t *manager,
    sm_lease_t *lease, sm_str_t wake_url);
void ngx_http_submission_peer_tell(ngx_http_submission_manager_t *manager);
ngx_int_t ngx_http_submission_wake_handler(ngx_http_request_t *r);

/*
 * notice.c: from the executor worker to all workers of its instance, that
 * something has happened to an intent.  _next() is NGX_DONE where there is none
 * after "seen", NGX_DECLINED where some are lost.
 */
ngx_int_t ngx_http_submission_notice_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager, ngx_event_handler_pt handler,
    void *data);
void ngx_http_submission_notice_expect(ngx_http_submission_manager_t *manager,
    ngx_msec_t time);
void ngx_http_submission_notice(ngx_http_submission_manager_t *manager,
    sm_str_t id);
void ngx_http_submission_notice_all(ngx_http_submission_manager_t *manager);
uint64_t ngx_http_submission_notice_hash(sm_str_t id);
ngx_int_t ngx_http_submission_notice_next(
    ngx_http_submission_manager_t *manager, ngx_atomic_uint_t *seen,
    uint64_t *hash);


#endif /* _NGX_HTTP_SUBMISSION_SIGNAL_H_INCLUDED_ */
