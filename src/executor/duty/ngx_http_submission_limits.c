
/*
 * Hands the limits of targets from one leader to the next: a rate is the
 * cluster's, and a target that was removed from the configuration keeps its
 * limits while intents of it are left.
 *
 * - A leader writes the bucket of a target into the zone before a byte leaves.
 *   The next leader of this instance goes on with that bucket if no other epoch
 *   was between theirs.
 * - A leader that leaves in good order writes the bucket of every target into
 *   the last document of its epoch, when nothing can leave any more, and the
 *   next leader goes on with that, on whichever instance it is.
 * - In all other cases, which are crashes and losses of the lease, a bucket is
 *   empty at first: what was sent in the last moments is not known.
 * - The limits of a target that is not configured are those of the zone, or
 *   else those of the last document.  If neither has them, there are none.
 */

#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_zone_target.h"

#include "sm_webhook.h"


/*
 * Takes the bucket of the zone if it may be used, and writes the limits of this
 * epoch into the zone for the next leader.
 */

static void
ngx_http_submission_limits_adopt(ngx_http_submission_executor_t *ex,
    sm_queue_t *s, sm_str_t name, ngx_http_submission_limits_t *zone,
    ngx_http_submission_limits_t *limits)
{
    const sm_bucket_t             *bucket;
    ngx_http_submission_limits_t   before;

    bucket = NULL;

    if (ngx_http_submission_zone_limits_read(zone, &before) == NGX_OK
        && before.tenure == ex->manager->conf->tenure
        && before.epoch == ex->epoch - 1)
    {
        bucket = &before.bucket;
    }

    bucket = sm_queue_go_on(s, name, bucket);

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: limits \"%*s\" epoch:%L rate:%L units:%L",
                   name.len, name.data, ex->epoch, (int64_t) bucket->rate,
                   (int64_t) bucket->units);

    limits->tenure = ex->manager->conf->tenure;
    limits->epoch = ex->epoch;
    limits->bucket = *bucket;

    ngx_http_submission_zone_limits_write(zone, limits);
}


static void
ngx_http_submission_limits_configured(ngx_http_submission_executor_t *ex,
    sm_queue_t *s, ngx_http_submission_target_t *target)
{
    ngx_http_submission_limits_t  limits;

    if (target->limits == NULL) {
        return;
    }

    limits.concurrency = target->concurrency;
    limits.rules = target->rules;

    ngx_http_submission_limits_adopt(ex, s, target->contract.target,
                                     target->limits, &limits);
}


/* messages of a webhook that was removed are not sent, see _epoch_limit() */

static ngx_int_t
ngx_http_submission_limits_former(ngx_http_submission_executor_t *ex,
    sm_queue_t *s, ngx_http_submission_target_node_t *node)
{
    sm_str_t                      name;
    ngx_http_submission_limits_t  limits;

    name.data = (char *) node->name;
    name.len = node->node.str.len;

    if (sm_webhook_name(name).data
        || ngx_http_submission_zone_limits_read(&node->limits, &limits)
           != NGX_OK
        || limits.tenure != ex->manager->conf->tenure)
    {
        return NGX_OK;
    }

    if (sm_queue_former(s, name, limits.concurrency, &limits.rules) != 0) {
        return NGX_ERROR;
    }

    ngx_http_submission_limits_adopt(ex, s, name, &node->limits, &limits);

    return NGX_OK;
}


ngx_int_t
ngx_http_submission_limits_start(ngx_http_submission_executor_t *ex,
    sm_queue_t *s)
{
    ngx_uint_t                           i;
    ngx_http_submission_target_t       **targets;
    ngx_http_submission_target_node_t  **former;
    ngx_http_submission_manager_conf_t  *conf;

    conf = ex->manager->conf;
    targets = conf->by_index.elts;
    former = conf->former.elts;

    for (i = 0; i < conf->by_index.nelts; i++) {
        ngx_http_submission_limits_configured(ex, s, targets[i]);
    }

    for (i = 0; i < conf->former.nelts; i++) {
        if (ngx_http_submission_limits_former(ex, s, former[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_http_submission_limits_t *
ngx_http_submission_limits_zone(ngx_http_submission_attempt_t *at)
{
    ngx_uint_t                           i;
    ngx_array_t                         *former;
    ngx_http_submission_target_node_t  **nodes;

    if (at->target) {
        return at->target->limits;
    }

    former = &at->manager->conf->former;
    nodes = former->elts;

    for (i = 0; i < former->nelts; i++) {
        if (nodes[i]->node.str.len == at->contract.target.len
            && ngx_memcmp(nodes[i]->name, at->contract.target.data,
                          at->contract.target.len)
               == 0)
        {
            return &nodes[i]->limits;
        }
    }

    return NULL;
}


void
ngx_http_submission_limits_spent(ngx_http_submission_attempt_t *at,
    const sm_bucket_t *bucket)
{
    ngx_http_submission_limits_t  *limits;

    limits = ngx_http_submission_limits_zone(at);

    if (limits) {
        ngx_http_submission_zone_limits_spent(limits,
                                              at->manager->executor->epoch,
                                              bucket);
    }
}


int
ngx_http_submission_limits_read_thread(ngx_http_submission_task_t *task,
    ngx_http_submission_told_t *told)
{
    if (sm_store_stats_get(&task->manager->store, &task->call, &told->row)
        != 0)
    {
        return -1;
    }

    /* a document that this version does not understand is left alone */

    told->known = told->row.doc.len
                  && sm_stats_read(&task->call.arena, &told->row, &told->stats)
                     == 0;
    return 0;
}


static ngx_int_t
ngx_http_submission_limits_learn_one(ngx_http_submission_executor_t *ex,
    const sm_limit_t *limit, int64_t at)
{
    sm_bucket_t  bucket;

    if (ngx_http_submission_target(ex->manager->conf, limit->name) == NULL
        && sm_webhook_name(limit->name).data == NULL
        && sm_queue_former(ex->queue, limit->name, limit->concurrency,
                           &limit->rules)
           != 0)
    {
        return NGX_ERROR;
    }

    if (at) {
        sm_bucket_init(&bucket, limit->rules.rate, limit->rules.burst, at);
        bucket.units = limit->units;

        (void) sm_queue_go_on(ex->queue, limit->name, &bucket);
    }

    return NGX_OK;
}


/*
 * The last document of an epoch was written after all that was sent in it, so
 * its buckets are right from then on.  The store's time, which is known to be
 * at least so far, says how long ago that was.
 */

ngx_int_t
ngx_http_submission_limits_learn(ngx_http_submission_executor_t *ex,
    ngx_http_submission_told_t *told)
{
    size_t   i;
    int64_t  at;

    if (!told->known) {
        return NGX_OK;
    }

    at = 0;

    if (told->stats.last && told->row.epoch == ex->epoch - 1) {
        at = ngx_http_submission_usec()
             - ngx_max(ngx_http_submission_executor_now(ex) - told->row.at, 0);
    }

    for (i = 0; i < told->stats.nlimits; i++) {
        if (ngx_http_submission_limits_learn_one(ex, &told->stats.limits[i],
                                                 at)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
