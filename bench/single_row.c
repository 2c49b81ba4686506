
/*
 * The baseline of bench/intake: the same store and schema, one row and one
 * commit at a time, for so many seconds after the first rows, which a session may
 * take longer for.  Prints the rows per second.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "store.h"


#define SINGLE_ROW_WARM_UP  20


static double
single_row_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return ts.tv_sec + ts.tv_nsec / 1e9;
}


static int
single_row_take(void *data, sm_call_t *call, sm_submit_row_t **rows, size_t *n)
{
    (void) call;

    *rows = data;
    *n = 1;

    return 0;
}


int
main(int argc, char **argv)
{
    char                    id[64];
    long                    n;
    double                  start, now, seconds;
    sm_call_t               call;
    sm_store_t              store;
    sm_contract_t           contract;
    sm_store_conf_t         conf;
    sm_submit_row_t         row;
    volatile unsigned long  create;
    const sm_store_ops_t   *ops;

    if (argc != 3) {
        fprintf(stderr, "usage: %s <store> <seconds>\n", argv[0]);
        return 2;
    }

    create = 1;
    seconds = atof(argv[2]);

    memset(&conf, 0, sizeof(sm_store_conf_t));
    conf.lease_name = sm_str_c("bench");
    conf.create = &create;
    conf.generation = 1;
    ops = bench_store(&conf, argv[1]);

    sm_contract_init(&contract);
    contract.target = sm_str_c("sms.realtime");
    contract.gateway_type = SM_GATEWAY_SMS;
    contract.gateway_url = sm_str_c("http://127.0.0.1:9090");
    contract.policy = SM_POLICY_DEADLINE;
    contract.max_acceptance_seconds = 30;

    if (sm_store_init(&store, ops, &conf) != 0) {
        return 1;
    }

    start = 0;
    now = 0;

    for (n = -SINGLE_ROW_WARM_UP; n <= 0 || now - start < seconds; n++) {

        if (n == 0) {
            start = single_row_now();
        }

        (void) snprintf(id, sizeof(id), "single-%ld", n);

        memset(&call, 0, sizeof(sm_call_t));
        memset(&row, 0, sizeof(sm_submit_row_t));

        row.id = sm_str_c(id);
        row.contract = &contract;
        row.payload = sm_str_c("{\"to\":\"+15550100\","
                               "\"message\":\"Your code is 123456\"}");

        if (sm_store_intents_submit(&store, &call, single_row_take, &row) != 0
            || row.outcome != SM_SUBMIT_CREATED)
        {
            fprintf(stderr, "%s\n", call.error);
            return 1;
        }

        sm_arena_free(&call.arena);
        now = single_row_now();
    }

    printf("%.0f\n", n / (now - start));

    sm_store_done(&store);

    return 0;
}
