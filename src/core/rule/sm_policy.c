
#include "sm_policy.h"


static int
sm_policy_terminal(const sm_contract_t *contract, sm_str_t reason)
{
    sm_str_t  rest, word;

    rest = contract->terminal_outcomes;

    while (sm_next_word(&rest, &word)) {
        if (sm_str_eq(word, reason)) {
            return 1;
        }
    }

    return 0;
}


int64_t
sm_deadline(int64_t created_at, int64_t seconds)
{
    int64_t  deadline;

    if (seconds <= 0
        || __builtin_mul_overflow(seconds, 1000000, &deadline)
        || __builtin_add_overflow(deadline, created_at, &deadline))
    {
        return INT64_MAX;
    }

    return deadline;
}


int64_t
sm_policy_deadline(const sm_contract_t *contract, int64_t created_at)
{
    return contract->policy == SM_POLICY_DEADLINE
           ? sm_deadline(created_at, contract->max_acceptance_seconds)
           : INT64_MAX;
}


/* Finds the delay of this attempt in the list; the last one repeats. */

static int64_t
sm_policy_listed(sm_str_t rest, int64_t number)
{
    int64_t   n, delay;
    sm_str_t  word;

    delay = 1;

    while (number-- > 0 && sm_next_word(&rest, &word)) {
        if (sm_parse_uint(word, SM_DELAY_MAX, &n) == 0) {
            delay = n;
        }
    }

    return delay;
}


static int64_t
sm_policy_grown(const sm_contract_t *contract, int64_t number)
{
    double   d;
    int64_t  max;

    max = SM_DELAY_MAX;

    if (contract->retry_max > 0 && contract->retry_max < max) {
        max = contract->retry_max;
    }

    d = contract->retry_delay > 1 ? contract->retry_delay : 1;

    if (contract->retry_backoff > 100) {

        /* The largest delay is reached after fewer than 2000 steps. */

        for ( /* void */ ; number > 1 && d < max; number--) {
            d = d * contract->retry_backoff / 100;
        }
    }

    return d < max ? (int64_t) (d + 0.5) : max;
}


/*
 * Jitter only shortens a delay, so an attempt is never later than the contract
 * says.
 */

int64_t
sm_policy_delay(const sm_contract_t *contract, int64_t number, uint32_t random)
{
    int64_t  delay, span;

    delay = contract->retry_schedule.len
            ? sm_policy_listed(contract->retry_schedule, number)
            : sm_policy_grown(contract, number);

    if (contract->retry_jitter > 0) {
        span = contract->retry_jitter < 100
               ? delay * contract->retry_jitter / 100 : delay;

        delay -= (span + 1) * random >> 32;
    }

    return delay > 1 ? delay : 1;
}


int64_t
sm_policy_unsent(const sm_contract_t *contract, uint64_t n, uint32_t random)
{
    int64_t  delay;

    delay = sm_policy_delay(contract, 1, random);

    if (delay < SM_UNSENT_MIN) {
        delay = SM_UNSENT_MIN;
    }

    for ( /* void */ ; n > 1 && delay < SM_UNSENT_MAX; n--) {
        delay *= 2;
    }

    return delay < SM_UNSENT_MAX ? delay : SM_UNSENT_MAX;
}


static int
sm_policy_too_late(const sm_policy_in_t *in, int64_t delay)
{
    int64_t  due_at, deadline;

    deadline = sm_policy_deadline(in->contract, in->created_at);

    if (__builtin_add_overflow(in->finished_at, delay * 1000, &due_at)) {
        due_at = INT64_MAX;
    }

    return due_at >= deadline && deadline != INT64_MAX;
}


static void
sm_policy_exhausted(sm_policy_out_t *out, sm_exhausted_e reason)
{
    out->status = SM_STATUS_EXHAUSTED;
    out->exhausted = reason;
}


void
sm_policy(const sm_policy_in_t *in, sm_policy_out_t *out)
{
    int64_t               delay;
    const sm_contract_t  *contract = in->contract;

    out->status = SM_STATUS_PENDING;
    out->exhausted = SM_EXHAUSTED_NONE;
    out->delay = 0;

    switch (in->outcome) {

    case SM_OUTCOME_NONE:
        return;

    case SM_OUTCOME_ACCEPTED:
        if (sm_policy_too_late(in, 0)) {
            sm_policy_exhausted(out, SM_EXHAUSTED_DEADLINE);
            return;
        }

        out->status = SM_STATUS_ACCEPTED;
        return;

    case SM_OUTCOME_REJECTED:
        if (sm_policy_terminal(contract, in->reason)) {
            out->status = SM_STATUS_REJECTED;
            return;
        }

        break;

    default:
        break;
    }

    if (contract->policy == SM_POLICY_ONE_SHOT) {
        sm_policy_exhausted(out, in->outcome == SM_OUTCOME_UNKNOWN
                                 ? SM_EXHAUSTED_UNKNOWN
                                 : SM_EXHAUSTED_ONE_SHOT);
        return;
    }

    if (contract->policy == SM_POLICY_MAX_ATTEMPTS
        && in->number >= contract->max_attempts)
    {
        sm_policy_exhausted(out, SM_EXHAUSTED_MAX_ATTEMPTS);
        return;
    }

    delay = sm_policy_delay(contract, in->number, in->random);

    if (delay < in->retry_after) {
        delay = in->retry_after < SM_DELAY_MAX ? in->retry_after
                                               : SM_DELAY_MAX;
    }

    if (sm_policy_too_late(in, delay)) {
        sm_policy_exhausted(out, SM_EXHAUSTED_DEADLINE);
        return;
    }

    out->delay = delay;
}
