
/*
 * Schedules of recurring intents.  ("sm_queue" is the leader's list of what is
 * pending.)
 *
 * The intent of a planned time has the id "<schedule>@<time>", so that whoever
 * makes it twice makes it once.
 */

#ifndef SM_SCHEDULE_H
#define SM_SCHEDULE_H


#include "sm_field.h"
#include "sm_schedule_rule.h"


/* "@2026-02-02T12:00:10Z" is added to the id of a schedule. */

#define SM_SCHEDULE_ID_MAX     178             /* characters */
#define SM_SCHEDULE_TIME_LEN   20

#define SM_SCHEDULE_REASON_MAX 500             /* characters */


/* A schedule as the store keeps it; times are microseconds, or 0. */

typedef struct {
    sm_str_t              id;
    sm_str_t              target;
    sm_str_t              body;         /* the rule, see sm_schedule_load() */
    sm_str_t              hash;         /* of the payload */
    sm_str_t              payload;      /* no data if it was not asked for */
    sm_str_t              last_intent;
    sm_str_t              pause_reason;
    sm_str_t              error;        /* why it does not run */
    sm_str_t              actor;        /* of the last change */
    int64_t               revision;
    int64_t               next_run_at;
    int64_t               last_run_at;
    int64_t               fired;
    int64_t               skipped;
    int64_t               missed;
    int64_t               paused_at;
    int64_t               created_at;
    int64_t               modified_at;
    unsigned              configured;   /* not made by HTTP */
    unsigned              busy;         /* the last intent is pending */
} sm_schedule_t;

extern const sm_field_t  sm_schedule_fields[];


/* Returns what is wrong with the id, or NULL. */
const char *sm_schedule_id_check(sm_str_t id);

/* Makes the id of the intent of a time. */
int sm_schedule_intent(sm_arena_t *arena, sm_str_t id, int64_t at,
    sm_str_t *intent);

/* Returns whether an id ends as that of an occurrence does. */
int sm_schedule_timed(sm_str_t id);

/*
 * Returns whether an id has the whole form of an occurrence's, and if so the
 * id of the schedule to which it belongs, if there is one: nobody else may
 * make such an intent.
 */
int sm_schedule_occurrence(sm_str_t id, sm_str_t *schedule);

/* Writes a schedule as HTTP shows it, with its payload if that was read. */
void sm_schedule_out(sm_out_t *out, const sm_schedule_t *schedule,
    const sm_schedule_rule_t *rule);


#endif /* SM_SCHEDULE_H */
