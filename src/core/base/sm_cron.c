
#include <stdio.h>

#include "sm_cron.h"
#include "sm_text.h"
#include "sm_time.h"


#define SM_CRON_DAY       86400

/*
 * How far ahead a match is searched for.  The rarest day that a rule can name
 * is a 29th of February on a given weekday: after 2088 the next one that is a
 * Sunday comes 40 years later.
 */

#define SM_CRON_DAYS      (366 * 41)

#define SM_CRON_SHOWN     32


typedef struct {
    const char  *name;
    int          min;
    int          max;
    const char  *words;                 /* three letters each, from min on */
} sm_cron_field_t;


enum {
    SM_CRON_MINUTE = 0,
    SM_CRON_HOUR,
    SM_CRON_DAY_OF_MONTH,
    SM_CRON_MONTH,
    SM_CRON_WEEKDAY,
    SM_CRON_FIELDS
};


static const sm_cron_field_t  sm_cron_fields[] = {
    { "minute", 0, 59, "" },
    { "hour", 0, 23, "" },
    { "day of the month", 1, 31, "" },
    { "month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec" },
    { "day of the week", 0, 7, "sunmontuewedthufrisat" }
};

_Static_assert(sm_nelts(sm_cron_fields) == SM_CRON_FIELDS,
               "a row for each field");


static int
sm_cron_fault(const sm_cron_field_t *field, sm_str_t item, char *why,
    size_t size)
{
    /* The message must not end in the middle of a character. */

    while (item.len > SM_CRON_SHOWN || sm_utf8_check(item) < item.len) {
        item.len--;
    }

    (void) snprintf(why, size, "has \"%.*s\" as %s: numbers from %d to %d, "
                    "%sranges, lists and steps were expected",
                    (int) item.len, item.data, field->name, field->min,
                    field->max,
                    field->words[0] ? "names of three letters, " : "");

    return -1;
}


static char
sm_cron_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}


/* Takes a number or a name off "s"; returns -1 if there is neither. */

static int
sm_cron_value(const sm_cron_field_t *field, sm_str_t *s)
{
    int          n;
    size_t       i;
    const char  *w;

    n = 0;

    for (i = 0; i < s->len && s->data[i] >= '0' && s->data[i] <= '9'; i++) {
        n = n * 10 + (s->data[i] - '0');

        if (n > 999) {
            return -1;
        }
    }

    if (i) {
        s->data += i;
        s->len -= i;

        return n;
    }

    if (s->len < 3) {
        return -1;
    }

    for (w = field->words, n = field->min; *w; w += 3, n++) {
        if (sm_cron_lower(s->data[0]) == w[0]
            && sm_cron_lower(s->data[1]) == w[1]
            && sm_cron_lower(s->data[2]) == w[2])
        {
            s->data += 3;
            s->len -= 3;

            return n;
        }
    }

    return -1;
}


static int
sm_cron_is(sm_str_t *s, char c)
{
    if (s->len == 0 || s->data[0] != c) {
        return 0;
    }

    s->data++;
    s->len--;

    return 1;
}


/* Reads an element of a list: "*", "5" or "1-5", which may have a step. */

static int
sm_cron_item(const sm_cron_field_t *field, sm_str_t s, uint64_t *bits)
{
    int  first, last, step, range;

    step = 1;
    range = 1;

    if (sm_cron_is(&s, '*')) {
        first = field->min;
        last = field == &sm_cron_fields[SM_CRON_WEEKDAY] ? 6 : field->max;

    } else {
        first = sm_cron_value(field, &s);
        last = first;
        range = sm_cron_is(&s, '-');

        if (range) {
            last = sm_cron_value(field, &s);

            /* A range such as "5-0" means Friday to Sunday. */

            if (field == &sm_cron_fields[SM_CRON_WEEKDAY] && last == 0
                && first > 0)
            {
                last = 7;
            }
        }
    }

    if (range && sm_cron_is(&s, '/')) {
        step = sm_cron_value(&sm_cron_fields[SM_CRON_MINUTE], &s);
    }

    if (s.len || first < field->min || last > field->max || first > last
        || step < 1)
    {
        return -1;
    }

    for ( /* void */ ; first <= last; first += step) {
        *bits |= (uint64_t) 1 << first;
    }

    return 0;
}


static int
sm_cron_field(const sm_cron_field_t *field, sm_str_t text, uint64_t *bits,
    char *why, size_t size)
{
    size_t    i;
    sm_str_t  item;

    *bits = 0;

    for ( ;; ) {
        item = text;

        for (i = 0; i < text.len && text.data[i] != ','; i++) {
            /* void */
        }

        item.len = i;

        if (sm_cron_item(field, item, bits) != 0) {
            return sm_cron_fault(field, item, why, size);
        }

        if (i == text.len) {
            return 0;
        }

        text.data += i + 1;
        text.len -= i + 1;
    }
}


int
sm_cron_parse(sm_str_t text, sm_cron_t *cron, char *why, size_t size)
{
    int       i;
    int64_t   next;
    uint64_t  bits[SM_CRON_FIELDS];
    sm_str_t  rest, word;

    memset(cron, 0, sizeof(sm_cron_t));

    if (text.len > SM_CRON_MAX || sm_utf8_check(text) != text.len
        || sm_utf8_has_control(text))
    {
        (void) snprintf(why, size, "must be five fields, up to 256 bytes");
        return -1;
    }

    rest = text;

    for (i = 0; sm_next_word(&rest, &word); i++) {

        if (i == SM_CRON_FIELDS) {
            break;
        }

        if (sm_cron_field(&sm_cron_fields[i], word, &bits[i], why, size) != 0) {
            return -1;
        }

        if (i == SM_CRON_DAY_OF_MONTH) {
            cron->any_day = word.data[0] == '*';

        } else if (i == SM_CRON_WEEKDAY) {
            cron->any_weekday = word.data[0] == '*';
        }
    }

    if (i != SM_CRON_FIELDS || word.len) {
        (void) snprintf(why, size, "must be five fields: minute, hour, day of "
                        "the month, month, and day of the week");
        return -1;
    }

    cron->minutes = bits[SM_CRON_MINUTE];
    cron->hours = bits[SM_CRON_HOUR];
    cron->days = bits[SM_CRON_DAY_OF_MONTH];
    cron->months = bits[SM_CRON_MONTH];

    /* 0 and 7 both mean Sunday. */

    cron->weekdays = (bits[SM_CRON_WEEKDAY] | bits[SM_CRON_WEEKDAY] >> 7)
                     & 0x7f;

    if (sm_cron_next(cron, 0, &next) != 0) {
        (void) snprintf(why, size, "names a day that no month has");
        return -1;
    }

    return 0;
}


static int
sm_cron_day_fits(const sm_cron_t *cron, int64_t day)
{
    int        of_month, of_week;
    sm_date_t  date;

    sm_time_date(day, &date);

    if ((cron->months >> date.month & 1) == 0) {
        return 0;
    }

    /* The first day of 1970 was a Thursday. */

    of_month = cron->days >> date.day & 1;
    of_week = cron->weekdays >> ((day % 7 + 11) % 7) & 1;

    return cron->any_day || cron->any_weekday ? of_month && of_week
                                              : of_month || of_week;
}


/* Returns the first bit that is set from "from" on, or -1. */

static int
sm_cron_bit(uint64_t bits, int from)
{
    for ( /* void */ ; from < 60; from++) {
        if (bits >> from & 1) {
            return from;
        }
    }

    return -1;
}


int
sm_cron_next(const sm_cron_t *cron, int64_t after, int64_t *next)
{
    int      hour, minute, i;
    int64_t  day, at;

    at = after - ((after % 60 + 60) % 60) + 60;
    day = (at - ((at % SM_CRON_DAY + SM_CRON_DAY) % SM_CRON_DAY))
          / SM_CRON_DAY;
    at -= day * SM_CRON_DAY;

    for (i = 0; i < SM_CRON_DAYS; i++, day++, at = 0) {

        if (!sm_cron_day_fits(cron, day)) {
            continue;
        }

        hour = sm_cron_bit(cron->hours, at / 3600);
        minute = sm_cron_bit(cron->minutes,
                             hour == at / 3600 ? at / 60 % 60 : 0);

        if (hour >= 0 && minute < 0) {
            hour = sm_cron_bit(cron->hours, hour + 1);
            minute = sm_cron_bit(cron->minutes, 0);
        }

        if (hour >= 0) {
            *next = day * SM_CRON_DAY + hour * 3600 + minute * 60;
            return 0;
        }
    }

    return -1;
}


const char *
sm_duration_parse(sm_str_t s, int64_t *seconds)
{
    static const char  fault[] =
        "must be a duration such as \"PT10M\", \"PT30S\", \"P1D\" or "
        "\"P1DT12H\", without years, months and fractions";
    static const struct {
        char     unit;
        int      time;                  /* it follows the "T" */
        int64_t  seconds;
    } units[] = {
        { 'W', 0, 604800 }, { 'D', 0, 86400 }, { 'H', 1, 3600 },
        { 'M', 1, 60 }, { 'S', 1, 1 }
    };

    int       time;
    size_t    i, k, digits;
    int64_t   n, total;

    if (s.len < 3 || s.data[0] != 'P') {
        return fault;
    }

    time = 0;
    total = 0;
    k = 0;

    for (i = 1; i < s.len; i++) {

        if (s.data[i] == 'T' && !time && i + 1 < s.len) {
            time = 1;
            continue;
        }

        n = 0;

        for (digits = 0;
             i < s.len && s.data[i] >= '0' && s.data[i] <= '9';
             i++, digits++)
        {
            if (digits == 9) {
                return fault;
            }

            n = n * 10 + (s.data[i] - '0');
        }

        if (digits == 0 || i == s.len) {
            return fault;
        }

        /* Each unit may come once, and larger units come first. */

        while (k < sm_nelts(units)
               && (units[k].unit != s.data[i] || units[k].time != time))
        {
            k++;
        }

        if (k == sm_nelts(units)) {
            return fault;
        }

        total += n * units[k++].seconds;
    }

    if (total < 1 || total > SM_DURATION_MAX) {
        return "must be from one second to 365 days";
    }

    *seconds = total;

    return NULL;
}
