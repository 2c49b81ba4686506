
#include <errno.h>
#include <stdio.h>

#include "sm_exchange.h"


#define SM_EXCHANGE_WORD  256           /* bytes of a name in an error */
#define SM_EXCHANGE_TIME  32
#define SM_EXCHANGE_SIZE  32


static const struct {
    sm_outcome_e   outcome;
    sm_str_t       reason;
} sm_exchange_rows[] = {
    [SM_EXCHANGE_ANSWERED] = { SM_OUTCOME_ERROR, sm_null_str },
    [SM_EXCHANGE_REFUSED] = { SM_OUTCOME_ERROR, sm_null_str },
    [SM_EXCHANGE_NO_ANSWER] = { SM_OUTCOME_UNKNOWN, sm_str("no_answer") },
    [SM_EXCHANGE_TIMED_OUT] = { SM_OUTCOME_UNKNOWN, sm_str("timed_out") },
    [SM_EXCHANGE_CUT_OFF] = { SM_OUTCOME_UNKNOWN, sm_str("cut_off") },
    [SM_EXCHANGE_SHUTDOWN] = { SM_OUTCOME_UNKNOWN, sm_str("shutdown") },
    [SM_EXCHANGE_UNSENT] = { SM_OUTCOME_NONE, sm_null_str },
    [SM_EXCHANGE_SHORT] = { SM_OUTCOME_NONE, sm_null_str }
};

_Static_assert(sm_nelts(sm_exchange_rows) == SM_EXCHANGE_COUNT,
               "an outcome for each exchange");


/*
 * What an exchange is for each cause: before a byte has left, and after that,
 * as long as no head of an answer was read.  For connect() and socket() the
 * error decides.
 */

static const struct {
    sm_exchange_e  before;
    sm_exchange_e  after;
} sm_exchange_causes[] = {
    [SM_CAUSE_NONE] = { SM_EXCHANGE_UNSENT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_OTHER] = { SM_EXCHANGE_UNSENT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_NO_LIVE] = { SM_EXCHANGE_UNSENT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_NAME] = { SM_EXCHANGE_UNSENT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_NO_RESOLVER] = { SM_EXCHANGE_UNSENT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_CONF] = { SM_EXCHANGE_UNSENT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_POST_ACTION] = { SM_EXCHANGE_UNSENT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_SOCKET] = { SM_EXCHANGE_UNSENT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_CONNECTIONS] = { SM_EXCHANGE_SHORT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_MEMORY] = { SM_EXCHANGE_SHORT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_CONNECT] = { SM_EXCHANGE_UNSENT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_CERTIFICATE] = { SM_EXCHANGE_UNSENT, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_CERTIFICATE_NAME] = { SM_EXCHANGE_UNSENT,
                                    SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_TLS] = { SM_EXCHANGE_REFUSED, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_TLS_CLOSED] = { SM_EXCHANGE_REFUSED, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_TIMED_OUT] = { SM_EXCHANGE_REFUSED, SM_EXCHANGE_TIMED_OUT },
    [SM_CAUSE_CLOSED] = { SM_EXCHANGE_REFUSED, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_IO] = { SM_EXCHANGE_REFUSED, SM_EXCHANGE_NO_ANSWER },
    [SM_CAUSE_HEAD_LARGE] = { SM_EXCHANGE_REFUSED, SM_EXCHANGE_CUT_OFF },
    [SM_CAUSE_NOT_HTTP] = { SM_EXCHANGE_REFUSED, SM_EXCHANGE_NO_ANSWER }
};

_Static_assert(sm_nelts(sm_exchange_causes) == SM_CAUSE_COUNT,
               "a row for each cause");


/* Errors tell whether the gateway's host failed, or this host. */

static const struct {
    int            err;
    sm_exchange_e  what;
} sm_exchange_errors[] = {
    { ECONNREFUSED, SM_EXCHANGE_REFUSED },
    { ECONNRESET, SM_EXCHANGE_REFUSED },
    { ECONNABORTED, SM_EXCHANGE_REFUSED },
    { ETIMEDOUT, SM_EXCHANGE_REFUSED },
    { EPIPE, SM_EXCHANGE_REFUSED },

    /* On a unix socket, nobody listens, or the backlog is full. */
    { ENOENT, SM_EXCHANGE_REFUSED },
    { EAGAIN, SM_EXCHANGE_REFUSED },

    { EMFILE, SM_EXCHANGE_SHORT },
    { ENFILE, SM_EXCHANGE_SHORT },
    { ENOBUFS, SM_EXCHANGE_SHORT },
    { ENOMEM, SM_EXCHANGE_SHORT }
};


sm_exchange_e
sm_exchange_before(const sm_cause_t *cause)
{
    size_t  i;

    if (cause->what == SM_CAUSE_CONNECT || cause->what == SM_CAUSE_SOCKET) {

        for (i = 0; i < sm_nelts(sm_exchange_errors); i++) {
            if (sm_exchange_errors[i].err == cause->err) {
                return sm_exchange_errors[i].what;
            }
        }
    }

    return sm_exchange_causes[cause->what].before;
}


/* Causes that are not here are those of the dispatch location. */

static const struct {
    sm_cause_e   what;
    sm_unsent_e  reason;
} sm_exchange_unsent_reasons[] = {
    { SM_CAUSE_NAME, SM_UNSENT_NAME },
    { SM_CAUSE_NO_RESOLVER, SM_UNSENT_NAME },
    { SM_CAUSE_CONNECT, SM_UNSENT_ROUTE },
    { SM_CAUSE_CERTIFICATE, SM_UNSENT_TLS },
    { SM_CAUSE_CERTIFICATE_NAME, SM_UNSENT_TLS },
    { SM_CAUSE_NO_LIVE, SM_UNSENT_UPSTREAM },
    { SM_CAUSE_SOCKET, SM_UNSENT_HOST },
    { SM_CAUSE_CONNECTIONS, SM_UNSENT_HOST },
    { SM_CAUSE_MEMORY, SM_UNSENT_HOST }
};


static const char  *sm_unsent_names[] = {
    "name", "route", "tls", "upstream", "location", "host"
};

_Static_assert(sm_nelts(sm_unsent_names) == SM_UNSENT_REASONS,
               "a name for each reason");


sm_str_t
sm_unsent_name(sm_unsent_e reason)
{
    return sm_str_c(sm_unsent_names[reason]);
}


/* An exchange that took too long without a peer was waiting for a name. */

sm_unsent_e
sm_exchange_unsent_reason(const sm_exchange_t *x)
{
    size_t  i;

    if (x->aborted) {
        return SM_UNSENT_HOST;
    }

    if (x->late) {
        return SM_UNSENT_NAME;
    }

    for (i = 0; i < sm_nelts(sm_exchange_unsent_reasons); i++) {
        if (sm_exchange_unsent_reasons[i].what == x->cause.what) {
            return sm_exchange_unsent_reasons[i].reason;
        }
    }

    return SM_UNSENT_LOCATION;
}


static sm_exchange_e
sm_exchange_unsent(const sm_exchange_t *x)
{
    if (x->status) {
        return SM_EXCHANGE_REFUSED;     /* it answered before the request */
    }

    if (x->aborted) {
        return SM_EXCHANGE_UNSENT;
    }

    if (x->late) {
        return x->peer.len ? SM_EXCHANGE_REFUSED : SM_EXCHANGE_UNSENT;
    }

    return sm_exchange_before(&x->cause);
}


/*
 * A whole answer is understood, and so is a large one whose status alone
 * decides.  A status below 200 only announces the answer.
 */

static int
sm_exchange_understood(sm_gateway_e type, const sm_exchange_t *x)
{
    if (x->status < 200) {
        return 0;
    }

    return x->whole
           || (x->large && (x->status > 299
                            || sm_gateway(type)->read
                               == SM_GATEWAY_READ_STATUS));
}


sm_exchange_e
sm_exchange(sm_gateway_e type, const sm_exchange_t *x)
{
    if (!x->sent) {
        return sm_exchange_unsent(x);
    }

    if (sm_exchange_understood(type, x)) {
        return SM_EXCHANGE_ANSWERED;
    }

    if (x->late) {
        return SM_EXCHANGE_TIMED_OUT;
    }

    if (x->aborted) {
        return SM_EXCHANGE_SHUTDOWN;
    }

    if (x->cause.what == SM_CAUSE_TIMED_OUT) {
        return SM_EXCHANGE_TIMED_OUT;
    }

    return x->status < 200 ? sm_exchange_causes[x->cause.what].after
                           : SM_EXCHANGE_CUT_OFF;
}


/* Terminates a name for printf(), and cuts it if it is too long. */

static const char *
sm_exchange_word(char *buf, sm_str_t s, const char *none)
{
    if (s.len == 0) {
        return none;
    }

    (void) snprintf(buf, SM_EXCHANGE_WORD, "%.*s", (int) s.len, s.data);

    return buf;
}


static const char *
sm_exchange_time(char *buf, int64_t ms)
{
    if (ms < 1000) {
        (void) snprintf(buf, SM_EXCHANGE_TIME, "%lld ms", (long long) ms);

    } else {
        (void) snprintf(buf, SM_EXCHANGE_TIME, "%g s", ms / 1000.0);
    }

    return buf;
}


/* Writes "1,204 bytes". */

static const char *
sm_exchange_bytes(char *buf, size_t n)
{
    if (n < 1000) {
        (void) snprintf(buf, SM_EXCHANGE_SIZE, "%zu byte%s", n,
                        n == 1 ? "" : "s");

    } else {
        (void) snprintf(buf, SM_EXCHANGE_SIZE, "%zu,%03zu bytes", n / 1000,
                        n % 1000);
    }

    return buf;
}


static int
sm_exchange_refused_text(sm_arena_t *arena, const sm_exchange_t *x,
    sm_str_t *error)
{
    char         p[SM_EXCHANGE_WORD], d[SM_EXCHANGE_WORD];
    char         t[SM_EXCHANGE_TIME];
    const char  *peer, *detail;

    peer = sm_exchange_word(p, x->peer, "the gateway");
    detail = sm_exchange_word(d, x->cause.detail, "no reason was given");

    if (x->status) {
        return sm_answer_error(arena, error,
                               "not sent: %s answered HTTP %u before it was "
                               "sent anything", peer, x->status);
    }

    if (x->late || x->cause.what == SM_CAUSE_TIMED_OUT) {
        return sm_answer_error(arena, error, "no connection to %s within %s",
                               peer, sm_exchange_time(t, x->timeout));
    }

    switch (x->cause.what) {

    case SM_CAUSE_TLS:
        return sm_answer_error(arena, error,
                               "TLS: no handshake with %s: %s", peer, detail);

    case SM_CAUSE_TLS_CLOSED:
        return sm_answer_error(arena, error,
                               "TLS: %s closed the connection during the "
                               "handshake", peer);

    case SM_CAUSE_CLOSED:
    case SM_CAUSE_HEAD_LARGE:
    case SM_CAUSE_NOT_HTTP:
        return sm_answer_error(arena, error,
                               "not sent: closed by %s before it was sent "
                               "anything", peer);

    default:
        break;
    }

    switch (x->cause.err) {

    case ECONNREFUSED:
        return sm_answer_error(arena, error, "connection refused by %s", peer);

    case ECONNRESET:
        return sm_answer_error(arena, error,
                               "connection reset by %s before it was sent "
                               "anything", peer);

    case ETIMEDOUT:
        return sm_answer_error(arena, error, "connection to %s timed out",
                               peer);

    default:
        return sm_answer_error(arena, error, "no connection to %s: %s", peer,
                               detail);
    }
}


static int
sm_exchange_no_answer_text(sm_arena_t *arena, const sm_exchange_t *x,
    sm_str_t *error)
{
    char         p[SM_EXCHANGE_WORD], d[SM_EXCHANGE_WORD];
    const char  *peer;

    peer = sm_exchange_word(p, x->peer, "the gateway");

    if (x->status) {
        return sm_answer_error(arena, error,
                               "HTTP %u of %s, and no answer after it",
                               x->status, peer);
    }

    switch (x->cause.what) {

    case SM_CAUSE_NOT_HTTP:
        return sm_answer_error(arena, error, "the answer of %s is not HTTP",
                               peer);

    case SM_CAUSE_IO:
        if (x->cause.err != ECONNRESET && x->cause.detail.len) {
            return sm_answer_error(arena, error,
                               "connection to %s lost without an answer: %s",
                               peer, sm_exchange_word(d, x->cause.detail, ""));
        }

        return sm_answer_error(arena, error,
                               "connection reset by %s without an answer",
                               peer);

    default:
        return sm_answer_error(arena, error, "closed by %s without an answer",
                               peer);
    }
}


static int
sm_exchange_timed_out_text(sm_arena_t *arena, const sm_exchange_t *x,
    sm_str_t *error)
{
    char         t[SM_EXCHANGE_TIME], b[SM_EXCHANGE_SIZE];
    const char  *time;

    time = sm_exchange_time(t, x->timeout);

    if (x->status >= 200) {
        return sm_answer_error(arena, error,
                               "no more than %s of the answer within %s",
                               sm_exchange_bytes(b, x->body.len), time);
    }

    return sm_answer_error(arena, error,
                           x->taken ? "no answer within %s"
                                    : "the request was not taken within %s",
                           time);
}


static int
sm_exchange_cut_off_text(sm_arena_t *arena, const sm_exchange_t *x,
    sm_str_t *error)
{
    char         b[SM_EXCHANGE_SIZE];
    const char  *how;

    if (x->large) {
        return sm_answer_error(arena, error,
                               "HTTP %u, but the answer is larger than %s",
                               x->status, sm_exchange_bytes(b, SM_ANSWER_MAX));
    }

    if (x->cause.what == SM_CAUSE_HEAD_LARGE) {
        return sm_answer_error(arena, error,
                               "the head of the answer is larger than "
                               "proxy_buffer_size");
    }

    how = x->cause.err == ECONNRESET ? "reset"
          : x->cause.what == SM_CAUSE_NOT_HTTP ? "no longer HTTP" : "closed";

    return sm_answer_error(arena, error, "%s after %s of the answer", how,
                           sm_exchange_bytes(b, x->body.len));
}


/* The detail is "certificate has expired", "self-signed certificate". */

static int
sm_exchange_certificate_text(sm_arena_t *arena, const sm_exchange_t *x,
    sm_str_t *error)
{
    char         n[SM_EXCHANGE_WORD], d[SM_EXCHANGE_WORD];
    const char  *name, *detail;

    static const char  certificate[] = "certificate ";

    name = sm_exchange_word(n, x->name.len ? x->name : x->peer, "");
    detail = sm_exchange_word(d, x->cause.detail, "is refused");

    if (strncmp(detail, certificate, sizeof(certificate) - 1) == 0) {
        return sm_answer_error(arena, error, "TLS: certificate of \"%s\" %s",
                               name, detail + sizeof(certificate) - 1);
    }

    return sm_answer_error(arena, error, "TLS: certificate of \"%s\": %s",
                           name, detail);
}


static int
sm_exchange_unsent_text(sm_arena_t *arena, const sm_exchange_t *x,
    sm_str_t *error)
{
    char         n[SM_EXCHANGE_WORD], p[SM_EXCHANGE_WORD], d[SM_EXCHANGE_WORD];
    char         t[SM_EXCHANGE_TIME];
    const char  *name, *peer, *detail;

    name = sm_exchange_word(n, x->name, "");
    peer = sm_exchange_word(p, x->peer, "the gateway");
    detail = sm_exchange_word(d, x->cause.detail, "no reason was given");

    if (x->aborted) {
        return sm_answer_error(arena, error, "not sent: the worker ended");
    }

    if (x->late) {
        return sm_answer_error(arena, error,
                               "not sent: not connected to the gateway within "
                               "%s", sm_exchange_time(t, x->timeout));
    }

    switch (x->cause.what) {

    case SM_CAUSE_NO_LIVE:
        return sm_answer_error(arena, error,
                               "not sent: no server of upstream \"%s\" is "
                               "available", peer);

    case SM_CAUSE_NAME:
        return sm_answer_error(arena, error,
                               "not sent: the name \"%s\" was not resolved: "
                               "%s", name, detail);

    case SM_CAUSE_NO_RESOLVER:
        return sm_answer_error(arena, error,
                               "not sent: there is no \"resolver\" for the "
                               "name \"%s\"", name);

    case SM_CAUSE_CONF:
        return sm_answer_error(arena, error,
                               "not sent: the dispatch location cannot proxy "
                               "it: %s", detail);

    case SM_CAUSE_POST_ACTION:
        return sm_answer_error(arena, error,
                               "not sent: a location on its way has a "
                               "\"post_action\"");

    case SM_CAUSE_CONNECT:
        return sm_answer_error(arena, error, "not sent: connect() to %s: %s",
                               peer, detail);

    case SM_CAUSE_SOCKET:
        return sm_answer_error(arena, error, "not sent: %s", detail);

    case SM_CAUSE_CERTIFICATE:
        return sm_exchange_certificate_text(arena, x, error);

    case SM_CAUSE_CERTIFICATE_NAME:
        return sm_answer_error(arena, error,
                               "TLS: certificate of %s is not that of \"%s\"",
                               peer, name);

    default:
        break;
    }

    if (x->cause.detail.len) {
        return sm_answer_error(arena, error,
                               "not sent: nginx answered HTTP %u itself: %s",
                               x->own, detail);
    }

    return sm_answer_error(arena, error,
                           "not sent: something in the dispatch location "
                           "answered HTTP %u itself", x->own);
}


static int
sm_exchange_short_text(sm_arena_t *arena, const sm_exchange_t *x,
    sm_str_t *error)
{
    char  d[SM_EXCHANGE_WORD];

    return sm_answer_error(arena, error,
                           "not sent: no connection, or no memory, was left%s"
                           "%s", x->cause.detail.len ? ": " : "",
                           sm_exchange_word(d, x->cause.detail, ""));
}


static int
sm_exchange_no_text(sm_arena_t *arena, const sm_exchange_t *x,
    sm_str_t *error)
{
    (void) arena;
    (void) x;
    (void) error;

    return 0;
}


int
sm_exchange_read(sm_arena_t *arena, sm_gateway_e type, const sm_exchange_t *x,
    sm_outcome_e *outcome, sm_str_t *reason, sm_str_t *error)
{
    sm_exchange_e  what;

    static const sm_str_t  none = sm_null_str;

    static int (*const texts[])(sm_arena_t *arena, const sm_exchange_t *x,
        sm_str_t *error) =
    {
        [SM_EXCHANGE_ANSWERED] = sm_exchange_no_text,
        [SM_EXCHANGE_REFUSED] = sm_exchange_refused_text,
        [SM_EXCHANGE_NO_ANSWER] = sm_exchange_no_answer_text,
        [SM_EXCHANGE_TIMED_OUT] = sm_exchange_timed_out_text,
        [SM_EXCHANGE_CUT_OFF] = sm_exchange_cut_off_text,
        [SM_EXCHANGE_SHUTDOWN] = sm_exchange_no_text,
        [SM_EXCHANGE_UNSENT] = sm_exchange_unsent_text,
        [SM_EXCHANGE_SHORT] = sm_exchange_short_text
    };

    _Static_assert(sm_nelts(texts) == SM_EXCHANGE_COUNT,
                   "a text for each exchange");

    what = sm_exchange(type, x);

    *outcome = sm_exchange_rows[what].outcome;
    *reason = sm_exchange_rows[what].reason;
    *error = none;

    if (what == SM_EXCHANGE_ANSWERED) {
        return sm_answer_read(arena, type, x->status, x->body, outcome,
                              reason, error);
    }

    return texts[what](arena, x, error);
}


int
sm_exchange_keep(sm_arena_t *arena, const sm_exchange_t *x, int64_t *status,
    sm_str_t *text)
{
    static const sm_str_t  none = sm_null_str;

    size_t    max;
    sm_out_t  out;

    *status = x->sent ? x->status : 0;
    *text = none;

    if (*status == 0 || x->body.len == 0) {
        return 0;
    }

    max = x->body.len < SM_ANSWER_KEPT ? x->body.len : SM_ANSWER_KEPT;

    sm_out_init(&out, sm_arena_alloc(arena, sm_clip_size(max)),
                sm_clip_size(max));

    if (out.start == NULL) {
        return -1;
    }

    sm_out_clip(&out, x->body, max);

    if (out.last != out.start) {
        text->data = out.start;
        text->len = out.last - out.start;
    }

    return 0;
}
