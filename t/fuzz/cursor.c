
/*
 * A cursor comes back from a client: what is taken is within the stores'
 * bounds, and any that was given out reads as it was written.
 */

#include "fuzz.h"
#include "sm_cursor.h"


static void
same(sm_arena_t *arena, int64_t at, sm_str_t id)
{
    char      *buf;
    int64_t    again_at;
    sm_out_t   out;
    sm_str_t   s, again_id;

    sm_out_init_arena(&out, arena);
    sm_cursor_out(&out, at, id);
    s = fuzz_copy(fuzz_written(&out));

    buf = malloc(s.len);

    must(sm_cursor_parse(s, buf, &again_at, &again_id) == 0
         && again_at == at && sm_str_eq(again_id, id),
         "a cursor reads as it was written");

    free(buf);
    fuzz_free(s);
}


static void
any(sm_arena_t *arena, sm_str_t cursor)
{
    char      *buf;
    int64_t    at;
    sm_str_t   s, id;

    s = fuzz_copy(cursor);
    buf = malloc(s.len);

    if (sm_cursor_parse(s, buf, &at, &id) == 0) {
        must(at >= 0 && at <= SM_TIME_MAX, "the time is within bounds");
        must(sm_id_check(id) == NULL, "the id is one");
        same(arena, at, id);
    }

    free(buf);
    fuzz_free(s);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char       *buf;
    size_t      len;
    int64_t     at;
    sm_str_t    s, id;
    sm_out_t    out;
    sm_arena_t  arena = { NULL };

    s = fuzz_copy(fuzz_input(data, size));

    /* as it is, and with the first of its wrappings on */

    any(&arena, s);

    fuzz_out(&arena, &out, sm_base64url_size(s.len));
    sm_out_base64url(&out, s);
    any(&arena, fuzz_written(&out));

    buf = malloc(sm_base64url_size(s.len));

    must(sm_base64url(buf, fuzz_written(&out), &len) == 0 && len == s.len
         && (len == 0 || memcmp(buf, s.data, len) == 0),
         "base64url reads as it was written");

    free(buf);

    id = s;
    at = (int64_t) (fuzz_take(&id, 8) >> 1);

    if (at <= SM_TIME_MAX && sm_id_check(id) == NULL) {
        same(&arena, at, id);
    }

    fuzz_free(s);
    sm_arena_free(&arena);

    return 0;
}
