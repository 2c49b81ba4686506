
/*
 * The schedule in SQLite: what has an attempt to come.
 */

#include "sm_policy.h"
#include "sm_store_sqlite.h"


static const unsigned  sm_sqlite_pages[] = {
    [SM_PAGE_MODIFIED] = SM_SQLITE_PAGE_MODIFIED,
    [SM_PAGE_DUE] = SM_SQLITE_PAGE_DUE,
    [SM_PAGE_LIVE] = SM_SQLITE_PAGE_LIVE
};

_Static_assert(sm_nelts(sm_sqlite_pages) == SM_PAGE_COUNT,
               "a statement for each order");


static int
sm_sqlite_page_rows(sm_sqlite_t *sq, sm_call_t *call, sm_page_t *page)
{
    int            rc;
    sm_due_t      *row;
    sm_str_t       target, none = sm_str("");
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[sm_sqlite_pages[page->order]];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_int(stmt, ":after_at", page->after_at);
    sm_sqlite_bind_text(stmt, ":after_id",
                        page->after_id.data ? page->after_id : none);
    sm_sqlite_bind_int(stmt, ":limit", page->limit);

    if (page->order == SM_PAGE_LIVE) {
        sm_sqlite_bind_int(stmt, ":now", call->now);
    }

    target = none;

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {

        row = &page->rows[page->n];

        row->at = sqlite3_column_int64(stmt, 2);
        row->due_at = sqlite3_column_int64(stmt, 3);
        row->deadline = sm_deadline(sqlite3_column_int64(stmt, 4),
                                    sqlite3_column_int64(stmt, 5));

        /* most have the target of the one before */

        if (!sm_str_eq(sm_sqlite_peek(stmt, 1), target)
            && sm_sqlite_text(call, stmt, 1, &target) != 0)
        {
            break;
        }

        row->target = target;

        if (sm_sqlite_text(call, stmt, 0, &row->id) != 0) {
            break;
        }

        page->n++;
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


int
sm_sqlite_schedule_page(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_page_t *page)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    sm_sqlite_start_call(sq);

    page->n = 0;

    page->rows = sm_arena_calloc(&call->arena, page->limit, sizeof(sm_due_t));
    if (page->rows == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    if (sm_sqlite_run(sq, call, SM_SQLITE_BEGIN_READ) != 0) {
        return -1;
    }

    if (sm_sqlite_fence_read(sq, call, fence) != 0
        || sm_sqlite_page_rows(sq, call, page) != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_run(sq, call, SM_SQLITE_COMMIT);
}
