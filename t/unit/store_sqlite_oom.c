
/*
 * The embedded store when memory runs out: SQLite is refused each of its
 * allocations in turn, once alone and once with all that follow.  Whatever
 * is refused, nothing crashes or leaks, a success is a true one, and the
 * next call works.  Broken by: using a handle that was never opened, taking
 * the NULL of a failed conversion for an SQL NULL.
 */

#include "store.h"


static sqlite3_mem_methods  real;

static int  left = -1;                  /* allocations to allow; -1: all */
static int  lasting;                    /* refuse all that follow */
static int  refused;
static int  round_number;


static int
refuse(void)
{
    if (left < 0) {
        return 0;
    }

    if (left > 0) {
        left--;
        return 0;
    }

    if (!lasting) {
        left = -1;
    }

    refused++;

    return 1;
}


static void *
oom_malloc(int size)
{
    return refuse() ? NULL : real.xMalloc(size);
}


static void *
oom_realloc(void *p, int size)
{
    return refuse() ? NULL : real.xRealloc(p, size);
}


static int
submitted(fixture_t *f)
{
    int              rc;
    char             id[16];
    sm_submit_row_t  r[3];

    (void) sprintf(id, "%d", round_number);
    row(&r[0], id, &sms, "payload");
    row(&r[1], "old", &sms, "old");
    row(&r[2], "old", &push, "old");

    rc = submit(f, r, 3);

    if (rc == 0
        && ((r[0].outcome != SM_SUBMIT_CREATED
             && r[0].outcome != SM_SUBMIT_SAME)
            || r[1].outcome != SM_SUBMIT_SAME
            || r[2].outcome != SM_SUBMIT_CONFLICT
            || r[2].intent.target.len != 3))
    {
        diag("outcomes %d, %d, %d", r[0].outcome, r[1].outcome, r[2].outcome);
        return 1;
    }

    return rc;
}


static int
got(fixture_t *f)
{
    int           rc;
    sm_get_row_t  g = { .id = sm_str("old") };

    rc = sm_store_intents_get(&f->store, new_call(f), &g, 1);

    return rc ? rc : !g.found || g.intent.target.len != 3 || g.intent.hash.len != 64
                     || g.intent.status != SM_STATUS_PENDING;
}


static int
history(fixture_t *f)
{
    int               rc;
    sm_history_row_t  h = { .id = sm_str("old"), .limit = 10 };

    rc = sm_store_intent_history(&f->store, new_call(f), &h, 1);

    return rc ? rc : !h.found || h.n != 1
                     || h.attempts[0].outcome_status.len != 5
                     || h.attempts[0].error.len != 9;
}


static int
listed(fixture_t *f)
{
    int            rc;
    sm_list_row_t  l = { .limit = 1, .target = sm_str("sms") };

    rc = sm_store_intents_list(&f->store, new_call(f), &l, 1);

    return rc ? rc : l.n != 1 || !l.more || l.intents[0].id.len != 6;
}


/* the executor's: each undoes or goes on with what the one before has left */

static const sm_contract_t  often = {
    .target = sm_str("often"), .gateway_type = SM_GATEWAY_SMS,
    .gateway_url = sm_str("http://often"), .policy = SM_POLICY_MAX_ATTEMPTS,
    .max_attempts = 1000000, .terminal_outcomes = sm_str("invalid_message"),
    .retry_delay = 1, .retry_backoff = 100
};

static sm_fence_t  fence = { sm_str("a"), 1 };
static int64_t     number = 1;


static int
paged(fixture_t *f)
{
    int        rc;
    sm_page_t  p = { .order = SM_PAGE_DUE, .limit = 1 };

    rc = sm_store_queue_page(&f->store, new_call(f), &fence, &p);

    return rc ? rc : p.n != 1 || p.rows[0].id.len != 3
                     || p.rows[0].target.len != 3;
}


static int
begun(fixture_t *f, int again)
{
    int             rc;
    sm_begin_row_t  b = { .id = sm_str("tried") };

    (void) usleep(2000);

    rc = sm_store_attempts_begin(&f->store, new_call(f), &fence, &b, 1);

    if (rc != 0 || (b.outcome == SM_BEGIN_GONE && again
                    && f->call.error[0] == '\0'))
    {
        return rc;
    }

    number = b.number;

    return b.outcome != SM_BEGIN_BEGUN || b.payload.len != 7
           || b.contract.target.len != 5 || b.contract.gateway_url.len != 12
           || b.contract.terminal_outcomes.len != 15;
}


static int
ended(fixture_t *f, sm_outcome_e outcome, int again)
{
    int                rc;
    sm_complete_row_t  r = {
        .id = sm_str("tried"), .number = number, .epoch = fence.epoch,
        .holder = fence.holder, .outcome = outcome, .error = sm_str("error"),
        .status = SM_STATUS_PENDING
    };

    rc = sm_store_attempts_complete(&f->store, new_call(f), &fence, &r, 1);

    return rc ? rc : !r.applied && !again;
}


static int
returned_and_begun(fixture_t *f)
{
    int  rc;

    rc = ended(f, SM_OUTCOME_NONE, 1);

    return rc ? rc : begun(f, 0);
}


static int
begun_and_completed(fixture_t *f)
{
    int  rc;

    rc = begun(f, 1);

    return rc ? rc : ended(f, SM_OUTCOME_ERROR, 0);
}


static int
recovered(fixture_t *f)
{
    int             rc;
    sm_str_t        url;
    sm_lease_t      lease;
    sm_recovered_t  r;

    rc = sm_store_lease_watch(&f->store, new_call(f), &lease, &url);

    if (rc != 0 || lease.holder.len != 1) {
        return rc ? rc : 1;
    }

    fence.epoch = lease.epoch;
    rc = begun(f, 1);

    if (rc != 0) {
        return rc;
    }

    rc = sm_store_lease_takeover(&f->store, new_call(f), &fence, 3600000,
                                 &lease);

    if (rc != 0 || !lease.held) {
        return rc ? rc : 1;
    }

    fence.epoch = lease.epoch;
    rc = sm_store_attempts_recover(&f->store, new_call(f), &fence,
                                   NULL, 0, 10, 1, &r);

    return rc ? rc : r.attempts != 1 || f->call.error[0] != '\0';
}


/* the calls above: 0, done; -1, failed; 1, done wrongly */

static int
sweep(fixture_t *f, int (*call)(fixture_t *f), int fresh, int step, int *n)
{
    int  rc, bad;

    for (bad = 0, *n = 0; /* void */; *n += step) {

        if (fresh) {
            store_close(f);
            store_open(f, "main", 1000);
        }

        round_number++;
        refused = 0;
        left = *n;
        rc = call(f);
        left = -1;

        if (rc == 1) {
            diag("allocation %d refused: a wrong answer", *n);
            bad++;
        }

        if (rc == -1 && f->call.status != SM_STORE_TRANSIENT
            && f->call.status != SM_STORE_PERMANENT)
        {
            diag("allocation %d refused: class %d", *n, f->call.status);
            bad++;
        }

        if (refused == 0) {
            return bad;
        }

        rc = call(f);

        if (rc != 0) {
            diag("after allocation %d was refused: %d %s", *n, rc,
                 f->call.error);
            bad++;
        }
    }
}


int
main(void)
{
    int                  i, n, bad;
    fixture_t            f;
    sm_lease_t           lease;
    sqlite3_mem_methods  methods;

    const struct {
        const char  *name;
        int        (*call)(fixture_t *f);
        int          fresh;
        int          step;
    } t[] = {
        { "submit", submitted, 0, 1 },
        { "get", got, 0, 1 },
        { "history", history, 0, 1 },
        { "list", listed, 0, 1 },
        { "queue page", paged, 0, 1 },
        { "give back, begin", returned_and_begun, 0, 1 },
        { "begin, complete", begun_and_completed, 0, 1 },
        { "recover", recovered, 0, 1 },
        { "connect", got, 1, getenv("SUBMISSION_TEST_LONG") ? 7 : 41 },
    };

    needs_sqlite();

    must(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real) == SQLITE_OK);

    methods = real;
    methods.xMalloc = oom_malloc;
    methods.xRealloc = oom_realloc;

    /* otherwise most allocations are served from memory kept aside */

    must(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK);
    must(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) == SQLITE_OK);

    fixture_open(&f);

    must(outcome(&f, "newest", &sms, "1") == SM_SUBMIT_CREATED);
    must(outcome(&f, "old", &sms, "old") == SM_SUBMIT_CREATED);

    must(outcome(&f, "tried", &often, "payload") == SM_SUBMIT_CREATED);

    must(sm_store_lease_acquire(&f.store, new_call(&f), fence.holder, 3600000,
                                &lease) == 0 && lease.epoch == 1);

    sql(&f, "UPDATE submission_intents SET created_at = 9000000000000000 "
        "WHERE intent_id = 'newest'");
    sql(&f, "UPDATE submission_intents SET attempt_count = 1 "
        "WHERE intent_id = 'old'");
    sql(&f, "INSERT INTO submission_attempts "
        ATTEMPT_COLUMNS " VALUES "
        "('main', 'old', 1, 1, 'h', 1, 2, 'error', NULL, 'timed out')");

    for (i = 0; i < (int) (sizeof(t) / sizeof(t[0])); i++) {
        for (lasting = 0; lasting < 2; lasting++) {
            bad = sweep(&f, t[i].call, t[i].fresh, t[i].step, &n);

            is_int(bad, 0, "%s: %d allocations refused, %s", t[i].name,
                   n / t[i].step,
                   lasting ? "each with all that follow" : "one by one");
        }
    }

    is_str(sql_text(&f, "PRAGMA integrity_check"), "ok", "the file is sound");

    fixture_done(&f);

    return done_testing();
}
