
/*
 * The feed: what has happened to the system, as GET /v1/events tells it.
 *
 * An event has an origin, which is the shared memory of an instance from one
 * start to the next, and a number that counts the events of its origin.  The
 * times of an origin never go back.  Every instance keeps the last events that
 * it knows of, its own and those of others, which it learns from two documents
 * in the store: that of the leader, and the row of each instance.
 *
 * An instance takes the events of an origin in the order of their numbers, or
 * not at all.  So what somebody has seen is one number for each origin, whoever
 * has told it; that is what a cursor says, and it is as good on every instance.
 *
 * The numbers of an origin have no gap.  The leader's document has all events
 * that the leader keeps, and the row of an instance the oldest of its own that
 * no leader has told yet.  So an instance leaves a number out only if the leader
 * does not have that event any more, and whoever asks is told how many are
 * missing.
 */

#ifndef SM_FEED_H
#define SM_FEED_H


#include "sm_json.h"


#define SM_FEED_RING       200          /* events that an instance keeps */
#define SM_FEED_DOC_MAX    131072       /* bytes, in the leader's document */
#define SM_FEED_OWN_MAX    4000         /* bytes, in the row of an instance */
#define SM_FEED_LEAST      32           /* bytes of an event in either */

#define SM_FEED_KIND       32           /* bytes */
#define SM_FEED_NAME       200          /* of an instance */
#define SM_FEED_TARGET     512          /* SM_TARGET_MAX characters */
#define SM_FEED_BYTES      1200         /* of all texts of an event */


typedef enum {
    SM_FEED_INFO = 0,
    SM_FEED_WARN,
    SM_FEED_ERROR,
    SM_FEED_LEVELS
} sm_feed_level_e;


typedef enum {
    SM_FEED_INSTANCE_STARTED = 0,
    SM_FEED_INSTANCE_BACK,
    SM_FEED_INSTANCE_GONE,
    SM_FEED_WORKER_DIED,
    SM_FEED_RELOADED,
    SM_FEED_CONFIGURATION_CHANGED,
    SM_FEED_LEADER_ACQUIRED,
    SM_FEED_LEADER_LEFT,
    SM_FEED_LEADER_LOST,
    SM_FEED_STORE_DOWN,
    SM_FEED_STORE_FAILING,
    SM_FEED_STORE_UP,
    SM_FEED_TARGET_DOWN,
    SM_FEED_TARGET_DEGRADED,
    SM_FEED_TARGET_UP,
    SM_FEED_CIRCUIT_OPEN,
    SM_FEED_CIRCUIT_CLOSED,
    SM_FEED_TARGET_PAUSED,
    SM_FEED_TARGET_RESUMED,
    SM_FEED_CERTIFICATE_EXPIRES,
    SM_FEED_JOB_BEGUN,
    SM_FEED_JOB_DONE,
    SM_FEED_JOB_STOPPED,
    SM_FEED_JOB_FAILED,
    SM_FEED_RETENTION_BEGUN,
    SM_FEED_RETENTION_DONE,
    SM_FEED_KINDS
} sm_feed_kind_e;

typedef struct {
    sm_str_t              name;
    sm_feed_level_e       level;
} sm_feed_kind_t;

extern const sm_feed_kind_t  sm_feed_kinds[];


/* Times are microseconds since 1970.  A kind may be of a newer version. */

typedef struct {
    uint32_t              origin;
    uint32_t              n;            /* from 1 on */
    int64_t               at;
    sm_feed_level_e       level;
    sm_str_t              kind;
    sm_str_t              instance;
    sm_str_t              target;       /* empty: none */
    sm_str_t              text;
    int64_t               epoch;        /* of the lease; 0: it is about none */
} sm_feed_event_t;


/* An event without pointers, for shared memory. */

typedef struct {
    uint32_t              origin;
    uint32_t              n;
    int64_t               at;
    int64_t               epoch;
    uint16_t              level;
    uint16_t              kind;         /* the lengths of texts in "data" */
    uint16_t              instance;
    uint16_t              target;
    uint16_t              text;
    char                  data[SM_FEED_BYTES];
} sm_feed_slot_t;


/*
 * What was seen: of each origin, all up to a number; of an origin that is not
 * in the list, all up to "floor", a time.  The origins that were heard of last
 * are in the list.
 */

#define SM_FEED_MARKS        32
#define SM_FEED_CURSOR_MAX   (9 + SM_FEED_MARKS * 16)

typedef struct {
    uint32_t              origin;
    uint32_t              n;
    int64_t               at;           /* of that event */
} sm_feed_mark_t;

typedef struct {
    int64_t               floor;
    size_t                n;
    sm_feed_mark_t        marks[SM_FEED_MARKS];
} sm_feed_cursor_t;


/* A page: what is asked for, and where the next one begins. */

typedef struct {
    sm_str_t              kind;         /* empty: any */
    sm_str_t              target;       /* empty: any */
    size_t                limit;
    unsigned              after;        /* only what is after the cursor */

    sm_feed_cursor_t      cursor;
    size_t                n;
    unsigned              more;         /* there was no room for others */
    uint64_t              missed;       /* numbers after the cursor, left out */
} sm_feed_page_t;


/* Drops the full stop of a text that has ended before it, in "?." or "..". */
sm_str_t sm_feed_sentence(sm_str_t text);

sm_str_t sm_feed_level_name(sm_feed_level_e level);

/* Returns -1 if there is no such kind. */
int sm_feed_kind(sm_str_t name);

/* A text that is too long is cut between two characters. */
void sm_feed_pack(sm_feed_slot_t *slot, const sm_feed_event_t *event);

/* The strings are in the slot. */
void sm_feed_open(const sm_feed_slot_t *slot, sm_feed_event_t *event);

/* Sorts by time, the oldest first, and keeps the order of each origin. */
void sm_feed_sort(sm_feed_event_t *events, size_t n);

/* _new() says whether an event was not seen; _seen() takes it as seen. */
int sm_feed_cursor_new(const sm_feed_cursor_t *cursor,
    const sm_feed_event_t *event);
void sm_feed_cursor_seen(sm_feed_cursor_t *cursor,
    const sm_feed_event_t *event);

/*
 * Whether an instance takes an event that somebody tells: one that was not seen,
 * and, unless "whole" says that all that there is was told, the next one of its
 * origin only.
 */
int sm_feed_takes(const sm_feed_cursor_t *have, const sm_feed_event_t *event,
    unsigned whole);

/*
 * Says what an instance has, by its sorted events, so that it takes only what
 * is new of those of others.  With "full", older ones may have been dropped,
 * and are not taken again.
 */
void sm_feed_have(sm_feed_cursor_t *cursor, const sm_feed_event_t *events,
    size_t n, unsigned full);

/*
 * Clients get cursors, and may send back anything.  _parse() returns -1 if the
 * module never wrote such a cursor.
 */
void sm_feed_cursor_out(sm_out_t *out, const sm_feed_cursor_t *cursor);
int sm_feed_cursor_parse(sm_str_t text, sm_feed_cursor_t *cursor);

/*
 * Takes a page of sorted events: the first ones after the cursor, or without a
 * cursor the last ones.  They are moved to the front of the array.
 */
void sm_feed_page(sm_feed_page_t *page, sm_feed_event_t *events, size_t n);

/* Writes an event as HTTP shows it. */
void sm_feed_event_out(sm_out_t *out, const sm_feed_event_t *event);

/*
 * The document of sorted events: as many as fit, the last ones or the first
 * ones.  _parse() sorts them, too.  It returns -1 if it is not such a document,
 * or if there is no memory; it leaves out events that it does not understand.
 * The strings are in the arena.
 */
typedef enum {
    SM_FEED_LAST = 0,
    SM_FEED_FIRST
} sm_feed_end_e;

void sm_feed_doc_out(sm_out_t *out, const sm_feed_event_t *events, size_t n,
    sm_feed_end_e from, size_t bytes);
int sm_feed_doc_parse(sm_arena_t *arena, sm_str_t doc,
    sm_feed_event_t **events, size_t *n);


#endif /* SM_FEED_H */
