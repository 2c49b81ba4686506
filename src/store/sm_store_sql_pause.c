
/*
 * Reads which targets are paused, on any store.
 */

#include "sm_store_sql.h"


static int
sm_sql_paused_row(sm_sql_t *sql, sm_call_t *call, sm_pauses_t *pauses)
{
    sm_pause_t  *row;

    row = sm_pauses_add(&call->arena, pauses);
    if (row == NULL) {
        return sm_sql_no_memory(call);
    }

    return sm_row_read(sql, call, sm_pause_fields, row);
}


int
sm_sql_targets_paused(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_pauses_t *pauses)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    memset(pauses, 0, sizeof(sm_pauses_t));

    sm_sql_start(sql, SM_PROC_TARGETS_PAUSED);
    sm_sql_put_fence(sql, fence);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fenced_fetch(sql, call) == 1) {
            if (sm_sql_paused_row(sql, call, pauses) != 0) {
                break;
            }
        }
    }

    return sm_sql_fenced(sql, call, fence);
}
