
#include "sm_lease.h"


#define SM_LEASE_FIXED      256
#define SM_CANDIDATE_FIXED  192


static int
sm_lease_unexpired(const sm_lease_t *lease)
{
    return lease->exists && lease->expires_at > lease->now;
}


/* the lease row decides, not what an instance last reported */

static const char *
sm_lease_role(const sm_lease_t *lease, sm_str_t holder)
{
    return sm_lease_unexpired(lease) && sm_str_eq(lease->holder, holder)
           ? "leader" : "follower";
}


size_t
sm_cluster_size(const sm_cluster_t *cluster, sm_str_t self)
{
    size_t  i, size;

    size = SM_LEASE_FIXED + SM_CANDIDATE_FIXED
           + sm_json_str_size(cluster->lease.holder.len)
           + sm_json_str_size(self.len);

    for (i = 0; i < cluster->n; i++) {
        size += SM_CANDIDATE_FIXED
                + sm_json_str_size(cluster->candidates[i].holder.len)
                + sm_json_str_size(cluster->candidates[i].version.len);
    }

    return size;
}


static void
sm_lease_out(sm_out_t *out, const sm_lease_t *lease)
{
    sm_out_c(out, "{\"holderId\":");
    sm_json_out_str(out, lease->holder);
    sm_out_c(out, ",\"leaseEpoch\":");
    sm_out_int(out, lease->epoch);
    sm_out_c(out, ",\"acquiredAt\":");
    sm_json_out_time(out, lease->acquired_at);
    sm_out_c(out, ",\"renewedAt\":");
    sm_json_out_time(out, lease->renewed_at);
    sm_out_c(out, ",\"expiresAt\":");
    sm_json_out_time(out, lease->expires_at);
    sm_out_c(out, ",\"expired\":");
    sm_out_c(out, sm_lease_unexpired(lease) ? "false" : "true");
    sm_out_c(out, "}");
}


void
sm_cluster_out(sm_out_t *out, const sm_cluster_t *cluster, sm_str_t self)
{
    size_t                 i;
    const sm_candidate_t  *c;

    sm_out_c(out, "{\"lease\":");

    if (cluster->lease.exists) {
        sm_lease_out(out, &cluster->lease);

    } else {
        sm_out_c(out, "null");
    }

    sm_out_c(out, ",\"instance\":{\"holderId\":");
    sm_json_out_str(out, self);
    sm_out_c(out, ",\"role\":\"");
    sm_out_c(out, sm_lease_role(&cluster->lease, self));
    sm_out_c(out, "\"},\"instances\":[");

    for (i = 0; i < cluster->n; i++) {
        c = &cluster->candidates[i];

        sm_out_c(out, i ? ",{\"holderId\":" : "{\"holderId\":");
        sm_json_out_str(out, c->holder);
        sm_out_c(out, ",\"role\":\"");
        sm_out_c(out, sm_lease_role(&cluster->lease, c->holder));
        sm_out_c(out, "\",\"version\":");
        sm_json_out_str(out, c->version);
        sm_out_c(out, ",\"startedAt\":");
        sm_json_out_time(out, c->started_at);
        sm_out_c(out, ",\"heartbeatAt\":");
        sm_json_out_time(out, c->heartbeat_at);
        sm_out_c(out, "}");
    }

    sm_out_c(out, "]}");
}
