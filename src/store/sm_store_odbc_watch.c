
/*
 * Calls that a driver would wait for without end.
 *
 * A query time-out is the server's to keep with PostgreSQL's driver, and with
 * others in part: a server that hangs, or that is gone without a word, holds
 * the thread of a call until TCP gives up, which may be never.  No driver tells
 * its socket, so it is looked for: the one TCP socket of the process that leads
 * to the server's port and is nobody else's yet.  A copy of it is kept, so that
 * its number is never another's, and is shut down when the call is late: the
 * driver sees that as a connection that the server closed.
 *
 * What leads there and was in the process before is not ours: it may be proxied,
 * or another module's.
 *
 * One thread of the process does that; it has nothing to do as long as all goes
 * well.  All that is shared is under one mutex.  The thread lasts as long as the
 * process, and so must its code: nginx unloads its modules before a worker ends.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* dladdr() */
#endif

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
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
#define SM_ODBC_STRANGERS      256


static pthread_once_t    sm_odbc_watch_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t   sm_odbc_watch_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t    sm_odbc_watch_cond;
static sm_odbc_watch_t  *sm_odbc_watches;
static int64_t           sm_odbc_watch_next = SM_ODBC_NEVER;
static ino_t             sm_odbc_strangers[SM_ODBC_STRANGERS];
static size_t            sm_odbc_nstrangers;


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


static int
sm_odbc_watch_known(int fd, ino_t inode)
{
    size_t            i;
    sm_odbc_watch_t  *w;

    for (w = sm_odbc_watches; w; w = w->next) {
        if (w->fd != -1 && (w->fd == fd || w->inode == inode)) {
            return 1;
        }
    }

    for (i = 0; i < sm_odbc_nstrangers; i++) {
        if (sm_odbc_strangers[i] == inode) {
            return 1;
        }
    }

    return 0;
}


/*
 * Sockets that lead to the port and are not known: how many there are, and the
 * last of them.  They are cut, or known from now on as strangers, if told so.
 */

typedef enum {
    SM_ODBC_FIND = 0,
    SM_ODBC_CUT,
    SM_ODBC_STRANGE
} sm_odbc_find_e;


static int
sm_odbc_watch_find(unsigned port, sm_odbc_find_e what, int *found,
    ino_t *inode)
{
    int             n, fd;
    DIR            *dir;
    struct stat     st;
    struct dirent  *entry;

    n = 0;

    dir = opendir("/proc/self/fd");
    if (dir == NULL) {
        return 0;
    }

    while ((entry = readdir(dir)) != NULL) {

        fd = atoi(entry->d_name);

        if (!isdigit((unsigned char) entry->d_name[0])
            || fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode)
            || sm_odbc_watch_peer(fd) != port
            || sm_odbc_watch_known(fd, st.st_ino))
        {
            continue;
        }

        if (what == SM_ODBC_CUT) {
            (void) shutdown(fd, SHUT_RDWR);

        } else if (what == SM_ODBC_STRANGE
                   && sm_odbc_nstrangers < SM_ODBC_STRANGERS)
        {
            sm_odbc_strangers[sm_odbc_nstrangers++] = st.st_ino;
        }

        *found = fd;
        *inode = st.st_ino;
        n++;
    }

    (void) closedir(dir);

    return n;
}


static void
sm_odbc_watch_late(sm_odbc_watch_t *w)
{
    int    fd;
    ino_t  inode;

    w->deadline = SM_ODBC_NEVER;
    w->cut = 1;

    if (w->fd != -1) {
        (void) shutdown(w->fd, SHUT_RDWR);

    } else {
        (void) sm_odbc_watch_find(w->port, SM_ODBC_CUT, &fd, &inode);
    }
}


static void *
sm_odbc_watch_thread(void *data)
{
    int64_t           now;
    struct timespec   ts;
    sm_odbc_watch_t  *w;

    (void) data;

    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    for ( ;; ) {
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

    return NULL;
}


/* what this is in is never unloaded, from now on */

static void
sm_odbc_watch_stay(void)
{
    void     *handle;
    Dl_info   info;

    if (dladdr(&sm_odbc_watches, &info) == 0 || info.dli_fname == NULL) {
        return;
    }

    handle = dlopen(info.dli_fname, RTLD_LAZY|RTLD_NOLOAD|RTLD_NODELETE);

    if (handle) {
        (void) dlclose(handle);
    }
}


/* signals are the process' */

static void
sm_odbc_watch_init(void)
{
    sigset_t            all, old;
    pthread_t           thread;
    pthread_condattr_t  attr;

    (void) pthread_condattr_init(&attr);
    (void) pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void) pthread_cond_init(&sm_odbc_watch_cond, &attr);
    (void) pthread_condattr_destroy(&attr);

    sm_odbc_watch_stay();

    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &old);

    if (pthread_create(&thread, NULL, sm_odbc_watch_thread, NULL) == 0) {
        (void) pthread_detach(thread);
    }

    (void) pthread_sigmask(SIG_SETMASK, &old, NULL);
}


/*
 * With the mutex, before a connection of ours is made: what is there is not, if
 * all of ours are known.  Inodes of sockets do not come again.
 */

static void
sm_odbc_watch_strangers(unsigned port)
{
    int               fd;
    ino_t             inode;
    sm_odbc_watch_t  *w;

    for (w = sm_odbc_watches; w; w = w->next) {
        if (w->fd == -1) {
            return;
        }
    }

    sm_odbc_nstrangers = 0;

    (void) sm_odbc_watch_find(port, SM_ODBC_STRANGE, &fd, &inode);
}


void
sm_odbc_watch_open(sm_odbc_watch_t *w, sm_str_t connection)
{
    (void) pthread_once(&sm_odbc_watch_once, sm_odbc_watch_init);

    w->port = sm_odbc_watch_port(connection);
    w->deadline = SM_ODBC_NEVER;
    w->fd = -1;

    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    sm_odbc_watch_strangers(w->port);

    w->prev = &sm_odbc_watches;
    w->next = sm_odbc_watches;

    if (w->next) {
        w->next->prev = &w->next;
    }

    sm_odbc_watches = w;

    (void) pthread_mutex_unlock(&sm_odbc_watch_mutex);
}


void
sm_odbc_watch_close(sm_odbc_watch_t *w)
{
    if (w->prev == NULL) {
        return;
    }

    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    *w->prev = w->next;

    if (w->next) {
        w->next->prev = w->prev;
    }

    (void) pthread_mutex_unlock(&sm_odbc_watch_mutex);

    if (w->fd != -1) {
        (void) close(w->fd);
    }
}


/* with the mutex; where others log in at the same time, the next call finds it */

static void
sm_odbc_watch_socket(sm_odbc_watch_t *w)
{
    int    fd;
    ino_t  inode;

    if (sm_odbc_watch_find(w->port, SM_ODBC_FIND, &fd, &inode) == 1) {
        w->inode = inode;
        w->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    }
}


void
sm_odbc_watch_start(sm_odbc_watch_t *w, unsigned connected, int64_t ms)
{
    if (w->depth++) {
        return;
    }

    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    if (connected && w->fd == -1) {
        sm_odbc_watch_socket(w);
    }

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
