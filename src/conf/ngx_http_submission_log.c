
/*
 * Log lines are for people and for programs, as "name=value" fields.  What a
 * client, a gateway or a database chose goes through here, so that no value can
 * end its quotes, or the line, and be taken for fields of ours.
 */

#include "ngx_http_submission_conf.h"


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
