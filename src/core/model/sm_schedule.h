
/*
 * Schedules of recurring intents: when each runs, and what becomes of times
 * that have passed.  ("sm_queue" is the leader's list of what is pending.)
 *
 * The next time is computed from the planned ones, never from when something
 * was done.  A planned time is a whole second; the intent of it has the id
 * "<schedule>@<time>", so that whoever makes it twice makes it once.
 */

#ifndef SM_SCHEDULE_H
#define SM_SCHEDULE_H


#include "sm_action.h"
#include "sm_batch.h"
#include "sm_cron.h"


/* "@2026-02-02T12:00:10Z" is added to it */

#define SM_SCHEDULE_ID_MAX     178             /* characters */
#define SM_SCHEDULE_TIME_LEN   20

#define SM_SCHEDULE_ALL        1000            /* made up, at most */
#define SM_SCHEDULE_GRACE      60              /* seconds: "skip" forgives */

/* in one transaction, at most; a payload that is larger is alone in it */

#define SM_SCHEDULE_INTENTS    1000
#define SM_SCHEDULE_COPIES     SM_COPIES

#define SM_SCHEDULE_ZONE_MAX   64              /* bytes */
#define SM_SCHEDULE_REASON_MAX 500             /* characters */


typedef enum {
    SM_MISFIRE_ONCE = 0,        /* of what has passed, the latest */
    SM_MISFIRE_SKIP,            /* none, if it has passed by the grace */
    SM_MISFIRE_ALL,
    SM_MISFIRES
} sm_misfire_e;


typedef enum {
    SM_OVERLAP_SKIP = 0,        /* not while the last one is pending */
    SM_OVERLAP_ALLOW,
    SM_OVERLAPS
} sm_overlap_e;


/* times are seconds since 1970; 0: none */

typedef struct {
    sm_str_t              every;        /* as it was given, or no data */
    sm_str_t              cron;
    sm_str_t              zone;         /* no data: UTC */

    int64_t               interval;     /* 0: by the fields */
    sm_cron_t             fields;
    int64_t               start;        /* of an interval it is always there */
    int64_t               end;          /* the last time at which it may run */
    unsigned              given_start:1;
    sm_misfire_e          misfire;
    sm_overlap_e          overlap;
} sm_schedule_rule_t;


/*
 * Local times, as in sm_cron.h.  A local time that does not exist is the next
 * one that does, and one that exists twice is the first of the two.  0, or -1.
 */

typedef struct {
    int                 (*to_local)(void *data, int64_t utc, int64_t *local);
    int                 (*to_utc)(void *data, int64_t local, int64_t *utc);
    void                 *data;
} sm_schedule_zone_t;


/* a schedule as it is kept; times are microseconds, 0: none */

typedef struct {
    sm_str_t              id;
    sm_str_t              target;
    sm_str_t              body;         /* its rule, see sm_schedule_load() */
    sm_str_t              hash;         /* of the payload */
    sm_str_t              payload;      /* no data: it was not asked for */
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
    unsigned              busy;         /* its last intent is pending */
} sm_schedule_t;

extern const sm_field_t  sm_schedule_fields[];


/* what becomes of a schedule that is due */

typedef struct {
    int64_t              *times;        /* seconds: each becomes an intent */
    size_t                n;
    size_t                left;         /* of them, from "next" on, for later */
    int64_t               next;         /* 0: it has ended */
    int64_t               skipped;      /* for the overlap */
    int64_t               missed;       /* by the misfire rule */
    unsigned              cut:1;        /* more than SM_SCHEDULE_ALL */
} sm_schedule_due_t;


/* a page of them, by id; or of those that are due, by their time */

typedef struct {
    sm_str_t              id;           /* this one alone */
    sm_str_t              after;        /* an id; no data: from the first */
    size_t                limit;
    size_t                bytes;        /* of payloads that are due */
    unsigned              payload:1;
    unsigned              special:1;    /* configured, or with an error */

    sm_schedule_t        *rows;
    size_t                n;
    unsigned              more:1;
    int64_t               next_due;     /* of those that are not; 0: none */
} sm_schedule_page_t;


typedef enum {
    SM_SCHEDULE_PUT = 0,
    SM_SCHEDULE_DELETE,
    SM_SCHEDULE_PAUSE,
    SM_SCHEDULE_RESUME,
    SM_SCHEDULE_RETRY,             /* what was in its way is gone */
    SM_SCHEDULE_ACTIONS
} sm_schedule_action_e;


/* a change, of what has still the revision; 0: of what is not there */

typedef struct {
    sm_schedule_action_e  action;
    int64_t               revision;
    const sm_schedule_t  *schedule;
    const sm_actor_t     *actor;
    sm_str_t              detail;       /* of the audit */

    unsigned              done:1;
} sm_schedule_write_t;


/*
 * Occurrences of a schedule that become intents, while it has the revision and
 * the next time with which it was read.
 */

typedef struct {
    const sm_schedule_t  *schedule;
    sm_schedule_due_t     due;
    int64_t               last;         /* seconds: of the last one; 0: none */
    sm_str_t              last_intent;
    sm_str_t              error;        /* it does not run any more, for this */

    /*
     * By hand: the next time stays, and so does the last one with its intent
     * while that is pending or its parts are being made.
     */
    const sm_actor_t     *actor;
    sm_str_t              detail;       /* of the audit then */

    sm_submit_row_t      *intents;      /* due.n of them */
    unsigned              done:1;
} sm_schedule_fire_t;


/* what is asked for by HTTP, and how it ended */

typedef enum {
    SM_SCHEDULE_OP_GET = 0,
    SM_SCHEDULE_OP_PUT,
    SM_SCHEDULE_OP_DELETE,
    SM_SCHEDULE_OP_PAUSE,
    SM_SCHEDULE_OP_RESUME,
    SM_SCHEDULE_OP_RUN
} sm_schedule_op_e;

typedef enum {
    SM_SCHEDULE_NOT_FOUND = 0,
    SM_SCHEDULE_DONE,
    SM_SCHEDULE_CREATED,
    SM_SCHEDULE_SAME,              /* the intent of the run was there before */
    SM_SCHEDULE_CHANGED,           /* it is not what the caller has seen */
    SM_SCHEDULE_CONFIGURED,        /* and not to be changed by HTTP */
    SM_SCHEDULE_NO_ZONE,
    SM_SCHEDULE_NO_TIME,           /* that is to come */
    SM_SCHEDULE_NO_TARGET,
    SM_SCHEDULE_CONFLICT,          /* another intent has the id */
    SM_SCHEDULE_RESERVED,          /* the id is of another schedule's form */
    SM_SCHEDULE_OUTCOMES
} sm_schedule_e;

typedef struct {
    sm_schedule_op_e      op;
    sm_str_t              id;
    sm_str_t              target;
    sm_str_t              body;         /* a rule, see sm_schedule_body() */
    sm_str_t              payload;
    sm_str_t              reason;       /* of a pause */
    sm_str_t              intent_id;    /* of a run; no data: of its second */
    int64_t               first;        /* a run was tried; 0: not yet */
    sm_actor_t            actor;
    sm_str_t              if_match;     /* see sm_tag.h; no data: anything */
    sm_str_t              if_none_match;
    unsigned              configured:1; /* the leader's own doing */

    /* today's contract of a target; NULL: there is none */
    const sm_contract_t  *(*contract)(void *data, sm_str_t target);
    void                 *data;

    sm_schedule_e         outcome;
    sm_schedule_t         schedule;        /* as it is now, or was */
    sm_schedule_rule_t    rule;
    sm_intent_t           intent;       /* of a run */
} sm_schedule_row_t;


/* a list by HTTP */

typedef struct {
    sm_str_t              after;
    size_t                limit;

    sm_schedule_t        *rows;
    sm_schedule_rule_t   *rules;
    size_t                n;
    unsigned              more:1;
} sm_schedule_list_t;


/*
 * What one takes in the memory of a call, without its payload: ids, a target, a
 * rule and a reason.
 */

#define SM_SCHEDULE_MAX  9216


/* NULL, or what is wrong with the id */
const char *sm_schedule_id_check(sm_str_t id);

/*
 * Reads the body of PUT: the rule, the target and the payload, which is a slice
 * of it; the strings are in the arena.  The time zone is not looked up.
 */
int sm_schedule_parse(sm_arena_t *arena, sm_str_t body,
    sm_schedule_rule_t *rule, sm_str_t *target, sm_str_t *payload,
    sm_json_error_t *err);

/* what is wrong between its parts, with the field; NULL: nothing */
const char *sm_schedule_check(const sm_schedule_rule_t *rule,
    const char **field);

/* the rule as it is kept, and back; -1: it is not one; -2: no memory */
int sm_schedule_body(sm_arena_t *arena, const sm_schedule_rule_t *rule,
    sm_str_t *body);
int sm_schedule_load(sm_arena_t *arena, sm_str_t body,
    sm_schedule_rule_t *rule);

/* whether they have the same times */
int sm_schedule_same_times(const sm_schedule_rule_t *a,
    const sm_schedule_rule_t *b);

/*
 * The first planned time after a second; 0: there is none.  Without a zone it
 * is UTC.  -1: the zone does not answer.
 */
int sm_schedule_next(const sm_schedule_rule_t *rule,
    const sm_schedule_zone_t *zone, int64_t after, int64_t *next);

/* "planned" has come, and maybe others; -1: likewise; -2: no memory */
int sm_schedule_due(sm_arena_t *arena, const sm_schedule_rule_t *rule,
    const sm_schedule_zone_t *zone, int64_t planned, int64_t now, unsigned busy,
    sm_schedule_due_t *due);

/*
 * Of what has come, the first n become intents now, and the others are due
 * still.  It is one occurrence for the overlap: whoever makes a part that is
 * not the last one leaves the last intent as it was.
 */
void sm_schedule_part(sm_schedule_due_t *due, size_t n);

/* the id of the intent of a time */
int sm_schedule_intent(sm_arena_t *arena, sm_str_t id, int64_t at,
    sm_str_t *intent);

/*
 * Whether an id ends as that of an occurrence does; and whether it has all of
 * that form, and the schedule that it belongs to if there is one of that name:
 * nobody else may make such an intent.
 */
int sm_schedule_timed(sm_str_t id);
int sm_schedule_occurrence(sm_str_t id, sm_str_t *schedule);

/* writes it as HTTP shows it, with its payload where that was read */
void sm_schedule_out(sm_out_t *out, const sm_schedule_t *schedule,
    const sm_schedule_rule_t *rule);

sm_str_t sm_misfire_name(sm_misfire_e misfire);
sm_str_t sm_overlap_name(sm_overlap_e overlap);
sm_misfire_e sm_misfire_by_name(sm_str_t name);    /* .._MISFIRES: none */
sm_overlap_e sm_overlap_by_name(sm_str_t name);


#endif /* SM_SCHEDULE_H */
