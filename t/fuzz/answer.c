
/*
 * A gateway's answer decides whether a payload is sent again, and what it says
 * goes into SQL and logs.  Whatever it is: an outcome has its reason or its
 * error, fit to be kept; only what says "accepted" is.
 */

#include "fuzz.h"
#include "sm_answer.h"


static void
try_retry_after(sm_str_t s)
{
    int64_t  after;

    after = sm_answer_retry_after(s);

    must(after >= 0 && after <= SM_DELAY_MAX && after % 1000 == 0,
         "Retry-After is within bounds");
}


static int
mentions(sm_str_t s, const char *word)
{
    return s.len && memmem(s.data, s.len, word, strlen(word)) != NULL;
}


/* "accepted" in the bytes; in a string's escapes anything may be hidden */

static void
try_accepted(sm_gateway_e type, const sm_answer_t *a)
{
    must(a->how == SM_ANSWER_COMPLETE || type == SM_GATEWAY_HTTP,
         "what is accepted was read whole");
    must(a->status >= 200 && a->status <= 299, "by a good status");
    must(type == SM_GATEWAY_HTTP || mentions(a->body, "accepted")
         || mentions(a->body, "\\u"), "it says that it accepts");
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t        status;
    sm_str_t       s, reason, error, kept;
    sm_arena_t     arena = { NULL };
    sm_answer_t    a;
    sm_gateway_e   type;
    sm_outcome_e   outcome;

    s = fuzz_input(data, size);

    type = 1 + fuzz_take(&s, 1) % SM_GATEWAY_HTTP;
    a.how = fuzz_take(&s, 1) % (SM_ANSWER_ABORTED + 1);
    a.status = fuzz_take(&s, 2) % 1000;

    a.body = fuzz_copy(s);

    memset(&reason, 0x55, sizeof(reason));
    memset(&error, 0x55, sizeof(error));
    outcome = SM_OUTCOMES;

    must(sm_answer_read(&arena, type, &a, &outcome, &reason, &error) == 0,
         "an answer is read");
    must(outcome != SM_OUTCOME_NONE && outcome < SM_OUTCOMES,
         "it has an outcome");

    fuzz_clean(reason, SM_REASON_MAX);
    fuzz_clean(error, SM_ERROR_MAX);

    must((outcome == SM_OUTCOME_ERROR) == (error.len != 0),
         "an error says what it is");
    must((outcome == SM_OUTCOME_REJECTED || outcome == SM_OUTCOME_UNKNOWN)
         == (reason.len != 0), "a rejection has its reason");

    if (outcome == SM_OUTCOME_ACCEPTED) {
        try_accepted(type, &a);
    }

    memset(&kept, 0x55, sizeof(kept));

    must(sm_answer_keep(&arena, &a, &status, &kept) == 0, "an answer is kept");
    must(status == 0 || status == (int64_t) a.status, "with its status");
    must(kept.len == 0 || status != 0, "no answer without a status");

    fuzz_clean(kept, 2 * SM_ANSWER_KEPT);
    must(sm_utf8_length(kept) <= SM_ANSWER_KEPT, "as much as is kept");

    try_retry_after(a.body);

    fuzz_free(a.body);
    sm_arena_free(&arena);

    return 0;
}
