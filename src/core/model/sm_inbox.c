
#include <stdio.h>

#include "sm_inbox.h"
#include "sm_trace.h"


const sm_field_t  sm_inbox_fields[] = {
    sm_field_hidden(sm_inbox_row_t, seq, "seq", INT),
    sm_field_hidden(sm_inbox_row_t, id, "intent_id", TEXT),
    sm_field_hidden(sm_inbox_row_t, target, "submission_target", TEXT),
    sm_field_hidden(sm_inbox_row_t, submit.posted.not_before,
                    "not_before", TIME),
    sm_field_hidden(sm_inbox_row_t, size, "size", INT),
    sm_field_hidden(sm_inbox_row_t, trace.parent, "traceparent", TEXT),
    sm_field_hidden(sm_inbox_row_t, trace.state, "tracestate", TEXT),
    sm_field_hidden(sm_inbox_row_t, payload, "payload", BYTES),
    sm_null_field
};


void
sm_inbox_refuse(sm_inbox_row_t *row, const char *reason, const char *detail)
{
    row->reason = sm_str_c(reason);
    row->detail = sm_str_c(detail);
}


void
sm_inbox_refuse_conflict(sm_inbox_row_t *row)
{
    sm_inbox_refuse(row, "idempotency_conflict",
                    "the id belongs to another intent");
}


void
sm_inbox_refuse_reserved(sm_inbox_row_t *row)
{
    sm_inbox_refuse(row, "reserved_id", "the id belongs to a schedule");
}


static int
sm_inbox_refuse_request(sm_arena_t *arena, sm_inbox_row_t *row,
    const char *field, const char *what)
{
    char      text[320];
    sm_str_t  s;

    s.data = text;
    s.len = snprintf(text, sizeof(text), "\"%s\" %s", field, what);

    if (s.len >= sizeof(text)) {
        s.len = sizeof(text) - 1;
    }

    row->reason = sm_str_c("invalid_request");

    return sm_arena_strdup(arena, &row->detail, s);
}


/* Says where the payload is not JSON, by its own bytes. */

static int
sm_inbox_refuse_json(sm_arena_t *arena, sm_inbox_row_t *row)
{
    char             what[300];
    sm_json_error_t  err;

    if (sm_json_one(arena, row->payload, &err) == 0) {
        return sm_inbox_refuse_request(arena, row, SM_FIELD_PAYLOAD,
                                       "is not JSON");
    }

    if (err.no_memory) {
        return -1;
    }

    (void) snprintf(what, sizeof(what), "is not JSON: %s", err.message);

    return sm_inbox_refuse_request(arena, row, SM_FIELD_PAYLOAD, what);
}


/*
 * The payload is one JSON value, which may have spaces around it, or nothing.
 * It is parsed as the only element of an array, so that the rules are those of
 * a POST.
 */

static int
sm_inbox_payload(sm_arena_t *arena, sm_inbox_row_t *row)
{
    char             *p;
    size_t            n;
    sm_str_t          doc;
    sm_json_error_t   err;
    sm_json_value_t  *values;

    doc.len = row->payload.len + 2;

    p = sm_arena_alloc(arena, doc.len);
    if (p == NULL) {
        return -1;
    }

    doc.data = p;

    *p++ = '[';

    if (row->payload.len) {
        (void) memcpy(p, row->payload.data, row->payload.len);
        p += row->payload.len;
    }

    *p = ']';

    if (sm_json_array(arena, doc, &values, &n, &err) != 0) {
        return err.no_memory ? -1 : sm_inbox_refuse_json(arena, row);
    }

    if (n > 1) {
        return sm_inbox_refuse_request(arena, row, SM_FIELD_PAYLOAD,
                                       "is more than one value");
    }

    if (n == 1) {
        row->submit.payload = values[0].raw;
    }

    return 0;
}


int
sm_inbox_check(sm_arena_t *arena, sm_inbox_row_t *row, int64_t now)
{
    const char  *fault;

    row->submit.id = sm_trim(row->id);

    fault = sm_id_check(row->submit.id);

    if (fault) {
        return sm_inbox_refuse_request(arena, row, SM_FIELD_ID, fault);
    }

    if (row->submit.posted.not_before < -SM_TIME_MAX) {
        return sm_inbox_refuse_request(arena, row, SM_FIELD_NOT_BEFORE,
                                       "is not a time");
    }

    if (sm_submit_too_far(&row->submit, now)) {
        return sm_inbox_refuse_request(arena, row, SM_FIELD_NOT_BEFORE,
                                       "is more than 365 days ahead");
    }

    if (row->too_large) {
        sm_inbox_refuse(row, "payload_too_large",
                        "the payload is larger than \"inbox_max_payload\"");
        return 0;
    }

    if (sm_trace_read(arena, row->trace.parent, row->trace.state,
                      &row->submit.trace)
        != 0)
    {
        return -1;
    }

    return sm_inbox_payload(arena, row);
}
