
/*
 * An hour of a target's numbers: a row for each document of the leader's, in a
 * ring.
 *
 * The leader counts from the beginning of its epoch, so that a document that
 * nobody here has read is not missed: the next one has its numbers, too.
 */

#ifndef SM_SERIES_H
#define SM_SERIES_H


#include "sm_stats.h"


#define SM_SERIES_ROWS  720             /* an hour */


/* the columns; SM_SERIES_AT is seconds since 1970 */

typedef enum {
    SM_SERIES_AT = 0,
    SM_SERIES_SUBMITTED,
    SM_SERIES_ACCEPTED,
    SM_SERIES_REJECTED,
    SM_SERIES_EXHAUSTED,
    SM_SERIES_CANCELED,
    SM_SERIES_ATTEMPTS,
    SM_SERIES_FAILED,
    SM_SERIES_DUE,
    SM_SERIES_WAITING,
    SM_SERIES_IN_FLIGHT,
    SM_SERIES_OLDEST,                   /* seconds */
    SM_SERIES_COLUMNS
} sm_series_col_e;


typedef struct {
    uint64_t            n;              /* rows, of all there ever were */
    uint64_t            told;           /* of them, up to the last with news */
    int64_t             epoch;          /* of the counts */
    int64_t             counts[SM_STATS_COUNTS];
    uint32_t            rows[SM_SERIES_ROWS][SM_SERIES_COLUMNS];
} sm_series_t;


/*
 * "first": the epoch's counts up to now are of no row, since nobody knows over
 * how long a time they were counted.
 */
void sm_series_add(sm_series_t *s, int64_t epoch, int64_t at,
    const sm_stats_target_t *t, unsigned first);

/*
 * The same, if there was nothing to tell.  1: so it was for the whole hour, and
 * there is no need of it any more.
 */
int sm_series_quiet(sm_series_t *s, int64_t epoch, int64_t at, unsigned first);

/* the keys of the columns, and the rows since then, both as elements */
void sm_series_out_columns(sm_out_t *out);
void sm_series_out(sm_out_t *out, const sm_series_t *s, int64_t since);
size_t sm_series_size(const sm_series_t *s);


#endif /* SM_SERIES_H */
