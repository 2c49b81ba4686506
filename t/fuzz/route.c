
/*
 * A path comes from a client: whatever it is, what is found in it lies within
 * it, and fits the row; and an id that is sent encoded comes out as it was.
 */

#include "fuzz.h"
#include "sm_route.h"


static const sm_route_t  rows[] = {
    { "intents", SM_ROUTE_READ },
    { "intents", SM_ROUTE_POST },
    { "intents/*", SM_ROUTE_READ },
    { "intents/*/history", SM_ROUTE_READ },
    { "targets/*/of/*", SM_ROUTE_PUT|SM_ROUTE_DELETE },
    { "cluster", SM_ROUTE_READ },
};

static const sm_route_table_t  table = sm_route_table(rows);


static void
check(sm_route_e rc, unsigned method, const sm_route_match_t *match,
    sm_str_t within)
{
    size_t             i, stars;
    const sm_route_t  *row;

    row = match->row;

    if (rc == SM_ROUTE_NOT_FOUND) {
        must(row == NULL && match->methods == 0, "nothing is there");
        return;
    }

    if (rc == SM_ROUTE_NOT_ALLOWED) {
        must(row == NULL && match->methods && !(match->methods & method),
             "another method is allowed");
        return;
    }

    must(rc == SM_ROUTE_FOUND && row && (row->methods & method),
         "the row has the method");

    for (i = 0, stars = 0; row->pattern[i]; i++) {
        stars += row->pattern[i] == '*';
    }

    must(match->n == stars, "each \"*\" has a segment");

    for (i = 0; i < match->n; i++) {
        must(match->any[i].data >= within.data
             && match->any[i].data + match->any[i].len
                <= within.data + within.len, "a segment is within its path");
    }
}


static void
find(unsigned method, sm_str_t path)
{
    sm_str_t           buf;
    sm_route_e         rc;
    sm_route_match_t   match;

    rc = sm_route_find(&table, method, path, NULL, &match);
    check(rc, method, &match, path);

    buf = fuzz_copy(path);
    rc = sm_route_find(&table, method, path, (char *) buf.data, &match);
    check(rc, method, &match, buf);
    fuzz_free(buf);
}


/* every byte as "%XX" */

static void
encoded(sm_arena_t *arena, sm_str_t id)
{
    size_t             i;
    sm_str_t           path, buf;
    sm_out_t           out;
    sm_route_match_t   match;

    static const char  hex[] = "0123456789abcdefABCDEF";

    fuzz_out(arena, &out, sizeof("intents/") + 3 * id.len);
    sm_out_c(&out, "intents/");

    for (i = 0; i < id.len; i++) {
        sm_out_bytes(&out, "%", 1);
        sm_out_bytes(&out, &hex[(unsigned char) id.data[i] >> 4], 1);
        sm_out_bytes(&out, &hex[id.data[i] & 0xf], 1);
    }

    path = fuzz_copy(fuzz_written(&out));
    buf = fuzz_copy(path);

    must(sm_route_find(&table, SM_ROUTE_GET, path, (char *) buf.data, &match)
         == SM_ROUTE_FOUND && match.n == 1 && sm_str_eq(match.any[0], id),
         "an id that is encoded is found");

    fuzz_free(buf);
    fuzz_free(path);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned    method;
    sm_str_t    in, s, path;
    sm_arena_t  arena = { NULL };

    static const sm_str_t  prefix = sm_str("/v1/");

    in = fuzz_input(data, size);
    method = 1u << fuzz_take(&in, 1) % 6;

    s = fuzz_copy(in);

    find(method, s);

    if (sm_route_raw(s, prefix, &path)) {
        must(path.data == s.data + prefix.len
             && path.len <= s.len - prefix.len
             && (path.len == 0 || !memchr(path.data, '?', path.len)),
             "the path is within the URI");
        find(method, path);
    }

    if (s.len) {
        encoded(&arena, s);
    }

    fuzz_free(s);
    sm_arena_free(&arena);

    return 0;
}
