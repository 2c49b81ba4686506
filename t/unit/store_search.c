
/*
 * Lists of intents by every combination of arguments that sm_search_check()
 * takes: each intent once, in order, in pages of every size, both ways; and no
 * list that reads more rows when there is more history.  Broken by: a bound that
 * is taken on the wrong side, a place (a target, a status, an index) that is left
 * out of the merge, an index that a statement no longer matches.
 */

#include "sm_search.h"
#include "sm_sqlite_sql.h"
#include "plans.h"
#include "store.h"


#define ROWS     240
#define LONGEST  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"      /* as the column is */


static const char *const  statuses[] = {
    "", "pending", "accepted", "rejected", "exhausted"
};


/*
 * Intents of three targets, a hidden one, and another manager, of all statuses;
 * what is terminal has ended later than it was created, in another order, and
 * every third of it is stripped.  What is beyond 400 is history, of a target of
 * its own and accepted, or, if "failed", of all targets and rejected.
 */

static void
fill(fixture_t *f, int first, int n, const char *at, int failed)
{
    sql(f, "WITH RECURSIVE n(i) AS "
        "(SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) "
        "INSERT INTO submission_intents (lease_name, intent_id, "
        "submission_target, payload_hash, gateway_type, gateway_url, policy, "
        "terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct, "
        "retry_jitter_pct, status, attempt_count, created_at, "
        "last_modified_at, payload) "
        "SELECT CASE WHEN i %% 10 = 9 AND i < 400 THEN 'other' ELSE 'main' END,"
        " CASE i %% 3 WHEN 0 THEN 'a' WHEN 1 THEN 'ab-' ELSE 'b' END "
        "|| (i * 7919 %% 999983), "
        "CASE WHEN i >= 400 THEN '%s' WHEN i %% 11 = 5 THEN 'webhook x' "
        "ELSE 't' || (i %% 3) END, 'h', 'sms', "
        "'http://a', 'one_shot', '', 1, 0, 100, 0, "
        "CASE WHEN i >= 400 THEN '%s' ELSE CASE i / 5 %% 5 "
        "WHEN 0 THEN 'pending' WHEN 1 THEN 'accepted' WHEN 2 THEN 'rejected' "
        "WHEN 3 THEN 'exhausted' ELSE 'canceled' END END, 0, 1000 + %s, 0, '' "
        "FROM n",
        first, n, failed ? "t1" : "bulk", failed ? "rejected" : "accepted",
        at);

    sql(f, "UPDATE submission_intents SET "
        "completed_at = created_at + 500 - length(intent_id) * 20, "
        "final_outcome_reason = CASE WHEN status <> 'rejected' THEN NULL "
        "WHEN intent_id LIKE '%%1' THEN 'other' ELSE 'r' END, "
        "exhausted_reason = CASE WHEN status <> 'exhausted' THEN NULL "
        "WHEN intent_id LIKE '%%1' THEN 'other' ELSE 'r' END, "
        "stripped_at = CASE WHEN intent_id LIKE 'b%%' THEN 5 ELSE NULL END "
        "WHERE status <> 'pending' AND completed_at IS NULL");
}


static const char *
expected_ids(fixture_t *f, const sm_list_row_t *l)
{
    const char  *by, *way;

    by = l->by == SM_LIST_COMPLETED ? "completed_at" : "created_at";
    way = l->asc ? "" : " DESC";

    return sql_text(f, "SELECT coalesce(group_concat(intent_id, ' '), '') FROM "
                    "(SELECT intent_id FROM submission_intents "
                    "WHERE lease_name = 'main' "
                    "AND (submission_target <> 'webhook x' OR '%s' <> '') "
                    "AND '%s' IN ('', status) "
                    "AND '%s' IN ('', submission_target) "
                    "AND '%s' IN ('', coalesce(final_outcome_reason, "
                    "exhausted_reason, '-')) "
                    "AND %s >= %lld AND %s < %lld "
                    "AND substr(intent_id, 1, %d) = '%s' "
                    "ORDER BY %s%s%sintent_id%s) AS i",
                    l->prefix.data ? l->prefix.data : "",
                    statuses[l->status],
                    l->target.data ? l->target.data : "",
                    l->reason.data ? l->reason.data : "",
                    by, (long long) l->from,
                    by, (long long) (l->to ? l->to : INT64_MAX),
                    (int) l->prefix.len, l->prefix.data ? l->prefix.data : "",
                    l->prefix.data ? "" : by, l->prefix.data ? "" : way,
                    l->prefix.data ? "" : ", ", way);
}


/* all pages; NULL: one of them is wrong */

static const char *
walk(fixture_t *f, sm_list_row_t l)
{
    static char  ids[ROWS * 16];

    char    after[32], *p;
    size_t  i;

    p = ids;
    *p = '\0';

    for ( ;; ) {
        if (sm_store_intents_list(&f->store, new_call(f), &l, 1) != 0
            || l.n > l.limit || (l.more && l.n != l.limit))
        {
            diag("a page of %zu of %zu, more %u: %s", l.n, l.limit, l.more,
                 f->call.error);
            return NULL;
        }

        for (i = 0; i < l.n; i++) {
            if ((size_t) (ids + sizeof(ids) - p) < l.intents[i].id.len + 2) {
                diag("the pages do not end");
                return NULL;
            }

            p += sprintf(p, "%s%s", p == ids ? "" : " ", l.intents[i].id.data);
        }

        if (!l.more) {
            return ids;
        }

        (void) snprintf(after, sizeof(after), "%.*s", (int) l.next_id.len,
                        l.next_id.data);
        l.after_at = l.next_at;
        l.after_id = sm_str_c(after);
    }
}


static unsigned
check(fixture_t *f, sm_list_row_t l, const char *name)
{
    char         expected[ROWS * 16];
    size_t       i;
    unsigned     bad;
    const char  *seen, *field;

    static const size_t  limits[] = { 3, 10, 47, ROWS };

    must(sm_search_check(&l, &field) == NULL);

    (void) snprintf(expected, sizeof(expected), "%s", expected_ids(f, &l));

    for (i = 0, bad = 0; i < 4; i++) {
        l.limit = limits[i];
        seen = walk(f, l);

        if (seen == NULL || strcmp(seen, expected) != 0) {
            diag("%s by %d, %s, status \"%s\", target \"%s\", reason \"%s\", "
                 "from %lld to %lld, prefix \"%s\", limit %zu:\n%s\n%s",
                 name, l.by, l.asc ? "up" : "down", statuses[l.status],
                 l.target.data ? l.target.data : "",
                 l.reason.data ? l.reason.data : "", (long long) l.from,
                 (long long) l.to, l.prefix.data ? l.prefix.data : "", l.limit,
                 seen ? seen : "-", expected);
            bad++;
        }
    }

    return bad;
}


static void
test_pages(const char *at, int64_t from, int64_t to, const char *name)
{
    int            asc, window, by, status, target;
    unsigned       bad, n;
    fixture_t      f;
    sm_list_row_t  l;

    static const sm_str_t  targets[] = { sm_null_str, sm_str("t1") };

    fixture_open(&f);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a store, %s", name);
    fill(&f, 0, ROWS, at, 0);

    for (asc = 0; asc < 2; asc++) {
        for (by = 0; by < 3; by++) {

            for (window = 0, bad = 0, n = 0; window < 4; window++) {
                for (status = 0; status <= SM_STATUS_EXHAUSTED; status++) {
                    for (target = 0; target < 2; target++) {

                        if ((by && status == SM_STATUS_PENDING)
                            || (by == 2 && status == SM_STATUS_ACCEPTED))
                        {
                            continue;
                        }

                        memset(&l, 0, sizeof(l));
                        l.asc = asc;
                        l.by = by ? SM_LIST_COMPLETED : SM_LIST_CREATED;
                        l.status = status;
                        l.target = targets[target];
                        l.from = window & 1 ? from : 0;
                        l.to = window & 2 ? to : 0;

                        if (by == 2) {
                            l.reason = sm_str_c("r");
                        }

                        if (sm_search_plain(&l)) {
                            continue;       /* see store_list.c */
                        }

                        bad += check(&f, l, name);
                        n++;
                    }
                }
            }

            is_int(bad, 0, "%s, %s, by %s: %u lists in pages of every size",
                   name, asc ? "up" : "down",
                   by == 0 ? "created" : by == 1 ? "completed" : "reason", n);
        }
    }

    fixture_done(&f);
}


static void
test_prefix(void)
{
    int            asc;
    char           buf[16];
    size_t         i;
    fixture_t      f;
    sm_list_row_t  l;

    static const char *const  t[] = { "a", "ab", "ab-", "b", "ab-1", "c" };

    fixture_open(&f);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a store");
    fill(&f, 0, ROWS, "i", 0);

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        for (asc = 0; asc < 2; asc++) {
            memset(&l, 0, sizeof(l));
            must(sm_search_prefix(&l, sm_str_c(t[i]), buf) == NULL);
            l.by = SM_LIST_ID;
            l.asc = asc;

            is_int(check(&f, l, "prefix"), 0, "prefix \"%s\", %s", t[i],
                   asc ? "up" : "down");
        }
    }

    fixture_done(&f);
}


static void
test_edges(void)
{
    fixture_t      f;
    sm_list_row_t  l;

    fixture_open(&f);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a store");

    l = (sm_list_row_t) { .limit = 5, .asc = 1 };
    is_int(sm_store_intents_list(&f.store, new_call(&f), &l, 1), 0,
           "a list of nothing");
    ok(l.n == 0 && !l.more, "is empty");

    fill(&f, 0, ROWS, "i", 0);

    l = (sm_list_row_t) { .limit = 5, .by = SM_LIST_COMPLETED,
                          .reason = sm_str("R") };
    is_int(sm_store_intents_list(&f.store, new_call(&f), &l, 1), 0,
           "a reason in capitals");
    is_int(l.n, 0, "is another one");

    l.reason = sm_str_c("\xef\xbd\x92");
    is_int(sm_store_intents_list(&f.store, new_call(&f), &l, 1), 0,
           "a reason in wide letters");
    is_int(l.n, 0, "is another one");

    sql(&f, "UPDATE submission_intents SET exhausted_reason = '" LONGEST "' "
        "WHERE intent_id = (SELECT min(intent_id) FROM submission_intents "
        "WHERE lease_name = 'main' AND submission_target = 't1' "
        "AND status = 'exhausted')");

    l.reason = sm_str_c(LONGEST "y");
    is_int(sm_store_intents_list(&f.store, new_call(&f), &l, 1), 0,
           "a reason that is longer than any");
    is_int(l.n, 0, "is another one");

    l.reason = sm_str_c(LONGEST);
    is_int(sm_store_intents_list(&f.store, new_call(&f), &l, 1), 0,
           "the longest reason");
    is_int(l.n, 1, "is found");

    l = (sm_list_row_t) { .limit = 5, .asc = 1, .target = sm_str("none") };
    is_int(sm_store_intents_list(&f.store, new_call(&f), &l, 1), 0,
           "a target that nobody has");
    is_int(l.n, 0, "has no intents");

    l = (sm_list_row_t) { .limit = 3, .from = 1000, .to = 1001 };
    is_int(sm_store_intents_list(&f.store, new_call(&f), &l, 1), 0,
           "one microsecond");
    is_int(l.n, 1, "of one intent");
    is_int(l.intents[0].created_at, 1000, "\"from\" is included, \"to\" not");

    l = (sm_list_row_t) { .limit = 3, .by = SM_LIST_COMPLETED,
                          .status = SM_STATUS_REJECTED };
    is_int(sm_store_intents_list(&f.store, new_call(&f), &l, 1), 0, "a page");
    ok(l.n == 3 && l.intents[0].completed_at && l.intents[0].target.len
       && l.intents[0].rejected_reason.len, "has whole intents");

    fixture_done(&f);
}


/* what reads cost: steps of SQLite's machine, rows that PostgreSQL has read */

static sqlite3  *db;


static int64_t
cost_sqlite(fixture_t *f, sm_list_row_t l)
{
    int64_t        n;
    sqlite3_stmt  *stmt;

    for (stmt = NULL; (stmt = sqlite3_next_stmt(db, stmt)); ) {
        (void) sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
    }

    must(sm_store_intents_list(&f->store, new_call(f), &l, 1) == 0);

    if (l.n != l.limit || !l.more) {
        diag("a page of %zu, more %u", l.n, l.more);
        return -1;
    }

    for (n = 0, stmt = NULL; (stmt = sqlite3_next_stmt(db, stmt)); ) {
        n += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
    }

    return n;
}


static int64_t
cost_postgres(fixture_t *f, sm_list_row_t l)
{
    char              text[1024], result[64];
    int64_t           n, before;
    sql_conn_t        c;
    sm_search_ids_t   ids;
    sm_search_span_t  span;

#define quoted(s)  (s).data ? "'" : "", (s).data ? (s).data : "NULL",         \
                   (s).data ? "'" : ""

    c = sql_open(f);
    sql_run(c, "BEGIN");
    before = server_rows_read(c.server);

    if (l.prefix.data) {
        sm_search_ids(&l, &ids);
        (void) snprintf(text, sizeof(text), "SELECT count(*) FROM "
                        "submission.submission_intents_prefix('main', '%.*s', "
                        "'%.*s', '%.*s', %d, %zu)",
                        (int) ids.low.len, ids.low.data,
                        (int) ids.high.len, ids.high.data,
                        (int) ids.skip.len, ids.skip.data, l.asc, l.limit + 1);

    } else {
        sm_search_span(&l, &span);
        (void) snprintf(text, sizeof(text), "SELECT count(*) FROM "
                        "submission.submission_intents_search('main', '%s', "
                        "%s%s%s, %s%s%s, %s%s%s, %d, %lld, '%s', %lld, %zu)",
                        l.reason.data ? "reason"
                        : l.by == SM_LIST_COMPLETED ? "completed" : "created",
                        quoted(sm_status_name(l.status)), quoted(l.target),
                        quoted(l.reason), l.asc, (long long) span.at,
                        span.id.data, (long long) span.end, l.limit + 1);
    }

    n = atoll(server_text(c.server, text, result, sizeof(result)));

    if (n != (int64_t) l.limit + 1) {
        diag("%lld keys: %s", (long long) n, text);
        sql_run(c, "ROLLBACK");
        sql_close(c);
        return -1;
    }

    n = server_rows_read(c.server) - before;

    sql_run(c, "ROLLBACK");
    sql_close(c);

    return n;
}


static int64_t
cost(fixture_t *f, sm_list_row_t l)
{
    return on_sqlite() ? cost_sqlite(f, l) : cost_postgres(f, l);
}


#define COSTS  11


static void
test_cost(void)
{
    int            i, asc, pass, many;
    char           buf[16];
    int64_t        few[2 * COSTS], much;
    fixture_t      f;
    sm_list_row_t  t[2 * COSTS];

    static const sm_list_row_t  lists[COSTS] = {
        { .limit = 10, .from = 1 },
        { .limit = 10, .to = 1000000, .target = sm_str("t1") },
        { .limit = 10, .from = 1, .status = SM_STATUS_REJECTED },
        { .limit = 10, .to = 1000000, .status = SM_STATUS_REJECTED,
          .target = sm_str("t1") },
        { .limit = 10, .by = SM_LIST_COMPLETED },
        { .limit = 10, .by = SM_LIST_COMPLETED, .target = sm_str("t1") },
        { .limit = 10, .by = SM_LIST_COMPLETED, .status = SM_STATUS_REJECTED },
        { .limit = 10, .by = SM_LIST_COMPLETED, .status = SM_STATUS_REJECTED,
          .target = sm_str("t1"), .from = 1 },
        { .limit = 10, .by = SM_LIST_COMPLETED, .reason = sm_str("r") },
        { .limit = 5, .by = SM_LIST_COMPLETED, .reason = sm_str("r"),
          .target = sm_str("t1") },
        { .limit = 10, .by = SM_LIST_ID }
    };

    many = getenv("SUBMISSION_TEST_LONG") ? 1000000 : 40000;

    fixture_open(&f);

    if (on_sqlite()) {
        db = store_db(&f);
    }

    for (i = 0; i < 2 * COSTS; i++) {
        asc = i % 2;
        t[i] = lists[i / 2];
        t[i].asc = asc;

        if (t[i].by == SM_LIST_ID) {
            must(sm_search_prefix(&t[i], sm_str_c("ab"), buf) == NULL);
        }
    }

    /* of one time, so that a bound alone does not make it short */

    for (pass = 0; pass < 3; pass++) {

        if (pass == 0) {
            fill(&f, 0, 400, "0", 0);

        } else if (pass == 1) {
            fill(&f, 400, many, "0", 1);

        } else {
            sql(&f, on_sqlite() ? "ANALYZE"
                                : "ANALYZE submission.submission_intents");
        }

        for (i = 0; i < 2 * COSTS; i++) {
            much = cost(&f, t[i]);

            if (pass == 0) {
                few[i] = much;
                continue;
            }

            ok(few[i] > 0 && much > 0 && much <= 2 * few[i],
               "list %d, %s%s: reads %lld of 400 intents, %lld of %d", i / 2,
               i % 2 ? "up" : "down", pass == 2 ? ", with statistics" : "",
               (long long) few[i], (long long) much, many);
        }
    }

    fixture_done(&f);
}


/* no statement reads a table of ours from end to end, or sorts one */

static void
test_plans(void)
{
    fixture_t  f;

    static const plan_t  t[] = {
        { "intents_search", sm_sqlite_sql_intents_search, 13 },
        { "intents_prefix", sm_sqlite_sql_intents_prefix, 2 },
    };

    fixture_open(&f);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a store");
    fill(&f, 0, 2000, "i", 0);
    plans_check(&f, t, sizeof(t) / sizeof(t[0]));
    fixture_done(&f);
}


int
main(void)
{
    test_pages("i", 1100, 1400, "each at its own time");
    test_pages("i / 50", 1002, 1004, "fifty at a time");
    test_prefix();
    test_edges();

    if (on_sqlite()) {
        test_plans();
    }

    if (on_sqlite() || !on_babelfish()) {
        test_cost();
    }

    return done_testing();
}
