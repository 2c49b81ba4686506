
/*
 * The intents on a database server.
 */

#include "sm_store_server.h"


/*
 * Reads the outcomes of a batch.  The first row of the answer has the time.  A
 * row that is not in the answer was created.  A row without an intent's id was
 * refused for its time or its id, or its intent was removed meanwhile.
 */

static int
sm_server_submitted(sm_sql_t *sql, sm_call_t *call, sm_submit_row_t *rows,
    size_t n)
{
    int               rc;
    size_t            i;
    int64_t           key;
    sm_str_t          reserved = sm_str("reserved_id");
    sm_intent_t       time;
    sm_submit_row_t  *row;

    rc = sm_sql_fetch(sql, call);

    if (rc == 0) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: submission_intents_submit gives no time",
                            sql->driver->name);
    }

    if (rc < 0) {
        return -1;
    }

    memset(&time, 0, sizeof(sm_intent_t));

    if (sm_row_read(sql, call, sm_intent_fields, &time) != 0) {
        return -1;
    }

    call->now = time.created_at;

    for (i = 0; i < n; i++) {
        sm_submit_created(&rows[i], call->now);
    }

    while (sm_sql_fetch(sql, call) == 1) {

        key = sm_sql_int(sql, 0);

        if (key < 0 || key >= (int64_t) n) {
            return sm_call_fail(call, SM_STORE_SCHEMA, 0, "%s: "
                                "submission_intents_submit gives a row that "
                                "was not sent", sql->driver->name);
        }

        row = &rows[key];

        if (sm_sql_intent(sql, call, &row->intent) != 0) {
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
                                sql->driver->name);
        }

        sm_submit_found(row);
    }

    return 0;
}


int
sm_server_intents_submit(sm_conn_t *conn, sm_call_t *call,
    sm_submit_row_t *rows, size_t n)
{
    size_t     i;
    sm_str_t   doc, bytes;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].outcome = SM_SUBMIT_FAILED;
        memset(&rows[i].intent, 0, sizeof(sm_intent_t));
    }

    if (n == 0) {
        return 0;
    }

    if (sm_server_submit_doc(&call->arena, rows, n, &doc, &bytes) != 0) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_INTENTS_SUBMIT);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, doc);
    sm_sql_put_bytes(sql, bytes);
    sm_sql_put_int(sql, n);

    if (sm_sql_exec(sql, call) == 0) {
        (void) sm_server_submitted(sql, call, rows, n);
    }

    return sm_sql_end(sql, call);
}
