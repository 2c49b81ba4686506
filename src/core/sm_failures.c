
#include "sm_failures.h"


#define SM_FAILURES_FIXED  320
#define SM_FAILURES_STEP   60000000     /* usec */


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

    if (piece->at < row->since) {
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
        f->newest_at = piece->at;
    }

    f = &row->failures[row->n - 1];
    f->count += piece->group.count;

    if (f->nids < SM_FAILURES_IDS) {
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


size_t
sm_failures_size(const sm_failures_row_t *row)
{
    size_t               i, k, size;
    const sm_failure_t  *f;

    size = SM_FAILURES_FIXED;

    for (i = 0; i < row->n; i++) {
        f = &row->failures[i];

        size += SM_FAILURES_FIXED + sm_json_str_size(f->target.len)
                + sm_json_str_size(f->status.len)
                + sm_json_str_size(f->reason.len)
                + sm_json_str_size(f->last_error.len);

        for (k = 0; k < f->nids; k++) {
            size += sm_json_str_size(f->ids[k].len) + 1;
        }
    }

    return size;
}


static void
sm_failure_out(sm_out_t *out, const sm_failure_t *f)
{
    size_t  i;

    sm_out_c(out, "{\"submissionTarget\":");
    sm_json_out_str(out, f->target);
    sm_out_c(out, ",\"status\":");
    sm_json_out_str(out, f->status);
    sm_out_c(out, ",\"reason\":");

    if (f->reason.data) {
        sm_json_out_str(out, f->reason);

    } else {
        sm_out_c(out, "null");
    }

    sm_out_c(out, ",\"lastError\":");

    if (f->last_error.data) {
        sm_json_out_str(out, f->last_error);

    } else {
        sm_out_c(out, "null");
    }

    sm_out_c(out, ",\"count\":");
    sm_out_int(out, f->count);
    sm_out_c(out, ",\"newestAt\":");
    sm_json_out_time(out, f->newest_at);
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
