
/*
 * Notices from the executor worker to all workers of its instance: hashes of
 * the ids of intents that something has happened to.
 *
 * They are in a ring in shared memory, and a write to an eventfd, which all
 * workers watch, tells that there are some.  Nobody reads the eventfd: each
 * write is an event for everyone, and there is room for more of them than
 * there will be.  Who was too slow knows that some are lost.
 *
 * One worker executes, and writes.  If it dies meanwhile, or another one is
 * there already, a notice may be lost without a trace: they are not for what
 * must be known.
 */

#include "ngx_http_submission.h"


static void ngx_http_submission_notice_tell(ngx_event_t *ev);


/* the handler is also called when the worker shuts down, with c->close */

ngx_int_t
ngx_http_submission_notice_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager, ngx_event_handler_pt handler,
    void *data)
{
    ngx_connection_t  *c;

    manager->tell.handler = ngx_http_submission_notice_tell;
    manager->tell.data = manager;
    manager->tell.log = cycle->log;

    c = ngx_get_connection(manager->notice, cycle->log);
    if (c == NULL) {
        return NGX_ERROR;
    }

    c->data = data;
    c->idle = 1;
    c->read->handler = handler;
    c->read->log = cycle->log;
    c->read->channel = 1;

    /* by edges: all event methods that thread pools work with have them */

    return ngx_add_event(c->read, NGX_READ_EVENT, NGX_CLEAR_EVENT);
}


void
ngx_http_submission_notice_leave(ngx_connection_t *c)
{
    if (c->read->active) {
        (void) ngx_del_event(c->read, NGX_READ_EVENT, 0);
    }

    /* not ngx_close_connection(): that would close the eventfd */

    ngx_free_connection(c);
    c->fd = (ngx_socket_t) -1;
    c->idle = 0;
}


/*
 * Somebody looks for notices for so long from now on.  A full barrier here and
 * in _notice(): either the executor worker sees that, or its notice is seen.
 */

void
ngx_http_submission_notice_expect(ngx_http_submission_manager_t *manager,
    ngx_msec_t time)
{
    manager->sh->notices.until = ngx_current_msec + time;

    __sync_synchronize();
}


/* one write tells of all notices in a turn of the event loop */

void
ngx_http_submission_notice(ngx_http_submission_manager_t *manager,
    uint64_t hash)
{
    ngx_http_submission_notices_t  *notices;

    notices = &manager->sh->notices;

    notices->hashes[notices->n % NGX_HTTP_SUBMISSION_NOTICES] = hash;
    ngx_memory_barrier();
    notices->n++;

    __sync_synchronize();

    if ((ngx_msec_int_t) (notices->until - ngx_current_msec) > 0) {
        ngx_post_event(&manager->tell, &ngx_posted_events);
    }
}


static void
ngx_http_submission_notice_tell(ngx_event_t *ev)
{
    static uint64_t  one = 1;

    ngx_http_submission_manager_t  *manager;

    manager = ev->data;

    if (write(manager->notice, &one, sizeof(uint64_t)) == -1) {
        ngx_log_error(NGX_LOG_ALERT, ev->log, ngx_errno,
                      "write() to a submission eventfd failed");
    }
}


/* the next after "seen" of them; NGX_DONE: none, NGX_DECLINED: some are lost */

ngx_int_t
ngx_http_submission_notice_next(ngx_http_submission_manager_t *manager,
    ngx_atomic_uint_t *seen, uint64_t *hash)
{
    ngx_atomic_uint_t               n;
    ngx_http_submission_notices_t  *notices;

    notices = &manager->sh->notices;

    if (*seen == notices->n) {
        return NGX_DONE;
    }

    ngx_memory_barrier();
    *hash = notices->hashes[*seen % NGX_HTTP_SUBMISSION_NOTICES];
    ngx_memory_barrier();

    /* the next slot may be half written */

    n = notices->n;

    if (n - *seen >= NGX_HTTP_SUBMISSION_NOTICES) {
        *seen = n;
        return NGX_DECLINED;
    }

    (*seen)++;

    return NGX_OK;
}
