
/*
 * The limits of targets, and how much of their rates is left: what a leader
 * hands over to the next one.
 *
 * A rate belongs to the whole cluster, and a target that was removed from the
 * configuration keeps its limits while intents of it are left.  So both are
 * part of the leader's document, see sm_stats.h.
 */

#ifndef SM_LIMIT_H
#define SM_LIMIT_H


#include "sm_circuit.h"
#include "sm_json.h"


#define SM_LIMITS_MAX  32768            /* bytes of the document */


/* What holds a target, besides a pause.  A number that is 0 does not. */

typedef struct {
    int64_t               rate;         /* a minute */
    int64_t               burst;
    sm_circuit_rules_t    circuit;
} sm_target_rules_t;


typedef struct {
    sm_str_t              name;
    int64_t               concurrency;  /* 0 if it has none of its own */
    sm_target_rules_t     rules;
    int64_t               units;        /* of the bucket, see sm_bucket.h */
} sm_limit_t;


/*
 * The document is an array of as many limits as fit into SM_LIMITS_MAX bytes.
 * sm_limits_parse() returns -1 if it is not such an array or there is no
 * memory; the strings are in the arena.
 */
void sm_limits_out(sm_out_t *out, const sm_limit_t *limits, size_t n);
int sm_limits_parse(sm_arena_t *arena, sm_str_t doc, sm_limit_t **limits,
    size_t *n);


#endif /* SM_LIMIT_H */
