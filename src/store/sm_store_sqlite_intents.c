
/*
 * The intents in SQLite.
 */

#include "sm_store_sqlite.h"


/* the parameters of intents_submit.sql, in the order of their appearance */

enum {
    SM_SUBMIT_PAR_LEASE_NAME = 1,
    SM_SUBMIT_PAR_INTENT_ID,
    SM_SUBMIT_PAR_PAYLOAD_HASH,
    SM_SUBMIT_PAR_PAYLOAD,
    SM_SUBMIT_PAR_CONTRACT,
    SM_SUBMIT_PAR_NOW = SM_SUBMIT_PAR_CONTRACT + SM_CONTRACT_COL_COUNT,
    SM_SUBMIT_PAR_NEXT_ATTEMPT_AT,
    SM_SUBMIT_PAR_NOT_BEFORE,
    SM_SUBMIT_PAR_TRACEPARENT,
    SM_SUBMIT_PAR_TRACESTATE
};


/* the columns of intents_get.sql and intents_list.sql */

static int
sm_sqlite_intent(sm_call_t *call, sqlite3_stmt *stmt, sm_intent_t *intent,
    sm_str_t *hash)
{
    sm_str_t  reason;

    if (sm_sqlite_text(call, stmt, 1, &intent->id) != 0
        || sm_sqlite_text(call, stmt, 2, &intent->target) != 0
        || sm_sqlite_text(call, stmt, 8, &reason) != 0
        || sm_sqlite_text(call, stmt, 9, &intent->exhausted_reason) != 0
        || sm_sqlite_text(call, stmt, 10, hash) != 0
        || sm_sqlite_text(call, stmt, 13, &intent->last_error) != 0
        || sm_sqlite_text(call, stmt, 14, &intent->replay_of) != 0
        || sm_sqlite_text(call, stmt, 16, &intent->traceparent) != 0)
    {
        return -1;
    }

    intent->status = sm_status_by_name(sm_sqlite_peek(stmt, 3));
    intent->created_at = sqlite3_column_int64(stmt, 4);
    intent->attempt_count = sqlite3_column_int64(stmt, 5);
    intent->next_attempt_at = sqlite3_column_int64(stmt, 6);
    intent->completed_at = sqlite3_column_int64(stmt, 7);
    intent->not_before = sqlite3_column_int64(stmt, 11);
    intent->in_flight = sqlite3_column_int(stmt, 12) != 0;
    intent->stripped = sqlite3_column_int(stmt, 15) != 0;

    if (intent->status == SM_STATUS_REJECTED) {
        intent->rejected_reason = reason;
    }

    return 0;
}


int
sm_sqlite_intents_get(sm_conn_t *conn, sm_call_t *call, sm_get_row_t *rows,
    size_t n)
{
    int            rc;
    int64_t        key;
    sm_str_t       doc;
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    sm_sqlite_start_call(sq);

    for (key = 0; key < (int64_t) n; key++) {
        rows[key].found = 0;
    }

    if (sm_batch_ids_doc(&call->arena, rows, n, &doc) != 0) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[SM_SQLITE_GET];

    sm_sqlite_bind_text(stmt, ":doc", doc);
    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {

        key = sqlite3_column_int64(stmt, 0);

        if (sm_sqlite_intent(call, stmt, &rows[key].intent, &rows[key].hash)
            != 0)
        {
            break;
        }

        rows[key].found = 1;
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


int
sm_sqlite_intents_length(sm_conn_t *conn, sm_call_t *call, sm_get_row_t *rows,
    size_t n)
{
    int            rc;
    size_t         i;
    sm_str_t       doc;
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    sm_sqlite_start_call(sq);

    for (i = 0; i < n; i++) {
        rows[i].length = 0;
    }

    if (sm_batch_ids_doc(&call->arena, rows, n, &doc) != 0) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[SM_SQLITE_LENGTH];

    sm_sqlite_bind_text(stmt, ":doc", doc);
    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        rows[sqlite3_column_int64(stmt, 0)].length
            = sqlite3_column_int64(stmt, 1);
    }

    if (rc != SQLITE_DONE) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


static void
sm_sqlite_bind_contract(sqlite3_stmt *stmt, const sm_contract_t *c)
{
    int                   i;
    sm_contract_value_t   values[SM_CONTRACT_COL_COUNT];

    sm_contract_store(c, values);

    for (i = 0; i < SM_CONTRACT_COL_COUNT; i++) {

        if (sm_contract_columns[i].is != SM_CONTRACT_IS_INT) {
            sm_sqlite_bind_nth(stmt, SM_SUBMIT_PAR_CONTRACT + i, values[i].s);

        } else if (values[i].null) {
            (void) sqlite3_bind_null(stmt, SM_SUBMIT_PAR_CONTRACT + i);

        } else {
            (void) sqlite3_bind_int64(stmt, SM_SUBMIT_PAR_CONTRACT + i,
                                      values[i].n);
        }
    }
}


static void
sm_sqlite_bind_not_before(sqlite3_stmt *stmt, int64_t not_before, int64_t now)
{
    (void) sqlite3_bind_int64(stmt, SM_SUBMIT_PAR_NEXT_ATTEMPT_AT,
                              not_before > now ? not_before : now);

    if (not_before) {
        (void) sqlite3_bind_int64(stmt, SM_SUBMIT_PAR_NOT_BEFORE, not_before);

    } else {
        (void) sqlite3_bind_null(stmt, SM_SUBMIT_PAR_NOT_BEFORE);
    }
}


int
sm_sqlite_reserved(sm_sqlite_t *sq, sm_call_t *call, sm_str_t id)
{
    sm_str_t  schedule;

    if (!sm_recur_occurrence(id, &schedule)) {
        return 0;
    }

    sm_sqlite_bind_text(sq->stmts[SM_SQLITE_SCHEDULE_HAS], ":schedule_id",
                        schedule);

    return sm_sqlite_has(sq, call, SM_SQLITE_SCHEDULE_HAS);
}


/*
 * There is no wire to cross here, so a batch goes in row by row: a document
 * of all rows, read with json_each(), took 1.7 times the instructions.
 */

static int
sm_sqlite_insert(sm_sqlite_t *sq, sm_call_t *call, sm_submit_row_t *rows,
    size_t n)
{
    int                   rc;
    size_t                i;
    int64_t               now;
    sm_str_t              hash;
    sqlite3_stmt         *stmt;
    sm_submit_row_t      *row;
    const sm_contract_t  *contract;

    if (sm_sqlite_now(sq, call, &now) != 0) {
        return -1;
    }

    contract = NULL;
    stmt = sq->stmts[SM_SQLITE_SUBMIT];

    sm_sqlite_bind_nth(stmt, SM_SUBMIT_PAR_LEASE_NAME, sq->conf->lease_name);
    (void) sqlite3_bind_int64(stmt, SM_SUBMIT_PAR_NOW, now);

    for (i = 0; i < n; i++) {
        row = &rows[i];

        if (sm_submit_too_far(row, now)) {
            row->outcome = SM_SUBMIT_TOO_FAR;
            continue;
        }

        if (!row->occurrence) {
            rc = sm_sqlite_reserved(sq, call, row->id);

            if (rc < 0) {
                return -1;
            }

            if (rc) {
                row->outcome = SM_SUBMIT_RESERVED;
                continue;
            }
        }

        if (row->contract != contract) {
            contract = row->contract;
            sm_sqlite_bind_contract(stmt, contract);
        }

        hash.data = row->hash;
        hash.len = SM_HASH_LEN;

        sm_sqlite_bind_nth(stmt, SM_SUBMIT_PAR_INTENT_ID, row->id);
        sm_sqlite_bind_nth(stmt, SM_SUBMIT_PAR_PAYLOAD_HASH, hash);

        (void) sqlite3_bind_blob64(stmt, SM_SUBMIT_PAR_PAYLOAD,
                                   row->payload.len ? row->payload.data : "",
                                   row->payload.len, SQLITE_STATIC);

        sm_sqlite_bind_not_before(stmt, row->not_before, now);

        sm_sqlite_bind_nth(stmt, SM_SUBMIT_PAR_TRACEPARENT, row->trace.parent);
        sm_sqlite_bind_nth(stmt, SM_SUBMIT_PAR_TRACESTATE, row->trace.state);

        rc = sqlite3_step(stmt);

        if (rc != SQLITE_DONE) {
            (void) sm_sqlite_fail(sq, call);
            (void) sqlite3_reset(stmt);
            return -1;
        }

        (void) sqlite3_reset(stmt);

        if (sqlite3_changes(sq->db) == 0) {
            continue;
        }

        sm_submit_created(row, now);
    }

    return 0;
}


static int
sm_sqlite_not_made(const sm_submit_row_t *row)
{
    return row->outcome == SM_SUBMIT_FAILED
           || row->outcome == SM_SUBMIT_RESERVED;
}


/*
 * What was there before is read in the transaction that did not insert it.  An
 * id that is reserved may be there, too: a repeat is told of it.
 */

static int
sm_sqlite_compare(sm_sqlite_t *sq, sm_call_t *call, sm_submit_row_t *rows,
    size_t n)
{
    size_t         i, k;
    sm_get_row_t  *stored;

    stored = sm_arena_calloc(&call->arena, n, sizeof(sm_get_row_t));
    if (stored == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    for (i = 0, k = 0; i < n; i++) {
        if (sm_sqlite_not_made(&rows[i])) {
            stored[k++].id = rows[i].id;
        }
    }

    if (k == 0) {
        return 0;
    }

    if (sm_sqlite_intents_get(&sq->conn, call, stored, k) != 0) {
        return -1;
    }

    for (i = 0, k = 0; i < n; i++) {

        if (!sm_sqlite_not_made(&rows[i])) {
            continue;
        }

        if (!stored[k].found && rows[i].outcome == SM_SUBMIT_RESERVED) {
            k++;
            continue;
        }

        if (!stored[k].found) {
            return sm_call_fail(call, SM_STORE_PERMANENT, 0,
                                "%s: an intent was neither inserted nor found",
                                sq->conf->path);
        }

        rows[i].intent = stored[k].intent;
        sm_submit_found(&rows[i], stored[k].hash);
        k++;
    }

    return 0;
}


int
sm_sqlite_submit(sm_sqlite_t *sq, sm_call_t *call, sm_submit_row_t *rows,
    size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        rows[i].outcome = SM_SUBMIT_FAILED;
        memset(&rows[i].intent, 0, sizeof(sm_intent_t));
    }

    if (sm_sqlite_insert(sq, call, rows, n) != 0) {
        return -1;
    }

    return sm_sqlite_compare(sq, call, rows, n);
}


int
sm_sqlite_intents_submit(sm_conn_t *conn, sm_call_t *call,
    sm_submit_row_t *rows, size_t n)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    if (sm_sqlite_submit(sq, call, rows, n) != 0) {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}


static int
sm_sqlite_attempts(sm_sqlite_t *sq, sm_call_t *call, sm_history_row_t *row)
{
    int            rc;
    sm_attempt_t  *a;
    sqlite3_stmt  *stmt;

    row->attempts = sm_arena_calloc(&call->arena, row->limit,
                                    sizeof(sm_attempt_t));
    if (row->attempts == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[SM_SQLITE_HISTORY];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":intent_id", row->id);
    sm_sqlite_bind_int(stmt, ":before", row->before ? row->before : INT64_MAX);
    sm_sqlite_bind_int(stmt, ":limit", row->limit + 1);

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {

        if (row->n == row->limit) {
            row->more = 1;
            rc = SQLITE_DONE;
            break;
        }

        a = &row->attempts[row->n++];

        a->number = sqlite3_column_int64(stmt, 0);
        a->started_at = sqlite3_column_int64(stmt, 1);
        a->finished_at = sqlite3_column_int64(stmt, 2);
        a->http_status = sqlite3_column_int64(stmt, 6);
        a->epoch = sqlite3_column_int64(stmt, 9);

        if (sm_sqlite_text(call, stmt, 3, &a->outcome_status) != 0
            || sm_sqlite_text(call, stmt, 4, &a->outcome_reason) != 0
            || sm_sqlite_text(call, stmt, 5, &a->error) != 0
            || sm_sqlite_text(call, stmt, 7, &a->answer) != 0
            || sm_sqlite_text(call, stmt, 8, &a->span_id) != 0)
        {
            break;
        }
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


int
sm_sqlite_intent_history(sm_conn_t *conn, sm_call_t *call,
    sm_history_row_t *row)
{
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sm_get_row_t   stored;

    memset(&stored, 0, sizeof(sm_get_row_t));
    stored.id = row->id;

    sm_sqlite_start_call(sq);

    if (sm_sqlite_run(sq, call, SM_SQLITE_BEGIN_READ) != 0) {
        return -1;
    }

    if (sm_sqlite_intents_get(conn, call, &stored, 1) != 0) {
        return sm_sqlite_rollback(sq);
    }

    row->found = stored.found;
    row->n = 0;
    row->more = 0;
    row->intent = stored.intent;

    if (row->found && sm_sqlite_attempts(sq, call, row) != 0) {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_run(sq, call, SM_SQLITE_COMMIT);
}


int
sm_sqlite_intents_list(sm_conn_t *conn, sm_call_t *call, sm_list_row_t *row)
{
    int            rc;
    sm_str_t       hash, none = sm_str("");
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    sm_sqlite_start_call(sq);

    row->n = 0;
    row->more = 0;

    row->intents = sm_arena_calloc(&call->arena, row->limit,
                                   sizeof(sm_intent_t));
    if (row->intents == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[SM_SQLITE_LIST];

    /* no data binds NULL: any */

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":target", row->target);
    sm_sqlite_bind_text(stmt, ":status", sm_status_name(row->status));
    sm_sqlite_bind_int(stmt, ":limit", row->limit + 1);

    if (row->after_id.data) {
        sm_sqlite_bind_int(stmt, ":created_at", row->after_at);
        sm_sqlite_bind_text(stmt, ":intent_id", row->after_id);

    } else {
        sm_sqlite_bind_int(stmt, ":created_at", INT64_MAX);
        sm_sqlite_bind_text(stmt, ":intent_id", none);
    }

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {

        if (row->n == row->limit) {
            row->more = 1;
            rc = SQLITE_DONE;
            break;
        }

        if (sm_sqlite_intent(call, stmt, &row->intents[row->n++], &hash) != 0) {
            break;
        }
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}
