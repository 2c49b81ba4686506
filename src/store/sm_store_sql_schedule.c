
/*
 * Reads schedules, on any store.
 */

#include "sm_store_sql.h"


#define SM_SCHEDULE_COL_ID  1           /* it follows the time */


/*
 * Reads schedules.  The statement asks for one more row than a page has, to
 * tell whether there are more.  A row without an id comes first, and has the
 * time at which the next schedule is due.
 */

static void
sm_sql_schedule_rows(sm_sql_t *sql, sm_call_t *call, sm_schedule_page_t *page)
{
    size_t         bytes;
    sm_str_t       id;
    sm_schedule_t  row;

    bytes = 0;

    if (sm_sql_exec(sql, call) != 0) {
        return;
    }

    while (sm_sql_fenced_fetch(sql, call) == 1) {

        if (sm_sql_peek(sql, call, SM_SCHEDULE_COL_ID, &id) != 0) {
            return;
        }

        if (id.len && (page->n == page->limit
                       || (page->bytes && bytes >= page->bytes)))
        {
            page->more = 1;
            break;
        }

        if (sm_row_read(sql, call, sm_schedule_fields, &row) != 0) {
            return;
        }

        if (row.id.len == 0) {
            page->next_due = row.next_run_at;
            continue;
        }

        bytes += row.payload.len;
        page->rows[page->n++] = row;
    }

    if (page->bytes && bytes >= page->bytes) {
        page->more = 1;
    }
}


static int
sm_sql_schedule_page(sm_call_t *call, sm_schedule_page_t *page)
{
    page->n = 0;
    page->more = 0;
    page->next_due = 0;

    page->rows = sm_arena_calloc(&call->arena, page->limit,
                                 sizeof(sm_schedule_t));

    return page->rows ? 0 : sm_sql_no_memory(call);
}


int
sm_sql_schedules_get(sm_conn_t *conn, sm_call_t *call,
    sm_schedule_page_t *page)
{
    sm_str_t   first, last;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    if (sm_sql_schedule_page(call, page) != 0
        || sm_store_schedules_range(call, page, &first, &last) != 0)
    {
        return -1;
    }

    sm_sql_start(sql, SM_PROC_SCHEDULES_GET);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, first);
    sm_sql_put_text(sql, last);
    sm_sql_put_int(sql, page->limit + 1);
    sm_sql_put_int(sql, page->special);
    sm_sql_put_int(sql, page->payload);

    sm_sql_schedule_rows(sql, call, page);

    return sm_sql_end(sql, call);
}


int
sm_sql_schedules_due(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_page_t *page)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    if (sm_sql_schedule_page(call, page) != 0) {
        return -1;
    }

    sm_sql_start(sql, SM_PROC_SCHEDULES_DUE);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_int(sql, page->limit + 1);
    sm_sql_put_int(sql, page->bytes);

    sm_sql_schedule_rows(sql, call, page);

    return sm_sql_fenced(sql, call, fence);
}
