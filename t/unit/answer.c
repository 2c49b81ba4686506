
/*
 * A gateway's answer decides whether a payload is sent again, and what it says
 * goes into SQL rows and logs: it may be anything.  Broken by: an accepted
 * answer that is not read as one because of something else in it, anything
 * else that is read as accepted, a reason that no column takes.
 */

#include <stdlib.h>

#include "sm_answer.h"
#include "tap.h"


static sm_arena_t     arena;
static sm_outcome_e   outcome;
static sm_str_t       reason, error;


/* from memory with nothing after it: reading past the end is caught */

static int
answer(sm_gateway_e type, unsigned status, sm_str_t body)
{
    int        rc;
    char      *data;
    sm_str_t   copy;

    data = malloc(body.len);

    if (body.len) {
        memcpy(data, body.data, body.len);
    }

    copy.len = body.len;
    copy.data = data;

    memset(&reason, 0x55, sizeof(reason));
    memset(&error, 0x55, sizeof(error));
    outcome = SM_OUTCOMES;

    sm_arena_free(&arena);

    rc = sm_answer_read(&arena, type, status, copy, &outcome, &reason,
                        &error);

    free(data);                 /* nothing of the result may be in it */

    return rc;
}


static void
expect(sm_outcome_e o, const char *r, const char *e, const char *name)
{
    is_int(outcome, o, "%s: the outcome", name);
    is_mem(reason.data, reason.len, r, r ? strlen(r) : 0, "%s: the reason",
           name);
    is_mem(error.data, error.len, e, e ? strlen(e) : 0, "%s: the error", name);
}


#define ACCEPTED      SM_OUTCOME_ACCEPTED, NULL, NULL
#define REJECTED(r)   SM_OUTCOME_REJECTED, r, NULL
#define ERROR(e)      SM_OUTCOME_ERROR, NULL, e
#define UNREADABLE(e) ERROR("HTTP 200 with an unreadable answer: " e)
#define NO_REASON     ERROR("HTTP 200 with a rejection without a reason")
#define STATUS(s)     ERROR("HTTP 200 with unknown status \"" s "\"")


static void
test_json(void)
{
    char    name[32];
    size_t  i;

    static const struct {
        sm_str_t       body;
        sm_outcome_e   outcome;
        const char    *reason;
        const char    *error;
    } t[] = {
        { sm_str("{\"status\":\"accepted\"}"), ACCEPTED },
        { sm_str(" {\r\n\t\"status\" : \"accepted\" } \n"), ACCEPTED },
        { sm_str("{\"status\":\"\\u0061ccepted\"}"), ACCEPTED },
        { sm_str("{\"\\u0073tatus\":\"accepted\"}"), ACCEPTED },

        /* whatever else is there */

        { sm_str("{\"id\":1,\"status\":\"accepted\",\"x\":[{\"status\":"
                 "\"rejected\",\"reason\":\"no\"}],\"id\":2}"), ACCEPTED },
        { sm_str("{\"x\":{\"status\":1},\"status\":\"accepted\"}"), ACCEPTED },
        { sm_str("{\"\":null,\"status\":\"accepted\"}"), ACCEPTED },
        { sm_str("{\"\\u0000\":\"\\ud800\",\"status\":\"accepted\"}"),
          ACCEPTED },
        { sm_str("{\"status\":\"accepted\",\"reason\":\"none\"}"), ACCEPTED },
        { sm_str("{\"status\":\"accepted\",\"reason\":null}"), ACCEPTED },
        { sm_str("{\"status\":\"accepted\",\"reason\":{\"a\":[1]}}"),
          ACCEPTED },
        { sm_str("{\"status\":\"accepted\",\"reason\":\"\\udc00\"}"),
          ACCEPTED },

        { sm_str("{\"status\":\"rejected\",\"reason\":\"invalid_request\"}"),
          REJECTED("invalid_request") },
        { sm_str("{\"reason\":\"invalid_token\",\"status\":\"rejected\"}"),
          REJECTED("invalid_token") },
        { sm_str("{\"x\":\"y\",\"reason\":\"a\",\"z\":0,"
                 "\"status\":\"rejected\",\"w\":\"v\"}"), REJECTED("a") },
        { sm_str("{\"status\":\"rejected\",\"reason\":\" a  b \"}"),
          REJECTED("a  b") },
        { sm_str("{\"status\":\"rejected\",\"reason\":\"a\\nb\\u0000c\\r\"}"),
          REJECTED("a b c") },
        { sm_str("{\"status\":\"rejected\",\"reason\":\"\\u0085\\u009f\\u007f"
                 "x\\u0080y\\u00a0\"}"), REJECTED("x y\xc2\xa0") },
        { sm_str("{\"status\":\"rejected\",\"reason\":\"\\ud83d\\ude00\"}"),
          REJECTED("\xf0\x9f\x98\x80") },
        { sm_str("{\"status\":\"rejected\",\"reason\":\"a\\udc00\"}"),
          REJECTED("a???") },
        { sm_str("{\"status\":\"rejected\",\"reason\":\"a\\ud800\"}"),
          REJECTED("a?") },
        { sm_str("{\"status\":\"rejected\",\"reason\":\"'; DROP TABLE\"}"),
          REJECTED("'; DROP TABLE") },
        { sm_str("{\"status\":\"rejected\",\"reason\":\"\\\"%s%n\"}"),
          REJECTED("\"%s%n") },

        { sm_str("{\"status\":\"rejected\"}"), NO_REASON },
        { sm_str("{\"status\":\"rejected\",\"reason\":\"\"}"), NO_REASON },
        { sm_str("{\"status\":\"rejected\",\"reason\":\"  \\t\"}"),
          NO_REASON },
        { sm_str("{\"status\":\"rejected\",\"reason\":null}"), NO_REASON },
        { sm_str("{\"status\":\"rejected\",\"reason\":7}"), NO_REASON },
        { sm_str("{\"status\":\"rejected\",\"reason\":true}"), NO_REASON },
        { sm_str("{\"status\":\"rejected\",\"reason\":[\"a\"]}"), NO_REASON },
        { sm_str("{\"status\":\"rejected\",\"reason\":{\"a\":\"b\"}}"),
          NO_REASON },
        { sm_str("{\"status\":\"rejected\",\"x\":{\"reason\":\"a\"}}"),
          NO_REASON },

        { sm_str("{\"status\":\"foo\"}"), STATUS("foo") },
        { sm_str("{\"status\":\"\"}"), STATUS("") },
        { sm_str("{\"status\":\"Accepted\"}"), STATUS("Accepted") },
        { sm_str("{\"status\":\" accepted\"}"), STATUS("accepted") },
        { sm_str("{\"status\":\"accepted2\"}"), STATUS("accepted2") },
        { sm_str("{\"status\":\"accepte\"}"), STATUS("accepte") },
        { sm_str("{\"status\":\"accepted\\u0000\"}"), STATUS("accepted") },
        { sm_str("{\"status\":\"a\\u0000\\u001b[2Jb%s\\n\"}"),
          STATUS("a  [2Jb%s") },
        { sm_str("{\"status\":\"error\",\"reason\":\"invalid_request\"}"),
          STATUS("error") },

        { sm_str(""), ERROR("HTTP 200 with an empty answer") },
        { sm_str(" "), UNREADABLE("malformed JSON at byte 1: "
                                  "parse error: premature EOF") },
        { sm_str("OK"), UNREADABLE("malformed JSON at byte 1: "
                                   "lexical error: invalid char in json "
                                   "text.") },
        { sm_str("<html>"), UNREADABLE("malformed JSON at byte 1: "
                                       "lexical error: invalid char in json "
                                       "text.") },
        { sm_str("{\"status\":\"accepted\""),
          UNREADABLE("malformed JSON at byte 20: parse error: premature EOF")
        },
        { sm_str("{\"status\":\"accepted\"}{}"),
          UNREADABLE("malformed JSON at byte 22: parse error: trailing "
                     "garbage") },
        { sm_str("\"accepted\""), UNREADABLE("an object was expected") },
        { sm_str("[{\"status\":\"accepted\"}]"),
          UNREADABLE("an object was expected") },
        { sm_str("{}"), UNREADABLE("\"status\" is missing") },
        { sm_str("{\"Status\":\"accepted\"}"),
          UNREADABLE("\"status\" is missing") },
        { sm_str("{\"status\":true}"),
          UNREADABLE("\"status\" must be a string") },
        { sm_str("{\"status\":null}"),
          UNREADABLE("\"status\" must be a string") },
        { sm_str("{\"status\":\"accepted\",\"status\":\"rejected\"}"),
          UNREADABLE("duplicate key \"status\"") },
        { sm_str("{\"status\":\"accepted\",\"x\":\"\xff\"}"),
          UNREADABLE("invalid UTF-8 at byte 26") }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        snprintf(name, sizeof(name), "body %zu", i);

        is_int(answer(SM_GATEWAY_SMS, 200, t[i].body), 0,
               "%s", name);
        expect(t[i].outcome, t[i].reason, t[i].error, name);

        answer(SM_GATEWAY_PUSH, 200, t[i].body);
        ok(outcome == t[i].outcome, "push likewise");

        answer(SM_GATEWAY_HTTP, 200, t[i].body);
        expect(ACCEPTED, "http does not read it");
    }
}


static int
same(sm_outcome_e o, const char *r, const char *e)
{
    return outcome == o
           && sm_str_eq(reason, sm_str_c(r ? r : ""))
           && sm_str_eq(error, sm_str_c(e ? e : ""));
}


static void
test_statuses(void)
{
    char       r[16], e[16];
    unsigned   status, rejected, good;

    static const sm_str_t  accepted = sm_str("{\"status\":\"accepted\"}");

    for (status = 100, rejected = 0; status < 1000; status++) {
        snprintf(e, sizeof(e), "HTTP %u", status);
        snprintf(r, sizeof(r), "http_%u", status);

        answer(SM_GATEWAY_SMS, status, accepted);
        good = status / 100 == 2 ? same(ACCEPTED) : same(ERROR(e));

        answer(SM_GATEWAY_HTTP, status, accepted);

        if (status / 100 == 2) {
            good &= same(ACCEPTED);

        } else if (status / 100 == 4 && status != 408 && status != 425
                   && status != 429)
        {
            good &= same(REJECTED(r))
                    && sm_outcome_known(SM_GATEWAY_HTTP, reason);
            rejected++;

        } else {
            good &= same(ERROR(e));
        }

        if (!good || status % 100 == 99) {
            ok(good, "statuses up to %u", status);
        }
    }

    is_int(rejected, 97, "statuses of rejections");

    answer(SM_GATEWAY_HTTP, UINT32_MAX, accepted);
    expect(ERROR("HTTP 4294967295"), "a senseless status");
}


static void
test_clipped(void)
{
    char       big[102400 + 64], *p;
    size_t     i, n;
    sm_str_t   body;

    static const char  head[] = "{\"status\":\"rejected\",\"reason\":\"";

    static const struct {
        const char  *character;
        size_t       kept;
    } t[] = {
        { "x", 200 },
        { "\xc3\xa9", 200 },
        { "\xe2\x82\xac", 200 },
        { "\xf0\x9f\x98\x80", 100 }             /* two units each */
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        p = big + sprintf(big, "%s", head);

        for (n = 0; n < 102400 / strlen(t[i].character); n++) {
            p += sprintf(p, "%s", t[i].character);
        }

        p += sprintf(p, "\"}");

        body.data = big;
        body.len = p - big;

        answer(SM_GATEWAY_SMS, 200, body);
        is_int(outcome, SM_OUTCOME_REJECTED, "a reason of 100 KB");
        is_int(reason.len, t[i].kept * strlen(t[i].character),
               "clipped at a character of %zu bytes", strlen(t[i].character));
        ok(sm_utf8_check(reason) == reason.len, "valid UTF-8");
    }

    /* one unit is left for a character of two */

    p = big + sprintf(big, "%s", head);
    p += sprintf(p, "%0199d\xf0\x9f\x98\x80x\"}", 0);
    body.len = p - big;
    answer(SM_GATEWAY_SMS, 200, body);
    is_int(reason.len, 199, "no half of a pair");

    /* spaces in front do not count */

    p = big + sprintf(big, "%s%60000sreason\"}", head, "");
    body.len = p - big;
    answer(SM_GATEWAY_SMS, 200, body);
    expect(REJECTED("reason"), "60000 spaces in front");

    p = big + sprintf(big, "{\"status\":\"%060000d\"}", 0);
    body.len = p - big;
    answer(SM_GATEWAY_SMS, 200, body);
    is_int(outcome, SM_OUTCOME_ERROR, "a status of 60 KB");
    is_int(error.len, sizeof("HTTP 200 with unknown status \"\"") - 1 + 64,
           "clipped, its quote is closed");
    ok(error.data[error.len - 1] == '"', "the quote");
}


static void
test_retry_after(void)
{
    size_t  i;

    static const struct {
        sm_str_t  value;
        int64_t   expected;
    } t[] = {
        { sm_null_str, 0 },
        { sm_str(""), 0 },
        { sm_str(" "), 0 },
        { sm_str("0"), 0 },
        { sm_str("1"), 1000 },
        { sm_str(" 120 "), 120000 },
        { sm_str("007"), 7000 },
        { sm_str("86399"), 86399000 },
        { sm_str("86400"), SM_DELAY_MAX },
        { sm_str("86401"), SM_DELAY_MAX },
        { sm_str("9223372036854775808"), SM_DELAY_MAX },
        { sm_str("99999999999999999999999999999999999999999"), SM_DELAY_MAX },
        { sm_str("-1"), 0 },
        { sm_str("+1"), 0 },
        { sm_str("1.5"), 0 },
        { sm_str("1 2"), 0 },
        { sm_str("1s"), 0 },
        { sm_str("1\0"), 0 },
        { sm_str("99999999999999999999x"), 0 },
        { sm_str("Mon, 02 Feb 2026 12:00:10 GMT"), 0 }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(sm_answer_retry_after(t[i].value), t[i].expected,
               "Retry-After: %s", t[i].value.data ? t[i].value.data : "none");
    }
}


int
main(void)
{
    needs_no_store();

    test_json();
    test_statuses();
    test_clipped();
    test_retry_after();

    sm_arena_free(&arena);

    return done_testing();
}
