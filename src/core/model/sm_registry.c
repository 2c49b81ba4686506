
#include <stdio.h>

#include "sm_json.h"
#include "sm_registry.h"


enum {
    SM_REG_TARGET = 0,
    SM_REG_TYPE,
    SM_REG_URL,
    SM_REG_POLICY,
    SM_REG_ACCEPTANCE,
    SM_REG_ATTEMPTS,
    SM_REG_OUTCOMES,
    SM_REG_FIELDS
};


static const sm_json_field_t  sm_registry_fields[] = {
    { "targets", SM_JSON_ARRAY, 1 },
    { NULL, 0, 0 }
};

static const sm_json_field_t  sm_registry_target_fields[] = {
    { "submissionTarget", SM_JSON_STRING, 1 },
    { "gatewayType", SM_JSON_STRING, 1 },
    { "gatewayUrl", SM_JSON_STRING, 1 },
    { "policy", SM_JSON_STRING, 1 },
    { "maxAcceptanceSeconds", SM_JSON_NUMBER, 0 },
    { "maxAttempts", SM_JSON_NUMBER, 0 },
    { "terminalOutcomes", SM_JSON_ARRAY, 0 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_registry_target_fields) == SM_REG_FIELDS + 1,
               "a row for each field");


/* Replaces comment lines by spaces, so that offsets stay those of the file. */

static int
sm_registry_uncomment(sm_arena_t *arena, sm_str_t *text)
{
    int     comment, line;
    char   *p;
    size_t  i;

    if (sm_arena_strdup(arena, text, *text) != 0) {
        return -1;
    }

    p = (char *) text->data;

    for (i = 0, line = 1, comment = 0; i < text->len; i++) {

        if (p[i] == '\n') {
            line = 1;
            comment = 0;
            continue;
        }

        if (line && p[i] == '#') {
            comment = 1;
        }

        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r') {
            line = 0;
        }

        if (comment) {
            p[i] = ' ';
        }
    }

    return 0;
}


static int
sm_registry_outcomes(sm_arena_t *arena, sm_str_t raw, sm_str_t *joined,
    sm_json_error_t *err)
{
    size_t            i, n;
    sm_out_t          out;
    sm_json_value_t  *elts;

    if (sm_json_array(arena, raw, &elts, &n, err) != 0) {
        return -1;
    }

    /* The decoded and joined list is never longer than its JSON. */

    sm_out_init(&out, sm_arena_alloc(arena, raw.len), raw.len);

    if (out.start == NULL) {
        (void) snprintf(err->message, sizeof(err->message), "out of memory");
        return -1;
    }

    for (i = 0; i < n; i++) {

        if (elts[i].type != SM_JSON_STRING || elts[i].text.len == 0
            || memchr(elts[i].text.data, ' ', elts[i].text.len))
        {
            (void) snprintf(err->message, sizeof(err->message),
                            "\"terminalOutcomes\" must be an array of words");
            return -1;
        }

        if (i) {
            sm_out_bytes(&out, " ", 1);
        }

        sm_out_str(&out, elts[i].text);
    }

    joined->data = out.start;
    joined->len = out.last - out.start;

    return 0;
}


/* Reads the argument of a policy.  A policy has its own one, and no other. */

static int
sm_registry_term(const sm_json_field_t *field, sm_json_value_t *value,
    int wanted, int64_t max, int64_t *n, sm_json_error_t *err)
{
    const char  *fault;

    fault = NULL;

    if (wanted && value->type == 0) {
        fault = "is missing: the policy needs it";

    } else if (!wanted && value->type) {
        fault = "does not go with the policy";

    } else if (wanted && (sm_parse_uint(value->raw, max, n) != 0 || *n == 0)) {
        fault = "must be a whole number";
    }

    if (fault == NULL) {
        return 0;
    }

    (void) snprintf(err->message, sizeof(err->message), "\"%s\" %s%s",
                    field->name, fault,
                    fault[0] != 'm' ? ""
                    : max == SM_ATTEMPTS_MAX ? " from 1 to 1000000"
                                             : " from 1 to 31536000");
    return -1;
}


static int
sm_registry_target(sm_arena_t *arena, sm_str_t raw, sm_contract_t *c,
    sm_json_error_t *err)
{
    const sm_json_field_t  *f = sm_registry_target_fields;
    sm_json_value_t         v[SM_REG_FIELDS];

    sm_contract_init(c);

    if (sm_json_object(arena, raw, f, v, err) != 0) {
        return -1;
    }

    c->target = v[SM_REG_TARGET].text;
    c->gateway_url = v[SM_REG_URL].text;

    c->gateway_type = sm_gateway_by_name(v[SM_REG_TYPE].text);

    if (c->gateway_type == SM_GATEWAY_NONE
        || c->gateway_type == SM_GATEWAY_WEBHOOK)
    {
        (void) snprintf(err->message, sizeof(err->message),
                        "\"gatewayType\" must be " SM_GATEWAY_EXPECTED);
        return -1;
    }

    c->policy = sm_policy_by_name(v[SM_REG_POLICY].text);

    if (c->policy == SM_POLICY_NONE) {
        (void) snprintf(err->message, sizeof(err->message),
                        "\"policy\" must be " SM_POLICY_EXPECTED);
        return -1;
    }

    if (sm_registry_term(&f[SM_REG_ACCEPTANCE], &v[SM_REG_ACCEPTANCE],
                         c->policy == SM_POLICY_DEADLINE, SM_ACCEPTANCE_MAX,
                         &c->max_acceptance_seconds, err)
        != 0
        || sm_registry_term(&f[SM_REG_ATTEMPTS], &v[SM_REG_ATTEMPTS],
                            c->policy == SM_POLICY_MAX_ATTEMPTS,
                            SM_ATTEMPTS_MAX, &c->max_attempts, err)
           != 0)
    {
        return -1;
    }

    if (v[SM_REG_OUTCOMES].type
        && sm_registry_outcomes(arena, v[SM_REG_OUTCOMES].raw,
                                &c->terminal_outcomes, err)
           != 0)
    {
        return -1;
    }

    return sm_contract_check(c, err->message, sizeof(err->message));
}


int
sm_registry_parse(sm_arena_t *arena, sm_str_t text, sm_registry_t *reg)
{
    size_t           i;
    sm_json_error_t  err;
    sm_json_value_t  targets, *elts;

    memset(reg, 0, sizeof(sm_registry_t));

    if (sm_registry_uncomment(arena, &text) != 0) {
        (void) snprintf(reg->error, sizeof(reg->error), "out of memory");
        return -1;
    }

    if (sm_json_object(arena, text, sm_registry_fields, &targets, &err) != 0
        || sm_json_array(arena, targets.raw, &elts, &reg->n, &err) != 0)
    {
        (void) snprintf(reg->error, sizeof(reg->error), "%s", err.message);
        return -1;
    }

    reg->contracts = sm_arena_calloc(arena, reg->n, sizeof(sm_contract_t));

    if (reg->contracts == NULL) {
        (void) snprintf(reg->error, sizeof(reg->error), "out of memory");
        return -1;
    }

    for (i = 0; i < reg->n; i++) {
        if (sm_registry_target(arena, elts[i].raw, &reg->contracts[i], &err)
            != 0)
        {
            (void) snprintf(reg->error, sizeof(reg->error),
                            "targets[%zu]: %s", i, err.message);
            return -1;
        }
    }

    return 0;
}
