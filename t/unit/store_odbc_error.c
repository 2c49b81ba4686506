
/*
 * What is made of several records of a driver: the class of the one that says
 * the cause, and the text of all of them.  The driver manager's SQLGetDiagRec()
 * is this file's own.  Broken by a general complaint that is taken for the
 * cause (a wrong password that is "Unable to connect", and is tried again and
 * again), by a text that is not in the error, and by a password that is.
 */

#include <sql.h>
#include <sqlext.h>

#include "store.h"
#include "sm_store_odbc.h"


#define PASSWORD  "Secret-1"


typedef struct {
    const char  *state;
    int          native;
    const char  *text;
} record_t;


static const record_t  *records;


SQLRETURN SQL_API
SQLGetDiagRec(SQLSMALLINT type, SQLHANDLE handle, SQLSMALLINT number,
    SQLCHAR *state, SQLINTEGER *native, SQLCHAR *text, SQLSMALLINT size,
    SQLSMALLINT *len)
{
    const record_t  *r;

    (void) type;
    (void) handle;

    for (r = records; r->state && number > 1; r++) {
        number--;
    }

    if (r->state == NULL) {
        return SQL_NO_DATA;
    }

    (void) strcpy((char *) state, r->state);
    *native = r->native;
    *len = snprintf((char *) text, size, "[unixODBC][FreeTDS]%s", r->text);

    return SQL_SUCCESS;
}


static void
fails(const record_t *r, unsigned connected, sm_odbc_t *od, sm_call_t *call)
{
    static sm_store_conf_t  conf;

    conf.password = sm_str_c(PASSWORD);

    memset(od, 0, sizeof(sm_odbc_t));
    memset(call, 0, sizeof(sm_call_t));

    od->sql.conf = &conf;
    od->connected = connected;
    records = r;

    is_int(sm_odbc_fail(od, call, SQL_HANDLE_DBC, SQL_NULL_HDBC), -1,
           "a call that failed");
}


/* the records of one failure, and what it is then */

typedef struct {
    const char        *what;
    unsigned           connected;
    sm_store_class_e   class;
    unsigned           lost;
    const char        *error;
    record_t           records[4];
} case_t;


static const case_t  cases[] = {

    { "a wrong password, FreeTDS", 0, SM_STORE_PERMANENT, 0,
      "odbc: Login failed for user \"nginx\" (SQLSTATE 42000, 18456); "
      "Unable to connect to data source (SQLSTATE 08001, 0)",
      { { "42000", 18456, "Login failed for user \"nginx\"" },
        { "08001", 0, "Unable to connect to data source" } } },

    { "a wrong password, in the other order", 0, SM_STORE_PERMANENT, 0,
      "odbc: Login failed (SQLSTATE 28000, 18456); "
      "Unable to connect (SQLSTATE 08001, 0)",
      { { "08001", 0, "Unable to connect" },
        { "28000", 18456, "Login failed" } } },

    { "a database that is not there now", 0, SM_STORE_TRANSIENT, 0,
      "odbc: Cannot open database (SQLSTATE 28000, 4060); "
      "Login failed (SQLSTATE 28000, 18456)",
      { { "28000", 18456, "Login failed" },
        { "28000", 4060, "Cannot open database" } } },

    { "no server", 0, SM_STORE_TRANSIENT, 0,
      "odbc: Unable to connect (SQLSTATE 08001, 0)",
      { { "08001", 0, "Unable to connect" } } },

    { "a certificate that is not trusted", 0, SM_STORE_TRANSIENT, 0,
      "odbc: SSL Provider: certificate verify failed (SQLSTATE 08001, -1); "
      "Client unable to establish connection (SQLSTATE 08001, 11)",
      { { "08001", -1, "SSL Provider: certificate verify failed" },
        { "08001", 11, "Client unable to establish connection" } } },

    { "no driver", 0, SM_STORE_PERMANENT, 0,
      "odbc: Can't open lib 'x' (SQLSTATE 01000, 0)",
      { { "01000", 0, "Can't open lib 'x'" } } },

    { "an error before which the driver informs", 0, SM_STORE_PERMANENT, 0,
      "odbc: Syntax (SQLSTATE 42000, 102); "
      "Changed database context (SQLSTATE 01000, 5701)",
      { { "01000", 5701, "Changed database context" },
        { "42000", 102, "Syntax" } } },

    { "a deadlock, and the connection is lost", 1, SM_STORE_TRANSIENT, 1,
      "odbc: deadlock victim (SQLSTATE 40001, 1205); "
      "Communication link failure (SQLSTATE 08S01, 0)",
      { { "40001", 1205, "deadlock victim" },
        { "08S01", 0, "Communication link failure" } } },

    { "a lease that is lost, and a general complaint", 1, SM_STORE_LEASE_LOST,
      0, "odbc: LEASE_LOST at 1 (SQLSTATE 42000, 57002); "
      "The statement has been terminated (SQLSTATE 42000, 3621)",
      { { "42000", 3621, "The statement has been terminated" },
        { "42000", 57002, "LEASE_LOST at 1" } } },

    { "a lost connection that nobody has a number for", 1, SM_STORE_TRANSIENT,
      1, "odbc: Unknown error (SQLSTATE HY000, 0)",
      { { "HY000", 0, "Unknown error" } } },

    { "an answer that is there, of which one record has no number", 1,
      SM_STORE_CONSTRAINT, 0,
      "odbc: duplicate key (SQLSTATE 23000, 2627); "
      "General error (SQLSTATE HY000, 0)",
      { { "23000", 2627, "duplicate key" },
        { "HY000", 0, "General error" } } },

    { "the same text twice", 0, SM_STORE_TRANSIENT, 0,
      "odbc: Login timeout (SQLSTATE HYT00, 0)",
      { { "HYT00", 0, "Login timeout" },
        { "08001", 0, "Login timeout" } } },

    { "a text with the password, and of several lines", 0, SM_STORE_PERMANENT,
      0, "odbc: bad string PWD=* in line (SQLSTATE HY000, 0)",
      { { "HY000", 0, "bad string PWD=" PASSWORD "\r\n in\tline" } } }
};


static void
test_records(void)
{
    size_t         i;
    sm_odbc_t      od;
    sm_call_t      call;
    const case_t  *c;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        c = &cases[i];

        fails(c->records, c->connected, &od, &call);

        is_int(call.status, c->class, "%s: its class", c->what);
        is_int(od.sql.conn.lost, c->lost, "%s: lost", c->what);
        is_str(call.error, c->error, "%s: its text", c->what);
    }
}


/* the number of the cause is there, however long its text is */

static void
test_long(void)
{
    char       text[2000];
    sm_odbc_t  od;
    sm_call_t  call;

    record_t  r[] = {
        { "42000", 18456, text },
        { "08001", 0, text + 1 },
        { NULL, 0, NULL }
    };

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';

    fails(r, 0, &od, &call);

    ok(strstr(call.error, "x (SQLSTATE 42000, 18456)") != NULL,
       "the cause of a long text: %s", call.error);
    ok(strlen(call.error) < sizeof(call.error), "it ends");
}


static void
test_none(void)
{
    sm_odbc_t  od;
    sm_call_t  call;

    static const record_t  none[] = { { NULL, 0, NULL } };

    fails(none, 1, &od, &call);

    is_int(call.status, SM_STORE_TRANSIENT, "no record: may pass");
    is_int(od.sql.conn.lost, 1, "no record: the session ended");
}


int
main(void)
{
    needs_no_store();

    test_records();
    test_long();
    test_none();

    return done_testing();
}
