
#include "sm_gateway.h"
#include "sm_text.h"


static const sm_str_t  sm_gateway_sms[] = {
    sm_str("invalid_request"), sm_str("invalid_recipient"),
    sm_str("invalid_message"), sm_null_str
};

static const sm_str_t  sm_gateway_push[] = {
    sm_str("invalid_request"), sm_str("invalid_token"),
    sm_str("unregistered_token"), sm_str("invalid_message"), sm_null_str
};


static const sm_gateway_header_t  sm_gateway_headers[] = {
    { "Idempotency-Key", "idempotency-key", SM_GATEWAY_VALUE_ID },
    { "X-Submission-Attempt", "x-submission-attempt",
      SM_GATEWAY_VALUE_NUMBER },
    { "X-Submission-Epoch", "x-submission-epoch", SM_GATEWAY_VALUE_EPOCH },
    { NULL, NULL, 0 }
};


/* A webhook has more headers, which its signature adds. */

static const sm_gateway_header_t  sm_gateway_webhook[] = {
    { "X-Submission-Attempt", "x-submission-attempt",
      SM_GATEWAY_VALUE_NUMBER },
    { "X-Submission-Epoch", "x-submission-epoch", SM_GATEWAY_VALUE_EPOCH },
    { NULL, NULL, 0 }
};


static const sm_gateway_t  sm_gateways[] = {

    [SM_GATEWAY_NONE] = {
        .name = sm_null_str,
        .path = ""
    },

    [SM_GATEWAY_SMS] = {
        .name = sm_str("sms"),
        .path = "/sms/send",
        .read = SM_GATEWAY_READ_BODY,
        .outcomes = sm_gateway_sms,
        .expected = "\"invalid_request\", \"invalid_recipient\" or "
                    "\"invalid_message\"",
        .content_type = "application/json",
        .headers = sm_gateway_headers
    },

    [SM_GATEWAY_PUSH] = {
        .name = sm_str("push"),
        .path = "/push/send",
        .read = SM_GATEWAY_READ_BODY,
        .outcomes = sm_gateway_push,
        .expected = "\"invalid_request\", \"invalid_token\", "
                    "\"unregistered_token\" or \"invalid_message\"",
        .content_type = "application/json",
        .headers = sm_gateway_headers
    },

    [SM_GATEWAY_HTTP] = {
        .name = sm_str("http"),
        .path = "",
        .read = SM_GATEWAY_READ_STATUS,
        .outcomes = NULL,
        .expected = "\"http_400\" to \"http_499\", except 408, 425 and 429",
        .content_type = "application/json",
        .headers = sm_gateway_headers
    },

    [SM_GATEWAY_WEBHOOK] = {
        .name = sm_str("webhook"),
        .path = "",
        .read = SM_GATEWAY_READ_STATUS,
        .outcomes = NULL,
        .expected = "nothing",
        .content_type = "application/json",
        .headers = sm_gateway_webhook
    }
};

_Static_assert(sm_nelts(sm_gateways) == SM_GATEWAY_COUNT,
               "a row for each type");


const sm_gateway_t *
sm_gateway(sm_gateway_e type)
{
    return &sm_gateways[type];
}


sm_str_t
sm_gateway_name(sm_gateway_e type)
{
    return sm_gateways[type].name;
}


sm_gateway_e
sm_gateway_by_name(sm_str_t name)
{
    sm_gateway_e  i;

    for (i = SM_GATEWAY_COUNT - 1; i != SM_GATEWAY_NONE; i--) {
        if (sm_str_eq(sm_gateways[i].name, name)) {
            break;
        }
    }

    return i;
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


int
sm_gateway_rejects(unsigned status)
{
    return status >= 400 && status <= 499
           && status != 408 && status != 425 && status != 429;
}


int
sm_outcome_known(sm_gateway_e type, sm_str_t reason)
{
    int64_t          code;
    sm_str_t         digits;
    const sm_str_t  *s;

    s = sm_gateways[type].outcomes;

    if (s) {
        while (s->len && !sm_str_eq(*s, reason)) {
            s++;
        }

        return s->len != 0;
    }

    if (reason.len != 8 || memcmp(reason.data, "http_", 5) != 0) {
        return 0;
    }

    digits.data = reason.data + 5;
    digits.len = 3;

    return sm_parse_uint(digits, 499, &code) == 0 && sm_gateway_rejects(code);
}


const char *
sm_outcomes_expected(sm_gateway_e type)
{
    return sm_gateways[type].expected;
}
