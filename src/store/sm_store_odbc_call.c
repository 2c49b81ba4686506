
/*
 * Calls of stored procedures: parameters in, rows out.
 *
 * Text crosses in a way that no driver converts by the locale of the process,
 * which in a worker of nginx is "C": as UTF-16 to SQL Server, and as the bytes
 * of UTF-8 to PostgreSQL, whose driver would convert the other.  A procedure is
 * prepared once per connection, with its columns bound to buffers; payloads are
 * read from their column at once.
 */

#include <stdio.h>
#include <stdlib.h>

#include "sm_store_odbc.h"


/* t: text, d: a document, b: bytes, i: an integer of 64 bits */

typedef struct {
    const char  *name;
    const char  *params;
    const char  *columns;
} sm_odbc_proc_t;


#define SM_ODBC_INTENT    "tttiiiittt"          /* see intents.c */
#define SM_ODBC_LEASE     "iitiiii"             /* see lease.c */
#define SM_ODBC_CONTRACT  "ttttiitiiii"         /* see attempts.c */


static const sm_odbc_proc_t  sm_odbc_procs[] = {
    { "schema_version", "", "i" },
    { "ping", "", "i" },
    { "intents_submit", "tdb", "i" SM_ODBC_INTENT },
    { "intents_get", "td", "i" SM_ODBC_INTENT },
    { "intent_history", "tt", "i" SM_ODBC_INTENT "iiittt" },
    { "intents_list", "tttiit", "i" SM_ODBC_INTENT },
    { "lease_acquire", "tti", SM_ODBC_LEASE },
    { "lease_renew", "ttii", SM_ODBC_LEASE },
    { "lease_takeover", "ttii", SM_ODBC_LEASE },
    { "lease_release", "tti", SM_ODBC_LEASE },
    { "lease_get", "t", SM_ODBC_LEASE },
    { "candidate_heartbeat", "ttitt", "i" },
    { "candidate_remove", "tt", "i" },
    { "cluster_get", "t", SM_ODBC_LEASE "tttiii" },
    { "schedule_page", "ttiiiti", "ittii" },
    { "attempts_turn", "ttidd", "iiiiii" SM_ODBC_CONTRACT "b" },
    { "attempts_in_doubt", "ttiiti", "itiitii" SM_ODBC_CONTRACT }
};


static int
sm_odbc_stmt_fail(sm_odbc_t *od, sm_call_t *call)
{
    return sm_odbc_fail(od, call, SQL_HANDLE_STMT, od->stmts[od->proc].stmt);
}


static int
sm_odbc_prepare(sm_odbc_t *od, sm_call_t *call)
{
    char                   text[128];
    size_t                 i, n, len;
    sm_odbc_stmt_t        *st;
    const sm_odbc_proc_t  *proc;

    st = &od->stmts[od->proc];
    proc = &sm_odbc_procs[od->proc];

    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, od->dbc, &st->stmt))) {
        st->stmt = NULL;
        return sm_odbc_fail(od, call, SQL_HANDLE_DBC, od->dbc);
    }

    (void) SQLSetStmtAttr(st->stmt, SQL_ATTR_QUERY_TIMEOUT,
                          (SQLPOINTER) (uintptr_t)
                          ((od->conf->query_timeout + 999) / 1000), 0);

    len = snprintf(text, sizeof(text), "{call submission.submission_%s(",
                   proc->name);

    for (i = 0; proc->params[i]; i++) {
        len += snprintf(text + len, sizeof(text) - len, i ? ",?" : "?");
    }

    (void) snprintf(text + len, sizeof(text) - len, ")}");

    if (!SQL_SUCCEEDED(SQLPrepare(st->stmt, (SQLCHAR *) text, SQL_NTS))) {
        return sm_odbc_stmt_fail(od, call);
    }

    for (i = 0, n = 0; proc->columns[i]; i++) {
        n += proc->columns[i] == 't';
    }

    st->texts = calloc(n ? n : 1, (SM_ODBC_TEXT_MAX + 1) * sizeof(SQLWCHAR));

    return st->texts ? 0 : sm_odbc_no_memory(call);
}


static int
sm_odbc_bind_columns(sm_odbc_t *od, sm_call_t *call)
{
    size_t                 i;
    SQLRETURN              rc;
    SQLWCHAR              *text;
    sm_odbc_stmt_t        *st;
    const sm_odbc_proc_t  *proc;

    st = &od->stmts[od->proc];
    proc = &sm_odbc_procs[od->proc];

    text = st->texts;

    for (i = 0; proc->columns[i]; i++) {

        switch (proc->columns[i]) {
        case 't':
            rc = SQLBindCol(st->stmt, i + 1,
                            od->dialect == SM_ODBC_POSTGRES ? SQL_C_BINARY
                                                            : SQL_C_WCHAR,
                            text, (SM_ODBC_TEXT_MAX + 1) * sizeof(SQLWCHAR),
                            &st->lens[i]);
            text += SM_ODBC_TEXT_MAX + 1;
            break;

        case 'i':
            rc = SQLBindCol(st->stmt, i + 1, SQL_C_SBIGINT, &st->ints[i],
                            sizeof(int64_t), &st->lens[i]);
            break;

        default: /* 'b' */
            continue;
        }

        if (!SQL_SUCCEEDED(rc)) {
            return sm_odbc_stmt_fail(od, call);
        }
    }

    st->bound = 1;

    return 0;
}


void
sm_odbc_start(sm_odbc_t *od, sm_call_t *call, unsigned proc)
{
    od->proc = proc;
    od->n = 0;

    sm_odbc_watch_start(&od->watch, od->connected, od->conf->query_timeout);

    if (od->stmts[proc].stmt == NULL) {
        (void) sm_odbc_prepare(od, call);
    }
}


static void
sm_odbc_bind(sm_odbc_t *od, sm_call_t *call, SQLSMALLINT ctype,
    SQLSMALLINT type, SQLULEN size, const void *data, SQLLEN len)
{
    SQLRETURN  rc;

    od->lens[od->n] = len;

    rc = SQLBindParameter(od->stmts[od->proc].stmt, od->n + 1, SQL_PARAM_INPUT,
                          ctype, type, size, 0, (SQLPOINTER) data,
                          len > 0 ? len : 0, &od->lens[od->n]);

    if (!SQL_SUCCEEDED(rc)) {
        (void) sm_odbc_stmt_fail(od, call);
    }

    od->n++;
}


static void
sm_odbc_put_utf8(sm_odbc_t *od, sm_call_t *call, SQLSMALLINT type,
    SQLULEN size, sm_str_t s)
{
    if (s.data) {
        sm_odbc_bind(od, call, SQL_C_CHAR, type,
                     size ? size : s.len ? s.len : 1, s.data, s.len);

    } else {
        sm_odbc_bind(od, call, SQL_C_CHAR, type, size, NULL, SQL_NULL_DATA);
    }
}


static void
sm_odbc_put_utf16(sm_odbc_t *od, sm_call_t *call, SQLSMALLINT type,
    SQLULEN size, sm_str_t s)
{
    size_t     len;
    SQLWCHAR  *text;

    if (s.data == NULL) {
        sm_odbc_bind(od, call, SQL_C_WCHAR, type, size, NULL, SQL_NULL_DATA);
        return;
    }

    text = sm_odbc_utf16(&call->arena, s, &len);

    if (text == NULL) {
        (void) sm_odbc_no_memory(call);
        return;
    }

    sm_odbc_bind(od, call, SQL_C_WCHAR, type,
                 size ? size : len ? len : 1, text, len * sizeof(SQLWCHAR));
}


void
sm_odbc_put_text(sm_odbc_t *od, sm_call_t *call, sm_str_t s)
{
    if (call->status != SM_STORE_OK) {
        return;
    }

    if (od->dialect == SM_ODBC_POSTGRES) {
        sm_odbc_put_utf8(od, call, SQL_VARCHAR, SM_ODBC_TEXT_MAX, s);

    } else {
        sm_odbc_put_utf16(od, call, SQL_WVARCHAR, SM_ODBC_TEXT_MAX, s);
    }
}


void
sm_odbc_put_doc(sm_odbc_t *od, sm_call_t *call, sm_str_t s)
{
    if (call->status != SM_STORE_OK) {
        return;
    }

    if (od->dialect == SM_ODBC_POSTGRES) {
        sm_odbc_put_utf8(od, call, SQL_LONGVARCHAR, 0, s);

    } else {
        sm_odbc_put_utf16(od, call, SQL_WLONGVARCHAR, 0, s);
    }
}


void
sm_odbc_put_bytes(sm_odbc_t *od, sm_call_t *call, sm_str_t s)
{
    if (call->status == SM_STORE_OK) {
        sm_odbc_bind(od, call, SQL_C_BINARY, SQL_LONGVARBINARY,
                     s.len ? s.len : 1, s.len ? s.data : "", s.len);
    }
}


void
sm_odbc_put_int(sm_odbc_t *od, sm_call_t *call, int64_t value)
{
    if (call->status == SM_STORE_OK) {
        od->ints[od->n] = value;
        sm_odbc_bind(od, call, SQL_C_SBIGINT, SQL_BIGINT, 0, &od->ints[od->n],
                     sizeof(int64_t));
    }
}


void
sm_odbc_put_no_int(sm_odbc_t *od, sm_call_t *call)
{
    if (call->status == SM_STORE_OK) {
        sm_odbc_bind(od, call, SQL_C_SBIGINT, SQL_BIGINT, 0, &od->ints[od->n],
                     SQL_NULL_DATA);
    }
}


void
sm_odbc_put_fence(sm_odbc_t *od, sm_call_t *call, const sm_fence_t *fence)
{
    sm_odbc_put_text(od, call, od->conf->lease_name);
    sm_odbc_put_text(od, call, fence->holder);
    sm_odbc_put_int(od, call, fence->epoch);
}


/* SQL Server reports an error behind the first result set only when asked */

static int
sm_odbc_more(sm_odbc_t *od, sm_call_t *call)
{
    switch (SQLMoreResults(od->stmts[od->proc].stmt)) {
    case SQL_SUCCESS:
    case SQL_SUCCESS_WITH_INFO:
        return 1;

    case SQL_NO_DATA:
        return 0;

    default:
        return sm_odbc_stmt_fail(od, call);
    }
}


int
sm_odbc_exec(sm_odbc_t *od, sm_call_t *call)
{
    int              more;
    SQLRETURN        rc;
    SQLSMALLINT      columns;
    sm_odbc_stmt_t  *st;

    if (call->status != SM_STORE_OK) {
        return -1;
    }

    st = &od->stmts[od->proc];

    rc = SQLExecute(st->stmt);

    if (!SQL_SUCCEEDED(rc) && rc != SQL_NO_DATA) {
        return sm_odbc_stmt_fail(od, call);
    }

    /* to the rows, past counts of what was changed */

    for (more = 1; more == 1; more = sm_odbc_more(od, call)) {

        columns = 0;
        (void) SQLNumResultCols(st->stmt, &columns);

        if (columns == (SQLSMALLINT) strlen(sm_odbc_procs[od->proc].columns)) {
            return st->bound ? 0 : sm_odbc_bind_columns(od, call);
        }

        if (columns) {
            return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                                "odbc: submission_%s gives %d columns, %d were "
                                "expected", sm_odbc_procs[od->proc].name,
                                (int) columns,
                                (int) strlen(sm_odbc_procs[od->proc].columns));
        }
    }

    return more < 0 ? -1 : sm_call_fail(call, SM_STORE_SCHEMA, 0,
                                        "odbc: submission_%s gives no rows",
                                        sm_odbc_procs[od->proc].name);
}


/* 1: a row, 0: no more, -1 */

int
sm_odbc_fetch(sm_odbc_t *od, sm_call_t *call)
{
    if (call->status != SM_STORE_OK) {
        return -1;
    }

    switch (SQLFetch(od->stmts[od->proc].stmt)) {
    case SQL_SUCCESS:
    case SQL_SUCCESS_WITH_INFO:         /* of text, its length tells */
        return 1;

    case SQL_NO_DATA:
        return 0;

    default:
        return sm_odbc_stmt_fail(od, call);
    }
}


int
sm_odbc_is_null(sm_odbc_t *od, unsigned column)
{
    return od->stmts[od->proc].lens[column] == SQL_NULL_DATA;
}


int64_t
sm_odbc_int(sm_odbc_t *od, unsigned column)
{
    return sm_odbc_is_null(od, column) ? 0 : od->stmts[od->proc].ints[column];
}


int
sm_odbc_text(sm_odbc_t *od, sm_call_t *call, unsigned column, sm_str_t *s)
{
    int              rc;
    size_t           i, n;
    SQLLEN           len;
    sm_str_t         bytes;
    SQLWCHAR        *text;
    sm_odbc_stmt_t  *st;

    st = &od->stmts[od->proc];
    len = st->lens[column];

    if (len == SQL_NULL_DATA) {
        s->data = NULL;
        s->len = 0;
        return 0;
    }

    if (len < 0 || len > (SQLLEN) (SM_ODBC_TEXT_MAX * sizeof(SQLWCHAR))) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "odbc: column %u of submission_%s is too long",
                            column + 1, sm_odbc_procs[od->proc].name);
    }

    for (i = 0, n = 0; i < column; i++) {
        n += sm_odbc_procs[od->proc].columns[i] == 't';
    }

    text = st->texts + n * (SM_ODBC_TEXT_MAX + 1);

    if (od->dialect == SM_ODBC_POSTGRES) {
        bytes.data = (char *) text;
        bytes.len = len;
        rc = sm_arena_strdup(&call->arena, s, bytes);

    } else {
        rc = sm_odbc_utf8(&call->arena, text, len / sizeof(SQLWCHAR), s);
    }

    return rc == 0 ? 0 : sm_odbc_no_memory(call);
}


int
sm_odbc_bytes(sm_odbc_t *od, sm_call_t *call, unsigned column, sm_str_t *s)
{
    char       *data, none[1];
    SQLLEN      len;
    SQLHSTMT    stmt;
    SQLRETURN   rc;

    s->data = NULL;
    s->len = 0;

    stmt = od->stmts[od->proc].stmt;

    /* how many there are */

    rc = SQLGetData(stmt, column + 1, SQL_C_BINARY, none, 0, &len);

    if (!SQL_SUCCEEDED(rc)) {
        return sm_odbc_stmt_fail(od, call);
    }

    if (len == SQL_NULL_DATA) {
        return 0;
    }

    if (len < 0) {
        return sm_call_fail(call, SM_STORE_PERMANENT, 0,
                            "odbc: the driver does not tell lengths");
    }

    data = sm_arena_alloc(&call->arena, len ? len : 1);
    if (data == NULL) {
        return sm_odbc_no_memory(call);
    }

    s->data = data;
    s->len = len;

    if (len == 0) {
        return 0;
    }

    rc = SQLGetData(stmt, column + 1, SQL_C_BINARY, data, len, &len);

    if (rc != SQL_SUCCESS || len != (SQLLEN) s->len) {
        return SQL_SUCCEEDED(rc)
               ? sm_call_fail(call, SM_STORE_PERMANENT, 0,
                              "odbc: the driver gives bytes in part")
               : sm_odbc_stmt_fail(od, call);
    }

    return 0;
}


int
sm_odbc_end(sm_odbc_t *od, sm_call_t *call)
{
    SQLHSTMT  stmt;

    stmt = od->stmts[od->proc].stmt;

    if (stmt) {
        while (call->status == SM_STORE_OK && sm_odbc_more(od, call) == 1) {
            /* void */
        }

        (void) SQLFreeStmt(stmt, SQL_CLOSE);
        (void) SQLFreeStmt(stmt, SQL_RESET_PARAMS);
    }

    sm_odbc_watch_stop(&od->watch);

    return call->status == SM_STORE_OK ? 0 : -1;
}


int
sm_odbc_run(sm_odbc_t *od, sm_call_t *call)
{
    if (sm_odbc_exec(od, call) == 0) {
        while (sm_odbc_fetch(od, call) == 1) {
            /* void */
        }
    }

    return sm_odbc_end(od, call);
}


int
sm_odbc_fenced(sm_odbc_t *od, sm_call_t *call, const sm_fence_t *fence)
{
    const char  *at;

    static const char  lost[] = "LEASE_LOST at ";

    (void) sm_odbc_end(od, call);

    if (call->status == SM_STORE_LEASE_LOST) {

        at = strstr(call->error, lost);
        call->now = at ? strtoll(at + sizeof(lost) - 1, NULL, 10) : 0;

        return sm_call_fail(call, SM_STORE_LEASE_LOST, 0,
                            "LEASE_LOST: %.*s does not hold epoch %lld",
                            (int) fence->holder.len, fence->holder.data,
                            (long long) fence->epoch);
    }

    return call->status == SM_STORE_OK ? 0 : -1;
}


void
sm_odbc_free_stmts(sm_odbc_t *od)
{
    unsigned  i;

    for (i = 0; i < SM_ODBC_PROCS; i++) {

        if (od->stmts[i].stmt) {
            (void) SQLFreeHandle(SQL_HANDLE_STMT, od->stmts[i].stmt);
        }

        free(od->stmts[i].texts);
    }
}
