
#include "sm_search.h"


/*
 * Times after and before all times of all stores.  The later one is the last
 * day of the year 9999, because its last microsecond is too late for Babelfish.
 */

#define SM_SEARCH_LAST   253402214400000000
#define SM_SEARCH_FIRST  0


int
sm_search_plain(const sm_list_row_t *row)
{
    return row->by == SM_LIST_CREATED && !row->asc && row->from == 0
           && row->to == 0 && row->reason.data == NULL
           && row->prefix.data == NULL;
}


char
sm_search_kind(const sm_list_row_t *row)
{
    static const char  kinds[SM_LIST_BYS][2] = {
        { 0, 'c' }, { 'E', 'e' }, { 'I', 'i' }
    };

    return kinds[row->by][row->asc];
}


static const char *
sm_search_check_ids(const sm_list_row_t *row, const char **field)
{
    if (row->status != SM_STATUS_NONE || row->target.data || row->reason.data
        || row->from || row->to || row->by == SM_LIST_COMPLETED)
    {
        *field = "idPrefix";
        return "\"idPrefix\" can be combined with \"order\", \"limit\" and "
               "\"after\" alone: its list is in the order of ids";
    }

    /* A cursor of another prefix would begin a search outside this one. */

    if (row->after_id.data
        && (row->after_id.len < row->prefix.len
            || memcmp(row->after_id.data, row->prefix.data, row->prefix.len)))
    {
        *field = "after";
        return "\"after\" must be the \"next\" of an earlier page of the same "
               "\"idPrefix\"";
    }

    return NULL;
}


const char *
sm_search_check(const sm_list_row_t *row, const char **field)
{
    if (row->prefix.data) {
        return sm_search_check_ids(row, field);
    }

    if (row->reason.data && row->by != SM_LIST_COMPLETED) {
        *field = "reason";
        return "\"reason\" can be combined with \"by=completed\" alone: "
               "intents are not listed by reason and time of creation";
    }

    if (row->reason.data && row->status != SM_STATUS_NONE
        && row->status != SM_STATUS_REJECTED
        && row->status != SM_STATUS_EXHAUSTED)
    {
        *field = "reason";
        return "\"reason\" can be combined with \"status=rejected\" and "
               "\"status=exhausted\" alone: no other status has a reason";
    }

    if (row->by == SM_LIST_COMPLETED && row->status == SM_STATUS_PENDING) {
        *field = "by";
        return "\"by=completed\" cannot be combined with \"status=pending\": "
               "pending intents are not completed";
    }

    if (row->from && row->to && row->from >= row->to) {
        *field = "to";
        return "\"to\" must be later than \"from\"";
    }

    return NULL;
}


void
sm_search_span(const sm_list_row_t *row, sm_search_span_t *span)
{
    static const sm_str_t  none = sm_str("");

    int64_t  from, to;

    from = row->from ? row->from : SM_SEARCH_FIRST;
    to = row->to ? row->to : SM_SEARCH_LAST;

    from = from < SM_SEARCH_LAST ? from : SM_SEARCH_LAST;
    to = to < SM_SEARCH_LAST ? to : SM_SEARCH_LAST;

    /* No id is empty, so (from, "") precedes every intent of that time. */

    span->at = row->asc ? from : to;
    span->id = none;
    span->end = row->asc ? to : from;

    if (row->after_id.data
        && (row->asc ? row->after_at >= from : row->after_at < to))
    {
        span->at = row->after_at;
        span->id = row->after_id;
    }
}


void
sm_search_ids(const sm_list_row_t *row, sm_search_ids_t *ids)
{
    static const sm_str_t  none = sm_str("");

    ids->low = row->prefix;
    ids->high = row->prefix_end;
    ids->skip = none;

    if (row->after_id.data == NULL) {
        return;
    }

    if (row->asc) {
        ids->low = row->after_id;
        ids->skip = row->after_id;

    } else {
        ids->high = row->after_id;
    }
}


/*
 * Returns the last character of valid UTF-8, which is not empty, and where it
 * begins.
 */

static uint32_t
sm_search_last(sm_str_t s, size_t *at)
{
    size_t    i;
    uint32_t  c;

    for (i = s.len - 1; i && (s.data[i] & 0xc0) == 0x80; i--) {
        /* void */
    }

    *at = i;

    c = (unsigned char) s.data[i];
    c &= c < 0x80 ? 0x7f : c < 0xe0 ? 0x1f : c < 0xf0 ? 0x0f : 0x07;

    while (++i < s.len) {
        c = c << 6 | (s.data[i] & 0x3f);
    }

    return c;
}


static size_t
sm_search_utf8(char *p, uint32_t c)
{
    size_t  n, i;

    if (c < 0x80) {
        *p = c;
        return 1;
    }

    n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (i = n - 1; i; i--) {
        p[i] = 0x80 | (c & 0x3f);
        c >>= 6;
    }

    p[0] = (n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c;

    return n;
}


/*
 * Makes the end of the range: the prefix with the successor of its last
 * character in place of that.  Stores order ids by bytes of UTF-8 or by units
 * of UTF-16; both agree on what comes next, but for three characters that no
 * text has.
 */

const char *
sm_search_prefix(sm_list_row_t *row, sm_str_t prefix, char *buf)
{
    size_t       at;
    uint32_t     c;
    const char  *fault;

    fault = sm_id_text_check(prefix);

    if (fault) {
        return fault;
    }

    if (prefix.data[0] == ' ') {
        return "must not begin with a space";
    }

    c = sm_search_last(prefix, &at);

    if (c == 0xd7ff || c == 0xffff || c == 0x10ffff) {
        return "must not end with a character that is none";
    }

    memcpy(buf, prefix.data, at);

    row->prefix = prefix;
    row->prefix_end.data = buf;
    row->prefix_end.len = at + sm_search_utf8(buf + at, c + 1);

    return NULL;
}
