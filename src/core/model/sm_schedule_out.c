
/*
 * A schedule as HTTP shows it.
 */

#include "sm_schedule.h"


const sm_field_t  sm_schedule_fields[] = {

    { "schedule_id", SM_FIELD_TEXT, offsetof(sm_schedule_t, id),
      "id", SM_FIELD_ALWAYS, NULL },

    { "submission_target", SM_FIELD_TEXT, offsetof(sm_schedule_t, target),
      SM_FIELD_TARGET, SM_FIELD_ALWAYS, NULL },

    { "body", SM_FIELD_TEXT, offsetof(sm_schedule_t, body),
      NULL, 0, NULL },

    { "payload_hash", SM_FIELD_TEXT, offsetof(sm_schedule_t, hash),
      NULL, 0, NULL },

    { "configured", SM_FIELD_BOOL, offsetof(sm_schedule_t, configured),
      NULL, 0, NULL },

    { "busy", SM_FIELD_BOOL, offsetof(sm_schedule_t, busy),
      NULL, 0, NULL },

    { "paused_at", SM_FIELD_TIME, offsetof(sm_schedule_t, paused_at),
      "pausedAt", 0, NULL },

    { "pause_reason", SM_FIELD_TEXT, offsetof(sm_schedule_t, pause_reason),
      "pauseReason", SM_FIELD_EMPTY, NULL },

    { "last_error", SM_FIELD_TEXT, offsetof(sm_schedule_t, error),
      "error", SM_FIELD_EMPTY, NULL },

    { "next_run_at", SM_FIELD_TIME, offsetof(sm_schedule_t, next_run_at),
      "nextRunAt", SM_FIELD_NULL, NULL },

    { "last_run_at", SM_FIELD_TIME, offsetof(sm_schedule_t, last_run_at),
      "lastRunAt", 0, NULL },

    { "last_intent_id", SM_FIELD_TEXT, offsetof(sm_schedule_t, last_intent),
      "lastIntentId", SM_FIELD_EMPTY, NULL },

    { "fired_count", SM_FIELD_INT, offsetof(sm_schedule_t, fired),
      "fired", SM_FIELD_ALWAYS, NULL },

    { "skipped_count", SM_FIELD_INT, offsetof(sm_schedule_t, skipped),
      "skipped", SM_FIELD_ALWAYS, NULL },

    { "missed_count", SM_FIELD_INT, offsetof(sm_schedule_t, missed),
      "missed", SM_FIELD_ALWAYS, NULL },

    { "created_at", SM_FIELD_TIME, offsetof(sm_schedule_t, created_at),
      "createdAt", 0, NULL },

    { "last_modified_at", SM_FIELD_TIME, offsetof(sm_schedule_t, modified_at),
      "modifiedAt", 0, NULL },

    { "actor", SM_FIELD_TEXT, offsetof(sm_schedule_t, actor),
      "modifiedBy", SM_FIELD_NULL, NULL },

    { "revision", SM_FIELD_INT, offsetof(sm_schedule_t, revision),
      NULL, 0, NULL },

    { "payload", SM_FIELD_BYTES, offsetof(sm_schedule_t, payload),
      NULL, 0, NULL },

    sm_null_field
};


static void
sm_schedule_out_text(sm_out_t *out, const char *key, sm_str_t value)
{
    if (value.data) {
        sm_out_c(out, key);
        sm_json_out_str(out, value);
    }
}


static void
sm_schedule_out_second(sm_out_t *out, const char *key, int64_t second)
{
    if (second) {
        sm_out_c(out, key);
        sm_json_out_time(out, second * 1000000);
    }
}


static void
sm_schedule_out_rule(sm_out_t *out, const sm_schedule_rule_t *rule)
{
    static const sm_str_t  utc = sm_str("UTC");

    sm_schedule_out_text(out, ",\"every\":", rule->every);
    sm_schedule_out_text(out, ",\"cron\":", rule->cron);
    sm_schedule_out_text(out, ",\"timeZone\":",
                        rule->zone.data ? rule->zone : utc);
    sm_schedule_out_second(out, ",\"startAt\":", rule->start);
    sm_schedule_out_second(out, ",\"endAt\":", rule->end);
    sm_schedule_out_text(out, ",\"misfire\":", sm_misfire_name(rule->misfire));
    sm_schedule_out_text(out, ",\"overlap\":", sm_overlap_name(rule->overlap));
}


void
sm_schedule_out(sm_out_t *out, const sm_schedule_t *schedule,
    const sm_schedule_rule_t *rule)
{
    const sm_field_t  *rest;

    sm_out_c(out, "{");
    rest = sm_out_fields_to(out, sm_schedule_fields, schedule, "body");
    sm_schedule_out_rule(out, rule);
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
