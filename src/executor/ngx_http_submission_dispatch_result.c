
/*
 * Puts the facts together when the request of an attempt ends, whatever has
 * ended it.  What the facts mean is decided by src/core/rule/sm_exchange.c.
 */

#include "ngx_http_submission_dispatch.h"


/*
 * Retry-After in milliseconds; 0: there is none.  A date is compared with the
 * gateway's own clock.
 */

static int64_t
ngx_http_submission_dispatch_retry_after(ngx_http_request_t *r)
{
    time_t                date, retry;
    sm_str_t              value;
    ngx_uint_t            i;
    ngx_list_part_t      *part;
    ngx_table_elt_t      *h, *after;
    ngx_http_upstream_t  *u;

    u = r->upstream;

    if (u == NULL) {
        return 0;
    }

    after = NULL;

    part = &u->headers_in.headers.part;
    h = part->elts;

    for (i = 0; /* void */; i++) {

        if (i >= part->nelts) {
            if (part->next == NULL) {
                break;
            }

            part = part->next;
            h = part->elts;
            i = 0;
        }

        if (h[i].key.len == sizeof("Retry-After") - 1
            && ngx_strncasecmp(h[i].key.data, (u_char *) "Retry-After",
                               h[i].key.len) == 0)
        {
            after = &h[i];
        }
    }

    if (after == NULL) {
        return 0;
    }

    retry = ngx_parse_http_time(after->value.data, after->value.len);

    if (retry == NGX_ERROR) {
        value.data = (char *) after->value.data;
        value.len = after->value.len;

        return sm_answer_retry_after(value);
    }

    date = u->headers_in.date
           ? ngx_parse_http_time(u->headers_in.date->value.data,
                                 u->headers_in.date->value.len)
           : NGX_ERROR;

    if (date == NGX_ERROR || retry <= date) {
        return 0;
    }

    return ngx_min((int64_t) (retry - date) * 1000, SM_DELAY_MAX);
}


/* the time-out that applied to what was being done, in milliseconds */

static int64_t
ngx_http_submission_dispatch_timeout(ngx_http_submission_attempt_t *at,
    ngx_http_upstream_t *u)
{
    if (at->exchange.late || u == NULL || u->conf == NULL) {
        return at->manager->conf->executor_timeout;
    }

    if (!at->exchange.sent) {
        return u->conf->connect_timeout;
    }

    return at->exchange.taken ? u->conf->read_timeout : u->conf->send_timeout;
}


/*
 * Whether an upstream that was not hooked has sent something: its handler made
 * it too late for that.
 */

static ngx_uint_t
ngx_http_submission_dispatch_sent(ngx_http_request_t *r)
{
    ngx_uint_t                  i;
    ngx_http_upstream_state_t  *state;

    if (r->upstream_states == NULL) {
        return 0;
    }

    state = r->upstream_states->elts;

    for (i = 0; i < r->upstream_states->nelts; i++) {
        if (state[i].bytes_sent) {
            return 1;
        }
    }

    return 0;
}


/*
 * Other parts of the request may have had to be cut off, such as a mirror that
 * takes longer than the gateway.  What is known by now counts.
 */

void
ngx_http_submission_dispatch_result(void *data)
{
    ngx_http_submission_attempt_t *at = data;

    sm_exchange_t        *x;
    ngx_http_request_t   *r;
    ngx_http_upstream_t  *u;

    r = at->request;
    u = r->upstream;
    x = &at->exchange;

    if (at->hook.posted) {
        ngx_delete_posted_event(&at->hook);
    }

    if (at->timeout.timer_set) {
        ngx_del_timer(&at->timeout);
    }

    if (ngx_http_submission_dispatch_sent(r)) {
        ngx_http_submission_dispatch_begun(at);
    }

    if (x->peer.len == 0) {
        ngx_http_submission_dispatch_peer(at);
    }

    x->taken = u && u->request_body_sent;
    x->aborted = at->connection->close && !x->late;
    x->timeout = ngx_http_submission_dispatch_timeout(at, u);

    if (x->status) {
        at->retry_after = ngx_http_submission_dispatch_retry_after(r);

    } else {
        x->own = r->headers_out.status;
    }

    at->request = NULL;

    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: result \"%*s\" status:%L own:%L sent:%d",
                   at->id.len, at->id.data, (int64_t) x->status,
                   (int64_t) x->own, (int) x->sent);

    ngx_log_debug8(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: result \"%*s\" taken:%d whole:%d large:%d "
                   "late:%d aborted:%d cause:%d", at->id.len, at->id.data,
                   (int) x->taken, (int) x->whole, (int) x->large,
                   (int) x->late, (int) x->aborted, (int) x->cause.what);
}
