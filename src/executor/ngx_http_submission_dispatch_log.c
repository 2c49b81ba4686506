
/*
 * Reads the error lines that nginx writes about an attempt, on their way to the
 * log, because they alone say why an exchange failed.  If the level of the log
 * is below "info", they are left out of it: the outcome is recorded with its
 * cause, and an outage has its own lines, see outage.c.
 */

#include "ngx_http_submission_dispatch.h"


/*
 * The message of a line such as
 * "2026/02/02 12:00:00 [error] 7#7: *5 connect() failed (111: ...)"
 */

static sm_str_t
ngx_http_submission_dispatch_message(u_char *line, u_char *end)
{
    u_char    *p;
    sm_str_t   message;

    p = ngx_strlchr(line, end, '#');
    p = p ? ngx_strlchr(p, end, ' ') : NULL;

    if (p && p + 1 < end && p[1] == '*') {
        p = ngx_strlchr(p + 1, end, ' ');
    }

    message.data = (char *) (p ? p + 1 : end);
    message.len = p ? end - p - 1 : 0;

    return message;
}


/*
 * nginx takes what stands before an "@" for a part of the name.  It may be a
 * secret, and is left out.
 */

static void
ngx_http_submission_dispatch_name(ngx_http_submission_attempt_t *at,
    sm_str_t *name, ngx_str_t *value)
{
    u_char    *p, *last;
    sm_str_t   text;

    if (value && value->len) {
        last = value->data + value->len;

        for (p = last; p > value->data && p[-1] != '@'; p--) { /* void */ }

        text.data = (char *) p;
        text.len = last - p;

        /* without memory the error has no name in it */

        if (sm_arena_strdup(&at->arena, name, text) != 0) {
            ngx_memzero(name, sizeof(sm_str_t));
        }
    }
}


/* notes the address and the name of the server, as far as they are known */

void
ngx_http_submission_dispatch_peer(ngx_http_submission_attempt_t *at)
{
    ngx_http_upstream_t  *u;

    u = at->request->upstream;

    if (u == NULL) {
        return;
    }

    ngx_http_submission_dispatch_name(at, &at->exchange.peer, u->peer.name);

    if (u->resolved) {
        ngx_http_submission_dispatch_name(at, &at->exchange.name,
                                          &u->resolved->host);
    }

#if (NGX_HTTP_SSL)
    if (u->ssl) {
        ngx_http_submission_dispatch_name(at, &at->exchange.name,
                                          &u->ssl_name);
    }
#endif
}


/*
 * Whether this cause takes the place of the one that is known.  If the request
 * was sent, the first failure since then is its own.  If it was not, a gateway
 * that has refused it says more than that there was no other one to try.
 */

static ngx_uint_t
ngx_http_submission_dispatch_counts(ngx_http_submission_attempt_t *at,
    sm_cause_t *cause)
{
    sm_cause_t  *known;

    known = &at->exchange.cause;

    if (known->what == SM_CAUSE_NONE) {
        return 1;
    }

    if (at->exchange.sent || cause->what == SM_CAUSE_OTHER) {
        return 0;
    }

    return sm_exchange_before(cause) == SM_EXCHANGE_REFUSED
           || sm_exchange_before(known) != SM_EXCHANGE_REFUSED;
}


static void
ngx_http_submission_dispatch_cause(ngx_http_submission_attempt_t *at,
    sm_str_t message)
{
    sm_cause_t  cause;

    sm_cause_read(message, &cause);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: cause of \"%*s\":%d sent:%d",
                   at->id.len, at->id.data, (int) cause.what,
                   at->exchange.sent);

    if (!ngx_http_submission_dispatch_counts(at, &cause)) {
        return;
    }

    if (sm_arena_strdup(&at->arena, &cause.detail, cause.detail) != 0) {
        cause.detail.len = 0;
    }

    at->exchange.cause = cause;

    ngx_http_submission_dispatch_peer(at);
}


/* writes a line as ngx_log_error_core() would have done */

static void
ngx_http_submission_dispatch_write(ngx_log_t *log, ngx_uint_t level,
    u_char *buf, size_t len)
{
    ngx_uint_t  all;

    all = (log->log_level & NGX_LOG_DEBUG_CONNECTION) != 0;

    for ( /* void */ ; log; log = log->next) {

        if (log->log_level < level && !all) {
            return;
        }

        if (log->writer) {
            log->writer(log, level, buf, len);

        } else if (log->file) {
            (void) ngx_write_fd(log->file->fd, buf, len);
        }
    }
}


static void
ngx_http_submission_dispatch_line(ngx_log_t *log, ngx_uint_t level,
    u_char *buf, size_t len)
{
    ngx_http_submission_attempt_t  *at;

    at = log->wdata;

    if (level <= NGX_LOG_ERR && at->request && at->message_end > buf
        && at->message_end <= buf + len)
    {
        ngx_http_submission_dispatch_cause(at,
                   ngx_http_submission_dispatch_message(buf, at->message_end));
    }

    at->message_end = NULL;

    ngx_http_submission_dispatch_write(&at->log, level, buf, len);
}


void
ngx_http_submission_dispatch_listen(ngx_http_submission_attempt_t *at,
    ngx_log_t *log)
{
    if (log->writer == ngx_http_submission_dispatch_line) {
        return;
    }

    at->log = *log;

    if (log->log_level < NGX_LOG_INFO && log->log_level > NGX_LOG_CRIT) {
        at->log.log_level = NGX_LOG_CRIT;
    }

    if (log->log_level < NGX_LOG_ERR) {
        log->log_level = NGX_LOG_ERR;
    }

    log->writer = ngx_http_submission_dispatch_line;
    log->wdata = at;
    log->next = NULL;
}


void
ngx_http_submission_dispatch_unlisten(ngx_http_submission_attempt_t *at,
    ngx_log_t *log)
{
    if (log->writer == ngx_http_submission_dispatch_line) {
        log->log_level = at->log.log_level;
        log->writer = at->log.writer;
        log->wdata = at->log.wdata;
        log->next = at->log.next;
    }
}
