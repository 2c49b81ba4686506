
#include "sm_field.h"
#include "sm_json.h"
#include "sm_trace.h"


/* Returns a member that is text; a traceparent is shown as its trace's id. */

static sm_str_t
sm_field_text(const sm_field_t *field, const void *member)
{
    const sm_str_t  *text = member;

    return field->type == SM_FIELD_TRACE ? sm_trace_id(*text) : *text;
}


static int
sm_field_is_text(const sm_field_t *field)
{
    return field->type == SM_FIELD_TEXT || field->type == SM_FIELD_TRACE
           || field->type == SM_FIELD_BYTES;
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
