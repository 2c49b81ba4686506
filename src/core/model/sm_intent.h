
/*
 * The intent as clients send it and see it.
 */

#ifndef SM_INTENT_H
#define SM_INTENT_H


#include "sm_field.h"
#include "sm_json.h"


#define SM_ID_MAX          200          /* characters */

#define SM_FIELD_ID        "intentId"
#define SM_FIELD_TARGET    "submissionTarget"
#define SM_FIELD_PAYLOAD   "payload"
#define SM_FIELD_NOT_BEFORE  "notBefore"

#define SM_NOT_BEFORE_MAX  ((int64_t) 365 * 86400 * 1000000)  /* ahead */


typedef enum {
    SM_STATUS_NONE = 0,
    SM_STATUS_PENDING,
    SM_STATUS_ACCEPTED,
    SM_STATUS_REJECTED,
    SM_STATUS_EXHAUSTED,
    SM_STATUS_CANCELED,
    SM_STATUS_COUNT
} sm_status_e;

extern const sm_names_t  sm_statuses;


/*
 * What a POST may have besides the id, the target and the payload.  A duplicate
 * must have the same.  The table has the keys of the documents for servers and
 * of the facts of webhooks; the parameters of SQLite are in its order.
 */

typedef struct {
    int64_t       not_before;           /* 0: none */
} sm_posted_t;

extern const sm_field_t  sm_posted_fields[];

/* Returns the key of the first member that differs, or NULL. */
const char *sm_posted_differ(const sm_posted_t *a, const sm_posted_t *b);


/* The headers of a trace's context; without one, they have no data. */

typedef struct {
    sm_str_t      parent;
    sm_str_t      state;
} sm_trace_t;


/* Times are microseconds since 1970 by the store's clock, or 0. */

typedef struct {
    sm_str_t      id;
    sm_str_t      target;
    sm_status_e   status;
    int64_t       created_at;
    int64_t       attempt_count;
    int64_t       next_attempt_at;
    int64_t       completed_at;
    sm_str_t      rejected_reason;
    sm_str_t      exhausted_reason;
    sm_posted_t   posted;               /* as it was given */
    sm_str_t      last_error;           /* of the last attempt */
    sm_str_t      last_reason;          /* of the same; pending */
    sm_str_t      replay_of;            /* an id */
    sm_str_t      replayed_as;          /* ids, the newest first, in lines */
    int64_t       replay_count;
    sm_str_t      traceparent;          /* no data: none */
    sm_str_t      hash;                 /* of the payload */
    unsigned      in_flight;            /* an attempt is out */
    unsigned      stripped;             /* payload and attempts are gone */
} sm_intent_t;

extern const sm_field_t  sm_intent_fields[];

/*
 * Completes an intent that was read from a store: the column of the reason is
 * only shown of a rejection.
 */
void sm_intent_loaded(sm_intent_t *intent);


typedef struct {
    int64_t       number;
    int64_t       epoch;
    int64_t       started_at;
    int64_t       finished_at;
    sm_str_t      outcome_status;
    sm_str_t      outcome_reason;
    sm_str_t      error;
    int64_t       http_status;          /* of the gateway; 0: none */
    sm_str_t      answer;               /* the beginning of it */
    sm_str_t      span_id;              /* no data: none */
} sm_attempt_t;

extern const sm_field_t  sm_attempt_fields[];


/*
 * The bytes that an intent and an attempt take in the memory of a call, at
 * most, with their strings.  Most of an intent are two ids of 200 characters,
 * the ids of its replays in 500, a target of 128, two reasons of 200 and an
 * error of 400; most of an attempt are an error of 1,000 and an answer of 500.
 */

#define SM_INTENT_MAX   7424
#define SM_ATTEMPT_MAX  6144


typedef struct {
    sm_str_t      id;
    sm_str_t      target;
    sm_str_t      payload;              /* its bytes as sent; may be none */
    sm_posted_t   posted;
} sm_intent_request_t;


sm_str_t sm_status_name(sm_status_e status);
sm_status_e sm_status_by_name(sm_str_t name);

/*
 * Both return what is wrong, or NULL. sm_id_check() takes an id that is already
 * trimmed, sm_id_text_check() a text of the same characters: a part of an id,
 * or a reason.
 */
const char *sm_id_check(sm_str_t id);
const char *sm_id_text_check(sm_str_t text);

/*
 * Reads the body of POST /v1/intents.  The strings are in the arena, the
 * payload is a slice of the body.
 */
int sm_intent_request_parse(sm_arena_t *arena, sm_str_t body,
    sm_intent_request_t *req, sm_json_error_t *err);

/* Write an intent and an attempt as HTTP shows them. */
void sm_intent_out(sm_out_t *out, const sm_intent_t *intent);
void sm_attempt_out(sm_out_t *out, const sm_attempt_t *attempt);


#endif /* SM_INTENT_H */
