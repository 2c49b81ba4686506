
/* Reads lists of intents, except the list of the newest, on any store. */

#include "sm_search.h"
#include "sm_store_sql.h"


static void
sm_sql_search_time(sm_sql_t *sql, const sm_list_row_t *row)
{
    sm_search_span_t  span;

    static const sm_str_t  created = sm_str("created");
    static const sm_str_t  completed = sm_str("completed");
    static const sm_str_t  reason = sm_str("reason");

    sm_search_span(row, &span);

    sm_sql_start(sql, SM_PROC_INTENTS_SEARCH);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, row->reason.data ? reason
                           : row->by == SM_LIST_COMPLETED ? completed
                                                          : created);
    sm_sql_put_text(sql, sm_status_name(row->status));
    sm_sql_put_text(sql, row->target);
    sm_sql_put_text(sql, row->reason);
    sm_sql_put_int(sql, row->asc);
    sm_sql_put_int(sql, span.at);
    sm_sql_put_text(sql, span.id);
    sm_sql_put_int(sql, span.end);
    sm_sql_put_int(sql, row->limit + 1);
}


static void
sm_sql_search_ids(sm_sql_t *sql, const sm_list_row_t *row)
{
    sm_search_ids_t  ids;

    sm_search_ids(row, &ids);

    sm_sql_start(sql, SM_PROC_INTENTS_PREFIX);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, ids.low);
    sm_sql_put_text(sql, ids.high);
    sm_sql_put_text(sql, ids.skip);
    sm_sql_put_int(sql, row->asc);
    sm_sql_put_int(sql, row->limit + 1);
}


int
sm_sql_intents_search(sm_conn_t *conn, sm_call_t *call,
    const sm_list_row_t *row, sm_key_t *keys, size_t *n)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    if (row->prefix.data) {
        sm_sql_search_ids(sql, row);

    } else {
        sm_sql_search_time(sql, row);
    }

    *n = 0;

    if (sm_sql_exec(sql, call) == 0) {
        while (*n <= row->limit && sm_sql_fetch(sql, call) == 1) {

            keys[*n].at = sm_sql_int(sql, 0);

            if (sm_sql_text(sql, call, 1, &keys[*n].id) != 0) {
                break;
            }

            (*n)++;
        }
    }

    return sm_sql_end(sql, call);
}
