
/*
 * Lists and what reads cost: every intent once, newest first, whatever the
 * page size, the filter and the writes in between; and no statement that
 * looks at more rows when there is more history.  Broken by: a cursor that is
 * not the order's own columns, a page merged wrongly from its statuses, an
 * index that a statement no longer matches.
 */

#include "sm_sqlite_sql.h"
#include "plans.h"
#include "store.h"


#define ROWS  120
#define MANY  900                       /* of many targets */


static const sm_str_t  none = sm_null_str;

static sqlite3  *latest;                /* the store's own connection */


/*
 * Intents of three targets and all statuses, one in ten of another manager.
 * What goes beyond 400 is history: of one other target, and accepted.
 */

static void
fill(fixture_t *f, int n, const char *created_at)
{
    sql(f, "WITH RECURSIVE n(i) AS "
        "(SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) "
        "INSERT INTO submission_intents (lease_name, intent_id, "
        "submission_target, payload_hash, gateway_type, gateway_url, policy, "
        "terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct, "
        "retry_jitter_pct, status, attempt_count, created_at, "
        "last_modified_at, payload) "
        "SELECT CASE WHEN i %% 10 = 9 THEN 'other' ELSE 'main' END, "
        "printf('%%05d', i * 7919 %% 99991), "
        "CASE WHEN i < 400 THEN 't' || (i %% 3) ELSE 'bulk' END, 'h', 'sms', "
        "'http://a', 'one_shot', '', 1, 0, 100, 0, "
        "CASE WHEN i >= 400 THEN 'accepted' ELSE json_extract("
        "'[\"pending\",\"accepted\",\"rejected\",\"exhausted\"]', "
        "'$[' || (i / 5 %% 4) || ']') END, 0, %s, 0, '' FROM n",
        n, created_at);
}


static const char *
expected_ids(fixture_t *f, sm_status_e status, sm_str_t target)
{
    return sql_text(f, "SELECT group_concat(intent_id, ' ') FROM "
                    "(SELECT intent_id FROM submission_intents "
                    "WHERE lease_name = 'main' AND ('%s' IN ('', status)) "
                    "AND ('%s' IN ('', submission_target)) "
                    "ORDER BY created_at DESC, intent_id DESC) AS i",
                    status ? sm_status_name(status).data : "",
                    target.data ? target.data : "");
}


static int
list(fixture_t *f, sm_list_row_t *l)
{
    return sm_store_intents_list(&f->store, new_call(f), l, 1);
}


/* walks all pages; the ids that it saw, or NULL when a page is wrong */

static const char *
walk(fixture_t *f, sm_status_e status, sm_str_t target, size_t limit,
    void (*between)(fixture_t *f))
{
    static char  ids[MANY * 16];

    char           after[32], *p;
    size_t         i;
    sm_list_row_t  l = { .status = status, .target = target, .limit = limit };

    p = ids;
    *p = '\0';

    for ( ;; ) {
        if (list(f, &l) != 0 || l.n > limit || (l.more && l.n != limit)
            || (l.n == 0 && l.more))
        {
            diag("a page of %zu of %zu, more %u: %s", l.n, limit, l.more,
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

        l.after_at = l.intents[l.n - 1].created_at;
        (void) sprintf(after, "%s", l.intents[l.n - 1].id.data);
        l.after_id = sm_str_c(after);
        l.n = 0;
        l.more = 0;

        if (between) {
            between(f);
        }
    }
}


static void
test_pages(const char *created_at, const char *name)
{
    char         expected[ROWS * 16];
    size_t       limit, t;
    unsigned     bad;
    fixture_t    f;
    const char  *seen;
    sm_status_e  status;

    static const sm_str_t  targets[] = {
        sm_null_str, sm_str("t0"), sm_str("t1"), sm_str("t2")
    };

    fixture_open(&f);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a store, %s", name);
    fill(&f, ROWS, created_at);

    for (t = 0; t < 4; t++) {
        for (status = SM_STATUS_NONE; status <= SM_STATUS_EXHAUSTED; status++) {

            (void) strcpy(expected, expected_ids(&f, status, targets[t]));

            for (limit = 1, bad = 0; limit <= ROWS; limit += 1 + limit / 4) {
                seen = walk(&f, status, targets[t], limit, NULL);
                bad += seen == NULL || strcmp(seen, expected) != 0;
            }

            is_int(bad, 0, "%s: status \"%s\", target \"%s\", in pages of "
                   "every size", name,
                   status ? sm_status_name(status).data : "",
                   targets[t].data ? targets[t].data : "");
        }
    }

    fixture_done(&f);
}


static int  added;


static void
add_newer(fixture_t *f)
{
    sm_submit_row_t  r;
    char             id[32];

    (void) sprintf(id, "new-%d", added++);
    must(submit_one(f, &r, id, "1") == 0);
    must(r.outcome == SM_SUBMIT_CREATED);

    /* what is done meanwhile may move an intent to another status */

    sql(f, "UPDATE submission_intents SET status = CASE status "
        "WHEN 'pending' THEN 'accepted' ELSE status END "
        "WHERE intent_id LIKE '%%%d'", added % 10);
}


static void
test_writes_between_pages(void)
{
    char         expected[ROWS * 16];
    fixture_t    f;
    const char  *seen;

    fixture_open(&f);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a store");
    fill(&f, ROWS, "1000 + i / 50");

    (void) strcpy(expected, expected_ids(&f, SM_STATUS_NONE, none));

    seen = walk(&f, SM_STATUS_NONE, none, 7, add_newer);
    is_str(seen, expected, "writes between pages neither hide nor repeat one");
    ok(added > 10, "there were %d", added);

    fixture_done(&f);
}


/*
 * Many targets: their intents are merged, however they lie beside each other.
 * "created_at" and "target" are by the number of an intent, "i".
 */

static void
test_many_targets(const char *target, const char *created_at, const char *name)
{
    char         expected[MANY * 16];
    size_t       limit;
    unsigned     bad;
    fixture_t    f;
    const char  *seen;
    sm_status_e  status;

    fixture_open(&f);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a store, %s", name);
    fill(&f, MANY, created_at);
    sql(&f, "UPDATE submission_intents SET submission_target = 't' || (%s)",
        target);

    for (status = SM_STATUS_NONE; status <= SM_STATUS_PENDING; status++) {

        (void) strcpy(expected, expected_ids(&f, status, none));

        for (limit = 5, bad = 0; limit <= 1000; limit = limit * 3 + 1) {
            seen = walk(&f, status, none, limit, NULL);
            bad += seen == NULL || strcmp(seen, expected) != 0;
        }

        is_int(bad, 0, "%s: status \"%s\", in pages of every size", name,
               status ? sm_status_name(status).data : "");
    }

    fixture_done(&f);
}


static void
test_edges(void)
{
    fixture_t      f;
    sm_str_t       unknown = sm_str("none"), nearly = sm_str("T0");
    sm_list_row_t  l = { .limit = 10 }, two[2];

    fixture_open(&f);

    is_int(list(&f, &l), 0, "a list of nothing");
    ok(l.n == 0 && !l.more, "is empty");

    fill(&f, 10, "1000");

    is_int(list(&f, &l), 0, "nine by nine is ten with one to spare");
    ok(l.n == 9 && !l.more, "there are no more");

    is_int(list(&f, &l), 0, "the same row again");
    ok(l.n == 9 && !l.more, "gives the same");

    l = (sm_list_row_t) { .limit = 9 };
    is_int(list(&f, &l), 0, "a page that is exactly all");
    ok(l.n == 9 && !l.more, "has no more after it");

    l = (sm_list_row_t) { .limit = 8 };
    is_int(list(&f, &l), 0, "a page of one less");
    ok(l.n == 8 && l.more, "has more");

    l = (sm_list_row_t) { .limit = 10, .target = unknown };
    is_int(list(&f, &l), 0, "a target that nobody has");
    is_int(l.n, 0, "has no intents");

    l = (sm_list_row_t) { .limit = 10, .target = nearly };
    is_int(list(&f, &l), 0, "a target in capitals");
    is_int(l.n, 0, "is another one");

    l = (sm_list_row_t) { .limit = 10, .target = sm_str("") };
    is_int(list(&f, &l), 0, "an empty target");
    is_int(l.n, 0, "is not every target");

    l = (sm_list_row_t) {
        .limit = 10, .after_at = 999, .after_id = sm_str("zzz")
    };
    is_int(list(&f, &l), 0, "after the oldest");
    ok(l.n == 0 && !l.more, "there is nothing");

    two[0] = (sm_list_row_t) { .limit = 3 };
    two[1] = (sm_list_row_t) { .limit = 5, .status = SM_STATUS_PENDING };
    is_int(sm_store_intents_list(&f.store, new_call(&f), two, 2), 0,
           "two lists in a batch");
    ok(two[0].n == 3 && two[1].n == 5, "each by its own terms");
    is_mem(two[1].intents[4].target.data, two[1].intents[4].target.len,
           "t0", 2, "with its own intents");

    fixture_done(&f);
}


/* no statement reads a table of ours from end to end */

static void
test_plans(void)
{
    fixture_t  f;

    static const plan_t  t[] = {
        { "intents_submit", sm_sqlite_sql_intents_submit, 0 },
        { "intents_get", sm_sqlite_sql_intents_get, 1 },
        { "intent_history", sm_sqlite_sql_intent_history, 1 },
        { "intents_list", sm_sqlite_sql_intents_list, 7 },
    };

    fixture_open(&f);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a store");
    fill(&f, 2000, "i");
    plans_check(&f, t, sizeof(t) / sizeof(t[0]));
    fixture_done(&f);
}


static int
steps(void)
{
    int            n;
    sqlite3_stmt  *stmt;

    for (n = 0, stmt = NULL; (stmt = sqlite3_next_stmt(latest, stmt)); ) {
        n += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
    }

    return n;
}


static int
cost(fixture_t *f, sm_list_row_t l)
{
    (void) steps();
    must(list(f, &l) == 0);
    must(l.n == l.limit && l.more);

    return steps();
}


/*
 * The work of a page, in steps of SQLite's machine, with 100 times as many
 * intents, which all share one created_at, from the front and from the middle.
 */

static void
test_cost(void)
{
    int        few[4], many[4], i, pass;
    fixture_t  f;
    sm_str_t   middle = sm_str("500");

    sm_list_row_t  t[4] = {
        { .limit = 10 },
        { .limit = 10, .target = sm_str("t1") },
        { .limit = 10, .status = SM_STATUS_PENDING },
        { .limit = 10, .status = SM_STATUS_PENDING, .target = sm_str("t2") },
    };

    fixture_open(&f);
    latest = store_db(&f);

    for (pass = 0; pass < 2; pass++) {
        fill(&f, 400, "1000");

        for (i = 0; i < 4; i++) {
            few[i] = cost(&f, t[i]);
        }

        sql(&f, "DELETE FROM submission_intents");
        fill(&f, 40000, "1000");

        for (i = 0; i < 4; i++) {
            many[i] = cost(&f, t[i]);
        }

        for (i = 0; i < 4; i++) {
            ok(few[i] > 0 && many[i] <= 2 * few[i],
               "list %d %s: %d steps with 400 intents, %d with 40,000", i,
               pass ? "from the middle" : "from the front", few[i], many[i]);

            t[i].after_at = 1000;
            t[i].after_id = middle;
        }

        sql(&f, "DELETE FROM submission_intents");
    }

    fixture_done(&f);
}


/*
 * 200 targets with 100 intents of each status, and pages of 500: the work is of
 * 800 places to look at and 500 intents, not of the product of the two.
 */

static void
test_cost_targets(void)
{
    int            one, all;
    fixture_t      f;
    sm_list_row_t  l;

    fixture_open(&f);
    latest = store_db(&f);

    fill(&f, 80000, "1000 + i");
    sql(&f, "UPDATE submission_intents SET lease_name = 'main', "
        "submission_target = 't' || (created_at / 4 %% 200), "
        "status = CASE created_at %% 4 WHEN 0 THEN 'pending' "
        "WHEN 1 THEN 'accepted' WHEN 2 THEN 'rejected' ELSE 'exhausted' END");

    l = (sm_list_row_t) { .limit = 300, .target = sm_str("t7") };
    one = cost(&f, l);

    l = (sm_list_row_t) { .limit = 500 };
    all = cost(&f, l);

    ok(all < 12 * one,
       "%d steps for 500 of 200 targets, %d for 300 of one", all, one);

    fixture_done(&f);
}


int
main(void)
{
    test_pages("i", "each at its own time");
    test_pages("1000", "all at one time");
    test_pages("i / 7", "seven at a time");
    test_many_targets("last_modified_at", "i", "one target");
    test_many_targets("created_at % 40", "i", "40 targets, by turns");
    test_many_targets("created_at / 10", "i", "90 targets, one after another");
    test_many_targets("CASE WHEN created_at > 400 THEN 0 "
                      "ELSE created_at % 50 END", "i",
                      "one busy target, and 49 from before it");
    test_many_targets("created_at % 7", "i / 30", "30 at a time");
    test_writes_between_pages();
    test_edges();

    if (on_sqlite()) {
        test_plans();
        test_cost();
        test_cost_targets();
    }

    return done_testing();
}
