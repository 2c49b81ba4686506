
/*
 * Entity tags in "If-Match" and "If-None-Match".  Broken by: a list of which
 * only the first tag counts, a weak tag that lets a change through, a comma in
 * a tag, something that is no tag and is taken for one.
 */

#include "sm_tag.h"
#include "tap.h"


typedef struct {
    const char  *field;
    int          strong;            /* of the revision 7 */
    int          weak;
    int          absent;            /* of nothing */
} test_case_t;

static const test_case_t  test_cases[] = {
    { "*", 1, 1, 0 },
    { " * ", 1, 1, 0 },
    { "\"7\"", 1, 1, 0 },
    { "\"8\"", 0, 0, 0 },
    { "\"0\"", 0, 0, 0 },
    { "\"\"", 0, 0, 0 },
    { "\"x\"", 0, 0, 0 },
    { "\"07\"", 0, 0, 0 },
    { "\"+7\"", 0, 0, 0 },
    { "\"7\", \"8\"", 1, 1, 0 },
    { "\"8\", \"7\"", 1, 1, 0 },
    { "\"8\",\"9\",\"7\"", 1, 1, 0 },
    { "\"8\"\t,\t\"7\"", 1, 1, 0 },
    { ",\"8\",, \"7\" ,", 1, 1, 0 },
    { ",", 0, 0, 0 },
    { "\"8,7\"", 0, 0, 0 },
    { "W/\"7\"", 0, 1, 0 },
    { "W/\"8\", \"7\"", 1, 1, 0 },
    { "\"8\", W/\"7\"", 0, 1, 0 },
    { "W/", -1, -1, -1 },
    { "W/7", -1, -1, -1 },
    { "w/\"7\"", -1, -1, -1 },
    { "7", -1, -1, -1 },
    { "'7'", -1, -1, -1 },
    { "\"7", -1, -1, -1 },
    { "\"", -1, -1, -1 },
    { "7\"", -1, -1, -1 },
    { "\"7\" \"8\"", -1, -1, -1 },
    { "\"7\"8", -1, -1, -1 },
    { "\"7\", *", -1, -1, -1 },
    { "*, \"7\"", -1, -1, -1 },
    { "**", -1, -1, -1 },
    { "\"7 8\"", -1, -1, -1 },
    { "\"7\", 8", -1, -1, -1 },
    { "", -1, -1, -1 },
    { " ", -1, -1, -1 },
    { "\"99999999999999999999\", \"7\"", 1, 1, 0 },
};


int
main(void)
{
    size_t              i;
    sm_str_t            field;
    const test_case_t  *c;

    for (i = 0; i < sm_nelts(test_cases); i++) {
        c = &test_cases[i];
        field = sm_str_c(c->field);

        is_int(sm_tags_have(field, 7, 0), c->strong, "%s", c->field);
        is_int(sm_tags_have(field, 7, 1), c->weak, "%s, weakly", c->field);
        is_int(sm_tags_have(field, 0, 1), c->absent, "%s of nothing",
               c->field);
    }

    return done_testing();
}
