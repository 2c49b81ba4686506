
/*
 * A gateway for measurements: takes any POST, and answers it as accepted after
 * so many milliseconds.  Each request is a line in the log, when it has come
 * whole:
 *
 *     <monotonic microseconds> <X-Submission-Epoch> <Idempotency-Key>
 *
 * Ends on SIGTERM.
 */

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>


#define GATEWAY_CONNECTIONS  8192
#define GATEWAY_BUFFER       8192
#define GATEWAY_EVENTS       256
#define GATEWAY_FLUSH        10         /* milliseconds */


typedef struct {
    size_t      len;
    char        buf[GATEWAY_BUFFER];
} gateway_connection_t;

typedef struct {
    int64_t     due;
    int         fd;
} gateway_answer_t;


static const char  gateway_answer[] =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: 21\r\n"
    "\r\n"
    "{\"status\":\"accepted\"}";

static gateway_connection_t   *gateway_connections[GATEWAY_CONNECTIONS];

/* the delay is the same for all: first come, first answered */
static gateway_answer_t        gateway_answers[GATEWAY_CONNECTIONS];
static uint64_t                gateway_first, gateway_last;

static int64_t                 gateway_delay;
static int                     gateway_timer;
static FILE                   *gateway_log;
static volatile sig_atomic_t   gateway_quit;


static int64_t
gateway_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


static void
gateway_signal(int signo)
{
    (void) signo;

    gateway_quit = 1;
}


static void
gateway_die(const char *what)
{
    perror(what);
    exit(1);
}


static void
gateway_close(int fd)
{
    uint64_t  i;

    /* the number may be another's soon */

    for (i = gateway_first; i != gateway_last; i++) {
        if (gateway_answers[i % GATEWAY_CONNECTIONS].fd == fd) {
            gateway_answers[i % GATEWAY_CONNECTIONS].fd = -1;
        }
    }

    free(gateway_connections[fd]);
    gateway_connections[fd] = NULL;
    (void) close(fd);
}


static void
gateway_send(int fd)
{
    if (fd != -1
        && send(fd, gateway_answer, sizeof(gateway_answer) - 1, MSG_NOSIGNAL)
           != sizeof(gateway_answer) - 1)
    {
        gateway_close(fd);
    }
}


static void
gateway_arm(void)
{
    int64_t            due;
    struct itimerspec  its;

    memset(&its, 0, sizeof(its));

    due = gateway_answers[gateway_first % GATEWAY_CONNECTIONS].due;

    its.it_value.tv_sec = due / 1000000;
    its.it_value.tv_nsec = due % 1000000 * 1000;

    (void) timerfd_settime(gateway_timer, TFD_TIMER_ABSTIME, &its, NULL);
}


static void
gateway_due(void)
{
    int64_t            now;
    uint64_t           n;
    gateway_answer_t  *answer;

    if (read(gateway_timer, &n, sizeof(n)) == -1 && errno != EAGAIN) {
        gateway_die("read() of a timer");
    }

    now = gateway_now();

    while (gateway_first != gateway_last) {
        answer = &gateway_answers[gateway_first % GATEWAY_CONNECTIONS];

        if (answer->due > now) {
            gateway_arm();
            return;
        }

        gateway_first++;
        gateway_send(answer->fd);
    }
}


/* the value of a header, "-" if there is none */

static const char *
gateway_header(char *head, const char *name, int *len)
{
    char  *p;

    p = strcasestr(head, name);

    if (p == NULL) {
        *len = 1;
        return "-";
    }

    p += strlen(name);
    *len = strcspn(p, "\r");

    return p;
}


/* whether there was a whole one */

static int
gateway_request(int fd, gateway_connection_t *c)
{
    int                elen, ilen, llen;
    char              *end;
    size_t             size;
    int64_t            now;
    const char        *epoch, *id, *length;
    gateway_answer_t  *answer;

    c->buf[c->len] = '\0';

    end = strstr(c->buf, "\r\n\r\n");
    if (end == NULL) {
        return 0;
    }

    end[2] = '\0';

    length = gateway_header(c->buf, "\r\nContent-Length: ", &llen);
    size = end + 4 - c->buf + (*length == '-' ? 0 : atol(length));

    if (c->len < size) {
        end[2] = '\r';
        return 0;
    }

    now = gateway_now();

    if (gateway_log) {
        epoch = gateway_header(c->buf, "\r\nX-Submission-Epoch: ", &elen);
        id = gateway_header(c->buf, "\r\nIdempotency-Key: ", &ilen);

        fprintf(gateway_log, "%lld %.*s %.*s\n", (long long) now, elen, epoch,
                ilen, id);
    }

    c->len -= size;
    memmove(c->buf, c->buf + size, c->len);

    if (gateway_delay == 0) {
        gateway_send(fd);
        return gateway_connections[fd] != NULL;
    }

    answer = &gateway_answers[gateway_last++ % GATEWAY_CONNECTIONS];
    answer->due = now + gateway_delay;
    answer->fd = fd;

    if (gateway_last - gateway_first == 1) {
        gateway_arm();
    }

    return 1;
}


static void
gateway_read(int fd)
{
    ssize_t                n;
    gateway_connection_t  *c;

    c = gateway_connections[fd];

    n = recv(fd, c->buf + c->len, GATEWAY_BUFFER - 1 - c->len, 0);

    if (n == -1 && errno == EAGAIN) {
        return;
    }

    if (n <= 0) {
        gateway_close(fd);
        return;
    }

    c->len += n;

    while (gateway_request(fd, c)) { /* void */ }
}


static void
gateway_accept(int ep, int listener)
{
    int                 fd, one;
    struct epoll_event  ee;

    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) != -1) {

        if (fd >= GATEWAY_CONNECTIONS) {
            (void) close(fd);
            continue;
        }

        one = 1;
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));

        gateway_connections[fd] = calloc(1, sizeof(gateway_connection_t));

        ee.events = EPOLLIN;
        ee.data.fd = fd;

        if (gateway_connections[fd] == NULL
            || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ee) == -1)
        {
            gateway_die("accept4()");
        }
    }
}


static int
gateway_listen(int port)
{
    int                 fd, one;
    struct sockaddr_in  sin;

    memset(&sin, 0, sizeof(sin));
    sin.sin_family = AF_INET;
    sin.sin_port = htons(port);
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    one = 1;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    if (fd == -1
        || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == -1
        || bind(fd, (struct sockaddr *) &sin, sizeof(sin)) == -1
        || listen(fd, 2048) == -1)
    {
        gateway_die("listen()");
    }

    return fd;
}


static void
gateway_run(int ep, int listener)
{
    int                 i, n, dirty;
    struct epoll_event  events[GATEWAY_EVENTS];

    dirty = 0;

    while (!gateway_quit) {

        n = epoll_wait(ep, events, GATEWAY_EVENTS, dirty ? GATEWAY_FLUSH : -1);

        if (n <= 0) {

            if (n == -1 && errno != EINTR) {
                gateway_die("epoll_wait()");
            }

            if (gateway_log) {
                (void) fflush(gateway_log);
            }

            dirty = 0;
            continue;
        }

        dirty = 1;

        for (i = 0; i < n; i++) {

            if (events[i].data.fd == listener) {
                gateway_accept(ep, listener);

            } else if (events[i].data.fd == gateway_timer) {
                gateway_due();

            } else if (gateway_connections[events[i].data.fd]) {
                gateway_read(events[i].data.fd);
            }
        }
    }
}


int
main(int argc, char **argv)
{
    int                 ep, listener;
    struct sigaction    sa;
    struct epoll_event  ee;

    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: %s <port> <milliseconds> [<log>]\n", argv[0]);
        return 2;
    }

    memset(&sa, 0, sizeof(sa));
    sa.sa_handler = gateway_signal;
    (void) sigaction(SIGTERM, &sa, NULL);

    gateway_delay = atol(argv[2]) * 1000;

    if (argc == 4) {
        gateway_log = fopen(argv[3], "w");
        if (gateway_log == NULL) {
            gateway_die(argv[3]);
        }

        (void) setvbuf(gateway_log, NULL, _IOFBF, 1024 * 1024);
    }

    ep = epoll_create1(0);
    gateway_timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    listener = gateway_listen(atoi(argv[1]));

    ee.events = EPOLLIN;
    ee.data.fd = listener;

    if (ep == -1 || gateway_timer == -1
        || epoll_ctl(ep, EPOLL_CTL_ADD, listener, &ee) == -1)
    {
        gateway_die("epoll");
    }

    ee.data.fd = gateway_timer;

    if (epoll_ctl(ep, EPOLL_CTL_ADD, gateway_timer, &ee) == -1) {
        gateway_die("epoll");
    }

    gateway_run(ep, listener);

    if (gateway_log && fclose(gateway_log) != 0) {
        gateway_die(argv[3]);
    }

    return 0;
}
