
#include "sm_retention.h"


#define SM_RETENTION_DOC  1024


int64_t
sm_retention_strip(const sm_retention_rule_t *rule)
{
    if (rule->forget && (rule->strip == 0 || rule->forget < rule->strip)) {
        return rule->forget;
    }

    return rule->strip;
}


int
sm_retention_doc(sm_arena_t *arena, const sm_retention_rules_t *rules,
    sm_str_t *doc)
{
    int64_t      strip, forget;
    sm_out_t     out;
    sm_status_e  i;
    const char  *comma;

    sm_out_init(&out, sm_arena_alloc(arena, SM_RETENTION_DOC),
                SM_RETENTION_DOC);

    if (out.start == NULL) {
        return -1;
    }

    comma = "";

    sm_out_c(&out, "[");

    for (i = SM_STATUS_PENDING + 1; i < SM_STATUS_COUNT; i++) {

        strip = sm_retention_strip(&rules->statuses[i]);
        forget = rules->statuses[i].forget;

        if (strip == 0) {
            continue;
        }

        sm_out_c(&out, comma);
        sm_out_c(&out, "{\"status\":\"");
        sm_out_str(&out, sm_status_name(i));
        sm_out_c(&out, "\",\"strip\":");
        sm_out_int(&out, strip);

        if (forget) {
            sm_out_c(&out, ",\"forget\":");
            sm_out_int(&out, forget);
        }

        sm_out_c(&out, "}");

        comma = ",";
    }

    sm_out_c(&out, "]");

    doc->data = out.start;
    doc->len = out.last - out.start;

    return out.full ? -1 : 0;
}
