
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <openssl/evp.h>

#include "sm_search.h"
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


void
sm_store_done(sm_store_t *store)
{
    sm_conn_t  *conn;

    while ((conn = store->idle) != NULL) {
        store->idle = conn->next;
        store->ops->close(conn);
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
sm_store_schema_check(sm_call_t *call, const char *store, int64_t version,
    int64_t compatible_from)
{
    if (version < SM_SCHEMA_VERSION) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: schema version is %lld, and this module needs "
                            "%d: run sql/install.sh of its release", store,
                            (long long) version, SM_SCHEMA_VERSION);
    }

    if (compatible_from > SM_SCHEMA_VERSION) {
        return sm_call_fail(call, SM_STORE_SCHEMA, 0,
                            "%s: schema version is %lld, and needs a module of "
                            "version %lld or later: this one is of %d", store,
                            (long long) version, (long long) compatible_from,
                            SM_SCHEMA_VERSION);
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
    (void) pthread_cond_signal(&store->cond);

    (void) pthread_mutex_unlock(&store->mutex);
}


/*
 * Takes an idle connection, or the right to open one.  -1: neither became
 * available for as long as a call may take.
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

    while (store->failing && store->logins && store->refused == refused) {
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

    sm_store_login_end(store, call, conn);

    return conn;
}


static sm_conn_t *
sm_store_get_conn(sm_store_t *store, sm_call_t *call)
{
    sm_conn_t  *conn;

    call->status = SM_STORE_OK;
    call->unreached = 1;

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


/* the idle connections are lost for the same reason */

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


static int
sm_store_put_conn(sm_store_t *store, sm_call_t *call, sm_conn_t *conn)
{
    unsigned  lost;

    if (call->status != SM_STORE_OK && call->status != SM_STORE_LEASE_LOST) {

        lost = conn->lost;
        call->unreached = lost;
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


/* the functions that are one operation on one connection */

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


/* rows that are written in one transaction, or else in smaller ones */

typedef struct sm_store_batch_s  sm_store_batch_t;

struct sm_store_batch_s {
    const sm_store_ops_t  *ops;
    sm_conn_t             *conn;
    sm_call_t             *call;
    const sm_fence_t      *fence;

    union {
        sm_submit_row_t   *submit;
        sm_begin_row_t    *begin;
        sm_complete_row_t *complete;
        sm_inbox_row_t    *inbox;
    } rows;

    size_t                 max_payload; /* of the inbox */

    int                  (*write)(sm_store_batch_t *batch, size_t first,
                              size_t n);
    void                 (*refuse)(sm_store_batch_t *batch, size_t i);

    unsigned               begun;       /* the first transaction is open */
};


static void
sm_store_batch(sm_store_batch_t *batch, sm_store_t *store, sm_conn_t *conn,
    sm_call_t *call, const sm_fence_t *fence)
{
    memset(batch, 0, sizeof(sm_store_batch_t));

    batch->ops = store->ops;
    batch->conn = conn;
    batch->call = call;
    batch->fence = fence;
}


/*
 * A row that the store refuses must not fail the other rows, so the batch is
 * halved until that row is alone.
 */

static int
sm_store_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    size_t  half;

    if (batch->write(batch, first, n) == 0) {
        return 0;
    }

    if (batch->call->status != SM_STORE_CONSTRAINT) {
        return -1;
    }

    batch->call->status = SM_STORE_OK;

    if (n == 1) {
        batch->refuse(batch, first);
        return batch->call->status == SM_STORE_OK ? 0 : -1;
    }

    half = n / 2;

    if (sm_store_write(batch, first, half) != 0) {
        return -1;
    }

    return sm_store_write(batch, first + half, n - half);
}


static int
sm_store_submit_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    if (!batch->begun && batch->ops->begin_write(batch->conn, batch->call) != 0)
    {
        return -1;
    }

    batch->begun = 0;

    return batch->ops->intents_submit(batch->conn, batch->call,
                                      batch->rows.submit + first, n);
}


static void
sm_store_submit_refuse(sm_store_batch_t *batch, size_t i)
{
    batch->rows.submit[i].outcome = SM_SUBMIT_FAILED;
}


int
sm_store_intents_submit(sm_store_t *store, sm_call_t *call,
    sm_store_take_pt take, void *data)
{
    size_t            n;
    sm_conn_t        *conn;
    sm_store_batch_t  batch;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    sm_store_batch(&batch, store, conn, call, NULL);

    batch.write = sm_store_submit_write;
    batch.refuse = sm_store_submit_refuse;
    batch.begun = 1;

    if (store->ops->begin_write(conn, call) == 0
        && take(data, call, &batch.rows.submit, &n) == 0
        && sm_store_hash(store, call, batch.rows.submit, n) == 0)
    {
        (void) sm_store_write(&batch, 0, n);
    }

    return sm_store_put_conn(store, call, conn);
}


int
sm_store_intent_history(sm_store_t *store, sm_call_t *call,
    sm_history_row_t *rows, size_t n)
{
    size_t      i;
    sm_conn_t  *conn;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        rows[i].events.id = rows[i].id;
        rows[i].events.n = 0;

        if (store->ops->intent_history(conn, call, &rows[i]) != 0) {
            break;
        }

        /* nobody is told before its end */

        if (rows[i].found && rows[i].intent.completed_at
            && store->ops->intent_events(conn, call, &rows[i].events) != 0)
        {
            break;
        }
    }

    return sm_store_put_conn(store, call, conn);
}


/*
 * The intents are read after their keys were found, so one may have gone, or
 * have got another status, since then.  The page is that much shorter.
 */

static int
sm_store_search(sm_store_t *store, sm_conn_t *conn, sm_call_t *call,
    sm_list_row_t *row)
{
    size_t         i, n;
    sm_key_t      *keys;
    sm_get_row_t  *rows;

    row->n = 0;
    row->more = 0;

    keys = sm_arena_calloc(&call->arena, row->limit + 1, sizeof(sm_key_t));
    rows = sm_arena_calloc(&call->arena, row->limit, sizeof(sm_get_row_t));
    row->intents = sm_arena_calloc(&call->arena, row->limit,
                                   sizeof(sm_intent_t));

    if (keys == NULL || rows == NULL || row->intents == NULL) {
        return sm_call_fail(call, SM_STORE_TRANSIENT, 0, "out of memory");
    }

    if (store->ops->intents_search(conn, call, row, keys, &n) != 0) {
        return -1;
    }

    if (n > row->limit) {
        n = row->limit;
        row->more = 1;
        row->next_at = keys[n - 1].at;
        row->next_id = keys[n - 1].id;
    }

    for (i = 0; i < n; i++) {
        rows[i].id = keys[i].id;
    }

    if (n && store->ops->intents_get(conn, call, rows, n) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (rows[i].found
            && (row->status == SM_STATUS_NONE
                || row->status == rows[i].intent.status))
        {
            row->intents[row->n++] = rows[i].intent;
        }
    }

    return 0;
}


static int
sm_store_list(sm_store_t *store, sm_conn_t *conn, sm_call_t *call,
    sm_list_row_t *row)
{
    if (!sm_search_plain(row)) {
        return sm_store_search(store, conn, call, row);
    }

    if (store->ops->intents_list(conn, call, row) != 0) {
        return -1;
    }

    if (row->more && row->n) {
        row->next_at = row->intents[row->n - 1].created_at;
        row->next_id = row->intents[row->n - 1].id;
    }

    return 0;
}


int
sm_store_intents_list(sm_store_t *store, sm_call_t *call, sm_list_row_t *rows,
    size_t n)
{
    size_t      i;
    sm_conn_t  *conn;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (sm_store_list(store, conn, call, &rows[i]) != 0) {
            break;
        }
    }

    return sm_store_put_conn(store, call, conn);
}


static int
sm_store_begin_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    return batch->ops->attempts_turn(batch->conn, batch->call, batch->fence,
                                     NULL, 0, batch->rows.begin + first, n);
}


static void
sm_store_begin_refuse(sm_store_batch_t *batch, size_t i)
{
    batch->rows.begin[i].outcome = SM_BEGIN_GONE;
}


static int
sm_store_complete_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    return batch->ops->attempts_turn(batch->conn, batch->call, batch->fence,
                                     batch->rows.complete + first, n, NULL, 0);
}


static void
sm_store_complete_refuse(sm_store_batch_t *batch, size_t i)
{
    batch->rows.complete[i].applied = 0;
    batch->rows.complete[i].next_attempt_at = 0;
}


/* one after the other, each in as many transactions as it takes */

static int
sm_store_turn_apart(sm_store_batch_t *batch, sm_complete_row_t *ended,
    size_t nended, sm_begin_row_t *due, size_t ndue)
{
    batch->call->status = SM_STORE_OK;

    if (nended) {
        batch->rows.complete = ended;
        batch->write = sm_store_complete_write;
        batch->refuse = sm_store_complete_refuse;

        if (sm_store_write(batch, 0, nended) != 0) {
            return -1;
        }
    }

    if (ndue == 0) {
        return 0;
    }

    batch->rows.begin = due;
    batch->write = sm_store_begin_write;
    batch->refuse = sm_store_begin_refuse;

    return sm_store_write(batch, 0, ndue);
}


int
sm_store_attempts_turn(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *ended, size_t nended,
    sm_begin_row_t *due, size_t ndue)
{
    sm_conn_t        *conn;
    sm_store_batch_t  batch;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    if (store->ops->attempts_turn(conn, call, fence, ended, nended, due, ndue)
        != 0
        && call->status == SM_STORE_CONSTRAINT)
    {
        sm_store_batch(&batch, store, conn, call, fence);

        (void) sm_store_turn_apart(&batch, ended, nended, due, ndue);
    }

    return sm_store_put_conn(store, call, conn);
}


int
sm_store_attempts_begin(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n)
{
    return sm_store_attempts_turn(store, call, fence, NULL, 0, rows, n);
}


int
sm_store_attempts_complete(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *rows, size_t n)
{
    return sm_store_attempts_turn(store, call, fence, rows, n, NULL, 0);
}


static int
sm_store_inbox_write(sm_store_batch_t *batch, size_t first, size_t n)
{
    return batch->ops->inbox_move(batch->conn, batch->call, batch->fence,
                                  batch->max_payload,
                                  batch->rows.inbox + first, n);
}


/* the row itself does not cross to the store again */

static void
sm_store_inbox_refuse(sm_store_batch_t *batch, size_t i)
{
    sm_inbox_row_t  *row;

    row = &batch->rows.inbox[i];

    sm_inbox_refuse(row, "internal_error", "the store refused the data");

    if (sm_store_inbox_write(batch, i, 1) != 0
        && batch->call->status == SM_STORE_CONSTRAINT)
    {
        batch->call->status = SM_STORE_OK;
        row->outcome = SM_INBOX_LEFT;
    }
}


int
sm_store_inbox_move(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, size_t max_payload, sm_inbox_row_t *rows,
    size_t n)
{
    size_t            i;
    sm_conn_t        *conn;
    sm_store_batch_t  batch;

    conn = sm_store_get_conn(store, call);
    if (conn == NULL) {
        return -1;
    }

    for (i = 0; i < n && call->status == SM_STORE_OK; i++) {
        if (rows[i].reason.data == NULL) {
            (void) sm_store_hash(store, call, &rows[i].submit, 1);
        }
    }

    if (call->status == SM_STORE_OK) {
        sm_store_batch(&batch, store, conn, call, fence);

        batch.rows.inbox = rows;
        batch.max_payload = max_payload;
        batch.write = sm_store_inbox_write;
        batch.refuse = sm_store_inbox_refuse;

        (void) sm_store_write(&batch, 0, n);
    }

    return sm_store_put_conn(store, call, conn);
}
