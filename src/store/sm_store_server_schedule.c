
/*
 * Schedules on a database server.
 */

#include "sm_store_server.h"


/* The columns of schedules_fire. */

enum {
    SM_FIRE_COL_N = 1,
    SM_FIRE_COL_K,
    SM_FIRE_COL_HASH,
    SM_FIRE_COL_TARGET,
    SM_FIRE_COL_NOT_BEFORE,
    SM_FIRE_COL_COUNT
};

_Static_assert(SM_FIRE_COL_COUNT == (int) SM_PROC_OWN_SCHEDULES_FIRE,
               "each column of schedules_fire");


/* Passes an empty fence if there is none, as for requests of clients. */

static void
sm_sql_put_some_fence(sm_sql_t *sql, const sm_fence_t *fence)
{
    static const sm_fence_t  none = { sm_null_str, 0 };

    sm_sql_put_fence(sql, fence ? fence : &none);
}


static int
sm_sql_some_fenced(sm_sql_t *sql, sm_call_t *call,
    const sm_fence_t *fence)
{
    return fence ? sm_sql_fenced(sql, call, fence) : sm_sql_end(sql, call);
}


int
sm_server_schedule_write(sm_conn_t *conn, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_write_t *write)
{
    sm_sql_t             *sql = (sm_sql_t *) conn;
    const sm_schedule_t  *schedule;

    schedule = write->schedule;
    write->done = 0;

    sm_sql_start(sql, SM_PROC_SCHEDULE_WRITE);
    sm_sql_put_some_fence(sql, fence);
    sm_sql_put_text(sql, sm_store_schedule_action(write->action));
    sm_sql_put_text(sql, schedule->id);
    sm_sql_put_int(sql, write->revision);
    sm_sql_put_text(sql, schedule->target);
    sm_sql_put_text(sql, schedule->body);
    sm_sql_put_text(sql, schedule->hash);
    sm_sql_put_text(sql, sm_str_c(schedule->configured ? "configuration"
                                                      : "api"));
    if (schedule->next_run_at) {
        sm_sql_put_int(sql, schedule->next_run_at);

    } else {
        sm_sql_put_no_int(sql);
    }

    sm_sql_put_bytes(sql, schedule->payload.data ? schedule->payload
                                                : sm_str_c(""));
    sm_sql_put_text(sql, schedule->pause_reason);
    sm_sql_put_text(sql, write->actor->name);
    sm_sql_put_text(sql, write->actor->address);
    sm_sql_put_text(sql, write->detail);

    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fenced_fetch(sql, call) == 1) {
            write->done = sm_sql_int(sql, 1) != 0;
        }
    }

    return sm_sql_some_fenced(sql, call, fence);
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
sm_server_fire_row(sm_out_t *out, const sm_schedule_fire_t *row, size_t n)
{
    sm_out_c(out, n ? ",{\"n\":" : "{\"n\":");
    sm_out_int(out, n);
    sm_out_c(out, ",\"id\":");
    sm_json_out_str(out, row->schedule->id);
    sm_out_c(out, ",\"rev\":");
    sm_out_int(out, row->schedule->revision);

    sm_server_fire_int(out, ",\"planned\":",
                       row->actor ? 0 : row->schedule->next_run_at);
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
sm_server_fire_doc(sm_arena_t *arena, const sm_schedule_fire_t *rows, size_t n,
    sm_str_t *doc)
{
    size_t    i;
    sm_out_t  out;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "[");

    for (i = 0; i < n; i++) {
        sm_server_fire_row(&out, &rows[i], i);
    }

    sm_out_c(&out, "]");

    return sm_out_done(&out, doc);
}


/*
 * Makes the document of the intents of all schedules, in the form that POST
 * sends.
 */

static int
sm_server_fire_intents(sm_arena_t *arena, const sm_schedule_fire_t *rows,
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
sm_server_fire_found(sm_sql_t *sql, sm_call_t *call, sm_submit_row_t *row)
{
    memset(&row->intent, 0, sizeof(sm_intent_t));

    row->intent.id = row->id;
    row->intent.posted.not_before = sm_sql_int(sql, SM_FIRE_COL_NOT_BEFORE);

    if (sm_sql_text(sql, call, SM_FIRE_COL_HASH, &row->intent.hash) != 0
        || sm_sql_text(sql, call, SM_FIRE_COL_TARGET, &row->intent.target)
           != 0)
    {
        return -1;
    }

    sm_submit_found(row);

    return 0;
}


static void
sm_server_fire_rows(sm_sql_t *sql, sm_call_t *call, sm_schedule_fire_t *rows,
    size_t n, sm_submit_row_t **intents, size_t nintents)
{
    size_t   i;
    int64_t  key, k;

    if (sm_sql_exec(sql, call) != 0) {
        return;
    }

    while (sm_sql_fenced_fetch(sql, call) == 1) {

        key = sm_sql_int(sql, SM_FIRE_COL_N);
        k = sm_sql_int(sql, SM_FIRE_COL_K);

        if (key == -1 && k >= 0 && k < (int64_t) nintents) {
            if (sm_server_fire_found(sql, call, intents[k]) != 0) {
                return;
            }

            continue;
        }

        if (key < 0 || key >= (int64_t) n) {
            (void) sm_call_fail(call, SM_STORE_SCHEMA, 0, "%s: "
                                "submission_schedules_fire gives a row that "
                                "was not asked for", sql->driver->name);
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
    const sm_fence_t *fence, sm_schedule_fire_t *rows, size_t n)
{
    size_t             i, nintents;
    sm_str_t           doc, bytes, moves, none = sm_null_str;
    sm_sql_t          *sql = (sm_sql_t *) conn;
    sm_submit_row_t  **intents;

    if (sm_server_fire_intents(&call->arena, rows, n, &intents, &nintents,
                               &doc, &bytes)
        != 0
        || sm_server_fire_doc(&call->arena, rows, n, &moves) != 0)
    {
        return sm_sql_no_memory(call);
    }

    for (i = 0; i < n; i++) {
        rows[i].done = 0;
    }

    for (i = 0; i < nintents; i++) {
        intents[i]->outcome = SM_SUBMIT_FAILED;
    }

    sm_sql_start(sql, SM_PROC_SCHEDULES_FIRE);
    sm_sql_put_some_fence(sql, fence);
    sm_sql_put_text(sql, doc);
    sm_sql_put_bytes(sql, bytes);
    sm_sql_put_text(sql, moves);
    sm_sql_put_text(sql, rows[0].actor ? rows[0].actor->name : none);
    sm_sql_put_text(sql, rows[0].actor ? rows[0].actor->address : none);
    sm_sql_put_text(sql, rows[0].detail);

    sm_server_fire_rows(sql, call, rows, n, intents, nintents);

    return sm_sql_some_fenced(sql, call, fence);
}
