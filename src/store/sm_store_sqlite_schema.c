
/*
 * The schema of the embedded store: it is made in a file that is new, and a file
 * of an older version is migrated by the first connection that finds it.
 *
 * Either is one transaction that begins with the write lock, and looks again at
 * what is there when it has it: of any number of processes one does it, the
 * others wait and find it done.  Modules of the version before go on with the file
 * meanwhile and afterwards; they wait for the transaction.
 *
 * A copy is made before that, which takes longer, and no write lock.  Its new file
 * is locked from its beginning to the end of the migration, so that one process
 * makes one; what a process that was killed has left of it is made anew.
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
    int                     version;            /* 0: there is none */
    int                     compatible_from;
} sm_sqlite_schema_t;


typedef struct {
    char                   *name;               /* beside the database */
    char                   *new_name;           /* until it is whole */
    int                     fd;                 /* -1: none */
} sm_sqlite_copy_t;


typedef struct {
    int                     version;            /* that it leads to */
    const char             *sql;
} sm_sqlite_migration_t;


static const sm_sqlite_migration_t  sm_sqlite_migrations[] = {
    { 2, sm_sqlite_sql_migrate_002 }
};

_Static_assert(sizeof(sm_sqlite_migrations) / sizeof(sm_sqlite_migrations[0])
               == SM_SCHEMA_VERSION - 1,
               "a version has no migration");


/* 1: there, 0: not there, -1 */

static int
sm_sqlite_schema_column(sm_sqlite_t *sq, sm_call_t *call, const char *name)
{
    switch (sqlite3_table_column_metadata(sq->db, "main", "submission_schema",
                                          name, NULL, NULL, NULL, NULL, NULL))
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
    int            rc, from;
    sqlite3_stmt  *stmt;

    s->version = 0;
    s->compatible_from = 0;

    /* what this connection knows of the tables may be from before a migration */

    if (sm_sqlite_exec(sq, call, "SELECT 1 FROM sqlite_master LIMIT 1") != 0) {
        return -1;
    }

    rc = sm_sqlite_schema_column(sq, call, "version");
    if (rc != 1) {
        return rc;
    }

    /* version 1 has no such column */

    from = sm_sqlite_schema_column(sq, call, "compatible_from");
    if (from < 0) {
        return -1;
    }

    if (sqlite3_prepare_v2(sq->db,
                           from ? sm_sqlite_sql_schema_version
                                : "SELECT version, version "
                                  "FROM submission_schema",
                           -1, &stmt, NULL)
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
 * 1: it is ours, empty, and locked; 0: somebody else has it, or had it until now;
 * -1
 */

static int
sm_sqlite_copy_lock(sm_sqlite_t *sq, sm_call_t *call, sm_sqlite_copy_t *copy)
{
    struct stat  st, own, named;

    if (stat(sq->conf->path, &st) != 0) {
        return sm_sqlite_copy_fail(sq, call, copy, errno);
    }

    copy->fd = open(copy->new_name, O_RDWR|O_CREAT|O_CLOEXEC|O_NOFOLLOW, 0600);
    if (copy->fd == -1) {
        return sm_sqlite_copy_fail(sq, call, copy, errno);
    }

    if (flock(copy->fd, LOCK_EX|LOCK_NB) == 0
        && fstat(copy->fd, &own) == 0
        && stat(copy->new_name, &named) == 0
        && own.st_ino == named.st_ino && own.st_dev == named.st_dev)
    {
        /*
         * nobody may read in the copy what he may not read in the database,
         * and not everybody in any case
         */

        if (ftruncate(copy->fd, 0) == 0
            && fchmod(copy->fd, st.st_mode & 0660) == 0)
        {
            return 1;
        }

        return sm_sqlite_copy_fail(sq, call, copy, errno);
    }

    (void) close(copy->fd);
    copy->fd = -1;

    return 0;
}


/* what is written there is there after a crash, under its name */

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

    sql = sqlite3_mprintf("VACUUM INTO %Q", copy->new_name);
    if (sql == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    rc = sqlite3_exec(sq->db, sql, NULL, NULL, NULL);

    sqlite3_free(sql);

    return rc == SQLITE_OK ? sm_sqlite_copy_keep(sq, call, copy)
                           : sm_sqlite_copy_fail(sq, call, copy, 0);
}


/* 1: there is a copy; 0: another process has migrated the database; -1 */

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

        if (schema.version >= SM_SCHEMA_VERSION) {
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
                                sq->conf->path);
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
    size_t              i;
    sm_sqlite_schema_t  schema;

    if (sm_sqlite_schema_get(sq, call, &schema) != 0) {
        return -1;
    }

    if (schema.version >= SM_SCHEMA_VERSION) {
        return 0;
    }

    for (i = schema.version ? schema.version - 1 : SM_SCHEMA_VERSION;
         i < SM_SCHEMA_VERSION - 1;
         i++)
    {
        if (sm_sqlite_exec(sq, call, sm_sqlite_migrations[i].sql) != 0) {
            return -1;
        }
    }

    return sm_sqlite_exec(sq, call, sm_sqlite_sql_schema);
}


/* makes it, or migrates it, unless somebody else has */

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

    if (sq->conf->migrate_no_copy) {
        return sm_sqlite_schema_make(sq, call);
    }

    copy.fd = -1;
    copy.name = sqlite3_mprintf("%s.v%d", sq->conf->path, version);
    copy.new_name = sqlite3_mprintf("%s.v%d.new", sq->conf->path, version);

    if (copy.name && copy.new_name) {
        rc = sm_sqlite_copy(sq, call, &copy);

    } else {
        rc = sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    if (rc == 1) {
        rc = sm_sqlite_schema_make(sq, call);
    }

    /* those who wait for the lock find the database migrated, or go on */

    if (copy.fd != -1) {
        (void) close(copy.fd);
    }

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
                            "only filled at start or reload", sq->conf->path);
    }

    if (schema.version < SM_SCHEMA_VERSION) {

        rc = schema.version == 0
             ? sm_sqlite_schema_make(sq, call)
             : sm_sqlite_schema_migrate(sq, call, schema.version);

        if (rc != 0 || sm_sqlite_schema_get(sq, call, &schema) != 0) {
            return -1;
        }
    }

    return sm_store_schema_check(call, sq->conf->path, schema.version,
                                 schema.compatible_from);
}
