#ifndef STORE_SERVER_H
#define STORE_SERVER_H

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

#include <libpq-fe.h>

#include "sm_store_odbc.h"
#include "sm_store_postgres.h"


/* a view's tables are locked with it */

#define SERVER_LOCK                                                           \
    "BEGIN; LOCK TABLE submission_manager_leases, "                           \
    "submission_manager_candidates, submission_intents, submission_attempts " \
    "IN EXCLUSIVE MODE"

#define SERVER_REFUSE                                                         \
    "RAISE EXCEPTION '%s' USING ERRCODE = 'check_violation'"

#define SERVER_BOOL      16             /* the type, in the catalogue */

#define SERVER_LOGIN     "submission_test"
#define SERVER_PASSWORD  "pw{1};2=3"
#define SERVER_TDS_PASSWORD  "pw{1 ;2=3"    /* FreeTDS takes no "}" with ";" */


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


/*
 * The string with another database, and login where there is one.  Keys of
 * PostgreSQL's are separated by spaces, those of ODBC by semicolons.
 */

static inline void
server_string(char *buf, size_t size, const char *database, const char *login,
    const char *password)
{
    char         separator;
    size_t       len, i;
    const char  *p, *end;

    static const char  *keys[] = { "database=", "dbname=", "uid=", "pwd=",
                                   "user=", "password=" };

    separator = on_babelfish() ? ';' : ' ';

    for (p = store_string(), len = 0; *p; p = *end ? end + 1 : end) {
        end = strchr(p, separator);
        end = end ? end : p + strlen(p);

        for (i = 0; i < (login ? 6 : 2); i++) {
            if (strncasecmp(p, keys[i], strlen(keys[i])) == 0) {
                break;
            }
        }

        if (i == (login ? 6 : 2)) {
            len += snprintf(buf + len, size - len, "%.*s%c", (int) (end - p),
                            p, separator);
            must(len < size);
        }
    }

    len += snprintf(buf + len, size - len,
                    on_babelfish() ? "Database=%s" : "dbname=%s", database);
    must(len < size);

    if (login) {
        len += snprintf(buf + len, size - len,
                        on_babelfish() ? ";UID=%s" : " user=%s", login);
        must(len < size);
    }

    if (password) {
        len += snprintf(buf + len, size - len,
                        on_babelfish() ? ";PWD={%s};" : " password='%s'",
                        password);
        must(len < size);
    }
}


static inline void
server_notice(void *data, const char *message)
{
    (void) data;
    (void) message;
}


static inline void *
server_connect(const char *string)
{
    PGconn  *pq;

    pq = PQconnectdb(string);

    if (PQstatus(pq) != CONNECTION_OK) {
        diag("%s", PQerrorMessage(pq));
        must(!"connection failed");
    }

    (void) PQsetNoticeProcessor(pq, server_notice, NULL);

    return pq;
}


static inline void
server_disconnect(void *pq)
{
    PQfinish(pq);
}


static inline PGresult *
server_exec(void *pq, const char *text)
{
    PGresult  *result;

    result = PQexec(pq, text);

    switch (PQresultStatus(result)) {

    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_EMPTY_QUERY:
        return result;

    default:
        diag("%.300s: %s", text, PQerrorMessage(pq));
        must(!"SQL failed");
        return NULL;
    }
}


static inline void
server_run(void *pq, const char *text)
{
    PQclear(server_exec(pq, text));
}


/* T-SQL, which crosses by ODBC alone */

static inline SQLHDBC
tds_connect(const char *string)
{
    SQLHDBC    dbc;
    sm_odbc_t  od;
    sm_call_t  call;

    static SQLHENV          env;
    static sm_store_conf_t  conf;

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
        od.sql.conf = &conf;
        (void) sm_odbc_fail(&od, &call, SQL_HANDLE_DBC, dbc);
        diag("%s", call.error);
        must(!"connection failed");
    }

    return dbc;
}


static inline void
tds_disconnect(SQLHDBC dbc)
{
    (void) SQLDisconnect(dbc);
    (void) SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}


/* -1: the server refuses, and "error" says why */

static inline int
tds_try(SQLHDBC dbc, const char *text, char *error, size_t size)
{
    SQLCHAR      state[6];
    SQLHSTMT     stmt;
    SQLRETURN    rc;
    SQLINTEGER   native;

    must(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt) == SQL_SUCCESS);
    (void) SQLSetStmtAttr(stmt, SQL_ATTR_NOSCAN, (SQLPOINTER) SQL_NOSCAN_ON, 0);

    rc = SQLExecDirect(stmt, (SQLCHAR *) text, SQL_NTS);

    if (rc == SQL_ERROR) {
        error[0] = '\0';
        (void) SQLGetDiagRec(SQL_HANDLE_STMT, stmt, 1, state, &native,
                             (SQLCHAR *) error, size, NULL);
    }

    (void) SQLFreeHandle(SQL_HANDLE_STMT, stmt);

    return rc == SQL_ERROR ? -1 : 0;
}


static inline void
tds_run(void *dbc, const char *text)
{
    char  error[1024];

    if (tds_try(dbc, text, error, sizeof(error)) != 0) {
        diag("%.300s: %s", text, error);
        must(!"SQL failed");
    }
}


/* one that was closed is kept, for the next one of its database and process */

static struct {
    void  *conn;
    int    pid;
    char   database[64];
} server_kept;


static inline void
server_forget(void)
{
    if (server_kept.conn && server_kept.pid == getpid()) {
        server_disconnect(server_kept.conn);
    }

    server_kept.conn = NULL;
}


static inline void
server_close(void *conn)
{
    if (server_kept.conn || server_kept.pid != getpid()) {
        server_disconnect(conn);

    } else {
        server_kept.conn = conn;
    }
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
server_text(void *pq, const char *text, char *result, size_t size)
{
    PGresult    *rows;
    const char  *value;

    char  translated[8192];

    server_translate(text, translated, sizeof(translated));

    rows = server_exec(pq, translated);
    value = NULL;

    if (PQntuples(rows) && !PQgetisnull(rows, 0, 0)) {
        value = PQgetvalue(rows, 0, 0);

        if (PQftype(rows, 0) == SERVER_BOOL) {
            value = *value == 't' ? "1" : "0";
        }

        must((size_t) snprintf(result, size, "%s", value) < size);
        value = result;
    }

    PQclear(rows);

    return value;
}


/* rows of intents and of their indexes that the transaction has read so far */

static inline int64_t
server_rows_read(void *pq)
{
    char  result[64];

    return atoll(server_text(pq, "SELECT "
                     "(SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid))"
                     " FROM pg_index WHERE indrelid = "
                     "'submission.submission_intents'::regclass) "
                     "+ pg_stat_get_xact_tuples_returned("
                     "'submission.submission_intents'::regclass)",
                     result, sizeof(result)));
}


/* "@" in it is the name; T-SQL is in batches, between lines of GO */

typedef void (*server_run_pt)(void *conn, const char *text);


static inline void
server_text_of(void *conn, server_run_pt run, FILE *file, const char *name)
{
    char    *text, *out, *p, *q, *go;
    size_t   size, room;

    text = NULL;
    size = 0;
    room = 0;

    do {
        room += 65536;
        must((text = realloc(text, room + 1)) != NULL);
        size += fread(text + size, 1, room - size, file);
    } while (size == room);

    text[size] = '\0';

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

        if (p[strspn(p, " \n")]) {
            run(conn, p);
        }
    }

    if (p[strspn(p, " \n")]) {
        run(conn, p);
    }

    free(out);
    free(text);
}


static inline void
server_file_of(void *conn, server_run_pt run, const char *path,
    const char *name)
{
    FILE  *file;

    must((file = fopen(path, "r")) != NULL);
    server_text_of(conn, run, file, name);
    must(fclose(file) == 0);
}


/* the schema and the procedures, as they are installed */

static inline void
server_files(void *conn, server_run_pt run, const char *dialect)
{
    char   command[64];
    FILE  *file;

    (void) snprintf(command, sizeof(command), "sql/install.sh print %s",
                    dialect);

    must((file = popen(command, "r")) != NULL);
    server_text_of(conn, run, file, NULL);
    must(pclose(file) == 0);
}


static inline void
server_install(const char *database)
{
    char   string[1024], schema[128];
    void  *conn;

    server_string(string, sizeof(string), database, NULL, NULL);

    if (on_babelfish()) {
        conn = tds_connect(string);
        server_files(conn, tds_run, "babelfish");
        tds_run(conn, "CREATE TABLE submission.test_clock (us bigint)");
        tds_run(conn, "INSERT INTO submission.test_clock VALUES (0)");
        tds_disconnect(conn);

        conn = server_connect(getenv("SUBMISSION_TEST_SQL"));
        (void) snprintf(schema, sizeof(schema), "t_%s", database);
        server_file_of(conn, server_run, "t/unit/store_mssql.sql", database);
        server_file_of(conn, server_run, "t/unit/store_functions.sql", schema);
        server_disconnect(conn);
        return;
    }

    conn = server_connect(string);
    server_run(conn, "BEGIN");
    server_files(conn, server_run, "postgres");
    server_file_of(conn, server_run, "t/unit/store_postgres.sql", NULL);
    server_file_of(conn, server_run, "t/unit/store_functions.sql", "t");
    server_run(conn, "COMMIT");
    server_disconnect(conn);
}


static char  server_template[32];
static int   server_pid;


/*
 * Databases of a Babelfish are rows of one catalogue, and two sessions that
 * change the same one fail: nobody else makes or removes one meanwhile.
 */

static void  *server_lock;


static inline void
server_alone(void)
{
    /* a test that ends in the middle has it already */

    if (server_lock == NULL) {
        server_lock = server_connect(getenv("SUBMISSION_TEST_SQL"));
        server_run(server_lock, "SELECT pg_advisory_lock(1)");
    }
}


static inline void
server_together(void)
{
    server_disconnect(server_lock);
    server_lock = NULL;
}


static inline void
server_exit(void)
{
    int    i;
    char   text[128], string[1024];
    void  *conn;

    if (getpid() != server_pid) {
        return;
    }

    if (!on_babelfish()) {
        server_string(string, sizeof(string), "postgres", NULL, NULL);
        conn = server_connect(string);
        (void) snprintf(text, sizeof(text), "DROP DATABASE %s WITH (FORCE)",
                        server_template);
        server_run(conn, text);
        server_disconnect(conn);
        return;
    }

    server_forget();
    server_alone();
    (void) snprintf(text, sizeof(text), "DROP SCHEMA IF EXISTS \"t_%s\" "
                    "CASCADE", server_template);
    server_run(server_lock, text);

    server_string(string, sizeof(string), "master", NULL, NULL);
    conn = tds_connect(string);
    (void) snprintf(text, sizeof(text), "DROP DATABASE %s", server_template);

    /* sessions that were left in the middle of a call end when it does */

    for (i = 0; i < 100 && tds_try(conn, text, string, sizeof(string)) != 0;
         i++)
    {
        (void) usleep(100000);
    }

    tds_disconnect(conn);
    server_together();
}


/* on Babelfish: the one of the process, without what others left in it */

static inline void
server_empty(fixture_t *f)
{
    char   text[1024];
    void  *conn;

    (void) snprintf(f->database, sizeof(f->database), "%s", server_template);
    server_string(f->connection, sizeof(f->connection), f->database, NULL,
                  NULL);

    conn = server_connect(getenv("SUBMISSION_TEST_SQL"));
    (void) snprintf(text, sizeof(text), "DO $$ DECLARE r record; BEGIN "
                    "FOR r IN SELECT tgname, tgrelid::regclass AS t "
                    "FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid "
                    "WHERE NOT tgisinternal AND c.relnamespace = "
                    "'\"%s_submission\"'::regnamespace LOOP "
                    "EXECUTE format('DROP TRIGGER %%I ON %%s', r.tgname, r.t); "
                    "END LOOP; END $$", f->database);
    server_run(conn, text);
    (void) snprintf(text, sizeof(text), "SET search_path = \"%s_submission\"; "
                    "DELETE FROM submission_manager_leases; "
                    "DELETE FROM submission_manager_candidates; "
                    "DELETE FROM submission_manager_target_names; "
                    "DELETE FROM submission_intents; "
                    "DELETE FROM submission_attempts; "
                    "DELETE FROM submission_audit; "
                    "DELETE FROM submission_inbox_refused; "
                    "DELETE FROM submission_schedules; "
                    "DELETE FROM submission_jobs", f->database);
    server_run(conn, text);
    server_disconnect(conn);

    conn = tds_connect(f->connection);
    tds_run(conn, "DROP FUNCTION IF EXISTS submission.submission_now");
    tds_run(conn, server_now_ms ?
            "CREATE FUNCTION submission.submission_now () RETURNS "
               "datetime2(6) AS BEGIN RETURN (SELECT "
               "submission.submission_at(us) FROM submission.test_clock); END"
               : "CREATE FUNCTION submission.submission_now () RETURNS "
               "datetime2(6) AS BEGIN RETURN CAST(SYSUTCDATETIME() AS "
               "datetime2(6)); END");
    tds_disconnect(conn);
}


/* a database of its own, from one that has the schema, made once a process */

static inline void
server_create(fixture_t *f)
{
    char   text[512], string[1024];
    void  *conn;

    static int  count;

    /* SQL of the tests needs it */

    must(strstr(store_string(), "FreeTDS") == NULL || on_babelfish());

    if (on_babelfish()) {

        if (server_pid == 0) {

            /* libcrypto's own atexit comes first, so that it is run last */

            server_alone();

            server_pid = getpid();
            must(atexit(server_exit) == 0);

            (void) snprintf(server_template, sizeof(server_template), "t%d",
                            server_pid);
            server_string(string, sizeof(string), "master", NULL, NULL);
            conn = tds_connect(string);
            (void) snprintf(text, sizeof(text), "CREATE DATABASE %s",
                            server_template);
            tds_run(conn, text);
            tds_disconnect(conn);
            server_install(server_template);
            server_together();
        }

        server_empty(f);
        return;
    }

    server_string(string, sizeof(string), "postgres", NULL, NULL);
    conn = server_connect(string);

    if (server_pid == 0) {
        server_pid = getpid();
        must(atexit(server_exit) == 0);

        (void) snprintf(server_template, sizeof(server_template),
                        "submission_t%d", server_pid);
        (void) snprintf(text, sizeof(text), "DROP DATABASE IF EXISTS %s",
                        server_template);
        server_run(conn, text);
        (void) snprintf(text, sizeof(text), "CREATE DATABASE %s",
                        server_template);
        server_run(conn, text);
        server_install(server_template);

        server_run(conn, "DO $$ BEGIN CREATE ROLE " SERVER_LOGIN " LOGIN "
                   "PASSWORD '" SERVER_PASSWORD "'; "
                   "EXCEPTION WHEN duplicate_object OR unique_violation THEN "
                   "NULL; END $$");
        (void) snprintf(text, sizeof(text), "DO $$ BEGIN PERFORM "
                        "pg_advisory_xact_lock(7002); GRANT "
                        "submission_nginx_%s TO " SERVER_LOGIN "; END $$",
                        server_template);
        server_run(conn, text);
    }

    (void) snprintf(f->database, sizeof(f->database), "%s_%d", server_template,
                    count++);
    (void) snprintf(text, sizeof(text), "CREATE DATABASE %s TEMPLATE %s",
                    f->database, server_template);
    server_run(conn, text);
    server_disconnect(conn);

    server_string(f->connection, sizeof(f->connection), f->database,
                  SERVER_LOGIN, SERVER_PASSWORD);

    if (server_now_ms) {
        server_string(string, sizeof(string), f->database, NULL, NULL);
        conn = server_connect(string);
        server_run(conn, "SELECT t.set_clock()");
        server_disconnect(conn);
    }
}


static inline void
server_drop(fixture_t *f)
{
    char   text[512], string[1024];
    void  *conn;

    server_forget();

    if (on_babelfish()) {
        return;
    }

    server_string(string, sizeof(string), "postgres", NULL, NULL);
    conn = server_connect(string);
    (void) snprintf(text, sizeof(text), "DROP DATABASE %s WITH (FORCE)",
                    f->database);
    server_run(conn, text);
    server_disconnect(conn);
}


static inline void *
server_open(fixture_t *f)
{
    char   text[512], string[1024];
    void  *conn;

    if (server_kept.pid == getpid() && server_kept.conn
        && strcmp(server_kept.database, f->database) == 0)
    {
        conn = server_kept.conn;
        server_kept.conn = NULL;

    } else {
        server_forget();
        server_kept.pid = getpid();
        (void) snprintf(server_kept.database, sizeof(server_kept.database),
                        "%s", f->database);

        server_string(string, sizeof(string), f->database, NULL, NULL);
        conn = server_connect(on_babelfish() ? getenv("SUBMISSION_TEST_SQL")
                                            : string);
    }

    (void) snprintf(text, sizeof(text), on_babelfish()
                    ? "RESET lock_timeout; SET client_encoding = 'UTF8'; "
                      "SET search_path = \"t_%s\"; "
                      "SET synchronous_commit = off"
                    : "RESET ALL; SET client_encoding = 'UTF8'; "
                      "SET search_path = t, submission; "
                      "SET synchronous_commit = off", f->database);
    server_run(conn, text);

    return conn;
}


static inline void
server_clock(fixture_t *f)
{
    char   text[128];
    void  *conn;

    static int64_t  last;
    static char     database[64];

    if (server_now_ms == NULL
        || (*server_now_ms == last && strcmp(database, f->database) == 0))
    {
        return;
    }

    last = *server_now_ms;
    (void) snprintf(database, sizeof(database), "%s", f->database);

    conn = server_open(f);
    (void) snprintf(text, sizeof(text), on_babelfish()
                    ? "UPDATE \"%2$s_submission\".test_clock SET us = %1$lld"
                    : "UPDATE t.clock SET us = %1$lld",
                    (long long) last * 1000, f->database);
    server_run(conn, text);
    server_close(conn);
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
    void        *conn;
    const char  *own, *tables;

    conn = server_open(f);
    own = server_schema(f, 1);
    tables = server_schema(f, 0);

    (void) snprintf(text, sizeof(text), "CREATE OR REPLACE FUNCTION %s.%s() "
                    "RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
                    "SET search_path = %s, %s AS $$ "
                    "BEGIN %s; RETURN new; END $$", own, name, own, tables,
                    action);
    server_run(conn, text);

    (void) snprintf(text, sizeof(text), "CREATE TRIGGER %s %s ON %s.%s "
                    "FOR EACH ROW WHEN (%s) EXECUTE FUNCTION %s.%s()", name,
                    when, tables, table, condition, own, name);
    server_run(conn, text);
    server_close(conn);
}


/*
 * What refuses for its data, with this in the message.  Babelfish takes an
 * exception of a trigger for one of no number: it has to be a constraint.
 */

static inline void
server_refuse(fixture_t *f, const char *message, char *action, size_t size)
{
    char         text[1024];
    void        *conn;
    const char  *own;

    if (!on_babelfish()) {
        (void) snprintf(action, size, SERVER_REFUSE, message);
        return;
    }

    conn = server_open(f);
    own = server_schema(f, 1);

    (void) snprintf(text, sizeof(text), "CREATE TABLE IF NOT EXISTS %s.\"%s\" "
                    "(v integer CONSTRAINT \"%s\" CHECK (v = 0))", own,
                    message, message);
    server_run(conn, text);
    server_close(conn);

    (void) snprintf(action, size, "INSERT INTO %s.\"%s\" VALUES (1)", own,
                    message);
}


#endif /* STORE_SERVER_H */
