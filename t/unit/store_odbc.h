#ifndef STORE_ODBC_H
#define STORE_ODBC_H

/*
 * Databases of a server for store.h, and SQL on it.
 *
 * SUBMISSION_TEST_STORE is the connection string of a login that may create
 * databases and roles on a PostgreSQL, such as t/tools/postgres.sh prints.  The
 * store itself connects as a login that has the role of sql/postgres/role.sql,
 * and nothing more.
 *
 * On Babelfish, which is a PostgreSQL and speaks T-SQL, SUBMISSION_TEST_STORE is
 * for FreeTDS, and SUBMISSION_TEST_SQL for its port of PostgreSQL.  There is one
 * database a process, which is emptied for each fixture.
 *
 * The locale is that of a worker of nginx, whatever the one of the test's caller
 * is: drivers convert by it.
 *
 * SQL beside the store sees the tables as SQLite has them, by views of a schema
 * of the tests' own: store_postgres.sql.
 */

#include "sm_store_odbc.h"


/* a view's tables are locked with it */

#define SERVER_LOCK                                                           \
    "BEGIN; LOCK TABLE submission_manager_leases, "                           \
    "submission_manager_candidates, submission_intents, submission_attempts " \
    "IN EXCLUSIVE MODE"

#define SERVER_REFUSE                                                         \
    "RAISE EXCEPTION '%s' USING ERRCODE = 'check_violation'"

#define SERVER_LOGIN     "submission_test"
#define SERVER_PASSWORD  "pw{1};2=3"


static int64_t  *server_now_ms;         /* the test sets the clock */


/* the connection string, NULL: none */

static inline const char *
store_string(void)
{
    const char  *env = getenv("SUBMISSION_TEST_STORE");

    return env == NULL || *env == '\0' || strcmp(env, "sqlite") == 0
           ? NULL : env;
}


static inline int
on_babelfish(void)
{
    return getenv("SUBMISSION_TEST_SQL") != NULL;
}


/* the string without these keys, and more */

static inline void
server_string(char *buf, size_t size, const char *more)
{
    size_t       len;
    const char  *p, *end;

    static const char  *keys[] = { "database=", "uid=", "pwd=" };

    for (p = store_string(), len = 0; *p; p = *end ? end + 1 : end) {
        end = strchr(p, ';');
        end = end ? end : p + strlen(p);

        if (strncasecmp(p, keys[0], strlen(keys[0])) == 0
            || (strstr(more, "UID=")
                && (strncasecmp(p, keys[1], strlen(keys[1])) == 0
                    || strncasecmp(p, keys[2], strlen(keys[2])) == 0)))
        {
            continue;
        }

        len += snprintf(buf + len, size - len, "%.*s;", (int) (end - p), p);
        must(len < size);
    }

    must(len + snprintf(buf + len, size - len, "%s", more) < size);
}


static inline SQLHDBC
server_connect(const char *string)
{
    SQLHDBC          dbc;
    sm_call_t        call;
    sm_odbc_t        od;
    sm_store_conf_t  conf;

    static SQLHENV  env;

    if (env == NULL) {
        (void) unsetenv("LANG");
        (void) unsetenv("LC_ALL");
        (void) unsetenv("LC_CTYPE");

        must(SQLAllocHandle(SQL_HANDLE_ENV, NULL, &env) == SQL_SUCCESS);
        must(SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION,
                           (SQLPOINTER) SQL_OV_ODBC3, 0) == SQL_SUCCESS);
    }

    must(SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc) == SQL_SUCCESS);

    if (!SQL_SUCCEEDED(SQLDriverConnect(dbc, NULL, (SQLCHAR *) string, SQL_NTS,
                                        NULL, 0, NULL, SQL_DRIVER_NOPROMPT)))
    {
        memset(&od, 0, sizeof(od));
        memset(&conf, 0, sizeof(conf));
        od.server.conf = &conf;
        (void) sm_odbc_fail(&od, &call, SQL_HANDLE_DBC, dbc);
        diag("%s", call.error);
        must(!"connection failed");
    }

    return dbc;
}


static inline void
server_disconnect(void *dbc)
{
    (void) SQLDisconnect(dbc);
    (void) SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}


/* one that was closed is kept, for the next one of its database and process */

static struct {
    void  *dbc;
    int    pid;
    char   database[64];
} server_kept;


static inline void
server_forget(void)
{
    if (server_kept.dbc && server_kept.pid == getpid()) {
        server_disconnect(server_kept.dbc);
    }

    server_kept.dbc = NULL;
}


static inline void
server_close(void *dbc)
{
    if (server_kept.dbc || server_kept.pid != getpid()) {
        server_disconnect(dbc);

    } else {
        server_kept.dbc = dbc;
    }
}


static inline SQLHSTMT
server_exec(void *dbc, const char *text)
{
    SQLHSTMT         stmt;
    sm_call_t        call;
    sm_odbc_t        od;
    sm_store_conf_t  conf;

    must(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt) == SQL_SUCCESS);
    (void) SQLSetStmtAttr(stmt, SQL_ATTR_NOSCAN, (SQLPOINTER) SQL_NOSCAN_ON, 0);

    if (SQLExecDirect(stmt, (SQLCHAR *) text, SQL_NTS) == SQL_ERROR) {
        memset(&od, 0, sizeof(od));
        memset(&conf, 0, sizeof(conf));
        od.server.conf = &conf;
        (void) sm_odbc_fail(&od, &call, SQL_HANDLE_STMT, stmt);
        diag("%.300s: %s", text, call.error);
        must(!"SQL failed");
    }

    return stmt;
}


static inline void
server_run(void *dbc, const char *text)
{
    (void) SQLFreeHandle(SQL_HANDLE_STMT, server_exec(dbc, text));
}


/* "concat_ws_(a, b)" to "concat_ws_(jsonb_build_array(a, b))" */

static inline void
server_translate(const char *text, char *buf, size_t size)
{
    int          depth, in[16], n;
    size_t       len;
    const char  *p;

    static const char  word[] = "concat_ws_(";

    for (p = text, len = 0, depth = 0, n = 0; *p; p++) {

        must(len + 64 < size && n < 16);

        if (strncmp(p, word, sizeof(word) - 1) == 0) {
            len += sprintf(buf + len, "%sjsonb_build_array(", word);
            in[n++] = depth++;
            p += sizeof(word) - 2;
            continue;
        }

        depth += *p == '(';
        depth -= *p == ')';
        buf[len++] = *p;

        if (*p == ')' && n && in[n - 1] == depth) {
            buf[len++] = ')';
            n--;
        }
    }

    buf[len] = '\0';
}


static inline const char *
server_text(void *dbc, const char *text, char *result, size_t size)
{
    SQLLEN      len;
    SQLHSTMT    stmt;
    SQLRETURN   rc;

    char  translated[8192];

    server_translate(text, translated, sizeof(translated));

    stmt = server_exec(dbc, translated);
    rc = SQLFetch(stmt);

    if (SQL_SUCCEEDED(rc)) {
        must(SQL_SUCCEEDED(SQLGetData(stmt, 1, SQL_C_CHAR, result, size - 1,
                                      &len)));

        if (len == SQL_NULL_DATA) {
            rc = SQL_NO_DATA;

        } else {
            must(len >= 0 && (size_t) len < size);
            result[len] = '\0';
        }
    }

    (void) SQLFreeHandle(SQL_HANDLE_STMT, stmt);

    return SQL_SUCCEEDED(rc) ? result : NULL;
}


/* "@" in it is the name; T-SQL is in batches, between lines of GO */

static inline void
server_file_of(void *dbc, const char *path, const char *name)
{
    long   size;
    char  *text, *out, *p, *q, *go;
    FILE  *file;

    must((file = fopen(path, "r")) != NULL);
    must(fseek(file, 0, SEEK_END) == 0);
    must((size = ftell(file)) >= 0);
    must((text = calloc(1, size + 1)) != NULL);
    rewind(file);
    must(fread(text, 1, size, file) == (size_t) size);
    must(fclose(file) == 0);

    must((out = calloc(1, 8 * size + 1)) != NULL);

    for (p = text, q = out; *p; p++) {
        if (name && *p == '@') {
            q = stpcpy(q, name);

        } else {
            *q++ = *p;
        }
    }

    for (p = out; (go = strstr(p, "\nGO\n")) != NULL; p = go + 4) {
        *go = '\0';
        server_run(dbc, p);
    }

    if (p[strspn(p, " \n")]) {
        server_run(dbc, p);
    }

    free(out);
    free(text);
}


static inline void
server_file(void *dbc, const char *path)
{
    server_file_of(dbc, path, NULL);
}


static inline int
server_sql_file(const struct dirent *e)
{
    size_t  len = strlen(e->d_name);

    return len > 4 && strcmp(e->d_name + len - 4, ".sql") == 0
           && strcmp(e->d_name, "schema.sql") != 0
           && strcmp(e->d_name, "role.sql") != 0
           && strcmp(e->d_name, "monitor.sql") != 0;
}


static inline void
server_files(void *dbc, const char *dir)
{
    int             i, n;
    char            path[512];
    struct dirent **files;

    (void) snprintf(path, sizeof(path), "%s/schema.sql", dir);
    server_file(dbc, path);

    must((n = scandir(dir, &files, server_sql_file, alphasort)) > 0);

    for (i = 0; i < n; i++) {
        (void) snprintf(path, sizeof(path), "%s/%s", dir, files[i]->d_name);
        server_file(dbc, path);
        free(files[i]);
    }

    free(files);

    (void) snprintf(path, sizeof(path), "%s/role.sql", dir);
    server_file(dbc, path);
}


static inline void
server_install(const char *database)
{
    char     string[1024], more[128];
    SQLHDBC  dbc;

    (void) snprintf(more, sizeof(more), "Database=%s", database);
    server_string(string, sizeof(string), more);
    dbc = server_connect(string);

    if (on_babelfish()) {
        server_files(dbc, "sql/mssql");
        server_run(dbc, "CREATE TABLE submission.test_clock (us bigint)");
        server_run(dbc, "INSERT INTO submission.test_clock VALUES (0)");
        server_disconnect(dbc);

        dbc = server_connect(getenv("SUBMISSION_TEST_SQL"));
        (void) snprintf(more, sizeof(more), "t_%s", database);
        server_file_of(dbc, "t/unit/store_mssql.sql", database);
        server_file_of(dbc, "t/unit/store_functions.sql", more);
        server_disconnect(dbc);
        return;
    }

    server_run(dbc, "BEGIN");
    server_files(dbc, "sql/postgres");
    server_file(dbc, "t/unit/store_postgres.sql");
    server_file_of(dbc, "t/unit/store_functions.sql", "t");
    server_run(dbc, "COMMIT");
    server_disconnect(dbc);
}


static char  server_template[32];
static int   server_pid;


static inline void
server_exit(void)
{
    int        i;
    char       text[128], string[1024];
    SQLHDBC    dbc;
    SQLHSTMT   stmt;
    SQLRETURN  rc;

    if (getpid() != server_pid) {
        return;
    }

    if (on_babelfish()) {
        server_forget();
        dbc = server_connect(getenv("SUBMISSION_TEST_SQL"));
        (void) snprintf(text, sizeof(text), "DROP SCHEMA \"t_%s\" CASCADE",
                        server_template);
        server_run(dbc, text);
        server_disconnect(dbc);
    }

    server_string(string, sizeof(string),
                  on_babelfish() ? "Database=master" : "Database=postgres");
    dbc = server_connect(string);
    (void) snprintf(text, sizeof(text), "DROP DATABASE %s%s", server_template,
                    on_babelfish() ? "" : " WITH (FORCE)");

    /* sessions that were left in the middle of a call end when it does */

    for (i = 0; i < 100; i++) {
        must(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt) == SQL_SUCCESS);
        rc = SQLExecDirect(stmt, (SQLCHAR *) text, SQL_NTS);
        (void) SQLFreeHandle(SQL_HANDLE_STMT, stmt);

        if (rc != SQL_ERROR) {
            break;
        }

        (void) usleep(100000);
    }

    server_disconnect(dbc);
}


/* on Babelfish: the one of the process, without what others left in it */

static inline void
server_empty(fixture_t *f)
{
    char     text[1024];
    SQLHDBC  dbc;

    (void) snprintf(f->database, sizeof(f->database), "%s", server_template);
    (void) snprintf(text, sizeof(text), "Database=%s", f->database);
    server_string(f->connection, sizeof(f->connection), text);

    dbc = server_connect(getenv("SUBMISSION_TEST_SQL"));
    (void) snprintf(text, sizeof(text), "DO $$ DECLARE r record; BEGIN "
                    "FOR r IN SELECT tgname, tgrelid::regclass AS t "
                    "FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid "
                    "WHERE NOT tgisinternal AND c.relnamespace = "
                    "'\"%s_submission\"'::regnamespace LOOP "
                    "EXECUTE format('DROP TRIGGER %%I ON %%s', r.tgname, r.t); "
                    "END LOOP; END $$", f->database);
    server_run(dbc, text);
    (void) snprintf(text, sizeof(text), "SET search_path = \"%s_submission\"; "
                    "DELETE FROM submission_manager_leases; "
                    "DELETE FROM submission_manager_candidates; "
                    "DELETE FROM submission_intents; "
                    "DELETE FROM submission_attempts", f->database);
    server_run(dbc, text);
    server_disconnect(dbc);

    dbc = server_connect(f->connection);
    server_run(dbc, "DROP FUNCTION IF EXISTS submission.submission_now");
    server_run(dbc, server_now_ms ?
               "CREATE FUNCTION submission.submission_now () RETURNS "
               "datetime2(7) AS BEGIN RETURN (SELECT "
               "submission.submission_at(us) FROM submission.test_clock); END"
               : "CREATE FUNCTION submission.submission_now () RETURNS "
               "datetime2(7) AS BEGIN RETURN SYSUTCDATETIME(); END");
    server_disconnect(dbc);
}


/* a database of its own, from one that has the schema, made once a process */

static inline void
server_create(fixture_t *f)
{
    char     text[512], string[1024];
    SQLHDBC  dbc;

    static int  count;

    /* SQL of the tests needs it */

    must(strstr(store_string(), "FreeTDS") == NULL
         || getenv("SUBMISSION_TEST_SQL") != NULL);

    if (on_babelfish()) {

        if (server_pid == 0) {
            server_pid = getpid();
            must(atexit(server_exit) == 0);

            (void) snprintf(server_template, sizeof(server_template), "t%d",
                            server_pid);
            server_string(string, sizeof(string), "Database=master");
            dbc = server_connect(string);
            (void) snprintf(text, sizeof(text), "CREATE DATABASE %s",
                            server_template);
            server_run(dbc, text);
            server_disconnect(dbc);
            server_install(server_template);
        }

        server_empty(f);
        return;
    }

    server_string(string, sizeof(string), "Database=postgres");
    dbc = server_connect(string);

    if (server_pid == 0) {
        server_pid = getpid();
        must(atexit(server_exit) == 0);

        (void) snprintf(server_template, sizeof(server_template),
                        "submission_t%d", server_pid);
        (void) snprintf(text, sizeof(text), "DROP DATABASE IF EXISTS %s",
                        server_template);
        server_run(dbc, text);
        (void) snprintf(text, sizeof(text), "CREATE DATABASE %s",
                        server_template);
        server_run(dbc, text);
        server_install(server_template);

        server_run(dbc, "DO $$ BEGIN CREATE ROLE " SERVER_LOGIN " LOGIN "
                   "PASSWORD '" SERVER_PASSWORD "' IN ROLE submission_nginx; "
                   "EXCEPTION WHEN duplicate_object OR unique_violation THEN "
                   "NULL; END $$");
    }

    (void) snprintf(f->database, sizeof(f->database), "%s_%d", server_template,
                    count++);
    (void) snprintf(text, sizeof(text), "CREATE DATABASE %s TEMPLATE %s",
                    f->database, server_template);
    server_run(dbc, text);
    server_disconnect(dbc);

    (void) snprintf(text, sizeof(text), "Database=%s;UID=" SERVER_LOGIN
                    ";PWD={pw{1}};2=3}", f->database);
    server_string(f->connection, sizeof(f->connection), text);

    if (server_now_ms) {
        (void) snprintf(text, sizeof(text), "Database=%s", f->database);
        server_string(string, sizeof(string), text);
        dbc = server_connect(string);
        server_run(dbc, "SELECT t.set_clock()");
        server_disconnect(dbc);
    }
}


static inline void
server_drop(fixture_t *f)
{
    char     text[512], string[1024];
    SQLHDBC  dbc;

    server_forget();

    if (on_babelfish()) {
        return;
    }

    server_string(string, sizeof(string), "Database=postgres");
    dbc = server_connect(string);
    (void) snprintf(text, sizeof(text), "DROP DATABASE %s WITH (FORCE)",
                    f->database);
    server_run(dbc, text);
    server_disconnect(dbc);
}


static inline void *
server_open(fixture_t *f)
{
    char     text[512], string[1024];
    SQLHDBC  dbc;

    if (server_kept.pid == getpid() && server_kept.dbc
        && strcmp(server_kept.database, f->database) == 0)
    {
        dbc = server_kept.dbc;
        server_kept.dbc = NULL;

    } else {
        server_forget();
        server_kept.pid = getpid();
        (void) snprintf(server_kept.database, sizeof(server_kept.database),
                        "%s", f->database);

        (void) snprintf(text, sizeof(text), "Database=%s", f->database);
        server_string(string, sizeof(string), text);
        dbc = server_connect(on_babelfish() ? getenv("SUBMISSION_TEST_SQL")
                                            : string);
    }

    (void) snprintf(text, sizeof(text), on_babelfish()
                    ? "RESET lock_timeout; SET client_encoding = 'UTF8'; "
                      "SET search_path = \"t_%s\"; "
                      "SET synchronous_commit = off"
                    : "RESET ALL; SET client_encoding = 'UTF8'; "
                      "SET search_path = t, submission; "
                      "SET synchronous_commit = off", f->database);
    server_run(dbc, text);

    return dbc;
}


static inline void
server_clock(fixture_t *f)
{
    char   text[128];
    void  *dbc;

    static int64_t  last;
    static char     database[64];

    if (server_now_ms == NULL
        || (*server_now_ms == last && strcmp(database, f->database) == 0))
    {
        return;
    }

    last = *server_now_ms;
    (void) snprintf(database, sizeof(database), "%s", f->database);

    dbc = server_open(f);
    (void) snprintf(text, sizeof(text), on_babelfish()
                    ? "UPDATE \"%2$s_submission\".test_clock SET us = %1$lld"
                    : "UPDATE t.clock SET us = %1$lld",
                    (long long) last * 1000, f->database);
    server_run(dbc, text);
    server_close(dbc);
}


/* the schema of the tables themselves, and of what is the test's own */

static inline const char *
server_schema(fixture_t *f, int own)
{
    static char  name[2][128];

    (void) snprintf(name[own], sizeof(name[own]),
                    on_babelfish() ? own ? "\"t_%s\"" : "\"%s_submission\""
                                   : own ? "t" : "submission", f->database);

    return name[own];
}


static inline void
server_trigger(fixture_t *f, const char *name, const char *when,
    const char *table, const char *condition, const char *action)
{
    char         text[4096];
    void        *dbc;
    const char  *own, *tables;

    dbc = server_open(f);
    own = server_schema(f, 1);
    tables = server_schema(f, 0);

    (void) snprintf(text, sizeof(text), "CREATE OR REPLACE FUNCTION %s.%s() "
                    "RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
                    "SET search_path = %s, %s AS $$ "
                    "BEGIN %s; RETURN new; END $$", own, name, own, tables,
                    action);
    server_run(dbc, text);

    (void) snprintf(text, sizeof(text), "CREATE TRIGGER %s %s ON %s.%s "
                    "FOR EACH ROW WHEN (%s) EXECUTE FUNCTION %s.%s()", name,
                    when, tables, table, condition, own, name);
    server_run(dbc, text);
    server_close(dbc);
}


/*
 * What refuses for its data, with this in the message.  Babelfish takes an
 * exception of a trigger for one of no number: it has to be a constraint.
 */

static inline void
server_refuse(fixture_t *f, const char *message, char *action, size_t size)
{
    char         text[1024];
    void        *dbc;
    const char  *own;

    if (!on_babelfish()) {
        (void) snprintf(action, size, SERVER_REFUSE, message);
        return;
    }

    dbc = server_open(f);
    own = server_schema(f, 1);

    (void) snprintf(text, sizeof(text), "CREATE TABLE IF NOT EXISTS %s.\"%s\" "
                    "(v integer CONSTRAINT \"%s\" CHECK (v = 0))", own,
                    message, message);
    server_run(dbc, text);
    server_close(dbc);

    (void) snprintf(action, size, "INSERT INTO %s.\"%s\" VALUES (1)", own,
                    message);
}


#endif /* STORE_ODBC_H */
