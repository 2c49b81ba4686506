
/*
 * Without memory a time zone is not one that is not known: a schedule would be
 * stopped for that, and a client told to give it up.  ICU is refused each of its
 * allocations in turn.  Broken by: one answer for both.
 */

#include <stdlib.h>

#include <unicode/uclean.h>

#include "sm_store.h"
#include "sm_store_zone.h"
#include "tap.h"


#define ROUNDS  10000


static int  left = -1;                  /* allocations to allow; -1: all */
static int  refused;


static int
refuse(void)
{
    if (left < 0) {
        return 0;
    }

    refused = left == 0;

    return left-- == 0;
}


static void *
oom_malloc(const void *data, size_t size)
{
    (void) data;

    return refuse() ? NULL : malloc(size);
}


static void *
oom_realloc(const void *data, void *p, size_t size)
{
    (void) data;

    return refuse() ? NULL : realloc(p, size);
}


static void
oom_free(const void *data, void *p)
{
    (void) data;

    free(p);
}


static int
try(const char *name, int *next_rc, int64_t *t)
{
    int                        rc;
    char                       why[192];
    sm_zones_t                 zones;
    sm_schedule_rule_t         rule;
    const sm_schedule_zone_t  *zone;

    memset(&rule, 0, sizeof(sm_schedule_rule_t));
    memset(&zones, 0, sizeof(sm_zones_t));

    (void) sm_cron_parse(sm_str_c("0 9 * * *"), &rule.fields, why, sizeof(why));

    *next_rc = 0;
    *t = 0;

    rc = sm_zones_get(&zones, sm_str_c(name), &zone);

    if (rc == 0) {
        *next_rc = sm_schedule_next(&rule, zone, 1700000000, t);
    }

    left = -1;

    sm_zones_done(&zones);

    return rc;
}


/* until nothing was refused */

static void
test_zone(const char *name)
{
    int      i, rc, next_rc, wrong, without;
    int64_t  t, expected;

    (void) try(name, &next_rc, &expected);

    wrong = 0;
    without = 0;

    for (i = 0; i < ROUNDS; i++) {
        left = i;
        refused = 0;

        rc = try(name, &next_rc, &t);

        if (!refused) {
            break;
        }

        if (rc == -2 || next_rc == -2) {
            without++;

        } else if (rc != 0 || next_rc != 0 || t != expected) {
            wrong++;
            diag("%s: allocation %d: %d, %d, %lld", name, i, rc, next_rc,
                 (long long) t);
        }
    }

    ok(i > 0 && i < ROUNDS, "%s: allocations were refused", name);
    ok(without > 0, "%s: there was no memory", name);
    is_int(wrong, 0, "%s: the zone was known each time", name);
    is_int(rc, 0, "%s: a zone in the end", name);
    is_int(next_rc, 0, "%s: which says when", name);
}


/* ICU itself does not survive without memory until it was used once */

int
main(void)
{
    int         next_rc;
    int64_t     t;
    UErrorCode  status = U_ZERO_ERROR;

    needs_no_store();

    u_setMemoryFunctions(NULL, oom_malloc, oom_realloc, oom_free, &status);
    ok(U_SUCCESS(status), "ICU asks this test for memory");

    is_int(try("Europe/Stockholm", &next_rc, &t), 0, "a zone");
    is_int(next_rc, 0, "which says when");
    is_int(try("Europe/Nowhere", &next_rc, &t), -1, "no zone");

    test_zone("Europe/Stockholm");
    test_zone("America/New_York");
    test_zone("Asia/Calcutta");
    test_zone("Australia/Lord_Howe");

    return done_testing();
}
