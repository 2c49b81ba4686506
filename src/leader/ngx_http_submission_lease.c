
/*
 * The calls of an executor worker to the store about its lease.
 *
 * - There is one call at a time: ld->call.
 * - sh->held is the epoch that the instance holds, as far as answers have told
 *   it, or 0.  It is in shared memory, so that the next executor worker of the
 *   instance can take it over.
 * - call->started is taken before the request that may bring a grant.  The
 *   deadline is counted from it, so a slow answer makes the lease shorter, and
 *   never longer.
 * - A call whose answer is lost may have left its grant in the row.  The next
 *   call finds such a row and takes it over or releases it.
 */

#include "ngx_http_submission_lease.h"


static void ngx_http_submission_lease_try_thread(
    ngx_http_submission_lease_call_t *call);
static void ngx_http_submission_lease_recover_thread(
    ngx_http_submission_lease_call_t *call);
static void ngx_http_submission_lease_renew_thread(
    ngx_http_submission_lease_call_t *call);
static void ngx_http_submission_lease_keep_thread(
    ngx_http_submission_lease_call_t *call);
static void ngx_http_submission_lease_yield_thread(
    ngx_http_submission_lease_call_t *call);
static void ngx_http_submission_lease_release_thread(
    ngx_http_submission_lease_call_t *call);
static void ngx_http_submission_lease_watch_thread(
    ngx_http_submission_lease_call_t *call);


const ngx_http_submission_lease_row_t  ngx_http_submission_lease_rows[] = {

    [NGX_HTTP_SUBMISSION_LEASE_ACQUIRE] = {
        .op = NGX_HTTP_SUBMISSION_OP_LEASE_ACQUIRE,
        .held_op = NGX_HTTP_SUBMISSION_OP_LEASE_TAKEOVER,
        .role = "follower",
        .heartbeat = 1,
        .fetches = 1,
        .run = ngx_http_submission_lease_try_thread,
        .note = ngx_http_submission_lease_note_held,
        .answer = ngx_http_submission_lease_acquired
    },

    [NGX_HTTP_SUBMISSION_LEASE_RECOVER] = {
        .op = NGX_HTTP_SUBMISSION_OP_ATTEMPTS_RECOVER,
        .held_op = NGX_HTTP_SUBMISSION_OP_ATTEMPTS_RECOVER,
        .role = "follower",
        .run = ngx_http_submission_lease_recover_thread,
        .answer = ngx_http_submission_lease_settled
    },

    [NGX_HTTP_SUBMISSION_LEASE_RENEW] = {
        .op = NGX_HTTP_SUBMISSION_OP_LEASE_RENEW,
        .held_op = NGX_HTTP_SUBMISSION_OP_LEASE_RENEW,
        .role = "leader",
        .heartbeat = 1,
        .looks = 1,
        .run = ngx_http_submission_lease_renew_thread,
        .note = ngx_http_submission_lease_note_held,
        .answer = ngx_http_submission_lease_renewed
    },

    [NGX_HTTP_SUBMISSION_LEASE_KEEP] = {
        .op = NGX_HTTP_SUBMISSION_OP_LEASE_RENEW,
        .held_op = NGX_HTTP_SUBMISSION_OP_LEASE_RENEW,
        .role = "follower",
        .heartbeat = 1,
        .run = ngx_http_submission_lease_keep_thread,
        .note = ngx_http_submission_lease_note_kept,
        .answer = ngx_http_submission_lease_kept
    },

    [NGX_HTTP_SUBMISSION_LEASE_YIELD] = {
        .op = NGX_HTTP_SUBMISSION_OP_LEASE_RELEASE,
        .held_op = NGX_HTTP_SUBMISSION_OP_LEASE_RELEASE,
        .role = "follower",
        .heartbeat = 1,
        .run = ngx_http_submission_lease_yield_thread,
        .note = ngx_http_submission_lease_note_yielded,
        .answer = ngx_http_submission_lease_yielded
    },

    [NGX_HTTP_SUBMISSION_LEASE_RELEASE] = {
        .op = NGX_HTTP_SUBMISSION_OP_LEASE_RELEASE,
        .held_op = NGX_HTTP_SUBMISSION_OP_LEASE_RELEASE,
        .role = "follower",
        .run = ngx_http_submission_lease_release_thread,
        .note = ngx_http_submission_lease_note_released
    },

    [NGX_HTTP_SUBMISSION_LEASE_WATCH] = {
        .op = NGX_HTTP_SUBMISSION_OP_LEASE_WATCH,
        .held_op = NGX_HTTP_SUBMISSION_OP_LEASE_WATCH,
        .role = "follower",
        .fetches = 1,
        .run = ngx_http_submission_lease_watch_thread,
        .answer = ngx_http_submission_lease_watched
    }
};

_Static_assert(sm_nelts(ngx_http_submission_lease_rows)
               == NGX_HTTP_SUBMISSION_LEASE_N, "a row for each kind");


/*
 * Whether no due intent could be sent for the duration of a lease, for lack of
 * connections, and nothing is at gateways that would be in doubt to others.
 * Another instance may do better.
 */

ngx_uint_t
ngx_http_submission_lease_starved(ngx_http_submission_leader_t *ld)
{
    return ld->handlers->starved(ld->manager,
                                 ld->manager->conf->lease_duration)
           && ld->handlers->quiet(ld->manager);
}


static ngx_http_submission_lease_call_t *
ngx_http_submission_lease_create(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind)
{
    ngx_http_submission_lease_call_t       *call;
    ngx_http_submission_shctx_t            *sh;
    ngx_http_submission_manager_t          *manager;
    const ngx_http_submission_lease_row_t  *row;

    manager = ld->manager;
    sh = manager->sh;
    row = &ngx_http_submission_lease_rows[kind];

    call = ngx_http_submission_task_create(manager,
                                     sh->held ? row->held_op : row->op,
                                     sizeof(ngx_http_submission_lease_call_t));
    if (call == NULL) {
        return NULL;
    }

    call->kind = kind;
    call->state = ld->state;
    call->duration = manager->conf->lease_duration;
    call->release = manager->conf->release_on_exit;
    call->held_until = sh->held_until;
    call->look = row->looks && ngx_http_submission_lease_starved(ld);
    call->random = (uint32_t) ngx_random();

    if (row->fetches) {
        ngx_http_submission_fetch_plan(manager, &call->fetch);
    }

    call->fence.holder.data = (char *) manager->holder_id.data;
    call->fence.holder.len = manager->holder_id.len;
    call->fence.epoch = sh->held;

    call->candidate.holder = call->fence.holder;
    call->candidate.role = sm_str_c(row->role);
    call->candidate.version = sm_str_c(NGX_HTTP_SUBMISSION_VERSION);
    call->candidate.started_at = sh->started_at;
    call->candidate.wake_url.data = (char *) manager->conf->wake_url.data;
    call->candidate.wake_url.len = manager->conf->wake_url.len;
    call->candidate.config = manager->conf->config.text;
    call->candidate.names_hash = manager->conf->config.names_hash;
    call->candidate.key = sh->key;

    if (row->heartbeat) {
        ngx_http_submission_events_own(manager, &call->task.call.arena,
                                       &call->candidate.events);
    }

    call->ttl = 3 * ngx_max(manager->conf->acquire_interval,
                            manager->conf->renew_interval);

    call->task.done = ngx_http_submission_lease_done;

    return call;
}


ngx_int_t
ngx_http_submission_lease_call(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind)
{
    ngx_http_submission_lease_call_t  *call;

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
ngx_http_submission_lease_ours_thread(ngx_http_submission_lease_call_t *call)
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
 * An epoch that the instance knows of is taken over, so that no other instance
 * comes between.  A lease that it holds without knowing is released first.
 */

static int
ngx_http_submission_lease_acquire_thread(ngx_http_submission_lease_call_t *call)
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

    if (call->lease.held || !ngx_http_submission_lease_ours_thread(call)) {
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


/* counts the other instances that could lead */

static int
ngx_http_submission_lease_others_thread(ngx_http_submission_lease_call_t *call)
{
    size_t        i;
    sm_cluster_t  cluster;

    ngx_memzero(&cluster, sizeof(sm_cluster_t));

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


/* if the lease is not granted, also reads who has it and what it tells */

static void
ngx_http_submission_lease_try_thread(ngx_http_submission_lease_call_t *call)
{
    sm_call_t   *c;
    sm_store_t  *store;

    c = &call->task.call;
    store = &call->task.manager->store;

    if (ngx_http_submission_lease_acquire_thread(call) == 0
        && !call->lease.held
        && sm_store_lease_watch(store, c, &call->watched, &call->wake_url)
           == 0)
    {
        ngx_http_submission_fetch_read_thread(store, c, &call->fetch);
    }
}


static void
ngx_http_submission_lease_recover_thread(ngx_http_submission_lease_call_t *call)
{
    (void) sm_store_attempts_recover(&call->task.manager->store,
                                     &call->task.call, &call->fence,
                                     call->known, call->nknown,
                                     call->task.manager->conf->executor_batch,
                                     call->random, &call->recovered);

    call->task.rows = call->recovered.attempts;
}


static void
ngx_http_submission_lease_renew_thread(ngx_http_submission_lease_call_t *call)
{
    if (call->look && ngx_http_submission_lease_others_thread(call) != 0) {
        return;
    }

    call->started = ngx_http_submission_lease_msec();

    (void) sm_store_lease_renew(&call->task.manager->store, &call->task.call,
                                &call->fence, call->duration, &call->lease);
}


/* renews unless another instance is alive, which leads when it expires */

static void
ngx_http_submission_lease_keep_thread(ngx_http_submission_lease_call_t *call)
{
    if (ngx_http_submission_lease_others_thread(call) == 0
        && call->others == 0)
    {
        ngx_http_submission_lease_renew_thread(call);
    }
}


static void
ngx_http_submission_lease_yield_thread(ngx_http_submission_lease_call_t *call)
{
    (void) sm_store_lease_release(&call->task.manager->store,
                                  &call->task.call, &call->fence,
                                  &call->lease);
}


static void
ngx_http_submission_lease_release_thread(ngx_http_submission_lease_call_t *call)
{
    sm_call_t   *c;
    sm_store_t  *store;

    c = &call->task.call;
    store = &call->task.manager->store;

    if (call->release && call->fence.epoch
        && sm_store_lease_release(store, c, &call->fence, &call->lease) != 0)
    {
        return;
    }

    (void) sm_store_candidate_remove(store, c, call->fence.holder);
}


static void
ngx_http_submission_lease_watch_thread(ngx_http_submission_lease_call_t *call)
{
    sm_call_t   *c;
    sm_store_t  *store;

    c = &call->task.call;
    store = &call->task.manager->store;

    if (sm_store_lease_watch(store, c, &call->lease, &call->wake_url) == 0) {
        ngx_http_submission_fetch_read_thread(store, c, &call->fetch);
    }

    call->watched = call->lease;
}


/*
 * The names of the targets are written once for each configuration, and again
 * if the store has lost them.
 */

static int
ngx_http_submission_lease_heartbeat_thread(
    ngx_http_submission_lease_call_t *call)
{
    unsigned         shared;
    sm_store_t      *store;
    sm_candidate_t  *candidate;

    store = &call->task.manager->store;
    candidate = &call->candidate;

    if (sm_store_candidate_heartbeat(store, &call->task.call, candidate,
                                     call->ttl)
        != 0)
    {
        return -1;
    }

    if (!candidate->wanted) {
        return 0;
    }

    shared = candidate->shared;
    candidate->names = call->task.manager->conf->config.names;

    if (sm_store_candidate_heartbeat(store, &call->task.call, candidate,
                                     call->ttl)
        != 0)
    {
        return -1;
    }

    candidate->shared |= shared;

    return 0;
}


void
ngx_http_submission_lease_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_lease_call_t       *call;
    const ngx_http_submission_lease_row_t  *row;

    call = (ngx_http_submission_lease_call_t *) task;
    row = &ngx_http_submission_lease_rows[call->kind];

    if (row->heartbeat
        && ngx_http_submission_lease_heartbeat_thread(call) != 0)
    {
        return;
    }

    call->started = ngx_http_submission_lease_msec();

    row->run(call);
}


void
ngx_http_submission_lease_settle(ngx_http_submission_leader_t *ld)
{
    ngx_http_submission_lease_call_t  *call;

    if (ld->call == NULL) {
        return;
    }

    call = (ngx_http_submission_lease_call_t *) ld->call;
    ld->call = NULL;

    ngx_http_submission_lease_note(ld, call);
    ngx_http_submission_lease_recovered(ld, call);

    ngx_http_submission_task_abandon(&call->task);
}


/* makes a call in place, and takes its answer in */

static ngx_int_t
ngx_http_submission_lease_now(ngx_http_submission_leader_t *ld,
    ngx_http_submission_lease_e kind)
{
    ngx_int_t                          rc;
    ngx_http_submission_lease_call_t  *call;

    call = ngx_http_submission_lease_create(ld, kind);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_http_submission_lease_thread(&call->task);
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
