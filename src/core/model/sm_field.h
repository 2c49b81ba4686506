
/*
 * Entities as tables: a row for each column that a store has of an entity, with
 * its place in the struct and its key in JSON.  The store reads rows by such a
 * table, and finds the columns by their names; answers are written by it, in
 * its order.  So what an entity has is said once.
 */

#ifndef SM_FIELD_H
#define SM_FIELD_H


#include "sm_json.h"


/*
 * The type of a member.  A column that is NULL gives 0, or a text without data.
 */

typedef enum {
    SM_FIELD_TEXT = 0,          /* sm_str_t */
    SM_FIELD_TRACE,             /* sm_str_t: a traceparent; in JSON its id */
    SM_FIELD_LINES,             /* sm_str_t: lines; in JSON an array */
    SM_FIELD_BYTES,             /* sm_str_t */
    SM_FIELD_INT,               /* int64_t */
    SM_FIELD_TIME,              /* int64_t: microseconds since 1970 */
    SM_FIELD_BOOL,              /* unsigned: the column is 0 or not */
    SM_FIELD_NAME,              /* an enum: the column has the name */
    SM_FIELD_TYPES
} sm_field_e;


/*
 * How many lines an array shows.  A line ends with a line feed; what follows
 * the last one was cut off, and is not shown.
 */

#define SM_FIELD_LINES_MAX  10


/*
 * JSON leaves out a member that is 0 or empty.  SM_FIELD_ALWAYS writes it
 * nevertheless, and SM_FIELD_NULL writes null.  With SM_FIELD_EMPTY, a text
 * that has data but is empty counts as set.
 */

#define SM_FIELD_ALWAYS  0x01
#define SM_FIELD_NULL    0x02
#define SM_FIELD_EMPTY   0x04


/* The names of an enum's values, from 0 on. */

typedef struct {
    const sm_str_t    *names;
    unsigned           n;
    unsigned           none;    /* the value of any other text */
} sm_names_t;


typedef struct {
    const char        *column;
    sm_field_e         type;
    size_t             offset;
    const char        *json;    /* the key; NULL: it is not shown */
    unsigned           flags;
    const sm_names_t  *names;   /* of an SM_FIELD_NAME */
} sm_field_t;

/*
 * Rows of a table: a member that JSON shows, one that it does not, and an enum
 * with the names of its values.  A table ends with sm_null_field.
 */

#define sm_field(entity, member, column, type, json, flags)                   \
    { column, SM_FIELD_##type, offsetof(entity, member), json, flags, NULL }

#define sm_field_hidden(entity, member, column, type)                         \
    sm_field(entity, member, column, type, NULL, 0)

#define sm_field_name(entity, member, column, json, flags, names)             \
    { column, SM_FIELD_NAME, offsetof(entity, member), json, flags, names }

#define sm_null_field  { NULL, 0, 0, NULL, 0, NULL }


/* Says whether the member is an sm_str_t. */
static inline int
sm_field_is_text(const sm_field_t *field)
{
    return field->type == SM_FIELD_TEXT || field->type == SM_FIELD_TRACE
           || field->type == SM_FIELD_LINES || field->type == SM_FIELD_BYTES;
}


/* Returns the value of a name. */
static inline unsigned
sm_names_value(const sm_names_t *names, sm_str_t name)
{
    unsigned  i;

    for (i = 0; i < names->n; i++) {
        if (names->names[i].len && sm_str_eq(names->names[i], name)) {
            return i;
        }
    }

    return names->none;
}


/*
 * sm_fields_size() returns the bytes of all texts of an entity. sm_fields_own()
 * copies them into "buf", one after the other, and points the entity to the
 * copies.
 */
size_t sm_fields_size(const sm_field_t *fields, const void *entity);
void sm_fields_own(const sm_field_t *fields, void *entity, char *buf);

/*
 * Returns the name of a value.  "none" may be beyond the list, and has no name.
 */
static inline sm_str_t
sm_names_name(const sm_names_t *names, unsigned value)
{
    static const sm_str_t  nameless = sm_str("");

    return value < names->n ? names->names[value] : nameless;
}


/*
 * Writes the members of an entity that are shown, as "key":value, into an
 * object that was begun.  Keys may precede and follow them.
 */
void sm_out_fields(sm_out_t *out, const sm_field_t *fields,
    const void *entity);

/* Writes the lines of a text as an array. */
void sm_out_lines(sm_out_t *out, sm_str_t text);

/*
 * Writes the members up to a column, and returns the row of that column.  An
 * answer with a key that is not a column writes the rest from there on.
 */
const sm_field_t *sm_out_fields_to(sm_out_t *out, const sm_field_t *fields,
    const void *entity, const char *column);


/*
 * Reads the members of an entity from a document that has the keys of the
 * table, among others.  A key with SM_FIELD_ALWAYS must be there; any other may
 * be null.  A number that is not a non-negative int64_t is read as 0, and what
 * the document does not have is 0 or no data.  The texts are in the arena.
 */
int sm_fields_parse(sm_arena_t *arena, sm_str_t doc, const sm_field_t *fields,
    void *entity, sm_json_error_t *err);


#endif /* SM_FIELD_H */
