
/*
 * The health of a target, judged by what became of its attempts.
 *
 * - It is down when its last three attempts, or more, got no usable answer and
 *   nothing was answered for five seconds.
 * - It is degraded when a share of its attempts fails, when the last one failed
 *   and nothing was answered for ten seconds, when it rejects everything, when
 *   its answers are slow, or when an attempt waits much longer for its answer
 *   than is usual.  Ten seconds are more than a target needs that is asked every
 *   five, so that one failure among its answers does not make it ill.
 * - It is degraded, too, when what is due has found no connection of this host
 *   for three seconds: then nothing of it even begins.
 * - Where there are too few answers for a percentile, they are slow if the last
 *   three were.
 * - What could not leave this host counts like what failed.
 * - It is not down any more after three answers in a row, or after one if
 *   nothing fails beside it.  It is well after half a minute in which nothing
 *   was wrong, by lower bounds than those for falling ill.
 * - A target whose last attempt failed does not get well by itself: something
 *   has to be answered first.  Nor does one whose last answer was slow, or one
 *   that the leader before has reported before something was accepted.
 * - What is slow is measured by what is usual when the target is well; slow
 *   answers do not change that, see sm_usual.h.  So a target stays ill as long
 *   as it is slow, and one that is slower for good for an hour.
 *
 * Time is cut into ticks of five seconds; "recent" is the current tick and the
 * one before.  Times are microseconds on a clock that is never set.
 */

#ifndef SM_HEALTH_H
#define SM_HEALTH_H


#include "sm_out.h"
#include "sm_usual.h"


#define SM_HEALTH_TICK     5000000      /* microseconds */
#define SM_HEALTH_TICKS    12           /* a minute */
#define SM_HEALTH_RECENT   2            /* ticks */
#define SM_HEALTH_SILENT   (SM_HEALTH_RECENT * SM_HEALTH_TICK)
#define SM_HEALTH_CALM     6            /* ticks */
#define SM_HEALTH_IN_ROW   3            /* failures, or answers */
#define SM_HEALTH_REJECTS  10           /* in a row; then it is degraded */
#define SM_HEALTH_ENOUGH   20           /* attempts for a percentile */
#define SM_HEALTH_QUICK    250000       /* no answer is slow that is faster */
#define SM_HEALTH_WAITS    3000000      /* and no attempt waits long before */

#define SM_HEALTH_WHY_MAX  160          /* bytes of the sentence */


typedef enum {
    SM_HEALTH_OK = 0,
    SM_HEALTH_DEGRADED,
    SM_HEALTH_DOWN,
    SM_HEALTH_STATES
} sm_health_e;

typedef enum {
    SM_HEALTH_ACCEPTED = 0,
    SM_HEALTH_REJECTED,
    SM_HEALTH_FAILED,           /* an error, or unknown */
    SM_HEALTH_UNSENT,
    SM_HEALTH_EVENTS
} sm_health_event_e;

typedef enum {
    SM_HEALTH_WELL = 0,
    SM_HEALTH_IS_DOWN,          /* the last "n" */
    SM_HEALTH_LAST_FAILED,      /* the last "n" */
    SM_HEALTH_SHARE,            /* "n" of the last "of" */
    SM_HEALTH_REJECTS_ALL,      /* the last "n" */
    SM_HEALTH_SLOW,
    SM_HEALTH_WAITING,
    SM_HEALTH_SLOW_LAST,        /* the last answer */
    SM_HEALTH_HELD,             /* it finds no connection to be sent with */
    SM_HEALTH_RECOVERS,
    SM_HEALTH_TOLD              /* by the leader before */
} sm_health_why_e;


/* How long attempts take, in microseconds; -1: that is not known. */

typedef struct {
    int64_t             p99;            /* of the last minute */
    int64_t             attempts;       /* that it was made of */
    int64_t             median;         /* what is usual */
    int64_t             timeout;
    int64_t             waiting;        /* the oldest attempt under way */
    int64_t             held;           /* what is due, for lack of connections
                                           of this host */
} sm_health_times_t;

typedef struct {
    sm_health_e         state;
    sm_health_why_e     why;
    int64_t             n;
    int64_t             of;
    unsigned            unsent:1;       /* these could not be sent */
    sm_health_times_t   times;

    uint64_t            streak;         /* failed or unsent, in a row */
    uint64_t            streak_unsent;  /* of these */
    uint64_t            good;           /* answers in a row */
    uint64_t            rejects;        /* since one was accepted */
    unsigned            answered:1;     /* ever, */
    int64_t             answered_at;    /* and when last */
    int64_t             slow;           /* what the last took, if too long */
    uint64_t            slows;          /* that took too long, in a row */
    unsigned            told:1;         /* by the leader before; nothing was
                                           accepted since */

    int64_t             calm;           /* the tick since when it is */
    int64_t             number;         /* of the current tick */
    uint32_t            ticks[SM_HEALTH_TICKS][SM_HEALTH_EVENTS];
} sm_health_t;


sm_str_t sm_health_name(sm_health_e state);

/* Says whether it may fall ill by the passing of time alone. */
int sm_health_fears(const sm_health_t *h);

void sm_health_init(sm_health_t *h, int64_t now);

/* Goes on with what the leader before has told, unless it got an answer. */
void sm_health_go_on(sm_health_t *h, sm_health_e state);

void sm_health_count(sm_health_t *h, int64_t now, sm_health_event_e event);

/*
 * Takes in how long an answer took, before that is counted.  Without memory, "u"
 * is NULL.
 */
void sm_health_took(sm_health_t *h, sm_usual_t *u, int64_t now, int64_t usec);

/*
 * Returns 1 if the state has changed.  "times" is NULL between ticks: then what
 * was known of them last is used.
 */
unsigned sm_health_judge(sm_health_t *h, int64_t now,
    const sm_health_times_t *times);

/* Writes why it is not well, as a sentence without its full stop. */
void sm_health_out_why(sm_out_t *out, const sm_health_t *h);


#endif /* SM_HEALTH_H */
