
/*
 * Where entries and targets are; the whole queue relies on this.
 *
 * The index finds an entry by its id.  A waiting entry is in the heap of its
 * target, ordered by due time.  A taken entry is in no heap, but there is room
 * for it to come back, so that putting it back needs no memory.  From being
 * taken until it has ended an entry has a slot, and the bounds limit the slots.
 * An entry that is put aside is in no heap.  See sm_queue_deadline.c for
 * entries whose deadline has passed.
 *
 * A target exists as long as it has entries, or is kept.  If any of its entries
 * wait, the target is in exactly one of these places:
 *
 * - The heap "later", by the due time of its first entry.
 *
 * - The ring "ready", if it was found due and waits for its turn.  A target at
 *   its bound keeps its place in the ring, and is the next when it is below the
 *   bound.  Such a target has a slot, so there are never more of them than
 *   slots, and passing over them is cheap.
 *
 * - The heap "held", if it is held, by the time on the rates' clock from which
 *   on it may not be any more.
 *
 * - Nowhere, if it is held by something that is not a matter of time: a pause,
 *   a probe that is under way, or tokens that are all reserved.  So targets
 *   that are held cost nothing, however many they are.
 */

#include <stdlib.h>

#include "sm_queue_inside.h"


/* Bytes, more than what glibc calls small. */

#define SM_QUEUE_LARGE  4096


static size_t
sm_queue_index_blocks(const sm_index_t *index)
{
    return sm_queue_block(index->size * sizeof(uint32_t))
           + sm_queue_block(index->size * sizeof(sm_index_node_t *));
}


sm_queue_t *
sm_queue_create(unsigned concurrency, const uint64_t key[2],
    sm_queue_limit_pt limit, void *data)
{
    sm_queue_t  *s;

    s = calloc(1, sizeof(sm_queue_t));
    if (s == NULL) {
        return NULL;
    }

    if (sm_index_init(&s->entries, offsetof(sm_entry_t, id), key) != 0) {
        free(s);
        return NULL;
    }

    if (sm_index_init(&s->targets, offsetof(sm_queue_target_t, name), key)
        != 0)
    {
        sm_index_destroy(&s->entries, NULL);
        free(s);
        return NULL;
    }

    s->concurrency = concurrency;
    s->limit = limit;
    s->data = data;
    sm_ring_init(&s->ready);
    sm_ring_init(&s->paused);

    return s;
}


static void
sm_queue_free_entry(sm_index_node_t *node)
{
    free(node);
}


/*
 * glibc keeps small blocks that are freed, and joins all of them when it is
 * next asked for a large one.  Joining takes longer than freeing, so it is done
 * for each slice, too.
 */

static void
sm_queue_join_free(void)
{
    void  *volatile  block;

    block = malloc(SM_QUEUE_LARGE);
    free(block);
}


int
sm_queue_destroy_some(sm_queue_t *s, size_t max)
{
    if (sm_index_destroy_some(&s->entries, sm_queue_free_entry, max)
        || sm_index_destroy_some(&s->targets, sm_queue_free_target, max))
    {
        sm_queue_join_free();
        return 1;
    }

    sm_heap_free(&s->later);
    sm_heap_free(&s->held);
    sm_heap_free(&s->mortal);
    sm_heap_free(&s->expired);
    free(s->kept);
    free(s);

    return 0;
}


void
sm_queue_destroy(sm_queue_t *s)
{
    if (s) {
        (void) sm_queue_destroy_some(s, SIZE_MAX);
    }
}


/* Makes room for one more entry, or frees room that the entries do not need. */

static int
sm_queue_room(sm_queue_t *s, sm_queue_target_t *t, unsigned more)
{
    int     rc;
    size_t  n;

    n = (size_t) t->entries.n + t->taken + t->expired + t->aside + more;
    s->bytes -= sm_queue_heap_block(&t->entries);
    rc = 0;

    if (more) {
        rc = sm_heap_reserve(&t->entries, n);

    } else {
        sm_heap_shrink(&t->entries, n);
    }

    s->bytes += sm_queue_heap_block(&t->entries);

    return rc;
}


void
sm_queue_free(sm_queue_t *s, sm_entry_t *e)
{
    sm_queue_target_t  *t = e->target;

    (void) sm_queue_set_deadline(s, e, INT64_MAX);
    sm_heap_shrink(&s->mortal, s->mortals);

    s->bytes -= sm_queue_block(offsetof(sm_entry_t, id) + e->node.len);

    sm_index_remove(&s->entries, &e->node);
    free(e);

    (void) sm_queue_room(s, t, 0);
    sm_queue_forget_if_empty(s, t);
}


static sm_entry_t *
sm_queue_add(sm_queue_t *s, sm_queue_target_t *t, uint32_t hash,
    sm_str_t id, int64_t deadline)
{
    size_t       size;
    sm_entry_t  *e;

    if (id.len > UINT32_MAX || sm_queue_room(s, t, 1) != 0) {
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
    e->deadline = INT64_MAX;
    e->waiting.place = 0;
    e->mortal.place = 0;
    e->expired = 0;
    e->aside = 0;
    e->slot = 0;
    e->token = 0;
    e->probe = 0;

    if (sm_queue_set_deadline(s, e, deadline) != 0) {
        free(e);
        return NULL;
    }

    if (sm_index_add(&s->entries, &e->node) != 0) {
        (void) sm_queue_set_deadline(s, e, INT64_MAX);
        free(e);
        return NULL;
    }

    s->bytes += sm_queue_block(size);

    return e;
}


/* Moves a target after an entry has left its heap without being taken. */

static void
sm_queue_less(sm_queue_t *s, sm_queue_target_t *t)
{
    if (t->entries.n == 0 && t->ready.next) {
        sm_ring_remove(&t->ready);
    }

    if (t->entries.n || t->ruled) {
        sm_queue_aim(s, t);

    } else if (t->later.place) {
        sm_heap_remove(&s->later, &t->later);
    }
}


void
sm_queue_leave(sm_queue_t *s, sm_entry_t *e)
{
    if (e->mortal.place) {
        sm_heap_remove(&s->mortal, &e->mortal);
    }

    sm_heap_remove(&e->target->entries, &e->waiting);
    sm_queue_less(s, e->target);
}


void
sm_queue_wait(sm_queue_t *s, sm_entry_t *e, int64_t due_at)
{
    sm_queue_target_t  *t = e->target;

    e->due_at = due_at;

    if (e->deadline <= s->now && sm_queue_out(s, e) == 0) {
        return;
    }

    if (e->deadline != INT64_MAX) {
        sm_heap_add(&s->mortal, &e->mortal, e->deadline);
    }

    sm_heap_add(&t->entries, &e->waiting, due_at);

    sm_queue_aim(s, t);
}


static void
sm_queue_unaside(sm_entry_t *e)
{
    e->aside = 0;
    e->target->aside--;
}


/* Gives an entry that waits, or is aside, another time or another deadline. */

static int
sm_queue_move(sm_queue_t *s, sm_entry_t *e, int64_t due_at,
    int64_t deadline)
{
    int  rc;

    if (deadline == e->deadline && !e->aside) {
        e->due_at = due_at;
        sm_heap_move(&e->target->entries, &e->waiting, due_at);
        sm_queue_aim(s, e->target);
        return 0;
    }

    if (e->aside) {
        sm_queue_unaside(e);

    } else {
        sm_queue_leave(s, e);
    }

    rc = sm_queue_set_deadline(s, e, deadline);
    sm_queue_wait(s, e, due_at);

    return rc;
}


int
sm_queue_set(sm_queue_t *s, sm_str_t id, sm_str_t target, int64_t due_at,
    int64_t deadline)
{
    uint32_t            hash;
    sm_entry_t         *e;
    sm_index_node_t    *node;
    sm_queue_target_t  *t;

    hash = sm_index_hash(&s->entries, id);

    node = sm_index_find(&s->entries, hash, id);

    if (node) {
        e = sm_container(node, sm_entry_t, node);

        return (e->waiting.place || e->aside)
               && (e->due_at != due_at || e->deadline != deadline)
               ? sm_queue_move(s, e, due_at, deadline) : 0;
    }

    t = sm_queue_target(s, target);
    if (t == NULL) {
        return -1;
    }

    e = sm_queue_add(s, t, hash, id, deadline);
    if (e == NULL) {
        sm_queue_forget_if_empty(s, t);
        return -1;
    }

    sm_queue_wait(s, e, due_at);

    return 0;
}


sm_entry_t *
sm_queue_hold(sm_queue_t *s, sm_str_t id, sm_str_t target,
    int64_t deadline)
{
    uint32_t            hash;
    sm_entry_t         *e;
    sm_queue_target_t  *t;

    hash = sm_index_hash(&s->entries, id);

    if (sm_index_find(&s->entries, hash, id)) {
        return NULL;
    }

    t = sm_queue_target(s, target);
    if (t == NULL) {
        return NULL;
    }

    e = sm_queue_add(s, t, hash, id, deadline);
    if (e == NULL) {
        sm_queue_forget_if_empty(s, t);
        return NULL;
    }

    e->due_at = 0;

    sm_queue_mark(s, e);

    return e;
}


const sm_entry_t *
sm_queue_find(sm_queue_t *s, sm_str_t id)
{
    sm_entry_t       *e;
    sm_index_node_t  *node;

    node = sm_index_find(&s->entries, sm_index_hash(&s->entries, id), id);

    if (node == NULL) {
        return NULL;
    }

    e = sm_container(node, sm_entry_t, node);

    return e->waiting.place || e->aside ? e : NULL;
}


int
sm_queue_remove(sm_queue_t *s, sm_str_t id)
{
    sm_entry_t       *e;
    sm_index_node_t  *node;

    node = sm_index_find(&s->entries, sm_index_hash(&s->entries, id), id);

    if (node == NULL) {
        return 0;
    }

    e = sm_container(node, sm_entry_t, node);

    if (e->aside) {
        sm_queue_unaside(e);

    } else if (e->waiting.place) {
        sm_queue_leave(s, e);

    } else {
        return 0;
    }

    sm_queue_free(s, e);

    return 1;
}


size_t
sm_queue_waiting(const sm_queue_t *s)
{
    return s->entries.n - s->taken;
}


/* Waiting entries and taken ones. */

size_t
sm_queue_entries(const sm_queue_t *s)
{
    return s->entries.n;
}


size_t
sm_queue_taken(const sm_queue_t *s)
{
    return s->taken;
}


sm_str_t
sm_entry_id(const sm_entry_t *e)
{
    sm_str_t  id = { e->node.len, e->id };

    return id;
}


sm_str_t
sm_entry_target(const sm_entry_t *e)
{
    sm_str_t  target = { e->target->node.len, e->target->name };

    return target;
}


const sm_bucket_t *
sm_entry_bucket(const sm_entry_t *e)
{
    return &e->target->bucket;
}


int64_t
sm_entry_due_at(const sm_entry_t *e)
{
    return e->due_at;
}


size_t
sm_queue_bytes(const sm_queue_t *s)
{
    return sm_queue_block(sizeof(sm_queue_t))
           + sm_queue_index_blocks(&s->entries)
           + sm_queue_index_blocks(&s->targets)
           + sm_queue_heap_block(&s->later)
           + sm_queue_heap_block(&s->held)
           + sm_queue_heap_block(&s->mortal)
           + sm_queue_heap_block(&s->expired)
           + s->bytes;
}
