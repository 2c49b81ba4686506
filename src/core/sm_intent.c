
#include <stdio.h>

#include "sm_intent.h"
#include "sm_time.h"
#include "sm_trace.h"


/* all keys, punctuation, times and numbers of one intent or attempt */
#define SM_INTENT_FIXED  512


/* a character is up to four bytes, in what is cleaned three a UTF-16 unit */

_Static_assert(sizeof(sm_intent_t) + 4 * SM_ID_MAX + 4 * 128
               + sm_clean_size(200) + 32 + 64 + sm_clean_size(400)
               + 4 * SM_ID_MAX + SM_TRACE_PARENT_LEN + 9 * 16
               <= SM_INTENT_MAX,
               "an intent");
_Static_assert(sizeof(sm_attempt_t) + 16 + sm_clean_size(200)
               + sm_clean_size(1000) + sm_clip_size(500) + SM_TRACE_SPAN_LEN
               + 6 * 16
               <= SM_ATTEMPT_MAX,
               "an attempt");


static const sm_str_t  sm_status_names[] = {
    [SM_STATUS_NONE] = sm_null_str,
    [SM_STATUS_PENDING] = sm_str("pending"),
    [SM_STATUS_ACCEPTED] = sm_str("accepted"),
    [SM_STATUS_REJECTED] = sm_str("rejected"),
    [SM_STATUS_EXHAUSTED] = sm_str("exhausted"),
    [SM_STATUS_CANCELED] = sm_str("canceled")
};

_Static_assert(sm_nelts(sm_status_names) == SM_STATUS_COUNT,
               "a name for each status");


enum {
    SM_INTENT_KEY_ID = 0,
    SM_INTENT_KEY_TARGET,
    SM_INTENT_KEY_PAYLOAD,
    SM_INTENT_KEY_NOT_BEFORE,
    SM_INTENT_KEY_COUNT
};

static const sm_json_field_t  sm_intent_fields[] = {
    { SM_FIELD_ID, SM_JSON_STRING, 1 },
    { SM_FIELD_TARGET, SM_JSON_STRING, 1 },
    { SM_FIELD_PAYLOAD, SM_JSON_ANY, 0 },
    { SM_FIELD_NOT_BEFORE, SM_JSON_STRING, 0 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_intent_fields) == SM_INTENT_KEY_COUNT + 1,
               "a row for each key");


sm_str_t
sm_status_name(sm_status_e status)
{
    return sm_status_names[status];
}


sm_status_e
sm_status_by_name(sm_str_t name)
{
    sm_status_e  i;

    for (i = SM_STATUS_COUNT - 1; i != SM_STATUS_NONE; i--) {
        if (sm_str_eq(sm_status_names[i], name)) {
            break;
        }
    }

    return i;
}


const char *
sm_id_text_check(sm_str_t text)
{
    if (text.len == 0) {
        return "must not be empty";
    }

    if (sm_utf8_check(text) != text.len) {
        return "must be valid UTF-8";
    }

    if (sm_utf8_has_control(text)) {
        return "must not contain control characters";
    }

    if (sm_utf8_length(text) > SM_ID_MAX) {
        return "must not be longer than 200 characters";
    }

    return NULL;
}


const char *
sm_id_check(sm_str_t id)
{
    return sm_is_dots(id) ? "must not be \".\" or \"..\"" : sm_id_text_check(id);
}


static int
sm_intent_fault(sm_json_error_t *err, const char *key, const char *fault)
{
    err->key = key;
    err->no_memory = 0;
    (void) snprintf(err->message, sizeof(err->message), "\"%s\" %s", key,
                    fault);

    return -1;
}


int
sm_intent_request_parse(sm_arena_t *arena, sm_str_t body,
    sm_intent_request_t *req, sm_json_error_t *err)
{
    const char       *fault;
    sm_json_value_t   v[SM_INTENT_KEY_COUNT];

    if (sm_json_object(arena, body, sm_intent_fields, v, err) != 0) {
        return -1;
    }

    req->id = sm_trim(v[SM_INTENT_KEY_ID].text);
    req->target = v[SM_INTENT_KEY_TARGET].text;
    req->payload = v[SM_INTENT_KEY_PAYLOAD].raw;
    req->not_before = 0;

    fault = sm_id_check(req->id);

    if (fault) {
        return sm_intent_fault(err, SM_FIELD_ID, fault);
    }

    if (v[SM_INTENT_KEY_NOT_BEFORE].type) {
        fault = sm_time_parse(v[SM_INTENT_KEY_NOT_BEFORE].text,
                              &req->not_before);

        if (fault) {
            return sm_intent_fault(err, SM_FIELD_NOT_BEFORE, fault);
        }
    }

    return 0;
}


size_t
sm_intent_size(const sm_intent_t *intent)
{
    return SM_INTENT_FIXED
           + sm_json_str_size(intent->id.len)
           + sm_json_str_size(intent->target.len)
           + sm_json_str_size(intent->rejected_reason.len)
           + sm_json_str_size(intent->exhausted_reason.len)
           + sm_json_str_size(intent->last_error.len)
           + sm_json_str_size(intent->replay_of.len)
           + sm_json_str_size(SM_TRACE_ID_LEN);
}


void
sm_intent_out(sm_out_t *out, const sm_intent_t *intent)
{
    sm_str_t  trace_id;

    sm_out_c(out, "{\"" SM_FIELD_ID "\":");
    sm_json_out_str(out, intent->id);
    sm_out_c(out, ",\"" SM_FIELD_TARGET "\":");
    sm_json_out_str(out, intent->target);
    sm_out_c(out, ",\"createdAt\":");
    sm_json_out_time(out, intent->created_at);
    sm_out_c(out, ",\"status\":\"");
    sm_out_str(out, sm_status_name(intent->status));
    sm_out_c(out, "\",\"attemptCount\":");
    sm_out_int(out, intent->attempt_count);

    if (intent->next_attempt_at) {
        sm_out_c(out, ",\"nextAttemptAt\":");
        sm_json_out_time(out, intent->next_attempt_at);
    }

    if (intent->completed_at) {
        sm_out_c(out, ",\"completedAt\":");
        sm_json_out_time(out, intent->completed_at);
    }

    if (intent->rejected_reason.len) {
        sm_out_c(out, ",\"rejectedReason\":");
        sm_json_out_str(out, intent->rejected_reason);
    }

    if (intent->exhausted_reason.len) {
        sm_out_c(out, ",\"exhaustedReason\":");
        sm_json_out_str(out, intent->exhausted_reason);
    }

    if (intent->not_before) {
        sm_out_c(out, ",\"" SM_FIELD_NOT_BEFORE "\":");
        sm_json_out_time(out, intent->not_before);
    }

    if (intent->in_flight) {
        sm_out_c(out, ",\"inFlight\":true");
    }

    if (intent->last_error.len) {
        sm_out_c(out, ",\"lastError\":");
        sm_json_out_str(out, intent->last_error);
    }

    if (intent->replay_of.len) {
        sm_out_c(out, ",\"replayOf\":");
        sm_json_out_str(out, intent->replay_of);
    }

    trace_id = sm_trace_id(intent->traceparent);

    if (trace_id.len) {
        sm_out_c(out, ",\"traceId\":");
        sm_json_out_str(out, trace_id);
    }

    if (intent->stripped) {
        sm_out_c(out, ",\"stripped\":true");
    }

    sm_out_c(out, "}");
}


static void
sm_nullable_out(sm_out_t *out, sm_str_t s)
{
    if (s.len) {
        sm_json_out_str(out, s);

    } else {
        sm_out_c(out, "null");
    }
}


size_t
sm_attempt_size(const sm_attempt_t *attempt)
{
    return SM_INTENT_FIXED
           + sm_json_str_size(attempt->outcome_status.len)
           + sm_json_str_size(attempt->outcome_reason.len)
           + sm_json_str_size(attempt->error.len)
           + sm_json_str_size(attempt->answer.len)
           + sm_json_str_size(attempt->span_id.len);
}


void
sm_attempt_out(sm_out_t *out, const sm_attempt_t *attempt)
{
    sm_out_c(out, "{\"attemptNumber\":");
    sm_out_int(out, attempt->number);
    sm_out_c(out, ",\"leaseEpoch\":");
    sm_out_int(out, attempt->epoch);
    sm_out_c(out, ",\"startedAt\":");
    sm_json_out_time(out, attempt->started_at);
    sm_out_c(out, ",\"finishedAt\":");
    sm_json_out_time(out, attempt->finished_at);
    sm_out_c(out, ",\"outcomeStatus\":");
    sm_json_out_str(out, attempt->outcome_status);
    sm_out_c(out, ",\"outcomeReason\":");
    sm_nullable_out(out, attempt->outcome_reason);
    sm_out_c(out, ",\"error\":");
    sm_nullable_out(out, attempt->error);

    if (attempt->http_status) {
        sm_out_c(out, ",\"httpStatus\":");
        sm_out_int(out, attempt->http_status);
    }

    if (attempt->answer.len) {
        sm_out_c(out, ",\"answer\":");
        sm_json_out_str(out, attempt->answer);
    }

    if (attempt->span_id.len) {
        sm_out_c(out, ",\"spanId\":");
        sm_json_out_str(out, attempt->span_id);
    }

    sm_out_c(out, "}");
}
