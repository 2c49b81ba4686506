
/*
 * Errors of database servers and their drivers, in classes.
 *
 * SQL Server's SQLSTATEs say little ("42000" is a missing procedure, a
 * deadlock on some drivers, and our own THROW): its number decides first.
 * PostgreSQL has no numbers.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* memmem() */
#endif

#include <ctype.h>
#include <stdlib.h>

#include "sm_store_odbc.h"


#define SM_ODBC_DIAGS    8
#define SM_ODBC_MESSAGE  2048


typedef struct {
    const char        *state;       /* begins so */
    sm_store_class_e   class;
} sm_odbc_state_t;

typedef struct {
    int                native;
    sm_store_class_e   class;
} sm_odbc_native_t;


static const sm_odbc_native_t  sm_odbc_natives[] = {

    { 57002, SM_STORE_LEASE_LOST },     /* ours: submission_fence */

    { 1205, SM_STORE_TRANSIENT },       /* deadlock victim */
    { 1222, SM_STORE_TRANSIENT },       /* lock request time-out */
    { 3960, SM_STORE_TRANSIENT },       /* snapshot update conflict */
    { 3906, SM_STORE_TRANSIENT },       /* read-only: it was failed over */
    { 701, SM_STORE_TRANSIENT },        /* memory */
    { 802, SM_STORE_TRANSIENT },
    { 8645, SM_STORE_TRANSIENT },
    { 8651, SM_STORE_TRANSIENT },
    { -2, SM_STORE_TRANSIENT },         /* time-out of the client */
    { 64, SM_STORE_TRANSIENT },         /* connection loss */
    { 121, SM_STORE_TRANSIENT },
    { 233, SM_STORE_TRANSIENT },
    { 10053, SM_STORE_TRANSIENT },
    { 10054, SM_STORE_TRANSIENT },
    { 10060, SM_STORE_TRANSIENT },
    { 6005, SM_STORE_TRANSIENT },       /* shutdown in progress */
    { 976, SM_STORE_TRANSIENT },        /* availability groups */
    { 983, SM_STORE_TRANSIENT },
    { 10928, SM_STORE_TRANSIENT },      /* Azure: resource limits */
    { 10929, SM_STORE_TRANSIENT },
    { 40143, SM_STORE_TRANSIENT },
    { 40197, SM_STORE_TRANSIENT },
    { 40501, SM_STORE_TRANSIENT },
    { 40540, SM_STORE_TRANSIENT },
    { 40613, SM_STORE_TRANSIENT },
    { 49918, SM_STORE_TRANSIENT },
    { 49919, SM_STORE_TRANSIENT },
    { 49920, SM_STORE_TRANSIENT },
    { 20003, SM_STORE_TRANSIENT },      /* FreeTDS: time-out */
    { 20004, SM_STORE_TRANSIENT },      /* read from the server failed */
    { 20006, SM_STORE_TRANSIENT },      /* write to the server failed */
    { 20009, SM_STORE_TRANSIENT },      /* unable to connect */
    { 20017, SM_STORE_TRANSIENT },      /* unexpected end of file */
    { 20047, SM_STORE_TRANSIENT },      /* the connection is dead */
    { 33557097, SM_STORE_TRANSIENT },   /* Babelfish, of what has no number: */
                                        /* a lock time-out, among others */

    { 2627, SM_STORE_CONSTRAINT },      /* unique key, unique index */
    { 2601, SM_STORE_CONSTRAINT },
    { 515, SM_STORE_CONSTRAINT },       /* NULL */
    { 547, SM_STORE_CONSTRAINT },       /* check, foreign key */
    { 8152, SM_STORE_CONSTRAINT },      /* would be truncated */
    { 2628, SM_STORE_CONSTRAINT },
    { 245, SM_STORE_CONSTRAINT },       /* conversion */
    { 8114, SM_STORE_CONSTRAINT },
    { 8115, SM_STORE_CONSTRAINT },
    { 13609, SM_STORE_CONSTRAINT },     /* JSON */

    { 2812, SM_STORE_SCHEMA },          /* no such procedure */
    { 208, SM_STORE_SCHEMA },           /* no such table */
    { 201, SM_STORE_SCHEMA },           /* a parameter is missing */
    { 8144, SM_STORE_SCHEMA },          /* too many parameters */

    { 18456, SM_STORE_PERMANENT },      /* login failed */
    { 4060, SM_STORE_PERMANENT },       /* no such database */
    { 229, SM_STORE_PERMANENT },        /* permission denied */
    { 1105, SM_STORE_PERMANENT },       /* the database is full */
    { 9002, SM_STORE_PERMANENT },       /* its log is full */

    { 0, SM_STORE_OK }
};


/* the first that fits */

static const sm_odbc_state_t  sm_odbc_states[] = {

    { "P7002", SM_STORE_LEASE_LOST },   /* ours: submission_fence */

    { "08", SM_STORE_TRANSIENT },       /* connection */
    { "HYT", SM_STORE_TRANSIENT },      /* time-outs of the client */
    { "40", SM_STORE_TRANSIENT },       /* deadlock, serialization */
    { "25006", SM_STORE_TRANSIENT },    /* read-only: it was failed over */
    { "53100", SM_STORE_PERMANENT },    /* the disk is full */
    { "53", SM_STORE_TRANSIENT },       /* resources */
    { "55006", SM_STORE_TRANSIENT },    /* object in use */
    { "55P03", SM_STORE_TRANSIENT },    /* lock not available */
    { "57", SM_STORE_TRANSIENT },       /* canceled, shut down, starting up */
    { "HY001", SM_STORE_TRANSIENT },    /* memory */
    { "HY013", SM_STORE_TRANSIENT },

    { "22", SM_STORE_CONSTRAINT },      /* data */
    { "23", SM_STORE_CONSTRAINT },

    { "3F000", SM_STORE_SCHEMA },       /* no such schema, table, function */
    { "42P01", SM_STORE_SCHEMA },
    { "42883", SM_STORE_SCHEMA },
    { "42S02", SM_STORE_SCHEMA },

    { NULL, SM_STORE_PERMANENT }
};


sm_store_class_e
sm_odbc_class(sm_odbc_dialect_e dialect, const char *state, int native)
{
    const sm_odbc_state_t   *s;
    const sm_odbc_native_t  *n;

    if (dialect != SM_ODBC_POSTGRES) {
        for (n = sm_odbc_natives; n->native; n++) {
            if (n->native == native) {
                return n->class;
            }
        }
    }

    for (s = sm_odbc_states; s->state; s++) {
        if (strncmp(state, s->state, strlen(s->state)) == 0) {
            break;
        }
    }

    return s->class;
}


/* whether the server is gone, and with it all connections that led to it */

static unsigned
sm_odbc_lost(sm_odbc_t *od, const char *state, int native)
{
    SQLINTEGER  dead;

    /* FreeTDS, of an answer that broke off: "Unknown error" */

    if (od->dialect == SM_ODBC_MSSQL && native == 0
        && strncmp(state, "HY000", 5) == 0)
    {
        return 1;
    }

    dead = SQL_CD_FALSE;

    (void) SQLGetConnectAttr(od->dbc, SQL_ATTR_CONNECTION_DEAD, &dead,
                             sizeof(dead), NULL);

    return dead == SQL_CD_TRUE || strncmp(state, "08", 2) == 0
           || strncmp(state, "57P", 3) == 0
           || strncmp(state, "25006", 5) == 0 || native == 3906
           || native == 10053 || native == 10054 || native == 20004
           || native == 20006 || native == 20017 || native == 20047;
}


/*
 * On one line, without prefixes such as "[unixODBC][FreeTDS]", and without
 * secrets: PostgreSQL's detail may be a whole row.
 */

static void
sm_odbc_clean(const sm_store_conf_t *conf, char *text)
{
    char    *p, *q;
    size_t   n, len;

    static const char  *ends[] = { "\nDETAIL:", ";\nError while" };

    for (p = text; *p == '[' && (q = strchr(p, ']')) != NULL; p = q + 1) {
        /* void */
    }

    (void) memmove(text, p, strlen(p) + 1);

    for (n = 0; n < sizeof(ends) / sizeof(ends[0]); n++) {
        p = strstr(text, ends[n]);

        if (p) {
            *p = '\0';
        }
    }

    len = conf->password.len;

    for (p = text;
         len && (p = memmem(p, strlen(p), conf->password.data, len)) != NULL;
         p++)
    {
        *p = '*';
        (void) memmove(p + 1, p + len, strlen(p + len) + 1);
    }

    for (p = text, q = text; *p; p++) {

        if (isspace((unsigned char) *p) || iscntrl((unsigned char) *p)) {
            if (q != text && q[-1] != ' ') {
                *q++ = ' ';
            }

        } else {
            *q++ = *p;
        }
    }

    while (q != text && (q[-1] == ' ' || q[-1] == ';')) {
        q--;
    }

    *q = '\0';
}


/*
 * A driver may report several: what makes a connection fail comes with
 * general complaints about it.  The first one of a class that says most is
 * taken: what is known by its number or state before what is not.
 */

int
sm_odbc_fail(sm_odbc_t *od, sm_call_t *call, SQLSMALLINT type,
    SQLHANDLE handle)
{
    int                i, best_native;
    char               best[SM_ODBC_MESSAGE], best_state[6];
    SQLCHAR            state[6], text[SM_ODBC_MESSAGE];
    SQLRETURN          rc;
    SQLINTEGER         native;
    SQLSMALLINT        len;
    sm_store_class_e   class, best_class;

    if (od->watch.cut) {
        od->server.conn.lost = 1;

        return sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                            "odbc: no answer from the server in %lld ms",
                            (long long) od->watch.ms);
    }

    best_class = SM_STORE_OK;
    best_native = 0;
    best_state[0] = '\0';
    best[0] = '\0';

    for (i = 1; i <= SM_ODBC_DIAGS; i++) {

        rc = SQLGetDiagRec(type, handle, i, state, &native, text, sizeof(text),
                           &len);

        if (!SQL_SUCCEEDED(rc)) {
            break;
        }

        /* what only informs */

        if (memcmp(state, "01", 2) == 0) {
            continue;
        }

        class = sm_odbc_class(od->dialect, (char *) state, (int) native);

        if (best_class != SM_STORE_OK
            && (best_class != SM_STORE_PERMANENT
                || class == SM_STORE_PERMANENT))
        {
            continue;
        }

        best_class = class;
        best_native = (int) native;
        (void) memcpy(best_state, state, sizeof(best_state));
        (void) memcpy(best, text, sizeof(best));
    }

    /* FreeTDS has none when the server ends the session */

    if (best_class == SM_STORE_OK) {
        od->server.conn.lost = od->connected;

        return sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                            "odbc: the driver gave no reason");
    }

    if (od->connected) {
        od->server.conn.lost = sm_odbc_lost(od, best_state, best_native);

        /* PostgreSQL's driver has no state for that */

        if (od->server.conn.lost && best_class == SM_STORE_PERMANENT) {
            best_class = SM_STORE_TRANSIENT;
        }
    }

    best[sizeof(best) - 1] = '\0';
    sm_odbc_clean(od->server.conf, best);

    return sm_call_fail(call, best_class, best_native, "odbc: %.330s "
                        "(SQLSTATE %s, %d)", best, best_state, best_native);
}
