
/* The public interface of the store: all that the nginx layer may ask of it. */

#ifndef SM_STORE_H
#define SM_STORE_H


#include "sm_failures.h"
#include "sm_pause.h"
#include "sm_retention.h"
#include "sm_stats.h"
#include "sm_store_table.h"
#include "sm_store_work.h"


/*
 * The operations that are one call on one connection.  Each is a function
 * sm_store_<name>(store, call, ...) with the parameters of its row in
 * SM_STORE_OPS.
 */

#define SM_STORE_DECLARE_CALL(name, ...)                                      \
    int sm_store_##name(sm_store_t *store, sm_call_t *call                    \
        SM_STORE_PARAMS(__VA_ARGS__));

#define SM_STORE_DECLARE_OWN(name, ...)

#define SM_STORE_DECLARE(kind, name, ...)                                     \
    SM_STORE_DECLARE_##kind(name, ##__VA_ARGS__)

SM_STORE_OPS(SM_STORE_DECLARE)


#endif /* SM_STORE_H */
