
/*
 * What a gateway's answer means that was read as far as its type wants it: see
 * sm_exchange.h for what else may come of an exchange.
 */

#ifndef SM_ANSWER_H
#define SM_ANSWER_H


#include "sm_attempt.h"


#define SM_ANSWER_MAX   (64 * 1024)     /* bytes of an answer that are read */
#define SM_REASON_MAX   200             /* characters that are kept, in */
#define SM_ERROR_MAX    400             /* UTF-16 units */
#define SM_ANSWER_KEPT  500             /* characters */


/*
 * "reason" and "error" are valid UTF-8 within their limits, without control
 * characters, whatever the gateway has sent.  0, or -1 without memory.
 */
int sm_answer_read(sm_arena_t *arena, sm_gateway_e type, unsigned status,
    sm_str_t body, sm_outcome_e *outcome, sm_str_t *reason, sm_str_t *error);

/* an error that is fit to be kept; 0, or -1 without memory */
int sm_answer_error(sm_arena_t *arena, sm_str_t *error, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * A Retry-After of seconds, as milliseconds within SM_DELAY_MAX; 0: none, or
 * a date.
 */
int64_t sm_answer_retry_after(sm_str_t value);


#endif /* SM_ANSWER_H */
