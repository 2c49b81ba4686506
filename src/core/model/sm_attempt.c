
#include "sm_attempt.h"


static const sm_str_t  sm_outcome_names[] = {
    [SM_OUTCOME_NONE] = sm_null_str,
    [SM_OUTCOME_ACCEPTED] = sm_str("accepted"),
    [SM_OUTCOME_REJECTED] = sm_str("rejected"),
    [SM_OUTCOME_ERROR] = sm_str("error"),
    [SM_OUTCOME_UNKNOWN] = sm_str("unknown")
};

_Static_assert(sm_nelts(sm_outcome_names) == SM_OUTCOMES,
               "a name for each outcome");


static const sm_str_t  sm_exhausted_names[] = {
    [SM_EXHAUSTED_NONE] = sm_null_str,
    [SM_EXHAUSTED_DEADLINE] = sm_str("deadline_exceeded"),
    [SM_EXHAUSTED_MAX_ATTEMPTS] = sm_str("max_attempts"),
    [SM_EXHAUSTED_ONE_SHOT] = sm_str("one_shot"),
    [SM_EXHAUSTED_UNKNOWN] = sm_str("outcome_unknown")
};

_Static_assert(sm_nelts(sm_exhausted_names) == SM_EXHAUSTED_REASONS,
               "a name for each reason");


/* What an attempt sends, besides what its contract says. */

const sm_field_t  sm_begin_fields[] = {
    sm_field_hidden(sm_begin_row_t, trace.parent, "traceparent", TEXT),
    sm_field_hidden(sm_begin_row_t, trace.state, "tracestate", TEXT),
    sm_field_hidden(sm_begin_row_t, payload, "payload", BYTES),
    sm_null_field
};


const sm_field_t  sm_doubt_fields[] = {
    sm_field_hidden(sm_doubt_row_t, id, "intent_id", TEXT),
    sm_field_hidden(sm_doubt_row_t, number, "number", INT),
    sm_field_hidden(sm_doubt_row_t, epoch, "inflight_epoch", INT),
    sm_field_hidden(sm_doubt_row_t, holder, "inflight_holder", TEXT),
    sm_field_hidden(sm_doubt_row_t, started_at, "inflight_at", TIME),
    sm_field_hidden(sm_doubt_row_t, created_at, "created_at", TIME),
    sm_null_field
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


void
sm_begin_rows_init(sm_begin_row_t *rows, size_t n)
{
    size_t    i;
    sm_str_t  id;

    for (i = 0; i < n; i++) {
        id = rows[i].id;
        memset(&rows[i], 0, sizeof(sm_begin_row_t));
        rows[i].id = id;
    }
}
