
/* Reads the events of an intent, and those of a webhook, on any store. */

#include "sm_store_sql.h"


int
sm_sql_intent_events(sm_conn_t *conn, sm_call_t *call,
    sm_events_row_t *row)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    row->n = 0;

    row->events = sm_arena_calloc(&call->arena, SM_EVENTS_MAX,
                                  sizeof(sm_event_t));
    if (row->events == NULL) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_INTENT_EVENTS);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, row->id);
    sm_sql_put_int(sql, SM_EVENTS_MAX);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1 && row->n < SM_EVENTS_MAX) {
            if (sm_row_read(sql, call, sm_event_fields,
                            &row->events[row->n++])
                != 0)
            {
                break;
            }
        }
    }

    return sm_sql_end(sql, call);
}


static int
sm_sql_webhook_page(sm_sql_t *sql, sm_call_t *call, sm_messages_row_t *row)
{
    row->n = 0;
    row->more = 0;

    row->events = sm_arena_calloc(&call->arena, row->limit,
                                  sizeof(sm_event_t));
    if (row->events == NULL) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_WEBHOOK_MESSAGES);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, row->target);
    sm_sql_put_text(sql, sm_status_name(row->status));

    if (row->after_id.data) {
        sm_sql_put_int(sql, row->after_at);

    } else {
        sm_sql_put_no_int(sql);
    }

    sm_sql_put_text(sql, row->after_id);
    sm_sql_put_int(sql, row->limit + 1);

    return sm_row_page(sql, call, sm_event_fields, row->events,
                       sizeof(sm_event_t), row->limit, &row->n, &row->more);
}


int
sm_sql_webhook_messages(sm_conn_t *conn, sm_call_t *call,
    sm_messages_row_t *rows, size_t n)
{
    size_t     i;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < n; i++) {
        if (sm_sql_webhook_page(sql, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}
