
#include "sm_cursor.h"


void
sm_cursor_out(sm_out_t *out, int64_t at, sm_str_t id)
{
    sm_out_int(out, at);
    sm_out_bytes(out, " ", 1);
    sm_out_str(out, id);
}


int
sm_cursor_parse(sm_str_t cursor, int64_t *at, sm_str_t *id)
{
    sm_str_t     number;
    const char  *space;

    space = cursor.len ? memchr(cursor.data, ' ', cursor.len) : NULL;

    if (space == NULL) {
        return -1;
    }

    number.data = cursor.data;
    number.len = space - cursor.data;

    id->data = space + 1;
    id->len = cursor.len - number.len - 1;

    /* a time beyond what every store can hold is forged */

    return sm_parse_uint(number, SM_TIME_MAX, at) != 0 || sm_id_check(*id)
           ? -1 : 0;
}
