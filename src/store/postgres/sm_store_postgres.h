
/*
 * Inside the PostgreSQL back end.  See sm_store_postgres.c.
 */

#ifndef SM_STORE_POSTGRES_H
#define SM_STORE_POSTGRES_H


#include <libpq-fe.h>

#include "sm_store_server.h"


typedef struct {
    sm_sql_t             sql;
    PGconn                 *pq;

    /* the call that is under way */
    int64_t                 timeout;        /* milliseconds */
    int64_t                 deadline;       /* monotonic */
    PGresult               *result;
    int                     row;

    int64_t                 limit;          /* the server's, of that time-out */

    unsigned char           prepared[SM_PROCS];
} sm_postgres_t;


/*
 * sm_store_postgres.c: a call may take so long from now on; what is waited for
 * until then: -1, it has, or the connection failed.
 */
void sm_postgres_start(sm_postgres_t *pg, int64_t timeout);
int sm_postgres_wait(sm_postgres_t *pg, short events, sm_call_t *call);

/* sm_store_postgres_call.c */
extern const sm_sql_driver_t  sm_postgres_driver;

/* runs a statement whose rows nobody looks at */
int sm_postgres_statement(sm_postgres_t *pg, sm_call_t *call,
    const char *text);

/*
 * sm_store_postgres_error.c: sets the call's error, returns -1.  Without a
 * result, or one that has no SQLSTATE, it is the connection that failed.
 */
int sm_postgres_fail(sm_postgres_t *pg, sm_call_t *call,
    const PGresult *result);
int sm_postgres_late(sm_postgres_t *pg, sm_call_t *call);

/* the class of an error */
sm_store_class_e sm_postgres_class(const char *state);


#endif /* SM_STORE_POSTGRES_H */
