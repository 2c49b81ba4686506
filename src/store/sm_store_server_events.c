
/*
 * The events of an intent, on a database server.
 */

#include "sm_store_server.h"


/* the columns of intent_events */

enum {
    SM_EVENT_COL_ID = 0,
    SM_EVENT_COL_TARGET,
    SM_EVENT_COL_STATUS,
    SM_EVENT_COL_CREATED_AT,
    SM_EVENT_COL_ATTEMPT_COUNT,
    SM_EVENT_COL_NEXT_ATTEMPT_AT,
    SM_EVENT_COL_COMPLETED_AT,
    SM_EVENT_COL_LAST_ERROR,
    SM_EVENT_COL_COUNT
};

_Static_assert(SM_EVENT_COL_COUNT == (int) SM_PROC_COLS_INTENT_EVENTS,
               "each column of intent_events");


static int
sm_server_event(sm_server_t *sv, sm_call_t *call, sm_event_t *event)
{
    sm_str_t  status;

    if (sm_server_text(sv, call, SM_EVENT_COL_ID, &event->id) != 0
        || sm_server_text(sv, call, SM_EVENT_COL_TARGET, &event->target) != 0
        || sm_server_text(sv, call, SM_EVENT_COL_STATUS, &status) != 0
        || sm_server_text(sv, call, SM_EVENT_COL_LAST_ERROR,
                          &event->last_error)
           != 0)
    {
        return -1;
    }

    event->status = sm_status_by_name(status);
    event->created_at = sm_server_int(sv, SM_EVENT_COL_CREATED_AT);
    event->attempt_count = sm_server_int(sv, SM_EVENT_COL_ATTEMPT_COUNT);
    event->next_attempt_at = sm_server_int(sv, SM_EVENT_COL_NEXT_ATTEMPT_AT);
    event->completed_at = sm_server_int(sv, SM_EVENT_COL_COMPLETED_AT);

    return 0;
}


int
sm_server_intent_events(sm_conn_t *conn, sm_call_t *call,
    sm_events_row_t *row)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    row->n = 0;

    row->events = sm_arena_calloc(&call->arena, SM_EVENTS_MAX,
                                  sizeof(sm_event_t));
    if (row->events == NULL) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_INTENT_EVENTS);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, row->id);
    sm_server_put_int(sv, SM_EVENTS_MAX);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1 && row->n < SM_EVENTS_MAX) {
            if (sm_server_event(sv, call, &row->events[row->n++]) != 0) {
                break;
            }
        }
    }

    return sm_server_end(sv, call);
}
