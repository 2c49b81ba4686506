
#include "sm_batch.h"


int
sm_batch_ids_doc(sm_arena_t *arena, const sm_get_row_t *rows, size_t n,
    sm_str_t *doc)
{
    size_t    i, size;
    sm_out_t  out;

    size = sizeof("[]");

    for (i = 0; i < n; i++) {
        size += sm_json_str_size(rows[i].id.len) + 1;
    }

    sm_out_init(&out, sm_arena_alloc(arena, size), size);

    if (out.start == NULL) {
        return -1;
    }

    sm_out_c(&out, "[");

    for (i = 0; i < n; i++) {
        sm_out_c(&out, i ? "," : "");
        sm_json_out_str(&out, rows[i].id);
    }

    sm_out_c(&out, "]");

    doc->data = out.start;
    doc->len = out.last - out.start;

    return out.full ? -1 : 0;
}
