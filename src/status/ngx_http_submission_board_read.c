
/*
 * Reads the board: copies are made under the mutex, in a request's pool.
 */

#include "ngx_http_submission_board.h"


/* A count of the backlog is good for so long, in microseconds. */

#define NGX_HTTP_SUBMISSION_BOARD_COUNTED  5000000


static ngx_int_t
ngx_http_submission_board_copy(ngx_pool_t *pool,
    ngx_http_submission_board_shctx_t *sh, ngx_http_submission_board_t *board)
{
    void    *block;
    u_char  *p;

    if (sh->block && sh->size) {
        block = ngx_palloc(pool, sh->size);
        if (block == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy(block, sh->block, sh->size);
        board->stats = sm_stats_open(block);

        board->stats->epoch = sh->stats_epoch;
        board->stats->at = sh->stats_at;
    }

    board->ninstances = sh->ninstances;
    board->instances = ngx_palloc(pool,
                                  sh->ninstances
                                  * sizeof(ngx_http_submission_instance_t));
    p = ngx_pnalloc(pool, sizeof(sh->holder));

    if (board->instances == NULL || p == NULL) {
        return NGX_ERROR;
    }

    if (sh->ninstances) {
        ngx_memcpy(board->instances, sh->instances,
                   sh->ninstances * sizeof(ngx_http_submission_instance_t));
    }

    board->known = sh->now != 0;
    board->now = sh->now + ngx_http_submission_usec() - sh->now_at;

    if (sh->epoch && sh->expires_at > board->now) {
        ngx_memcpy(p, sh->holder, sh->len);

        board->leader.data = (char *) p;
        board->leader.len = sh->len;
        board->epoch = sh->epoch;
        board->left = sh->expires_at - board->now;
    }

    return NGX_OK;
}


ngx_http_submission_board_t *
ngx_http_submission_board_read(ngx_pool_t *pool,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_int_t                           rc;
    ngx_http_submission_role_t          role;
    ngx_http_submission_board_t        *board;
    ngx_http_submission_board_shctx_t  *sh;

    board = ngx_pcalloc(pool, sizeof(ngx_http_submission_board_t));
    if (board == NULL) {
        return NULL;
    }

    sh = ngx_http_submission_board_lock(mcf);
    rc = ngx_http_submission_board_copy(pool, sh, board);
    ngx_http_submission_board_unlock(mcf);

    if (rc != NGX_OK) {
        return NULL;
    }

    if (!board->known) {
        board->now = (int64_t) ngx_time() * 1000000;
    }

    ngx_http_submission_zone_role(mcf->sh, &role);

    if (role.leader) {
        board->leads = 1;
        board->leader = ngx_http_submission_str(&mcf->manager->holder_id);
        board->epoch = role.epoch;
        board->left = (int64_t) (ngx_msec_int_t) (role.deadline
                                           - ngx_http_submission_lease_msec())
                      * 1000;
    }

    return board;
}


sm_series_t *
ngx_http_submission_board_series(ngx_pool_t *pool,
    ngx_http_submission_manager_conf_t *mcf, sm_str_t name, ngx_int_t *rc)
{
    sm_series_t                        *series, *copy;
    ngx_str_node_t                     *found;
    ngx_http_submission_board_shctx_t  *sh;

    *rc = NGX_ERROR;

    copy = ngx_palloc(pool, sizeof(sm_series_t));
    if (copy == NULL) {
        return NULL;
    }

    *rc = NGX_OK;

    sh = ngx_http_submission_board_lock(mcf);

    series = sh->totals;

    if (name.len) {
        found = ngx_http_submission_named(&sh->series, name);
        series = found ? &((ngx_http_submission_board_node_t *) found)->series
                       : NULL;
    }

    if (series) {
        *copy = *series;
    }

    ngx_http_submission_board_unlock(mcf);

    return series ? copy : NULL;
}


ngx_int_t
ngx_http_submission_board_counted(ngx_pool_t *pool,
    ngx_http_submission_manager_conf_t *mcf, sm_stats_t **backlog)
{
    void                               *block;
    ngx_int_t                           rc;
    ngx_http_submission_board_shctx_t  *sh;

    rc = NGX_DECLINED;

    sh = ngx_http_submission_board_lock(mcf);

    if (sh->backlog
        && ngx_http_submission_usec() - sh->backlog_at
           < NGX_HTTP_SUBMISSION_BOARD_COUNTED)
    {
        rc = NGX_ERROR;
        block = ngx_palloc(pool, sh->backlog_size);

        if (block) {
            ngx_memcpy(block, sh->backlog, sh->backlog_size);
            *backlog = sm_stats_open(block);
            rc = NGX_OK;
        }
    }

    ngx_http_submission_board_unlock(mcf);

    return rc;
}


/* Without room for the count, the next request counts again. */

void
ngx_http_submission_board_backlog(ngx_http_submission_manager_t *manager,
    sm_stats_t *backlog)
{
    ngx_slab_pool_t                    *shpool;
    ngx_http_submission_board_shctx_t  *sh;

    if (ngx_http_submission_board_old(manager)) {
        return;
    }

    shpool = manager->sh->board->pool;
    sh = ngx_http_submission_board_write(manager->conf);

    ngx_http_submission_board_free(shpool, sh->backlog);

    sh->backlog_size = sm_stats_pack_size(backlog);
    sh->backlog = ngx_http_submission_board_alloc(shpool, sh->backlog_size);

    if (sh->backlog) {
        sm_stats_pack(sh->backlog, backlog);
        sh->backlog_at = ngx_http_submission_usec();
    }

    ngx_http_submission_board_unlock(manager->conf);
}


void
ngx_http_submission_board_use(ngx_http_submission_manager_conf_t *mcf,
    int64_t *age, ngx_uint_t *histories, ngx_uint_t *bytes)
{
    ngx_http_submission_board_shctx_t  *sh;

    sh = ngx_http_submission_board_lock(mcf);

    *age = sh->stats_at
           ? sh->now + ngx_http_submission_usec() - sh->now_at - sh->stats_at
           : -1;

    if (sh->stats_at && *age < 0) {
        *age = 0;
    }

    *histories = sh->nseries;
    *bytes = sh->nseries * sizeof(ngx_http_submission_board_node_t)
             + (sh->totals ? sizeof(sm_series_t) : 0)
             + sh->allocated + (sh->backlog ? sh->backlog_size : 0)
             + sh->room * sizeof(ngx_http_submission_instance_t);

    ngx_http_submission_board_unlock(mcf);
}
