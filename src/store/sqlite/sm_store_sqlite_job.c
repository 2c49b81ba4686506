
/* Jobs in SQLite.  A batch of a job is one transaction. */

#include "sm_store_sqlite.h"


static void
sm_sqlite_job_bind(sm_sqlite_t *sq, sqlite3_stmt *stmt, sm_job_kind_e kind,
    sm_str_t id)
{
    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":kind", sm_job_kind_name(kind));
    sm_sqlite_bind_text(stmt, ":job_id", id);
}


/* Reads the job as it is now, in the caller's transaction. */

static int
sm_sqlite_job_get(sm_sqlite_t *sq, sm_call_t *call, sm_job_row_t *row,
    size_t *n)
{
    sm_jobs_row_t  list;

    memset(&list, 0, sizeof(sm_jobs_row_t));

    list.kind = row->request.kind;
    list.id = row->request.id;
    list.limit = 1;

    if (sm_sql_jobs_list(&sq->sql.conn, call, &list, 1) != 0) {
        return -1;
    }

    *n = list.n;
    row->job = list.jobs[0];

    return 0;
}


static int
sm_sqlite_job_add(sm_sqlite_t *sq, sm_call_t *call, void *data, int64_t now)
{
    size_t         n;
    sm_str_t       detail;
    unsigned       created;
    sm_job_row_t  *row = data;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_JOB_ADD];

    sm_sqlite_job_bind(sq, stmt, row->request.kind, row->request.id);
    sm_sqlite_bind_text(stmt, ":filter", row->request.doc);
    sm_sqlite_bind_int(stmt, ":max_intents", row->request.limit);
    sm_sqlite_bind_text(stmt, ":actor", row->actor.name);
    sm_sqlite_bind_int(stmt, ":now", now);

    if (sm_sqlite_run(sq, call, SM_SQLITE_JOB_ADD) != 0) {
        return -1;
    }

    created = sqlite3_changes(sq->db) != 0;

    if (sm_job_detail(&call->arena, &row->request, &detail) != 0) {
        return sm_call_no_memory(call);
    }

    if (created
        && sm_sqlite_audit(sq, call, now, &row->actor,
                           row->request.kind == SM_JOB_REPLAY ? "replay_job"
                                                              : "cancel_job",
                           row->request.id, detail)
           != 0)
    {
        return -1;
    }

    if (sm_sqlite_job_get(sq, call, row, &n) != 0) {
        return -1;
    }

    row->outcome = sm_job_outcome(&row->request, &row->job, created);

    return 0;
}


static int
sm_sqlite_job_stop(sm_sqlite_t *sq, sm_call_t *call, void *data, int64_t now)
{
    size_t         n;
    sm_str_t       none = sm_null_str;
    sm_job_row_t  *row = data;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_JOB_STOP];

    sm_sqlite_job_bind(sq, stmt, row->request.kind, row->request.id);
    sm_sqlite_bind_int(stmt, ":now", now);

    if (sm_sqlite_run(sq, call, SM_SQLITE_JOB_STOP) != 0) {
        return -1;
    }

    row->outcome = sqlite3_changes(sq->db) ? SM_JOB_CREATED : SM_JOB_SAME;

    if (row->outcome == SM_JOB_CREATED
        && sm_sqlite_audit(sq, call, now, &row->actor,
                           row->request.kind == SM_JOB_REPLAY
                           ? "replay_job_stop" : "cancel_job_stop",
                           row->request.id, none)
           != 0)
    {
        return -1;
    }

    if (sm_sqlite_job_get(sq, call, row, &n) != 0) {
        return -1;
    }

    if (n == 0) {
        row->outcome = SM_JOB_NOT_FOUND;
    }

    return 0;
}


int
sm_sqlite_jobs_add(sm_conn_t *conn, sm_call_t *call, sm_job_row_t *rows,
    size_t n)
{
    return sm_sqlite_rows(conn, call, rows, sizeof(sm_job_row_t), n,
                          sm_sqlite_job_add);
}


int
sm_sqlite_jobs_stop(sm_conn_t *conn, sm_call_t *call, sm_job_row_t *rows,
    size_t n)
{
    return sm_sqlite_rows(conn, call, rows, sizeof(sm_job_row_t), n,
                          sm_sqlite_job_stop);
}


/*
 * Applies the job to one intent.  Returns 1 if it did, 0 if it cannot, or -1.
 */

static int
sm_sqlite_job_item(sm_sqlite_t *sq, sm_call_t *call,
    const sm_job_batch_t *batch, sm_job_item_t *item)
{
    sm_replay_insert_t  replay;

    if (batch->kind == SM_JOB_CANCEL) {
        return sm_sqlite_cancel(sq, call, item->id, call->now);
    }

    memset(&replay, 0, sizeof(sm_replay_insert_t));

    replay.id = item->id;
    replay.new_id = item->new_id;
    replay.contract = item->contract;
    replay.again = batch->again;

    return sm_sqlite_replay(sq, call, &replay, call->now);
}


static int
sm_sqlite_job_move(sm_sqlite_t *sq, sm_call_t *call, sm_job_batch_t *batch)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_JOB_MOVE];

    sm_sqlite_job_bind(sq, stmt, batch->kind, batch->id);
    sm_sqlite_bind_text(stmt, ":state", sm_job_state_name(batch->state));
    sm_sqlite_bind_text(stmt, ":position", batch->position);
    sm_sqlite_bind_text(stmt, ":error", batch->error);
    sm_sqlite_bind_int(stmt, ":seen", batch->seen);
    sm_sqlite_bind_int(stmt, ":seen_after", batch->seen_after);
    sm_sqlite_bind_int(stmt, ":now", call->now);

    if (sm_sqlite_run(sq, call, SM_SQLITE_JOB_MOVE) != 0) {
        return -1;
    }

    batch->applied = sqlite3_changes(sq->db) != 0;

    return 0;
}


static int
sm_sqlite_job_batch(sm_sqlite_t *sq, sm_call_t *call, sm_job_batch_t *batch)
{
    int            rc;
    size_t         i;
    sqlite3_stmt  *stmt;

    if (sm_sqlite_job_move(sq, call, batch) != 0) {
        return -1;
    }

    if (!batch->applied) {
        return 0;
    }

    batch->done = 0;

    for (i = 0; i < batch->n; i++) {
        rc = sm_sqlite_job_item(sq, call, batch, &batch->items[i]);

        if (rc == -1) {
            return -1;
        }

        batch->items[i].done = rc;
        batch->done += rc;
    }

    stmt = sq->stmts[SM_SQLITE_JOB_COUNT];

    sm_sqlite_job_bind(sq, stmt, batch->kind, batch->id);
    sm_sqlite_bind_int(stmt, ":done", batch->done);
    sm_sqlite_bind_int(stmt, ":skipped",
                       batch->skipped + batch->n - batch->done);

    return sm_sqlite_run(sq, call, SM_SQLITE_JOB_COUNT);
}


int
sm_sqlite_job_apply(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_job_batch_t *batch)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    batch->applied = 0;
    batch->done = 0;

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if (sm_sqlite_fence(sq, call, fence) != 0
        || sm_sqlite_job_batch(sq, call, batch) != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}
