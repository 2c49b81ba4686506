
/*
 * What happened between this host and a gateway, decided in one place from
 * facts: whether a byte of the request may have left, whether a whole answer
 * was read, and what nginx says went wrong.  Outcome, reason and error of the
 * attempt follow from it.
 *
 * If a byte may have left, it was an attempt, whatever went wrong: it is never
 * reported as unsent.  Without a whole answer, such an attempt is never
 * accepted or rejected.
 */

#ifndef SM_EXCHANGE_H
#define SM_EXCHANGE_H


#include "sm_answer.h"
#include "sm_cause.h"


typedef enum {
    SM_EXCHANGE_ANSWERED = 0,   /* as far as the type needs it */
    SM_EXCHANGE_REFUSED,        /* by the gateway's host, before a byte left */

    /* a byte may have left, and no whole answer came back */
    SM_EXCHANGE_NO_ANSWER,
    SM_EXCHANGE_TIMED_OUT,
    SM_EXCHANGE_CUT_OFF,
    SM_EXCHANGE_SHUTDOWN,       /* this worker ended first */

    /* nothing left this host, so this was not an attempt */
    SM_EXCHANGE_UNSENT,         /* this target cannot be sent to */
    SM_EXCHANGE_SHORT,          /* no connections or memory, for any */
    SM_EXCHANGE_COUNT
} sm_exchange_e;

typedef struct {
    unsigned     sent:1;        /* a byte of the request may have left */
    unsigned     taken:1;       /* all of the request has left */
    unsigned     whole:1;       /* the last byte of the answer was read */
    unsigned     large:1;       /* reading stopped at SM_ANSWER_MAX */
    unsigned     late:1;        /* the attempt took too long */
    unsigned     aborted:1;     /* the worker ended */

    unsigned     status;        /* the gateway's, if its head is whole */
    unsigned     own;           /* of a page that nginx made, or 0 */
    int64_t      timeout;       /* the one that ran out, milliseconds */
    sm_str_t     body;          /* of the gateway's answer */

    sm_cause_t   cause;
    sm_str_t     peer;          /* the address, or empty */
    sm_str_t     name;          /* the gateway's host, or empty */
} sm_exchange_t;


/* Why nothing left this host, for the metrics. */

typedef enum {
    SM_UNSENT_NAME = 0,         /* the gateway's name has no address */
    SM_UNSENT_ROUTE,            /* there is no way to its address */
    SM_UNSENT_TLS,              /* this side refuses its certificate */
    SM_UNSENT_UPSTREAM,         /* no server of the upstream is available */
    SM_UNSENT_LOCATION,         /* the dispatch location does not proxy it */
    SM_UNSENT_HOST,             /* no port, connection, memory or worker */
    SM_UNSENT_REASONS
} sm_unsent_e;


sm_exchange_e sm_exchange(sm_gateway_e type, const sm_exchange_t *x);

/* Returns what an exchange is if it failed so before a byte had left. */
sm_exchange_e sm_exchange_before(const sm_cause_t *cause);

sm_unsent_e sm_exchange_unsent_reason(const sm_exchange_t *x);
sm_str_t sm_unsent_name(sm_unsent_e reason);

/*
 * The outcome is SM_OUTCOME_NONE if this was no attempt.  "reason" and "error"
 * are valid UTF-8 within their limits, without control characters, whatever
 * the gateway has sent.  Returns -1 if there is no memory.
 */
int sm_exchange_read(sm_arena_t *arena, sm_gateway_e type,
    const sm_exchange_t *x, sm_outcome_e *outcome, sm_str_t *reason,
    sm_str_t *error);

/*
 * Gives what is kept of the answer for people to read: its status, and its
 * first SM_ANSWER_KEPT characters, cleaned like "error".
 */
int sm_exchange_keep(sm_arena_t *arena, const sm_exchange_t *x,
    int64_t *status, sm_str_t *text);


#endif /* SM_EXCHANGE_H */
