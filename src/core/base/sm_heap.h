
/*
 * A heap, smallest key first.  Nodes are embedded in the structs that they
 * order; each knows its place, so it can be moved and removed.  Keys are kept
 * in the heap itself, those of four children side by side, so that a step down
 * touches one or two cache lines, however many nodes there are.
 */

#ifndef SM_HEAP_H
#define SM_HEAP_H


#include <stddef.h>
#include <stdint.h>


typedef struct {
    uint32_t         place;     /* from 1; 0 if it is in no heap */
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


#define sm_heap_child(i)  (4 * (size_t) (i) + 1)        /* the first of four */


/* Makes room for n nodes; returns -1 if there is no memory. */
int sm_heap_reserve(sm_heap_t *heap, size_t n);

/* Frees memory, but keeps room for n nodes. */
void sm_heap_shrink(sm_heap_t *heap, size_t n);

/* The caller has reserved room for the node. */
void sm_heap_add(sm_heap_t *heap, sm_heap_node_t *node, int64_t key);
void sm_heap_move(sm_heap_t *heap, sm_heap_node_t *node, int64_t key);
void sm_heap_remove(sm_heap_t *heap, sm_heap_node_t *node);

void sm_heap_free(sm_heap_t *heap);


#endif /* SM_HEAP_H */
