
/*
 * Calls of stored procedures, whatever carries them.
 */

#include <stdlib.h>

#include "sm_store_server.h"


#define SM_SERVER_PROC(op, name, params, columns)                             \
    [SM_PROC_##op] = { name, params, columns },

const sm_proc_t  sm_procs[] = {
    SM_SERVER_PROCS(SM_SERVER_PROC)
};

_Static_assert(sm_nelts(sm_procs) == SM_PROCS,
               "a row for each procedure");

#define SM_SERVER_FITS(op, name, params, columns)                             \
    _Static_assert(sizeof(params) - 1 <= SM_SERVER_PARAMS, name);

SM_SERVER_PROCS(SM_SERVER_FITS)

_Static_assert(sizeof(SM_PROC_CONTRACT) - 1 == SM_CONTRACT_COL_COUNT,
               "a type for each column of a contract");


void
sm_server_start(sm_server_t *sv, unsigned proc)
{
    sv->proc = proc;
    sv->timeout = sv->conf->query_timeout;
    sv->n = 0;
}


void
sm_server_start_recovery(sm_server_t *sv, unsigned proc)
{
    sm_server_start(sv, proc);

    if (sv->timeout < sv->conf->recover_timeout) {
        sv->timeout = sv->conf->recover_timeout;
    }
}


static sm_server_param_t *
sm_server_put(sm_server_t *sv, unsigned null)
{
    sm_server_param_t  *param;

    param = &sv->params[sv->n];

    param->type = sm_procs[sv->proc].params[sv->n++];
    param->null = null;

    return param;
}


void
sm_server_put_text(sm_server_t *sv, sm_str_t s)
{
    sm_server_put(sv, s.data == NULL)->s = s;
}


void
sm_server_put_bytes(sm_server_t *sv, sm_str_t s)
{
    sm_server_put(sv, 0)->s = s;
}


void
sm_server_put_int(sm_server_t *sv, int64_t value)
{
    sm_server_put(sv, 0)->n = value;
}


void
sm_server_put_no_int(sm_server_t *sv)
{
    (void) sm_server_put(sv, 1);
}


void
sm_server_put_fence(sm_server_t *sv, const sm_fence_t *fence)
{
    sm_server_put_text(sv, sv->conf->lease_name);
    sm_server_put_text(sv, fence->holder);
    sm_server_put_int(sv, fence->epoch);
}


int
sm_server_exec(sm_server_t *sv, sm_call_t *call)
{
    if (call->status != SM_STORE_OK) {
        return -1;
    }

    sv->active = 1;

    return sv->driver->exec(sv, call);
}


int
sm_server_fetch(sm_server_t *sv, sm_call_t *call)
{
    return call->status == SM_STORE_OK ? sv->driver->fetch(sv, call) : -1;
}


int
sm_server_is_null(sm_server_t *sv, unsigned column)
{
    return sv->driver->is_null(sv, column);
}


int64_t
sm_server_int(sm_server_t *sv, unsigned column)
{
    return sv->driver->get_int(sv, column);
}


int
sm_server_text(sm_server_t *sv, sm_call_t *call, unsigned column, sm_str_t *s)
{
    return sv->driver->get_text(sv, call, column, s);
}


int
sm_server_bytes(sm_server_t *sv, sm_call_t *call, unsigned column, sm_str_t *s)
{
    return sv->driver->get_bytes(sv, call, column, s);
}


int
sm_server_end(sm_server_t *sv, sm_call_t *call)
{
    if (sv->active) {
        sv->active = 0;
        sv->driver->end(sv, call);
    }

    return call->status == SM_STORE_OK ? 0 : -1;
}


int
sm_server_run(sm_server_t *sv, sm_call_t *call)
{
    if (sm_server_exec(sv, call) == 0) {
        while (sm_server_fetch(sv, call) == 1) {
            /* void */
        }
    }

    return sm_server_end(sv, call);
}


int
sm_server_fenced(sm_server_t *sv, sm_call_t *call, const sm_fence_t *fence)
{
    const char  *at;

    static const char  lost[] = "LEASE_LOST at ";

    (void) sm_server_end(sv, call);

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


/* a procedure that is not there is most likely one of a newer version */

int
sm_server_schema(sm_server_t *sv, sm_call_t *call)
{
    char     why[sizeof(call->error)];
    int64_t  version, compatible_from;

    version = 0;
    compatible_from = 0;

    sm_server_start(sv, SM_PROC_SCHEMA_GET);

    (void) sm_server_exec(sv, call);

    while (sm_server_fetch(sv, call) == 1) {
        version = sm_server_int(sv, 0);
        compatible_from = sm_server_int(sv, 1);
    }

    if (sm_server_end(sv, call) != 0) {

        if (call->status == SM_STORE_SCHEMA) {
            (void) memcpy(why, call->error, sizeof(why));

            (void) sm_call_fail(call, SM_STORE_SCHEMA, call->code,
                                "%.220s: the schema is missing, or older than "
                                "version %d: run sql/install.sh", why,
                                SM_SCHEMA_VERSION);
        }

        return -1;
    }

    return sm_store_schema_check(call, sv->driver->name, version,
                                 compatible_from);
}


int
sm_server_no_memory(sm_call_t *call)
{
    return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
}


int
sm_server_ping(sm_conn_t *conn, sm_call_t *call)
{
    sm_server_t  *sv = (sm_server_t *) conn;

    sm_server_start(sv, SM_PROC_PING);

    return sm_server_run(sv, call);
}


/* a server lets many write at once: there is nothing to wait for */

int
sm_server_begin_write(sm_conn_t *conn, sm_call_t *call)
{
    (void) conn;
    (void) call;

    return 0;
}


/* a server does that itself */

int
sm_server_tidy(sm_conn_t *conn, sm_call_t *call)
{
    (void) conn;
    (void) call;

    return 0;
}
