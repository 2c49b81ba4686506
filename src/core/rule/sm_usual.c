
#include "sm_usual.h"


/*
 * The window's time runs this much slower, so that its slots are of five
 * minutes.
 */
#define SM_USUAL_SLOWER  20

#define SM_USUAL_LOOK    1000000        /* microseconds */


void
sm_usual_init(sm_usual_t *u, int64_t now)
{
    sm_window_init(&u->hour, now / SM_USUAL_SLOWER);

    u->n = 0;
    u->looked_at = now;
    u->median = -1;
    u->kept = -1;
    u->slow = 0;
    u->slow_since = 0;
}


void
sm_usual_told(sm_usual_t *u, int64_t usec)
{
    if (usec > 0 && u->n < SM_USUAL_ENOUGH) {
        u->kept = usec;
        u->median = usec;
    }
}


int64_t
sm_usual_median(sm_usual_t *u, int64_t now)
{
    sm_stats_window_t  hour;

    if (u->n >= SM_USUAL_ENOUGH && now - u->looked_at < SM_USUAL_LOOK) {
        return u->median;
    }

    sm_window_read(&u->hour, now / SM_USUAL_SLOWER,
                   SM_USUAL_HOUR / SM_USUAL_SLOWER, &hour);

    u->looked_at = now;
    u->n = hour.counts[SM_STATS_ATTEMPT_ACCEPTED];

    if (u->n >= SM_USUAL_ENOUGH) {
        u->kept = hour.p50;
    }

    u->median = u->kept > 0 ? u->kept : hour.p50;

    return u->median;
}


int
sm_usual_firm(const sm_usual_t *u)
{
    return u->kept > 0 || u->n >= SM_USUAL_FIRM;
}


void
sm_usual_answer(sm_usual_t *u, int64_t now, int64_t usec, int slow)
{
    if (slow) {
        if (u->slow++ == 0) {
            u->slow_since = now;
        }

        if (u->slow < SM_USUAL_ENOUGH || now - u->slow_since < SM_USUAL_HOUR) {
            return;
        }

        sm_usual_init(u, now);
    }

    sm_window_count(&u->hour, now / SM_USUAL_SLOWER, SM_STATS_ATTEMPT_ACCEPTED,
                    1);
    sm_window_observe(&u->hour, now / SM_USUAL_SLOWER, usec);
}


void
sm_usual_well(sm_usual_t *u)
{
    u->slow = 0;
}
