
/*
 * Webhooks: somebody who is told of the end of an intent.  Its event is an
 * intent of a target of its own, "webhook <name>", that the store makes in the
 * transaction of that end.
 *
 * The contract of a target says whom to tell of what, in "notify": words such
 * as "rejected:ops", separated by single spaces.
 */

#ifndef SM_WEBHOOK_H
#define SM_WEBHOOK_H


#include "sm_action.h"
#include "sm_intent.h"


#define SM_WEBHOOK_TARGET    "webhook "     /* and its name */
#define SM_WEBHOOK_NAME_MAX  64
#define SM_WEBHOOK_KEY_MIN   24             /* bytes of a secret */
#define SM_WEBHOOK_KEY_MAX   64
#define SM_WEBHOOK_KEYS      8              /* at most, in a file */

/* the first attempt is at once, and then after so many milliseconds */
#define SM_WEBHOOK_ATTEMPTS  10
#define SM_WEBHOOK_SCHEDULE  "5000 300000 1800000 7200000 18000000 36000000 "  \
                             "50400000 72000000 86400000"


/* an event, as the history of its intent shows it */

typedef struct {
    sm_str_t      id;                   /* of the event's own intent */
    sm_str_t      target;
    sm_status_e   status;
    int64_t       created_at;
    int64_t       attempt_count;
    int64_t       next_attempt_at;
    int64_t       completed_at;
    sm_str_t      last_error;
} sm_event_t;

extern const sm_field_t  sm_event_fields[];

#define SM_EVENTS_MAX  100              /* of one intent that are shown */
#define SM_EVENT_MAX   1024             /* bytes, in the memory of a call */


/* the events of one intent, in the order of their ids */

typedef struct {
    sm_str_t      id;                   /* of the intent */
    sm_event_t   *events;
    size_t        n;
} sm_events_row_t;


typedef enum {
    SM_RESEND_NOT_FOUND = 0,
    SM_RESEND_DONE,
    SM_RESEND_NOT_TERMINAL,
    SM_RESEND_NONE,                     /* nobody was told */
    SM_RESEND_STRIPPED,
    SM_RESEND_OUTCOMES
} sm_resend_e;


/* the same is told again, under the same message id */

typedef struct {
    sm_str_t      id;                   /* of the intent */
    sm_str_t      webhook;              /* no data: all of them */
    sm_actor_t    actor;

    sm_resend_e   outcome;
    sm_status_e   status;               /* of the intent */
    sm_events_row_t  events;
} sm_resend_row_t;


/* letters, digits, ".", "_" and "-"; NULL, or what is wrong */
const char *sm_webhook_name_check(sm_str_t name);

/* its name, of a target that is a webhook's; no data: it is none */
sm_str_t sm_webhook_name(sm_str_t target);

/* sm_target_check(), for what concerns the targets of webhooks, too */
const char *sm_webhook_target_check(sm_str_t target);

/* whether anybody is told of that end */
int sm_webhook_told(sm_str_t notify, sm_status_e status);

/* what an event and all that repeat it have in common */
sm_str_t sm_webhook_first(sm_str_t id);

/*
 * Whether it is the latest of those that tell the same; "id" is that of the
 * next one then, in the arena.  -1: there is no memory.
 */
int sm_webhook_latest(sm_arena_t *arena, const sm_events_row_t *row, size_t i,
    sm_str_t *id);

/*
 * The keys of a file: "whsec_" and base64, one in each line.  NULL, or what is
 * wrong; no text of the file is in that.  They are in the arena.
 */
const char *sm_webhook_keys(sm_arena_t *arena, sm_str_t text,
    sm_str_t keys[SM_WEBHOOK_KEYS], size_t *n);

/*
 * The body of a request, of what the store has kept of the intent.  1: that is
 * not understood; -1: there is no memory.
 */
int sm_webhook_body(sm_arena_t *arena, sm_str_t facts, sm_str_t *body);


/* writes it as HTTP shows it; "message" is the id of its message */
void sm_event_out(sm_out_t *out, const sm_event_t *event, sm_str_t message);


#endif /* SM_WEBHOOK_H */
