
/*
 * Calls that a driver would wait for without end.
 *
 * A query time-out is the server's to keep with PostgreSQL's driver, and with
 * others in part: a server that hangs, or that is gone without a word, holds
 * the thread of a call until TCP gives up, which may be never.  No driver tells
 * its socket, so it is looked for: the one TCP socket of the process that leads
 * to the server's port, was not there before the login, and is no other
 * connection's.  A copy of it is kept, so that its number is never another's,
 * and is shut down when the call is late: the driver sees that as a connection
 * that the server closed.
 *
 * One thread of the process does that; it has nothing to do as long as all goes
 * well.  It is there as long as there are connections: a process that ends, or
 * that unloads this code, closes them first.  All that is shared is under one
 * mutex.
 */

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sm_store_odbc.h"


#define SM_ODBC_NEVER          INT64_MAX
#define SM_ODBC_POSTGRES_PORT  5432
#define SM_ODBC_MSSQL_PORT     1433


static pthread_once_t    sm_odbc_watch_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t   sm_odbc_watch_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t    sm_odbc_watch_cond;
static sm_odbc_watch_t  *sm_odbc_watches;
static int64_t           sm_odbc_watch_next = SM_ODBC_NEVER;
static pthread_t         sm_odbc_watcher;
static unsigned          sm_odbc_watching;      /* the thread is there */
static uintptr_t         sm_odbc_watch_nth;     /* and is the nth */


static int64_t
sm_odbc_watch_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


/* a key's number in the connection string */

static unsigned
sm_odbc_watch_port(sm_str_t string)
{
    size_t    i;
    unsigned  port, postgres;

    postgres = 0;

    for (i = 0; i < string.len; i++) {

        if (string.len - i > 8
            && strncasecmp(&string.data[i], "postgres", 8) == 0)
        {
            postgres = 1;
        }

        if (string.len - i <= 5 || strncasecmp(&string.data[i], "port=", 5) != 0
            || (i && string.data[i - 1] != ';' && string.data[i - 1] != ' '))
        {
            continue;
        }

        port = 0;

        for (i += 5; i < string.len
                     && isdigit((unsigned char) string.data[i]); i++)
        {
            port = (port * 10 + (string.data[i] - '0')) & 0xfffff;
        }

        return port;
    }

    return postgres ? SM_ODBC_POSTGRES_PORT : SM_ODBC_MSSQL_PORT;
}


static unsigned
sm_odbc_watch_peer(int fd)
{
    socklen_t  len;

    union {
        struct sockaddr      sa;
        struct sockaddr_in   in;
        struct sockaddr_in6  in6;
    } peer;

    len = sizeof(peer);

    if (getpeername(fd, &peer.sa, &len) != 0) {
        return 0;
    }

    switch (peer.sa.sa_family) {
    case AF_INET:
        return ntohs(peer.in.sin_port);

    case AF_INET6:
        return ntohs(peer.in6.sin6_port);

    default:
        return 0;
    }
}


/* another connection's, or there before this one was */

static int
sm_odbc_watch_known(sm_odbc_watch_t *watch, ino_t inode)
{
    unsigned          i;
    sm_odbc_watch_t  *w;

    for (w = sm_odbc_watches; w; w = w->next) {
        if (w->fd != -1 && w->inode == inode) {
            return 1;
        }
    }

    for (i = 0; i < watch->nothers; i++) {
        if (watch->others[i] == inode) {
            return 1;
        }
    }

    return 0;
}


typedef enum {
    SM_ODBC_WATCH_NOTE = 0,         /* as what was there before */
    SM_ODBC_WATCH_TAKE,             /* a copy of the one, if it is one */
    SM_ODBC_WATCH_CUT               /* all */
} sm_odbc_watch_e;


/* sockets that lead to the port and are not known, with the mutex */

static void
sm_odbc_watch_find(sm_odbc_watch_t *w, sm_odbc_watch_e what)
{
    int             n, fd, found;
    DIR            *dir;
    ino_t           inode;
    struct stat     st;
    struct dirent  *entry;

    dir = opendir("/proc/self/fd");
    if (dir == NULL) {
        return;
    }

    n = 0;
    found = -1;
    inode = 0;

    while ((entry = readdir(dir)) != NULL) {

        fd = atoi(entry->d_name);

        if (!isdigit((unsigned char) entry->d_name[0])
            || fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode)
            || sm_odbc_watch_peer(fd) != w->port
            || sm_odbc_watch_known(w, st.st_ino))
        {
            continue;
        }

        found = fd;
        inode = st.st_ino;
        n++;

        if (what == SM_ODBC_WATCH_CUT) {
            (void) shutdown(fd, SHUT_RDWR);

        } else if (what == SM_ODBC_WATCH_NOTE
                   && w->nothers < SM_ODBC_WATCH_OTHERS)
        {
            w->others[w->nothers++] = st.st_ino;
        }
    }

    (void) closedir(dir);

    if (what == SM_ODBC_WATCH_TAKE && n == 1) {
        w->inode = inode;
        w->fd = fcntl(found, F_DUPFD_CLOEXEC, 0);
    }
}


/* where it is not known which one it is, logins beside this one end with it */

static void
sm_odbc_watch_late(sm_odbc_watch_t *w)
{
    w->deadline = SM_ODBC_NEVER;
    w->cut = 1;

    if (w->fd != -1) {
        (void) shutdown(w->fd, SHUT_RDWR);

    } else {
        sm_odbc_watch_find(w, SM_ODBC_WATCH_CUT);
    }
}


static void *
sm_odbc_watch_thread(void *data)
{
    int64_t           now;
    uintptr_t         nth;
    struct timespec   ts;
    sm_odbc_watch_t  *w;

    nth = (uintptr_t) data;

    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    while (sm_odbc_watching && sm_odbc_watch_nth == nth) {
        now = sm_odbc_watch_now();
        sm_odbc_watch_next = SM_ODBC_NEVER;

        for (w = sm_odbc_watches; w; w = w->next) {

            if (w->deadline <= now) {
                sm_odbc_watch_late(w);
            }

            if (w->deadline < sm_odbc_watch_next) {
                sm_odbc_watch_next = w->deadline;
            }
        }

        if (sm_odbc_watch_next == SM_ODBC_NEVER) {
            (void) pthread_cond_wait(&sm_odbc_watch_cond,
                                     &sm_odbc_watch_mutex);
            continue;
        }

        ts.tv_sec = sm_odbc_watch_next / 1000;
        ts.tv_nsec = sm_odbc_watch_next % 1000 * 1000000;

        (void) pthread_cond_timedwait(&sm_odbc_watch_cond,
                                      &sm_odbc_watch_mutex, &ts);
    }

    (void) pthread_mutex_unlock(&sm_odbc_watch_mutex);

    return NULL;
}


static void
sm_odbc_watch_init(void)
{
    pthread_condattr_t  attr;

    (void) pthread_condattr_init(&attr);
    (void) pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void) pthread_cond_init(&sm_odbc_watch_cond, &attr);
    (void) pthread_condattr_destroy(&attr);
}


/* with the mutex; signals are for other threads */

static void
sm_odbc_watch_begin(void)
{
    sigset_t  all, old;

    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &old);

    sm_odbc_watch_nth++;

    sm_odbc_watching = pthread_create(&sm_odbc_watcher, NULL,
                                      sm_odbc_watch_thread,
                                      (void *) sm_odbc_watch_nth)
                       == 0;

    (void) pthread_sigmask(SIG_SETMASK, &old, NULL);
}


void
sm_odbc_watch_open(sm_odbc_watch_t *w, sm_str_t connection)
{
    (void) pthread_once(&sm_odbc_watch_once, sm_odbc_watch_init);

    w->port = sm_odbc_watch_port(connection);
    w->deadline = SM_ODBC_NEVER;
    w->fd = -1;

    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    w->prev = &sm_odbc_watches;
    w->next = sm_odbc_watches;

    if (w->next) {
        w->next->prev = &w->next;
    }

    sm_odbc_watches = w;

    if (!sm_odbc_watching) {
        sm_odbc_watch_begin();
    }

    sm_odbc_watch_find(w, SM_ODBC_WATCH_NOTE);

    (void) pthread_mutex_unlock(&sm_odbc_watch_mutex);
}


void
sm_odbc_watch_close(sm_odbc_watch_t *w)
{
    unsigned   last;
    pthread_t  watcher;

    if (w->prev == NULL) {
        return;
    }

    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    *w->prev = w->next;

    if (w->next) {
        w->next->prev = w->prev;
    }

    last = sm_odbc_watching && sm_odbc_watches == NULL;
    watcher = sm_odbc_watcher;

    if (last) {
        sm_odbc_watching = 0;
        (void) pthread_cond_broadcast(&sm_odbc_watch_cond);
    }

    (void) pthread_mutex_unlock(&sm_odbc_watch_mutex);

    if (last) {
        (void) pthread_join(watcher, NULL);
    }

    if (w->fd != -1) {
        (void) close(w->fd);
    }
}


/* where others log in at the same time, a later call finds it */

void
sm_odbc_watch_connected(sm_odbc_watch_t *w)
{
    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    if (w->fd == -1) {
        sm_odbc_watch_find(w, SM_ODBC_WATCH_TAKE);
    }

    (void) pthread_mutex_unlock(&sm_odbc_watch_mutex);
}


void
sm_odbc_watch_start(sm_odbc_watch_t *w, unsigned connected, int64_t ms)
{
    if (w->depth++) {
        return;
    }

    if (connected && w->fd == -1) {
        sm_odbc_watch_connected(w);
    }

    /* drivers count in seconds */

    ms = (ms + 999) / 1000 * 1000 + SM_ODBC_LATE;

    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    w->ms = ms;
    w->deadline = sm_odbc_watch_now() + ms;

    if (w->deadline < sm_odbc_watch_next) {
        (void) pthread_cond_signal(&sm_odbc_watch_cond);
    }

    (void) pthread_mutex_unlock(&sm_odbc_watch_mutex);
}


void
sm_odbc_watch_stop(sm_odbc_watch_t *w)
{
    if (--w->depth) {
        return;
    }

    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    w->deadline = SM_ODBC_NEVER;

    (void) pthread_mutex_unlock(&sm_odbc_watch_mutex);
}
