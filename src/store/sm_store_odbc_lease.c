
/*
 * The lease and the candidates on a database server.  Every procedure is a
 * transaction that has the lease's row before it asks for the time.
 */

#include "sm_store_odbc.h"


/* the columns of a lease */

enum {
    SM_LEASE_NOW = 0,
    SM_LEASE_HELD,
    SM_LEASE_HOLDER,
    SM_LEASE_EPOCH,
    SM_LEASE_ACQUIRED_AT,
    SM_LEASE_RENEWED_AT,
    SM_LEASE_EXPIRES_AT,
    SM_LEASE_COLUMNS
};


/* the columns of a candidate in cluster_get, after those of the lease */

enum {
    SM_CANDIDATE_HOLDER = SM_LEASE_COLUMNS,
    SM_CANDIDATE_ROLE,
    SM_CANDIDATE_VERSION,
    SM_CANDIDATE_STARTED_AT,
    SM_CANDIDATE_HEARTBEAT_AT,
    SM_CANDIDATE_EXPIRES_AT
};


static int
sm_odbc_lease_row(sm_odbc_t *od, sm_call_t *call, sm_lease_t *lease)
{
    lease->now = sm_odbc_int(od, SM_LEASE_NOW);
    call->now = lease->now;

    if (sm_odbc_is_null(od, SM_LEASE_HOLDER)) {
        return 0;
    }

    if (sm_odbc_text(od, call, SM_LEASE_HOLDER, &lease->holder) != 0) {
        return -1;
    }

    lease->exists = 1;
    lease->epoch = sm_odbc_int(od, SM_LEASE_EPOCH);
    lease->acquired_at = sm_odbc_int(od, SM_LEASE_ACQUIRED_AT);
    lease->renewed_at = sm_odbc_int(od, SM_LEASE_RENEWED_AT);
    lease->expires_at = sm_odbc_int(od, SM_LEASE_EXPIRES_AT);

    lease->held = sm_odbc_int(od, SM_LEASE_HELD) == 1;

    return 0;
}


/* what is said of the lease is what was committed, or nothing */

static int
sm_odbc_lease(sm_odbc_t *od, sm_call_t *call, sm_lease_t *lease)
{
    memset(lease, 0, sizeof(sm_lease_t));

    if (sm_odbc_exec(od, call) == 0) {
        while (sm_odbc_fetch(od, call) == 1) {
            (void) sm_odbc_lease_row(od, call, lease);
        }
    }

    if (sm_odbc_end(od, call) != 0) {
        memset(lease, 0, sizeof(sm_lease_t));
        return -1;
    }

    return 0;
}


int
sm_odbc_lease_acquire(sm_conn_t *conn, sm_call_t *call, sm_str_t holder,
    int64_t duration, sm_lease_t *lease)
{
    sm_odbc_t  *od = (sm_odbc_t *) conn;

    sm_odbc_start(od, call, SM_ODBC_LEASE_ACQUIRE);
    sm_odbc_put_text(od, call, od->conf->lease_name);
    sm_odbc_put_text(od, call, holder);
    sm_odbc_put_int(od, call, duration);

    return sm_odbc_lease(od, call, lease);
}


int
sm_odbc_lease_renew(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    int64_t duration, sm_lease_t *lease)
{
    sm_odbc_t  *od = (sm_odbc_t *) conn;

    sm_odbc_start(od, call, SM_ODBC_LEASE_RENEW);
    sm_odbc_put_fence(od, call, fence);
    sm_odbc_put_int(od, call, duration);

    return sm_odbc_lease(od, call, lease);
}


int
sm_odbc_lease_takeover(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease)
{
    sm_odbc_t  *od = (sm_odbc_t *) conn;

    sm_odbc_start(od, call, SM_ODBC_LEASE_TAKEOVER);
    sm_odbc_put_fence(od, call, fence);
    sm_odbc_put_int(od, call, duration);

    return sm_odbc_lease(od, call, lease);
}


int
sm_odbc_lease_release(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_lease_t *lease)
{
    sm_odbc_t  *od = (sm_odbc_t *) conn;

    sm_odbc_start(od, call, SM_ODBC_LEASE_RELEASE);
    sm_odbc_put_fence(od, call, fence);

    return sm_odbc_lease(od, call, lease);
}


int
sm_odbc_lease_get(sm_conn_t *conn, sm_call_t *call, sm_lease_t *lease)
{
    sm_odbc_t  *od = (sm_odbc_t *) conn;

    sm_odbc_start(od, call, SM_ODBC_LEASE_GET);
    sm_odbc_put_text(od, call, od->conf->lease_name);

    return sm_odbc_lease(od, call, lease);
}


int
sm_odbc_candidate_heartbeat(sm_conn_t *conn, sm_call_t *call,
    const sm_candidate_t *candidate, int64_t duration)
{
    sm_odbc_t  *od = (sm_odbc_t *) conn;

    sm_odbc_start(od, call, SM_ODBC_CANDIDATE_HEARTBEAT);
    sm_odbc_put_text(od, call, od->conf->lease_name);
    sm_odbc_put_text(od, call, candidate->holder);
    sm_odbc_put_int(od, call, duration);
    sm_odbc_put_text(od, call, candidate->role);
    sm_odbc_put_text(od, call, candidate->version);

    return sm_odbc_run(od, call);
}


int
sm_odbc_candidate_remove(sm_conn_t *conn, sm_call_t *call, sm_str_t holder)
{
    sm_odbc_t  *od = (sm_odbc_t *) conn;

    sm_odbc_start(od, call, SM_ODBC_CANDIDATE_REMOVE);
    sm_odbc_put_text(od, call, od->conf->lease_name);
    sm_odbc_put_text(od, call, holder);

    return sm_odbc_run(od, call);
}


/* one more, in an array that grows */

static sm_candidate_t *
sm_odbc_candidate(sm_call_t *call, sm_cluster_t *cluster, size_t *allocated)
{
    sm_candidate_t  *old;

    if (cluster->n == *allocated) {
        *allocated = *allocated ? 2 * *allocated : 8;
        old = cluster->candidates;

        cluster->candidates = sm_arena_calloc(&call->arena, *allocated,
                                              sizeof(sm_candidate_t));
        if (cluster->candidates == NULL) {
            (void) sm_odbc_no_memory(call);
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
sm_odbc_cluster_get(sm_conn_t *conn, sm_call_t *call, sm_cluster_t *cluster)
{
    size_t           allocated;
    sm_odbc_t       *od = (sm_odbc_t *) conn;
    sm_candidate_t  *c;

    memset(cluster, 0, sizeof(sm_cluster_t));

    allocated = 0;

    sm_odbc_start(od, call, SM_ODBC_CLUSTER_GET);
    sm_odbc_put_text(od, call, od->conf->lease_name);

    (void) sm_odbc_exec(od, call);

    while (sm_odbc_fetch(od, call) == 1) {

        if (sm_odbc_lease_row(od, call, &cluster->lease) != 0) {
            break;
        }

        if (sm_odbc_is_null(od, SM_CANDIDATE_HOLDER)) {
            continue;
        }

        c = sm_odbc_candidate(call, cluster, &allocated);

        if (c == NULL
            || sm_odbc_text(od, call, SM_CANDIDATE_HOLDER, &c->holder) != 0
            || sm_odbc_text(od, call, SM_CANDIDATE_ROLE, &c->role) != 0
            || sm_odbc_text(od, call, SM_CANDIDATE_VERSION, &c->version) != 0)
        {
            break;
        }

        c->started_at = sm_odbc_int(od, SM_CANDIDATE_STARTED_AT);
        c->heartbeat_at = sm_odbc_int(od, SM_CANDIDATE_HEARTBEAT_AT);
        c->expires_at = sm_odbc_int(od, SM_CANDIDATE_EXPIRES_AT);

        cluster->n++;
    }

    return sm_odbc_end(od, call);
}
