
/*
 * Deadlines in the queue.
 *
 * A waiting entry with a deadline is also in the heap "mortal", by its
 * deadline, across all targets.  When the deadline has passed, the entry leaves
 * both heaps for "expired", and stays there until somebody takes it to have the
 * store end it.  Meanwhile it is not taken, and not in its target's way.  An
 * entry that has expired before it is added goes to "expired" at once.
 */

#include "sm_queue_inside.h"


int
sm_queue_set_deadline(sm_queue_t *s, sm_entry_t *e, int64_t deadline)
{
    size_t  n;

    n = s->mortals + (deadline != INT64_MAX) - (e->deadline != INT64_MAX);

    if (n > s->mortals && sm_heap_reserve(&s->mortal, n) != 0) {
        return -1;
    }

    s->mortals = n;
    e->deadline = deadline;

    return 0;
}


int
sm_queue_out(sm_queue_t *s, sm_entry_t *e)
{
    if (sm_heap_reserve(&s->expired, (size_t) s->expired.n + 1) != 0) {
        return -1;
    }

    sm_heap_add(&s->expired, &e->mortal, e->deadline);

    e->expired = 1;
    e->target->expired++;

    return 0;
}


int
sm_queue_expire(sm_queue_t *s, size_t max)
{
    sm_entry_t  *e;

    s->behind = 0;

    while (s->mortal.n && s->mortal.slots[0].key <= s->now) {

        if (max-- == 0) {
            s->behind = 1;
            break;
        }

        e = sm_container(s->mortal.slots[0].node, sm_entry_t, mortal);

        sm_queue_leave(s, e);
        sm_queue_wait(s, e, e->due_at);

        if (!e->expired) {

            /*
             * There is no memory for it; a turn lets the store end the intent.
             */

            break;
        }
    }

    return s->behind;
}


size_t
sm_queue_take_expired(sm_queue_t *s, sm_entry_t **entries, size_t max)
{
    size_t       n;
    sm_entry_t  *e;

    for (n = 0; n < max && s->expired.n; n++) {
        e = sm_container(s->expired.slots[0].node, sm_entry_t, mortal);

        sm_heap_remove(&s->expired, &e->mortal);
        entries[n] = e;
    }

    sm_heap_shrink(&s->expired, s->expired.n);

    return n;
}


int
sm_queue_has_expired(const sm_queue_t *s)
{
    return s->expired.n != 0;
}


int64_t
sm_queue_next_deadline(const sm_queue_t *s)
{
    return s->mortal.n ? s->mortal.slots[0].key : INT64_MAX;
}
