
/*
 * What was seen of the feed, and pages of it.
 */

#include "sm_feed.h"


static size_t
sm_feed_mark(const sm_feed_cursor_t *cursor, uint32_t origin)
{
    size_t  i;

    for (i = 0; i < cursor->n && cursor->marks[i].origin != origin; i++) {
        /* void */
    }

    return i;
}


int
sm_feed_cursor_new(const sm_feed_cursor_t *cursor,
    const sm_feed_event_t *event)
{
    size_t  i;

    i = sm_feed_mark(cursor, event->origin);

    return i < cursor->n ? event->n > cursor->marks[i].n
                         : event->at > cursor->floor;
}


/* Makes room for a mark: that of the origin that was silent longest goes. */

static size_t
sm_feed_mark_free(sm_feed_cursor_t *cursor)
{
    size_t  i, oldest;

    if (cursor->n < SM_FEED_MARKS) {
        return cursor->n++;
    }

    oldest = 0;

    for (i = 1; i < cursor->n; i++) {
        if (cursor->marks[i].at < cursor->marks[oldest].at) {
            oldest = i;
        }
    }

    if (cursor->floor < cursor->marks[oldest].at) {
        cursor->floor = cursor->marks[oldest].at;
    }

    return oldest;
}


void
sm_feed_cursor_seen(sm_feed_cursor_t *cursor, const sm_feed_event_t *event)
{
    size_t  i;

    if (!sm_feed_cursor_new(cursor, event)) {
        return;
    }

    i = sm_feed_mark(cursor, event->origin);

    if (i == cursor->n) {
        i = sm_feed_mark_free(cursor);
    }

    cursor->marks[i].origin = event->origin;
    cursor->marks[i].n = event->n;
    cursor->marks[i].at = event->at;
}


int
sm_feed_takes(const sm_feed_cursor_t *have, const sm_feed_event_t *event,
    unsigned whole)
{
    size_t  i;

    if (!sm_feed_cursor_new(have, event)) {
        return 0;
    }

    i = sm_feed_mark(have, event->origin);

    return whole || event->n == (i < have->n ? have->marks[i].n : 0) + 1;
}


void
sm_feed_have(sm_feed_cursor_t *cursor, const sm_feed_event_t *events, size_t n,
    unsigned full)
{
    size_t  i;

    memset(cursor, 0, sizeof(sm_feed_cursor_t));

    for (i = 0; i < n; i++) {
        sm_feed_cursor_seen(cursor, &events[i]);
    }

    if (full && n && cursor->floor < events[0].at) {
        cursor->floor = events[0].at;
    }
}


/* A cursor is "e" and numbers of fixed size, the high byte first. */


static char *
sm_feed_number_put(char *p, uint64_t n, size_t size)
{
    while (size--) {
        *p++ = (char) (n >> (8 * size));
    }

    return p;
}


static const char *
sm_feed_number_get(const char *p, uint64_t *n, size_t size)
{
    *n = 0;

    while (size--) {
        *n = *n << 8 | (unsigned char) *p++;
    }

    return p;
}


void
sm_feed_cursor_out(sm_out_t *out, const sm_feed_cursor_t *cursor)
{
    char      buf[SM_FEED_CURSOR_MAX], *p;
    size_t    i;
    sm_str_t  s;

    buf[0] = 'e';
    p = sm_feed_number_put(buf + 1, cursor->floor, 8);

    for (i = 0; i < cursor->n; i++) {
        p = sm_feed_number_put(p, cursor->marks[i].origin, 4);
        p = sm_feed_number_put(p, cursor->marks[i].n, 4);
        p = sm_feed_number_put(p, cursor->marks[i].at, 8);
    }

    s.data = buf;
    s.len = p - buf;

    sm_out_base64url(out, s);
}


static int
sm_feed_mark_get(const char **p, sm_feed_cursor_t *cursor)
{
    uint64_t         origin, n, at;
    sm_feed_mark_t  *mark;

    *p = sm_feed_number_get(*p, &origin, 4);
    *p = sm_feed_number_get(*p, &n, 4);
    *p = sm_feed_number_get(*p, &at, 8);

    if (n == 0 || at > SM_TIME_MAX
        || sm_feed_mark(cursor, (uint32_t) origin) < cursor->n)
    {
        return -1;
    }

    mark = &cursor->marks[cursor->n++];

    mark->origin = (uint32_t) origin;
    mark->n = (uint32_t) n;
    mark->at = (int64_t) at;

    return 0;
}


int
sm_feed_cursor_parse(sm_str_t text, sm_feed_cursor_t *cursor)
{
    char         buf[sm_base64url_size(SM_FEED_CURSOR_MAX)];
    size_t       len;
    uint64_t     floor;
    const char  *p;

    memset(cursor, 0, sizeof(sm_feed_cursor_t));

    if (text.len > sizeof(buf) || sm_base64url(buf, text, &len) != 0
        || len < 9 || len > SM_FEED_CURSOR_MAX || (len - 9) % 16
        || buf[0] != 'e')
    {
        return -1;
    }

    p = sm_feed_number_get(buf + 1, &floor, 8);

    if (floor > SM_TIME_MAX) {
        return -1;
    }

    cursor->floor = (int64_t) floor;

    while (p < buf + len) {
        if (sm_feed_mark_get(&p, cursor) != 0) {
            return -1;
        }
    }

    return 0;
}


static int
sm_feed_fits(const sm_feed_page_t *page, const sm_feed_event_t *event)
{
    return (page->kind.len == 0 || sm_str_eq(page->kind, event->kind))
           && (page->target.len == 0
               || sm_str_eq(page->target, event->target));
}


/* Counts the events between the last one that was seen and this one. */

static uint64_t
sm_feed_gap(const sm_feed_cursor_t *cursor, const sm_feed_event_t *event)
{
    size_t  i;

    i = sm_feed_mark(cursor, event->origin);

    return i < cursor->n && event->n > cursor->marks[i].n
           ? event->n - cursor->marks[i].n - 1 : 0;
}


/* What is left out comes after all that is taken, or before all of it. */

void
sm_feed_page(sm_feed_page_t *page, sm_feed_event_t *events, size_t n)
{
    size_t  i;

    page->n = 0;
    page->more = 0;
    page->missed = 0;

    for (i = 0; i < n; i++) {

        if (page->after && !sm_feed_cursor_new(&page->cursor, &events[i])) {
            continue;
        }

        if (page->after && page->n == page->limit
            && sm_feed_fits(page, &events[i]))
        {
            page->more = 1;
            return;
        }

        if (page->after) {
            page->missed += sm_feed_gap(&page->cursor, &events[i]);
        }

        sm_feed_cursor_seen(&page->cursor, &events[i]);

        if (sm_feed_fits(page, &events[i])) {
            events[page->n++] = events[i];
        }
    }

    if (page->n > page->limit) {
        memmove(events, &events[page->n - page->limit],
                page->limit * sizeof(sm_feed_event_t));
        page->n = page->limit;
        page->more = 1;
    }
}
