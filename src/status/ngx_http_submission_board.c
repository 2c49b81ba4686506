
/*
 * Writes the board, see ngx_http_submission_board.h.
 *
 * One worker of an instance writes the leader's numbers: the executor worker
 * writes what it has just told the store, if it leads, or what it has read
 * there; with "executor off", any worker that has read them.  So all instances
 * have the same numbers, and requests for them do not ask the store.
 *
 * If the zone is too small, the history of some targets is lost first, then
 * the numbers of targets, and nothing else.
 *
 * A writer may be killed between any two machine instructions.  Then the
 * master unlocks the mutex, and the next worker that locks it finds the board
 * dirty and empties it, so nobody reads what was half written.  The numbers
 * are there again with the leader's next ones, and so is the hour of history,
 * unless this instance leads: see board_history.c.
 */

#include "ngx_http_submission_board.h"


#define NGX_HTTP_SUBMISSION_BOARD_WARN   3600000     /* milliseconds */

/*
 * Numbers that were counted for longer than this, in microseconds, would be
 * false in one row: those of an epoch before the first look at it, and those
 * after an outage.
 */

#define NGX_HTTP_SUBMISSION_BOARD_BEGUN   (2 * SM_STATS_INTERVAL * 1000000)
#define NGX_HTTP_SUBMISSION_BOARD_MISSED  (6 * SM_STATS_INTERVAL * 1000000)


/* Stores round times, in microseconds. */

#define NGX_HTTP_SUBMISSION_BOARD_ROUNDED  10000


static ngx_shmtx_t *
ngx_http_submission_board_mutex(ngx_http_submission_manager_conf_t *mcf)
{
    return &((ngx_slab_pool_t *) mcf->shm_zone->shm.addr)->mutex;
}


void *
ngx_http_submission_board_alloc(ngx_slab_pool_t *pool, size_t size)
{
    return pool ? ngx_slab_calloc_locked(pool, size) : NULL;
}


void
ngx_http_submission_board_free(ngx_slab_pool_t *pool, void *p)
{
    if (p) {
        ngx_slab_free_locked(pool, p);
    }
}


/*
 * Empties the board without reading any of it: a writer may have died at any
 * step, also while it changed nginx's slab.  The board stays dirty until it is
 * empty.
 */

static void
ngx_http_submission_board_clear(ngx_http_submission_shctx_t *sh,
    ngx_uint_t tenure)
{
    ngx_http_submission_board_shctx_t  *board;

    sh->board->dirty = 1;
    ngx_memory_barrier();

    board = &sh->board->shared;

    ngx_http_submission_zone_board(sh->board);

    ngx_memzero(board, sizeof(ngx_http_submission_board_shctx_t));

    ngx_rbtree_init(&board->series, &board->sentinel,
                    ngx_str_rbtree_insert_value);

    board->tenure = tenure;

    ngx_memory_barrier();
    sh->board->dirty = 0;
}


ngx_http_submission_board_shctx_t *
ngx_http_submission_board_lock(ngx_http_submission_manager_conf_t *mcf)
{
    ngx_uint_t                    tenure;
    ngx_http_submission_shctx_t  *sh;

    sh = mcf->sh;

    ngx_shmtx_lock(ngx_http_submission_board_mutex(mcf));

    tenure = ngx_max(sh->board->shared.tenure, mcf->tenure);

    if (sh->board->dirty || sh->board->shared.series.root == NULL
        || sh->board->shared.tenure < tenure)
    {
        ngx_http_submission_board_clear(sh, tenure);
    }

    return &sh->board->shared;
}


ngx_http_submission_board_shctx_t *
ngx_http_submission_board_write(ngx_http_submission_manager_conf_t *mcf)
{
    ngx_http_submission_board_shctx_t  *board;

    board = ngx_http_submission_board_lock(mcf);

    mcf->sh->board->dirty = 1;
    ngx_memory_barrier();

    return board;
}


void
ngx_http_submission_board_unlock(ngx_http_submission_manager_conf_t *mcf)
{
    ngx_memory_barrier();
    mcf->sh->board->dirty = 0;

    ngx_shmtx_unlock(ngx_http_submission_board_mutex(mcf));
}


ngx_uint_t
ngx_http_submission_board_old(ngx_http_submission_manager_t *manager)
{
    return manager->conf->tenure != manager->sh->tenure;
}


static void
ngx_http_submission_board_time(ngx_http_submission_manager_t *manager,
    ngx_http_submission_board_shctx_t *board, int64_t now)
{
    board->now = now;
    board->now_at = ngx_http_submission_usec();

    ngx_http_submission_event_clock(manager->conf, now, board->now_at);
}


/* Copies as much as there is room for.  An empty string may have no address. */

static size_t
ngx_http_submission_board_text(u_char *dst, size_t size, sm_str_t src)
{
    size = ngx_min(src.len, size);

    if (size) {
        ngx_memcpy(dst, src.data, size);
    }

    return size;
}


/* A leader that renews seldom is heard of by its numbers. */

void
ngx_http_submission_board_beats(ngx_http_submission_manager_conf_t *mcf,
    sm_beats_t *due)
{
    due->leader = ngx_min(mcf->renew_interval, SM_STATS_INTERVAL * 1000);
    due->follower = mcf->acquire_interval;
}


/* The lease lasts as long each time, but the last time if it is given up. */

static void
ngx_http_submission_board_lasts(ngx_http_submission_board_shctx_t *board,
    sm_lease_t *lease)
{
    int64_t  lasts;

    lasts = lease->expires_at - lease->renewed_at;

    if (lease->epoch != board->epoch || lasts > board->lasts) {
        board->lasts = lasts;
    }
}


void
ngx_http_submission_board_lease(ngx_http_submission_manager_t *manager,
    sm_lease_t *lease)
{
    ngx_http_submission_board_shctx_t  *board;

    if (ngx_http_submission_board_old(manager)) {
        return;
    }

    board = ngx_http_submission_board_write(manager->conf);

    ngx_http_submission_board_time(manager, board, lease->now);

    ngx_http_submission_board_lasts(board, lease);

    board->epoch = lease->exists ? lease->epoch : 0;
    board->acquired_at = lease->acquired_at;
    board->renewed_at = lease->renewed_at;
    board->expires_at = lease->expires_at;
    board->len = ngx_http_submission_board_text(board->holder,
                                                sizeof(board->holder),
                                                lease->holder);

    ngx_http_submission_board_unlock(manager->conf);
}


/* Gives the history of a target up, so that there is room for other things. */

static ngx_int_t
ngx_http_submission_board_forget(ngx_slab_pool_t *shpool,
    ngx_http_submission_board_shctx_t *board)
{
    ngx_rbtree_node_t  *node;

    if (shpool == NULL || board->series.root == board->series.sentinel) {
        return NGX_DECLINED;
    }

    node = ngx_rbtree_min(board->series.root, board->series.sentinel);

    ngx_rbtree_delete(&board->series, node);
    ngx_slab_free_locked(shpool, node);
    board->nseries--;

    return NGX_OK;
}


/* What is now matters more than what was: histories make room for it. */

static void *
ngx_http_submission_board_need(ngx_slab_pool_t *shpool,
    ngx_http_submission_board_shctx_t *board, size_t size)
{
    void  *p;

    do {
        p = ngx_http_submission_board_alloc(shpool, size);

    } while (p == NULL
             && ngx_http_submission_board_forget(shpool, board) == NGX_OK);

    return p;
}


/* Makes room for "n" instances, or for none.  What was there is not kept. */

static void
ngx_http_submission_board_room(ngx_slab_pool_t *shpool,
    ngx_http_submission_board_shctx_t *board, ngx_uint_t n)
{
    if (n > board->room) {
        ngx_http_submission_board_free(shpool, board->instances);

        board->room = n;
        board->instances = ngx_http_submission_board_need(shpool, board, n
                                    * sizeof(ngx_http_submission_instance_t));

        if (board->instances == NULL) {
            board->room = 0;
        }
    }

    board->ninstances = ngx_min(n, board->room);
}


/* Keeps the names of targets that others have, or none without room. */

static void
ngx_http_submission_board_names(ngx_slab_pool_t *shpool,
    ngx_http_submission_board_shctx_t *board, const uint32_t *names, size_t n)
{
    if (n > board->names_room) {
        ngx_http_submission_board_free(shpool, board->names);

        board->names_room = n;
        board->names = ngx_http_submission_board_need(shpool, board,
                                                      n * sizeof(uint32_t));

        if (board->names == NULL) {
            board->names_room = 0;
        }
    }

    board->nnames = ngx_min(n, board->names_room);

    if (board->nnames) {
        ngx_memcpy(board->names, names, board->nnames * sizeof(uint32_t));
    }
}


static void
ngx_http_submission_board_differ_log(ngx_http_submission_manager_t *manager,
    ngx_uint_t differ)
{
    char      buf[128];
    sm_out_t  out;

    if (differ == 0) {
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "submission: configuration_same manager=%V: all "
                      "instances have the same configuration again",
                      &manager->conf->name);
        return;
    }

    sm_out_init(&out, buf, sizeof(buf));
    sm_config_parts_out(&out, differ);

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: configuration_differs manager=%V parts=%*s: "
                  "another instance of this lease has another configuration; "
                  "GET /v1/cluster shows which, and reloading all of them with "
                  "the same files ends it", &manager->conf->name,
                  (size_t) (out.last - out.start), out.start);
}


void
ngx_http_submission_board_cluster(ngx_http_submission_manager_t *manager,
    sm_cluster_t *cluster, const uint32_t *names, size_t n)
{
    sm_beats_t                          due;
    ngx_uint_t                          i, differ, before;
    sm_candidate_t                     *c;
    ngx_http_submission_instance_t     *instance;
    ngx_http_submission_board_shctx_t  *board;

    if (ngx_http_submission_board_old(manager)) {
        return;
    }

    differ = sm_cluster_differ(cluster, manager->conf->config.text);
    ngx_http_submission_board_beats(manager->conf, &due);

    board = ngx_http_submission_board_write(manager->conf);

    ngx_http_submission_board_time(manager, board, cluster->lease.now);

    board->read_at = board->now_at;

    before = board->differ;
    board->differ = differ;

    ngx_http_submission_board_names(manager->sh->board->pool, board, names, n);

    ngx_http_submission_board_room(manager->sh->board->pool, board,
                           ngx_min(cluster->n,
                                   NGX_HTTP_SUBMISSION_BOARD_INSTANCES));

    for (i = 0; i < board->ninstances; i++) {
        c = &cluster->candidates[i];
        instance = &board->instances[i];

        instance->heartbeat_at = c->heartbeat_at;
        instance->differ = sm_config_differ(manager->conf->config.text,
                                            c->config);
        instance->shared = sm_candidate_shared(c, cluster->lease.now);
        instance->silent = sm_candidate_silent(c, &cluster->lease, &due);
        instance->len = ngx_http_submission_board_text(instance->name,
                                                       sizeof(instance->name),
                                                       c->holder);
        instance->vlen = ngx_http_submission_board_text(instance->version,
                                                    sizeof(instance->version),
                                                       c->version);
    }

    ngx_http_submission_board_unlock(manager->conf);

    if (differ != before) {
        ngx_http_submission_board_differ_log(manager, differ);
    }
}


/*
 * Keeps the numbers.  Without room, it keeps the totals alone; without room for
 * these, it keeps nothing.
 */

static ngx_int_t
ngx_http_submission_board_block(ngx_slab_pool_t *shpool,
    ngx_http_submission_board_shctx_t *board, sm_stats_t *stats)
{
    size_t      size;
    sm_stats_t  totals;

    size = sm_stats_pack_size(stats);

    if (size > board->allocated) {
        ngx_http_submission_board_free(shpool, board->block);

        board->allocated = size + size / 4;
        board->block = ngx_http_submission_board_need(shpool, board,
                                                      board->allocated);
    }

    if (board->block) {
        sm_stats_pack(board->block, stats);
        board->size = size;
        return NGX_OK;
    }

    totals = *stats;
    totals.omitted += stats->n;
    totals.n = 0;

    size = sm_stats_pack_size(&totals);

    board->block = ngx_http_submission_board_need(shpool, board, size);
    board->allocated = 0;
    board->size = 0;

    if (board->block) {
        sm_stats_pack(board->block, &totals);
        board->allocated = size;
        board->size = size;
    }

    return NGX_DECLINED;
}


sm_series_t *
ngx_http_submission_board_target(ngx_slab_pool_t *shpool,
    ngx_http_submission_board_shctx_t *board, sm_str_t name)
{
    ngx_http_submission_board_node_t  *node;

    node = (ngx_http_submission_board_node_t *)
               ngx_http_submission_named(&board->series, name);
    if (node) {
        return &node->series;
    }

    node = ngx_http_submission_board_alloc(shpool,
                                     sizeof(ngx_http_submission_board_node_t)
                                     + name.len);
    if (node == NULL) {
        return NULL;
    }

    name.len = ngx_http_submission_board_text(node->name, name.len, name);
    name.data = (char *) node->name;

    ngx_http_submission_named_insert(&board->series, &node->node, name);
    board->nseries++;

    return &node->series;
}


/* Says whether it is not known over which time the numbers were counted. */

static unsigned
ngx_http_submission_board_first(ngx_http_submission_board_shctx_t *board,
    sm_stats_t *stats)
{
    int64_t  unseen;

    if (board->stats_at == 0) {
        return stats->counted != stats->epoch
               || stats->at - stats->began > NGX_HTTP_SUBMISSION_BOARD_BEGUN;
    }

    unseen = stats->at - ngx_max(board->stats_at, stats->began);

    if (stats->epoch != board->stats_epoch && stats->goes_on) {
        unseen += ngx_max(stats->goes_on - board->stats_at, 0);
    }

    return unseen > NGX_HTTP_SUBMISSION_BOARD_MISSED;
}


/* Targets that the numbers do not have were not counted. */

static void
ngx_http_submission_board_anew(ngx_http_submission_board_shctx_t *board,
    int64_t counted)
{
    sm_series_t        *series;
    ngx_rbtree_node_t  *node;

    if (board->series.root == board->series.sentinel) {
        return;
    }

    for (node = ngx_rbtree_min(board->series.root, board->series.sentinel);
         node;
         node = ngx_rbtree_next(&board->series, node))
    {
        series = &((ngx_http_submission_board_node_t *) node)->series;

        series->counted = counted;
        ngx_memzero(series->counts, sizeof(series->counts));
    }
}


/*
 * Adds a row to the histories of targets that the numbers do not have, and
 * frees a history that was quiet for an hour.
 */

static void
ngx_http_submission_board_quiet(ngx_slab_pool_t *shpool,
    ngx_http_submission_board_shctx_t *board, sm_stats_t *stats)
{
    uint32_t            at;
    sm_series_t        *series;
    ngx_rbtree_node_t  *node, *next;

    if (board->series.root == board->series.sentinel) {
        return;
    }

    at = (uint32_t) (stats->at / 1000000);

    for (node = ngx_rbtree_min(board->series.root, board->series.sentinel);
         node;
         node = next)
    {
        next = ngx_rbtree_next(&board->series, node);
        series = &((ngx_http_submission_board_node_t *) node)->series;

        if (series->rows[(series->n - 1) % SM_SERIES_ROWS][SM_SERIES_AT] != at
            && sm_series_quiet(series, stats->counted, stats->at))
        {
            ngx_rbtree_delete(&board->series, node);
            ngx_slab_free_locked(shpool, node);
            board->nseries--;
        }
    }
}


/* Adds a row to each history, or to none; see _first(). */

static ngx_int_t
ngx_http_submission_board_rows(ngx_slab_pool_t *shpool,
    ngx_http_submission_board_shctx_t *board, sm_stats_t *stats)
{
    size_t        i;
    unsigned      first;
    sm_series_t  *series;

    first = ngx_http_submission_board_first(board, stats);

    if (first) {
        ngx_http_submission_board_anew(board, stats->counted);
    }

    if (board->totals == NULL) {
        board->totals = ngx_http_submission_board_alloc(shpool,
                                                        sizeof(sm_series_t));
    }

    if (board->totals) {
        sm_series_add(board->totals, stats->counted, stats->at,
                      &stats->totals, first);
    }

    board->nlost = board->totals ? 0 : 1;

    for (i = 0; i < stats->n; i++) {
        series = ngx_http_submission_board_target(shpool, board,
                                                  stats->targets[i].name);
        if (series == NULL) {
            board->nlost++;
            continue;
        }

        sm_series_add(series, stats->counted, stats->at, &stats->targets[i],
                      first);
    }

    if (!first) {
        ngx_http_submission_board_quiet(shpool, board, stats);
    }

    return board->nlost ? NGX_DECLINED : NGX_OK;
}


void
ngx_http_submission_board_stats(ngx_http_submission_manager_t *manager,
    sm_stats_t *stats)
{
    ngx_int_t                           rc;
    ngx_uint_t                          lost, warn;
    ngx_slab_pool_t                    *shpool;
    ngx_http_submission_board_shctx_t  *board;

    if (ngx_http_submission_board_old(manager)) {
        return;
    }

    shpool = manager->sh->board->pool;
    board = ngx_http_submission_board_write(manager->conf);

    /* the store's clock may have been set back since the last document */

    if (stats->epoch == board->stats_epoch
        && stats->at <= board->stats_at
        && board->stats_at - stats->at < NGX_HTTP_SUBMISSION_BOARD_BEGUN)
    {
        ngx_http_submission_board_unlock(manager->conf);
        return;
    }

    rc = ngx_http_submission_board_block(shpool, board, stats);

    if (ngx_http_submission_board_rows(shpool, board, stats) != NGX_OK) {
        rc = NGX_DECLINED;
    }

    board->stats_epoch = stats->epoch;
    board->stats_at = stats->at;
    board->stats_came = ngx_http_submission_usec();
    board->stats_age = board->now
                       ? board->now + board->stats_came - board->now_at
                         - stats->at
                       : 0;
    board->stats_age = ngx_max(board->stats_age, 0);

    lost = board->nlost;
    warn = rc != NGX_OK
           && (board->warned == 0
               || ngx_http_submission_since(board->warned)
                  >= NGX_HTTP_SUBMISSION_BOARD_WARN);

    if (warn) {
        board->warned = ngx_http_submission_stamp(ngx_current_msec);
    }

    ngx_http_submission_board_unlock(manager->conf);

    if (warn) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "submission: zone_too_small manager=%V targets=%uz "
                      "without_history=%ui zone_bytes=%uz: each target needs "
                      "%uz bytes of the zone for an hour of its numbers; "
                      "raise \"zone\"",
                      &manager->conf->name, stats->n, lost,
                      manager->conf->shm_zone->shm.size,
                      (size_t) ngx_align(
                                    sizeof(ngx_http_submission_board_node_t),
                                    ngx_pagesize)
                      + sizeof(sm_stats_target_t));
    }
}


int64_t
ngx_http_submission_board_age(ngx_http_submission_board_shctx_t *board)
{
    return board->stats_age + ngx_http_submission_usec() - board->stats_came;
}


int64_t
ngx_http_submission_board_seen(ngx_http_submission_manager_t *manager,
    ngx_msec_t *age)
{
    int64_t                             seen;
    ngx_http_submission_board_shctx_t  *board;

    board = ngx_http_submission_board_lock(manager->conf);

    seen = board->stats_at;
    *age = board->read_at
           ? (ngx_msec_t) ((ngx_http_submission_usec() - board->read_at) / 1000)
           : NGX_MAX_INT_T_VALUE;

    ngx_http_submission_board_unlock(manager->conf);

    return seen;
}


ngx_uint_t
ngx_http_submission_board_given(ngx_http_submission_board_shctx_t *board)
{
    return board->expires_at - board->renewed_at
           < board->lasts - NGX_HTTP_SUBMISSION_BOARD_ROUNDED;
}


int64_t
ngx_http_submission_board_left(ngx_http_submission_manager_t *manager)
{
    int64_t                             left;
    ngx_http_submission_board_shctx_t  *board;

    board = ngx_http_submission_board_lock(manager->conf);

    left = board->epoch ? board->expires_at - board->now
                          - (ngx_http_submission_usec() - board->now_at)
                        : 0;

    ngx_http_submission_board_unlock(manager->conf);

    return left;
}


void
ngx_http_submission_board_former(ngx_http_submission_manager_t *manager,
    sm_lease_t *lease, u_char buf[NGX_HTTP_SUBMISSION_BOARD_NAME])
{
    ngx_http_submission_board_shctx_t  *board;

    ngx_memzero(lease, sizeof(sm_lease_t));

    board = ngx_http_submission_board_lock(manager->conf);

    lease->epoch = board->epoch;
    lease->expires_at = board->expires_at;
    lease->held = !ngx_http_submission_board_given(board);
    lease->holder.len = board->len;
    lease->holder.data = (char *) buf;

    ngx_memcpy(buf, board->holder, board->len);

    ngx_http_submission_board_unlock(manager->conf);
}
