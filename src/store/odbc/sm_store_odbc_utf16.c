
/* Converts between UTF-8 and UTF-16, in which text crosses to SQL Server. */

#include "sm_store_odbc.h"


/* Reads one character of valid UTF-8, or one invalid byte as U+FFFD. */

static uint32_t
sm_odbc_decode(const unsigned char *p, size_t left, size_t *used)
{
    size_t    i, n;
    uint32_t  c, least;

    *used = 1;

    if (*p < 0x80) {
        return *p;
    }

    if (*p >= 0xf0 && *p < 0xf8) {
        n = 3;
        c = *p & 0x07;
        least = 0x10000;

    } else if (*p >= 0xe0 && *p < 0xf0) {
        n = 2;
        c = *p & 0x0f;
        least = 0x800;

    } else if (*p >= 0xc0 && *p < 0xe0) {
        n = 1;
        c = *p & 0x1f;
        least = 0x80;

    } else {
        return 0xfffd;
    }

    if (left <= n) {
        return 0xfffd;
    }

    for (i = 1; i <= n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0xfffd;
        }

        c = c << 6 | (p[i] & 0x3f);
    }

    if (c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        return 0xfffd;
    }

    *used = n + 1;

    return c;
}


SQLWCHAR *
sm_odbc_utf16(sm_arena_t *arena, sm_str_t s, size_t *len)
{
    size_t                i, used;
    uint32_t              c;
    SQLWCHAR             *text, *p;
    const unsigned char  *data;

    text = sm_arena_alloc(arena, (s.len + 1) * sizeof(SQLWCHAR));
    if (text == NULL) {
        return NULL;
    }

    data = (const unsigned char *) s.data;

    for (i = 0, p = text; i < s.len; i += used) {

        c = sm_odbc_decode(data + i, s.len - i, &used);

        if (c >= 0x10000) {
            *p++ = 0xd800 + ((c - 0x10000) >> 10);
            *p++ = 0xdc00 + ((c - 0x10000) & 0x3ff);

        } else {
            *p++ = c;
        }
    }

    *p = 0;
    *len = p - text;

    return text;
}


int
sm_odbc_utf8(sm_arena_t *arena, const SQLWCHAR *text, size_t len, sm_str_t *s)
{
    char     *data, *p;
    size_t    i;
    uint32_t  c;

    data = sm_arena_alloc(arena, 3 * len + 1);
    if (data == NULL) {
        return -1;
    }

    for (i = 0, p = data; i < len; i++) {

        c = text[i];

        if (c >= 0xd800 && c < 0xe000) {

            if (c < 0xdc00 && i + 1 < len
                && text[i + 1] >= 0xdc00 && text[i + 1] < 0xe000)
            {
                c = 0x10000 + ((c - 0xd800) << 10) + (text[++i] - 0xdc00);

            } else {
                c = 0xfffd;
            }
        }

        if (c < 0x80) {
            *p++ = c;

        } else if (c < 0x800) {
            *p++ = 0xc0 | c >> 6;
            *p++ = 0x80 | (c & 0x3f);

        } else if (c < 0x10000) {
            *p++ = 0xe0 | c >> 12;
            *p++ = 0x80 | (c >> 6 & 0x3f);
            *p++ = 0x80 | (c & 0x3f);

        } else {
            *p++ = 0xf0 | c >> 18;
            *p++ = 0x80 | (c >> 12 & 0x3f);
            *p++ = 0x80 | (c >> 6 & 0x3f);
            *p++ = 0x80 | (c & 0x3f);
        }
    }

    *p = '\0';

    s->data = data;
    s->len = p - data;

    return 0;
}
