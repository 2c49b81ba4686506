
/*
 * What crosses to a store in one call: rows, their results, and the
 * document that carries many ids into SQL.
 */

#ifndef SM_BATCH_H
#define SM_BATCH_H


#include "sm_contract.h"
#include "sm_intent.h"
#include "sm_webhook.h"


#define SM_HASH_LEN  64         /* SHA-256 in hexadecimal digits */


typedef enum {
    SM_SUBMIT_FAILED = 0,       /* this row alone was refused by the store */
    SM_SUBMIT_CREATED,
    SM_SUBMIT_SAME,
    SM_SUBMIT_CONFLICT,
    SM_SUBMIT_TOO_FAR,          /* not_before, by the store's clock */
    SM_SUBMIT_RESERVED,         /* the id belongs to a schedule */
    SM_SUBMIT_COUNT
} sm_submit_e;


typedef struct {
    sm_str_t              id;
    const sm_contract_t  *contract;
    sm_str_t              payload;
    char                  hash[SM_HASH_LEN];
    sm_posted_t           posted;
    sm_trace_t            trace;        /* as it came, and valid */
    unsigned              occurrence;   /* a schedule makes it */

    sm_submit_e           outcome;
    sm_intent_t           intent;       /* as it is stored */
} sm_submit_row_t;


typedef struct {
    sm_str_t              id;

    unsigned              found;
    sm_intent_t           intent;
    int64_t               length;       /* of the payload, by intents_length */
} sm_get_row_t;


/*
 * The payloads that one call copies within the store, at most.  A larger one is
 * copied alone.
 */

#define SM_COPIES  (4 * 1024 * 1024)    /* bytes */


/* A page of attempts, newest first, strictly before the one of the cursor. */

typedef struct {
    sm_str_t              id;
    size_t                limit;
    int64_t               before;       /* a number; 0: from the newest */

    unsigned              found;
    sm_intent_t           intent;
    sm_attempt_t         *attempts;
    size_t                n;
    unsigned              more;
    sm_events_row_t       events;       /* of its webhooks */
} sm_history_row_t;


typedef enum {
    SM_LIST_CREATED = 0,
    SM_LIST_COMPLETED,
    SM_LIST_ID,
    SM_LIST_BYS
} sm_list_by_e;


/*
 * A page of intents by a time and the id, or by the id, strictly after the
 * cursor.  See sm_search.h for what can be asked for together.
 */

typedef struct {
    sm_list_by_e          by;
    unsigned              asc;          /* oldest, or lowest, first */
    sm_status_e           status;       /* SM_STATUS_NONE: any */
    sm_str_t              target;       /* no data: any */
    sm_str_t              reason;       /* no data: any */
    sm_str_t              prefix;       /* of ids */
    sm_str_t              prefix_end;   /* the first that is beyond them */
    int64_t               from;         /* 0: no bound */
    int64_t               to;           /* not included; 0: no bound */
    size_t                limit;
    int64_t               after_at;
    sm_str_t              after_id;     /* no data: from the first */

    sm_intent_t          *intents;
    size_t                n;
    unsigned              more;
    int64_t               next_at;      /* if there are more: the cursor */
    sm_str_t              next_id;
} sm_list_row_t;


/* The place of an intent in such a list. */

typedef struct {
    int64_t               at;           /* 0: the list is by id */
    sm_str_t              id;
} sm_key_t;


/* Returns whether its not_before is too far ahead at this time. */
int sm_submit_too_far(const sm_submit_row_t *row, int64_t now);

/* Returns when its first attempt is due. */
int64_t sm_submit_due(const sm_submit_row_t *row, int64_t now);

/*
 * Books the outcome of a row: the intent was stored now, or row->intent is the
 * one that was there before.
 */
void sm_submit_created(sm_submit_row_t *row, int64_t now);
void sm_submit_found(sm_submit_row_t *row);

/*
 * Returns how many of the rows, from the first on, one call copies: at least
 * one.
 */
size_t sm_batch_copies(const sm_get_row_t *rows, size_t n);

/* Writes ["id", ...]. */
int sm_batch_ids_doc(sm_arena_t *arena, const sm_get_row_t *rows, size_t n,
    sm_str_t *doc);


#endif /* SM_BATCH_H */
