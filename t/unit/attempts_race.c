
/*
 * Executors that lose the lease while they write: it lasts milliseconds, and
 * each goes on with its epoch until a call tells that it is over, and a little
 * longer.  Triggers write down every begin and every attempt together with the
 * lease's row, as the transaction that makes them sees it: what an epoch writes
 * must be written while the lease is of that epoch, and so of its holder.
 * In the end each intent must have the attempts that it counts, and what may be
 * sent once must not have been begun twice.  Broken by: a fence that is missing
 * or looked at before the write lock is taken, an in-doubt attempt that is
 * taken for another's or lost.
 *
 * ATTEMPTS_RACE_SECONDS: how long, 5 unless told; on a slow machine, for as
 * long as it takes to see something.
 */

#include <stdatomic.h>

#include "real_time.h"
#include "store.h"


#define THREADS  6
#define BATCH    8
#define INTENTS  2000
#define LONGEST  180            /* seconds */


static const sm_contract_t  once = {
    .target = sm_str("once"), .gateway_type = SM_GATEWAY_SMS,
    .gateway_url = sm_str("http://once"), .policy = SM_POLICY_ONE_SHOT,
    .terminal_outcomes = sm_str(""), .retry_delay = 1, .retry_backoff = 100
};

static const sm_contract_t  often = {
    .target = sm_str("often"), .gateway_type = SM_GATEWAY_SMS,
    .gateway_url = sm_str("http://often"), .policy = SM_POLICY_MAX_ATTEMPTS,
    .max_attempts = 1000000, .terminal_outcomes = sm_str(""), .retry_delay = 1,
    .retry_backoff = 100
};


typedef struct {
    fixture_t   *f;
    char         holder[8];
    unsigned     seed;
    int64_t      seconds;
    int64_t      start;
    sm_call_t    call;
    sm_fence_t   fence;
} racer_t;


static atomic_long  acquired, begun, completed, returned, recovered, unapplied;
static atomic_long  lost, failed;


static void
nap(racer_t *racer, int us)
{
    nap_us(rand_r(&racer->seed) % us);
}


static sm_call_t *
race_call(racer_t *racer)
{
    sm_arena_free(&racer->call.arena);
    memset(&racer->call, 0, sizeof(sm_call_t));

    return &racer->call;
}


/* nothing else than the loss of the lease may happen to a call */

static int
race_ok(racer_t *racer, int rc)
{
    if (rc == 0) {
        return 1;
    }

    if (racer->call.status == SM_STORE_LEASE_LOST) {
        lost++;

    } else if (atomic_fetch_add(&failed, 1) == 0) {
        diag("%d: %s", racer->call.status, racer->call.error);
    }

    return 0;
}


static void
race_end(racer_t *racer, sm_begin_row_t *b, int64_t now, sm_complete_row_t *r)
{
    memset(r, 0, sizeof(sm_complete_row_t));

    r->id = b->id;
    r->number = b->number;
    r->epoch = racer->fence.epoch;
    r->holder = racer->fence.holder;
    r->started_at = now;
    r->finished_at = now;

    if (rand_r(&racer->seed) % 4 == 0) {
        return;
    }

    r->outcome = SM_OUTCOME_ERROR;

    if (b->contract.policy == SM_POLICY_ONE_SHOT) {
        r->status = SM_STATUS_EXHAUSTED;
        r->exhausted = SM_EXHAUSTED_ONE_SHOT;

    } else {
        r->status = SM_STATUS_PENDING;
        r->delay = 1;
    }
}


/* what is due, or anything; -1: the lease is lost */

static int
race_ids(racer_t *racer, char ids[BATCH][32])
{
    size_t     i;
    sm_page_t  page;

    if (rand_r(&racer->seed) % 2) {

        for (i = 0; i < BATCH; i++) {
            (void) snprintf(ids[i], sizeof(ids[i]), "id-%d",
                            rand_r(&racer->seed) % INTENTS);
        }

        return BATCH;
    }

    memset(&page, 0, sizeof(sm_page_t));

    page.order = rand_r(&racer->seed) % 2 ? SM_PAGE_DUE : SM_PAGE_MODIFIED;
    page.limit = BATCH;

    if (!race_ok(racer, sm_store_queue_page(&racer->f->store,
                                            race_call(racer), &racer->fence,
                                            &page)))
    {
        return -1;
    }

    for (i = 0; i < page.n; i++) {
        (void) snprintf(ids[i], sizeof(ids[i]), "%s", page.rows[i].id.data);
    }

    return (int) page.n;
}


/* one batch, from the queue to its end; 0: the lease is lost */

static int
race_batch(racer_t *racer)
{
    int                 i, n, k;
    char                ids[BATCH][32];
    sm_arena_t          arena;
    sm_store_t         *store = &racer->f->store;
    sm_begin_row_t      b[BATCH];
    sm_complete_row_t   r[BATCH];

    n = race_ids(racer, ids);

    if (n < 0) {
        return 0;
    }

    memset(b, 0, sizeof(b));

    for (i = 0; i < n; i++) {
        b[i].id = sm_str_c(ids[i]);
    }

    if (!race_ok(racer, sm_store_attempts_begin(store, race_call(racer),
                                                &racer->fence, b, n)))
    {
        return 0;
    }

    for (i = 0, k = 0; i < n; i++) {
        if (b[i].outcome == SM_BEGIN_BEGUN) {
            race_end(racer, &b[i], racer->call.now, &r[k++]);
        }
    }

    begun += k;

    nap(racer, 3000);

    arena = racer->call.arena;
    racer->call.arena.blocks = NULL;

    i = race_ok(racer, sm_store_attempts_complete(store, race_call(racer),
                                                  &racer->fence, r, k));

    for (n = 0; i && n < k; n++) {
        if (!r[n].applied) {
            unapplied++;

        } else if (r[n].outcome == SM_OUTCOME_NONE) {
            returned++;

        } else {
            completed++;
        }
    }

    sm_arena_free(&arena);

    return i;
}


/* that there was something to see */

static int
enough(int64_t seconds)
{
    return acquired > 3 * seconds && begun > 50 * seconds
           && completed > 20 * seconds && returned > 5 * seconds
           && recovered > 5 * seconds && lost > 3 * seconds;
}


static int
race_over(racer_t *racer)
{
    int64_t  us;

    us = clock_us(CLOCK_MONOTONIC) - racer->start;

    return us >= LONGEST * 1000000
           || (us >= racer->seconds * 1000000 && enough(racer->seconds));
}


static void *
race_thread(void *data)
{
    racer_t         *racer = data;
    int64_t          ms, us;
    sm_lease_t       lease;
    sm_store_t      *store = &racer->f->store;
    sm_recovered_t   r;

    us = 0;

    while (!race_over(racer)) {

        /* a few calls, as long as the last one took here and now */

        ms = (10 + rand_r(&racer->seed) % 30) * (on_babelfish() ? 5 : 1)
             + (us < 200000 ? us : 200000) * 3 / 1000;

        us = clock_us(CLOCK_MONOTONIC);

        if (!race_ok(racer, sm_store_lease_acquire(store, race_call(racer),
                                                   racer->fence.holder, ms,
                                                   &lease)))
        {
            break;
        }

        us = clock_us(CLOCK_MONOTONIC) - us;

        if (!lease.held) {
            nap(racer, 4000);
            continue;
        }

        acquired++;
        racer->fence.epoch = lease.epoch;

        (void) race_ok(racer, sm_store_attempts_recover(store,
                                                        race_call(racer),
                                                        &racer->fence,
                                                        NULL, 0, 5, 1,
                                                        &r));
        recovered += r.attempts;

        while (race_batch(racer)) { /* void */ }

        /* it does not believe it */

        (void) race_batch(racer);
        nap(racer, 10000);
        (void) race_batch(racer);
    }

    sm_arena_free(&racer->call.arena);

    return NULL;
}


static void
race(fixture_t *f, int64_t seconds)
{
    int        i;
    racer_t    racers[THREADS];
    pthread_t  threads[THREADS];

    memset(racers, 0, sizeof(racers));

    for (i = 0; i < THREADS; i++) {
        racers[i].f = f;
        racers[i].seed = 7919 * (i + 1);
        racers[i].seconds = seconds;
        racers[i].start = clock_us(CLOCK_MONOTONIC);

        (void) snprintf(racers[i].holder, sizeof(racers[i].holder), "h%d",
                        i % 100);
        racers[i].fence.holder = sm_str_c(racers[i].holder);

        must(pthread_create(&threads[i], NULL, race_thread, &racers[i]) == 0);
    }

    for (i = 0; i < THREADS; i++) {
        must(pthread_join(threads[i], NULL) == 0);
    }
}


static void
prepare(fixture_t *f)
{
    int                     i;
    static char             ids[INTENTS][32];
    static sm_submit_row_t  rows[INTENTS];

    for (i = 0; i < INTENTS; i++) {
        (void) snprintf(ids[i], sizeof(ids[i]), "id-%d", i);
        row(&rows[i], ids[i], i % 8 ? &once : &often, ids[i]);
    }

    must(submit(f, rows, INTENTS) == 0);

    sql(f, "CREATE TABLE log (kind TEXT, id TEXT, epoch INTEGER, holder TEXT, "
        "lease_epoch INTEGER, lease_holder TEXT); CREATE INDEX log_id ON log "
        "(id)");
    sql_trigger(f, "log_begin", "AFTER UPDATE", "submission_intents",
                "new.inflight_epoch IS NOT NULL",
                "INSERT INTO log SELECT 'begin', new.intent_id, "
                "new.inflight_epoch, new.inflight_holder, lease_epoch, "
                "holder_id FROM submission_manager_leases");
    sql_trigger(f, "log_return", "AFTER UPDATE", "submission_intents",
                "old.inflight_epoch IS NOT NULL AND new.inflight_epoch IS "
                "NULL AND new.attempt_count = old.attempt_count",
                "INSERT INTO log SELECT 'return', new.intent_id, "
                "old.inflight_epoch, old.inflight_holder, lease_epoch, "
                "holder_id FROM submission_manager_leases");
    sql_trigger(f, "log_end", "AFTER INSERT", "submission_attempts",
                "new.outcome_status NOT LIKE 'unknown'",
                "INSERT INTO log SELECT 'end', new.intent_id, "
                "new.lease_epoch, new.holder_id, lease_epoch, holder_id "
                "FROM submission_manager_leases");
    sql_trigger(f, "log_doubt", "AFTER INSERT", "submission_attempts",
                "new.outcome_status LIKE 'unknown'",
                "INSERT INTO log SELECT 'doubt', new.intent_id, "
                "new.lease_epoch, new.holder_id, lease_epoch, holder_id "
                "FROM submission_manager_leases");
}


static void
look(fixture_t *f, int64_t seconds)
{
    is_int(failed, 0, "no call failed but for the lease");
    is_int(unapplied, 0, "what an epoch began it could end, while it lasted");

    is_int(sql_int(f, "SELECT count(*) FROM log WHERE kind <> 'doubt' "
                   "AND (epoch, holder) <> (lease_epoch, lease_holder)"), 0,
           "nothing of an epoch was written after the next one was acquired");
    is_int(sql_int(f, "SELECT count(*) FROM log WHERE kind = 'doubt' "
                   "AND epoch >= lease_epoch"), 0,
           "nothing was in doubt while its epoch lasted");

    is_int(sql_int(f, "SELECT count(*) FROM log WHERE kind = 'begin'"), begun,
           "what was told to be begun was");
    is_int(sql_int(f, "SELECT count(*) FROM log WHERE kind = 'end'"),
           completed, "what was told to be completed was");
    is_int(sql_int(f, "SELECT count(*) FROM log WHERE kind = 'return'"),
           returned, "what was told to be given back was");
    is_int(sql_int(f, "SELECT count(*) FROM log WHERE kind = 'doubt'"),
           recovered, "what was told to be recovered was");

    is_int(sql_int(f, "SELECT count(*) FROM submission_intents AS i "
                   "WHERE (attempt_count, attempt_count) <> "
                   "(SELECT count(*), coalesce(max(attempt_number), 0) "
                   "FROM submission_attempts AS a "
                   "WHERE a.lease_name = 'main' "
                   "AND a.intent_id = i.intent_id)"), 0,
           "each intent has the attempts that it counts, without a gap");
    is_int(sql_int(f, "SELECT count(*) FROM submission_intents AS i "
                   "WHERE attempt_count + iif(inflight_epoch IS NOT NULL, 1, 0) "
                   "<> "
                   "(SELECT coalesce(sum(iif(kind = 'begin', 1, "
                   "iif(kind = 'return', -1, 0))), 0) FROM log "
                   "WHERE id = i.intent_id)"), 0,
           "each begin has an end, or is in flight");
    is_int(sql_int(f, "SELECT count(*) FROM submission_intents "
                   "WHERE submission_target = 'once' AND attempt_count > 1"),
           0, "what may be sent once has one attempt at most");

    ok(enough(seconds), "%ld acquired, %ld begun, %ld completed, %ld given "
       "back, %ld recovered, %ld calls lost the lease", (long) acquired,
       (long) begun, (long) completed, (long) returned, (long) recovered,
       (long) lost);
}


int
main(void)
{
    int64_t      seconds;
    fixture_t    f;
    const char  *env;

    env = getenv("ATTEMPTS_RACE_SECONDS");
    seconds = env ? atoll(env) : 5;
    must(seconds > 0);

    fixture_dir(&f);
    store_open(&f, "main", 60000);

    prepare(&f);
    race(&f, seconds);
    look(&f, seconds);

    fixture_done(&f);

    return done_testing();
}
