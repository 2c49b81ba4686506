
/*
 * What people do to intents, and the audit, on a database server.
 */

#include "sm_store_server.h"


/* the columns of intent_payload */

enum {
    SM_PAYLOAD_STRIPPED = 0,
    SM_PAYLOAD_STATUS,
    SM_PAYLOAD_TARGET,
    SM_PAYLOAD_REPLAY_OF,
    SM_PAYLOAD_PAYLOAD
};


/* the columns of audit_list */

enum {
    SM_AUDIT_SEQ = 0,
    SM_AUDIT_AT,
    SM_AUDIT_ACTOR,
    SM_AUDIT_ADDRESS,
    SM_AUDIT_ACTION,
    SM_AUDIT_OBJECT,
    SM_AUDIT_DETAIL
};


/* the outcome that a procedure gives in its one row; 0: it gives none */

static int
sm_server_outcome(sm_server_t *sv, sm_call_t *call, int64_t last,
    int64_t *outcome)
{
    *outcome = 0;

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {
            *outcome = sm_server_int(sv, 0);
        }
    }

    if (sm_server_end(sv, call) != 0) {
        return -1;
    }

    if (*outcome < 0 || *outcome > last) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: submission_%s gives the outcome %lld",
                            sv->driver->name, sm_procs[sv->proc].name,
                            (long long) *outcome);
    }

    return 0;
}


/* what has ended is final: it may be read after the commit */

int
sm_server_intents_cancel(sm_conn_t *conn, sm_call_t *call,
    sm_cancel_row_t *rows, size_t n)
{
    size_t         i;
    int64_t        outcome;
    sm_server_t   *sv = (sm_server_t *) conn;
    sm_get_row_t  *stored;

    stored = sm_arena_calloc(&call->arena, n, sizeof(sm_get_row_t));
    if (stored == NULL) {
        return sm_server_no_memory(call);
    }

    for (i = 0; i < n; i++) {
        sm_server_start(sv, SM_PROC_INTENT_CANCEL);
        sm_server_put_text(sv, sv->conf->lease_name);
        sm_server_put_text(sv, rows[i].id);
        sm_server_put_text(sv, rows[i].actor.name);
        sm_server_put_text(sv, rows[i].actor.address);

        if (sm_server_outcome(sv, call, SM_CANCEL_OUTCOMES - 1, &outcome)
            != 0)
        {
            return -1;
        }

        rows[i].outcome = outcome;
        stored[i].id = rows[i].id;
    }

    if (sm_server_intents_get(conn, call, stored, n) != 0) {
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
    size_t        i;
    int64_t       outcome;
    sm_str_t      schedule, none = sm_null_str;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        sm_server_start(sv, SM_PROC_INTENT_REPLAY);
        sm_server_put_text(sv, sv->conf->lease_name);
        sm_server_put_text(sv, rows[i].id);
        sm_server_put_text(sv, rows[i].new_id);
        sm_server_put_text(sv, rows[i].contract);
        sm_server_put_text(sv, rows[i].actor->name);
        sm_server_put_text(sv, rows[i].actor->address);
        sm_server_put_text(sv, rows[i].detail);
        sm_server_put_text(sv, rows[i].trace.parent);
        sm_server_put_text(sv, rows[i].trace.state);
        sm_server_put_text(sv, sm_recur_occurrence(rows[i].new_id, &schedule)
                               ? schedule : none);

        if (sm_server_outcome(sv, call, SM_REPLAY_RESERVED, &outcome) != 0) {
            return -1;
        }

        rows[i].outcome = outcome;
    }

    return 0;
}


static int
sm_server_payload(sm_server_t *sv, sm_call_t *call, sm_payload_row_t *row)
{
    sm_str_t  status;

    if (sm_server_text(sv, call, SM_PAYLOAD_STATUS, &status) != 0
        || sm_server_text(sv, call, SM_PAYLOAD_TARGET, &row->target) != 0
        || sm_server_text(sv, call, SM_PAYLOAD_REPLAY_OF, &row->replay_of) != 0
        || sm_server_bytes(sv, call, SM_PAYLOAD_PAYLOAD, &row->payload) != 0)
    {
        return -1;
    }

    row->found = 1;
    row->stripped = sm_server_int(sv, SM_PAYLOAD_STRIPPED) != 0;
    row->status = sm_status_by_name(status);

    return 0;
}


int
sm_server_intent_payload(sm_conn_t *conn, sm_call_t *call,
    sm_payload_row_t *rows, size_t n)
{
    size_t        i;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].found = 0;

        sm_server_start(sv, SM_PROC_INTENT_PAYLOAD);
        sm_server_put_text(sv, sv->conf->lease_name);
        sm_server_put_text(sv, rows[i].id);
        sm_server_put_int(sv, rows[i].bare);

        if (sm_server_exec(sv, call) == 0) {
            while (sm_server_fetch(sv, call) == 1) {
                if (sm_server_payload(sv, call, &rows[i]) != 0) {
                    break;
                }
            }
        }

        if (sm_server_end(sv, call) != 0) {
            return -1;
        }
    }

    return 0;
}


static int
sm_server_audit_entry(sm_server_t *sv, sm_call_t *call, sm_audit_t *entry)
{
    entry->seq = sm_server_int(sv, SM_AUDIT_SEQ);
    entry->at = sm_server_int(sv, SM_AUDIT_AT);

    if (sm_server_text(sv, call, SM_AUDIT_ACTOR, &entry->actor) != 0
        || sm_server_text(sv, call, SM_AUDIT_ADDRESS, &entry->address) != 0
        || sm_server_text(sv, call, SM_AUDIT_ACTION, &entry->action) != 0
        || sm_server_text(sv, call, SM_AUDIT_OBJECT, &entry->object) != 0
        || sm_server_text(sv, call, SM_AUDIT_DETAIL, &entry->detail) != 0)
    {
        return -1;
    }

    return 0;
}


static void
sm_server_put_some(sm_server_t *sv, int64_t value)
{
    if (value) {
        sm_server_put_int(sv, value);

    } else {
        sm_server_put_no_int(sv);
    }
}


static int
sm_server_audit_page(sm_server_t *sv, sm_call_t *call, sm_audit_row_t *row)
{
    int64_t  at, seq;

    row->n = 0;
    row->more = 0;

    sm_audit_before(row, &at, &seq);

    row->entries = sm_arena_calloc(&call->arena, row->limit,
                                   sizeof(sm_audit_t));
    if (row->entries == NULL) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_AUDIT_LIST);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, row->actor);
    sm_server_put_text(sv, row->action);
    sm_server_put_some(sv, row->from);
    sm_server_put_some(sv, at);
    sm_server_put_some(sv, seq);
    sm_server_put_int(sv, row->limit + 1);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {

            if (row->n == row->limit) {
                row->more = 1;
                continue;
            }

            if (sm_server_audit_entry(sv, call, &row->entries[row->n++]) != 0)
            {
                break;
            }
        }
    }

    return sm_server_end(sv, call);
}


int
sm_server_audit_list(sm_conn_t *conn, sm_call_t *call, sm_audit_row_t *rows,
    size_t n)
{
    size_t        i;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        if (sm_server_audit_page(sv, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}
