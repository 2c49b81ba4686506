
/*
 * Only this module reads the document.  A target is
 *
 * {"t":name, "s":[state,since,failures,open until], "n":[due,waiting,in flight,
 * age of the oldest], "c":[counts], "m":[[span,p50,p99,counts...] of a minute,
 * of five], "p":[reason,actor] of a pause, "e":[at,reason,detail] of the last
 * error, "h":[health,since,why], "x":until when the certificate is valid,
 * "u":how long answers usually take}
 *
 * and keys that another version may add are skipped.  "from" is the epoch in
 * which the counts began, and the time that they go on from.  "limits" are those
 * of sm_limit.h, "retention" is the day, its last batch, what was stripped and
 * forgotten, and the day that is not sure, "events" are those of sm_feed.h,
 * "history" is that of sm_history.h, which few documents have, and only the
 * last document of an epoch has "last".
 */

#include "sm_stats.h"


#define SM_STATS_WINDOW_NUMBERS  (3 + SM_STATS_COUNTS)

/* Bytes that are kept free for what comes after the targets. */
#define SM_STATS_END             64


static const char  *sm_stats_states[] = { "open", "paused", "circuit_open" };

_Static_assert(sm_nelts(sm_stats_states) == SM_STATS_STATES,
               "a name for each state");


enum {
    SM_STATS_KEY_NAME = 0,
    SM_STATS_KEY_STATE,
    SM_STATS_KEY_NUMBERS,
    SM_STATS_KEY_COUNTS,
    SM_STATS_KEY_WINDOWS,
    SM_STATS_KEY_PAUSE,
    SM_STATS_KEY_ERROR,
    SM_STATS_KEY_HEALTH,
    SM_STATS_KEY_CERTIFICATE,
    SM_STATS_KEY_USUAL,
    SM_STATS_KEYS
};

static const sm_json_field_t  sm_stats_target_fields[] = {
    { "t", SM_JSON_STRING, 1 },
    { "s", SM_JSON_ARRAY, 1 },
    { "n", SM_JSON_ARRAY, 1 },
    { "c", SM_JSON_ARRAY, 1 },
    { "m", SM_JSON_ARRAY, 1 },
    { "p", SM_JSON_ARRAY, 0 },
    { "e", SM_JSON_ARRAY, 0 },
    { "h", SM_JSON_ARRAY, 0 },
    { "x", SM_JSON_NUMBER, 0 },
    { "u", SM_JSON_NUMBER, 0 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_stats_target_fields) == SM_STATS_KEYS + 1,
               "each key of a target");


enum {
    SM_STATS_DOC_TOTALS = 0,
    SM_STATS_DOC_TARGETS,
    SM_STATS_DOC_OMITTED,
    SM_STATS_DOC_BEGAN,
    SM_STATS_DOC_FROM,
    SM_STATS_DOC_LIMITS,
    SM_STATS_DOC_RETENTION,
    SM_STATS_DOC_LAST,
    SM_STATS_DOC_HISTORY,
    SM_STATS_DOC_EVENTS,
    SM_STATS_DOC_KEYS
};

static const sm_json_field_t  sm_stats_fields[] = {
    { "totals", SM_JSON_OBJECT, 1 },
    { "targets", SM_JSON_ARRAY, 1 },
    { "omitted", SM_JSON_NUMBER, 1 },
    { "began", SM_JSON_NUMBER, 1 },
    { "from", SM_JSON_ARRAY, 0 },
    { "limits", SM_JSON_ARRAY, 0 },
    { "retention", SM_JSON_ARRAY, 0 },
    { "last", SM_JSON_BOOL, 0 },
    { "history", SM_JSON_ARRAY, 0 },
    { "events", SM_JSON_ARRAY, 0 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_stats_fields) == SM_STATS_DOC_KEYS + 1,
               "each key of the document");


static const sm_str_t  sm_stats_true = sm_str("true");


sm_str_t
sm_stats_state_name(sm_stats_state_e state)
{
    return sm_str_c(sm_stats_states[state < SM_STATS_STATES ? state : 0]);
}


int
sm_stats_idle(const sm_stats_target_t *t)
{
    size_t  i;

    for (i = 0; i < SM_STATS_COUNTS; i++) {
        if (t->counts[i]) {
            return 0;
        }
    }

    return t->state == SM_STATS_OPEN && t->since == 0
           && t->health_since == 0 && t->certificate == 0 && t->usual == 0
           && t->due + t->waiting + t->in_flight == 0 && t->error_at == 0;
}


/* Writing the document. */


static void
sm_stats_out_numbers(sm_out_t *out, const int64_t *numbers, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        if (i) {
            sm_out_c(out, ",");
        }

        sm_out_int(out, numbers[i]);
    }
}


static void
sm_stats_out_array(sm_out_t *out, const char *key, const int64_t *numbers,
    size_t n)
{
    sm_out_c(out, ",\"");
    sm_out_c(out, key);
    sm_out_c(out, "\":[");
    sm_stats_out_numbers(out, numbers, n);
    sm_out_c(out, "]");
}


static void
sm_stats_out_window(sm_out_t *out, const sm_stats_window_t *w)
{
    int64_t  head[] = { w->span, w->p50, w->p99 };

    sm_out_c(out, "[");
    sm_stats_out_numbers(out, head, sm_nelts(head));
    sm_out_c(out, ",");
    sm_stats_out_numbers(out, w->counts, SM_STATS_COUNTS);
    sm_out_c(out, "]");
}


static void
sm_stats_out_target(sm_out_t *out, const sm_stats_target_t *t)
{
    int64_t  state[] = { t->state, t->since, t->failures, t->open_until };
    int64_t  numbers[] = { t->due, t->waiting, t->in_flight, t->oldest_due };

    sm_out_c(out, "{\"t\":");
    sm_json_out_str(out, t->name);

    sm_stats_out_array(out, "s", state, sm_nelts(state));
    sm_stats_out_array(out, "n", numbers, sm_nelts(numbers));
    sm_stats_out_array(out, "c", t->counts, SM_STATS_COUNTS);

    sm_out_c(out, ",\"m\":[");
    sm_stats_out_window(out, &t->windows[SM_STATS_1M]);
    sm_out_c(out, ",");
    sm_stats_out_window(out, &t->windows[SM_STATS_5M]);
    sm_out_c(out, "]");

    if (t->pause_reason.len || t->pause_actor.len) {
        sm_out_c(out, ",\"p\":[");
        sm_json_out_str(out, t->pause_reason);
        sm_out_c(out, ",");
        sm_json_out_str(out, t->pause_actor);
        sm_out_c(out, "]");
    }

    if (t->error_at) {
        sm_out_c(out, ",\"e\":[");
        sm_out_int(out, t->error_at);
        sm_out_c(out, ",");
        sm_json_out_str(out, t->error_reason);
        sm_out_c(out, ",");
        sm_json_out_str(out, t->error_detail);
        sm_out_c(out, "]");
    }

    if (t->health_since) {
        sm_out_c(out, ",\"h\":[");
        sm_out_int(out, t->health);
        sm_out_c(out, ",");
        sm_out_int(out, t->health_since);
        sm_out_c(out, ",");
        sm_json_out_str(out, t->health_why);
        sm_out_c(out, "]");
    }

    if (t->certificate) {
        sm_out_c(out, ",\"x\":");
        sm_out_int(out, t->certificate);
    }

    if (t->usual) {
        sm_out_c(out, ",\"u\":");
        sm_out_int(out, t->usual);
    }

    sm_out_c(out, "}");
}


static void
sm_stats_out_retention(sm_out_t *out, const sm_retention_day_t *d)
{
    int64_t  numbers[] = { d->day, d->last, d->stripped, d->forgotten,
                           d->unsure };

    if (d->day || d->unsure) {
        sm_stats_out_array(out, "retention", numbers, sm_nelts(numbers));
    }
}


typedef enum {
    SM_STATS_DOWN = 0,
    SM_STATS_DEGRADED,
    SM_STATS_STOPPED,                   /* by a pause or a circuit */
    SM_STATS_QUIET,
    SM_STATS_RANKS
} sm_stats_rank_e;


static sm_stats_rank_e
sm_stats_rank(const sm_stats_target_t *t)
{
    switch (t->health) {

    case SM_HEALTH_DOWN:
        return SM_STATS_DOWN;

    case SM_HEALTH_DEGRADED:
        return SM_STATS_DEGRADED;

    default:
        return t->state != SM_STATS_OPEN ? SM_STATS_STOPPED : SM_STATS_QUIET;
    }
}


/* Writes the targets of a rank. */

static void
sm_stats_out_targets(sm_out_t *out, sm_stats_t *stats, sm_stats_rank_e rank,
    unsigned *first)
{
    char    *last;
    size_t   i;

    for (i = 0; i < stats->n; i++) {

        if (sm_stats_rank(&stats->targets[i]) != rank
            || sm_stats_idle(&stats->targets[i]))
        {
            continue;
        }

        last = out->last;

        if (!*first) {
            sm_out_c(out, ",");
        }

        sm_stats_out_target(out, &stats->targets[i]);

        if (out->full) {
            out->full = 0;
            out->last = last;
            stats->omitted++;
            continue;
        }

        *first = 0;
    }
}


/*
 * What is worst comes first, so that for lack of room what is well is left out
 * before it.
 */

void
sm_stats_out(sm_out_t *out, sm_stats_t *stats)
{
    char            *end;
    int64_t          from[] = { stats->counted, stats->goes_on };
    unsigned         first;
    sm_stats_rank_e  rank;

    stats->omitted = 0;

    sm_out_c(out, "{\"v\":1,\"began\":");
    sm_out_int(out, stats->began);
    sm_stats_out_array(out, "from", from, sm_nelts(from));

    if (stats->nlimits) {
        sm_out_c(out, ",\"limits\":");
        sm_limits_out(out, stats->limits, stats->nlimits);
    }

    sm_stats_out_retention(out, &stats->retention);

    if (stats->last) {
        sm_out_c(out, ",\"last\":true");
    }

    if (stats->nevents) {
        sm_out_c(out, ",\"events\":");
        sm_feed_doc_out(out, stats->events, stats->nevents, SM_FEED_LAST,
                        SM_FEED_DOC_MAX);
    }

    sm_out_c(out, ",\"totals\":");
    sm_stats_out_target(out, &stats->totals);
    sm_out_c(out, ",\"targets\":[");

    first = 1;
    end = out->end;
    out->end -= SM_STATS_END;

    for (rank = SM_STATS_DOWN; rank < SM_STATS_RANKS; rank++) {
        sm_stats_out_targets(out, stats, rank, &first);
    }

    out->end = end;

    sm_out_c(out, "],\"omitted\":");
    sm_out_int(out, stats->omitted);

    if (stats->history.len
        && stats->history.len + SM_STATS_END < (size_t) (out->end - out->last))
    {
        sm_out_c(out, ",\"history\":");
        sm_out_bytes(out, stats->history.data, stats->history.len);
    }

    sm_out_c(out, "}");
}


/* Returns -1 if there are fewer than n numbers; more of them are skipped. */

static int
sm_stats_numbers(sm_arena_t *arena, sm_str_t raw, int64_t *numbers, size_t n)
{
    size_t            i, found;
    unsigned          minus;
    sm_str_t          s;
    sm_json_value_t  *elts;
    sm_json_error_t   err;

    if (sm_json_array(arena, raw, &elts, &found, &err) != 0 || found < n) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        s = elts[i].raw;
        minus = s.len && s.data[0] == '-';

        if (minus) {
            s.data++;
            s.len--;
        }

        if (sm_parse_uint(s, INT64_MAX, &numbers[i]) != 0) {
            return -1;
        }

        if (minus) {
            numbers[i] = -numbers[i];
        }
    }

    return 0;
}


static int
sm_stats_parse_window(sm_arena_t *arena, sm_str_t raw, sm_stats_window_t *w)
{
    int64_t  numbers[SM_STATS_WINDOW_NUMBERS];

    if (sm_stats_numbers(arena, raw, numbers, SM_STATS_WINDOW_NUMBERS) != 0) {
        return -1;
    }

    w->span = numbers[0];
    w->p50 = numbers[1];
    w->p99 = numbers[2];

    memcpy(w->counts, &numbers[3], sizeof(w->counts));

    return 0;
}


static int
sm_stats_parse_windows(sm_arena_t *arena, sm_str_t raw, sm_stats_target_t *t)
{
    size_t            n;
    sm_json_value_t  *elts;
    sm_json_error_t   err;

    return sm_json_array(arena, raw, &elts, &n, &err) != 0
           || n < SM_STATS_WINDOWS
           || sm_stats_parse_window(arena, elts[0].raw,
                                    &t->windows[SM_STATS_1M])
              != 0
           || sm_stats_parse_window(arena, elts[1].raw,
                                    &t->windows[SM_STATS_5M])
              != 0
           ? -1 : 0;
}


/* Decodes a string of an array, by reading it as the field of an object. */

static int
sm_stats_string(sm_arena_t *arena, sm_str_t raw, sm_str_t *s)
{
    char             *doc;
    sm_str_t          object;
    sm_json_value_t   value;
    sm_json_error_t   err;

    static const sm_json_field_t  fields[] = {
        { "s", SM_JSON_STRING, 1 },
        { NULL, 0, 0 }
    };

    doc = sm_arena_alloc(arena, raw.len + sizeof("{\"s\":}"));
    if (doc == NULL) {
        return -1;
    }

    memcpy(doc, "{\"s\":", 5);
    memcpy(doc + 5, raw.data, raw.len);
    doc[5 + raw.len] = '}';

    object.data = doc;
    object.len = raw.len + 6;

    if (sm_json_object(arena, object, fields, &value, &err) != 0) {
        return -1;
    }

    *s = value.text;

    return 0;
}


static int
sm_stats_parse_pause(sm_arena_t *arena, sm_str_t raw, sm_stats_target_t *t)
{
    size_t            n;
    sm_json_value_t  *elts;
    sm_json_error_t   err;

    return sm_json_array(arena, raw, &elts, &n, &err) != 0 || n < 2
           || sm_stats_string(arena, elts[0].raw, &t->pause_reason) != 0
           || sm_stats_string(arena, elts[1].raw, &t->pause_actor) != 0
           ? -1 : 0;
}


static int
sm_stats_parse_error(sm_arena_t *arena, sm_str_t raw, sm_stats_target_t *t)
{
    size_t            n;
    sm_json_value_t  *elts;
    sm_json_error_t   err;

    return sm_json_array(arena, raw, &elts, &n, &err) != 0 || n < 3
           || sm_parse_uint(elts[0].raw, INT64_MAX, &t->error_at) != 0
           || sm_stats_string(arena, elts[1].raw, &t->error_reason) != 0
           || sm_stats_string(arena, elts[2].raw, &t->error_detail) != 0
           ? -1 : 0;
}


static int
sm_stats_parse_health(sm_arena_t *arena, sm_str_t raw, sm_stats_target_t *t)
{
    size_t            n;
    int64_t           health;
    sm_json_value_t  *elts;
    sm_json_error_t   err;

    if (sm_json_array(arena, raw, &elts, &n, &err) != 0 || n < 3
        || sm_parse_uint(elts[0].raw, INT64_MAX, &health) != 0
        || sm_parse_uint(elts[1].raw, INT64_MAX, &t->health_since) != 0
        || sm_stats_string(arena, elts[2].raw, &t->health_why) != 0)
    {
        return -1;
    }

    t->health = health < SM_HEALTH_STATES ? health : SM_HEALTH_OK;

    return 0;
}


static int
sm_stats_parse_retention(sm_arena_t *arena, sm_str_t raw,
    sm_retention_day_t *d)
{
    int64_t  numbers[5];

    if (sm_stats_numbers(arena, raw, numbers, sm_nelts(numbers)) != 0) {
        return -1;
    }

    d->day = numbers[0];
    d->last = numbers[1];
    d->stripped = numbers[2];
    d->forgotten = numbers[3];
    d->unsure = numbers[4];

    return 0;
}


/* Without it, the counts began with the epoch. */

static int
sm_stats_parse_from(sm_arena_t *arena, const sm_json_value_t *value,
    sm_stats_t *stats)
{
    int64_t  from[2];

    if (value->type == 0) {
        return 0;
    }

    if (sm_stats_numbers(arena, value->raw, from, sm_nelts(from)) != 0) {
        return -1;
    }

    stats->counted = from[0];
    stats->goes_on = from[1];

    return 0;
}


static int
sm_stats_parse_target(sm_arena_t *arena, sm_str_t raw, sm_stats_target_t *t)
{
    int64_t          state[4], numbers[4];
    sm_json_error_t  err;
    sm_json_value_t  values[SM_STATS_KEYS];

    if (sm_json_object_lax(arena, raw, sm_stats_target_fields, values, &err)
        != 0
        || sm_stats_numbers(arena, values[SM_STATS_KEY_STATE].raw, state,
                            sm_nelts(state))
           != 0
        || sm_stats_numbers(arena, values[SM_STATS_KEY_NUMBERS].raw, numbers,
                            sm_nelts(numbers))
           != 0
        || sm_stats_numbers(arena, values[SM_STATS_KEY_COUNTS].raw, t->counts,
                            SM_STATS_COUNTS)
           != 0
        || sm_stats_parse_windows(arena, values[SM_STATS_KEY_WINDOWS].raw, t)
           != 0
        || (values[SM_STATS_KEY_PAUSE].type
            && sm_stats_parse_pause(arena, values[SM_STATS_KEY_PAUSE].raw, t)
               != 0)
        || (values[SM_STATS_KEY_ERROR].type
            && sm_stats_parse_error(arena, values[SM_STATS_KEY_ERROR].raw, t)
               != 0)
        || (values[SM_STATS_KEY_HEALTH].type
            && sm_stats_parse_health(arena, values[SM_STATS_KEY_HEALTH].raw,
                                     t)
               != 0)
        || (values[SM_STATS_KEY_CERTIFICATE].type
            && sm_parse_uint(values[SM_STATS_KEY_CERTIFICATE].raw, INT64_MAX,
                             &t->certificate)
               != 0)
        || (values[SM_STATS_KEY_USUAL].type
            && sm_parse_uint(values[SM_STATS_KEY_USUAL].raw, INT64_MAX,
                             &t->usual)
               != 0))
    {
        return -1;
    }

    t->name = values[SM_STATS_KEY_NAME].text;
    t->state = state[0] > 0 && state[0] < SM_STATS_STATES ? state[0]
                                                          : SM_STATS_OPEN;
    t->since = state[1];
    t->failures = state[2];
    t->open_until = state[3];

    t->due = numbers[0];
    t->waiting = numbers[1];
    t->in_flight = numbers[2];
    t->oldest_due = numbers[3];

    return 0;
}


int
sm_stats_parse(sm_arena_t *arena, sm_str_t doc, sm_stats_t *stats)
{
    size_t            i, n;
    sm_json_error_t   err;
    sm_json_value_t   values[SM_STATS_DOC_KEYS], *elts;

    memset(stats, 0, sizeof(sm_stats_t));

    if (sm_json_object_lax(arena, doc, sm_stats_fields, values, &err) != 0
        || sm_stats_parse_target(arena, values[SM_STATS_DOC_TOTALS].raw,
                                 &stats->totals)
           != 0
        || sm_json_array(arena, values[SM_STATS_DOC_TARGETS].raw, &elts, &n,
                         &err)
           != 0
        || sm_parse_uint(values[SM_STATS_DOC_OMITTED].raw, INT64_MAX,
                         &stats->omitted)
           != 0
        || sm_parse_uint(values[SM_STATS_DOC_BEGAN].raw, INT64_MAX,
                         &stats->began)
           != 0
        || sm_stats_parse_from(arena, &values[SM_STATS_DOC_FROM], stats) != 0
        || (values[SM_STATS_DOC_LIMITS].type
            && sm_limits_parse(arena, values[SM_STATS_DOC_LIMITS].raw,
                               &stats->limits, &stats->nlimits)
               != 0)
        || (values[SM_STATS_DOC_RETENTION].type
            && sm_stats_parse_retention(arena,
                                        values[SM_STATS_DOC_RETENTION].raw,
                                        &stats->retention)
               != 0)
        || (values[SM_STATS_DOC_EVENTS].type
            && sm_feed_doc_parse(arena, values[SM_STATS_DOC_EVENTS].raw,
                                 &stats->events, &stats->nevents)
               != 0))
    {
        return -1;
    }

    stats->last = sm_str_eq(values[SM_STATS_DOC_LAST].raw, sm_stats_true);

    if (values[SM_STATS_DOC_HISTORY].type) {
        stats->history = values[SM_STATS_DOC_HISTORY].raw;
    }

    if (n == 0) {
        return 0;
    }

    stats->targets = sm_arena_calloc(arena, n, sizeof(sm_stats_target_t));
    if (stats->targets == NULL) {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (sm_stats_parse_target(arena, elts[i].raw, &stats->targets[i])
            != 0)
        {
            return -1;
        }
    }

    stats->n = n;

    return 0;
}


int
sm_stats_read(sm_arena_t *arena, const sm_stats_row_t *row, sm_stats_t *stats)
{
    if (sm_stats_parse(arena, row->doc, stats) != 0) {
        return -1;
    }

    stats->epoch = row->epoch;
    stats->at = row->at;

    if (stats->counted == 0) {
        stats->counted = row->epoch;
    }

    return 0;
}
