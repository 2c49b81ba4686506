
/*
 * Cron's fields, durations, and what becomes of planned times, in UTC.  Broken by:
 * a next time that is computed from now and not from the plan, a day of the month
 * and one of the week that must both fit, a Sunday that is 7 and not 0, a leap day,
 * a bound that is off by one, misfire rules that are mixed up.
 */

#include "seconds.h"
#include "sm_intent.h"
#include "sm_schedule.h"
#include "sm_schedule_due.h"


static void
test_cron(void)
{
    int        rc;
    char       why[192];
    size_t     i;
    int64_t    next;
    sm_cron_t  cron;

    static const struct {
        const char  *cron;
        const char  *after;
        const char  *next;
    } t[] = {
        { "* * * * *", "2026-02-02T12:00:00Z", "2026-02-02T12:01:00Z" },
        { "* * * * *", "2026-02-02T12:00:59Z", "2026-02-02T12:01:00Z" },
        { "*/5 * * * *", "2026-02-02T12:55:00Z", "2026-02-02T13:00:00Z" },
        { "3-59/20 * * * *", "2026-02-02T12:23:00Z", "2026-02-02T12:43:00Z" },
        { "0 2 * * *", "2026-02-02T02:00:00Z", "2026-02-03T02:00:00Z" },
        { "59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z" },
        { "0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z" },
        { "0 0 29 2 */7", "2032-02-29T00:00:00Z", "2060-02-29T00:00:00Z" },
        { "0 0 29 2 */7", "2088-02-29T00:00:00Z", "2128-02-29T00:00:00Z" },
        { "0 0 */31 3 0", "2026-03-01T00:00:00Z", "2037-03-01T00:00:00Z" },
        { "0 0 31 * *", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z" },
        { "30 4 1,15 * 5", "2026-02-02T00:00:00Z", "2026-02-06T04:30:00Z" },
        { "30 4 1,15 * 5", "2026-02-13T04:30:00Z", "2026-02-15T04:30:00Z" },
        { "0 0 1-7 * */7", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z" },
        { "0 0 */2 * MON", "2026-02-02T00:00:00Z", "2026-02-09T00:00:00Z" },
        { "0 0 * * 0", "2026-02-02T00:00:00Z", "2026-02-08T00:00:00Z" },
        { "0 0 * * 7", "2026-02-02T00:00:00Z", "2026-02-08T00:00:00Z" },
        { "0 0 * * sun", "2026-02-02T00:00:00Z", "2026-02-08T00:00:00Z" },
        { "0 0 * * Fri-Sun", "2026-02-07T00:00:00Z",
          "2026-02-08T00:00:00Z" },
        { "0 0 * JAN-mar,Dec 1-5", "2026-03-31T00:00:00Z",
          "2026-12-01T00:00:00Z" },
        { "  15   10-12/2 * * * ", "2026-02-02T10:15:00Z",
          "2026-02-02T12:15:00Z" },
        { "0 9 * * 1", "2026-02-02T08:59:59Z", "2026-02-02T09:00:00Z" },
        { "0 9 * * 1", "2026-02-02T09:00:00Z", "2026-02-09T09:00:00Z" }
    };

    static const char *const  bad[] = {
        "", "*", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *",
        "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *", "* * * * 8",
        "5/10 * * * *", "*/0 * * * *", "1- * * * *", "-1 * * * *",
        "1,, * * * *", ", * * * *", "5-1 * * * *", "* * * foo *",
        "jan * * * *", "* * * jana *", "* * 30 2 *", "* * 31 2,4,6,9,11 *",
        "@daily", "*5 * * * *", "**  * * * *", "1.5 * * * *",
        "1000000000000 * * * *", "* * * * mon#2", "* * L * *",
        "* * 30 2 */7", "* * */40 2 8",

        /* cut between two characters */

        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
        "\xc3\xa4 * * * *",
        "x\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
        " * * * *"
    };

    for (i = 0; i < sm_nelts(t); i++) {
        rc = sm_cron_parse(sm_str_c(t[i].cron), &cron, why, sizeof(why));
        ok(rc == 0, "\"%s\"", t[i].cron);
        ok(sm_cron_next(&cron, at(t[i].after), &next) == 0, "there is one");
        is_str(text_of(next), t[i].next, "after %s", t[i].after);
    }

    for (i = 0; i < sm_nelts(bad); i++) {
        why[0] = '\0';
        ok(sm_cron_parse(sm_str_c(bad[i]), &cron, why, sizeof(why)) == -1
           && why[0] && sm_utf8_check(sm_str_c(why)) == strlen(why),
           "\"%s\": %s", bad[i], why);
    }
}


/* against a search that goes minute by minute, over five years */

static void
test_brute(void)
{
    int        day, hour, fits;
    char       why[192];
    size_t     i, wrong;
    int64_t    t, next, end, expected;
    sm_cron_t  cron;
    sm_date_t  date;

    static const char *const  crons[] = {
        "17 3 13 * 5", "0 */6 * 2,7 *", "30 12 29-31 * *", "0 0 1 1 *",
        "5 4 */10 * 1-3"
    };

    for (i = 0; i < sm_nelts(crons); i++) {
        (void) sm_cron_parse(sm_str_c(crons[i]), &cron, why, sizeof(why));

        next = at("2024-01-01T00:00:00Z");
        end = at("2029-01-01T00:00:00Z");
        expected = 0;
        wrong = 0;

        (void) sm_cron_next(&cron, next - 1, &next);

        for (t = at("2024-01-01T00:00:00Z"); t < end; t += 60) {
            sm_time_date(t / 86400, &date);
            day = (t / 86400 + 4) % 7;
            hour = t / 3600 % 24;

            fits = (cron.minutes >> (t / 60 % 60) & 1)
                   && (cron.hours >> hour & 1)
                   && (cron.months >> date.month & 1)
                   && (cron.any_day || cron.any_weekday
                       ? (cron.days >> date.day & 1)
                         && (cron.weekdays >> day & 1)
                       : (cron.days >> date.day & 1)
                         || (cron.weekdays >> day & 1));

            if (fits) {
                expected++;
                wrong += next != t;
                (void) sm_cron_next(&cron, next, &next);
            }
        }

        is_int(wrong, 0, "\"%s\" has the %d times of five years", crons[i],
               (int) expected);
        ok(expected > 3 && next >= end, "and no other");
    }
}


static void
test_date(void)
{
    int64_t    day, wrong;
    sm_date_t  d;

    for (day = -800000, wrong = 0; day < 3000000; day += 7) {
        sm_time_date(day, &d);
        wrong += sm_time_days(d.year, d.month, d.day) != day
                 || d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31;
    }

    is_int(wrong, 0, "a day has its date, and the date its day");

    sm_time_date(0, &d);
    ok(d.year == 1970 && d.month == 1 && d.day == 1, "the first of 1970");
    sm_time_date(11016, &d);
    ok(d.year == 2000 && d.month == 2 && d.day == 29, "a leap day");
}


static void
test_duration(void)
{
    size_t   i;
    int64_t  seconds;

    static const struct {
        const char  *text;
        int64_t      seconds;
    } t[] = {
        { "PT1S", 1 }, { "PT10M", 600 }, { "P1D", 86400 },
        { "P1DT12H", 129600 }, { "P365D", 31536000 }, { "P2W", 1209600 },
        { "PT1H30M5S", 5405 }, { "PT0M1S", 1 }, { "PT86400S", 86400 },
        { "P1WT1S", 604801 }
    };

    static const char *const  bad[] = {
        "", "P", "PT", "PT0S", "P1Y", "P1M", "PT1.5S", "10M", "PT1", "PT1M1H",
        "P1DT", "PT1D", "P1H", "P366D", "P365DT1S", "PT9999999999S", "pt1s",
        "PT1S ", "-PT1S", "PT1S1S", "PTT1S", "P1D1D", "PT-1S"
    };

    for (i = 0; i < sm_nelts(t); i++) {
        seconds = 0;
        ok(sm_duration_parse(sm_str_c(t[i].text), &seconds) == NULL, "%s",
           t[i].text);
        is_int(seconds, t[i].seconds, "its seconds");
    }

    for (i = 0; i < sm_nelts(bad); i++) {
        ok(sm_duration_parse(sm_str_c(bad[i]), &seconds) != NULL,
           "\"%s\" is none", bad[i]);
    }
}


static int
parse(sm_arena_t *arena, const char *body, sm_schedule_rule_t *rule,
    sm_json_error_t *err)
{
    sm_str_t  target, payload;

    return sm_schedule_parse(arena, sm_str_c(body), rule, &target, &payload, err);
}


static void
test_parse(void)
{
    size_t           i;
    sm_str_t         kept = sm_null_str;
    sm_arena_t       arena = { NULL };
    sm_json_error_t  err;
    sm_schedule_rule_t  rule, again;

    static const char *const  good[] = {
        "{\"submissionTarget\":\"sms\",\"every\":\"PT10M\"}",
        "{\"submissionTarget\":\"sms\",\"cron\":\"0 2 * * mon\","
        "\"timeZone\":\"Europe/Stockholm\",\"payload\":{\"a\":1},"
        "\"startAt\":\"2026-02-02T12:00:00+01:00\","
        "\"endAt\":\"2026-02-02T11:00:00Z\",\"misfire\":\"all\","
        "\"overlap\":\"allow\"}"
    };

    static const struct {
        const char  *body;
        const char  *key;
    } bad[] = {
        { "{\"submissionTarget\":\"sms\"}", "every" },
        { "{\"every\":\"PT1S\"}", "submissionTarget" },
        { "{\"submissionTarget\":\"a b\",\"every\":\"PT1S\"}",
          "submissionTarget" },
        { "{\"submissionTarget\":\"s\",\"every\":\"PT1S\","
          "\"cron\":\"* * * * *\"}", "every" },
        { "{\"submissionTarget\":\"s\",\"every\":\"10m\"}", "every" },
        { "{\"submissionTarget\":\"s\",\"cron\":\"61 * * * *\"}", "cron" },
        { "{\"submissionTarget\":\"s\",\"every\":\"PT1S\","
          "\"startAt\":\"2026-02-02T12:00:00.5Z\"}", "startAt" },
        { "{\"submissionTarget\":\"s\",\"every\":\"PT1S\","
          "\"startAt\":\"2026-02-02T12:00:01Z\","
          "\"endAt\":\"2026-02-02T12:00:00Z\"}", "endAt" },
        { "{\"submissionTarget\":\"s\",\"every\":\"PT1S\","
          "\"misfire\":\"never\"}", "misfire" },
        { "{\"submissionTarget\":\"s\",\"every\":\"PT1S\","
          "\"overlap\":\"wait\"}", "overlap" },
        { "{\"submissionTarget\":\"s\",\"every\":\"PT1S\","
          "\"timeZone\":\"\"}", "timeZone" },
        { "{\"submissionTarget\":\"s\",\"every\":\"PT1S\","
          "\"timeZone\":\"a\\\"b\"}", "timeZone" },
        { "{\"submissionTarget\":\"s\",\"every\":\"PT1S\",\"from\":\"x\"}",
          "from" }
    };

    for (i = 0; i < sm_nelts(good); i++) {
        ok(parse(&arena, good[i], &rule, &err) == 0, "%s", good[i]);
        ok(sm_schedule_body(&arena, &rule, &kept) == 0
           && sm_schedule_load(&arena, kept, &again) == 0
           && sm_schedule_same_times(&rule, &again)
           && rule.misfire == again.misfire && rule.overlap == again.overlap,
           "is the same after it was kept: %.*s", (int) kept.len, kept.data);
    }

    for (i = 0; i < sm_nelts(bad); i++) {
        err.key = NULL;
        ok(parse(&arena, bad[i].body, &rule, &err) == -1
           && (bad[i].key == NULL
               || (err.key && strcmp(err.key, bad[i].key) == 0)),
           "%s: %s", bad[i].body, err.message);
    }

    sm_arena_free(&arena);
}


static void
test_id(void)
{
    char        id[256];
    sm_str_t    s, intent;
    sm_arena_t  arena = { NULL };

    memset(id, 'a', sizeof(id));

    s.data = id;
    s.len = SM_SCHEDULE_ID_MAX;

    ok(sm_schedule_id_check(s) == NULL, "an id of 178 characters");
    ok(sm_schedule_intent(&arena, s, at("2026-02-02T12:00:10Z"), &intent) == 0
       && sm_id_check(intent) == NULL && intent.len <= SM_ID_MAX,
       "its intents have ids");

    s.len++;
    ok(sm_schedule_id_check(s) != NULL, "and not one of 179");

    ok(sm_schedule_intent(&arena, sm_str_c("nightly"), at("2026-02-02T12:00:10Z"),
                          &intent) == 0, "the id of an intent");
    is_mem(intent.data, intent.len, "nightly@2026-02-02T12:00:10Z", 28,
           "has the time in it");

    ok(sm_schedule_id_check(sm_str_c("")) != NULL, "no id is none");
    ok(sm_schedule_id_check(sm_str_c("a@b")) != NULL, "nor one with \"@\"");
    ok(sm_schedule_id_check(sm_str_c("a b")) != NULL, "nor one with a space");
    ok(sm_schedule_id_check(sm_str_c(".")) != NULL, "nor what a path loses");
    ok(sm_schedule_id_check(sm_str_c("..")) != NULL, "nor what shortens one");
    ok(sm_schedule_id_check(sm_str_c("...")) == NULL, "three dots are a name");
    ok(sm_schedule_id_check(sm_str_c("\xc3\xa5")) != NULL, "ids are ASCII");
    ok(sm_schedule_id_check(sm_str_c("a.B_9-:~")) == NULL, "all that may be");

    sm_arena_free(&arena);
}


/* a rule of an interval of 10 s from noon on */

static void
interval(sm_schedule_rule_t *rule, sm_misfire_e misfire, sm_overlap_e overlap)
{
    memset(rule, 0, sizeof(sm_schedule_rule_t));

    rule->every = sm_str_c("PT10S");
    rule->interval = 10;
    rule->start = at("2026-02-02T12:00:00Z");
    rule->misfire = misfire;
    rule->overlap = overlap;
}


static void
test_next(void)
{
    size_t           i;
    int64_t          t, next, wrong;
    sm_schedule_rule_t  rule;

    interval(&rule, SM_MISFIRE_ONCE, SM_OVERLAP_SKIP);

    ok(sm_schedule_next(&rule, NULL, 0, &next) == 0 && next == rule.start,
       "the first time is the start");
    ok(sm_schedule_next(&rule, NULL, rule.start - 1, &next) == 0
       && next == rule.start, "a second before it, too");
    ok(sm_schedule_next(&rule, NULL, rule.start, &next) == 0
       && next == rule.start + 10, "the second is an interval later");
    ok(sm_schedule_next(&rule, NULL, rule.start + 19, &next) == 0
       && next == rule.start + 20, "from any moment before it");

    /* whenever it is looked at, and however late, the plan is the same */

    for (i = 0, t = rule.start, wrong = 0; i < 1000; i++, t = next) {
        (void) sm_schedule_next(&rule, NULL, t + i * 7 % 10, &next);
        wrong += next != rule.start + 10 * (int64_t) (i + 1);
    }

    is_int(wrong, 0, "no drift over 1,000 intervals");

    rule.end = rule.start + 20;
    ok(sm_schedule_next(&rule, NULL, rule.start + 10, &next) == 0
       && next == rule.start + 20, "the end is a time, too");
    ok(sm_schedule_next(&rule, NULL, rule.start + 20, &next) == 0 && next == 0,
       "after it there is none");
}


static void
due(sm_misfire_e misfire, sm_overlap_e overlap, int64_t late, unsigned busy,
    size_t n, int64_t first, int64_t missed, int64_t skipped, const char *what)
{
    size_t           i;
    sm_arena_t       arena = { NULL };
    sm_schedule_due_t   d;
    sm_schedule_rule_t  rule;

    interval(&rule, misfire, overlap);

    ok(sm_schedule_due(&arena, &rule, NULL, rule.start, rule.start + late, busy,
                       &d) == 0
       && d.n == n && d.missed == missed && d.skipped == skipped
       && (n == 0 || d.times[0] == rule.start + first)
       && d.next == rule.start + late / 10 * 10 + 10, "%s", what);

    for (i = 1; i < d.n; i++) {
        if (d.times[i] != d.times[i - 1] + 10) {
            ok(0, "each is an interval after the one before it");
            break;
        }
    }

    sm_arena_free(&arena);
}


static void
test_due(void)
{
    char             why[128];
    int64_t          start;
    sm_arena_t       arena = { NULL };
    sm_schedule_due_t   d;
    sm_schedule_rule_t  rule;

    due(SM_MISFIRE_ONCE, SM_OVERLAP_SKIP, 0, 0, 1, 0, 0, 0, "once: on time");
    due(SM_MISFIRE_ONCE, SM_OVERLAP_SKIP, 9, 0, 1, 0, 0, 0, "once: late");
    due(SM_MISFIRE_ONCE, SM_OVERLAP_SKIP, 10, 0, 1, 10, 1, 0,
        "once: of two the latest");
    due(SM_MISFIRE_ONCE, SM_OVERLAP_SKIP, 100000009, 0, 1, 100000000, 10000000,
        0, "once: of ten million the latest");

    due(SM_MISFIRE_SKIP, SM_OVERLAP_SKIP, 5, 0, 1, 0, 0, 0, "skip: on time");
    due(SM_MISFIRE_SKIP, SM_OVERLAP_SKIP, 35, 0, 1, 30, 3, 0,
        "skip: the latest is hardly late");

    due(SM_MISFIRE_ALL, SM_OVERLAP_SKIP, 0, 0, 1, 0, 0, 0, "all: on time");
    due(SM_MISFIRE_ALL, SM_OVERLAP_SKIP, 35, 0, 4, 0, 0, 0, "all: four");
    due(SM_MISFIRE_ALL, SM_OVERLAP_SKIP, 9999, 0, 1000, 0, 0, 0,
        "all: a thousand");
    due(SM_MISFIRE_ALL, SM_OVERLAP_SKIP, 10000, 0, 1000, 10, 1, 0,
        "all: of a thousand and one, the latest thousand");

    due(SM_MISFIRE_ONCE, SM_OVERLAP_SKIP, 20, 1, 0, 0, 2, 1,
        "the last one is pending: it is skipped");
    due(SM_MISFIRE_ALL, SM_OVERLAP_SKIP, 20, 1, 0, 0, 0, 3, "all are");
    due(SM_MISFIRE_ONCE, SM_OVERLAP_ALLOW, 20, 1, 1, 20, 2, 0,
        "unless it may overlap");

    /* of an hour, a quarter of it late */

    interval(&rule, SM_MISFIRE_SKIP, SM_OVERLAP_SKIP);
    rule.interval = 3600;

    ok(sm_schedule_due(&arena, &rule, NULL, rule.start, rule.start + 60, 0, &d)
       == 0 && d.n == 1, "skip: a minute is forgiven");
    ok(sm_schedule_due(&arena, &rule, NULL, rule.start, rule.start + 61, 0, &d)
       == 0 && d.n == 0 && d.missed == 1 && d.next == rule.start + 3600,
       "skip: more than a minute is not");

    /* the end is before now */

    interval(&rule, SM_MISFIRE_ALL, SM_OVERLAP_ALLOW);
    rule.end = rule.start + 25;

    ok(sm_schedule_due(&arena, &rule, NULL, rule.start, rule.start + 900000, 0,
                       &d) == 0
       && d.n == 3 && d.missed == 0 && d.next == 0,
       "all, to its end: %zu, %d", d.n, (int) d.missed);

    rule.misfire = SM_MISFIRE_ONCE;

    ok(sm_schedule_due(&arena, &rule, NULL, rule.start, rule.start + 900000, 0,
                       &d) == 0
       && d.n == 1 && d.times[0] == rule.start + 20 && d.missed == 2
       && d.next == 0, "once: the last one before its end");

    /* by cron */

    memset(&rule, 0, sizeof(rule));
    (void) sm_cron_parse(sm_str_c("*/5 * * * *"), &rule.fields, why,
                         sizeof(why));

    start = at("2026-02-02T12:00:00Z");

    ok(sm_schedule_due(&arena, &rule, NULL, start, start + 3600, 0, &d) == 0
       && d.n == 1 && d.times[0] == start + 3600 && d.missed == 12
       && d.next == start + 3900, "cron, once: the latest of an hour");

    rule.misfire = SM_MISFIRE_ALL;

    ok(sm_schedule_due(&arena, &rule, NULL, start, start + 300 * 1499 + 1, 0, &d)
       == 0 && d.n == 1000 && d.cut && d.missed == 500
       && d.times[0] == start + 500 * 300
       && d.times[999] == start + 1499 * 300
       && d.next == start + 1500 * 300, "cron, all: the latest thousand");

    (void) sm_cron_parse(sm_str_c("* * * * *"), &rule.fields, why,
                         sizeof(why));
    rule.misfire = SM_MISFIRE_ONCE;

    ok(sm_schedule_due(&arena, &rule, NULL, start, start + 3000 * (int64_t) 86400,
                       0, &d) == 0
       && d.n == 1 && d.times[0] == start + 3000 * (int64_t) 86400,
       "cron, once: the latest of eight years");

    /* one that has to look far for its next time is made all the same */

    (void) sm_cron_parse(sm_str_c("0 0 29 2 */7"), &rule.fields, why,
                         sizeof(why));

    start = at("2032-02-29T00:00:00Z");

    ok(sm_schedule_due(&arena, &rule, NULL, start, start, 0, &d) == 0
       && d.n == 1 && d.times[0] == start
       && d.next == at("2060-02-29T00:00:00Z"), "cron: the next in 28 years");

    sm_arena_free(&arena);
}


/* parts, one after the other, are what it would be in one */

static void
test_parts(void)
{
    size_t           n;
    int64_t          now, planned, missed, wrong;
    sm_arena_t       arena = { NULL };
    sm_schedule_due_t   d;
    sm_schedule_rule_t  rule;

    interval(&rule, SM_MISFIRE_ALL, SM_OVERLAP_SKIP);

    planned = rule.start;
    now = rule.start + 13005;

    ok(sm_schedule_due(&arena, &rule, NULL, planned, now, 0, &d) == 0 && d.cut
       && d.n == 1000 && d.left == 0, "a thousand have come, and more");

    sm_schedule_part(&d, 1000);
    ok(d.n == 1000 && d.left == 0 && d.next == rule.start + 13010,
       "a part that has all is no part");

    for (n = 0, missed = 0, wrong = 0; planned && planned <= now; n += d.n) {
        if (sm_schedule_due(&arena, &rule, NULL, planned, now, 0, &d) != 0) {
            break;
        }

        sm_schedule_part(&d, 300);

        wrong += d.times[0] != rule.start + 3010 + (int64_t) n * 10
                 || d.next != d.times[d.n - 1] + 10
                 || d.left != 1000 - n - d.n;
        missed += d.missed;
        planned = d.next;
    }

    is_int(n, 1000, "in parts they are as many");
    is_int(wrong, 0, "and the same");
    is_int(missed, 301, "what was missed counts once");
    is_int(planned, rule.start + 13010, "the next time is that of the plan");

    sm_arena_free(&arena);
}


static void
is_shown(const sm_schedule_t *schedule, const sm_schedule_rule_t *rule,
    const char *expected, const char *name)
{
    char      buf[2048];
    sm_out_t  out;

    sm_out_init(&out, buf, sizeof(buf));
    sm_schedule_out(&out, schedule, rule);

    is_int(out.full, 0, "%s: it fits", name);
    is_mem(out.start, out.last - out.start, expected, strlen(expected), "%s",
           name);
}


/* a reason that is empty is a reason; who has made it may be unknown */

static void
test_out(void)
{
    sm_schedule_t       s;
    sm_schedule_rule_t  rule;

    memset(&s, 0, sizeof(s));
    memset(&rule, 0, sizeof(rule));

    s.id = sm_str_c("s");
    s.target = sm_str_c("pay");
    rule.every = sm_str_c("1h");

    is_shown(&s, &rule,
             "{\"id\":\"s\",\"submissionTarget\":\"pay\",\"every\":\"1h\","
             "\"timeZone\":\"UTC\",\"misfire\":\"once\",\"overlap\":\"skip\","
             "\"paused\":false,\"source\":\"api\",\"nextRunAt\":null,"
             "\"fired\":0,\"skipped\":0,\"missed\":0,\"modifiedBy\":null,"
             "\"etag\":\"0\"}",
             "the least");

    rule.zone = sm_str_c("Europe/Berlin");
    rule.start = 1;
    rule.end = 2;
    s.paused_at = 3;
    s.pause_reason = sm_str_c("");
    s.error = sm_str_c("why");
    s.configured = 1;
    s.next_run_at = 4;
    s.last_run_at = 5;
    s.last_intent = sm_str_c("i");
    s.fired = 6;
    s.skipped = 7;
    s.missed = 8;
    s.created_at = 9;
    s.modified_at = 10;
    s.actor = sm_str_c("ann");
    s.revision = 11;
    s.payload = sm_str_c("{}");

    is_shown(&s, &rule,
             "{\"id\":\"s\",\"submissionTarget\":\"pay\",\"every\":\"1h\","
             "\"timeZone\":\"Europe/Berlin\","
             "\"startAt\":\"1970-01-01T00:00:01.000000Z\","
             "\"endAt\":\"1970-01-01T00:00:02.000000Z\","
             "\"misfire\":\"once\",\"overlap\":\"skip\",\"paused\":true,"
             "\"pausedAt\":\"1970-01-01T00:00:00.000003Z\","
             "\"pauseReason\":\"\",\"error\":\"why\","
             "\"source\":\"configuration\","
             "\"nextRunAt\":\"1970-01-01T00:00:00.000004Z\","
             "\"lastRunAt\":\"1970-01-01T00:00:00.000005Z\","
             "\"lastIntentId\":\"i\",\"fired\":6,\"skipped\":7,\"missed\":8,"
             "\"createdAt\":\"1970-01-01T00:00:00.000009Z\","
             "\"modifiedAt\":\"1970-01-01T00:00:00.000010Z\","
             "\"modifiedBy\":\"ann\",\"etag\":\"11\",\"payload\":{}}",
             "all of it");
}


int
main(void)
{
    needs_no_store();

    test_date();
    test_cron();
    test_brute();
    test_duration();
    test_parse();
    test_id();
    test_next();
    test_due();
    test_parts();
    test_out();

    return done_testing();
}
