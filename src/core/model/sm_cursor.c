
#include "sm_cursor.h"


#define SM_CURSOR_TIME  (sizeof("c 9223372036854775807 ") - 1)


void
sm_cursor_out(sm_out_t *out, int64_t at, sm_str_t id)
{
    sm_cursor_kind_out(out, 0, at, id);
}


void
sm_cursor_kind_out(sm_out_t *out, char kind, int64_t at, sm_str_t id)
{
    char      buf[SM_CURSOR_TIME + SM_ID_MAX * 4];
    sm_out_t  plain;
    sm_str_t  s;

    sm_out_init(&plain, buf, sizeof(buf));

    if (kind) {
        sm_out_bytes(&plain, &kind, 1);
        sm_out_bytes(&plain, " ", 1);
    }

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
    char  kind;

    return sm_cursor_kind_parse(cursor, buf, &kind, at, id) != 0 || kind
           ? -1 : 0;
}


int
sm_cursor_kind_parse(sm_str_t cursor, char *buf, char *kind, int64_t *at,
    sm_str_t *id)
{
    size_t       len;
    sm_str_t     number;
    const char  *space;

    if (sm_base64url(buf, cursor, &len) != 0) {
        return -1;
    }

    *kind = 0;

    if (len >= 2 && buf[1] == ' '
        && ((buf[0] >= 'a' && buf[0] <= 'z')
            || (buf[0] >= 'A' && buf[0] <= 'Z')))
    {
        *kind = buf[0];
        buf += 2;
        len -= 2;
    }

    space = len ? memchr(buf, ' ', len) : NULL;

    if (space == NULL) {
        return -1;
    }

    number.data = buf;
    number.len = space - buf;

    id->data = space + 1;
    id->len = len - number.len - 1;

    /* A cursor with a time that no store can hold is forged. */

    return sm_parse_uint(number, SM_TIME_MAX, at) != 0 || sm_id_check(*id)
           ? -1 : 0;
}
