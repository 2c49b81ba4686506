
/*
 * Cron's five fields, "minute hour day month weekday", and durations of ISO
 * 8601: the two ways in which a schedule says when it runs.
 *
 * Times are seconds since 1970; a local time is the seconds at which UTC has
 * the same date and time of day.
 */

#ifndef SM_CRON_H
#define SM_CRON_H


#include "sm_str.h"


#define SM_CRON_MAX        256              /* bytes of the text */
#define SM_DURATION_MAX    ((int64_t) 365 * 86400)


/* bits: what a field names */

typedef struct {
    uint64_t  minutes;
    uint64_t  hours;
    uint64_t  days;                         /* of the month, from 1 on */
    uint64_t  months;                       /* from 1 on */
    uint64_t  weekdays;                     /* from Sunday, 0, on */

    /* the field begins with "*"; of two that do not, one has to fit */
    unsigned  any_day:1;
    unsigned  any_weekday:1;
} sm_cron_t;


/*
 * Lists, ranges, steps, and the English names of months and weekdays by their
 * first three letters.  -1: "why" is what is wrong.
 */
int sm_cron_parse(sm_str_t text, sm_cron_t *cron, char *why, size_t size);

/* the first minute that fits after a local time; -1: there is none */
int sm_cron_next(const sm_cron_t *cron, int64_t after, int64_t *next);

/*
 * "PT10M", "P1DT12H", "P2W", in seconds: from one second to 365 days, without
 * years, months and fractions, whose length is not fixed.  NULL, or what is
 * wrong, to follow the name of a field.
 */
const char *sm_duration_parse(sm_str_t text, int64_t *seconds);


#endif /* SM_CRON_H */
