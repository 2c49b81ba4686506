
/*
 * One small request to the leader: a POST without a body, whose answer is 204.
 *
 * It goes by a connection of this worker that is kept for the next one.  A kept
 * connection may be closed by the other end at any time: a request that got no
 * answer on it is tried once more, on a new one.
 *
 * It waits for nothing longer than a second, and reads no more than fits into
 * its buffer.  Nothing but the address and the path of the URL is used.
 */

#include "ngx_http_submission_peer.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"


#define NGX_HTTP_SUBMISSION_TELL_TIMEOUT  1000        /* milliseconds */
#define NGX_HTTP_SUBMISSION_TELL_IDLE     60000
#define NGX_HTTP_SUBMISSION_TELL_ANSWER   4096        /* bytes of headers */
#define NGX_HTTP_SUBMISSION_TELL_FREE     4           /* connections */


struct ngx_http_submission_tell_s {
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_peer_url_t   url;

    ngx_pool_t                      *pool;
    ngx_log_t                        log;
    ngx_peer_connection_t            peer;
    ngx_buf_t                       *request;
    ngx_buf_t                       *answer;

    unsigned                         connected:1;
    unsigned                         kept:1;       /* from an earlier one */
    unsigned                         sent:1;       /* nothing else to do */
};


static void ngx_http_submission_tell_open(
    ngx_http_submission_manager_t *manager,
    ngx_http_submission_peer_url_t *url);
static void ngx_http_submission_tell_write(ngx_event_t *wev);
static void ngx_http_submission_tell_read(ngx_event_t *rev);
static void ngx_http_submission_tell_idle(ngx_event_t *rev);
static void ngx_http_submission_tell_none(ngx_event_t *wev);


static void
ngx_http_submission_tell_close(ngx_http_submission_tell_t *tell)
{
    if (tell->manager->peer->tell == tell) {
        tell->manager->peer->tell = NULL;
    }

    if (tell->peer.connection) {
        ngx_close_connection(tell->peer.connection);
    }

    ngx_destroy_pool(tell->pool);
}


/* the request was not answered with 204 */

static void
ngx_http_submission_tell_fail(ngx_http_submission_tell_t *tell,
    const char *error)
{
    ngx_uint_t                       again;
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_peer_url_t   url;

    manager = tell->manager;
    url = tell->url;
    again = tell->kept && tell->answer->last == tell->answer->start;

    ngx_http_submission_tell_close(tell);

    if (again && !ngx_terminate) {
        ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                       "submission tell: kept connection: %s", error);

        ngx_http_submission_tell_open(manager, &url);
        return;
    }

    ngx_http_submission_peer_told(manager, &url, error);
}


/* whether there is nothing to read, not even its end */

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


/* it was: the connection is kept, unless there is more in it than an answer */

static void
ngx_http_submission_tell_done(ngx_http_submission_tell_t *tell,
    ngx_uint_t keep)
{
    ngx_connection_t                *c;
    ngx_http_submission_manager_t   *manager;
    ngx_http_submission_peer_url_t   url;

    c = tell->peer.connection;
    manager = tell->manager;
    url = tell->url;

    if (c->read->timer_set) {
        ngx_del_timer(c->read);
    }

    c->read->handler = ngx_http_submission_tell_idle;
    c->write->handler = ngx_http_submission_tell_none;

    if (keep && !ngx_exiting && ngx_http_submission_tell_quiet(c)) {
        c->idle = 1;
        ngx_reusable_connection(c, 1);
        ngx_add_timer(c->read, NGX_HTTP_SUBMISSION_TELL_IDLE);

    } else {
        ngx_http_submission_tell_close(tell);
    }

    ngx_http_submission_peer_told(manager, &url, NULL);
}


void
ngx_http_submission_tell(ngx_http_submission_manager_t *manager,
    ngx_http_submission_peer_url_t *url)
{
    ngx_connection_t            *c;
    ngx_http_submission_tell_t  *tell;

    tell = manager->peer->tell;

    if (tell
        && (!tell->peer.connection->idle || tell->url.len != url->len
            || ngx_memcmp(tell->url.data, url->data, url->len) != 0))
    {
        /* of another leader; or its claim has expired, which cannot be */

        ngx_http_submission_tell_close(tell);
        tell = NULL;
    }

    if (tell == NULL) {
        ngx_http_submission_tell_open(manager, url);
        return;
    }

    tell->url.epoch = url->epoch;
    tell->kept = 1;
    tell->sent = 0;
    tell->request->pos = tell->request->start;
    tell->answer->last = tell->answer->start;

    c = tell->peer.connection;
    c->idle = 0;
    c->sent = 0;
    ngx_reusable_connection(c, 0);

    c->read->handler = ngx_http_submission_tell_read;
    c->write->handler = ngx_http_submission_tell_write;

    if (c->read->timer_set) {
        ngx_del_timer(c->read);
    }

    ngx_add_timer(c->read, NGX_HTTP_SUBMISSION_TELL_TIMEOUT);

    ngx_http_submission_tell_write(c->write);
}


static ngx_http_submission_tell_t *
ngx_http_submission_tell_create(ngx_http_submission_manager_t *manager,
    ngx_http_submission_peer_url_t *url, const char **error)
{
    ngx_url_t                    u;
    ngx_str_t                    text;
    ngx_pool_t                  *pool;
    ngx_http_submission_tell_t  *tell;

    *error = "no memory";

    pool = ngx_create_pool(2048, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    tell = ngx_pcalloc(pool, sizeof(ngx_http_submission_tell_t));
    if (tell == NULL) {
        goto failed;
    }

    tell->manager = manager;
    tell->url = *url;
    tell->pool = pool;

    text.data = tell->url.data;
    text.len = tell->url.len;

    ngx_memzero(&u, sizeof(ngx_url_t));
    u.no_resolve = 1;

    *error = ngx_http_submission_url(pool, &text, &u);

    if (*error == NULL && u.naddrs == 0) {
        *error = "has no address";
    }

    if (*error) {
        goto failed;
    }

    if (u.uri.len == 0) {
        ngx_str_set(&u.uri, "/");
    }

    *error = "no memory";

    tell->answer = ngx_create_temp_buf(pool, NGX_HTTP_SUBMISSION_TELL_ANSWER);
    tell->request = ngx_create_temp_buf(pool, 256 + 2 * text.len);

    if (tell->answer == NULL || tell->request == NULL) {
        goto failed;
    }

    tell->request->last = ngx_sprintf(tell->request->last,
                                      "POST %V HTTP/1.1" CRLF
                                      "Host: %V" CRLF
                                      "User-Agent: ngx_http_submission_module/"
                                      NGX_HTTP_SUBMISSION_VERSION CRLF
                                      "Content-Length: 0" CRLF CRLF,
                                      &u.uri, &u.addrs[0].name);

    /* failures are told once, by peer.c */

    tell->log = *ngx_cycle->log;

    if (tell->log.log_level < NGX_LOG_DEBUG_FIRST) {
        tell->log.log_level = ngx_min(tell->log.log_level, NGX_LOG_ALERT);
    }

    tell->peer.sockaddr = u.addrs[0].sockaddr;
    tell->peer.socklen = u.addrs[0].socklen;
    tell->peer.name = &u.addrs[0].name;
    tell->peer.get = ngx_event_get_peer;
    tell->peer.log = &tell->log;
    tell->peer.log_error = NGX_ERROR_INFO;

    return tell;

failed:

    ngx_destroy_pool(pool);

    return NULL;
}


static void
ngx_http_submission_tell_open(ngx_http_submission_manager_t *manager,
    ngx_http_submission_peer_url_t *url)
{
    ngx_int_t                    rc;
    const char                  *error;
    ngx_connection_t            *c;
    ngx_http_submission_tell_t  *tell;

    /* the last ones are for clients and attempts */

    if (ngx_cycle->free_connection_n < NGX_HTTP_SUBMISSION_TELL_FREE) {
        ngx_http_submission_peer_told(manager, url,
                                      "no free worker_connections");
        return;
    }

    tell = ngx_http_submission_tell_create(manager, url, &error);

    if (tell == NULL) {
        ngx_http_submission_peer_told(manager, url, error);
        return;
    }

    rc = ngx_event_connect_peer(&tell->peer);

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission tell: connect to %V: %i", tell->peer.name, rc);

    if (rc != NGX_OK && rc != NGX_AGAIN) {
        ngx_http_submission_tell_fail(tell, "connect() failed");
        return;
    }

    manager->peer->tell = tell;

    c = tell->peer.connection;
    c->data = tell;
    c->pool = tell->pool;

    c->read->handler = ngx_http_submission_tell_read;
    c->write->handler = ngx_http_submission_tell_write;

    ngx_add_timer(c->read, NGX_HTTP_SUBMISSION_TELL_TIMEOUT);

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

    if (!tell->connected) {
        if (ngx_http_submission_tell_connected(c) != NGX_OK) {
            ngx_http_submission_tell_fail(tell, "connect() failed");
            return;
        }

        tell->connected = 1;
    }

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

    if (b->pos == b->last && !tell->sent) {
        tell->sent = 1;

        if (c->read->ready) {
            ngx_http_submission_tell_read(c->read);
        }
    }
}


/*
 * The status, once its line begins as one; NGX_AGAIN: more is to come, and
 * NGX_ERROR: it is no HTTP.
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


/* NGX_AGAIN: it is not complete; otherwise the request has ended */

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

        /* the write event tells why, and comes in the same turn */

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


/* the other end has closed it, nginx wants it back, or it is not needed */

static void
ngx_http_submission_tell_idle(ngx_event_t *rev)
{
    ngx_connection_t  *c;

    c = rev->data;

    if (c->close || rev->timedout || !ngx_http_submission_tell_quiet(c)) {
        ngx_http_submission_tell_close(c->data);
    }
}


static void
ngx_http_submission_tell_none(ngx_event_t *wev)
{
}
