
/*
 * The queue: which intents are to be tried, and when.
 *
 * An intent is in it once.  It either waits for its due time or is taken, from
 * the moment when it was picked until its outcome is known.  Each target has
 * its own queue, in the order of due time, and a bound on the number of its
 * intents that are under way, so that one target cannot hold up another.
 *
 * A target may also be held: it is paused, its rate is used up, or its circuit
 * is open.  None of its intents is taken then, and those that wait stay as they
 * are.  Rates and circuits have a clock of their own, which is never set:
 * sm_queue_tick() says what time it is.
 *
 * An intent may have a deadline.  When that has passed, the intent leaves the
 * queue of its target, even if the target is held, and waits for the store to
 * end it: it takes no slot, no token and no probe, and nothing waits behind it.
 *
 * The queue is not thread-safe.  An entry takes at most 200 bytes besides the
 * id.
 */

#ifndef SM_QUEUE_H
#define SM_QUEUE_H


#include <limits.h>

#include "sm_bucket.h"
#include "sm_str.h"


typedef struct sm_queue_s            sm_queue_t;
typedef struct sm_queue_target_s     sm_queue_target_t;
typedef struct sm_entry_s            sm_entry_t;


/*
 * Returns the bound of a target, 0 if it has none of its own, or SM_QUEUE_NEVER
 * if none of its intents may be taken.
 */
#define SM_QUEUE_NEVER  UINT_MAX

typedef unsigned (*sm_queue_limit_pt)(void *data, sm_str_t target);


/*
 * "concurrency" is how many intents may be under way in all, from being taken
 * to having ended.  A target without a bound of its own takes at most eight
 * times as many slots as it leaves free for others, even while it is alone: its
 * attempts may last, and intents of other targets may come.  Its first intent
 * may take any free slot.  "key" is random, see sm_index.h.  Returns NULL
 * without memory.
 */
sm_queue_t *sm_queue_create(unsigned concurrency,
    const uint64_t key[2], sm_queue_limit_pt limit, void *data);
void sm_queue_destroy(sm_queue_t *s);

/*
 * Destroys the queue in slices, each of which takes about as long as "max"
 * entries do.  Returns 1 if there is more to destroy; until then the queue must
 * not be used for anything else.
 */
int sm_queue_destroy_some(sm_queue_t *s, size_t max);

/*
 * Sets the time by both clocks, in microseconds: the store's, by which intents
 * are due, and the one that is never set.
 */
void sm_queue_tick(sm_queue_t *s, int64_t now, int64_t clock);

/*
 * Adds an intent that is due at that time, or moves it.  A taken one is not
 * changed, because its owner knows better.  "deadline" is on the same clock, or
 * INT64_MAX. Returns -1 without memory.
 */
int sm_queue_set(sm_queue_t *s, sm_str_t id, sm_str_t target,
    int64_t due_at, int64_t deadline);

/*
 * Adds an intent that is already under way from an earlier queue, as taken.  It
 * counts for the bounds, even beyond them.  Returns NULL without memory, or if
 * the intent is already there.
 */
sm_entry_t *sm_queue_hold(sm_queue_t *s, sm_str_t id, sm_str_t target,
    int64_t deadline);

/*
 * Takes up to "max" intents whose deadline had passed at the last tick out of
 * the queues of their targets.  Returns 1 if there are more; until those are
 * out, too, nothing is taken.
 */
int sm_queue_expire(sm_queue_t *s, size_t max);

/*
 * Gives up to "max" of the expired intents, the earliest deadline first.  The
 * store is to end them.  Then each is dropped, or put back if the store did not
 * end it; one that was put back does not expire again for a second.
 */
size_t sm_queue_take_expired(sm_queue_t *s, sm_entry_t **entries,
    size_t max);

/* Returns whether there are expired intents. */
int sm_queue_has_expired(const sm_queue_t *s);

/* Returns the earliest deadline of the waiting intents, or INT64_MAX. */
int64_t sm_queue_next_deadline(const sm_queue_t *s);

/*
 * Takes up to "max" entries that are due, one of each target in turn, and the
 * earliest of a target first.
 */
size_t sm_queue_take(sm_queue_t *s, int64_t now, sm_entry_t **entries,
    size_t max);

/*
 * Ends a taken entry: it no longer counts for the bounds.  It stays taken until
 * it is put back or dropped.
 */
void sm_queue_end(sm_queue_t *s, sm_entry_t *e);

/* Puts a taken entry back; it is due again at that time. */
void sm_queue_put(sm_queue_t *s, sm_entry_t *e, int64_t due_at);

/*
 * Puts a taken entry aside, because this instance cannot begin it.  It stays in
 * the queue, in nobody's way, until sm_queue_set() changes its time or its
 * deadline, or it is removed.
 */
void sm_queue_aside(sm_queue_t *s, sm_entry_t *e);

/* Removes a taken entry, which needs no further attempt. */
void sm_queue_drop(sm_queue_t *s, sm_entry_t *e);

/* Returns an intent that waits, or NULL if it does not or is not there. */
const sm_entry_t *sm_queue_find(sm_queue_t *s, sm_str_t id);

/*
 * Removes an intent that waits, and needs no further attempt.  A taken one is
 * not changed, because its owner knows better.  Returns 1 if it was removed.
 */
int sm_queue_remove(sm_queue_t *s, sm_str_t id);

/*
 * Returns the time from which on sm_queue_take() will take something if nothing
 * else changes, or INT64_MAX. The time may have passed.  Where targets are
 * held, it may also be the time at which one is not held any more.
 */
int64_t sm_queue_next(const sm_queue_t *s);

size_t sm_queue_waiting(const sm_queue_t *s);
size_t sm_queue_entries(const sm_queue_t *s);
size_t sm_queue_taken(const sm_queue_t *s);

sm_str_t sm_entry_id(const sm_entry_t *e);
sm_str_t sm_entry_target(const sm_entry_t *e);
int64_t sm_entry_due_at(const sm_entry_t *e);
const sm_bucket_t *sm_entry_bucket(const sm_entry_t *e);

/* Returns the bytes that the queue has allocated. */
size_t sm_queue_bytes(const sm_queue_t *s);


#endif /* SM_QUEUE_H */
