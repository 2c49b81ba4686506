
/*
 * Taking entries from the queue by turns, and what becomes of a taken entry.
 * See sm_queue.c for where entries and targets are.
 */

#include "sm_queue_inside.h"


/* What a target may take, as a multiple of what it leaves free. */

#define SM_QUEUE_SHARE  8


/* Microseconds until the store is asked again to end an expired intent. */

#define SM_QUEUE_ASK    1000000


void
sm_queue_mark(sm_queue_t *s, sm_entry_t *e)
{
    e->slot = 1;

    e->target->slots++;
    s->slots++;
    e->target->taken++;
    s->taken++;
}


/*
 * The first entry of a target without a bound may take the last free slot:
 * others get it in their turn.
 */

static int
sm_queue_may_take(const sm_queue_t *s, const sm_queue_target_t *t)
{
    uint64_t  left;

    if (s->slots >= s->concurrency) {
        return 0;
    }

    if (t->limit) {
        return t->limit != SM_QUEUE_NEVER && t->slots < t->limit;
    }

    left = s->concurrency - s->slots - 1;

    return t->slots == 0 || t->slots + 1 <= SM_QUEUE_SHARE * left;
}


static sm_entry_t *
sm_queue_take_first(sm_queue_t *s, sm_queue_target_t *t)
{
    sm_entry_t  *e;

    e = sm_container(t->entries.slots[0].node, sm_entry_t, waiting);

    sm_heap_remove(&t->entries, &e->waiting);

    if (e->mortal.place) {
        sm_heap_remove(&s->mortal, &e->mortal);
    }

    sm_queue_mark(s, e);

    if (t->ruled) {
        e->probe = sm_circuit_begin(&t->circuit);

        if (t->bucket.rate) {
            sm_bucket_reserve(&t->bucket);
            e->token = 1;
        }
    }

    return e;
}


/* Moves the targets whose time has come, by either clock. */

static void
sm_queue_wake(sm_queue_t *s, int64_t now)
{
    sm_queue_target_t  *t;

    while (s->held.n && s->held.slots[0].key <= s->clock) {
        t = sm_container(s->held.slots[0].node, sm_queue_target_t, held);

        sm_heap_remove(&s->held, &t->held);
        sm_queue_aim(s, t);
    }

    while (s->later.n && s->later.slots[0].key <= now) {
        t = sm_container(s->later.slots[0].node, sm_queue_target_t, later);

        sm_heap_remove(&s->later, &t->later);
        sm_ring_add(&s->ready, &t->ready);
    }
}


/*
 * Takes an entry of a target in the ring.  Returns NULL if none is due any
 * more.
 */

static sm_entry_t *
sm_queue_take_one(sm_queue_t *s, sm_queue_target_t *t, int64_t now)
{
    sm_entry_t  *e;

    sm_ring_remove(&t->ready);

    if (sm_queue_due_at(t) > now) {
        sm_queue_aim(s, t);
        return NULL;
    }

    e = sm_queue_take_first(s, t);

    if (t->entries.n == 0) {
        return e;
    }

    if (t->ruled && sm_queue_held(s, t) > s->clock) {
        sm_queue_aim(s, t);

    } else {
        sm_ring_add(&s->ready, &t->ready);
    }

    return e;
}


size_t
sm_queue_take(sm_queue_t *s, int64_t now, sm_entry_t **entries,
    size_t max)
{
    size_t              n;
    sm_ring_t          *q, *prev;
    sm_entry_t         *e;
    sm_queue_target_t  *t;

    if (s->behind) {
        return 0;
    }

    sm_queue_wake(s, now);

    n = 0;
    q = s->ready.next;

    while (n < max && q != &s->ready && s->slots < s->concurrency) {
        t = sm_container(q, sm_queue_target_t, ready);

        if (!sm_queue_may_take(s, t)) {
            q = q->next;
            continue;
        }

        prev = q->prev;

        e = sm_queue_take_one(s, t, now);

        if (e) {
            entries[n++] = e;
        }

        q = prev->next;
    }

    return n;
}


/* Gives back a token that was not spent, and a probe that has shown nothing. */

static void
sm_queue_end_ruled(sm_queue_t *s, sm_entry_t *e)
{
    sm_queue_target_t  *t = e->target;

    if (e->token) {
        e->token = 0;
        sm_bucket_give_back(&t->bucket);
    }

    if (e->probe) {
        e->probe = 0;
        sm_circuit_unsent(&t->circuit);
    }

    sm_queue_aim(s, t);
}


void
sm_queue_end(sm_queue_t *s, sm_entry_t *e)
{
    if (e->slot) {
        e->slot = 0;
        e->target->slots--;
        s->slots--;
    }

    if (e->token || e->probe) {
        sm_queue_end_ruled(s, e);
    }
}


static void
sm_queue_untake(sm_queue_t *s, sm_entry_t *e)
{
    if (e->expired) {
        e->expired = 0;
        e->target->expired--;
        return;
    }

    sm_queue_end(s, e);

    s->taken--;
    e->target->taken--;
}


void
sm_queue_put(sm_queue_t *s, sm_entry_t *e, int64_t due_at)
{
    if (e->expired && e->deadline <= s->now) {
        e->deadline = s->now + SM_QUEUE_ASK;
    }

    sm_queue_untake(s, e);

    sm_queue_wait(s, e, due_at);
}


void
sm_queue_aside(sm_queue_t *s, sm_entry_t *e)
{
    sm_queue_untake(s, e);

    e->aside = 1;
    e->target->aside++;
}


void
sm_queue_drop(sm_queue_t *s, sm_entry_t *e)
{
    sm_queue_untake(s, e);
    sm_queue_free(s, e);
}


/*
 * Searches the heap downwards.  Below a target that may take there is nothing
 * earlier.
 */

static int64_t
sm_queue_next_later(const sm_queue_t *s, size_t i, int64_t next)
{
    size_t              k;
    sm_queue_target_t  *t;

    if (i >= s->later.n || s->later.slots[i].key >= next) {
        return next;
    }

    t = sm_container(s->later.slots[i].node, sm_queue_target_t, later);

    if (sm_queue_may_take(s, t)) {
        return s->later.slots[i].key;
    }

    for (k = 0; k < 4; k++) {
        next = sm_queue_next_later(s, sm_heap_child(i) + k, next);
    }

    return next;
}


/* Returns when the first of the held targets may not be held any more. */

static int64_t
sm_queue_next_held(const sm_queue_t *s)
{
    int64_t  left;

    if (s->held.n == 0) {
        return INT64_MAX;
    }

    left = s->held.slots[0].key - s->clock;

    return left > 0 ? s->now + left : s->now;
}


int64_t
sm_queue_next(const sm_queue_t *s)
{
    int64_t             next;
    sm_ring_t          *q;
    sm_queue_target_t  *t;

    if (s->slots >= s->concurrency) {
        return INT64_MAX;
    }

    next = sm_queue_next_held(s);

    for (q = s->ready.next; q != &s->ready; q = q->next) {
        t = sm_container(q, sm_queue_target_t, ready);

        if (sm_queue_due_at(t) < next && sm_queue_may_take(s, t)) {
            next = sm_queue_due_at(t);
        }
    }

    return sm_queue_next_later(s, 0, next);
}
