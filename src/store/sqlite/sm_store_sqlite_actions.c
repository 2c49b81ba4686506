
/* Actions of operators on intents, in SQLite.  Each call is one transaction. */

#include "sm_store_sqlite.h"


int
sm_sqlite_cancel(sm_sqlite_t *sq, sm_call_t *call, sm_str_t id, int64_t now)
{
    int            rc;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_CANCEL];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":intent_id", id);
    sm_sqlite_bind_int(stmt, ":now", now);

    rc = sm_sqlite_change(sq, call, SM_SQLITE_CANCEL);

    return rc == 1 && sm_sqlite_ended(sq, call, id) != 0 ? -1 : rc;
}


static int
sm_sqlite_cancel_row(sm_sqlite_t *sq, sm_call_t *call, sm_cancel_row_t *row,
    int64_t now)
{
    int       rc;
    sm_str_t  none = sm_null_str;

    row->outcome = SM_CANCEL_NOT_FOUND;
    memset(&row->intent, 0, sizeof(sm_intent_t));

    rc = sm_sqlite_cancel(sq, call, row->id, now);

    if (rc != 1) {
        return rc;
    }

    row->outcome = SM_CANCEL_DONE;

    return sm_sqlite_audit(sq, call, now, &row->actor, "cancel", row->id,
                           none);
}


/*
 * Reads the intents that were not canceled, to tell why: a pending one is in
 * flight.
 */

static int
sm_sqlite_canceled(sm_sqlite_t *sq, sm_call_t *call, sm_cancel_row_t *rows,
    size_t n)
{
    size_t         i;
    sm_get_row_t  *stored;

    stored = sm_arena_calloc(&call->arena, n, sizeof(sm_get_row_t));
    if (stored == NULL) {
        return sm_call_no_memory(call);
    }

    for (i = 0; i < n; i++) {
        stored[i].id = rows[i].id;
    }

    if (sm_sql_intents_get(&sq->sql.conn, call, stored, n) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        rows[i].intent = stored[i].intent;

        if (!stored[i].found || rows[i].outcome == SM_CANCEL_DONE) {
            continue;
        }

        rows[i].outcome = stored[i].intent.status == SM_STATUS_PENDING
                          ? SM_CANCEL_IN_FLIGHT
                          : stored[i].intent.status == SM_STATUS_CANCELED
                          ? SM_CANCEL_SAME : SM_CANCEL_TERMINAL;
    }

    return 0;
}


int
sm_sqlite_intents_cancel(sm_conn_t *conn, sm_call_t *call,
    sm_cancel_row_t *rows, size_t n)
{
    size_t        i;
    int64_t       now;
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if (sm_sqlite_now(sq, call, &now) != 0) {
        return sm_sqlite_rollback(sq);
    }

    for (i = 0; i < n; i++) {
        if (sm_sqlite_cancel_row(sq, call, &rows[i], now) != 0) {
            return sm_sqlite_rollback(sq);
        }
    }

    if (sm_sqlite_canceled(sq, call, rows, n) != 0) {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}


/* Tells why no replay was made: what has the new id, or the intent itself. */

static int
sm_sqlite_replay_why(sm_sqlite_t *sq, sm_call_t *call, sm_replay_insert_t *row)
{
    sm_payload_row_t  *there, *source;
    sm_payload_row_t   rows[2];

    memset(rows, 0, sizeof(rows));

    there = &rows[0];
    there->id = row->new_id;
    there->bare = 1;

    source = &rows[1];
    source->id = row->id;
    source->bare = 1;

    if (sm_sql_intent_payload(&sq->sql.conn, call, rows, 2) != 0) {
        return -1;
    }

    if (there->found) {
        row->outcome = sm_str_eq(there->replay_of, row->id)
                       ? SM_REPLAY_SAME : SM_REPLAY_CONFLICT;
        return 0;
    }

    row->outcome = source->replay_count && !source->stripped && !row->again
                   ? SM_REPLAY_ALREADY : SM_REPLAY_NOT_FOUND;

    return 0;
}


static int
sm_sqlite_replay_row(sm_sqlite_t *sq, sm_call_t *call, void *data, int64_t now)
{
    int                  rc;
    sm_replay_insert_t  *row = data;

    rc = sm_sqlite_reserved(sq, call, row->new_id);

    if (rc) {
        row->outcome = SM_REPLAY_RESERVED;
        return rc < 0 ? -1 : 0;
    }

    rc = sm_sqlite_replay(sq, call, row, now);

    if (rc < 0) {
        return -1;
    }

    if (rc == 1) {
        row->outcome = SM_REPLAY_CREATED;

        return sm_sqlite_audit(sq, call, now, row->actor, "replay", row->id,
                               row->detail);
    }

    return sm_sqlite_replay_why(sq, call, row);
}


int
sm_sqlite_replays_insert(sm_conn_t *conn, sm_call_t *call,
    sm_replay_insert_t *rows, size_t n)
{
    return sm_sqlite_rows(conn, call, rows, sizeof(sm_replay_insert_t), n,
                          sm_sqlite_replay_row);
}
