
/*
 * Fills the queue of the leader from the store, in pages.
 *
 * - At first the queue is rebuilt, earliest due first.  Pages in the order of
 *   modification have everything.  Until they have come that far, two other
 *   orders run ahead of them by turns.  Pages in the order of due time have
 *   retries, and what had to wait for its not_before; they go to the present
 *   time and a little beyond it, so that what becomes due meanwhile does not
 *   wait for the end of the rebuild.  Where most of a page has passed its
 *   deadline, pages of what has not passed it keep what is alive from waiting
 *   behind what is dead, however much of that there is.
 * - From then on the queue is refreshed, from a place in the order of
 *   modification that stays behind the store's time, so that a row that is
 *   committed late, with a time that has passed, is not missed.  Seeing a row
 *   again changes nothing.
 * - That place stays behind for as long as a submission can take, from the time
 *   that it has in the store to its commit: query_timeout on a server.  (On
 *   SQLite that time is taken under the write lock, so rows come in its order.)
 *   A refresh reads the last ten seconds.  Where a submission may take longer,
 *   all of that time, and of the time until the next look, is read at every
 *   tenth of it.
 * - No such bound holds for ever: another instance may have another time-out, a
 *   commit may wait for a standby, clocks are set.  So there is also a sweep:
 *   now and then the order of modification is read from its beginning, page by
 *   page, beside everything else, at a pace that the store does not feel.
 * - Between refreshes the executor worker may be woken.  Then only what is new
 *   is read, from a little before the last row seen.
 *
 * The refresh and the sweep are two duties with one state.  A page puts rows
 * into the queue and never takes any out: an intent leaves the queue when its
 * end is booked, see ended.c.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_limits.h"
#include "ngx_http_submission_signal.h"
#include "ngx_http_submission_stats.h"
#include "ngx_http_submission_turn.h"


/* rows */

#define NGX_HTTP_SUBMISSION_QUEUE_PAGE_FIRST  256
#define NGX_HTTP_SUBMISSION_QUEUE_PAGE        2000

/*
 * Microseconds.  WINDOW is what a refresh reads at least, LATE how much later
 * than its time-out a submission may be committed, SLACK how far before the
 * last row seen a look for new rows begins, and AHEAD how far beyond the
 * present time the order of due time is read in a rebuild.
 */

#define NGX_HTTP_SUBMISSION_QUEUE_WINDOW      10000000
#define NGX_HTTP_SUBMISSION_QUEUE_LATE        5000000
#define NGX_HTTP_SUBMISSION_QUEUE_SLACK       50000
#define NGX_HTTP_SUBMISSION_QUEUE_AHEAD       2000000

/*
 * Between two sweeps there are so many refreshes, but at most so many
 * milliseconds; the rest after a page of a sweep is so many times what the page
 * took.
 */

#define NGX_HTTP_SUBMISSION_QUEUE_SWEEP       30
#define NGX_HTTP_SUBMISSION_QUEUE_SWEEP_MAX   60000
#define NGX_HTTP_SUBMISSION_QUEUE_SWEEP_PACE  10


/* a place in an order of the store: a time, and an id of that time */

typedef struct {
    int64_t                          at;
    size_t                           len;
    u_char                           id[SM_ID_MAX * 4];
} ngx_http_submission_cursor_t;


typedef struct {
    ngx_connection_t                *wake;

    unsigned                         rebuilding:1;
    unsigned                         due_done:1;
    unsigned                         due_turn:1;   /* its page is next */
    unsigned                         live_done:1;
    unsigned                         live_turn:1;  /* its page is next */
    unsigned                         paging:1;     /* there is another page */
    unsigned                         want_window:1;
    unsigned                         want_new:1;
    int64_t                          begun_at;     /* the rebuild, monotonic */
    int64_t                          window;       /* microseconds */
    int64_t                          widened_at;   /* all of it was last read */
    ngx_http_submission_cursor_t     modified;
    ngx_http_submission_cursor_t     retries;
    ngx_http_submission_cursor_t     live;
    ngx_http_submission_cursor_t     seen;         /* the furthest row */
    ngx_http_submission_cursor_t     swept;
} ngx_http_submission_refresh_t;


typedef struct {
    ngx_http_submission_task_t       task;
    sm_page_t                        page;
    ngx_http_submission_cursor_t     after;
    int64_t                          begun_at;     /* monotonic */
} ngx_http_submission_page_task_t;


static ngx_int_t ngx_http_submission_queue_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty);
static ngx_int_t ngx_http_submission_queue_begin(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_queue_done(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static void ngx_http_submission_queue_woken(ngx_event_t *ev);
static ngx_msec_t ngx_http_submission_queue_rest(
    ngx_http_submission_executor_t *ex);
static ngx_int_t ngx_http_submission_queue_sweep_begin(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_queue_swept(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);


const ngx_http_submission_duty_row_t  ngx_http_submission_queue_refresh = {
    .op = NGX_HTTP_SUBMISSION_OP_QUEUE_PAGE,
    .size = sizeof(ngx_http_submission_page_task_t),
    .ctx = sizeof(ngx_http_submission_refresh_t),
    .init = ngx_http_submission_queue_init,
    .interval = ngx_http_submission_duty_interval,
    .begin = ngx_http_submission_queue_begin,
    .done = ngx_http_submission_queue_done
};


const ngx_http_submission_duty_row_t  ngx_http_submission_queue_sweep = {
    .op = NGX_HTTP_SUBMISSION_OP_QUEUE_PAGE,
    .size = sizeof(ngx_http_submission_page_task_t),
    .interval = ngx_http_submission_queue_rest,
    .begin = ngx_http_submission_queue_sweep_begin,
    .done = ngx_http_submission_queue_swept
};


/* the sweep shares the state of the refresh */

static ngx_http_submission_refresh_t *
ngx_http_submission_queue_ctx(ngx_http_submission_executor_t *ex)
{
    return ex->duties[NGX_HTTP_SUBMISSION_DUTY_REFRESH].ctx;
}


static ngx_int_t
ngx_http_submission_queue_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty)
{
    int64_t                          window;
    ngx_http_submission_refresh_t   *rf;
    ngx_http_submission_executor_t  *ex;

    rf = duty->ctx;
    ex = duty->executor;

    /* a row that is committed right after a look waits for the next look */

    window = ((int64_t) ex->manager->conf->query_timeout
              + (int64_t) ex->manager->conf->queue_refresh_interval) * 1000
             + NGX_HTTP_SUBMISSION_QUEUE_LATE;
    window += window / 8;

    rf->window = ngx_max(window, NGX_HTTP_SUBMISSION_QUEUE_WINDOW);

    return NGX_OK;
}


void
ngx_http_submission_queue_start(ngx_http_submission_executor_t *ex)
{
    int64_t                         window;
    ngx_http_submission_refresh_t  *rf;

    rf = ngx_http_submission_queue_ctx(ex);
    window = rf->window;

    ngx_memzero(rf, sizeof(ngx_http_submission_refresh_t));

    rf->window = window;
    rf->rebuilding = 1;
    rf->begun_at = ngx_http_submission_usec();

    /* if nobody can ring, the next refresh finds new intents */

    rf->wake = ngx_http_submission_wake_listen(ex->manager,
                                       ngx_http_submission_queue_woken, ex);

    ngx_http_submission_duty_kick(
                               &ex->duties[NGX_HTTP_SUBMISSION_DUTY_REFRESH]);
}


void
ngx_http_submission_queue_stop(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_refresh_t  *rf;

    rf = ngx_http_submission_queue_ctx(ex);

    if (rf->wake) {
        ngx_http_submission_bell_ignore(rf->wake);
        rf->wake = NULL;
    }
}


static void
ngx_http_submission_queue_page(ngx_http_submission_executor_t *ex,
    ngx_http_submission_task_t *task, sm_page_e order,
    ngx_http_submission_cursor_t *after)
{
    ngx_http_submission_refresh_t    *rf;
    ngx_http_submission_page_task_t  *pt;

    rf = ngx_http_submission_queue_ctx(ex);
    pt = (ngx_http_submission_page_task_t *) task;

    ngx_http_submission_wake_again(ex->manager);

    pt->after = *after;
    pt->begun_at = ngx_http_submission_usec();

    /* such a page may take long: many dead rows may precede a live one */

    pt->page.recovery = rf->rebuilding || after == &rf->swept;

    pt->page.order = order;
    pt->page.after_at = pt->after.at;
    pt->page.after_id.data = (char *) pt->after.id;
    pt->page.after_id.len = pt->after.len;
    pt->page.limit = after->at ? NGX_HTTP_SUBMISSION_QUEUE_PAGE
                               : NGX_HTTP_SUBMISSION_QUEUE_PAGE_FIRST;
}


void
ngx_http_submission_queue_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_page_task_t  *pt;

    pt = (ngx_http_submission_page_task_t *) task;

    (void) sm_store_queue_page(&task->manager->store, &task->call,
                               &task->fence, &pt->page);

    task->rows = pt->page.n;
}


static void
ngx_http_submission_queue_move(ngx_http_submission_cursor_t *cursor,
    sm_due_t *row)
{
    cursor->at = row->at;
    cursor->len = ngx_min(row->id.len, sizeof(cursor->id));
    ngx_memcpy(cursor->id, row->id.data, cursor->len);
}


static ngx_uint_t
ngx_http_submission_queue_after(ngx_http_submission_cursor_t *a,
    ngx_http_submission_cursor_t *b)
{
    if (a->at != b->at) {
        return a->at > b->at;
    }

    return ngx_memn2cmp(a->id, b->id, a->len, b->len) > 0;
}


/*
 * Sets where a refresh begins: at the start of the window, or, if only new rows
 * are wanted, a little before the last row seen.  If that row is older than the
 * window, the refresh begins there.
 */

static void
ngx_http_submission_queue_rewind(ngx_http_submission_executor_t *ex)
{
    int64_t                         at, now;
    ngx_http_submission_refresh_t  *rf;

    rf = ngx_http_submission_queue_ctx(ex);

    if (!rf->want_window) {
        at = rf->seen.at - NGX_HTTP_SUBMISSION_QUEUE_SLACK;

    } else {
        at = ngx_http_submission_executor_now(ex);
        now = ngx_http_submission_usec();

        if (now - rf->widened_at >= rf->window / 10) {
            rf->widened_at = now;
            at -= rf->window;

        } else {
            at -= NGX_HTTP_SUBMISSION_QUEUE_WINDOW;
        }
    }

    rf->want_window = 0;
    rf->want_new = 0;

    rf->modified = rf->seen;

    if (rf->modified.at >= at) {
        rf->modified.at = at;
        rf->modified.len = 0;
    }
}


/* whether the next page of a rebuild is in the order of due time */

static ngx_uint_t
ngx_http_submission_queue_due(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_refresh_t  *rf;

    rf = ngx_http_submission_queue_ctx(ex);

    if (!rf->rebuilding || rf->due_done) {
        return 0;
    }

    return rf->retries.at <= rf->modified.at
           || (rf->due_turn
               && rf->retries.at <= ngx_http_submission_executor_now(ex)
                                    + NGX_HTTP_SUBMISSION_QUEUE_AHEAD);
}


/*
 * Whether the next page of a rebuild has only what has not passed its deadline.
 * It begins where the order of modification is, or further on.
 */

static ngx_uint_t
ngx_http_submission_queue_live(ngx_http_submission_refresh_t *rf)
{
    if (!rf->rebuilding || rf->live_done || !rf->live_turn) {
        return 0;
    }

    if (ngx_http_submission_queue_after(&rf->modified, &rf->live)) {
        rf->live = rf->modified;
    }

    return 1;
}


/* asks for the next page of the rebuild, or of a refresh */

static ngx_int_t
ngx_http_submission_queue_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_http_submission_refresh_t   *rf;
    ngx_http_submission_executor_t  *ex;

    ex = duty->executor;
    rf = ngx_http_submission_queue_ctx(ex);

    if (duty->due) {
        rf->want_window = 1;
    }

    if (ngx_http_submission_queue_due(ex)) {
        rf->due_turn = 0;
        ngx_http_submission_queue_page(ex, task, SM_PAGE_DUE, &rf->retries);
        return NGX_OK;
    }

    rf->due_turn = 1;

    if (ngx_http_submission_queue_live(rf)) {
        ngx_http_submission_queue_page(ex, task, SM_PAGE_LIVE, &rf->live);
        return NGX_OK;
    }

    if (!rf->rebuilding && !rf->paging) {
        ngx_http_submission_queue_rewind(ex);
    }

    ngx_http_submission_queue_page(ex, task, SM_PAGE_MODIFIED,
                                   &rf->modified);
    return NGX_OK;
}


static void
ngx_http_submission_queue_rebuilt(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_refresh_t  *rf;

    rf = ngx_http_submission_queue_ctx(ex);
    rf->rebuilding = 0;

    sm_queue_complete(ex->queue);

    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                  "submission: queue_rebuilt manager=%V lease_epoch=%L "
                  "waiting=%uz in_hand=%uz bytes=%uz ms=%L",
                  &ex->manager->conf->name, ex->epoch,
                  sm_queue_waiting(ex->queue),
                  sm_queue_taken(ex->queue),
                  sm_queue_bytes(ex->queue),
                  (ngx_http_submission_usec() - rf->begun_at) / 1000);
}


/* puts rows into the queue; "dead" is how many have passed their deadline */

static ngx_int_t
ngx_http_submission_queue_rows(ngx_http_submission_executor_t *ex,
    sm_page_t *page, ngx_http_submission_cursor_t *cursor, size_t *dead)
{
    size_t                          i, n;
    int64_t                         now;
    ngx_http_submission_refresh_t  *rf;

    rf = ngx_http_submission_queue_ctx(ex);

    ngx_http_submission_executor_tick(ex);

    now = ngx_http_submission_executor_now(ex);
    *dead = 0;

    for (i = 0; i < page->n; i++) {
        *dead += page->rows[i].deadline <= now;
        n = sm_queue_entries(ex->queue);

        if (sm_queue_set(ex->queue, page->rows[i].id,
                         page->rows[i].target, page->rows[i].due_at,
                         page->rows[i].deadline)
            != 0)
        {
            ngx_log_error(NGX_LOG_CRIT, ngx_cycle->log, 0,
                          "submission: no memory for the queue manager=%V "
                          "waiting=%uz", &ex->manager->conf->name,
                          sm_queue_waiting(ex->queue));
            return NGX_ERROR;
        }

        if (sm_queue_entries(ex->queue) == n) {
            continue;
        }

        ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission: queued \"%*s\" due in:%L us rebuilding:%d",
                       page->rows[i].id.len, page->rows[i].id.data,
                       page->rows[i].due_at - now, (int) rf->rebuilding);

        if (!rf->rebuilding) {
            ngx_http_submission_stats_submitted(ex, page->rows[i].id,
                                                page->rows[i].target);
        }
    }

    if (page->n) {
        ngx_http_submission_queue_move(cursor, &page->rows[page->n - 1]);
    }

    return NGX_OK;
}


static ngx_msec_t
ngx_http_submission_queue_done(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    size_t                            dead;
    ngx_uint_t                        last;
    ngx_http_submission_cursor_t     *cursors[SM_PAGE_COUNT];
    ngx_http_submission_refresh_t    *rf;
    ngx_http_submission_executor_t   *ex;
    ngx_http_submission_page_task_t  *pt;

    pt = (ngx_http_submission_page_task_t *) task;
    ex = duty->executor;
    rf = ngx_http_submission_queue_ctx(ex);

    cursors[SM_PAGE_MODIFIED] = &rf->modified;
    cursors[SM_PAGE_DUE] = &rf->retries;
    cursors[SM_PAGE_LIVE] = &rf->live;

    if (ngx_http_submission_queue_rows(ex, &pt->page,
                                       cursors[pt->page.order], &dead)
        != NGX_OK)
    {
        return NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
    }

    if (pt->page.order != SM_PAGE_DUE) {
        rf->live_turn = 2 * dead > pt->page.n;
    }

    if (ngx_http_submission_queue_after(&rf->modified, &rf->seen)) {
        rf->seen = rf->modified;
    }

    ngx_http_submission_executor_wake(ex);

    last = pt->page.n < pt->page.limit;

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: queue page order:%d rows:%uz last:%ui "
                   "waiting:%uz", (int) pt->page.order, pt->page.n, last,
                   sm_queue_waiting(ex->queue));

    if (last && pt->page.order != SM_PAGE_MODIFIED) {
        rf->due_done |= pt->page.order == SM_PAGE_DUE;
        rf->live_done |= pt->page.order == SM_PAGE_LIVE;
        last = 0;
    }

    rf->paging = !last;

    if (!last) {
        return 0;
    }

    if (rf->rebuilding) {
        ngx_http_submission_queue_rebuilt(ex);
    }

    return rf->want_window || rf->want_new ? 0
                                           : NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
}


static void
ngx_http_submission_queue_woken(ngx_event_t *ev)
{
    ngx_connection_t                *c;
    ngx_http_submission_executor_t  *ex;

    c = ev->data;
    ex = c->data;

    ngx_http_submission_wake_heard(ex->manager, c);

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: leader woken manager:%V epoch:%L",
                   &ex->manager->conf->name, ex->epoch);

    ngx_http_submission_queue_new(ex);
    ngx_http_submission_inbox_woken(ex);
    ngx_http_submission_pauses_woken(ex);
    ngx_http_submission_fire_woken(ex);
}


void
ngx_http_submission_queue_new(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_queue_ctx(ex)->want_new = 1;

    ngx_http_submission_duty_kick(
                               &ex->duties[NGX_HTTP_SUBMISSION_DUTY_REFRESH]);
}


/* the time from the end of one sweep to the beginning of the next */

static ngx_msec_t
ngx_http_submission_queue_rest(ngx_http_submission_executor_t *ex)
{
    return ngx_min(ex->manager->conf->queue_refresh_interval
                   * NGX_HTTP_SUBMISSION_QUEUE_SWEEP,
                   NGX_HTTP_SUBMISSION_QUEUE_SWEEP_MAX);
}


static ngx_int_t
ngx_http_submission_queue_sweep_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_http_submission_refresh_t  *rf;

    rf = ngx_http_submission_queue_ctx(duty->executor);

    if (rf->rebuilding) {
        return NGX_DECLINED;
    }

    ngx_http_submission_queue_page(duty->executor, task, SM_PAGE_MODIFIED,
                                   &rf->swept);
    return NGX_OK;
}


/* a sweep ends where the window of refreshes begins */

static ngx_msec_t
ngx_http_submission_queue_swept(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    size_t                            waiting, dead;
    ngx_msec_t                        wait, took;
    ngx_uint_t                        last;
    ngx_http_submission_refresh_t    *rf;
    ngx_http_submission_executor_t   *ex;
    ngx_http_submission_page_task_t  *pt;

    pt = (ngx_http_submission_page_task_t *) task;
    ex = duty->executor;
    rf = ngx_http_submission_queue_ctx(ex);

    waiting = sm_queue_waiting(ex->queue);

    last = ngx_http_submission_queue_rows(ex, &pt->page, &rf->swept, &dead)
           != NGX_OK
           || pt->page.n < pt->page.limit
           || rf->swept.at >= task->call.now - rf->window;

    took = (ngx_msec_t) ((ngx_http_submission_usec() - pt->begun_at) / 1000);

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: queue swept manager:%V rows:%uz new:%uz "
                   "last:%ui ms:%M", &ex->manager->conf->name, pt->page.n,
                   sm_queue_waiting(ex->queue) - waiting, last, took);

    if (last) {
        ngx_memzero(&rf->swept, sizeof(ngx_http_submission_cursor_t));
        wait = ngx_http_submission_queue_rest(ex);

    } else {
        wait = NGX_HTTP_SUBMISSION_EXECUTOR_PAUSE;
    }

    ngx_http_submission_executor_wake(ex);

    return ngx_max(wait, took * NGX_HTTP_SUBMISSION_QUEUE_SWEEP_PACE);
}
