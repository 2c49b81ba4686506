
/*
 * The queue: which intents are to be tried, and when.
 *
 * An intent is in it once.  It either waits for its due time or is taken, from
 * the moment when it was picked until its outcome is known.  Each target has
 * its own queue, in the order of due time, and a bound on the number of its
 * intents that are under way, so that one target cannot hold up another.
 *
 * A target may also be held: it is paused, its rate is used up, or its circuit
 * is open.  Nothing of it is taken then, and nothing else becomes of what
 * waits.  Rates and circuits are on a clock of their own, that is never set:
 * sm_queue_tick() says what time it is.
 *
 * An intent may have a deadline.  When that has passed, it leaves the queue of
 * its target, whatever holds that, and waits for the store to end it: it takes
 * no slot, no token and no probe, and nothing waits behind it.
 *
 * It is not thread-safe.  An entry takes at most 200 bytes besides the id.
 */

#ifndef SM_QUEUE_H
#define SM_QUEUE_H


#include <limits.h>

#include "sm_bucket.h"
#include "sm_str.h"


typedef struct sm_queue_s            sm_queue_t;
typedef struct sm_queue_target_s     sm_queue_target_t;
typedef struct sm_entry_s            sm_entry_t;


/* the bound of a target; 0: none of its own; SM_QUEUE_NEVER: it waits */
#define SM_QUEUE_NEVER  UINT_MAX

typedef unsigned (*sm_queue_limit_pt)(void *data, sm_str_t target);


/*
 * "concurrency": how many may be under way in all, from being taken to having
 * ended.  A target without a bound of its own takes at most eight times as many
 * as it leaves free for others, even while it is alone: what it has taken may
 * last, and others may come.  The first it may take wherever one is free.
 * "key": random, see sm_index.h.  NULL: no memory.
 */
sm_queue_t *sm_queue_create(unsigned concurrency,
    const uint64_t key[2], sm_queue_limit_pt limit, void *data);
void sm_queue_destroy(sm_queue_t *s);

/*
 * The same in slices, each of which takes about as long as "max" entries do.
 * 1: there is more to destroy, and nothing else may be done with the queue.
 */
int sm_queue_destroy_some(sm_queue_t *s, size_t max);

/*
 * The time by both clocks, in microseconds: the store's, in which intents are
 * due, and the one that is never set.
 */
void sm_queue_tick(sm_queue_t *s, int64_t now, int64_t clock);

/*
 * Adds an intent that is due at that time, or moves it.  A taken one is not
 * changed, because its owner knows better.  "deadline" is on the same clock;
 * INT64_MAX: none.  -1: no memory.
 */
int sm_queue_set(sm_queue_t *s, sm_str_t id, sm_str_t target,
    int64_t due_at, int64_t deadline);

/*
 * Adds an intent that is already under way from an earlier queue, as
 * taken.  It counts for the bounds, even beyond them.  NULL: no memory, or it
 * is already there.
 */
sm_entry_t *sm_queue_hold(sm_queue_t *s, sm_str_t id, sm_str_t target,
    int64_t deadline);

/*
 * Takes those whose deadline has passed by the time of the last tick out of the
 * queues of their targets, up to "max" of them.  1: there are more, and until
 * they are out, too, nothing is taken.
 */
int sm_queue_expire(sm_queue_t *s, size_t max);

/*
 * Up to "max" of those that are out, the earliest deadline first.  The store is
 * to end them: each is then dropped, or put back if it did not.  One that is
 * put back is not out again for a second.
 */
size_t sm_queue_take_expired(sm_queue_t *s, sm_entry_t **entries,
    size_t max);

/* whether there are any */
int sm_queue_has_expired(const sm_queue_t *s);

/*
 * the earliest deadline of those that wait in queues; INT64_MAX: none has one
 */
int64_t sm_queue_next_deadline(const sm_queue_t *s);

/*
 * Up to "max" entries that are due, earliest first within a target, and one
 * after the other of the targets in turn; they are taken then.
 */
size_t sm_queue_take(sm_queue_t *s, int64_t now, sm_entry_t **entries,
    size_t max);

/*
 * A taken entry has ended and no longer counts for the bounds.  It stays taken
 * until it is put back or dropped.
 */
void sm_queue_end(sm_queue_t *s, sm_entry_t *e);

/* puts a taken entry back: it is due again at that time */
void sm_queue_put(sm_queue_t *s, sm_entry_t *e, int64_t due_at);

/*
 * A taken entry that nobody here can begin: it is there, and in nobody's way,
 * until sm_queue_set() has another time or deadline of it, or it is removed.
 */
void sm_queue_aside(sm_queue_t *s, sm_entry_t *e);

/* removes a taken entry, which needs no further attempt */
void sm_queue_drop(sm_queue_t *s, sm_entry_t *e);

/* an intent that waits; NULL: it does not, or is not there */
const sm_entry_t *sm_queue_find(sm_queue_t *s, sm_str_t id);

/*
 * Removes an intent that waits, and needs no further attempt.  A taken one is
 * not changed, because its owner knows better.  1: it was removed.
 */
int sm_queue_remove(sm_queue_t *s, sm_str_t id);

/*
 * The time from which sm_queue_take() will return something if nothing else
 * changes.  It may have passed; INT64_MAX: never.  Where targets are held, it
 * may also be a time at which one is not held any more.
 */
int64_t sm_queue_next(const sm_queue_t *s);

size_t sm_queue_waiting(const sm_queue_t *s);
size_t sm_queue_entries(const sm_queue_t *s);
size_t sm_queue_taken(const sm_queue_t *s);

sm_str_t sm_entry_id(const sm_entry_t *e);
sm_str_t sm_entry_target(const sm_entry_t *e);
int64_t sm_entry_due_at(const sm_entry_t *e);
const sm_bucket_t *sm_entry_bucket(const sm_entry_t *e);

/* all that it has allocated */
size_t sm_queue_bytes(const sm_queue_t *s);


#endif /* SM_QUEUE_H */
