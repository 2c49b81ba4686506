
/*
 * What happened to a target in the last one and five minutes: counts, and how
 * long attempts took.
 *
 * Time is cut into slots of 15 seconds.  A window has the slots that are over
 * and lie in it, and the current one.  So it is up to one slot longer than its
 * name says; its span is what it really covers.  Durations are counted in
 * buckets, four for each power of two, so a percentile is off by at most an
 * eighth.
 *
 * Its memory does not depend on how much happens.  It is not thread-safe.
 */

#ifndef SM_WINDOW_H
#define SM_WINDOW_H


#include <stddef.h>
#include <stdint.h>


/* What is counted for a target: intents, and attempts by outcome. */

typedef enum {
    SM_STATS_SUBMITTED = 0,
    SM_STATS_ACCEPTED,
    SM_STATS_REJECTED,
    SM_STATS_EXHAUSTED,
    SM_STATS_CANCELED,
    SM_STATS_ATTEMPT_ACCEPTED,
    SM_STATS_ATTEMPT_REJECTED,
    SM_STATS_ATTEMPT_ERROR,
    SM_STATS_ATTEMPT_UNKNOWN,
    SM_STATS_COUNTS
} sm_stats_count_e;


#define SM_WINDOW_SLOT     15000000             /* microseconds */
#define SM_WINDOW_SLOTS    21                   /* five minutes, and now */
#define SM_WINDOW_UNIT     128                  /* microseconds */
#define SM_WINDOW_BUCKETS  88

#define SM_WINDOW_1M       60000000
#define SM_WINDOW_5M       300000000


typedef struct {
    uint32_t            counts[SM_STATS_COUNTS];
    uint32_t            buckets[SM_WINDOW_BUCKETS];
} sm_window_slot_t;


typedef struct {
    int64_t             since;          /* when it began */
    int64_t             number;         /* of the current slot */
    sm_window_slot_t    slots[SM_WINDOW_SLOTS];
} sm_window_t;


/* A percentile is -1 if nothing was observed. */

typedef struct {
    int64_t             span;           /* milliseconds */
    int64_t             counts[SM_STATS_COUNTS];
    int64_t             p50;            /* microseconds */
    int64_t             p99;
} sm_stats_window_t;


/* "now" is microseconds on a clock that is never set. */
void sm_window_init(sm_window_t *w, int64_t now);
void sm_window_count(sm_window_t *w, int64_t now, sm_stats_count_e which,
    unsigned n);
void sm_window_observe(sm_window_t *w, int64_t now, int64_t usec);

/* "length" is SM_WINDOW_1M or SM_WINDOW_5M. */
void sm_window_read(sm_window_t *w, int64_t now, int64_t length,
    sm_stats_window_t *out);


/* Attempts of all outcomes, and those that were not accepted. */
int64_t sm_stats_attempts(const int64_t counts[SM_STATS_COUNTS]);
int64_t sm_stats_failed(const int64_t counts[SM_STATS_COUNTS]);


#endif /* SM_WINDOW_H */
