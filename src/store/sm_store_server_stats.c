
/*
 * The leader's numbers on a database server, and the backlog where there is no
 * leader.
 */

#include "sm_store_server.h"


/* the columns of stats_get */

enum {
    SM_STATS_COL_EPOCH = 0,
    SM_STATS_COL_AT,
    SM_STATS_COL_DOC,
    SM_STATS_COL_COUNT
};

_Static_assert(SM_STATS_COL_COUNT == (int) SM_PROC_COLS_STATS_GET,
               "each column of stats_get");


/* the columns of backlog_get */

enum {
    SM_BACKLOG_COL_NOW = 0,
    SM_BACKLOG_COL_SEEN,
    SM_BACKLOG_COL_TARGET,
    SM_BACKLOG_COL_DUE,
    SM_BACKLOG_COL_WAITING,
    SM_BACKLOG_COL_OLDEST,
    SM_BACKLOG_COL_COUNT
};

_Static_assert(SM_BACKLOG_COL_COUNT == (int) SM_PROC_COLS_BACKLOG_GET,
               "each column of backlog_get");


int
sm_server_stats_put(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_str_t doc)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    sm_server_start(sv, SM_PROC_STATS_PUT);
    sm_server_put_fence(sv, fence);
    sm_server_put_bytes(sv, doc);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {
            call->now = sm_server_int(sv, 0);
        }
    }

    return sm_server_fenced(sv, call, fence);
}


int
sm_server_stats_get(sm_conn_t *conn, sm_call_t *call, sm_stats_row_t *row)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    row->at = 0;
    row->epoch = 0;
    memset(&row->doc, 0, sizeof(sm_str_t));

    sm_server_start(sv, SM_PROC_STATS_GET);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_int(sv, row->seen);

    (void) sm_server_exec(sv, call);

    while (sm_server_fetch(sv, call) == 1) {
        row->epoch = sm_server_int(sv, SM_STATS_COL_EPOCH);
        row->at = sm_server_int(sv, SM_STATS_COL_AT);

        if (!sm_server_is_null(sv, SM_STATS_COL_DOC)
            && sm_server_bytes(sv, call, SM_STATS_COL_DOC, &row->doc) != 0)
        {
            break;
        }
    }

    return sm_server_end(sv, call);
}


int
sm_server_backlog_get(sm_conn_t *conn, sm_call_t *call, sm_backlog_t *backlog)
{
    sm_server_t          *sv = (sm_server_t *) conn;
    sm_backlog_target_t  *t;

    memset(backlog, 0, sizeof(sm_backlog_t));

    backlog->targets = sm_arena_calloc(&call->arena, SM_BACKLOG_GROUPS,
                                       sizeof(sm_backlog_target_t));
    if (backlog->targets == NULL) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_BACKLOG_GET);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_int(sv, SM_BACKLOG_BOUND);
    sm_server_put_int(sv, SM_BACKLOG_GROUPS);

    (void) sm_server_exec(sv, call);

    while (sm_server_fetch(sv, call) == 1) {
        backlog->now = sm_server_int(sv, SM_BACKLOG_COL_NOW);

        if (sm_server_int(sv, SM_BACKLOG_COL_SEEN) > SM_BACKLOG_BOUND) {
            backlog->partial = 1;
        }

        if (sm_server_is_null(sv, SM_BACKLOG_COL_TARGET)
            || backlog->n == SM_BACKLOG_GROUPS)
        {
            continue;
        }

        t = &backlog->targets[backlog->n];

        if (sm_server_text(sv, call, SM_BACKLOG_COL_TARGET, &t->target) != 0) {
            break;
        }

        t->due = sm_server_int(sv, SM_BACKLOG_COL_DUE);
        t->waiting = sm_server_int(sv, SM_BACKLOG_COL_WAITING);
        t->oldest_due_at = t->due ? sm_server_int(sv, SM_BACKLOG_COL_OLDEST)
                                  : 0;
        backlog->n++;
    }

    return sm_server_end(sv, call);
}
