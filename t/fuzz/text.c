
/*
 * UTF-8, numbers, times, the cleaning and the quoting of text, each judged by
 * another reading of its rules, or undone.
 */

#include <time.h>

#include "fuzz.h"
#include "sm_time.h"


/* RFC 3629 by decoding; 0: not a character */

static size_t
character(const unsigned char *p, size_t len, unsigned *c)
{
    size_t  i, n;

    static const unsigned  first[] = { 0, 0, 0x80, 0x800, 0x10000 };

    n = p[0] < 0x80 ? 1
        : (p[0] & 0xe0) == 0xc0 ? 2
        : (p[0] & 0xf0) == 0xe0 ? 3
        : (p[0] & 0xf8) == 0xf0 ? 4 : 0;

    if (n == 0 || n > len) {
        return 0;
    }

    *c = n == 1 ? p[0] : p[0] & (0x7f >> n);

    for (i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }

        *c = *c << 6 | (p[i] & 0x3f);
    }

    return *c < first[n] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff)
           ? 0 : n;
}


static void
try_utf8(sm_str_t s)
{
    int                   control;
    size_t                i, n, length;
    unsigned              c;
    sm_str_t              valid;
    const unsigned char  *p = (const unsigned char *) s.data;

    for (i = 0, length = 0, control = 0; i < s.len; i += n, length++) {

        n = character(p + i, s.len - i, &c);
        if (n == 0) {
            break;
        }

        control |= c < 0x20 || (c >= 0x7f && c < 0xa0);
    }

    valid.data = s.data;
    valid.len = i;

    must(sm_utf8_check(s) == i, "UTF-8 ends where RFC 3629 says");
    must(sm_utf8_length(valid) == length, "characters");
    must(sm_utf8_has_control(valid) == control, "control characters");
}


static void
try_clean(sm_arena_t *arena, sm_str_t s, size_t max)
{
    sm_str_t  once, twice;
    sm_out_t  out;

    fuzz_out(arena, &out, sm_clean_size(max));
    sm_out_clean(&out, s, max);
    once = fuzz_written(&out);

    fuzz_clean(once, max);

    fuzz_out(arena, &out, sm_clean_size(max));
    sm_out_clean(&out, once, max);
    twice = fuzz_written(&out);

    must(sm_str_eq(once, twice), "what is clean stays as it is");

    fuzz_out(arena, &out, sm_clip_size(max));
    sm_out_clip(&out, s, max);
    twice = fuzz_written(&out);

    fuzz_clean(twice, 2 * max);
    must(sm_utf8_length(twice) <= max, "so many characters");
    must(twice.len >= once.len && memcmp(once.data, twice.data, once.len) == 0,
         "they begin with what is clean");
}


static void
try_json(sm_arena_t *arena, sm_str_t s)
{
    sm_str_t          doc;
    sm_out_t          out;
    size_t            n;
    sm_json_error_t   err;
    sm_json_value_t  *elts;

    fuzz_out(arena, &out, sm_json_str_size(s.len) + 2);
    sm_out_c(&out, "[");
    sm_json_out_str(&out, s);
    sm_out_c(&out, "]");
    doc = fuzz_written(&out);

    if (sm_utf8_check(s) != s.len) {
        return;
    }

    must(sm_json_array(arena, doc, &elts, &n, &err) == 0 && n == 1
         && sm_str_eq(elts[0].text, s),
         "a string in JSON reads as it was");
}


static int
digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}


/* what "%2f", "\\x2f" and a backslash before a character stand for */

static sm_str_t
undo(sm_arena_t *arena, sm_str_t s, char escape)
{
    char      *p;
    size_t     i;
    sm_str_t   plain;

    plain.data = p = sm_arena_alloc(arena, s.len + 1);

    for (i = 0; i < s.len; i++) {

        if (s.data[i] != escape) {
            *p++ = s.data[i];

        } else if (escape == '%' || s.data[i + 1] == 'x') {
            i += escape == '%' ? 1 : 2;
            *p++ = (char) (digit(s.data[i]) << 4 | digit(s.data[i + 1]));
            i++;

        } else {
            *p++ = s.data[++i];
        }
    }

    plain.len = p - plain.data;

    return plain;
}


static void
try_visible(sm_arena_t *arena, sm_str_t s)
{
    size_t    i;
    sm_str_t  text;
    sm_out_t  out;

    fuzz_out(arena, &out, sm_visible_size(s.len));
    sm_out_visible(&out, s);
    text = fuzz_written(&out);

    for (i = 0; i < text.len; i++) {
        must(text.data[i] > ' ' && text.data[i] < 0x7f, "visible ASCII");
    }

    must(sm_str_eq(undo(arena, text, '%'), s), "it stands for what it was");
}


/* one value of a line of a log, whatever is in it and however long it is */

static void
try_quoted(sm_arena_t *arena, sm_str_t s, size_t size)
{
    size_t    i;
    sm_str_t  text;
    sm_out_t  out;

    fuzz_out(arena, &out, size);
    sm_out_quoted(&out, s);
    text = fuzz_written(&out);

    must(text.len >= 2 && text.data[0] == '"'
         && text.data[text.len - 1] == '"', "it is in quotes");
    must(sm_utf8_check(text) == text.len && !sm_utf8_has_control(text),
         "it is text of one line");

    text.data++;
    text.len -= 2;

    for (i = 0; i < text.len; i++) {
        must(text.data[i] != '"', "nothing in it ends it");
        i += text.data[i] == '\\';
    }

    must(i == text.len, "no escape is cut");

    text = undo(arena, text, '\\');

    must(text.len <= s.len && memcmp(text.data, s.data ? s.data : "", text.len)
                              == 0, "it stands for what it was");
    must(text.len == s.len || size < 4 * s.len + 2, "all of it, if it fits");
}


static void
try_number(sm_arena_t *arena, sm_str_t s, int64_t number, int64_t max)
{
    size_t      i;
    int64_t     n;
    sm_out_t    out;
    __int128    v;

    fuzz_out(arena, &out, sizeof("-9223372036854775808") - 1);
    sm_out_int(&out, number);

    must(sm_parse_uint(fuzz_written(&out), INT64_MAX, &n)
         == (number < 0 ? -1 : 0) && (number < 0 || n == number),
         "a number reads as it was written");

    for (i = 0, v = 0; i < s.len; i++) {
        if (s.data[i] < '0' || s.data[i] > '9') {
            break;
        }

        v = v * 10 + s.data[i] - '0';

        if (v > INT64_MAX) {
            v = (__int128) INT64_MAX + 1;
        }
    }

    n = -1;

    if (sm_parse_uint(s, max, &n) == 0) {
        must(s.len && i == s.len && v == n && v <= max, "a number");

    } else {
        must(s.len == 0 || i < s.len || v > max, "not a number");
    }
}


static void
try_time(sm_arena_t *arena, int64_t usec)
{
    char       text[64];
    time_t     t;
    int64_t    rest, again;
    sm_out_t   out;
    struct tm  tm;

    t = usec / 1000000 - (usec % 1000000 < 0);
    rest = (usec % 1000000 + 1000000) % 1000000;

    if (gmtime_r(&t, &tm) == NULL) {
        return;
    }

    (void) snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ",
                    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                    tm.tm_min, tm.tm_sec, (int) rest);

    fuzz_out(arena, &out, sizeof(text));
    sm_out_time(&out, usec);

    must(sm_str_eq(fuzz_written(&out), sm_str_c(text)), "a time");
    must(usec < 0 || usec > SM_TIME_MAX || strlen(text) == SM_TIME_LEN,
         "its length");

    if (usec > 0 && usec <= SM_TIME_MAX) {
        must(sm_time_parse(fuzz_written(&out), &again) == NULL
             && again == usec, "it reads as it was written");
    }
}


/* what is taken for a time is one, by another reading */

static void
try_parse_time(sm_str_t s)
{
    int         n, zone;
    char        text[128];
    time_t      t;
    int64_t     usec;
    struct tm   tm;

    memset(&tm, 0, sizeof(tm));

    if (sm_time_parse(s, &usec) != NULL) {
        return;
    }

    must(usec > 0 && usec <= SM_TIME_MAX, "a time within bounds");
    must(s.len >= 20, "it has its length");

    (void) snprintf(text, sizeof(text), "%.*s", (int) s.len, s.data);

    must(sscanf(text, "%4d-%2d-%2d%*1[Tt]%2d:%2d:%2d%n", &tm.tm_year,
                &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec,
                &n) == 6 && n == 19, "it has its parts");

    tm.tm_year -= 1900;
    tm.tm_mon--;
    t = timegm(&tm);

    zone = 0;

    if (s.data[s.len - 1] != 'Z' && s.data[s.len - 1] != 'z') {
        zone = (digit(s.data[s.len - 5]) * 10 + digit(s.data[s.len - 4])) * 60
               + digit(s.data[s.len - 2]) * 10 + digit(s.data[s.len - 1]);
        zone = s.data[s.len - 6] == '-' ? -zone : zone;
    }

    must(usec / 1000000 == (int64_t) t - zone * 60, "the time that it says");
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t      max;
    int64_t     number, limit;
    sm_str_t    s, trimmed;
    sm_arena_t  arena = { NULL };

    s = fuzz_input(data, size);

    max = fuzz_take(&s, 1);
    number = (int64_t) fuzz_take(&s, 8);
    limit = (int64_t) (fuzz_take(&s, 8) >> 1);

    s = fuzz_copy(s);
    trimmed = sm_trim(s);

    must(trimmed.len == 0
         || (trimmed.data[0] != ' ' && trimmed.data[trimmed.len - 1] != ' '),
         "no spaces at its ends");

    try_utf8(s);
    try_clean(&arena, s, max);
    try_clean(&arena, s, s.len);
    try_json(&arena, s);
    try_visible(&arena, s);
    try_quoted(&arena, s, max + 2);
    try_quoted(&arena, s, 4 * s.len + 2);
    try_number(&arena, s, number, limit);
    try_time(&arena, number);
    try_parse_time(s);

    fuzz_free(s);
    sm_arena_free(&arena);

    return 0;
}
