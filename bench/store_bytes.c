
/*
 * What bench/bytes counts: intents that are posted in batches, by the functions
 * that nginx calls, or a backlog of which each is begun and recorded as
 * accepted, in turns.  Prints what this process has written, in bytes and
 * writes: that is the store, if it is SQLite.
 */

#include <stdio.h>
#include <stdlib.h>

#include "store.h"


#define BYTES_BATCH  128
#define BYTES_LEASE  "submission-manager-executor"


typedef struct {
    sm_submit_row_t  *rows;
    size_t            n;
} bytes_batch_t;


static void
bytes_check(sm_call_t *call, int rc)
{
    if (rc != 0) {
        fprintf(stderr, "%s\n", call->error);
        exit(1);
    }
}


/* wchar and syscw: what went to write() and the like, and how often */

static void
bytes_written(long long *bytes, long long *writes)
{
    char   line[128];
    FILE  *io;

    io = fopen("/proc/self/io", "r");
    if (io == NULL) {
        perror("/proc/self/io");
        exit(1);
    }

    while (fgets(line, sizeof(line), io)) {
        (void) sscanf(line, "wchar: %lld", bytes);
        (void) sscanf(line, "syscw: %lld", writes);
    }

    (void) fclose(io);
}


static int
bytes_take(void *data, sm_call_t *call, sm_submit_row_t **rows, size_t *n)
{
    bytes_batch_t  *batch = data;

    (void) call;

    *rows = batch->rows;
    *n = batch->n;

    return 0;
}


/*
 * Ids look like those of uuidgen, or, in their order, like UUIDs of version 7.
 * They are the same in each run.
 */

static void
bytes_id(char id[37], long n, int ordered)
{
    uint64_t  a, b;

    if (ordered) {
        (void) snprintf(id, 37, "0199c0de-%04lx-7%03lx-8000-0123456789ab",
                        (n >> 12) & 0xffff, n & 0xfff);
        return;
    }

    a = ((uint64_t) n + 1) * 0x9e3779b97f4a7c15;
    a = (a ^ (a >> 30)) * 0xbf58476d1ce4e5b9;
    b = (a ^ (a >> 27)) * 0x94d049bb133111eb;

    (void) snprintf(id, 37, "%08x-%04x-4%03x-8%03x-%012llx",
                    (unsigned) (a >> 32), (unsigned) (a >> 16) & 0xffff,
                    (unsigned) a & 0xfff, (unsigned) b & 0xfff,
                    (unsigned long long) (b >> 16));
}


static void
bytes_post(sm_store_t *store, long count, size_t len, int ordered)
{
    long              i, n;
    char             *payload, ids[BYTES_BATCH][37];
    sm_call_t         call;
    bytes_batch_t     batch;
    sm_contract_t     contract;
    sm_submit_row_t   rows[BYTES_BATCH];

    sm_contract_init(&contract);
    contract.target = sm_str_c("sms.realtime");
    contract.gateway_type = SM_GATEWAY_SMS;
    contract.gateway_url = sm_str_c("http://127.0.0.1:9090");
    contract.policy = SM_POLICY_MAX_ATTEMPTS;
    contract.max_attempts = 5;

    /* a JSON string of which nothing compresses well */

    payload = malloc(len + 1);
    if (payload == NULL || len < 2) {
        exit(1);
    }

    for (i = 0; i < (long) len; i++) {
        payload[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                     "0123456789-_"[(random() >> 7) & 63];
    }

    payload[0] = '"';
    payload[len - 1] = '"';

    for (n = 0; n < count; n += batch.n) {

        memset(&call, 0, sizeof(sm_call_t));
        memset(rows, 0, sizeof(rows));

        batch.rows = rows;
        batch.n = count - n < BYTES_BATCH ? count - n : BYTES_BATCH;

        for (i = 0; i < (long) batch.n; i++) {
            bytes_id(ids[i], n + i, ordered);

            rows[i].id = sm_str_c(ids[i]);
            rows[i].contract = &contract;
            rows[i].payload.data = payload;
            rows[i].payload.len = len;
        }

        bytes_check(&call, sm_store_intents_submit(store, &call, bytes_take,
                                                   &batch));

        for (i = 0; i < (long) batch.n; i++) {
            if (rows[i].outcome != SM_SUBMIT_CREATED) {
                fprintf(stderr, "not created: %s\n", ids[i]);
                exit(1);
            }
        }

        sm_arena_free(&call.arena);
    }

    free(payload);
}


/* a page of the queue from its beginning: what was begun is not in it */

static size_t
bytes_page(sm_store_t *store, sm_call_t *call, sm_fence_t *fence,
    sm_begin_row_t *begun)
{
    size_t     i;
    sm_page_t  page;

    memset(&page, 0, sizeof(sm_page_t));
    page.order = SM_PAGE_MODIFIED;
    page.limit = BYTES_BATCH;
    page.after_id = sm_str_c("");

    bytes_check(call, sm_store_queue_page(store, call, fence, &page));

    memset(begun, 0, BYTES_BATCH * sizeof(sm_begin_row_t));

    for (i = 0; i < page.n; i++) {
        begun[i].id = page.rows[i].id;
    }

    return page.n;
}


static void
bytes_drain(sm_store_t *store, long count)
{
    long               done;
    size_t             i, n, nrows;
    sm_call_t          pages, call;
    sm_lease_t         lease;
    sm_fence_t         fence;
    sm_begin_row_t     begun[BYTES_BATCH];
    sm_complete_row_t  rows[BYTES_BATCH];
    char               ids[BYTES_BATCH][SM_ID_MAX * 4];

    memset(&call, 0, sizeof(sm_call_t));
    memset(&lease, 0, sizeof(sm_lease_t));

    fence.holder = sm_str_c("nginx-1.example.net:8080");

    bytes_check(&call, sm_store_lease_acquire(store, &call, fence.holder,
                                              3600000, &lease));
    fence.epoch = lease.epoch;

    done = 0;
    nrows = 0;

    do {
        memset(&pages, 0, sizeof(sm_call_t));
        memset(&call, 0, sizeof(sm_call_t));

        n = bytes_page(store, &pages, &fence, begun);

        bytes_check(&call, sm_store_attempts_turn(store, &call, &fence, rows,
                                                  nrows, begun, n));

        for (i = 0; i < nrows; i++) {
            if (!rows[i].applied) {
                fprintf(stderr, "not recorded\n");
                exit(1);
            }
        }

        done += nrows;
        memset(rows, 0, sizeof(rows));

        for (i = 0; i < n; i++) {

            if (begun[i].outcome != SM_BEGIN_BEGUN) {
                fprintf(stderr, "not begun\n");
                exit(1);
            }

            memcpy(ids[i], begun[i].id.data, begun[i].id.len);

            rows[i].id.data = ids[i];
            rows[i].id.len = begun[i].id.len;
            rows[i].number = begun[i].number;
            rows[i].epoch = fence.epoch;
            rows[i].holder = fence.holder;
            rows[i].started_at = call.now;
            rows[i].finished_at = call.now + 20000;
            rows[i].outcome = SM_OUTCOME_ACCEPTED;
            rows[i].http_status = 200;
            rows[i].status = SM_STATUS_ACCEPTED;
            rows[i].untold = 1;
        }

        nrows = n;

        sm_arena_free(&pages.arena);
        sm_arena_free(&call.arena);

    } while (nrows != 0);

    if (done != count) {
        fprintf(stderr, "%ld of %ld were recorded\n", done, count);
        exit(1);
    }
}


int
main(int argc, char **argv)
{
    long                    count;
    long long               bytes, writes, bytes_before, writes_before;
    sm_store_t              store;
    sm_store_conf_t         conf;
    volatile unsigned long  create;
    const sm_store_ops_t   *ops;

    if (argc != 6) {
        fprintf(stderr, "usage: %s <store> post|drain <intents> <payload> "
                "random|ordered\n", argv[0]);
        return 2;
    }

    create = 1;
    count = atol(argv[3]);

    memset(&conf, 0, sizeof(sm_store_conf_t));
    conf.lease_name = sm_str_c(BYTES_LEASE);
    conf.create = &create;
    conf.generation = 1;
    ops = bench_store(&conf, argv[1]);

    bytes = writes = bytes_before = writes_before = 0;
    bytes_written(&bytes_before, &writes_before);

    if (sm_store_init(&store, ops, &conf) != 0) {
        return 1;
    }

    if (strcmp(argv[2], "post") == 0) {
        bytes_post(&store, count, (size_t) atol(argv[4]),
                   strcmp(argv[5], "ordered") == 0);

    } else {
        bytes_drain(&store, count);
    }

    /* the last user of SQLite's file moves the log into it */

    sm_store_done(&store);

    bytes_written(&bytes, &writes);
    printf("%lld %lld\n", bytes - bytes_before, writes - writes_before);

    return 0;
}
