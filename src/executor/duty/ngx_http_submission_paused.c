
/*
 * Pauses and resumes for the feed of events: who has paused a target, and why,
 * and who has resumed it.
 *
 * Each is told once, whoever leads.  The first read of an epoch compares with
 * what the leader before has told, in its document and in the feed.  Who has
 * resumed a target is in the audit, which is read only if one was resumed.
 */

#include "ngx_http_submission_limits.h"


#define NGX_HTTP_SUBMISSION_PAUSED_AUDIT  3600000000     /* usec */
#define NGX_HTTP_SUBMISSION_PAUSED_PAGE   100

/* What the feed says is by an estimate of the store's clock. */

#define NGX_HTTP_SUBMISSION_PAUSED_CLOCK  1000000        /* usec */


static const sm_pause_t *
ngx_http_submission_paused_find_thread(const sm_pauses_t *paused,
    sm_str_t target)
{
    size_t  i;

    for (i = 0; i < paused->n; i++) {
        if (sm_str_eq(paused->rows[i].target, target)) {
            return &paused->rows[i];
        }
    }

    return NULL;
}


/* Without memory, a pause may be told again. */

static void
ngx_http_submission_paused_add_thread(sm_arena_t *arena, sm_pauses_t *paused,
    sm_str_t target, int64_t since)
{
    sm_pause_t  *pause;

    pause = sm_pauses_add(arena, paused);

    if (pause) {
        (void) sm_arena_strdup(arena, &pause->target, target);
        pause->since = since;
    }
}


void
ngx_http_submission_paused_before(sm_arena_t *arena, sm_pauses_t *before,
    const sm_pauses_t *paused)
{
    size_t  i;

    for (i = 0; i < paused->n; i++) {
        ngx_http_submission_paused_add_thread(arena, before,
                                              paused->rows[i].target,
                                              paused->rows[i].since);
    }
}


static void
ngx_http_submission_paused_former_thread(sm_arena_t *arena,
    sm_pauses_t *before, const sm_stats_t *stats)
{
    size_t  i;

    for (i = 0; i < stats->n; i++) {
        if (stats->targets[i].state == SM_STATS_PAUSED) {
            ngx_http_submission_paused_add_thread(arena, before,
                                                  stats->targets[i].name,
                                                  stats->targets[i].since);
        }
    }
}


int
ngx_http_submission_paused_thread(ngx_http_submission_task_t *task,
    ngx_http_submission_paused_t *pd, const sm_pauses_t *paused,
    const ngx_http_submission_told_t *told)
{
    size_t  i;

    if (told) {
        ngx_http_submission_paused_former_thread(&task->call.arena,
                                                 &pd->before, &told->stats);
    }

    for (i = 0; i < pd->before.n; i++) {

        if (ngx_http_submission_paused_find_thread(paused,
                                                  pd->before.rows[i].target)
            == NULL)
        {
            pd->resumes.from = ngx_max(task->call.now
                                       - NGX_HTTP_SUBMISSION_PAUSED_AUDIT, 1);
            pd->resumes.action = sm_str_c("resume");
            pd->resumes.limit = NGX_HTTP_SUBMISSION_PAUSED_PAGE;

            return sm_store_audit_list(&task->manager->store, &task->call,
                                       &pd->resumes, 1);
        }
    }

    return 0;
}


static void
ngx_http_submission_paused_tell(ngx_http_submission_executor_t *ex,
    sm_feed_kind_e kind, sm_str_t target, sm_str_t actor, sm_str_t reason)
{
    const char  *verb;

    verb = kind == SM_FEED_TARGET_PAUSED ? "paused" : "resumed";

    if (reason.len && reason.data[reason.len - 1] == '.') {
        reason.len--;
    }

    if (actor.len) {
        ngx_http_submission_event(ex->manager, kind, target,
                                  "%*s has %s %*s%s%*s.", actor.len,
                                  actor.data, verb, target.len, target.data,
                                  reason.len ? ": " : "", reason.len,
                                  reason.data);
        return;
    }

    ngx_http_submission_event(ex->manager, kind, target, "%*s was %s%s%*s.",
                              target.len, target.data, verb,
                              reason.len ? ": " : "", reason.len, reason.data);
}


/* The audit has the newest entry first. */

static void
ngx_http_submission_paused_resumed(ngx_http_submission_executor_t *ex,
    ngx_http_submission_paused_t *pd, sm_arena_t *arena, sm_str_t target)
{
    size_t            i;
    sm_str_t          actor, reason;
    const sm_audit_t  *entry;
    sm_json_error_t   err;
    sm_json_value_t   value;

    static const sm_json_field_t  fields[] = {
        { "reason", SM_JSON_STRING, 0 },
        { NULL, 0, 0 }
    };

    ngx_memzero(&actor, sizeof(sm_str_t));
    ngx_memzero(&reason, sizeof(sm_str_t));

    for (i = 0; i < pd->resumes.n; i++) {
        entry = &pd->resumes.entries[i];

        if (!sm_str_eq(entry->object, target)) {
            continue;
        }

        actor = entry->actor;

        if (entry->detail.len
            && sm_json_object_lax(arena, entry->detail, fields, &value, &err)
               == 0)
        {
            reason = value.text;
        }

        break;
    }

    ngx_http_submission_paused_tell(ex, SM_FEED_TARGET_RESUMED, target, actor,
                                    reason);
}


void
ngx_http_submission_paused_note(ngx_http_submission_executor_t *ex,
    ngx_http_submission_paused_t *pd, sm_arena_t *arena,
    const sm_pauses_t *paused, ngx_uint_t first)
{
    size_t             i;
    int64_t            since;
    const sm_pause_t  *row, *was;

    for (i = 0; i < paused->n; i++) {
        row = &paused->rows[i];
        was = ngx_http_submission_paused_find_thread(&pd->before,
                                                     row->target);
        since = row->since - NGX_HTTP_SUBMISSION_PAUSED_CLOCK;

        if ((was == NULL || was->since != row->since)
            && !(first
                 && ngx_http_submission_event_told(ex->manager,
                                                   SM_FEED_TARGET_PAUSED,
                                                   row->target, since)))
        {
            ngx_http_submission_paused_tell(ex, SM_FEED_TARGET_PAUSED,
                                            row->target, row->actor,
                                            row->reason);
        }
    }

    for (i = 0; i < pd->before.n; i++) {
        was = &pd->before.rows[i];

        if (ngx_http_submission_paused_find_thread(paused, was->target)
            == NULL
            && !(first
                 && ngx_http_submission_event_told(ex->manager,
                                                   SM_FEED_TARGET_RESUMED,
                                                   was->target, was->since)))
        {
            ngx_http_submission_paused_resumed(ex, pd, arena, was->target);
        }
    }
}
