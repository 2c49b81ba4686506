
#include "sm_cause.h"
#include "sm_text.h"


#define SM_CAUSE_DETAIL_MAX  120


/* Where a line has the words that name the cause. */

typedef enum {
    SM_CAUSE_NOTHING = 0,
    SM_CAUSE_ERRNO,             /* "(111: Connection refused)" */
    SM_CAUSE_BEFORE,            /* before the words that match */
    SM_CAUSE_AFTER,             /* after them, up to a ")" or the end */
    SM_CAUSE_ALERT              /* the reason in an error of OpenSSL */
} sm_cause_where_e;

typedef struct {
    const char        *words;
    unsigned           inside;  /* the words may be anywhere in the line */
    sm_cause_e         what;
    sm_cause_where_e   where;
} sm_cause_row_t;


/* The first row that matches decides. */

static const sm_cause_row_t  sm_cause_rows[] = {
    { "no live upstreams", 0, SM_CAUSE_NO_LIVE, SM_CAUSE_NOTHING },
    { " could not be resolved", 1, SM_CAUSE_NAME, SM_CAUSE_ERRNO },
    { "no resolver defined", 0, SM_CAUSE_NO_RESOLVER, SM_CAUSE_NOTHING },
    { " worker_connections are not enough", 1, SM_CAUSE_CONNECTIONS,
      SM_CAUSE_NOTHING },
    { "malloc(", 0, SM_CAUSE_MEMORY, SM_CAUSE_ERRNO },
    { "posix_memalign(", 0, SM_CAUSE_MEMORY, SM_CAUSE_ERRNO },
    { "memalign(", 0, SM_CAUSE_MEMORY, SM_CAUSE_ERRNO },
    { "socket() failed", 0, SM_CAUSE_SOCKET, SM_CAUSE_ERRNO },
    { "bind(", 0, SM_CAUSE_SOCKET, SM_CAUSE_ERRNO },
    { "epoll_ctl(", 0, SM_CAUSE_SOCKET, SM_CAUSE_ERRNO },
    { "connect() ", 0, SM_CAUSE_CONNECT, SM_CAUSE_ERRNO },
    { " connect() failed", 1, SM_CAUSE_CONNECT, SM_CAUSE_ERRNO },
    { "upstream SSL certificate verify error: (", 0, SM_CAUSE_CERTIFICATE,
      SM_CAUSE_AFTER },
    { "upstream SSL certificate does not match", 0, SM_CAUSE_CERTIFICATE_NAME,
      SM_CAUSE_NOTHING },
    { "peer closed connection in SSL handshake", 0, SM_CAUSE_TLS_CLOSED,
      SM_CAUSE_ERRNO },
    { "SSL_do_handshake() failed", 0, SM_CAUSE_TLS, SM_CAUSE_ALERT },
    { "upstream timed out", 0, SM_CAUSE_TIMED_OUT, SM_CAUSE_NOTHING },
    { "upstream prematurely closed connection", 0, SM_CAUSE_CLOSED,
      SM_CAUSE_NOTHING },
    { "upstream sent too big header", 0, SM_CAUSE_HEAD_LARGE,
      SM_CAUSE_NOTHING },
    { "upstream sent ", 0, SM_CAUSE_NOT_HTTP, SM_CAUSE_NOTHING },
    { "recv() failed", 0, SM_CAUSE_IO, SM_CAUSE_ERRNO },
    { "readv() failed", 0, SM_CAUSE_IO, SM_CAUSE_ERRNO },
    { "send() failed", 0, SM_CAUSE_IO, SM_CAUSE_ERRNO },
    { "writev() failed", 0, SM_CAUSE_IO, SM_CAUSE_ERRNO },
    { "sendfile() failed", 0, SM_CAUSE_IO, SM_CAUSE_ERRNO },
    { "SSL_read() failed", 0, SM_CAUSE_IO, SM_CAUSE_ALERT },
    { "SSL_write() failed", 0, SM_CAUSE_IO, SM_CAUSE_ALERT },
    { "invalid URL prefix in ", 0, SM_CAUSE_CONF, SM_CAUSE_BEFORE },
    { " in upstream \"", 1, SM_CAUSE_CONF, SM_CAUSE_BEFORE },
    { "no upstream configuration", 0, SM_CAUSE_CONF, SM_CAUSE_BEFORE },
    { "", 0, SM_CAUSE_OTHER, SM_CAUSE_BEFORE }
};


static sm_str_t
sm_cause_rest(sm_str_t s, const char *from)
{
    sm_str_t  rest;

    rest.data = from;
    rest.len = s.data + s.len - from;

    return rest;
}


static sm_str_t
sm_cause_until(sm_str_t s, const char *stops)
{
    size_t  i;

    for (i = 0; i < s.len && i < SM_CAUSE_DETAIL_MAX; i++) {
        if (strchr(stops, s.data[i]) != NULL) {
            break;
        }
    }

    s.len = i;

    return sm_trim(s);
}


static const char *
sm_cause_find(sm_str_t s, const char *words)
{
    size_t  i, len;

    len = strlen(words);

    for (i = 0; i + len <= s.len; i++) {
        if (memcmp(s.data + i, words, len) == 0) {
            return s.data + i;
        }
    }

    return NULL;
}


static int
sm_cause_is(sm_str_t line, const sm_cause_row_t *row)
{
    size_t  len;

    if (row->inside) {
        return sm_cause_find(line, row->words) != NULL;
    }

    len = strlen(row->words);

    return line.len >= len && memcmp(line.data, row->words, len) == 0;
}


/* Finds the last "(111: Connection refused)" of a line. */

static void
sm_cause_errno(sm_str_t line, sm_cause_t *cause)
{
    int64_t   err;
    sm_str_t  rest, number;

    rest = line;

    while (rest.len && rest.data[rest.len - 1] != '(') {
        rest.len--;
    }

    rest = sm_cause_rest(line, line.data + rest.len);
    number = sm_cause_until(rest, ":)");

    if (number.len == 0 || number.data + number.len == rest.data + rest.len
        || sm_parse_uint(number, 4095, &err) != 0)
    {
        return;
    }

    cause->err = (int) err;
    cause->detail = sm_cause_until(sm_cause_rest(rest, number.data + number.len
                                                       + 1), ")\"");
}


/*
 * Reads "(SSL: error:0A000410:SSL routines::sslv3 alert handshake failure:SSL
 * alert number 40)", or else an error of the system.
 */

static void
sm_cause_alert(sm_str_t line, sm_cause_t *cause)
{
    const char  *p;
    sm_str_t     rest;

    p = sm_cause_find(line, " routines:");

    if (p == NULL) {
        sm_cause_errno(line, cause);
        return;
    }

    rest = sm_cause_rest(line, p + sizeof(" routines:") - 1);
    p = memchr(rest.data, ':', rest.len);

    if (p != NULL) {
        cause->detail = sm_cause_until(sm_cause_rest(rest, p + 1), ":)\"");
    }
}


/* Cuts the line before quoted text, and the "in" or "upstream" before that. */

static sm_str_t
sm_cause_before(sm_str_t line)
{
    size_t  i;

    static const sm_str_t  ends[] = { sm_str(" upstream"), sm_str(" in") };

    line = sm_cause_until(line, "\"");

    for (i = 0; i < sm_nelts(ends); i++) {
        if (line.len >= ends[i].len
            && memcmp(line.data + line.len - ends[i].len, ends[i].data,
                      ends[i].len)
               == 0)
        {
            line.len -= ends[i].len;
        }
    }

    return line;
}


/* Reads "(10:certificate has expired)". */

static void
sm_cause_after(sm_str_t line, const char *words, sm_cause_t *cause)
{
    sm_str_t     rest;
    const char  *p;

    rest = sm_cause_rest(line, line.data + strlen(words));
    p = rest.len ? memchr(rest.data, ':', rest.len) : NULL;

    if (p != NULL) {
        cause->detail = sm_cause_until(sm_cause_rest(rest, p + 1), ")\"");
    }
}


void
sm_cause_read(sm_str_t line, sm_cause_t *cause)
{
    const sm_cause_row_t  *row;

    for (row = sm_cause_rows; !sm_cause_is(line, row); row++) { /* void */ }

    memset(cause, 0, sizeof(sm_cause_t));
    cause->what = row->what;

    switch (row->where) {

    case SM_CAUSE_ERRNO:
        sm_cause_errno(line, cause);
        break;

    case SM_CAUSE_BEFORE:
        cause->detail = sm_cause_before(line);
        break;

    case SM_CAUSE_AFTER:
        sm_cause_after(line, row->words, cause);
        break;

    case SM_CAUSE_ALERT:
        sm_cause_alert(line, cause);
        break;

    default:
        break;
    }
}
