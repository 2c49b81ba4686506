
/*
 * The connections of a store, and the operations that are one call on one of
 * them.  The rules of the pool are in sm_store_pool.h; work that takes several
 * calls is in src/store/work/.
 *
 * Connections, the list of backends left at the server, and the state of
 * logins are protected by the store's mutex.  It is never held during a call
 * to the server: what needs one is taken out of the store first, and put back
 * afterwards.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <openssl/evp.h>

#include "sm_store_ops.h"


const char *
sm_store_ops_name(const sm_store_ops_t *ops)
{
    return ops->name;
}


int
sm_store_init(sm_store_t *store, const sm_store_ops_t *ops,
    const sm_store_conf_t *conf)
{
    pthread_condattr_t  attr;

    store->ops = ops;
    store->conf = *conf;
    store->idle = NULL;
    store->open = 0;
    store->live = 0;
    store->left = NULL;
    store->nleft = 0;
    store->logins = 0;
    store->failing = 0;
    store->refused = 0;

    store->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (store->sha256 == NULL) {
        return -1;
    }

    if (pthread_condattr_init(&attr) != 0
        || pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) != 0
        || pthread_cond_init(&store->cond, &attr) != 0
        || pthread_cond_init(&store->login_cond, &attr) != 0)
    {
        return -1;
    }

    (void) pthread_condattr_destroy(&attr);

    return pthread_mutex_init(&store->mutex, NULL);
}


void
sm_store_hurry(sm_store_t *store, int64_t ms)
{
    sm_store_conf_t  *conf;

    conf = &store->conf;

    conf->busy_timeout = conf->busy_timeout < ms ? conf->busy_timeout : ms;
    conf->login_timeout = conf->login_timeout < ms ? conf->login_timeout : ms;
    conf->query_timeout = conf->query_timeout < ms ? conf->query_timeout : ms;
    conf->recover_timeout = conf->recover_timeout < ms ? conf->recover_timeout
                                                       : ms;
}


int
sm_store_idle(sm_store_t *store)
{
    int  idle;

    (void) pthread_mutex_lock(&store->mutex);
    idle = store->idle != NULL;
    (void) pthread_mutex_unlock(&store->mutex);

    return idle;
}


void
sm_store_done(sm_store_t *store)
{
    sm_conn_t  *conn;
    sm_left_t  *left;

    while ((conn = store->idle) != NULL) {
        store->idle = conn->next;
        store->ops->close(conn);
    }

    while ((left = store->left) != NULL) {
        store->left = left->next;
        free(left);
    }

    EVP_MD_free(store->sha256);
    (void) pthread_cond_destroy(&store->cond);
    (void) pthread_cond_destroy(&store->login_cond);
    (void) pthread_mutex_destroy(&store->mutex);
}


int
sm_call_fail(sm_call_t *call, sm_store_class_e status, int code,
    const char *fmt, ...)
{
    va_list  args;

    call->status = status;
    call->code = code;

    va_start(args, fmt);
    (void) vsnprintf(call->error, sizeof(call->error), fmt, args);
    va_end(args);

    return -1;
}


int
sm_call_no_memory(sm_call_t *call)
{
    return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
}


void
sm_call_warn(sm_call_t *call, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    (void) vsnprintf(call->error, sizeof(call->error), fmt, args);
    va_end(args);
}


int
sm_store_schema_check(sm_call_t *call, const char *store, int own,
    int64_t version, int64_t compatible_from)
{
    if (version < own) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: schema version is %lld, and this module needs "
                            "%d: run sql/install.sh of its release", store,
                            (long long) version, own);
    }

    if (compatible_from > own) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: schema version is %lld, and needs a module of "
                            "version %lld or later: this one is of %d", store,
                            (long long) version, (long long) compatible_from,
                            own);
    }

    return 0;
}


static void
sm_store_close(sm_store_t *store, sm_conn_t *conn)
{
    if (conn) {
        store->ops->close(conn);
    }

    (void) pthread_mutex_lock(&store->mutex);

    store->open--;
    store->live -= conn != NULL && store->conf.pool;
    (void) pthread_cond_signal(&store->cond);

    (void) pthread_mutex_unlock(&store->mutex);
}


/*
 * Takes an idle connection, or the right to open one.  Returns -1 if neither
 * became available within the time that a call may take.
 */

static int
sm_store_take(sm_store_t *store, sm_conn_t **conn)
{
    int              rc;
    int64_t          ms;
    struct timespec  ts;

    rc = 0;
    ms = store->conf.login_timeout + store->conf.query_timeout;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    ts.tv_sec += ms / 1000 + 1;

    (void) pthread_mutex_lock(&store->mutex);

    while (store->idle == NULL && store->conf.pool
           && store->open >= store->conf.pool && rc == 0)
    {
        rc = pthread_cond_timedwait(&store->cond, &store->mutex, &ts);
    }

    *conn = store->idle;

    if (*conn) {
        store->idle = (*conn)->next;
        rc = 0;

    } else if (store->conf.pool == 0 || store->open < store->conf.pool) {
        store->open++;
        rc = 0;
    }

    (void) pthread_mutex_unlock(&store->mutex);

    return rc == 0 ? 0 : -1;
}


static int
sm_store_login_begin(sm_store_t *store, sm_call_t *call)
{
    unsigned  refused;

    (void) pthread_mutex_lock(&store->mutex);

    refused = store->refused;

    while ((store->failing || store->nleft) && store->logins
           && store->refused == refused)
    {
        (void) pthread_cond_wait(&store->login_cond, &store->mutex);
    }

    if (store->refused != refused) {
        (void) sm_call_fail(call, store->refusal, 0, "%s", store->reason);

    } else {
        store->logins++;
    }

    (void) pthread_mutex_unlock(&store->mutex);

    return call->status == SM_STORE_OK ? 0 : -1;
}


static void
sm_store_login_end(sm_store_t *store, sm_call_t *call, sm_conn_t *conn)
{
    (void) pthread_mutex_lock(&store->mutex);

    store->logins--;
    store->failing = conn == NULL;

    if (conn == NULL) {
        store->refused++;
        store->refusal = call->status;
        (void) memcpy(store->reason, call->error, sizeof(store->reason));
    }

    (void) pthread_cond_broadcast(&store->login_cond);

    (void) pthread_mutex_unlock(&store->mutex);
}


int
sm_store_ask_none(sm_conn_t *conn, sm_call_t *call, sm_left_t *left)
{
    (void) conn;
    (void) call;
    (void) left;

    return 0;
}


/*
 * Remembers the backend of a lost connection whose call was given up, because
 * it may still be at work.
 */

static void
sm_store_leave(sm_store_t *store, sm_conn_t *conn)
{
    sm_left_t  *left;

    if (store->conf.pool == 0 || conn->backend.pid == 0) {
        return;
    }

    left = malloc(sizeof(sm_left_t));

    if (left == NULL) {
        return;
    }

    left->backend = conn->backend;
    left->at_work = 1;

    (void) pthread_mutex_lock(&store->mutex);

    left->next = store->left;
    store->left = left;
    store->nleft++;

    (void) pthread_mutex_unlock(&store->mutex);
}


/* Keeps the backends that are still at work, and forgets the others. */

static void
sm_store_left(sm_store_t *store, sm_left_t *left)
{
    sm_left_t  *next;

    for ( /* void */ ; left; left = next) {
        next = left->next;

        if (left->at_work) {
            left->next = store->left;
            store->left = left;
            continue;
        }

        store->nleft--;
        free(left);
    }
}


/*
 * Counts a new connection as open, unless it and the backends that were left
 * are more than the pool allows.
 */

static int
sm_store_admit(sm_store_t *store, sm_call_t *call, sm_conn_t *conn)
{
    int         rc;
    unsigned    n;
    sm_left_t  *left;

    (void) pthread_mutex_lock(&store->mutex);

    left = store->left;
    store->left = NULL;

    (void) pthread_mutex_unlock(&store->mutex);

    rc = left ? store->ops->ask(conn, call, left) : 0;

    (void) pthread_mutex_lock(&store->mutex);

    sm_store_left(store, left);
    n = store->nleft;

    if (rc == 0 && n && store->live + 1 + n > store->conf.pool) {
        rc = sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                          "all %u connections are in use: the server is still "
                          "at work on %u calls that were given up, maybe for "
                          "want of a synchronous standby", store->conf.pool, n);
    }

    store->live += rc == 0;

    (void) pthread_mutex_unlock(&store->mutex);

    return rc;
}


static sm_conn_t *
sm_store_open(sm_store_t *store, sm_call_t *call)
{
    sm_conn_t  *conn;

    if (store->conf.pool == 0) {
        return store->ops->open(&store->conf, call);
    }

    if (sm_store_login_begin(store, call) != 0) {
        return NULL;
    }

    conn = store->ops->open(&store->conf, call);

    if (conn && sm_store_admit(store, call, conn) != 0) {
        store->ops->close(conn);
        conn = NULL;
    }

    sm_store_login_end(store, call, conn);

    return conn;
}


sm_conn_t *
sm_store_get_conn(sm_store_t *store, sm_call_t *call)
{
    sm_conn_t  *conn;

    call->status = SM_STORE_OK;
    call->asked = 1;
    call->unreached = 1;
    call->read_only = 0;

    for ( ;; ) {
        if (sm_store_take(store, &conn) != 0) {
            (void) sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                                "all %u connections are in use",
                                store->conf.pool);
            return NULL;
        }

        if (conn == NULL) {
            conn = sm_store_open(store, call);

            if (conn == NULL) {
                sm_store_close(store, NULL);
                return NULL;
            }

            call->unreached = 0;
            return conn;
        }

        if (store->ops->usable(conn)) {
            call->unreached = 0;
            return conn;
        }

        sm_store_close(store, conn);
    }
}


/* Closes the idle connections, which a failed server has lost as well. */

static void
sm_store_close_idle(sm_store_t *store)
{
    sm_conn_t  *conn, *next;

    (void) pthread_mutex_lock(&store->mutex);

    conn = store->idle;
    store->idle = NULL;

    (void) pthread_mutex_unlock(&store->mutex);

    for ( /* void */ ; conn; conn = next) {
        next = conn->next;
        sm_store_close(store, conn);
    }
}


int
sm_store_put_conn(sm_store_t *store, sm_call_t *call, sm_conn_t *conn)
{
    unsigned  lost;

    if (call->status != SM_STORE_OK && call->status != SM_STORE_LEASE_LOST) {

        lost = conn->lost;
        call->unreached = lost;

        if (lost) {
            sm_store_leave(store, conn);
        }

        sm_store_close(store, conn);

        if (lost) {
            sm_store_close_idle(store);
        }

        return -1;
    }

    (void) pthread_mutex_lock(&store->mutex);

    conn->next = store->idle;
    store->idle = conn;

    (void) pthread_cond_signal(&store->cond);
    (void) pthread_mutex_unlock(&store->mutex);

    return call->status == SM_STORE_OK ? 0 : -1;
}


/* Defines the functions that are one operation on one connection. */

#define SM_STORE_CALL(name, ...)                                              \
                                                                              \
int                                                                           \
sm_store_##name(sm_store_t *store, sm_call_t *call                            \
    SM_STORE_PARAMS(__VA_ARGS__))                                             \
{                                                                             \
    sm_conn_t  *conn;                                                         \
                                                                              \
    conn = sm_store_get_conn(store, call);                                    \
    if (conn == NULL) {                                                       \
        return -1;                                                            \
    }                                                                         \
                                                                              \
    (void) store->ops->name(conn, call SM_STORE_ARGS(__VA_ARGS__));           \
                                                                              \
    return sm_store_put_conn(store, call, conn);                              \
}

#define SM_STORE_OWN(name, ...)

#define SM_STORE_FUNCTION(kind, name, ...)                                    \
    SM_STORE_##kind(name, ##__VA_ARGS__)

SM_STORE_OPS(SM_STORE_FUNCTION)


int
sm_store_hash(sm_store_t *store, sm_call_t *call, sm_submit_row_t *rows,
    size_t n)
{
    static const char  hex[] = "0123456789abcdef";

    int             ok;
    size_t          i;
    unsigned        k, len;
    EVP_MD_CTX     *ctx;
    unsigned char   md[EVP_MAX_MD_SIZE];

    ctx = EVP_MD_CTX_new();
    ok = ctx != NULL;

    for (i = 0; ok && i < n; i++) {
        ok = EVP_DigestInit_ex(ctx, store->sha256, NULL)
             && EVP_DigestUpdate(ctx, rows[i].payload.data, rows[i].payload.len)
             && EVP_DigestFinal_ex(ctx, md, &len);

        for (k = 0; ok && k < len; k++) {
            rows[i].hash[2 * k] = hex[md[k] >> 4];
            rows[i].hash[2 * k + 1] = hex[md[k] & 0xf];
        }
    }

    EVP_MD_CTX_free(ctx);

    return ok ? 0 : sm_call_fail(call, SM_STORE_PERMANENT, 0, "SHA-256 failed");
}


int
sm_store_text_hash(sm_store_t *store, sm_call_t *call, sm_str_t s, char *hash)
{
    sm_submit_row_t  row;

    row.payload = s;

    if (sm_store_hash(store, call, &row, 1) != 0) {
        return -1;
    }

    (void) memcpy(hash, row.hash, SM_JOB_HASH);

    return 0;
}
