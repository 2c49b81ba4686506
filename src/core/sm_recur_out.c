
/*
 * A schedule as HTTP shows it.
 */

#include "sm_recur.h"


/* the bytes of its keys, punctuation, integers and times, at most */

#define SM_RECUR_OUT_SIZE  1024


size_t
sm_recur_size(const sm_recur_t *recur, const sm_recur_rule_t *rule)
{
    return SM_RECUR_OUT_SIZE + recur->payload.len
           + sm_json_str_size(recur->id.len)
           + sm_json_str_size(recur->target.len)
           + sm_json_str_size(recur->last_intent.len)
           + sm_json_str_size(recur->pause_reason.len)
           + sm_json_str_size(recur->error.len)
           + sm_json_str_size(recur->actor.len)
           + sm_json_str_size(rule->every.len)
           + sm_json_str_size(rule->cron.len)
           + sm_json_str_size(rule->zone.len);
}


static void
sm_recur_str(sm_out_t *out, const char *key, sm_str_t value)
{
    if (value.data) {
        sm_out_c(out, key);
        sm_json_out_str(out, value);
    }
}


static void
sm_recur_time(sm_out_t *out, const char *key, int64_t value)
{
    if (value) {
        sm_out_c(out, key);
        sm_json_out_time(out, value);
    }
}


static void
sm_recur_int(sm_out_t *out, const char *key, int64_t value)
{
    sm_out_c(out, key);
    sm_out_int(out, value);
}


static void
sm_recur_state(sm_out_t *out, const sm_recur_t *recur)
{
    sm_out_c(out, recur->paused_at ? ",\"paused\":true" : ",\"paused\":false");
    sm_recur_time(out, ",\"pausedAt\":", recur->paused_at);
    sm_recur_str(out, ",\"pauseReason\":", recur->pause_reason);
    sm_recur_str(out, ",\"error\":", recur->error);

    sm_out_c(out, recur->configured ? ",\"source\":\"configuration\""
                                    : ",\"source\":\"api\"");

    if (recur->next_run_at) {
        sm_recur_time(out, ",\"nextRunAt\":", recur->next_run_at);

    } else {
        sm_out_c(out, ",\"nextRunAt\":null");
    }

    sm_recur_time(out, ",\"lastRunAt\":", recur->last_run_at);
    sm_recur_str(out, ",\"lastIntentId\":", recur->last_intent);
    sm_recur_int(out, ",\"fired\":", recur->fired);
    sm_recur_int(out, ",\"skipped\":", recur->skipped);
    sm_recur_int(out, ",\"missed\":", recur->missed);
    sm_recur_time(out, ",\"createdAt\":", recur->created_at);
    sm_recur_time(out, ",\"modifiedAt\":", recur->modified_at);

    if (recur->actor.len) {
        sm_recur_str(out, ",\"modifiedBy\":", recur->actor);

    } else {
        sm_out_c(out, ",\"modifiedBy\":null");
    }

    sm_recur_int(out, ",\"etag\":\"", recur->revision);
    sm_out_c(out, "\"");
}


void
sm_recur_out(sm_out_t *out, const sm_recur_t *recur,
    const sm_recur_rule_t *rule)
{
    static const sm_str_t  utc = sm_str("UTC");

    sm_recur_str(out, "{\"id\":", recur->id);
    sm_recur_str(out, ",\"" SM_FIELD_TARGET "\":", recur->target);
    sm_recur_str(out, ",\"every\":", rule->every);
    sm_recur_str(out, ",\"cron\":", rule->cron);
    sm_recur_str(out, ",\"timeZone\":", rule->zone.data ? rule->zone : utc);
    sm_recur_time(out, ",\"startAt\":", rule->start * 1000000);
    sm_recur_time(out, ",\"endAt\":", rule->end * 1000000);
    sm_recur_str(out, ",\"misfire\":", sm_misfire_name(rule->misfire));
    sm_recur_str(out, ",\"overlap\":", sm_overlap_name(rule->overlap));
    sm_recur_state(out, recur);

    if (recur->payload.len) {
        sm_out_c(out, ",\"" SM_FIELD_PAYLOAD "\":");
        sm_out_str(out, recur->payload);
    }

    sm_out_c(out, "}");
}
