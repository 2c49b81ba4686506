
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


/* Each field is a set of bits, one for each value that it names. */

typedef struct {
    uint64_t  minutes;
    uint64_t  hours;
    uint64_t  days;                         /* days of the month, from 1 */
    uint64_t  months;                       /* from 1 */
    uint64_t  weekdays;                     /* Sunday is 0 */

    /*
     * The field begins with "*".  If neither does, a day matches when either
     * of the two fields does.
     */
    unsigned  any_day:1;
    unsigned  any_weekday:1;
} sm_cron_t;


/*
 * Understands lists, ranges, steps, and the English names of months and
 * weekdays by their first three letters.  Returns -1 after writing to "why"
 * what is wrong.
 */
int sm_cron_parse(sm_str_t text, sm_cron_t *cron, char *why, size_t size);

/* Finds the first minute after a local time that matches; -1: none does. */
int sm_cron_next(const sm_cron_t *cron, int64_t after, int64_t *next);

/*
 * Reads "PT10M", "P1DT12H" or "P2W" as seconds, from one second to 365 days.
 * Years, months and fractions are refused, because their length is not fixed.
 * Returns NULL, or what is wrong, as words that follow the name of a field.
 */
const char *sm_duration_parse(sm_str_t text, int64_t *seconds);


#endif /* SM_CRON_H */
