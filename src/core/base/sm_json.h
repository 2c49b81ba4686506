
/*
 * JSON, read by a table of fields and written into sm_out_t.
 *
 * Reading copies only what it must: the "raw" of a value is its slice of the
 * document, byte for byte as it was sent.
 */

#ifndef SM_JSON_H
#define SM_JSON_H


#include "sm_arena.h"
#include "sm_text.h"


#define SM_JSON_MAX_DEPTH  128

#define SM_JSON_NULL       0x01
#define SM_JSON_BOOL       0x02
#define SM_JSON_NUMBER     0x04
#define SM_JSON_STRING     0x08
#define SM_JSON_OBJECT     0x10
#define SM_JSON_ARRAY      0x20
#define SM_JSON_ANY        0x3f


typedef struct {
    unsigned     type;          /* 0 if the document does not have it */
    sm_str_t     raw;
    sm_str_t     text;          /* a decoded string; not set for a field that
                                   may have any type */
} sm_json_value_t;


typedef struct {
    const char  *name;
    unsigned     types;
    unsigned     required;
} sm_json_field_t;


/* The bytes of an unknown key that an error shows, at most. */

#define SM_JSON_SHOWN      64

typedef struct {
    const char  *key;           /* the field at fault, or NULL */
    const char  *code;          /* set by a caller's own check, or NULL */
    unsigned     no_memory;     /* it is not the document's fault */
    char         message[256];
    char         name[SM_JSON_SHOWN + 1];   /* an unknown key */
} sm_json_error_t;


/*
 * The document must be valid UTF-8 and one object with nothing after it; its
 * keys must be in the table, once each, with a value of the right type.
 * values[i] belongs to fields[i]; the table ends with a NULL name.
 */
int sm_json_object(sm_arena_t *arena, sm_str_t doc,
    const sm_json_field_t *fields, sm_json_value_t *values,
    sm_json_error_t *err);

/*
 * Reads documents of gateways like sm_json_object(), but skips keys that are
 * not in the table, decodes a string of a field that may have any type, and
 * accepts a surrogate without its other half: "text" may be invalid UTF-8.
 */
int sm_json_object_lax(sm_arena_t *arena, sm_str_t doc,
    const sm_json_field_t *fields, sm_json_value_t *values,
    sm_json_error_t *err);

/* Reads one array; its elements are allocated in the arena. */
int sm_json_array(sm_arena_t *arena, sm_str_t doc, sm_json_value_t **elts,
    size_t *n, sm_json_error_t *err);

/*
 * Checks that a text is one value of any type.  Bytes in messages are those of
 * the text.
 */
int sm_json_one(sm_arena_t *arena, sm_str_t text, sm_json_error_t *err);

/*
 * Reports that the value of a key is wrong, in words that follow the key.
 * Returns -1.
 */
int sm_json_fault(sm_json_error_t *err, const char *key, const char *fault);

/* The most bytes that sm_json_out_str() may write. */
#define sm_json_str_size(len)  (6 * (len) + 2)

void sm_json_out_str(sm_out_t *out, sm_str_t s);
void sm_json_out_time(sm_out_t *out, int64_t usec);


/* Says whether a value is there, and is true. */
static inline int
sm_json_is_true(const sm_json_value_t *v)
{
    return v->type == SM_JSON_BOOL && sm_str_eq(v->raw, sm_str_c("true"));
}


#endif /* SM_JSON_H */
