
/*
 * The executor's operations in SQLite.
 */

#include "sm_store_sqlite.h"


int
sm_sqlite_schedule_page(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_page_t *page)
{
    return sm_call_fail(call, SM_STORE_PERMANENT, 0, "not there yet");
}


int
sm_sqlite_attempts_begin(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n)
{
    return sm_call_fail(call, SM_STORE_PERMANENT, 0, "not there yet");
}


int
sm_sqlite_attempts_complete(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *rows, size_t n)
{
    return sm_call_fail(call, SM_STORE_PERMANENT, 0, "not there yet");
}


int
sm_sqlite_attempts_in_doubt(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, size_t limit, sm_doubt_row_t **rows, size_t *n)
{
    return sm_call_fail(call, SM_STORE_PERMANENT, 0, "not there yet");
}
