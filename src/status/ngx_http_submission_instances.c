
/*
 * Which instances come and go.
 *
 * A follower only remembers who was there.  A leader tells who has gone, also
 * those who went while nobody led, and who is back of those that had gone.  Of
 * itself it says neither, though its row may have expired while it waited for
 * the store.  That an instance has started, it tells by itself.
 */

#include "ngx_http_submission_board.h"


/* Microseconds until a follower forgets an instance that has gone. */

#define NGX_HTTP_SUBMISSION_INSTANCES_FORGET  60000000


/* The instances that this worker knows of, with those that it misses. */

struct ngx_http_submission_instances_s {
    ngx_uint_t                       n;
    ngx_http_submission_instance_t   known[];
};


static sm_str_t
ngx_http_submission_instances_name(ngx_http_submission_instance_t *instance)
{
    sm_str_t  name;

    name.data = (char *) instance->name;
    name.len = instance->len;

    return name;
}


/* A worker that has just begun takes over what the worker before knew. */

static ngx_http_submission_instances_t *
ngx_http_submission_instances_first(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_instances_t    *ins;
    ngx_http_submission_board_shctx_t  *board;

    ins = ngx_pcalloc(ngx_cycle->pool,
                      sizeof(ngx_http_submission_instances_t)
                      + NGX_HTTP_SUBMISSION_BOARD_INSTANCES
                        * sizeof(ngx_http_submission_instance_t));
    if (ins == NULL) {
        return NULL;
    }

    board = ngx_http_submission_board_lock(manager->conf);

    if (board->ninstances) {
        ins->n = board->ninstances;
        ngx_memcpy(ins->known, board->instances,
                   ins->n * sizeof(ngx_http_submission_instance_t));
    }

    ngx_http_submission_board_unlock(manager->conf);

    return ins;
}


static const sm_candidate_t *
ngx_http_submission_instances_find(const sm_cluster_t *cluster, sm_str_t name)
{
    size_t  i;

    for (i = 0; i < cluster->n; i++) {
        if (sm_str_eq(cluster->candidates[i].holder, name)) {
            return &cluster->candidates[i];
        }
    }

    return NULL;
}


/* An instance that quits removes its row; that of another one expires. */

static void
ngx_http_submission_instances_gone(ngx_http_submission_manager_t *manager,
    ngx_http_submission_instance_t *instance, int64_t now)
{
    int64_t     silent;
    sm_str_t    name;
    ngx_msec_t  ttl;

    name = ngx_http_submission_instances_name(instance);
    silent = (now - instance->heartbeat_at) / 1000;
    ttl = 3 * ngx_max(manager->conf->acquire_interval,
                      manager->conf->renew_interval);

    if (silent < (int64_t) ttl) {
        ngx_http_submission_event_of(manager, SM_FEED_INSTANCE_GONE, name,
                                     "%*s has left.", name.len, name.data);
        return;
    }

    ngx_http_submission_event_of(manager, SM_FEED_INSTANCE_GONE, name,
                                 "%*s is gone: it was last heard of %L.%L s "
                                 "ago.", name.len, name.data, silent / 1000,
                                 silent % 1000 / 100);
}


/* Says whether an instance that is missing is dealt with. */

static ngx_uint_t
ngx_http_submission_instances_missing(ngx_http_submission_manager_t *manager,
    ngx_http_submission_instance_t *instance, int64_t now, ngx_uint_t leads)
{
    if (now - instance->heartbeat_at > NGX_HTTP_SUBMISSION_INSTANCES_FORGET
        || ngx_http_submission_event_told_of(manager, SM_FEED_INSTANCE_GONE,
                             ngx_http_submission_instances_name(instance),
                                             instance->heartbeat_at))
    {
        return 1;
    }

    if (leads) {
        ngx_http_submission_instances_gone(manager, instance, now);
    }

    return leads;
}


static void
ngx_http_submission_instances_there(ngx_http_submission_instance_t *instance,
    const sm_candidate_t *c)
{
    instance->len = ngx_min(c->holder.len, sizeof(instance->name));
    ngx_memcpy(instance->name, c->holder.data, instance->len);

    instance->heartbeat_at = c->heartbeat_at;
}


/* It had gone, as the feed says, and has not started since. */

static void
ngx_http_submission_instances_new(ngx_http_submission_manager_t *manager,
    const sm_candidate_t *c)
{
    if (ngx_http_submission_event_told_of(manager, SM_FEED_INSTANCE_GONE,
                                          c->holder, c->started_at))
    {
        ngx_http_submission_event_of(manager, SM_FEED_INSTANCE_BACK, c->holder,
                                     "%*s is back.", c->holder.len,
                                     c->holder.data);
    }
}


void
ngx_http_submission_instances(ngx_http_submission_manager_t *manager,
    const sm_cluster_t *cluster, ngx_uint_t leads)
{
    size_t                            i, k;
    sm_str_t                          name;
    const sm_candidate_t             *c;
    ngx_http_submission_instances_t  *ins;

    ins = manager->instances;

    if (ins == NULL) {
        ins = ngx_http_submission_instances_first(manager);
        manager->instances = ins;
    }

    if (ins == NULL || cluster->lease.now == 0) {
        return;
    }

    for (i = 0; i < ins->n; /* void */ ) {

        name = ngx_http_submission_instances_name(&ins->known[i]);
        c = ngx_http_submission_instances_find(cluster, name);

        if (c == NULL
            && !sm_str_eq(name, ngx_http_submission_str(&manager->holder_id))
            && ngx_http_submission_instances_missing(manager, &ins->known[i],
                                                     cluster->lease.now,
                                                     leads))
        {
            ins->known[i] = ins->known[--ins->n];
            continue;
        }

        if (c) {
            ins->known[i].heartbeat_at = c->heartbeat_at;
        }

        i++;
    }

    for (i = 0; i < cluster->n; i++) {
        c = &cluster->candidates[i];

        for (k = 0; k < ins->n; k++) {
            if (sm_str_eq(c->holder,
                       ngx_http_submission_instances_name(&ins->known[k])))
            {
                break;
            }
        }

        if (k == ins->n && k < NGX_HTTP_SUBMISSION_BOARD_INSTANCES) {
            ngx_http_submission_instances_there(&ins->known[ins->n++], c);

            if (leads) {
                ngx_http_submission_instances_new(manager, c);
            }
        }
    }
}
