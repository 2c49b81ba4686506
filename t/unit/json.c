
/*
 * The JSON reader decides what a client may store: a document it takes must
 * be RFC 8259 to the letter, and the payload it hands on must be the client's
 * own bytes.  Broken by: white space that JSON does not have, an offset off by
 * one before or after a value, a decoded string that is not the one sent, a
 * depth that reaches the stack of anything downstream.
 */

#include <stdlib.h>

#include "sm_json.h"
#include "tap.h"


static const sm_json_field_t  fields[] = {
    { "id", SM_JSON_STRING, 1 },
    { "count", SM_JSON_NUMBER, 0 },
    { "map", SM_JSON_OBJECT, 0 },
    { "list", SM_JSON_ARRAY, 0 },
    { "flag", SM_JSON_BOOL|SM_JSON_NULL, 0 },
    { "any", SM_JSON_ANY, 0 },
    { NULL, 0, 0 }
};

enum { ID = 0, COUNT, MAP, LIST, FLAG, ANY, FIELDS };


static sm_arena_t       arena;
static sm_json_error_t  err;
static sm_json_value_t  v[FIELDS];
static char            *copy;


/* parsed from memory with nothing after it: reading past the end is caught */

static sm_str_t
exact(sm_str_t doc)
{
    free(copy);
    sm_arena_free(&arena);

    memset(&err, 0, sizeof(err));

    copy = malloc(doc.len);

    if (doc.len) {
        memcpy(copy, doc.data, doc.len);
    }

    doc.data = copy;

    return doc;
}


static int
object(sm_str_t doc)
{
    return sm_json_object(&arena, exact(doc), fields, v, &err);
}


static int
array(sm_str_t doc, sm_json_value_t **elts, size_t *n)
{
    *n = 0;
    *elts = NULL;

    return sm_json_array(&arena, exact(doc), elts, n, &err);
}


static void
test_object_errors(void)
{
    size_t  i;

    static const struct {
        sm_str_t     doc;
        const char  *key;
        const char  *message;
    } t[] = {
        { sm_null_str, NULL, "an object was expected, not an empty document" },
        { sm_str(""), NULL, "an object was expected, not an empty document" },
        { sm_str(" \n"), NULL,
          "malformed JSON at byte 2: parse error: premature EOF" },

        { sm_str("[]"), NULL, "an object was expected" },
        { sm_str("\"id\""), NULL, "an object was expected" },
        { sm_str("1"), NULL, "an object was expected" },
        { sm_str("null"), NULL, "an object was expected" },
        { sm_str("true"), NULL, "an object was expected" },

        { sm_str("{"), NULL,
          "malformed JSON at byte 1: parse error: premature EOF" },
        { sm_str("{\"id\":\"a\""), NULL,
          "malformed JSON at byte 9: parse error: premature EOF" },
        { sm_str("{\"id\":\"a"), NULL,
          "malformed JSON at byte 8: parse error: premature EOF" },
        { sm_str("{\"id\":\"a\","), NULL,
          "malformed JSON at byte 10: parse error: premature EOF" },
        { sm_str("{\"id\":\"a\",}"), NULL,
          "malformed JSON at byte 11: parse error: "
          "invalid object key (must be a string)" },
        { sm_str("{\"id\" \"a\"}"), NULL,
          "malformed JSON at byte 9: parse error: object key and value must "
          "be separated by a colon (':')" },
        { sm_str("{'id':\"a\"}"), NULL,
          "malformed JSON at byte 2: lexical error: "
          "invalid char in json text." },
        { sm_str("{\"id\":\"a\nb\"}"), NULL,
          "malformed JSON at byte 8: lexical error: "
          "invalid character inside string." },
        { sm_str("{\"id\":\"\\x\"}"), NULL,
          "malformed JSON at byte 8: lexical error: inside a string, '\\' "
          "occurs before a character which it may not." },
        { sm_str("{\"id\":\"a\"//\n}"), NULL,
          "malformed JSON at byte 9: lexical error: probable comment found "
          "in input text, comments are not enabled." },

        { sm_str("{\"id\":\"a\"}x"), NULL,
          "malformed JSON at byte 11: parse error: trailing garbage" },
        { sm_str("{\"id\":\"a\"} {}"), NULL,
          "malformed JSON at byte 12: parse error: trailing garbage" },
        { sm_str("{\"id\":\"a\"} \"b"), NULL,
          "malformed JSON at byte 12: parse error: trailing garbage" },
        { sm_str("{\"id\":\"a\"}\0"), NULL,
          "malformed JSON at byte 11: parse error: trailing garbage" },

        { sm_str("{\"id\":\"a\",\"id\":\"a\"}"), "id", "duplicate key \"id\"" },
        { sm_str("{\"id\":\"a\",\"\\u0069d\":\"b\"}"), "id",
          "duplicate key \"id\"" },
        { sm_str("{\"flag\":null,\"flag\":null,\"id\":\"\"}"), "flag",
          "duplicate key \"flag\"" },

        { sm_str("{\"id\":\"a\",\"Id\":\"a\"}"), "Id", "unknown key \"Id\"" },
        { sm_str("{\"\":1}"), NULL, "unknown key \"\"" },
        { sm_str("{\"id\\u0000\":1}"), "id", "unknown key \"id\"" },
        { sm_str("{\"i\":1}"), "i", "unknown key \"i\"" },
        { sm_str("{\"id2\":1}"), "id2", "unknown key \"id2\"" },

        { sm_str("{\"id\":1}"), "id", "\"id\" must be a string" },
        { sm_str("{\"id\":null}"), "id", "\"id\" must be a string" },
        { sm_str("{\"id\":[\"a\"]}"), "id", "\"id\" must be a string" },
        { sm_str("{\"count\":\"1\"}"), "count", "\"count\" must be a number" },
        { sm_str("{\"map\":[]}"), "map", "\"map\" must be an object" },
        { sm_str("{\"list\":{}}"), "list", "\"list\" must be an array" },
        { sm_str("{\"flag\":0}"), "flag",
          "\"flag\" must be a value of another type" },

        { sm_str("{}"), "id", "\"id\" is missing" },
        { sm_str("{\"count\":1}"), "id", "\"id\" is missing" },
        { sm_str("{\"any\":{\"id\":\"a\"}}"), "id", "\"id\" is missing" },

        { sm_str("{\"id\":\"\xff\"}"), NULL, "invalid UTF-8 at byte 7" },
        { sm_str("{\"id\":\"a\",\"any\":\"\xed\xa0\x80\"}"), NULL,
          "invalid UTF-8 at byte 17" },
        { sm_str("\xef\xbb\xbf{\"id\":\"a\"}"), NULL,
          "malformed JSON at byte 1: lexical error: "
          "invalid char in json text." },

        { sm_str("{\"id\":\"\\ud800\"}"), "id",
          "a string at byte 6 has a lone surrogate" },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(object(t[i].doc), -1, "refused: %s", t[i].message);
        is_str(err.message, t[i].message, "the message");
        is_str(err.key, t[i].key, "the key at fault");
    }
}


static void
test_white_space(void)
{
    char      buf[20];
    int       rc, good;
    size_t    at, c, bad;
    sm_str_t  s = { sizeof(buf) - 1, buf };

    static const char  doc[]  = "{\"id\":\"a\",\"any\":1}";
    static const char  gaps[] = "||   ||  ||    ||||";

    for (at = 0, bad = 0; at < sizeof(doc); at++) {
        for (c = 0; c < 0x20; c++) {
            memcpy(buf, doc, at);
            buf[at] = (char) c;
            memcpy(buf + at + 1, doc + at, sizeof(doc) - 1 - at);

            rc = object(s);
            good = gaps[at] == '|' && (c == '\t' || c == '\n' || c == '\r');

            if ((rc == 0) != good) {
                diag("byte 0x%02zx at %zu: %d, %s", c, at, rc, err.message);
                bad++;
            }

            if (rc == 0 && (v[ANY].raw.len != 1 || v[ANY].raw.data[0] != '1')) {
                diag("byte 0x%02zx at %zu is part of the value", c, at);
                bad++;
            }
        }
    }

    is_int(bad, 0, "tab, line feed and return stand between tokens, no other");
}


static void
test_unknown_key_clipped(void)
{
    char      doc[1024], expected[256];
    size_t    i, pad, n;
    unsigned  bad;
    sm_str_t  s;

    static const char *const  chars[] = {
        "x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"
    };

    /* 64 bytes at the most, whole characters, whatever stands before them */

    for (n = 1, bad = 0; n <= 4; n++) {
        for (pad = 0; pad < n; pad++) {
            s.data = doc;
            s.len = (size_t) sprintf(doc, "{\"%.*s", (int) pad, "aaa");

            for (i = 0; i < 100; i++) {
                s.len += (size_t) sprintf(doc + s.len, "%s", chars[n - 1]);
            }

            s.len += (size_t) sprintf(doc + s.len, "\":1}");

            (void) snprintf(expected, sizeof(expected), "unknown key \"%.*s\"",
                            (int) (pad + (64 - pad) / n * n), doc + 2);

            bad += object(s) == 0 || strcmp(err.message, expected) != 0;
        }
    }

    is_int(bad, 0, "a long unknown key is clipped between two characters");

    /* a key may decode to half of a surrogate pair, which is not UTF-8 */

    s = sm_str_c("{\"a\\udc00\":1}");
    is_int(object(s), -1, "a key with a lone surrogate");
    is_str(err.message, "unknown key \"a\"", "is shown up to it");
}


static sm_str_t
nested(size_t depth, const char *open, const char *close)
{
    static char  buf[65536];

    size_t    i;
    sm_str_t  s = { 0, buf };

    for (i = 0; i < depth; i++) {
        s.len += (size_t) sprintf(buf + s.len, "%s", open);
    }

    s.len += (size_t) sprintf(buf + s.len, "%s", close[0] == '}' ? "1" : "");

    for (i = 0; i < depth; i++) {
        buf[s.len++] = close[0];
    }

    return s;
}


static void
test_depth(void)
{
    size_t            n;
    char             *doc;
    sm_str_t          s, in;
    sm_json_value_t  *elts;

    is_int(array(nested(128, "[", "]"), &elts, &n), 0, "128 arrays deep");
    is_int(elts[0].raw.len, 254, "its element is all of the others");

    is_int(array(nested(129, "[", "]"), &elts, &n), -1, "129 arrays deep");
    is_str(err.message, "nested deeper than 128 levels", "the message");

    is_int(array(nested(10000, "[", "]"), &elts, &n), -1, "10,000 deep");
    is_str(err.message, "nested deeper than 128 levels", "the message");

    s.data = nested(10000, "[", "]").data;
    s.len = 10000;
    is_int(array(s, &elts, &n), -1, "10,000 brackets, none of them closed");
    is_str(err.message, "nested deeper than 128 levels", "the message");

    in = nested(127, "{\"k\":", "}");
    doc = malloc(in.len + 64);
    s.data = doc;
    s.len = (size_t) sprintf(doc, "{\"id\":\"a\",\"any\":%.*s}", (int) in.len,
                             in.data);
    is_int(object(s), 0, "an object 128 deep");
    is_mem(v[ANY].raw.data, v[ANY].raw.len, in.data, in.len, "its value");

    in = nested(128, "{\"k\":", "}");
    doc = realloc(doc, in.len + 64);
    s.data = doc;
    s.len = (size_t) sprintf(doc, "{\"id\":\"a\",\"any\":%.*s}", (int) in.len,
                             in.data);
    is_int(object(s), -1, "an object 129 deep");
    is_str(err.message, "nested deeper than 128 levels", "the message");

    free(doc);
}


static void
test_raw(void)
{
    char      doc[512];
    size_t    i, k, n;
    unsigned  bad;
    sm_str_t  s;

    static const char *const  values[] = {
        "null", "true", "false",
        "0", "-0", "-1.50", "1e400", "1E-9999", "0.1e+7",
        "123456789012345678901234567890", "100000000000000000000.00",
        "\"\"", "\" x \"", "\"\\\"\"", "\"\\\\\"", "\"a\\u0041\\n\\/\"",
        "\"\\u00e9 \xc3\xa9\"", "\"}\"", "\"\x7f\"",
        "{}", "[]", "{ }", "[\n]", "{\"a\" : 1 , \"a\":1}", "[ 1,2 ,3 ]",
        "{\"a\":[{\"b\":\"]}\"}]}", "[\"\\ud800\"]", "[[],[[]]]",
    };

    static const struct {
        const char  *before;
        const char  *after;
    } frames[] = {
        { "{\"id\":\"a\",\"any\":", "}" },
        { "{\"any\":", ",\"id\":\"a\"}" },
        { " {\t\"any\"\r\n:\t ", " \n, \"id\" :\"a\" }\n\n" },
        { "{\"id\":\"a\" ,\n\"\\u0061ny\" : ", "\r\n\t }  " },
    };

    for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        n = strlen(values[i]);

        for (k = 0, bad = 0; k < sizeof(frames) / sizeof(frames[0]); k++) {
            s.data = doc;
            s.len = (size_t) sprintf(doc, "%s%s%s", frames[k].before,
                                     values[i], frames[k].after);

            bad += object(s) != 0 || v[ANY].raw.len != n
                   || memcmp(v[ANY].raw.data, values[i], n) != 0
                   || v[ANY].raw.data != copy + strlen(frames[k].before);
        }

        is_int(bad, 0, "raw: %s", values[i]);
    }
}


static void
test_values(void)
{
    size_t            i, n;
    sm_json_value_t  *elts;

    static const struct {
        const char  *raw;
        unsigned     type;
    } t[] = {
        { "null", SM_JSON_NULL }, { "true", SM_JSON_BOOL },
        { "-12.5e3", SM_JSON_NUMBER }, { "\"a\"", SM_JSON_STRING },
        { "{\"a\":1}", SM_JSON_OBJECT }, { "[1, [2]]", SM_JSON_ARRAY },
        { "false", SM_JSON_BOOL },
    };

    sm_str_t  doc = sm_str("[ null\t,true , -12.5e3,\"a\" ,{\"a\":1}, "
                           "[1, [2]],false\n]");

    is_int(array(doc, &elts, &n), 0, "an array of all types");
    is_int(n, 7, "its elements");

    for (i = 0; i < n; i++) {
        is_mem(elts[i].raw.data, elts[i].raw.len, t[i].raw, strlen(t[i].raw),
               "element %zu", i);
        is_int(elts[i].type, t[i].type, "its type");
    }

    is_int(array(sm_str_c(" [ ] "), &elts, &n), 0, "an empty array");
    is_int(n, 0, "has no elements");

    is_int(array(sm_str_c("{}"), &elts, &n), -1, "an object for an array");
    is_str(err.message, "an array was expected", "the message");

    is_int(array(sm_str_c(""), &elts, &n), -1, "nothing for an array");
    is_str(err.message, "an array was expected, not an empty document",
           "the message");

    is_int(array(sm_str_c("[\"\\udfff\"]"), &elts, &n), -1, "lone surrogate");
    is_str(err.message, "a string at byte 1 has a lone surrogate",
           "the message");
    is_str(err.key, NULL, "no key");

    is_int(object(sm_str_c("{\"id\":\"a\"}")), 0, "an object with one key");
    is_int(v[ANY].type, 0, "what is absent has no type");
    is_int(v[ID].type, SM_JSON_STRING, "what is there has its own");
}


static void
test_array_grows(void)
{
    char             *doc;
    size_t            i, n, bad;
    sm_str_t          s;
    sm_json_value_t  *elts;

    doc = malloc(200000);
    s.data = doc;
    s.len = 0;

    for (i = 0; i < 20000; i++) {
        s.len += (size_t) sprintf(doc + s.len, "%c%zu", i ? ',' : '[', i);
    }

    doc[s.len++] = ']';

    is_int(array(s, &elts, &n), 0, "an array of 20,000 elements");
    is_int(n, 20000, "all of them");

    for (i = 0, bad = 0; i < n; i++) {
        s = elts[i].raw;
        bad += strtoul(s.data, NULL, 10) != i || elts[i].text.len != 0;
    }

    is_int(bad, 0, "in their order");

    free(doc);
}


static void
test_strings(void)
{
    char      doc[256];
    size_t    i;
    sm_str_t  s;

    static const struct {
        const char  *raw;
        sm_str_t     text;
    } t[] = {
        { "\"\"", sm_str("") },
        { "\" a \"", sm_str(" a ") },
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", sm_str("\"\\/\b\f\n\r\t") },
        { "\"\\u0041\\u00e9\\u20aC\"", sm_str("A\xc3\xa9\xe2\x82\xac") },
        { "\"\\u0000\"", sm_str("\0") },
        { "\"a\\u0000b\\u0000\"", sm_str("a\0b\0") },
        { "\"\\ud83d\\ude00\"", sm_str("\xf0\x9f\x98\x80") },
        { "\"\\uD800\\uDC00\"", sm_str("\xf0\x90\x80\x80") },
        { "\"\\udbff\\udfff\"", sm_str("\xf4\x8f\xbf\xbf") },
        { "\"\\ud83d\\ude00\\ud83d\\ude00\"",
          sm_str("\xf0\x9f\x98\x80\xf0\x9f\x98\x80") },
        { "\"\\ud7ff\\ue000\\uffff\"",
          sm_str("\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf") },
        { "\"\\\\ud800\"", sm_str("\\ud800") },
        { "\"\\\\\\\\udc00\"", sm_str("\\\\udc00") },
        { "\"\xf0\x9f\x98\x80\"", sm_str("\xf0\x9f\x98\x80") },
        { "\"\x7f\xc2\x80\"", sm_str("\x7f\xc2\x80") },

        { "\"\\ud800\"", sm_null_str },                 /* high */
        { "\"\\udbffa\"", sm_null_str },
        { "\"\\ud800\\n\"", sm_null_str },
        { "\"\\ud800\\u0041\"", sm_null_str },
        { "\"\\ud800\\ud800\"", sm_null_str },
        { "\"\\ud800\\ud800\\udc00\"", sm_null_str },
        { "\"\\ud83d \\ude00\"", sm_null_str },
        { "\"\\ud83d\\\\ude00\"", sm_null_str },
        { "\"\\udc00\"", sm_null_str },                 /* low */
        { "\"a\\udfffb\"", sm_null_str },
        { "\"\\ude00\\ud83d\"", sm_null_str },          /* reversed */
        { "\"\\ud83d\\ude00\\ude00\"", sm_null_str },
        { "\"\\\\\\ud800\"", sm_null_str },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        s.data = doc;
        s.len = (size_t) sprintf(doc, "{\"id\":%s}", t[i].raw);

        if (t[i].text.data == NULL) {
            is_int(object(s), -1, "refused: %s", t[i].raw);
            is_str(err.message, "a string at byte 6 has a lone surrogate",
                   "the message");
            continue;
        }

        is_int(object(s), 0, "string: %s", t[i].raw);
        is_mem(v[ID].text.data, v[ID].text.len, t[i].text.data, t[i].text.len,
               "decoded");
        is_mem(v[ID].raw.data, v[ID].raw.len, t[i].raw, strlen(t[i].raw),
               "raw");
    }
}


static const char *
printable(char *buf, sm_str_t s)
{
    char    *p;
    size_t   i;

    for (i = 0, p = buf, *p = 0; i < s.len; i++) {
        p += sprintf(p, s.data[i] > 0x20 && s.data[i] < 0x7f ? "%c" : "\\x%02x",
                     (unsigned char) s.data[i]);
    }

    return buf;
}


static void
test_not_json(void)
{
    char              name[64];
    size_t            i, n;
    sm_str_t          s;
    sm_json_value_t  *elts;

    static const char *const  t[] = {
        "[01]", "[-01]", "[1.]", "[.5]", "[-]", "[+1]", "[1e]", "[1e+]",
        "[0x1]", "[Infinity]", "[NaN]", "[nul]", "[nulll]", "[True]", "[tru",
        "[1,]", "[,1]", "[,]", "[1 2]", "[1,,2]", "[}", "[{]", "[{]}",
        "[\"]", "[\"\\\"]", "[\"\\u12\"]", "[\"\\u12g4\"]", "[\"\\U0041\"]",
        "[\"\t\"]", "[\"\x1f\"]", "['a']", "[a]", "[{a:1}]", "[{1:1}]",
        "[{\"a\"}]", "[{\"a\":}]", "[{\"a\":1,}]", "[/**/]", "[1]/**/",
        "[\v1]", "[1\f]", "\f[1]", "[1]\v", "[1,\v2]", "[{\"a\":\f1}]",
        "[\xc2\xa0" "1]", "[1];", "[1],", "]", "[1]]", "[1]\"", "[1]\"a",
        "[1]tru",
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        s = sm_str_c(t[i]);
        is_int(array(s, &elts, &n), -1, "not JSON: %s", printable(name, s));
        ok(strncmp(err.message, "malformed JSON at byte ", 23) == 0
           && strlen(err.message) > 30 && strchr(err.message, '\n') == NULL,
           "one line says so");
    }
}


static void
test_out_str(void)
{
    char             *out_buf, text[300];
    size_t            i, n, size;
    sm_out_t          out;
    sm_str_t          s, doc;
    unsigned          bad;
    sm_json_value_t  *elts;

    static const struct {
        sm_str_t     s;
        const char  *json;
    } t[] = {
        { sm_null_str, "\"\"" },
        { sm_str(""), "\"\"" },
        { sm_str("abc"), "\"abc\"" },
        { sm_str("\"\\"), "\"\\\"\\\\\"" },
        { sm_str("a\"b\\c"), "\"a\\\"b\\\\c\"" },
        { sm_str("\0\n\t\x1f"), "\"\\u0000\\u000a\\u0009\\u001f\"" },
        { sm_str("/\x7f\xc3\xa9"), "\"/\x7f\xc3\xa9\"" },
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        sm_out_init(&out, text, sizeof(text));
        sm_json_out_str(&out, t[i].s);
        is_mem(text, out.last - text, t[i].json, strlen(t[i].json),
               "written: %s", t[i].json);
    }

    /* all ASCII, twice, and what it takes at the worst: back again */

    for (i = 0; i < 256; i++) {
        text[i] = (char) (i & 0x7f);
    }

    s.data = text;

    for (s.len = 0, bad = 0; s.len <= 256; s.len++) {
        size = sm_json_str_size(s.len) + 2;
        out_buf = malloc(size);

        sm_out_init(&out, out_buf, size);
        sm_out_c(&out, "[");
        sm_json_out_str(&out, s);
        sm_out_c(&out, "]");

        doc.data = out.start;
        doc.len = out.last - out.start;

        bad += out.full || array(doc, &elts, &n) != 0 || n != 1
               || !sm_str_eq(elts[0].text, s);

        free(out_buf);
    }

    is_int(bad, 0, "what is written is read back the same");

    memset(text, 1, 200);
    s.len = 200;
    out_buf = malloc(sm_json_str_size(200));
    sm_out_init(&out, out_buf, sm_json_str_size(200));
    sm_json_out_str(&out, s);
    ok(!out.full && out.last == out.end, "the worst case fits exactly");
    free(out_buf);

    sm_out_init(&out, text, sizeof(text));
    sm_json_out_time(&out, 1);
    is_mem(text, out.last - text, "\"1970-01-01T00:00:00.000001Z\"",
           SM_TIME_LEN + 2, "a time is a string");
}


static int
lax(sm_str_t doc)
{
    return sm_json_object_lax(&arena, exact(doc), fields, v, &err);
}


static void
test_lax(void)
{
    size_t  i;

    static const struct {
        sm_str_t     doc;
        const char  *message;
    } t[] = {
        { sm_str(""), "an object was expected, not an empty document" },
        { sm_str("[]"), "an object was expected" },
        { sm_str("{\"x\":1}"), "\"id\" is missing" },
        { sm_str("{\"id\":1,\"x\":1}"), "\"id\" must be a string" },
        { sm_str("{\"x\":1,\"id\":\"a\",\"x\":2,\"id\":\"a\"}"),
          "duplicate key \"id\"" },
        { sm_str("{\"x\":}"), "malformed JSON at byte 6: parse error: "
          "unallowed token at this point in JSON text" },
        { sm_str("{\"id\":\"a\",\"x\":[1,]}"), "malformed JSON at byte 18: "
          "parse error: unallowed token at this point in JSON text" },
        { sm_str("{\"id\":\"a\",\"\xff\":1}"), "invalid UTF-8 at byte 11" },
        { sm_str("{\"id\":\"a\",\"x\":1}}"),
          "malformed JSON at byte 17: parse error: trailing garbage" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(lax(t[i].doc), -1, "lax, refused: %s", t[i].message);
        is_str(err.message, t[i].message, "lax: the message");
        ok(!err.no_memory, "lax: the document's fault");
    }

    is_int(lax(sm_str_c("{\"a\":1, \"id\" : \"\\u0062\", \"\":\"\\ud800\","
                        "\"map\":{\"id\":1}, \"id2\":{\"id\":[{}]},\"b\":null,"
                        "\"any\" : \"\\u0063\",\"b\":true}")),
           0, "lax: keys that are not in the table");

    is_mem(v[ID].text.data, v[ID].text.len, "b", 1, "lax: a string");
    is_mem(v[ID].raw.data, v[ID].raw.len, "\"\\u0062\"", 8, "lax: its bytes");
    is_mem(v[MAP].raw.data, v[MAP].raw.len, "{\"id\":1}", 8, "lax: an object");
    is_mem(v[ANY].text.data, v[ANY].text.len, "c", 1,
           "lax: a string where anything may stand is decoded");
    is_mem(v[ANY].raw.data, v[ANY].raw.len, "\"\\u0063\"", 8,
           "lax: its bytes after what was passed over");
    is_int(v[COUNT].type, 0, "lax: what is not there");

    is_int(lax(sm_str_c("{\"id\":\"\\ud800\"}")), 0, "lax: a lone surrogate");
    is_mem(v[ID].text.data, v[ID].text.len, "?", 1, "lax: in its place");

    is_int(object(sm_str_c("{\"id\":\"a\",\"x\":1}")), -1,
           "not lax: an unknown key");
    is_int(object(sm_str_c("{\"id\":\"a\",\"any\":\"c\"}")), 0,
           "not lax: a string where anything may stand");
    is_int(v[ANY].text.len, 0, "not lax: is not decoded");
}


static int
one(sm_str_t text)
{
    return sm_json_one(&arena, exact(text), &err);
}


static void
test_one(void)
{
    char      deep[200];
    size_t    i;
    sm_str_t  text = { sizeof(deep), deep };

    static const sm_str_t  good[] = {
        sm_str("1"), sm_str(" -1.5e3 "), sm_str("\"\""), sm_str("null"),
        sm_str("true"), sm_str("[]"), sm_str("{\"a\":[{\"a\":1}],\"a\":2}\n")
    };

    static const struct {
        sm_str_t     text;
        const char  *message;
    } bad[] = {
        { sm_str(""), "malformed JSON at byte 0: parse error: premature EOF" },
        { sm_str("{"), "malformed JSON at byte 1: parse error: premature EOF" },
        { sm_str("{x}"), "malformed JSON at byte 2: lexical error: invalid "
          "char in json text." },
        { sm_str("1e"), "malformed JSON at byte 2: lexical error: malformed "
          "number, a digit is required after the exponent." },
        { sm_str("\"a"), "malformed JSON at byte 2: lexical error: invalid "
          "character inside string." },
        { sm_str("1,2"),
          "malformed JSON at byte 2: parse error: trailing garbage" },
        { sm_str("1 2"),
          "malformed JSON at byte 3: parse error: trailing garbage" },
        { sm_str("[] \"a"),
          "malformed JSON at byte 5: parse error: trailing garbage" },
        { sm_str("{}}"),
          "malformed JSON at byte 3: parse error: trailing garbage" },
        { sm_str("\"\xff\""), "invalid UTF-8 at byte 1" }
    };

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        is_int(one(good[i]), 0, "one value: %.*s", (int) good[i].len,
               good[i].data);
    }

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        is_int(one(bad[i].text), -1, "not one value: %s", bad[i].message);
        is_str(err.message, bad[i].message, "not one value: the message");
    }

    memset(deep, '[', sizeof(deep));

    is_int(one(text), -1, "one value: too deep");
    ok(strncmp(err.message, "nested deeper", 13) == 0,
       "one value: the message says so");
}


int
main(void)
{
    needs_no_store();

    test_object_errors();
    test_white_space();
    test_unknown_key_clipped();
    test_depth();
    test_raw();
    test_values();
    test_array_grows();
    test_strings();
    test_not_json();
    test_out_str();
    test_lax();
    test_one();

    free(copy);
    sm_arena_free(&arena);

    return done_testing();
}
