
#include "sm_history.h"


#define SM_HISTORY_STEPS  (60 / SM_STATS_INTERVAL)      /* rows of a minute */
#define SM_HISTORY_ALL    ((1u << SM_HISTORY_STEPS) - 1)

/*
 * What has happened between two rows is known if they are no further apart, in
 * seconds: a document may be late, and one may be missed.
 */

#define SM_HISTORY_APART  (5 * SM_STATS_INTERVAL / 2)


enum {
    SM_HISTORY_KEY_TARGET = 0,
    SM_HISTORY_KEY_FROM,
    SM_HISTORY_KEY_ROWS,
    SM_HISTORY_KEYS
};


static const sm_json_field_t  sm_history_fields[] = {
    { "target", SM_JSON_STRING, 1 },
    { "from", SM_JSON_NUMBER, 1 },
    { "rows", SM_JSON_ARRAY, 1 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_history_fields) == SM_HISTORY_KEYS + 1,
               "a row for each key");


static int
sm_history_counted(size_t column)
{
    return column >= SM_SERIES_SUBMITTED && column <= SM_SERIES_FAILED;
}


/* Marks the steps of a row as known, from that of the row before on. */

static void
sm_history_mark(sm_history_t *history, uint32_t before, uint32_t at)
{
    size_t    k;
    uint32_t  t;

    t = before && at - before <= SM_HISTORY_APART
        ? before + SM_STATS_INTERVAL : at;

    for (t -= t % SM_STATS_INTERVAL; t <= at; t += SM_STATS_INTERVAL) {
        k = (t - history->from) / 60;

        if (t >= history->from && k < history->n) {
            history->rows[k][SM_SERIES_AT] |= 1u << t % 60 / SM_STATS_INTERVAL;
        }
    }
}


void
sm_history_sum(sm_history_t *history, const sm_series_t *s)
{
    size_t           i, k;
    uint32_t         at, before;
    uint64_t         n;
    const uint32_t  *row;

    history->n = 0;
    before = 0;

    for (n = s->n > SM_SERIES_ROWS ? s->n - SM_SERIES_ROWS : 0; n < s->n; n++) {
        row = s->rows[n % SM_SERIES_ROWS];
        at = row[SM_SERIES_AT] - row[SM_SERIES_AT] % 60;

        if (history->n == 0) {
            history->from = at;
        }

        /* rows are further apart while nobody leads */

        k = (at - history->from) / 60;

        if (at < history->from || k >= SM_HISTORY_MINUTES) {
            continue;
        }

        for ( /* void */ ; history->n <= k; history->n++) {
            memset(history->rows[history->n], 0, sizeof(history->rows[0]));
        }

        for (i = SM_SERIES_AT + 1; i < SM_SERIES_COLUMNS; i++) {
            history->rows[k][i] = row[i] + (sm_history_counted(i)
                                            ? history->rows[k][i] : 0);
        }

        sm_history_mark(history, before, row[SM_SERIES_AT]);
        before = row[SM_SERIES_AT];
    }
}


static int
sm_history_empty(const uint32_t *row)
{
    size_t  i;

    for (i = SM_SERIES_AT + 1; i < SM_SERIES_COLUMNS; i++) {
        if (row[i]) {
            return 0;
        }
    }

    return 1;
}


static void
sm_history_out_row(sm_out_t *out, const uint32_t *row)
{
    size_t  i;

    if (row[SM_SERIES_AT] == 0) {
        sm_out_c(out, "null");
        return;
    }

    if (row[SM_SERIES_AT] == SM_HISTORY_ALL && sm_history_empty(row)) {
        sm_out_c(out, "0");
        return;
    }

    for (i = SM_SERIES_AT + 1; i < SM_SERIES_COLUMNS; i++) {
        sm_out_c(out, i == SM_SERIES_AT + 1 ? "[" : ",");
        sm_out_int(out, row[i]);
    }

    if (row[SM_SERIES_AT] != SM_HISTORY_ALL) {
        sm_out_c(out, ",");
        sm_out_int(out, row[SM_SERIES_AT]);
    }

    sm_out_c(out, "]");
}


void
sm_history_out(sm_out_t *out, const sm_history_t *history)
{
    char    *last;
    size_t   i;

    for (i = 0; i < history->n && sm_history_empty(history->rows[i]); i++) {
        /* void */
    }

    if (i == history->n) {
        return;
    }

    last = out->last;

    sm_out_c(out, sm_out_last(out) == '[' ? "{\"target\":" : ",{\"target\":");
    sm_json_out_str(out, history->name);
    sm_out_c(out, ",\"from\":");
    sm_out_int(out, history->from);
    sm_out_c(out, ",\"rows\":");

    for (i = 0; i < history->n; i++) {
        sm_out_c(out, i ? "," : "[");
        sm_history_out_row(out, history->rows[i]);
    }

    sm_out_c(out, "]}");

    if (out->full) {
        out->full = 0;
        out->last = last;
    }
}


static int
sm_history_parse_row(sm_arena_t *arena, sm_json_value_t *value, uint32_t *row)
{
    size_t            i, n;
    int64_t           number;
    sm_json_value_t  *elts;
    sm_json_error_t   err;

    if (value->type == SM_JSON_NULL) {
        return 0;
    }

    row[SM_SERIES_AT] = SM_HISTORY_ALL;

    if (value->type != SM_JSON_ARRAY) {
        return value->type == SM_JSON_NUMBER ? 0 : -1;
    }

    if (sm_json_array(arena, value->raw, &elts, &n, &err) != 0
        || n < SM_SERIES_COLUMNS - 1)
    {
        return -1;
    }

    for (i = SM_SERIES_AT + 1; i < SM_SERIES_COLUMNS; i++) {
        if (sm_parse_uint(elts[i - 1].raw, UINT32_MAX, &number) != 0) {
            return -1;
        }

        row[i] = (uint32_t) number;
    }

    if (n >= SM_SERIES_COLUMNS) {
        if (sm_parse_uint(elts[SM_SERIES_COLUMNS - 1].raw, SM_HISTORY_ALL,
                          &number)
            != 0)
        {
            return -1;
        }

        row[SM_SERIES_AT] = (uint32_t) number;
    }

    return 0;
}


static int
sm_history_parse_target(sm_arena_t *arena, sm_str_t text, sm_history_t *history)
{
    size_t            i, n;
    int64_t           from;
    sm_json_error_t   err;
    sm_json_value_t   values[SM_HISTORY_KEYS], *elts;

    if (sm_json_object_lax(arena, text, sm_history_fields, values, &err) != 0
        || sm_parse_uint(values[SM_HISTORY_KEY_FROM].raw, UINT32_MAX, &from)
           != 0
        || sm_json_array(arena, values[SM_HISTORY_KEY_ROWS].raw, &elts, &n,
                         &err)
           != 0)
    {
        return -1;
    }

    history->name = values[SM_HISTORY_KEY_TARGET].text;
    history->from = (uint32_t) from;
    history->n = n < SM_HISTORY_MINUTES ? n : SM_HISTORY_MINUTES;

    for (i = 0; i < history->n; i++) {
        if (sm_history_parse_row(arena, &elts[i], history->rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}


int
sm_history_parse(sm_arena_t *arena, sm_str_t text, sm_history_t **histories,
    size_t *n)
{
    size_t            i;
    sm_json_value_t  *elts;
    sm_json_error_t   err;

    if (sm_json_array(arena, text, &elts, n, &err) != 0) {
        return -1;
    }

    *histories = sm_arena_calloc(arena, *n + 1, sizeof(sm_history_t));
    if (*histories == NULL) {
        return -1;
    }

    for (i = 0; i < *n; i++) {
        if (sm_history_parse_target(arena, elts[i].raw, &(*histories)[i])
            != 0)
        {
            return -1;
        }
    }

    return 0;
}


/*
 * Returns how many rows a minute has before the time "end", which may be within
 * it.
 */

static uint32_t
sm_history_steps(uint32_t minute, uint32_t end)
{
    uint32_t  steps;

    if (end <= minute) {
        return 0;
    }

    steps = (end - minute + SM_STATS_INTERVAL - 1) / SM_STATS_INTERVAL;

    return steps < SM_HISTORY_STEPS ? steps : SM_HISTORY_STEPS;
}


/*
 * Takes off what "n" rows have counted themselves in a minute.  The first of them
 * may have counted a part of the minute before, if a document was missed: what
 * is more than the leader has counted is left in "more" for that minute, which
 * comes next.
 */

static void
sm_history_less(uint32_t *row, uint32_t minute,
    const uint32_t (*own)[SM_SERIES_COLUMNS], uint64_t n, uint64_t *more)
{
    size_t    i;
    uint64_t  k;

    for (i = SM_SERIES_AT + 1; i < SM_SERIES_COLUMNS; i++) {

        if (!sm_history_counted(i)) {
            continue;
        }

        for (k = 0; k < n && own[k][SM_SERIES_AT] < minute + 60; k++) {
            if (own[k][SM_SERIES_AT] >= minute) {
                more[i] += own[k][i];
            }
        }

        if (more[i] > row[i]) {
            more[i] -= row[i];
            row[i] = 0;

        } else {
            row[i] -= (uint32_t) more[i];
            more[i] = 0;
        }
    }
}


/*
 * Makes the row of a step of a minute, which is number "k" of the "n" that are
 * known.
 */

static void
sm_history_row(uint32_t *to, const uint32_t *from, uint32_t at, uint32_t k,
    uint32_t n)
{
    size_t    i;
    uint64_t  sum;

    to[SM_SERIES_AT] = at;

    for (i = SM_SERIES_AT + 1; i < SM_SERIES_COLUMNS; i++) {
        sum = from[i];

        to[i] = sm_history_counted(i)
                ? (uint32_t) (sum * (k + 1) / n - sum * k / n) : from[i];
    }
}


/*
 * Makes the rows of those steps of a minute that are known, in front of row
 * "room", and returns which is the first row then.
 */

static size_t
sm_history_minute(sm_series_t *s, size_t room, const uint32_t *from,
    uint32_t minute, uint32_t steps)
{
    uint32_t  step, k, n;

    for (step = 0, n = 0; step < steps; step++) {
        n += from[SM_SERIES_AT] >> step & 1;
    }

    for (k = n, step = steps; step > 0 && room > 0; step--) {
        if (from[SM_SERIES_AT] >> (step - 1) & 1) {
            sm_history_row(s->rows[--room], from,
                           minute + (step - 1) * SM_STATS_INTERVAL, --k, n);
        }
    }

    return room;
}


/* Goes from the newest row to the oldest, towards the beginning of the ring. */

void
sm_history_inherit(sm_series_t *s, const sm_history_t *history, int64_t at)
{
    size_t    i, room;
    uint32_t  end, minute, row[SM_SERIES_COLUMNS];
    uint64_t  more[SM_SERIES_COLUMNS];

    if (s->n >= SM_SERIES_ROWS) {
        return;
    }

    end = (uint32_t) (at / 1000000) + 1;

    if (s->n && s->rows[0][SM_SERIES_AT] < end) {
        end = s->rows[0][SM_SERIES_AT];
    }

    room = SM_SERIES_ROWS - s->n;

    memmove(s->rows[room], s->rows[0], s->n * sizeof(s->rows[0]));
    memset(more, 0, sizeof(more));

    for (i = history->n; i-- > 0; /* void */ ) {
        minute = history->from + i * 60;

        memcpy(row, history->rows[i], sizeof(row));
        sm_history_less(row, minute, &s->rows[SM_SERIES_ROWS - s->n], s->n,
                        more);

        room = sm_history_minute(s, room, row, minute,
                                 sm_history_steps(minute, end));
    }

    i = SM_SERIES_ROWS - s->n - room;

    memmove(s->rows[0], s->rows[room], (s->n + i) * sizeof(s->rows[0]));

    s->n += i;
    s->told += i;
}
