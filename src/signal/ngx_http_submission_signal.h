
/*
 * How workers and instances tell each other that there is something to look at.
 */

#ifndef _NGX_HTTP_SUBMISSION_SIGNAL_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_SIGNAL_H_INCLUDED_


#include "ngx_http_submission_conf.h"


/*
 * bell.c: an eventfd that the master has made, the same one for all workers and
 * all configurations.  The handlers of all listeners are called when any worker
 * rings.
 */
ngx_connection_t *ngx_http_submission_bell_listen(ngx_fd_t fd,
    ngx_event_handler_pt handler, void *data);
void ngx_http_submission_bell_ignore(ngx_connection_t *c);
void ngx_http_submission_bell_ring(ngx_fd_t fd);

/*
 * wake.c: tells the leader that it has something to look at, wherever it is.
 * _here() wakes only the executor worker of this instance, and returns
 * NGX_DECLINED if that does not lead.  The executor worker calls _heard() when
 * the bell has rung, before it looks, and _again() when it looks unasked: the
 * next wake rings again.
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
 * peer.c: wakes the leader on another instance.  _learn() takes the URL from
 * the lease's row, _tell() says that there is something to look at, and the
 * handler answers such a request on the leader's instance.
 */
ngx_int_t ngx_http_submission_peer_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager);
void ngx_http_submission_peer_learn(ngx_http_submission_manager_t *manager,
    sm_lease_t *lease, sm_str_t wake_url);
void ngx_http_submission_peer_tell(ngx_http_submission_manager_t *manager);
ngx_int_t ngx_http_submission_wake_handler(ngx_http_request_t *r);

/*
 * notice.c: the executor worker says to all workers of its instance that
 * something has happened to an intent.  _next() gives the next notice after
 * "seen"; it returns NGX_DONE if there is none, and NGX_DECLINED if some are
 * lost.
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
