
/*
 * Many calls, from several threads, with errors of every class in between, each
 * of which ends its connection: nothing is left behind.  Connections are as many
 * as the pool has, at the server and in the process; memory does not grow; what
 * was submitted without an error is there, once.
 *
 * 100,000 calls with 1,000 errors take minutes: SUBMISSION_TEST_LONG=1 makes
 * them, a tenth is made otherwise.
 */

#include <pthread.h>
#include <stdatomic.h>

/* of the sanitizer: what is allocated now */
size_t __sanitizer_get_current_allocated_bytes(void);

#include "store.h"


#define THREADS  4
#define POOL     4
#define RATIO    100        /* calls for each error */
#define KINDS    8


static fixture_t      f;
static atomic_long    calls, errors, wrong, submitted;
static long           total, others;


typedef struct {
    const char        *id;
    sm_store_class_e   class;
} fault_t;

static const fault_t  faults[] = {
    { "40P01", SM_STORE_TRANSIENT },        /* deadlock */
    { "57014", SM_STORE_TRANSIENT },        /* canceled */
    { "kill-", SM_STORE_TRANSIENT },        /* the server ends the session */
    { "53100", SM_STORE_PERMANENT },        /* the disk is full */
    { "42P01", SM_STORE_SCHEMA },           /* no such table */
    { "23514", SM_STORE_OK },               /* of the row alone */
    { "53300", SM_STORE_TRANSIENT },        /* too many connections */
    { "XX000", SM_STORE_PERMANENT }
};


typedef struct {
    sm_submit_row_t   rows[3];
    char              ids[3][64];
    size_t            n;
} rows_t;


static int
take_rows(void *data, sm_call_t *call, sm_submit_row_t **rows, size_t *n)
{
    rows_t  *batch = data;

    (void) call;

    *rows = batch->rows;
    *n = batch->n;

    return 0;
}


static void
one_fault(sm_call_t *call, long n)
{
    int                rc;
    rows_t             batch;
    const fault_t     *fault;
    sm_store_class_e   class;

    fault = &faults[(n / RATIO) % (sizeof(faults) / sizeof(faults[0]))];
    /* Babelfish has no numbers for what such a trigger raises */

    class = on_babelfish() ? SM_STORE_TRANSIENT : fault->class;

    (void) snprintf(batch.ids[0], sizeof(batch.ids[0]), "fault-%s-%ld",
                    fault->id, n);
    row(&batch.rows[0], batch.ids[0], &sms, "1");
    batch.n = 1;

    rc = sm_store_intents_submit(&f.store, call, take_rows, &batch);

    atomic_fetch_add(&errors, 1);

    if (call->status != class || (rc == 0) != (class == SM_STORE_OK)) {

        /* another thread's kill may have come first */

        if (call->status != SM_STORE_TRANSIENT) {
            diag("%s: %d, %s", fault->id, call->status, call->error);
            atomic_fetch_add(&wrong, 1);
        }
    }
}


static int
one_call(sm_call_t *call, long n)
{
    int               rc;
    size_t            i;
    char              id[64];
    rows_t            batch;
    sm_str_t          url;
    sm_lease_t        lease;
    sm_cluster_t      cluster = { 0 };
    sm_get_row_t      get;
    sm_list_row_t     list;
    sm_candidate_t    candidate;
    sm_history_row_t  history;

    (void) snprintf(id, sizeof(id), "id-%ld-0", n / KINDS * KINDS);

    switch (n % KINDS) {

    case 0:
        batch.n = 1 + n / KINDS % 3;

        for (i = 0; i < batch.n; i++) {
            (void) snprintf(batch.ids[i], sizeof(batch.ids[i]), "id-%ld-%zu",
                            n, i);
            row(&batch.rows[i], batch.ids[i], i ? &push : &sms, "{\"a\":1}");
        }

        rc = sm_store_intents_submit(&f.store, call, take_rows, &batch);

        if (rc == 0) {
            atomic_fetch_add(&submitted, batch.n);
        }

        return rc;

    case 1:
    case 2:
        memset(&get, 0, sizeof(get));
        get.id = sm_str_c(id);
        return sm_store_intents_get(&f.store, call, &get, 1);

    case 3:
        memset(&history, 0, sizeof(history));
        history.id = sm_str_c(id);
        history.limit = 10;
        return sm_store_intent_history(&f.store, call, &history, 1);

    case 4:
        memset(&list, 0, sizeof(list));
        list.limit = 5;
        return sm_store_intents_list(&f.store, call, &list, 1);

    case 5:
        return sm_store_cluster_get(&f.store, call, &cluster);

    case 6:
        memset(&candidate, 0, sizeof(candidate));
        candidate.holder = sm_str_c(n % 3 ? "a" : "b");
        candidate.role = sm_str_c("follower");
        candidate.version = sm_str_c("1");
        return sm_store_candidate_heartbeat(&f.store, call, &candidate, 60000);

    default:
        return sm_store_lease_watch(&f.store, call, &lease, &url);
    }
}


static void *
caller(void *data)
{
    long       n;
    sm_call_t  call;

    (void) data;

    while ((n = atomic_fetch_add(&calls, 1)) < total) {

        memset(&call, 0, sizeof(call));

        if (n % RATIO == RATIO - 1) {
            one_fault(&call, n);

        } else if (one_call(&call, n) != 0
                   && call.status != SM_STORE_TRANSIENT)
        {
            diag("call %ld: %s", n, call.error);
            atomic_fetch_add(&wrong, 1);
        }

        sm_arena_free(&call.arena);
    }

    return NULL;
}


static void
run_calls(long n)
{
    int        i;
    pthread_t  threads[THREADS];

    calls = 0;
    total = n;

    for (i = 0; i < THREADS; i++) {
        must(pthread_create(&threads[i], NULL, caller, NULL) == 0);
    }

    for (i = 0; i < THREADS; i++) {
        must(pthread_join(threads[i], NULL) == 0);
    }
}


static int
descriptors(void)
{
    int   n;
    DIR  *dir;

    must((dir = opendir("/proc/self/fd")) != NULL);
    for (n = 0; readdir(dir) != NULL; n++) { /* void */ }
    (void) closedir(dir);

    return n;
}


/* on Babelfish all databases are one to PostgreSQL, and the login is ours */

static long
sessions(void)
{
    return sql_int(&f, on_babelfish()
                   ? "SELECT count(*) FROM pg_stat_activity WHERE "
                     "datname = current_database() AND pid <> pg_backend_pid()"
                   : "SELECT count(*) FROM pg_stat_activity WHERE "
                     "datname = current_database() AND usename = '"
                     SERVER_LOGIN "'")
           - others;
}


int
main(void)
{
    int     fds;
    long    n, before;
    size_t  bytes;

    needs_server();

    fixture_open(&f);
    f.store.conf.pool = POOL;
    others = sessions();

    server_trigger(&f, "fault", "BEFORE INSERT", "submission_intents",
                   "new.intent_id LIKE 'fault-%'",
                   "IF new.intent_id LIKE 'fault-kill%' THEN "
                   "PERFORM pg_terminate_backend(pg_backend_pid()); "
                   "PERFORM pg_sleep(1); ELSE "
                   "RAISE EXCEPTION 'injected' USING ERRCODE = "
                   "substring(new.intent_id, 7, 5); END IF");

    n = getenv("SUBMISSION_TEST_LONG") ? 100000 : 10000;

    /* everything has been there once, every error too */

    run_calls(2000);

    before = sql_int(&f, "SELECT count(*) FROM submission_intents");
    fds = descriptors();
    bytes = __sanitizer_get_current_allocated_bytes();

    sql(&f, "DELETE FROM submission_intents");
    errors = 0;
    submitted = 0;

    run_calls(n);

    is_int(wrong, 0, "each error is of its class, and no other call fails");
    is_int(errors, n / RATIO, "so many errors were injected, in %ld calls", n);
    ok(before > 0 && sql_int(&f, "SELECT count(*) FROM submission_intents")
       >= submitted, "what was submitted is there: %ld", (long) submitted);

    ok(sessions() <= POOL, "%ld sessions at the server", sessions());
    ok(f.store.open <= POOL, "%u connections", f.store.open);
    ok(descriptors() <= fds + 2 * POOL, "%d descriptors, %d before",
       descriptors(), fds);

    diag("%zu bytes, %zu before", __sanitizer_get_current_allocated_bytes(),
         bytes);
    ok(__sanitizer_get_current_allocated_bytes() < bytes + 4 * 1024 * 1024,
       "memory does not grow");

    store_close(&f);

    /* the server ends a session when it sees that its client has gone */

    for (n = 0; n < 500 && sessions() != 0; n++) {
        (void) usleep(10000);
    }

    is_int(sessions(), 0, "no session is left when the store is closed");

    fixture_remove(&f);

    return done_testing();
}
