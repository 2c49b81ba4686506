
/*
 * What is recorded of an attempt is what happened (G20): from the facts of an
 * exchange follow outcome, reason and error.  Broken by: a request that may
 * have left this host and is called an error, one that has not and counts;
 * half an answer that is taken for a whole one; a secret of a line of nginx in
 * an error.
 */

#include <errno.h>
#include <stdlib.h>

#include "sm_exchange.h"
#include "tap.h"


#define PEER   "10.0.0.7:443"
#define HOST   "api.psp.example"


static sm_arena_t     arena;
static sm_outcome_e   outcome;
static sm_str_t       reason, error;


static sm_exchange_t
facts(const char *line)
{
    sm_exchange_t  x;

    memset(&x, 0, sizeof(x));

    x.timeout = 5000;
    x.peer = sm_str_c(PEER);
    x.name = sm_str_c(HOST);

    if (line) {
        sm_cause_read(sm_str_c(line), &x.cause);
    }

    return x;
}


static void
expect(sm_gateway_e type, const sm_exchange_t *x, sm_outcome_e o,
    const char *r, const char *e)
{
    const char  *name = e ? e : r ? r : "accepted";

    memset(&reason, 0x55, sizeof(reason));
    memset(&error, 0x55, sizeof(error));
    outcome = SM_OUTCOMES;

    is_int(sm_exchange_read(&arena, type, x, &outcome, &reason, &error), 0,
           "%s", name);
    is_int(outcome, o, "%s: the outcome", name);
    is_mem(reason.data, reason.len, r, r ? strlen(r) : 0, "%s: the reason",
           name);
    is_mem(error.data, error.len, e, e ? strlen(e) : 0, "%s: the error", name);
}


/* each line of nginx, before and after a byte of the request has left */

static void
test_causes(void)
{
    size_t         i;
    sm_exchange_t  x;

    static const struct {
        const char     *line;
        sm_exchange_e   before;
        const char     *unsent;
        const char     *reason;
        const char     *sent;
    } t[] = {
        { "connect() failed (111: Connection refused)", SM_EXCHANGE_REFUSED,
          "connection refused by " PEER, "no_answer",
          "closed by " PEER " without an answer" },
        { "connect() to 10.0.0.7:443 failed (111: Connection refused)",
          SM_EXCHANGE_REFUSED, "connection refused by " PEER, "no_answer",
          "closed by " PEER " without an answer" },
        { "connect() failed (104: Connection reset by peer)",
          SM_EXCHANGE_REFUSED,
          "connection reset by " PEER " before it was sent anything",
          "no_answer", "closed by " PEER " without an answer" },
        { "connect() failed (110: Connection timed out)", SM_EXCHANGE_REFUSED,
          "connection to " PEER " timed out", "no_answer",
          "closed by " PEER " without an answer" },
        { "connect() to unix:/gw failed (2: No such file or directory)",
          SM_EXCHANGE_REFUSED,
          "no connection to " PEER ": No such file or directory", "no_answer",
          "closed by " PEER " without an answer" },

        /* of this host, not of the gateway's */

        { "connect() to 10.0.0.7:443 failed (101: Network is unreachable)",
          SM_EXCHANGE_UNSENT,
          "not sent: connect() to " PEER ": Network is unreachable",
          "no_answer", "closed by " PEER " without an answer" },
        { "connect() failed (113: No route to host)", SM_EXCHANGE_UNSENT,
          "not sent: connect() to " PEER ": No route to host", "no_answer",
          "closed by " PEER " without an answer" },
        { "connect() to x failed (99: Cannot assign requested address)",
          SM_EXCHANGE_UNSENT,
          "not sent: connect() to " PEER ": Cannot assign requested address",
          "no_answer", "closed by " PEER " without an answer" },
        { "connect() to x failed (13: Permission denied)", SM_EXCHANGE_UNSENT,
          "not sent: connect() to " PEER ": Permission denied", "no_answer",
          "closed by " PEER " without an answer" },
        { "bind(10.1.1.1) failed (99: Cannot assign requested address)",
          SM_EXCHANGE_UNSENT, "not sent: Cannot assign requested address",
          "no_answer", "closed by " PEER " without an answer" },
        { "socket() failed (97: Address family not supported by protocol)",
          SM_EXCHANGE_UNSENT,
          "not sent: Address family not supported by protocol", "no_answer",
          "closed by " PEER " without an answer" },
        { "socket() failed (24: Too many open files)", SM_EXCHANGE_SHORT,
          "not sent: no connection, or no memory, was left: Too many open "
          "files", "no_answer", "closed by " PEER " without an answer" },
        { "connect() to x failed (105: No buffer space available)",
          SM_EXCHANGE_SHORT,
          "not sent: no connection, or no memory, was left: No buffer space "
          "available", "no_answer", "closed by " PEER " without an answer" },
        { "512 worker_connections are not enough", SM_EXCHANGE_SHORT,
          "not sent: no connection, or no memory, was left", "no_answer",
          "closed by " PEER " without an answer" },
        { "malloc(16384) failed (12: Cannot allocate memory)",
          SM_EXCHANGE_SHORT,
          "not sent: no connection, or no memory, was left: Cannot allocate "
          "memory", "no_answer", "closed by " PEER " without an answer" },
        { "no live upstreams", SM_EXCHANGE_UNSENT,
          "not sent: no server of upstream \"" PEER "\" is available",
          "no_answer", "closed by " PEER " without an answer" },
        { "api.psp.example could not be resolved (3: Host not found)",
          SM_EXCHANGE_UNSENT,
          "not sent: the name \"" HOST "\" was not resolved: Host not found",
          "no_answer", "closed by " PEER " without an answer" },
        { "api.psp.example could not be resolved (110: Operation timed out)",
          SM_EXCHANGE_UNSENT,
          "not sent: the name \"" HOST "\" was not resolved: Operation timed "
          "out", "no_answer", "closed by " PEER " without an answer" },
        { "no resolver defined to resolve api.psp.example",
          SM_EXCHANGE_UNSENT,
          "not sent: there is no \"resolver\" for the name \"" HOST "\"",
          "no_answer", "closed by " PEER " without an answer" },
        { "upstream SSL certificate verify error: (10:certificate has "
          "expired)", SM_EXCHANGE_UNSENT,
          "TLS: certificate of \"" HOST "\" has expired", "no_answer",
          "closed by " PEER " without an answer" },
        { "upstream SSL certificate verify error: (18:self-signed "
          "certificate)", SM_EXCHANGE_UNSENT,
          "TLS: certificate of \"" HOST "\": self-signed certificate",
          "no_answer", "closed by " PEER " without an answer" },
        { "upstream SSL certificate does not match \"api.psp.example\"",
          SM_EXCHANGE_UNSENT,
          "TLS: certificate of " PEER " is not that of \"" HOST "\"",
          "no_answer", "closed by " PEER " without an answer" },
        { "SSL_do_handshake() failed (SSL: error:0A000410:SSL routines::sslv3 "
          "alert handshake failure:SSL alert number 40)",
          SM_EXCHANGE_REFUSED,
          "TLS: no handshake with " PEER ": sslv3 alert handshake failure",
          "no_answer", "closed by " PEER " without an answer" },
        { "SSL_do_handshake() failed (SSL: error:1408F10B:SSL routines:"
          "ssl3_get_record:wrong version number)", SM_EXCHANGE_REFUSED,
          "TLS: no handshake with " PEER ": wrong version number",
          "no_answer", "closed by " PEER " without an answer" },
        { "peer closed connection in SSL handshake (104: Connection reset by "
          "peer)", SM_EXCHANGE_REFUSED,
          "TLS: " PEER " closed the connection during the handshake",
          "no_answer", "closed by " PEER " without an answer" },
        { "upstream timed out (110: Connection timed out)",
          SM_EXCHANGE_REFUSED, "no connection to " PEER " within 5 s",
          "timed_out", "no answer within 5 s" },
        { "upstream prematurely closed connection", SM_EXCHANGE_REFUSED,
          "not sent: closed by " PEER " before it was sent anything",
          "no_answer", "closed by " PEER " without an answer" },
        { "recv() failed (104: Connection reset by peer)",
          SM_EXCHANGE_REFUSED,
          "connection reset by " PEER " before it was sent anything",
          "no_answer", "connection reset by " PEER " without an answer" },
        { "writev() failed (32: Broken pipe)", SM_EXCHANGE_REFUSED,
          "no connection to " PEER ": Broken pipe", "no_answer",
          "connection to " PEER " lost without an answer: Broken pipe" },
        { "upstream sent no valid HTTP/1.0 header while reading",
          SM_EXCHANGE_REFUSED,
          "not sent: closed by " PEER " before it was sent anything",
          "no_answer", "the answer of " PEER " is not HTTP" },
        { "upstream sent invalid header: \"X-Secret: s3cret\\x00...\"",
          SM_EXCHANGE_REFUSED,
          "not sent: closed by " PEER " before it was sent anything",
          "no_answer", "the answer of " PEER " is not HTTP" },
        { "upstream sent too big header", SM_EXCHANGE_REFUSED,
          "not sent: closed by " PEER " before it was sent anything",
          "cut_off", "the head of the answer is larger than "
                     "proxy_buffer_size" },

        /* what stands between quotation marks may be a secret */

        { "invalid URL prefix in \"s3cret\"", SM_EXCHANGE_UNSENT,
          "not sent: the dispatch location cannot proxy it: invalid URL "
          "prefix", "no_answer", "closed by " PEER " without an answer" },
        { "no host in upstream \"https://u:s3cret@/?key=s3cret\"",
          SM_EXCHANGE_UNSENT,
          "not sent: the dispatch location cannot proxy it: no host",
          "no_answer", "closed by " PEER " without an answer" },
        { "something else \"s3cret\"", SM_EXCHANGE_UNSENT,
          "not sent: nginx answered HTTP 500 itself: something else",
          "no_answer", "closed by " PEER " without an answer" },
        { NULL, SM_EXCHANGE_UNSENT,
          "not sent: something in the dispatch location answered HTTP 500 "
          "itself", "no_answer", "closed by " PEER " without an answer" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        x = facts(t[i].line);
        x.own = 500;

        is_int(sm_exchange(SM_GATEWAY_SMS, &x), t[i].before, "%s",
               t[i].line ? t[i].line : "no line");
        expect(SM_GATEWAY_SMS, &x,
               t[i].before == SM_EXCHANGE_REFUSED ? SM_OUTCOME_ERROR
                                                  : SM_OUTCOME_NONE,
               NULL, t[i].unsent);

        x.sent = 1;
        x.taken = 1;
        expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_UNKNOWN, t[i].reason, t[i].sent);
    }
}


/* the reason by which unsent attempts are counted */

static void
test_unsent(void)
{
    size_t         i;
    sm_exchange_t  x;

    static const struct {
        const char   *line;
        const char   *reason;
    } t[] = {
        { "nowhere.test could not be resolved (3: Host not found)", "name" },
        { "no resolver defined to resolve nowhere.test", "name" },
        { "connect() failed (113: No route to host)", "route" },
        { "connect() to 10.0.0.7:443 failed (101: Network is unreachable)",
          "route" },
        { "upstream SSL certificate verify error: (10:certificate has "
          "expired)", "tls" },
        { "upstream SSL certificate does not match \"x\"", "tls" },
        { "no live upstreams", "upstream" },
        { "invalid URL prefix in \"x\"", "location" },
        { "something else", "location" },
        { NULL, "location" },
        { "bind(10.1.1.1) failed (99: Cannot assign requested address)",
          "host" },
        { "512 worker_connections are not enough", "host" },
        { "malloc(16384) failed (12: Cannot allocate memory)", "host" }
    };

    for (i = 0; i < sm_nelts(t); i++) {
        x = facts(t[i].line);
        is_str(sm_unsent_name(sm_exchange_unsent_reason(&x)).data, t[i].reason,
               "%s: counted as", t[i].line ? t[i].line : "no line");
    }

    x = facts(NULL);
    x.late = 1;
    is_str(sm_unsent_name(sm_exchange_unsent_reason(&x)).data, "name",
           "it waited for a name");

    x.aborted = 1;
    is_str(sm_unsent_name(sm_exchange_unsent_reason(&x)).data, "host",
           "the worker ended");
}


#define ACCEPTED  "{\"status\":\"accepted\"}"

static void
test_answers(void)
{
    size_t         i;
    sm_exchange_t  x;

    static const struct {
        sm_gateway_e   type;
        unsigned       status;
        const char    *flags;       /* w: whole, l: large, t: late, a: abort */
        sm_outcome_e   outcome;
        const char    *reason;
        const char    *error;
    } t[] = {
        { SM_GATEWAY_SMS, 200, "w", SM_OUTCOME_ACCEPTED, NULL, NULL },
        { SM_GATEWAY_HTTP, 200, "w", SM_OUTCOME_ACCEPTED, NULL, NULL },
        { SM_GATEWAY_SMS, 503, "w", SM_OUTCOME_ERROR, NULL, "HTTP 503" },
        { SM_GATEWAY_HTTP, 404, "w", SM_OUTCOME_REJECTED, "http_404", NULL },

        /* it was whole before something else took too long */

        { SM_GATEWAY_SMS, 200, "wt", SM_OUTCOME_ACCEPTED, NULL, NULL },
        { SM_GATEWAY_SMS, 200, "wa", SM_OUTCOME_ACCEPTED, NULL, NULL },

        /* half of one is none, whatever its status */

        { SM_GATEWAY_SMS, 200, "", SM_OUTCOME_UNKNOWN, "cut_off",
          "closed after 21 bytes of the answer" },
        { SM_GATEWAY_HTTP, 200, "", SM_OUTCOME_UNKNOWN, "cut_off",
          "closed after 21 bytes of the answer" },
        { SM_GATEWAY_HTTP, 404, "", SM_OUTCOME_UNKNOWN, "cut_off",
          "closed after 21 bytes of the answer" },
        { SM_GATEWAY_SMS, 503, "", SM_OUTCOME_UNKNOWN, "cut_off",
          "closed after 21 bytes of the answer" },
        { SM_GATEWAY_SMS, 200, "t", SM_OUTCOME_UNKNOWN, "timed_out",
          "no more than 21 bytes of the answer within 5 s" },
        { SM_GATEWAY_SMS, 200, "a", SM_OUTCOME_UNKNOWN, "shutdown", NULL },
        { SM_GATEWAY_SMS, 0, "a", SM_OUTCOME_UNKNOWN, "shutdown", NULL },
        { SM_GATEWAY_SMS, 0, "t", SM_OUTCOME_UNKNOWN, "timed_out",
          "no answer within 5 s" },

        /* what was understood by then */

        { SM_GATEWAY_HTTP, 201, "l", SM_OUTCOME_ACCEPTED, NULL, NULL },
        { SM_GATEWAY_HTTP, 410, "l", SM_OUTCOME_REJECTED, "http_410", NULL },
        { SM_GATEWAY_SMS, 500, "l", SM_OUTCOME_ERROR, NULL, "HTTP 500" },
        { SM_GATEWAY_SMS, 200, "l", SM_OUTCOME_UNKNOWN, "cut_off",
          "HTTP 200, but the answer is larger than 65,536 bytes" },

        /* not an answer yet */

        { SM_GATEWAY_HTTP, 100, "w", SM_OUTCOME_UNKNOWN, "no_answer",
          "HTTP 100 of " PEER ", and no answer after it" },
        { SM_GATEWAY_SMS, 103, "", SM_OUTCOME_UNKNOWN, "no_answer",
          "HTTP 103 of " PEER ", and no answer after it" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        x = facts(NULL);

        x.sent = 1;
        x.taken = 1;
        x.status = t[i].status;
        x.body = sm_str_c(ACCEPTED);
        x.whole = strchr(t[i].flags, 'w') != NULL;
        x.large = strchr(t[i].flags, 'l') != NULL;
        x.late = strchr(t[i].flags, 't') != NULL;
        x.aborted = strchr(t[i].flags, 'a') != NULL;

        expect(t[i].type, &x, t[i].outcome, t[i].reason, t[i].error);
    }
}


static void
test_others(void)
{
    sm_exchange_t  x;

    /* the answer to what was never sent is not one to the payload */

    x = facts(NULL);
    x.status = 200;
    x.whole = 1;
    x.body = sm_str_c(ACCEPTED);
    expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_ERROR, NULL,
           "not sent: " PEER " answered HTTP 200 before it was sent anything");
    expect(SM_GATEWAY_HTTP, &x, SM_OUTCOME_ERROR, NULL,
           "not sent: " PEER " answered HTTP 200 before it was sent anything");

    /* the attempt's own time-out, connected to somebody or not */

    x = facts(NULL);
    x.late = 1;
    x.timeout = 1500;
    expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_ERROR, NULL,
           "no connection to " PEER " within 1.5 s");
    x.peer.len = 0;
    expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_NONE, NULL,
           "not sent: not connected to the gateway within 1.5 s");

    x = facts(NULL);
    x.aborted = 1;
    expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_NONE, NULL,
           "not sent: the worker ended");

    x = facts(NULL);
    x.cause.what = SM_CAUSE_POST_ACTION;
    expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_NONE, NULL,
           "not sent: a location on its way has a \"post_action\"");

    /* a part of the request */

    x = facts("upstream timed out (110: Connection timed out)");
    x.sent = 1;
    x.timeout = 300;
    expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_UNKNOWN, "timed_out",
           "the request was not taken within 300 ms");

    /* nginx's time-out, in the middle of the answer */

    x.status = 200;
    x.body = sm_str_c("x");
    expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_UNKNOWN, "timed_out",
           "no more than 1 byte of the answer within 300 ms");

    x = facts("recv() failed (104: Connection reset by peer)");
    x.sent = 1;
    x.status = 200;
    x.body.len = 1204;
    expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_UNKNOWN, "cut_off",
           "reset after 1,204 bytes of the answer");

    x = facts("upstream sent invalid chunked response");
    x.sent = 1;
    x.status = 200;
    expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_UNKNOWN, "cut_off",
           "no longer HTTP after 0 bytes of the answer");

    x = facts(NULL);
    x.sent = 1;
    x.peer.len = 0;
    expect(SM_GATEWAY_SMS, &x, SM_OUTCOME_UNKNOWN, "no_answer",
           "closed by the gateway without an answer");
}


/* whatever a line is: from memory with nothing after it */

static void
test_lines(void)
{
    char        *copy;
    size_t       i, len;
    sm_str_t     line;
    sm_cause_t   cause;

    static const char  *t[] = {
        "", "(", ")", "connect() ", "connect() failed (", "connect() (1",
        "connect() failed (111", "connect() failed (111:",
        "connect() failed (111: ", "connect() failed (x: y)",
        "connect() failed (99999999999: y)", "\"", "x (1: ) (", "bind(",
        "SSL_do_handshake() failed (SSL: error:1:SSL routines:",
        "SSL_do_handshake() failed (SSL: error:1:SSL routines:f",
        "upstream SSL certificate verify error: (",
        "upstream SSL certificate verify error: (10",
        "upstream SSL certificate verify error: (10:", " in upstream \""
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        len = strlen(t[i]);
        copy = malloc(len);

        if (len) {
            memcpy(copy, t[i], len);
        }

        line.data = copy;
        line.len = len;

        sm_cause_read(line, &cause);

        ok(cause.what > SM_CAUSE_NONE && cause.what < SM_CAUSE_COUNT
           && cause.detail.len <= len, "line \"%s\"", t[i]);
        free(copy);
    }
}


/* what is kept of it, 500 characters, whatever they are */

static void
must_keep(const sm_exchange_t *x, sm_str_t *text)
{
    int64_t  status;

    is_int(sm_exchange_keep(&arena, x, &status, text), 0, "kept");
}


static void
test_kept(void)
{
    char           big[4096], *p;
    size_t         i;
    int64_t        status;
    sm_str_t       text;
    sm_exchange_t  x;

    static const struct {
        unsigned     sent;
        unsigned     status;
        const char  *body;
        int64_t      kept;
        const char  *text;
    } t[] = {
        { 1, 200, "{\"status\":\"accepted\"}", 200,
          "{\"status\":\"accepted\"}" },
        { 1, 503, "", 503, NULL },
        { 1, 503, " \r\n ", 503, NULL },
        { 1, 422, "  a\r\nb\x01\xc2\x85\x7f" "c\xff\xc3 ",
          422, "a  b   c??" },
        { 1, 0, "not HTTP", 0, NULL },
        { 0, 503, "not to what was sent", 0, NULL }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        x = facts(NULL);
        x.sent = t[i].sent;
        x.status = t[i].status;
        x.body = sm_str_c(t[i].body);

        is_int(sm_exchange_keep(&arena, &x, &status, &text), 0, "answer %zu",
               i);
        is_int(status, t[i].kept, "its status");
        is_mem(text.data, text.len, t[i].text,
               t[i].text ? strlen(t[i].text) : 0, "its text");
    }

    /* characters, not bytes, and none of them is cut */

    x = facts(NULL);
    x.sent = 1;
    x.status = 200;
    x.body.data = big;

    memset(big, 'x', sizeof(big));
    x.body.len = 501;
    must_keep(&x, &text);
    is_int(text.len, 500, "500 of one byte");

    for (p = big, i = 0; i < 501; i++) {
        memcpy(p, "\xf0\x9f\x98\x80", 4);
        p += 4;
    }

    x.body.len = p - big;
    must_keep(&x, &text);
    is_int(text.len, 2000, "500 of four bytes");
    is_int(sm_utf8_check(text), 2000, "all whole");

    big[0] = 'x';
    memmove(big + 1, big + 4, 500 * 4);
    x.body.len = 1 + 499 * 4 + 2;
    must_keep(&x, &text);
    is_int(text.len, 1 + 499 * 4, "the last one may be cut by the gateway");
}


int
main(void)
{
    needs_no_store();

    test_causes();
    test_unsent();
    test_answers();
    test_others();
    test_lines();
    test_kept();

    sm_arena_free(&arena);

    return done_testing();
}
