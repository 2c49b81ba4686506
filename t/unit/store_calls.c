
/*
 * What the store room does by itself, whatever the back end: connections are
 * lent to one call at a time, kept when the call went well and closed when it
 * did not; a batch that was refused for its data is halved.  The back end
 * here is made of nothing, and counts.  Broken by: a list of connections that
 * two threads change at once, an error that is forgotten or given to the rows
 * beside it.
 */

#include <stdatomic.h>
#include <stdlib.h>

#include "sm_store_ops.h"
#include "tap.h"


#define THREADS  4
#define CALLS    1000000


typedef struct {
    sm_conn_t    conn;
    atomic_int   busy;
    int          writing;
} fake_t;


static atomic_int  opened, closed, shared, calls;
static int         begun, wrong;

static int         dead;                /* no connection is usable any more */
static int         unreachable;         /* none can be opened */

static sm_store_class_e  answer;        /* of reads and pings */


static sm_conn_t *
fake_open(const sm_store_conf_t *conf, sm_call_t *call)
{
    fake_t  *fake;

    (void) conf;

    if (unreachable) {
        (void) sm_call_fail(call, SM_STORE_PERMANENT, 7, "unreachable");
        return NULL;
    }

    fake = calloc(1, sizeof(fake_t));
    opened++;

    return &fake->conn;
}


static void
fake_close(sm_conn_t *conn)
{
    closed++;
    free(conn);
}


static int
fake_usable(sm_conn_t *conn)
{
    (void) conn;

    return !dead;
}


/* whoever comes while another is here has the other's connection */

static int
fake_use(sm_conn_t *conn, sm_call_t *call, sm_store_class_e status)
{
    fake_t  *fake = (fake_t *) conn;

    shared += atomic_exchange(&fake->busy, 1);
    calls++;
    atomic_store(&fake->busy, 0);

    return status == SM_STORE_OK ? 0
           : sm_call_fail(call, status, 42, "class %d", status);
}


static int
fake_ping(sm_conn_t *conn, sm_call_t *call)
{
    return fake_use(conn, call, answer);
}


static int
fake_begin_write(sm_conn_t *conn, sm_call_t *call)
{
    fake_t  *fake = (fake_t *) conn;

    begun++;
    wrong += fake->writing;

    if (answer != SM_STORE_OK) {
        return sm_call_fail(call, answer, 42, "class %d", answer);
    }

    fake->writing = 1;

    return 0;
}


/* a row's id says what becomes of its batch */

static int
fake_submit(sm_conn_t *conn, sm_call_t *call, sm_submit_row_t *rows, size_t n)
{
    size_t   i;
    fake_t  *fake = (fake_t *) conn;

    wrong += !fake->writing;
    fake->writing = 0;

    for (i = 0; i < n; i++) {
        switch (rows[i].id.data[0]) {
        case 'b':
            return fake_use(conn, call, SM_STORE_CONSTRAINT);
        case 't':
            return fake_use(conn, call, SM_STORE_TRANSIENT);
        }
    }

    for (i = 0; i < n; i++) {
        rows[i].outcome = SM_SUBMIT_CREATED;
    }

    return fake_use(conn, call, SM_STORE_OK);
}


static int
fake_get(sm_conn_t *conn, sm_call_t *call, sm_get_row_t *rows, size_t n)
{
    rows[n - 1].found = 1;

    return fake_use(conn, call, answer);
}


static int
fake_history(sm_conn_t *conn, sm_call_t *call, sm_history_row_t *row)
{
    row->found = 1;

    return fake_use(conn, call, answer);
}


static int
fake_list(sm_conn_t *conn, sm_call_t *call, sm_list_row_t *row)
{
    row->more = 1;

    return fake_use(conn, call, answer);
}


/* the lease has tests of its own, on a real store */

static const sm_store_ops_t  fake_ops = {
    .name = "fake",
    .open = fake_open,
    .close = fake_close,
    .usable = fake_usable,
    .ping = fake_ping,
    .begin_write = fake_begin_write,
    .intents_submit = fake_submit,
    .intents_get = fake_get,
    .intent_history = fake_history,
    .intents_list = fake_list
};


static sm_store_t  store;
static sm_call_t   call;

static pthread_barrier_t  together;


static void
start(void)
{
    sm_store_conf_t  conf;

    memset(&conf, 0, sizeof(conf));
    memset(&call, 0, sizeof(call));

    opened = closed = shared = calls = 0;
    dead = unreachable = begun = wrong = 0;
    answer = SM_STORE_OK;

    (void) sm_store_init(&store, &fake_ops, &conf);
}


static void
test_connections(void)
{
    start();

    is_int(opened, 0, "nothing is opened before the first call");
    is_int(sm_store_ping(&store, &call), 0, "a call");
    is_int(sm_store_ping(&store, &call), 0, "and another");
    is_int(opened, 1, "have one connection");

    answer = SM_STORE_TRANSIENT;
    is_int(sm_store_ping(&store, &call), -1, "a call that fails");
    is_int(call.status, SM_STORE_TRANSIENT, "its class");
    is_int(call.code, 42, "its code");
    is_str(call.error, "class 1", "its error");
    is_int(closed, 1, "closes its connection");

    answer = SM_STORE_OK;
    is_int(sm_store_ping(&store, &call), 0, "the next one goes well");
    is_int(call.status, SM_STORE_OK, "it forgets the error");
    is_int(opened, 2, "on a new connection");

    dead = 1;
    is_int(sm_store_ping(&store, &call), 0, "a connection that went bad");
    ok(opened == 3 && closed == 2, "is replaced before it is used");

    unreachable = 1;
    is_int(sm_store_ping(&store, &call), -1, "none to be had");
    is_str(call.error, "unreachable", "says so");
    ok(opened == 3 && closed == 3, "nothing is left open");

    sm_store_done(&store);
    is_int(closed, 3, "nothing is closed twice");
}


static void
test_reads(void)
{
    sm_get_row_t      g[2];
    sm_list_row_t     l[3];
    sm_history_row_t  h[3];

    start();

    memset(g, 0, sizeof(g));
    memset(h, 0, sizeof(h));
    memset(l, 0, sizeof(l));

    is_int(sm_store_intents_get(&store, &call, g, 2), 0, "get");
    ok(g[1].found && calls == 1, "is one call for all rows");

    is_int(sm_store_intent_history(&store, &call, h, 3), 0, "history");
    ok(h[0].found && h[2].found && calls == 4, "is one for each row");

    is_int(sm_store_intents_list(&store, &call, l, 3), 0, "list");
    ok(l[0].more && l[2].more && calls == 7, "likewise");

    is_int(opened, 1, "all on one connection");

    answer = SM_STORE_PERMANENT;
    calls = 0;

    is_int(sm_store_intents_get(&store, &call, g, 2), -1, "get fails");
    is_int(sm_store_intent_history(&store, &call, h, 3), -1, "history fails");
    is_int(sm_store_intents_list(&store, &call, l, 3), -1, "list fails");
    is_int(calls, 3, "each stops at the first failure");
    is_int(call.status, SM_STORE_PERMANENT, "the class");
    is_int(closed, 3, "and closes its connection");

    sm_store_done(&store);
}


typedef struct {
    const char       *ids;
    sm_submit_row_t  *rows;
    int               taken;
} batch_t;


static int
take(void *data, sm_call_t *own, sm_submit_row_t **rows, size_t *n)
{
    size_t    i;
    batch_t  *batch = data;
    sm_str_t  abc = sm_str("abc");

    wrong += begun != 1;
    batch->taken++;

    *n = strlen(batch->ids);
    *rows = batch->rows;

    if (*n == 0) {
        return sm_call_fail(own, SM_STORE_TRANSIENT, 0, "nothing to take");
    }

    memset(*rows, 0, *n * sizeof(sm_submit_row_t));

    for (i = 0; i < *n; i++) {
        batch->rows[i].id.data = batch->ids + i;
        batch->rows[i].id.len = 1;
        batch->rows[i].payload = abc;
    }

    return 0;
}


static int
submit(const char *ids, sm_submit_row_t *rows)
{
    int      rc;
    batch_t  batch = { ids, rows, 0 };

    calls = begun = 0;

    rc = sm_store_intents_submit(&store, &call, take, &batch);

    return batch.taken == 1 ? rc : -2;
}


static void
test_submit(void)
{
    size_t           i;
    unsigned         bad;
    const char      *id;
    sm_submit_row_t  r[16];

    /* "b" is bad, and alone fails; no more calls than halving takes */

    static const struct {
        const char  *ids;
        int          calls;
    } t[] = {
        { "aaaaaaaa", 1 },
        { "b", 1 },
        { "ab", 3 },
        { "bbbb", 7 },
        { "baaaaaaa", 7 },
        { "aaaaaaab", 7 },
        { "aaabaaa", 7 },
        { "baaaaaab", 11 },
    };

    start();

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(submit(t[i].ids, r), 0, "a batch \"%s\"", t[i].ids);

        for (id = t[i].ids, bad = 0; *id; id++) {
            bad += r[id - t[i].ids].outcome
                   != (*id == 'b' ? SM_SUBMIT_FAILED : SM_SUBMIT_CREATED);
        }

        is_int(bad, 0, "each row has its own outcome");
        is_int(calls, t[i].calls, "in as many calls");
        is_int(begun, t[i].calls, "each with the lock");
        is_int(call.status, SM_STORE_OK, "the batch is well");
    }

    is_mem(r[0].hash, SM_HASH_LEN, "ba7816bf8f01cfea414140de5dae2223"
           "b00361a396177a9cb410ff61f20015ad", 64, "rows come with their hash");
    is_int(opened, 1, "all on one connection");

    is_int(submit("aaaat", r), -1, "an error of the call");
    is_int(calls, 1, "is not halved");
    is_int(call.status, SM_STORE_TRANSIENT, "its class");
    is_int(closed, 1, "closes the connection");

    is_int(submit("abat", r), -1, "an error among the halves");
    is_int(call.status, SM_STORE_TRANSIENT, "is that of the whole batch");
    is_int(closed, 2, "closes the connection");

    is_int(submit("", r), -1, "rows that cannot be had");
    is_int(calls, 0, "do not go to the store");
    is_str(call.error, "nothing to take", "the reason is kept");
    is_int(closed, 3, "closes the connection, and its lock");

    answer = SM_STORE_TRANSIENT;
    is_int(submit("a", r), -2, "without the lock nothing is taken");
    is_int(call.status, SM_STORE_TRANSIENT, "the class");
    is_int(closed, 4, "closes the connection");

    is_int(wrong, 0, "each step had its turn");

    sm_store_done(&store);
}


static void *
test_thread(void *data)
{
    int        i;
    sm_call_t  own;

    memset(&own, 0, sizeof(own));

    (void) pthread_barrier_wait(&together);

    for (i = 0; i < CALLS; i++) {
        if (sm_store_ping(&store, &own) != 0) {
            *(atomic_int *) data += 1;
        }
    }

    return NULL;
}


static void
test_threads(void)
{
    int         i;
    pthread_t   threads[THREADS];
    atomic_int  failed = 0;

    start();
    (void) pthread_barrier_init(&together, NULL, THREADS);

    for (i = 0; i < THREADS; i++) {
        (void) pthread_create(&threads[i], NULL, test_thread, &failed);
    }

    for (i = 0; i < THREADS; i++) {
        (void) pthread_join(threads[i], NULL);
    }

    (void) pthread_barrier_destroy(&together);

    is_int(calls, THREADS * CALLS, "%d threads call as fast as they can",
           THREADS);
    is_int(failed, 0, "no call failed");
    is_int(shared, 0, "no connection served two at a time");
    ok(opened <= THREADS, "there were no more connections than threads");

    sm_store_done(&store);
    is_int(closed, opened, "none was lost");
}


int
main(void)
{
    needs_no_store();

    test_connections();
    test_reads();
    test_submit();
    test_threads();

    return done_testing();
}
