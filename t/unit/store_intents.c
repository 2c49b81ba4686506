
/*
 * The embedded store, as a caller sees it when nothing goes wrong with the
 * file: idempotency by id, bytes kept as they came, batches whose rows do not
 * touch each other.  Broken by: a row reported for another, a contract or
 * payload left from the row before, a comparison that is not by bytes, a bad
 * row that takes its batch down.
 */

#include <time.h>

#include "store.h"


#define ABC_HASH                                                              \
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY_HASH                                                            \
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


static const char *
intent_text(const sm_intent_t *intent)
{
    static char  buf[8192];

    sm_out_t  out;

    sm_out_init(&out, buf, sizeof(buf) - 1);
    sm_intent_out(&out, intent);
    *out.last = '\0';

    return buf;
}


static void
test_outcomes(void)
{
    char             created[1024];
    fixture_t        f;
    sm_submit_row_t  r;

    fixture_open(&f);

    is_int(submit_one(&f, &r, "a", "abc"), 0, "submitted");
    is_int(r.outcome, SM_SUBMIT_CREATED, "created");
    is_mem(r.intent.id.data, r.intent.id.len, "a", 1, "its id");
    is_mem(r.intent.target.data, r.intent.target.len, "sms", 3, "its target");
    is_int(r.intent.status, SM_STATUS_PENDING, "is pending");
    is_int(r.intent.attempt_count, 0, "was not attempted");
    is_int(r.intent.next_attempt_at, r.intent.created_at, "is due at once");
    is_int(r.intent.completed_at, 0, "is not complete");
    ok(llabs(r.intent.created_at / 1000000 - time(NULL)) < 60, "made now");
    is_mem(r.hash, SM_HASH_LEN, ABC_HASH, SM_HASH_LEN, "the payload's hash");

    (void) snprintf(created, sizeof(created), "%s", intent_text(&r.intent));

    is_int(submit_one(&f, &r, "a", "abc"), 0, "submitted again");
    is_int(r.outcome, SM_SUBMIT_SAME, "the same");
    is_str(intent_text(&r.intent), created, "the stored intent comes back");

    is_int(submit_one(&f, &r, "a", "abd"), 0, "with another payload");
    is_int(r.outcome, SM_SUBMIT_CONFLICT, "a conflict");
    is_str(intent_text(&r.intent), created, "the stored intent comes back");

    row(&r, "a", &push, "abc");
    is_int(submit(&f, &r, 1), 0, "with another target");
    is_int(r.outcome, SM_SUBMIT_CONFLICT, "a conflict");
    is_str(intent_text(&r.intent), created, "the stored intent comes back");

    is_int(outcome(&f, "a", &sms, "abc "), SM_SUBMIT_CONFLICT,
           "one more space is another payload");
    is_int(outcome(&f, "a", &sms, ""), SM_SUBMIT_CONFLICT, "so is none");

    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 1,
           "there is one intent");
    is_str(sql_text(&f, "SELECT submission_target || payload "
                    "FROM submission_intents"), "smsabc", "as first sent");

    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "ping");
    is_int(f.create, 0, "the database is not made twice");
    ok(f.store.idle && f.store.idle->next == NULL, "one connection did it all");

    fixture_done(&f);
}


/* what is acknowledged is on disk: neither may be left to a default */

static void
test_durability(void)
{
    size_t         i;
    sqlite3       *db;
    fixture_t      f;
    sqlite3_stmt  *stmt;

    static const struct {
        const char  *pragma;
        const char  *value;
    } t[] = {
        { "PRAGMA journal_mode", "wal" },
        { "PRAGMA synchronous", "2" },
        { "PRAGMA journal_size_limit", "33554432" },
    };

    fixture_open(&f);
    db = store_db(&f);

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        must(sqlite3_prepare_v2(db, t[i].pragma, -1, &stmt, NULL) == SQLITE_OK);
        must(sqlite3_step(stmt) == SQLITE_ROW);
        is_str((const char *) sqlite3_column_text(stmt, 0), t[i].value, "%s",
               t[i].pragma);
        must(sqlite3_finalize(stmt) == SQLITE_OK);
    }

    fixture_done(&f);
}


static void
test_duplicates_in_batch(void)
{
    size_t           i;
    fixture_t        f;
    sm_submit_row_t  r[7];

    static const sm_submit_e  t[] = {
        SM_SUBMIT_CREATED, SM_SUBMIT_CREATED, SM_SUBMIT_SAME,
        SM_SUBMIT_CONFLICT, SM_SUBMIT_CONFLICT, SM_SUBMIT_CREATED,
        SM_SUBMIT_SAME
    };

    fixture_open(&f);

    row(&r[0], "x", &sms, "1");
    row(&r[1], "a", &sms, "1");
    row(&r[2], "a", &sms, "1");
    row(&r[3], "a", &sms, "2");
    row(&r[4], "a", &push, "1");
    row(&r[5], "y", &push, "3");
    row(&r[6], "x", &sms, "1");

    is_int(submit(&f, r, 7), 0, "a batch with equal ids");

    for (i = 0; i < 7; i++) {
        is_int(r[i].outcome, t[i], "row %zu", i);
        is_mem(r[i].intent.id.data, r[i].intent.id.len, r[i].id.data,
               r[i].id.len, "its own intent");
    }

    is_mem(r[4].intent.target.data, r[4].intent.target.len, "sms", 3,
           "a conflict shows what is stored");
    is_str(sql_text(&f, "SELECT group_concat(t, ' ') FROM (SELECT "
                    "intent_id || submission_target || payload AS t "
                    "FROM submission_intents ORDER BY intent_id) AS i"),
           "asms1 xsms1 ypush3", "the first of each won");

    fixture_done(&f);
}


static void
test_payloads(void)
{
    char             all[256], hex[600], ids[10][4];
    size_t           i, k;
    sm_str_t         huge;
    batch_t          none;
    fixture_t        f;
    sm_submit_row_t  r[10];

    const struct {
        const char  *data;
        size_t       len;
        const char  *hash;
    } t[] = {
        { "abc", 3, ABC_HASH },
        { NULL, 0, EMPTY_HASH },
        { "\0", 1, NULL },
        { "\0\0a\0", 4, NULL },
        { "\xff\xfe\xc3\x28\xed\xa0\x80", 7, NULL },
        { "{\"n\" : 1.0e400,\r\n\t\"\\u0061\":\"\xc3\xa9\"}", 30, NULL },
        { "null", 4, NULL },
        { "123", 3, NULL },
        { "'; DROP TABLE submission_intents; --", 36, NULL },
        { all, sizeof(all), NULL },
    };

    for (i = 0; i < sizeof(all); i++) {
        all[i] = (char) i;
    }

    fixture_open(&f);

    for (i = 0; i < 10; i++) {
        (void) sprintf(ids[i], "%zu", i % 10);
        row_bytes(&r[i], ids[i], &sms, t[i].data, t[i].len);
    }

    is_int(submit(&f, r, 10), 0, "a batch of odd payloads");

    for (i = 0; i < 10; i++) {
        for (k = 0, hex[0] = '\0'; k < t[i].len; k++) {
            (void) sprintf(hex + 2 * k, "%02X", (unsigned char) t[i].data[k]);
        }

        is_str(sql_text(&f, "SELECT hex(payload) FROM submission_intents "
                        "WHERE intent_id = '%zu'", i), hex,
               "payload %zu is stored as it came", i);
        is_str(sql_text(&f, "SELECT typeof(payload) FROM submission_intents "
                        "WHERE intent_id = '%zu'", i), "blob", "as bytes");

        if (t[i].hash) {
            is_str(sql_text(&f, "SELECT payload_hash FROM submission_intents "
                            "WHERE intent_id = '%zu'", i), t[i].hash,
                   "its SHA-256");
        }
    }

    is_int(outcome(&f, "none", &sms, ""), SM_SUBMIT_CREATED,
           "an intent without payload, alone");
    is_int(outcome(&f, "none", &sms, ""), SM_SUBMIT_SAME, "and again");
    is_str(sql_text(&f, "SELECT typeof(payload) || length(payload) FROM "
                    "submission_intents WHERE intent_id = 'none'"), "blob0",
           "it is stored as no bytes");

    row_bytes(&r[0], "none2", &sms, NULL, 0);
    none = (batch_t) { r, 1, 0 };
    is_int(sm_store_intents_submit(&f.store, new_call(&f), batch_take, &none),
           0, "the same from no memory");
    is_int(r[0].outcome, SM_SUBMIT_CREATED, "created");

    huge.len = 5000000;
    huge.data = malloc(huge.len);
    memset((char *) huge.data, 'x', huge.len);

    row(&r[0], "before", &sms, "1");
    row_bytes(&r[1], "huge", &sms, huge.data, huge.len);
    row(&r[2], "after", &sms, "2");
    is_int(submit(&f, r, 3), 0, "5 MB between two small ones");
    is_str(sql_text(&f, "SELECT group_concat(t, ' ') FROM (SELECT "
                    "CASE WHEN length(payload) > 1 "
                    "THEN replace(payload, 'x', '') || length(payload) "
                    "ELSE payload END AS t FROM submission_intents "
                    "WHERE intent_id IN ('before', 'huge', 'after') "
                    "ORDER BY intent_id) AS i"),
           "2 1 5000000", "each has its own");

    row_bytes(&r[1], "huge", &sms, huge.data, huge.len);
    is_int(submit(&f, &r[1], 1), 0, "5 MB again");
    is_int(r[1].outcome, SM_SUBMIT_SAME, "the same");

    free((void *) huge.data);

    fixture_done(&f);
}


static void
test_contract_columns(void)
{
    char           expected[256];
    fixture_t      f;
    const char    *target;
    sm_contract_t  hook;

#define COLUMNS(id)                                                           \
    sql_text(&f, "SELECT lease_name || '|' || "                              \
             "submission_target || '|' || gateway_type || '|' || gateway_url "\
             "|| '|' || policy || '|' || ifnull(max_acceptance_seconds, '-') "\
             "|| '|' || ifnull(max_attempts, '-') || '|' || terminal_outcomes"\
             " || '|' || retry_delay_ms || '|' || retry_max_ms || '|' || "    \
             "retry_backoff_pct || '|' || retry_jitter_pct || '|' || status " \
             "|| '|' || attempt_count || '|' || typeof(retry_delay_ms) "      \
             "FROM submission_intents WHERE intent_id = '%s'", id)

    fixture_open(&f);

    /* OPENJSON of Babelfish leaves \" and \\ as they are */

    target = on_babelfish() ? "h'\xc3\xa9" : "h\"\\'\xc3\xa9";

    hook = sms;
    hook.target = sm_str_c(target);
    hook.gateway_type = SM_GATEWAY_HTTP;
    hook.policy = SM_POLICY_ONE_SHOT;
    hook.terminal_outcomes = sm_str_c("");

    is_int(outcome(&f, "s", &sms, "1"), SM_SUBMIT_CREATED, "deadline");
    is_str(COLUMNS("s"), "main|sms|sms|http://sms|deadline|30|-|"
           "invalid_request invalid_message|5000|0|100|0|pending|0|integer",
           "its columns");

    is_int(outcome(&f, "p", &push, "1"), SM_SUBMIT_CREATED, "max_attempts");
    is_str(COLUMNS("p"), "main|push|push|http://push|max_attempts|-|3|"
           "|1000|60000|250|20|pending|0|integer", "its columns");

    is_int(outcome(&f, "h", &hook, "1"), SM_SUBMIT_CREATED, "one_shot");
    (void) snprintf(expected, sizeof(expected), "main|%s|http|http://sms|"
                    "one_shot|-|-||5000|0|100|0|pending|0|integer", target);
    is_str(COLUMNS("h"), expected, "its columns");

    is_str(sql_text(&f, "SELECT count(*) FROM submission_intents WHERE "
                    "created_at = last_modified_at "
                    "AND created_at = next_attempt_at "
                    "AND coalesce(completed_at, inflight_epoch, inflight_at) "
                    "IS NULL AND coalesce(final_outcome_status, "
                    "final_outcome_reason, exhausted_reason, inflight_holder) "
                    "IS NULL"), "3",
           "the columns of the queue");

    fixture_done(&f);
}


static void
test_ids(void)
{
    size_t           i, n;
    fixture_t        f;
    sm_get_row_t     g[16];
    sm_submit_row_t  r[16];

    /* all different, byte for byte */

    static const char *const  t[] = {
        "a", "A", "\xc3\xa9", "e\xcc\x81", "1", "01", "1.0", "1e0",
        "null", "/%2F?#", "\xe2\x80\xa8\xf0\x9f\x98\x80", "a'; --", "%",
        "\"", "\\", "a ",
    };

    /*
     * SQL Server takes no notice of spaces at the end, nginx has trimmed them;
     * OPENJSON of Babelfish leaves \" and \\ as they are
     */

    n = sizeof(t) / sizeof(t[0]) - (on_babelfish() ? 3 : 0);

    fixture_open(&f);

    for (i = 0; i < n; i++) {
        row(&r[i], t[i], &sms, t[i]);
    }

    is_int(submit(&f, r, n), 0, "ids that are nearly equal");

    memset(g, 0, sizeof(g));

    for (i = 0; i < n; i++) {
        is_int(r[i].outcome, SM_SUBMIT_CREATED, "created: %s", t[i]);
        g[i].id = sm_str_c(t[i]);
    }

    is_int(sm_store_intents_get(&f.store, new_call(&f), g, n), 0, "read back");

    for (i = 0; i < n; i++) {
        is_mem(g[i].intent.id.data, g[i].intent.id.len, t[i], strlen(t[i]),
               "found: %s", t[i]);
    }

    fixture_done(&f);
}


static void
test_leases(void)
{
    fixture_t        f, other;
    sm_get_row_t     g = { .id = sm_str("a") };
    sm_list_row_t    l = { .limit = 10 };
    sm_submit_row_t  r;

    fixture_open(&f);
    other = f;
    store_open(&other, "other", 10000);

    is_int(outcome(&f, "a", &sms, "1"), SM_SUBMIT_CREATED, "one manager's");

    is_int(sm_store_intents_get(&other.store, new_call(&other), &g, 1), 0,
           "asked by another");
    ok(!g.found, "is not found");

    is_int(submit_one(&other, &r, "a", "2"), 0, "another's by the same id");
    is_int(r.outcome, SM_SUBMIT_CREATED, "is created");

    is_int(outcome(&f, "a", &sms, "1"), SM_SUBMIT_SAME, "the first stays");
    is_int(sm_store_intents_list(&f.store, new_call(&f), &l, 1), 0, "listed");
    is_int(l.n, 1, "there is one each");

    store_close(&other);
    fixture_done(&f);
}


static void
test_get(void)
{
    fixture_t        f;
    sm_get_row_t     g[5];
    sm_submit_row_t  r[2];

    fixture_open(&f);

    memset(g, 0, sizeof(g));
    g[0].id = sm_str_c("none");
    is_int(sm_store_intents_get(&f.store, new_call(&f), g, 1), 0,
           "get from an empty store");
    ok(!g[0].found, "not found");

    row(&r[0], "a", &sms, "abc");
    row(&r[1], "b", &push, "");
    is_int(submit(&f, r, 2), 0, "two intents");

    sql(&f, "UPDATE submission_intents SET status = 'rejected', "
        "attempt_count = 7, completed_at = 42, next_attempt_at = NULL, "
        "final_outcome_reason = 'invalid_request' WHERE intent_id = 'a'");
    sql(&f, "UPDATE submission_intents SET status = 'exhausted', "
        "completed_at = 43, next_attempt_at = NULL, "
        "final_outcome_reason = 'invalid_token', "
        "exhausted_reason = 'max_attempts' WHERE intent_id = 'b'");

    memset(g, 0, sizeof(g));
    g[0].id = sm_str_c("b");
    g[1].id = sm_str_c("none");
    g[2].id = sm_str_c("a");
    g[3].id = sm_str_c("b");
    g[4].id = sm_str_c("");
    is_int(sm_store_intents_get(&f.store, new_call(&f), g, 5), 0, "get five");

    ok(g[0].found && !g[1].found && g[2].found && g[3].found && !g[4].found,
       "those that are there are found, one of them twice");

    is_mem(g[2].intent.hash.data, g[2].intent.hash.len, ABC_HASH, 64, "its hash");
    is_int(g[2].intent.status, SM_STATUS_REJECTED, "rejected");
    is_int(g[2].intent.attempt_count, 7, "its attempts");
    is_int(g[2].intent.completed_at, 42, "complete");
    is_int(g[2].intent.next_attempt_at, 0, "not due");
    is_mem(g[2].intent.rejected_reason.data, g[2].intent.rejected_reason.len,
           "invalid_request", 15, "its reason");
    is_int(g[2].intent.exhausted_reason.len, 0, "no other reason");

    is_int(g[3].intent.status, SM_STATUS_EXHAUSTED, "exhausted");
    is_int(g[3].intent.rejected_reason.len, 0,
           "the last rejection is not the intent's");
    is_mem(g[3].intent.exhausted_reason.data, g[3].intent.exhausted_reason.len,
           "max_attempts", 12, "its reason");
    is_mem(g[0].intent.id.data, g[0].intent.id.len, "b", 1, "twice the same");

    sql(&f, "DELETE FROM submission_intents WHERE intent_id = 'b'");
    is_int(sm_store_intents_get(&f.store, new_call(&f), g, 5), 0,
           "the same rows again");
    ok(!g[0].found && g[2].found, "what is gone is not found");

    fixture_done(&f);
}


static void
add_attempt(fixture_t *f, const char *id, int number, const char *rest)
{
    sql(f, "INSERT INTO submission_attempts (lease_name, intent_id, "
        "attempt_number, lease_epoch, holder_id, started_at, finished_at, "
        "outcome_status, outcome_reason, error) "
        "VALUES ('main', '%s', %d, 1, 'h', %d, %d, %s)",
        id, number, 100 * number, 100 * number + 50, rest);
}


static void
test_history(void)
{
    int               pass;
    fixture_t         f;
    sm_attempt_t     *a;
    sm_history_row_t  h[3];

    fixture_open(&f);

    is_int(outcome(&f, "a", &sms, "1"), SM_SUBMIT_CREATED, "an intent");
    is_int(outcome(&f, "b", &sms, "1"), SM_SUBMIT_CREATED, "and another");

    /* in the order of their numbers, not of their insertion or text */

    add_attempt(&f, "a", 10, "'accepted', NULL, NULL");
    add_attempt(&f, "a", 2, "'error', NULL, 'timed out'");
    add_attempt(&f, "a", 1, "'rejected', 'busy', NULL");
    add_attempt(&f, "aa", 1, "'error', NULL, 'of another intent'");

    sql(&f, "UPDATE submission_intents SET attempt_count = 3 "
        "WHERE intent_id = 'a'");

    memset(h, 0, sizeof(h));
    h[0].id = sm_str_c("a");
    h[1].id = sm_str_c("none");
    h[2].id = sm_str_c("b");
    h[0].limit = h[1].limit = h[2].limit = 3;

    for (pass = 0; pass < 2; pass++) {

        /* a caller that tries again passes the rows as it got them */

        is_int(sm_store_intent_history(&f.store, new_call(&f), h, 3), 0,
               "history of three, time %d", pass + 1);

        ok(h[0].found && !h[1].found && h[2].found, "two are found");
        is_int(h[2].n, 0, "one was not attempted");
        is_int(h[0].intent.attempt_count, 3, "one was, three times");

        if (!is_int(h[0].n, 3, "its attempts")) {
            break;
        }

        a = h[0].attempts;

        ok(a[0].number == 10 && a[1].number == 2 && a[2].number == 1,
           "newest first");
        ok(!h[0].more && !h[2].more, "there are no more");
        is_int(a[0].started_at, 1000, "started");
        is_int(a[0].finished_at, 1050, "finished");
        is_mem(a[2].outcome_status.data, a[2].outcome_status.len,
               "rejected", 8, "status");
        is_mem(a[2].outcome_reason.data, a[2].outcome_reason.len, "busy", 4,
               "reason");
        is_int(a[2].error.len, 0, "no error");
        is_mem(a[1].error.data, a[1].error.len, "timed out", 9, "error");
        is_int(a[1].outcome_reason.len, 0, "no reason");
    }

    fixture_done(&f);
}


/* each attempt once, whatever the size of the pages, and no more than that */

static void
test_history_pages(void)
{
    int64_t           last;
    size_t            k, limit, i, n, pages;
    unsigned          bad;
    fixture_t         f;
    sm_history_row_t  h;

    static const size_t  limits[] = { 7, 100, 999, 1000, 1001 };

    fixture_open(&f);

    is_int(outcome(&f, "a", &sms, "1"), SM_SUBMIT_CREATED, "an intent");

    sql(&f, "WITH RECURSIVE n(i) AS "
        "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
        "INSERT INTO submission_attempts (lease_name, intent_id, "
        "attempt_number, lease_epoch, holder_id, started_at, finished_at, "
        "outcome_status, outcome_reason, error) "
        "SELECT 'main', 'a', i, 1, 'h', i, i, 'error', NULL, 'timed out' "
        "FROM n");
    sql(&f, "UPDATE submission_intents SET attempt_count = 1000");

    for (k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {

        limit = limits[k];

        memset(&h, 0, sizeof(h));
        h.id = sm_str_c("a");
        h.limit = limit;

        for (n = 0, bad = 0, pages = 0, last = 1001; pages < 2000; pages++) {

            if (sm_store_intent_history(&f.store, new_call(&f), &h, 1) != 0
                || !h.found || h.n > limit || (h.more && h.n != limit))
            {
                diag("a page of %zu, more %u: %s", h.n, h.more, f.call.error);
                bad++;
                break;
            }

            for (i = 0; i < h.n; i++) {
                bad += h.attempts[i].number != --last;
            }

            n += h.n;

            if (!h.more) {
                break;
            }

            h.before = h.attempts[h.n - 1].number;
        }

        is_int(bad, 0, "pages of %zu: in their order, none left out", limit);
        is_int(n, 1000, "all attempts");
    }

    fixture_done(&f);
}


/* the row at fault is found by halving, wherever it stands */

static void
test_bad_rows(void)
{
    char             ids[9][8];
    size_t           at, i;
    unsigned         bad;
    fixture_t        f;
    sm_submit_row_t  r[9];

    fixture_open(&f);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a store");

    sql_refuse(&f, "poison", "BEFORE INSERT", "submission_intents",
               "NEW.intent_id LIKE 'bad%'", "poison");

    for (at = 0, bad = 0; at < 9; at++) {
        for (i = 0; i < 9; i++) {
            (void) sprintf(ids[i], "%s%zu-%zu", i == at ? "bad" : "", at, i);
            row(&r[i], ids[i], &sms, ids[i]);
        }

        if (submit(&f, r, 9) != 0 || f.call.status != SM_STORE_OK
            || strstr(f.call.error, "poison") == NULL)
        {
            diag("batch %zu: %s", at, f.call.error);
            bad++;
            continue;
        }

        for (i = 0; i < 9; i++) {
            bad += r[i].outcome
                   != (i == at ? SM_SUBMIT_FAILED : SM_SUBMIT_CREATED);
        }
    }

    is_int(bad, 0, "a bad row fails alone, in each place of a batch");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE intent_id = CAST(payload AS TEXT)"), 72,
           "the others are there");

    row(&r[0], "bad1", &sms, "1");
    row(&r[1], "0-1", &sms, "0-1");
    row(&r[2], "bad2", &sms, "1");
    row(&r[3], "0-2", &sms, "other");
    row(&r[4], "bad1", &sms, "1");
    is_int(submit(&f, r, 5), 0, "three bad rows among known ones");
    ok(r[0].outcome == SM_SUBMIT_FAILED && r[1].outcome == SM_SUBMIT_SAME
       && r[2].outcome == SM_SUBMIT_FAILED
       && r[3].outcome == SM_SUBMIT_CONFLICT
       && r[4].outcome == SM_SUBMIT_FAILED, "each has its own outcome");

    ok(f.store.idle && f.store.idle->next == NULL,
       "the connection is still the first one");

    sql_drop_trigger(&f, "poison", "submission_intents");

    if (on_sqlite()) {
        sql(&f, "CREATE TRIGGER poison BEFORE INSERT ON submission_intents "
            "WHEN NEW.intent_id GLOB 'bad*' "
            "BEGIN SELECT RAISE(ROLLBACK, 'poison'); END");

        row(&r[0], "x", &sms, "1");
        row(&r[1], "bad1", &sms, "1");
        is_int(submit(&f, r, 2), 0, "a refusal that ends the transaction");
        ok(r[0].outcome == SM_SUBMIT_CREATED
           && r[1].outcome == SM_SUBMIT_FAILED, "is of its row alone, too");

        sql_drop_trigger(&f, "poison", "submission_intents");
    }

    sql_trigger(&f, "poison", "BEFORE INSERT", "submission_intents",
                "NEW.intent_id LIKE 'bad%'",
                on_sqlite() ? "SELECT RAISE(IGNORE)" : "RETURN NULL");

    row(&r[0], "y", &sms, "1");
    row(&r[1], "bad1", &sms, "1");
    is_int(submit(&f, r, 2), -1, "a row that vanishes is no success");
    is_int(f.call.status,
           on_sqlite() ? SM_STORE_PERMANENT : SM_STORE_TRANSIENT,
           "but a failure: on a server it may have been forgotten meanwhile");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE intent_id = 'y'"), 0, "nothing was committed");

    fixture_done(&f);
}


static void
test_large_batch(void)
{
    char            (*ids)[16];
    size_t           i, n;
    unsigned         bad;
    fixture_t        f;
    sm_submit_row_t *r;

    n = 3000;
    ids = calloc(n, sizeof(ids[0]));
    r = calloc(n, sizeof(sm_submit_row_t));

    fixture_open(&f);

    for (i = 0; i < n; i++) {
        (void) sprintf(ids[i], "%zu", i);
    }

    for (i = 0; i < n / 3; i++) {
        row(&r[i], ids[3 * i], i % 2 ? &push : &sms, ids[3 * i]);
    }

    is_int(submit(&f, r, n / 3), 0, "every third of %zu", n);

    for (i = 0; i < n; i++) {
        row(&r[i], ids[i], i % 2 ? &push : &sms, ids[i]);
    }

    is_int(submit(&f, r, n), 0, "all of them: %s", f.call.error);

    for (i = 0, bad = 0; i < n; i++) {
        bad += r[i].outcome != (i % 3 ? SM_SUBMIT_CREATED : SM_SUBMIT_SAME)
               || !sm_str_eq(r[i].intent.id, r[i].id)
               || !sm_str_eq(r[i].intent.target, r[i].contract->target);
    }

    is_int(bad, 0, "each has its own outcome and intent");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE intent_id = CAST(payload AS TEXT)"), n,
           "each has its own payload");

    free(ids);
    free(r);

    fixture_done(&f);
}


/* A probe writes an intent and takes it back, on servers, beside others that do. */

static void
test_trial(void)
{
    int              i;
    fixture_t        f;
    sm_call_t       *call;
    sm_submit_row_t  r;

    fixture_open(&f);

    row(&r, "a", &sms, "1");
    is_int(submit(&f, &r, 1), 0, "an intent");

    for (i = 0; i < 2; i++) {
        call = new_call(&f);
        call->trial = 1;

        is_int(sm_store_ping(&f.store, call), 0, "a probe that tries: %s",
               call->error);
    }

    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 1,
           "leaves nothing behind");

    row(&r, "b", &sms, "1");
    is_int(submit(&f, &r, 1), 0, "and nothing open");

    fixture_done(&f);
}


int
main(void)
{
    test_outcomes();

    if (on_sqlite()) {
        test_durability();
    }

    test_duplicates_in_batch();
    test_payloads();
    test_contract_columns();
    test_ids();
    test_leases();
    test_get();
    test_history();
    test_history_pages();
    test_bad_rows();
    test_large_batch();
    test_trial();

    return done_testing();
}
