
/*
 * The queue against a model of arrays that are searched from end to end:
 * random operations, and after each of them all that sm_queue.h promises.
 * Broken by: an entry that is lost or is there twice, one that is taken before
 * its time or out of order, a bound that is exceeded or not used, a target
 * that waits while another has its second turn, a time to wake up at that is
 * too late, memory that is not given back.
 *
 * queue [<seed> [<rounds>]]
 */

#include <stdlib.h>
#include <time.h>

#include "sm_queue_target.h"
#include "random.h"
#include "tap.h"


#define ROUNDS   400
#define STEPS    250
#define IDS      300
#define TARGETS  7
#define MILLION  1000000


/* ended: taken, without a slot */

typedef enum { OUT = 0, WAITING, TAKEN, ENDED } place_e;

typedef struct {
    place_e         place;
    unsigned        target;
    int64_t         due_at;
    sm_entry_t     *e;
    char            id[24];
} item_t;


static item_t          items[IDS];
static unsigned        counts[4][TARGETS + 1];
static unsigned        passed[TARGETS][TARGETS];
static unsigned        limits[TARGETS];
static unsigned        ids, targets, concurrency, asked;
static int64_t         now;
static const uint64_t  key[] = { 1, 2 };

static sm_queue_t     *s;

static uint64_t        seed;
static unsigned        bad, turns, shared, limited;


static sm_str_t
target_name(unsigned t)
{
    static const sm_str_t  names[TARGETS] = {
        sm_str("a"), sm_str("target.b"), sm_str(""), sm_str("d"), sm_str("dd"),
        sm_str("sms.realtime"), sm_str("\xc3\xa9")
    };

    return names[t];
}


static unsigned
target_limit(void *data, sm_str_t target)
{
    unsigned  t;

    check(data == &now, "the data is handed on");

    asked++;

    for (t = 0; !sm_str_eq(target_name(t), target); t++);

    return limits[t];
}


/* t == TARGETS: of all */

static unsigned
count(place_e place, unsigned t)
{
    return counts[place][t];
}


static void
move(unsigned i, place_e place)
{
    unsigned  t = items[i].target;

    counts[items[i].place][t]--;
    counts[items[i].place][TARGETS]--;

    items[i].place = place;

    counts[place][t]++;
    counts[place][TARGETS]++;
}


static int64_t
first_due(unsigned t)
{
    int64_t   due_at;
    unsigned  i;

    due_at = INT64_MAX;

    for (i = 0; i < ids; i++) {
        if (items[i].place == WAITING && items[i].target == t
            && items[i].due_at < due_at)
        {
            due_at = items[i].due_at;
        }
    }

    return due_at;
}


/* the bounds, from the header: the first of a target is always allowed */

static int
may_take(unsigned t)
{
    unsigned  taken, all;

    taken = count(TAKEN, t);
    all = count(TAKEN, TARGETS);

    if (all >= concurrency) {
        return 0;
    }

    if (limits[t]) {
        limited += taken >= limits[t];
        return taken < limits[t];
    }

    if (taken == 0) {
        return 1;
    }

    shared += taken + 1 > 8 * (concurrency - all - 1);

    return taken + 1 <= 8 * (concurrency - all - 1);
}


static int
is_due(unsigned t)
{
    return count(WAITING, t) && first_due(t) <= now && may_take(t);
}


static void
do_set(void)
{
    int       was_known;
    unsigned  i, t, before;
    int64_t   due_at;
    sm_str_t  id;

    i = rnd(ids);
    id = sm_str_c(items[i].id);
    due_at = now - 20 + rnd(60);

    if (rnd(50) == 0) {
        due_at = rnd(2) ? INT64_MAX : INT64_MIN;
    }

    t = items[i].place == OUT || rnd(10) ? items[i].target : rnd(targets);
    was_known = count(WAITING, t) || count(TAKEN, t) || count(ENDED, t);
    before = asked;

    check(sm_queue_set(s, id, target_name(t), due_at, INT64_MAX) == 0, "set");

    check(asked - before == (items[i].place == OUT && !was_known),
          "the limit is asked for once");

    if (items[i].place == TAKEN || items[i].place == ENDED) {
        return;
    }

    move(i, WAITING);
    items[i].due_at = due_at;
}


/* a target that is due and passed over twice by the same one is not served */

static void
took(unsigned t)
{
    unsigned  other;

    for (other = 0; other < TARGETS; other++) {
        if (other == t || !is_due(other)) {
            continue;
        }

        turns++;
        check(!passed[other][t], "target %u before %u, twice", t, other);
        passed[other][t] = 1;
    }

    memset(passed[t], 0, sizeof(passed[t]));
}


static void
do_take(void)
{
    size_t       k, n, max;
    unsigned     i, t;
    sm_str_t     id;
    sm_entry_t  *entries[IDS];

    max = rnd(4) ? rnd(6) : rnd(ids);

    /* who is not due any more has lost its place, who is at a bound has not */

    for (t = 0; t < TARGETS; t++) {
        if (first_due(t) > now || count(WAITING, t) == 0) {
            memset(passed[t], 0, sizeof(passed[t]));
        }
    }

    n = sm_queue_take(s, now, entries, max);

    check(n <= max, "%zu of %zu", n, max);

    for (k = 0; k < n; k++) {
        id = sm_entry_id(entries[k]);

        for (i = 0; i < ids && !sm_str_eq(id, sm_str_c(items[i].id)); i++);

        if (i == ids || items[i].place != WAITING) {
            check(0, "an entry that does not wait");
            return;
        }

        t = items[i].target;

        check(items[i].due_at <= now, "too early");
        check(items[i].due_at == first_due(t), "out of order");
        check(items[i].due_at == sm_entry_due_at(entries[k]), "its time");
        check(may_take(t), "target %u: %u taken, %u in all of %u", t,
              count(TAKEN, t), count(TAKEN, TARGETS), concurrency);

        took(t);

        move(i, TAKEN);
        items[i].e = entries[k];
    }

    for (t = 0; n < max && t < TARGETS; t++) {
        check(!is_due(t), "target %u is due and was not taken", t);
    }
}


static void
do_give_back(int drop)
{
    unsigned  i;

    i = rnd(ids);

    if (items[i].place == TAKEN && rnd(2)) {
        sm_queue_end(s, items[i].e);
        move(i, ENDED);
        return;
    }

    if (items[i].place != TAKEN && items[i].place != ENDED) {
        return;
    }

    if (drop) {
        sm_queue_drop(s, items[i].e);
        move(i, OUT);

    } else {
        items[i].due_at = now - 5 + rnd(40);
        sm_queue_put(s, items[i].e, items[i].due_at);
        move(i, WAITING);
    }

    items[i].e = NULL;
}


/* one that waits goes, and a taken one stays */

static void
do_remove(void)
{
    int       gone;
    unsigned  i;

    i = rnd(ids);
    gone = sm_queue_remove(s, sm_str_c(items[i].id));

    check(gone == (items[i].place == WAITING), "removed: %d, place %d", gone,
          (int) items[i].place);

    if (gone) {
        move(i, OUT);
    }
}


static void
check_all(size_t empty)
{
    size_t    least, n;
    int64_t   next;
    unsigned  i, t;

    check(sm_queue_waiting(s) == count(WAITING, TARGETS), "waiting");
    check(sm_queue_taken(s) == count(TAKEN, TARGETS)
                                  + count(ENDED, TARGETS), "taken");

    next = INT64_MAX;

    for (t = 0; t < TARGETS; t++) {
        if (count(WAITING, t) && may_take(t) && first_due(t) < next) {
            next = first_due(t);
        }
    }

    check(sm_queue_next(s) == next, "next: %" PRId64 ", not %" PRId64,
          sm_queue_next(s), next);

    least = empty;
    n = 0;

    for (i = 0; i < ids; i++) {
        if (items[i].place != OUT) {
            least += 16 + strlen(items[i].id);
            n++;
        }

        if (items[i].place == TAKEN || items[i].place == ENDED) {
            check(sm_str_eq(sm_entry_id(items[i].e), sm_str_c(items[i].id))
                  && sm_entry_due_at(items[i].e) == items[i].due_at,
                  "a taken one stays as it is");
        }
    }

    check(sm_queue_bytes(s) >= least
          && sm_queue_bytes(s) <= empty + n * 220 + TARGETS * 1200,
          "%zu bytes for %zu", sm_queue_bytes(s), n);
}


static void
play(unsigned round)
{
    size_t    empty;
    unsigned  i, k, style;

    static const unsigned  many[] = { 1, 2, 3, 8, 9, 10, 17, 64, 1000 };

    memset(items, 0, sizeof(items));
    memset(counts, 0, sizeof(counts));
    memset(passed, 0, sizeof(passed));

    ids = rnd(4) ? 10 + rnd(60) : IDS;
    targets = 1 + rnd(TARGETS);
    concurrency = many[rnd(sizeof(many) / sizeof(many[0]))];
    style = rnd(3);
    now = rnd(2) ? 1770033610123456 : 0;

    for (i = 0; i < TARGETS; i++) {
        limits[i] = rnd(2) ? 0 : 1 + rnd(5);
    }

    for (i = 0; i < ids; i++) {
        items[i].target = rnd(rnd(targets) + 1);
        sprintf(items[i].id, "%u%.*s", i, (int) rnd(20), "-------------------");
    }

    s = sm_queue_create(concurrency, key, target_limit, &now);
    empty = sm_queue_bytes(s);

    for (k = 0; k < STEPS; k++) {

        /* it fills, then it runs, then it empties */

        switch (rnd(k < STEPS / 2 ? 6 : 12)) {
        case 0: case 1: case 2:
            do_set();
            break;
        case 3:
            now += rnd(style ? 8 : 2);
            now -= rnd(20) == 0 ? 10 : 0;
            break;
        case 4:
            do_give_back(rnd(3) == 0);
            do_remove();
            break;
        case 5: case 6:
            do_take();
            break;
        default:
            for (i = 0; i < 20; i++) {
                do_give_back(rnd(3));
            }
        }

        check_all(empty);

        if (bad) {
            diag("seed %" PRIu64 ", round %u, step %u", seed, round, k);
            break;
        }
    }

    /* to the last one: "next" alone must find them all */

    for (k = 0; !bad && (count(WAITING, TARGETS) || count(TAKEN, TARGETS)
                         || count(ENDED, TARGETS)); k++)
    {
        for (i = 0; i < ids; i++) {
            if (items[i].place == TAKEN || items[i].place == ENDED) {
                sm_queue_drop(s, items[i].e);
                move(i, OUT);
            }
        }

        if (sm_queue_next(s) > now) {
            now = sm_queue_next(s);
        }

        do_take();
        check_all(empty);
        check(k < 10 * IDS, "it does not end");
    }

    if (!bad) {
        check(sm_queue_bytes(s) <= empty + 600, "%zu bytes for nothing",
              sm_queue_bytes(s));
    }

    sm_queue_destroy(s);
}


static size_t
fill(const char *target, unsigned n, int64_t due_at)
{
    char      id[64];
    unsigned  i;
    sm_str_t  str;

    for (i = 0; i < n; i++) {
        str.len = sprintf(id, "%s-%u", target, i);
        str.data = id;

        if (sm_queue_set(s, str, sm_str_c(target), due_at + i, INT64_MAX)
            != 0)
        {
            break;
        }
    }

    return i;
}


/* how many a target may take, and that another finds room when it comes */

static void
test_bounds(void)
{
    size_t       i, n;
    sm_entry_t  *entries[300], *last[1];

    static const struct {
        unsigned  concurrency;
        unsigned  taken;
    } t[] = {
        { 1, 1 }, { 2, 1 }, { 3, 2 }, { 8, 7 }, { 9, 8 }, { 10, 8 }, { 11, 9 },
        { 18, 16 }, { 256, 227 }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        s = sm_queue_create(t[i].concurrency, key, NULL, NULL);

        fill("a", 300, 0);
        n = sm_queue_take(s, 1000, entries, 300);
        is_int(n, t[i].taken, "alone: %u of %u", t[i].taken,
               t[i].concurrency);

        is_int(sm_queue_next(s), INT64_MAX, "nothing to wait for then");

        fill("b", 1, 5000);

        is_int(sm_queue_next(s), n < t[i].concurrency ? 5000 : INT64_MAX,
               "then for the other alone");

        is_int(sm_queue_take(s, 5000, last, 1), n < t[i].concurrency,
               "which has its turn at once");
        is_int(sm_queue_taken(s), n + (n < t[i].concurrency), "taken");

        sm_queue_destroy(s);
    }

    sm_queue_destroy(NULL);
}


static unsigned
limit_of_two(void *data, sm_str_t target)
{
    (void) data;
    (void) target;

    return 2;
}


static unsigned
limit_never_of_a(void *data, sm_str_t target)
{
    (void) data;

    return target.data[0] == 'a' ? SM_QUEUE_NEVER : 2;
}


/* a target that nobody can send to waits, and is in nobody's way */

static void
test_never(void)
{
    sm_entry_t  *entries[8];

    s = sm_queue_create(8, key, limit_never_of_a, NULL);

    fill("a", 3, 0);
    is_int(sm_queue_take(s, 1000, entries, 8), 0, "none of it is taken");
    ok(sm_queue_next(s) == INT64_MAX, "and it is not waited for");

    fill("b", 3, 0);
    is_int(sm_queue_take(s, 1000, entries, 8), 2, "others are");
    is_mem(sm_entry_id(entries[0]).data, 1, "b", 1, "as before");

    sm_queue_drop(s, entries[0]);
    sm_queue_drop(s, entries[1]);
    is_int(sm_queue_take(s, 1000, entries, 8), 1, "all of them");
    is_int(sm_queue_waiting(s), 3, "and it waits");

    sm_queue_destroy(s);
}


/* what is under way already counts for the bounds, and comes back like others */

static void
test_hold(void)
{
    size_t       empty;
    sm_entry_t  *held[3], *entries[8];

    s = sm_queue_create(4, key, limit_of_two, NULL);
    empty = sm_queue_bytes(s);

    held[0] = sm_queue_hold(s, sm_str_c("x"), sm_str_c("a"), INT64_MAX);
    held[1] = sm_queue_hold(s, sm_str_c("y"), sm_str_c("a"), INT64_MAX);
    held[2] = sm_queue_hold(s, sm_str_c("z"), sm_str_c("a"), INT64_MAX);

    ok(held[0] && held[1] && held[2], "hold, beyond the bound");
    is_int(sm_queue_taken(s), 3, "they are taken");
    is_int(sm_queue_waiting(s), 0, "none waits");
    ok(sm_queue_hold(s, sm_str_c("x"), sm_str_c("a"), INT64_MAX) == NULL,
       "one that is there is not held again");

    is_int(sm_queue_set(s, sm_str_c("x"), sm_str_c("a"), 5, INT64_MAX), 0, "set");
    is_int(sm_queue_waiting(s), 0, "one that is held stays so");

    fill("a", 3, 0);
    fill("b", 3, 0);

    is_int(sm_queue_take(s, 1000, entries, 8), 1, "one of another target");
    is_mem(sm_entry_id(entries[0]).data, 1, "b", 1, "and of all no more");

    sm_queue_end(s, held[0]);
    is_int(sm_queue_take(s, 1000, entries + 1, 8), 1,
           "one of three has ended: another of the other target");

    sm_queue_drop(s, held[0]);
    sm_queue_drop(s, held[1]);
    is_int(sm_queue_take(s, 1000, entries + 2, 8), 1,
           "one is held yet: there is room for one");
    is_mem(sm_entry_id(entries[2]).data, 1, "a", 1, "of its target");

    sm_queue_put(s, held[2], 1);
    is_int(sm_queue_take(s, 1000, entries + 3, 1), 1, "put back: due again");

    sm_queue_destroy(s);

    s = sm_queue_create(4, key, NULL, NULL);
    sm_queue_drop(s, sm_queue_hold(s, sm_str_c("x"), sm_str_c("a"), INT64_MAX));
    ok(sm_queue_bytes(s) <= empty + 600, "nothing is left of it");
    sm_queue_destroy(s);
}


static void
test_turns(void)
{
    char         order[16];
    size_t       i, n;
    sm_entry_t  *entries[16];

    s = sm_queue_create(100, key, NULL, NULL);

    fill("a", 1000, 0);
    fill("b", 3, 100);
    fill("c", 2, 200);

    n = sm_queue_take(s, 1000, entries, 9);

    for (i = 0; i < n; i++) {
        order[i] = sm_entry_id(entries[i]).data[0];
    }

    is_mem(order, n, "abcabcaba", 9, "one after the other");

    is_int(sm_queue_take(s, 1000, entries, 0), 0, "none was asked for");

    fill("d", 1, 0);
    n = sm_queue_take(s, 1000, entries, 2);
    ok(n == 2 && sm_entry_id(entries[1]).data[0] == 'd',
       "one that comes later does not wait for the backlog");

    sm_queue_destroy(s);
}


static void
test_memory_back(void)
{
    size_t       n, empty;
    sm_entry_t  *entries[100];

    s = sm_queue_create(100, key, NULL, NULL);
    empty = sm_queue_bytes(s);

    fill("a", 20010, 0);

    while (sm_queue_waiting(s) > 10) {
        n = sm_queue_take(s, 1000000, entries, 100);

        while (n && sm_queue_waiting(s) + n > 10) {
            sm_queue_drop(s, entries[--n]);
        }

        while (n) {
            sm_queue_put(s, entries[--n], 0);
        }
    }

    is_int(sm_queue_waiting(s), 10, "of 20010, ten are left");
    ok(sm_queue_bytes(s) <= empty + 10 * 200 + 1200,
       "and the memory of ten: %zu bytes", sm_queue_bytes(s) - empty);

    sm_queue_destroy(s);
}


static double
seconds(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);

    return ts.tv_sec + ts.tv_nsec / 1e9;
}


/* with a deadline for each of them, or without */

static void
test_million(int64_t deadline)
{
    char         id[64];
    size_t       i, n, per, worst, bytes;
    double       start;
    int64_t      before;
    unsigned     wrong;
    sm_str_t     str;
    sm_entry_t  *entries[256];

    s = sm_queue_create(256, key, NULL, NULL);

    start = seconds();
    str.data = id;
    worst = 0;

    for (i = 0; i < MILLION; i++) {
        str.len = sprintf(id, "%08zx-0000-4000-8000-%012zx", i * 7919, i);

        if (sm_queue_set(s, str, target_name(i % 3), i, deadline) != 0) {
            break;
        }

        if (i >= 1000 && i % 16 == 0) {
            bytes = sm_queue_bytes(s) / (i + 1);
            worst = bytes > worst ? bytes : worst;
        }
    }

    is_int(i, MILLION, "a million");

    per = sm_queue_bytes(s) / MILLION;
    diag("%zu bytes each, ids of 36 included, %zu on the way; %.2f s", per,
         worst, seconds() - start);

    ok(per <= (deadline == INT64_MAX ? 144 : 172), "about 100 bytes each, besides the id");
    ok(worst <= 236, "never more than 200");
    ok(per >= 36 + 16 + 8 + 8, "and it is not less than it can be");

    for (i = 0, wrong = 0, before = 0; i < 40; i++) {
        n = sm_queue_take(s, MILLION, entries, 256);

        while (n) {
            wrong += sm_entry_due_at(entries[n - 1]) < before;
            wrong += sm_entry_due_at(entries[n - 1]) > before + 2 * 256;
            sm_queue_drop(s, entries[--n]);
        }

        before = sm_queue_next(s);
    }

    is_int(wrong, 0, "taken in their order");

    sm_queue_destroy(s);
}


int
main(int argc, char *argv[])
{
    unsigned  i, rounds;

    needs_no_store();

    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 20260202;
    rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;
    state = seed;

    diag("seed %" PRIu64 ", %u rounds", seed, rounds);

    for (i = 0; i < rounds && !bad; i++) {
        play(i);
    }

    is_int(bad, 0, "%u rounds of %u steps as in the model", rounds, STEPS);
    ok(turns > rounds && shared > rounds && limited > rounds,
       "which were of interest: %u, %u, %u", turns, shared, limited);

    test_bounds();
    test_hold();
    test_never();
    test_turns();
    test_memory_back();
    test_million(INT64_MAX);
    test_million(MILLION + 1);

    return done_testing();
}
