
/*
 * Routes: paths as clients send them, against a table.  Broken by: a trailing
 * slash that counts for nothing, a slash in an id that ends it, a path that is
 * decoded twice, an "Allow" without a method that another row has.
 */

#include <stdlib.h>

#include "sm_route.h"
#include "tap.h"


typedef struct {
    sm_route_t    route;
    const char   *name;
} test_row_t;

static const test_row_t  test_rows[] = {
    { { "intents", SM_ROUTE_READ }, "list" },
    { { "intents", SM_ROUTE_POST }, "submit" },
    { { "intents/first", SM_ROUTE_READ }, "first" },
    { { "intents/*", SM_ROUTE_READ }, "get" },
    { { "intents/*/history", SM_ROUTE_READ }, "history" },
    { { "intents/*/cancel", SM_ROUTE_POST }, "cancel" },
    { { "targets/*/of/*", SM_ROUTE_PUT|SM_ROUTE_DELETE }, "of" },
    { { "cluster", SM_ROUTE_READ }, "cluster" },
};

static const sm_route_table_t  test_table = sm_route_table(test_rows);


typedef struct {
    const char   *path;
    unsigned      method;
    const char   *expected;         /* a name, or the "Allow", or NULL: 404 */
    const char   *any;              /* what "*" was, with "|" between */
} test_case_t;

static const test_case_t  test_cases[] = {
    { "intents", SM_ROUTE_GET, "list", "" },
    { "/intents", SM_ROUTE_HEAD, "list", "" },
    { "intents", SM_ROUTE_POST, "submit", "" },
    { "intents", SM_ROUTE_PUT, "GET, HEAD, POST", "" },
    { "intents", 0, "GET, HEAD, POST", "" },
    { "%69ntents", SM_ROUTE_GET, "list", "" },
    { "intents/", SM_ROUTE_GET, NULL, "" },
    { "intents//a", SM_ROUTE_GET, NULL, "" },
    { "//intents", SM_ROUTE_GET, NULL, "" },
    { "intent", SM_ROUTE_GET, NULL, "" },
    { "intentss", SM_ROUTE_GET, NULL, "" },
    { "", SM_ROUTE_GET, NULL, "" },
    { "/", SM_ROUTE_GET, NULL, "" },
    { "*", SM_ROUTE_GET, NULL, "" },

    { "intents/a", SM_ROUTE_GET, "get", "a" },
    { "intents/first", SM_ROUTE_GET, "first", "" },
    { "intents/a/", SM_ROUTE_GET, NULL, "" },
    { "intents/a%2Fb", SM_ROUTE_GET, "get", "a/b" },
    { "intents/a%2fb%20c", SM_ROUTE_GET, "get", "a/b c" },
    { "intents/%252F", SM_ROUTE_GET, "get", "%2F" },
    { "intents/%", SM_ROUTE_GET, "get", "" },
    { "intents/*", SM_ROUTE_GET, "get", "*" },
    { "intents/a", SM_ROUTE_POST, "GET, HEAD", "" },
    { "intents/a/history", SM_ROUTE_GET, "history", "a" },
    { "intents/history/history", SM_ROUTE_GET, "history", "history" },
    { "intents/a/history/b", SM_ROUTE_GET, NULL, "" },
    { "intents/a/histor", SM_ROUTE_GET, NULL, "" },
    { "intents/a/history", SM_ROUTE_POST, "GET, HEAD", "" },
    { "intents/a/cancel", SM_ROUTE_POST, "cancel", "a" },
    { "intents/a/cancel", SM_ROUTE_GET, "POST", "" },

    { "targets/a/of/b", SM_ROUTE_DELETE, "of", "a|b" },
    { "targets/a%7Cb/of/%62", SM_ROUTE_PUT, "of", "a|b|b" },
    { "targets/a/of/b", SM_ROUTE_GET, "PUT, DELETE", "" },
    { "targets/a/of", SM_ROUTE_GET, NULL, "" },
    { "cluster", SM_ROUTE_GET, "cluster", "" },
    { "cluster/", SM_ROUTE_GET, NULL, "" },
    { "cluster/x", SM_ROUTE_GET, NULL, "" },

    { "intents/a/b/c/d/e/f/g", SM_ROUTE_GET, NULL, "" },
    { "intents/a/b/c/d/e/f/g/h", SM_ROUTE_GET, NULL, "" },
};


/* memory of exactly its size */

static sm_str_t
copy(const char *s)
{
    char      *p;
    sm_str_t   str;

    p = malloc(strlen(s));
    memcpy(p, s, strlen(s));

    str.data = p;
    str.len = strlen(s);

    return str;
}


static void
test_case(const test_case_t *t)
{
    char              *buf, allow[SM_ROUTE_ALLOW], any[64];
    sm_str_t           path;
    sm_out_t           out;
    unsigned           i;
    sm_route_e         rc;
    sm_route_match_t   match;

    path = copy(t->path);
    buf = malloc(path.len);

    rc = sm_route_find(&test_table, t->method, path, buf, &match);

    diag("%s", t->path);

    if (t->expected == NULL) {
        is_int(rc, SM_ROUTE_NOT_FOUND, "nothing is there");

    } else if (rc == SM_ROUTE_NOT_ALLOWED) {
        sm_out_init(&out, allow, sizeof(allow));
        sm_route_allow(&out, match.methods);
        sm_out_bytes(&out, "", 1);

        is_str(allow, t->expected, "what is allowed");
        ok(!out.full && match.row == NULL, "and no row");

    } else {
        is_int(rc, SM_ROUTE_FOUND, "a row");
        is_str(match.row ? ((const test_row_t *) match.row)->name : NULL,
               t->expected, "its name");

        sm_out_init(&out, any, sizeof(any));

        for (i = 0; i < match.n; i++) {
            sm_out_c(&out, i ? "|" : "");
            sm_out_str(&out, match.any[i]);
        }

        is_mem(any, out.last - out.start, t->any, strlen(t->any),
               "its segments");
    }

    free(buf);
    free((void *) path.data);
}


static void
test_resolved(void)
{
    sm_str_t          path = sm_str("/intents/a%2Fb");
    sm_route_match_t  match;

    is_int(sm_route_find(&test_table, SM_ROUTE_GET, path, NULL, &match),
           SM_ROUTE_FOUND, "a path that is decoded");
    is_mem(match.any[0].data, match.any[0].len, "a%2Fb", 5,
           "is not decoded again");
}


static void
test_raw(void)
{
    int       rc;
    size_t    i;
    sm_str_t  path, uri;

    static const struct {
        const char  *prefix;
        const char  *uri;
        const char  *path;          /* NULL: it is to be resolved */
    } t[] = {
        { "/v1/", "/v1/intents", "intents" },
        { "/v1/", "/v1/intents?a=/../b", "intents" },
        { "/v1/", "/v1/intents#/./", "intents" },
        { "/v1/", "/v1/intents/a%2Fb/", "intents/a%2Fb/" },
        { "/v1/", "/v1/", "" },
        { "/v1", "/v1/intents", "/intents" },
        { "/v1", "/v1", "" },
        { "/v1", "/v1?/intents", "" },
        { "/v1", "/v1intents", "" },
        { "/v1", "/v1%2Fintents", "" },
        { "/", "/intents", "intents" },
        { "/v1/", "/v2/intents", NULL },
        { "/v1/", "/v1", NULL },
        { "/v1/", "/v1//intents", NULL },
        { "/v1/", "/v1/./intents", NULL },
        { "/v1/", "/v1/../v1/intents", NULL },
        { "/v1/", "/v1/intents/..", NULL },
        { "/v1/", "/v1/intents/.", NULL },
        { "/v1/", "/v1/intents/...", "intents/..." },
        { "/v1/", "/v1/intents/.a", "intents/.a" },
        { "/v1/", "/v1/intents/..?", NULL },
        { "/v1/", "", NULL },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        uri = copy(t[i].uri);
        rc = sm_route_raw(uri, sm_str_c(t[i].prefix), &path);

        is_int(rc, t[i].path != NULL, "%s under %s", t[i].uri, t[i].prefix);

        if (rc && t[i].path) {
            is_mem(path.data, path.len, t[i].path, strlen(t[i].path),
                   "its path");
        }

        free((void *) uri.data);
    }

    is_int(sm_route_resolved(sm_str_c("/v1//x/.."), sm_str_c("/v1/"), &path),
           1, "one that is resolved is not looked at");
    is_mem(path.data, path.len, "/x/..", 5, "its path");
    is_int(sm_route_resolved(sm_str_c("/v2/x"), sm_str_c("/v1/"), &path), 0,
           "but for the prefix");
    is_int(sm_route_resolved(sm_str_c("/v1x"), sm_str_c("/v1"), &path), 1,
           "one whose first segment goes on");
    is_int(path.len, 0, "is nowhere");
}


static void
test_decode(void)
{
    char    buf[16];
    size_t  i, n;

    static const char *const  t[][2] = {
        { "", "" }, { "abc", "abc" }, { "%41%4a%4A", "AJJ" },
        { "%e2%82%AC", "\xe2\x82\xac" }, { "%", "" }, { "a%4", "a" },
        { "%zz", "zz" }, { "%4zb", "b" }, { "%%41", "%41" }, { "+", "+" },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        n = sm_route_decode(buf, sm_str_c(t[i][0]));
        is_mem(buf, n, t[i][1], strlen(t[i][1]), "\"%s\" decoded", t[i][0]);
    }

    n = sm_route_decode(buf, sm_str_c("a%00b"));
    is_mem(buf, n, "a\0b", 3, "a zero is a byte like others");
}


static void
test_allow(void)
{
    char      allow[SM_ROUTE_ALLOW];
    sm_out_t  out;

    sm_out_init(&out, allow, sizeof(allow));
    sm_route_allow(&out, ~0u);
    sm_out_bytes(&out, "", 1);

    ok(!out.full, "all methods fit");
    is_str(allow, "GET, HEAD, POST, PUT, DELETE", "all methods");
}


int
main(void)
{
    size_t  i;

    for (i = 0; i < sizeof(test_cases) / sizeof(test_cases[0]); i++) {
        test_case(&test_cases[i]);
    }

    test_resolved();
    test_raw();
    test_decode();
    test_allow();

    return done_testing();
}
