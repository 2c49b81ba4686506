
/*
 * Text is the door through which bytes of clients come in: what passes here
 * as UTF-8 goes into SQL and out to gateways, what is written here goes into
 * memory of a size computed before.  Broken by: accepting an overlong form, a
 * surrogate or half a character; a fast path that skips a bad byte; a date
 * off by a day around a leap year; a write past the end.
 */

#include <stdlib.h>
#include <time.h>

#include "sm_text.h"
#include "tap.h"


/* a copy with nothing after it, so that reading past its end is caught */

static sm_str_t
exact(const char *data, size_t len)
{
    char      *p;
    sm_str_t   s;

    p = malloc(len);
    memcpy(p, data, len);

    s.data = p;
    s.len = len;

    return s;
}


static size_t
check(const char *data, size_t len)
{
    size_t    n;
    sm_str_t  s;

    s = exact(data, len);
    n = sm_utf8_check(s);
    free((void *) s.data);

    return n;
}


static void
test_utf8(void)
{
    size_t  i, n;

    static const struct {
        sm_str_t     s;
        size_t       valid;
        const char  *name;
    } t[] = {
        { sm_str(""), 0, "nothing" },
        { sm_str("abc"), 3, "ASCII" },
        { sm_str("a\0b"), 3, "a zero" },
        { sm_str("\x7f"), 1, "U+007F" },
        { sm_str("\xc2\x80"), 2, "U+0080" },
        { sm_str("\xdf\xbf"), 2, "U+07FF" },
        { sm_str("\xe0\xa0\x80"), 3, "U+0800" },
        { sm_str("\xed\x9f\xbf"), 3, "U+D7FF" },
        { sm_str("\xee\x80\x80"), 3, "U+E000" },
        { sm_str("\xef\xbf\xbf"), 3, "U+FFFF" },
        { sm_str("\xf0\x90\x80\x80"), 4, "U+10000" },
        { sm_str("\xf4\x8f\xbf\xbf"), 4, "U+10FFFF" },
        { sm_str("\xc0\x80"), 0, "an overlong zero" },
        { sm_str("\xc1\xbf"), 0, "overlong, 2 bytes" },
        { sm_str("\xe0\x9f\xbf"), 0, "overlong, 3 bytes" },
        { sm_str("\xf0\x8f\xbf\xbf"), 0, "overlong, 4 bytes" },
        { sm_str("\xed\xa0\x80"), 0, "U+D800" },
        { sm_str("\xed\xbf\xbf"), 0, "U+DFFF" },
        { sm_str("\xf4\x90\x80\x80"), 0, "U+110000" },
        { sm_str("\xf5\x80\x80\x80"), 0, "0xf5" },
        { sm_str("\xf8\x88\x80\x80\x80"), 0, "5 bytes" },
        { sm_str("\xfe"), 0, "0xfe" },
        { sm_str("\xff"), 0, "0xff" },
        { sm_str("\x80"), 0, "a tail alone" },
        { sm_str("ab\xc3"), 2, "2 bytes cut at the end" },
        { sm_str("ab\xe2\x82"), 2, "3 bytes cut at the end" },
        { sm_str("ab\xf0\x9f\x98"), 2, "4 bytes cut at the end" },
        { sm_str("\xc3\x28"), 0, "2 bytes, the tail is not one" },
        { sm_str("\xe2\x82\x28"), 0, "3 bytes, the last is not a tail" },
        { sm_str("\xf0\x9f\x98\xc0"), 0, "4 bytes, the last is not a tail" },
        { sm_str("\xc3\xa9\xc3\xa9\x80"), 4, "a tail too many" },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        n = check(t[i].s.data, t[i].s.len);
        is_int(n, t[i].valid, "UTF-8: %s", t[i].name);
    }
}


/* the bytes of a code point in a form of n bytes, which may be overlong */

static void
encode(char *p, unsigned c, int n)
{
    static const int  lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

    int  i;

    for (i = n - 1; i > 0; i--) {
        p[i] = (char) (0x80 | (c & 0x3f));
        c >>= 6;
    }

    p[0] = (char) (lead[n] | c);
}


static void
test_utf8_all(void)
{
    int       n, least;
    char      buf[4];
    unsigned  c, bad;

    static const unsigned  limit[] = { 0, 0x80, 0x800, 0x10000, 0x200000 };

    for (c = 0, bad = 0; c < 0x120000; c++) {
        for (least = 1; c >= limit[least]; least++) { /* void */ }

        for (n = least; n <= 4; n++) {
            encode(buf, c, n);

            bad += (check(buf, n) == (size_t) n)
                   != (n == least && c <= 0x10ffff
                       && (c < 0xd800 || c > 0xdfff));
            bad += n > 1 && check(buf, n - 1) == (size_t) n - 1;
        }
    }

    is_int(bad, 0, "UTF-8: every code point in every form");
}


static void
test_utf8_words(void)
{
    char    buf[40];
    size_t  len, at, bad;

    for (len = 1, bad = 0; len <= sizeof(buf); len++) {
        memset(buf, 'a', len);

        bad += check(buf, len) != len;

        for (at = 0; at < len; at++) {
            buf[at] = (char) 0x80;
            bad += check(buf, len) != at;
            buf[at] = 'a';
        }

        for (at = 0; at + 2 <= len; at++) {
            memcpy(buf + at, "\xc3\xa9", 2);
            bad += check(buf, len) != len;
            memset(buf + at, 'a', 2);
        }
    }

    is_int(bad, 0, "UTF-8: a bad byte and a good pair at every offset");
}


static void
test_utf8_length(void)
{
    size_t  i;

    static const struct {
        sm_str_t  s;
        size_t    length;
    } t[] = {
        { sm_null_str, 0 },
        { sm_str("abc"), 3 },
        { sm_str("\xc3\xa9"), 1 },
        { sm_str("a\xe2\x82\xac" "b"), 3 },
        { sm_str("\xf0\x9f\x98\x80\xf0\x9f\x98\x80"), 2 },
        { sm_str("e\xcc\x81"), 2 },             /* with a combining accent */
        { sm_str("a\0b"), 3 },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(sm_utf8_length(t[i].s), t[i].length, "length %zu of %zu bytes",
               t[i].length, t[i].s.len);
    }
}


static void
test_control(void)
{
    char      buf[8];
    size_t    n;
    unsigned  c, bad;
    sm_str_t  s;

    for (c = 0, bad = 0; c < 0x110000; c++) {
        n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

        buf[0] = 'a';
        encode(buf + 1, c, n);
        buf[n + 1] = 'z';

        s = exact(buf, n + 2);
        bad += sm_utf8_has_control(s)
               != (c < 0x20 || (c >= 0x7f && c <= 0x9f));
        free((void *) s.data);
    }

    is_int(bad, 0, "control characters: C0, DEL and C1, and no other");

    s = exact("a\xc2\x9f", 3);
    ok(sm_utf8_has_control(s), "the last character");
    free((void *) s.data);

    s = exact("a\xc2", 2);
    ok(!sm_utf8_has_control(s), "half a character is not read past the end");
    free((void *) s.data);
}


static void
test_trim(void)
{
    size_t    i;
    sm_str_t  s;

    static const struct {
        sm_str_t  in;
        sm_str_t  out;
    } t[] = {
        { sm_null_str, sm_str("") },
        { sm_str(""), sm_str("") },
        { sm_str("    "), sm_str("") },
        { sm_str("a"), sm_str("a") },
        { sm_str("  a b  "), sm_str("a b") },
        { sm_str("\ta\n"), sm_str("\ta\n") },
        { sm_str("\xc2\xa0" "a"), sm_str("\xc2\xa0" "a") },
        { sm_str(" \0 "), sm_str("\0") },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        s = sm_trim(t[i].in);
        is_mem(s.data ? s.data : "", s.len, t[i].out.data, t[i].out.len,
               "trim %zu", i);
    }
}


static void
test_parse_uint(void)
{
    int      rc;
    size_t   i;
    int64_t  n;

    static const struct {
        sm_str_t  s;
        int64_t   max;
        int64_t   n;                            /* -1: refused */
    } t[] = {
        { sm_str("0"), 10, 0 },
        { sm_str("7"), 10, 7 },
        { sm_str("10"), 10, 10 },
        { sm_str("11"), 10, -1 },
        { sm_str("19"), 10, -1 },
        { sm_str("0"), 0, 0 },
        { sm_str("1"), 0, -1 },
        { sm_str("5"), 5, 5 },
        { sm_str("6"), 5, -1 },
        { sm_str("9"), 5, -1 },
        { sm_str("0009"), 10, 9 },
        { sm_str("499"), 499, 499 },
        { sm_str("500"), 499, -1 },
        { sm_str("9223372036854775807"), INT64_MAX, INT64_MAX },
        { sm_str("9223372036854775808"), INT64_MAX, -1 },
        { sm_str("9223372036854775810"), INT64_MAX, -1 },
        { sm_str("99999999999999999999999999"), INT64_MAX, -1 },
        { sm_str(""), 10, -1 },
        { sm_null_str, 10, -1 },
        { sm_str("-1"), 10, -1 },
        { sm_str("+1"), 10, -1 },
        { sm_str(" 1"), 10, -1 },
        { sm_str("1 "), 10, -1 },
        { sm_str("1.0"), 10, -1 },
        { sm_str("1e0"), 10, -1 },
        { sm_str("0x1"), 100, -1 },
        { sm_str("1\0"), 100, -1 },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        n = -1;
        rc = sm_parse_uint(t[i].s, t[i].max, &n);

        is_int(rc == 0 ? n : -1, t[i].n, "\"%.*s\" up to %" PRId64,
               (int) t[i].s.len, t[i].s.data ? t[i].s.data : "", t[i].max);
    }
}


static void
time_text(char *buf, size_t size, int64_t usec)
{
    sm_out_t  out;

    sm_out_init(&out, buf, size - 1);
    sm_out_time(&out, usec);
    *out.last = '\0';
}


static void
test_time(void)
{
    char       buf[64], expected[64];
    size_t     i, n, bad;
    time_t     sec;
    struct tm  tm;

    static const struct {
        int64_t      usec;
        const char  *text;
    } t[] = {
        { 0, "1970-01-01T00:00:00.000000Z" },
        { 1, "1970-01-01T00:00:00.000001Z" },
        { -1, "1969-12-31T23:59:59.999999Z" },
        { -86400000000, "1969-12-31T00:00:00.000000Z" },
        { 951782400000000, "2000-02-29T00:00:00.000000Z" },
        { 951868799999999, "2000-02-29T23:59:59.999999Z" },
        { 951868800000000, "2000-03-01T00:00:00.000000Z" },
        { 1709164800000000, "2024-02-29T00:00:00.000000Z" },
        { 1740787200000000, "2025-03-01T00:00:00.000000Z" },
        { 4107456000000000, "2100-02-28T00:00:00.000000Z" },
        { 4107542400000000, "2100-03-01T00:00:00.000000Z" },
        { 1770033610123456, "2026-02-02T12:00:10.123456Z" },
        { 1798761599999999, "2026-12-31T23:59:59.999999Z" },
        { 253402300799999999, "9999-12-31T23:59:59.999999Z" },
        { -62135596800000000, "0001-01-01T00:00:00.000000Z" },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        time_text(buf, sizeof(buf), t[i].usec);
        is_str(buf, t[i].text, "time %s", t[i].text);
        is_int(strlen(buf), SM_TIME_LEN, "its length");
    }

    /* a step of a day and a bit, so that the time of day moves as well */

    sec = -62135596800;

    for (n = 0, bad = 0; sec < 253402300800; n++, sec += 1234567) {
        (void) gmtime_r(&sec, &tm);
        (void) snprintf(expected, sizeof(expected),
                        "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ",
                        tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                        tm.tm_hour, tm.tm_min, tm.tm_sec, 42);

        time_text(buf, sizeof(buf), (int64_t) sec * 1000000 + 42);
        bad += strcmp(buf, expected) != 0;
    }

    is_int(bad, 0, "%zu times from year 1 to 9999 are those of gmtime()", n);

    time_text(buf, sizeof(buf), INT64_MIN);
    time_text(buf, sizeof(buf), INT64_MAX);
    ok(1, "the ends of the range do no harm");
}


static void
test_out(void)
{
    char      *buf;
    sm_out_t   out;
    size_t     size;
    unsigned   bad;

    buf = malloc(8);
    sm_out_init(&out, buf, 8);

    sm_out_c(&out, "abc");
    sm_out_bytes(&out, "d\0", 2);
    is_mem(buf, out.last - out.start, "abcd\0", 5, "bytes are written");

    sm_out_c(&out, "fgh");
    ok(!out.full && out.last == out.end, "exactly as many as fit");

    sm_out_bytes(&out, NULL, 0);
    ok(!out.full, "nothing fits too");

    sm_out_c(&out, "i");
    ok(out.full, "one more is too many");
    is_mem(buf, out.last - out.start, "abcd\0fgh", 8, "and was dropped");

    sm_out_init(&out, buf, 8);
    sm_out_c(&out, "123456789");
    ok(out.full && out.last == out.start, "what does not fit is not cut");

    sm_out_c(&out, "ab");
    ok(out.full, "full stays set when less would fit");

    free(buf);

    /* every size: full exactly when it must be, and nothing past the end */

    for (size = 0, bad = 0; size < 60; size++) {
        buf = malloc(size);

        sm_out_init(&out, buf, size);
        sm_out_int(&out, INT64_MIN);
        bad += out.full != (size < 20);

        sm_out_init(&out, buf, size);
        sm_out_time(&out, 0);
        bad += out.full != (size < SM_TIME_LEN);

        free(buf);
    }

    is_int(bad, 0, "numbers and times in memory of every size");
}


/* memory that is told apart from the old one, and ends after "left" calls */

typedef struct {
    char      *memory;
    unsigned   calls;
    unsigned   left;
} grower_t;


static void *
grow(void *data, void *old, size_t len, size_t size)
{
    char      *p;
    grower_t  *g = data;

    g->calls++;

    if (g->left == 0) {
        return NULL;
    }

    g->left--;

    p = malloc(size);
    memset(p, '?', size);

    if (len) {
        memcpy(p, old, len);
    }

    free(old);

    g->memory = p;

    return p;
}


static void
test_out_grow(void)
{
    size_t      i;
    grower_t    g;
    sm_out_t    out;
    sm_str_t    text;
    unsigned    bad;
    sm_arena_t  arena;

    static char  large[5000];

    memset(&g, 0, sizeof(grower_t));
    g.left = 100;

    sm_out_init_grow(&out, grow, &g);

    ok(sm_out_done(&out, &text) == 0 && text.len == 0, "nothing is written");
    is_int(sm_out_last(&out), 0, "there is no last byte");
    is_int(g.calls, 0, "no memory is taken for nothing");

    for (i = 0; i < 100000; i++) {
        sm_out_int(&out, i % 10);
    }

    is_int(sm_out_done(&out, &text), 0, "100,000 bytes are written");
    is_int(sm_out_last(&out), '9', "the last byte");

    for (i = 0, bad = 0; i < text.len; i++) {
        bad += text.data[i] != (char) ('0' + i % 10);
    }

    ok(bad == 0 && text.len == 100000, "they are the bytes that were written");
    ok(g.calls <= 12, "the memory was moved %u times, not often", g.calls);
    free(g.memory);

    /* a piece that is larger than twice the memory */

    memset(large, 'x', sizeof(large));
    memset(&g, 0, sizeof(grower_t));
    g.left = 2;

    sm_out_init_grow(&out, grow, &g);
    sm_out_c(&out, "a");
    sm_out_bytes(&out, large, sizeof(large));

    ok(sm_out_done(&out, &text) == 0 && text.len == 5001
       && text.data[0] == 'a' && text.data[5000] == 'x',
       "a piece may be larger than all before it");
    ok(out.last == out.end, "and takes no more than it needs");

    /* no memory is left */

    sm_out_c(&out, "b");
    is_int(sm_out_done(&out, &text), -1, "without memory it is not done");
    is_int(text.len, 5001, "what was written is there");

    g.left = 1;
    sm_out_c(&out, "c");
    ok(sm_out_done(&out, &text) == -1 && text.len == 5001,
       "nothing follows a piece that was dropped");
    free(g.memory);

    memset(&g, 0, sizeof(grower_t));
    sm_out_init_grow(&out, grow, &g);
    sm_out_c(&out, "a");
    ok(sm_out_done(&out, &text) == -1 && text.len == 0, "no memory at all");
    is_int(sm_out_last(&out), 0, "there is no last byte, either");

    /* texts that are cut and quoted while the memory moves */

    memset(&arena, 0, sizeof(sm_arena_t));
    memset(large, ' ', sizeof(large));
    large[0] = 'a';
    large[4000] = 'b';

    sm_out_init_arena(&out, &arena);
    sm_out_clean(&out, (sm_str_t) { sizeof(large), large }, 5000);
    ok(sm_out_done(&out, &text) == 0 && text.len == 4001
       && text.data[0] == 'a' && text.data[4000] == 'b',
       "a text is cleaned in memory that grows");

    sm_out_init_arena(&out, &arena);
    sm_out_quoted(&out, (sm_str_t) { 4001, large });
    ok(sm_out_done(&out, &text) == 0 && text.len == 4003
       && text.data[4001] == 'b' && text.data[4002] == '"',
       "a text in quotes is not cut where the memory grows");

    sm_arena_free(&arena);
}


static void
test_out_int(void)
{
    char      buf[32];
    size_t    i;
    sm_out_t  out;

    static const struct {
        int64_t      n;
        const char  *text;
    } t[] = {
        { 0, "0" },
        { -1, "-1" },
        { 1234567890123, "1234567890123" },
        { INT64_MAX, "9223372036854775807" },
        { INT64_MIN, "-9223372036854775808" },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        sm_out_init(&out, buf, sizeof(buf));
        sm_out_int(&out, t[i].n);
        is_mem(buf, out.last - buf, t[i].text, strlen(t[i].text),
               "number %s", t[i].text);
    }
}


static void
test_clean(void)
{
    char       *buf;
    size_t      i;
    sm_str_t    s;
    sm_out_t    out;

    static const struct {
        sm_str_t  s;
        size_t    max;
        sm_str_t  expected;
    } t[] = {
        { sm_str(""), 9, sm_str("") },
        { sm_str("abc"), 9, sm_str("abc") },
        { sm_str("abc"), 3, sm_str("abc") },
        { sm_str("abc"), 2, sm_str("ab") },
        { sm_str("abc"), 0, sm_str("") },
        { sm_str("  a b  "), 9, sm_str("a b") },
        { sm_str("  a b  "), 3, sm_str("a b") },
        { sm_str("  a b  "), 2, sm_str("a") },
        { sm_str(" \t\n"), 9, sm_str("") },
        { sm_str("\0a\0b\x7f" "c\x1f"), 9, sm_str("a b c") },
        { sm_str("\xc2\x80" "a\xc2\x9f" "b\xc2\xa0"), 9,
          sm_str("a b\xc2\xa0") },
        { sm_str("\xff"), 9, sm_str("?") },
        { sm_str("a\xc2"), 9, sm_str("a?") },
        { sm_str("a\xe2\x82"), 9, sm_str("a??") },
        { sm_str("\xed\xa0\x80"), 9, sm_str("???") },
        { sm_str("\xed\xa0\x80"), 2, sm_str("??") },
        { sm_str("\xc3\xa9\xc3\xa9"), 1, sm_str("\xc3\xa9") },
        { sm_str("\xe2\x82\xac\xe2\x82\xac"), 1, sm_str("\xe2\x82\xac") },
        { sm_str("\xf0\x9f\x98\x80"), 2, sm_str("\xf0\x9f\x98\x80") },
        { sm_str("\xf0\x9f\x98\x80"), 1, sm_str("") },
        { sm_str("a \xf0\x9f\x98\x80z"), 3, sm_str("a") },
        { sm_str("a\xf0\x9f\x98\x80z"), 4, sm_str("a\xf0\x9f\x98\x80z") }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        s = exact(t[i].s.data, t[i].s.len);
        buf = malloc(sm_clean_size(t[i].max) + 1);

        buf[0] = '<';
        sm_out_init(&out, buf, sm_clean_size(t[i].max) + 1);
        out.last++;

        sm_out_clean(&out, s, t[i].max);

        is_mem(buf + 1, out.last - buf - 1, t[i].expected.data,
               t[i].expected.len, "clean text %zu", i);
        ok(!out.full && buf[0] == '<', "clean text %zu: there is room", i);

        free(buf);
        free((void *) s.data);
    }
}


static void
test_visible(void)
{
    char      buf[sm_visible_size(256)];
    size_t    i;
    sm_out_t  out;
    sm_str_t  s;
    char      all[256];

    static const struct {
        sm_str_t  in;
        sm_str_t  expected;
    } t[] = {
        { sm_str(""), sm_str("") },
        { sm_str("order-1/2?#\"\\"), sm_str("order-1/2?#\"\\") },
        { sm_str("!~"), sm_str("!~") },
        { sm_str("a b"), sm_str("a%20b") },
        { sm_str("a%20b"), sm_str("a%2520b") },
        { sm_str("caf\xc3\xa9"), sm_str("caf%C3%A9") },
        { sm_str("\x7f\t"), sm_str("%7F%09") }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        sm_out_init(&out, buf, sizeof(buf));
        sm_out_visible(&out, t[i].in);

        is_mem(buf, out.last - buf, t[i].expected.data, t[i].expected.len,
               "visible text %zu", i);
    }

    for (i = 0; i < sizeof(all); i++) {
        all[i] = (char) i;
    }

    s.data = all;
    s.len = sizeof(all);

    sm_out_init(&out, buf, sizeof(buf));
    sm_out_visible(&out, s);
    ok(!out.full, "visible text: there is room for every byte");
    is_int(out.last - buf, 93 + 3 * (256 - 93), "visible text: 93 stay");
}


static void
test_quoted(void)
{
    char      buf[1024];
    size_t    i, size;
    unsigned  bad;
    sm_out_t  out;

    static const struct {
        sm_str_t  in;
        sm_str_t  expected;
    } t[] = {
        { sm_str(""), sm_str("\"\"") },
        { sm_str("order-1 a=b"), sm_str("\"order-1 a=b\"") },
        { sm_str("q\" x=\"1"), sm_str("\"q\\\" x=\\\"1\"") },
        { sm_str("\\"), sm_str("\"\\\\\"") },
        { sm_str("\\\""), sm_str("\"\\\\\\\"\"") },
        { sm_str("a\nb\r\t\x1f\x7f"), sm_str("\"a\\x0ab\\x0d\\x09\\x1f\\x7f\"") },
        { sm_str("caf\xc3\xa9 \xf0\x9f\x98\x80"),
          sm_str("\"caf\xc3\xa9 \xf0\x9f\x98\x80\"") },
        { sm_str("\xc2\x85\xc2\xa0"), sm_str("\"\\xc2\\x85\xc2\xa0\"") },
        { sm_str("\xff\xc3"), sm_str("\"\\xff\\xc3\"") },
        { { 3, "a\0b" }, sm_str("\"a\\x00b\"") }
    };

    static const sm_str_t  cut = sm_str("\"\\\n\xc3\xa9\xc2\x85x\"");

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        sm_out_init(&out, buf, sizeof(buf));
        sm_out_quoted(&out, t[i].in);

        is_mem(buf, out.last - buf, t[i].expected.data, t[i].expected.len,
               "quoted text %zu", i);
    }

    /* whatever the room, it ends in a quote of its own */

    for (size = 2, bad = 0; size < 32; size++) {
        sm_out_init(&out, buf, size);
        sm_out_quoted(&out, cut);

        for (i = 1; i + 1 < (size_t) (out.last - buf); i++) {
            i += buf[i] == '\\';
        }

        bad += out.full || i + 1 != (size_t) (out.last - buf)
               || buf[0] != '"' || buf[i] != '"';
    }

    is_int(bad, 0, "quoted text that is cut is whole");
}


int
main(void)
{
    needs_no_store();

    test_utf8();
    test_utf8_all();
    test_utf8_words();
    test_utf8_length();
    test_control();
    test_trim();
    test_parse_uint();
    test_time();
    test_out();
    test_out_grow();
    test_out_int();
    test_clean();
    test_visible();
    test_quoted();

    return done_testing();
}
