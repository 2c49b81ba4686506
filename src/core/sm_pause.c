
#include "sm_pause.h"


#define SM_PAUSE_FIXED  256


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
    void      *buf;
    size_t     size;
    sm_out_t   out;

    detail->data = NULL;
    detail->len = 0;

    if (reason.len == 0) {
        return 0;
    }

    size = sizeof("{\"reason\":}") + sm_json_str_size(reason.len);

    buf = sm_arena_alloc(arena, size);
    if (buf == NULL) {
        return -1;
    }

    sm_out_init(&out, buf, size);
    sm_out_c(&out, "{\"reason\":");
    sm_json_out_str(&out, reason);
    sm_out_c(&out, "}");

    detail->data = out.start;
    detail->len = out.last - out.start;

    return 0;
}


size_t
sm_target_set_size(const sm_target_set_t *row)
{
    return SM_PAUSE_FIXED
           + sm_json_str_size(row->target.len)
           + sm_json_str_size(row->is.reason.len)
           + sm_json_str_size(row->is.actor.len);
}


static void
sm_pause_out_str(sm_out_t *out, const char *key, sm_str_t s)
{
    sm_out_c(out, key);

    if (s.len) {
        sm_json_out_str(out, s);

    } else {
        sm_out_c(out, "null");
    }
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
        sm_pause_out_str(out, ",\"pause\":{\"reason\":", row->is.reason);
        sm_pause_out_str(out, ",\"actor\":", row->is.actor);
        sm_out_c(out, ",\"at\":");
        sm_json_out_time(out, row->is.since);
        sm_out_c(out, "}");
    }

    sm_out_c(out, "}");
}
