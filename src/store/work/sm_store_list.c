
/* Reads intents by several statements on one connection. */

#include "sm_search.h"
#include "sm_store_ops.h"


int
sm_store_intent_history(sm_store_t *store, sm_call_t *call,
    sm_history_row_t *rows, size_t n)
{
    size_t      i;
    sm_conn_t  *conn;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        rows[i].events.id = rows[i].id;
        rows[i].events.n = 0;

        if (store->ops->intent_history(conn, call, &rows[i]) != 0) {
            break;
        }

        /* An intent has no events before its end. */

        if (rows[i].found && rows[i].intent.completed_at
            && store->ops->intent_events(conn, call, &rows[i].events) != 0)
        {
            break;
        }
    }

    return sm_store_put_conn(store, call, conn);
}


/*
 * Reads the intents of the keys that were found.  An intent may have been
 * removed, or changed its status, since then; the page is shorter by these.
 */

static int
sm_store_search(sm_store_t *store, sm_conn_t *conn, sm_call_t *call,
    sm_list_row_t *row)
{
    size_t         i, n;
    sm_key_t      *keys;
    sm_get_row_t  *rows;

    row->n = 0;
    row->more = 0;

    keys = sm_arena_calloc(&call->arena, row->limit + 1, sizeof(sm_key_t));
    rows = sm_arena_calloc(&call->arena, row->limit, sizeof(sm_get_row_t));
    row->intents = sm_arena_calloc(&call->arena, row->limit,
                                   sizeof(sm_intent_t));

    if (keys == NULL || rows == NULL || row->intents == NULL) {
        return sm_call_no_memory(call);
    }

    if (store->ops->intents_search(conn, call, row, keys, &n) != 0) {
        return -1;
    }

    if (n > row->limit) {
        n = row->limit;
        row->more = 1;
        row->next_at = keys[n - 1].at;
        row->next_id = keys[n - 1].id;
    }

    for (i = 0; i < n; i++) {
        rows[i].id = keys[i].id;
    }

    if (n && store->ops->intents_get(conn, call, rows, n) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (rows[i].found
            && (row->status == SM_STATUS_NONE
                || row->status == rows[i].intent.status))
        {
            row->intents[row->n++] = rows[i].intent;
        }
    }

    return 0;
}


static int
sm_store_list(sm_store_t *store, sm_conn_t *conn, sm_call_t *call,
    sm_list_row_t *row)
{
    if (!sm_search_plain(row)) {
        return sm_store_search(store, conn, call, row);
    }

    if (store->ops->intents_list(conn, call, row) != 0) {
        return -1;
    }

    if (row->more && row->n) {
        row->next_at = row->intents[row->n - 1].created_at;
        row->next_id = row->intents[row->n - 1].id;
    }

    return 0;
}


int
sm_store_intents_list(sm_store_t *store, sm_call_t *call, sm_list_row_t *rows,
    size_t n)
{
    size_t      i;
    sm_conn_t  *conn;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (sm_store_list(store, conn, call, &rows[i]) != 0) {
            break;
        }
    }

    return sm_store_put_conn(store, call, conn);
}
