
/*
 * The lease and the candidates in SQLite.  Every operation that writes is a
 * transaction that takes the write lock before it reads the time.
 */

#include <stdio.h>

#include "sm_store_sqlite.h"


/* Binds the parameters that the statements of this file share, and runs one. */

static int
sm_sqlite_lease_run(sm_sqlite_t *sq, sm_call_t *call, unsigned which,
    const sm_fence_t *fence, int64_t now, int64_t duration)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[which];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":holder_id", fence->holder);
    sm_sqlite_bind_int(stmt, ":lease_epoch", fence->epoch);
    sm_sqlite_bind_int(stmt, ":now", now);
    sm_sqlite_bind_int(stmt, ":duration", duration * 1000);

    return sm_sqlite_run(sq, call, which);
}


static int
sm_sqlite_lease_row(sm_sqlite_t *sq, sm_call_t *call, sm_lease_t *lease)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_LEASE_GET];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);

    if (sqlite3_step(stmt) == SQLITE_ROW) {
        lease->exists = 1;
        lease->epoch = sqlite3_column_int64(stmt, 1);
        lease->acquired_at = sqlite3_column_int64(stmt, 2);
        lease->renewed_at = sqlite3_column_int64(stmt, 3);
        lease->expires_at = sqlite3_column_int64(stmt, 4);

        (void) sm_sqlite_text(call, stmt, 0, &lease->holder);
    }

    /* The reset also reports errors from reading columns. */

    if (sqlite3_reset(stmt) != SQLITE_OK && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    return call->status == SM_STORE_OK ? 0 : -1;
}


static int
sm_sqlite_lease(sm_conn_t *conn, sm_call_t *call, unsigned which,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    memset(lease, 0, sizeof(sm_lease_t));

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if (sm_sqlite_now(sq, call, &lease->now) != 0
        || sm_sqlite_lease_run(sq, call, which, fence, lease->now, duration)
           != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    lease->held = sqlite3_changes(sq->db) == 1;

    if (sm_sqlite_lease_row(sq, call, lease) != 0) {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}


int
sm_sqlite_lease_acquire(sm_conn_t *conn, sm_call_t *call, sm_str_t holder,
    int64_t duration, sm_lease_t *lease)
{
    sm_fence_t  fence = { holder, 0 };

    return sm_sqlite_lease(conn, call, SM_SQLITE_LEASE_ACQUIRE, &fence,
                           duration, lease);
}


int
sm_sqlite_lease_renew(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease)
{
    return sm_sqlite_lease(conn, call, SM_SQLITE_LEASE_RENEW, fence, duration,
                           lease);
}


int
sm_sqlite_lease_takeover(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, int64_t duration, sm_lease_t *lease)
{
    return sm_sqlite_lease(conn, call, SM_SQLITE_LEASE_TAKEOVER, fence,
                           duration, lease);
}


int
sm_sqlite_lease_release(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_lease_t *lease)
{
    return sm_sqlite_lease(conn, call, SM_SQLITE_LEASE_RELEASE, fence, 0,
                           lease);
}


static int
sm_sqlite_lease_lost(sm_call_t *call, const sm_fence_t *fence)
{
    return sm_call_fail(call, SM_STORE_LEASE_LOST, 0,
                        "LEASE_LOST: %.*s does not hold epoch %lld",
                        (int) fence->holder.len, fence->holder.data,
                        (long long) fence->epoch);
}


/* Checks the fence in a transaction that has the write lock. */

int
sm_sqlite_fence(sm_sqlite_t *sq, sm_call_t *call, const sm_fence_t *fence)
{
    if (sm_sqlite_now(sq, call, &call->now) != 0
        || sm_sqlite_lease_run(sq, call, SM_SQLITE_LEASE_FENCE, fence,
                               call->now, 0)
           != 0)
    {
        return -1;
    }

    return sqlite3_changes(sq->db) == 1 ? 0 : sm_sqlite_lease_lost(call, fence);
}


/*
 * Checks the fence in a transaction that only reads.  The time is taken before
 * the first read, so everything that was committed by then is seen.
 */

int
sm_sqlite_fence_read(sm_sqlite_t *sq, sm_call_t *call, const sm_fence_t *fence)
{
    sm_lease_t  lease;

    memset(&lease, 0, sizeof(sm_lease_t));

    if (sm_sqlite_now(sq, call, &call->now) != 0
        || sm_sqlite_lease_row(sq, call, &lease) != 0)
    {
        return -1;
    }

    if (!lease.exists || !sm_str_eq(lease.holder, fence->holder)
        || lease.epoch != fence->epoch || lease.expires_at <= call->now)
    {
        return sm_sqlite_lease_lost(call, fence);
    }

    return 0;
}


/* Keeps the names of an instance's targets, if they are given. */

static int
sm_sqlite_candidate_names(sm_sqlite_t *sq, sm_call_t *call,
    const sm_candidate_t *candidate)
{
    sm_fence_t     fence = { candidate->holder, 0 };
    sqlite3_stmt  *stmt;

    if (candidate->names.data == NULL) {
        return 0;
    }

    stmt = sq->stmts[SM_SQLITE_CANDIDATE_NAMES];

    sm_sqlite_bind_text(stmt, ":names_hash", candidate->names_hash);
    sm_sqlite_bind_text(stmt, ":names", candidate->names);

    return sm_sqlite_lease_run(sq, call, SM_SQLITE_CANDIDATE_NAMES, &fence, 0,
                               0);
}


/* Reads what the instance is told: see sm_candidate_t. */

static int
sm_sqlite_candidate_told(sm_sqlite_t *sq, sm_call_t *call,
    sm_candidate_t *candidate, int64_t now)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_CANDIDATE_TOLD];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":holder_id", candidate->holder);
    sm_sqlite_bind_text(stmt, ":names_hash", candidate->names_hash);
    sm_sqlite_bind_int(stmt, ":now", now);

    if (sqlite3_step(stmt) == SQLITE_ROW) {
        candidate->wanted = sqlite3_column_int(stmt, 0) == 1;
        candidate->shared = sqlite3_column_int(stmt, 1) == 1;
    }

    return sqlite3_reset(stmt) == SQLITE_OK ? 0 : sm_sqlite_fail(sq, call);
}


int
sm_sqlite_candidate_heartbeat(sm_conn_t *conn, sm_call_t *call,
    sm_candidate_t *candidate, int64_t duration)
{
    int64_t        now, started_at;
    sm_fence_t     fence = { candidate->holder, 0 };
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    stmt = sq->stmts[SM_SQLITE_CANDIDATE_HEARTBEAT];

    sm_sqlite_bind_text(stmt, ":role", candidate->role);
    sm_sqlite_bind_text(stmt, ":version", candidate->version);
    sm_sqlite_bind_text(stmt, ":wake_url", candidate->wake_url);
    sm_sqlite_bind_text(stmt, ":config", candidate->config);
    sm_sqlite_bind_int(stmt, ":instance_key", candidate->key);
    sm_sqlite_bind_text(stmt, ":events", candidate->events);

    if (sm_sqlite_now(sq, call, &now) != 0) {
        return sm_sqlite_rollback(sq);
    }

    started_at = candidate->started_at ? candidate->started_at : now;

    sm_sqlite_bind_int(stmt, ":started_at", started_at);

    if (sm_sqlite_lease_run(sq, call, SM_SQLITE_CANDIDATE_HEARTBEAT, &fence,
                               now, duration)
           != 0
        || sm_sqlite_candidate_names(sq, call, candidate) != 0
        || sm_sqlite_lease_run(sq, call, SM_SQLITE_CANDIDATE_PRUNE, &fence,
                               now, 0)
           != 0
        || sm_sqlite_lease_run(sq, call, SM_SQLITE_CANDIDATE_FORGET, &fence,
                               now, 0)
           != 0
        || sm_sqlite_candidate_told(sq, call, candidate, now) != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    if (sm_sqlite_commit(sq, call) != 0) {
        return -1;
    }

    candidate->started_at = started_at;

    return 0;
}


int
sm_sqlite_candidate_remove(sm_conn_t *conn, sm_call_t *call, sm_str_t holder)
{
    sm_fence_t    fence = { holder, 0 };
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if (sm_sqlite_lease_run(sq, call, SM_SQLITE_CANDIDATE_REMOVE, &fence, 0, 0)
           != 0
        || sm_sqlite_lease_run(sq, call, SM_SQLITE_CANDIDATE_FORGET, &fence,
                               0, 0)
           != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}
