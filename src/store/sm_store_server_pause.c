
/*
 * Pauses of targets on a database server.
 */

#include "sm_store_server.h"


/* The columns that target_set has besides those of its entities. */

enum {
    SM_TARGET_COL_OUTCOME = 0,
    SM_TARGET_COL_STATE,
    SM_TARGET_COL_COUNT
};

_Static_assert(SM_TARGET_COL_COUNT == (int) SM_PROC_OWN_TARGET_SET,
               "each column of target_set");


static int
sm_server_target_row(sm_sql_t *sql, sm_call_t *call, sm_target_set_t *row)
{
    sm_str_t  state, paused = sm_str("paused");

    if (sm_sql_peek(sql, call, SM_TARGET_COL_STATE, &state) != 0) {
        return -1;
    }

    row->outcome = sm_sql_int(sql, SM_TARGET_COL_OUTCOME);
    row->paused = sm_str_eq(state, paused);

    return sm_row_read(sql, call, sm_pause_fields, &row->is);
}


static int
sm_server_target(sm_sql_t *sql, sm_call_t *call, sm_target_set_t *row)
{
    sm_str_t  detail;

    row->outcome = SM_TARGET_SET_UNKNOWN;

    if (sm_pause_detail(&call->arena, row->reason, &detail) != 0) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_TARGET_SET);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, row->target);
    sm_sql_put_text(sql, sm_str_c(row->pause ? "paused" : "open"));
    sm_sql_put_text(sql, row->reason);
    sm_sql_put_text(sql, row->actor.name);
    sm_sql_put_text(sql, row->actor.address);
    sm_sql_put_text(sql, detail);
    sm_sql_put_int(sql, row->known);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {
            if (sm_server_target_row(sql, call, row) != 0) {
                break;
            }
        }
    }

    return sm_sql_end(sql, call);
}


int
sm_server_target_set(sm_conn_t *conn, sm_call_t *call, sm_target_set_t *rows,
    size_t n)
{
    size_t     i;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < n; i++) {
        if (sm_server_target(sql, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}
