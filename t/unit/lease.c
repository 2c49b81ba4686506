
/*
 * The lease of the embedded store, each operation by itself, on a clock that
 * the test sets: SQL's, the only one that may count.
 * Broken by: a clock of the host's in a comparison, an epoch that stays when
 * the lease changes hands or grows when it does not, a lease that ends a
 * moment too early or too late, a refusal that changes the row, a name, a
 * holder or an epoch that a statement forgets to look at.
 */

#include "plans.h"
#include "sql_clock.h"
#include "sm_sqlite_sql.h"


static int
acquire(fixture_t *f, const char *holder, int64_t duration, sm_lease_t *lease)
{
    memset(lease, 0xff, sizeof(sm_lease_t));

    return sm_store_lease_acquire(&f->store, new_call(f), sm_str_c(holder),
                                  duration, lease);
}


static int
renew(fixture_t *f, const char *holder, int64_t epoch, int64_t duration,
    sm_lease_t *lease)
{
    sm_fence_t  fence = { sm_str_c(holder), epoch };

    memset(lease, 0xff, sizeof(sm_lease_t));

    return sm_store_lease_renew(&f->store, new_call(f), &fence, duration,
                                lease);
}


static int
takeover(fixture_t *f, const char *holder, int64_t epoch, int64_t duration,
    sm_lease_t *lease)
{
    sm_fence_t  fence = { sm_str_c(holder), epoch };

    memset(lease, 0xff, sizeof(sm_lease_t));

    return sm_store_lease_takeover(&f->store, new_call(f), &fence, duration,
                                   lease);
}


static int
release(fixture_t *f, const char *holder, int64_t epoch, sm_lease_t *lease)
{
    sm_fence_t  fence = { sm_str_c(holder), epoch };

    memset(lease, 0xff, sizeof(sm_lease_t));

    return sm_store_lease_release(&f->store, new_call(f), &fence, lease);
}


/* the status of the call */

static int
check(fixture_t *f, const char *holder, int64_t epoch)
{
    int             rc;
    sm_fence_t      fence = { sm_str_c(holder), epoch };
    sm_recovered_t  recovered;

    rc = sm_store_attempts_recover(&f->store, new_call(f), &fence,
                                   NULL, 0, 100, 0, &recovered);

    must(rc == (f->call.status == SM_STORE_OK ? 0 : -1));

    return f->call.status;
}


/* times as milliseconds after START, and what is less than one, if any */

static void
time_text(char *buf, size_t size, int64_t us)
{
    (void) snprintf(buf, size, us % US ? "%lld.%03lld" : "%lld",
                    (long long) (us / US - START), (long long) (us % US));
}


static const char *
lease_text(const sm_lease_t *lease)
{
    static char  buf[1024];

    char  acquired[32], renewed[32], expires[32];

    if (!lease->exists) {
        return "none";
    }

    time_text(acquired, sizeof(acquired), lease->acquired_at);
    time_text(renewed, sizeof(renewed), lease->renewed_at);
    time_text(expires, sizeof(expires), lease->expires_at);

    (void) snprintf(buf, sizeof(buf), "%.*s %lld %s %s %s",
                    (int) lease->holder.len, lease->holder.data,
                    (long long) lease->epoch, acquired, renewed, expires);

    return buf;
}


static const char *
row_text(fixture_t *f, const char *name)
{
    const char  *text;

    text = sql_text(f, "SELECT holder_id || ' ' || lease_epoch || ' ' "
                    "|| (acquired_at / 1000 - %lld) || ' ' "
                    "|| (renewed_at / 1000 - %lld) || ' ' "
                    "|| (expires_at / 1000 - %lld) "
                    "FROM submission_manager_leases WHERE lease_name = '%s'",
                    START, START, START, name);

    return text ? text : "none";
}


/*
 * What a call answered, and that the row says so too: holder, epoch, and when
 * it was acquired, renewed and expires.
 */

#define answered(f, lease, yes, expected, ...)                                \
    do {                                                                      \
        is_int((lease)->held, yes, __VA_ARGS__);                              \
        is_str(lease_text(lease), expected, "  what it tells");               \
        is_str(row_text(f, "main"), expected, "  what is stored");            \
        is_int((lease)->now, now_ms * US, "  SQL's time");                    \
    } while (0)

#define granted(f, lease, expected, ...)                                      \
    answered(f, lease, 1, expected, __VA_ARGS__)

#define refused(f, lease, expected, ...)                                      \
    answered(f, lease, 0, expected, __VA_ARGS__)


/*
 * Steps of a test: the time in milliseconds after START, the call, and what it
 * answers.  The row is what a call tells and what is stored; with ANY, or the
 * status of a CHECK, it is not looked at.
 */

typedef enum {
    ACQUIRE = 0,
    RENEW,
    TAKEOVER,
    RELEASE,
    CHECK
} step_e;

enum {
    REFUSED = 0,
    GRANTED = 1,
    ANY
};

typedef struct {
    int64_t      at;
    step_e       op;
    const char  *holder;
    int64_t      epoch;
    int64_t      duration;
    int          answer;
    const char  *row;
    const char  *what;
} step_t;


static void
run_steps(fixture_t *f, const step_t *s, size_t n)
{
    int         rc;
    sm_lease_t  l;

    for ( /* void */ ; n; n--, s++) {
        now_ms = START + s->at;

        switch (s->op) {

        case ACQUIRE:
            rc = acquire(f, s->holder, s->duration, &l);
            break;

        case RENEW:
            rc = renew(f, s->holder, s->epoch, s->duration, &l);
            break;

        case TAKEOVER:
            rc = takeover(f, s->holder, s->epoch, s->duration, &l);
            break;

        case RELEASE:
            rc = release(f, s->holder, s->epoch, &l);
            break;

        default: /* CHECK */
            is_int(check(f, s->holder, s->epoch), s->answer, "%s", s->what);
            continue;
        }

        is_int(rc, 0, "%s", s->what);

        if (s->answer != ANY) {
            answered(f, &l, s->answer, s->row, "  granted, or refused");
        }
    }
}


static void
test_acquire(void)
{
    fixture_t  f;

    static const step_t  steps[] = {
        { 0, ACQUIRE, "a", 0, 500, GRANTED, "a 1 0 0 500",
          "acquire: there was none" },
        { 100, ACQUIRE, "b", 0, 900, REFUSED, "a 1 0 0 500",
          "another one tries: refused, and told who holds it" },
        { 100, ACQUIRE, "a", 0, 900, REFUSED, "a 1 0 0 500",
          "the holder tries: acquire is not renew" },
        { 499, ACQUIRE, "b", 0, 900, REFUSED, "a 1 0 0 500",
          "a moment before the end" },
        { 500, ACQUIRE, "b", 0, 250, GRANTED, "b 2 500 500 750",
          "at the end: another one gets it, and a new epoch" },
        { 500, ACQUIRE, "a", 0, 250, REFUSED, "b 2 500 500 750",
          "in the same moment: only one does" },
        { 10000, ACQUIRE, "b", 0, 1, GRANTED, "b 3 10000 10000 10001",
          "the same holder, after its end: a new epoch too" },
        { 10001, ACQUIRE, "b", 0, 86400000, GRANTED, "b 4 10001 10001 86410001",
          "as soon as it can: a day" },

        /* the clock was set back: the lease lasts, as it was told */

        { -5000, ACQUIRE, "a", 0, 100, REFUSED, "b 4 10001 10001 86410001",
          "before it was acquired" }
    };

    now_ms = START;
    fixture_open(&f);

    run_steps(&f, steps, sm_nelts(steps));

    is_int(sql_int(&f, "SELECT count(*) FROM submission_manager_leases"), 1,
           "there is one row");

    fixture_done(&f);
}


static void
test_renew(void)
{
    fixture_t  f;

    static const step_t  steps[] = {
        { 0, RENEW, "a", 1, 500, REFUSED, "none",
          "renew what nobody has: there is nothing to renew" },
        { 0, ACQUIRE, "a", 0, 500, ANY, NULL, "acquire" },
        { 100, RENEW, "a", 1, 500, GRANTED, "a 1 0 100 600",
          "renew: the end moves, the epoch stays" },
        { 100, RENEW, "a", 1, 500, GRANTED, "a 1 0 100 600",
          "in the same moment again: that changes nothing, but it is held" },
        { 599, RENEW, "a", 1, 200, GRANTED, "a 1 0 599 799",
          "a moment before the end: renewed" },
        { 599, RENEW, "a", 1, 100, GRANTED, "a 1 0 599 699",
          "for a shorter time: the end is now + duration" },
        { 600, RENEW, "b", 1, 500, REFUSED, "a 1 0 599 699",
          "by another one: refused, and told who holds it" },
        { 600, RENEW, "A", 1, 500, REFUSED, "a 1 0 599 699",
          "in capitals: is another one" },
        { 600, RENEW, "a ", 1, 500, REFUSED, "a 1 0 599 699",
          "with a space: is another one" },
        { 600, RENEW, "", 1, 500, REFUSED, "a 1 0 599 699",
          "without a name: is another one" },
        { 600, RENEW, "a", 0, 500, REFUSED, "a 1 0 599 699", "of epoch 0" },
        { 600, RENEW, "a", 2, 500, REFUSED, "a 1 0 599 699",
          "of the next epoch" },
        { 699, RENEW, "a", 1, 500, REFUSED, "a 1 0 599 699",
          "at the end: too late, though nobody else has it" },
        { 699, ACQUIRE, "a", 0, 500, GRANTED, "a 2 699 699 1199",
          "acquire again: epoch 2" },
        { 699, RENEW, "a", 1, 500, REFUSED, "a 2 699 699 1199",
          "renew epoch 1: which is over" },
        { 699, RENEW, "a", 2, 500, GRANTED, "a 2 699 699 1199",
          "renew epoch 2: which is not" },
        { 1199, ACQUIRE, "b", 0, 500, ANY, NULL, "another one acquires" },
        { 1199, RENEW, "a", 2, 500, REFUSED, "b 3 1199 1199 1699",
          "the old holder renews: too late" },
        { 1199, RENEW, "a", 3, 500, REFUSED, "b 3 1199 1199 1699",
          "the old holder, the new epoch: is nobody's" }
    };

    now_ms = START;
    fixture_open(&f);

    run_steps(&f, steps, sm_nelts(steps));

    fixture_done(&f);
}


static void
test_takeover(void)
{
    fixture_t  f;

    static const step_t  steps[] = {
        { 0, TAKEOVER, "a", 1, 500, REFUSED, "none",
          "take over what nobody has: nothing is made" },
        { 0, TAKEOVER, "a", 0, 500, REFUSED, "none", "at epoch 0: neither" },
        { 0, ACQUIRE, "a", 0, 500, ANY, NULL, "acquire" },
        { 100, TAKEOVER, "b", 1, 500, REFUSED, "a 1 0 0 500",
          "by another one" },
        { 100, TAKEOVER, "a", 0, 500, REFUSED, "a 1 0 0 500",
          "at an older epoch" },
        { 100, TAKEOVER, "a", 2, 500, REFUSED, "a 1 0 0 500",
          "at a newer one" },
        { 100, TAKEOVER, "a", 1, 300, GRANTED, "a 2 100 100 400",
          "by the holder: a new epoch, as if acquired" },
        { 100, TAKEOVER, "a", 1, 500, REFUSED, "a 2 100 100 400",
          "by a third worker: which knew the old epoch only" },
        { 100, RENEW, "a", 1, 500, REFUSED, "a 2 100 100 400",
          "the old worker renews: fenced off" },
        { 100, CHECK, "a", 1, 0, SM_STORE_LEASE_LOST, NULL,
          "and writes: fenced off" },
        { 100, RELEASE, "a", 1, 0, REFUSED, "a 2 100 100 400",
          "the old worker releases: what is not its own" },
        { 100, CHECK, "a", 2, 0, SM_STORE_OK, NULL, "the new one may write" },
        { 399, TAKEOVER, "a", 2, 500, GRANTED, "a 3 399 399 899",
          "a moment before the end: taken over" },
        { 899, TAKEOVER, "a", 3, 500, REFUSED, "a 3 399 399 899",
          "at the end: too late" }
    };

    now_ms = START;
    fixture_open(&f);

    run_steps(&f, steps, sm_nelts(steps));

    fixture_done(&f);
}


static void
test_release(void)
{
    fixture_t  f;

    static const step_t  steps[] = {
        { 0, RELEASE, "a", 1, 0, REFUSED, "none",
          "release what nobody has: there is nothing" },
        { 0, ACQUIRE, "a", 0, 500, ANY, NULL, "acquire" },
        { 100, RELEASE, "b", 1, 0, REFUSED, "a 1 0 0 500", "by another one" },
        { 100, RELEASE, "a", 0, 0, REFUSED, "a 1 0 0 500",
          "of an older epoch" },
        { 100, RELEASE, "a", 2, 0, REFUSED, "a 1 0 0 500", "of a newer one" },
        { 100, RELEASE, "a", 1, 0, GRANTED, "a 1 0 0 100",
          "by the holder: it ends now, and no more is changed" },
        { 100, RELEASE, "a", 1, 0, REFUSED, "a 1 0 0 100",
          "again: it is not held any more" },
        { 100, RENEW, "a", 1, 500, REFUSED, "a 1 0 0 100",
          "renew what was released" },
        { 100, TAKEOVER, "a", 1, 500, REFUSED, "a 1 0 0 100", "take it over" },
        { 100, CHECK, "a", 1, 0, SM_STORE_LEASE_LOST, NULL, "write under it" },
        { 100, ACQUIRE, "b", 0, 500, GRANTED, "b 2 100 100 600",
          "acquire in the same moment: anyone can" },
        { 100, RELEASE, "b", 2, 0, ANY, NULL, "release" },
        { 100, ACQUIRE, "b", 0, 500, GRANTED, "b 3 100 100 600",
          "acquire by the one who released: a new epoch" },
        { 599, RELEASE, "b", 3, 0, GRANTED, "b 3 100 100 599",
          "a moment before the end: released" },
        { 599, ACQUIRE, "a", 0, 1, ANY, NULL, "acquire" },
        { 5000, RELEASE, "a", 4, 0, REFUSED, "a 4 599 599 600",
          "release after the end: the row says when it was" }
    };

    now_ms = START;
    fixture_open(&f);

    run_steps(&f, steps, sm_nelts(steps));

    fixture_done(&f);
}


static void
test_check(void)
{
    int         connections;
    size_t      i;
    fixture_t   f;
    sql_conn_t  db;
    sm_conn_t  *conn;
    sm_lease_t  l;

    static const struct {
        const char  *holder;
        int64_t      epoch;
        int64_t      at;
        int          status;
        const char  *what;
    } t[] = {
        { "a", 2, 0, SM_STORE_OK, "the holder, its epoch" },
        { "b", 2, 0, SM_STORE_LEASE_LOST, "another holder" },
        { "a", 1, 0, SM_STORE_LEASE_LOST, "an older epoch" },
        { "a", 3, 0, SM_STORE_LEASE_LOST, "a newer epoch" },
        { "a", 0, 0, SM_STORE_LEASE_LOST, "no epoch" },
        { "A", 2, 0, SM_STORE_LEASE_LOST, "in capitals" },
        { "a ", 2, 0, SM_STORE_LEASE_LOST, "with a space" },
        { "a", 2, 499, SM_STORE_OK, "a moment before the end" },
        { "a", 2, 500, SM_STORE_LEASE_LOST, "at the end" },
        { "a", 2, 9999, SM_STORE_LEASE_LOST, "after it" },
        { "a", 2, 0, SM_STORE_OK, "the clock decides, nothing else" }
    };

    now_ms = START;
    fixture_open(&f);

    is_int(check(&f, "a", 1), SM_STORE_LEASE_LOST, "check without a lease");
    is_str(row_text(&f, "main"), "none", "nothing is made");

    is_int(acquire(&f, "a", 500, &l), 0, "acquire");
    is_int(takeover(&f, "a", 1, 500, &l), 0, "take over");

    conn = f.store.idle;
    connections = sql_clock_opened;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        now_ms = START + t[i].at;

        is_int(check(&f, t[i].holder, t[i].epoch), t[i].status, "check: %s",
               t[i].what);
    }

    is_int(sql_clock_opened, connections, "no check had a new connection");
    ok(conn && f.store.idle == conn && conn->next == NULL,
       "the connection is kept, and by nobody used");

    is_str(row_text(&f, "main"), "a 2 0 0 500", "a check changes nothing");

    now_ms = START + 500;
    is_int(check(&f, "a", 2), SM_STORE_LEASE_LOST, "lost");
    is_str(f.call.error, "LEASE_LOST: a does not hold epoch 2", "in words");
    is_int(f.call.code, 0, "our own");

    /* nothing is left open that others would have to wait for */

    db = sql_open(&f);
    sql_run(db, db.server ? "SET lock_timeout = 1" : "PRAGMA busy_timeout = 0");
    sql_lock(db);
    sql_run(db, "COMMIT");
    sql_close(db);

    is_int(acquire(&f, "b", 500, &l), 0, "the connection goes on");
    granted(&f, &l, "b 3 500 500 1000", "as ever");
    is_int(f.call.status, SM_STORE_OK, "a call begins without a status");

    fixture_done(&f);
}


/* holders of any length that the configuration allows, and any bytes */

static void
test_names(void)
{
    char        holder[129];
    fixture_t   f, other;
    sm_lease_t  l;

    now_ms = START;
    fixture_open(&f);

    other = f;
    store_open(&other, "main2", 10000);

    is_int(acquire(&f, "a", 500, &l), 0, "a lease");
    is_int(acquire(&other, "a", 500, &l), 0, "another lease");
    ok(l.held && l.epoch == 1, "is free, and begins at epoch 1");

    /* what is done to one of the two could be done to the other */

    now_ms = START + 100;
    is_int(renew(&other, "a", 1, 500, &l), 0, "renew the second");
    ok(l.held && l.renewed_at == now_ms * US, "that one");
    is_str(row_text(&f, "main"), "a 1 0 0 500", "the first is as it was");
    is_str(row_text(&f, "main2"), "a 1 0 100 600", "the second is not");

    is_int(release(&other, "a", 1, &l), 0, "release the second");
    ok(l.held && l.expires_at == now_ms * US, "that one");
    is_str(row_text(&f, "main"), "a 1 0 0 500", "the first is as it was");
    is_str(row_text(&f, "main2"), "a 1 0 100 100", "the second is not");

    is_int(check(&other, "a", 1), SM_STORE_LEASE_LOST, "the second is lost");
    is_int(check(&f, "a", 1), SM_STORE_OK, "the first is held");

    is_int(takeover(&f, "a", 1, 500, &l), 0, "take over the first");
    is_int(acquire(&other, "a", 500, &l), 0, "acquire the second");
    is_int(takeover(&f, "a", 2, 500, &l), 0, "take over the first, again");
    ok(l.held && l.epoch == 3, "that one");
    is_str(row_text(&f, "main"), "a 3 100 100 600", "each has its epochs");
    is_str(row_text(&f, "main2"), "a 2 100 100 600", "for itself");

    is_int(release(&f, "a", 3, &l), 0, "release the first");

    memset(holder, 'x', 128);
    holder[128] = '\0';

    is_int(acquire(&f, holder, 500, &l), 0, "a holder of 128 characters");
    is_int(l.epoch, 4, "a new epoch");
    is_mem(l.holder.data, l.holder.len, holder, 128, "as it was given");
    is_int(renew(&f, holder, 4, 500, &l), 0, "it renews");
    is_int(l.held, 1, "what it holds");
    holder[127] = '\0';
    is_int(renew(&f, holder, 4, 500, &l), 0, "one character less");
    is_int(l.held, 0, "is another one");

    is_int(release(&f, "'; DROP TABLE submission_manager_leases; --", 4, &l),
           0, "a name is not SQL");
    is_int(l.held, 0, "whatever it is");

    store_close(&other);
    fixture_done(&f);
}


/* while another one writes, and has not answered in time */

static void
test_busy(void)
{
    fixture_t   f;
    sm_lease_t  l;
    sql_conn_t  db;

    now_ms = START;
    fixture_dir(&f);
    store_open(&f, "main", 1);

    is_int(acquire(&f, "a", 500, &l), 0, "acquire");

    db = sql_open(&f);
    sql_lock(db);

    is_int(acquire(&f, "b", 500, &l), -1, "acquire behind a writer");
    is_int(f.call.status, SM_STORE_TRANSIENT, "may be tried again");
    ok(!l.held && !l.exists, "nothing is said of the lease");
    is_int(renew(&f, "a", 1, 900, &l), -1, "renew behind a writer");
    ok(f.call.status == SM_STORE_TRANSIENT && !l.held, "is not held");
    is_int(takeover(&f, "a", 1, 900, &l), -1, "take over behind a writer");
    ok(f.call.status == SM_STORE_TRANSIENT && !l.held, "is not held");
    is_int(release(&f, "a", 1, &l), -1, "release behind a writer");
    ok(f.call.status == SM_STORE_TRANSIENT && !l.held, "is not held");
    is_int(check(&f, "a", 1), SM_STORE_TRANSIENT,
           "check behind a writer: nobody knows");

    sql_run(db, "COMMIT");
    sql_close(db);

    /* what waits for a lock, Babelfish does when that is free, unheard of */

    if (!on_babelfish()) {
        is_str(row_text(&f, "main"), "a 1 0 0 500", "nothing has changed");

        is_int(renew(&f, "a", 1, 900, &l), 0, "renew");
        granted(&f, &l, "a 1 0 0 900", "as ever");
    }

    fixture_done(&f);
}


/* no statement reads a table of ours from end to end */

static void
test_plans(void)
{
    size_t         i, n;
    fixture_t      f;
    unsigned       searches, others;
    sql_conn_t     db;
    const char    *detail;
    sqlite3_stmt  *stmt;

    static const struct {
        const char  *name;
        const char  *text;
        unsigned     searches;
    } t[] = {
        { "lease_acquire", sm_sqlite_sql_lease_acquire, 0 },
        { "lease_renew", sm_sqlite_sql_lease_renew, 1 },
        { "lease_takeover", sm_sqlite_sql_lease_takeover, 1 },
        { "lease_release", sm_sqlite_sql_lease_release, 1 },
        { "lease_fence", sm_sqlite_sql_lease_fence, 1 },
        { "lease_get", sm_sqlite_sql_lease_get, 1 },
        { "lease_watch", sm_sqlite_sql_lease_watch, 2 },
        { "candidate_heartbeat", sm_sqlite_sql_candidate_heartbeat, 0 },
        { "candidate_names", sm_sqlite_sql_candidate_names, 0 },
        { "candidate_told", sm_sqlite_sql_candidate_told, 2 },
        { "candidate_prune", sm_sqlite_sql_candidate_prune, 1 },
        { "candidate_remove", sm_sqlite_sql_candidate_remove, 1 },
        { "candidate_forget", sm_sqlite_sql_candidate_forget, 2 },
        { "cluster_get", sm_sqlite_sql_cluster_get, 3 },
    };

    now_ms = START;
    fixture_open(&f);
    must(sm_store_ping(&f.store, new_call(&f)) == 0);

    sql(&f, "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 2000) INSERT INTO submission_manager_leases "
        "SELECT 'lease' || i, 'a', 1, 0, 0, 0 FROM n");
    sql(&f, "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 2000) INSERT INTO submission_manager_candidates "
        CANDIDATE_COLUMNS " SELECT 'lease' || i %% 100, 'a' || i, 0, 0, 0, "
        "'leader', '' FROM n");

    db = sql_open(&f);
    n = sizeof(t) / sizeof(t[0]);

    for (i = 0; i < 2 * n; i++) {

        if (i == n) {
            sql_run(db, "ANALYZE");
        }

        stmt = plan_explain(db, t[i % n].text);

        for (searches = 0, others = 0; sqlite3_step(stmt) == SQLITE_ROW; ) {
            detail = (const char *) sqlite3_column_text(stmt, 3);

            /* "l", "c" and "n" are the lease, its candidates, their names */

            if ((strncmp(detail, "SEARCH submission_manager_", 26) == 0
                 || strncmp(detail, "SEARCH l USING", 14) == 0
                 || strncmp(detail, "SEARCH c USING", 14) == 0
                 || strncmp(detail, "SEARCH n USING", 14) == 0)
                && strstr(detail, "lease_name=?"))
            {
                searches++;

            } else if (strcmp(detail, "USE TEMP B-TREE FOR ORDER BY") != 0
                       && strncmp(detail, "SCAN (subquery", 14) != 0
                       && strncmp(detail, "MATERIALIZE", 11) != 0
                       && strstr(detail, " SUBQUERY ") == NULL
                       && strcmp(detail, "SCAN CONSTANT ROW") != 0
                       && strncmp(detail, "CO-ROUTINE", 10) != 0)
            {
                diag("%s", detail);
                others++;
            }
        }

        is_int(others, 0, "%s scans no table%s", t[i % n].name,
               i < n ? "" : ", with statistics");
        is_int(searches, t[i % n].searches, "its searches by an index");

        (void) sqlite3_finalize(stmt);
    }

    sql_close(db);
    fixture_done(&f);
}


int
main(void)
{
    sql_clock_start();

    test_acquire();
    test_renew();
    test_takeover();
    test_release();
    test_check();
    test_names();
    test_busy();

    if (on_sqlite()) {
        test_plans();
    }

    return done_testing();
}
