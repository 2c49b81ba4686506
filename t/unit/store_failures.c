
/*
 * What has failed lately: groups with their count, their newest ids, and a word
 * when not all was looked at.  Broken by: a group that is split or merged, ids
 * that are not the newest, what was replayed among what was not, a bound that
 * is not told, work that grows with the history.
 */

#include "store.h"


static void
fill(fixture_t *f, int first, int n, const char *status, const char *target,
    const char *reason, const char *error)
{
    sql(f, "WITH RECURSIVE n(i) AS "
        "(SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) "
        "INSERT INTO submission_intents (lease_name, intent_id, "
        "submission_target, payload_hash, gateway_type, gateway_url, policy, "
        "terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct, "
        "retry_jitter_pct, status, attempt_count, created_at, completed_at, "
        "last_modified_at, payload, %s, last_error, stripped_at) "
        "SELECT 'main', 'id-' || i, %s, 'h', 'sms', 'http://a', 'one_shot', "
        "'', 1, 0, 100, 0, '%s', 1, 5000, 1000 + i, 0, '', %s, %s, "
        "CASE i %% 4 WHEN 1 THEN 5 ELSE NULL END FROM n",
        first, first + n,
        strcmp(status, "exhausted") ? "final_outcome_reason"
                                    : "exhausted_reason",
        target, status, reason, error);
}


static int
get(fixture_t *f, sm_failures_row_t *row)
{
    int  rc;

    rc = sm_store_failures_get(&f->store, new_call(f), row, 1);

    if (rc != 0) {
        diag("%s", f->call.error);
    }

    return rc;
}


/* "target status reason error count newest id id id" */

static void
is_group(const sm_failures_row_t *row, size_t i, const char *expected)
{
    char                 text[1024];
    size_t               k;
    sm_out_t             out;
    const sm_failure_t  *f;

    sm_out_init(&out, text, sizeof(text) - 1);

    if (i < row->n) {
        f = &row->failures[i];

        sm_out_str(&out, f->target);
        sm_out_c(&out, " ");
        sm_out_str(&out, f->status);
        sm_out_c(&out, " ");
        sm_out_str(&out, f->reason);
        sm_out_c(&out, " ");
        sm_out_c(&out, f->last_error.data ? f->last_error.data : "-");
        sm_out_c(&out, " ");
        sm_out_int(&out, f->count);
        sm_out_c(&out, " ");
        sm_out_int(&out, f->newest_at);

        for (k = 0; k < f->nids; k++) {
            sm_out_c(&out, " ");
            sm_out_str(&out, f->ids[k]);
        }
    }

    *out.last = '\0';

    is_str(text, expected, "group %zu", i);
}


static void
test_groups(void)
{
    fixture_t          f;
    sm_failures_row_t  row;

    fixture_open(&f);

    memset(&row, 0, sizeof(row));
    is_int(get(&f, &row), 0, "failures of nothing");
    ok(row.n == 0 && !row.partial, "are none");

    fill(&f, 0, 10, "rejected", "'a'", "'bad'", "'HTTP 400'");
    fill(&f, 10, 10, "rejected", "'a'", "'bad'", "NULL");
    fill(&f, 20, 2, "exhausted", "'a'", "'bad'", "'HTTP 400'");
    fill(&f, 30, 8, "exhausted", "'b'", "'max_attempts'", "'no answer'");
    fill(&f, 40, 5, "accepted", "'a'", "NULL", "'HTTP 400'");
    fill(&f, 50, 5, "rejected", "'webhook x'", "'bad'", "'hidden'");
    sql(&f, "UPDATE submission_intents SET lease_name = 'other' "
        "WHERE intent_id = 'id-37'");

    sql(&f, "INSERT INTO submission_inbox_refused (lease_name, refused_at, "
        "seq, intent_id, submission_target, payload, created_at, reason, "
        "detail) VALUES ('main', 1015, 1, 'x', 'a', '', 1, 'invalid_request', "
        "'why'), ('main', 1016, 2, 'y', 'a', '', 1, 'invalid_request', 'why'), "
        "('main', 1000, 3, 'z', 'c', '', 1, 'invalid_request', NULL), "
        "('other', 1016, 4, 'o', 'a', '', 1, 'invalid_request', 'why')");

    memset(&row, 0, sizeof(row));
    is_int(get(&f, &row), 0, "of all targets");
    is_int(row.n, 6, "six groups");
    is_int(row.partial, 0, "all of them");

    is_group(&row, 0, "b exhausted max_attempts no answer 7 1036 "
                      "id-36 id-35 id-34");
    is_group(&row, 1, "a exhausted bad HTTP 400 2 1021 id-21 id-20");
    is_group(&row, 2, "a rejected bad - 10 1019 id-19 id-18 id-17");
    is_group(&row, 3, "a refused invalid_request why 2 1016 y x");
    is_group(&row, 4, "a rejected bad HTTP 400 10 1009 id-9 id-8 id-7");
    is_group(&row, 5, "c refused invalid_request - 1 1000 z");

    memset(&row, 0, sizeof(row));
    row.target = sm_str_c("a");
    row.since = 1016;
    is_int(get(&f, &row), 0, "of one, since a time");
    is_int(row.n, 3, "three groups");
    is_group(&row, 0, "a exhausted bad HTTP 400 2 1021 id-21 id-20");
    is_group(&row, 1, "a rejected bad - 4 1019 id-19 id-18 id-17");
    is_group(&row, 2, "a refused invalid_request why 1 1016 y");

    memset(&row, 0, sizeof(row));
    row.target = sm_str_c("none");
    is_int(get(&f, &row), 0, "of a target that nobody has");
    ok(row.n == 0 && !row.partial, "are none");

    fixture_done(&f);
}


/* what was replayed is counted apart, and comes last */

static void
test_replayed(void)
{
    fixture_t          f;
    sm_failures_row_t  rows[2];

    fixture_open(&f);

    memset(rows, 0, sizeof(rows));
    must(get(&f, &rows[0]) == 0);

    fill(&f, 0, 10, "rejected", "'a'", "'bad'", "NULL");
    fill(&f, 10, 4, "exhausted", "'b'", "'max_attempts'", "NULL");
    fill(&f, 20, 3, "rejected", "'c'", "'bad'", "NULL");

    /* the newest of a, and all of b and c */

    sql(&f, "UPDATE submission_intents SET replay_count = 2 "
        "WHERE completed_at >= 1006");
    sql(&f, "UPDATE submission_intents SET completed_at = completed_at "
        "+ 120000000 WHERE submission_target = 'b'");

    memset(rows, 0, sizeof(rows));
    rows[1].since = 60000000;
    must(sm_store_failures_get(&f.store, new_call(&f), rows, 2) == 0);

    is_int(rows[0].n, 3, "three groups");
    is_group(&rows[0], 0, "a rejected bad - 6 1005 id-5 id-4 id-3");
    is_int(rows[0].failures[0].replayed, 4, "beside which are others");
    is_group(&rows[0], 1, "b exhausted max_attempts - 0 120001013 "
                          "id-13 id-12 id-11");
    is_int(rows[0].failures[1].replayed, 4, "all were replayed");
    is_group(&rows[0], 2, "c rejected bad - 0 1022 id-22 id-21 id-20");
    is_int(rows[0].failures[2].replayed, 3, "of the last group, too");

    is_int(rows[1].n, 1, "since later, one");
    is_group(&rows[1], 0, "b exhausted max_attempts - 0 120001013 "
                          "id-13 id-12 id-11");
    is_int(rows[1].failures[0].replayed, 4, "which was replayed");

    fixture_done(&f);
}


static void
test_bounds(void)
{
    fixture_t          f;
    sm_failures_row_t  row;

    fixture_open(&f);

    must(sm_store_ping(&f.store, new_call(&f)) == 0);

    fill(&f, 0, SM_FAILURES_BOUND, "rejected", "'a'", "'bad'", "NULL");

    memset(&row, 0, sizeof(row));
    is_int(get(&f, &row), 0, "as many as are looked at");
    ok(row.n == 1 && row.failures[0].count == SM_FAILURES_BOUND
       && !row.partial, "are all");

    fill(&f, SM_FAILURES_BOUND, 30000, "exhausted", "'b'", "'spent'", "NULL");

    memset(&row, 0, sizeof(row));
    is_int(get(&f, &row), 0, "more than are looked at");
    ok(row.n == 1 && row.partial, "are not all, and it is told");
    is_int(row.failures[0].count, SM_FAILURES_BOUND + 1, "the newest are");

    memset(&row, 0, sizeof(row));
    row.target = sm_str_c("a");
    is_int(get(&f, &row), 0, "the older ones of another target");
    ok(row.n == 1 && !row.partial, "are found by that");

    sql(&f, "UPDATE submission_intents SET last_error = intent_id "
        "WHERE completed_at < 1000 + %d", SM_FAILURES_GROUPS);

    memset(&row, 0, sizeof(row));
    row.target = sm_str_c("a");
    is_int(get(&f, &row), 0, "many groups");
    ok(row.n == SM_FAILURES_GROUPS && row.partial, "are not all shown");
    ok(row.failures[0].count == SM_FAILURES_BOUND - SM_FAILURES_GROUPS,
       "the newest are");

    sql(&f, "DELETE FROM submission_intents WHERE completed_at = 1000");

    memset(&row, 0, sizeof(row));
    row.target = sm_str_c("a");
    is_int(get(&f, &row), 0, "one group less");
    ok(row.n == SM_FAILURES_GROUPS && !row.partial, "are all");

    fixture_done(&f);
}


/* what was replayed does not use up the bound of what may need a hand */

static void
test_replayed_bound(void)
{
    fixture_t          f;
    sm_failures_row_t  row;

    fixture_open(&f);

    must(sm_store_ping(&f.store, new_call(&f)) == 0);

    fill(&f, 0, 2000, "rejected", "'a'", "'bad'", "NULL");
    fill(&f, 2000, SM_FAILURES_BOUND + 500, "rejected", "'a'", "'worse'",
         "NULL");
    sql(&f, "UPDATE submission_intents SET replay_count = 1 "
        "WHERE final_outcome_reason = 'worse'");

    memset(&row, 0, sizeof(row));
    is_int(get(&f, &row), 0, "more than are looked at were replayed");
    ok(row.n == 2 && row.failures[0].count == 2000, "older ones are found");
    ok(row.failures[1].count == 0
       && row.failures[1].replayed == SM_FAILURES_BOUND + 1,
       "beside as many as are looked at");
    is_int(row.partial, 1, "and it is told that there are more");

    sql(&f, "UPDATE submission_intents SET replay_count = NULL");

    memset(&row, 0, sizeof(row));
    is_int(get(&f, &row), 0, "none was replayed");
    ok(row.n == 1 && row.failures[0].count == SM_FAILURES_BOUND + 1
       && row.failures[0].replayed == 0 && row.partial,
       "as many as are looked at");

    fixture_done(&f);
}


static void
get_since(fixture_t *f, sm_failures_row_t *rows, const int64_t *since, size_t n)
{
    size_t  i;

    memset(rows, 0, n * sizeof(sm_failures_row_t));

    for (i = 0; i < n; i++) {
        rows[i].since = since[i] * 1000000;
    }

    is_int(sm_store_failures_get(&f->store, new_call(f), rows, n), 0,
           "a look since %zu times", n);
}


/* one look answers for several times as looks at each of them do */

static void
test_shared(void)
{
    size_t             i, k;
    fixture_t          f;
    sm_failures_row_t  rows[6], one;

    static const int64_t  since[] = { 120, 0, 60, 180, 60, 240 };

    fixture_open(&f);

    must(sm_store_ping(&f.store, new_call(&f)) == 0);

    /* ten seconds apart, in two groups, the older of which ends early */

    fill(&f, 0, 20, "rejected", "'a'", "'bad'", "'HTTP 400'");
    sql(&f, "UPDATE submission_intents SET last_error = NULL "
        "WHERE completed_at %% 3 = 0 AND completed_at < 1010");
    sql(&f, "UPDATE submission_intents "
        "SET completed_at = (completed_at - 1000) * 10000000");

    get_since(&f, rows, since, 6);

    is_int(rows[1].n, 2, "two groups since the earliest");
    is_group(&rows[1], 0, "a rejected bad HTTP 400 17 190000000 "
                          "id-19 id-18 id-17");
    is_group(&rows[1], 1, "a rejected bad - 3 80000000 id-8 id-5 id-2");
    is_group(&rows[2], 0, "a rejected bad HTTP 400 13 190000000 "
                          "id-19 id-18 id-17");
    is_group(&rows[2], 1, "a rejected bad - 1 80000000 id-8");
    is_group(&rows[4], 1, "a rejected bad - 1 80000000 id-8");
    is_int(rows[0].n, 1, "one group since a later time");
    is_group(&rows[0], 0, "a rejected bad HTTP 400 8 190000000 "
                          "id-19 id-18 id-17");
    is_group(&rows[3], 0, "a rejected bad HTTP 400 2 190000000 id-19 id-18");
    is_int(rows[5].n, 0, "none since the last");

    /* the newest are looked at: since a late time these are all */

    fill(&f, 1000, SM_FAILURES_BOUND, "rejected", "'a'", "'bad'", "NULL");
    sql(&f, "UPDATE submission_intents SET completed_at = 90000000 "
        "WHERE completed_at BETWEEN 2000 AND 80000");

    get_since(&f, rows, since, 6);

    for (i = 0; i < 6; i++) {
        one = rows[i];
        k = rows[i].n;

        is_int(rows[i].partial, since[i] <= 60, "all since %d s: %s",
               (int) since[i], since[i] <= 60 ? "no" : "yes");

        must(get(&f, &one) == 0);
        ok(one.n == k && one.partial == rows[i].partial, "as by itself");
    }

    fixture_done(&f);
}


/* beside a long history, steps of SQLite's machine are of those that are shown */

static void
test_cost(void)
{
    int                i;
    int64_t            steps[2];
    sqlite3           *db;
    fixture_t          f;
    sqlite3_stmt      *stmt;
    sm_failures_row_t  row;

    fixture_open(&f);
    db = store_db(&f);

    fill(&f, 100000, 50, "rejected", "'a'", "'bad'", "NULL");

    for (i = 0; i < 2; i++) {
        memset(&row, 0, sizeof(row));
        row.since = 101000;

        for (stmt = NULL; (stmt = sqlite3_next_stmt(db, stmt)); ) {
            (void) sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
        }

        must(get(&f, &row) == 0);
        is_int(row.n, 1, "one group");
        is_int(row.failures[0].count, 50, "of fifty");

        for (steps[i] = 0, stmt = NULL; (stmt = sqlite3_next_stmt(db, stmt)); ) {
            steps[i] += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
        }

        if (i == 0) {
            fill(&f, 0, 40000, "rejected", "'a'", "'bad'", "NULL");
        }
    }

    ok(steps[0] > 0 && steps[1] <= 2 * steps[0],
       "%lld steps of 50 failures, %lld with 40,000 older ones",
       (long long) steps[0], (long long) steps[1]);

    fixture_done(&f);
}


int
main(void)
{
    test_groups();
    test_replayed();
    test_bounds();
    test_replayed_bound();
    test_shared();

    if (on_sqlite()) {
        test_cost();
    }

    return done_testing();
}
