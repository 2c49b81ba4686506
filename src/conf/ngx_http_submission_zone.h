
/*
 * The shared memory of an instance: a zone for each manager, which a reload
 * keeps.  This is what the lease and reloads need of it.  The other parts have
 * headers of their own, ngx_http_submission_zone_*.h.
 *
 * Each atomic field is written whole and read without a lock; times are
 * monotonic milliseconds, the same in all processes of a host.
 */

#ifndef _NGX_HTTP_SUBMISSION_ZONE_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ZONE_H_INCLUDED_


#include "ngx_http_submission_conf.h"


typedef struct ngx_http_submission_health_shctx_s
                                          ngx_http_submission_health_shctx_t;
typedef struct ngx_http_submission_peer_shctx_s
                                          ngx_http_submission_peer_shctx_t;
typedef struct ngx_http_submission_board_zone_s
                                          ngx_http_submission_board_zone_t;
typedef struct ngx_http_submission_feed_shctx_s
                                          ngx_http_submission_feed_shctx_t;
typedef struct ngx_http_submission_notices_s   ngx_http_submission_notices_t;
typedef struct ngx_http_submission_metrics_s   ngx_http_submission_metrics_t;


/* The lease of an instance.  Only its executor worker writes it. */

typedef struct {
    ngx_uint_t                       leader;
    ngx_pid_t                        pid;          /* of the executor worker */
    int64_t                          epoch;
    int64_t                          expires_at;   /* store's time, usec */
    ngx_msec_t                       deadline;     /* by .._lease_msec() */
} ngx_http_submission_role_t;


typedef enum {
    NGX_HTTP_SUBMISSION_QUIT_NO = 0,
    NGX_HTTP_SUBMISSION_QUIT_BEGUN,
    NGX_HTTP_SUBMISSION_QUIT_DONE       /* what was held is released */
} ngx_http_submission_quit_e;


struct ngx_http_submission_shctx_s {
    /* "role" is being written while "sequence" is odd */
    ngx_atomic_t                     sequence;
    ngx_http_submission_role_t       role;

    /*
     * The epoch that the next executor worker of this instance may take over,
     * and until when that is held at least, by the store's time.
     */
    ngx_atomic_t                     held;
    ngx_atomic_t                     held_until;   /* usec */
    ngx_atomic_t                     held_tenure;

    /*
     * These count configurations, so that an old worker notices a reload.  A
     * new tenure begins when the store, the lease_name or the holder_id
     * changes; it takes nothing over from the one before.
     */
    ngx_atomic_t                     generation;
    ngx_atomic_t                     tenure;
    ngx_atomic_t                     quitting;     /* .._QUIT_* */

    ngx_atomic_t                     create;       /* see sm_store_conf_t */

    /* the executor worker was woken, and has not looked yet */
    ngx_atomic_t                     woken;

    /* the start of the instance by the store's time, usec; 0: not known yet */
    ngx_atomic_t                     started_at;

    /* a number that no other instance has; 0: not made yet */
    ngx_atomic_t                     key;

    size_t                           holder_id_len;
    u_char                           holder_id[128];

    ngx_rbtree_t                     targets;      /* .._target_node_t */
    ngx_rbtree_node_t                sentinel;

    ngx_http_submission_health_shctx_t  *health;
    ngx_http_submission_metrics_t   *metrics;
    ngx_http_submission_peer_shctx_t  *peer;
    ngx_http_submission_notices_t   *notices;
    ngx_http_submission_board_zone_t  *board;
    ngx_http_submission_feed_shctx_t  *feed;
};


void ngx_http_submission_zone_publish(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_role_t *role);

/* A leader whose deadline has passed does not lead. */
void ngx_http_submission_zone_role(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_role_t *role);

void ngx_http_submission_zone_holder(ngx_http_submission_manager_t *manager,
    ngx_cycle_t *cycle);


#endif /* _NGX_HTTP_SUBMISSION_ZONE_H_INCLUDED_ */
