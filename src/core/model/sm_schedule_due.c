
#include "sm_out.h"
#include "sm_schedule_due.h"
#include "sm_time.h"


/*
 * The times of a cron rule are counted one by one up to this number.  After
 * that only those of the last 400 days are: every rule that has so many times
 * has some in 400 days.
 */

#define SM_SCHEDULE_STEPS   100000
#define SM_SCHEDULE_LATELY  ((int64_t) 400 * 86400)


static int
sm_schedule_next_cron(const sm_schedule_rule_t *rule,
    const sm_schedule_zone_t *zone, int64_t after, int64_t *next)
{
    int64_t  local, utc;

    if (zone == NULL) {
        return sm_cron_next(&rule->fields, after, next);
    }

    if (zone->to_local(zone->data, after, &local) != 0) {
        return -1;
    }

    /* When clocks are set back, local times come again; those are skipped. */

    do {
        if (sm_cron_next(&rule->fields, local, &local) != 0
            || zone->to_utc(zone->data, local, &utc) != 0)
        {
            return -1;
        }

    } while (utc <= after);

    *next = utc;

    return 0;
}


int
sm_schedule_next(const sm_schedule_rule_t *rule, const sm_schedule_zone_t *zone,
    int64_t after, int64_t *next)
{
    if (rule->start && after < rule->start) {
        after = rule->start - 1;
    }

    if (rule->interval) {
        *next = rule->start;

        if (after >= rule->start) {
            *next += ((after - rule->start) / rule->interval + 1)
                     * rule->interval;
        }

    } else if (sm_schedule_next_cron(rule, zone, after, next) != 0) {
        return -1;
    }

    if ((rule->end && *next > rule->end)
        || *next > SM_TIME_MAX / SM_SCHEDULE_SECOND)
    {
        *next = 0;
    }

    return 0;
}


/*
 * Counts the times that have come from "planned" to "now", and stores the last
 * of them, as many as there is room for, and the next one.
 */

static int
sm_schedule_come(const sm_schedule_rule_t *rule, const sm_schedule_zone_t *zone,
    int64_t planned, int64_t now, sm_schedule_due_t *due, size_t room,
    int64_t *count)
{
    int64_t  at, n, first, last;

    at = planned;
    n = 0;
    first = 0;

    if (rule->interval && now > planned) {

        /* All but the last "room" times are counted at once. */

        last = rule->end && rule->end < now ? rule->end : now;
        first = (last - planned) / rule->interval + 1 - (int64_t) room;
        first = first > 0 ? first : 0;
        at += first * rule->interval;
    }

    while (at && at <= now) {
        due->times[n++ % room] = at;

        if (n == SM_SCHEDULE_STEPS && at < now - SM_SCHEDULE_LATELY) {
            at = now - SM_SCHEDULE_LATELY;
        }

        if (sm_schedule_next(rule, zone, at, &at) != 0) {
            return -1;
        }
    }

    due->next = at;
    due->n = (size_t) n < room ? (size_t) n : room;
    *count = first + n;

    return 0;
}


/* Makes the ring of the last times a list, oldest first. */

static void
sm_schedule_sort(int64_t *times, size_t n)
{
    size_t   i, least;
    int64_t  t;

    for (i = 1, least = 0; i < n; i++) {
        if (times[i] < times[least]) {
            least = i;
        }
    }

    for ( /* void */ ; least; least--) {
        t = times[0];
        (void) memmove(times, times + 1, (n - 1) * sizeof(int64_t));
        times[n - 1] = t;
    }
}


int
sm_schedule_due(sm_arena_t *arena, const sm_schedule_rule_t *rule,
    const sm_schedule_zone_t *zone, int64_t planned, int64_t now, unsigned busy,
    sm_schedule_due_t *due)
{
    size_t   room;
    int64_t  count;

    memset(due, 0, sizeof(sm_schedule_due_t));

    room = rule->misfire == SM_MISFIRE_ALL ? SM_SCHEDULE_ALL : 1;

    if (rule->interval && room > (size_t) ((now - planned) / rule->interval)
                                 + 1)
    {
        room = (now - planned) / rule->interval + 1;
    }

    due->times = sm_arena_calloc(arena, room, sizeof(int64_t));

    if (due->times == NULL) {
        return -2;
    }

    if (sm_schedule_come(rule, zone, planned, now, due, room, &count) != 0) {
        return -1;
    }

    sm_schedule_sort(due->times, due->n);

    due->cut = rule->misfire == SM_MISFIRE_ALL
               && count > (int64_t) due->n;

    if (rule->misfire == SM_MISFIRE_SKIP && due->n
        && now - due->times[0] > SM_SCHEDULE_GRACE)
    {
        due->n = 0;
    }

    due->missed = count - (int64_t) due->n;

    if (busy && rule->overlap == SM_OVERLAP_SKIP) {
        due->skipped = due->n;
        due->n = 0;
    }

    return 0;
}


void
sm_schedule_part(sm_schedule_due_t *due, size_t n)
{
    if (n < due->n) {
        due->left += due->n - n;
        due->next = due->times[n];
        due->n = n;
    }
}
