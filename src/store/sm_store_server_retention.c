
/*
 * Retention on a database server.
 */

#include "sm_store_server.h"


/* the columns of retention */

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

_Static_assert(SM_RETENTION_COL_COUNT == (int) SM_PROC_COLS_RETENTION,
               "each column of retention");


int
sm_server_retention(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_retention_t *rt)
{
    sm_str_t      doc, none = sm_str("");
    sm_server_t  *sv = (sm_server_t *) conn;

    rt->stripped = 0;
    rt->forgotten = 0;
    rt->others = 0;
    rt->rows = 0;
    rt->overdue = 0;
    rt->done = rt->after;
    rt->end = 0;
    memset(&rt->place, 0, sizeof(sm_str_t));

    if (sm_retention_doc(&call->arena, rt->rules, &doc) != 0) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_RETENTION);
    sm_server_put_fence(sv, fence);
    sm_server_put_text(sv, rt->after.data ? rt->after : none);
    sm_server_put_int(sv, rt->limit);
    sm_server_put_text(sv, doc);
    sm_server_put_int(sv, rt->rules->audit);
    sm_server_put_int(sv, rt->rules->refused);
    sm_server_put_int(sv, rt->rules->jobs);
    sm_server_put_text(sv, rt->from);
    sm_server_put_int(sv, rt->since);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1) {

            rt->stripped = sm_server_int(sv, SM_RETENTION_COL_STRIPPED);
            rt->forgotten = sm_server_int(sv, SM_RETENTION_COL_FORGOTTEN);
            rt->others = sm_server_int(sv, SM_RETENTION_COL_OTHERS);
            rt->rows = sm_server_int(sv, SM_RETENTION_COL_ROWS);
            rt->overdue = sm_server_int(sv, SM_RETENTION_COL_OVERDUE);
            rt->end = sm_server_int(sv, SM_RETENTION_COL_END) != 0;

            if (sm_server_text(sv, call, SM_RETENTION_COL_DONE, &rt->done)
                != 0
                || sm_server_text(sv, call, SM_RETENTION_COL_PLACE, &rt->place)
                   != 0)
            {
                break;
            }
        }
    }

    return sm_server_fenced(sv, call, fence);
}
