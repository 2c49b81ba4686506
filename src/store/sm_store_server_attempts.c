
/*
 * The operations of the executor on a database server.
 *
 * Every procedure checks the fence first.  A procedure that writes then holds
 * a lock on the lease's row until its commit.  One row of each answer has
 * nothing but the time.
 */

#include <stdio.h>

#include "sm_store_server.h"


/* The columns of attempts_turn. */

enum {
    SM_TURN_COL_N = 1,
    SM_TURN_COL_OUTCOME,                /* sm_begin_e, or SM_TURN_APPLIED */
    SM_TURN_COL_DUE_AT,
    SM_TURN_COL_CREATED_AT,
    SM_TURN_COL_NUMBER,
    SM_TURN_COL_COUNT
};

_Static_assert(SM_TURN_COL_COUNT == (int) SM_PROC_OWN_ATTEMPTS_TURN,
               "each column of attempts_turn");


/* The columns of attempts_expire. */

enum {
    SM_EXPIRE_COL_N = 1,
    SM_EXPIRE_COL_OUTCOME,              /* sm_begin_e */
    SM_EXPIRE_COL_DUE_AT,
    SM_EXPIRE_COL_CREATED_AT,
    SM_EXPIRE_COL_NUMBER,
    SM_EXPIRE_COL_NOTIFY,
    SM_EXPIRE_COL_ERROR,                /* why it is gone, if not noted yet */
    SM_EXPIRE_COL_COUNT
};

_Static_assert(SM_EXPIRE_COL_COUNT == (int) SM_PROC_OWN_ATTEMPTS_EXPIRE,
               "each column of attempts_expire");


#define SM_TURN_APPLIED  4
#define SM_TURN_NEWER    5              /* gone, as noted before */

_Static_assert(SM_TURN_APPLIED >= SM_BEGIN_COUNT, "it is none of sm_begin_e");


static int
sm_server_begin_row(sm_sql_t *sql, sm_call_t *call, sm_begin_row_t *row)
{
    row->outcome = (sm_begin_e) sm_sql_int(sql, SM_TURN_COL_OUTCOME);
    row->due_at = sm_sql_int(sql, SM_TURN_COL_DUE_AT);

    if (row->outcome == SM_BEGIN_EARLY) {
        return 0;
    }

    if ((int) row->outcome == SM_TURN_NEWER) {
        row->outcome = SM_BEGIN_GONE;
        row->due_at = 0;
        row->newer = 1;
        return 0;
    }

    if (sm_sql_contract(sql, call, &row->contract, &row->refused) != 0) {
        return -1;
    }

    /*
     * A row of the answer that is gone has a contract of a newer version,
     * which is left to a newer module.
     */

    if (row->outcome == SM_BEGIN_GONE) {
        row->due_at = 0;
        row->newer = 1;
        return 0;
    }

    row->created_at = sm_sql_int(sql, SM_TURN_COL_CREATED_AT);
    row->number = sm_sql_int(sql, SM_TURN_COL_NUMBER);

    if (row->outcome == SM_BEGIN_EXPIRED) {
        row->due_at = 0;
        return 0;
    }

    return sm_row_read(sql, call, sm_begin_fields, row);
}


static int
sm_server_turn_row(sm_sql_t *sql, sm_call_t *call, sm_complete_row_t *ended,
    size_t nended, sm_begin_row_t *due, size_t ndue)
{
    int64_t   key;
    unsigned  applied;

    key = sm_sql_int(sql, SM_TURN_COL_N);
    applied = sm_sql_int(sql, SM_TURN_COL_OUTCOME) == SM_TURN_APPLIED;

    if (key < 0 || key >= (int64_t) (applied ? nended : ndue)) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: submission_attempts_turn gives a row that "
                            "was not asked for", sql->driver->name);
    }

    if (applied) {
        ended[key].applied = 1;
        ended[key].next_attempt_at = sm_sql_int(sql, SM_TURN_COL_DUE_AT);
        return 0;
    }

    return sm_server_begin_row(sql, call, &due[key]);
}


int
sm_server_attempts_turn(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *ended, size_t nended,
    sm_begin_row_t *due, size_t ndue)
{
    size_t     i;
    sm_str_t   ended_doc, due_doc;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < nended; i++) {
        ended[i].applied = 0;
        ended[i].next_attempt_at = 0;
    }

    sm_begin_rows_init(due, ndue);

    if (sm_server_complete_doc(&call->arena, ended, nended, &ended_doc) != 0
        || sm_server_begin_doc(&call->arena, due, ndue, &due_doc) != 0)
    {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_ATTEMPTS_TURN);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_text(sql, ended_doc);
    sm_sql_put_text(sql, due_doc);
    sm_sql_put_int(sql, SM_CONTRACT_VERSION);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fenced_fetch(sql, call) == 1
               && sm_server_turn_row(sql, call, ended, nended, due, ndue) == 0)
        {
            /* void */
        }
    }

    return sm_sql_fenced(sql, call, fence);
}


static int
sm_server_expire_row(sm_sql_t *sql, sm_call_t *call, sm_begin_row_t *rows,
    size_t n)
{
    int64_t          key;
    sm_begin_row_t  *row;

    key = sm_sql_int(sql, SM_EXPIRE_COL_N);

    if (key < 0 || key >= (int64_t) n) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: submission_attempts_expire gives a row that "
                            "was not asked for", sql->driver->name);
    }

    row = &rows[key];

    row->outcome = (sm_begin_e) sm_sql_int(sql, SM_EXPIRE_COL_OUTCOME);

    if (row->outcome == SM_BEGIN_EARLY) {
        row->due_at = sm_sql_int(sql, SM_EXPIRE_COL_DUE_AT);
        return 0;
    }

    if (row->outcome == SM_BEGIN_GONE) {
        row->newer = 1;
        return sm_sql_text(sql, call, SM_EXPIRE_COL_ERROR, &row->refused);
    }

    row->created_at = sm_sql_int(sql, SM_EXPIRE_COL_CREATED_AT);
    row->number = sm_sql_int(sql, SM_EXPIRE_COL_NUMBER);

    return sm_sql_text(sql, call, SM_EXPIRE_COL_NOTIFY,
                       &row->contract.notify);
}


int
sm_server_attempts_expire(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n)
{
    sm_str_t   doc;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    sm_begin_rows_init(rows, n);

    if (sm_server_begin_doc(&call->arena, rows, n, &doc) != 0) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_ATTEMPTS_EXPIRE);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_text(sql, doc);
    sm_sql_put_int(sql, SM_CONTRACT_VERSION);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fenced_fetch(sql, call) == 1
               && sm_server_expire_row(sql, call, rows, n) == 0)
        {
            /* void */
        }
    }

    return sm_sql_fenced(sql, call, fence);
}
