
#include "sm_series.h"


#define SM_SERIES_BACK  60      /* seconds */


static const char  *sm_series_columns[] = {
    "at", "submitted", "accepted", "rejected", "exhausted", "canceled",
    "attempts", "failedAttempts", "due", "waiting", "inFlight",
    "oldestDueSeconds"
};

_Static_assert(sm_nelts(sm_series_columns) == SM_SERIES_COLUMNS,
               "a key for each column");


static uint32_t
sm_series_clamp(int64_t n)
{
    return n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t) n;
}


/*
 * Takes what was counted since the last document.  A target that a leader did
 * not have in between is counted from nothing by the next one that has it.
 */

static void
sm_series_since(sm_series_t *s, int64_t counted, const sm_stats_target_t *t,
    int64_t counts[SM_STATS_COUNTS])
{
    size_t    i;
    unsigned  anew;

    anew = s->counted != counted;

    for (i = 0; i < SM_STATS_COUNTS; i++) {
        anew |= t->counts[i] < s->counts[i];
    }

    for (i = 0; i < SM_STATS_COUNTS; i++) {
        counts[i] = t->counts[i] - (anew ? 0 : s->counts[i]);
        s->counts[i] = t->counts[i];
    }

    s->counted = counted;
}


/*
 * Two documents of one second, such as the last one of an epoch and the first one
 * of the next, are one row.  A clock that was set back a little goes on with the
 * last row; one that was set back for longer begins a new history, because the
 * rows would be of the same times as others.
 */

static void
sm_series_row(sm_series_t *s, int64_t counted, int64_t at,
    const sm_stats_target_t *t, unsigned first)
{
    int64_t    counts[SM_STATS_COUNTS];
    uint32_t   second, last, *row;

    sm_series_since(s, counted, t, counts);

    if (first) {
        return;
    }

    second = sm_series_clamp(at / 1000000);
    last = s->n ? s->rows[(s->n - 1) % SM_SERIES_ROWS][SM_SERIES_AT] : 0;

    if (second < last) {

        if (last - second > SM_SERIES_BACK) {
            s->n = 0;
            s->told = 0;
            last = 0;

        } else {
            second = last;
        }
    }

    if (s->n && second == last) {
        s->n--;

    } else {
        memset(s->rows[s->n % SM_SERIES_ROWS], 0, sizeof(s->rows[0]));
    }

    row = s->rows[s->n % SM_SERIES_ROWS];

    row[SM_SERIES_AT] = second;
    row[SM_SERIES_SUBMITTED] += sm_series_clamp(counts[SM_STATS_SUBMITTED]);
    row[SM_SERIES_ACCEPTED] += sm_series_clamp(counts[SM_STATS_ACCEPTED]);
    row[SM_SERIES_REJECTED] += sm_series_clamp(counts[SM_STATS_REJECTED]);
    row[SM_SERIES_EXHAUSTED] += sm_series_clamp(counts[SM_STATS_EXHAUSTED]);
    row[SM_SERIES_CANCELED] += sm_series_clamp(counts[SM_STATS_CANCELED]);
    row[SM_SERIES_ATTEMPTS] += sm_series_clamp(sm_stats_attempts(counts));
    row[SM_SERIES_FAILED] += sm_series_clamp(sm_stats_failed(counts));
    row[SM_SERIES_DUE] = sm_series_clamp(t->due);
    row[SM_SERIES_WAITING] = sm_series_clamp(t->waiting);
    row[SM_SERIES_IN_FLIGHT] = sm_series_clamp(t->in_flight);
    row[SM_SERIES_OLDEST] = sm_series_clamp(t->oldest_due / 1000000);

    s->n++;
}


void
sm_series_add(sm_series_t *s, int64_t counted, int64_t at,
    const sm_stats_target_t *t, unsigned first)
{
    sm_series_row(s, counted, at, t, first);

    s->told = s->n;
}


int
sm_series_quiet(sm_series_t *s, int64_t counted, int64_t at)
{
    sm_stats_target_t  none;

    memset(&none, 0, sizeof(sm_stats_target_t));

    /* it may come again, with what was counted meanwhile */

    if (s->counted == counted) {
        memcpy(none.counts, s->counts, sizeof(none.counts));
    }

    sm_series_row(s, counted, at, &none, 0);

    return s->n - s->told >= SM_SERIES_ROWS;
}


void
sm_series_out_columns(sm_out_t *out)
{
    size_t  i;

    for (i = 0; i < SM_SERIES_COLUMNS; i++) {
        sm_out_c(out, i ? ",\"" : "\"");
        sm_out_c(out, sm_series_columns[i]);
        sm_out_c(out, "\"");
    }
}


static uint64_t
sm_series_first(const sm_series_t *s)
{
    return s->n > SM_SERIES_ROWS ? s->n - SM_SERIES_ROWS : 0;
}


void
sm_series_out(sm_out_t *out, const sm_series_t *s, int64_t since)
{
    size_t           i;
    uint64_t         n;
    unsigned         first;
    const uint32_t  *row;

    first = 1;

    for (n = sm_series_first(s); n < s->n; n++) {
        row = s->rows[n % SM_SERIES_ROWS];

        if ((int64_t) row[SM_SERIES_AT] < since) {
            continue;
        }

        sm_out_c(out, first ? "[" : ",[");
        first = 0;

        for (i = 0; i < SM_SERIES_COLUMNS; i++) {
            if (i) {
                sm_out_c(out, ",");
            }

            sm_out_int(out, row[i]);
        }

        sm_out_c(out, "]");
    }
}
