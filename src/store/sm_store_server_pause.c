
/*
 * Pauses of targets on a database server.
 */

#include "sm_store_server.h"


/* the columns of target_set */

enum {
    SM_TARGET_COL_OUTCOME = 0,
    SM_TARGET_COL_STATE,
    SM_TARGET_COL_SINCE,
    SM_TARGET_COL_REASON,
    SM_TARGET_COL_ACTOR,
    SM_TARGET_COL_COUNT
};

_Static_assert(SM_TARGET_COL_COUNT == (int) SM_PROC_COLS_TARGET_SET,
               "each column of target_set");


/* the columns of targets_paused */

enum {
    SM_PAUSED_COL_NOW = 0,
    SM_PAUSED_COL_TARGET,
    SM_PAUSED_COL_SINCE,
    SM_PAUSED_COL_REASON,
    SM_PAUSED_COL_ACTOR,
    SM_PAUSED_COL_COUNT
};

_Static_assert(SM_PAUSED_COL_COUNT == (int) SM_PROC_COLS_TARGETS_PAUSED,
               "each column of targets_paused");


static int
sm_server_target_row(sm_server_t *sv, sm_call_t *call, sm_target_set_t *row)
{
    sm_str_t  state, paused = sm_str("paused");

    row->outcome = sm_server_int(sv, SM_TARGET_COL_OUTCOME);
    row->is.since = sm_server_int(sv, SM_TARGET_COL_SINCE);

    if (sm_server_text(sv, call, SM_TARGET_COL_STATE, &state) != 0
        || sm_server_text(sv, call, SM_TARGET_COL_REASON, &row->is.reason) != 0
        || sm_server_text(sv, call, SM_TARGET_COL_ACTOR, &row->is.actor) != 0)
    {
        return -1;
    }

    row->paused = sm_str_eq(state, paused);

    return 0;
}


static int
sm_server_target(sm_server_t *sv, sm_call_t *call, sm_target_set_t *row)
{
    sm_str_t  detail;

    row->outcome = SM_TARGET_SET_UNKNOWN;

    if (sm_pause_detail(&call->arena, row->reason, &detail) != 0) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_TARGET_SET);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, row->target);
    sm_server_put_text(sv, sm_str_c(row->pause ? "paused" : "open"));
    sm_server_put_text(sv, row->reason);
    sm_server_put_text(sv, row->actor.name);
    sm_server_put_text(sv, row->actor.address);
    sm_server_put_text(sv, detail);
    sm_server_put_int(sv, row->known);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {
            if (sm_server_target_row(sv, call, row) != 0) {
                break;
            }
        }
    }

    return sm_server_end(sv, call);
}


int
sm_server_target_set(sm_conn_t *conn, sm_call_t *call, sm_target_set_t *rows,
    size_t n)
{
    size_t        i;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        if (sm_server_target(sv, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}


static int
sm_server_paused_row(sm_server_t *sv, sm_call_t *call, sm_pauses_t *pauses)
{
    sm_pause_t  *row;

    row = sm_pauses_add(&call->arena, pauses);
    if (row == NULL) {
        return sm_server_no_memory(call);
    }

    row->since = sm_server_int(sv, SM_PAUSED_COL_SINCE);

    if (sm_server_text(sv, call, SM_PAUSED_COL_TARGET, &row->target) != 0
        || sm_server_text(sv, call, SM_PAUSED_COL_REASON, &row->reason) != 0
        || sm_server_text(sv, call, SM_PAUSED_COL_ACTOR, &row->actor) != 0)
    {
        return -1;
    }

    return 0;
}


int
sm_server_targets_paused(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_pauses_t *pauses)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    memset(pauses, 0, sizeof(sm_pauses_t));

    sm_server_start(sv, SM_PROC_TARGETS_PAUSED);
    sm_server_put_fence(sv, fence);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1) {
            if (sm_server_paused_row(sv, call, pauses) != 0) {
                break;
            }
        }
    }

    return sm_server_fenced(sv, call, fence);
}
