
#include "sm_cursor.h"


void
sm_cursor_out(sm_out_t *out, int64_t at, sm_str_t id)
{
    char      buf[SM_CURSOR_TIME + SM_ID_MAX * 4];
    sm_out_t  plain;
    sm_str_t  s;

    sm_out_init(&plain, buf, sizeof(buf));

    sm_out_int(&plain, at);
    sm_out_bytes(&plain, " ", 1);
    sm_out_str(&plain, id);

    s.data = plain.start;
    s.len = plain.last - plain.start;

    sm_out_base64url(out, s);

    out->full |= plain.full;
}


int
sm_cursor_parse(sm_str_t cursor, char *buf, int64_t *at, sm_str_t *id)
{
    size_t       len;
    sm_str_t     number;
    const char  *space;

    if (sm_base64url(buf, cursor, &len) != 0) {
        return -1;
    }

    space = len ? memchr(buf, ' ', len) : NULL;

    if (space == NULL) {
        return -1;
    }

    number.data = buf;
    number.len = space - buf;

    id->data = space + 1;
    id->len = len - number.len - 1;

    /* a time beyond what every store can hold is forged */

    return sm_parse_uint(number, SM_TIME_MAX, at) != 0 || sm_id_check(*id)
           ? -1 : 0;
}
