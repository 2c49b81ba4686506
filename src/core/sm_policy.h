
/*
 * What becomes of an intent after an attempt: a pure function of the contract,
 * the attempt and the store's time.
 *
 * The deadline itself is too late: what is accepted, or due again, at that
 * very microsecond is exhausted.
 */

#ifndef SM_POLICY_H
#define SM_POLICY_H


#include "sm_attempt.h"


#define SM_UNSENT_MIN   1000            /* milliseconds */
#define SM_UNSENT_MAX   30000

/*
 * Before an intent is tried again whose contract is not understood: somebody has
 * to repair it, or to install a release that understands it.
 */
#define SM_REFUSED_DELAY  3600000


typedef struct {
    const sm_contract_t  *contract;
    int64_t               created_at;   /* or not_before, if that is later */
    int64_t               number;       /* of the attempt, from 1 */
    int64_t               finished_at;
    sm_outcome_e          outcome;
    sm_str_t              reason;
    int64_t               retry_after;  /* milliseconds, at least; 0: none */
    uint32_t              random;       /* any, for the jitter */
} sm_policy_in_t;

typedef struct {
    sm_status_e           status;
    sm_exhausted_e        exhausted;
    int64_t               delay;        /* pending: milliseconds */
} sm_policy_out_t;


/* an attempt that was not sent leaves the intent pending, without a delay */
void sm_policy(const sm_policy_in_t *in, sm_policy_out_t *out);

/*
 * The time from which an attempt is too late; INT64_MAX: never.  sm_deadline()
 * is of the policy "deadline" alone; an intent of any other has 0 seconds.
 */
int64_t sm_deadline(int64_t created_at, int64_t seconds);
int64_t sm_policy_deadline(const sm_contract_t *contract, int64_t created_at);

/*
 * The delay in milliseconds before the attempt after attempt "number", 1 to
 * SM_DELAY_MAX.  Of a list of delays the last one repeats.  The jitter takes up
 * to its percentage off.
 */
int64_t sm_policy_delay(const sm_contract_t *contract, int64_t number,
    uint32_t random);

/*
 * The delay before an attempt that could not leave this host is tried again,
 * the "n"th in a row of its target.  It begins with the delay after a first
 * attempt and doubles each time, but is at least SM_UNSENT_MIN and at most
 * SM_UNSENT_MAX, because it is tried without end.
 */
int64_t sm_policy_unsent(const sm_contract_t *contract, uint64_t n,
    uint32_t random);


#endif /* SM_POLICY_H */
