
/*
 * The lease, and the instances that want it.
 */

#ifndef SM_LEASE_H
#define SM_LEASE_H


#include "sm_json.h"


/* the holder and epoch that every write of an executor is checked against */

typedef struct {
    sm_str_t          holder;
    int64_t           epoch;
} sm_fence_t;


/* times are microseconds since 1970 by the store's clock */

typedef struct {
    unsigned          held;         /* the call did what it was asked for */
    unsigned          exists;       /* there is a row, and it says: */
    sm_str_t          holder;
    int64_t           epoch;
    int64_t           acquired_at;
    int64_t           renewed_at;
    int64_t           expires_at;

    int64_t           now;
} sm_lease_t;


typedef struct {
    sm_str_t          holder;
    sm_str_t          role;
    sm_str_t          version;
    sm_str_t          wake_url;     /* where it is told; NULL: nowhere */
    int64_t           started_at;
    int64_t           heartbeat_at;
    int64_t           expires_at;
} sm_candidate_t;


typedef struct {
    sm_lease_t        lease;
    sm_candidate_t   *candidates;
    size_t            n;
} sm_cluster_t;


/* as many bytes as sm_cluster_out() may write; "self": who is asked */
size_t sm_cluster_size(const sm_cluster_t *cluster, sm_str_t self);
void sm_cluster_out(sm_out_t *out, const sm_cluster_t *cluster, sm_str_t self);


#endif /* SM_LEASE_H */
