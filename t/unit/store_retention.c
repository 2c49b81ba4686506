
/*
 * Retention on every store, on a clock that the test sets: who is stripped and
 * who is forgotten, when, and by how many at a time.  Broken by: a fence that
 * is not looked at; an intent that is pending, or younger than its time, and
 * touched; a status with the time of another; an attempt that is left behind; a
 * hash that goes, so that a duplicate makes a second intent; a batch without a
 * bound, or one that reads what it does not change; a target that is passed
 * over.
 */

#include "plans.h"
#include "sql_clock.h"
#include "sm_sqlite_sql.h"


#define DAY   (24 * INT64_C(3600000000))        /* usec */


static const sm_fence_t  a1 = { sm_str("a"), 1 };
static const sm_fence_t  b1 = { sm_str("b"), 1 };


/* an intent that ended so many days ago, with so many attempts */

static void
old(fixture_t *f, const char *id, const sm_contract_t *contract,
    const char *status, int64_t days, int attempts)
{
    int  i;

    must(outcome(f, id, contract, "{\"a\":1}") == SM_SUBMIT_CREATED);

    sql(f, "UPDATE submission_intents SET status = '%s', attempt_count = %d, "
        "completed_at = %lld, next_attempt_at = NULL WHERE intent_id = '%s'",
        status, attempts, (long long) (START * 1000 - days * DAY), id);

    for (i = 1; i <= attempts; i++) {
        sql(f, "INSERT INTO submission_attempts " ATTEMPT_COLUMNS " VALUES "
            "('main', '%s', %d, 1, 'a', 1000, 2000, 'accepted', NULL, NULL)",
            id, i);
    }
}


static int
batch(fixture_t *f, const sm_fence_t *fence, const sm_retention_rules_t *rules,
    size_t limit, sm_retention_t *rt)
{
    static char  done[512], place[2048];
    sm_str_t     after = { rt->done.len, done };
    sm_str_t     from = { rt->place.len, rt->place.len ? place : NULL };
    int64_t      since;

    if (rt->done.len) {
        memcpy(done, rt->done.data, rt->done.len);
    }

    if (rt->place.len) {
        must(rt->place.len <= sizeof(place));
        memcpy(place, rt->place.data, rt->place.len);
    }

    since = rt->since;
    memset(rt, 0xff, sizeof(sm_retention_t));

    rt->rules = rules;
    rt->limit = limit;
    rt->after = after;
    rt->from = from;
    rt->since = since;

    return sm_store_retention(&f->store, new_call(f), fence, rt);
}


/* a whole pass; the number of batches */

static int
pass(fixture_t *f, const sm_retention_rules_t *rules, size_t limit,
    sm_retention_t *sum)
{
    int             n;
    sm_retention_t  rt;

    memset(&rt, 0, sizeof(sm_retention_t));
    memset(sum, 0, sizeof(sm_retention_t));

    n = 0;

    do {
        must(batch(f, &a1, rules, limit, &rt) == 0);
        must(n++ < 100);

        sum->stripped += rt.stripped;
        sum->forgotten += rt.forgotten;
        sum->others += rt.others;
        sum->rows += rt.rows;

        if (rt.overdue > sum->overdue) {
            sum->overdue = rt.overdue;
        }
    } while (!rt.end);

    return n;
}


/* the intents, and an S for each that is stripped; the attempts of each */

static const char *
intents(fixture_t *f)
{
    const char  *text;

    text = sql_text(f, "SELECT group_concat(t, ' ') FROM (SELECT intent_id || "
                    "CASE WHEN stripped_at IS NULL THEN '' ELSE 'S' END || "
                    "length(payload) || (SELECT count(*) FROM "
                    "submission_attempts AS a WHERE a.intent_id = i.intent_id) "
                    "AS t FROM submission_intents AS i ORDER BY intent_id) "
                    "AS x");

    return text ? text : "";
}


static void
test_pass(void)
{
    fixture_t             f;
    sm_retention_t        rt;
    sm_retention_rules_t  rules;

    leader_open(&f, HOUR);

    old(&f, "a", &sms, "accepted", 29, 1);
    old(&f, "b", &sms, "accepted", 31, 2);
    old(&f, "c", &push, "accepted", 366, 1);
    old(&f, "d", &push, "rejected", 31, 1);
    old(&f, "e", &push, "exhausted", 100, 3);
    must(outcome(&f, "p", &push, "{\"a\":1}") == SM_SUBMIT_CREATED);
    sql(&f, "UPDATE submission_intents SET created_at = 1000, "
        "last_modified_at = 1000 WHERE intent_id = 'p'");

    memset(&rules, 0, sizeof(sm_retention_rules_t));
    memset(&rt, 0, sizeof(sm_retention_t));

    must(batch(&f, &a1, &rules, 100, &rt) == 0);
    is_str(intents(&f), "a71 b72 c71 d71 e73 p70", "without rules all is kept");

    rules.statuses[SM_STATUS_ACCEPTED].strip = 30 * DAY;
    rules.statuses[SM_STATUS_ACCEPTED].forget = 365 * DAY;
    rules.statuses[SM_STATUS_EXHAUSTED].forget = 99 * DAY;

    memset(&rt, 0, sizeof(sm_retention_t));
    is_int(batch(&f, &b1, &rules, 100, &rt), -1, "another one may not");
    is_int(f.call.status, SM_STORE_LEASE_LOST, "the lease is not its own");
    is_str(intents(&f), "a71 b72 c71 d71 e73 p70", "all is as it was");

    is_int(pass(&f, &rules, 100, &rt), 1, "one batch");
    is_int(f.call.now, START * 1000, "the time is told");
    is_int(rt.stripped, 3, "those that are old enough are stripped");
    is_int(rt.forgotten, 0, "before they are forgotten");
    is_int(rt.overdue, 336 * DAY, "the oldest was overdue");
    is_str(intents(&f), "a71 bS00 cS00 d71 eS00 p70", "and no others");
    is_int(outcome(&f, "b", &sms, "{\"a\":1}"), SM_SUBMIT_SAME,
           "a duplicate is known");
    is_int(outcome(&f, "b", &sms, "{\"a\":2}"), SM_SUBMIT_CONFLICT,
           "and so is another one");

    (void) pass(&f, &rules, 100, &rt);
    is_int(rt.forgotten, 2, "then those that are older still are forgotten");
    is_str(intents(&f), "a71 bS00 d71 p70", "and no others");

    (void) pass(&f, &rules, 100, &rt);
    is_int(rt.stripped + rt.forgotten + rt.overdue, 0, "and that is all");

    /* to the microsecond */

    sql(&f, "UPDATE submission_intents SET completed_at = %lld "
        "WHERE intent_id = 'a'", (long long) (START * 1000 - 30 * DAY + 1));
    (void) pass(&f, &rules, 100, &rt);
    is_int(rt.stripped, 0, "not a microsecond too early");

    now_ms++;
    (void) pass(&f, &rules, 100, &rt);
    is_int(rt.stripped, 1, "and not later");

    fixture_done(&f);
}


static void
test_bounds(void)
{
    int                   i, n;
    char                  id[16];
    fixture_t             f;
    sm_retention_t        rt;
    sm_retention_rules_t  rules;

    leader_open(&f, HOUR);

    for (i = 0; i < 12; i++) {
        (void) snprintf(id, sizeof(id), "r%02d", i);
        old(&f, id, i % 2 ? &sms : &push, "accepted", 40 + i, 1);
    }

    old(&f, "many", &push, "rejected", 40, 25);

    memset(&rules, 0, sizeof(sm_retention_rules_t));
    memset(&rt, 0, sizeof(sm_retention_t));

    rules.statuses[SM_STATUS_ACCEPTED].strip = 30 * DAY;
    rules.statuses[SM_STATUS_REJECTED].strip = 30 * DAY;

    must(batch(&f, &a1, &rules, 7, &rt) == 0);
    is_int(rt.stripped, 3, "three rows with an attempt each are six of seven");
    is_int(rt.rows, 7, "there is no room for another one");
    is_int(rt.end, 0, "it is not the end");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE stripped_at IS NOT NULL AND intent_id IN "
                   "('r10', 'r08', 'r06')"),
           3, "the oldest ones of the first target");

    n = pass(&f, &rules, 7, &rt);
    ok(n >= 6, "the rest, and many attempts, take their time: %d batches", n);
    is_int(rt.stripped, 10, "all of them");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_attempts"), 0,
           "and no attempt is left");

    memset(&rules, 0, sizeof(sm_retention_rules_t));
    rules.statuses[SM_STATUS_ACCEPTED].forget = 45 * DAY;
    n = pass(&f, &rules, 2, &rt);
    ok(n >= 4, "%d batches", n);
    is_int(rt.forgotten, 7, "those that are older go");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 6,
           "the others stay");

    fixture_done(&f);
}


static void
test_others(void)
{
    int                   i;
    fixture_t             f;
    sm_retention_t        rt;
    sm_retention_rules_t  rules;

    leader_open(&f, HOUR);

    for (i = 0; i < 5; i++) {
        sql(&f, "INSERT INTO submission_audit (seq, lease_name, at, actor, "
            "address, action, object, detail) VALUES (%d, 'main', %lld, 'x', "
            "'y', 'cancel', 'z', NULL)", i + 1,
            (long long) (START * 1000 - i * DAY));
        sql(&f, "INSERT INTO submission_inbox_refused (lease_name, refused_at, "
            "seq, intent_id, submission_target, payload, created_at, reason) "
            "VALUES ('main', %lld, %d, 'x', 'y', '', 1000, 'z')",
            (long long) (START * 1000 - i * DAY), i + 1);
        sql(&f, "INSERT INTO submission_jobs (lease_name, kind, job_id, "
            "filter, max_intents, state, seen_count, done_count, "
            "skipped_count, actor, created_at, last_modified_at, "
            "completed_at) VALUES ('main', '%s', 'j%d', '{}', 1, 'done', 0, 0, "
            "0, 'x', 1000, 1000, %lld)",
            i % 2 ? "cancel" : "replay", i,
            (long long) (START * 1000 - i * DAY));
    }

    sql(&f, "INSERT INTO submission_jobs (lease_name, kind, job_id, filter, "
        "max_intents, state, seen_count, done_count, skipped_count, actor, "
        "created_at, last_modified_at, completed_at) VALUES ('main', 'cancel', "
        "'runs', '{}', 1, 'running', 0, 0, 0, 'x', 1000, 1000, NULL)");

    memset(&rules, 0, sizeof(sm_retention_rules_t));

    rules.audit = 3 * DAY;
    rules.refused = 2 * DAY;

    is_int(pass(&f, &rules, 2, &rt), 3, "in batches");
    is_int(rt.others, 5, "of the audit, and of the refusals");
    is_int(rt.rows, 5, "which are all the rows");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_audit"), 3,
           "the younger ones stay");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_inbox_refused"), 2,
           "here, too");

    rules.jobs = 2 * DAY;

    is_int(pass(&f, &rules, 2, &rt), 2, "jobs, too");
    is_int(rt.others, 3, "those that ended long ago");
    is_str(sql_text(&f, "SELECT group_concat(job_id, ' ') FROM (SELECT job_id "
                    "FROM submission_jobs ORDER BY job_id) AS x"),
           "j0 j1 runs", "and neither younger ones nor one that runs");

    fixture_done(&f);
}


/* what a batch reads, however much there is beside it */

static int64_t
cost_postgres(fixture_t *f)
{
    char        result[64];
    int64_t     n, before;
    sql_conn_t  c;

    c = sql_open(f);
    sql_run(c, "BEGIN");
    before = server_rows_read(c.server);

    n = atoll(server_text(c.server, "SELECT sum(o_stripped)::text FROM "
                          "submission.submission_retention('main', 'a', 1, '', "
                          "20, '[{\"status\":\"accepted\",\"strip\":1000000}]',"
                          " 0, 0, 0)", result, sizeof(result)));
    is_int(n, 10, "a batch of ten intents with an attempt each");

    n = server_rows_read(c.server) - before;

    sql_run(c, "ROLLBACK");
    sql_close(c);

    return n;
}


static int64_t
cost_sqlite(fixture_t *f, sqlite3 *db)
{
    int64_t               n;
    sqlite3_stmt         *stmt;
    sm_retention_t        rt;
    sm_retention_rules_t  rules;

    memset(&rules, 0, sizeof(sm_retention_rules_t));
    memset(&rt, 0, sizeof(sm_retention_t));
    rules.statuses[SM_STATUS_ACCEPTED].strip = 1000000;

    for (stmt = NULL; (stmt = sqlite3_next_stmt(db, stmt)); ) {
        (void) sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
    }

    must(batch(f, &a1, &rules, 20, &rt) == 0);
    is_int(rt.stripped, 10, "a batch of ten intents with an attempt each");
    is_int(rt.rows, 20, "which are twenty rows");

    for (n = 0, stmt = NULL; (stmt = sqlite3_next_stmt(db, stmt)); ) {
        n += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
    }

    return n;
}


static void
test_cost(void)
{
    int         i, pass;
    char        id[16];
    int64_t     few, much;
    sqlite3    *db;
    fixture_t   f;

    now_ms = START;
    fixture_open(&f);

    db = on_sqlite() ? store_db(&f) : NULL;

    lead(&f, "a", HOUR, 1);

    for (i = 0; i < 60; i++) {
        (void) snprintf(id, sizeof(id), "r%02d", i);
        old(&f, id, &sms, "accepted", 40 + i, 1);
    }

    for (pass = 0, few = 0; pass < 3; pass++) {

        if (pass == 1) {
            for (i = 0; i < 400; i++) {
                (void) snprintf(id, sizeof(id), "p%03d", i);
                must(outcome(&f, id, i % 2 ? &sms : &push, "{}")
                     == SM_SUBMIT_CREATED);
            }
        }

        if (pass == 2) {
            sql(&f, on_sqlite() ? "ANALYZE"
                                : "ANALYZE submission.submission_intents");
        }

        much = on_sqlite() ? cost_sqlite(&f, db) : cost_postgres(&f);

        if (pass == 0) {
            few = much;
            continue;
        }

        ok(few > 0 && much > 0 && much <= few + few / 2,
           "it reads %lld alone, %lld beside 400%s", (long long) few,
           (long long) much, pass == 2 ? ", with statistics" : "");
    }

    fixture_done(&f);
}


/*
 * While a long transaction keeps what is dead in the indexes, a batch must not pass
 * it again, nor must the next pass: "since" is the time of this one.
 */

static void
test_dead(void)
{
    int         i, left;
    char        call[2048], place[1024], result[64], id[16];
    int64_t     first, reads, before;
    fixture_t   f;
    sql_conn_t  c, dump;

    leader_open(&f, HOUR);

    for (i = 0; i < 300; i++) {
        (void) snprintf(id, sizeof(id), "d%03d", i);
        old(&f, id, &sms, "accepted", 40 + i % 7, 1);
    }

    dump = sql_open(&f);
    sql_run(dump, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    sql_run(dump, "SELECT count(*) FROM submission.submission_intents");

    c = sql_open(&f);
    (void) snprintf(place, sizeof(place), "NULL");

    for (i = 0, first = 0, reads = 0, left = 300; left > 0; i++) {
        must(i < 100);

        (void) snprintf(call, sizeof(call), "CREATE TEMP TABLE answer AS "
                        "SELECT * FROM submission.submission_retention('main', "
                        "'a', 1, '', 20, '[{\"status\":\"accepted\","
                        "\"strip\":1000000}]', 0, 0, 0, %s)", place);

        sql_run(c, "BEGIN");
        before = server_rows_read(c.server);
        sql_run(c, call);
        reads = server_rows_read(c.server) - before;
        sql_run(c, "COMMIT");

        first = i ? first : reads;
        left -= atoi(server_text(c.server, "SELECT sum(o_stripped)::text "
                                 "FROM answer", result, sizeof(result)));

        (void) server_text(c.server, "SELECT coalesce(quote_literal(max("
                           "o_place)), 'NULL') FROM answer", place,
                           sizeof(place));
        sql_run(c, "DROP TABLE answer");
    }

    is_int(left, 0, "each is stripped once, in %d batches", i);
    ok(reads <= 2 * first, "the first batch reads %lld, the last one %lld",
       (long long) first, (long long) reads);

    sql_run(c, "BEGIN");
    before = server_rows_read(c.server);
    (void) snprintf(call, sizeof(call), "CREATE TEMP TABLE answer AS SELECT * "
                    "FROM submission.submission_retention('main', 'a', 1, '', "
                    "20, '[{\"status\":\"accepted\",\"strip\":1000000}]', 0, "
                    "0, 0, NULL, %lld)", (long long) START * 1000);
    sql_run(c, call);
    reads = server_rows_read(c.server) - before;
    sql_run(c, "ROLLBACK");

    ok(reads <= 2 * first, "the next pass reads %lld", (long long) reads);

    sql_run(dump, "ROLLBACK");
    sql_close(dump);
    sql_close(c);
    fixture_done(&f);
}


/*
 * Statistics of tables that had five rows when they were made speak for scans of
 * what has millions by now.
 */

static void
test_plans(void)
{
    size_t         i;
    fixture_t      f;
    sql_conn_t     db;
    const char    *detail;
    sqlite3_stmt  *stmt;

    static const struct {
        const char  *name;
        const char  *text;
        const char  *search;            /* of the rows that go */
    } t[] = {
        { "audit", sm_sqlite_sql_retention_audit, "submission_audit USING "
          "INDEX submission_audit_at (lease_name=? AND at<?)" },
        { "refused", sm_sqlite_sql_retention_refused,
          "submission_inbox_refused USING INDEX "
          "sqlite_autoindex_submission_inbox_refused_1 (lease_name=? AND "
          "refused_at<?)" },
        { "forget", sm_sqlite_sql_retention_forget, "submission_intents USING "
          "INDEX submission_intents_stripped (lease_name=? AND "
          "submission_target=? AND status=? AND completed_at<?)"
        }
    };

    leader_open(&f, HOUR);
    db = sql_open(&f);
    sql_run(db, "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 "
            "FROM n WHERE i < 5) INSERT INTO submission_audit (lease_name, at, "
            "actor, address, action, object) SELECT 'main', i, 'x', 'y', "
            "'cancel', 'z' FROM n");
    sql_run(db, "INSERT INTO submission_inbox_refused (lease_name, refused_at, "
            "seq, intent_id, submission_target, payload, created_at, reason) "
            "SELECT 'main', seq, seq, 'x', 'y', '', 1, 'z' "
            "FROM submission_audit");
    sql_close(db);

    old(&f, "x", &sms, "accepted", 40, 1);

    for (i = 0; i < 2 * sizeof(t) / sizeof(t[0]); i++) {

        db = sql_open(&f);

        if (i == sizeof(t) / sizeof(t[0])) {
            sql_run(db, "ANALYZE");
            sql_close(db);
            db = sql_open(&f);
        }

        stmt = plan_explain(db, t[i % 3].text);
        must(sqlite3_step(stmt) == SQLITE_ROW);

        detail = (const char *) sqlite3_column_text(stmt, 3);

        ok(strncmp(detail, "SEARCH ", 7) == 0
           && strcmp(detail + 7, t[i % 3].search) == 0, "%s, %s statistics: %s",
           t[i % 3].name, i < 3 ? "without" : "with", detail);

        while (sqlite3_step(stmt) == SQLITE_ROW) {
            detail = (const char *) sqlite3_column_text(stmt, 3);
            ok(strstr(detail, "SCAN submission") == NULL, "and %s", detail);
        }

        (void) sqlite3_finalize(stmt);
        sql_close(db);
    }

    fixture_done(&f);
}


int
main(void)
{
    sql_clock_start();

    if (on_sqlite()) {
        test_plans();

    } else if (!on_babelfish()) {
        test_dead();
    }

    test_pass();
    test_bounds();
    if (!on_babelfish()) {      /* the keys of the audit are its own */
        test_others();
        test_cost();
    }

    return done_testing();
}
