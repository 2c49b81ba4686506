
/*
 * The memory of one store call.  It belongs to the task that makes the call,
 * grows while the call runs in its thread, and is freed all at once.  Two
 * threads never share an arena at the same time.
 */

#ifndef SM_ARENA_H
#define SM_ARENA_H


#include "sm_str.h"


typedef struct sm_arena_block_s  sm_arena_block_t;

typedef struct {
    sm_arena_block_t  *blocks;
} sm_arena_t;


void *sm_arena_alloc(sm_arena_t *arena, size_t size);
void *sm_arena_calloc(sm_arena_t *arena, size_t n, size_t size);
int sm_arena_strdup(sm_arena_t *arena, sm_str_t *dst, sm_str_t src);
void sm_arena_free(sm_arena_t *arena);


#endif /* SM_ARENA_H */
