
/*
 * Log lines are for people and for programs, and consist of "name=value"
 * fields.  Values that come from a client, a gateway or a database are quoted
 * here, so that no value can end its quotes or its line and forge other fields.
 */

#include "ngx_http_submission_tools.h"

#include "sm_text.h"


ngx_str_t *
ngx_http_submission_field(ngx_http_submission_field_t *field, const char *name,
    sm_str_t value)
{
    sm_out_t  out;

    sm_out_init(&out, field->data, sizeof(field->data));

    if (value.len) {
        sm_out_c(&out, name);
        sm_out_quoted(&out, value);
    }

    field->text.data = field->data;
    field->text.len = out.last - out.start;

    return &field->text;
}
