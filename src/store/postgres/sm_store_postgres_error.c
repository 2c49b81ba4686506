
/* Classifies the errors of PostgreSQL by their SQLSTATE. */

#include <ctype.h>

#include "sm_store_postgres.h"


typedef struct {
    const char        *state;           /* a prefix of the SQLSTATE */
    sm_store_class_e   class;
} sm_postgres_state_t;


/* The first row whose prefix matches counts. */

static const sm_postgres_state_t  sm_postgres_states[] = {

    { "P7002", SM_STORE_LEASE_LOST },   /* ours: submission_fence */
    { "P7003", SM_STORE_TRANSIENT },    /* ours: forgotten meanwhile */

    { "08", SM_STORE_TRANSIENT },       /* connection */
    { "40", SM_STORE_TRANSIENT },       /* deadlock, serialization */
    { "25006", SM_STORE_TRANSIENT },    /* read-only after a failover */
    { "53100", SM_STORE_PERMANENT },    /* the disk is full */
    { "53", SM_STORE_TRANSIENT },       /* resources */
    { "55006", SM_STORE_TRANSIENT },    /* object in use */
    { "55P03", SM_STORE_TRANSIENT },    /* lock not available */
    { "57", SM_STORE_TRANSIENT },       /* canceled, shut down, starting up */

    { "22", SM_STORE_CONSTRAINT },      /* data */
    { "23", SM_STORE_CONSTRAINT },

    { "3F000", SM_STORE_SCHEMA },       /* no such schema, table, function */
    { "42P01", SM_STORE_SCHEMA },
    { "42883", SM_STORE_SCHEMA },

    { NULL, SM_STORE_PERMANENT }
};


sm_store_class_e
sm_postgres_class(const char *state)
{
    const sm_postgres_state_t  *s;

    for (s = sm_postgres_states; s->state; s++) {
        if (strncmp(state, s->state, strlen(s->state)) == 0) {
            break;
        }
    }

    return s->class;
}


/*
 * Puts a message on one line; libpq's own messages have several, and a line that
 * begins with a capital is a sentence of its own.
 */

static void
sm_postgres_clean(char *buf, size_t size, const char *text)
{
    int    line;
    char  *p, *last;

    p = buf;
    last = buf + size - 2;
    line = 0;

    for ( /* void */ ; *text && p < last; text++) {

        line |= *text == '\n';

        if (!isspace((unsigned char) *text)) {

            if (line && isupper((unsigned char) *text)
                && p - buf > 1 && isalnum((unsigned char) p[-2]))
            {
                p[-1] = '.';
                *p++ = ' ';
            }

            line = 0;
            *p++ = iscntrl((unsigned char) *text) ? '?' : *text;

        } else if (p != buf && p[-1] != ' ') {
            *p++ = ' ';
        }
    }

    while (p != buf && p[-1] == ' ') {
        p--;
    }

    *p = '\0';
}


int
sm_postgres_fail(sm_postgres_t *pg, sm_call_t *call, const PGresult *result)
{
    char         text[320];
    const char  *state;

    state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

    if (state == NULL) {
        pg->sql.conn.lost = 1;
        sm_postgres_clean(text, sizeof(text), PQerrorMessage(pg->pq));

        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "postgres: %s",
                            text[0] ? text : "the connection was lost");
    }

    call->read_only = strcmp(state, "25006") == 0;

    pg->sql.conn.lost = PQstatus(pg->pq) != CONNECTION_OK
                           || strncmp(state, "08", 2) == 0
                           || strncmp(state, "57P", 3) == 0
                           || call->read_only;

    sm_postgres_clean(text, sizeof(text),
                      PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));

    return sm_call_fail(call, sm_postgres_class(state), 0,
                        "postgres: %s (SQLSTATE %s)", text, state);
}


int
sm_postgres_late(sm_postgres_t *pg, sm_call_t *call)
{
    pg->sql.conn.lost = 1;

    return sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                        "postgres: no answer from the server in %lld ms",
                        (long long) pg->timeout);
}
