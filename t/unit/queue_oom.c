
/*
 * Without memory the queue refuses what is new and keeps what it has: what
 * is taken can always come back.  ASAN refuses blocks beyond a megabyte here,
 * which its arrays reach long before its entries do.  Broken by: an entry that
 * is half in it, room that is missing when one is put back.
 */

#include <stdlib.h>

#include "sm_queue_target.h"
#include "tap.h"


#define MANY  200000
#define TAKE  1000


const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1";
}


static int64_t  deadline = INT64_MAX;


static int
set(sm_queue_t *s, const char *target, unsigned i)
{
    char      id[32];
    sm_str_t  str;

    str.len = sprintf(id, "%s-%u", target, i);
    str.data = id;

    return sm_queue_set(s, str, sm_str_c(target), i, deadline);
}


/* how many it takes, in so many queues, and that it works on */

static void
test_full(unsigned targets)
{
    size_t          n, k;
    unsigned        i, full, late;
    sm_entry_t     *entries[TAKE];
    sm_queue_t     *s;

    static const uint64_t     key[] = { 1, 2 };
    static const char *const  names[] = { "a", "b", "c", "d" };

    s = sm_queue_create(TAKE, key, NULL, NULL);

    for (full = 0; full < MANY; full++) {
        if (set(s, names[full % targets], full) != 0) {
            break;
        }
    }

    ok(full > 10000 && full < MANY, "%u targets: full with %u", targets, full);
    is_int(sm_queue_waiting(s), full, "what is there");
    is_int(set(s, "z", 0), targets == 1 ? 0 : -1, "another target's");

    for (i = 0, k = 0; i < full; i++) {
        k += set(s, names[i % targets], i) != 0;
    }

    is_int(k, 0, "what is there can be set");

    n = sm_queue_take(s, INT64_MAX, entries, TAKE);
    ok(n > TAKE / 2, "and taken: %zu", n);

    for (k = 0, late = 0; k < 3; k++) {
        late += set(s, names[0], full + k) == 0;
    }

    for (k = 0; k < n; k++) {
        sm_queue_put(s, entries[k], k);
    }

    is_int(sm_queue_taken(s), 0, "and put back");
    is_int(sm_queue_waiting(s), full + late + (targets == 1),
           "all of it is there");

    for (k = 0; (n = sm_queue_take(s, INT64_MAX, entries, TAKE)); ) {
        while (n) {
            sm_queue_drop(s, entries[--n]);
            k++;
        }
    }

    is_int(k, full + late + (targets == 1), "and comes out once");
    is_int(sm_queue_next(s), INT64_MAX, "then nothing is left");
    is_int(set(s, names[0], 1), 0, "and there is room again");

    sm_queue_destroy(s);
}


/* no memory for all that have expired: the others are left to turns */

static void
test_expired(void)
{
    size_t          n, k;
    unsigned        i, full;
    sm_entry_t     *entries[TAKE];
    sm_queue_t     *s;

    static const uint64_t     key[] = { 1, 2 };
    static const char *const  names[] = { "a", "b", "c", "d" };

    s = sm_queue_create(TAKE, key, NULL, NULL);
    deadline = 5;

    for (full = 0; set(s, names[full % 4], full) == 0; full++);

    sm_queue_tick(s, 10, 10);

    is_int(sm_queue_expire(s, full), 0, "none is in the way");

    for (k = 0; (n = sm_queue_take_expired(s, entries, TAKE)); k += n) {
        for (i = 0; i < n; i++) {
            sm_queue_drop(s, entries[i]);
        }
    }

    ok(k > 10000, "%zu had room", k);

    while ((n = sm_queue_take(s, INT64_MAX, entries, TAKE))) {
        for (k += n; n; ) {
            sm_queue_drop(s, entries[--n]);
        }
    }

    is_int(k, full, "and the others can be taken");
    is_int(sm_queue_entries(s), 0, "nothing is left");

    sm_queue_destroy(s);
}


int
main(void)
{
    needs_no_store();

    test_full(1);               /* a target's queue is what fills up */
    test_full(4);               /* the index is */

    deadline = INT64_MAX - 1;
    test_full(4);               /* the order of deadlines is */

    test_expired();

    return done_testing();
}
