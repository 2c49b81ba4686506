
/*
 * Retention: intents that ended long ago lose their payloads and attempts, and
 * are forgotten later.
 *
 * The work is done in small batches with a rest after each, so that turns lose
 * little and all of it is done in the end: sm_retention.h has the rule.  Ages
 * are by the store's clock, and times to keep are those of the leader's
 * configuration.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_stats.h"
#include "ngx_http_submission_turn.h"


#define NGX_HTTP_SUBMISSION_RETENTION_INTERVAL  60000   /* between passes */

/*
 * Bytes of the place at which a pass goes on.  A longer place, of odd names and
 * ids, is not kept, and the target is read from its beginning.
 */

#define NGX_HTTP_SUBMISSION_RETENTION_PLACE     2048

/* What the feed says is by an estimate of the store's clock. */

#define NGX_HTTP_SUBMISSION_RETENTION_CLOCK     1000000 /* usec */


typedef struct {
    sm_retention_pace_t              pace;
    ngx_msec_t                       interval;
    int64_t                          overdue;      /* in this pass */
    int64_t                          epoch;        /* of what follows */
    sm_retention_day_t               day;          /* for the feed */
    sm_retention_passes_t            passes;
    size_t                           len;          /* of the target's name */
    u_char                           target[4 * SM_TARGET_MAX];
    size_t                           from_len;
    u_char                           from[NGX_HTTP_SUBMISSION_RETENTION_PLACE];
} ngx_http_submission_retention_t;


typedef struct {
    ngx_http_submission_task_t       task;
    sm_retention_t                   rt;
    int64_t                          took;         /* usec */
    u_char                           after[4 * SM_TARGET_MAX];
    u_char                           from[NGX_HTTP_SUBMISSION_RETENTION_PLACE];
} ngx_http_submission_retention_task_t;


static ngx_int_t ngx_http_submission_retention_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty);
static ngx_msec_t ngx_http_submission_retention_interval(
    ngx_http_submission_executor_t *ex);
static ngx_int_t ngx_http_submission_retention_begin(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_retention_done(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);


const ngx_http_submission_duty_row_t  ngx_http_submission_retention = {
    .op = NGX_HTTP_SUBMISSION_OP_RETENTION,
    .size = sizeof(ngx_http_submission_retention_task_t),
    .ctx = sizeof(ngx_http_submission_retention_t),
    .init = ngx_http_submission_retention_init,
    .interval = ngx_http_submission_retention_interval,
    .begin = ngx_http_submission_retention_begin,
    .done = ngx_http_submission_retention_done
};


static void
ngx_http_submission_retention_least(int64_t *least, int64_t time)
{
    if (time && time < *least) {
        *least = time;
    }
}


static ngx_int_t
ngx_http_submission_retention_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty)
{
    int64_t                           least;
    ngx_uint_t                        i;
    sm_retention_rules_t             *rules;
    ngx_http_submission_retention_t  *re;

    re = duty->ctx;

    /* where times to keep are short, passes are more frequent */

    rules = &duty->executor->manager->conf->retention;
    least = INT64_MAX;

    for (i = 0; i < SM_STATUS_COUNT; i++) {
        ngx_http_submission_retention_least(&least, rules->statuses[i].strip);
        ngx_http_submission_retention_least(&least, rules->statuses[i].forget);
    }

    ngx_http_submission_retention_least(&least, rules->audit);
    ngx_http_submission_retention_least(&least, rules->refused);
    ngx_http_submission_retention_least(&least, rules->jobs);

    least /= 10 * 1000;

    re->interval = ngx_min(least, NGX_HTTP_SUBMISSION_RETENTION_INTERVAL);
    re->interval = ngx_max(re->interval, 1000);

    return NGX_OK;
}


static ngx_msec_t
ngx_http_submission_retention_interval(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_retention_t  *re;

    re = ex->duties[NGX_HTTP_SUBMISSION_DUTY_RETENTION].ctx;

    return re->interval;
}


static ngx_int_t
ngx_http_submission_retention_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_http_submission_retention_t       *re;
    ngx_http_submission_retention_task_t  *rt;

    /* what the leader before has told is read first, see pauses.c */

    if (!task->manager->conf->retention_given
        || !ngx_http_submission_pauses_known(duty->executor))
    {
        return NGX_DECLINED;
    }

    re = duty->ctx;
    rt = (ngx_http_submission_retention_task_t *) task;

    /* another leader, with other rules, may have led meanwhile */

    if (re->epoch != duty->executor->epoch) {
        re->epoch = duty->executor->epoch;
        re->from_len = 0;
        ngx_memzero(&re->passes, sizeof(sm_retention_passes_t));
    }

    ngx_memcpy(rt->after, re->target, re->len);
    ngx_memcpy(rt->from, re->from, re->from_len);

    rt->rt.rules = &task->manager->conf->retention;
    rt->rt.limit = sm_retention_limit(&re->pace);
    rt->rt.after.data = (char *) rt->after;
    rt->rt.after.len = re->len;
    rt->rt.from.data = re->from_len ? (char *) rt->from : NULL;
    rt->rt.from.len = re->from_len;
    rt->rt.since = re->passes.since;

    return NGX_OK;
}


void
ngx_http_submission_retention_thread(ngx_http_submission_task_t *task)
{
    int64_t                                start;
    ngx_http_submission_retention_task_t  *rt;

    rt = (ngx_http_submission_retention_task_t *) task;

    start = ngx_http_submission_usec();

    if (sm_store_retention(&task->manager->store, &task->call, &task->fence,
                           &rt->rt)
        != 0)
    {
        return;
    }

    rt->took = ngx_http_submission_usec() - start;

    task->rows = rt->rt.stripped + rt->rt.forgotten + rt->rt.others;

    ngx_http_submission_count(task->manager,
                              NGX_HTTP_SUBMISSION_CNT_STRIPPED,
                              rt->rt.stripped);
    ngx_http_submission_count(task->manager,
                              NGX_HTTP_SUBMISSION_CNT_FORGOTTEN,
                              rt->rt.forgotten);
}


/* what is counted may be too little if a batch is under way */

void
ngx_http_submission_retention_read(ngx_http_submission_executor_t *ex,
    sm_retention_day_t *day)
{
    ngx_http_submission_duty_t       *duty;
    ngx_http_submission_retention_t  *re;

    duty = &ex->duties[NGX_HTTP_SUBMISSION_DUTY_RETENTION];
    re = duty->ctx;

    *day = re->day;

    if (duty->task || duty->old) {
        day->unsure = ngx_http_submission_executor_now(ex) / SM_RETENTION_DAY;
    }
}


void
ngx_http_submission_retention_learn(ngx_http_submission_executor_t *ex,
    const sm_retention_day_t *told, ngx_uint_t whole)
{
    ngx_http_submission_retention_t  *re;

    re = ex->duties[NGX_HTTP_SUBMISSION_DUTY_RETENTION].ctx;

    sm_retention_day_learn(&re->day, told, whole,
                           ngx_http_submission_executor_now(ex));
}


/* tells the feed of a day that is over, once */

static void
ngx_http_submission_retention_over(ngx_http_submission_executor_t *ex,
    sm_retention_day_t *day)
{
    char         buf[SM_TIME_LEN];
    sm_out_t     out;
    const char  *fmt;

    static const sm_str_t  none;

    sm_out_init(&out, buf, sizeof(buf));
    sm_out_time(&out, day->last);

    fmt = sm_retention_day_unsure(day)
          ? "The last batch of retention on %*s that is known of was at %*s "
            "UTC: at least %L intents were stripped and %L forgotten that day."
          : "The last batch of retention on %*s was at %*s UTC: %L intents "
            "were stripped and %L forgotten that day.";

    if (!ngx_http_submission_event_told(ex->manager, SM_FEED_RETENTION_DONE,
                                        none,
                                        (day->day + 1) * SM_RETENTION_DAY
                                        - NGX_HTTP_SUBMISSION_RETENTION_CLOCK))
    {
        ngx_http_submission_event(ex->manager, SM_FEED_RETENTION_DONE, none,
                                  fmt, (size_t) 10, buf, (size_t) 8, buf + 11,
                                  day->stripped, day->forgotten);
    }

    day->day = 0;
}


/* tells the feed of the first batch of a day, and then of its last one */

static void
ngx_http_submission_retention_note(ngx_http_submission_executor_t *ex,
    sm_retention_day_t *day, sm_retention_t *rt, int64_t now)
{
    static const sm_str_t  none;

    if (sm_retention_day_over(day, now)) {
        ngx_http_submission_retention_over(ex, day);
    }

    if (!sm_retention_day_add(day, rt, now)
        || ngx_http_submission_event_told(ex->manager, SM_FEED_RETENTION_BEGUN,
                                          none, day->day * SM_RETENTION_DAY))
    {
        return;
    }

    ngx_http_submission_event(ex->manager, SM_FEED_RETENTION_BEGUN, none,
                              sm_retention_day_unsure(day)
                              ? "The first batch of retention today that is "
                                "known of has stripped %L intents and "
                                "forgotten %L."
                              : "The first batch of retention today has "
                                "stripped %L intents and forgotten %L.",
                              rt->stripped, rt->forgotten);
}


static ngx_msec_t
ngx_http_submission_retention_done(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_uint_t                             busy;
    ngx_msec_t                             rest;
    ngx_http_submission_executor_t        *ex;
    ngx_http_submission_retention_t       *re;
    ngx_http_submission_retention_task_t  *rt;

    rt = (ngx_http_submission_retention_task_t *) task;
    ex = duty->executor;
    re = duty->ctx;

    ngx_http_submission_retention_note(ex, &re->day, &rt->rt, task->call.now);

    re->overdue = ngx_max(re->overdue, rt->rt.overdue);

    ngx_http_submission_gauge(ex->manager,
                              NGX_HTTP_SUBMISSION_GAUGE_RETENTION_OVERDUE,
                              ex->epoch, re->overdue / 1000000);

    busy = ngx_http_submission_turn_out(ex) || ex->nsending || ex->nended;

    rest = (ngx_msec_t) sm_retention_rest(&re->pace, (size_t) rt->rt.rows,
                                          rt->took, busy);

    ngx_log_debug8(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: retention rows:%L of:%uz stripped:%L "
                   "forgotten:%L end:%d usec:%L row:%Lns rest:%M",
                   rt->rt.rows, rt->rt.limit, rt->rt.stripped,
                   rt->rt.forgotten, (int) rt->rt.end, rt->took, re->pace.row,
                   rest);

    sm_retention_passed(&re->passes, task->call.now, rt->rt.end);

    re->from_len = 0;

    if (rt->rt.end) {
        re->len = 0;
        re->overdue = 0;

        return NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
    }

    re->len = ngx_min(rt->rt.done.len, sizeof(re->target));

    if (re->len) {
        ngx_memcpy(re->target, rt->rt.done.data, re->len);
    }

    if (rt->rt.place.len && rt->rt.place.len <= sizeof(re->from)) {
        re->from_len = rt->rt.place.len;
        ngx_memcpy(re->from, rt->rt.place.data, re->from_len);
    }

    return rest;
}
