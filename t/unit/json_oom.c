
/*
 * Without memory a document is not read, and says so.  The parser writes to
 * whatever its allocator returns, so that it must never be NULL.  ASAN refuses
 * blocks beyond a megabyte here, and finds what is left of the others.  Broken
 * by: an allocator that returns without memory, blocks that stay.
 */

#include <stdlib.h>

#include "sm_json.h"
#include "tap.h"


#define LONG  (6 * 1024 * 1024)


const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1";
}


static const sm_json_field_t  fields[] = {
    { "a", SM_JSON_ANY, 0 },
    { NULL, 0, 0 }
};


static char  body[LONG];


/* what "head" begins has to be decoded, and so copied */

static void
test_read(const char *head, const char *name)
{
    sm_str_t         s;
    sm_arena_t       arena = { NULL };
    sm_json_error_t  err;
    sm_json_value_t  v[1];

    s.data = body;
    s.len = sprintf(body, "{\"a\":%s", head);

    memset(body + s.len, 'a', LONG - s.len);
    s.len = LONG;

    memset(&err, 0, sizeof(sm_json_error_t));

    is_int(sm_json_object(&arena, s, fields, v, &err), -1, name);
    is_int(err.no_memory, 1, "%s: for lack of memory", name);

    is_int(sm_json_object(&arena, sm_str_c("{\"a\":\"\\n\"}"), fields, v, &err),
           0, "%s: the next one is read", name);

    sm_arena_free(&arena);
}


int
main(void)
{
    needs_no_store();

    test_read("[\"\\n", "a string");
    test_read("{\"\\n", "a key");

    return done_testing();
}
