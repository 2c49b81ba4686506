
#include "sm_intent.h"
#include "sm_time.h"
#include "sm_trace.h"


/*
 * A character takes up to four bytes; cleaned text takes three bytes for each
 * UTF-16 unit.
 */

_Static_assert(sizeof(sm_intent_t) + 4 * SM_ID_MAX + 4 * 128
               + 2 * sm_clean_size(200) + 32 + 64 + sm_clean_size(400)
               + 4 * SM_ID_MAX + 4 * 500 + SM_TRACE_PARENT_LEN + 64 + 12 * 16
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

const sm_names_t  sm_statuses = {
    sm_status_names, SM_STATUS_COUNT, SM_STATUS_NONE
};


const sm_field_t  sm_intent_fields[] = {
    sm_field(sm_intent_t, id, "intent_id", TEXT, SM_FIELD_ID, SM_FIELD_ALWAYS),
    sm_field(sm_intent_t, target,
             "submission_target", TEXT, SM_FIELD_TARGET, SM_FIELD_ALWAYS),
    sm_field(sm_intent_t, created_at,
             "created_at", TIME, "createdAt", SM_FIELD_ALWAYS),
    sm_field_name(sm_intent_t, status,
                  "status", "status", SM_FIELD_ALWAYS, &sm_statuses),
    sm_field(sm_intent_t, attempt_count,
             "attempt_count", INT, "attemptCount", SM_FIELD_ALWAYS),
    sm_field(sm_intent_t, next_attempt_at,
             "next_attempt_at", TIME, "nextAttemptAt", 0),
    sm_field(sm_intent_t, completed_at,
             "completed_at", TIME, "completedAt", 0),
    sm_field(sm_intent_t, rejected_reason,
             "final_outcome_reason", TEXT, "rejectedReason", 0),
    sm_field(sm_intent_t, exhausted_reason,
             "exhausted_reason", TEXT, "exhaustedReason", 0),
    sm_field(sm_intent_t, posted.not_before,
             "not_before", TIME, SM_FIELD_NOT_BEFORE, 0),
    sm_field(sm_intent_t, in_flight, "in_flight", BOOL, "inFlight", 0),
    sm_field(sm_intent_t, last_error, "last_error", TEXT, "lastError", 0),
    sm_field(sm_intent_t, last_reason, "last_reason", TEXT, "lastReason", 0),
    sm_field(sm_intent_t, replay_of, "replay_of", TEXT, "replayOf", 0),
    sm_field(sm_intent_t, replayed_as,
             "replayed_as", LINES, "replayedAs", 0),
    sm_field(sm_intent_t, replay_count,
             "replay_count", INT, "replayedCount", 0),
    sm_field(sm_intent_t, traceparent, "traceparent", TRACE, "traceId", 0),
    sm_field(sm_intent_t, stripped, "stripped", BOOL, "stripped", 0),
    sm_field_hidden(sm_intent_t, hash, "payload_hash", TEXT),
    sm_null_field
};


const sm_field_t  sm_posted_fields[] = {
    sm_field(sm_posted_t, not_before, "not_before", INT, "before", 0),
    sm_null_field
};


const sm_field_t  sm_attempt_fields[] = {
    sm_field(sm_attempt_t, number,
             "attempt_number", INT, "attemptNumber", SM_FIELD_ALWAYS),
    sm_field(sm_attempt_t, epoch,
             "lease_epoch", INT, "leaseEpoch", SM_FIELD_ALWAYS),
    sm_field(sm_attempt_t, started_at,
             "started_at", TIME, "startedAt", SM_FIELD_ALWAYS),
    sm_field(sm_attempt_t, finished_at,
             "finished_at", TIME, "finishedAt", SM_FIELD_ALWAYS),
    sm_field(sm_attempt_t, outcome_status,
             "outcome_status", TEXT, "outcomeStatus", SM_FIELD_ALWAYS),
    sm_field(sm_attempt_t, outcome_reason,
             "outcome_reason", TEXT, "outcomeReason", SM_FIELD_NULL),
    sm_field(sm_attempt_t, error, "error", TEXT, "error", SM_FIELD_NULL),
    sm_field(sm_attempt_t, http_status, "http_status", INT, "httpStatus", 0),
    sm_field(sm_attempt_t, answer, "answer", TEXT, "answer", 0),
    sm_field(sm_attempt_t, span_id, "span_id", TEXT, "spanId", 0),
    sm_null_field
};


/*
 * How a POST says each member of sm_intent_request_t.  take() stores the value;
 * check() looks at a text that was stored, and is NULL if any will do.  Both
 * return what is wrong, or NULL.
 */

typedef const char *(*sm_intent_take_pt)(const sm_json_value_t *v,
    void *member);
typedef const char *(*sm_intent_check_pt)(sm_str_t text);

typedef struct {
    const char          *key;
    unsigned             types;         /* of JSON */
    unsigned             required;
    size_t               offset;
    sm_intent_take_pt    take;
    sm_intent_check_pt   check;
} sm_intent_key_t;

static const char *sm_intent_take_text(const sm_json_value_t *v, void *member);
static const char *sm_intent_take_trimmed(const sm_json_value_t *v,
    void *member);
static const char *sm_intent_take_raw(const sm_json_value_t *v, void *member);
static const char *sm_intent_take_time(const sm_json_value_t *v, void *member);

#define sm_intent_member(member)  offsetof(sm_intent_request_t, member)

static const sm_intent_key_t  sm_intent_keys[] = {

    { SM_FIELD_ID, SM_JSON_STRING, 1,
      sm_intent_member(id), sm_intent_take_trimmed, sm_id_check },

    { SM_FIELD_TARGET, SM_JSON_STRING, 1,
      sm_intent_member(target), sm_intent_take_text, NULL },

    { SM_FIELD_PAYLOAD, SM_JSON_ANY, 0,
      sm_intent_member(payload), sm_intent_take_raw, NULL },

    { SM_FIELD_NOT_BEFORE, SM_JSON_STRING, 0,
      sm_intent_member(posted.not_before), sm_intent_take_time, NULL }
};


sm_str_t
sm_status_name(sm_status_e status)
{
    return sm_status_names[status];
}


sm_status_e
sm_status_by_name(sm_str_t name)
{
    return sm_names_value(&sm_statuses, name);
}


void
sm_intent_loaded(sm_intent_t *intent)
{
    if (intent->status != SM_STATUS_REJECTED) {
        memset(&intent->rejected_reason, 0, sizeof(sm_str_t));
    }
}


/* Returns the key of a column in the answer. */

static const char *
sm_intent_key(const char *column)
{
    const sm_field_t  *f;

    for (f = sm_intent_fields; strcmp(f->column, column) != 0; f++) {
        /* void */
    }

    return f->json;
}


const char *
sm_posted_differ(const sm_posted_t *a, const sm_posted_t *b)
{
    const char        *one, *two;
    const sm_field_t  *f;

    for (f = sm_posted_fields; f->column; f++) {
        one = (const char *) a + f->offset;
        two = (const char *) b + f->offset;

        if (f->type == SM_FIELD_INT
            ? *(const int64_t *) one != *(const int64_t *) two
            : !sm_str_eq(*(const sm_str_t *) one, *(const sm_str_t *) two))
        {
            return sm_intent_key(f->column);
        }
    }

    return NULL;
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
    return sm_is_dots(id) ? "must not be \".\" or \"..\""
                          : sm_id_text_check(id);
}


static const char *
sm_intent_take_text(const sm_json_value_t *v, void *member)
{
    *(sm_str_t *) member = v->text;

    return NULL;
}


static const char *
sm_intent_take_trimmed(const sm_json_value_t *v, void *member)
{
    *(sm_str_t *) member = sm_trim(v->text);

    return NULL;
}


static const char *
sm_intent_take_raw(const sm_json_value_t *v, void *member)
{
    *(sm_str_t *) member = v->raw;

    return NULL;
}


static const char *
sm_intent_take_time(const sm_json_value_t *v, void *member)
{
    return sm_time_parse(v->text, member);
}


int
sm_intent_request_parse(sm_arena_t *arena, sm_str_t body,
    sm_intent_request_t *req, sm_json_error_t *err)
{
    size_t                  i;
    void                   *member;
    const char             *fault;
    sm_json_value_t         v[sm_nelts(sm_intent_keys)];
    sm_json_field_t         keys[sm_nelts(sm_intent_keys) + 1];
    const sm_intent_key_t  *k;

    for (i = 0; i < sm_nelts(sm_intent_keys); i++) {
        keys[i].name = sm_intent_keys[i].key;
        keys[i].types = sm_intent_keys[i].types;
        keys[i].required = sm_intent_keys[i].required;
    }

    keys[i].name = NULL;

    if (sm_json_object(arena, body, keys, v, err) != 0) {
        return -1;
    }

    memset(req, 0, sizeof(sm_intent_request_t));

    for (i = 0; i < sm_nelts(sm_intent_keys); i++) {
        k = &sm_intent_keys[i];

        if (v[i].type == 0) {
            continue;
        }

        member = (char *) req + k->offset;
        fault = k->take(&v[i], member);

        if (fault == NULL && k->check) {
            fault = k->check(*(sm_str_t *) member);
        }

        if (fault) {
            return sm_json_fault(err, k->key, fault);
        }
    }

    return 0;
}


void
sm_intent_out(sm_out_t *out, const sm_intent_t *intent)
{
    sm_out_c(out, "{");
    sm_out_fields(out, sm_intent_fields, intent);
    sm_out_c(out, "}");
}


void
sm_attempt_out(sm_out_t *out, const sm_attempt_t *attempt)
{
    sm_out_c(out, "{");
    sm_out_fields(out, sm_attempt_fields, attempt);
    sm_out_c(out, "}");
}
