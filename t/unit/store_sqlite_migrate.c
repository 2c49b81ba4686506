
/*
 * A file of version 1, made by the files of version 1 (t/schema/v1), becomes one of
 * version 2 when a store opens it: with all that is in it (G18), while processes of
 * version 1 submit and execute, once, however many open it, and whole, whenever it
 * is interrupted.  Modules of version 1 go on with it.
 *
 * Version 1 is played by its own statements on connections of the test's.
 *
 * Broken by: a migration that is not one transaction, or does not look again when
 * it has the lock; a column without a default that an old INSERT leaves out; a
 * version that an old module does not take for its own; a copy that is made twice,
 * is not whole, or is for all to read.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "store.h"


#define V1        "t/schema/v1/"

#define WRITERS   3
#define OPENERS   4
#define KILLS     20


/* what the processes of version 1 tell */

typedef struct {
    atomic_int     stop;
    atomic_int     failed;
    atomic_int     submitted[WRITERS];
    atomic_int     executed;
    atomic_int     slowest;             /* milliseconds of a write */
} shared_t;


static shared_t  *shared;


static int64_t
monotonic(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


static void
nap(int64_t ms)
{
    struct timespec  ts = { ms / 1000, ms % 1000 * 1000000 };

    (void) nanosleep(&ts, NULL);
}


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
    char        text[1024];
    sql_conn_t  c = { NULL, NULL };

    must(sqlite3_open(f->path, &c.sqlite) == SQLITE_OK);

    sql_run(c, "PRAGMA journal_mode = WAL");
    sql_run(c, "PRAGMA synchronous = OFF");
    sql_run(c, slurp(V1 "sqlite/schema.sql"));
    sql_run(c, slurp(V1 "data.sql"));
    sql_run(c, "UPDATE submission_intents SET payload = CAST(payload AS BLOB)");

    (void) snprintf(text, sizeof(text),
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < %d) INSERT INTO submission_intents SELECT lease_name, "
        "intent_id || i, submission_target, payload_hash, gateway_type, "
        "gateway_url, policy, max_acceptance_seconds, max_attempts, "
        "terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct, "
        "retry_jitter_pct, status, final_outcome_status, "
        "final_outcome_reason, exhausted_reason, attempt_count, "
        "created_at + i, completed_at + i, last_modified_at + i, "
        "next_attempt_at, inflight_epoch, inflight_holder, inflight_at, "
        "payload FROM submission_intents, n "
        "WHERE intent_id IN ('accepted', 'rejected')", more);

    if (more) {
        sql_run(c, text);
    }

    sql_close(c);
}


/* all that version 1 knows of what is kept */

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


/* a statement of version 1, with the parameters that a test names */

static sqlite3_stmt *
v1_prepare(sqlite3 *db, const char *name)
{
    char           path[128];
    sqlite3_stmt  *stmt;

    (void) snprintf(path, sizeof(path), V1 "sqlite/%s.sql", name);

    if (sqlite3_prepare_v2(db, slurp(path), -1, &stmt, NULL) != SQLITE_OK) {
        diag("%s: %s", name, sqlite3_errmsg(db));
        must(!"prepare failed");
    }

    return stmt;
}


static void
v1_text(sqlite3_stmt *stmt, const char *name, const char *value)
{
    int  n;

    must((n = sqlite3_bind_parameter_index(stmt, name)) > 0);
    (void) sqlite3_bind_text(stmt, n, value, -1, SQLITE_TRANSIENT);
}


static void
v1_int(sqlite3_stmt *stmt, const char *name, int64_t value)
{
    int  n;

    must((n = sqlite3_bind_parameter_index(stmt, name)) > 0);
    (void) sqlite3_bind_int64(stmt, n, value);
}


static int
v1_step(sqlite3_stmt *stmt)
{
    int      rc;
    int64_t  start;

    start = monotonic();
    rc = sqlite3_step(stmt);

    if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
        diag("version 1: %s", sqlite3_errmsg(sqlite3_db_handle(stmt)));
        atomic_fetch_add(&shared->failed, 1);
    }

    start = monotonic() - start;

    if (start > atomic_load(&shared->slowest)) {
        atomic_store(&shared->slowest, (int) start);
    }

    return rc;
}


/* as version 1 opens a file: it wants a 1 in the first row */

static sqlite3 *
v1_open(fixture_t *f)
{
    sqlite3       *db;
    sqlite3_stmt  *stmt;

    must(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READWRITE, NULL)
         == SQLITE_OK);
    (void) sqlite3_busy_timeout(db, 60000);
    must(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL)
         == SQLITE_OK);

    stmt = v1_prepare(db, "schema_version");

    if (v1_step(stmt) != SQLITE_ROW || sqlite3_column_int(stmt, 0) != 1) {
        diag("version 1 refuses version %d", sqlite3_column_int(stmt, 0));
        atomic_fetch_add(&shared->failed, 1);
    }

    (void) sqlite3_finalize(stmt);

    return db;
}


static void
v1_exec(sqlite3 *db, const char *text)
{
    sqlite3_stmt  *stmt;

    must(sqlite3_prepare_v2(db, text, -1, &stmt, NULL) == SQLITE_OK);
    (void) v1_step(stmt);
    (void) sqlite3_finalize(stmt);
}


static void
v1_submit(sqlite3_stmt *stmt, const char *id)
{
    v1_text(stmt, ":lease_name", "main");
    v1_text(stmt, ":intent_id", id);
    v1_text(stmt, ":payload_hash", "0");
    v1_text(stmt, ":payload", "{}");
    v1_text(stmt, ":submission_target", "sms");
    v1_text(stmt, ":gateway_type", "sms");
    v1_text(stmt, ":gateway_url", "http://sms");
    v1_text(stmt, ":policy", "one_shot");
    v1_text(stmt, ":terminal_outcomes", "");
    v1_int(stmt, ":retry_delay_ms", 1000);
    v1_int(stmt, ":retry_max_ms", 0);
    v1_int(stmt, ":retry_backoff_pct", 100);
    v1_int(stmt, ":retry_jitter_pct", 0);
    v1_int(stmt, ":now", 1);

    (void) v1_step(stmt);
    (void) sqlite3_reset(stmt);
}


static void
v1_writer(fixture_t *f, int number)
{
    int            n;
    char           id[32];
    sqlite3       *db;
    sqlite3_stmt  *stmt;

    db = v1_open(f);
    stmt = v1_prepare(db, "intents_submit");

    for (n = 0; !atomic_load(&shared->stop); n++) {

        /* an old module opens connections anew, too */

        if (n % 20 == 19) {
            (void) sqlite3_finalize(stmt);
            (void) sqlite3_close(db);
            db = v1_open(f);
            stmt = v1_prepare(db, "intents_submit");
        }

        (void) sprintf(id, "w%d-%d", number, n);
        v1_exec(db, "BEGIN IMMEDIATE");
        v1_submit(stmt, id);
        v1_exec(db, "COMMIT");
        atomic_fetch_add(&shared->submitted[number], 1);
        nap(1);
    }

    (void) sqlite3_finalize(stmt);
    (void) sqlite3_close(db);
}


/* begins what is new, and ends it in the next transaction */

static void
v1_execute(sqlite3 *db, sqlite3_stmt **stmts)
{
    int   i, n, alive;
    char  ids[10][32];

    v1_text(stmts[0], ":lease_name", "main");
    v1_int(stmts[0], ":after_at", 0);
    v1_text(stmts[0], ":after_id", "");
    v1_int(stmts[0], ":limit", 10);

    for (n = 0; n < 10 && v1_step(stmts[0]) == SQLITE_ROW; n++) {
        (void) snprintf(ids[n], sizeof(ids[n]), "%s",
                        (char *) sqlite3_column_text(stmts[0], 0));
    }

    (void) sqlite3_reset(stmts[0]);

    v1_exec(db, "BEGIN IMMEDIATE");

    for (i = 0; i < n; i++) {
        v1_text(stmts[1], ":lease_name", "main");
        v1_text(stmts[1], ":intent_id", ids[i]);
        must(v1_step(stmts[1]) == SQLITE_ROW);

        v1_int(stmts[2], ":rowid", sqlite3_column_int64(stmts[1], 0));
        (void) sqlite3_reset(stmts[1]);
        v1_int(stmts[2], ":lease_epoch", 1);
        v1_text(stmts[2], ":holder_id", "sm-01");
        v1_int(stmts[2], ":now", 2);
        (void) v1_step(stmts[2]);
        (void) sqlite3_reset(stmts[2]);
    }

    v1_exec(db, "COMMIT");
    v1_exec(db, "BEGIN IMMEDIATE");

    for (i = 0; i < n; i++) {
        alive = i % 2;

        v1_text(stmts[3], ":lease_name", "main");
        v1_text(stmts[3], ":intent_id", ids[i]);
        v1_text(stmts[3], ":status", alive ? "accepted" : "rejected");
        v1_text(stmts[3], ":outcome_status", alive ? "accepted" : "rejected");
        v1_text(stmts[3], ":outcome_reason", alive ? NULL : "invalid");
        v1_text(stmts[3], ":exhausted_reason", NULL);
        v1_int(stmts[3], ":attempt_number", 1);
        v1_int(stmts[3], ":completed_at", 3);
        v1_int(stmts[3], ":now", 3);
        v1_text(stmts[3], ":next_attempt_at", NULL);
        v1_int(stmts[3], ":lease_epoch", 1);
        v1_text(stmts[3], ":holder_id", "sm-01");
        (void) v1_step(stmts[3]);
        must(sqlite3_changes(db) == 1);
        (void) sqlite3_reset(stmts[3]);

        v1_text(stmts[4], ":lease_name", "main");
        v1_text(stmts[4], ":intent_id", ids[i]);
        v1_int(stmts[4], ":attempt_number", 1);
        v1_int(stmts[4], ":lease_epoch", 1);
        v1_text(stmts[4], ":holder_id", "sm-01");
        v1_int(stmts[4], ":started_at", 2);
        v1_int(stmts[4], ":finished_at", 3);
        v1_text(stmts[4], ":outcome_status", alive ? "accepted" : "rejected");
        v1_text(stmts[4], ":outcome_reason", alive ? NULL : "invalid");
        v1_text(stmts[4], ":error", NULL);
        (void) v1_step(stmts[4]);
        (void) sqlite3_reset(stmts[4]);
    }

    v1_exec(db, "COMMIT");

    atomic_fetch_add(&shared->executed, n);
}


static void
v1_leader(fixture_t *f)
{
    int            i;
    sqlite3       *db;
    sqlite3_stmt  *stmts[5];

    static const char  *names[] = {
        "schedule_page_modified", "attempts_begin", "attempts_begin_mark",
        "attempts_complete", "attempts_complete_append"
    };

    db = v1_open(f);

    for (i = 0; i < 5; i++) {
        stmts[i] = v1_prepare(db, names[i]);
    }

    while (!atomic_load(&shared->stop)) {
        v1_execute(db, stmts);
        nap(2);
    }

    for (i = 0; i < 5; i++) {
        (void) sqlite3_finalize(stmts[i]);
    }

    (void) sqlite3_close(db);
}


/* opens it as a worker of nginx does, until it is there */

static int
open_v2(fixture_t *f, unsigned no_copy)
{
    int  rc;

    f->create = 0;
    store_open(f, "main", 1000);
    f->store.conf.migrate_no_copy = no_copy;

    do {
        rc = sm_store_ping(&f->store, new_call(f));
    } while (rc != 0 && f->call.status == SM_STORE_TRANSIENT);

    if (rc != 0) {
        diag("%s", f->call.error);
    }

    store_close(f);

    return rc;
}


static void
more_than(atomic_int *counter, int n)
{
    int  i, before;

    before = atomic_load(counter);

    for (i = 0; i < 20000 && atomic_load(counter) < before + n; i++) {
        nap(1);
    }

    must(atomic_load(counter) >= before + n);
}


static void
is_v2(fixture_t *f, const char *what)
{
    is_str(sql_text(f, "SELECT group_concat(version || ',' || "
                    "compatible_from, ' ') FROM submission_schema"), "1,1 2,1",
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

    fixture_open(&f);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a new file");
    is_v2(&f, "a new file");
    fresh = catalogue(&f);
    ok(access(f.path, F_OK) == 0, "it is there");
    fixture_done(&f);

    fixture_dir(&f);
    make_v1(&f, 0);
    is_int(open_v2(&f, 0), 0, "a file of version 1");
    is_v2(&f, "a file of version 1");
    migrated = catalogue(&f);
    fixture_remove(&f);

    ok(strstr(fresh, "submission_intents not_before") != NULL, "a catalogue");
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
    f.create = 0;
    store_open(&f, "main", 1000);
    f.store.conf.migrate_no_copy = 1;
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "without a copy");
    is_v2(&f, "without a copy");
    (void) snprintf(name, sizeof(name), "%s.v1", f.path);
    ok(access(name, F_OK) != 0, "there is none");
    fixture_done(&f);
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

    f.create = 0;
    store_open(&f, "main", 200);

    is_int(sm_store_ping(&f.store, new_call(&f)), -1, "no copy can be made");
    is_int(f.call.status, SM_STORE_PERMANENT, "that does not pass by itself");
    ok(strstr(f.call.error, ".v1 cannot be written") != NULL
       && strstr(f.call.error, "migrate_backup=off") != NULL,
       "it says so: %s", f.call.error);
    is_str(sql_text(&f, "SELECT group_concat(version) FROM submission_schema"),
           "1", "nothing was migrated");

    must(rmdir(name) == 0);

    /* another process is at it */

    must((fd = open(name, O_RDWR|O_CREAT, 0600)) != -1);
    must(flock(fd, LOCK_EX) == 0);

    is_int(sm_store_ping(&f.store, new_call(&f)), -1, "another one migrates");
    is_int(f.call.status, SM_STORE_TRANSIENT, "that passes");
    ok(strstr(f.call.error, "another process migrates") != NULL, "it says so");

    must(close(fd) == 0);
    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "it was killed");
    is_v2(&f, "it was killed");

    fixture_done(&f);
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
        store_open(&f, "main", 10000);
        is_int(outcome(&f, id, &sms, "{}"), SM_SUBMIT_CREATED,
               "an intent by version 2");
        store_close(&f);
    }

    stop_v1(pids);

    is_int(atomic_load(&shared->failed), 0, "nothing failed for version 1");
    ok(atomic_load(&shared->executed) > n, "%d executed, %d of them before",
       atomic_load(&shared->executed), n);
    diag("the slowest statement of version 1 took %d ms",
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

    start = monotonic();
    is_int(open_v2(&f, 0), 0, "not killed");
    took = monotonic() - start;
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

        nap(took * i / KILLS);
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
                               "FROM submission_schema"), "1,2") != 0
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

    test_fresh();
    test_copy();
    test_no_copy();
    test_load();
    test_kill();

    return done_testing();
}
