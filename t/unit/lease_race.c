
/*
 * Many processes of many threads fight for one lease that lasts milliseconds:
 * they acquire, renew, take over, release and check, as they should and as
 * they should not, and some are stopped in the middle.  Two threads, in two
 * processes, share each holder, as two workers of an instance do.
 *
 * Every call is written down with its answer and its place in the order of
 * commits, which a hook takes while SQLite has the write lock.  In that order
 * the history must be what one row, changed by one call at a time, would have
 * answered; and what the lease is for is looked at by itself: an epoch has one
 * owner, epochs grow by one, nothing of an epoch succeeds after the next one
 * was granted.  On a server the order is that of the times which the calls
 * tell: each is taken while the lease's row is locked.  Broken by: reading the
 * row or the time before the write lock is taken, a condition that a statement
 * lacks, an answer that is not the committed one.
 *
 * LEASE_RACE_SECONDS: how long, 10 unless told.  A machine on which that was
 * not enough to see all that can happen races again.
 */

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "real_time.h"
#include "store.h"


#define PROCESSES  4
#define THREADS    4
#define ALL        (PROCESSES * THREADS)
#define HOLDERS    (ALL / 2)
#define CALLS      200000               /* a thread writes down */
#define ROUNDS     12                   /* at most */


typedef enum {
    ACQUIRE = 0,
    RENEW,
    TAKEOVER,
    RELEASE,
    CHECK,
    KINDS
} kind_e;

static const char  *kinds[] = {
    "acquire", "renew", "takeover", "release", "check"
};


/* a lease as a call told it; "holder" is its number, -1: not one of ours */

typedef struct {
    int                exists;
    int                holder;
    int64_t            epoch;
    int64_t            acquired_at;
    int64_t            renewed_at;
    int64_t            expires_at;
} row_t;

typedef struct {
    kind_e             kind;
    int                thread;
    int                holder;
    int64_t            epoch;           /* of the fence */
    int64_t            duration;        /* milliseconds */

    sm_store_class_e   status;
    int                held;
    row_t              row;
    int64_t            now;             /* SQL's */

    long               before;          /* commits begun when it was called */
    long               commit;          /* its own place, 0: rolled back */
    long               after;           /* commits begun when it returned */
    int64_t            committed_at;    /* host's time, in the hook */
    int64_t            called_at;
    int64_t            returned_at;
} record_t;


/* what they have in common, as the workers of an instance have their zone */

typedef struct {
    pthread_barrier_t  start;
    unsigned long      create;
    atomic_long        commits;
    atomic_long        held[HOLDERS];   /* the epoch last granted to one */
    atomic_int         failed;
    int                n[ALL];
    record_t           log[ALL][CALLS];
} shared_t;

typedef struct {
    int                number;
    int64_t            end;
    int                longest;         /* lease, milliseconds */
    unsigned           seed;
    int64_t            epoch;           /* what it believes to hold, or did */
    int                leads;
    shared_t          *shared;
    sm_store_t        *store;
} racer_t;


static shared_t               *hook_shared;
static _Thread_local long      hook_commit;
static _Thread_local int64_t   hook_time;
static _Thread_local int       hook_times;


/* the write lock is held: there is one at a time, in the order of commits */

static int
hook(void *data)
{
    (void) data;

    hook_commit = atomic_fetch_add(&hook_shared->commits, 1) + 1;
    hook_time = clock_us(CLOCK_REALTIME);
    hook_times++;

    return 0;
}


static int
hook_set(sqlite3 *db, char **error, const void *api)
{
    (void) error;
    (void) api;

    (void) sqlite3_commit_hook(db, hook, NULL);

    return SQLITE_OK;
}


static int
holder_number(sm_str_t holder)
{
    if (holder.len != 3 || holder.data[0] != 'h') {
        return -1;
    }

    return (holder.data[1] - '0') * 10 + holder.data[2] - '0';
}


static int
race_store(racer_t *racer, sm_call_t *call, record_t *r, sm_lease_t *lease)
{
    char        name[8];
    sm_fence_t  fence;

    (void) snprintf(name, sizeof(name), "h%02d", r->holder % 100);

    fence.holder = sm_str_c(name);
    fence.epoch = r->epoch;

    switch (r->kind) {
    case ACQUIRE:
        return sm_store_lease_acquire(racer->store, call, fence.holder,
                                      r->duration, lease);
    case RENEW:
        return sm_store_lease_renew(racer->store, call, &fence, r->duration,
                                    lease);
    case TAKEOVER:
        return sm_store_lease_takeover(racer->store, call, &fence, r->duration,
                                       lease);
    case RELEASE:
        return sm_store_lease_release(racer->store, call, &fence, lease);

    default: /* CHECK: a fenced transaction without rows */
        return sm_store_attempts_complete(racer->store, call, &fence, NULL, 0);
    }
}


/* makes one call and writes it down */

static record_t *
race_call(racer_t *racer, kind_e kind, int64_t epoch)
{
    int         rc;
    record_t   *r;
    shared_t   *shared = racer->shared;
    sm_call_t   call;
    sm_lease_t  lease;

    r = &shared->log[racer->number][shared->n[racer->number]];

    r->kind = kind;
    r->thread = racer->number;
    r->holder = racer->number % HOLDERS;
    r->epoch = kind == ACQUIRE ? 0 : epoch;
    r->duration = 1 + rand_r(&racer->seed) % racer->longest;

    memset(&call, 0, sizeof(sm_call_t));
    memset(&lease, 0, sizeof(sm_lease_t));

    hook_commit = 0;
    hook_times = 0;

    r->before = atomic_load(&shared->commits);
    r->called_at = clock_us(CLOCK_REALTIME);
    rc = race_store(racer, &call, r, &lease);
    r->after = atomic_load(&shared->commits);
    r->returned_at = clock_us(CLOCK_REALTIME);

    r->status = call.status;
    r->commit = hook_commit;
    r->committed_at = hook_time;

    r->held = kind == CHECK ? rc == 0 : (int) lease.held;
    r->now = kind == CHECK ? call.now : lease.now;

    r->row.exists = lease.exists;
    r->row.holder = lease.exists ? holder_number(lease.holder) : 0;
    r->row.epoch = lease.epoch;
    r->row.acquired_at = lease.acquired_at;
    r->row.renewed_at = lease.renewed_at;
    r->row.expires_at = lease.expires_at;

    if ((rc == 0) != (call.status == SM_STORE_OK)
        || (call.status != SM_STORE_OK
            && (kind != CHECK || call.status != SM_STORE_LEASE_LOST))
        || (on_sqlite() && hook_times != (call.status == SM_STORE_OK)))
    {
        if (atomic_fetch_add(&shared->failed, 1) == 0) {
            diag("%s: %d, %d commits, \"%s\"", kinds[kind], call.status,
                 hook_times, call.error);
        }
    }

    sm_arena_free(&call.arena);

    shared->n[racer->number]++;

    return r;
}


/* as a worker does, and at times as it must not */

static void
race_step(racer_t *racer)
{
    int          dice, tells;
    kind_e       kind;
    int64_t      epoch, published;
    record_t    *r;
    atomic_long *held;

    held = &racer->shared->held[racer->number % HOLDERS];
    published = atomic_load(held);

    dice = rand_r(&racer->seed) % 100;
    epoch = racer->epoch;

    if (racer->leads) {
        kind = dice < 50 ? RENEW : dice < 65 ? CHECK
               : dice < 73 ? TAKEOVER : dice < 80 ? RELEASE
               : dice < 85 ? ACQUIRE : KINDS;

    } else {
        kind = dice < 60 ? ACQUIRE : dice < 70 ? TAKEOVER
               : dice < 78 ? RENEW : dice < 84 ? CHECK
               : dice < 90 ? RELEASE : KINDS;
    }

    /*
     * On a server the row is what puts calls in order, and an acquire makes
     * it: a thread that has made one knows that it is there.
     */

    if (racer->shared->n[racer->number] == 0) {
        kind = ACQUIRE;
    }

    if (kind == KINDS) {
        nap_us(rand_r(&racer->seed) % 20000);
        return;
    }

    switch (rand_r(&racer->seed) % 8) {
    case 0:
        epoch--;
        break;
    case 1:
        epoch++;
        break;
    case 2:
        epoch = published;
        break;
    }

    if (kind == TAKEOVER && !racer->leads) {
        epoch = published;
    }

    r = race_call(racer, kind, epoch);

    if (r->held) {
        tells = kind == ACQUIRE || kind == TAKEOVER;

        if (tells) {
            atomic_store(held, r->row.epoch);
        }

        if (tells || kind == RENEW) {
            racer->epoch = r->row.epoch;
            racer->leads = 1;
        }

        if (kind == RELEASE) {
            racer->leads = 0;
        }

    } else if (kind != ACQUIRE && epoch == racer->epoch) {

        /* some do not want to know */

        racer->leads = racer->leads && rand_r(&racer->seed) % 4 == 0;
    }
}


static void *
race_thread(void *data)
{
    racer_t  *racer = data;

    (void) pthread_barrier_wait(&racer->shared->start);

    while (clock_us(CLOCK_MONOTONIC) < racer->end
           && racer->shared->n[racer->number] < CALLS)
    {
        race_step(racer);
    }

    return NULL;
}


static void
race_process(fixture_t *f, shared_t *shared, int process, int64_t end,
    int longest)
{
    int        i;
    racer_t    racers[THREADS];
    pthread_t  threads[THREADS];

    hook_shared = shared;
    must(sqlite3_auto_extension((void (*)(void)) hook_set) == SQLITE_OK);

    store_open(f, "main", 60000);
    f->store.conf.create = &shared->create;

    memset(racers, 0, sizeof(racers));

    for (i = 0; i < THREADS; i++) {
        racers[i].number = process * THREADS + i;
        racers[i].end = end;
        racers[i].longest = longest;
        racers[i].seed = (unsigned) end + 7919 * racers[i].number;
        racers[i].shared = shared;
        racers[i].store = &f->store;

        must(pthread_create(&threads[i], NULL, race_thread, &racers[i]) == 0);
    }

    for (i = 0; i < THREADS; i++) {
        must(pthread_join(threads[i], NULL) == 0);
    }

    store_close(f);
}


/* stops one process after the other, for longer than most leases */

static void
race_stops(pid_t *pids, int64_t end)
{
    int  i;

    for (i = 0; clock_us(CLOCK_MONOTONIC) < end - 500000; i++) {
        nap_us(100000 + i % 7 * 11000);

        (void) kill(pids[i % PROCESSES], SIGSTOP);
        nap_us(20000 + i % 3 * 17000);
        (void) kill(pids[i % PROCESSES], SIGCONT);
    }
}


static shared_t *
race(fixture_t *f, int64_t seconds, int longest)
{
    int                    i, status;
    pid_t                  pids[PROCESSES];
    int64_t                end;
    shared_t              *shared;
    pthread_barrierattr_t  attr;

    shared = mmap(NULL, sizeof(shared_t), PROT_READ|PROT_WRITE,
                  MAP_ANONYMOUS|MAP_SHARED|MAP_NORESERVE, -1, 0);
    must(shared != MAP_FAILED);

    must(pthread_barrierattr_init(&attr) == 0);
    must(pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0);
    must(pthread_barrier_init(&shared->start, &attr, ALL) == 0);

    (void) fflush(stdout);

    end = clock_us(CLOCK_MONOTONIC) + seconds * 1000000;

    for (i = 0; i < PROCESSES; i++) {
        must((pids[i] = fork()) >= 0);

        if (pids[i] == 0) {
            race_process(f, shared, i, end, longest);
            _exit(0);
        }
    }

    race_stops(pids, end);

    for (i = 0; i < PROCESSES; i++) {
        must(waitpid(pids[i], &status, 0) == pids[i]);
        is_int(status, 0, "a process of %d threads", THREADS);
    }

    return shared;
}


/* the history */

typedef struct {
    record_t         **calls;           /* by their place, from 1 */
    row_t             *rows;            /* after each of them */
    long               n;
    int                clock_was_set;
} history_t;


/* what was seen in all rounds, and how much of it ten seconds have to show */

typedef enum {
    SEEN_ACQUIRE = ACQUIRE,
    SEEN_RENEW = RENEW,
    SEEN_TAKEOVER = TAKEOVER,
    SEEN_RELEASE = RELEASE,
    SEEN_CHECK = CHECK,
    SEEN_LOST,
    SEEN_MOVED,
    SEEN_AGAIN,
    SEEN_ACQUIRE_ACQUIRE,
    SEEN_ACQUIRE_RENEW,
    SEEN_RENEW_ACQUIRE,
    SEEN_EXPIRED,
    SEEN
} seen_e;

static long  seen[SEEN];

static const struct {
    long         least;
    const char  *what;
} floors[] = {
    { 50, "acquired" },
    { 50, "renewed" },
    { 10, "taken over" },
    { 5, "released" },
    { 10, "checked" },
    { 100, "checks lost what they did not hold" },
    { 30, "acquired from another holder" },
    { 5, "acquired again by the same one" },
    { 20, "acquires lost to another's" },
    { 2, "renewals lost to an acquire" },
    { 20, "acquires lost to a renewal" },
    { 2, "renewals were too late, for nobody else" }
};

_Static_assert(sizeof(floors) / sizeof(floors[0]) == SEEN, "one for each");


static void
complain(const char *what, const record_t *r)
{
    static int  said;

    if (said++ < 20) {
        diag("%s: #%ld %s by thread %d, h%02d, epoch %lld, %lld ms: %d, "
             "h%02d %lld %lld %lld %lld at %lld", what, r->commit,
             kinds[r->kind], r->thread, r->holder, (long long) r->epoch,
             (long long) r->duration, r->held, r->row.holder,
             (long long) r->row.epoch, (long long) r->row.acquired_at,
             (long long) r->row.renewed_at, (long long) r->row.expires_at,
             (long long) r->now);
    }
}


static long
complain_if(int bad, const char *what, const record_t *r)
{
    if (bad) {
        complain(what, r);
    }

    return bad != 0;
}


/*
 * On a server nobody tells the order of commits.  Who has the lease's row takes
 * the time, and commits before the next one has it: their times are in order.
 */

static int
by_time(const void *a, const void *b)
{
    const record_t *const  *r = a, *const  *s = b;

    return ((*r)->now > (*s)->now) - ((*r)->now < (*s)->now);
}


static long
until(record_t **calls, long n, int64_t at)
{
    long  low, high, middle;

    for (low = 0, high = n; low < high; ) {
        middle = (low + high) / 2;

        if (calls[middle]->now <= at) {
            low = middle + 1;

        } else {
            high = middle;
        }
    }

    return low;
}


static void
order(shared_t *shared)
{
    int         i, k;
    long        n, equal, outside;
    record_t   *r, **calls;

    for (i = 0, n = 0; i < ALL; i++) {
        n += shared->n[i];
    }

    must((calls = calloc(n, sizeof(record_t *))) != NULL);

    for (i = 0, n = 0; i < ALL; i++) {
        for (k = 0; k < shared->n[i]; k++) {
            if (shared->log[i][k].status == SM_STORE_OK) {
                calls[n++] = &shared->log[i][k];
            }
        }
    }

    qsort(calls, n, sizeof(record_t *), by_time);

    for (i = 0, equal = 0, outside = 0; i < n; i++) {
        r = calls[i];
        r->commit = i + 1;
        r->committed_at = r->returned_at;

        equal += i && r->now == calls[i - 1]->now;
        outside += r->now < r->called_at || r->now > r->returned_at;
    }

    for (i = 0; i < ALL; i++) {
        for (k = 0; k < shared->n[i]; k++) {
            r = &shared->log[i][k];
            r->before = until(calls, n, r->called_at);
            r->after = until(calls, n, r->returned_at);
        }
    }

    atomic_store(&shared->commits, n);
    free(calls);

    is_int(equal, 0, "no two had the row at one time");
    is_int(outside, 0, "each took the time while it was called");
}


static void
merge(history_t *h, shared_t *shared)
{
    int        i, k;
    long       twice;
    record_t  *r;

    h->n = atomic_load(&shared->commits);
    h->calls = calloc(h->n + 1, sizeof(record_t *));
    h->rows = calloc(h->n + 1, sizeof(row_t));
    must(h->calls && h->rows);

    for (i = 0, twice = 0; i < ALL; i++) {
        for (k = 0; k < shared->n[i]; k++) {
            r = &shared->log[i][k];

            if (r->commit) {
                must(r->commit <= h->n);
                twice += h->calls[r->commit] != NULL;
                h->calls[r->commit] = r;
            }
        }
    }

    for (i = 1; i <= h->n; i++) {
        must(h->calls[i] != NULL);
    }

    is_int(twice, 0, "each commit is one call's");
}


/* what the next call does to the row, and whether it may, by the design */

static int
model(row_t *row, const record_t *r, int64_t now)
{
    int  free_, mine;

    free_ = !row->exists || row->expires_at <= now;
    mine = !free_ && row->holder == r->holder && row->epoch == r->epoch;

    if (!(r->kind == ACQUIRE ? free_ : mine)) {
        return 0;
    }

    switch (r->kind) {

    case ACQUIRE:
    case TAKEOVER:
        row->exists = 1;
        row->holder = r->holder;
        row->epoch++;
        row->acquired_at = now;

        /* fall through */

    case RENEW:
        row->renewed_at = now;
        row->expires_at = now + r->duration * 1000;
        break;

    case RELEASE:
        row->expires_at = now;
        break;

    default: /* CHECK */
        break;
    }

    return 1;
}


static int
row_eq(const row_t *a, const row_t *b)
{
    return a->exists == b->exists && a->holder == b->holder
           && a->epoch == b->epoch && a->acquired_at == b->acquired_at
           && a->renewed_at == b->renewed_at && a->expires_at == b->expires_at;
}


/* the host's time when the one before was committing; SQL has milliseconds */

static int64_t
earliest(history_t *h, long i)
{
    if (i > 1 && !on_sqlite()) {
        return h->calls[i - 1]->now;
    }

    return i > 1 ? h->calls[i - 1]->committed_at / 1000 * 1000 : 0;
}


static void
test_one_row(history_t *h)
{
    int        held;
    long       i, wrong;
    row_t     *row;
    record_t  *r;

    for (i = 1, wrong = 0; i <= h->n; i++) {
        r = h->calls[i];
        row = &h->rows[i];
        *row = h->rows[i - 1];

        held = model(row, r, r->now);

        wrong += complain_if(held != r->held
                             || (r->kind != CHECK && !row_eq(row, &r->row)),
                             "not what the row must say", r);
    }

    is_int(wrong, 0, "each of %ld calls was answered as if it were alone",
           h->n);
}


/*
 * A check that failed was rolled back, so it has no place of its own.  It is
 * wrong if its fence held all the time: an epoch that is not over at the end
 * of the call has not been, since an expired one is never renewed.
 */

static void
test_lost_checks(history_t *h, shared_t *shared)
{
    int        i, k;
    long       wrong;
    row_t     *first, *last;
    record_t  *r;

    for (i = 0, wrong = 0; i < ALL; i++) {
        for (k = 0; k < shared->n[i]; k++) {
            r = &shared->log[i][k];

            if (r->kind != CHECK || r->held) {
                continue;
            }

            first = &h->rows[r->before];
            last = &h->rows[r->after];

            seen[SEEN_LOST]++;
            wrong += complain_if(first->holder == r->holder
                                 && first->epoch == r->epoch
                                 && last->epoch == r->epoch
                                 && last->expires_at > r->returned_at
                                 && !h->clock_was_set,
                                 "lost what it held", r);
        }
    }

    is_int(wrong, 0, "no check lost what it held");
}


/*
 * Read under the write lock, SQL's time lies between the commit before and
 * one's own.
 */

static void
test_time(history_t *h)
{
    long       i, wrong;
    record_t  *r;

    if (h->clock_was_set) {
        diag("the host's clock was set meanwhile: times are not compared");
        return;
    }

    for (i = 1, wrong = 0; i <= h->n; i++) {
        r = h->calls[i];

        wrong += complain_if(r->now < earliest(h, i)
                             || r->now > r->committed_at,
                             "not the time of its transaction", r);
    }

    is_int(wrong, 0, "each took the time while nobody else could write");
}


/* what the lease is for, without the model */

static void
test_epochs(history_t *h)
{
    int        grant;
    long       i, gaps, stale, strangers, early, late;
    int64_t    epoch, expires;
    record_t  *r, *owner;

    gaps = stale = strangers = early = late = 0;
    epoch = 0;
    expires = 0;
    owner = NULL;

    for (i = 1; i <= h->n; i++) {
        r = h->calls[i];

        if (!r->held) {
            continue;
        }

        grant = r->kind == ACQUIRE || r->kind == TAKEOVER;

        if (r->kind == ACQUIRE) {
            early += complain_if(r->now < expires, "granted too early", r);

        } else {
            late += complain_if(r->now >= expires, "succeeded too late", r);
        }

        if (r->kind != ACQUIRE) {
            stale += complain_if(r->epoch != epoch, "of an older epoch", r);
            strangers += complain_if(owner == NULL
                                     || owner->holder != r->holder,
                                     "of another's epoch", r);
        }

        if (grant) {
            gaps += complain_if(r->row.epoch != epoch + 1,
                                "not the next epoch", r);
            epoch = r->row.epoch;
            owner = r;
        }

        if (r->kind != CHECK) {
            expires = r->row.expires_at;
        }
    }

    is_int(gaps, 0, "each grant is of the next epoch: 1 to %lld, no two of one",
           (long long) epoch);
    is_int(strangers, 0, "nothing of an epoch succeeded but for its holder");
    is_int(stale, 0, "nothing of an epoch succeeded after the next grant");
    is_int(late, 0, "nothing of an epoch succeeded after its end");
    is_int(early, 0, "none was acquired before the last one had ended");
}


/* what there was to see */

static void
count(history_t *h)
{
    int        refused, raced;
    long       i;
    record_t  *r, *grant, *renewal;

    grant = renewal = NULL;

    for (i = 1; i <= h->n; i++) {
        r = h->calls[i];
        refused = !r->held;
        seen[r->kind] += r->held;

        /* it was called before that grant, and came after it */

        raced = grant && r->before < grant->commit
                && grant->thread != r->thread;

        if (refused && raced && grant->kind == ACQUIRE) {
            seen[SEEN_ACQUIRE_ACQUIRE] += r->kind == ACQUIRE;
            seen[SEEN_ACQUIRE_RENEW] += r->kind == RENEW
                                        && r->holder != grant->holder
                                        && r->epoch == grant->row.epoch - 1;
        }

        seen[SEEN_RENEW_ACQUIRE] += refused && r->kind == ACQUIRE && renewal
                                    && r->before < renewal->commit
                                    && grant
                                    && grant->commit < renewal->commit;

        seen[SEEN_EXPIRED] += refused && r->kind == RENEW
                              && r->row.holder == r->holder
                              && r->row.epoch == r->epoch;

        if (r->held && r->kind == ACQUIRE) {
            seen[SEEN_AGAIN] += grant && grant->holder == r->holder;
            seen[SEEN_MOVED] += grant && grant->holder != r->holder;
        }

        if (r->held && (r->kind == ACQUIRE || r->kind == TAKEOVER)) {
            grant = r;
        }

        if (r->held && r->kind == RENEW) {
            renewal = r;
        }
    }
}


static int
enough(int what, int64_t seconds)
{
    return seen[what] * 10 >= floors[what].least * seconds;
}


static int
all_enough(int64_t seconds)
{
    int  i;

    for (i = 0; i < SEEN; i++) {
        if (!enough(i, seconds)) {
            return 0;
        }
    }

    return 1;
}


static void
test_file(history_t *h, fixture_t *f)
{
    char    expected[128];
    row_t  *row;

    row = &h->rows[h->n];

    (void) snprintf(expected, sizeof(expected), "main h%02d %lld %lld %lld "
                    "%lld", row->holder, (long long) row->epoch,
                    (long long) row->acquired_at, (long long) row->renewed_at,
                    (long long) row->expires_at);

    is_str(sql_text(f, "SELECT group_concat(lease_name || ' ' || holder_id "
                    "|| ' ' || lease_epoch || ' ' || acquired_at || ' ' "
                    "|| renewed_at || ' ' || expires_at) "
                    "FROM submission_manager_leases "
                    "WHERE lease_name = 'main'"), expected,
           "the file has what the last one left");

    if (on_sqlite()) {
        is_str(sql_text(f, "PRAGMA integrity_check"), "ok",
               "the file is sound");
    }
}


/* makes the file, and tells how long a commit takes on it */

static int
commit_ms(fixture_t *f)
{
    int         i;
    int64_t     started;
    sm_fence_t  fence = { sm_str("h00"), 1 };
    sm_lease_t  lease;

    store_open(f, "slow", 10000);
    must(sm_store_lease_acquire(&f->store, new_call(f), fence.holder, 86400000,
                                &lease) == 0);

    started = clock_us(CLOCK_MONOTONIC);

    for (i = 0; i < 20; i++) {
        must(sm_store_lease_renew(&f->store, new_call(f), &fence, 86400000,
                                  &lease) == 0);
    }

    started = clock_us(CLOCK_MONOTONIC) - started;

    store_close(f);

    return (int) (started / 20 / 1000);
}


static void
test_round(int64_t seconds)
{
    int         longest;
    int64_t     offset;
    fixture_t   f;
    shared_t   *shared;
    history_t   h;

    fixture_dir(&f);
    longest = 15 + 5 * commit_ms(&f);
    diag("leases of up to %d ms for %lld s", longest, (long long) seconds);

    offset = clock_us(CLOCK_REALTIME) - clock_us(CLOCK_MONOTONIC);

    shared = race(&f, seconds, longest);

    offset -= clock_us(CLOCK_REALTIME) - clock_us(CLOCK_MONOTONIC);

    h.clock_was_set = llabs(offset) > 50000;

    is_int(shared->failed, 0, "no call failed");

    if (!on_sqlite()) {
        order(shared);
    }

    merge(&h, shared);

    test_one_row(&h);
    test_lost_checks(&h, shared);
    test_time(&h);
    test_epochs(&h);
    test_file(&h, &f);

    count(&h);

    free(h.calls);
    free(h.rows);
    must(munmap(shared, sizeof(shared_t)) == 0);
    fixture_remove(&f);
}


int
main(void)
{
    int          i;
    int64_t      seconds;
    const char  *env;

    env = getenv("LEASE_RACE_SECONDS");
    seconds = env ? atoll(env) : 10;
    must(seconds > 0);

    for (i = 0; i < ROUNDS && !all_enough(seconds); i++) {
        test_round(seconds);
    }

    for (i = 0; i < SEEN; i++) {
        ok(enough(i, seconds), "%ld %s", seen[i], floors[i].what);
    }

    return done_testing();
}
