
/*
 * A file of this release, version 1, becomes one of a made-up version 2 (t/schema)
 * when a store of that opens it: with all that is in it (G18), while processes of
 * this release submit and execute, once, however many open it, and whole, whenever it
 * is interrupted.  Modules of version 1 go on with it, unless it says that they may
 * not.
 *
 * Broken by: a migration that is not one transaction, or does not look again when
 * it has the lock; a copy that is made twice, is not whole, or is for all to read; a
 * module that refuses a newer schema which it may use, or uses one which it may not.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "next/sm_sqlite_sql.h"
#include "sm_store_sqlite.h"
#include "real_time.h"
#include "store.h"


#define WRITERS   3
#define OPENERS   4
#define KILLS     20


static const sm_sqlite_release_t  next_release = {
    2, sm_sqlite_sql_schema, sm_sqlite_sql_migrations
};


/* what the processes of version 1 tell */

typedef struct {
    atomic_int     stop;
    atomic_int     failed;
    atomic_int     submitted[WRITERS];
    atomic_int     executed;
    atomic_int     slowest;             /* milliseconds of a call */
} shared_t;


static shared_t  *shared;

static const sm_sqlite_release_t  *this_release;


/* until the next call */

static const char *
slurp(const char *name)
{
    static char  text[65536];

    FILE    *file;
    size_t   n;

    must((file = fopen(name, "r")) != NULL);
    n = fread(text, 1, sizeof(text) - 1, file);
    must(n > 0 && n < sizeof(text) - 1);
    text[n] = '\0';
    (void) fclose(file);

    return text;
}


/* a file of version 1, with an intent in every state, and so many more */

static void
make_v1(fixture_t *f, int more)
{
    sql_conn_t  c;

    store_open(f, "main", 1000);
    must(sm_store_ping(&f->store, new_call(f)) == 0);
    store_close(f);

    c = sql_open(f);
    sql_run(c, "PRAGMA synchronous = OFF");
    sql_run(c, slurp("t/schema/kept.sql"));
    sql_run(c, "UPDATE submission_intents SET payload = CAST(payload AS BLOB)");
    sql_close(c);

    if (more) {
        sql(f, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
            "WHERE i < %d) INSERT INTO submission_intents " INTENT_COLUMNS
            "SELECT lease_name, intent_id || i, submission_target, "
            "payload_hash, gateway_type, gateway_url, policy, "
            "max_acceptance_seconds, max_attempts, terminal_outcomes, "
            "retry_delay_ms, retry_max_ms, retry_backoff_pct, "
            "retry_jitter_pct, status, final_outcome_status, "
            "final_outcome_reason, exhausted_reason, attempt_count, "
            "created_at + i, completed_at + i, last_modified_at + i, "
            "next_attempt_at, inflight_epoch, inflight_holder, inflight_at, "
            "payload FROM submission_intents, n "
            "WHERE intent_id IN ('accepted', 'rejected')", more);
    }
}


/* all that is known of what is kept */

static char *
kept(fixture_t *f)
{
    return strdup(sql_text(f,
        "SELECT (SELECT group_concat(quote(intent_id) || quote(status) || "
        "quote(payload) || quote(payload_hash) || quote(submission_target) || "
        "quote(policy) || quote(attempt_count) || quote(created_at) || "
        "quote(completed_at) || quote(last_modified_at) || "
        "quote(next_attempt_at) || quote(inflight_epoch) || "
        "quote(inflight_holder) || quote(inflight_at) || "
        "quote(final_outcome_status) || quote(final_outcome_reason) || "
        "quote(exhausted_reason)) FROM (SELECT * FROM submission_intents "
        "WHERE lease_name = 'kept' AND length(intent_id) < 19 "
        "ORDER BY intent_id)) || (SELECT group_concat(quote(intent_id) || "
        "attempt_number || lease_epoch || holder_id || started_at || "
        "quote(outcome_reason) || quote(error)) FROM submission_attempts) || "
        "(SELECT lease_epoch || holder_id FROM submission_manager_leases "
        "WHERE lease_name = 'kept')"));
}


/* a call of version 1, which must not fail nor take long */

static int
v1_called(fixture_t *f, int64_t start, int rc)
{
    if (rc != 0) {
        diag("version 1: %s", f->call.error);
        atomic_fetch_add(&shared->failed, 1);
    }

    start = monotonic_ms() - start;

    if (start > atomic_load(&shared->slowest)) {
        atomic_store(&shared->slowest, (int) start);
    }

    return rc == 0;
}


static void
v1_writer(fixture_t *f, int number)
{
    int              n;
    char             id[32];
    int64_t          start;
    sm_submit_row_t  row;

    store_open(f, "main", 60000);

    for (n = 0; !atomic_load(&shared->stop); n++) {

        /* an old module opens connections anew, too */

        if (n % 20 == 19) {
            store_close(f);
            store_open(f, "main", 60000);
        }

        (void) sprintf(id, "w%d-%d", number, n);
        start = monotonic_ms();

        if (v1_called(f, start, submit_one(f, &row, id, "{}"))) {
            must(row.outcome == SM_SUBMIT_CREATED);
            atomic_fetch_add(&shared->submitted[number], 1);
        }

        nap_us(1000);
    }

    store_close(f);
}


/* begins what is new, and ends it in the next transaction */

static void
v1_execute(fixture_t *f, const sm_fence_t *fence)
{
    size_t              i, n;
    char                ids[10][32];
    int64_t             start;
    sm_page_t           page;
    sm_begin_row_t      due[10];
    sm_complete_row_t   ended[10];

    memset(&page, 0, sizeof(page));
    page.limit = 10;
    start = monotonic_ms();

    if (!v1_called(f, start, sm_store_queue_page(&f->store, new_call(f),
                                                 fence, &page)))
    {
        return;
    }

    n = page.n;
    memset(due, 0, sizeof(due));

    for (i = 0; i < n; i++) {
        (void) snprintf(ids[i], sizeof(ids[i]), "%s", page.rows[i].id.data);
        due[i].id = sm_str_c(ids[i]);
    }

    start = monotonic_ms();

    if (!v1_called(f, start, sm_store_attempts_begin(&f->store, new_call(f),
                                                     fence, due, n)))
    {
        return;
    }

    memset(ended, 0, sizeof(ended));

    for (i = 0; i < n; i++) {
        must(due[i].outcome == SM_BEGIN_BEGUN);

        ended[i].id = due[i].id;
        ended[i].number = due[i].number;
        ended[i].epoch = fence->epoch;
        ended[i].holder = fence->holder;
        ended[i].started_at = f->call.now;
        ended[i].finished_at = f->call.now;
        ended[i].outcome = i % 2 ? SM_OUTCOME_ACCEPTED : SM_OUTCOME_REJECTED;
        ended[i].status = i % 2 ? SM_STATUS_ACCEPTED : SM_STATUS_REJECTED;
    }

    start = monotonic_ms();

    if (!v1_called(f, start, sm_store_attempts_complete(&f->store, new_call(f),
                                                        fence, ended, n)))
    {
        return;
    }

    for (i = 0; i < n; i++) {
        must(ended[i].applied);
    }

    atomic_fetch_add(&shared->executed, (int) n);
}


static void
v1_leader(fixture_t *f)
{
    sm_fence_t  fence = { .holder = sm_str("sm-01") };
    sm_lease_t  lease;

    store_open(f, "main", 60000);
    must(sm_store_lease_acquire(&f->store, new_call(f), fence.holder, 600000,
                                &lease) == 0 && lease.held);
    fence.epoch = lease.epoch;

    while (!atomic_load(&shared->stop)) {
        v1_execute(f, &fence);
        nap_us(2000);
    }

    store_close(f);
}


/* a store of version 2, and then those of version 1 again */

static void
store_open_v2(fixture_t *f, int64_t busy_timeout)
{
    f->create = 0;
    sm_sqlite_release = &next_release;
    store_open(f, "main", busy_timeout);
}


static void
store_close_v2(fixture_t *f)
{
    store_close(f);
    sm_sqlite_release = this_release;
}


/* opens it as a worker of nginx does, until it is there */

static int
open_v2(fixture_t *f, unsigned no_copy)
{
    int  rc;

    store_open_v2(f, 1000);
    f->store.conf.migrate_no_copy = no_copy;

    do {
        rc = sm_store_ping(&f->store, new_call(f));
    } while (rc != 0 && f->call.status == SM_STORE_TRANSIENT);

    if (rc != 0) {
        diag("%s", f->call.error);
    }

    store_close_v2(f);

    return rc;
}


static void
more_than(atomic_int *counter, int n)
{
    int  i, before;

    before = atomic_load(counter);

    for (i = 0; i < 20000 && atomic_load(counter) < before + n; i++) {
        nap_us(1000);
    }

    must(atomic_load(counter) >= before + n);
}


static void
is_v2(fixture_t *f, const char *what)
{
    is_str(sql_text(f, "SELECT group_concat(version || ',' || "
                    "compatible_from, ' ') FROM submission_schema"), "2,1",
           "%s: its version", what);
    is_str(sql_text(f, "PRAGMA integrity_check"), "ok", "%s: it is sound",
           what);
}


/* tables, columns in any order, and indexes */

static char *
catalogue(fixture_t *f)
{
    return strdup(sql_text(f,
        "SELECT (SELECT group_concat(x, char(10)) FROM (SELECT m.name || ' ' "
        "|| c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || "
        "ifnull(c.dflt_value, '-') || ' ' || c.pk AS x FROM sqlite_master AS m "
        "JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' "
        "ORDER BY 1)) || (SELECT group_concat(x, char(10)) FROM (SELECT name "
        "|| ' ' || sql AS x FROM sqlite_master WHERE type = 'index' "
        "AND sql IS NOT NULL ORDER BY 1))"));
}


static void
test_fresh(void)
{
    char       *fresh, *migrated;
    fixture_t   f;

    fixture_dir(&f);
    store_open_v2(&f, 1000);
    f.create = 1;
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a new file");
    store_close_v2(&f);
    is_v2(&f, "a new file");
    fresh = catalogue(&f);
    fixture_remove(&f);

    fixture_dir(&f);
    make_v1(&f, 0);
    is_int(open_v2(&f, 0), 0, "a file of version 1");
    is_v2(&f, "a file of version 1");
    migrated = catalogue(&f);
    fixture_remove(&f);

    ok(strstr(fresh, "submission_intents label") != NULL, "a catalogue");
    is_str(migrated, fresh, "both have the same tables, columns and indexes");

    free(fresh);
    free(migrated);
}


static void
test_copy(void)
{
    char          name[256], *before, *after, text[512];
    fixture_t     f, copy;
    struct stat   st;

    fixture_dir(&f);
    make_v1(&f, 0);
    must(chmod(f.path, 0644) == 0);
    before = kept(&f);

    is_int(open_v2(&f, 0), 0, "a file of version 1");
    after = kept(&f);
    is_str(after, before, "what was in it is as it was");
    free(after);

    (void) snprintf(name, sizeof(name), "%s.v1", f.path);
    copy = f;
    (void) strcat(copy.path, ".v1");

    ok(stat(name, &st) == 0, "a copy beside it");
    is_int(st.st_mode & 0777, 0640, "as readable as the file, but for others");
    is_str(sql_text(&copy, "PRAGMA integrity_check"), "ok", "which is sound");
    is_str(sql_text(&copy, "SELECT group_concat(version) "
                    "FROM submission_schema"), "1", "and of version 1");
    after = kept(&copy);
    is_str(after, before, "with all of it");
    free(after);

    (void) snprintf(name, sizeof(name), "%s.v1.new", f.path);
    ok(access(name, F_OK) != 0, "nothing else");

    (void) snprintf(text, sizeof(text), "%s.v1", f.path);
    must(unlink(text) == 0);
    is_int(open_v2(&f, 0), 0, "once more");
    ok(access(text, F_OK) != 0, "no copy of what is migrated");

    free(before);
    fixture_remove(&f);

    /* without a copy */

    fixture_dir(&f);
    make_v1(&f, 0);
    is_int(open_v2(&f, 1), 0, "without a copy");
    is_v2(&f, "without a copy");
    (void) snprintf(name, sizeof(name), "%s.v1", f.path);
    ok(access(name, F_OK) != 0, "there is none");
    fixture_remove(&f);
}


static void
test_no_copy(void)
{
    int         fd;
    char        name[256];
    fixture_t   f;

    fixture_dir(&f);
    make_v1(&f, 0);
    (void) snprintf(name, sizeof(name), "%s.v1.new", f.path);
    must(mkdir(name, 0700) == 0);

    store_open_v2(&f, 200);

    is_int(sm_store_ping(&f.store, new_call(&f)), -1, "no copy can be made");
    is_int(f.call.status, SM_STORE_PERMANENT, "that does not pass by itself");
    ok(strstr(f.call.error, ".v1 cannot be written") != NULL
       && strstr(f.call.error, "migrate_backup=off") != NULL,
       "it says so: %s", f.call.error);
    is_str(sql_text(&f, "SELECT group_concat(version) FROM submission_schema"),
           "1", "nothing was migrated");

    must(rmdir(name) == 0);

    /* another process is at it */

    (void) snprintf(name, sizeof(name), "%s.v1.lock", f.path);
    must((fd = open(name, O_RDWR|O_CREAT, 0600)) != -1);
    must(flock(fd, LOCK_EX) == 0);

    is_int(sm_store_ping(&f.store, new_call(&f)), -1, "another one migrates");
    is_int(f.call.status, SM_STORE_TRANSIENT, "that passes");
    ok(strstr(f.call.error, "another process migrates") != NULL, "it says so");

    must(close(fd) == 0);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "it was killed");
    is_v2(&f, "it was killed");
    ok(access(name, F_OK) != 0, "nothing is left of it");

    store_close_v2(&f);
    fixture_remove(&f);
}


/*
 * A process that has made its copy, and waits for the write lock, makes the only
 * one: another copy might be of what the first has migrated meanwhile, and would
 * take the place of the good one.
 */

static void
test_one_copy(void)
{
    int          status;
    pid_t        pid;
    fixture_t    f, copy;
    sql_conn_t   c;
    struct stat  first, st;

    fixture_dir(&f);
    make_v1(&f, 0);
    copy = f;
    (void) strcat(copy.path, ".v1");

    memset(shared, 0, sizeof(shared_t));
    must((pid = fork()) != -1);

    if (pid == 0) {
        while (atomic_load(&shared->executed) == 0) {
            nap_us(1000);
        }

        store_open_v2(&f, 600000);
        _exit(sm_store_ping(&f.store, new_call(&f)) != 0);
    }

    c = sql_open(&f);
    sql_run(c, "BEGIN IMMEDIATE");
    atomic_store(&shared->executed, 1);

    while (stat(copy.path, &first) != 0) {
        nap_us(1000);
    }

    store_open_v2(&f, 50);
    is_int(sm_store_ping(&f.store, new_call(&f)), -1, "another one migrates");
    ok(strstr(f.call.error, "another process migrates") != NULL,
       "it is waited for: %s", f.call.error);
    ok(stat(copy.path, &st) == 0 && st.st_ino == first.st_ino,
       "its copy is the only one");
    store_close_v2(&f);

    sql_run(c, "COMMIT");
    sql_close(c);

    must(waitpid(pid, &status, 0) == pid);
    is_int(status, 0, "it goes on");
    is_v2(&f, "of the one that was first");
    is_str(sql_text(&copy, "SELECT group_concat(version) "
                    "FROM submission_schema"), "1", "and the copy is older");

    fixture_remove(&f);
}


static void
start_v1(fixture_t *f, pid_t *pids)
{
    int  i;

    memset(shared, 0, sizeof(shared_t));

    for (i = 0; i < WRITERS + 1; i++) {
        must((pids[i] = fork()) != -1);

        if (pids[i] == 0) {
            if (i < WRITERS) {
                v1_writer(f, i);
            } else {
                v1_leader(f);
            }

            _exit(0);
        }
    }
}


static void
stop_v1(pid_t *pids)
{
    int  i, status;

    atomic_store(&shared->stop, 1);

    for (i = 0; i < WRITERS + 1; i++) {
        must(waitpid(pids[i], &status, 0) == pids[i]);
        is_int(status, 0, "a process of version 1 ended well");
    }
}


static int
all_submitted(void)
{
    int  i, n;

    for (i = 0, n = 0; i < WRITERS; i++) {
        n += atomic_load(&shared->submitted[i]);
    }

    return n;
}


static void
test_load(void)
{
    int         i, status, n;
    char       *before, *after;
    pid_t       pids[WRITERS + 1], openers[OPENERS];
    fixture_t   f, copy;

    fixture_dir(&f);
    make_v1(&f, 5000);
    before = kept(&f);

    start_v1(&f, pids);
    more_than(&shared->executed, 50);

    for (i = 0; i < OPENERS; i++) {
        must((openers[i] = fork()) != -1);

        if (openers[i] == 0) {
            _exit(open_v2(&f, i % 2) == 0 ? 0 : 1);
        }
    }

    for (i = 0; i < OPENERS; i++) {
        must(waitpid(openers[i], &status, 0) == openers[i]);
        is_int(status, 0, "opened by several at once");
    }

    /* version 1 beside version 2 */

    n = atomic_load(&shared->executed);
    more_than(&shared->submitted[0], 50);
    more_than(&shared->executed, 50);

    for (i = 0; i < 20; i++) {
        char  id[16];

        (void) sprintf(id, "new-%d", i);
        store_open_v2(&f, 10000);
        is_int(outcome(&f, id, &sms, "{}"), SM_SUBMIT_CREATED,
               "an intent by version 2");
        store_close_v2(&f);
    }

    stop_v1(pids);

    is_int(atomic_load(&shared->failed), 0, "nothing failed for version 1");
    ok(atomic_load(&shared->executed) > n, "%d executed, %d of them before",
       atomic_load(&shared->executed), n);
    diag("the slowest call of version 1 took %d ms",
         atomic_load(&shared->slowest));

    is_v2(&f, "under load");

    copy = f;
    (void) strcat(copy.path, ".v1");

    if (access(copy.path, F_OK) == 0) {
        is_str(sql_text(&copy, "SELECT group_concat(version) "
                        "FROM submission_schema"), "1", "the copy is older");
    }

    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE lease_name = 'main' AND intent_id LIKE 'w%%'"),
           all_submitted(), "all that was submitted is there");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_attempts "
                   "WHERE lease_name = 'main'"),
           sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE lease_name = 'main' AND status <> 'pending'"),
           "and what was executed has its attempt");

    after = kept(&f);
    is_str(after, before, "what was there before is as it was");

    free(before);
    free(after);
    fixture_remove(&f);
}


/* killed at any moment: it is of the one version or the other */

static void
test_kill(void)
{
    int         i, status, version, killed, versions[3] = { 0, 0, 0 };
    char       *before, *after;
    pid_t       pid;
    int64_t     start, took;
    fixture_t   f;

    fixture_dir(&f);
    make_v1(&f, 5000);

    start = monotonic_ms();
    is_int(open_v2(&f, 0), 0, "not killed");
    took = monotonic_ms() - start;
    fixture_remove(&f);

    killed = 0;

    for (i = 0; i < KILLS; i++) {
        fixture_dir(&f);
        make_v1(&f, 5000);
        before = kept(&f);

        must((pid = fork()) != -1);

        if (pid == 0) {
            _exit(open_v2(&f, 0) == 0 ? 0 : 1);
        }

        nap_us(1000 * (took * i / KILLS));
        (void) kill(pid, SIGKILL);
        must(waitpid(pid, &status, 0) == pid);
        killed += WIFSIGNALED(status);

        version = sql_int(&f, "SELECT max(version) FROM submission_schema");
        must(version == 1 || version == 2);
        versions[version]++;

        if (open_v2(&f, 0) != 0) {
            ok(0, "migrated after a kill: %s", f.call.error);
        }

        after = kept(&f);

        if (strcmp(before, after) != 0
            || strcmp(sql_text(&f, "SELECT group_concat(version) "
                               "FROM submission_schema"), "2") != 0
            || strcmp(sql_text(&f, "PRAGMA integrity_check"), "ok") != 0)
        {
            ok(0, "whole after a kill, %d", i);
        }

        free(before);
        free(after);
        fixture_remove(&f);
    }

    ok(killed > 0, "killed in the middle of %d ms: %d times", (int) took,
       killed);
    ok(versions[1] > 0, "of version 1 after it: %d times, of version 2: %d",
       versions[1], versions[2]);
}


/* version 1 goes on with version 2, and not with a version that has no use for it */

static void
test_newer(void)
{
    fixture_t  f;

    fixture_dir(&f);
    make_v1(&f, 0);
    is_int(open_v2(&f, 1), 0, "migrated");

    store_open(&f, "main", 1000);
    is_int(outcome(&f, "old", &sms, "{}"), SM_SUBMIT_CREATED,
           "version 1 submits");
    store_close(&f);
    is_v2(&f, "and leaves it as it is");

    sql(&f, "UPDATE submission_schema SET compatible_from = 2");

    store_open(&f, "main", 1000);
    is_int(outcome(&f, "none", &sms, "{}"), -1, "version 1 is refused");
    is_int(f.call.status, SM_STORE_SCHEMA, "for the schema");
    ok(strstr(f.call.error, "schema version is 2, and needs a module of version "
              "2 or later: this one is of 1") != NULL, "it says so: %s",
       f.call.error);
    store_close(&f);

    is_int(open_v2(&f, 1), 0, "version 2 is not");
    fixture_remove(&f);
}


int
main(void)
{
    if (!on_sqlite()) {
        printf("1..0 # SKIP a server is migrated by install.sh\n");
        return 0;
    }

    shared = mmap(NULL, sizeof(shared_t), PROT_READ|PROT_WRITE,
                  MAP_SHARED|MAP_ANONYMOUS, -1, 0);
    must(shared != MAP_FAILED);

    this_release = sm_sqlite_release;

    test_fresh();
    test_copy();
    test_no_copy();
    test_one_copy();
    test_load();
    test_kill();
    test_newer();

    return done_testing();
}
