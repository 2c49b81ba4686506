
/*
 * One small request to the leader: a POST without a body, whose answer is 204.
 *
 * A worker has at most one connection to the leader, and keeps it for the next
 * request.  The other end may close a kept connection at any time: a request
 * that got no answer on it is sent once more, on a new one.  A request takes
 * no longer than a second, reads no more than fits into its buffer, and
 * carries nothing but the path of the URL.
 *
 * It does not go through nginx's proxy, because the only location that sends
 * is the operator's for dispatching, which adds the credentials of gateways,
 * and the URL of a leader is known at run time only.  ngx_http_upstream
 * without a location would need its whole configuration filled in here, for
 * each version of nginx, and could keep no connection, since that is up to
 * upstream{} blocks.
 */

#include "ngx_http_submission_peer.h"


#define NGX_HTTP_SUBMISSION_TELL_TIMEOUT  1000        /* milliseconds */
#define NGX_HTTP_SUBMISSION_TELL_IDLE     60000
#define NGX_HTTP_SUBMISSION_TELL_ANSWER   4096        /* bytes of headers */
#define NGX_HTTP_SUBMISSION_TELL_FREE     4           /* connections */


struct ngx_http_submission_tell_s {
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_peer_url_t   url;          /* of the last request */

    /* of the connection, if there is one */

    ngx_pool_t                      *pool;         /* NULL: there is none */
    ngx_log_t                        log;
    ngx_peer_connection_t            peer;
    ngx_buf_t                       *request;
    ngx_buf_t                       *answer;

    unsigned                         connected:1;
    unsigned                         kept:1;       /* from an earlier request */
};


static void ngx_http_submission_tell_open(ngx_http_submission_tell_t *tell);
static void ngx_http_submission_tell_write(ngx_event_t *wev);
static void ngx_http_submission_tell_read(ngx_event_t *rev);
static void ngx_http_submission_tell_idle(ngx_event_t *rev);


ngx_http_submission_tell_t *
ngx_http_submission_tell_create(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_http_submission_tell_t  *tell;

    tell = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_tell_t));

    if (tell) {
        tell->manager = manager;
    }

    return tell;
}


static void
ngx_http_submission_tell_close(ngx_http_submission_tell_t *tell)
{
    if (tell->peer.connection) {
        ngx_close_connection(tell->peer.connection);
        tell->peer.connection = NULL;
    }

    if (tell->pool) {
        ngx_destroy_pool(tell->pool);
        tell->pool = NULL;
    }
}


/* Ends a request that was not answered with 204, or sends it once more. */

static void
ngx_http_submission_tell_fail(ngx_http_submission_tell_t *tell,
    const char *error)
{
    ngx_uint_t  again;

    again = tell->kept && tell->answer->last == tell->answer->start;

    ngx_http_submission_tell_close(tell);

    if (again && !ngx_terminate) {
        ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission tell: kept connection: %s", error);

        ngx_http_submission_tell_open(tell);
        return;
    }

    ngx_http_submission_peer_told(tell->manager, &tell->url, error);
}


/* Says whether there is nothing to read, not even the end of the connection. */

static ngx_uint_t
ngx_http_submission_tell_quiet(ngx_connection_t *c)
{
    char  buf[1];

    if (recv(c->fd, buf, 1, MSG_PEEK) != -1 || ngx_socket_errno != NGX_EAGAIN)
    {
        return 0;
    }

    c->read->ready = 0;

    return ngx_handle_read_event(c->read, 0) == NGX_OK;
}


/* Ends a request that was answered with 204. */

static void
ngx_http_submission_tell_done(ngx_http_submission_tell_t *tell,
    ngx_uint_t keep)
{
    ngx_connection_t  *c;

    c = tell->peer.connection;
    keep = keep && !ngx_exiting && ngx_http_submission_tell_quiet(c);

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission tell: heard by %V, keep:%ui", tell->peer.name,
                   keep);

    if (keep) {
        c->read->handler = ngx_http_submission_tell_idle;
        c->write->handler = ngx_http_empty_handler;
        c->idle = 1;

        ngx_reusable_connection(c, 1);
        ngx_add_timer(c->read, NGX_HTTP_SUBMISSION_TELL_IDLE);

    } else {
        ngx_http_submission_tell_close(tell);
    }

    ngx_http_submission_peer_told(tell->manager, &tell->url, NULL);
}


/* Begins the request on a connection that is there, or will be. */

static void
ngx_http_submission_tell_start(ngx_http_submission_tell_t *tell,
    ngx_uint_t kept)
{
    ngx_connection_t  *c;

    tell->kept = kept;
    tell->connected = kept;
    tell->request->pos = tell->request->start;
    tell->answer->last = tell->answer->start;

    c = tell->peer.connection;

    c->read->handler = ngx_http_submission_tell_read;
    c->write->handler = ngx_http_submission_tell_write;

    ngx_add_timer(c->read, NGX_HTTP_SUBMISSION_TELL_TIMEOUT);
}


void
ngx_http_submission_tell(ngx_http_submission_manager_t *manager,
    ngx_http_submission_peer_url_t *url)
{
    ngx_connection_t            *c;
    ngx_http_submission_tell_t  *tell;

    tell = manager->peer->tell;
    c = tell->peer.connection;

    /* one that is not idle belongs to a request whose claim has expired */

    if (c && (!c->idle || tell->url.len != url->len
              || ngx_memcmp(tell->url.data, url->data, url->len) != 0))
    {
        ngx_http_submission_tell_close(tell);
        c = NULL;
    }

    tell->url = *url;

    if (c == NULL) {
        ngx_http_submission_tell_open(tell);
        return;
    }

    c->idle = 0;
    c->sent = 0;
    ngx_reusable_connection(c, 0);

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission tell: kept connection to %V", tell->peer.name);

    ngx_http_submission_tell_start(tell, 1);
    ngx_http_submission_tell_write(c->write);
}


/* Returns NULL, or what is wrong. */

static const char *
ngx_http_submission_tell_prepare(ngx_http_submission_tell_t *tell)
{
    ngx_url_t    u;
    ngx_str_t    text;
    const char  *error;

    tell->pool = ngx_create_pool(2048, ngx_cycle->log);
    if (tell->pool == NULL) {
        return "no memory";
    }

    text.data = tell->url.data;
    text.len = tell->url.len;

    ngx_memzero(&u, sizeof(ngx_url_t));
    u.no_resolve = 1;

    error = ngx_http_submission_url(tell->pool, &text, &u);
    if (error) {
        return error;
    }

    if (u.naddrs == 0) {
        return "has no address";
    }

    if (u.uri.len == 0) {
        ngx_str_set(&u.uri, "/");
    }

    tell->answer = ngx_create_temp_buf(tell->pool,
                                       NGX_HTTP_SUBMISSION_TELL_ANSWER);
    tell->request = ngx_create_temp_buf(tell->pool, 256 + 2 * text.len);

    if (tell->answer == NULL || tell->request == NULL) {
        return "no memory";
    }

    tell->request->last = ngx_sprintf(tell->request->last,
                                      "POST %V HTTP/1.1" CRLF
                                      "Host: %V" CRLF
                                      "User-Agent: ngx_http_submission_module/"
                                      NGX_HTTP_SUBMISSION_VERSION CRLF
                                      "Content-Length: 0" CRLF CRLF,
                                      &u.uri, &u.addrs[0].name);

    /* peer.c writes one line for all failures in a row, and nginx none */

    tell->log = *ngx_cycle->log;

    if (tell->log.log_level < NGX_LOG_DEBUG_FIRST) {
        tell->log.log_level = ngx_min(tell->log.log_level, NGX_LOG_ALERT);
    }

    ngx_memzero(&tell->peer, sizeof(ngx_peer_connection_t));

    tell->peer.sockaddr = u.addrs[0].sockaddr;
    tell->peer.socklen = u.addrs[0].socklen;
    tell->peer.name = &u.addrs[0].name;
    tell->peer.get = ngx_event_get_peer;
    tell->peer.log = &tell->log;
    tell->peer.log_error = NGX_ERROR_INFO;

    return NULL;
}


static void
ngx_http_submission_tell_open(ngx_http_submission_tell_t *tell)
{
    ngx_int_t          rc;
    const char        *error;
    ngx_connection_t  *c;

    tell->kept = 0;

    /* the last ones are for clients and attempts */

    if (ngx_cycle->free_connection_n < NGX_HTTP_SUBMISSION_TELL_FREE) {
        ngx_http_submission_tell_fail(tell, "no free worker_connections");
        return;
    }

    error = ngx_http_submission_tell_prepare(tell);

    if (error) {
        ngx_http_submission_tell_fail(tell, error);
        return;
    }

    rc = ngx_event_connect_peer(&tell->peer);

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission tell: connect to %V: %i", tell->peer.name, rc);

    if (rc != NGX_OK && rc != NGX_AGAIN) {
        ngx_http_submission_tell_fail(tell, "connect() failed");
        return;
    }

    c = tell->peer.connection;
    c->data = tell;
    c->pool = tell->pool;

    ngx_http_submission_tell_start(tell, 0);

    if (rc == NGX_OK) {
        ngx_http_submission_tell_write(c->write);
    }
}


static ngx_int_t
ngx_http_submission_tell_connected(ngx_connection_t *c)
{
    int        err;
    socklen_t  len;

    err = 0;
    len = sizeof(int);

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, (void *) &err, &len) == -1) {
        err = ngx_socket_errno;
    }

    return err ? NGX_ERROR : NGX_OK;
}


static void
ngx_http_submission_tell_write(ngx_event_t *wev)
{
    ssize_t                      n;
    ngx_buf_t                   *b;
    ngx_connection_t            *c;
    ngx_http_submission_tell_t  *tell;

    c = wev->data;
    tell = c->data;
    b = tell->request;

    if (!tell->connected && ngx_http_submission_tell_connected(c) != NGX_OK) {
        ngx_http_submission_tell_fail(tell, "connect() failed");
        return;
    }

    tell->connected = 1;

    while (b->pos < b->last) {
        n = c->send(c, b->pos, b->last - b->pos);

        if (n == NGX_AGAIN) {
            break;
        }

        if (n <= 0) {
            ngx_http_submission_tell_fail(tell, "the connection is lost");
            return;
        }

        b->pos += n;
    }

    if (ngx_handle_write_event(wev, 0) != NGX_OK) {
        ngx_http_submission_tell_fail(tell, "no event");
        return;
    }

    /* what came before the connection was known to be there was not read */

    if (b->pos == b->last && c->read->ready) {
        ngx_http_submission_tell_read(c->read);
    }
}


/*
 * Returns the status, NGX_AGAIN if the status line has not come yet, or
 * NGX_ERROR if this is not HTTP.
 */

static ngx_int_t
ngx_http_submission_tell_status(ngx_buf_t *b)
{
    u_char  *p;

    p = b->start;

    if (b->last - p < (ssize_t) sizeof("HTTP/1.1 204\r") - 1) {
        return NGX_AGAIN;
    }

    if (ngx_strncmp(p, "HTTP/1.", 7) != 0 || p[8] != ' '
        || (p[12] != ' ' && p[12] != CR && p[12] != LF))
    {
        return NGX_ERROR;
    }

    return ngx_atoi(p + 9, 3);
}


/*
 * Returns NGX_AGAIN if the answer is not complete, or NGX_DONE if the request
 * has ended.
 */

static ngx_int_t
ngx_http_submission_tell_answer(ngx_http_submission_tell_t *tell)
{
    u_char     *end;
    char        error[sizeof("status 999")];
    ngx_int_t   status;
    ngx_buf_t  *b;

    b = tell->answer;
    status = ngx_http_submission_tell_status(b);

    if (status == NGX_AGAIN) {
        return NGX_AGAIN;
    }

    if (status == NGX_ERROR) {
        ngx_http_submission_tell_fail(tell, "the answer is not HTTP");
        return NGX_DONE;
    }

    if (status != NGX_HTTP_NO_CONTENT) {
        *ngx_sprintf((u_char *) error, "status %i", status) = '\0';
        ngx_http_submission_tell_fail(tell, error);
        return NGX_DONE;
    }

    *b->last = '\0';
    end = (u_char *) ngx_strstr(b->start, CRLF CRLF);

    if (end) {
        ngx_http_submission_tell_done(tell, end + 4 == b->last);
        return NGX_DONE;
    }

    if (b->last == b->end - 1) {
        ngx_http_submission_tell_done(tell, 0);
        return NGX_DONE;
    }

    return NGX_AGAIN;
}


static void
ngx_http_submission_tell_read(ngx_event_t *rev)
{
    ssize_t                      n;
    ngx_buf_t                   *b;
    ngx_connection_t            *c;
    ngx_http_submission_tell_t  *tell;

    c = rev->data;
    tell = c->data;
    b = tell->answer;

    if (rev->timedout || c->close) {
        tell->kept = 0;
        ngx_http_submission_tell_fail(tell, c->close ? "the worker shuts down"
                                                     : "timed out");
        return;
    }

    if (!tell->connected) {

        /* the write event comes in the same turn, and knows the error */

        return;
    }

    do {

        /* the last byte is for a zero */

        n = c->recv(c, b->last, b->end - 1 - b->last);

        if (n == NGX_AGAIN) {
            if (ngx_handle_read_event(rev, 0) != NGX_OK) {
                ngx_http_submission_tell_fail(tell, "no event");
            }

            return;
        }

        if (n <= 0) {
            ngx_http_submission_tell_fail(tell, "the connection is lost");
            return;
        }

        b->last += n;

    } while (ngx_http_submission_tell_answer(tell) == NGX_AGAIN);
}


/*
 * A kept connection is closed if the other end has closed it or says something,
 * if nginx wants it back, and after a minute without a request.
 */

static void
ngx_http_submission_tell_idle(ngx_event_t *rev)
{
    ngx_connection_t  *c;

    c = rev->data;

    if (c->close || rev->timedout || !ngx_http_submission_tell_quiet(c)) {
        ngx_http_submission_tell_close(c->data);
    }
}
