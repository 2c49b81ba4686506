
/* What became of an attempt that went through the dispatch location. */

#include "ngx_http_submission_attempt.h"


/* seconds, or a date, which is compared with the gateway's own clock */

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


/* the gateway's answer, and not one that nginx has made in its place */

static ngx_http_upstream_state_t *
ngx_http_submission_dispatch_answered(ngx_http_request_t *r)
{
    ngx_http_upstream_state_t  *state;

    if (r->upstream_states == NULL || r->upstream_states->nelts == 0) {
        return NULL;
    }

    state = r->upstream_states->elts;
    state += r->upstream_states->nelts - 1;

    /* without a peer, no connection to the gateway was made */

    return state->peer && state->header_time != (ngx_msec_t) -1 ? state : NULL;
}


/*
 * Why the request has not left this host, so that it does not count as an
 * attempt: nginx was about to connect to the gateway and did not get that
 * far.  If something in the location has answered in the gateway's place, it
 * is an attempt.
 */

static ngx_http_submission_unsent_e
ngx_http_submission_dispatch_unsent(ngx_http_request_t *r)
{
    ngx_uint_t                  i;
    ngx_http_upstream_t        *u;
    ngx_http_upstream_state_t  *state;

    u = r->upstream;

    if (u == NULL) {
        return NGX_HTTP_SUBMISSION_UNSENT_NOT;
    }

#if (NGX_HTTP_CACHE)
    if (r->cached || u->cache_status == NGX_HTTP_CACHE_HIT) {
        return NGX_HTTP_SUBMISSION_UNSENT_NOT;
    }
#endif

    if (r->upstream_states) {
        state = r->upstream_states->elts;

        for (i = 0; i < r->upstream_states->nelts; i++) {
            if (state[i].peer) {
                return NGX_HTTP_SUBMISSION_UNSENT_NOT;
            }
        }
    }

    if (u->resolved && u->resolved->sockaddr == NULL && u->upstream == NULL) {
        return NGX_HTTP_SUBMISSION_UNSENT_NAME;
    }

    return NGX_HTTP_SUBMISSION_UNSENT_SHORT;
}


/*
 * The request ends, and its result is read.
 *
 * A complete answer counts, even if other parts of the request had to be cut
 * off: a mirror may take longer than the gateway.  If the gateway has failed,
 * an error page or a stale answer in its place does not count.
 */

void
ngx_http_submission_dispatch_result(void *data)
{
    ngx_http_submission_attempt_t *at = data;

    ngx_http_request_t         *r;
    ngx_http_upstream_state_t  *state;

    r = at->request;

    if (at->hook.posted) {
        ngx_delete_posted_event(&at->hook);

        if (r->upstream) {
            ngx_http_submission_dispatch_sent(at);
        }
    }

    if (!at->sent) {
        at->unsent = ngx_http_submission_dispatch_unsent(r);
    }

    if (at->timeout.timer_set) {
        ngx_del_timer(&at->timeout);
    }

    at->request = NULL;
    at->answer.status = r->headers_out.status;

    if (at->answer.how == SM_ANSWER_TOO_LARGE) {
        return;
    }

    state = ngx_http_submission_dispatch_answered(r);

    if (state && at->complete) {
        at->answer.how = SM_ANSWER_COMPLETE;
        at->retry_after = ngx_http_submission_dispatch_retry_after(r);

        if (state->status && (state->status < 200 || state->status > 299)) {
            at->answer.status = state->status;
        }

        return;
    }

    if (at->answer.how != SM_ANSWER_COMPLETE) {
        return;
    }

    if (at->connection->close) {
        at->answer.how = SM_ANSWER_ABORTED;

    } else if (state == NULL) {
        at->answer.how = SM_ANSWER_NONE;

    } else {
        at->answer.how = SM_ANSWER_TRUNCATED;
    }
}
