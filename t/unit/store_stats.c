
/*
 * The leader's numbers in every store, and the count of the backlog where there
 * is no leader.  Broken by: a fence that is not looked at; numbers of another
 * lease, or of before; a document that comes back changed, or again and again
 * to whoever has it; a count without a bound, or of what has ended.
 */

#include "sql_clock.h"


static const sm_fence_t  a1 = { sm_str("a"), 1 };
static const sm_fence_t  b1 = { sm_str("b"), 1 };


static int
put(fixture_t *f, const sm_fence_t *fence, sm_str_t doc)
{
    return sm_store_stats_put(&f->store, new_call(f), fence, doc);
}


static sm_stats_row_t
get(fixture_t *f, int64_t seen)
{
    sm_stats_row_t  row;

    memset(&row, 0xff, sizeof(sm_stats_row_t));
    row.seen = seen;

    must(sm_store_stats_get(&f->store, new_call(f), &row) == 0);

    return row;
}


static void
test_stats(fixture_t *f)
{
    char            *big;
    size_t           i;
    int64_t          at;
    sm_str_t         doc;
    sm_stats_row_t   row;

    row = get(f, 0);
    ok(row.at == 0 && row.doc.len == 0, "there are none at first");

    ok(put(f, &b1, sm_str_c("{}")) != 0, "the fence is looked at");
    is_int(f->call.status, SM_STORE_LEASE_LOST, "whose lease is not held");
    is_int(get(f, 0).at, 0, "and nothing was written");

    ok(put(f, &a1, sm_str_c("{\"a\":\"\xc3\xa9 '\\u0041\"}")) == 0,
       "the leader writes");
    is_int(f->call.now, START * 1000, "and is told the time");

    row = get(f, 0);
    is_int(row.epoch, 1, "its epoch");
    is_int(row.at, START * 1000, "its time");
    is_mem(row.doc.data, row.doc.len, "{\"a\":\"\xc3\xa9 '\\u0041\"}", 18,
           "its document, as it was");

    at = row.at;
    row = get(f, at);
    ok(row.at == at && row.doc.len == 0, "whoever has it does not get it again");

    now_ms = START + 5000;
    ok(put(f, &a1, sm_str_c("{}")) == 0, "the next");
    row = get(f, at);
    is_int(row.at, (START + 5000) * 1000, "is in its place");
    is_mem(row.doc.data, row.doc.len, "{}", 2, "with its document");

    big = malloc(SM_STATS_MAX);
    must(big != NULL);

    for (i = 0; i < SM_STATS_MAX; i++) {
        big[i] = "0123456789abcdef"[i * 7 % 16];
    }

    doc.data = big;
    doc.len = SM_STATS_MAX;

    now_ms = START + 10000;
    ok(put(f, &a1, doc) == 0, "as long as it gets");
    row = get(f, 0);
    is_mem(row.doc.data, row.doc.len, big, SM_STATS_MAX, "and back");
    free(big);
}


static sm_backlog_t
backlog(fixture_t *f)
{
    sm_backlog_t  b;

    memset(&b, 0xff, sizeof(sm_backlog_t));
    must(sm_store_backlog_get(&f->store, new_call(f), &b) == 0);

    return b;
}


static void
test_backlog(fixture_t *f)
{
    sm_backlog_t   b;
    sm_contract_t  push;

    b = backlog(f);
    ok(b.n == 0 && !b.partial, "no backlog at first");

    push = sms;
    push.target = sm_str_c("push");

    must(outcome(f, "s-1", &sms, "{}") == SM_SUBMIT_CREATED);
    must(outcome(f, "s-2", &sms, "{}") == SM_SUBMIT_CREATED);
    must(outcome(f, "s-3", &sms, "{}") == SM_SUBMIT_CREATED);
    must(outcome(f, "p-1", &push, "{}") == SM_SUBMIT_CREATED);
    must(outcome(f, "p-2", &push, "{}") == SM_SUBMIT_CREATED);

    sql(f, "UPDATE submission_intents SET next_attempt_at = %lld "
        "WHERE intent_id = 's-2'", (long long) (START + 3600000) * 1000);
    sql(f, "UPDATE submission_intents SET status = 'accepted', "
        "next_attempt_at = NULL, completed_at = %lld WHERE intent_id = 'p-2'",
        (long long) START * 1000);

    now_ms = START + 20000;
    b = backlog(f);

    is_int(b.n, 2, "two targets");
    is_int(b.now, (START + 20000) * 1000, "by the store's time");
    ok(!b.partial, "all of it");
    is_mem(b.targets[0].target.data, b.targets[0].target.len, "push", 4,
           "in the order of their names");
    is_int(b.targets[0].due, 1, "what has ended does not count");
    is_int(b.targets[1].due, 2, "what is due");
    is_int(b.targets[1].waiting, 1, "and what waits for its time");
    is_int(b.targets[1].oldest_due_at, (START + 10000) * 1000,
           "the oldest of them");
}


/* more than are counted, and history beside it */

static void
fill(fixture_t *f, int first, int n, const char *status, const char *due)
{
    sql(f, "WITH RECURSIVE n(i) AS "
        "(SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) "
        "INSERT INTO submission_intents (lease_name, intent_id, "
        "submission_target, payload_hash, gateway_type, gateway_url, policy, "
        "terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct, "
        "retry_jitter_pct, status, attempt_count, created_at, "
        "last_modified_at, next_attempt_at, payload) "
        "SELECT 'main', 'id-' || i, 'a', 'h', 'sms', 'http://a', 'one_shot', "
        "'', 1, 0, 100, 0, '%s', 0, 5000, 1000 + i, %s, '' FROM n",
        first, first + n, status, due);
}


static void
test_bound(fixture_t *f)
{
    sm_backlog_t  b;

    sql(f, "DELETE FROM submission_intents");

    fill(f, 0, 20000, "accepted", "NULL");
    fill(f, 20000, SM_BACKLOG_BOUND, "pending", "2000");

    b = backlog(f);
    ok(b.n == 1 && b.targets[0].due == SM_BACKLOG_BOUND && !b.partial,
       "as many as are counted are all");

    fill(f, 20000 + SM_BACKLOG_BOUND, 20000, "pending", "2000");

    b = backlog(f);
    ok(b.n == 1 && b.partial, "there are more, and it says so");
    is_int(b.targets[0].due, SM_BACKLOG_BOUND + 1, "which are not looked at");
}


int
main(void)
{
    fixture_t   f;
    sm_lease_t  lease;

    sql_clock_start();
    fixture_open(&f);

    must(sm_store_lease_acquire(&f.store, new_call(&f), sm_str_c("a"), HOUR,
                                &lease)
         == 0);

    test_stats(&f);
    test_backlog(&f);

    test_bound(&f);

    fixture_done(&f);

    return done_testing();
}
