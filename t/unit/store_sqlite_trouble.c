
/*
 * The embedded store when its file is in trouble: absent, moved, locked,
 * read-only, of another version, on a full disk.  A success that is not on
 * disk under the configured name is an acknowledged intent lost, so each must
 * be a failure, of the right class, within its time; and each must be over
 * when the trouble is, without anybody's help.  Broken by: using a connection
 * that saw an error, trusting a descriptor whose file has moved, making an
 * empty database where there was a full one.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "real_time.h"
#include "store.h"


static char  away[160];


static void
move_away(const char *path)
{
    (void) snprintf(away, sizeof(away), "%s.away", path);
    must(rename(path, away) == 0);
}


static void
move_back(const char *path)
{
    must(rename(away, path) == 0);
}


static void
write_file(fixture_t *f, const char *text)
{
    FILE  *file;

    must((file = fopen(f->path, "w")) != NULL);
    must(fputs(text, file) >= 0);
    must(fclose(file) == 0);
}


static int
ping(fixture_t *f)
{
    return sm_store_ping(&f->store, new_call(f));
}


static int
created(fixture_t *f, const char *id)
{
    return outcome(f, id, &sms, id) == SM_SUBMIT_CREATED;
}


static int
same(fixture_t *f, const char *id)
{
    return outcome(f, id, &sms, id) == SM_SUBMIT_SAME;
}


static void
fails(fixture_t *f, sm_store_class_e status, const char *error,
    const char *name)
{
    sm_submit_row_t  r;

    is_int(submit_one(f, &r, "x", "x"), -1, "%s: a submission fails", name);
    is_int(f->call.status, status, "of the right class");
    ok(strstr(f->call.error, error) != NULL, "and says: %s", f->call.error);
    ok(strncmp(f->call.error, f->path, strlen(f->path)) == 0, "and where");
}


static void
test_missing(void)
{
    fixture_t  f;

    fixture_open(&f);
    f.create = 0;

    fails(&f, SM_STORE_PERMANENT, "unable to open database file",
          "no database, and none may be made");
    is_int(access(f.path, F_OK), -1, "none was made");

    f.create = 1;
    ok(created(&f, "a"), "one is made when it may be");
    is_int(f.create, 0, "once");

    /* a reload, maybe to another store, and a worker of the old one connects */

    store_close(&f);
    store_open(&f, "main", 1000);
    f.create = 2;
    ok(created(&f, "b"), "the old configuration goes on");
    is_int(f.create, 2, "and leaves the new one its right to make a database");
    f.create = 0;

    store_close(&f);
    move_away(f.path);
    store_open(&f, "main", 1000);

    fails(&f, SM_STORE_PERMANENT, "unable to open database file",
          "the database is gone");

    move_back(f.path);
    ok(same(&f, "a"), "and back, with what was in it");

    fixture_done(&f);
}


static void
test_no_directory(void)
{
    fixture_t  f;

    fixture_dir(&f);
    (void) strcat(f.path, "/none/a.db");
    store_open(&f, "main", 1000);

    fails(&f, SM_STORE_PERMANENT, "(2: No such file or directory)",
          "no directory");
    is_int(f.create, 1, "the database may still be made");

    fixture_done(&f);
}


static void
test_schema(void)
{
    fixture_t  f;

    fixture_open(&f);
    write_file(&f, "");
    f.create = 0;

    fails(&f, SM_STORE_SCHEMA, "the database is empty", "an empty file");

    f.create = 1;
    ok(created(&f, "a"), "it is filled when it may be");

    store_close(&f);
    sql(&f, "UPDATE submission_schema SET version = 4, compatible_from = 3");
    store_open(&f, "main", 1000);

    f.create = 1;
    fails(&f, SM_STORE_SCHEMA, "schema version is 4, and needs a module of "
          "version 3 or later: this one is of 1", "a later schema");
    is_int(sql_int(&f, "SELECT max(version) FROM submission_schema"), 4,
           "it is left alone");

    sql(&f, "UPDATE submission_schema SET compatible_from = 1");
    ok(same(&f, "a"), "a later one that we may use");

    fixture_done(&f);

    fixture_open(&f);
    write_file(&f, "This is a letter, and not a database. It must be kept.");
    fails(&f, SM_STORE_PERMANENT, "file is not a database", "another file");

    must(unlink(f.path) == 0);
    ok(created(&f, "a"), "the store works when it is out of the way");

    fixture_done(&f);
}


/*
 * The connection is open, and for SQLite all is well: the file is there, it
 * only has another name.
 */

static void
test_moved(void)
{
    sm_get_row_t  g = { .id = sm_str("a") };
    fixture_t     f;

    fixture_open(&f);
    ok(created(&f, "a"), "an intent");

    move_away(f.path);

    fails(&f, SM_STORE_PERMANENT, "unable to open database file",
          "the file was moved");
    is_int(sm_store_intents_get(&f.store, new_call(&f), &g, 1), -1,
           "it is not read either");
    is_int(ping(&f), -1, "nor does it answer");

    move_back(f.path);

    ok(same(&f, "a"), "moved back, the first is there");
    ok(created(&f, "x"), "and the one that failed is not");

    move_away(f.dir);
    fails(&f, SM_STORE_PERMANENT, "unable to open database file",
          "the directory was moved");
    move_back(f.dir);
    ok(same(&f, "x"), "moved back, all is there");

    must(unlink(f.path) == 0);
    fails(&f, SM_STORE_PERMANENT, "unable to open database file",
          "the file was removed");
    is_int(access(f.path, F_OK), -1, "no empty one takes its place");

    fixture_done(&f);
}


/* a connection's file may lose its name in the middle of its work */

static int
move_on_commit(void *data)
{
    move_away(data);

    return 0;
}


static void
test_moved_in_commit(void)
{
    sqlite3    *db;
    fixture_t   f;

    fixture_open(&f);
    db = store_db(&f);
    ok(created(&f, "a"), "an intent");

    (void) sqlite3_commit_hook(db, move_on_commit, f.path);

    fails(&f, SM_STORE_PERMANENT, "was moved, removed or made read-only during "
          "a commit", "moved in a commit");
    ok(f.store.idle == NULL, "the connection is not used again");

    move_back(f.path);
    ok(same(&f, "a"), "moved back, it works");

    fixture_done(&f);
}


/* files change places: what is there under the name is what counts */

static void
test_replaced(void)
{
    char       path[2][160];
    size_t     i;
    fixture_t  f, g;

    static const char *const  suffix[] = { "-wal", "-shm" };

    fixture_open(&f);
    ok(created(&f, "a"), "an intent");

    fixture_open(&g);
    ok(created(&g, "b"), "an intent in another database");
    store_close(&g);

    move_away(f.path);
    must(unlink(away) == 0);

    for (i = 0; i < 2; i++) {
        (void) snprintf(path[i], sizeof(path[i]), "%s%s", f.path, suffix[i]);
        must(unlink(path[i]) == 0);
    }

    must(rename(g.path, f.path) == 0);

    ok(same(&f, "b"), "another database in its place is used");
    ok(created(&f, "a"), "and the old one is not");

    fixture_remove(&g);
    fixture_done(&f);
}


static void
test_locked(void)
{
    batch_t           batch;
    int64_t           start, took;
    fixture_t         f;
    sql_conn_t        db;
    sm_get_row_t      g = { .id = sm_str("a") };
    sm_submit_row_t   r;

    fixture_open(&f);
    ok(created(&f, "a"), "an intent");
    store_close(&f);
    store_open(&f, "main", 200);

    db = sql_open(&f);
    sql_lock(db);

    start = monotonic_ms();
    fails(&f, SM_STORE_TRANSIENT, "database is locked", "another writes");
    took = monotonic_ms() - start;
    ok(took >= 200 && took < 5000, "after the time-out: %" PRId64 " ms", took);

    row(&r, "x", &sms, "x");
    batch = (batch_t) { &r, 1, 0 };
    is_int(sm_store_intents_submit(&f.store, new_call(&f), batch_take, &batch),
           -1, "while it waits");
    is_int(batch.taken, 0, "the rows stay where they are");

    is_int(sm_store_intents_get(&f.store, new_call(&f), &g, 1), 0,
           "reading goes on");
    ok(g.found, "and finds what is there");
    is_int(ping(&f), -1, "the ping tells of writing");
    is_int(f.call.status, SM_STORE_TRANSIENT, "it may be over soon");

    sql_run(db, "COMMIT");
    is_int(ping(&f), 0, "it is over when the lock is gone");
    ok(created(&f, "x"), "writing goes on when the lock is gone");

    store_close(&f);

    /* nobody else may even read: opening must wait, and give up */

    sql_run(db, "PRAGMA locking_mode = EXCLUSIVE");
    sql_run(db, "BEGIN EXCLUSIVE");
    store_open(&f, "main", 200);

    start = monotonic_ms();
    fails(&f, SM_STORE_TRANSIENT, "database is locked", "another has it alone");
    took = monotonic_ms() - start;
    ok(took >= 200 && took < 5000, "after the time-out: %" PRId64 " ms", took);

    sql_close(db);
    ok(same(&f, "x"), "and works when that one is gone");

    fixture_done(&f);
}


/* what a child process saw, where its parent can look at it */

typedef struct {
    int   first;
    int   denied[3];
    int   ping;
    int   status;
    int   again;
    char  error[SM_STORE_ERROR_SIZE];
} seen_t;


#define SKIPPED  77


/* its exit code, or -1; "seen" is shared with it */

static int
in_child(void (*run)(fixture_t *f, seen_t *seen), fixture_t *f, seen_t **seen)
{
    int    status;
    pid_t  pid;

    *seen = mmap(NULL, sizeof(seen_t), PROT_READ|PROT_WRITE,
                 MAP_ANONYMOUS|MAP_SHARED, -1, 0);
    must(*seen != MAP_FAILED);

    memset(*seen, 0xff, sizeof(seen_t));

    (void) fflush(stdout);
    must((pid = fork()) >= 0);

    if (pid == 0) {
        run(f, *seen);
        _exit(0);
    }

    must(waitpid(pid, &status, 0) == pid);

    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}


/* root may write to what is read-only: this is for somebody else */

static void
as_nobody(fixture_t *f, seen_t *seen)
{
    int              i;
    sm_submit_row_t  r;
    struct passwd   *pw;

    if (getuid() == 0) {
        must((pw = getpwnam("nobody")) != NULL);
        must(setgid(pw->pw_gid) == 0 && setuid(pw->pw_uid) == 0);
    }

    store_open(f, "main", 1000);

    seen->first = created(f, "a");
    must(chmod(f->path, 0444) == 0);

    /* by the connection that was open, then by new ones */

    for (i = 0; i < 3; i++) {
        seen->denied[i] = submit_one(f, &r, "b", "b");
        seen->status = f->call.status;
        (void) snprintf(seen->error, sizeof(seen->error), "%s", f->call.error);
    }

    seen->ping = ping(f);

    must(chmod(f->path, 0644) == 0);
    seen->again = ping(f) == 0 && created(f, "b") && same(f, "a");

    store_close(f);
}


static void
test_read_only(void)
{
    seen_t         *seen;
    fixture_t       f;
    struct passwd  *pw;

    fixture_dir(&f);

    if (getuid() == 0) {
        must((pw = getpwnam("nobody")) != NULL);
        must(chown(f.dir, pw->pw_uid, pw->pw_gid) == 0);
    }

    if (is_int(in_child(as_nobody, &f, &seen), 0, "a process that is not root"))
    {
        is_int(seen->first, 1, "can write");
        is_int(seen->denied[0], -1, "not when the file is made read-only");
        is_int(seen->denied[1], -1, "nor a second time");
        is_int(seen->denied[2], -1, "nor a third");
        is_int(seen->ping, -1, "the ping tells of it");
    is_int(seen->status, SM_STORE_PERMANENT, "it will not pass by itself");
        ok(strstr(seen->error, "the file is read-only") != NULL, "%s",
           seen->error);
        is_int(seen->again, 1, "but when the file may be written to again");
    }

    fixture_remove(&f);
}


/* before there is a database, and when there is one without a log */

static void
in_closed_dir(fixture_t *f, seen_t *seen)
{
    int              i;
    sm_submit_row_t  r;
    struct passwd   *pw;

    if (getuid() == 0) {
        must((pw = getpwnam("nobody")) != NULL);
        must(setgid(pw->pw_gid) == 0 && setuid(pw->pw_uid) == 0);
    }

    for (i = 0; i < 2; i++) {
        must(chmod(f->dir, 0555) == 0);
        store_open(f, "main", 1000);

        seen->denied[i] = submit_one(f, &r, "b", "b");
        seen->status = f->call.status;
        (void) snprintf(seen->error, sizeof(seen->error), "%s", f->call.error);

        if (strstr(f->call.error, "the directory is not writable") == NULL
            || strstr(f->call.error, "(13: Permission denied)") == NULL)
        {
            return;
        }

        must(chmod(f->dir, 0755) == 0);
        seen->again = created(f, i ? "b" : "a");
        store_close(f);
    }
}


static void
test_closed_dir(void)
{
    seen_t         *seen;
    fixture_t       f;
    struct passwd  *pw;

    fixture_dir(&f);

    if (getuid() == 0) {
        must((pw = getpwnam("nobody")) != NULL);
        must(chown(f.dir, pw->pw_uid, pw->pw_gid) == 0);
    }

    is_int(in_child(in_closed_dir, &f, &seen), 0, "a process that is not root");
    is_int(seen->denied[0], -1, "no database is made in a closed directory");
    is_int(seen->denied[1], -1, "nor one opened without its log");
    is_int(seen->status, SM_STORE_PERMANENT, "it will not pass by itself");
    ok(strstr(seen->error, "the directory is not writable") != NULL,
       "and it says why: %s", seen->error);
    is_int(seen->again, 1, "but when the directory may be written to again");

    fixture_remove(&f);
}


/* not a page more fits, and when a log is gone still not a megabyte */

static void
full(fixture_t *f, seen_t *seen, void (*fill)(fixture_t *),
    void (*empty)(fixture_t *))
{
    int              i;
    char            *huge;
    sm_submit_row_t  r;

    huge = malloc(1000001);
    memset(huge, 'x', 1000000);
    huge[1000000] = '\0';

    seen->first = created(f, "a");

    fill(f);

    seen->ping = ping(f);

    for (i = 0; i < 3; i++) {
        seen->denied[i] = submit_one(f, &r, "b", huge);
        seen->status = f->call.status;
        (void) snprintf(seen->error, sizeof(seen->error), "%s", f->call.error);
    }

    empty(f);

    seen->again = ping(f) == 0 && same(f, "a") && created(f, "b")
                  && outcome(f, "huge", &sms, huge) == SM_SUBMIT_CREATED
                  && outcome(f, "huge", &sms, huge) == SM_SUBMIT_SAME
                  && strcmp(sql_text(f, "PRAGMA integrity_check"), "ok") == 0;

    free(huge);
}


static void
full_is(const seen_t *seen, const char *error)
{
    is_int(seen->first, 1, "an intent");
    is_int(seen->denied[0], -1, "not when there is no room");
    is_int(seen->denied[1], -1, "nor a second time");
    is_int(seen->denied[2], -1, "nor a third");
    is_int(seen->ping, -1, "the ping tells of it");
    is_int(seen->status, SM_STORE_PERMANENT, "it will not pass by itself");
    ok(strstr(seen->error, error) != NULL, "%s", seen->error);
    is_int(seen->again, 1, "but when there is room again, and all is there");
}


static struct rlimit  unlimited;


static void
limit_file(fixture_t *f)
{
    char           path[160];
    struct stat    st;
    struct rlimit  limit;

    (void) snprintf(path, sizeof(path), "%s-wal", f->path);
    must(stat(path, &st) == 0);

    must(getrlimit(RLIMIT_FSIZE, &unlimited) == 0);

    limit = unlimited;
    limit.rlim_cur = (rlim_t) st.st_size;
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}


static void
unlimit_file(fixture_t *f)
{
    (void) f;

    must(setrlimit(RLIMIT_FSIZE, &unlimited) == 0);
}


static void
test_file_limit(void)
{
    seen_t     seen;
    fixture_t  f;

    (void) signal(SIGXFSZ, SIG_IGN);

    fixture_open(&f);
    full(&f, &seen, limit_file, unlimit_file);
    full_is(&seen, "disk I/O error");
    fixture_done(&f);
}


/* its file has lost its name by the next commit */

static void
move_file(fixture_t *f)
{
    (void) sqlite3_commit_hook(store_db(f), move_on_commit, f->path);
}


static void
move_file_back(fixture_t *f)
{
    move_back(f->path);
}


static int
turn(fixture_t *f, const sm_fence_t *fence, sm_begin_row_t *due)
{
    sm_complete_row_t  ended;

    memset(&ended, 0, sizeof(sm_complete_row_t));
    memset(due, 0, sizeof(sm_begin_row_t));

    ended.id = sm_str_c("a");
    ended.number = 1;
    ended.epoch = 1;
    ended.holder = fence->holder;
    ended.outcome = SM_OUTCOME_ACCEPTED;
    ended.status = SM_STATUS_ACCEPTED;

    due->id = sm_str_c("b");

    return sm_store_attempts_turn(&f->store, new_call(f), fence, &ended, 1,
                                  due, 1);
}


/*
 * A turn whose COMMIT fails has begun nothing, and recorded nothing: taken for
 * a success, an attempt would be sent that the store knows nothing of (G4).
 */

static void
test_turn_commit(void)
{
    size_t          i;
    fixture_t       f;
    sm_lease_t      lease;
    sm_fence_t      fence = { sm_str("x"), 1 };
    sm_begin_row_t  due;

    static const struct {
        const char  *name;
        void       (*spoil)(fixture_t *f);
        void       (*mend)(fixture_t *f);
    } t[] = {
        { "no room for it", limit_file, unlimit_file },
        { "moved meanwhile", move_file, move_file_back }
    };

    (void) signal(SIGXFSZ, SIG_IGN);

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        fixture_open(&f);
        (void) store_db(&f);

        must(sm_store_lease_acquire(&f.store, new_call(&f), fence.holder,
                                    3600000, &lease)
             == 0);
        must(created(&f, "a") && created(&f, "b"));

        memset(&due, 0, sizeof(sm_begin_row_t));
        due.id = sm_str_c("a");
        must(sm_store_attempts_begin(&f.store, new_call(&f), &fence, &due, 1)
             == 0);
        must(due.outcome == SM_BEGIN_BEGUN);

        t[i].spoil(&f);

        is_int(turn(&f, &fence, &due), -1, "a turn's commit, %s", t[i].name);
        is_int(f.call.status, SM_STORE_PERMANENT, "%s", f.call.error);

        t[i].mend(&f);

        if (i == 0) {
            is_int(sql_int(&f, "SELECT count(*) FROM submission_attempts"), 0,
                   "nothing is recorded");
            is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                           "WHERE intent_id = 'b' AND inflight_epoch IS NULL"),
                   1, "nothing is begun");
            is_int(turn(&f, &fence, &due), 0, "when that is over");
            is_int(due.outcome, SM_BEGIN_BEGUN, "it is");
        }

        fixture_done(&f);
    }
}


/* a disk of its own, in a mount namespace of its own, to be filled up */

static void
fill_disk(fixture_t *f)
{
    int      fd;
    char     path[160], block[4096] = "";
    ssize_t  n;

    (void) snprintf(path, sizeof(path), "%s/ballast", f->dir);
    must((fd = open(path, O_CREAT|O_WRONLY, 0600)) != -1);

    do {
        n = write(fd, block, sizeof(block));
    } while (n > 0);

    must(n == -1 && errno == ENOSPC);
    must(close(fd) == 0);
}


static void
empty_disk(fixture_t *f)
{
    char  path[160];

    (void) snprintf(path, sizeof(path), "%s/ballast", f->dir);
    must(unlink(path) == 0);
}


static void
on_small_disk(fixture_t *f, seen_t *seen)
{
    if (unshare(CLONE_NEWNS) != 0
        || mount("none", "/", "none", MS_REC|MS_PRIVATE, NULL) != 0
        || mount("none", f->dir, "tmpfs", 0, "size=8m") != 0)
    {
        _exit(SKIPPED);
    }

    store_open(f, "main", 1000);
    full(f, seen, fill_disk, empty_disk);
    store_close(f);
}


static void
test_disk_full(void)
{
    int         code;
    seen_t     *seen;
    fixture_t   f;

    fixture_dir(&f);

    code = in_child(on_small_disk, &f, &seen);

    if (code == SKIPPED) {
        ok(1, "a full disk # SKIP no right to mount one");

    } else if (is_int(code, 0, "a process with a small disk")) {
        full_is(seen, "database or disk is full");
    }

    fixture_remove(&f);
}


int
main(void)
{
    needs_sqlite();

    test_missing();
    test_no_directory();
    test_schema();
    test_moved();
    test_moved_in_commit();
    test_replaced();
    test_locked();
    test_read_only();
    test_closed_dir();
    test_file_limit();
    test_turn_commit();
    test_disk_full();

    return done_testing();
}
