
/*
 * Time zones by their IANA names, with ICU, which reads their data: for
 * threads, and for whoever reads a configuration.
 */

#ifndef SM_STORE_ZONE_H
#define SM_STORE_ZONE_H


#include "sm_schedule_due.h"


#define SM_ZONES  8


/* those that a call has opened */

typedef struct {
    sm_schedule_zone_t   zone;
    size_t            len;
    char              name[SM_SCHEDULE_ZONE_MAX];
} sm_zone_t;

typedef struct {
    sm_zone_t         zones[SM_ZONES];
    unsigned          n;
    unsigned          last;             /* the next one to go */
} sm_zones_t;


/*
 * What sm_schedule_next() needs for a zone, NULL for UTC: it is good until the
 * next one is asked for.  -1: there is no zone of that name.  -2: there is no
 * memory for it.
 */
int sm_zones_get(sm_zones_t *zones, sm_str_t name,
    const sm_schedule_zone_t **zone);
void sm_zones_done(sm_zones_t *zones);


#endif /* SM_STORE_ZONE_H */
