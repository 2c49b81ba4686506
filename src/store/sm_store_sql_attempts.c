
/* Reads the attempts that are in doubt, on any store. */

#include "sm_store_sql.h"


int
sm_sql_contract(sm_sql_t *sql, sm_call_t *call, sm_contract_t *c,
    sm_str_t *refused)
{
    sm_contract_row_t  row;

    if (sm_row_read(sql, call, sm_contract_fields, &row) != 0) {
        return -1;
    }

    return sm_store_contract(call, &row, c, refused);
}


int
sm_sql_attempts_in_doubt(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, const sm_doubt_row_t *after, size_t limit,
    sm_doubt_row_t **rows, size_t *n)
{
    sm_str_t         none = sm_str("");
    sm_sql_t        *sql = (sm_sql_t *) conn;
    sm_doubt_row_t  *row;

    *n = 0;

    *rows = sm_arena_calloc(&call->arena, limit, sizeof(sm_doubt_row_t));
    if (*rows == NULL) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start_recovery(sql, SM_PROC_ATTEMPTS_IN_DOUBT);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_int(sql, after ? after->started_at : 0);
    sm_sql_put_text(sql, after ? after->id : none);
    sm_sql_put_int(sql, limit);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fenced_fetch(sql, call) == 1 && *n < limit) {

            row = &(*rows)[*n];

            if (sm_row_read(sql, call, sm_doubt_fields, row) != 0
                || sm_sql_contract(sql, call, &row->contract, &row->refused)
                   != 0)
            {
                break;
            }

            (*n)++;
        }
    }

    return sm_sql_fenced(sql, call, fence);
}
