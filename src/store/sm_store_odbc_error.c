
/*
 * Errors of database servers and their drivers, in classes.
 *
 * SQL Server's SQLSTATEs say little ("42000" is a missing procedure, a
 * deadlock on some drivers, and our own THROW): its number decides first.
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
    unsigned           lost;        /* the connection is of no use any more */
} sm_odbc_native_t;


/*
 * A read-only server, or one that refers to another replica, has been failed
 * over; a new login finds the one that takes writes.
 */

static const sm_odbc_native_t  sm_odbc_natives[] = {

    { 57002, SM_STORE_LEASE_LOST, 0 },  /* ours: submission_fence */

    { 1205, SM_STORE_TRANSIENT, 0 },    /* deadlock victim */
    { 1222, SM_STORE_TRANSIENT, 0 },    /* lock request time-out */
    { 3960, SM_STORE_TRANSIENT, 0 },    /* snapshot update conflict */
    { 701, SM_STORE_TRANSIENT, 0 },     /* memory */
    { 802, SM_STORE_TRANSIENT, 0 },
    { 8645, SM_STORE_TRANSIENT, 0 },
    { 8651, SM_STORE_TRANSIENT, 0 },
    { 1204, SM_STORE_TRANSIENT, 0 },    /* locks */
    { 8628, SM_STORE_TRANSIENT, 0 },    /* time-out of the optimizer */
    { -2, SM_STORE_TRANSIENT, 0 },      /* time-out of the client */
    { 64, SM_STORE_TRANSIENT, 0 },      /* connection loss */
    { 121, SM_STORE_TRANSIENT, 0 },
    { 233, SM_STORE_TRANSIENT, 0 },
    { 10053, SM_STORE_TRANSIENT, 1 },
    { 10054, SM_STORE_TRANSIENT, 1 },
    { 10060, SM_STORE_TRANSIENT, 0 },
    { 596, SM_STORE_TRANSIENT, 1 },     /* the session was killed */
    { 6005, SM_STORE_TRANSIENT, 1 },    /* shutdown in progress */
    { 17142, SM_STORE_TRANSIENT, 0 },   /* the server is paused */
    { 17197, SM_STORE_TRANSIENT, 0 },   /* login time-out */
    { 18401, SM_STORE_TRANSIENT, 0 },   /* the server is being upgraded */
    { 18451, SM_STORE_TRANSIENT, 0 },   /* administrators only, for now */
    { 615, SM_STORE_TRANSIENT, 1 },     /* the database is closed, recovered */
    { 921, SM_STORE_TRANSIENT, 1 },
    { 922, SM_STORE_TRANSIENT, 1 },
    { 926, SM_STORE_TRANSIENT, 1 },
    { 9001, SM_STORE_TRANSIENT, 1 },    /* its log cannot be written */
    { 3906, SM_STORE_TRANSIENT, 1 },    /* read-only */
    { 976, SM_STORE_TRANSIENT, 1 },     /* availability groups */
    { 978, SM_STORE_TRANSIENT, 1 },
    { 979, SM_STORE_TRANSIENT, 1 },
    { 980, SM_STORE_TRANSIENT, 1 },
    { 981, SM_STORE_TRANSIENT, 1 },
    { 982, SM_STORE_TRANSIENT, 1 },
    { 983, SM_STORE_TRANSIENT, 1 },
    { 4221, SM_STORE_TRANSIENT, 1 },
    { 35250, SM_STORE_TRANSIENT, 1 },
    { 4060, SM_STORE_TRANSIENT, 0 },    /* no such database; Azure: not now */
    { 10922, SM_STORE_TRANSIENT, 0 },   /* Azure: resource limits */
    { 10928, SM_STORE_TRANSIENT, 0 },
    { 10929, SM_STORE_TRANSIENT, 0 },
    { 10936, SM_STORE_TRANSIENT, 0 },
    { 40143, SM_STORE_TRANSIENT, 0 },
    { 40197, SM_STORE_TRANSIENT, 1 },
    { 40501, SM_STORE_TRANSIENT, 0 },
    { 40540, SM_STORE_TRANSIENT, 0 },
    { 40549, SM_STORE_TRANSIENT, 1 },   /* Azure ended the session */
    { 40550, SM_STORE_TRANSIENT, 1 },
    { 40551, SM_STORE_TRANSIENT, 1 },
    { 40552, SM_STORE_TRANSIENT, 1 },
    { 40553, SM_STORE_TRANSIENT, 1 },
    { 40613, SM_STORE_TRANSIENT, 0 },
    { 49918, SM_STORE_TRANSIENT, 0 },
    { 49919, SM_STORE_TRANSIENT, 0 },
    { 49920, SM_STORE_TRANSIENT, 0 },
    { 20003, SM_STORE_TRANSIENT, 0 },   /* FreeTDS: time-out */
    { 20004, SM_STORE_TRANSIENT, 1 },   /* read from the server failed */
    { 20006, SM_STORE_TRANSIENT, 1 },   /* write to the server failed */
    { 20009, SM_STORE_TRANSIENT, 0 },   /* unable to connect */
    { 20017, SM_STORE_TRANSIENT, 1 },   /* unexpected end of file */
    { 20047, SM_STORE_TRANSIENT, 1 },   /* the connection is dead */
    { 33557097, SM_STORE_TRANSIENT, 0 }, /* Babelfish, of what has no number: */
                                        /* a lock time-out, among others */

    { 2627, SM_STORE_CONSTRAINT, 0 },   /* unique key, unique index */
    { 2601, SM_STORE_CONSTRAINT, 0 },
    { 515, SM_STORE_CONSTRAINT, 0 },    /* NULL */
    { 547, SM_STORE_CONSTRAINT, 0 },    /* check, foreign key */
    { 8152, SM_STORE_CONSTRAINT, 0 },   /* would be truncated */
    { 2628, SM_STORE_CONSTRAINT, 0 },
    { 245, SM_STORE_CONSTRAINT, 0 },    /* conversion */
    { 8114, SM_STORE_CONSTRAINT, 0 },
    { 8115, SM_STORE_CONSTRAINT, 0 },
    { 517, SM_STORE_CONSTRAINT, 0 },    /* a time that there is not */
    { 535, SM_STORE_CONSTRAINT, 0 },
    { 13609, SM_STORE_CONSTRAINT, 0 },  /* JSON */

    { 2812, SM_STORE_SCHEMA, 0 },       /* no such procedure */
    { 4121, SM_STORE_SCHEMA, 0 },       /* no such function */
    { 208, SM_STORE_SCHEMA, 0 },        /* no such table */
    { 201, SM_STORE_SCHEMA, 0 },        /* a parameter is missing */
    { 8144, SM_STORE_SCHEMA, 0 },       /* too many parameters */

    { 18456, SM_STORE_PERMANENT, 0 },   /* login failed */
    { 229, SM_STORE_PERMANENT, 0 },     /* permission denied */
    { 1105, SM_STORE_PERMANENT, 0 },    /* the database is full */
    { 9002, SM_STORE_PERMANENT, 0 },    /* its log is full */

    { 0, SM_STORE_OK, 0 }
};


/* the first that fits */

static const sm_odbc_state_t  sm_odbc_states[] = {

    { "08", SM_STORE_TRANSIENT },       /* connection */
    { "HYT", SM_STORE_TRANSIENT },      /* time-outs of the client */
    { "40", SM_STORE_TRANSIENT },       /* deadlock, serialization */
    { "HY001", SM_STORE_TRANSIENT },    /* memory */
    { "HY013", SM_STORE_TRANSIENT },

    { "22", SM_STORE_CONSTRAINT },      /* data */
    { "23", SM_STORE_CONSTRAINT },

    { "42S02", SM_STORE_SCHEMA },       /* no such table */

    { NULL, SM_STORE_PERMANENT }
};


static const sm_odbc_native_t *
sm_odbc_native(int native)
{
    const sm_odbc_native_t  *n;

    for (n = sm_odbc_natives; n->native; n++) {
        if (n->native == native) {
            return n;
        }
    }

    return NULL;
}


sm_store_class_e
sm_odbc_class(const char *state, int native, unsigned ready)
{
    const sm_odbc_state_t   *s;
    const sm_odbc_native_t  *n;

    /* it existed when this connection began, so it is being recreated */

    if (ready && (native == 2812 || native == 4121)) {
        return SM_STORE_TRANSIENT;
    }

    n = sm_odbc_native(native);

    if (n) {
        return n->class;
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
    SQLINTEGER               dead;
    const sm_odbc_native_t  *n;

    /* FreeTDS, of an answer that broke off: "Unknown error" */

    if (native == 0 && strncmp(state, "HY000", 5) == 0) {
        return 1;
    }

    dead = SQL_CD_FALSE;

    (void) SQLGetConnectAttr(od->dbc, SQL_ATTR_CONNECTION_DEAD, &dead,
                             sizeof(dead), NULL);

    n = sm_odbc_native(native);

    return dead == SQL_CD_TRUE || strncmp(state, "08", 2) == 0
           || (n && n->lost);
}


/*
 * On one line, without prefixes such as "[unixODBC][FreeTDS]", and without
 * secrets.
 */

static void
sm_odbc_clean(const sm_store_conf_t *conf, char *text)
{
    char    *p, *q;
    size_t   len;

    for (p = text; *p == '[' && (q = strchr(p, ']')) != NULL; p = q + 1) {
        /* void */
    }

    (void) memmove(text, p, strlen(p) + 1);

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
 * A driver may report several errors: the cause of a failed connection comes
 * with general complaints.  The first error of the most specific class is
 * taken: one that is known by its number or state before one that is not.
 * Information ("01...") is taken if there is nothing else; unixODBC uses it to
 * report a driver that cannot be loaded.
 */

int
sm_odbc_fail(sm_odbc_t *od, sm_call_t *call, SQLSMALLINT type,
    SQLHANDLE handle)
{
    int                i, informs, best_native;
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

        informs = memcmp(state, "01", 2) == 0;

        class = informs ? SM_STORE_OK
                        : sm_odbc_class((char *) state, (int) native,
                                        od->ready);

        if (best_state[0] != '\0'
            && (informs || (best_class != SM_STORE_OK
                            && (best_class != SM_STORE_PERMANENT
                                || class == SM_STORE_PERMANENT))))
        {
            continue;
        }

        best_class = class;
        best_native = (int) native;
        (void) memcpy(best_state, state, sizeof(best_state));
        (void) memcpy(best, text, sizeof(best));
    }

    /* FreeTDS has none when the server ends the session */

    if (best_class == SM_STORE_OK && (od->connected || best_state[0] == '\0')) {
        od->server.conn.lost = od->connected;

        return sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                            "odbc: the driver gave no reason");
    }

    if (best_class == SM_STORE_OK) {
        best_class = SM_STORE_PERMANENT;
    }

    if (od->connected) {
        od->server.conn.lost = sm_odbc_lost(od, best_state, best_native);

        /* not every driver has a state for that */

        if (od->server.conn.lost && best_class == SM_STORE_PERMANENT) {
            best_class = SM_STORE_TRANSIENT;
        }
    }

    best[sizeof(best) - 1] = '\0';
    sm_odbc_clean(od->server.conf, best);

    return sm_call_fail(call, best_class, best_native, "odbc: %.330s "
                        "(SQLSTATE %s, %d)", best, best_state, best_native);
}
