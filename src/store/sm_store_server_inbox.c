
/*
 * The inbox on a database server.
 */

#include "sm_store_server.h"


/* the columns of inbox_page */

enum {
    SM_INBOX_COL_SEQ = 1,
    SM_INBOX_COL_ID,
    SM_INBOX_COL_TARGET,
    SM_INBOX_COL_NOT_BEFORE,
    SM_INBOX_COL_SIZE,
    SM_INBOX_COL_TRACEPARENT,
    SM_INBOX_COL_TRACESTATE,
    SM_INBOX_COL_PAYLOAD,
    SM_INBOX_COL_COUNT
};

_Static_assert(SM_INBOX_COL_COUNT == (int) SM_PROC_COLS_INBOX_PAGE,
               "each column of inbox_page");


/* the columns of inbox_move */

enum {
    SM_MOVE_COL_N = 1,
    SM_MOVE_COL_OUTCOME,                /* sm_inbox_e */
    SM_MOVE_COL_COUNT
};

_Static_assert(SM_MOVE_COL_COUNT == (int) SM_PROC_COLS_INBOX_MOVE,
               "each column of inbox_move");


/* the bytes of a row's keys, punctuation and integers, at most */

#define SM_INBOX_ROW_SIZE  256


static int
sm_server_inbox_row(sm_server_t *sv, sm_call_t *call, size_t max_payload,
    sm_inbox_row_t *row)
{
    row->seq = sm_server_int(sv, SM_INBOX_COL_SEQ);
    row->not_before = sm_server_int(sv, SM_INBOX_COL_NOT_BEFORE);
    row->too_large = sm_server_int(sv, SM_INBOX_COL_SIZE)
                     > (int64_t) max_payload;

    if (sm_server_text(sv, call, SM_INBOX_COL_ID, &row->id) != 0
        || sm_server_text(sv, call, SM_INBOX_COL_TARGET, &row->target) != 0
        || sm_server_text(sv, call, SM_INBOX_COL_TRACEPARENT,
                          &row->trace.parent)
           != 0
        || sm_server_text(sv, call, SM_INBOX_COL_TRACESTATE, &row->trace.state)
           != 0
        || sm_server_bytes(sv, call, SM_INBOX_COL_PAYLOAD, &row->payload) != 0)
    {
        return -1;
    }

    return 0;
}


int
sm_server_inbox_page(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_inbox_page_t *page)
{
    size_t        bytes;
    sm_server_t  *sv = (sm_server_t *) conn;

    page->n = 0;
    page->more = 0;

    page->rows = sm_arena_calloc(&call->arena, page->limit,
                                 sizeof(sm_inbox_row_t));
    if (page->rows == NULL) {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_INBOX_PAGE);
    sm_server_put_fence(sv, fence);
    sm_server_put_int(sv, page->limit);
    sm_server_put_int(sv, page->bytes);
    sm_server_put_int(sv, page->max_payload);

    bytes = 0;

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1 && page->n < page->limit) {

            if (sm_server_inbox_row(sv, call, page->max_payload,
                                    &page->rows[page->n])
                != 0)
            {
                break;
            }

            bytes += page->rows[page->n++].payload.len;
        }
    }

    page->more = page->n == page->limit || bytes >= page->bytes;

    return sm_server_fenced(sv, call, fence);
}


/*
 * [{"n":0,"seq":1,"k":0,"hash":"","target":"","before":0}], where "k" is the
 * place among those that are submitted; or with "reason" and "detail".
 */

static int
sm_server_inbox_doc(sm_arena_t *arena, const sm_inbox_row_t *rows, size_t n,
    sm_str_t *doc)
{
    size_t                 i, k, size;
    sm_out_t               out;
    sm_str_t               hash;
    const sm_inbox_row_t  *row;

    for (i = 0, size = 8; i < n; i++) {
        size += SM_INBOX_ROW_SIZE + sm_json_str_size(rows[i].reason.len)
                + sm_json_str_size(rows[i].detail.len);

        if (rows[i].submit.contract) {
            size += sm_json_str_size(rows[i].submit.contract->target.len);
        }
    }

    sm_out_init(&out, sm_arena_alloc(arena, size), size);

    if (out.start == NULL) {
        return -1;
    }

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

            if (row->not_before) {
                sm_out_c(&out, ",\"before\":");
                sm_out_int(&out, row->not_before);
            }
        }

        sm_out_c(&out, "}");
    }

    sm_out_c(&out, "]");

    doc->data = out.start;
    doc->len = out.last - out.start;

    return out.full ? -1 : 0;
}


/* what POST would send, of those that are valid */

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
    size_t        i;
    int64_t       key;
    sm_str_t      doc, bytes, moves;
    sm_server_t  *sv = (sm_server_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].outcome = SM_INBOX_LEFT;
    }

    if (sm_server_inbox_submit(&call->arena, rows, n, &doc, &bytes) != 0
        || sm_server_inbox_doc(&call->arena, rows, n, &moves) != 0)
    {
        return sm_server_no_memory(call);
    }

    sm_server_start(sv, SM_PROC_INBOX_MOVE);
    sm_server_put_fence(sv, fence);
    sm_server_put_text(sv, doc);
    sm_server_put_bytes(sv, bytes);
    sm_server_put_text(sv, moves);
    sm_server_put_int(sv, max_payload);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1) {

            key = sm_server_int(sv, SM_MOVE_COL_N);

            if (key < 0 || key >= (int64_t) n) {
                (void) sm_call_fail(call, SM_STORE_SCHEMA, 0, "%s: "
                                    "submission_inbox_move gives a row that "
                                    "was not asked for", sv->driver->name);
                break;
            }

            rows[key].outcome = (sm_inbox_e) sm_server_int(sv,
                                                        SM_MOVE_COL_OUTCOME);
        }
    }

    return sm_server_fenced(sv, call, fence);
}
