
/* Reads recent failures, on any store. */

#include "sm_store_sql.h"


/* The columns that failures_get has besides those of its entities. */

enum {
    SM_FAILURES_NUMBER = 0,
    SM_FAILURES_ID,
    SM_FAILURES_SEEN,
    SM_FAILURES_COUNT
};

_Static_assert(SM_FAILURES_COUNT == (int) SM_PROC_OWN_FAILURES_GET,
               "each column of failures_get");


/*
 * Reads a piece of a group.  Its strings are read only if the group differs
 * from that of the piece before.
 */

static int
sm_sql_failure(sm_sql_t *sql, sm_call_t *call, sm_failures_piece_t *piece)
{
    int64_t  number;

    number = sm_sql_int(sql, SM_FAILURES_NUMBER);

    if (number != piece->number
        && sm_row_read(sql, call, sm_failure_fields, &piece->group) != 0)
    {
        return -1;
    }

    piece->number = number;
    piece->seen = sm_sql_int(sql, SM_FAILURES_SEEN);

    if (sm_row_read(sql, call, sm_failure_count_fields, &piece->group) != 0) {
        return -1;
    }

    return sm_sql_text(sql, call, SM_FAILURES_ID, &piece->id);
}


int
sm_sql_failures_get(sm_conn_t *conn, sm_call_t *call,
    sm_failures_row_t *rows, size_t n)
{
    sm_sql_t            *sql = (sm_sql_t *) conn;
    sm_failures_piece_t  piece;

    if (sm_failures_init(rows, n, &call->arena) != 0) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_FAILURES_GET);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, rows[0].target);
    sm_sql_put_int(sql, sm_failures_earliest(rows, n));
    sm_sql_put_int(sql, SM_FAILURES_BOUND);
    sm_sql_put_int(sql, SM_FAILURES_GROUPS);

    memset(&piece, 0, sizeof(sm_failures_piece_t));

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {

            if (sm_sql_failure(sql, call, &piece) != 0) {
                break;
            }

            sm_failures_add(rows, n, &piece);
        }
    }

    return sm_sql_end(sql, call);
}
