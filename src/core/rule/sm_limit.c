
#include "sm_bucket.h"
#include "sm_limit.h"


enum {
    SM_LIMIT_KEY_NAME = 0,
    SM_LIMIT_KEY_CONCURRENCY,
    SM_LIMIT_KEY_RATE,
    SM_LIMIT_KEY_BURST,
    SM_LIMIT_KEY_FAILURES,
    SM_LIMIT_KEY_OPEN,
    SM_LIMIT_KEY_MAX_OPEN,
    SM_LIMIT_KEY_UNITS,
    SM_LIMIT_KEYS
};

static const sm_json_field_t  sm_limit_fields[] = {
    { "t", SM_JSON_STRING, 1 },
    { "concurrency", SM_JSON_NUMBER, 1 },
    { "rate", SM_JSON_NUMBER, 1 },
    { "burst", SM_JSON_NUMBER, 1 },
    { "failures", SM_JSON_NUMBER, 1 },
    { "open", SM_JSON_NUMBER, 1 },
    { "maxOpen", SM_JSON_NUMBER, 1 },
    { "units", SM_JSON_NUMBER, 1 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_limit_fields) == SM_LIMIT_KEYS + 1,
               "a field for each key");


/* The module writes no numbers that are larger. */

static const int64_t  sm_limit_max[] = {
    0, INT32_MAX, SM_BUCKET_RATE_MAX, SM_BUCKET_BURST_MAX, INT32_MAX,
    INT64_MAX / 4, INT64_MAX / 4,
    SM_BUCKET_BURST_MAX * (int64_t) SM_BUCKET_TOKEN
};

_Static_assert(sm_nelts(sm_limit_max) == SM_LIMIT_KEYS,
               "a bound for each key");


static void
sm_limit_out(sm_out_t *out, const sm_limit_t *limit)
{
    size_t   i;
    int64_t  numbers[SM_LIMIT_KEYS];

    numbers[SM_LIMIT_KEY_CONCURRENCY] = limit->concurrency;
    numbers[SM_LIMIT_KEY_RATE] = limit->rules.rate;
    numbers[SM_LIMIT_KEY_BURST] = limit->rules.burst;
    numbers[SM_LIMIT_KEY_FAILURES] = limit->rules.circuit.failures;
    numbers[SM_LIMIT_KEY_OPEN] = limit->rules.circuit.open;
    numbers[SM_LIMIT_KEY_MAX_OPEN] = limit->rules.circuit.max_open;
    numbers[SM_LIMIT_KEY_UNITS] = limit->units;

    sm_out_c(out, "{\"t\":");
    sm_json_out_str(out, limit->name);

    for (i = SM_LIMIT_KEY_CONCURRENCY; i < SM_LIMIT_KEYS; i++) {
        sm_out_c(out, ",\"");
        sm_out_c(out, sm_limit_fields[i].name);
        sm_out_c(out, "\":");
        sm_out_int(out, numbers[i]);
    }

    sm_out_c(out, "}");
}


void
sm_limits_out(sm_out_t *out, const sm_limit_t *limits, size_t n)
{
    char    *last, *end;
    size_t   i;

    end = out->end;

    if (out->end - out->last > SM_LIMITS_MAX) {
        out->end = out->last + SM_LIMITS_MAX;
    }

    sm_out_c(out, "[");

    for (i = 0; i < n; i++) {
        last = out->last;

        if (i) {
            sm_out_c(out, ",");
        }

        sm_limit_out(out, &limits[i]);

        if (out->full) {
            out->full = 0;
            out->last = last;
            break;
        }
    }

    out->end = end;

    sm_out_c(out, "]");
}


static int
sm_limit_parse(sm_arena_t *arena, sm_str_t doc, sm_limit_t *limit)
{
    size_t           i;
    int64_t          numbers[SM_LIMIT_KEYS];
    sm_json_error_t  err;
    sm_json_value_t  values[SM_LIMIT_KEYS];

    if (sm_json_object_lax(arena, doc, sm_limit_fields, values, &err) != 0) {
        return -1;
    }

    for (i = SM_LIMIT_KEY_CONCURRENCY; i < SM_LIMIT_KEYS; i++) {
        if (sm_parse_uint(values[i].raw, sm_limit_max[i], &numbers[i]) != 0) {
            return -1;
        }
    }

    limit->name = values[SM_LIMIT_KEY_NAME].text;
    limit->concurrency = numbers[SM_LIMIT_KEY_CONCURRENCY];
    limit->rules.rate = numbers[SM_LIMIT_KEY_RATE];
    limit->rules.burst = numbers[SM_LIMIT_KEY_BURST];
    limit->rules.circuit.failures = numbers[SM_LIMIT_KEY_FAILURES];
    limit->rules.circuit.open = numbers[SM_LIMIT_KEY_OPEN];
    limit->rules.circuit.max_open = numbers[SM_LIMIT_KEY_MAX_OPEN];
    limit->units = numbers[SM_LIMIT_KEY_UNITS];

    return 0;
}


int
sm_limits_parse(sm_arena_t *arena, sm_str_t doc, sm_limit_t **limits,
    size_t *n)
{
    size_t            i, found;
    sm_json_value_t  *elts;
    sm_json_error_t   err;

    *n = 0;

    if (sm_json_array(arena, doc, &elts, &found, &err) != 0) {
        return -1;
    }

    *limits = sm_arena_calloc(arena, found + 1, sizeof(sm_limit_t));
    if (*limits == NULL) {
        return -1;
    }

    for (i = 0; i < found; i++) {
        if (sm_limit_parse(arena, elts[i].raw, &(*limits)[i]) != 0) {
            return -1;
        }
    }

    *n = found;

    return 0;
}
