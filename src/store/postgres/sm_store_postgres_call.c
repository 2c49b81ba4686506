
/*
 * The PostgreSQL driver of sm_store_sql.c.  Each function is prepared once per
 * connection, and its parameters and columns cross in binary.
 */

#include <endian.h>
#include <poll.h>
#include <stdio.h>

#include "sm_store_postgres.h"


/* The OIDs of the types, which are fixed in the server's catalogue. */

#define SM_POSTGRES_BYTEA  17
#define SM_POSTGRES_INT8   20
#define SM_POSTGRES_TEXT   25

#define SM_POSTGRES_BINARY  1


static Oid
sm_postgres_type(char type)
{
    switch (type) {
    case 'i':
        return SM_POSTGRES_INT8;
    case 'b':
        return SM_POSTGRES_BYTEA;
    default: /* 't', 'd' */
        return SM_POSTGRES_TEXT;
    }
}


/* Sends the request, even if the server reads slowly. */

static int
sm_postgres_flush(sm_postgres_t *pg, sm_call_t *call)
{
    int  rc;

    while ((rc = PQflush(pg->pq)) == 1) {

        if (sm_postgres_wait(pg, POLLIN|POLLOUT, call) != 0) {
            return -1;
        }

        /* A server whose output nobody reads may stop reading its input. */

        if (PQconsumeInput(pg->pq) != 1) {
            return sm_postgres_fail(pg, call, NULL);
        }
    }

    return rc == 0 ? 0 : sm_postgres_fail(pg, call, NULL);
}


/*
 * Reads the whole answer, because the server may still report that the commit
 * failed.
 */

static int
sm_postgres_answer(sm_postgres_t *pg, sm_call_t *call)
{
    PGresult  *result;

    PQclear(pg->result);
    pg->result = NULL;

    if (sm_postgres_flush(pg, call) != 0) {
        return -1;
    }

    for ( ;; ) {

        while (PQisBusy(pg->pq)) {

            if (sm_postgres_wait(pg, POLLIN, call) != 0) {
                return -1;
            }

            if (PQconsumeInput(pg->pq) != 1) {
                return sm_postgres_fail(pg, call, NULL);
            }
        }

        result = PQgetResult(pg->pq);

        if (result == NULL) {
            break;
        }

        switch (PQresultStatus(result)) {

        case PGRES_COMMAND_OK:
        case PGRES_TUPLES_OK:
            PQclear(pg->result);
            pg->result = result;
            break;

        default:
            if (call->status == SM_STORE_OK) {
                (void) sm_postgres_fail(pg, call, result);
            }

            PQclear(result);
        }

        if (PQstatus(pg->pq) != CONNECTION_OK) {
            break;
        }
    }

    if (call->status == SM_STORE_OK && pg->result == NULL) {
        return sm_postgres_fail(pg, call, NULL);
    }

    return call->status == SM_STORE_OK ? 0 : -1;
}


int
sm_postgres_statement(sm_postgres_t *pg, sm_call_t *call, const char *text)
{
    if (PQsendQuery(pg->pq, text) != 1) {
        return sm_postgres_fail(pg, call, NULL);
    }

    return sm_postgres_answer(pg, call);
}


static int
sm_postgres_prepare(sm_postgres_t *pg, sm_call_t *call, const char *name,
    const sm_proc_t *proc)
{
    Oid     types[SM_SQL_PARAMS];
    char    text[256];
    size_t  len;
    int     n;

    len = snprintf(text, sizeof(text),
                   "SELECT * FROM submission.submission_%s(", proc->name);

    for (n = 0; proc->params[n]; n++) {
        types[n] = sm_postgres_type(proc->params[n]);
        len += snprintf(text + len, sizeof(text) - len, n ? ",$%d" : "$%d",
                        n + 1);
    }

    (void) snprintf(text + len, sizeof(text) - len, ")");

    if (PQsendPrepare(pg->pq, name, text, n, types) != 1) {
        return sm_postgres_fail(pg, call, NULL);
    }

    return sm_postgres_answer(pg, call);
}


static int
sm_postgres_send(sm_postgres_t *pg, sm_call_t *call, const char *name)
{
    int                       n, lengths[SM_SQL_PARAMS],
                              formats[SM_SQL_PARAMS];
    uint64_t                  ints[SM_SQL_PARAMS];
    const char               *values[SM_SQL_PARAMS];
    const sm_sql_param_t  *param;

    for (n = 0; n < (int) pg->sql.n; n++) {
        param = &pg->sql.params[n];

        formats[n] = SM_POSTGRES_BINARY;

        if (param->null) {
            values[n] = NULL;
            lengths[n] = 0;

        } else if (param->type == 'i') {
            ints[n] = htobe64((uint64_t) param->n);
            values[n] = (char *) &ints[n];
            lengths[n] = sizeof(uint64_t);

        } else {
            values[n] = param->s.len ? param->s.data : "";
            lengths[n] = (int) param->s.len;
        }
    }

    if (PQsendQueryPrepared(pg->pq, name, n, values, lengths, formats,
                            SM_POSTGRES_BINARY)
        != 1)
    {
        return sm_postgres_fail(pg, call, NULL);
    }

    return sm_postgres_answer(pg, call);
}


/*
 * Sets statement_timeout, so that the server gives a call up before the client
 * does, and does not carry it out afterwards.  Most calls of a connection have
 * the same time-out, so SET is sent only when it changes.
 */

static int
sm_postgres_limit(sm_postgres_t *pg, sm_call_t *call, int64_t timeout)
{
    char  text[64];

    if (pg->limit == timeout) {
        return 0;
    }

    (void) snprintf(text, sizeof(text), "SET statement_timeout = %lld",
                    (long long) timeout * 9 / 10);

    if (sm_postgres_statement(pg, call, text) != 0) {
        return -1;
    }

    pg->limit = timeout;

    return 0;
}


static int
sm_postgres_exec(sm_sql_t *sql, sm_call_t *call)
{
    char              name[16];
    sm_postgres_t    *pg = (sm_postgres_t *) sql;
    const sm_proc_t  *proc;

    proc = &sm_procs[sql->proc];
    pg->row = -1;

    (void) snprintf(name, sizeof(name), "p%u", sql->proc);

    sm_postgres_start(pg, sql->timeout);

    if (sm_postgres_limit(pg, call, sql->timeout) != 0) {
        return -1;
    }

    if (!pg->prepared[sql->proc]) {

        if (sm_postgres_prepare(pg, call, name, proc) != 0) {
            return -1;
        }

        pg->prepared[sql->proc] = 1;
    }

    if (sm_postgres_send(pg, call, name) != 0) {
        return -1;
    }

    return sm_row_columns(sql, call);
}


static int
sm_postgres_fetch(sm_sql_t *sql, sm_call_t *call)
{
    sm_postgres_t  *pg = (sm_postgres_t *) sql;

    (void) call;

    return ++pg->row < PQntuples(pg->result);
}


static int
sm_postgres_column(sm_sql_t *sql, unsigned column, char *name, size_t size)
{
    const char     *fname;
    sm_postgres_t  *pg = (sm_postgres_t *) sql;

    fname = PQfname(pg->result, column);

    if (fname == NULL) {
        return -1;
    }

    (void) snprintf(name, size, "%s", fname);

    return 0;
}


static int
sm_postgres_is_type(sm_sql_t *sql, unsigned column, char type)
{
    sm_postgres_t  *pg = (sm_postgres_t *) sql;

    return PQftype(pg->result, column) == sm_postgres_type(type);
}


static int
sm_postgres_is_null(sm_sql_t *sql, unsigned column)
{
    sm_postgres_t  *pg = (sm_postgres_t *) sql;

    return PQgetisnull(pg->result, pg->row, column);
}


static int64_t
sm_postgres_int(sm_sql_t *sql, unsigned column)
{
    uint64_t        value;
    sm_postgres_t  *pg = (sm_postgres_t *) sql;

    if (PQgetisnull(pg->result, pg->row, column)) {
        return 0;
    }

    (void) memcpy(&value, PQgetvalue(pg->result, pg->row, column),
                  sizeof(uint64_t));

    return (int64_t) be64toh(value);
}


static int
sm_postgres_peek(sm_sql_t *sql, sm_call_t *call, unsigned column, sm_str_t *s)
{
    sm_postgres_t  *pg = (sm_postgres_t *) sql;

    (void) call;

    if (PQgetisnull(pg->result, pg->row, column)) {
        s->data = NULL;
        s->len = 0;
        return 0;
    }

    s->data = PQgetvalue(pg->result, pg->row, column);
    s->len = PQgetlength(pg->result, pg->row, column);

    return 0;
}


static int
sm_postgres_text(sm_sql_t *sql, sm_call_t *call, unsigned column, sm_str_t *s)
{
    sm_str_t  value;

    (void) sm_postgres_peek(sql, call, column, &value);

    return sm_sql_keep(call, value, s);
}


static void
sm_postgres_end(sm_sql_t *sql, sm_call_t *call)
{
    sm_postgres_t  *pg = (sm_postgres_t *) sql;

    (void) call;

    PQclear(pg->result);
    pg->result = NULL;
}


const sm_sql_driver_t  sm_postgres_driver = {
    "postgres",
    sm_postgres_exec,
    sm_postgres_fetch,
    sm_postgres_column,
    sm_postgres_is_type,
    sm_postgres_is_null,
    sm_postgres_int,
    sm_postgres_text,
    sm_postgres_peek,
    sm_postgres_text,                   /* bytes need no conversion either */
    sm_postgres_end
};
