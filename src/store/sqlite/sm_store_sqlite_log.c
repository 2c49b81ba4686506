
/*
 * The log of the embedded store: the files "-wal" and "-shm" beside it.
 *
 * SQLite finds them by name when a connection opens, and never looks again.  If
 * somebody removes them, open connections go on with what nobody else can
 * find, and whoever opens the database then begins a second log: two leaders,
 * and commits of which one half of the processes never hears.  So:
 *
 * - Before each call and after each commit the files must be those with which
 *   the connection was opened.
 * - Each process marks the log in which it is by a lock of a byte of the
 *   database, far behind those that SQLite locks: which byte depends on the
 *   files.  Nobody opens the database beside somebody in another log.
 *
 * A connection that has lost its log is closed.  The last one of all processes
 * to be closed writes the log into the database, as SQLite always does, and
 * the database may be opened again, with all that was committed.  So that
 * less depends on it, whoever finds the log missing writes what it can at once:
 * nobody can be in another log yet.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sm_store_sqlite.h"


#define SM_SQLITE_LOG_MARKS   ((int64_t) 1 << 61)
#define SM_SQLITE_LOG_NMARKS  ((int64_t) 1 << 60)

#define SM_SQLITE_LOG_WAIT    1000          /* milliseconds */
#define SM_SQLITE_LOG_NAP     2000000       /* nanoseconds */


/*
 * A database of which this process has connections, or opens the first.  To
 * close a descriptor of a file releases all locks that SQLite has in it for the
 * process, so that of the mark is closed after the last connection.
 */

struct sm_sqlite_db_s {
    sm_sqlite_file_t        file;
    sm_sqlite_log_t         log;            /* all 0: not known yet */
    unsigned                open;
    int                     fd;
    sm_sqlite_db_t         *next;
};


static pthread_mutex_t  sm_sqlite_dbs_mutex = PTHREAD_MUTEX_INITIALIZER;
static sm_sqlite_db_t  *sm_sqlite_dbs;


static void
sm_sqlite_log_file(sm_sqlite_file_t *file, const char *name)
{
    struct stat  st;

    file->dev = 0;
    file->ino = 0;

    if (stat(name, &st) == 0) {
        file->dev = st.st_dev;
        file->ino = st.st_ino;
    }
}


static void
sm_sqlite_log_get(sm_sqlite_t *sq, sm_sqlite_log_t *log)
{
    sm_sqlite_log_file(&log->wal, sq->wal);
    sm_sqlite_log_file(&log->shm, sq->shm);
}


static int
sm_sqlite_log_same(const sm_sqlite_file_t *a, const sm_sqlite_file_t *b)
{
    return a->ino == b->ino && a->dev == b->dev;
}


int
sm_sqlite_log_usable(sm_sqlite_t *sq)
{
    sm_sqlite_log_t  log;

    sm_sqlite_log_get(sq, &log);

    if (sm_sqlite_log_same(&log.wal, &sq->log.wal)
        && sm_sqlite_log_same(&log.shm, &sq->log.shm))
    {
        return 1;
    }

    if (log.wal.ino == 0
        || (log.shm.ino == 0 && sm_sqlite_log_same(&log.wal, &sq->log.wal)))
    {
        sm_sqlite_start_call(sq);
        (void) sqlite3_wal_checkpoint_v2(sq->db, "main",
                                         SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }

    return 0;
}


int
sm_sqlite_log_fail(sm_sqlite_t *sq, sm_call_t *call)
{
    return sm_call_fail(call, SM_STORE_PERMANENT, 0,
                        "%s: its -wal or -shm was removed or replaced while it "
                        "was open; nothing is committed until every process "
                        "that has it open has closed it (\"fuser -v\" names "
                        "them; end them with SIGTERM, never kill -9: the last "
                        "one saves the log)", sq->sql.conf->path);
}


static int64_t
sm_sqlite_log_mark(const sm_sqlite_log_t *log)
{
    uint64_t  mark;

    mark = (uint64_t) log->wal.ino * 0x9e3779b97f4a7c15 ^ log->shm.ino;

    return mark % SM_SQLITE_LOG_NMARKS;
}


static int
sm_sqlite_log_lock(sm_sqlite_db_t *db, int cmd, short type, int64_t from,
    int64_t to)
{
    struct flock  lock;

    if (from == to) {
        return 0;
    }

    memset(&lock, 0, sizeof(struct flock));

    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = SM_SQLITE_LOG_MARKS + from;
    lock.l_len = to - from;

    if (fcntl(db->fd, cmd, &lock) == -1) {
        return -1;
    }

    return cmd == F_OFD_GETLK && lock.l_type != F_UNLCK;
}


/* Returns whether no other process is in another log than this. */

static int
sm_sqlite_log_only(sm_sqlite_db_t *db, const sm_sqlite_log_t *log)
{
    int64_t  mark;

    mark = log->wal.ino && log->shm.ino ? sm_sqlite_log_mark(log) : -1;

    return sm_sqlite_log_lock(db, F_OFD_GETLK, F_WRLCK, 0,
                              mark == -1 ? 0 : mark)
           == 0
           && sm_sqlite_log_lock(db, F_OFD_GETLK, F_WRLCK, mark + 1,
                                 SM_SQLITE_LOG_NMARKS)
              == 0;
}


/* Returns NULL if there is no file, or if it cannot be opened. */

static sm_sqlite_db_t *
sm_sqlite_log_db(sm_sqlite_t *sq)
{
    sm_sqlite_db_t    *db;
    sm_sqlite_file_t   file;

    sm_sqlite_log_file(&file, sq->sql.conf->path);

    for (db = sm_sqlite_dbs; db; db = db->next) {
        if (sm_sqlite_log_same(&db->file, &file)) {
            db->open++;
            return db;
        }
    }

    db = file.ino ? calloc(1, sizeof(sm_sqlite_db_t)) : NULL;
    if (db == NULL) {
        return NULL;
    }

    db->fd = open(sq->sql.conf->path, O_RDONLY|O_CLOEXEC);

    if (db->fd == -1) {
        free(db);
        return NULL;
    }

    db->file = file;
    db->open = 1;
    db->next = sm_sqlite_dbs;
    sm_sqlite_dbs = db;

    return db;
}


static void
sm_sqlite_log_close(sm_sqlite_db_t *db)
{
    sm_sqlite_db_t  **p;

    if (--db->open) {
        return;
    }

    for (p = &sm_sqlite_dbs; *p != db; p = &(*p)->next) { /* void */ }

    *p = db->next;
    (void) close(db->fd);
    free(db);
}


/*
 * Returns whether the database may be opened.  If there is none yet, it may, and
 * _note() counts the connection.
 */

static int
sm_sqlite_log_try(sm_sqlite_t *sq)
{
    sm_sqlite_log_t  log;

    sq->of = sm_sqlite_log_db(sq);
    if (sq->of == NULL) {
        return 1;
    }

    sm_sqlite_log_get(sq, &log);

    if (sm_sqlite_log_only(sq->of, &log)
        && (sq->of->log.wal.ino == 0
            || (sm_sqlite_log_same(&sq->of->log.wal, &log.wal)
                && sm_sqlite_log_same(&sq->of->log.shm, &log.shm))))
    {
        return 1;
    }

    sm_sqlite_log_close(sq->of);
    sq->of = NULL;

    return 0;
}


int
sm_sqlite_log_enter(sm_sqlite_t *sq, sm_call_t *call)
{
    int              n, may;
    struct timespec  nap = { 0, SM_SQLITE_LOG_NAP };

    sq->wal = sqlite3_mprintf("%s-wal", sq->sql.conf->path);
    sq->shm = sqlite3_mprintf("%s-shm", sq->sql.conf->path);

    if (sq->wal == NULL || sq->shm == NULL) {
        return sm_call_no_memory(call);
    }

    /* others may be closing it, as at a stop */

    for (n = SM_SQLITE_LOG_WAIT * 1000000LL / SM_SQLITE_LOG_NAP; n; n--) {

        (void) pthread_mutex_lock(&sm_sqlite_dbs_mutex);
        may = sm_sqlite_log_try(sq);
        (void) pthread_mutex_unlock(&sm_sqlite_dbs_mutex);

        if (may) {
            return 0;
        }

        (void) nanosleep(&nap, NULL);
    }

    return sm_sqlite_log_fail(sq, call);
}


/* Returns whether the connection is in the only log, which is marked then. */

static int
sm_sqlite_log_enters(sm_sqlite_t *sq)
{
    int64_t          mark;
    sm_sqlite_db_t  *db;

    sm_sqlite_log_get(sq, &sq->log);

    if (sq->of == NULL) {
        sq->of = sm_sqlite_log_db(sq);
    }

    db = sq->of;

    if (db == NULL || sq->log.wal.ino == 0 || sq->log.shm.ino == 0) {
        return 0;
    }

    if (db->log.wal.ino == 0) {

        mark = sm_sqlite_log_mark(&sq->log);

        if (sm_sqlite_log_lock(db, F_OFD_SETLK, F_RDLCK, mark, mark + 1) != 0
            || !sm_sqlite_log_only(db, &sq->log))
        {
            (void) sm_sqlite_log_lock(db, F_OFD_SETLK, F_UNLCK, mark, mark + 1);
            return 0;
        }

        db->log = sq->log;
    }

    return sm_sqlite_log_same(&db->log.wal, &sq->log.wal)
           && sm_sqlite_log_same(&db->log.shm, &sq->log.shm);
}


int
sm_sqlite_log_note(sm_sqlite_t *sq, sm_call_t *call)
{
    int  only;

    (void) pthread_mutex_lock(&sm_sqlite_dbs_mutex);
    only = sm_sqlite_log_enters(sq);
    (void) pthread_mutex_unlock(&sm_sqlite_dbs_mutex);

    return only ? 0 : sm_sqlite_log_fail(sq, call);
}


void
sm_sqlite_log_leave(sm_sqlite_t *sq)
{
    (void) pthread_mutex_lock(&sm_sqlite_dbs_mutex);

    if (sq->of) {
        sm_sqlite_log_close(sq->of);
    }

    (void) pthread_mutex_unlock(&sm_sqlite_dbs_mutex);

    sqlite3_free(sq->wal);
    sqlite3_free(sq->shm);
}
