
#include <stdio.h>

#include "sm_contract.h"
#include "sm_text.h"
#include "sm_webhook.h"


static const sm_str_t  sm_policy_names[] = {
    [SM_POLICY_NONE] = sm_null_str,
    [SM_POLICY_DEADLINE] = sm_str("deadline"),
    [SM_POLICY_MAX_ATTEMPTS] = sm_str("max_attempts"),
    [SM_POLICY_ONE_SHOT] = sm_str("one_shot")
};

_Static_assert(sm_nelts(sm_policy_names) == SM_POLICY_COUNT,
               "a name for each policy");


const sm_field_t  sm_contract_fields[] = {
    sm_field(sm_contract_row_t, contract.target,
             "submission_target", TEXT, "target", SM_FIELD_ALWAYS),
    sm_field(sm_contract_row_t, type,
             "gateway_type", TEXT, "type", SM_FIELD_ALWAYS),
    sm_field(sm_contract_row_t, contract.gateway_url,
             "gateway_url", TEXT, "url", SM_FIELD_ALWAYS),
    sm_field(sm_contract_row_t, policy,
             "policy", TEXT, "policy", SM_FIELD_ALWAYS),
    sm_field(sm_contract_row_t, contract.max_acceptance_seconds,
             "max_acceptance_seconds", INT, "seconds", 0),
    sm_field(sm_contract_row_t, contract.max_attempts,
             "max_attempts", INT, "attempts", 0),
    sm_field(sm_contract_row_t, contract.terminal_outcomes,
             "terminal_outcomes", TEXT, "outcomes",
             SM_FIELD_NULL | SM_FIELD_EMPTY),
    sm_field(sm_contract_row_t, contract.retry_delay,
             "retry_delay_ms", INT, "delay", SM_FIELD_ALWAYS),
    sm_field(sm_contract_row_t, contract.retry_max,
             "retry_max_ms", INT, "max", SM_FIELD_ALWAYS),
    sm_field(sm_contract_row_t, contract.retry_backoff,
             "retry_backoff_pct", INT, "backoff", SM_FIELD_ALWAYS),
    sm_field(sm_contract_row_t, contract.retry_jitter,
             "retry_jitter_pct", INT, "jitter", SM_FIELD_ALWAYS),
    sm_field(sm_contract_row_t, contract.retry_schedule,
             "retry_schedule", TEXT, "schedule", SM_FIELD_EMPTY),
    sm_field(sm_contract_row_t, contract.notify,
             "notify", TEXT, "notify", SM_FIELD_EMPTY),
    sm_field_hidden(sm_contract_row_t, version, "contract_version", INT),
    sm_null_field
};

_Static_assert(sm_nelts(sm_contract_fields) == SM_CONTRACT_COLUMNS + 2,
               "a row for each column");


void
sm_contract_init(sm_contract_t *c)
{
    memset(c, 0, sizeof(sm_contract_t));

    c->terminal_outcomes.data = "";
    c->retry_delay = 5000;
    c->retry_backoff = 100;
}


sm_str_t
sm_policy_name(sm_policy_e policy)
{
    return sm_policy_names[policy];
}


sm_policy_e
sm_policy_by_name(sm_str_t name)
{
    sm_policy_e  i;

    for (i = SM_POLICY_COUNT - 1; i != SM_POLICY_NONE; i--) {
        if (sm_str_eq(sm_policy_names[i], name)) {
            break;
        }
    }

    return i;
}


const char *
sm_target_check(sm_str_t target)
{
    if (target.len == 0) {
        return "must not be empty";
    }

    if (sm_utf8_check(target) != target.len) {
        return "must be valid UTF-8";
    }

    if (sm_utf8_length(target) > SM_TARGET_MAX) {
        return "must not be longer than 128 characters";
    }

    if (sm_utf8_has_control(target) || memchr(target.data, ' ', target.len)) {
        return "must not contain spaces or control characters";
    }

    return NULL;
}


/* Returns NULL, or what is wrong. */

static const char *
sm_contract_schedule(sm_str_t rest)
{
    int64_t   n;
    sm_str_t  word;

    if (rest.len > SM_DELAYS_MAX) {
        return "the list of retry delays is longer than 500 bytes";
    }

    while (sm_next_word(&rest, &word)) {
        if (sm_parse_uint(word, SM_DELAY_MAX, &n) != 0 || n < 1) {
            return "each retry delay must be between 1 ms and 1 day";
        }
    }

    return NULL;
}


int
sm_contract_terms(const sm_contract_t *c, char *why, size_t size)
{
    const char  *text;

    text = sm_contract_schedule(c->retry_schedule);

    if (c->policy == SM_POLICY_DEADLINE
        && (c->max_acceptance_seconds < 1
            || c->max_acceptance_seconds > SM_ACCEPTANCE_MAX))
    {
        text = "the deadline must be between 1 second and 365 days";
    }

    if (c->policy == SM_POLICY_MAX_ATTEMPTS
        && (c->max_attempts < 1 || c->max_attempts > SM_ATTEMPTS_MAX))
    {
        text = "the number of attempts must be between 1 and 1000000";
    }

    if (c->retry_delay < 1 || c->retry_delay > SM_DELAY_MAX) {
        text = "the retry delay must be between 1 ms and 1 day";
    }

    if (c->retry_max && (c->retry_max < c->retry_delay
                         || c->retry_max > SM_DELAY_MAX))
    {
        text = "the largest retry delay must be between the first one and "
               "1 day";
    }

    if (c->retry_backoff < 100 || c->retry_backoff > 10000) {
        text = "the backoff factor must be between 1 and 100";
    }

    if (c->retry_jitter < 0 || c->retry_jitter > 100) {
        text = "the jitter must be between 0 and 1";
    }

    if (text) {
        (void) snprintf(why, size, "%s", text);
        return -1;
    }

    return 0;
}


int
sm_contract_check(const sm_contract_t *c, char *why, size_t size)
{
    sm_str_t     rest, word;
    const char  *text;

    text = sm_target_check(c->target);
    if (text) {
        (void) snprintf(why, size, "the target's name %s", text);
        return -1;
    }

    if (c->gateway_type == SM_GATEWAY_NONE) {
        (void) snprintf(why, size, "no gateway type is given: "
                        SM_GATEWAY_EXPECTED " was expected");
        return -1;
    }

    text = sm_gateway_url_check(c->gateway_url);
    if (text) {
        (void) snprintf(why, size, "the gateway URL %s", text);
        return -1;
    }

    if (c->policy == SM_POLICY_NONE) {
        (void) snprintf(why, size, "no policy is given: "
                        SM_POLICY_EXPECTED " was expected");
        return -1;
    }

    if (c->terminal_outcomes.len > SM_OUTCOMES_MAX) {
        (void) snprintf(why, size, "the list of terminal outcomes is longer "
                        "than 1000 bytes");
        return -1;
    }

    rest = c->terminal_outcomes;

    while (sm_next_word(&rest, &word)) {
        if (!sm_outcome_known(c->gateway_type, word)) {
            (void) snprintf(why, size, "terminal outcome \"%.*s\" is not of "
                            "gateway type \"%s\": %s was expected",
                            (int) (word.len < 64 ? word.len : 64), word.data,
                            sm_gateway_name(c->gateway_type).data,
                            sm_outcomes_expected(c->gateway_type));
            return -1;
        }
    }

    return sm_contract_terms(c, why, size);
}


/* What the policy does not have is 0, which is NULL in the store. */

void
sm_contract_store(const sm_contract_t *c, sm_contract_row_t *row)
{
    row->contract = *c;
    row->type = sm_gateway_name(c->gateway_type);
    row->policy = sm_policy_name(c->policy);
    row->version = 0;

    if (c->policy != SM_POLICY_DEADLINE) {
        row->contract.max_acceptance_seconds = 0;
    }

    if (c->policy != SM_POLICY_MAX_ATTEMPTS) {
        row->contract.max_attempts = 0;
    }
}


void
sm_contract_out(sm_out_t *out, const sm_contract_t *c)
{
    sm_contract_row_t  row;

    sm_contract_store(c, &row);

    sm_out_c(out, "{");
    sm_out_fields(out, sm_contract_fields, &row);
}


/*
 * Returns NULL, or what is wrong.  Each name becomes a part of the ids of
 * messages, in SQL.
 */

static const char *
sm_contract_notify(sm_str_t rest)
{
    sm_str_t     word, name;
    const char  *colon;

    if (rest.len > SM_NOTIFY_MAX) {
        return "is longer than 1000 bytes";
    }

    while (sm_next_word(&rest, &word)) {
        colon = memchr(word.data, ':', word.len);

        if (colon == NULL) {
            return "has a word without a colon";
        }

        name.data = colon + 1;
        name.len = word.len - (name.data - word.data);

        if (sm_webhook_name_check(name)) {
            return "has a name that no webhook can have";
        }
    }

    return NULL;
}


int
sm_contract_load(sm_contract_t *c, const sm_contract_row_t *row, char *why,
    size_t size)
{
    sm_str_t     type, policy;
    const char  *url, *notify;

    type = row->type;
    policy = row->policy;

    *c = row->contract;
    c->gateway_type = sm_gateway_by_name(type);
    c->policy = sm_policy_by_name(policy);

    /* The URL of a webhook is not stored, so there is none to check. */

    url = c->gateway_type == SM_GATEWAY_WEBHOOK
          ? NULL : sm_gateway_url_check(c->gateway_url);

    notify = sm_contract_notify(c->notify);

    if (row->version > SM_CONTRACT_VERSION) {
        (void) snprintf(why, size, "it is of version %lld, and this release "
                        "knows versions up to %d", (long long) row->version,
                        SM_CONTRACT_VERSION);

    } else if (c->gateway_type == SM_GATEWAY_NONE) {
        (void) snprintf(why, size, "gateway type \"%.*s\" is unknown",
                        (int) (type.len < 64 ? type.len : 64), type.data);

    } else if (c->policy == SM_POLICY_NONE) {
        (void) snprintf(why, size, "policy \"%.*s\" is unknown",
                        (int) (policy.len < 64 ? policy.len : 64), policy.data);

    } else if (url) {
        (void) snprintf(why, size, "the gateway URL %s", url);

    } else if (notify) {
        (void) snprintf(why, size, "the list of webhooks %s", notify);

    } else if (sm_contract_terms(c, why, size) == 0) {
        return 0;
    }

    c->policy = SM_POLICY_NONE;

    return -1;
}
