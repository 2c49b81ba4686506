
/*
 * The rule of a schedule: when it runs, and what becomes of times that have
 * passed, or that come while the last intent is still pending.
 */

#ifndef SM_SCHEDULE_RULE_H
#define SM_SCHEDULE_RULE_H


#include "sm_cron.h"
#include "sm_json.h"


#define SM_SCHEDULE_SECOND     ((int64_t) 1000000)  /* microseconds */

#define SM_SCHEDULE_ZONE_MAX   64              /* bytes */


typedef enum {
    SM_MISFIRE_ONCE = 0,        /* of the times that have passed, the latest */
    SM_MISFIRE_SKIP,            /* none that is older than the grace */
    SM_MISFIRE_ALL,
    SM_MISFIRES
} sm_misfire_e;


typedef enum {
    SM_OVERLAP_SKIP = 0,        /* not while the last intent is pending */
    SM_OVERLAP_ALLOW,
    SM_OVERLAPS
} sm_overlap_e;


/* Times are seconds since 1970, or 0 if there is none. */

typedef struct {
    sm_str_t              every;        /* as it was given, or no data */
    sm_str_t              cron;
    sm_str_t              zone;         /* no data means UTC */

    int64_t               interval;     /* 0 if "fields" say when */
    sm_cron_t             fields;
    int64_t               start;        /* an interval always has one */
    int64_t               end;          /* the last time at which it may run */
    unsigned              given_start:1;
    sm_misfire_e          misfire;
    sm_overlap_e          overlap;
} sm_schedule_rule_t;


/*
 * Reads the body of PUT: the rule, the target and the payload, which is a slice
 * of the body.  The strings are in the arena.  The time zone is not looked up.
 */
int sm_schedule_parse(sm_arena_t *arena, sm_str_t body,
    sm_schedule_rule_t *rule, sm_str_t *target, sm_str_t *payload,
    sm_json_error_t *err);

/*
 * Checks what no part of a rule says alone.  Returns what is wrong, with the
 * field, or NULL.
 */
const char *sm_schedule_check(const sm_schedule_rule_t *rule,
    const char **field);

/*
 * Writes the rule as the store keeps it, and reads it back.  _body() returns -1
 * without memory; _load() returns -1 if the text is not a rule, and -2 without
 * memory.
 */
int sm_schedule_body(sm_arena_t *arena, const sm_schedule_rule_t *rule,
    sm_str_t *body);
int sm_schedule_load(sm_arena_t *arena, sm_str_t body,
    sm_schedule_rule_t *rule);

/* Writes the rule as HTTP shows it, as keys of an object that was begun. */
void sm_schedule_rule_out(sm_out_t *out, const sm_schedule_rule_t *rule);

/* Returns whether two rules have the same times. */
int sm_schedule_same_times(const sm_schedule_rule_t *a,
    const sm_schedule_rule_t *b);


#endif /* SM_SCHEDULE_RULE_H */
