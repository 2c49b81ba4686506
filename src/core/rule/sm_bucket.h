
/*
 * A token bucket: at most "rate" sends a minute, and "burst" of them at once.
 *
 * A token is reserved when an attempt is chosen, spent when its first byte
 * leaves, and given back if nothing leaves.  A reserved token stays in the
 * bucket until then.  So in no window of time do more than rate * window +
 * burst attempts leave, however long each of them waits after it was chosen.
 *
 * Times are microseconds on a clock that is never set.  Everything is counted
 * in integers, so that nothing is gained or lost by rounding.
 */

#ifndef SM_BUCKET_H
#define SM_BUCKET_H


#include <stdint.h>


#define SM_BUCKET_RATE_MAX   60000000       /* a minute */
#define SM_BUCKET_BURST_MAX  1000000


/*
 * A token has as many units as a minute has microseconds, so that each
 * microsecond adds "rate" units.
 */

#define SM_BUCKET_TOKEN      60000000


typedef struct {
    int64_t   rate;             /* 0 means no limit */
    int64_t   burst;
    int64_t   units;            /* at the time "at" */
    int64_t   at;
    int64_t   reserved;         /* tokens */
} sm_bucket_t;


/* The bucket is empty at first. */
void sm_bucket_init(sm_bucket_t *b, int64_t rate, int64_t burst, int64_t now);

/*
 * Returns from when on one more token can be reserved, or INT64_MAX if that
 * takes another one to be spent or given back first.
 */
int64_t sm_bucket_next(const sm_bucket_t *b, int64_t now);

void sm_bucket_reserve(sm_bucket_t *b);
void sm_bucket_give_back(sm_bucket_t *b);
void sm_bucket_spend(sm_bucket_t *b, int64_t now);

/*
 * Continues another bucket of the same target, on the same clock.  Neither may
 * hold more than is really left, so the fuller one is the better estimate.
 * Tokens that the other one has reserved are never spent any more.
 */
void sm_bucket_go_on(sm_bucket_t *b, const sm_bucket_t *other, int64_t now);

/* Returns the units in the bucket at that time. */
int64_t sm_bucket_units(const sm_bucket_t *b, int64_t now);

/* Returns the whole tokens that are not reserved. */
int64_t sm_bucket_tokens(const sm_bucket_t *b, int64_t now);


#endif /* SM_BUCKET_H */
