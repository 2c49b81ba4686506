
/*
 * Time zones: schedules by local time across both changes of a year.  A local time
 * that does not exist fires at the next one that does, one that exists twice fires
 * once.  The expected instants were written down by hand from the zones' rules.
 * Broken by: the other offset at a change, an hour where a zone moves by half of
 * one, a time that fires twice or not at all.
 */

#include "seconds.h"
#include "sm_store.h"
#include "sm_store_zone.h"


/* the times after a moment, with a space between them */

static void
times(sm_zones_t *zones, const char *name, const char *cron, const char *after,
    const char *expected, const char *what)
{
    char                    why[192], got[1024];
    size_t                  n, len;
    int64_t                 t;
    sm_schedule_rule_t      rule;
    const sm_schedule_zone_t  *zone;

    memset(&rule, 0, sizeof(rule));

    if (sm_cron_parse(sm_str_c(cron), &rule.fields, why, sizeof(why)) != 0
        || sm_zones_get(zones, sm_str_c(name), &zone) != 0)
    {
        ok(0, "%s in %s", cron, name);
        return;
    }

    t = at(after);
    len = 0;
    got[0] = '\0';

    for (n = (strlen(expected) + 1) / 21; n; n--) {
        if (sm_schedule_next(&rule, zone, t, &t) != 0) {
            break;
        }

        len += snprintf(got + len, sizeof(got) - len, "%s%s", len ? " " : "",
                        text_of(t));
    }

    is_str(got, expected, "%s, %s: %s", name, cron, what);
}


static void
test_changes(sm_zones_t *z)
{
    /* 2026: from 2 to 3 on 29 March, from 3 to 2 on 25 October, at 01:00Z */

    times(z, "Europe/Stockholm", "30 2 * * *", "2026-03-27T12:00:00Z",
          "2026-03-28T01:30:00Z 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z",
          "in spring, what is not there is at 3");
    times(z, "Europe/Stockholm", "30 2 * * *", "2026-10-24T12:00:00Z",
          "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z",
          "in autumn, what is there twice is once");
    times(z, "Europe/Stockholm", "*/30 * * * *", "2026-03-29T00:00:00Z",
          "2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z",
          "in spring, every half an hour, none twice");
    times(z, "Europe/Stockholm", "*/30 * * * *", "2026-10-24T23:30:00Z",
          "2026-10-25T00:00:00Z 2026-10-25T00:30:00Z 2026-10-25T02:00:00Z",
          "in autumn, the second 2 and half past 2 are done with");
    times(z, "Europe/Stockholm", "0 3 * * *", "2026-03-28T12:00:00Z",
          "2026-03-29T01:00:00Z 2026-03-30T01:00:00Z",
          "the hour after it is itself");
    times(z, "Europe/Stockholm", "0 2,3 * * *", "2026-03-28T12:00:00Z",
          "2026-03-29T01:00:00Z 2026-03-30T00:00:00Z 2026-03-30T01:00:00Z",
          "two that become one are one");
    times(z, "Europe/Stockholm", "15 2 * * *", "2026-10-25T01:00:00Z",
          "2026-10-26T01:15:00Z", "from within the second hour, the next day");

    /* from 2 to 3 on 8 March at 07:00Z, from 2 to 1 on 1 November at 06:00Z */

    times(z, "America/New_York", "30 2 * * *", "2026-03-07T12:00:00Z",
          "2026-03-08T07:00:00Z 2026-03-09T06:30:00Z", "in spring");
    times(z, "America/New_York", "30 1 * * *", "2026-10-31T12:00:00Z",
          "2026-11-01T05:30:00Z 2026-11-02T06:30:00Z", "in autumn");
    times(z, "America/New_York", "0 0 * * *", "2026-11-01T00:00:00Z",
          "2026-11-01T04:00:00Z 2026-11-02T05:00:00Z", "a day of 25 hours");

    /*
     * from 2:00 to 1:30 on 5 April at 15:00Z of the day before, from 2:00 to
     * 2:30 on 4 October at 15:30Z of the day before
     */

    times(z, "Australia/Lord_Howe", "15 2 * * *", "2026-10-02T12:00:00Z",
          "2026-10-02T15:45:00Z 2026-10-03T15:30:00Z 2026-10-04T15:15:00Z",
          "in spring, half an hour is not there");
    times(z, "Australia/Lord_Howe", "45 1 * * *", "2026-04-03T12:00:00Z",
          "2026-04-03T14:45:00Z 2026-04-04T14:45:00Z 2026-04-05T15:15:00Z",
          "in autumn, half an hour is there twice");
    times(z, "Australia/Lord_Howe", "*/15 * * * *", "2026-04-04T14:15:00Z",
          "2026-04-04T14:30:00Z 2026-04-04T14:45:00Z 2026-04-04T15:30:00Z",
          "in autumn, every quarter");

    /* 5:45, all year */

    times(z, "Asia/Kathmandu", "0 0 * * *", "2026-03-28T00:00:00Z",
          "2026-03-28T18:15:00Z 2026-03-29T18:15:00Z", "in spring");
    times(z, "Asia/Kathmandu", "0 0 * * *", "2026-10-24T00:00:00Z",
          "2026-10-24T18:15:00Z 2026-10-25T18:15:00Z", "in autumn");

    /* there was no 30 December 2011 */

    times(z, "Pacific/Apia", "0 12 30 12 *", "2011-01-01T00:00:00Z",
          "2011-12-30T10:00:00Z 2012-12-29T22:00:00Z",
          "a day that is not there");

    times(z, "UTC", "0 0 * * *", "2026-03-28T00:00:00Z",
          "2026-03-29T00:00:00Z", "UTC needs none of it");
}


/* of a year of any of them, each local day has one, and times only grow */

static void
test_years(sm_zones_t *zones)
{
    char                    why[192];
    size_t                  i, k, n, wrong;
    int64_t                 t, next, local, day, end;
    sm_schedule_rule_t      rule;
    const sm_schedule_zone_t  *zone;

    static const char *const  names[] = {
        "Europe/Stockholm", "America/New_York", "Australia/Lord_Howe",
        "Asia/Kathmandu", "America/St_Johns", "Africa/Casablanca",
        "Pacific/Chatham", "America/Sao_Paulo", "Antarctica/Troll",
        "Asia/Kolkata"
    };

    static const char *const  crons[] = {
        "0 0 * * *", "30 1 * * *", "15 2 * * *", "30 2 * * *", "59 23 * * *"
    };

    memset(&rule, 0, sizeof(rule));

    for (i = 0; i < sm_nelts(names); i++) {
        wrong = 0;
        n = 0;

        for (k = 0; k < sm_nelts(crons); k++) {
            (void) sm_cron_parse(sm_str_c(crons[k]), &rule.fields, why,
                                 sizeof(why));

            if (sm_zones_get(zones, sm_str_c(names[i]), &zone) != 0) {
                wrong++;
                break;
            }

            t = at("2026-01-01T12:00:00Z");
            end = at("2027-01-01T12:00:00Z");

            if (sm_schedule_next(&rule, zone, t, &t) != 0) {
                wrong++;
            }

            (void) zone->to_local(zone->data, t, &local);
            day = local / 86400;

            for ( ; t < end; t = next, n++) {
                if (sm_schedule_next(&rule, zone, t, &next) != 0 || next <= t) {
                    wrong++;
                    break;
                }

                (void) zone->to_local(zone->data, next, &local);
                wrong += local / 86400 != ++day;
            }
        }

        ok(wrong == 0 && n == 5 * 365, "%s: once a day, of %zu", names[i], n);
    }
}


static void
test_names(void)
{
    size_t  i;

    static const char *const  good[] = {
        "UTC", "Europe/Stockholm", "Etc/GMT+5", "America/Argentina/Ushuaia",
        "Asia/Kathmandu", "Asia/Calcutta"
    };

    static const char *const  bad[] = {
        "", "Europe/Nowhere", "GMT+5", "Etc/Unknown", "Stockholm", "+01:00",
        "Europe/Stockholm ", "../../etc/passwd",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    };

    for (i = 0; i < sm_nelts(good); i++) {
        ok(sm_store_zone_check(sm_str_c(good[i])) == 0, "%s", good[i]);
    }

    for (i = 0; i < sm_nelts(bad); i++) {
        ok(sm_store_zone_check(sm_str_c(bad[i])) == -1, "not \"%s\"", bad[i]);
    }
}


int
main(void)
{
    sm_zones_t  zones;

    needs_no_store();

    memset(&zones, 0, sizeof(zones));

    test_names();
    test_changes(&zones);
    test_years(&zones);

    sm_zones_done(&zones);

    return done_testing();
}
