
#include <stdio.h>

#include "sm_contract.h"
#include "sm_text.h"


static const sm_str_t  sm_gateway_names[] = {
    sm_null_str, sm_str("sms"), sm_str("push"), sm_str("http")
};

static const sm_str_t  sm_policy_names[] = {
    sm_null_str, sm_str("deadline"), sm_str("max_attempts"), sm_str("one_shot")
};

static const sm_str_t  sm_sms_outcomes[] = {
    sm_str("invalid_request"), sm_str("invalid_recipient"),
    sm_str("invalid_message"), sm_null_str
};

static const sm_str_t  sm_push_outcomes[] = {
    sm_str("invalid_request"), sm_str("invalid_token"),
    sm_str("unregistered_token"), sm_str("invalid_message"), sm_null_str
};


void
sm_contract_init(sm_contract_t *c)
{
    memset(c, 0, sizeof(sm_contract_t));

    c->terminal_outcomes.data = "";
    c->retry_delay = 5000;
    c->retry_backoff = 100;
}


sm_str_t
sm_gateway_name(sm_gateway_e type)
{
    return sm_gateway_names[type];
}


sm_gateway_e
sm_gateway_by_name(sm_str_t name)
{
    sm_gateway_e  i;

    for (i = SM_GATEWAY_HTTP; i != SM_GATEWAY_NONE; i--) {
        if (sm_str_eq(sm_gateway_names[i], name)) {
            break;
        }
    }

    return i;
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

    for (i = SM_POLICY_ONE_SHOT; i != SM_POLICY_NONE; i--) {
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


const char *
sm_gateway_url_check(sm_str_t url)
{
    size_t         i, scheme;
    unsigned char  c;

    if (url.len > 7 && memcmp(url.data, "http://", 7) == 0) {
        scheme = 7;

    } else if (url.len > 8 && memcmp(url.data, "https://", 8) == 0) {
        scheme = 8;

    } else {
        return "must be \"http://host...\" or \"https://host...\"";
    }

    if (url.len > SM_GATEWAY_URL_MAX) {
        return "must not be longer than 1024 bytes";
    }

    for (i = 0; i < url.len; i++) {
        c = url.data[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"\\<>^`{|}$#?", c)) {
            return "must be of plain URL characters, without query or fragment";
        }
    }

    if (url.data[scheme] == '/' || url.data[scheme] == ':') {
        return "must name a host";
    }

    return NULL;
}


static const sm_str_t *
sm_outcomes(sm_gateway_e type)
{
    return type == SM_GATEWAY_PUSH ? sm_push_outcomes : sm_sms_outcomes;
}


int
sm_outcome_known(sm_gateway_e type, sm_str_t reason)
{
    int64_t          code;
    sm_str_t         digits;
    const sm_str_t  *s;

    if (type != SM_GATEWAY_HTTP) {

        for (s = sm_outcomes(type); s->len; s++) {
            if (sm_str_eq(*s, reason)) {
                return 1;
            }
        }

        return 0;
    }

    if (reason.len != 8 || memcmp(reason.data, "http_", 5) != 0) {
        return 0;
    }

    digits.data = reason.data + 5;
    digits.len = 3;

    if (sm_parse_uint(digits, 499, &code) != 0) {
        return 0;
    }

    return code >= 400 && code != 408 && code != 425 && code != 429;
}


const char *
sm_outcomes_expected(sm_gateway_e type)
{
    switch (type) {
    case SM_GATEWAY_SMS:
        return "\"invalid_request\", \"invalid_recipient\" or "
               "\"invalid_message\"";
    case SM_GATEWAY_PUSH:
        return "\"invalid_request\", \"invalid_token\", "
               "\"unregistered_token\" or \"invalid_message\"";
    default:
        return "\"http_400\" to \"http_499\", except 408, 425 and 429";
    }
}


int
sm_next_word(sm_str_t *rest, sm_str_t *word)
{
    *rest = sm_trim(*rest);

    word->data = rest->data;
    word->len = 0;

    while (word->len < rest->len && word->data[word->len] != ' ') {
        word->len++;
    }

    rest->data += word->len;
    rest->len -= word->len;

    return word->len != 0;
}


int
sm_contract_terms(const sm_contract_t *c, char *why, size_t size)
{
    const char  *text;

    text = NULL;

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
        (void) snprintf(why, size, "no gateway type is given: \"sms\", "
                        "\"push\" or \"http\" was expected");
        return -1;
    }

    text = sm_gateway_url_check(c->gateway_url);
    if (text) {
        (void) snprintf(why, size, "the gateway URL %s", text);
        return -1;
    }

    if (c->policy == SM_POLICY_NONE) {
        (void) snprintf(why, size, "no policy is given: \"deadline\", "
                        "\"max_attempts\" or \"one_shot\" was expected");
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
                            sm_gateway_names[c->gateway_type].data,
                            sm_outcomes_expected(c->gateway_type));
            return -1;
        }
    }

    return sm_contract_terms(c, why, size);
}
