
/*
 * The body of POST /v1/intents, and what is told of an intent.  What is taken
 * reads the same when it is written again; what is told is JSON of the size
 * that was reckoned, with the strings that went in.
 */

#include "fuzz.h"
#include "sm_intent.h"


/* an id with spaces at its ends is trimmed: so it is once it was read */

static void
try_again(sm_arena_t *arena, const sm_intent_request_t *req)
{
    sm_out_t             out;
    sm_json_error_t      err;
    sm_intent_request_t  again;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "{\"" SM_FIELD_ID "\":");
    sm_json_out_str(&out, req->id);
    sm_out_c(&out, ",\"" SM_FIELD_TARGET "\":");
    sm_json_out_str(&out, req->target);

    if (req->payload.len) {
        sm_out_c(&out, ",\"" SM_FIELD_PAYLOAD "\":");
        sm_out_str(&out, req->payload);
    }

    if (req->posted.not_before) {
        sm_out_c(&out, ",\"" SM_FIELD_NOT_BEFORE "\":");
        sm_json_out_time(&out, req->posted.not_before);
    }

    sm_out_c(&out, "}");

    must(sm_intent_request_parse(arena, fuzz_written(&out), &again, &err) == 0,
         "what was taken is taken again");
    must(sm_str_eq(req->id, again.id) && sm_str_eq(req->target, again.target)
         && sm_str_eq(req->payload, again.payload)
         && req->posted.not_before == again.posted.not_before,
         "it reads the same");
}


static void
try_told(sm_arena_t *arena, const sm_intent_request_t *req)
{
    sm_out_t         out;
    sm_intent_t      intent;
    sm_json_error_t  err;
    sm_json_value_t  v[3];

    static const sm_json_field_t  fields[] = {
        { SM_FIELD_ID, SM_JSON_STRING, 1 },
        { SM_FIELD_TARGET, SM_JSON_STRING, 1 },
        { "rejectedReason", SM_JSON_STRING, 1 },
        { NULL, 0, 0 }
    };

    memset(&intent, 0, sizeof(intent));

    intent.id = req->id;
    intent.target = req->target;
    intent.rejected_reason = req->id;
    intent.exhausted_reason = req->target;
    intent.status = SM_STATUS_REJECTED;
    intent.created_at = INT64_MIN;
    intent.attempt_count = INT64_MIN;
    intent.next_attempt_at = INT64_MAX;
    intent.completed_at = INT64_MIN;
    intent.posted.not_before = INT64_MIN;
    intent.last_error = req->target;
    intent.replay_of = req->id;
    intent.in_flight = 1;
    intent.stripped = 1;

    sm_out_init_arena(&out, arena);
    sm_intent_out(&out, &intent);

    must(sm_json_object_lax(arena, fuzz_written(&out), fields, v, &err) == 0
         && sm_str_eq(v[0].text, req->id) && sm_str_eq(v[1].text, req->target)
         && sm_str_eq(v[2].text, req->id), "what is told is what was taken");
}


static void
try_attempt(sm_arena_t *arena, sm_str_t text)
{
    sm_out_t         out;
    sm_attempt_t     attempt;
    sm_json_error_t  err;
    sm_json_value_t  v[4];

    static const sm_json_field_t  fields[] = {
        { "outcomeStatus", SM_JSON_STRING, 1 },
        { "outcomeReason", SM_JSON_STRING, 1 },
        { "error", SM_JSON_STRING, 1 },
        { "answer", SM_JSON_STRING, 0 },
        { NULL, 0, 0 }
    };

    memset(&attempt, 0, sizeof(sm_attempt_t));

    attempt.number = INT64_MIN;
    attempt.started_at = INT64_MIN;
    attempt.finished_at = INT64_MAX;
    attempt.outcome_status = text;
    attempt.outcome_reason = text;
    attempt.error = text;
    attempt.http_status = INT64_MIN;
    attempt.answer = text;
    attempt.span_id = text;

    sm_out_init_arena(&out, arena);
    sm_attempt_out(&out, &attempt);

    must(sm_json_object_lax(arena, fuzz_written(&out), fields, v, &err) == 0
         && sm_str_eq(v[0].text, text) && sm_str_eq(v[1].text, text)
         && sm_str_eq(v[2].text, text) && sm_str_eq(v[3].text, text),
         "an attempt is told as it was");
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sm_str_t             body;
    sm_arena_t           arena = { NULL };
    sm_json_error_t      err;
    sm_intent_request_t  req;

    body = fuzz_copy(fuzz_input(data, size));

    if (sm_intent_request_parse(&arena, body, &req, &err) == 0) {
        must(sm_id_check(req.id) == NULL, "the id is one");
        must(sm_str_eq(sm_trim(req.id), req.id), "it is trimmed");

        try_again(&arena, &req);
        try_told(&arena, &req);
        try_attempt(&arena, req.id);

    } else {
        must(!err.no_memory, "there is memory");
        must(err.message[0]
             && sm_utf8_check(sm_str_c(err.message)) == strlen(err.message),
             "the message is text");
    }

    fuzz_free(body);
    sm_arena_free(&arena);

    return 0;
}
