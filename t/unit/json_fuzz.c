
/*
 * The JSON reader on documents that nobody thought of: valid ones, damaged by
 * a seeded generator, so that every run is the same run.  Each is judged a
 * second time by a plain reading of RFC 8259, and the two must agree; a
 * payload that was taken must be one value by itself, with the same bytes,
 * whenever it is read again.  Broken by: any read past the end, any byte
 * sequence that the parser takes and JSON does not have, a slice off by one.
 *
 * json_fuzz [<iterations> [<seed>]]
 */

#include <stdlib.h>

#include "sm_json.h"
#include "tap.h"


#define ITERATIONS  200000
#define MAX_LEN     4096


typedef struct {
    const char  *p;
    const char  *end;
    unsigned     depth;
    unsigned     deepest;
} ref_t;


static const sm_json_field_t  fields[] = {
    { "intentId", SM_JSON_STRING, 1 },
    { "submissionTarget", SM_JSON_STRING, 1 },
    { "payload", SM_JSON_ANY, 0 },
    { NULL, 0, 0 }
};


static uint64_t  state;


static unsigned
rnd(unsigned n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;

    return (unsigned) ((state * 2685821657736338717ULL >> 33) % n);
}


/* RFC 8259, rule by rule */

static void
ref_space(ref_t *r)
{
    while (r->p < r->end && memchr(" \t\n\r", *r->p, 4)) {
        r->p++;
    }
}


static int
ref_char(ref_t *r, char c)
{
    return r->p < r->end && *r->p == c ? (r->p++, 1) : 0;
}


static int
ref_digits(ref_t *r)
{
    const char  *first = r->p;

    while (r->p < r->end && *r->p >= '0' && *r->p <= '9') {
        r->p++;
    }

    return r->p > first;
}


static int
ref_number(ref_t *r)
{
    (void) ref_char(r, '-');

    if (!ref_char(r, '0') && !ref_digits(r)) {
        return 0;
    }

    if (ref_char(r, '.') && !ref_digits(r)) {
        return 0;
    }

    if (ref_char(r, 'e') || ref_char(r, 'E')) {
        if (!ref_char(r, '+')) {
            (void) ref_char(r, '-');
        }

        return ref_digits(r);
    }

    return 1;
}


static int
ref_hex4(const char *p, unsigned *c)
{
    char  buf[5] = { p[0], p[1], p[2], p[3], 0 };

    *c = (unsigned) strtoul(buf, NULL, 16);

    return strspn(buf, "0123456789abcdefABCDEF") == 4;
}


/* "whole" is cleared when a half of a surrogate pair stands alone */

static int
ref_string(ref_t *r, int *whole)
{
    unsigned  c, high;

    if (!ref_char(r, '"')) {
        return 0;
    }

    for (high = 0; r->p < r->end; /* void */) {

        if (r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u') {

            if (!ref_hex4(r->p + 2, &c)) {
                return 0;
            }

            if (high != (c >= 0xdc00 && c <= 0xdfff)) {
                *whole = 0;
            }

            high = c >= 0xd800 && c <= 0xdbff;
            r->p += 6;
            continue;
        }

        if (high) {
            *whole = 0;
            high = 0;
        }

        if (*r->p == '"') {
            r->p++;
            return 1;
        }

        if ((unsigned char) *r->p < 0x20) {
            return 0;
        }

        if (*r->p++ == '\\') {
            if (r->p == r->end || !memchr("\"\\/bfnrt", *r->p, 8)) {
                return 0;
            }

            r->p++;
        }
    }

    return 0;
}


static int
ref_value(ref_t *r, int *whole)
{
    int     nested;
    char    close;
    size_t  i;

    static const char *const  words[] = { "null", "true", "false" };

    if (r->p == r->end) {
        return 0;
    }

    for (i = 0; i < 3; i++) {
        if ((size_t) (r->end - r->p) >= strlen(words[i])
            && memcmp(r->p, words[i], strlen(words[i])) == 0)
        {
            r->p += strlen(words[i]);
            return 1;
        }
    }

    if (*r->p == '"') {
        return ref_string(r, whole);
    }

    if (*r->p != '[' && *r->p != '{') {
        return ref_number(r);
    }

    close = *r->p++ == '[' ? ']' : '}';

    if (++r->depth > r->deepest) {
        r->deepest = r->depth;
    }

    ref_space(r);

    if (ref_char(r, close)) {
        r->depth--;
        return 1;
    }

    do {
        ref_space(r);

        if (close == '}') {
            if (!ref_string(r, &nested)) {
                return 0;
            }

            ref_space(r);

            if (!ref_char(r, ':')) {
                return 0;
            }

            ref_space(r);
        }

        /* only strings of the outermost container may be decoded */

        if (!ref_value(r, r->depth == 1 ? whole : &nested)) {
            return 0;
        }

        ref_space(r);

    } while (ref_char(r, ','));

    r->depth--;

    return ref_char(r, close);
}


/* one value of a kind and nothing else; "decodable" as sm_json wants it */

static int
ref_document(sm_str_t doc, char kind, int *decodable)
{
    ref_t  r = { doc.data, doc.data + doc.len, 0, 0 };

    *decodable = 1;

    ref_space(&r);

    if (kind && (r.p == r.end || *r.p != kind)) {
        return 0;
    }

    if (!ref_value(&r, decodable)) {
        return 0;
    }

    ref_space(&r);

    if (r.deepest > SM_JSON_MAX_DEPTH || sm_utf8_check(doc) != doc.len) {
        *decodable = 0;
    }

    return r.p == r.end;
}


/* documents and what is done to them */

static const char *const  seeds[] = {
    "{\"intentId\":\"a-1\",\"submissionTarget\":\"sms.realtime\","
    "\"payload\":{\"to\":\"+4670\",\"text\":\"h\\u00e9j \\ud83d\\ude00\"}}",

    " {\t\"payload\" : [ 1 , -2.5e+10,\r\n true,null, \"x\\\\\\\"\" ] ,\n"
    "\"submissionTarget\":\"t\" , \"intentId\" : \"\\u0041\\n\\/\" } ",

    "{\"submissionTarget\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\","
    "\"intentId\":\"\\ud83d\\ude00\\uD800\\udc00\","
    "\"payload\":\"\\udbff\\udfff\"}",

    "{\"intentId\":\"\",\"submissionTarget\":\"\","
    "\"payload\":0.10E-7}",

    "{\"intentId\":\"n\",\"submissionTarget\":\"t\",\"payload\":"
    "[[[[{\"a\":{\"b\":[{}]}},[]]]],12345678901234567890123,{\"\":\"\"}]}",

    "{\"intentId\":\"a\",\"submissionTarget\":\"b\"}",
};

static const char *const  tokens[] = {
    "{", "}", "[", "]", ",", ":", "\"", "\\", "/", " ", "\n", "\t", "\r",
    "\v", "\f", "\b", "\x7f", "null", "true", "false", "0", "-", "1", ".",
    "e", "E+", "\\u", "\\ud800", "\\udc00", "\\u0000", "\\ud83d\\ude00", "\"\"",
    "[]", "{}", "//", "/*", "*/", "\xc3", "\xa9", "\xed\xa0\x80",
    "\xef\xbb\xbf", "\xf4\x90\x80\x80", "NaN", "1e400", "\"payload\":",
    ",\"intentId\":\"b\"",
    "[[[[[[[[[[[[[[[[", "]]]]]]]]]]]]]]]]", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
};


static size_t
splice(char *buf, size_t len, size_t at, size_t cut, const char *p, size_t n)
{
    if (len - cut + n > MAX_LEN) {
        return len;
    }

    memmove(buf + at + n, buf + at + cut, len - at - cut);
    memcpy(buf + at, p, n);

    return len - cut + n;
}


static size_t
mutate(char *buf, size_t len)
{
    char         slice[64];
    size_t       at, n;
    const char  *s;

    at = rnd((unsigned) len + 1);
    n = rnd(sizeof(slice)) + 1;

    if (n > len - at) {
        n = len - at;
    }

    switch (rnd(8)) {
    case 0:
        if (at < len) {
            buf[at] = (char) (buf[at] ^ (1 << rnd(8)));
        }

        return len;

    case 1:
        if (at < len) {
            buf[at] = (char) rnd(256);
        }

        return len;

    case 2:
        return rnd(4) ? len : at;

    case 3:
        memcpy(slice, buf + at, n);
        return splice(buf, len, rnd((unsigned) len + 1), 0, slice, n);

    case 4:
        return splice(buf, len, at, n < 4 ? n : rnd(4), "", 0);

    default:
        s = tokens[rnd(sizeof(tokens) / sizeof(tokens[0]))];
        return splice(buf, len, at, 0, s, strlen(s));
    }
}


static unsigned  accepted, rejected, wrong;


static void
fault(const char *what, sm_str_t doc)
{
    if (wrong++ < 5) {
        diag("%s", what);
        tap_diag_mem("document", doc.data, doc.len);
    }
}


static sm_str_t
enclose(sm_arena_t *arena, const char *before, sm_str_t s, const char *after)
{
    char      *p;
    sm_str_t   doc;

    doc.len = strlen(before) + s.len + strlen(after);
    doc.data = p = sm_arena_alloc(arena, doc.len);

    memcpy(p, before, strlen(before));

    if (s.len) {
        memcpy(p + strlen(before), s.data, s.len);
    }

    memcpy(p + strlen(before) + s.len, after, strlen(after));

    return doc;
}


static void
try_array(sm_arena_t *arena, sm_str_t doc)
{
    int               rc, good, decodable;
    size_t            n;
    sm_json_error_t   err;
    sm_json_value_t  *elts;

    rc = sm_json_array(arena, doc, &elts, &n, &err);
    good = ref_document(doc, '[', &decodable) && decodable;

    if ((rc == 0) != good) {
        fault(good ? "refused, and is JSON" : "taken, and is not JSON", doc);
    }

    if (rc != 0 && sm_utf8_check(sm_str_c(err.message)) != strlen(err.message))
    {
        fault("the message is not UTF-8", doc);
    }

    accepted += rc == 0;
    rejected += rc != 0;
}


/* what a client sent is one value, and stays the one that it is */

static void
try_payload(sm_arena_t *arena, sm_str_t doc, const sm_json_value_t *payload)
{
    int               decodable;
    sm_str_t          again;
    sm_json_error_t   err;
    sm_json_value_t   v[3];

    if (!ref_document(payload->raw, payload->raw.data[0], &decodable)
        || strchr(" \t\r\n", payload->raw.data[0])
        || strchr(" \t\r\n", payload->raw.data[payload->raw.len - 1]))
    {
        fault("the payload is not one value", doc);
    }

    again = enclose(arena,
                    "{\"intentId\":\"a\",\"submissionTarget\":\"b\","
                    "\"payload\":", payload->raw, "}");

    if (sm_json_object(arena, again, fields, v, &err) != 0
        || v[2].type != payload->type
        || !sm_str_eq(v[2].raw, payload->raw))
    {
        fault("the payload is not the same by itself", doc);
    }
}


static void
try_object(sm_arena_t *arena, sm_str_t doc)
{
    int               i, decodable;
    sm_out_t          out;
    sm_str_t          again;
    sm_json_error_t   err;
    sm_json_value_t   v[3], w[3];

    if (sm_json_object(arena, doc, fields, v, &err) != 0) {
        rejected++;
        return;
    }

    accepted++;

    if (!ref_document(doc, '{', &decodable)) {
        fault("taken, and is not JSON", doc);
        return;
    }

    for (i = 0; i < 2; i++) {
        if (!ref_document(v[i].raw, '"', &decodable) || !decodable) {
            fault("taken, and cannot be decoded", doc);
            return;
        }
    }

    if (v[2].type) {
        try_payload(arena, doc, &v[2]);
    }

    /* written from what was read, it reads the same */

    sm_out_init(&out, sm_arena_alloc(arena, 8 * doc.len + 64),
                8 * doc.len + 64);

    sm_out_c(&out, "{\"intentId\":");
    sm_json_out_str(&out, v[0].text);
    sm_out_c(&out, ",\"submissionTarget\":");
    sm_json_out_str(&out, v[1].text);
    sm_out_c(&out, v[2].type ? ",\"payload\":" : "");
    sm_out_str(&out, v[2].raw);
    sm_out_c(&out, "}");

    again.data = out.start;
    again.len = out.last - out.start;

    if (out.full || sm_json_object(arena, again, fields, w, &err) != 0) {
        fault("not taken a second time", doc);
        return;
    }

    for (i = 0; i < 3; i++) {
        if (v[i].type != w[i].type || !sm_str_eq(v[i].text, w[i].text)
            || (i == 2 && !sm_str_eq(v[i].raw, w[i].raw)))
        {
            fault("not the same a second time", doc);
        }
    }
}


int
main(int argc, char **argv)
{
    char        buf[MAX_LEN];
    size_t      len;
    sm_str_t    doc;
    unsigned    i, k, n;
    sm_arena_t  arena = { NULL };

    n = argc > 1 ? (unsigned) atoi(argv[1]) : ITERATIONS;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 20260202;

    for (i = 0; i < n; i++) {
        doc = sm_str_c(seeds[rnd(sizeof(seeds) / sizeof(seeds[0]))]);

        len = doc.len;
        memcpy(buf, doc.data, len);

        for (k = rnd(5); k; k--) {
            len = mutate(buf, len);
        }

        /* memory of its own, so that reading past the end is caught */

        doc.len = len;
        doc.data = memcpy(malloc(len), buf, len);

        if (i % 2) {
            try_object(&arena, doc);

        } else {
            try_array(&arena, enclose(&arena, "[", doc, "]"));
        }

        free((void *) doc.data);
        sm_arena_free(&arena);
    }

    is_int(wrong, 0, "%u documents are judged as by RFC 8259", n);
    ok(accepted > n / 10 && rejected > n / 10, "%u taken, %u refused",
       accepted, rejected);

    return done_testing();
}
