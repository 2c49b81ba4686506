
/*
 * What peer.c and tell.c have of each other.
 */

#ifndef _NGX_HTTP_SUBMISSION_PEER_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_PEER_H_INCLUDED_


#include "ngx_http_submission_signal.h"
#include "ngx_http_submission_zone_signal.h"


/* the leader on another instance, of this worker; see peer.c and tell.c */

typedef struct ngx_http_submission_tell_s  ngx_http_submission_tell_t;

struct ngx_http_submission_peer_s {
    ngx_event_t                      timer;
    ngx_atomic_uint_t                claim;        /* its last one */
    ngx_uint_t                       last;         /* it exits, and has told */
    ngx_http_submission_tell_t      *tell;         /* its connection */
};

/* _told() is called when _tell() has ended; without an error, it was heard */
void ngx_http_submission_tell(ngx_http_submission_manager_t *manager,
    ngx_http_submission_peer_url_t *url);
void ngx_http_submission_peer_told(ngx_http_submission_manager_t *manager,
    ngx_http_submission_peer_url_t *url, const char *error);


#endif /* _NGX_HTTP_SUBMISSION_PEER_H_INCLUDED_ */
