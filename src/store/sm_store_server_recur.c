
/*
 * Schedules on a database server.
 */

#include "sm_store_server.h"


/* the columns of schedules_get and schedules_due */

enum {
    SM_RECUR_COL_ID = 1,
    SM_RECUR_COL_TARGET,
    SM_RECUR_COL_BODY,
    SM_RECUR_COL_HASH,
    SM_RECUR_COL_LAST_INTENT,
    SM_RECUR_COL_PAUSE_REASON,
    SM_RECUR_COL_ERROR,
    SM_RECUR_COL_ACTOR,
    SM_RECUR_COL_CONFIGURED,
    SM_RECUR_COL_REVISION,
    SM_RECUR_COL_NEXT,
    SM_RECUR_COL_LAST,
    SM_RECUR_COL_FIRED,
    SM_RECUR_COL_SKIPPED,
    SM_RECUR_COL_MISSED,
    SM_RECUR_COL_PAUSED_AT,
    SM_RECUR_COL_CREATED_AT,
    SM_RECUR_COL_MODIFIED_AT,
    SM_RECUR_COL_BUSY,
    SM_RECUR_COL_PAYLOAD,
    SM_RECUR_COL_COUNT
};

_Static_assert(SM_RECUR_COL_COUNT == (int) SM_PROC_COLS_SCHEDULES_GET
               && SM_RECUR_COL_COUNT == (int) SM_PROC_COLS_SCHEDULES_DUE,
               "each column of schedules_get and schedules_due");


/* the columns of schedules_fire */

enum {
    SM_FIRE_COL_N = 1,
    SM_FIRE_COL_K,
    SM_FIRE_COL_HASH,
    SM_FIRE_COL_TARGET,
    SM_FIRE_COL_NOT_BEFORE,
    SM_FIRE_COL_COUNT
};

_Static_assert(SM_FIRE_COL_COUNT == (int) SM_PROC_COLS_SCHEDULES_FIRE,
               "each column of schedules_fire");


/* the bytes of a row's keys, punctuation and integers, at most */

#define SM_FIRE_ROW_SIZE  384


/* without a fence, it is not an executor that asks */

static void
sm_server_put_some_fence(sm_server_t *sv, const sm_fence_t *fence)
{
    static const sm_fence_t  none = { sm_null_str, 0 };

    sm_server_put_fence(sv, fence ? fence : &none);
}


static int
sm_server_some_fenced(sm_server_t *sv, sm_call_t *call,
    const sm_fence_t *fence)
{
    return fence ? sm_server_fenced(sv, call, fence) : sm_server_end(sv, call);
}


static int
sm_server_recur_row(sm_server_t *sv, sm_call_t *call, sm_recur_t *row)
{
    if (sm_server_text(sv, call, SM_RECUR_COL_TARGET, &row->target) != 0
        || sm_server_text(sv, call, SM_RECUR_COL_BODY, &row->body) != 0
        || sm_server_text(sv, call, SM_RECUR_COL_HASH, &row->hash) != 0
        || sm_server_text(sv, call, SM_RECUR_COL_LAST_INTENT,
                          &row->last_intent) != 0
        || sm_server_text(sv, call, SM_RECUR_COL_PAUSE_REASON,
                          &row->pause_reason) != 0
        || sm_server_text(sv, call, SM_RECUR_COL_ERROR, &row->error) != 0
        || sm_server_text(sv, call, SM_RECUR_COL_ACTOR, &row->actor) != 0)
    {
        return -1;
    }

    row->configured = sm_server_int(sv, SM_RECUR_COL_CONFIGURED) != 0;
    row->revision = sm_server_int(sv, SM_RECUR_COL_REVISION);
    row->next_run_at = sm_server_int(sv, SM_RECUR_COL_NEXT);
    row->last_run_at = sm_server_int(sv, SM_RECUR_COL_LAST);
    row->fired = sm_server_int(sv, SM_RECUR_COL_FIRED);
    row->skipped = sm_server_int(sv, SM_RECUR_COL_SKIPPED);
    row->missed = sm_server_int(sv, SM_RECUR_COL_MISSED);
    row->paused_at = sm_server_int(sv, SM_RECUR_COL_PAUSED_AT);
    row->created_at = sm_server_int(sv, SM_RECUR_COL_CREATED_AT);
    row->modified_at = sm_server_int(sv, SM_RECUR_COL_MODIFIED_AT);
    row->busy = sm_server_int(sv, SM_RECUR_COL_BUSY) != 0;

    return sm_server_bytes(sv, call, SM_RECUR_COL_PAYLOAD, &row->payload);
}


/* one more than the page has tells that there are more */

static void
sm_server_recur_rows(sm_server_t *sv, sm_call_t *call, sm_recur_page_t *page)
{
    size_t    bytes;
    sm_str_t  id;

    bytes = 0;

    if (sm_server_exec(sv, call) != 0) {
        return;
    }

    while (sm_server_fenced_fetch(sv, call) == 1) {

        if (sm_server_text(sv, call, SM_RECUR_COL_ID, &id) != 0) {
            return;
        }

        if (id.len == 0) {
            page->next_due = sm_server_int(sv, SM_RECUR_COL_NEXT);
            continue;
        }

        if (page->n == page->limit) {
            page->more = 1;
            continue;
        }

        if (sm_server_recur_row(sv, call, &page->rows[page->n]) != 0) {
            return;
        }

        page->rows[page->n].id = id;
        bytes += page->rows[page->n++].payload.len;
    }

    if (page->bytes && bytes >= page->bytes) {
        page->more = 1;
    }
}


static int
sm_server_recur_page(sm_call_t *call, sm_recur_page_t *page)
{
    page->n = 0;
    page->more = 0;
    page->next_due = 0;

    page->rows = sm_arena_calloc(&call->arena, page->limit,
                                 sizeof(sm_recur_t));

    return page->rows ? 0 : sm_server_no_memory(call);
}


int
sm_server_schedules_get(sm_conn_t *conn, sm_call_t *call,
    sm_recur_page_t *page)
{
    sm_str_t      first, last;
    sm_server_t  *sv = (sm_server_t *) conn;

    if (sm_server_recur_page(call, page) != 0
        || sm_store_schedules_range(call, page, &first, &last) != 0)
    {
        return -1;
    }

    sm_server_start(sv, SM_PROC_SCHEDULES_GET);
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, first);
    sm_server_put_text(sv, last);
    sm_server_put_int(sv, page->limit + 1);
    sm_server_put_int(sv, page->special);
    sm_server_put_int(sv, page->payload);

    sm_server_recur_rows(sv, call, page);

    return sm_server_end(sv, call);
}


int
sm_server_schedules_due(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_recur_page_t *page)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    if (sm_server_recur_page(call, page) != 0) {
        return -1;
    }

    sm_server_start(sv, SM_PROC_SCHEDULES_DUE);
    sm_server_put_fence(sv, fence);
    sm_server_put_int(sv, page->limit + 1);
    sm_server_put_int(sv, page->bytes);

    sm_server_recur_rows(sv, call, page);

    return sm_server_fenced(sv, call, fence);
}


int
sm_server_schedule_write(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_recur_write_t *write)
{
    sm_server_t       *sv = (sm_server_t *) conn;
    const sm_recur_t  *recur;

    recur = write->recur;
    write->done = 0;

    sm_server_start(sv, SM_PROC_SCHEDULE_WRITE);
    sm_server_put_some_fence(sv, fence);
    sm_server_put_text(sv, sm_store_schedule_action(write->action));
    sm_server_put_text(sv, recur->id);
    sm_server_put_int(sv, write->revision);
    sm_server_put_text(sv, recur->target);
    sm_server_put_text(sv, recur->body);
    sm_server_put_text(sv, recur->hash);
    sm_server_put_text(sv, sm_str_c(recur->configured ? "configuration"
                                                      : "api"));
    if (recur->next_run_at) {
        sm_server_put_int(sv, recur->next_run_at);

    } else {
        sm_server_put_no_int(sv);
    }

    sm_server_put_bytes(sv, recur->payload.data ? recur->payload
                                                : sm_str_c(""));
    sm_server_put_text(sv, recur->pause_reason);
    sm_server_put_text(sv, write->actor->name);
    sm_server_put_text(sv, write->actor->address);
    sm_server_put_text(sv, write->detail);

    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fenced_fetch(sv, call) == 1) {
            write->done = sm_server_int(sv, 1) != 0;
        }
    }

    return sm_server_some_fenced(sv, call, fence);
}


static void
sm_server_fire_int(sm_out_t *out, const char *key, int64_t value)
{
    if (value) {
        sm_out_c(out, key);
        sm_out_int(out, value);
    }
}


static void
sm_server_fire_row(sm_out_t *out, const sm_recur_fire_t *row, size_t n)
{
    sm_out_c(out, n ? ",{\"n\":" : "{\"n\":");
    sm_out_int(out, n);
    sm_out_c(out, ",\"id\":");
    sm_json_out_str(out, row->recur->id);
    sm_out_c(out, ",\"rev\":");
    sm_out_int(out, row->recur->revision);

    sm_server_fire_int(out, ",\"planned\":",
                       row->actor ? 0 : row->recur->next_run_at);
    sm_server_fire_int(out, ",\"next\":", row->due.next * 1000000);
    sm_server_fire_int(out, ",\"last\":", row->last * 1000000);

    if (row->last_intent.data) {
        sm_out_c(out, ",\"lastId\":");
        sm_json_out_str(out, row->last_intent);
    }

    if (row->error.data) {
        sm_out_c(out, ",\"error\":");
        sm_json_out_str(out, row->error);
    }

    sm_out_c(out, ",\"fired\":");
    sm_out_int(out, row->due.n);
    sm_out_c(out, ",\"skipped\":");
    sm_out_int(out, row->due.skipped);
    sm_out_c(out, ",\"missed\":");
    sm_out_int(out, row->due.missed);
    sm_out_c(out, "}");
}


static int
sm_server_fire_doc(sm_arena_t *arena, const sm_recur_fire_t *rows, size_t n,
    sm_str_t *doc)
{
    size_t    i, size;
    sm_out_t  out;

    for (i = 0, size = 8; i < n; i++) {
        size += SM_FIRE_ROW_SIZE + sm_json_str_size(rows[i].recur->id.len)
                + sm_json_str_size(rows[i].last_intent.len)
                + sm_json_str_size(rows[i].error.len);
    }

    sm_out_init(&out, sm_arena_alloc(arena, size), size);

    if (out.start == NULL) {
        return -1;
    }

    sm_out_c(&out, "[");

    for (i = 0; i < n; i++) {
        sm_server_fire_row(&out, &rows[i], i);
    }

    sm_out_c(&out, "]");

    doc->data = out.start;
    doc->len = out.last - out.start;

    return out.full ? -1 : 0;
}


/* the intents of all schedules, as POST would send them */

static int
sm_server_fire_intents(sm_arena_t *arena, const sm_recur_fire_t *rows,
    size_t n, sm_submit_row_t ***intents, size_t *nintents, sm_str_t *doc,
    sm_str_t *bytes)
{
    size_t            i, j, k;
    sm_submit_row_t  *submit;

    for (i = 0, k = 0; i < n; i++) {
        k += rows[i].due.n;
    }

    *nintents = k;

    submit = sm_arena_calloc(arena, k + 1, sizeof(sm_submit_row_t));
    *intents = sm_arena_calloc(arena, k + 1, sizeof(sm_submit_row_t *));

    if (submit == NULL || *intents == NULL) {
        return -1;
    }

    for (i = 0, k = 0; i < n; i++) {
        for (j = 0; j < rows[i].due.n; j++) {
            (*intents)[k] = &rows[i].intents[j];
            submit[k++] = rows[i].intents[j];
        }
    }

    if (k) {
        return sm_server_submit_doc(arena, submit, k, doc, bytes);
    }

    doc->data = NULL;
    doc->len = 0;
    *bytes = sm_str_c("");

    return 0;
}


static int
sm_server_fire_found(sm_server_t *sv, sm_call_t *call, sm_submit_row_t *row)
{
    sm_str_t  hash;

    memset(&row->intent, 0, sizeof(sm_intent_t));

    row->intent.id = row->id;
    row->intent.not_before = sm_server_int(sv, SM_FIRE_COL_NOT_BEFORE);

    if (sm_server_text(sv, call, SM_FIRE_COL_HASH, &hash) != 0
        || sm_server_text(sv, call, SM_FIRE_COL_TARGET, &row->intent.target)
           != 0)
    {
        return -1;
    }

    sm_submit_found(row, hash);

    return 0;
}


static void
sm_server_fire_rows(sm_server_t *sv, sm_call_t *call, sm_recur_fire_t *rows,
    size_t n, sm_submit_row_t **intents, size_t nintents)
{
    size_t   i;
    int64_t  key, k;

    if (sm_server_exec(sv, call) != 0) {
        return;
    }

    while (sm_server_fenced_fetch(sv, call) == 1) {

        key = sm_server_int(sv, SM_FIRE_COL_N);
        k = sm_server_int(sv, SM_FIRE_COL_K);

        if (key == -1 && k >= 0 && k < (int64_t) nintents) {
            if (sm_server_fire_found(sv, call, intents[k]) != 0) {
                return;
            }

            continue;
        }

        if (key < 0 || key >= (int64_t) n) {
            (void) sm_call_fail(call, SM_STORE_SCHEMA, 0, "%s: "
                                "submission_schedules_fire gives a row that "
                                "was not asked for", sv->driver->name);
            return;
        }

        rows[key].done = 1;
    }

    for (i = 0; i < nintents; i++) {
        if (intents[i]->outcome == SM_SUBMIT_FAILED) {
            sm_submit_created(intents[i], call->now);
        }
    }
}


int
sm_server_schedules_fire(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_recur_fire_t *rows, size_t n)
{
    size_t             i, nintents;
    sm_str_t           doc, bytes, moves, none = sm_null_str;
    sm_server_t       *sv = (sm_server_t *) conn;
    sm_submit_row_t  **intents;

    if (sm_server_fire_intents(&call->arena, rows, n, &intents, &nintents,
                               &doc, &bytes)
        != 0
        || sm_server_fire_doc(&call->arena, rows, n, &moves) != 0)
    {
        return sm_server_no_memory(call);
    }

    for (i = 0; i < n; i++) {
        rows[i].done = 0;
    }

    for (i = 0; i < nintents; i++) {
        intents[i]->outcome = SM_SUBMIT_FAILED;
    }

    sm_server_start(sv, SM_PROC_SCHEDULES_FIRE);
    sm_server_put_some_fence(sv, fence);
    sm_server_put_text(sv, doc);
    sm_server_put_bytes(sv, bytes);
    sm_server_put_text(sv, moves);
    sm_server_put_text(sv, rows[0].actor ? rows[0].actor->name : none);
    sm_server_put_text(sv, rows[0].actor ? rows[0].actor->address : none);
    sm_server_put_text(sv, rows[0].detail);

    sm_server_fire_rows(sv, call, rows, n, intents, nintents);

    return sm_server_some_fenced(sv, call, fence);
}
