
#include <stdarg.h>
#include <stdio.h>

#include "sm_answer.h"


#define SM_ANSWER_LINE         1024     /* bytes of an error before it is cut */
#define SM_ANSWER_STATUS_MAX   64       /* characters of a status in an error */


enum { SM_ANSWER_STATUS = 0, SM_ANSWER_REASON, SM_ANSWER_FIELDS };

/* Other keys are skipped: an answer may have any. */

static const sm_json_field_t  sm_answer_fields[] = {
    { "status", SM_JSON_STRING, 1 },
    { "reason", SM_JSON_ANY, 0 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_answer_fields) == SM_ANSWER_FIELDS + 1,
               "a row for each field");


static const sm_str_t  sm_answer_accepted = sm_str("accepted");
static const sm_str_t  sm_answer_rejected = sm_str("rejected");


static int
sm_answer_clean(sm_arena_t *arena, sm_str_t *dst, sm_str_t src, size_t max)
{
    void      *buf;
    sm_out_t   out;

    if (max > src.len) {
        max = src.len;
    }

    buf = sm_arena_alloc(arena, sm_clean_size(max) + 1);
    if (buf == NULL) {
        return -1;
    }

    sm_out_init(&out, buf, sm_clean_size(max));
    sm_out_clean(&out, src, max);

    dst->data = out.start;
    dst->len = out.last - out.start;

    return 0;
}


int
sm_answer_error(sm_arena_t *arena, sm_str_t *error, const char *fmt, ...)
{
    char     line[SM_ANSWER_LINE];
    va_list  args;

    va_start(args, fmt);
    (void) vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);

    return sm_answer_clean(arena, error, sm_str_c(line), SM_ERROR_MAX);
}


/* Reads the whole body of a 2xx answer. */

static int
sm_answer_json(sm_arena_t *arena, unsigned status, sm_str_t body,
    sm_outcome_e *outcome, sm_str_t *reason, sm_str_t *error)
{
    sm_str_t         text;
    sm_json_error_t  err;
    sm_json_value_t  values[SM_ANSWER_FIELDS];

    if (body.len == 0) {
        return sm_answer_error(arena, error,
                               "HTTP %u with an empty answer",
                               status);
    }

    if (sm_json_object_lax(arena, body, sm_answer_fields, values, &err)
        != 0)
    {
        return err.no_memory
               ? -1
               : sm_answer_error(arena, error,
                                 "HTTP %u with an unreadable answer: %s",
                                 status, err.message);
    }

    text = values[SM_ANSWER_STATUS].text;

    if (sm_str_eq(text, sm_answer_accepted)) {
        *outcome = SM_OUTCOME_ACCEPTED;
        return 0;
    }

    if (!sm_str_eq(text, sm_answer_rejected)) {

        if (sm_answer_clean(arena, &text, text, SM_ANSWER_STATUS_MAX) != 0) {
            return -1;
        }

        return sm_answer_error(arena, error,
                               "HTTP %u with unknown status \"%.*s\"",
                               status, (int) text.len, text.data);
    }

    if (sm_answer_clean(arena, &text, values[SM_ANSWER_REASON].text,
                        SM_REASON_MAX)
        != 0)
    {
        return -1;
    }

    if (text.len == 0) {
        return sm_answer_error(arena, error,
                               "HTTP %u with a rejection without a reason",
                               status);
    }

    *outcome = SM_OUTCOME_REJECTED;
    *reason = text;

    return 0;
}


int
sm_answer_read(sm_arena_t *arena, sm_gateway_e type, unsigned status,
    sm_str_t body, sm_outcome_e *outcome, sm_str_t *reason, sm_str_t *error)
{
    char               text[sizeof("http_4xx")];
    sm_gateway_read_e  read;

    static const sm_str_t  none = sm_null_str;

    *outcome = SM_OUTCOME_ERROR;
    *reason = none;
    *error = none;

    read = sm_gateway(type)->read;

    if (status < 200 || status > 299) {

        if (read == SM_GATEWAY_READ_STATUS && sm_gateway_rejects(status)) {
            *outcome = SM_OUTCOME_REJECTED;
            (void) snprintf(text, sizeof(text), "http_%u", status % 1000);
            return sm_arena_strdup(arena, reason, sm_str_c(text));
        }

        return sm_answer_error(arena, error, "HTTP %u", status);
    }

    if (read == SM_GATEWAY_READ_STATUS) {
        *outcome = SM_OUTCOME_ACCEPTED;
        return 0;
    }

    return sm_answer_json(arena, status, body, outcome, reason, error);
}


int64_t
sm_answer_retry_after(sm_str_t value)
{
    size_t   i;
    int64_t  seconds;

    value = sm_trim(value);

    for (i = 0; i < value.len; i++) {
        if (value.data[i] < '0' || value.data[i] > '9') {
            return 0;
        }
    }

    if (value.len == 0) {
        return 0;
    }

    if (sm_parse_uint(value, SM_DELAY_MAX / 1000, &seconds) != 0) {
        return SM_DELAY_MAX;
    }

    return seconds * 1000;
}
