
/*
 * Reads the audit, on any store.
 */

#include "sm_store_sql.h"


static int
sm_sql_audit_page(sm_sql_t *sql, sm_call_t *call, sm_audit_row_t *row)
{
    int64_t  at, seq;

    row->n = 0;
    row->more = 0;

    sm_audit_before(row, &at, &seq);

    row->entries = sm_arena_calloc(&call->arena, row->limit,
                                   sizeof(sm_audit_t));
    if (row->entries == NULL) {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_AUDIT_LIST);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, row->actor);
    sm_sql_put_text(sql, row->action);
    sm_sql_put_some(sql, row->from);
    sm_sql_put_some(sql, at);
    sm_sql_put_some(sql, seq);
    sm_sql_put_int(sql, row->limit + 1);

    return sm_row_page(sql, call, sm_audit_fields, row->entries,
                       sizeof(sm_audit_t), row->limit, &row->n, &row->more);
}


int
sm_sql_audit_list(sm_conn_t *conn, sm_call_t *call, sm_audit_row_t *rows,
    size_t n)
{
    size_t     i;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < n; i++) {
        if (sm_sql_audit_page(sql, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}
