
/*
 * The embedded store: one SQLite file in WAL mode, shared by all workers and
 * by any number of nginx instances on the host.
 *
 * A commit is durable (synchronous=FULL) before it is reported.  Writers take
 * the write lock first (BEGIN IMMEDIATE) and wait for it up to busy_timeout.
 * A connection whose file was moved, removed or made read-only still works
 * for SQLite, on a file that nobody will find again; so it is looked at
 * before each call, and after each commit.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "sm_sqlite_sql.h"
#include "sm_store.h"


/* waiting for a lock: short naps while a commit lasts, then longer ones */

#define SM_SQLITE_NAPS      50
#define SM_SQLITE_NAP       100000      /* nanoseconds */
#define SM_SQLITE_SLEEP     2000000


/* must be in the order of sm_sqlite_texts */

enum {
    SM_SQLITE_BEGIN = 0,
    SM_SQLITE_BEGIN_READ,
    SM_SQLITE_COMMIT,
    SM_SQLITE_PING,
    SM_SQLITE_NOW,
    SM_SQLITE_SUBMIT,
    SM_SQLITE_GET,
    SM_SQLITE_HISTORY,
    SM_SQLITE_LIST,
    SM_SQLITE_STATEMENTS
};


static const char  *sm_sqlite_texts[] = {
    "BEGIN IMMEDIATE",
    "BEGIN",
    "COMMIT",
    sm_sqlite_sql_ping,
    sm_sqlite_sql_now,
    sm_sqlite_sql_intents_submit,
    sm_sqlite_sql_intents_get,
    sm_sqlite_sql_intent_history,
    sm_sqlite_sql_intents_list
};


/* the parameters of intents_submit.sql, in the order of their appearance */

enum {
    SM_SUBMIT_LEASE_NAME = 1,
    SM_SUBMIT_INTENT_ID,
    SM_SUBMIT_PAYLOAD_HASH,
    SM_SUBMIT_PAYLOAD,
    SM_SUBMIT_TARGET,
    SM_SUBMIT_GATEWAY_TYPE,
    SM_SUBMIT_GATEWAY_URL,
    SM_SUBMIT_POLICY,
    SM_SUBMIT_MAX_ACCEPTANCE_SECONDS,
    SM_SUBMIT_MAX_ATTEMPTS,
    SM_SUBMIT_TERMINAL_OUTCOMES,
    SM_SUBMIT_RETRY_DELAY,
    SM_SUBMIT_RETRY_MAX,
    SM_SUBMIT_RETRY_BACKOFF,
    SM_SUBMIT_RETRY_JITTER,
    SM_SUBMIT_NOW
};


typedef struct {
    sm_conn_t               conn;
    sqlite3                *db;
    const sm_store_conf_t  *conf;
    unsigned                create;         /* the file may be made anew */
    int64_t                 deadline;       /* of waiting for locks */
    sqlite3_stmt           *stmts[SM_SQLITE_STATEMENTS];
} sm_sqlite_t;


static int64_t
sm_sqlite_monotonic(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


/* SQLite's own handler sleeps up to 100 ms, many times what a commit takes */

static int
sm_sqlite_busy(void *arg, int count)
{
    sm_sqlite_t      *sq = arg;
    struct timespec   ts;

    if (sm_sqlite_monotonic() >= sq->deadline) {
        return 0;
    }

    ts.tv_sec = 0;
    ts.tv_nsec = count < SM_SQLITE_NAPS ? SM_SQLITE_NAP : SM_SQLITE_SLEEP;

    (void) nanosleep(&ts, NULL);

    return 1;
}


static void
sm_sqlite_start_call(sm_sqlite_t *sq)
{
    sq->deadline = sm_sqlite_monotonic() + sq->conf->busy_timeout;
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

    default:
        return SM_STORE_PERMANENT;
    }
}


static int
sm_sqlite_fail(sm_sqlite_t *sq, sm_call_t *call)
{
    int  code, sys;

    code = sqlite3_extended_errcode(sq->db);
    sys = sqlite3_system_errno(sq->db);

    switch (code & 0xff) {
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:

        if (sys) {
            return sm_call_fail(call, sm_sqlite_class(code), code,
                                "%s: %s (%d: %s)", sq->conf->path,
                                sqlite3_errmsg(sq->db), sys, strerror(sys));
        }

        /* fall through */

    default:
        return sm_call_fail(call, sm_sqlite_class(code), code, "%s: %s",
                            sq->conf->path, sqlite3_errmsg(sq->db));
    }
}


static void
sm_sqlite_close(sm_conn_t *conn)
{
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    while ((stmt = sqlite3_next_stmt(sq->db, NULL)) != NULL) {
        (void) sqlite3_finalize(stmt);
    }

    (void) sqlite3_close(sq->db);

    free(sq);
}


static int
sm_sqlite_usable(sm_conn_t *conn)
{
    int           moved;
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    moved = 0;

    (void) sqlite3_file_control(sq->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);

    return !moved && access(sq->conf->path, W_OK) == 0;
}


/* runs a statement that gives no rows to look at */

static int
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


/*
 * After a failure that the connection survives, it must be left outside of a
 * transaction; many errors have ended it already.
 */

static int
sm_sqlite_rollback(sm_sqlite_t *sq)
{
    if (!sqlite3_get_autocommit(sq->db)) {
        (void) sqlite3_exec(sq->db, "ROLLBACK", NULL, NULL, NULL);
    }

    return -1;
}


static int
sm_sqlite_commit(sm_sqlite_t *sq, sm_call_t *call)
{
    if (sm_sqlite_run(sq, call, SM_SQLITE_COMMIT) != 0) {
        return sm_sqlite_rollback(sq);
    }

    if (!sm_sqlite_usable(&sq->conn)) {
        return sm_call_fail(call, SM_STORE_PERMANENT, 0,
                            "%s: was moved, removed or made read-only during "
                            "a commit", sq->conf->path);
    }

    return 0;
}


static void
sm_sqlite_bind_nth(sqlite3_stmt *stmt, int n, sm_str_t value)
{
    (void) sqlite3_bind_text64(stmt, n, value.data, value.len, SQLITE_STATIC,
                               SQLITE_UTF8);
}


static void
sm_sqlite_bind_text(sqlite3_stmt *stmt, const char *name, sm_str_t value)
{
    sm_sqlite_bind_nth(stmt, sqlite3_bind_parameter_index(stmt, name), value);
}


static void
sm_sqlite_bind_int(sqlite3_stmt *stmt, const char *name, int64_t value)
{
    (void) sqlite3_bind_int64(stmt, sqlite3_bind_parameter_index(stmt, name),
                              value);
}


static int
sm_sqlite_text(sm_call_t *call, sqlite3_stmt *stmt, int column, sm_str_t *s)
{
    sm_str_t  value;

    value.data = (const char *) sqlite3_column_text(stmt, column);
    value.len = sqlite3_column_bytes(stmt, column);

    if (value.data == NULL) {
        s->data = NULL;
        s->len = 0;
        return 0;
    }

    if (sm_arena_strdup(&call->arena, s, value) != 0) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    return 0;
}


/* the columns of intents_get.sql and intents_list.sql */

static int
sm_sqlite_intent(sm_call_t *call, sqlite3_stmt *stmt, sm_intent_t *intent,
    sm_str_t *hash)
{
    sm_str_t  status, reason;

    if (sm_sqlite_text(call, stmt, 1, &intent->id) != 0
        || sm_sqlite_text(call, stmt, 2, &intent->target) != 0
        || sm_sqlite_text(call, stmt, 8, &reason) != 0
        || sm_sqlite_text(call, stmt, 9, &intent->exhausted_reason) != 0
        || sm_sqlite_text(call, stmt, 10, hash) != 0)
    {
        return -1;
    }

    status.data = (const char *) sqlite3_column_text(stmt, 3);
    status.len = sqlite3_column_bytes(stmt, 3);

    intent->status = sm_status_by_name(status);
    intent->created_at = sqlite3_column_int64(stmt, 4);
    intent->attempt_count = sqlite3_column_int64(stmt, 5);
    intent->next_attempt_at = sqlite3_column_int64(stmt, 6);
    intent->completed_at = sqlite3_column_int64(stmt, 7);

    if (intent->status == SM_STATUS_REJECTED) {
        intent->rejected_reason = reason;
    }

    return 0;
}


static int
sm_sqlite_ping(sm_conn_t *conn, sm_call_t *call)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    sm_sqlite_start_call(sq);

    return sm_sqlite_run(sq, call, SM_SQLITE_PING);
}


static int
sm_sqlite_intents_get(sm_conn_t *conn, sm_call_t *call, sm_get_row_t *rows,
    size_t n)
{
    int            rc;
    int64_t        key;
    sm_str_t       doc;
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    sm_sqlite_start_call(sq);

    if (sm_batch_ids_doc(&call->arena, rows, n, &doc) != 0) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[SM_SQLITE_GET];

    sm_sqlite_bind_text(stmt, ":doc", doc);
    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {

        key = sqlite3_column_int64(stmt, 0);

        if (sm_sqlite_intent(call, stmt, &rows[key].intent, &rows[key].hash)
            != 0)
        {
            break;
        }

        rows[key].found = 1;
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


static int
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


static void
sm_sqlite_bind_contract(sqlite3_stmt *stmt, const sm_contract_t *c)
{
    sm_sqlite_bind_nth(stmt, SM_SUBMIT_TARGET, c->target);
    sm_sqlite_bind_nth(stmt, SM_SUBMIT_GATEWAY_TYPE,
                       sm_gateway_name(c->gateway_type));
    sm_sqlite_bind_nth(stmt, SM_SUBMIT_GATEWAY_URL, c->gateway_url);
    sm_sqlite_bind_nth(stmt, SM_SUBMIT_POLICY, sm_policy_name(c->policy));
    sm_sqlite_bind_nth(stmt, SM_SUBMIT_TERMINAL_OUTCOMES, c->terminal_outcomes);

    (void) sqlite3_bind_null(stmt, SM_SUBMIT_MAX_ACCEPTANCE_SECONDS);
    (void) sqlite3_bind_null(stmt, SM_SUBMIT_MAX_ATTEMPTS);

    if (c->policy == SM_POLICY_DEADLINE) {
        (void) sqlite3_bind_int64(stmt, SM_SUBMIT_MAX_ACCEPTANCE_SECONDS,
                                  c->max_acceptance_seconds);
    }

    if (c->policy == SM_POLICY_MAX_ATTEMPTS) {
        (void) sqlite3_bind_int64(stmt, SM_SUBMIT_MAX_ATTEMPTS,
                                  c->max_attempts);
    }

    (void) sqlite3_bind_int64(stmt, SM_SUBMIT_RETRY_DELAY, c->retry_delay);
    (void) sqlite3_bind_int64(stmt, SM_SUBMIT_RETRY_MAX, c->retry_max);
    (void) sqlite3_bind_int64(stmt, SM_SUBMIT_RETRY_BACKOFF, c->retry_backoff);
    (void) sqlite3_bind_int64(stmt, SM_SUBMIT_RETRY_JITTER, c->retry_jitter);
}


/*
 * There is no wire to cross here, so a batch goes in row by row: a document
 * of all rows, read with json_each(), took 1.7 times the instructions.
 */

static int
sm_sqlite_insert(sm_sqlite_t *sq, sm_call_t *call, sm_submit_row_t *rows,
    size_t n)
{
    int                   rc;
    size_t                i;
    int64_t               now;
    sm_str_t              hash;
    sqlite3_stmt         *stmt;
    sm_submit_row_t      *row;
    const sm_contract_t  *contract;

    if (sm_sqlite_now(sq, call, &now) != 0) {
        return -1;
    }

    contract = NULL;
    stmt = sq->stmts[SM_SQLITE_SUBMIT];

    sm_sqlite_bind_nth(stmt, SM_SUBMIT_LEASE_NAME, sq->conf->lease_name);
    (void) sqlite3_bind_int64(stmt, SM_SUBMIT_NOW, now);

    for (i = 0; i < n; i++) {
        row = &rows[i];

        if (row->contract != contract) {
            contract = row->contract;
            sm_sqlite_bind_contract(stmt, contract);
        }

        hash.data = row->hash;
        hash.len = SM_HASH_LEN;

        sm_sqlite_bind_nth(stmt, SM_SUBMIT_INTENT_ID, row->id);
        sm_sqlite_bind_nth(stmt, SM_SUBMIT_PAYLOAD_HASH, hash);

        (void) sqlite3_bind_blob64(stmt, SM_SUBMIT_PAYLOAD,
                                   row->payload.len ? row->payload.data : "",
                                   row->payload.len, SQLITE_STATIC);

        rc = sqlite3_step(stmt);

        if (rc != SQLITE_DONE) {
            (void) sm_sqlite_fail(sq, call);
            (void) sqlite3_reset(stmt);
            return -1;
        }

        (void) sqlite3_reset(stmt);

        if (sqlite3_changes(sq->db) == 0) {
            continue;
        }

        row->outcome = SM_SUBMIT_CREATED;
        row->intent.id = row->id;
        row->intent.target = contract->target;
        row->intent.status = SM_STATUS_PENDING;
        row->intent.created_at = now;
        row->intent.next_attempt_at = now;
    }

    return 0;
}


/* what was there before is read in the transaction that did not insert it */

static int
sm_sqlite_compare(sm_sqlite_t *sq, sm_call_t *call, sm_submit_row_t *rows,
    size_t n)
{
    size_t         i, k;
    sm_str_t       hash;
    sm_get_row_t  *stored;

    stored = sm_arena_calloc(&call->arena, n, sizeof(sm_get_row_t));
    if (stored == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    for (i = 0, k = 0; i < n; i++) {
        if (rows[i].outcome != SM_SUBMIT_CREATED) {
            stored[k++].id = rows[i].id;
        }
    }

    if (k == 0) {
        return 0;
    }

    if (sm_sqlite_intents_get(&sq->conn, call, stored, k) != 0) {
        return -1;
    }

    for (i = 0, k = 0; i < n; i++) {

        if (rows[i].outcome == SM_SUBMIT_CREATED) {
            continue;
        }

        if (!stored[k].found) {
            return sm_call_fail(call, SM_STORE_PERMANENT, 0,
                                "%s: an intent was neither inserted nor found",
                                sq->conf->path);
        }

        hash.data = rows[i].hash;
        hash.len = SM_HASH_LEN;

        rows[i].intent = stored[k].intent;
        rows[i].outcome = sm_str_eq(stored[k].hash, hash)
                          && sm_str_eq(stored[k].intent.target,
                                       rows[i].contract->target)
                          ? SM_SUBMIT_SAME : SM_SUBMIT_CONFLICT;
        k++;
    }

    return 0;
}


static int
sm_sqlite_begin_write(sm_conn_t *conn, sm_call_t *call)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    sm_sqlite_start_call(sq);

    return sm_sqlite_run(sq, call, SM_SQLITE_BEGIN);
}


static int
sm_sqlite_intents_submit(sm_conn_t *conn, sm_call_t *call,
    sm_submit_row_t *rows, size_t n)
{
    size_t        i;
    sm_sqlite_t  *sq = (sm_sqlite_t *) conn;

    for (i = 0; i < n; i++) {
        rows[i].outcome = SM_SUBMIT_FAILED;
        memset(&rows[i].intent, 0, sizeof(sm_intent_t));
    }

    if (sm_sqlite_insert(sq, call, rows, n) != 0
        || sm_sqlite_compare(sq, call, rows, n) != 0)
    {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_commit(sq, call);
}


static int
sm_sqlite_attempts(sm_sqlite_t *sq, sm_call_t *call, sm_history_row_t *row)
{
    int            rc;
    sm_attempt_t  *a;
    sqlite3_stmt  *stmt;

    /* the count on the intent is the authority for numbering */

    row->attempts = sm_arena_calloc(&call->arena, row->intent.attempt_count,
                                    sizeof(sm_attempt_t));
    if (row->attempts == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[SM_SQLITE_HISTORY];

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":intent_id", row->id);

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW
           && row->n < (size_t) row->intent.attempt_count)
    {
        a = &row->attempts[row->n++];

        a->number = sqlite3_column_int64(stmt, 0);
        a->started_at = sqlite3_column_int64(stmt, 1);
        a->finished_at = sqlite3_column_int64(stmt, 2);

        if (sm_sqlite_text(call, stmt, 3, &a->outcome_status) != 0
            || sm_sqlite_text(call, stmt, 4, &a->outcome_reason) != 0
            || sm_sqlite_text(call, stmt, 5, &a->error) != 0)
        {
            break;
        }
    }

    if (rc != SQLITE_DONE && rc != SQLITE_ROW && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


static int
sm_sqlite_intent_history(sm_conn_t *conn, sm_call_t *call,
    sm_history_row_t *row)
{
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sm_get_row_t   stored;

    memset(&stored, 0, sizeof(sm_get_row_t));
    stored.id = row->id;

    sm_sqlite_start_call(sq);

    if (sm_sqlite_run(sq, call, SM_SQLITE_BEGIN_READ) != 0) {
        return -1;
    }

    if (sm_sqlite_intents_get(conn, call, &stored, 1) != 0) {
        return sm_sqlite_rollback(sq);
    }

    row->found = stored.found;
    row->intent = stored.intent;

    if (row->found && sm_sqlite_attempts(sq, call, row) != 0) {
        return sm_sqlite_rollback(sq);
    }

    return sm_sqlite_run(sq, call, SM_SQLITE_COMMIT);
}


static int
sm_sqlite_intents_list(sm_conn_t *conn, sm_call_t *call, sm_list_row_t *row)
{
    int            rc;
    sm_str_t       hash, none = sm_str("");
    sm_sqlite_t   *sq = (sm_sqlite_t *) conn;
    sqlite3_stmt  *stmt;

    sm_sqlite_start_call(sq);

    row->intents = sm_arena_calloc(&call->arena, row->limit,
                                   sizeof(sm_intent_t));
    if (row->intents == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    stmt = sq->stmts[SM_SQLITE_LIST];

    /* no data binds NULL: any */

    sm_sqlite_bind_text(stmt, ":lease_name", sq->conf->lease_name);
    sm_sqlite_bind_text(stmt, ":target", row->target);
    sm_sqlite_bind_text(stmt, ":status", sm_status_name(row->status));
    sm_sqlite_bind_int(stmt, ":limit", row->limit + 1);

    if (row->after_id.data) {
        sm_sqlite_bind_int(stmt, ":created_at", row->after_created_at);
        sm_sqlite_bind_text(stmt, ":intent_id", row->after_id);

    } else {
        sm_sqlite_bind_int(stmt, ":created_at", INT64_MAX);
        sm_sqlite_bind_text(stmt, ":intent_id", none);
    }

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {

        if (row->n == row->limit) {
            row->more = 1;
            rc = SQLITE_DONE;
            break;
        }

        if (sm_sqlite_intent(call, stmt, &row->intents[row->n++], &hash) != 0) {
            break;
        }
    }

    if (rc != SQLITE_DONE && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_reset(stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


/* opening */


static int
sm_sqlite_exec(sm_sqlite_t *sq, sm_call_t *call, const char *sql)
{
    int  rc, n;

    /* some locks, such as the one to enter WAL mode, skip the busy handler */

    for (n = 0; /* void */; n++) {
        rc = sqlite3_exec(sq->db, sql, NULL, NULL, NULL);

        if ((rc & 0xff) != SQLITE_BUSY || !sm_sqlite_busy(sq, n)) {
            break;
        }
    }

    return rc == SQLITE_OK ? 0 : sm_sqlite_fail(sq, call);
}


/* -1 on failure, 0 when there is no schema */

static int
sm_sqlite_schema_version(sm_sqlite_t *sq, sm_call_t *call)
{
    int            rc, version;
    sqlite3_stmt  *stmt;

    rc = sqlite3_table_column_metadata(sq->db, "main", "submission_schema",
                                       "version", NULL, NULL, NULL, NULL, NULL);

    if (rc != SQLITE_OK) {
        return rc == SQLITE_ERROR ? 0 : sm_sqlite_fail(sq, call);
    }

    if (sqlite3_prepare_v2(sq->db, sm_sqlite_sql_schema_version, -1, &stmt,
                           NULL)
        != SQLITE_OK)
    {
        return sm_sqlite_fail(sq, call);
    }

    switch (sqlite3_step(stmt)) {
    case SQLITE_ROW:
        version = sqlite3_column_int(stmt, 0);
        break;
    case SQLITE_DONE:
        version = 0;
        break;
    default:
        version = sm_sqlite_fail(sq, call);
    }

    (void) sqlite3_finalize(stmt);

    return version;
}


static int
sm_sqlite_schema(sm_sqlite_t *sq, sm_call_t *call)
{
    int  version;

    version = sm_sqlite_schema_version(sq, call);

    if (version == 0 && sq->create) {

        if (sm_sqlite_exec(sq, call, "BEGIN IMMEDIATE") != 0) {
            return -1;
        }

        if (sm_sqlite_exec(sq, call, sm_sqlite_sql_schema) != 0) {
            return sm_sqlite_rollback(sq);
        }

        if (sm_sqlite_exec(sq, call, "COMMIT") != 0) {
            return sm_sqlite_rollback(sq);
        }

        version = sm_sqlite_schema_version(sq, call);
    }

    if (version < 0) {
        return -1;
    }

    if (version == 0) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: the database is empty, and an empty one is "
                            "only filled at start or reload", sq->conf->path);
    }

    if (version != SM_SCHEMA_VERSION) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: schema version is %d, %d was expected",
                            sq->conf->path, version, SM_SCHEMA_VERSION);
    }

    return 0;
}


static int
sm_sqlite_setup(sm_sqlite_t *sq, sm_call_t *call)
{
    int  i;

    (void) sqlite3_busy_handler(sq->db, sm_sqlite_busy, sq);

    if (sqlite3_db_readonly(sq->db, "main") == 1) {
        return sm_call_fail(call, SM_STORE_PERMANENT, SQLITE_READONLY,
                            "%s: the file is read-only", sq->conf->path);
    }

    if (sm_sqlite_exec(sq, call, "PRAGMA journal_mode = WAL") != 0
        || sm_sqlite_exec(sq, call, "PRAGMA synchronous = FULL") != 0
        || sm_sqlite_exec(sq, call, "PRAGMA cache_size = -8192") != 0
        || sm_sqlite_exec(sq, call, "PRAGMA wal_autocheckpoint = 4000") != 0
        || sm_sqlite_schema(sq, call) != 0)
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


static sm_conn_t *
sm_sqlite_open(const sm_store_conf_t *conf, sm_call_t *call)
{
    int           flags;
    sm_sqlite_t  *sq;

    sq = calloc(1, sizeof(sm_sqlite_t));
    if (sq == NULL) {
        (void) sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
        return NULL;
    }

    sq->conf = conf;

    sq->create = *conf->create != 0;

    flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
            | (sq->create ? SQLITE_OPEN_CREATE : 0);

    sm_sqlite_start_call(sq);

    if (sqlite3_open_v2(conf->path, &sq->db, flags, NULL) != SQLITE_OK) {

        if (sq->db) {
            (void) sm_sqlite_fail(sq, call);

        } else {
            (void) sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
        }

        sm_sqlite_close(&sq->conn);
        return NULL;
    }

    if (sm_sqlite_setup(sq, call) != 0) {
        sm_sqlite_close(&sq->conn);
        return NULL;
    }

    *conf->create = 0;

    return &sq->conn;
}


const sm_store_ops_t  sm_store_sqlite = {
    "sqlite",
    sm_sqlite_open,
    sm_sqlite_close,
    sm_sqlite_usable,
    sm_sqlite_ping,
    sm_sqlite_begin_write,
    sm_sqlite_intents_submit,
    sm_sqlite_intents_get,
    sm_sqlite_intent_history,
    sm_sqlite_intents_list
};
