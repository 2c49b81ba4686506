
/*
 * Between peer.c, which decides when the leader on another instance is told,
 * and tell.c, which sends that request; for signal/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_PEER_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_PEER_H_INCLUDED_


#include "ngx_http_submission_signal.h"
#include "ngx_http_submission_zone_signal.h"


typedef struct ngx_http_submission_tell_s  ngx_http_submission_tell_t;

struct ngx_http_submission_peer_s {
    ngx_event_t                      timer;        /* of the next request */
    ngx_atomic_uint_t                claim;        /* of this worker */
    ngx_uint_t                       last;         /* it was sent, exiting */
    ngx_http_submission_tell_t      *tell;
};


/*
 * _told() is called when the request of _tell() has ended, which may be before
 * _tell() returns.  The leader has heard it if "error" is NULL.
 */
ngx_http_submission_tell_t *ngx_http_submission_tell_create(
    ngx_cycle_t *cycle, ngx_http_submission_manager_t *manager);
void ngx_http_submission_tell(ngx_http_submission_manager_t *manager,
    ngx_http_submission_peer_url_t *url);
void ngx_http_submission_peer_told(ngx_http_submission_manager_t *manager,
    ngx_http_submission_peer_url_t *url, const char *error);


#endif /* _NGX_HTTP_SUBMISSION_PEER_H_INCLUDED_ */
