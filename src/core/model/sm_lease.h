
/*
 * The lease, and the instances that want it.
 */

#ifndef SM_LEASE_H
#define SM_LEASE_H


#include "sm_field.h"
#include "sm_json.h"


/*
 * The holder and the epoch against which every write of an executor is checked.
 */

typedef struct {
    sm_str_t          holder;
    int64_t           epoch;
} sm_fence_t;


/* Times are microseconds since 1970 by the store's clock. */

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

extern const sm_field_t  sm_lease_fields[];

/*
 * The URL at which the holder is woken: one more column beside those of the
 * lease, read into an sm_str_t.
 */
extern const sm_field_t  sm_watch_fields[];


typedef struct {
    sm_str_t          holder;
    sm_str_t          role;
    sm_str_t          version;
    sm_str_t          wake_url;     /* where it is woken, or no data */
    int64_t           started_at;
    int64_t           heartbeat_at;
    int64_t           expires_at;
} sm_candidate_t;

extern const sm_field_t  sm_candidate_fields[];


typedef struct {
    sm_lease_t        lease;
    sm_candidate_t   *candidates;
    size_t            n;
} sm_cluster_t;


/*
 * Writes the cluster as HTTP shows it; "self" is the instance that was asked.
 */
void sm_cluster_out(sm_out_t *out, const sm_cluster_t *cluster, sm_str_t self);


#endif /* SM_LEASE_H */
