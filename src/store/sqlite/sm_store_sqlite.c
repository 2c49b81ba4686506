
/*
 * The embedded store: one SQLite file in WAL mode, shared by all workers and
 * by any number of nginx instances on the host.
 *
 * A commit is durable (synchronous=FULL) before it is reported.  Writers take
 * the write lock first (BEGIN IMMEDIATE) and wait for it up to busy_timeout.
 * A connection that is given back is never inside a transaction.
 *
 * If the file was moved, removed or made read-only, SQLite goes on working
 * with the open file, which nobody will find again.  So the file is checked
 * before each call and after each commit, and so is its log: see
 * sm_store_sqlite_log.c.
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sm_sqlite_sql.h"
#include "sm_store_sqlite.h"


/*
 * While waiting for a lock, naps are short at first, as long as a commit may
 * take.  Then they are longer, but not so long that later writers always get
 * the lock first.
 */

#define SM_SQLITE_NAPS      50
#define SM_SQLITE_NAP       100000      /* nanoseconds */
#define SM_SQLITE_SLEEP     500000


/*
 * SQLite restarts the write-ahead log when all of it is in the database and
 * nobody reads from it.  If readers overlap all the time, that moment never
 * comes, and the log grows.  So when the log is long, writers are kept out
 * until the current readers have ended.
 */

#define SM_SQLITE_WAL       "33554432"  /* bytes that the log keeps */
#define SM_SQLITE_WAL_LONG  67108864    /* bytes of a long log */
#define SM_SQLITE_WAL_TAIL  1000        /* frames that readers may leave */
#define SM_SQLITE_WAL_WAIT  250         /* milliseconds, for readers */


#define SM_SQLITE_TEXT(name, text)  text,

static const char *const  sm_sqlite_texts[] = {
    SM_SQLITE_SQL(SM_SQLITE_TEXT)
};

_Static_assert(sm_nelts(sm_sqlite_texts) == SM_SQLITE_STATEMENTS,
               "a text for each statement");


static int64_t
sm_sqlite_monotonic(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


/*
 * The busy handler.  SQLite's own sleeps up to 100 ms, which is many times
 * what a commit takes.
 */

int
sm_sqlite_busy(void *arg, int count)
{
    sm_sqlite_t     *sq = arg;
    struct timespec  ts;

    if (sm_sqlite_monotonic() >= sq->deadline) {
        return 0;
    }

    ts.tv_sec = 0;
    ts.tv_nsec = count < SM_SQLITE_NAPS ? SM_SQLITE_NAP : SM_SQLITE_SLEEP;

    (void) nanosleep(&ts, NULL);

    return 1;
}


void
sm_sqlite_start_call(sm_sqlite_t *sq)
{
    sq->deadline = sm_sqlite_monotonic() + sq->sql.conf->busy_timeout;
}


static sm_store_class_e
sm_sqlite_class(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
        return SM_STORE_TRANSIENT;

    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return SM_STORE_CONSTRAINT;

    case SQLITE_FULL:

        /* This does not pass by itself: somebody has to free space. */

    default:
        return SM_STORE_PERMANENT;
    }
}


/*
 * Returns whether the directory, in which SQLite creates files beside the
 * database, cannot be written.  SQLite only reports the consequence, that the
 * file is missing or read-only, and not this reason.
 */

static int
sm_sqlite_fail_directory(sm_sqlite_t *sq, sm_call_t *call, int code)
{
    char        *dir;
    const char  *slash;

    slash = strrchr(sq->sql.conf->path, '/');

    dir = slash ? strndup(sq->sql.conf->path, slash - sq->sql.conf->path + 1)
                : strdup(".");

    if (dir == NULL) {
        return 0;
    }

    errno = 0;
    (void) access(dir, W_OK | X_OK);

    if (errno == EACCES || errno == EROFS) {
        (void) sm_call_fail(call, sm_sqlite_class(code), code,
                            "%s: %s: the directory is not writable for user %d "
                            "(%d: %s)", sq->sql.conf->path,
                            sqlite3_errmsg(sq->db), (int) geteuid(), errno,
                            strerror(errno));
        free(dir);
        return -1;
    }

    free(dir);

    return 0;
}


int
sm_sqlite_fail(sm_sqlite_t *sq, sm_call_t *call)
{
    int  code, sys;

    code = sqlite3_extended_errcode(sq->db);
    sys = sqlite3_system_errno(sq->db);

    switch (code & 0xff) {
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:

        if (sm_sqlite_fail_directory(sq, call, code) != 0) {
            return -1;
        }

        /* fall through */

    case SQLITE_IOERR:
    case SQLITE_FULL:

        if (sys) {
            return sm_call_fail(call, sm_sqlite_class(code), code,
                                "%s: %s (%d: %s)", sq->sql.conf->path,
                                sqlite3_errmsg(sq->db), sys, strerror(sys));
        }

        /* fall through */

    default:
        return sm_call_fail(call, sm_sqlite_class(code), code, "%s: %s",
                            sq->sql.conf->path, sqlite3_errmsg(sq->db));
    }
}


static void
sm_sqlite_close(sm_conn_t *conn)
{
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    /* If there is no handle, there was no memory for one. */

    if (sq->db) {
        while ((stmt = sqlite3_next_stmt(sq->db, NULL)) != NULL) {
            (void) sqlite3_finalize(stmt);
        }

        (void) sqlite3_close(sq->db);
    }

    sm_sqlite_log_leave(sq);
    free(sq);
}


static int
sm_sqlite_there(sm_sqlite_t *sq)
{
    int  moved;

    moved = 0;

    (void) sqlite3_file_control(sq->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);

    return !moved && access(sq->sql.conf->path, W_OK) == 0;
}


static int
sm_sqlite_usable(sm_conn_t *conn)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    return sm_sqlite_there(sq) && sm_sqlite_log_usable(sq);
}


int
sm_sqlite_run(sm_sqlite_t *sq, sm_call_t *call, unsigned which)
{
    int            rc;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[which];
    rc = sqlite3_step(stmt);

    if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
        (void) sm_sqlite_fail(sq, call);
        (void) sqlite3_reset(stmt);
        return -1;
    }

    (void) sqlite3_reset(stmt);

    return 0;
}


int
sm_sqlite_change(sm_sqlite_t *sq, sm_call_t *call, unsigned which)
{
    if (sm_sqlite_run(sq, call, which) != 0) {
        return -1;
    }

    return sqlite3_changes(sq->db) ? 1 : 0;
}


int
sm_sqlite_has(sm_sqlite_t *sq, sm_call_t *call, unsigned which)
{
    int            rc;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[which];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->sql.conf->lease_name);

    rc = sqlite3_step(stmt);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}


/*
 * Ends the transaction after a failure that the connection survives.  Many
 * errors have ended it already.
 */

int
sm_sqlite_rollback(sm_sqlite_t *sq)
{
    if (!sqlite3_get_autocommit(sq->db)) {
        (void) sqlite3_exec(sq->db, "ROLLBACK", NULL, NULL, NULL);
    }

    return -1;
}


int
sm_sqlite_commit(sm_sqlite_t *sq, sm_call_t *call)
{
    if (sm_sqlite_run(sq, call, SM_SQLITE_COMMIT) != 0) {
        return sm_sqlite_rollback(sq);
    }

    if (!sm_sqlite_there(sq)) {
        sq->sql.conn.lost = 1;

        return sm_call_fail(call, SM_STORE_PERMANENT, 0,
                            "%s: was moved, removed or made read-only during "
                            "a commit", sq->sql.conf->path);
    }

    if (!sm_sqlite_log_usable(sq)) {
        sq->sql.conn.lost = 1;
        return sm_sqlite_log_fail(sq, call);
    }

    return 0;
}


void
sm_sqlite_bind_nth(sqlite3_stmt *stmt, int n, sm_str_t value)
{
    (void) sqlite3_bind_text64(stmt, n, value.data, value.len, SQLITE_STATIC,
                               SQLITE_UTF8);
}


void
sm_sqlite_bind_text(sqlite3_stmt *stmt, const char *name, sm_str_t value)
{
    sm_sqlite_bind_nth(stmt, sqlite3_bind_parameter_index(stmt, name), value);
}


void
sm_sqlite_bind_int(sqlite3_stmt *stmt, const char *name, int64_t value)
{
    (void) sqlite3_bind_int64(stmt, sqlite3_bind_parameter_index(stmt, name),
                              value);
}


sm_str_t
sm_sqlite_peek(sqlite3_stmt *stmt, int column)
{
    sm_str_t  value;

    value.data = (const char *) sqlite3_column_text(stmt, column);
    value.len = sqlite3_column_bytes(stmt, column);

    return value;
}


int
sm_sqlite_text(sm_call_t *call, sqlite3_stmt *stmt, int column, sm_str_t *s)
{
    sm_str_t  value;

    value = sm_sqlite_peek(stmt, column);

    if (value.data == NULL) {
        s->data = NULL;
        s->len = 0;
        return 0;
    }

    if (sm_arena_strdup(&call->arena, s, value) != 0) {
        return sm_call_no_memory(call);
    }

    return 0;
}


int
sm_sqlite_now(sm_sqlite_t *sq, sm_call_t *call, int64_t *now)
{
    int            rc;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[SM_SQLITE_NOW];
    rc = sqlite3_step(stmt);

    *now = sqlite3_column_int64(stmt, 0);

    if (rc != SQLITE_ROW) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return rc == SQLITE_ROW ? 0 : -1;
}


int
sm_sqlite_ping(sm_conn_t *conn, sm_call_t *call)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    sm_sqlite_start_call(sq);

    return sm_sqlite_run(sq, call, SM_SQLITE_PING);
}


int
sm_sqlite_begin_write(sm_conn_t *conn, sm_call_t *call)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    sm_sqlite_start_call(sq);

    return sm_sqlite_run(sq, call, SM_SQLITE_BEGIN);
}


int
sm_sqlite_rows(sm_conn_t *conn, sm_call_t *call, void *rows, size_t size,
    size_t n, sm_sqlite_row_pt write)
{
    size_t        i;
    int64_t       now;
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    if (sm_sqlite_begin_write(conn, call) != 0) {
        return -1;
    }

    if (sm_sqlite_now(sq, call, &now) != 0) {
        return sm_sqlite_rollback(sq);
    }

    for (i = 0; i < n; i++) {
        if (write(sq, call, (char *) rows + i * size, now) != 0) {
            return sm_sqlite_rollback(sq);
        }
    }

    return sm_sqlite_commit(sq, call);
}


static int64_t
sm_sqlite_wal_size(sm_sqlite_t *sq)
{
    const char  *name;
    struct stat  st;

    name = sqlite3_filename_wal(sqlite3_db_filename(sq->db, "main"));

    return stat(name, &st) == 0 ? st.st_size : 0;
}


/* Returns 1 if the checkpoint was made, 0 if others are in the way, or -1. */

static int
sm_sqlite_checkpoint(sm_sqlite_t *sq, sm_call_t *call, int mode, int *left)
{
    int  rc, log, done;

    rc = sqlite3_wal_checkpoint_v2(sq->db, "main", mode, &log, &done);

    *left = log - done;

    switch (rc & 0xff) {
    case SQLITE_OK:
        return 1;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return 0;
    default:
        return sm_sqlite_fail(sq, call);
    }
}


/*
 * Restarts a long log.  The first checkpoint does not keep writers out, and
 * goes as far as the oldest reader allows.  If that reader started long ago,
 * like a backup, waiting for it gains nothing.
 */

int
sm_sqlite_tidy(sm_conn_t *conn, sm_call_t *call)
{
    int           rc, left;
    int64_t       wait;
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    if (sm_sqlite_wal_size(sq) <= SM_SQLITE_WAL_LONG) {
        return 0;
    }

    rc = sm_sqlite_checkpoint(sq, call, SQLITE_CHECKPOINT_PASSIVE, &left);

    if (rc != 1 || left > SM_SQLITE_WAL_TAIL) {
        return rc < 0 ? -1 : 0;
    }

    wait = sq->sql.conf->busy_timeout;

    if (wait > SM_SQLITE_WAL_WAIT) {
        wait = SM_SQLITE_WAL_WAIT;
    }

    sq->deadline = sm_sqlite_monotonic() + wait;

    rc = sm_sqlite_checkpoint(sq, call, SQLITE_CHECKPOINT_TRUNCATE, &left);

    return rc < 0 ? -1 : 0;
}


int
sm_sqlite_exec(sm_sqlite_t *sq, sm_call_t *call, const char *sql)
{
    int  rc, n;

    /*
     * The busy handler is not called for some locks, such as that of WAL mode.
     */

    for (n = 0; /* void */; n++) {
        rc = sqlite3_exec(sq->db, sql, NULL, NULL, NULL);

        if ((rc & 0xff) != SQLITE_BUSY || !sm_sqlite_busy(sq, n)) {
            break;
        }
    }

    return rc == SQLITE_OK ? 0 : sm_sqlite_fail(sq, call);
}


static int
sm_sqlite_setup(sm_sqlite_t *sq, sm_call_t *call)
{
    int  i;

    (void) sqlite3_busy_handler(sq->db, sm_sqlite_busy, sq);

    if (sqlite3_db_readonly(sq->db, "main") == 1) {
        return sm_call_fail(call, SM_STORE_PERMANENT, SQLITE_READONLY,
                            "%s: the file is read-only", sq->sql.conf->path);
    }

    if (sm_sqlite_exec(sq, call, "PRAGMA journal_mode = WAL") != 0
        || sm_sqlite_exec(sq, call, "PRAGMA synchronous = FULL") != 0
        || sm_sqlite_exec(sq, call, "PRAGMA cache_size = -8192") != 0
        || sm_sqlite_exec(sq, call, "PRAGMA wal_autocheckpoint = 4000") != 0
        || sm_sqlite_exec(sq, call, "PRAGMA journal_size_limit = "
                                    SM_SQLITE_WAL) != 0
        || sm_sqlite_schema(sq, call) != 0
        || sm_sqlite_log_note(sq, call) != 0)
    {
        return -1;
    }

    for (i = 0; i < SM_SQLITE_STATEMENTS; i++) {
        if (sqlite3_prepare_v3(sq->db, sm_sqlite_texts[i], -1,
                               SQLITE_PREPARE_PERSISTENT, &sq->stmts[i], NULL)
            != SQLITE_OK)
        {
            return sm_sqlite_fail(sq, call);
        }
    }

    return 0;
}


/*
 * Turns off SQLite's count of its memory, which nobody reads.  The lock of
 * that count took a tenth of an attempt's instructions.  SQLite refuses this
 * if something else in the process has used it before, which does no harm.
 */

static void
sm_sqlite_once(void)
{
    (void) sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}


static sm_conn_t *
sm_sqlite_open(const sm_store_conf_t *conf, sm_call_t *call)
{
    int                    flags;
    sm_sqlite_t           *sq;
    static pthread_once_t  once = PTHREAD_ONCE_INIT;

    (void) pthread_once(&once, sm_sqlite_once);

    sq = calloc(1, sizeof(sm_sqlite_t));
    if (sq == NULL) {
        (void) sm_call_no_memory(call);
        return NULL;
    }

    sq->sql.driver = &sm_sqlite_driver;
    sq->sql.conf = conf;

    sq->create = *conf->create == conf->generation;

    flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
            | (sq->create ? SQLITE_OPEN_CREATE : 0);

    sm_sqlite_start_call(sq);

    /*
     * SQLite would let everybody read the file, and gives the files beside it
     * the same mode.  mknod() opens nothing, which matters because closing any
     * descriptor of the file would release the locks of this process.  Errors
     * are left to SQLite, which will find them again.
     */

    if (sq->create) {
        (void) mknod(conf->path, S_IFREG | 0600, 0);
    }

    if (sm_sqlite_log_enter(sq, call) != 0) {
        sm_sqlite_close(&sq->sql.conn);
        return NULL;
    }

    if (sqlite3_open_v2(conf->path, &sq->db, flags, NULL) != SQLITE_OK) {

        if (sq->db) {
            (void) sm_sqlite_fail(sq, call);

        } else {
            (void) sm_call_no_memory(call);
        }

        sm_sqlite_close(&sq->sql.conn);
        return NULL;
    }

    if (sm_sqlite_setup(sq, call) != 0) {
        sm_sqlite_close(&sq->sql.conn);
        return NULL;
    }

    (void) __sync_bool_compare_and_swap(conf->create, conf->generation, 0);

    return &sq->sql.conn;
}


#define SM_SQLITE_SLOT(kind, op, ...)  .op = sm_sqlite_##op,

const sm_store_ops_t  sm_store_sqlite = {
    .name = "sqlite",
    .open = sm_sqlite_open,
    .close = sm_sqlite_close,
    .usable = sm_sqlite_usable,
    .ask = sm_store_ask_none,
    SM_STORE_READS(SM_SQL_SLOT)
    SM_STORE_WRITES(SM_SQLITE_SLOT)
};
