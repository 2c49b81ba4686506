
/*
 * Wakes the leader on another instance when something was committed here, so
 * that it looks at that now, and not at its next refresh.
 *
 * A wake is a hint.  The store is the truth: a wake that is lost, late,
 * repeated or made up changes nothing but the time of a refresh.
 *
 * - The URL of the leader is in the zone.  The executor worker reads it with
 *   the lease's row.  An instance with "executor off" has no executor worker;
 *   it reads the row when it has committed something, once a second at most.
 * - An instance sends one request at a time.  The worker that sends it has a
 *   claim in the zone, which expires in case the worker dies.  All commits
 *   meanwhile are followed by one more request: either the worker that commits
 *   finds no claim, or the worker that ends its claim finds "tell" set.
 * - Between two requests there is a pause, and a longer one after a failure.
 * - A new leader is told once, because earlier commits may have been told to
 *   the leader before it.
 */

#include "ngx_http_submission_peer.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"


/* milliseconds */

#define NGX_HTTP_SUBMISSION_PEER_CLAIM    5000   /* more than a request takes */
#define NGX_HTTP_SUBMISSION_PEER_PAUSE    5
#define NGX_HTTP_SUBMISSION_PEER_FAILED   500
#define NGX_HTTP_SUBMISSION_PEER_ASK      1000


typedef struct {
    ngx_http_submission_task_t       task;
    sm_lease_t                       lease;
    sm_str_t                         wake_url;
} ngx_http_submission_peer_task_t;


static void ngx_http_submission_peer_start(
    ngx_http_submission_manager_t *manager);
static void ngx_http_submission_peer_timer(ngx_event_t *ev);


ngx_int_t
ngx_http_submission_peer_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_peer_t  *peer;

    peer = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_peer_t));
    if (peer == NULL) {
        return NGX_ERROR;
    }

    peer->timer.handler = ngx_http_submission_peer_timer;
    peer->timer.data = manager;
    peer->timer.log = cycle->log;

    peer->tell = ngx_http_submission_tell_create(cycle, manager);
    if (peer->tell == NULL) {
        return NGX_ERROR;
    }

    manager->peer = peer;

    return NGX_OK;
}


/* Takes the leader's URL from the lease's row. */

void
ngx_http_submission_peer_learn(ngx_http_submission_manager_t *manager,
    sm_lease_t *lease, sm_str_t wake_url)
{
    sm_str_t                         self;
    ngx_http_submission_peer_url_t   url;

    if (manager->conf->generation != manager->sh->generation) {
        return;
    }

    self = ngx_http_submission_str(&manager->holder_id);

    ngx_memzero(&url, sizeof(ngx_http_submission_peer_url_t));

    if (lease->exists && lease->expires_at > lease->now
        && !sm_str_eq(lease->holder, self))
    {
        url.epoch = lease->epoch;

        if (wake_url.len && wake_url.len <= NGX_HTTP_SUBMISSION_URL_MAX) {
            url.len = wake_url.len;
            ngx_memcpy(url.data, wake_url.data, url.len);
        }
    }

    if (ngx_http_submission_zone_learn(manager->conf, &url) == NGX_DECLINED) {

        /* a worker that had a claim may have died with it */

        ngx_http_submission_peer_start(manager);
        return;
    }

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission peer: manager=%V leader epoch:%L \"%*s\"",
                   &manager->conf->name, url.epoch, url.len, url.data);

    if (url.len) {
        ngx_http_submission_peer_tell(manager);
    }
}


static void
ngx_http_submission_peer_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_peer_task_t  *pt;

    pt = (ngx_http_submission_peer_task_t *) task;

    (void) sm_store_lease_watch(&task->manager->store, &task->call, &pt->lease,
                                &pt->wake_url);
}


static void
ngx_http_submission_peer_done(ngx_http_submission_task_t *task)
{
    ngx_http_submission_peer_task_t  *pt;

    pt = (ngx_http_submission_peer_task_t *) task;

    if (task->call.status == SM_STORE_OK) {
        ngx_http_submission_peer_learn(task->manager, &pt->lease,
                                       pt->wake_url);
    }
}


/* Reads the lease's row, on an instance with "executor off". */

static void
ngx_http_submission_peer_ask(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_peer_task_t  *pt;

    if (!ngx_http_submission_once(&manager->sh->peer->asked,
                                  NGX_HTTP_SUBMISSION_PEER_ASK))
    {
        return;
    }

    pt = ngx_http_submission_task_create(manager,
                                         NGX_HTTP_SUBMISSION_OP_LEASE_WATCH,
                                      sizeof(ngx_http_submission_peer_task_t));
    if (pt == NULL) {
        return;
    }

    pt->task.run = ngx_http_submission_peer_thread;
    pt->task.done = ngx_http_submission_peer_done;

    if (ngx_http_submission_task_post(&pt->task) != NGX_OK) {
        ngx_http_submission_task_free(&pt->task);
    }
}


void
ngx_http_submission_peer_tell(ngx_http_submission_manager_t *manager)
{
    manager->sh->peer->tell = 1;

    __sync_synchronize();

    if (manager->conf->executor_off) {
        ngx_http_submission_peer_ask(manager);
    }

    ngx_http_submission_peer_start(manager);
}


/*
 * Returns how long the next request has to wait.  A failure counts for the
 * leader of that epoch alone.
 */

static ngx_msec_t
ngx_http_submission_peer_wait(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_peer_url_t *url)
{
    ngx_msec_t  since;

    if (sh->peer->failed
        && sh->peer->failed_epoch == (ngx_atomic_uint_t) url->epoch)
    {
        since = ngx_http_submission_since(sh->peer->failed);

        if (since < NGX_HTTP_SUBMISSION_PEER_FAILED) {
            return NGX_HTTP_SUBMISSION_PEER_FAILED - since;
        }
    }

    since = ngx_http_submission_since(sh->peer->told);

    return since < NGX_HTTP_SUBMISSION_PEER_PAUSE
           ? NGX_HTTP_SUBMISSION_PEER_PAUSE - since : 0;
}


/*
 * A worker that exits sends one request more at most: under load there would be
 * no end of what others have to tell.
 */

static void
ngx_http_submission_peer_start(ngx_http_submission_manager_t *manager)
{
    ngx_msec_t                       wait;
    ngx_atomic_uint_t                claim;
    ngx_http_submission_peer_t      *peer;
    ngx_http_submission_shctx_t     *sh;
    ngx_http_submission_peer_url_t   url;

    sh = manager->sh;
    peer = manager->peer;

    while (sh->peer->tell) {

        claim = sh->peer->claim;

        if (claim && (ngx_msec_int_t) (claim - ngx_current_msec) > 0) {
            return;
        }

        ngx_http_submission_zone_peer(sh, &url);

        if (url.len == 0) {
            return;
        }

        wait = ngx_http_submission_peer_wait(sh, &url);

        if (ngx_exiting
            && (peer->last || wait > NGX_HTTP_SUBMISSION_PEER_PAUSE))
        {
            return;
        }

        if (wait) {
            if (!peer->timer.timer_set) {
                ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                               "submission peer: wake waits %Mms epoch:%L",
                               wait, url.epoch);

                ngx_add_timer(&peer->timer, wait);
            }

            return;
        }

        peer->claim = ngx_http_submission_stamp(ngx_current_msec
                                            + NGX_HTTP_SUBMISSION_PEER_CLAIM);

        if (ngx_atomic_cmp_set(&sh->peer->claim, claim, peer->claim)) {
            sh->peer->tell = 0;
            sh->peer->told = ngx_current_msec;

            __sync_synchronize();

            peer->last = ngx_exiting;

            ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                           "submission peer: wake epoch:%L \"%*s\"",
                           url.epoch, url.len, url.data);

            ngx_http_submission_tell(manager, &url);
            return;
        }
    }
}


static void
ngx_http_submission_peer_timer(ngx_event_t *ev)
{
    ngx_http_submission_peer_start(ev->data);
}


/* Ends a request.  Failures in a row are one log line. */

void
ngx_http_submission_peer_told(ngx_http_submission_manager_t *manager,
    ngx_http_submission_peer_url_t *url, const char *error)
{
    sm_str_t                      text;
    ngx_http_submission_shctx_t  *sh;
    ngx_http_submission_field_t   address, reason;

    sh = manager->sh;
    text.data = (char *) url->data;
    text.len = url->len;

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission peer: manager=%V told epoch:%L \"%*s\": %s",
                   &manager->conf->name, url->epoch, url->len, url->data,
                   error ? error : "ok");

    if (error == NULL) {
        ngx_http_submission_count(manager, NGX_HTTP_SUBMISSION_CNT_WAKES_SENT,
                                  1);

        sh->peer->failed = 0;

        if (sh->peer->down && ngx_atomic_cmp_set(&sh->peer->down, 1, 0)) {
            ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                          "submission: wake_restored manager=%V lease_epoch=%L"
                          "%V", &manager->conf->name, url->epoch,
                          ngx_http_submission_field(&address, " url=", text));
        }

    } else {
        ngx_http_submission_count(manager,
                                  NGX_HTTP_SUBMISSION_CNT_WAKES_FAILED, 1);

        sh->peer->failed_epoch = (ngx_atomic_uint_t) url->epoch;
        sh->peer->failed = ngx_http_submission_stamp(ngx_current_msec);

        if (ngx_atomic_cmp_set(&sh->peer->down, 0, 1)) {
            ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                          "submission: wake_failed manager=%V lease_epoch=%L"
                          "%V%V", &manager->conf->name, url->epoch,
                          ngx_http_submission_field(&address, " url=", text),
                          ngx_http_submission_field(&reason, " error=",
                                                    sm_str_c(error)));
        }
    }

    (void) ngx_atomic_cmp_set(&sh->peer->claim, manager->peer->claim, 0);

    __sync_synchronize();

    ngx_http_submission_peer_start(manager);
}


/*
 * Answers a wake from another instance.  Anybody may send it, and as often as
 * they like: it makes the leader look, and no more.
 */

ngx_int_t
ngx_http_submission_wake_handler(ngx_http_request_t *r)
{
    ngx_int_t                        rc;
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_loc_conf_t  *slcf;

    if (r->method != NGX_HTTP_POST) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);
    manager = slcf->wake->manager;

    ngx_http_submission_count(manager, NGX_HTTP_SUBMISSION_CNT_WAKES_RECEIVED,
                              1);

    rc = ngx_http_submission_wake_here(manager);

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "submission peer: woken from outside: %s",
                   rc == NGX_OK ? "leads" : "follows");

    r->headers_out.status = NGX_HTTP_NO_CONTENT;
    r->header_only = 1;

    return ngx_http_send_header(r);
}
