
/*
 * The arena holds everything that a store call returns, so a block that is
 * misaligned, shared by two owners, or lost on free is somebody else's data
 * or a leak per request.  Broken by: wrong rounding, a size computation that
 * wraps, a large block that hides the room left in the first one.
 */

#include "sm_arena.h"
#include "tap.h"


#define N  2000


static void
test_alloc(void)
{
    char        *p[N];
    size_t       i, k, bad, size[N];
    sm_arena_t   arena = { NULL };

    /* sizes on both sides of the block size and of half of it */

    for (i = 0, bad = 0; i < N; i++) {
        size[i] = i % 50 == 49 ? 4080 + i : i % 97;
        p[i] = sm_arena_alloc(&arena, size[i]);
        bad += p[i] == NULL || (uintptr_t) p[i] % 16 != 0;
        memset(p[i], (int) i, size[i]);
    }

    is_int(bad, 0, "%d blocks are aligned", N);

    for (i = 0, bad = 0; i < N; i++) {
        for (k = 0; k < size[i]; k++) {
            bad += p[i][k] != (char) i;
        }
    }

    is_int(bad, 0, "no block overlaps another");

    sm_arena_free(&arena);
    ok(arena.blocks == NULL, "freed");

    ok(sm_arena_alloc(&arena, 1) != NULL, "and usable again");
    sm_arena_free(&arena);
    sm_arena_free(&arena);
    ok(arena.blocks == NULL, "freed twice");
}


static void
test_large_block(void)
{
    char        *first, *large, *second;
    sm_arena_t   arena = { NULL };

    first = sm_arena_alloc(&arena, 16);
    large = sm_arena_alloc(&arena, 1 << 20);
    second = sm_arena_alloc(&arena, 16);

    memset(large, 0, 1 << 20);
    ok(second == first + 16, "a large block does not hide the room before it");

    sm_arena_free(&arena);

    large = sm_arena_alloc(&arena, 1 << 20);
    first = sm_arena_alloc(&arena, 16);
    second = sm_arena_alloc(&arena, 16);

    memset(large, 0, 1 << 20);
    ok(second == first + 16, "nor when it comes first");

    sm_arena_free(&arena);
}


static void
test_calloc(void)
{
    char        *p;
    size_t       i, bad;
    sm_arena_t   arena = { NULL };

    for (i = 0; i < 4; i++) {
        memset(sm_arena_alloc(&arena, 3000), 0xff, 3000);
    }

    sm_arena_free(&arena);

    p = sm_arena_calloc(&arena, 30, 100);

    for (i = 0, bad = 0; i < 3000; i++) {
        bad += p[i] != 0;
    }

    is_int(bad, 0, "calloc() gives zeros");

    ok(sm_arena_calloc(&arena, 0, 100) != NULL, "no elements");
    ok(sm_arena_calloc(&arena, 100, 0) != NULL, "empty elements");

    sm_arena_free(&arena);
}


static void
test_limits(void)
{
    sm_arena_t  arena = { NULL };

    ok(sm_arena_alloc(&arena, SIZE_MAX) == NULL, "SIZE_MAX is refused");
    ok(sm_arena_alloc(&arena, SIZE_MAX - 15) == NULL, "what rounds up to it");
    ok(sm_arena_alloc(&arena, SIZE_MAX / 2 + 1) == NULL, "half of it");
    ok(sm_arena_calloc(&arena, SIZE_MAX / 8 + 2, 8) == NULL,
       "a product that wraps to 8");
    ok(sm_arena_calloc(&arena, 8, SIZE_MAX / 8 + 2) == NULL,
       "the same the other way round");
    ok(arena.blocks == NULL, "nothing was allocated");
}


static void
test_strdup(void)
{
    sm_str_t    dst, nul = sm_str("a\0b"), none = sm_null_str;
    sm_arena_t  arena = { NULL };

    is_int(sm_arena_strdup(&arena, &dst, nul), 0, "strdup()");
    is_mem(dst.data, dst.len, "a\0b", 3, "bytes after a zero are kept");
    ok(dst.data != nul.data, "it is a copy");
    is_int(dst.data[3], 0, "terminated");

    is_int(sm_arena_strdup(&arena, &dst, none), 0, "strdup() of nothing");
    ok(dst.len == 0 && dst.data && dst.data[0] == '\0', "is an empty string");

    sm_arena_free(&arena);
}


int
main(void)
{
    needs_no_store();

    test_alloc();
    test_large_block();
    test_calloc();
    test_limits();
    test_strdup();

    return done_testing();
}
