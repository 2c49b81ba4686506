
/*
 * The log of the embedded store while readers overlap: there is always one, so
 * that it is never written from its beginning again, and grows as long as there
 * are writers.  Whoever tidies up must cut it short all the same, without
 * being kept by a reader of long ago, and without losing a row.  Broken by: a
 * passive checkpoint, which leaves it as long as it is, one that waits for all
 * readers, one that keeps writers out.
 */

#include <pthread.h>

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


int
main(void)
{
    needs_sqlite();

    (void) alarm(300);

    test_overlapping();
    test_long_reader();
    test_ping();
    test_modes();

    return done_testing();
}
