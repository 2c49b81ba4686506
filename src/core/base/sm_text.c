
#include "sm_text.h"


static size_t
sm_utf8_sequence(const unsigned char *p, const unsigned char *end)
{
    size_t         n, i;
    unsigned char  low, high;

    low = 0x80;
    high = 0xbf;

    if (*p < 0x80) {
        return 1;

    } else if (*p >= 0xc2 && *p <= 0xdf) {
        n = 2;

    } else if (*p >= 0xe0 && *p <= 0xef) {
        n = 3;

        if (*p == 0xe0) {
            low = 0xa0;             /* overlong */

        } else if (*p == 0xed) {
            high = 0x9f;            /* surrogates */
        }

    } else if (*p >= 0xf0 && *p <= 0xf4) {
        n = 4;

        if (*p == 0xf0) {
            low = 0x90;             /* overlong */

        } else if (*p == 0xf4) {
            high = 0x8f;            /* beyond U+10FFFF */
        }

    } else {
        return 0;
    }

    if ((size_t) (end - p) < n || p[1] < low || p[1] > high) {
        return 0;
    }

    for (i = 2; i < n; i++) {
        if (p[i] < 0x80 || p[i] > 0xbf) {
            return 0;
        }
    }

    return n;
}


size_t
sm_utf8_check(sm_str_t s)
{
    size_t                n;
    uint64_t              word;
    const unsigned char  *p, *end;

    p = (const unsigned char *) s.data;
    end = p + s.len;

    while (p < end) {

        while (end - p >= 8) {
            memcpy(&word, p, 8);

            if (word & 0x8080808080808080) {
                break;
            }

            p += 8;
        }

        if (p == end) {
            break;
        }

        n = sm_utf8_sequence(p, end);
        if (n == 0) {
            break;
        }

        p += n;
    }

    return p - (const unsigned char *) s.data;
}


/* Control characters are C0, DEL, and C1, which has two bytes in UTF-8. */

static int
sm_utf8_is_control(const unsigned char *p, size_t n)
{
    return *p < ' ' || *p == 0x7f || (n == 2 && *p == 0xc2 && p[1] < 0xa0);
}


/* A character beyond U+FFFF counts "wide" times. */

static void
sm_out_cleaned(sm_out_t *out, sm_str_t s, size_t max, size_t wide)
{
    int                   space;
    size_t                n, units, first, last;
    const unsigned char  *p, *end;

    p = (const unsigned char *) s.data;
    end = p + s.len;

    /* The text ends after its last character that is not a space. */

    first = out->last - out->start;
    last = first;

    for ( /* void */ ; p < end; p += n ? n : 1) {

        n = sm_utf8_sequence(p, end);
        units = n < 4 ? 1 : wide;
        space = *p == ' ' || sm_utf8_is_control(p, n);

        if (space && last == first) {
            continue;
        }

        if (units > max) {
            break;
        }

        max -= units;

        if (space) {
            sm_out_bytes(out, " ", 1);
            continue;
        }

        if (n) {
            sm_out_bytes(out, (const char *) p, n);

        } else {
            sm_out_bytes(out, "?", 1);
        }

        last = out->last - out->start;
    }

    out->last = out->start + last;
}


void
sm_out_clean(sm_out_t *out, sm_str_t s, size_t max)
{
    sm_out_cleaned(out, s, max, 2);
}


void
sm_out_clip(sm_out_t *out, sm_str_t s, size_t max)
{
    sm_out_cleaned(out, s, max, 1);
}


void
sm_out_quoted(sm_out_t *out, sm_str_t s)
{
    static const char  hex[] = "0123456789abcdef";

    char                  piece[8];
    size_t                i, n, len;
    const unsigned char  *p, *end;

    p = (const unsigned char *) s.data;
    end = p + s.len;

    sm_out_bytes(out, "\"", 1);

    for ( /* void */ ; p < end; p += n) {

        n = sm_utf8_sequence(p, end);
        len = 0;

        if (n == 0 || sm_utf8_is_control(p, n)) {
            n = n ? n : 1;

            for (i = 0; i < n; i++) {
                piece[len++] = '\\';
                piece[len++] = 'x';
                piece[len++] = hex[p[i] >> 4];
                piece[len++] = hex[p[i] & 0xf];
            }

        } else {

            if (*p == '"' || *p == '\\') {
                piece[len++] = '\\';
            }

            memcpy(piece + len, p, n);
            len += n;
        }

        if (sm_out_room(out, len + 1) != 0) {
            break;
        }

        sm_out_bytes(out, piece, len);
    }

    sm_out_bytes(out, "\"", 1);
}


void
sm_out_visible(sm_out_t *out, sm_str_t s)
{
    char           hex[3];
    size_t         i;
    unsigned char  c;

    static const char  digits[] = "0123456789ABCDEF";

    for (i = 0; i < s.len; i++) {
        c = (unsigned char) s.data[i];

        if (c > ' ' && c < 0x7f && c != '%') {
            sm_out_bytes(out, s.data + i, 1);
            continue;
        }

        hex[0] = '%';
        hex[1] = digits[c >> 4];
        hex[2] = digits[c & 15];

        sm_out_bytes(out, hex, 3);
    }
}


/* Counts the characters of valid UTF-8. */

size_t
sm_utf8_length(sm_str_t s)
{
    size_t  i, n;

    for (i = 0, n = 0; i < s.len; i++) {
        if ((s.data[i] & 0xc0) != 0x80) {
            n++;
        }
    }

    return n;
}


/* Expects valid UTF-8. */

int
sm_utf8_has_control(sm_str_t s)
{
    size_t         i;
    unsigned char  c;

    for (i = 0; i < s.len; i++) {
        c = s.data[i];

        if (c < 0x20 || c == 0x7f) {
            return 1;
        }

        if (c == 0xc2 && i + 1 < s.len && (unsigned char) s.data[i + 1] < 0xa0)
        {
            return 1;
        }
    }

    return 0;
}


sm_str_t
sm_trim(sm_str_t s)
{
    while (s.len && s.data[0] == ' ') {
        s.data++;
        s.len--;
    }

    while (s.len && s.data[s.len - 1] == ' ') {
        s.len--;
    }

    return s;
}


int
sm_next_word(sm_str_t *rest, sm_str_t *word)
{
    *rest = sm_trim(*rest);

    word->data = rest->data;
    word->len = 0;

    while (word->len < rest->len && word->data[word->len] != ' ') {
        word->len++;
    }

    rest->data += word->len;
    rest->len -= word->len;

    return word->len != 0;
}


/* Accepts decimal digits only, and a value up to max. */

int
sm_parse_uint(sm_str_t s, int64_t max, int64_t *n)
{
    size_t   i;
    int64_t  v, digit;

    if (s.len == 0) {
        return -1;
    }

    for (i = 0, v = 0; i < s.len; i++) {
        if (s.data[i] < '0' || s.data[i] > '9') {
            return -1;
        }

        digit = s.data[i] - '0';

        if (digit > max || v > (max - digit) / 10) {
            return -1;
        }

        v = v * 10 + digit;
    }

    *n = v;

    return 0;
}


static const char  sm_base64url_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";


void
sm_out_base64url(sm_out_t *out, sm_str_t s)
{
    size_t    i, n;
    char      digits[4];
    uint32_t  bits;

    for (i = 0; i < s.len; i += 3) {

        bits = (uint32_t) (unsigned char) s.data[i] << 16;
        n = 2;

        if (i + 1 < s.len) {
            bits |= (uint32_t) (unsigned char) s.data[i + 1] << 8;
            n = 3;
        }

        if (i + 2 < s.len) {
            bits |= (unsigned char) s.data[i + 2];
            n = 4;
        }

        digits[0] = sm_base64url_digits[bits >> 18];
        digits[1] = sm_base64url_digits[bits >> 12 & 0x3f];
        digits[2] = sm_base64url_digits[bits >> 6 & 0x3f];
        digits[3] = sm_base64url_digits[bits & 0x3f];

        sm_out_bytes(out, digits, n);
    }
}


int
sm_base64url(char *dst, sm_str_t s, size_t *len)
{
    size_t       i;
    char        *d;
    uint32_t     bits;
    const char  *digit;

    d = dst;
    bits = 0;

    for (i = 0; i < s.len && s.data[i] != '='; i++) {

        digit = memchr(sm_base64url_digits, s.data[i],
                       sizeof(sm_base64url_digits) - 1);
        if (digit == NULL) {
            return -1;
        }

        bits = bits << 6 | (uint32_t) (digit - sm_base64url_digits);

        /* Of each four digits, all but the first complete a byte. */

        if (i % 4) {
            *d++ = (char) (bits >> (6 - 2 * (i % 4)));
        }
    }

    *len = d - dst;

    return i % 4 == 1 ? -1 : 0;
}


int
sm_is_dots(sm_str_t s)
{
    return (s.len == 1 || s.len == 2) && s.data[0] == '.'
           && s.data[s.len - 1] == '.';
}
