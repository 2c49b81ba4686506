
/*
 * The lease and the candidates on a database server.  Every procedure is a
 * transaction that has the lease's row before it asks for the time.
 */

#include "sm_store_server.h"


/* the columns of a lease */

enum {
    SM_LEASE_COL_NOW = 0,
    SM_LEASE_COL_HELD,
    SM_LEASE_COL_HOLDER,
    SM_LEASE_COL_EPOCH,
    SM_LEASE_COL_ACQUIRED_AT,
    SM_LEASE_COL_RENEWED_AT,
    SM_LEASE_COL_EXPIRES_AT,
    SM_LEASE_COL_COUNT
};

_Static_assert(SM_LEASE_COL_COUNT == (int) SM_PROC_COLS_LEASE_RENEW,
               "each column of a lease");


/* the column of lease_watch, after those of the lease */

enum {
    SM_WATCH_COL_WAKE_URL = SM_LEASE_COL_COUNT,
    SM_WATCH_COL_COUNT
};

_Static_assert(SM_WATCH_COL_COUNT == (int) SM_PROC_COLS_LEASE_WATCH,
               "each column of lease_watch");


/* the columns of a candidate in cluster_get, after those of the lease */

enum {
    SM_CANDIDATE_COL_HOLDER = SM_LEASE_COL_COUNT,
    SM_CANDIDATE_COL_ROLE,
    SM_CANDIDATE_COL_VERSION,
    SM_CANDIDATE_COL_STARTED_AT,
    SM_CANDIDATE_COL_HEARTBEAT_AT,
    SM_CANDIDATE_COL_EXPIRES_AT,
    SM_CANDIDATE_COL_COUNT
};

_Static_assert(SM_CANDIDATE_COL_COUNT == (int) SM_PROC_COLS_CLUSTER_GET,
               "each column of cluster_get");


static int
sm_server_lease_row(sm_server_t *sv, sm_call_t *call, sm_lease_t *lease)
{
    lease->now = sm_server_int(sv, SM_LEASE_COL_NOW);
    call->now = lease->now;

    if (sm_server_is_null(sv, SM_LEASE_COL_HOLDER)) {
        return 0;
    }

    if (sm_server_text(sv, call, SM_LEASE_COL_HOLDER, &lease->holder) != 0) {
        return -1;
    }

    lease->exists = 1;
    lease->epoch = sm_server_int(sv, SM_LEASE_COL_EPOCH);
    lease->acquired_at = sm_server_int(sv, SM_LEASE_COL_ACQUIRED_AT);
    lease->renewed_at = sm_server_int(sv, SM_LEASE_COL_RENEWED_AT);
    lease->expires_at = sm_server_int(sv, SM_LEASE_COL_EXPIRES_AT);

    lease->held = sm_server_int(sv, SM_LEASE_COL_HELD) == 1;

    return 0;
}


/* what is said of the lease is what was committed, or nothing */

static int
sm_server_lease(sm_server_t *sv, sm_call_t *call, sm_lease_t *lease)
{
    memset(lease, 0, sizeof(sm_lease_t));

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {
            (void) sm_server_lease_row(sv, call, lease);
        }
    }

    if (sm_server_end(sv, call) != 0) {
        memset(lease, 0, sizeof(sm_lease_t));
        return -1;
    }

    return 0;
}


int
sm_server_lease_acquire(sm_conn_t *conn, sm_call_t *call, sm_str_t holder,
    int64_t duration, sm_lease_t *lease)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    sm_server_start(sv, SM_PROC_LEASE_ACQUIRE);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, holder);
    sm_server_put_int(sv, duration);

    return sm_server_lease(sv, call, lease);
}


int
sm_server_lease_renew(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    int64_t duration, sm_lease_t *lease)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    sm_server_start(sv, SM_PROC_LEASE_RENEW);
    sm_server_put_fence(sv, fence);
    sm_server_put_int(sv, duration);

    return sm_server_lease(sv, call, lease);
}


int
sm_server_lease_takeover(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    sm_server_start(sv, SM_PROC_LEASE_TAKEOVER);
    sm_server_put_fence(sv, fence);
    sm_server_put_int(sv, duration);

    return sm_server_lease(sv, call, lease);
}


int
sm_server_lease_release(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_lease_t *lease)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    sm_server_start(sv, SM_PROC_LEASE_RELEASE);
    sm_server_put_fence(sv, fence);

    return sm_server_lease(sv, call, lease);
}


int
sm_server_lease_watch(sm_conn_t *conn, sm_call_t *call, sm_lease_t *lease,
    sm_str_t *wake_url)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    memset(lease, 0, sizeof(sm_lease_t));
    memset(wake_url, 0, sizeof(sm_str_t));

    sm_server_start(sv, SM_PROC_LEASE_WATCH);
    sm_server_put_text(sv, sv->conf->lease_name);

    (void) sm_server_exec(sv, call);

    while (sm_server_fetch(sv, call) == 1) {

        if (sm_server_lease_row(sv, call, lease) != 0
            || (!sm_server_is_null(sv, SM_WATCH_COL_WAKE_URL)
                && sm_server_text(sv, call, SM_WATCH_COL_WAKE_URL, wake_url)
                   != 0))
        {
            break;
        }
    }

    return sm_server_end(sv, call);
}


int
sm_server_candidate_heartbeat(sm_conn_t *conn, sm_call_t *call,
    sm_candidate_t *candidate, int64_t duration)
{
    int64_t       now;
    sm_server_t  *sv = (sm_server_t *) conn;

    sm_server_start(sv, SM_PROC_CANDIDATE_HEARTBEAT);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, candidate->holder);
    sm_server_put_int(sv, duration);
    sm_server_put_text(sv, candidate->role);
    sm_server_put_text(sv, candidate->version);
    sm_server_put_int(sv, candidate->started_at);
    sm_server_put_text(sv, candidate->wake_url);

    now = 0;

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {
            now = sm_server_int(sv, 0);
        }
    }

    if (sm_server_end(sv, call) != 0) {
        return -1;
    }

    if (candidate->started_at == 0) {
        candidate->started_at = now;
    }

    return 0;
}


int
sm_server_candidate_remove(sm_conn_t *conn, sm_call_t *call, sm_str_t holder)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    sm_server_start(sv, SM_PROC_CANDIDATE_REMOVE);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, holder);

    return sm_server_run(sv, call);
}


/* one more, in an array that grows */

static sm_candidate_t *
sm_server_candidate(sm_call_t *call, sm_cluster_t *cluster, size_t *allocated)
{
    sm_candidate_t  *old;

    if (cluster->n == *allocated) {
        *allocated = *allocated ? 2 * *allocated : 8;
        old = cluster->candidates;

        cluster->candidates = sm_arena_calloc(&call->arena, *allocated,
                                              sizeof(sm_candidate_t));
        if (cluster->candidates == NULL) {
            (void) sm_server_no_memory(call);
            return NULL;
        }

        if (cluster->n) {
            memcpy(cluster->candidates, old,
                   cluster->n * sizeof(sm_candidate_t));
        }
    }

    return &cluster->candidates[cluster->n];
}


int
sm_server_cluster_get(sm_conn_t *conn, sm_call_t *call, sm_cluster_t *cluster)
{
    size_t           allocated;
    sm_server_t  *sv = (sm_server_t *) conn;
    sm_candidate_t  *c;

    memset(cluster, 0, sizeof(sm_cluster_t));

    allocated = 0;

    sm_server_start(sv, SM_PROC_CLUSTER_GET);
    sm_server_put_text(sv, sv->conf->lease_name);

    (void) sm_server_exec(sv, call);

    while (sm_server_fetch(sv, call) == 1) {

        if (sm_server_lease_row(sv, call, &cluster->lease) != 0) {
            break;
        }

        if (sm_server_is_null(sv, SM_CANDIDATE_COL_HOLDER)) {
            continue;
        }

        c = sm_server_candidate(call, cluster, &allocated);

        if (c == NULL
            || sm_server_text(sv, call, SM_CANDIDATE_COL_HOLDER, &c->holder)
               != 0
            || sm_server_text(sv, call, SM_CANDIDATE_COL_ROLE, &c->role) != 0
            || sm_server_text(sv, call, SM_CANDIDATE_COL_VERSION, &c->version)
               != 0)
        {
            break;
        }

        c->started_at = sm_server_int(sv, SM_CANDIDATE_COL_STARTED_AT);
        c->heartbeat_at = sm_server_int(sv, SM_CANDIDATE_COL_HEARTBEAT_AT);
        c->expires_at = sm_server_int(sv, SM_CANDIDATE_COL_EXPIRES_AT);

        cluster->n++;
    }

    return sm_server_end(sv, call);
}
