
/*
 * The state of the store, in the zone, by the rule of
 * src/core/rule/sm_store_health.h.
 *
 * - Every call that has ended is an event of that rule.  Only a commit shows
 *   that the store is up, because a store with a full disk can still be read.
 *   It also commits what has changed nothing, such as a duplicate: a commit
 *   counts only if it has written an intent or an attempt, or is of an operation
 *   that always writes.  After intents were refused, only a probe and what has
 *   written some count.
 * - If nothing was committed for a few seconds (for a second while the store is
 *   not up), one worker of the instance probes: it commits, and if it is
 *   refused, it reads.  No other worker does so until that has an answer.
 *   While intents are refused, or had to wait, it probes whatever else is
 *   committed, and tries to write an intent.
 * - A probe that has no answer for some seconds is an event, too, though its
 *   call may have minutes until its time-out.  So the state is true within ten
 *   seconds, also on an instance that nobody asks for anything.  Before that, the
 *   store is read once beside the probe: it may be that only commits hang.
 * - While SQLite is not up, each worker that has idle connections makes a call,
 *   which closes those whose log was removed: until all processes have done so,
 *   nobody can open the database.
 * - Each change goes through ngx_http_submission_health_changed().
 */

#include "ngx_http_submission_door.h"


/* milliseconds */

#define NGX_HTTP_SUBMISSION_HEALTH_TICK        500
#define NGX_HTTP_SUBMISSION_HEALTH_PROBE_UP    4000
#define NGX_HTTP_SUBMISSION_HEALTH_PROBE_DOWN  1000
#define NGX_HTTP_SUBMISSION_HEALTH_PROBE_SLOW  1000
#define NGX_HTTP_SUBMISSION_HEALTH_PROBE_HUNG  3000
#define NGX_HTTP_SUBMISSION_HEALTH_PROBE_LATE  5000


struct ngx_http_submission_health_s {
    ngx_event_t                      probe;
    unsigned                         idle:1;    /* they are being looked at */
};


typedef struct {
    ngx_http_submission_task_t       task;
    unsigned                         readable:1;
} ngx_http_submission_probe_t;


static void ngx_http_submission_health_tick(ngx_event_t *ev);
static void ngx_http_submission_health_read_thread(
    ngx_http_submission_task_t *task);
static void ngx_http_submission_health_done(ngx_http_submission_task_t *task);


/* Says whether it is not known if intents can be written. */

static ngx_uint_t
ngx_http_submission_health_doubts(ngx_http_submission_manager_t *manager)
{
    return sm_store_health_doubts(&manager->sh->health->record.health,
                                  ngx_http_submission_usec());
}


static ngx_msec_t
ngx_http_submission_health_period(ngx_http_submission_manager_t *manager)
{
    if (manager->sh->health->store == SM_STORE_HEALTH_UP
        && !ngx_http_submission_health_doubts(manager)
        && !ngx_http_submission_breaker_open(manager))
    {
        return ngx_min(2 * manager->conf->acquire_interval,
                       NGX_HTTP_SUBMISSION_HEALTH_PROBE_UP);
    }

    return ngx_min(manager->conf->acquire_interval,
                   NGX_HTTP_SUBMISSION_HEALTH_PROBE_DOWN);
}


/* Says whether a worker is probing, and has not died meanwhile. */

static ngx_uint_t
ngx_http_submission_health_probing(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_health_shctx_t  *sh;

    sh = manager->sh->health;

    return sh->probing
           && ngx_http_submission_since(sh->probed)
              < manager->conf->busy_timeout
                + 2 * (manager->conf->login_timeout
                       + manager->conf->query_timeout)
                + NGX_HTTP_SUBMISSION_HEALTH_PROBE_LATE
           && (kill((ngx_pid_t) sh->probing, 0) == 0 || ngx_errno != ESRCH);
}


ngx_int_t
ngx_http_submission_health_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_event_t  *ev;

    manager->health = ngx_pcalloc(cycle->pool,
                                  sizeof(ngx_http_submission_health_t));
    if (manager->health == NULL) {
        return NGX_ERROR;
    }

    ev = &manager->health->probe;

    ev->handler = ngx_http_submission_health_tick;
    ev->data = manager;
    ev->log = cycle->log;
    ev->cancelable = 1;

    /* the first worker to run asks at once */

    ngx_add_timer(ev, 1);

    return NGX_OK;
}


static void
ngx_http_submission_health_probe(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_task_t  *task;

    task = ngx_http_submission_task_create(manager,
                                          NGX_HTTP_SUBMISSION_OP_PING,
                                          sizeof(ngx_http_submission_probe_t));
    if (task == NULL) {
        return;
    }

    task->done = ngx_http_submission_health_done;
    task->call.trial = ngx_http_submission_health_doubts(manager);

    manager->sh->health->asking = 0;
    manager->sh->health->probing = ngx_pid;

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: probe of the store, state:%uA",
                   manager->sh->health->store);

    if (ngx_http_submission_task_post(task) != NGX_OK) {
        ngx_http_submission_task_free(task);
        manager->sh->health->probing = 0;
    }
}


/* A server that takes no writes is left by the pool, but has answered. */

static ngx_uint_t
ngx_http_submission_health_lost_thread(const sm_call_t *call)
{
    return call->unreached && !call->read_only;
}


sm_str_t
ngx_http_submission_health_error(ngx_http_submission_manager_conf_t *mcf,
    sm_str_t error)
{
    ngx_str_t  *path;

    path = &mcf->store_path;

    if (path->len && error.len > path->len + 2
        && ngx_strncmp(error.data, path->data, path->len) == 0)
    {
        error.data += path->len + 2;
        error.len -= path->len + 2;
    }

    return error;
}


/* what is told of a state: a line of the log, and an event of the feed */

static const struct {
    ngx_uint_t                       level;
    const char                      *event;
    sm_feed_kind_e                   kind;
    const char                      *text;
} ngx_http_submission_health_tells[] = {
    [SM_STORE_HEALTH_UP] = { NGX_LOG_NOTICE, "store_up", SM_FEED_STORE_UP,
                             "can use the store again" },
    [SM_STORE_HEALTH_FAILING] = { NGX_LOG_ERR, "store_failing",
                                  SM_FEED_STORE_FAILING,
                                  "can read the store, but not write to it" },
    [SM_STORE_HEALTH_DOWN] = { NGX_LOG_ERR, "store_down", SM_FEED_STORE_DOWN,
                               "cannot use the store" },
    [SM_STORE_HEALTH_SCHEMA] = { NGX_LOG_ERR, "store_down", SM_FEED_STORE_DOWN,
                                 "cannot use the store" }
};


/* Tells the log and the feed what has changed. */

static void
ngx_http_submission_health_changed(ngx_http_submission_manager_t *manager,
    sm_store_health_e old, ngx_http_submission_store_record_t *record)
{
    sm_str_t                      error;
    const char                   *event;
    sm_store_health_e             state;
    ngx_http_submission_field_t   field;

    static const sm_str_t  none;

    state = record->health.state;
    event = ngx_http_submission_health_tells[state].event;
    error.data = (char *) record->error;
    error.len = record->len;

    if (state == SM_STORE_HEALTH_UP) {
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "submission: %s manager=%V store=%s",
                      old == SM_STORE_HEALTH_FAILING ? "store_working" : event,
                      &manager->conf->name,
                      sm_store_ops_name(manager->conf->store_ops));

        error.len = 0;

        if (old == SM_STORE_HEALTH_UNKNOWN) {
            return;
        }

    } else {
        ngx_log_error(ngx_http_submission_health_tells[state].level,
                      ngx_cycle->log, 0,
                      "submission: %s manager=%V store=%s op=%s%V", event,
                      &manager->conf->name,
                      sm_store_ops_name(manager->conf->store_ops),
                      ngx_http_submission_ops[record->op].name,
                      ngx_http_submission_field(&field, " sql_error=", error));
    }

    /* the feed is for readers, too, who do not see paths */

    error = ngx_http_submission_health_error(manager->conf, error);

    ngx_http_submission_event(manager,
                              ngx_http_submission_health_tells[state].kind,
                              none, "%V %s%s%*s.", &manager->holder_id,
                              record->health.flaps
                              ? "can use the store only at times"
                              : ngx_http_submission_health_tells[state].text,
                              error.len ? ": " : "", error.len, error.data);
}


static void
ngx_http_submission_health_failed(ngx_http_submission_store_record_t *record,
    int64_t now, ngx_http_submission_op_e op, sm_str_t error)
{
    record->error_at = now;
    record->op = op;
    record->len = ngx_min(error.len, sizeof(record->error));
    ngx_memcpy(record->error, error.data, record->len);
}


/*
 * Takes in an event, and the error of the call, if it has failed.  While the
 * store is up and calls succeed, no lock is taken, unless a worker has died
 * while it wrote the record.
 */

static void
ngx_http_submission_health_apply(ngx_http_submission_manager_t *manager,
    sm_store_health_event_e event, ngx_http_submission_op_e op,
    sm_str_t error)
{
    int                                  changed, committed;
    int64_t                              now;
    sm_store_health_e                    old;
    ngx_http_submission_health_shctx_t  *sh;
    ngx_http_submission_store_record_t  *record, copy;

    sh = manager->sh->health;

    committed = event == SM_STORE_HEALTH_EV_COMMITTED
                || event == SM_STORE_HEALTH_EV_WRITTEN;

    if (committed
        && sh->store == SM_STORE_HEALTH_UP
        && sh->record.health.refusals == 0
        && (event != SM_STORE_HEALTH_EV_WRITTEN
            || sh->record.health.busy == 0)
        && !(sh->sequence & 1))
    {
        return;
    }

    now = ngx_http_submission_usec();
    record = ngx_http_submission_zone_store_lock(manager->conf);

    if (!committed) {
        ngx_http_submission_health_failed(record, now, op, error);
    }

    old = record->health.state;
    changed = sm_store_health_apply(&record->health, event, now);
    copy = *record;

    ngx_http_submission_zone_store_unlock(manager->conf);

    if (changed) {
        ngx_http_submission_health_changed(manager, old, &copy);
    }
}


/*
 * A probe has no answer for long.  If other calls have one, the store can be
 * read, and its commits hang: of a store that is failing that is no news.  If they
 * have none either, it is down, also if it was failing.
 */

static void
ngx_http_submission_health_hung(ngx_http_submission_manager_t *manager)
{
    char                                 error[96];
    ngx_msec_t                           committed;
    sm_store_health_event_e              event;
    ngx_http_submission_health_shctx_t  *sh;

    sh = manager->sh->health;

    committed = ngx_http_submission_health_doubts(manager) ? sh->written
                                                           : sh->committed;

    if (sh->store == SM_STORE_HEALTH_DOWN
        || !ngx_http_submission_health_probing(manager)
        || ngx_http_submission_since(sh->probed)
           < NGX_HTTP_SUBMISSION_HEALTH_PROBE_HUNG
        || (ngx_msec_int_t) (committed - sh->probed) > 0)
    {
        return;
    }

    event = (ngx_msec_int_t) (sh->reached - sh->probed) > 0
            ? SM_STORE_HEALTH_EV_READABLE : SM_STORE_HEALTH_EV_LOST;

    if (sh->store == SM_STORE_HEALTH_FAILING
        && event == SM_STORE_HEALTH_EV_READABLE)
    {
        return;
    }

    *ngx_snprintf((u_char *) error, sizeof(error) - 1,
                  sh->asking ? "a commit has no answer for %M ms"
                             : "no thread is free for a commit for %M ms: "
                               "those that are busy have no answer",
                  ngx_http_submission_since(sh->probed)) = '\0';

    ngx_http_submission_health_apply(manager, event,
                                     NGX_HTTP_SUBMISSION_OP_PING,
                                     sm_str_c(error));
}


static void
ngx_http_submission_health_read_done(ngx_http_submission_task_t *task)
{
    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: read beside a probe, status:%d reached:%d",
                   (int) task->call.status, (int) !task->call.unreached);
}


/*
 * A probe is slow: one worker asks whether the store can be read meanwhile.  The
 * answer is seen in "reached".
 */

static void
ngx_http_submission_health_beside(ngx_http_submission_manager_t *manager)
{
    ngx_atomic_uint_t                    probed, read_for;
    ngx_http_submission_task_t          *task;
    ngx_http_submission_health_shctx_t  *sh;

    sh = manager->sh->health;
    probed = sh->probed;
    read_for = sh->read_for;

    if (read_for == probed
        || (sh->store != SM_STORE_HEALTH_UP
            && sh->store != SM_STORE_HEALTH_FAILING)
        || !ngx_http_submission_health_probing(manager)
        || ngx_http_submission_since(probed)
           < NGX_HTTP_SUBMISSION_HEALTH_PROBE_SLOW
        || !ngx_atomic_cmp_set(&sh->read_for, read_for, probed))
    {
        return;
    }

    task = ngx_http_submission_task_create(manager,
                                          NGX_HTTP_SUBMISSION_OP_LEASE_WATCH,
                                          sizeof(ngx_http_submission_task_t));
    if (task == NULL) {
        return;
    }

    task->run = ngx_http_submission_health_read_thread;
    task->done = ngx_http_submission_health_read_done;

    if (ngx_http_submission_task_post(task) != NGX_OK) {
        ngx_http_submission_task_free(task);
    }
}


static void
ngx_http_submission_health_idle_done(ngx_http_submission_task_t *task)
{
    task->manager->health->idle = 0;
}


static void
ngx_http_submission_health_idle(ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_task_t  *task;

    if (manager->conf->store_path.len == 0
        || manager->sh->health->store == SM_STORE_HEALTH_UP
        || manager->health->idle
        || !sm_store_idle(&manager->store))
    {
        return;
    }

    task = ngx_http_submission_task_create(manager,
                                          NGX_HTTP_SUBMISSION_OP_LEASE_WATCH,
                                          sizeof(ngx_http_submission_task_t));
    if (task == NULL) {
        return;
    }

    task->run = ngx_http_submission_health_read_thread;
    task->done = ngx_http_submission_health_idle_done;
    manager->health->idle = 1;

    if (ngx_http_submission_task_post(task) != NGX_OK) {
        ngx_http_submission_task_free(task);
        manager->health->idle = 0;
    }
}


static void
ngx_http_submission_health_tick(ngx_event_t *ev)
{
    ngx_msec_t                           period;
    ngx_atomic_uint_t                    probed;
    ngx_http_submission_manager_t       *manager;
    ngx_http_submission_health_shctx_t  *sh;

    if (ngx_exiting) {
        return;
    }

    manager = ev->data;
    sh = manager->sh->health;

    if (ngx_http_submission_breaker_open(manager)) {

        /* another worker opened it */

        manager->broken(manager);
    }

    ngx_http_submission_health_idle(manager);
    ngx_http_submission_health_beside(manager);
    ngx_http_submission_health_hung(manager);

    period = ngx_http_submission_health_period(manager);
    probed = sh->probed;

    if (!ngx_http_submission_health_probing(manager)
        && (sh->store == SM_STORE_HEALTH_UNKNOWN
            || (ngx_http_submission_since(probed) >= period
                && (ngx_http_submission_health_doubts(manager)
                    || ngx_http_submission_since(sh->committed) >= period)))
        && ngx_atomic_cmp_set(&sh->probed, probed, ngx_current_msec))
    {
        ngx_http_submission_health_probe(manager);
    }

    ngx_add_timer(ev, ngx_min(manager->conf->acquire_interval,
                              NGX_HTTP_SUBMISSION_HEALTH_TICK));
}


static void
ngx_http_submission_health_read_thread(ngx_http_submission_task_t *task)
{
    sm_str_t    wake_url;
    sm_lease_t  lease;

    (void) sm_store_lease_watch(&task->manager->store, &task->call, &lease,
                                &wake_url);
}


/* If the store answers, but does not commit, it is read. */

void
ngx_http_submission_health_thread(ngx_http_submission_task_t *task)
{
    sm_str_t                      wake_url;
    sm_call_t                     call;
    sm_lease_t                    lease;
    ngx_http_submission_probe_t  *probe;

    probe = (ngx_http_submission_probe_t *) task;

    task->manager->sh->health->asking = 1;

    if (sm_store_ping(&task->manager->store, &task->call) == 0
        || ngx_http_submission_health_lost_thread(&task->call))
    {
        return;
    }

    memset(&call, 0, sizeof(sm_call_t));

    probe->readable = sm_store_lease_watch(&task->manager->store, &call,
                                           &lease, &wake_url)
                      == 0;

    sm_arena_free(&call.arena);
}


static void
ngx_http_submission_health_done(ngx_http_submission_task_t *task)
{
    task->manager->sh->health->probing = 0;
}


/*
 * Says whether a call got no answer for long, and others got theirs meanwhile: it
 * hung, and the store was there.
 */

static ngx_uint_t
ngx_http_submission_health_alone(ngx_http_submission_task_t *task)
{
    ngx_msec_int_t  after;

    after = (ngx_msec_int_t) (task->manager->sh->health->reached
                              - task->posted);

    return ngx_http_submission_since(task->posted)
           >= NGX_HTTP_SUBMISSION_HEALTH_PROBE_HUNG
           && after >= NGX_HTTP_SUBMISSION_HEALTH_PROBE_SLOW;
}


/*
 * Says what a call that has failed shows of the store; SM_STORE_HEALTH_EV_COUNT
 * if it shows nothing.  A read that failed may have been too long a search, or
 * one of what is damaged, or forbidden, alone: the next commit would say that the
 * store is up, and the next such read that it is down.  If it is more than that,
 * a probe finds out.
 */

static sm_store_health_event_e
ngx_http_submission_health_event(ngx_http_submission_task_t *task)
{
    sm_call_t   *call;
    ngx_uint_t   grows;

    call = &task->call;

    if (call->status == SM_STORE_SCHEMA) {
        return SM_STORE_HEALTH_EV_SCHEMA;
    }

    if (ngx_http_submission_health_lost_thread(call)) {
        return ngx_http_submission_health_alone(task)
               ? SM_STORE_HEALTH_EV_READABLE : SM_STORE_HEALTH_EV_LOST;
    }

    if (task->op == NGX_HTTP_SUBMISSION_OP_PING) {
        return ((ngx_http_submission_probe_t *) task)->readable
               ? SM_STORE_HEALTH_EV_READABLE : SM_STORE_HEALTH_EV_UNREADABLE;
    }

    if (call->status == SM_STORE_CONSTRAINT) {
        return SM_STORE_HEALTH_EV_COUNT;
    }

    if (!ngx_http_submission_ops[task->op].writes) {
        return SM_STORE_HEALTH_EV_COUNT;
    }

    grows = ngx_http_submission_ops[task->op].grows;

    if (call->status != SM_STORE_PERMANENT && !call->read_only) {
        return grows ? SM_STORE_HEALTH_EV_ROWS_BUSY : SM_STORE_HEALTH_EV_BUSY;
    }

    return grows ? SM_STORE_HEALTH_EV_ROWS_REFUSED : SM_STORE_HEALTH_EV_REFUSED;
}


static void
ngx_http_submission_health_succeeded(ngx_http_submission_task_t *task)
{
    sm_call_t                           *call;
    ngx_http_submission_field_t          error;
    const ngx_http_submission_op_t      *op;
    ngx_http_submission_health_shctx_t  *sh;

    call = &task->call;
    op = &ngx_http_submission_ops[task->op];

    if (call->status == SM_STORE_OK && call->error[0]) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "submission: store_refused manager=%V op=%s%V",
                      &task->manager->conf->name, op->name,
                      ngx_http_submission_field(&error, " sql_error=",
                                                sm_str_c(call->error)));
    }

    sh = task->manager->sh->health;

    if (!task->written
        && (!op->proves || (sh->record.health.owes
                            && task->op != NGX_HTTP_SUBMISSION_OP_PING)))
    {
        return;
    }

    sh->committed = ngx_current_msec;

    if (task->written) {
        sh->written = ngx_current_msec;
    }

    ngx_http_submission_health_apply(task->manager,
                                     task->written
                                     ? SM_STORE_HEALTH_EV_WRITTEN
                                     : SM_STORE_HEALTH_EV_COMMITTED, task->op,
                                     sm_str_c(""));
}


/*
 * What was lost before something else was committed is no news, nor is a lock
 * before something of the same kind was.  A commit that was refused is, as
 * another one may need less room.
 */

static ngx_uint_t
ngx_http_submission_health_old(ngx_http_submission_task_t *task,
    sm_store_health_event_e event)
{
    ngx_http_submission_health_shctx_t  *sh;

    sh = task->manager->sh->health;

    switch (event) {

    case SM_STORE_HEALTH_EV_REFUSED:
    case SM_STORE_HEALTH_EV_ROWS_REFUSED:
        return 0;

    case SM_STORE_HEALTH_EV_ROWS_BUSY:
        return (ngx_msec_int_t) (sh->written - task->posted) > 0;

    default:
        return (ngx_msec_int_t) (sh->committed - task->posted) > 0;
    }
}


/* A read that failed for good is the last error of a store, in any state. */

static void
ngx_http_submission_health_unread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_store_record_t  *record;

    record = ngx_http_submission_zone_store_lock(task->manager->conf);

    ngx_http_submission_health_failed(record, ngx_http_submission_usec(),
                                      task->op, sm_str_c(task->call.error));

    ngx_http_submission_zone_store_unlock(task->manager->conf);
}


/* Takes the outcome of a call to the store. */

void
ngx_http_submission_health_report(ngx_http_submission_task_t *task)
{
    sm_call_t                *call;
    sm_store_health_event_e   event;

    call = &task->call;

    if (call->status == SM_STORE_OK || call->status == SM_STORE_LEASE_LOST) {
        ngx_http_submission_health_succeeded(task);
        return;
    }

    if (ngx_http_submission_ops[task->op].writes) {
        ngx_http_submission_count(task->manager,
                                  NGX_HTTP_SUBMISSION_CNT_COMMITS_FAILED, 1);
    }

    event = ngx_http_submission_health_event(task);

    if (event == SM_STORE_HEALTH_EV_COUNT
        && call->status == SM_STORE_PERMANENT)
    {
        ngx_http_submission_health_unread(task);
    }

    if (event == SM_STORE_HEALTH_EV_COUNT
        || ngx_http_submission_health_old(task, event))
    {
        return;
    }

    ngx_http_submission_health_apply(task->manager, event, task->op,
                                     sm_str_c(call->error));
}
