
/*
 * Ends calls in which a driver would wait for ever.
 *
 * If a server hangs, or disappears without closing its connections, and the
 * driver does not keep to its time-outs, a call blocks its thread until TCP
 * gives up, which may be never.  FreeTDS reveals its socket.  The watcher
 * keeps a duplicate of that descriptor, so that its number cannot be reused
 * for another file, and shuts the socket down when a call is late.  To the
 * driver this looks like a connection that the server closed.  Other drivers
 * keep to their own time-outs: only a socket that is known to be ours is ever
 * shut down.
 *
 * One thread per process does this, and sleeps as long as all goes well.  It
 * exists as long as there are connections, so a process that exits, or that
 * unloads this code, must close them first.  One mutex protects everything
 * that is shared.
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sm_store_odbc.h"


#define SM_ODBC_NEVER           INT64_MAX
#define SM_ODBC_FREETDS_SOCKET  1301        /* SQL_INFO_FREETDS_SOCKET */


static pthread_once_t    sm_odbc_watch_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t   sm_odbc_watch_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t    sm_odbc_watch_cond;
static sm_odbc_watch_t  *sm_odbc_watches;
static int64_t           sm_odbc_watch_next = SM_ODBC_NEVER;
static pthread_t         sm_odbc_watcher;
static unsigned          sm_odbc_watching;      /* the thread is running */
static uintptr_t         sm_odbc_watch_nth;     /* its serial number */


static int64_t
sm_odbc_watch_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


static void
sm_odbc_watch_late(sm_odbc_watch_t *w)
{
    w->deadline = SM_ODBC_NEVER;

    if (w->fd != -1) {
        w->cut = 1;
        (void) shutdown(w->fd, SHUT_RDWR);
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


/* Starts the thread, with all signals blocked.  The caller holds the mutex. */

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
sm_odbc_watch_open(sm_odbc_watch_t *w)
{
    (void) pthread_once(&sm_odbc_watch_once, sm_odbc_watch_init);

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


/* Finds the driver's socket.  The connection must be logged in. */

void
sm_odbc_watch_connected(sm_odbc_watch_t *w, SQLHDBC dbc)
{
    int          copy;
    SQLULEN      fd;
    SQLCHAR      name[64];
    SQLSMALLINT  len;
    struct stat  st;

    name[0] = '\0';

    if (!SQL_SUCCEEDED(SQLGetInfo(dbc, SQL_DRIVER_NAME, name, sizeof(name),
                                  &len))
        || strstr((char *) name, "tdsodbc") == NULL)
    {
        return;
    }

    fd = 0;
    len = 0;

    if (!SQL_SUCCEEDED(SQLGetInfo(dbc, SM_ODBC_FREETDS_SOCKET, &fd, sizeof(fd),
                                  &len))
        || len != sizeof(fd) || fstat((int) fd, &st) != 0
        || !S_ISSOCK(st.st_mode))
    {
        return;
    }

    copy = fcntl((int) fd, F_DUPFD_CLOEXEC, 0);

    (void) pthread_mutex_lock(&sm_odbc_watch_mutex);

    w->fd = copy;

    (void) pthread_mutex_unlock(&sm_odbc_watch_mutex);
}


void
sm_odbc_watch_start(sm_odbc_watch_t *w, int64_t ms)
{
    if (w->depth++) {
        return;
    }

    /* Drivers count in seconds, so the limit is rounded up to whole ones. */

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
