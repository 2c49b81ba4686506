
/*
 * Jobs on a database server.
 */

#include "sm_store_server.h"


/* The columns of job_apply. */

enum {
    SM_APPLY_COL_N = 1,                 /* -1: the batch was applied */
    SM_APPLY_COL_DONE,
    SM_APPLY_COL_COUNT
};

_Static_assert(SM_APPLY_COL_COUNT == (int) SM_PROC_OWN_JOB_APPLY,
               "each column of job_apply");


/*
 * Reads the outcome and the job from the one row of the answer; the outcome is
 * 0 without a row.
 */

static int
sm_server_job_outcome(sm_sql_t *sql, sm_call_t *call, sm_job_row_t *row,
    int64_t *outcome)
{
    *outcome = 0;

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {

            *outcome = sm_sql_int(sql, 0);

            if (sm_row_read(sql, call, sm_job_fields, &row->job) != 0) {
                break;
            }
        }
    }

    return sm_sql_end(sql, call);
}


static int
sm_server_job_add(sm_sql_t *sql, sm_call_t *call, sm_job_row_t *row)
{
    int64_t   outcome;
    sm_str_t  detail;

    if (sm_job_detail(&call->arena, &row->request, &detail) != 0) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_JOB_ADD);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, sm_job_kind_name(row->request.kind));
    sm_sql_put_text(sql, row->request.id);
    sm_sql_put_text(sql, row->request.doc);
    sm_sql_put_int(sql, row->request.limit);
    sm_sql_put_text(sql, row->actor.name);
    sm_sql_put_text(sql, row->actor.address);
    sm_sql_put_text(sql, detail);

    if (sm_server_job_outcome(sql, call, row, &outcome) != 0) {
        return -1;
    }

    row->outcome = sm_job_outcome(&row->request, &row->job, outcome == 1);

    return 0;
}


int
sm_server_jobs_add(sm_conn_t *conn, sm_call_t *call, sm_job_row_t *rows,
    size_t n)
{
    size_t     i;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < n; i++) {
        if (sm_server_job_add(sql, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}


int
sm_server_jobs_stop(sm_conn_t *conn, sm_call_t *call, sm_job_row_t *rows,
    size_t n)
{
    size_t     i;
    int64_t    outcome;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < n; i++) {
        sm_sql_start(sql, SM_PROC_JOB_STOP);
        sm_sql_put_text(sql, sql->conf->lease_name);
        sm_sql_put_text(sql, sm_job_kind_name(rows[i].request.kind));
        sm_sql_put_text(sql, rows[i].request.id);
        sm_sql_put_text(sql, rows[i].actor.name);
        sm_sql_put_text(sql, rows[i].actor.address);

        if (sm_server_job_outcome(sql, call, &rows[i], &outcome) != 0) {
            return -1;
        }

        rows[i].outcome = outcome == 0 ? SM_JOB_NOT_FOUND
                          : outcome == 1 ? SM_JOB_CREATED : SM_JOB_SAME;
    }

    return 0;
}


/*
 * Writes {"again":1,"contracts":[{"c":0,"d":{...}}],
 * "items":[{"n":0,"id":"","new":"","c":0}]}.
 */

static int
sm_server_job_doc(sm_arena_t *arena, const sm_job_batch_t *batch,
    sm_str_t *doc)
{
    size_t    i;
    sm_out_t  out;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, batch->again ? "{\"again\":1,\"contracts\":["
                                : "{\"contracts\":[");

    for (i = 0; i < batch->ncontracts; i++) {
        sm_out_c(&out, i ? ",{\"c\":" : "{\"c\":");
        sm_out_int(&out, i);
        sm_out_c(&out, ",\"d\":");
        sm_contract_out(&out, batch->contracts[i]);
        sm_out_c(&out, "}}");
    }

    sm_out_c(&out, "],\"items\":[");

    for (i = 0; i < batch->n; i++) {
        sm_out_c(&out, i ? ",{\"n\":" : "{\"n\":");
        sm_out_int(&out, i);
        sm_out_c(&out, ",\"id\":");
        sm_json_out_str(&out, batch->items[i].id);

        if (batch->items[i].new_id.data) {
            sm_out_c(&out, ",\"new\":");
            sm_json_out_str(&out, batch->items[i].new_id);
        }

        if (batch->items[i].contract) {
            sm_out_c(&out, ",\"c\":");
            sm_out_int(&out, batch->items[i].nth);
        }

        sm_out_c(&out, "}");
    }

    sm_out_c(&out, "]}");

    return sm_out_done(&out, doc);
}


int
sm_server_job_apply(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_job_batch_t *batch)
{
    int64_t    n;
    sm_str_t   doc;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    batch->applied = 0;
    batch->done = 0;

    if (sm_server_job_doc(&call->arena, batch, &doc) != 0) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_JOB_APPLY);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_text(sql, sm_job_kind_name(batch->kind));
    sm_sql_put_text(sql, batch->id);
    sm_sql_put_int(sql, batch->seen);
    sm_sql_put_int(sql, batch->seen_after);
    sm_sql_put_int(sql, batch->skipped);
    sm_sql_put_text(sql, batch->position);
    sm_sql_put_text(sql, sm_job_state_name(batch->state));
    sm_sql_put_text(sql, batch->error);
    sm_sql_put_text(sql, doc);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fenced_fetch(sql, call) == 1) {

            n = sm_sql_int(sql, SM_APPLY_COL_N);

            if (n == -1) {
                batch->applied = 1;
                batch->done = sm_sql_int(sql, SM_APPLY_COL_DONE);

            } else if (n >= 0 && n < (int64_t) batch->n) {
                batch->items[n].done = 1;
            }
        }
    }

    return sm_sql_fenced(sql, call, fence);
}
