
/* The internal header of the PostgreSQL back end.  See sm_store_postgres.c. */

#ifndef SM_STORE_POSTGRES_H
#define SM_STORE_POSTGRES_H


#include <libpq-fe.h>

#include "sm_store_server.h"


typedef struct {
    sm_sql_t             sql;
    PGconn                 *pq;

    /* The current call. */
    int64_t                 timeout;        /* milliseconds */
    int64_t                 deadline;       /* monotonic */
    PGresult               *result;
    int                     row;

    int64_t                 limit;          /* the server's statement_timeout */

    unsigned char           prepared[SM_PROCS];
} sm_postgres_t;


/*
 * sm_store_postgres.c: _start() sets the deadline of a call to "timeout" from
 * now.  _wait() waits for the events, and returns -1 if the deadline has
 * passed or the connection failed.
 */
void sm_postgres_start(sm_postgres_t *pg, int64_t timeout);
int sm_postgres_wait(sm_postgres_t *pg, short events, sm_call_t *call);

/* sm_store_postgres_call.c */
extern const sm_sql_driver_t  sm_postgres_driver;

/* Runs a statement and ignores its rows. */
int sm_postgres_statement(sm_postgres_t *pg, sm_call_t *call,
    const char *text);

/*
 * sm_store_postgres_error.c: sets the call's error, and returns -1.  If there
 * is no result, or if the result has no SQLSTATE, the connection failed.
 */
int sm_postgres_fail(sm_postgres_t *pg, sm_call_t *call,
    const PGresult *result);
int sm_postgres_late(sm_postgres_t *pg, sm_call_t *call);

sm_store_class_e sm_postgres_class(const char *state);


#endif /* SM_STORE_POSTGRES_H */
