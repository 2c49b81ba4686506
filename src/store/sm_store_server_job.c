
/*
 * Jobs on a database server.
 */

#include "sm_store_server.h"


/* the columns of a job, after the outcome or the time */

enum {
    SM_JOB_COL_KIND = 1,
    SM_JOB_COL_ID,
    SM_JOB_COL_DOC,
    SM_JOB_COL_LIMIT,
    SM_JOB_COL_STATE,
    SM_JOB_COL_POSITION,
    SM_JOB_COL_SEEN,
    SM_JOB_COL_DONE,
    SM_JOB_COL_SKIPPED,
    SM_JOB_COL_ERROR,
    SM_JOB_COL_ACTOR,
    SM_JOB_COL_CREATED_AT,
    SM_JOB_COL_MODIFIED_AT,
    SM_JOB_COL_COMPLETED_AT,
    SM_JOB_COL_COUNT
};

_Static_assert(SM_JOB_COL_COUNT == (int) SM_PROC_COLS_JOB_NEXT,
               "each column of a job");


/* the columns of job_apply */

enum {
    SM_APPLY_COL_N = 1,                 /* -1: the batch was applied */
    SM_APPLY_COL_DONE,
    SM_APPLY_COL_COUNT
};

_Static_assert(SM_APPLY_COL_COUNT == (int) SM_PROC_COLS_JOB_APPLY,
               "each column of job_apply");


/* the bytes of an item's keys, punctuation and integers, at most */

#define SM_JOB_ITEM_SIZE  128


static int
sm_server_job(sm_server_t *sv, sm_call_t *call, sm_job_t *job)
{
    sm_str_t  kind, state;

    job->limit = sm_server_int(sv, SM_JOB_COL_LIMIT);
    job->seen = sm_server_int(sv, SM_JOB_COL_SEEN);
    job->done = sm_server_int(sv, SM_JOB_COL_DONE);
    job->skipped = sm_server_int(sv, SM_JOB_COL_SKIPPED);
    job->created_at = sm_server_int(sv, SM_JOB_COL_CREATED_AT);
    job->modified_at = sm_server_int(sv, SM_JOB_COL_MODIFIED_AT);
    job->completed_at = sm_server_int(sv, SM_JOB_COL_COMPLETED_AT);

    if (sm_server_text(sv, call, SM_JOB_COL_KIND, &kind) != 0
        || sm_server_text(sv, call, SM_JOB_COL_ID, &job->id) != 0
        || sm_server_text(sv, call, SM_JOB_COL_DOC, &job->doc) != 0
        || sm_server_text(sv, call, SM_JOB_COL_STATE, &state) != 0
        || sm_server_text(sv, call, SM_JOB_COL_POSITION, &job->position) != 0
        || sm_server_text(sv, call, SM_JOB_COL_ERROR, &job->error) != 0
        || sm_server_text(sv, call, SM_JOB_COL_ACTOR, &job->actor) != 0)
    {
        return -1;
    }

    job->kind = sm_job_kind_by_name(kind);
    job->state = sm_job_state_by_name(state);

    return 0;
}


/* the job that a procedure gives in its one row; 0: it gives none */

static int
sm_server_job_outcome(sm_server_t *sv, sm_call_t *call, sm_job_row_t *row,
    int64_t *outcome)
{
    *outcome = 0;

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {

            *outcome = sm_server_int(sv, 0);

            if (sm_server_job(sv, call, &row->job) != 0) {
                break;
            }
        }
    }

    return sm_server_end(sv, call);
}


static int
sm_server_job_add(sm_server_t *sv, sm_call_t *call, sm_job_row_t *row)
{
    int64_t   outcome;
    sm_str_t  detail;

    if (sm_job_detail(&call->arena, &row->request, &detail) != 0) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_JOB_ADD);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, sm_job_kind_name(row->request.kind));
    sm_server_put_text(sv, row->request.id);
    sm_server_put_text(sv, row->request.doc);
    sm_server_put_int(sv, row->request.limit);
    sm_server_put_text(sv, row->actor.name);
    sm_server_put_text(sv, row->actor.address);
    sm_server_put_text(sv, detail);

    if (sm_server_job_outcome(sv, call, row, &outcome) != 0) {
        return -1;
    }

    row->outcome = sm_job_outcome(&row->request, &row->job, outcome == 1);

    return 0;
}


int
sm_server_jobs_add(sm_conn_t *conn, sm_call_t *call, sm_job_row_t *rows,
    size_t n)
{
    size_t        i;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        if (sm_server_job_add(sv, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}


int
sm_server_jobs_stop(sm_conn_t *conn, sm_call_t *call, sm_job_row_t *rows,
    size_t n)
{
    size_t        i;
    int64_t       outcome;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        sm_server_start(sv, SM_PROC_JOB_STOP);
        sm_server_put_text(sv, sv->conf->lease_name);
        sm_server_put_text(sv, sm_job_kind_name(rows[i].request.kind));
        sm_server_put_text(sv, rows[i].request.id);
        sm_server_put_text(sv, rows[i].actor.name);
        sm_server_put_text(sv, rows[i].actor.address);

        if (sm_server_job_outcome(sv, call, &rows[i], &outcome) != 0) {
            return -1;
        }

        rows[i].outcome = outcome == 0 ? SM_JOB_NOT_FOUND
                          : outcome == 1 ? SM_JOB_CREATED : SM_JOB_SAME;
    }

    return 0;
}


static int
sm_server_jobs_page(sm_server_t *sv, sm_call_t *call, sm_jobs_row_t *row)
{
    row->n = 0;
    row->more = 0;

    row->jobs = sm_arena_calloc(&call->arena, row->limit, sizeof(sm_job_t));
    if (row->jobs == NULL) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_JOBS_LIST);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, sm_job_kind_name(row->kind));
    sm_server_put_text(sv, row->id);

    if (row->after_at) {
        sm_server_put_int(sv, row->after_at);

    } else {
        sm_server_put_no_int(sv);
    }

    sm_server_put_text(sv, row->after_id);
    sm_server_put_int(sv, row->limit + 1);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {

            if (row->n == row->limit) {
                row->more = 1;
                continue;
            }

            if (sm_server_job(sv, call, &row->jobs[row->n++]) != 0) {
                break;
            }
        }
    }

    return sm_server_end(sv, call);
}


int
sm_server_jobs_list(sm_conn_t *conn, sm_call_t *call, sm_jobs_row_t *rows,
    size_t n)
{
    size_t        i;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        if (sm_server_jobs_page(sv, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}


int
sm_server_job_next(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_job_t *job)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    memset(job, 0, sizeof(sm_job_t));

    sm_server_start(sv, SM_PROC_JOB_NEXT);
    sm_server_put_fence(sv, fence);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1) {
            if (sm_server_job(sv, call, job) != 0) {
                break;
            }
        }
    }

    return sm_server_fenced(sv, call, fence);
}


/* {"contracts":[{"c":0,"d":{...}}],"items":[{"n":0,"id":"","new":"","c":0}]} */

static int
sm_server_job_doc(sm_arena_t *arena, const sm_job_batch_t *batch,
    sm_str_t *doc)
{
    size_t    i, size;
    sm_out_t  out;

    size = SM_JOB_ITEM_SIZE;

    for (i = 0; i < batch->ncontracts; i++) {
        size += SM_JOB_ITEM_SIZE + batch->contracts[i].len;
    }

    for (i = 0; i < batch->n; i++) {
        size += SM_JOB_ITEM_SIZE + sm_json_str_size(batch->items[i].id.len)
                + sm_json_str_size(batch->items[i].new_id.len);
    }

    sm_out_init(&out, sm_arena_alloc(arena, size), size);

    if (out.start == NULL) {
        return -1;
    }

    sm_out_c(&out, "{\"contracts\":[");

    for (i = 0; i < batch->ncontracts; i++) {
        sm_out_c(&out, i ? ",{\"c\":" : "{\"c\":");
        sm_out_int(&out, i);
        sm_out_c(&out, ",\"d\":");

        if (batch->contracts[i].data) {
            sm_out_str(&out, batch->contracts[i]);

        } else {
            sm_out_c(&out, "null");
        }

        sm_out_c(&out, "}");
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

        if (batch->items[i].contract.data) {
            sm_out_c(&out, ",\"c\":");
            sm_out_int(&out, batch->items[i].nth);
        }

        sm_out_c(&out, "}");
    }

    sm_out_c(&out, "]}");

    doc->data = out.start;
    doc->len = out.last - out.start;

    return out.full ? -1 : 0;
}


int
sm_server_job_apply(sm_conn_t *conn, sm_call_t *call, const sm_fence_t *fence,
    sm_job_batch_t *batch)
{
    int64_t       n;
    sm_str_t      doc;
    sm_server_t  *sv = (sm_server_t *) conn;

    batch->applied = 0;
    batch->done = 0;

    if (sm_server_job_doc(&call->arena, batch, &doc) != 0) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_JOB_APPLY);
    sm_server_put_fence(sv, fence);
    sm_server_put_text(sv, sm_job_kind_name(batch->kind));
    sm_server_put_text(sv, batch->id);
    sm_server_put_int(sv, batch->seen);
    sm_server_put_int(sv, batch->seen_after);
    sm_server_put_int(sv, batch->skipped);
    sm_server_put_text(sv, batch->position);
    sm_server_put_text(sv, sm_job_state_name(batch->state));
    sm_server_put_text(sv, batch->error);
    sm_server_put_text(sv, doc);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1) {

            n = sm_server_int(sv, SM_APPLY_COL_N);

            if (n == -1) {
                batch->applied = 1;
                batch->done = sm_server_int(sv, SM_APPLY_COL_DONE);

            } else if (n >= 0 && n < (int64_t) batch->n) {
                batch->items[n].done = 1;
            }
        }
    }

    return sm_server_fenced(sv, call, fence);
}
