
#include <stdio.h>

#include "sm_schedule.h"
#include "sm_time.h"


#define SM_SCHEDULE_SECOND  ((int64_t) 1000000)

/*
 * Of a cron rule, so many times are counted one by one; then those of the last
 * 400 days are, which have some of every rule that has so many.
 */

#define SM_SCHEDULE_STEPS   100000
#define SM_SCHEDULE_LATELY  ((int64_t) 400 * 86400)


enum {
    SM_SCHEDULE_EVERY = 0,
    SM_SCHEDULE_CRON,
    SM_SCHEDULE_ZONE,
    SM_SCHEDULE_START,
    SM_SCHEDULE_END,
    SM_SCHEDULE_MISFIRE,
    SM_SCHEDULE_OVERLAP,
    SM_SCHEDULE_OTHERS,                    /* from here on: of the one alone */
    SM_SCHEDULE_FROM = SM_SCHEDULE_OTHERS,
    SM_SCHEDULE_TARGET = SM_SCHEDULE_OTHERS,
    SM_SCHEDULE_PAYLOAD,
    SM_SCHEDULE_FIELDS
};


/* as it is sent */

static const sm_json_field_t  sm_schedule_keys[] = {
    { "every", SM_JSON_STRING, 0 },
    { "cron", SM_JSON_STRING, 0 },
    { "timeZone", SM_JSON_STRING, 0 },
    { "startAt", SM_JSON_STRING, 0 },
    { "endAt", SM_JSON_STRING, 0 },
    { "misfire", SM_JSON_STRING, 0 },
    { "overlap", SM_JSON_STRING, 0 },
    { SM_FIELD_TARGET, SM_JSON_STRING, 1 },
    { SM_FIELD_PAYLOAD, SM_JSON_ANY, 0 },
    { NULL, 0, 0 }
};


/* as it is kept: "from" is where an interval starts that was given no start */

static const sm_json_field_t  sm_schedule_kept[] = {
    { "every", SM_JSON_STRING, 0 },
    { "cron", SM_JSON_STRING, 0 },
    { "timeZone", SM_JSON_STRING, 0 },
    { "startAt", SM_JSON_STRING, 0 },
    { "endAt", SM_JSON_STRING, 0 },
    { "misfire", SM_JSON_STRING, 0 },
    { "overlap", SM_JSON_STRING, 0 },
    { "from", SM_JSON_STRING, 0 },
    { NULL, 0, 0 }
};


static const sm_str_t  sm_misfire_names[] = {
    sm_str("once"), sm_str("skip"), sm_str("all")
};

_Static_assert(sm_nelts(sm_misfire_names) == SM_MISFIRES,
               "a name for each rule");

static const sm_str_t  sm_overlap_names[] = {
    sm_str("skip"), sm_str("allow")
};

_Static_assert(sm_nelts(sm_overlap_names) == SM_OVERLAPS,
               "a name for each rule");


sm_str_t
sm_misfire_name(sm_misfire_e misfire)
{
    return sm_misfire_names[misfire];
}


sm_str_t
sm_overlap_name(sm_overlap_e overlap)
{
    return sm_overlap_names[overlap];
}


sm_misfire_e
sm_misfire_by_name(sm_str_t name)
{
    unsigned  i;

    for (i = 0; i < SM_MISFIRES; i++) {
        if (sm_str_eq(sm_misfire_names[i], name)) {
            break;
        }
    }

    return i;
}


sm_overlap_e
sm_overlap_by_name(sm_str_t name)
{
    unsigned  i;

    for (i = 0; i < SM_OVERLAPS; i++) {
        if (sm_str_eq(sm_overlap_names[i], name)) {
            break;
        }
    }

    return i;
}


const char *
sm_schedule_id_check(sm_str_t id)
{
    char    c;
    size_t  i;

    if (id.len == 0) {
        return "must not be empty";
    }

    if (id.len > SM_SCHEDULE_ID_MAX) {
        return "must not be longer than 178 characters";
    }

    if (sm_is_dots(id)) {
        return "must not be \".\" or \"..\"";
    }

    for (i = 0; i < id.len; i++) {
        c = id.data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'
              || c == ':' || c == '~'))
        {
            return "must be letters, digits, \".\", \"_\", \"-\", \":\" and "
                   "\"~\"";
        }
    }

    return NULL;
}


static int
sm_schedule_fault(sm_json_error_t *err, const char *field, const char *what)
{
    err->key = field;
    err->no_memory = 0;

    (void) snprintf(err->message, sizeof(err->message), "\"%s\" %s", field,
                    what);

    return -1;
}


static int
sm_schedule_time(const sm_json_value_t *v, const char *field, int64_t *seconds,
    sm_json_error_t *err)
{
    int64_t      usec;
    const char  *fault;

    *seconds = 0;

    if (v->type == 0) {
        return 0;
    }

    fault = sm_time_parse(v->text, &usec);

    if (fault == NULL
        && (usec % SM_SCHEDULE_SECOND || usec < SM_SCHEDULE_SECOND))
    {
        fault = "must be a whole second after the beginning of 1970";
    }

    *seconds = usec / SM_SCHEDULE_SECOND;

    return fault ? sm_schedule_fault(err, field, fault) : 0;
}


const char *
sm_schedule_check(const sm_schedule_rule_t *rule, const char **field)
{
    size_t  i;

    *field = "every";

    if (rule->every.data == NULL && rule->cron.data == NULL) {
        return "or \"cron\" is needed";
    }

    if (rule->every.data && rule->cron.data) {
        return "and \"cron\" exclude each other";
    }

    *field = "endAt";

    if (rule->end && rule->given_start && rule->end < rule->start) {
        return "must not be before \"startAt\"";
    }

    *field = "timeZone";

    if (rule->zone.data == NULL) {
        return NULL;
    }

    for (i = 0; i < rule->zone.len; i++) {
        if (rule->zone.data[i] <= ' ' || rule->zone.data[i] > '~'
            || rule->zone.data[i] == '"' || rule->zone.data[i] == '\\')
        {
            break;
        }
    }

    if (rule->zone.len == 0 || rule->zone.len > SM_SCHEDULE_ZONE_MAX
        || i < rule->zone.len)
    {
        return "must be a name such as \"Europe/Stockholm\"";
    }

    return NULL;
}


static int
sm_schedule_rule(const sm_json_value_t *v, sm_schedule_rule_t *rule,
    sm_json_error_t *err)
{
    char         why[192];
    const char  *fault, *field;

    memset(rule, 0, sizeof(sm_schedule_rule_t));

    rule->every = v[SM_SCHEDULE_EVERY].text;
    rule->cron = v[SM_SCHEDULE_CRON].text;
    rule->zone = v[SM_SCHEDULE_ZONE].text;

    if (v[SM_SCHEDULE_EVERY].type) {
        fault = sm_duration_parse(rule->every, &rule->interval);
        if (fault) {
            return sm_schedule_fault(err, "every", fault);
        }
    }

    if (v[SM_SCHEDULE_CRON].type
        && sm_cron_parse(rule->cron, &rule->fields, why, sizeof(why)) != 0)
    {
        return sm_schedule_fault(err, "cron", why);
    }

    if (sm_schedule_time(&v[SM_SCHEDULE_START], "startAt", &rule->start, err)
        != 0
        || sm_schedule_time(&v[SM_SCHEDULE_END], "endAt", &rule->end, err) != 0)
    {
        return -1;
    }

    rule->given_start = v[SM_SCHEDULE_START].type != 0;

    if (v[SM_SCHEDULE_MISFIRE].type) {
        rule->misfire = sm_misfire_by_name(v[SM_SCHEDULE_MISFIRE].text);

        if (rule->misfire == SM_MISFIRES) {
            return sm_schedule_fault(err, "misfire", "must be \"once\", "
                                     "\"skip\" or \"all\"");
        }
    }

    if (v[SM_SCHEDULE_OVERLAP].type) {
        rule->overlap = sm_overlap_by_name(v[SM_SCHEDULE_OVERLAP].text);

        if (rule->overlap == SM_OVERLAPS) {
            return sm_schedule_fault(err, "overlap", "must be \"skip\" or "
                                     "\"allow\"");
        }
    }

    fault = sm_schedule_check(rule, &field);

    return fault ? sm_schedule_fault(err, field, fault) : 0;
}


int
sm_schedule_parse(sm_arena_t *arena, sm_str_t body, sm_schedule_rule_t *rule,
    sm_str_t *target, sm_str_t *payload, sm_json_error_t *err)
{
    const char      *fault;
    sm_json_value_t  v[SM_SCHEDULE_FIELDS];

    if (sm_json_object(arena, body, sm_schedule_keys, v, err) != 0) {
        return -1;
    }

    *target = v[SM_SCHEDULE_TARGET].text;
    *payload = v[SM_SCHEDULE_PAYLOAD].raw;

    fault = sm_target_check(*target);

    return fault ? sm_schedule_fault(err, SM_FIELD_TARGET, fault)
                 : sm_schedule_rule(v, rule, err);
}


static void
sm_schedule_out_str(sm_out_t *out, const char *key, sm_str_t s)
{
    if (s.data) {
        sm_out_c(out, sm_out_last(out) == '{' ? "\"" : ",\"");
        sm_out_c(out, key);
        sm_out_c(out, "\":");
        sm_json_out_str(out, s);
    }
}


static void
sm_schedule_out_time(sm_out_t *out, const char *key, int64_t seconds)
{
    if (seconds) {
        sm_out_c(out, ",\"");
        sm_out_c(out, key);
        sm_out_c(out, "\":");
        sm_json_out_time(out, seconds * SM_SCHEDULE_SECOND);
    }
}


int
sm_schedule_body(sm_arena_t *arena, const sm_schedule_rule_t *rule,
    sm_str_t *body)
{
    sm_out_t  out;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "{");
    sm_schedule_out_str(&out, "every", rule->every);
    sm_schedule_out_str(&out, "cron", rule->cron);
    sm_schedule_out_str(&out, "timeZone", rule->zone);
    sm_schedule_out_time(&out, rule->given_start ? "startAt" : "from",
                         rule->start);
    sm_schedule_out_time(&out, "endAt", rule->end);
    sm_schedule_out_str(&out, "misfire", sm_misfire_names[rule->misfire]);
    sm_schedule_out_str(&out, "overlap", sm_overlap_names[rule->overlap]);
    sm_out_c(&out, "}");

    return sm_out_done(&out, body);
}


int
sm_schedule_load(sm_arena_t *arena, sm_str_t body, sm_schedule_rule_t *rule)
{
    int64_t          from;
    sm_json_error_t  err;
    sm_json_value_t  v[SM_SCHEDULE_FIELDS];

    err.no_memory = 0;

    if (sm_json_object(arena, body, sm_schedule_kept, v, &err) != 0
        || sm_schedule_rule(v, rule, &err) != 0
        || sm_schedule_time(&v[SM_SCHEDULE_FROM], "from", &from, &err) != 0)
    {
        return err.no_memory ? -2 : -1;
    }

    if (!rule->given_start) {
        rule->start = from;
    }

    return 0;
}


int
sm_schedule_same_times(const sm_schedule_rule_t *a, const sm_schedule_rule_t *b)
{
    return sm_str_eq(a->every, b->every) && sm_str_eq(a->cron, b->cron)
           && sm_str_eq(a->zone, b->zone) && a->end == b->end
           && a->given_start == b->given_start
           && (!a->given_start || a->start == b->start);
}


static int
sm_schedule_next_cron(const sm_schedule_rule_t *rule,
    const sm_schedule_zone_t *zone, int64_t after, int64_t *next)
{
    int64_t  local, utc;

    if (zone == NULL) {
        return sm_cron_next(&rule->fields, after, next);
    }

    if (zone->to_local(zone->data, after, &local) != 0) {
        return -1;
    }

    /* local times come again where clocks are set back: they are done with */

    do {
        if (sm_cron_next(&rule->fields, local, &local) != 0
            || zone->to_utc(zone->data, local, &utc) != 0)
        {
            return -1;
        }

    } while (utc <= after);

    *next = utc;

    return 0;
}


int
sm_schedule_next(const sm_schedule_rule_t *rule, const sm_schedule_zone_t *zone,
    int64_t after, int64_t *next)
{
    if (rule->start && after < rule->start) {
        after = rule->start - 1;
    }

    if (rule->interval) {
        *next = rule->start;

        if (after >= rule->start) {
            *next += ((after - rule->start) / rule->interval + 1)
                     * rule->interval;
        }

    } else if (sm_schedule_next_cron(rule, zone, after, next) != 0) {
        return -1;
    }

    if ((rule->end && *next > rule->end)
        || *next > SM_TIME_MAX / SM_SCHEDULE_SECOND)
    {
        *next = 0;
    }

    return 0;
}


/*
 * How many times have come from "planned" to "now"; the last of them, as many
 * as there is room for, and the next one.
 */

static int
sm_schedule_come(const sm_schedule_rule_t *rule, const sm_schedule_zone_t *zone,
    int64_t planned, int64_t now, sm_schedule_due_t *due, size_t room,
    int64_t *count)
{
    int64_t  at, n, first, last;

    at = planned;
    n = 0;
    first = 0;

    if (rule->interval && now > planned) {

        /* all but the last ones are counted at once */

        last = rule->end && rule->end < now ? rule->end : now;
        first = (last - planned) / rule->interval + 1 - (int64_t) room;
        first = first > 0 ? first : 0;
        at += first * rule->interval;
    }

    while (at && at <= now) {
        due->times[n++ % room] = at;

        if (n == SM_SCHEDULE_STEPS && at < now - SM_SCHEDULE_LATELY) {
            at = now - SM_SCHEDULE_LATELY;
        }

        if (sm_schedule_next(rule, zone, at, &at) != 0) {
            return -1;
        }
    }

    due->next = at;
    due->n = (size_t) n < room ? (size_t) n : room;
    *count = first + n;

    return 0;
}


/* the ring of the last "room" times becomes a list, oldest first */

static void
sm_schedule_sort(int64_t *times, size_t n)
{
    size_t   i, least;
    int64_t  t;

    for (i = 1, least = 0; i < n; i++) {
        if (times[i] < times[least]) {
            least = i;
        }
    }

    for ( /* void */ ; least; least--) {
        t = times[0];
        (void) memmove(times, times + 1, (n - 1) * sizeof(int64_t));
        times[n - 1] = t;
    }
}


int
sm_schedule_due(sm_arena_t *arena, const sm_schedule_rule_t *rule,
    const sm_schedule_zone_t *zone, int64_t planned, int64_t now, unsigned busy,
    sm_schedule_due_t *due)
{
    size_t   room;
    int64_t  count;

    memset(due, 0, sizeof(sm_schedule_due_t));

    room = rule->misfire == SM_MISFIRE_ALL ? SM_SCHEDULE_ALL : 1;

    if (rule->interval && room > (size_t) ((now - planned) / rule->interval)
                                 + 1)
    {
        room = (now - planned) / rule->interval + 1;
    }

    due->times = sm_arena_calloc(arena, room, sizeof(int64_t));

    if (due->times == NULL) {
        return -2;
    }

    if (sm_schedule_come(rule, zone, planned, now, due, room, &count) != 0) {
        return -1;
    }

    sm_schedule_sort(due->times, due->n);

    due->cut = rule->misfire == SM_MISFIRE_ALL
               && count > (int64_t) due->n;

    if (rule->misfire == SM_MISFIRE_SKIP && due->n
        && now - due->times[0] > SM_SCHEDULE_GRACE)
    {
        due->n = 0;
    }

    due->missed = count - (int64_t) due->n;

    if (busy && rule->overlap == SM_OVERLAP_SKIP) {
        due->skipped = due->n;
        due->n = 0;
    }

    return 0;
}


void
sm_schedule_part(sm_schedule_due_t *due, size_t n)
{
    if (n < due->n) {
        due->left += due->n - n;
        due->next = due->times[n];
        due->n = n;
    }
}


int
sm_schedule_intent(sm_arena_t *arena, sm_str_t id, int64_t at, sm_str_t *intent)
{
    char      time[SM_TIME_LEN];
    sm_out_t  out;

    sm_out_init(&out, time, sizeof(time));
    sm_out_time(&out, at * SM_SCHEDULE_SECOND);

    sm_out_init_arena(&out, arena);

    sm_out_str(&out, id);
    sm_out_c(&out, "@");
    sm_out_bytes(&out, time, SM_SCHEDULE_TIME_LEN - 1);
    sm_out_c(&out, "Z");

    return sm_out_done(&out, intent);
}


int
sm_schedule_timed(sm_str_t id)
{
    static const char  form[] = "@0000-00-00T00:00:00Z";

    size_t       i, len;
    const char  *p;

    len = sizeof(form) - 1;

    if (id.len < len || id.data[id.len - len] != '@') {
        return 0;
    }

    p = id.data + id.len - len;

    for (i = 1; i < len; i++) {
        if (form[i] == '0' ? p[i] < '0' || p[i] > '9' : p[i] != form[i]) {
            return 0;
        }
    }

    return 1;
}


int
sm_schedule_occurrence(sm_str_t id, sm_str_t *schedule)
{
    if (!sm_schedule_timed(id)) {
        return 0;
    }

    schedule->data = id.data;
    schedule->len = id.len - SM_SCHEDULE_TIME_LEN - 1;

    return sm_schedule_id_check(*schedule) == NULL;
}
