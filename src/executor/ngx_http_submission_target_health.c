
/*
 * The health of each target, for the leader's numbers, the metrics and the log;
 * src/core/rule/sm_health.c has the rules.
 *
 * - Attempts are counted when they end, and the state is judged at once, so
 *   that a target that goes down is told within a second.  What waits for its
 *   answer, or has failed a moment ago, is judged each second, and how long
 *   answers take with the leader's numbers, every few seconds.
 * - A new epoch goes on with what the last document of the leader before says.
 * - Only configured targets have a health.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_stats.h"


#define NGX_HTTP_SUBMISSION_HEALTH_SOON   1000      /* milliseconds */
#define NGX_HTTP_SUBMISSION_HEALTH_LOOK   1000
#define NGX_HTTP_SUBMISSION_HEALTH_SHOWN  INT64_C(10000000)     /* usec */
#define NGX_HTTP_SUBMISSION_HEALTH_DAY    INT64_C(86400000000)
#define NGX_HTTP_SUBMISSION_HEALTH_EXPIRES                                    \
    (14 * NGX_HTTP_SUBMISSION_HEALTH_DAY)



struct ngx_http_submission_target_health_s {
    sm_health_t                      health;
    sm_usual_t                      *usual;        /* NULL: nothing yet */
    unsigned                         seen:1;       /* it is of this epoch */
    int64_t                          since;        /* by the store's clock */
    int64_t                          ill;          /* since when it is */
    uint64_t                         failed;       /* attempts, since then */
    int64_t                          timeout;      /* usec; 0: not known */
    int64_t                          waiting;      /* the oldest; usec */
    int64_t                          certificate;
    int64_t                          shown;        /* when; usec */
    int64_t                          warned;       /* when it was told */
    size_t                           why_len;
    char                             why[SM_HEALTH_WHY_MAX];
};


/* what the log and the feed say of a state, and how loudly */

typedef struct {
    ngx_uint_t                       level;
    const char                      *event;
    sm_feed_kind_e                   kind;
    const char                      *text;
} ngx_http_submission_health_line_t;

static const ngx_http_submission_health_line_t
    ngx_http_submission_health_lines[] =
{
    [SM_HEALTH_OK] = { NGX_LOG_NOTICE, "target_up", SM_FEED_TARGET_UP,
                       "works again" },
    [SM_HEALTH_DEGRADED] = { NGX_LOG_WARN, "target_degraded",
                             SM_FEED_TARGET_DEGRADED, "does not work well" },
    [SM_HEALTH_DOWN] = { NGX_LOG_ERR, "target_down", SM_FEED_TARGET_DOWN,
                         "is down" }
};


static void ngx_http_submission_target_health_look(ngx_event_t *ev);


/* called when the worker exits */

static void
ngx_http_submission_target_health_cleanup(void *data)
{
    ngx_http_submission_executor_t *ex = data;

    ngx_uint_t  i;

    for (i = 0; i < ex->manager->conf->ntargets; i++) {
        ngx_free(ex->health[i].usual);
    }
}


ngx_int_t
ngx_http_submission_target_health_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex)
{
    ngx_pool_cleanup_t  *cln;

    ex->health = ngx_pcalloc(cycle->pool,
                             ex->manager->conf->ntargets
                             * sizeof(ngx_http_submission_target_health_t));

    cln = ngx_pool_cleanup_add(cycle->pool, 0);

    if (ex->health == NULL || cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_target_health_cleanup;
    cln->data = ex;

    ex->waits.handler = ngx_http_submission_target_health_look;
    ex->waits.data = ex;
    ex->waits.log = cycle->log;
    ex->waits.cancelable = 1;

    return NGX_OK;
}


/* what is usual stays: this worker has seen it */

void
ngx_http_submission_target_health_start(ngx_http_submission_executor_t *ex)
{
    ngx_uint_t  i;

    /* what this worker saw as an earlier leader is older than what is told */

    for (i = 0; i < ex->manager->conf->ntargets; i++) {
        ex->health[i].seen = 0;
        ex->health[i].certificate = 0;
    }

    if (ex->nsending) {
        ngx_http_submission_target_health_begun(ex);
    }
}


void
ngx_http_submission_target_health_begun(ngx_http_submission_executor_t *ex)
{
    if (!ex->waits.timer_set) {
        ngx_add_timer(&ex->waits, NGX_HTTP_SUBMISSION_HEALTH_LOOK);
    }
}


static ngx_http_submission_target_health_t *
ngx_http_submission_target_health_of(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target)
{
    ngx_http_submission_target_health_t  *th;

    th = &ex->health[target->index];

    if (!th->seen) {
        th->seen = 1;
        th->since = 0;
        th->failed = 0;
        th->why_len = 0;
        th->waiting = -1;
        sm_health_init(&th->health, ngx_http_submission_usec());
    }

    return th;
}


/* the feed says of an improvement that it is one, and what is still wrong */

static void
ngx_http_submission_target_health_tell(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target,
    ngx_http_submission_target_health_t *th, sm_health_e before,
    sm_str_t error)
{
    sm_str_t                                  why, told, *name;
    const char                               *verb;
    ngx_http_submission_field_t               text, cause;
    const ngx_http_submission_health_line_t  *line;

    line = &ngx_http_submission_health_lines[th->health.state];
    name = &target->contract.target;

    verb = line->text;

    why.data = th->why;
    why.len = th->why_len;
    told = why;

    if (th->health.state == SM_HEALTH_DEGRADED && before == SM_HEALTH_DOWN) {
        verb = "begins to work again";
        error.len = 0;

        if (th->health.why == SM_HEALTH_RECOVERS) {
            told.len = 0;
        }
    }

    ngx_http_submission_event(ex->manager, line->kind, *name,
                              "%*s %s%s%*s%s%*s.", name->len, name->data,
                              verb, told.len ? ": " : "", told.len,
                              told.data, error.len ? "; the last error was: "
                                                  : "",
                              error.len, error.data);

    if (th->health.state == SM_HEALTH_OK) {
        ngx_log_error(line->level, ngx_cycle->log, 0,
                      "submission: %s manager=%V target=%*s lease_epoch=%L "
                      "ill_ms=%L failed=%uL", line->event,
                      &ex->manager->conf->name, name->len, name->data,
                      ex->epoch, (th->since - th->ill) / 1000, th->failed);
        return;
    }

    ngx_log_error(line->level, ngx_cycle->log, 0,
                  "submission: %s manager=%V target=%*s lease_epoch=%L%V%V",
                  line->event, &ex->manager->conf->name, name->len,
                  name->data, ex->epoch,
                  ngx_http_submission_field(&text, " why=", why),
                  ngx_http_submission_field(&cause, " error=", error));
}


/* the text of the leader before is kept as long as its state is */

static void
ngx_http_submission_target_health_judge(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target,
    ngx_http_submission_target_health_t *th, const sm_health_times_t *times,
    sm_str_t error)
{
    sm_out_t     out;
    unsigned     changed;
    sm_health_e  before;

    before = th->health.state;
    changed = sm_health_judge(&th->health, ngx_http_submission_usec(), times);

    if (th->health.why != SM_HEALTH_TOLD) {
        sm_out_init(&out, th->why, sizeof(th->why));
        sm_health_out_why(&out, &th->health);
        th->why_len = out.last - out.start;
    }

    if (!changed) {
        return;
    }

    th->since = ngx_http_submission_executor_now(ex);

    if (before == SM_HEALTH_OK) {
        th->ill = th->since;
    }

    if (th->health.state == SM_HEALTH_OK) {
        error.len = 0;
    }

    ngx_http_submission_target_health_tell(ex, target, th, before, error);

    ngx_http_submission_duty_soon(&ex->duties[NGX_HTTP_SUBMISSION_DUTY_STATS],
                                  NGX_HTTP_SUBMISSION_HEALTH_SOON);
    ngx_http_submission_depth_look(ex);
}


/* must be in the order of sm_outcome_e */

static const sm_health_event_e  ngx_http_submission_health_events[] = {
    SM_HEALTH_UNSENT,
    SM_HEALTH_ACCEPTED,
    SM_HEALTH_REJECTED,
    SM_HEALTH_FAILED,
    SM_HEALTH_FAILED
};

_Static_assert(sm_nelts(ngx_http_submission_health_events) == SM_OUTCOMES,
               "an event for each outcome");


/* NULL: there is no memory, and what is usual is not known */

static sm_usual_t *
ngx_http_submission_target_health_usual(
    ngx_http_submission_target_health_t *th)
{
    if (th->usual == NULL) {
        th->usual = ngx_alloc(sizeof(sm_usual_t), ngx_cycle->log);

        if (th->usual) {
            sm_usual_init(th->usual, ngx_http_submission_usec());
        }
    }

    return th->usual;
}


void
ngx_http_submission_target_health_attempt(ngx_http_submission_attempt_t *at)
{
    int64_t                               now;
    sm_health_event_e                     event;
    ngx_http_submission_executor_t       *ex;
    ngx_http_submission_target_health_t  *th;

    if (at->target == NULL) {
        return;
    }

    ex = at->manager->executor;
    th = ngx_http_submission_target_health_of(ex, at->target);

    if (at->read_timeout) {
        th->timeout = at->read_timeout * 1000;
    }

    /* it has another one now than the one that was seen */

    if (at->exchange.cause.what == SM_CAUSE_CERTIFICATE
        || at->exchange.cause.what == SM_CAUSE_CERTIFICATE_NAME)
    {
        th->certificate = 0;
    }

    now = ngx_http_submission_usec();
    event = ngx_http_submission_health_events[at->outcome];

    if (event == SM_HEALTH_FAILED || event == SM_HEALTH_UNSENT) {
        th->failed++;
        ngx_http_submission_target_health_begun(ex);

    } else {
        if (th->health.state == SM_HEALTH_OK) {
            th->failed = 0;
        }

        sm_health_took(&th->health,
                       ngx_http_submission_target_health_usual(th), now,
                       at->took);
    }

    sm_health_count(&th->health, now, event);

    ngx_http_submission_target_health_judge(ex, at->target, th, NULL,
                                            at->error);
}


/* a target that was removed, or that this leader knows better, is left alone */

void
ngx_http_submission_target_health_learn(ngx_http_submission_executor_t *ex,
    const sm_stats_t *told)
{
    size_t                                i;
    const sm_stats_target_t              *row;
    ngx_http_submission_target_t         *target;
    ngx_http_submission_target_health_t  *th;

    for (i = 0; i < told->n; i++) {
        row = &told->targets[i];
        target = ngx_http_submission_target(ex->manager->conf, row->name);

        if (target == NULL) {
            continue;
        }

        ngx_http_submission_stats_learn(ex, target, row);

        th = ngx_http_submission_target_health_of(ex, target);

        if (th->certificate == 0) {
            th->certificate = row->certificate;
        }

        if (row->usual && ngx_http_submission_target_health_usual(th)) {
            sm_usual_told(th->usual, row->usual);
        }

        sm_health_go_on(&th->health, row->health);

        if (th->health.state == row->health) {
            th->since = row->health_since;
            th->ill = row->health_since;
        }

        if (th->health.why == SM_HEALTH_TOLD) {
            th->why_len = ngx_min(row->health_why.len, SM_HEALTH_WHY_MAX);
            ngx_memcpy(th->why, row->health_why.data, th->why_len);
        }
    }
}


/*
 * A certificate that expires soon is an event once a day.  Without one, 0, the
 * gateway is not reached by TLS any more.
 */

void
ngx_http_submission_target_health_certificate(
    ngx_http_submission_attempt_t *at, int64_t expires)
{
    int64_t                               now;
    sm_str_t                             *name;
    ngx_http_submission_executor_t       *ex;
    ngx_http_submission_target_health_t  *th;

    if (at->target == NULL) {
        return;
    }

    ex = at->manager->executor;
    th = &ex->health[at->target->index];
    name = &at->target->contract.target;
    now = ngx_http_submission_executor_now(ex);

    th->certificate = expires;
    th->shown = ngx_http_submission_usec();

    if (expires == 0 || expires - now >= NGX_HTTP_SUBMISSION_HEALTH_EXPIRES
        || now - th->warned < NGX_HTTP_SUBMISSION_HEALTH_DAY)
    {
        return;
    }

    th->warned = now;

    if (ngx_http_submission_event_told(at->manager,
                                       SM_FEED_CERTIFICATE_EXPIRES, *name,
                                       now - NGX_HTTP_SUBMISSION_HEALTH_DAY))
    {
        return;
    }

    if (expires <= now) {
        ngx_http_submission_event(at->manager, SM_FEED_CERTIFICATE_EXPIRES,
                                  *name,
                                  "The certificate of the gateway of %*s has "
                                  "expired.", name->len, name->data);
        return;
    }

    ngx_http_submission_event(at->manager, SM_FEED_CERTIFICATE_EXPIRES, *name,
                              "The certificate of the gateway of %*s expires "
                              "in %L days.", name->len, name->data,
                              (expires - now) / NGX_HTTP_SUBMISSION_HEALTH_DAY);
}


/*
 * Says whether a gateway has to show its certificate again: the last one expires
 * soon, and may have been replaced.
 */

ngx_uint_t
ngx_http_submission_target_health_expiring(ngx_http_submission_attempt_t *at)
{
    ngx_http_submission_executor_t       *ex;
    ngx_http_submission_target_health_t  *th;

    if (at->target == NULL) {
        return 0;
    }

    ex = at->manager->executor;
    th = &ex->health[at->target->index];

    return th->certificate
           && th->certificate - ngx_http_submission_executor_now(ex)
              < NGX_HTTP_SUBMISSION_HEALTH_EXPIRES
           && ngx_http_submission_usec() - th->shown
              >= NGX_HTTP_SUBMISSION_HEALTH_SHOWN;
}


sm_health_e
ngx_http_submission_target_health_state(ngx_http_submission_executor_t *ex,
    ngx_uint_t i)
{
    return ex->health[i].seen ? ex->health[i].health.state : SM_HEALTH_OK;
}


int64_t
ngx_http_submission_target_health_expires(ngx_http_submission_executor_t *ex,
    ngx_uint_t i)
{
    return ex->health[i].certificate;
}


/* how long the oldest attempt of each target has been at its gateway */

static void
ngx_http_submission_target_health_waiting(ngx_http_submission_executor_t *ex)
{
    int64_t                               now, waiting;
    ngx_uint_t                            i;
    ngx_queue_t                          *q;
    ngx_http_submission_attempt_t        *at;
    ngx_http_submission_target_health_t  *th;

    for (i = 0; i < ex->manager->conf->ntargets; i++) {
        ex->health[i].waiting = -1;
    }

    now = ngx_http_submission_usec();

    for (q = ngx_queue_head(&ex->sending);
         q != ngx_queue_sentinel(&ex->sending);
         q = ngx_queue_next(q))
    {
        at = ngx_queue_data(q, ngx_http_submission_attempt_t, queue);

        if (at->target == NULL) {
            continue;
        }

        th = ngx_http_submission_target_health_of(ex, at->target);
        waiting = now - at->left_at;

        if (waiting > th->waiting) {
            th->waiting = waiting;

            if (at->read_timeout) {
                th->timeout = at->read_timeout * 1000;
            }
        }
    }
}


/* for how long what is due has found no connection, as far as that is known */

static int64_t
ngx_http_submission_target_health_held(ngx_http_submission_executor_t *ex,
    const sm_stats_target_t *row)
{
    if (ex->starved_since == 0
        || row->due == 0 || row->state != SM_STATS_OPEN)
    {
        return -1;
    }

    return (int64_t) (ngx_http_submission_msec() - ex->starved_since) * 1000;
}


/* what is known of times between two ticks, with what waits now */

static void
ngx_http_submission_target_health_times(
    ngx_http_submission_target_health_t *th, sm_health_times_t *times)
{
    *times = th->health.times;

    times->timeout = th->timeout ? th->timeout : -1;
    times->waiting = th->waiting;
    times->median = th->usual
                    ? sm_usual_median(th->usual, ngx_http_submission_usec())
                    : -1;
}


/*
 * Judges by what waits, and by how long nothing was answered after a failure,
 * each second while something is at a gateway or may have failed for good, and
 * once more after that.
 */

static void
ngx_http_submission_target_health_look(ngx_event_t *ev)
{
    ngx_http_submission_executor_t *ex = ev->data;

    sm_str_t                              error;
    ngx_uint_t                            i, again;
    sm_health_times_t                     times;
    ngx_http_submission_target_t        **targets;
    ngx_http_submission_target_health_t  *th;

    static const sm_str_t  none;

    if (ex->queue == NULL) {
        return;
    }

    again = ex->nsending;
    targets = ex->manager->conf->by_index.elts;

    ngx_http_submission_target_health_waiting(ex);

    for (i = 0; i < ex->manager->conf->ntargets; i++) {
        th = &ex->health[i];

        if (!th->seen
            || (th->waiting < SM_HEALTH_WAITS
                && th->health.times.waiting < SM_HEALTH_WAITS
                && !sm_health_fears(&th->health)))
        {
            continue;
        }

        error = sm_health_fears(&th->health)
                ? ngx_http_submission_stats_last_error(ex, targets[i]) : none;

        ngx_http_submission_target_health_times(th, &times);
        ngx_http_submission_target_health_judge(ex, targets[i], th, &times,
                                                error);

        again |= sm_health_fears(&th->health);
    }

    if (again) {
        ngx_http_submission_target_health_begun(ex);
    }
}


ngx_int_t
ngx_http_submission_target_health_read(ngx_http_submission_executor_t *ex,
    sm_arena_t *arena, sm_stats_target_t *rows)
{
    int64_t                               held;
    sm_str_t                              why;
    ngx_uint_t                            i;
    sm_health_times_t                     times;
    const sm_stats_window_t              *minute;
    ngx_http_submission_target_t        **targets;
    ngx_http_submission_target_health_t  *th;

    targets = ex->manager->conf->by_index.elts;

    ngx_http_submission_target_health_waiting(ex);

    for (i = 0; i < ex->manager->conf->ntargets; i++) {
        th = &ex->health[i];
        held = ngx_http_submission_target_health_held(ex, &rows[i]);

        rows[i].certificate = th->certificate;

        if (held >= 0) {
            th = ngx_http_submission_target_health_of(ex, targets[i]);

        } else if (!th->seen) {
            continue;
        }

        minute = &rows[i].windows[SM_STATS_1M];

        ngx_http_submission_target_health_times(th, &times);
        times.p99 = minute->p99;
        times.attempts = sm_stats_attempts(minute->counts);
        times.held = held;

        ngx_http_submission_target_health_judge(ex, targets[i], th, &times,
                                                rows[i].error_detail);

        rows[i].usual = ngx_max(times.median, 0);

        rows[i].health = th->health.state;
        rows[i].health_since = th->since;

        why.data = th->why;
        why.len = th->why_len;

        if (sm_arena_strdup(arena, &rows[i].health_why, why) != 0) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
