
/*
 * The times of a schedule: which one is next, and which have come.
 *
 * The next time is computed from the planned ones, never from when something
 * was done.  A planned time is a whole second.
 */

#ifndef SM_SCHEDULE_DUE_H
#define SM_SCHEDULE_DUE_H


#include "sm_schedule_rule.h"


#define SM_SCHEDULE_ALL        1000            /* made up for, at most */
#define SM_SCHEDULE_GRACE      60              /* seconds: "skip" forgives */


/*
 * Converts times of a zone; local times are as in sm_cron.h.  A local time that
 * does not exist is the next one that does, and one that exists twice is the
 * first of the two.  Both functions return 0, or -1 if they do not know.
 */

typedef struct {
    int                 (*to_local)(void *data, int64_t utc, int64_t *local);
    int                 (*to_utc)(void *data, int64_t local, int64_t *utc);
    void                 *data;
} sm_schedule_zone_t;


/* What becomes of a schedule that is due. */

typedef struct {
    int64_t              *times;        /* seconds: each becomes an intent */
    size_t                n;
    size_t                left;         /* times from "next" on, for later */
    int64_t               next;         /* 0 if the schedule has ended */
    int64_t               skipped;      /* for the overlap */
    int64_t               missed;       /* by the misfire rule */
    unsigned              cut:1;        /* more than SM_SCHEDULE_ALL */
} sm_schedule_due_t;


/*
 * Finds the first planned time after a second; "next" is 0 if there is none.
 * Without a zone the rule is in UTC.  Returns -1 if the zone does not answer.
 */
int sm_schedule_next(const sm_schedule_rule_t *rule,
    const sm_schedule_zone_t *zone, int64_t after, int64_t *next);

/*
 * Decides what becomes of "planned", which has come, and of the times after it
 * that have.  "busy" says that the last intent is pending.  Returns -1 if the
 * zone does not answer, and -2 without memory.
 */
int sm_schedule_due(sm_arena_t *arena, const sm_schedule_rule_t *rule,
    const sm_schedule_zone_t *zone, int64_t planned, int64_t now, unsigned busy,
    sm_schedule_due_t *due);

/*
 * Leaves the first n times for now; the others stay due.  All of them are one
 * occurrence for the overlap: whoever makes a part that is not the last one
 * leaves the schedule's last intent as it was.
 */
void sm_schedule_part(sm_schedule_due_t *due, size_t n);


#endif /* SM_SCHEDULE_DUE_H */
