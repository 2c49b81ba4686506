
/*
 * Pauses of targets in the store: each outcome, the audit of it, and what a
 * leader reads.  Broken by: a change without its entry in the audit, or an
 * entry without a change; a second pause that changes the first one's reason; a
 * target that nobody knows and that can be paused; a leader that is not one any
 * more and reads; a history that is read to find that nobody knows a target.
 */

#include "store.h"


static const sm_actor_t  ann = { sm_str("ann"), sm_str("192.0.2.7") };
static const sm_actor_t  bob = { sm_str("bob"), sm_str("192.0.2.8") };


static int
set(fixture_t *f, const char *target, int pause, int known, const char *reason,
    const sm_actor_t *actor, sm_target_set_t *row)
{
    memset(row, 0, sizeof(sm_target_set_t));

    row->target = sm_str_c(target);
    row->pause = pause;
    row->known = known;
    row->actor = *actor;

    if (reason) {
        row->reason = sm_str_c(reason);
    }

    return sm_store_target_set(&f->store, new_call(f), row, 1) == 0
           ? (int) row->outcome : -1;
}


/* the targets that are paused, in any order: how many, and one of them */

static const sm_pause_t *
paused(fixture_t *f, const sm_fence_t *fence, const char *target, size_t *n)
{
    size_t              i;
    static sm_pauses_t  pauses;

    *n = 99;

    if (sm_store_targets_paused(&f->store, new_call(f), fence, &pauses) != 0) {
        return NULL;
    }

    *n = pauses.n;

    for (i = 0; i < pauses.n; i++) {
        if (sm_str_eq(pauses.rows[i].target, sm_str_c(target))) {
            return &pauses.rows[i];
        }
    }

    return NULL;
}


static void
test_set(void)
{
    int64_t          since;
    fixture_t        f;
    sm_target_set_t  row;

    fixture_open(&f);

    is_int(set(&f, "x", 1, 0, NULL, &ann, &row), SM_TARGET_SET_UNKNOWN,
           "nobody knows it: it is not paused");
    is_int(set(&f, "x", 0, 0, NULL, &ann, &row), SM_TARGET_SET_UNKNOWN,
           "nor does it go on");

    is_int(set(&f, "x", 0, 1, NULL, &ann, &row), SM_TARGET_SET_SAME,
           "it is configured: it is open");
    ok(!row.paused && row.is.since == 0, "and always was");
    is_str(audit_text(&f), "", "nothing was done");

    is_int(set(&f, "x", 1, 1, "it says \"no\"", &ann, &row),
           SM_TARGET_SET_DONE, "paused");
    ok(row.paused && row.is.since > 1700000000000000, "since now");
    is_mem(row.is.reason.data, row.is.reason.len, "it says \"no\"", 12, "why");
    is_mem(row.is.actor.data, row.is.actor.len, "ann", 3, "by whom");
    is_str(audit_text(&f),
           "ann 192.0.2.7 pause x {\"reason\":\"it says \\\"no\\\"\"}",
           "in the audit");

    since = row.is.since;

    is_int(set(&f, "x", 1, 1, "again", &bob, &row), SM_TARGET_SET_SAME,
           "again: it is");
    ok(row.paused && row.is.since == since, "since then");
    is_mem(row.is.reason.data, row.is.reason.len, "it says \"no\"", 12,
           "for the first reason");
    is_mem(row.is.actor.data, row.is.actor.len, "ann", 3, "by the first");

    is_int(set(&f, "x", 0, 0, NULL, &bob, &row), SM_TARGET_SET_DONE,
           "it goes on, though it is not configured here");
    ok(!row.paused && row.is.since >= since, "from now on");
    ok(row.is.reason.len == 0, "without a reason");
    is_int(set(&f, "x", 0, 0, NULL, &bob, &row), SM_TARGET_SET_SAME, "again");

    is_str(audit_text(&f),
           "ann 192.0.2.7 pause x {\"reason\":\"it says \\\"no\\\"\"}, "
           "bob 192.0.2.8 resume x -", "what was done, and nothing else");

    is_int(set(&f, "x", 1, 0, NULL, &bob, &row), SM_TARGET_SET_DONE,
           "and paused, a second time");
    ok(row.paused && row.is.reason.len == 0, "without a reason");

    must(outcome(&f, "i", &sms, "i") == SM_SUBMIT_CREATED);
    is_int(set(&f, "sms", 1, 0, NULL, &ann, &row),
           SM_TARGET_SET_DONE, "one that is known by its intents alone");

    sql(&f, "UPDATE submission_intents SET status = 'accepted', "
        "next_attempt_at = NULL, completed_at = created_at");
    sql(&f, "DELETE FROM submission_targets");
    is_int(set(&f, "sms", 1, 0, NULL, &ann, &row),
           SM_TARGET_SET_UNKNOWN, "but not by what has ended");

    fixture_done(&f);
}


static void
test_paused(void)
{
    size_t             n;
    fixture_t          f;
    sm_fence_t         a1 = { sm_str("a"), 1 }, a2 = { sm_str("a"), 2 };
    sm_lease_t         lease;
    const sm_pause_t  *p;
    sm_target_set_t    rows[3];

    fixture_open(&f);

    must(sm_store_lease_acquire(&f.store, new_call(&f), sm_str_c("a"),
                                3600000, &lease) == 0);

    p = paused(&f, &a1, "x", &n);
    ok(p == NULL && n == 0, "none is paused");

    memset(rows, 0, sizeof(rows));
    rows[0].target = sm_str_c("x");
    rows[1].target = sm_str_c("\xc3\xa9\xf0\x9f\x98\x80");
    rows[2].target = sm_str_c("z");
    rows[0].pause = rows[1].pause = rows[2].pause = 1;
    rows[0].known = rows[1].known = rows[2].known = 1;
    rows[1].reason = sm_str_c("\xf0\x9f\x98\x80 \xc3\xa9");
    rows[0].actor = rows[1].actor = rows[2].actor = ann;

    is_int(sm_store_target_set(&f.store, new_call(&f), rows, 3), 0, "three");

    p = paused(&f, &a1, "\xc3\xa9\xf0\x9f\x98\x80", &n);
    is_int(n, 3, "they are paused");
    ok(p && p->since == rows[1].is.since, "since when");
    ok(p && sm_str_eq(p->reason, rows[1].reason), "why");
    ok(p && sm_str_eq(p->actor, ann.name), "by whom");

    rows[0].pause = 0;
    is_int(sm_store_target_set(&f.store, new_call(&f), rows, 1), 0, "one less");
    p = paused(&f, &a1, "x", &n);
    ok(p == NULL && n == 2, "it is not paused");

    p = paused(&f, &a2, "z", &n);
    is_int(n, 99, "whoever does not lead does not read it");

    fixture_done(&f);
}


/* what ended long ago, of the target that is asked for */

static void
history(fixture_t *f, int n)
{
    sql(f, "WITH RECURSIVE n(i) AS "
        "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "INSERT INTO submission_intents (lease_name, intent_id, "
        "submission_target, payload_hash, gateway_type, gateway_url, policy, "
        "terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct, "
        "retry_jitter_pct, status, attempt_count, created_at, completed_at, "
        "last_modified_at, payload) "
        "SELECT 'main', 'h' || i, 'old', 'h', 'sms', 'http://a', 'one_shot', "
        "'', 1, 0, 100, 0, 'accepted', 1, i, i, i, '' FROM n", n);
}


/* steps of SQLite's machine, or rows of intents that PostgreSQL has read */

static int64_t
cost(fixture_t *f, sqlite3 *db)
{
    char              result[64];
    int64_t           n;
    sql_conn_t        c;
    sqlite3_stmt     *stmt;
    sm_target_set_t   row;

    static const char  rows_read[] = "SELECT "
        "(SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) "
        "FROM pg_index WHERE indrelid = "
        "'submission.submission_intents'::regclass) "
        "+ pg_stat_get_xact_tuples_returned("
        "'submission.submission_intents'::regclass)";

    if (db) {

        for (stmt = NULL; (stmt = sqlite3_next_stmt(db, stmt)); ) {
            (void) sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
        }

        must(set(f, "old", 1, 0, NULL, &ann, &row) == SM_TARGET_SET_UNKNOWN);

        for (n = 0, stmt = NULL; (stmt = sqlite3_next_stmt(db, stmt)); ) {
            n += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
        }

        return n;
    }

    c = sql_open(f);
    sql_run(c, "BEGIN");

    must(atoll(server_text(c.server, "SELECT count(*) FROM "
                           "submission.submission_target_set('main', 'old', "
                           "'paused', NULL, 'ann', '192.0.2.7', NULL, 0)",
                           result, sizeof(result))) == 0);
    n = atoll(server_text(c.server, rows_read, result, sizeof(result)));

    sql_run(c, "ROLLBACK");
    sql_close(c);

    return n;
}


static void
test_cost(void)
{
    int64_t     few, much;
    sqlite3    *db;
    fixture_t   f;

    fixture_open(&f);
    db = on_sqlite() ? store_db(&f) : NULL;

    few = cost(&f, db);
    history(&f, 20000);
    much = cost(&f, db);
    ok(much <= 2 * few + 10, "a target that nobody knows costs %lld without "
       "history, %lld with it", (long long) few, (long long) much);

    sql(&f, on_sqlite() ? "ANALYZE" : "ANALYZE submission.submission_intents");
    much = cost(&f, db);
    ok(much <= 2 * few + 10, "and %lld with statistics", (long long) much);

    fixture_done(&f);
}


int
main(void)
{
    test_set();
    test_paused();

    if (on_sqlite() || !on_babelfish()) {
        test_cost();
    }

    return done_testing();
}
