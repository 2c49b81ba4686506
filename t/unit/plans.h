#ifndef PLANS_H
#define PLANS_H

/* What SQLite's planner makes of a statement, with and without statistics. */

#include "store.h"


typedef struct {
    const char  *name;
    const char  *text;
    unsigned     searches;
} plan_t;


static inline sqlite3_stmt *
plan_explain(sql_conn_t c, const char *text)
{
    char          *explain;
    sqlite3_stmt  *stmt;

    explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", text);
    must(sqlite3_prepare_v2(c.sqlite, explain, -1, &stmt, NULL) == SQLITE_OK);
    sqlite3_free(explain);

    return stmt;
}


/* a step "SEARCH " or "SCAN ", of a table of ours or of an alias of one */

static inline unsigned
plan_step(const char *detail, const char *step)
{
    size_t  len;

    len = strlen(step);

    if (strncmp(detail, step, len) != 0
        || strstr(detail, " VIRTUAL TABLE ") != NULL)
    {
        return 0;
    }

    detail += len;

    return strncmp(detail, "submission_", 11) == 0
           || (strchr("ikp", detail[0]) != NULL
               && (detail[1] == ' ' || detail[1] == '\0'));
}


/* no statement scans a table, and each makes so many searches */

static inline void
plans_check(fixture_t *f, const plan_t *t, size_t n)
{
    size_t         i;
    unsigned       searches, scans;
    sql_conn_t     c;
    const char    *detail;
    sqlite3_stmt  *stmt;

    c = sql_open(f);

    for (i = 0; i < 2 * n; i++) {

        if (i == n) {
            sql_run(c, "ANALYZE");
        }

        stmt = plan_explain(c, t[i % n].text);

        for (searches = 0, scans = 0; sqlite3_step(stmt) == SQLITE_ROW; ) {
            detail = (const char *) sqlite3_column_text(stmt, 3);
            searches += plan_step(detail, "SEARCH ");

            if (plan_step(detail, "SCAN ")) {
                diag("%s", detail);
                scans++;
            }
        }

        is_int(scans, 0, "%s scans no table%s", t[i % n].name,
               i < n ? "" : ", with statistics");
        is_int(searches, t[i % n].searches, "its searches by an index");

        (void) sqlite3_finalize(stmt);
    }

    sql_close(c);
}


#endif /* PLANS_H */
