
/*
 * Inside the queue: its entries, its targets, and where both are.  See
 * sm_queue.c.
 */

#ifndef SM_QUEUE_INSIDE_H
#define SM_QUEUE_INSIDE_H


#include "sm_bucket.h"
#include "sm_circuit.h"
#include "sm_heap.h"
#include "sm_index.h"
#include "sm_queue_target.h"


#define sm_container(p, type, member)                                         \
    ((type *) ((char *) (p) - offsetof(type, member)))


typedef struct sm_ring_s  sm_ring_t;

struct sm_ring_s {
    sm_ring_t             *prev;
    sm_ring_t             *next;        /* NULL: it is in none */
};


struct sm_entry_s {
    sm_index_node_t        node;
    sm_queue_target_t     *target;
    int64_t                due_at;
    int64_t                deadline;    /* INT64_MAX: none */
    sm_heap_node_t         waiting;     /* nowhere: it is taken, or expired */
    sm_heap_node_t         mortal;      /* in s->mortal, or s->expired */
    unsigned               expired:1;
    unsigned               aside:1;
    unsigned               slot:1;
    unsigned               token:1;     /* it has one, reserved */
    unsigned               probe:1;
    char                   id[];
};


struct sm_queue_target_s {
    sm_index_node_t        node;
    unsigned               limit;
    unsigned               slots;
    unsigned               taken;
    unsigned               expired;
    unsigned               aside;
    sm_heap_t              entries;
    sm_heap_node_t         later;
    sm_heap_node_t         held;
    sm_ring_t              ready;

    unsigned               kept:1;      /* even without entries */
    unsigned               former:1;    /* and has no number */
    unsigned               ruled:1;     /* it may be held */
    size_t                 number;      /* of a kept one */
    unsigned               round;       /* of pauses that has named it */
    sm_ring_t              paused;
    sm_bucket_t            bucket;
    sm_circuit_t           circuit;

    char                   name[];
};


struct sm_queue_s {
    unsigned               concurrency;
    unsigned               slots;
    size_t                 taken;
    sm_index_t             entries;
    sm_index_t             targets;
    sm_heap_t              later;
    sm_heap_t              held;
    sm_heap_t              mortal;
    sm_heap_t              expired;
    size_t                 mortals;     /* entries with a deadline */
    unsigned               behind:1;    /* some expired are in the way */
    unsigned               complete:1;  /* it has had all intents */
    sm_ring_t              ready;
    sm_ring_t              paused;
    unsigned               round;
    int64_t                now;         /* by both clocks, see tick */
    int64_t                clock;
    size_t                 bytes;       /* of entries, targets, their heaps */
    sm_queue_target_t    **kept;
    size_t                 nkept;
    sm_queue_limit_pt      limit;
    void                  *data;
};


void sm_ring_init(sm_ring_t *ring);
void sm_ring_add(sm_ring_t *ring, sm_ring_t *q);
void sm_ring_remove(sm_ring_t *q);

/* Return the bytes that malloc() takes. */
size_t sm_queue_block(size_t size);
size_t sm_queue_heap_block(const sm_heap_t *heap);

/* Finds or makes the target of that name.  Returns NULL without memory. */
sm_queue_target_t *sm_queue_target(sm_queue_t *s, sm_str_t name);
void sm_queue_forget_if_empty(sm_queue_t *s, sm_queue_target_t *t);
void sm_queue_free_target(sm_index_node_t *node);

/* Returns the due time of the first entry that waits; there must be one. */
int64_t sm_queue_due_at(const sm_queue_target_t *t);

/*
 * Returns until when a ruled target is held.  It is not held if that is not
 * after s->clock.
 */
int64_t sm_queue_held(const sm_queue_t *s,
    const sm_queue_target_t *t);

/*
 * Puts a target where it belongs, by its first entry and what holds it.  A
 * target in the ring keeps its place there; _again() takes it out first if it
 * is held.
 */
void sm_queue_aim(sm_queue_t *s, sm_queue_target_t *t);
void sm_queue_aim_again(sm_queue_t *s, sm_queue_target_t *t);

/*
 * _leave() takes a waiting entry out of its heaps, and moves its target.
 * _wait() puts an entry that is in no heap into them.
 */
void sm_queue_leave(sm_queue_t *s, sm_entry_t *e);
void sm_queue_wait(sm_queue_t *s, sm_entry_t *e, int64_t due_at);

/* Counts an entry as taken, with a slot. */
void sm_queue_mark(sm_queue_t *s, sm_entry_t *e);

/* Frees an entry that is in no heap any more, and its target if it was last. */
void sm_queue_free(sm_queue_t *s, sm_entry_t *e);

/*
 * Deadlines.  _set_deadline() takes an entry that is in neither heap of
 * deadlines, _out() an expired one that is in no heap.  Both return -1 without
 * memory, and leave the entry as it was.
 */
int sm_queue_set_deadline(sm_queue_t *s, sm_entry_t *e, int64_t deadline);
int sm_queue_out(sm_queue_t *s, sm_entry_t *e);


#endif /* SM_QUEUE_INSIDE_H */
