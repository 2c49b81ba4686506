
/* The configuration of a store, and its back ends. */

#ifndef SM_STORE_CONF_H
#define SM_STORE_CONF_H


#include "sm_str.h"


/*
 * The schema version of this module.  It also works with a newer schema that
 * declares itself compatible.
 */

#define SM_SCHEMA_VERSION  1


typedef struct sm_store_ops_s   sm_store_ops_t;

extern const sm_store_ops_t  sm_store_sqlite;
extern const sm_store_ops_t  sm_store_postgres;
extern const sm_store_ops_t  sm_store_odbc;

/* Returns the back end's name, for messages. */
const char *sm_store_ops_name(const sm_store_ops_t *ops);

/*
 * Returns whether a password or a payload would cross the network to "host"
 * without encryption that was asked for.
 */
int sm_store_postgres_exposed(const char *connection, char *host, size_t size);

/*
 * Returns NULL, or what is wrong with a connection string of PostgreSQL; "why"
 * is a buffer for it.
 */
const char *sm_store_postgres_check(const char *connection, char *why,
    size_t size);


/* Returns whether the connection string has that key, ignoring case. */
int sm_store_odbc_has_key(sm_str_t connection, const char *key);

/* Returns why this password cannot be passed to the driver, or NULL. */
const char *sm_store_odbc_refuses(sm_str_t connection, sm_str_t password);


typedef struct {
    sm_str_t               lease_name;
    const char            *path;
    int64_t                busy_timeout;    /* milliseconds */

    /* Migrates an older database without making a copy first. */
    unsigned               migrate_no_copy;

    /*
     * The generation of the configuration that may create its database; it is
     * shared by all processes of the instance.  The first connection of that
     * configuration clears it, so a database that disappears later is an error
     * and not an empty store.  After a reload, workers of the old
     * configuration, which may have another store, neither create nor clear.
     */
    volatile unsigned long  *create;
    unsigned long           generation;     /* of this configuration, never 0 */

    /*
     * For database servers; times are milliseconds.  The password is kept out
     * of the connection string and of all messages.  Both strings end with a
     * zero.
     */
    sm_str_t               connection;
    sm_str_t               password;        /* no data: there is none */
    int64_t                login_timeout;
    int64_t                query_timeout;

    /*
     * The time-out of reads from the start of the table, for recovery and for
     * the queue.  They may have to pass over many dead rows; since they take
     * no locks, they may take long, and they would never succeed if each try
     * was given up early.  It is at least query_timeout.
     */
    int64_t                recover_timeout;

    unsigned               pool;            /* connections; 0: no limit */
} sm_store_conf_t;


#endif /* SM_STORE_CONF_H */
