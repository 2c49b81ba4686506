
/*
 * Takes intents that were canceled out of the queue, and not only when they are
 * due: an intent that is canceled may have been due in a year.
 *
 * Each cancel is an entry of the audit, in the order of time, whichever
 * instance has made it.  At each interval of the refresh the leader reads the
 * entries of the last seconds.  An entry that it misses costs memory and
 * nothing else, since no attempt of such an intent begins.  Jobs need no entry:
 * the leader itself works on them.
 */

#include "ngx_http_submission_duty.h"
#include "ngx_http_submission_turn.h"


#define NGX_HTTP_SUBMISSION_DROP_WINDOW  10000000    /* usec */
#define NGX_HTTP_SUBMISSION_DROP_PAGE    500
#define NGX_HTTP_SUBMISSION_DROP_PAGES   20


typedef struct {
    int64_t                          read_at;      /* the store's time */
} ngx_http_submission_drop_ctx_t;


typedef struct {
    ngx_http_submission_task_t       task;
    int64_t                          from;
    ngx_uint_t                       n;            /* pages */
    sm_audit_row_t                   pages[NGX_HTTP_SUBMISSION_DROP_PAGES];
} ngx_http_submission_drop_task_t;


static ngx_int_t ngx_http_submission_drop_begin(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);
static ngx_msec_t ngx_http_submission_drop_done(
    ngx_http_submission_duty_t *duty, ngx_http_submission_task_t *task);


const ngx_http_submission_duty_row_t  ngx_http_submission_drop = {
    .op = NGX_HTTP_SUBMISSION_OP_QUEUE_DROP,
    .size = sizeof(ngx_http_submission_drop_task_t),
    .ctx = sizeof(ngx_http_submission_drop_ctx_t),
    .interval = ngx_http_submission_duty_interval,
    .begin = ngx_http_submission_drop_begin,
    .done = ngx_http_submission_drop_done
};


/* the audit is read back to the last time, and a little beyond it */

static ngx_int_t
ngx_http_submission_drop_begin(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    int64_t                           now;
    ngx_http_submission_executor_t   *ex;
    ngx_http_submission_drop_ctx_t   *ctx;
    ngx_http_submission_drop_task_t  *dt;

    dt = (ngx_http_submission_drop_task_t *) task;
    ex = duty->executor;
    ctx = duty->ctx;

    if (sm_queue_waiting(ex->queue) == 0) {
        return NGX_DECLINED;
    }

    now = ngx_http_submission_executor_now(ex);

    if (ctx->read_at == 0 || ctx->read_at > now) {
        ctx->read_at = now;
    }

    dt->from = ctx->read_at - NGX_HTTP_SUBMISSION_DROP_WINDOW;
    ctx->read_at = now;

    return NGX_OK;
}


void
ngx_http_submission_drop_thread(ngx_http_submission_task_t *task)
{
    sm_audit_row_t                   *row, *last;
    ngx_http_submission_drop_task_t  *dt;

    dt = (ngx_http_submission_drop_task_t *) task;
    last = NULL;

    do {
        row = &dt->pages[dt->n];

        row->from = ngx_max(dt->from, 1);
        row->action = sm_str_c("cancel");
        row->limit = NGX_HTTP_SUBMISSION_DROP_PAGE;

        if (last) {
            row->after_at = last->entries[last->n - 1].at;
            row->after_seq = last->entries[last->n - 1].seq;
        }

        if (sm_store_audit_list(&task->manager->store, &task->call, row, 1)
            != 0)
        {
            return;
        }

        dt->n++;
        task->rows += row->n;
        last = row;

    } while (row->more && row->n && dt->n < NGX_HTTP_SUBMISSION_DROP_PAGES);
}


static ngx_msec_t
ngx_http_submission_drop_done(ngx_http_submission_duty_t *duty,
    ngx_http_submission_task_t *task)
{
    size_t                            k;
    sm_str_t                          id;
    ngx_uint_t                        i, n;
    const sm_entry_t                 *entry;
    ngx_http_submission_executor_t   *ex;
    ngx_http_submission_drop_task_t  *dt;

    dt = (ngx_http_submission_drop_task_t *) task;
    ex = duty->executor;
    n = 0;

    for (i = 0; i < dt->n; i++) {
        for (k = 0; k < dt->pages[i].n; k++) {
            id = dt->pages[i].entries[k].object;
            entry = sm_queue_find(ex->queue, id);

            if (entry) {
                ngx_http_submission_ended_canceled(ex, id,
                                                   sm_entry_target(entry),
                                                   NULL, NULL, ex->epoch);
                n++;
            }
        }
    }

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: queue drop cancels:%ui dropped:%ui "
                   "waiting:%uz", task->rows, n,
                   sm_queue_waiting(ex->queue));

    if (n) {
        ngx_http_submission_executor_wake(ex);
    }

    return NGX_HTTP_SUBMISSION_DUTY_INTERVAL;
}
