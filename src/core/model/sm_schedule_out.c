
/*
 * A schedule as HTTP shows it.
 */

#include "sm_schedule.h"


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
