
/*
 * An attempt, from the queue to its record: what crosses to a store and
 * back in the executor's calls.  Times are microseconds since 1970 by the
 * store's clock.
 */

#ifndef SM_ATTEMPT_H
#define SM_ATTEMPT_H


#include "sm_contract.h"
#include "sm_intent.h"


/* How an attempt ended. */

typedef enum {
    SM_OUTCOME_NONE = 0,        /* it was begun, but not sent */
    SM_OUTCOME_ACCEPTED,
    SM_OUTCOME_REJECTED,
    SM_OUTCOME_ERROR,
    SM_OUTCOME_UNKNOWN,         /* it may have been sent */
    SM_OUTCOMES
} sm_outcome_e;


/* Why an intent is exhausted. */

typedef enum {
    SM_EXHAUSTED_NONE = 0,
    SM_EXHAUSTED_DEADLINE,      /* deadline_exceeded */
    SM_EXHAUSTED_MAX_ATTEMPTS,  /* max_attempts */
    SM_EXHAUSTED_ONE_SHOT,      /* one_shot */
    SM_EXHAUSTED_UNKNOWN,       /* outcome_unknown */
    SM_EXHAUSTED_REASONS
} sm_exhausted_e;


/*
 * A page of intents that have an attempt to come, after a cursor.  The order of
 * modification has all of them.  The order of due time has only retries and
 * intents with a not_before, because any other intent that was never tried is
 * due since it was modified.  A page of live intents is in the order of
 * modification, and leaves out those whose deadline has passed.
 */

typedef enum {
    SM_PAGE_MODIFIED = 0,
    SM_PAGE_DUE,
    SM_PAGE_LIVE,
    SM_PAGE_COUNT
} sm_page_e;

typedef struct {
    sm_str_t              id;
    sm_str_t              target;
    int64_t               at;           /* what the page is ordered by */
    int64_t               due_at;
    int64_t               deadline;     /* INT64_MAX: none */
} sm_due_t;

typedef struct {
    sm_page_e             order;
    int64_t               after_at;
    sm_str_t              after_id;     /* empty: with all of that time */
    size_t                limit;
    unsigned              recovery;     /* it may take longer than others */

    sm_due_t             *rows;
    size_t                n;            /* less than limit: the last page */
} sm_page_t;


/* What became of an intent that was to be tried. */

typedef enum {
    SM_BEGIN_REFUSED = -1,      /* the store refused the change: as before */
    SM_BEGIN_GONE = 0,          /* it has ended, or is in flight */
    SM_BEGIN_BEGUN,
    SM_BEGIN_EARLY,             /* not due by the store's time */
    SM_BEGIN_EXPIRED,           /* past its deadline: exhausted, not sent */
    SM_BEGIN_COUNT
} sm_begin_e;

typedef struct {
    sm_str_t              id;

    sm_begin_e            outcome;
    int64_t               due_at;       /* early; begun: since when */
    int64_t               created_at;   /* or not_before, if that is later;
                                           begun, expired */
    int64_t               number;       /* of the attempt; begun, expired */
    sm_contract_t         contract;     /* as it was when it was accepted */
    sm_str_t              refused;      /* why the store refused the change, or
                                           why the contract is not understood:
                                           what was begun is to be given back;
                                           no data: neither */
    unsigned              newer:1;      /* gone: it is left to a newer module,
                                           and "refused" is told once */
    sm_trace_t            trace;        /* begun */
    sm_str_t              payload;
} sm_begin_row_t;

extern const sm_field_t  sm_begin_fields[];

/* Sets rows to SM_BEGIN_GONE, until the store says otherwise. */
void sm_begin_rows_init(sm_begin_row_t *rows, size_t n);


/*
 * An attempt that was begun, and how it ended.  The store changes nothing
 * unless the attempt is in flight under "epoch" and "holder".
 */

typedef struct {
    sm_str_t              id;
    int64_t               number;
    int64_t               epoch;
    sm_str_t              holder;
    int64_t               started_at;
    int64_t               finished_at;

    sm_outcome_e          outcome;      /* none: given back */
    sm_str_t              reason;       /* no data: none */
    sm_str_t              error;        /* no data: none */
    int64_t               http_status;  /* of the gateway; 0: none */
    sm_str_t              answer;       /* no data: none */
    sm_str_t              span_id;      /* no data: none */

    sm_status_e           status;       /* of the intent from now on */
    sm_exhausted_e        exhausted;
    int64_t               delay;        /* pending: milliseconds from now;
                                           given back, 0: due as before */
    unsigned              untold;       /* no webhook is told of its end */
    unsigned              held;         /* given back: not that either; it
                                           stays in flight, with its error */

    unsigned              applied;
    int64_t               next_attempt_at;
} sm_complete_row_t;


/* An attempt in flight under an epoch that is over. */

typedef struct {
    sm_str_t              id;
    int64_t               number;
    int64_t               epoch;
    sm_str_t              holder;
    int64_t               started_at;
    int64_t               created_at;   /* or not_before, if that is later */
    sm_contract_t         contract;
    sm_str_t              refused;      /* see sm_begin_row_t */
} sm_doubt_row_t;

extern const sm_field_t  sm_doubt_fields[];


/* An attempt that the recovering worker has begun itself and still knows. */

typedef struct {
    sm_str_t              id;
    int64_t               number;
    int64_t               epoch;

    unsigned              in_flight;    /* the store has it in flight, too */
} sm_known_row_t;


sm_str_t sm_outcome_name(sm_outcome_e outcome);
sm_str_t sm_exhausted_name(sm_exhausted_e reason);


#endif /* SM_ATTEMPT_H */
