
/*
 * The lease, and the instances that want it.
 */

#ifndef SM_LEASE_H
#define SM_LEASE_H


#include "sm_config.h"
#include "sm_feed.h"
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


/*
 * An instance.  "key" is a number that no other instance has, even one with the
 * same holder_id by mistake; shared_at is when two such instances were last
 * seen to take turns with the row, or 0.
 *
 * The names of its targets are written only if a heartbeat says that they are
 * wanted, and read only if their hash is not the one that the reader has.
 */

typedef struct {
    sm_str_t          holder;
    sm_str_t          role;
    sm_str_t          version;
    sm_str_t          wake_url;     /* where it is woken, or no data */
    sm_str_t          events;       /* its last ones, or no data */
    int64_t           started_at;
    int64_t           heartbeat_at;
    int64_t           expires_at;

    sm_str_t          config;       /* see sm_config.h; no data: not told */
    int64_t           config_since;
    sm_str_t          names_hash;   /* for a heartbeat */
    sm_str_t          names;
    int64_t           key;          /* for a heartbeat */
    int64_t           shared_at;

    /* what a heartbeat answers */
    unsigned          wanted:1;     /* the store does not have the names */
    unsigned          shared:1;     /* another instance took a turn */
} sm_candidate_t;

/* Two instances with one holder_id are shown for so long after a turn, usec. */

#define SM_CANDIDATE_SHARED  60000000

extern const sm_field_t  sm_candidate_fields[];


/*
 * How often an instance is to be heard of, in milliseconds: a leader by its
 * renewals, or by its numbers if these come more often, any other one by its
 * heartbeats.
 */

typedef struct {
    int64_t           leader;
    int64_t           follower;
} sm_beats_t;


typedef struct {
    sm_str_t          names_hash;   /* lists with this one are not read; no
                                       data: no list is */
    sm_lease_t        lease;
    sm_candidate_t   *candidates;
    size_t            n;
} sm_cluster_t;


/*
 * Returns the parts in which any two of the instances, and the given text of
 * another one, differ, a bit for each.
 */
unsigned sm_cluster_differ(const sm_cluster_t *cluster, sm_str_t config);

/* Says whether two instances have this holder_id. */
int sm_candidate_shared(const sm_candidate_t *c, int64_t now);

/*
 * Says whether somebody who is to be heard of every "due" milliseconds, and
 * was at a time, is overdue.
 */
int sm_lease_silent(int64_t heard, int64_t now, int64_t due);

/*
 * The same of an instance of the list.  One that has led when it was last heard
 * of is silent as soon as another one has the lease.
 */
int sm_candidate_silent(const sm_candidate_t *c, const sm_lease_t *lease,
    const sm_beats_t *due);

/*
 * Returns the hashes of the names that were read, in order, or NULL if there
 * are none, or no memory.
 */
uint32_t *sm_cluster_names(sm_arena_t *arena, const sm_cluster_t *cluster,
    size_t *n);

/*
 * Writes the cluster as HTTP shows it; "self" is the instance that was asked,
 * "config" its configuration, and "due" how often others are to be heard of.
 */
void sm_cluster_out(sm_out_t *out, const sm_cluster_t *cluster, sm_str_t self,
    sm_str_t config, const sm_beats_t *due);

/*
 * Reads the events that instances tell by their rows, sorted.  The leader's are
 * left out: its document has more of them.  Without memory, there are none.
 */
void sm_cluster_events(sm_arena_t *arena, const sm_cluster_t *cluster,
    sm_feed_event_t **events, size_t *n);


#endif /* SM_LEASE_H */
