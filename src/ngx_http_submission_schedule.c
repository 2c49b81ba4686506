
/*
 * The schedule of whoever leads, from the store in pages.
 *
 * First it is rebuilt whole, earliest due first: pages in the order of
 * modification have everything, and until they have come that far, pages of
 * retries in the order of due time run ahead.  From then on it is refreshed,
 * from a place in the order of modification that stays behind the store's
 * time: a row that is committed late, with a time that has passed, is not
 * missed.  Seeing a row again changes nothing.
 *
 * How far it stays behind is as long as a submission can take, from the time
 * that it has in the store to its commit: query_timeout on a server.  (On
 * SQLite that time is taken under the write lock: rows come in its order.)  A
 * refresh reads the last ten seconds; where a submission may take longer, all
 * of that time, and of that until the next look, is read at every tenth of it.
 *
 * No such bound holds for ever: another instance may have another time-out, a
 * commit may wait for a standby, clocks are set.  So there is a sweep, too: now
 * and then the order of modification is read from its beginning, page by page,
 * at a pace that leaves the store at peace, and beside all else.
 *
 * Between refreshes the executor worker may be woken: then only what is new is
 * read, from a little before the last row seen.
 */

#include "ngx_http_submission.h"


#define NGX_HTTP_SUBMISSION_PAGE_FIRST  256         /* rows */
#define NGX_HTTP_SUBMISSION_PAGE        2000

#define NGX_HTTP_SUBMISSION_WINDOW      10000000    /* microseconds */
#define NGX_HTTP_SUBMISSION_LATE        5000000     /* beyond its time-out */
#define NGX_HTTP_SUBMISSION_SLACK       50000

#define NGX_HTTP_SUBMISSION_SWEEP       30          /* refreshes, */
#define NGX_HTTP_SUBMISSION_SWEEP_MAX   60000       /* milliseconds */
#define NGX_HTTP_SUBMISSION_SWEEP_PACE  10          /* times what it took */


typedef struct {
    ngx_http_submission_task_t     task;
    ngx_uint_t                     generation;
    sm_fence_t                     fence;
    sm_page_t                      page;
    ngx_http_submission_cursor_t   after;
    int64_t                        begun_at;       /* monotonic */
} ngx_http_submission_page_task_t;


static void ngx_http_submission_schedule_page(
    ngx_http_submission_executor_t *ex);
static ngx_int_t ngx_http_submission_schedule_post(
    ngx_http_submission_executor_t *ex, sm_page_e order,
    ngx_http_submission_cursor_t *after,
    void (*done)(ngx_http_submission_task_t *task));
static void ngx_http_submission_schedule_run(ngx_http_submission_task_t *task);
static void ngx_http_submission_schedule_done(
    ngx_http_submission_task_t *task);
static void ngx_http_submission_schedule_tick(ngx_event_t *ev);
static void ngx_http_submission_schedule_woken(ngx_event_t *ev);
static void ngx_http_submission_schedule_sweep(ngx_event_t *ev);
static void ngx_http_submission_schedule_swept(
    ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_schedule_rest(
    ngx_http_submission_executor_t *ex);


void
ngx_http_submission_schedule_init(ngx_http_submission_executor_t *ex)
{
    ex->refresh.handler = ngx_http_submission_schedule_tick;
    ex->refresh.data = ex;
    ex->refresh.log = ngx_cycle->log;
    ex->refresh.cancelable = 1;

    ex->sweep.handler = ngx_http_submission_schedule_sweep;
    ex->sweep.data = ex;
    ex->sweep.log = ngx_cycle->log;
    ex->sweep.cancelable = 1;

    /* and what is committed right after a look waits for the next one */

    ex->window = ((int64_t) ex->manager->query_timeout
                  + (int64_t) ex->manager->schedule_refresh_interval) * 1000
                 + NGX_HTTP_SUBMISSION_LATE;
    ex->window += ex->window / 8;
    ex->window = ngx_max(ex->window, NGX_HTTP_SUBMISSION_WINDOW);
}


void
ngx_http_submission_schedule_start(ngx_http_submission_executor_t *ex)
{
    /* a page of the schedule before may still be out: nobody waits for it */

    ex->paging = 0;
    ex->rebuilding = 1;
    ex->due_done = 0;
    ex->want_window = 0;
    ex->want_new = 0;
    ex->begun_at = ngx_http_submission_usec();
    ex->widened_at = 0;

    ngx_memzero(&ex->modified, sizeof(ngx_http_submission_cursor_t));
    ngx_memzero(&ex->retries, sizeof(ngx_http_submission_cursor_t));
    ngx_memzero(&ex->seen, sizeof(ngx_http_submission_cursor_t));
    ngx_memzero(&ex->swept, sizeof(ngx_http_submission_cursor_t));

    /* without it, what is new is found by the next refresh */

    ex->wake = ngx_http_submission_wake_listen(ex->manager,
                                       ngx_http_submission_schedule_woken, ex);

    ngx_http_submission_schedule_page(ex);
}


void
ngx_http_submission_schedule_stop(ngx_http_submission_executor_t *ex)
{
    if (ex->wake) {
        ngx_http_submission_wake_ignore(ex->wake);
        ex->wake = NULL;
    }

    if (ex->refresh.timer_set) {
        ngx_del_timer(&ex->refresh);
    }

    if (ex->sweep.timer_set) {
        ngx_del_timer(&ex->sweep);
    }
}


/* one at a time */

static void
ngx_http_submission_schedule_page(ngx_http_submission_executor_t *ex)
{
    ngx_int_t  rc;

    if (ex->paging || ex->schedule == NULL || ex->leaving) {
        return;
    }

    if (ex->rebuilding && !ex->due_done && ex->retries.at <= ex->modified.at) {
        rc = ngx_http_submission_schedule_post(ex, SM_PAGE_DUE, &ex->retries,
                                           ngx_http_submission_schedule_done);

    } else {
        rc = ngx_http_submission_schedule_post(ex, SM_PAGE_MODIFIED,
                                           &ex->modified,
                                           ngx_http_submission_schedule_done);
    }

    if (rc == NGX_OK) {
        ex->paging = 1;
        return;
    }

    ngx_add_timer(&ex->refresh, ex->manager->schedule_refresh_interval);
}


static ngx_int_t
ngx_http_submission_schedule_post(ngx_http_submission_executor_t *ex,
    sm_page_e order, ngx_http_submission_cursor_t *after,
    void (*done)(ngx_http_submission_task_t *task))
{
    ngx_http_submission_manager_t    *manager;
    ngx_http_submission_page_task_t  *pt;

    manager = ex->manager;

    pt = ngx_http_submission_task_create(manager,
                                      sizeof(ngx_http_submission_page_task_t));
    if (pt == NULL) {
        return NGX_ERROR;
    }

    pt->generation = ex->generation;
    pt->fence.holder.data = (char *) manager->holder_id.data;
    pt->fence.holder.len = manager->holder_id.len;
    pt->fence.epoch = ex->epoch;

    pt->after = *after;
    pt->begun_at = ngx_http_submission_usec();

    /* what comes after the first rows may come after many that are dead */

    pt->page.recovery = ex->rebuilding || after == &ex->swept;

    pt->page.order = order;
    pt->page.after_at = pt->after.at;
    pt->page.after_id.data = (char *) pt->after.id;
    pt->page.after_id.len = pt->after.len;
    pt->page.limit = after->at ? NGX_HTTP_SUBMISSION_PAGE
                               : NGX_HTTP_SUBMISSION_PAGE_FIRST;

    pt->task.op = NGX_HTTP_SUBMISSION_OP_SCHEDULE_PAGE;
    pt->task.run = ngx_http_submission_schedule_run;
    pt->task.done = done;

    if (ngx_http_submission_task_post(&pt->task) == NGX_OK) {
        return NGX_OK;
    }

    ngx_http_submission_task_free(&pt->task);

    return NGX_ERROR;
}


static void
ngx_http_submission_schedule_run(ngx_http_submission_task_t *task)
{
    ngx_http_submission_page_task_t  *pt;

    pt = (ngx_http_submission_page_task_t *) task;

    (void) sm_store_schedule_page(&task->manager->store, &task->call,
                                  &pt->fence, &pt->page);

    task->rows = pt->page.n;
}


static void
ngx_http_submission_schedule_move(ngx_http_submission_cursor_t *cursor,
    sm_due_t *row)
{
    cursor->at = row->at;
    cursor->len = ngx_min(row->id.len, sizeof(cursor->id));
    ngx_memcpy(cursor->id, row->id.data, cursor->len);
}


static ngx_uint_t
ngx_http_submission_schedule_after(ngx_http_submission_cursor_t *a,
    ngx_http_submission_cursor_t *b)
{
    if (a->at != b->at) {
        return a->at > b->at;
    }

    return ngx_memn2cmp(a->id, b->id, a->len, b->len) > 0;
}


/*
 * Where the next refresh begins: the window's start, or for what is new alone
 * a little before the last row seen; but at that row if it is older.
 */

static void
ngx_http_submission_schedule_begin(ngx_http_submission_executor_t *ex)
{
    int64_t  at, now;

    if (!ex->want_window) {
        at = ex->seen.at - NGX_HTTP_SUBMISSION_SLACK;

    } else {
        at = ngx_http_submission_executor_now(ex);
        now = ngx_http_submission_usec();

        if (now - ex->widened_at >= ex->window / 10) {
            ex->widened_at = now;
            at -= ex->window;

        } else {
            at -= NGX_HTTP_SUBMISSION_WINDOW;
        }
    }

    ex->want_window = 0;
    ex->want_new = 0;

    ex->modified = ex->seen;

    if (ex->modified.at >= at) {
        ex->modified.at = at;
        ex->modified.len = 0;
    }

    ngx_http_submission_schedule_page(ex);
}


static void
ngx_http_submission_schedule_rebuilt(ngx_http_submission_executor_t *ex)
{
    ex->rebuilding = 0;

    if (!ex->sweep.timer_set) {
        ngx_add_timer(&ex->sweep, ngx_http_submission_schedule_rest(ex));
    }

    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                  "submission: schedule_rebuilt manager=%V lease_epoch=%L "
                  "waiting=%uz in_hand=%uz bytes=%uz ms=%L",
                  &ex->manager->name, ex->epoch,
                  sm_schedule_waiting(ex->schedule),
                  sm_schedule_taken(ex->schedule),
                  sm_schedule_bytes(ex->schedule),
                  (ngx_http_submission_usec() - ex->begun_at) / 1000);
}


static ngx_int_t
ngx_http_submission_schedule_rows(ngx_http_submission_executor_t *ex,
    sm_page_t *page, ngx_http_submission_cursor_t *cursor)
{
    size_t  i;

    for (i = 0; i < page->n; i++) {
        if (sm_schedule_set(ex->schedule, page->rows[i].id,
                            page->rows[i].target, page->rows[i].due_at)
            != 0)
        {
            ngx_log_error(NGX_LOG_CRIT, ngx_cycle->log, 0,
                          "submission: no memory for the schedule manager=%V "
                          "waiting=%uz", &ex->manager->name,
                          sm_schedule_waiting(ex->schedule));
            return NGX_ERROR;
        }
    }

    if (page->n) {
        ngx_http_submission_schedule_move(cursor, &page->rows[page->n - 1]);
    }

    return NGX_OK;
}


static void
ngx_http_submission_schedule_done(ngx_http_submission_task_t *task)
{
    ngx_uint_t                        last;
    ngx_http_submission_executor_t   *ex;
    ngx_http_submission_page_task_t  *pt;

    pt = (ngx_http_submission_page_task_t *) task;
    ex = task->manager->executor;

    ngx_http_submission_health_report(task);

    if (pt->generation != ex->generation) {
        return;
    }

    ex->paging = 0;

    if (ex->schedule == NULL || ex->leaving) {
        return;
    }

    if (task->call.status != SM_STORE_OK) {
        ngx_http_submission_leader_failed(task->manager->leader,
                                          pt->fence.epoch, &task->call);
        return;
    }

    ngx_http_submission_executor_time(ex, task->call.now);

    if (ngx_http_submission_schedule_rows(ex, &pt->page,
                                          pt->page.order == SM_PAGE_DUE
                                          ? &ex->retries : &ex->modified)
        != NGX_OK)
    {
        ngx_add_timer(&ex->refresh, ex->manager->schedule_refresh_interval);
        return;
    }

    if (ngx_http_submission_schedule_after(&ex->modified, &ex->seen)) {
        ex->seen = ex->modified;
    }

    ngx_http_submission_executor_wake(ex);

    last = pt->page.n < pt->page.limit;

    if (last && pt->page.order == SM_PAGE_DUE) {
        ex->due_done = 1;
        last = 0;
    }

    if (!last) {
        ngx_http_submission_schedule_page(ex);
        return;
    }

    if (ex->rebuilding) {
        ngx_http_submission_schedule_rebuilt(ex);
    }

    if (ex->want_window || ex->want_new) {
        ngx_http_submission_schedule_begin(ex);
        return;
    }

    if (!ex->refresh.timer_set) {
        ngx_add_timer(&ex->refresh, ex->manager->schedule_refresh_interval);
    }
}


static void
ngx_http_submission_schedule_tick(ngx_event_t *ev)
{
    ngx_http_submission_executor_t  *ex;

    ex = ev->data;

    ex->want_window = 1;

    if (ex->rebuilding) {
        ngx_http_submission_schedule_page(ex);

    } else if (!ex->paging) {
        ngx_http_submission_schedule_begin(ex);
    }
}


static void
ngx_http_submission_schedule_woken(ngx_event_t *ev)
{
    uint64_t                         n;
    ngx_connection_t                *c;
    ngx_http_submission_executor_t  *ex;

    c = ev->data;
    ex = c->data;

    /* before it is looked at: whoever comes now calls again */

    ex->manager->sh->woken = 0;
    ngx_memory_barrier();

    (void) read(c->fd, &n, sizeof(n));

    ex->want_new = 1;

    if (!ex->paging && !ex->rebuilding) {
        ngx_http_submission_schedule_begin(ex);
    }
}


/* from the end of one sweep to the next */

static ngx_msec_t
ngx_http_submission_schedule_rest(ngx_http_submission_executor_t *ex)
{
    return ngx_min(ex->manager->schedule_refresh_interval
                   * NGX_HTTP_SUBMISSION_SWEEP, NGX_HTTP_SUBMISSION_SWEEP_MAX);
}


static void
ngx_http_submission_schedule_sweep(ngx_event_t *ev)
{
    ngx_http_submission_executor_t  *ex;

    ex = ev->data;

    if (ex->sweeping) {
        return;
    }

    if (ngx_http_submission_schedule_post(ex, SM_PAGE_MODIFIED, &ex->swept,
                                          ngx_http_submission_schedule_swept)
        != NGX_OK)
    {
        ngx_add_timer(ev, ngx_http_submission_schedule_rest(ex));
        return;
    }

    ex->sweeping = 1;
}


/* a sweep is over where refreshes begin */

static void
ngx_http_submission_schedule_swept(ngx_http_submission_task_t *task)
{
    size_t                            waiting;
    ngx_msec_t                        wait, took;
    ngx_uint_t                        last;
    ngx_http_submission_executor_t   *ex;
    ngx_http_submission_page_task_t  *pt;

    pt = (ngx_http_submission_page_task_t *) task;
    ex = task->manager->executor;

    ex->sweeping = 0;

    ngx_http_submission_health_report(task);

    if (ex->schedule == NULL || ex->leaving) {
        return;
    }

    wait = ngx_http_submission_schedule_rest(ex);

    if (pt->generation != ex->generation) {

        /* of a schedule that is gone; the new one's may have waited for it */

        if (!ex->rebuilding && !ex->sweep.timer_set) {
            ngx_add_timer(&ex->sweep, wait);
        }

        return;
    }

    if (task->call.status != SM_STORE_OK) {
        ngx_http_submission_leader_failed(task->manager->leader,
                                          pt->fence.epoch, &task->call);
        return;
    }

    ngx_http_submission_executor_time(ex, task->call.now);

    waiting = sm_schedule_waiting(ex->schedule);

    last = ngx_http_submission_schedule_rows(ex, &pt->page, &ex->swept)
           != NGX_OK
           || pt->page.n < pt->page.limit
           || ex->swept.at >= task->call.now - ex->window;

    took = (ngx_msec_t) ((ngx_http_submission_usec() - pt->begun_at) / 1000);

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: schedule swept manager=%V rows:%uz new:%uz "
                   "last:%ui ms:%M", &ex->manager->name, pt->page.n,
                   sm_schedule_waiting(ex->schedule) - waiting, last, took);

    if (last) {
        ngx_memzero(&ex->swept, sizeof(ngx_http_submission_cursor_t));

    } else {
        wait = NGX_HTTP_SUBMISSION_PAUSE;
    }

    ngx_add_timer(&ex->sweep,
                  ngx_max(wait, took * NGX_HTTP_SUBMISSION_SWEEP_PACE));

    ngx_http_submission_executor_wake(ex);
}
