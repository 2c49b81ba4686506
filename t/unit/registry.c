
/*
 * The registry file is written by hand: each mistake must be told by the
 * target and the key it is in.  Broken by: a comment that moves the offsets of
 * what follows, an argument that goes with no policy, a message that says
 * nothing.
 */

#include <stdlib.h>

#include "sm_registry.h"
#include "tap.h"


static sm_arena_t     arena;
static sm_registry_t  reg;


static int
parse(const char *text)
{
    int       rc;
    sm_str_t  s;

    sm_arena_free(&arena);

    /* memory of its own, so that reading past the end is caught */

    s.len = strlen(text);
    s.data = memcpy(malloc(s.len), text, s.len);

    rc = sm_registry_parse(&arena, s, &reg);

    free((void *) s.data);

    return rc;
}


static void
test_good(void)
{
    size_t  i;

    static const char  text[] =
        "# targets of production\n"
        "{\n"
        "  \"targets\": [\n"
        "    # \"} [ unbalanced, and no JSON at all \xff\n"
        "    { \"submissionTarget\": \"sms.realtime\", \"gatewayType\": "
        "\"sms\",\n"
        "      \"gatewayUrl\": \"http://sms\", \"policy\": \"deadline\",\r\n"
        "\t # a comment after a tab\r\n"
        "      \"maxAcceptanceSeconds\": 30,\n"
        "      \"terminalOutcomes\": [\"invalid_request\", "
        "\"invalid_\\u0072ecipient\"] },\n"
        "    { \"submissionTarget\": \"push#1\", \"gatewayType\": \"push\",\n"
        "      \"gatewayUrl\": \"https://push:8443/x\",\n"
        "      \"policy\": \"max_attempts\", \"maxAttempts\": 1000000,\n"
        "      \"terminalOutcomes\": [] },\n"
        "    { \"policy\": \"one_shot\", \"submissionTarget\": \"hook\",\n"
        "      \"gatewayType\": \"http\", \"gatewayUrl\": \"http://hook\" }\n"
        "  ]\n"
        "}\n"
        "# the end";

    static const sm_contract_t  t[] = {
        { .target = sm_str("sms.realtime"), .gateway_type = SM_GATEWAY_SMS,
          .gateway_url = sm_str("http://sms"), .policy = SM_POLICY_DEADLINE,
          .max_acceptance_seconds = 30,
          .terminal_outcomes = sm_str("invalid_request invalid_recipient") },
        { .target = sm_str("push#1"), .gateway_type = SM_GATEWAY_PUSH,
          .gateway_url = sm_str("https://push:8443/x"),
          .policy = SM_POLICY_MAX_ATTEMPTS, .max_attempts = 1000000 },
        { .target = sm_str("hook"), .gateway_type = SM_GATEWAY_HTTP,
          .gateway_url = sm_str("http://hook"), .policy = SM_POLICY_ONE_SHOT },
    };

    is_int(parse(text), 0, "a registry");
    is_str(reg.error, "", "no message");

    if (!is_int(reg.n, 3, "of three targets")) {
        return;
    }

    for (i = 0; i < 3; i++) {
        is_str(reg.contracts[i].target.data, t[i].target.data, "target %zu", i);
        is_int(reg.contracts[i].gateway_type, t[i].gateway_type, "type");
        is_str(reg.contracts[i].gateway_url.data, t[i].gateway_url.data, "URL");
        is_int(reg.contracts[i].policy, t[i].policy, "policy");
        is_int(reg.contracts[i].max_acceptance_seconds,
               t[i].max_acceptance_seconds, "deadline");
        is_int(reg.contracts[i].max_attempts, t[i].max_attempts, "attempts");
        is_mem(reg.contracts[i].terminal_outcomes.data,
               reg.contracts[i].terminal_outcomes.len,
               t[i].terminal_outcomes.data ? t[i].terminal_outcomes.data : "",
               t[i].terminal_outcomes.len, "outcomes");
        is_int(reg.contracts[i].retry_delay, 5000, "default retry delay");
        is_int(reg.contracts[i].retry_backoff, 100, "default backoff");
    }

    is_int(parse("{\"targets\":[]}"), 0, "a registry of no targets");
    is_int(reg.n, 0, "has none");
}


static void
test_document_errors(void)
{
    size_t  i;

    static const struct {
        const char  *text;
        const char  *error;
    } t[] = {
        { "", "an object was expected, not an empty document" },
        { "# only\n# comments\n",
          "malformed JSON at byte 18: parse error: premature EOF" },
        { "[]", "an object was expected" },
        { "{}", "\"targets\" is missing" },
        { "{\"targets\":{}}", "\"targets\" must be an array" },
        { "{\"target\":[]}", "unknown key \"target\"" },
        { "{\"targets\":[],\"targets\":[]}", "duplicate key \"targets\"" },
        { "{\"targets\":[]} x",
          "malformed JSON at byte 16: parse error: trailing garbage" },
        { "{\"targets\":[1]}", "targets[0]: an object was expected" },
        { "{\"targets\":[[]]}", "targets[0]: an object was expected" },

        /* a comment is spaces: what is wrong stays where it is in the file */

        { "# comment\n{\"targets\":[,]}",
          "malformed JSON at byte 23: parse error: "
          "unallowed token at this point in JSON text" },
        { "\n\n#\n  # \xff\n{\"targets\":\xff}",
          "invalid UTF-8 at byte 21" },

        /* only a whole line is a comment */

        { "{\"targets\":[]} # no",
          "malformed JSON at byte 16: parse error: trailing garbage" },
        { "{ # no\n\"targets\":[]}",
          "malformed JSON at byte 3: lexical error: "
          "invalid char in json text." },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(parse(t[i].text), -1, "refused: %s", t[i].error);
        is_str(reg.error, t[i].error, "the message");
    }
}


static void
test_target_errors(void)
{
    char    text[2048];
    size_t  i;

#define NAME      "\"submissionTarget\":\"a\","
#define SMS       "\"gatewayType\":\"sms\","
#define URL       "\"gatewayUrl\":\"http://a\","
#define ONE_SHOT  "\"policy\":\"one_shot\""
#define DEADLINE  "\"policy\":\"deadline\""
#define ATTEMPTS  "\"policy\":\"max_attempts\""

    static const struct {
        const char  *target;
        const char  *error;
    } t[] = {
        { SMS URL ONE_SHOT, "\"submissionTarget\" is missing" },
        { NAME URL ONE_SHOT, "\"gatewayType\" is missing" },
        { NAME SMS ONE_SHOT, "\"gatewayUrl\" is missing" },
        { NAME SMS "\"gatewayUrl\":\"http://a\"", "\"policy\" is missing" },

        { NAME SMS URL ONE_SHOT ",\"maxAttempt\":1",
          "unknown key \"maxAttempt\"" },
        { NAME SMS URL ONE_SHOT ",\"policy\":\"one_shot\"",
          "duplicate key \"policy\"" },
        { "\"submissionTarget\":1," SMS URL ONE_SHOT,
          "\"submissionTarget\" must be a string" },
        { NAME SMS URL ATTEMPTS ",\"maxAttempts\":\"3\"",
          "\"maxAttempts\" must be a number" },
        { NAME SMS URL ONE_SHOT ",\"terminalOutcomes\":\"a\"",
          "\"terminalOutcomes\" must be an array" },

        { NAME "\"gatewayType\":\"SMS\"," URL ONE_SHOT,
          "\"gatewayType\" must be \"sms\", \"push\" or \"http\"" },
        { NAME SMS URL "\"policy\":\"\"",
          "\"policy\" must be \"deadline\", \"max_attempts\" or "
          "\"one_shot\"" },

        { NAME SMS URL DEADLINE,
          "\"maxAcceptanceSeconds\" is missing: the policy needs it" },
        { NAME SMS URL ATTEMPTS,
          "\"maxAttempts\" is missing: the policy needs it" },
        { NAME SMS URL ONE_SHOT ",\"maxAcceptanceSeconds\":1",
          "\"maxAcceptanceSeconds\" does not go with the policy" },
        { NAME SMS URL ATTEMPTS ",\"maxAttempts\":1,"
          "\"maxAcceptanceSeconds\":1",
          "\"maxAcceptanceSeconds\" does not go with the policy" },
        { NAME SMS URL DEADLINE ",\"maxAcceptanceSeconds\":1,"
          "\"maxAttempts\":1",
          "\"maxAttempts\" does not go with the policy" },

        { NAME SMS URL DEADLINE ",\"maxAcceptanceSeconds\":0",
          "\"maxAcceptanceSeconds\" must be a whole number from 1 to "
          "31536000" },
        { NAME SMS URL DEADLINE ",\"maxAcceptanceSeconds\":-1",
          "\"maxAcceptanceSeconds\" must be a whole number from 1 to "
          "31536000" },
        { NAME SMS URL DEADLINE ",\"maxAcceptanceSeconds\":1.5",
          "\"maxAcceptanceSeconds\" must be a whole number from 1 to "
          "31536000" },
        { NAME SMS URL DEADLINE ",\"maxAcceptanceSeconds\":31536001",
          "\"maxAcceptanceSeconds\" must be a whole number from 1 to "
          "31536000" },
        { NAME SMS URL ATTEMPTS ",\"maxAttempts\":1e3",
          "\"maxAttempts\" must be a whole number from 1 to 1000000" },
        { NAME SMS URL ATTEMPTS ",\"maxAttempts\":1000001",
          "\"maxAttempts\" must be a whole number from 1 to 1000000" },
        { NAME SMS URL ATTEMPTS ",\"maxAttempts\":99999999999999999999999",
          "\"maxAttempts\" must be a whole number from 1 to 1000000" },

        { NAME SMS URL ONE_SHOT ",\"terminalOutcomes\":[1]",
          "\"terminalOutcomes\" must be an array of words" },
        { NAME SMS URL ONE_SHOT ",\"terminalOutcomes\":[\"\"]",
          "\"terminalOutcomes\" must be an array of words" },
        { NAME SMS URL ONE_SHOT ",\"terminalOutcomes\":"
          "[\"invalid_request\",\"a b\"]",
          "\"terminalOutcomes\" must be an array of words" },
        { NAME SMS URL ONE_SHOT ",\"terminalOutcomes\":[\"http_404\"]",
          "terminal outcome \"http_404\" is not of gateway type \"sms\": "
          "\"invalid_request\", \"invalid_recipient\" or "
          "\"invalid_message\" was expected" },

        { "\"submissionTarget\":\"\"," SMS URL ONE_SHOT,
          "the target's name must not be empty" },
        { "\"submissionTarget\":\"a\\u0000\"," SMS URL ONE_SHOT,
          "the target's name must not contain spaces or control characters" },
        { NAME SMS "\"gatewayUrl\":\"a\"," ONE_SHOT,
          "the gateway URL must be \"http://host...\" or "
          "\"https://host...\"" },
    };

    /* the second of two, so that the number in the message means something */

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        (void) snprintf(text, sizeof(text), "{\"targets\":[{%s},{%s}]}",
                        NAME SMS URL ONE_SHOT, t[i].target);

        is_int(parse(text), -1, "refused: %s", t[i].error);

        (void) snprintf(text, sizeof(text), "targets[1]: %s", t[i].error);
        is_str(reg.error, text, "the message");
    }
}


int
main(void)
{
    needs_no_store();

    test_good();
    test_document_errors();
    test_target_errors();

    sm_arena_free(&arena);

    return done_testing();
}
