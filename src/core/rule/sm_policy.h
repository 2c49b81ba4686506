
/*
 * What becomes of an intent after an attempt: a pure function of the contract,
 * the attempt and the store's time.
 *
 * The deadline itself is too late: an intent that is accepted, or due again,
 * at that very microsecond is exhausted.
 */

#ifndef SM_POLICY_H
#define SM_POLICY_H


#include "sm_attempt.h"


#define SM_UNSENT_MIN   1000            /* milliseconds */
#define SM_UNSENT_MAX   30000

/*
 * The delay of an intent whose contract is not understood, in milliseconds.
 * Somebody has to repair it, or to install a release that understands it.
 */
#define SM_REFUSED_DELAY  3600000


typedef struct {
    const sm_contract_t  *contract;
    int64_t               created_at;   /* or not_before, if that is later */
    int64_t               number;       /* the attempt's, from 1 */
    int64_t               finished_at;
    sm_outcome_e          outcome;
    sm_str_t              reason;
    int64_t               retry_after;  /* milliseconds; 0 if there is none */
    uint32_t              random;       /* for the jitter */
} sm_policy_in_t;

typedef struct {
    sm_status_e           status;
    sm_exhausted_e        exhausted;
    int64_t               delay;        /* milliseconds, if it stays pending */
} sm_policy_out_t;


/* An attempt that was not sent leaves the intent pending, without a delay. */
void sm_policy(const sm_policy_in_t *in, sm_policy_out_t *out);

/*
 * Both return the time from which an attempt is too late, or INT64_MAX.
 * sm_deadline() takes the seconds of the policy "deadline", or 0 for any other
 * policy.
 */
int64_t sm_deadline(int64_t created_at, int64_t seconds);
int64_t sm_policy_deadline(const sm_contract_t *contract, int64_t created_at);

/*
 * Returns the delay after attempt "number", in milliseconds, 1 to SM_DELAY_MAX.
 * The last delay of a list repeats.  Jitter shortens a delay by up to its
 * percentage.
 */
int64_t sm_policy_delay(const sm_contract_t *contract, int64_t number,
    uint32_t random);

/*
 * Returns the delay of an intent that could not leave this host, the "n"th in
 * a row of its target.  The delay begins with the one after a first attempt
 * and doubles each time.  It is at least SM_UNSENT_MIN and at most
 * SM_UNSENT_MAX, because such an intent is tried for ever.
 */
int64_t sm_policy_unsent(const sm_contract_t *contract, uint64_t n,
    uint32_t random);


#endif /* SM_POLICY_H */
