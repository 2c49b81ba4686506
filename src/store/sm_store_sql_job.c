
/*
 * Reads jobs, on any store.
 */

#include "sm_store_sql.h"


static int
sm_sql_jobs_page(sm_sql_t *sql, sm_call_t *call, sm_jobs_row_t *row)
{
    row->n = 0;
    row->more = 0;

    row->jobs = sm_arena_calloc(&call->arena, row->limit, sizeof(sm_job_t));
    if (row->jobs == NULL) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_JOBS_LIST);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, sm_job_kind_name(row->kind));
    sm_sql_put_text(sql, row->id);

    if (row->after_at) {
        sm_sql_put_int(sql, row->after_at);

    } else {
        sm_sql_put_no_int(sql);
    }

    sm_sql_put_text(sql, row->after_id);
    sm_sql_put_int(sql, row->limit + 1);

    return sm_row_page(sql, call, sm_job_fields, row->jobs,
                       sizeof(sm_job_t), row->limit, &row->n, &row->more);
}


int
sm_sql_jobs_list(sm_conn_t *conn, sm_call_t *call, sm_jobs_row_t *rows,
    size_t n)
{
    size_t     i;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < n; i++) {
        if (sm_sql_jobs_page(sql, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}


int
sm_sql_job_next(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_job_t *job)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    memset(job, 0, sizeof(sm_job_t));

    sm_sql_start(sql, SM_PROC_JOB_NEXT);
    sm_sql_put_fence(sql, fence);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fenced_fetch(sql, call) == 1) {
            if (sm_row_read(sql, call, sm_job_fields, job) != 0) {
                break;
            }
        }
    }

    return sm_sql_fenced(sql, call, fence);
}
