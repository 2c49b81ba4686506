
/*
 * Many processes of many threads on one file, which does not exist when they
 * start, and on the same ids: each id is created exactly once, and everybody
 * else learns of that one.  Broken by: reading before the write lock is
 * taken, a schema made twice, a wait for the lock that ends too early.
 */

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "store.h"


#define PROCESSES  4
#define THREADS    8
#define ALL        (PROCESSES * THREADS)
#define IDS        200
#define BATCH      10


/* what they have in common, as the workers of an instance have their zone */

typedef struct {
    pthread_barrier_t  start;
    unsigned long      create;
    atomic_int         created[IDS];
    atomic_int         same[IDS];
    atomic_int         conflict[IDS];
    atomic_int         creator[IDS];        /* its payload */
    atomic_int         wrong;
    atomic_int         failed;
} shared_t;

typedef struct {
    int                number;
    shared_t          *shared;
    sm_store_t        *store;
} racer_t;


static void
race_batch(racer_t *racer, sm_call_t *call, int first)
{
    int              i, id;
    char             ids[BATCH][16], bytes[1];
    shared_t        *shared = racer->shared;
    sm_submit_row_t  r[BATCH];
    batch_t          batch = { r, BATCH, 0 };

    /* two kinds of payload, so that there is a right one and a wrong one */

    bytes[0] = (char) ('0' + racer->number % 2);

    for (i = 0; i < BATCH; i++) {
        (void) sprintf(ids[i], "id-%d", (first + i) % IDS);
        row_bytes(&r[i], ids[i], &sms, bytes, 1);
    }

    if (sm_store_intents_submit(racer->store, call, batch_take, &batch) != 0) {
        if (atomic_fetch_add(&shared->failed, 1) == 0) {
            diag("%s", call->error);
        }

        return;
    }

    for (i = 0; i < BATCH; i++) {
        id = (first + i) % IDS;

        switch (r[i].outcome) {
        case SM_SUBMIT_CREATED:
            atomic_fetch_add(&shared->created[id], 1);
            atomic_store(&shared->creator[id], bytes[0]);
            break;
        case SM_SUBMIT_SAME:
            atomic_fetch_add(&shared->same[id], 1);
            break;
        case SM_SUBMIT_CONFLICT:
            atomic_fetch_add(&shared->conflict[id], 1);
            break;
        default:
            atomic_fetch_add(&shared->wrong, 1);
        }

        if (!sm_str_eq(r[i].intent.id, r[i].id) || r[i].intent.created_at == 0)
        {
            atomic_fetch_add(&shared->wrong, 1);
        }
    }
}


static void *
race_thread(void *data)
{
    int         i;
    racer_t    *racer = data;
    sm_call_t   call;

    (void) pthread_barrier_wait(&racer->shared->start);

    /* each begins elsewhere, neighbours at nearly the same place */

    for (i = 0; i < IDS; i += BATCH) {
        memset(&call, 0, sizeof(sm_call_t));
        race_batch(racer, &call, i + racer->number / 4 * 7);
        sm_arena_free(&call.arena);
    }

    return NULL;
}


static void
race_process(fixture_t *f, shared_t *shared, int process)
{
    int        i;
    racer_t    racers[THREADS];
    pthread_t  threads[THREADS];

    store_open(f, "main", 60000);
    f->store.conf.create = &shared->create;

    for (i = 0; i < THREADS; i++) {
        racers[i].number = process * THREADS + i;
        racers[i].shared = shared;
        racers[i].store = &f->store;

        must(pthread_create(&threads[i], NULL, race_thread, &racers[i]) == 0);
    }

    for (i = 0; i < THREADS; i++) {
        must(pthread_join(threads[i], NULL) == 0);
    }

    store_close(f);
}


static shared_t *
race(fixture_t *f)
{
    int                    i, status;
    pid_t                  pid;
    shared_t              *shared;
    pthread_barrierattr_t  attr;

    shared = mmap(NULL, sizeof(shared_t), PROT_READ|PROT_WRITE,
                  MAP_ANONYMOUS|MAP_SHARED, -1, 0);
    must(shared != MAP_FAILED);

    must(pthread_barrierattr_init(&attr) == 0);
    must(pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0);
    must(pthread_barrier_init(&shared->start, &attr, ALL) == 0);

    shared->create = on_sqlite();

    (void) fflush(stdout);

    for (i = 0; i < PROCESSES; i++) {
        must((pid = fork()) >= 0);

        if (pid == 0) {
            race_process(f, shared, i);
            _exit(0);
        }
    }

    for (i = 0; i < PROCESSES; i++) {
        must(wait(&status) > 0);
        is_int(status, 0, "a process of %d threads", THREADS);
    }

    return shared;
}


int
main(void)
{
    int        i, once, others, right;
    shared_t  *shared;
    fixture_t  f;

    fixture_dir(&f);

    shared = race(&f);

    is_int(shared->failed, 0, "no call failed");
    is_int(shared->wrong, 0, "no row had another's answer");
    is_int(shared->create, 0, "the database was made once");

    for (i = 0, once = 0, others = 0, right = 0; i < IDS; i++) {
        once += shared->created[i] == 1;
        others += shared->same[i] == ALL / 2 - 1
                  && shared->conflict[i] == ALL / 2;
        right += sql_int(&f, "SELECT CAST(payload AS INTEGER) FROM "
                         "submission_intents WHERE intent_id = 'id-%d'", i)
                 == shared->creator[i] - '0';
    }

    is_int(once, IDS, "each id was created exactly once");
    is_int(others, IDS, "the others were told so, or that they differ");
    is_int(right, IDS, "what is stored is the creator's");

    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), IDS,
           "there are as many intents as ids");

    if (on_sqlite()) {
        is_str(sql_text(&f, "PRAGMA integrity_check"), "ok",
               "the file is sound");
    }

    fixture_remove(&f);

    return done_testing();
}
