
/*
 * The intents on a database server.
 */

#include "sm_store_server.h"


/* the columns of an intent, after the one of its place */

enum {
    SM_INTENT_COL_N = 0,
    SM_INTENT_COL_ID,
    SM_INTENT_COL_TARGET,
    SM_INTENT_COL_STATUS,
    SM_INTENT_COL_CREATED_AT,
    SM_INTENT_COL_ATTEMPT_COUNT,
    SM_INTENT_COL_NEXT_ATTEMPT_AT,
    SM_INTENT_COL_COMPLETED_AT,
    SM_INTENT_COL_REASON,
    SM_INTENT_COL_EXHAUSTED_REASON,
    SM_INTENT_COL_HASH,
    SM_INTENT_COL_NOT_BEFORE,
    SM_INTENT_COL_IN_FLIGHT,
    SM_INTENT_COL_LAST_ERROR,
    SM_INTENT_COL_REPLAY_OF,
    SM_INTENT_COL_STRIPPED,
    SM_INTENT_COL_TRACEPARENT,
    SM_INTENT_COL_COUNT
};

_Static_assert(SM_INTENT_COL_COUNT == (int) SM_PROC_COLS_INTENTS_GET
               && SM_INTENT_COL_COUNT == (int) SM_PROC_COLS_INTENTS_SUBMIT
               && SM_INTENT_COL_COUNT == (int) SM_PROC_COLS_INTENTS_LIST,
               "each column of an intent");


/* the columns of an attempt in intent_history, after those of its intent */

enum {
    SM_HISTORY_COL_NUMBER = SM_INTENT_COL_COUNT,
    SM_HISTORY_COL_STARTED_AT,
    SM_HISTORY_COL_FINISHED_AT,
    SM_HISTORY_COL_OUTCOME,
    SM_HISTORY_COL_REASON,
    SM_HISTORY_COL_ERROR,
    SM_HISTORY_COL_HTTP_STATUS,
    SM_HISTORY_COL_ANSWER,
    SM_HISTORY_COL_SPAN_ID,
    SM_HISTORY_COL_EPOCH,
    SM_HISTORY_COL_COUNT
};

_Static_assert(SM_HISTORY_COL_COUNT == (int) SM_PROC_COLS_INTENT_HISTORY,
               "each column of intent_history");


static int
sm_server_intent(sm_server_t *sv, sm_call_t *call, sm_intent_t *intent,
    sm_str_t *hash)
{
    sm_str_t  status, reason;

    memset(intent, 0, sizeof(sm_intent_t));

    if (sm_server_text(sv, call, SM_INTENT_COL_ID, &intent->id) != 0
        || sm_server_text(sv, call, SM_INTENT_COL_TARGET, &intent->target) != 0
        || sm_server_text(sv, call, SM_INTENT_COL_STATUS, &status) != 0
        || sm_server_text(sv, call, SM_INTENT_COL_REASON, &reason) != 0
        || sm_server_text(sv, call, SM_INTENT_COL_EXHAUSTED_REASON,
                        &intent->exhausted_reason)
           != 0
        || sm_server_text(sv, call, SM_INTENT_COL_HASH, hash) != 0
        || sm_server_text(sv, call, SM_INTENT_COL_LAST_ERROR,
                          &intent->last_error)
           != 0
        || sm_server_text(sv, call, SM_INTENT_COL_REPLAY_OF,
                          &intent->replay_of)
           != 0
        || sm_server_text(sv, call, SM_INTENT_COL_TRACEPARENT,
                          &intent->traceparent)
           != 0)
    {
        return -1;
    }

    intent->status = sm_status_by_name(status);
    intent->created_at = sm_server_int(sv, SM_INTENT_COL_CREATED_AT);
    intent->attempt_count = sm_server_int(sv, SM_INTENT_COL_ATTEMPT_COUNT);
    intent->next_attempt_at = sm_server_int(sv, SM_INTENT_COL_NEXT_ATTEMPT_AT);
    intent->completed_at = sm_server_int(sv, SM_INTENT_COL_COMPLETED_AT);
    intent->not_before = sm_server_int(sv, SM_INTENT_COL_NOT_BEFORE);
    intent->in_flight = sm_server_int(sv, SM_INTENT_COL_IN_FLIGHT) != 0;
    intent->stripped = sm_server_int(sv, SM_INTENT_COL_STRIPPED) != 0;

    if (intent->status == SM_STATUS_REJECTED) {
        intent->rejected_reason = reason;
    }

    return 0;
}


/*
 * What is not in the answer was created; the first row has the time.  One
 * without an id was refused, for its time or for its id, or is gone since it was
 * found.
 */

static int
sm_server_submitted(sm_server_t *sv, sm_call_t *call, sm_submit_row_t *rows,
    size_t n)
{
    int               rc;
    size_t            i;
    int64_t           key;
    sm_str_t          hash, reserved = sm_str("reserved_id");
    sm_submit_row_t  *row;

    rc = sm_server_fetch(sv, call);

    if (rc == 0) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: submission_intents_submit gives no time",
                            sv->driver->name);
    }

    if (rc < 0) {
        return -1;
    }

    call->now = sm_server_int(sv, SM_INTENT_COL_CREATED_AT);

    for (i = 0; i < n; i++) {
        sm_submit_created(&rows[i], call->now);
    }

    while (sm_server_fetch(sv, call) == 1) {

        key = sm_server_int(sv, SM_INTENT_COL_N);

        if (key < 0 || key >= (int64_t) n) {
            return sm_call_fail(call, SM_STORE_SCHEMA, 0, "%s: "
                                "submission_intents_submit gives a row that "
                                "was not sent", sv->driver->name);
        }

        row = &rows[key];

        if (sm_server_intent(sv, call, &row->intent, &hash) != 0) {
            return -1;
        }

        if (row->intent.id.data == NULL && sm_submit_too_far(row, call->now)) {
            row->outcome = SM_SUBMIT_TOO_FAR;
            continue;
        }

        if (row->intent.id.data == NULL
            && sm_str_eq(row->intent.exhausted_reason, reserved))
        {
            row->outcome = SM_SUBMIT_RESERVED;
            continue;
        }

        if (row->intent.id.data == NULL) {
            return sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                                "%s: an intent that was there is gone",
                                sv->driver->name);
        }

        sm_submit_found(row, hash);
    }

    return 0;
}


int
sm_server_intents_submit(sm_conn_t *conn, sm_call_t *call,
    sm_submit_row_t *rows, size_t n)
{
    size_t      i;
    sm_str_t    doc, bytes;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].outcome = SM_SUBMIT_FAILED;
        memset(&rows[i].intent, 0, sizeof(sm_intent_t));
    }

    if (n == 0) {
        return 0;
    }

    if (sm_server_submit_doc(&call->arena, rows, n, &doc, &bytes) != 0) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_INTENTS_SUBMIT);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, doc);
    sm_server_put_bytes(sv, bytes);
    sm_server_put_int(sv, SM_SCHEMA_VERSION);
    sm_server_put_int(sv, n);

    if (sm_server_exec(sv, call) == 0) {
        (void) sm_server_submitted(sv, call, rows, n);
    }

    return sm_server_end(sv, call);
}


int
sm_server_intents_get(sm_conn_t *conn, sm_call_t *call, sm_get_row_t *rows,
    size_t n)
{
    size_t      i;
    int64_t     key;
    sm_str_t    doc;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].found = 0;
    }

    if (sm_batch_ids_doc(&call->arena, rows, n, &doc) != 0) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_INTENTS_GET);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, doc);
    sm_server_put_int(sv, SM_SCHEMA_VERSION);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {

            key = sm_server_int(sv, SM_INTENT_COL_N);

            if (key < 0 || key >= (int64_t) n) {
                (void) sm_call_fail(call, SM_STORE_SCHEMA, 0, "%s: "
                                    "submission_intents_get gives a row that "
                                    "was not asked for", sv->driver->name);
                break;
            }

            if (sm_server_intent(sv, call, &rows[key].intent, &rows[key].hash)
                != 0)
            {
                break;
            }

            rows[key].found = 1;
        }
    }

    return sm_server_end(sv, call);
}


int
sm_server_intents_length(sm_conn_t *conn, sm_call_t *call, sm_get_row_t *rows,
    size_t n)
{
    size_t        i;
    int64_t       key;
    sm_str_t      doc;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].length = 0;
    }

    if (sm_batch_ids_doc(&call->arena, rows, n, &doc) != 0) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_INTENTS_LENGTH);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, doc);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {

            key = sm_server_int(sv, 0);

            if (key >= 0 && key < (int64_t) n) {
                rows[key].length = sm_server_int(sv, 1);
            }
        }
    }

    return sm_server_end(sv, call);
}


static int
sm_server_attempt(sm_server_t *sv, sm_call_t *call, sm_attempt_t *a)
{
    a->number = sm_server_int(sv, SM_HISTORY_COL_NUMBER);
    a->started_at = sm_server_int(sv, SM_HISTORY_COL_STARTED_AT);
    a->finished_at = sm_server_int(sv, SM_HISTORY_COL_FINISHED_AT);
    a->http_status = sm_server_int(sv, SM_HISTORY_COL_HTTP_STATUS);
    a->epoch = sm_server_int(sv, SM_HISTORY_COL_EPOCH);

    if (sm_server_text(sv, call, SM_HISTORY_COL_OUTCOME, &a->outcome_status)
        != 0
        || sm_server_text(sv, call, SM_HISTORY_COL_REASON, &a->outcome_reason)
           != 0
        || sm_server_text(sv, call, SM_HISTORY_COL_ERROR, &a->error) != 0
        || sm_server_text(sv, call, SM_HISTORY_COL_ANSWER, &a->answer) != 0
        || sm_server_text(sv, call, SM_HISTORY_COL_SPAN_ID, &a->span_id) != 0)
    {
        return -1;
    }

    return 0;
}


/* a row for each attempt, with its intent; one without, if there is none */

static int
sm_server_attempts(sm_server_t *sv, sm_call_t *call, sm_history_row_t *row)
{
    sm_str_t  hash;

    while (sm_server_fetch(sv, call) == 1) {

        if (!row->found) {
            row->found = 1;

            if (sm_server_intent(sv, call, &row->intent, &hash) != 0) {
                return -1;
            }

            row->attempts = sm_arena_calloc(&call->arena, row->limit,
                                            sizeof(sm_attempt_t));
            if (row->attempts == NULL) {
                return sm_server_no_memory(call);
            }
        }

        if (sm_server_is_null(sv, SM_HISTORY_COL_NUMBER)) {
            continue;
        }

        if (row->n == row->limit) {
            row->more = 1;
            continue;
        }

        if (sm_server_attempt(sv, call, &row->attempts[row->n++]) != 0) {
            return -1;
        }
    }

    return 0;
}


int
sm_server_intent_history(sm_conn_t *conn, sm_call_t *call,
    sm_history_row_t *row)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    row->found = 0;
    row->n = 0;
    row->more = 0;

    sm_server_start(sv, SM_PROC_INTENT_HISTORY);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, row->id);
    sm_server_put_int(sv, row->limit + 1);

    if (row->before) {
        sm_server_put_int(sv, row->before);

    } else {
        sm_server_put_no_int(sv);
    }

    sm_server_put_int(sv, SM_SCHEMA_VERSION);

    if (sm_server_exec(sv, call) == 0) {
        (void) sm_server_attempts(sv, call, row);
    }

    return sm_server_end(sv, call);
}


int
sm_server_intents_list(sm_conn_t *conn, sm_call_t *call, sm_list_row_t *row)
{
    sm_str_t    hash;
    sm_server_t  *sv = (sm_server_t *) conn;

    row->n = 0;
    row->more = 0;

    row->intents = sm_arena_calloc(&call->arena, row->limit,
                                   sizeof(sm_intent_t));
    if (row->intents == NULL) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_INTENTS_LIST);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, sm_status_name(row->status));
    sm_server_put_text(sv, row->target);
    sm_server_put_int(sv, row->limit + 1);

    if (row->after_id.data) {
        sm_server_put_int(sv, row->after_at);

    } else {
        sm_server_put_no_int(sv);
    }

    sm_server_put_text(sv, row->after_id);
    sm_server_put_int(sv, SM_SCHEMA_VERSION);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {

            if (row->n == row->limit) {
                row->more = 1;
                continue;
            }

            if (sm_server_intent(sv, call, &row->intents[row->n], &hash) != 0) {
                break;
            }

            row->n++;
        }
    }

    return sm_server_end(sv, call);
}
