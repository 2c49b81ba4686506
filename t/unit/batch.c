
/*
 * The document of a batch is what every store's SQL reads: its keys, its
 * offsets and its numbering of contracts are an interface.  Broken by: an
 * offset that is not of its payload, a contract per row, a size that the
 * document outgrows.
 */

#include <stdlib.h>

#include "sm_batch.h"
#include "tap.h"


#define HASH  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"


static sm_arena_t  arena;

static const sm_contract_t  sms = {
    .target = sm_str("sms"), .gateway_type = SM_GATEWAY_SMS,
    .gateway_url = sm_str("http://sms"), .policy = SM_POLICY_DEADLINE,
    .max_acceptance_seconds = 30, .max_attempts = 99,
    .terminal_outcomes = sm_str("invalid_request invalid_message"),
    .retry_delay = 5000, .retry_backoff = 100
};

static const sm_contract_t  push = {
    .target = sm_str("p\"1\\"), .gateway_type = SM_GATEWAY_PUSH,
    .gateway_url = sm_str("http://push"), .policy = SM_POLICY_MAX_ATTEMPTS,
    .max_acceptance_seconds = 99, .max_attempts = 3,
    .retry_delay = 1, .retry_max = 60000, .retry_backoff = 250,
    .retry_jitter = 20
};

static const sm_contract_t  hook = {
    .target = sm_str("hook"), .gateway_type = SM_GATEWAY_HTTP,
    .gateway_url = sm_str("https://hook"), .policy = SM_POLICY_ONE_SHOT,
    .max_acceptance_seconds = 99, .max_attempts = 99,
    .retry_delay = 5000, .retry_backoff = 100
};

#define SMS_DOC                                                               \
    "{\"target\":\"sms\",\"gatewayType\":\"sms\","                            \
    "\"gatewayUrl\":\"http://sms\",\"policy\":\"deadline\","                  \
    "\"maxAcceptanceSeconds\":30,"                                            \
    "\"terminalOutcomes\":\"invalid_request invalid_message\","               \
    "\"retryDelayMs\":5000,\"retryMaxMs\":0,\"retryBackoffPct\":100,"         \
    "\"retryJitterPct\":0}"

#define PUSH_DOC                                                              \
    "{\"target\":\"p\\\"1\\\\\",\"gatewayType\":\"push\","                    \
    "\"gatewayUrl\":\"http://push\",\"policy\":\"max_attempts\","             \
    "\"maxAttempts\":3,\"terminalOutcomes\":\"\",\"retryDelayMs\":1,"         \
    "\"retryMaxMs\":60000,\"retryBackoffPct\":250,\"retryJitterPct\":20}"

#define HOOK_DOC                                                              \
    "{\"target\":\"hook\",\"gatewayType\":\"http\","                          \
    "\"gatewayUrl\":\"https://hook\",\"policy\":\"one_shot\","                \
    "\"terminalOutcomes\":\"\",\"retryDelayMs\":5000,\"retryMaxMs\":0,"       \
    "\"retryBackoffPct\":100,\"retryJitterPct\":0}"

#define ROW_DOC(id, contract, offset, length)                                 \
    "{\"id\":\"" id "\",\"contract\":" contract ",\"hash\":\"" HASH "\","     \
    "\"offset\":" offset ",\"length\":" length "}"


static void
row(sm_submit_row_t *r, const char *id, const sm_contract_t *contract,
    const char *payload, size_t len)
{
    memset(r, 0, sizeof(sm_submit_row_t));

    r->id = sm_str_c(id);
    r->contract = contract;
    r->payload.data = payload;
    r->payload.len = len;

    memcpy(r->hash, HASH, SM_HASH_LEN);
}


static void
submit_is(const sm_submit_row_t *rows, size_t n, const char *bytes,
    const char *expected, const char *name)
{
    sm_str_t  doc;

    sm_arena_free(&arena);

    is_int(sm_batch_submit_doc(&arena, rows, n, bytes, &doc), 0, "%s", name);
    is_mem(doc.data, doc.len, expected, strlen(expected), "its document");
}


static void
test_submit(void)
{
    const char       *bytes = "0123456789";
    sm_submit_row_t   r[5];

    row(&r[0], "a", &sms, bytes, 10);
    submit_is(r, 1, bytes,
              "{\"contracts\":[" SMS_DOC "],\"rows\":["
              ROW_DOC("a", "0", "0", "10") "]}", "one row");

    row(&r[0], "a\\", &push, bytes + 2, 3);
    row(&r[1], "\xc3\xa9\"", &sms, bytes, 2);
    row(&r[2], "c", &push, NULL, 0);
    row(&r[3], "d", &hook, bytes + 5, 5);
    row(&r[4], "a\\", &sms, bytes + 5, 0);

    submit_is(r, 5, bytes,
              "{\"contracts\":[" PUSH_DOC "," SMS_DOC "," HOOK_DOC "],"
              "\"rows\":["
              ROW_DOC("a\\\\", "0", "2", "3") ","
              ROW_DOC("\xc3\xa9\\\"", "1", "0", "2") ","
              ROW_DOC("c", "0", "0", "0") ","
              ROW_DOC("d", "2", "5", "5") ","
              ROW_DOC("a\\\\", "1", "0", "0") "]}",
              "a contract is written once, offsets are of the bytes");

    submit_is(r, 0, bytes, "{\"contracts\":[],\"rows\":[]}", "no rows");

    row(&r[0], "a", &hook, NULL, 0);
    submit_is(r, 1, NULL,
              "{\"contracts\":[" HOOK_DOC "],\"rows\":["
              ROW_DOC("a", "0", "0", "0") "]}", "no bytes at all");
}


static void
test_ids(void)
{
    sm_str_t      doc;
    sm_get_row_t  r[3] = {
        { .id = sm_str("a") }, { .id = sm_str("b\"\\\x01\xe2\x82\xac") },
        { .id = sm_str("a") }
    };

    is_int(sm_batch_ids_doc(&arena, r, 3, &doc), 0, "three ids");
    is_mem(doc.data, doc.len, "[\"a\",\"b\\\"\\\\\\u0001\xe2\x82\xac\",\"a\"]",
           26, "their document");

    is_int(sm_batch_ids_doc(&arena, r, 1, &doc), 0, "one id");
    is_mem(doc.data, doc.len, "[\"a\"]", 5, "its document");

    is_int(sm_batch_ids_doc(&arena, r, 0, &doc), 0, "no ids");
    is_mem(doc.data, doc.len, "[]", 2, "their document");
}


/* every byte escaped, every number at its longest */

static void
test_sizes(void)
{
    char             bytes[800];
    size_t           n;
    sm_str_t         doc, s = { sizeof(bytes), bytes };
    unsigned         bad;
    sm_get_row_t     g[20];
    sm_contract_t    c[20];
    sm_submit_row_t  r[20];

    memset(bytes, 1, sizeof(bytes));

    for (n = 0; n < 20; n++) {
        c[n].target = c[n].gateway_url = c[n].terminal_outcomes = s;
        c[n].gateway_type = SM_GATEWAY_PUSH;
        c[n].policy = n % 2 ? SM_POLICY_MAX_ATTEMPTS : SM_POLICY_DEADLINE;
        c[n].max_acceptance_seconds = c[n].max_attempts = INT64_MIN;
        c[n].retry_delay = c[n].retry_max = INT64_MIN;
        c[n].retry_backoff = c[n].retry_jitter = INT64_MIN;

        row(&r[n], "", &c[n], bytes, SIZE_MAX / 2);
        r[n].id = g[n].id = s;
    }

    for (n = 0, bad = 0; n <= 20; n++) {
        bad += sm_batch_submit_doc(&arena, r, n, bytes, &doc) != 0;
        bad += sm_batch_ids_doc(&arena, g, n, &doc) != 0;
        sm_arena_free(&arena);
    }

    is_int(bad, 0, "the worst case fits its size");
}


int
main(void)
{
    test_submit();
    test_ids();
    test_sizes();

    sm_arena_free(&arena);

    return done_testing();
}
