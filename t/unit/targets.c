
/*
 * The queue with targets that are held: by a pause, a rate, a circuit; and
 * with deadlines; by random operations against a model.  Broken by: something
 * that is taken of a target that is held, a target that is not found again when
 * it is not, one that holds up another, a probe that is not alone, a state that
 * is not so; something that has expired and is taken, takes a token, or is not
 * found to be ended, whatever holds its target.
 *
 * targets [<seed> [<rounds>]]
 */

#include <stdlib.h>
#include <time.h>

#include "sm_bucket.h"
#include "sm_queue_target.h"
#include "clocks.h"
#include "random.h"
#include "tap.h"


#define ROUNDS   300
#define STEPS    400
#define IDS      80
#define TARGETS  6
#define SENDS    (STEPS + 2 * IDS)


typedef enum { OUT = 0, WAITING, TAKEN, EXPIRED } place_e;

typedef struct {
    place_e      place;
    unsigned     target;
    int64_t      due_at;
    int64_t      deadline;
    unsigned     sent;
    unsigned     probe;
    sm_entry_t  *e;
    char         id[16];
} item_t;

typedef struct {
    unsigned     paused;
    unsigned     errors;
    unsigned     open;
    unsigned     probing;
    int64_t      length, until, rest;
    unsigned     out;               /* tokens */
    unsigned     nsends;
    int64_t      sends[SENDS];
} model_t;


static item_t             items[IDS];
static model_t            model[TARGETS];
static sm_target_rules_t  rules[TARGETS];
static unsigned           concurrency, bad, taken, held, expired;
static int64_t            now, mono, begun;
static sm_queue_t        *s;
static uint64_t           seed;

static const uint64_t     key[] = { 1, 2 };
static const char *const  names[] = { "a", "b", "c", "d", "e", "not.kept" };


/* so that one target may have all of it */

static unsigned
no_share(void *data, sm_str_t target)
{
    (void) data;
    (void) target;

    return 10000;
}


/* what has left, and what is reserved, must fit into every window up to now */

static int
has_token(unsigned t)
{
    int64_t   from;
    unsigned  i, n;
    model_t  *m = &model[t];

    if (rules[t].rate == 0) {
        return 1;
    }

    if (m->out >= rules[t].burst) {
        return 0;
    }

    for (i = 0; i <= m->nsends; i++) {
        n = m->nsends - i + m->out + 1;
        from = i < m->nsends ? m->sends[i] : mono;

        if ((__int128) n * SM_BUCKET_TOKEN
            > (__int128) rules[t].rate * (mono - from)
              + (__int128) rules[t].burst * SM_BUCKET_TOKEN)
        {
            return 0;
        }
    }

    /* it began empty */

    n = m->nsends + m->out + 1;

    return (__int128) n * SM_BUCKET_TOKEN
           <= (__int128) rules[t].rate * (mono - begun);
}


static int
is_held(unsigned t)
{
    model_t  *m = &model[t];

    return m->paused || m->rest > mono
           || (m->open && (m->probing || m->until > mono)) || !has_token(t);
}


static unsigned
count(unsigned t, place_e place, int64_t due)
{
    unsigned  i, n;

    for (i = 0, n = 0; i < IDS; i++) {
        n += items[i].place == place && (t == TARGETS || items[i].target == t)
             && items[i].due_at <= due;
    }

    return n;
}


static void
tick(void)
{
    sm_queue_tick(s, now, mono);
}


static item_t *
item_of(const sm_entry_t *e)
{
    unsigned  i;

    for (i = 0; !sm_str_eq(sm_entry_id(e), sm_str_c(items[i].id)); i++);

    return &items[i];
}


/* those whose deadline has passed are out of the way, in one go or in several */

static void
do_expire(void)
{
    unsigned     i;
    sm_entry_t  *e;

    tick();

    if (rnd(3) == 0) {
        while (sm_queue_expire(s, rnd(3))) {
            check(sm_queue_take(s, now, &e, 1) == 0,
                  "taken while some are in the way");
        }

    } else {
        check(sm_queue_expire(s, IDS) == 0, "more than there are");
    }

    for (i = 0; i < IDS; i++) {
        if (items[i].place == WAITING && items[i].deadline <= now) {
            items[i].place = EXPIRED;
        }
    }

    check(sm_queue_next_deadline(s) > now, "one of them is left");
}


/* what the store says of them: ended, or not yet */

static void
do_end_expired(unsigned all)
{
    size_t       k, n, max;
    item_t      *it;
    sm_entry_t  *entries[IDS];

    do_expire();

    max = all ? IDS : rnd(5);
    n = sm_queue_take_expired(s, entries, max);

    check(n == max || count(TARGETS, EXPIRED, INT64_MAX) == n,
          "%zu of %u", n, count(TARGETS, EXPIRED, INT64_MAX));

    for (k = 0; k < n; k++) {
        it = item_of(entries[k]);
        expired++;

        check(it->place == EXPIRED, "%s has not expired", it->id);

        if (all || rnd(4)) {
            sm_queue_drop(s, entries[k]);
            it->place = OUT;
            continue;
        }

        if (it->deadline <= now) {
            it->deadline = now + 1000000;
        }

        it->due_at = now + rnd(100);
        it->place = WAITING;
        sm_queue_put(s, entries[k], it->due_at);
    }
}


static void
do_take(void)
{
    size_t       k, n, max;
    unsigned     i, t;
    sm_entry_t  *entries[IDS];

    do_expire();

    max = rnd(2) ? IDS : rnd(4);
    n = sm_queue_take(s, now, entries, max);

    for (k = 0; k < n; k++) {
        i = item_of(entries[k]) - items;
        t = items[i].target;

        check(items[i].place == WAITING, "taken twice, or expired");
        check(items[i].due_at <= now, "too early");
        check(!is_held(t), "%s is held", names[t]);

        taken++;

        items[i].place = TAKEN;
        items[i].e = entries[k];
        items[i].sent = rules[t].rate == 0;
        items[i].probe = model[t].open;
        model[t].probing |= model[t].open;
        model[t].out += rules[t].rate != 0;
    }

    if (n == max || count(TARGETS, TAKEN, INT64_MAX) >= concurrency) {
        return;
    }

    for (t = 0; t < TARGETS; t++) {
        held += count(t, WAITING, now) && is_held(t);
        check(count(t, WAITING, now) == 0 || is_held(t),
              "%s is due and not held, and was not taken", names[t]);
    }
}


static void
send(item_t *it)
{
    model_t  *m = &model[it->target];

    if (it->sent) {
        return;
    }

    it->sent = 1;
    m->sends[m->nsends++] = mono;
    m->out--;
}


static void
give_back(item_t *it)
{
    model_t  *m = &model[it->target];

    m->out -= !it->sent;

    if (it->probe) {
        it->probe = 0;
        m->probing = 0;
    }

    it->sent = 1;
}


static void
do_answer(item_t *it)
{
    model_t  *m = &model[it->target];

    unsigned  errors;

    send(it);
    errors = sm_queue_answer(s, it->e);

    /* one that is not kept is forgotten when it is empty */

    check(it->target == TARGETS - 1 || errors == m->errors, "errors before");

    m->errors = 0;
    m->open = 0;
    m->probing = 0;
    it->probe = 0;
}


static void
do_error(item_t *it)
{
    unsigned             opens, errors;
    model_t             *m = &model[it->target];
    sm_circuit_rules_t  *r = &rules[it->target].circuit;

    send(it);
    errors = sm_queue_error(s, it->e);
    m->errors++;

    check(it->target == TARGETS - 1 || errors == m->errors, "errors in a row");

    opens = 0;

    if (r->failures && !m->open && m->errors >= r->failures) {
        m->length = r->open;
        opens = 1;

    } else if (r->failures && m->open && it->probe) {
        m->length = 2 * m->length < r->max_open ? 2 * m->length : r->max_open;
        opens = 1;
    }

    if (opens) {
        m->open = 1;
        m->until = mono + m->length;
    }

    if (opens || it->probe) {
        m->probing = 0;
    }

    it->probe = 0;

    if (rnd(10) == 0) {
        sm_queue_rest(s, it->e, 3000);

        if (r->failures && m->rest < mono + 3000) {
            m->rest = mono + 3000;
        }
    }
}


/* a taken one goes on: sent, answered, failed, or none of it; then it ends */

static void
do_step(void)
{
    item_t  *it = &items[rnd(IDS)];

    if (it->place != TAKEN) {
        return;
    }

    tick();

    check(sm_queue_paused(it->e) == model[it->target].paused, "paused");
    check(sm_queue_target_of(it->e)
          == (it->target == TARGETS - 1 ? -1 : (int) it->target), "number");

    switch (rnd(5)) {
    case 0:
        sm_queue_sent(s, it->e);
        send(it);
        return;
    case 1:
        do_error(it);
        break;
    case 2:
        break;
    default:
        do_answer(it);
    }

    if (rnd(3)) {
        sm_queue_end(s, it->e);
    }

    give_back(it);

    if (rnd(3)) {
        sm_queue_drop(s, it->e);
        it->place = OUT;

    } else {
        it->due_at = now + rnd(3000);
        sm_queue_put(s, it->e, it->due_at);
        it->place = it->deadline <= now ? EXPIRED : WAITING;
    }
}


static void
do_pauses(unsigned chance)
{
    size_t    n;
    unsigned  t;
    sm_str_t  list[TARGETS];

    for (t = 0, n = 0; t < TARGETS; t++) {
        model[t].paused = chance && rnd(chance) == 0;

        if (model[t].paused) {
            list[n++] = sm_str_c(names[t]);
        }
    }

    tick();
    check(sm_queue_pauses(s, list, n) == 0, "pauses");
}


static void
do_set(void)
{
    item_t  *it = &items[rnd(IDS)];

    if (it->place == TAKEN || it->place == EXPIRED) {
        return;
    }

    tick();

    it->due_at = now - 1000 + rnd(3000);
    it->deadline = rnd(2) ? INT64_MAX : now - 500 + rnd(6000);
    it->place = it->deadline <= now ? EXPIRED : WAITING;

    check(sm_queue_set(s, sm_str_c(it->id), sm_str_c(names[it->target]),
                       it->due_at, it->deadline) == 0, "set");
}


static void
check_states(void)
{
    size_t             i;
    unsigned           t, due;
    sm_target_state_t  st;

    tick();

    for (t = 0; t < TARGETS - 1; t++) {
        sm_queue_target_state(s, t, &st);

        due = count(t, WAITING, now);

        check(st.paused == model[t].paused, "state: paused");
        check(st.failures == model[t].errors, "state: failures");
        check(st.due == due, "state: %zu due, not %u", st.due, due);
        check(st.waiting == count(t, WAITING, INT64_MAX) - due
                            + count(t, EXPIRED, INT64_MAX), "waiting");
        check(st.in_flight == count(t, TAKEN, INT64_MAX), "in flight");
        check((st.circuit_open_until != 0)
              == (model[t].open || model[t].rest > mono), "state: open");
        check(st.state == (model[t].paused ? SM_TARGET_PAUSED
                           : model[t].open || model[t].rest > mono
                           ? SM_TARGET_CIRCUIT_OPEN : SM_TARGET_OPEN),
              "state: %d", (int) st.state);
        check(rules[t].rate == 0 || (st.tokens > 0) == has_token(t),
              "state: %d tokens", (int) st.tokens);

        if (due == 0) {
            check(st.oldest_due == 0, "none is due");
            continue;
        }

        for (i = 0; i < IDS; i++) {
            check(items[i].place != WAITING || items[i].target != t
                  || items[i].due_at >= st.oldest_due, "an older one");
        }
    }
}


static void
play(unsigned round)
{
    unsigned  i, k, t;
    int64_t   next;

    memset(items, 0, sizeof(items));
    memset(model, 0, sizeof(model));
    memset(rules, 0, sizeof(rules));

    concurrency = rnd(3) ? 1 + rnd(20) : 1000;
    now = 1000000;
    mono = clocks[rnd(NCLOCKS)];
    begun = mono;

    s = sm_queue_create(concurrency, key, no_share, NULL);
    tick();

    for (t = 0; t < TARGETS - 1; t++) {
        if (rnd(2)) {
            rules[t].rate = 1 + rnd(100000000);
            rules[t].rate = rules[t].rate % SM_BUCKET_RATE_MAX + 1;
            rules[t].burst = 1 + rnd(4);
        }

        if (rnd(2)) {
            rules[t].circuit.failures = 1 + rnd(3);
            rules[t].circuit.open = 500 + rnd(1000);
            rules[t].circuit.max_open = 4000;
        }

        check(sm_queue_keep(s, sm_str_c(names[t]), &rules[t]) == 0, "keep");
    }

    for (i = 0; i < IDS; i++) {
        items[i].target = rnd(TARGETS);
        sprintf(items[i].id, "id-%u", i);
    }

    for (k = 0; k < STEPS && !bad; k++) {
        switch (rnd(9)) {
        case 8:
            do_end_expired(0);
            break;
        case 0: case 1:
            do_set();
            break;
        case 2:
            i = rnd(rnd(10) ? 300 : 5000);
            now += i;
            mono += i;
            now -= rnd(30) == 0 ? 200 : 0;      /* the store's clock is set */
            break;
        case 3:
            if (rnd(6) == 0) {
                do_pauses(rnd(4));
            }
            break;
        case 4:
            do_take();
            break;
        case 5:
            check_states();
            break;
        default:
            do_step();
        }
    }

    /* "next" alone finds them all */

    do_pauses(0);

    for (k = 0; !bad && count(TARGETS, WAITING, INT64_MAX); k++) {
        do_end_expired(1);

        for (i = 0; i < IDS; i++) {
            if (items[i].place == TAKEN) {
                tick();
                do_answer(&items[i]);
                sm_queue_drop(s, items[i].e);
                give_back(&items[i]);
                items[i].place = OUT;
            }
        }

        tick();
        next = sm_queue_next(s);
        check(next != INT64_MAX || count(TARGETS, WAITING, INT64_MAX) == 0,
              "next: nothing, and some wait");

        if (next > now && next != INT64_MAX) {
            mono += next - now;
            now = next;
        }

        do_take();
        check(k < 20 * IDS, "it does not end");
    }

    if (bad) {
        diag("seed %" PRIu64 ", round %u", seed, round);
    }

    sm_queue_destroy(s);
}


/* ten that are limited beside one that is not: what a take costs, and its turn */

static void
test_many(void)
{
    char               id[32];
    size_t             n, k, other;
    unsigned           i, rounds;
    sm_str_t           str;
    sm_entry_t        *entries[64];
    sm_target_rules_t  limited = { 60, 1, { 0, 0, 0 } }, free_ = { 0 };

    s = sm_queue_create(64, key, NULL, NULL);
    sm_queue_tick(s, 0, 0);

    for (i = 0; i < 10; i++) {
        str.len = sprintf(id, "limited-%u", i);
        str.data = id;
        (void) sm_queue_keep(s, str, &limited);
    }

    (void) sm_queue_keep(s, sm_str_c("free"), &free_);

    for (i = 0; i < 200000; i++) {
        char  name[32];

        str.len = sprintf(id, "i-%u", i);
        str.data = id;
        sprintf(name, "limited-%u", i % 10);
        (void) sm_queue_set(s, str,
                            sm_str_c(i % 20 == 19 ? "free" : name), i,
                            INT64_MAX);
    }

    for (rounds = 0, other = 0, k = 0; rounds < 1000; rounds++) {
        sm_queue_tick(s, 1000000 + rounds, rounds);
        n = sm_queue_take(s, 1000000 + rounds, entries, 64);
        other += n;

        while (n) {
            sm_queue_sent(s, entries[--n]);
            sm_queue_drop(s, entries[n]);
        }
    }

    ok(other >= 10000 - 64, "none of ten limited targets holds up another: "
       "%zu of it", other);

    for (rounds = 0; rounds < 10; rounds++) {
        sm_queue_tick(s, 1000000, (rounds + 1) * 1000000);
        n = sm_queue_take(s, 1000000, entries, 64);

        for (k = n; k; ) {
            sm_queue_sent(s, entries[--k]);
            sm_queue_drop(s, entries[k]);
        }

        is_int(n, 10, "one of each, each second");
        is_int(sm_queue_next(s), 1000000 + 1000000, "and then the next");
    }

    sm_queue_destroy(s);
}


/* what is not configured any more keeps its limits while intents are left */

static void
test_former(void)
{
    sm_str_t                  gone = sm_str("gone");
    sm_limit_t                limits[3];
    sm_entry_t               *entries[8];
    sm_bucket_t               before;
    const sm_target_rules_t   none = { 0 };
    const sm_target_rules_t   rated = { .rate = 60, .burst = 5 };

    s = sm_queue_create(64, key, NULL, NULL);

    sm_queue_tick(s, 1000000, 0);
    (void) sm_queue_keep(s, sm_str_c("kept"), &rated);
    (void) sm_queue_keep(s, sm_str_c("free"), &none);

    (void) sm_queue_set(s, sm_str_c("1"), gone, 1, INT64_MAX);
    (void) sm_queue_set(s, sm_str_c("2"), gone, 2, INT64_MAX);
    (void) sm_queue_set(s, sm_str_c("3"), gone, 3, INT64_MAX);

    is_int(sm_queue_former(s, gone, 2, &rated), 0, "intents were there");
    is_int(sm_queue_take(s, 1000000, entries, 8), 0, "its bucket is empty");
    is_int(sm_queue_former(s, sm_str_c("kept"), 1, &none), 0,
           "one that is configured stays as it is");

    is_int(sm_queue_limits(s, limits, 3), 2, "two have limits");
    ok(sm_str_eq(limits[0].name, gone) && limits[0].concurrency == 2
       && limits[0].rules.rate == 60 && limits[0].rules.burst == 5,
       "first the one that was removed");
    ok(sm_str_eq(limits[1].name, sm_str_c("kept"))
       && limits[1].rules.rate == 60 && limits[1].concurrency == 0,
       "then the one that was not");

    sm_bucket_init(&before, 60, 5, -10000000);
    ok(sm_queue_go_on(s, gone, &before) != NULL
       && sm_queue_go_on(s, sm_str_c("nobody"), &before) == NULL,
       "it goes on with what the leader before has left");
    is_int(sm_queue_take(s, 1000000, entries, 8), 2, "up to its bound");
    is_int(sm_queue_target_of(entries[0]), -1, "it has no number");
    is_int(sm_queue_limits(s, limits, 1), 1, "no more than there is room");

    sm_queue_drop(s, entries[0]);
    sm_queue_drop(s, entries[1]);
    is_int(sm_queue_remove(s, sm_str_c("3")), 1, "all have ended");
    is_int(sm_queue_limits(s, limits, 3), 2, "there may be more of it");
    sm_queue_complete(s);
    is_int(sm_queue_limits(s, limits, 3), 1, "then it is not told any more");

    (void) sm_queue_set(s, sm_str_c("4"), gone, 4, INT64_MAX);
    (void) sm_queue_set(s, sm_str_c("5"), gone, 5, INT64_MAX);
    is_int(sm_queue_take(s, 1000000, entries, 8), 2, "and still it counts");

    sm_queue_destroy(s);
}


/*
 * 200,000 that have expired stand before one that is alive, of a target with a
 * rate, a bound and an open circuit: none of them takes a token, a slot or the
 * probe, and what is alive goes at once.
 */

static void
test_expired_before_one(void)
{
    char               id[32];
    size_t             n;
    unsigned           i;
    sm_str_t           str;
    sm_entry_t        *entries[500];
    sm_target_state_t  st;
    sm_target_rules_t  limited = { 60, 1, { 1, 1000000, 1000000 } };

    s = sm_queue_create(1, key, NULL, NULL);
    sm_queue_tick(s, 0, 0);
    (void) sm_queue_keep(s, sm_str_c("a"), &limited);

    str.data = id;

    for (i = 0; i < 200000; i++) {
        str.len = sprintf(id, "i-%u", i);
        (void) sm_queue_set(s, str, sm_str_c("a"), i, 3000000 + i % 7);
    }

    (void) sm_queue_set(s, sm_str_c("alive"), sm_str_c("a"), 250000,
                        9000000);

    /* the first opens the circuit */

    sm_queue_tick(s, 1000000, 1000000);
    is_int(sm_queue_take(s, 1000000, entries, 8), 1, "one goes");
    (void) sm_queue_error(s, entries[0]);
    sm_queue_drop(s, entries[0]);
    is_int(sm_queue_next_deadline(s), 3000000, "the next deadline");

    sm_queue_tick(s, 4000000, 4000000);

    for (i = 1; sm_queue_expire(s, 4096); i++) {
        if (i == 1) {
            is_int(sm_queue_take(s, 4000000, entries, 8), 0,
                   "none is taken that may have expired");
        }
    }

    is_int(i, (199999 + 4095) / 4096, "they leave in slices");
    is_int(sm_queue_waiting(s), 200000, "and are not forgotten");

    sm_queue_target_state(s, 0, &st);
    is_int(st.due, 1, "one is due");
    is_int(st.waiting, 199999, "the others wait for their end");
    is_int(st.in_flight, 0, "and are not in flight");

    is_int(sm_queue_take(s, 4000000, entries, 8), 1, "then one is taken");
    ok(sm_str_eq(sm_entry_id(entries[0]), sm_str_c("alive")), "the one alive");
    (void) sm_queue_answer(s, entries[0]);
    sm_queue_drop(s, entries[0]);

    for (i = 0; (n = sm_queue_take_expired(s, entries, 500)); ) {
        while (n) {
            sm_queue_drop(s, entries[--n]);
            i++;
        }
    }

    is_int(i, 199999, "all of them can be ended");
    is_int(sm_queue_entries(s), 0, "nothing is left");
    is_int(sm_queue_next_deadline(s), INT64_MAX, "and no deadline");

    /* one that the store does not end is asked about after a second */

    sm_queue_tick(s, 5000000, 5000000);
    (void) sm_queue_set(s, sm_str_c("b"), sm_str_c("a"), 1, 5000000);
    is_int(sm_queue_next_deadline(s), INT64_MAX, "it has expired at once");
    is_int(sm_queue_take_expired(s, entries, 8), 1, "and is to be ended");
    sm_queue_put(s, entries[0], 5000001);
    is_int(sm_queue_take_expired(s, entries, 8), 0, "not at once again");
    is_int(sm_queue_next_deadline(s), 6000000, "but in a second");
    (void) sm_queue_set(s, sm_str_c("b"), sm_str_c("a"), 1, INT64_MAX);
    is_int(sm_queue_next_deadline(s), INT64_MAX, "or it has no deadline");
    is_int(sm_queue_remove(s, sm_str_c("b")), 1, "removed");

    sm_queue_destroy(s);
}


/* what is aside is there, in nobody's way, and comes back when it changes */

static void
test_aside(void)
{
    sm_entry_t         *e[2];
    sm_limit_t          limit;
    sm_target_rules_t   rules = { .rate = 60, .burst = 1 };

    s = sm_queue_create(8, key, NULL, NULL);
    sm_queue_tick(s, 0, 0);
    (void) sm_queue_former(s, sm_str_c("a"), 1, &rules);
    sm_queue_tick(s, 1000000, 1000000);

    (void) sm_queue_set(s, sm_str_c("x"), sm_str_c("a"), 1, 9000000);
    (void) sm_queue_set(s, sm_str_c("y"), sm_str_c("a"), 2, INT64_MAX);

    is_int(sm_queue_take(s, 1000000, e, 2), 1, "the first is taken");
    sm_queue_aside(s, e[0]);
    is_int(sm_queue_taken(s), 0, "it is aside");
    is_int(sm_queue_waiting(s), 2, "and there");
    is_int(sm_queue_next_deadline(s), INT64_MAX, "without a deadline");

    (void) sm_queue_set(s, sm_str_c("x"), sm_str_c("a"), 1, 9000000);
    is_int(sm_queue_take(s, 1000000, e, 2), 1, "the next is taken at once");
    ok(sm_str_eq(sm_entry_id(e[0]), sm_str_c("y")), "with the same token");
    sm_queue_drop(s, e[0]);

    is_int(sm_queue_limits(s, &limit, 1), 1, "its target is still held");
    is_int(sm_queue_next(s), INT64_MAX, "nothing is to come");

    (void) sm_queue_set(s, sm_str_c("x"), sm_str_c("a"), 3, 9000000);
    is_int(sm_queue_next_deadline(s), 9000000, "it was changed");
    is_int(sm_queue_take(s, 1000000, e, 2), 1, "and is taken again");
    sm_queue_aside(s, e[0]);

    ok(sm_queue_find(s, sm_str_c("x")) != NULL, "it is found");
    is_int(sm_queue_remove(s, sm_str_c("x")), 1, "and removed");
    is_int(sm_queue_entries(s), 0, "nothing is left");

    sm_queue_destroy(s);
}


/* what is destroyed in slices */

static void
test_destroy_some(void)
{
    char               id[32];
    unsigned           i;
    sm_str_t           str;
    sm_target_rules_t  none = { 0 };

    s = sm_queue_create(8, key, NULL, NULL);
    sm_queue_tick(s, 10, 10);
    (void) sm_queue_keep(s, sm_str_c("a"), &none);

    str.data = id;

    for (i = 0; i < 10000; i++) {
        str.len = sprintf(id, "i-%u", i);
        (void) sm_queue_set(s, str, sm_str_c(names[i % TARGETS]), i,
                            i % 3 ? i : INT64_MAX);
    }

    for (i = 1; sm_queue_destroy_some(s, 1000); i++);

    ok(i > 10 && i < 30, "in %u slices", i);

    s = sm_queue_create(8, key, NULL, NULL);
    is_int(sm_queue_destroy_some(s, 1000), 0, "an empty one in one");
}


int
main(int argc, char **argv)
{
    unsigned  i, rounds;

    needs_no_store();

    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t) time(NULL);
    rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : ROUNDS;
    diag("seed %" PRIu64, seed);
    state = seed * 2 + 1;

    for (i = 0; i < rounds && !bad; i++) {
        play(i);
    }

    is_int(bad, 0, "%u rounds", i);
    ok(taken > 1000 && held > 100 && expired > 1000,
       "%u taken, %u held, %u expired", taken, held, expired);

    test_many();
    test_former();
    test_expired_before_one();
    test_aside();
    test_destroy_some();

    return done_testing();
}
