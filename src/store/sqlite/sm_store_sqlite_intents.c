
/*
 * The intents in SQLite.
 */

#include <stdio.h>

#include "sm_store_sqlite.h"


/* The parameters of intents_submit.sql, in the order of their appearance. */

enum {
    SM_SUBMIT_PAR_LEASE_NAME = 1,
    SM_SUBMIT_PAR_INTENT_ID,
    SM_SUBMIT_PAR_PAYLOAD_HASH,
    SM_SUBMIT_PAR_PAYLOAD,
    SM_SUBMIT_PAR_CONTRACT,
    SM_SUBMIT_PAR_VERSION = SM_SUBMIT_PAR_CONTRACT + SM_CONTRACT_COLUMNS,
    SM_SUBMIT_PAR_NOW,
    SM_SUBMIT_PAR_NEXT_ATTEMPT_AT,
    SM_SUBMIT_PAR_REPLAY_OF,
    SM_SUBMIT_PAR_EVENT_OF,
    SM_SUBMIT_PAR_TRACEPARENT,
    SM_SUBMIT_PAR_TRACESTATE,
    SM_SUBMIT_PAR_POSTED
};


/*
 * Binds the columns of a table, in its order.  0 is bound as NULL, unless the
 * field has it as a value.
 */

static void
sm_sqlite_bind_fields(sqlite3_stmt *stmt, int par, const sm_field_t *fields,
    const void *entity)
{
    int64_t            n;
    const char        *p;
    const sm_field_t  *f;

    for (f = fields; f->json; f++, par++) {

        p = (const char *) entity + f->offset;

        if (sm_field_is_text(f)) {
            sm_sqlite_bind_nth(stmt, par, *(const sm_str_t *) p);
            continue;
        }

        n = *(const int64_t *) p;

        if (n == 0 && f->flags == 0) {
            (void) sqlite3_bind_null(stmt, par);

        } else {
            (void) sqlite3_bind_int64(stmt, par, n);
        }
    }
}


static void
sm_sqlite_bind_contract(sqlite3_stmt *stmt, const sm_contract_t *c)
{
    sm_contract_row_t  row;

    sm_contract_store(c, &row);
    sm_sqlite_bind_fields(stmt, SM_SUBMIT_PAR_CONTRACT, sm_contract_fields,
                          &row);
}


int
sm_sqlite_reserved(sm_sqlite_t *sq, sm_call_t *call, sm_str_t id)
{
    sm_str_t  schedule;

    if (!sm_schedule_occurrence(id, &schedule)) {
        return 0;
    }

    sm_sqlite_bind_text(sq->stmts[SM_SQLITE_SCHEDULE_HAS], ":schedule_id",
                        schedule);

    return sm_sqlite_has(sq, call, SM_SQLITE_SCHEDULE_HAS);
}


/*
 * Writes a batch row by row.  Nothing crosses a network here, and a document
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

    sm_sqlite_bind_nth(stmt, SM_SUBMIT_PAR_LEASE_NAME,
                       sq->sql.conf->lease_name);
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

        (void) sqlite3_bind_int64(stmt, SM_SUBMIT_PAR_NEXT_ATTEMPT_AT,
                                  sm_submit_due(row, now));

        sm_sqlite_bind_nth(stmt, SM_SUBMIT_PAR_TRACEPARENT, row->trace.parent);
        sm_sqlite_bind_nth(stmt, SM_SUBMIT_PAR_TRACESTATE, row->trace.state);
        sm_sqlite_bind_fields(stmt, SM_SUBMIT_PAR_POSTED, sm_posted_fields,
                              &row->posted);

        rc = sm_sqlite_change(sq, call, SM_SQLITE_SUBMIT);

        if (rc < 0) {
            return -1;
        }

        if (rc) {
            sm_submit_created(row, now);
        }
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
 * Reads the intents that existed already, in the transaction that did not
 * insert them.  A reserved id may exist, too, and is answered as a duplicate.
 */

static int
sm_sqlite_compare(sm_sqlite_t *sq, sm_call_t *call, sm_submit_row_t *rows,
    size_t n)
{
    size_t         i, k;
    sm_get_row_t  *stored;

    stored = sm_arena_calloc(&call->arena, n, sizeof(sm_get_row_t));
    if (stored == NULL) {
        return sm_call_no_memory(call);
    }

    for (i = 0, k = 0; i < n; i++) {
        if (sm_sqlite_not_made(&rows[i])) {
            stored[k++].id = rows[i].id;
        }
    }

    if (k == 0) {
        return 0;
    }

    if (sm_sql_intents_get(&sq->sql.conn, call, stored, k) != 0) {
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
                                sq->sql.conf->path);
        }

        rows[i].intent = stored[k].intent;
        sm_submit_found(&rows[i]);
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


/*
 * Gives each parameter of the INSERT the value of the column of its name, and
 * then sets what differs in a replay.  A replay is due at once, whatever
 * not_before was.
 */

static int
sm_sqlite_replay_bind(sqlite3_stmt *to, sqlite3_stmt *from,
    const sm_replay_insert_t *row, int64_t now)
{
    int       i, par;
    char      name[32];
    sm_str_t  none = sm_null_str;

    for (i = 0; i < sqlite3_column_count(from); i++) {
        (void) snprintf(name, sizeof(name), ":%s",
                        sqlite3_column_name(from, i));

        par = sqlite3_bind_parameter_index(to, name);

        if (par
            && sqlite3_bind_value(to, par, sqlite3_column_value(from, i))
               != SQLITE_OK)
        {
            return -1;
        }
    }

    sm_sqlite_bind_nth(to, SM_SUBMIT_PAR_INTENT_ID, row->new_id);
    sm_sqlite_bind_nth(to, SM_SUBMIT_PAR_REPLAY_OF, row->id);
    (void) sqlite3_bind_int64(to, SM_SUBMIT_PAR_NOW, now);
    (void) sqlite3_bind_int64(to, SM_SUBMIT_PAR_NEXT_ATTEMPT_AT, now);
    sm_sqlite_bind_text(to, ":not_before", none);

    if (row->contract) {
        sm_sqlite_bind_contract(to, row->contract);
        (void) sqlite3_bind_null(to, SM_SUBMIT_PAR_VERSION);
    }

    if (row->trace.parent.data) {
        sm_sqlite_bind_nth(to, SM_SUBMIT_PAR_TRACEPARENT, row->trace.parent);
        sm_sqlite_bind_nth(to, SM_SUBMIT_PAR_TRACESTATE, row->trace.state);
    }

    return 0;
}


static int
sm_sqlite_replayed(sm_sqlite_t *sq, sm_call_t *call,
    const sm_replay_insert_t *row)
{
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_REPLAYED];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(stmt, ":intent_id", row->id);
    sm_sqlite_bind_text(stmt, ":new_id", row->new_id);

    return sm_sqlite_run(sq, call, SM_SQLITE_REPLAYED);
}


int
sm_sqlite_replay(sm_sqlite_t *sq, sm_call_t *call,
    const sm_replay_insert_t *row, int64_t now)
{
    int            rc;
    sqlite3_stmt  *from, *to;

    from = sq->stmts[SM_SQLITE_SOURCE];
    to = sq->stmts[SM_SQLITE_SUBMIT];

    sm_sqlite_bind_text(from, ":lease_name", sq->sql.conf->lease_name);
    sm_sqlite_bind_text(from, ":intent_id", row->id);
    sm_sqlite_bind_int(from, ":again", row->again);

    switch (sqlite3_step(from)) {

    case SQLITE_ROW:
        rc = sm_sqlite_replay_bind(to, from, row, now) == 0
             ? sm_sqlite_change(sq, call, SM_SQLITE_SUBMIT)
             : sm_sqlite_fail(sq, call);
        break;

    case SQLITE_DONE:
        rc = 0;
        break;

    default:
        rc = sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(from);

    /*
     * A submission does not bind all parameters, and the payload may be long.
     */

    (void) sqlite3_clear_bindings(to);

    return rc == 1 && sm_sqlite_replayed(sq, call, row) != 0 ? -1 : rc;
}
