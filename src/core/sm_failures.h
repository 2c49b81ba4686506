
/*
 * What has failed lately, in groups: rejected and exhausted intents of the same
 * target, reason and last error, and what the inbox refused.
 */

#ifndef SM_FAILURES_H
#define SM_FAILURES_H


#include "sm_intent.h"


#define SM_FAILURES_BOUND   10000       /* the newest are looked at */
#define SM_FAILURES_GROUPS  100         /* the newest are shown */
#define SM_FAILURES_IDS     3


typedef struct {
    sm_str_t       target;
    sm_str_t       status;              /* "rejected", "exhausted", "refused" */
    sm_str_t       reason;
    sm_str_t       last_error;          /* no data: none */
    int64_t        count;
    int64_t        newest_at;
    sm_str_t       ids[SM_FAILURES_IDS];    /* the newest first */
    size_t         nids;
} sm_failure_t;


typedef struct {
    sm_str_t       target;              /* no data: any */
    int64_t        since;               /* 0: from the beginning */
    int64_t        as_of;               /* when it was looked */
    unsigned       left;                /* it was not: another call does */

    sm_failure_t  *failures;            /* the newest first */
    size_t         n;
    unsigned       partial;             /* there are more than were looked at,
                                           or more groups than are shown */
} sm_failures_row_t;


/* as many bytes as one takes in the memory of a call */

#define SM_FAILURES_MAX  (SM_FAILURES_GROUPS * 8192)


/*
 * A look is shared by all who ask for the same: so a time is that of its whole
 * minute.
 */
int64_t sm_failures_since(int64_t since);
int sm_failures_same(const sm_failures_row_t *a, const sm_failures_row_t *b);

/* as many bytes as sm_failures_out() may write */
size_t sm_failures_size(const sm_failures_row_t *row);
void sm_failures_out(sm_out_t *out, const sm_failures_row_t *row);

/*
 * The group of the next row of an answer, whose rows of a group follow each
 * other: the last one if that has this number; NULL: there is no room.
 */
sm_failure_t *sm_failures_next(sm_failures_row_t *row, int64_t number,
    int64_t *last);


#endif /* SM_FAILURES_H */
