
#include <stdlib.h>

#include "sm_heap.h"


#define SM_HEAP_MIN  8
#define SM_HEAP_MAX  (UINT32_MAX / 2)


static int
sm_heap_resize(sm_heap_t *heap, size_t size)
{
    sm_heap_slot_t  *slots;

    slots = realloc(heap->slots, size * sizeof(sm_heap_slot_t));
    if (slots == NULL) {
        return -1;
    }

    heap->slots = slots;
    heap->size = size;

    return 0;
}


int
sm_heap_reserve(sm_heap_t *heap, size_t n)
{
    size_t  size;

    if (n <= heap->size) {
        return 0;
    }

    if (n > SM_HEAP_MAX) {
        return -1;
    }

    size = (size_t) heap->size + heap->size / 2;

    if (size < n) {
        size = n;
    }

    return sm_heap_resize(heap, size < SM_HEAP_MIN ? SM_HEAP_MIN : size);
}


void
sm_heap_shrink(sm_heap_t *heap, size_t n)
{
    if (heap->size > 4 * SM_HEAP_MIN && n < heap->size / 4) {
        (void) sm_heap_resize(heap, heap->size / 2);
    }
}


static void
sm_heap_put(sm_heap_t *heap, size_t i, sm_heap_node_t *node, int64_t key)
{
    heap->slots[i].key = key;
    heap->slots[i].node = node;
    node->place = i + 1;
}


static size_t
sm_heap_least_child(const sm_heap_t *heap, size_t i)
{
    size_t  k, end, least;

    least = sm_heap_child(i);
    end = least + 4 < heap->n ? least + 4 : heap->n;

    for (k = least + 1; k < end; k++) {
        if (heap->slots[k].key < heap->slots[least].key) {
            least = k;
        }
    }

    return least;
}


/* Puts the node into the free slot i, and moves it up or down from there. */

static void
sm_heap_sift(sm_heap_t *heap, size_t i, sm_heap_node_t *node, int64_t key)
{
    size_t           k;
    sm_heap_slot_t  *slots = heap->slots;

    while (i && slots[(i - 1) / 4].key > key) {
        k = (i - 1) / 4;
        sm_heap_put(heap, i, slots[k].node, slots[k].key);
        i = k;
    }

    while (sm_heap_child(i) < heap->n) {
        k = sm_heap_least_child(heap, i);

        if (slots[k].key >= key) {
            break;
        }

        sm_heap_put(heap, i, slots[k].node, slots[k].key);
        i = k;
    }

    sm_heap_put(heap, i, node, key);
}


void
sm_heap_add(sm_heap_t *heap, sm_heap_node_t *node, int64_t key)
{
    heap->n++;

    sm_heap_sift(heap, heap->n - 1, node, key);
}


void
sm_heap_move(sm_heap_t *heap, sm_heap_node_t *node, int64_t key)
{
    sm_heap_sift(heap, node->place - 1, node, key);
}


void
sm_heap_remove(sm_heap_t *heap, sm_heap_node_t *node)
{
    size_t          i = node->place - 1;
    sm_heap_slot_t  last = heap->slots[--heap->n];

    node->place = 0;

    if (i < heap->n) {
        sm_heap_sift(heap, i, last.node, last.key);
    }
}


void
sm_heap_free(sm_heap_t *heap)
{
    free(heap->slots);

    heap->slots = NULL;
    heap->n = 0;
    heap->size = 0;
}
