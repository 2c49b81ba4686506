
#include "sm_lease.h"


/* How late somebody may be at least, in milliseconds: a store may hesitate. */

#define SM_LEASE_LATE  3000


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
    sm_field_hidden(sm_candidate_t, config, "config", TEXT),
    sm_field_hidden(sm_candidate_t, config_since, "config_since", TIME),
    sm_field_hidden(sm_candidate_t, shared_at, "shared_at", TIME),
    sm_field_hidden(sm_candidate_t, names, "names", BYTES),
    sm_field_hidden(sm_candidate_t, events, "events", TEXT),
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


unsigned
sm_cluster_differ(const sm_cluster_t *cluster, sm_str_t config)
{
    size_t    i;
    unsigned  parts;

    for (i = 0, parts = 0; i < cluster->n; i++) {
        parts |= sm_config_differ(config, cluster->candidates[i].config);
    }

    return parts;
}


int
sm_candidate_shared(const sm_candidate_t *c, int64_t now)
{
    return c->shared_at > 0 && c->shared_at > now - SM_CANDIDATE_SHARED;
}


int
sm_lease_silent(int64_t heard, int64_t now, int64_t due)
{
    int64_t  late;

    late = due / 2 > SM_LEASE_LATE ? due / 2 : SM_LEASE_LATE;

    return heard < now - (due + late) * 1000;
}


int
sm_candidate_silent(const sm_candidate_t *c, const sm_lease_t *lease,
    const sm_beats_t *due)
{
    int64_t  heard;

    heard = c->heartbeat_at;

    if (sm_lease_unexpired(lease) && sm_str_eq(lease->holder, c->holder)) {
        heard = lease->renewed_at > heard ? lease->renewed_at : heard;

        return sm_lease_silent(heard, lease->now, due->leader);
    }

    if (sm_str_eq(c->role, sm_str_c("leader"))) {
        return sm_lease_unexpired(lease)
               || sm_lease_silent(heard, lease->now, due->leader);
    }

    return sm_lease_silent(heard, lease->now, due->follower);
}


uint32_t *
sm_cluster_names(sm_arena_t *arena, const sm_cluster_t *cluster, size_t *n)
{
    size_t     i, bytes;
    uint32_t  *names;

    for (i = 0, bytes = 0; i < cluster->n; i++) {
        bytes += cluster->candidates[i].names.len;
    }

    *n = 0;

    if (bytes < SM_CONFIG_NAME_HEX) {
        return NULL;
    }

    names = sm_arena_calloc(arena, SM_CONFIG_NAMES_ALL, sizeof(uint32_t));
    if (names == NULL) {
        return NULL;
    }

    /* most lists are the same, so each leaves room for the next one */

    for (i = 0; i < cluster->n; i++) {
        *n = sm_config_names_add(names, *n, cluster->candidates[i].names);
        *n = sm_config_names_sort(names, *n);
    }

    return names;
}


static void
sm_candidate_config_out(sm_out_t *out, sm_str_t config)
{
    if (config.data == NULL) {
        sm_out_c(out, "null");
        return;
    }

    sm_out_c(out, "\"");
    sm_config_short_out(out, config);
    sm_out_c(out, "\"");
}


static void
sm_candidate_out(sm_out_t *out, const sm_candidate_t *c,
    const sm_lease_t *lease, const sm_beats_t *due)
{
    int                silent;
    const char        *role;
    const sm_field_t  *rest;

    role = sm_lease_role(lease, c->holder);
    silent = sm_candidate_silent(c, lease, due);

    sm_out_c(out, "{");
    rest = sm_out_fields_to(out, sm_candidate_fields, c, "role");
    sm_out_c(out, ",\"role\":");

    if (silent && role[0] == 'f') {
        sm_out_c(out, "null");

    } else {
        sm_json_out_str(out, sm_str_c(role));
    }

    sm_out_fields(out, rest, c);
    sm_out_c(out, silent ? ",\"silent\":true" : ",\"silent\":false");

    sm_out_c(out, ",\"configuration\":{\"hash\":");
    sm_candidate_config_out(out, c->config);
    sm_out_c(out, ",\"since\":");

    if (c->config.data) {
        sm_json_out_time(out, c->config_since);

    } else {
        sm_out_c(out, "null");
    }

    sm_out_c(out, sm_candidate_shared(c, lease->now)
                  ? "},\"holderIdShared\":true}"
                  : "},\"holderIdShared\":false}");
}


void
sm_cluster_out(sm_out_t *out, const sm_cluster_t *cluster, sm_str_t self,
    sm_str_t config, const sm_beats_t *due)
{
    size_t    i;
    unsigned  differ;

    sm_out_c(out, "{\"lease\":");

    if (cluster->lease.exists) {
        sm_lease_out(out, &cluster->lease);

    } else {
        sm_out_c(out, "null");
    }

    differ = sm_cluster_differ(cluster, config);

    sm_out_c(out, ",\"configuration\":{\"same\":");
    sm_out_c(out, differ ? "false" : "true");
    sm_out_c(out, ",\"differs\":[");
    sm_config_parts_out(out, differ);

    sm_out_c(out, "]},\"instance\":{\"holderId\":");
    sm_json_out_str(out, self);
    sm_out_c(out, ",\"role\":\"");
    sm_out_c(out, sm_lease_role(&cluster->lease, self));
    sm_out_c(out, "\",\"configuration\":{\"hash\":");
    sm_candidate_config_out(out, config);
    sm_out_c(out, "}},\"instances\":[");

    for (i = 0; i < cluster->n; i++) {
        sm_out_c(out, i ? "," : "");
        sm_candidate_out(out, &cluster->candidates[i], &cluster->lease, due);
    }

    sm_out_c(out, "]}");
}


void
sm_cluster_events(sm_arena_t *arena, const sm_cluster_t *cluster,
    sm_feed_event_t **events, size_t *n)
{
    size_t                 i, most, found;
    sm_feed_event_t       *some;
    const sm_candidate_t  *c;

    *n = 0;
    most = 0;

    for (i = 0; i < cluster->n; i++) {
        most += cluster->candidates[i].events.len / SM_FEED_LEAST;
    }

    *events = sm_arena_calloc(arena, most + 1, sizeof(sm_feed_event_t));
    if (*events == NULL) {
        return;
    }

    for (i = 0; i < cluster->n; i++) {
        c = &cluster->candidates[i];

        if (c->events.len == 0
            || (sm_lease_unexpired(&cluster->lease)
                && sm_str_eq(cluster->lease.holder, c->holder))
            || sm_feed_doc_parse(arena, c->events, &some, &found) != 0
            || found > most - *n)
        {
            continue;
        }

        memcpy(&(*events)[*n], some, found * sizeof(sm_feed_event_t));
        *n += found;
    }

    sm_feed_sort(*events, *n);
}
