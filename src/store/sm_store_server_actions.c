
/* Actions of operators on intents, and the audit, on a database server. */

#include "sm_store_server.h"


/* Reads the outcome from the one row of the answer; it is 0 without a row. */

static int
sm_server_outcome(sm_sql_t *sql, sm_call_t *call, int64_t last,
    int64_t *outcome)
{
    *outcome = 0;

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {
            *outcome = sm_sql_int(sql, 0);
        }
    }

    if (sm_sql_end(sql, call) != 0) {
        return -1;
    }

    if (*outcome < 0 || *outcome > last) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: submission_%s gives the outcome %lld",
                            sql->driver->name, sm_procs[sql->proc].name,
                            (long long) *outcome);
    }

    return 0;
}


/*
 * An intent that has ended does not change any more, so the intents that were
 * not canceled may be read after the commit.
 */

int
sm_server_intents_cancel(sm_conn_t *conn, sm_call_t *call,
    sm_cancel_row_t *rows, size_t n)
{
    size_t         i;
    int64_t        outcome;
    sm_sql_t      *sql = (sm_sql_t *) conn;
    sm_get_row_t  *stored;

    stored = sm_arena_calloc(&call->arena, n, sizeof(sm_get_row_t));
    if (stored == NULL) {
        return sm_sql_no_memory(call);
    }

    for (i = 0; i < n; i++) {
        sm_sql_start(sql, SM_PROC_INTENT_CANCEL);
        sm_sql_put_text(sql, sql->conf->lease_name);
        sm_sql_put_text(sql, rows[i].id);
        sm_sql_put_text(sql, rows[i].actor.name);
        sm_sql_put_text(sql, rows[i].actor.address);

        if (sm_server_outcome(sql, call, SM_CANCEL_OUTCOMES - 1, &outcome)
            != 0)
        {
            return -1;
        }

        rows[i].outcome = outcome;
        stored[i].id = rows[i].id;
    }

    if (sm_sql_intents_get(conn, call, stored, n) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        rows[i].intent = stored[i].intent;

        if (!stored[i].found) {
            rows[i].outcome = SM_CANCEL_NOT_FOUND;
        }
    }

    return 0;
}


int
sm_server_replays_insert(sm_conn_t *conn, sm_call_t *call,
    sm_replay_insert_t *rows, size_t n)
{
    size_t     i;
    int64_t    outcome;
    sm_str_t   doc, schedule, none = sm_null_str;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < n; i++) {
        doc = none;

        if (rows[i].contract
            && sm_contract_doc(&call->arena, rows[i].contract, &doc) != 0)
        {
            return sm_sql_no_memory(call);
        }

        sm_sql_start(sql, SM_PROC_INTENT_REPLAY);
        sm_sql_put_text(sql, sql->conf->lease_name);
        sm_sql_put_text(sql, rows[i].id);
        sm_sql_put_text(sql, rows[i].new_id);
        sm_sql_put_text(sql, doc);
        sm_sql_put_text(sql, rows[i].actor->name);
        sm_sql_put_text(sql, rows[i].actor->address);
        sm_sql_put_text(sql, rows[i].detail);
        sm_sql_put_text(sql, rows[i].trace.parent);
        sm_sql_put_text(sql, rows[i].trace.state);
        sm_sql_put_text(sql, sm_schedule_occurrence(rows[i].new_id, &schedule)
                               ? schedule : none);
        sm_sql_put_int(sql, rows[i].again);

        if (sm_server_outcome(sql, call, SM_REPLAY_ALREADY, &outcome) != 0) {
            return -1;
        }

        rows[i].outcome = outcome;
    }

    return 0;
}
