
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <yajl/yajl_parse.h>

#include "sm_json.h"


#define SM_JSON_FIRST_ELTS  16

/* The parser has seven blocks at a time, and one for an error. */
#define SM_JSON_BLOCKS      16


/*
 * The state of one parse.  The top-level container is at depth 1.  The caller
 * gets the values at that depth; everything below is checked and skipped.
 */

typedef struct {
    sm_arena_t             *arena;
    sm_str_t                doc;
    yajl_handle             yajl;

    unsigned                container;  /* SM_JSON_OBJECT or SM_JSON_ARRAY */
    unsigned                lax;
    unsigned                depth;
    size_t                  added;      /* bytes at the end of doc that its
                                           author does not know */
    size_t                  mark;       /* where the search for the next
                                           value's first byte begins */

    const sm_json_field_t  *fields;
    sm_json_value_t        *values;
    size_t                  n;
    size_t                  allocated;

    sm_json_value_t        *value;      /* the value that is being read */
    unsigned                types;
    sm_json_value_t         other;      /* for keys that are skipped */

    sm_json_error_t        *err;

    void                   *blocks[SM_JSON_BLOCKS];     /* of the parser */
    jmp_buf                 no_memory;
} sm_json_reader_t;


static int sm_json_fail(sm_json_reader_t *rd, const char *key,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));


static int
sm_json_fail(sm_json_reader_t *rd, const char *key, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    (void) vsnprintf(rd->err->message, sizeof(rd->err->message), fmt, args);
    va_end(args);

    rd->err->key = key;
    rd->err->no_memory = 0;

    return 0;
}


static int
sm_json_no_memory(sm_json_reader_t *rd)
{
    (void) sm_json_fail(rd, NULL, "out of memory");

    rd->err->no_memory = 1;

    return 0;
}


static const char *
sm_json_type_name(unsigned types)
{
    switch (types) {
    case SM_JSON_STRING:
        return "a string";
    case SM_JSON_NUMBER:
        return "a number";
    case SM_JSON_OBJECT:
        return "an object";
    case SM_JSON_ARRAY:
        return "an array";
    default:
        return "a value of another type";
    }
}


static sm_json_value_t *
sm_json_push(sm_json_reader_t *rd)
{
    size_t            n;
    sm_json_value_t  *values;

    if (rd->n == rd->allocated) {
        n = rd->allocated ? 2 * rd->allocated : SM_JSON_FIRST_ELTS;

        values = sm_arena_calloc(rd->arena, n, sizeof(sm_json_value_t));
        if (values == NULL) {
            (void) sm_json_no_memory(rd);
            return NULL;
        }

        if (rd->n) {
            memcpy(values, rd->values, rd->n * sizeof(sm_json_value_t));
        }

        rd->values = values;
        rd->allocated = n;
    }

    return &rd->values[rd->n++];
}


static int
sm_json_begin(sm_json_reader_t *rd, unsigned type)
{
    size_t       i;
    const char  *name;

    if (rd->depth == 0) {
        return type == rd->container
               ? 1
               : sm_json_fail(rd, NULL, "%s was expected",
                              sm_json_type_name(rd->container));
    }

    if (rd->depth > 1) {
        return 1;
    }

    if (rd->container == SM_JSON_ARRAY) {
        rd->value = sm_json_push(rd);
        if (rd->value == NULL) {
            return 0;
        }

    } else if (!(type & rd->types)) {
        name = rd->fields[rd->value - rd->values].name;

        return sm_json_fail(rd, name, "\"%s\" must be %s", name,
                            sm_json_type_name(rd->types));
    }

    /* Only white space and a ":" or "," may precede the value. */

    for (i = rd->mark; i < rd->doc.len; i++) {
        if (strchr(" \t\r\n:,", rd->doc.data[i]) == NULL) {
            break;
        }
    }

    rd->value->type = type;
    rd->value->raw.data = rd->doc.data + i;

    return 1;
}


static int
sm_json_end(sm_json_reader_t *rd)
{
    if (rd->depth == 1) {
        rd->mark = yajl_get_bytes_consumed(rd->yajl);
        rd->value->raw.len = rd->doc.data + rd->mark - rd->value->raw.data;
    }

    return 1;
}


static int
sm_json_scalar(sm_json_reader_t *rd, unsigned type)
{
    return sm_json_begin(rd, type) && sm_json_end(rd);
}


static int
sm_json_open(sm_json_reader_t *rd, unsigned type)
{
    if (!sm_json_begin(rd, type)) {
        return 0;
    }

    if (rd->depth == SM_JSON_MAX_DEPTH) {
        return sm_json_fail(rd, NULL, "nested deeper than %d levels",
                            SM_JSON_MAX_DEPTH);
    }

    if (rd->depth++ == 0) {
        rd->mark = yajl_get_bytes_consumed(rd->yajl);
    }

    return 1;
}


static int
sm_json_close(sm_json_reader_t *rd)
{
    if (--rd->depth) {
        return sm_json_end(rd);
    }

    rd->mark = yajl_get_bytes_consumed(rd->yajl);

    return 1;
}


static int
sm_json_on_null(void *ctx)
{
    return sm_json_scalar(ctx, SM_JSON_NULL);
}


static int
sm_json_on_bool(void *ctx, int value)
{
    (void) value;

    return sm_json_scalar(ctx, SM_JSON_BOOL);
}


static int
sm_json_on_number(void *ctx, const char *s, size_t len)
{
    (void) s;
    (void) len;

    return sm_json_scalar(ctx, SM_JSON_NUMBER);
}


/*
 * The parser turns a surrogate without its other half into "?", which would
 * make two different strings one.
 */

static int
sm_json_lone_surrogate(sm_str_t raw)
{
    size_t    i, k;
    unsigned  c, high;

    high = 0;

    for (i = 0; i < raw.len; i++) {

        if (raw.data[i] != '\\' || raw.data[i + 1] != 'u') {
            if (high) {
                return 1;
            }

            i += raw.data[i] == '\\';
            continue;
        }

        for (c = 0, k = i + 2; k < i + 6; k++) {
            c = 16 * c + (raw.data[k] <= '9' ? raw.data[k] - '0'
                                             : (raw.data[k] | 0x20) - 'a' + 10);
        }

        i += 5;

        if (high != (c >= 0xdc00 && c <= 0xdfff)) {
            return 1;
        }

        high = c >= 0xd800 && c <= 0xdbff;
    }

    return 0;
}


static int
sm_json_on_string(void *ctx, const unsigned char *s, size_t len)
{
    sm_str_t           text = { len, (const char *) s };
    sm_json_reader_t  *rd = ctx;

    if (!sm_json_scalar(rd, SM_JSON_STRING)) {
        return 0;
    }

    /* A field that may have any type is not decoded. */

    if (rd->depth > 1
        || (rd->lax ? rd->value == &rd->other : rd->types == SM_JSON_ANY))
    {
        return 1;
    }

    if (!rd->lax
        && memchr(rd->value->raw.data, '\\', rd->value->raw.len)
        && sm_json_lone_surrogate(rd->value->raw))
    {
        return sm_json_fail(rd,
                            rd->fields
                            ? rd->fields[rd->value - rd->values].name : NULL,
                            "a string at byte %zu has a lone surrogate",
                            (size_t) (rd->value->raw.data - rd->doc.data));
    }

    if (sm_arena_strdup(rd->arena, &rd->value->text, text) != 0) {
        return sm_json_no_memory(rd);
    }

    return 1;
}


static int
sm_json_on_key(void *ctx, const unsigned char *s, size_t len)
{
    size_t             i;
    sm_str_t           key = { len, (const char *) s };
    sm_json_reader_t  *rd = ctx;

    if (rd->depth > 1) {
        return 1;
    }

    for (i = 0; rd->fields[i].name; i++) {
        if (sm_str_eq(key, sm_str_c(rd->fields[i].name))) {
            break;
        }
    }

    if (rd->fields[i].name == NULL && rd->lax) {
        rd->value = &rd->other;
        rd->types = SM_JSON_ANY;

        return 1;
    }

    if (rd->fields[i].name == NULL) {

        /* The message must not end in the middle of a character. */

        while (len > SM_JSON_SHOWN || sm_utf8_check(key) < len) {
            key.len = --len;
        }

        memcpy(rd->err->name, s, len);
        rd->err->name[len] = '\0';

        return sm_json_fail(rd, rd->err->name[0] ? rd->err->name : NULL,
                            "unknown key \"%s\"", rd->err->name);
    }

    if (rd->values[i].type) {
        return sm_json_fail(rd, rd->fields[i].name, "duplicate key \"%s\"",
                            rd->fields[i].name);
    }

    rd->value = &rd->values[i];
    rd->types = rd->fields[i].types;
    rd->mark = yajl_get_bytes_consumed(rd->yajl);

    return 1;
}


static int
sm_json_on_map(void *ctx)
{
    return sm_json_open(ctx, SM_JSON_OBJECT);
}


static int
sm_json_on_array(void *ctx)
{
    return sm_json_open(ctx, SM_JSON_ARRAY);
}


static int
sm_json_on_close(void *ctx)
{
    return sm_json_close(ctx);
}


static yajl_callbacks  sm_json_callbacks = {
    sm_json_on_null,
    sm_json_on_bool,
    NULL,                          /* integers and doubles go to on_number */
    NULL,
    sm_json_on_number,
    sm_json_on_string,
    sm_json_on_map,
    sm_json_on_key,
    sm_json_on_close,
    sm_json_on_array,
    sm_json_on_close
};


/*
 * The parser uses what its allocator returns without a check.  So the allocator
 * does not return without memory: it ends the parse, and sm_json_read() frees
 * the blocks that are left.
 */

static void **
sm_json_block(sm_json_reader_t *rd, const void *p)
{
    size_t  i;

    for (i = 0; i < SM_JSON_BLOCKS; i++) {
        if (rd->blocks[i] == p) {
            return &rd->blocks[i];
        }
    }

    return NULL;
}


static void *
sm_json_realloc(void *ctx, void *old, size_t size)
{
    void              *p, **block;
    sm_json_reader_t  *rd = ctx;

    block = sm_json_block(rd, old);
    p = block ? realloc(old, size) : NULL;

    if (p == NULL) {
        longjmp(rd->no_memory, 1);
    }

    *block = p;

    return p;
}


static void *
sm_json_malloc(void *ctx, size_t size)
{
    return sm_json_realloc(ctx, NULL, size);
}


static void
sm_json_free(void *ctx, void *p)
{
    sm_json_reader_t  *rd = ctx;

    if (p) {
        *sm_json_block(rd, p) = NULL;
        free(p);
    }
}


/* The parser's own message ends with a line feed and may quote the input. */

static void
sm_json_syntax_error(sm_json_reader_t *rd, size_t at)
{
    size_t          len;
    unsigned char  *text;

    text = yajl_get_error(rd->yajl, 0, (const unsigned char *) rd->doc.data,
                          rd->doc.len);

    len = text ? strcspn((char *) text, "\n") : 0;

    (void) sm_json_fail(rd, NULL, "malformed JSON at byte %zu: %.*s", at,
                        (int) (len < 100 ? len : 100),
                        text ? (char *) text : "");

    if (text) {
        yajl_free_error(rd->yajl, text);
    }
}


/*
 * Refuses what the parser accepts though JSON forbids it: a vertical tab or a
 * form feed as white space, and an unclosed string after the document.
 */

static int
sm_json_strict(sm_json_reader_t *rd)
{
    size_t       i;
    const char  *p;

    p = memchr(rd->doc.data, '\v', rd->doc.len);

    if (p == NULL) {
        p = memchr(rd->doc.data, '\f', rd->doc.len);
    }

    if (p) {
        return sm_json_fail(rd, NULL, "malformed JSON at byte %zu: "
                            "lexical error: invalid char in json text.",
                            (size_t) (p - rd->doc.data) + 1);
    }

    for (i = rd->mark; i < rd->doc.len; i++) {
        if (strchr(" \t\r\n", rd->doc.data[i]) == NULL) {
            return sm_json_fail(rd, NULL, "malformed JSON at byte %zu: "
                                "parse error: trailing garbage", i + 1);
        }
    }

    return 1;
}


static int
sm_json_parse(sm_json_reader_t *rd)
{
    size_t            at;
    yajl_status       status;
    yajl_alloc_funcs  funcs;

    funcs.malloc = sm_json_malloc;
    funcs.realloc = sm_json_realloc;
    funcs.free = sm_json_free;
    funcs.ctx = rd;

    rd->yajl = yajl_alloc(&sm_json_callbacks, &funcs, rd);

    (void) yajl_config(rd->yajl, yajl_dont_validate_strings, 1);

    status = yajl_parse(rd->yajl, (const unsigned char *) rd->doc.data,
                        rd->doc.len);
    at = yajl_get_bytes_consumed(rd->yajl);

    if (status == yajl_status_ok) {
        at = rd->doc.len;
        status = yajl_complete_parse(rd->yajl);
    }

    if (status == yajl_status_error) {
        sm_json_syntax_error(rd, at > rd->doc.len - rd->added
                                 ? rd->doc.len - rd->added : at);
    }

    yajl_free(rd->yajl);

    return status == yajl_status_ok && sm_json_strict(rd) ? 0 : -1;
}


static int
sm_json_read(sm_json_reader_t *rd)
{
    size_t  i, valid;

    rd->err->code = NULL;
    rd->err->no_memory = 0;

    if (rd->doc.len == 0) {
        (void) sm_json_fail(rd, NULL, "%s was expected, not an empty document",
                            sm_json_type_name(rd->container));
        return -1;
    }

    valid = sm_utf8_check(rd->doc);

    if (valid != rd->doc.len) {
        (void) sm_json_fail(rd, NULL, "invalid UTF-8 at byte %zu", valid);
        return -1;
    }

    if (setjmp(rd->no_memory) == 0) {
        return sm_json_parse(rd);
    }

    for (i = 0; i < SM_JSON_BLOCKS; i++) {
        free(rd->blocks[i]);
    }

    (void) sm_json_no_memory(rd);

    return -1;
}


static int
sm_json_fields(sm_arena_t *arena, sm_str_t doc, unsigned lax,
    const sm_json_field_t *fields, sm_json_value_t *values,
    sm_json_error_t *err)
{
    size_t            i;
    sm_json_reader_t  rd;

    memset(&rd, 0, sizeof(sm_json_reader_t));

    rd.arena = arena;
    rd.doc = doc;
    rd.container = SM_JSON_OBJECT;
    rd.lax = lax;
    rd.fields = fields;
    rd.values = values;
    rd.err = err;

    for (i = 0; fields[i].name; i++) {
        memset(&values[i], 0, sizeof(sm_json_value_t));
    }

    if (sm_json_read(&rd) != 0) {
        return -1;
    }

    for (i = 0; fields[i].name; i++) {
        if (fields[i].required && values[i].type == 0) {
            (void) sm_json_fail(&rd, fields[i].name, "\"%s\" is missing",
                                fields[i].name);
            return -1;
        }
    }

    return 0;
}


int
sm_json_object(sm_arena_t *arena, sm_str_t doc, const sm_json_field_t *fields,
    sm_json_value_t *values, sm_json_error_t *err)
{
    return sm_json_fields(arena, doc, 0, fields, values, err);
}


int
sm_json_object_lax(sm_arena_t *arena, sm_str_t doc,
    const sm_json_field_t *fields, sm_json_value_t *values,
    sm_json_error_t *err)
{
    return sm_json_fields(arena, doc, 1, fields, values, err);
}


int
sm_json_array(sm_arena_t *arena, sm_str_t doc, sm_json_value_t **elts,
    size_t *n, sm_json_error_t *err)
{
    sm_json_reader_t  rd;

    memset(&rd, 0, sizeof(sm_json_reader_t));

    rd.arena = arena;
    rd.doc = doc;
    rd.container = SM_JSON_ARRAY;
    rd.err = err;

    if (sm_json_read(&rd) != 0) {
        return -1;
    }

    *elts = rd.values;
    *n = rd.n;

    return 0;
}


/*
 * The reader begins inside a container, as it were.  A line feed is added,
 * because the parser tells of a number only when it has seen its end.
 */

int
sm_json_one(sm_arena_t *arena, sm_str_t text, sm_json_error_t *err)
{
    char              *p;
    sm_json_reader_t   rd;

    p = sm_arena_alloc(arena, text.len + 1);

    memset(&rd, 0, sizeof(sm_json_reader_t));

    rd.arena = arena;
    rd.doc.data = p;
    rd.doc.len = text.len + 1;
    rd.added = 1;
    rd.depth = 1;
    rd.value = &rd.other;
    rd.types = SM_JSON_ANY;
    rd.err = err;

    if (p == NULL) {
        (void) sm_json_no_memory(&rd);
        return -1;
    }

    if (text.len) {
        memcpy(p, text.data, text.len);
    }

    p[text.len] = '\n';

    return sm_json_read(&rd);
}


int
sm_json_fault(sm_json_error_t *err, const char *key, const char *fault)
{
    err->key = key;
    err->no_memory = 0;

    (void) snprintf(err->message, sizeof(err->message), "\"%s\" %s", key,
                    fault);

    return -1;
}


void
sm_json_out_str(sm_out_t *out, sm_str_t s)
{
    char         buf[8];
    size_t       i, plain;
    const char  *esc;

    sm_out_bytes(out, "\"", 1);

    for (i = 0, plain = 0; i < s.len; i++) {

        switch (s.data[i]) {
        case '"':
            esc = "\\\"";
            break;
        case '\\':
            esc = "\\\\";
            break;
        default:
            if ((unsigned char) s.data[i] >= 0x20) {
                continue;
            }

            (void) snprintf(buf, sizeof(buf), "\\u%04x",
                            (unsigned char) s.data[i]);
            esc = buf;
        }

        sm_out_bytes(out, s.data + plain, i - plain);
        sm_out_c(out, esc);
        plain = i + 1;
    }

    sm_out_bytes(out, s.data + plain, i - plain);
    sm_out_bytes(out, "\"", 1);
}


void
sm_json_out_time(sm_out_t *out, int64_t usec)
{
    sm_out_bytes(out, "\"", 1);
    sm_out_time(out, usec);
    sm_out_bytes(out, "\"", 1);
}
