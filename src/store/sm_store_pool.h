
/*
 * The store layer: blocking SQL, for threads.
 *
 * A worker process has one sm_store_t per manager.  Any number of threads may
 * call it at once.  Each call takes an idle connection, or opens one, and
 * returns it unless the call failed, so that a connection which saw an error
 * is never used again.  If the maximum number of connections is open, the call
 * waits for one.
 *
 * A connection that was lost in the middle of a call may have left something at
 * the server that is still at work: a commit that waits for a standby is ended
 * by nothing.  It counts as one of the pool until a later login has learned
 * from the server that it has ended; a login beyond the pool is closed again,
 * and its call fails.  So a server has no more than "pool" of them, and one
 * that asks.
 *
 * After a failed login to a server, one login is tried at a time.  Calls that
 * wait for it fail with it, instead of each finding out that the server is
 * down.
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

    struct evp_md_st      *sha256;      /* OpenSSL's, for sm_store.c alone */
    pthread_mutex_t        mutex;
    pthread_cond_t         cond;        /* a connection is free */

    sm_conn_t             *idle;
    unsigned               open;        /* connections, idle or in use */
    unsigned               live;        /* of these, that are logged in */

    /* calls that were given up, and may still be at work at the server */
    sm_left_t             *left;
    unsigned               nleft;

    /* logins to a server: one at a time, after one that failed */
    pthread_cond_t         login_cond;
    unsigned               logins;      /* that are being tried */
    unsigned               failing;     /* the last one failed */
    unsigned               refused;     /* so many did, the last for this: */
    sm_store_class_e       refusal;
    char                   reason[SM_STORE_ERROR_SIZE];
};


int sm_store_init(sm_store_t *store, const sm_store_ops_t *ops,
    const sm_store_conf_t *conf);

/* no call takes longer than this from now on; while there is none */
void sm_store_hurry(sm_store_t *store, int64_t ms);

/* after the last call has returned */
void sm_store_done(sm_store_t *store);


#endif /* SM_STORE_POOL_H */
