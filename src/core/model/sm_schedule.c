
#include "sm_intent.h"
#include "sm_schedule.h"
#include "sm_text.h"


const sm_field_t  sm_schedule_fields[] = {
    sm_field(sm_schedule_t, id, "schedule_id", TEXT, "id", SM_FIELD_ALWAYS),
    sm_field(sm_schedule_t, target,
             "submission_target", TEXT, SM_FIELD_TARGET, SM_FIELD_ALWAYS),
    sm_field_hidden(sm_schedule_t, body, "body", TEXT),
    sm_field_hidden(sm_schedule_t, hash, "payload_hash", TEXT),
    sm_field_hidden(sm_schedule_t, configured, "configured", BOOL),
    sm_field_hidden(sm_schedule_t, busy, "busy", BOOL),
    sm_field(sm_schedule_t, paused_at, "paused_at", TIME, "pausedAt", 0),
    sm_field(sm_schedule_t, pause_reason,
             "pause_reason", TEXT, "pauseReason", SM_FIELD_EMPTY),
    sm_field(sm_schedule_t, error,
             "last_error", TEXT, "error", SM_FIELD_EMPTY),
    sm_field(sm_schedule_t, next_run_at,
             "next_run_at", TIME, "nextRunAt", SM_FIELD_NULL),
    sm_field(sm_schedule_t, last_run_at, "last_run_at", TIME, "lastRunAt", 0),
    sm_field(sm_schedule_t, last_intent,
             "last_intent_id", TEXT, "lastIntentId", SM_FIELD_EMPTY),
    sm_field(sm_schedule_t, fired,
             "fired_count", INT, "fired", SM_FIELD_ALWAYS),
    sm_field(sm_schedule_t, skipped,
             "skipped_count", INT, "skipped", SM_FIELD_ALWAYS),
    sm_field(sm_schedule_t, missed,
             "missed_count", INT, "missed", SM_FIELD_ALWAYS),
    sm_field(sm_schedule_t, created_at, "created_at", TIME, "createdAt", 0),
    sm_field(sm_schedule_t, modified_at,
             "last_modified_at", TIME, "modifiedAt", 0),
    sm_field(sm_schedule_t, actor, "actor", TEXT, "modifiedBy", SM_FIELD_NULL),
    sm_field_hidden(sm_schedule_t, revision, "revision", INT),
    sm_field_hidden(sm_schedule_t, payload, "payload", BYTES),
    sm_null_field
};


const char *
sm_schedule_id_check(sm_str_t id)
{
    char    c;
    size_t  i;

    if (id.len == 0) {
        return "must not be empty";
    }

    if (id.len > SM_SCHEDULE_ID_MAX) {
        return "must not be longer than 178 characters";
    }

    if (sm_is_dots(id)) {
        return "must not be \".\" or \"..\"";
    }

    for (i = 0; i < id.len; i++) {
        c = id.data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'
              || c == ':' || c == '~'))
        {
            return "must be letters, digits, \".\", \"_\", \"-\", \":\" and "
                   "\"~\"";
        }
    }

    return NULL;
}


int
sm_schedule_intent(sm_arena_t *arena, sm_str_t id, int64_t at, sm_str_t *intent)
{
    char      time[SM_TIME_LEN];
    sm_out_t  out;

    sm_out_init(&out, time, sizeof(time));
    sm_out_time(&out, at * SM_SCHEDULE_SECOND);

    sm_out_init_arena(&out, arena);

    sm_out_str(&out, id);
    sm_out_c(&out, "@");
    sm_out_bytes(&out, time, SM_SCHEDULE_TIME_LEN - 1);
    sm_out_c(&out, "Z");

    return sm_out_done(&out, intent);
}


int
sm_schedule_timed(sm_str_t id)
{
    static const char  form[] = "@0000-00-00T00:00:00Z";

    size_t       i, len;
    const char  *p;

    len = sizeof(form) - 1;

    if (id.len < len || id.data[id.len - len] != '@') {
        return 0;
    }

    p = id.data + id.len - len;

    for (i = 1; i < len; i++) {
        if (form[i] == '0' ? p[i] < '0' || p[i] > '9' : p[i] != form[i]) {
            return 0;
        }
    }

    return 1;
}


int
sm_schedule_occurrence(sm_str_t id, sm_str_t *schedule)
{
    if (!sm_schedule_timed(id)) {
        return 0;
    }

    schedule->data = id.data;
    schedule->len = id.len - SM_SCHEDULE_TIME_LEN - 1;

    return sm_schedule_id_check(*schedule) == NULL;
}


void
sm_schedule_out(sm_out_t *out, const sm_schedule_t *schedule,
    const sm_schedule_rule_t *rule)
{
    const sm_field_t  *rest;

    sm_out_c(out, "{");
    rest = sm_out_fields_to(out, sm_schedule_fields, schedule, "body");
    sm_schedule_rule_out(out, rule);
    sm_out_c(out, schedule->paused_at ? ",\"paused\":true"
                                      : ",\"paused\":false");
    rest = sm_out_fields_to(out, rest, schedule, "next_run_at");
    sm_out_c(out, schedule->configured ? ",\"source\":\"configuration\""
                                       : ",\"source\":\"api\"");
    sm_out_fields(out, rest, schedule);
    sm_out_c(out, ",\"etag\":\"");
    sm_out_int(out, schedule->revision);
    sm_out_c(out, "\"");

    if (schedule->payload.len) {
        sm_out_c(out, ",\"" SM_FIELD_PAYLOAD "\":");
        sm_out_str(out, schedule->payload);
    }

    sm_out_c(out, "}");
}
