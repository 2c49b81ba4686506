
#include "sm_webhook.h"


const sm_field_t  sm_event_fields[] = {
    sm_field_hidden(sm_event_t, id, "intent_id", TEXT),
    sm_field(sm_event_t, of, "event_of", TEXT, "intentId", SM_FIELD_ALWAYS),
    sm_field_hidden(sm_event_t, target, "submission_target", TEXT),
    sm_field(sm_event_t, created_at,
             "created_at", TIME, "createdAt", SM_FIELD_ALWAYS),
    sm_field_name(sm_event_t, status,
                  "status", "status", SM_FIELD_ALWAYS, &sm_statuses),
    sm_field(sm_event_t, attempt_count,
             "attempt_count", INT, "attemptCount", SM_FIELD_ALWAYS),
    sm_field(sm_event_t, next_attempt_at,
             "next_attempt_at", TIME, "nextAttemptAt", 0),
    sm_field(sm_event_t, completed_at, "completed_at", TIME, "completedAt", 0),
    sm_field(sm_event_t, last_error, "last_error", TEXT, "lastError", 0),
    sm_null_field
};


/*
 * What the store keeps of an intent for its messages, by the keys of that
 * document, besides what was posted; see intent_ended.sql.
 */

static const sm_field_t  sm_webhook_facts[] = {
    sm_field(sm_intent_t, id, "intent_id", TEXT, "id", SM_FIELD_ALWAYS),
    sm_field(sm_intent_t, target,
             "submission_target", TEXT, "target", SM_FIELD_ALWAYS),
    sm_field_name(sm_intent_t, status,
                  "status", "status", SM_FIELD_ALWAYS, &sm_statuses),
    sm_field(sm_intent_t, created_at,
             "created_at", TIME, "created", SM_FIELD_ALWAYS),
    sm_field(sm_intent_t, attempt_count,
             "attempt_count", INT, "attempts", SM_FIELD_ALWAYS),
    sm_field(sm_intent_t, completed_at,
             "completed_at", TIME, "completed", SM_FIELD_ALWAYS),
    sm_field(sm_intent_t, rejected_reason,
             "final_outcome_reason", TEXT, "reason", 0),
    sm_field(sm_intent_t, exhausted_reason,
             "exhausted_reason", TEXT, "exhausted", 0),
    sm_field(sm_intent_t, last_error, "last_error", TEXT, "error", 0),
    sm_field(sm_intent_t, replay_of, "replay_of", TEXT, "replay", 0),
    sm_field(sm_intent_t, traceparent, "traceparent", TEXT, "trace", 0),
    sm_null_field
};


const char *
sm_webhook_name_check(sm_str_t name)
{
    char    c;
    size_t  i;

    if (name.len == 0 || name.len > SM_WEBHOOK_NAME_MAX) {
        return "must have 1 to 64 characters";
    }

    for (i = 0; i < name.len; i++) {
        c = name.data[i];

        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
            && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-')
        {
            return "must be of letters, digits, \".\", \"_\" and \"-\"";
        }
    }

    return NULL;
}


sm_str_t
sm_webhook_name(sm_str_t target)
{
    size_t    len;
    sm_str_t  name = sm_null_str;

    len = sizeof(SM_WEBHOOK_TARGET) - 1;

    if (target.len > len && memcmp(target.data, SM_WEBHOOK_TARGET, len) == 0) {
        name.data = target.data + len;
        name.len = target.len - len;
    }

    return name;
}


const char *
sm_webhook_target_check(sm_str_t target)
{
    sm_str_t  name;

    name = sm_webhook_name(target);

    return name.data && sm_webhook_name_check(name) == NULL
           ? NULL : sm_target_check(target);
}


int
sm_webhook_told(sm_str_t notify, sm_status_e status)
{
    size_t    i;
    sm_str_t  name;

    if (notify.len == 0 || status == SM_STATUS_PENDING) {
        return 0;
    }

    name = sm_status_name(status);

    for (i = 0; i + name.len < notify.len; i++) {
        if ((i == 0 || notify.data[i - 1] == ' ')
            && memcmp(notify.data + i, name.data, name.len) == 0
            && notify.data[i + name.len] == ':')
        {
            return 1;
        }
    }

    return 0;
}


sm_str_t
sm_webhook_first(sm_str_t id)
{
    size_t  i;

    for (i = 0; i < id.len; i++) {
        if (id.data[i] == '~') {
            id.len = i;
        }
    }

    return id;
}


static int
sm_webhook_digit(char c)
{
    const char  *p;

    static const char  digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/";

    p = c ? strchr(digits, c) : NULL;

    return p ? (int) (p - digits) : -1;
}


/* Decodes base64; the padding may be missing. */

static const char *
sm_webhook_key(sm_arena_t *arena, sm_str_t text, sm_str_t *key)
{
    int       digit;
    char     *p;
    size_t    i;
    uint32_t  bits;

    while (text.len && text.data[text.len - 1] == '=') {
        text.len--;
    }

    key->len = text.len * 3 / 4;

    if (text.len % 4 == 1) {
        return "is not base64 after \"whsec_\"";
    }

    if (key->len < SM_WEBHOOK_KEY_MIN || key->len > SM_WEBHOOK_KEY_MAX) {
        return "must have 24 to 64 bytes after \"whsec_\", as base64";
    }

    p = sm_arena_alloc(arena, key->len);
    if (p == NULL) {
        return "found no memory";
    }

    key->data = p;

    for (i = 0, bits = 0; i < text.len; i++) {
        digit = sm_webhook_digit(text.data[i]);

        if (digit == -1) {
            return "is not base64 after \"whsec_\"";
        }

        bits = bits << 6 | (uint32_t) digit;

        switch (i % 4) {
        case 1:
            *p++ = (char) (bits >> 4 & 0xff);
            break;
        case 2:
            *p++ = (char) (bits >> 2 & 0xff);
            break;
        case 3:
            *p++ = (char) (bits & 0xff);
            break;
        default:
            break;
        }
    }

    return NULL;
}


const char *
sm_webhook_keys(sm_arena_t *arena, sm_str_t text,
    sm_str_t keys[SM_WEBHOOK_KEYS], size_t *n)
{
    size_t       i, from;
    sm_str_t     line;
    const char  *why;

    *n = 0;

    for (i = 0, from = 0; i <= text.len; i++) {

        if (i < text.len && text.data[i] != '\n') {
            continue;
        }

        line.data = text.data + from;
        line.len = i - from;

        if (line.len && line.data[line.len - 1] == '\r') {
            line.len--;
        }

        line = sm_trim(line);
        from = i + 1;

        if (line.len == 0) {
            continue;
        }

        if (line.len < 6 || memcmp(line.data, "whsec_", 6) != 0) {
            return "must begin with \"whsec_\"";
        }

        if (*n == SM_WEBHOOK_KEYS) {
            return "is one of more than 8";
        }

        line.data += 6;
        line.len -= 6;

        why = sm_webhook_key(arena, line, &keys[*n]);
        if (why) {
            return why;
        }

        (*n)++;
    }

    return *n ? NULL : "is missing: the file is empty";
}


int
sm_webhook_body(sm_arena_t *arena, sm_str_t facts, sm_str_t *body)
{
    sm_out_t         out;
    sm_intent_t      intent;
    sm_json_error_t  err;

    memset(&intent, 0, sizeof(sm_intent_t));

    if (sm_fields_parse(arena, facts, sm_webhook_facts, &intent, &err) != 0
        || sm_fields_parse(arena, facts, sm_posted_fields, &intent.posted,
                           &err)
           != 0)
    {
        return err.no_memory ? -1 : 1;
    }

    if (intent.status == SM_STATUS_NONE || intent.completed_at == 0) {
        return 1;
    }

    sm_intent_loaded(&intent);

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "{\"type\":\"intent.");
    sm_out_str(&out, sm_status_name(intent.status));
    sm_out_c(&out, "\",\"timestamp\":");
    sm_json_out_time(&out, intent.completed_at);
    sm_out_c(&out, ",\"data\":");
    sm_intent_out(&out, &intent);
    sm_out_c(&out, "}");

    return sm_out_done(&out, body);
}


/* Returns how often the event was sent again: the number after "~". */

static int64_t
sm_webhook_times(sm_str_t id)
{
    int64_t   n;
    sm_str_t  first, digits;

    first = sm_webhook_first(id);

    if (first.len == id.len) {
        return 0;
    }

    digits.data = id.data + first.len + 1;
    digits.len = id.len - first.len - 1;

    return sm_parse_uint(digits, SM_ATTEMPTS_MAX, &n) == 0 ? n : 0;
}


int
sm_webhook_latest(sm_arena_t *arena, const sm_events_row_t *row, size_t i,
    sm_str_t *id)
{
    size_t    k;
    int64_t   times;
    sm_out_t  out;
    sm_str_t  first;

    first = sm_webhook_first(row->events[i].id);
    times = sm_webhook_times(row->events[i].id);

    for (k = 0; k < row->n; k++) {
        if (sm_str_eq(sm_webhook_first(row->events[k].id), first)
            && sm_webhook_times(row->events[k].id) > times)
        {
            return 0;
        }
    }

    sm_out_init_arena(&out, arena);

    sm_out_str(&out, first);
    sm_out_c(&out, "~");
    sm_out_int(&out, times + 1);

    return sm_out_done(&out, id) == 0 ? 1 : -1;
}


void
sm_event_out(sm_out_t *out, const sm_event_t *event, sm_str_t message)
{
    sm_out_c(out, "{\"webhook\":");
    sm_json_out_str(out, sm_webhook_name(event->target));
    sm_out_c(out, ",\"messageId\":");
    sm_json_out_str(out, message);
    sm_out_fields(out, sm_event_fields, event);
    sm_out_c(out, "}");
}
