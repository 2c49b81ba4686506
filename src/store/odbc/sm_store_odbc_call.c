
/*
 * The ODBC driver of sm_store_sql.c: it binds parameters and reads rows.
 *
 * Drivers convert narrow text by the locale of the process, which is "C" in an
 * nginx worker.  So text always crosses as UTF-16.  A procedure is prepared
 * once per connection, and its columns are bound to buffers.  Bytes have no
 * buffer: each is read directly from its column.
 */

#include <stdio.h>
#include <stdlib.h>

#include "sm_feed.h"
#include "sm_store_odbc.h"


_Static_assert(SM_FEED_OWN_MAX <= SM_ODBC_TEXT_MAX,
               "an instance's events are a text");


static int
sm_odbc_stmt_fail(sm_odbc_t *od, sm_call_t *call)
{
    return sm_odbc_fail(od, call, SQL_HANDLE_STMT,
                        od->stmts[od->sql.proc].stmt);
}


static int
sm_odbc_prepare(sm_odbc_t *od, sm_call_t *call)
{
    char              text[128];
    size_t            i, n, len;
    sm_odbc_stmt_t   *st;
    const sm_proc_t  *proc;

    st = &od->stmts[od->sql.proc];
    proc = &sm_procs[od->sql.proc];

    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, od->dbc, &st->stmt))) {
        st->stmt = NULL;
        return sm_odbc_fail(od, call, SQL_HANDLE_DBC, od->dbc);
    }

    len = snprintf(text, sizeof(text), "{call submission.submission_%s(",
                   proc->name);

    for (i = 0; proc->params[i]; i++) {
        len += snprintf(text + len, sizeof(text) - len, i ? ",?" : "?");
    }

    (void) snprintf(text + len, sizeof(text) - len, ")}");

    if (!SQL_SUCCEEDED(SQLPrepare(st->stmt, (SQLCHAR *) text, SQL_NTS))) {
        return sm_odbc_stmt_fail(od, call);
    }

    for (i = 0, n = 0; sm_row_type(proc, i); i++) {
        n += sm_row_type(proc, i) == 't';
    }

    st->texts = calloc(n ? n : 1, (SM_ODBC_TEXT_MAX + 1) * sizeof(SQLWCHAR));

    return st->texts ? 0 : sm_sql_no_memory(call);
}


static int
sm_odbc_bind_columns(sm_odbc_t *od, sm_call_t *call)
{
    char              type;
    unsigned          i, at;
    SQLRETURN         rc;
    SQLWCHAR         *text;
    sm_odbc_stmt_t   *st;
    const sm_proc_t  *proc;

    st = &od->stmts[od->sql.proc];
    proc = &sm_procs[od->sql.proc];

    text = st->texts;

    for (i = 0; (type = sm_row_type(proc, i)) != 0; i++) {

        at = od->sql.columns[od->sql.proc][i];

        switch (type) {
        case 't':
            rc = SQLBindCol(st->stmt, at + 1, SQL_C_WCHAR, text,
                            (SM_ODBC_TEXT_MAX + 1) * sizeof(SQLWCHAR),
                            &st->lens[at]);
            st->text[at] = text;
            text += SM_ODBC_TEXT_MAX + 1;
            break;

        case 'i':
            rc = SQLBindCol(st->stmt, at + 1, SQL_C_SBIGINT, &st->ints[at],
                            sizeof(int64_t), &st->lens[at]);
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


static int
sm_odbc_bind(sm_odbc_t *od, sm_call_t *call, unsigned n, SQLSMALLINT ctype,
    SQLSMALLINT type, SQLULEN size, const void *data, SQLLEN len)
{
    SQLRETURN  rc;

    od->lens[n] = len;

    rc = SQLBindParameter(od->stmts[od->sql.proc].stmt, n + 1,
                          SQL_PARAM_INPUT, ctype, type, size, 0,
                          (SQLPOINTER) data, len > 0 ? len : 0, &od->lens[n]);

    return SQL_SUCCEEDED(rc) ? 0 : sm_odbc_stmt_fail(od, call);
}


/* A document may have any length; a text is an ordinary NVARCHAR. */

static int
sm_odbc_bind_utf16(sm_odbc_t *od, sm_call_t *call, unsigned n)
{
    size_t           len;
    SQLWCHAR        *text;
    SQLSMALLINT      type;
    sm_sql_param_t  *param;

    param = &od->sql.params[n];

    type = param->type == 'd' ? SQL_WLONGVARCHAR : SQL_WVARCHAR;

    if (param->null) {
        return sm_odbc_bind(od, call, n, SQL_C_WCHAR, type, SM_ODBC_TEXT_MAX,
                            NULL, SQL_NULL_DATA);
    }

    text = sm_odbc_utf16(&call->arena, param->s, &len);

    if (text == NULL) {
        return sm_sql_no_memory(call);
    }

    return sm_odbc_bind(od, call, n, SQL_C_WCHAR, type,
                        param->type == 'd' ? len + 1 : SM_ODBC_TEXT_MAX,
                        text, len * sizeof(SQLWCHAR));
}


static int
sm_odbc_bind_param(sm_odbc_t *od, sm_call_t *call, unsigned n)
{
    sm_sql_param_t  *param;

    param = &od->sql.params[n];

    switch (param->type) {

    case 'i':
        return sm_odbc_bind(od, call, n, SQL_C_SBIGINT, SQL_BIGINT, 0,
                            &param->n, param->null ? SQL_NULL_DATA
                                                   : (SQLLEN) sizeof(int64_t));

    case 'b':
        return sm_odbc_bind(od, call, n, SQL_C_BINARY, SQL_LONGVARBINARY,
                            param->s.len ? param->s.len : 1,
                            param->s.len ? param->s.data : "", param->s.len);

    default: /* 't', 'd' */
        return sm_odbc_bind_utf16(od, call, n);
    }
}


/*
 * SQL Server reports an error that comes after the first result set only if
 * the client asks for more results.
 */

static int
sm_odbc_more(sm_odbc_t *od, sm_call_t *call)
{
    switch (SQLMoreResults(od->stmts[od->sql.proc].stmt)) {
    case SQL_SUCCESS:
    case SQL_SUCCESS_WITH_INFO:
        return 1;

    case SQL_NO_DATA:
        return 0;

    default:
        return sm_odbc_stmt_fail(od, call);
    }
}


static int
sm_odbc_exec(sm_sql_t *sql, sm_call_t *call)
{
    int              more;
    unsigned         i;
    SQLRETURN        rc;
    SQLSMALLINT      columns;
    sm_odbc_t       *od = (sm_odbc_t *) sql;
    sm_odbc_stmt_t  *st;

    sm_odbc_watch_start(&od->watch, sql->timeout);

    st = &od->stmts[sql->proc];

    if (st->stmt == NULL && sm_odbc_prepare(od, call) != 0) {
        return -1;
    }

    if (st->timeout != sql->timeout) {
        st->timeout = sql->timeout;

        (void) SQLSetStmtAttr(st->stmt, SQL_ATTR_QUERY_TIMEOUT,
                              (SQLPOINTER) (uintptr_t)
                              ((sql->timeout + 999) / 1000), 0);
    }

    for (i = 0; i < sql->n; i++) {
        if (sm_odbc_bind_param(od, call, i) != 0) {
            return -1;
        }
    }

    rc = SQLExecute(st->stmt);

    if (!SQL_SUCCEEDED(rc) && rc != SQL_NO_DATA) {
        return sm_odbc_stmt_fail(od, call);
    }

    /* Skips the row counts that precede the result set. */

    for (more = 1; more == 1; more = sm_odbc_more(od, call)) {

        columns = 0;
        (void) SQLNumResultCols(st->stmt, &columns);

        if (columns && sm_row_columns(sql, call) != 0) {
            return -1;
        }

        if (columns) {
            return st->bound ? 0 : sm_odbc_bind_columns(od, call);
        }
    }

    return more < 0 ? -1 : sm_call_fail(call, SM_STORE_SCHEMA, 0,
                                        "odbc: submission_%s gives no rows",
                                        sm_procs[od->sql.proc].name);
}


static int
sm_odbc_fetch(sm_sql_t *sql, sm_call_t *call)
{
    sm_odbc_t  *od = (sm_odbc_t *) sql;

    switch (SQLFetch(od->stmts[od->sql.proc].stmt)) {
    case SQL_SUCCESS:
    case SQL_SUCCESS_WITH_INFO:         /* text was cut; see its length */
        return 1;

    case SQL_NO_DATA:
        return 0;

    default:
        return sm_odbc_stmt_fail(od, call);
    }
}


/*
 * Reports no columns beyond the buffers.  A name that is searched for and
 * stands there counts as missing.
 */

static int
sm_odbc_column(sm_sql_t *sql, unsigned column, char *name, size_t size)
{
    SQLRETURN    rc;
    SQLULEN      length;
    sm_odbc_t   *od = (sm_odbc_t *) sql;
    SQLSMALLINT  len, type, digits, nullable;

    if (column >= SM_SQL_COLUMNS) {
        return -1;
    }

    rc = SQLDescribeCol(od->stmts[sql->proc].stmt, column + 1,
                        (SQLCHAR *) name, size, &len, &type, &length, &digits,
                        &nullable);

    return SQL_SUCCEEDED(rc) ? 0 : -1;
}


/* Any type will do, because the driver converts columns to the bound type. */

static int
sm_odbc_is_type(sm_sql_t *sql, unsigned column, char type)
{
    (void) sql;
    (void) column;
    (void) type;

    return 1;
}


static int
sm_odbc_is_null(sm_sql_t *sql, unsigned column)
{
    sm_odbc_t  *od = (sm_odbc_t *) sql;

    return od->stmts[od->sql.proc].lens[column] == SQL_NULL_DATA;
}


static int64_t
sm_odbc_int(sm_sql_t *sql, unsigned column)
{
    sm_odbc_t  *od = (sm_odbc_t *) sql;

    return sm_odbc_is_null(sql, column)
           ? 0 : od->stmts[od->sql.proc].ints[column];
}


static int
sm_odbc_text(sm_sql_t *sql, sm_call_t *call, unsigned column, sm_str_t *s)
{
    SQLLEN           len;
    sm_odbc_t       *od = (sm_odbc_t *) sql;
    sm_odbc_stmt_t  *st;

    st = &od->stmts[od->sql.proc];
    len = st->lens[column];

    if (len == SQL_NULL_DATA) {
        s->data = NULL;
        s->len = 0;
        return 0;
    }

    if (len < 0 || len > (SQLLEN) (SM_ODBC_TEXT_MAX * sizeof(SQLWCHAR))) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "odbc: column %u of submission_%s is too long",
                            column + 1, sm_procs[od->sql.proc].name);
    }

    return sm_odbc_utf8(&call->arena, st->text[column],
                        len / sizeof(SQLWCHAR), s) == 0
           ? 0 : sm_sql_no_memory(call);
}


static int
sm_odbc_bytes(sm_sql_t *sql, sm_call_t *call, unsigned column, sm_str_t *s)
{
    char       *data, none[1];
    SQLLEN      len;
    SQLHSTMT    stmt;
    SQLRETURN   rc;
    sm_odbc_t  *od = (sm_odbc_t *) sql;

    s->data = NULL;
    s->len = 0;

    stmt = od->stmts[od->sql.proc].stmt;

    /* A read into an empty buffer tells the length. */

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
        return sm_sql_no_memory(call);
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


static void
sm_odbc_end(sm_sql_t *sql, sm_call_t *call)
{
    SQLHSTMT    stmt;
    sm_odbc_t  *od = (sm_odbc_t *) sql;

    stmt = od->stmts[sql->proc].stmt;

    if (stmt) {
        while (call->status == SM_STORE_OK && sm_odbc_more(od, call) == 1) {
            /* void */
        }

        (void) SQLFreeStmt(stmt, SQL_CLOSE);
        (void) SQLFreeStmt(stmt, SQL_RESET_PARAMS);
    }

    sm_odbc_watch_stop(&od->watch);
}


const sm_sql_driver_t  sm_odbc_driver = {
    "odbc",
    sm_odbc_exec,
    sm_odbc_fetch,
    sm_odbc_column,
    sm_odbc_is_type,
    sm_odbc_is_null,
    sm_odbc_int,
    sm_odbc_text,
    sm_odbc_text,                       /* text is always converted to UTF-8 */
    sm_odbc_bytes,
    sm_odbc_end
};


void
sm_odbc_free_stmts(sm_odbc_t *od)
{
    unsigned  i;

    for (i = 0; i < SM_PROCS; i++) {

        if (od->stmts[i].stmt) {
            (void) SQLFreeHandle(SQL_HANDLE_STMT, od->stmts[i].stmt);
        }

        free(od->stmts[i].texts);
    }
}
