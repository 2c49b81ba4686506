
/*
 * Reads the leader's statistics, and the backlog for when there is no leader,
 * on any store.
 */

#include "sm_store_sql.h"


/* The columns of stats_get. */

enum {
    SM_STATS_COL_EPOCH = 0,
    SM_STATS_COL_AT,
    SM_STATS_COL_DOC,
    SM_STATS_COL_COUNT
};

_Static_assert(SM_STATS_COL_COUNT == (int) SM_PROC_OWN_STATS_GET,
               "each column of stats_get");


/* The columns of backlog_get. */

enum {
    SM_BACKLOG_COL_NOW = 0,
    SM_BACKLOG_COL_SEEN,
    SM_BACKLOG_COL_TARGET,
    SM_BACKLOG_COL_DUE,
    SM_BACKLOG_COL_WAITING,
    SM_BACKLOG_COL_OLDEST,
    SM_BACKLOG_COL_COUNT
};

_Static_assert(SM_BACKLOG_COL_COUNT == (int) SM_PROC_OWN_BACKLOG_GET,
               "each column of backlog_get");


int
sm_sql_stats_get(sm_conn_t *conn, sm_call_t *call, sm_stats_row_t *row)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    row->at = 0;
    row->epoch = 0;
    memset(&row->doc, 0, sizeof(sm_str_t));

    sm_sql_start(sql, SM_PROC_STATS_GET);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_int(sql, row->seen);

    (void) sm_sql_exec(sql, call);

    while (sm_sql_fetch(sql, call) == 1) {
        row->epoch = sm_sql_int(sql, SM_STATS_COL_EPOCH);
        row->at = sm_sql_int(sql, SM_STATS_COL_AT);

        if (!sm_sql_is_null(sql, SM_STATS_COL_DOC)
            && sm_sql_bytes(sql, call, SM_STATS_COL_DOC, &row->doc) != 0)
        {
            break;
        }
    }

    return sm_sql_end(sql, call);
}


int
sm_sql_backlog_get(sm_conn_t *conn, sm_call_t *call, sm_backlog_t *backlog)
{
    sm_sql_t             *sql = (sm_sql_t *) conn;
    sm_backlog_target_t  *t;

    memset(backlog, 0, sizeof(sm_backlog_t));

    backlog->targets = sm_arena_calloc(&call->arena, SM_BACKLOG_GROUPS,
                                       sizeof(sm_backlog_target_t));
    if (backlog->targets == NULL) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_BACKLOG_GET);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_int(sql, SM_BACKLOG_BOUND);
    sm_sql_put_int(sql, SM_BACKLOG_GROUPS);

    (void) sm_sql_exec(sql, call);

    while (sm_sql_fetch(sql, call) == 1) {
        backlog->now = sm_sql_int(sql, SM_BACKLOG_COL_NOW);

        if (sm_sql_int(sql, SM_BACKLOG_COL_SEEN) > SM_BACKLOG_BOUND) {
            backlog->partial = 1;
        }

        if (sm_sql_is_null(sql, SM_BACKLOG_COL_TARGET)
            || backlog->n == SM_BACKLOG_GROUPS)
        {
            continue;
        }

        t = &backlog->targets[backlog->n];

        if (sm_sql_text(sql, call, SM_BACKLOG_COL_TARGET, &t->target) != 0) {
            break;
        }

        t->due = sm_sql_int(sql, SM_BACKLOG_COL_DUE);
        t->waiting = sm_sql_int(sql, SM_BACKLOG_COL_WAITING);
        t->oldest_due_at = t->due ? sm_sql_int(sql, SM_BACKLOG_COL_OLDEST)
                                  : 0;
        backlog->n++;
    }

    return sm_sql_end(sql, call);
}
