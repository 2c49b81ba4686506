
/*
 * What people do to intents: cancel and replay, who did it, and the audit that
 * keeps it.
 */

#ifndef SM_ACTION_H
#define SM_ACTION_H


#include "sm_contract.h"
#include "sm_intent.h"


/*
 * Who does something.  Both texts are cleaned and have data, and may be empty.
 */

typedef struct {
    sm_str_t              name;
    sm_str_t              address;
} sm_actor_t;


typedef enum {
    SM_CANCEL_NOT_FOUND = 0,
    SM_CANCEL_DONE,
    SM_CANCEL_SAME,             /* it was canceled before */
    SM_CANCEL_IN_FLIGHT,
    SM_CANCEL_TERMINAL,         /* it has ended otherwise */
    SM_CANCEL_OUTCOMES
} sm_cancel_e;


typedef struct {
    sm_str_t              id;
    sm_actor_t            actor;

    sm_cancel_e           outcome;
    sm_intent_t           intent;       /* unless it was not found */
} sm_cancel_row_t;


typedef enum {
    SM_REPLAY_NOT_FOUND = 0,
    SM_REPLAY_CREATED,
    SM_REPLAY_SAME,             /* it was made before */
    SM_REPLAY_CONFLICT,         /* the new id is that of something else */
    SM_REPLAY_RESERVED,         /* the new id belongs to a schedule */
    SM_REPLAY_ALREADY,          /* it was replayed before, under another id */
    SM_REPLAY_NOT_TERMINAL,
    SM_REPLAY_STRIPPED,
    SM_REPLAY_NO_TARGET,        /* it is not configured any more */
    SM_REPLAY_TOO_LONG,         /* the id that it would have */
    SM_REPLAY_LEFT,             /* for another call: this one copies enough */
    SM_REPLAY_OUTCOMES
} sm_replay_e;


typedef struct {
    sm_str_t              id;
    sm_str_t              new_id;       /* no data: by sm_replay_id() */
    unsigned              original;     /* with the contract that id has */
    unsigned              again;        /* even if it was replayed before */
    sm_trace_t            trace;        /* no data: that of id */
    sm_actor_t            actor;

    /* returns today's contract of a target, or NULL */
    const sm_contract_t  *(*contract)(void *data, sm_str_t target);
    void                 *data;

    sm_replay_e           outcome;
    sm_status_e           status;       /* of id */
    sm_str_t              target;       /* of id, if it is not configured */
    sm_intent_t           intent;       /* the replay, or what is there; that
                                           of id if it was replayed before */
} sm_replay_row_t;


/* A replay as it is written. */

typedef struct {
    sm_str_t              id;           /* of the intent that it replays */
    sm_str_t              new_id;
    const sm_contract_t  *contract;     /* NULL: that of id */
    sm_trace_t            trace;        /* no data: that of id */
    sm_str_t              detail;       /* of the audit */
    const sm_actor_t     *actor;
    unsigned              again;

    /*
     * SM_REPLAY_CREATED, _SAME, _CONFLICT, _RESERVED, _ALREADY; else id has
     * gone, or its payload
     */
    sm_replay_e           outcome;
} sm_replay_insert_t;


typedef struct {
    sm_str_t              id;
    unsigned              bare;         /* without the payload */

    unsigned              found;
    unsigned              stripped;
    sm_status_e           status;
    sm_str_t              target;
    sm_str_t              replay_of;
    int64_t               replay_count; /* how often it was replayed */
    sm_str_t              payload;      /* no data: there is none */
} sm_payload_row_t;

extern const sm_field_t  sm_payload_fields[];


/* Times are microseconds since 1970. */

typedef struct {
    int64_t               seq;
    int64_t               at;
    sm_str_t              actor;
    sm_str_t              address;
    sm_str_t              action;
    sm_str_t              object;
    sm_str_t              detail;       /* a JSON object, or no data */
} sm_audit_t;

extern const sm_field_t  sm_audit_fields[];


/*
 * A page of the audit, newest first, strictly before the (at, seq) of the
 * cursor.
 */

typedef struct {
    int64_t               from;         /* 0: from the first on */
    int64_t               to;           /* before it; 0: to the last */
    sm_str_t              actor;        /* no data: any */
    sm_str_t              action;       /* no data: any */
    size_t                limit;
    int64_t               after_at;
    int64_t               after_seq;    /* 0: from the newest */

    sm_audit_t           *entries;
    size_t                n;
    unsigned              more;
} sm_audit_row_t;


/*
 * The bytes that an entry takes in the memory of a call, at most.  An actor and
 * an object of 200 characters, and a detail of 2,000 units, are most of it.
 */

#define SM_AUDIT_MAX  9216


/*
 * Makes the id of a replay that was given none: "a" gives "a~1", and a replay
 * "a~1" gives "a~2".  So whoever asks twice gets the same.  "nth" is 1, or more
 * for the ids that follow: the second of "a" is "a~2".  The id is in the arena.
 * Returns -1 without memory, or with "too_long" set if the id would be too
 * long.
 */
int sm_replay_id(sm_arena_t *arena, const sm_payload_row_t *source,
    int64_t nth, sm_str_t *id, unsigned *too_long);

/* Writes {"target":"...",...}: the columns of a contract that are not NULL. */
int sm_contract_doc(sm_arena_t *arena, const sm_contract_t *c, sm_str_t *doc);

/* Writes the detail of a replay's audit entry: {"intentId":"...",...}. */
int sm_replay_detail(sm_arena_t *arena, sm_str_t id, unsigned original,
    sm_str_t *detail);

/*
 * Gives the (at, seq) that a page is strictly before: "to" or the cursor,
 * whichever is earlier, so that an index is searched by one bound.  Both are 0
 * if there is no bound.
 */
void sm_audit_before(const sm_audit_row_t *row, int64_t *at, int64_t *seq);

/* Writes an entry as HTTP shows it. */
void sm_audit_out(sm_out_t *out, const sm_audit_t *entry);


#endif /* SM_ACTION_H */
