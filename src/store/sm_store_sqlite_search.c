
/*
 * Lists of intents in SQLite, but for that of the newest.
 */

#include "sm_search.h"
#include "sm_store_sqlite.h"


static sqlite3_stmt *
sm_sqlite_search_time(sm_sqlite_t *sq, const sm_list_row_t *row)
{
    sqlite3_stmt      *stmt;
    sm_search_span_t   span;

    static const sm_str_t  created = sm_str("created");
    static const sm_str_t  completed = sm_str("completed");
    static const sm_str_t  reason = sm_str("reason");

    sm_search_span(row, &span);

    stmt = sq->stmts[SM_SQLITE_SEARCH];

    /* no data binds NULL: any */

    sm_sqlite_bind_text(stmt, ":by", row->reason.data ? reason
                        : row->by == SM_LIST_COMPLETED ? completed : created);
    sm_sqlite_bind_text(stmt, ":target", row->target);
    sm_sqlite_bind_text(stmt, ":status", sm_status_name(row->status));
    sm_sqlite_bind_text(stmt, ":reason", row->reason);
    sm_sqlite_bind_int(stmt, ":at", span.at);
    sm_sqlite_bind_text(stmt, ":id", span.id);
    sm_sqlite_bind_int(stmt, ":end", span.end);

    return stmt;
}


static sqlite3_stmt *
sm_sqlite_search_ids(sm_sqlite_t *sq, const sm_list_row_t *row)
{
    sqlite3_stmt     *stmt;
    sm_search_ids_t   ids;

    sm_search_ids(row, &ids);

    stmt = sq->stmts[SM_SQLITE_PREFIX];

    sm_sqlite_bind_text(stmt, ":low", ids.low);
    sm_sqlite_bind_text(stmt, ":high", ids.high);
    sm_sqlite_bind_text(stmt, ":skip", ids.skip);

    return stmt;
}


int
sm_sqlite_intents_search(sm_conn_t *conn, sm_call_t *call,
    const sm_list_row_t *row, sm_key_t *keys, size_t *n)
{
    int            rc;
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    sm_sqlite_start_call(sq);

    stmt = row->prefix.data ? sm_sqlite_search_ids(sq, row)
                            : sm_sqlite_search_time(sq, row);

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_int(stmt, ":up", row->asc);
    sm_sqlite_bind_int(stmt, ":limit", row->limit + 1);

    *n = 0;

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && *n <= row->limit) {

        keys[*n].at = sqlite3_column_int64(stmt, 0);

        if (sm_sqlite_text(call, stmt, 1, &keys[*n].id) != 0) {
            break;
        }

        (*n)++;
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}
