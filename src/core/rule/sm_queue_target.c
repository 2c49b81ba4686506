
/*
 * The targets of the queue: making and forgetting them, putting them where they
 * belong, and what holds them.
 */

#include <stdlib.h>

#include "sm_queue_inside.h"


void
sm_ring_init(sm_ring_t *ring)
{
    ring->prev = ring;
    ring->next = ring;
}


void
sm_ring_add(sm_ring_t *ring, sm_ring_t *q)
{
    q->prev = ring->prev;
    q->next = ring;
    q->prev->next = q;
    ring->prev = q;
}


void
sm_ring_remove(sm_ring_t *q)
{
    q->prev->next = q->next;
    q->next->prev = q->prev;
    q->next = NULL;
}


/* Rounds as glibc does. */

size_t
sm_queue_block(size_t size)
{
    size = (size + sizeof(size_t) + 15) & ~(size_t) 15;

    return size < 32 ? 32 : size;
}


size_t
sm_queue_heap_block(const sm_heap_t *heap)
{
    return heap->size
           ? sm_queue_block(heap->size * sizeof(sm_heap_slot_t)) : 0;
}


sm_queue_target_t *
sm_queue_target(sm_queue_t *s, sm_str_t name)
{
    size_t              size;
    uint32_t            hash;
    sm_index_node_t    *node;
    sm_queue_target_t  *t;

    hash = sm_index_hash(&s->targets, name);

    node = sm_index_find(&s->targets, hash, name);
    if (node) {
        return sm_container(node, sm_queue_target_t, node);
    }

    if (name.len > UINT32_MAX
        || sm_heap_reserve(&s->later, s->targets.n + 1) != 0
        || sm_heap_reserve(&s->held, s->targets.n + 1) != 0)
    {
        return NULL;
    }

    size = offsetof(sm_queue_target_t, name) + name.len;

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

    s->bytes += sm_queue_block(size);

    return t;
}


void
sm_queue_free_target(sm_index_node_t *node)
{
    sm_queue_target_t  *t;

    t = sm_container(node, sm_queue_target_t, node);

    sm_heap_free(&t->entries);
    free(t);
}


void
sm_queue_forget_if_empty(sm_queue_t *s, sm_queue_target_t *t)
{
    if (t->taken || t->expired || t->aside || t->entries.n || t->kept
        || t->paused.next)
    {
        return;
    }

    sm_index_remove(&s->targets, &t->node);
    sm_heap_shrink(&s->later, s->targets.n);
    sm_heap_shrink(&s->held, s->targets.n);

    s->bytes -= sm_queue_heap_block(&t->entries);
    s->bytes -= sm_queue_block(offsetof(sm_queue_target_t, name)
                               + t->node.len);

    sm_queue_free_target(&t->node);
}


int64_t
sm_queue_due_at(const sm_queue_target_t *t)
{
    return t->entries.slots[0].key;
}


int64_t
sm_queue_held(const sm_queue_t *s, const sm_queue_target_t *t)
{
    int64_t  circuit, bucket;

    if (t->paused.next) {
        return INT64_MAX;
    }

    circuit = sm_circuit_next(&t->circuit, s->clock);
    bucket = sm_bucket_next(&t->bucket, s->clock);

    return circuit > bucket ? circuit : bucket;
}


static void
sm_queue_place(sm_heap_t *heap, sm_heap_node_t *node, int64_t key)
{
    if (key == INT64_MAX) {

        if (node->place) {
            sm_heap_remove(heap, node);
        }

    } else if (node->place == 0) {
        sm_heap_add(heap, node, key);

    } else if (heap->slots[node->place - 1].key != key) {
        sm_heap_move(heap, node, key);
    }
}


static void
sm_queue_aim_ruled(sm_queue_t *s, sm_queue_target_t *t)
{
    int64_t  until;

    until = t->entries.n ? sm_queue_held(s, t) : INT64_MAX;

    if (until > s->clock) {
        if (t->later.place) {
            sm_heap_remove(&s->later, &t->later);
        }

        sm_queue_place(&s->held, &t->held, until);
        return;
    }

    if (t->held.place) {
        sm_heap_remove(&s->held, &t->held);
    }

    if (t->later.place == 0) {
        sm_heap_add(&s->later, &t->later, sm_queue_due_at(t));
        return;
    }

    sm_heap_move(&s->later, &t->later, sm_queue_due_at(t));
}


void
sm_queue_aim(sm_queue_t *s, sm_queue_target_t *t)
{
    int64_t  due_at;

    if (t->ready.next) {
        return;
    }

    if (t->ruled) {
        sm_queue_aim_ruled(s, t);
        return;
    }

    due_at = sm_queue_due_at(t);

    if (t->later.place == 0) {
        sm_heap_add(&s->later, &t->later, due_at);

    } else if (s->later.slots[t->later.place - 1].key != due_at) {
        sm_heap_move(&s->later, &t->later, due_at);
    }
}


void
sm_queue_aim_again(sm_queue_t *s, sm_queue_target_t *t)
{
    if (t->ready.next) {

        if (t->entries.n && sm_queue_held(s, t) <= s->clock) {
            return;
        }

        sm_ring_remove(&t->ready);
    }

    if (t->entries.n || t->ruled) {
        sm_queue_aim(s, t);
    }
}


void
sm_queue_tick(sm_queue_t *s, int64_t now, int64_t clock)
{
    s->now = now;
    s->clock = clock;
}


/* Keeps a target, with an empty bucket.  Returns 1 if it is kept already. */

static int
sm_queue_keep_target(sm_queue_t *s, sm_str_t name,
    const sm_target_rules_t *rules, sm_queue_target_t **target)
{
    sm_queue_target_t  *t, **kept;

    if ((s->nkept & (s->nkept - 1)) == 0) {

        /* The array is full, so its size doubles. */

        kept = realloc(s->kept, (s->nkept ? 2 * s->nkept : 1)
                                * sizeof(sm_queue_target_t *));
        if (kept == NULL) {
            return -1;
        }

        s->kept = kept;
    }

    t = sm_queue_target(s, name);
    if (t == NULL) {
        return -1;
    }

    if (t->kept) {
        return 1;
    }

    t->kept = 1;
    t->number = s->nkept;
    t->ruled = t->paused.next || rules->rate || rules->circuit.failures;

    sm_bucket_init(&t->bucket, rules->rate, rules->burst, s->clock);
    t->circuit.rules = rules->circuit;

    s->kept[s->nkept++] = t;
    *target = t;

    return 0;
}


int
sm_queue_keep(sm_queue_t *s, sm_str_t name,
    const sm_target_rules_t *rules)
{
    sm_queue_target_t  *t;

    return sm_queue_keep_target(s, name, rules, &t) == -1 ? -1 : 0;
}


int
sm_queue_former(sm_queue_t *s, sm_str_t name, unsigned limit,
    const sm_target_rules_t *rules)
{
    int                 rc;
    sm_queue_target_t  *t;

    rc = sm_queue_keep_target(s, name, rules, &t);
    if (rc != 0) {
        return rc == -1 ? -1 : 0;
    }

    t->former = 1;
    t->limit = limit;

    /* The target may have entries already. */

    sm_queue_aim_again(s, t);

    return 0;
}


const sm_bucket_t *
sm_queue_go_on(sm_queue_t *s, sm_str_t name, const sm_bucket_t *before)
{
    sm_index_node_t    *node;
    sm_queue_target_t  *t;

    node = sm_index_find(&s->targets, sm_index_hash(&s->targets, name), name);
    if (node == NULL) {
        return NULL;
    }

    t = sm_container(node, sm_queue_target_t, node);

    if (before) {
        sm_bucket_go_on(&t->bucket, before, s->clock);

        if (t->ruled) {
            sm_queue_aim_again(s, t);
        }
    }

    return &t->bucket;
}


static size_t
sm_queue_add_limit(const sm_queue_t *s, const sm_queue_target_t *t,
    sm_limit_t *limit)
{
    if (t->former ? s->complete && t->entries.n + t->taken + t->aside == 0
                  : !t->bucket.rate && !t->circuit.rules.failures && !t->limit)
    {
        return 0;
    }

    limit->name.data = (char *) t->name;
    limit->name.len = t->node.len;
    limit->concurrency = t->limit;
    limit->rules.rate = t->bucket.rate;
    limit->rules.burst = t->bucket.burst;
    limit->rules.circuit = t->circuit.rules;
    limit->units = sm_bucket_units(&t->bucket, s->clock);

    return 1;
}


void
sm_queue_complete(sm_queue_t *s)
{
    s->complete = 1;
}


size_t
sm_queue_limits(const sm_queue_t *s, sm_limit_t *limits, size_t max)
{
    size_t    i, n;
    unsigned  former;

    n = 0;
    former = 1;

    do {
        for (i = 0; i < s->nkept && n < max; i++) {
            if (s->kept[i]->former == former) {
                n += sm_queue_add_limit(s, s->kept[i], &limits[n]);
            }
        }
    } while (former--);

    return n;
}


size_t
sm_queue_kept(const sm_queue_t *s)
{
    return s->nkept;
}


/* From now on the target is held by its rules alone, if it has any. */

static void
sm_queue_resume(sm_queue_t *s, sm_queue_target_t *t)
{
    sm_ring_remove(&t->paused);

    sm_queue_aim_again(s, t);

    t->ruled = t->bucket.rate || t->circuit.rules.failures;

    sm_queue_forget_if_empty(s, t);
}


int
sm_queue_pauses(sm_queue_t *s, const sm_str_t *names, size_t n)
{
    size_t              i;
    sm_ring_t          *q, *next;
    sm_queue_target_t  *t;

    s->round++;

    for (i = 0; i < n; i++) {
        t = sm_queue_target(s, names[i]);
        if (t == NULL) {
            return -1;
        }

        t->round = s->round;

        if (t->paused.next == NULL) {
            sm_ring_add(&s->paused, &t->paused);
            t->ruled = 1;
            sm_queue_aim_again(s, t);
        }
    }

    for (q = s->paused.next; q != &s->paused; q = next) {
        next = q->next;
        t = sm_container(q, sm_queue_target_t, paused);

        if (t->round != s->round) {
            sm_queue_resume(s, t);
        }
    }

    return 0;
}


unsigned
sm_queue_paused(const sm_entry_t *e)
{
    return e->target->paused.next != NULL;
}


int
sm_queue_target_of(const sm_entry_t *e)
{
    return e->target->kept && !e->target->former ? (int) e->target->number
                                                 : -1;
}


void
sm_queue_sent(sm_queue_t *s, sm_entry_t *e)
{
    if (e->token) {
        e->token = 0;
        sm_bucket_spend(&e->target->bucket, s->clock);
        sm_queue_aim(s, e->target);
    }
}


unsigned
sm_queue_answer(sm_queue_t *s, sm_entry_t *e)
{
    unsigned            errors;
    sm_queue_target_t  *t = e->target;

    sm_queue_sent(s, e);

    errors = t->circuit.errors;

    sm_circuit_answer(&t->circuit);
    e->probe = 0;

    if (t->ruled) {
        sm_queue_aim(s, t);
    }

    return errors;
}


unsigned
sm_queue_error(sm_queue_t *s, sm_entry_t *e)
{
    sm_queue_target_t  *t = e->target;

    sm_queue_sent(s, e);

    sm_circuit_error(&t->circuit, e->probe, s->clock);

    if (e->probe) {
        e->probe = 0;
        sm_circuit_unsent(&t->circuit);
    }

    if (t->ruled) {
        sm_queue_aim_again(s, t);
    }

    return t->circuit.errors;
}


void
sm_queue_rest(sm_queue_t *s, sm_entry_t *e, int64_t length)
{
    sm_circuit_rest(&e->target->circuit, length, s->clock);

    if (e->target->ruled) {
        sm_queue_aim_again(s, e->target);
    }
}


int64_t
sm_queue_open_until(const sm_queue_t *s, const sm_entry_t *e)
{
    return sm_circuit_until(&e->target->circuit, s->clock);
}


/* Counts the entries that are due; below one that is not there is none. */

static size_t
sm_queue_count_due(const sm_heap_t *heap, size_t i, int64_t now)
{
    size_t  k, n;

    if (i >= heap->n || heap->slots[i].key > now) {
        return 0;
    }

    n = 1;

    for (k = 0; k < 4; k++) {
        n += sm_queue_count_due(heap, sm_heap_child(i) + k, now);
    }

    return n;
}


void
sm_queue_target_state(const sm_queue_t *s, size_t i,
    sm_target_state_t *state)
{
    const sm_queue_target_t  *t = s->kept[i];

    state->paused = t->paused.next != NULL;
    state->circuit_open_until = sm_circuit_until(&t->circuit, s->clock);
    state->failures = t->circuit.errors;
    state->tokens = sm_bucket_tokens(&t->bucket, s->clock);

    state->due = sm_queue_count_due(&t->entries, 0, s->now);
    state->waiting = t->entries.n + t->expired + t->aside - state->due;
    state->in_flight = t->taken;
    state->oldest_due = state->due ? sm_queue_due_at(t) : 0;

    state->state = state->paused ? SM_TARGET_PAUSED
                   : state->circuit_open_until ? SM_TARGET_CIRCUIT_OPEN
                   : SM_TARGET_OPEN;
}
