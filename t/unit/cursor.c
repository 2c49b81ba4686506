
/*
 * Cursors, and base64url against the vectors of RFC 4648.  Broken by: a byte
 * that is lost at the end of an id, a digit of another alphabet that is taken,
 * a time that no store has.
 */

#include "sm_cursor.h"
#include "tap.h"


static void
test_base64url(void)
{
    char      buf[64];
    size_t    i, len;
    sm_out_t  out;

    static const char *const  t[][2] = {
        { "", "" }, { "f", "Zg" }, { "fo", "Zm8" }, { "foo", "Zm9v" },
        { "foob", "Zm9vYg" }, { "fooba", "Zm9vYmE" }, { "foobar", "Zm9vYmFy" },
        { "\xfb\xff\xbf", "-_-_" }
    };

    static const char *const  odd[][2] = {
        { "Zm9v=", "foo" }, { "Zm8=", "fo" }, { "Zg==", "f" },
        { "Zg==Zg", "f" }, { "Zh", "f" }, { "Zm8=!", "fo" }, { "=", "" }
    };

    static const char *const  bad[] = {
        "Z", "Zm9vZ", "Zm+v", "Zm/v", "Zm 9v", "Zm9v\n", "!", "Zm9v!"
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        sm_out_init(&out, buf, sm_base64url_size(strlen(t[i][0])));
        sm_out_base64url(&out, sm_str_c(t[i][0]));

        is_mem(out.start, out.last - out.start, t[i][1], strlen(t[i][1]),
               "%zu bytes encoded", strlen(t[i][0]));
        ok(!out.full && out.last == out.end, "in the size that was said");

        is_int(sm_base64url(buf, sm_str_c(t[i][1]), &len), 0, "and decoded");
        is_mem(buf, len, t[i][0], strlen(t[i][0]), "are the same");
    }

    for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        is_int(sm_base64url(buf, sm_str_c(odd[i][0]), &len), 0, "\"%s\"",
               odd[i][0]);
        is_mem(buf, len, odd[i][1], strlen(odd[i][1]), "decoded");
    }

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        is_int(sm_base64url(buf, sm_str_c(bad[i]), &len), -1, "not \"%s\"",
               bad[i]);
    }
}


static void
test_cursor(void)
{
    char      text[64], buf[64];
    size_t    i;
    int64_t   at;
    sm_str_t  id, s;
    sm_out_t  out;

    static const struct {
        int64_t      at;
        const char  *id;
        const char  *cursor;
    } t[] = {
        { 0, "a", "MCBh" },
        { 1700000000123456, "order 1",
          "MTcwMDAwMDAwMDEyMzQ1NiBvcmRlciAx" },
        { SM_TIME_MAX, "\xe2\x82\xac", "MjUzNDAyMzAwNzk5OTk5OTk5IOKCrA" }
    };

    /* "1", "1 ", " a", "-1 a", "253402300800000000 a", "x a" */

    static const char *const  bad[] = {
        "", "MQ", "MSA", "IGE", "LTEgYQ", "MjUzNDAyMzAwODAwMDAwMDAwIGE", "eCBh",
        "1 a"
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        sm_out_init(&out, text, sizeof(text));
        sm_cursor_out(&out, t[i].at, sm_str_c(t[i].id));

        s.data = out.start;
        s.len = out.last - out.start;

        ok(!out.full, "it fits");
        is_mem(s.data, s.len, t[i].cursor, strlen(t[i].cursor), "a cursor");
        is_int(sm_cursor_parse(s, buf, &at, &id), 0, "read again");
        is_int(at, t[i].at, "its time");
        is_mem(id.data, id.len, t[i].id, strlen(t[i].id), "its id");
    }

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        is_int(sm_cursor_parse(sm_str_c(bad[i]), buf, &at, &id), -1,
               "none: \"%s\"", bad[i]);
    }
}


/* a cursor of one list is none of another */

static void
test_kinds(void)
{
    char      text[64], buf[64], kind;
    size_t    i;
    int64_t   at;
    sm_str_t  id, s;
    sm_out_t  out;

    static const struct {
        char         kind;
        const char  *cursor;
    } t[] = {
        { 0, "NyBvcmRlciAx" }, { 'c', "YyA3IG9yZGVyIDE" },
        { 'E', "RSA3IG9yZGVyIDE" }
    };

    /* "c a", "c  a", "1 2", "- 7 a", "cc 7 a", "c c 7 a", "c 7", "c" */

    static const char *const  bad[] = {
        "YyBh", "YyAgYQ", "LSA3IGE", "Y2MgNyBh", "YyBjIDcgYQ", "YyA3", "Yw"
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        sm_out_init(&out, text, sizeof(text));
        sm_cursor_kind_out(&out, t[i].kind, 7, sm_str_c("order 1"));

        s.data = out.start;
        s.len = out.last - out.start;

        ok(!out.full, "it fits");
        is_mem(s.data, s.len, t[i].cursor, strlen(t[i].cursor),
               "a cursor with a kind");
        is_int(sm_cursor_kind_parse(s, buf, &kind, &at, &id), 0, "read again");
        is_int(kind, t[i].kind, "its kind");
        is_int(at, 7, "its time");
        is_mem(id.data, id.len, "order 1", 7, "its id");

        is_int(sm_cursor_parse(s, buf, &at, &id), t[i].kind ? -1 : 0,
               "one with a kind is not one without");
    }

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        is_int(sm_cursor_kind_parse(sm_str_c(bad[i]), buf, &kind, &at, &id),
               -1, "none: \"%s\"", bad[i]);
    }
}


/* the longest id there is, of the longest characters */

static void
test_longest(void)
{
    char      id[SM_ID_MAX * 4], text[2 * SM_ID_MAX * 4];
    char      buf[sizeof(text)];
    size_t    i;
    int64_t   at;
    sm_str_t  s, again;
    sm_out_t  out;

    for (i = 0; i < sizeof(id); i += 4) {
        memcpy(id + i, "\xf0\x9f\x98\x80", 4);
    }

    s.data = id;
    s.len = sizeof(id);
    is_str(sm_id_check(s), NULL, "an id");

    sm_out_init(&out, text, sizeof(text));
    sm_cursor_out(&out, SM_TIME_MAX, s);
    ok(!out.full, "its cursor");

    s.data = text;
    s.len = out.last - out.start;
    is_int(sm_cursor_parse(s, buf, &at, &again), 0, "is read");
    is_mem(again.data, again.len, id, sizeof(id), "and is all of it");
}


int
main(void)
{
    test_base64url();
    test_cursor();
    test_kinds();
    test_longest();

    return done_testing();
}
