
/*
 * Retention in SQLite.
 *
 * A batch is one transaction, bounded by the number of rows that it changes.
 * SQLite uses the freed pages again.  A row that was stripped or removed
 * leaves its index, so the next batch finds its start without a stored
 * position.
 */

#include "sm_store_sqlite.h"


/* How many targets a batch looks at if there is little to do for them. */

#define SM_RETENTION_TARGETS  32


/* The columns of retention_old.sql. */

enum {
    SM_RETENTION_COL_ROWID = 0,
    SM_RETENTION_COL_ID,
    SM_RETENTION_COL_COMPLETED_AT
};


typedef struct {
    int64_t    rowid;
    sm_str_t   id;
    int64_t    completed_at;
} sm_retention_old_t;


static void
sm_sqlite_retention_late(sm_retention_t *rt, int64_t late)
{
    rt->overdue = late > rt->overdue ? late : rt->overdue;
}


/* Reads the next target.  Returns 1 if there is one, 0 if not, or -1. */

static int
sm_sqlite_retention_target(sm_sqlite_t *sq, sm_call_t *call, sm_str_t after,
    sm_str_t *target)
{
    int            rc;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_RETENTION_TARGET];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":after", after);

    rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW) {
        (void) sm_sqlite_text(call, stmt, 0, target);

    } else if (rc != SQLITE_DONE) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status != SM_STORE_OK ? -1 : rc == SQLITE_ROW;
}


static void
sm_sqlite_retention_bind(sm_sqlite_t *sq, unsigned which, sm_str_t target,
    sm_status_e status, int64_t before, size_t limit)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[which];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":submission_target", target);
    sm_sqlite_bind_text(stmt, ":status", sm_status_name(status));
    sm_sqlite_bind_int(stmt, ":before", before);
    sm_sqlite_bind_int(stmt, ":limit", limit);
}


static int
sm_sqlite_retention_old(sm_sqlite_t *sq, sm_call_t *call,
    sm_retention_old_t *old, size_t *n)
{
    int            rc;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_RETENTION_OLD];

    for (*n = 0; (rc = sqlite3_step(stmt)) == SQLITE_ROW; (*n)++) {

        old[*n].rowid = sqlite3_column_int64(stmt, SM_RETENTION_COL_ROWID);
        old[*n].completed_at = sqlite3_column_int64(stmt,
                                               SM_RETENTION_COL_COMPLETED_AT);

        if (sm_sqlite_text(call, stmt, SM_RETENTION_COL_ID, &old[*n].id) != 0) {
            break;
        }
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


/*
 * Strips an intent.  It may have so many attempts that their removal takes
 * more than one batch.
 */

static int
sm_sqlite_retention_strip_one(sm_sqlite_t *sq, sm_call_t *call, sm_str_t id,
    int64_t rowid, size_t *left)
{
    size_t         n;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_RETENTION_ATTEMPTS];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":intent_id", id);
    sm_sqlite_bind_int(stmt, ":limit", *left);

    if (sm_sqlite_run(sq, call, SM_SQLITE_RETENTION_ATTEMPTS) != 0) {
        return -1;
    }

    n = sqlite3_changes(sq->db);

    if (n >= *left) {
        *left = 0;
        return 0;
    }

    *left -= n + 1;

    stmt = sq->stmts[SM_SQLITE_RETENTION_STRIP];

    sm_sqlite_bind_int(stmt, ":rowid", rowid);
    sm_sqlite_bind_int(stmt, ":now", call->now);

    return sm_sqlite_run(sq, call, SM_SQLITE_RETENTION_STRIP) == 0 ? 1 : -1;
}


static int
sm_sqlite_retention_strip(sm_sqlite_t *sq, sm_call_t *call,
    sm_retention_t *rt, sm_str_t target, sm_status_e status, size_t *left)
{
    int                  rc;
    size_t               i, n;
    int64_t              before;
    sm_retention_old_t  *old;

    before = call->now - sm_retention_strip(&rt->rules->statuses[status]);

    old = sm_arena_calloc(&call->arena, *left, sizeof(sm_retention_old_t));
    if (old == NULL) {
        return sm_call_no_memory(call);
    }

    sm_sqlite_retention_bind(sq, SM_SQLITE_RETENTION_OLD, target, status,
                             before, *left);

    if (sm_sqlite_retention_old(sq, call, old, &n) != 0) {
        return -1;
    }

    for (i = 0; i < n && *left; i++) {
        sm_sqlite_retention_late(rt, before - old[i].completed_at);

        rc = sm_sqlite_retention_strip_one(sq, call, old[i].id, old[i].rowid,
                                           left);
        if (rc == -1) {
            return -1;
        }

        rt->stripped += rc;
    }

    return 0;
}


static int
sm_sqlite_retention_forget(sm_sqlite_t *sq, sm_call_t *call,
    sm_retention_t *rt, sm_str_t target, sm_status_e status, size_t *left)
{
    int            rc;
    int64_t        before;
    sqlite3_stmt  *stmt;

    before = call->now - rt->rules->statuses[status].forget;
    stmt = sq->stmts[SM_SQLITE_RETENTION_FORGET];

    sm_sqlite_retention_bind(sq, SM_SQLITE_RETENTION_FORGET, target, status,
                             before, *left);

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        sm_sqlite_retention_late(rt, before - sqlite3_column_int64(stmt, 0));
        rt->forgotten++;
        (*left)--;
    }

    if (rc != SQLITE_DONE) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return rc == SQLITE_DONE ? 0 : -1;
}


static int
sm_sqlite_retention_of(sm_sqlite_t *sq, sm_call_t *call, sm_retention_t *rt,
    sm_str_t target, size_t *left)
{
    sm_status_e                 i;
    const sm_retention_rule_t  *rule;

    for (i = SM_STATUS_PENDING + 1; i < SM_STATUS_COUNT; i++) {
        rule = &rt->rules->statuses[i];

        if (*left && rule->forget
            && sm_sqlite_retention_forget(sq, call, rt, target, i, left) != 0)
        {
            return -1;
        }

        if (*left && sm_retention_strip(rule)
            && sm_sqlite_retention_strip(sq, call, rt, target, i, left) != 0)
        {
            return -1;
        }
    }

    return 0;
}


static int
sm_sqlite_retention_others(sm_sqlite_t *sq, sm_call_t *call,
    sm_retention_t *rt, unsigned which, int64_t keep, size_t *left)
{
    size_t         n;
    sqlite3_stmt  *stmt;

    if (keep == 0 || *left == 0) {
        return 0;
    }

    stmt = sq->stmts[which];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_int(stmt, ":before", call->now - keep);
    sm_sqlite_bind_int(stmt, ":limit", *left);

    if (sm_sqlite_run(sq, call, which) != 0) {
        return -1;
    }

    n = sqlite3_changes(sq->db);

    rt->others += n;
    *left -= n < *left ? n : *left;

    return 0;
}


static int
sm_sqlite_retention_batch(sm_sqlite_t *sq, sm_call_t *call, sm_retention_t *rt)
{
    int       rc;
    size_t    left, i;
    sm_str_t  target;

    left = rt->limit;

    for (i = 0; i < SM_RETENTION_TARGETS; i++) {

        rc = sm_sqlite_retention_target(sq, call, rt->done, &target);

        if (rc == -1) {
            return -1;
        }

        if (rc == 0) {
            rt->end = 1;
            break;
        }

        if (sm_sqlite_retention_of(sq, call, rt, target, &left) != 0) {
            return -1;
        }

        if (left == 0) {
            rt->rows = rt->limit;
            return 0;
        }

        rt->done = target;
    }

    if (rt->end
        && (sm_sqlite_retention_others(sq, call, rt,
                                       SM_SQLITE_RETENTION_AUDIT,
                                       rt->rules->audit, &left)
            != 0
            || sm_sqlite_retention_others(sq, call, rt,
                                          SM_SQLITE_RETENTION_REFUSED,
                                          rt->rules->refused, &left)
               != 0
            || sm_sqlite_retention_others(sq, call, rt,
                                          SM_SQLITE_RETENTION_JOBS,
                                          rt->rules->jobs, &left)
               != 0))
    {
        return -1;
    }

    rt->rows = rt->limit - left;
    rt->end = rt->end && left;

    return 0;
}


int
sm_sqlite_retention(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_retention_t *rt)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    rt->stripped = 0;
    rt->forgotten = 0;
    rt->others = 0;
    rt->rows = 0;
    rt->overdue = 0;
    rt->done = rt->after;
    rt->end = 0;
    memset(&rt->place, 0, sizeof(sm_str_t));

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if (sm_sqlite_fence(sq, call, fence) != 0
        || sm_sqlite_retention_batch(sq, call, rt) != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}
