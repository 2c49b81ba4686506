
/*
 * Makes the documents in which rows cross to a server.
 *
 * A document is an object, or an array of objects with short keys, one per
 * row; "n" is the number of the row.  Payloads are concatenated in a second
 * parameter, and each row has the offset and length of its own.
 */

#include "sm_store_server.h"


static void
sm_server_out_str(sm_out_t *out, const char *key, sm_str_t value)
{
    sm_out_c(out, key);

    if (value.data) {
        sm_json_out_str(out, value);

    } else {
        sm_out_c(out, "null");
    }
}


static void
sm_server_out_int(sm_out_t *out, const char *key, int64_t value)
{
    sm_out_c(out, key);
    sm_out_int(out, value);
}


/*
 * Returns whether a row shares its payload with the row before it, as those of
 * a schedule do.  Such a payload crosses only once.
 */

static int
sm_server_same_payload(const sm_submit_row_t *rows, size_t i)
{
    return i && rows[i].payload.data == rows[i - 1].payload.data
           && rows[i].payload.len == rows[i - 1].payload.len;
}


/*
 * Writes "occurrences":[{"n":0,"schedule":""}], the rows that must not be
 * created if such a schedule exists.  It is the first key; most documents do
 * not have it.
 */

static void
sm_server_out_occurrences(sm_out_t *out, const sm_submit_row_t *rows, size_t n)
{
    size_t       i;
    sm_str_t     schedule;
    const char  *key, *end;

    key = "\"occurrences\":[{\"n\":";
    end = "";

    for (i = 0; i < n; i++) {

        if (!rows[i].occurrence
            && sm_schedule_occurrence(rows[i].id, &schedule))
        {
            sm_server_out_int(out, key, i);
            sm_server_out_str(out, ",\"schedule\":", schedule);
            sm_out_c(out, "}");

            key = ",{\"n\":";
            end = "],";
        }
    }

    sm_out_c(out, end);
}


/* Writes {"contracts":[{"c":0,...}],"rows":[{"n":0,"id":"","c":0,...}]}. */

int
sm_server_submit_doc(sm_arena_t *arena, const sm_submit_row_t *rows, size_t n,
    sm_str_t *doc, sm_str_t *bytes)
{
    char                  *p;
    size_t                 i, k, at, contracts;
    uint32_t              *which;
    sm_out_t               out;
    sm_str_t               hash;
    const sm_contract_t  **seen;

    which = sm_arena_calloc(arena, n, sizeof(uint32_t));
    seen = sm_arena_calloc(arena, n, sizeof(sm_contract_t *));

    if (which == NULL || seen == NULL) {
        return -1;
    }

    contracts = 0;
    bytes->len = 0;

    for (i = 0; i < n; i++) {

        for (k = 0; k < contracts && seen[k] != rows[i].contract; k++) {
            /* void */
        }

        which[i] = k;

        if (k == contracts) {
            seen[contracts++] = rows[i].contract;
        }

        if (!sm_server_same_payload(rows, i)) {
            bytes->len += rows[i].payload.len;
        }
    }

    p = sm_arena_alloc(arena, bytes->len + 1);
    if (p == NULL) {
        return -1;
    }

    bytes->data = p;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "{");
    sm_server_out_occurrences(&out, rows, n);
    sm_out_c(&out, "\"contracts\":[");

    for (k = 0; k < contracts; k++) {
        sm_out_c(&out, k ? "," : "");
        sm_contract_out(&out, seen[k]);
        sm_server_out_int(&out, ",\"c\":", k);
        sm_out_c(&out, "}");
    }

    sm_out_c(&out, "],\"rows\":[");

    for (i = 0, at = 0; i < n; i++) {
        hash.data = rows[i].hash;
        hash.len = SM_HASH_LEN;

        sm_server_out_int(&out, i ? ",{\"n\":" : "{\"n\":", i);
        sm_server_out_str(&out, ",\"id\":", rows[i].id);
        sm_server_out_int(&out, ",\"c\":", which[i]);
        sm_server_out_str(&out, ",\"hash\":", hash);

        if (!sm_server_same_payload(rows, i)) {
            at = p - bytes->data;
        }

        sm_server_out_int(&out, ",\"at\":", at);
        sm_server_out_int(&out, ",\"len\":", rows[i].payload.len);

        sm_out_fields(&out, sm_posted_fields, &rows[i].posted);

        if (rows[i].trace.parent.data) {
            sm_server_out_str(&out, ",\"trace\":", rows[i].trace.parent);
        }

        if (rows[i].trace.state.data) {
            sm_server_out_str(&out, ",\"state\":", rows[i].trace.state);
        }

        sm_out_c(&out, "}");

        if (rows[i].payload.len && !sm_server_same_payload(rows, i)) {
            (void) memcpy(p, rows[i].payload.data, rows[i].payload.len);
            p += rows[i].payload.len;
        }
    }

    sm_out_c(&out, "]}");

    return sm_out_done(&out, doc);
}


/* Writes ["id",...]. */

int
sm_server_begin_doc(sm_arena_t *arena, const sm_begin_row_t *rows, size_t n,
    sm_str_t *doc)
{
    size_t    i;
    sm_out_t  out;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "[");

    for (i = 0; i < n; i++) {
        sm_server_out_str(&out, i ? "," : "", rows[i].id);
    }

    sm_out_c(&out, "]");

    return sm_out_done(&out, doc);
}


/* Writes [{"n":0,"id":"",...}]. */

int
sm_server_complete_doc(sm_arena_t *arena, const sm_complete_row_t *rows,
    size_t n, sm_str_t *doc)
{
    size_t                    i;
    sm_out_t                  out;
    const sm_complete_row_t  *row;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "[");

    for (i = 0; i < n; i++) {
        row = &rows[i];

        sm_server_out_int(&out, i ? ",{\"n\":" : "{\"n\":", i);
        sm_server_out_str(&out, ",\"id\":", row->id);
        sm_server_out_int(&out, ",\"number\":", row->number);
        sm_server_out_int(&out, ",\"epoch\":", row->epoch);
        sm_server_out_str(&out, ",\"holder\":", row->holder);

        if (row->error.data) {
            sm_server_out_str(&out, ",\"error\":", row->error);
        }

        if (row->outcome != SM_OUTCOME_NONE) {
            sm_server_out_int(&out, ",\"started\":", row->started_at);
            sm_server_out_int(&out, ",\"finished\":", row->finished_at);
            sm_server_out_str(&out, ",\"outcome\":",
                            sm_outcome_name(row->outcome));
            sm_server_out_str(&out, ",\"reason\":", row->reason);
            sm_server_out_str(&out, ",\"status\":",
                              sm_status_name(row->status));
            sm_server_out_str(&out, ",\"exhausted\":",
                            sm_exhausted_name(row->exhausted));

            if (row->http_status) {
                sm_server_out_int(&out, ",\"http\":", row->http_status);
            }

            if (row->answer.data) {
                sm_server_out_str(&out, ",\"answer\":", row->answer);
            }

            if (row->span_id.data) {
                sm_server_out_str(&out, ",\"span\":", row->span_id);
            }
        }

        if (row->held) {
            sm_server_out_int(&out, ",\"held\":", 1);
        }

        if (row->outcome == SM_OUTCOME_NONE
            ? row->delay > 0 : row->status == SM_STATUS_PENDING)
        {
            sm_server_out_int(&out, ",\"delay\":", row->delay);
        }

        sm_out_c(&out, "}");
    }

    sm_out_c(&out, "]");

    return sm_out_done(&out, doc);
}
