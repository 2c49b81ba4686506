
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
    SM_FAILURES_NEWEST_AT,
    SM_FAILURES_ID,
    SM_FAILURES_SEEN
};


static int
sm_server_failure(sm_server_t *sv, sm_call_t *call, sm_failure_t *f)
{
    if (f->nids == 0) {
        f->count = sm_server_int(sv, SM_FAILURES_COUNT);
        f->newest_at = sm_server_int(sv, SM_FAILURES_NEWEST_AT);

        if (sm_server_text(sv, call, SM_FAILURES_TARGET, &f->target) != 0
            || sm_server_text(sv, call, SM_FAILURES_STATUS, &f->status) != 0
            || sm_server_text(sv, call, SM_FAILURES_REASON, &f->reason) != 0
            || sm_server_text(sv, call, SM_FAILURES_ERROR, &f->last_error)
               != 0)
        {
            return -1;
        }
    }

    return f->nids == SM_FAILURES_IDS
           ? 0 : sm_server_text(sv, call, SM_FAILURES_ID, &f->ids[f->nids++]);
}


int
sm_server_failures_get(sm_conn_t *conn, sm_call_t *call,
    sm_failures_row_t *row)
{
    int64_t        last;
    sm_server_t   *sv = (sm_server_t *) conn;
    sm_failure_t  *f;

    row->n = 0;
    row->partial = 0;
    row->failures = sm_arena_calloc(&call->arena, SM_FAILURES_GROUPS,
                                    sizeof(sm_failure_t));
    if (row->failures == NULL) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_FAILURES_GET);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, row->target);
    sm_server_put_int(sv, row->since);
    sm_server_put_int(sv, SM_FAILURES_BOUND);
    sm_server_put_int(sv, SM_FAILURES_GROUPS);

    last = 0;

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {

            if (sm_server_int(sv, SM_FAILURES_SEEN) > SM_FAILURES_BOUND) {
                row->partial = 1;
            }

            f = sm_failures_next(row, sm_server_int(sv, SM_FAILURES_NUMBER),
                                 &last);

            if (f && sm_server_failure(sv, call, f) != 0) {
                break;
            }
        }
    }

    return sm_server_end(sv, call);
}
