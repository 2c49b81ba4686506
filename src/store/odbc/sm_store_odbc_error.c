
/*
 * Classifies the errors of SQL Server and of its drivers.
 *
 * The SQLSTATE says little: "42000" may be a missing procedure, a deadlock
 * with some drivers, or one of our own THROWs.  So the native error number
 * decides first.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* memmem() */
#endif

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "sm_store_odbc.h"


#define SM_ODBC_DIAGS    8
#define SM_ODBC_MESSAGE  2048
#define SM_ODBC_KEPT     360        /* bytes of a message that are kept */

#define SM_ODBC_READ_ONLY  3906     /* of the database */


typedef struct {
    const char        *state;       /* a prefix of the SQLSTATE */
    sm_store_class_e   class;
} sm_odbc_state_t;

typedef struct {
    int                native;
    sm_store_class_e   class;
    unsigned           lost;        /* the connection is unusable */
} sm_odbc_native_t;

typedef struct {
    char               state[6];
    int                native;
    char               text[SM_ODBC_KEPT];
} sm_odbc_diag_t;


/*
 * An error that says that the server is read-only, or that refers to another
 * replica, means that there was a failover.  A new login finds the primary.
 */

static const sm_odbc_native_t  sm_odbc_natives[] = {

    { 57002, SM_STORE_LEASE_LOST, 0 },  /* ours: submission_fence */
    { 57003, SM_STORE_TRANSIENT, 0 },   /* ours: forgotten meanwhile */

    { 1205, SM_STORE_TRANSIENT, 0 },    /* deadlock victim */
    { 1222, SM_STORE_TRANSIENT, 0 },    /* lock request time-out */
    { 3960, SM_STORE_TRANSIENT, 0 },    /* snapshot update conflict */
    { 3958, SM_STORE_TRANSIENT, 0 },    /* the row version is missing */
    { 3966, SM_STORE_TRANSIENT, 0 },
    { 669, SM_STORE_TRANSIENT, 0 },     /* a row was moved meanwhile */
    { 2801, SM_STORE_TRANSIENT, 0 },    /* install.sh recreated the procedure */
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
    { 952, SM_STORE_TRANSIENT, 1 },     /* it is in transition */
    { 9001, SM_STORE_TRANSIENT, 1 },    /* its log cannot be written */
    { SM_ODBC_READ_ONLY, SM_STORE_TRANSIENT, 1 },
    { 976, SM_STORE_TRANSIENT, 1 },     /* availability groups */
    { 978, SM_STORE_TRANSIENT, 1 },
    { 979, SM_STORE_TRANSIENT, 1 },
    { 980, SM_STORE_TRANSIENT, 1 },
    { 981, SM_STORE_TRANSIENT, 1 },
    { 982, SM_STORE_TRANSIENT, 1 },
    { 983, SM_STORE_TRANSIENT, 1 },
    { 988, SM_STORE_TRANSIENT, 1 },
    { 997, SM_STORE_TRANSIENT, 0 },     /* the database's update lock */
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
    { 33557097, SM_STORE_TRANSIENT, 0 }, /* Babelfish has no number for */
                                        /* these, such as lock time-outs */

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


/* The first row whose prefix matches counts. */

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

    /*
     * The procedure existed when this connection was opened, so it is being
     * recreated right now.
     */

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


/* Returns whether the server is gone, and with it all connections to it. */

static unsigned
sm_odbc_lost(sm_odbc_t *od, const sm_odbc_diag_t *diag, unsigned cause)
{
    SQLINTEGER               dead;
    const sm_odbc_native_t  *n;

    /* FreeTDS reports "Unknown error" if the answer broke off. */

    if (cause && diag->native == 0 && strncmp(diag->state, "HY000", 5) == 0) {
        return 1;
    }

    dead = SQL_CD_FALSE;

    (void) SQLGetConnectAttr(od->dbc, SQL_ATTR_CONNECTION_DEAD, &dead,
                             sizeof(dead), NULL);

    n = sm_odbc_native(diag->native);

    return dead == SQL_CD_TRUE || strncmp(diag->state, "08", 2) == 0
           || (n && n->lost);
}


/*
 * Puts a message on one line, and removes prefixes such as
 * "[unixODBC][FreeTDS]" and secrets.
 */

static void
sm_odbc_clean(const sm_store_conf_t *conf, char *text)
{
    char   *p, *q;
    size_t  len;

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


/* How much a record says about the cause, in ascending order. */

typedef enum {
    SM_ODBC_SAYS_NOTHING = 0,       /* it is information, "01..." */
    SM_ODBC_SAYS_UNKNOWN,
    SM_ODBC_SAYS_STATE,             /* the SQLSTATE is in the table */
    SM_ODBC_SAYS_NUMBER,            /* the number is, as permanent */
    SM_ODBC_SAYS_CAUSE
} sm_odbc_says_e;


static sm_odbc_says_e
sm_odbc_says(const sm_odbc_diag_t *diag, sm_store_class_e class)
{
    if (strncmp(diag->state, "01", 2) == 0) {
        return SM_ODBC_SAYS_NOTHING;
    }

    if (sm_odbc_native(diag->native)) {
        return class == SM_STORE_PERMANENT ? SM_ODBC_SAYS_NUMBER
                                           : SM_ODBC_SAYS_CAUSE;
    }

    return class == SM_STORE_PERMANENT ? SM_ODBC_SAYS_UNKNOWN
                                       : SM_ODBC_SAYS_STATE;
}


/*
 * Picks the record that names the cause, because a driver may report several
 * errors.  A native number of the table says more than any SQLSTATE: FreeTDS
 * reports a wrong password as 18456, and then, as 08001, that it could not
 * connect.  Of two such numbers, the one that is not permanent is the cause,
 * because "login failed" also accompanies the number that says why.  Otherwise
 * the first record of the most specific kind counts.  Information counts only
 * if there is nothing else; unixODBC uses it to report a driver that it cannot
 * load.
 */

static size_t
sm_odbc_cause(const sm_odbc_diag_t *diags, size_t n, unsigned ready)
{
    size_t          i, best;
    sm_odbc_says_e  says, best_says;

    best = 0;
    best_says = SM_ODBC_SAYS_NOTHING;

    for (i = 0; i < n; i++) {
        says = sm_odbc_says(&diags[i], sm_odbc_class(diags[i].state,
                                                     diags[i].native, ready));
        if (says > best_says) {
            best = i;
            best_says = says;
        }
    }

    return best;
}


static size_t
sm_odbc_diags(sm_odbc_t *od, SQLSMALLINT type, SQLHANDLE handle,
    sm_odbc_diag_t *diags)
{
    size_t       n;
    SQLCHAR      state[6], text[SM_ODBC_MESSAGE];
    SQLINTEGER   native;
    SQLSMALLINT  len;

    for (n = 0; n < SM_ODBC_DIAGS; n++) {

        if (!SQL_SUCCEEDED(SQLGetDiagRec(type, handle, n + 1, state, &native,
                                         text, sizeof(text), &len)))
        {
            break;
        }

        text[sizeof(text) - 1] = '\0';
        sm_odbc_clean(od->sql.conf, (char *) text);

        (void) memcpy(diags[n].state, state, sizeof(diags[n].state));
        diags[n].native = (int) native;
        (void) snprintf(diags[n].text, sizeof(diags[n].text), "%.*s",
                        SM_ODBC_KEPT - 1, (char *) text);
    }

    return n;
}


/* Writes the texts of all records into the error, the cause first. */

static int
sm_odbc_report(sm_call_t *call, sm_store_class_e class,
    const sm_odbc_diag_t *diags, size_t n, size_t cause)
{
    size_t  i, len;

    (void) sm_call_fail(call, class, diags[cause].native,
                        "odbc: %s (SQLSTATE %s, %d)", diags[cause].text,
                        diags[cause].state, diags[cause].native);

    for (i = 0; i < n; i++) {

        if (i == cause || strcmp(diags[i].text, diags[cause].text) == 0) {
            continue;
        }

        len = strlen(call->error);

        (void) snprintf(call->error + len, sizeof(call->error) - len,
                        "; %s (SQLSTATE %s, %d)", diags[i].text,
                        diags[i].state, diags[i].native);
    }

    return -1;
}


int
sm_odbc_fail(sm_odbc_t *od, sm_call_t *call, SQLSMALLINT type,
    SQLHANDLE handle)
{
    size_t            i, n, cause;
    unsigned          informs;
    sm_odbc_diag_t    diags[SM_ODBC_DIAGS];
    sm_store_class_e  class;

    if (od->watch.cut) {
        od->sql.conn.lost = 1;

        return sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                            "odbc: no answer from the server in %lld ms",
                            (long long) od->watch.ms);
    }

    n = sm_odbc_diags(od, type, handle, diags);
    cause = sm_odbc_cause(diags, n, od->ready);
    informs = n && strncmp(diags[cause].state, "01", 2) == 0;

    /* FreeTDS gives no record when the server ends the session. */

    if (n == 0 || (informs && od->connected)) {
        od->sql.conn.lost = od->connected;

        return sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                            "odbc: the driver gave no reason");
    }

    class = informs ? SM_STORE_PERMANENT
                    : sm_odbc_class(diags[cause].state, diags[cause].native,
                                    od->ready);

    call->read_only = diags[cause].native == SM_ODBC_READ_ONLY;

    if (od->connected) {
        od->sql.conn.lost = 0;

        for (i = 0; i < n; i++) {
            od->sql.conn.lost |= sm_odbc_lost(od, &diags[i], i == cause);
        }

        /* Not every driver has an SQLSTATE for a lost connection. */

        if (od->sql.conn.lost && class == SM_STORE_PERMANENT) {
            class = SM_STORE_TRANSIENT;
        }
    }

    return sm_odbc_report(call, class, diags, n, cause);
}
