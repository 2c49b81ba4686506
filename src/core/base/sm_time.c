
#include "sm_time.h"


#define SM_TIME_SECOND    ((int64_t) 1000000)

/* The length of "2026-02-02T12:00:10", and of that with a "Z". */

#define SM_TIME_FRACTION  19
#define SM_TIME_LEAST     20


static const char  sm_time_format[] =
    "must be a time of RFC 3339 with an offset, such as "
    "\"2026-02-02T12:00:10Z\" or \"2026-02-02T13:00:10.5+01:00\"";

static const char  sm_time_none[] =
    "is a date or a time of day that does not exist";

static const char  sm_time_leap[] =
    "must not be a leap second: its seconds must be 59 or less";

static const char  sm_time_range[] =
    "must be later than the beginning of 1970, and earlier than the year "
    "10000";


/* Reads n digits at an offset; returns -1 if one of them is not a digit. */

static int64_t
sm_time_digits(sm_str_t s, size_t at, size_t n)
{
    int64_t  v;

    s.data += at;
    s.len = n;

    return sm_parse_uint(s, 9999, &v) == 0 ? v : -1;
}


/*
 * Years begin in March here, so that a leap day is the last day of its year;
 * 400 of them are an era of 146,097 days.
 */

int64_t
sm_time_days(int64_t year, int64_t month, int64_t day)
{
    int64_t  era, yoe, doy;

    year -= month <= 2;

    era = (year >= 0 ? year : year - 399) / 400;
    yoe = year - era * 400;
    doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}


/* The inverse of sm_time_days(). */

void
sm_time_date(int64_t days, sm_date_t *date)
{
    int64_t  era, doe, yoe, doy, mp;

    days += 719468;

    era = (days >= 0 ? days : days - 146096) / 146097;
    doe = days - era * 146097;
    yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    mp = (5 * doy + 2) / 153;

    date->day = doy - (153 * mp + 2) / 5 + 1;
    date->month = mp < 10 ? mp + 3 : mp - 9;
    date->year = yoe + era * 400 + (date->month <= 2);
}


static int64_t
sm_time_month(int64_t year, int64_t month)
{
    static const int  days[] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };

    if (month == 2 && year % 4 == 0 && (year % 100 || year % 400 == 0)) {
        return 29;
    }

    return days[month - 1];
}


/* Reads "Z", "+01:00" or "-01:00" as seconds. */

static const char *
sm_time_offset(sm_str_t s, int64_t *offset)
{
    int64_t  hours, minutes;

    if (s.len == 1 && (s.data[0] == 'Z' || s.data[0] == 'z')) {
        *offset = 0;
        return NULL;
    }

    if (s.len != 6 || (s.data[0] != '+' && s.data[0] != '-')
        || s.data[3] != ':')
    {
        return sm_time_format;
    }

    hours = sm_time_digits(s, 1, 2);
    minutes = sm_time_digits(s, 4, 2);

    if (hours < 0 || minutes < 0) {
        return sm_time_format;
    }

    if (hours > 23 || minutes > 59) {
        return sm_time_none;
    }

    *offset = (hours * 60 + minutes) * 60;

    if (s.data[0] == '-') {
        *offset = -*offset;
    }

    return NULL;
}


/* Takes a fraction such as ".5" off the string, if there is one. */

static const char *
sm_time_fraction(sm_str_t *s, int64_t *usec)
{
    size_t   i;
    int64_t  unit;

    *usec = 0;

    if (s->data[0] != '.') {
        return NULL;
    }

    unit = SM_TIME_SECOND / 10;

    for (i = 1; i < s->len && s->data[i] >= '0' && s->data[i] <= '9'; i++) {
        *usec += (s->data[i] - '0') * unit;
        unit /= 10;
    }

    s->data += i;
    s->len -= i;

    return i == 1 ? sm_time_format : NULL;
}


const char *
sm_time_parse(sm_str_t s, int64_t *usec)
{
    int64_t      year, month, day, hour, minute, second, fraction, offset;
    const char  *fault;

    if (s.len < SM_TIME_LEAST
        || s.data[4] != '-' || s.data[7] != '-'
        || (s.data[10] != 'T' && s.data[10] != 't')
        || s.data[13] != ':' || s.data[16] != ':')
    {
        return sm_time_format;
    }

    year = sm_time_digits(s, 0, 4);
    month = sm_time_digits(s, 5, 2);
    day = sm_time_digits(s, 8, 2);
    hour = sm_time_digits(s, 11, 2);
    minute = sm_time_digits(s, 14, 2);
    second = sm_time_digits(s, 17, 2);

    if (year < 0 || month < 0 || day < 0 || hour < 0 || minute < 0
        || second < 0)
    {
        return sm_time_format;
    }

    s.data += SM_TIME_FRACTION;
    s.len -= SM_TIME_FRACTION;

    fault = sm_time_fraction(&s, &fraction);

    if (fault == NULL) {
        fault = sm_time_offset(s, &offset);
    }

    if (fault) {
        return fault;
    }

    if (second == 60) {
        return sm_time_leap;
    }

    if (month < 1 || month > 12 || day < 1 || day > sm_time_month(year, month)
        || hour > 23 || minute > 59 || second > 59)
    {
        return sm_time_none;
    }

    *usec = (sm_time_days(year, month, day) * 86400
             + (hour * 60 + minute) * 60 + second - offset) * SM_TIME_SECOND
            + fraction;

    return *usec > 0 && *usec <= SM_TIME_MAX ? NULL : sm_time_range;
}
