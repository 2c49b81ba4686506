
#include <stdlib.h>

#include "sm_arena.h"


#define SM_ARENA_BLOCK  8192
#define SM_ARENA_ALIGN  16


struct sm_arena_block_s {
    sm_arena_block_t  *next;
    size_t             used;
    size_t             size;
    _Alignas(SM_ARENA_ALIGN) char  data[];
};


void *
sm_arena_alloc(sm_arena_t *arena, size_t size)
{
    char              *p;
    size_t             capacity;
    sm_arena_block_t  *b;

    if (size > SIZE_MAX / 2) {
        return NULL;
    }

    size = (size + SM_ARENA_ALIGN - 1) & ~(size_t) (SM_ARENA_ALIGN - 1);

    b = arena->blocks;

    if (b == NULL || b->size - b->used < size) {
        capacity = size > SM_ARENA_BLOCK / 2 ? size : SM_ARENA_BLOCK;

        b = malloc(sizeof(sm_arena_block_t) + capacity);
        if (b == NULL) {
            return NULL;
        }

        b->used = 0;
        b->size = capacity;

        if (arena->blocks && capacity == size) {

            /* The first block stays first, because it may still have room. */

            b->next = arena->blocks->next;
            arena->blocks->next = b;

        } else {
            b->next = arena->blocks;
            arena->blocks = b;
        }
    }

    p = b->data + b->used;
    b->used += size;

    return p;
}


void *
sm_arena_calloc(sm_arena_t *arena, size_t n, size_t size)
{
    void  *p;

    if (size && n > SIZE_MAX / 2 / size) {
        return NULL;
    }

    p = sm_arena_alloc(arena, n * size);
    if (p) {
        memset(p, 0, n * size);
    }

    return p;
}


int
sm_arena_strdup(sm_arena_t *arena, sm_str_t *dst, sm_str_t src)
{
    char  *p;

    p = sm_arena_alloc(arena, src.len + 1);
    if (p == NULL) {
        return -1;
    }

    if (src.len) {
        memcpy(p, src.data, src.len);
    }

    p[src.len] = '\0';

    dst->data = p;
    dst->len = src.len;

    return 0;
}


void
sm_arena_free(sm_arena_t *arena)
{
    sm_arena_block_t  *b, *next;

    for (b = arena->blocks; b; b = next) {
        next = b->next;
        free(b);
    }

    arena->blocks = NULL;
}
