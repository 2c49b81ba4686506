
/*
 * The lease and the candidates on a database server.  Every procedure is a
 * transaction that locks the lease's row before it reads the time.
 */

#include "sm_store_server.h"


/*
 * Reads the lease, and clears it on any error: only a committed lease counts.
 */

static int
sm_server_lease(sm_sql_t *sql, sm_call_t *call, sm_lease_t *lease)
{
    memset(lease, 0, sizeof(sm_lease_t));

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {
            (void) sm_sql_lease_row(sql, call, lease);
        }
    }

    if (sm_sql_end(sql, call) != 0) {
        memset(lease, 0, sizeof(sm_lease_t));
        return -1;
    }

    return 0;
}


int
sm_server_lease_acquire(sm_conn_t *conn, sm_call_t *call, sm_str_t holder,
    int64_t duration, sm_lease_t *lease)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    sm_sql_start(sql, SM_PROC_LEASE_ACQUIRE);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, holder);
    sm_sql_put_int(sql, duration);

    return sm_server_lease(sql, call, lease);
}


int
sm_server_lease_renew(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    int64_t duration, sm_lease_t *lease)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    sm_sql_start(sql, SM_PROC_LEASE_RENEW);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_int(sql, duration);

    return sm_server_lease(sql, call, lease);
}


int
sm_server_lease_takeover(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    sm_sql_start(sql, SM_PROC_LEASE_TAKEOVER);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_int(sql, duration);

    return sm_server_lease(sql, call, lease);
}


int
sm_server_lease_release(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_lease_t *lease)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    sm_sql_start(sql, SM_PROC_LEASE_RELEASE);
    sm_sql_put_fence(sql, fence);

    return sm_server_lease(sql, call, lease);
}


int
sm_server_candidate_heartbeat(sm_conn_t *conn, sm_call_t *call,
    sm_candidate_t *candidate, int64_t duration)
{
    int64_t    now;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    sm_sql_start(sql, SM_PROC_CANDIDATE_HEARTBEAT);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, candidate->holder);
    sm_sql_put_int(sql, duration);
    sm_sql_put_text(sql, candidate->role);
    sm_sql_put_text(sql, candidate->version);
    sm_sql_put_int(sql, candidate->started_at);
    sm_sql_put_text(sql, candidate->wake_url);
    sm_sql_put_text(sql, candidate->config);
    sm_sql_put_text(sql, candidate->names_hash);
    sm_sql_put_text(sql, candidate->names);
    sm_sql_put_int(sql, candidate->key);
    sm_sql_put_text(sql, candidate->events);

    now = 0;

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {
            now = sm_sql_int(sql, 0);
            candidate->wanted = sm_sql_int(sql, 1) == 1;
            candidate->shared = sm_sql_int(sql, 2) == 1;
        }
    }

    if (sm_sql_end(sql, call) != 0) {
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
    sm_sql_t  *sql = (sm_sql_t *) conn;

    sm_sql_start(sql, SM_PROC_CANDIDATE_REMOVE);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, holder);

    return sm_sql_run(sql, call);
}
