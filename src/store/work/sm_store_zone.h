
/*
 * Time zones by their IANA names, through ICU, which reads their data.  Used
 * by threads, and while a configuration is read.
 */

#ifndef SM_STORE_ZONE_H
#define SM_STORE_ZONE_H


#include "sm_schedule_due.h"


#define SM_ZONES  8


/* The zones that a call has opened. */

typedef struct {
    sm_schedule_zone_t   zone;
    size_t            len;
    char              name[SM_SCHEDULE_ZONE_MAX];
} sm_zone_t;

typedef struct {
    sm_zone_t         zones[SM_ZONES];
    unsigned          n;
    unsigned          last;             /* the next to be replaced */
} sm_zones_t;


/*
 * Gives what sm_schedule_next() needs for a zone, or NULL for UTC; it is valid
 * until the next call.  Returns -1 if there is no zone of that name, or -2
 * without memory.
 */
int sm_zones_get(sm_zones_t *zones, sm_str_t name,
    const sm_schedule_zone_t **zone);
void sm_zones_done(sm_zones_t *zones);


#endif /* SM_STORE_ZONE_H */
