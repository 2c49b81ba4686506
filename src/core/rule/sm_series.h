
/*
 * An hour of a target's numbers: a ring with a row for each document of the
 * leader.
 *
 * The leader counts from the beginning of its epoch, and a new one goes on with
 * the counts of the one before.  So a document that this instance did not read
 * loses nothing: the next one includes its numbers.
 */

#ifndef SM_SERIES_H
#define SM_SERIES_H


#include "sm_stats.h"


#define SM_SERIES_ROWS  720             /* an hour */


/* The columns.  SM_SERIES_AT is seconds since 1970. */

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
    uint64_t            n;              /* rows that were ever added */
    uint64_t            told;           /* rows up to the last one with news */
    int64_t             counted;        /* in which epoch the counts began */
    int64_t             counts[SM_STATS_COUNTS];
    uint32_t            rows[SM_SERIES_ROWS][SM_SERIES_COLUMNS];
} sm_series_t;


/*
 * If "first" is set, what was counted so far goes into no row, and there is
 * none: it is not known over which time it was counted.
 */
void sm_series_add(sm_series_t *s, int64_t counted, int64_t at,
    const sm_stats_target_t *t, unsigned first);

/*
 * Adds a row for a target without news.  Returns 1 if there was no news for
 * the whole hour, so that the series can be freed.
 */
int sm_series_quiet(sm_series_t *s, int64_t counted, int64_t at);

/* Write the keys of the columns, and the rows since a time, as elements. */
void sm_series_out_columns(sm_out_t *out);
void sm_series_out(sm_out_t *out, const sm_series_t *s, int64_t since);


#endif /* SM_SERIES_H */
