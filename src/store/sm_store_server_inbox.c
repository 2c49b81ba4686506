
/*
 * The inbox on a database server.
 */

#include "sm_store_server.h"


/* The columns of inbox_move. */

enum {
    SM_MOVE_COL_N = 1,
    SM_MOVE_COL_OUTCOME,                /* sm_inbox_e */
    SM_MOVE_COL_COUNT
};

_Static_assert(SM_MOVE_COL_COUNT == (int) SM_PROC_OWN_INBOX_MOVE,
               "each column of inbox_move");


/*
 * Writes [{"n":0,"seq":1,"k":0,"hash":"","target":"","before":0}].  "k" is the
 * place of the row in the document of submissions; a refused row has "reason"
 * and "detail" instead.
 */

static int
sm_server_inbox_doc(sm_arena_t *arena, const sm_inbox_row_t *rows, size_t n,
    sm_str_t *doc)
{
    size_t                 i, k;
    sm_out_t               out;
    sm_str_t               hash;
    const sm_inbox_row_t  *row;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "[");

    for (i = 0, k = 0; i < n; i++) {
        row = &rows[i];

        sm_out_c(&out, i ? ",{\"n\":" : "{\"n\":");
        sm_out_int(&out, i);
        sm_out_c(&out, ",\"seq\":");
        sm_out_int(&out, row->seq);

        if (row->reason.data) {
            sm_out_c(&out, ",\"reason\":");
            sm_json_out_str(&out, row->reason);
            sm_out_c(&out, ",\"detail\":");
            sm_json_out_str(&out, row->detail);

        } else {
            hash.data = row->submit.hash;
            hash.len = SM_HASH_LEN;

            sm_out_c(&out, ",\"k\":");
            sm_out_int(&out, k++);
            sm_out_c(&out, ",\"hash\":");
            sm_json_out_str(&out, hash);
            sm_out_c(&out, ",\"target\":");
            sm_json_out_str(&out, row->submit.contract->target);

            sm_out_fields(&out, sm_posted_fields, &row->submit.posted);
        }

        sm_out_c(&out, "}");
    }

    sm_out_c(&out, "]");

    return sm_out_done(&out, doc);
}


/* Makes the document of the valid rows, in the form that POST sends. */

static int
sm_server_inbox_submit(sm_arena_t *arena, const sm_inbox_row_t *rows, size_t n,
    sm_str_t *doc, sm_str_t *bytes)
{
    size_t            i, k;
    sm_submit_row_t  *submit;

    submit = sm_arena_calloc(arena, n, sizeof(sm_submit_row_t));
    if (submit == NULL) {
        return -1;
    }

    for (i = 0, k = 0; i < n; i++) {
        if (rows[i].reason.data == NULL) {
            submit[k++] = rows[i].submit;
        }
    }

    if (k) {
        return sm_server_submit_doc(arena, submit, k, doc, bytes);
    }

    doc->data = NULL;
    doc->len = 0;
    bytes->data = "";
    bytes->len = 0;

    return 0;
}


int
sm_server_inbox_move(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, size_t max_payload, sm_inbox_row_t *rows,
    size_t n)
{
    size_t     i;
    int64_t    key;
    sm_str_t   doc, bytes, moves;
    sm_sql_t  *sql = (sm_sql_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].outcome = SM_INBOX_LEFT;
    }

    if (sm_server_inbox_submit(&call->arena, rows, n, &doc, &bytes) != 0
        || sm_server_inbox_doc(&call->arena, rows, n, &moves) != 0)
    {
        return sm_sql_no_memory(call);
    }

    sm_sql_start(sql, SM_PROC_INBOX_MOVE);
    sm_sql_put_fence(sql, fence);
    sm_sql_put_text(sql, doc);
    sm_sql_put_bytes(sql, bytes);
    sm_sql_put_text(sql, moves);
    sm_sql_put_int(sql, max_payload);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fenced_fetch(sql, call) == 1) {

            key = sm_sql_int(sql, SM_MOVE_COL_N);

            if (key < 0 || key >= (int64_t) n) {
                (void) sm_call_fail(call, SM_STORE_SCHEMA, 0, "%s: "
                                    "submission_inbox_move gives a row that "
                                    "was not asked for", sql->driver->name);
                break;
            }

            rows[key].outcome = (sm_inbox_e) sm_sql_int(sql,
                                                        SM_MOVE_COL_OUTCOME);
        }
    }

    return sm_sql_fenced(sql, call, fence);
}
