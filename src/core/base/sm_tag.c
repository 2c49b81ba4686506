
#include <stdio.h>

#include "sm_tag.h"
#include "sm_text.h"


static int
sm_tag_is_space(char c)
{
    return c == ' ' || c == '\t';
}


/*
 * Takes a tag off the list, with the comma after it.  Returns 1, or 0 at the
 * end of the list, or -1 if there is something that is not a tag.
 */

static int
sm_tag_next(sm_str_t *list, sm_str_t *tag, int *weak)
{
    size_t       i, start;
    const char  *p;

    p = list->data;

    /* Elements of the list may be empty. */

    for (i = 0; i < list->len && (sm_tag_is_space(p[i]) || p[i] == ','); i++) {
        /* void */
    }

    if (i == list->len) {
        return 0;
    }

    *weak = list->len - i > 2 && p[i] == 'W' && p[i + 1] == '/';

    if (*weak) {
        i += 2;
    }

    if (p[i] != '"') {
        return -1;
    }

    start = ++i;

    while (i < list->len && p[i] != '"') {

        if ((unsigned char) p[i] <= ' ' || p[i] == 0x7f) {
            return -1;
        }

        i++;
    }

    if (i == list->len) {
        return -1;
    }

    tag->data = p + start;
    tag->len = i - start;

    for (i++; i < list->len && sm_tag_is_space(p[i]); i++) { /* void */ }

    if (i < list->len && p[i] != ',') {
        return -1;
    }

    list->data += i;
    list->len -= i;

    return 1;
}


int
sm_tags_have(sm_str_t field, int64_t revision, int weak)
{
    int       rc, is_weak, have;
    char      text[24];
    sm_str_t  tag;

    (void) snprintf(text, sizeof(text), "%lld", (long long) revision);

    field = sm_trim(field);

    if (sm_str_eq(field, sm_str_c("*"))) {
        return revision != 0;
    }

    if (field.len == 0) {
        return -1;
    }

    have = 0;

    for ( ;; ) {
        rc = sm_tag_next(&field, &tag, &is_weak);

        if (rc != 1) {
            return rc == 0 ? have : -1;
        }

        if (revision && (weak || !is_weak) && sm_str_eq(tag, sm_str_c(text)))
        {
            have = 1;
        }
    }
}
