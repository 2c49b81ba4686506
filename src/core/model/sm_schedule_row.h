
/*
 * What crosses to a store of schedules: pages, changes, occurrences, and what
 * requests ask for.
 */

#ifndef SM_SCHEDULE_ROW_H
#define SM_SCHEDULE_ROW_H


#include "sm_action.h"
#include "sm_batch.h"
#include "sm_schedule.h"
#include "sm_schedule_due.h"


/* One transaction makes at most so many; a larger payload is alone in it. */

#define SM_SCHEDULE_INTENTS    1000
#define SM_SCHEDULE_COPIES     SM_COPIES

/*
 * The bytes that a schedule takes in the memory of a call, at most, without its
 * payload: ids, a target, a rule and a reason.
 */

#define SM_SCHEDULE_MAX        9216

#define SM_SCHEDULE_PREVIEW    5               /* times */


/* A page of schedules by id, or of those that are due by their time. */

typedef struct {
    sm_str_t              id;           /* this schedule alone */
    sm_str_t              after;        /* an id, or no data */
    size_t                limit;
    size_t                bytes;        /* of payloads that are due */
    unsigned              payload:1;
    unsigned              special:1;    /* configured, or with an error */

    sm_schedule_t        *rows;
    size_t                n;
    unsigned              more:1;
    int64_t               next_due;     /* of the others; 0: none */
} sm_schedule_page_t;


typedef enum {
    SM_SCHEDULE_PUT = 0,
    SM_SCHEDULE_DELETE,
    SM_SCHEDULE_PAUSE,
    SM_SCHEDULE_RESUME,
    SM_SCHEDULE_RETRY,             /* what stopped it is gone */
    SM_SCHEDULE_ACTIONS
} sm_schedule_action_e;


/*
 * A change of a schedule that still has the revision; with revision 0, of one
 * that does not exist.
 */

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
    int64_t               last;         /* seconds: of the last one, or 0 */
    sm_str_t              last_intent;
    sm_str_t              error;        /* why it does not run any more */

    /*
     * Of a run by hand, which has an actor: the next time stays, and so does
     * the last one with its intent while that is pending or its parts are
     * being made.
     */
    const sm_actor_t     *actor;
    sm_str_t              detail;       /* of the audit, of a run by hand */

    sm_submit_row_t      *intents;      /* due.n of them */
    unsigned              done:1;
} sm_schedule_fire_t;


/* What a request asks for, and how it ended. */

typedef enum {
    SM_SCHEDULE_OP_GET = 0,
    SM_SCHEDULE_OP_PUT,
    SM_SCHEDULE_OP_DELETE,
    SM_SCHEDULE_OP_PAUSE,
    SM_SCHEDULE_OP_RESUME,
    SM_SCHEDULE_OP_RUN,
    SM_SCHEDULE_OP_PREVIEW
} sm_schedule_op_e;

typedef enum {
    SM_SCHEDULE_NOT_FOUND = 0,
    SM_SCHEDULE_DONE,
    SM_SCHEDULE_CREATED,
    SM_SCHEDULE_SAME,              /* the intent of the run was there before */
    SM_SCHEDULE_CHANGED,           /* since the caller has seen it */
    SM_SCHEDULE_CONFIGURED,        /* HTTP must not change it */
    SM_SCHEDULE_NO_ZONE,
    SM_SCHEDULE_NO_TIME,           /* it has no time to come */
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
    sm_str_t              intent_id;    /* of a run; no data: by its second */
    int64_t               first;        /* when a run was tried first, or 0 */
    sm_actor_t            actor;
    sm_str_t              if_match;     /* see sm_tag.h; no data: any */
    sm_str_t              if_none_match;
    unsigned              configured:1; /* the leader does it */

    /* returns today's contract of a target, or NULL */
    const sm_contract_t  *(*contract)(void *data, sm_str_t target);
    void                 *data;

    sm_schedule_e         outcome;
    sm_schedule_t         schedule;     /* as it is now, or was */
    sm_schedule_rule_t    rule;
    sm_intent_t           intent;       /* of a run */
    int64_t               times[SM_SCHEDULE_PREVIEW];   /* seconds */
    size_t                ntimes;       /* of a preview */
} sm_schedule_row_t;


/* A list as a request asks for it. */

typedef struct {
    sm_str_t              after;
    size_t                limit;

    sm_schedule_t        *rows;
    sm_schedule_rule_t   *rules;
    size_t                n;
    unsigned              more:1;
} sm_schedule_list_t;


#endif /* SM_SCHEDULE_ROW_H */
