
/*
 * Targets that this instance does not have, and another live one does: its
 * configuration is newer.  The store is asked, and not the last look at the
 * instances, because what is refused for good cannot be taken back.
 */

#include "sm_store.h"
#include "sm_config.h"


static int
sm_store_elsewhere_read(sm_store_t *store, sm_call_t *call,
    sm_elsewhere_t *elsewhere)
{
    size_t        i;
    sm_cluster_t  cluster;

    memset(&cluster, 0, sizeof(sm_cluster_t));

    cluster.names_hash = elsewhere->names_hash;

    if (sm_store_cluster_get(store, call, &cluster) != 0) {
        return -1;
    }

    elsewhere->names = sm_cluster_names(&call->arena, &cluster, &elsewhere->n);

    for (i = 0; i < cluster.n && elsewhere->names == NULL; i++) {
        if (cluster.candidates[i].names.len >= SM_CONFIG_NAME_HEX) {
            return sm_call_no_memory(call);
        }
    }

    elsewhere->read = 1;

    return 0;
}


int
sm_store_elsewhere(sm_store_t *store, sm_call_t *call,
    sm_elsewhere_t *elsewhere, sm_str_t target)
{
    if (!elsewhere->read
        && sm_store_elsewhere_read(store, call, elsewhere) != 0)
    {
        return -1;
    }

    return sm_config_names_have(elsewhere->names, elsewhere->n,
                                sm_config_name(target));
}
