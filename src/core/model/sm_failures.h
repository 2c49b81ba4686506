
/*
 * What has failed lately, in groups: rejected and exhausted intents of the same
 * target, reason and last error, and what the inbox refused.
 */

#ifndef SM_FAILURES_H
#define SM_FAILURES_H


#include "sm_intent.h"


#define SM_FAILURES_BOUND   10000       /* the newest are looked at */
#define SM_FAILURES_GROUPS  100         /* the newest are shown */
#define SM_FAILURES_IDS     3


typedef struct {
    sm_str_t       target;
    sm_str_t       status;              /* "rejected", "exhausted", "refused" */
    sm_str_t       reason;
    sm_str_t       last_error;          /* no data: none */
    int64_t        count;               /* that were not replayed */
    int64_t        replayed;            /* and that were */
    int64_t        newest_at;           /* of the former, if there are any */
    sm_str_t       ids[SM_FAILURES_IDS];    /* the newest first */
    size_t         nids;
} sm_failure_t;

/* What the failures of a group have in common, and how many there are. */
extern const sm_field_t  sm_failure_fields[];
extern const sm_field_t  sm_failure_count_fields[];


typedef struct {
    sm_str_t       target;              /* no data: any */
    int64_t        since;               /* 0: from the beginning */
    int64_t        as_of;               /* when it was looked */
    unsigned       left;                /* another call looks */

    sm_failure_t  *failures;            /* the newest first */
    size_t         n;
    int64_t        last;                /* number of the last group */
    unsigned       partial;             /* there are more than were looked at,
                                           or more groups than are shown */
} sm_failures_row_t;


/* The bytes that a row takes in the memory of a call, without its strings. */

#define SM_FAILURES_MAX  (SM_FAILURES_GROUPS * sizeof(sm_failure_t))


/* A row of the store's answer: one failure, and how many its minute had. */

typedef struct {
    sm_failure_t   group;               /* its strings; "count" is that of the
                                           minute, "replayed" says of what,
                                           "newest_at" is of this one */
    int64_t        number;              /* of the group, the newest is 1 */
    sm_str_t       id;
    int64_t        seen;                /* what failed later was looked at */
} sm_failures_piece_t;


/*
 * All who ask for the same target at once share one call: the one with the
 * earliest "since" answers for the later ones, too.  The store counts by
 * minutes, so a time is rounded to its minute.
 */
int64_t sm_failures_since(int64_t since);
int sm_failures_same(const sm_failures_row_t *a, const sm_failures_row_t *b);
int64_t sm_failures_earliest(const sm_failures_row_t *rows, size_t n);

/*
 * _init() allocates the memory of rows of one target, and returns -1 if there
 * is none.  _add() adds a piece to all rows that it belongs to.  Pieces come
 * group by group, and the newest first, both groups and pieces; but what was
 * replayed comes after what was not.
 */
int sm_failures_init(sm_failures_row_t *rows, size_t n, sm_arena_t *arena);
void sm_failures_add(sm_failures_row_t *rows, size_t n,
    const sm_failures_piece_t *piece);

/* Writes the groups as HTTP shows them. */
void sm_failures_out(sm_out_t *out, const sm_failures_row_t *row);


#endif /* SM_FAILURES_H */
