
/*
 * Reads the rows of an answer by the tables of entities.
 *
 * A procedure's own columns come first, at fixed places.  The columns of its
 * entities are found by name in the first answer of a connection, which then
 * remembers their places.
 */

#include <stdio.h>

#include "sm_store_sql.h"


#define SM_ROW_NAME  64             /* significant bytes of a column's name */


static const char  sm_row_letters[] = {
    [SM_FIELD_TEXT] = 't',
    [SM_FIELD_TRACE] = 't',
    [SM_FIELD_LINES] = 't',
    [SM_FIELD_BYTES] = 'b',
    [SM_FIELD_INT] = 'i',
    [SM_FIELD_TIME] = 'i',
    [SM_FIELD_BOOL] = 'i',
    [SM_FIELD_NAME] = 't'
};

_Static_assert(sizeof(sm_row_letters) == SM_FIELD_TYPES,
               "a letter for each type");


/*
 * Returns the field of the n-th column, or NULL if the column is the
 * procedure's own or does not exist.
 */

static const sm_field_t *
sm_row_field(const sm_proc_t *proc, unsigned n)
{
    unsigned           i, own;
    const sm_field_t  *f;

    own = strlen(proc->own);

    if (n < own) {
        return NULL;
    }

    n -= own;

    for (i = 0; i < sm_nelts(proc->fields) && proc->fields[i]; i++) {
        for (f = proc->fields[i]; f->column; f++) {
            if (n-- == 0) {
                return f;
            }
        }
    }

    return NULL;
}


char
sm_row_type(const sm_proc_t *proc, unsigned n)
{
    const sm_field_t  *f;

    if (n < strlen(proc->own)) {
        return proc->own[n];
    }

    f = sm_row_field(proc, n);

    return f ? sm_row_letters[f->type] : 0;
}


/*
 * Compares names of columns.  A result of a PostgreSQL function must not be
 * named like a column that it uses, so it may have the prefix "o_".
 */

static int
sm_row_same(const char *name, const char *column)
{
    return strcmp(name, column) == 0
           || (strncmp(name, "o_", 2) == 0 && strcmp(name + 2, column) == 0);
}


/* Returns the place of a column in the answer, or -1 if it is missing. */

static int
sm_row_find(sm_sql_t *sql, unsigned n, const sm_field_t *field)
{
    int   i;
    char  name[SM_ROW_NAME];

    if (field == NULL) {
        return sql->driver->column(sql, n, name, sizeof(name)) == 0
               ? (int) n : -1;
    }

    for (i = strlen(sm_procs[sql->proc].own);
         sql->driver->column(sql, i, name, sizeof(name)) == 0;
         i++)
    {
        if (sm_row_same(name, field->column)) {
            return i;
        }
    }

    return -1;
}


int
sm_row_columns(sm_sql_t *sql, sm_call_t *call)
{
    int                at;
    char               type;
    unsigned           n;
    const char        *column;
    const sm_proc_t   *proc;
    const sm_field_t  *field;

    if (sql->known[sql->proc]) {
        return 0;
    }

    proc = &sm_procs[sql->proc];

    for (n = 0; (type = sm_row_type(proc, n)) != 0; n++) {

        field = sm_row_field(proc, n);
        column = field ? field->column : "its own";
        at = sm_row_find(sql, n, field);

        if (at < 0 || n == SM_SQL_COLUMNS) {
            return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                                "%s: submission_%s gives no column %u (%s)",
                                sql->driver->name, proc->name, n + 1, column);
        }

        if (!sql->driver->is_type(sql, at, type)) {
            return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                                "%s: column %d (%s) of submission_%s is of "
                                "another type than was expected",
                                sql->driver->name, at + 1, column, proc->name);
        }

        sql->columns[sql->proc][n] = at;
    }

    sql->known[sql->proc] = 1;

    return 0;
}


/* Returns the number of the first column of a table of the procedure. */

static unsigned
sm_row_first(sm_sql_t *sql, const sm_field_t *fields)
{
    unsigned           n;
    const sm_proc_t   *proc;
    const sm_field_t  *f;

    proc = &sm_procs[sql->proc];
    n = strlen(proc->own);

    if (fields != proc->fields[0]) {
        for (f = proc->fields[0]; f->column; f++) {
            n++;
        }
    }

    return n;
}


int
sm_row_has(sm_sql_t *sql, const sm_field_t *fields)
{
    return !sm_sql_is_null(sql, sm_row_first(sql, fields));
}


static int
sm_row_name(sm_sql_t *sql, sm_call_t *call, unsigned column,
    const sm_field_t *field, unsigned *value)
{
    sm_str_t  name;

    if (sql->driver->get_peek(sql, call, column, &name) != 0) {
        return -1;
    }

    *value = sm_names_value(field->names, name);

    return 0;
}


int
sm_row_read(sm_sql_t *sql, sm_call_t *call, const sm_field_t *fields, void *row)
{
    int                     rc;
    char                   *p;
    const sm_field_t       *f;
    const unsigned char    *at;
    const sm_sql_driver_t  *driver;

    rc = 0;
    driver = sql->driver;
    at = &sql->columns[sql->proc][sm_row_first(sql, fields)];

    for (f = fields; f->column && rc == 0; f++, at++) {

        p = (char *) row + f->offset;

        switch (f->type) {

        case SM_FIELD_INT:
        case SM_FIELD_TIME:
            *(int64_t *) p = driver->get_int(sql, *at);
            break;

        case SM_FIELD_BOOL:
            *(unsigned *) p = driver->get_int(sql, *at) != 0;
            break;

        case SM_FIELD_NAME:
            rc = sm_row_name(sql, call, *at, f, (unsigned *) p);
            break;

        case SM_FIELD_BYTES:
            rc = driver->get_bytes(sql, call, *at, (sm_str_t *) p);
            break;

        default: /* SM_FIELD_TEXT, SM_FIELD_TRACE, SM_FIELD_LINES */
            rc = driver->get_text(sql, call, *at, (sm_str_t *) p);
        }
    }

    return rc;
}


int
sm_row_page(sm_sql_t *sql, sm_call_t *call, const sm_field_t *fields,
    void *rows, size_t size, size_t limit, size_t *n, unsigned *more)
{
    if (sm_sql_exec(sql, call) == 0) {
        while (sm_sql_fetch(sql, call) == 1) {

            if (*n == limit) {
                *more = 1;
                continue;
            }

            if (sm_row_read(sql, call, fields, (char *) rows + *n * size)
                != 0)
            {
                break;
            }

            (*n)++;
        }
    }

    return sm_sql_end(sql, call);
}
