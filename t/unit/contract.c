
/*
 * A contract is snapshotted onto intents, so a wrong one that gets past these
 * checks is wrong for as long as its intents live.  Broken by: a bound off by
 * one, an outcome that the gateway type does not have, a URL that proxy_pass
 * would read differently.
 */

#include <stdlib.h>

#include "sm_contract.h"
#include "tap.h"


static void
test_names(void)
{
    size_t  i;

    static const char *const  gateways[] = { "sms", "push", "http" };

    static const char *const  policies[] = {
        "deadline", "max_attempts", "one_shot"
    };

    static const char *const  unknown[] = {
        "", "SMS", "sm", "smss", "none", " sms", "Deadline", "oneshot"
    };

    for (i = 0; i < 3; i++) {
        is_int(sm_gateway_by_name(sm_str_c(gateways[i])),
               SM_GATEWAY_SMS + i, "gateway type %s", gateways[i]);
        is_str(sm_gateway_name(SM_GATEWAY_SMS + i).data, gateways[i],
               "and back");

        is_int(sm_policy_by_name(sm_str_c(policies[i])),
               SM_POLICY_DEADLINE + i, "policy %s", policies[i]);
        is_str(sm_policy_name(SM_POLICY_DEADLINE + i).data, policies[i],
               "and back");
    }

    for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        is_int(sm_gateway_by_name(sm_str_c(unknown[i])), SM_GATEWAY_NONE,
               "no gateway type: \"%s\"", unknown[i]);
        is_int(sm_policy_by_name(sm_str_c(unknown[i])), SM_POLICY_NONE,
               "no policy: \"%s\"", unknown[i]);
    }
}


static const char *
check_repeated(const char *(*check)(sm_str_t), const char *before,
    const char *s, size_t n)
{
    char      buf[2048];
    sm_str_t  str = { 0, buf };

    str.len = (size_t) sprintf(buf, "%s", before);

    while (n--) {
        str.len += (size_t) sprintf(buf + str.len, "%s", s);
    }

    return check(str);
}


static void
test_target(void)
{
    size_t  i;

    static const struct {
        sm_str_t     s;
        const char  *fault;
    } t[] = {
        { sm_str("sms.realtime"), NULL },
        { sm_str("\xc3\xa9/\"\\"), NULL },
        { sm_str(""), "must not be empty" },
        { sm_null_str, "must not be empty" },
        { sm_str("a\xff"), "must be valid UTF-8" },
        { sm_str("a b"), "must not contain spaces or control characters" },
        { sm_str(" a"), "must not contain spaces or control characters" },
        { sm_str("a\t"), "must not contain spaces or control characters" },
        { sm_str("a\0b"), "must not contain spaces or control characters" },
        { sm_str("a\x7f"), "must not contain spaces or control characters" },
        { sm_str("\xc2\x85"), "must not contain spaces or control characters" },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_str(sm_target_check(t[i].s), t[i].fault, "target %zu: %s", i,
               t[i].fault ? t[i].fault : "good");
    }

    is_str(check_repeated(sm_target_check, "", "\xe2\x82\xac", 128), NULL,
           "a target of 128 characters, 384 bytes");
    is_str(check_repeated(sm_target_check, "", "\xe2\x82\xac", 129),
           "must not be longer than 128 characters", "of 129 characters");
}


static void
test_url(void)
{
    size_t  i;

    static const char  scheme[] =
                       "must be \"http://host...\" or \"https://host...\"";
    static const char  plain[] =
               "must be of plain URL characters, without query or fragment";

    static const struct {
        sm_str_t     s;
        const char  *fault;
    } t[] = {
        { sm_str("http://a"), NULL },
        { sm_str("https://a"), NULL },
        { sm_str("http://127.0.0.1:9090/base/"), NULL },
        { sm_str("http://[::1]:80"), NULL },
        { sm_str("http://h/%20~!&'()*+,;=@"), NULL },
        { sm_str(""), scheme },
        { sm_null_str, scheme },
        { sm_str("http://"), scheme },
        { sm_str("https://"), scheme },
        { sm_str("HTTP://a"), scheme },
        { sm_str("ftp://host"), scheme },
        { sm_str("http:/host"), scheme },
        { sm_str("//host"), scheme },
        { sm_str("host"), scheme },
        { sm_str(" http://host"), scheme },
        { sm_str("http:///a"), "must name a host" },
        { sm_str("https:///a"), "must name a host" },
        { sm_str("http://:80"), "must name a host" },
        { sm_str("http://a b"), plain },
        { sm_str("http://a?b"), plain },
        { sm_str("http://a#b"), plain },
        { sm_str("http://$host"), plain },
        { sm_str("http://a{"), plain },
        { sm_str("http://a\\"), plain },
        { sm_str("http://a\""), plain },
        { sm_str("http://a\n"), plain },
        { sm_str("http://a\0"), plain },
        { sm_str("http://a\x7f"), plain },
        { sm_str("http://\xc3\xa9"), plain },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_str(sm_gateway_url_check(t[i].s), t[i].fault, "URL %zu: %s", i,
               t[i].fault ? t[i].fault : "good");
    }

    is_str(check_repeated(sm_gateway_url_check, "http://a", "b", 1016), NULL,
           "a URL of 1024 bytes");
    is_str(check_repeated(sm_gateway_url_check, "http://a", "b", 1017),
           "must not be longer than 1024 bytes", "a URL of 1025 bytes");
}


static void
test_outcomes(void)
{
    size_t  i;

    static const struct {
        const char  *reason;
        unsigned     sms:1;
        unsigned     push:1;
        unsigned     http:1;
    } t[] = {
        { "invalid_request", 1, 1, 0 },
        { "invalid_recipient", 1, 0, 0 },
        { "invalid_message", 1, 1, 0 },
        { "invalid_token", 0, 1, 0 },
        { "unregistered_token", 0, 1, 0 },
        { "http_400", 0, 0, 1 },
        { "http_404", 0, 0, 1 },
        { "http_407", 0, 0, 1 },
        { "http_408", 0, 0, 0 },
        { "http_409", 0, 0, 1 },
        { "http_424", 0, 0, 1 },
        { "http_425", 0, 0, 0 },
        { "http_426", 0, 0, 1 },
        { "http_428", 0, 0, 1 },
        { "http_429", 0, 0, 0 },
        { "http_430", 0, 0, 1 },
        { "http_499", 0, 0, 1 },
        { "http_399", 0, 0, 0 },
        { "http_500", 0, 0, 0 },
        { "http_200", 0, 0, 0 },
        { "http_4", 0, 0, 0 },
        { "http_4040", 0, 0, 0 },
        { "http_4x4", 0, 0, 0 },
        { "http_ 40", 0, 0, 0 },
        { "HTTP_404", 0, 0, 0 },
        { "Invalid_request", 0, 0, 0 },
        { "invalid_reques", 0, 0, 0 },
        { "invalid_requests", 0, 0, 0 },
        { "accepted", 0, 0, 0 },
        { "", 0, 0, 0 },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(sm_outcome_known(SM_GATEWAY_SMS, sm_str_c(t[i].reason)),
               t[i].sms, "sms: \"%s\"", t[i].reason);
        is_int(sm_outcome_known(SM_GATEWAY_PUSH, sm_str_c(t[i].reason)),
               t[i].push, "push: \"%s\"", t[i].reason);
        is_int(sm_outcome_known(SM_GATEWAY_HTTP, sm_str_c(t[i].reason)),
               t[i].http, "http: \"%s\"", t[i].reason);
    }
}


static void
test_next_word(void)
{
    int       n;
    sm_str_t  word, rest = sm_str("  a  bc d "), none = sm_null_str;

    static const char *const  words[] = { "a", "bc", "d" };

    for (n = 0; n < 3; n++) {
        is_int(sm_next_word(&rest, &word), 1, "a word");
        is_mem(word.data, word.len, words[n], strlen(words[n]),
               "is \"%s\"", words[n]);
    }

    is_int(sm_next_word(&rest, &word), 0, "no more words");
    is_int(sm_next_word(&rest, &word), 0, "and none after that");
    is_int(sm_next_word(&none, &word), 0, "no words in nothing");
}


static const sm_contract_t  good = {
    .target = sm_str("sms.realtime"),
    .gateway_type = SM_GATEWAY_SMS,
    .gateway_url = sm_str("http://sms"),
    .policy = SM_POLICY_DEADLINE,
    .max_acceptance_seconds = 30,
    .max_attempts = 3,
    .terminal_outcomes = sm_str("invalid_request invalid_message"),
    .retry_delay = 5000,
    .retry_backoff = 100,
};


static void
check(const sm_contract_t *c, const char *expected, const char *name)
{
    int   rc;
    char  why[512] = "";

    rc = sm_contract_check(c, why, sizeof(why));

    is_int(rc, expected[0] ? -1 : 0, "%s", name);
    is_str(why, expected, "the message");
}


static void
test_check(void)
{
    char           why[16], outcomes[1100];
    sm_contract_t  c;

    sm_contract_init(&c);

    is_int(c.retry_delay, 5000, "default retry delay");
    is_int(c.retry_max, 0, "no largest delay");
    is_int(c.retry_backoff, 100, "no backoff");
    is_int(c.retry_jitter, 0, "no jitter");
    is_str(c.terminal_outcomes.data, "", "no terminal outcomes");
    check(&c, "the target's name must not be empty", "a fresh contract");

    check(&good, "", "a good contract");

    c = good;
    c.gateway_type = SM_GATEWAY_NONE;
    check(&c, "no gateway type is given: \"sms\", \"push\" or \"http\" was "
          "expected", "no gateway type");

    c = good;
    c.gateway_url = sm_str_c("sms");
    check(&c, "the gateway URL must be \"http://host...\" or "
          "\"https://host...\"", "a bad URL");

    c = good;
    c.policy = SM_POLICY_NONE;
    check(&c, "no policy is given: \"deadline\", \"max_attempts\" or "
          "\"one_shot\" was expected", "no policy");

    c = good;
    c.terminal_outcomes = sm_str_c("invalid_request http_404");
    check(&c, "terminal outcome \"http_404\" is not of gateway type \"sms\": "
          "\"invalid_request\", \"invalid_recipient\" or \"invalid_message\" "
          "was expected", "an outcome of another type");

    c.gateway_type = SM_GATEWAY_PUSH;
    check(&c, "terminal outcome \"http_404\" is not of gateway type \"push\": "
          "\"invalid_request\", \"invalid_token\", \"unregistered_token\" or "
          "\"invalid_message\" was expected", "likewise for push");

    c.gateway_type = SM_GATEWAY_HTTP;
    check(&c, "terminal outcome \"invalid_request\" is not of gateway type "
          "\"http\": \"http_400\" to \"http_499\", except 408, 425 and 429 "
          "was expected", "likewise for http");

    c.terminal_outcomes = sm_str_c("http_400 http_499");
    check(&c, "", "outcomes of type http");

    c.terminal_outcomes.data = "";
    c.terminal_outcomes.len = 0;
    check(&c, "", "no outcomes");

    memset(outcomes, ' ', sizeof(outcomes));
    c.terminal_outcomes.data = outcomes;
    c.terminal_outcomes.len = 1000;
    check(&c, "", "a list of 1000 bytes");
    c.terminal_outcomes.len = 1001;
    check(&c, "the list of terminal outcomes is longer than 1000 bytes",
          "a list of 1001 bytes");

    c = good;
    c.target.len = 0;
    memset(why, 'x', sizeof(why));
    (void) sm_contract_check(&c, why, 10);
    is_mem(why, 11, "the targe\0x", 11, "a message is cut to its memory");
}


static void
test_terms(void)
{
    size_t         i;
    sm_contract_t  c;

    static const char  deadline[] =
                    "the deadline must be between 1 second and 365 days";
    static const char  attempts[] =
                    "the number of attempts must be between 1 and 1000000";
    static const char  delay[] =
                    "the retry delay must be between 1 ms and 1 day";
    static const char  largest[] =
                    "the largest retry delay must be between the first one "
                    "and 1 day";
    static const char  backoff[] =
                    "the backoff factor must be between 1 and 100";
    static const char  jitter[] = "the jitter must be between 0 and 1";

#define TERM(policy, field, value, fault)                                     \
    { SM_POLICY_##policy, offsetof(sm_contract_t, field), value, fault,       \
      #policy ", " #field " " #value }

    static const struct {
        sm_policy_e   policy;
        size_t        offset;
        int64_t       value;
        const char   *fault;
        const char   *name;
    } t[] = {
        TERM(DEADLINE, max_acceptance_seconds, -1, deadline),
        TERM(DEADLINE, max_acceptance_seconds, 0, deadline),
        TERM(DEADLINE, max_acceptance_seconds, 1, ""),
        TERM(DEADLINE, max_acceptance_seconds, 31536000, ""),
        TERM(DEADLINE, max_acceptance_seconds, 31536001, deadline),
        TERM(ONE_SHOT, max_acceptance_seconds, 0, ""),
        TERM(MAX_ATTEMPTS, max_attempts, -1, attempts),
        TERM(MAX_ATTEMPTS, max_attempts, 0, attempts),
        TERM(MAX_ATTEMPTS, max_attempts, 1, ""),
        TERM(MAX_ATTEMPTS, max_attempts, 1000000, ""),
        TERM(MAX_ATTEMPTS, max_attempts, 1000001, attempts),
        TERM(ONE_SHOT, max_attempts, 0, ""),
        TERM(DEADLINE, retry_delay, 0, delay),
        TERM(DEADLINE, retry_delay, 1, ""),
        TERM(DEADLINE, retry_delay, 86400000, ""),
        TERM(DEADLINE, retry_delay, 86400001, delay),
        TERM(DEADLINE, retry_max, -1, largest),
        TERM(DEADLINE, retry_max, 0, ""),
        TERM(DEADLINE, retry_max, 4999, largest),
        TERM(DEADLINE, retry_max, 5000, ""),
        TERM(DEADLINE, retry_max, 86400000, ""),
        TERM(DEADLINE, retry_max, 86400001, largest),
        TERM(DEADLINE, retry_backoff, 99, backoff),
        TERM(DEADLINE, retry_backoff, 100, ""),
        TERM(DEADLINE, retry_backoff, 10000, ""),
        TERM(DEADLINE, retry_backoff, 10001, backoff),
        TERM(DEADLINE, retry_jitter, -1, jitter),
        TERM(DEADLINE, retry_jitter, 0, ""),
        TERM(DEADLINE, retry_jitter, 100, ""),
        TERM(DEADLINE, retry_jitter, 101, jitter),
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        c = good;
        c.policy = t[i].policy;
        memcpy((char *) &c + t[i].offset, &t[i].value, sizeof(int64_t));

        check(&c, t[i].fault, t[i].name);
    }
}


static void
test_schedule(void)
{
    char           list[512];
    size_t         i;
    sm_contract_t  c;

    static const char  each[] = "each retry delay must be between 1 ms and "
                                "1 day";

    static const struct {
        const char  *list;
        const char  *fault;
    } t[] = {
        { "1", "" }, { "5000 300000", "" }, { "86400000", "" }, { "", "" },
        { "0", each }, { "86400001", each }, { "5s", each }, { "5 -1", each },
        { "5,6", each }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        c = good;
        c.retry_schedule = sm_str_c(t[i].list);
        check(&c, t[i].fault, t[i].list);
    }

    memset(list, ' ', sizeof(list));
    list[0] = '5';
    c.retry_schedule.data = list;
    c.retry_schedule.len = SM_DELAYS_MAX;
    check(&c, "", "500 bytes");
    c.retry_schedule.len = SM_DELAYS_MAX + 1;
    check(&c, "the list of retry delays is longer than 500 bytes", "501 bytes");
}


/* what is stored is read as it was, and what is not understood is said */

static void
test_stored(void)
{
    int                 i;
    char                why[128];
    sm_policy_e         policy;
    sm_contract_t       c, again;
    const sm_field_t   *f;
    sm_contract_row_t   row;

    static const struct {
        size_t       offset;
        const char  *text;          /* NULL: a number */
        const char  *why;
    } refused[] = {
        { offsetof(sm_contract_row_t, type), "fax",
          "gateway type \"fax\" is unknown" },
        { offsetof(sm_contract_row_t, policy), "never",
          "policy \"never\" is unknown" },
        { offsetof(sm_contract_row_t, contract.gateway_url), "ftp://a",
          "the gateway URL must be \"http://host...\" or \"https://host...\"" },
        { offsetof(sm_contract_row_t, contract.retry_delay), NULL,
          "the retry delay must be between 1 ms and 1 day" },
        { offsetof(sm_contract_row_t, contract.retry_schedule), "1000 soon",
          "each retry delay must be between 1 ms and 1 day" },
        { offsetof(sm_contract_row_t, contract.notify), "rejected",
          "the list of webhooks has a word without a colon" },
        { offsetof(sm_contract_row_t, contract.notify),
          "rejected:ops rejected:",
          "the list of webhooks has a name that no webhook can have" },
        { offsetof(sm_contract_row_t, contract.notify), "rejected:\"",
          "the list of webhooks has a name that no webhook can have" }
    };

    for (policy = SM_POLICY_DEADLINE; policy < SM_POLICY_COUNT; policy++) {
        c = good;
        c.policy = policy;
        c.gateway_type = SM_GATEWAY_PUSH;
        c.retry_max = 60000;
        c.retry_jitter = 7;
        c.max_acceptance_seconds = policy == SM_POLICY_DEADLINE ? 60 : 0;
        c.max_attempts = policy == SM_POLICY_MAX_ATTEMPTS ? 3 : 0;

        sm_contract_store(&c, &row);

        is_int(row.contract.max_acceptance_seconds, c.max_acceptance_seconds,
               "whether it has seconds");
        is_int(row.contract.max_attempts, c.max_attempts,
               "whether it has attempts");

        for (f = sm_contract_fields; f->json; f++) {
            ok(f->flags != SM_FIELD_ALWAYS || f->type == SM_FIELD_INT
               || ((sm_str_t *) ((char *) &row + f->offset))->data != NULL,
               "column \"%s\" is of its kind", f->column);
        }

        memset(&again, 0, sizeof(again));
        is_int(sm_contract_load(&again, &row, why, sizeof(why)), 0,
               "read again");
        ok(memcmp(&again, &c, sizeof(c)) == 0, "it is the same");
    }

    c = good;
    c.policy = SM_POLICY_ONE_SHOT;
    c.max_acceptance_seconds = 60;
    c.max_attempts = 3;

    sm_contract_store(&c, &row);
    ok(row.contract.max_acceptance_seconds == 0
       && row.contract.max_attempts == 0,
       "what its policy does not have is not stored");

    for (i = 0; i < (int) (sizeof(refused) / sizeof(refused[0])); i++) {
        sm_contract_store(&good, &row);

        if (refused[i].text) {
            *(sm_str_t *) ((char *) &row + refused[i].offset) =
                sm_str_c(refused[i].text);

        } else {
            *(int64_t *) ((char *) &row + refused[i].offset) = 0;
        }

        is_int(sm_contract_load(&again, &row, why, sizeof(why)), -1,
               "%s: it is damaged", refused[i].why);
        is_str(why, refused[i].why, "that is said");
        is_int(again.policy, SM_POLICY_NONE, "there is no policy then");
    }

    sm_contract_store(&good, &row);
    row.contract.notify = sm_str_c("rejected:ops exhausted:a.b-c_9");
    row.version = SM_CONTRACT_VERSION;
    is_int(sm_contract_load(&again, &row, why, sizeof(why)), 0,
           "the newest version, and webhooks");
    row.version = SM_CONTRACT_VERSION + 1;
    is_int(sm_contract_load(&again, &row, why, sizeof(why)), -1,
           "a newer version");
    is_str(why, "it is of version 2, and this release knows versions up to 1",
           "that is said");
}


int
main(void)
{
    needs_no_store();

    test_names();
    test_target();
    test_url();
    test_outcomes();
    test_next_word();
    test_check();
    test_terms();
    test_schedule();
    test_stored();

    return done_testing();
}
