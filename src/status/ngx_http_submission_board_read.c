
/*
 * Reads the board: copies are made under the mutex, in a request's pool.
 */

#include "ngx_http_submission_board.h"
#include "ngx_http_submission_zone_health.h"


/*
 * The holder of the lease is heard of by its renewals and by its numbers.  It
 * is silent if it was overdue when this instance last looked, so not because
 * this instance cannot look.
 */

static void
ngx_http_submission_board_heard(ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_board_shctx_t *sh, ngx_http_submission_board_t *board)
{
    int64_t     told;
    sm_beats_t  due;

    ngx_http_submission_board_beats(mcf, &due);

    board->heard_at = sh->renewed_at;

    if (sh->stats_epoch == sh->epoch) {
        told = sh->stats_at;

        if (told > board->now) {

            /* the store's clock was set back since */

            told = board->now - ngx_http_submission_board_age(sh);
        }

        board->heard_at = ngx_max(board->heard_at, told);
    }

    board->until = ngx_http_submission_board_given(sh)
                   ? sh->expires_at : board->heard_at;
    board->until = ngx_min(board->until, board->now);
    board->silent = sm_lease_silent(board->heard_at, sh->now, due.leader);
}


static ngx_int_t
ngx_http_submission_board_copy(ngx_pool_t *pool,
    ngx_http_submission_manager_conf_t *mcf,
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
        board->stats_age = ngx_http_submission_board_age(sh);
    }

    board->differ = sh->differ;
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

    if (sh->epoch == 0) {
        return NGX_OK;
    }

    ngx_memcpy(p, sh->holder, sh->len);

    board->holder.data = (char *) p;
    board->holder.len = sh->len;
    board->epoch = sh->epoch;
    board->acquired_at = sh->acquired_at;
    board->expires_at = sh->expires_at;

    ngx_http_submission_board_heard(mcf, sh, board);

    if (sh->expires_at > board->now) {
        board->leader = board->holder;
        board->left = sh->expires_at - board->now;
    }

    return NGX_OK;
}


/* what is different in the configuration of whoever leads, or led last */

static void
ngx_http_submission_board_unlike(ngx_http_submission_board_t *board)
{
    sm_str_t                         name;
    ngx_uint_t                       i;
    ngx_http_submission_instance_t  *instance;

    for (i = 0; i < board->ninstances; i++) {
        instance = &board->instances[i];

        name.data = (char *) instance->name;
        name.len = instance->len;

        if (sm_str_eq(name, board->holder)) {
            board->unlike = instance->differ;
        }
    }
}


/*
 * What this instance knows of itself counts: it may have stopped to lead before
 * its lease is over.
 */

static void
ngx_http_submission_board_role(ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_board_t *board)
{
    sm_str_t                    self;
    ngx_http_submission_role_t  role;

    ngx_http_submission_zone_role(mcf->sh, &role);

    self = ngx_http_submission_str(&mcf->manager->holder_id);

    if (!role.leader) {

        if (sm_str_eq(board->leader, self)) {
            board->leader.data = NULL;
            board->leader.len = 0;
        }

        return;
    }

    if (board->epoch != role.epoch) {
        board->epoch = role.epoch;
        board->acquired_at = 0;
        board->heard_at = board->now;
    }

    board->leads = 1;
    board->silent = 0;
    board->leader = self;
    board->holder = self;
    board->expires_at = role.expires_at;
    board->left = (int64_t) (ngx_msec_int_t) (role.deadline
                                           - ngx_http_submission_lease_msec())
                  * 1000;
}


ngx_http_submission_board_t *
ngx_http_submission_board_read(ngx_pool_t *pool,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_int_t                           rc;
    ngx_http_submission_board_t        *board;
    ngx_http_submission_board_shctx_t  *sh;

    board = ngx_pcalloc(pool, sizeof(ngx_http_submission_board_t));
    if (board == NULL) {
        return NULL;
    }

    sh = ngx_http_submission_board_lock(mcf);
    rc = ngx_http_submission_board_copy(pool, mcf, sh, board);
    ngx_http_submission_board_unlock(mcf);

    if (rc != NGX_OK) {
        return NULL;
    }

    board->host = ngx_http_submission_date_usec();
    board->moved = board->host - ngx_http_submission_usec()
                   - mcf->sh->board->clock;

    if (!board->known) {
        board->now = board->host;
    }

    ngx_http_submission_board_role(mcf, board);
    ngx_http_submission_board_unlike(board);

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

    if (sh->backlog && sh->backlog_came > sh->stats_came) {
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


/* Without room there is no count. */

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
        sh->backlog_came = ngx_http_submission_usec();
    }

    ngx_http_submission_board_unlock(manager->conf);
}


void
ngx_http_submission_board_use(ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_board_use_t *use)
{
    ngx_uint_t                          i;
    ngx_http_submission_board_shctx_t  *sh;

    sh = ngx_http_submission_board_lock(mcf);

    use->age = sh->stats_at ? ngx_http_submission_board_age(sh) : -1;
    use->histories = sh->nseries;
    use->bytes = sh->nseries * sizeof(ngx_http_submission_board_node_t)
                 + (sh->totals ? sizeof(sm_series_t) : 0)
                 + sh->allocated + (sh->backlog ? sh->backlog_size : 0)
                 + sh->room * sizeof(ngx_http_submission_instance_t)
                 + sh->names_room * sizeof(uint32_t);

    use->differ = sh->differ;
    use->shared = 0;

    for (i = 0; i < sh->ninstances; i++) {
        use->shared += sh->instances[i].shared;
    }

    ngx_http_submission_board_unlock(mcf);
}


/* The last look is believed until there is another one. */

ngx_uint_t
ngx_http_submission_board_elsewhere(ngx_http_submission_manager_conf_t *mcf,
    sm_str_t name)
{
    ngx_uint_t                          found;
    ngx_http_submission_board_shctx_t  *sh;

    sh = ngx_http_submission_board_lock(mcf);

    found = sm_config_names_have(sh->names, sh->nnames, sm_config_name(name));

    ngx_http_submission_board_unlock(mcf);

    return found;
}


ngx_uint_t
ngx_http_submission_board_perhaps(ngx_http_submission_manager_conf_t *mcf,
    sm_str_t name)
{
    ngx_uint_t                          looked;
    ngx_http_submission_board_shctx_t  *sh;

    sh = ngx_http_submission_board_lock(mcf);
    looked = sh->read_at != 0;
    ngx_http_submission_board_unlock(mcf);

    return (!looked && mcf->sh->health->store != SM_STORE_HEALTH_UP)
           || ngx_http_submission_board_elsewhere(mcf, name);
}
