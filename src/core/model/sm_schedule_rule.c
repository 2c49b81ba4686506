
#include "sm_contract.h"
#include "sm_field.h"
#include "sm_intent.h"
#include "sm_schedule_rule.h"
#include "sm_time.h"


/*
 * A rule is sent with a target and maybe a payload.  It is kept alone, with
 * "from" where an interval starts that was given no start.
 */

enum {
    SM_SCHEDULE_EVERY = 0,
    SM_SCHEDULE_CRON,
    SM_SCHEDULE_ZONE,
    SM_SCHEDULE_START,
    SM_SCHEDULE_END,
    SM_SCHEDULE_MISFIRE,
    SM_SCHEDULE_OVERLAP,
    SM_SCHEDULE_OTHERS,
    SM_SCHEDULE_FROM = SM_SCHEDULE_OTHERS,
    SM_SCHEDULE_TARGET = SM_SCHEDULE_OTHERS,
    SM_SCHEDULE_PAYLOAD,
    SM_SCHEDULE_FIELDS
};

#define SM_SCHEDULE_RULE_KEYS                                                 \
    { "every", SM_JSON_STRING, 0 },                                           \
    { "cron", SM_JSON_STRING, 0 },                                            \
    { "timeZone", SM_JSON_STRING, 0 },                                        \
    { "startAt", SM_JSON_STRING, 0 },                                         \
    { "endAt", SM_JSON_STRING, 0 },                                           \
    { "misfire", SM_JSON_STRING, 0 },                                         \
    { "overlap", SM_JSON_STRING, 0 }

static const sm_json_field_t  sm_schedule_sent[] = {
    SM_SCHEDULE_RULE_KEYS,
    { SM_FIELD_TARGET, SM_JSON_STRING, 1 },
    { SM_FIELD_PAYLOAD, SM_JSON_ANY, 0 },
    { NULL, 0, 0 }
};

static const sm_json_field_t  sm_schedule_kept[] = {
    SM_SCHEDULE_RULE_KEYS,
    { "from", SM_JSON_STRING, 0 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_schedule_sent) == SM_SCHEDULE_FIELDS + 1,
               "a row for each key");


static const sm_str_t  sm_misfire_names[] = {
    sm_str("once"), sm_str("skip"), sm_str("all")
};

_Static_assert(sm_nelts(sm_misfire_names) == SM_MISFIRES,
               "a name for each rule");

static const sm_names_t  sm_misfires = {
    sm_misfire_names, SM_MISFIRES, SM_MISFIRES
};


static const sm_str_t  sm_overlap_names[] = {
    sm_str("skip"), sm_str("allow")
};

_Static_assert(sm_nelts(sm_overlap_names) == SM_OVERLAPS,
               "a name for each rule");

static const sm_names_t  sm_overlaps = {
    sm_overlap_names, SM_OVERLAPS, SM_OVERLAPS
};


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

    if (fault) {
        return sm_json_fault(err, field, fault);
    }

    *seconds = usec / SM_SCHEDULE_SECOND;

    return 0;
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
            return sm_json_fault(err, "every", fault);
        }
    }

    if (v[SM_SCHEDULE_CRON].type
        && sm_cron_parse(rule->cron, &rule->fields, why, sizeof(why)) != 0)
    {
        return sm_json_fault(err, "cron", why);
    }

    if (sm_schedule_time(&v[SM_SCHEDULE_START], "startAt", &rule->start, err)
        != 0
        || sm_schedule_time(&v[SM_SCHEDULE_END], "endAt", &rule->end, err) != 0)
    {
        return -1;
    }

    rule->given_start = v[SM_SCHEDULE_START].type != 0;

    if (v[SM_SCHEDULE_MISFIRE].type) {
        rule->misfire = sm_names_value(&sm_misfires,
                                       v[SM_SCHEDULE_MISFIRE].text);

        if (rule->misfire == SM_MISFIRES) {
            return sm_json_fault(err, "misfire", "must be \"once\", "
                                 "\"skip\" or \"all\"");
        }
    }

    if (v[SM_SCHEDULE_OVERLAP].type) {
        rule->overlap = sm_names_value(&sm_overlaps,
                                       v[SM_SCHEDULE_OVERLAP].text);

        if (rule->overlap == SM_OVERLAPS) {
            return sm_json_fault(err, "overlap", "must be \"skip\" or "
                                 "\"allow\"");
        }
    }

    fault = sm_schedule_check(rule, &field);

    return fault ? sm_json_fault(err, field, fault) : 0;
}


int
sm_schedule_parse(sm_arena_t *arena, sm_str_t body, sm_schedule_rule_t *rule,
    sm_str_t *target, sm_str_t *payload, sm_json_error_t *err)
{
    const char      *fault;
    sm_json_value_t  v[SM_SCHEDULE_FIELDS];

    if (sm_json_object(arena, body, sm_schedule_sent, v, err) != 0) {
        return -1;
    }

    *target = v[SM_SCHEDULE_TARGET].text;
    *payload = v[SM_SCHEDULE_PAYLOAD].raw;

    fault = sm_target_check(*target);

    return fault ? sm_json_fault(err, SM_FIELD_TARGET, fault)
                 : sm_schedule_rule(v, rule, err);
}


static void
sm_schedule_out_text(sm_out_t *out, const char *key, sm_str_t value)
{
    if (value.data) {
        sm_out_c(out, sm_out_last(out) == '{' ? "\"" : ",\"");
        sm_out_c(out, key);
        sm_out_c(out, "\":");
        sm_json_out_str(out, value);
    }
}


static void
sm_schedule_out_second(sm_out_t *out, const char *key, int64_t second)
{
    if (second) {
        sm_out_c(out, ",\"");
        sm_out_c(out, key);
        sm_out_c(out, "\":");
        sm_json_out_time(out, second * SM_SCHEDULE_SECOND);
    }
}


/* Every rule has "every" or "cron", so that a time is never the first key. */

static void
sm_schedule_out_keys(sm_out_t *out, const sm_schedule_rule_t *rule,
    sm_str_t zone, const char *start)
{
    sm_schedule_out_text(out, "every", rule->every);
    sm_schedule_out_text(out, "cron", rule->cron);
    sm_schedule_out_text(out, "timeZone", zone);
    sm_schedule_out_second(out, start, rule->start);
    sm_schedule_out_second(out, "endAt", rule->end);
    sm_schedule_out_text(out, "misfire", sm_misfire_names[rule->misfire]);
    sm_schedule_out_text(out, "overlap", sm_overlap_names[rule->overlap]);
}


void
sm_schedule_rule_out(sm_out_t *out, const sm_schedule_rule_t *rule)
{
    static const sm_str_t  utc = sm_str("UTC");

    sm_schedule_out_keys(out, rule, rule->zone.data ? rule->zone : utc,
                         "startAt");
}


int
sm_schedule_body(sm_arena_t *arena, const sm_schedule_rule_t *rule,
    sm_str_t *body)
{
    sm_out_t  out;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "{");
    sm_schedule_out_keys(&out, rule, rule->zone,
                         rule->given_start ? "startAt" : "from");
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
