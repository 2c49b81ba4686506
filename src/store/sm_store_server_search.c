
/*
 * Lists of intents on a database server, but for that of the newest.
 */

#include "sm_search.h"
#include "sm_store_server.h"


static void
sm_server_search_time(sm_server_t *sv, const sm_list_row_t *row)
{
    sm_search_span_t  span;

    static const sm_str_t  created = sm_str("created");
    static const sm_str_t  completed = sm_str("completed");
    static const sm_str_t  reason = sm_str("reason");

    sm_search_span(row, &span);

    sm_server_start(sv, SM_PROC_INTENTS_SEARCH);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, row->reason.data ? reason
                           : row->by == SM_LIST_COMPLETED ? completed
                                                          : created);
    sm_server_put_text(sv, sm_status_name(row->status));
    sm_server_put_text(sv, row->target);
    sm_server_put_text(sv, row->reason);
    sm_server_put_int(sv, row->asc);
    sm_server_put_int(sv, span.at);
    sm_server_put_text(sv, span.id);
    sm_server_put_int(sv, span.end);
    sm_server_put_int(sv, row->limit + 1);
}


static void
sm_server_search_ids(sm_server_t *sv, const sm_list_row_t *row)
{
    sm_search_ids_t  ids;

    sm_search_ids(row, &ids);

    sm_server_start(sv, SM_PROC_INTENTS_PREFIX);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, ids.low);
    sm_server_put_text(sv, ids.high);
    sm_server_put_text(sv, ids.skip);
    sm_server_put_int(sv, row->asc);
    sm_server_put_int(sv, row->limit + 1);
}


int
sm_server_intents_search(sm_conn_t *conn, sm_call_t *call,
    const sm_list_row_t *row, sm_key_t *keys, size_t *n)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    if (row->prefix.data) {
        sm_server_search_ids(sv, row);

    } else {
        sm_server_search_time(sv, row);
    }

    *n = 0;

    if (sm_server_exec(sv, call) == 0) {
        while (*n <= row->limit && sm_server_fetch(sv, call) == 1) {

            keys[*n].at = sm_server_int(sv, 0);

            if (sm_server_text(sv, call, 1, &keys[*n].id) != 0) {
                break;
            }

            (*n)++;
        }
    }

    return sm_server_end(sv, call);
}
