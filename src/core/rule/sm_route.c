
#include "sm_route.h"


static const char *const  sm_route_methods[] = {
    "GET", "HEAD", "POST", "PUT", "DELETE"
};

_Static_assert(1 << sm_nelts(sm_route_methods)
               == SM_ROUTE_DELETE << 1, "a name for each method");


int
sm_route_resolved(sm_str_t uri, sm_str_t prefix, sm_str_t *path)
{
    if (uri.len < prefix.len || memcmp(uri.data, prefix.data, prefix.len) != 0)
    {
        return 0;
    }

    path->data = uri.data + prefix.len;
    path->len = uri.len - prefix.len;

    /* A "location /v1" also matches /v1intents. */

    if (path->len && path->data[0] != '/'
        && prefix.len && prefix.data[prefix.len - 1] != '/')
    {
        path->len = 0;
    }

    return 1;
}


int
sm_route_raw(sm_str_t uri, sm_str_t prefix, sm_str_t *path)
{
    size_t       i, n;
    const char  *segment;

    for (i = 0; i < uri.len; i++) {
        if (uri.data[i] == '?' || uri.data[i] == '#') {
            uri.len = i;
        }
    }

    for (i = 1; i <= uri.len; i += n + 1) {

        segment = uri.data + i;

        for (n = 0; i + n < uri.len && segment[n] != '/'; n++) { /* void */ }

        if ((n == 0 && i < uri.len)
            || (n == 1 && segment[0] == '.')
            || (n == 2 && segment[0] == '.' && segment[1] == '.'))
        {
            return 0;
        }
    }

    return sm_route_resolved(uri, prefix, path);
}


static int
sm_route_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }

    c |= 0x20;

    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}


size_t
sm_route_decode(char *dst, sm_str_t src)
{
    int          high, low;
    char        *d;
    const char  *s, *last;

    d = dst;
    last = src.data + src.len;

    for (s = src.data; s < last; s++) {

        if (*s != '%') {
            *d++ = *s;
            continue;
        }

        if (++s == last) {
            break;
        }

        high = sm_route_digit(*s);

        if (high == -1) {
            *d++ = *s;
            continue;
        }

        if (++s == last) {
            break;
        }

        low = sm_route_digit(*s);

        if (low != -1) {
            *d++ = (char) (high << 4 | low);
        }
    }

    return d - dst;
}


/* Returns 0 if a segment is empty, or if no pattern has so many. */

static unsigned
sm_route_split(sm_str_t path, char *buf, sm_str_t *segments)
{
    size_t    len;
    unsigned  n;

    for (n = 0; n == 0 || path.len; n++) {

        if (path.len && path.data[0] == '/') {
            path.data++;
            path.len--;
        }

        for (len = 0; len < path.len && path.data[len] != '/'; len++) {
            /* void */
        }

        if (len == 0 || n == SM_ROUTE_SEGMENTS) {
            return 0;
        }

        segments[n].data = path.data;
        segments[n].len = len;

        if (buf) {
            segments[n].len = sm_route_decode(buf, segments[n]);
            segments[n].data = buf;
            buf += segments[n].len;
        }

        path.data += len;
        path.len -= len;
    }

    return n;
}


static int
sm_route_fits(const char *pattern, const sm_str_t *segments, unsigned n,
    sm_route_match_t *match)
{
    size_t    len;
    unsigned  i;

    match->n = 0;

    for (i = 0; i < n; i++) {

        len = strcspn(pattern, "/");

        if (len == 1 && pattern[0] == '*') {
            match->any[match->n++] = segments[i];

        } else if (len == 0 || len != segments[i].len
                   || memcmp(pattern, segments[i].data, len) != 0)
        {
            return 0;
        }

        pattern += len;
        pattern += *pattern == '/';
    }

    return *pattern == '\0';
}


sm_route_e
sm_route_find(const sm_route_table_t *table, unsigned method, sm_str_t path,
    char *buf, sm_route_match_t *match)
{
    size_t             i;
    unsigned           n;
    sm_str_t           segments[SM_ROUTE_SEGMENTS];
    const sm_route_t  *route;

    match->row = NULL;
    match->methods = 0;
    match->n = 0;

    n = sm_route_split(path, buf, segments);

    for (i = 0; n && i < table->n; i++) {

        route = (const void *) ((const char *) table->rows + i * table->size);

        if (!sm_route_fits(route->pattern, segments, n, match)) {
            continue;
        }

        if (route->methods & method) {
            match->row = route;
            match->methods = route->methods;
            return SM_ROUTE_FOUND;
        }

        match->methods |= route->methods;
    }

    return match->methods ? SM_ROUTE_NOT_ALLOWED : SM_ROUTE_NOT_FOUND;
}


void
sm_route_allow(sm_out_t *out, unsigned methods)
{
    size_t       i;
    const char  *comma;

    comma = "";

    for (i = 0; i < sm_nelts(sm_route_methods); i++) {
        if (methods & 1u << i) {
            sm_out_c(out, comma);
            sm_out_c(out, sm_route_methods[i]);
            comma = ", ";
        }
    }
}
