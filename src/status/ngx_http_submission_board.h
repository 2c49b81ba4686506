
/*
 * The board: the leader's numbers, the lease and the instances, as the zone
 * has them; for status/ alone.  Everything in it is read and written under the
 * mutex of the zone.
 */

#ifndef _NGX_HTTP_SUBMISSION_BOARD_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_BOARD_H_INCLUDED_


#include "ngx_http_submission_status.h"
#include "ngx_http_submission_zone_board.h"


/* An hour of a target's numbers; the name follows. */

typedef struct {
    ngx_str_node_t                   node;         /* must be first */
    sm_series_t                      series;
    u_char                           name[];
} ngx_http_submission_board_node_t;


/*
 * _lock() locks the board to read it, and _write() to change it.  Both empty it
 * first if it is of another lease or store than this worker's configuration, or
 * if its last writer died.
 */
ngx_http_submission_board_shctx_t *ngx_http_submission_board_lock(
    ngx_http_submission_manager_conf_t *mcf);
ngx_http_submission_board_shctx_t *ngx_http_submission_board_write(
    ngx_http_submission_manager_conf_t *mcf);
void ngx_http_submission_board_unlock(ngx_http_submission_manager_conf_t *mcf);

/* Says whether a new tenure has begun: then an old worker must not write. */
ngx_uint_t ngx_http_submission_board_old(
    ngx_http_submission_manager_t *manager);

/* Says whether the lease was given up before it expired. */
ngx_uint_t ngx_http_submission_board_given(
    ngx_http_submission_board_shctx_t *board);

/*
 * Returns how old the leader's numbers are, in microseconds.  It counts from when
 * they came, because the store's clock may have been set back since.
 */
int64_t ngx_http_submission_board_age(ngx_http_submission_board_shctx_t *board);

/* Returns the history of a target, which is made if there is none, or NULL. */
sm_series_t *ngx_http_submission_board_target(ngx_slab_pool_t *shpool,
    ngx_http_submission_board_shctx_t *board, sm_str_t name);

/* Memory of the board, zeroed; "pool" is that of the board, or NULL. */
void *ngx_http_submission_board_alloc(ngx_slab_pool_t *pool, size_t size);
void ngx_http_submission_board_free(ngx_slab_pool_t *pool, void *p);


#endif /* _NGX_HTTP_SUBMISSION_BOARD_H_INCLUDED_ */
