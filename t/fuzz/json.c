
/*
 * The JSON reader on documents that nobody thought of.  Each is judged a second
 * time by a plain reading of RFC 8259, and the two must agree; a payload that
 * was taken must be one value by itself, with the same bytes, whenever it is
 * read again.
 */

#include "fuzz.h"


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
try_message(const sm_json_error_t *err)
{
    must(!err->no_memory, "there is memory");
    must(err->message[0]
         && sm_utf8_check(sm_str_c(err->message)) == strlen(err->message),
         "the message is text");
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

    must((rc == 0) == good, "it is taken if it is JSON, and only then");

    if (rc != 0) {
        try_message(&err);
    }
}


/* what a client sent is one value, and stays the one that it is */

static void
try_payload(sm_arena_t *arena, const sm_json_value_t *payload)
{
    int               decodable;
    sm_str_t          again;
    sm_json_error_t   err;
    sm_json_value_t   v[3];

    must(ref_document(payload->raw, payload->raw.data[0], &decodable)
         && !strchr(" \t\r\n", payload->raw.data[0])
         && !strchr(" \t\r\n", payload->raw.data[payload->raw.len - 1]),
         "a payload is one value");

    again = enclose(arena,
                    "{\"intentId\":\"a\",\"submissionTarget\":\"b\","
                    "\"payload\":", payload->raw, "}");

    must(sm_json_object(arena, again, fields, v, &err) == 0
         && v[2].type == payload->type && sm_str_eq(v[2].raw, payload->raw),
         "a payload is the same by itself");
}


static void
try_object(sm_arena_t *arena, sm_str_t doc)
{
    int               i, decodable;
    sm_out_t          out;
    sm_json_error_t   err;
    sm_json_value_t   v[3], w[3];

    if (sm_json_object(arena, doc, fields, v, &err) != 0) {
        try_message(&err);
        return;
    }

    must(ref_document(doc, '{', &decodable), "what is taken is JSON");

    for (i = 0; i < 2; i++) {
        must(ref_document(v[i].raw, '"', &decodable) && decodable,
             "a string that is taken can be decoded");
    }

    if (v[2].type) {
        try_payload(arena, &v[2]);
    }

    /* written from what was read, it reads the same */

    fuzz_out(arena, &out, 8 * doc.len + 64);

    sm_out_c(&out, "{\"intentId\":");
    sm_json_out_str(&out, v[0].text);
    sm_out_c(&out, ",\"submissionTarget\":");
    sm_json_out_str(&out, v[1].text);
    sm_out_c(&out, v[2].type ? ",\"payload\":" : "");
    sm_out_str(&out, v[2].raw);
    sm_out_c(&out, "}");

    must(sm_json_object(arena, fuzz_written(&out), fields, w, &err) == 0,
         "it is taken a second time");

    for (i = 0; i < 3; i++) {
        must(v[i].type == w[i].type && sm_str_eq(v[i].text, w[i].text)
             && (i < 2 || sm_str_eq(v[i].raw, w[i].raw)),
             "it is the same a second time");
    }
}


/* what the strict reader takes, the lax one does, and reads the same */

static void
try_lax(sm_arena_t *arena, sm_str_t doc)
{
    int               i, strict, lax, decodable;
    sm_json_error_t   err;
    sm_json_value_t   v[3], w[3];

    lax = sm_json_object_lax(arena, doc, fields, w, &err);

    if (lax == 0) {
        must(ref_document(doc, '{', &decodable), "what is taken is JSON");

    } else {
        try_message(&err);
    }

    strict = sm_json_object(arena, doc, fields, v, &err);

    must(strict != 0 || lax == 0, "the lax reader takes more, not less");

    for (i = 0; strict == 0 && i < 3; i++) {
        must(v[i].type == w[i].type && sm_str_eq(v[i].raw, w[i].raw)
             && (i == 2 || sm_str_eq(v[i].text, w[i].text)),
             "both read the same");
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sm_str_t    doc;
    sm_arena_t  arena = { NULL };

    doc = fuzz_copy(fuzz_input(data, size));

    try_array(&arena, doc);
    try_object(&arena, doc);
    try_lax(&arena, doc);

    fuzz_free(doc);
    sm_arena_free(&arena);

    return 0;
}
