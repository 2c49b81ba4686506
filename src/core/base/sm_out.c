
#include <stdio.h>

#include "sm_out.h"
#include "sm_time.h"


void
sm_out_init(sm_out_t *out, void *buf, size_t size)
{
    out->start = buf;
    out->last = buf;
    out->end = out->start + size;
    out->full = 0;
    out->grow = NULL;
    out->data = NULL;
}


void
sm_out_init_grow(sm_out_t *out, sm_out_grow_pt grow, void *data)
{
    sm_out_init(out, NULL, 0);

    out->grow = grow;
    out->data = data;
}


static void *
sm_out_grow_arena(void *data, void *old, size_t len, size_t size)
{
    char  *p;

    p = sm_arena_alloc(data, size);

    if (p && len) {
        memcpy(p, old, len);
    }

    return p;
}


void
sm_out_init_arena(sm_out_t *out, sm_arena_t *arena)
{
    sm_out_init_grow(out, sm_out_grow_arena, arena);
}


/* The size doubles, so that a byte is moved about once. */

static int
sm_out_more(sm_out_t *out, size_t len)
{
    char    *p;
    size_t   used, size;

    if (out->grow == NULL || out->full) {
        return -1;
    }

    used = out->last - out->start;
    size = 2 * (size_t) (out->end - out->start);

    if (size < SM_OUT_FIRST) {
        size = SM_OUT_FIRST;
    }

    if (size < used + len) {
        size = used + len;
    }

    p = out->grow(out->data, out->start, used, size);
    if (p == NULL) {
        return -1;
    }

    out->start = p;
    out->last = p + used;
    out->end = p + size;

    return 0;
}


int
sm_out_room(sm_out_t *out, size_t len)
{
    return (size_t) (out->end - out->last) < len ? sm_out_more(out, len) : 0;
}


void
sm_out_rewind(sm_out_t *out)
{
    out->last = out->start;
}


int
sm_out_done(const sm_out_t *out, sm_str_t *text)
{
    text->data = out->start;
    text->len = out->last - out->start;

    return out->full ? -1 : 0;
}


char
sm_out_last(const sm_out_t *out)
{
    return out->last == out->start ? 0 : out->last[-1];
}


void
sm_out_bytes(sm_out_t *out, const char *data, size_t len)
{
    if ((size_t) (out->end - out->last) < len && sm_out_more(out, len) != 0) {
        out->full = 1;
        return;
    }

    if (len) {
        memcpy(out->last, data, len);
        out->last += len;
    }
}


void
sm_out_str(sm_out_t *out, sm_str_t s)
{
    sm_out_bytes(out, s.data, s.len);
}


void
sm_out_c(sm_out_t *out, const char *s)
{
    sm_out_bytes(out, s, strlen(s));
}


void
sm_out_int(sm_out_t *out, int64_t n)
{
    char      buf[sizeof("-9223372036854775808")], *p;
    uint64_t  left;

    p = buf + sizeof(buf);
    left = n < 0 ? -(uint64_t) n : (uint64_t) n;

    do {
        *--p = '0' + left % 10;
        left /= 10;
    } while (left);

    if (n < 0) {
        *--p = '-';
    }

    sm_out_bytes(out, p, buf + sizeof(buf) - p);
}


void
sm_out_decimal(sm_out_t *out, int64_t n, int64_t unit)
{
    sm_out_int(out, n / unit);

    n %= unit;

    if (n) {
        sm_out_c(out, ".");
    }

    while (n) {
        unit /= 10;
        sm_out_int(out, n / unit);
        n %= unit;
    }
}


/* Writes the last "n" digits of a number, and returns where they end. */

static char *
sm_out_digits(char *p, uint64_t number, size_t n)
{
    size_t  i;

    for (i = n; i; i--) {
        p[i - 1] = '0' + number % 10;
        number /= 10;
    }

    return p + n;
}


/*
 * Writes microseconds since 1970 as RFC 3339 in UTC.  Years that do not have
 * four digits are in no store, and cost more.
 */

void
sm_out_time(sm_out_t *out, int64_t usec)
{
    char       buf[SM_TIME_LEN + 20], *p;
    int64_t    days, left;
    sm_date_t  date;

    days = usec / 86400000000;
    left = usec % 86400000000;

    if (left < 0) {
        left += 86400000000;
        days--;
    }

    sm_time_date(days, &date);

    if (date.year >= 0 && date.year <= 9999) {
        p = sm_out_digits(buf, date.year, 4);

    } else {
        p = buf + snprintf(buf, sizeof(buf), "%04lld", (long long) date.year);
    }

    *p++ = '-';
    p = sm_out_digits(p, date.month, 2);
    *p++ = '-';
    p = sm_out_digits(p, date.day, 2);
    *p++ = 'T';
    p = sm_out_digits(p, left / 3600000000, 2);
    *p++ = ':';
    p = sm_out_digits(p, left / 60000000 % 60, 2);
    *p++ = ':';
    p = sm_out_digits(p, left / 1000000 % 60, 2);
    *p++ = '.';
    p = sm_out_digits(p, left % 1000000, 6);
    *p++ = 'Z';

    sm_out_bytes(out, buf, p - buf);
}
