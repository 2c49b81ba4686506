
/*
 * What has failed lately, on a database server.
 */

#include "sm_store_server.h"


/* the columns of failures_get */

enum {
    SM_FAILURES_NUMBER = 0,
    SM_FAILURES_TARGET,
    SM_FAILURES_STATUS,
    SM_FAILURES_REASON,
    SM_FAILURES_ERROR,
    SM_FAILURES_COUNT,
    SM_FAILURES_AT,
    SM_FAILURES_ID,
    SM_FAILURES_SEEN
};


/* the strings of a group are those of its first piece */

static int
sm_server_failure(sm_server_t *sv, sm_call_t *call, sm_failures_piece_t *piece)
{
    int64_t        number;
    sm_failure_t  *group;

    group = &piece->group;
    group->count = sm_server_int(sv, SM_FAILURES_COUNT);

    piece->at = sm_server_int(sv, SM_FAILURES_AT);
    piece->seen = sm_server_int(sv, SM_FAILURES_SEEN);

    number = sm_server_int(sv, SM_FAILURES_NUMBER);

    if (number != piece->number) {
        piece->number = number;

        if (sm_server_text(sv, call, SM_FAILURES_TARGET, &group->target) != 0
            || sm_server_text(sv, call, SM_FAILURES_STATUS, &group->status)
               != 0
            || sm_server_text(sv, call, SM_FAILURES_REASON, &group->reason)
               != 0
            || sm_server_text(sv, call, SM_FAILURES_ERROR, &group->last_error)
               != 0)
        {
            return -1;
        }
    }

    return sm_server_text(sv, call, SM_FAILURES_ID, &piece->id);
}


int
sm_server_failures_get(sm_conn_t *conn, sm_call_t *call,
    sm_failures_row_t *rows, size_t n)
{
    sm_server_t          *sv = (sm_server_t *) conn;
    sm_failures_piece_t   piece;

    if (sm_failures_init(rows, n, &call->arena) != 0) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_FAILURES_GET);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, rows[0].target);
    sm_server_put_int(sv, sm_failures_earliest(rows, n));
    sm_server_put_int(sv, SM_FAILURES_BOUND);
    sm_server_put_int(sv, SM_FAILURES_GROUPS);

    memset(&piece, 0, sizeof(sm_failures_piece_t));

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {

            if (sm_server_failure(sv, call, &piece) != 0) {
                break;
            }

            sm_failures_add(rows, n, &piece);
        }
    }

    return sm_server_end(sv, call);
}
