
/*
 * SQL Server, through ODBC.
 *
 * Every operation is one call of one stored procedure, and every call is one
 * transaction (autocommit is on).  A call that returned without an error is
 * committed, and no connection is ever left inside a transaction.  The answer
 * of a procedure is read to its end before any of it is used, because the
 * server may still report that the commit failed.
 *
 * Handles are made in the process that uses them, never before a fork.  The
 * query time-out bounds each call and the login time-out bounds connecting.
 * If the driver does not keep to them, the watcher cuts the connection a
 * second later: see sm_store_odbc_watch.c.
 */

#include <pthread.h>
#include <stdlib.h>

#include <stdio.h>

#include <openssl/crypto.h>

#include "sm_store_odbc.h"


static pthread_once_t  sm_odbc_once = PTHREAD_ONCE_INIT;
static SQLHENV         sm_odbc_env;


static void
sm_odbc_init(void)
{
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE,
                                      &sm_odbc_env)))
    {
        sm_odbc_env = NULL;
        return;
    }

    (void) SQLSetEnvAttr(sm_odbc_env, SQL_ATTR_ODBC_VERSION,
                         (SQLPOINTER) SQL_OV_ODBC3, 0);
}


static void
sm_odbc_close(sm_conn_t *conn)
{
    sm_odbc_t  *od = (sm_odbc_t *) conn;

    /*
     * Some drivers send a request to the server for each statement they free.
     */

    sm_odbc_watch_start(&od->watch, 0);

    sm_odbc_free_stmts(od);

    if (od->dbc) {
        if (od->connected) {
            (void) SQLDisconnect(od->dbc);
        }

        (void) SQLFreeHandle(SQL_HANDLE_DBC, od->dbc);
    }

    sm_odbc_watch_stop(&od->watch);
    sm_odbc_watch_close(&od->watch);

    free(od);
}


static int
sm_odbc_usable(sm_conn_t *conn)
{
    SQLINTEGER  dead;
    sm_odbc_t  *od = (sm_odbc_t *) conn;

    dead = SQL_CD_FALSE;

    (void) SQLGetConnectAttr(od->dbc, SQL_ATTR_CONNECTION_DEAD, &dead,
                             sizeof(dead), NULL);

    return dead != SQL_CD_TRUE;
}


/* ODBC counts in seconds and takes 0 for "no limit", so the least is 1. */

static SQLPOINTER
sm_odbc_seconds(int64_t ms)
{
    return (SQLPOINTER) (uintptr_t) (ms > 1000 ? (ms + 999) / 1000 : 1);
}


static int
sm_odbc_connect(sm_odbc_t *od, sm_call_t *call)
{
    size_t                  len;
    SQLCHAR                *string;
    SQLRETURN               rc;
    const sm_store_conf_t  *conf = od->sql.conf;

    string = sm_odbc_string(&call->arena, conf);
    if (string == NULL) {
        return sm_sql_no_memory(call);
    }

    /* Not every driver has these attributes, so failures are ignored. */

    (void) SQLSetConnectAttr(od->dbc, SQL_ATTR_LOGIN_TIMEOUT,
                             sm_odbc_seconds(conf->login_timeout), 0);
    (void) SQLSetConnectAttr(od->dbc, SQL_ATTR_CONNECTION_TIMEOUT,
                             sm_odbc_seconds(conf->login_timeout
                                             + conf->query_timeout
                                             + conf->recover_timeout), 0);

    rc = SQLDriverConnect(od->dbc, NULL, string, SQL_NTS, NULL, 0, NULL,
                          SQL_DRIVER_NOPROMPT);

    len = strlen((char *) string);

    OPENSSL_cleanse(string, len);

    if (!SQL_SUCCEEDED(rc)) {
        return sm_odbc_fail(od, call, SQL_HANDLE_DBC, od->dbc);
    }

    od->connected = 1;
    sm_odbc_watch_connected(&od->watch, od->dbc);

    return 0;
}


static int
sm_odbc_statement(sm_odbc_t *od, sm_call_t *call, const char *text)
{
    SQLHSTMT   stmt;
    SQLRETURN  rc;

    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, od->dbc, &stmt))) {
        return sm_odbc_fail(od, call, SQL_HANDLE_DBC, od->dbc);
    }

    (void) SQLSetStmtAttr(stmt, SQL_ATTR_QUERY_TIMEOUT,
                          sm_odbc_seconds(od->sql.conf->query_timeout), 0);

    rc = SQLExecDirect(stmt, (SQLCHAR *) text, SQL_NTS);

    if (!SQL_SUCCEEDED(rc) && rc != SQL_NO_DATA) {
        (void) sm_odbc_fail(od, call, SQL_HANDLE_STMT, stmt);
    }

    (void) SQLFreeHandle(SQL_HANDLE_STMT, stmt);

    return call->status == SM_STORE_OK ? 0 : -1;
}


/*
 * Sets the session's isolation level and durability explicitly, because the
 * defaults of the server or of the database may be weaker: reads see only
 * committed data, and committed data are durable.
 */

static int
sm_odbc_session(sm_odbc_t *od, sm_call_t *call)
{
    char         text[512];
    SQLCHAR      name[64];
    SQLSMALLINT  len;

    name[0] = '\0';

    if (!SQL_SUCCEEDED(SQLGetInfo(od->dbc, SQL_DBMS_NAME, name, sizeof(name),
                                  &len)))
    {
        return sm_odbc_fail(od, call, SQL_HANDLE_DBC, od->dbc);
    }

    if (strcmp((char *) name, "PostgreSQL") == 0) {
        return sm_call_fail(call, SM_STORE_PERMANENT, 0,
                            "odbc: the server is PostgreSQL: \"store "
                            "postgres\" was expected");
    }

    if (strcmp((char *) name, "Microsoft SQL Server") == 0) {
        /*
         * The server must give a call up before the client does.  Otherwise it
         * could still carry the call out once a lock is released.  Without the
         * SET options, tables with filtered indexes cannot be written, and
         * drivers differ in their defaults.
         */

        (void) snprintf(text, sizeof(text),
                        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; "
                        "SET ANSI_NULLS ON; SET QUOTED_IDENTIFIER ON; "
                        "SET ANSI_PADDING ON; SET ANSI_WARNINGS ON; "
                        "SET ARITHABORT ON; SET CONCAT_NULL_YIELDS_NULL ON; "
                        "SET NUMERIC_ROUNDABORT OFF; "
                        "SET LOCK_TIMEOUT %lld",
                        (long long) od->sql.conf->query_timeout * 9 / 10);

        return sm_odbc_statement(od, call, text);
    }

    return sm_call_fail(call, SM_STORE_PERMANENT, 0,
                        "odbc: the server is \"%s\", \"Microsoft SQL Server\" "
                        "was expected", (char *) name);
}


static sm_conn_t *
sm_odbc_open(const sm_store_conf_t *conf, sm_call_t *call)
{
    sm_odbc_t  *od;

    (void) pthread_once(&sm_odbc_once, sm_odbc_init);

    od = calloc(1, sizeof(sm_odbc_t));

    if (od == NULL || sm_odbc_env == NULL) {
        (void) sm_sql_no_memory(call);
        free(od);
        return NULL;
    }

    od->sql.driver = &sm_odbc_driver;
    od->sql.conf = conf;
    sm_odbc_watch_open(&od->watch);

    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, sm_odbc_env, &od->dbc)))
    {
        od->dbc = NULL;
        (void) sm_odbc_fail(od, call, SQL_HANDLE_ENV, sm_odbc_env);
        sm_odbc_close(&od->sql.conn);
        return NULL;
    }

    sm_odbc_watch_start(&od->watch, conf->login_timeout);

    if (sm_odbc_connect(od, call) == 0 && sm_odbc_session(od, call) == 0) {
        od->ready = sm_sql_schema(&od->sql, call) == 0;
    }

    sm_odbc_watch_stop(&od->watch);

    if (call->status != SM_STORE_OK) {
        sm_odbc_close(&od->sql.conn);
        return NULL;
    }

    return &od->sql.conn;
}


const sm_store_ops_t  sm_store_odbc = {
    .name = "odbc",
    .open = sm_odbc_open,
    .close = sm_odbc_close,
    .usable = sm_odbc_usable,
    .ask = sm_store_ask_none,
    SM_STORE_READS(SM_SQL_SLOT)
    SM_STORE_WRITES(SM_SERVER_SLOT)
};
