
/*
 * The SQLite driver of sm_store_sql.c.
 *
 * Each operation that reads is one statement, with the parameters and columns
 * of the same procedure of a database server.  Its parameters are bound by
 * name, and the names are looked up once per connection.  A statement with
 * ":now" is given the store's time, which becomes the call's time.
 */

#include <stdio.h>

#include "sm_store_sqlite.h"


static const unsigned  sm_sqlite_calls[SM_PROCS] = {
    [SM_PROC_INTENTS_GET] = SM_SQLITE_GET,
    [SM_PROC_INTENTS_LENGTH] = SM_SQLITE_LENGTH,
    [SM_PROC_INTENT_HISTORY] = SM_SQLITE_HISTORY,
    [SM_PROC_INTENT_EVENTS] = SM_SQLITE_EVENTS,
    [SM_PROC_WEBHOOK_MESSAGES] = SM_SQLITE_MESSAGES,
    [SM_PROC_INTENTS_LIST] = SM_SQLITE_LIST,
    [SM_PROC_INTENTS_SEARCH] = SM_SQLITE_SEARCH,
    [SM_PROC_INTENTS_PREFIX] = SM_SQLITE_PREFIX,
    [SM_PROC_INTENT_PAYLOAD] = SM_SQLITE_PAYLOAD,
    [SM_PROC_LEASE_WATCH] = SM_SQLITE_LEASE_WATCH,
    [SM_PROC_CLUSTER_GET] = SM_SQLITE_CLUSTER_GET,
    [SM_PROC_ATTEMPTS_IN_DOUBT] = SM_SQLITE_IN_DOUBT,
    [SM_PROC_FAILURES_GET] = SM_SQLITE_FAILURES,
    [SM_PROC_INBOX_PAGE] = SM_SQLITE_INBOX_PAGE,
    [SM_PROC_STATS_GET] = SM_SQLITE_STATS_GET,
    [SM_PROC_BACKLOG_GET] = SM_SQLITE_BACKLOG,
    [SM_PROC_JOBS_LIST] = SM_SQLITE_JOBS_LIST,
    [SM_PROC_JOB_NEXT] = SM_SQLITE_JOB_NEXT,
    [SM_PROC_TARGETS_PAUSED] = SM_SQLITE_TARGETS_PAUSED,
    [SM_PROC_SCHEDULES_GET] = SM_SQLITE_SCHEDULES_GET,
    [SM_PROC_SCHEDULES_DUE] = SM_SQLITE_SCHEDULES_DUE
};


/* The queue is read by a statement of its own for each order. */

static const unsigned  sm_sqlite_pages[] = {
    [SM_PAGE_MODIFIED] = SM_SQLITE_PAGE_MODIFIED,
    [SM_PAGE_DUE] = SM_SQLITE_PAGE_DUE,
    [SM_PAGE_LIVE] = SM_SQLITE_PAGE_LIVE
};

_Static_assert(sm_nelts(sm_sqlite_pages) == SM_PAGE_COUNT,
               "a statement for each order");

#define SM_SQLITE_PAGE_ORDER   3        /* numbers of parameters that choose */
#define SM_SQLITE_AUDIT_BY     1


static unsigned
sm_sqlite_call_which(const sm_sql_t *sql)
{
    switch (sql->proc) {

    case SM_PROC_QUEUE_PAGE:
        return sm_sqlite_pages[sql->params[SM_SQLITE_PAGE_ORDER].n];

    case SM_PROC_AUDIT_LIST:
        return sql->params[SM_SQLITE_AUDIT_BY].null ? SM_SQLITE_AUDIT_LIST
                                                    : SM_SQLITE_AUDIT_ACTOR;
    default:
        return sm_sqlite_calls[sql->proc];
    }
}


/* Looks the numbers of the parameters up; a statement need not have all. */

static void
sm_sqlite_call_names(sm_sqlite_t *sq, unsigned which, sm_sqlite_names_t *names)
{
    int            n;
    char           name[32];
    sm_str_t       rest, word;
    sqlite3_stmt  *stmt;

    stmt = sq->stmts[which];
    rest = sm_str_c(sm_procs[sq->sql.proc].names);

    for (n = 0; sm_next_word(&rest, &word); n++) {
        (void) snprintf(name, sizeof(name), ":%.*s", (int) word.len,
                        word.data);

        names->at[n] = sqlite3_bind_parameter_index(stmt, name);
    }

    names->now = sqlite3_bind_parameter_index(stmt, ":now");
    names->known = 1;
}


static void
sm_sqlite_call_bind(sm_sqlite_t *sq, sm_call_t *call,
    const sm_sqlite_names_t *names)
{
    unsigned               i;
    const sm_sql_param_t  *param;

    for (i = 0; i < sq->sql.n; i++) {
        param = &sq->sql.params[i];

        if (names->at[i] == 0) {
            continue;
        }

        if (param->null) {
            (void) sqlite3_bind_null(sq->stmt, names->at[i]);

        } else if (param->type == 'i') {
            (void) sqlite3_bind_int64(sq->stmt, names->at[i], param->n);

        } else {
            sm_sqlite_bind_nth(sq->stmt, names->at[i], param->s);
        }
    }

    if (names->now) {
        (void) sqlite3_bind_int64(sq->stmt, names->now, call->now);
    }
}


/* Checks the fence in the transaction in which the call then reads. */

static int
sm_sqlite_call_fence(sm_sqlite_t *sq, sm_call_t *call)
{
    if (sm_sqlite_run(sq, call, SM_SQLITE_BEGIN_READ) != 0) {
        return -1;
    }

    return sm_sqlite_fence_read(sq, call, sq->sql.fence);
}


static int
sm_sqlite_call_exec(sm_sql_t *sql, sm_call_t *call)
{
    unsigned            which;
    sm_sqlite_t        *sq = (sm_sqlite_t *) sql;
    sm_sqlite_names_t  *names;

    which = sm_sqlite_call_which(sql);
    names = &sq->names[which];
    sq->stmt = sq->stmts[which];

    sm_sqlite_start_call(sq);

    if (!names->known) {
        sm_sqlite_call_names(sq, which, names);
    }

    if (sql->fence) {
        if (sm_sqlite_call_fence(sq, call) != 0) {
            return -1;
        }

    } else if (names->now && sm_sqlite_now(sq, call, &call->now) != 0) {
        return -1;
    }

    sm_sqlite_call_bind(sq, call, names);

    return sm_row_columns(sql, call);
}


static int
sm_sqlite_call_fetch(sm_sql_t *sql, sm_call_t *call)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) sql;

    switch (sqlite3_step(sq->stmt)) {
    case SQLITE_ROW:
        return 1;
    case SQLITE_DONE:
        return 0;
    default:
        return sm_sqlite_fail(sq, call);
    }
}


static int
sm_sqlite_call_column(sm_sql_t *sql, unsigned column, char *name, size_t size)
{
    const char   *text;
    sm_sqlite_t  *sq = (sm_sqlite_t *) sql;

    text = sqlite3_column_name(sq->stmt, column);

    if (text == NULL) {
        return -1;
    }

    (void) snprintf(name, size, "%s", text);

    return 0;
}


/* Any type will do, because a column of SQLite is not bound to one. */

static int
sm_sqlite_call_is_type(sm_sql_t *sql, unsigned column, char type)
{
    (void) sql;
    (void) column;
    (void) type;

    return 1;
}


static int
sm_sqlite_call_is_null(sm_sql_t *sql, unsigned column)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) sql;

    return sqlite3_column_type(sq->stmt, column) == SQLITE_NULL;
}


static int64_t
sm_sqlite_call_int(sm_sql_t *sql, unsigned column)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) sql;

    return sqlite3_column_int64(sq->stmt, column);
}


static int
sm_sqlite_call_peek(sm_sql_t *sql, sm_call_t *call, unsigned column,
    sm_str_t *s)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) sql;

    (void) call;

    *s = sm_sqlite_peek(sq->stmt, column);

    return 0;
}


static int
sm_sqlite_call_text(sm_sql_t *sql, sm_call_t *call, unsigned column,
    sm_str_t *s)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) sql;

    return sm_sqlite_text(call, sq->stmt, column, s);
}


/* Empty bytes are not NULL, although SQLite has no data for them. */

static int
sm_sqlite_call_bytes(sm_sql_t *sql, sm_call_t *call, unsigned column,
    sm_str_t *s)
{
    sm_str_t      value;
    sm_sqlite_t  *sq = (sm_sqlite_t *) sql;

    if (sqlite3_column_type(sq->stmt, column) == SQLITE_NULL) {
        s->data = NULL;
        s->len = 0;
        return 0;
    }

    value.data = sqlite3_column_blob(sq->stmt, column);
    value.len = sqlite3_column_bytes(sq->stmt, column);

    if (value.data == NULL) {
        value.data = "";
    }

    return sm_sql_keep(call, value, s);
}


/* The reset also reports errors from reading columns. */

static void
sm_sqlite_call_end(sm_sql_t *sql, sm_call_t *call)
{
    sm_sqlite_t  *sq = (sm_sqlite_t *) sql;

    if (sqlite3_reset(sq->stmt) != SQLITE_OK && call->status == SM_STORE_OK) {
        (void) sm_sqlite_fail(sq, call);
    }

    if (sql->fence == NULL) {
        return;
    }

    if (call->status != SM_STORE_OK
        || sm_sqlite_run(sq, call, SM_SQLITE_COMMIT) != 0)
    {
        (void) sm_sqlite_rollback(sq);
    }
}


const sm_sql_driver_t  sm_sqlite_driver = {
    "sqlite",
    sm_sqlite_call_exec,
    sm_sqlite_call_fetch,
    sm_sqlite_call_column,
    sm_sqlite_call_is_type,
    sm_sqlite_call_is_null,
    sm_sqlite_call_int,
    sm_sqlite_call_text,
    sm_sqlite_call_peek,
    sm_sqlite_call_bytes,
    sm_sqlite_call_end
};
