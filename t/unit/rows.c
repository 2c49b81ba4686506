
/*
 * Rows that are read by the tables of entities, from an answer that this test
 * makes up: its columns are found by their names, in any order, and what an
 * answer lacks is named.  If they were taken by their order, a column that is
 * added to a procedure would be read as another.
 */

#include <stdio.h>
#include <stdlib.h>

#include "sm_store_sql.h"
#include "tap.h"


#define COLUMNS  8


/* an answer of one row; a value that is NULL is an SQL NULL */

typedef struct {
    sm_sql_t      sql;
    const char   *names[COLUMNS];
    const char   *values[COLUMNS];
    unsigned      bad;              /* a column of another type; 0: none */
} fake_t;


static int
fake_column(sm_sql_t *sql, unsigned column, char *name, size_t size)
{
    fake_t  *f = (fake_t *) sql;

    if (column >= COLUMNS || f->names[column] == NULL) {
        return -1;
    }

    (void) snprintf(name, size, "%s", f->names[column]);

    return 0;
}


static int
fake_is_type(sm_sql_t *sql, unsigned column, char type)
{
    (void) type;

    return ((fake_t *) sql)->bad == 0 || ((fake_t *) sql)->bad != column;
}


static int
fake_is_null(sm_sql_t *sql, unsigned column)
{
    return ((fake_t *) sql)->values[column] == NULL;
}


static int64_t
fake_int(sm_sql_t *sql, unsigned column)
{
    return fake_is_null(sql, column)
           ? 0 : strtoll(((fake_t *) sql)->values[column], NULL, 10);
}


static int
fake_text(sm_sql_t *sql, sm_call_t *call, unsigned column, sm_str_t *s)
{
    sm_str_t  none = sm_null_str;

    (void) call;

    *s = fake_is_null(sql, column) ? none
                                   : sm_str_c(((fake_t *) sql)->values[column]);

    return 0;
}


static const sm_sql_driver_t  fake_driver = {
    .name = "fake",
    .column = fake_column,
    .is_type = fake_is_type,
    .is_null = fake_is_null,
    .get_int = fake_int,
    .get_text = fake_text,
    .get_peek = fake_text,
    .get_bytes = fake_text
};


/* targets_paused: the time, and the table of a pause */

static void
fake_init(fake_t *f, sm_call_t *call)
{
    memset(call, 0, sizeof(sm_call_t));
    memset(f, 0, sizeof(fake_t));

    f->sql.driver = &fake_driver;
    f->sql.proc = SM_PROC_TARGETS_PAUSED;

    f->names[0] = "o_now";
    f->names[1] = "o_actor";
    f->names[2] = "o_since";
    f->names[3] = "o_new";
    f->names[4] = "o_submission_target";
    f->names[5] = "o_reason";

    f->values[0] = "7";
    f->values[1] = "ann";
    f->values[2] = "42";
    f->values[3] = "what a newer schema has";
    f->values[4] = "pay";
}


static void
test_read(void)
{
    fake_t      f;
    sm_call_t   call;
    sm_pause_t  p;

    fake_init(&f, &call);

    ok(sm_row_columns(&f.sql, &call) == 0, "the columns are there");
    ok(sm_row_has(&f.sql, sm_pause_fields), "the row has an entity");
    ok(sm_row_read(&f.sql, &call, sm_pause_fields, &p) == 0, "it is read");

    is_mem(p.target.data, p.target.len, "pay", 3, "a text");
    is_mem(p.actor.data, p.actor.len, "ann", 3, "a text of a later field");
    ok(p.reason.data == NULL, "NULL is a text without data");
    ok(p.since == 42, "a time");
    ok(sm_sql_int(&f.sql, 0) == 7, "the procedure's own column is the first");

    f.values[4] = NULL;
    ok(!sm_row_has(&f.sql, sm_pause_fields), "a row without an entity");
}


static void
test_refused(void)
{
    fake_t     f;
    sm_call_t  call;

    fake_init(&f, &call);
    f.names[5] = "o_because";

    ok(sm_row_columns(&f.sql, &call) == -1 && call.status == SM_STORE_SCHEMA,
       "a column is missing");
    ok(strstr(call.error, "submission_targets_paused gives no column")
       && strstr(call.error, "(reason)"), "it is named: %s", call.error);

    fake_init(&f, &call);
    f.bad = 2;

    ok(sm_row_columns(&f.sql, &call) == -1 && call.status == SM_STORE_SCHEMA,
       "a column is of another type");
    ok(strstr(call.error, "column 3 (since) of submission_targets_paused"),
       "it is named: %s", call.error);
}


int
main(void)
{
    test_read();
    test_refused();

    return done_testing();
}
