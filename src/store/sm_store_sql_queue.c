
/*
 * Reads the queue, that is, the intents that have an attempt to come, on any
 * store.
 */

#include "sm_policy.h"
#include "sm_store_sql.h"


/* The columns of queue_page. */

enum {
    SM_PAGE_COL_ID = 1,
    SM_PAGE_COL_TARGET,
    SM_PAGE_COL_AT,
    SM_PAGE_COL_DUE_AT,
    SM_PAGE_COL_CREATED_AT,
    SM_PAGE_COL_SECONDS,
    SM_PAGE_COL_COUNT
};

_Static_assert(SM_PAGE_COL_COUNT == (int) SM_PROC_OWN_QUEUE_PAGE,
               "each column of queue_page");


/*
 * Reads the target, and copies it only if it differs from that of the row
 * before, because it seldom does.
 */

static int
sm_sql_page_target(sm_sql_t *sql, sm_call_t *call, sm_str_t *target)
{
    sm_str_t  name;

    if (sm_sql_peek(sql, call, SM_PAGE_COL_TARGET, &name) != 0) {
        return -1;
    }

    return sm_str_eq(name, *target) ? 0 : sm_sql_keep(call, name, target);
}


int
sm_sql_queue_page(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_page_t *page)
{
    sm_str_t   target, none = sm_str("");
    sm_due_t  *row;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    page->n = 0;

    page->rows = sm_arena_calloc(&call->arena, page->limit, sizeof(sm_due_t));
    if (page->rows == NULL) {
        return sm_sql_no_memory(call);
    }

    if (page->recovery) {
        sm_sql_start_recovery(sql, SM_PROC_QUEUE_PAGE);

    } else {
        sm_sql_start(sql, SM_PROC_QUEUE_PAGE);
    }

    sm_sql_put_fence(sql, fence);
    sm_sql_put_int(sql, page->order);
    sm_sql_put_int(sql, page->after_at);
    sm_sql_put_text(sql, page->after_id.data ? page->after_id : none);
    sm_sql_put_int(sql, page->limit);

    target = none;

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fenced_fetch(sql, call) == 1 && page->n < page->limit) {

            row = &page->rows[page->n];

            row->at = sm_sql_int(sql, SM_PAGE_COL_AT);
            row->due_at = sm_sql_int(sql, SM_PAGE_COL_DUE_AT);
            row->deadline = sm_deadline(
                                sm_sql_int(sql, SM_PAGE_COL_CREATED_AT),
                                sm_sql_int(sql, SM_PAGE_COL_SECONDS));

            if (sm_sql_text(sql, call, SM_PAGE_COL_ID, &row->id) != 0
                || sm_sql_page_target(sql, call, &target) != 0)
            {
                break;
            }

            row->target = target;

            page->n++;
        }
    }

    return sm_sql_fenced(sql, call, fence);
}
