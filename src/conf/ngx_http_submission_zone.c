
/*
 * The shared memory zone of a manager: how it is made, and kept by a reload.
 */

#include "ngx_http_submission_directives.h"
#include "ngx_http_submission_zone_board.h"
#include "ngx_http_submission_zone_feed.h"
#include "ngx_http_submission_zone_health.h"
#include "ngx_http_submission_zone_signal.h"
#include "ngx_http_submission_zone_target.h"


/* One of so many free pages is kept for targets that a reload adds. */

#define NGX_HTTP_SUBMISSION_ZONE_RESERVE  16

/* The feed of events takes so much of them, at most. */

#define NGX_HTTP_SUBMISSION_ZONE_FEED     4


/* All that there is once in a zone, in one piece. */

typedef struct {
    ngx_http_submission_shctx_t         sh;
    ngx_http_submission_health_shctx_t  health;
    ngx_http_submission_metrics_t       metrics;
    ngx_http_submission_peer_shctx_t    peer;
    ngx_http_submission_notices_t       notices;
    ngx_http_submission_board_zone_t    board;
    ngx_http_submission_feed_shctx_t    feed;
} ngx_http_submission_zone_t;


static ngx_int_t ngx_http_submission_zone_init(ngx_shm_zone_t *shm_zone,
    void *data);


ngx_int_t
ngx_http_submission_zone_add(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_str_t  name;

    name.len = sizeof("submission_") - 1 + mcf->name.len;
    name.data = ngx_pnalloc(cf->pool, name.len);
    if (name.data == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_sprintf(name.data, "submission_%V", &mcf->name);

    mcf->shm_zone = ngx_shared_memory_add(cf, &name, mcf->zone_size,
                                              &ngx_http_submission_module);
    if (mcf->shm_zone == NULL) {
        return NGX_ERROR;
    }

    mcf->shm_zone->init = ngx_http_submission_zone_init;
    mcf->shm_zone->data = mcf;
    mcf->cycle = cf->cycle;

    return NGX_OK;
}


/* A target's node outlives configurations without that target. */

static ngx_http_submission_target_node_t *
ngx_http_submission_zone_target(ngx_slab_pool_t *shpool,
    ngx_http_submission_shctx_t *sh, sm_str_t name)
{
    ngx_http_submission_target_node_t  *node;

    node = (ngx_http_submission_target_node_t *)
               ngx_http_submission_named(&sh->targets, name);
    if (node) {
        return node;
    }

    node = ngx_slab_calloc(shpool, sizeof(ngx_http_submission_target_node_t)
                                   + name.len);
    if (node == NULL) {
        return NULL;
    }

    ngx_memcpy(node->name, name.data, name.len);
    name.data = (char *) node->name;

    /* workers have pointers to nodes, and do not read the tree */

    ngx_http_submission_named_insert(&sh->targets, &node->node, name);

    return node;
}


/* Collects targets of earlier configurations that this one does not have. */

static ngx_int_t
ngx_http_submission_zone_former(ngx_http_submission_manager_conf_t *mcf)
{
    ngx_rbtree_t                        *tree;
    ngx_rbtree_node_t                   *node;
    ngx_http_submission_target_node_t   *target, **former;

    tree = &mcf->sh->targets;

    if (tree->root == tree->sentinel) {
        return NGX_OK;
    }

    for (node = ngx_rbtree_min(tree->root, tree->sentinel);
         node;
         node = ngx_rbtree_next(tree, node))
    {
        target = (ngx_http_submission_target_node_t *) node;

        if (ngx_http_submission_target(mcf,
                               ngx_http_submission_str(&target->node.str)))
        {
            continue;
        }

        former = ngx_array_push(&mcf->former);
        if (former == NULL) {
            return NGX_ERROR;
        }

        *former = target;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_zone_targets(ngx_shm_zone_t *shm_zone,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_uint_t                          i, without;
    ngx_slab_pool_t                    *shpool;
    ngx_http_submission_target_t      **targets;
    ngx_http_submission_target_node_t  *node;

    shpool = (ngx_slab_pool_t *) shm_zone->shm.addr;
    targets = mcf->by_index.elts;
    without = 0;

    for (i = 0; i < mcf->by_index.nelts; i++) {
        node = ngx_http_submission_zone_target(shpool, mcf->sh,
                                               targets[i]->contract.target);
        if (node == NULL) {
            without++;
            continue;
        }

        targets[i]->metrics = &node->metrics;
        targets[i]->limits = &node->limits;
    }

    if (without) {
        ngx_log_error(NGX_LOG_WARN, shm_zone->shm.log, 0,
                      "submission: zone_too_small manager=%V targets=%ui "
                      "without_metrics=%ui zone_bytes=%uz: these count as "
                      "target=\"other\"; raise \"zone\"", &mcf->name,
                      mcf->by_index.nelts, without, shm_zone->shm.size);
    }

    return ngx_http_submission_zone_former(mcf);
}


void
ngx_http_submission_zone_board(ngx_http_submission_board_zone_t *board)
{
    ngx_slab_pool_t  *pool;

    pool = board->pool;

    if (pool == NULL) {
        return;
    }

    ngx_memzero(pool, sizeof(ngx_slab_pool_t));

    pool->end = (u_char *) pool + board->size;
    pool->min_shift = 3;
    pool->addr = pool;

    ngx_slab_init(pool);

    /* nginx's slab would log an error each time */

    pool->log_nomem = 0;
}


/* The board gets what is left of a new zone, in one piece. */

static void
ngx_http_submission_zone_give(ngx_slab_pool_t *shpool,
    ngx_http_submission_board_zone_t *board)
{
    ngx_uint_t  n;

    n = shpool->pfree - shpool->pfree / NGX_HTTP_SUBMISSION_ZONE_RESERVE;

    for ( /* void */ ; n > 1 && board->pool == NULL; n /= 2) {
        board->size = n * ngx_pagesize;
        board->pool = ngx_slab_alloc(shpool, board->size);
    }

    ngx_http_submission_zone_board(board);
}


/* In a small zone the feed has fewer events, or none. */

static void
ngx_http_submission_zone_feed(ngx_http_submission_manager_conf_t *mcf)
{
    size_t                             n;
    ngx_slab_pool_t                   *shpool;
    ngx_http_submission_feed_shctx_t  *feed;

    shpool = (ngx_slab_pool_t *) mcf->shm_zone->shm.addr;
    feed = mcf->sh->feed;

    if (feed->size) {
        return;
    }

    n = shpool->pfree / NGX_HTTP_SUBMISSION_ZONE_FEED * ngx_pagesize
        / sizeof(ngx_http_submission_feed_slot_t);
    n = ngx_min(n, SM_FEED_RING);

    if (n) {
        feed->slots = ngx_slab_calloc(shpool,
                               n * sizeof(ngx_http_submission_feed_slot_t));
    }

    if (feed->slots) {
        feed->size = n;
        return;
    }

    ngx_log_error(NGX_LOG_WARN, mcf->shm_zone->shm.log, 0,
                  "submission: zone_too_small manager=%V events=0 "
                  "zone_bytes=%uz: GET /v1/events has none; raise \"zone\"",
                  &mcf->name, mcf->shm_zone->shm.size);
}


static ngx_http_submission_shctx_t *
ngx_http_submission_zone_create(ngx_slab_pool_t *shpool)
{
    ngx_http_submission_zone_t  *zone;

    zone = ngx_slab_calloc(shpool, sizeof(ngx_http_submission_zone_t));
    if (zone == NULL) {
        return NULL;
    }

    zone->sh.health = &zone->health;
    zone->sh.metrics = &zone->metrics;
    zone->sh.peer = &zone->peer;
    zone->sh.notices = &zone->notices;
    zone->sh.board = &zone->board;
    zone->board.clock = ngx_http_submission_date_usec()
                        - ngx_http_submission_usec();
    zone->sh.feed = &zone->feed;

    ngx_rbtree_init(&zone->sh.targets, &zone->sh.sentinel,
                    ngx_str_rbtree_insert_value);

    /* callers that get no memory say so themselves */

    shpool->log_nomem = 0;
    shpool->data = &zone->sh;

    return &zone->sh;
}


/*
 * A zone of another size is a new one, and what it tells of is nevertheless a
 * reload of what was there.
 */

static void
ngx_http_submission_zone_reloaded(ngx_http_submission_manager_conf_t *mcf)
{
    ngx_uint_t                            i;
    ngx_http_submission_main_conf_t      *smcf;
    ngx_http_submission_manager_conf_t  **mcfs;

    if (ngx_is_init_cycle(mcf->cycle->old_cycle)) {
        return;
    }

    smcf = ngx_http_cycle_get_module_main_conf(mcf->cycle->old_cycle,
                                               ngx_http_submission_module);
    if (smcf == NULL) {
        return;
    }

    mcfs = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {
        if (mcfs[i]->name.len == mcf->name.len
            && ngx_strncmp(mcfs[i]->name.data, mcf->name.data, mcf->name.len)
               == 0)
        {
            mcf->sh->feed->config =
                   (ngx_atomic_uint_t) sm_config_hash(mcfs[i]->config.text);
        }
    }
}


/*
 * Zones are created before a configuration takes effect.  A failure here
 * undoes a reload, and the old workers go on; a failure in init_module would
 * end the master.
 */

static ngx_int_t
ngx_http_submission_zone_init(ngx_shm_zone_t *shm_zone, void *data)
{
    ngx_http_submission_manager_conf_t *old = data;

    ngx_slab_pool_t                     *shpool;
    ngx_http_submission_manager_conf_t  *mcf;

    mcf = shm_zone->data;
    shpool = (ngx_slab_pool_t *) shm_zone->shm.addr;

    /* nginx starts no thread pools for the new configuration then */

    if (ngx_process == NGX_PROCESS_SINGLE
        && !ngx_is_init_cycle(mcf->cycle->old_cycle))
    {
        ngx_log_error(NGX_LOG_ERR, shm_zone->shm.log, 0,
                      "submission: reload_refused manager=%V: with "
                      "\"master_process off\" the configuration cannot be "
                      "reloaded, and the old one stays; restart nginx",
                      &mcf->name);
        return NGX_ERROR;
    }

    if (old) {
        mcf->sh = old->sh;

    } else if (shm_zone->shm.exists) {
        mcf->sh = shpool->data;

    } else {
        mcf->sh = ngx_http_submission_zone_create(shpool);
        if (mcf->sh == NULL) {
            return NGX_ERROR;
        }

        ngx_http_submission_zone_reloaded(mcf);
    }

    if (ngx_http_submission_zone_targets(shm_zone, mcf) != NGX_OK) {
        return NGX_ERROR;
    }

    if (mcf->sh->board->pool == NULL) {
        ngx_http_submission_zone_feed(mcf);
        ngx_http_submission_zone_give(shpool, mcf->sh->board);
    }

    return ngx_http_submission_open(mcf);
}


/*
 * The first worker makes the key of the instance and, if no holder_id is
 * configured, generates one; both survive a reload.  The master cannot do that: at start it is still the
 * process that will fork the real master, with another pid.
 */

void
ngx_http_submission_zone_holder(ngx_http_submission_manager_t *manager,
    ngx_cycle_t *cycle)
{
    u_char                       *p;
    ngx_slab_pool_t              *shpool;
    ngx_http_submission_shctx_t  *sh;

    sh = manager->sh;

    (void) ngx_atomic_cmp_set(&sh->key, 0,
                              (ngx_atomic_uint_t) ngx_random() << 31
                              | (ngx_random() | 1));

    if (manager->conf->holder_id.len) {
        manager->holder_id = manager->conf->holder_id;
        return;
    }

    shpool = (ngx_slab_pool_t *) manager->conf->shm_zone->shm.addr;

    ngx_shmtx_lock(&shpool->mutex);

    if (sh->holder_id_len == 0) {
        p = ngx_slprintf(sh->holder_id,
                         sh->holder_id + sizeof(sh->holder_id),
                         "%V-%P-%08xD", &cycle->hostname,
                         ngx_process == NGX_PROCESS_SINGLE ? ngx_pid
                                                           : ngx_parent,
                         (uint32_t) ngx_random());

        sh->holder_id_len = p - sh->holder_id;
    }

    ngx_shmtx_unlock(&shpool->mutex);

    manager->unique = 1;
    manager->holder_id.data = sh->holder_id;
    manager->holder_id.len = sh->holder_id_len;
}
