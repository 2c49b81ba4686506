
/*
 * A client for measurements: POSTs new intents at a constant rate, whether or
 * not earlier ones have been answered.  Prints a line for each:
 *
 *     <id> <monotonic microseconds: was to be sent> <was answered> <status>
 */

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>


#define PACE_CONNECTIONS  256
#define PACE_WAIT         10000000      /* microseconds, for the last ones */


typedef struct {
    long        n;                      /* of its intent, -1: it is free */
    int64_t     due;
    size_t      len;
    char        buf[4096];
} pace_connection_t;


static pace_connection_t  pace_connections[PACE_CONNECTIONS];
static struct pollfd      pace_fds[PACE_CONNECTIONS];
static int                pace_n;
static int                pace_port;
static const char        *pace_prefix;


static int64_t
pace_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


static void
pace_die(const char *what)
{
    perror(what);
    exit(1);
}


static int
pace_connect(void)
{
    int                 fd, one;
    struct sockaddr_in  sin;

    memset(&sin, 0, sizeof(sin));
    sin.sin_family = AF_INET;
    sin.sin_port = htons(pace_port);
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    one = 1;
    fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd == -1
        || connect(fd, (struct sockaddr *) &sin, sizeof(sin)) == -1
        || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == -1)
    {
        pace_die("connect()");
    }

    return fd;
}


/* a free connection, or a new one */

static int
pace_free(void)
{
    int  i;

    for (i = 0; i < pace_n; i++) {
        if (pace_connections[i].n == -1) {
            return i;
        }
    }

    if (pace_n == PACE_CONNECTIONS) {
        fprintf(stderr, "%d are not answered yet\n", pace_n);
        exit(1);
    }

    pace_fds[i].fd = pace_connect();
    pace_fds[i].events = POLLIN;
    pace_n++;

    return i;
}


static void
pace_post(long n, int64_t due)
{
    int                 i, len, blen;
    char                body[256], buf[512];
    pace_connection_t  *c;

    i = pace_free();
    c = &pace_connections[i];

    c->n = n;
    c->due = due;
    c->len = 0;

    blen = snprintf(body, sizeof(body),
                    "{\"intentId\":\"%s-%ld\","
                    "\"submissionTarget\":\"sms.realtime\","
                    "\"payload\":{\"to\":\"+15550100\","
                    "\"message\":\"Your code is 123456\"}}",
                    pace_prefix, n);

    len = snprintf(buf, sizeof(buf),
                   "POST /v1/intents HTTP/1.1\r\n"
                   "Host: localhost\r\n"
                   "Content-Type: application/json\r\n"
                   "Content-Length: %d\r\n"
                   "\r\n"
                   "%s", blen, body);

    if (send(pace_fds[i].fd, buf, len, MSG_NOSIGNAL) != len) {
        pace_die("send()");
    }
}


/* whether an answer is there whole */

static int
pace_answer(int i)
{
    char               *head, *length;
    ssize_t             n;
    pace_connection_t  *c;

    c = &pace_connections[i];

    n = recv(pace_fds[i].fd, c->buf + c->len, sizeof(c->buf) - 1 - c->len, 0);
    if (n <= 0) {
        pace_die("recv()");
    }

    c->len += n;
    c->buf[c->len] = '\0';

    head = strstr(c->buf, "\r\n\r\n");
    length = strcasestr(c->buf, "\r\nContent-Length: ");

    if (head == NULL || length == NULL
        || c->len < (size_t) (head + 4 - c->buf)
                    + atol(length + sizeof("\r\nContent-Length: ") - 1))
    {
        return 0;
    }

    printf("%s-%ld %lld %lld %.3s\n", pace_prefix, c->n, (long long) c->due,
           (long long) pace_now(), c->buf + sizeof("HTTP/1.1 ") - 1);

    c->n = -1;

    return 1;
}


int
main(int argc, char **argv)
{
    int              i;
    long             n, total, out;
    double           rate;
    int64_t          start, now, due;
    struct timespec  ts;

    if (argc != 5) {
        fprintf(stderr, "usage: %s <port> <rate> <seconds> <prefix>\n",
                argv[0]);
        return 2;
    }

    pace_port = atoi(argv[1]);
    rate = atof(argv[2]);
    total = rate * atof(argv[3]);
    pace_prefix = argv[4];

    n = 0;
    out = 0;
    start = pace_now();

    while (n < total || out) {

        now = pace_now();

        for ( ;; ) {
            due = start + n * 1e6 / rate;

            if (n == total || due > now) {
                break;
            }

            pace_post(n++, due);
            out++;
        }

        if (n == total) {
            due = start + total * 1e6 / rate + PACE_WAIT;

            if (now > due) {
                fprintf(stderr, "%ld were not answered\n", out);
                return 1;
            }
        }

        ts.tv_sec = (due - now) / 1000000;
        ts.tv_nsec = (due - now) % 1000000 * 1000;

        if (ppoll(pace_fds, pace_n, &ts, NULL) == -1 && errno != EINTR) {
            pace_die("ppoll()");
        }

        for (i = 0; i < pace_n; i++) {
            if (pace_fds[i].revents) {
                out -= pace_answer(i);
            }
        }
    }

    return 0;
}
