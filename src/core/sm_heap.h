
/*
 * A heap, smallest first.  Its nodes are embedded in what they order; each
 * knows its place and can be moved and removed.  The keys are in the heap
 * itself, four children side by side, so that a step down costs one or two
 * cache lines, however many nodes there are.
 */

#ifndef SM_HEAP_H
#define SM_HEAP_H


#include <stddef.h>
#include <stdint.h>


typedef struct {
    uint32_t         place;     /* from 1; 0: it is in no heap */
} sm_heap_node_t;

typedef struct {
    int64_t          key;
    sm_heap_node_t  *node;
} sm_heap_slot_t;

typedef struct {
    sm_heap_slot_t  *slots;     /* the first is the smallest */
    uint32_t         n;
    uint32_t         size;
} sm_heap_t;


#define sm_heap_child(i)  (4 * (size_t) (i) + 1)        /* and the next three */


/* room for n of them; -1: no memory */
int sm_heap_reserve(sm_heap_t *heap, size_t n);

/* gives memory back, and keeps room for n */
void sm_heap_shrink(sm_heap_t *heap, size_t n);

/* there must be room */
void sm_heap_add(sm_heap_t *heap, sm_heap_node_t *node, int64_t key);
void sm_heap_move(sm_heap_t *heap, sm_heap_node_t *node, int64_t key);
void sm_heap_remove(sm_heap_t *heap, sm_heap_node_t *node);

void sm_heap_free(sm_heap_t *heap);


#endif /* SM_HEAP_H */
