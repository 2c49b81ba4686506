
/*
 * The board in the zone: what every instance shows of the whole cluster.
 */

#ifndef _NGX_HTTP_SUBMISSION_ZONE_BOARD_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ZONE_BOARD_H_INCLUDED_


#include "ngx_http_submission_status.h"
#include "ngx_http_submission_zone.h"


/*
 * Times of the store are microseconds since 1970.  The store's time was "now"
 * when ngx_http_submission_usec() was "now_at".
 */

typedef struct {
    ngx_uint_t                       tenure;       /* of the configuration */
    int64_t                          now;          /* 0: not known */
    int64_t                          now_at;

    /* the row of the lease, as it was read or written last */
    int64_t                          epoch;        /* 0: there is none */
    int64_t                          acquired_at;
    int64_t                          renewed_at;
    int64_t                          expires_at;
    int64_t                          lasts;        /* each time, usec */
    size_t                           len;
    u_char                           holder[NGX_HTTP_SUBMISSION_BOARD_NAME];

    int64_t                          read_at;      /* of the rest, as now_at */

    void                            *block;        /* of sm_stats_pack() */
    size_t                           size;
    size_t                           allocated;
    int64_t                          stats_epoch;
    int64_t                          stats_at;     /* 0: there is none */
    int64_t                          stats_age;    /* when it came, usec, */
    int64_t                          stats_came;   /* and when that was, as
                                                      now_at */

    sm_series_t                     *totals;
    ngx_rbtree_t                     series;       /* of targets */
    ngx_rbtree_node_t                sentinel;
    ngx_uint_t                       nseries;
    ngx_uint_t                       nlost;        /* without room */
    ngx_msec_t                       warned;
    ngx_uint_t                       inherited;    /* the leader's history */

    void                            *backlog;      /* packed, of a count */
    size_t                           backlog_size;
    int64_t                          backlog_came; /* as now_at */

    ngx_uint_t                       differ;       /* parts, see sm_config.h */
    uint32_t                        *names;        /* of targets elsewhere */
    size_t                           nnames;
    size_t                           names_room;

    ngx_uint_t                       ninstances;
    ngx_uint_t                       room;         /* for instances */
    ngx_http_submission_instance_t  *instances;
} ngx_http_submission_board_shctx_t;


/*
 * The zone's mutex guards the board, which has a slab pool of its own inside
 * the zone.  "dirty" is set while the board is being written: a worker that
 * finds it set under the mutex knows that the writer has died, and makes board
 * and pool anew.
 */

struct ngx_http_submission_board_zone_s {
    ngx_atomic_t                     asked;        /* with "executor off" */
    ngx_atomic_t                     counted;      /* the backlog, at last */
    int64_t                          clock;        /* the date less uptime */
    ngx_atomic_t                     dirty;
    ngx_slab_pool_t                 *pool;         /* NULL: no room */
    size_t                           size;         /* of its memory */
    ngx_http_submission_board_shctx_t  shared;
};


/* Empties the board's pool, whatever state it was left in. */
void ngx_http_submission_zone_board(ngx_http_submission_board_zone_t *board);


#endif /* _NGX_HTTP_SUBMISSION_ZONE_BOARD_H_INCLUDED_ */
