
/*
 * What a store is made of: its back end, and the configuration of a manager.
 */

#ifndef SM_STORE_CONF_H
#define SM_STORE_CONF_H


#include "sm_str.h"


/*
 * The version that this module is written for.  It works with a newer schema,
 * too, if that says so.
 */

#define SM_SCHEMA_VERSION  1


typedef struct sm_store_ops_s   sm_store_ops_t;

extern const sm_store_ops_t  sm_store_sqlite;
extern const sm_store_ops_t  sm_store_postgres;
extern const sm_store_ops_t  sm_store_odbc;

/* for messages */
const char *sm_store_ops_name(const sm_store_ops_t *ops);

/* whether a password or a payload may cross the network to "host" as it is */
int sm_store_postgres_exposed(const char *connection, char *host, size_t size);

/* NULL, or what is wrong with a connection string of PostgreSQL, in "why" */
const char *sm_store_postgres_check(const char *connection, char *why,
    size_t size);


/* whether the connection string has a value of that name, in any case */
int sm_store_odbc_has_key(sm_str_t connection, const char *key);

/* why a driver cannot be given this password; NULL: it can */
const char *sm_store_odbc_refuses(sm_str_t connection, sm_str_t password);


typedef struct {
    sm_str_t               lease_name;
    const char            *path;
    int64_t                busy_timeout;    /* milliseconds */

    /* a database of an older version is migrated without a copy of it */
    unsigned               migrate_no_copy;

    /*
     * Shared by all processes of the instance: the configuration whose
     * database may be created.  The first connection of that configuration
     * clears it, so that a database which disappears later is an error and not
     * an empty store.  After a reload, a worker of the old configuration, which
     * may have another store, does neither.
     */
    volatile unsigned long  *create;
    unsigned long           generation;     /* this configuration; not 0 */

    /*
     * Of a database server; times are milliseconds.  The password is not in
     * the connection string, and in no message.  Both end with a zero.
     */
    sm_str_t               connection;
    sm_str_t               password;        /* no data: none */
    int64_t                login_timeout;
    int64_t                query_timeout;

    /*
     * The time-out of reads that start from the beginning, for recovery and
     * for the queue.  They may have to pass over many dead rows.  They take
     * no locks, and would never succeed if they were given up each time.  It
     * is at least query_timeout.
     */
    int64_t                recover_timeout;

    unsigned               pool;            /* connections, 0: any number */
} sm_store_conf_t;


#endif /* SM_STORE_CONF_H */
