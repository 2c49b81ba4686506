
/*
 * A cursor comes back from a client: what is taken is within the stores'
 * bounds, and any that was given out reads as it was written.
 */

#include "fuzz.h"
#include "sm_cursor.h"


static sm_str_t
write_cursor(sm_arena_t *arena, int64_t at, sm_str_t id)
{
    sm_out_t  out;

    fuzz_out(arena, &out, sm_cursor_size(id.len));
    sm_cursor_out(&out, at, id);

    return fuzz_written(&out);
}


static void
same(sm_arena_t *arena, int64_t at, sm_str_t id)
{
    int64_t   again_at;
    sm_str_t  again_id;

    must(sm_cursor_parse(write_cursor(arena, at, id), &again_at, &again_id)
         == 0 && again_at == at && sm_str_eq(again_id, id),
         "a cursor reads as it was written");
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t     at;
    sm_str_t    s, id;
    sm_arena_t  arena = { NULL };

    s = fuzz_copy(fuzz_input(data, size));

    if (sm_cursor_parse(s, &at, &id) == 0) {
        must(at >= 0 && at <= SM_TIME_MAX, "the time is within bounds");
        must(sm_id_check(id) == NULL, "the id is one");
        same(&arena, at, id);
    }

    id = s;
    at = (int64_t) (fuzz_take(&id, 8) >> 1);

    if (at <= SM_TIME_MAX && sm_id_check(id) == NULL) {
        same(&arena, at, id);
    }

    fuzz_free(s);
    sm_arena_free(&arena);

    return 0;
}
