
/*
 * The leader's statistics on a database server, and the backlog for when there
 * is no leader.
 */

#include "sm_store_server.h"


int
sm_server_stats_put(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_str_t doc)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    sm_sql_start(sql, SM_PROC_STATS_PUT);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_bytes(sql, doc);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {
            call->now = sm_sql_int(sql, 0);
        }
    }

    return sm_sql_fenced(sql, call, fence);
}
