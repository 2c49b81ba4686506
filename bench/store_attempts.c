
/*
 * What bench/executor is bounded by: the same store and backlog, with nothing
 * sent: each intent is begun and recorded as accepted, in batches, one call
 * after the other.  Prints attempts per second, and the microseconds of CPU
 * that one takes.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "store.h"


#define ATTEMPTS_PAGE  2000


static double
attempts_clock(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return ts.tv_sec + ts.tv_nsec / 1e9;
}


static double
attempts_cpu(void)
{
    struct rusage  ru;

    (void) getrusage(RUSAGE_SELF, &ru);

    return ru.ru_utime.tv_sec + ru.ru_stime.tv_sec
           + (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}


static void
attempts_check(sm_call_t *call, int rc)
{
    if (rc != 0) {
        fprintf(stderr, "%s\n", call->error);
        exit(1);
    }
}


/*
 * A turn as the executor's: records what the turn before has begun, "rows", and
 * begins the next.  Returns how many are to be recorded then.
 */

static size_t
attempts_turn(sm_store_t *store, sm_fence_t *fence, sm_complete_row_t *rows,
    size_t nrows, sm_due_t *due, size_t n)
{
    size_t           i;
    sm_call_t        call;
    sm_begin_row_t  *begun;

    memset(&call, 0, sizeof(sm_call_t));

    begun = calloc(n ? n : 1, sizeof(sm_begin_row_t));
    if (begun == NULL) {
        exit(1);
    }

    for (i = 0; i < n; i++) {
        begun[i].id = due[i].id;
    }

    attempts_check(&call, sm_store_attempts_turn(store, &call, fence, rows,
                                                 nrows, begun, n));

    for (i = 0; i < nrows; i++) {
        if (!rows[i].applied) {
            fprintf(stderr, "not recorded\n");
            exit(1);
        }
    }

    for (i = 0; i < n; i++) {

        if (begun[i].outcome != SM_BEGIN_BEGUN) {
            fprintf(stderr, "not begun\n");
            exit(1);
        }

        memset(&rows[i], 0, sizeof(sm_complete_row_t));

        rows[i].id = due[i].id;
        rows[i].number = begun[i].number;
        rows[i].epoch = fence->epoch;
        rows[i].holder = fence->holder;
        rows[i].started_at = call.now;
        rows[i].finished_at = call.now;
        rows[i].outcome = SM_OUTCOME_ACCEPTED;
        rows[i].status = SM_STATUS_ACCEPTED;
        rows[i].untold = 1;
    }

    free(begun);
    sm_arena_free(&call.arena);

    return n;
}


int
main(int argc, char **argv)
{
    long                    total, batch, i, n;
    size_t                  nrows;
    double                  start, cpu;
    sm_due_t               *due;
    sm_call_t               call;
    sm_page_t               page;
    sm_lease_t              lease;
    sm_store_t              store;
    sm_fence_t              fence;
    sm_store_conf_t         conf;
    volatile unsigned long  create;
    sm_complete_row_t      *rows;
    const sm_store_ops_t   *ops;

    if (argc != 4) {
        fprintf(stderr, "usage: %s <store> <attempts> <batch>\n", argv[0]);
        return 2;
    }

    create = 0;
    total = atol(argv[2]);
    batch = atol(argv[3]);

    memset(&conf, 0, sizeof(sm_store_conf_t));
    conf.lease_name = sm_str_c("submission-manager-executor");
    conf.create = &create;
    conf.generation = 1;
    ops = bench_store(&conf, argv[1]);

    memset(&call, 0, sizeof(sm_call_t));
    memset(&lease, 0, sizeof(sm_lease_t));

    if (sm_store_init(&store, ops, &conf) != 0) {
        return 1;
    }

    fence.holder = sm_str_c("bench");

    attempts_check(&call, sm_store_lease_acquire(&store, &call, fence.holder,
                                                 3600000, &lease));
    fence.epoch = lease.epoch;

    /* the whole queue first */

    due = calloc(total + ATTEMPTS_PAGE, sizeof(sm_due_t));
    if (due == NULL) {
        return 1;
    }

    memset(&page, 0, sizeof(sm_page_t));
    n = 0;

    do {
        page.order = SM_PAGE_MODIFIED;
        page.limit = ATTEMPTS_PAGE;
        page.after_at = n ? due[n - 1].at : 0;
        page.after_id = n ? due[n - 1].id : sm_str_c("");

        attempts_check(&call, sm_store_queue_page(&store, &call, &fence,
                                                  &page));

        memcpy(due + n, page.rows, page.n * sizeof(sm_due_t));
        n += page.n;

    } while (page.n == page.limit && n < total);

    total = n < total ? n : total;

    start = attempts_clock();
    cpu = attempts_cpu();

    rows = calloc(batch, sizeof(sm_complete_row_t));
    if (rows == NULL) {
        return 1;
    }

    nrows = 0;

    for (i = 0; i < total; i += batch) {
        nrows = attempts_turn(&store, &fence, rows, nrows, due + i,
                              total - i < batch ? total - i : batch);
    }

    (void) attempts_turn(&store, &fence, rows, nrows, NULL, 0);

    printf("%.0f %.1f\n", total / (attempts_clock() - start),
           (attempts_cpu() - cpu) * 1e6 / total);

    sm_store_done(&store);

    return 0;
}
