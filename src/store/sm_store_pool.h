
/*
 * The store layer: blocking SQL, for threads.
 *
 * A worker process has one sm_store_t per manager, and any number of threads
 * may call it at once.  Each call takes an idle connection, or opens one.  It
 * gives the connection back if it succeeded or only its fence did not hold, so
 * a connection that saw an error is never used again.  If the maximum number
 * of connections is open, the call waits for one.
 *
 * A connection that was lost in the middle of a call may have left a backend
 * at work on the server: nothing ends a commit that waits for a standby.  Such
 * a backend counts as one of the pool until a later login has learned from the
 * server that it is done.  A login beyond the pool is closed again, and its
 * call fails.  So the server never has more than "pool" of our backends at
 * work, plus one that asks.
 *
 * After a failed login to a server, one login is tried at a time.  Calls that
 * wait for it fail with it, so not every call has to find out that the server
 * is down.
 *
 * Nothing is opened before the first call, because handles do not survive a
 * fork.
 */

#ifndef SM_STORE_POOL_H
#define SM_STORE_POOL_H


#include <pthread.h>

#include "sm_store_call.h"
#include "sm_store_conf.h"


typedef struct sm_store_s       sm_store_t;
typedef struct sm_conn_s        sm_conn_t;
typedef struct sm_left_s        sm_left_t;


struct sm_store_s {
    const sm_store_ops_t  *ops;
    sm_store_conf_t        conf;

    struct evp_md_st      *sha256;      /* OpenSSL's; only sm_store.c uses it */
    pthread_mutex_t        mutex;
    pthread_cond_t         cond;        /* signals a free connection */

    sm_conn_t             *idle;
    unsigned               open;        /* connections, idle or in use */
    unsigned               live;        /* of these, how many are logged in */

    /* Backends of calls that were given up; they may still be at work. */
    sm_left_t             *left;
    unsigned               nleft;

    /* After a failed login to a server, one login is tried at a time. */
    pthread_cond_t         login_cond;
    unsigned               logins;      /* how many are being tried */
    unsigned               failing;     /* the last one failed */
    unsigned               refused;     /* how many failed; the last for: */
    sm_store_class_e       refusal;
    char                   reason[SM_STORE_ERROR_SIZE];
};


int sm_store_init(sm_store_t *store, const sm_store_ops_t *ops,
    const sm_store_conf_t *conf);

/* Bounds every call from now on to "ms".  No call may be under way. */
void sm_store_hurry(sm_store_t *store, int64_t ms);

/* Returns whether there are connections that no call uses. */
int sm_store_idle(sm_store_t *store);

/* Closes everything.  The last call must have returned. */
void sm_store_done(sm_store_t *store);


#endif /* SM_STORE_POOL_H */
