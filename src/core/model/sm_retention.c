
#include <string.h>

#include "sm_retention.h"


int64_t
sm_retention_strip(const sm_retention_rule_t *rule)
{
    if (rule->forget && (rule->strip == 0 || rule->forget < rule->strip)) {
        return rule->forget;
    }

    return rule->strip;
}


static int64_t
sm_retention_clamp(int64_t n, int64_t least, int64_t most)
{
    return n < least ? least : n > most ? most : n;
}


void
sm_retention_passed(sm_retention_passes_t *passes, int64_t now, unsigned end)
{
    if (passes->began == 0) {
        passes->began = now;

        if (passes->since == 0) {
            passes->whole = now;
        }
    }

    if (!end) {
        return;
    }

    /* If the clock was set back, the pass looks at everything again. */

    if (now < passes->began || now - passes->whole >= SM_RETENTION_WHOLE) {
        memset(passes, 0, sizeof(sm_retention_passes_t));
        return;
    }

    passes->since = passes->last;
    passes->last = passes->began;
    passes->began = 0;
}


size_t
sm_retention_limit(const sm_retention_pace_t *pace)
{
    if (pace->row == 0) {
        return SM_RETENTION_LEAST;
    }

    return sm_retention_clamp(SM_RETENTION_AIM * INT64_C(1000) / pace->row,
                              SM_RETENTION_LEAST, SM_RETENTION_MOST);
}


int64_t
sm_retention_rest(sm_retention_pace_t *pace, size_t rows, int64_t took,
    unsigned busy)
{
    int64_t  row, most;

    /* Longer times make no difference, and an hour can be multiplied safely. */

    took = sm_retention_clamp(took, 1, INT64_C(3600000000));

    if (rows) {
        row = took * 1000 / (int64_t) rows;
        most = pace->row + pace->row / 16 + 1;

        pace->row = pace->row && row > most ? most : row ? row : 1;

        took = pace->row * (int64_t) rows / 1000;
    }

    return sm_retention_clamp(took * (busy ? SM_RETENTION_BUSY
                                           : SM_RETENTION_IDLE) / 1000,
                              SM_RETENTION_REST_MIN, SM_RETENTION_REST_MAX);
}


int
sm_retention_doc(sm_arena_t *arena, const sm_retention_rules_t *rules,
    sm_str_t *doc)
{
    int64_t      strip, forget;
    sm_out_t     out;
    sm_status_e  i;
    const char  *comma;

    sm_out_init_arena(&out, arena);

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

    return sm_out_done(&out, doc);
}


int
sm_retention_day_over(const sm_retention_day_t *d, int64_t now)
{
    return d->day && now / SM_RETENTION_DAY > d->day;
}


int
sm_retention_day_unsure(const sm_retention_day_t *d)
{
    return d->unsure >= d->day;
}


int
sm_retention_day_add(sm_retention_day_t *d, const sm_retention_t *rt,
    int64_t now)
{
    int  first;

    if (rt->stripped + rt->forgotten == 0) {
        return 0;
    }

    first = d->day == 0 || sm_retention_day_over(d, now);

    if (first) {
        d->day = now / SM_RETENTION_DAY;
        d->last = 0;
        d->stripped = 0;
        d->forgotten = 0;
    }

    d->last = now > d->last ? now : d->last;
    d->stripped += rt->stripped;
    d->forgotten += rt->forgotten;

    return first;
}


void
sm_retention_day_learn(sm_retention_day_t *d, const sm_retention_day_t *told,
    unsigned whole, int64_t now)
{
    int64_t  today;

    if (told) {
        *d = *told;

    } else {
        memset(d, 0, sizeof(sm_retention_day_t));
    }

    today = now / SM_RETENTION_DAY;

    if (!whole && d->unsure < today) {
        d->unsure = today;
    }
}
