
#include "sm_failures.h"


#define SM_FAILURES_STEP   60000000     /* usec */


const sm_field_t  sm_failure_fields[] = {
    sm_field(sm_failure_t, target,
             "target", TEXT, SM_FIELD_TARGET, SM_FIELD_ALWAYS),
    sm_field(sm_failure_t, status, "status", TEXT, "status", SM_FIELD_ALWAYS),
    sm_field(sm_failure_t, reason,
             "reason", TEXT, "reason", SM_FIELD_NULL | SM_FIELD_EMPTY),
    sm_field(sm_failure_t, last_error,
             "last_error", TEXT, "lastError", SM_FIELD_NULL | SM_FIELD_EMPTY),
    sm_null_field
};


const sm_field_t  sm_failure_count_fields[] = {
    sm_field(sm_failure_t, count, "failures", INT, "count", SM_FIELD_ALWAYS),
    sm_field(sm_failure_t, replayed,
             "replayed", INT, "replayed", SM_FIELD_ALWAYS),
    sm_field(sm_failure_t, newest_at,
             "newest_at", TIME, "newestAt", SM_FIELD_ALWAYS),
    sm_null_field
};


int64_t
sm_failures_since(int64_t since)
{
    return since < 0 ? 0 : since - since % SM_FAILURES_STEP;
}


int
sm_failures_same(const sm_failures_row_t *a, const sm_failures_row_t *b)
{
    return a->since == b->since && sm_str_eq(a->target, b->target);
}


int64_t
sm_failures_earliest(const sm_failures_row_t *rows, size_t n)
{
    size_t   i;
    int64_t  since;

    since = rows[0].since;

    for (i = 1; i < n; i++) {
        if (rows[i].since < since) {
            since = rows[i].since;
        }
    }

    return since;
}


int
sm_failures_init(sm_failures_row_t *rows, size_t n, sm_arena_t *arena)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        rows[i].n = 0;
        rows[i].last = 0;
        rows[i].partial = 0;
        rows[i].failures = sm_arena_calloc(arena, SM_FAILURES_GROUPS,
                                           sizeof(sm_failure_t));
        if (rows[i].failures == NULL) {
            return -1;
        }
    }

    return 0;
}


static void
sm_failures_add_one(sm_failures_row_t *row, const sm_failures_piece_t *piece)
{
    sm_failure_t  *f;

    if (piece->seen >= row->since) {
        row->partial = 1;
    }

    if (piece->group.newest_at < row->since) {
        return;
    }

    if (piece->number != row->last) {

        if (row->n == SM_FAILURES_GROUPS) {
            row->partial = 1;
            return;
        }

        row->last = piece->number;

        f = &row->failures[row->n++];
        *f = piece->group;
        f->count = 0;
        f->replayed = 0;
    }

    f = &row->failures[row->n - 1];

    if (piece->group.replayed) {
        f->replayed += piece->group.count;

    } else {
        f->count += piece->group.count;
    }

    /* what was replayed is shown if there is nothing else */

    if (f->nids < SM_FAILURES_IDS && !(piece->group.replayed && f->count)) {
        f->ids[f->nids++] = piece->id;
    }
}


void
sm_failures_add(sm_failures_row_t *rows, size_t n,
    const sm_failures_piece_t *piece)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        sm_failures_add_one(&rows[i], piece);
    }
}


static void
sm_failure_out(sm_out_t *out, const sm_failure_t *f)
{
    size_t  i;

    sm_out_c(out, "{");
    sm_out_fields(out, sm_failure_fields, f);
    sm_out_fields(out, sm_failure_count_fields, f);
    sm_out_c(out, ",\"newestIds\":[");

    for (i = 0; i < f->nids; i++) {
        sm_out_c(out, i ? "," : "");
        sm_json_out_str(out, f->ids[i]);
    }

    sm_out_c(out, "]}");
}


void
sm_failures_out(sm_out_t *out, const sm_failures_row_t *row)
{
    size_t  i;

    sm_out_c(out, "{\"failures\":[");

    for (i = 0; i < row->n; i++) {
        sm_out_c(out, i ? "," : "");
        sm_failure_out(out, &row->failures[i]);
    }

    sm_out_c(out, "],\"complete\":");
    sm_out_c(out, row->partial ? "false" : "true");

    if (row->since) {
        sm_out_c(out, ",\"since\":");
        sm_json_out_time(out, row->since);
    }

    sm_out_c(out, ",\"asOf\":");
    sm_json_out_time(out, row->as_of);
    sm_out_c(out, "}");
}
