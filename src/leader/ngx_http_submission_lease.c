
/*
 * The calls of an executor worker to the store about its lease, one at a time.
 */

#include "ngx_http_submission_lease.h"


/* must be in the order of ngx_http_submission_lease_e */

static ngx_http_submission_op_e  ngx_http_submission_lease_ops[] = {
    NGX_HTTP_SUBMISSION_OP_LEASE_ACQUIRE,
    NGX_HTTP_SUBMISSION_OP_ATTEMPTS_RECOVER,
    NGX_HTTP_SUBMISSION_OP_LEASE_RENEW,
    NGX_HTTP_SUBMISSION_OP_LEASE_RENEW,
    NGX_HTTP_SUBMISSION_OP_LEASE_RELEASE,
    NGX_HTTP_SUBMISSION_OP_LEASE_RELEASE,
    NGX_HTTP_SUBMISSION_OP_LEASE_WATCH
};

_Static_assert(sizeof(ngx_http_submission_lease_ops)
               / sizeof(ngx_http_submission_op_e)
               == NGX_HTTP_SUBMISSION_LEASE_N, "an operation for each kind");


/*
 * Due intents could not be sent for the duration of a lease, for lack of
 * connections, and nothing is at gateways that would be in doubt to others.
 * Another instance may do better.
 */

ngx_uint_t
ngx_http_submission_lease_starved(ngx_http_submission_leader_t *ld)
{
    return ld->handlers->starved(ld->manager,
                                 ld->manager->conf->lease_duration)
           && ld->handlers->drained(ld->manager);
}


static ngx_http_submission_lease_t *
ngx_http_submission_lease_create(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind)
{
    ngx_http_submission_op_e        op;
    ngx_http_submission_lease_t    *call;
    ngx_http_submission_shctx_t    *sh;
    ngx_http_submission_manager_t  *manager;

    manager = ld->manager;
    sh = manager->sh;

    op = kind == NGX_HTTP_SUBMISSION_LEASE_ACQUIRE && sh->held
         ? NGX_HTTP_SUBMISSION_OP_LEASE_TAKEOVER
         : ngx_http_submission_lease_ops[kind];

    call = ngx_http_submission_task_create(manager, op,
                                          sizeof(ngx_http_submission_lease_t));
    if (call == NULL) {
        return NULL;
    }

    call->kind = kind;
    call->state = ld->state;
    call->duration = manager->conf->lease_duration;
    call->release = manager->conf->release_on_exit;
    call->held_until = sh->held_until;
    call->look = kind == NGX_HTTP_SUBMISSION_LEASE_KEEP
                 || (kind == NGX_HTTP_SUBMISSION_LEASE_RENEW
                     && ngx_http_submission_lease_starved(ld));
    call->random = (uint32_t) ngx_random();

    if (kind == NGX_HTTP_SUBMISSION_LEASE_WATCH
        || kind == NGX_HTTP_SUBMISSION_LEASE_ACQUIRE)
    {
        ngx_http_submission_fetch_plan(manager, &call->fetch);
    }

    call->fence.holder.data = (char *) manager->holder_id.data;
    call->fence.holder.len = manager->holder_id.len;
    call->fence.epoch = sh->held;

    call->candidate.holder = call->fence.holder;
    call->candidate.role = sm_str_c(kind == NGX_HTTP_SUBMISSION_LEASE_RENEW
                                    ? "leader" : "follower");
    call->candidate.version = sm_str_c(NGX_HTTP_SUBMISSION_VERSION);
    call->candidate.started_at = sh->started_at;
    call->candidate.wake_url.data = (char *) manager->conf->wake_url.data;
    call->candidate.wake_url.len = manager->conf->wake_url.len;
    call->ttl = 3 * ngx_max(manager->conf->acquire_interval,
                            manager->conf->renew_interval);

    call->task.done = ngx_http_submission_lease_done;

    return call;
}


ngx_int_t
ngx_http_submission_lease_call(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind)
{
    ngx_http_submission_lease_t  *call;

    if (ld->call) {
        return NGX_BUSY;
    }

    call = ngx_http_submission_lease_create(ld, kind);
    if (call == NULL) {
        return NGX_ERROR;
    }

    if ((kind == NGX_HTTP_SUBMISSION_LEASE_RECOVER
         && ld->handlers->known(ld->manager, &call->task.call.arena,
                                &call->known, &call->nknown)
            != NGX_OK)
        || ngx_http_submission_task_post(&call->task) != NGX_OK)
    {
        ngx_http_submission_task_free(&call->task);
        return NGX_ERROR;
    }

    ld->call = &call->task;

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: lease call op:%s state:%s epoch:%L known:%uz",
                   ngx_http_submission_ops[call->task.op].name,
                   sm_leader_state_name(ld->state), call->fence.epoch,
                   call->nknown);

    return NGX_OK;
}


/*
 * Whether a row with this holder_id was left by a call of this instance whose
 * answer was lost.  A generated holder_id belongs to nobody else.  A
 * configured one may, by mistake, be that of another instance too; but if the
 * epoch before was ours and had not expired, only this instance could take it
 * over.
 */

static ngx_uint_t
ngx_http_submission_lease_ours(ngx_http_submission_lease_t *call)
{
    if (!sm_str_eq(call->lease.holder, call->fence.holder)) {
        return 0;
    }

    return call->task.manager->unique
           || (call->fence.epoch
               && call->lease.epoch == call->fence.epoch + 1
               && call->lease.acquired_at < call->held_until);
}


/*
 * Runs in a thread.  An epoch that the instance knows of is taken over, so
 * that nobody else comes between.  A lease that it holds without knowing is
 * released first.
 */

static int
ngx_http_submission_lease_acquire(ngx_http_submission_lease_t *call)
{
    sm_call_t   *c;
    sm_store_t  *store;
    sm_fence_t   fence;

    c = &call->task.call;
    store = &call->task.manager->store;
    fence = call->fence;

    if (fence.epoch) {

        if (sm_store_lease_takeover(store, c, &fence, call->duration,
                                    &call->lease)
            != 0)
        {
            return -1;
        }

        if (call->lease.held) {
            return 0;
        }

        call->started = ngx_http_submission_lease_msec();
    }

    if (sm_store_lease_acquire(store, c, fence.holder, call->duration,
                               &call->lease)
        != 0)
    {
        return -1;
    }

    if (call->lease.held || !ngx_http_submission_lease_ours(call)) {
        return 0;
    }

    fence.epoch = call->lease.epoch;

    if (sm_store_lease_release(store, c, &fence, &call->lease) != 0) {
        return -1;
    }

    call->started = ngx_http_submission_lease_msec();

    return sm_store_lease_acquire(store, c, fence.holder, call->duration,
                                  &call->lease);
}


/* in a thread: how many other instances could lead */

static int
ngx_http_submission_lease_others(ngx_http_submission_lease_t *call)
{
    size_t        i;
    sm_cluster_t  cluster;

    if (sm_store_cluster_get(&call->task.manager->store, &call->task.call,
                             &cluster)
        != 0)
    {
        return -1;
    }

    for (i = 0; i < cluster.n; i++) {
        if (!sm_str_eq(cluster.candidates[i].holder, call->fence.holder)) {
            call->others++;
        }
    }

    return 0;
}


void
ngx_http_submission_lease_run(ngx_http_submission_task_t *task)
{
    sm_call_t                    *c;
    sm_store_t                   *store;
    ngx_http_submission_lease_t  *call;

    call = (ngx_http_submission_lease_t *) task;
    c = &task->call;
    store = &task->manager->store;

    if (call->kind == NGX_HTTP_SUBMISSION_LEASE_WATCH) {
        if (sm_store_lease_watch(store, c, &call->lease, &call->wake_url)
            == 0)
        {
            ngx_http_submission_fetch(store, c, &call->fetch);
        }

        call->watched = call->lease;
        return;
    }

    if (call->kind == NGX_HTTP_SUBMISSION_LEASE_RECOVER) {
        (void) sm_store_attempts_recover(store, c, &call->fence, call->known,
                                         call->nknown,
                                         task->manager->conf->executor_batch,
                                         call->random, &call->recovered);
        task->rows = call->recovered.attempts;
        return;
    }

    if (call->kind == NGX_HTTP_SUBMISSION_LEASE_RELEASE) {

        if (call->release && call->fence.epoch
            && sm_store_lease_release(store, c, &call->fence, &call->lease)
               != 0)
        {
            return;
        }

        (void) sm_store_candidate_remove(store, c, call->fence.holder);
        return;
    }

    if (sm_store_candidate_heartbeat(store, c, &call->candidate, call->ttl)
        != 0)
    {
        return;
    }

    call->started = ngx_http_submission_lease_msec();

    if (call->kind == NGX_HTTP_SUBMISSION_LEASE_ACQUIRE) {

        if (ngx_http_submission_lease_acquire(call) == 0
            && !call->lease.held
            && sm_store_lease_watch(store, c, &call->watched, &call->wake_url)
               == 0)
        {
            ngx_http_submission_fetch(store, c, &call->fetch);
        }

        return;
    }

    if (call->kind == NGX_HTTP_SUBMISSION_LEASE_YIELD) {
        (void) sm_store_lease_release(store, c, &call->fence, &call->lease);
        return;
    }

    if (call->look
        && (ngx_http_submission_lease_others(call) != 0
            || (call->others && call->kind == NGX_HTTP_SUBMISSION_LEASE_KEEP)))
    {
        return;
    }

    call->started = ngx_http_submission_lease_msec();

    (void) sm_store_lease_renew(store, c, &call->fence, call->duration,
                                &call->lease);
}


/* the thread has run the call and has ended */

void
ngx_http_submission_lease_settle(ngx_http_submission_leader_t *ld)
{
    ngx_http_submission_lease_t  *call;

    if (ld->call == NULL) {
        return;
    }

    call = (ngx_http_submission_lease_t *) ld->call;
    ld->call = NULL;

    ngx_http_submission_lease_note(ld, call);
    ngx_http_submission_lease_recovered(ld, call);

    ngx_http_submission_task_abandon(&call->task);
}


static ngx_int_t
ngx_http_submission_lease_now(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind)
{
    ngx_int_t                     rc;
    ngx_http_submission_lease_t  *call;

    call = ngx_http_submission_lease_create(ld, kind);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_http_submission_lease_run(&call->task);
    ngx_http_submission_lease_note(ld, call);
    ngx_http_submission_lease_recovered(ld, call);

    rc = NGX_OK;

    if (call->task.call.status != SM_STORE_OK) {
        ngx_http_submission_leader_log(ld, NGX_LOG_ERR,
                                       "leader_release_failed", "exit",
                                       call->task.call.error);
        rc = NGX_ERROR;
    }

    ngx_http_submission_task_free(&call->task);

    return rc;
}


/*
 * The instance takes its own lease over, so that its attempts in flight belong
 * to an earlier epoch.  They are then recorded as in doubt, like those of any
 * leader that is gone.
 */

void
ngx_http_submission_lease_end(ngx_http_submission_leader_t *ld,
    ngx_uint_t doubt, ngx_msec_t deadline)
{
    ngx_uint_t                    i;
    ngx_http_submission_shctx_t  *sh;

    static ngx_http_submission_lease_e  kinds[] = {
        NGX_HTTP_SUBMISSION_LEASE_ACQUIRE,
        NGX_HTTP_SUBMISSION_LEASE_RECOVER,
        NGX_HTTP_SUBMISSION_LEASE_RELEASE
    };

    sh = ld->manager->sh;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {

        if (kinds[i] != NGX_HTTP_SUBMISSION_LEASE_RELEASE
            && (!doubt || !sh->held || !ld->manager->conf->release_on_exit))
        {
            continue;
        }

        if ((ngx_msec_int_t) (deadline - ngx_http_submission_msec()) <= 0
            || ngx_http_submission_lease_now(ld, kinds[i]) != NGX_OK)
        {
            return;
        }
    }
}
