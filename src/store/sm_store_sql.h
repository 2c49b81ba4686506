
/*
 * SQL calls: a driver carries out a call of SM_SQL_PROCS.  The operations that
 * read are written once on top of it, for every store.
 */

#ifndef SM_STORE_SQL_H
#define SM_STORE_SQL_H


#include "sm_store_ops.h"
#include "sm_store_procs.h"


typedef struct sm_sql_s  sm_sql_t;


typedef struct {
    char                      type;         /* of the value: see SM_SQL_PROCS */
    unsigned                  null;
    int64_t                   n;
    sm_str_t                  s;
} sm_sql_param_t;


/*
 * A driver.  exec() sends the parameters and waits for the answer.  fetch()
 * returns 1 as long as there is a row.  column() gives the name of a column of
 * the answer, and returns -1 past the last one; is_type() returns whether a
 * column has the type of this letter.  Columns count from 0.  NULL is read as
 * 0, or as a string without data.  Strings are copied into the call's arena,
 * except that the string of get_peek() is valid only until the next fetch().
 * end() must follow every exec(); it reads the rest of the answer, which may
 * contain an error.
 */

typedef struct {
    const char               *name;
    int                     (*exec)(sm_sql_t *sql, sm_call_t *call);
    int                     (*fetch)(sm_sql_t *sql, sm_call_t *call);
    int                     (*column)(sm_sql_t *sql, unsigned column,
                                 char *name, size_t size);
    int                     (*is_type)(sm_sql_t *sql, unsigned column,
                                 char type);
    int                     (*is_null)(sm_sql_t *sql, unsigned column);
    int64_t                 (*get_int)(sm_sql_t *sql, unsigned column);
    int                     (*get_text)(sm_sql_t *sql, sm_call_t *call,
                                 unsigned column, sm_str_t *s);
    int                     (*get_peek)(sm_sql_t *sql, sm_call_t *call,
                                 unsigned column, sm_str_t *s);
    int                     (*get_bytes)(sm_sql_t *sql, sm_call_t *call,
                                 unsigned column, sm_str_t *s);
    void                    (*end)(sm_sql_t *sql, sm_call_t *call);
} sm_sql_driver_t;


/* The head of every back end's connection. */

struct sm_sql_s {
    sm_conn_t                 conn;
    const sm_sql_driver_t    *driver;
    const sm_store_conf_t    *conf;

    /* The current call. */
    unsigned                  proc;
    const sm_fence_t         *fence;        /* NULL: it is not fenced */
    int64_t                   timeout;      /* milliseconds */
    unsigned                  active;
    unsigned                  n;
    sm_sql_param_t            params[SM_SQL_PARAMS];

    /* The places of each procedure's columns in its answer, once known. */
    unsigned char             known[SM_PROCS];
    unsigned char             columns[SM_PROCS][SM_SQL_COLUMNS];
};


/*
 * sm_store_sql.c
 *
 * A call is sm_sql_start(), the parameters in their order, sm_sql_exec(),
 * sm_sql_fetch() as long as it returns 1, and always sm_sql_end().  An error
 * sets the call's status, and the functions that follow do nothing then.
 */

void sm_sql_start(sm_sql_t *sql, unsigned proc);

/* Starts a call that has the time-out of a recovery. */
void sm_sql_start_recovery(sm_sql_t *sql, unsigned proc);

/* A text or a document without data is passed as NULL. */
void sm_sql_put_text(sm_sql_t *sql, sm_str_t s);
void sm_sql_put_bytes(sm_sql_t *sql, sm_str_t s);
void sm_sql_put_int(sm_sql_t *sql, int64_t value);
void sm_sql_put_no_int(sm_sql_t *sql);
void sm_sql_put_some(sm_sql_t *sql, int64_t value);     /* 0 is NULL */
void sm_sql_put_fence(sm_sql_t *sql, const sm_fence_t *fence);

int sm_sql_exec(sm_sql_t *sql, sm_call_t *call);
int sm_sql_fetch(sm_sql_t *sql, sm_call_t *call);

/* Columns are numbered in the order of the row of SM_SQL_PROCS. */
int sm_sql_is_null(sm_sql_t *sql, unsigned column);
int64_t sm_sql_int(sm_sql_t *sql, unsigned column);
int sm_sql_text(sm_sql_t *sql, sm_call_t *call, unsigned column,
    sm_str_t *s);
int sm_sql_peek(sm_sql_t *sql, sm_call_t *call, unsigned column,
    sm_str_t *s);
int sm_sql_bytes(sm_sql_t *sql, sm_call_t *call, unsigned column,
    sm_str_t *s);

int sm_sql_end(sm_sql_t *sql, sm_call_t *call);

/* Runs a call and ignores its rows. */
int sm_sql_run(sm_sql_t *sql, sm_call_t *call);

/* Ends a fenced call, and sets the error if its fence did not hold. */
int sm_sql_fenced(sm_sql_t *sql, sm_call_t *call,
    const sm_fence_t *fence);

/*
 * Fetches the next row with a value in its second column.  Returns 0 if there
 * are no more, and the call's time is known then, or -1 on errors.
 */
int sm_sql_fenced_fetch(sm_sql_t *sql, sm_call_t *call);

/* Checks that the schema is one that this module may use. */
int sm_sql_schema(sm_sql_t *sql, sm_call_t *call);

int sm_sql_no_memory(sm_call_t *call);

/* Copies a value into the call's arena.  Without data, the copy has none. */
int sm_sql_keep(sm_call_t *call, sm_str_t value, sm_str_t *s);


/*
 * sm_store_row.c
 *
 * Finds the columns of the procedure in the first answer that a connection
 * gets.  Returns -1 if one is missing or has another type.
 */
int sm_row_columns(sm_sql_t *sql, sm_call_t *call);

/* Returns the type of the n-th column of a procedure, 0 past the last one. */
char sm_row_type(const sm_proc_t *proc, unsigned n);

/*
 * Returns whether the row has an entity of that table, that is, whether its
 * first column is not NULL.
 */
int sm_row_has(sm_sql_t *sql, const sm_field_t *fields);

/* Reads the columns of one of the procedure's tables into the struct. */
int sm_row_read(sm_sql_t *sql, sm_call_t *call, const sm_field_t *fields,
    void *row);

/*
 * Runs the call, and reads up to "limit" rows by a table into structs of
 * "size" bytes; "more" says whether there was another row.
 */
int sm_row_page(sm_sql_t *sql, sm_call_t *call, const sm_field_t *fields,
    void *rows, size_t size, size_t limit, size_t *n, unsigned *more);


/* sm_store_sql_intents.c: reads the intent of a row. */
int sm_sql_intent(sm_sql_t *sql, sm_call_t *call, sm_intent_t *intent);

/*
 * sm_store_sql_attempts.c: reads the contract of a row; see
 * sm_store_contract().
 */
int sm_sql_contract(sm_sql_t *sql, sm_call_t *call, sm_contract_t *c,
    sm_str_t *refused);

/* sm_store_sql_lease.c: reads the lease of a row, and the time. */
int sm_sql_lease_row(sm_sql_t *sql, sm_call_t *call, sm_lease_t *lease);


/* The operations that read, and their slots in the table of a back end. */

#define SM_SQL_FUNCTION(kind, name, ...)                                      \
    int sm_sql_##name(sm_conn_t *conn, sm_call_t *call                        \
        SM_STORE_PARAMS(__VA_ARGS__));

#define SM_SQL_SLOT(kind, op, ...)  .op = sm_sql_##op,

SM_STORE_READS(SM_SQL_FUNCTION)


#endif /* SM_STORE_SQL_H */
