
/*
 * The store of a program: a path is SQLite's, and a connection string, its password
 * in BENCH_PASSWORD, PostgreSQL's, or, with a driver, ODBC's.
 */

#include "sm_store.h"


static inline const sm_store_ops_t *
bench_store(sm_store_conf_t *conf, const char *name)
{
    const char  *password;

    if (strchr(name, '=') == NULL) {
        conf->path = name;
        conf->busy_timeout = 5000;

        return &sm_store_sqlite;
    }

    password = getenv("BENCH_PASSWORD");

    conf->connection = sm_str_c(name);
    conf->login_timeout = 5000;
    conf->query_timeout = 60000;

    if (password) {
        conf->password = sm_str_c(password);
    }

    return strncmp(name, "Driver=", 7) == 0 ? &sm_store_odbc
                                            : &sm_store_postgres;
}
