
/*
 * Reads intents, on any store.
 */

#include "sm_store_sql.h"


int
sm_sql_intent(sm_sql_t *sql, sm_call_t *call, sm_intent_t *intent)
{
    if (sm_row_read(sql, call, sm_intent_fields, intent) != 0) {
        return -1;
    }

    sm_intent_loaded(intent);

    return 0;
}


/* Asks for intents by their ids, and reads a row for each that exists. */

static int
sm_sql_by_ids(sm_sql_t *sql, sm_call_t *call, unsigned proc,
    sm_get_row_t *rows, size_t n,
    int (*read)(sm_sql_t *sql, sm_call_t *call, sm_get_row_t *row))
{
    int64_t   key;
    sm_str_t  doc;

    if (sm_batch_ids_doc(&call->arena, rows, n, &doc) != 0) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, proc);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, doc);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {

            key = sm_sql_int(sql, 0);

            if (key < 0 || key >= (int64_t) n) {
                (void) sm_call_fail(call, SM_STORE_SCHEMA, 0, "%s: "
                                    "submission_%s gives a row that was not "
                                    "asked for", sql->driver->name,
                                    sm_procs[proc].name);
                break;
            }

            if (read(sql, call, &rows[key]) != 0) {
                break;
            }
        }
    }

    return sm_sql_end(sql, call);
}


static int
sm_sql_get_row(sm_sql_t *sql, sm_call_t *call, sm_get_row_t *row)
{
    if (sm_sql_intent(sql, call, &row->intent) != 0) {
        return -1;
    }

    row->found = 1;

    return 0;
}


int
sm_sql_intents_get(sm_conn_t *conn, sm_call_t *call, sm_get_row_t *rows,
    size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        rows[i].found = 0;
    }

    return sm_sql_by_ids((sm_sql_t *) conn, call, SM_PROC_INTENTS_GET, rows, n,
                         sm_sql_get_row);
}


static int
sm_sql_length_row(sm_sql_t *sql, sm_call_t *call, sm_get_row_t *row)
{
    (void) call;

    row->length = sm_sql_int(sql, 1);

    return 0;
}


int
sm_sql_intents_length(sm_conn_t *conn, sm_call_t *call, sm_get_row_t *rows,
    size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        rows[i].length = 0;
    }

    return sm_sql_by_ids((sm_sql_t *) conn, call, SM_PROC_INTENTS_LENGTH, rows,
                         n, sm_sql_length_row);
}


/*
 * Reads a row for each attempt, with its intent.  An intent without attempts
 * has one row.
 */

static int
sm_sql_attempts(sm_sql_t *sql, sm_call_t *call, sm_history_row_t *row)
{
    while (sm_sql_fetch(sql, call) == 1) {

        if (!row->found) {
            row->found = 1;

            if (sm_sql_intent(sql, call, &row->intent) != 0) {
                return -1;
            }

            row->attempts = sm_arena_calloc(&call->arena, row->limit,
                                            sizeof(sm_attempt_t));
            if (row->attempts == NULL) {
                return sm_sql_no_memory(call);
            }
        }

        if (!sm_row_has(sql, sm_attempt_fields)) {
            continue;
        }

        if (row->n == row->limit) {
            row->more = 1;
            continue;
        }

        if (sm_row_read(sql, call, sm_attempt_fields,
                        &row->attempts[row->n++])
            != 0)
        {
            return -1;
        }
    }

    return 0;
}


int
sm_sql_intent_history(sm_conn_t *conn, sm_call_t *call,
    sm_history_row_t *row)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    row->found = 0;
    row->n = 0;
    row->more = 0;

    sm_sql_start(sql, SM_PROC_INTENT_HISTORY);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, row->id);
    sm_sql_put_int(sql, row->limit + 1);

    if (row->before) {
        sm_sql_put_int(sql, row->before);

    } else {
        sm_sql_put_no_int(sql);
    }

    if (sm_sql_exec(sql, call) == 0) {
        (void) sm_sql_attempts(sql, call, row);
    }

    return sm_sql_end(sql, call);
}


int
sm_sql_intents_list(sm_conn_t *conn, sm_call_t *call, sm_list_row_t *row)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    row->n = 0;
    row->more = 0;

    row->intents = sm_arena_calloc(&call->arena, row->limit,
                                   sizeof(sm_intent_t));
    if (row->intents == NULL) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_INTENTS_LIST);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, sm_status_name(row->status));
    sm_sql_put_text(sql, row->target);
    sm_sql_put_int(sql, row->limit + 1);

    if (row->after_id.data) {
        sm_sql_put_int(sql, row->after_at);

    } else {
        sm_sql_put_no_int(sql);
    }

    sm_sql_put_text(sql, row->after_id);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {

            if (row->n == row->limit) {
                row->more = 1;
                continue;
            }

            if (sm_sql_intent(sql, call, &row->intents[row->n]) != 0) {
                break;
            }

            row->n++;
        }
    }

    return sm_sql_end(sql, call);
}


int
sm_sql_intent_payload(sm_conn_t *conn, sm_call_t *call,
    sm_payload_row_t *rows, size_t n)
{
    size_t     i;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].found = 0;

        sm_sql_start(sql, SM_PROC_INTENT_PAYLOAD);
        sm_sql_put_text(sql, sql->conf->lease_name);
        sm_sql_put_text(sql, rows[i].id);
        sm_sql_put_int(sql, rows[i].bare);

        if (sm_sql_exec(sql, call) == 0) {
            while (sm_sql_fetch(sql, call) == 1) {
                if (sm_row_read(sql, call, sm_payload_fields, &rows[i]) != 0) {
                    break;
                }

                rows[i].found = 1;
            }
        }

        if (sm_sql_end(sql, call) != 0) {
            return -1;
        }
    }

    return 0;
}
