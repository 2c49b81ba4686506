
/*
 * A token bucket: at most "rate" a minute, and "burst" of them at once.
 *
 * A token is reserved when it is decided that something will be sent, and
 * spent when it leaves, or given back when it does not.  What is reserved stays
 * in the bucket until then: however long it takes, and however much later than
 * what was decided after it, no window of time sees more than rate * window +
 * burst leave.
 *
 * Times are microseconds on a clock that is never set.  Everything is counted
 * in integers, so that nothing is gained or lost by rounding.
 */

#ifndef SM_BUCKET_H
#define SM_BUCKET_H


#include <stdint.h>


#define SM_BUCKET_RATE_MAX   60000000       /* a minute */
#define SM_BUCKET_BURST_MAX  1000000


/* a token is as many units as a minute has microseconds: "rate" of them come
   with each microsecond */

#define SM_BUCKET_TOKEN      60000000


typedef struct {
    int64_t   rate;             /* 0: no limit */
    int64_t   burst;
    int64_t   units;            /* at the time "at" */
    int64_t   at;
    int64_t   reserved;         /* tokens */
} sm_bucket_t;


/* an empty one */
void sm_bucket_init(sm_bucket_t *b, int64_t rate, int64_t burst, int64_t now);

/*
 * From when on one more can be reserved: "now" or earlier, it can be; later;
 * or INT64_MAX, not before another one is spent or given back.
 */
int64_t sm_bucket_next(const sm_bucket_t *b, int64_t now);

void sm_bucket_reserve(sm_bucket_t *b);
void sm_bucket_give_back(sm_bucket_t *b);
void sm_bucket_spend(sm_bucket_t *b, int64_t now);

/*
 * Goes on from another bucket of the same target, on the same clock.  Both must
 * hold no more than there is: the one that holds more is taken.  What the other
 * has reserved and not spent by now never will be.
 */
void sm_bucket_go_on(sm_bucket_t *b, const sm_bucket_t *other, int64_t now);

/* the units at that time */
int64_t sm_bucket_units(const sm_bucket_t *b, int64_t now);

/* whole tokens that nobody has reserved */
int64_t sm_bucket_tokens(const sm_bucket_t *b, int64_t now);


#endif /* SM_BUCKET_H */
