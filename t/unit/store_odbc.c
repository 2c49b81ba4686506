
/*
 * What is ODBC's own: the names of SQL Server's errors, text as UTF-16, and
 * whose rights the store has.  Broken by an error in another class, or text
 * that does not come back as it was.
 */

#include "store.h"


static void
test_classes(void)
{
    size_t  i;

    static const struct {
        sm_odbc_dialect_e  dialect;
        const char        *state;
        int                native;
        sm_store_class_e   class;
        const char        *what;
    } t[] = {
        { SM_ODBC_MSSQL, "42000", 57002, SM_STORE_LEASE_LOST, "ours" },
        { SM_ODBC_OTHER, "08001", 101, SM_STORE_TRANSIENT, "not reached" },
        { SM_ODBC_OTHER, "HYT00", 0, SM_STORE_TRANSIENT, "login time-out" },
        { SM_ODBC_OTHER, "IM002", 0, SM_STORE_PERMANENT, "no driver" },
        { SM_ODBC_MSSQL, "40001", 1205, SM_STORE_TRANSIENT, "deadlock" },
        { SM_ODBC_MSSQL, "42000", 1222, SM_STORE_TRANSIENT, "locked" },
        { SM_ODBC_MSSQL, "42000", 33557097, SM_STORE_TRANSIENT, "Babelfish" },
        { SM_ODBC_MSSQL, "42000", 40613, SM_STORE_TRANSIENT, "Azure" },
        { SM_ODBC_MSSQL, "42000", 49919, SM_STORE_TRANSIENT, "Azure" },
        { SM_ODBC_MSSQL, "42000", 10928, SM_STORE_TRANSIENT, "Azure" },
        { SM_ODBC_MSSQL, "HYT00", 20003, SM_STORE_TRANSIENT, "time-out" },
        { SM_ODBC_MSSQL, "23000", 2627, SM_STORE_CONSTRAINT, "unique" },
        { SM_ODBC_MSSQL, "22001", 2628, SM_STORE_CONSTRAINT, "too long" },
        { SM_ODBC_MSSQL, "42000", 2812, SM_STORE_SCHEMA, "no procedure" },
        { SM_ODBC_MSSQL, "42000", 229, SM_STORE_PERMANENT, "no right" },
        { SM_ODBC_MSSQL, "28000", 18456, SM_STORE_PERMANENT, "no login" },
        { SM_ODBC_MSSQL, "42000", 9002, SM_STORE_PERMANENT, "log full" },
        { SM_ODBC_MSSQL, "42000", 102, SM_STORE_PERMANENT, "syntax" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(sm_odbc_class(t[i].dialect, t[i].state, t[i].native),
               t[i].class, "%s, %s %d", t[i].what, t[i].state, t[i].native);
    }
}


static void
test_utf16(void)
{
    size_t      i, len;
    sm_str_t    s;
    SQLWCHAR   *text;
    sm_arena_t  arena = { NULL };

    static const struct {
        const char  *from;
        const char  *to;
    } t[] = {
        { "", "" },
        { "a\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf",
          "a\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf" },
        { "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
          "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
        { "\x80x", "\xef\xbf\xbdx" },
        { "\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
          "\xef\xbf\xbd" },
        { "a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        text = sm_odbc_utf16(&arena, sm_str_c(t[i].from), &len);
        must(sm_odbc_utf8(&arena, text, len, &s) == 0);
        is_mem(s.data, s.len, t[i].to, strlen(t[i].to), "text %zu", i);
    }

    sm_arena_free(&arena);
}


/*
 * Babelfish has no ownership chains, and no EXECUTE AS OWNER: with no more than
 * the role a login may call, and each procedure is then denied its tables.
 */

static void
test_babelfish_role(void)
{
    char       login[80], text[512], string[1024], error[256];
    void      *dbc, *admin;
    size_t     i, k;
    fixture_t  f;

    static const struct {
        const char  *statement;
        int          denied;        /* as a stranger, with the role, and more */
        const char  *what;
    } t[] = {
        { "SELECT submission.submission_us(submission.submission_now())", 1,
          "permission denied for function" },
        { "EXECUTE submission.submission_lease_get N'main'", 3,
          "permission denied for table" },
        { "EXECUTE submission.submission_ping", 3,
          "permission denied for table" },
        { "SELECT COUNT(*) FROM submission.submission_intents", 3,
          "permission denied for table" },
        { "UPDATE submission.submission_manager_leases SET lease_epoch = 1", 3,
          "permission denied for table" },
        { "DELETE FROM submission.submission_attempts", 3,
          "permission denied for table" },
        { "INSERT INTO submission.submission_schema VALUES (2)", 3,
          "permission denied for table" },
        { "DROP TABLE submission.submission_schema", 7, "must be owner" },
        { "CREATE TABLE submission.submission_more (a int)", 7,
          "permission denied for schema" }
    };

    static const char  *const rights[] = {
        "CREATE USER %s FOR LOGIN %s",
        "ALTER ROLE submission_nginx ADD MEMBER %s",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON SCHEMA::submission "
        "TO submission_nginx"
    };

    fixture_open(&f);

    admin = tds_connect(f.connection);

    (void) snprintf(login, sizeof(login), "%s_login", f.database);
    (void) snprintf(text, sizeof(text), "CREATE LOGIN %s WITH PASSWORD = "
                    "'" SERVER_PASSWORD "'", login);
    tds_run(admin, text);

    server_string(string, sizeof(string), f.database, login,
                  "pw{1}};2=3");

    for (k = 0; k < 3; k++) {
        (void) snprintf(text, sizeof(text), rights[k], login, login);
        tds_run(admin, text);

        dbc = tds_connect(string);

        for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {

            if (tds_try(dbc, t[i].statement, error, sizeof(error)) == 0) {
                ok(!(t[i].denied & 1 << k), "rights %zu: %s", k,
                   t[i].statement);
                continue;
            }

            ok(t[i].denied & 1 << k && (k == 0 || strstr(error, t[i].what)),
               "rights %zu: denied %s: %s", k, t[i].statement, error);
        }

        tds_disconnect(dbc);
    }

    (void) snprintf(text, sizeof(text), "ALTER ROLE submission_nginx DROP "
                    "MEMBER %s", login);
    tds_run(admin, text);
    (void) snprintf(text, sizeof(text), "DROP USER %s", login);
    tds_run(admin, text);
    (void) snprintf(text, sizeof(text), "DROP LOGIN %s", login);
    tds_run(admin, text);
    tds_disconnect(admin);

    fixture_done(&f);
}


int
main(void)
{
    test_classes();
    test_utf16();

    if (on_babelfish()) {
        test_babelfish_role();
    }

    return done_testing();
}
