
/*
 * What signal/ has in the zone: the leader on another instance, and notices
 * to waiting clients.
 */

#ifndef _NGX_HTTP_SUBMISSION_ZONE_SIGNAL_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ZONE_SIGNAL_H_INCLUDED_


#include "ngx_http_submission_zone.h"


/* The URL that wakes the leader on another instance, see peer.c. */

#define NGX_HTTP_SUBMISSION_URL_MAX  512

typedef struct {
    int64_t                          epoch;        /* 0: nobody leads */
    size_t                           len;          /* 0: it has none */
    u_char                           data[NGX_HTTP_SUBMISSION_URL_MAX];
} ngx_http_submission_peer_url_t;


/* The leader on another instance, and the wakes that are sent, see peer.c. */

struct ngx_http_submission_peer_shctx_s {
    /* "url" is being written while "sequence" is odd */
    ngx_atomic_t                     sequence;
    ngx_http_submission_peer_url_t   url;

    ngx_atomic_t                     tell;         /* a wake is wanted */
    ngx_atomic_t                     claim;        /* when it expires */
    ngx_atomic_t                     told;         /* when the last began */
    ngx_atomic_t                     failed;       /* when the last failed */
    ngx_atomic_t                     failed_epoch;
    ngx_atomic_t                     down;         /* logged as failing */
    ngx_atomic_t                     asked;        /* with "executor off" */
};


/* Hashes of the last intents that something has happened to, see notice.c. */

#define NGX_HTTP_SUBMISSION_NOTICE_RING  4096

struct ngx_http_submission_notices_s {
    ngx_atomic_t                     until;        /* a client waits */
    ngx_atomic_t                     n;            /* ever written */
    uint64_t                     hashes[NGX_HTTP_SUBMISSION_NOTICE_RING];
};


/* Returns NGX_DECLINED if the URL has not changed. */
ngx_int_t ngx_http_submission_zone_learn(
    ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_peer_url_t *url);
void ngx_http_submission_zone_peer(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_peer_url_t *url);


#endif /* _NGX_HTTP_SUBMISSION_ZONE_SIGNAL_H_INCLUDED_ */
