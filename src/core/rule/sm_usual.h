
/*
 * How long the answers of a target usually take: what slow ones are compared
 * with.
 *
 * - It is the median of the last hour's answers, without those that were slow
 *   when they came.  So however long a gateway is slow, that does not become
 *   what is usual, and slow answers from before its state is ill do not move
 *   it.
 * - While the hour has few answers, what was known before them stays: from
 *   earlier hours, or from the leader before.
 * - A target that was slow for an hour without being well in between, with
 *   enough answers, is slower for good: it begins anew.
 *
 * Times are microseconds on a clock that is never set.  It is not thread-safe.
 */

#ifndef SM_USUAL_H
#define SM_USUAL_H


#include "sm_window.h"


#define SM_USUAL_HOUR    INT64_C(3600000000)
#define SM_USUAL_ENOUGH  20             /* answers */
#define SM_USUAL_FIRM    3              /* that are no accident */


typedef struct {
    sm_window_t         hour;           /* slow answers are left out */
    int64_t             n;              /* its answers, */
    int64_t             looked_at;      /* as counted then */
    int64_t             median;         /* -1: it is not known */
    int64_t             kept;           /* from before the hour; -1: none */
    int64_t             slow;           /* left out since it was well */
    int64_t             slow_since;     /* the first of these */
} sm_usual_t;


void sm_usual_init(sm_usual_t *u, int64_t now);

/* What the leader before has told counts until there is enough of our own. */
void sm_usual_told(sm_usual_t *u, int64_t usec);

/* Returns the median; -1 if it is not known. */
int64_t sm_usual_median(sm_usual_t *u, int64_t now);

/* Says whether the median is of more than an answer or two. */
int sm_usual_firm(const sm_usual_t *u);

/* Takes in an answer; slow ones are left out, but for good. */
void sm_usual_answer(sm_usual_t *u, int64_t now, int64_t usec, int slow);

/* The target is well. */
void sm_usual_well(sm_usual_t *u);


#endif /* SM_USUAL_H */
