
/*
 * The index finds what the queue has by ids that clients have chosen.
 * Broken by: a node that is not found any more after another was removed, two
 * names with one hash taken for each other, a hash that is not SipHash.
 *
 * index [<seed>]
 */

#include <stdlib.h>

#include "sm_index.h"
#include "random.h"
#include "tap.h"


#define NAMES  400
#define STEPS  60000


typedef struct {
    sm_index_node_t  node;
    char             name[8];
} named_t;


static unsigned  done;


/* the vectors of its authors: the key and the text are 0, 1, 2, ... */

static void
test_siphash(void)
{
    char      text[64];
    size_t    i;
    uint64_t  key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };

    static const struct {
        size_t    len;
        uint64_t  hash;
    } t[] = {
        { 0, 0x726fdb47dd0e0e31 },
        { 1, 0x74f839c593dc67fd },
        { 2, 0x0d6c8009d9a94f5a },
        { 7, 0xab0200f58b01d137 },
        { 8, 0x93f5f5799a932462 },
        { 15, 0xa129ca6149be45e5 },
        { 63, 0x958a324ceb064572 }
    };

    for (i = 0; i < sizeof(text); i++) {
        text[i] = (char) i;
    }

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        sm_str_t  s = { t[i].len, text };

        ok(sm_siphash(key, s) == t[i].hash, "SipHash-2-4 of %zu bytes",
           t[i].len);
    }
}


static void
test_keys(void)
{
    sm_str_t    s = sm_str("name");
    sm_index_t  a, b;

    static const uint64_t  one[] = { 1, 2 }, two[] = { 1, 3 };

    is_int(sm_index_init(&a, offsetof(named_t, name), one), 0, "an index");
    is_int(sm_index_init(&b, offsetof(named_t, name), two), 0, "another");
    ok(sm_index_hash(&a, s) != sm_index_hash(&b, s), "have keys of their own");
    ok(sm_index_find(&a, sm_index_hash(&a, s), s) == NULL, "and nothing else");

    sm_index_destroy(&a, NULL);
    sm_index_destroy(&b, NULL);
}


static void
count_done(sm_index_node_t *node)
{
    (void) node;

    done++;
}


/* few hashes, at both ends of the table, so that all of them meet */

static void
test_random(unsigned hashes)
{
    char         in[NAMES];
    size_t       i, k, n;
    unsigned     bad, full;
    sm_str_t     s;
    sm_index_t   index;
    named_t     *names;

    static const uint64_t  key[] = { 1, 2 };

    names = calloc(NAMES, sizeof(named_t));

    for (i = 0; i < NAMES; i++) {
        names[i].node.len = sprintf(names[i].name, "%zu", i);
        names[i].node.hash = 1 + rnd(hashes);

        if (rnd(2)) {
            names[i].node.hash = -names[i].node.hash;
        }
    }

    memset(in, 0, sizeof(in));
    sm_index_init(&index, offsetof(named_t, name), key);

    for (k = 0, n = 0, bad = 0, full = 0; k < STEPS; k++) {
        i = rnd(NAMES);

        /* now it fills, then it empties */

        if (!in[i] && (k / 3000 % 2 == 0 || rnd(20) == 0)) {
            bad += sm_index_add(&index, &names[i].node) != 0;
            in[i] = 1;
            n++;

        } else if (in[i] && (k / 3000 % 2 || rnd(20) == 0)) {
            sm_index_remove(&index, &names[i].node);
            in[i] = 0;
            n--;
        }

        full += n > NAMES / 2;
        bad += index.n != n || index.size > 16 + 8 * n;

        for (i = k % 7; i < NAMES; i += k % 500 ? 97 : 1) {
            s = sm_str_c(names[i].name);
            bad += sm_index_find(&index, names[i].node.hash, s)
                   != (in[i] ? &names[i].node : NULL);
        }
    }

    is_int(bad, 0, "%u hashes: what was added is found, nothing else", hashes);
    ok(full > STEPS / 4 && n < NAMES / 4, "%u hashes: it was full, and is not",
       hashes);

    done = 0;
    sm_index_destroy(&index, count_done);
    is_int(done, n, "%u hashes: all that is left at the end", hashes);

    free(names);
}


int
main(int argc, char *argv[])
{
    needs_no_store();

    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 20260202;
    diag("seed %" PRIu64, state);

    test_siphash();
    test_keys();
    test_random(1);
    test_random(3);
    test_random(40);
    test_random(100000);

    return done_testing();
}
