
/*
 * The operations of the executor on a database server.  Every procedure checks
 * the fence first; one that writes then holds a lock on the lease row until
 * its commit.  One row of its answer has only the time.
 */

#include <stdio.h>

#include "sm_policy.h"
#include "sm_store_server.h"


#define SM_FENCED_NOW  0
#define SM_FENCED_KEY  1


/* the columns of schedule_page */

enum {
    SM_PAGE_COL_ID = 1,
    SM_PAGE_COL_TARGET,
    SM_PAGE_COL_AT,
    SM_PAGE_COL_DUE_AT,
    SM_PAGE_COL_CREATED_AT,
    SM_PAGE_COL_SECONDS,
    SM_PAGE_COL_COUNT
};

_Static_assert(SM_PAGE_COL_COUNT == (int) SM_PROC_COLS_SCHEDULE_PAGE,
               "each column of schedule_page");


/* the columns of attempts_turn */

enum {
    SM_TURN_COL_N = 1,
    SM_TURN_COL_OUTCOME,                /* sm_begin_e, or SM_TURN_APPLIED */
    SM_TURN_COL_DUE_AT,
    SM_TURN_COL_CREATED_AT,
    SM_TURN_COL_NUMBER,
    SM_TURN_COL_CONTRACT,
    SM_TURN_COL_TRACEPARENT = SM_TURN_COL_CONTRACT + SM_CONTRACT_COL_COUNT + 1,
    SM_TURN_COL_TRACESTATE,
    SM_TURN_COL_PAYLOAD,
    SM_TURN_COL_COUNT
};

_Static_assert(SM_TURN_COL_COUNT == (int) SM_PROC_COLS_ATTEMPTS_TURN,
               "each column of attempts_turn");


/* the columns of attempts_expire */

enum {
    SM_EXPIRE_COL_N = 1,
    SM_EXPIRE_COL_OUTCOME,              /* sm_begin_e */
    SM_EXPIRE_COL_DUE_AT,
    SM_EXPIRE_COL_CREATED_AT,
    SM_EXPIRE_COL_NUMBER,
    SM_EXPIRE_COL_NOTIFY,
    SM_EXPIRE_COL_COUNT
};

_Static_assert(SM_EXPIRE_COL_COUNT == (int) SM_PROC_COLS_ATTEMPTS_EXPIRE,
               "each column of attempts_expire");


#define SM_TURN_APPLIED  4
#define SM_TURN_NEWER    5              /* gone, and that was said before */

_Static_assert(SM_TURN_APPLIED >= SM_BEGIN_COUNT, "it is none of sm_begin_e");


/* the columns of attempts_in_doubt */

enum {
    SM_DOUBT_COL_ID = 1,
    SM_DOUBT_COL_NUMBER,
    SM_DOUBT_COL_EPOCH,
    SM_DOUBT_COL_HOLDER,
    SM_DOUBT_COL_STARTED_AT,
    SM_DOUBT_COL_CREATED_AT,
    SM_DOUBT_COL_CONTRACT,
    SM_DOUBT_COL_COUNT = SM_DOUBT_COL_CONTRACT + SM_CONTRACT_COL_COUNT + 1
};

_Static_assert(SM_DOUBT_COL_COUNT == (int) SM_PROC_COLS_ATTEMPTS_IN_DOUBT,
               "each column of attempts_in_doubt");


/* the contract_version follows the contract */

static int
sm_server_contract(sm_server_t *sv, sm_call_t *call, unsigned column,
    sm_contract_t *c, sm_str_t *refused)
{
    unsigned              i;
    sm_contract_value_t   values[SM_CONTRACT_COL_COUNT];

    for (i = 0; i < SM_CONTRACT_COL_COUNT; i++) {

        if (sm_contract_columns[i].is == SM_CONTRACT_IS_INT) {
            values[i].n = sm_server_int(sv, column + i);

        } else if (sm_server_text(sv, call, column + i, &values[i].s) != 0) {
            return -1;
        }
    }

    return sm_store_contract(call, sm_server_int(sv, column + i), values, c,
                             refused);
}


int
sm_server_fenced_fetch(sm_server_t *sv, sm_call_t *call)
{
    int  rc;

    while ((rc = sm_server_fetch(sv, call)) == 1) {

        if (!sm_server_is_null(sv, SM_FENCED_KEY)) {
            return 1;
        }

        call->now = sm_server_int(sv, SM_FENCED_NOW);
    }

    if (rc == 0 && call->now == 0) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: a fenced call gives no time",
                            sv->driver->name);
    }

    return rc;
}


int
sm_server_schedule_page(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_page_t *page)
{
    sm_str_t    none = sm_str("");
    sm_due_t   *row;
    sm_server_t  *sv = (sm_server_t *) conn;

    page->n = 0;

    page->rows = sm_arena_calloc(&call->arena, page->limit, sizeof(sm_due_t));
    if (page->rows == NULL) {
        return sm_server_no_memory(call);
    }

    if (page->recovery) {
        sm_server_start_recovery(sv, SM_PROC_SCHEDULE_PAGE);

    } else {
        sm_server_start(sv, SM_PROC_SCHEDULE_PAGE);
    }

    sm_server_put_fence(sv, fence);
    sm_server_put_int(sv, page->order);
    sm_server_put_int(sv, page->after_at);
    sm_server_put_text(sv, page->after_id.data ? page->after_id : none);
    sm_server_put_int(sv, page->limit);
    sm_server_put_int(sv, SM_SCHEMA_VERSION);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1 && page->n < page->limit) {

            row = &page->rows[page->n];

            row->at = sm_server_int(sv, SM_PAGE_COL_AT);
            row->due_at = sm_server_int(sv, SM_PAGE_COL_DUE_AT);
            row->deadline = sm_deadline(
                                sm_server_int(sv, SM_PAGE_COL_CREATED_AT),
                                sm_server_int(sv, SM_PAGE_COL_SECONDS));

            if (sm_server_text(sv, call, SM_PAGE_COL_ID, &row->id) != 0
                || sm_server_text(sv, call, SM_PAGE_COL_TARGET, &row->target)
                   != 0)
            {
                break;
            }

            page->n++;
        }
    }

    return sm_server_fenced(sv, call, fence);
}


static int
sm_server_begin_row(sm_server_t *sv, sm_call_t *call, sm_begin_row_t *row)
{
    row->outcome = (sm_begin_e) sm_server_int(sv, SM_TURN_COL_OUTCOME);
    row->due_at = sm_server_int(sv, SM_TURN_COL_DUE_AT);

    if (row->outcome == SM_BEGIN_EARLY) {
        return 0;
    }

    if ((int) row->outcome == SM_TURN_NEWER) {
        row->outcome = SM_BEGIN_GONE;
        row->due_at = 0;
        row->newer = 1;
        return 0;
    }

    if (sm_server_contract(sv, call, SM_TURN_COL_CONTRACT, &row->contract,
                           &row->refused)
        != 0)
    {
        return -1;
    }

    /* gone, and in the answer: it is left to a newer module */

    if (row->outcome == SM_BEGIN_GONE) {
        row->due_at = 0;
        row->newer = 1;
        return 0;
    }

    row->created_at = sm_server_int(sv, SM_TURN_COL_CREATED_AT);
    row->number = sm_server_int(sv, SM_TURN_COL_NUMBER);

    if (row->outcome == SM_BEGIN_EXPIRED) {
        row->due_at = 0;
        return 0;
    }

    if (sm_server_text(sv, call, SM_TURN_COL_TRACEPARENT, &row->trace.parent)
        != 0
        || sm_server_text(sv, call, SM_TURN_COL_TRACESTATE, &row->trace.state)
           != 0)
    {
        return -1;
    }

    return sm_server_bytes(sv, call, SM_TURN_COL_PAYLOAD, &row->payload);
}


static int
sm_server_turn_row(sm_server_t *sv, sm_call_t *call, sm_complete_row_t *ended,
    size_t nended, sm_begin_row_t *due, size_t ndue)
{
    int64_t   key;
    unsigned  applied;

    key = sm_server_int(sv, SM_TURN_COL_N);
    applied = sm_server_int(sv, SM_TURN_COL_OUTCOME) == SM_TURN_APPLIED;

    if (key < 0 || key >= (int64_t) (applied ? nended : ndue)) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: submission_attempts_turn gives a row that "
                            "was not asked for", sv->driver->name);
    }

    if (applied) {
        ended[key].applied = 1;
        ended[key].next_attempt_at = sm_server_int(sv, SM_TURN_COL_DUE_AT);
        return 0;
    }

    return sm_server_begin_row(sv, call, &due[key]);
}


int
sm_server_attempts_turn(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *ended, size_t nended,
    sm_begin_row_t *due, size_t ndue)
{
    size_t      i;
    sm_str_t    ended_doc, due_doc;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < nended; i++) {
        ended[i].applied = 0;
        ended[i].next_attempt_at = 0;
    }

    sm_begin_rows_init(due, ndue);

    if (sm_server_complete_doc(&call->arena, ended, nended, &ended_doc) != 0
        || sm_server_begin_doc(&call->arena, due, ndue, &due_doc) != 0)
    {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_ATTEMPTS_TURN);
    sm_server_put_fence(sv, fence);
    sm_server_put_text(sv, ended_doc);
    sm_server_put_text(sv, due_doc);
    sm_server_put_int(sv, SM_SCHEMA_VERSION);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1
               && sm_server_turn_row(sv, call, ended, nended, due, ndue) == 0)
        {
            /* void */
        }
    }

    return sm_server_fenced(sv, call, fence);
}


static int
sm_server_expire_row(sm_server_t *sv, sm_call_t *call, sm_begin_row_t *rows,
    size_t n)
{
    int64_t          key;
    sm_begin_row_t  *row;

    key = sm_server_int(sv, SM_EXPIRE_COL_N);

    if (key < 0 || key >= (int64_t) n) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: submission_attempts_expire gives a row that "
                            "was not asked for", sv->driver->name);
    }

    row = &rows[key];

    row->outcome = (sm_begin_e) sm_server_int(sv, SM_EXPIRE_COL_OUTCOME);

    if (row->outcome == SM_BEGIN_EARLY) {
        row->due_at = sm_server_int(sv, SM_EXPIRE_COL_DUE_AT);
        return 0;
    }

    row->created_at = sm_server_int(sv, SM_EXPIRE_COL_CREATED_AT);
    row->number = sm_server_int(sv, SM_EXPIRE_COL_NUMBER);

    return sm_server_text(sv, call, SM_EXPIRE_COL_NOTIFY,
                          &row->contract.notify);
}


int
sm_server_attempts_expire(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n)
{
    sm_str_t      doc;
    sm_server_t  *sv = (sm_server_t *) conn;

    sm_begin_rows_init(rows, n);

    if (sm_server_begin_doc(&call->arena, rows, n, &doc) != 0) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_ATTEMPTS_EXPIRE);
    sm_server_put_fence(sv, fence);
    sm_server_put_text(sv, doc);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1
               && sm_server_expire_row(sv, call, rows, n) == 0)
        {
            /* void */
        }
    }

    return sm_server_fenced(sv, call, fence);
}


static int
sm_server_doubt_row(sm_server_t *sv, sm_call_t *call, sm_doubt_row_t *row)
{
    row->number = sm_server_int(sv, SM_DOUBT_COL_NUMBER);
    row->epoch = sm_server_int(sv, SM_DOUBT_COL_EPOCH);
    row->started_at = sm_server_int(sv, SM_DOUBT_COL_STARTED_AT);
    row->created_at = sm_server_int(sv, SM_DOUBT_COL_CREATED_AT);

    if (sm_server_text(sv, call, SM_DOUBT_COL_ID, &row->id) != 0
        || sm_server_text(sv, call, SM_DOUBT_COL_HOLDER, &row->holder) != 0)
    {
        return -1;
    }

    return sm_server_contract(sv, call, SM_DOUBT_COL_CONTRACT, &row->contract,
                              &row->refused);
}


int
sm_server_attempts_in_doubt(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, const sm_doubt_row_t *after, size_t limit,
    sm_doubt_row_t **rows, size_t *n)
{
    sm_str_t    none = sm_str("");
    sm_server_t  *sv = (sm_server_t *) conn;

    *n = 0;

    *rows = sm_arena_calloc(&call->arena, limit, sizeof(sm_doubt_row_t));
    if (*rows == NULL) {
        return sm_server_no_memory(call);
    }

    sm_server_start_recovery(sv, SM_PROC_ATTEMPTS_IN_DOUBT);
    sm_server_put_fence(sv, fence);
    sm_server_put_int(sv, after ? after->started_at : 0);
    sm_server_put_text(sv, after ? after->id : none);
    sm_server_put_int(sv, limit);
    sm_server_put_int(sv, SM_SCHEMA_VERSION);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1 && *n < limit) {

            if (sm_server_doubt_row(sv, call, &(*rows)[*n]) != 0) {
                break;
            }

            (*n)++;
        }
    }

    return sm_server_fenced(sv, call, fence);
}
