
/*
 * Retention on a database server.
 */

#include "sm_store_server.h"


/* The columns of retention. */

enum {
    SM_RETENTION_COL_STRIPPED = 1,
    SM_RETENTION_COL_FORGOTTEN,
    SM_RETENTION_COL_OTHERS,
    SM_RETENTION_COL_ROWS,
    SM_RETENTION_COL_OVERDUE,
    SM_RETENTION_COL_END,
    SM_RETENTION_COL_DONE,
    SM_RETENTION_COL_PLACE,
    SM_RETENTION_COL_COUNT
};

_Static_assert(SM_RETENTION_COL_COUNT == (int) SM_PROC_OWN_RETENTION,
               "each column of retention");


int
sm_server_retention(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_retention_t *rt)
{
    sm_str_t   doc, none = sm_str("");
    sm_sql_t  *sql = (sm_sql_t *) conn;

    rt->stripped = 0;
    rt->forgotten = 0;
    rt->others = 0;
    rt->rows = 0;
    rt->overdue = 0;
    rt->done = rt->after;
    rt->end = 0;
    memset(&rt->place, 0, sizeof(sm_str_t));

    if (sm_retention_doc(&call->arena, rt->rules, &doc) != 0) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_RETENTION);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_text(sql, rt->after.data ? rt->after : none);
    sm_sql_put_int(sql, rt->limit);
    sm_sql_put_text(sql, doc);
    sm_sql_put_int(sql, rt->rules->audit);
    sm_sql_put_int(sql, rt->rules->refused);
    sm_sql_put_int(sql, rt->rules->jobs);
    sm_sql_put_text(sql, rt->from);
    sm_sql_put_int(sql, rt->since);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fenced_fetch(sql, call) == 1) {

            rt->stripped = sm_sql_int(sql, SM_RETENTION_COL_STRIPPED);
            rt->forgotten = sm_sql_int(sql, SM_RETENTION_COL_FORGOTTEN);
            rt->others = sm_sql_int(sql, SM_RETENTION_COL_OTHERS);
            rt->rows = sm_sql_int(sql, SM_RETENTION_COL_ROWS);
            rt->overdue = sm_sql_int(sql, SM_RETENTION_COL_OVERDUE);
            rt->end = sm_sql_int(sql, SM_RETENTION_COL_END) != 0;

            if (sm_sql_text(sql, call, SM_RETENTION_COL_DONE, &rt->done)
                != 0
                || sm_sql_text(sql, call, SM_RETENTION_COL_PLACE, &rt->place)
                   != 0)
            {
                break;
            }
        }
    }

    return sm_sql_fenced(sql, call, fence);
}
