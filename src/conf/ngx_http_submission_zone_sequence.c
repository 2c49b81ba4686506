
/*
 * What is read from the zone in one piece without a lock: the role, the limits
 * of a target, the URL of the leader on another instance, the record of the
 * store, and the events of the feed.
 *
 * Each has a sequence that is odd while it is being written.  There is one
 * writer at a time.  A reader copies, and takes the copy if the sequence was
 * even and has not changed meanwhile.  If a writer died in the middle, the
 * sequence stays odd until the next one has written.
 */

#include "ngx_http_submission_zone_feed.h"
#include "ngx_http_submission_zone_health.h"
#include "ngx_http_submission_zone_signal.h"
#include "ngx_http_submission_zone_target.h"


#define NGX_HTTP_SUBMISSION_SEQUENCE_TRIES  1000


static void
ngx_http_submission_sequence_begin(ngx_atomic_t *sequence)
{
    *sequence |= 1;
    ngx_memory_barrier();
}


static void
ngx_http_submission_sequence_end(ngx_atomic_t *sequence)
{
    ngx_memory_barrier();
    (*sequence)++;
}


/*
 * Returns NGX_DECLINED, and zeroes the copy, if the writer died or was stopped
 * in the middle.
 */

static ngx_int_t
ngx_http_submission_sequence_read(ngx_atomic_t *sequence, void *to,
    const void *from, size_t size)
{
    ngx_uint_t         n;
    ngx_atomic_uint_t  before;

    for (n = 0; n < NGX_HTTP_SUBMISSION_SEQUENCE_TRIES; n++) {

        before = *sequence;
        ngx_memory_barrier();

        ngx_memcpy(to, from, size);

        ngx_memory_barrier();

        if (!(before & 1) && before == *sequence) {
            return NGX_OK;
        }

        ngx_cpu_pause();
    }

    ngx_memzero(to, size);

    return NGX_DECLINED;
}


void
ngx_http_submission_zone_publish(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_role_t *role)
{
    ngx_http_submission_sequence_begin(&sh->sequence);

    sh->role = *role;

    ngx_http_submission_sequence_end(&sh->sequence);
}


void
ngx_http_submission_zone_role(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_role_t *role)
{
    (void) ngx_http_submission_sequence_read(&sh->sequence, role, &sh->role,
                                          sizeof(ngx_http_submission_role_t));

    if (role->leader
        && (ngx_msec_int_t) (role->deadline - ngx_http_submission_lease_msec())
           <= 0)
    {
        role->leader = 0;
    }
}


void
ngx_http_submission_zone_limits_write(ngx_http_submission_limits_t *to,
    const ngx_http_submission_limits_t *limits)
{
    ngx_http_submission_sequence_begin(&to->sequence);

    to->tenure = limits->tenure;
    to->epoch = limits->epoch;
    to->concurrency = limits->concurrency;
    to->rules = limits->rules;
    to->bucket = limits->bucket;

    ngx_http_submission_sequence_end(&to->sequence);
}


void
ngx_http_submission_zone_limits_spent(ngx_http_submission_limits_t *to,
    int64_t epoch, const sm_bucket_t *bucket)
{
    ngx_http_submission_sequence_begin(&to->sequence);

    to->epoch = epoch;
    to->bucket = *bucket;

    ngx_http_submission_sequence_end(&to->sequence);
}


ngx_int_t
ngx_http_submission_zone_limits_read(ngx_http_submission_limits_t *from,
    ngx_http_submission_limits_t *limits)
{
    ngx_int_t  rc;

    rc = ngx_http_submission_sequence_read(&from->sequence, limits, from,
                                        sizeof(ngx_http_submission_limits_t));

    return limits->sequence ? rc : NGX_DECLINED;
}


/* The mutex of the slab pool is unlocked by the master if a worker dies. */

ngx_int_t
ngx_http_submission_zone_learn(ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_peer_url_t *url)
{
    ngx_slab_pool_t                   *shpool;
    ngx_http_submission_peer_shctx_t  *peer;

    peer = mcf->sh->peer;

    if (!(peer->sequence & 1)
        && ngx_memcmp(&peer->url, url, sizeof(ngx_http_submission_peer_url_t))
           == 0)
    {
        return NGX_DECLINED;
    }

    shpool = (ngx_slab_pool_t *) mcf->shm_zone->shm.addr;

    ngx_shmtx_lock(&shpool->mutex);

    ngx_http_submission_sequence_begin(&peer->sequence);

    peer->url = *url;

    ngx_http_submission_sequence_end(&peer->sequence);

    ngx_shmtx_unlock(&shpool->mutex);

    return NGX_OK;
}


/* A URL that is not read here is learned again with the lease's row. */

void
ngx_http_submission_zone_peer(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_peer_url_t *url)
{
    (void) ngx_http_submission_sequence_read(&sh->peer->sequence, url,
                                      &sh->peer->url,
                                      sizeof(ngx_http_submission_peer_url_t));
}


ngx_http_submission_store_record_t *
ngx_http_submission_zone_store_lock(ngx_http_submission_manager_conf_t *mcf)
{
    ngx_shmtx_lock(&((ngx_slab_pool_t *) mcf->shm_zone->shm.addr)->mutex);

    ngx_http_submission_sequence_begin(&mcf->sh->health->sequence);

    return &mcf->sh->health->record;
}


void
ngx_http_submission_zone_store_unlock(ngx_http_submission_manager_conf_t *mcf)
{
    mcf->sh->health->store = mcf->sh->health->record.health.state;

    ngx_http_submission_sequence_end(&mcf->sh->health->sequence);

    ngx_shmtx_unlock(&((ngx_slab_pool_t *) mcf->shm_zone->shm.addr)->mutex);
}


/*
 * If a worker died while it wrote the record, the state alone is known until
 * the next call that shows something of the store has ended.
 */

void
ngx_http_submission_zone_store(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_store_record_t *record)
{
    if (ngx_http_submission_sequence_read(&sh->health->sequence, record,
                                  &sh->health->record,
                                  sizeof(ngx_http_submission_store_record_t))
        != NGX_OK)
    {
        record->health.state = sh->health->store;
    }

    record->len = ngx_min(record->len, sizeof(record->error));
}


void
ngx_http_submission_zone_feed_write(ngx_http_submission_feed_shctx_t *feed,
    ngx_uint_t tenure, const sm_feed_event_t *event)
{
    ngx_http_submission_feed_slot_t  *slot;

    slot = &feed->slots[feed->n % feed->size];

    ngx_http_submission_sequence_begin(&slot->sequence);

    slot->index = feed->n;
    slot->tenure = tenure;
    sm_feed_pack(&slot->event, event);

    ngx_http_submission_sequence_end(&slot->sequence);
    ngx_memory_barrier();

    feed->n++;
}


ngx_int_t
ngx_http_submission_zone_feed_read(ngx_http_submission_feed_shctx_t *feed,
    ngx_uint_t index, ngx_http_submission_feed_slot_t *slot)
{
    ngx_int_t                         rc;
    ngx_http_submission_feed_slot_t  *from;

    from = &feed->slots[index % feed->size];

    rc = ngx_http_submission_sequence_read(&from->sequence, slot, from,
                                     sizeof(ngx_http_submission_feed_slot_t));

    return rc == NGX_OK && slot->index == index ? NGX_OK : NGX_DECLINED;
}


/* A slot that a writer has left in the middle of this is written again. */

void
ngx_http_submission_zone_feed_date(ngx_http_submission_feed_shctx_t *feed,
    int64_t offset)
{
    int64_t                           at;
    ngx_uint_t                        i;
    ngx_http_submission_feed_slot_t  *slot;

    for (i = feed->n > feed->size ? feed->n - feed->size : 0; i < feed->n; i++)
    {
        slot = &feed->slots[i % feed->size];
        at = slot->event.at;

        if (at > 0 && !(slot->sequence & 1)) {
            continue;
        }

        if (at < 0) {
            at = ngx_max(offset - at, (int64_t) feed->last + 1);
            feed->last = at;
        }

        ngx_http_submission_sequence_begin(&slot->sequence);
        slot->event.at = at;
        ngx_http_submission_sequence_end(&slot->sequence);
    }
}
