
/*
 * The log of the embedded store while readers overlap: there is always one, so
 * that it is never written from its beginning again, and grows as long as there
 * are writers.  Whoever tidies up must cut it short all the same, without
 * being kept by a reader of long ago, and without losing a row.  Broken by: a
 * passive checkpoint, which leaves it as long as it is, one that waits for all
 * readers, one that keeps writers out.
 *
 * And if somebody removes it: what was committed is kept, and no second log is
 * begun while a process has the first.  Broken by: a file that is not looked for
 * after a commit, or not before a call, a process that does not ask who else
 * has the database.
 */

#include <pthread.h>
#include <sys/wait.h>

#include "real_time.h"
#include "store.h"


#define READERS   3
#define READ_US   20000
#define TRIES     1000
#define LONG      67108864
#define PAYLOAD   900000


typedef struct {
    fixture_t        *f;
    volatile int      end;
    pthread_mutex_t   mutex;
    long              reads;
} readers_t;


static long
wal_size(fixture_t *f)
{
    char         path[160];
    struct stat  st;

    (void) snprintf(path, sizeof(path), "%s-wal", f->path);

    return stat(path, &st) == 0 ? (long) st.st_size : -1;
}


static int
tidy(fixture_t *f)
{
    return sm_store_tidy(&f->store, new_call(f));
}


static void *
reader(void *data)
{
    readers_t   *r = data;
    sql_conn_t   db;

    db = sql_open(r->f);

    while (!r->end) {
        sql_run(db, "BEGIN; SELECT count(*) FROM submission_schema");
        nap_us(READ_US);
        sql_run(db, "COMMIT");

        (void) pthread_mutex_lock(&r->mutex);
        r->reads++;
        (void) pthread_mutex_unlock(&r->mutex);
    }

    sql_close(db);

    return NULL;
}


/* intents until the log is longer than that */

static int
fill(fixture_t *f, int n, long size)
{
    char         id[16];
    static char  payload[PAYLOAD + 1];

    memset(payload, 'x', PAYLOAD);

    while (wal_size(f) <= size) {
        (void) snprintf(id, sizeof(id), "i%d", n++);
        must(outcome(f, id, &sms, payload) == SM_SUBMIT_CREATED);
        must(n < 1000);
    }

    return n;
}


static void
test_overlapping(void)
{
    int         i, n;
    fixture_t   f;
    readers_t   r;
    pthread_t   threads[READERS];

    fixture_open(&f);
    must(outcome(&f, "first", &sms, "1") == SM_SUBMIT_CREATED);

    r = (readers_t) { .f = &f, .mutex = PTHREAD_MUTEX_INITIALIZER };

    for (i = 0; i < READERS; i++) {
        must(pthread_create(&threads[i], NULL, reader, &r) == 0);
    }

    n = fill(&f, 0, LONG);

    /* a reader of a moment ago may be in the way, for as long as it reads */

    for (i = 0; i < TRIES && wal_size(&f) > 0; i++) {
        must(tidy(&f) == 0);
        nap_us(READ_US / 10);
    }

    ok(wal_size(&f) == 0, "and the log is cut: %ld", wal_size(&f));

    n = fill(&f, n, 1000000);
    is_int(tidy(&f), 0, "a log that is short");
    ok(wal_size(&f) > 0, "is left as it is");

    r.end = 1;

    for (i = 0; i < READERS; i++) {
        must(pthread_join(threads[i], NULL) == 0);
    }

    ok(r.reads > 0, "%ld reads meanwhile", r.reads);
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), n + 1,
           "all rows are there");

    fixture_done(&f);
}


static void
test_long_reader(void)
{
    int          n;
    fixture_t    f;
    sql_conn_t   db;

    fixture_open(&f);
    must(outcome(&f, "first", &sms, "1") == SM_SUBMIT_CREATED);

    db = sql_open(&f);
    sql_run(db, "BEGIN; SELECT count(*) FROM submission_schema");

    n = fill(&f, 0, LONG);

    is_int(tidy(&f), 0, "a reader of long ago: nothing fails");
    ok(wal_size(&f) > LONG, "nor can anything be done");
    ok(outcome(&f, "meanwhile", &sms, "1") == SM_SUBMIT_CREATED,
       "nor is a writer kept out");

    sql_run(db, "COMMIT");
    sql_close(db);

    is_int(tidy(&f), 0, "it has ended");
    ok(wal_size(&f) == 0, "and the log is cut: %ld", wal_size(&f));
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), n + 2,
           "all rows are there");

    fixture_done(&f);
}


/* a ping is a commit: it adds to the log */

static void
test_ping(void)
{
    long       size;
    fixture_t  f;

    fixture_open(&f);
    must(outcome(&f, "first", &sms, "1") == SM_SUBMIT_CREATED);

    size = wal_size(&f);

    is_int(sm_store_ping(&f.store, new_call(&f)), 0, "a ping");
    ok(wal_size(&f) > size, "writes");

    fixture_done(&f);
}


/* whatever the umask is: payloads are in all three of them */

static void
test_modes(void)
{
    size_t       i;
    char         path[160];
    mode_t       mask;
    fixture_t    f;
    struct stat  st;

    static const char  *files[] = { "", "-wal", "-shm" };

    mask = umask(0);

    fixture_open(&f);
    must(outcome(&f, "first", &sms, "1") == SM_SUBMIT_CREATED);

    for (i = 0; i < 3; i++) {
        (void) snprintf(path, sizeof(path), "%s%s", f.path, files[i]);
        must(stat(path, &st) == 0);
        is_int(st.st_mode & 0777, 0600, "the mode of \"...%s\"", files[i]);
    }

    fixture_done(&f);
    (void) umask(mask);
}


static void
remove_files(const fixture_t *f, const char *suffixes)
{
    char  path[160];

    for ( /* void */ ; *suffixes; suffixes++) {
        (void) snprintf(path, sizeof(path), "%s-%s", f->path,
                        *suffixes == 'w' ? "wal" : "shm");
        must(unlink(path) == 0);
    }
}


static int
created(fixture_t *f, const char *id)
{
    return outcome(f, id, &sms, id) == SM_SUBMIT_CREATED;
}


static int
removed_in_commit(void *data)
{
    remove_files(data, "ws");

    return 0;
}


/*
 * Another process, which submits an intent for each byte that it reads.  SQLite's
 * connections do not survive a fork, so the store is closed before, and opened
 * again after it.
 */

typedef struct {
    pid_t  pid;
    int    ask;
    int    answer;
} other_t;


static void
other_run(const fixture_t *f, int ask, int answer)
{
    char       id[2] = "?", result;
    fixture_t  own = *f;

    store_open(&own, "main", 1000);

    while (read(ask, id, 1) == 1) {

        if (id[0] == 'R') {
            store_close(&own);
            store_open(&own, "main", 1000);
            (void) sqlite3_commit_hook(store_db(&own), removed_in_commit,
                                       &own);
        }

        result = created(&own, id) ? 'y'
                 : strstr(own.call.error, "-wal or -shm was removed") ? 'r'
                 : '?';
        must(write(answer, &result, 1) == 1);
    }

    store_close(&own);
}


static void
other_start(fixture_t *f, other_t *o)
{
    int  ask[2], answer[2];

    store_close(f);

    must(pipe(ask) == 0 && pipe(answer) == 0);
    (void) fflush(stdout);
    must((o->pid = fork()) >= 0);

    if (o->pid == 0) {
        (void) close(ask[1]);
        other_run(f, ask[0], answer[1]);
        _exit(0);
    }

    (void) close(ask[0]);
    (void) close(answer[1]);
    o->ask = ask[1];
    o->answer = answer[0];

    store_open(f, "main", 1000);
}


static int
other_submits(other_t *o, char id)
{
    char  result = 0;

    must(write(o->ask, &id, 1) == 1);
    must(read(o->answer, &result, 1) == 1);

    return result;
}


static void
other_end(other_t *o)
{
    (void) close(o->ask);
    (void) close(o->answer);
    must(waitpid(o->pid, NULL, 0) == o->pid);
}


static void
test_removed(void)
{
    size_t      i;
    other_t     o;
    fixture_t   f;
    sm_lease_t  lease;
    sql_conn_t  db;

    static const char  *removed[] = { "ws", "w", "s" };

    for (i = 0; i < sm_nelts(removed); i++) {

        fixture_open(&f);
        must(created(&f, "a"));
        other_start(&f, &o);
        must(other_submits(&o, 'b') == 'y' && created(&f, "c"));

        remove_files(&f, removed[i]);

        ok(!created(&f, "x"), "%s removed: a process that has it open",
           removed[i]);
        ok(strstr(f.call.error, "-wal or -shm was removed") != NULL,
           "says why: %s", f.call.error);

        /* as after a restart */

        store_close(&f);
        store_open(&f, "main", 1000);

        is_int(sm_store_lease_acquire(&f.store, new_call(&f), sm_str_c("a:1"),
                                      10000, &lease),
               -1, "%s removed: nobody leads beside it", removed[i]);

        is_int(other_submits(&o, 'd'), 'y',
               "%s removed: the last one writes it, and goes on", removed[i]);
        ok(created(&f, "e"), "%s removed: and so do all others", removed[i]);
        other_end(&o);

        is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 5,
               "%s removed: all is there", removed[i]);
        is_str(sql_text(&f, "PRAGMA integrity_check"), "ok", "and sound");
        fixture_done(&f);
    }

    /* in the middle of a commit; and somebody has a look meanwhile */

    fixture_open(&f);
    must(created(&f, "a"));
    other_start(&f, &o);
    must(other_submits(&o, 'b') == 'y' && created(&f, "f"));
    is_int(other_submits(&o, 'R'), 'r', "removed in a commit: no success");
    is_int(other_submits(&o, 'S'), 'r', "nor as long as another has it open");
    ok(created(&f, "c"), "which writes it");
    must(other_submits(&o, 'g') == 'y');

    remove_files(&f, "ws");
    store_close(&f);
    db = sql_open(&f);
    sql_run(db, "SELECT count(*) FROM submission_intents");
    sql_close(db);
    store_open(&f, "main", 1000);

    ok(!created(&f, "x"), "an empty log that somebody left is not taken");
    is_int(other_submits(&o, 'd'), 'y', "nor is it in the way");
    ok(created(&f, "e"), "of anybody");
    other_end(&o);

    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 8,
           "all is there");
    fixture_done(&f);
}


/* what is no reason for an alarm */

static void
test_kept(void)
{
    other_t     o;
    fixture_t   f;
    sm_conn_t  *conn;
    sql_conn_t  db;

    fixture_open(&f);
    other_start(&f, &o);
    must(created(&f, "a"));
    conn = f.store.idle;

    sql(&f, "PRAGMA wal_checkpoint(TRUNCATE)");
    must(wal_size(&f) == 0);
    is_int(other_submits(&o, 'b'), 'y', "an empty log: another process opens");
    sql(&f, "PRAGMA wal_checkpoint(TRUNCATE)");
    ok(created(&f, "c"), "and so does this one");
    ok(f.store.idle == conn, "by the same connection");

    store_close(&f);
    store_open(&f, "main", 1000);
    ok(created(&f, "d"), "one of two is started anew");
    other_end(&o);

    /* a reader has made the log */

    other_start(&f, &o);
    db = sql_open(&f);
    sql_run(db, "SELECT count(*) FROM submission_intents");
    must(wal_size(&f) == 0);
    is_int(other_submits(&o, 'e'), 'y', "somebody reads at the start");
    sql_close(db);
    other_end(&o);

    ok(created(&f, "f"), "all were ended: it is there");
    fixture_done(&f);
}


int
main(void)
{
    needs_sqlite();

    (void) alarm(300);

    test_overlapping();
    test_long_reader();
    test_ping();
    test_modes();
    test_removed();
    test_kept();

    return done_testing();
}
