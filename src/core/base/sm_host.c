
#include <strings.h>

#include "sm_host.h"


static int
sm_host_ends(sm_str_t host, const char *end, size_t len)
{
    return host.len > len && memcmp(host.data + host.len - len, end, len) == 0;
}


/* Four numbers up to 255 are the only form in which browsers send IPv4. */

static int
sm_host_is_ipv4(sm_str_t host)
{
    char      c;
    size_t    i;
    unsigned  n, digits, dots;

    n = 0;
    digits = 0;
    dots = 0;

    for (i = 0; i < host.len; i++) {
        c = host.data[i];

        if (c == '.' && digits) {
            n = 0;
            digits = 0;
            dots++;
            continue;
        }

        if (c < '0' || c > '9') {
            return 0;
        }

        n = n * 10 + (c - '0');
        digits++;

        if (n > 255 || digits > 3) {
            return 0;
        }
    }

    return dots == 3 && digits;
}


int
sm_host_is_fixed(sm_str_t host)
{
    return (host.len && host.data[0] == '[')
           || sm_str_eq(host, sm_str_c("localhost"))
           || sm_host_ends(host, ".localhost", sizeof(".localhost") - 1)
           || sm_host_is_ipv4(host);
}


int
sm_host_matches(sm_str_t pattern, sm_str_t host)
{
    size_t       len;
    const char  *p;

    p = pattern.data;
    len = pattern.len;

    if (len == 0 || sm_str_eq(pattern, sm_str_c("_"))) {
        return 0;
    }

    if (p[0] == '*') {
        return len == 1 || sm_host_ends(host, p + 1, len - 1);
    }

    if (p[0] == '.') {
        return sm_host_ends(host, p, len)
               || (host.len == len - 1
                   && memcmp(host.data, p + 1, len - 1) == 0);
    }

    if (p[len - 1] == '*') {
        return host.len > len - 1 && memcmp(host.data, p, len - 1) == 0;
    }

    return sm_str_eq(pattern, host);
}


const char *
sm_host_check(sm_str_t pattern)
{
    char    c;
    size_t  i, stars;

    if (pattern.len == 0) {
        return "is empty";
    }

    stars = 0;

    for (i = 0; i < pattern.len; i++) {
        c = pattern.data[i];

        if (c == ':') {
            return "has a port: names are compared without one";
        }

        if (c == '*') {
            stars++;

        } else if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                     || c == '.' || c == '-' || c == '_'))
        {
            return "is not the name of a host";
        }
    }

    if (stars == 0 || pattern.len == 1) {
        return NULL;
    }

    return stars == 1
           && (memcmp(pattern.data, "*.", 2) == 0
               || memcmp(pattern.data + pattern.len - 2, ".*", 2) == 0)
           ? NULL : "may have \"*.\" at its beginning or \".*\" at its end";
}


/* Cuts the port off the host, and returns it or the scheme's default. */

static sm_str_t
sm_host_port(sm_str_t *host, const char *scheme)
{
    size_t    i;
    sm_str_t  port;

    for (i = host->len; i > 0; i--) {

        if (host->data[i - 1] == ':') {
            port.data = host->data + i;
            port.len = host->len - i;

            host->len = i - 1;

            return port;
        }

        if (host->data[i - 1] < '0' || host->data[i - 1] > '9') {
            break;
        }
    }

    return sm_str_c(scheme);
}


int
sm_host_is_origin(sm_str_t host, sm_str_t origin)
{
    size_t       scheme;
    sm_str_t     host_port, origin_port;
    const char  *port;

    if (origin.len > 8 && memcmp(origin.data, "https://", 8) == 0) {
        scheme = 8;
        port = "443";

    } else if (origin.len > 7 && memcmp(origin.data, "http://", 7) == 0) {
        scheme = 7;
        port = "80";

    } else {
        return 0;
    }

    origin.data += scheme;
    origin.len -= scheme;

    origin_port = sm_host_port(&origin, port);
    host_port = sm_host_port(&host, port);

    return sm_str_eq(origin_port, host_port)
           && host.len && origin.len == host.len
           && strncasecmp(origin.data, host.data, host.len) == 0;
}
