
/*
 * The index finds an entry by its id.  A waiting entry is in the heap of its
 * target, ordered by due time.  A taken entry is in no heap, but there is room
 * for it to come back.  From being taken until it has ended it has a slot, and
 * the bounds limit the slots.
 *
 * A target exists as long as it has entries.  If any of them wait, the target
 * is either in the heap "later", by the due time of its first entry, or in the
 * ring "ready" of targets that were found due and wait for their turn.  A
 * target at its bound keeps its place in the ring, and is the next when it is
 * below it.  Such a target has a slot, so there are never more of them than
 * slots, and passing over them is cheap.
 */

#include <stdlib.h>

#include "sm_heap.h"
#include "sm_index.h"
#include "sm_schedule.h"


/* what a target may take, as a multiple of what it leaves free */

#define SM_SCHEDULE_SHARE  8


typedef struct sm_ring_s  sm_ring_t;

struct sm_ring_s {
    sm_ring_t             *prev;
    sm_ring_t             *next;
};


struct sm_entry_s {
    sm_index_node_t        node;
    sm_schedule_target_t  *target;
    int64_t                due_at;
    sm_heap_node_t         waiting;     /* nowhere: it is taken */
    unsigned char          slot;
    char                   id[];
};


struct sm_schedule_target_s {
    sm_index_node_t        node;
    unsigned               limit;
    unsigned               slots;
    unsigned               taken;
    sm_heap_t              entries;
    sm_heap_node_t         later;
    sm_ring_t              ready;       /* next is NULL: it is not in it */
    char                   name[];
};


struct sm_schedule_s {
    unsigned               concurrency;
    unsigned               slots;
    size_t                 taken;
    sm_index_t             entries;
    sm_index_t             targets;
    sm_heap_t              later;
    sm_ring_t              ready;
    size_t                 bytes;       /* of entries, targets, their heaps */
    sm_schedule_limit_pt   limit;
    void                  *data;
};


#define sm_container(p, type, member)                                         \
    ((type *) ((char *) (p) - offsetof(type, member)))


/* what malloc() takes for a block, as glibc does */

static size_t
sm_schedule_block(size_t size)
{
    size = (size + sizeof(size_t) + 15) & ~(size_t) 15;

    return size < 32 ? 32 : size;
}


static size_t
sm_schedule_heap_block(const sm_heap_t *heap)
{
    return heap->size
           ? sm_schedule_block(heap->size * sizeof(sm_heap_slot_t)) : 0;
}


static size_t
sm_schedule_index_blocks(const sm_index_t *index)
{
    return sm_schedule_block(index->size * sizeof(uint32_t))
           + sm_schedule_block(index->size * sizeof(sm_index_node_t *));
}


sm_schedule_t *
sm_schedule_create(unsigned concurrency, const uint64_t key[2],
    sm_schedule_limit_pt limit, void *data)
{
    sm_schedule_t  *s;

    s = calloc(1, sizeof(sm_schedule_t));
    if (s == NULL) {
        return NULL;
    }

    if (sm_index_init(&s->entries, offsetof(sm_entry_t, id), key) != 0) {
        free(s);
        return NULL;
    }

    if (sm_index_init(&s->targets, offsetof(sm_schedule_target_t, name), key)
        != 0)
    {
        sm_index_destroy(&s->entries, NULL);
        free(s);
        return NULL;
    }

    s->concurrency = concurrency;
    s->limit = limit;
    s->data = data;
    s->ready.prev = &s->ready;
    s->ready.next = &s->ready;

    return s;
}


static void
sm_schedule_free_entry(sm_index_node_t *node)
{
    free(node);
}


static void
sm_schedule_free_target(sm_index_node_t *node)
{
    sm_schedule_target_t  *t;

    t = sm_container(node, sm_schedule_target_t, node);

    sm_heap_free(&t->entries);
    free(t);
}


void
sm_schedule_destroy(sm_schedule_t *s)
{
    if (s == NULL) {
        return;
    }

    sm_index_destroy(&s->entries, sm_schedule_free_entry);
    sm_index_destroy(&s->targets, sm_schedule_free_target);
    sm_heap_free(&s->later);
    free(s);
}


static void
sm_schedule_ready(sm_schedule_t *s, sm_schedule_target_t *t)
{
    t->ready.prev = s->ready.prev;
    t->ready.next = &s->ready;
    t->ready.prev->next = &t->ready;
    s->ready.prev = &t->ready;
}


static void
sm_schedule_not_ready(sm_schedule_target_t *t)
{
    t->ready.prev->next = t->ready.next;
    t->ready.next->prev = t->ready.prev;
    t->ready.next = NULL;
}


static int64_t
sm_schedule_due_at(const sm_schedule_target_t *t)
{
    return t->entries.slots[0].key;
}


/* an entry has come to the target's heap, or was moved in it */

static void
sm_schedule_aim(sm_schedule_t *s, sm_schedule_target_t *t)
{
    int64_t  due_at;

    if (t->ready.next) {
        return;
    }

    due_at = sm_schedule_due_at(t);

    if (t->later.place == 0) {
        sm_heap_add(&s->later, &t->later, due_at);

    } else if (s->later.slots[t->later.place - 1].key != due_at) {
        sm_heap_move(&s->later, &t->later, due_at);
    }
}


static sm_schedule_target_t *
sm_schedule_target(sm_schedule_t *s, sm_str_t name)
{
    size_t                 size;
    uint32_t               hash;
    sm_index_node_t       *node;
    sm_schedule_target_t  *t;

    hash = sm_index_hash(&s->targets, name);

    node = sm_index_find(&s->targets, hash, name);
    if (node) {
        return sm_container(node, sm_schedule_target_t, node);
    }

    if (name.len > UINT32_MAX
        || sm_heap_reserve(&s->later, s->targets.n + 1) != 0)
    {
        return NULL;
    }

    size = offsetof(sm_schedule_target_t, name) + name.len;

    t = calloc(1, size);
    if (t == NULL) {
        return NULL;
    }

    if (name.len) {
        memcpy(t->name, name.data, name.len);
    }

    t->node.hash = hash;
    t->node.len = name.len;
    t->limit = s->limit ? s->limit(s->data, name) : 0;

    if (sm_index_add(&s->targets, &t->node) != 0) {
        free(t);
        return NULL;
    }

    s->bytes += sm_schedule_block(size);

    return t;
}


/* room for one more, or for as many as there are */

static int
sm_schedule_room(sm_schedule_t *s, sm_schedule_target_t *t, unsigned more)
{
    int     rc;
    size_t  n;

    n = (size_t) t->entries.n + t->taken + more;
    s->bytes -= sm_schedule_heap_block(&t->entries);
    rc = 0;

    if (more) {
        rc = sm_heap_reserve(&t->entries, n);

    } else {
        sm_heap_shrink(&t->entries, n);
    }

    s->bytes += sm_schedule_heap_block(&t->entries);

    return rc;
}


static void
sm_schedule_forget_if_empty(sm_schedule_t *s, sm_schedule_target_t *t)
{
    if (t->taken || t->entries.n) {
        return;
    }

    sm_index_remove(&s->targets, &t->node);
    sm_heap_shrink(&s->later, s->targets.n);

    s->bytes -= sm_schedule_heap_block(&t->entries);
    s->bytes -= sm_schedule_block(offsetof(sm_schedule_target_t, name)
                                  + t->node.len);

    sm_schedule_free_target(&t->node);
}


static sm_entry_t *
sm_schedule_add(sm_schedule_t *s, sm_schedule_target_t *t, uint32_t hash,
    sm_str_t id)
{
    size_t       size;
    sm_entry_t  *e;

    if (id.len > UINT32_MAX || sm_schedule_room(s, t, 1) != 0) {
        return NULL;
    }

    size = offsetof(sm_entry_t, id) + id.len;

    e = malloc(size);
    if (e == NULL) {
        return NULL;
    }

    if (id.len) {
        memcpy(e->id, id.data, id.len);
    }

    e->node.hash = hash;
    e->node.len = id.len;
    e->target = t;
    e->waiting.place = 0;
    e->slot = 0;

    if (sm_index_add(&s->entries, &e->node) != 0) {
        free(e);
        return NULL;
    }

    s->bytes += sm_schedule_block(size);

    return e;
}


static void
sm_schedule_wait(sm_schedule_t *s, sm_entry_t *e, int64_t due_at)
{
    sm_schedule_target_t  *t = e->target;

    e->due_at = due_at;

    if (e->waiting.place) {
        sm_heap_move(&t->entries, &e->waiting, due_at);

    } else {
        sm_heap_add(&t->entries, &e->waiting, due_at);
    }

    sm_schedule_aim(s, t);
}


int
sm_schedule_set(sm_schedule_t *s, sm_str_t id, sm_str_t target, int64_t due_at)
{
    uint32_t               hash;
    sm_entry_t            *e;
    sm_index_node_t       *node;
    sm_schedule_target_t  *t;

    hash = sm_index_hash(&s->entries, id);

    node = sm_index_find(&s->entries, hash, id);

    if (node) {
        e = sm_container(node, sm_entry_t, node);

        if (e->waiting.place && e->due_at != due_at) {
            sm_schedule_wait(s, e, due_at);
        }

        return 0;
    }

    t = sm_schedule_target(s, target);
    if (t == NULL) {
        return -1;
    }

    e = sm_schedule_add(s, t, hash, id);
    if (e == NULL) {
        sm_schedule_forget_if_empty(s, t);
        return -1;
    }

    sm_schedule_wait(s, e, due_at);

    return 0;
}


static void
sm_schedule_mark(sm_schedule_t *s, sm_entry_t *e)
{
    e->slot = 1;

    e->target->slots++;
    s->slots++;
    e->target->taken++;
    s->taken++;
}


sm_entry_t *
sm_schedule_hold(sm_schedule_t *s, sm_str_t id, sm_str_t target)
{
    uint32_t               hash;
    sm_entry_t            *e;
    sm_schedule_target_t  *t;

    hash = sm_index_hash(&s->entries, id);

    if (sm_index_find(&s->entries, hash, id)) {
        return NULL;
    }

    t = sm_schedule_target(s, target);
    if (t == NULL) {
        return NULL;
    }

    e = sm_schedule_add(s, t, hash, id);
    if (e == NULL) {
        sm_schedule_forget_if_empty(s, t);
        return NULL;
    }

    e->due_at = 0;

    sm_schedule_mark(s, e);

    return e;
}


/*
 * The first entry of a target without a bound may take the last free slot:
 * others get it in their turn.
 */

static int
sm_schedule_may_take(const sm_schedule_t *s, const sm_schedule_target_t *t)
{
    uint64_t  left;

    if (s->slots >= s->concurrency) {
        return 0;
    }

    if (t->limit) {
        return t->slots < t->limit;
    }

    left = s->concurrency - s->slots - 1;

    return t->slots == 0 || t->slots + 1 <= SM_SCHEDULE_SHARE * left;
}


static sm_entry_t *
sm_schedule_take_first(sm_schedule_t *s, sm_schedule_target_t *t)
{
    sm_entry_t  *e;

    e = sm_container(t->entries.slots[0].node, sm_entry_t, waiting);

    sm_heap_remove(&t->entries, &e->waiting);

    sm_schedule_mark(s, e);

    return e;
}


size_t
sm_schedule_take(sm_schedule_t *s, int64_t now, sm_entry_t **entries,
    size_t max)
{
    size_t                 n;
    sm_ring_t             *q, *prev;
    sm_schedule_target_t  *t;

    while (s->later.n && s->later.slots[0].key <= now) {
        t = sm_container(s->later.slots[0].node, sm_schedule_target_t, later);

        sm_heap_remove(&s->later, &t->later);
        sm_schedule_ready(s, t);
    }

    n = 0;
    q = s->ready.next;

    while (n < max && q != &s->ready && s->slots < s->concurrency) {
        t = sm_container(q, sm_schedule_target_t, ready);

        if (!sm_schedule_may_take(s, t)) {
            q = q->next;
            continue;
        }

        prev = q->prev;
        sm_schedule_not_ready(t);

        if (sm_schedule_due_at(t) > now) {
            sm_schedule_aim(s, t);

        } else {
            entries[n++] = sm_schedule_take_first(s, t);

            if (t->entries.n) {
                sm_schedule_ready(s, t);
            }
        }

        q = prev->next;
    }

    return n;
}


void
sm_schedule_end(sm_schedule_t *s, sm_entry_t *e)
{
    if (e->slot) {
        e->slot = 0;
        e->target->slots--;
        s->slots--;
    }
}


static sm_schedule_target_t *
sm_schedule_untake(sm_schedule_t *s, sm_entry_t *e)
{
    sm_schedule_end(s, e);

    s->taken--;
    e->target->taken--;

    return e->target;
}


void
sm_schedule_put(sm_schedule_t *s, sm_entry_t *e, int64_t due_at)
{
    (void) sm_schedule_untake(s, e);

    sm_schedule_wait(s, e, due_at);
}


void
sm_schedule_drop(sm_schedule_t *s, sm_entry_t *e)
{
    sm_schedule_target_t  *t;

    t = sm_schedule_untake(s, e);

    s->bytes -= sm_schedule_block(offsetof(sm_entry_t, id) + e->node.len);

    sm_index_remove(&s->entries, &e->node);
    free(e);

    (void) sm_schedule_room(s, t, 0);
    sm_schedule_forget_if_empty(s, t);
}


/* below a target that may take there is nothing earlier */

static int64_t
sm_schedule_next_later(const sm_schedule_t *s, size_t i, int64_t next)
{
    size_t                 k;
    sm_schedule_target_t  *t;

    if (i >= s->later.n || s->later.slots[i].key >= next) {
        return next;
    }

    t = sm_container(s->later.slots[i].node, sm_schedule_target_t, later);

    if (sm_schedule_may_take(s, t)) {
        return s->later.slots[i].key;
    }

    for (k = 0; k < 4; k++) {
        next = sm_schedule_next_later(s, sm_heap_child(i) + k, next);
    }

    return next;
}


int64_t
sm_schedule_next(const sm_schedule_t *s)
{
    int64_t                next;
    sm_ring_t             *q;
    sm_schedule_target_t  *t;

    next = INT64_MAX;

    if (s->slots >= s->concurrency) {
        return next;
    }

    for (q = s->ready.next; q != &s->ready; q = q->next) {
        t = sm_container(q, sm_schedule_target_t, ready);

        if (sm_schedule_due_at(t) < next && sm_schedule_may_take(s, t)) {
            next = sm_schedule_due_at(t);
        }
    }

    return sm_schedule_next_later(s, 0, next);
}


size_t
sm_schedule_waiting(const sm_schedule_t *s)
{
    return s->entries.n - s->taken;
}


size_t
sm_schedule_taken(const sm_schedule_t *s)
{
    return s->taken;
}


sm_str_t
sm_entry_id(const sm_entry_t *e)
{
    sm_str_t  id = { e->node.len, e->id };

    return id;
}


int64_t
sm_entry_due_at(const sm_entry_t *e)
{
    return e->due_at;
}


size_t
sm_schedule_bytes(const sm_schedule_t *s)
{
    return sm_schedule_block(sizeof(sm_schedule_t))
           + sm_schedule_index_blocks(&s->entries)
           + sm_schedule_index_blocks(&s->targets)
           + sm_schedule_heap_block(&s->later)
           + s->bytes;
}
