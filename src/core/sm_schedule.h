
/*
 * The schedule: which intents are to be tried, and when.
 *
 * An intent is in it once.  It either waits for its due time or is taken, from
 * the moment when it was picked until its outcome is known.  Each target has
 * its own queue, in the order of due time, and a bound on the number of its
 * intents that are under way, so that one target cannot hold up another.
 *
 * It is not thread-safe.  An entry takes at most 200 bytes besides the id.
 */

#ifndef SM_SCHEDULE_H
#define SM_SCHEDULE_H


#include "sm_str.h"


typedef struct sm_schedule_s         sm_schedule_t;
typedef struct sm_schedule_target_s  sm_schedule_target_t;
typedef struct sm_entry_s            sm_entry_t;


/* the bound of a target; 0: none of its own */
typedef unsigned (*sm_schedule_limit_pt)(void *data, sm_str_t target);


/*
 * "concurrency": how many may be under way in all, from being taken to having
 * ended.  A target without a bound of its own takes at most eight times as many
 * as it leaves free for others, even while it is alone: what it has taken may
 * last, and others may come.  The first it may take wherever one is free.
 * "key": random, see sm_index.h.  NULL: no memory.
 */
sm_schedule_t *sm_schedule_create(unsigned concurrency,
    const uint64_t key[2], sm_schedule_limit_pt limit, void *data);
void sm_schedule_destroy(sm_schedule_t *s);

/*
 * Adds an intent that is due at that time, or moves it.  A taken one is not
 * changed, because its owner knows better.  -1: no memory.
 */
int sm_schedule_set(sm_schedule_t *s, sm_str_t id, sm_str_t target,
    int64_t due_at);

/*
 * Adds an intent that is already under way from an earlier schedule, as
 * taken.  It counts for the bounds, even beyond them.  NULL: no memory, or it
 * is already there.
 */
sm_entry_t *sm_schedule_hold(sm_schedule_t *s, sm_str_t id, sm_str_t target);

/*
 * Up to "max" entries that are due, earliest first within a target, and one
 * after the other of the targets in turn; they are taken then.
 */
size_t sm_schedule_take(sm_schedule_t *s, int64_t now, sm_entry_t **entries,
    size_t max);

/*
 * A taken entry has ended and no longer counts for the bounds.  It stays taken
 * until it is put back or dropped.
 */
void sm_schedule_end(sm_schedule_t *s, sm_entry_t *e);

/* puts a taken entry back: it is due again at that time */
void sm_schedule_put(sm_schedule_t *s, sm_entry_t *e, int64_t due_at);

/* removes a taken entry, which needs no further attempt */
void sm_schedule_drop(sm_schedule_t *s, sm_entry_t *e);

/*
 * The time from which sm_schedule_take() will return something if nothing else
 * changes.  It may have passed; INT64_MAX: never.
 */
int64_t sm_schedule_next(const sm_schedule_t *s);

size_t sm_schedule_waiting(const sm_schedule_t *s);
size_t sm_schedule_taken(const sm_schedule_t *s);

sm_str_t sm_entry_id(const sm_entry_t *e);
int64_t sm_entry_due_at(const sm_entry_t *e);

/* all that it has allocated */
size_t sm_schedule_bytes(const sm_schedule_t *s);


#endif /* SM_SCHEDULE_H */
