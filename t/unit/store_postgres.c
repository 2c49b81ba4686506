
/*
 * What is PostgreSQL's own: whose rights the store has, what errors are called,
 * that time-outs hold and that nothing is believed before the server has
 * committed.  Runs where SUBMISSION_TEST_STORE names a server; the names of
 * errors and connection strings are looked at everywhere.  Broken by: a commit
 * that failed and is reported as done, a password or a payload in a message, a
 * login that may read a table, a time-out that is not kept, a plan that reads
 * more as history grows.
 */

#include <netinet/in.h>
#include <sys/socket.h>

#include "real_time.h"
#include "store.h"
#include "sm_store_sql.h"


static void
test_classes(void)
{
    size_t  i;

    static const struct {
        const char        *state;
        sm_store_class_e   class;
        const char        *what;
    } t[] = {
        { "P7002", SM_STORE_LEASE_LOST, "ours" },
        { "P7003", SM_STORE_TRANSIENT, "forgotten meanwhile" },
        { "40P01", SM_STORE_TRANSIENT, "deadlock" },
        { "40001", SM_STORE_TRANSIENT, "serialization" },
        { "57014", SM_STORE_TRANSIENT, "time-out" },
        { "57P01", SM_STORE_TRANSIENT, "shutdown" },
        { "55P03", SM_STORE_TRANSIENT, "locked" },
        { "53300", SM_STORE_TRANSIENT, "connections" },
        { "53100", SM_STORE_PERMANENT, "disk full" },
        { "25006", SM_STORE_TRANSIENT, "a standby" },
        { "23505", SM_STORE_CONSTRAINT, "unique" },
        { "22001", SM_STORE_CONSTRAINT, "too long" },
        { "22P05", SM_STORE_CONSTRAINT, "a zero" },
        { "42883", SM_STORE_SCHEMA, "no function" },
        { "3F000", SM_STORE_SCHEMA, "no schema" },
        { "42501", SM_STORE_PERMANENT, "no right" },
        { "28P01", SM_STORE_PERMANENT, "no login" },
        { "08006", SM_STORE_TRANSIENT, "lost" },
        { "42601", SM_STORE_PERMANENT, "syntax" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(sm_postgres_class(t[i].state), t[i].class, "%s, %s", t[i].what,
               t[i].state);
    }
}


static int
ping(fixture_t *f)
{
    return sm_store_ping(&f->store, new_call(f));
}


static void
kill_backends(fixture_t *f)
{
    sql(f, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()");
}


static void
reconnect(fixture_t *f, const char *database, const char *login,
    const char *password)
{
    sm_store_conf_t  conf;

    conf = f->store.conf;
    server_string(f->connection, sizeof(f->connection), database, login, NULL);
    conf.connection = sm_str_c(f->connection);
    conf.password = sm_str_c(password);

    sm_store_done(&f->store);
    must(sm_store_init(&f->store, &sm_store_postgres, &conf) == 0);
}


/* fails to connect, with these words, and without the password */

static void
refused(fixture_t *f, const char *database, const char *login,
    const char *password, sm_store_class_e status, const char *words,
    const char *what)
{
    reconnect(f, database, login, password);

    is_int(ping(f), -1, "%s", what);
    is_int(f->call.status, status, "its class");
    ok(strstr(f->call.error, words) != NULL, "in words: %s", f->call.error);
    ok(strstr(f->call.error, password) == NULL, "and no secret is among them");
    ok(f->store.idle == NULL && f->store.open == 0, "nothing is left open");
}


/*
 * A duplicate that retention forgets between the INSERT, which finds it, and the
 * look at it: the batch is tried again, and then it is new.
 */

static void
test_forgotten(void)
{
    fixture_t        f;
    sm_submit_row_t  r[2];

    fixture_open(&f);
    must(outcome(&f, "x", &sms, "{}") == SM_SUBMIT_CREATED);

    server_trigger(&f, "forget", "AFTER INSERT", "submission_intents",
                   "new.intent_id = 'y'", "DELETE FROM "
                   "submission.submission_intents WHERE intent_id = 'x'");

    row(&r[0], "x", &sms, "{}");
    row(&r[1], "y", &sms, "{}");
    is_int(submit(&f, r, 2), -1, "it is neither inserted nor found");
    is_int(f.call.status, SM_STORE_TRANSIENT, "that passes: %s", f.call.error);

    sql_drop_trigger(&f, "forget", "submission_intents");

    row(&r[0], "x", &sms, "{}");
    row(&r[1], "y", &sms, "{}");
    is_int(submit(&f, r, 2), 0, "once more");
    ok(r[1].outcome == SM_SUBMIT_CREATED, "the other one is new");

    fixture_done(&f);
}


/* what a gateway says may have any character */

static void
test_encoding(void)
{
    char       name[96];
    fixture_t  f;

    fixture_open(&f);

    (void) snprintf(name, sizeof(name), "%s_latin1", f.database);
    sql(&f, "CREATE DATABASE %s TEMPLATE template0 ENCODING 'LATIN1' "
        "LC_COLLATE 'C' LC_CTYPE 'C'", name);

    refused(&f, name, SERVER_LOGIN, SERVER_PASSWORD, SM_STORE_PERMANENT,
            "the encoding of the database is LATIN1, and has to be UTF8",
            "a database of another encoding");

    reconnect(&f, f.database, SERVER_LOGIN, SERVER_PASSWORD);
    sql(&f, "DROP DATABASE %s", name);

    fixture_done(&f);
}


static void
test_connect(void)
{
    fixture_t  f;

    fixture_open(&f);
    is_int(ping(&f), 0, "a store");

    /* a ping is a commit: it writes a row */

    sql(&f, "CREATE TABLE test_place AS SELECT ctid AS place "
        "FROM submission.submission_schema");
    is_int(ping(&f), 0, "a ping");
    is_int(sql_int(&f, "SELECT count(*) FROM submission.submission_schema "
                   "JOIN test_place ON submission_schema.ctid = place"), 0,
           "writes");

    /* libpq has no states for what keeps it from a login */

    refused(&f, f.database, SERVER_LOGIN, "s3cret", SM_STORE_TRANSIENT,
            SERVER_LOGIN, "another password");
    refused(&f, "nowhere", SERVER_LOGIN, SERVER_PASSWORD, SM_STORE_TRANSIENT,
            "nowhere", "no such database");
    refused(&f, "postgres", SERVER_LOGIN, SERVER_PASSWORD, SM_STORE_SCHEMA,
            "submission", "a database without the schema");

    /* a password with all that a connection string has a meaning for */

    reconnect(&f, f.database, SERVER_LOGIN, SERVER_PASSWORD);
    is_int(ping(&f), 0, "the right password, with braces: %s", f.call.error);

    sql(&f, "UPDATE submission_schema SET version = 7, compatible_from = 3");
    is_int(ping(&f), 0, "a connection knows its schema");
    refused(&f, f.database, SERVER_LOGIN, SERVER_PASSWORD, SM_STORE_SCHEMA,
            "schema version is 7, and needs a module of version 3 or later: "
            "this one is of 1", "a later version");

    sql(&f, "UPDATE submission_schema SET version = 0, compatible_from = 0");
    refused(&f, f.database, SERVER_LOGIN, SERVER_PASSWORD, SM_STORE_SCHEMA,
            "schema version is 0, and this module needs 1: run sql/install.sh",
            "an older version");

    sql(&f, "UPDATE submission_schema SET version = 7, compatible_from = 1");
    reconnect(&f, f.database, SERVER_LOGIN, SERVER_PASSWORD);
    is_int(ping(&f), 0, "a later one that we may use: %s", f.call.error);

    sql(&f, "DROP FUNCTION submission.submission_schema_get()");
    refused(&f, f.database, SERVER_LOGIN, SERVER_PASSWORD, SM_STORE_SCHEMA,
            "the schema is missing, or older than version 1: run "
            "sql/install.sh", "no functions");

    fixture_done(&f);
}


/* a host that does not answer takes its share of the time, and no more */

static void
test_hosts(void)
{
    int         fd;
    char        port[16], *p;
    int64_t     start, took;
    socklen_t   len;
    fixture_t   f;

    struct sockaddr_in  sin;

    fixture_open(&f);

    /* one that listens, and never says a word */

    memset(&sin, 0, sizeof(sin));
    sin.sin_family = AF_INET;
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    len = sizeof(sin);

    must((fd = socket(AF_INET, SOCK_STREAM, 0)) != -1);
    must(bind(fd, (struct sockaddr *) &sin, len) == 0);
    must(listen(fd, 16) == 0);
    must(getsockname(fd, (struct sockaddr *) &sin, &len) == 0);

    p = strstr(f.connection, "port=");
    must(p != NULL);
    (void) snprintf(port, sizeof(port), "%d", atoi(p + 5));

    store_close(&f);
    (void) snprintf(f.connection, sizeof(f.connection), "host=127.0.0.1,"
                    "127.0.0.1 port=%u,%s dbname=%s user=" SERVER_LOGIN
                    " password='" SERVER_PASSWORD "'",
                    (unsigned) ntohs(sin.sin_port), port, f.database);
    store_open(&f, "main", 10000);
    f.store.conf.login_timeout = 6000;

    start = monotonic_ms();
    is_int(ping(&f), 0, "the second of two hosts: %s", f.call.error);
    is_str(f.call.error, "", "what the first one said is no error of the call");
    took = monotonic_ms() - start;
    ok(took >= 2900 && took < 6000, "after half of the time: %lld ms",
       (long long) took);

    kill_backends(&f);
    (void) ping(&f);

    start = monotonic_ms();
    is_int(ping(&f), 0, "again: %s", f.call.error);
    took = monotonic_ms() - start;
    ok(took < 2900, "which is asked first then: %lld ms", (long long) took);

    /* none of them */

    store_close(&f);
    (void) snprintf(f.connection, sizeof(f.connection), "host=127.0.0.1,"
                    "127.0.0.1 port=%u user=a", ntohs(sin.sin_port));
    store_open(&f, "main", 10000);
    f.store.conf.login_timeout = 3000;

    start = monotonic_ms();
    is_int(ping(&f), -1, "no host: %s", f.call.error);
    took = monotonic_ms() - start;
    is_int(f.call.status, SM_STORE_TRANSIENT, "may be tried again");
    ok(f.call.unreached, "and nobody was reached");
    ok(took >= 2900 && took < 6000, "after all of the time: %lld ms",
       (long long) took);

    must(close(fd) == 0);
    fixture_done(&f);
}


/* what can be known when the configuration is read */

static void
test_check(void)
{
    size_t       i;
    char         why[256];
    const char  *text;

    static const struct {
        const char  *string;
        const char  *words;         /* NULL: it is good */
    } t[] = {
        { "host=db1 dbname=submission user=nginx", NULL },
        { "postgresql://nginx@db1,db2:5433/submission?sslmode=verify-full",
          NULL },
        { "host=db1 hots=db2", "invalid connection option \"hots\"" },
        { "host", "missing \"=\" after \"host\"" },
        { "postgresql://nginx@[::1/submission", "IPv6" },
        { "host=db1 gssencmode=disable", NULL },
        { "host=db1 gssencmode=prefer", "only \"disable\" is supported" },
        { "host=db1 password=s3cret", "password_file=" },
        { "postgresql://nginx:s3cret@db1/submission", "password_file=" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        why[0] = '\0';
        text = sm_store_postgres_check(t[i].string, why, sizeof(why));

        ok((text != NULL) == (t[i].words != NULL)
           && (text == NULL || strstr(text, t[i].words)), "%s: %s",
           t[i].string, why);
        ok(strstr(why, "s3cret") == NULL && strchr(why, '\n') == NULL,
           "on one line, without a secret");
    }
}


static void
test_exposed(void)
{
    size_t  i;
    char    host[64];

    static const struct {
        const char  *string;
        const char  *host;          /* "": nothing is exposed */
    } t[] = {
        { "host=db1 dbname=submission", "db1" },
        { "dbname=submission", "" },
        { "host=/run/postgresql,127.0.0.1,::1,localhost,db2", "db2" },
        { "host=/run/postgresql,127.0.0.1,::1,localhost,@pg,", "" },
        { "host=localhost.example", "localhost.example" },
        { "host=localhost hostaddr=10.0.0.7", "10.0.0.7" },
        { "host=db1 sslmode=verify-full", "" },
        { "sslmode=disable host=db1", "" },
        { "host=db1 service=payments", "" },
        { "postgresql://nginx@db1,db2:5433/submission", "db1" },
        { "postgresql://nginx@db1/submission?sslmode=require", "" },
        { "host", "" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(sm_store_postgres_exposed(t[i].string, host, sizeof(host)),
               t[i].host[0] != '\0', "%s", t[i].string);
        is_str(host, t[i].host, "by that host");
    }
}


/* the login of nginx has the procedures, and nothing else */

static void
test_role(void)
{
    char         query[256], may[32];
    void        *dbc;
    size_t       i, k;
    PGresult    *result;
    fixture_t    f;
    const char  *state;

    static const char  *tables[] = {
        "submission_schema", "submission_manager_leases",
        "submission_manager_candidates", "submission_manager_target_names",
        "submission_intents", "submission_attempts", "submission_targets",
        "submission_stats",
        "submission_audit", "submission_jobs", "submission_schedules",
        "submission_inbox", "submission_inbox_refused"
    };

    static const char  *statements[] = {
        "SELECT count(*) FROM submission.%s",
        "DELETE FROM submission.%s",
        "TRUNCATE submission.%s",
        "INSERT INTO submission.%s DEFAULT VALUES",
        "DROP TABLE submission.%s",
        "CREATE TABLE submission.%s_2 ()"
    };

    fixture_open(&f);
    is_int(ping(&f), 0, "a store");

    dbc = server_connect(f.connection);

    for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (k = 0; k < sizeof(statements) / sizeof(statements[0]); k++) {

            (void) snprintf(query, sizeof(query), statements[k], tables[i]);
            result = PQexec(dbc, query);
            state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

            ok(state && strcmp(state, "42501") == 0, "denied: %s", query);

            PQclear(result);
        }
    }

    server_disconnect(dbc);

    (void) snprintf(may, sizeof(may), "%d %d", SM_PROCS, SM_PROCS);

    is_str(sql_text(&f, "SELECT count(*) FROM pg_proc WHERE pronamespace = "
                    "'submission'::regnamespace AND has_function_privilege("
                    "'" SERVER_LOGIN "', oid, 'EXECUTE') AND (NOT prosecdef "
                    "OR proconfig IS NULL)"), "0",
           "what it may call runs as the owner, with a search path of its own");
    is_str(sql_text(&f, "SELECT count(DISTINCT proname) || ' ' || count(*) "
                    "FROM pg_proc WHERE pronamespace = "
                    "'submission'::regnamespace AND has_function_privilege("
                    "'" SERVER_LOGIN "', oid, 'EXECUTE')"), may,
           "and is what the store calls");

    fixture_done(&f);
}


/* a server can still refuse when all rows have been given */

static void
test_commit(void)
{
    fixture_t        f;
    sm_lease_t       l;
    sm_submit_row_t  r;

    fixture_open(&f);
    is_int(ping(&f), 0, "a store");

    sql(&f, "CREATE FUNCTION t.late() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN RAISE EXCEPTION 'too late' USING ERRCODE = '40001'; END $$");
    sql(&f, "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON "
        "submission.submission_intents DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION t.late()");
    sql(&f, "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON "
        "submission.submission_manager_leases DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION t.late()");

    is_int(submit_one(&f, &r, "a", "1"), -1, "a commit that fails");
    is_int(f.call.status, SM_STORE_TRANSIENT, "its class");
    ok(strstr(f.call.error, "too late") != NULL, "in words: %s", f.call.error);
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 0,
           "nothing was committed");

    is_int(sm_store_lease_acquire(&f.store, new_call(&f), sm_str_c("a"), 1000,
                                  &l), -1, "an acquire likewise");
    ok(!l.held && !l.exists, "nothing is said of the lease");

    sql(&f, "DROP TRIGGER late ON submission.submission_intents");
    is_int(submit_one(&f, &r, "a", "1"), 0, "then it goes on");
    is_int(r.outcome, SM_SUBMIT_CREATED, "created");

    fixture_done(&f);
}


/* what a server's administrator may have set is not left to chance */

static void
test_session(void)
{
    fixture_t        f;
    sm_submit_row_t  r;

    fixture_dir(&f);
    sql(&f, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET "
        "default_transaction_isolation = serializable', current_database()); "
        "EXECUTE format('ALTER DATABASE %%I SET synchronous_commit = off', "
        "current_database()); END $$");
    store_open(&f, "main", 10000);

    sql(&f, "CREATE TABLE seen (isolation TEXT, synchronous TEXT)");
    sql_trigger(&f, "look", "AFTER INSERT", "submission_intents", "true",
                "INSERT INTO seen SELECT "
                "current_setting('transaction_isolation'), "
                "current_setting('synchronous_commit')");

    is_int(submit_one(&f, &r, "a", "1"), 0, "submitted");
    is_str(sql_text(&f, "SELECT isolation || ', ' || synchronous FROM seen"),
           "read committed, on", "in a transaction that is durable");

    fixture_done(&f);
}


/* a batch that is refused tells why, and nothing of what others sent */

static void
test_messages(void)
{
    fixture_t        f;
    sm_submit_row_t  r;
    sm_contract_t    c;

    fixture_open(&f);

    c = sms;
    c.gateway_url = sm_str_c("http://secret");
    c.terminal_outcomes.data = NULL;
    c.terminal_outcomes.len = 0;

    row(&r, "a", &c, "the payload");
    is_int(submit(&f, &r, 1), 0, "a row that is refused");
    is_int(r.outcome, SM_SUBMIT_FAILED, "failed");
    ok(strstr(f.call.error, "terminal_outcomes") != NULL, "in words: %s",
       f.call.error);
    ok(strstr(f.call.error, "secret") == NULL
       && strstr(f.call.error, "7468652070") == NULL, "without the row");
    ok(strchr(f.call.error, '\n') == NULL, "on one line");

    fixture_done(&f);
}


static void
test_timeout(void)
{
    int64_t          start, took;
    fixture_t        f;
    sql_conn_t       db;
    sm_submit_row_t  r;

    fixture_dir(&f);
    store_open(&f, "main", 1000);
    is_int(ping(&f), 0, "a store");

    db = sql_open(&f);
    sql_lock(db);

    start = monotonic_ms();
    is_int(submit_one(&f, &r, "a", "1"), -1, "behind a lock");
    took = monotonic_ms() - start;
    is_int(f.call.status, SM_STORE_TRANSIENT, "may be tried again");
    ok(took >= 900 && took < 10000, "after the time-out: %lld ms",
       (long long) took);

    sql_run(db, "COMMIT");
    sql_close(db);

    is_int(submit_one(&f, &r, "a", "1"), 0, "then it goes on");

    fixture_done(&f);
}


static void
ping_at_once(fixture_t *f, caller_t *c, int n)
{
    int        i;
    pthread_t  threads[16];

    for (i = 0; i < n; i++) {
        c[i].f = f;
        must(pthread_create(&threads[i], NULL, call_ping, &c[i]) == 0);
    }

    for (i = 0; i < n; i++) {
        must(pthread_join(threads[i], NULL) == 0);
    }
}


static void
test_lost(void)
{
    int              i;
    caller_t         c[8];
    fixture_t        f;
    sql_conn_t       db;
    sm_submit_row_t  r;

    fixture_open(&f);

    /* several connections: they wait for one another behind a lock */

    is_int(ping(&f), 0, "a store");
    db = sql_open(&f);
    sql_run(db, "BEGIN; UPDATE submission.submission_schema "
            "SET version = version");

    for (i = 0; i < 8; i++) {
        pthread_t  thread;

        c[i].f = &f;
        must(pthread_create(&thread, NULL, call_ping, &c[i]) == 0);
        must(pthread_detach(thread) == 0);
    }

    while (atoll(sql_text(&f, "SELECT count(*) FROM pg_stat_activity WHERE "
                          "wait_event_type = 'Lock' AND datname = "
                          "current_database()")) < 8)
    {
        (void) usleep(10000);
    }

    sql_run(db, "COMMIT");
    sql_close(db);

    while (f.store.open != 8 || atoll(sql_text(&f, "SELECT count(*) FROM "
           "pg_stat_activity WHERE state = 'active' AND datname = "
           "current_database() AND pid <> pg_backend_pid()")))
    {
        (void) usleep(10000);
    }

    (void) usleep(100000);
    is_int(f.store.open, 8, "eight connections");

    /* the server ends one in the middle of a call: the idle ones go with it */

    server_trigger(&f, "dies", "BEFORE INSERT", "submission_intents",
                   "new.intent_id = 'dies'",
                   "PERFORM pg_terminate_backend(pg_backend_pid()); "
                   "PERFORM pg_sleep(1)");

    is_int(submit_one(&f, &r, "dies", "1"), -1, "the server ended a call");
    is_int(f.call.status, SM_STORE_TRANSIENT, "may be tried again: %s",
           f.call.error);
    is_int(f.store.open, 0, "and all are dropped");

    /* it ends one that nobody uses */

    for (i = 0; i < 20; i++) {
        must(ping(&f) == 0);
        kill_backends(&f);

        if (ping(&f) != 0) {
            break;
        }
    }

    is_int(i, 20, "the server ends an idle one: no call sees it: %s",
           f.call.error);
    is_int(f.store.open, 1, "there is a new one");

    fixture_done(&f);
}


static void
test_pool(void)
{
    int        i, good;
    caller_t   c[12];
    fixture_t  f;

    fixture_open(&f);
    f.store.conf.pool = 2;

    ping_at_once(&f, c, 12);

    for (i = 0, good = 0; i < 12; i++) {
        good += c[i].rc == 0;
    }

    is_int(good, 12, "twelve calls at once on two connections");
    ok(f.store.open <= 2, "%u are open", f.store.open);
    ok(atoll(sql_text(&f, "SELECT count(*) FROM pg_stat_activity WHERE "
                      "datname = current_database() "
                      "AND usename = '" SERVER_LOGIN "'")) <= 2,
       "the server says so, too");

    fixture_done(&f);
}


/*
 * A call that is not ended by its time-out, as a commit that waits for a standby is
 * not, counts until the server has ended it.
 */

static void
test_left(void)
{
    int              i;
    int64_t          start, took;
    fixture_t        f;
    sm_submit_row_t  r;

    static const char  mine[] = "SELECT count(*) FROM pg_stat_activity WHERE "
                                "datname = current_database() "
                                "AND usename = '" SERVER_LOGIN "'";

    fixture_dir(&f);
    store_open(&f, "main", 1000);
    f.store.conf.pool = 2;

    server_trigger(&f, "stays", "BEFORE INSERT", "submission_intents",
                   "new.intent_id LIKE 'stays%'",
                   "BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled "
                   "THEN PERFORM pg_sleep(8); END");

    is_int(submit_one(&f, &r, "stays1", "1"), -1, "the first: %s",
           f.call.error);
    is_int(ping(&f), 0, "another connection is left");
    is_int(submit_one(&f, &r, "stays2", "1"), -1, "the second: %s",
           f.call.error);
    is_int(f.store.nleft, 2, "two are counted");

    /* where the machine lets it: it would wait for the time-out each time */

    for (took = 1000, i = 0; took >= 900 && i < 5; i++) {
        start = monotonic_ms();
        is_int(ping(&f), -1, "no more");
        took = monotonic_ms() - start;
    }

    is_int(f.call.status, SM_STORE_TRANSIENT, "may be tried again");
    ok(strstr(f.call.error, "all 2 connections are in use: the server is still "
              "at work on 2 calls") != NULL, "in words: %s", f.call.error);
    ok(took < 900, "without delay");
    ok(atoll(sql_text(&f, mine)) <= 3, "the server says so, too");

    while (ping(&f) != 0) {
        must(monotonic_ms() - start < 60000);
        (void) usleep(50000);
    }

    ok(f.store.nleft < 2, "it goes on when one has ended");

    while (atoll(sql_text(&f, mine)) > 1) {
        (void) usleep(10000);
    }

    kill_backends(&f);
    is_int(ping(&f), 0, "all have ended");
    is_int(f.store.nleft, 0, "and nothing is counted");

    fixture_done(&f);
}


/* rows of tables and indexes that were read so far */

static int64_t
rows_read(fixture_t *f)
{
    sql(f, "SELECT pg_stat_clear_snapshot()");

    return sql_int(f, "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) "
                   "+ (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes "
                   "WHERE schemaname = 'submission') FROM pg_stat_user_tables "
                   "WHERE schemaname = 'submission'");
}


#define COST_BATCH  20


/* one round of all that nginx does, on ids of its own */

static void
cost_round(fixture_t *f, const sm_fence_t *fence, int round)
{
    int                i;
    char               ids[COST_BATCH][32];
    sm_page_t          page;
    sm_get_row_t       g[COST_BATCH];
    sm_list_row_t      l = { .limit = 10 };
    sm_cluster_t       cluster = { 0 };
    sm_candidate_t     candidate = { .holder = sm_str("a"),
                                     .role = sm_str("leader"),
                                     .version = sm_str("1") };
    sm_recovered_t     recovered;
    sm_begin_row_t     b[COST_BATCH];
    sm_submit_row_t    r[COST_BATCH];
    sm_history_row_t   h = { .id = sm_str("h7"), .limit = 50 };
    sm_complete_row_t  c[COST_BATCH];

    memset(&page, 0, sizeof(page));
    memset(g, 0, sizeof(g));
    memset(b, 0, sizeof(b));
    memset(c, 0, sizeof(c));

    for (i = 0; i < COST_BATCH; i++) {
        (void) snprintf(ids[i], sizeof(ids[i]), "n%d-%d", round, i);
        row(&r[i], ids[i], &push, ids[i]);
        g[i].id = b[i].id = c[i].id = sm_str_c(ids[i]);

        c[i].number = 1;
        c[i].epoch = fence->epoch;
        c[i].holder = fence->holder;
        c[i].started_at = c[i].finished_at = 1;
        c[i].outcome = SM_OUTCOME_ACCEPTED;
        c[i].status = SM_STATUS_ACCEPTED;
    }

    page.limit = COST_BATCH;

    must(submit(f, r, COST_BATCH) == 0);

    for (i = 0; i < COST_BATCH; i++) {
        row(&r[i], ids[i], &push, ids[i]);
    }

    must(submit(f, r, COST_BATCH) == 0);
    must(r[0].outcome == SM_SUBMIT_SAME);
    must(sm_store_intents_get(&f->store, new_call(f), g, COST_BATCH) == 0);
    must(g[0].found);
    must(sm_store_intent_history(&f->store, new_call(f), &h, 1) == 0);
    must(sm_store_intents_list(&f->store, new_call(f), &l, 1) == 0);
    must(sm_store_queue_page(&f->store, new_call(f), fence, &page) == 0);
    must(page.n == COST_BATCH);
    page.order = SM_PAGE_DUE;
    must(sm_store_queue_page(&f->store, new_call(f), fence, &page) == 0);
    must(sm_store_attempts_begin(&f->store, new_call(f), fence, b, COST_BATCH)
         == 0);
    must(b[0].outcome == SM_BEGIN_BEGUN);
    must(sm_store_attempts_complete(&f->store, new_call(f), fence, c,
                                    COST_BATCH) == 0);
    must(c[0].applied);
    must(sm_store_attempts_recover(&f->store, new_call(f), fence,
                                   NULL, 0, 100, 1, &recovered) == 0);
    must(sm_store_candidate_heartbeat(&f->store, new_call(f), &candidate, 1000)
         == 0);
    must(sm_store_cluster_get(&f->store, new_call(f), &cluster) == 0);
}


static void
fill(fixture_t *f, int from, int to)
{
    sql(f, "INSERT INTO submission.submission_intents "
        "SELECT 'main', 'h' || i, 'push', repeat('a', 64), 'push', 'http://a', "
        "'max_attempts', NULL, 3, '', 1, 0, 100, 0, "
        "CASE i %% 3 WHEN 0 THEN 'accepted' WHEN 1 THEN 'rejected' "
        "ELSE 'exhausted' END, 'accepted', NULL, NULL, 1, now(), now(), now(), "
        "NULL, NULL, NULL, NULL, 'payload' FROM generate_series(%d, %d) AS i",
        from, to - 1);
    sql(f, "INSERT INTO submission.submission_attempts SELECT 'main', 'h' || i,"
        " 1, 1, 'a', now(), now(), 'accepted', NULL, NULL "
        "FROM generate_series(%d, %d) AS i", from, to - 1);
}


/*
 * All operations, with prepared plans of every age: made when the tables were
 * empty, with statistics of little, and without any.  What they read must not
 * depend on how much there is.
 */

static void
test_cost(void)
{
    int          i, rounds, many;
    int64_t      before, few, much, again;
    fixture_t    f;
    sm_lease_t   l;
    sm_fence_t   fence = { sm_str("a"), 1 };
    const char  *env;

    env = getenv("STORE_COST_ROWS");
    many = env ? atoi(env) : 100000;

    fixture_dir(&f);
    sql(&f, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET "
        "stats_fetch_consistency = none', current_database()); END $$");
    sql(&f, "ALTER TABLE submission.submission_intents "
        "SET (autovacuum_enabled = off)");
    sql(&f, "ALTER TABLE submission.submission_attempts "
        "SET (autovacuum_enabled = off)");
    server_forget();
    store_open(&f, "main", 60000);

    must(sm_store_lease_acquire(&f.store, new_call(&f), fence.holder, 86400000,
                                &l) == 0);
    must(l.held && l.epoch == 1);

    rounds = 0;

    /* enough for plans to be kept */

    for (i = 0; i < 10; i++) {
        cost_round(&f, &fence, rounds++);
    }

#define measure(n)                                                            \
    do {                                                                      \
        (void) usleep(1200000);                                               \
        cost_round(&f, &fence, rounds++);                                     \
        (void) usleep(1200000);                                               \
        cost_round(&f, &fence, rounds++);                                     \
        before = rows_read(&f);                                               \
        for (i = 0; i < 5; i++) {                                             \
            cost_round(&f, &fence, rounds++);                                 \
        }                                                                     \
        (void) usleep(1200000);                                               \
        cost_round(&f, &fence, rounds++);                                     \
        n = rows_read(&f) - before;                                           \
    } while (0)

    measure(few);
    fill(&f, 0, many);
    measure(much);

    diag("%lld rows read in 6 rounds of little, %lld of %d more",
         (long long) few, (long long) much, many);
    ok(few > 0 && much < 2 * few + 1000, "plans of empty tables");

    store_close(&f);
    store_open(&f, "main", 60000);
    measure(again);
    diag("%lld", (long long) again);
    ok(again < 2 * few + 1000, "new plans without statistics");

    sql(&f, "ANALYZE submission.submission_intents");
    sql(&f, "ANALYZE submission.submission_attempts");
    measure(again);
    diag("%lld", (long long) again);
    ok(again < 2 * few + 1000, "plans with statistics");

    sql(&f, "DELETE FROM submission.submission_intents WHERE intent_id <> "
        "'h7'");
    sql(&f, "VACUUM ANALYZE submission.submission_intents");
    store_close(&f);
    store_open(&f, "main", 60000);
    cost_round(&f, &fence, rounds++);
    fill(&f, many, 2 * many);
    measure(again);
    diag("%lld", (long long) again);
    ok(again < 2 * few + 1000, "plans with statistics of one row");

    fixture_done(&f);
}


/* what a connection has counted is told when it ends */

static void
wait_alone(fixture_t *f)
{
    while (atoll(sql_text(f, "SELECT count(*) FROM pg_stat_activity WHERE "
                          "datname = current_database() AND pid <> "
                          "pg_backend_pid()")))
    {
        (void) usleep(10000);
    }
}


/*
 * Many targets, and an intent with many attempts: a page of each reads about as
 * much as it gives, not what there is.
 */

static void
test_cost_pages(void)
{
    int64_t           before, list, history;
    fixture_t         f;
    sm_list_row_t     l = { .limit = 500 };
    sm_history_row_t  h = { .id = sm_str("much"), .limit = 50 };

    fixture_dir(&f);
    store_open(&f, "main", 60000);

    sql(&f, "INSERT INTO submission.submission_intents "
        "SELECT 'main', 'h' || i, 't' || (i / 4 %% 200), repeat('a', 64), "
        "'push', 'http://a', 'max_attempts', NULL, 3, '', 1, 0, 100, 0, "
        "CASE i %% 4 WHEN 0 THEN 'accepted' WHEN 1 THEN 'rejected' WHEN 2 "
        "THEN 'exhausted' ELSE 'pending' END, 'accepted', NULL, NULL, 1, "
        "now() + i * interval '1 ms', now(), now(), NULL, NULL, NULL, NULL, "
        "'payload' FROM generate_series(1, 80000) AS i");
    sql(&f, "INSERT INTO submission.submission_intents "
        "SELECT 'main', 'much', 't0', repeat('a', 64), 'push', 'http://a', "
        "'max_attempts', NULL, 3, '', 1, 0, 100, 0, 'accepted', 'accepted', "
        "NULL, NULL, 50000, now(), now(), now(), NULL, NULL, NULL, NULL, 'p'");
    sql(&f, "INSERT INTO submission.submission_attempts SELECT 'main', 'much',"
        " i, 1, 'a', now(), now(), 'error', NULL, NULL "
        "FROM generate_series(1, 50000) AS i");
    sql(&f, "VACUUM ANALYZE submission.submission_intents");
    sql(&f, "VACUUM ANALYZE submission.submission_attempts");

    store_close(&f);
    wait_alone(&f);
    before = rows_read(&f);

    store_open(&f, "main", 60000);
    must(sm_store_intents_list(&f.store, new_call(&f), &l, 1) == 0);
    must(l.n == 500 && l.more);
    store_close(&f);
    wait_alone(&f);
    list = rows_read(&f) - before;
    before = rows_read(&f);

    store_open(&f, "main", 60000);
    must(sm_store_intent_history(&f.store, new_call(&f), &h, 1) == 0);
    must(h.n == 50 && h.more);
    store_close(&f);
    wait_alone(&f);
    history = rows_read(&f) - before;

    ok(list > 500 && list < 40000,
       "%lld rows read for 500 of 80,000 intents of 200 targets",
       (long long) list);
    ok(history > 50 && history < 1000,
       "%lld rows read for 50 of 50,000 attempts", (long long) history);

    store_open(&f, "main", 60000);
    fixture_done(&f);
}


int
main(void)
{
    test_classes();
    test_check();
    test_exposed();

    if (on_sqlite() || on_babelfish()) {
        return done_testing();
    }

    test_connect();
    test_encoding();
    test_forgotten();
    test_hosts();
    test_role();
    test_commit();
    test_session();
    test_messages();
    test_timeout();
    test_lost();
    test_pool();
    test_left();
    test_cost();
    test_cost_pages();

    return done_testing();
}
