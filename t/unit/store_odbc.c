
/*
 * What is ODBC's own: the names of SQL Server's errors, text as UTF-16,
 * passwords, whose rights the store has, and that a call ends.  Broken by an
 * error in another class, text that does not come back as it was, a driver that
 * is not there and is not named, a password that a driver is not given as it is,
 * and a connection that is cut and is not ours.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* strcasestr() */
#endif

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "store.h"


static void
test_classes(void)
{
    size_t  i;

    static const struct {
        const char        *state;
        int                native;
        sm_store_class_e   class;
        const char        *what;
    } t[] = {
        { "42000", 57002, SM_STORE_LEASE_LOST, "ours" },
        { "42000", 57003, SM_STORE_TRANSIENT, "forgotten meanwhile" },
        { "08001", 101, SM_STORE_TRANSIENT, "not reached" },
        { "HYT00", 0, SM_STORE_TRANSIENT, "login time-out" },
        { "IM002", 0, SM_STORE_PERMANENT, "no driver" },
        { "40001", 1205, SM_STORE_TRANSIENT, "deadlock" },
        { "42000", 1222, SM_STORE_TRANSIENT, "locked" },
        { "42000", 33557097, SM_STORE_TRANSIENT, "Babelfish" },
        { "42000", 40613, SM_STORE_TRANSIENT, "Azure" },
        { "42000", 49919, SM_STORE_TRANSIENT, "Azure" },
        { "42000", 10928, SM_STORE_TRANSIENT, "Azure" },
        { "HYT00", 20003, SM_STORE_TRANSIENT, "time-out" },
        { "23000", 2627, SM_STORE_CONSTRAINT, "unique" },
        { "22001", 2628, SM_STORE_CONSTRAINT, "too long" },
        { "42000", 2812, SM_STORE_SCHEMA, "no procedure" },
        { "42000", 229, SM_STORE_PERMANENT, "no right" },
        { "28000", 18456, SM_STORE_PERMANENT, "no login" },
        { "42000", 9002, SM_STORE_PERMANENT, "log full" },
        { "42000", 102, SM_STORE_PERMANENT, "syntax" },
        { "22007", 517, SM_STORE_CONSTRAINT, "a time" },
        { "22007", 535, SM_STORE_CONSTRAINT, "a time" },
        { "42000", 4121, SM_STORE_SCHEMA, "no function" }
    };

    static const int  transient[] = {
        596, 615, 669, 921, 922, 926, 952, 976, 978, 979, 980, 981, 982, 983,
        988, 997, 1204, 2801, 3958, 3966, 4060, 4221, 8628, 9001, 10922, 10936,
        17142, 17197, 18401, 18451, 35250, 40549, 40550, 40551, 40552, 40553
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(sm_odbc_class(t[i].state, t[i].native, 0),
               t[i].class, "%s, %s %d", t[i].what, t[i].state, t[i].native);
    }

    for (i = 0; i < sizeof(transient) / sizeof(transient[0]); i++) {
        is_int(sm_odbc_class("42000", transient[i], 0), SM_STORE_TRANSIENT,
               "%d passes", transient[i]);
    }

    /* what was there when the connection began is being made anew */

    is_int(sm_odbc_class("42000", 2812, 1), SM_STORE_TRANSIENT,
           "a procedure that is not there any more");
    is_int(sm_odbc_class("42000", 4121, 1), SM_STORE_TRANSIENT,
           "a function that is not there any more");
    is_int(sm_odbc_class("42000", 208, 1), SM_STORE_SCHEMA,
           "a table that is not there any more");
}


/* the string that a driver is given, or why it is none */

static void
test_passwords(void)
{
    size_t           i;
    SQLCHAR         *string;
    sm_arena_t       arena = { NULL };
    const char      *why;
    sm_store_conf_t  conf;

    static const struct {
        const char  *connection;
        const char  *password;
        const char  *added;         /* NULL: it is refused */
    } t[] = {
        { "Driver=FreeTDS;UID=a", "Secret-1", ";PWD=Secret-1;" },
        { "Driver={FreeTDS};UID=a", "a}b", ";PWD=a}b;" },
        { "driver = /usr/lib/libtdsodbc.so", "a b'c\"d=e", ";PWD=a b'c\"d=e;" },
        { "Driver=FreeTDS", "a{b", ";PWD=a{b;" },
        { "Driver=FreeTDS", "a;b", ";PWD={a;b};" },
        { "Driver=FreeTDS", "{ab", ";PWD={{ab};" },
        { "Driver=FreeTDS", "a;b}", NULL },
        { "Driver=FreeTDS", "a};b", NULL },
        { "Driver=FreeTDS", "{ab}", NULL },
        { "Driver={SQL Server Native};Port=1", "a}{;' b", ";PWD={a}}{;' b};" },
        { "Driver={ODBC Driver 18 for SQL Server}", "}", ";PWD={}}};" },
        { "UID={x;Driver=FreeTDS};Driver=msodbcsql18", "}", ";PWD={}}};" },
        { "DSN=mine", "a;b", ";PWD={a;b};" },
        { "DSN=mine", "a}b", NULL },
        { "Driver=msodbcsql18", "p\xc3\xa4ss", NULL },
        { "Driver=mine", "a}b", NULL }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {

        memset(&conf, 0, sizeof(conf));
        conf.connection = sm_str_c(t[i].connection);
        conf.password = sm_str_c(t[i].password);

        why = sm_store_odbc_refuses(conf.connection, conf.password);

        if (t[i].added == NULL) {
            ok(why && strstr(why, "was expected"), "%s: %s is refused: %s",
               t[i].connection, t[i].password, why ? why : "no");
            continue;
        }

        ok(why == NULL, "%s: %s is taken", t[i].connection, t[i].password);

        string = sm_odbc_string(&arena, &conf);
        is_str((char *) string + strlen(t[i].connection), t[i].added,
               "as \"%s\"", t[i].added);
    }

    /* the two may be anywhere */

    why = sm_store_odbc_refuses(sm_str_c("Driver=FreeTDS"),
                                sm_str_c("a}b;c"));
    ok(why && strstr(why, "both a \"}\" and a \";\""), "why: %s",
       why ? why : "none");

    ok(sm_store_odbc_has_key(sm_str_c("Driver=x; pwd =1"), "PWD"),
       "a key in any case");
    ok(!sm_store_odbc_has_key(sm_str_c("Driver={;PWD=1};UID=PWD"), "PWD"),
       "what is in braces is no key");

    sm_arena_free(&arena);
}


/* unixODBC says what is wrong with a driver in a record that only informs */

static void
test_no_driver(void)
{
    sm_call_t        call;
    sm_store_t       store;
    sm_store_conf_t  conf;

    memset(&call, 0, sizeof(call));
    memset(&conf, 0, sizeof(conf));

    conf.lease_name = sm_str_c("main");
    conf.connection = sm_str_c("Driver=/nowhere/libnone.so;Server=127.0.0.1");
    conf.login_timeout = conf.query_timeout = 1000;

    must(sm_store_init(&store, &sm_store_odbc, &conf) == 0);

    is_int(sm_store_ping(&store, &call), -1, "a driver that is not there");
    is_int(call.status, SM_STORE_PERMANENT, "its class");
    ok(strstr(call.error, "/nowhere/libnone.so") != NULL, "in words: %s",
       call.error);

    sm_store_done(&store);
    sm_arena_free(&call.arena);
}


static void
test_utf16(void)
{
    size_t      i, len;
    sm_str_t    s;
    SQLWCHAR   *text;
    sm_arena_t  arena = { NULL };

    static const struct {
        const char  *from;
        const char  *to;
    } t[] = {
        { "", "" },
        { "a\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf",
          "a\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf" },
        { "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
          "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
        { "\x80x", "\xef\xbf\xbdx" },
        { "\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
          "\xef\xbf\xbd" },
        { "a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        text = sm_odbc_utf16(&arena, sm_str_c(t[i].from), &len);
        must(sm_odbc_utf8(&arena, text, len, &s) == 0);
        is_mem(s.data, s.len, t[i].to, strlen(t[i].to), "text %zu", i);
    }

    sm_arena_free(&arena);
}


/*
 * Babelfish has no ownership chains, and no EXECUTE AS OWNER: with no more than
 * the role a login may call, and each procedure is then denied its tables.
 */

static void
test_babelfish_role(void)
{
    char       login[80], text[512], string[1024], error[256];
    void      *dbc, *admin;
    size_t     i, k;
    fixture_t  f;

    static const struct {
        const char  *statement;
        int          denied;        /* as a stranger, with the role, and more */
        const char  *what;
    } t[] = {
        { "SELECT submission.submission_us(submission.submission_now())", 3,
          "permission denied for function" },
        { "EXECUTE submission.submission_lease_watch N'main'", 3,
          "permission denied for" },
        { "EXECUTE submission.submission_ping", 3,
          "permission denied for" },

        /* what only procedures call, the first of them writes the audit */

        { "EXECUTE submission.submission_audit_add 'main', '2000-01-01', N'me', "
          "N'', 'cancel', N'x', N''", 3,
          "permission denied for procedure submission_audit_add" },
        { "EXECUTE submission.submission_intents_ended 'main', '2000-01-01', "
          "N'[]'", 3,
          "permission denied for procedure submission_intents_ended" },
        { "SELECT COUNT(*) FROM submission.submission_intents", 3,
          "permission denied for table" },
        { "UPDATE submission.submission_manager_leases SET lease_epoch = 1", 3,
          "permission denied for table" },
        { "DELETE FROM submission.submission_attempts", 3,
          "permission denied for table" },
        { "INSERT INTO submission.submission_schema VALUES (3, 1)", 3,
          "permission denied for table" },
        { "DROP TABLE submission.submission_schema", 7, "must be owner" },
        { "CREATE TABLE submission.submission_more (a int)", 7,
          "permission denied for schema" }
    };

    static const char  *const rights[] = {
        "CREATE USER %s FOR LOGIN %s",
        "ALTER ROLE submission_nginx ADD MEMBER %s",
        "GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON SCHEMA::submission "
        "TO submission_nginx"
    };

    fixture_open(&f);

    admin = tds_connect(f.connection);

    (void) snprintf(login, sizeof(login), "%s_login", f.database);
    (void) snprintf(text, sizeof(text), "CREATE LOGIN %s WITH PASSWORD = "
                    "'" SERVER_TDS_PASSWORD "'", login);
    tds_run(admin, text);

    server_string(string, sizeof(string), f.database, login,
                  SERVER_TDS_PASSWORD);

    for (k = 0; k < 3; k++) {
        (void) snprintf(text, sizeof(text), rights[k], login, login);
        tds_run(admin, text);

        dbc = tds_connect(string);

        for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {

            if (tds_try(dbc, t[i].statement, error, sizeof(error)) == 0) {
                ok(!(t[i].denied & 1 << k), "rights %zu: %s", k,
                   t[i].statement);
                continue;
            }

            ok(t[i].denied & 1 << k && (k == 0 || strstr(error, t[i].what)),
               "rights %zu: denied %s: %s", k, t[i].statement, error);
        }

        tds_disconnect(dbc);
    }

    (void) snprintf(text, sizeof(text), "ALTER ROLE submission_nginx DROP "
                    "MEMBER %s", login);
    tds_run(admin, text);
    (void) snprintf(text, sizeof(text), "DROP USER %s", login);
    tds_run(admin, text);
    (void) snprintf(text, sizeof(text), "DROP LOGIN %s", login);

    /* a session is there for a moment after it was left */

    for (i = 0; i < 100 && tds_try(admin, text, error, sizeof(error)) != 0;
         i++)
    {
        (void) usleep(100000);
    }

    ok(i < 100, "the login is dropped");

    tds_run(admin, "DELETE FROM submission.submission_schema "
            "WHERE version = 3");
    tds_disconnect(admin);

    fixture_done(&f);
}


static int
ping(fixture_t *f)
{
    return sm_store_ping(&f->store, new_call(f));
}


/* the store again, as a login of its own that has all rights it needs */

static void
login_as(fixture_t *f, const char *login, const char *password)
{
    sm_store_conf_t  conf;

    conf = f->store.conf;
    server_string(f->connection, sizeof(f->connection), f->database, login,
                  NULL);
    conf.connection = sm_str_c(f->connection);
    conf.password = sm_str_c(password);
    conf.query_timeout = 10000;

    sm_store_done(&f->store);
    must(sm_store_init(&f->store, &sm_store_odbc, &conf) == 0);
}


#define WATCHED  4


static void
ping_start(fixture_t *f, caller_t *c, pthread_t *threads)
{
    int  i;

    for (i = 0; i < WATCHED; i++) {
        c[i].f = f;
        must(pthread_create(&threads[i], NULL, call_ping, &c[i]) == 0);
    }
}


static void
ping_join(pthread_t *threads)
{
    int  i;

    for (i = 0; i < WATCHED; i++) {
        must(pthread_join(threads[i], NULL) == 0);
    }
}


/* a connection to the server's port that is not the store's */

static int
stranger(void)
{
    int                 fd;
    const char         *port;
    struct sockaddr_in  sin;

    must((port = strcasestr(store_string(), "Port=")) != NULL);

    memset(&sin, 0, sizeof(sin));
    sin.sin_family = AF_INET;
    sin.sin_port = htons(atoi(port + 5));
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    must((fd = socket(AF_INET, SOCK_STREAM, 0)) != -1);
    must(connect(fd, (struct sockaddr *) &sin, sizeof(sin)) == 0);

    return fd;
}


static int
alive(int fd)
{
    char  byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN;
}


static void
signal_backends(fixture_t *f, const char *login, int sig)
{
    char  *p, *pids;

    must((p = pids = strdup(sql_text(f, "SELECT string_agg(pid::text, ' ') "
                                     "FROM pg_stat_activity "
                                     "WHERE usename = '%s'", login))) != NULL);

    while (*p) {
        must(kill((pid_t) strtol(p, &p, 10), sig) == 0);
    }

    free(pids);
}


/*
 * A server that does not answer: each call ends, whichever of the connections
 * it is on, and what leads to the same port and is not the store's stays.
 * Broken by connections that logged in at the same time and are not told from
 * one another.
 */

static void
test_babelfish_watch(fixture_t *f, const char *login)
{
    int         i, n, fds[WATCHED];
    caller_t    c[WATCHED];
    pthread_t   threads[WATCHED];
    sql_conn_t  db;

    db = sql_open(f);
    sql_run(db, "BEGIN; UPDATE submission_schema SET version = version");

    ping_start(f, c, threads);

    for (i = 0; i < 6000; i++) {
        if (sql_int(f, "SELECT count(*) FROM pg_stat_activity WHERE "
                    "wait_event_type = 'Lock' AND usename = '%s'", login)
            == WATCHED)
        {
            break;
        }

        (void) usleep(10000);
    }

    sql_run(db, "COMMIT");
    sql_close(db);
    ping_join(threads);

    is_int(f->store.open, WATCHED, "connections, made at the same time");

    for (i = 0; i < WATCHED; i++) {
        fds[i] = stranger();
    }

    signal_backends(f, login, SIGSTOP);

    ping_start(f, c, threads);
    ping_join(threads);

    signal_backends(f, login, SIGCONT);

    for (i = 0, n = 0; i < WATCHED; i++) {
        ok(c[i].rc == -1 && c[i].call.status == SM_STORE_TRANSIENT,
           "call %d: %s", i, c[i].call.error);
        n += alive(fds[i]);
        (void) close(fds[i]);
    }

    is_int(n, WATCHED, "connections of others are as they were");
    is_int(ping(f), 0, "then it goes on: %s", f->call.error);
}


static void
test_babelfish_logins(void)
{
    char       login[80], text[512], string[1024];
    void      *admin;
    size_t     i;
    fixture_t  f;

    static const struct {
        const char  *password;
        const char  *quoted;
    } t[] = {
        { "Secret-1", "Secret-1" },
        { "a;b", "a;b" },
        { "a{b", "a{b" },
        { "a}b}", "a}b}" },
        { "{ab", "{ab" },
        { "{a;b", "{a;b" },
        { " a b\"c'd=e; ", " a b\"c''d=e; " }
    };

    fixture_open(&f);
    must(ping(&f) == 0);

    (void) strcpy(string, f.connection);
    admin = tds_connect(string);

    (void) snprintf(login, sizeof(login), "%s_login", f.database);
    (void) snprintf(text, sizeof(text), "CREATE LOGIN %s WITH PASSWORD = "
                    "'Secret-0'", login);
    tds_run(admin, text);
    (void) snprintf(text, sizeof(text), "CREATE USER %s FOR LOGIN %s", login,
                    login);
    tds_run(admin, text);
    (void) snprintf(text, sizeof(text), "ALTER ROLE submission_nginx ADD "
                    "MEMBER %s", login);
    tds_run(admin, text);
    tds_run(admin, "GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON "
            "SCHEMA::submission TO submission_nginx");

    login_as(&f, login, "another");

    if (ping(&f) == 0) {
        diag("no password is checked here");

    } else {
        ok(strstr(f.call.error, "another") == NULL,
           "another password is refused: %s", f.call.error);
        is_int(f.call.status, SM_STORE_PERMANENT,
               "and nobody tries that again");
        ok(strstr(f.call.error, "Login failed")
           && strstr(f.call.error, "18456"), "the reason is the server's");

        for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
            (void) snprintf(text, sizeof(text), "ALTER LOGIN %s WITH PASSWORD "
                            "= '%s'", login, t[i].quoted);
            tds_run(admin, text);

            login_as(&f, login, t[i].password);
            ok(ping(&f) == 0, "the password %s: %s", t[i].password,
               f.call.error);
        }
    }

    (void) snprintf(text, sizeof(text), "ALTER LOGIN %s WITH PASSWORD = "
                    "'Secret-1'", login);
    tds_run(admin, text);
    login_as(&f, login, "Secret-1");
    test_babelfish_watch(&f, login);

    /* the store's sessions end before the login does */

    store_close(&f);

    (void) snprintf(text, sizeof(text), "ALTER ROLE submission_nginx DROP "
                    "MEMBER %s", login);
    tds_run(admin, text);
    (void) snprintf(text, sizeof(text), "DROP USER %s", login);
    tds_run(admin, text);
    (void) snprintf(text, sizeof(text), "DROP LOGIN %s", login);

    for (i = 0; i < 100 && tds_try(admin, text, string, sizeof(string)) != 0;
         i++)
    {
        (void) usleep(100000);
    }

    tds_disconnect(admin);

    fixture_remove(&f);
}


int
main(void)
{
    test_classes();
    test_utf16();
    test_passwords();
    test_no_driver();

    if (on_babelfish()) {
        test_babelfish_role();
        test_babelfish_logins();
    }

    return done_testing();
}
