
/*
 * Dates, and the times that clients send: RFC 3339, as microseconds since 1970.
 */

#ifndef SM_TIME_H
#define SM_TIME_H


#include "sm_text.h"


/*
 * Reads a date, a time and an offset: "2026-02-02T13:00:10.123456+01:00".
 * Digits after the microseconds are ignored.  Times up to the beginning of
 * 1970 and after 9999 are refused, and so is a leap second, which no store can
 * keep.  Returns NULL, or what is wrong, as words that follow the name of a
 * field.
 */
const char *sm_time_parse(sm_str_t s, int64_t *usec);


/* A date of the Gregorian calendar; months count from 1. */

typedef struct {
    int64_t  year;
    int64_t  month;
    int64_t  day;
} sm_date_t;

/* Days are counted from 1970-01-01. */
int64_t sm_time_days(int64_t year, int64_t month, int64_t day);
void sm_time_date(int64_t days, sm_date_t *date);


#endif /* SM_TIME_H */
