
/*
 * A gateway's answer decides whether a payload is sent again, and what it says
 * goes into SQL and logs.  Whatever it is: an outcome has its reason or its
 * error, fit to be kept; only what says "accepted" is.
 */

#include "fuzz.h"
#include "sm_exchange.h"


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
try_accepted(sm_gateway_e type, const sm_exchange_t *x)
{
    must(x->sent, "what is accepted was sent");
    must(x->whole || (x->large && type == SM_GATEWAY_HTTP),
         "what is accepted was read whole");
    must(x->status >= 200 && x->status <= 299, "by a good status");
    must(type == SM_GATEWAY_HTTP || mentions(x->body, "accepted")
         || mentions(x->body, "\\u"), "it says that it accepts");
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t        status;
    uint64_t       flags;
    sm_str_t       s, reason, error, kept;
    sm_arena_t     arena = { NULL };
    sm_exchange_t  x;
    sm_gateway_e   type;
    sm_outcome_e   outcome;

    s = fuzz_input(data, size);

    memset(&x, 0, sizeof(x));

    type = 1 + fuzz_take(&s, 1) % SM_GATEWAY_HTTP;
    flags = fuzz_take(&s, 1);
    x.status = fuzz_take(&s, 2) % 1000;

    x.sent = flags & 1;
    x.whole = flags >> 1 & 1;
    x.large = flags >> 2 & 1;
    x.late = flags >> 3 & 1;
    x.aborted = flags >> 4 & 1;
    x.taken = flags >> 5 & 1;

    x.body = fuzz_copy(s);

    /* the same bytes as a line of nginx, and as names */

    sm_cause_read(x.body, &x.cause);
    must(x.cause.what < SM_CAUSE_COUNT, "a line has a cause");

    if (flags >> 6 & 1) {
        x.peer = x.body;
        x.name = x.body;
    }

    memset(&reason, 0x55, sizeof(reason));
    memset(&error, 0x55, sizeof(error));
    outcome = SM_OUTCOMES;

    must(sm_exchange_read(&arena, type, &x, &outcome, &reason, &error) == 0,
         "an exchange is read");
    must(outcome < SM_OUTCOMES, "it has an outcome");
    must(x.sent || outcome == SM_OUTCOME_NONE || outcome == SM_OUTCOME_ERROR,
         "what was not sent is no attempt, or refused");
    must(!x.sent || outcome != SM_OUTCOME_NONE,
         "what may have been sent is an attempt");

    fuzz_clean(reason, SM_REASON_MAX);
    fuzz_clean(error, SM_ERROR_MAX);

    must((outcome != SM_OUTCOME_ERROR && outcome != SM_OUTCOME_NONE)
         || error.len != 0, "an error says what it is");
    must((outcome == SM_OUTCOME_REJECTED || outcome == SM_OUTCOME_UNKNOWN)
         == (reason.len != 0), "a rejection has its reason");

    if (outcome == SM_OUTCOME_ACCEPTED) {
        try_accepted(type, &x);
    }

    memset(&kept, 0x55, sizeof(kept));

    must(sm_exchange_keep(&arena, &x, &status, &kept) == 0,
         "an answer is kept");
    must(status == 0 || status == (int64_t) x.status, "with its status");
    must(kept.len == 0 || status != 0, "no answer without a status");

    fuzz_clean(kept, 2 * SM_ANSWER_KEPT);
    must(sm_utf8_length(kept) <= SM_ANSWER_KEPT, "as much as is kept");

    try_retry_after(x.body);

    fuzz_free(x.body);
    sm_arena_free(&arena);

    return 0;
}
