
/*
 * The board: what the zone has of the leader's numbers, of the lease and of the
 * instances; for status/ alone.  Everything in it is read and written under the
 * mutex of the zone.
 */

#ifndef _NGX_HTTP_SUBMISSION_BOARD_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_BOARD_H_INCLUDED_


#include "ngx_http_submission_status.h"
#include "ngx_http_submission_zone_board.h"


/* an hour of a target; its name follows */

typedef struct {
    ngx_str_node_t                   node;         /* must be first */
    sm_series_t                      series;
    u_char                           name[];
} ngx_http_submission_board_node_t;


/*
 * Locks the board of this worker's configuration, after making it empty if it
 * is of another lease or store, or if its last writer died.  _write() does the
 * same for one who changes it.
 */
ngx_http_submission_board_shctx_t *ngx_http_submission_board_lock(
    ngx_http_submission_manager_conf_t *mcf);
ngx_http_submission_board_shctx_t *ngx_http_submission_board_write(
    ngx_http_submission_manager_conf_t *mcf);
void ngx_http_submission_board_unlock(ngx_http_submission_manager_conf_t *mcf);

/* memory of the board, zeroed; "pool" is board_pool of the zone */
void *ngx_http_submission_board_alloc(ngx_slab_pool_t *pool, size_t size);
void ngx_http_submission_board_free(ngx_slab_pool_t *pool, void *p);


#endif /* _NGX_HTTP_SUBMISSION_BOARD_H_INCLUDED_ */
