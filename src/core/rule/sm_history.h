
/*
 * An hour of numbers by the minute, in which the leader tells its history to
 * instances that have just been started.  It is part of the leader's document,
 * now and then.
 *
 * The text is an array with an object for each target, {"target", "from",
 * "rows"}; "from" is the first minute, and a row has the columns of a series
 * but its time, or is 0 if nothing happened in its minute.  If only some steps
 * of a minute are known, its row also says which, by bits; of a minute of which
 * nothing is known, the row is null.  A target without a name stands for all of
 * them.
 */

#ifndef SM_HISTORY_H
#define SM_HISTORY_H


#include "sm_series.h"


#define SM_HISTORY_MINUTES  (SM_SERIES_ROWS * SM_STATS_INTERVAL / 60 + 1)
#define SM_HISTORY_MAX      65536       /* bytes of text */


typedef struct {
    sm_str_t    name;
    uint32_t    from;                   /* seconds since 1970 */
    size_t      n;                      /* minutes */

    /* instead of a time, a bit for each step that is known */
    uint32_t    rows[SM_HISTORY_MINUTES][SM_SERIES_COLUMNS];
} sm_history_t;


/*
 * Sums a series up by minutes: what is counted is added, and of anything else
 * the last number of a minute is taken.
 */
void sm_history_sum(sm_history_t *history, const sm_series_t *s);

/*
 * Writes the object of a target, after a comma if it is not the first.  Writes
 * nothing if nothing happened, or if there is no room.
 */
void sm_history_out(sm_out_t *out, const sm_history_t *history);

/* Returns -1 if it is no such text, or if there is no memory. */
int sm_history_parse(sm_arena_t *arena, sm_str_t text, sm_history_t **histories,
    size_t *n);

/*
 * Puts the hour of the leader, as of "at", before the rows of a series that has
 * less than an hour; at most as much as there is room for.  What the leader
 * does not know is left out.
 */
void sm_history_inherit(sm_series_t *s, const sm_history_t *history,
    int64_t at);


#endif /* SM_HISTORY_H */
