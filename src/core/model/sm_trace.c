
#include "sm_trace.h"


#define SM_TRACE_MEMBERS      32
#define SM_TRACE_KEY_MAX      256
#define SM_TRACE_VALUE_MAX    256
#define SM_TRACE_MEMBER_LONG  128       /* the first to be dropped */

/* Where the fields of a traceparent begin. */
#define SM_TRACE_AT_ID        3
#define SM_TRACE_AT_SPAN      36
#define SM_TRACE_AT_FLAGS     53


static int
sm_trace_is_hex(const char *p, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        if ((p[i] < '0' || p[i] > '9') && (p[i] < 'a' || p[i] > 'f')) {
            return 0;
        }
    }

    return 1;
}


static int
sm_trace_is_zero(const char *p, size_t n)
{
    size_t  i;

    for (i = 0; i < n && p[i] == '0'; i++) {
        /* void */
    }

    return i == n;
}


static int
sm_trace_parent_valid(sm_str_t s)
{
    const char  *p;

    p = s.data;

    if (s.len < SM_TRACE_PARENT_LEN
        || !sm_trace_is_hex(p, 2) || p[2] != '-'
        || !sm_trace_is_hex(p + SM_TRACE_AT_ID, SM_TRACE_ID_LEN)
        || p[SM_TRACE_AT_SPAN - 1] != '-'
        || !sm_trace_is_hex(p + SM_TRACE_AT_SPAN, SM_TRACE_SPAN_LEN)
        || p[SM_TRACE_AT_FLAGS - 1] != '-'
        || !sm_trace_is_hex(p + SM_TRACE_AT_FLAGS, 2))
    {
        return 0;
    }

    if (memcmp(p, "ff", 2) == 0) {
        return 0;
    }

    /* A later version may have more fields, after another dash. */

    if (s.len > SM_TRACE_PARENT_LEN
        && (memcmp(p, "00", 2) == 0 || p[SM_TRACE_PARENT_LEN] != '-'))
    {
        return 0;
    }

    return !sm_trace_is_zero(p + SM_TRACE_AT_ID, SM_TRACE_ID_LEN)
           && !sm_trace_is_zero(p + SM_TRACE_AT_SPAN, SM_TRACE_SPAN_LEN);
}


static sm_str_t
sm_trace_trim(sm_str_t s)
{
    while (s.len && (s.data[0] == ' ' || s.data[0] == '\t')) {
        s.data++;
        s.len--;
    }

    while (s.len && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t')) {
        s.len--;
    }

    return s;
}


/*
 * A key begins with a letter or a digit, and has at most one "@"; a value is
 * printable ASCII but "," and "=".
 */

static int
sm_trace_member_valid(sm_str_t m)
{
    char    c;
    size_t  i, key, ats;

    ats = 0;

    for (key = 0; key < m.len && m.data[key] != '='; key++) {
        c = m.data[key];

        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            continue;
        }

        if (c == '@' && key && ++ats == 1) {
            continue;
        }

        if (key == 0
            || (c != '_' && c != '-' && c != '*' && c != '/'))
        {
            return 0;
        }
    }

    if (key == 0 || key == m.len || key > SM_TRACE_KEY_MAX
        || m.len - key - 1 == 0 || m.len - key - 1 > SM_TRACE_VALUE_MAX)
    {
        return 0;
    }

    for (i = key + 1; i < m.len; i++) {
        c = m.data[i];

        if (c < 0x20 || c > 0x7e || c == '=' || c == ',') {
            return 0;
        }
    }

    return 1;
}


/*
 * Gives the members of a list, in their order.  Returns 0 if the list is not
 * valid, or is empty.
 */

static size_t
sm_trace_members(sm_str_t s, sm_str_t members[SM_TRACE_MEMBERS])
{
    size_t    i, n, from;
    sm_str_t  m;

    n = 0;

    for (i = 0, from = 0; i <= s.len; i++) {

        if (i < s.len && s.data[i] != ',') {
            continue;
        }

        m.data = s.data + from;
        m.len = i - from;
        m = sm_trace_trim(m);
        from = i + 1;

        if (m.len == 0) {
            continue;
        }

        if (n == SM_TRACE_MEMBERS || !sm_trace_member_valid(m)) {
            return 0;
        }

        members[n++] = m;
    }

    return n;
}


static size_t
sm_trace_size(const sm_str_t *members, size_t n)
{
    size_t  i, size;

    for (i = 0, size = 0; i < n; i++) {
        size += members[i].len ? members[i].len + (size != 0) : 0;
    }

    return size;
}


static int
sm_trace_state(sm_arena_t *arena, sm_str_t s, sm_str_t *state)
{
    char     *p;
    size_t    i, n;
    sm_str_t  members[SM_TRACE_MEMBERS];

    n = s.data ? sm_trace_members(s, members) : 0;

    /* Long members are dropped first, beginning at the end, then any others. */

    for (i = n; i && sm_trace_size(members, n) > SM_TRACE_STATE_MAX; i--) {
        if (members[i - 1].len > SM_TRACE_MEMBER_LONG) {
            members[i - 1].len = 0;
        }
    }

    while (sm_trace_size(members, n) > SM_TRACE_STATE_MAX) {
        n--;
    }

    state->len = sm_trace_size(members, n);

    if (state->len == 0) {
        state->data = NULL;
        return 0;
    }

    p = sm_arena_alloc(arena, state->len);
    if (p == NULL) {
        return -1;
    }

    state->data = p;

    for (i = 0; i < n; i++) {

        if (members[i].len == 0) {
            continue;
        }

        if (p != state->data) {
            *p++ = ',';
        }

        (void) memcpy(p, members[i].data, members[i].len);
        p += members[i].len;
    }

    return 0;
}


int
sm_trace_read(sm_arena_t *arena, sm_str_t parent, sm_str_t state,
    sm_trace_t *trace)
{
    char  *p;

    memset(trace, 0, sizeof(sm_trace_t));

    if (parent.data == NULL) {
        return 0;
    }

    parent = sm_trace_trim(parent);

    if (!sm_trace_parent_valid(parent)) {
        return 0;
    }

    p = sm_arena_alloc(arena, SM_TRACE_PARENT_LEN);
    if (p == NULL) {
        return -1;
    }

    (void) memcpy(p, parent.data, SM_TRACE_PARENT_LEN);
    (void) memcpy(p, "00", 2);

    trace->parent.data = p;
    trace->parent.len = SM_TRACE_PARENT_LEN;

    return sm_trace_state(arena, state, &trace->state);
}


sm_str_t
sm_trace_id(sm_str_t parent)
{
    sm_str_t  id = sm_null_str;

    if (parent.data && sm_trace_parent_valid(parent)) {
        id.data = parent.data + SM_TRACE_AT_ID;
        id.len = SM_TRACE_ID_LEN;
    }

    return id;
}


void
sm_trace_span(uint64_t random, char span[SM_TRACE_SPAN_LEN])
{
    size_t  i;

    random = random ? random : 1;

    for (i = SM_TRACE_SPAN_LEN; i; i--) {
        span[i - 1] = "0123456789abcdef"[random & 0xf];
        random >>= 4;
    }
}


void
sm_trace_child(sm_str_t parent, const char span[SM_TRACE_SPAN_LEN],
    char child[SM_TRACE_PARENT_LEN])
{
    (void) memcpy(child, parent.data, SM_TRACE_PARENT_LEN);
    (void) memcpy(child + SM_TRACE_AT_SPAN, span, SM_TRACE_SPAN_LEN);
}
