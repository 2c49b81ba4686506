
#include "sm_attempt.h"


static const sm_str_t  sm_outcome_names[SM_OUTCOMES] = {
    sm_null_str, sm_str("accepted"), sm_str("rejected"), sm_str("error"),
    sm_str("unknown")
};

static const sm_str_t  sm_exhausted_names[SM_EXHAUSTED_REASONS] = {
    sm_null_str, sm_str("deadline_exceeded"), sm_str("max_attempts"),
    sm_str("one_shot"), sm_str("outcome_unknown")
};


sm_str_t
sm_outcome_name(sm_outcome_e outcome)
{
    return sm_outcome_names[outcome];
}


sm_str_t
sm_exhausted_name(sm_exhausted_e reason)
{
    return sm_exhausted_names[reason];
}
