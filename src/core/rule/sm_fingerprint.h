
/*
 * The fingerprint of a configuration: a hash of each part that has to be the
 * same on all instances, see sm_config.h.
 *
 * A part is a set, in whatever order its elements come: the hash of a part is
 * the sum of those of its elements.  What differs from host to host is not in
 * it: addresses, ports, paths, logs, the store's connection, numbers of threads
 * and of connections.
 */

#ifndef SM_FINGERPRINT_H
#define SM_FINGERPRINT_H


#include "sm_config.h"
#include "sm_contract.h"
#include "sm_limit.h"
#include "sm_retention.h"
#include "sm_schedule_row.h"


typedef struct {
    uint64_t              parts[SM_CONFIG_PARTS];
    uint32_t             *names;        /* with room for all targets */
    size_t                n;
} sm_fingerprint_t;


/*
 * "keys" is a text by which the keys that sign are told apart, but not known.
 * A name in the contract with a space is that of a webhook.
 */

typedef struct {
    const sm_contract_t  *contract;
    sm_limit_t            limit;
    unsigned              events;       /* the ends that a webhook hears of */
    sm_str_t              keys;
} sm_fingerprint_target_t;


/* Times are milliseconds. */

typedef struct {
    int64_t               duration;
    int64_t               renew;
    int64_t               acquire;
    int64_t               refresh;
    int64_t               release;      /* 1: when an instance ends */
} sm_fingerprint_lease_t;


/* Each adds one element, and returns -1 without memory. */
int sm_fingerprint_target(sm_fingerprint_t *fp,
    const sm_fingerprint_target_t *target);
int sm_fingerprint_schedule(sm_fingerprint_t *fp,
    const sm_schedule_row_t *schedule);

/* These add what there is once. */
void sm_fingerprint_lease(sm_fingerprint_t *fp,
    const sm_fingerprint_lease_t *lease);
void sm_fingerprint_retention(sm_fingerprint_t *fp,
    const sm_retention_rules_t *rules);
void sm_fingerprint_inbox(sm_fingerprint_t *fp, int64_t max_payload);


#endif /* SM_FINGERPRINT_H */
