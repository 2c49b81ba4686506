
/*
 * The baseline of bench/tsql: a procedure with nothing but an INSERT of one row,
 * called through ODBC by so many connections, each one call after the other.
 * Prints the rows per second and the median of a call in microseconds.
 */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sql.h>
#include <sqlext.h>


#define PLAIN_PARAMS   15
#define PLAIN_CALLS    1000000
#define PLAIN_WARM_UP  20


typedef struct {
    unsigned    number;
    pthread_t   thread;
    long        calls;
    double      elapsed;
    double     *times;
} plain_client_t;


static SQLHENV      plain_env;
static const char  *plain_string;
static double       plain_seconds;


static double
plain_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return ts.tv_sec + ts.tv_nsec / 1e9;
}


static void
plain_fail(SQLSMALLINT type, SQLHANDLE handle)
{
    SQLCHAR      state[6], text[512];
    SQLINTEGER   native;
    SQLSMALLINT  len;

    text[0] = '\0';
    (void) SQLGetDiagRec(type, handle, 1, state, &native, text, sizeof(text),
                         &len);
    fprintf(stderr, "%s\n", (char *) text);
    exit(1);
}


static size_t
plain_wide(SQLWCHAR *wide, const char *text)
{
    size_t  i;

    for (i = 0; text[i]; i++) {
        wide[i] = (unsigned char) text[i];
    }

    return i * sizeof(SQLWCHAR);
}


/* b: bytes, i: an integer, n: none, t: text; the second is the id */

static const struct {
    char         type;
    int64_t      n;
    const char  *text;
} plain_params[PLAIN_PARAMS] = {
    { 't', 0, "bench" }, { 't', 0, "" },
    { 't', 0, "0123456789abcdef0123456789abcdef"
              "0123456789abcdef0123456789abcdef" },
    { 'b', 0, "{\"to\":\"+15550100\",\"message\":\"Your code is 123456\"}" },
    { 't', 0, "sms.realtime" }, { 't', 0, "sms" },
    { 't', 0, "http://127.0.0.1:9090" }, { 't', 0, "deadline" },
    { 'i', 30, NULL }, { 'n', 0, NULL }, { 't', 0, "" }, { 'i', 5000, NULL },
    { 'i', 5000, NULL }, { 'i', 100, NULL }, { 'i', 0, NULL }
};


static void
plain_call(SQLHSTMT stmt, const char *id)
{
    int          i;
    SQLLEN       lens[PLAIN_PARAMS];
    int64_t      ints[PLAIN_PARAMS];
    SQLRETURN    rc;
    SQLWCHAR     wide[PLAIN_PARAMS][80];
    const char  *text;

    for (i = 0; i < PLAIN_PARAMS; i++) {
        text = i == 1 ? id : plain_params[i].text;

        switch (plain_params[i].type) {
        case 't':
            lens[i] = plain_wide(wide[i], text);
            rc = SQLBindParameter(stmt, i + 1, SQL_PARAM_INPUT, SQL_C_WCHAR,
                                  SQL_WVARCHAR, 2048, 0, wide[i], lens[i],
                                  &lens[i]);
            break;

        case 'b':
            lens[i] = strlen(text);
            rc = SQLBindParameter(stmt, i + 1, SQL_PARAM_INPUT, SQL_C_BINARY,
                                  SQL_LONGVARBINARY, lens[i], 0,
                                  (SQLPOINTER) text, lens[i], &lens[i]);
            break;

        default:
            ints[i] = plain_params[i].n;
            lens[i] = plain_params[i].type == 'n' ? SQL_NULL_DATA
                                                  : (SQLLEN) sizeof(int64_t);
            rc = SQLBindParameter(stmt, i + 1, SQL_PARAM_INPUT, SQL_C_SBIGINT,
                                  SQL_BIGINT, 0, 0, &ints[i], sizeof(int64_t),
                                  &lens[i]);
        }

        if (!SQL_SUCCEEDED(rc)) {
            plain_fail(SQL_HANDLE_STMT, stmt);
        }
    }

    rc = SQLExecute(stmt);

    if (!SQL_SUCCEEDED(rc) && rc != SQL_NO_DATA) {
        plain_fail(SQL_HANDLE_STMT, stmt);
    }

    while (SQL_SUCCEEDED(SQLMoreResults(stmt))) {
        /* void */
    }

    (void) SQLFreeStmt(stmt, SQL_CLOSE);
}


static void *
plain_run(void *data)
{
    char             id[64];
    long             n;
    double           start, now, then;
    SQLHDBC          dbc;
    SQLHSTMT         stmt;
    plain_client_t  *client = data;

    if (SQLAllocHandle(SQL_HANDLE_DBC, plain_env, &dbc) != SQL_SUCCESS) {
        exit(1);
    }

    if (!SQL_SUCCEEDED(SQLDriverConnect(dbc, NULL, (SQLCHAR *) plain_string,
                                        SQL_NTS, NULL, 0, NULL,
                                        SQL_DRIVER_NOPROMPT))
        || SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt) != SQL_SUCCESS
        || !SQL_SUCCEEDED(SQLPrepare(stmt, (SQLCHAR *)
                          "{call dbo.plain_insert(?,?,?,?,?,?,?,?,?,?,?,?,?,"
                          "?,?)}", SQL_NTS)))
    {
        plain_fail(SQL_HANDLE_DBC, dbc);
    }

    start = 0;
    now = 0;

    for (n = -PLAIN_WARM_UP; n < PLAIN_CALLS; n++) {

        then = plain_now();

        if (n == 0) {
            start = then;
        }

        if (n > 0 && now - start >= plain_seconds) {
            break;
        }

        (void) snprintf(id, sizeof(id), "plain-%ld-%u-%ld", (long) time(NULL),
                        client->number, n);
        plain_call(stmt, id);
        now = plain_now();

        if (n >= 0) {
            client->times[n] = now - then;
        }
    }

    client->calls = n;
    client->elapsed = now - start;

    return NULL;
}


static int
plain_compare(const void *one, const void *two)
{
    const double  *a = one, *b = two;

    return *a < *b ? -1 : *a > *b;
}


int
main(int argc, char **argv)
{
    long             n, total;
    double           rate, *times;
    unsigned         i, clients;
    plain_client_t  *client;

    if (argc != 4) {
        fprintf(stderr, "usage: %s <connection string> <connections> "
                "<seconds>\n", argv[0]);
        return 2;
    }

    plain_string = argv[1];
    clients = atoi(argv[2]);
    plain_seconds = atof(argv[3]);

    if (SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &plain_env)
        != SQL_SUCCESS)
    {
        return 1;
    }

    (void) SQLSetEnvAttr(plain_env, SQL_ATTR_ODBC_VERSION,
                         (SQLPOINTER) SQL_OV_ODBC3, 0);

    client = calloc(clients, sizeof(plain_client_t));
    times = malloc(clients * (size_t) PLAIN_CALLS * sizeof(double));

    if (client == NULL || times == NULL) {
        return 1;
    }

    for (i = 0; i < clients; i++) {
        client[i].number = i;
        client[i].times = times + (size_t) i * PLAIN_CALLS;

        if (pthread_create(&client[i].thread, NULL, plain_run, &client[i])
            != 0)
        {
            return 1;
        }
    }

    rate = 0;
    total = 0;

    for (i = 0; i < clients; i++) {
        (void) pthread_join(client[i].thread, NULL);

        rate += client[i].calls / client[i].elapsed;

        for (n = 0; n < client[i].calls; n++) {
            times[total++] = client[i].times[n];
        }
    }

    qsort(times, total, sizeof(double), plain_compare);

    printf("%.0f %.0f\n", rate, times[total / 2] * 1e6);

    return 0;
}
