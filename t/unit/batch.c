
/*
 * The document of a batch of ids is what a store's SQL reads.  Broken by: an
 * id that is not escaped, a size that the document outgrows.
 */

#include "sm_batch.h"
#include "tap.h"


static void
test_ids(void)
{
    size_t      i;
    sm_str_t    doc;
    sm_arena_t  arena = { NULL };

    static const sm_get_row_t  r[] = {
        { .id = sm_str("a") }, { .id = sm_str("b\"\\\x01\xe2\x82\xac") },
        { .id = sm_str("a") }
    };

    static const char *const  docs[] = {
        "[]",
        "[\"a\"]",
        "[\"a\",\"b\\\"\\\\\\u0001\xe2\x82\xac\"]",
        "[\"a\",\"b\\\"\\\\\\u0001\xe2\x82\xac\",\"a\"]",
    };

    for (i = 0; i < 4; i++) {
        is_int(sm_batch_ids_doc(&arena, r, i, &doc), 0, "%zu ids", i);
        is_mem(doc.data, doc.len, docs[i], strlen(docs[i]), "their document");
    }

    sm_arena_free(&arena);
}


static void
test_size(void)
{
    char          bytes[800];
    size_t        i, n;
    sm_str_t      doc, s = { 0, bytes };
    unsigned      bad;
    sm_arena_t    arena = { NULL };
    sm_get_row_t  r[20];

    /* every byte escaped */

    memset(bytes, 1, sizeof(bytes));

    for (bad = 0; s.len < sizeof(bytes); s.len += 80) {

        for (i = 0; i < 20; i++) {
            r[i].id = s;
        }

        for (n = 0; n <= 20; n++) {
            bad += sm_batch_ids_doc(&arena, r, n, &doc) != 0;
            sm_arena_free(&arena);
        }
    }

    is_int(bad, 0, "the worst case fits its size");
}


int
main(void)
{
    needs_no_store();

    test_ids();
    test_size();

    return done_testing();
}
