
/*
 * Notices from the executor worker to all workers of its instance: hashes of
 * the ids of intents that had an attempt or came to their end.  Workers look
 * for the intents that their clients wait for.
 *
 * The hashes are in a ring in shared memory, and a bell to which all workers
 * listen says that there are new ones.  A worker that was too slow finds that
 * some are lost.
 *
 * Only the executor worker writes to the ring.  If it dies meanwhile, or while
 * an old and a new one overlap at a reload, a notice may be lost and nobody
 * finds out.  So notices only shorten a wait, which has its own time-out.
 */

#include "ngx_http_submission_signal.h"
#include "ngx_http_submission_zone_signal.h"


struct ngx_http_submission_bells_s {
    ngx_event_t                      tell;
};


static void ngx_http_submission_notice_tell(ngx_event_t *ev);


/* The handler is also called when the worker shuts down, with c->close set. */

ngx_int_t
ngx_http_submission_notice_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager, ngx_event_handler_pt handler,
    void *data)
{
    ngx_connection_t  *c;

    manager->bells = ngx_pcalloc(cycle->pool,
                                 sizeof(ngx_http_submission_bells_t));
    if (manager->bells == NULL) {
        return NGX_ERROR;
    }

    manager->bells->tell.handler = ngx_http_submission_notice_tell;
    manager->bells->tell.data = manager;
    manager->bells->tell.log = cycle->log;

    c = ngx_http_submission_bell_listen(manager->conf->notice, handler, data);
    if (c == NULL) {
        return NGX_ERROR;
    }

    c->idle = 1;

    return NGX_OK;
}


/* FNV-1a */

uint64_t
ngx_http_submission_notice_hash(sm_str_t id)
{
    size_t    i;
    uint64_t  hash;

    hash = 14695981039346656037u;

    for (i = 0; i < id.len; i++) {
        hash = (hash ^ (u_char) id.data[i]) * 1099511628211u;
    }

    return hash;
}


/*
 * Says that a client of this worker waits, for "time" milliseconds at most.
 * There is a full barrier here and in _notice(): either the executor worker
 * sees that somebody waits, or this worker sees the notice.
 */

void
ngx_http_submission_notice_expect(ngx_http_submission_manager_t *manager,
    ngx_msec_t time)
{
    manager->sh->notices->until = ngx_current_msec + time;

    __sync_synchronize();
}


/* The bell is rung once for all notices of a turn of the event loop. */

void
ngx_http_submission_notice(ngx_http_submission_manager_t *manager, sm_str_t id)
{
    ngx_http_submission_notices_t  *notices;

    notices = manager->sh->notices;

    notices->hashes[notices->n % NGX_HTTP_SUBMISSION_NOTICE_RING] =
                                           ngx_http_submission_notice_hash(id);
    ngx_memory_barrier();
    notices->n++;

    __sync_synchronize();

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: notice \"%*s\" awaited:%d", id.len, id.data,
                   (ngx_msec_int_t) (notices->until - ngx_current_msec) > 0);

    if ((ngx_msec_int_t) (notices->until - ngx_current_msec) > 0) {
        ngx_post_event(&manager->bells->tell, &ngx_posted_events);
    }
}


/*
 * Any worker may call this if something has happened to many intents: the count
 * skips a whole ring, so that readers find that notices are lost, and look at
 * all of theirs.  The executor worker may overwrite the count meanwhile.
 */

void
ngx_http_submission_notice_all(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_notices_t  *notices;

    notices = manager->sh->notices;

    (void) ngx_atomic_fetch_add(&notices->n, NGX_HTTP_SUBMISSION_NOTICE_RING);

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: notice of all intents n:%uA awaited:%d",
                   notices->n,
                   (ngx_msec_int_t) (notices->until - ngx_current_msec) > 0);

    if ((ngx_msec_int_t) (notices->until - ngx_current_msec) > 0) {
        ngx_post_event(&manager->bells->tell, &ngx_posted_events);
    }
}


static void
ngx_http_submission_notice_tell(ngx_event_t *ev)
{
    ngx_http_submission_manager_t  *manager;

    manager = ev->data;

    ngx_http_submission_bell_ring(manager->conf->notice);
}


ngx_int_t
ngx_http_submission_notice_next(ngx_http_submission_manager_t *manager,
    ngx_atomic_uint_t *seen, uint64_t *hash)
{
    ngx_atomic_uint_t               n;
    ngx_http_submission_notices_t  *notices;

    notices = manager->sh->notices;

    if (*seen == notices->n) {
        return NGX_DONE;
    }

    ngx_memory_barrier();
    *hash = notices->hashes[*seen % NGX_HTTP_SUBMISSION_NOTICE_RING];
    ngx_memory_barrier();

    /* the next slot may be half written */

    n = notices->n;

    if (n - *seen >= NGX_HTTP_SUBMISSION_NOTICE_RING) {
        ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission: notices lost seen:%uA n:%uA", *seen, n);

        *seen = n;
        return NGX_DECLINED;
    }

    (*seen)++;

    return NGX_OK;
}
