
/*
 * Sends events to webhooks again.  The latest event of each webhook is copied,
 * unless it is still to be sent; the new id begins like that of the first
 * event.
 */

#include "sm_store.h"


static int
sm_store_resend_events(sm_store_t *store, sm_call_t *call,
    sm_resend_row_t *row)
{
    int                  rc;
    size_t               i, n;
    sm_str_t             id;
    sm_event_t          *event;
    sm_replay_insert_t  *inserts;

    inserts = sm_arena_calloc(&call->arena, row->events.n + 1,
                              sizeof(sm_replay_insert_t));
    if (inserts == NULL) {
        return sm_call_no_memory(call);
    }

    for (i = 0, n = 0; i < row->events.n; i++) {
        event = &row->events.events[i];

        if (row->webhook.data
            && !sm_str_eq(sm_webhook_name(event->target), row->webhook))
        {
            continue;
        }

        row->outcome = SM_RESEND_DONE;

        rc = sm_webhook_latest(&call->arena, &row->events, i, &id);

        if (rc == -1
            || sm_replay_detail(&call->arena, row->id, 0, &inserts[n].detail)
               != 0)
        {
            return sm_call_no_memory(call);
        }

        if (rc == 0 || event->status == SM_STATUS_PENDING) {
            continue;
        }

        inserts[n].id = event->id;
        inserts[n].new_id = id;
        inserts[n].actor = &row->actor;
        inserts[n].again = 1;
        n++;
    }

    if (n == 0) {
        return 0;
    }

    if (sm_store_replays_insert(store, call, inserts, n) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (inserts[i].outcome == SM_REPLAY_NOT_FOUND) {
            row->outcome = SM_RESEND_STRIPPED;

        } else if (inserts[i].outcome == SM_REPLAY_CREATED) {
            row->made++;
        }
    }

    return sm_store_intent_events(store, call, &row->events);
}


int
sm_store_webhooks_resend(sm_store_t *store, sm_call_t *call,
    sm_resend_row_t *rows, size_t n)
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

    if (sm_store_intents_get(store, call, stored, n) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        rows[i].outcome = SM_RESEND_NOT_FOUND;
        rows[i].events.id = rows[i].id;
        rows[i].events.n = 0;
        rows[i].made = 0;

        if (!stored[i].found) {
            continue;
        }

        rows[i].status = stored[i].intent.status;

        if (rows[i].status == SM_STATUS_PENDING) {
            rows[i].outcome = SM_RESEND_NOT_TERMINAL;
            continue;
        }

        rows[i].outcome = SM_RESEND_NONE;

        if (sm_store_intent_events(store, call, &rows[i].events) != 0
            || sm_store_resend_events(store, call, &rows[i]) != 0)
        {
            return -1;
        }
    }

    return 0;
}
