
/*
 * Without memory a schedule is neither one that is not understood nor one
 * whose time zone is not known: it would be stopped for that.  ASAN refuses
 * blocks beyond a megabyte here.  Broken by: one answer for both.
 */

#include <stdlib.h>

#include "sm_schedule.h"
#include "sm_schedule_due.h"
#include "tap.h"


#define LONG  (2 * 1024 * 1024)


const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1";
}


static int
nowhere(void *data, int64_t utc, int64_t *local)
{
    (void) data;
    (void) utc;
    (void) local;

    return -1;
}


static char  body[LONG];


int
main(void)
{
    sm_str_t         s;
    sm_arena_t       arena = { NULL };
    sm_schedule_due_t   due;
    sm_schedule_rule_t  rule;
    sm_schedule_zone_t  zone = { nowhere, nowhere, NULL };

    needs_no_store();

    /* characters that have to be unescaped, and so copied */

    s.data = body;
    s.len = sprintf(body, "{\"every\":\"");

    while (s.len < LONG - 2) {
        body[s.len++] = '\\';
        body[s.len++] = 'n';
    }

    s.len -= 4;
    s.len += sprintf(body + s.len, "\"}");

    is_int(sm_schedule_load(&arena, s, &rule), -2, "no memory for a rule");

    sm_arena_free(&arena);

    is_int(sm_schedule_load(&arena, sm_str_c("{\"every\":7}"), &rule), -1,
           "what is not a rule");

    is_int(sm_schedule_load(&arena, sm_str_c("{\"cron\":\"* * * * *\","
                                             "\"misfire\":\"once\","
                                             "\"overlap\":\"skip\"}"), &rule),
           0, "a rule");
    is_int(sm_schedule_due(&arena, &rule, &zone, 60, 120, 0, &due), -1,
           "a zone that does not answer");

    sm_arena_free(&arena);

    return done_testing();
}
