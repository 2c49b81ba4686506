
/*
 * The leader's numbers.  The leader makes them every few seconds; the store
 * keeps them as one document, and the shared memory of an instance as one
 * block.
 *
 * A document has at most SM_STATS_MAX bytes, however many targets there are.
 * It leaves out targets without news, and targets for which there is no room;
 * the latter are counted.
 */

#ifndef SM_STATS_H
#define SM_STATS_H


#include "sm_feed.h"
#include "sm_health.h"
#include "sm_json.h"
#include "sm_lease.h"
#include "sm_limit.h"
#include "sm_retention.h"
#include "sm_window.h"


#define SM_STATS_INTERVAL  5            /* seconds */
#define SM_STATS_MAX       (131072 + SM_FEED_DOC_MAX)   /* bytes */
#define SM_STATS_DETAIL    200          /* characters of an error */


typedef enum {
    SM_STATS_OPEN = 0,
    SM_STATS_PAUSED,
    SM_STATS_CIRCUIT_OPEN,
    SM_STATS_STATES
} sm_stats_state_e;


enum {
    SM_STATS_1M = 0,
    SM_STATS_5M,
    SM_STATS_WINDOWS
};


/* Times are microseconds since 1970 by the store's clock, or 0. */

typedef struct {
    sm_str_t            name;

    sm_stats_state_e    state;
    int64_t             since;          /* when the state began */
    sm_str_t            pause_reason;
    sm_str_t            pause_actor;
    int64_t             failures;       /* in a row */
    int64_t             open_until;     /* of the circuit */

    sm_health_e         health;
    int64_t             health_since;   /* 0 if it was never ill */
    sm_str_t            health_why;     /* empty if it is well */
    int64_t             usual;          /* how long answers take; 0: unknown */
    int64_t             certificate;    /* until when the gateway's is valid */

    int64_t             due;
    int64_t             waiting;        /* for their time */
    int64_t             in_flight;
    int64_t             oldest_due;     /* age in microseconds; 0: none */

    int64_t             counts[SM_STATS_COUNTS];    /* see "counted" */
    sm_stats_window_t   windows[SM_STATS_WINDOWS];

    int64_t             error_at;
    sm_str_t            error_reason;
    sm_str_t            error_detail;
} sm_stats_target_t;


typedef struct {
    int64_t             epoch;
    int64_t             at;
    int64_t             began;          /* when the epoch began */

    /*
     * A leader goes on with the counts that the one before has told at
     * "goes_on"; 0: it began with nothing.  "counted" is the epoch in which
     * all of them began.
     */
    int64_t             counted;
    int64_t             goes_on;

    int64_t             omitted;        /* targets for which there is no room */
    sm_stats_target_t   totals;         /* omitted targets included */
    sm_stats_target_t  *targets;
    size_t              n;

    /* only for the next leader, and not in the block */
    sm_limit_t         *limits;
    size_t              nlimits;
    sm_retention_day_t  retention;
    unsigned            last;           /* its epoch sends nothing any more */

    sm_str_t            history;        /* not in the block; mostly none */

    /* what the leader knows of the feed, sorted; not in the block either */
    sm_feed_event_t    *events;
    size_t              nevents;
} sm_stats_t;


/* What the store has.  "doc" is empty if it is not newer than "seen". */

typedef struct {
    int64_t             seen;           /* time of the last document, or 0 */

    int64_t             epoch;
    int64_t             at;             /* 0 if there is no document */
    sm_str_t            doc;
} sm_stats_row_t;


/* Counts of pending intents while nobody leads; see backlog_get. */

#define SM_BACKLOG_BOUND   10000        /* intents that are looked at */
#define SM_BACKLOG_GROUPS  1000         /* targets */

typedef struct {
    sm_str_t            target;
    int64_t             due;
    int64_t             waiting;
    int64_t             oldest_due_at;  /* 0: none is due */
} sm_backlog_target_t;

typedef struct {
    int64_t               now;
    unsigned              partial;      /* there are more than were counted */
    sm_backlog_target_t  *targets;
    size_t                n;
} sm_backlog_t;


sm_str_t sm_stats_state_name(sm_stats_state_e state);

/* Says whether a target has no news. */
int sm_stats_idle(const sm_stats_target_t *t);

/* "out" has SM_STATS_MAX bytes.  Counts the targets that are omitted. */
void sm_stats_out(sm_out_t *out, sm_stats_t *stats);

/*
 * Returns -1 if it is not such a document, or if there is no memory.  The
 * strings are in the arena.
 */
int sm_stats_parse(sm_arena_t *arena, sm_str_t doc, sm_stats_t *stats);

/* The same for what the store has, of which the stats have the times, too. */
int sm_stats_read(sm_arena_t *arena, const sm_stats_row_t *row,
    sm_stats_t *stats);

/*
 * Packs the stats into one block.  Its strings are offsets, which opening the
 * block turns into pointers.
 */
size_t sm_stats_pack_size(const sm_stats_t *stats);
void sm_stats_pack(void *block, const sm_stats_t *stats);
sm_stats_t *sm_stats_open(void *block);


#endif /* SM_STATS_H */
