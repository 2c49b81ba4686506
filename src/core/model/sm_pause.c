
#include "sm_pause.h"


const sm_field_t  sm_pause_fields[] = {
    sm_field_hidden(sm_pause_t, target, "submission_target", TEXT),
    sm_field(sm_pause_t, reason, "reason", TEXT, "reason", SM_FIELD_NULL),
    sm_field(sm_pause_t, actor, "actor", TEXT, "actor", SM_FIELD_NULL),
    sm_field(sm_pause_t, since, "since", TIME, "at", SM_FIELD_ALWAYS),
    sm_null_field
};


sm_pause_t *
sm_pauses_add(sm_arena_t *arena, sm_pauses_t *pauses)
{
    size_t       size;
    sm_pause_t  *rows;

    if (pauses->n == pauses->size) {
        size = pauses->size ? 2 * pauses->size : 8;

        rows = sm_arena_calloc(arena, size, sizeof(sm_pause_t));
        if (rows == NULL) {
            return NULL;
        }

        if (pauses->n) {
            memcpy(rows, pauses->rows, pauses->n * sizeof(sm_pause_t));
        }

        pauses->rows = rows;
        pauses->size = size;
    }

    return &pauses->rows[pauses->n++];
}


int
sm_pause_detail(sm_arena_t *arena, sm_str_t reason, sm_str_t *detail)
{
    sm_out_t  out;

    detail->data = NULL;
    detail->len = 0;

    if (reason.len == 0) {
        return 0;
    }

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "{\"reason\":");
    sm_json_out_str(&out, reason);
    sm_out_c(&out, "}");

    return sm_out_done(&out, detail);
}


void
sm_target_set_out(sm_out_t *out, const sm_target_set_t *row)
{
    sm_out_c(out, "{\"target\":");
    sm_json_out_str(out, row->target);
    sm_out_c(out, ",\"state\":\"");
    sm_out_c(out, row->paused ? "paused" : "open");
    sm_out_c(out, "\"");

    if (row->is.since) {
        sm_out_c(out, ",\"since\":");
        sm_json_out_time(out, row->is.since);
    }

    if (row->paused) {
        sm_out_c(out, ",\"pause\":{");
        sm_out_fields(out, sm_pause_fields, &row->is);
        sm_out_c(out, "}");
    }

    sm_out_c(out, "}");
}
