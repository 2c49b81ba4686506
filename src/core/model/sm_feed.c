
/*
 * The events of the feed: their kinds, how they are kept, shown, and told to
 * other instances.
 */

#include "sm_contract.h"
#include "sm_feed.h"

#include <stdio.h>
#include <stdlib.h>


const sm_feed_kind_t  sm_feed_kinds[] = {
    [SM_FEED_INSTANCE_STARTED] = { sm_str("instance_started"), SM_FEED_INFO },
    [SM_FEED_INSTANCE_BACK] = { sm_str("instance_back"), SM_FEED_INFO },
    [SM_FEED_INSTANCE_GONE] = { sm_str("instance_gone"), SM_FEED_WARN },
    [SM_FEED_WORKER_DIED] = { sm_str("worker_died"), SM_FEED_ERROR },
    [SM_FEED_RELOADED] = { sm_str("reloaded"), SM_FEED_INFO },
    [SM_FEED_CONFIGURATION_CHANGED] =
                           { sm_str("configuration_changed"), SM_FEED_INFO },
    [SM_FEED_LEADER_ACQUIRED] = { sm_str("leader_acquired"), SM_FEED_INFO },
    [SM_FEED_LEADER_LEFT] = { sm_str("leader_left"), SM_FEED_INFO },
    [SM_FEED_LEADER_LOST] = { sm_str("leader_lost"), SM_FEED_ERROR },
    [SM_FEED_STORE_DOWN] = { sm_str("store_down"), SM_FEED_ERROR },
    [SM_FEED_STORE_FAILING] = { sm_str("store_failing"), SM_FEED_ERROR },
    [SM_FEED_STORE_UP] = { sm_str("store_up"), SM_FEED_INFO },
    [SM_FEED_TARGET_DOWN] = { sm_str("target_down"), SM_FEED_ERROR },
    [SM_FEED_TARGET_DEGRADED] = { sm_str("target_degraded"), SM_FEED_WARN },
    [SM_FEED_TARGET_UP] = { sm_str("target_up"), SM_FEED_INFO },
    [SM_FEED_CIRCUIT_OPEN] = { sm_str("circuit_open"), SM_FEED_WARN },
    [SM_FEED_CIRCUIT_CLOSED] = { sm_str("circuit_closed"), SM_FEED_INFO },
    [SM_FEED_TARGET_PAUSED] = { sm_str("target_paused"), SM_FEED_WARN },
    [SM_FEED_TARGET_RESUMED] = { sm_str("target_resumed"), SM_FEED_INFO },
    [SM_FEED_CERTIFICATE_EXPIRES] =
                             { sm_str("certificate_expires"), SM_FEED_WARN },
    [SM_FEED_JOB_BEGUN] = { sm_str("job_begun"), SM_FEED_INFO },
    [SM_FEED_JOB_DONE] = { sm_str("job_done"), SM_FEED_INFO },
    [SM_FEED_JOB_STOPPED] = { sm_str("job_stopped"), SM_FEED_INFO },
    [SM_FEED_JOB_FAILED] = { sm_str("job_failed"), SM_FEED_ERROR },
    [SM_FEED_RETENTION_BEGUN] = { sm_str("retention_begun"), SM_FEED_INFO },
    [SM_FEED_RETENTION_DONE] = { sm_str("retention_done"), SM_FEED_INFO }
};

_Static_assert(sm_nelts(sm_feed_kinds) == SM_FEED_KINDS,
               "a row for each kind");


_Static_assert(SM_FEED_TARGET >= 4 * SM_TARGET_MAX,
               "the name of a target is kept whole: it is looked for");


static const char  *sm_feed_levels[] = { "info", "warn", "error" };

_Static_assert(sm_nelts(sm_feed_levels) == SM_FEED_LEVELS,
               "a name for each level");


enum {
    SM_FEED_KEY_ORIGIN = 0,
    SM_FEED_KEY_N,
    SM_FEED_KEY_AT,
    SM_FEED_KEY_LEVEL,
    SM_FEED_KEY_KIND,
    SM_FEED_KEY_INSTANCE,
    SM_FEED_KEY_TARGET,
    SM_FEED_KEY_TEXT,
    SM_FEED_KEY_EPOCH,
    SM_FEED_KEYS
};

static const sm_json_field_t  sm_feed_fields[] = {
    { "o", SM_JSON_NUMBER, 1 },
    { "n", SM_JSON_NUMBER, 1 },
    { "at", SM_JSON_NUMBER, 1 },
    { "l", SM_JSON_NUMBER, 1 },
    { "k", SM_JSON_STRING, 1 },
    { "i", SM_JSON_STRING, 1 },
    { "t", SM_JSON_STRING, 0 },
    { "x", SM_JSON_STRING, 1 },
    { "e", SM_JSON_NUMBER, 0 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_feed_fields) == SM_FEED_KEYS + 1,
               "a field for each key");


sm_str_t
sm_feed_level_name(sm_feed_level_e level)
{
    return sm_str_c(sm_feed_levels[level < SM_FEED_LEVELS ? level : 0]);
}


int
sm_feed_kind(sm_str_t name)
{
    size_t  i;

    for (i = 0; i < SM_FEED_KINDS; i++) {
        if (sm_str_eq(sm_feed_kinds[i].name, name)) {
            return (int) i;
        }
    }

    return -1;
}


/* Appends at most "max" bytes of a text, and returns how many. */

static uint16_t
sm_feed_put(sm_feed_slot_t *slot, size_t *used, sm_str_t s, size_t max)
{
    if (max > SM_FEED_BYTES - *used) {
        max = SM_FEED_BYTES - *used;
    }

    if (s.len > max) {
        for (s.len = max; s.len && (s.data[s.len] & 0xc0) == 0x80; s.len--) {
            /* void */
        }
    }

    if (s.len) {
        memcpy(slot->data + *used, s.data, s.len);
    }

    *used += s.len;

    return (uint16_t) s.len;
}


sm_str_t
sm_feed_sentence(sm_str_t text)
{
    while (text.len > 1 && text.data[text.len - 1] == '.'
           && memchr(".?!", text.data[text.len - 2], 3))
    {
        text.len--;
    }

    return text;
}


void
sm_feed_pack(sm_feed_slot_t *slot, const sm_feed_event_t *event)
{
    size_t  used;

    used = 0;

    slot->origin = event->origin;
    slot->n = event->n;
    slot->at = event->at;
    slot->epoch = event->epoch;
    slot->level = event->level;

    slot->kind = sm_feed_put(slot, &used, event->kind, SM_FEED_KIND);
    slot->instance = sm_feed_put(slot, &used, event->instance, SM_FEED_NAME);
    slot->target = sm_feed_put(slot, &used, event->target, SM_FEED_TARGET);
    slot->text = sm_feed_put(slot, &used, event->text, SM_FEED_BYTES);
}


void
sm_feed_open(const sm_feed_slot_t *slot, sm_feed_event_t *event)
{
    const char  *p;

    event->origin = slot->origin;
    event->n = slot->n;
    event->at = slot->at;
    event->epoch = slot->epoch;
    event->level = slot->level;

    p = slot->data;

    event->kind.data = p;
    event->kind.len = slot->kind;
    p += slot->kind;

    event->instance.data = p;
    event->instance.len = slot->instance;
    p += slot->instance;

    event->target.data = p;
    event->target.len = slot->target;
    p += slot->target;

    event->text.data = p;
    event->text.len = slot->text;
}


static int
sm_feed_compare(const void *one, const void *two)
{
    const sm_feed_event_t *a = one;
    const sm_feed_event_t *b = two;

    if (a->at != b->at) {
        return a->at < b->at ? -1 : 1;
    }

    if (a->origin != b->origin) {
        return a->origin < b->origin ? -1 : 1;
    }

    return a->n < b->n ? -1 : a->n > b->n;
}


void
sm_feed_sort(sm_feed_event_t *events, size_t n)
{
    qsort(events, n, sizeof(sm_feed_event_t), sm_feed_compare);
}


void
sm_feed_event_out(sm_out_t *out, const sm_feed_event_t *event)
{
    char  id[sizeof("ffffffff-4294967295")];

    (void) snprintf(id, sizeof(id), "%08x-%u", (unsigned) event->origin,
                    (unsigned) event->n);

    sm_out_c(out, "{\"id\":\"");
    sm_out_c(out, id);
    sm_out_c(out, "\",\"at\":");
    sm_json_out_time(out, event->at);
    sm_out_c(out, ",\"kind\":");
    sm_json_out_str(out, event->kind);
    sm_out_c(out, ",\"level\":");
    sm_json_out_str(out, sm_feed_level_name(event->level));
    sm_out_c(out, ",\"instance\":");
    sm_json_out_str(out, event->instance);
    sm_out_c(out, ",\"target\":");

    if (event->target.len) {
        sm_json_out_str(out, event->target);

    } else {
        sm_out_c(out, "null");
    }

    sm_out_c(out, ",\"epoch\":");

    if (event->epoch) {
        sm_out_int(out, event->epoch);

    } else {
        sm_out_c(out, "null");
    }

    sm_out_c(out, ",\"text\":");
    sm_json_out_str(out, event->text);
    sm_out_c(out, "}");
}


static void
sm_feed_doc_number(sm_out_t *out, int key, int64_t n)
{
    sm_out_c(out, key == SM_FEED_KEY_ORIGIN ? "{\"" : ",\"");
    sm_out_c(out, sm_feed_fields[key].name);
    sm_out_c(out, "\":");
    sm_out_int(out, n);
}


static void
sm_feed_doc_string(sm_out_t *out, int key, sm_str_t s)
{
    if (s.len == 0 && !sm_feed_fields[key].required) {
        return;
    }

    sm_out_c(out, ",\"");
    sm_out_c(out, sm_feed_fields[key].name);
    sm_out_c(out, "\":");
    sm_json_out_str(out, s);
}


/* Those at the other end are the ones without room. */

void
sm_feed_doc_out(sm_out_t *out, const sm_feed_event_t *events, size_t n,
    sm_feed_end_e from, size_t bytes)
{
    char                   *last, *end;
    size_t                  i;
    const sm_feed_event_t  *e;

    end = out->end;

    if ((size_t) (out->end - out->last) > bytes) {
        out->end = out->last + bytes;
    }

    out->end--;

    sm_out_c(out, "[");

    for (i = 0; i < n; i++) {
        e = from == SM_FEED_FIRST ? &events[i] : &events[n - 1 - i];
        last = out->last;

        if (i) {
            sm_out_c(out, ",");
        }

        sm_feed_doc_number(out, SM_FEED_KEY_ORIGIN, e->origin);
        sm_feed_doc_number(out, SM_FEED_KEY_N, e->n);
        sm_feed_doc_number(out, SM_FEED_KEY_AT, e->at);
        sm_feed_doc_number(out, SM_FEED_KEY_LEVEL, e->level);
        sm_feed_doc_string(out, SM_FEED_KEY_KIND, e->kind);
        sm_feed_doc_string(out, SM_FEED_KEY_INSTANCE, e->instance);
        sm_feed_doc_string(out, SM_FEED_KEY_TARGET, e->target);
        sm_feed_doc_string(out, SM_FEED_KEY_TEXT, e->text);

        if (e->epoch) {
            sm_feed_doc_number(out, SM_FEED_KEY_EPOCH, e->epoch);
        }

        sm_out_c(out, "}");

        if (out->full) {
            out->full = 0;
            out->last = last;
            break;
        }
    }

    out->end = end;

    sm_out_c(out, "]");
}


static int
sm_feed_doc_event(sm_arena_t *arena, sm_str_t doc, sm_feed_event_t *event)
{
    size_t            i;
    int64_t           numbers[SM_FEED_KEY_KIND];
    sm_json_error_t   err;
    sm_json_value_t   values[SM_FEED_KEYS];

    static const int64_t  most[] = { UINT32_MAX, UINT32_MAX, SM_TIME_MAX,
                                     SM_FEED_LEVELS - 1 };

    _Static_assert(sm_nelts(most) == SM_FEED_KEY_KIND,
                   "a bound for each number");

    if (sm_json_object_lax(arena, doc, sm_feed_fields, values, &err) != 0) {
        return -1;
    }

    for (i = 0; i < SM_FEED_KEY_KIND; i++) {
        if (sm_parse_uint(values[i].raw, most[i], &numbers[i]) != 0) {
            return -1;
        }
    }

    for (i = SM_FEED_KEY_KIND; i < SM_FEED_KEY_EPOCH; i++) {
        if (sm_utf8_check(values[i].text) != values[i].text.len) {
            return -1;
        }
    }

    if (values[SM_FEED_KEY_EPOCH].raw.len
        && sm_parse_uint(values[SM_FEED_KEY_EPOCH].raw, INT64_MAX,
                         &event->epoch)
           != 0)
    {
        return -1;
    }

    event->origin = (uint32_t) numbers[SM_FEED_KEY_ORIGIN];
    event->n = (uint32_t) numbers[SM_FEED_KEY_N];
    event->at = numbers[SM_FEED_KEY_AT];
    event->level = numbers[SM_FEED_KEY_LEVEL];
    event->kind = values[SM_FEED_KEY_KIND].text;
    event->instance = values[SM_FEED_KEY_INSTANCE].text;
    event->target = values[SM_FEED_KEY_TARGET].text;
    event->text = values[SM_FEED_KEY_TEXT].text;

    return event->n && event->at ? 0 : -1;
}


int
sm_feed_doc_parse(sm_arena_t *arena, sm_str_t doc, sm_feed_event_t **events,
    size_t *n)
{
    size_t            i, found;
    sm_json_value_t  *elts;
    sm_json_error_t   err;

    *n = 0;

    if (sm_json_array(arena, doc, &elts, &found, &err) != 0) {
        return -1;
    }

    *events = sm_arena_calloc(arena, found + 1, sizeof(sm_feed_event_t));
    if (*events == NULL) {
        return -1;
    }

    for (i = 0; i < found; i++) {
        if (sm_feed_doc_event(arena, elts[i].raw, &(*events)[*n]) == 0) {
            (*n)++;
        }
    }

    sm_feed_sort(*events, *n);

    return 0;
}
