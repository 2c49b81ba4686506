
/*
 * Schedules in SQLite.
 */

#include "sm_store_sqlite.h"


/* the columns of schedules_get.sql and schedules_due.sql */

enum {
    SM_RECUR_COL_ID = 0,
    SM_RECUR_COL_TARGET,
    SM_RECUR_COL_BODY,
    SM_RECUR_COL_HASH,
    SM_RECUR_COL_LAST_INTENT,
    SM_RECUR_COL_PAUSE_REASON,
    SM_RECUR_COL_ERROR,
    SM_RECUR_COL_ACTOR,
    SM_RECUR_COL_CONFIGURED,
    SM_RECUR_COL_REVISION,
    SM_RECUR_COL_NEXT,
    SM_RECUR_COL_LAST,
    SM_RECUR_COL_FIRED,
    SM_RECUR_COL_SKIPPED,
    SM_RECUR_COL_MISSED,
    SM_RECUR_COL_PAUSED_AT,
    SM_RECUR_COL_CREATED_AT,
    SM_RECUR_COL_MODIFIED_AT,
    SM_RECUR_COL_BUSY,
    SM_RECUR_COL_PAYLOAD
};


static int
sm_sqlite_recur_row(sm_call_t *call, sqlite3_stmt *stmt, sm_recur_t *row)
{
    sm_str_t  payload;

    if (sm_sqlite_text(call, stmt, SM_RECUR_COL_ID, &row->id) != 0
        || sm_sqlite_text(call, stmt, SM_RECUR_COL_TARGET, &row->target) != 0
        || sm_sqlite_text(call, stmt, SM_RECUR_COL_BODY, &row->body) != 0
        || sm_sqlite_text(call, stmt, SM_RECUR_COL_HASH, &row->hash) != 0
        || sm_sqlite_text(call, stmt, SM_RECUR_COL_LAST_INTENT,
                          &row->last_intent) != 0
        || sm_sqlite_text(call, stmt, SM_RECUR_COL_PAUSE_REASON,
                          &row->pause_reason) != 0
        || sm_sqlite_text(call, stmt, SM_RECUR_COL_ERROR, &row->error) != 0
        || sm_sqlite_text(call, stmt, SM_RECUR_COL_ACTOR, &row->actor) != 0)
    {
        return -1;
    }

    row->configured = sqlite3_column_int(stmt, SM_RECUR_COL_CONFIGURED) != 0;
    row->revision = sqlite3_column_int64(stmt, SM_RECUR_COL_REVISION);
    row->next_run_at = sqlite3_column_int64(stmt, SM_RECUR_COL_NEXT);
    row->last_run_at = sqlite3_column_int64(stmt, SM_RECUR_COL_LAST);
    row->fired = sqlite3_column_int64(stmt, SM_RECUR_COL_FIRED);
    row->skipped = sqlite3_column_int64(stmt, SM_RECUR_COL_SKIPPED);
    row->missed = sqlite3_column_int64(stmt, SM_RECUR_COL_MISSED);
    row->paused_at = sqlite3_column_int64(stmt, SM_RECUR_COL_PAUSED_AT);
    row->created_at = sqlite3_column_int64(stmt, SM_RECUR_COL_CREATED_AT);
    row->modified_at = sqlite3_column_int64(stmt, SM_RECUR_COL_MODIFIED_AT);
    row->busy = sqlite3_column_int(stmt, SM_RECUR_COL_BUSY) != 0;

    payload.data = sqlite3_column_blob(stmt, SM_RECUR_COL_PAYLOAD);
    payload.len = sqlite3_column_bytes(stmt, SM_RECUR_COL_PAYLOAD);

    if (payload.data
        && sm_arena_strdup(&call->arena, &row->payload, payload) != 0)
    {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    return 0;
}


/* one more than the page has tells that there are more */

static int
sm_sqlite_recur_rows(sm_sqlite_t *sq, sm_call_t *call, unsigned which,
    sm_recur_page_t *page)
{
    int            rc;
    size_t         bytes;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[which];
    bytes = 0;

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_int(stmt, ":limit", page->limit + 1);

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {

        if (page->n == page->limit || (page->bytes && bytes >= page->bytes)) {
            page->more = 1;
            rc = SQLITE_DONE;
            break;
        }

        if (sm_sqlite_recur_row(call, stmt, &page->rows[page->n]) != 0) {
            break;
        }

        bytes += page->rows[page->n++].payload.len;
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


static int
sm_sqlite_recur_page(sm_call_t *call, sm_recur_page_t *page)
{
    page->n = 0;
    page->more = 0;
    page->next_due = 0;

    page->rows = sm_arena_calloc(&call->arena, page->limit,
                                 sizeof(sm_recur_t));

    return page->rows ? 0 : sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                                         "out of memory");
}


int
sm_sqlite_schedules_get(sm_conn_t *conn, sm_call_t *call,
    sm_recur_page_t *page)
{
    sm_str_t       first, last;
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    sm_sqlite_start_call(sq);

    if (sm_sqlite_recur_page(call, page) != 0
        || sm_store_schedules_range(call, page, &first, &last) != 0
        || sm_sqlite_now(sq, call, &call->now) != 0)
    {
        return -1;
    }

    stmt = sq->stmts[SM_SQLITE_SCHEDULES_GET];

    sm_sqlite_bind_text(stmt, ":first", first);
    sm_sqlite_bind_text(stmt, ":last", last);
    sm_sqlite_bind_int(stmt, ":special", page->special);
    sm_sqlite_bind_int(stmt, ":payload", page->payload);

    return sm_sqlite_recur_rows(sq, call, SM_SQLITE_SCHEDULES_GET, page);
}


static int
sm_sqlite_recur_next(sm_sqlite_t *sq, sm_call_t *call, int64_t *next)
{
    int            rc;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_SCHEDULES_NEXT];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_int(stmt, ":now", call->now);

    rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW) {
        *next = sqlite3_column_int64(stmt, 0);

    } else if (rc != SQLITE_DONE) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


int
sm_sqlite_schedules_due(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_recur_page_t *page)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    sm_sqlite_start_call(sq);

    if (sm_sqlite_recur_page(call, page) != 0
        || sm_sqlite_run(sq, call, SM_SQLITE_BEGIN_READ) != 0)
    {
        return -1;
    }

    if (sm_sqlite_fence_read(sq, call, fence) != 0) {
        return sm_sqlite_rollback(sq);
    }

    sm_sqlite_bind_int(sq->stmts[SM_SQLITE_SCHEDULES_DUE], ":now", call->now);

    if (sm_sqlite_recur_rows(sq, call, SM_SQLITE_SCHEDULES_DUE, page) != 0
        || sm_sqlite_recur_next(sq, call, &page->next_due) != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_run(sq, call, SM_SQLITE_COMMIT);
}


static unsigned
sm_sqlite_recur_statement(const sm_recur_write_t *write)
{
    switch (write->action) {

    case SM_RECUR_PUT:
        return write->revision ? SM_SQLITE_SCHEDULE_UPDATE
                               : SM_SQLITE_SCHEDULE_INSERT;

    case SM_RECUR_DELETE:
        return SM_SQLITE_SCHEDULE_DELETE;

    default:
        return SM_SQLITE_SCHEDULE_STATE;
    }
}


static void
sm_sqlite_bind_some(sqlite3_stmt *stmt, const char *name, int64_t value)
{
    if (value) {
        sm_sqlite_bind_int(stmt, name, value);

    } else {
        (void) sqlite3_bind_null(stmt,
                                 sqlite3_bind_parameter_index(stmt, name));
    }
}


/* a parameter that a statement does not have has no index, and is not bound */

static int
sm_sqlite_recur_write(sm_sqlite_t *sq, sm_call_t *call,
    sm_recur_write_t *write)
{
    int                n;
    unsigned           which;
    sqlite3_stmt      *stmt;
    const sm_recur_t  *recur;

    recur = write->recur;
    which = sm_sqlite_recur_statement(write);
    stmt = sq->stmts[which];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":schedule_id", recur->id);
    sm_sqlite_bind_int(stmt, ":revision", write->revision);
    sm_sqlite_bind_int(stmt, ":now", call->now);
    sm_sqlite_bind_text(stmt, ":action",
                        sm_store_schedule_action(write->action));
    sm_sqlite_bind_text(stmt, ":submission_target", recur->target);
    sm_sqlite_bind_text(stmt, ":body", recur->body);
    sm_sqlite_bind_text(stmt, ":payload_hash", recur->hash);
    sm_sqlite_bind_text(stmt, ":source",
                        sm_str_c(recur->configured ? "configuration" : "api"));
    sm_sqlite_bind_some(stmt, ":next_run_at", recur->next_run_at);
    sm_sqlite_bind_text(stmt, ":reason", recur->pause_reason);
    sm_sqlite_bind_text(stmt, ":actor", write->actor->name);

    n = sqlite3_bind_parameter_index(stmt, ":payload");

    if (n) {
        (void) sqlite3_bind_blob64(stmt, n,
                                   recur->payload.len ? recur->payload.data
                                                      : "",
                                   recur->payload.len, SQLITE_STATIC);
    }

    if (sm_sqlite_run(sq, call, which) != 0) {
        return -1;
    }

    write->done = sqlite3_changes(sq->db) != 0;

    if (!write->done || write->action == SM_RECUR_RETRY) {
        return 0;
    }

    return sm_sqlite_audit(sq, call, call->now, write->actor,
                           sm_store_schedule_audit(write->action), recur->id,
                           write->detail);
}


/* by a leader or by anyone: the time is that of the transaction */

static int
sm_sqlite_recur_begin(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if ((fence ? sm_sqlite_fence(sq, call, fence)
               : sm_sqlite_now(sq, call, &call->now))
        != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return 0;
}


int
sm_sqlite_schedule_write(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_recur_write_t *write)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    write->done = 0;

    if (sm_sqlite_recur_begin(conn, call, fence) != 0) {
        return -1;
    }

    if (sm_sqlite_recur_write(sq, call, write) != 0) {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}


static int
sm_sqlite_recur_fire(sm_sqlite_t *sq, sm_call_t *call, sm_recur_fire_t *row)
{
    sqlite3_stmt      *stmt;
    const sm_recur_t  *recur;

    recur = row->recur;
    stmt = sq->stmts[SM_SQLITE_SCHEDULE_FIRE];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":schedule_id", recur->id);
    sm_sqlite_bind_int(stmt, ":revision", recur->revision);
    sm_sqlite_bind_int(stmt, ":now", call->now);
    sm_sqlite_bind_some(stmt, ":planned",
                        row->actor ? 0 : recur->next_run_at);
    sm_sqlite_bind_some(stmt, ":next", row->due.next * 1000000);
    sm_sqlite_bind_some(stmt, ":last", row->last * 1000000);
    sm_sqlite_bind_text(stmt, ":last_intent", row->last_intent);
    sm_sqlite_bind_int(stmt, ":fired", row->due.n);
    sm_sqlite_bind_int(stmt, ":skipped", row->due.skipped);
    sm_sqlite_bind_int(stmt, ":missed", row->due.missed);
    sm_sqlite_bind_text(stmt, ":error", row->error);

    if (sm_sqlite_run(sq, call, SM_SQLITE_SCHEDULE_FIRE) != 0) {
        return -1;
    }

    row->done = sqlite3_changes(sq->db) != 0;

    if (!row->done) {
        return 0;
    }

    if (row->due.n && sm_sqlite_submit(sq, call, row->intents, row->due.n) != 0)
    {
        return -1;
    }

    return row->actor
           ? sm_sqlite_audit(sq, call, call->now, row->actor, "schedule_run",
                             recur->id, row->detail)
           : 0;
}


int
sm_sqlite_schedules_fire(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_recur_fire_t *rows, size_t n)
{
    size_t        i;
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].done = 0;
    }

    if (sm_sqlite_recur_begin(conn, call, fence) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (sm_sqlite_recur_fire(sq, call, &rows[i]) != 0) {
            return sm_sqlite_rollback(sq);
        }
    }

    return sm_sqlite_commit(sq, call);
}
