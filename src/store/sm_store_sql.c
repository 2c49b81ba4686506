
/* Calls of stored procedures and statements, through any driver. */

#include <stdlib.h>

#include "sm_store_sql.h"


#define SM_SQL_PROC(op, name, params, names, own, ...)                        \
    [SM_PROC_##op] = { name, params, names, own, { __VA_ARGS__ } },

const sm_proc_t  sm_procs[] = {
    SM_SQL_PROCS(SM_SQL_PROC)
};

_Static_assert(sm_nelts(sm_procs) == SM_PROCS,
               "a row for each procedure");

#define SM_SQL_FITS(op, name, params, ...)                                    \
    _Static_assert(sizeof(params) - 1 <= SM_SQL_PARAMS, name);

SM_SQL_PROCS(SM_SQL_FITS)


void
sm_sql_start(sm_sql_t *sql, unsigned proc)
{
    sql->proc = proc;
    sql->fence = NULL;
    sql->timeout = sql->conf->query_timeout;
    sql->n = 0;
}


void
sm_sql_start_recovery(sm_sql_t *sql, unsigned proc)
{
    sm_sql_start(sql, proc);

    if (sql->timeout < sql->conf->recover_timeout) {
        sql->timeout = sql->conf->recover_timeout;
    }
}


static sm_sql_param_t *
sm_sql_put(sm_sql_t *sql, unsigned null)
{
    sm_sql_param_t  *param;

    param = &sql->params[sql->n];

    param->type = sm_procs[sql->proc].params[sql->n++];
    param->null = null;

    return param;
}


void
sm_sql_put_text(sm_sql_t *sql, sm_str_t s)
{
    sm_sql_put(sql, s.data == NULL)->s = s;
}


void
sm_sql_put_bytes(sm_sql_t *sql, sm_str_t s)
{
    sm_sql_put(sql, 0)->s = s;
}


void
sm_sql_put_int(sm_sql_t *sql, int64_t value)
{
    sm_sql_put(sql, 0)->n = value;
}


void
sm_sql_put_no_int(sm_sql_t *sql)
{
    (void) sm_sql_put(sql, 1);
}


void
sm_sql_put_some(sm_sql_t *sql, int64_t value)
{
    if (value) {
        sm_sql_put_int(sql, value);

    } else {
        sm_sql_put_no_int(sql);
    }
}


void
sm_sql_put_fence(sm_sql_t *sql, const sm_fence_t *fence)
{
    sql->fence = fence;

    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, fence->holder);
    sm_sql_put_int(sql, fence->epoch);
}


int
sm_sql_exec(sm_sql_t *sql, sm_call_t *call)
{
    if (call->status != SM_STORE_OK) {
        return -1;
    }

    sql->active = 1;

    return sql->driver->exec(sql, call);
}


int
sm_sql_fetch(sm_sql_t *sql, sm_call_t *call)
{
    return call->status == SM_STORE_OK ? sql->driver->fetch(sql, call) : -1;
}


int
sm_sql_is_null(sm_sql_t *sql, unsigned column)
{
    return sql->driver->is_null(sql, sql->columns[sql->proc][column]);
}


int64_t
sm_sql_int(sm_sql_t *sql, unsigned column)
{
    return sql->driver->get_int(sql, sql->columns[sql->proc][column]);
}


int
sm_sql_text(sm_sql_t *sql, sm_call_t *call, unsigned column, sm_str_t *s)
{
    return sql->driver->get_text(sql, call, sql->columns[sql->proc][column],
                                 s);
}


int
sm_sql_peek(sm_sql_t *sql, sm_call_t *call, unsigned column, sm_str_t *s)
{
    return sql->driver->get_peek(sql, call, sql->columns[sql->proc][column],
                                 s);
}


int
sm_sql_bytes(sm_sql_t *sql, sm_call_t *call, unsigned column, sm_str_t *s)
{
    return sql->driver->get_bytes(sql, call, sql->columns[sql->proc][column],
                                  s);
}


int
sm_sql_end(sm_sql_t *sql, sm_call_t *call)
{
    if (sql->active) {
        sql->active = 0;
        sql->driver->end(sql, call);
    }

    return call->status == SM_STORE_OK ? 0 : -1;
}


int
sm_sql_run(sm_sql_t *sql, sm_call_t *call)
{
    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {
            /* void */
        }
    }

    return sm_sql_end(sql, call);
}


int
sm_sql_fenced(sm_sql_t *sql, sm_call_t *call, const sm_fence_t *fence)
{
    const char  *at;

    static const char  lost[] = "LEASE_LOST at ";

    (void) sm_sql_end(sql, call);

    if (call->status == SM_STORE_LEASE_LOST) {

        at = strstr(call->error, lost);

        if (at) {
            call->now = strtoll(at + sizeof(lost) - 1, NULL, 10);
        }

        return sm_call_fail(call, SM_STORE_LEASE_LOST, 0,
                            "LEASE_LOST: %.*s does not hold epoch %lld",
                            (int) fence->holder.len, fence->holder.data,
                            (long long) fence->epoch);
    }

    return call->status == SM_STORE_OK ? 0 : -1;
}


/* The first columns of every fenced call. */

#define SM_FENCED_NOW  0
#define SM_FENCED_KEY  1


int
sm_sql_fenced_fetch(sm_sql_t *sql, sm_call_t *call)
{
    int  rc;

    while ((rc = sm_sql_fetch(sql, call)) == 1) {

        if (!sm_sql_is_null(sql, SM_FENCED_KEY)) {
            return 1;
        }

        call->now = sm_sql_int(sql, SM_FENCED_NOW);
    }

    if (rc == 0 && call->now == 0) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: a fenced call gives no time",
                            sql->driver->name);
    }

    return rc;
}


/*
 * Checks the version of the schema.  If a procedure is missing, the schema is
 * most likely of another version, so the error names that.
 */

int
sm_sql_schema(sm_sql_t *sql, sm_call_t *call)
{
    char     why[sizeof(call->error)];
    int64_t  version, compatible_from;

    version = 0;
    compatible_from = 0;

    sm_sql_start(sql, SM_PROC_SCHEMA_GET);

    (void) sm_sql_exec(sql, call);

    while (sm_sql_fetch(sql, call) == 1) {
        version = sm_sql_int(sql, 0);
        compatible_from = sm_sql_int(sql, 1);
    }

    if (sm_sql_end(sql, call) != 0) {

        if (call->status == SM_STORE_SCHEMA) {
            (void) memcpy(why, call->error, sizeof(why));

            (void) sm_call_fail(call, SM_STORE_SCHEMA, call->code,
                                "%.220s: the schema is missing, or older than "
                                "version %d: run sql/install.sh", why,
                                SM_SCHEMA_VERSION);
        }

        return -1;
    }

    return sm_store_schema_check(call, sql->driver->name, SM_SCHEMA_VERSION,
                                 version, compatible_from);
}


int
sm_sql_no_memory(sm_call_t *call)
{
    return sm_call_no_memory(call);
}


int
sm_sql_keep(sm_call_t *call, sm_str_t value, sm_str_t *s)
{
    if (value.data == NULL) {
        *s = value;
        return 0;
    }

    return sm_arena_strdup(&call->arena, s, value) == 0
           ? 0 : sm_sql_no_memory(call);
}


int
sm_server_ping(sm_conn_t *conn, sm_call_t *call)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    sm_sql_start(sql, SM_PROC_PING);
    sm_sql_put_int(sql, call->trial);

    return sm_sql_run(sql, call);
}


/* Returns at once: a server lets many sessions write at the same time. */

int
sm_server_begin_write(sm_conn_t *conn, sm_call_t *call)
{
    (void) conn;
    (void) call;

    return 0;
}


/* Does nothing: a server bounds its own logs. */

int
sm_server_tidy(sm_conn_t *conn, sm_call_t *call)
{
    (void) conn;
    (void) call;

    return 0;
}
