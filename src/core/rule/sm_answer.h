
/*
 * What an answer of a gateway means, once it was read as far as the gateway
 * type needs it.  sm_exchange.h has the other ends of an exchange.
 */

#ifndef SM_ANSWER_H
#define SM_ANSWER_H


#include "sm_attempt.h"


#define SM_ANSWER_MAX   (64 * 1024)     /* bytes of an answer that are read */
#define SM_REASON_MAX   200             /* characters, in */
#define SM_ERROR_MAX    400             /* UTF-16 units */
#define SM_ANSWER_KEPT  500             /* characters */


/*
 * "reason" and "error" are valid UTF-8 within their limits, without control
 * characters, whatever the gateway has sent.  Returns -1 if there is no memory.
 */
int sm_answer_read(sm_arena_t *arena, sm_gateway_e type, unsigned status,
    sm_str_t body, sm_outcome_e *outcome, sm_str_t *reason, sm_str_t *error);

/* Formats an error and cleans it.  Returns -1 if there is no memory. */
int sm_answer_error(sm_arena_t *arena, sm_str_t *error, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Reads a Retry-After of seconds as milliseconds, SM_DELAY_MAX at most.
 * Returns 0 if it is empty or a date.
 */
int64_t sm_answer_retry_after(sm_str_t value);


#endif /* SM_ANSWER_H */
