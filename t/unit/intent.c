
/*
 * What a client may send, and what it gets back, to the letter: the intent's
 * text is the API.  Broken by: counting bytes for characters, an id that two
 * stores would compare differently, a size that the text outgrows.
 */

#include <stdlib.h>

#include "sm_webhook.h"
#include "tap.h"


static sm_arena_t           arena;
static sm_json_error_t      err;
static sm_intent_request_t  req;


static int
parse(sm_str_t body)
{
    int    rc;
    char  *p;

    sm_arena_free(&arena);

    memset(&err, 0, sizeof(err));
    memset(&req, 0xff, sizeof(req));

    p = malloc(body.len);
    memcpy(p, body.data, body.len);

    body.data = p;
    rc = sm_intent_request_parse(&arena, body, &req, &err);

    /* the payload is a slice of the body, the rest is in the arena */

    if (rc == 0 && req.payload.len) {
        (void) sm_arena_strdup(&arena, &req.payload, req.payload);
    }

    free(p);

    return rc;
}


static void
test_request(void)
{
    size_t  i;

    static const struct {
        sm_str_t     body;
        sm_str_t     id;
        const char  *target;
        const char  *payload;
    } t[] = {
        { sm_str("{\"intentId\":\"a\",\"submissionTarget\":\"t\"}"),
          sm_str("a"), "t", NULL },
        { sm_str("{\"payload\": {\"n\" : 1.0} ,\"submissionTarget\":\"t\","
                 "\"intentId\":\"a\"}"),
          sm_str("a"), "t", "{\"n\" : 1.0}" },
        { sm_str("{\"intentId\":\"a\",\"submissionTarget\":\"t\","
                 "\"payload\":null}"),
          sm_str("a"), "t", "null" },
        { sm_str("{\"intentId\":\"a\",\"submissionTarget\":\"t\","
                 "\"payload\":\"\\u0061\"}"),
          sm_str("a"), "t", "\"\\u0061\"" },
        { sm_str("{\"intentId\":\"  a b \",\"submissionTarget\":\" t \"}"),
          sm_str("a b"), " t ", NULL },
        { sm_str("{\"intentId\":\"\\u0020\\u00e9\\ud83d\\ude00/%\\\"\\\\ \","
                 "\"submissionTarget\":\"\"}"),
          sm_str("\xc3\xa9\xf0\x9f\x98\x80/%\"\\"), "", NULL },
        { sm_str("{\"intentId\":\"\xc2\xa0\",\"submissionTarget\":\"t\"}"),
          sm_str("\xc2\xa0"), "t", NULL },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(parse(t[i].body), 0, "request %zu", i);
        is_mem(req.id.data, req.id.len, t[i].id.data, t[i].id.len, "its id");
        is_mem(req.target.data, req.target.len, t[i].target,
               strlen(t[i].target), "its target");

        if (t[i].payload) {
            is_mem(req.payload.data, req.payload.len, t[i].payload,
                   strlen(t[i].payload), "its payload");

        } else {
            is_int(req.payload.len, 0, "no payload");
        }

        is_int(req.posted.not_before, 0, "no time");
    }

    is_int(parse(sm_str_c("{\"intentId\":\"a\",\"submissionTarget\":\"t\","
                          "\"notBefore\":\"2026-02-02T13:00:10.5\\u002b01:00"
                          "\"}")), 0, "a request with a time");
    is_int(req.posted.not_before, 1770033610500000, "that one");
}


static void
test_request_errors(void)
{
    size_t  i;

#define ID(id)  sm_str("{\"intentId\":\"" id "\",\"submissionTarget\":\"t\"}")

    static const struct {
        sm_str_t     body;
        const char  *key;
        const char  *message;
    } t[] = {
        { sm_str("[]"), NULL, "an object was expected" },
        { sm_str("{}"), "intentId", "\"intentId\" is missing" },
        { sm_str("{\"intentId\":\"a\"}"), "submissionTarget",
          "\"submissionTarget\" is missing" },
        { sm_str("{\"intentId\":1}"), "intentId",
          "\"intentId\" must be a string" },
        { sm_str("{\"intentId\":\"a\",\"submissionTarget\":null}"),
          "submissionTarget", "\"submissionTarget\" must be a string" },
        { sm_str("{\"intentid\":\"a\"}"), "intentid", "unknown key \"intentid\"" },
        { sm_str("{\"payload\":1,\"payload\":1}"), "payload",
          "duplicate key \"payload\"" },

        { sm_str("{\"intentId\":\"a\",\"submissionTarget\":\"t\","
                 "\"notBefore\":1770033610}"), "notBefore",
          "\"notBefore\" must be a string" },
        { sm_str("{\"intentId\":\"a\",\"submissionTarget\":\"t\","
                 "\"notBefore\":null}"), "notBefore",
          "\"notBefore\" must be a string" },
        { sm_str("{\"intentId\":\"a\",\"submissionTarget\":\"t\","
                 "\"notBefore\":\"\"}"), "notBefore",
          "\"notBefore\" must be a time of RFC 3339 with an offset, such as "
          "\"2026-02-02T12:00:10Z\" or \"2026-02-02T13:00:10.5+01:00\"" },

        { ID(""), "intentId", "\"intentId\" must not be empty" },
        { ID("   "), "intentId", "\"intentId\" must not be empty" },
        { ID("\\u0020"), "intentId", "\"intentId\" must not be empty" },
        { ID("a\\u0000b"), "intentId",
          "\"intentId\" must not contain control characters" },
        { ID("\\u0000"), "intentId",
          "\"intentId\" must not contain control characters" },
        { ID("a\\n"), "intentId",
          "\"intentId\" must not contain control characters" },
        { ID("\\ta"), "intentId",
          "\"intentId\" must not contain control characters" },
        { ID("\x7f"), "intentId",
          "\"intentId\" must not contain control characters" },
        { ID("a\\u0085"), "intentId",
          "\"intentId\" must not contain control characters" },
        { ID("\\ud800"), "intentId",
          "a string at byte 12 has a lone surrogate" },
        { ID("\xc3"), NULL, "invalid UTF-8 at byte 13" },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(parse(t[i].body), -1, "refused: %s", t[i].message);
        is_str(err.message, t[i].message, "the message");
        is_str(err.key, t[i].key, "the key at fault");
    }
}


static void
test_id_length(void)
{
    char      body[4096];
    size_t    i, k, n;
    sm_str_t  s = { 0, body };

    /* a character as it is, escaped, and padded with what is trimmed off */

    static const char *const  t[] = {
        "x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\\u00e9",
        "\\ud83d\\ude00"
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        for (n = 200; n <= 201; n++) {
            s.len = (size_t) sprintf(body, "{\"submissionTarget\":\"t\","
                                     "\"intentId\":\"   ");

            for (k = 0; k < n; k++) {
                s.len += (size_t) sprintf(body + s.len, "%s", t[i]);
            }

            s.len += (size_t) sprintf(body + s.len, "  \"}");

            is_int(parse(s), n == 200 ? 0 : -1, "an id of %zu times %s", n,
                   t[i]);
            is_str(err.message,
                   n == 200 ? ""
                   : "\"intentId\" must not be longer than 200 characters",
                   "the message");
        }
    }

    ok(sm_id_check(sm_str_c("\xc3")) != NULL, "an id that is not UTF-8");
}


static void
test_status(void)
{
    size_t  i;

    static const char *const  t[] = {
        "pending", "accepted", "rejected", "exhausted"
    };

    for (i = 0; i < 4; i++) {
        is_str(sm_status_name(SM_STATUS_PENDING + i).data, t[i], "%s", t[i]);
        is_int(sm_status_by_name(sm_str_c(t[i])), SM_STATUS_PENDING + i,
               "and back");
    }

    is_int(sm_status_by_name(sm_str_c("")), SM_STATUS_NONE, "no status");
    is_int(sm_status_by_name(sm_str_c("Pending")), SM_STATUS_NONE, "case");
    is_int(sm_status_by_name(sm_str_c("pendin")), SM_STATUS_NONE, "short");
}


/* Checks what is written of an intent or an attempt. */

static void
out_is(const sm_field_t *fields, const void *entity, const char *expected,
    const char *name)
{
    sm_out_t    out;
    sm_str_t    text;
    sm_arena_t  arena = { NULL };

    sm_out_init_arena(&out, &arena);

    if (fields == sm_intent_fields) {
        sm_intent_out(&out, entity);

    } else {
        sm_attempt_out(&out, entity);
    }

    is_int(sm_out_done(&out, &text), 0, "%s is written", name);
    is_mem(text.data, text.len, expected, strlen(expected), "%s", name);

    sm_arena_free(&arena);
}


#define TIME         "2026-02-02T12:00:10.123456Z"
#define HEAD         "{\"intentId\":\"a-1\","                                  \
                     "\"submissionTarget\":\"sms.realtime\","                  \
                     "\"createdAt\":\"" TIME "\","
#define ENDED        "\"attemptCount\":2,"                                     \
                     "\"completedAt\":\"2026-02-02T12:00:16.000000Z\""


static void
test_intent_out(void)
{
    size_t  k;

    static const struct {
        sm_intent_t   intent;
        const char   *expected;
        const char   *name;
    } t[] = {
        { { .id = sm_str("a-1"), .target = sm_str("sms.realtime"),
            .status = SM_STATUS_PENDING, .created_at = 1770033610123456 },
          HEAD "\"status\":\"pending\",\"attemptCount\":0}", "the least" },

        { { .id = sm_str("a-1"), .target = sm_str("sms.realtime"),
            .status = SM_STATUS_PENDING, .created_at = 1770033610123456,
            .attempt_count = 2, .next_attempt_at = 1770033615000000 },
          HEAD "\"status\":\"pending\",\"attemptCount\":2,"
          "\"nextAttemptAt\":\"2026-02-02T12:00:15.000000Z\"}", "pending" },

        { { .id = sm_str("a-1"), .target = sm_str("sms.realtime"),
            .status = SM_STATUS_ACCEPTED, .created_at = 1770033610123456,
            .attempt_count = 2, .completed_at = 1770033616000000 },
          HEAD "\"status\":\"accepted\"," ENDED "}", "accepted" },

        { { .id = sm_str("a-1"), .target = sm_str("sms.realtime"),
            .status = SM_STATUS_REJECTED, .created_at = 1770033610123456,
            .attempt_count = 2, .completed_at = 1770033616000000,
            .rejected_reason = sm_str("invalid_request") },
          HEAD "\"status\":\"rejected\"," ENDED
          ",\"rejectedReason\":\"invalid_request\"}", "rejected" },

        { { .id = sm_str("a-1"), .target = sm_str("sms.realtime"),
            .status = SM_STATUS_EXHAUSTED, .created_at = 1770033610123456,
            .attempt_count = 2, .completed_at = 1770033616000000,
            .rejected_reason = { 0, "invalid_request" },
            .exhausted_reason = sm_str("max_attempts") },
          HEAD "\"status\":\"exhausted\"," ENDED
          ",\"exhaustedReason\":\"max_attempts\"}", "exhausted" },

        { { .id = sm_str("\"\\\x01\xc3\xa9"), .target = sm_str("\n"),
            .status = SM_STATUS_EXHAUSTED, .created_at = 1770033610123456,
            .attempt_count = 2, .completed_at = 1770033616000000,
            .exhausted_reason = sm_str("\x1f") },
          "{\"intentId\":\"\\\"\\\\\\u0001\xc3\xa9\","
          "\"submissionTarget\":\"\\u000a\",\"createdAt\":\"" TIME "\","
          "\"status\":\"exhausted\"," ENDED
          ",\"exhaustedReason\":\"\\u001f\"}", "escaped" },

        { { .id = sm_str("a-1"), .target = sm_str("t"),
            .status = SM_STATUS_PENDING, .created_at = 1770033610123456,
            .posted.not_before = 1770033615000000, .in_flight = 1,
            .last_error = sm_str("HTTP 503 \"\""), .replay_of = sm_str("a\n"),
            .stripped = 1 },
          "{\"intentId\":\"a-1\",\"submissionTarget\":\"t\","
          "\"createdAt\":\"" TIME "\","
          "\"status\":\"pending\",\"attemptCount\":0,"
          "\"notBefore\":\"2026-02-02T12:00:15.000000Z\","
          "\"inFlight\":true,\"lastError\":\"HTTP 503 \\\"\\\"\","
          "\"replayOf\":\"a\\u000a\",\"stripped\":true}", "what may be" }
    };

    for (k = 0; k < sm_nelts(t); k++) {
        out_is(sm_intent_fields, &t[k].intent, t[k].expected, t[k].name);
    }
}


#define ATTEMPT  ",\"leaseEpoch\":7,"                                         \
                 "\"startedAt\":\"2026-02-02T12:00:10.000000Z\","              \
                 "\"finishedAt\":\"2026-02-02T12:00:10.250000Z\","

static void
test_attempt_out(void)
{
    size_t  k;

    static const struct {
        sm_attempt_t   attempt;
        const char    *expected;
        const char    *name;
    } t[] = {
        { { .number = 1, .epoch = 7, .started_at = 1770033610000000,
            .finished_at = 1770033610250000,
            .outcome_status = sm_str("accepted") },
          "{\"attemptNumber\":1" ATTEMPT "\"outcomeStatus\":\"accepted\","
          "\"outcomeReason\":null,\"error\":null}", "an accepted attempt" },

        { { .number = 12, .epoch = 7, .started_at = 1770033610000000,
            .finished_at = 1770033610250000,
            .outcome_status = sm_str("rejected"),
            .outcome_reason = sm_str("invalid_request"),
            .error = sm_str("a \"quoted\"\n") },
          "{\"attemptNumber\":12" ATTEMPT "\"outcomeStatus\":\"rejected\","
          "\"outcomeReason\":\"invalid_request\","
          "\"error\":\"a \\\"quoted\\\"\\u000a\"}", "a rejected attempt" },

        { { .number = 12, .epoch = 7, .started_at = 1770033610000000,
            .finished_at = 1770033610250000,
            .outcome_status = sm_str("rejected"),
            .outcome_reason = { 0, "invalid_request" },
            .error = { 0, "a" }, .http_status = 503,
            .answer = sm_str("no \"luck\"") },
          "{\"attemptNumber\":12" ATTEMPT "\"outcomeStatus\":\"rejected\","
          "\"outcomeReason\":null,\"error\":null,\"httpStatus\":503,"
          "\"answer\":\"no \\\"luck\\\"\"}", "with the answer" }
    };

    for (k = 0; k < sm_nelts(t); k++) {
        out_is(sm_attempt_fields, &t[k].attempt, t[k].expected, t[k].name);
    }
}


/* What the store keeps for a message of a webhook becomes its body, or not. */

#define FACTS(status)  "\"id\":\"a\",\"target\":\"t\",\"status\":"             \
                       "\"" status "\",\"created\":1,\"attempts\":2,"          \
                       "\"completed\":3000000"

#define BODY(status)   "{\"type\":\"intent." status "\",\"timestamp\":"        \
                       "\"1970-01-01T00:00:03.000000Z\",\"data\":{"            \
                       "\"intentId\":\"a\",\"submissionTarget\":\"t\","        \
                       "\"createdAt\":\"1970-01-01T00:00:00.000001Z\","        \
                       "\"status\":\"" status "\",\"attemptCount\":2,"         \
                       "\"completedAt\":\"1970-01-01T00:00:03.000000Z\""

static void
test_facts(void)
{
    size_t    i;
    sm_str_t  body;

    static const struct {
        const char  *facts;
        const char  *body;          /* NULL: they are not understood */
    } t[] = {
        { "{" FACTS("accepted") "}", BODY("accepted") "}}" },
        { "{\"new\":{}," FACTS("canceled") "}", BODY("canceled") "}}" },
        { "{" FACTS("accepted") ",\"before\":4000000}",
          BODY("accepted")
          ",\"notBefore\":\"1970-01-01T00:00:04.000000Z\"}}" },
        { "{" FACTS("accepted") ",\"before\":null,\"error\":null}",
          BODY("accepted") "}}" },
        { "{" FACTS("accepted") ",\"before\":-1}", BODY("accepted") "}}" },
        { "{" FACTS("accepted") ",\"before\":9223372036854775808}",
          BODY("accepted") "}}" },
        { "{" FACTS("rejected") ",\"reason\":\"fraud\",\"replay\":\"b\"}",
          BODY("rejected")
          ",\"rejectedReason\":\"fraud\",\"replayOf\":\"b\"}}" },
        { "{" FACTS("exhausted") ",\"reason\":\"fraud\",\"error\":\"e\","
          "\"exhausted\":\"one_shot\"}",
          BODY("exhausted")
          ",\"exhaustedReason\":\"one_shot\",\"lastError\":\"e\"}}" },

        { "{" FACTS("") "}", NULL },
        { "{" FACTS("Accepted") "}", NULL },
        { "{" FACTS("accepted") ",\"before\":\"1\"}", NULL },
        { "{" FACTS("accepted") ",\"error\":1}", NULL },
        { "{\"id\":\"a\",\"target\":\"t\",\"status\":\"accepted\","
          "\"created\":1,\"attempts\":2,\"completed\":0}", NULL },
        { "{\"id\":\"a\",\"target\":\"t\",\"status\":\"accepted\","
          "\"created\":null,\"attempts\":2,\"completed\":3}", NULL },
        { "{\"target\":\"t\",\"status\":\"accepted\","
          "\"created\":1,\"attempts\":2,\"completed\":3}", NULL },
        { "{}", NULL },
        { "", NULL }
    };

    for (i = 0; i < sm_nelts(t); i++) {
        is_int(sm_webhook_body(&arena, sm_str_c(t[i].facts), &body),
               t[i].body ? 0 : 1, "facts %zu", i);

        if (t[i].body) {
            is_mem(body.data, body.len, t[i].body, strlen(t[i].body),
                   "the body of a message");
        }
    }
}


/* the ids of replays: whole lines, as many as are shown */

static void
test_lines(void)
{
    size_t       i;
    sm_intent_t  intent;

    static const struct {
        const char  *lines, *shown;
    } t[] = {
        { "", "" },
        { "a\n", ",\"replayedAs\":[\"a\"],\"replayedCount\":3" },
        { "a~2\na \"1\"\n",
          ",\"replayedAs\":[\"a~2\",\"a \\\"1\\\"\"],\"replayedCount\":3" },
        { "a\nb\ncut of",
          ",\"replayedAs\":[\"a\",\"b\"],\"replayedCount\":3" },
        { "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
          ",\"replayedAs\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\","
          "\"9\",\"10\"],\"replayedCount\":3" }
    };

    for (i = 0; i < sm_nelts(t); i++) {
        char  expected[256];

        memset(&intent, 0, sizeof(intent));

        intent.id = sm_str_c("a-1");
        intent.target = sm_str_c("sms.realtime");
        intent.status = SM_STATUS_CANCELED;
        intent.replayed_as = sm_str_c(t[i].lines);
        intent.replay_count = t[i].lines[0] ? 3 : 0;

        (void) snprintf(expected, sizeof(expected),
                        "{\"intentId\":\"a-1\","
                        "\"submissionTarget\":\"sms.realtime\","
                        "\"createdAt\":\"1970-01-01T00:00:00.000000Z\","
                        "\"status\":\"canceled\",\"attemptCount\":0%s}",
                        t[i].shown);

        out_is(sm_intent_fields, &intent, expected, "lines");
    }
}


/* every byte escaped, every number at its longest, every field there */

static void
test_sizes(void)
{
    char          bytes[1000];
    size_t        len;
    sm_out_t      out;
    sm_str_t      s = { 0, bytes }, text;
    unsigned      bad, b;
    sm_arena_t    arena = { NULL };
    sm_intent_t   i;
    sm_attempt_t  a;

    memset(bytes, 1, sizeof(bytes));
    memset(&i, 0, sizeof(i));
    memset(&a, 0, sizeof(a));

    for (len = 0, bad = 0; len <= sizeof(bytes); len += 50) {
        s.len = len;

        for (b = 0; b < 2; b++) {
            i.id = i.target = i.rejected_reason = i.exhausted_reason = s;
            i.status = SM_STATUS_EXHAUSTED;
            i.attempt_count = INT64_MIN;
            i.created_at = b ? INT64_MAX : INT64_MIN;
            i.next_attempt_at = i.completed_at = i.created_at;
            i.posted.not_before = i.created_at;
            i.last_error = i.replay_of = i.last_reason = i.replayed_as = s;
            i.replay_count = INT64_MIN;
            i.in_flight = i.stripped = 1;

            sm_out_init_arena(&out, &arena);
            sm_intent_out(&out, &i);
            bad += sm_out_done(&out, &text) != 0 || text.len < 6 * 6 * len
                   || text.data[0] != '{' || text.data[text.len - 1] != '}';

            a.number = INT64_MIN;
            a.epoch = INT64_MIN;
            a.started_at = a.finished_at = i.created_at;
            a.outcome_status = a.outcome_reason = a.error = a.answer = s;
            a.span_id = s;
            a.http_status = INT64_MIN;

            sm_out_init_arena(&out, &arena);
            sm_attempt_out(&out, &a);
            bad += sm_out_done(&out, &text) != 0 || text.len < 5 * 6 * len
                   || text.data[0] != '{' || text.data[text.len - 1] != '}';

            sm_arena_free(&arena);
        }
    }

    is_int(bad, 0, "the longest ones are whole");
}


/* every text, and nothing but texts, is the copy's own */

static void
test_own(void)
{
    char         *buf;
    size_t        size;
    sm_str_t      a, b;
    sm_out_t      out;
    sm_intent_t   i, copy;

    memset(&i, 0, sizeof(i));

    i.id = sm_str_c("id");
    i.target = sm_str_c("target");
    i.status = SM_STATUS_REJECTED;
    i.rejected_reason = sm_str_c("fraud");
    i.last_error = sm_str_c("error");
    i.replay_of = sm_str_c("first");
    i.traceparent = sm_str_c("00-0af7651916cd43dd8448eb211c80319c"
                             "-b7ad6b7169203331-01");
    i.hash = sm_str_c("hash");

    copy = i;
    size = sm_fields_size(sm_intent_fields, &i);
    is_int(size, 2 + 6 + 5 + 5 + 5 + 55 + 4, "the size of all texts");

    buf = malloc(size);
    sm_fields_own(sm_intent_fields, &copy, buf);

    ok(copy.id.data == buf && copy.target.data == buf + 2
       && copy.traceparent.data == buf + 23 && copy.hash.data == buf + 78,
       "the texts are in the buffer");
    ok(copy.exhausted_reason.data == NULL, "a text that is not there is none");

    sm_out_init_arena(&out, &arena);
    sm_intent_out(&out, &i);
    (void) sm_out_done(&out, &a);

    sm_out_init_arena(&out, &arena);
    sm_intent_out(&out, &copy);
    (void) sm_out_done(&out, &b);

    ok(sm_str_eq(a, b), "the copy is the same intent");

    free(buf);
}


int
main(void)
{
    needs_no_store();

    test_request();
    test_request_errors();
    test_id_length();
    test_status();
    test_intent_out();
    test_attempt_out();
    test_facts();
    test_lines();
    test_sizes();
    test_own();

    sm_arena_free(&arena);

    return done_testing();
}
