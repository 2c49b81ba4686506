
#include <unicode/ucal.h>
#include <unicode/ustring.h>

#include "sm_store.h"
#include "sm_store_zone.h"
#include "sm_time.h"


/* The longest name in ICU's form: UTF-16, with a zero at the end. */

#define SM_ZONE_UNITS  (SM_SCHEDULE_ZONE_MAX + 1)


static int
sm_zone_name(sm_str_t name, UChar *units)
{
    size_t  i;

    if (name.len == 0 || name.len > SM_SCHEDULE_ZONE_MAX) {
        return -1;
    }

    for (i = 0; i < name.len; i++) {
        if (name.data[i] <= ' ' || name.data[i] > '~') {
            return -1;
        }

        units[i] = name.data[i];
    }

    units[i] = 0;

    return 0;
}


static int
sm_zone_is_utc(sm_str_t name)
{
    return name.data == NULL || sm_str_eq(name, sm_str_c("UTC"));
}


/*
 * ICU also accepts custom zones such as "GMT+5", which are not names, and has
 * a zone for unknown ones.
 */

int
sm_store_zone_check(sm_str_t name)
{
    UBool       known;
    UChar       units[SM_ZONE_UNITS], canonical[128];
    UErrorCode  status;

    if (sm_zone_is_utc(name)) {
        return 0;
    }

    if (sm_zone_name(name, units) != 0
        || sm_str_eq(name, sm_str_c("Etc/Unknown")))
    {
        return -1;
    }

    known = 0;
    status = U_ZERO_ERROR;

    (void) ucal_getCanonicalTimeZoneID(units, -1, canonical,
                                       sm_nelts(canonical), &known, &status);

    if (status == U_MEMORY_ALLOCATION_ERROR) {
        return -2;
    }

    return U_SUCCESS(status) && known ? 0 : -1;
}


static int
sm_zone_to_local(void *data, int64_t utc, int64_t *local)
{
    int32_t     offset;
    UCalendar  *cal = data;
    UErrorCode  status = U_ZERO_ERROR;

    ucal_setMillis(cal, (UDate) utc * 1000, &status);

    offset = ucal_get(cal, UCAL_ZONE_OFFSET, &status);
    offset += ucal_get(cal, UCAL_DST_OFFSET, &status);

    *local = utc + offset / 1000;

    return U_SUCCESS(status) ? 0 : -1;
}


static int
sm_zone_to_utc(void *data, int64_t local, int64_t *utc)
{
    UDate       millis;
    int64_t     day, second;
    sm_date_t   date;
    UCalendar  *cal = data;
    UErrorCode  status = U_ZERO_ERROR;

    second = (local % 86400 + 86400) % 86400;
    day = (local - second) / 86400;

    sm_time_date(day, &date);

    ucal_clear(cal);
    ucal_setDateTime(cal, date.year, UCAL_JANUARY + date.month - 1, date.day,
                     second / 3600, second / 60 % 60, second % 60, &status);

    millis = ucal_getMillis(cal, &status);

    *utc = (int64_t) millis / 1000;

    return U_SUCCESS(status) ? 0 : -1;
}


/*
 * Returns whether the calendar has the zone.  Without memory for a zone, ICU
 * silently takes UTC instead.
 */

static int
sm_zone_is(UCalendar *cal, const UChar *units)
{
    UChar       id[SM_ZONE_UNITS];
    UErrorCode  status = U_ZERO_ERROR;

    (void) ucal_getTimeZoneID(cal, id, sm_nelts(id), &status);

    return U_SUCCESS(status) && u_strcmp(id, units) == 0;
}


static int
sm_zone_open(sm_str_t name, UCalendar **cal)
{
    int         rc;
    UChar       units[SM_ZONE_UNITS];
    UErrorCode  status;

    rc = sm_zone_name(name, units) != 0 ? -1 : sm_store_zone_check(name);

    if (rc != 0) {
        return rc;
    }

    status = U_ZERO_ERROR;

    *cal = ucal_open(units, -1, "en_US", UCAL_GREGORIAN, &status);

    if (U_FAILURE(status)) {
        return -2;
    }

    if (!sm_zone_is(*cal, units)) {
        ucal_close(*cal);
        return -2;
    }

    ucal_setAttribute(*cal, UCAL_REPEATED_WALL_TIME, UCAL_WALLTIME_FIRST);
    ucal_setAttribute(*cal, UCAL_SKIPPED_WALL_TIME, UCAL_WALLTIME_NEXT_VALID);

    return 0;
}


int
sm_zones_get(sm_zones_t *zones, sm_str_t name, const sm_schedule_zone_t **zone)
{
    int         rc;
    unsigned    i;
    sm_str_t    known;
    sm_zone_t  *z;
    UCalendar  *cal;

    *zone = NULL;

    if (sm_zone_is_utc(name)) {
        return 0;
    }

    for (i = 0; i < zones->n; i++) {
        known.data = zones->zones[i].name;
        known.len = zones->zones[i].len;

        if (sm_str_eq(known, name)) {
            *zone = &zones->zones[i].zone;
            return 0;
        }
    }

    rc = sm_zone_open(name, &cal);
    if (rc != 0) {
        return rc;
    }

    if (zones->n < SM_ZONES) {
        z = &zones->zones[zones->n++];

    } else {
        z = &zones->zones[zones->last++ % SM_ZONES];
        ucal_close(z->zone.data);
    }

    z->zone.to_local = sm_zone_to_local;
    z->zone.to_utc = sm_zone_to_utc;
    z->zone.data = cal;
    z->len = name.len;

    (void) memcpy(z->name, name.data, name.len);

    *zone = &z->zone;

    return 0;
}


void
sm_zones_done(sm_zones_t *zones)
{
    unsigned  i;

    for (i = 0; i < zones->n; i++) {
        ucal_close(zones->zones[i].zone.data);
    }

    zones->n = 0;
}
