#ifndef STORE_H
#define STORE_H

/*
 * A store on a database of its own, in a directory that goes away with it,
 * and SQL beside the store, on connections of its own, to arrange and to look
 * at what the store must not be asked about.
 *
 * SUBMISSION_TEST_STORE: "sqlite", which it is unless told, or the connection
 * string of a login that may create databases, see store_server.h.  SQL is
 * SQLite's then too: tests have one text for all stores.
 */

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "sm_store_ops.h"
#include "tap.h"


typedef struct {
    char            dir[96];
    char            path[128];
    unsigned long   create;
    char            database[64];       /* on a server */
    char            connection[1024];
    sm_store_t      store;
    sm_call_t       call;
} fixture_t;


/* a connection for SQL: one of the two */

typedef struct {
    sqlite3        *sqlite;
    void           *server;
} sql_conn_t;


static const sm_contract_t  sms = {
    .target = sm_str("sms"), .gateway_type = SM_GATEWAY_SMS,
    .gateway_url = sm_str("http://sms"), .policy = SM_POLICY_DEADLINE,
    .max_acceptance_seconds = 30,
    .terminal_outcomes = sm_str("invalid_request invalid_message"),
    .retry_delay = 5000, .retry_backoff = 100
};

static const sm_contract_t  push = {
    .target = sm_str("push"), .gateway_type = SM_GATEWAY_PUSH,
    .gateway_url = sm_str("http://push"), .policy = SM_POLICY_MAX_ATTEMPTS,
    .max_attempts = 3, .terminal_outcomes = sm_str(""), .retry_delay = 1000,
    .retry_max = 60000, .retry_backoff = 250, .retry_jitter = 20
};


/* of rows that tests write, in the order in which they do */

#define CANDIDATE_COLUMNS                                                     \
    "(lease_name, holder_id, started_at, heartbeat_at, expires_at, role, "    \
    "version)"

#define INTENT_COLUMNS                                                        \
    "(lease_name, intent_id, submission_target, payload_hash, gateway_type, " \
    "gateway_url, policy, max_acceptance_seconds, max_attempts, "             \
    "terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct, "    \
    "retry_jitter_pct, status, final_outcome_status, final_outcome_reason, "  \
    "exhausted_reason, attempt_count, created_at, completed_at, "             \
    "last_modified_at, next_attempt_at, inflight_epoch, inflight_holder, "    \
    "inflight_at, payload)"

#define ATTEMPT_COLUMNS                                                       \
    "(lease_name, intent_id, attempt_number, lease_epoch, holder_id, "        \
    "started_at, finished_at, outcome_status, outcome_reason, error)"


/* a step that the test itself cannot do without */

#define must(cond)                                                            \
    do {                                                                      \
        if (!(cond)) {                                                        \
            printf("Bail out! %s, %s line %d\n", #cond, __FILE__, __LINE__);  \
            exit(1);                                                          \
        }                                                                     \
    } while (0)


#include "store_server.h"


/* what only makes sense on the embedded store */

static inline int
on_sqlite(void)
{
    return store_string() == NULL;
}


static inline void
needs_sqlite(void)
{
    if (!on_sqlite()) {
        skip_all("a test of SQLite");
    }
}


static inline void
needs_server(void)
{
    if (on_sqlite()) {
        skip_all("a test of servers");
    }
}


static inline void
store_open(fixture_t *f, const char *lease_name, int64_t busy_timeout)
{
    sm_store_conf_t  conf = {
        .lease_name = sm_str_c(lease_name), .path = f->path,
        .busy_timeout = busy_timeout, .create = &f->create, .generation = 1,
        .connection = sm_str_c(f->connection), .login_timeout = 10000,
        .query_timeout = busy_timeout
    };

    /* a server has a second at the least, as in the configuration */

    if (!on_sqlite() && busy_timeout < 1000) {
        conf.query_timeout = 1000;
    }

    /* a procedure's first call on a connection takes it seconds */

    if (on_babelfish()) {
        conf.query_timeout = busy_timeout < 8000 ? 15000 : 60000;
    }

    memset(&f->call, 0, sizeof(sm_call_t));

    must(sm_store_init(&f->store,
                       on_sqlite() ? &sm_store_sqlite
                       : on_babelfish() ? &sm_store_odbc : &sm_store_postgres,
                       &conf)
         == 0);
}


static inline void
store_close(fixture_t *f)
{
    sm_store_done(&f->store);
    sm_arena_free(&f->call.arena);
}


static inline void
fixture_dir(fixture_t *f)
{
    const char  *tmp = getenv("TMPDIR");

    (void) snprintf(f->dir, sizeof(f->dir), "%s/submission.XXXXXX",
                    tmp ? tmp : "/tmp");
    must(mkdtemp(f->dir) != NULL);

    (void) snprintf(f->path, sizeof(f->path), "%s/a.db", f->dir);
    f->create = 1;

    f->connection[0] = '\0';

    if (!on_sqlite()) {
        server_create(f);
        f->create = 0;
    }
}


static inline void
fixture_open(fixture_t *f)
{
    fixture_dir(f);
    store_open(f, "main", 10000);
}


static inline void
fixture_remove(fixture_t *f)
{
    char            path[512];
    DIR            *dir;
    struct dirent  *e;

    must((dir = opendir(f->dir)) != NULL);

    while ((e = readdir(dir)) != NULL) {
        if (e->d_name[0] != '.') {
            (void) snprintf(path, sizeof(path), "%s/%s", f->dir, e->d_name);
            must(unlink(path) == 0);
        }
    }

    (void) closedir(dir);
    must(rmdir(f->dir) == 0);

    if (!on_sqlite()) {
        server_drop(f);
    }
}


static inline void
fixture_done(fixture_t *f)
{
    store_close(f);
    fixture_remove(f);
}


/* what a call returned is gone with the next call */

static inline sm_call_t *
new_call(fixture_t *f)
{
    sm_arena_free(&f->call.arena);
    memset(&f->call, 0, sizeof(sm_call_t));

    if (!on_sqlite()) {
        server_clock(f);
    }

    return &f->call;
}


/* "holder" acquires the lease, for so many milliseconds, as this epoch */

static inline void
lead(fixture_t *f, const char *holder, int64_t duration, int64_t epoch)
{
    sm_lease_t  lease;

    must(sm_store_lease_acquire(&f->store, new_call(f), sm_str_c(holder),
                                duration, &lease)
         == 0);
    must(lease.held && lease.epoch == epoch);
}


static inline void
row_bytes(sm_submit_row_t *row, const char *id, const sm_contract_t *contract,
    const void *payload, size_t len)
{
    memset(row, 0, sizeof(sm_submit_row_t));

    row->id = sm_str_c(id);
    row->contract = contract;
    row->payload.data = payload;
    row->payload.len = len;
}


static inline void
row(sm_submit_row_t *r, const char *id, const sm_contract_t *contract,
    const char *payload)
{
    row_bytes(r, id, contract, payload, strlen(payload));
}


typedef struct {
    sm_submit_row_t  *rows;
    size_t            n;
    int               taken;
} batch_t;


static inline int
batch_take(void *data, sm_call_t *call, sm_submit_row_t **rows, size_t *n)
{
    batch_t  *batch = data;

    (void) call;

    batch->taken++;

    *rows = batch->rows;
    *n = batch->n;

    return 0;
}


/* each payload in memory of exactly its size, which is gone afterwards */

static inline int
submit(fixture_t *f, sm_submit_row_t *rows, size_t n)
{
    int      rc;
    char    *p;
    size_t   i;
    batch_t  batch = { rows, n, 0 };

    for (i = 0; i < n; i++) {
        p = malloc(rows[i].payload.len);

        if (rows[i].payload.len) {
            memcpy(p, rows[i].payload.data, rows[i].payload.len);
        }

        rows[i].payload.data = p;
    }

    rc = sm_store_intents_submit(&f->store, new_call(f), batch_take, &batch);

    for (i = 0; i < n; i++) {
        free((void *) rows[i].payload.data);
        rows[i].payload.data = NULL;
    }

    return rc;
}


static inline int
submit_one(fixture_t *f, sm_submit_row_t *r, const char *id,
    const char *payload)
{
    row(r, id, &sms, payload);

    return submit(f, r, 1);
}


/* submits one, and gives its outcome, or -1 */

static inline int
outcome(fixture_t *f, const char *id, const sm_contract_t *contract,
    const char *payload)
{
    sm_submit_row_t  r;

    row(&r, id, contract, payload);

    return submit(f, &r, 1) == 0 ? (int) r.outcome : -1;
}


static inline sql_conn_t
sql_open(fixture_t *f)
{
    sql_conn_t  c = { NULL, NULL };

    if (!on_sqlite()) {
        c.server = server_open(f);
        return c;
    }

    must(sqlite3_open_v2(f->path, &c.sqlite, SQLITE_OPEN_READWRITE, NULL)
         == SQLITE_OK);
    (void) sqlite3_busy_timeout(c.sqlite, 10000);

    return c;
}


static inline void
sql_close(sql_conn_t c)
{
    if (c.server) {
        server_close(c.server);
        return;
    }

    must(sqlite3_close(c.sqlite) == SQLITE_OK);
}


static inline void
sql_run(sql_conn_t c, const char *text)
{
    if (c.server) {
        server_run(c.server, text);
        return;
    }

    if (sqlite3_exec(c.sqlite, text, NULL, NULL, NULL) != SQLITE_OK) {
        diag("%s: %s", text, sqlite3_errmsg(c.sqlite));
        must(!"SQL failed");
    }
}


/* begins a transaction beside which nobody can write */

static inline void
sql_lock(sql_conn_t c)
{
    sql_run(c, c.server ? SERVER_LOCK : "BEGIN IMMEDIATE");
}


__attribute__((format(printf, 2, 3)))
static inline void
sql(fixture_t *f, const char *fmt, ...)
{
    char        text[4096];
    va_list     args;
    sql_conn_t  c;

    va_start(args, fmt);
    (void) vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    c = sql_open(f);
    sql_run(c, text);
    sql_close(c);
}


/* the first column of the first row, until the next call; NULL: no row */

__attribute__((format(printf, 2, 3)))
static inline const char *
sql_text(fixture_t *f, const char *fmt, ...)
{
    static char  result[65536];

    char           text[4096];
    va_list        args;
    sql_conn_t     c;
    const char    *value;
    sqlite3_stmt  *stmt;

    va_start(args, fmt);
    (void) vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    c = sql_open(f);

    if (c.server) {
        value = server_text(c.server, text, result, sizeof(result));
        sql_close(c);
        return value;
    }

    must(sqlite3_prepare_v2(c.sqlite, text, -1, &stmt, NULL) == SQLITE_OK);

    value = NULL;

    if (sqlite3_step(stmt) == SQLITE_ROW) {
        value = (const char *) sqlite3_column_text(stmt, 0);
        (void) snprintf(result, sizeof(result), "%s", value ? value : "NULL");
    }

    (void) sqlite3_finalize(stmt);
    sql_close(c);

    return value ? result : NULL;
}


/* "when": such as "AFTER INSERT"; "old" and "new" are rows of the table */

static inline void
sql_trigger(fixture_t *f, const char *name, const char *when,
    const char *table, const char *condition, const char *action)
{
    if (on_sqlite()) {
        sql(f, "CREATE TRIGGER %s %s ON %s WHEN %s BEGIN %s; END", name, when,
            table, condition, action);

    } else {
        server_trigger(f, name, when, table, condition, action);
    }
}


/* the store refuses what fulfils the condition, for its data */

static inline void
sql_refuse(fixture_t *f, const char *name, const char *when,
    const char *table, const char *condition, const char *message)
{
    char  action[256];

    if (on_sqlite()) {
        (void) snprintf(action, sizeof(action), "SELECT RAISE(ABORT, '%s')",
                        message);

    } else {
        server_refuse(f, message, action, sizeof(action));
    }

    sql_trigger(f, name, when, table, condition, action);
}


static inline void
sql_drop_trigger(fixture_t *f, const char *name, const char *table)
{
    if (on_sqlite()) {
        sql(f, "DROP TRIGGER %s", name);

    } else {
        sql(f, "DROP TRIGGER %s ON %s.%s", name, server_schema(f, 0), table);
    }
}


#define sql_int(...)  atoll(sql_text(__VA_ARGS__))


static sqlite3  *store_db_latest;


static inline int
store_db_remember(sqlite3 *db, char **error, const void *api)
{
    (void) error;
    (void) api;

    store_db_latest = db;

    return SQLITE_OK;
}


/* makes a fresh store connect, and gives the connection that it will use */

static inline sqlite3 *
store_db(fixture_t *f)
{
    must(sqlite3_auto_extension((void (*)(void)) store_db_remember)
         == SQLITE_OK);

    must(sm_store_ping(&f->store, new_call(f)) == 0);

    must(sqlite3_cancel_auto_extension((void (*)(void)) store_db_remember)
         == 1);

    return store_db_latest;
}


/* the audit, oldest first */

static inline const char *
audit_text(fixture_t *f)
{
    const char  *text;

    text = sql_text(f, "SELECT group_concat(t, ', ') FROM (SELECT "
                    "actor || ' ' || address || ' ' || action || ' ' || object "
                    "|| ' ' || coalesce(detail, '-') AS t "
                    "FROM submission_audit WHERE lease_name = 'main' "
                    "ORDER BY seq) AS a");

    return text ? text : "";
}


/* a schedule that is there, and that is never due */

static inline void
put_schedule(fixture_t *f, const char *id)
{
    sql(f, "INSERT INTO submission_schedules (lease_name, schedule_id, "
        "submission_target, body, payload_hash, source, revision, "
        "fired_count, skipped_count, missed_count, actor, created_at, "
        "last_modified_at, payload) VALUES ('main', '%s', 'sms', "
        "'{\"every\":\"P1D\"}', '', 'api', 1, 0, 0, 0, '', 1, 1, '')", id);
}


/* a call that a thread makes, with an arena of its own */

typedef struct {
    fixture_t  *f;
    int         rc;
    sm_call_t   call;
} caller_t;


static inline void *
call_ping(void *data)
{
    caller_t  *c = data;

    memset(&c->call, 0, sizeof(sm_call_t));
    c->rc = sm_store_ping(&c->f->store, &c->call);
    sm_arena_free(&c->call.arena);

    return NULL;
}


#endif /* STORE_H */
