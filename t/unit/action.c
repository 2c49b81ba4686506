
/*
 * The ids of replays, the documents of contracts, and entries of the audit as
 * they are shown.  Broken by: a duplicate that would get another id; a number of
 * an id that is a client's own and is taken for that of a replay; an id that is
 * too long; a detail that is not JSON and is shown as if it were.
 */

#include "sm_action.h"
#include "tap.h"


static sm_arena_t  arena;


static const char *
nth_replay_id(const char *id, const char *of, int64_t nth)
{
    int               rc;
    unsigned          too_long;
    sm_str_t          s;
    static char       text[1024];
    sm_payload_row_t  source;

    memset(&source, 0, sizeof(source));
    source.id = sm_str_c(id);

    if (of) {
        source.replay_of = sm_str_c(of);
    }

    rc = sm_replay_id(&arena, &source, nth, &s, &too_long);

    if (rc != 0) {
        return too_long ? "too long" : "no memory";
    }

    (void) snprintf(text, sizeof(text), "%.*s", (int) s.len, s.data);

    return text;
}


static const char *
replay_id(const char *id, const char *of)
{
    return nth_replay_id(id, of, 1);
}


static void
test_ids(void)
{
    char  id[210];

    is_str(replay_id("a", NULL), "a~1", "the first");
    is_str(replay_id("a~1", "a"), "a~2", "a replay of it");
    is_str(nth_replay_id("a", NULL, 3), "a~3", "the third");
    is_str(nth_replay_id("a~2", "a", 3), "a~5", "and that of a replay");
    is_str(replay_id("a~9", "a~8"), "a~10", "of the ninth");
    is_str(replay_id("a~1", NULL), "a~1~1", "an id of a client's own");
    is_str(replay_id("a~", "x"), "a~~1", "no number");
    is_str(replay_id("a~01", "x"), "a~01~1", "no number of ours");
    is_str(replay_id("a~1x", "x"), "a~1x~1", "something after it");
    is_str(replay_id("~1", "x"), "~1~1", "nothing before it");
    is_str(replay_id("a~999999999", "x"), "a~1000000000", "a large one");
    is_str(replay_id("a~9999999999", "x"), "a~9999999999~1", "too large");
    is_str(replay_id("mine", "a"), "mine~1", "a replay with a name");

    memset(id, 'l', 200);

    id[198] = '\0';
    is_int(strlen(replay_id(id, NULL)), 200, "the longest");

    id[198] = 'l';
    id[199] = '\0';
    is_str(replay_id(id, NULL), "too long", "one more");
}


static const char *
shown(const char *detail)
{
    sm_out_t     out;
    sm_audit_t   entry;
    static char  text[2048];

    memset(&entry, 0, sizeof(entry));

    entry.at = 1000000;
    entry.actor = sm_str_c("a\"b");
    entry.action = sm_str_c("replay");
    entry.object = sm_str_c("x");

    if (detail) {
        entry.detail = sm_str_c(detail);
    }

    sm_out_init(&out, text, sizeof(text) - 1);
    sm_audit_out(&out, &entry);
    *out.last = '\0';

    return out.full ? "full" : text;
}


#define SHOWN  "{\"at\":\"1970-01-01T00:00:01.000000Z\",\"actor\":\"a\\\"b\"," \
               "\"address\":null,\"action\":\"replay\",\"object\":\"x\","      \
               "\"detail\":"


static void
test_audit(void)
{
    is_str(shown(NULL), SHOWN "null}", "no detail");
    is_str(shown("{\"intentId\":\"x~1\"}"),
           SHOWN "{\"intentId\":\"x~1\"}}", "an object");
    is_str(shown("{}"), SHOWN "{}}", "an empty one");
    is_str(shown("{\"a"), SHOWN "\"{\\\"a\"}", "a broken one");
    is_str(shown("[1]"), SHOWN "\"[1]\"}", "an array");
    is_str(shown("{} x"), SHOWN "\"{} x\"}", "something after it");
    is_str(shown("by hand"), SHOWN "\"by hand\"}", "words");
}


static void
test_documents(void)
{
    sm_str_t              doc;
    static const char    *expected =
        "{\"target\":\"t\",\"type\":\"http\",\"url\":\"http://\\\"\","
        "\"policy\":\"max_attempts\",\"attempts\":3,\"outcomes\":\"\","
        "\"delay\":5,\"max\":0,\"backoff\":100,\"jitter\":0}";
    static sm_contract_t  c = {
        .target = sm_str("t"), .gateway_type = SM_GATEWAY_HTTP,
        .gateway_url = sm_str("http://\""), .policy = SM_POLICY_MAX_ATTEMPTS,
        .max_attempts = 3, .terminal_outcomes = sm_str(""), .retry_delay = 5,
        .retry_backoff = 100
    };

    is_int(sm_contract_doc(&arena, &c, &doc), 0, "a contract");
    is_mem(doc.data, doc.len, expected, strlen(expected), "its document");

    is_int(sm_replay_detail(&arena, sm_str_c("a\"~1"), 0, &doc), 0,
           "the detail of a replay");
    is_mem(doc.data, doc.len, "{\"intentId\":\"a\\\"~1\"}", 20, "its id");

    is_int(sm_replay_detail(&arena, sm_str_c("b"), 1, &doc), 0,
           "with the original contract");
    is_mem(doc.data, doc.len, "{\"intentId\":\"b\",\"contract\":\"original\"}",
           38, "that too");
}


int
main(void)
{
    needs_no_store();

    test_ids();
    test_audit();
    test_documents();

    sm_arena_free(&arena);

    return done_testing();
}
