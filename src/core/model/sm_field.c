
#include "sm_field.h"
#include "sm_trace.h"


/* Returns a member that is text; a traceparent is shown as its trace's id. */

static sm_str_t
sm_field_text(const sm_field_t *field, const void *member)
{
    const sm_str_t  *text = member;

    return field->type == SM_FIELD_TRACE ? sm_trace_id(*text) : *text;
}


size_t
sm_fields_size(const sm_field_t *fields, const void *entity)
{
    size_t             size;
    const sm_str_t    *text;
    const sm_field_t  *field;

    size = 0;

    for (field = fields; field->column; field++) {
        if (sm_field_is_text(field)) {
            text = (const void *) ((const char *) entity + field->offset);
            size += text->len;
        }
    }

    return size;
}


void
sm_fields_own(const sm_field_t *fields, void *entity, char *buf)
{
    sm_str_t          *text;
    const sm_field_t  *field;

    for (field = fields; field->column; field++) {

        if (!sm_field_is_text(field)) {
            continue;
        }

        text = (void *) ((char *) entity + field->offset);

        if (text->len) {
            (void) memcpy(buf, text->data, text->len);
            text->data = buf;
            buf += text->len;
        }
    }
}


/* Returns whether a member is neither 0 nor a text without content. */

static int
sm_field_is_set(const sm_field_t *field, const void *member)
{
    sm_str_t  text;

    switch (field->type) {

    case SM_FIELD_INT:
    case SM_FIELD_TIME:
        return *(const int64_t *) member != 0;

    case SM_FIELD_BOOL:
    case SM_FIELD_NAME:
        return *(const unsigned *) member != 0;

    default:
        text = sm_field_text(field, member);

        return text.len != 0
               || (text.data != NULL && (field->flags & SM_FIELD_EMPTY));
    }
}


void
sm_out_lines(sm_out_t *out, sm_str_t text)
{
    size_t       n;
    sm_str_t     line;
    const char  *end;

    sm_out_c(out, "[");

    line.data = text.data;

    for (n = 0; n < SM_FIELD_LINES_MAX && text.len; n++) {
        end = memchr(line.data, '\n', text.len);

        if (end == NULL) {
            break;
        }

        line.len = end - line.data;

        sm_out_c(out, n ? "," : "");
        sm_json_out_str(out, line);

        line.data = end + 1;
        text.len -= line.len + 1;
    }

    sm_out_c(out, "]");
}


static void
sm_field_out(sm_out_t *out, const sm_field_t *field, const void *member)
{
    switch (field->type) {

    case SM_FIELD_INT:
        sm_out_int(out, *(const int64_t *) member);
        return;

    case SM_FIELD_TIME:
        sm_json_out_time(out, *(const int64_t *) member);
        return;

    case SM_FIELD_BOOL:
        sm_out_c(out, *(const unsigned *) member ? "true" : "false");
        return;

    case SM_FIELD_NAME:
        sm_json_out_str(out, sm_names_name(field->names,
                                           *(const unsigned *) member));
        return;

    case SM_FIELD_LINES:
        sm_out_lines(out, *(const sm_str_t *) member);
        return;

    default:
        sm_json_out_str(out, sm_field_text(field, member));
    }
}


const sm_field_t *
sm_out_fields_to(sm_out_t *out, const sm_field_t *fields, const void *entity,
    const char *column)
{
    int                set;
    const char        *member;
    const sm_field_t  *field;

    for (field = fields; field->column; field++) {

        if (column && strcmp(field->column, column) == 0) {
            break;
        }

        if (field->json == NULL) {
            continue;
        }

        member = (const char *) entity + field->offset;
        set = sm_field_is_set(field, member);

        if (!set && (field->flags & (SM_FIELD_ALWAYS|SM_FIELD_NULL)) == 0) {
            continue;
        }

        sm_out_c(out, sm_out_last(out) == '{' ? "\"" : ",\"");
        sm_out_c(out, field->json);
        sm_out_c(out, "\":");

        if (set || (field->flags & SM_FIELD_ALWAYS)) {
            sm_field_out(out, field, member);

        } else {
            sm_out_c(out, "null");
        }
    }

    return field;
}


void
sm_out_fields(sm_out_t *out, const sm_field_t *fields, const void *entity)
{
    (void) sm_out_fields_to(out, fields, entity, NULL);
}


static unsigned
sm_field_json_types(const sm_field_t *field)
{
    unsigned  types;

    types = field->type == SM_FIELD_INT || field->type == SM_FIELD_TIME
            ? SM_JSON_NUMBER : SM_JSON_STRING;

    return field->flags & SM_FIELD_ALWAYS ? types : types | SM_JSON_NULL;
}


static void
sm_field_take(const sm_field_t *field, const sm_json_value_t *v, void *member)
{
    switch (field->type) {

    case SM_FIELD_INT:
    case SM_FIELD_TIME:
        if (sm_parse_uint(v->raw, INT64_MAX, member) != 0) {
            *(int64_t *) member = 0;
        }

        return;

    case SM_FIELD_NAME:
        *(unsigned *) member = sm_names_value(field->names, v->text);
        return;

    default:
        *(sm_str_t *) member = v->text;
    }
}


int
sm_fields_parse(sm_arena_t *arena, sm_str_t doc, const sm_field_t *fields,
    void *entity, sm_json_error_t *err)
{
    size_t            i, n;
    sm_json_field_t  *keys;
    sm_json_value_t  *v;

    for (n = 0; fields[n].column; n++) { /* void */ }

    keys = sm_arena_calloc(arena, n + 1, sizeof(sm_json_field_t));
    v = sm_arena_calloc(arena, n, sizeof(sm_json_value_t));

    if (keys == NULL || v == NULL) {
        err->no_memory = 1;
        return -1;
    }

    for (i = 0; i < n; i++) {
        keys[i].name = fields[i].json;
        keys[i].types = sm_field_json_types(&fields[i]);
        keys[i].required = fields[i].flags & SM_FIELD_ALWAYS;
    }

    if (sm_json_object_lax(arena, doc, keys, v, err) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        sm_field_take(&fields[i], &v[i], (char *) entity + fields[i].offset);
    }

    return 0;
}
