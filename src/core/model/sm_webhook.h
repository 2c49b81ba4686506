
/*
 * Webhooks: receivers that are told of the end of an intent.  The event is an
 * intent of a target of its own, "webhook <name>", which the store makes in the
 * transaction of that end.
 *
 * The contract of a target says which webhook is told of what, in "notify":
 * words such as "rejected:ops", separated by single spaces.
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

/* The first attempt is made at once, the others after so many milliseconds. */
#define SM_WEBHOOK_ATTEMPTS  10
#define SM_WEBHOOK_SCHEDULE  "5000 300000 1800000 7200000 18000000 36000000 "  \
                             "50400000 72000000 86400000"


/* An event, as the history of its intent and the list of a webhook show it. */

typedef struct {
    sm_str_t      id;                   /* of the event's own intent */
    sm_str_t      of;                   /* the intent that it tells of */
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


/* The events of one intent, in the order of their ids. */

typedef struct {
    sm_str_t      id;                   /* of the intent */
    sm_event_t   *events;
    size_t        n;
} sm_events_row_t;


/*
 * A page of the events of a webhook with one status, the newest first, strictly
 * after (after_at, after_id) if that has data.
 */

typedef struct {
    sm_str_t      target;               /* see SM_WEBHOOK_TARGET */
    sm_status_e   status;
    size_t        limit;
    int64_t       after_at;
    sm_str_t      after_id;

    sm_event_t   *events;
    size_t        n;
    unsigned      more;
} sm_messages_row_t;


typedef enum {
    SM_RESEND_NOT_FOUND = 0,
    SM_RESEND_DONE,
    SM_RESEND_NOT_TERMINAL,
    SM_RESEND_NONE,                     /* nobody was told */
    SM_RESEND_STRIPPED,
    SM_RESEND_OUTCOMES
} sm_resend_e;


/*
 * A request to send the events of an intent again, under the same message id.
 */

typedef struct {
    sm_str_t      id;                   /* of the intent */
    sm_str_t      webhook;              /* no data: all of them */
    sm_actor_t    actor;

    sm_resend_e   outcome;
    sm_status_e   status;               /* of the intent */
    size_t        made;                 /* messages that are sent again */
    sm_events_row_t  events;
} sm_resend_row_t;


/*
 * A name has letters, digits, ".", "_" and "-".  Returns NULL, or what is
 * wrong.
 */
const char *sm_webhook_name_check(sm_str_t name);

/* Returns the webhook's name of its target, or no data for any other target. */
sm_str_t sm_webhook_name(sm_str_t target);

/*
 * Does what sm_target_check() does, but accepts the targets of webhooks, too.
 */
const char *sm_webhook_target_check(sm_str_t target);

/* Returns whether any webhook is told of that end. */
int sm_webhook_told(sm_str_t notify, sm_status_e status);

/* Returns the part of an event's id that is the same when it is sent again. */
sm_str_t sm_webhook_first(sm_str_t id);

/*
 * Returns whether event i is the latest of those that tell the same, and then
 * the id of the next one, in the arena.  Returns -1 without memory.
 */
int sm_webhook_latest(sm_arena_t *arena, const sm_events_row_t *row, size_t i,
    sm_str_t *id);

/*
 * Reads the keys of a file: "whsec_" and base64, one in each line.  They are in
 * the arena.  Returns NULL, or what is wrong, without any text of the file.
 */
const char *sm_webhook_keys(sm_arena_t *arena, sm_str_t text,
    sm_str_t keys[SM_WEBHOOK_KEYS], size_t *n);

/*
 * Makes the body of a request from what the store has kept of the intent.
 * Returns 1 if that is not understood, and -1 without memory.
 */
int sm_webhook_body(sm_arena_t *arena, sm_str_t facts, sm_str_t *body);


/* Writes an event as HTTP shows it; "message" is the id of its message. */
void sm_event_out(sm_out_t *out, const sm_event_t *event, sm_str_t message);


#endif /* SM_WEBHOOK_H */
