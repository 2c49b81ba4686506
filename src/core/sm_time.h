
/*
 * Times that clients send: RFC 3339, as microseconds since 1970; and dates.
 */

#ifndef SM_TIME_H
#define SM_TIME_H


#include "sm_text.h"


/*
 * "2026-02-02T13:00:10.123456+01:00": a date, a time, and an offset.  Digits
 * after the microseconds do not count.  Times up to the beginning of 1970 and
 * from the end of 9999 on are refused, and so is the leap second, which no
 * store can keep.  NULL, or what is wrong, to follow the name of a field.
 */
const char *sm_time_parse(sm_str_t s, int64_t *usec);


/* a date of the calendar that all use; months count from 1 */

typedef struct {
    int64_t  year;
    int64_t  month;
    int64_t  day;
} sm_date_t;

/* the days since 1970 of a date, and the date of such a day */
int64_t sm_time_days(int64_t year, int64_t month, int64_t day);
void sm_time_date(int64_t days, sm_date_t *date);


#endif /* SM_TIME_H */
