
#include "sm_lease.h"


const sm_field_t  sm_lease_fields[] = {
    sm_field(sm_lease_t, holder,
             "holder_id", TEXT, "holderId", SM_FIELD_ALWAYS),
    sm_field(sm_lease_t, epoch,
             "lease_epoch", INT, "leaseEpoch", SM_FIELD_ALWAYS),
    sm_field(sm_lease_t, acquired_at,
             "acquired_at", TIME, "acquiredAt", SM_FIELD_ALWAYS),
    sm_field(sm_lease_t, renewed_at,
             "renewed_at", TIME, "renewedAt", SM_FIELD_ALWAYS),
    sm_field(sm_lease_t, expires_at,
             "expires_at", TIME, "expiresAt", SM_FIELD_ALWAYS),
    sm_null_field
};


const sm_field_t  sm_watch_fields[] = {

    { "wake_url", SM_FIELD_TEXT, 0,
      NULL, 0, NULL },

    sm_null_field
};


const sm_field_t  sm_candidate_fields[] = {
    sm_field(sm_candidate_t, holder,
             "candidate_holder_id", TEXT, "holderId", SM_FIELD_ALWAYS),
    sm_field_hidden(sm_candidate_t, role, "role", TEXT),
    sm_field(sm_candidate_t, version,
             "version", TEXT, "version", SM_FIELD_ALWAYS),
    sm_field(sm_candidate_t, started_at,
             "started_at", TIME, "startedAt", SM_FIELD_ALWAYS),
    sm_field(sm_candidate_t, heartbeat_at,
             "heartbeat_at", TIME, "heartbeatAt", SM_FIELD_ALWAYS),
    sm_field_hidden(sm_candidate_t, expires_at, "candidate_expires_at", TIME),
    sm_null_field
};


static int
sm_lease_unexpired(const sm_lease_t *lease)
{
    return lease->exists && lease->expires_at > lease->now;
}


/* The row of the lease decides, not what an instance has last reported. */

static const char *
sm_lease_role(const sm_lease_t *lease, sm_str_t holder)
{
    return sm_lease_unexpired(lease) && sm_str_eq(lease->holder, holder)
           ? "leader" : "follower";
}


static void
sm_lease_out(sm_out_t *out, const sm_lease_t *lease)
{
    sm_out_c(out, "{");
    sm_out_fields(out, sm_lease_fields, lease);
    sm_out_c(out, ",\"expired\":");
    sm_out_c(out, sm_lease_unexpired(lease) ? "false" : "true");
    sm_out_c(out, "}");
}


void
sm_cluster_out(sm_out_t *out, const sm_cluster_t *cluster, sm_str_t self)
{
    size_t                 i;
    const sm_field_t      *rest;
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

        sm_out_c(out, i ? ",{" : "{");
        rest = sm_out_fields_to(out, sm_candidate_fields, c, "role");
        sm_out_c(out, ",\"role\":\"");
        sm_out_c(out, sm_lease_role(&cluster->lease, c->holder));
        sm_out_c(out, "\"");
        sm_out_fields(out, rest, c);
        sm_out_c(out, "}");
    }

    sm_out_c(out, "]}");
}
