
/*
 * Times that clients send, to the microsecond, and what is refused.  Broken by:
 * an offset with the wrong sign, a leap day too many or too few, a fraction that
 * is rounded, a leap second that is taken for the minute after it, a parser that
 * stops before the end.
 */

#include <time.h>

#include "sm_time.h"
#include "tap.h"


#define FORMAT  "must be a time of RFC 3339"
#define NONE    "is a date or a time of day that does not exist"
#define LEAP    "must not be a leap second"
#define RANGE   "must be later than the beginning of 1970"


static void
test_good(void)
{
    size_t   i;
    int64_t  usec;

    static const struct {
        const char  *text;
        int64_t      usec;
    } t[] = {
        { "2026-02-02T12:00:10Z", 1770033610000000 },
        { "2026-02-02t12:00:10z", 1770033610000000 },
        { "2026-02-02T12:00:10.123456Z", 1770033610123456 },
        { "2026-02-02T12:00:10.5Z", 1770033610500000 },
        { "2026-02-02T12:00:10.000001Z", 1770033610000001 },
        { "2026-02-02T12:00:10.1234569999999999999999999Z",
          1770033610123456 },
        { "2026-02-02T13:00:10+01:00", 1770033610000000 },
        { "2026-02-02T06:30:10-05:30", 1770033610000000 },
        { "2026-02-02T12:00:10-00:00", 1770033610000000 },
        { "2026-02-03T11:59:10+23:59", 1770033610000000 },
        { "2024-02-29T00:00:00Z", 1709164800000000 },
        { "2000-02-29T23:59:59.999999Z", 951868799999999 },
        { "2100-03-01T00:00:00Z", 4107542400000000 },
        { "1970-01-01T00:00:00.000001Z", 1 },
        { "1970-01-01T00:00:00-00:01", 60000000 },
        { "9999-12-31T23:59:59.999999Z", SM_TIME_MAX }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        usec = -1;
        ok(sm_time_parse(sm_str_c(t[i].text), &usec) == NULL, "%s",
           t[i].text);
        is_int(usec, t[i].usec, "the microseconds of it");
    }
}


static void
test_bad(void)
{
    size_t       i;
    int64_t      usec;
    const char  *fault;

    static const struct {
        const char  *text;
        const char  *fault;
    } t[] = {
        { "", FORMAT },
        { "now", FORMAT },
        { "1770033610", FORMAT },
        { "2026-02-02", FORMAT },
        { "2026-02-02T12:00:10", FORMAT },
        { "2026-02-02T12:00Z", FORMAT },
        { "2026-02-02 12:00:10Z", FORMAT },
        { "2026-02-02T12:00:10 Z", FORMAT },
        { "2026-02-02T12:00:10Z ", FORMAT },
        { " 2026-02-02T12:00:10Z", FORMAT },
        { "2026-02-02T12:00:10.Z", FORMAT },
        { "2026-02-02T12:00:10.5", FORMAT },
        { "2026-02-02T12:00:10,5Z", FORMAT },
        { "2026-02-02T12:00:10+0100", FORMAT },
        { "2026-02-02T12:00:10+01", FORMAT },
        { "2026-02-02T12:00:10+01:0", FORMAT },
        { "2026-02-02T12:00:10+01:000", FORMAT },
        { "2026-02-02T12:00:10*01:00", FORMAT },
        { "2026-02-02T12:00:10+-1:00", FORMAT },
        { "2026-2-02T12:00:10Z.....", FORMAT },
        { "+026-02-02T12:00:10Z", FORMAT },
        { "2026-02-02T1 :00:10Z", FORMAT },
        { "20260202T120010Z", FORMAT },
        { "12026-02-02T12:00:10Z", FORMAT },
        { "2026-00-02T12:00:10Z", NONE },
        { "2026-13-02T12:00:10Z", NONE },
        { "2026-02-00T12:00:10Z", NONE },
        { "2026-02-29T12:00:10Z", NONE },
        { "2100-02-29T12:00:10Z", NONE },
        { "2026-04-31T12:00:10Z", NONE },
        { "2026-02-02T24:00:00Z", NONE },
        { "2026-02-02T12:60:10Z", NONE },
        { "2026-02-02T12:00:61Z", NONE },
        { "2026-02-02T12:00:10+24:00", NONE },
        { "2026-02-02T12:00:10+00:60", NONE },
        { "2016-12-31T23:59:60Z", LEAP },
        { "2016-12-31T23:59:60.5+00:00", LEAP },
        { "1970-01-01T00:00:00Z", RANGE },
        { "1970-01-01T00:00:00+00:01", RANGE },
        { "0001-01-01T00:00:00Z", RANGE },
        { "0000-01-01T00:00:00Z", RANGE },
        { "9999-12-31T23:59:59-00:01", RANGE }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        fault = sm_time_parse(sm_str_c(t[i].text), &usec);
        ok(fault && strncmp(fault, t[i].fault, strlen(t[i].fault)) == 0,
           "\"%s\": %s", t[i].text, fault ? fault : "good");
    }
}


/* a day of every month of 400 years, as the library of C has it */

static void
test_days(void)
{
    int        wrong;
    char       text[32];
    time_t     t;
    int64_t    usec;
    struct tm  tm;

    wrong = 0;

    for (t = 86400 - 1; t < (time_t) 400 * 366 * 86400; t += 86400 * 13 + 61) {
        (void) gmtime_r(&t, &tm);
        (void) strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);

        wrong += sm_time_parse(sm_str_c(text), &usec) != NULL
                 || usec != (int64_t) t * 1000000;
    }

    is_int(wrong, 0, "400 years, as timegm() counts them");
}


int
main(void)
{
    needs_no_store();

    test_good();
    test_bad();
    test_days();

    return done_testing();
}
