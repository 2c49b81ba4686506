
/*
 * PostgreSQL, through libpq.
 *
 * Every operation is one call of one function of the schema "submission", and
 * every call is one transaction.  libpq is used without blocking: each step
 * waits in poll(), up to a deadline that holds whatever the server or the
 * network does.
 *
 * The server gives a call up a little earlier, by statement_timeout, so a call
 * that was given up here is rarely carried out later.  It is possible,
 * though.  Once the commit record is written, nothing but the standby ends the
 * wait for synchronous replication, and a server carries out any request that
 * has arrived, even if nobody waits for the answer.  So a call that was given
 * up may have been committed, and its backend may be at work until the server
 * says otherwise: sm_store.c counts such backends.  PQcancel() must not be
 * used.  It would end the wait for the standby and make the commit visible to
 * others, who would acknowledge data that no standby has.
 *
 * Several hosts are tried one after the other, each with its share of the
 * login time-out, beginning with the one that answered last.  Host names are
 * looked up by the system's resolver, which has no deadline here.
 */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <openssl/ssl.h>

#include "sm_store_postgres.h"


#define SM_POSTGRES_OPTIONS  96


/*
 * The host that answered last.  It is only a hint, and any thread may set it.
 */

static volatile unsigned  sm_postgres_last;


/* The options of a login, in the form that libpq takes. */

typedef struct {
    const char  *keys[SM_POSTGRES_OPTIONS + 1];
    const char  *values[SM_POSTGRES_OPTIONS + 1];
    unsigned     n;
} sm_postgres_options_t;


static int64_t
sm_postgres_ms(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


void
sm_postgres_start(sm_postgres_t *pg, int64_t timeout)
{
    pg->timeout = timeout;
    pg->deadline = sm_postgres_ms() + timeout;
}


/*
 * Returns whether TLS has decrypted bytes that libpq has not taken yet.  They
 * left the socket with the rest of their record, so poll() does not report
 * them: libpq reads 8 KB at a time, and a record may have 16 KB.
 */

static int
sm_postgres_pending(sm_postgres_t *pg)
{
    SSL  *ssl;

    ssl = PQsslStruct(pg->pq, "OpenSSL");

    return ssl != NULL && SSL_pending(ssl) > 0;
}


int
sm_postgres_wait(sm_postgres_t *pg, short events, sm_call_t *call)
{
    int            rc;
    int64_t        left;
    struct pollfd  fd;

    if ((events & POLLIN) && sm_postgres_pending(pg)) {
        return 0;
    }

    fd.fd = PQsocket(pg->pq);
    fd.events = events;

    do {
        left = pg->deadline - sm_postgres_ms();

        if (left <= 0) {
            return sm_postgres_late(pg, call);
        }

        rc = poll(&fd, 1, (int) (left < 3600000 ? left : 3600000));

    } while (rc == 0 || (rc == -1 && errno == EINTR));

    return rc == 1 ? 0 : sm_postgres_fail(pg, call, NULL);
}


static void
sm_postgres_close(sm_conn_t *conn)
{
    sm_postgres_t  *pg = (sm_postgres_t *) conn;

    PQclear(pg->result);
    PQfinish(pg->pq);

    free(pg);
}


/*
 * On an idle connection, the only thing a server sends is why it closes the
 * connection; the close itself may come later.  So any input means that the
 * connection must not be used.
 */

static int
sm_postgres_usable(sm_conn_t *conn)
{
    struct pollfd   fd;
    sm_postgres_t  *pg = (sm_postgres_t *) conn;

    fd.fd = PQsocket(pg->pq);
    fd.events = POLLIN;

    return !sm_postgres_pending(pg) && poll(&fd, 1, 0) == 0;
}


static unsigned
sm_postgres_listed(const char *list)
{
    unsigned  n;

    for (n = 1; list && (list = strchr(list, ',')) != NULL; n++) {
        list++;
    }

    return n;
}


/* Returns the n-th item of a list with commas, or its only item. */

static const char *
sm_postgres_nth(sm_call_t *call, const char *list, unsigned n)
{
    sm_str_t  part, copy;

    if (sm_postgres_listed(list) == 1) {
        return list;
    }

    for ( /* void */ ; n; n--) {
        list = strchr(list, ',');

        if (list == NULL) {
            return "";
        }

        list++;
    }

    part.data = list;
    part.len = strcspn(list, ",");

    return sm_arena_strdup(&call->arena, &copy, part) == 0 ? copy.data : NULL;
}


static void
sm_postgres_option(sm_postgres_options_t *options, const char *key,
    const char *value)
{
    unsigned  i;

    /* An option of the connection string takes precedence. */

    for (i = 0; i < options->n; i++) {
        if (strcmp(options->keys[i], key) == 0) {
            return;
        }
    }

    if (options->n < SM_POSTGRES_OPTIONS) {
        options->keys[options->n] = key;
        options->values[options->n++] = value;
    }
}


/* Drops the server's notices; they are in its own log. */

static void
sm_postgres_notice(void *data, const char *message)
{
    (void) data;
    (void) message;
}


static int
sm_postgres_connect(sm_postgres_t *pg, sm_call_t *call,
    const sm_postgres_options_t *options)
{
    PostgresPollingStatusType  status;

    pg->pq = PQconnectStartParams(options->keys, options->values, 0);

    if (pg->pq == NULL) {
        return sm_sql_no_memory(call);
    }

    (void) PQsetNoticeProcessor(pg->pq, sm_postgres_notice, NULL);

    if (PQstatus(pg->pq) == CONNECTION_BAD) {
        return sm_postgres_fail(pg, call, NULL);
    }

    for (status = PGRES_POLLING_WRITING;
         status != PGRES_POLLING_OK;
         status = PQconnectPoll(pg->pq))
    {
        if (status == PGRES_POLLING_FAILED) {
            return sm_postgres_fail(pg, call, NULL);
        }

        if (sm_postgres_wait(pg, status == PGRES_POLLING_READING ? POLLIN
                                                                 : POLLOUT,
                             call)
            != 0)
        {
            return -1;
        }
    }

    if (PQsetnonblocking(pg->pq, 1) != 0) {
        return sm_postgres_fail(pg, call, NULL);
    }

    return 0;
}


/* Collects the options of one host.  "number" is a buffer for them. */

static int
sm_postgres_host(const sm_store_conf_t *conf, sm_call_t *call,
    const PQconninfoOption *given, unsigned host, char *number, size_t size,
    sm_postgres_options_t *options)
{
    const char              *value;
    const PQconninfoOption  *o;

    (void) memset(options, 0, sizeof(sm_postgres_options_t));

    for (o = given; o->keyword; o++) {

        value = o->val;

        if (value == NULL) {
            continue;
        }

        if (strcmp(o->keyword, "host") == 0
            || strcmp(o->keyword, "hostaddr") == 0
            || strcmp(o->keyword, "port") == 0)
        {
            value = sm_postgres_nth(call, value, host);

            if (value == NULL) {
                return sm_sql_no_memory(call);
            }
        }

        sm_postgres_option(options, o->keyword, value);
    }

    (void) snprintf(number, size, "%lld", (long long) conf->query_timeout);

    sm_postgres_option(options, "tcp_user_timeout", number);
    sm_postgres_option(options, "keepalives_idle", "10");
    sm_postgres_option(options, "keepalives_interval", "5");
    sm_postgres_option(options, "keepalives_count", "3");
    sm_postgres_option(options, "target_session_attrs", "read-write");
    sm_postgres_option(options, "application_name", "nginx-submission");
    sm_postgres_option(options, "client_encoding", "UTF8");
    sm_postgres_option(options, "gssencmode", "disable");

    if (conf->password.data) {
        sm_postgres_option(options, "password", conf->password.data);
    }

    return 0;
}


/* Tries the hosts in turn.  Each gets an equal share of the remaining time. */

static int
sm_postgres_login(sm_postgres_t *pg, sm_call_t *call,
    const PQconninfoOption *given)
{
    char                     number[24];
    int64_t                  end;
    unsigned                 i, hosts, host, first;
    sm_postgres_options_t    options;
    const sm_store_conf_t   *conf = pg->sql.conf;
    const PQconninfoOption  *o;

    hosts = 1;

    for (o = given; o->keyword; o++) {
        if (o->val && (strcmp(o->keyword, "host") == 0
                       || strcmp(o->keyword, "hostaddr") == 0)
            && hosts < sm_postgres_listed(o->val))
        {
            hosts = sm_postgres_listed(o->val);
        }
    }

    first = sm_postgres_last;
    end = sm_postgres_ms() + conf->login_timeout;

    for (i = 0; i < hosts; i++) {
        host = (first + i) % hosts;

        if (sm_postgres_host(conf, call, given, host, number, sizeof(number),
                             &options)
            != 0)
        {
            return -1;
        }

        sm_postgres_start(pg, (end - sm_postgres_ms()) / (hosts - i));

        call->status = SM_STORE_OK;

        if (sm_postgres_connect(pg, call, &options) == 0) {

            /* Errors of the hosts that were tried before no longer matter. */

            call->code = 0;
            call->error[0] = '\0';
            pg->sql.conn.lost = 0;

            sm_postgres_last = host;
            sm_postgres_start(pg, end - sm_postgres_ms());
            return 0;
        }

        PQfinish(pg->pq);
        pg->pq = NULL;
    }

    return -1;
}


/*
 * Requires UTF-8.  A gateway's answer may contain any character, and a
 * database of another encoding would fail only when such an attempt is
 * recorded.
 */

static int
sm_postgres_encoding(sm_postgres_t *pg, sm_call_t *call)
{
    const char  *encoding;

    encoding = PQparameterStatus(pg->pq, "server_encoding");

    if (encoding == NULL || strcmp(encoding, "UTF8") == 0) {
        return 0;
    }

    return sm_call_fail(call, SM_STORE_PERMANENT, 0,
                        "postgres: the encoding of the database is %s, and has "
                        "to be UTF8", encoding);
}


/*
 * Sets the session's isolation level and durability explicitly, because the
 * defaults of the server or of the database may be weaker: reads see only
 * committed data, and committed data are durable.
 *
 * A backend that sends its answer to a host that is gone keeps its locks, also
 * on the lease's row, until TCP gives up: statement_timeout does not end that,
 * and keepalives are not sent while data are unacknowledged.  So TCP's own
 * time-out is that of the call.
 */

static int
sm_postgres_session(sm_postgres_t *pg, sm_call_t *call)
{
    char  text[640];

    (void) snprintf(text, sizeof(text),
                    "SELECT set_config('synchronous_commit', "
                    "CASE current_setting('synchronous_commit') "
                    "WHEN 'off' THEN 'on' "
                    "ELSE current_setting('synchronous_commit') END, false), "
                    "set_config('default_transaction_isolation', "
                    "'read committed', false), "
                    "set_config('tcp_keepalives_idle', '10', false), "
                    "set_config('tcp_keepalives_interval', '5', false), "
                    "set_config('tcp_keepalives_count', '3', false), "
                    "set_config('tcp_user_timeout', '%lld', false)",
                    (long long) pg->sql.conf->query_timeout);

    return sm_postgres_statement(pg, call, text);
}


/* The columns that identify a backend. */

#define SM_POSTGRES_BACKEND                                                   \
    "pid, (extract(epoch FROM backend_start) * 1000000)::bigint "             \
    "FROM pg_stat_get_activity"

static sm_backend_t
sm_postgres_backend(const PGresult *result, int row)
{
    sm_backend_t  backend;

    backend.pid = atoll(PQgetvalue(result, row, 0));
    backend.began = atoll(PQgetvalue(result, row, 1));

    return backend;
}


static int
sm_postgres_whoami(sm_postgres_t *pg, sm_call_t *call)
{
    if (sm_postgres_statement(pg, call, "SELECT " SM_POSTGRES_BACKEND
                              "(pg_backend_pid())")
        != 0)
    {
        return -1;
    }

    if (PQntuples(pg->result) == 1) {
        pg->sql.conn.backend = sm_postgres_backend(pg->result, 0);
    }

    return 0;
}


/*
 * Asks the server which of the backends in "left" still carry out their call.
 * An idle backend has finished its call; after a network failure it may stay
 * until TCP notices.  The server tells nothing about backends of other users.
 */

static int
sm_postgres_ask(sm_conn_t *conn, sm_call_t *call, sm_left_t *left)
{
    int             i;
    sm_backend_t    backend;
    sm_postgres_t  *pg = (sm_postgres_t *) conn;

    sm_postgres_start(pg, pg->sql.conf->login_timeout);

    if (sm_postgres_statement(pg, call, "SELECT " SM_POSTGRES_BACKEND
                              "(NULL) WHERE state = 'active' "
                              "OR wait_event = 'SyncRep'")
        != 0)
    {
        return -1;
    }

    for ( /* void */ ; left; left = left->next) {
        left->at_work = 0;

        for (i = 0; i < PQntuples(pg->result); i++) {
            backend = sm_postgres_backend(pg->result, i);

            if (backend.pid == left->backend.pid
                && backend.began == left->backend.began)
            {
                left->at_work = 1;
            }
        }
    }

    return 0;
}


static sm_conn_t *
sm_postgres_open(const sm_store_conf_t *conf, sm_call_t *call)
{
    char              *error;
    sm_postgres_t     *pg;
    PQconninfoOption  *given;

    pg = calloc(1, sizeof(sm_postgres_t));

    if (pg == NULL) {
        (void) sm_sql_no_memory(call);
        return NULL;
    }

    pg->sql.conf = conf;
    pg->sql.driver = &sm_postgres_driver;

    error = NULL;
    given = PQconninfoParse(conf->connection.data, &error);

    if (given == NULL) {
        (void) sm_call_fail(call, SM_STORE_PERMANENT, 0, "postgres: %.300s",
                            error ? error : "out of memory");
        PQfreemem(error);
        sm_postgres_close(&pg->sql.conn);
        return NULL;
    }

    if (sm_postgres_login(pg, call, given) == 0
        && sm_postgres_encoding(pg, call) == 0
        && sm_postgres_session(pg, call) == 0
        && sm_postgres_whoami(pg, call) == 0)
    {
        (void) sm_sql_schema(&pg->sql, call);
    }

    PQconninfoFree(given);

    if (call->status != SM_STORE_OK) {
        sm_postgres_close(&pg->sql.conn);
        return NULL;
    }

    return &pg->sql.conn;
}


const sm_store_ops_t  sm_store_postgres = {
    .name = "postgres",
    .open = sm_postgres_open,
    .close = sm_postgres_close,
    .usable = sm_postgres_usable,
    .ask = sm_postgres_ask,
    SM_STORE_READS(SM_SQL_SLOT)
    SM_STORE_WRITES(SM_SERVER_SLOT)
};


const char *
sm_store_postgres_check(const char *connection, char *why, size_t size)
{
    char              *error, *p;
    const char        *text;
    PQconninfoOption  *given, *o;

    error = NULL;
    text = NULL;

    given = PQconninfoParse(connection, &error);

    if (given == NULL) {
        (void) snprintf(why, size, "%s", error ? error : "out of memory");
        PQfreemem(error);

        p = strchr(why, '\n');

        if (p) {
            *p = '\0';
        }

        return why;
    }

    for (o = given; o->keyword; o++) {

        if (o->val == NULL) {
            continue;
        }

        if (strcmp(o->keyword, "password") == 0
            || strcmp(o->keyword, "sslpassword") == 0)
        {
            (void) snprintf(why, size, "it has a \"%s\", which belongs into "
                            "\"password_file=\"", o->keyword);
            text = why;
        }

        /*
         * libpq cannot tell whether GSSAPI holds decrypted bytes that were not
         * read.
         */

        if (strcmp(o->keyword, "gssencmode") == 0
            && strcmp(o->val, "disable") != 0)
        {
            (void) snprintf(why, size, "\"gssencmode\" is \"%s\", and only "
                            "\"disable\" is supported: encrypt by "
                            "\"sslmode\"", o->val);
            text = why;
        }
    }

    PQconninfoFree(given);

    return text;
}


/*
 * Returns whether a host is local: a socket directory, an abstract socket, or
 * an address of this host.
 */

static int
sm_postgres_local(const char *host, size_t len)
{
    size_t  i;

    static const sm_str_t  local[] = { sm_str("/"), sm_str("@"),
                                       sm_str("127."), sm_str("localhost"),
                                       sm_str("::1") };

    for (i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
        if (len >= local[i].len
            && strncmp(host, local[i].data, local[i].len) == 0
            && (i < 3 || len == local[i].len))
        {
            return 1;
        }
    }

    return len == 0;
}


/*
 * Finds the first host that is not this one if the connection string does not
 * say how to encrypt.  Writes it to "host", and returns whether there is one.
 * A service file may set both, so a string with "service" is accepted.
 */

int
sm_store_postgres_exposed(const char *connection, char *host, size_t size)
{
    size_t             len;
    const char        *p;
    PQconninfoOption  *given, *o;

    host[0] = '\0';
    given = PQconninfoParse(connection, NULL);

    for (o = given; o && o->keyword; o++) {

        if (o->val == NULL) {
            continue;
        }

        if (strcmp(o->keyword, "sslmode") == 0
            || strcmp(o->keyword, "service") == 0)
        {
            host[0] = '\0';
            break;
        }

        if (strcmp(o->keyword, "host") != 0
            && strcmp(o->keyword, "hostaddr") != 0)
        {
            continue;
        }

        for (p = o->val; host[0] == '\0'; p += len + 1) {
            len = strcspn(p, ",");

            if (!sm_postgres_local(p, len)) {
                (void) snprintf(host, size, "%.*s", (int) len, p);
            }

            if (p[len] == '\0') {
                break;
            }
        }
    }

    PQconninfoFree(given);

    return host[0] != '\0';
}
