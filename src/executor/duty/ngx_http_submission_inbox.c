
/*
 * The inbox: intents that applications leave in the store, in transactions of
 * their own.  The leader moves what is committed, a batch at a time.
 *
 * A batch is read, decided by the rules of POST, and moved by one transaction
 * that takes each row out of the inbox as it makes an intent of it: a crash, or
 * another leader, finds a row in the inbox or an intent, never both.  Nothing
 * is remembered from one look to the next, because a transaction that began
 * early may commit late.
 *
 * A row for a target that only another live instance has yet stays in the
 * inbox: the configuration is being rolled out.  A pass goes on behind such
 * rows, however many there are, and the next one begins with them.
 *
 * All of a batch is done in a thread.  What it needs of the configuration does
 * not change.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_turn.h"


#define NGX_HTTP_SUBMISSION_INBOX_ROWS   256
#define NGX_HTTP_SUBMISSION_INBOX_BYTES  (1024 * 1024)
#define NGX_HTTP_SUBMISSION_INBOX_SOON   100        /* ms, if woken */
#define NGX_HTTP_SUBMISSION_INBOX_TELL   1000       /* ms, between lines */
#define NGX_HTTP_SUBMISSION_INBOX_HELD   60000      /* of rows that wait */

/*
 * A pass that has found nothing to leave for so many pages begins anew, for
 * what was committed late among what it has left.
 */

#define NGX_HTTP_SUBMISSION_INBOX_PAGES  256


/* how many rows were refused since the last log line, and when that was */

typedef struct {
    ngx_uint_t                       nrefused;
    ngx_msec_t                       told;
    ngx_msec_t                       held_told;
    unsigned                         held:1;       /* since the worker began */
    int64_t                          from;         /* of the next page */
    ngx_uint_t                       npages;       /* since the last one that
                                                      has left rows */
} ngx_http_submission_inbox_ctx_t;


typedef struct {
    ngx_http_submission_task_t       task;
    sm_inbox_page_t                  page;
    sm_elsewhere_t                   elsewhere;
    sm_inbox_row_t                   held;         /* the first of them */
    ngx_uint_t                       nheld;
    ngx_uint_t                       outcomes[SM_INBOX_COUNT];
} ngx_http_submission_inbox_task_t;


static ngx_int_t ngx_http_submission_inbox_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty);
static ngx_int_t ngx_http_submission_inbox_begin(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_inbox_done(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);


const ngx_http_submission_duty_row_t  ngx_http_submission_inbox = {
    .op = NGX_HTTP_SUBMISSION_OP_INBOX_MOVE,
    .size = sizeof(ngx_http_submission_inbox_task_t),
    .ctx = sizeof(ngx_http_submission_inbox_ctx_t),
    .init = ngx_http_submission_inbox_init,
    .interval = ngx_http_submission_duty_interval,
    .begin = ngx_http_submission_inbox_begin,
    .done = ngx_http_submission_inbox_done
};


/* the duty looks soon, and once, however often it is woken until then */

void
ngx_http_submission_inbox_woken(ngx_http_submission_executor_t *ex)
{
    ngx_http_submission_duty_soon(
                                 &ex->duties[NGX_HTTP_SUBMISSION_DUTY_INBOX],
                                 NGX_HTTP_SUBMISSION_INBOX_SOON);
}


static ngx_int_t
ngx_http_submission_inbox_init(ngx_cycle_t *cycle,
    ngx_http_submission_duty_t *duty)
{
    ngx_http_submission_inbox_ctx_t  *ctx;

    ctx = duty->ctx;
    ctx->from = SM_INBOX_BEGINNING;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_inbox_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_http_submission_inbox_ctx_t   *ctx;
    ngx_http_submission_inbox_task_t  *it;

    it = (ngx_http_submission_inbox_task_t *) task;
    ctx = duty->ctx;

    it->elsewhere.names_hash = task->manager->conf->config.names_hash;

    it->page.from = ctx->from;
    it->page.limit = NGX_HTTP_SUBMISSION_INBOX_ROWS;
    it->page.bytes = NGX_HTTP_SUBMISSION_INBOX_BYTES;
    it->page.max_payload = task->manager->conf->inbox_max_payload;

    return NGX_OK;
}


/* decides as POST would; 1: the row is left where it is; -1: the call failed */

static int
ngx_http_submission_inbox_decide_thread(ngx_http_submission_task_t *task,
    sm_elsewhere_t *elsewhere, sm_inbox_row_t *row)
{
    int                            rc;
    ngx_http_submission_target_t  *target;

    if (sm_inbox_check(&task->call.arena, row, task->call.now) != 0) {
        return sm_call_no_memory(&task->call);
    }

    if (row->reason.data) {
        return 0;
    }

    target = ngx_http_submission_target_client(task->manager->conf,
                                               row->target);

    if (target == NULL) {
        rc = sm_store_elsewhere(&task->manager->store, &task->call, elsewhere,
                                row->target);
        if (rc != 0) {
            return rc;
        }

        sm_inbox_refuse(row, "invalid_request",
                        "\"" SM_FIELD_TARGET "\" names no target of this "
                        "manager");
        return 0;
    }

    row->submit.contract = &target->contract;

    return 0;
}


/* Keeps the rows of the page that are to be moved. */

static int
ngx_http_submission_inbox_sort_thread(ngx_http_submission_task_t *task,
    ngx_http_submission_inbox_task_t *it)
{
    int              rc;
    size_t           i, n;
    sm_inbox_row_t  *row;

    for (i = 0, n = 0; i < it->page.n; i++) {
        row = &it->page.rows[i];

        rc = ngx_http_submission_inbox_decide_thread(task, &it->elsewhere,
                                                     row);
        if (rc < 0) {
            return -1;
        }

        if (rc == 0) {
            it->page.rows[n++] = *row;

        } else if (it->nheld++ == 0) {
            it->held = *row;
        }
    }

    it->page.n = n;

    return 0;
}


void
ngx_http_submission_inbox_thread(ngx_http_submission_task_t *task)
{
    size_t                             i;
    ngx_http_submission_inbox_task_t  *it;

    it = (ngx_http_submission_inbox_task_t *) task;

    if (sm_store_inbox_page(&task->manager->store, &task->call, &task->fence,
                            &it->page)
        != 0
        || ngx_http_submission_inbox_sort_thread(task, it) != 0
        || it->page.n == 0)
    {
        return;
    }

    if (sm_store_inbox_move(&task->manager->store, &task->call, &task->fence,
                            it->page.max_payload, it->page.rows, it->page.n)
        != 0)
    {
        return;
    }

    for (i = 0; i < it->page.n; i++) {
        it->outcomes[it->page.rows[i].outcome]++;
    }

    task->rows = it->page.n;

    ngx_http_submission_count(task->manager,
                              NGX_HTTP_SUBMISSION_CNT_INBOX_MOVED,
                              it->outcomes[SM_INBOX_CREATED]
                              + it->outcomes[SM_INBOX_SAME]);
    ngx_http_submission_count(task->manager,
                              NGX_HTTP_SUBMISSION_CNT_INBOX_REFUSED,
                              it->outcomes[SM_INBOX_REFUSED]);
    ngx_http_submission_count(task->manager,
                              NGX_HTTP_SUBMISSION_CNT_CREATED,
                              it->outcomes[SM_INBOX_CREATED]);
}


/* logs at most one line a second, with an example */

static void
ngx_http_submission_inbox_tell(ngx_http_submission_duty_t *duty,
    sm_inbox_page_t *page)
{
    size_t                            i;
    sm_inbox_row_t                   *row;
    ngx_http_submission_field_t       id, target, reason, detail;
    ngx_http_submission_executor_t   *ex;
    ngx_http_submission_inbox_ctx_t  *ctx;

    ex = duty->executor;
    ctx = duty->ctx;

    if (ctx->nrefused == 0
        || ngx_current_msec - ctx->told < NGX_HTTP_SUBMISSION_INBOX_TELL)
    {
        return;
    }

    for (i = 0; page->rows[i].outcome != SM_INBOX_REFUSED; i++) {
        if (i == page->n - 1) {
            return;
        }
    }

    row = &page->rows[i];

    if (row->reason.data == NULL) {
        sm_inbox_refuse_conflict(row);
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: inbox_refused manager=%V lease_epoch=%L "
                  "rows=%ui seq=%L%V%V%V%V: they are in "
                  "submission_inbox_refused",
                  &ex->manager->conf->name, ex->epoch, ctx->nrefused, row->seq,
                  ngx_http_submission_field(&id, " intentId=", row->id),
                  ngx_http_submission_field(&target, " target=", row->target),
                  ngx_http_submission_field(&reason, " reason=", row->reason),
                  ngx_http_submission_field(&detail, " detail=", row->detail));

    ctx->nrefused = 0;
    ctx->told = ngx_current_msec;
}


/* logs once a minute that rows wait for a roll of the configuration */

static void
ngx_http_submission_inbox_held(ngx_http_submission_executor_t *ex,
    ngx_http_submission_inbox_ctx_t *ctx, sm_inbox_row_t *row)
{
    ngx_http_submission_field_t  id, target;

    if (ctx->held
        && ngx_current_msec - ctx->held_told < NGX_HTTP_SUBMISSION_INBOX_HELD)
    {
        return;
    }

    ctx->held = 1;
    ctx->held_told = ngx_current_msec;

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "submission: inbox_waits manager=%V lease_epoch=%L "
                  "seq=%L%V%V: its target is configured on another instance, "
                  "and not here yet", &ex->manager->conf->name, ex->epoch,
                  row->seq,
                  ngx_http_submission_field(&id, " intentId=", row->id),
                  ngx_http_submission_field(&target, " target=",
                                            row->target));
}


/* says where the next page begins, and whether it follows at once */

static ngx_uint_t
ngx_http_submission_inbox_next(ngx_http_submission_inbox_ctx_t *ctx,
    const sm_inbox_page_t *page, ngx_uint_t left)
{
    if (!page->more || page->last == INT64_MAX) {
        ctx->from = SM_INBOX_BEGINNING;
        return 0;
    }

    if (left) {
        ctx->from = page->last + 1;
        ctx->npages = 0;

    } else if (ctx->npages++ == NGX_HTTP_SUBMISSION_INBOX_PAGES) {
        ctx->from = SM_INBOX_BEGINNING;
        ctx->npages = 0;
    }

    return 1;
}


static ngx_msec_t
ngx_http_submission_inbox_done(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    ngx_uint_t                         more;
    ngx_http_submission_inbox_ctx_t   *ctx;
    ngx_http_submission_inbox_task_t  *it;

    it = (ngx_http_submission_inbox_task_t *) task;
    ctx = duty->ctx;

    ngx_log_debug6(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: inbox rows:%uz created:%ui same:%ui "
                   "refused:%ui held:%ui more:%d", it->page.n,
                   it->outcomes[SM_INBOX_CREATED], it->outcomes[SM_INBOX_SAME],
                   it->outcomes[SM_INBOX_REFUSED], it->nheld,
                   (int) it->page.more);

    if (it->nheld) {
        ngx_http_submission_inbox_held(duty->executor, ctx, &it->held);
    }

    if (it->outcomes[SM_INBOX_CREATED]) {
        ngx_http_submission_queue_new(duty->executor);
    }

    if (it->outcomes[SM_INBOX_REFUSED]) {
        ctx->nrefused += it->outcomes[SM_INBOX_REFUSED];
        ngx_http_submission_inbox_tell(duty, &it->page);
    }

    more = ngx_http_submission_inbox_next(ctx, &it->page,
                                          it->nheld
                                          + it->outcomes[SM_INBOX_LEFT]);

    return more ? 0 : NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
}
