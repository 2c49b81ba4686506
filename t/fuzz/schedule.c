
/*
 * What PUT sends of a schedule: cron's fields, durations, and the whole body.  A
 * rule that is taken has a next time, a whole second after the one before it, is
 * the same after it was kept, and says what becomes of what is due.
 */

#include "fuzz.h"
#include "sm_schedule.h"
#include "sm_schedule_due.h"


/* a zone whose clocks are set forth and back by an hour, every few days */

static int64_t
offset(int64_t days)
{
    return (days / 5) % 2 ? 3600 : 0;
}


static int
to_local(void *data, int64_t utc, int64_t *local)
{
    (void) data;

    *local = utc + offset(utc / 86400);

    return 0;
}


static int
to_utc(void *data, int64_t local, int64_t *utc)
{
    int64_t  early;

    (void) data;

    /* the first instant at which the clock shows it, or more */

    early = local - 3600;
    *utc = early;

    while (*utc + offset(*utc / 86400) < local) {
        *utc = offset((*utc + 3600) / 86400) == offset(*utc / 86400)
               ? *utc + local - (*utc + offset(*utc / 86400))
               : (*utc / 86400 + 1) * 86400;
    }

    return 0;
}


static void
rule_holds(sm_arena_t *arena, const sm_schedule_rule_t *rule)
{
    int                     i;
    size_t                  k;
    int64_t                 t, next, now;
    sm_str_t                body;
    sm_schedule_due_t       due;
    sm_schedule_rule_t      again;
    const sm_schedule_zone_t  *zone;

    static const sm_schedule_zone_t  odd = { to_local, to_utc, NULL };

    must(sm_schedule_body(arena, rule, &body) == 0
         && sm_schedule_load(arena, body, &again) == 0
         && sm_schedule_same_times(rule, &again)
         && again.misfire == rule->misfire && again.overlap == rule->overlap,
         "a rule is the same after it was kept");

    zone = rule->zone.data ? &odd : NULL;
    t = 1770033600;

    for (i = 0; i < 4; i++) {
        must(sm_schedule_next(rule, zone, t, &next) == 0, "there is an answer");

        if (next == 0) {
            return;
        }

        must(next > t && next >= rule->start
             && (rule->end == 0 || next <= rule->end), "times only grow");
        t = next;
    }

    now = t + 86400;

    must(sm_schedule_due(arena, rule, zone, t, now, 0, &due) == 0,
         "what is due is known");
    must(due.n <= SM_SCHEDULE_ALL && (due.next == 0 || due.next > now)
         && due.missed >= 0, "and within its bounds");

    for (k = 0; k < due.n; k++) {
        must(due.times[k] >= t && due.times[k] <= now
             && (k == 0 || due.times[k] > due.times[k - 1]),
             "each has come, and after the one before it");
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char              why[192];
    int64_t           seconds, next;
    sm_str_t          s, target, payload;
    sm_cron_t         cron;
    sm_arena_t        arena = { NULL };
    sm_json_error_t   err;
    sm_schedule_rule_t   rule;

    s = fuzz_copy(fuzz_input(data, size));

    if (sm_cron_parse(s, &cron, why, sizeof(why)) == 0) {
        must(sm_cron_next(&cron, 1770033600, &next) == 0
             && next > 1770033600 && next % 60 == 0, "it has a next minute");
    }

    if (sm_duration_parse(s, &seconds) == NULL) {
        must(seconds >= 1 && seconds <= SM_DURATION_MAX, "it has a length");
    }

    if (sm_schedule_parse(&arena, s, &rule, &target, &payload, &err) == 0) {
        rule_holds(&arena, &rule);
    }

    (void) sm_schedule_id_check(s);

    fuzz_free(s);
    sm_arena_free(&arena);

    return 0;
}
