
/*
 * Reads the inbox, on any store.
 */

#include "sm_store_sql.h"


int
sm_sql_inbox_page(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_inbox_page_t *page)
{
    size_t           bytes;
    sm_sql_t        *sql = (sm_sql_t *) conn;
    sm_inbox_row_t  *row;

    page->n = 0;
    page->last = SM_INBOX_BEGINNING;
    page->more = 0;

    page->rows = sm_arena_calloc(&call->arena, page->limit,
                                 sizeof(sm_inbox_row_t));
    if (page->rows == NULL) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_INBOX_PAGE);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_int(sql, page->from);
    sm_sql_put_int(sql, page->limit);
    sm_sql_put_int(sql, page->bytes);
    sm_sql_put_int(sql, page->max_payload);

    bytes = 0;

    if (sm_sql_exec(sql, call) == 0) {
        while (page->n < page->limit && bytes < page->bytes
               && sm_sql_fenced_fetch(sql, call) == 1)
        {
            row = &page->rows[page->n];

            if (sm_row_read(sql, call, sm_inbox_fields, row) != 0) {
                break;
            }

            row->too_large = row->size > (int64_t) page->max_payload;

            bytes += row->payload.len;
            page->last = row->seq;
            page->n++;
        }
    }

    page->more = page->n == page->limit || bytes >= page->bytes;

    return sm_sql_fenced(sql, call, fence);
}
