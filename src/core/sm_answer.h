
/*
 * What a gateway's answer means.  An answer that was cut off or is too large
 * still has its status: type http can reject by it, but no type accepts.
 */

#ifndef SM_ANSWER_H
#define SM_ANSWER_H


#include "sm_attempt.h"


#define SM_ANSWER_MAX   (64 * 1024)     /* bytes of an answer that are read */
#define SM_REASON_MAX   200             /* characters that are kept, in */
#define SM_ERROR_MAX    400             /* UTF-16 units */
#define SM_ANSWER_KEPT  500             /* characters */


/* how the exchange with the gateway went */

typedef enum {
    SM_ANSWER_COMPLETE = 0,
    SM_ANSWER_NONE,             /* nginx has answered in its place: "status" */
    SM_ANSWER_TRUNCATED,
    SM_ANSWER_TOO_LARGE,
    SM_ANSWER_TIMED_OUT,        /* the attempt took too long */
    SM_ANSWER_ABORTED,          /* the worker ended first */
    SM_ANSWER_COUNT
} sm_answer_e;

typedef struct {
    sm_answer_e           how;
    unsigned              status;       /* of HTTP, 0: none */
    sm_str_t              body;
} sm_answer_t;


/*
 * "reason" and "error" are valid UTF-8 within their limits, without control
 * characters, whatever the gateway has sent.  0, or -1 without memory.
 */
int sm_answer_read(sm_arena_t *arena, sm_gateway_e type,
    const sm_answer_t *answer, sm_outcome_e *outcome, sm_str_t *reason,
    sm_str_t *error);

/*
 * What is kept of it for people to read: the gateway's status, and the
 * first SM_ANSWER_KEPT characters of its answer, cleaned as "error" is.  What
 * nginx has answered in the gateway's place is not kept: 0, and no data.
 */
int sm_answer_keep(sm_arena_t *arena, const sm_answer_t *answer,
    int64_t *status, sm_str_t *text);

/*
 * A Retry-After of seconds, as milliseconds within SM_DELAY_MAX; 0: none, or
 * a date.
 */
int64_t sm_answer_retry_after(sm_str_t value);


#endif /* SM_ANSWER_H */
