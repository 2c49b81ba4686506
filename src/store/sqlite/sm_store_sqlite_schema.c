
/*
 * The schema of the embedded store.  It is created in a new file, and a file
 * of an older version is migrated by the first connection that finds it.
 *
 * Either is one transaction that takes the write lock and then looks again at
 * what is there.  So one of any number of processes does it, and the others
 * wait and find it done.  Modules of the previous version continue to use the
 * file during and after the migration; they only wait for the transaction.
 *
 * Before a migration the file is copied, which takes longer and needs no write
 * lock.  A lock file beside the database is held from then until the migration
 * has ended, so that exactly one process makes a copy, and makes it of the old
 * version.  An incomplete copy of a process that was killed is made again.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sm_sqlite_sql.h"
#include "sm_store_sqlite.h"


typedef struct {
    int                     version;            /* 0: there is no schema */
    int                     compatible_from;
} sm_sqlite_schema_t;


typedef struct {
    char                   *name;               /* beside the database */
    char                   *new_name;           /* until it is complete */
    char                   *lock_name;
    int                     fd;                 /* -1: it is not open */
    int                     lock;               /* -1: the lock is not held */
} sm_sqlite_copy_t;


/* The array of migrations ends with NULL. */

_Static_assert(sm_nelts(sm_sqlite_sql_migrations) == SM_SCHEMA_VERSION,
               "a version has no migration");

static const sm_sqlite_release_t  sm_sqlite_own_release = {
    SM_SCHEMA_VERSION, sm_sqlite_sql_schema, sm_sqlite_sql_migrations
};

const sm_sqlite_release_t  *sm_sqlite_release = &sm_sqlite_own_release;


/* Returns 1 if the database has a schema, 0 if it has none, or -1. */

static int
sm_sqlite_schema_there(sm_sqlite_t *sq, sm_call_t *call)
{
    switch (sqlite3_table_column_metadata(sq->db, "main", "submission_schema",
                                          "version", NULL, NULL, NULL, NULL,
                                          NULL))
    {
    case SQLITE_OK:
        return 1;
    case SQLITE_ERROR:
        return 0;
    default:
        return sm_sqlite_fail(sq, call);
    }
}


static int
sm_sqlite_schema_get(sm_sqlite_t *sq, sm_call_t *call, sm_sqlite_schema_t *s)
{
    int            rc;
    sqlite3_stmt  *stmt;

    s->version = 0;
    s->compatible_from = 0;

    /*
     * This statement refreshes what the connection knows of the tables, which
     * may be older than a migration.
     */

    if (sm_sqlite_exec(sq, call, "SELECT 1 FROM sqlite_master LIMIT 1") != 0) {
        return -1;
    }

    rc = sm_sqlite_schema_there(sq, call);
    if (rc != 1) {
        return rc;
    }

    if (sqlite3_prepare_v2(sq->db, sm_sqlite_sql_schema_get, -1, &stmt, NULL)
        != SQLITE_OK)
    {
        return sm_sqlite_fail(sq, call);
    }

    rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW) {
        s->version = sqlite3_column_int(stmt, 0);
        s->compatible_from = sqlite3_column_int(stmt, 1);

    } else if (rc != SQLITE_DONE) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_finalize(stmt);

    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}


static int
sm_sqlite_copy_fail(sm_sqlite_t *sq, sm_call_t *call, sm_sqlite_copy_t *copy,
    int err)
{
    char  why[sizeof(call->error)];

    if (err) {
        (void) sm_call_fail(call, SM_STORE_PERMANENT, err, "%s",
                            strerror(err));
    } else {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) memcpy(why, call->error, sizeof(why));

    return sm_call_fail(call, call->status, call->code,
                        "%s cannot be written, the copy without which a "
                        "database is not migrated (\"migrate_backup=off\" does "
                        "without): %.200s", copy->name, why);
}


/*
 * Returns 1 if this process has the lock, 0 if another has it or has just
 * released it, or -1.
 */

static int
sm_sqlite_copy_lock(sm_sqlite_t *sq, sm_call_t *call, sm_sqlite_copy_t *copy)
{
    struct stat  own, named;

    copy->lock = open(copy->lock_name, O_RDWR|O_CREAT|O_CLOEXEC|O_NOFOLLOW,
                      0600);
    if (copy->lock == -1) {
        return sm_sqlite_copy_fail(sq, call, copy, errno);
    }

    if (flock(copy->lock, LOCK_EX|LOCK_NB) == 0
        && fstat(copy->lock, &own) == 0
        && stat(copy->lock_name, &named) == 0
        && own.st_ino == named.st_ino && own.st_dev == named.st_dev)
    {
        return 1;
    }

    (void) close(copy->lock);
    copy->lock = -1;

    return 0;
}


/*
 * Processes that wait for the lock then find the database migrated, or try
 * themselves.
 */

static void
sm_sqlite_copy_unlock(sm_sqlite_copy_t *copy)
{
    if (copy->lock != -1) {
        (void) unlink(copy->lock_name);
        (void) close(copy->lock);
    }
}


/*
 * Creates the new file, empty.  Whoever may not read the database may not read
 * the copy either, and it is never readable by everybody.
 */

static int
sm_sqlite_copy_open(sm_sqlite_t *sq, sm_call_t *call, sm_sqlite_copy_t *copy)
{
    struct stat  st;

    if (stat(sq->sql.conf->path, &st) != 0) {
        return sm_sqlite_copy_fail(sq, call, copy, errno);
    }

    copy->fd = open(copy->new_name, O_RDWR|O_CREAT|O_CLOEXEC|O_NOFOLLOW, 0600);

    if (copy->fd == -1 || ftruncate(copy->fd, 0) != 0
        || fchmod(copy->fd, st.st_mode & 0660) != 0)
    {
        return sm_sqlite_copy_fail(sq, call, copy, errno);
    }

    return 0;
}


/* Makes the copy durable and gives it its name. */

static int
sm_sqlite_copy_keep(sm_sqlite_t *sq, sm_call_t *call, sm_sqlite_copy_t *copy)
{
    int    fd, rc;
    char  *slash, c;

    if (fsync(copy->fd) != 0 || rename(copy->new_name, copy->name) != 0) {
        return sm_sqlite_copy_fail(sq, call, copy, errno);
    }

    slash = strrchr(copy->name, '/');

    if (slash == NULL) {
        fd = open(".", O_RDONLY|O_CLOEXEC);

    } else {
        c = slash[1];
        slash[1] = '\0';
        fd = open(copy->name, O_RDONLY|O_CLOEXEC);
        slash[1] = c;
    }

    rc = fd == -1 ? -1 : fsync(fd);

    if (rc != 0) {
        (void) sm_sqlite_copy_fail(sq, call, copy, errno);
    }

    if (fd != -1) {
        (void) close(fd);
    }

    return rc;
}


static int
sm_sqlite_copy_write(sm_sqlite_t *sq, sm_call_t *call, sm_sqlite_copy_t *copy)
{
    int    rc;
    char  *sql;

    if (sm_sqlite_copy_open(sq, call, copy) != 0) {
        return -1;
    }

    sql = sqlite3_mprintf("VACUUM INTO %Q", copy->new_name);
    if (sql == NULL) {
        return sm_call_no_memory(call);
    }

    rc = sqlite3_exec(sq->db, sql, NULL, NULL, NULL);

    sqlite3_free(sql);

    return rc == SQLITE_OK ? sm_sqlite_copy_keep(sq, call, copy)
                           : sm_sqlite_copy_fail(sq, call, copy, 0);
}


/*
 * Returns 1 if there is a copy, 0 if another process has migrated the
 * database, or -1.
 */

static int
sm_sqlite_copy(sm_sqlite_t *sq, sm_call_t *call, sm_sqlite_copy_t *copy)
{
    int                 n, rc;
    sm_sqlite_schema_t  schema;

    for (n = 0; /* void */; n++) {

        rc = sm_sqlite_copy_lock(sq, call, copy);

        if (rc < 0 || sm_sqlite_schema_get(sq, call, &schema) != 0) {
            break;
        }

        if (schema.version >= sm_sqlite_release->version) {
            rc = 0;
            break;
        }

        if (rc == 1) {

            if (sm_sqlite_copy_write(sq, call, copy) == 0) {
                return 1;
            }

            break;
        }

        if (!sm_sqlite_busy(sq, n)) {
            return sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                                "%s: another process migrates the database",
                                sq->sql.conf->path);
        }
    }

    if (copy->fd != -1) {
        (void) unlink(copy->new_name);
    }

    return call->status == SM_STORE_OK ? 0 : -1;
}


static int
sm_sqlite_schema_write(sm_sqlite_t *sq, sm_call_t *call)
{
    int                 v;
    sm_sqlite_schema_t  schema;

    if (sm_sqlite_schema_get(sq, call, &schema) != 0) {
        return -1;
    }

    if (schema.version >= sm_sqlite_release->version) {
        return 0;
    }

    if (schema.version) {

        for (v = schema.version; v < sm_sqlite_release->version; v++) {

            if (sm_sqlite_exec(sq, call, sm_sqlite_release->migrations[v - 1])
                != 0)
            {
                return -1;
            }
        }
    }

    return sm_sqlite_exec(sq, call, sm_sqlite_release->schema);
}


/* Creates or migrates the schema, unless another process has done so. */

static int
sm_sqlite_schema_make(sm_sqlite_t *sq, sm_call_t *call)
{
    sm_sqlite_start_call(sq);

    if (sm_sqlite_exec(sq, call, "BEGIN IMMEDIATE") != 0) {
        return -1;
    }

    if (sm_sqlite_schema_write(sq, call) != 0
        || sm_sqlite_exec(sq, call, "COMMIT") != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return 0;
}


static int
sm_sqlite_schema_migrate(sm_sqlite_t *sq, sm_call_t *call, int version)
{
    int               rc;
    sm_sqlite_copy_t  copy;

    if (sq->sql.conf->migrate_no_copy) {
        return sm_sqlite_schema_make(sq, call);
    }

    copy.fd = -1;
    copy.lock = -1;
    copy.name = sqlite3_mprintf("%s.v%d", sq->sql.conf->path, version);
    copy.new_name = sqlite3_mprintf("%s.v%d.new", sq->sql.conf->path, version);
    copy.lock_name = sqlite3_mprintf("%s.v%d.lock", sq->sql.conf->path,
                                     version);

    if (copy.name && copy.new_name && copy.lock_name) {
        rc = sm_sqlite_copy(sq, call, &copy);

    } else {
        rc = sm_call_no_memory(call);
    }

    if (rc == 1) {
        rc = sm_sqlite_schema_make(sq, call);
    }

    if (copy.fd != -1) {
        (void) close(copy.fd);
    }

    sm_sqlite_copy_unlock(&copy);

    sqlite3_free(copy.lock_name);
    sqlite3_free(copy.new_name);
    sqlite3_free(copy.name);

    return rc;
}


int
sm_sqlite_schema(sm_sqlite_t *sq, sm_call_t *call)
{
    int                 rc;
    sm_sqlite_schema_t  schema;

    if (sm_sqlite_schema_get(sq, call, &schema) != 0) {
        return -1;
    }

    if (schema.version == 0 && !sq->create) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: the database is empty, and an empty one is "
                            "only filled at start or reload",
                            sq->sql.conf->path);
    }

    if (schema.version < sm_sqlite_release->version) {

        rc = schema.version == 0
             ? sm_sqlite_schema_make(sq, call)
             : sm_sqlite_schema_migrate(sq, call, schema.version);

        if (rc != 0 || sm_sqlite_schema_get(sq, call, &schema) != 0) {
            return -1;
        }
    }

    return sm_store_schema_check(call, sq->sql.conf->path,
                                 sm_sqlite_release->version, schema.version,
                                 schema.compatible_from);
}
