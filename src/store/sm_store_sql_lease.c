
/*
 * Reads the lease and the instances, on any store.
 */

#include "sm_store_sql.h"


/* The columns that come before those of the entities. */

enum {
    SM_LEASE_COL_NOW = 0,
    SM_LEASE_COL_HELD
};


int
sm_sql_lease_row(sm_sql_t *sql, sm_call_t *call, sm_lease_t *lease)
{
    lease->now = sm_sql_int(sql, SM_LEASE_COL_NOW);
    call->now = lease->now;

    if (!sm_row_has(sql, sm_lease_fields)) {
        return 0;
    }

    if (sm_row_read(sql, call, sm_lease_fields, lease) != 0) {
        return -1;
    }

    lease->exists = 1;
    lease->held = sm_sql_int(sql, SM_LEASE_COL_HELD) == 1;

    return 0;
}


int
sm_sql_lease_watch(sm_conn_t *conn, sm_call_t *call, sm_lease_t *lease,
    sm_str_t *wake_url)
{
    sm_sql_t  *sql = (sm_sql_t *) conn;

    memset(lease, 0, sizeof(sm_lease_t));
    memset(wake_url, 0, sizeof(sm_str_t));

    sm_sql_start(sql, SM_PROC_LEASE_WATCH);
    sm_sql_put_text(sql, sql->conf->lease_name);

    (void) sm_sql_exec(sql, call);

    while (sm_sql_fetch(sql, call) == 1) {

        if (sm_sql_lease_row(sql, call, lease) != 0
            || sm_row_read(sql, call, sm_watch_fields, wake_url) != 0)
        {
            break;
        }
    }

    return sm_sql_end(sql, call);
}


/* Returns the next element of the array, which grows as needed. */

static sm_candidate_t *
sm_sql_candidate(sm_call_t *call, sm_cluster_t *cluster, size_t *allocated)
{
    sm_candidate_t  *old;

    if (cluster->n == *allocated) {
        *allocated = *allocated ? 2 * *allocated : 8;
        old = cluster->candidates;

        cluster->candidates = sm_arena_calloc(&call->arena, *allocated,
                                              sizeof(sm_candidate_t));
        if (cluster->candidates == NULL) {
            (void) sm_sql_no_memory(call);
            return NULL;
        }

        if (cluster->n) {
            memcpy(cluster->candidates, old,
                   cluster->n * sizeof(sm_candidate_t));
        }
    }

    return &cluster->candidates[cluster->n];
}


int
sm_sql_cluster_get(sm_conn_t *conn, sm_call_t *call, sm_cluster_t *cluster)
{
    size_t           allocated;
    sm_sql_t        *sql = (sm_sql_t *) conn;
    sm_candidate_t  *c;

    memset(&cluster->lease, 0, sizeof(sm_lease_t));
    cluster->candidates = NULL;
    cluster->n = 0;

    allocated = 0;

    sm_sql_start(sql, SM_PROC_CLUSTER_GET);
    sm_sql_put_text(sql, sql->conf->lease_name);
    sm_sql_put_text(sql, cluster->names_hash);

    (void) sm_sql_exec(sql, call);

    while (sm_sql_fetch(sql, call) == 1) {

        if (sm_sql_lease_row(sql, call, &cluster->lease) != 0) {
            break;
        }

        if (!sm_row_has(sql, sm_candidate_fields)) {
            continue;
        }

        c = sm_sql_candidate(call, cluster, &allocated);

        if (c == NULL || sm_row_read(sql, call, sm_candidate_fields, c) != 0) {
            break;
        }

        cluster->n++;
    }

    return sm_sql_end(sql, call);
}
